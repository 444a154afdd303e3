/* bytehist: the histogram of values below 128, in the way of AMD's OpenCL sample. Each of the 64 threads of a
 * CTA counts 128 values in bytes of its own in shared memory, so that no count needs an atomic; then each adds
 * up two bins over all threads. The host adds the CTAs' histograms. bytehist_peeled takes the first 16 values
 * before the counters are cleared: the loop is peeled, so that there is something to do ahead of shared memory.
 * bytehist_co_vtb is CO-VTB written by hand: two CTAs in one, each with bins 0 to 123 of its own. The last four
 * bins are counted in a register, whose bytes they fill, and go through shared memory that both use in turns.
 */
#include "ww_device.h"

#define THREADS 64
#define BINS 128
#define FIRST 16
#define OWN 124

static __device__ __forceinline__ void clear(unsigned char *count, unsigned t, unsigned bins) {
    unsigned *word = (unsigned *)count;
    for (unsigned i = 0; i < bins / 4; i++) word[i * THREADS + t] = 0;
}

/* Bins [0, bins) of all threads, whose counters lie `bins` bytes apart: thread t adds up every 64th. */
static __device__ __forceinline__ void add_up(const unsigned char *count, unsigned *out, unsigned t,
                                              unsigned bins) {
    for (unsigned b = t; b < bins; b += THREADS) {
        unsigned sum = 0;
        for (unsigned i = 0; i < THREADS; i++) sum += count[i * bins + b];
        out[b] = sum;
    }
}

extern "C" __global__ void bytehist_count(const unsigned *data, unsigned *out) {
    __shared__ unsigned char count[BINS * THREADS];
    unsigned t = threadIdx.x;
    const unsigned *from = data + blockIdx.x * THREADS * BINS + t;
    clear(count, t, BINS);
    __syncthreads();
#pragma unroll 1
    for (unsigned i = 0; i < BINS; i++) count[t * BINS + from[i * THREADS]]++;
    __syncthreads();
    add_up(count, out + blockIdx.x * BINS, t, BINS);
}

extern "C" __global__ void bytehist_peeled(const unsigned *data, unsigned *out) {
    __shared__ unsigned char count[BINS * THREADS];
    unsigned t = threadIdx.x, first[FIRST];
    const unsigned *from = data + blockIdx.x * THREADS * BINS + t;
#pragma unroll
    for (unsigned i = 0; i < FIRST; i++) first[i] = from[i * THREADS];
    clear(count, t, BINS);
    __syncthreads();
#pragma unroll
    for (unsigned i = 0; i < FIRST; i++) count[t * BINS + first[i]]++;
#pragma unroll 1
    for (unsigned i = FIRST; i < BINS; i++) count[t * BINS + from[i * THREADS]]++;
    __syncthreads();
    add_up(count, out + blockIdx.x * BINS, t, BINS);
}

/* Bins [OWN, BINS) from words of four counters. */
static __device__ __forceinline__ void add_public(const unsigned *word, unsigned *out, unsigned t) {
    if (t >= BINS - OWN) return;
    unsigned sum = 0;
    for (unsigned i = 0; i < THREADS; i++) sum += word[i] >> (8 * t) & 255;
    out[OWN + t] = sum;
}

/* Counts all values of a CTA's share: those of its own bins there, the rest in the word that is returned. */
static __device__ __forceinline__ unsigned count_own(unsigned char *own, const unsigned *from, unsigned t) {
    unsigned last = 0;
#pragma unroll 1
    for (unsigned i = 0; i < BINS; i++) {
        unsigned v = from[i * THREADS];
        if (v < OWN)
            own[t * OWN + v]++;
        else
            last += 1u << 8 * (v - OWN);
    }
    return last;
}

extern "C" __global__ void bytehist_co_vtb(const unsigned *data, unsigned *out) {
    __shared__ unsigned char count[2][OWN * THREADS];
    __shared__ unsigned both[THREADS];
    unsigned v_tb = threadIdx.x / THREADS, t = threadIdx.x % THREADS, part = blockIdx.x * 2 + v_tb;
    unsigned char *own = count[v_tb];
    clear(own, t, OWN);
    __syncthreads();
    unsigned last = count_own(own, data + part * THREADS * BINS + t, t);
    __syncthreads();
    add_up(own, out + part * BINS, t, OWN);
    if (v_tb == 0) both[t] = last;
    __syncthreads();
    if (v_tb == 0) add_public(both, out + part * BINS, t);
    __syncthreads();
    if (v_tb == 1) both[t] = last;
    __syncthreads();
    if (v_tb == 1) add_public(both, out + part * BINS, t);
}

/* Private counters, public words, and the 32 bytes that the host adds behind. */
struct parts {
    unsigned char own[OWN * THREADS];
    unsigned both[THREADS];
};

extern "C" __global__ void bytehist_co_hw(const unsigned *data, unsigned *out) {
    __shared__ parts shared;
    unsigned t = threadIdx.x;
    clear(shared.own, t, OWN);
    __syncthreads();
    unsigned last = count_own(shared.own, data + blockIdx.x * THREADS * BINS + t, t);
    __syncthreads();
    add_up(shared.own, out + blockIdx.x * BINS, t, OWN);
    ww_smem_alloc(288);
    shared.both[t] = last;
    __syncthreads();
    add_public(shared.both, out + blockIdx.x * BINS, t);
    ww_smem_free(288);
}
