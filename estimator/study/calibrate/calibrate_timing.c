/* GPU parameters fitted to measured times, and the GPU file that is written with them. */
#include "../../api/gpu.h"
#include "../../api/run.h"
#include "../../api/calibrate.h"
#include "../../api/hardware.h"
#include "../../result/result.h"
#include "../../result/measured.h"
#include "../../base/locale.h"
#include "../../base/jsonw.h"
#include "../../base/outfile.h"
#include "../../base/escape.h"
#include "../../config/gpu.h"
#include "../hardware/correlate.h"
#include "timing_fit.h"
#include <stdlib.h>
#include <string.h>

#define POINTS_MOST 1000

/* Estimates at parameters that were looked at before. */
struct seen {
    double x[WW_TIMING_PARAMS];
    double *estimate;
};

struct calibration {
    const struct ww_calibrate_timing_options *o;
    struct ww_correlate_options estimate;
    struct ww_temp folder; /* of recordings */
    const char *dir;
    struct ww_timing_param param[WW_TIMING_PARAMS];
    char key[WW_TIMING_PARAMS][64];
    size_t params;
    struct ww_measured *measured;
    const struct ww_measured_point *point[POINTS_MOST]; /* those of times, first those that are fitted to */
    double value[POINTS_MOST];
    size_t fitted, points;
    struct seen *seen;
    size_t seen_count, seen_room, runs;
    struct ww_arena arena;
};

/* ---- what is fitted ---- */

/* "LOW:HIGH"; false: it is something else. */
static bool two_numbers(const char *text, double *low, double *high) {
    char *end;
    *low = strtod(text, &end);
    if (end == text || *end != ':') return false;
    const char *second = end + 1;
    *high = strtod(second, &end);
    return end != second && !*end && isfinite(*low) && isfinite(*high);
}

static double value_of(const struct ww_gpu *gpu, const struct ww_param *row) {
    const char *at = (const char *)&gpu->spec + row->offset;
    return row->type == WW_F64 ? *(const double *)(const void *)at : *(const uint32_t *)(const void *)at;
}

/* Bounds that are not given are a quarter and four times the GPU's value, within the parameter's own. */
static enum ww_code read_bounds(const char *text, const char *bounds, const struct ww_param *row,
                                struct ww_timing_param *p, struct ww_error *error) {
    p->low = fmax(row->min, p->start / 4);
    p->high = fmin(row->max, p->start * 4);
    if (p->whole) p->low = ceil(p->low);
    if (bounds && !two_numbers(bounds + 1, &p->low, &p->high))
        return ww_fail(error, WW_USAGE, "--fit", "\"%.80s\": expected KEY or KEY=LOW:HIGH", text);
    if (p->low < row->min || p->high > row->max || !(p->low < p->high))
        return ww_fail(error, WW_USAGE, "--fit",
                       "\"%.80s\": expected bounds LOW:HIGH, LOW below HIGH, within %g to %g", text, row->min,
                       row->max);
    if (p->start < p->low || p->start > p->high) p->start = (p->low + p->high) / 2;
    return WW_OK;
}

