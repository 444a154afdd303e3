/* Estimates compared with measurements: the rows of a correlation. */
#include "../../api/gpu.h"
#include "../../api/run.h"
#include "../../api/hardware.h"
#include "../../result/result.h"
#include "../../result/measured.h"
#include "../../base/locale.h"
#include "correlate.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

double ww_correlation_error(const struct ww_correlation_row *row) {
    return (row->estimate - row->measured) / row->measured;
}

/* ---- which points ---- */

static bool wanted(const struct ww_correlate_options *o, const struct ww_measured_point *p) {
    bool named = o->workload_count == 0;
    for (size_t i = 0; i < o->workload_count; i++) named |= strcmp(o->workloads[i], p->workload) == 0;
    return named && (!o->metric || strcmp(o->metric, ww_metric_name(p->metric)) == 0);
}

static bool same_run(const struct ww_measured_point *a, const struct ww_measured_point *b) {
    return strcmp(a->workload, b->workload) == 0 && strcmp(a->parameters, b->parameters) == 0 &&
           a->seed == b->seed;
}

/* The row that a point adds to, or a new one. Power does not add up, and neither do points of whole runs. */
static struct ww_correlation_row *row_of(struct ww_correlation *c, const struct ww_correlate_options *o,
                                         const struct ww_measured_point *p) {
    bool adds = !o->launches && p->metric != WW_METRIC_POWER && p->launch != WW_ALL_LAUNCHES && p->kernel[0];
    for (size_t i = 0; adds && i < c->row_count; i++) {
        struct ww_correlation_row *r = &c->row[i];
        if (r->launches && r->metric == p->metric && strcmp(r->workload, p->workload) == 0 &&
            strcmp(r->parameters, p->parameters) == 0 && strcmp(r->kernel, p->kernel) == 0)
            return r;
    }
    struct ww_correlation_row *r = &c->row[c->row_count++];
    *r = (struct ww_correlation_row){.workload = p->workload,
                                     .parameters = p->parameters,
                                     .kernel = p->kernel,
                                     .launch = p->launch,
                                     .metric = p->metric,
                                     .verified = true};
    return r;
}

static enum ww_code add_point(struct ww_correlation *c, const struct ww_correlate_options *o,
                              const struct ww_result *result, const struct ww_measured_point *p,
                              struct ww_error *error) {
    double estimate;
    WW_TRY(ww_estimate_of(result, p, &estimate, error));
    struct ww_correlation_row *r = row_of(c, o, p);
    r->measured += p->value;
    r->low += p->low;
    r->high += p->high;
    r->estimate += estimate;
    r->verified &= p->verified;
    if (p->launch != WW_ALL_LAUNCHES) {
        if (r->launches++) r->launch = WW_ALL_LAUNCHES;
    }
    return WW_OK;
}

/* One workload: all its points, from the first on. */
static enum ww_code add_run(struct ww_correlation *c, const struct ww_correlate_options *o,
                            const struct ww_gpu *gpu, const char *dir, size_t first, struct ww_error *error) {
    const struct ww_measured *m = o->measured;
    struct ww_result *result;
    WW_TRY(ww_estimate_run(o, gpu, dir, &m->point[first], &result, error));
    enum ww_code code = WW_OK;
    for (size_t i = first; i < m->point_count && code == WW_OK; i++)
        if (wanted(o, &m->point[i]) && same_run(&m->point[i], &m->point[first]))
            code = add_point(c, o, result, &m->point[i], error);
    ww_result_free(result);
    return code;
}

static bool is_first(const struct ww_correlate_options *o, size_t at) {
    const struct ww_measured *m = o->measured;
    if (!wanted(o, &m->point[at])) return false;
    for (size_t i = 0; i < at; i++)
        if (wanted(o, &m->point[i]) && same_run(&m->point[i], &m->point[at])) return false;
    return true;
}

static enum ww_code add_all(struct ww_correlation *c, const struct ww_correlate_options *o,
                            const struct ww_gpu *gpu, const char *dir, struct ww_error *error) {
    for (size_t i = 0; i < o->measured->point_count; i++)
        if (is_first(o, i)) WW_TRY(add_run(c, o, gpu, dir, i, error));
    if (c->row_count) return WW_OK;
    return ww_fail(error, WW_USAGE, o->measured->source,
                   "holds no measured launch of the workloads and metric that were asked for");
}

/* ---- agreement ---- */

