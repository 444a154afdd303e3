/* device_math: applies the functions of ww_device.h; function f of x[i] lands in out[f * n + i]. */
#include "ww_device.h"

extern "C" __global__ void device_math(const float *__restrict__ x, float *__restrict__ out, unsigned n) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float v = x[i], a = ww_fabsf(v);
    out[i] = ww_expf(v);
    out[n + i] = ww_logf(a);
    out[2 * n + i] = ww_sinf(v);
    out[3 * n + i] = ww_cosf(v);
    out[4 * n + i] = ww_tanhf(v);
    out[5 * n + i] = ww_sqrtf(a);
    out[6 * n + i] = ww_rsqrtf(a);
    out[7 * n + i] = ww_powf(a, 1.5f);
    out[8 * n + i] = ww_fast_sinf(v);
    out[9 * n + i] = ww_fast_cosf(v);
    out[10 * n + i] = ww_floorf(v);
    out[11 * n + i] = ww_ceilf(v);
    out[12 * n + i] = ww_truncf(v);
    out[13 * n + i] = ww_rintf(v);
    out[14 * n + i] = ww_fminf(v, ww_fmaxf(1.0f, -v));
    out[15 * n + i] = ww_fast_rcpf(v);
}
