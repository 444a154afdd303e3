/* warpwatt gpu list|show|diff */
#include "../warpwatt.h"
#include "../base/escape.h"
#include "cmd.h"
#include <stdlib.h>
#include <string.h>

static const char *find(const struct ww_gpu *gpu, const char *key, struct ww_param_view *view) {
    for (size_t i = 0; i < ww_gpu_param_count(); i++)
        if (ww_gpu_param(gpu, i, view, NULL) == WW_OK && strcmp(view->key, key) == 0) return view->value;
    return "?";
}

static double number(const struct ww_gpu *gpu, const char *key) {
    struct ww_param_view view;
    return strtod(find(gpu, key, &view), NULL);
}

/* GB/s (10^9 bytes) that the DRAM's pins carry. */
static double dram_bandwidth(const struct ww_gpu *gpu) {
    return number(gpu, "dram.channels") * number(gpu, "dram.bus_bits") / 8 * number(gpu, "dram.data_rate") *
           number(gpu, "clock.dram_mhz") / 1e3;
}

static const char *const list_keys[] = {"arch",       "node_nm",    "sm.count", "clock.sm_mhz",
                                        "l1.size_kb", "l2.size_kb", "dram.type"};
#define LIST_KEYS (sizeof list_keys / sizeof list_keys[0])

/* A model of the list: `stem` is what loads it. */
struct listed {
    const char *stem;
    struct ww_gpu *gpu;
};

static void list_json_row(struct ww_jsonw *w, const struct listed *l) {
    struct ww_param_view view;
    ww_jsonw_open_flat(w, NULL, '{');
    ww_jsonw_str(w, "gpu", l->stem);
    ww_jsonw_str(w, "name", ww_gpu_name(l->gpu));
    for (size_t i = 0; i < LIST_KEYS; i++) {
        const char *value = find(l->gpu, list_keys[i], &view);
        if (value[strspn(value, "0123456789.")])
            ww_jsonw_str(w, list_keys[i], value);
        else
            ww_jsonw_f64(w, list_keys[i], strtod(value, NULL));
    }
    ww_jsonw_f64(w, "dram_gb_per_s", dram_bandwidth(l->gpu));
    ww_jsonw_close(w, '}');
}

static enum ww_code list_json(const struct listed *all, size_t count, struct ww_error *error) {
    struct ww_jsonw w;
    ww_jsonw_begin(&w, stdout);
    ww_jsonw_open(&w, NULL, '[');
    for (size_t i = 0; i < count; i++) list_json_row(&w, &all[i]);
    ww_jsonw_close(&w, ']');
    return ww_jsonw_end(&w, error);
}

/* The column of names is there if one is not the file's name. */
static enum ww_code list_table(const struct listed *all, size_t count, struct ww_error *error) {
    static const char *const heading[] = {"GPU",    "arch",   "nm",   "SMs", "SM MHz",
                                          "L1 KiB", "L2 KiB", "DRAM", "GB/s"};
    bool names = false;
    for (size_t i = 0; i < count; i++) names |= strcmp(all[i].stem, ww_gpu_name(all[i].gpu)) != 0;
    struct cmd_table t = {.columns = LIST_KEYS + 2 + names};
    for (size_t i = 0; i < LIST_KEYS + 2; i++) ww_cmd_table_cell(&t, heading[i]);
    if (names) ww_cmd_table_cell(&t, "name");
    for (size_t i = 0; i < count; i++) {
        struct ww_param_view view;
        ww_cmd_table_cell(&t, all[i].stem);
        for (size_t k = 0; k < LIST_KEYS; k++) ww_cmd_table_cell(&t, find(all[i].gpu, list_keys[k], &view));
        ww_cmd_table_cellf(&t, "%.0f", dram_bandwidth(all[i].gpu));
        if (names) ww_cmd_table_cell(&t, ww_gpu_name(all[i].gpu));
    }
    return ww_cmd_table_print(&t, stdout, error);
}

static enum ww_code list_names(const struct ww_names *names) {
    for (size_t i = 0; i < names->count; i++) puts(names->name[i]);
    return WW_OK;
}

