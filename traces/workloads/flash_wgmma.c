/* flash_wgmma: attention forward by blocks of keys, by wgmma, fetched by tensor maps. */
#include "attention.h"

enum {
    DIM = 128,
    QUERIES = 128,
    KEYS = 128,
    STAGES = 2,
    THREADS = 384,
    ALIGN = 1024
}; /* as in kernels/flash_wgmma.cu */

struct settings {
    uint32_t size, heads, count, mask;
};
#define PARAMS(U32, ENUM)                                                                                      \
    WW_SIZE_PARAM(ENUM)                                                                                        \
    U32(heads, "heads", "head", 0, 4096, 0, "heads of all sequences, each of 128 elements; 0: 1, 16, 64")      \
    U32(count, "count", "token", 0, 65536, 0, "tokens of a sequence, a multiple of 128; 0: 128, 1024, 4096")   \
    ENUM(mask, "mask", "none|causal", 0, "none", "causal: a token attends to none behind it")
static const struct ww_param params[] = {PARAMS(WW_ROW_U32, WW_ROW_ENUM)};

static enum ww_code map_of(struct ww_host *h, const struct ww_attention *a, uint64_t rows, uint64_t *address) {
    const struct ww_device_matrix m = {
        .address = rows, .element = 2, .rows = a->heads * a->count, .columns = DIM, .box_rows = KEYS};
    unsigned char map[WW_DEVICE_MAP_BYTES];
    WW_TRY(ww_device_map(h->device, &m, map, h->error));
    return ww_host_upload(h, address, map, sizeof map, 1);
}

static enum ww_code body(struct ww_host *h, const void *settings) {
    static const char *const kernel[] = {"flash_wgmma", "flash_wgmma_causal"};
    const struct settings *s = settings;
    struct ww_attention a = {.heads = ww_host_size(s->heads, s->size, 1, 16, 64),
                             .count = ww_host_size(s->count, s->size, 128, 1024, 4096),
                             .dim = DIM,
                             .causal = s->mask == 1};
    const float scale = ww_attention_scale(&a);
    uint64_t queries, keys, values;
    WW_TRY(ww_attention_make(h, &a));
    WW_TRY(map_of(h, &a, a.d_queries, &queries));
    WW_TRY(map_of(h, &a, a.d_keys, &keys));
    WW_TRY(map_of(h, &a, a.d_values, &values));
    const struct ww_host_shape shape = {.grid = {a.count / QUERIES, a.heads, 1},
                                        .block = {THREADS, 1, 1},
                                        .shared = (QUERIES + 2 * STAGES * KEYS) * DIM * 2 + ALIGN};
    const struct ww_arg args[] = {WW_ARG(queries), WW_ARG(keys),    WW_ARG(values),
                                  WW_ARG(a.d_out), WW_ARG(a.count), WW_ARG(scale)};
    WW_TRY(ww_host_launch(h, kernel[s->mask], &shape, WW_ARGS(args)));
    return ww_attention_check(h, &a);
}

static enum ww_code run(const void *settings, struct ww_device *device, uint64_t seed, struct ww_error *error) {
    return ww_host_run("flash_wgmma", body, settings, device, seed, error);
}

const struct ww_workload_ops ww_workload_flash_wgmma = {
    .name = "flash_wgmma",
    .help = "attention by blocks of keys with a running softmax: wgmma, tensor maps, a warp that fetches",
    .params = params,
    .param_count = sizeof params / sizeof params[0],
    .param_text = PARAMS(WW_TEXT_U32, WW_TEXT_ENUM),
    .settings_size = sizeof(struct settings),
    .ptx_name = "flash_wgmma",
    .arch = "sm_90a",
    .run = run,
};
