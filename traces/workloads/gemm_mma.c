/* gemm_mma: products of matrices of halves or bytes by mma.sync. */
#include "gemm.h"

enum { ROWS = 128, STAGES = 3, SLICE = 128, LARGE = 256 }; /* as in kernels/gemm_mma.cu */

struct settings {
    uint32_t size, type, m, n, k, tile;
};
#define PARAMS(U32, ENUM)                                                                                      \
    WW_SIZE_PARAM(ENUM)                                                                                        \
    ENUM(type, "type", "half|int8", 0, "half", "elements of A and B; C has halves or 32-bit integers")         \
    U32(m, "m", "row", 0, 65536, 0, "rows of A, a multiple of 128; 0: 128, 1024, 4096")                        \
    U32(n, "n", "row", 0, 65536, 0, "rows of B, a multiple of 128; 0: 128, 1024, 4096")                        \
    U32(k, "k", "element", 0, 65536, 0,                                                                        \
        "elements of a row, a multiple of 64 (bytes: 128); 0: 256, 1024, 4096")                                \
    ENUM(tile, "tile", "auto|128|256", 0, "auto",                                                              \
         "columns of a CTA's part of C; auto: 256 where that makes 108 CTAs")
static const struct ww_param params[] = {PARAMS(WW_ROW_U32, WW_ROW_ENUM)};

static enum ww_code body(struct ww_host *h, const void *settings) {
    static const char *const kernel[2][2] = {{"gemm_mma_half_128", "gemm_mma_half_256"},
                                             {"gemm_mma_int8_128", "gemm_mma_int8_256"}};
    const struct settings *s = settings;
    struct ww_gemm g = {.type = s->type ? WW_GEMM_INT8 : WW_GEMM_HALF,
                        .m = ww_host_size(s->m, s->size, 128, 1024, 4096),
                        .n = ww_host_size(s->n, s->size, 128, 1024, 4096),
                        .k = ww_host_size(s->k, s->size, 256, 1024, 4096)};
    bool large = s->tile ? s->tile == 2 : g.n % LARGE == 0 && g.m / ROWS * (g.n / LARGE) >= 108;
    uint32_t columns = large ? LARGE : LARGE / 2, pitch = g.k * ww_gemm_bytes(&g);
    if (g.n % columns)
        return ww_fail(h->error, WW_USAGE, h->name, "n=%u: expected a multiple of %u", g.n, columns);
    WW_TRY(ww_gemm_make(h, &g));
    const struct ww_host_shape shape = {.grid = {g.n / columns, g.m / ROWS, 1},
                                        .block = {columns, 1, 1},
                                        .shared = STAGES * (ROWS + columns) * SLICE};
    const struct ww_arg args[] = {WW_ARG(g.d_a), WW_ARG(g.d_b), WW_ARG(g.d_c), WW_ARG(g.n), WW_ARG(pitch)};
    WW_TRY(ww_host_launch(h, kernel[g.type][large], &shape, WW_ARGS(args)));
    return ww_gemm_check(h, &g);
}

static enum ww_code run(const void *settings, struct ww_device *device, uint64_t seed, struct ww_error *error) {
    return ww_host_run("gemm_mma", body, settings, device, seed, error);
}

const struct ww_workload_ops ww_workload_gemm_mma = {
    .name = "gemm_mma",
    .help = "product of matrices of halves or bytes: mma.sync, ldmatrix, asynchronous copies in three stages",
    .params = params,
    .param_count = sizeof params / sizeof params[0],
    .param_text = PARAMS(WW_TEXT_U32, WW_TEXT_ENUM),
    .settings_size = sizeof(struct settings),
    .ptx_name = "gemm_mma",
    .arch = "sm_80",
    .run = run,
};
