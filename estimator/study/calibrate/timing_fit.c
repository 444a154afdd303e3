/* Parameters of a timing model fitted to measured times. */
#include "timing_fit.h"
#include "../../base/lsq.h"
#include <gsl/gsl_linalg.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define STEPS_MOST 40
#define NO_POINT SIZE_MAX

/* A fit under way. */
struct search {
    const struct ww_timing_problem *p;
    size_t without;   /* point that is left out, or NO_POINT */
    double *estimate; /* at the parameters looked at */
    double *slope;    /* [point][parameter]: derivative of estimate / measured */
    double *residual; /* estimate / measured - 1 */
    struct ww_error *error;
};

static bool counts(const struct search *s, size_t point) {
    return point != s->without;
}

static enum ww_code squares(struct search *s, const double *x, double *sum) {
    WW_TRY(s->p->model(s->p->context, x, s->estimate, s->error));
    *sum = 0;
    for (size_t i = 0; i < s->p->points; i++) {
        double off = s->estimate[i] / s->p->measured[i] - 1;
        if (counts(s, i)) *sum += off * off;
    }
    return WW_OK;
}

/* A twentieth, and at least one of a whole parameter; downwards where there is no room above. */
static double step_of(const struct ww_timing_param *param, double x) {
    double h = fmax(0.05 * fabs(x), param->whole ? 1 : 1e-6 * (param->high - param->low));
    if (param->whole) h = round(h);
    if (x + h <= param->high) return h;
    return x - h >= param->low ? -h : (param->high - x > x - param->low ? param->high : param->low) - x;
}

/* Residuals and derivatives at x. */
static enum ww_code derive(struct search *s, const double *x) {
    const struct ww_timing_problem *p = s->p;
    double moved[WW_TIMING_PARAMS];
    WW_TRY(p->model(p->context, x, s->estimate, s->error));
    for (size_t i = 0; i < p->points; i++) s->residual[i] = s->estimate[i] / p->measured[i] - 1;
    for (size_t k = 0; k < p->params; k++) {
        memcpy(moved, x, p->params * sizeof *x);
        double h = step_of(&p->param[k], x[k]);
        moved[k] += h;
        WW_TRY(p->model(p->context, moved, s->estimate, s->error));
        for (size_t i = 0; i < p->points; i++)
            s->slope[i * p->params + k] = (s->estimate[i] / p->measured[i] - 1 - s->residual[i]) / h;
    }
    return WW_OK;
}

/* ---- linear least squares of the step ---- */

/* The step that the parameters in `mask` take, 0 for others; variance (NULL: not wanted) of each. */
static enum ww_code solve(const struct search *s, unsigned mask, double *step, double *variance) {
    size_t column[WW_TIMING_PARAMS], columns = 0, row = 0, rows = s->p->points - (s->without < s->p->points);
    double chisq;
    memset(step, 0, s->p->params * sizeof *step);
    for (size_t k = 0; k < s->p->params; k++)
        if (mask >> k & 1) column[columns++] = k;
    if (columns == 0 || rows < columns) return WW_OK;
    struct ww_lsq l = {0};
    bool good = ww_lsq_new(&l, rows, columns);
    for (size_t i = 0; good && i < s->p->points; i++) {
        if (!counts(s, i)) continue;
        for (size_t c = 0; c < columns; c++)
            gsl_matrix_set(l.x, row, c, s->slope[i * s->p->params + column[c]]);
        gsl_vector_set(l.y, row++, -s->residual[i]);
    }
    if (good) gsl_multifit_linear(l.x, l.y, l.c, l.cov, &chisq, l.work);
    for (size_t c = 0; good && c < columns; c++) {
        step[column[c]] = gsl_vector_get(l.c, c);
        if (variance) variance[column[c]] = gsl_matrix_get(l.cov, c, c);
    }
    ww_lsq_free(&l);
    return good ? WW_OK : ww_fail_nomem(s->error, "a fit");
}

/* ---- whether the parameters can be distinguished ---- */

static bool at_bound(const struct ww_timing_param *param, double x) {
    return x <= param->low || x >= param->high;
}

