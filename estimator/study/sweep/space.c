/* Reading a space file. */
#include "../../api/record.h"
#include "program.h"
#include "space.h"
#include "../../config/gpu.h"
#include "../../../power/power.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define FILE_LIMIT ((size_t)1 << 20)
#define TEXT_MOST 1000 /* bytes: conditions are evaluated at every draw */
#define ARENA_LIMIT ((size_t)256 << 20)

enum ww_code ww_space_fail(const struct space_reader *r, const char *path, const char *fmt, ...) {
    char where[400], text[512];
    va_list args;
    snprintf(where, sizeof where, "%.200s: %.180s", r->space->file, path);
    va_start(args, fmt);
    vsnprintf(text, sizeof text, fmt, args);
    va_end(args);
    return ww_fail(r->error, WW_INPUT, where, "%s", text);
}

const char *ww_space_copy(const struct space_reader *r, const char *text) {
    return ww_arena_strdup(&r->space->arena, text);
}

enum ww_code ww_space_nomem(const struct space_reader *r) {
    return ww_fail_nomem(r->error, "a space file");
}

enum ww_code ww_space_keys(const struct space_reader *r, const cJSON *node, const char *path,
                           const char *const *keys) {
    if (!cJSON_IsObject(node)) return ww_space_fail(r, path, "expected an object");
    char where[400];
    snprintf(where, sizeof where, "%.200s: %.180s", r->space->file, path);
    return ww_json_only_keys(node, keys, where, r->error);
}

enum ww_code ww_space_string(const struct space_reader *r, const cJSON *node, const char *path,
                             const char **out) {
    if (!cJSON_IsString(node) || !node->valuestring[0])
        return ww_space_fail(r, path, "expected a text that is not empty");
    if (strlen(node->valuestring) > TEXT_MOST)
        return ww_space_fail(r, path, "a text of more than %d bytes", TEXT_MOST);
    *out = ww_space_copy(r, node->valuestring);
    return *out ? WW_OK : ww_space_nomem(r);
}

enum ww_code ww_space_strings(const struct space_reader *r, const cJSON *node, const char *path, size_t most,
                              const char ***out, size_t *count) {
    size_t n = cJSON_IsArray(node) ? (size_t)cJSON_GetArraySize(node) : 0, i = 0;
    if (!cJSON_IsArray(node) || n > most)
        return ww_space_fail(r, path, "expected an array of at most %zu texts", most);
    *out = ww_arena_array(&r->space->arena, n + 1, sizeof **out);
    if (!*out) return ww_space_nomem(r);
    for (const cJSON *c = node->child; c; c = c->next, i++) {
        char place[128];
        snprintf(place, sizeof place, "%.100s[%zu]", path, i);
        WW_TRY(ww_space_string(r, c, place, &(*out)[i]));
    }
    *count = n;
    return WW_OK;
}

/* ---- mechanisms, conditions, constraints, objectives ---- */

static enum ww_code read_mech(struct space_reader *r, const cJSON *node) {
    struct ww_sweep_space *s = r->space;
    struct ww_mech_choice choice[WW_KIND_COUNT];
    WW_TRY(ww_space_strings(r, node, "$.mech", WW_SWEEP_CLAUSES, &s->mech, &s->mech_count));
    for (size_t i = 0; i < s->mech_count; i++) {
        struct ww_error error = {.code = WW_OK};
        const char *value = strchr(s->mech[i], '=');
        const char *dot = strchr(s->mech[i], '.');
        if (dot && value && dot < value) continue; /* a setting: of a mechanism that a point may choose */
        if (ww_mech_resolve(&s->mech[i], 1, &s->arena, choice, &error) != WW_OK) {
            char path[40];
            snprintf(path, sizeof path, "$.mech[%zu]", i);
            return ww_space_fail(r, path, "%.150s: %.300s", error.where, error.text);
        }
    }
    return WW_OK;
}

static enum ww_code read_objective(struct space_reader *r, const cJSON *node, const char *path,
                                   struct ww_sweep_objective *o) {
    static const char *const keys[] = {"name", "sql", "best", NULL};
    if (cJSON_IsString(node)) {
        const struct ww_sweep_objective *known = ww_space_objective(node->valuestring);
        if (!known)
            return ww_space_fail(r, path,
                                 "\"%.40s\": expected time, energy, edp, ed2p, area, power, or an object with "
                                 "\"name\" and \"sql\"",
                                 node->valuestring);
        *o = *known;
        return WW_OK;
    }
    char place[128];
    WW_TRY(ww_space_keys(r, node, path, keys));
    snprintf(place, sizeof place, "%.100s.name", path);
    WW_TRY(ww_space_string(r, cJSON_GetObjectItemCaseSensitive(node, "name"), place, &o->name));
    snprintf(place, sizeof place, "%.100s.sql", path);
    WW_TRY(ww_space_string(r, cJSON_GetObjectItemCaseSensitive(node, "sql"), place, &o->sql));
    const cJSON *best = cJSON_GetObjectItemCaseSensitive(node, "best");
    snprintf(place, sizeof place, "%.100s.best", path);
    if (best &&
        (!cJSON_IsString(best) || (strcmp(best->valuestring, "least") && strcmp(best->valuestring, "most"))))
        return ww_space_fail(r, place, "expected \"least\" or \"most\"");
    o->most = best && strcmp(best->valuestring, "most") == 0;
    return WW_OK;
}

