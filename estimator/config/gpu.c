/* A GPU's parameters as a C struct, from gpu.def. */
#include "../api/gpu.h"
#include "../base/locale.h"
#include "gpu.h"
#include "../base/outfile.h"
#include "find.h"
#include "json.h"
#include <stdlib.h>
#include <string.h>

#define INHERIT_MAX 8
#define ARENA_LIMIT ((size_t)64 << 20)

const struct ww_param ww_gpu_rows[] = {
#define U32(field, ...) WW_PARAM_U32(ww_gpu_spec, field, __VA_ARGS__),
#define F64(field, ...) WW_PARAM_F64(ww_gpu_spec, field, __VA_ARGS__),
#define BOOL(field, ...) WW_PARAM_BOOL(ww_gpu_spec, field, __VA_ARGS__),
#define ENUM(field, ...) WW_PARAM_ENUM(ww_gpu_spec, field, __VA_ARGS__),
#define STR(field, ...) WW_PARAM_STR(ww_gpu_spec, field, __VA_ARGS__),
#include "gpu.def"
#undef U32
#undef F64
#undef BOOL
#undef ENUM
#undef STR
};
#define ROW_COUNT (sizeof ww_gpu_rows / sizeof ww_gpu_rows[0])
const size_t ww_gpu_row_count = ROW_COUNT;

/* One load on its way through a file and its ancestors. */
struct load {
    struct ww_gpu *gpu;
    bool seen[ROW_COUNT];
    unsigned depth;
    uint32_t node_nm, dram_type; /* of the ancestor that a power table is named after */
    struct ww_error *error;
};

static bool is_path(const char *name) {
    size_t n = strlen(name);
    return n > 5 && strcmp(name + n - 5, ".json") == 0;
}

/* The file's name without folders and ".json". */
static void file_stem(const char *path, char out[WW_STR_MAX]) {
    const char *slash = strrchr(path, '/');
    const char *base = slash ? slash + 1 : path;
    size_t n = strlen(base);
    if (is_path(base)) n -= 5;
    if (n >= WW_STR_MAX) n = WW_STR_MAX - 1;
    memcpy(out, base, n);
    out[n] = 0;
}

/* The file of `name`: a path as given, else in the folder of the file that inherits from it, else in the search
 * directories. */
static enum ww_code locate(const char *name, const char *beside, char out[WW_PATH_MAX],
                           struct ww_error *error) {
    const char *slash = beside ? strrchr(beside, '/') : NULL;
    int dir = slash ? (int)(slash - beside + 1) : 0;
    if (is_path(name) || (beside && !strchr(name, '/'))) {
        const char *end = is_path(name) ? "" : ".json";
        int n = name[0] == '/' ? snprintf(out, WW_PATH_MAX, "%s", name)
                               : snprintf(out, WW_PATH_MAX, "%.*s%s%s", dir, beside ? beside : "", name, end);
        if (n < 0 || n >= WW_PATH_MAX) return ww_fail(error, WW_INPUT, "", "path is too long: %.80s", name);
        FILE *f = is_path(name) ? NULL : fopen(out, "r");
        if (f) fclose(f);
        if (f || is_path(name)) return WW_OK;
    }
    return ww_find_data("models", name, out, WW_PATH_MAX, error);
}

static enum ww_code load_file(struct load *l, const char *path);

/* Remembers an ancestor that a power table is named after; the nearest one comes last. */
static enum ww_code note_table(struct load *l, const char *path) {
    char name[WW_STR_MAX], table[WW_PATH_MAX];
    file_stem(path, name);
    if (ww_find_data("power", name, table, sizeof table, NULL) != WW_OK) return WW_OK;
    l->gpu->ancestor_table = ww_arena_strdup(&l->gpu->arena, name);
    l->node_nm = l->gpu->spec.node_nm;
    l->dram_type = l->gpu->spec.dram_type;
    return l->gpu->ancestor_table ? WW_OK : ww_fail_nomem(l->error, "a GPU");
}

static enum ww_code load_parent(struct load *l, const cJSON *root, const char *path) {
    const cJSON *parent = cJSON_GetObjectItemCaseSensitive(root, "inherits");
    if (!parent) return WW_OK;
    char where[WW_PATH_MAX + 16], up[WW_PATH_MAX];
    snprintf(where, sizeof where, "%s: $.inherits", path);
    if (!cJSON_IsString(parent))
        return ww_fail(l->error, WW_INPUT, where, "expected a string, the name of a model");
    if (l->depth >= INHERIT_MAX)
        return ww_fail(l->error, WW_INPUT, where, "more than %d levels: does \"%.80s\" inherit from itself?",
                       INHERIT_MAX, parent->valuestring);
    if (locate(parent->valuestring, path, up, l->error) != WW_OK) return ww_error_within(l->error, where);
    l->depth++;
    enum ww_code code = load_file(l, up);
    l->depth--;
    return code == WW_OK ? note_table(l, up) : code;
}

