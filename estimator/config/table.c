/* JSON files that hold arrays of records, each record described by parameter rows. */
#include "table.h"
#include "json.h"
#include <string.h>

#define RECORDS_MAX 100000

struct reader {
    const char *path;
    const cJSON *sources;
    struct ww_arena *arena;
};

static bool has_row(const struct ww_table_section *s, const char *key) {
    return ww_param_find(s->rows, s->row_count, key) >= 0 || strcmp(key, "source") == 0 ||
           strcmp(key, "note") == 0;
}

static enum ww_code check_keys(const struct ww_table_section *s, const cJSON *object, const char *where,
                               struct ww_error *error) {
    for (const cJSON *m = object->child; m; m = m->next) {
        if (!has_row(s, m->string)) {
            const char *near = ww_param_nearest(s->rows, s->row_count, m->string);
            return ww_fail(error, WW_INPUT, where, "unknown key \"%s\"%s%s%s", m->string,
                           near ? " (did you mean \"" : "", near ? near : "", near ? "\"?)" : "");
        }
        for (const cJSON *other = m->next; other; other = other->next)
            if (strcmp(other->string, m->string) == 0)
                return ww_fail(error, WW_INPUT, where, "key \"%s\" is given twice", m->string);
    }
    return WW_OK;
}

static enum ww_code read_value(const struct ww_param *row, void *record, const cJSON *value, const char *where,
                               struct ww_error *error) {
    char place[512];
    snprintf(place, sizeof place, "%s.%s", where, row->key);
    if (!value) {
        bool missing = row->type == WW_STR ? !row->def_text : isnan(row->def);
        return missing ? ww_fail(error, WW_INPUT, place, "missing; expected %s", row->help) : WW_OK;
    }
    if (cJSON_IsString(value)) return ww_param_set_text(row, record, value->valuestring, place, error);
    if (cJSON_IsNumber(value)) return ww_param_set_number(row, record, value->valuedouble, place, error);
    if (cJSON_IsBool(value)) return ww_param_set_number(row, record, cJSON_IsTrue(value), place, error);
    return ww_fail(error, WW_INPUT, place, "expected a value, found an object, array or null");
}

static enum ww_code read_source(const struct reader *r, const cJSON *object, const char *where,
                                const char **out, struct ww_error *error) {
    const cJSON *source = cJSON_GetObjectItemCaseSensitive(object, "source");
    if (!cJSON_IsString(source) || !source->valuestring[0])
        return ww_fail(error, WW_INPUT, where, "\"source\" is missing: every figure names where it is from");
    const cJSON *full = cJSON_GetObjectItemCaseSensitive(r->sources, source->valuestring);
    *out = ww_arena_strdup(r->arena, cJSON_IsString(full) ? full->valuestring : source->valuestring);
    return *out ? WW_OK : ww_fail_nomem(error, where);
}

static enum ww_code read_record(const struct reader *r, const struct ww_table_section *s, const cJSON *object,
                                size_t i, struct ww_error *error) {
    char where[400];
    snprintf(where, sizeof where, "%s: $.%s[%zu]", r->path, s->key, i);
    if (!cJSON_IsObject(object)) return ww_fail(error, WW_INPUT, where, "expected an object");
    WW_TRY(check_keys(s, object, where, error));
    char *record = (char *)s->records + i * s->record_size;
    ww_param_defaults(s->rows, s->row_count, record);
    for (size_t k = 0; k < s->row_count; k++)
        WW_TRY(read_value(&s->rows[k], record, cJSON_GetObjectItemCaseSensitive(object, s->rows[k].key), where,
                          error));
    return read_source(r, object, where, (const char **)(void *)(record + s->source_offset), error);
}

static enum ww_code read_section(const struct reader *r, struct ww_table_section *s, const cJSON *array,
                                 struct ww_error *error) {
    char where[400];
    snprintf(where, sizeof where, "%s: $.%s", r->path, s->key);
    s->count = 0;
    if (!s->record_size || (!array && !s->required)) return WW_OK;
    if (!cJSON_IsArray(array)) return ww_fail(error, WW_INPUT, where, "expected an array of objects");
    int n = cJSON_GetArraySize(array);
    if (n > RECORDS_MAX)
        return ww_fail(error, WW_INPUT, where, "%d records; expected at most %d", n, RECORDS_MAX);
    s->records = ww_arena_array(r->arena, (size_t)n, s->record_size);
    if (!s->records) return ww_fail_nomem(error, where);
    for (const cJSON *object = array->child; object; object = object->next)
        WW_TRY(read_record(r, s, object, s->count++, error));
    return WW_OK;
}

static bool known_section(const struct ww_table_section *section, size_t count, const char *key) {
    for (size_t i = 0; i < count; i++)
        if (strcmp(section[i].key, key) == 0) return true;
    return strcmp(key, "description") == 0 || strcmp(key, "sources") == 0;
}

static enum ww_code read_root(struct reader *r, const cJSON *root, struct ww_table_section *section,
                              size_t count, const char **description, struct ww_error *error) {
    if (!cJSON_IsObject(root)) return ww_fail(error, WW_INPUT, r->path, "$: expected an object");
    for (const cJSON *m = root->child; m; m = m->next)
        if (!known_section(section, count, m->string))
            return ww_fail(error, WW_INPUT, r->path, "$: unknown key \"%s\"", m->string);
    r->sources = cJSON_GetObjectItemCaseSensitive(root, "sources");
    const cJSON *text = cJSON_GetObjectItemCaseSensitive(root, "description");
    if (description) {
        *description = ww_arena_strdup(r->arena, cJSON_IsString(text) ? text->valuestring : "");
        if (!*description) return ww_fail_nomem(error, r->path);
    }
    for (size_t i = 0; i < count; i++)
        WW_TRY(read_section(r, &section[i], cJSON_GetObjectItemCaseSensitive(root, section[i].key), error));
    return WW_OK;
}

enum ww_code ww_table_load(const char *path, struct ww_table_section *section, size_t count,
                           struct ww_arena *arena, const char **description, struct ww_error *error) {
    cJSON *root = NULL;
    WW_TRY(ww_json_load(path, &root, error));
    struct reader r = {.path = path, .arena = arena};
    enum ww_code code = read_root(&r, root, section, count, description, error);
    cJSON_Delete(root);
    return code;
}
