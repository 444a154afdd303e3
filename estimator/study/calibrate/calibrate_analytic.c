/* calibrate_analytic.c: the analytical model's constants and its own error, from a table of full replays. */
#include "../../api/calibrate.h"
#include "../../api/validate.h"
#include "../../base/jsonw.h"
#include "../../base/locale.h"
#include "../../base/outfile.h"
#include "../../base/text.h"
#include "../../config/json.h"
#include "../validate/analytic/analytic_int.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define FILE_MOST ((size_t)1 << 24)
#define HEADING "application,trace,gpu,set,cycles,energy_j"
enum { APPLICATION, TRACE, GPU, SET, CYCLES, ENERGY, CELLS };

static enum ww_code number(const char *text, const char *where, double *v, struct ww_error *error) {
    char *end;
    *v = strtod(text, &end);
    if (end != text && !*end && *v > 0 && *v < 1e18) return WW_OK;
    return ww_fail(error, WW_INPUT, where, "\"%.40s\": expected a number above 0", text);
}

static enum ww_code read_line(struct analytic_table *t, char *line, const char *where, struct ww_error *error) {
    char *cell[CELLS] = {line};
    double cycles, energy = NAN;
    int n = 1;
    for (char *c = strchr(line, ','); c; c = strchr(c, ',')) {
        *c++ = 0;
        if (n == CELLS) return ww_fail(error, WW_INPUT, where, "expected " HEADING);
        cell[n++] = c;
    }
    if (n != CELLS) return ww_fail(error, WW_INPUT, where, "expected " HEADING);
    WW_TRY(number(cell[CYCLES], where, &cycles, error));
    if (cell[ENERGY][0]) WW_TRY(number(cell[ENERGY], where, &energy, error));
    return ww_analytic_add(t, cell[APPLICATION], cell[TRACE], cell[GPU], cell[SET], cycles, energy, error);
}

static enum ww_code read_table(struct analytic_table *t, const char *path, char *next, struct ww_error *error) {
    char where[320];
    for (unsigned n = 1; next && *next; n++) {
        char *line = next, *end = strchr(line, '\n');
        next = end ? end + 1 : NULL;
        if (end) *end = 0;
        line[strcspn(line, "\r")] = 0;
        snprintf(where, sizeof where, "%.290s:%u", path, n);
        if (n == 1 && strcmp(line, HEADING) != 0)
            return ww_fail(error, WW_INPUT, where, "expected the heading " HEADING);
        if (n > 1 && line[0]) WW_TRY(read_line(t, line, where, error));
    }
    return t->cases.count ? WW_OK : ww_fail(error, WW_INPUT, path, "no replays");
}

/* ---- what comes out ---- */

static enum ww_code span_of(const struct analytic_cases *cases, const struct ww_model_constants *constants,
                            struct ww_model_span *span, struct ww_error *error) {
    *span = (struct ww_model_span){0};
    for (size_t i = 0; i < cases->count; i++) {
        const struct analytic_case *c = &cases->row[i];
        for (size_t k = 0; k < c->model->count; k++) {
            struct ww_model_result m;
            WW_TRY(ww_model_launch(&c->model->kernel[k], c->spec, constants, &m, error));
            ww_model_span_add(span, c->model->kernel[k].of, c->spec, &m);
        }
    }
    return WW_OK;
}

static double constant(const struct ww_model_constants *k, size_t i) {
    return *(const double *)(const void *)((const char *)k + ww_model_constant[i].offset);
}

static void write_fit(const struct analytic_cases *cases, const struct ww_model_constants *k,
                      const struct ww_model_span *span, FILE *f) {
    static const char *const feature[] = {
#define X(id, name, help) #id,
#include "../../fast/model_feature.def"
#undef X
    };
    fprintf(f,
            "/* Written by `warpwatt calibrate analytic` (make analytic-fit): do not edit.\n"
            " * CONSTANT(name, value): fitted to all cases. RESIDUAL(application, GPU, log(full / model) of "
            "cycles,\n"
            " * of energy): with constants fitted without the application. SPAN(feature, least, most): of all "
            "cases.\n"
            " * From %zu full replays of %u applications by warpwatt %s. */\n",
            cases->count, cases->applications, WW_VERSION);
    for (size_t i = 0; i < ww_model_constant_count; i++)
        fprintf(f, "CONSTANT(%s, %.4g)\n", ww_model_constant[i].name, constant(k, i));
    for (int i = 0; i < WW_MODEL_FEATURES; i++)
        fprintf(f, "SPAN(%s, %.4g, %.4g)\n", feature[i], span->least[i], span->most[i]);
    for (size_t i = 0; i < cases->count; i++) {
        const struct analytic_case *c = &cases->row[i];
        fprintf(f, "RESIDUAL(\"%s\", \"%s\", %.4f, ", c->application, c->gpu, log(c->cycles / c->own_cycles));
        if (c->power && c->own_energy > 0)
            fprintf(f, "%.4f)\n", log(c->energy / c->own_energy));
        else
            fputs("WW_MODEL_NONE)\n", f);
    }
}

