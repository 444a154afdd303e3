/* Small pieces of text for people. */
#include "text.h"
#include <errno.h>
#include <math.h>
#include <string.h>

void ww_three_digits(double v, char out[32]) {
    double a = fabs(v);
    snprintf(out, 32, a >= 999.5 && a < 1e15 ? "%.0f" : "%.3g", v);
}

/* A stream keeps that a write failed, not why; errno is of the last call that failed. */
enum ww_code ww_written(FILE *out, struct ww_error *error) {
    if (fflush(out) == 0 && !ferror(out)) return WW_OK;
    return ww_fail(error, WW_IO, "", "the output could not be written: %s", strerror(errno ? errno : EIO));
}
