/* transpose: out = in transposed. Words are moved, not computed: compared exactly, as bits. */
#include "host.h"

struct settings {
    uint32_t size, rows, cols, variant, reserved;
};
#define PARAMS(U32, ENUM)                                                                                      \
    WW_SIZE_PARAM(ENUM)                                                                                        \
    U32(rows, "rows", "row", 0, 65536, 0, "rows of the input; 0: 70, 1320, 4000")                              \
    U32(cols, "cols", "column", 0, 65536, 0, "columns of the input; 0: 50, 1000, 3000")                        \
    U32(reserved, "reserved", "byte", 0, 16384, 0, "shared memory that the system adds to a CTA's")            \
    ENUM(variant, "variant", "naive|coalesced|padded|square|square_padded|lines", 0, "naive",                  \
         "strided stores, or a tile in shared memory; square: one element a thread; lines: padded, eight")
static const struct ww_param params[] = {PARAMS(WW_ROW_U32, WW_ROW_ENUM)};

enum {
    TILE = 32,
    TILE_ROWS = 8,
    SQUARE = 16,
    FIRST_SQUARE = 3,
    LINES = 5,
    LINES_ROWS = 4
}; /* as in kernels/transpose.cu */

static enum ww_code check(struct ww_host *h, const uint32_t *in, uint64_t d_out, uint32_t rows, uint32_t cols) {
    size_t n = (size_t)rows * cols;
    uint32_t *got, *want;
    WW_TRY(ww_host_array(h, &got, n, sizeof *got));
    WW_TRY(ww_host_array(h, &want, n, sizeof *want));
    WW_TRY(ww_host_read(h, got, d_out, n, sizeof *got));
    for (size_t r = 0; r < rows; r++)
        for (size_t c = 0; c < cols; c++) want[c * rows + r] = in[r * cols + c];
    return ww_host_same_u32(h, "out", got, want, n);
}

static enum ww_code body(struct ww_host *h, const void *settings) {
    static const char *const kernel[] = {"transpose_naive",  "transpose_coalesced",     "transpose_padded",
                                         "transpose_square", "transpose_square_padded", "transpose_lines"};
    const struct settings *s = settings;
    uint32_t rows = ww_host_size(s->rows, s->size, 70, 1320, 4000);
    uint32_t cols = ww_host_size(s->cols, s->size, 50, 1000, 3000);
    size_t n = (size_t)rows * cols;
    if (n > 1u << 28)
        return ww_fail(h->error, WW_USAGE, h->name, "rows=%u and cols=%u: at most 2^28 elements", rows, cols);
    uint32_t *in;
    uint64_t d_in, d_out;
    WW_TRY(ww_host_array(h, &in, n, sizeof *in));
    for (size_t i = 0; i < n; i++) in[i] = 0x3f800000u | ww_rng_below(&h->rng, 1u << 23); /* floats in [1, 2) */
    WW_TRY(ww_host_upload(h, &d_in, in, n, sizeof *in));
    WW_TRY(ww_host_buffer(h, &d_out, n, sizeof *in));
    uint64_t wide_rows = rows, wide_cols = cols;
    const struct ww_arg args[2][4] = {{WW_ARG(d_in), WW_ARG(d_out), WW_ARG(rows), WW_ARG(cols)},
                                      {WW_ARG(d_in), WW_ARG(d_out), WW_ARG(wide_rows), WW_ARG(wide_cols)}};
    bool square = s->variant >= FIRST_SQUARE && s->variant != LINES;
    uint32_t side = square ? SQUARE : TILE;
    const struct ww_host_shape shape = {.grid = {ww_host_ceil(cols, side), ww_host_ceil(rows, side), 1},
                                        .block = {side,
                                                  square                ? SQUARE
                                                  : s->variant == LINES ? LINES_ROWS
                                                                        : TILE_ROWS,
                                                  1},
                                        .shared = s->reserved};
    WW_TRY(ww_host_launch(h, kernel[s->variant], &shape, WW_ARGS(args[square])));
    return check(h, in, d_out, rows, cols);
}

static enum ww_code run(const void *settings, struct ww_device *device, uint64_t seed, struct ww_error *error) {
    return ww_host_run("transpose", body, settings, device, seed, error);
}

const struct ww_workload_ops ww_workload_transpose = {
    .name = "transpose",
    .help = "matrix transpose: coalescing (naive), shared-memory bank conflicts (coalesced), neither (padded)",
    .params = params,
    .param_count = sizeof params / sizeof params[0],
    .param_text = PARAMS(WW_TEXT_U32, WW_TEXT_ENUM),
    .settings_size = sizeof(struct settings),
    .ptx_name = "transpose",
    .run = run,
};
