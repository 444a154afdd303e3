/* How objectives depend on parameters: least squares over coded levels. A parameter of numbers is one column
 * from -1 (its least level) to 1 (its greatest), one of texts a column for each level but the last, which is -1
 * in all of them. A pair's columns are the products of both. */
#include "../../base/lsq.h"
#include "job.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Multiplications of all fits, at most: pairs are left out where they would take minutes. */
#define WORK_MOST 5e9
#define SINGULAR 1e-9
#define FREEDOM 2 /* more points than columns, at least: with fewer, the error of a fit has no meaning */

/* The columns that belong to a term. */
struct term {
    size_t a, b, first, count;
};

struct fit {
    const struct ww_sweep_space *space;
    const struct ww_sweep_plan *plan;
    const size_t *row;
    const double *value;
    size_t values;
    size_t first[WW_SWEEP_PARAMS], width[WW_SWEEP_PARAMS], mains; /* columns of main effects, by parameter */
    double *code;                                                 /* [value][main column] */
    struct term *term;
    size_t terms, columns;
};

static size_t level_of(const struct fit *f, size_t i, size_t param) {
    return f->plan->level[f->row[i] * f->space->param_count + param];
}

/* What of a parameter is met at points that have a value: the number of its levels, numbers or not, from where
 * to where. place[level] becomes its place among those that are met. */
struct met {
    size_t count;
    bool numbers;
    double low, high;
};

static struct met look(const struct fit *f, size_t param, uint16_t place[WW_SWEEP_LEVELS]) {
    struct met m = {0, true, INFINITY, -INFINITY};
    memset(place, 0, f->space->param[param].count * sizeof *place);
    for (size_t i = 0; i < f->values; i++) place[level_of(f, i, param)] = 1;
    for (size_t k = 0; k < f->space->param[param].count; k++) {
        const struct ww_sweep_level *l = &f->space->param[param].level[k];
        if (!place[k]) continue;
        place[k] = (uint16_t)m.count++;
        m.numbers = m.numbers && l->number;
        m.low = fmin(m.low, l->value);
        m.high = fmax(m.high, l->value);
    }
    return m;
}

/* Fills the columns of one parameter, or with code NULL only counts them. */
static void code_param(struct fit *f, size_t param) {
    uint16_t place[WW_SWEEP_LEVELS];
    struct met m = look(f, param, place);
    /* what moves together with another parameter is not told apart from it */
    f->width[param] = m.count < 2 || f->space->param[param].follows ? 0 : m.numbers ? 1 : m.count - 1;
    for (size_t i = 0; f->code && i < f->values; i++) {
        size_t level = level_of(f, i, param);
        double *out = f->code + i * f->mains + f->first[param], v = f->space->param[param].level[level].value;
        for (size_t c = 0; c < f->width[param]; c++)
            out[c] = m.numbers                      ? 2 * (v - m.low) / (m.high - m.low) - 1
                     : place[level] == c            ? 1
                     : place[level] + 1u == m.count ? -1
                                                    : 0;
    }
}

static bool code_all(struct fit *f) {
    for (size_t p = 0; p < f->space->param_count; p++) {
        code_param(f, p);
        f->first[p] = f->mains;
        f->mains += f->width[p];
    }
    f->code = calloc(f->values * f->mains + 1, sizeof *f->code);
    for (size_t p = 0; f->code && p < f->space->param_count; p++) code_param(f, p);
    return f->code != NULL;
}

/* One row of a term's columns. */
static double coded(const struct fit *f, size_t i, const struct term *t, size_t column) {
    const double *code = f->code + i * f->mains;
    if (t->a == t->b) return code[f->first[t->a] + column];
    size_t w = f->width[t->b];
    return code[f->first[t->a] + column / w] * code[f->first[t->b] + column % w];
}

static void add_term(struct fit *f, size_t a, size_t b) {
    size_t n = f->width[a] * (a == b ? 1 : f->width[b]);
    if (!n) return;
    f->term[f->terms++] = (struct term){a, b, f->columns, n};
    f->columns += n;
}

/* Main effects, then pairs; column 0 is the mean. False: too few points for the columns, or more columns than
 * can be fitted in good time. */
static bool choose(struct fit *f, bool pairs) {
    size_t n = f->space->param_count;
    f->terms = 0;
    f->columns = 1;
    for (size_t a = 0; a < n; a++) add_term(f, a, a);
    for (size_t a = 0; a < n && pairs; a++)
        for (size_t b = a + 1; b < n; b++) add_term(f, a, b);
    double work = (double)f->terms * (double)f->values * (double)f->columns * (double)f->columns;
    return f->columns + FREEDOM <= f->values && f->terms && work <= WORK_MOST;
}

/* The sum of squares that a fit without term `without` leaves; terms: none is left out. *rank: the columns that
 * the points can tell apart. */