static enum ww_code refuse(const struct search *s, const size_t *column, size_t columns, const gsl_matrix *v) {
    char names[512] = "";
    for (size_t c = 0; c < columns; c++) {
        size_t n = strlen(names);
        if (fabs(gsl_matrix_get(v, c, columns - 1)) < 0.2) continue;
        snprintf(names + n, sizeof names - n, "%s%.60s", n ? ", " : "", s->p->param[column[c]].key);
    }
    return ww_fail(s->error, WW_INPUT, names,
                   "the measured points do not tell these parameters apart: a change of one is made up by the "
                   "others; fit fewer of them, or measure traces that depend on them differently");
}

/* The condition number of the derivatives, each parameter's scaled to length 1. */
static enum ww_code told_apart(const struct search *s, unsigned mask, double *condition) {
    size_t column[WW_TIMING_PARAMS], columns = 0, n = s->p->points;
    double length[WW_TIMING_PARAMS] = {0};
    for (size_t k = 0; k < s->p->params; k++)
        if (mask >> k & 1) column[columns++] = k;
    *condition = 1;
    for (size_t c = 0; c < columns; c++) {
        const struct ww_timing_param *param = &s->p->param[column[c]];
        for (size_t i = 0; i < n; i++) length[c] += pow(s->slope[i * s->p->params + column[c]], 2);
        length[c] = sqrt(length[c]);
        if (length[c] * (param->high - param->low) < 1e-3)
            return ww_fail(
                s->error, WW_INPUT, param->key,
                "no measured point depends on it: over all of its range they change by less than 0.1 %%");
    }
    if (columns < 2) return WW_OK;
    gsl_matrix *u = gsl_matrix_alloc(n, columns), *v = gsl_matrix_alloc(columns, columns);
    gsl_vector *d = gsl_vector_alloc(columns), *work = gsl_vector_alloc(columns);
    enum ww_code code = u && v && d && work ? WW_OK : ww_fail_nomem(s->error, "a fit");
    if (code == WW_OK) {
        for (size_t i = 0; i < n; i++)
            for (size_t c = 0; c < columns; c++)
                gsl_matrix_set(u, i, c, s->slope[i * s->p->params + column[c]] / length[c]);
        gsl_linalg_SV_decomp(u, v, d, work);
        *condition = gsl_vector_get(d, 0) / fmax(gsl_vector_get(d, columns - 1), 1e-12);
        if (*condition > WW_TIMING_TOLD_APART) code = refuse(s, column, columns, v);
    }
    gsl_matrix_free(u);
    gsl_matrix_free(v);
    gsl_vector_free(d);
    gsl_vector_free(work);
    return code;
}

/* ---- the search ---- */

static double within(const struct ww_timing_param *param, double x) {
    if (param->whole) x = round(x);
    return x < param->low ? param->low : x > param->high ? param->high : x;
}

/* Solves with ever fewer parameters until none at a bound is to leave it. */
static enum ww_code bounded_step(const struct search *s, const double *x, double *step) {
    unsigned mask = (1u << s->p->params) - 1;
    for (bool again = true; again;) {
        again = false;
        WW_TRY(solve(s, mask, step, NULL));
        for (size_t k = 0; k < s->p->params; k++) {
            const struct ww_timing_param *p = &s->p->param[k];
            if (!(mask >> k & 1) || !((x[k] <= p->low && step[k] < 0) || (x[k] >= p->high && step[k] > 0)))
                continue;
            mask &= ~(1u << k);
            again = true;
        }
    }
    return WW_OK;
}

/* One step, halved until the squares fall; *moved: they did. */
static enum ww_code descend(struct search *s, double *x, double *sum, bool *moved) {
    double step[WW_TIMING_PARAMS], next[WW_TIMING_PARAMS];
    *moved = false;
    WW_TRY(derive(s, x));
    WW_TRY(bounded_step(s, x, step));
    for (double part = 1; part > 0.05 && !*moved; part /= 2) {
        double now;
        for (size_t k = 0; k < s->p->params; k++) next[k] = within(&s->p->param[k], x[k] + part * step[k]);
        WW_TRY(squares(s, next, &now));
        if (!(now < *sum * (1 - 1e-9))) continue;
        memcpy(x, next, s->p->params * sizeof *x);
        *sum = now;
        *moved = true;
    }
    return WW_OK;
}

