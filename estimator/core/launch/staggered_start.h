/* staggered_start.h: CTAs that fill the machine when replay begins in the middle of a launch.
 *
 * If all CTAs of a full machine begin at once, they stay in step for tens of waves: all load, then all compute.
 * This repeats in every part that is replayed. In the middle of a launch the CTAs of an SM have been dispatched
 * one after another, so their progress differs. So those that fill the machine begin part of the way through
 * their instructions: the first of an SM's n in the last n-th of them, the last in the first, at random within
 * that, as if each had been dispatched an equal time after the one before. */
#ifndef WW_CORE_STAGGERED_START_H
#define WW_CORE_STAGGERED_START_H

#include "../../../traces/trace.h"
#include "../../base/arena.h"
#include "../../base/err.h"
#include "../../config/gpu.h"

struct ww_staggered_start {
    const struct ww_launch *launch;
    uint64_t first;                /* CTA of the launch that is dispatched first */
    uint32_t sms, ctas;            /* SMs, CTAs that one holds; 0: all begin at their beginning */
    struct ww_warp_stream *stream; /* by CTA and warp, what is left of it */
};

/* first: the part's first CTA; all begin at their beginning if it is the launch's, and in launches whose CTAs
 * hold what only skipped instructions would have given them: allocations, copies under way, arrivals at
 * barriers. Memory is the arena's. Errors: WW_NOMEM, WW_UNSUPPORTED (a CTA fits no SM). */
enum ww_code ww_staggered_start_begin(struct ww_staggered_start *u, const struct ww_gpu_spec *gpu,
                                      const struct ww_launch *launch, uint64_t first, struct ww_arena *arena,
                                      struct ww_error *error);
/* If a loaded CTA is one of those that fill the machine, skips the instructions before its starting point,
 * which depends only on the CTA's number. */
void ww_staggered_start_skip(const struct ww_staggered_start *u, struct ww_cta_trace *cta);

#endif
