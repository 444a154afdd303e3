/* A correlation as a table, JSON (reports/schema/correlate.json) and CSV. */
#include "../../api/database.h"
#include "../../api/hardware.h"
#include "../../result/measured.h"
#include "../../base/escape.h"
#include "../../base/locale.h"
#include "../../base/jsonw.h"
#include "correlate.h"
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define WORST 3

static const char *shown_launch(const struct ww_correlation_row *r, char out[32]) {
    if (r->launch != WW_ALL_LAUNCHES)
        snprintf(out, 32, "%" PRIu32, r->launch);
    else if (r->launches)
        snprintf(out, 32, "all %" PRIu64, r->launches);
    else
        snprintf(out, 32, "run");
    return out;
}

/* ---- text ---- */

/* The value in the unit that reads best, and its name. */
static double shown(double v, enum ww_metric metric) {
    return metric == WW_METRIC_TIME ? v * 1e6 : v;
}
static const char *const heading[WW_METRIC_COUNT] = {"time, us", "SM cycles", "power, W", "energy, J"};

static void print_rows(const struct ww_correlation *c, enum ww_metric metric, FILE *out) {
    int workload = 8, kernel = 6;
    char launch[32];
    for (size_t i = 0; i < c->row_count; i++) {
        int a = (int)strlen(ww_shown(c->row[i].workload)), b = (int)strlen(ww_shown(c->row[i].kernel));
        if (a > workload) workload = a;
        if (b > kernel) kernel = b;
    }
    fprintf(out, "%-*s  %-*s  %-8s  %12s  %12s  %8s\n", workload, "workload", kernel, "kernel", "launch",
            "measured", "estimate", "error");
    for (size_t i = 0; i < c->row_count; i++) {
        const struct ww_correlation_row *r = &c->row[i];
        if (r->metric != metric) continue;
        fprintf(out, "%-*s  %-*s  %-8s  %12.4g  %12.4g  %+7.1f%%%s\n", workload, ww_shown(r->workload), kernel,
                ww_shown(r->kernel), shown_launch(r, launch), shown(r->measured, metric),
                shown(r->estimate, metric), 100 * ww_correlation_error(r),
                r->verified ? "" : "  not counted: the GPU's output was wrong");
    }
}

static int by_error(const void *a, const void *b) {
    double x = fabs(ww_correlation_error(*(const struct ww_correlation_row *const *)a));
    double y = fabs(ww_correlation_error(*(const struct ww_correlation_row *const *)b));
    return (x < y) - (x > y);
}

/* The counted rows of the metric, the worst first; *count of them. Free the list. */
static const struct ww_correlation_row **by_worst(const struct ww_correlation *c, enum ww_metric metric,
                                                  size_t *count) {
    const struct ww_correlation_row **list = calloc(c->row_count + 1, sizeof *list);
    *count = 0;
    for (size_t i = 0; list && i < c->row_count; i++)
        if (c->row[i].metric == metric && c->row[i].verified) list[(*count)++] = &c->row[i];
    if (list) qsort(list, *count, sizeof *list, by_error);
    return list;
}

static void put_figure(FILE *out, const char *what, double v, const char *form) {
    fprintf(out, "%s ", what);
    if (isnan(v))
        fputs("not defined", out);
    else if (strcmp(form, "%") == 0)
        fprintf(out, "%.1f %%", 100 * v);
    else
        fprintf(out, "%.3f", v);
}

static enum ww_code print_metric(const struct ww_correlation *c, enum ww_metric metric, FILE *out,
                                 struct ww_error *error) {
    const struct ww_agreement *a = &c->agreement[metric];
    char launch[32];
    size_t count;
    const struct ww_correlation_row **worst = by_worst(c, metric, &count);
    if (!worst) return ww_fail_nomem(error, "the worst cases");
    fprintf(out, "\n%s\n", heading[metric]);
    print_rows(c, metric, out);
    fprintf(out, "\n%zu rows counted: ", a->count);
    put_figure(out, "mean absolute error", a->mape, "%");
    put_figure(out, ", median", a->median, "%");
    put_figure(out, ", mean error", a->bias, "%");
    put_figure(out, ", Pearson", a->pearson, "");
    put_figure(out, ", Spearman", a->spearman, "");
    fputs("\nworst:", out);
    for (size_t i = 0; i < count && i < WORST; i++)
        fprintf(out, "%s %s %s (%s) %+.1f %%", i ? "," : "", ww_shown(worst[i]->workload),
                ww_shown(worst[i]->kernel), shown_launch(worst[i], launch),
                100 * ww_correlation_error(worst[i]));
    fputs("\n", out);
    free(worst);
    return WW_OK;
}

static bool has(const struct ww_correlation *c, enum ww_metric metric) {
    for (size_t i = 0; i < c->row_count; i++)
        if (c->row[i].metric == metric) return true;
    return false;
}

