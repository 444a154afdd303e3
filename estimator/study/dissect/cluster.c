/* Grouping measured latencies into levels. */
#include "infer.h"
#include <math.h>
#include <stdlib.h>

static int by_value(const void *a, const void *b) {
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return (x > y) - (x < y);
}

size_t ww_cluster(uint32_t *latency, size_t count, uint32_t gap, struct ww_cluster out[WW_CLUSTERS]) {
    size_t n = 0, least = count / 500;
    qsort(latency, count, sizeof *latency, by_value);
    for (size_t i = 0, from = 0; i < count; i++) {
        bool last = i + 1 == count;
        uint32_t apart = last ? 0 : latency[i + 1] - latency[i];
        if (!last && (apart <= gap || apart <= latency[i] / 64)) continue;
        if (i + 1 - from > least && n < WW_CLUSTERS)
            out[n++] = (struct ww_cluster){latency[from], latency[i], i + 1 - from};
        from = i + 1;
    }
    return n;
}

uint32_t ww_cluster_between(const struct ww_cluster *low, const struct ww_cluster *high) {
    return low->high + (high->low - low->high) / 2;
}

bool ww_fraction(double p, uint64_t n, uint32_t *numerator, uint32_t *denominator) {
    double spread = 3 * sqrt(p * (1 - p) / (double)(n ? n : 1));
    for (uint32_t d = 1; d <= 16; d++) {
        double k = floor(p * d + 0.5);
        if (fabs(p - k / d) > spread) continue;
        *numerator = (uint32_t)k;
        *denominator = d;
        return true;
    }
    return false;
}
