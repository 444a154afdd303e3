/* rmsnorm: root mean square normalisation of rows of halves. Inputs are multiples of 1/256 below 4, so that
 * sums with the residual are exact halves. The sum of squares has 8 roundings in a thread and 10 between
 * threads, which the root halves; division, sum, root (2 ulp) and two products follow: 18 at most. */
#include "half.h"
#include <math.h>

struct settings {
    uint32_t size, variant, rows, width;
};
#define PARAMS(U32, ENUM)                                                                                      \
    WW_SIZE_PARAM(ENUM)                                                                                        \
    ENUM(variant, "variant", "residual|plain", 0, "residual",                                                  \
         "adds the rows to a residual stream first, or not")                                                   \
    U32(rows, "rows", "row", 0, 1048576, 0, "rows, such as tokens; 0: 12, 1024, 8192")                         \
    U32(width, "width", "element", 0, 8192, 0, "elements of a row, a multiple of 8; 0: 1032, 4096, 8192")
static const struct ww_param params[] = {PARAMS(WW_ROW_U32, WW_ROW_ENUM)};

struct data {
    uint32_t rows, width;
    size_t n;
    uint16_t *x, *residual, *weight, *sum, *got;
    double *want;
};

static void reference(struct data *d, bool residual, double epsilon) {
    for (size_t row = 0; row < d->n; row += d->width) {
        double squares = 0;
        for (size_t i = row; i < row + d->width; i++) {
            double v = ww_half_value(d->x[i]) + (residual ? ww_half_value(d->residual[i]) : 0);
            d->sum[i] = residual ? ww_half(v) : d->residual[i];
            d->want[i] = v;
            squares += v * v;
        }
        double scale = 1 / sqrt(squares / d->width + epsilon);
        for (size_t i = 0; i < d->width; i++) d->want[row + i] *= scale * ww_half_value(d->weight[i]);
    }
}

static enum ww_code body(struct ww_host *h, const void *settings) {
    static const char *const kernel[] = {"rmsnorm_residual", "rmsnorm_plain"};
    const struct settings *s = settings;
    const float epsilon = 1e-5f;
    uint64_t d_x, d_residual, d_weight, d_out;
    struct data d = {.rows = ww_host_size(s->rows, s->size, 12, 1024, 8192),
                     .width = ww_host_size(s->width, s->size, 1032, 4096, 8192)};
    d.n = (size_t)d.rows * d.width;
    if (d.width % 8 || d.n > 1u << 26)
        return ww_fail(h->error, WW_USAGE, h->name,
                       "rows=%u, width=%u: expected a width of a multiple of 8, at most 2^26 elements", d.rows,
                       d.width);
    WW_TRY(ww_host_upload_halves(h, &d.x, &d_x, d.n, 1024, 0x1p-8));
    WW_TRY(ww_host_upload_halves(h, &d.residual, &d_residual, d.n, 1024, 0x1p-8));
    WW_TRY(ww_host_upload_halves(h, &d.weight, &d_weight, d.width, 1024, 0x1p-9));
    WW_TRY(ww_host_buffer(h, &d_out, d.n, sizeof *d.got));
    WW_TRY(ww_host_array(h, &d.sum, d.n, sizeof *d.sum));
    WW_TRY(ww_host_array(h, &d.got, d.n, sizeof *d.got));
    WW_TRY(ww_host_array(h, &d.want, d.n, sizeof *d.want));
    const struct ww_host_shape shape = ww_host_line(d.rows, ww_host_ceil(d.width, 256) * 32);
    const struct ww_arg args[] = {WW_ARG(d_x),   WW_ARG(d_residual), WW_ARG(d_weight),
                                  WW_ARG(d_out), WW_ARG(d.width),    WW_ARG(epsilon)};
    WW_TRY(ww_host_launch(h, kernel[s->variant], &shape, WW_ARGS(args)));
    reference(&d, s->variant == 0, (double)epsilon);
    WW_TRY(ww_host_read(h, d.got, d_residual, d.n, sizeof *d.got));
    WW_TRY(ww_host_same_u16(h, "residual", d.got, d.sum, d.n));
    WW_TRY(ww_host_read(h, d.got, d_out, d.n, sizeof *d.got));
    double *scale;
    WW_TRY(ww_host_array(h, &scale, d.n, sizeof *scale));
    for (size_t i = 0; i < d.n; i++) scale[i] = fabs(d.want[i]);
    return ww_host_near_f16(h, "out", d.got, d.want, scale, d.n, 18);
}

static enum ww_code run(const void *settings, struct ww_device *device, uint64_t seed, struct ww_error *error) {
    return ww_host_run("rmsnorm", body, settings, device, seed, error);
}

const struct ww_workload_ops ww_workload_rmsnorm = {
    .name = "rmsnorm",
    .help = "root mean square normalisation of rows of halves, with the residual's sum: one pass, vector loads",
    .params = params,
    .param_count = sizeof params / sizeof params[0],
    .param_text = PARAMS(WW_TEXT_U32, WW_TEXT_ENUM),
    .settings_size = sizeof(struct settings),
    .ptx_name = "rmsnorm",
    .run = run,
};
