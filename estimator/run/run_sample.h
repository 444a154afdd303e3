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
    size_t head;                      /* units of the program's beginning, which are replayed in one go */
    struct ww_measure *kept[WW_WAYS]; /* by unit */
    struct ww_launch_result **whole;  /* by unit, of whole launches that were replayed; else NULL */
    double warming_seconds;
    double planned;  /* what the unit that is being measured was taken to cost (run_sample_plan.c) */
    double replayed; /* warp instructions that this sampler has replayed, by any draw */
};

/* Makes the population of the run's launches. Errors: WW_NOMEM, WW_INPUT. */
enum ww_code ww_sampler_begin(struct run *r, struct ww_sampler *s, struct ww_error *error);
/* Draws a sample and estimates. Errors: those of replays, WW_INTERNAL (a law does not hold), WW_NOMEM. */
enum ww_code ww_sampler_draw(struct ww_sampler *s, uint64_t seed, double target, double confidence,
                             struct ww_estimate *out, struct ww_error *error);
/* A unit's measure (ww_measure_fn), replayed unless it was before; context: the sampler. */
enum ww_code ww_sampler_measure(void *context, const struct ww_frame *frame, size_t unit,
                                enum ww_measure_way way, struct ww_measure *out, struct ww_error *error);

/* A plan's cost for progress (ww_sample_plan_fn); context: the sampler. */
void ww_sampler_plan(void *context, const size_t *wanted, size_t pairs);
/* What was replayed or warmed of the current unit, in warp instructions of the launch at `position`. */
void ww_sampler_spend(struct ww_sampler *s, size_t position, double replayed, double warmed);
/* A unit is about to be measured, and was. */
void ww_sampler_begin_unit(struct ww_sampler *s, size_t unit, enum ww_measure_way way);
void ww_sampler_end_unit(struct ww_sampler *s);
size_t ww_sampler_position(const struct ww_sampler *s, uint32_t launch);
/* How far back warming goes that ends before CTA `end` of the launch at `position`. */
void ww_sampler_reach(const struct ww_sampler *s, size_t position, uint64_t end, size_t *first, uint64_t *from);

#endif
