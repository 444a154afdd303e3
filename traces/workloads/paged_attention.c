/* paged_attention: one query a sequence over keys and values in blocks. All are 16ths of magnitude below 1, so
 * that no score, in units of log2, is above A = dim * scale * log2 e. A score is off by 15 A u (8 fused
 * additions, 4 or 5 sums of lanes, the scale), its power by 3 A + 2 u more, and numerator and sum both have it.
 * Parts are scaled down at most once for each step of a warp, 2 to 3 times between lanes, and twice at the end,
 * each off by 2 A + 6 u. */
#include "half.h"
#include <math.h>

enum { BLOCK = 16, GROUP = 4, WARP_TOKENS = 8, WARPS = 4 }; /* as in kernels/paged_attention.cu, of dim 128 */

struct settings {
    uint32_t size, sequences, tokens, heads, dim, splits;
};
#define PARAMS(U32, ENUM)                                                                                      \
    WW_SIZE_PARAM(ENUM)                                                                                        \
    U32(sequences, "sequences", "sequence", 0, 4096, 0, "sequences; 0: 2, 8, 32")                              \
    U32(tokens, "tokens", "token", 0, 131072, 0,                                                               \
        "mean tokens of a sequence, half to one and a half of it; 0: 40, 768, 2048")                           \
    U32(heads, "heads", "head", 0, 128, 0, "heads of keys and values, 4 of queries to each; 0: 1, 8, 8")       \
    ENUM(dim, "dim", "128|64", 0, "128", "elements of a head")                                                 \
    U32(splits, "splits", "split", 0, 64, 0, "parts that a sequence is split into; 0: 2, 4, 4")
static const struct ww_param params[] = {PARAMS(WW_ROW_U32, WW_ROW_ENUM)};

struct data {
    uint32_t sequences, heads, dim, splits, blocks, pool; /* blocks of a sequence at most, of all */
    uint32_t *tokens, *table;
    uint16_t *queries, *keys, *values, *got;
    double *want, *scale;
    uint64_t d_queries, d_keys, d_values, d_table, d_tokens, d_parts, d_state, d_out;
    size_t rows; /* of queries */
};

/* Each sequence gets blocks from a pool in random order. */
static enum ww_code make_table(struct ww_host *h, struct data *d, uint32_t mean) {
    uint32_t *order, used = 0;
    d->blocks = ww_host_ceil(mean + mean / 2 + 1, BLOCK);
    d->pool = d->sequences * d->blocks;
    WW_TRY(ww_host_array(h, &d->tokens, d->sequences, sizeof *d->tokens));
    WW_TRY(ww_host_array(h, &d->table, d->pool, sizeof *d->table));
    WW_TRY(ww_host_array(h, &order, d->pool, sizeof *order));
    for (uint32_t i = 0; i < d->pool; i++) {
        uint32_t j = ww_rng_below(&h->rng, i + 1);
        order[i] = order[j];
        order[j] = i;
    }
    for (uint32_t s = 0; s < d->sequences; s++) {
        d->tokens[s] = mean - mean / 2 + ww_rng_below(&h->rng, mean + 1);
        for (uint32_t b = 0; b < ww_host_ceil(d->tokens[s], BLOCK); b++)
            d->table[s * d->blocks + b] = order[used++];
    }
    return WW_OK;
}

static enum ww_code make(struct ww_host *h, struct data *d) {
    size_t cached = (size_t)d->pool * d->heads * BLOCK * d->dim, n = d->rows * d->dim;
    WW_TRY(ww_host_upload_halves(h, &d->queries, &d->d_queries, n, 16, 0x1p-4));
    WW_TRY(ww_host_upload_halves(h, &d->keys, &d->d_keys, cached, 16, 0x1p-4));
    WW_TRY(ww_host_upload_halves(h, &d->values, &d->d_values, cached, 16, 0x1p-4));
    WW_TRY(ww_host_upload(h, &d->d_table, d->table, d->pool, sizeof *d->table));
    WW_TRY(ww_host_upload(h, &d->d_tokens, d->tokens, d->sequences, sizeof *d->tokens));
    WW_TRY(ww_host_buffer(h, &d->d_parts, n * d->splits, sizeof(float)));
    WW_TRY(ww_host_buffer(h, &d->d_state, d->rows * d->splits, 2 * sizeof(float)));
    WW_TRY(ww_host_buffer(h, &d->d_out, n, sizeof *d->got));
    WW_TRY(ww_host_array(h, &d->got, n, sizeof *d->got));
    WW_TRY(ww_host_array(h, &d->want, n, sizeof *d->want));
    return ww_host_array(h, &d->scale, n, sizeof *d->scale);
}

