/* The load/store unit of fast replay: requests whose replies are known when they are sent. */
#include "booked.h"
#include "../memory/fast_read.h"
#include "../../result/result.h"
#include "l1_request.h"
#include "lsu_queue.h"
#include "lsu_requests.h"
#include "warp_head.h"

#include <string.h>

/* ---- a launch, an SM ------------------------------------------------------------------------- */

/* Copies and textures complete in other ways. */
static bool inst_fits(const struct ww_dinst *d) {
    return !d->async && !d->sends && !d->texture && (d->path != WW_L_LOAD || d->cache != WW_CACHE_TEX);
}

bool ww_booked_fits(const struct ww_core *core) {
    const struct ww_gpu_spec *g = core->gpu;
    const struct ww_sched_ops *ops = core->ops;
    if (ops->may_miss || ops->by_saturation || ops->evicted || core->lsu_plan.watch || core->lsu_plan.entries ||
        core->pipe_plan.stages || core->fetch_plan.queue || core->waits || (g->tlb_enabled && g->tlb_on_l1_hit))
        return false;
    for (uint32_t i = 0; i < core->code.inst_count; i++)
        if (!inst_fits(&core->code.inst[i])) return false;
    return true;
}

bool ww_booked_init(struct ww_sm *sm, struct ww_arena *arena) {
    if (sm->extras || sm->collect) return true;
    struct ww_booked *b = ww_arena_array(arena, 1, sizeof *b);
    if (!b) return false;
    b->queue = sm->core->gpu->l1_miss_queue;
    b->sent = ww_arena_array(arena, b->queue, sizeof *b->sent);
    b->far_first = WW_NEVER;
    b->plain = ww_memsys_plain(sm->core->memory);
    b->quick = b->plain && !sm->l1.brought && !sm->l1.fetched && !sm->l1.shape->fine &&
               (sm->l1.tags.replace == WW_REPLACE_LRU || sm->l1.tags.replace == WW_REPLACE_FIFO);
    if (b->plain) {
        b->to_l2 = ww_fast_ratio_of(&sm->core->clock, ww_fast_clock(b->plain));
        b->from_l2 = ww_fast_ratio_of(ww_fast_clock(b->plain), &sm->core->clock);
        ww_fast_reader_init(&b->reader, b->plain, (uint16_t)sm->id, 1u << sm->l1.shape->line_shift);
    }
    sm->booked = b;
    return b->sent != NULL;
}

void ww_booked_wake_before(struct ww_sm *sm, uint64_t end) {
    struct ww_booked *b = sm->booked;
    uint64_t first = WW_NEVER;
    for (uint64_t left = b->far; left; left &= left - 1) {
        uint32_t warp = (uint32_t)__builtin_ctzll(left);
        uint64_t at = b->far_at[warp];
        if (at < end) {
            ww_wheel_set(&sm->wheel, at, warp);
            b->far &= ~(left & -left);
        } else if (at < first) {
            first = at;
        }
    }
    b->far_first = first;
}

bool ww_booked_gone(struct ww_sm *sm, struct ww_warp *w, uint64_t cycle) {
    if (w->results_at <= cycle) return true;
    ww_wake_at(sm, w, w->results_at);
    return false;
}

/* ---- MSHRs and lines ------------------------------------------------------------------------- */

/* MSHRs leave that do so by the window. */
static void leave_until(struct ww_sm *sm, struct ww_booked *b, uint64_t window) {
    while (b->window < window && sm->l1.used) {
        uint16_t *leave = &b->leave[++b->window & (WW_BOOKED_WINDOWS - 1)];
        if (!*leave) continue;
        sm->l1.used -= *leave;
        *leave = 0;
        uint64_t cycle = b->window << WW_BOOKED_SHIFT;
        if (sm->saturated && !ww_l1_saturated(sm))
            ww_sm_count_mode(sm, cycle > sm->saturated_at ? cycle : sm->saturated_at);
    }
    if (b->window < window) b->window = window;
}

static uint16_t *leaving(struct ww_booked *b, uint64_t cycle) {
    uint64_t window = (cycle + (1u << (WW_BOOKED_SHIFT - 1))) >> WW_BOOKED_SHIFT;
    if (window <= b->window) window = b->window + 1;
    if (window >= b->window + WW_BOOKED_WINDOWS) window = b->window + WW_BOOKED_WINDOWS - 1;
    return &b->leave[window & (WW_BOOKED_WINDOWS - 1)];
}

