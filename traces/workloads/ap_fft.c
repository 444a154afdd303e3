/* ap_fft: a transform of 4^k complex numbers, a launch for each pass of radix 4. A root of unity from the table
 * is off by u, its third power by less than 8 u; with the product and two additions a pass adds less than 20 u
 * of the sum of the inputs' absolute values to an output. */
#include "apogee.h"
#include <math.h>

struct settings {
    uint32_t size, warps, ctas, passes;
};
#define PARAMS(U32, ENUM)                                                                                      \
    WW_APOGEE_PARAMS(U32, ENUM)                                                                                \
    U32(passes, "passes", "pass", 0, 11, 0, "4^passes numbers; 0: 5, 8, 9")
static const struct ww_param params[] = {PARAMS(WW_ROW_U32, WW_ROW_ENUM)};

/* exp(-2 pi i k / n), each part rounded once. */
static void fill_roots(float (*root)[2], uint32_t n) {
    const double tau = 6.283185307179586;
    for (uint32_t k = 0; k < n; k++) {
        root[k][0] = (float)cos(tau * k / n);
        root[k][1] = (float)-sin(tau * k / n);
    }
}

/* Forward transform of n numbers a stride apart, by halves. */
static void transform(const float *in, size_t stride, size_t n, double (*out)[2]) {
    if (n == 1) {
        out[0][0] = in[0];
        out[0][1] = in[1];
        return;
    }
    transform(in, 2 * stride, n / 2, out);
    transform(in + 2 * stride, 2 * stride, n / 2, out + n / 2);
    for (size_t k = 0; k < n / 2; k++) {
        double angle = -6.283185307179586 * (double)k / (double)n, c = cos(angle), s = sin(angle);
        double *a = out[k], *b = out[k + n / 2], re = c * b[0] - s * b[1], im = c * b[1] + s * b[0];
        b[0] = a[0] - re;
        b[1] = a[1] - im;
        a[0] += re;
        a[1] += im;
    }
}

static enum ww_code check(struct ww_host *h, const float *in, uint64_t d_out, uint32_t n, uint32_t passes) {
    float *got;
    double(*want)[2], *scale, sum = 0;
    WW_TRY(ww_host_array(h, &got, 2 * (size_t)n, sizeof *got));
    WW_TRY(ww_host_array(h, &want, n, sizeof *want));
    WW_TRY(ww_host_array(h, &scale, 2 * (size_t)n, sizeof *scale));
    WW_TRY(ww_host_read(h, got, d_out, 2 * (size_t)n, sizeof *got));
    transform(in, 1, n, want);
    for (size_t i = 0; i < 2 * (size_t)n; i++) sum += fabs((double)in[i]);
    for (size_t i = 0; i < 2 * (size_t)n; i++) scale[i] = sum;
    return ww_host_near_f32(h, "out", got, want[0], scale, 2 * (size_t)n, 20.0 * passes);
}

static enum ww_code body(struct ww_host *h, const void *settings) {
    const struct settings *s = settings;
    uint32_t passes = ww_host_size(s->passes, s->size, 5, 8, 9), n = 1u << (2 * passes);
    uint32_t each = ww_apogee_each(n / 4, s->ctas);
    float *in, (*root)[2];
    uint64_t d_in, d_root, d_out;
    WW_TRY(ww_host_random(h, &in, 2 * (size_t)n, -1, 1));
    WW_TRY(ww_host_array(h, &root, n, sizeof *root));
    fill_roots(root, n);
    WW_TRY(ww_host_upload(h, &d_in, in, n, sizeof *root));
    WW_TRY(ww_host_upload(h, &d_root, root, n, sizeof *root));
    WW_TRY(ww_host_buffer(h, &d_out, n, sizeof *root));
    struct ww_host_shape shape = ww_apogee_shape(s->ctas, s->warps);
    for (uint32_t log_span = 0; log_span < 2 * passes; log_span += 2) {
        const struct ww_arg args[] = {WW_ARG(d_in), WW_ARG(d_root),   WW_ARG(d_out),
                                      WW_ARG(n),    WW_ARG(log_span), WW_ARG(each)};
        WW_TRY(ww_host_launch(h, "ap_fft", &shape, WW_ARGS(args)));
        uint64_t was = d_in;
        d_in = d_out;
        d_out = was;
    }
    return check(h, in, d_in, n, passes);
}

static enum ww_code run(const void *settings, struct ww_device *device, uint64_t seed, struct ww_error *error) {
    return ww_host_run("ap_fft", body, settings, device, seed, error);
}

const struct ww_workload_ops ww_workload_ap_fft = {
    .name = "ap_fft",
    .help = "Fourier transform through global memory, persistent threads",
    .params = params,
    .param_count = sizeof params / sizeof params[0],
    .param_text = PARAMS(WW_TEXT_U32, WW_TEXT_ENUM),
    .settings_size = sizeof(struct settings),
    .ptx_name = "ap_fft",
    .run = run,
};
