/* hypervolume.h: how much of the space of objectives a set of points dominates.
 *
 * The hypervolume of a set is the measure of all that lies between a reference point and the set (Zitzler and
 * Thiele 1998): the larger, the better the front. All objectives are costs here: less is better. It is computed
 * exactly, by sweeping over the last objective and reducing each slab to a set of one objective less (Knowles
 * 2002, While et al. 2006: hypervolume by slicing objectives); two objectives are one pass over the sorted
 * points. */
#ifndef WW_SWEEP_HYPERVOLUME_H
#define WW_SWEEP_HYPERVOLUME_H

#include <stdbool.h>
#include <stddef.h>

#define WW_HV_DIMENSIONS 4

/* Of n points with `dimensions` (1 to WW_HV_DIMENSIONS) costs each, [point][dimension], against the reference.
 * Points that are not below the reference in every dimension count nothing. NAN: no memory. */
double ww_hypervolume(const double *point, size_t n, size_t dimensions, const double *reference);
/* What a point adds to the hypervolume of n others. `room`: for n points. Exclusive hypervolume as While,
 * Bradstreet and Barone (2012) compute it: the point's box without what the others cover of it. NAN: no memory.
 */
double ww_hypervolume_gain(const double *point, size_t n, size_t dimensions, const double *reference,
                           const double *added, double *room);
/* Whether a is at least as good as b in every cost and better in one. */
bool ww_dominates(const double *a, const double *b, size_t dimensions);

#endif