/* The cycle, from b->at on, in which an MSHR is free. */
static uint64_t mshr_free(struct ww_sm *sm, struct ww_booked *b) {
    leave_until(sm, b, b->at >> WW_BOOKED_SHIFT);
    uint64_t window = b->window;
    while (sm->l1.used >= sm->l1.shape->mshrs) leave_until(sm, b, ++window);
    window <<= WW_BOOKED_SHIFT;
    return window > b->at ? window : b->at;
}

/* The cycle of the line's last fill, which is not over at `cycle`. */
static inline uint64_t fill_of(const struct ww_tag_line *line, uint64_t cycle) {
    return cycle + (uint32_t)(line->mshr - (uint32_t)cycle);
}

void ww_booked_settle_set(struct ww_tags *t, uint64_t key, uint64_t cycle) {
    uint32_t set = ww_tags_set(t, key);
    if (t->replace == WW_REPLACE_LRU || t->replace == WW_REPLACE_FIFO) {
        for (uint32_t line = ww_tags_last(t, set); line != WW_NO_LINE && t->line[line].pins;
             line = ww_tags_before(t, set, line)) {
            ww_booked_settle(&t->line[line], cycle);
            if (!t->line[line].pins) return;
        }
    } else {
        for (uint32_t i = 0; i < t->ways; i++) ww_booked_settle(&t->line[set * t->ways + i], cycle);
    }
}

/* The first fill of the set of the key, all of whose lines wait for one. */
static uint64_t first_fill(const struct ww_tags *t, uint64_t key, uint64_t cycle) {
    uint64_t first = UINT64_MAX;
    for (uint32_t i = 0, base = ww_tags_set(t, key) * t->ways; i < t->ways; i++) {
        uint64_t at = fill_of(&t->line[base + i], cycle);
        if (at < first) first = at;
    }
    return first;
}

/* ---- the way to memory ----------------------------------------------------------------------- */

/* The cycle, from b->at on, in which the miss queue has a place and `spare` more. */
static inline uint64_t queue_free(const struct ww_booked *b, uint32_t spare) {
    uint32_t at = b->next + (spare < b->queue ? spare : b->queue - 1);
    uint64_t free = b->sent[at >= b->queue ? at - b->queue : at] + 1;
    return free > b->at ? free : b->at;
}

/* The cycle in which a request that is queued at b->at may be sent. */
static inline uint64_t sends(const struct ww_booked *b) {
    return b->at > b->send_from ? b->at : b->send_from;
}

static inline void note_sent(struct ww_booked *b, uint64_t cycle) {
    b->send_from = cycle + 1;
    b->sent[b->next] = cycle;
    if (++b->next == b->queue) b->next = 0;
}

/* Sends a request that is queued at b->at. */
static void send(struct ww_sm *sm, struct ww_booked *b, const struct ww_mem_request *q,
                 const struct ww_mem_place *place, struct ww_mem_answers *answers) {
    struct ww_core *core = sm->core;
    uint64_t cycle = sends(b), ps = ww_clock_time(&core->clock, cycle);
    uint64_t sent = ww_memsys_book(core->memory, q, place, ps, answers);
    note_sent(b, sent > ps ? ww_clock_cycle(&core->clock, sent) : cycle);
}

/* The cycle in which the SM receives the answer. */
static inline uint64_t received(struct ww_core *core, struct ww_booked *b, const struct ww_mem_answer *a) {
    if (a->ps > core->last_reply_ps) core->last_reply_ps = a->ps;
    uint64_t cycle = ww_clock_cycle(&core->clock, a->ps);
    if (cycle > b->told) b->told = cycle;
    return cycle;
}

static inline void note(struct ww_booked *b, uint64_t ready, uint32_t level) {
    if (ready > b->ready) b->ready = ready;
    if (level > b->level) b->level = (uint8_t)level;
}

/* Takes the L1's data port for so many chunks; returns the cycle from which it is free again. */
static inline uint64_t take_port(struct ww_sm *sm, struct ww_booked *b, uint64_t cycles, uint64_t from) {
    sm->l1.port_used += cycles;
    return ww_calendar_take(&b->port, from, (uint32_t)cycles << WW_CALENDAR_UNIT) + cycles;
}

