/* kit_stats.h: median and quartiles of repeated measurements. */
#ifndef KIT_STATS_H
#define KIT_STATS_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A measurement: the median of `count` repetitions, and the quartiles that show its spread. */
struct kit_value {
    double median, low, high;
    size_t count;
};

/* Sorts `v`. The quantile p (0 to 1) lies at (count - 1) p between neighbours in order, linearly. count 0: all
 * fields are 0. Values that are not finite must not be among them. */
struct kit_value kit_value_of(double *v, size_t count);
/* The same with every field times `factor`, which is positive. */
struct kit_value kit_value_scaled(struct kit_value v, double factor);
/* amount / v, for rates: quartiles change places. A zero time gives zero. */
struct kit_value kit_value_rate(struct kit_value v, double amount);

#ifdef __cplusplus
}
#endif

#endif
