/* bytehist: the histogram of values below 128. Each of the 64 threads of a CTA counts in bytes of its own in
 * shared memory, so that no count needs an atomic; then each adds up two bins over all threads. The host adds
 * the CTAs' histograms. A thread takes at most 255 values, the first 16 before the counters are cleared: the
 * loop is peeled, so that there is something to do ahead of shared memory. */
#include "ww_device.h"

#define THREADS 64
#define BINS 128
#define FIRST 16

extern "C" __global__ void bytehist_count(const unsigned *__restrict__ data, unsigned *__restrict__ out,
                                          unsigned each) {
    __shared__ unsigned char count[BINS * THREADS];
    unsigned t = threadIdx.x, *word = (unsigned *)count;
    const unsigned *from = data + blockIdx.x * THREADS * each + t;
    unsigned first[FIRST];
#pragma unroll
    for (unsigned i = 0; i < FIRST; i++) first[i] = from[i * THREADS];
    for (unsigned i = t; i < BINS * THREADS / 4; i += THREADS) word[i] = 0;
    __syncthreads();
#pragma unroll
    for (unsigned i = 0; i < FIRST; i++) count[first[i] * THREADS + t]++;
#pragma unroll 4
    for (unsigned i = FIRST; i < each; i++) count[from[i * THREADS] * THREADS + t]++;
    __syncthreads();
    for (unsigned b = t; b < BINS; b += THREADS) {
        unsigned sum = 0;
        for (unsigned i = 0; i < THREADS; i++) sum += count[b * THREADS + (i + 4 * t) % THREADS];
        out[blockIdx.x * BINS + b] = sum;
    }
}
