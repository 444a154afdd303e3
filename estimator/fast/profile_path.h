/* profile_path.h: the critical path of a CTA as a function of latencies.
 *
 * With issue in order and no contention, a CTA's time is the longest path through its dependences: program
 * order, registers, fences, and barriers between its warps. A path's length is the sum over classes (enum
 * ww_path_class) of steps x latency, and the longest of all paths is a convex, piecewise linear function of the
 * latencies. Each evaluation at some latencies finds one path, whose step counts are a supporting plane of that
 * function; the largest of a few such planes is a lower bound that is exact where they were taken:
 *
 *     time(latency) = max over paths p of steps(p) . latency  >=  max over planes k of plane[k] . latency
 *
 * So a design point's dependence stalls cost WW_PATH_PLANES inner products. Sums of planes taken at the same
 * latencies are planes of the sum of times.
 */
#ifndef WW_FAST_PROFILE_PATH_H
#define WW_FAST_PROFILE_PATH_H

#include "profile.h"

/* Latencies by class, in cycles. */
struct ww_path_latency {
    double of[WW_PATH_COUNT];
};
/* Where plane k is taken: latencies from those of Volta to those of Fermi, each with loads from the L1 to a
 * DRAM that is waited for. */
struct ww_path_latency ww_path_point(unsigned k);

struct ww_path;
/* NULL: out of memory. */
struct ww_path *ww_path_new(const struct ww_launch *launch);
void ww_path_free(struct ww_path *path);
/* Steps by class of the CTA's longest path at these latencies; its length is returned. Barriers are taken as of
 * all warps that have not ended. */
double ww_path_longest(struct ww_path *path, const struct ww_cta_trace *cta,
                       const struct ww_path_latency *latency, double steps[WW_PATH_COUNT]);

#endif
