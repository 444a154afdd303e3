/* stats.h: statistics of samples. Pure functions; nothing is allocated.
 */
#ifndef WW_FAST_STATS_H
#define WW_FAST_STATS_H

#include "../base/rng.h"
#include <stddef.h>

/* Factor on a standard error for a two-sided interval: Student's t at `df` degrees of freedom (may be broken;
 * infinite: the normal distribution). confidence: part of 1. df < 1 counts as 1. */
double ww_stats_t(double confidence, double df);
double ww_stats_mean(const double *x, size_t n);
/* Of a sample, divided by n - 1; 0 if n < 2. */
double ww_stats_variance(const double *x, size_t n);
double ww_stats_covariance(const double *x, const double *y, size_t n);
/* Degrees of freedom of a sum of independent variances v[i] that were estimated with df[i] each (Satterthwaite,
 * Biometrics Bulletin 2, 1946). Infinite if all variances are 0. */
double ww_stats_satterthwaite(const double *v, const double *df, size_t n);

/* Size of a sample that makes an interval's half-width at most `half`, from a pilot's variance with its degrees
 * of freedom (Stein, Annals of Mathematical Statistics 16, 1945), of a population of N. The interval that is
 * given in the end uses the pilot's variance and degrees of freedom too: then it covers as it says, although
 * its size was chosen by what the pilot showed. */
size_t ww_stats_stein(double variance, double df, double half, double confidence, size_t population);

/* Puts 0 .. n - 1 in random order. */
void ww_stats_shuffle(size_t *index, size_t n, struct ww_rng *rng);

#endif
