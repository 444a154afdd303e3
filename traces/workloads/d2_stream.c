/* d2_stream: kernels that buffer vectors: saxpy, sgemv, path (shortest path on a grid), walsh and haar
 * transforms. Inputs are small whole numbers wherever all results are then exact in a float; those are compared
 * exactly. */
#include "host.h"
#include <math.h>

struct settings {
    uint32_t size, kernel, variant, n;
};
#define PARAMS(U32, ENUM)                                                                                      \
    WW_SIZE_PARAM(ENUM)                                                                                        \
    ENUM(kernel, "kernel", "saxpy|sgemv|path|walsh|haar", 0, "saxpy", "which kernel")                          \
    ENUM(variant, "variant", "plain|dma|cudadma", 0, "plain",                                                  \
         "tiles are filled by all threads, by bulk transfers, or (saxpy, sgemv) by warps of their own")        \
    U32(n, "n", "CTA", 0, 65536, 0, "CTAs; 0: 4, then what the kernel needs, then four times as much")
static const struct ww_param params[] = {PARAMS(WW_ROW_U32, WW_ROW_ENUM)};

/* As in kernels/d2_stream.cu. */
enum { SAXPY_THREADS = 128, SAXPY_TILE = 512, SAXPY_TILES = 8 };
enum { GEMV_THREADS = 128, GEMV_COLUMNS = 896 };
enum { PATH_THREADS = 256, PATH_STEPS = 10, PATH_ROWS = 61 };
enum { WALSH = 2048, HAAR = 1024 };

static enum ww_code exact(struct ww_host *h, const char *array, uint64_t address, const double *want, size_t n,
                          const double *scale, double factor) {
    float *got;
    double *zero;
    WW_TRY(ww_host_array(h, &got, n, sizeof *got));
    WW_TRY(ww_host_array(h, &zero, n, sizeof *zero));
    WW_TRY(ww_host_read(h, got, address, n, sizeof *got));
    return ww_host_near_f32(h, array, got, want, scale ? scale : zero, n, factor);
}

/* n whole numbers of magnitude below `below`, on the device too. */
static enum ww_code numbers(struct ww_host *h, float **data, uint64_t *address, size_t n, uint32_t below) {
    WW_TRY(ww_host_array(h, data, n, sizeof **data));
    for (size_t i = 0; i < n; i++)
        (*data)[i] = (float)ww_rng_below(&h->rng, 2 * below - 1) - (float)(below - 1);
    return ww_host_upload(h, address, *data, n, sizeof **data);
}

static enum ww_code saxpy(struct ww_host *h, uint32_t ctas, uint32_t variant) {
    static const char *const kernel[] = {"d2_saxpy", "d2_saxpy_dma", "d2_saxpy_cudadma"};
    size_t n = (size_t)ctas * SAXPY_TILE * SAXPY_TILES;
    uint32_t tiles = SAXPY_TILES;
    float *x, *y, a = 3;
    double *want;
    uint64_t dx, dy;
    WW_TRY(numbers(h, &x, &dx, n, 1000));
    WW_TRY(numbers(h, &y, &dy, n, 1000));
    WW_TRY(ww_host_array(h, &want, n, sizeof *want));
    for (size_t i = 0; i < n; i++) want[i] = 3 * (double)x[i] + (double)y[i];
    const struct ww_arg args[] = {WW_ARG(dx), WW_ARG(dy), WW_ARG(a), WW_ARG(tiles)};
    struct ww_host_shape shape = ww_host_line(ctas, variant == 2 ? SAXPY_THREADS + 64 : SAXPY_THREADS);
    WW_TRY(ww_host_launch(h, kernel[variant], &shape, WW_ARGS(args)));
    return exact(h, "y", dy, want, n, NULL, 0);
}

