/* reduction: the sum of n floats. The inputs are whole numbers, small enough that any partial sum of them is
 * below 2^24 and so exact in a float: every order of adding gives the same sum, compared exactly. */
#include "host.h"

struct settings {
    uint32_t size, n, block, per_thread, variant, reserved;
};
#define PARAMS(U32, ENUM)                                                                                      \
    WW_SIZE_PARAM(ENUM)                                                                                        \
    U32(n, "n", "element", 0, 16777216, 0, "elements; 0: 3000, 1000000, 8000000")                              \
    U32(block, "block", "thread", 2, 1024, 256, "threads of a CTA, a power of two (shuffle: at least 32)")     \
    U32(per_thread, "per_thread", "element", 1, 4096, 2, "elements that a thread adds up first")               \
    U32(reserved, "reserved", "byte", 0, 16384, 0, "shared memory that the system adds to a CTA's")            \
    ENUM(variant, "variant", "interleaved|sequential|shuffle|strided", 1, "sequential", "how a CTA adds up")
static const struct ww_param params[] = {PARAMS(WW_ROW_U32, WW_ROW_ENUM)};

enum { SHUFFLE = 2, STRIDED = 3 };

/* Launches until one sum is left, from `in` (n elements) over two buffers of partial sums. */
static enum ww_code reduce(struct ww_host *h, const struct settings *s, uint64_t in, uint32_t n,
                           uint64_t *result) {
    static const char *const kernel[] = {"reduction_interleaved", "reduction_sequential", "reduction_shuffle",
                                         "reduction_strided"};
    uint32_t share = s->block * s->per_thread;
    uint64_t buffer[2];
    for (int i = 0; i < 2; i++) WW_TRY(ww_host_buffer(h, &buffer[i], ww_host_ceil(n, share), sizeof(float)));
    for (int i = 0;; i = !i) {
        uint32_t ctas = ww_host_ceil(n, share);
        struct ww_host_shape shape = ww_host_line(ctas, s->block);
        shape.shared = s->block * (uint32_t)sizeof(float) + s->reserved;
        const struct ww_arg args[] = {WW_ARG(in), WW_ARG(buffer[i]), WW_ARG(n)};
        WW_TRY(ww_host_launch(h, kernel[s->variant], &shape, WW_ARGS(args)));
        in = *result = buffer[i];
        n = ctas;
        if (n == 1) return WW_OK;
    }
}

static enum ww_code body(struct ww_host *h, const void *settings) {
    const struct settings *s = settings;
    uint32_t n = ww_host_size(s->n, s->size, 3000, 1000000, 8000000);
    if (s->block & (s->block - 1))
        return ww_fail(h->error, WW_USAGE, h->name, "block=%u: expected a power of two", s->block);
    if (s->variant == SHUFFLE && s->block < 32)
        return ww_fail(h->error, WW_USAGE, h->name, "block=%u: variant=shuffle needs 32 or more", s->block);
    if (s->variant == STRIDED && s->per_thread != 1)
        return ww_fail(h->error, WW_USAGE, h->name, "per_thread=%u: variant=strided needs 1", s->per_thread);
    float *in, got;
    uint64_t d_in, d_sum;
    int32_t sum = 0;
    uint32_t range = (1u << 24) / n;
    if (range > 1000) range = 1000;
    WW_TRY(ww_host_array(h, &in, n, sizeof *in));
    for (uint32_t i = 0; i < n; i++) {
        int32_t v = (int32_t)ww_rng_below(&h->rng, 2 * range + 1) - (int32_t)range;
        in[i] = (float)v;
        sum += v;
    }
    WW_TRY(ww_host_upload(h, &d_in, in, n, sizeof *in));
    WW_TRY(reduce(h, s, d_in, n, &d_sum));
    WW_TRY(ww_host_read(h, &got, d_sum, 1, sizeof got));
    const double want = sum, scale = 0;
    return ww_host_near_f32(h, "sum", &got, &want, &scale, 1, 0);
}

static enum ww_code run(const void *settings, struct ww_device *device, uint64_t seed, struct ww_error *error) {
    return ww_host_run("reduction", body, settings, device, seed, error);
}

const struct ww_workload_ops ww_workload_reduction = {
    .name = "reduction",
    .help = "sum of an array: barriers in a loop, shrinking sets of active threads, shared memory or shuffles",
    .params = params,
    .param_count = sizeof params / sizeof params[0],
    .param_text = PARAMS(WW_TEXT_U32, WW_TEXT_ENUM),
    .settings_size = sizeof(struct settings),
    .ptx_name = "reduction",
    .run = run,
};
