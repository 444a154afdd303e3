/* softmax: rows of halves. Inputs are multiples of 1/64 of magnitude below 8, so that x - max is exact, below
 * 16, and its product with log2 e is off by 2 roundings of at most 24: with 2 ulp of the power of two each term
 * by 40 u. A term is scaled down to a larger maximum at most once for each of its thread's vectors and 10 times
 * between threads, by a factor that is off as much, and takes part in as many sums; then there are the power of
 * the numerator, the reciprocal and its product. */
#include "half.h"
#include <math.h>

struct settings {
    uint32_t size, variant, rows, width, block;
};
#define PARAMS(U32, ENUM)                                                                                      \
    WW_SIZE_PARAM(ENUM)                                                                                        \
    ENUM(variant, "variant", "online|three_pass", 0, "online",                                                 \
         "maximum and sum in one pass over a row, or two")                                                     \
    U32(rows, "rows", "row", 0, 1048576, 0, "rows; 0: 11, 1024, 4096")                                         \
    U32(width, "width", "element", 0, 1048576, 0, "elements of a row, a multiple of 8; 0: 1016, 4096, 16384")  \
    U32(block, "block", "thread", 32, 1024, 256, "threads of a CTA, a multiple of 32")
static const struct ww_param params[] = {PARAMS(WW_ROW_U32, WW_ROW_ENUM)};

static void reference(const uint16_t *in, double *want, size_t rows, size_t width) {
    for (size_t r = 0; r < rows; r++, in += width, want += width) {
        double most = -INFINITY, sum = 0;
        for (size_t i = 0; i < width; i++) most = fmax(most, ww_half_value(in[i]));
        for (size_t i = 0; i < width; i++) sum += want[i] = exp(ww_half_value(in[i]) - most);
        for (size_t i = 0; i < width; i++) want[i] /= sum;
    }
}

static enum ww_code body(struct ww_host *h, const void *settings) {
    static const char *const kernel[] = {"softmax_online", "softmax_three_pass"};
    const struct settings *s = settings;
    uint32_t rows = ww_host_size(s->rows, s->size, 11, 1024, 4096);
    uint32_t width = ww_host_size(s->width, s->size, 1016, 4096, 16384);
    size_t n = (size_t)rows * width;
    uint64_t d_in, d_out;
    uint16_t *in, *got;
    double *want;
    if (width % 8 || s->block % 32 || n > 1u << 26)
        return ww_fail(
            h->error, WW_USAGE, h->name,
            "rows=%u, width=%u, block=%u: expected a width of a multiple of 8, a block of a multiple of 32, at "
            "most 2^26 elements",
            rows, width, s->block);
    WW_TRY(ww_host_upload_halves(h, &in, &d_in, n, 512, 0x1p-6));
    WW_TRY(ww_host_buffer(h, &d_out, n, sizeof *got));
    WW_TRY(ww_host_array(h, &got, n, sizeof *got));
    WW_TRY(ww_host_array(h, &want, n, sizeof *want));
    const struct ww_host_shape shape = ww_host_line(rows, s->block);
    const struct ww_arg args[] = {WW_ARG(d_in), WW_ARG(d_out), WW_ARG(width)};
    WW_TRY(ww_host_launch(h, kernel[s->variant], &shape, WW_ARGS(args)));
    reference(in, want, rows, width);
    WW_TRY(ww_host_read(h, got, d_out, n, sizeof *got));
    return ww_host_near_f16(h, "out", got, want, want, n, 41.0 * (ww_host_ceil(width, s->block * 8) + 13));
}

static enum ww_code run(const void *settings, struct ww_device *device, uint64_t seed, struct ww_error *error) {
    return ww_host_run("softmax", body, settings, device, seed, error);
}

const struct ww_workload_ops ww_workload_softmax = {
    .name = "softmax",
    .help = "softmax of rows of halves: maximum and sum in one pass, exponentials, vector loads",
    .params = params,
    .param_count = sizeof params / sizeof params[0],
    .param_text = PARAMS(WW_TEXT_U32, WW_TEXT_ENUM),
    .settings_size = sizeof(struct settings),
    .ptx_name = "softmax",
    .run = run,
};