static enum ww_code sgemv(struct ww_host *h, uint32_t ctas, uint32_t variant) {
    static const char *const kernel[] = {"d2_sgemv", "d2_sgemv_dma", "d2_sgemv_cudadma"};
    uint32_t rows = ctas * GEMV_THREADS, columns = rows < GEMV_COLUMNS ? rows : GEMV_COLUMNS;
    float *A, *x, alpha = 2;
    double *want;
    uint64_t dA, dx, dy;
    WW_TRY(numbers(h, &A, &dA, (size_t)rows * columns, 16));
    WW_TRY(numbers(h, &x, &dx, columns, 16));
    WW_TRY(ww_host_buffer(h, &dy, rows, sizeof(float)));
    WW_TRY(ww_host_array(h, &want, rows, sizeof *want));
    for (size_t c = 0; c < columns; c++)
        for (size_t r = 0; r < rows; r++) want[r] += 2 * (double)A[c * rows + r] * (double)x[c];
    const struct ww_arg args[] = {WW_ARG(rows), WW_ARG(columns), WW_ARG(alpha),
                                  WW_ARG(dA),   WW_ARG(dx),      WW_ARG(dy)};
    struct ww_host_shape shape = ww_host_line(ctas, variant == 2 ? GEMV_THREADS + 32 : GEMV_THREADS);
    WW_TRY(ww_host_launch(h, kernel[variant], &shape, WW_ARGS(args)));
    return exact(h, "y", dy, want, rows, NULL, 0);
}

/* Costs of the cheapest paths to each column of the last row; from: the row before, changed in place. */
static void path_reference(const uint32_t *wall, uint32_t *from, uint32_t *to, size_t columns) {
    for (size_t row = 1; row < PATH_ROWS; row++) {
        for (size_t x = 0; x < columns; x++) {
            uint32_t least = from[x];
            if (x > 0 && from[x - 1] < least) least = from[x - 1];
            if (x + 1 < columns && from[x + 1] < least) least = from[x + 1];
            to[x] = least + wall[row * columns + x];
        }
        for (size_t x = 0; x < columns; x++) from[x] = to[x];
    }
}

static enum ww_code path(struct ww_host *h, uint32_t ctas, uint32_t variant) {
    static const char *const kernel[] = {"d2_path", "d2_path_dma"};
    uint32_t columns = ctas * (PATH_THREADS - 2 * PATH_STEPS) - 7, steps = PATH_STEPS;
    size_t room = (size_t)columns + 2 * PATH_THREADS + 64;
    uint32_t *wall, *first, *to;
    uint64_t d_wall, d_row[2];
    WW_TRY(ww_host_array(h, &wall, (size_t)columns * PATH_ROWS, sizeof *wall));
    WW_TRY(ww_host_array(h, &first, room, sizeof *first));
    WW_TRY(ww_host_array(h, &to, room, sizeof *to));
    for (size_t i = 0; i < (size_t)columns * PATH_ROWS; i++) wall[i] = ww_rng_below(&h->rng, 10);
    for (size_t i = 0; i < columns; i++) first[PATH_THREADS + i] = wall[i];
    WW_TRY(ww_host_upload(h, &d_wall, wall, (size_t)columns * PATH_ROWS, sizeof *wall));
    WW_TRY(ww_host_upload(h, &d_row[0], first, room, sizeof *first));
    WW_TRY(ww_host_buffer(h, &d_row[1], room, sizeof *first));
    struct ww_host_shape shape = ww_host_line(ctas, PATH_THREADS);
    uint32_t now = 0;
    for (uint32_t row = 1; row < PATH_ROWS; row += PATH_STEPS, now ^= 1) {
        uint64_t from = d_row[now] + 4 * PATH_THREADS, into = d_row[now ^ 1] + 4 * PATH_THREADS;
        const struct ww_arg args[] = {WW_ARG(d_wall),  WW_ARG(from), WW_ARG(into),
                                      WW_ARG(columns), WW_ARG(row),  WW_ARG(steps)};
        WW_TRY(ww_host_launch(h, kernel[variant], &shape, WW_ARGS(args)));
    }
    path_reference(wall, first + PATH_THREADS, to, columns);
    uint32_t *got;
    WW_TRY(ww_host_array(h, &got, columns, sizeof *got));
    WW_TRY(ww_host_read(h, got, d_row[now] + 4 * PATH_THREADS, columns, sizeof *got));
    return ww_host_same_u32(h, "costs", got, to, columns);
}

