/* gemm_tcgen05: products of matrices of halves or bytes of floats in tensor memory, fetched by tensor maps. */
#include "gemm.h"

enum {
    ROWS = 128,
    STAGES = 4,
    SLICE = 128,
    LARGE = 256,
    THREADS = 192,
    ALIGN = 1024
}; /* as in kernels/gemm_tcgen05.cu */

struct settings {
    uint32_t size, type, m, n, k, tile;
};
#define PARAMS(U32, ENUM)                                                                                      \
    WW_SIZE_PARAM(ENUM)                                                                                        \
    ENUM(type, "type", "half|fp8", 0, "half", "elements of A and B (fp8: e4m3); C has halves")                 \
    U32(m, "m", "row", 0, 65536, 0, "rows of A, a multiple of 128; 0: 128, 1024, 4096")                        \
    U32(n, "n", "row", 0, 65536, 0, "rows of B, a multiple of 128; 0: 256, 2048, 4096")                        \
    U32(k, "k", "element", 0, 65536, 0, "elements of a row, a multiple of 64 (fp8: 128); 0: 384, 1024, 4096")  \
    ENUM(tile, "tile", "auto|128|256", 0, "auto",                                                              \
         "columns of a CTA's part of C; auto: 256 where that makes 148 CTAs")
static const struct ww_param params[] = {PARAMS(WW_ROW_U32, WW_ROW_ENUM)};

static enum ww_code body(struct ww_host *h, const void *settings) {
    static const char *const kernel[2][2] = {{"gemm_tcgen05_half_128", "gemm_tcgen05_half_256"},
                                             {"gemm_tcgen05_fp8_128", "gemm_tcgen05_fp8_256"}};
    const struct settings *s = settings;
    struct ww_gemm g = {.type = s->type ? WW_GEMM_FP8 : WW_GEMM_HALF,
                        .m = ww_host_size(s->m, s->size, 128, 1024, 4096),
                        .n = ww_host_size(s->n, s->size, 256, 2048, 4096),
                        .k = ww_host_size(s->k, s->size, 384, 1024, 4096)};
    bool large = s->tile ? s->tile == 2 : g.n % LARGE == 0 && g.m / ROWS * (g.n / LARGE) >= 148;
    uint32_t columns = large ? LARGE : LARGE / 2, steps = g.k * ww_gemm_bytes(&g) / SLICE;
    uint64_t map_a, map_b;
    if (g.n % columns)
        return ww_fail(h->error, WW_USAGE, h->name, "n=%u: expected a multiple of %u", g.n, columns);
    WW_TRY(ww_gemm_make(h, &g));
    WW_TRY(ww_gemm_map(h, &g, g.d_a, g.m, ROWS, &map_a));
    WW_TRY(ww_gemm_map(h, &g, g.d_b, g.n, columns, &map_b));
    const struct ww_host_shape shape = {.grid = {g.n / columns, g.m / ROWS, 1},
                                        .block = {THREADS, 1, 1},
                                        .shared = STAGES * (ROWS + columns) * SLICE + ALIGN};
    const struct ww_arg args[] = {WW_ARG(map_a), WW_ARG(map_b), WW_ARG(g.d_c), WW_ARG(g.n), WW_ARG(steps)};
    WW_TRY(ww_host_launch(h, kernel[s->type][large], &shape, WW_ARGS(args)));
    return ww_gemm_check(h, &g);
}

static enum ww_code run(const void *settings, struct ww_device *device, uint64_t seed, struct ww_error *error) {
    return ww_host_run("gemm_tcgen05", body, settings, device, seed, error);
}

const struct ww_workload_ops ww_workload_gemm_tcgen05 = {
    .name = "gemm_tcgen05",
    .help = "product of matrices of halves or fp8: tcgen05, tensor memory, tensor maps, four stages",
    .params = params,
    .param_count = sizeof params / sizeof params[0],
    .param_text = PARAMS(WW_TEXT_U32, WW_TEXT_ENUM),
    .settings_size = sizeof(struct settings),
    .ptx_name = "gemm_tcgen05",
    .arch = "sm_100a",
    .run = run,
};
