/* sched.h: kind "sched", the warp scheduler. One instance per warp scheduler of an SM.
 *
 * Core calls pick() in each cycle in which at least one warp of this scheduler can issue. Warps are
 * numbered by their slot on this scheduler (0..63); masks have bit i set for slot i. A scheduler decides
 * which one issues; it may not change anything but its own state.
 */
#ifndef WW_MECH_SCHED_H
#define WW_MECH_SCHED_H

#include "../mech.h"

struct ww_sched_view {
    uint64_t cycle;        /* SM cycle */
    uint64_t ready;        /* can issue now: operands there, unit free; never 0 */
    uint64_t ready_mem;    /* of these, head is a memory instruction */
    uint64_t resident;     /* warps on this scheduler */
    uint64_t waiting_long; /* of these, waiting for memory, at a barrier or fence, paused or finished: not what
                            * an arithmetic unit, shared memory or the instruction fetch ends */
    uint64_t parked;       /* have requests in the re-execution queue; they may not access memory meanwhile */
    const uint64_t *age;   /* by slot: order number of the warp's dispatch, smaller is older */
    const uint32_t *cta;   /* by slot: number of its CTA on this SM */
    uint64_t ready_lsu;    /* of ready_mem, those that access global, local or texture memory */
    bool memory_saturated; /* the SM's memory saturation flag; only for those with by_saturation */
};

/* What the schedulers of one SM know of one another and of its path to memory. Warps of the SM are numbered
 * together: w is slot w / schedulers of scheduler w mod schedulers. */
struct ww_sched_sm {
    void *shared; /* zeroed block of ops->shared_size bytes */
    uint32_t schedulers;
    const struct ww_sched_view *view[8]; /* by scheduler; resident and waiting_long are up to date always */
    const uint64_t *lsu_ready[8];        /* by scheduler: slots whose head would enter the path to memory */
    const uint64_t *lsu_free[8]; /* by scheduler: UINT64_MAX while the load/store unit takes no instruction */
    /* Whether requests of instructions that the warp has issued wait to be accepted by the L1. */
    bool (*unsent)(const void *sm, uint32_t warp);
    /* Whether the warp's head, which accesses memory, loads from global or local memory. */
    bool (*loads)(const void *sm, uint32_t warp);
    const void *sm;
    uint64_t owner_changes; /* counted by the mechanism */
};

/* Who issues when the warp that issued last cannot. */
enum ww_sched_greedy { WW_SCHED_NOT_GREEDY, WW_SCHED_THEN_OLDEST, WW_SCHED_THEN_YOUNGEST };

struct ww_sched_ops {
    struct ww_mech_info info;
    /* pick() is ww_sched_greedy_pick, and there is nothing else but what keeps `last`: core may do this itself,
     * by masks (ww_sched_first). */
    enum ww_sched_greedy greedy;
    /* It works in two modes by the SM's memory saturation flag, and sees it: core counts the cycles of each, MP
     * (flag set) and EP (clear). */
    bool by_saturation;
    /* Optional: how many eighths of MSHRs and miss queue set the flag, and fewer than how many clear it.
     * Without: 7. */
    void (*saturation)(const void *settings, uint32_t *sets, uint32_t *clears);
    size_t state_size;
    /* Prepares a zeroed state. settings is what info.params describe (NULL if none). */
    void (*init)(void *state, const void *settings, uint32_t slots);
    /* Returns the slot that issues, one of view->ready; or -1 to issue nothing on purpose. */
    int (*pick)(void *state, const struct ww_sched_view *view);
    /* Optional (NULL): the warp of this slot issued; a warp arrived; a warp finished. */
    void (*issued)(void *state, uint32_t slot, bool memory, uint64_t cycle);
    void (*arrived)(void *state, uint32_t slot, uint64_t age);
    void (*finished)(void *state, uint32_t slot);
    /* Optional, for schedulers that act as one over an SM. join: once, after init. */
    size_t shared_size;
    void (*join)(void *state, struct ww_sched_sm *sm, uint32_t scheduler);
    /* A request of the warp misses in the L1 while the SM's memory is saturated: may it go to the L2?
     * parked: it comes from the re-execution queue. */
    bool (*may_miss)(struct ww_sched_sm *sm, uint32_t warp, bool parked);
    /* The L1: a load of the warp misses a line that is not there; a line that the warp brought in is replaced.
     * line: address divided by the line size. */
    void (*missed)(struct ww_sched_sm *sm, uint32_t warp, uint64_t line, uint64_t cycle);
    void (*evicted)(struct ww_sched_sm *sm, uint32_t warp, uint64_t line);
};

/* The oldest warp of a set that is not empty. */
static inline int ww_sched_oldest(uint64_t set, const uint64_t *age) {
    int oldest = __builtin_ctzll(set);
    for (uint64_t m = set & (set - 1); m; m &= m - 1) {
        int slot = __builtin_ctzll(m);
        if (age[slot] < age[oldest]) oldest = slot;
    }
    return oldest;
}

static inline int ww_sched_youngest(uint64_t set, const uint64_t *age) {
    int youngest = __builtin_ctzll(set);
    for (uint64_t m = set & (set - 1); m; m &= m - 1) {
        int slot = __builtin_ctzll(m);
        if (age[slot] > age[youngest]) youngest = slot;
    }
    return youngest;
}

/* last: slot + 1 of the warp that issued last, 0 if it has finished. */
static inline int ww_sched_greedy_pick(enum ww_sched_greedy greedy, int last, uint64_t ready,
                                       const uint64_t *age) {
    if (last && (ready >> (last - 1)) & 1) return last - 1;
    return greedy == WW_SCHED_THEN_OLDEST ? ww_sched_oldest(ready, age) : ww_sched_youngest(ready, age);
}

/* The same order as masks: before[i] has the slots that issue before slot i if they are ready, too. The
 * youngest warp comes to a slot; resident: slots of the others, and perhaps its own. */
static inline void ww_sched_put_in_order(uint64_t *before, uint64_t resident, uint32_t slot,
                                         enum ww_sched_greedy greedy) {
    uint64_t bit = 1ull << slot, others = resident & ~bit;
    bool first = greedy == WW_SCHED_THEN_YOUNGEST;
    before[slot] = first ? 0 : others;
    for (; others; others &= others - 1) {
        uint64_t *of = &before[__builtin_ctzll(others)];
        *of = first ? *of | bit : *of & ~bit;
    }
}

/* The first in that order of a set that is not empty. */
static inline uint32_t ww_sched_first(const uint64_t *before, uint64_t set) {
    uint32_t slot;
    do slot = (uint32_t)__builtin_clzll(set) ^ 63;
    while (set &= before[slot]);
    return slot;
}

/* Of a set that is not empty, the first slot from `next` on, in a circle. */
static inline int ww_sched_from(uint64_t set, uint32_t next) {
    uint64_t behind = next < 64 ? set >> next << next : 0;
    return __builtin_ctzll(behind ? behind : set);
}

#endif
