/* profile.h: what a launch's warps do, independent of any machine's timing.
 *
 * Counted over all CTAs that the trace holds. Memory order, for reuse distances: one CTA after another, and
 * within a CTA its warps in turn, each up to its next global memory access.
 */
#ifndef WW_TRACES_PROFILE_H
#define WW_TRACES_PROFILE_H

#include "../../estimator/api/trace.h"
#include "../trace.h"
#include "reuse.h"

#define WW_PROFILE_LINE 128 /* bytes of a line of reuse distances and footprint */

struct ww_profile {
    uint64_t steps, threads;
    uint64_t lanes[33];                            /* warp instructions by active lanes */
    uint64_t branches, back_edges, barriers;       /* warp instructions */
    uint64_t flops;                                /* a fused multiply-add is two, a packed pair twice that */
    uint64_t global_loads, global_stores, atomics; /* warp instructions with an active lane */
    /* global_loads by their active lanes' addresses: texture fetches; all the same; differences that are a
     * fixed multiple of those of the lanes' numbers; any other, and those of a single lane */
    uint64_t loads_texture, loads_invariant, loads_fixed, loads_other;
    uint64_t global_lanes, global_bytes; /* lanes, and bytes that they ask for */
    uint64_t distinct_bytes;             /* bytes that some lane of the instruction asks for */
    uint64_t sectors, lines;             /* distinct 32-byte sectors and lines, by instruction */
    uint64_t shared, shared_passes;      /* instructions, and passes with 32 banks of 4 bytes */
    uint64_t local, constant;
    double footprint;                                 /* distinct lines touched, in bytes (global) */
    double reuse[WW_REUSE_BUCKETS], cold, reuse_rate; /* line accesses by distance; see reuse.h */
};

/* Profiles one launch. `reuse` is scratch. Errors: those of ww_trace_load_cta, WW_FAIL (progress stopped). */
enum ww_code ww_profile_launch(struct ww_trace *trace, size_t launch, struct ww_reuse *reuse,
                               ww_progress_fn progress, void *context, struct ww_profile *out,
                               struct ww_error *error);

#endif
