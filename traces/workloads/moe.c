/* moe: gather of tokens by their experts, and the weighted sum back. In between the host takes the experts'
 * place: it negates the rows of odd experts, so that a row at a wrong place is seen. Places within an expert
 * depend on the order of atomics: any that hold each pick once are right. Sums have a fused multiplication and
 * addition a pick. */
#include "half.h"
#include <math.h>
#include <string.h>

enum { BLOCK = 256, ROW_BLOCK = 128, EXPERTS = 256 /* at most */ };

struct settings {
    uint32_t size, tokens, width, experts, each;
};
#define PARAMS(U32, ENUM)                                                                                      \
    WW_SIZE_PARAM(ENUM)                                                                                        \
    U32(tokens, "tokens", "token", 0, 1048576, 0, "tokens; 0: 70, 4096, 16384")                                \
    U32(width, "width", "element", 0, 65536, 0, "elements of a token, a multiple of 8; 0: 264, 2048, 4096")    \
    U32(experts, "experts", "expert", 1, 256, 64, "experts")                                                   \
    U32(each, "each", "expert", 1, 16, 2, "experts of a token, all different")
static const struct ww_param params[] = {PARAMS(WW_ROW_U32, WW_ROW_ENUM)};

struct data {
    uint32_t tokens, width, experts, each, picks;
    uint32_t *expert, *row, *taken; /* of each pick; which pick a row holds, + 1 */
    float *weight;
    uint16_t *x, *rows, *want, *got;
    uint64_t d_expert, d_count, d_next, d_row, d_x, d_rows, d_weight, d_out;
};

/* Half of the picks begin their search among a quarter of the experts; a token takes the next one that it has
 * not. */
static void choose(struct ww_host *h, struct data *d) {
    for (uint32_t i = 0; i < d->picks; i++) {
        uint32_t crowded = ww_rng_below(&h->rng, 2), first = i / d->each * d->each;
        uint32_t e = ww_rng_below(&h->rng, crowded ? (d->experts + 3) / 4 : d->experts);
        for (uint32_t k = first; k < i;) {
            bool again = d->expert[k] == e;
            if (again) e = (e + 1) % d->experts;
            k = again ? first : k + 1;
        }
        d->expert[i] = e;
    }
}

static enum ww_code make(struct ww_host *h, struct data *d) {
    size_t n = (size_t)d->tokens * d->width, m = (size_t)d->picks * d->width;
    WW_TRY(ww_host_array(h, &d->expert, d->picks, sizeof *d->expert));
    WW_TRY(ww_host_array(h, &d->row, d->picks, sizeof *d->row));
    WW_TRY(ww_host_array(h, &d->taken, d->picks, sizeof *d->taken));
    WW_TRY(ww_host_array(h, &d->rows, m, sizeof *d->rows));
    WW_TRY(ww_host_array(h, &d->want, m, sizeof *d->want));
    WW_TRY(ww_host_array(h, &d->got, n, sizeof *d->got));
    WW_TRY(ww_host_random(h, &d->weight, d->picks, 0, 1));
    choose(h, d);
    WW_TRY(ww_host_upload_halves(h, &d->x, &d->d_x, n, 1024, 0x1p-8));
    WW_TRY(ww_host_upload(h, &d->d_expert, d->expert, d->picks, sizeof *d->expert));
    WW_TRY(ww_host_upload(h, &d->d_weight, d->weight, d->picks, sizeof *d->weight));
    WW_TRY(ww_host_buffer(h, &d->d_count, d->experts, sizeof(uint32_t)));
    WW_TRY(ww_host_buffer(h, &d->d_next, d->experts, sizeof(uint32_t)));
    WW_TRY(ww_host_buffer(h, &d->d_row, d->picks, sizeof(uint32_t)));
    WW_TRY(ww_host_buffer(h, &d->d_rows, m, sizeof *d->rows));
    return ww_host_buffer(h, &d->d_out, n, sizeof *d->got);
}

static enum ww_code gather(struct ww_host *h, struct data *d) {
    const struct ww_host_shape line = ww_host_line(ww_host_ceil(d->picks, BLOCK), BLOCK),
                               warp = ww_host_line(1, 32), rows = ww_host_line(d->tokens, ROW_BLOCK);
    const struct ww_arg count[] = {WW_ARG(d->d_expert), WW_ARG(d->d_count), WW_ARG(d->picks),
                                   WW_ARG(d->experts)};
    const struct ww_arg offsets[] = {WW_ARG(d->d_count), WW_ARG(d->d_next), WW_ARG(d->experts)};
    const struct ww_arg place[] = {WW_ARG(d->d_expert), WW_ARG(d->d_next), WW_ARG(d->d_row), WW_ARG(d->picks),
                                   WW_ARG(d->experts)};
    const struct ww_arg copy[] = {WW_ARG(d->d_x), WW_ARG(d->d_row), WW_ARG(d->d_rows), WW_ARG(d->each),
                                  WW_ARG(d->width)};
    WW_TRY(ww_host_launch(h, "moe_count", &line, WW_ARGS(count)));
    WW_TRY(ww_host_launch(h, "moe_offsets", &warp, WW_ARGS(offsets)));
    WW_TRY(ww_host_launch(h, "moe_place", &line, WW_ARGS(place)));
    return ww_host_launch(h, "moe_gather", &rows, WW_ARGS(copy));
}

