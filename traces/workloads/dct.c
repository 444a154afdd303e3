/* dct: discrete cosine transform of an image by blocks of 8 x 8, or its inverse. Floats are compared with the
 * definition in double precision: on the longest path through both passes an input meets 14 roundings (6 of
 * sums and products, and the constant's own, in each). Integers are compared exactly with the same arithmetic
 * on whole matrices, whose sums are exact in any order. */
#include "host.h"
#include <math.h>

struct settings {
    uint32_t size, width, height, elements, direction, tile;
};
#define PARAMS(U32, ENUM)                                                                                      \
    WW_SIZE_PARAM(ENUM)                                                                                        \
    U32(width, "width", "pixel", 0, 16384, 0, "of the image, a multiple of 32; 0: 64, 512, 2048")              \
    U32(height, "height", "pixel", 0, 16384, 0, "the same; 0: 32, 512, 2048")                                  \
    ENUM(elements, "elements", "float|short", 0, "float", "what is transformed")                               \
    ENUM(direction, "direction", "forward|inverse", 0, "forward", "the transform or its inverse")              \
    ENUM(tile, "tile", "conflicting|padded", 0, "conflicting", "rows of a tile in shared memory")
static const struct ww_param params[] = {PARAMS(WW_ROW_U32, WW_ROW_ENUM)};

enum { SHORT = 1, TILE = 32, FLOAT_ROWS = 16 }; /* tiles as in kernels/dct.cu */

struct image {
    uint32_t width, height;
    size_t n;
};

/* matrix[k][i]: what element i gives to frequency k. */
static void make_matrix(double matrix[8][8]) {
    const double pi = 3.14159265358979323846;
    for (int k = 0; k < 8; k++)
        for (int i = 0; i < 8; i++) matrix[k][i] = cos((2 * i + 1) * k * pi / 16) * (k ? 0.5 : sqrt(0.125));
}

static enum ww_code launch(struct ww_host *h, const struct settings *s, const struct image *m, const void *in,
                           void *got, size_t element) {
    static const char *const kernel[2][2][2] = {
        {{"dct_forward", "dct_forward_padded"}, {"dct_inverse", "dct_inverse_padded"}},
        {{"dct_short_forward", "dct_short_forward_padded"}, {"dct_short_inverse", "dct_short_inverse_padded"}}};
    bool is_short = s->elements == SHORT;
    uint64_t d_in, d_out;
    WW_TRY(ww_host_upload(h, &d_in, in, m->n, element));
    WW_TRY(ww_host_buffer(h, &d_out, m->n, element));
    const struct ww_host_shape shape = {
        .grid = {m->width / TILE, m->height / (is_short ? TILE : FLOAT_ROWS), 1},
        .block = {8, 4, is_short ? 4 : 2}};
    const struct ww_arg args[] = {WW_ARG(d_in), WW_ARG(d_out), WW_ARG(m->width)};
    WW_TRY(ww_host_launch(h, kernel[s->elements][s->direction][s->tile], &shape, WW_ARGS(args)));
    return ww_host_read(h, got, d_out, m->n, element);
}

/* One block at `first`, and the sum of the absolute values of each element's terms. */
static void float_block(const struct image *m, const float *in, size_t first, double matrix[8][8], bool back,
                        double *want, double *scale) {
    double half[8][8], size[8][8];
    for (size_t r = 0; r < 8; r++)
        for (int k = 0; k < 8; k++) {
            half[r][k] = size[r][k] = 0;
            for (int i = 0; i < 8; i++) {
                double t = (double)in[first + r * m->width + (size_t)i] * (back ? matrix[i][k] : matrix[k][i]);
                half[r][k] += t;
                size[r][k] += fabs(t);
            }
        }
    for (size_t r = 0; r < 8; r++)
        for (size_t k = 0; k < 8; k++) {
            size_t at = first + r * m->width + k;
            for (size_t i = 0; i < 8; i++) {
                double c = back ? matrix[i][r] : matrix[r][i];
                want[at] += half[i][k] * c;
                scale[at] += size[i][k] * fabs(c);
            }
        }
}