static enum ww_code read_fit(struct calibration *k, const struct ww_gpu *gpu, const char *text,
                             struct ww_error *error) {
    if (k->params == WW_TIMING_PARAMS)
        return ww_fail(error, WW_USAGE, "--fit", "more than %d parameters", WW_TIMING_PARAMS);
    struct ww_timing_param *p = &k->param[k->params];
    const char *bounds = strchr(text, '=');
    snprintf(k->key[k->params], sizeof k->key[0], "%.*s", (int)(bounds ? bounds - text : 60), text);
    int row = ww_param_find(ww_gpu_rows, ww_gpu_row_count, k->key[k->params]);
    bool numeric = row >= 0 && (ww_gpu_rows[row].type == WW_U32 || ww_gpu_rows[row].type == WW_F64);
    if (!numeric) {
        const char *near = row < 0 ? ww_param_nearest(ww_gpu_rows, ww_gpu_row_count, k->key[k->params]) : NULL;
        return ww_fail(error, WW_USAGE, "--fit", "\"%.60s\": expected a parameter that is a number%s%s",
                       k->key[k->params], near ? "; the nearest is " : "", near ? near : "");
    }
    for (size_t i = 0; i < k->params; i++)
        if (strcmp(k->key[i], k->key[k->params]) == 0)
            return ww_fail(error, WW_USAGE, "--fit", "%s appears twice", k->key[i]);
    *p = (struct ww_timing_param){.key = k->key[k->params],
                                  .start = value_of(gpu, &ww_gpu_rows[row]),
                                  .whole = ww_gpu_rows[row].type == WW_U32};
    k->params++;
    return read_bounds(text, bounds, &ww_gpu_rows[row], p, error);
}

static enum ww_code read_fits(struct calibration *k, struct ww_error *error) {
    struct ww_gpu *gpu;
    WW_TRY(ww_gpu_load(k->o->gpu, NULL, 0, &gpu, error));
    enum ww_code code = WW_OK;
    for (size_t i = 0; i < k->o->fit_count && code == WW_OK; i++) code = read_fit(k, gpu, k->o->fit[i], error);
    ww_gpu_free(gpu);
    return code;
}

static enum ww_code take_points(struct calibration *k, const struct ww_measured *m, struct ww_error *error) {
    size_t before = k->points;
    for (size_t i = 0; i < m->point_count; i++) {
        const struct ww_measured_point *p = &m->point[i];
        if ((p->metric != WW_METRIC_CYCLES && p->metric != WW_METRIC_TIME) || !p->verified) continue;
        if (k->points == POINTS_MOST)
            return ww_fail(error, WW_INPUT, m->source, "more than %d points", POINTS_MOST);
        k->value[k->points] = p->value;
        k->point[k->points++] = p;
    }
    return k->points > before ? WW_OK
                              : ww_fail(error, WW_INPUT, m->source, "no point of the metric cycles or time_s");
}

/* ---- the model ---- */

static bool same_run(const struct ww_measured_point *a, const struct ww_measured_point *b) {
    return strcmp(a->workload, b->workload) == 0 && strcmp(a->parameters, b->parameters) == 0 &&
           a->seed == b->seed;
}

/* Replays the workload of point `first`, if no point before it has the same, for all points of it. */
static enum ww_code estimate_run(struct calibration *k, const struct ww_gpu *gpu, size_t first, double *out,
                                 struct ww_error *error) {
    struct ww_result *result;
    for (size_t i = 0; i < first; i++)
        if (same_run(k->point[i], k->point[first])) return WW_OK;
    WW_TRY(ww_estimate_run(&k->estimate, gpu, k->dir, k->point[first], &result, error));
    enum ww_code code = WW_OK;
    for (size_t i = first; i < k->points && code == WW_OK; i++)
        if (same_run(k->point[i], k->point[first])) code = ww_estimate_of(result, k->point[i], &out[i], error);
    ww_result_free(result);
    return code;
}

static enum ww_code replay(struct calibration *k, const double *x, double *out, struct ww_error *error) {
    char text[WW_TIMING_PARAMS][128];
    const char *override[WW_TIMING_PARAMS];
    struct ww_gpu *gpu;
    for (size_t i = 0; i < k->params; i++) {
        snprintf(text[i], sizeof text[0], "%s=%.10g", k->key[i], x[i]);
        override[i] = text[i];
    }
    WW_TRY(ww_gpu_load(k->o->gpu, override, k->params, &gpu, error));
    enum ww_code code = WW_OK;
    for (size_t i = 0; i < k->points && code == WW_OK; i++) code = estimate_run(k, gpu, i, out, error);
    ww_gpu_free(gpu);
    return code;
}

