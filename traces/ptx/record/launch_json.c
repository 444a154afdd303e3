/* launch_json.c: reading a launch description. */
#include "../../../estimator/base/nearest.h"
#include "launch_internal.h"
#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

enum ww_code ww_launch_fail(const struct launch_file *f, const char *path, struct ww_error *error,
                            const char *fmt, ...) {
    char where[320], text[500];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    snprintf(where, sizeof where, "%.160s: %.140s", f->path, path);
    return ww_fail(error, WW_INPUT, where, "%s", text);
}

/* The value met, as JSON, cut if it is long. */
static void met(const cJSON *v, char out[48]) {
    char *text = v ? cJSON_PrintUnformatted(v) : NULL;
    if (!v)
        snprintf(out, 48, "nothing");
    else if (cJSON_IsNumber(v) && !isfinite(v->valuedouble))
        snprintf(out, 48, "a number beyond 1.8e308"); /* would print as null */
    else
        snprintf(out, 48, text && strlen(text) > 40 ? "%.40s..." : "%.47s", text ? text : "?");
    cJSON_free(text);
}

static enum ww_code only_keys(const struct launch_file *f, const cJSON *object, const char *const *keys,
                              const char *path, struct ww_error *error) {
    char where[320];
    snprintf(where, sizeof where, "%.160s: %.140s", f->path, path);
    if (!cJSON_IsObject(object)) return ww_launch_fail(f, path, error, "expected an object");
    return ww_json_only_keys(object, keys, where, error);
}

static bool is_whole(const cJSON *v, double min, double max) {
    return cJSON_IsNumber(v) && v->valuedouble >= min && v->valuedouble <= max &&
           v->valuedouble == floor(v->valuedouble);
}

static enum ww_code whole(const struct launch_file *f, const cJSON *object, const char *key, const char *path,
                          double min, double max, double absent, double *out, struct ww_error *error) {
    const cJSON *v = cJSON_GetObjectItemCaseSensitive(object, key);
    *out = absent;
    if (!v && !isnan(absent)) return WW_OK;
    if (!is_whole(v, min, max)) {
        char value[48];
        met(v, value);
        return ww_launch_fail(f, path, error, "%s: met %s, expected a whole number from %.0f to %.0f", key,
                              value, min, max);
    }
    *out = v->valuedouble;
    return WW_OK;
}

/* "grid": 5, [5], [5, 2] or [5, 2, 1]. */
static enum ww_code dims(const struct launch_file *f, const cJSON *object, const char *key, const char *path,
                         uint32_t out[3], struct ww_error *error) {
    const cJSON *v = cJSON_GetObjectItemCaseSensitive(object, key);
    bool good = v && (is_whole(v, 1, INT32_MAX) ||
                      (cJSON_IsArray(v) && cJSON_GetArraySize(v) >= 1 && cJSON_GetArraySize(v) <= 3));
    out[0] = out[1] = out[2] = 1;
    if (good && cJSON_IsNumber(v)) out[0] = (uint32_t)v->valuedouble;
    for (int n = 0; good && cJSON_IsArray(v) && n < cJSON_GetArraySize(v); n++) {
        const cJSON *e = cJSON_GetArrayItem(v, n);
        good = is_whole(e, 1, INT32_MAX);
        if (good) out[n] = (uint32_t)e->valuedouble;
    }
    if (good) return WW_OK;
    char value[48];
    met(v, value);
    return ww_launch_fail(f, path, error, "%s: met %s, expected 1 to 3 whole numbers from 1", key, value);
}

/* ---- buffers ---- */

