/* sched.h: kind "sched", the warp scheduler. One instance per warp scheduler of an SM.
 *
 * Core calls pick() in each cycle in which at least one warp of this scheduler can issue. Warps are
 * numbered by their slot on this scheduler (0..63); masks have bit i set for slot i. A scheduler decides
 * which one issues; it may not change anything but its own state.
 */
#ifndef WW_MECH_SCHED_H
#define WW_MECH_SCHED_H

#include "mech.h"

struct ww_sched_view {
    uint64_t cycle;        /* SM cycle */
    uint64_t ready;        /* can issue now: operands there, unit free; never 0 */
    uint64_t ready_mem;    /* of these, head is a memory instruction */
    uint64_t resident;     /* warps on this scheduler */
    uint64_t waiting_long; /* of these, waiting for memory, at a barrier or fence, paused or finished: not what
                            * an arithmetic unit, shared memory or the instruction fetch ends */
    const uint64_t *age;   /* by slot: order number of the warp's dispatch, smaller is older */
    const uint32_t *cta;   /* by slot: number of its CTA on this SM */
    bool memory_saturated; /* the SM's memory saturation flag */
};

struct ww_sched_ops {
    struct ww_mech_info info;
    size_t state_size;
    /* Prepares a zeroed state. settings is what info.params describe (NULL if none). */
    void (*init)(void *state, const void *settings, uint32_t slots);
    /* Returns the slot that issues, one of view->ready; or -1 to issue nothing on purpose. */
    int (*pick)(void *state, const struct ww_sched_view *view);
    /* Optional (NULL): the warp of this slot issued; a warp arrived; a warp finished. */
    void (*issued)(void *state, uint32_t slot, bool memory, uint64_t cycle);
    void (*arrived)(void *state, uint32_t slot, uint64_t age);
    void (*finished)(void *state, uint32_t slot);
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

/* Of a set that is not empty, the first slot from `next` on, in a circle. */
static inline int ww_sched_from(uint64_t set, uint32_t next) {
    uint64_t behind = next < 64 ? set >> next << next : 0;
    return __builtin_ctzll(behind ? behind : set);
}

#endif
