/* Moments, correlation and intervals of samples. */
#include "stats.h"
#include <gsl/gsl_cdf.h>
#include <math.h>
#include <stdlib.h>

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

double ww_stats_skewness(const double *x, size_t n) {
    double mean = ww_stats_mean(x, n), two = 0, three = 0, size = (double)n;
    for (size_t i = 0; i < n; i++) {
        double d = x[i] - mean;
        two += d * d;
        three += d * d * d;
    }
    if (n < 3 || two <= 0) return 0;
    double moment = three / size / pow(two / size, 1.5);
    return moment * sqrt(size * (size - 1)) / (size - 2);
}

double ww_stats_autocorrelation(const double *x, size_t n, size_t lag) {
    double mean = ww_stats_mean(x, n), all = 0, pairs = 0;
    if (n <= lag + 1) return 0;
    for (size_t i = 0; i < n; i++) all += (x[i] - mean) * (x[i] - mean);
    for (size_t i = 0; i + lag < n; i++) pairs += (x[i] - mean) * (x[i + lag] - mean);
    return all > 0 ? pairs / all : 0;
}

/* Correlation of neighbouring means of `batch` values. */
static double batch_correlation(const double *x, size_t n, size_t batch) {
    double mean = ww_stats_mean(x, n / batch * batch), all = 0, pairs = 0, before = 0;
    for (size_t i = 0; i < n / batch; i++) {
        double d = ww_stats_mean(x + i * batch, batch) - mean;
        all += d * d;
        if (i) pairs += before * d;
        before = d;
    }
    return all > 0 ? pairs / all : 0;
}

size_t ww_stats_batch(const double *x, size_t n, double most) {
    size_t batch = 1;
    while (n / (2 * batch) >= 4 && batch_correlation(x, n, batch) > most) batch *= 2;
    return batch;
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

static int by_value(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

enum ww_code ww_stats_bootstrap_t(const double *x, size_t n, double confidence, size_t rounds,
                                  struct ww_rng *rng, double *lo, double *hi, struct ww_error *error) {
    double *t = malloc((rounds + n) * sizeof *t), *draw = t ? t + rounds : NULL, mean = ww_stats_mean(x, n);
    size_t kept = 0;
    if (!t) return ww_fail_nomem(error, "a bootstrap");
    for (size_t r = 0; r < rounds; r++) {
        for (size_t i = 0; i < n; i++) draw[i] = x[ww_rng_below(rng, (uint32_t)n)];
        double se = sqrt(ww_stats_variance(draw, n) / (double)n);
        if (se > 0) t[kept++] = (ww_stats_mean(draw, n) - mean) / se; /* of one value only: says nothing */
    }
    *lo = -ww_stats_t(confidence, (double)n - 1);
    *hi = -*lo;
    if (kept >= rounds / 2 && kept >= 100) {
        qsort(t, kept, sizeof *t, by_value);
        double tail = (1 - confidence) / 2;
        *lo = t[(size_t)(tail * (double)(kept - 1))];
        *hi = t[(size_t)((1 - tail) * (double)(kept - 1))];
    }
    free(t);
    return WW_OK;
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