/* The same for data in the L1, which are read in the order of their loads. */
static uint64_t read_port(struct ww_sm *sm, struct ww_booked *b, uint64_t cycles, uint64_t from) {
    b->read_free = take_port(sm, b, cycles, from > b->read_free ? from : b->read_free);
    return b->read_free;
}

/* What an answer brings passes the data port; notes when it is for use, and returns when it was received. */
static inline uint64_t take_answer(struct ww_sm *sm, struct ww_booked *b, const struct ww_mem_answer *a,
                                   uint32_t chunks) {
    const struct ww_cache_shape *s = sm->l1.shape;
    uint64_t cycle = received(sm->core, b, a);
    note(b, take_port(sm, b, s->data_cycles[chunks], cycle) - 1 + s->latency, a->level);
    return cycle;
}

/* ---- requests -------------------------------------------------------------------------------- */

/* The unit was held for so many cycles. */
static void count_held(struct ww_sm *sm, const struct ww_dinst *d, uint64_t cycles) {
    sm->core->counter[WW_C_LSU_STALL_CYCLES] += cycles;
    if (d->cache != WW_CACHE_NONE) sm->core->counter[WW_C_L1_RESERVATION_FAIL] += cycles;
}

/* The cycle, from b->at on, in which a load of which something is not valid finds an MSHR and a place. */
static uint64_t can_miss_at(struct ww_sm *sm, struct ww_booked *b, uint32_t line, uint32_t miss) {
    uint32_t spare = sm->core->gpu->l1_read_spare;
    const struct ww_tag_line *l = line == WW_NO_LINE ? NULL : &sm->l1.tags.line[line];
    uint64_t at = b->at;
    if (!l || !l->pins)
        at = mshr_free(sm, b);
    else if (l->pins >= sm->l1.shape->mshr_merge)
        at = fill_of(l, at);
    uint64_t queued = miss | spare ? queue_free(b, spare) : 0;
    return queued > at ? queued : at;
}

/* What a load finds: its sectors by what becomes of them. */
struct found {
    uint32_t line, hit, merged, miss;
};

static inline struct found look_up(struct ww_sm *sm, const struct ww_booked *b, uint32_t line,
                                   uint32_t sectors) {
    struct found f = {.line = line};
    if (f.line != WW_NO_LINE) {
        struct ww_tag_line *l = &sm->l1.tags.line[f.line];
        ww_booked_settle(l, b->at);
        f.hit = sectors & l->valid;
        f.merged = sectors & l->pending;
    }
    f.miss = sectors & ~(f.hit | f.merged);
    return f;
}

/* Finds the lines of some requests, from the one that the unit works on, and where those go that miss. */
static void place_requests(struct ww_sm *sm, struct ww_booked *b) {
    const struct ww_tags *t = &sm->l1.tags;
    const struct ww_cache_shape *s = sm->l1.shape;
    const struct ww_lsu *l = &sm->lsu;
    uint32_t first = l->next_request, end = (first | (WW_BOOKED_PLACES - 1)) + 1, missing = 0;
    b->placed = end < l->coalescer.count ? end : l->coalescer.count;
    for (uint32_t i = first; i < b->placed; i++) {
        const struct ww_line_request *r = &l->coalescer.request[i];
        uint32_t k = i % WW_BOOKED_PLACES, line = b->line[k] = ww_tags_find(t, r->key);
        if (line != WW_NO_LINE && !(s->sectors_of[r->chunks] & ~(t->line[line].valid | t->line[line].pending)))
            continue;
        b->place[k].local = (r->key & ~(uint64_t)s->offset_mask) << s->line_shift;
        missing |= 1u << k;
    }
    if (missing) ww_memsys_expect(sm->core->memory, b->place, missing);
    b->missing = missing;
}

/* Which line has the key of the request that the unit works on: requests of an instruction have different ones.
 */
static inline uint32_t line_of(const struct ww_sm *sm, const struct ww_booked *b, uint64_t key) {
    uint32_t line = b->line[sm->lsu.next_request % WW_BOOKED_PLACES];
    return line == WW_NO_LINE || sm->l1.tags.line[line].key == key ? line : WW_NO_LINE;
}

/* Where the request goes. */
static inline const struct ww_mem_place *place_of(struct ww_sm *sm, struct ww_booked *b,
                                                  const struct ww_line_request *r) {
    uint32_t k = sm->lsu.next_request % WW_BOOKED_PLACES;
    if (!(b->missing >> k & 1)) { /* it was in the L1 until a request of the same instruction replaced it */
        const struct ww_cache_shape *s = sm->l1.shape;
        b->place[k].local = (r->key & ~(uint64_t)s->offset_mask) << s->line_shift;
        ww_memsys_expect(sm->core->memory, b->place, 1u << k);
    }
    return &b->place[k];
}

