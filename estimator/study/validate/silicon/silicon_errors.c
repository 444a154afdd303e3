/* Errors by launch, kernel and program, and correlations. */
#include "silicon_int.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* They have most of the launches, of few kernels. */
static const char *const repetitive[] = {"3DConvolution", "lud", "nw"};

static bool is_repetitive(const struct ww_silicon_row *r) {
    for (size_t i = 0; i < sizeof repetitive / sizeof *repetitive; i++)
        if (strcmp(r->program, repetitive[i]) == 0) return true;
    return false;
}

static double estimate(const struct ww_silicon_row *r, enum ww_silicon_who who) {
    return who == WW_SILICON_OURS ? r->ours.cycles : r->accelsim_cycles;
}

static bool counts(const struct ww_silicon_row *r, enum ww_silicon_who who) {
    return r->kernel && estimate(r, who) > 0;
}

static double part(const struct ww_silicon_row *r, enum ww_silicon_who who, bool size) {
    double e = estimate(r, who) / r->hw.cycles - 1;
    return size ? fabs(e) : e;
}

static double mean(double sum, size_t n) {
    return n ? sum / (double)n : NAN;
}

/* A value of a row, NAN: it has none. */
typedef double (*value_fn)(const struct ww_silicon_row *row, int which);

static bool same_kernel(const struct ww_silicon_row *a, const struct ww_silicon_row *b) {
    return strcmp(a->program, b->program) == 0 && strcmp(a->kernel, b->kernel) == 0;
}

/* The mean of a kernel's launches if row i is its first launch with a value, else NAN. */
static double of_kernel(const struct ww_silicon_row *row, size_t count, size_t i, value_fn value, int which) {
    double sum = 0;
    size_t n = 0;
    if (!row[i].kernel || isnan(value(&row[i], which))) return NAN;
    for (size_t k = 0; k < count; k++) {
        if (!row[k].kernel || !same_kernel(&row[k], &row[i]) || isnan(value(&row[k], which))) continue;
        if (k < i) return NAN;
        sum += value(&row[k], which);
        n++;
    }
    return mean(sum, n);
}

/* Mean over programs of the mean over kernels of the mean over launches; `rest` leaves out the repetitive. */
static double by_program(const struct ww_silicon_row *row, size_t count, value_fn value, int which, bool rest) {
    double all = 0, sum = 0;
    size_t programs = 0, kernels = 0;
    for (size_t i = 0; i < count; i++) { /* rows of a program stand together */
        bool ends = i + 1 == count || strcmp(row[i].program, row[i + 1].program) != 0;
        double v = rest && is_repetitive(&row[i]) ? NAN : of_kernel(row, count, i, value, which);
        if (!isnan(v)) sum += v, kernels++;
        if (!ends) continue;
        if (kernels) all += sum / (double)kernels, programs++;
        sum = 0, kernels = 0;
    }
    return mean(all, programs);
}

enum { SIGNED = 2 };
static double error_of(const struct ww_silicon_row *r, int which) {
    enum ww_silicon_who who = (enum ww_silicon_who)(which & 1);
    return counts(r, who) ? part(r, who, !(which & SIGNED)) : NAN;
}

static double points_of(const struct ww_silicon_row *r, int l1) {
    return l1 ? fabs(r->ours.l1_hit_percent - r->hw.l1_hit_percent)
              : fabs(r->ours.l2_hit_percent - r->hw.l2_hit_percent);
}

double ww_silicon_points(const struct ww_silicon_row *row, size_t count, bool l1) {
    return by_program(row, count, points_of, l1, false);
}

/* ---- correlations ---- */

static double pearson(const double *x, const double *y, size_t n) {
    double mx = 0, my = 0, xy = 0, xx = 0, yy = 0;
    for (size_t i = 0; i < n; i++) mx += x[i] / (double)n, my += y[i] / (double)n;
    for (size_t i = 0; i < n; i++) {
        xy += (x[i] - mx) * (y[i] - my);
        xx += (x[i] - mx) * (x[i] - mx);
        yy += (y[i] - my) * (y[i] - my);
    }
    return n > 1 && xx > 0 && yy > 0 ? xy / sqrt(xx * yy) : NAN;
}

/* 1 + how many are smaller + half of how many others are equal. */
static double rank(const double *x, size_t n, size_t i) {
    double r = 1;
    for (size_t k = 0; k < n; k++) r += x[k] < x[i] ? 1 : x[k] > x[i] || k == i ? 0 : 0.5;
    return r;
}

static void correlate(double *x, double *y, size_t n, double *scratch, struct ww_silicon_error *out) {
    for (size_t i = 0; i < n; i++) scratch[i] = rank(x, n, i), scratch[n + i] = rank(y, n, i);
    out->rank_correlation = pearson(scratch, scratch + n, n);
    for (size_t i = 0; i < n; i++) x[i] = log(x[i]), y[i] = log(y[i]);
    out->log_correlation = pearson(x, y, n);
}

/* ---- all of it ---- */

static void add_launches(const struct ww_silicon_row *row, size_t count, enum ww_silicon_who who,
                         struct ww_silicon_error *out) {
    double sum = 0, rest = 0, bias = 0, by_class[3] = {0};
    size_t n = 0, n_rest = 0;
    for (size_t i = 0; i < count; i++) {
        if (!counts(&row[i], who)) continue;
        double size = part(&row[i], who, true);
        int c = row[i].hw.cycles < WW_SILICON_SMALL ? 0 : row[i].hw.cycles < WW_SILICON_LARGE ? 1 : 2;
        sum += size;
        bias += part(&row[i], who, false);
        by_class[c] += size;
        out->class_launches[c]++;
        n++;
        if (!is_repetitive(&row[i])) rest += size, n_rest++;
    }
    out->launches = n;
    out->by_launch = mean(sum, n);
    out->by_launch_rest = mean(rest, n_rest);
    out->bias_by_launch = mean(bias, n);
    for (int c = 0; c < 3; c++) out->class_error[c] = mean(by_class[c], out->class_launches[c]);
}

enum ww_code ww_silicon_errors(const struct ww_silicon_row *row, size_t count, enum ww_silicon_who who,
                               struct ww_silicon_error *out, struct ww_error *error) {
    *out = (struct ww_silicon_error){0};
    add_launches(row, count, who, out);
    out->by_program = by_program(row, count, error_of, (int)who, false);
    out->by_program_rest = by_program(row, count, error_of, (int)who, true);
    out->bias_by_program = by_program(row, count, error_of, (int)who | SIGNED, false);
    double *x = malloc((4 * count + 1) * sizeof *x);
    size_t n = 0;
    if (!x) return ww_fail_nomem(error, "correlations");
    for (size_t i = 0; i < count; i++)
        if (counts(&row[i], who)) x[n] = row[i].hw.cycles, x[count + n++] = estimate(&row[i], who);
    correlate(x, x + count, n, x + 2 * count, out);
    free(x);
    return WW_OK;
}
