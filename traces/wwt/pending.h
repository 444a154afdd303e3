/* pending.h: CTAs that were added and are not yet written.
 *
 * Warps with equal steps share one copy. Ownership: a CTA owns its block and one reference to each of its
 * paths; ww_wwt_cta_free gives both back.
 */
#ifndef WW_WWT_PENDING_H
#define WW_WWT_PENDING_H

#include "../trace.h"
#include <stddef.h>

struct ww_wwt_cta_warp;

/* One path: its steps, then a copy of those that have an access. */
struct ww_wwt_steps {
    struct ww_wwt_steps *next; /* in its hash bucket */
    uint64_t hash;
    uint32_t refs, count, access_count;
    uint32_t mask;                        /* lanes of all its steps */
    uint32_t number;                      /* in the group that is being encoded, + 1; 0: not in it */
    uint64_t uses;                        /* warps of that group */
    const struct ww_wwt_cta_warp *latest; /* that group's warp encoded last, or NULL */
    struct ww_step step[];
};

/* The steps that have an access. */
static inline const struct ww_step *ww_wwt_access_steps(const struct ww_wwt_steps *s) {
    return s->step + s->count;
}

/* All live paths of a launch, by content. */
struct ww_wwt_dictionary {
    struct ww_wwt_steps **bucket;
    size_t bucket_count, count;
    struct ww_wwt_steps *latest; /* the one found last, tried first; or NULL */
};

struct ww_wwt_cta_warp {
    struct ww_wwt_steps *steps;
    struct ww_access *access; /* lists index `pool` */
    const uint64_t *pool;
};

struct ww_wwt_cta {
    uint64_t index;
    uint64_t weight; /* what it counts for when groups are filled */
    size_t bytes;    /* of its block */
    uint32_t warp_count;
    struct ww_wwt_cta_warp warp[];
};

/* Checks and copies a CTA. Lists that are affine become so. Errors: WW_INTERNAL (an invariant of trace.h
 * does not hold), WW_UNSUPPORTED (too large), WW_NOMEM. */
enum ww_code ww_wwt_cta_copy(struct ww_wwt_dictionary *dict, const struct ww_launch *launch,
                             const struct ww_cta_trace *cta, struct ww_wwt_cta **out, struct ww_error *error);
void ww_wwt_cta_free(struct ww_wwt_dictionary *dict, struct ww_wwt_cta *cta);
void ww_wwt_dictionary_free(struct ww_wwt_dictionary *dict);

#endif
