/* ap_filter: edges by a bilinear filter. Pixels are whole numbers below 256 and weights powers of two: exact.
 */
#include "apogee.h"
#include <math.h>

struct settings {
    uint32_t size, warps, ctas, side;
};
#define PARAMS(U32, ENUM)                                                                                      \
    WW_APOGEE_PARAMS(U32, ENUM)                                                                                \
    U32(side, "side", "pixel", 0, 8192, 0, "width and height; 0: 61, 500, 1000")
static const struct ww_param params[] = {PARAMS(WW_ROW_U32, WW_ROW_ENUM)};

static double reference(const float *in, uint32_t side, uint32_t x, uint32_t y) {
    double sum = 0;
    if (x == 0 || y == 0 || x == side - 1 || y == side - 1) return 0;
    for (uint32_t j = 0; j < 3; j++)
        for (uint32_t i = 0; i < 3; i++)
            sum += (i == 1 ? 2 : 1) * (j == 1 ? 2 : 1) * (double)in[(size_t)(y + j - 1) * side + x + i - 1];
    return fabs((double)in[(size_t)y * side + x] - sum / 16);
}

static enum ww_code check(struct ww_host *h, const float *in, uint64_t d_out, uint32_t side) {
    size_t n = (size_t)side * side;
    float *got;
    double *want, *scale;
    WW_TRY(ww_host_array(h, &got, n, sizeof *got));
    WW_TRY(ww_host_array(h, &want, n, sizeof *want));
    WW_TRY(ww_host_array(h, &scale, n, sizeof *scale));
    WW_TRY(ww_host_read(h, got, d_out, n, sizeof *got));
    for (size_t i = 0; i < n; i++) want[i] = reference(in, side, (uint32_t)(i % side), (uint32_t)(i / side));
    return ww_host_near_f32(h, "out", got, want, scale, n, 0);
}

static enum ww_code body(struct ww_host *h, const void *settings) {
    const struct settings *s = settings;
    uint32_t side = ww_host_size(s->side, s->size, 61, 500, 1000), n = side * side;
    uint32_t each = ww_apogee_each(n, s->ctas);
    float *in;
    uint64_t d_in, d_out;
    WW_TRY(ww_apogee_whole(h, &in, n, 256));
    WW_TRY(ww_host_upload(h, &d_in, in, n, sizeof *in));
    WW_TRY(ww_host_buffer(h, &d_out, n, sizeof *in));
    const struct ww_arg args[] = {WW_ARG(d_in), WW_ARG(d_out), WW_ARG(side), WW_ARG(side), WW_ARG(each)};
    struct ww_host_shape shape = ww_apogee_shape(s->ctas, s->warps);
    WW_TRY(ww_host_launch(h, "ap_filter", &shape, WW_ARGS(args)));
    return check(h, in, d_out, side);
}

static enum ww_code run(const void *settings, struct ww_device *device, uint64_t seed, struct ww_error *error) {
    return ww_host_run("ap_filter", body, settings, device, seed, error);
}

const struct ww_workload_ops ww_workload_ap_filter = {
    .name = "ap_filter",
    .help = "edges of an image by a bilinear filter, persistent threads",
    .params = params,
    .param_count = sizeof params / sizeof params[0],
    .param_text = PARAMS(WW_TEXT_U32, WW_TEXT_ENUM),
    .settings_size = sizeof(struct settings),
    .ptx_name = "ap_filter",
    .run = run,
};
