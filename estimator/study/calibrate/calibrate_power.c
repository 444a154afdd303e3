/* calibrate_power.c: factors on a power table's components, fitted to measured power of traces. */
#include "../../base/locale.h"
#include "../../../power/fit.h"
#include "../../../power/power.h"
#include "../../../power/scaling.h"
#include "../../base/escape.h"
#include "../../base/jsonw.h"
#include "../../base/outfile.h"
#include "../../config/gpu.h"
#include "../../config/json.h"
#include "../../core/time/launch_time.h"
#include "../../api/gpu.h"
#include "../../api/run.h"
#include "../../api/calibrate.h"
#include "../../result/result.h"
#include "../../result/names.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define LINES_MAX 1000
#define FILE_MAX ((size_t)1 << 20)

/* Components of one factor, dynamic and static. */
struct group {
    const char *text;
    bool dynamic[WW_COMPONENT_COUNT], steady[WW_COMPONENT_COUNT];
};

struct calibration {
    const struct ww_calibrate_options *o;
    struct ww_gpu *gpu;
    struct group group[WW_FIT_PARTS];
    size_t groups;
};

/* The points of one file, in its order; `trace` points into `text`. */
struct measured {
    struct ww_buf text;
    const char *trace[LINES_MAX];
    struct ww_fit_point point[LINES_MAX];
    size_t count;
};

static bool one_part(const char *name, size_t n, struct group *g) {
    bool steady = n > 7 && memcmp(name, "static.", 7) == 0;
    const char *component = steady ? name + 7 : name;
    size_t length = steady ? n - 7 : n;
    for (int c = 0; c < WW_COMPONENT_COUNT; c++) {
        const char *own = ww_component_name((enum ww_component)c);
        if (strlen(own) != length || memcmp(own, component, length) != 0) continue;
        (steady ? g->steady : g->dynamic)[c] = true;
        return true;
    }
    return false;
}

/* "int+fp32+static.sm_other" to components; none may be in two groups. */
static enum ww_code read_group(struct calibration *k, const char *text, struct ww_error *error) {
    if (k->groups == WW_FIT_PARTS)
        return ww_fail(error, WW_USAGE, "--fit", "more than %d factors", WW_FIT_PARTS);
    struct group *g = &k->group[k->groups];
    g->text = text;
    for (const char *p = text;; p++) {
        size_t n = strcspn(p, "+");
        if (!one_part(p, n, g))
            return ww_fail(error, WW_USAGE, "--fit",
                           "\"%.*s\": expected components joined by +, or static.COMPONENT", (int)n, p);
        p += n;
        if (!*p) break;
    }
    for (size_t other = 0; other < k->groups; other++)
        for (int c = 0; c < WW_COMPONENT_COUNT; c++)
            if ((g->dynamic[c] && k->group[other].dynamic[c]) || (g->steady[c] && k->group[other].steady[c]))
                return ww_fail(error, WW_USAGE, "--fit", "%s is in two factors",
                               ww_component_name((enum ww_component)c));
    k->groups++;
    return WW_OK;
}

static enum ww_code read_watts(const char *text, const char *where, double *out, struct ww_error *error) {
    char *end;
    errno = 0;
    *out = strtod(text, &end);
    if (end == text || *end || errno || !(*out > 0 && *out < 1e6))
        return ww_fail(error, WW_INPUT, where, "\"%.40s\": expected watts above 0", text);
    return WW_OK;
}

/* One line "trace,power_w[,sigma_w]"; without sigma all points weigh the same. */
static enum ww_code read_line(struct measured *m, char *line, const char *where, struct ww_error *error) {
    char *watts = strchr(line, ','), *sigma = watts ? strchr(watts + 1, ',') : NULL;
    if (!watts) return ww_fail(error, WW_INPUT, where, "expected trace,power_w[,sigma_w]");
    if (m->count == LINES_MAX) return ww_fail(error, WW_INPUT, where, "more than %d points", LINES_MAX);
    struct ww_fit_point *p = &m->point[m->count];
    *watts++ = 0;
    if (sigma) *sigma++ = 0;
    p->sigma = 1;
    WW_TRY(read_watts(watts, where, &p->measured, error));
    if (sigma) WW_TRY(read_watts(sigma, where, &p->sigma, error));
    m->trace[m->count++] = line;
    return WW_OK;
}

static enum ww_code read_measured(struct measured *m, const char *path, struct ww_error *error) {
    char where[4200];
    WW_TRY(ww_read_file(path, FILE_MAX, &m->text, error));
    unsigned number = 0;
    char *next = m->text.p;
    while (next && *next) {
        char *line = next, *end = strchr(line, '\n');
        next = end ? end + 1 : NULL;
        if (end) *end = 0;
        line[strcspn(line, "\r")] = 0;
        snprintf(where, sizeof where, "%.4096s:%u", path, ++number);
        if (number == 1 && strncmp(line, "trace,power_w", 13) != 0)
            return ww_fail(error, WW_INPUT, where, "expected the heading trace,power_w[,sigma_w]");
        if (number > 1 && line[0]) WW_TRY(read_line(m, line, where, error));
    }
    return m->count ? WW_OK : ww_fail(error, WW_INPUT, path, "no measured points");
}

