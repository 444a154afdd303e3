/* GPU parameters from measurements. */
#include "../../api/gpu.h"
#include "../../api/hardware.h"
#include "../../result/measured.h"
#include "../../base/escape.h"
#include "../../base/locale.h"
#include "derive.h"
#include "../../base/jsonw.h"
#include "../../base/outfile.h"
#include "../../config/gpu.h"
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static enum ww_code load(const struct ww_derivation *d, struct ww_gpu **gpu) {
    return ww_gpu_load(d->base, d->override, d->count, gpu, d->error);
}

static enum ww_code find(const struct ww_gpu *gpu, const char *key, double *value, struct ww_error *error) {
    struct ww_param_view view;
    for (size_t i = 0; i < ww_gpu_param_count(); i++) {
        WW_TRY(ww_gpu_param(gpu, i, &view, error));
        if (strcmp(view.key, key) != 0) continue;
        *value = strcmp(view.value, "true") == 0 ? 1 : strtod(view.value, NULL);
        return WW_OK;
    }
    return ww_fail(error, WW_INTERNAL, key, "there is no such parameter");
}

enum ww_code ww_derive_param(const struct ww_derivation *d, const char *key, double *value) {
    struct ww_gpu *gpu;
    WW_TRY(load(d, &gpu));
    enum ww_code code = find(gpu, key, value, d->error);
    ww_gpu_free(gpu);
    return code;
}

static enum ww_code base_value(const struct ww_derivation *d, const char *key, double *value) {
    struct ww_gpu *gpu;
    WW_TRY(ww_gpu_load(d->base, NULL, 0, &gpu, d->error));
    enum ww_code code = find(gpu, key, value, d->error);
    ww_gpu_free(gpu);
    return code;
}

enum ww_code ww_derive_put(struct ww_derivation *d, const char *key, double value, bool real,
                           const struct ww_measured_figure *f, const char *note) {
    if (d->count == DERIVED_MOST) return ww_fail(d->error, WW_INTERNAL, key, "too many parameters");
    struct ww_derived *r = &d->row[d->count];
    *r =
        (struct ww_derived){.key = key, .median = f->median, .low = f->low, .high = f->high, .count = f->count};
    WW_TRY(base_value(d, key, &r->base));
    r->value = real ? round(value * 1000) / 1000 : round(value);
    snprintf(r->figure, sizeof r->figure, "%.40s %.100s", f->method, f->parameters);
    snprintf(r->unit, sizeof r->unit, "%.15s", f->unit);
    snprintf(r->note, sizeof r->note, "%.199s", note);
    snprintf(d->set[d->count], sizeof d->set[0], "%s=%.10g", key, r->value);
    d->override[d->count] = d->set[d->count];
    d->count++;
    return WW_OK;
}

enum ww_code ww_derive_set(struct ww_derivation *d, const char *key, double value, bool real,
                           const struct ww_measured_figure *f, const char *note) {
    double now;
    WW_TRY(ww_derive_put(d, key, value, real, f, note));
    return ww_derive_param(d, key, &now); /* loads, so that bounds are checked and what it must fit */
}

/* ---- the file ---- */

/* "l1.latency" is written inside of "l1"; rows of one group need not be neighbours, so keys keep their dots. */
static void write_row(struct ww_jsonw *w, const struct ww_derived *r) {
    char note[700], median[32], low[32], high[32];
    ww_double_text(r->median, median);
    ww_double_text(r->low, low);
    ww_double_text(r->high, high);
    snprintf(note, sizeof note, "%s: %s %s (quartiles %s and %s, %" PRIu64 " repetitions)%s%s", r->figure,
             median, r->unit, low, high, r->count, r->note[0] ? "; " : "", r->note);
    ww_jsonw_open_flat(w, r->key, '{');
    ww_jsonw_f64(w, "value", r->value);
    ww_jsonw_str(w, "source", "measured");
    ww_jsonw_str(w, "note", note);
    ww_jsonw_close(w, '}');
}