static enum ww_code read_buffer(struct launch_file *f, const cJSON *node, struct launch_buffer *b,
                                struct ww_error *error) {
    static const char *const keys[] = {"bytes", "type", "count", "fill", "expect", NULL};
    const cJSON *type = cJSON_GetObjectItemCaseSensitive(node, "type");
    double n;
    b->name = node->string;
    snprintf(b->path, sizeof b->path, "$.buffers.%.100s", node->string);
    WW_TRY(only_keys(f, node, keys, b->path, error));
    b->type = LAUNCH_U8;
    if (type && (!cJSON_IsString(type) || !ww_launch_type_find(type->valuestring, &b->type))) {
        char value[48];
        met(type, value);
        return ww_launch_fail(f, b->path, error, "type: met %s, expected one of %s", value,
                              ww_launch_type_names);
    }
    const cJSON *bytes = cJSON_GetObjectItemCaseSensitive(node, "bytes");
    if (!bytes == !cJSON_GetObjectItemCaseSensitive(node, "count"))
        return ww_launch_fail(f, b->path, error, "expected either bytes or count");
    uint32_t size = ww_launch_type_bytes(b->type);
    WW_TRY(whole(f, node, bytes ? "bytes" : "count", b->path, 1, (double)LAUNCH_BYTES / (bytes ? 1 : size),
                 (double)NAN, &n, error));
    b->bytes = (uint64_t)n * (bytes ? 1 : size);
    if (b->bytes % size) return ww_launch_fail(f, b->path, error, "bytes: expected a multiple of %u", size);
    b->fill = cJSON_GetObjectItemCaseSensitive(node, "fill");
    b->expect = cJSON_GetObjectItemCaseSensitive(node, "expect");
    char path[160];
    snprintf(path, sizeof path, "%s.fill", b->path);
    if (b->fill) WW_TRY(ww_launch_check_fill(f, b->fill, path, false, error));
    snprintf(path, sizeof path, "%s.expect", b->path);
    return b->expect ? ww_launch_check_fill(f, b->expect, path, true, error) : WW_OK;
}

static enum ww_code read_buffers(struct launch_file *f, struct ww_error *error) {
    const cJSON *all = cJSON_GetObjectItemCaseSensitive(f->json, "buffers"), *node;
    uint64_t total = 0;
    if (!all) return WW_OK;
    if (!cJSON_IsObject(all) || cJSON_GetArraySize(all) > (int)LAUNCH_BUFFERS)
        return ww_launch_fail(f, "$.buffers", error, "expected an object of at most %u buffers",
                              LAUNCH_BUFFERS);
    f->buffer = ww_arena_array(&f->arena, (size_t)cJSON_GetArraySize(all), sizeof *f->buffer);
    if (!f->buffer) return ww_fail_nomem(error, "buffers");
    cJSON_ArrayForEach(node, all) {
        for (uint32_t n = 0; n < f->buffer_count; n++)
            if (strcmp(f->buffer[n].name, node->string) == 0)
                return ww_launch_fail(f, f->buffer[n].path, error, "this buffer is given twice");
        struct launch_buffer *b = &f->buffer[f->buffer_count++];
        WW_TRY(read_buffer(f, node, b, error));
        total += b->bytes;
        if (total > LAUNCH_BYTES)
            return ww_launch_fail(f, b->path, error, "the buffers take more than %llu bytes",
                                  (unsigned long long)LAUNCH_BYTES);
    }
    return WW_OK;
}

/* ---- arguments ---- */

static enum ww_code no_buffer(const struct launch_file *f, const cJSON *v, const char *path,
                              struct ww_error *error) {
    char value[48], text[48];
    struct ww_nearest near;
    met(v, value);
    snprintf(text, sizeof text, "%s", cJSON_IsString(v) ? v->valuestring : "");
    ww_nearest_init(&near, text);
    for (uint32_t n = 0; n < f->buffer_count; n++) ww_nearest_offer(&near, f->buffer[n].name);
    const char *best = ww_nearest_get(&near);
    return ww_launch_fail(f, path, error, "buffer: met %s, expected the name of a buffer in $.buffers%s%.80s%s",
                          value, best ? "; did you mean \"" : "", best ? best : "", best ? "\"?" : "");
}

static enum ww_code buffer_arg(struct launch_file *f, const cJSON *v, const cJSON *node, const char *path,
                               struct launch_arg *a, struct ww_error *error) {
    double offset;
    a->size = 8;
    for (uint32_t n = 0; cJSON_IsString(v) && n < f->buffer_count; n++)
        if (strcmp(f->buffer[n].name, v->valuestring) == 0) a->buffer = &f->buffer[n];
    if (!a->buffer) return no_buffer(f, v, path, error);
    WW_TRY(whole(f, node, "offset", path, 0, (double)a->buffer->bytes - 1, 0, &offset, error));
    a->offset = (uint64_t)offset;
    return WW_OK;
}

static int hex_digit(char c) {
    return c >= '0' && c <= '9'   ? c - '0'
           : c >= 'a' && c <= 'f' ? c - 'a' + 10
           : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                  : -1;
}

