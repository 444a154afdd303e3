/* Measured figures in memory: making, freeing, and the names of metrics. */
#include "measured.h"
#include "../base/arena.h"
#include <stdlib.h>

#define MEASURED_LIMIT ((size_t)256 << 20)

struct ww_measured *ww_measured_new(void) {
    struct ww_measured *m = calloc(1, sizeof *m);
    struct ww_arena *arena = calloc(1, sizeof *arena);
    if (!m || !arena) {
        free(m);
        free(arena);
        return NULL;
    }
    ww_arena_init(arena, MEASURED_LIMIT);
    m->arena = arena;
    m->source = m->hash = m->gpu = m->compute_capability = m->driver = m->ended = "";
    m->gpu_json = "{}";
    return m;
}

void ww_measured_free(struct ww_measured *m) {
    if (!m) return;
    ww_arena_free(m->arena);
    free(m->arena);
    free(m);
}

const char *ww_metric_name(enum ww_metric metric) {
    static const char *const name[] = {"time_s", "cycles", "power_w", "energy_j"};
    return (unsigned)metric < WW_METRIC_COUNT ? name[metric] : NULL;
}
