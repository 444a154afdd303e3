/* Figures of a program with its copies. */
#include "figures.h"
#include <stdlib.h>

static int by_start(const void *a, const void *b) {
    const struct ww_launch_result *x = *(const struct ww_launch_result *const *)a;
    const struct ww_launch_result *y = *(const struct ww_launch_result *const *)b;
    if (x->with_copies_start_ps != y->with_copies_start_ps)
        return x->with_copies_start_ps < y->with_copies_start_ps ? -1 : 1;
    return x < y ? -1 : x > y;
}

uint64_t ww_launches_ps(const struct ww_result *r) {
    const struct ww_launch_result **order = calloc(r->launch_count + 1, sizeof(struct ww_launch_result *));
    uint64_t sum = 0, end = 0;
    for (size_t i = 0; order && i < r->launch_count; i++) order[i] = &r->launch[i];
    if (order) qsort(order, r->launch_count, sizeof(struct ww_launch_result *), by_start);
    for (size_t i = 0; order && i < r->launch_count; i++) {
        const struct ww_launch_result *l = order[i];
        uint64_t from = l->with_copies_start_ps > end ? l->with_copies_start_ps : end;
        if (l->with_copies_end_ps <= from) continue;
        sum += l->with_copies_end_ps - from;
        end = l->with_copies_end_ps;
    }
    free(order);
    return sum;
}