static enum ww_code bytes_arg(struct launch_file *f, const cJSON *v, const char *path, struct launch_arg *a,
                              struct ww_error *error) {
    const char *s = cJSON_IsString(v) ? v->valuestring : "";
    size_t n = strlen(s);
    a->size = n / 2;
    a->data = ww_arena_alloc(&f->arena, a->size);
    if (!a->data) return ww_fail_nomem(error, "arguments");
    bool good = n > 0 && n % 2 == 0 && n <= 8192;
    for (size_t k = 0; good && k < a->size; k++) {
        int hi = hex_digit(s[2 * k]), lo = hex_digit(s[2 * k + 1]);
        good = hi >= 0 && lo >= 0;
        if (good) a->data[k] = (unsigned char)(hi << 4 | lo);
    }
    return good ? WW_OK
                : ww_launch_fail(f, path, error,
                                 "bytes: expected pairs of hexadecimal digits, at most 4096 bytes");
}

/* Decimal or 0x hexadecimal digits, for s64 behind a '-', that the type holds; no blanks, no '+'. */
static bool parse_integer(const char *s, bool is_signed, uint64_t *bits) {
    bool minus = *s == '-';
    if (minus && !is_signed) return false;
    s += minus;
    bool hex = s[0] == '0' && (s[1] == 'x' || s[1] == 'X');
    const char *digits = s + (hex ? 2 : 0);
    size_t n = strspn(digits, hex ? "0123456789abcdefABCDEF" : "0123456789");
    if (n == 0 || digits[n]) return false;
    errno = 0;
    uint64_t v = strtoull(digits, NULL, hex ? 16 : 10);
    if (errno) return false;
    if (is_signed && v > (uint64_t)INT64_MAX + minus) return false;
    *bits = minus ? 0 - v : v;
    return true;
}

/* {"u32": 5}: a number, or text for 64-bit integers that a double cannot hold. */
static enum ww_code value_arg(struct launch_file *f, const cJSON *v, const char *path, struct launch_arg *a,
                              struct ww_error *error) {
    enum launch_type type;
    if (!ww_launch_type_find(v->string, &type))
        return ww_launch_fail(f, path, error, "met \"%.40s\", expected buffer, bytes or one of %s", v->string,
                              ww_launch_type_names);
    a->size = ww_launch_type_bytes(type);
    a->data = ww_arena_alloc(&f->arena, 8);
    if (!a->data) return ww_fail_nomem(error, "arguments");
    if (cJSON_IsString(v) && (type == LAUNCH_U64 || type == LAUNCH_S64)) {
        uint64_t bits;
        if (!parse_integer(v->valuestring, type == LAUNCH_S64, &bits))
            return ww_launch_fail(
                f, path, error,
                "'%.40s': expected an integer in decimal or 0x hexadecimal digits that %s holds",
                v->valuestring, v->string);
        memcpy(a->data, &bits, 8);
        return WW_OK;
    }
    if (!cJSON_IsNumber(v) || !ww_launch_store(type, v->valuedouble, a->data)) {
        char value[48];
        met(v, value);
        return ww_launch_fail(f, path, error, "%s: met %s, expected a number that the type holds", v->string,
                              value);
    }
    return WW_OK;
}

static enum ww_code read_arg(struct launch_file *f, const cJSON *node, const char *path, struct launch_arg *a,
                             struct ww_error *error) {
    const cJSON *first = cJSON_IsObject(node) ? node->child : NULL;
    bool with_offset = first && cJSON_GetArraySize(node) == 2 &&
                       cJSON_GetObjectItemCaseSensitive(node, "buffer") &&
                       cJSON_GetObjectItemCaseSensitive(node, "offset");
    if (!first || (cJSON_GetArraySize(node) != 1 && !with_offset))
        return ww_launch_fail(f, path, error,
                              "expected an object of one key, such as {\"u32\": 5} or {\"buffer\": \"a\"}");
    const cJSON *buffer = cJSON_GetObjectItemCaseSensitive(node, "buffer");
    if (buffer) return buffer_arg(f, buffer, node, path, a, error);
    if (strcmp(first->string, "bytes") == 0) return bytes_arg(f, first, path, a, error);
    return value_arg(f, first, path, a, error);
}

/* ---- launches ---- */

