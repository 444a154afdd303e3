/* How much of the space of objectives a set of points dominates. */
#include "hypervolume.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* One point's costs; the widest there are, so that sorting needs no length. */
struct costs {
    double v[WW_HV_DIMENSIONS];
};

static int by_first(const void *a, const void *b) {
    double x = ((const struct costs *)a)->v[0], y = ((const struct costs *)b)->v[0];
    return (x > y) - (x < y);
}

/* By one cost that stands first while they are sorted. */
static void sort_by(struct costs *set, size_t n, size_t dimension) {
    for (size_t i = 0; i < n; i++) {
        double t = set[i].v[0];
        set[i].v[0] = set[i].v[dimension];
        set[i].v[dimension] = t;
    }
    qsort(set, n, sizeof *set, by_first);
    for (size_t i = 0; i < n; i++) {
        double t = set[i].v[0];
        set[i].v[0] = set[i].v[dimension];
        set[i].v[dimension] = t;
    }
}

bool ww_dominates(const double *a, const double *b, size_t dimensions) {
    bool better = false;
    for (size_t i = 0; i < dimensions; i++) {
        if (a[i] > b[i]) return false;
        better = better || a[i] < b[i];
    }
    return better;
}

/* Of one or two costs; sorts the set. */
static double flat(struct costs *set, size_t n, size_t dimensions, const double *reference) {
    double area = 0, roof = dimensions == 1 ? 0 : reference[1];
    qsort(set, n, sizeof *set, by_first);
    if (dimensions == 1) return n ? reference[0] - set[0].v[0] : 0;
    for (size_t i = 0; i < n; i++) {
        if (set[i].v[1] >= roof) continue;
        area += (reference[0] - set[i].v[0]) * (roof - set[i].v[1]);
        roof = set[i].v[1];
    }
    return area;
}

/* Of points that are all below the reference. The set's order changes. */
static double measure(struct costs *set, size_t n, size_t dimensions, const double *reference) {
    if (dimensions <= 2) return flat(set, n, dimensions, reference);
    size_t last = dimensions - 1;
    double volume = 0;
    sort_by(set, n, last);
    struct costs *slab = malloc((n + 1) * sizeof *slab);
    if (!slab) return NAN;
    for (size_t i = 0; i < n; i++) {
        double end = i + 1 < n ? set[i + 1].v[last] : reference[last], depth = end - set[i].v[last];
        if (depth <= 0) continue;
        memcpy(slab, set, (i + 1) * sizeof *slab);
        volume += depth * measure(slab, i + 1, last, reference);
    }
    free(slab);
    return volume;
}

/* Adds a point unless it lies outside or a kept one covers it; drops those that it covers. */
static void keep(struct costs *set, size_t *n, const double *costs, size_t dimensions,
                 const double *reference) {
    size_t left = 0;
    for (size_t d = 0; d < dimensions; d++)
        if (!(costs[d] < reference[d])) return;
    for (size_t i = 0; i < *n; i++)
        if (!ww_dominates(costs, set[i].v, dimensions)) {
            if (ww_dominates(set[i].v, costs, dimensions) ||
                memcmp(set[i].v, costs, dimensions * sizeof *costs) == 0)
                return;
            set[left++] = set[i];
        }
    *n = left + 1;
    memset(&set[left], 0, sizeof *set);
    memcpy(set[left].v, costs, dimensions * sizeof *costs);
}

double ww_hypervolume(const double *point, size_t n, size_t dimensions, const double *reference) {
    struct costs *set = malloc((n + 1) * sizeof *set);
    size_t kept = 0;
    if (!set) return NAN;
    for (size_t i = 0; i < n; i++) keep(set, &kept, point + i * dimensions, dimensions, reference);
    double volume = measure(set, kept, dimensions, reference);
    free(set);
    return volume;
}

double ww_hypervolume_gain(const double *point, size_t n, size_t dimensions, const double *reference,
                           const double *added, double *room) {
    double box = 1;
    for (size_t d = 0; d < dimensions; d++) {
        if (!(added[d] < reference[d])) return 0;
        box *= reference[d] - added[d];
    }
    for (size_t i = 0; i < n; i++)
        for (size_t d = 0; d < dimensions; d++)
            room[i * dimensions + d] = fmax(point[i * dimensions + d], added[d]);
    double covered = ww_hypervolume(room, n, dimensions, reference);
    return isnan(covered) ? NAN : fmax(0, box - covered);
}