/* Models choose between two schedulers only; the error for another one names --mech. */
static enum ww_code say_scheduler(enum ww_code code, const char *where, struct ww_error *error) {
    size_t n = strlen(error->text);
    if (code != WW_OK && strstr(where, "core.sched"))
        snprintf(error->text + n, sizeof error->text - n,
                 "; runs choose other schedulers by --mech sched=NAME (mech list)");
    return code;
}

/* The path of a power table that a file names is relative to that file. */
static enum ww_code place_table(struct load *l, const char *path) {
    char *table = l->gpu->spec.power_table, joined[sizeof l->gpu->spec.power_table];
    const char *slash = strrchr(path, '/');
    size_t n = strlen(table);
    if (n < 5 || strcmp(table + n - 5, ".json") != 0 || table[0] == '/' || !slash) return WW_OK;
    int made = snprintf(joined, sizeof joined, "%.*s/%s", (int)(slash - path), path, table);
    if (made < 0 || (size_t)made >= sizeof joined)
        return ww_fail(l->error, WW_INPUT, path, "the path of power_table is longer than %zu bytes",
                       sizeof joined - 1);
    memcpy(table, joined, (size_t)made + 1);
    return WW_OK;
}

static enum ww_code load_object(struct load *l, const cJSON *root, const char *path) {
    char inherited[sizeof l->gpu->spec.power_table];
    static const char *const reserved[] = {"inherits", "sources", "description", NULL};
    WW_TRY(load_parent(l, root, path));
    l->gpu->spec.name[0] = 0; /* a name is not inherited */
    memcpy(inherited, l->gpu->spec.power_table, sizeof inherited);
    l->gpu->spec.power_table[0] = 0;
    const cJSON *sources = cJSON_GetObjectItemCaseSensitive(root, "sources");
    if (sources && !cJSON_IsObject(sources)) {
        char where[WW_PATH_MAX + 16];
        snprintf(where, sizeof where, "%s: $.sources", path);
        return ww_fail(l->error, WW_INPUT, where, "expected an object of source texts by short name");
    }
    struct ww_json_reader reader = {.file = path,
                                    .rows = ww_gpu_rows,
                                    .count = ROW_COUNT,
                                    .object = &l->gpu->spec,
                                    .seen = l->seen,
                                    .source = l->gpu->source,
                                    .arena = &l->gpu->arena,
                                    .sources = sources};
    WW_TRY(
        say_scheduler(ww_json_read_params(&reader, root, "$", reserved, l->error), l->error->where, l->error));
    if (l->gpu->spec.power_table[0]) return place_table(l, path);
    memcpy(l->gpu->spec.power_table, inherited, sizeof inherited);
    return WW_OK;
}

static enum ww_code note_file(struct load *l, const char *path) {
    struct ww_gpu *gpu = l->gpu;
    if (!gpu->file) gpu->file = ww_arena_array(&gpu->arena, INHERIT_MAX + 1, sizeof *gpu->file);
    const char *copy = gpu->file ? ww_arena_strdup(&gpu->arena, path) : NULL;
    if (!copy) return ww_fail_nomem(l->error, "a GPU");
    gpu->file[gpu->file_count++] = copy;
    return WW_OK;
}

enum ww_code ww_gpu_not_output(const struct ww_gpu *gpu, const char *out, struct ww_error *error) {
    for (size_t i = 0; i < gpu->file_count; i++) WW_TRY(ww_outfile_not_input(out, gpu->file[i], error));
    return WW_OK;
}

static enum ww_code load_file(struct load *l, const char *path) {
    cJSON *root;
    WW_TRY(ww_json_load(path, &root, l->error));
    if (l->gpu->file_count <= INHERIT_MAX && note_file(l, path) != WW_OK) {
        cJSON_Delete(root);
        return WW_NOMEM;
    }
    enum ww_code code = load_object(l, root, path);
    cJSON_Delete(root);
    return code;
}

