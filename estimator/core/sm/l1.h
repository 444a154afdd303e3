/* l1.h: the data caches of an SM: the L1 and, where the GPU has one, a separate texture cache.
 *
 *   LSU --line request--> ww_cache (tags, MSHRs, data port) --miss--> miss queue --> memory system
 *                          l1 | tex                                  (one per SM)
 *
 * Both are of one kind and differ in their shape. Which of them a load uses is decided when it is decoded
 * (enum ww_lsu_cache in pipe.h). */
#ifndef WW_CORE_L1_H
#define WW_CORE_L1_H

#include "coalesce.h"
#include "l1_tags.h"
#include "../memory/memsys.h"
#include "pipe.h"

struct ww_sm;
struct ww_warp;
struct ww_core;

/* What the same cache is in all SMs; made once a launch. */
struct ww_cache_shape {
    uint32_t line_shift;   /* log2 of bytes */
    uint32_t sector_shift; /* log2 of a sector / 32 bytes */
    uint32_t latency;      /* load to use on a hit */
    uint32_t mshrs, mshr_merge;
    uint32_t mshr_high[2];   /* so many in use are saturation; [1]: while memory is saturated */
    uint32_t tag;            /* of its requests, l1_tag.h */
    uint32_t offset_mask;    /* of line numbers: place of a line in the request line */
    uint32_t data_cycles[9]; /* port cycles for so many 32-byte chunks */
    uint8_t sectors_of[256]; /* by chunks of a line: sectors that hold them */
    bool fine;               /* its requests name 32-byte chunks of the request line */
    uint16_t access, read, hit, merged, miss, evicted; /* its counters */
    struct ww_set_index index;                         /* parts 0: none */
    uint32_t weight[WW_MASKS_MAX];
};

struct ww_mshr {
    uint32_t line, target, count, next_free;
};

struct ww_cache {
    const struct ww_cache_shape *shape;
    struct ww_tags tags;
    uint8_t *brought; /* by line: warp whose miss brought it in; NULL: not needed */
    uint8_t *fetched; /* by line: prefetches sent for it that no load has used; NULL: there are none */
    uint32_t *token;  /* by MSHR: the prefetcher's name for what it waits for; with `fetched` */
    struct ww_mshr *entry;
    uint32_t free_entry, used;
    uint64_t port_free; /* data return */
    uint64_t port_used; /* cycles that the data port has been taken for so far */
};

/* Takes the data port for so many cycles, not before `cycle`; returns the cycle from which it is free again. */
static inline uint64_t ww_cache_port(struct ww_cache *c, uint64_t cycle, uint64_t takes) {
    c->port_free = (c->port_free > cycle ? c->port_free : cycle) + takes;
    c->port_used += takes;
    return c->port_free;
}

/* Requests that wait for the interconnect. The first of them is offered at the end of every cycle from that in
 * which it came on, until it is refused. */
struct ww_miss_queue {
    struct ww_mem_request *ring;
    uint64_t *came;             /* by place of the ring: the SM's cycle */
    uint32_t head, count, room; /* room: of the ring, some of it for what is not refused */
    uint32_t most;              /* from so many requests on a missing load is refused */
    bool refused;
};

/* One memory instruction between the LSU and its last reply. */
struct ww_memory_op {
    uint64_t ready, start; /* start: cycle in which the unit began with it */
    struct ww_sm *sm;
    uint32_t inst, warp, remaining, next_free;
    uint8_t level;
};

/* A request that waits for sectors, on behalf of an operation. */
struct ww_target {
    uint32_t op, need, next;
};

struct ww_pool {
    struct ww_memory_op *op;
    struct ww_target *target;
    uint32_t op_capacity, op_free, target_capacity, target_free;
    bool failed;
};

/* ---- l1_init.c ---- */
/* Derives the shapes of a launch from the GPU. */
void ww_cache_shapes(struct ww_core *core);
/* Makes the SM's caches, empty; ways: those of the L1 that shared memory leaves. The texture cache is made only
 * if the launch uses it: without, its shape is NULL. False: out of memory. */
bool ww_l1_init(struct ww_sm *sm, struct ww_arena *arena, uint32_t ways, uint64_t seed);
/* Makes a cache of this shape without its tags. False: out of memory. */
bool ww_cache_init(struct ww_cache *c, const struct ww_cache_shape *shape, struct ww_arena *arena);

/* Invalidates the cache; lines in flight are still filled. */
void ww_l1_invalidate(struct ww_cache *c);

/* ---- l1.c ---- */
/* Each takes one line request of the operation; false: refused, nothing has changed. *cycles: how long the
 * LSU is taken. Requests of ww_l1_load are of the cache's lines, the others' of the request line. */
bool ww_l1_load(struct ww_sm *sm, struct ww_cache *cache, uint32_t op, const struct ww_line_request *r,
                uint64_t cycle, uint32_t *cycles);
/* The same where it is known which line holds the key, or that none (WW_NO_LINE) does. */
bool ww_l1_load_line(struct ww_sm *sm, struct ww_cache *cache, uint32_t op, const struct ww_line_request *r,
                     uint32_t line, uint64_t cycle, uint32_t *cycles);
/* Sends for sectors of a line that the cache neither holds nor waits for, on behalf of a prefetcher: for what
 * the warp's instruction `inst` led to. False: no MSHR, no line, or no place in the miss queue. */
bool ww_l1_prefetch(struct ww_sm *sm, struct ww_cache *cache, const struct ww_line_request *r, uint32_t warp,
                    uint32_t inst, uint64_t cycle);
bool ww_l1_store(struct ww_sm *sm, struct ww_warp *w, const struct ww_dinst *d,
                 const struct ww_line_request *r);
/* A load that is not cached here, or an atomic; without an operation (WW_NONE) only fences wait for it. */
bool ww_l1_direct(struct ww_sm *sm, uint32_t warp, uint32_t op, const struct ww_dinst *d,
                  const struct ww_line_request *r);
/* Puts a request into the miss queue, which has room. */
void ww_l1_queue(struct ww_sm *sm, const struct ww_mem_request *request);

/* ---- l1_reply.c ---- */
/* Double the operations, the targets when none is free. False: out of memory, and the launch fails. */
bool ww_pool_more_ops(struct ww_core *core);
bool ww_pool_more_targets(struct ww_core *core);
static inline void ww_pool_target_free(struct ww_pool *p, uint32_t target) {
    p->target[target].next = p->target_free;
    p->target_free = target;
}
void ww_pool_free(struct ww_pool *pool);
void ww_l1_reply(struct ww_sm *sm, const struct ww_mem_reply *reply, uint64_t cycle);

#endif
