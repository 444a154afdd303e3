/* Gaussian-process regression of what a cheap estimate leaves over. */
#include "gp.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define PRIOR_WEIGHT 4.0 /* observations that the prior of the variance is worth */
#define MEAN_SPREAD 4.0  /* variance of the constant mean, in those of the process */
#define SWEEPS 3         /* over all lengths */

static double distance(const struct ww_gp *gp, const double *a, const double *b) {
    double sum = 0;
    for (size_t d = 0; d < gp->inputs; d++) {
        double by = gp->category[d] ? a[d] != b[d] : a[d] - b[d];
        sum += by * by / (gp->length[d] * gp->length[d]);
    }
    return sqrt(5 * sum);
}

static double correlation(const struct ww_gp *gp, const double *a, const double *b) {
    double r = distance(gp, a, b);
    return (1 + r + r * r / 3) * exp(-r);
}

/* Lower factor of the correlations, in place of them. False: not positive definite. */
static bool decompose(struct ww_gp *gp, const double *noise) {
    size_t n = gp->n;
    double *f = gp->factor;
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j <= i; j++) {
            double sum = correlation(gp, gp->x + i * gp->inputs, gp->x + j * gp->inputs);
            if (i == j) sum += gp->nugget + noise[i];
            for (size_t k = 0; k < j; k++) sum -= f[i * n + k] * f[j * n + k];
            if (i == j && !(sum > 0)) return false;
            f[i * n + j] = i == j ? sqrt(sum) : sum / f[j * n + j];
        }
    return true;
}

/* v becomes factor^-1 v. */
static void forward(const struct ww_gp *gp, double *v) {
    for (size_t i = 0; i < gp->n; i++) {
        for (size_t k = 0; k < i; k++) v[i] -= gp->factor[i * gp->n + k] * v[k];
        v[i] /= gp->factor[i * gp->n + i];
    }
}

static void backward(const struct ww_gp *gp, double *v) {
    for (size_t i = gp->n; i-- > 0;) {
        for (size_t k = i + 1; k < gp->n; k++) v[i] -= gp->factor[k * gp->n + i] * v[k];
        v[i] /= gp->factor[i * gp->n + i];
    }
}

/* Fills everything that follows from lengths and nugget; the logarithm of the posterior, up to a constant. */
static double solve(struct ww_gp *gp, const double *y, const double *noise, double prior) {
    size_t n = gp->n;
    double determinant = 0, of_y = 0, square = 0, lengths = 0;
    if (!decompose(gp, noise)) return -INFINITY;
    for (size_t i = 0; i < n; i++) {
        gp->ones[i] = 1;
        determinant += log(gp->factor[i * n + i]);
    }
    forward(gp, gp->ones);
    backward(gp, gp->ones);
    gp->ones_sum = 1 / MEAN_SPREAD;
    for (size_t i = 0; i < n; i++) {
        gp->ones_sum += gp->ones[i];
        of_y += gp->ones[i] * y[i];
    }
    gp->mean = of_y / gp->ones_sum;
    for (size_t i = 0; i < n; i++) gp->weight[i] = y[i] - gp->mean;
    forward(gp, gp->weight);
    for (size_t i = 0; i < n; i++) square += gp->weight[i] * gp->weight[i];
    backward(gp, gp->weight);
    square += gp->mean * gp->mean / MEAN_SPREAD + PRIOR_WEIGHT * prior * prior;
    gp->variance = square / ((double)n + PRIOR_WEIGHT);
    for (size_t d = 0; d < gp->inputs; d++) lengths += log(gp->length[d]) * log(gp->length[d]) / 2;
    return -((double)n + PRIOR_WEIGHT) / 2 * log(square) - determinant - log(gp->ones_sum) / 2 - lengths;
}

/* The better of the present value and another one of a length or the nugget. */
static void try_value(struct ww_gp *gp, double *at, double value, const double *y, const double *noise,
                      double prior, double *best) {
    double before = *at;
    *at = value;
    double now = solve(gp, y, noise, prior);
    if (now > *best)
        *best = now;
    else
        *at = before;
}

static void search(struct ww_gp *gp, const double *y, const double *noise, double prior) {
    static const double lengths[] = {0.125, 0.25, 0.5, 1, 2, 4, 8}, nuggets[] = {1e-6, 1e-4, 1e-2, 0.1};
    double best = solve(gp, y, noise, prior);
    for (int s = 0; s < SWEEPS; s++) {
        double before = best;
        for (size_t d = 0; d < gp->inputs; d++)
            for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++)
                if (lengths[i] != gp->length[d])
                    try_value(gp, &gp->length[d], lengths[i], y, noise, prior, &best);
        for (size_t i = 0; i < sizeof nuggets / sizeof *nuggets; i++)
            if (nuggets[i] != gp->nugget) try_value(gp, &gp->nugget, nuggets[i], y, noise, prior, &best);
        if (!(best > before)) break;
    }
    solve(gp, y, noise, prior);
}

bool ww_gp_fit(struct ww_gp *gp, const double *x, const double *y, const double *noise, size_t n, size_t inputs,
               const bool *category, double prior) {
    *gp = (struct ww_gp){.n = n, .inputs = inputs, .category = category, .nugget = 1e-4};
    gp->x = malloc((n * inputs + 1) * sizeof *gp->x);
    gp->factor = calloc(n * n + 1, sizeof *gp->factor);
    gp->weight = calloc(n + 1, sizeof *gp->weight);
    gp->ones = calloc(n + 1, sizeof *gp->ones);
    gp->variance = prior * prior;
    if (!gp->x || !gp->factor || !gp->weight || !gp->ones) return false;
    if (n) memcpy(gp->x, x, n * inputs * sizeof *x);
    for (size_t d = 0; d < inputs; d++) gp->length[d] = 1;
    if (n) search(gp, y, noise, prior);
    return true;
}

void ww_gp_at(const struct ww_gp *gp, const double *x, double *mean, double *deviation) {
    double k[WW_GP_POINTS], gap = 1, left = 1 + gp->nugget;
    *mean = gp->n ? gp->mean : 0;
    *deviation = sqrt(gp->variance);
    if (gp->n == 0) return;
    for (size_t i = 0; i < gp->n; i++) {
        k[i] = correlation(gp, gp->x + i * gp->inputs, x);
        *mean += k[i] * gp->weight[i];
        gap -= k[i] * gp->ones[i];
    }
    forward(gp, k);
    for (size_t i = 0; i < gp->n; i++) left -= k[i] * k[i];
    left = fmax(left, 0) + gap * gap / gp->ones_sum;
    *deviation = sqrt(gp->variance * left);
}

void ww_gp_free(struct ww_gp *gp) {
    free(gp->x);
    free(gp->factor);
    free(gp->weight);
    free(gp->ones);
    *gp = (struct ww_gp){0};
}
