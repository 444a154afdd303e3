/* fft: transforms of 1024 complex numbers. The sine and cosine of the special-function unit are off by up to
 * 2^-20.9, 8.6 u; the third power of a twiddle factor by three times that. With five passes of such a product,
 * of two additions, and of rounding below 20 u each, an output is within 5 x (3 x 8.6 + 20) u = 230 u of the
 * sum of the inputs' absolute values. */
#include "host.h"
#include <math.h>

struct settings {
    uint32_t size, batch, variant;
};
#define PARAMS(U32, ENUM)                                                                                      \
    WW_SIZE_PARAM(ENUM)                                                                                        \
    U32(batch, "batch", "transform", 0, 2048, 0, "transforms, an even number; 0: 4, 512, 2048")                \
    ENUM(variant, "variant", "plain|vtb|vtb_pipe|smm", 0, "plain",                                             \
         "one in a CTA; two that take turns by hand; the same, a step apart; with shared memory allocated")
static const struct ww_param params[] = {PARAMS(WW_ROW_U32, WW_ROW_ENUM)};

enum { N = 1024, THREADS = 64, DATA_BYTES = (N + N / 16) * 8, SHARED_BYTES = 8736 };

/* Forward transform of n numbers a stride apart, by halves. */
static void transform(const float *in, size_t stride, size_t n, double (*out)[2]) {
    const double tau = 6.283185307179586;
    if (n == 1) {
        out[0][0] = in[0];
        out[0][1] = in[1];
        return;
    }
    transform(in, 2 * stride, n / 2, out);
    transform(in + 2 * stride, 2 * stride, n / 2, out + n / 2);
    for (size_t k = 0; k < n / 2; k++) {
        double c = cos(tau * (double)k / (double)n), s = -sin(tau * (double)k / (double)n);
        double *a = out[k], *b = out[k + n / 2];
        double re = c * b[0] - s * b[1], im = c * b[1] + s * b[0];
        b[0] = a[0] - re;
        b[1] = a[1] - im;
        a[0] += re;
        a[1] += im;
    }
}

static enum ww_code check(struct ww_host *h, const float *in, uint64_t d_out, uint32_t batch) {
    size_t numbers = 2 * (size_t)N * batch;
    float *got;
    double *want, *scale;
    WW_TRY(ww_host_array(h, &got, numbers, sizeof *got));
    WW_TRY(ww_host_array(h, &want, numbers, sizeof *want));
    WW_TRY(ww_host_array(h, &scale, numbers, sizeof *scale));
    WW_TRY(ww_host_read(h, got, d_out, numbers, sizeof *got));
    for (size_t b = 0; b < numbers; b += 2 * N) {
        double sum = 0;
        transform(in + b, 1, N, (double(*)[2])(void *)(want + b));
        for (size_t i = b; i < b + 2 * N; i++) sum += fabs((double)in[i]);
        for (size_t i = b; i < b + 2 * N; i++) scale[i] = sum;
    }
    return ww_host_near_f32(h, "out", got, want, scale, numbers, 230);
}

static enum ww_code body(struct ww_host *h, const void *settings) {
    static const char *const kernel[] = {"fft_1k", "fft_vtb", "fft_vtb_pipe", "fft_smm"};
    const struct settings *s = settings;
    uint32_t batch = ww_host_size(s->batch, s->size, 4, 512, 2048),
             joined = s->variant == 1 || s->variant == 2 ? 2 : 1;
    float *in;
    uint64_t d_in, d_out;
    if (batch % 2) return ww_fail(h->error, WW_USAGE, h->name, "batch=%u: expected an even number", batch);
    WW_TRY(ww_host_random(h, &in, 2 * (size_t)N * batch, -1, 1));
    WW_TRY(ww_host_upload(h, &d_in, in, 2 * (size_t)N * batch, sizeof *in));
    WW_TRY(ww_host_buffer(h, &d_out, 2 * (size_t)N * batch, sizeof *in));
    const struct ww_arg args[] = {WW_ARG(d_in), WW_ARG(d_out)};
    struct ww_host_shape shape = ww_host_line(batch / joined, THREADS * joined);
    shape.shared = SHARED_BYTES - DATA_BYTES;
    WW_TRY(ww_host_launch(h, kernel[s->variant], &shape, WW_ARGS(args)));
    return check(h, in, d_out, batch);
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
