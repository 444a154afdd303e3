/* scalarprod: products of pairs of vectors. The inputs are whole numbers of magnitude at most 32, so that sums
 * of up to 16384 products are exact in a float, in any order: compared exactly. */
#include "host.h"

struct settings {
    uint32_t size, pairs, n;
};
#define PARAMS(U32, ENUM)                                                                                      \
    WW_SIZE_PARAM(ENUM)                                                                                        \
    U32(pairs, "pairs", "pair", 0, 4096, 0, "pairs of vectors; 0: 3, 256, 1024")                               \
    U32(n, "n", "element", 0, 16384, 0, "elements of a vector, a multiple of 1024; 0: 1024, 4096, 4096")
static const struct ww_param params[] = {PARAMS(WW_ROW_U32, WW_ROW_ENUM)};

enum { THREADS = 64, SUMS = 1024, DATA_BYTES = SUMS * 4, SHARED_BYTES = 4144, MOST = 32 };

static enum ww_code vector(struct ww_host *h, float **v, uint64_t *d_v, size_t n) {
    WW_TRY(ww_host_array(h, v, n, sizeof **v));
    for (size_t i = 0; i < n; i++) (*v)[i] = (float)((int32_t)ww_rng_below(&h->rng, 2 * MOST + 1) - MOST);
    return ww_host_upload(h, d_v, *v, n, sizeof **v);
}

static enum ww_code body(struct ww_host *h, const void *settings) {
    const struct settings *s = settings;
    uint32_t pairs = ww_host_size(s->pairs, s->size, 3, 256, 1024),
             n = ww_host_size(s->n, s->size, 1024, 4096, 4096);
    float *a, *b, *got;
    double *want, *scale;
    uint64_t d_a, d_b, d_out;
    if (n % SUMS) return ww_fail(h->error, WW_USAGE, h->name, "n=%u: expected a multiple of 1024", n);
    WW_TRY(vector(h, &a, &d_a, (size_t)pairs * n));
    WW_TRY(vector(h, &b, &d_b, (size_t)pairs * n));
    WW_TRY(ww_host_buffer(h, &d_out, pairs, sizeof(float)));
    const struct ww_arg args[] = {WW_ARG(d_out), WW_ARG(d_a), WW_ARG(d_b), WW_ARG(pairs), WW_ARG(n)};
    struct ww_host_shape shape = ww_host_line(pairs, THREADS);
    shape.shared = SHARED_BYTES - DATA_BYTES;
    WW_TRY(ww_host_launch(h, "scalarprod_pair", &shape, WW_ARGS(args)));
    WW_TRY(ww_host_array(h, &got, pairs, sizeof *got));
    WW_TRY(ww_host_array(h, &want, pairs, sizeof *want));
    WW_TRY(ww_host_array(h, &scale, pairs, sizeof *scale));
    WW_TRY(ww_host_read(h, got, d_out, pairs, sizeof *got));
    for (size_t i = 0; i < (size_t)pairs * n; i++) want[i / n] += (double)a[i] * b[i];
    return ww_host_near_f32(h, "out", got, want, scale, pairs, 0);
}

static enum ww_code run(const void *settings, struct ww_device *device, uint64_t seed, struct ww_error *error) {
    return ww_host_run("scalarprod", body, settings, device, seed, error);
}

const struct ww_workload_ops ww_workload_scalarprod = {
    .name = "scalarprod",
    .help = "scalar products of pairs of vectors: streaming loads, a tree in shared memory",
    .params = params,
    .param_count = sizeof params / sizeof params[0],
    .param_text = PARAMS(WW_TEXT_U32, WW_TEXT_ENUM),
    .settings_size = sizeof(struct settings),
    .ptx_name = "scalarprod",
    .run = run,
};
