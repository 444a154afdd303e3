/* flash_mma: attention forward by blocks of keys, by mma.sync. */
#include "attention.h"

enum { QUERIES = 128, KEYS = 64, THREADS = 128 }; /* as in kernels/flash_mma.cu */

struct settings {
    uint32_t size, heads, count, dim, mask;
};
#define PARAMS(U32, ENUM)                                                                                      \
    WW_SIZE_PARAM(ENUM)                                                                                        \
    U32(heads, "heads", "head", 0, 4096, 0, "heads of all sequences; 0: 1, 16, 64")                            \
    U32(count, "count", "token", 0, 65536, 0, "tokens of a sequence, a multiple of 128; 0: 128, 768, 2048")    \
    ENUM(dim, "dim", "128|64", 0, "128", "elements of a head")                                                 \
    ENUM(mask, "mask", "none|causal", 0, "none", "causal: a token attends to none behind it")
static const struct ww_param params[] = {PARAMS(WW_ROW_U32, WW_ROW_ENUM)};

static enum ww_code body(struct ww_host *h, const void *settings) {
    static const char *const kernel[2][2] = {{"flash_mma_128", "flash_mma_128_causal"},
                                             {"flash_mma_64", "flash_mma_64_causal"}};
    const struct settings *s = settings;
    struct ww_attention a = {.heads = ww_host_size(s->heads, s->size, 1, 16, 64),
                             .count = ww_host_size(s->count, s->size, 128, 768, 2048),
                             .dim = s->dim ? 64 : 128,
                             .causal = s->mask == 1};
    const float scale = ww_attention_scale(&a);
    WW_TRY(ww_attention_make(h, &a));
    const struct ww_host_shape shape = {.grid = {a.count / QUERIES, a.heads, 1},
                                        .block = {THREADS, 1, 1},
                                        .shared = (QUERIES + 2 * KEYS) * a.dim * 2};
    const struct ww_arg args[] = {WW_ARG(a.d_queries), WW_ARG(a.d_keys), WW_ARG(a.d_values),
                                  WW_ARG(a.d_out),     WW_ARG(a.count),  WW_ARG(scale)};
    WW_TRY(ww_host_launch(h, kernel[s->dim][s->mask], &shape, WW_ARGS(args)));
    return ww_attention_check(h, &a);
}

static enum ww_code run(const void *settings, struct ww_device *device, uint64_t seed, struct ww_error *error) {
    return ww_host_run("flash_mma", body, settings, device, seed, error);
}

const struct ww_workload_ops ww_workload_flash_mma = {
    .name = "flash_mma",
    .help = "attention by blocks of keys with a running softmax: mma.sync, asynchronous copies, powers in "
            "registers",
    .params = params,
    .param_count = sizeof params / sizeof params[0],
    .param_text = PARAMS(WW_TEXT_U32, WW_TEXT_ENUM),
    .settings_size = sizeof(struct settings),
    .ptx_name = "flash_mma",
    .arch = "sm_80",
    .run = run,
};
