/* mri_gridding: the adjoint step of MRI reconstruction from samples off the grid (J. I. Jackson et al.,
 * "Selection of a Convolution Function for Fourier Inversion Using Gridding", IEEE Trans. Medical Imaging
 * 10(3), 1991), as Parboil's benchmark mri-gridding: binning, reordering, then a gather for each grid point.
 * Half of the samples lie near the middle, as those of spiral and radial trajectories do. Places are multiples
 * of 1/256, so that squared distances are exact and all agree on who lies within the radius.
 *
 * The order within a bin is that of atomics; counts and the set of samples in each bin are compared exactly,
 * grid values with factor n + 60 on sum |w v|, n the largest number of samples around a point: the window's
 * series has 14 steps of three roundings; t is exact; the value one product, the sum n more. */
#include "host.h"
#include <math.h>
#include <string.h>

enum { FIELDS = 6, CUTOFF = 2, SIDE = 2, TILE_X = 8, TILE_Y = 4, TILE_Z = 2 }; /* of kernels/mri_gridding.cu */

struct settings {
    uint32_t size, grid, samples, block;
};
#define PARAMS(U32, ENUM)                                                                                      \
    WW_SIZE_PARAM(ENUM)                                                                                        \
    U32(grid, "grid", "point", 0, 256, 0, "grid points on a side, a multiple of 8; 0: 8, 32, 64")              \
    U32(samples, "samples", "sample", 0, 4194304, 0, "samples; 0: 100, 4800, 300000")                          \
    U32(block, "block", "thread", 1, 1024, 256, "threads of a CTA of the first two kernels")
static const struct ww_param params[] = {PARAMS(WW_ROW_U32, WW_ROW_ENUM)};

struct problem {
    uint32_t grid, samples, bins;
    float *sample;
    uint32_t *bin, *rank, *count, *start;
    uint64_t d_sample, d_bin, d_rank, d_count, d_start, d_place, d_value, d_grid;
};

static float coordinate(struct ww_rng *rng, uint32_t grid, bool middle) {
    double u = ww_rng_unit(rng), v = ww_rng_unit(rng);
    double at = middle ? 0.5 + 0.25 * (u - v) : u; /* middle: a triangle between a quarter and three quarters */
    return (float)(floor(at * grid * 256) / 256);
}

static enum ww_code make(struct ww_host *h, struct problem *p) {
    size_t n = p->samples;
    uint32_t side = p->grid / SIDE;
    p->bins = side * side * side;
    WW_TRY(ww_host_random(h, &p->sample, n * FIELDS, -1, 1));
    for (size_t i = 0; i < n; i++) {
        for (int d = 0; d < 3; d++) p->sample[i * FIELDS + (size_t)d] = coordinate(&h->rng, p->grid, i & 1);
        p->sample[i * FIELDS + 3] = 0.5f + 0.5f * fabsf(p->sample[i * FIELDS + 3]);
    }
    WW_TRY(ww_host_array(h, &p->bin, n, sizeof *p->bin));
    WW_TRY(ww_host_array(h, &p->rank, n, sizeof *p->rank));
    WW_TRY(ww_host_array(h, &p->count, p->bins, sizeof *p->count));
    WW_TRY(ww_host_array(h, &p->start, (size_t)p->bins + 1, sizeof *p->start));
    WW_TRY(ww_host_upload(h, &p->d_sample, p->sample, n * FIELDS, sizeof *p->sample));
    WW_TRY(ww_host_buffer(h, &p->d_bin, n, sizeof *p->bin));
    WW_TRY(ww_host_buffer(h, &p->d_rank, n, sizeof *p->rank));
    WW_TRY(ww_host_buffer(h, &p->d_count, p->bins, sizeof *p->count));
    WW_TRY(ww_host_buffer(h, &p->d_place, n, 4 * sizeof(float)));
    WW_TRY(ww_host_buffer(h, &p->d_value, n, 2 * sizeof(float)));
    return ww_host_buffer(h, &p->d_grid, (size_t)p->grid * p->grid * p->grid, 2 * sizeof(float));
}

