/* saxpy: y = factor x + y. Tolerance: factor 2 on |factor x| + |y|, for a product and a sum that may or may not
 * be fused. */
#include "host.h"
#include <math.h>

struct settings {
    uint32_t size, n, block, per_thread;
};
#define PARAMS(U32, ENUM)                                                                                      \
    WW_SIZE_PARAM(ENUM)                                                                                        \
    U32(n, "n", "element", 0, 268435456, 0, "elements; 0: 3000, 1000000, 8000000")                             \
    U32(block, "block", "thread", 1, 1024, 256, "threads of a CTA")                                            \
    U32(per_thread, "per_thread", "element", 1, 1024, 2, "elements of a thread, one grid apart")
static const struct ww_param params[] = {PARAMS(WW_ROW_U32, WW_ROW_ENUM)};

static enum ww_code check(struct ww_host *h, const float *x, const float *y, float factor, uint64_t dy,
                          uint32_t n) {
    float *got;
    double *want, *scale;
    WW_TRY(ww_host_array(h, &got, n, sizeof *got));
    WW_TRY(ww_host_array(h, &want, n, sizeof *want));
    WW_TRY(ww_host_array(h, &scale, n, sizeof *scale));
    WW_TRY(ww_host_read(h, got, dy, n, sizeof *got));
    for (uint32_t i = 0; i < n; i++) {
        double product = (double)factor * (double)x[i];
        want[i] = product + (double)y[i];
        scale[i] = fabs(product) + fabs((double)y[i]);
    }
    return ww_host_near_f32(h, "y", got, want, scale, n, 2);
}

static enum ww_code body(struct ww_host *h, const void *settings) {
    const struct settings *s = settings;
    uint32_t n = ww_host_size(s->n, s->size, 3000, 1000000, 8000000);
    float *x, *y, factor = (float)(1 + ww_rng_unit(&h->rng));
    uint64_t dx, dy;
    WW_TRY(ww_host_random(h, &x, n, -1, 1));
    WW_TRY(ww_host_random(h, &y, n, -1, 1));
    WW_TRY(ww_host_upload(h, &dx, x, n, sizeof *x));
    WW_TRY(ww_host_upload(h, &dy, y, n, sizeof *y));
    const struct ww_arg args[] = {WW_ARG(n), WW_ARG(factor), WW_ARG(dx), WW_ARG(dy)};
    struct ww_host_shape shape = ww_host_line(ww_host_ceil(n, s->block * s->per_thread), s->block);
    WW_TRY(ww_host_launch(h, "saxpy", &shape, WW_ARGS(args)));
    return check(h, x, y, factor, dy, n);
}

static enum ww_code run(const void *settings, struct ww_device *device, uint64_t seed, struct ww_error *error) {
    return ww_host_run("saxpy", body, settings, device, seed, error);
}

const struct ww_workload_ops ww_workload_saxpy = {
    .name = "saxpy",
    .help = "y = a x + y in a grid-stride loop: streaming, with a loop and a fused multiply-add",
    .params = params,
    .param_count = sizeof params / sizeof params[0],
    .param_text = PARAMS(WW_TEXT_U32, WW_TEXT_ENUM),
    .settings_size = sizeof(struct settings),
    .ptx_name = "saxpy",
    .run = run,
};