/* Average watts of the parts in a replay. */
static void split(const struct calibration *k, const struct ww_result *r, struct ww_fit_point *p) {
    double seconds = (double)r->time_ps * 1e-12;
    for (size_t i = 0; i < r->launch_count; i++)
        for (int c = 0; c < WW_COMPONENT_COUNT; c++) {
            double *dynamic = &p->rest, *steady = &p->rest;
            for (size_t g = 0; g < k->groups; g++) {
                if (k->group[g].dynamic[c]) dynamic = &p->part[g];
                if (k->group[g].steady[c]) steady = &p->part[g];
            }
            *dynamic += r->launch[i].energy.dynamic_j[c] / seconds;
            *steady += r->launch[i].energy.static_j[c] / seconds;
        }
}

/* Watts are measured over seconds of the same work: a trace stands for a part of it, without launches. */
static enum ww_code replay(struct calibration *k, struct measured *m, struct ww_error *error) {
    struct ww_gpu gpu = *k->gpu;
    struct ww_run_options run = {.gpu = &gpu, .power_table = k->o->power_table};
    ww_launch_none(&gpu.spec);
    for (size_t i = 0; i < m->count; i++) {
        struct ww_result *result;
        run.trace_path = m->trace[i];
        WW_TRY(ww_run(&run, &result, error));
        bool known = result->energy_known && result->time_ps > 0;
        if (known) split(k, result, &m->point[i]);
        ww_result_free(result);
        if (!known)
            return ww_fail(error, WW_INPUT, m->trace[i],
                           "no energy: the GPU has no power table, or no time passed");
    }
    return WW_OK;
}

/* Watts of a point before the fit. */
static double watts_before(const struct calibration *k, const struct ww_fit_point *p) {
    double old = p->rest;
    for (size_t g = 0; g < k->groups; g++) old += p->part[g];
    return old;
}

static void json_points(struct ww_jsonw *w, const char *key, const struct calibration *k,
                        const struct measured *m, const struct ww_fit *fit) {
    ww_jsonw_open(w, key, '[');
    for (size_t i = 0; i < m->count; i++) {
        const struct ww_fit_point *p = &m->point[i];
        ww_jsonw_open_flat(w, NULL, '{');
        ww_jsonw_str(w, "point", m->trace[i]);
        ww_jsonw_f64(w, "measured", p->measured);
        ww_jsonw_f64(w, "before", watts_before(k, p));
        ww_jsonw_f64(w, "fitted", ww_fit_predict(fit, k->groups, p));
        ww_jsonw_close(w, '}');
    }
    ww_jsonw_close(w, ']');
}

static enum ww_code print_json(const struct calibration *k, const struct measured *m,
                               const struct measured *check, const struct ww_fit *fit, FILE *out,
                               struct ww_error *error) {
    struct ww_jsonw w;
    ww_jsonw_begin(&w, out);
    ww_jsonw_open(&w, NULL, '{');
    ww_jsonw_str(&w, "gpu", ww_gpu_name(k->gpu));
    ww_jsonw_str(&w, "unit", "W");
    ww_jsonw_open(&w, "parameters", '[');
    for (size_t g = 0; g < k->groups; g++) {
        ww_jsonw_open_flat(&w, NULL, '{');
        ww_jsonw_str(&w, "parameter", k->group[g].text);
        ww_jsonw_f64(&w, "start", 1);
        ww_jsonw_f64(&w, "fitted", fit->x[g]);
        ww_jsonw_f64(&w, "standard_error", fit->error[g]);
        ww_jsonw_close(&w, '}');
    }
    ww_jsonw_close(&w, ']');
    ww_jsonw_f64(&w, "left_out_error", fit->left_out);
    json_points(&w, "fitted_to", k, m, fit);
    json_points(&w, "not_seen", k, check, fit);
    ww_jsonw_close(&w, '}');
    return ww_jsonw_end(&w, error);
}

static void report_points(const struct calibration *k, const struct measured *m, const struct ww_fit *fit,
                          const char *what, FILE *out) {
    double before = 0, after = 0;
    fprintf(out, "%s\n  %9s %9s %9s  trace\n", what, "measured", "before", "fitted");
    for (size_t i = 0; i < m->count; i++) {
        const struct ww_fit_point *p = &m->point[i];
        double old = watts_before(k, p), now = ww_fit_predict(fit, k->groups, p);
        before += fabs(old / p->measured - 1);
        after += fabs(now / p->measured - 1);
        fprintf(out, "  %7.1f W %7.1f W %7.1f W  ", p->measured, old, now);
        ww_put_text(out, m->trace[i]);
        fputc('\n', out);
    }
    fprintf(out, "  mean absolute error: %.1f %% before, %.1f %% fitted\n", 100 * before / (double)m->count,
            100 * after / (double)m->count);
}

