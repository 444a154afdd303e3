/* The kit's JSON: reports/schema/hardware.json. */
#include "../../result/measured.h"
#include "hardware.h"
#include "../../config/json.h"
#include <string.h>

#define SCHEMA "warpwatt-hardware-1"
#define MOST 1e15 /* of whole numbers, which a double holds exactly */
#define HUGE_FIGURE 1e30

struct reader {
    struct ww_measured *m;
    char where[320]; /* the record */
    const cJSON *node;
    enum ww_code code; /* the first failure; later calls do nothing */
    struct ww_error *error;
};

static double number(struct reader *r, const char *key, double min, double max) {
    double v = 0;
    if (r->code == WW_OK) r->code = ww_json_get_number(r->node, key, r->where, min, max, &v, r->error);
    return v;
}

static uint64_t whole(struct reader *r, const char *key, double max) {
    double v = number(r, key, 0, max);
    if (r->code == WW_OK && v != (double)(uint64_t)v)
        r->code = ww_fail(r->error, WW_INPUT, r->where, "%s is not a whole number", key);
    return r->code == WW_OK ? (uint64_t)v : 0;
}

static const char *text(struct reader *r, const char *key) {
    const char *s = "";
    if (r->code == WW_OK) r->code = ww_json_get_string(r->node, key, r->where, &s, r->error);
    if (r->code != WW_OK) return "";
    const char *copy = ww_arena_strdup(ww_measured_arena(r->m), s);
    if (!copy) r->code = ww_fail_nomem(r->error, r->where);
    return copy ? copy : "";
}

static bool boolean(struct reader *r, const char *key) {
    const cJSON *v = cJSON_GetObjectItemCaseSensitive(r->node, key);
    if (r->code == WW_OK && !cJSON_IsBool(v))
        r->code = ww_fail(r->error, WW_INPUT, r->where, "%s: expected true or false", key);
    return cJSON_IsTrue(v);
}

static void only(struct reader *r, const char *const *keys) {
    if (r->code == WW_OK) r->code = ww_json_only_keys(r->node, keys, r->where, r->error);
}

/* ---- records ---- */

static void read_statistics(struct reader *r, double *median, double *low, double *high, uint64_t *count) {
    *median = number(r, "median", -HUGE_FIGURE, HUGE_FIGURE);
    *low = number(r, "low", -HUGE_FIGURE, HUGE_FIGURE);
    *high = number(r, "high", -HUGE_FIGURE, HUGE_FIGURE);
    *count = whole(r, "count", MOST);
    if (r->code == WW_OK && !(*low <= *median && *median <= *high))
        r->code = ww_fail(r->error, WW_INPUT, r->where, "the median %g lies outside of its quartiles %g and %g",
                          *median, *low, *high);
}

static void read_figure(struct reader *r) {
    static const char *const keys[] = {"id",     "kind", "part", "method", "parameters", "unit",
                                       "median", "low",  "high", "count",  NULL};
    struct ww_measured_figure *f = &r->m->figure[r->m->figure_count];
    only(r, keys);
    f->part = text(r, "part");
    f->method = text(r, "method");
    f->parameters = text(r, "parameters");
    f->unit = text(r, "unit");
    read_statistics(r, &f->median, &f->low, &f->high, &f->count);
    if (r->code == WW_OK) r->m->figure_count++;
}

static void read_launch(struct reader *r) {
    static const char *const keys[] = {"id",     "kind",   "workload", "parameters",   "seed",   "launch",
                                       "kernel", "grid",   "block",    "shared_bytes", "median", "low",
                                       "high",   "sm_mhz", "count",    "verified",     NULL};
    struct ww_measured_point *p = &r->m->point[r->m->point_count];
    only(r, keys);
    p->workload = text(r, "workload");
    p->parameters = text(r, "parameters");
    p->seed = whole(r, "seed", MOST);
    p->launch = (uint32_t)whole(r, "launch", 1e6);
    p->kernel = text(r, "kernel");
    p->metric = WW_METRIC_TIME;
    p->verified = boolean(r, "verified");
    read_statistics(r, &p->value, &p->low, &p->high, &p->count);
    if (r->code == WW_OK && !(p->low > 0))
        r->code = ww_fail(r->error, WW_INPUT, r->where, "a launch took %g s; expected more than 0", p->low);
    if (r->code == WW_OK) r->m->point_count++;
}

