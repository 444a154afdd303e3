/* Estimates, from the replays, of the candidates that were not replayed. */
#include "adaptive.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

static double quantity(const struct ww_db_sweep_result *r, int energy) {
    return energy ? r->energy_j : (double)r->time_ps;
}

static double ratio(const struct adaptive *a, size_t i, size_t trace, int energy) {
    const struct ww_db_sweep_result *model = &a->model[i * a->traces + trace],
                                    *known = &a->known[i * a->traces + trace];
    double m = quantity(model, energy), k = quantity(known, energy);
    return m > 0 && k > 0 ? log(k / m) : 0;
}

/* The model's own value is an input too: where it is off depends on what limits the machine. */
static void code_model(struct adaptive *a, size_t trace, int energy) {
    double low = INFINITY, high = -INFINITY;
    for (int pass = 0; pass < 2; pass++)
        for (size_t i = 0; i < a->n; i++) {
            if (a->state[i] == ADAPTIVE_OUT) continue;
            double v = log(fmax(quantity(&a->model[i * a->traces + trace], energy), 1e-300));
            low = fmin(low, v);
            high = fmax(high, v);
            if (pass) a->input[(i + 1) * a->inputs - 1] = high > low ? (v - low) / (high - low) : 0;
        }
}

/* What a regression learns from: the latest replays, if there are more than it can take. */
struct lesson {
    double *x, y[WW_GP_POINTS], noise[WW_GP_POINTS];
    size_t n;
};

static void gather(const struct adaptive *a, size_t trace, int energy, struct lesson *l) {
    l->n = 0;
    for (uint32_t r = a->rounds + 1; r-- > 0 && l->n < WW_GP_POINTS;)
        for (size_t i = 0; i < a->n && l->n < WW_GP_POINTS; i++) {
            if (a->state[i] < ADAPTIVE_SAMPLED || a->round[i] != r) continue;
            double e = a->error[(i * a->traces + trace) * 2 + (size_t)energy] / a->prior[energy];
            memcpy(l->x + l->n * a->inputs, a->input + i * a->inputs, a->inputs * sizeof *l->x);
            l->y[l->n] = ratio(a, i, trace, energy);
            l->noise[l->n++] = e * e;
        }
}

static enum ww_code learn_one(struct adaptive *a, size_t trace, int energy, struct lesson *l,
                              struct ww_error *error) {
    struct ww_gp gp;
    code_model(a, trace, energy);
    gather(a, trace, energy, l);
    if (!ww_gp_fit(&gp, l->x, l->y, l->noise, l->n, a->inputs, a->category, a->prior[energy])) {
        ww_gp_free(&gp);
        return ww_fail_nomem(error, "a regression");
    }
    for (size_t i = 0; i < a->n; i++) {
        size_t at = (i * a->traces + trace) * 2 + (size_t)energy;
        double mean = 0, deviation = 0;
        if (a->state[i] == ADAPTIVE_OUT) continue;
        if (a->state[i] == ADAPTIVE_FULL)
            mean = ratio(a, i, trace, energy);
        else
            ww_gp_at(&gp, a->input + i * a->inputs, &mean, &deviation);
        a->shift[at] = (float)mean;
        a->spread[at] = (float)deviation;
    }
    ww_gp_free(&gp);
    return WW_OK;
}

/* Results at a corner: `time` and `energy` are standard deviations. A replayed point has no corners. */
static void guess(struct adaptive *a, double time, double energy) {
    for (size_t k = 0; k < a->n * a->traces; k++) {
        if (a->state[k / a->traces] == ADAPTIVE_FULL) {
            a->guess[k] = a->known[k];
            continue;
        }
        const struct ww_db_sweep_result *m = &a->model[k];
        double by = exp(a->shift[2 * k] + time * a->spread[2 * k]);
        a->guess[k] = *m;
        a->guess[k].time_ps = (uint64_t)fmin(1e18, (double)m->time_ps * by);
        a->guess[k].cycles = (uint64_t)fmin(1e18, (double)m->cycles * by);
        a->guess[k].energy_j = m->energy_j * exp(a->shift[2 * k + 1] + energy * a->spread[2 * k + 1]);
    }
}

/* Joins what a corner says to what is known: a cost's least and greatest value, constraints that may hold. */
static void join(struct adaptive *a, int corner, const double *value, const bool *holds) {
    for (size_t i = 0; i < a->n; i++) {
        if (corner == 0) a->likely[i] = a->possible[i] = holds[i];
        a->possible[i] = a->possible[i] || holds[i];
        for (size_t k = i * a->objectives; k < (i + 1) * a->objectives; k++) {
            if (corner == 0) a->cost[k] = a->low[k] = a->high[k] = value[k];
            a->low[k] = fmin(a->low[k], value[k]);
            a->high[k] = fmax(a->high[k], value[k]);
        }
    }
}

static enum ww_code judge(struct adaptive *a, struct ww_error *error) {
    static const double corner[WW_ADAPTIVE_CORNERS][2] = {{0, 0}, {-1, -1}, {1, 1}, {-1, 1}, {1, -1}};
    double *value = calloc(a->n * a->objectives, sizeof *value);
    bool *holds = calloc(a->n, sizeof *holds);
    enum ww_code code = value && holds ? WW_OK : ww_fail_nomem(error, "estimates");
    for (int c = 0; c < WW_ADAPTIVE_CORNERS && code == WW_OK; c++) {
        guess(a, corner[c][0], corner[c][1]);
        code = ww_db_scratch_guess(a->scratch, &a->head, a->scratch_config, a->guess, error);
        if (code == WW_OK) code = ww_db_scratch_judge(a->scratch, &a->head, value, holds, error);
        if (code == WW_OK) join(a, c, value, holds);
    }
    free(value);
    free(holds);
    return code;
}

enum ww_code ww_adaptive_learn(struct adaptive *a, struct ww_error *error) {
    struct lesson *l = calloc(1, sizeof *l);
    enum ww_code code = WW_OK;
    if (l) l->x = calloc(WW_GP_POINTS * a->inputs, sizeof *l->x);
    if (!l || !l->x) code = ww_fail_nomem(error, "a regression");
    for (size_t t = 0; t < a->traces && code == WW_OK; t++)
        for (int energy = 0; energy < 2 && code == WW_OK; energy++)
            if (!energy || strcmp(a->job->power, "none") != 0) code = learn_one(a, t, energy, l, error);
    if (l) free(l->x);
    free(l);
    return code == WW_OK ? judge(a, error) : code;
}