static enum ww_code read_objectives(struct space_reader *r, const cJSON *node) {
    struct ww_sweep_space *s = r->space;
    size_t n = cJSON_IsArray(node) ? (size_t)cJSON_GetArraySize(node) : 0;
    if (n < 1 || n > WW_SWEEP_OBJECTIVES)
        return ww_space_fail(r, "$.objectives", "expected an array of 1 to %d objectives", WW_SWEEP_OBJECTIVES);
    s->objective = ww_arena_array(&s->arena, n, sizeof *s->objective);
    if (!s->objective) return ww_space_nomem(r);
    for (const cJSON *c = node->child; c; c = c->next) {
        char path[48];
        struct ww_sweep_objective *o = &s->objective[s->objective_count];
        snprintf(path, sizeof path, "$.objectives[%zu]", s->objective_count);
        WW_TRY(read_objective(r, c, path, o));
        for (size_t i = 0; i < s->objective_count; i++)
            if (strcmp(s->objective[i].name, o->name) == 0)
                return ww_space_fail(r, path, "there are two objectives \"%.60s\"", o->name);
        s->objective_count++;
    }
    return WW_OK;
}

/* ---- traces ---- */

static const char *base_name(const struct space_reader *r, const char *path) {
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
    size_t n = strlen(name);
    return ww_arena_strndup(&r->space->arena, name, n > 4 && !strcmp(name + n - 4, ".wwt") ? n - 4 : n);
}

static enum ww_code read_recipe(struct space_reader *r, const cJSON *node, const char *path,
                                struct ww_sweep_trace *t) {
    static const char *const keys[] = {"trace", "workload", "parameters", "weight", "name", NULL};
    char place[128];
    const cJSON *file = cJSON_GetObjectItemCaseSensitive(node, "trace");
    const cJSON *workload = cJSON_GetObjectItemCaseSensitive(node, "workload");
    const cJSON *parameters = cJSON_GetObjectItemCaseSensitive(node, "parameters");
    const cJSON *weight = cJSON_GetObjectItemCaseSensitive(node, "weight");
    const cJSON *name = cJSON_GetObjectItemCaseSensitive(node, "name");
    WW_TRY(ww_space_keys(r, node, path, keys));
    if (!file == !workload) return ww_space_fail(r, path, "expected either \"trace\" or \"workload\"");
    if (file && parameters) return ww_space_fail(r, path, "\"parameters\" are a workload's, not a trace's");
    snprintf(place, sizeof place, "%.100s.%s", path, file ? "trace" : "workload");
    WW_TRY(ww_space_string(r, file ? file : workload, place, file ? &t->path : &t->workload));
    snprintf(place, sizeof place, "%.100s.parameters", path);
    const char **list = NULL;
    if (parameters) WW_TRY(ww_space_strings(r, parameters, place, 64, &list, &t->parameters));
    t->parameter = list;
    snprintf(place, sizeof place, "%.100s.weight", path);
    if (weight && !(cJSON_IsNumber(weight) && weight->valuedouble > 0 && weight->valuedouble <= 1e9))
        return ww_space_fail(r, place, "expected a number above 0, at most 1e9");
    t->weight = weight ? weight->valuedouble : 1;
    snprintf(place, sizeof place, "%.100s.name", path);
    if (name) WW_TRY(ww_space_string(r, name, place, &t->name));
    return WW_OK;
}

static enum ww_code read_trace(struct space_reader *r, const cJSON *node, const char *path,
                               struct ww_sweep_trace *t) {
    t->weight = 1;
    if (cJSON_IsString(node))
        WW_TRY(ww_space_string(r, node, path, &t->path));
    else
        WW_TRY(read_recipe(r, node, path, t));
    if (!t->name) t->name = t->workload ? t->workload : base_name(r, t->path);
    if (!t->name) return ww_space_nomem(r);
    if (!t->workload) return WW_OK;
    for (size_t i = 0; i < ww_workload_count(); i++) {
        struct ww_workload_view view;
        if (ww_workload(i, &view, NULL) == WW_OK && strcmp(view.name, t->workload) == 0) return WW_OK;
    }
    return ww_space_fail(r, path, "no built-in workload is called \"%.60s\" (warpwatt trace workloads)",
                         t->workload);
}

