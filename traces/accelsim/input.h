/* input.h: the lines of a text file, plain or compressed, and of a .tracez file as the text it stands for.
 *
 *     bytes of the file -> decoder (by its first bytes, not its name) -> text window -> lines
 *
 * Decoders: plain, gzip, xz, zstd, and tracez, which writes the grouped text out: header, then per CTA
 * "#BEGIN_TB" to "#END_TB". Memory is bounded: windows of 256 KB, the decoder's own, and the longest line.
 */
#ifndef WW_ACCELSIM_INPUT_H
#define WW_ACCELSIM_INPUT_H

#include "../../estimator/base/buf.h"
#include "../../estimator/base/err.h"
#include <stdio.h>

#define WW_AS_LINE_MAX ((size_t)1 << 20)
#define WW_AS_WINDOW ((size_t)256 << 10)

/* A source of bytes: a file, or memory that stays the caller's. */
struct ww_as_source {
    const char *name; /* for errors */
    int fd;           /* -1: memory */
    const unsigned char *memory;
    uint64_t size, at;
};

struct ww_as_decoder;
struct ww_as_input {
    struct ww_as_source source;
    char *path;
    struct ww_as_decoder *decoder;
    char *text; /* window: text[at .. end) is not yet read; there is room for a NUL behind it */
    size_t at, end, cap;
    uint64_t line; /* number of the line last returned, from 1 */
    uint64_t text_bytes;
    bool finished;
};

/* Opens a file. Errors: WW_IO, WW_NOMEM, WW_INPUT (not a format that is known). */
enum ww_code ww_as_input_open(const char *path, struct ww_as_input **in, struct ww_error *error);
/* The same over memory. */
enum ww_code ww_as_input_memory(const void *data, size_t n, const char *name, struct ww_as_input **in,
                                struct ww_error *error);
void ww_as_input_close(struct ww_as_input *in);
/* The next line, without its end and with a NUL behind; NULL at the end. Valid until the next call.
 * Errors: WW_INPUT (damaged compression, a line over WW_AS_LINE_MAX), WW_IO. */
enum ww_code ww_as_input_line(struct ww_as_input *in, char **line, size_t *n, struct ww_error *error);
/* Part of the file's bytes that were read, 0 to 1. */
double ww_as_input_part(const struct ww_as_input *in);
/* WW_INPUT at the line last read. */
__attribute__((format(printf, 3, 4))) enum ww_code ww_as_bad(const struct ww_as_input *in,
                                                             struct ww_error *error, const char *fmt, ...);

/* ---- decoders ---- */

/* Reads up to n bytes of the source; *got is 0 at its end. */
enum ww_code ww_as_read(struct ww_as_source *s, void *to, size_t n, size_t *got, struct ww_error *error);
/* Reads exactly n bytes at the offset. Errors: WW_INPUT (the file is shorter), WW_IO. */
enum ww_code ww_as_read_at(struct ww_as_source *s, uint64_t offset, void *to, size_t n, struct ww_error *error);
/* Chooses the decoder by the source's first bytes. */
enum ww_code ww_as_decoder_new(struct ww_as_source *s, struct ww_as_decoder **d, struct ww_error *error);
void ww_as_decoder_free(struct ww_as_decoder *d);
/* Up to n bytes of text; *got is 0 at the end. */
enum ww_code ww_as_decode(struct ww_as_decoder *d, char *to, size_t n, size_t *got, struct ww_error *error);

/* tracez.c */
struct ww_as_tracez;
enum ww_code ww_as_tracez_new(struct ww_as_source *s, struct ww_as_tracez **z, struct ww_error *error);
void ww_as_tracez_free(struct ww_as_tracez *z);
enum ww_code ww_as_tracez_decode(struct ww_as_tracez *z, char *to, size_t n, size_t *got,
                                 struct ww_error *error);

#endif
