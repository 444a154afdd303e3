/* d2_block: kernels that buffer blocks of matrices: dct, mm, trans1, trans2, lud. The product's and the
 * transposes' results are exact; the cosine transform is compared with its definition, and of the decomposition
 * L U with A. */
#include "host.h"
#include <math.h>

struct settings {
    uint32_t size, kernel, variant, n, repeats;
};
#define PARAMS(U32, ENUM)                                                                                      \
    WW_SIZE_PARAM(ENUM)                                                                                        \
    ENUM(kernel, "kernel", "dct|mm|trans1|trans2|lud", 0, "dct", "which kernel")                               \
    ENUM(variant, "variant", "plain|dma", 0, "plain",                                                          \
         "blocks are filled by all threads, or by bulk transfers")                                             \
    U32(n, "n", "element", 0, 4096, 0, "rows and columns, multiple of 32 and at least 64; 0: as size says")    \
    U32(repeats, "repeats", "repetition", 0, 1000, 0,                                                          \
        "trans1, trans2: how often a CTA transposes its tile; 0: 2 (small), 10")
static const struct ww_param params[] = {PARAMS(WW_ROW_U32, WW_ROW_ENUM)};

/* As in kernels/d2_block.cu. */
enum { TILE = 16, DCT_W = 32, DCT_H = 16, MM_TILE = 32, MM_DEPTH = 128 /* at least */ };

static enum ww_code near(struct ww_host *h, const char *array, uint64_t address, const double *want,
                         const double *scale, size_t n, double factor) {
    float *got;
    WW_TRY(ww_host_array(h, &got, n, sizeof *got));
    WW_TRY(ww_host_read(h, got, address, n, sizeof *got));
    return ww_host_near_f32(h, array, got, want, scale, n, factor);
}

static enum ww_code numbers(struct ww_host *h, float **data, uint64_t *address, size_t n, uint32_t below) {
    WW_TRY(ww_host_array(h, data, n, sizeof **data));
    for (size_t i = 0; i < n; i++)
        (*data)[i] = (float)ww_rng_below(&h->rng, 2 * below - 1) - (float)(below - 1);
    return ww_host_upload(h, address, *data, n, sizeof **data);
}

static enum ww_code wants(struct ww_host *h, double **want, double **scale, size_t n) {
    WW_TRY(ww_host_array(h, want, n, sizeof **want));
    return ww_host_array(h, scale, n, sizeof **scale);
}

static double basis(uint32_t u, uint32_t x) {
    return (u ? 0.5 : sqrt(0.125)) * cos((2 * x + 1) * u * 3.14159265358979323846 / 16);
}

/* The transform of 8 x 8 block at `in`, and the sums of its terms' magnitudes. */
static void dct_block(const float *in, double *want, double *scale, size_t width, double (*c)[8]) {
    double part[8][8], size[8][8];
    for (size_t y = 0; y < 8; y++)
        for (size_t u = 0; u < 8; u++) {
            part[y][u] = size[y][u] = 0;
            for (size_t x = 0; x < 8; x++) {
                double term = c[u][x] * (double)in[y * width + x];
                part[y][u] += term;
                size[y][u] += fabs(term);
            }
        }
    for (size_t v = 0; v < 8; v++)
        for (size_t u = 0; u < 8; u++)
            for (size_t y = 0; y < 8; y++) {
                want[v * width + u] += c[v][y] * part[y][u];
                scale[v * width + u] += fabs(c[v][y]) * size[y][u];
            }
}