/* A query's output; the keys' head is at `head`. Scores need no maximum here: they are small. */
static void attend(struct data *d, uint32_t s, uint32_t head, size_t row, double scale) {
    double sum = 0, *want = d->want + row * d->dim, *size = d->scale + row * d->dim;
    for (uint32_t t = 0; t < d->tokens[s]; t++) {
        size_t block = d->table[s * d->blocks + t / BLOCK];
        size_t at = ((block * d->heads + head) * BLOCK + t % BLOCK) * d->dim;
        double dot = 0;
        for (size_t i = 0; i < d->dim; i++)
            dot += ww_half_value(d->queries[row * d->dim + i]) * ww_half_value(d->keys[at + i]);
        double weight = exp(dot * scale);
        sum += weight;
        for (size_t i = 0; i < d->dim; i++) {
            want[i] += weight * ww_half_value(d->values[at + i]);
            size[i] += weight * fabs(ww_half_value(d->values[at + i]));
        }
    }
    for (size_t i = 0; i < d->dim; i++) {
        want[i] /= sum;
        size[i] /= sum;
    }
}

static enum ww_code launch(struct ww_host *h, struct data *d, float scale) {
    static const char *const kernel[] = {"paged_attention_64", "paged_attention_128"};
    const struct ww_host_shape shape = {.grid = {d->heads, d->sequences, d->splits},
                                        .block = {WARPS * 32, 1, 1}};
    const struct ww_host_shape join = ww_host_line((uint32_t)d->rows, d->dim);
    const struct ww_arg args[] = {WW_ARG(d->d_queries), WW_ARG(d->d_keys),   WW_ARG(d->d_values),
                                  WW_ARG(d->d_table),   WW_ARG(d->d_tokens), WW_ARG(d->d_parts),
                                  WW_ARG(d->d_state),   WW_ARG(d->blocks),   WW_ARG(d->heads),
                                  WW_ARG(d->splits),    WW_ARG(scale)};
    const struct ww_arg parts[] = {WW_ARG(d->d_parts), WW_ARG(d->d_state), WW_ARG(d->d_out), WW_ARG(d->splits)};
    WW_TRY(ww_host_launch(h, kernel[d->dim == 128], &shape, WW_ARGS(args)));
    return ww_host_launch(h, "paged_attention_join", &join, WW_ARGS(parts));
}

static enum ww_code body(struct ww_host *h, const void *settings) {
    const struct settings *s = settings;
    uint32_t mean = ww_host_size(s->tokens, s->size, 40, 768, 2048);
    struct data d = {.sequences = ww_host_size(s->sequences, s->size, 2, 8, 32),
                     .heads = ww_host_size(s->heads, s->size, 1, 8, 8),
                     .splits = ww_host_size(s->splits, s->size, 2, 4, 4),
                     .dim = s->dim ? 64 : 128};
    double scale = 1 / sqrt(d.dim), log2_e = 1.4426950408889634, most = d.dim * scale * log2_e;
    d.rows = (size_t)d.sequences * d.heads * GROUP;
    if ((uint64_t)d.sequences * d.heads * mean * d.dim > 1u << 27)
        return ww_fail(h->error, WW_USAGE, h->name,
                       "sequences=%u, tokens=%u, heads=%u: expected at most 2^27 elements of keys", d.sequences,
                       mean, d.heads);
    WW_TRY(make_table(h, &d, mean));
    WW_TRY(make(h, &d));
    WW_TRY(launch(h, &d, (float)(scale * log2_e)));
    for (uint32_t q = 0; q < d.sequences; q++)
        for (uint32_t r = 0; r < d.heads * GROUP; r++)
            attend(&d, q, r / GROUP, (size_t)q * d.heads * GROUP + r, scale);
    WW_TRY(ww_host_read(h, d.got, d.d_out, d.rows * d.dim, sizeof *d.got));
    double steps = ww_host_ceil(mean + mean / 2 + 1, d.splits * WARPS * WARP_TOKENS) + 1;
    return ww_host_near_f16(h, "out", d.got, d.want, d.scale, d.rows * d.dim,
                            2 * (18 * most + 2) + (steps + 5) * (2 * most + 6));
}

static enum ww_code run(const void *settings, struct ww_device *device, uint64_t seed, struct ww_error *error) {
    return ww_host_run("paged_attention", body, settings, device, seed, error);
}

const struct ww_workload_ops ww_workload_paged_attention = {
    .name = "paged_attention",
    .help =
        "attention of one query a sequence over keys and values in blocks of a table; splits joined afterwards",
    .params = params,
    .param_count = sizeof params / sizeof params[0],
    .param_text = PARAMS(WW_TEXT_U32, WW_TEXT_ENUM),
    .settings_size = sizeof(struct settings),
    .ptx_name = "paged_attention",
    .run = run,
};
