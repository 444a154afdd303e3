/* kernels.cu: the device code of host.c. ww_device.h declares CUDA's names for clang. The PTX beside it is committed;
 * build.sh makes it. */
#include "ww_device.h"

__constant__ float scale[4];
__device__ int hits;
__device__ unsigned long long where = 42;

extern "C" __global__ void saxpy(int n, float a, const float *x, float *y) {
    int i = (int)(blockIdx.x * blockDim.x + threadIdx.x);
    if (i < n) y[i] = a * x[i] + y[i] * scale[i & 3];
}

extern "C" __global__ void count(const int *p, int n, int limit) {
    int i = (int)(blockIdx.x * blockDim.x + threadIdx.x);
    if (i < n && p[i] > limit) atomicAdd(&hits, 1);
}

struct pair {
    char small;
    double large;
};

extern "C" __global__ void fields(pair a, short b, pair c, double *out) {
    *out = a.small + a.large + b + c.small + c.large + (double)where;
}

extern "C" __global__ void outside(int *p) {
    p[1u << 28] = 1;
}