static enum ww_code read_call(struct launch_file *f, const cJSON *node, const char *path, struct launch_call *c,
                              struct ww_error *error) {
    const cJSON *kernel = cJSON_GetObjectItemCaseSensitive(node, "kernel");
    const cJSON *args = cJSON_GetObjectItemCaseSensitive(node, "args");
    double n;
    snprintf(c->path, sizeof c->path, "%s", path);
    if (!cJSON_IsString(kernel)) return ww_launch_fail(f, path, error, "kernel: expected a name");
    c->kernel = kernel->valuestring;
    WW_TRY(dims(f, node, "grid", path, c->grid, error));
    WW_TRY(dims(f, node, "block", path, c->block, error));
    WW_TRY(whole(f, node, "shared", path, 0, 1 << 20, 0, &n, error));
    c->shared = (uint32_t)n;
    WW_TRY(whole(f, node, "repeat", path, 1, LAUNCH_LAUNCHES, 1, &n, error));
    c->repeat = (uint32_t)n;
    if (!args) return WW_OK;
    if (!cJSON_IsArray(args) || cJSON_GetArraySize(args) > (int)LAUNCH_ARGS)
        return ww_launch_fail(f, path, error, "args: expected an array of at most %u", LAUNCH_ARGS);
    c->arg = ww_arena_array(&f->arena, (size_t)cJSON_GetArraySize(args), sizeof *c->arg);
    if (!c->arg) return ww_fail_nomem(error, "arguments");
    const cJSON *a;
    cJSON_ArrayForEach(a, args) {
        char at[200];
        snprintf(at, sizeof at, "%.150s.args[%u]", path, c->arg_count);
        WW_TRY(read_arg(f, a, at, &c->arg[c->arg_count++], error));
    }
    return WW_OK;
}

static enum ww_code read_calls(struct launch_file *f, struct ww_error *error) {
    static const char *const single[] = {"kernel", "grid", "block",   "shared",
                                         "repeat", "args", "buffers", NULL};
    static const char *const several[] = {"launches", "buffers", NULL};
    static const char *const one[] = {"kernel", "grid", "block", "shared", "repeat", "args", NULL};
    const cJSON *list = cJSON_GetObjectItemCaseSensitive(f->json, "launches"), *node;
    if (!list) {
        WW_TRY(only_keys(f, f->json, single, "$", error));
        f->call = ww_arena_alloc(&f->arena, sizeof *f->call);
        if (!f->call) return ww_fail_nomem(error, "launches");
        f->call_count = 1;
        return read_call(f, f->json, "$", f->call, error);
    }
    WW_TRY(only_keys(f, f->json, several, "$", error));
    int n = cJSON_GetArraySize(list);
    if (!cJSON_IsArray(list) || n < 1 || n > (int)LAUNCH_LAUNCHES)
        return ww_launch_fail(f, "$.launches", error, "expected an array of 1 to %u launches", LAUNCH_LAUNCHES);
    f->call = ww_arena_array(&f->arena, (size_t)n, sizeof *f->call);
    if (!f->call) return ww_fail_nomem(error, "launches");
    cJSON_ArrayForEach(node, list) {
        char path[64];
        snprintf(path, sizeof path, "$.launches[%u]", f->call_count);
        WW_TRY(only_keys(f, node, one, path, error));
        WW_TRY(read_call(f, node, path, &f->call[f->call_count++], error));
    }
    return WW_OK;
}

/* Reads `json`, which it takes. */
static enum ww_code read_file(cJSON *json, const char *path, struct launch_file **file,
                              struct ww_error *error) {
    struct launch_file *f = calloc(1, sizeof *f);
    if (!f) {
        cJSON_Delete(json);
        return ww_fail_nomem(error, "a launch description");
    }
    f->json = json;
    ww_arena_init(&f->arena, (size_t)256 << 20);
    const char *slash = strrchr(path, '/');
    f->path = ww_arena_strdup(&f->arena, path);
    f->folder = ww_arena_strndup(&f->arena, path, slash ? (size_t)(slash - path) + 1 : 0);
    enum ww_code code = f->path && f->folder ? WW_OK : ww_fail_nomem(error, "a launch description");
    if (code == WW_OK && !cJSON_IsObject(f->json)) code = ww_launch_fail(f, "$", error, "expected an object");
    if (code == WW_OK) code = read_buffers(f, error);
    if (code == WW_OK) code = read_calls(f, error);
    if (code != WW_OK) {
        ww_launch_file_free(f);
        return code;
    }
    *file = f;
    return WW_OK;
}

enum ww_code ww_launch_file_load(const char *path, struct launch_file **file, struct ww_error *error) {
    cJSON *json;
    WW_TRY(ww_json_load(path, &json, error));
    return read_file(json, path, file, error);
}

enum ww_code ww_launch_file_parse(const char *text, size_t n, const char *where, struct launch_file **file,
                                  struct ww_error *error) {
    cJSON *json;
    WW_TRY(ww_json_parse(text, n, where, &json, error));
    return read_file(json, where, file, error);
}

void ww_launch_file_free(struct launch_file *f) {
    if (!f) return;
    cJSON_Delete(f->json);
    ww_arena_free(&f->arena);
    free(f);
}