static enum ww_code remember(struct calibration *k, const double *x, struct seen **out,
                             struct ww_error *error) {
    if (k->seen_count == k->seen_room) {
        size_t room = k->seen_room ? 2 * k->seen_room : 64;
        struct seen *more = realloc(k->seen, room * sizeof *more);
        if (!more) return ww_fail_nomem(error, "estimates");
        k->seen = more;
        k->seen_room = room;
    }
    struct seen *s = &k->seen[k->seen_count];
    s->estimate = ww_arena_array(&k->arena, k->points, sizeof *s->estimate);
    if (!s->estimate) return ww_fail_nomem(error, "estimates");
    memcpy(s->x, x, k->params * sizeof *x);
    WW_TRY(replay(k, x, s->estimate, error));
    k->seen_count++;
    *out = s;
    return WW_OK;
}

/* Of all points, also those that are not fitted to. */
static enum ww_code estimates(struct calibration *k, const double *x, const double **out,
                              struct ww_error *error) {
    struct seen *s = NULL;
    for (size_t i = 0; i < k->seen_count && !s; i++)
        if (memcmp(k->seen[i].x, x, k->params * sizeof *x) == 0) s = &k->seen[i];
    if (!s) WW_TRY(remember(k, x, &s, error));
    *out = s->estimate;
    return WW_OK;
}

static enum ww_code model(void *context, const double *x, double *estimate, struct ww_error *error) {
    struct calibration *k = context;
    const double *all;
    WW_TRY(estimates(k, x, &all, error));
    memcpy(estimate, all, k->fitted * sizeof *all);
    if (k->o->progress && !k->o->progress(k->o->context, -1, k->seen_count, "sets of parameters"))
        return ww_fail(error, WW_FAIL, NULL, "stopped");
    return WW_OK;
}

/* ---- the report ---- */

static void report_points(const struct calibration *k, size_t from, size_t to, const char *what,
                          const double *before, const double *after, FILE *out) {
    double sum[2] = {0};
    fprintf(out, "%s\n  %12s %12s %12s %8s  trace\n", what, "measured", "before", "fitted", "error");
    for (size_t i = from; i < to; i++) {
        double off = after[i] / k->value[i] - 1;
        sum[0] += fabs(before[i] / k->value[i] - 1);
        sum[1] += fabs(off);
        fprintf(out, "  %12.7g %12.7g %12.7g %+7.1f%%  ", k->value[i], before[i], after[i], 100 * off);
        ww_put_text(out, k->point[i]->workload);
        fputs(k->point[i]->parameters[0] ? " " : "", out);
        ww_put_text(out, k->point[i]->parameters);
        fputc('\n', out);
    }
    double n = (double)(to - from);
    fprintf(out, "  mean absolute error: %.2f %% before, %.2f %% fitted\n", 100 * sum[0] / n, 100 * sum[1] / n);
}

static void json_points(struct ww_jsonw *w, const char *key, const struct calibration *k, size_t from,
                        size_t to, const double *before, const double *after) {
    char name[600];
    ww_jsonw_open(w, key, '[');
    for (size_t i = from; i < to; i++) {
        ww_jsonw_open_flat(w, NULL, '{');
        snprintf(name, sizeof name, "%.250s%s%.300s", k->point[i]->workload,
                 k->point[i]->parameters[0] ? " " : "", k->point[i]->parameters);
        ww_jsonw_str(w, "point", name);
        ww_jsonw_f64(w, "measured", k->value[i]);
        ww_jsonw_f64(w, "before", before[i]);
        ww_jsonw_f64(w, "fitted", after[i]);
        ww_jsonw_close(w, '}');
    }
    ww_jsonw_close(w, ']');
}

