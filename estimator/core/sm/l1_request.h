/* l1_request.h: requests that leave an SM's caches. Between l1.c and l1_store.c. */
#ifndef WW_CORE_L1_REQUEST_H
#define WW_CORE_L1_REQUEST_H

#include "../../result/result.h"
#include "sm.h"

#include "l1_tag.h"

/* A target of the pool, as ww_pool_op. */
static inline uint32_t ww_pool_target(struct ww_core *core) {
    struct ww_pool *p = &core->pool;
    if (p->target_free == WW_NONE && !ww_pool_more_targets(core)) return WW_NONE;
    uint32_t t = p->target_free;
    p->target_free = p->target[t].next;
    if (p->target_free != WW_NONE) __builtin_prefetch(&p->target[p->target_free], 1);
    return t;
}

/* Memory is saturated and the scheduler lets no request of this warp go to the L2. */
static inline bool ww_l1_not_owner(struct ww_sm *sm, uint32_t warp) {
    const struct ww_sched_ops *ops = sm->core->ops;
    if (!ops->may_miss || !ww_l1_saturated(sm)) return false;
    if (ops->may_miss(&sm->shared, warp, sm->lsu.from_queue)) return false;
    sm->core->counter[WW_C_OWNER_REFUSED]++;
    return true;
}

static inline bool ww_l1_queue_full(const struct ww_sm *sm) {
    return sm->misses.count >= sm->core->gpu->l1_miss_queue;
}

/* A load that misses, or joins a miss, finds no place. */
static inline bool ww_l1_no_place(const struct ww_sm *sm, uint32_t miss) {
    return (miss | sm->core->gpu->l1_read_spare) && sm->misses.count >= sm->misses.most;
}

/* Writes a request of the line at `address`; the memory system's sectors are the caller's. It is written
 * where it stays: a copy at once would make the host wait for its own narrower writes. */
static inline void ww_l1_write_request(struct ww_mem_request *q, const struct ww_sm *sm,
                                       const struct ww_line_request *r, uint64_t address, uint32_t sectors,
                                       enum ww_mem_kind kind, uint32_t tag, uint32_t inst) {
    q->address = address;
    q->sectors = sectors;
    q->tag = tag;
    q->sm = (uint16_t)sm->id;
    q->kind = (uint8_t)kind;
    q->needs_reply = 1;
    q->bytes = kind == WW_MEM_READ ? 0 : r->bytes;
    q->atomic_ops = kind == WW_MEM_ATOMIC ? r->updates : 0;
    q->fine = 0;
    q->strong = 0;
    q->walked = 0;
    q->inst = inst;
}

/* The place of one more request in the miss queue, which has room; the caller writes it. */
static inline struct ww_mem_request *ww_l1_next(struct ww_sm *sm) {
    struct ww_miss_queue *l = &sm->misses;
    uint32_t at = l->head + l->count++;
    if (at >= l->room) at -= l->room;
    sm->core->inflight++;
    sm->outstanding++;
    l->came[at] = sm->now;
    return &l->ring[at];
}

/* Writes a request for sectors of a cache's line. A cache with shorter lines than requests have names the
 * chunks of the request line. */
static inline void ww_l1_write_line_request(struct ww_mem_request *q, const struct ww_sm *sm,
                                            const struct ww_cache_shape *s, const struct ww_line_request *r,
                                            uint32_t sectors, uint32_t entry, uint32_t inst) {
    uint64_t first = r->key & ~(uint64_t)s->offset_mask;
    if (s->fine) sectors <<= (r->key & s->offset_mask) << (s->line_shift - 5);
    ww_l1_write_request(q, sm, r, first << s->line_shift, sectors, WW_MEM_READ, s->tag | entry, inst);
    q->fine = s->fine;
}

/* Takes a line of the cache for `key`, which it does not hold, for a miss of the warp: a victim, made empty.
 * WW_NO_LINE: all are reserved. */
