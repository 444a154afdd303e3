/* scalarprod: the scalar products of pairs of vectors. A CTA of 64 threads takes a pair; 1024 partial sums, 16
 * by a thread, are added up by a tree in shared memory. */
#include "ww_device.h"

#define THREADS 64
#define SUMS 1024

extern "C" __global__ void scalarprod_pair(const float *__restrict__ a, const float *__restrict__ b,
                                           float *__restrict__ out, unsigned n) {
    __shared__ float sums[SUMS];
    unsigned t = threadIdx.x, base = blockIdx.x * n;
    float sum[SUMS / THREADS];
#pragma unroll
    for (unsigned i = 0; i < SUMS / THREADS; i++) sum[i] = 0.0f;
    const float *pa = a + base + t, *pb = b + base + t;
    for (unsigned at = 0; at < n; at += SUMS, pa += SUMS, pb += SUMS) {
#pragma unroll
        for (unsigned i = 0; i < SUMS / THREADS; i++) sum[i] += pa[i * THREADS] * pb[i * THREADS];
    }
#pragma unroll
    for (unsigned i = 0; i < SUMS / THREADS; i++) sums[i * THREADS + t] = sum[i];
    for (unsigned s = SUMS / 2; s > 0; s /= 2) {
        __syncthreads();
        for (unsigned i = t; i < s; i += THREADS) sums[i] += sums[s + i];
    }
    if (t == 0) out[blockIdx.x] = sums[0];
}