static const char *file_name(const char *path) {
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

static enum ww_code write_file(const struct ww_derivation *d, FILE *out) {
    const struct ww_measured *m = d->measured;
    char text[700];
    struct ww_jsonw w;
    ww_jsonw_begin(&w, out);
    ww_jsonw_open(&w, NULL, '{');
    snprintf(text, sizeof text, "%.200s as measured, over the model %.200s.", m->gpu, d->base);
    ww_jsonw_str(&w, "description", text);
    ww_jsonw_str(&w, "inherits", d->base);
    ww_jsonw_open(&w, "sources", '{');
    snprintf(text, sizeof text,
             "Measured on %.150s, driver %.60s, %.40s: microbenchmarks in %.200s (hash %.32s).", m->gpu,
             m->driver[0] ? m->driver : "not known", m->ended[0] ? m->ended : "date not known",
             file_name(m->source), m->hash);
    ww_jsonw_str(&w, "measured", text);
    ww_jsonw_close(&w, '}');
    for (size_t i = 0; i < d->count; i++) write_row(&w, &d->row[i]);
    ww_jsonw_close(&w, '}');
    return ww_jsonw_end(&w, d->error);
}

static enum ww_code write_path(const struct ww_derivation *d, const char *path) {
    struct ww_outfile file;
    WW_TRY(ww_outfile_stream(&file, path, WW_OUTFILE_GPU, d->error));
    return ww_outfile_close(&file, write_file(d, file.stream), d->error);
}

/* The base must load, and neither it nor the measurements may be written over. */
static enum ww_code check_path(const struct ww_derivation *d, const char *path) {
    struct ww_gpu *gpu = NULL;
    WW_TRY(ww_outfile_not_input(path, d->measured->source, d->error));
    WW_TRY(ww_gpu_load(d->base, NULL, 0, &gpu, d->error));
    enum ww_code code = ww_gpu_not_output(gpu, path, d->error);
    ww_gpu_free(gpu);
    return code == WW_OK ? ww_outfile_check(path, WW_OUTFILE_GPU, d->error) : code;
}

/* ---- the list for people ---- */

static void print_list(const struct ww_derivation *d, FILE *out) {
    fprintf(out, "%-28s %10s %10s  %s\n", "parameter", ww_shown(d->base), "derived", "from");
    for (size_t i = 0; i < d->count; i++) {
        const struct ww_derived *r = &d->row[i];
        fprintf(out, "%-28s %10.6g %10.6g  %s: %.6g %s%s%s\n", r->key, r->base, r->value, ww_shown(r->figure),
                r->median, ww_shown(r->unit), r->note[0] ? "; " : "", ww_shown(r->note));
    }
}

static enum ww_code derive(struct ww_derivation *d, const char *path, FILE *list) {
    WW_TRY(check_path(d, path));
    WW_TRY(ww_derive_board(d));
    WW_TRY(ww_derive_instructions(d));
    WW_TRY(ww_derive_memory(d));
    if (d->count == 0)
        return ww_fail(d->error, WW_INPUT, d->measured->source,
                       "holds no microbenchmark that a parameter comes from");
    WW_TRY(write_path(d, path));
    print_list(d, list);
    return WW_OK;
}

enum ww_code ww_measured_derive(const struct ww_measured *m, const char *base, const char *path, FILE *list,
                                struct ww_error *error) {
    WW_PLAIN_LOCALE;
    if (m->quick)
        return ww_fail(error, WW_INPUT, m->source,
                       "was made with the kit's --quick: nothing in it is a measurement");
    struct ww_derivation *d = calloc(1, sizeof *d);
    if (!d) return ww_fail_nomem(error, "a derivation");
    d->measured = m;
    d->base = base;
    d->error = error;
    enum ww_code code = derive(d, path, list);
    free(d);
    return code;
}