static enum ww_code print_json(const struct analytic_cases *cases, const struct ww_model_constants *k,
                               FILE *out, struct ww_error *error) {
    static const char *const gpus[] = {"gtx480", "gtx980", "v100", "a100", NULL};
    struct ww_jsonw w;
    ww_jsonw_begin(&w, out);
    ww_jsonw_open(&w, NULL, '{');
    ww_jsonw_u64(&w, "replays", cases->count);
    ww_jsonw_open(&w, "parameters", '[');
    for (size_t i = 0; i < ww_model_constant_count; i++) {
        ww_jsonw_open_flat(&w, NULL, '{');
        ww_jsonw_str(&w, "parameter", ww_model_constant[i].name);
        ww_jsonw_f64(&w, "fitted", constant(k, i));
        ww_jsonw_close(&w, '}');
    }
    ww_jsonw_close(&w, ']');
    ww_jsonw_open(&w, "left_out", '[');
    for (size_t i = 0; i < sizeof gpus / sizeof *gpus; i++) {
        struct analytic_summary s;
        WW_TRY(ww_analytic_sum_up(cases, gpus[i], 0.95, &s, error));
        if (!s.cases) continue;
        ww_jsonw_open_flat(&w, NULL, '{');
        ww_jsonw_str(&w, "gpu", gpus[i] ? gpus[i] : "all");
        ww_jsonw_u64(&w, "cases", s.cases);
        ww_jsonw_f64(&w, "cycles_error", s.cycles);
        ww_jsonw_f64(&w, "bias", s.bias);
        ww_jsonw_f64(&w, "power_error", s.power);
        ww_jsonw_f64(&w, "covered_cycles", s.covered_cycles);
        ww_jsonw_f64(&w, "covered_energy", s.covered_energy);
        ww_jsonw_close(&w, '}');
    }
    ww_jsonw_close(&w, ']');
    ww_jsonw_close(&w, '}');
    return ww_jsonw_end(&w, error);
}

static enum ww_code print(const struct analytic_cases *cases, const struct ww_model_constants *k, FILE *out,
                          struct ww_error *error) {
    static const char *const gpus[] = {"gtx480", "gtx980", "v100", "a100", NULL};
    fprintf(out, "constants, fitted to all %zu replays:\n", cases->count);
    for (size_t i = 0; i < ww_model_constant_count; i++)
        fprintf(out, "  %-8s %8.4g  %s\n", ww_model_constant[i].name, constant(k, i),
                ww_model_constant[i].help);
    fprintf(out, "leaving out one application at a time:\n  %-8s %6s %8s %8s %8s %16s\n", "GPU", "cases",
            "cycles", "bias", "power", "covered of 95 %");
    for (size_t i = 0; i < sizeof gpus / sizeof *gpus; i++) {
        struct analytic_summary s;
        WW_TRY(ww_analytic_sum_up(cases, gpus[i], 0.95, &s, error));
        if (s.cases)
            fprintf(out, "  %-8s %6zu %7.1f%% %+7.1f%% %7.1f%% %7.1f%% %7.1f%%\n", gpus[i] ? gpus[i] : "all",
                    s.cases, 100 * s.cycles, 100 * s.bias, 100 * s.power, 100 * s.covered_cycles,
                    100 * s.covered_energy);
    }
    return WW_OK;
}

static enum ww_code fit_and_print(struct analytic_table *t, const struct ww_calibrate_analytic_options *o,
                                  FILE *out, struct ww_error *error) {
    struct ww_validate_options options = {.progress = o->progress, .context = o->context};
    struct ww_model_constants k = ww_model_start;
    struct ww_model_span span;
    ww_analytic_table_bind(t);
    ww_analytic_fit(&t->cases, UINT32_MAX, &k);
    WW_TRY(ww_analytic_leave_out(&t->cases, &options, error));
    WW_TRY(o->json ? print_json(&t->cases, &k, out, error) : print(&t->cases, &k, out, error));
    if (!o->out) return WW_OK;
    WW_TRY(span_of(&t->cases, &k, &span, error));
    struct ww_outfile file;
    WW_TRY(ww_outfile_stream(&file, o->out, WW_OUTFILE_FIT, error));
    write_fit(&t->cases, &k, &span, file.stream);
    return ww_outfile_close(&file, WW_OK, error);
}

/* Before the fit: none of what is read may be written over. */
static enum ww_code check_out(const struct analytic_table *t, const struct ww_calibrate_analytic_options *o,
                              struct ww_error *error) {
    if (!o->out) return WW_OK;
    WW_TRY(ww_outfile_not_input(o->out, o->measured, error));
    for (size_t i = 0; i < t->traces; i++) WW_TRY(ww_outfile_not_input(o->out, t->trace[i].path, error));
    return ww_outfile_check(o->out, WW_OUTFILE_FIT, error);
}

enum ww_code ww_calibrate_analytic(const struct ww_calibrate_analytic_options *options, FILE *out,
                                   struct ww_error *error) {
    WW_PLAIN_LOCALE;
    struct ww_buf text = {0};
    struct analytic_table t = {.progress = options->progress, .context = options->context};
    WW_TRY(ww_read_file(options->measured, FILE_MOST, &text, error));
    enum ww_code code = read_table(&t, options->measured, text.p, error);
    if (code == WW_OK) code = check_out(&t, options, error);
    if (code == WW_OK) code = fit_and_print(&t, options, out, error);
    ww_analytic_table_free(&t);
    ww_buf_free(&text);
    return code;
}