static enum ww_code report_json(struct calibration *k, const struct ww_timing_fit *fit, const double *start,
                                const double *before, const double *after, FILE *out, struct ww_error *error) {
    struct ww_jsonw w;
    ww_jsonw_begin(&w, out);
    ww_jsonw_open(&w, NULL, '{');
    ww_jsonw_str(&w, "gpu", k->o->gpu);
    ww_jsonw_str(&w, "unit", "cycles or seconds, as measured");
    ww_jsonw_open(&w, "parameters", '[');
    for (size_t i = 0; i < k->params; i++) {
        const struct ww_timing_param *p = &k->param[i];
        ww_jsonw_open_flat(&w, NULL, '{');
        ww_jsonw_str(&w, "parameter", p->key);
        ww_jsonw_f64(&w, "start", start[i]);
        ww_jsonw_f64(&w, "fitted", fit->x[i]);
        ww_jsonw_f64(&w, "standard_error", fit->at_bound[i] ? (double)NAN : fit->error[i]);
        ww_jsonw_f64(&w, "low", p->low);
        ww_jsonw_f64(&w, "high", p->high);
        ww_jsonw_close(&w, '}');
    }
    ww_jsonw_close(&w, ']');
    ww_jsonw_f64(&w, "left_out_error", fit->left_out);
    ww_jsonw_f64(&w, "condition", fit->condition);
    json_points(&w, "fitted_to", k, 0, k->fitted, before, after);
    json_points(&w, "not_seen", k, k->fitted, k->points, before, after);
    ww_jsonw_close(&w, '}');
    return ww_jsonw_end(&w, error);
}

static enum ww_code report(struct calibration *k, const struct ww_timing_fit *fit, FILE *out,
                           struct ww_error *error) {
    double start[WW_TIMING_PARAMS];
    const double *before, *after;
    for (size_t i = 0; i < k->params; i++)
        start[i] = k->param[i].whole ? round(k->param[i].start) : k->param[i].start;
    WW_TRY(estimates(k, start, &before, error));
    WW_TRY(estimates(k, fit->x, &after, error));
    if (k->o->json) return report_json(k, fit, start, before, after, out, error);
    fprintf(out, "%-24s %10s %10s %15s  bounds\n", "parameter", "start", "fitted", "standard error");
    for (size_t i = 0; i < k->params; i++) {
        const struct ww_timing_param *p = &k->param[i];
        fprintf(out, "%-24s %10.6g %10.6g ", p->key, start[i], fit->x[i]);
        if (fit->at_bound[i])
            fprintf(out, "%15s", "at its bound");
        else
            fprintf(out, "%15.3g", fit->error[i]);
        fprintf(out, "  %g to %g\n", p->low, p->high);
    }
    fprintf(out, "mean absolute error with each point left out: %.2f %%\n", 100 * fit->left_out);
    fprintf(out, "condition of the parameters' effects: %.1f%s\n", fit->condition,
            fit->condition > WW_TIMING_HARDLY_APART
                ? ": warning, hardly distinguishable: only their joint effect is determined"
                : "");
    report_points(k, 0, k->fitted, "fitted to", before, after, out);
    if (k->points > k->fitted)
        report_points(k, k->fitted, k->points, "not seen by the fit", before, after, out);
    return WW_OK;
}

/* ---- the file ---- */

