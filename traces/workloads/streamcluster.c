/* streamcluster: the gain of one more centre in online facility location (L. O'Callaghan et al.,
 * "Streaming-Data Algorithms for High-Quality Clustering", ICDE 2002), the kernel pgain of Rodinia's benchmark
 * of that name. Every `points / centres`-th point is a centre, each point belongs to the nearest by its first
 * dimensions, and a launch tries one candidate. Coordinates are multiples of 1/8 below 4, weights 1 to 4: all
 * sums are exact in a float (dims <= 256: below 2^12 with 6 fractional bits, times 4), so the comparison is
 * exact. */
#include "host.h"
#include <string.h>

struct settings {
    uint32_t size, points, dims, centres, candidates, block;
};
#define PARAMS(U32, ENUM)                                                                                      \
    WW_SIZE_PARAM(ENUM)                                                                                        \
    U32(points, "points", "point", 0, 1048576, 0, "points; 0: 1500, 46080, 65536")                             \
    U32(dims, "dims", "dimension", 0, 256, 0, "coordinates of a point; 0: 16, 128, 256")                       \
    U32(centres, "centres", "centre", 1, 64, 10, "open centres")                                               \
    U32(candidates, "candidates", "launch", 1, 100, 1, "candidates tried, a launch each")                      \
    U32(block, "block", "thread", 1, 1024, 512, "threads of a CTA")
static const struct ww_param params[] = {PARAMS(WW_ROW_U32, WW_ROW_ENUM)};

struct problem {
    uint32_t points, dims, centres;
    float *coord, *weight, *cost, *lower, *want_lower, *change, *want_change;
    uint32_t *assigned, *row, *moves, *want_moves;
    uint64_t d_coord, d_weight, d_cost, d_assigned, d_row, d_lower, d_change, d_moves;
};

static float distance(const struct problem *p, uint32_t a, uint32_t b, uint32_t dims) {
    float sum = 0;
    for (uint32_t d = 0; d < dims; d++) {
        float x = p->coord[(size_t)d * p->points + a] - p->coord[(size_t)d * p->points + b];
        sum += x * x;
    }
    return sum;
}

/* The centre of each point: the nearest in the first 8 dimensions; costs are then of all. */
static void assign(struct problem *p) {
    uint32_t step = p->points / p->centres, few = p->dims < 8 ? p->dims : 8;
    for (uint32_t c = 0; c < p->centres; c++) p->row[c * step] = c;
    for (uint32_t i = 0; i < p->points; i++) {
        uint32_t best = 0;
        for (uint32_t c = 1; c < p->centres; c++)
            if (distance(p, i, c * step, few) < distance(p, i, best * step, few)) best = c;
        p->assigned[i] = best * step;
        p->cost[i] = distance(p, i, best * step, p->dims) * p->weight[i];
    }
}

static enum ww_code make(struct ww_host *h, struct problem *p) {
    size_t n = p->points;
    WW_TRY(ww_host_array(h, &p->coord, n * p->dims, sizeof *p->coord));
    WW_TRY(ww_host_array(h, &p->weight, n, sizeof *p->weight));
    WW_TRY(ww_host_array(h, &p->cost, n, sizeof *p->cost));
    WW_TRY(ww_host_array(h, &p->assigned, n, sizeof *p->assigned));
    WW_TRY(ww_host_array(h, &p->row, n, sizeof *p->row));
    WW_TRY(ww_host_array(h, &p->lower, n * p->centres, sizeof *p->lower));
    WW_TRY(ww_host_array(h, &p->want_lower, n * p->centres, sizeof *p->lower));
    WW_TRY(ww_host_array(h, &p->change, n, sizeof *p->change));
    WW_TRY(ww_host_array(h, &p->want_change, n, sizeof *p->change));
    WW_TRY(ww_host_array(h, &p->moves, n, sizeof *p->moves));
    WW_TRY(ww_host_array(h, &p->want_moves, n, sizeof *p->moves));
    for (size_t i = 0; i < n * p->dims; i++) p->coord[i] = (float)ww_rng_below(&h->rng, 32) / 8;
    for (size_t i = 0; i < n; i++) p->weight[i] = (float)(1 + ww_rng_below(&h->rng, 4));
    assign(p);
    WW_TRY(ww_host_upload(h, &p->d_coord, p->coord, n * p->dims, sizeof *p->coord));
    WW_TRY(ww_host_upload(h, &p->d_weight, p->weight, n, sizeof *p->weight));
    WW_TRY(ww_host_upload(h, &p->d_cost, p->cost, n, sizeof *p->cost));
    WW_TRY(ww_host_upload(h, &p->d_assigned, p->assigned, n, sizeof *p->assigned));
    WW_TRY(ww_host_upload(h, &p->d_row, p->row, n, sizeof *p->row));
    WW_TRY(ww_host_buffer(h, &p->d_lower, n * p->centres, sizeof *p->lower));
    WW_TRY(ww_host_buffer(h, &p->d_change, n, sizeof *p->change));
    return ww_host_buffer(h, &p->d_moves, n, sizeof *p->moves);
}

