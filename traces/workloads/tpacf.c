/* tpacf: the counts of the two-point angular correlation function of galaxies (S. D. Landy, A. S. Szalay, "Bias
 * and Variance of Angular Correlation Functions", ApJ 412, 1993), as Parboil's benchmark of that name: pairs
 * within the data, between data and random points, and within random points, by logarithmic bins of the angle.
 * Coordinates are multiples of 2^-11 and at most 1, so that a float holds each sum of three products exactly;
 * counts are compared exactly. The data has clusters, random sets are uniform on the sphere. */
#include "host.h"
#include <math.h>

enum { BLOCK = 256, BINS = 21 }; /* of kernels/tpacf.cu */

struct settings {
    uint32_t size, points, sets;
};
#define PARAMS(U32, ENUM)                                                                                      \
    WW_SIZE_PARAM(ENUM)                                                                                        \
    U32(points, "points", "point", 0, 65536, 0, "points of a set; 0: 60, 256, 487")                            \
    U32(sets, "sets", "set", 0, 1000, 0, "random sets; 0: 1, 8, 100")
static const struct ww_param params[] = {PARAMS(WW_ROW_U32, WW_ROW_ENUM)};

static float on_grid(double v) {
    return (float)(floor(v * 2048) / 2048);
}

/* Archimedes: z and the angle around it are uniform. */
static void direction(struct ww_rng *rng, double v[3]) {
    double z = 2 * ww_rng_unit(rng) - 1, angle = 6.283185307179586 * ww_rng_unit(rng), r = sqrt(1 - z * z);
    v[0] = r * cos(angle);
    v[1] = r * sin(angle);
    v[2] = z;
}

/* Every 16th data point is anywhere, the next 15 lie within some degrees of it. */
static void fill_set(struct ww_rng *rng, float *set, uint32_t n, bool data) {
    double centre[3] = {0}, v[3];
    for (uint32_t i = 0; i < n; i++) {
        direction(rng, v);
        if (data && i % 16 == 0)
            for (int d = 0; d < 3; d++) centre[d] = v[d];
        if (data) {
            double length = 0;
            for (int d = 0; d < 3; d++) v[d] = centre[d] + 0.05 * v[d];
            for (int d = 0; d < 3; d++) length += v[d] * v[d];
            for (int d = 0; d < 3; d++) v[d] /= sqrt(length);
        }
        for (uint32_t d = 0; d < 3; d++) set[d * n + i] = on_grid(v[d]);
    }
}

/* Bound k: the cosine of 10^((k + 1) / 5) minutes of arc; beyond half a turn, of half a turn. */
static void make_bounds(float bound[BINS - 1]) {
    const double pi = 3.141592653589793;
    for (int k = 0; k < BINS - 1; k++) bound[k] = (float)cos(fmin(pi, pow(10, (k + 1) / 5.0) / 60 * pi / 180));
}

static void count_pairs(const float *a, const float *b, uint32_t n, const float *bound, uint32_t *count) {
    for (uint32_t i = 0; i < n; i++)
        for (uint32_t j = a == b ? i + 1 : 0; j < n; j++) {
            double dot = 0;
            for (uint32_t d = 0; d < 3; d++) dot += (double)a[d * n + i] * (double)b[d * n + j];
            uint32_t bin = 0;
            while (bin < BINS - 1 && dot < (double)bound[bin]) bin++;
            count[bin]++;
        }
}

static enum ww_code body(struct ww_host *h, const void *settings) {
    const struct settings *s = settings;
    uint32_t n = ww_host_size(s->points, s->size, 60, 256, 487);
    uint32_t sets = ww_host_size(s->sets, s->size, 1, 8, 100), ctas = 2 * sets + 1;
    float *point, bound[BINS - 1];
    uint32_t *want, *got;
    uint64_t d_point, d_bound, d_count;
    size_t stride = 3 * (size_t)n, counts = (size_t)ctas * BINS;
    if (stride * (sets + 1) > 1u << 26)
        return ww_fail(h->error, WW_USAGE, h->name, "points=%u, sets=%u: at most 2^26 coordinates", n, sets);
    WW_TRY(ww_host_array(h, &point, stride * (sets + 1), sizeof *point));
    WW_TRY(ww_host_array(h, &want, counts, sizeof *want));
    WW_TRY(ww_host_array(h, &got, counts, sizeof *got));
    for (uint32_t i = 0; i <= sets; i++) fill_set(&h->rng, point + stride * i, n, i == 0);
    make_bounds(bound);
    for (uint32_t i = 0; i < ctas; i++) {
        const float *a = point + (i > sets ? (i - sets) * stride : 0);
        count_pairs(a, i > sets ? a : point + i * stride, n, bound, want + (size_t)i * BINS);
    }
    WW_TRY(ww_host_upload(h, &d_point, point, stride * (sets + 1), sizeof *point));
    WW_TRY(ww_host_upload(h, &d_bound, bound, BINS - 1, sizeof *bound));
    WW_TRY(ww_host_buffer(h, &d_count, counts, sizeof *got));
    const struct ww_host_shape shape = ww_host_line(ctas, BLOCK);
    const struct ww_arg args[] = {WW_ARG(d_point), WW_ARG(d_bound), WW_ARG(d_count), WW_ARG(n), WW_ARG(sets)};
    WW_TRY(ww_host_launch(h, "tpacf_histogram", &shape, WW_ARGS(args)));
    WW_TRY(ww_host_read(h, got, d_count, counts, sizeof *got));
    return ww_host_same_u32(h, "count", got, want, counts);
}

static enum ww_code run(const void *settings, struct ww_device *device, uint64_t seed, struct ww_error *error) {
    return ww_host_run("tpacf", body, settings, device, seed, error);
}

const struct ww_workload_ops ww_workload_tpacf = {
    .name = "tpacf",
    .help = "angular correlation of galaxies: all pairs, binary search, histograms in shared memory",
    .params = params,
    .param_count = sizeof params / sizeof params[0],
    .param_text = PARAMS(WW_TEXT_U32, WW_TEXT_ENUM),
    .settings_size = sizeof(struct settings),
    .ptx_name = "tpacf",
    .run = run,
};