static void report_fit(const struct calibration *k, const struct ww_fit *fit, FILE *out) {
    fprintf(out, "factor  standard error  of\n");
    for (size_t g = 0; g < k->groups; g++) {
        fprintf(out, "%6.3f  ", fit->x[g]);
        if (isfinite(fit->error[g]))
            fprintf(out, "%14.3f", fit->error[g]);
        else
            fprintf(out, "%14s", "at its bound");
        fprintf(out, "  %s\n", ww_shown(k->group[g].text));
    }
    fprintf(out, "mean absolute error with each point left out: %.1f %%\n", 100 * fit->left_out);
}

static const char *table_of(const struct calibration *k) {
    if (k->o->power_table) return k->o->power_table;
    return k->gpu->spec.power_table[0] ? k->gpu->spec.power_table : ww_gpu_name(k->gpu);
}

static enum ww_code write_table(const struct calibration *k, const struct ww_fit *fit, struct ww_error *error) {
    struct ww_power_factors by;
    struct ww_power *power;
    struct ww_outfile file;
    for (int c = 0; c < WW_COMPONENT_COUNT; c++) {
        by.dynamic[c] = by.steady[c] = (struct ww_power_factor){.value = 1};
        for (size_t g = 0; g < k->groups; g++) {
            double relative = fit->x[g] > 0 ? fit->error[g] / fit->x[g] : 1;
            struct ww_power_factor f = {fit->x[g], relative < 10 ? relative : 10, true};
            if (k->group[g].dynamic[c]) by.dynamic[c] = f;
            if (k->group[g].steady[c]) by.steady[c] = f;
        }
    }
    WW_TRY(ww_power_load(table_of(k), true, &power, error));
    enum ww_code code = ww_outfile_stream(&file, k->o->out, WW_OUTFILE_POWER, error);
    if (code == WW_OK) {
        ww_power_write(power, &by, k->o->measured, file.stream);
        code = ww_outfile_close(&file, WW_OK, error);
    }
    ww_power_free(power);
    return code;
}

/* Before the replays: none of what is read may be written over. */
static enum ww_code check_out(const struct calibration *k, const struct measured *m,
                              const struct measured *check, struct ww_error *error) {
    const char *out = k->o->out;
    char table[4096];
    if (!out) return WW_OK;
    WW_TRY(ww_outfile_not_input(out, k->o->measured, error));
    WW_TRY(ww_outfile_not_input(out, k->o->check, error));
    for (size_t i = 0; i < m->count; i++) WW_TRY(ww_outfile_not_input(out, m->trace[i], error));
    for (size_t i = 0; i < check->count; i++) WW_TRY(ww_outfile_not_input(out, check->trace[i], error));
    WW_TRY(ww_gpu_not_output(k->gpu, out, error));
    WW_TRY(ww_power_path(table_of(k), table, sizeof table, error));
    WW_TRY(ww_outfile_not_input(out, table, error));
    return ww_outfile_check(out, WW_OUTFILE_POWER, error);
}

static enum ww_code calibrate(struct calibration *k, struct measured *m, struct measured *check, FILE *out,
                              struct ww_error *error) {
    struct ww_fit fit;
    WW_TRY(ww_gpu_load(k->o->gpu, k->o->overrides, k->o->override_count, &k->gpu, error));
    for (size_t i = 0; i < k->o->fit_count; i++) WW_TRY(read_group(k, k->o->fit[i], error));
    WW_TRY(read_measured(m, k->o->measured, error));
    if (k->o->check) WW_TRY(read_measured(check, k->o->check, error));
    WW_TRY(check_out(k, m, check, error));
    WW_TRY(replay(k, m, error));
    WW_TRY(replay(k, check, error));
    WW_TRY(ww_fit_power(m->point, m->count, k->groups, &fit, error));
    if (k->o->json) WW_TRY(print_json(k, m, check, &fit, out, error));
    if (!k->o->json) report_fit(k, &fit, out);
    if (!k->o->json) report_points(k, m, &fit, "fitted to", out);
    if (!k->o->json && check->count) report_points(k, check, &fit, "not seen by the fit", out);
    return k->o->out ? write_table(k, &fit, error) : WW_OK;
}

enum ww_code ww_calibrate_power(const struct ww_calibrate_options *options, FILE *out, struct ww_error *error) {
    WW_PLAIN_LOCALE;
    struct calibration k = {.o = options};
    struct measured *m = calloc(2, sizeof *m);
    if (!m) return ww_fail_nomem(error, "measured points");
    enum ww_code code = calibrate(&k, &m[0], &m[1], out, error);
    ww_buf_free(&m[0].text);
    ww_buf_free(&m[1].text);
    free(m);
    ww_gpu_free(k.gpu);
    return code;
}

enum ww_code ww_calibrate_structures(const char *table, FILE *out, struct ww_error *error) {
    WW_PLAIN_LOCALE;
    struct ww_scaling *scaling;
    struct ww_buf text = {0};
    WW_TRY(ww_scaling_load(table ? table : "scaling", false, &scaling, error));
    enum ww_code code = ww_scaling_print_laws(scaling, &text, error);
    if (code == WW_OK) fputs(text.p, out);
    ww_buf_free(&text);
    ww_scaling_free(scaling);
    return code;
}
