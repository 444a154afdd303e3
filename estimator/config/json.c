/* Reading JSON over parameter rows, on top of cJSON. */
#include "json.h"
#include "../base/infile.h"
#include "../base/jsonw.h"
#include "json_scan.h"
#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define FILE_LIMIT ((size_t)16 << 20)
#define PATH_LEN 512 /* longer than any row's key, so that a cut path never equals one */

static enum ww_code fail_system(struct ww_error *error, const char *path, const char *what) {
    return ww_fail(error, WW_IO, path, "cannot %s: %s", what, strerror(errno));
}

static enum ww_code read_all(FILE *f, const char *path, size_t limit, struct ww_buf *out,
                             struct ww_error *error) {
    for (;;) {
        size_t room = 64 << 10;
        if (!ww_buf_reserve(out, room)) return ww_fail_nomem(error, path);
        size_t n = fread(out->p + out->n, 1, room, f);
        out->n += n;
        out->p[out->n] = 0;
        if (out->n > limit) return ww_fail(error, WW_INPUT, path, "larger than %zu bytes, the limit", limit);
        if (n == 0) return ferror(f) ? fail_system(error, path, "read") : WW_OK;
    }
}

enum ww_code ww_read_file(const char *path, size_t limit, struct ww_buf *out, struct ww_error *error) {
    *out = (struct ww_buf){0};
    FILE *f;
    WW_TRY(ww_infile_open(path, &f, error));
    enum ww_code code = read_all(f, path, limit, out, error);
    fclose(f);
    if (code != WW_OK) ww_buf_free(out);
    return code;
}

static int by_name(const void *a, const void *b) {
    return strcmp((*(const cJSON *const *)a)->string, (*(const cJSON *const *)b)->string);
}

static enum ww_code refuse_twins(const cJSON *node, const char *where, struct ww_error *error);

/* One object: its own keys, in sorted order so that a large object costs little. */
static enum ww_code refuse_twins_here(const cJSON *node, const char *where, struct ww_error *error) {
    size_t n = 0, i = 0;
    for (const cJSON *c = node->child; c; c = c->next) n++;
    if (n < 2) return WW_OK;
    const cJSON **all = malloc(n * sizeof *all);
    if (!all) return ww_fail_nomem(error, where);
    for (const cJSON *c = node->child; c; c = c->next) all[i++] = c;
    qsort(all, n, sizeof *all, by_name);
    enum ww_code code = WW_OK;
    for (i = 1; i < n && code == WW_OK; i++)
        if (strcmp(all[i - 1]->string, all[i]->string) == 0)
            code = ww_fail(error, WW_INPUT, where, "key \"%.80s\" appears twice in one object", all[i]->string);
    free(all);
    return code;
}

static enum ww_code refuse_twins(const cJSON *node, const char *where, struct ww_error *error) {
    if (cJSON_IsObject(node)) WW_TRY(refuse_twins_here(node, where, error));
    for (const cJSON *c = node->child; c; c = c->next) WW_TRY(refuse_twins(c, where, error));
    return WW_OK;
}

static enum ww_code fail_at(const char *text, size_t at, const char *where, const char *what,
                            struct ww_error *error) {
    size_t line = 1, column = 1;
    for (size_t i = 0; i < at; i++) {
        column++;
        if (text[i] == '\n') {
            line++;
            column = 1;
        }
    }
    char place[320];
    snprintf(place, sizeof place, "%.240s:%zu:%zu", where, line, column);
    return ww_fail(error, WW_INPUT, place, "%s", what);
}

enum ww_code ww_json_parse(const char *text, size_t n, const char *where, cJSON **out, struct ww_error *error) {
    *out = NULL;
    if (n > FILE_LIMIT) return ww_fail(error, WW_INPUT, where, "larger than %zu bytes, the limit", FILE_LIMIT);
    size_t at = 0;
    bool unfinished;
    const char *what = ww_json_scan(text, n, &at, &unfinished);
    if (what) return fail_at(text, at, where, what, error);
    const char *end = NULL;
    cJSON *root = cJSON_ParseWithLengthOpts(text, n, &end, 0);
    if (!root) {
        at = end && end >= text && end <= text + n ? (size_t)(end - text) : n;
        unfinished &= at + 1 >= n; /* cJSON names the last byte if it wants more */
        return unfinished ? fail_at(text, n, where, "the JSON ends too early", error)
                          : fail_at(text, at, where, "not valid JSON here", error);
    }
    while (end < text + n && isspace((unsigned char)*end)) end++;
    enum ww_code code = WW_OK;
    if (end < text + n)
        code = fail_at(text, (size_t)(end - text), where, "expected nothing more behind the JSON value", error);
    else
        code = refuse_twins(root, where, error);
    if (code != WW_OK)
        cJSON_Delete(root);
    else
        *out = root;
    return code;
}