/* Roundings on a path: two passes of three sums, a product and a constant's, each. */
static enum ww_code dct(struct ww_host *h, uint32_t n, const struct settings *s) {
    static const char *const kernel[] = {"d2_dct", "d2_dct_dma"};
    size_t all = (size_t)n * n;
    float *in;
    double *want, *scale, c[8][8];
    uint64_t d_in, d_out;
    WW_TRY(numbers(h, &in, &d_in, all, 128));
    WW_TRY(ww_host_buffer(h, &d_out, all, sizeof *in));
    WW_TRY(wants(h, &want, &scale, all));
    for (uint32_t u = 0; u < 8; u++)
        for (uint32_t x = 0; x < 8; x++) c[u][x] = basis(u, x);
    for (size_t y = 0; y < n; y += 8)
        for (size_t x = 0; x < n; x += 8) dct_block(in + y * n + x, want + y * n + x, scale + y * n + x, n, c);
    const struct ww_arg args[] = {WW_ARG(d_in), WW_ARG(d_out), WW_ARG(n)};
    const struct ww_host_shape shape = {.grid = {n / DCT_W, n / DCT_H, 1}, .block = {8, 4, 2}};
    WW_TRY(ww_host_launch(h, kernel[s->variant], &shape, WW_ARGS(args)));
    return near(h, "out", d_out, want, scale, all, 12);
}

/* C is n columns wide, A B's rows and its depth are half of that: the shapes of the SDK's example (n = 640). */
static enum ww_code mm(struct ww_host *h, uint32_t n, const struct settings *s) {
    static const char *const kernel[] = {"d2_mm", "d2_mm_dma"};
    uint32_t m = (n / 2 + MM_TILE - 1) / MM_TILE * MM_TILE, k = m < MM_DEPTH ? MM_DEPTH : m;
    size_t all = (size_t)m * n;
    float *A, *B;
    double *want, *scale;
    uint64_t dA, dB, dC;
    WW_TRY(numbers(h, &A, &dA, (size_t)m * k, 16));
    WW_TRY(numbers(h, &B, &dB, (size_t)n * k, 16));
    WW_TRY(ww_host_buffer(h, &dC, all, sizeof *A));
    WW_TRY(wants(h, &want, &scale, all));
    for (size_t r = 0; r < m; r++)
        for (size_t i = 0; i < k; i++)
            for (size_t c = 0; c < n; c++) want[r * n + c] += (double)A[r * k + i] * (double)B[i * n + c];
    const struct ww_arg args[] = {WW_ARG(dA), WW_ARG(dB), WW_ARG(dC), WW_ARG(n), WW_ARG(k)};
    const struct ww_host_shape shape = {.grid = {n / MM_TILE, m / MM_TILE, 1}, .block = {MM_TILE, MM_TILE, 1}};
    WW_TRY(ww_host_launch(h, kernel[s->variant], &shape, WW_ARGS(args)));
    return near(h, "C", dC, want, scale, all, 0);
}

static enum ww_code transpose(struct ww_host *h, uint32_t n, const struct settings *s, const char *kernel) {
    uint32_t repeats = ww_host_size(s->repeats, s->size, 2, 10, 10);
    size_t all = (size_t)n * n;
    float *in;
    double *want, *scale;
    uint64_t d_in, d_out;
    WW_TRY(numbers(h, &in, &d_in, all, 1u << 20));
    WW_TRY(ww_host_buffer(h, &d_out, all, sizeof *in));
    WW_TRY(wants(h, &want, &scale, all));
    for (size_t r = 0; r < n; r++)
        for (size_t c = 0; c < n; c++) want[c * n + r] = (double)in[r * n + c];
    const struct ww_arg args[] = {WW_ARG(d_in), WW_ARG(d_out), WW_ARG(n), WW_ARG(repeats)};
    const struct ww_host_shape shape = {.grid = {n / TILE, n / TILE, 1}, .block = {TILE, TILE, 1}};
    WW_TRY(ww_host_launch(h, kernel, &shape, WW_ARGS(args)));
    return near(h, "out", d_out, want, scale, all, 0);
}

static enum ww_code trans1(struct ww_host *h, uint32_t n, const struct settings *s) {
    return transpose(h, n, s, s->variant ? "d2_trans1_dma" : "d2_trans1");
}

static enum ww_code trans2(struct ww_host *h, uint32_t n, const struct settings *s) {
    return transpose(h, n, s, s->variant ? "d2_trans2_dma" : "d2_trans2");
}

