/* text.h: text for people: numbers with SI prefixes and aligned tables. */
#ifndef WW_REPORTS_TEXT_H
#define WW_REPORTS_TEXT_H

#include "../estimator/warpwatt.h"

/* "1.23 ms": three to four significant digits with the SI prefix that fits; "-" if v is negative and
 * `unit` counts what cannot be (callers pass negative for "not known"). `out` holds 32 bytes. */
const char *ww_si(double v, const char *unit, char out[32]);
/* A signed change: "+1.23 ms". */
const char *ww_si_signed(double v, const char *unit, char out[32]);
/* "12.3 %" of a part of 1; "-" if negative. */
const char *ww_percent(double part, char out[32]);
/* "1234567" in groups: "1,234,567". */
const char *ww_grouped(uint64_t v, char out[32]);
/* A plain number of about `digits` significant digits; "-" if negative. */
const char *ww_plain(double v, int digits, char out[32]);

/* Tables: cells are added row by row, then printed with columns as wide as they need. A column is put to
 * the right unless its bit in `left` is set. Rows indent by two spaces. */
struct ww_grid {
    unsigned columns, left;
    struct ww_grid_cell {
        char text[96];
    } * cell;
    size_t count, capacity;
    bool failed;
};
/* Adds a cell; control characters are replaced, texts over 95 bytes lose their middle. */
void ww_grid_add(struct ww_grid *g, const char *text);
/* Prints and frees. WW_NOMEM if a cell could not be kept. */
enum ww_code ww_grid_print(struct ww_grid *g, FILE *out, struct ww_error *error);
/* Frees without printing. */
void ww_grid_free(struct ww_grid *g);
/* Copies text for people: what could steer a terminal is replaced, a text longer than size - 1 bytes
 * loses its middle. */
void ww_clean_text(const char *s, char *out, size_t size);
/* WW_IO if the stream has failed. */
enum ww_code ww_out_check(FILE *out, struct ww_error *error);

#endif
