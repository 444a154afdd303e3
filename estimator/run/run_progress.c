/* How far a run is, of what it will cost the host. */
#include "run_int.h"
#include <inttypes.h>
#include <math.h>

/* A replay's last instructions cost the host less: there are fewer warps to look at, and accesses wait less for
 * one another. Over 28 replays of 10 programs this exponent of what is left gave the most accurate predictions.
 */
#define CHEAPER_END 1.1

static double part_of_replay(double part) {
    return part < 1 ? 1 - pow(1 - part, CHEAPER_END) : 1;
}

/* Of a sample, as far as its plan goes; < 0: there is none yet. */
static double part_of_sample(const struct run *r, uint64_t issued) {
    double now = (double)issued * r->current_cost.cost;
    return r->all_cost > 0 ? fmin(1, (r->spent_cost + now) / r->all_cost) : -1;
}

bool ww_run_progress(void *context, double ended, uint64_t issued, const char *unit) {
    const struct run *r = context;
    const struct ww_run_options *o = r->options;
    char of[64];
    uint64_t all = issued + r->before;
    if (!r->total) return o->progress(o->context, part_of_sample(r, issued), all, unit);
    snprintf(of, sizeof of, "of %" PRIu64 " warp instructions", r->total);
    const struct ww_run_cost *cost = &r->current_cost;
    double of_launch = ww_run_part_of_launch(cost, r->current ? (double)issued / (double)r->current : 1, ended);
    return o->progress(o->context, part_of_replay((r->spent_cost + cost->cost * of_launch) / r->all_cost), all,
                       of);
}

static bool goes_on(const struct run *r, uint64_t launch) {
    const struct ww_run_options *o = r->options;
    char of[64];
    if (!o->progress) return true;
    if (!r->total && r->all_cost > 0)
        return o->progress(o->context, part_of_sample(r, 0), r->before, "warp instructions");
    if (!r->total) return o->progress(o->context, -1, launch, "launches");
    snprintf(of, sizeof of, "of %" PRIu64 " warp instructions", r->total);
    return o->progress(o->context, part_of_replay(r->spent_cost / r->all_cost), r->before, of);
}

enum ww_code ww_run_goes_on(const struct run *r, uint64_t launch, struct ww_error *error) {
    if (goes_on(r, launch)) return WW_OK;
    return ww_fail(error, WW_FAIL, "", "stopped as asked, before launch %" PRIu64, launch);
}
