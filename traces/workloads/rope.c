/* rope: rotary embedding of queries and keys. An element is a sum of two products: 3 roundings, or 2 fused. */
#include "half.h"
#include <math.h>

struct settings {
    uint32_t size, variant, tokens, heads, dim, positions, block;
};
#define PARAMS(U32, ENUM)                                                                                      \
    WW_SIZE_PARAM(ENUM)                                                                                        \
    ENUM(variant, "variant", "halves|pairs", 0, "halves",                                                      \
         "element i turns with i + dim / 2, or 2 i with 2 i + 1")                                              \
    U32(tokens, "tokens", "token", 0, 1048576, 0, "tokens; 0: 13, 2048, 8192")                                 \
    U32(heads, "heads", "head", 1, 256, 40, "heads of queries and of keys of a token")                         \
    U32(dim, "dim", "element", 16, 512, 128, "elements of a head, a multiple of 16")                           \
    U32(positions, "positions", "position", 1, 65536, 4096, "rows of the table of angles")                     \
    U32(block, "block", "thread", 32, 1024, 256, "threads of a CTA")
static const struct ww_param params[] = {PARAMS(WW_ROW_U32, WW_ROW_ENUM)};

struct data {
    uint32_t tokens;
    uint16_t *x, *got;
    uint32_t *position;
    float *table; /* cosine and sine of each position and pair */
    double *want, *scale;
    size_t n;
};

static enum ww_code make(struct ww_host *h, const struct settings *s, struct data *d) {
    size_t pairs = s->dim / 2;
    WW_TRY(ww_host_array(h, &d->table, s->positions * pairs * 2, sizeof *d->table));
    for (size_t p = 0; p < s->positions; p++)
        for (size_t i = 0; i < pairs; i++) {
            double angle = (double)p * pow(10000, -(double)i / (double)pairs);
            d->table[(p * pairs + i) * 2] = (float)cos(angle);
            d->table[(p * pairs + i) * 2 + 1] = (float)sin(angle);
        }
    /* tokens of several sequences, each from a position of its own on */
    WW_TRY(ww_host_array(h, &d->position, d->tokens, sizeof *d->position));
    for (uint32_t t = 0; t < d->tokens; t++)
        d->position[t] = t % 64 ? (d->position[t - 1] + 1) % s->positions : ww_rng_below(&h->rng, s->positions);
    WW_TRY(ww_host_array(h, &d->want, d->n, sizeof *d->want));
    WW_TRY(ww_host_array(h, &d->scale, d->n, sizeof *d->scale));
    return ww_host_array(h, &d->got, d->n, sizeof *d->got);
}

static void reference(const struct settings *s, struct data *d) {
    size_t pairs = s->dim / 2;
    for (size_t row = 0; row < d->n / s->dim; row++)
        for (size_t i = 0; i < pairs; i++) {
            const float *angle = d->table + (d->position[row / s->heads] * pairs + i) * 2;
            double c = (double)angle[0], n = (double)angle[1];
            size_t a = row * s->dim + (s->variant ? 2 * i : i), b = a + (s->variant ? 1 : pairs);
            double x = ww_half_value(d->x[a]), y = ww_half_value(d->x[b]);
            d->want[a] = x * c - y * n;
            d->want[b] = x * n + y * c;
            d->scale[a] = fabs(x * c) + fabs(y * n);
            d->scale[b] = fabs(x * n) + fabs(y * c);
        }
}

static enum ww_code body(struct ww_host *h, const void *settings) {
    static const char *const kernel[] = {"rope_halves", "rope_pairs"};
    const struct settings *s = settings;
    struct data d = {.tokens = ww_host_size(s->tokens, s->size, 13, 2048, 8192)};
    uint64_t d_x, d_position, d_table;
    d.n = (size_t)d.tokens * s->heads * s->dim;
    if (s->dim % 16 || d.n > 1u << 26)
        return ww_fail(
            h->error, WW_USAGE, h->name,
            "tokens=%u, heads=%u, dim=%u: expected a dimension of a multiple of 16, at most 2^26 elements",
            d.tokens, s->heads, s->dim);
    WW_TRY(ww_host_upload_halves(h, &d.x, &d_x, d.n, 1024, 0x1p-8));
    WW_TRY(make(h, s, &d));
    WW_TRY(ww_host_upload(h, &d_position, d.position, d.tokens, sizeof *d.position));
    WW_TRY(ww_host_upload(h, &d_table, d.table, (size_t)s->positions * s->dim, sizeof *d.table));
    const struct ww_host_shape shape = ww_host_line(ww_host_ceil(d.n / 16, s->block), s->block);
    const struct ww_arg args[] = {WW_ARG(d_x),      WW_ARG(d_position), WW_ARG(d_table),
                                  WW_ARG(d.tokens), WW_ARG(s->heads),   WW_ARG(s->dim)};
    WW_TRY(ww_host_launch(h, kernel[s->variant], &shape, WW_ARGS(args)));
    reference(s, &d);
    WW_TRY(ww_host_read(h, d.got, d_x, d.n, sizeof *d.got));
    return ww_host_near_f16(h, "x", d.got, d.want, d.scale, d.n, 3);
}

static enum ww_code run(const void *settings, struct ww_device *device, uint64_t seed, struct ww_error *error) {
    return ww_host_run("rope", body, settings, device, seed, error);
}

const struct ww_workload_ops ww_workload_rope = {
    .name = "rope",
    .help = "rotary embedding of queries and keys in place: pairs of halves turned by angles of a table",
    .params = params,
    .param_count = sizeof params / sizeof params[0],
    .param_text = PARAMS(WW_TEXT_U32, WW_TEXT_ENUM),
    .settings_size = sizeof(struct settings),
    .ptx_name = "rope",
    .run = run,
};
