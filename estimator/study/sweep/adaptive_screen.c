/* Screening: every candidate becomes a machine, an estimate by the analytical model, and a row of the scratch
 * database. */
#include "../../api/sweep.h"
#include "../../fast/model_error.h"
#include "adaptive.h"
#include <math.h>
#include <string.h>

/* Stands for a trace that the model cannot take: everything about it is learned. */
#define NO_MODEL_PS 1000000u
#define NO_MODEL_J 1e-6
#define NO_MODEL_SPREAD 2.0

static const char *join_settings(struct ww_arena *arena, const struct ww_sweep_machine *m) {
    const char *text = "";
    for (size_t i = 0; i < m->settings && text; i++)
        text = ww_arena_printf(arena, "%s%s%s=%s", text, i ? " " : "", m->key[i], m->value[i]);
    return text;
}

/* The model's results of one candidate; m->reason if there is a trace that it has no room for. Mechanisms that
 * the model does not know are taken for the default ones: what they change is learned. */
static enum ww_code estimate(struct adaptive *a, size_t i, struct ww_sweep_machine *m, struct ww_error *error) {
    for (size_t t = 0; t < a->traces; t++) {
        struct ww_db_sweep_result *r = &a->model[i * a->traces + t];
        struct ww_error inner = {.code = WW_OK};
        *r = (struct ww_db_sweep_result){.cycles = 1,
                                         .time_ps = NO_MODEL_PS,
                                         .energy_j = NO_MODEL_J,
                                         .energy_known = strcmp(a->job->power, "none") != 0};
        if (!a->has_model[t]) continue;
        enum ww_code code = ww_sweep_estimate(a->job, m, t, r, &inner);
        if (code != WW_OK && !ww_sweep_is_reason(code)) {
            *error = inner;
            return code;
        }
        if (code != WW_OK) snprintf(m->reason, sizeof m->reason, "%.900s", inner.text);
        if (code == WW_OK && r->time_ps == 0) r->time_ps = 1;
    }
    return WW_OK;
}

static enum ww_code screen_one(struct adaptive *a, size_t i, struct ww_sweep_machine *m,
                               struct ww_error *error) {
    struct sweep_job *job = a->job;
    struct ww_arena *arena = &job->space.arena;
    if (!m->reason[0]) WW_TRY(estimate(a, i, m, error));
    if (m->reason[0]) {
        struct ww_db_sweep_point p = ww_sweep_machine_row(m, i);
        if (!a->reason) a->reason = ww_arena_strdup(arena, m->reason);
        return ww_db_sweep_store(job->db, &job->head, &p, error);
    }
    a->state[i] = ADAPTIVE_MODEL;
    a->valid++;
    a->config[i] = ww_arena_strdup(arena, m->config);
    a->scratch_config[i] = ww_arena_printf(arena, "%zu", i);
    a->settings[i] = join_settings(arena, m);
    if (!a->config[i] || !a->scratch_config[i] || !a->settings[i]) return ww_fail_nomem(error, "candidates");
    struct ww_db_sweep_point p = ww_sweep_machine_row(m, i);
    p.config = a->scratch_config[i];
    p.result = &a->model[i * a->traces];
    return ww_db_scratch_put(a->scratch, &a->head, &p, error);
}

static bool goes_on(const struct adaptive *a, size_t i) {
    const struct ww_sweep_options *o = a->job->options;
    char of[48];
    snprintf(of, sizeof of, "of %zu candidates", a->n);
    return !o->progress || o->progress(o->context, (double)i / (double)a->n, i, of);
}

static enum ww_code screen_all(struct adaptive *a, struct ww_error *error) {
    const struct sweep_job *job = a->job;
    enum ww_code code = WW_OK;
    for (size_t i = 0; i < a->n && code == WW_OK; i++) {
        struct ww_sweep_machine m;
        const uint16_t *level = job->plan.level + i * job->space.param_count;
        if (!goes_on(a, i)) return ww_fail(error, WW_FAIL, job->space.file, "stopped");
        code = ww_sweep_machine(&job->space, level, job->power, &m, error);
        if (code == WW_OK) code = screen_one(a, i, &m, error);
        ww_sweep_machine_free(&m);
    }
    return code;
}

enum ww_code ww_adaptive_screen(struct adaptive *a, struct ww_error *error) {
    struct ww_model_error known;
    ww_model_error_of(NULL, 0.6827, &known);
    a->prior[0] = fmax(0.02, log(known.cycles_high / known.cycles_low) / 2);
    a->prior[1] = fmax(0.02, log(known.energy_high / known.energy_low) / 2);
    for (size_t t = 0; t < a->traces; t++) {
        a->has_model[t] = ww_sweep_has_model(a->job, t);
        if (!a->has_model[t]) a->prior[0] = a->prior[1] = NO_MODEL_SPREAD;
    }
    ww_gp_inputs(&a->job->space, a->job->plan.level, a->n, a->inputs, a->input, a->category);
    WW_TRY(ww_db_sweep_begin(a->scratch, &a->head, error));
    WW_TRY(ww_db_scratch_begin(a->scratch, error));
    return ww_db_scratch_end(a->scratch, screen_all(a, error), error);
}

/* Whether an objective has a value at any candidate. */
static bool has_value(const struct adaptive *a, size_t objective) {
    for (size_t i = 0; i < a->n; i++)
        if (a->state[i] != ADAPTIVE_OUT && isfinite(a->cost[i * a->objectives + objective])) return true;
    return false;
}

void ww_adaptive_say_why(const struct adaptive *a, char *text, size_t size) {
    const struct ww_sweep_space *s = &a->job->space;
    bool possible = false;
    for (size_t i = 0; i < a->n; i++) possible = possible || (a->state[i] != ADAPTIVE_OUT && a->possible[i]);
    if (a->valid == 0) {
        snprintf(text, size, "no candidate can be; the first: %s", a->reason ? a->reason : "");
        return;
    }
    if (!possible && s->constraint_count) {
        snprintf(text, size, "no candidate holds all constraints by its estimate (%.200s%s)", s->constraint[0],
                 s->constraint_count > 1 ? ", ..." : "");
        return;
    }
    for (size_t k = 0; k < a->objectives; k++)
        if (!has_value(a, k)) {
            snprintf(text, size, "the objective \"%.60s\" (%.200s) is not a finite number at any candidate",
                     s->objective[k].name, s->objective[k].sql);
            return;
        }
    snprintf(text, size, "no candidate has a finite number as each objective and may hold the constraints");
}
