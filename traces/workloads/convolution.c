/* convolution: columns of a separable filter of 17 taps; a sum of 17 products, factor 18 on the sum of their
 * absolute values. */
#include "host.h"
#include <math.h>

struct settings {
    uint32_t size, width, height;
};
#define PARAMS(U32, ENUM)                                                                                      \
    WW_SIZE_PARAM(ENUM)                                                                                        \
    U32(width, "width", "column", 0, 4096, 0, "columns, a multiple of 16; 0: 32, 512, 2048")                   \
    U32(height, "height", "row", 0, 7168, 0, "rows, a multiple of 112; 0: 112, 896, 2016")
static const struct ww_param params[] = {PARAMS(WW_ROW_U32, WW_ROW_ENUM)};

enum { RADIUS = 8, COLUMNS = 16, LINES = 8, ROWS = 112, DATA_BYTES = COLUMNS * 129 * 4, SHARED_BYTES = 8300 };

struct taps {
    float c[2 * RADIUS + 1];
};

static enum ww_code check(struct ww_host *h, const float *in, const struct taps *taps, uint64_t d_out,
                          size_t width, size_t height) {
    size_t n = width * height;
    float *got;
    double *want, *scale;
    WW_TRY(ww_host_array(h, &got, n, sizeof *got));
    WW_TRY(ww_host_array(h, &want, n, sizeof *want));
    WW_TRY(ww_host_array(h, &scale, n, sizeof *scale));
    WW_TRY(ww_host_read(h, got, d_out, n, sizeof *got));
    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; k <= 2 * RADIUS; k++) {
            double p = (double)taps->c[k] * in[i + k * width];
            want[i] += p;
            scale[i] += fabs(p);
        }
    return ww_host_near_f32(h, "out", got, want, scale, n, 2 * RADIUS + 2);
}

static enum ww_code body(struct ww_host *h, const void *settings) {
    const struct settings *s = settings;
    uint32_t width = ww_host_size(s->width, s->size, 32, 512, 2048);
    uint32_t height = ww_host_size(s->height, s->size, 112, 896, 2016);
    size_t n = (size_t)width * (height + 2 * RADIUS);
    float *in;
    uint64_t d_in, d_out;
    struct taps taps;
    if (width % COLUMNS || height % ROWS)
        return ww_fail(h->error, WW_USAGE, h->name, "width=%u, height=%u: expected multiples of 16 and 112",
                       width, height);
    WW_TRY(ww_host_random(h, &in, n, 0, 1));
    for (int k = 0; k <= 2 * RADIUS; k++) taps.c[k] = 1.0f / (float)(1 + (k - RADIUS) * (k - RADIUS));
    WW_TRY(ww_host_upload(h, &d_in, in, n, sizeof *in));
    WW_TRY(ww_host_buffer(h, &d_out, n, sizeof *in));
    const struct ww_arg args[] = {WW_ARG(d_in), WW_ARG(d_out), WW_ARG(taps), WW_ARG(width)};
    const struct ww_host_shape shape = {.grid = {width / COLUMNS, height / ROWS, 1},
                                        .block = {COLUMNS, LINES, 1},
                                        .shared = SHARED_BYTES - DATA_BYTES};
    WW_TRY(ww_host_launch(h, "convolution_columns", &shape, WW_ARGS(args)));
    return check(h, in, &taps, d_out, width, height);
}

static enum ww_code run(const void *settings, struct ww_device *device, uint64_t seed, struct ww_error *error) {
    return ww_host_run("convolution", body, settings, device, seed, error);
}

const struct ww_workload_ops ww_workload_convolution = {
    .name = "convolution",
    .help = "columns of a separable filter: a tile in shared memory, taps in constant memory",
    .params = params,
    .param_count = sizeof params / sizeof params[0],
    .param_text = PARAMS(WW_TEXT_U32, WW_TEXT_ENUM),
    .settings_size = sizeof(struct settings),
    .ptx_name = "convolution",
    .run = run,
};