static enum ww_code read_traces(struct space_reader *r, const cJSON *node) {
    struct ww_sweep_space *s = r->space;
    size_t n = cJSON_IsArray(node) ? (size_t)cJSON_GetArraySize(node) : 0;
    if (n < 1 || n > WW_SWEEP_TRACES)
        return ww_space_fail(r, "$.traces", "expected an array of 1 to %d traces", WW_SWEEP_TRACES);
    s->trace = ww_arena_array(&s->arena, n, sizeof *s->trace);
    if (!s->trace) return ww_space_nomem(r);
    for (const cJSON *c = node->child; c; c = c->next) {
        char path[48];
        struct ww_sweep_trace *t = &s->trace[s->trace_count];
        snprintf(path, sizeof path, "$.traces[%zu]", s->trace_count);
        WW_TRY(read_trace(r, c, path, t));
        for (size_t i = 0; i < s->trace_count; i++)
            if (strcmp(s->trace[i].name, t->name) == 0)
                return ww_space_fail(r, path, "there are two traces \"%.60s\": give one a \"name\"", t->name);
        s->trace_count++;
    }
    return WW_OK;
}

/* ---- the whole ---- */

static enum ww_code read_all(struct space_reader *r, const cJSON *root) {
    static const char *const keys[] = {"description", "gpu",        "power",      "mech",
                                       "traces",      "parameters", "conditions", "constraints",
                                       "objectives",  "program",    NULL};
    struct ww_sweep_space *s = r->space;
    const cJSON *node;
    WW_TRY(ww_space_keys(r, root, "$", keys));
    WW_TRY(ww_space_string(r, cJSON_GetObjectItemCaseSensitive(root, "gpu"), "$.gpu", &s->gpu));
    if ((node = cJSON_GetObjectItemCaseSensitive(root, "power")))
        WW_TRY(ww_space_string(r, node, "$.power", &s->power));
    if ((node = cJSON_GetObjectItemCaseSensitive(root, "description")) && !cJSON_IsString(node))
        return ww_space_fail(r, "$.description", "expected a text");
    const cJSON *program = cJSON_GetObjectItemCaseSensitive(root, "program");
    const cJSON *traces = cJSON_GetObjectItemCaseSensitive(root, "traces");
    if (program && traces)
        return ww_space_fail(r, "$", "\"traces\" are recorded of \"program\": expected one of them");
    WW_TRY(program ? ww_program_read(r, program) : read_traces(r, traces));
    if ((node = cJSON_GetObjectItemCaseSensitive(root, "mech"))) WW_TRY(read_mech(r, node));
    WW_TRY(ww_space_read_params(r, cJSON_GetObjectItemCaseSensitive(root, "parameters")));
    if ((node = cJSON_GetObjectItemCaseSensitive(root, "conditions")))
        WW_TRY(ww_space_strings(r, node, "$.conditions", WW_SWEEP_CLAUSES, &s->condition, &s->condition_count));
    if ((node = cJSON_GetObjectItemCaseSensitive(root, "constraints")))
        WW_TRY(
            ww_space_strings(r, node, "$.constraints", WW_SWEEP_CLAUSES, &s->constraint, &s->constraint_count));
    if ((node = cJSON_GetObjectItemCaseSensitive(root, "objectives"))) WW_TRY(read_objectives(r, node));
    char *json = cJSON_PrintUnformatted(root);
    s->json = json ? ww_space_copy(r, json) : NULL;
    cJSON_free(json);
    return s->json ? WW_OK : ww_space_nomem(r);
}

enum ww_code ww_sweep_space_parse(const char *text, size_t n, const char *where, struct ww_sweep_space *space,
                                  struct ww_error *error) {
    *space = (struct ww_sweep_space){0};
    ww_arena_init(&space->arena, ARENA_LIMIT);
    struct space_reader r = {space, error};
    cJSON *root;
    space->file = ww_arena_strdup(&space->arena, where);
    if (!space->file) return ww_space_nomem(&r);
    if (n > FILE_LIMIT) return ww_fail(error, WW_INPUT, where, "larger than %zu bytes, the limit", FILE_LIMIT);
    WW_TRY(ww_json_parse(text, n, where, &root, error));
    enum ww_code code = read_all(&r, root);
    cJSON_Delete(root);
    return code;
}

enum ww_code ww_sweep_space_load(const char *path, struct ww_sweep_space *space, struct ww_error *error) {
    struct ww_buf text;
    *space = (struct ww_sweep_space){0};
    WW_TRY(ww_read_file(path, FILE_LIMIT, &text, error));
    enum ww_code code = ww_sweep_space_parse(text.p ? text.p : "", text.n, path, space, error);
    ww_buf_free(&text);
    return code;
}

void ww_sweep_space_free(struct ww_sweep_space *space) {
    ww_power_free(space->table);
    ww_program_free(space->program);
    space->program = NULL;
    space->table = NULL;
    ww_arena_free(&space->arena);
}
