/* stats.h: statistics of samples. Pure functions; nothing is allocated but where it is said.
 */
#ifndef WW_FAST_STATS_H
#define WW_FAST_STATS_H

#include "../base/err.h"
#include "../base/rng.h"

/* Factor on a standard error for a two-sided interval: Student's t at `df` degrees of freedom (may be broken;
 * infinite: the normal distribution). confidence: part of 1. df < 1 counts as 1. */
double ww_stats_t(double confidence, double df);
double ww_stats_mean(const double *x, size_t n);
/* Of a sample, divided by n - 1; 0 if n < 2. */
double ww_stats_variance(const double *x, size_t n);
double ww_stats_covariance(const double *x, const double *y, size_t n);
/* Third standardised moment with the usual correction for small samples; 0 if n < 3 or nothing varies. */
double ww_stats_skewness(const double *x, size_t n);
/* Correlation of x[i] with x[i + lag] about the common mean; 0 if n <= lag + 1 or nothing varies. */
double ww_stats_autocorrelation(const double *x, size_t n, size_t lag);
/* Smallest batch of neighbours (1, 2, 4, ... while at least 4 batches are left) whose means have a correlation
 * of at most `most` with the next one. */
size_t ww_stats_batch(const double *x, size_t n, double most);

/* Degrees of freedom of a sum of independent variances v[i] that were estimated with df[i] each (Satterthwaite,
 * Biometrics Bulletin 2, 1946). Infinite if all variances are 0. */
double ww_stats_satterthwaite(const double *v, const double *df, size_t n);

/* Bootstrap-t (Efron and Tibshirani 1993, chapter 12): the quantiles of (mean* - mean) / se* over `rounds`
 * resamples, for an interval [mean - hi se, mean - lo se] that follows the sample's skewness. n >= 3. Errors:
 * WW_NOMEM. */
enum ww_code ww_stats_bootstrap_t(const double *x, size_t n, double confidence, size_t rounds,
                                  struct ww_rng *rng, double *lo, double *hi, struct ww_error *error);

/* Size of a sample that makes an interval's half-width at most `half`, from a pilot's variance with its degrees
 * of freedom (Stein, Annals of Mathematical Statistics 16, 1945), of a population of N. The interval that is
 * given in the end uses the pilot's variance and degrees of freedom too: then it covers as it says, although
 * its size was chosen by what the pilot showed. */
size_t ww_stats_stein(double variance, double df, double half, double confidence, size_t population);

/* Puts 0 .. n - 1 in random order. */
void ww_stats_shuffle(size_t *index, size_t n, struct ww_rng *rng);

#endif
