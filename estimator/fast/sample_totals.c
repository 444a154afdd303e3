/* Totals with their variances from a stratified sample, by the combined ratio to instructions. */
#include "sample.h"
#include "../result/stats.h"
#include "sample_variate.h"
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

/* What a unit takes beyond the family's ratio and, if fast replay is the control variate, beyond its
 * prediction. */
static void residual_of(const struct ww_measure *m, const struct ww_measure *fast, const double *ratio,
                        const struct ww_variate *v, double e[WW_MEASURES]) {
    for (int k = 0; k < WW_MEASURES; k++) {
        e[k] = ww_residual(m, k, ratio[k]);
        if (fast) e[k] -= v->slope[k] * ww_residual(fast, k, v->ratio[k]);
    }
}

/* Residuals' variances and covariances within a stratum. */
static void residuals(const struct ww_frame *f, const struct ww_measure *measure, const struct ww_measure *fast,
                      const struct ww_stratum *s, size_t n, const double *ratio, const struct ww_variate *v,
                      double (*cov)[WW_MEASURES]) {
    double mean[WW_MEASURES] = {0}, e[WW_MEASURES];
    for (size_t i = 0; i < n; i++) {
        size_t u = f->order[s->first + i];
        residual_of(&measure[u], fast ? &fast[u] : NULL, ratio, v, e);
        for (int k = 0; k < WW_MEASURES; k++) mean[k] += e[k] / (double)n;
    }
    for (size_t i = 0; i < n; i++) {
        size_t u = f->order[s->first + i];
        residual_of(&measure[u], fast ? &fast[u] : NULL, ratio, v, e);
        for (int k = 0; k < WW_MEASURES; k++) e[k] -= mean[k];
        for (int k = 0; k < WW_MEASURES; k++)
            for (int j = 0; j < WW_MEASURES; j++) cov[k][j] += e[k] * e[j] / (double)(n - 1);
    }
}

/* What totals are made of. */
struct totals {
    const struct ww_frame *f;
    const struct ww_measure *measure, *fast;
    bool pilot;
    double (*by_stratum)[WW_MEASURES];
    double v[WW_MEASURES], parts[WW_MEASURES]; /* for Satterthwaite */
    struct ww_estimate *out;
};

/* Adds `scale` times the variance of a stratum's units, of residuals with or without fast replay. The larger of
 * the pilot's and that of all drawn counts: neither a lucky pilot nor a lucky second stage may make the
 * interval too narrow. `lost`: degrees of freedom that the slope takes, part of the stratum's. one (may be
 * NULL): a unit's. */
static void add_variance(struct totals *t, const struct ww_stratum *s, const struct ww_measure *fast,
                         const double *ratio, const struct ww_variate *v, double scale, double lost,
                         double *one) {
    double cov[WW_MEASURES][WW_MEASURES] = {{0}}, first[WW_MEASURES][WW_MEASURES] = {{0}};
    size_t n = drawn_of(s, t->pilot);
    double factor[WW_MEASURES], df = ((double)(s->pilot > 1 ? s->pilot : n) - 1) * (1 - lost);
    residuals(t->f, t->measure, fast, s, n, ratio, v, cov);
    if (s->pilot >= 2) residuals(t->f, t->measure, fast, s, s->pilot, ratio, v, first);
    for (int k = 0; k < WW_MEASURES; k++)
        factor[k] = sqrt((first[k][k] > cov[k][k] && cov[k][k] > 0 ? first[k][k] / cov[k][k] : 1) / (1 - lost));
    for (int k = 0; k < WW_MEASURES; k++) {
        double s2 = cov[k][k] * factor[k] * factor[k], variance = scale * s2;
        if (one) one[k] = s2;
        t->v[k] += variance;
        t->parts[k] += variance * variance / df;
        for (int j = 0; j < WW_MEASURES; j++)
            t->out->variance[k][j] += scale * cov[k][j] * factor[k] * factor[j];
    }
}