static enum ww_code print_text(const struct ww_correlation *c, FILE *out, struct ww_error *error) {
    fprintf(out, "measured: %s (%s)\nestimated: %s\n",
            c->measured_gpu[0] ? ww_shown(c->measured_gpu) : "GPU not named", ww_shown(c->measured_source),
            ww_shown(c->gpu));
    if (c->quick) fputs("the file was made with --quick: nothing in it is a measurement\n", out);
    for (int metric = 0; metric < WW_METRIC_COUNT; metric++)
        if (has(c, (enum ww_metric)metric)) WW_TRY(print_metric(c, (enum ww_metric)metric, out, error));
    return WW_OK;
}

/* ---- JSON ---- */

static void json_row(struct ww_jsonw *w, const struct ww_correlation_row *r) {
    ww_jsonw_open_flat(w, NULL, '{');
    ww_jsonw_str(w, "workload", r->workload);
    ww_jsonw_str(w, "parameters", r->parameters);
    ww_jsonw_str(w, "kernel", r->kernel);
    if (r->launch == WW_ALL_LAUNCHES)
        ww_jsonw_null(w, "launch");
    else
        ww_jsonw_u64(w, "launch", r->launch);
    ww_jsonw_u64(w, "launches", r->launches);
    ww_jsonw_str(w, "metric", ww_metric_name(r->metric));
    ww_jsonw_f64(w, "measured", r->measured);
    ww_jsonw_f64(w, "low", r->low);
    ww_jsonw_f64(w, "high", r->high);
    ww_jsonw_f64(w, "estimate", r->estimate);
    ww_jsonw_f64(w, "error", ww_correlation_error(r));
    ww_jsonw_bool(w, "counted", r->verified);
    ww_jsonw_close(w, '}');
}

static enum ww_code print_json(const struct ww_correlation *c, FILE *out, struct ww_error *error) {
    struct ww_jsonw w;
    ww_jsonw_begin(&w, out);
    ww_jsonw_open(&w, NULL, '{');
    ww_jsonw_str(&w, "measured_gpu", c->measured_gpu);
    ww_jsonw_str(&w, "measured_source", c->measured_source);
    ww_jsonw_bool(&w, "quick", c->quick);
    ww_jsonw_str(&w, "gpu", c->gpu);
    ww_jsonw_open(&w, "agreement", '[');
    for (int metric = 0; metric < WW_METRIC_COUNT; metric++) {
        const struct ww_agreement *a = &c->agreement[metric];
        if (!has(c, (enum ww_metric)metric)) continue;
        ww_jsonw_open_flat(&w, NULL, '{');
        ww_jsonw_str(&w, "metric", ww_metric_name((enum ww_metric)metric));
        ww_jsonw_u64(&w, "count", a->count);
        ww_jsonw_f64(&w, "mean_absolute_error", a->mape);
        ww_jsonw_f64(&w, "median_absolute_error", a->median);
        ww_jsonw_f64(&w, "mean_error", a->bias);
        ww_jsonw_f64(&w, "pearson", a->pearson);
        ww_jsonw_f64(&w, "spearman", a->spearman);
        ww_jsonw_close(&w, '}');
    }
    ww_jsonw_close(&w, ']');
    ww_jsonw_open(&w, "rows", '[');
    for (size_t i = 0; i < c->row_count; i++) json_row(&w, &c->row[i]);
    ww_jsonw_close(&w, ']');
    ww_jsonw_close(&w, '}');
    return ww_jsonw_end(&w, error);
}

/* ---- CSV ---- */

static void csv_text(FILE *out, const char *s) {
    ww_put_csv(out, s, strlen(s));
    fputc(',', out);
}

static enum ww_code print_csv(const struct ww_correlation *c, FILE *out) {
    fputs("workload,parameters,kernel,launch,launches,metric,measured,low,high,estimate,error,counted\n", out);
    for (size_t i = 0; i < c->row_count; i++) {
        const struct ww_correlation_row *r = &c->row[i];
        csv_text(out, r->workload);
        csv_text(out, r->parameters);
        csv_text(out, r->kernel);
        if (r->launch != WW_ALL_LAUNCHES) fprintf(out, "%" PRIu32, r->launch);
        fprintf(out, ",%" PRIu64 ",%s,%.9g,%.9g,%.9g,%.9g,%.6g,%d\n", r->launches, ww_metric_name(r->metric),
                r->measured, r->low, r->high, r->estimate, ww_correlation_error(r), r->verified);
    }
    return WW_OK;
}

enum ww_code ww_correlation_print(const struct ww_correlation *c, enum ww_format format, FILE *out,
                                  struct ww_error *error) {
    WW_PLAIN_LOCALE;
    if (format == WW_FORMAT_JSON) return print_json(c, out, error);
    return format == WW_FORMAT_CSV ? print_csv(c, out) : print_text(c, out, error);
}