/* What a line gets: the cycle of the last reply, the deepest level that served it. */
struct fetched {
    uint64_t last;
    uint32_t level;
};

/* Sectors come in `cycle`, and pass the data port. */
static inline void take_sectors(struct ww_sm *sm, struct ww_booked *b, uint64_t cycle, uint32_t sectors,
                                uint32_t level, struct fetched *f) {
    const struct ww_cache_shape *s = sm->l1.shape;
    if (cycle > b->told) b->told = cycle;
    note(b, take_port(sm, b, s->data_cycles[sectors << s->sector_shift], cycle) - 1 + s->latency, level);
    if (cycle > f->last) f->last = cycle;
    if (level > f->level) f->level = level;
}

/* Reads sectors of a line. */
static void read_line(struct ww_sm *sm, struct ww_booked *b, const struct ww_line_request *r, uint32_t inst,
                      uint32_t miss, struct fetched *f) {
    struct ww_mem_answers answers;
    struct ww_mem_request q;
    ww_l1_write_line_request(&q, sm, sm->l1.shape, r, miss, 0, inst);
    send(sm, b, &q, place_of(sm, b, r), &answers);
    for (uint32_t i = 0; i < answers.count; i++) {
        const struct ww_mem_answer *a = &answers.answer[i];
        take_sectors(sm, b, received(sm->core, b, a), a->chunks, a->level, f);
    }
}

/* The same, the short way. */
static inline void read_plain(struct ww_sm *sm, struct ww_booked *b, const struct ww_line_request *r,
                              uint32_t miss, struct fetched *f) {
    const struct ww_cache_shape *s = sm->l1.shape;
    struct ww_fast_reader *reader = &b->reader;
    uint64_t cycle = sends(b), asked = ww_fast_cycle(&b->to_l2, cycle);
    if (s->fine) miss <<= (r->key & s->offset_mask) << (s->line_shift - 5);
    uint64_t sent = ww_fast_book_read(reader, place_of(sm, b, r), miss, asked);
    note_sent(b, sent > asked ? ww_fast_cycle(&b->from_l2, sent) : cycle);
    for (uint32_t i = 0; i < reader->answers; i++) {
        uint64_t at = reader->answer[i].cycle;
        if (at > b->replied) b->replied = at;
        take_sectors(sm, b, ww_fast_cycle(&b->from_l2, at), reader->answer[i].chunks, reader->answer[i].level,
                     f);
    }
}

/* The line for a load's miss, as ww_l1_allocate gives it, where the order of a set says what is replaced: fills
 * that are due are noted on the way to the first line that waits for none. */
static inline uint32_t allocate(struct ww_sm *sm, struct ww_cache *c, uint64_t key, uint32_t line,
                                uint32_t warp, uint64_t cycle) {
    struct ww_tags *t = &c->tags;
    bool ordered = t->replace == WW_REPLACE_LRU || t->replace == WW_REPLACE_FIFO;
    if (line != WW_NO_LINE) return line;
    if (!ordered || c->brought || c->fetched) return ww_l1_allocate(sm, c, key, line, warp, cycle);
    uint32_t set = ww_tags_set(t, key);
    for (line = ww_tags_last(t, set); line != WW_NO_LINE; line = ww_tags_before(t, set, line)) {
        ww_booked_settle(&t->line[line], cycle);
        if (t->line[line].pins) continue;
        if (ww_tags_replace(t, line, key)) sm->core->counter[c->shape->evicted]++;
        ww_tags_prefetch_victim(t, line);
        t->line[line].valid = 0;
        break;
    }
    return line;
}

