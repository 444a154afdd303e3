/* topk: the largest of each row. The elements of a row differ, so that there is one right answer: compared
 * exactly. */
#include "host.h"
#include <stdlib.h>
#include <string.h>

enum { MOST = 1024, WARP_MOST = 256 }; /* of k under radix, of the width under warp: kernels/topk.cu */

struct settings {
    uint32_t size, variant, rows, width, k, block;
};
#define PARAMS(U32, ENUM)                                                                                      \
    WW_SIZE_PARAM(ENUM)                                                                                        \
    ENUM(variant, "variant", "radix|warp", 0, "radix", "a CTA a row by digits, or a warp a short row")         \
    U32(rows, "rows", "row", 0, 1048576, 0, "rows; 0: 3, 128, 256 (radix), 41, 8192, 32768 (warp)")            \
    U32(width, "width", "element", 0, 1048576, 0,                                                              \
        "elements of a row; radix: a multiple of 4, 0: 1004, 16384, 32000; warp: at most 256, 0: 64")          \
    U32(k, "k", "element", 0, 1024, 0, "how many; 0: 50 (radix), 8 (warp)")                                    \
    U32(block, "block", "thread", 32, 1024, 512, "threads of a CTA, a multiple of 32")
static const struct ww_param params[] = {PARAMS(WW_ROW_U32, WW_ROW_ENUM)};

struct table {
    uint32_t rows, width, k;
    float *in;
    uint32_t *value, *index, *got; /* bits of the wanted values, their columns */
};

/* A row has the whole numbers below its width in random order, less half of them, in 64ths. */
static void make_row(struct ww_host *h, struct table *t, size_t r, uint32_t *order) {
    for (uint32_t i = 0; i < t->width; i++) order[i] = i;
    for (uint32_t i = t->width - 1; i > 0; i--) {
        uint32_t j = ww_rng_below(&h->rng, i + 1), o = order[i];
        order[i] = order[j];
        order[j] = o;
    }
    for (uint32_t i = 0; i < t->width; i++) {
        float v = ((float)order[i] - (float)(t->width / 2)) / 64;
        uint32_t place = t->width - 1 - order[i];
        t->in[r * t->width + i] = v;
        if (place >= t->k) continue;
        memcpy(&t->value[r * t->k + place], &v, sizeof v);
        t->index[r * t->k + place] = i;
    }
}

static enum ww_code make(struct ww_host *h, const struct settings *s, struct table *t) {
    bool warp = s->variant == 1;
    *t = (struct table){.rows = warp ? ww_host_size(s->rows, s->size, 41, 8192, 32768)
                                     : ww_host_size(s->rows, s->size, 3, 128, 256),
                        .width = warp ? ww_host_size(s->width, s->size, 64, 64, 64)
                                      : ww_host_size(s->width, s->size, 1004, 16384, 32000),
                        .k = s->k   ? s->k
                             : warp ? 8
                                    : 50};
    uint32_t *order;
    size_t n = (size_t)t->rows * t->width, m = (size_t)t->rows * t->k;
    if (t->k > t->width || n > 1u << 26 || s->block % 32 || (warp ? t->width > WARP_MOST : t->width % 4))
        return ww_fail(
            h->error, WW_USAGE, h->name,
            "rows=%u, width=%u, k=%u, block=%u: expected k up to the width, a width of a multiple of 4 (warp: "
            "up to 256), a block of a multiple of 32, at most 2^26 elements",
            t->rows, t->width, t->k, s->block);
    WW_TRY(ww_host_array(h, &t->in, n, sizeof *t->in));
    WW_TRY(ww_host_array(h, &t->value, m, sizeof *t->value));
    WW_TRY(ww_host_array(h, &t->index, m, sizeof *t->index));
    WW_TRY(ww_host_array(h, &t->got, m, sizeof *t->got));
    WW_TRY(ww_host_array(h, &order, t->width, sizeof *order));
    for (size_t r = 0; r < t->rows; r++) make_row(h, t, r, order);
    return WW_OK;
}

static enum ww_code launch(struct ww_host *h, const struct settings *s, const struct table *t, uint64_t d_in,
                           uint64_t d_value, uint64_t d_index) {
    if (s->variant == 1) {
        const struct ww_host_shape shape =
            ww_host_line(ww_host_ceil((uint64_t)t->rows * 32, s->block), s->block);
        const struct ww_arg args[] = {WW_ARG(d_in),    WW_ARG(d_value),  WW_ARG(d_index),
                                      WW_ARG(t->rows), WW_ARG(t->width), WW_ARG(t->k)};
        return ww_host_launch(h, "topk_warp", &shape, WW_ARGS(args));
    }
    uint32_t sorted = 2;
    while (sorted < t->k) sorted *= 2;
    const struct ww_host_shape shape = ww_host_line(t->rows, s->block);
    const struct ww_arg args[] = {WW_ARG(d_in),     WW_ARG(d_value), WW_ARG(d_index),
                                  WW_ARG(t->width), WW_ARG(t->k),    WW_ARG(sorted)};
    return ww_host_launch(h, "topk_radix", &shape, WW_ARGS(args));
}

static enum ww_code body(struct ww_host *h, const void *settings) {
    const struct settings *s = settings;
    struct table t;
    uint64_t d_in, d_value, d_index;
    WW_TRY(make(h, s, &t));
    size_t m = (size_t)t.rows * t.k;
    WW_TRY(ww_host_upload(h, &d_in, t.in, (size_t)t.rows * t.width, sizeof *t.in));
    WW_TRY(ww_host_buffer(h, &d_value, m, sizeof(float)));
    WW_TRY(ww_host_buffer(h, &d_index, m, sizeof(uint32_t)));
    WW_TRY(launch(h, s, &t, d_in, d_value, d_index));
    WW_TRY(ww_host_read(h, t.got, d_index, m, sizeof *t.got));
    WW_TRY(ww_host_same_u32(h, "index", t.got, t.index, m));
    WW_TRY(ww_host_read(h, t.got, d_value, m, sizeof *t.got));
    return ww_host_same_u32(h, "bits of value", t.got, t.value, m);
}

static enum ww_code run(const void *settings, struct ww_device *device, uint64_t seed, struct ww_error *error) {
    return ww_host_run("topk", body, settings, device, seed, error);
}

const struct ww_workload_ops ww_workload_topk = {
    .name = "topk",
    .help = "the k largest of each row with their columns: digits in shared memory, or rounds of shuffles",
    .params = params,
    .param_count = sizeof params / sizeof params[0],
    .param_text = PARAMS(WW_TEXT_U32, WW_TEXT_ENUM),
    .settings_size = sizeof(struct settings),
    .ptx_name = "topk",
    .run = run,
};
