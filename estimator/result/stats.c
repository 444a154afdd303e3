/* Moments and intervals of samples. */
#include "stats.h"
#include <gsl/gsl_cdf.h>
#include <math.h>

double ww_stats_t(double confidence, double df) {
    double p = 0.5 + confidence / 2;
    if (!(df < 1e9)) return gsl_cdf_ugaussian_Pinv(p);
    return gsl_cdf_tdist_Pinv(p, df < 1 ? 1 : df);
}

double ww_stats_mean(const double *x, size_t n) {
    double sum = 0;
    for (size_t i = 0; i < n; i++) sum += x[i];
    return n ? sum / (double)n : 0;
}

double ww_stats_covariance(const double *x, const double *y, size_t n) {
    double a = ww_stats_mean(x, n), b = ww_stats_mean(y, n), sum = 0;
    for (size_t i = 0; i < n; i++) sum += (x[i] - a) * (y[i] - b);
    return n > 1 ? sum / (double)(n - 1) : 0;
}

double ww_stats_variance(const double *x, size_t n) {
    return ww_stats_covariance(x, x, n);
}

double ww_stats_satterthwaite(const double *v, const double *df, size_t n) {
    double sum = 0, parts = 0;
    for (size_t i = 0; i < n; i++) {
        if (v[i] <= 0) continue;
        sum += v[i];
        parts += v[i] * v[i] / df[i];
    }
    return parts > 0 ? sum * sum / parts : INFINITY;
}

size_t ww_stats_stein(double variance, double df, double half, double confidence, size_t population) {
    double t = ww_stats_t(confidence, df), N = (double)population;
    if (variance <= 0) return 1;
    if (half <= 0) return population;
    double infinite = t * t * variance / (half * half);
    double n = ceil(infinite / (1 + infinite / N));
    return n < N ? (size_t)n : population;
}

void ww_stats_shuffle(size_t *index, size_t n, struct ww_rng *rng) {
    for (size_t i = 0; i < n; i++) index[i] = i;
    for (size_t i = n; i > 1; i--) {
        size_t k = ww_rng_below(rng, (uint32_t)i), keep = index[i - 1];
        index[i - 1] = index[k];
        index[k] = keep;
    }
}
