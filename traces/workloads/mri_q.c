/* mri_q: the Q matrix of magnetic resonance imaging from samples off the grid (S. S. Stone et al.,
 * "Accelerating Advanced MRI Reconstructions on GPUs", JPDC 68(10), 2008), as Parboil's benchmark mri-q.
 * Tolerances: |phi|^2: two products and a sum, factor 2. Q: the phase in turns has an error of 3 u S, S = |kx
 * x| + |ky y| + |kz z|, and its reduction is exact; times 2 pi and rounded, with the rounding of 2 pi: 2 pi (3
 * S + 1) u; the special-function unit adds 2^-20.9, below 9 u; then a product and `samples` sums. */
#include "host.h"
#include <math.h>

enum { BLOCK = 256 }; /* of kernels/mri_q.cu */
static const double turn = 6.283185307179586;

struct settings {
    uint32_t size, voxels, samples;
};
#define PARAMS(U32, ENUM)                                                                                      \
    WW_SIZE_PARAM(ENUM)                                                                                        \
    U32(voxels, "voxels", "voxel", 0, 2097152, 0, "voxels; 0: 700, 19200, 32768")                              \
    U32(samples, "samples", "sample", 0, 65536, 0, "samples; 0: 40, 144, 3072")
static const struct ww_param params[] = {PARAMS(WW_ROW_U32, WW_ROW_ENUM)};

struct problem {
    uint32_t voxels, samples;
    float *phi[2], *magnitude, *sample, *place[3], *got;
    double *want[2], *scale;
};

static enum ww_code make(struct ww_host *h, struct problem *p) {
    for (int i = 0; i < 2; i++) WW_TRY(ww_host_random(h, &p->phi[i], p->samples, -1, 1));
    for (int d = 0; d < 3; d++) WW_TRY(ww_host_random(h, &p->place[d], p->voxels, -0.5, 0.5));
    WW_TRY(ww_host_random(h, &p->sample, 4 * (size_t)p->samples, -16, 16));
    WW_TRY(ww_host_array(h, &p->magnitude, p->samples, sizeof(float)));
    WW_TRY(ww_host_array(h, &p->got, p->voxels, sizeof(float)));
    size_t longest = p->voxels > p->samples ? p->voxels : p->samples;
    for (int i = 0; i < 2; i++) WW_TRY(ww_host_array(h, &p->want[i], longest, sizeof(double)));
    return ww_host_array(h, &p->scale, longest, sizeof *p->scale);
}

/* First kernel; its result becomes the samples' fourth word. */
static enum ww_code magnitudes(struct ww_host *h, struct problem *p) {
    uint64_t d_phi[2], d_magnitude;
    for (int i = 0; i < 2; i++) WW_TRY(ww_host_upload(h, &d_phi[i], p->phi[i], p->samples, sizeof(float)));
    WW_TRY(ww_host_buffer(h, &d_magnitude, p->samples, sizeof(float)));
    const struct ww_host_shape shape = ww_host_line(ww_host_ceil(p->samples, 512), 512);
    const struct ww_arg args[] = {WW_ARG(d_phi[0]), WW_ARG(d_phi[1]), WW_ARG(d_magnitude), WW_ARG(p->samples)};
    WW_TRY(ww_host_launch(h, "mri_q_phi_mag", &shape, WW_ARGS(args)));
    WW_TRY(ww_host_read(h, p->magnitude, d_magnitude, p->samples, sizeof(float)));
    for (uint32_t k = 0; k < p->samples; k++) {
        double re = (double)p->phi[0][k], im = (double)p->phi[1][k];
        p->want[0][k] = p->scale[k] = re * re + im * im;
        p->sample[4 * k + 3] = p->magnitude[k];
    }
    return ww_host_near_f32(h, "magnitude", p->magnitude, p->want[0], p->scale, p->samples, 2);
}

static void reference(struct problem *p) {
    for (uint32_t i = 0; i < p->voxels; i++) {
        p->want[0][i] = p->want[1][i] = p->scale[i] = 0;
        for (uint32_t k = 0; k < p->samples; k++) {
            double turns = 0, size = 0, w = (double)p->sample[4 * k + 3];
            for (uint32_t d = 0; d < 3; d++) {
                double term = (double)p->sample[4 * k + d] * (double)p->place[d][i];
                turns += term;
                size += fabs(term);
            }
            p->want[0][i] += w * cos(turn * turns);
            p->want[1][i] += w * sin(turn * turns);
            p->scale[i] += w * (turn * (3 * size + 1) + 9 + p->samples + 1);
        }
    }
}

static enum ww_code body(struct ww_host *h, const void *settings) {
    static const char *const names[] = {"real", "imaginary"};
    const struct settings *s = settings;
    struct problem p = {.voxels = ww_host_size(s->voxels, s->size, 700, 19200, 32768),
                        .samples = ww_host_size(s->samples, s->size, 40, 144, 3072)};
    uint64_t d_place[3], d_sample, d_q[2];
    WW_TRY(make(h, &p));
    WW_TRY(magnitudes(h, &p));
    for (int d = 0; d < 3; d++) WW_TRY(ww_host_upload(h, &d_place[d], p.place[d], p.voxels, sizeof(float)));
    WW_TRY(ww_host_upload(h, &d_sample, p.sample, 4 * (size_t)p.samples, sizeof(float)));
    for (int i = 0; i < 2; i++) WW_TRY(ww_host_buffer(h, &d_q[i], p.voxels, sizeof(float)));
    const struct ww_host_shape shape = ww_host_line(ww_host_ceil(p.voxels, BLOCK), BLOCK);
    const struct ww_arg args[] = {WW_ARG(d_place[0]), WW_ARG(d_place[1]), WW_ARG(d_place[2]),
                                  WW_ARG(d_sample),   WW_ARG(d_q[0]),     WW_ARG(d_q[1]),
                                  WW_ARG(p.voxels),   WW_ARG(p.samples)};
    WW_TRY(ww_host_launch(h, "mri_q_compute", &shape, WW_ARGS(args)));
    reference(&p);
    for (int i = 0; i < 2; i++) {
        WW_TRY(ww_host_read(h, p.got, d_q[i], p.voxels, sizeof(float)));
        WW_TRY(ww_host_near_f32(h, names[i], p.got, p.want[i], p.scale, p.voxels, 1));
    }
    return WW_OK;
}

static enum ww_code run(const void *settings, struct ww_device *device, uint64_t seed, struct ww_error *error) {
    return ww_host_run("mri_q", body, settings, device, seed, error);
}

const struct ww_workload_ops ww_workload_mri_q = {
    .name = "mri_q",
    .help = "MRI reconstruction matrix: sums of sines and cosines, special-function units",
    .params = params,
    .param_count = sizeof params / sizeof params[0],
    .param_text = PARAMS(WW_TEXT_U32, WW_TEXT_ENUM),
    .settings_size = sizeof(struct settings),
    .ptx_name = "mri_q",
    .run = run,
};
