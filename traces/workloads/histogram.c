/* histogram: counts of n values below `bins`. Integers: compared exactly. Values are uniform, or skewed: a
 * bin's index is bins u^3 for uniform u, so that half of them fall into the lowest eighth. */
#include "host.h"

struct settings {
    uint32_t size, n, bins, block, per_thread, variant, data;
};
#define PARAMS(U32, ENUM)                                                                                      \
    WW_SIZE_PARAM(ENUM)                                                                                        \
    U32(n, "n", "element", 0, 268435456, 0, "elements; 0: 5000, 1400000, 8000000")                             \
    U32(bins, "bins", "bin", 1, 8192, 256, "bins, 4 bytes of shared memory each")                              \
    U32(block, "block", "thread", 1, 1024, 256, "threads of a CTA")                                            \
    U32(per_thread, "per_thread", "element", 1, 1024, 4, "elements of a thread, one grid apart")               \
    ENUM(variant, "variant", "shared|global|bytes", 0, "shared",                                               \
         "where a CTA counts; bytes: shared, four values to a word")                                           \
    ENUM(data, "data", "uniform|skewed", 0, "uniform", "how values are spread over the bins")
static const struct ww_param params[] = {PARAMS(WW_ROW_U32, WW_ROW_ENUM)};

enum { SHARED, GLOBAL, BYTES };

/* Four values to a word, in place; n becomes the number of words. */
static enum ww_code pack(struct ww_host *h, uint32_t *data, uint32_t *n, uint32_t bins) {
    if (bins > 256 || *n % 4)
        return ww_fail(h->error, WW_USAGE, h->name,
                       "bins=%u, n=%u: variant=bytes needs at most 256 bins and "
                       "a multiple of 4 elements",
                       bins, *n);
    *n /= 4;
    for (uint32_t i = 0; i < *n; i++)
        data[i] = data[4 * i] | data[4 * i + 1] << 8 | data[4 * i + 2] << 16 | data[4 * i + 3] << 24;
    return WW_OK;
}

static enum ww_code body(struct ww_host *h, const void *settings) {
    const struct settings *s = settings;
    uint32_t n = ww_host_size(s->n, s->size, 5000, 1400000, 8000000), bins = s->bins;
    uint32_t *data, *want, *got;
    uint64_t d_data, d_count;
    WW_TRY(ww_host_array(h, &data, n, sizeof *data));
    WW_TRY(ww_host_array(h, &want, bins, sizeof *want));
    WW_TRY(ww_host_array(h, &got, bins, sizeof *got));
    for (uint32_t i = 0; i < n; i++) {
        double u = ww_rng_unit(&h->rng);
        data[i] = (uint32_t)((s->data ? u * u * u : u) * bins);
        want[data[i]]++;
    }
    if (s->variant == BYTES) WW_TRY(pack(h, data, &n, bins));
    WW_TRY(ww_host_upload(h, &d_data, data, n, sizeof *data));
    WW_TRY(ww_host_buffer(h, &d_count, bins, sizeof *got));
    static const char *const kernels[] = {"histogram_shared", "histogram_global", "histogram_bytes"};
    const struct ww_arg args[] = {WW_ARG(d_data), WW_ARG(d_count), WW_ARG(n), WW_ARG(bins)};
    struct ww_host_shape shape = ww_host_line(ww_host_ceil(n, s->block * s->per_thread), s->block);
    shape.shared = s->variant == GLOBAL ? 0 : bins * (uint32_t)sizeof *got;
    WW_TRY(ww_host_launch(h, kernels[s->variant], &shape, WW_ARGS(args)));
    WW_TRY(ww_host_read(h, got, d_count, bins, sizeof *got));
    return ww_host_same_u32(h, "count", got, want, bins);
}

static enum ww_code run(const void *settings, struct ww_device *device, uint64_t seed, struct ww_error *error) {
    return ww_host_run("histogram", body, settings, device, seed, error);
}

const struct ww_workload_ops ww_workload_histogram = {
    .name = "histogram",
    .help = "counts of values: shared-memory atomics with conflicts, or global ones",
    .params = params,
    .param_count = sizeof params / sizeof params[0],
    .param_text = PARAMS(WW_TEXT_U32, WW_TEXT_ENUM),
    .settings_size = sizeof(struct settings),
    .ptx_name = "histogram",
    .run = run,
};