static enum ww_code floats(struct ww_host *h, const struct settings *s, const struct image *m) {
    float *in, *got;
    double *want, *scale, matrix[8][8];
    make_matrix(matrix);
    WW_TRY(ww_host_random(h, &in, m->n, -128, 128));
    WW_TRY(ww_host_array(h, &got, m->n, sizeof *got));
    WW_TRY(ww_host_array(h, &want, m->n, sizeof *want));
    WW_TRY(ww_host_array(h, &scale, m->n, sizeof *scale));
    WW_TRY(launch(h, s, m, in, got, sizeof *in));
    for (size_t y = 0; y < m->height; y += 8)
        for (size_t x = 0; x < m->width; x += 8)
            float_block(m, in, y * m->width + x, matrix, s->direction, want, scale);
    return ww_host_near_f32(h, "out", got, want, scale, m->n, 14);
}

/* One pass over 8 elements `step` apart, with the constants of the kernel, units of 2^-13. */
static void short_pass(int16_t *p, size_t step, int32_t matrix[8][8], bool back) {
    int16_t in[8];
    for (size_t i = 0; i < 8; i++) in[i] = p[i * step];
    for (size_t k = 0; k < 8; k++) {
        int64_t sum = 0;
        for (size_t i = 0; i < 8; i++) sum += (int64_t)in[i] * (back ? matrix[i][k] : matrix[k][i]);
        sum = (sum + 4096 - (sum < 0)) >> 13; /* halves away from zero */
        p[k * step] = (int16_t)(sum < -32768 ? -32768 : sum > 32767 ? 32767 : sum);
    }
}

static enum ww_code shorts(struct ww_host *h, const struct settings *s, const struct image *m) {
    int16_t *in, *got;
    uint32_t *a, *b;
    double matrix[8][8];
    int32_t whole[8][8];
    make_matrix(matrix);
    for (int k = 0; k < 64; k++) whole[k / 8][k % 8] = (int32_t)lround(matrix[k / 8][k % 8] * 8192);
    WW_TRY(ww_host_array(h, &in, m->n, sizeof *in));
    WW_TRY(ww_host_array(h, &got, m->n, sizeof *got));
    WW_TRY(ww_host_array(h, &a, m->n, sizeof *a));
    WW_TRY(ww_host_array(h, &b, m->n, sizeof *b));
    for (size_t i = 0; i < m->n; i++) in[i] = (int16_t)((int32_t)ww_rng_below(&h->rng, 4096) - 2048);
    WW_TRY(launch(h, s, m, in, got, sizeof *in));
    for (size_t y = 0; y < m->height; y += 8)
        for (size_t x = 0; x < m->width; x += 8) {
            int16_t *block = in + y * m->width + x;
            for (size_t i = 0; i < 8; i++) short_pass(block + i, m->width, whole, s->direction);
            for (size_t i = 0; i < 8; i++) short_pass(block + i * m->width, 1, whole, s->direction);
        }
    for (size_t i = 0; i < m->n; i++) {
        a[i] = (uint16_t)got[i];
        b[i] = (uint16_t)in[i];
    }
    return ww_host_same_u32(h, "out", a, b, m->n);
}

static enum ww_code body(struct ww_host *h, const void *settings) {
    const struct settings *s = settings;
    struct image m = {.width = ww_host_size(s->width, s->size, 64, 512, 2048),
                      .height = ww_host_size(s->height, s->size, 32, 512, 2048)};
    m.n = (size_t)m.width * m.height;
    if (m.width % TILE || m.height % TILE || m.n > 1u << 26)
        return ww_fail(h->error, WW_USAGE, h->name,
                       "width=%u, height=%u: expected multiples of 32, at most 2^26 pixels", m.width, m.height);
    return s->elements == SHORT ? shorts(h, s, &m) : floats(h, s, &m);
}

static enum ww_code run(const void *settings, struct ww_device *device, uint64_t seed, struct ww_error *error) {
    return ww_host_run("dct", body, settings, device, seed, error);
}

const struct ww_workload_ops ww_workload_dct = {
    .name = "dct",
    .help =
        "cosine transform of 8 x 8 blocks by rows and columns in shared memory, which conflict or are padded",
    .params = params,
    .param_count = sizeof params / sizeof params[0],
    .param_text = PARAMS(WW_TEXT_U32, WW_TEXT_ENUM),
    .settings_size = sizeof(struct settings),
    .ptx_name = "dct",
    .run = run,
};
