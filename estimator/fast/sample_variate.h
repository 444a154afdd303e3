/* sample_variate.h: fast replay of many units as control variate of full replay of few.
 *
 *   units of a stratum, in random order:  1 2 3 4 5 6 7 8 9 ...
 *   full replay                           |---n---|
 *   fast replay                           |--------m--------|
 *
 * Two-phase sampling with a regression estimator (Cochran, Sampling Techniques, 1977, sections 12.6 and 12.7).
 * With e and d, what a unit takes beyond the ratio to its instructions, in full and fast replay, a stratum's
 * mean of e is estimated by
 *
 *   mean(e, n) + B (mean(d, m) - mean(d, n))
 *
 * The slope B is one for a family. The variance of a stratum's total is N^2 times
 *
 *   (1/n - 1/m) var(e - B d) + (1/m - 1/N) var(e)
 *
 * In a large stratum this is cheaper than full replay alone if rho^2 > 4 k / (1 + k)^2, where rho is the
 * correlation of e and d, and k what fast replay costs of full replay (section 12.7, equation 12.74). */
#ifndef WW_FAST_SAMPLE_VARIATE_H
#define WW_FAST_SAMPLE_VARIATE_H

#include "sample.h"

/* Least square of the correlation at which fast replay at a cost of `cost` full ones pays; 1 from a cost of 1
 * on. */
double ww_variate_pays_from(double cost);
/* Units of the second phase for each of the first that give the least variance for their cost, at most 1. */
double ww_variate_part(double correlation, double cost);
/* Variance of a large stratum's mean at a given cost, relative to that of full replay alone. */
double ww_variate_gain(double correlation, double cost);
/* A bound that the correlation in the population exceeds with the probability `confidence`, from that of so
 * many degrees of freedom; 0 if it may be none or negative (Fisher's z). */
double ww_variate_least(double correlation, double df, double confidence);

/* Units of a stratum that are measured in both ways: the first of its order. */
static inline size_t ww_variate_both(const struct ww_stratum *s) {
    return s->fast < s->drawn ? s->fast : s->drawn;
}
/* What a unit takes beyond a ratio to its instructions. */
static inline double ww_residual(const struct ww_measure *m, int k, double ratio) {
    return m->y[k] - ratio * m->instructions;
}

/* Of a family's units measured in both ways: slopes and correlations by measure, and the degrees of freedom
 * within strata. A slope is 0 where fast replay does not vary. */
struct ww_variate {
    double slope[WW_MEASURES], correlation[WW_MEASURES];
    double ratio[WW_MEASURES]; /* of fast replay to instructions */
    double df;
};
/* ratio: of full replay to instructions. */
void ww_variate_fit(const struct ww_frame *frame, const struct ww_measure *measure,
                    const struct ww_measure *fast, size_t family, const double ratio[WW_MEASURES],
                    struct ww_variate *out);

#endif
