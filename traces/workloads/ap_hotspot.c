/* ap_hotspot: temperatures of a chip over some steps. A step adds to a cell weighted differences whose weights
 * add up to less than 1, so that an error made in one step does not grow in the next. A step rounds at most 12
 * times, numbers whose absolute values add up to less than four times the highest temperature. */
#include "apogee.h"
#include <math.h>

struct settings {
    uint32_t size, warps, ctas, side, steps;
};
#define PARAMS(U32, ENUM)                                                                                      \
    WW_APOGEE_PARAMS(U32, ENUM)                                                                                \
    U32(side, "side", "cell", 0, 4096, 0, "width and height; 0: 43, 300, 600")                                 \
    U32(steps, "steps", "step", 0, 1000, 0, "time steps; 0: 2, 6, 10")
static const struct ww_param params[] = {PARAMS(WW_ROW_U32, WW_ROW_ENUM)};

static const float capacity = 0.25f, per_x = 0.5f, per_y = 0.25f, per_z = 0.0625f;
static const double air = 80;

static double next(const double *t, const float *power, uint32_t side, uint32_t x, uint32_t y) {
    size_t i = (size_t)y * side + x;
    double north = y > 0 ? t[i - side] : t[i], south = y < side - 1 ? t[i + side] : t[i];
    double west = x > 0 ? t[i - 1] : t[i], east = x < side - 1 ? t[i + 1] : t[i];
    double flow = (double)power[i] + (north + south - 2 * t[i]) * (double)per_y +
                  (east + west - 2 * t[i]) * (double)per_x + (air - t[i]) * (double)per_z;
    return t[i] + (double)capacity * flow;
}

static enum ww_code check(struct ww_host *h, const float *in, const float *power, uint64_t d_out, uint32_t side,
                          uint32_t steps) {
    size_t n = (size_t)side * side;
    float *got;
    double *want, *then, *scale;
    WW_TRY(ww_host_array(h, &got, n, sizeof *got));
    WW_TRY(ww_host_array(h, &want, n, sizeof *want));
    WW_TRY(ww_host_array(h, &then, n, sizeof *then));
    WW_TRY(ww_host_array(h, &scale, n, sizeof *scale));
    WW_TRY(ww_host_read(h, got, d_out, n, sizeof *got));
    for (size_t i = 0; i < n; i++) want[i] = in[i];
    double most = 0;
    for (uint32_t s = 0; s < steps; s++) {
        double *was = want;
        want = then;
        then = was;
        for (size_t i = 0; i < n; i++) {
            want[i] = next(then, power, side, (uint32_t)(i % side), (uint32_t)(i / side));
            most = fmax(most, fabs(want[i]));
        }
    }
    for (size_t i = 0; i < n; i++) scale[i] = 4 * most;
    return ww_host_near_f32(h, "temperature", got, want, scale, n, 12.0 * steps);
}

static enum ww_code body(struct ww_host *h, const void *settings) {
    const struct settings *s = settings;
    uint32_t side = ww_host_size(s->side, s->size, 43, 300, 600), n = side * side;
    uint32_t steps = ww_host_size(s->steps, s->size, 2, 6, 10), each = ww_apogee_each(n, s->ctas);
    float *in, *power;
    uint64_t d_in, d_power, d_out;
    WW_TRY(ww_host_random(h, &in, n, 320, 345));
    WW_TRY(ww_host_random(h, &power, n, 0, 4));
    WW_TRY(ww_host_upload(h, &d_in, in, n, sizeof *in));
    WW_TRY(ww_host_upload(h, &d_power, power, n, sizeof *power));
    WW_TRY(ww_host_buffer(h, &d_out, n, sizeof *in));
    struct ww_host_shape shape = ww_apogee_shape(s->ctas, s->warps);
    for (uint32_t step = 0; step < steps; step++) {
        const struct ww_arg args[] = {WW_ARG(d_in),  WW_ARG(d_power), WW_ARG(d_out),    WW_ARG(side),
                                      WW_ARG(side),  WW_ARG(each),    WW_ARG(capacity), WW_ARG(per_x),
                                      WW_ARG(per_y), WW_ARG(per_z)};
        WW_TRY(ww_host_launch(h, "ap_hotspot", &shape, WW_ARGS(args)));
        uint64_t was = d_in;
        d_in = d_out;
        d_out = was;
    }
    return check(h, in, power, d_in, side, steps);
}

static enum ww_code run(const void *settings, struct ww_device *device, uint64_t seed, struct ww_error *error) {
    return ww_host_run("ap_hotspot", body, settings, device, seed, error);
}

const struct ww_workload_ops ww_workload_ap_hotspot = {
    .name = "ap_hotspot",
    .help = "temperatures of a chip in time steps, persistent threads",
    .params = params,
    .param_count = sizeof params / sizeof params[0],
    .param_text = PARAMS(WW_TEXT_U32, WW_TEXT_ENUM),
    .settings_size = sizeof(struct settings),
    .ptx_name = "ap_hotspot",
    .run = run,
};
