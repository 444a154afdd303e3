/* Parameters as rows: parsing, bounds, printing. */
#include "../api/gpu.h"
#include "param.h"
#include "../base/jsonw.h"
#include "../base/nearest.h"
#include <locale.h>
#include <stdlib.h>
#include <string.h>

int ww_param_find(const struct ww_param *rows, size_t count, const char *key) {
    for (size_t i = 0; i < count; i++)
        if (strcmp(rows[i].key, key) == 0) return (int)i;
    return -1;
}

const char *ww_param_nearest(const struct ww_param *rows, size_t count, const char *key) {
    struct ww_nearest near;
    ww_nearest_init(&near, key);
    for (size_t i = 0; i < count; i++) ww_nearest_offer(&near, rows[i].key);
    return ww_nearest_get(&near);
}

static void store(const struct ww_param *row, void *object, double value) {
    char *p = (char *)object + row->offset;
    switch (row->type) {
    case WW_U32:
    case WW_ENUM:
        *(uint32_t *)(void *)p = (uint32_t)value;
        break;
    case WW_U64:
        *(uint64_t *)(void *)p = (uint64_t)value;
        break;
    case WW_F64:
        *(double *)(void *)p = value;
        break;
    case WW_BOOL:
        *(bool *)(void *)p = value != 0;
        break;
    case WW_STR:
        break;
    }
}

static void store_string(const struct ww_param *row, void *object, const char *text) {
    char *p = (char *)object + row->offset;
    memset(p, 0, WW_STR_MAX);
    memcpy(p, text, strlen(text));
}

size_t ww_param_defaults(const struct ww_param *rows, size_t count, void *object) {
    size_t none = 0;
    for (size_t i = 0; i < count; i++) {
        const struct ww_param *row = &rows[i];
        if (row->type == WW_STR)
            store_string(row, object, row->def_text ? row->def_text : "");
        else if (isnan(row->def)) {
            none++;
            store(row, object, 0);
        } else
            store(row, object, row->def);
    }
    return none;
}

/* Start and length of name v of an enum row, or NULL. */
static const char *enum_name(const struct ww_param *row, uint32_t v, size_t *n) {
    const char *p = row->unit;
    for (;;) {
        *n = strcspn(p, "|");
        if (v-- == 0) return p;
        if (!p[*n]) return NULL;
        p += *n + 1;
    }
}

bool ww_param_enum_name(const struct ww_param *row, uint32_t v, char *out) {
    size_t n;
    const char *name = enum_name(row, v, &n);
    if (!name || n >= WW_STR_MAX) return false;
    memcpy(out, name, n);
    out[n] = 0;
    return true;
}

static enum ww_code fail_bounds(const struct ww_param *row, const char *met, const char *where,
                                struct ww_error *error) {
    struct ww_buf bounds = {0};
    ww_param_print_bounds(row, &bounds);
    const char *unit = row->type == WW_ENUM ? "" : row->unit;
    enum ww_code code = ww_fail(error, WW_INPUT, where, "%s is out of bounds: expected %s%s%s", met,
                                bounds.p ? bounds.p : "?", *unit ? " " : "", unit);
    ww_buf_free(&bounds);
    return code;
}

static const char *expected(const struct ww_param *row) {
    switch (row->type) {
    case WW_U32:
    case WW_U64:
        return "a whole number";
    case WW_F64:
        return "a number";
    case WW_BOOL:
        return "true or false";
    case WW_ENUM:
    case WW_STR:
        break;
    }
    return "a string";
}

enum ww_code ww_param_set_number(const struct ww_param *row, void *object, double value, const char *where,
                                 struct ww_error *error) {
    char met[32]; /* of what is refused: a text of each number would cost more than all else here */
    size_t n;
    bool whole = row->type == WW_U32 || row->type == WW_U64, fits = value >= row->min && value <= row->max;
    if (row->type == WW_BOOL) fits = value == 0 || value == 1;
    if (row->type == WW_ENUM)
        fits = value >= 0 && value < 1000 && value == floor(value) && enum_name(row, (uint32_t)value, &n);
    if (row->type != WW_STR && fits && (!whole || value == floor(value))) {
        store(row, object, value);
        return WW_OK;
    }
    ww_double_text(value, met);
    if (row->type == WW_STR)
        return ww_fail(error, WW_INPUT, where, "met the number %s, expected a string", met);
    if (!fits) return fail_bounds(row, met, where, error);
    return ww_fail(error, WW_INPUT, where, "%s is not a whole number", met);
}

/* Numbers are written with a point whatever the process's locale says. */
static bool parse_number(const char *text, double *value) {
    locale_t c = newlocale(LC_ALL_MASK, "C", (locale_t)0);
    if (!c) return false;
    char *end;
    *value = strtod_l(text, &end, c);
    freelocale(c);
    return end != text && *end == 0 && strspn(text, "0123456789+-.eE") == strlen(text);
}

static enum ww_code set_enum(const struct ww_param *row, void *object, const char *text, const char *where,
                             struct ww_error *error) {
    size_t n;
    const char *name;
    for (uint32_t v = 0; (name = enum_name(row, v, &n)); v++)
        if (strlen(text) == n && memcmp(name, text, n) == 0) {
            store(row, object, v);
            return WW_OK;
        }
    return ww_fail(error, WW_INPUT, where, "\"%.80s\" is not one of %s", text, row->unit);
}

