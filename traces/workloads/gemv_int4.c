/* gemv_int4: a matrix of 4-bit weights with scales of groups times a vector of halves. Elements of x are
 * eighths of magnitude up to 1, so that the kernel's sums of 8 products in halves and of 32 in floats are
 * exact. Then come a fused multiplication and addition for each 1024 of the depth and 5 sums between lanes. */
#include "half.h"
#include <math.h>

enum { GROUP = 128, CTA_ROWS = 8, STEP = 1024 }; /* as in kernels/gemv_int4.cu */

struct settings {
    uint32_t size, rows, depth;
};
#define PARAMS(U32, ENUM)                                                                                      \
    WW_SIZE_PARAM(ENUM)                                                                                        \
    U32(rows, "rows", "row", 0, 1048576, 0, "rows of W, an even number; 0: 34, 8192, 28672")                   \
    U32(depth, "depth", "element", 0, 1048576, 0, "columns of W, a multiple of 1024; 0: 2048, 4096, 8192")
static const struct ww_param params[] = {PARAMS(WW_ROW_U32, WW_ROW_ENUM)};

struct data {
    uint32_t rows, depth;
    size_t n;
    uint32_t *weight;
    uint16_t *scale, *x, *got;
    double *want, *size;
};

static enum ww_code make(struct ww_host *h, struct data *d) {
    WW_TRY(ww_host_array(h, &d->weight, d->n / 8, sizeof *d->weight));
    WW_TRY(ww_host_array(h, &d->scale, d->n / GROUP, sizeof *d->scale));
    WW_TRY(ww_host_array(h, &d->got, d->rows, sizeof *d->got));
    WW_TRY(ww_host_array(h, &d->want, d->rows, sizeof *d->want));
    WW_TRY(ww_host_array(h, &d->size, d->rows, sizeof *d->size));
    for (size_t i = 0; i < d->n / 8; i++)
        d->weight[i] = ww_rng_below(&h->rng, 65536) << 16 | ww_rng_below(&h->rng, 65536);
    for (size_t i = 0; i < d->n / GROUP; i++) d->scale[i] = ww_half(0.01 + 0.01 * ww_rng_unit(&h->rng));
    return WW_OK;
}

/* Nibbles of a word: elements 0, 2, 4, 6, 1, 3, 5, 7. */
static void reference(struct data *d) {
    for (size_t r = 0; r < d->rows; r++)
        for (size_t i = 0; i < d->depth; i++) {
            size_t at = r * d->depth + i;
            uint32_t q = d->weight[at / 8] >> (i % 8 / 2 * 4 + i % 2 * 16) & 15;
            double term = ((double)q - 8) * ww_half_value(d->scale[at / GROUP]) * ww_half_value(d->x[i]);
            d->want[r] += term;
            d->size[r] += fabs(term);
        }
}

static enum ww_code body(struct ww_host *h, const void *settings) {
    const struct settings *s = settings;
    struct data d = {.rows = ww_host_size(s->rows, s->size, 34, 8192, 28672),
                     .depth = ww_host_size(s->depth, s->size, 2048, 4096, 8192)};
    uint64_t d_weight, d_scale, d_x, d_y;
    d.n = (size_t)d.rows * d.depth;
    if (d.rows % 2 || d.depth % STEP || d.n > 1u << 28)
        return ww_fail(h->error, WW_USAGE, h->name,
                       "rows=%u, depth=%u: expected an even number, a multiple of 1024, at most 2^28 weights",
                       d.rows, d.depth);
    WW_TRY(make(h, &d));
    WW_TRY(ww_host_upload_halves(h, &d.x, &d_x, d.depth, 9, 0x1p-3));
    WW_TRY(ww_host_upload(h, &d_weight, d.weight, d.n / 8, sizeof *d.weight));
    WW_TRY(ww_host_upload(h, &d_scale, d.scale, d.n / GROUP, sizeof *d.scale));
    WW_TRY(ww_host_buffer(h, &d_y, d.rows, sizeof *d.got));
    const struct ww_host_shape shape = ww_host_line(ww_host_ceil(d.rows, CTA_ROWS), 128);
    const struct ww_arg args[] = {WW_ARG(d_weight), WW_ARG(d_scale), WW_ARG(d_x),
                                  WW_ARG(d_y),      WW_ARG(d.rows),  WW_ARG(d.depth)};
    WW_TRY(ww_host_launch(h, "gemv_int4", &shape, WW_ARGS(args)));
    reference(&d);
    WW_TRY(ww_host_read(h, d.got, d_y, d.rows, sizeof *d.got));
    return ww_host_near_f16(h, "y", d.got, d.want, d.size, d.rows, d.depth / STEP + 5);
}

static enum ww_code run(const void *settings, struct ww_device *device, uint64_t seed, struct ww_error *error) {
    return ww_host_run("gemv_int4", body, settings, device, seed, error);
}

const struct ww_workload_ops ww_workload_gemv_int4 = {
    .name = "gemv_int4",
    .help = "matrix of 4-bit weights with scales of groups times a vector of halves: dequantised in registers",
    .params = params,
    .param_count = sizeof params / sizeof params[0],
    .param_text = PARAMS(WW_TEXT_U32, WW_TEXT_ENUM),
    .settings_size = sizeof(struct settings),
    .ptx_name = "gemv_int4",
    .run = run,
};
