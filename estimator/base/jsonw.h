/* jsonw.h: writes JSON to a stream as it goes, so that a report's size costs no memory.
 *
 * Integers are exact over 64 bits; doubles are the shortest text that reads back as the same value; what
 * is not finite becomes null; text that is not UTF-8 has its bad bytes replaced by U+FFFD. Commas, line
 * breaks and indentation are put by the writer. A key is NULL inside arrays and at the top.
 * The caller pairs open and close calls; at most WW_JSONW_DEPTH levels may be open (deeper ones are
 * written on one line). Write errors stay in the stream: ask ferror() or ww_jsonw_end().
 */
#ifndef WW_BASE_JSONW_H
#define WW_BASE_JSONW_H

#include "err.h"

#define WW_JSONW_DEPTH 64

struct ww_jsonw {
    FILE *out;
    unsigned depth;
    unsigned flat; /* depth at which one-line writing began, 0: none */
    bool first;    /* nothing written yet at this level */
};

void ww_jsonw_begin(struct ww_jsonw *w, FILE *out);
/* Ends the text with a line break. WW_IO if anything could not be written. */
enum ww_code ww_jsonw_end(struct ww_jsonw *w, struct ww_error *error);

void ww_jsonw_open(struct ww_jsonw *w, const char *key, char bracket); /* '{' or '[' */
void ww_jsonw_close(struct ww_jsonw *w, char bracket);                 /* '}' or ']' */
/* As open, but all its contents are on one line. */
void ww_jsonw_open_flat(struct ww_jsonw *w, const char *key, char bracket);

void ww_jsonw_u64(struct ww_jsonw *w, const char *key, uint64_t v);
void ww_jsonw_i64(struct ww_jsonw *w, const char *key, int64_t v);
void ww_jsonw_f64(struct ww_jsonw *w, const char *key, double v);
void ww_jsonw_bool(struct ww_jsonw *w, const char *key, bool v);
void ww_jsonw_null(struct ww_jsonw *w, const char *key);
/* `n` bytes of text, which may hold any byte; NULL text gives null. */
void ww_jsonw_text(struct ww_jsonw *w, const char *key, const char *s, size_t n);
/* Bytes as text of hexadecimal digits. */
void ww_jsonw_hex(struct ww_jsonw *w, const char *key, const void *data, size_t n);
void ww_jsonw_str(struct ww_jsonw *w, const char *key, const char *s);

/* The shortest decimal text that reads back as v ("0.1", "1e+30"). `out` holds 32 bytes. */
void ww_double_text(double v, char out[32]);

#endif
