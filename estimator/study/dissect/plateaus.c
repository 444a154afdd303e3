/* Plateaus and knees of a curve of latencies. */
#include "curves.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define WIDTH 1.2 /* a plateau reaches at least so many times its first size */

static int by_value(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double level_of(const struct ww_dissect_xy *p, size_t count) {
    double *value = calloc(count, sizeof *value), level = p[count / 2].y;
    for (size_t i = 0; value && i < count; i++) value[i] = p[i].y;
    if (value) {
        qsort(value, count, sizeof *value, by_value);
        level = count % 2 ? value[count / 2] : (value[count / 2 - 1] + value[count / 2]) / 2;
    }
    free(value);
    return level;
}

/* How many points from the first one on lie on one level. */
static size_t run_length(const struct ww_dissect_xy *p, size_t count, double step) {
    double low = p[0].y, high = p[0].y;
    size_t n = 1;
    for (; n < count; n++) {
        if (fabs(p[n].y - p[n - 1].y) >= step * p[n - 1].y) break;
        low = fmin(low, p[n].y);
        high = fmax(high, p[n].y);
        if (high - low >= 3 * step * low) break;
    }
    return n;
}

/* Where the curve passes `level` for the last time before `to` and after `from`. */
static double crossing(const struct ww_dissect_xy *p, size_t count, uint64_t from, uint64_t to, double level) {
    double at = NAN;
    for (size_t i = 1; i < count; i++) {
        if (p[i - 1].bytes < from || p[i].bytes > to || p[i - 1].y > level || p[i].y < level) continue;
        double part = p[i].y > p[i - 1].y ? (level - p[i - 1].y) / (p[i].y - p[i - 1].y) : 0;
        at = (double)p[i - 1].bytes * pow((double)p[i].bytes / (double)p[i - 1].bytes, part);
    }
    return at;
}

size_t ww_plateaus(const struct ww_dissect_xy *point, size_t count, double step,
                   struct ww_dissect_plateau out[WW_DISSECT_PLATEAUS]) {
    size_t found = 0;
    for (size_t i = 0, n; i < count && found < WW_DISSECT_PLATEAUS; i += n) {
        n = run_length(point + i, count - i, step);
        if (n < 2 || (double)point[i + n - 1].bytes < WIDTH * (double)point[i].bytes) continue;
        struct ww_dissect_plateau p = {point[i].bytes, point[i + n - 1].bytes, level_of(point + i, n), NAN};
        if (found && p.level < out[found - 1].level * (1 + 3 * step)) {
            out[found - 1].to = p.to; /* the same level, or a dip: no new one */
            continue;
        }
        if (found) {
            double half = (out[found - 1].level + p.level) / 2;
            p.knee = crossing(point, count, out[found - 1].from, p.to, half);
        }
        out[found++] = p;
    }
    return found;
}
