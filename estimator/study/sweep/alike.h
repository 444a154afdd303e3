/* alike.h: whether the CTAs of a launch are alike: what some of them, at the corners and at random, execute. */
#ifndef WW_SWEEP_ALIKE_H
#define WW_SWEEP_ALIKE_H

#include "../../../db/sweep.h"
#include "../../config/gpu.h"

#define WW_ALIKE_PROBES 40 /* at most: 8 corners and 32 at random */
#define WW_ALIKE_LEAST 0.8 /* share of those at random that must be alike */

struct ww_alike {
    uint32_t grid[3];
    double
        share; /* of CTAs at random: those that execute what most do, or a number of instructions within 2 % */
    double instructions; /* warp instructions of a CTA, mean of those at random */
    double error;        /* of that, relative: half of an interval of 95 % */
    uint64_t longest;    /* steps of the longest warp looked at */
};

/* CTAs of the grid of a launch description (JSON); 0: there are several launches, or a repeated one. */
uint64_t ww_alike_grid(const char *launch, size_t n, uint32_t grid[3]);
/* Which CTAs are looked at, ascending; always the same for a grid. */
uint64_t ww_alike_probes(const uint32_t grid[3], uint64_t probe[WW_ALIKE_PROBES]);
/* Compares the CTAs of a trace that holds these. alike->grid is there. Errors: those of the reader. */
enum ww_code ww_alike_read(const char *path, struct ww_alike *alike, struct ww_error *error);
/* What the trace's launch takes of an SM, into the row; *ctas: of an SM. Errors: WW_UNSUPPORTED (none fits). */
enum ww_code ww_alike_occupancy(const char *path, const struct ww_gpu_spec *gpu,
                                struct ww_db_sweep_variant *row, uint64_t *ctas, struct ww_error *error);
/* A string that is never freed. */
const char *ww_variant_limiter(const char *name);

#endif