/* Means of what fast replay takes beyond its ratio: of the first `n` units of the stratum. */
static double fast_mean(const struct totals *t, const struct ww_stratum *s, size_t n, int k,
                        const struct ww_variate *v) {
    double sum = 0;
    for (size_t i = 0; i < n; i++)
        sum += ww_residual(&t->fast[t->f->order[s->first + i]], k, v->ratio[k]) / (double)n;
    return sum;
}

static bool uses_fast(const struct totals *t, const struct ww_stratum *s, const struct ww_variate *v) {
    return t->fast && v->df > 2 && s->drawn >= 2 && s->fast > s->drawn;
}

static void add_stratum(struct totals *t, size_t number, const double *ratio, const struct ww_variate *v,
                        double weight) {
    const struct ww_stratum *s = &t->f->stratum[number];
    size_t count = drawn_of(s, t->pilot);
    double N = (double)s->count, n = (double)count, m = (double)s->fast, square = weight * weight,
           one[WW_MEASURES];
    if (count < 2) return;
    if (!uses_fast(t, s, v)) {
        add_variance(t, s, NULL, ratio, v, square * N * (N - n) / n, 0, one);
    } else {
        for (int k = 0; k < WW_MEASURES; k++) {
            double more = fast_mean(t, s, s->fast, k, v) - fast_mean(t, s, count, k, v);
            t->out->total[k] += weight * N * v->slope[k] * more;
        }
        add_variance(t, s, t->fast, ratio, v, square * N * N * (1 / n - 1 / m), 1 / v->df, NULL);
        add_variance(t, s, NULL, ratio, v, square * N * N * (1 / m - 1 / N), 0, one);
    }
    for (int k = 0; k < WW_MEASURES && t->by_stratum; k++) t->by_stratum[number][k] = square * one[k];
}

void ww_sample_ratio_of(const struct ww_frame *f, const struct ww_measure *measure, size_t family,
                        double ratio[WW_MEASURES]) {
    struct expanded e = {0};
    for (size_t h = 0; h < f->strata; h++)
        if (f->stratum[h].family == family) expand(f, measure, &f->stratum[h], f->stratum[h].drawn, &e);
    for (int k = 0; k < WW_MEASURES; k++) ratio[k] = e.x > 0 ? e.y[k] / e.x : 0;
}

static void add_family(struct totals *t, size_t family) {
    const struct ww_frame *f = t->f;
    struct expanded e = {0};
    struct ww_variate v = {.df = 0};
    double ratio[WW_MEASURES];
    for (size_t h = 0; h < f->strata; h++)
        if (f->stratum[h].family == family)
            expand(f, t->measure, &f->stratum[h], drawn_of(&f->stratum[h], t->pilot), &e);
    double weight = e.x > 0 ? f->family[family].instructions / e.x : 1;
    for (int k = 0; k < WW_MEASURES; k++) {
        ratio[k] = e.x > 0 ? e.y[k] / e.x : 0;
        t->out->total[k] += weight * e.y[k];
    }
    if (t->fast) ww_variate_fit(f, t->measure, t->fast, family, ratio, &v);
    for (size_t h = 0; h < f->strata; h++)
        if (f->stratum[h].family == family) add_stratum(t, h, ratio, &v, weight);
}

void ww_sample_totals(const struct ww_frame *f, const struct ww_measure *measure, const struct ww_measure *fast,
                      bool pilot, double (*by_stratum)[WW_MEASURES], struct ww_estimate *out) {
    struct totals t = {
        .f = f, .measure = measure, .fast = fast, .pilot = pilot, .by_stratum = by_stratum, .out = out};
    memset(out->total, 0, sizeof out->total);
    memset(out->variance, 0, sizeof out->variance);
    for (size_t family = 0; family < f->families; family++) add_family(&t, family);
    for (int k = 0; k < WW_MEASURES; k++) out->df[k] = t.parts[k] > 0 ? t.v[k] * t.v[k] / t.parts[k] : INFINITY;
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