/* Sends for sectors of a line, which get an MSHR or share the line's. */
static void fetch(struct ww_sm *sm, const struct ww_lsu_entry *e, const struct ww_line_request *r,
                  struct ww_tag_line *line, uint32_t miss) {
    struct ww_booked *b = sm->booked;
    struct fetched f = {.last = line->pins ? fill_of(line, b->at) : 0,
                        .level = line->pending >> WW_BOOKED_LEVEL};
    uint16_t *leave = f.last ? leaving(b, f.last) : NULL;
    ww_l1_count_pattern(sm, (uint64_t)ww_bits8(miss) << sm->l1.shape->sector_shift);
    if (b->plain)
        read_plain(sm, b, r, miss, &f);
    else
        read_line(sm, b, r, e->inst, miss, &f);
    if (leave && *leave)
        --*leave; /* the line's MSHR leaves later */
    else
        sm->l1.used++;
    ++*leaving(b, f.last);
    line->mshr = (uint32_t)f.last;
    line->pending |= miss;
    line->pending = (line->pending & ((1u << WW_BOOKED_LEVEL) - 1)) | f.level << WW_BOOKED_LEVEL;
}

/* Lines that the L1 does not hold, where nothing is rare, are read one after another. So long, what changes of
 * the unit is here. */
struct run {
    uint64_t at, held; /* cycle; cycles for which the unit was held */
    uint64_t send_from, told, ready, replied;
    uint32_t next; /* place in the ring of the miss queue */
    uint32_t level, missed;
};

/* The line that the key gets, which is taken from the one that it had. WW_NO_LINE: that is not so simple. */
static inline uint32_t new_line(struct ww_sm *sm, struct ww_cache *c, uint64_t key, uint64_t cycle) {
    struct ww_tags *t = &c->tags;
    uint32_t set = ww_tags_set(t, key), index = ww_tags_last(t, set);
    struct ww_tag_line *line = &t->line[index];
    if (line->pins && line->mshr - (uint32_t)cycle - 1 < WW_BOOKED_AHEAD) return WW_NO_LINE;
    bool valid = line->key != WW_TAGS_EMPTY;
    ww_tags_replace_last(t, set, index, key, valid);
    if (valid) sm->core->counter[c->shape->evicted]++;
    ww_tags_prefetch_victim(t, index);
    return index;
}

/* Waits for a place in the miss queue and an MSHR. */
static inline void wait_to_miss(struct ww_sm *sm, struct ww_booked *b, struct run *n) {
    uint32_t spare = sm->core->gpu->l1_read_spare, place = n->next + (spare < b->queue ? spare : b->queue - 1);
    uint64_t since = n->at, queued = b->sent[place >= b->queue ? place - b->queue : place] + 1;
    if (b->window < n->at >> WW_BOOKED_SHIFT) leave_until(sm, b, n->at >> WW_BOOKED_SHIFT);
    if (sm->l1.used >= sm->l1.shape->mshrs) {
        b->at = n->at;
        n->at = mshr_free(sm, b);
    }
    if (queued > n->at) {
        n->at = queued;
        if (b->window < n->at >> WW_BOOKED_SHIFT) leave_until(sm, b, n->at >> WW_BOOKED_SHIFT);
    }
    n->held += n->at - since;
}

/* Takes what the read brings; returns the cycle in which the last of it comes. *level: the deepest that it came
 * from. */
static inline uint64_t take_read(struct ww_sm *sm, struct ww_booked *b, struct run *n, uint32_t *level) {
    const struct ww_cache_shape *s = sm->l1.shape;
    const struct ww_fast_reader *reader = &b->reader;
    uint64_t last = 0;
    for (uint32_t i = 0; i < reader->answers; i++) {
        uint64_t at = reader->answer[i].cycle, cycle = ww_fast_cycle(&b->from_l2, at);
        uint32_t from = reader->answer[i].level,
                 takes = s->data_cycles[reader->answer[i].chunks << s->sector_shift];
        uint64_t use = take_port(sm, b, takes, cycle) - 1 + s->latency;
        n->replied = at > n->replied ? at : n->replied;
        n->told = cycle > n->told ? cycle : n->told;
        n->ready = use > n->ready ? use : n->ready;
        last = cycle > last ? cycle : last;
        *level = from > *level ? from : *level;
    }
    if (*level > n->level) n->level = *level;
    return last;
}

