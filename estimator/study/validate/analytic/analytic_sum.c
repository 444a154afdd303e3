/* analytic_sum.c: errors, coverage and ranks of estimates. */
#include "analytic_int.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

static double cycles_residual(const struct analytic_case *c) {
    return log(c->cycles / c->own_cycles);
}

static double energy_residual(const struct analytic_case *c) {
    return c->power && c->energy > 0 && c->own_energy > 0 ? log(c->energy / c->own_energy) : NAN;
}

/* Whether the interval of the other applications' residuals covers the case's. */
static bool covers(const struct analytic_cases *cases, const struct analytic_case *of, double confidence,
                   double (*residual)(const struct analytic_case *c), double *scratch) {
    size_t n = 0;
    double low, high, own = residual(of);
    for (size_t i = 0; i < cases->count; i++) {
        double r = residual(&cases->row[i]);
        if (cases->row[i].number != of->number && isfinite(r)) scratch[n++] = r;
    }
    ww_model_conformal(scratch, n, confidence, &low, &high);
    return own >= low && own <= high;
}

enum ww_code ww_analytic_sum_up(const struct analytic_cases *cases, const char *gpu, double confidence,
                                struct analytic_summary *out, struct ww_error *error) {
    double *scratch = malloc((cases->count + 1) * sizeof *scratch);
    size_t powers = 0;
    *out = (struct analytic_summary){0};
    if (!scratch) return ww_fail_nomem(error, "residuals");
    for (size_t i = 0; i < cases->count; i++) {
        const struct analytic_case *c = &cases->row[i];
        if (gpu && strcmp(gpu, c->gpu) != 0) continue;
        double ratio = c->own_cycles / c->cycles;
        out->cases++;
        out->cycles += fabs(ratio - 1);
        out->bias += ratio - 1;
        out->covered_cycles += covers(cases, c, confidence, cycles_residual, scratch);
        if (!isfinite(energy_residual(c))) continue;
        powers++;
        out->power += fabs(c->own_energy / c->own_cycles / (c->energy / c->cycles) - 1);
        out->covered_energy += covers(cases, c, confidence, energy_residual, scratch);
    }
    free(scratch);
    double n = out->cases ? (double)out->cases : 1, m = powers ? (double)powers : 1;
    out->cycles /= n;
    out->bias /= n;
    out->covered_cycles /= n;
    out->power /= m;
    out->covered_energy /= m;
    return WW_OK;
}

/* ---- ranks ---- */

struct ranked {
    double value;
    size_t of;
};

static int ascending(const void *a, const void *b) {
    const struct ranked *x = a, *y = b;
    if (x->value != y->value) return x->value < y->value ? -1 : 1;
    return x->of < y->of ? -1 : x->of > y->of;
}

static struct ranked *sorted(const double *v, size_t n) {
    struct ranked *p = malloc((n + 1) * sizeof *p);
    if (!p) return NULL;
    for (size_t i = 0; i < n; i++) p[i] = (struct ranked){v[i], i};
    qsort(p, n, sizeof *p, ascending);
    return p;
}

/* Ranks from 0; equal values share the mean of their ranks. */
static bool ranks(const double *v, size_t n, double *rank) {
    struct ranked *p = sorted(v, n);
    if (!p) return false;
    for (size_t i = 0, end; i < n; i = end) {
        for (end = i + 1; end < n && p[end].value == p[i].value;) end++;
        for (size_t k = i; k < end; k++) rank[p[k].of] = (double)(i + end - 1) / 2;
    }
    free(p);
    return true;
}

enum ww_code ww_analytic_rank(const double *a, const double *b, size_t n, double *rho, struct ww_error *error) {
    double *rank = malloc((2 * n + 1) * sizeof *rank), mean = ((double)n - 1) / 2, ab = 0, aa = 0, bb = 0;
    if (!rank || !ranks(a, n, rank) || !ranks(b, n, rank + n)) {
        free(rank);
        return ww_fail_nomem(error, "ranks");
    }
    for (size_t i = 0; i < n; i++) {
        double x = rank[i] - mean, y = rank[n + i] - mean;
        ab += x * y;
        aa += x * x;
        bb += y * y;
    }
    free(rank);
    *rho = aa > 0 && bb > 0 ? ab / sqrt(aa * bb) : NAN;
    return WW_OK;
}

enum ww_code ww_analytic_found(const double *truth, const double *guess, size_t n, size_t best, size_t most,
                               size_t *found, struct ww_error *error) {
    struct ranked *t = sorted(truth, n), *g = sorted(guess, n);
    *found = 0;
    for (size_t i = 0; t && g && i < best && i < n; i++)
        for (size_t k = 0; k < most && k < n; k++) *found += g[k].of == t[i].of;
    enum ww_code code = t && g ? WW_OK : ww_fail_nomem(error, "ranks");
    free(t);
    free(g);
    return code;
}

enum ww_code ww_analytic_lost(const double *truth, const double *guess, size_t n, size_t most, double *lost,
                              struct ww_error *error) {
    struct ranked *g = sorted(guess, n);
    double least = INFINITY, of_guess = INFINITY;
    if (!g) return ww_fail_nomem(error, "ranks");
    for (size_t i = 0; i < n; i++) {
        if (truth[i] < least) least = truth[i];
        if (i < most && truth[g[i].of] < of_guess) of_guess = truth[g[i].of];
    }
    free(g);
    *lost = of_guess / least - 1;
    return WW_OK;
}
