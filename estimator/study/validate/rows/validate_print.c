/* Prints sets of rows: an aligned table for people, or an array of objects (reports/schema/validate.json). */
#include "../../../api/validate.h"
#include "../../../base/locale.h"
#include "../../../../reports/text.h"
#include "../../../base/jsonw.h"
#include "validate.h"
#include <math.h>
#include <string.h>

/* ---- JSON ---- */

static const char *const test_name[WW_VALIDATE_TEST_COUNT] = {
    [WW_VALIDATE_RELATIVE] = "relative",
    [WW_VALIDATE_ABSOLUTE] = "absolute",
    [WW_VALIDATE_AT_LEAST] = "at_least",
    [WW_VALIDATE_AT_MOST] = "at_most",
};

static bool is_text(const struct ww_validate_row *row) {
    return row->ours_text || row->paper_text;
}

static void write_row(struct ww_jsonw *w, const char *suite, const struct ww_validate_row *row) {
    ww_jsonw_open(w, NULL, '{');
    ww_jsonw_str(w, "id", row->id);
    if (is_text(row)) {
        ww_jsonw_str(w, "ours", row->ours_text);
        ww_jsonw_str(w, "paper", row->paper_text);
    } else {
        ww_jsonw_f64(w, "ours", row->ours);
        ww_jsonw_f64(w, "paper", row->paper);
    }
    ww_jsonw_str(w, "unit", row->unit);
    ww_jsonw_f64(w, "deviation", row->deviation);
    ww_jsonw_bool(w, "within", row->within);
    ww_jsonw_str(w, "why", row->why);
    ww_jsonw_str(w, "suite", suite);
    ww_jsonw_str(w, "what", row->what);
    ww_jsonw_bool(w, "counted", row->counted);
    ww_jsonw_str(w, "test", is_text(row) ? "equal" : test_name[row->test]);
    ww_jsonw_f64(w, "tolerance", is_text(row) ? NAN : row->tolerance);
    ww_jsonw_close(w, '}');
}

static enum ww_code print_json(struct ww_validation *const *v, size_t count, FILE *out,
                               struct ww_error *error) {
    struct ww_jsonw w;
    ww_jsonw_begin(&w, out);
    ww_jsonw_open(&w, NULL, '[');
    for (size_t i = 0; i < count; i++)
        for (size_t r = 0; r < v[i]->count; r++) write_row(&w, v[i]->suite, &v[i]->row[r]);
    ww_jsonw_close(&w, ']');
    return ww_jsonw_end(&w, error);
}

/* ---- text ---- */

static const char *number(double v, char out[32]) {
    if (isnan(v)) return "-";
    snprintf(out, 32, fabs(v) >= 1000 && fabs(v) < 1e9 ? "%.0f" : "%.4g", v);
    return out;
}

static const char *tolerance(const struct ww_validate_row *row, char out[32]) {
    if (is_text(row)) return "equal";
    if (isnan(row->paper)) return "-";
    switch (row->test) {
    case WW_VALIDATE_RELATIVE:
        snprintf(out, 32, "%.4g %%", 100 * row->tolerance);
        break;
    case WW_VALIDATE_ABSOLUTE:
        snprintf(out, 32, row->tolerance > 0 ? "%.4g" : "exact", row->tolerance);
        break;
    case WW_VALIDATE_AT_LEAST:
        snprintf(out, 32, "from %.4g", row->paper - row->tolerance);
        break;
    case WW_VALIDATE_AT_MOST:
        snprintf(out, 32, "to %.4g", row->paper + row->tolerance);
        break;
    case WW_VALIDATE_TEST_COUNT:
        return "-";
    }
    return out;
}

/* Texts of this length and above stand below the table. */
#define LONG_TEXT 28

static const char *short_text(const char *text) {
    if (!text) return "-";
    return strlen(text) < LONG_TEXT ? text : "(below)";
}

static void add_row(struct ww_grid *g, const struct ww_validate_row *row) {
    char t[32];
    ww_grid_add(g, row->id);
    ww_grid_add(g, row->what);
    if (is_text(row)) {
        ww_grid_add(g, short_text(row->ours_text));
        ww_grid_add(g, short_text(row->paper_text));
    } else {
        ww_grid_add(g, number(row->ours, t));
        ww_grid_add(g, number(row->paper, t));
    }
    ww_grid_add(g, row->unit);
    double percent = fabs(row->deviation) < 0.0005 ? 0 : 100 * row->deviation;
    snprintf(t, sizeof t, percent != 0 ? "%+.1f %%" : "%.1f %%", percent);
    ww_grid_add(g, isnan(row->deviation) ? "-" : t);
    ww_grid_add(g, tolerance(row, t));
    ww_grid_add(g, !row->counted ? "-" : row->within ? "yes" : "NO");
}

static void print_long_text(const char *who, const char *text, FILE *out) {
    char clean[1024];
    if (!text || strlen(text) < LONG_TEXT) return;
    ww_clean_text(text, clean, sizeof clean);
    fprintf(out, "    %-6s %s\n", who, clean);
}

static void print_long_texts(const struct ww_validation *v, FILE *out) {
    bool first = true;
    for (size_t i = 0; i < v->count; i++) {
        const struct ww_validate_row *row = &v->row[i];
        char id[96];
        if (!strcmp(short_text(row->ours_text), "(below)") || !strcmp(short_text(row->paper_text), "(below)")) {
            ww_clean_text(row->id, id, sizeof id);
            fprintf(out, "%s  %s\n", first ? "\n" : "", id);
            print_long_text("ours", row->ours_text, out);
            print_long_text("paper", row->paper_text, out);
            first = false;
        }
    }
}

/* Reasons stand below the table, since they are longer than a column should be. */
static void print_reasons(const struct ww_validation *v, FILE *out) {
    bool first = true;
    for (size_t i = 0; i < v->count; i++) {
        char id[96], why[1024];
        if (!*v->row[i].why) continue;
        ww_clean_text(v->row[i].id, id, sizeof id);
        ww_clean_text(v->row[i].why, why, sizeof why);
        fprintf(out, "%s  %s: %s\n", first ? "\n" : "", id, why);
        first = false;
    }
}

static enum ww_code print_text(const struct ww_validation *v, FILE *out, struct ww_error *error) {
    static const char *const heading[] = {"id",   "what",      "ours",      "paper",
                                          "unit", "deviation", "tolerance", "within"};
    struct ww_grid g = {.columns = 8, .left = 1u | 1u << 1 | 1u << 4 | 1u << 7};
    size_t within = 0, counted = 0;
    for (size_t c = 0; c < g.columns; c++) ww_grid_add(&g, heading[c]);
    for (size_t i = 0; i < v->count; i++) {
        add_row(&g, &v->row[i]);
        counted += v->row[i].counted;
        within += v->row[i].counted && v->row[i].within;
    }
    fprintf(out, "%s\n", v->suite);
    WW_TRY(ww_grid_print(&g, out, error));
    print_long_texts(v, out);
    print_reasons(v, out);
    fprintf(out, "\n%zu rows, %zu within, %zu not counted\n", v->count, within, v->count - counted);
    return WW_OK;
}

enum ww_code ww_validation_print(struct ww_validation *const *validation, size_t count, bool json, FILE *out,
                                 struct ww_error *error) {
    WW_PLAIN_LOCALE;
    if (json) return print_json(validation, count, out, error);
    for (size_t i = 0; i < count; i++) {
        if (i) fputs("\n", out);
        WW_TRY(print_text(validation[i], out, error));
    }
    return ww_out_check(out, error);
}
