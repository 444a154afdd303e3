/* gemm_wgmma: products of matrices of halves or bytes of floats by wgmma, fetched by tensor maps. */
#include "gemm.h"

enum {
    ROWS = 128,
    STAGES = 4,
    SLICE = 128,
    LARGE = 256,
    THREADS = 288,
    ALIGN = 1024
}; /* as in kernels/gemm_wgmma.cu */

struct settings {
    uint32_t size, type, m, n, k, tile, cluster;
};
#define PARAMS(U32, ENUM)                                                                                      \
    WW_SIZE_PARAM(ENUM)                                                                                        \
    ENUM(type, "type", "half|fp8", 0, "half", "elements of A and B (fp8: e4m3); C has halves")                 \
    U32(m, "m", "row", 0, 65536, 0, "rows of A, a multiple of 128; 0: 128, 1024, 4096")                        \
    U32(n, "n", "row", 0, 65536, 0, "rows of B, a multiple of 128; 0: 256, 2048, 4096")                        \
    U32(k, "k", "element", 0, 65536, 0, "elements of a row, a multiple of 64 (fp8: 128); 0: 384, 1024, 4096")  \
    ENUM(tile, "tile", "auto|128|256", 0, "auto",                                                              \
         "columns of a CTA's part of C; auto: 256 where that makes 132 CTAs")                                  \
    ENUM(cluster, "cluster", "1|2|4", 0, "1",                                                                  \
         "CTAs, one above the other, that fetch their part of B together, by multicast")
static const struct ww_param params[] = {PARAMS(WW_ROW_U32, WW_ROW_ENUM)};

static enum ww_code body(struct ww_host *h, const void *settings) {
    static const char *const kernel[2][2][2] = {
        {{"gemm_wgmma_half_128", "gemm_wgmma_half_256"}, {"gemm_wgmma_fp8_128", "gemm_wgmma_fp8_256"}},
        {{"gemm_wgmma_shared_half_128", "gemm_wgmma_shared_half_256"},
         {"gemm_wgmma_shared_fp8_128", "gemm_wgmma_shared_fp8_256"}}};
    const struct settings *s = settings;
    struct ww_gemm g = {.type = s->type ? WW_GEMM_FP8 : WW_GEMM_HALF,
                        .m = ww_host_size(s->m, s->size, 128, 1024, 4096),
                        .n = ww_host_size(s->n, s->size, 256, 2048, 4096),
                        .k = ww_host_size(s->k, s->size, 384, 1024, 4096)};
    bool large = s->tile ? s->tile == 2 : g.n % LARGE == 0 && g.m / ROWS * (g.n / LARGE) >= 132;
    uint32_t columns = large ? LARGE : LARGE / 2, steps = g.k * ww_gemm_bytes(&g) / SLICE;
    uint32_t cluster = 1u << s->cluster;
    uint64_t map_a, map_b;
    if (g.m / ROWS % cluster)
        return ww_fail(h->error, WW_USAGE, h->name, "m=%u: expected a multiple of %u with clusters of %u", g.m,
                       ROWS * cluster, cluster);
    if (g.n % columns)
        return ww_fail(h->error, WW_USAGE, h->name, "n=%u: expected a multiple of %u", g.n, columns);
    WW_TRY(ww_gemm_make(h, &g));
    WW_TRY(ww_gemm_map(h, &g, g.d_a, g.m, ROWS, &map_a));
    WW_TRY(ww_gemm_map(h, &g, g.d_b, g.n, columns / cluster, &map_b));
    struct ww_host_shape shape = {.grid = {g.n / columns, g.m / ROWS, 1},
                                  .block = {THREADS, 1, 1},
                                  .shared = STAGES * (ROWS + columns) * SLICE + ALIGN};
    const struct ww_arg args[] = {WW_ARG(map_a), WW_ARG(map_b), WW_ARG(g.d_c), WW_ARG(g.n), WW_ARG(steps)};
    if (cluster > 1) shape.cluster[0] = shape.cluster[2] = 1, shape.cluster[1] = cluster;
    WW_TRY(ww_host_launch(h, kernel[cluster > 1][s->type][large], &shape, WW_ARGS(args)));
    return ww_gemm_check(h, &g);
}

static enum ww_code run(const void *settings, struct ww_device *device, uint64_t seed, struct ww_error *error) {
    return ww_host_run("gemm_wgmma", body, settings, device, seed, error);
}

const struct ww_workload_ops ww_workload_gemm_wgmma = {
    .name = "gemm_wgmma",
    .help = "product of matrices of halves or fp8: wgmma, tensor maps, a warp that fetches four stages",
    .params = params,
    .param_count = sizeof params / sizeof params[0],
    .param_text = PARAMS(WW_TEXT_U32, WW_TEXT_ENUM),
    .settings_size = sizeof(struct settings),
    .ptx_name = "gemm_wgmma",
    .arch = "sm_90a",
    .run = run,
};