static enum ww_code apply_override(struct load *l, const char *text) {
    const char *equals = strchr(text, '=');
    size_t n = equals ? (size_t)(equals - text) : strlen(text);
    char where[160], key[96];
    snprintf(where, sizeof where, "--set %.120s", text);
    if (!equals || n == 0) return ww_fail(l->error, WW_USAGE, where, "expected KEY=VALUE");
    snprintf(key, sizeof key, "%.*s", (int)(n < sizeof key ? n : sizeof key - 1), text);
    int i = ww_param_find(ww_gpu_rows, ROW_COUNT, key);
    if (i < 0) {
        const char *near = ww_param_nearest(ww_gpu_rows, ROW_COUNT, key);
        return ww_fail(l->error, WW_INPUT, where, "unknown key \"%s\"%s%s%s", key,
                       near ? "; did you mean \"" : "", near ? near : "", near ? "\"?" : "");
    }
    WW_TRY(say_scheduler(ww_param_set_text(&ww_gpu_rows[i], &l->gpu->spec, equals + 1, where, l->error), key,
                         l->error));
    l->seen[i] = true;
    l->gpu->source[i] = "override";
    return WW_OK;
}

static const char *value_text(struct ww_gpu *gpu, const struct ww_param *row, const struct ww_gpu_spec *spec) {
    struct ww_buf text = {0};
    ww_param_print_text(row, spec, &text);
    const char *copy = text.failed ? NULL : ww_arena_strdup(&gpu->arena, text.p ? text.p : "");
    ww_buf_free(&text);
    return copy;
}

/* What the overrides changed of the file's own values, in `base`. */
static enum ww_code note_overrides(struct load *l, const struct ww_gpu_spec *base) {
    struct ww_gpu *gpu = l->gpu;
    gpu->override = ww_arena_array(&gpu->arena, ROW_COUNT, sizeof *gpu->override);
    if (!gpu->override) return ww_fail_nomem(l->error, "a GPU");
    for (size_t i = 0; i < ROW_COUNT; i++) {
        if (strcmp(gpu->source[i], "override") != 0) continue;
        struct ww_override o = {ww_gpu_rows[i].key, value_text(gpu, &ww_gpu_rows[i], &gpu->spec),
                                value_text(gpu, &ww_gpu_rows[i], base)};
        if (!o.value || !o.base) return ww_fail_nomem(l->error, "a GPU");
        if (strcmp(o.value, o.base) != 0) gpu->override[gpu->override_count++] = o;
    }
    return WW_OK;
}

static enum ww_code fail_missing(const struct load *l, const char *path) {
    const char *first = NULL;
    size_t missing = 0;
    for (size_t i = 0; i < ROW_COUNT; i++)
        if (!l->seen[i] && ww_gpu_rows[i].type != WW_STR && isnan(ww_gpu_rows[i].def)) {
            if (!first) first = ww_gpu_rows[i].key;
            missing++;
        }
    if (!missing) return WW_OK;
    char where[WW_PATH_MAX + 128];
    snprintf(where, sizeof where, "%s: $.%s", path, first);
    return ww_fail(l->error, WW_INPUT, where, "missing key; it has no default (%zu missing in all)", missing);
}

static int by_key(const void *a, const void *b) {
    return strcmp(ww_gpu_rows[*(const size_t *)a].key, ww_gpu_rows[*(const size_t *)b].key);
}

static enum ww_code make_json(struct ww_gpu *gpu, struct ww_error *error) {
    size_t order[ROW_COUNT];
    for (size_t i = 0; i < ROW_COUNT; i++) order[i] = i;
    qsort(order, ROW_COUNT, sizeof order[0], by_key);
    struct ww_buf out = {0};
    ww_buf_puts(&out, "{");
    for (size_t i = 0; i < ROW_COUNT; i++) {
        const struct ww_param *row = &ww_gpu_rows[order[i]];
        ww_buf_printf(&out, "%s\"%s\":", i ? "," : "", row->key);
        ww_param_print_json(row, &gpu->spec, &out);
    }
    ww_buf_puts(&out, "}");
    gpu->json = out.failed ? NULL : ww_arena_strndup(&gpu->arena, out.p, out.n);
    ww_buf_free(&out);
    return gpu->json ? WW_OK : ww_fail_nomem(error, "a GPU's parameters");
}

/* "--set A=1 --set B=2": the overrides, which an error names if the file alone is valid. */
static void name_overrides(const char *const *overrides, size_t count, char out[240]) {
    struct ww_buf text = {0};
    for (size_t i = 0; i < count; i++) ww_buf_printf(&text, "%s--set %s", i ? " " : "", overrides[i]);
    snprintf(out, 240, "%s", text.p ? text.p : "");
    ww_buf_free(&text);
}

