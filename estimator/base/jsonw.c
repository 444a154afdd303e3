/* Writes JSON to a stream as it goes, so that a report's size costs no memory. */
#include "jsonw.h"
#include "escape.h"
#include <inttypes.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

void ww_double_text(double v, char out[32]) {
    for (int digits = 15; digits <= 17; digits++) {
        snprintf(out, 32, "%.*g", digits, v);
        if (strtod(out, NULL) == v) return;
    }
}

/* Characters that do not show are escaped: the text is the same, and a terminal gets no control characters. */
static void put_character(FILE *out, const char *s, size_t length, bool shows) {
    uint32_t c = ww_utf8_code(s, length);
    if (shows)
        fwrite(s, 1, length, out);
    else if (c < 0x10000)
        fprintf(out, "\\u%04x", (unsigned)c);
    else
        fprintf(out, "\\u%04x\\u%04x", (unsigned)(0xd7c0 + (c >> 10)), (unsigned)(0xdc00 + (c & 0x3ff)));
}

static void put_quoted(FILE *out, const char *s, size_t n) {
    putc('"', out);
    for (size_t i = 0; i < n;) {
        unsigned char c = (unsigned char)s[i];
        bool shows;
        size_t length = ww_text_next(s + i, n - i, &shows);
        if (ww_utf8_length(s + i, n - i) == 0) {
            fputs("\\ufffd", out);
        } else if (c == '"' || c == '\\') {
            fprintf(out, "\\%c", c);
        } else if (c == '\n') {
            fputs("\\n", out);
        } else if (c == '\t') {
            fputs("\\t", out);
        } else {
            put_character(out, s + i, length, shows);
        }
        i += length;
    }
    putc('"', out);
}

static void new_line(struct ww_jsonw *w) {
    putc('\n', w->out);
    for (unsigned i = 0; i < w->depth; i++) fputs("  ", w->out);
}

/* Comma, break and key in front of a value. */
static void lead(struct ww_jsonw *w, const char *key) {
    if (!w->first) putc(',', w->out);
    if (w->depth && !w->flat) new_line(w);
    if (!w->first && w->flat) putc(' ', w->out);
    w->first = false;
    if (!key) return;
    put_quoted(w->out, key, strlen(key));
    fputs(": ", w->out);
}

void ww_jsonw_begin(struct ww_jsonw *w, FILE *out) {
    *w = (struct ww_jsonw){.out = out, .first = true};
}

enum ww_code ww_jsonw_end(struct ww_jsonw *w, struct ww_error *error) {
    putc('\n', w->out);
    if (fflush(w->out) != 0 || ferror(w->out))
        return ww_fail(error, WW_IO, "", "the output could not be written: %s", strerror(errno));
    return WW_OK;
}

void ww_jsonw_open(struct ww_jsonw *w, const char *key, char bracket) {
    lead(w, key);
    putc(bracket, w->out);
    w->depth++;
    w->first = true;
    if (!w->flat && w->depth >= WW_JSONW_DEPTH) w->flat = w->depth;
}

void ww_jsonw_open_flat(struct ww_jsonw *w, const char *key, char bracket) {
    ww_jsonw_open(w, key, bracket);
    if (!w->flat) w->flat = w->depth;
}

void ww_jsonw_close(struct ww_jsonw *w, char bracket) {
    bool flat = w->flat != 0;
    if (w->flat == w->depth) w->flat = 0;
    w->depth--;
    if (!w->first && !flat) new_line(w);
    putc(bracket, w->out);
    w->first = false;
}

void ww_jsonw_u64(struct ww_jsonw *w, const char *key, uint64_t v) {
    lead(w, key);
    fprintf(w->out, "%" PRIu64, v);
}

void ww_jsonw_i64(struct ww_jsonw *w, const char *key, int64_t v) {
    lead(w, key);
    fprintf(w->out, "%" PRId64, v);
}

void ww_jsonw_f64(struct ww_jsonw *w, const char *key, double v) {
    char text[32];
    lead(w, key);
    if (isfinite(v)) ww_double_text(v, text);
    fputs(isfinite(v) ? text : "null", w->out);
}

void ww_jsonw_bool(struct ww_jsonw *w, const char *key, bool v) {
    lead(w, key);
    fputs(v ? "true" : "false", w->out);
}

void ww_jsonw_null(struct ww_jsonw *w, const char *key) {
    lead(w, key);
    fputs("null", w->out);
}

void ww_jsonw_text(struct ww_jsonw *w, const char *key, const char *s, size_t n) {
    lead(w, key);
    if (s)
        put_quoted(w->out, s, n);
    else
        fputs("null", w->out);
}

void ww_jsonw_hex(struct ww_jsonw *w, const char *key, const void *data, size_t n) {
    const unsigned char *p = data;
    lead(w, key);
    putc('"', w->out);
    for (size_t i = 0; i < n; i++) fprintf(w->out, "%02x", p[i]);
    putc('"', w->out);
}

void ww_jsonw_str(struct ww_jsonw *w, const char *key, const char *s) {
    ww_jsonw_text(w, key, s, s ? strlen(s) : 0);
}
