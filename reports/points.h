/* points.h: launches with measured and estimated cycles, for the correlation page. */
#ifndef WW_REPORTS_POINTS_H
#define WW_REPORTS_POINTS_H

#include "../estimator/api/report.h"
#include "../estimator/base/arena.h"

struct ww_point {
    const char *table, *program, *launch, *kernel;
    double measured, ours, other; /* cycles; other: NAN if there is none */
};

struct ww_points {
    struct ww_arena arena;
    struct ww_point *point;
    size_t count, capacity;
    const char *other; /* name of the other estimator, NULL: none */
};

#endif
