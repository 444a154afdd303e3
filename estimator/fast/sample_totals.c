/* Totals with their variances from a stratified sample, by the combined ratio to instructions. */
#include "sample.h"
#include "../result/stats.h"
#include <math.h>
#include <string.h>

/* A stratum's sums over drawn units, expanded to its population. */
struct expanded {
    double x, y[WW_MEASURES];
};

static size_t drawn_of(const struct ww_stratum *s, bool pilot) {
    return pilot ? s->pilot : s->drawn;
}

static void expand(const struct ww_frame *f, const struct ww_measure *measure, const struct ww_stratum *s,
                   size_t n, struct expanded *out) {
    double factor = n ? (double)s->count / (double)n : 0;
    for (size_t i = 0; i < n; i++) {
        const struct ww_measure *m = &measure[f->order[s->first + i]];
        out->x += factor * m->instructions;
        for (int k = 0; k < WW_MEASURES; k++) out->y[k] += factor * m->y[k];
    }
}

/* Residuals' variances and covariances within a stratum: of what a unit takes beyond the family's ratio. */
static void residuals(const struct ww_frame *f, const struct ww_measure *measure, const struct ww_stratum *s,
                      size_t n, const double *ratio, double (*cov)[WW_MEASURES]) {
    double mean[WW_MEASURES] = {0};
    for (size_t i = 0; i < n; i++) {
        const struct ww_measure *m = &measure[f->order[s->first + i]];
        for (int k = 0; k < WW_MEASURES; k++) mean[k] += (m->y[k] - ratio[k] * m->instructions) / (double)n;
    }
    for (size_t i = 0; i < n; i++) {
        const struct ww_measure *m = &measure[f->order[s->first + i]];
        double e[WW_MEASURES];
        for (int k = 0; k < WW_MEASURES; k++) e[k] = m->y[k] - ratio[k] * m->instructions - mean[k];
        for (int k = 0; k < WW_MEASURES; k++)
            for (int j = 0; j < WW_MEASURES; j++) cov[k][j] += e[k] * e[j] / (double)(n - 1);
    }
}

struct sums { /* for Satterthwaite */
    double v[WW_MEASURES], parts[WW_MEASURES];
};

/* Adds a stratum's variance. The larger of the pilot's and that of all drawn counts: neither a lucky pilot nor
 * a lucky second stage may make the interval too narrow. */
static void add_stratum(const struct ww_frame *f, const struct ww_measure *measure, size_t number, bool pilot,
                        const double *ratio, double weight, struct sums *sums,
                        double (*by_stratum)[WW_MEASURES], struct ww_estimate *out) {
    const struct ww_stratum *s = &f->stratum[number];
    double cov[WW_MEASURES][WW_MEASURES] = {{0}}, first[WW_MEASURES][WW_MEASURES] = {{0}};
    size_t n = drawn_of(s, pilot);
    double N = (double)s->count, factor[WW_MEASURES];
    if (n < 2) return;
    residuals(f, measure, s, n, ratio, cov);
    if (s->pilot >= 2) residuals(f, measure, s, s->pilot, ratio, first);
    for (int k = 0; k < WW_MEASURES; k++)
        factor[k] = first[k][k] > cov[k][k] && cov[k][k] > 0 ? sqrt(first[k][k] / cov[k][k]) : 1;
    double scale = weight * weight * N * (N - (double)n) / (double)n;
    for (int k = 0; k < WW_MEASURES; k++) {
        double s2 = cov[k][k] * factor[k] * factor[k], v = scale * s2;
        if (by_stratum) by_stratum[number][k] = weight * weight * s2;
        sums->v[k] += v;
        sums->parts[k] += v * v / (double)(s->pilot > 1 ? s->pilot - 1 : n - 1);
        for (int j = 0; j < WW_MEASURES; j++) out->variance[k][j] += scale * cov[k][j] * factor[k] * factor[j];
    }
}

