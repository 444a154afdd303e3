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

#endif
