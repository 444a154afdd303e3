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
    uint32_t spare = sm->core->gpu->l1_read_spare;
    return (miss | spare) && sm->misses.count + spare >= sm->core->gpu->l1_miss_queue;
}

/* A request of the line at `address`; the memory system's sectors are the caller's. */
static inline struct ww_mem_request ww_l1_request(const struct ww_sm *sm, const struct ww_line_request *r,
                                                  uint64_t address, uint32_t sectors, enum ww_mem_kind kind,
                                                  uint32_t tag, uint32_t inst) {
    return (struct ww_mem_request){.address = address,
                                   .sectors = sectors,
                                   .tag = tag,
                                   .sm = (uint16_t)sm->id,
                                   .kind = (uint8_t)kind,
                                   .needs_reply = 1,
                                   .bytes = kind == WW_MEM_READ ? 0 : r->bytes,
                                   .atomic_ops = kind == WW_MEM_ATOMIC ? r->updates : 0,
                                   .inst = inst};
}

/* The place of one more request in the miss queue, which has room; the caller writes it. */
static inline struct ww_mem_request *ww_l1_next(struct ww_sm *sm) {
    struct ww_miss_queue *l = &sm->misses;
    uint32_t at = l->head + l->count++;
    sm->core->inflight++;
    sm->outstanding++;
    return &l->ring[at >= l->room ? at - l->room : at];
}

/* Takes a line of the cache for `key`, which it does not hold, for a miss of the warp: a victim, made empty.
 * WW_NO_LINE: all are reserved. */
uint32_t ww_l1_take_line(struct ww_sm *sm, struct ww_cache *cache, uint64_t key, uint32_t warp);

#endif