/* Every model that loads; of the others, stray files perhaps, only a warning says why. */
static enum ww_code list_models(const struct ww_names *names, bool json, struct ww_error *error) {
    struct listed *all = calloc(names->count + 1, sizeof *all);
    size_t count = 0;
    if (!all) return ww_fail_nomem(error, "a list of GPUs");
    for (size_t i = 0; i < names->count; i++) {
        struct ww_error one;
        all[count].stem = names->name[i];
        if (ww_gpu_load(names->name[i], NULL, 0, &all[count].gpu, &one) == WW_OK)
            count++;
        else
            fprintf(stderr, "warpwatt: left out: %s: %s\n", ww_shown(one.where), ww_shown(one.text));
    }
    enum ww_code code = json ? list_json(all, count, error) : list_table(all, count, error);
    for (size_t i = 0; i < count; i++) ww_gpu_free(all[i].gpu);
    free(all);
    return code;
}

static enum ww_code list_run(const struct cmd_line *line, struct ww_error *error) {
    struct ww_names names;
    WW_TRY(ww_gpu_names(&names, error));
    enum ww_code code =
        ww_cmd_has(line, "names") ? list_names(&names) : list_models(&names, ww_cmd_has(line, "json"), error);
    ww_names_free(&names);
    return code;
}

static const struct cmd_option list_options[] = {
    {"json", 0, NULL, "print JSON", 0}, {"names", 0, NULL, "print names only, one a line", 0}, {0}};
const struct cmd ww_cmd_gpu_list = {
    .arguments = "",
    .about = "Models are JSON files in $WARPWATT_MODELS, $WARPWATT_DATA/models, the source tree's\n"
             "models/ and the installed share/warpwatt/models. The first column is the name that\n"
             "loads: the file's, without .json. A file that does not load is left out with a warning.\n",
    .examples = "warpwatt gpu list\n",
    .options = list_options,
    .run = list_run,
};

/* ---- show ---- */

static enum ww_code load(const struct cmd_line *line, size_t argument, struct ww_gpu **gpu,
                         struct ww_error *error) {
    const char **set;
    size_t count;
    *gpu = NULL;
    enum ww_code code = ww_cmd_all(line, "set", &set, &count, error);
    if (code == WW_OK) code = ww_gpu_load(line->argument[argument], set, count, gpu, error);
    free(set);
    return code;
}

enum { SOURCE_WIDTH = 60, PREFIXES = 16 };

/* Marks the prefixes that the key begins with; true if there is one, or if none is asked for. */
static bool begins(const char *key, const char *const *prefix, size_t count, bool *met) {
    bool any = count == 0;
    for (size_t i = 0; i < count; i++)
        if (strncmp(key, prefix[i], strlen(prefix[i])) == 0) any = met[i] = true;
    return any;
}

static enum ww_code show_table(const struct ww_gpu *gpu, const char *const *prefix, size_t count, bool whole,
                               struct ww_error *error) {
    struct cmd_table t = {.columns = 6};
    bool met[PREFIXES] = {false};
    static const char *const heading[] = {"parameter", "value", "bounds", "unit", "meaning", "source"};
    for (size_t i = 0; i < t.columns; i++) ww_cmd_table_cell(&t, heading[i]);
    for (size_t i = 0; i < ww_gpu_param_count(); i++) {
        struct ww_param_view view;
        WW_TRY(ww_gpu_param(gpu, i, &view, error));
        if (!begins(view.key, prefix, count, met)) continue;
        ww_cmd_table_cell(&t, view.key);
        ww_cmd_table_cell(&t, view.value);
        ww_cmd_table_cell(&t, view.bounds);
        ww_cmd_table_cell(&t, view.unit);
        ww_cmd_table_cell(&t, view.help);
        if (!whole && strlen(view.source) > SOURCE_WIDTH) strcpy(view.source + SOURCE_WIDTH - 3, "...");
        ww_cmd_table_cell(&t, view.source[0] ? view.source : "-");
    }
    size_t unmet = 0;
    while (unmet < count && met[unmet]) unmet++;
    if (unmet == count) return ww_cmd_table_print(&t, stdout, error);
    for (size_t i = 0; i < t.count; i++) free(t.cell[i]);
    free(t.cell);
    return ww_fail(error, WW_USAGE, "warpwatt gpu show", "no parameter begins with \"%.80s\"", prefix[unmet]);
}