static enum ww_code walsh(struct ww_host *h, uint32_t ctas, uint32_t variant) {
    static const char *const kernel[] = {"d2_walsh", "d2_walsh_dma"};
    size_t n = (size_t)ctas * WALSH;
    float *in;
    double *want;
    uint64_t d_in, d_out;
    WW_TRY(numbers(h, &in, &d_in, n, 1000));
    WW_TRY(ww_host_buffer(h, &d_out, n, sizeof *in));
    WW_TRY(ww_host_array(h, &want, n, sizeof *want));
    for (size_t i = 0; i < n; i++) want[i] = (double)in[i];
    for (size_t stride = WALSH / 2; stride; stride >>= 1)
        for (size_t i = 0; i < n; i++) {
            if (i & stride) continue;
            double a = want[i], b = want[i + stride];
            want[i] = a + b;
            want[i + stride] = a - b;
        }
    const struct ww_arg args[] = {WW_ARG(d_in), WW_ARG(d_out)};
    struct ww_host_shape shape = ww_host_line(ctas, WALSH / 4);
    WW_TRY(ww_host_launch(h, kernel[variant], &shape, WW_ARGS(args)));
    return exact(h, "out", d_out, want, n, NULL, 0);
}

static enum ww_code haar(struct ww_host *h, uint32_t ctas, uint32_t variant) {
    static const char *const kernel[] = {"d2_haar", "d2_haar_dma"};
    uint32_t n = ctas * HAAR;
    float *in;
    double *now, *details;
    uint64_t d_in, d_details, d_means;
    WW_TRY(numbers(h, &in, &d_in, n, 1000));
    WW_TRY(ww_host_buffer(h, &d_details, n, sizeof *in));
    WW_TRY(ww_host_buffer(h, &d_means, ctas, sizeof *in));
    WW_TRY(ww_host_array(h, &now, n, sizeof *now));
    WW_TRY(ww_host_array(h, &details, n, sizeof *details));
    for (size_t i = 0; i < n; i++) now[i] = (double)in[i];
    for (size_t half = n / 2; half >= ctas; half /= 2) {
        for (size_t i = 0; i < half; i++) {
            details[half + i] = (now[2 * i] - now[2 * i + 1]) / 2;
            now[i] = (now[2 * i] + now[2 * i + 1]) / 2;
        }
        if (half == ctas) break;
    }
    const struct ww_arg args[] = {WW_ARG(d_in), WW_ARG(d_details), WW_ARG(d_means), WW_ARG(n)};
    struct ww_host_shape shape = ww_host_line(ctas, HAAR / 2);
    WW_TRY(ww_host_launch(h, kernel[variant], &shape, WW_ARGS(args)));
    WW_TRY(exact(h, "means", d_means, now, ctas, NULL, 0));
    return exact(h, "details", d_details, details, n, NULL, 0);
}

static enum ww_code body(struct ww_host *h, const void *settings) {
    static const struct {
        enum ww_code (*run)(struct ww_host *h, uint32_t ctas, uint32_t variant);
        uint32_t ctas;
    } kernel[] = {{saxpy, 240}, {sgemv, 7}, {path, 180}, {walsh, 120}, {haar, 240}};
    const struct settings *s = settings;
    uint32_t ctas = ww_host_size(s->n, s->size, 4, kernel[s->kernel].ctas, 4 * kernel[s->kernel].ctas);
    if (s->variant == 2 && s->kernel > 1)
        return ww_fail(h->error, WW_USAGE, h->name, "variant=cudadma: expected kernel=saxpy or sgemv");
    return kernel[s->kernel].run(h, ctas, s->variant);
}

static enum ww_code run(const void *settings, struct ww_device *device, uint64_t seed, struct ww_error *error) {
    return ww_host_run("d2_stream", body, settings, device, seed, error);
}

const struct ww_workload_ops ww_workload_d2_stream = {
    .name = "d2_stream",
    .help = "kernels that buffer vectors in shared memory, plain, with D2MA's bulk transfers, with CudaDMA",
    .params = params,
    .param_count = sizeof params / sizeof params[0],
    .param_text = PARAMS(WW_TEXT_U32, WW_TEXT_ENUM),
    .settings_size = sizeof(struct settings),
    .ptx_name = "d2_stream",
    .run = run,
};
