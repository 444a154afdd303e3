/* smem_stride: a warp whose threads read words of shared memory a stride apart: bank conflicts. */
#include "host.h"

struct settings {
    uint32_t size, stride, count;
};
#define PARAMS(U32, ENUM)                                                                                      \
    WW_SIZE_PARAM(ENUM)                                                                                        \
    U32(stride, "stride", "word", 1, 256, 2, "words of 4 bytes from one thread to the next")                   \
    U32(count, "count", "access", 0, 1000000, 0, "accesses of the warp; 0: 64, 1024, 65536")
static const struct ww_param params[] = {PARAMS(WW_ROW_U32, WW_ROW_ENUM)};

static enum ww_code body(struct ww_host *h, const void *settings) {
    const struct settings *s = settings;
    uint32_t count = ww_host_size(s->count, s->size, 64, 1024, 65536), got[32], want[32];
    uint64_t d_out;
    for (uint32_t i = 0; i < 32; i++) got[i] = (uint32_t)ww_rng_next(&h->rng); /* what is not written is seen */
    WW_TRY(ww_host_upload(h, &d_out, got, 32, sizeof *got));
    struct ww_host_shape shape = ww_host_line(1, 32);
    shape.shared = (31 * s->stride + 1) * (uint32_t)sizeof *got;
    const struct ww_arg args[] = {WW_ARG(d_out), WW_ARG(s->stride), WW_ARG(count)};
    WW_TRY(ww_host_launch(h, "smem_stride", &shape, WW_ARGS(args)));
    WW_TRY(ww_host_read(h, got, d_out, 32, sizeof *got));
    for (uint32_t i = 0; i < 32; i++) want[i] = i * s->stride;
    return ww_host_same_u32(h, "out", got, want, 32);
}

static enum ww_code run(const void *settings, struct ww_device *device, uint64_t seed, struct ww_error *error) {
    return ww_host_run_module("smem_stride", "micro", body, settings, device, seed, error);
}

const struct ww_workload_ops ww_workload_smem_stride = {
    .name = "smem_stride",
    .help = "a warp reads shared memory with a stride: what bank conflicts cost",
    .params = params,
    .param_count = sizeof params / sizeof params[0],
    .param_text = PARAMS(WW_TEXT_U32, WW_TEXT_ENUM),
    .settings_size = sizeof(struct settings),
    .ptx_name = "micro",
    .run = run,
};