/* A - L U of what the device made of A is within n + 1 roundings of each term (Higham, theorem 9.3). */
static enum ww_code lud_check(struct ww_host *h, const float *A, uint64_t dA, size_t n) {
    float *f;
    double *want, *scale;
    WW_TRY(ww_host_array(h, &f, n * n, sizeof *f));
    WW_TRY(wants(h, &want, &scale, n * n));
    WW_TRY(ww_host_read(h, f, dA, n * n, sizeof *f));
    for (size_t r = 0; r < n; r++)
        for (size_t k = 0; k <= r; k++) {
            double l = k == r ? 1 : (double)f[r * n + k];
            for (size_t c = k; c < n; c++) {
                want[r * n + c] += l * (double)f[k * n + c];
                scale[r * n + c] += fabs(l * (double)f[k * n + c]);
            }
        }
    return ww_host_near_f32(h, "L U", A, want, scale, n * n, (double)n + 1);
}

static enum ww_code lud(struct ww_host *h, uint32_t n, const struct settings *s) {
    static const char *const diagonal[] = {"d2_lud_diagonal", "d2_lud_diagonal_dma"};
    static const char *const internal[] = {"d2_lud_internal", "d2_lud_internal_dma"};
    float *A;
    uint64_t dA;
    WW_TRY(ww_host_random(h, &A, (size_t)n * n, -1, 1));
    for (size_t i = 0; i < n; i++) A[i * n + i] += (float)n;
    WW_TRY(ww_host_upload(h, &dA, A, (size_t)n * n, sizeof *A));
    for (uint32_t at = 0; at < n; at += TILE) {
        uint32_t rest = (n - at) / TILE - 1;
        const struct ww_arg args[] = {WW_ARG(dA), WW_ARG(n), WW_ARG(at)};
        const struct ww_host_shape one = ww_host_line(1, TILE), row = ww_host_line(rest, 2 * TILE);
        const struct ww_host_shape square = {.grid = {rest, rest, 1}, .block = {TILE, TILE, 1}};
        WW_TRY(ww_host_launch(h, diagonal[s->variant], &one, WW_ARGS(args)));
        if (rest == 0) break;
        WW_TRY(ww_host_launch(h, "d2_lud_perimeter", &row, WW_ARGS(args)));
        WW_TRY(ww_host_launch(h, internal[s->variant], &square, WW_ARGS(args)));
    }
    return lud_check(h, A, dA, n);
}

static enum ww_code body(struct ww_host *h, const void *settings) {
    static const struct {
        enum ww_code (*run)(struct ww_host *h, uint32_t n, const struct settings *s);
        uint32_t n, large;
    } kernel[] = {
        {dct, 768, 2048}, {mm, 640, 1280}, {trans1, 1024, 2048}, {trans2, 1024, 2048}, {lud, 256, 512}};
    const struct settings *s = settings;
    uint32_t n = ww_host_size(s->n, s->size, 64, kernel[s->kernel].n, kernel[s->kernel].large);
    if (n % 32 || n < 64)
        return ww_fail(h->error, WW_USAGE, h->name, "n=%u: expected a multiple of 32 from 64 on", n);
    return kernel[s->kernel].run(h, n, s);
}

static enum ww_code run(const void *settings, struct ww_device *device, uint64_t seed, struct ww_error *error) {
    return ww_host_run("d2_block", body, settings, device, seed, error);
}

const struct ww_workload_ops ww_workload_d2_block = {
    .name = "d2_block",
    .help = "kernels that buffer blocks of matrices in shared memory, plain and with D2MA's bulk transfers",
    .params = params,
    .param_count = sizeof params / sizeof params[0],
    .param_text = PARAMS(WW_TEXT_U32, WW_TEXT_ENUM),
    .settings_size = sizeof(struct settings),
    .ptx_name = "d2_block",
    .run = run,
};