/* Reads the line of a request; false: what is rare is needed, and nothing has changed. */
static inline bool read_new(struct ww_sm *sm, struct ww_booked *b, struct run *n, uint64_t key,
                            const struct ww_mem_place *place, uint32_t sectors) {
    struct ww_cache *c = &sm->l1;
    const struct ww_cache_shape *s = c->shape;
    const struct run before = *n;
    wait_to_miss(sm, b, n);
    uint32_t index = new_line(sm, c, key, n->at), level = WW_LEVEL_L1;
    if (index == WW_NO_LINE) {
        *n = before;
        return false;
    }
    uint64_t cycle = n->at > n->send_from ? n->at : n->send_from, asked = ww_fast_cycle(&b->to_l2, cycle);
    uint64_t sent = ww_fast_book_read(&b->reader, place, sectors, asked);
    if (sent > asked) cycle = ww_fast_cycle(&b->from_l2, sent);
    n->send_from = cycle + 1;
    b->sent[n->next] = cycle;
    n->next = n->next + 1 == b->queue ? 0 : n->next + 1;
    n->missed += ww_bits8(sectors);
    uint64_t last = take_read(sm, b, n, &level);
    struct ww_tag_line *line = &c->tags.line[index];
    line->valid = 0;
    line->mshr = (uint32_t)last;
    line->pending = sectors | level << WW_BOOKED_LEVEL;
    line->pins = 1;
    c->used++;
    ++*leaving(b, last);
    if ((c->used >= s->mshr_high[sm->saturated]) != sm->saturated && ww_l1_saturated(sm) != sm->saturated)
        ww_sm_count_mode(sm, n->at);
    return true;
}

enum ran { RAN_NONE, RAN, RAN_OUT }; /* RAN_OUT: to the end of the span */

/* Reads lines that the L1 does not hold, from the request that the unit works on, which is such a one. */
static enum ran run_new(struct ww_sm *sm, const struct ww_dinst *d) {
    struct ww_booked *b = sm->booked;
    struct ww_lsu *l = &sm->lsu;
    const uint32_t first = l->next_request, count = l->coalescer.count;
    const uint8_t *sectors_of = sm->l1.shape->sectors_of;
    struct run n = {.at = b->at,
                    .send_from = b->send_from,
                    .told = b->told,
                    .ready = b->ready,
                    .replied = b->replied,
                    .next = b->next,
                    .level = b->level};
    uint32_t i = first;
    enum ran ran = RAN;
    while (i < b->placed && b->line[i % WW_BOOKED_PLACES] == WW_NO_LINE) {
        const struct ww_line_request *r = &l->coalescer.request[i];
        if (!read_new(sm, b, &n, r->key, &b->place[i % WW_BOOKED_PLACES], sectors_of[r->chunks])) break;
        b->at = n.at;
        if (++i == count) break;
        if (l->banked && l->pass[i] == l->pass[i - 1]) continue;
        n.at++;
        if (n.at < sm->core->span_end) continue;
        ran = RAN_OUT;
        break;
    }
    if (i == first) return RAN_NONE;
    if (i < count) b->at = n.at;
    b->send_from = n.send_from;
    b->told = n.told;
    b->ready = n.ready;
    b->replied = n.replied;
    b->next = n.next;
    b->level = (uint8_t)n.level;
    b->lines += i - first;
    b->missed += n.missed;
    b->cycles = 1;
    l->next_request = i;
    if (n.held) count_held(sm, d, n.held);
    return ran;
}

/* Counts new lines and lines that hit. */
static void count_lines(struct ww_sm *sm, uint32_t inst) {
    struct ww_booked *b = sm->booked;
    const struct ww_cache_shape *s = sm->l1.shape;
    uint64_t *n = sm->core->counter, *of = sm->core->epochs.inst[inst].counter;
    uint64_t miss = (uint64_t)b->missed << s->sector_shift, hit = (uint64_t)b->hit << s->sector_shift;
    n[s->access] += b->lines;
    n[s->read] += hit + miss;
    n[s->hit] += hit;
    of[WW_I_SECTORS] += hit + miss;
    if (miss) {
        ww_l1_count_pattern(sm, miss);
        n[s->miss] += miss;
        of[WW_I_L1_MISS] += miss;
    }
    b->lines = b->missed = b->hit = 0;
}

static inline void count(struct ww_sm *sm, uint32_t inst) {
    struct ww_booked *b = sm->booked;
    if (b->lines) count_lines(sm, inst);
    if (b->reader.inst_missed | b->reader.inst_merged) ww_fast_count_inst(&b->reader, inst);
}

void ww_booked_count(struct ww_booked *b) {
    if (b->reader.reads) ww_fast_count_reads(&b->reader);
}

