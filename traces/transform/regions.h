/* regions.h: when a CTA of a trace uses its shared memory.
 *
 * Barriers of all threads cut the CTA's execution into phases. A region lasts from the first definition of
 * shared memory to the last use, over all warps; a new one opens at the first write that follows a use and a
 * barrier, unless a value written before is still read later: so updates in place (read, add, write) do not
 * split. No load of one region reads what another one stored. (Y. Yang et al., "Shared Memory Multiplexing",
 * PACT 2012, section 3.)
 *
 *     warp 0   ....SSS|LLL....|....SSS|LLL...     S store, L load, | barrier
 *     warp 1   .....SS|LL..LL.|.....SS|LL....
 *                  [ region 0 ]     [ region 1 ]
 */
#ifndef WW_TRACES_TRANSFORM_REGIONS_H
#define WW_TRACES_TRANSFORM_REGIONS_H

#include "../trace.h"

/* Steps [begin, end) of a warp. Warps that do not touch shared memory in the region's first or last phase have
 * its start at the end of the one, its end at the start of the other; if both are the same phase, both at its
 * start (its end may lie behind the warp's exit). */
struct ww_span {
    uint32_t begin, end;
};

struct ww_regions {
    uint32_t count, warps;
    struct ww_span *span;         /* [region][warp] */
    uint32_t *inner;              /* by region: barriers inside */
    uint32_t *barrier;            /* [warp][barriers]: their steps */
    uint32_t barriers;            /* of each warp */
    uint64_t accesses, bytes_max; /* shared-memory instructions; past the highest byte accessed */
};

/* True for a barrier at which all threads of the CTA wait. */
bool ww_region_barrier(const struct ww_launch *launch, const struct ww_inst *inst,
                       const struct ww_access *access);

/* Finds the regions of accesses at or above byte `from` (0: of all). Memory is the arena's. Errors:
 * WW_UNSUPPORTED (a shared access without addresses, asynchronous copies, bulk transfers, barriers of some
 * threads, warps with different numbers of barriers: says the CTA and the pc), WW_NOMEM. */
enum ww_code ww_regions_find(const struct ww_launch *launch, const struct ww_cta_trace *cta, uint64_t from,
                             struct ww_arena *arena, struct ww_regions *out, struct ww_error *error);

/* Address of an active lane. */
static inline uint64_t ww_region_lane_address(const struct ww_access *a, const uint64_t *pool, uint32_t mask,
                                              uint32_t lane) {
    if (a->list == WW_AFFINE) return a->base + (uint64_t)((int64_t)a->stride * (int64_t)lane);
    return ww_listed(a, pool, (uint32_t)__builtin_popcount(mask & ((1u << lane) - 1)));
}

#endif