enum ww_code ww_json_load(const char *path, cJSON **out, struct ww_error *error) {
    *out = NULL;
    struct ww_buf text;
    WW_TRY(ww_read_file(path, FILE_LIMIT, &text, error));
    enum ww_code code = ww_json_parse(text.p, text.n, path, out, error);
    ww_buf_free(&text);
    return code;
}

/* One call of ww_json_read_params. */
struct walk {
    struct ww_json_reader *r;
    bool *given; /* one per row: met in this call */
    struct ww_error *error;
};

static void place(const struct walk *w, const char *path, char out[PATH_LEN]) {
    snprintf(out, PATH_LEN, "%.240s: %.240s", w->r->file, path);
}

static enum ww_code fail_unknown_key(const struct walk *w, const char *path) {
    char where[PATH_LEN];
    place(w, path, where);
    const char *near = ww_param_nearest(w->r->rows, w->r->count, path + (path[1] == '.' ? 2 : 0));
    return ww_fail(w->error, WW_INPUT, where, "unknown key%s%s%s", near ? "; did you mean \"" : "",
                   near ? near : "", near ? "\"?" : "");
}

static const char *type_name(const cJSON *v) {
    if (cJSON_IsNull(v)) return "null";
    if (cJSON_IsBool(v)) return "a boolean";
    if (cJSON_IsNumber(v)) return "a number";
    if (cJSON_IsString(v)) return "a string";
    return cJSON_IsArray(v) ? "an array" : "an object";
}

static enum ww_code set_value(const struct walk *w, const struct ww_param *row, const cJSON *v,
                              const char *path) {
    char where[PATH_LEN];
    place(w, path, where);
    const char *expected = "a number";
    switch (row->type) {
    case WW_U32:
    case WW_U64:
    case WW_F64:
        if (cJSON_IsNumber(v)) return ww_param_set_number(row, w->r->object, v->valuedouble, where, w->error);
        break;
    case WW_BOOL:
        if (cJSON_IsBool(v)) return ww_param_set_number(row, w->r->object, cJSON_IsTrue(v), where, w->error);
        expected = "true or false";
        break;
    case WW_ENUM:
    case WW_STR:
        if (cJSON_IsString(v)) return ww_param_set_text(row, w->r->object, v->valuestring, where, w->error);
        expected = row->type == WW_ENUM ? row->unit : "a string";
        break;
    }
    return ww_fail(w->error, WW_INPUT, where, "met %s, expected %s", type_name(v), expected);
}

/* Remembers where a value came from: its own text, or the one that its short name stands for. */
static enum ww_code set_source(const struct walk *w, int i, const cJSON *source, const char *path) {
    struct ww_json_reader *r = w->r;
    char where[PATH_LEN];
    place(w, path, where);
    if (!source && r->need_source) return ww_fail(w->error, WW_INPUT, where, "the value names no \"source\"");
    if (source && (!cJSON_IsString(source) || !*source->valuestring))
        return ww_fail(w->error, WW_INPUT, where, "\"source\": expected a text that is not empty");
    if (!r->source) return WW_OK;
    const char *text = source ? source->valuestring : "";
    const cJSON *full = source ? cJSON_GetObjectItemCaseSensitive(r->sources, text) : NULL;
    if (full && !cJSON_IsString(full))
        return ww_fail(w->error, WW_INPUT, where, "source \"%.80s\" is not a text in \"sources\"", text);
    r->source[i] = ww_arena_strdup(r->arena, full ? full->valuestring : text);
    return r->source[i] ? WW_OK : ww_fail_nomem(w->error, "the sources of values");
}

