#include "kit_stats.h"
#include <stdlib.h>

static int compare(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double quantile(const double *sorted, size_t count, double p) {
    double at = p * (double)(count - 1);
    size_t i = (size_t)at;
    if (i + 1 >= count) return sorted[count - 1];
    return sorted[i] + (at - (double)i) * (sorted[i + 1] - sorted[i]);
}

struct kit_value kit_value_of(double *v, size_t count) {
    struct kit_value out = {0, 0, 0, count};
    if (count == 0) return out;
    qsort(v, count, sizeof *v, compare);
    out.median = quantile(v, count, 0.5);
    out.low = quantile(v, count, 0.25);
    out.high = quantile(v, count, 0.75);
    return out;
}

struct kit_value kit_value_scaled(struct kit_value v, double factor) {
    v.median *= factor;
    v.low *= factor;
    v.high *= factor;
    return v;
}

struct kit_value kit_value_rate(struct kit_value v, double amount) {
    struct kit_value out = {0, 0, 0, v.count};
    if (v.low <= 0 || v.median <= 0 || v.high <= 0) return out;
    out.median = amount / v.median;
    out.low = amount / v.high;
    out.high = amount / v.low;
    return out;
}