uint32_t ww_l1_take_any_line(struct ww_sm *sm, struct ww_cache *cache, uint64_t key, uint32_t warp);
static inline uint32_t ww_l1_take_line(struct ww_sm *sm, struct ww_cache *c, uint64_t key, uint32_t warp) {
    if (c != &sm->l1 || !sm->lsu.passes) return ww_l1_take_any_line(sm, c, key, warp);
    bool evicted; /* no one but the order of lines has to do with it */
    uint32_t line = ww_tags_take_last(&c->tags, ww_tags_set(&c->tags, key), key, ww_tags_hash(key), &evicted);
    if (line == WW_NO_LINE) return line;
    sm->core->counter[WW_C_L1_EVICTION] += evicted;
    c->tags.line[line].valid = 0;
    return line;
}

/* The line for a load's miss: the one that holds the key, or a victim. WW_NO_LINE: all are reserved. */
static inline uint32_t ww_l1_allocate(struct ww_sm *sm, struct ww_cache *c, uint64_t key, uint32_t line,
                                      uint32_t warp, uint64_t cycle) {
    if (line != WW_NO_LINE) return line;
    line = ww_l1_take_line(sm, c, key, warp);
    if (line != WW_NO_LINE && c->brought) sm->core->ops->missed(&sm->shared, warp, key, cycle);
    return line;
}

/* Counters are of 32-byte chunks. */
static inline void ww_l1_count_hit(struct ww_sm *sm, const struct ww_cache_shape *s, uint32_t inst,
                                   uint32_t hit) {
    uint64_t *n = sm->core->counter, h = (uint64_t)ww_bits8(hit) << s->sector_shift;
    n[s->access]++;
    n[s->read] += h;
    n[s->hit] += h;
    sm->core->epochs.inst[inst].counter[WW_I_SECTORS] += h;
}

static inline void ww_l1_count_load(struct ww_sm *sm, const struct ww_cache_shape *s, uint32_t inst,
                                    uint32_t hit, uint32_t merged, uint32_t miss) {
    uint64_t *n = sm->core->counter, *of = sm->core->epochs.inst[inst].counter;
    uint64_t h = 0, g = 0, m = (uint64_t)ww_bits8(miss) << s->sector_shift;
    if (hit | merged) {
        h = (uint64_t)ww_bits8(hit) << s->sector_shift;
        g = (uint64_t)ww_bits8(merged) << s->sector_shift;
        n[s->hit] += h;
        n[s->merged] += g;
        of[WW_I_L1_MERGED] += g;
    }
    n[s->access]++;
    n[s->read] += h + g + m;
    n[s->miss] += m;
    of[WW_I_SECTORS] += h + g + m;
    of[WW_I_L1_MISS] += m;
}

/* By the addresses of the load that the unit works on (A. Sethia's dissertation, figure 5.8). Lists hold what
 * no base and stride describe, and what was parked is counted as such. */
static inline void ww_l1_count_pattern(struct ww_sm *sm, uint64_t chunks) {
    const struct ww_lsu *l = &sm->lsu;
    const struct ww_lsu_entry *e = &l->ring[l->head];
    if (l->from_queue || !e->access || e->access->list != WW_AFFINE || !(e->mask & (e->mask - 1))) return;
    sm->core->counter[e->access->stride ? WW_C_L1_MISS_STRIDED : WW_C_L1_MISS_INVARIANT] += chunks;
}

/* ---- l1_store.c ---- */
/* Write the request of a store, and of a load that no cache holds or an atomic; what it does to the L1 is done,
 * and counted. */
void ww_l1_store_request(struct ww_mem_request *q, struct ww_sm *sm, uint32_t warp, const struct ww_dinst *d,
                         const struct ww_line_request *r, uint32_t tag);
void ww_l1_direct_request(struct ww_mem_request *q, struct ww_sm *sm, uint32_t warp, const struct ww_dinst *d,
                          const struct ww_line_request *r, uint32_t tag);

#endif