static enum ww_code agree(struct ww_correlation *c, struct ww_error *error) {
    double *measured = calloc(c->row_count, sizeof *measured);
    double *estimate = calloc(c->row_count, sizeof *estimate);
    enum ww_code code = measured && estimate ? WW_OK : ww_fail_nomem(error, "a correlation");
    for (int metric = 0; metric < WW_METRIC_COUNT && code == WW_OK; metric++) {
        size_t n = 0;
        for (size_t i = 0; i < c->row_count; i++) {
            if (c->row[i].metric != (enum ww_metric)metric || !c->row[i].verified) continue;
            measured[n] = c->row[i].measured;
            estimate[n++] = c->row[i].estimate;
        }
        code = ww_agreement_of(measured, estimate, n, &c->agreement[metric], error);
    }
    for (size_t i = 0; i < c->row_count; i++) c->unverified += !c->row[i].verified;
    free(measured);
    free(estimate);
    return code;
}

static enum ww_code with_folder(struct ww_correlation *c, const struct ww_correlate_options *o,
                                const struct ww_gpu *gpu, struct ww_error *error) {
    struct ww_temp folder;
    WW_TRY(ww_estimate_folder(o->traces, &folder, error));
    enum ww_code code = add_all(c, o, gpu, folder.path, error);
    ww_estimate_folder_done(o->traces, &folder);
    return code;
}

static enum ww_code prepare(struct ww_correlation *c, const struct ww_correlate_options *o,
                            struct ww_error *error) {
    const struct ww_measured *m = o->measured;
    bool known = !o->metric;
    for (int i = 0; i < WW_METRIC_COUNT && o->metric; i++)
        known |= strcmp(o->metric, ww_metric_name((enum ww_metric)i)) == 0;
    if (!known)
        return ww_fail(error, WW_USAGE, "metric", "\"%.40s\": expected time_s, cycles, power_w or energy_j",
                       o->metric);
    ww_arena_init(&c->arena, 0);
    c->measured_gpu = ww_arena_strdup(&c->arena, m->gpu);
    c->measured_source = ww_arena_strdup(&c->arena, m->source);
    c->gpu = ww_arena_strdup(&c->arena, o->gpu);
    c->quick = m->quick;
    c->row = ww_arena_array(&c->arena, m->point_count + 1, sizeof *c->row);
    return c->measured_gpu && c->measured_source && c->gpu && c->row ? WW_OK
                                                                     : ww_fail_nomem(error, "a correlation");
}

/* The model with its overrides, and with the clocks of clock_control as two more. */
static enum ww_code load_gpu(const struct ww_correlate_options *o, struct ww_gpu **gpu,
                             struct ww_error *error) {
    double sm_mhz, l2_mhz;
    char clock[2][64];
    WW_TRY(ww_gpu_load(o->gpu, o->overrides, o->override_count, gpu, error));
    if (!o->clock_control) return WW_OK;
    WW_TRY(ww_gpu_clock_control(*gpu, o->clock_control, &sm_mhz, &l2_mhz, error));
    const char **all = calloc(o->override_count + 2, sizeof *all);
    if (!all) return ww_fail_nomem(error, "a correlation");
    for (size_t i = 0; i < o->override_count; i++) all[i] = o->overrides[i];
    snprintf(clock[0], sizeof clock[0], "clock.sm_mhz=%.10g", sm_mhz);
    snprintf(clock[1], sizeof clock[1], "clock.l2_mhz=%.10g", l2_mhz);
    all[o->override_count] = clock[0];
    all[o->override_count + 1] = clock[1];
    ww_gpu_free(*gpu);
    *gpu = NULL;
    enum ww_code code = ww_gpu_load(o->gpu, all, o->override_count + 2, gpu, error);
    free(all);
    return code;
}

enum ww_code ww_correlate(const struct ww_correlate_options *o, struct ww_correlation **out,
                          struct ww_error *error) {
    WW_PLAIN_LOCALE;
    struct ww_gpu *gpu = NULL;
    struct ww_correlation *c = calloc(1, sizeof *c);
    *out = NULL;
    if (!c) return ww_fail_nomem(error, "a correlation");
    enum ww_code code = prepare(c, o, error);
    if (code == WW_OK) code = load_gpu(o, &gpu, error);
    if (code == WW_OK) code = with_folder(c, o, gpu, error);
    if (code == WW_OK) code = agree(c, error);
    ww_gpu_free(gpu);
    if (code == WW_OK)
        *out = c;
    else
        ww_correlation_free(c);
    return code;
}

void ww_correlation_free(struct ww_correlation *c) {
    if (!c) return;
    ww_arena_free(&c->arena);
    free(c);
}