static enum ww_code same(struct ww_host *h, const char *array, const float *got, const float *want, size_t n) {
    for (size_t i = 0; i < n; i++)
        if (!(got[i] == want[i]))
            return ww_fail(h->error, WW_MISMATCH, h->name, "%s[%zu] is %.9g, expected %.9g exactly", array, i,
                           (double)got[i], (double)want[i]);
    return WW_OK;
}

static enum ww_code check(struct ww_host *h, struct problem *p, uint32_t candidate) {
    size_t n = p->points, cells = n * p->centres;
    memset(p->want_lower, 0, cells * sizeof *p->lower);
    memset(p->want_change, 0, n * sizeof *p->change);
    memset(p->want_moves, 0, n * sizeof *p->moves);
    for (uint32_t i = 0; i < n; i++) {
        float saved = distance(p, i, candidate, p->dims) * p->weight[i] - p->cost[i];
        if (saved < 0) {
            p->want_moves[i] = 1;
            p->want_change[i] = saved;
        } else {
            p->want_lower[i * p->centres + p->row[p->assigned[i]]] = saved;
        }
    }
    WW_TRY(ww_host_read(h, p->moves, p->d_moves, n, sizeof *p->moves));
    WW_TRY(ww_host_read(h, p->change, p->d_change, n, sizeof *p->change));
    WW_TRY(ww_host_read(h, p->lower, p->d_lower, cells, sizeof *p->lower));
    WW_TRY(ww_host_same_u32(h, "moves", p->moves, p->want_moves, n));
    WW_TRY(same(h, "change", p->change, p->want_change, n));
    return same(h, "lower", p->lower, p->want_lower, cells);
}

static enum ww_code try_candidate(struct ww_host *h, struct problem *p, uint32_t block, uint32_t candidate) {
    size_t n = p->points;
    WW_TRY(ww_device_memset(h->device, p->d_lower, 0, n * p->centres * sizeof *p->lower, h->error));
    WW_TRY(ww_device_memset(h->device, p->d_change, 0, n * sizeof *p->change, h->error));
    WW_TRY(ww_device_memset(h->device, p->d_moves, 0, n * sizeof *p->moves, h->error));
    struct ww_host_shape shape = ww_host_line(ww_host_ceil(n, block), block);
    shape.shared = p->dims * (uint32_t)sizeof(float);
    const struct ww_arg args[] = {WW_ARG(p->d_coord),    WW_ARG(p->d_weight), WW_ARG(p->d_cost),
                                  WW_ARG(p->d_assigned), WW_ARG(p->d_row),    WW_ARG(p->d_lower),
                                  WW_ARG(p->d_change),   WW_ARG(p->d_moves),  WW_ARG(p->points),
                                  WW_ARG(p->dims),       WW_ARG(p->centres),  WW_ARG(candidate)};
    WW_TRY(ww_host_launch(h, "streamcluster_pgain", &shape, WW_ARGS(args)));
    return check(h, p, candidate);
}

static enum ww_code body(struct ww_host *h, const void *settings) {
    const struct settings *s = settings;
    struct problem p = {.points = ww_host_size(s->points, s->size, 1500, 46080, 65536),
                        .dims = ww_host_size(s->dims, s->size, 16, 128, 256),
                        .centres = s->centres};
    if (p.points < p.centres)
        return ww_fail(h->error, WW_USAGE, h->name, "points=%u: expected at least centres=%u", p.points,
                       p.centres);
    WW_TRY(make(h, &p));
    for (uint32_t i = 0; i < s->candidates; i++)
        WW_TRY(try_candidate(h, &p, s->block, ww_rng_below(&h->rng, p.points)));
    return WW_OK;
}

static enum ww_code run(const void *settings, struct ww_device *device, uint64_t seed, struct ww_error *error) {
    return ww_host_run("streamcluster", body, settings, device, seed, error);
}

const struct ww_workload_ops ww_workload_streamcluster = {
    .name = "streamcluster",
    .help = "gain of one more cluster centre: streaming distances, a scattered store",
    .params = params,
    .param_count = sizeof params / sizeof params[0],
    .param_text = PARAMS(WW_TEXT_U32, WW_TEXT_ENUM),
    .settings_size = sizeof(struct settings),
    .ptx_name = "streamcluster",
    .run = run,
};