void ww_sample_totals(const struct ww_frame *f, const struct ww_measure *measure, bool pilot,
                      double (*by_stratum)[WW_MEASURES], struct ww_estimate *out) {
    struct sums sums = {{0}, {0}};
    memset(out->total, 0, sizeof out->total);
    memset(out->variance, 0, sizeof out->variance);
    for (size_t family = 0; family < f->families; family++) {
        struct expanded e = {0};
        double ratio[WW_MEASURES];
        for (size_t h = 0; h < f->strata; h++)
            if (f->stratum[h].family == family)
                expand(f, measure, &f->stratum[h], drawn_of(&f->stratum[h], pilot), &e);
        double weight = e.x > 0 ? f->family[family].instructions / e.x : 1;
        for (int k = 0; k < WW_MEASURES; k++) {
            ratio[k] = e.x > 0 ? e.y[k] / e.x : 0;
            out->total[k] += weight * e.y[k];
        }
        for (size_t h = 0; h < f->strata; h++)
            if (f->stratum[h].family == family)
                add_stratum(f, measure, h, pilot, ratio, weight, &sums, by_stratum, out);
    }
    for (int k = 0; k < WW_MEASURES; k++)
        out->df[k] = sums.parts[k] > 0 ? sums.v[k] * sums.v[k] / sums.parts[k] : INFINITY;
}

/* ---- how units begin --------------------------------------------------------------------------- */

/* A stratum of windows: what they issue beyond their CTAs' instructions, relative, on average; its variance. */
static double drift_of(const struct ww_frame *f, const struct ww_measure *measure, const struct ww_stratum *s,
                       double *variance) {
    double sum = 0, squares = 0, n = 0, N = (double)s->count;
    *variance = 0;
    for (size_t i = 0; i < s->drawn; i++) {
        const struct ww_measure *m = &measure[f->order[s->first + i]];
        if (!(m->work > 0)) continue;
        double d = m->instructions / m->work - 1;
        sum += d;
        squares += d * d;
        n++;
    }
    if (n > 1) *variance = (squares - sum * sum / n) / (n - 1) / n * (1 - n / N);
    return n > 0 ? sum / n : 0;
}

double ww_sample_warm_variance(const struct ww_frame *f, const struct ww_measure *measure) {
    double parts = 0, drift = 0, chance = 0;
    for (size_t u = 0; u < f->count; u++)
        if (f->unit[u].kind != WW_UNIT_LAUNCH) parts += f->unit[u].size / f->instructions;
    for (size_t h = 0; h < f->strata; h++) {
        const struct ww_stratum *s = &f->stratum[h];
        double share = 0, variance;
        if (f->unit[f->order[s->first]].kind != WW_UNIT_WINDOW) continue;
        for (size_t i = 0; i < s->count; i++) share += f->unit[f->order[s->first + i]].size / f->instructions;
        drift += share * drift_of(f, measure, s, &variance);
        chance += share * share * variance;
    }
    double error = parts * WW_WARM_ERROR_PARTS + (1 - parts) * WW_WARM_ERROR;
    double beyond = drift * drift - chance;
    return error * error + (beyond > 0 ? beyond / 3 : 0);
}

void ww_estimate_product(const struct ww_estimate *e, double confidence, enum ww_metric_of a, double p,
                         enum ww_metric_of b, double q, double *value, double *lo, double *hi) {
    double x = e->total[a], y = e->total[b];
    *value = pow(x, p) * pow(y, q);
    double relative = p * p * e->variance[a][a] / (x * x) + q * q * e->variance[b][b] / (y * y) +
                      2 * p * q * e->variance[a][b] / (x * y);
    double df = p == 0 ? e->df[b] : q == 0 || e->df[a] < e->df[b] ? e->df[a] : e->df[b];
    double half = ww_stats_t(confidence, df) * sqrt(relative > 0 ? relative : 0);
    *lo = *value * exp(-half);
    *hi = *value * exp(half);
}