static const char *file_name(const char *path) {
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

static enum ww_code write_model(const struct calibration *k, const struct ww_timing_fit *fit, FILE *out,
                                struct ww_error *error) {
    char text[700];
    struct ww_jsonw w;
    ww_jsonw_begin(&w, out);
    ww_jsonw_open(&w, NULL, '{');
    snprintf(text, sizeof text, "The model %.200s, calibrated to measured times.", k->o->gpu);
    ww_jsonw_str(&w, "description", text);
    ww_jsonw_str(&w, "inherits", k->o->gpu);
    ww_jsonw_open(&w, "sources", '{');
    snprintf(text, sizeof text, "Calibrated: warpwatt calibrate timing, %zu points of %.200s (hash %.32s).",
             k->fitted, file_name(k->measured->source), k->measured->hash);
    ww_jsonw_str(&w, "calibrated", text);
    ww_jsonw_close(&w, '}');
    for (size_t i = 0; i < k->params; i++) {
        const struct ww_timing_param *p = &k->param[i];
        ww_jsonw_open_flat(&w, p->key, '{');
        ww_jsonw_f64(&w, "value", fit->x[i]);
        ww_jsonw_str(&w, "source", "calibrated");
        if (fit->at_bound[i])
            snprintf(text, sizeof text, "at the bound of %g to %g, so not a measurement", p->low, p->high);
        else
            snprintf(text, sizeof text, "standard error %.3g, bounds %g to %g", fit->error[i], p->low, p->high);
        ww_jsonw_str(&w, "note", text);
        ww_jsonw_close(&w, '}');
    }
    ww_jsonw_close(&w, '}');
    return ww_jsonw_end(&w, error);
}

static enum ww_code write_file(const struct calibration *k, const struct ww_timing_fit *fit,
                               struct ww_error *error) {
    struct ww_outfile file;
    WW_TRY(ww_outfile_stream(&file, k->o->out, WW_OUTFILE_GPU, error));
    return ww_outfile_close(&file, write_model(k, fit, file.stream, error), error);
}

/* Before the replays: none of what is read may be written over. */
static enum ww_code check_out(const struct calibration *k, struct ww_error *error) {
    const char *out = k->o->out;
    struct ww_gpu *gpu = NULL;
    if (!out) return WW_OK;
    WW_TRY(ww_outfile_not_input(out, k->o->measured, error));
    WW_TRY(ww_outfile_not_input(out, k->o->check, error));
    for (size_t i = 0; i < k->points; i++) WW_TRY(ww_outfile_not_input(out, k->point[i]->workload, error));
    WW_TRY(ww_gpu_load(k->o->gpu, NULL, 0, &gpu, error));
    enum ww_code code = ww_gpu_not_output(gpu, out, error);
    ww_gpu_free(gpu);
    return code == WW_OK ? ww_outfile_check(out, WW_OUTFILE_GPU, error) : code;
}

/* ---- all of it ---- */

static enum ww_code calibrate(struct calibration *k, struct ww_measured **check, FILE *out,
                              struct ww_error *error) {
    struct ww_timing_fit fit;
    WW_TRY(read_fits(k, error));
    WW_TRY(ww_measured_load(k->o->measured, &k->measured, error));
    WW_TRY(take_points(k, k->measured, error));
    k->fitted = k->points;
    if (k->o->check) {
        WW_TRY(ww_measured_load(k->o->check, check, error));
        WW_TRY(take_points(k, *check, error));
    }
    WW_TRY(check_out(k, error));
    WW_TRY(ww_estimate_folder(k->o->traces, &k->folder, error));
    k->dir = k->folder.path;
    struct ww_timing_problem problem = {.param = k->param,
                                        .params = k->params,
                                        .measured = k->value,
                                        .points = k->fitted,
                                        .model = model,
                                        .context = k};
    enum ww_code code = ww_timing_fit(&problem, &fit, error);
    if (code == WW_OK) code = report(k, &fit, out, error);
    ww_estimate_folder_done(k->o->traces, &k->folder);
    return code == WW_OK && k->o->out ? write_file(k, &fit, error) : code;
}

enum ww_code ww_calibrate_timing(const struct ww_calibrate_timing_options *options, FILE *out,
                                 struct ww_error *error) {
    WW_PLAIN_LOCALE;
    struct calibration *k = calloc(1, sizeof *k);
    struct ww_measured *check = NULL;
    if (!k) return ww_fail_nomem(error, "measured points");
    k->o = options;
    k->estimate = (struct ww_correlate_options){
        .gpu = options->gpu, .power_table = "none", .progress = options->progress, .context = options->context};
    ww_arena_init(&k->arena, 0);
    enum ww_code code = calibrate(k, &check, out, error);
    ww_measured_free(k->measured);
    ww_measured_free(check);
    ww_arena_free(&k->arena);
    free(k->seen);
    free(k);
    return code;
}
