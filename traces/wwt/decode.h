/* decode.h: a CTA group in memory.
 *
 * Warps whose steps are equal share them. Everything is freed by ww_wwt_decoded_free.
 */
#ifndef WW_WWT_DECODE_H
#define WW_WWT_DECODE_H

#include "../../estimator/base/slabs.h"
#include "index.h"

/* One control-flow path: the steps that one or more warps made. */
struct ww_wwt_path {
    uint32_t step_count, access_count;
    size_t first_step, first_access; /* in the arrays of the group, of all paths */
    uint32_t mask;                   /* all lanes that are ever active */
    const struct ww_access *ref;     /* accesses of the last warp decoded on this path, or NULL */
};

struct ww_wwt_decoded {
    struct ww_wwt_group *group;
    uint32_t refs;
    struct ww_slabs *slabs;               /* where arrays are from, or NULL */
    struct ww_wwt_decoded *newer, *older; /* among the idle ones, when refs is 0 */
    size_t bytes;                         /* of memory */
    struct ww_step *step;                 /* of all paths */
    struct ww_access *access;             /* of all warps */
    uint64_t *pool;
    struct ww_warp_stream *warp; /* cta_count x warps_per_cta */
    /* Used while decoding only. */
    struct ww_wwt_path *path;
    size_t path_count, step_count, access_count, pool_count;
    size_t warp_room, step_room, access_room, pool_room; /* entries allocated */
    uint64_t *growing;                                   /* the pool */
    struct ww_step *access_step;                         /* the steps that have an access, of all paths */
};

/* Gives an array of n entries of `size` bytes, of the group; NULL: no memory. */
void *ww_wwt_room(struct ww_wwt_decoded *d, size_t *room, size_t n, size_t size);

/* Decodes the uncompressed group `g` of the launch (number `number` of a file of that version). Errors:
 * WW_INPUT with *why set, WW_NOMEM. *at is the distance into the data near which it broke a rule. Memory
 * of the group is from the slabs, which outlive it; NULL: malloc's. */
enum ww_code ww_wwt_decode(const struct ww_wwt_launch *launch, size_t number, struct ww_wwt_group *g,
                           uint32_t version, const unsigned char *raw, size_t n, struct ww_slabs *slabs,
                           struct ww_wwt_decoded **out, const char **why, size_t *at);
void ww_wwt_decoded_free(struct ww_wwt_decoded *d);

#endif
