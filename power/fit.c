/* Measured power as a sum of parts of a model's power, each with a factor that is not negative. */
#include "fit.h"
#include "../estimator/base/lsq.h"
#include <math.h>
#include <stdbool.h>

double ww_fit_predict(const struct ww_fit *fit, size_t parts, const struct ww_fit_point *point) {
    double watts = point->rest;
    for (size_t p = 0; p < parts; p++) watts += fit->x[p] * point->part[p];
    return watts;
}

static double squares(const struct ww_fit_point *point, size_t count, size_t parts, size_t without,
                      const struct ww_fit *fit) {
    double sum = 0;
    for (size_t i = 0; i < count; i++)
        if (i != without) {
            double off = (ww_fit_predict(fit, parts, &point[i]) - point[i].measured) / point[i].sigma;
            sum += off * off;
        }
    return sum;
}

/* The system of one subset of parts. */
struct system {
    struct ww_lsq l;
    gsl_vector *w;
};

static bool make(struct system *s, size_t rows, size_t columns) {
    s->w = gsl_vector_alloc(rows);
    return ww_lsq_new(&s->l, rows, columns) && s->w;
}

static void release(struct system *s) {
    gsl_vector_free(s->w);
    ww_lsq_free(&s->l);
}

static void fill(struct system *s, const struct ww_fit_point *point, size_t count, size_t without,
                 const size_t *column, size_t columns) {
    size_t row = 0;
    for (size_t i = 0; i < count; i++) {
        if (i == without) continue;
        gsl_vector_set(s->l.y, row, point[i].measured - point[i].rest);
        gsl_vector_set(s->w, row, 1 / (point[i].sigma * point[i].sigma));
        for (size_t c = 0; c < columns; c++) gsl_matrix_set(s->l.x, row, c, point[i].part[column[c]]);
        row++;
    }
}

/* Least squares of the parts in `mask`; false if a factor is not positive or memory ran out. */
static bool solve(const struct ww_fit_point *point, size_t count, size_t parts, size_t without, unsigned mask,
                  struct ww_fit *fit) {
    size_t column[WW_FIT_PARTS], columns = 0, rows = count - (without < count);
    struct system s = {0};
    double chisq;
    for (size_t p = 0; p < parts; p++) {
        fit->x[p] = 0;
        fit->error[p] = NAN;
        if (mask >> p & 1) column[columns++] = p;
    }
    if (columns == 0) return true;
    bool good = rows >= columns && make(&s, rows, columns);
    if (good) {
        fill(&s, point, count, without, column, columns);
        gsl_multifit_wlinear(s.l.x, s.w, s.l.y, s.l.c, s.l.cov, &chisq, s.l.work);
        double scale = rows > columns ? chisq / (double)(rows - columns) : 1;
        for (size_t c = 0; c < columns; c++) {
            fit->x[column[c]] = gsl_vector_get(s.l.c, c);
            fit->error[column[c]] = sqrt(gsl_matrix_get(s.l.cov, c, c) * scale);
            good &= fit->x[column[c]] > 0;
        }
    }
    release(&s);
    return good;
}

static void best(const struct ww_fit_point *point, size_t count, size_t parts, size_t without,
                 struct ww_fit *fit) {
    double least = INFINITY;
    for (unsigned mask = 0; mask < 1u << parts; mask++) {
        struct ww_fit one = {0};
        if (!solve(point, count, parts, without, mask, &one)) continue;
        double sum = squares(point, count, parts, without, &one);
        if (sum >= least) continue;
        least = sum;
        *fit = one;
    }
}

enum ww_code ww_fit_power(const struct ww_fit_point *point, size_t count, size_t parts, struct ww_fit *fit,
                          struct ww_error *error) {
    *fit = (struct ww_fit){0};
    if (parts == 0 || parts > WW_FIT_PARTS || count <= parts)
        return ww_fail(error, WW_USAGE, NULL,
                       "%zu measured points for %zu factors; expected 1 to %d factors and more points", count,
                       parts, WW_FIT_PARTS);
    for (size_t p = 0; p < parts; p++) {
        bool there = false;
        for (size_t i = 0; i < count; i++) there |= point[i].part[p] > 0;
        if (!there) return ww_fail(error, WW_INPUT, NULL, "factor %zu has no power in any point", p + 1);
    }
    double sum = 0;
    for (size_t i = 0; i < count; i++) {
        best(point, count, parts, i, fit);
        sum += fabs(ww_fit_predict(fit, parts, &point[i]) / point[i].measured - 1);
    }
    best(point, count, parts, count, fit);
    fit->left_out = sum / (double)count;
    return WW_OK;
}
