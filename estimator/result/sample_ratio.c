/* Two designs that replayed the same sample: the interval of their ratio. */
#include "result.h"
#include "../base/locale.h"
#include "../base/arena.h"
#include "../base/err.h"
#include "sample_unit.h"
#include "stats.h"
#include <math.h>

static int by_place(const struct ww_sample_row *a, const struct ww_sample_row *b) {
    if (a->launch != b->launch) return a->launch < b->launch ? -1 : 1;
    if (a->first_cta != b->first_cta) return a->first_cta < b->first_cta ? -1 : 1;
    return a->end_cta == b->end_cta ? 0 : a->end_cta < b->end_cta ? -1 : 1;
}

struct both { /* a unit that both designs measured */
    uint64_t stratum, population;
    double x, y;
    double drift; /* of windows: instructions issued in the first design beyond those in the second, relative */
};

/* Both measures of a unit are for as many instructions: which of a window's CTAs' are issued within it differs.
 */
static struct both both_of(const struct ww_sample_row *a, const struct ww_sample_row *b, bool energy) {
    struct both out = {a->stratum, a->population, energy ? a->energy_j : a->cycles,
                       energy ? b->energy_j : b->cycles, 0};
    if (!(a->instructions > 0 && b->instructions > 0)) return out;
    out.x *= (a->instructions + b->instructions) / 2 / a->instructions;
    out.y *= (a->instructions + b->instructions) / 2 / b->instructions;
    if (a->kind == WW_UNIT_WINDOW) out.drift = a->instructions / b->instructions - 1;
    return out;
}

/* Both samples are in the program's order. */
static size_t match(const struct ww_sampling *a, const struct ww_sampling *b, bool energy, struct both *out) {
    size_t n = 0;
    for (size_t i = 0, k = 0; i < a->row_count && k < b->row_count;) {
        const struct ww_sample_row *x = &a->row[i], *y = &b->row[k];
        int order = by_place(x, y);
        i += order <= 0;
        k += order >= 0;
        if (order != 0 || x->kind != y->kind || x->stratum != y->stratum || x->population != y->population)
            continue;
        out[n++] = both_of(x, y, energy);
    }
    return n;
}

static double residual_variance(const struct both *u, size_t n, uint64_t stratum, double ratio, size_t *count) {
    double mean = 0, sum = 0;
    *count = 0;
    for (size_t i = 0; i < n; i++)
        if (u[i].stratum == stratum) {
            mean += u[i].x - ratio * u[i].y;
            ++*count;
        }
    mean /= *count ? (double)*count : 1;
    for (size_t i = 0; i < n; i++) {
        double d = u[i].x - ratio * u[i].y - mean;
        if (u[i].stratum == stratum) sum += d * d;
    }
    return *count > 1 ? sum / (double)(*count - 1) : 0;
}

static void totals(const struct both *u, size_t n, uint64_t strata, double *x, double *y) {
    *x = *y = 0;
    for (uint64_t h = 0; h < strata; h++) {
        double sx = 0, sy = 0, count = 0, population = 0;
        for (size_t i = 0; i < n; i++)
            if (u[i].stratum == h) {
                sx += u[i].x;
                sy += u[i].y;
                count++;
                population = (double)u[i].population;
            }
        if (count == 0) continue;
        *x += population * sx / count;
        *y += population * sy / count;
    }
}

/* Relative variance that stands for windows that begin otherwise in one design than in the other
 * (ww_sample_warm_variance): what drifts are there beyond chance, of which those that both have cancel. */
static double drift_variance(const struct both *u, size_t n, uint64_t strata, double y) {
    double drift = 0, chance = 0;
    for (uint64_t h = 0; h < strata; h++) {
        double count = 0, sum = 0, squares = 0, sy = 0, population = 1;
        for (size_t i = 0; i < n; i++)
            if (u[i].stratum == h) {
                sum += u[i].drift;
                squares += u[i].drift * u[i].drift;
                sy += u[i].y;
                count++;
                population = (double)u[i].population;
            }
        if (count < 2) continue;
        double share = population * sy / count / y;
        double v = (squares - sum * sum / count) / (count - 1) / count * (1 - count / population);
        drift += share * sum / count;
        chance += share * share * v;
    }
    return drift * drift > chance ? (drift * drift - chance) / 3 : 0;
}

static bool has_parts(const struct ww_sampling *s) {
    for (size_t i = 0; i < s->row_count; i++)
        if (s->row[i].kind != WW_UNIT_LAUNCH) return true;
    return false;
}

enum ww_code ww_sample_ratio(const struct ww_sampling *a, const struct ww_sampling *b, bool energy,
                             double confidence, struct ww_sample_ratio *out, struct ww_error *error) {
    WW_PLAIN_LOCALE;
    struct ww_arena arena;
    ww_arena_init(&arena, 0);
    size_t most = a->row_count < b->row_count ? a->row_count : b->row_count;
    struct both *u = ww_arena_array(&arena, most, sizeof *u);
    double x, y, variance = 0, parts = 0;
    *out = (struct ww_sample_ratio){0};
    if (!u) return ww_fail_nomem(error, "a comparison");
    out->common = match(a, b, energy, u);
    totals(u, out->common, a->strata, &x, &y);
    bool whole = out->common > 0 && a->strata == b->strata && y > 0;
    out->ratio = whole ? x / y : 0;
    for (uint64_t h = 0; whole && h < a->strata; h++) {
        size_t n;
        double s2 = residual_variance(u, out->common, h, out->ratio, &n), population = 0;
        for (size_t i = 0; i < out->common; i++)
            if (u[i].stratum == h) population = (double)u[i].population;
        if (n == 0 || (n < 2 && (double)n < population)) whole = false; /* nothing is known of the stratum */
        if (n < 2 || (double)n >= population) continue;
        double v = population * (population - (double)n) / (double)n * s2 / (y * y);
        variance += v;
        parts += v * v / (double)(n - 1);
    }
    double drift = whole ? drift_variance(u, out->common, a->strata, y) : 0;
    ww_arena_free(&arena);
    double bias_a = energy ? a->bias_energy : a->bias_cycles, bias_b = energy ? b->bias_energy : b->bias_cycles;
    double correction = has_parts(a) ? 1 : (1 + bias_a) / (1 + bias_b), bias = bias_a - bias_b;
    out->ratio *= correction; /* the rows are as measured, without the correction of the totals */
    variance *= correction * correction;
    double warm = has_parts(a) ? WW_WARM_ERROR_PARTS : WW_WARM_ERROR;
    variance += (bias * bias / 3 + 2 * warm * warm + drift) * out->ratio * out->ratio;
    double half = ww_stats_t(confidence, parts > 0 ? variance * variance / parts : INFINITY) * sqrt(variance);
    out->known = whole;
    out->lo = out->ratio - half;
    out->hi = out->ratio + half;
    return WW_OK;
}