/* One parameter a little up or down. */
static enum ww_code nudge(struct search *s, double *x, size_t k, double by, double *sum, bool *moved) {
    double was = x[k], now;
    x[k] = within(&s->p->param[k], was + by);
    if (x[k] == was) return WW_OK;
    WW_TRY(squares(s, x, &now));
    if (now < *sum * (1 - 1e-9)) {
        *sum = now;
        *moved = true;
    } else {
        x[k] = was;
    }
    return WW_OK;
}

static enum ww_code polish(struct search *s, double *x, double *sum) {
    for (double size = 4; size >= 1; size /= 2) {
        bool moved = true;
        for (int n = 0; moved && n < STEPS_MOST; n++) {
            moved = false;
            for (size_t k = 0; k < s->p->params; k++) {
                double unit = s->p->param[k].whole ? 1 : 0.001 * fabs(x[k]);
                WW_TRY(nudge(s, x, k, size * unit, sum, &moved));
                WW_TRY(nudge(s, x, k, -size * unit, sum, &moved));
            }
        }
    }
    return WW_OK;
}

static enum ww_code search(struct search *s, double *x) {
    double sum;
    bool moved = true;
    WW_TRY(squares(s, x, &sum));
    for (int n = 0; moved && n < STEPS_MOST; n++) WW_TRY(descend(s, x, &sum, &moved));
    return polish(s, x, &sum);
}

static enum ww_code leave_out(struct search *s, const double *x, double *mean) {
    double sum = 0;
    for (size_t i = 0; i < s->p->points; i++) {
        double own[WW_TIMING_PARAMS];
        memcpy(own, x, s->p->params * sizeof *x);
        s->without = i;
        WW_TRY(search(s, own));
        WW_TRY(s->p->model(s->p->context, own, s->estimate, s->error));
        sum += fabs(s->estimate[i] / s->p->measured[i] - 1);
    }
    s->without = NO_POINT;
    *mean = sum / (double)s->p->points;
    return WW_OK;
}

/* Derivatives, standard errors and condition number at the optimum. */
static enum ww_code judge(struct search *s, struct ww_timing_fit *fit) {
    double step[WW_TIMING_PARAMS], variance[WW_TIMING_PARAMS] = {0};
    unsigned mask = 0;
    for (size_t k = 0; k < s->p->params; k++) {
        fit->at_bound[k] = at_bound(&s->p->param[k], fit->x[k]);
        fit->error[k] = NAN;
        if (!fit->at_bound[k]) mask |= 1u << k;
    }
    WW_TRY(derive(s, fit->x));
    WW_TRY(told_apart(s, mask, &fit->condition));
    WW_TRY(solve(s, mask, step, variance));
    for (size_t k = 0; k < s->p->params; k++)
        if (mask >> k & 1) fit->error[k] = sqrt(variance[k]);
    return WW_OK;
}

static enum ww_code run(struct search *s, struct ww_timing_fit *fit) {
    for (size_t k = 0; k < s->p->params; k++) fit->x[k] = within(&s->p->param[k], s->p->param[k].start);
    WW_TRY(derive(s, fit->x));
    WW_TRY(told_apart(s, (1u << s->p->params) - 1, &fit->condition));
    WW_TRY(search(s, fit->x));
    WW_TRY(judge(s, fit));
    return leave_out(s, fit->x, &fit->left_out);
}

enum ww_code ww_timing_fit(const struct ww_timing_problem *p, struct ww_timing_fit *fit,
                           struct ww_error *error) {
    *fit = (struct ww_timing_fit){0};
    if (p->params == 0 || p->params > WW_TIMING_PARAMS || p->points <= p->params)
        return ww_fail(error, WW_USAGE, NULL,
                       "%zu measured points for %zu parameters; expected 1 to %d parameters and more points",
                       p->points, p->params, WW_TIMING_PARAMS);
    struct search s = {.p = p, .without = NO_POINT, .error = error};
    s.estimate = calloc(p->points, sizeof *s.estimate);
    s.residual = calloc(p->points, sizeof *s.residual);
    s.slope = calloc(p->points * p->params, sizeof *s.slope);
    enum ww_code code = s.estimate && s.residual && s.slope ? run(&s, fit) : ww_fail_nomem(error, "a fit");
    free(s.estimate);
    free(s.residual);
    free(s.slope);
    return code;
}
