/* Loads of an L1 that looks up several lines in a cycle, where nothing but the unit has to do with it: most
 * lines of most loads are there, or no one has asked for them. */
#include "../../result/result.h"
#include "l1_request.h"
#include "lsu_requests.h"

bool ww_lsu_passes(const struct ww_sm *sm) {
    const struct ww_tags *t = &sm->l1.tags;
    bool in_order = t->replace == WW_REPLACE_LRU || t->replace == WW_REPLACE_FIFO;
    return sm->core->tag_banks && t->bucket && in_order && !sm->l1.brought && !sm->page_shift && !sm->booked &&
           sm->lsu.skips_retries;
}

/* What the look-ups of a cycle have found. */
struct found {
    uint32_t lines;     /* with all that is looked for */
    uint32_t absent;    /* not there */
    uint64_t hit, miss; /* 32-byte chunks of these */
};

static inline void count(struct ww_sm *sm, uint32_t inst, const struct found *f) {
    uint64_t *n = sm->core->counter, *of = sm->core->epochs.inst[inst].counter;
    n[WW_C_L1_ACCESS] += f->lines + f->absent;
    n[WW_C_L1_SECTOR_READ] += f->hit + f->miss;
    of[WW_I_SECTORS] += f->hit + f->miss;
    if (f->hit) n[WW_C_L1_SECTOR_HIT] += f->hit;
    if (!f->miss) return;
    n[WW_C_L1_SECTOR_MISS] += f->miss;
    of[WW_I_L1_MISS] += f->miss;
    ww_l1_count_pattern(sm, f->miss);
}

static inline bool refuse(struct ww_sm *sm, enum ww_lsu_wait waits) {
    sm->lsu.waits = (uint8_t)waits;
    sm->lsu.wait_cache = &sm->l1;
    sm->lsu.absent = true;
    return false;
}

static inline void open_entry(struct ww_cache *c, uint32_t m, uint32_t line, uint32_t target,
                              uint32_t sectors) {
    struct ww_mshr *e = &c->entry[m];
    struct ww_tag_line *l = &c->tags.line[line];
    c->free_entry = e->next_free;
    if (c->free_entry != WW_NONE) __builtin_prefetch(&c->entry[c->free_entry], 1);
    c->used++;
    *e = (struct ww_mshr){line, target, 1, WW_NONE};
    l->valid = 0;
    l->pending = sectors;
    l->mshr = m;
    l->pins = 1;
}

/* Asks for sectors of a line that is not there; the miss queue has room. False: there is no MSHR or line. */
static __attribute__((noinline)) bool fetch(struct ww_sm *sm, struct ww_memory_op *o,
                                            const struct ww_line_request *r, uint32_t sectors) {
    struct ww_core *core = sm->core;
    struct ww_cache *c = &sm->l1;
    uint32_t m = c->free_entry, set = ww_tags_set(&c->tags, r->key);
    bool evicted;
    if (m == WW_NONE) return refuse(sm, WW_LSU_ENTRY);
    uint32_t line = ww_tags_take_last(&c->tags, set, r->key, ww_tags_hash(r->key), &evicted);
    if (line == WW_NO_LINE) {
        sm->lsu.wait_set = set;
        return refuse(sm, WW_LSU_SET);
    }
    if (evicted) core->counter[WW_C_L1_EVICTION]++;
    uint32_t target = ww_pool_target(core);
    if (target == WW_NONE) return false;
    core->pool.target[target] = (struct ww_target){sm->lsu.op, sectors, WW_NONE};
    open_entry(c, m, line, target, sectors);
    o->remaining++;
    ww_l1_write_line_request(ww_l1_next(sm), sm, c->shape, r, sectors, m, o->inst);
    return true;
}

