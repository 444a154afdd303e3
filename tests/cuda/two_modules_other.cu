// The second translation unit of two_modules.cu; it has a kernel and a variable of the same names as the first.
#include "check.h"

static __device__ int sum;
static __global__ void none(int *p) {
    atomicAdd(&sum, p[threadIdx.x]);
}

int launch_other(int *p) {
    int h[32], got;
    for (int i = 0; i < 32; i++) h[i] = i;
    CHECK(cudaMemcpy(p, h, sizeof h, cudaMemcpyHostToDevice));
    none<<<1, 32>>>(p);
    CHECK(cudaMemcpyFromSymbol(&got, sum, sizeof got));
    return got;
}