static void read_session(struct reader *r) {
    r->m->ended = text(r, "ended");
    r->m->quick |= boolean(r, "quick");
}

static void read_record(struct reader *r) {
    const char *kind = text(r, "kind");
    if (r->code != WW_OK) return;
    if (strcmp(kind, "figure") == 0)
        read_figure(r);
    else if (strcmp(kind, "launch") == 0)
        read_launch(r);
    else if (strcmp(kind, "session") == 0)
        read_session(r);
    else if (strcmp(kind, "workload") != 0 && strcmp(kind, "failure") != 0)
        r->code = ww_fail(r->error, WW_INPUT, r->where,
                          "kind \"%.40s\": expected figure, launch, workload, failure or session", kind);
}

static enum ww_code read_records(struct reader *r, const cJSON *records, const char *where) {
    size_t count = 0, i = 0;
    if (!cJSON_IsArray(records)) return ww_fail(r->error, WW_INPUT, where, "records: expected an array");
    for (const cJSON *c = records->child; c; c = c->next) count++;
    r->m->figure = ww_arena_array(ww_measured_arena(r->m), count + 1, sizeof *r->m->figure);
    r->m->point = ww_arena_array(ww_measured_arena(r->m), count + 1, sizeof *r->m->point);
    if (!r->m->figure || !r->m->point) return ww_fail_nomem(r->error, where);
    for (const cJSON *c = records->child; c && r->code == WW_OK; c = c->next) {
        snprintf(r->where, sizeof r->where, "%.240s: $.records[%zu]", where, i++);
        if (!cJSON_IsObject(c)) return ww_fail(r->error, WW_INPUT, r->where, "expected an object");
        r->node = c;
        read_record(r);
    }
    return r->code;
}

static enum ww_code read_gpu(struct reader *r, const cJSON *gpu, const char *where) {
    snprintf(r->where, sizeof r->where, "%.240s: $.gpu", where);
    if (!cJSON_IsObject(gpu)) return ww_fail(r->error, WW_INPUT, r->where, "expected an object");
    r->node = gpu;
    r->m->gpu = text(r, "name");
    r->m->compute_capability = text(r, "compute_capability");
    r->m->driver = text(r, "driver");
    r->m->sms = (uint32_t)whole(r, "sms", 1e5);
    r->m->l2_bytes = whole(r, "l2_bytes", MOST);
    r->m->memory_clock_khz = whole(r, "memory_clock_khz", 1e9);
    r->m->memory_bus_bits = whole(r, "memory_bus_bits", 1e6);
    char *json = r->code == WW_OK ? cJSON_PrintUnformatted(gpu) : NULL;
    if (r->code == WW_OK) r->m->gpu_json = json ? ww_arena_strdup(ww_measured_arena(r->m), json) : NULL;
    cJSON_free(json);
    if (r->code == WW_OK && !r->m->gpu_json) return ww_fail_nomem(r->error, where);
    return r->code;
}

static enum ww_code read_root(const cJSON *root, const char *where, struct reader *r) {
    static const char *const keys[] = {"schema", "gpu", "records", NULL};
    const char *schema;
    char place[320];
    snprintf(place, sizeof place, "%.300s: $", where);
    if (!cJSON_IsObject(root)) return ww_fail(r->error, WW_INPUT, place, "expected an object");
    WW_TRY(ww_json_get_string(root, "schema", place, &schema, r->error));
    if (strcmp(schema, SCHEMA) != 0)
        return ww_fail(r->error, WW_INPUT, place, "schema \"%.60s\": expected \"" SCHEMA "\"", schema);
    WW_TRY(ww_json_only_keys(root, keys, place, r->error));
    WW_TRY(read_gpu(r, cJSON_GetObjectItemCaseSensitive(root, "gpu"), where));
    return read_records(r, cJSON_GetObjectItemCaseSensitive(root, "records"), where);
}

enum ww_code ww_measured_parse_json(const char *bytes, size_t n, const char *where, struct ww_measured *m,
                                    struct ww_error *error) {
    struct reader r = {.m = m, .error = error};
    cJSON *root;
    WW_TRY(ww_json_parse(bytes, n, where, &root, error));
    enum ww_code code = read_root(root, where, &r);
    cJSON_Delete(root);
    return code;
}
