/* d2_filter: Gaussian, mean and Sobel filters, with the halo of the tile filled by the threads or by D2MA's
 * engine. Pixels are whole numbers below 256, whose weighted sums a float holds exactly: compared exactly. */
#include "host.h"
#include <math.h>

struct settings {
    uint32_t size, kernel, variant, width, height;
};
#define PARAMS(U32, ENUM)                                                                                      \
    WW_SIZE_PARAM(ENUM)                                                                                        \
    ENUM(kernel, "kernel", "gauss|mean|sobel", 0, "gauss", "which filter")                                     \
    ENUM(variant, "variant", "plain|dma", 0, "plain",                                                          \
         "the tile is filled by all threads, or by bulk transfers")                                            \
    U32(width, "width", "pixel", 0, 8192, 0, "multiple of 16, at least 32; 0: 48, 768, 2048")                  \
    U32(height, "height", "pixel", 0, 8192, 0, "multiple of 16, at least 32; 0: 32, 512, 2048")
static const struct ww_param params[] = {PARAMS(WW_ROW_U32, WW_ROW_ENUM)};

enum { TILE = 16, GAUSS = 0, MEAN = 1 }; /* as in kernels/d2_filter.cu */

static const char *const kernel[3][2] = {
    {"d2_gauss", "d2_gauss_dma"}, {"d2_mean", "d2_mean_dma"}, {"d2_sobel", "d2_sobel_dma"}};

static const double weight[4][3][3] = {
    {{0.0625, 0.125, 0.0625}, {0.125, 0.25, 0.125}, {0.0625, 0.125, 0.0625}},
    {{0.0625, 0.0625, 0.0625}, {0.0625, 0.0625, 0.0625}, {0.0625, 0.0625, 0.0625}},
    {{-1, 0, 1}, {-2, 0, 2}, {-1, 0, 1}},
    {{1, 2, 1}, {0, 0, 0}, {-1, -2, -1}}};

static double weighted(const float *in, uint32_t w, uint32_t h, uint32_t x, uint32_t y, const double (*k)[3]) {
    double sum = 0;
    for (uint32_t j = 0; j < 3; j++)
        for (uint32_t i = 0; i < 3; i++) {
            bool inside = y + j >= 1 && y + j <= h && x + i >= 1 && x + i <= w;
            if (inside) sum += k[j][i] * (double)in[(size_t)(y + j - 1) * w + x + i - 1];
        }
    return sum;
}

static double reference(const float *in, uint32_t w, uint32_t h, uint32_t x, uint32_t y, uint32_t which) {
    if (which <= MEAN) return weighted(in, w, h, x, y, weight[which]);
    double sum = fabs(weighted(in, w, h, x, y, weight[2])) + fabs(weighted(in, w, h, x, y, weight[3]));
    return sum > 255 ? 255 : sum;
}

static enum ww_code check(struct ww_host *h, const float *in, uint64_t d_out, uint32_t width, uint32_t height,
                          uint32_t which) {
    size_t n = (size_t)width * height;
    float *got;
    double *want, *scale;
    WW_TRY(ww_host_array(h, &got, n, sizeof *got));
    WW_TRY(ww_host_array(h, &want, n, sizeof *want));
    WW_TRY(ww_host_array(h, &scale, n, sizeof *scale));
    WW_TRY(ww_host_read(h, got, d_out, n, sizeof *got));
    for (uint32_t y = 0; y < height; y++)
        for (uint32_t x = 0; x < width; x++)
            want[(size_t)y * width + x] = reference(in, width, height, x, y, which);
    return ww_host_near_f32(h, "out", got, want, scale, n, 0);
}

static enum ww_code body(struct ww_host *h, const void *settings) {
    const struct settings *s = settings;
    uint32_t width = ww_host_size(s->width, s->size, 48, 768, 2048);
    uint32_t height = ww_host_size(s->height, s->size, 32, 512, 2048);
    if (width % TILE || height % TILE || width < 2 * TILE || height < 2 * TILE)
        return ww_fail(h->error, WW_USAGE, h->name,
                       "width=%u and height=%u: expected multiples of 16 from 32 on", width, height);
    size_t n = (size_t)width * height;
    float *in;
    uint64_t d_in, d_out;
    WW_TRY(ww_host_array(h, &in, n, sizeof *in));
    for (size_t i = 0; i < n; i++) in[i] = (float)ww_rng_below(&h->rng, 256);
    WW_TRY(ww_host_upload(h, &d_in, in, n, sizeof *in));
    WW_TRY(ww_host_buffer(h, &d_out, n, sizeof *in));
    const struct ww_arg args[] = {WW_ARG(d_in), WW_ARG(d_out), WW_ARG(width), WW_ARG(height)};
    const struct ww_host_shape shape = {.grid = {width / TILE, height / TILE, 1}, .block = {TILE, TILE, 1}};
    WW_TRY(ww_host_launch(h, kernel[s->kernel][s->variant], &shape, WW_ARGS(args)));
    return check(h, in, d_out, width, height, s->kernel);
}

static enum ww_code run(const void *settings, struct ww_device *device, uint64_t seed, struct ww_error *error) {
    return ww_host_run("d2_filter", body, settings, device, seed, error);
}

const struct ww_workload_ops ww_workload_d2_filter = {
    .name = "d2_filter",
    .help = "image filters over tiles with a halo in shared memory, plain and with D2MA's bulk transfers",
    .params = params,
    .param_count = sizeof params / sizeof params[0],
    .param_text = PARAMS(WW_TEXT_U32, WW_TEXT_ENUM),
    .settings_size = sizeof(struct settings),
    .ptx_name = "d2_filter",
    .run = run,
};
