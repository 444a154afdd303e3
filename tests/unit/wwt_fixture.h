/* wwt_fixture.h: made-up traces for the tests of the container. Everything lives in the caller's arena. */
#ifndef WW_TESTS_WWT_FIXTURE_H
#define WW_TESTS_WWT_FIXTURE_H

#include "../../estimator/base/arena.h"
#include "../../estimator/base/rng.h"
#include "../../traces/trace.h"

struct ww_made_launch {
    struct ww_launch launch;
    struct ww_cta_trace *cta; /* in order of their numbers */
    size_t cta_count;         /* of the array: the grid may have more */
};

struct ww_made_shape {
    uint32_t grid[3], block[3];
    uint32_t inst_count;
    uint32_t steps; /* of a path, about */
    uint32_t paths; /* different ones that warps choose from; 0: one for each warp */
    bool regular;   /* affine accesses, full masks: saxpy-like */
};

/* A launch with random instructions, paths, masks (also 0), and accesses of every kind. */
void ww_made_launch(struct ww_arena *arena, uint64_t seed, const struct ww_made_shape *shape,
                    struct ww_made_launch *out);
/* Writes launches to the file, CTAs in the order of `order` (a permutation seed; 0: ascending).
 * Returns the first error. */
enum ww_code ww_made_write(const char *path, const struct ww_made_launch *launch, size_t count, uint64_t order,
                           struct ww_error *error);
/* NULL if the CTA means the same as `expected`: steps, and addresses of active lanes; else what differs. */
const char *ww_made_compare(const struct ww_launch *launch, const struct ww_cta_trace *cta,
                            const struct ww_cta_trace *expected);
/* The address of each active lane, in lane order; returns their number. */
unsigned ww_made_addresses(uint32_t mask, const struct ww_access *a, const uint64_t *pool, uint64_t *out);
/* A path in a temporary directory of this process, which is made at the first call. `name` has no slash. */
const char *ww_made_path(struct ww_arena *arena, const char *name);
/* Removes that directory and what is in it. */
void ww_made_clean(void);
/* Reads a file; *n is its size. */
unsigned char *ww_made_read(struct ww_arena *arena, const char *path, size_t *n);
void ww_made_put(const char *path, const void *data, size_t n);

#endif