/* Each pick has a row of its own among its expert's, and the token's elements are there. */
static enum ww_code check_rows(struct ww_host *h, struct data *d) {
    uint32_t first[EXPERTS + 1] = {0};
    WW_TRY(ww_host_read(h, d->row, d->d_row, d->picks, sizeof *d->row));
    for (uint32_t i = 0; i < d->picks; i++) first[d->expert[i] + 1]++;
    for (uint32_t e = 0; e < d->experts; e++) first[e + 1] += first[e];
    for (uint32_t i = 0; i < d->picks; i++) {
        uint32_t r = d->row[i], e = d->expert[i];
        if (r < first[e] || r >= first[e + 1] || d->taken[r])
            return ww_fail(h->error, WW_MISMATCH, h->name, "row[%u] is %u, expected a free one of %u to %u", i,
                           r, first[e], first[e + 1] - 1);
        d->taken[r] = i + 1;
        memcpy(d->want + (size_t)r * d->width, d->x + (size_t)(i / d->each) * d->width,
               d->width * sizeof *d->want);
    }
    WW_TRY(ww_host_read(h, d->rows, d->d_rows, (size_t)d->picks * d->width, sizeof *d->rows));
    return ww_host_same_u16(h, "rows", d->rows, d->want, (size_t)d->picks * d->width);
}

static void experts(struct data *d) {
    for (uint32_t r = 0; r < d->picks; r++)
        if (d->expert[d->taken[r] - 1] % 2)
            for (size_t i = 0; i < d->width; i++) d->rows[(size_t)r * d->width + i] ^= 0x8000;
}

static enum ww_code scatter(struct ww_host *h, struct data *d) {
    size_t n = (size_t)d->tokens * d->width;
    double *want, *scale;
    const struct ww_host_shape rows = ww_host_line(d->tokens, ROW_BLOCK);
    const struct ww_arg args[] = {WW_ARG(d->d_rows), WW_ARG(d->d_row), WW_ARG(d->d_weight),
                                  WW_ARG(d->d_out),  WW_ARG(d->each),  WW_ARG(d->width)};
    WW_TRY(ww_device_write(h->device, d->d_rows, d->rows, (size_t)d->picks * d->width * sizeof *d->rows,
                           h->error));
    WW_TRY(ww_host_launch(h, "moe_scatter", &rows, WW_ARGS(args)));
    WW_TRY(ww_host_array(h, &want, n, sizeof *want));
    WW_TRY(ww_host_array(h, &scale, n, sizeof *scale));
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < d->each; j++) {
            size_t pick = i / d->width * d->each + j;
            double term = (double)d->weight[pick] * ww_half_value(d->x[i]);
            want[i] += d->expert[pick] % 2 ? -term : term;
            scale[i] += fabs(term);
        }
    WW_TRY(ww_host_read(h, d->got, d->d_out, n, sizeof *d->got));
    return ww_host_near_f16(h, "out", d->got, want, scale, n, d->each);
}

static enum ww_code body(struct ww_host *h, const void *settings) {
    const struct settings *s = settings;
    struct data d = {.tokens = ww_host_size(s->tokens, s->size, 70, 4096, 16384),
                     .width = ww_host_size(s->width, s->size, 264, 2048, 4096),
                     .experts = s->experts,
                     .each = s->each};
    d.picks = d.tokens * d.each;
    if (d.width % 8 || d.each > d.experts || (uint64_t)d.picks * d.width > 1u << 27)
        return ww_fail(
            h->error, WW_USAGE, h->name,
            "tokens=%u, width=%u, experts=%u, each=%u: expected a width of a multiple of 8, no more experts of "
            "a token than there are, at most 2^27 elements",
            d.tokens, d.width, d.experts, d.each);
    WW_TRY(make(h, &d));
    WW_TRY(gather(h, &d));
    WW_TRY(check_rows(h, &d));
    experts(&d);
    return scatter(h, &d);
}

static enum ww_code run(const void *settings, struct ww_device *device, uint64_t seed, struct ww_error *error) {
    return ww_host_run("moe", body, settings, device, seed, error);
}

const struct ww_workload_ops ww_workload_moe = {
    .name = "moe",
    .help = "mixture of experts: tokens counted, placed and copied by expert, and their weighted sum back",
    .params = params,
    .param_count = sizeof params / sizeof params[0],
    .param_text = PARAMS(WW_TEXT_U32, WW_TEXT_ENUM),
    .settings_size = sizeof(struct settings),
    .ptx_name = "moe",
    .run = run,
};