static enum ww_code read_leaf(const struct walk *w, const cJSON *node, const char *path) {
    static const char *const keys[] = {"value", "source", "note", NULL};
    int i = ww_param_find(w->r->rows, w->r->count, path + 2);
    if (i < 0) return fail_unknown_key(w, path);
    char where[PATH_LEN];
    place(w, path, where);
    if (w->given[i]) return ww_fail(w->error, WW_INPUT, where, "the key is given twice");
    const cJSON *value = node, *source = NULL;
    if (cJSON_IsObject(node)) {
        WW_TRY(ww_json_only_keys(node, keys, where, w->error));
        value = cJSON_GetObjectItemCaseSensitive(node, "value");
        source = cJSON_GetObjectItemCaseSensitive(node, "source");
        const cJSON *note = cJSON_GetObjectItemCaseSensitive(node, "note");
        if (note && !cJSON_IsString(note))
            return ww_fail(w->error, WW_INPUT, where, "\"note\": met %s, expected a string", type_name(note));
    }
    WW_TRY(set_value(w, &w->r->rows[i], value, path));
    WW_TRY(set_source(w, i, source, path));
    w->given[i] = true;
    if (w->r->seen) w->r->seen[i] = true;
    return WW_OK;
}

static bool is_reserved(const char *key, const char *const *reserved) {
    for (; reserved && *reserved; reserved++)
        if (strcmp(*reserved, key) == 0) return true;
    return false;
}

static enum ww_code read_group(const struct walk *w, const cJSON *node, const char *path,
                               const char *const *reserved) {
    for (const cJSON *c = node->child; c; c = c->next) {
        if (is_reserved(c->string, reserved)) continue;
        char below[PATH_LEN];
        snprintf(below, sizeof below, "%s.%s", path, c->string);
        bool group = cJSON_IsObject(c) && !cJSON_GetObjectItemCaseSensitive(c, "value");
        if (group && !c->child) return fail_unknown_key(w, below); /* {}: nothing below would say so */
        WW_TRY(group ? read_group(w, c, below, NULL) : read_leaf(w, c, below));
    }
    return WW_OK;
}

enum ww_code ww_json_read_params(struct ww_json_reader *r, const cJSON *node, const char *path,
                                 const char *const *reserved, struct ww_error *error) {
    struct walk w = {.r = r, .error = error};
    if (!cJSON_IsObject(node)) {
        char where[PATH_LEN];
        place(&w, path, where);
        return ww_fail(error, WW_INPUT, where, "met %s, expected an object", type_name(node));
    }
    w.given = calloc(r->count + 1, sizeof *w.given);
    if (!w.given) return ww_fail_nomem(error, r->file);
    enum ww_code code = read_group(&w, node, path, reserved);
    free(w.given);
    return code;
}

enum ww_code ww_json_get_number(const cJSON *object, const char *key, const char *where, double min, double max,
                                double *out, struct ww_error *error) {
    const cJSON *v = cJSON_GetObjectItemCaseSensitive(object, key);
    char place_[PATH_LEN];
    snprintf(place_, sizeof place_, "%.240s.%.100s", where, key);
    if (!v) return ww_fail(error, WW_INPUT, place_, "missing key; expected a number");
    if (!cJSON_IsNumber(v)) return ww_fail(error, WW_INPUT, place_, "met %s, expected a number", type_name(v));
    if (!(v->valuedouble >= min && v->valuedouble <= max)) {
        char met[32], low[32], high[32];
        ww_double_text(v->valuedouble, met);
        ww_double_text(min, low);
        ww_double_text(max, high);
        return ww_fail(error, WW_INPUT, place_, "%s is out of bounds: expected %s..%s", met, low, high);
    }
    *out = v->valuedouble;
    return WW_OK;
}

enum ww_code ww_json_get_string(const cJSON *object, const char *key, const char *where, const char **out,
                                struct ww_error *error) {
    const cJSON *v = cJSON_GetObjectItemCaseSensitive(object, key);
    char place_[PATH_LEN];
    snprintf(place_, sizeof place_, "%.240s.%.100s", where, key);
    if (!v) return ww_fail(error, WW_INPUT, place_, "missing key; expected a string");
    if (!cJSON_IsString(v)) return ww_fail(error, WW_INPUT, place_, "met %s, expected a string", type_name(v));
    *out = v->valuestring;
    return WW_OK;
}

enum ww_code ww_json_only_keys(const cJSON *object, const char *const *keys, const char *where,
                               struct ww_error *error) {
    for (const cJSON *c = object->child; c; c = c->next) {
        if (is_reserved(c->string, keys)) continue;
        char place_[PATH_LEN];
        snprintf(place_, sizeof place_, "%.240s.%.100s", where, c->string);
        struct ww_buf known = {0};
        for (const char *const *k = keys; *k; k++) ww_buf_printf(&known, "%s%s", k == keys ? "" : ", ", *k);
        enum ww_code code =
            ww_fail(error, WW_INPUT, place_, "unknown key; expected one of %s", known.p ? known.p : "(none)");
        ww_buf_free(&known);
        return code;
    }
    return WW_OK;
}
