/* micro: microbenchmarks of the memory hierarchy, after X. Mei and X. Chu, "Dissecting GPU Memory Hierarchy
 * through Microbenchmarking" (TPDS 2017). They do not read the clock: a replay tells when each load issues. */
#include "ww_device.h"

extern __shared__ unsigned words[];

/* Listing 3: one thread, each load at the index that the one before brought; `warm` of them first. The indices
 * are kept in shared memory, as the paper does, so that nothing else goes to global memory meanwhile. */
template <typename Load>
static __device__ __forceinline__ void chase(Load load, unsigned *index, unsigned warm, unsigned n) {
    unsigned j = 0;
    for (unsigned i = 0; i < warm; i++) j = load(j);
    for (unsigned i = 0; i < n; i++) {
        j = load(j);
        words[i] = j;
    }
    for (unsigned i = 0; i < n; i++) index[i] = words[i];
}

extern "C" __global__ void pchase_global(const unsigned *a, unsigned *index, unsigned warm, unsigned n) {
    chase([=](unsigned j) { return a[j]; }, index, warm, n);
}

extern "C" __global__ void pchase_readonly(const unsigned *__restrict__ a, unsigned *__restrict__ index,
                                           unsigned warm, unsigned n) {
    unsigned j = 0;
    for (unsigned i = 0; i < warm; i++) j = a[j];
    for (unsigned i = 0; i < n; i++) {
        j = a[j];
        words[i] = j;
    }
    for (unsigned i = 0; i < n; i++) index[i] = words[i];
}

/* The array itself is in shared memory, the last index alone is kept. */
extern "C" __global__ void pchase_shared(const unsigned *a, unsigned *index, unsigned size, unsigned n) {
    unsigned j = 0;
    for (unsigned i = 0; i < size; i++) words[i] = a[i];
    for (unsigned i = 0; i < n; i++) j = words[j];
    index[0] = j;
}

/* Listing 4: a warp whose threads read words `stride` apart, n times. */
extern "C" __global__ void smem_stride(unsigned *out, unsigned stride, unsigned n) {
    unsigned j = threadIdx.x * stride;
    words[j] = j;
    __syncthreads();
    for (unsigned i = 0; i < n; i++) j = words[j];
    out[threadIdx.x] = j;
}

/* Section 5.1: ILP words of 4 bytes a thread at a time; n is a multiple of ILP times the number of threads. */
template <unsigned ILP>
static __device__ __forceinline__ void gcopy(const unsigned *from, unsigned *to, unsigned n) {
    unsigned row = gridDim.x * blockDim.x;
    for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += row * ILP) {
        unsigned v[ILP];
#pragma unroll
        for (unsigned k = 0; k < ILP; k++) v[k] = from[i + k * row];
#pragma unroll
        for (unsigned k = 0; k < ILP; k++) to[i + k * row] = v[k];
    }
}
#define GCOPY(ilp)                                                                                             \
    extern "C" __global__ void gcopy_##ilp(const unsigned *from, unsigned *to, unsigned n) {                   \
        gcopy<ilp>(from, to, n);                                                                               \
    }
GCOPY(1)
GCOPY(2)
GCOPY(4)
GCOPY(8)

/* Section 6.1: from one half of the CTA's shared memory to the other, `repeats` times between barriers. */
template <unsigned ILP>
static __device__ __forceinline__ void scopy(const unsigned *from, unsigned *to, unsigned repeats) {
    unsigned row = blockDim.x, t = threadIdx.x, n = row * ILP;
    volatile unsigned *a = words, *b = words + n;
#pragma unroll
    for (unsigned k = 0; k < ILP; k++) a[t + k * row] = from[blockIdx.x * n + t + k * row];
    for (unsigned r = 0; r < repeats; r++) {
        __syncthreads();
        unsigned v[ILP];
#pragma unroll
        for (unsigned k = 0; k < ILP; k++) v[k] = a[t + k * row];
#pragma unroll
        for (unsigned k = 0; k < ILP; k++) b[t + k * row] = v[k];
        __syncthreads();
    }
#pragma unroll
    for (unsigned k = 0; k < ILP; k++) to[blockIdx.x * n + t + k * row] = b[t + k * row];
}
#define SCOPY(ilp)                                                                                             \
    extern "C" __global__ void scopy_##ilp(const unsigned *from, unsigned *to, unsigned repeats) {             \
        scopy<ilp>(from, to, repeats);                                                                         \
    }
SCOPY(1)
SCOPY(2)
SCOPY(4)
SCOPY(6)
SCOPY(8)