/* Looks up a line; absent: it is known not to be there. False: what it lacks is refused. */
static inline bool look_up(struct ww_sm *sm, struct ww_memory_op *o, const struct ww_line_request *r,
                           bool absent, uint64_t cycle, struct found *f) {
    const struct ww_cache_shape *s = sm->l1.shape;
    struct ww_tags *t = &sm->l1.tags;
    uint32_t sectors = s->sectors_of[r->chunks], cycles;
    uint32_t line = absent ? WW_NO_LINE : ww_tags_find_hashed(t, r->key, ww_tags_hash(r->key));
    if (line == WW_NO_LINE) {
        if (sm->misses.count >= sm->misses.most) return refuse(sm, WW_LSU_QUEUE);
        if (!fetch(sm, o, r, sectors)) return false;
        f->absent++;
        f->miss += (uint64_t)ww_bits8(sectors) << s->sector_shift;
        return true;
    }
    if (sectors & ~t->line[line].valid)
        return ww_l1_load_line(sm, &sm->l1, sm->lsu.op, r, line, cycle, &cycles);
    ww_tags_touch(t, line);
    f->lines++;
    f->hit += (uint64_t)ww_bits8(sectors) << s->sector_shift;
    return true;
}

/* The unit has been held up to `cycle`. */
static void count_held(struct ww_sm *sm, uint64_t cycle) {
    uint64_t cycles = cycle - sm->lsu.held_since;
    sm->lsu.held = false;
    sm->core->counter[WW_C_LSU_STALL_CYCLES] += cycles;
    sm->core->counter[WW_C_L1_RESERVATION_FAIL] += cycles;
}

/* Looks up the lines of a cycle; absent: the first one has been refused, and is known not to be there. False:
 * one is refused, and is the next request. */
static inline __attribute__((always_inline)) bool look_up_lines(struct ww_sm *sm, struct ww_memory_op *o,
                                                                bool absent, uint64_t cycle, struct found *f) {
    struct ww_lsu *l = &sm->lsu;
    const struct ww_line_request *request = l->coalescer.request;
    const uint32_t count = l->coalescer.count, first = l->next_request, pass = l->pass[first];
    uint32_t i = first;
    bool taken = true, more = true;
    if (absent) {
        if (!look_up(sm, o, &request[i], true, cycle, f)) return false;
        l->absent = false;
        more = ++i < count && l->pass[i] == pass;
    }
    while (more) {
        taken = look_up(sm, o, &request[i], false, cycle, f);
        more = taken && ++i < count && l->pass[i] == pass;
    }
    l->next_request = i;
    if (l->held && i != first) count_held(sm, cycle);
    return taken;
}

static inline __attribute__((always_inline)) void pass(struct ww_sm *sm, uint64_t cycle, bool absent) {
    struct ww_lsu *l = &sm->lsu;
    struct ww_memory_op *o = &sm->core->pool.op[l->op];
    struct found f = {0};
    l->retry = false;
    l->waits = WW_LSU_ANY;
    bool taken = look_up_lines(sm, o, absent, cycle, &f);
    if (f.lines) {
        uint64_t ready = cycle - 1 + sm->l1.shape->latency;
        if (ready > o->ready) o->ready = ready;
        l->hit_lines += f.lines;
    }
    count(sm, o->inst, &f);
    if (!taken) {
        if (!l->held) l->held_since = cycle;
        l->held = true;
        return;
    }
    l->free = cycle + 1;
    if (l->next_request < l->coalescer.count) return;
    l->passing = false;
    ww_lsu_finish_requests(sm, cycle);
}

void ww_lsu_pass(struct ww_sm *sm, uint64_t cycle) {
    if (sm->lsu.absent)
        pass(sm, cycle, true);
    else
        pass(sm, cycle, false);
}

enum ww_unit_turn ww_lsu_turn(struct ww_sm *sm, uint64_t cycle) {
    const struct ww_lsu *l = &sm->lsu;
    sm->now = cycle;
    if (!l->passing)
        ww_lsu_step(sm, cycle);
    else if (l->absent)
        pass(sm, cycle, true);
    else
        pass(sm, cycle, false);
    if (ww_l1_saturated(sm) != sm->saturated) ww_sm_count_mode(sm, cycle);
    if (!l->active || sm->issue_at <= cycle) return WW_UNIT_ENDS;
    if (l->held) return WW_UNIT_HELD;
    return l->passing ? WW_UNIT_GOES : WW_UNIT_ENDS;
}
