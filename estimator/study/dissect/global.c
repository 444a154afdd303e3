/* Section 5.1: copies of a large array over CTAs, their size and the words that a thread copies at a time
 * (table VI, figure 12). */
#include "meter.h"
#include <math.h>

#define MOST_POINTS 128u
#define LONG_COPIES 5
#define LONG_TIMES 8
#define LARGE_L2 (8 * WW_MB) /* beyond it a copy that shows more than the cache takes seconds */

static enum ww_code copy_ps(struct ww_meter *m, const struct ww_dissect_point *p, uint64_t bytes,
                            uint64_t *copied, uint64_t *ps, struct ww_error *error) {
    struct ww_micro *micro;
    struct ww_bench_result r;
    WW_TRY(ww_bench_reset(m->bench, error));
    WW_TRY(ww_micro_gcopy(p->ctas, p->cta_size, p->ilp, bytes, copied, &micro, error));
    enum ww_code code = ww_bench_run(m->bench, micro, 0, &r, error);
    if (code == WW_OK) *ps = r.time_ps;
    ww_micro_free(micro);
    return code;
}

/* The paper copies so much that start, end and what the L2 still holds do not matter. Here two copies are
 * timed, of `times` the L2 and of three times that, and the longer one's part beyond the shorter counts. */
static enum ww_code copy_point(struct ww_meter *m, struct ww_dissect_point *p, uint32_t times,
                               struct ww_error *error) {
    uint64_t copied[2], ps[2], bytes = times * ww_meter_l2_bytes(m);
    WW_TRY(ww_meter_step(m, "global copies", error));
    WW_TRY(copy_ps(m, p, bytes, &copied[0], &ps[0], error));
    WW_TRY(copy_ps(m, p, 3 * bytes, &copied[1], &ps[1], error));
    p->gbps = ps[1] > ps[0] ? 2.0 * (double)(copied[1] - copied[0]) / (double)(ps[1] - ps[0]) * 1000 : NAN;
    return WW_OK;
}

/* CTAs that run side by side drift apart in the course of a long copy, which costs DRAM rows: the points that
 * look best are copied again at length, and the best of these counts. */
static enum ww_code long_copies(struct ww_meter *m, struct ww_error *error) {
    struct ww_dissect_global *g = &m->out->global;
    bool done[MOST_POINTS] = {false};
    for (uint32_t n = 0; n < LONG_COPIES && n < g->point_count; n++) {
        size_t best = SIZE_MAX;
        for (size_t i = 0; i < g->point_count; i++)
            if (!done[i] && (best == SIZE_MAX || g->point[i].gbps > g->point[best].gbps)) best = i;
        done[best] = true;
        WW_TRY(copy_point(m, &g->point[best], LONG_TIMES, error));
        if (g->point[best].gbps > g->best.gbps) g->best = g->point[best];
    }
    return WW_OK;
}

enum ww_code ww_dissect_global(struct ww_meter *m, struct ww_error *error) {
    static const uint32_t ilp[] = {1, 2, 4};
    struct ww_dissect_global *g = &m->out->global;
    bool few = m->options->few || m->board.l2_bytes > LARGE_L2;
    g->peak = m->board.dram_peak_gbps;
    g->point = ww_arena_array(&m->out->arena, MOST_POINTS, sizeof *g->point);
    if (!g->point) return ww_fail_nomem(error, "global copies");
    for (uint32_t a_sm = few ? 4 : 1; a_sm <= (few ? 8 : 16); a_sm *= few ? 2 : 4)
        for (uint32_t size = few ? 256 : 64; size <= m->board.max_cta_threads; size *= few ? 16 : 4)
            for (size_t i = few ? 2 : 0; i < sizeof ilp / sizeof ilp[0]; i++) {
                struct ww_dissect_point p = {a_sm * m->board.sms, size, ilp[i], 0};
                WW_TRY(copy_point(m, &p, 1, error));
                g->point[g->point_count++] = p;
            }
    if (m->board.l2_bytes <= LARGE_L2) WW_TRY(long_copies(m, error));
    for (size_t i = 0; i < g->point_count && m->board.l2_bytes > LARGE_L2; i++)
        if (g->point[i].gbps > g->best.gbps) g->best = g->point[i];
    g->measured = true;
    return WW_OK;
}