/* A load's line. *cycles: how long the unit is taken. */
static void load(struct ww_sm *sm, const struct ww_lsu_entry *e, const struct ww_dinst *d,
                 const struct ww_line_request *r, uint32_t *cycles) {
    struct ww_booked *b = sm->booked;
    struct ww_cache *c = &sm->l1;
    const struct ww_cache_shape *s = c->shape;
    uint32_t sectors = s->sectors_of[r->chunks];
    uint64_t since = b->at;
    struct found f = look_up(sm, b, line_of(sm, b, r->key), sectors);
    const bool present = f.line != WW_NO_LINE;
    if (f.hit == sectors && sm->lsu.banked) {
        ww_tags_touch(&c->tags, f.line);
        note(b, b->at - 1 + s->latency, WW_LEVEL_L1);
        b->lines++;
        b->hit += ww_bits8(f.hit);
        sm->lsu.hit_lines++;
        return;
    }
    while (f.merged | f.miss) {
        uint64_t at = can_miss_at(sm, b, f.line, f.miss);
        if (at == b->at) {
            f.line = allocate(sm, c, r->key, f.line, e->warp, at);
            if (f.line != WW_NO_LINE) break;
            at = first_fill(&c->tags, r->key, at);
        }
        b->at = at;
        if (f.line == WW_NO_LINE) continue;
        f = look_up(sm, b, f.line, sectors);
    }
    if (b->at > since) count_held(sm, d, b->at - since);
    if (f.merged | f.miss) {
        struct ww_tag_line *line = &c->tags.line[f.line];
        ww_l1_count_load(sm, s, e->inst, f.hit, f.merged, f.miss);
        if (f.merged) {
            uint64_t fill = fill_of(line, b->at);
            note(b, fill + s->latency, line->pending >> WW_BOOKED_LEVEL);
            if (fill > b->told) b->told = fill;
        }
        if (f.miss) fetch(sm, e, r, line, f.miss);
        line->pins++;
        if (ww_l1_saturated(sm) != sm->saturated) ww_sm_count_mode(sm, b->at);
    } else {
        ww_l1_count_hit(sm, s, e->inst, f.hit);
    }
    if (present) ww_tags_touch(&c->tags, f.line);
    if (!f.hit) return;
    if (sm->lsu.banked) { /* its data are read when all lines are looked up */
        note(b, b->at - 1 + s->latency, WW_LEVEL_L1);
        sm->lsu.hit_lines++;
        return;
    }
    uint32_t chunks = ww_bits8(f.hit) << s->sector_shift, asked = ww_bits8(r->chunks);
    if (asked < chunks) chunks = asked;
    note(b, read_port(sm, b, s->data_cycles[chunks], b->at) - 2 + s->latency, WW_LEVEL_L1);
    *cycles = s->data_cycles[chunks];
}

/* A store, an atomic, or a load that the L1 does not hold. */
static void pass(struct ww_sm *sm, const struct ww_lsu_entry *e, const struct ww_dinst *d,
                 const struct ww_line_request *r) {
    struct ww_booked *b = sm->booked;
    uint64_t since = b->at;
    struct ww_mem_answers answers;
    b->at = queue_free(b, 0);
    if (b->at > since) count_held(sm, d, b->at - since);
    struct ww_mem_request q;
    if (d->path == WW_L_STORE)
        ww_l1_store_request(&q, sm, e->warp, d, r, 0);
    else
        ww_l1_direct_request(&q, sm, e->warp, d, r, 0);
    send(sm, b, &q, NULL, &answers);
    for (uint32_t i = 0; i < answers.count; i++) {
        const struct ww_mem_answer *a = &answers.answer[i];
        if (ww_lsu_has_reply(d))
            take_answer(sm, b, a, a->chunks);
        else
            note(b, received(sm->core, b, a), WW_LEVEL_L1);
    }
}

/* ---- instructions ---------------------------------------------------------------------------- */

/* The result, at the time of the last reply. */
static void finish_load(struct ww_sm *sm, struct ww_warp *w, const struct ww_dinst *d, uint64_t cycle) {
    struct ww_core *core = sm->core;
    uint64_t start = sm->lsu.start, at = sm->booked->ready + d->latency;
    if (d->path == WW_L_LOAD) {
        core->counter[WW_C_LOAD_ANSWERED]++;
        core->counter[WW_C_LOAD_CYCLES] += at - start;
    }
    ww_lsu_write_results(sm, w, d, cycle, at, WW_S_WAIT_L1 + sm->booked->level);
    ww_warp_memory_done(sm, w, cycle, at);
    if (sm->booked->told > w->results_at) w->results_at = sm->booked->told;
    if (w->inflight > 1 || !w->done || ww_booked_gone(sm, w, cycle)) ww_lsu_release(sm, w, cycle);
}