static enum ww_code set_bool(const struct ww_param *row, void *object, const char *text, const char *where,
                             struct ww_error *error) {
    bool yes = strcmp(text, "true") == 0 || strcmp(text, "1") == 0;
    if (!yes && strcmp(text, "false") != 0 && strcmp(text, "0") != 0)
        return ww_fail(error, WW_INPUT, where, "\"%.80s\": expected true or false", text);
    store(row, object, yes);
    return WW_OK;
}

static enum ww_code set_string(const struct ww_param *row, void *object, const char *text, const char *where,
                               struct ww_error *error) {
    if (strlen(text) >= WW_STR_MAX)
        return ww_fail(error, WW_INPUT, where, "\"%.40s...\" has %zu bytes, at most %d are allowed", text,
                       strlen(text), WW_STR_MAX - 1);
    for (const char *p = text; *p; p++)
        if ((unsigned char)*p < ' ')
            return ww_fail(error, WW_INPUT, where, "the string holds the control character 0x%02x", *p);
    store_string(row, object, text);
    return WW_OK;
}

enum ww_code ww_param_set_text(const struct ww_param *row, void *object, const char *text, const char *where,
                               struct ww_error *error) {
    switch (row->type) {
    case WW_ENUM:
        return set_enum(row, object, text, where, error);
    case WW_BOOL:
        return set_bool(row, object, text, where, error);
    case WW_STR:
        return set_string(row, object, text, where, error);
    case WW_U32:
    case WW_U64:
    case WW_F64:
        break;
    }
    double value;
    if (!parse_number(text, &value))
        return ww_fail(error, WW_INPUT, where, "\"%.80s\": expected %s", text, expected(row));
    return ww_param_set_number(row, object, value, where, error);
}

void ww_print_double(double v, struct ww_buf *out) {
    if (!isfinite(v)) {
        ww_buf_puts(out, "null"); /* JSON has neither infinities nor NaN */
        return;
    }
    char text[32];
    ww_double_text(v, text);
    for (char *p = text; *p; p++)
        if (!strchr("0123456789+-e", *p)) *p = '.'; /* the locale's decimal point */
    ww_buf_puts(out, text);
}

static void print_value(const struct ww_param *row, const void *object, const char *quote, struct ww_buf *out) {
    const char *p = (const char *)object + row->offset;
    char name[WW_STR_MAX];
    switch (row->type) {
    case WW_U32:
        ww_buf_printf(out, "%u", *(const uint32_t *)(const void *)p);
        break;
    case WW_U64:
        ww_buf_printf(out, "%llu", (unsigned long long)*(const uint64_t *)(const void *)p);
        break;
    case WW_F64:
        ww_print_double(*(const double *)(const void *)p, out);
        break;
    case WW_BOOL:
        ww_buf_puts(out, *(const bool *)(const void *)p ? "true" : "false");
        break;
    case WW_ENUM:
        if (!ww_param_enum_name(row, *(const uint32_t *)(const void *)p, name)) name[0] = 0;
        ww_buf_printf(out, "%s%s%s", quote, name, quote);
        break;
    case WW_STR:
        ww_buf_puts(out, quote);
        for (; *p; p++) {
            if (*quote && (*p == '"' || *p == '\\')) ww_buf_byte(out, '\\');
            ww_buf_byte(out, (unsigned char)*p);
        }
        ww_buf_puts(out, quote);
        break;
    }
}

void ww_param_print_json(const struct ww_param *row, const void *object, struct ww_buf *out) {
    print_value(row, object, "\"", out);
}

void ww_param_print_text(const struct ww_param *row, const void *object, struct ww_buf *out) {
    print_value(row, object, "", out);
}

void ww_param_print_bounds(const struct ww_param *row, struct ww_buf *out) {
    switch (row->type) {
    case WW_BOOL:
        ww_buf_puts(out, "true|false");
        break;
    case WW_ENUM:
        ww_buf_puts(out, row->unit);
        break;
    case WW_STR:
        ww_buf_puts(out, "text");
        break;
    case WW_U32:
    case WW_U64:
    case WW_F64:
        ww_print_double(row->min, out);
        ww_buf_puts(out, "..");
        ww_print_double(row->max, out);
        break;
    }
}

/* Moves a text into a fixed field and frees it. */
static void take(struct ww_buf *from, char *out, size_t size) {
    if (!from->p || from->n < size)
        snprintf(out, size, "%s", from->p ? from->p : "");
    else
        snprintf(out, size, "%.*s...", (int)size - 4, from->p);
    ww_buf_free(from);
}

void ww_param_view_fill(const struct ww_param *row, const void *object, const char *source,
                        struct ww_param_view *view) {
    struct ww_buf text = {0};
    *view = (struct ww_param_view){
        .key = row->key, .unit = row->type == WW_ENUM ? "" : row->unit, .help = row->help};
    ww_param_print_bounds(row, &text);
    take(&text, view->bounds, sizeof view->bounds);
    ww_param_print_text(row, object, &text);
    take(&text, view->value, sizeof view->value);
    ww_buf_puts(&text, source);
    take(&text, view->source, sizeof view->source);
}
