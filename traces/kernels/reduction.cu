/* reduction: each CTA sums a part of the input and writes one partial sum; the host launches the kernel
 * again over the partial sums until one is left. blockDim.x is a power of two, with as many floats of
 * dynamic shared memory. The three variants differ in how a CTA adds up its threads' sums. */
#include "ww_device.h"

extern __shared__ float partial[];

/* A thread's own share: elements one grid apart. */
static __device__ __forceinline__ float thread_sum(const float *__restrict__ in, unsigned n) {
    unsigned stride = gridDim.x * blockDim.x;
    float sum = 0.0f;
    for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += stride) sum += in[i];
    return sum;
}

/* Neighbours first: the active threads are spread over all warps, so every warp diverges. */
extern "C" __global__ void reduction_interleaved(const float *__restrict__ in, float *__restrict__ out,
                                                 unsigned n) {
    unsigned t = threadIdx.x;
    partial[t] = thread_sum(in, n);
    __syncthreads();
    for (unsigned s = 1; s < blockDim.x; s *= 2) {
        if ((t & (2 * s - 1)) == 0) partial[t] += partial[t + s];
        __syncthreads();
    }
    if (t == 0) out[blockIdx.x] = partial[0];
}

/* Halves first: the active threads are consecutive, whole warps fall idle. */
extern "C" __global__ void reduction_sequential(const float *__restrict__ in, float *__restrict__ out,
                                                unsigned n) {
    unsigned t = threadIdx.x;
    partial[t] = thread_sum(in, n);
    __syncthreads();
    for (unsigned s = blockDim.x / 2; s > 0; s /= 2) {
        if (t < s) partial[t] += partial[t + s];
        __syncthreads();
    }
    if (t == 0) out[blockIdx.x] = partial[0];
}

static __device__ __forceinline__ float warp_sum(float v) {
#pragma unroll
    for (int delta = 16; delta > 0; delta /= 2) v += __shfl_down_sync(0xffffffffu, v, delta);
    return v;
}

/* Within warps by shuffles, between them through shared memory. blockDim.x is a multiple of 32. */
extern "C" __global__ void reduction_shuffle(const float *__restrict__ in, float *__restrict__ out,
                                             unsigned n) {
    unsigned t = threadIdx.x, warps = blockDim.x / 32;
    float sum = warp_sum(thread_sum(in, n));
    if ((t & 31) == 0) partial[t / 32] = sum;
    __syncthreads();
    if (t < 32) {
        sum = warp_sum(t < warps ? partial[t] : 0.0f);
        if (t == 0) out[blockIdx.x] = sum;
    }
}

/* Neighbours first again, by consecutive threads: the distance of their words doubles at each step, and with it the
 * conflicts in shared memory. */
extern "C" __global__ void reduction_strided(const float *__restrict__ in, float *__restrict__ out, unsigned n) {
    unsigned t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
    partial[t] = i < n ? in[i] : 0.0f;
    __syncthreads();
#pragma unroll 1
    for (unsigned s = 1; s < blockDim.x; s *= 2) {
        unsigned at = 2 * s * t;
        if (at < blockDim.x) partial[at] += partial[at + s];
        __syncthreads();
    }
    if (t == 0) out[blockIdx.x] = partial[0];
}