/* The ranks within a bin are 0, 1, ... in any order: seen[] marks the places taken. */
static enum ww_code check_bins(struct ww_host *h, struct problem *p) {
    uint32_t side = p->grid / SIDE, *want_bin, *want_count, *got_count, *seen, *once;
    WW_TRY(ww_host_array(h, &want_bin, p->samples, sizeof *want_bin));
    WW_TRY(ww_host_array(h, &want_count, p->bins, sizeof *want_count));
    WW_TRY(ww_host_array(h, &got_count, p->bins, sizeof *got_count));
    WW_TRY(ww_host_array(h, &seen, p->samples, sizeof *seen));
    WW_TRY(ww_host_array(h, &once, p->samples, sizeof *once));
    for (size_t i = 0; i < p->samples; i++) {
        const float *s = p->sample + i * FIELDS;
        want_bin[i] = (((uint32_t)s[2] / SIDE) * side + (uint32_t)s[1] / SIDE) * side + (uint32_t)s[0] / SIDE;
        want_count[want_bin[i]]++;
        once[i] = 1;
    }
    WW_TRY(ww_host_read(h, p->bin, p->d_bin, p->samples, sizeof *p->bin));
    WW_TRY(ww_host_read(h, p->rank, p->d_rank, p->samples, sizeof *p->rank));
    WW_TRY(ww_host_read(h, got_count, p->d_count, p->bins, sizeof *got_count));
    WW_TRY(ww_host_same_u32(h, "bin", p->bin, want_bin, p->samples));
    WW_TRY(ww_host_same_u32(h, "count", got_count, want_count, p->bins));
    for (uint32_t b = 0; b < p->bins; b++) p->start[b + 1] = p->start[b] + want_count[b];
    for (size_t i = 0; i < p->samples; i++) {
        if (p->rank[i] >= want_count[want_bin[i]])
            return ww_fail(h->error, WW_MISMATCH, h->name, "rank[%zu] is %u, expected less than %u", i,
                           p->rank[i], want_count[want_bin[i]]);
        seen[p->start[want_bin[i]] + p->rank[i]]++;
    }
    return ww_host_same_u32(h, "samples at place", seen, once, p->samples);
}

static double window(double t) {
    double sum = 1, term = 1;
    for (int k = 1; k <= 30; k++) {
        term *= t / ((double)k * k);
        sum += term;
    }
    return sum;
}

/* Adds sample s to all grid points within the radius. */
static void scatter(const struct problem *p, const float *s, double *want[2], double *scale[2],
                    uint32_t *around) {
    double value[2] = {(double)s[3] * (double)s[4], (double)s[3] * (double)s[5]};
    int64_t low[3], high[3], n = p->grid;
    for (int d = 0; d < 3; d++) {
        low[d] = (int64_t)s[d] - CUTOFF < 0 ? 0 : (int64_t)s[d] - CUTOFF;
        high[d] = (int64_t)s[d] + CUTOFF + 1 < n ? (int64_t)s[d] + CUTOFF + 1 : n - 1;
    }
    for (int64_t z = low[2]; z <= high[2]; z++)
        for (int64_t y = low[1]; y <= high[1]; y++)
            for (int64_t x = low[0]; x <= high[0]; x++) {
                double dx = (double)s[0] - (double)x, dy = (double)s[1] - (double)y;
                double dz = (double)s[2] - (double)z, distance = dx * dx + dy * dy + dz * dz;
                if (!(distance < CUTOFF * CUTOFF)) continue;
                double w = window(16 - 4 * distance);
                size_t at = (size_t)((z * n + y) * n + x);
                for (int c = 0; c < 2; c++) {
                    want[c][at] += w * value[c];
                    scale[c][at] += fabs(w * value[c]);
                }
                around[at]++;
            }
}

