/* The data caches of an SM: the L1 and, where the GPU has one, a texture cache. */
#include "../../result/result.h"
#include "sm.h"

#include "booked.h"
#include "l1_request.h"

void ww_l1_queue(struct ww_sm *sm, const struct ww_mem_request *request) {
    *ww_l1_next(sm) = *request;
}

/* Asks the memory system for sectors of a cache's line. */
static void ask(struct ww_sm *sm, const struct ww_cache *c, const struct ww_line_request *r, uint32_t sectors,
                uint32_t entry, uint32_t inst) {
    ww_l1_write_line_request(ww_l1_next(sm), sm, c->shape, r, sectors, entry, inst);
}

/* Takes the data port for so many chunks; returns the cycle at which the last of them has passed it. */
static uint64_t take_port(struct ww_cache *c, uint32_t chunks, uint64_t cycle) {
    return ww_cache_port(c, cycle, c->shape->data_cycles[chunks]) - 1;
}

/* A miss of the warp has taken the line of `old`. */
static void tell_scheduler(struct ww_sm *sm, uint64_t old, uint32_t line, uint32_t warp) {
    if (old != UINT64_MAX) sm->core->ops->evicted(&sm->shared, sm->l1.brought[line], old);
    sm->l1.brought[line] = (uint8_t)warp;
}

uint32_t ww_l1_take_any_line(struct ww_sm *sm, struct ww_cache *c, uint64_t key, uint32_t warp) {
    bool evicted = false;
    uint32_t line;
    if (sm->booked) ww_booked_settle_set(&c->tags, key, sm->booked->at);
    if (c->brought || c->fetched) {
        line = ww_tags_victim(&c->tags, key);
        if (line == WW_NO_LINE) return line;
        if (c->brought) tell_scheduler(sm, c->tags.line[line].key, line, warp);
        if (c->fetched) ww_fetch_lose(sm, c, line);
        evicted = ww_tags_replace(&c->tags, line, key);
    } else {
        line = ww_tags_take(&c->tags, key, &evicted);
        if (line == WW_NO_LINE) return line;
    }
    sm->core->counter[c->shape->evicted] += evicted;
    c->tags.line[line].valid = 0;
    return line;
}

static uint32_t open_entry(struct ww_cache *c, uint32_t line) {
    uint32_t m = c->free_entry;
    struct ww_mshr *e = &c->entry[m];
    struct ww_tag_line *l = &c->tags.line[line];
    c->free_entry = e->next_free;
    c->used++;
    *e = (struct ww_mshr){.line = line, .target = WW_NONE, .next_free = WW_NONE};
    l->mshr = m;
    l->pins = 1;
    if (c->token) c->token[m] = WW_FETCH_NO_TOKEN;
    return m;
}

/* Notes what the refused request waits for. */
static bool refuse(struct ww_sm *sm, const struct ww_cache *c, enum ww_lsu_wait waits) {
    if (!sm->lsu.skips_retries) return false;
    sm->lsu.waits = (uint8_t)waits;
    sm->lsu.wait_cache = c;
    return false;
}

/* True if an MSHR with room is there for the line, and a place in the miss queue if one is needed. */
static bool can_miss(struct ww_sm *sm, const struct ww_cache *c, uint32_t line, uint32_t miss) {
    if (ww_l1_no_place(sm, miss)) return refuse(sm, c, WW_LSU_QUEUE);
    if (line == WW_NO_LINE || !c->tags.line[line].pending)
        return c->free_entry != WW_NONE || refuse(sm, c, WW_LSU_ENTRY);
    return c->entry[c->tags.line[line].mshr].count < c->shape->mshr_merge;
}

/* All lines of the key's set are reserved. A random victim is drawn anew at each try. */
static bool refuse_set(struct ww_sm *sm, const struct ww_cache *c, uint64_t key) {
    if (c->tags.replace == WW_REPLACE_RANDOM) return false;
    sm->lsu.wait_set = ww_tags_set(&c->tags, key);
    return refuse(sm, c, WW_LSU_SET);
}

static bool load_miss(struct ww_sm *sm, struct ww_cache *c, uint32_t op, const struct ww_line_request *r,
                      uint32_t line, uint32_t hit, uint32_t merged, uint32_t miss, uint64_t cycle) {
    struct ww_core *core = sm->core;
    struct ww_memory_op *o = &core->pool.op[op];
    if (!can_miss(sm, c, line, miss)) return false;
    if (miss && ww_l1_not_owner(sm, o->warp)) return false;
    line = ww_l1_allocate(sm, c, r->key, line, o->warp, cycle);
    if (line == WW_NO_LINE) return refuse_set(sm, c, r->key);
    struct ww_tag_line *l = &c->tags.line[line];
    uint32_t m = l->pending ? l->mshr : open_entry(c, line), t = ww_pool_target(core), inst = o->inst;
    if (t == WW_NONE) return false;
    struct ww_mshr *e = &c->entry[m];
    core->pool.target[t] = (struct ww_target){op, merged | miss, e->target};
    e->target = t;
    e->count++;
    l->pending |= miss;
    o->remaining++;
    ww_l1_count_load(sm, c->shape, inst, hit, merged, miss);
    if (!miss) return true;
    if (c == &sm->l1) ww_l1_count_pattern(sm, (uint64_t)ww_bits8(miss) << c->shape->sector_shift);
    ask(sm, c, r, miss, m, inst);
    return true;
}

