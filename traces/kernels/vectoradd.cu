/* vectoradd: c = a + b, one element (or one float4) per thread. Streams memory, hardly computes. */
#include "ww_device.h"

extern "C" __global__ void vectoradd_scalar(const float *__restrict__ a, const float *__restrict__ b,
                                            float *__restrict__ c, unsigned n) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) c[i] = a[i] + b[i];
}

/* n is a multiple of 4 elements; `quads` = n / 4. */
extern "C" __global__ void vectoradd_vec4(const float4 *__restrict__ a, const float4 *__restrict__ b,
                                          float4 *__restrict__ c, unsigned quads) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= quads) return;
    float4 x = a[i], y = b[i];
    c[i] = make_float4(x.x + y.x, x.y + y.y, x.z + y.z, x.w + y.w);
}