static enum ww_code check_grid(struct ww_host *h, const struct problem *p) {
    static const char *const names[] = {"real", "imaginary"};
    size_t points = (size_t)p->grid * p->grid * p->grid;
    double *want[2], *scale[2];
    uint32_t *around, most = 0;
    float *got, *part;
    for (int c = 0; c < 2; c++) {
        WW_TRY(ww_host_array(h, &want[c], points, sizeof(double)));
        WW_TRY(ww_host_array(h, &scale[c], points, sizeof(double)));
    }
    WW_TRY(ww_host_array(h, &around, points, sizeof *around));
    WW_TRY(ww_host_array(h, &got, 2 * points, sizeof *got));
    WW_TRY(ww_host_array(h, &part, points, sizeof *part));
    for (size_t i = 0; i < p->samples; i++) scatter(p, p->sample + i * FIELDS, want, scale, around);
    for (size_t i = 0; i < points; i++) most = around[i] > most ? around[i] : most;
    WW_TRY(ww_host_read(h, got, p->d_grid, 2 * points, sizeof *got));
    for (int c = 0; c < 2; c++) {
        for (size_t i = 0; i < points; i++) part[i] = got[2 * i + (size_t)c];
        WW_TRY(ww_host_near_f32(h, names[c], part, want[c], scale[c], points, most + 60.0));
    }
    return WW_OK;
}

static enum ww_code body(struct ww_host *h, const void *settings) {
    const struct settings *s = settings;
    struct problem p = {.grid = ww_host_size(s->grid, s->size, 8, 32, 64),
                        .samples = ww_host_size(s->samples, s->size, 100, 4800, 300000)};
    if (p.grid % TILE_X)
        return ww_fail(h->error, WW_USAGE, h->name, "grid=%u: expected a multiple of %d", p.grid, TILE_X);
    const struct ww_host_shape line = ww_host_line(ww_host_ceil(p.samples, s->block), s->block);
    const struct ww_host_shape tiles = {.grid = {p.grid / TILE_X, p.grid / TILE_Y, p.grid / TILE_Z},
                                        .block = {TILE_X, TILE_Y, TILE_Z}};
    WW_TRY(make(h, &p));
    const struct ww_arg bin[] = {WW_ARG(p.d_sample), WW_ARG(p.d_bin),   WW_ARG(p.d_rank),
                                 WW_ARG(p.d_count),  WW_ARG(p.samples), WW_ARG(p.grid)};
    WW_TRY(ww_host_launch(h, "mri_gridding_bin", &line, WW_ARGS(bin)));
    WW_TRY(check_bins(h, &p));
    WW_TRY(ww_host_upload(h, &p.d_start, p.start, (size_t)p.bins + 1, sizeof *p.start));
    const struct ww_arg reorder[] = {WW_ARG(p.d_sample), WW_ARG(p.d_bin),   WW_ARG(p.d_rank), WW_ARG(p.d_start),
                                     WW_ARG(p.d_place),  WW_ARG(p.d_value), WW_ARG(p.samples)};
    WW_TRY(ww_host_launch(h, "mri_gridding_reorder", &line, WW_ARGS(reorder)));
    const struct ww_arg gather[] = {WW_ARG(p.d_place), WW_ARG(p.d_value), WW_ARG(p.d_start), WW_ARG(p.d_grid),
                                    WW_ARG(p.grid)};
    WW_TRY(ww_host_launch(h, "mri_gridding_gather", &tiles, WW_ARGS(gather)));
    return check_grid(h, &p);
}

static enum ww_code run(const void *settings, struct ww_device *device, uint64_t seed, struct ww_error *error) {
    return ww_host_run("mri_gridding", body, settings, device, seed, error);
}

const struct ww_workload_ops ww_workload_mri_gridding = {
    .name = "mri_gridding",
    .help = "MRI gridding: binning with atomics, reordering, a gather around each grid point",
    .params = params,
    .param_count = sizeof params / sizeof params[0],
    .param_text = PARAMS(WW_TEXT_U32, WW_TEXT_ENUM),
    .settings_size = sizeof(struct settings),
    .ptx_name = "mri_gridding",
    .run = run,
};
