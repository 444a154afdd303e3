/* warpwatt mech list|show */
#include "../warpwatt.h"
#include "../base/nearest.h"
#include "cmd.h"
#include <stdlib.h>
#include <string.h>

static void list_names(void) {
    for (size_t i = 0; i < ww_mech_count(); i++) {
        struct ww_mech_view m;
        if (ww_mech(i, &m, NULL) == WW_OK) printf("%s=%s\n", m.kind, m.name);
    }
}

static enum ww_code list_table(struct ww_error *error) {
    static const char *const heading[] = {"kind", "name", "default", "what it is", "published in"};
    struct cmd_table t = {.columns = 5};
    for (size_t i = 0; i < t.columns; i++) ww_cmd_table_cell(&t, heading[i]);
    for (size_t i = 0; i < ww_mech_count(); i++) {
        struct ww_mech_view m;
        WW_TRY(ww_mech(i, &m, error));
        ww_cmd_table_cell(&t, m.kind);
        ww_cmd_table_cell(&t, m.name);
        ww_cmd_table_cell(&t, m.is_default ? "yes" : "");
        ww_cmd_table_cell(&t, m.help);
        ww_cmd_table_cell(&t, m.paper ? m.paper : "");
    }
    return ww_cmd_table_print(&t, stdout, error);
}

static enum ww_code json_mech(struct ww_jsonw *w, size_t i, struct ww_error *error) {
    struct ww_mech_view m;
    WW_TRY(ww_mech(i, &m, error));
    ww_jsonw_open(w, NULL, '{');
    ww_jsonw_str(w, "kind", m.kind);
    ww_jsonw_str(w, "name", m.name);
    ww_jsonw_bool(w, "default", m.is_default);
    ww_jsonw_str(w, "help", m.help);
    ww_jsonw_str(w, "paper", m.paper);
    ww_jsonw_open(w, "parameters", '[');
    for (size_t p = 0; p < m.param_count; p++) {
        struct ww_param_view view;
        WW_TRY(ww_mech_param(i, p, &view, error));
        ww_jsonw_open_flat(w, NULL, '{');
        ww_jsonw_str(w, "key", view.key);
        ww_jsonw_str(w, "default", view.value);
        ww_jsonw_str(w, "bounds", view.bounds);
        ww_jsonw_str(w, "unit", view.unit);
        ww_jsonw_str(w, "help", view.help);
        ww_jsonw_close(w, '}');
    }
    ww_jsonw_close(w, ']');
    ww_jsonw_close(w, '}');
    return WW_OK;
}

static enum ww_code list_run(const struct cmd_line *line, struct ww_error *error) {
    if (ww_cmd_has(line, "names")) {
        list_names();
        return WW_OK;
    }
    if (!ww_cmd_has(line, "json")) return list_table(error);
    struct ww_jsonw w;
    ww_jsonw_begin(&w, stdout);
    ww_jsonw_open(&w, NULL, '[');
    for (size_t i = 0; i < ww_mech_count(); i++) WW_TRY(json_mech(&w, i, error));
    ww_jsonw_close(&w, ']');
    return ww_jsonw_end(&w, error);
}

static const struct cmd_option list_options[] = {{"json", 0, NULL, "print JSON, with all parameters", 0},
                                                 {"names", 0, NULL, "print KIND=NAME only, one a line", 0},
                                                 {0}};
const struct cmd ww_cmd_mech_list = {
    .arguments = "", .about = "", .examples = "warpwatt mech list\n", .options = list_options, .run = list_run};

/* ---- show ---- */

/* Finds NAME or KIND=NAME. */
static enum ww_code find(const char *word, size_t *index, struct ww_error *error) {
    struct ww_nearest near;
    ww_nearest_init(&near, word);
    for (size_t i = 0; i < ww_mech_count(); i++) {
        struct ww_mech_view m;
        char full[128];
        WW_TRY(ww_mech(i, &m, error));
        snprintf(full, sizeof full, "%s=%s", m.kind, m.name);
        *index = i;
        if (strcmp(word, m.name) == 0 || strcmp(word, full) == 0) return WW_OK;
        ww_nearest_offer(&near, m.name);
    }
    const char *best = ww_nearest_get(&near);
    return ww_fail(error, WW_USAGE, "warpwatt mech show",
                   "unknown mechanism \"%.80s\"%s%s%s; see warpwatt mech list", word,
                   best ? "; did you mean \"" : "", best ? best : "", best ? "\"?" : "");
}

static enum ww_code show_text(size_t i, struct ww_error *error) {
    struct ww_mech_view m;
    WW_TRY(ww_mech(i, &m, error));
    printf("%s=%s%s: %s\n", m.kind, m.name, m.is_default ? " (default)" : "", m.help);
    if (m.paper && *m.paper) printf("published in: %s\n", m.paper);
    if (m.param_count == 0) {
        puts("no parameters");
        return WW_OK;
    }
    static const char *const heading[] = {"parameter", "default", "bounds", "unit", "meaning"};
    struct cmd_table t = {.columns = 5};
    for (size_t c = 0; c < t.columns; c++) ww_cmd_table_cell(&t, heading[c]);
    for (size_t p = 0; p < m.param_count; p++) {
        struct ww_param_view view;
        WW_TRY(ww_mech_param(i, p, &view, error));
        ww_cmd_table_cellf(&t, "%s.%s", m.kind, view.key);
        ww_cmd_table_cell(&t, view.value);
        ww_cmd_table_cell(&t, view.bounds);
        ww_cmd_table_cell(&t, view.unit);
        ww_cmd_table_cell(&t, view.help);
    }
    return ww_cmd_table_print(&t, stdout, error);
}

static enum ww_code show_run(const struct cmd_line *line, struct ww_error *error) {
    size_t i = 0;
    WW_TRY(find(line->argument[0], &i, error));
    if (!ww_cmd_has(line, "json")) return show_text(i, error);
    struct ww_jsonw w;
    ww_jsonw_begin(&w, stdout);
    WW_TRY(json_mech(&w, i, error));
    return ww_jsonw_end(&w, error);
}

static const struct cmd_option show_options[] = {{"json", 0, NULL, "print JSON", 0}, {0}};
const struct cmd ww_cmd_mech_show = {
    .arguments = "MECHANISM",
    .min_arguments = 1,
    .max_arguments = 1,
    .about = "MECHANISM is NAME or KIND=NAME as mech list shows them.\n",
    .examples = "warpwatt mech show gto\n",
    .options = show_options,
    .run = show_run,
};
