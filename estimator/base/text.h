/* text.h: small pieces of text for people. */
#ifndef WW_BASE_TEXT_H
#define WW_BASE_TEXT_H

#include "err.h"
#include <stdint.h>
#include <stdio.h>

/* The ending of a noun after a count: `suffix`, or "" for one. */
static inline const char *ww_plural(uint64_t count, const char *suffix) {
    return count == 1 ? "" : suffix;
}

/* Three significant digits without an exponent where that is short: "0.0024", "1.25", "4810". */
void ww_three_digits(double v, char out[32]);

/* Flushes; WW_IO, with the system's reason, if anything could not be written. */
enum ww_code ww_written(FILE *out, struct ww_error *error);

#endif
