/* saxpy: y = factor x + y over a grid-stride loop, so that one thread takes several elements. */
#include "ww_device.h"

extern "C" __global__ void saxpy(unsigned n, float factor, const float *__restrict__ x, float *__restrict__ y) {
    unsigned stride = gridDim.x * blockDim.x;
    for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += stride) y[i] = factor * x[i] + y[i];
}