/* A model without a power table of its own takes that of the nearest ancestor that has one, if it is made in
 * the same process and has the same kind of memory: energies of an event are the same then. Counts, sizes and
 * clocks may differ, which tables scale with. */
static void take_table(struct load *l) {
    struct ww_gpu_spec *spec = &l->gpu->spec;
    const char *ancestor = l->gpu->ancestor_table;
    char table[WW_PATH_MAX];
    if (!ancestor || spec->power_table[0] ||
        ww_find_data("power", spec->name, table, sizeof table, NULL) == WW_OK)
        return;
    if (spec->node_nm != l->node_nm || spec->dram_type != l->dram_type) return;
    snprintf(spec->power_table, sizeof spec->power_table, "%s", ancestor);
    l->gpu->source[ww_param_find(ww_gpu_rows, ROW_COUNT, "power_table")] =
        "of the model that it inherits from: same node, same memory";
}

static enum ww_code load_all(struct load *l, const char *name, const char *const *overrides, size_t count) {
    char path[WW_PATH_MAX];
    if (!name) return ww_fail(l->error, WW_USAGE, "", "no GPU was named; expected a name or a path");
    WW_TRY(locate(name, NULL, path, l->error));
    ww_param_defaults(ww_gpu_rows, ROW_COUNT, &l->gpu->spec);
    WW_TRY(load_file(l, path));
    if (!l->gpu->spec.name[0]) file_stem(path, l->gpu->spec.name);
    bool sound = fail_missing(l, path) == WW_OK && ww_gpu_check(&l->gpu->spec, path, NULL) == WW_OK;
    struct ww_gpu_spec base = l->gpu->spec;
    for (size_t i = 0; i < count; i++) WW_TRY(apply_override(l, overrides[i]));
    if (count) WW_TRY(note_overrides(l, &base));
    take_table(l);
    WW_TRY(fail_missing(l, path));
    char blamed[240];
    if (sound) name_overrides(overrides, count, blamed);
    WW_TRY(ww_gpu_check(&l->gpu->spec, sound ? blamed : path, l->error));
    return make_json(l->gpu, l->error);
}

enum ww_code ww_gpu_load(const char *name, const char *const *overrides, size_t count, struct ww_gpu **gpu,
                         struct ww_error *error) {
    WW_PLAIN_LOCALE;
    *gpu = NULL;
    struct ww_error local;
    struct ww_gpu *g = calloc(1, sizeof *g);
    if (!g) return ww_fail_nomem(error, "a GPU");
    ww_arena_init(&g->arena, ARENA_LIMIT);
    g->source = ww_arena_array(&g->arena, ROW_COUNT, sizeof *g->source);
    struct load l = {.gpu = g, .error = error ? error : &local};
    enum ww_code code = g->source ? WW_OK : ww_fail_nomem(error, "a GPU");
    for (size_t i = 0; code == WW_OK && i < ROW_COUNT; i++) g->source[i] = "";
    if (code == WW_OK) code = load_all(&l, name, overrides, count);
    if (code == WW_OK)
        *gpu = g;
    else
        ww_gpu_free(g);
    return code;
}

void ww_gpu_free(struct ww_gpu *gpu) {
    if (!gpu) return;
    ww_arena_free(&gpu->arena);
    free(gpu);
}

const char *ww_gpu_name(const struct ww_gpu *gpu) {
    return gpu->spec.name;
}

const struct ww_override *ww_gpu_overrides(const struct ww_gpu *gpu, size_t *count) {
    *count = gpu->override_count;
    return gpu->override;
}

const char *ww_gpu_ancestor_table(const struct ww_gpu *gpu) {
    return gpu->ancestor_table;
}

const char *ww_gpu_json(const struct ww_gpu *gpu) {
    return gpu->json;
}

size_t ww_gpu_param_count(void) {
    return ROW_COUNT;
}

enum ww_code ww_gpu_param(const struct ww_gpu *gpu, size_t i, struct ww_param_view *view,
                          struct ww_error *error) {
    WW_PLAIN_LOCALE;
    if (i >= ROW_COUNT)
        return ww_fail(error, WW_USAGE, "", "there is no parameter %zu, expected less than %zu", i, ROW_COUNT);
    ww_param_view_fill(&ww_gpu_rows[i], &gpu->spec, gpu->source[i], view);
    return WW_OK;
}
