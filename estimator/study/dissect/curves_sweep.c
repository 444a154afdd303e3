/* The part "curves" of a dissection: which points are measured. */
#include "curves.h"
#include <math.h>

#define LATENCY_FROM (2 * WW_KB)
#define LATENCY_TO (64 * WW_MB) /* at least: beyond what a first TLB reaches */
#define LATENCY_STEP 1.26
#define KNEE_STEP 1.04 /* sizes around a knee */
#define CACHE_FROM (8 * WW_KB)
#define CACHE_TO (512 * WW_KB)
#define CACHE_STEP 1.5
#define L2_STEP 1.6
#define SAME 0.04 /* part by which neighbours on a plateau may differ */
#define MOST_POINTS 192u
#define REFINEMENTS 32

typedef enum ww_code (*point_fn)(struct ww_meter *m, uint64_t bytes, double *y, struct ww_error *error);

static enum ww_code l2_pairs(struct ww_meter *m, uint64_t bytes, double *gbps, struct ww_error *error) {
    return ww_curve_l2(m, bytes, WW_CURVE_PAIRS, gbps, error);
}

/* Sizes are multiples of half of the first. */
static enum ww_code sweep(struct ww_meter *m, point_fn point, uint64_t from, uint64_t to, double step,
                          struct ww_dissect_xy **out, size_t *count, struct ww_error *error) {
    *out = ww_arena_array(&m->out->arena, MOST_POINTS, sizeof **out);
    if (!*out) return ww_fail_nomem(error, "a curve");
    for (double at = (double)from; at <= (double)to && *count < MOST_POINTS; at *= step) {
        struct ww_dissect_xy *p = &(*out)[*count];
        p->bytes = (uint64_t)at / (from / 2) * (from / 2);
        if (*count && p->bytes == p[-1].bytes) continue;
        WW_TRY(point(m, p->bytes, &p->y, error));
        (*count)++;
    }
    return WW_OK;
}

/* The size in the middle of the two points around a knee, the first of which is *after; 0 if all knees are
 * known well enough. */
static uint64_t between(const struct ww_dissect_curves *c, size_t *after) {
    for (size_t k = 1; k < c->plateau_count; k++)
        for (size_t i = 1; i < c->latency_count; i++) {
            const struct ww_dissect_xy *p = &c->latency[i - 1];
            double knee = c->plateau[k].knee;
            if (!((double)p[0].bytes <= knee && (double)p[1].bytes >= knee)) continue;
            if ((double)p[1].bytes <= KNEE_STEP * (double)p[0].bytes || p[1].bytes - p[0].bytes < WW_KB) break;
            *after = i - 1;
            return (uint64_t)sqrt((double)p[0].bytes * (double)p[1].bytes) / 512 * 512;
        }
    return 0;
}

static enum ww_code refine(struct ww_meter *m, struct ww_error *error) {
    struct ww_dissect_curves *c = &m->out->curves;
    for (int i = 0; i < REFINEMENTS; i++) {
        size_t after = 0;
        c->plateau_count = ww_plateaus(c->latency, c->latency_count, SAME, c->plateau);
        uint64_t bytes = between(c, &after);
        if (!bytes || c->latency_count == MOST_POINTS) return WW_OK;
        struct ww_dissect_xy p = {bytes, NAN};
        WW_TRY(ww_curve_latency(m, bytes, &p.y, error));
        for (size_t k = c->latency_count++; k > after + 1; k--) c->latency[k] = c->latency[k - 1];
        c->latency[after + 1] = p;
    }
    return WW_OK;
}

static enum ww_code streams(struct ww_meter *m, struct ww_error *error) {
    static const struct ww_dissect_stream shape[] = {
        {1, 32, 0, 0},  {1, 64, 0, 0},  {2, 64, 0, 0},  {2, 128, 0, 0}, {2, 192, 0, 0},
        {2, 256, 0, 0}, {2, 384, 0, 0}, {2, 512, 0, 0}, {2, 768, 0, 0}, {2, 1024, 0, 0}};
    enum { SHAPES = sizeof shape / sizeof shape[0] };
    struct ww_dissect_curves *c = &m->out->curves;
    c->stream = ww_arena_array(&m->out->arena, SHAPES, sizeof *c->stream);
    if (!c->stream) return ww_fail_nomem(error, "streams");
    for (size_t i = 0; i < SHAPES; i++) {
        struct ww_dissect_stream s = shape[i];
        if (s.cta_size > m->board.max_cta_threads || s.ctas * s.cta_size > m->board.max_threads ||
            s.ctas > m->board.max_ctas)
            continue;
        WW_TRY(ww_curve_stream(m, s.ctas, s.cta_size, &ww_curve_read, &s.read, error));
        WW_TRY(ww_curve_stream(m, s.ctas, s.cta_size, &ww_curve_triad, &s.triad, error));
        c->stream[c->stream_count++] = s;
    }
    return WW_OK;
}

enum ww_code ww_dissect_curves(struct ww_meter *m, struct ww_error *error) {
    struct ww_dissect_curves *c = &m->out->curves;
    uint64_t l2 = ww_meter_l2_bytes(m), to = 3 * l2 > LATENCY_TO ? 3 * l2 : LATENCY_TO;
    WW_TRY(sweep(m, ww_curve_latency, LATENCY_FROM, to, LATENCY_STEP, &c->latency, &c->latency_count, error));
    WW_TRY(refine(m, error));
    WW_TRY(sweep(m, ww_curve_cache, CACHE_FROM, CACHE_TO, CACHE_STEP, &c->cache, &c->cache_count, error));
    to = 2 * l2 > 4 * WW_MB ? 2 * l2 : 4 * WW_MB;
    WW_TRY(sweep(m, l2_pairs, WW_MB, to, L2_STEP, &c->l2, &c->l2_count, error));
    WW_TRY(streams(m, error));
    c->measured = true;
    return WW_OK;
}
