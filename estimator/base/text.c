#include "text.h"
#include <errno.h>
#include <math.h>
#include <string.h>

void ww_three_digits(double v, char out[32]) {
    double a = fabs(v);
    snprintf(out, 32, a >= 999.5 && a < 1e15 ? "%.0f" : "%.3g", v);
}

void ww_put_text(FILE *out, const char *s) {
    for (; *s; s++) {
        unsigned char c = (unsigned char)*s;
        if (c == 0xc2 && (unsigned char)s[1] >= 0x80 && (unsigned char)s[1] < 0xa0) { /* U+0080 to U+009F */
            c = '?';
            s++;
        }
        fputc((c < ' ' && c != '\t') || c == 127 ? '?' : c, out);
    }
}

/* A stream keeps that a write failed, not why; errno is of the last call that failed. */
enum ww_code ww_written(FILE *out, struct ww_error *error) {
    if (fflush(out) == 0 && !ferror(out)) return WW_OK;
    return ww_fail(error, WW_IO, "", "the output could not be written: %s", strerror(errno ? errno : EIO));
}
