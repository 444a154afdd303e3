/* fft: transforms of 1024 complex numbers. The sine and cosine of the special-function unit are off by up to
 * 2^-20.9, 8.6 u, and those of an angle rounded by 3 u by as much more. With five passes of such a product, of
 * two additions, and of rounding below 8 u each, an output is within 5 x (12 + 8) u = 100 u of the sum of the
 * inputs' absolute values. */
#include "host.h"
#include <math.h>

struct settings {
    uint32_t size, batch, variant;
};
#define PARAMS(U32, ENUM)                                                                                      \
    WW_SIZE_PARAM(ENUM)                                                                                        \
    U32(batch, "batch", "transform", 0, 2048, 0, "transforms, an even number; 0: 4, 512, 2048")                \
    ENUM(variant, "variant", "plain|vtb|vtb_pipe|hw", 0, "plain",                                             \
         "one in a CTA; two that take turns by hand; the same, a step apart; with shared memory allocated")
static const struct ww_param params[] = {PARAMS(WW_ROW_U32, WW_ROW_ENUM)};

enum { N = 1024, THREADS = 64, DATA_BYTES = 2 * 1088 * 4, SHARED_BYTES = 8736 };

/* Forward transform of n numbers a stride apart, by halves. */
static void transform(const float *re, const float *im, size_t stride, size_t n, double (*out)[2]) {
    const double tau = 6.283185307179586;
    if (n == 1) {
        out[0][0] = re[0];
        out[0][1] = im[0];
        return;
    }
    transform(re, im, 2 * stride, n / 2, out);
    transform(re + stride, im + stride, 2 * stride, n / 2, out + n / 2);
    for (size_t k = 0; k < n / 2; k++) {
        double c = cos(tau * (double)k / (double)n), s = -sin(tau * (double)k / (double)n);
        double *a = out[k], *b = out[k + n / 2];
        double x = c * b[0] - s * b[1], y = c * b[1] + s * b[0];
        b[0] = a[0] - x;
        b[1] = a[1] - y;
        a[0] += x;
        a[1] += y;
    }
}

/* in: real parts, imaginary parts. */
static enum ww_code check(struct ww_host *h, float *const in[2], const uint64_t d_part[2], uint32_t batch) {
    size_t numbers = (size_t)N * batch;
    float *got;
    double *want[2], *scale, (*out)[2];
    WW_TRY(ww_host_array(h, &got, numbers, sizeof *got));
    WW_TRY(ww_host_array(h, &want[0], numbers, sizeof **want));
    WW_TRY(ww_host_array(h, &want[1], numbers, sizeof **want));
    WW_TRY(ww_host_array(h, &scale, numbers, sizeof *scale));
    WW_TRY(ww_host_array(h, &out, N, sizeof *out));
    for (size_t b = 0; b < numbers; b += N) {
        double sum = 0;
        transform(in[0] + b, in[1] + b, 1, N, out);
        for (size_t i = b; i < b + N; i++) sum += fabs((double)in[0][i]) + fabs((double)in[1][i]);
        for (size_t i = 0; i < N; i++) {
            scale[b + i] = sum;
            for (int k = 0; k < 2; k++) want[k][b + i] = out[i][k];
        }
    }
    WW_TRY(ww_host_read(h, got, d_part[0], numbers, sizeof *got));
    WW_TRY(ww_host_near_f32(h, "re", got, want[0], scale, numbers, 100));
    WW_TRY(ww_host_read(h, got, d_part[1], numbers, sizeof *got));
    return ww_host_near_f32(h, "im", got, want[1], scale, numbers, 100);
}

static enum ww_code body(struct ww_host *h, const void *settings) {
    static const char *const kernel[] = {"fft_1k", "fft_vtb", "fft_vtb_pipe", "fft_hw"};
    const struct settings *s = settings;
    uint32_t batch = ww_host_size(s->batch, s->size, 4, 512, 2048),
             joined = s->variant == 1 || s->variant == 2 ? 2 : 1;
    float *in[2];
    uint64_t d_part[2];
    if (batch % 2) return ww_fail(h->error, WW_USAGE, h->name, "batch=%u: expected an even number", batch);
    for (int i = 0; i < 2; i++) {
        WW_TRY(ww_host_random(h, &in[i], (size_t)N * batch, -1, 1));
        WW_TRY(ww_host_upload(h, &d_part[i], in[i], (size_t)N * batch, sizeof **in));
    }
    const struct ww_arg args[] = {WW_ARG(d_part[0]), WW_ARG(d_part[1])};
    struct ww_host_shape shape = ww_host_line(batch / joined, THREADS * joined);
    shape.shared = SHARED_BYTES - DATA_BYTES;
    WW_TRY(ww_host_launch(h, kernel[s->variant], &shape, WW_ARGS(args)));
    return check(h, in, d_part, batch);
}

static enum ww_code run(const void *settings, struct ww_device *device, uint64_t seed, struct ww_error *error) {
    return ww_host_run("fft", body, settings, device, seed, error);
}

const struct ww_workload_ops ww_workload_fft = {
    .name = "fft",
    .help = "batch of 1K-point Fourier transforms: exchange through shared memory between passes in registers",
    .params = params,
    .param_count = sizeof params / sizeof params[0],
    .param_text = PARAMS(WW_TEXT_U32, WW_TEXT_ENUM),
    .settings_size = sizeof(struct settings),
    .ptx_name = "fft",
    .run = run,
};
