/* copy.h: how long the warps of a CTA take to copy a tile from global to shared memory by themselves: the
 * counterpart of a bulk transfer, counted in the same counters (figure 11 of D2MA, PACT 2014).
 *
 * The caller says which instructions belong to a copy (roles, traces/transform/copy.h). A transfer begins with
 * the first of them that a warp of the CTA issues, and ends at the next barrier that completes after a store of
 * it. */
#ifndef WW_CORE_COPY_H
#define WW_CORE_COPY_H

#include <stdint.h>

struct ww_sm;
struct ww_warp;

/* As enum ww_copy_role. */
enum { WW_ROLE_NONE, WW_ROLE_SLICE, WW_ROLE_LOAD, WW_ROLE_STORE };

/* Of a CTA: cycles + 1 of the transfer that is under way, 0: not yet. */
struct ww_copy {
    uint64_t asked, first_load, last_load, last_store;
};

/* An instruction with a role issues. */
void ww_copy_issue(struct ww_sm *sm, const struct ww_warp *w, uint32_t role, uint64_t cycle);
/* A barrier of the CTA completes in `cycle`. */
void ww_copy_barrier(struct ww_sm *sm, uint32_t cta, uint64_t cycle);
/* Counts the SM's cycles before `cycle` that are not counted yet, and in which nothing issued, if all of its
 * warps wait for tiles: for an engine's transfer, for the data of a copy's load, for the load/store unit that
 * holds a copy's load or store back, or at the barrier behind a copy. Called before a warp's state changes. */
void ww_copy_stall(struct ww_sm *sm, uint64_t cycle);

#endif
