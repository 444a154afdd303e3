/* mv: y = A x. An element is a sum of 1024 products, compared with factor 1025 on the sum of their
 * absolute values. */
#include "host.h"
#include <math.h>

struct settings {
    uint32_t size, rows;
};
#define PARAMS(U32, ENUM)                                                                                      \
    WW_SIZE_PARAM(ENUM)                                                                                        \
    U32(rows, "rows", "row", 0, 131072, 0, "rows of A, a multiple of 32; 0: 64, 7680, 131072")
static const struct ww_param params[] = {PARAMS(WW_ROW_U32, WW_ROW_ENUM)};

enum { TILE = 32, COLS = 1024, DATA_BYTES = TILE * (TILE + 1) * 4, SHARED_BYTES = 4268 };

static enum ww_code check(struct ww_host *h, const float *a, const float *x, uint64_t d_y, uint32_t rows,
                          uint32_t cols) {
    float *got;
    double *want, *scale;
    WW_TRY(ww_host_array(h, &got, rows, sizeof *got));
    WW_TRY(ww_host_array(h, &want, rows, sizeof *want));
    WW_TRY(ww_host_array(h, &scale, rows, sizeof *scale));
    WW_TRY(ww_host_read(h, got, d_y, rows, sizeof *got));
    for (size_t r = 0; r < rows; r++)
        for (size_t c = 0; c < cols; c++) {
            double p = (double)a[r * cols + c] * x[c];
            want[r] += p;
            scale[r] += fabs(p);
        }
    return ww_host_near_f32(h, "y", got, want, scale, rows, cols + 1);
}

static enum ww_code body(struct ww_host *h, const void *settings) {
    const struct settings *s = settings;
    uint32_t rows = ww_host_size(s->rows, s->size, 64, 7680, 131072);
    uint32_t cols = COLS;
    float *a, *x;
    uint64_t d_a, d_x, d_y;
    if (rows % TILE) return ww_fail(h->error, WW_USAGE, h->name, "rows=%u: expected a multiple of 32", rows);
    WW_TRY(ww_host_random(h, &a, (size_t)rows * cols, -1, 1));
    WW_TRY(ww_host_random(h, &x, cols, -1, 1));
    WW_TRY(ww_host_upload(h, &d_a, a, (size_t)rows * cols, sizeof *a));
    WW_TRY(ww_host_upload(h, &d_x, x, cols, sizeof *x));
    WW_TRY(ww_host_buffer(h, &d_y, rows, sizeof *a));
    const struct ww_arg args[] = {WW_ARG(d_a), WW_ARG(d_x), WW_ARG(d_y)};
    struct ww_host_shape shape = ww_host_line(rows / TILE, TILE);
    shape.shared = SHARED_BYTES - DATA_BYTES;
    WW_TRY(ww_host_launch(h, "mv_tile", &shape, WW_ARGS(args)));
    return check(h, a, x, d_y, rows, cols);
}

static enum ww_code run(const void *settings, struct ww_device *device, uint64_t seed, struct ww_error *error) {
    return ww_host_run("mv", body, settings, device, seed, error);
}

const struct ww_workload_ops ww_workload_mv = {
    .name = "mv",
    .help = "matrix-vector product that turns tiles in shared memory: few threads by shared memory",
    .params = params,
    .param_count = sizeof params / sizeof params[0],
    .param_text = PARAMS(WW_TEXT_U32, WW_TEXT_ENUM),
    .settings_size = sizeof(struct settings),
    .ptx_name = "mv",
    .run = run,
};