static enum ww_code show_run(const struct cmd_line *line, struct ww_error *error) {
    struct ww_gpu *gpu;
    WW_TRY(load(line, 0, &gpu, error));
    enum ww_code code = WW_OK;
    if (ww_cmd_has(line, "json"))
        printf("%s\n", ww_gpu_json(gpu));
    else
        code =
            show_table(gpu, line->argument + 1, line->argument_count - 1, ww_cmd_has(line, "sources"), error);
    ww_gpu_free(gpu);
    return code;
}

static const struct cmd_option show_options[] = {
    {"set", 0, "KEY=VALUE", "override a parameter", CMD_REPEAT},
    {"sources", 0, NULL, "print sources in full length", 0},
    {"json", 0, NULL, "print all parameters as one JSON object, sorted by key", 0},
    {0}};
const struct cmd ww_cmd_gpu_show = {
    .arguments = "GPU [PREFIX...]",
    .min_arguments = 1,
    .max_arguments = 1 + PREFIXES,
    .about = "GPU is a name that gpu list shows, or a path that ends in .json. With PREFIX only\n"
             "parameters whose key begins with it, or with one of several, are shown. docs/reference/gpu.md "
             "explains the "
             "format.\n",
    .examples = "warpwatt gpu show gtx480 l1.\nwarpwatt gpu show v100 l1. l2. --sources\nwarpwatt gpu show "
                "v100 --set l2.size_kb=12288 --json\n",
    .options = show_options,
    .run = show_run,
};

/* ---- diff ---- */

static enum ww_code diff_gpus(const struct ww_gpu *a, const struct ww_gpu *b, bool json,
                              struct ww_error *error) {
    struct cmd_table t = {.columns = 4};
    struct ww_jsonw w;
    ww_jsonw_begin(&w, stdout);
    if (json) {
        ww_jsonw_open(&w, NULL, '[');
    } else {
        ww_cmd_table_cell(&t, "parameter");
        ww_cmd_table_cell(&t, ww_gpu_name(a));
        ww_cmd_table_cell(&t, ww_gpu_name(b));
        ww_cmd_table_cell(&t, "unit");
    }
    for (size_t i = 0; i < ww_gpu_param_count(); i++) {
        struct ww_param_view x, y;
        WW_TRY(ww_gpu_param(a, i, &x, error));
        WW_TRY(ww_gpu_param(b, i, &y, error));
        if (strcmp(x.value, y.value) == 0) continue;
        if (json) {
            ww_jsonw_open_flat(&w, NULL, '{');
            ww_jsonw_str(&w, "parameter", x.key);
            ww_jsonw_str(&w, "a", x.value);
            ww_jsonw_str(&w, "b", y.value);
            ww_jsonw_str(&w, "unit", x.unit);
            ww_jsonw_close(&w, '}');
        } else {
            ww_cmd_table_cell(&t, x.key);
            ww_cmd_table_cell(&t, x.value);
            ww_cmd_table_cell(&t, y.value);
            ww_cmd_table_cell(&t, x.unit);
        }
    }
    if (!json) return ww_cmd_table_print(&t, stdout, error);
    ww_jsonw_close(&w, ']');
    return ww_jsonw_end(&w, error);
}

static enum ww_code diff_run(const struct cmd_line *line, struct ww_error *error) {
    struct ww_gpu *a, *b = NULL;
    WW_TRY(ww_gpu_load(line->argument[0], NULL, 0, &a, error));
    enum ww_code code = ww_gpu_load(line->argument[1], NULL, 0, &b, error);
    if (code == WW_OK) code = diff_gpus(a, b, ww_cmd_has(line, "json"), error);
    ww_gpu_free(a);
    ww_gpu_free(b);
    return code;
}

static const struct cmd_option diff_options[] = {{"json", 0, NULL, "print JSON", 0}, {0}};
const struct cmd ww_cmd_gpu_diff = {
    .arguments = "GPU GPU",
    .min_arguments = 2,
    .max_arguments = 2,
    .about = "",
    .examples = "warpwatt gpu diff gtx480 gtx980\n",
    .options = diff_options,
    .run = diff_run,
};