/* The launch lasts to the last reply. */
static void note_replied(struct ww_core *core, struct ww_booked *b) {
    uint64_t ps = ww_clock_time(ww_fast_clock(b->plain), b->replied);
    if (ps > core->last_reply_ps) core->last_reply_ps = ps;
    b->replied = 0;
}

/* All requests have been looked at; the unit takes the next instruction. */
static void finish(struct ww_sm *sm, const struct ww_lsu_entry *e, const struct ww_dinst *d, uint64_t cycle) {
    struct ww_lsu *l = &sm->lsu;
    struct ww_booked *b = sm->booked;
    struct ww_warp *w = &sm->warp[e->warp];
    uint64_t generated = l->start + sm->core->lsu_cycles;
    if (b->replied) note_replied(sm->core, b);
    l->free = cycle + b->cycles > generated ? cycle + b->cycles : generated;
    b->done = false;
    if (l->banked && l->hit_lines) {
        uint32_t waves = ww_lsu_waves(sm, e, d);
        note(b, read_port(sm, b, waves, l->start) - 2 + sm->core->l1_shape.latency, WW_LEVEL_L1);
        if (l->free < l->start + waves) l->free = l->start + waves;
    }
    ww_lsu_pop(sm, w, l->start);
    if (d->counts) ww_depend_read(sm, w, d, l->start, cycle);
    if (ww_lsu_has_reply(d)) {
        note(b, cycle - 1 + sm->core->l1_shape.latency, WW_LEVEL_L1);
        finish_load(sm, w, d, cycle);
    } else {
        ww_lsu_finish_silent(sm, w, d, cycle, b->ready > cycle ? b->ready : cycle);
    }
}

static void start(struct ww_sm *sm, const struct ww_lsu_entry *e, const struct ww_dinst *d, uint64_t cycle) {
    struct ww_booked *b = sm->booked;
    ww_lsu_start_requests(sm, e, d, cycle);
    b->ready = b->told = 0;
    b->level = WW_LEVEL_L1;
    b->cycles = 1;
    b->placed = 0;
    b->reader.sure = b->reader.apart;
    if (d->path == WW_L_LOAD && d->cache == WW_CACHE_L1) ww_lsu_prefetch_requests(sm);
}

/* The unit works on a request, and goes on to the next one. */
static enum ran run_one(struct ww_sm *sm, const struct ww_lsu_entry *e, const struct ww_dinst *d, bool cached) {
    struct ww_lsu *l = &sm->lsu;
    struct ww_booked *b = sm->booked;
    uint32_t cycles = 1;
    const struct ww_line_request *r = &l->coalescer.request[l->next_request];
    if (cached)
        load(sm, e, d, r, &cycles);
    else
        pass(sm, e, d, r);
    b->cycles = cycles;
    if (++l->next_request == l->coalescer.count || ww_lsu_same_pass(l)) return RAN;
    b->at += cycles;
    return b->at >= sm->core->span_end ? RAN_OUT : RAN;
}

void ww_booked_step(struct ww_sm *sm, const struct ww_lsu_entry *e, const struct ww_dinst *d, uint64_t cycle) {
    struct ww_lsu *l = &sm->lsu;
    struct ww_booked *b = sm->booked;
    bool cached = d->path == WW_L_LOAD && d->cache == WW_CACHE_L1;
    if (!l->active)
        start(sm, e, d, cycle);
    else
        b->reader.sure = false; /* other SMs have used the L2 */
    b->at = cycle;
    while (!b->done && l->next_request < l->coalescer.count) {
        if (cached && l->next_request >= b->placed) place_requests(sm, b);
        enum ran ran = RAN_NONE;
        if (cached && b->quick && b->line[l->next_request % WW_BOOKED_PLACES] == WW_NO_LINE)
            ran = run_new(sm, d);
        if (ran == RAN_NONE) ran = run_one(sm, e, d, cached);
        if (ran != RAN_OUT) continue;
        l->free = b->at;
        count(sm, e->inst);
        return;
    }
    count(sm, e->inst);
    if (b->at <= cycle) {
        finish(sm, e, d, cycle);
    } else {
        b->done = true;
        l->free = b->at;
    }
}