bool ww_l1_prefetch(struct ww_sm *sm, struct ww_cache *c, const struct ww_line_request *r, uint32_t warp,
                    uint32_t inst, uint64_t cycle) {
    uint32_t line = ww_tags_find(&c->tags, r->key), sectors = c->shape->sectors_of[r->chunks];
    if (line != WW_NO_LINE) sectors &= ~(c->tags.line[line].valid | c->tags.line[line].pending);
    bool open = line != WW_NO_LINE && c->tags.line[line].pending;
    if (ww_l1_queue_full(sm) || (!open && c->free_entry == WW_NONE)) return false;
    line = ww_l1_allocate(sm, c, r->key, line, warp, cycle);
    if (line == WW_NO_LINE) return false;
    uint32_t m = open ? c->tags.line[line].mshr : open_entry(c, line);
    c->tags.line[line].pending |= sectors;
    sm->core->counter[WW_C_PREFETCH_SECTOR] += (uint64_t)ww_bits8(sectors) << c->shape->sector_shift;
    ask(sm, c, r, sectors, m, inst);
    return true;
}

/* A hit on a page that the SM has no translation of: a request for it goes to the TLB, at the L2, and the data
 * are read when it is back (Mei and Chu, TPDS 2017, section 5.2: P2 of the GTX560Ti). */
static bool translate_hit(struct ww_sm *sm, uint32_t op, const struct ww_line_request *r) {
    struct ww_core *core = sm->core;
    const struct ww_cache_shape *s = &core->l1_shape;
    uint64_t first = r->key & ~(uint64_t)s->offset_mask;
    uint32_t chunks = (uint32_t)core->chunks_of[r->chunks] << ((r->key - first) << (s->line_shift - 5));
    if (ww_l1_queue_full(sm)) return false;
    uint32_t t = ww_pool_target(core);
    if (t == WW_NONE) return false;
    core->pool.target[t] = (struct ww_target){op, chunks, WW_NONE};
    core->pool.op[op].remaining++;
    struct ww_mem_request q;
    ww_l1_write_request(&q, sm, r, first << s->line_shift, chunks, WW_MEM_TRANSLATION, WW_TAG_TARGET | t,
                        core->pool.op[op].inst);
    q.bytes = 0;
    q.fine = 1;
    ww_l1_queue(sm, &q);
    return true;
}

/* True if a hit in the cache needs no translation, or the SM has that of the page. */
static bool translated(struct ww_sm *sm, const struct ww_cache *c, uint64_t key) {
    if (!sm->page_shift || c != &sm->l1) return true;
    return ww_tlb_array_find(&sm->pages, key << c->shape->line_shift >> sm->page_shift);
}

bool ww_l1_load(struct ww_sm *sm, struct ww_cache *c, uint32_t op, const struct ww_line_request *r,
                uint64_t cycle, uint32_t *cycles) {
    return ww_l1_load_line(sm, c, op, r, ww_tags_find(&c->tags, r->key), cycle, cycles);
}

bool ww_l1_load_line(struct ww_sm *sm, struct ww_cache *c, uint32_t op, const struct ww_line_request *r,
                     uint32_t line, uint64_t cycle, uint32_t *cycles) {
    const struct ww_cache_shape *s = c->shape;
    uint32_t hit = 0, merged = 0, sectors = s->sectors_of[r->chunks];
    if (line != WW_NO_LINE) {
        hit = sectors & c->tags.line[line].valid;
        merged = sectors & c->tags.line[line].pending;
    }
    uint32_t miss = sectors & ~(hit | merged);
    if (merged | miss) {
        if (!load_miss(sm, c, op, r, line, hit, merged, miss, cycle)) return false;
    } else {
        bool known = translated(sm, c, r->key);
        if (!known && !translate_hit(sm, op, r)) return false;
        ww_l1_count_hit(sm, s, sm->core->pool.op[op].inst, hit);
        if (!known) hit = 0; /* its data are read later */
    }
    if (c->fetched) ww_fetch_note(sm, c, r->key, line, merged, miss);
    if (line != WW_NO_LINE) ww_tags_touch(&c->tags, line);
    if (hit && c == &sm->l1 && sm->lsu.banked) { /* its data are read when all lines are looked up */
        struct ww_memory_op *o = &sm->core->pool.op[op];
        if (cycle - 1 + s->latency > o->ready) o->ready = cycle - 1 + s->latency;
        sm->lsu.hit_lines++;
    } else if (hit) {
        uint32_t chunks = ww_bits8(hit) << s->sector_shift, asked = ww_bits8(r->chunks);
        if (asked < chunks) chunks = asked;
        uint64_t ready = take_port(c, chunks, cycle) - 1 + s->latency;
        struct ww_memory_op *o = &sm->core->pool.op[op];
        if (ready > o->ready) o->ready = ready;
        if (c != &sm->tex) *cycles = s->data_cycles[chunks]; /* the texture path has a queue of its own */
    }
    return true;
}