static bool solve(const struct fit *f, size_t without, struct ww_lsq *l, double *left, size_t *rank) {
    size_t gone = without < f->terms ? f->term[without].count : 0;
    if (!ww_lsq_new(l, f->values, f->columns - gone)) return false;
    for (size_t i = 0; i < f->values; i++) {
        size_t at = 0;
        gsl_vector_set(l->y, i, f->value[i]);
        gsl_matrix_set(l->x, i, at++, 1);
        for (size_t t = 0; t < f->terms; t++)
            for (size_t c = 0; c < f->term[t].count && t != without; c++)
                gsl_matrix_set(l->x, i, at++, coded(f, i, &f->term[t], c));
    }
    return gsl_multifit_linear_tsvd(l->x, l->y, SINGULAR, l->c, l->cov, left, rank, l->work) == 0;
}

static double spread(const struct fit *f) {
    double mean = 0, all = 0;
    for (size_t i = 0; i < f->values; i++) mean += f->value[i] / (double)f->values;
    for (size_t i = 0; i < f->values; i++) all += (f->value[i] - mean) * (f->value[i] - mean);
    return all;
}

static bool fit_term(const struct fit *f, const struct ww_lsq *whole, size_t t, double left, double all,
                     struct ww_sweep_effect *e) {
    const struct term *m = &f->term[t];
    struct ww_lsq l = {0};
    double without = 0;
    size_t rank;
    bool good = solve(f, t, &l, &without, &rank);
    ww_lsq_free(&l);
    *e = (struct ww_sweep_effect){.a = m->a, .b = m->b, .slope = m->count == 1};
    e->share = all > 0 ? fmax(0, (without - left) / all) : 0;
    if (e->slope) {
        e->effect = 2 * gsl_vector_get(whole->c, m->first);
        e->error = 2 * sqrt(fmax(0, gsl_matrix_get(whole->cov, m->first, m->first)));
    }
    return good;
}

/* No effects where columns are combinations of each other at these points: what belongs to which is then
 * unknown, though a fit of least norm would share it out. */
static bool fit_all(const struct fit *f, struct ww_sweep_effect *effect, size_t *count) {
    struct ww_lsq whole = {0};
    double left = 0, all = spread(f);
    size_t rank = 0;
    bool good = solve(f, f->terms, &whole, &left, &rank);
    for (size_t t = 0; t < f->terms && good && rank == f->columns; t++)
        good = fit_term(f, &whole, t, left, all, &effect[(*count)++]);
    ww_lsq_free(&whole);
    return good;
}

enum ww_code ww_sweep_effects(const struct ww_sweep_space *space, const struct ww_sweep_plan *plan,
                              const size_t *row, const double *value, size_t values,
                              struct ww_sweep_effect *effect, size_t *count, struct ww_error *error) {
    struct fit f = {.space = space, .plan = plan, .row = row, .value = value, .values = values};
    *count = 0;
    f.term = calloc(space->param_count * (space->param_count + 1) / 2, sizeof *f.term);
    bool good = f.term && code_all(&f);
    if (good && choose(&f, true)) good = fit_all(&f, effect, count);
    if (good && *count == 0 && choose(&f, false)) good = fit_all(&f, effect, count);
    free(f.term);
    free(f.code);
    return good ? WW_OK : ww_fail_nomem(error, "the effects of parameters");
}

/* ---- all objectives ---- */

static enum ww_code fit_objective(struct sweep_job *job, size_t objective, size_t *row, double *value,
                                  struct ww_sweep_effect *effect, struct ww_db_sweep_effect *stored,
                                  struct ww_error *error) {
    const struct ww_sweep_param *p = job->space.param;
    size_t values, count;
    WW_TRY(ww_db_sweep_values(job->db, &job->head, objective, row, value, &values, error));
    WW_TRY(ww_sweep_effects(&job->space, &job->plan, row, value, values, effect, &count, error));
    for (size_t i = 0; i < count; i++)
        stored[i] = (struct ww_db_sweep_effect){
            p[effect[i].a].key, effect[i].a == effect[i].b ? "" : p[effect[i].b].key,
            effect[i].effect,   effect[i].error,
            effect[i].share,    effect[i].slope};
    return ww_db_sweep_effects(job->db, &job->head, objective, stored, count, error);
}

enum ww_code ww_sweep_fit(struct sweep_job *job, struct ww_error *error) {
    size_t terms = job->space.param_count * (job->space.param_count + 1) / 2;
    size_t *row = calloc(job->plan.count, sizeof *row);
    double *value = calloc(job->plan.count, sizeof *value);
    struct ww_sweep_effect *effect = calloc(terms, sizeof *effect);
    struct ww_db_sweep_effect *stored = calloc(terms, sizeof *stored);
    bool room = row && value && effect && stored;
    enum ww_code code = room ? WW_OK : ww_fail_nomem(error, "the effects of parameters");
    for (size_t i = 0; i < job->head.objective_count && code == WW_OK; i++)
        code = fit_objective(job, i, row, value, effect, stored, error);
    free(row);
    free(value);
    free(effect);
    free(stored);
    return code;
}
