/* Fitting the analytical model's constants to replays, also with one application left out. */
#include "../../../api/validate.h"
#include "../../../result/result.h"
#include "../../../core/time/launch_time.h"
#include "analytic_int.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- one case ---- */

static double joules(const struct analytic_case *c, const struct ww_model_result *m) {
    struct ww_launch_result l;
    struct ww_energy e;
    memset(&l, 0, sizeof l);
    for (int i = 0; i < WW_COUNTER_COUNT; i++) l.counter[i] = (uint64_t)llround(m->events[i]);
    l.cycles = (uint64_t)llround(m->cycles);
    struct ww_launch_time time;
    ww_launch_time_begin(&time, c->spec, c->model->count > 1);
    l.time_ps = ww_launch_ps(&time, c->spec, m->cycles);
    ww_power_launch(c->power, c->spec, &l, &e);
    return e.total_j;
}

enum ww_code ww_analytic_estimate(const struct analytic_case *c, const struct ww_model_constants *constants,
                                  double *cycles, double *energy, struct ww_error *error) {
    double sum = 0, sum_j = 0;
    for (size_t i = 0; i < c->model->count; i++) {
        const struct ww_model_kernel *k = &c->model->kernel[i];
        struct ww_model_result m;
        WW_TRY(ww_model_launch(k, c->spec, constants, &m, error));
        sum += k->times * m.cycles;
        if (energy && c->power) sum_j += k->times * joules(c, &m);
    }
    *cycles = sum;
    if (energy) *energy = c->power ? sum_j : NAN;
    return WW_OK;
}

/* ---- fitting ---- */

static double *constant_at(struct ww_model_constants *c, size_t i) {
    return (double *)(void *)((char *)c + ww_model_constant[i].offset);
}

/* Mean over applications of the mean |log(model / full)| of their cases. */
static double loss(const struct analytic_cases *cases, unsigned without, const struct ww_model_constants *k) {
    double sum = 0, of_one = 0;
    unsigned applications = 0, n = 0;
    for (size_t i = 0; i < cases->count; i++) { /* cases of an application stand together */
        const struct analytic_case *c = &cases->row[i];
        double cycles;
        bool last = i + 1 == cases->count || cases->row[i + 1].number != c->number;
        if (c->number != without && ww_analytic_estimate(c, k, &cycles, NULL, NULL) == WW_OK && cycles > 0) {
            of_one += fabs(log(cycles / c->cycles));
            n++;
        }
        if (!last) continue;
        if (n) sum += of_one / n;
        applications += n > 0;
        of_one = 0;
        n = 0;
    }
    return applications ? sum / applications : 0;
}

static double clamp(double v, const struct ww_model_constant *c) {
    return v < c->least ? c->least : v > c->most ? c->most : v;
}

/* One constant a step up or down, whichever is better; false: neither is. */
static bool try_step(const struct analytic_cases *cases, unsigned without, struct ww_model_constants *k,
                     size_t i, double step, double *least) {
    double *v = constant_at(k, i), before = *v;
    for (int way = -1; way <= 1; way += 2) {
        *v = clamp(before + way * step * (ww_model_constant[i].most - ww_model_constant[i].least),
                   &ww_model_constant[i]);
        double l = *v == before ? *least : loss(cases, without, k);
        if (l < *least - 1e-9) {
            *least = l;
            return true;
        }
    }
    *v = before;
    return false;
}

void ww_analytic_fit(const struct analytic_cases *cases, unsigned without,
                     struct ww_model_constants *constants) {
    double least = loss(cases, without, constants);
    for (double step = 0.08; step > 0.004; step /= 2)
        for (int again = 0, better = 1; better && again < 6; again++) {
            better = 0;
            for (size_t i = 0; i < ww_model_constant_count; i++)
                better |= try_step(cases, without, constants, i, step, &least);
        }
}

enum ww_code ww_analytic_leave_out(struct analytic_cases *cases, const struct ww_validate_options *options,
                                   struct ww_error *error) {
    struct ww_model_constants all = ww_model_start;
    ww_analytic_fit(cases, UINT32_MAX, &all);
    for (unsigned a = 0; a < cases->applications; a++) {
        struct ww_model_constants k = all;
        WW_TRY(ww_validate_step(options, a, cases->applications, error));
        if (cases->applications > 1) {
            k = ww_model_start;
            ww_analytic_fit(cases, a, &k);
        }
        for (size_t i = 0; i < cases->count; i++) {
            struct analytic_case *c = &cases->row[i];
            if (c->number == a) WW_TRY(ww_analytic_estimate(c, &k, &c->own_cycles, &c->own_energy, error));
        }
    }
    return WW_OK;
}
