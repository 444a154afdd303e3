/* intervals.h: the interval of a run's time, and intervals of the ratio of two runs' times and energies.
 *
 * Runs that sampled the same units have the interval of the pairs (ww_sample_ratio). Of other estimates the
 * interval of each run gives bounds. There, nothing is assumed of how the errors of the runs depend on each
 * other: if both intervals hold, the ratio is between the least of one by the most of the other, and the
 * reverse. */
#ifndef WW_REPORTS_INTERVALS_H
#define WW_REPORTS_INTERVALS_H

#include "../estimator/base/jsonw.h"
#include "../estimator/result/result.h"
#include <stdio.h>

/* Seconds; lo is hi where the time is exact. Of a run that was not sampled, that of the cycles, scaled: time
 * outside of active cycles is taken to be as uncertain. */
struct ww_interval ww_time_interval(const struct ww_result *result);

struct ww_ratio_bounds {
    double lo, hi; /* base by new */
    double
        confidence; /* that both intervals hold, at least: 0.9 if each of them may miss in 5 % of the cases */
    bool known;     /* false: both are exact, or one may be zero or is not known */
};

struct ww_ratio_intervals {
    struct ww_sample_ratio paired[2]; /* of cycles and of energy */
    struct ww_ratio_bounds bounds[2]; /* of time and of energy; not known if `paired` is */
};
/* Errors: WW_NOMEM. */
enum ww_code ww_find_intervals(const struct ww_result *base, const struct ww_result *new_run,
                               struct ww_ratio_intervals *out, struct ww_error *error);
/* True if the bounds leave open which run is the faster one. */
bool ww_order_is_open(const struct ww_ratio_intervals *intervals);

/* Members "paired" or "bounds" of the open object; nothing if both runs are exact. */
void ww_write_intervals(struct ww_jsonw *w, const struct ww_ratio_intervals *intervals);
/* As lines. */
void ww_print_intervals(const struct ww_ratio_intervals *intervals, double confidence, FILE *out);

#endif
