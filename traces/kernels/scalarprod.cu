/* scalarprod: the scalar products of pairs of vectors, in the way of the CUDA SDK's sample. A CTA of 64 threads
 * takes a pair; 1024 partial sums, 16 by a thread, one after the other, are added up by a tree in shared
 * memory. The sample stores each sum as soon as it is known; here all wait in registers for the first store, so
 * that shared memory is used by the tree alone. */
#include "ww_device.h"

#define THREADS 64
#define SUMS 1024
#define EACH (SUMS / THREADS)
#define LAST 4

/* Elements [at, end) of a and b, SUMS apart. */
static __device__ __forceinline__ float partial(const float *a, const float *b, unsigned at, unsigned end) {
    float sum = 0.0f;
#pragma unroll 1
    for (; at < end; at += SUMS) sum += a[at] * b[at];
    return sum;
}

static __device__ __forceinline__ float partial_last(const float *a, const float *b, unsigned at,
                                                     unsigned end) {
    float sum = 0.0f;
#pragma unroll 1
    for (; at < end; at += SUMS) sum += a[at] * b[at];
    return sum;
}

extern "C" __global__ void scalarprod_pair(float *out, const float *a, const float *b, unsigned pairs,
                                           unsigned n) {
    __shared__ float sums[SUMS];
    unsigned t = threadIdx.x;
    for (unsigned pair = blockIdx.x; pair < pairs; pair += gridDim.x) {
        unsigned base = pair * n, end = base + n;
        float sum[EACH];
#pragma unroll
        for (unsigned i = 0; i < EACH - LAST; i++) sum[i] = partial(a, b, base + i * THREADS + t, end);
#pragma unroll
        for (unsigned i = EACH - LAST; i < EACH; i++) sum[i] = partial_last(a, b, base + i * THREADS + t, end);
#pragma unroll
        for (unsigned i = 0; i < EACH; i++) sums[i * THREADS + t] = sum[i];
        for (unsigned s = SUMS / 2; s > 0; s /= 2) {
            __syncthreads();
            for (unsigned i = t; i < s; i += THREADS) sums[i] += sums[s + i];
        }
        if (t == 0) out[pair] = sums[0];
    }
}
