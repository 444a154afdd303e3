/* run_sample.h: replays of single units of a sampled run (fast/sample.h), each on a machine of its own whose L2
 * and TLBs have seen what comes before it, so that a unit's measure does not depend on which others are drawn.
 */
#ifndef WW_RUN_SAMPLE_H
#define WW_RUN_SAMPLE_H

#include "../result/result.h"
#include "../fast/sample.h"
#include "run_int.h"

/* A run that is sampled, perhaps several times: measures are kept. Memory is the run's. */
struct ww_sampler {
    struct run *run;
    struct ww_frame frame;
    struct ww_frame_launch *launch; /* those selected, in order */
    size_t launches;
    size_t head;                     /* units of the program's beginning, which are replayed in one go */
    struct ww_measure *kept[2];      /* by unit: as drawn, with a longer way before it */
    struct ww_launch_result **whole; /* by unit, of whole launches that were replayed; else NULL */
    double warming_seconds;
    double replayed; /* warp instructions that this sampler has replayed, by any draw */
};

/* Makes the population of the run's launches. Errors: WW_NOMEM, WW_INPUT. */
enum ww_code ww_sampler_begin(struct run *r, struct ww_sampler *s, struct ww_error *error);
/* Draws a sample and estimates. Errors: those of replays, WW_INTERNAL (a law does not hold), WW_NOMEM. */
enum ww_code ww_sampler_draw(struct ww_sampler *s, uint64_t seed, double target, double confidence,
                             struct ww_estimate *out, struct ww_error *error);
/* A unit's measure (ww_measure_fn), replayed unless it was before; context: the sampler. */
enum ww_code ww_sampler_measure(void *context, const struct ww_frame *frame, size_t unit, bool longer,
                                struct ww_measure *out, struct ww_error *error);

#endif
