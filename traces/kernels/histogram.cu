/* histogram: how often each value below `bins` occurs. */
#include "ww_device.h"

extern __shared__ unsigned bin[];

/* Each CTA counts in its own bins in shared memory and adds them to the result once. */
extern "C" __global__ void histogram_shared(const unsigned *__restrict__ data, unsigned *count, unsigned n,
                                            unsigned bins) {
    for (unsigned b = threadIdx.x; b < bins; b += blockDim.x) bin[b] = 0;
    __syncthreads();
    unsigned stride = gridDim.x * blockDim.x;
    for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += stride) atomicAdd(&bin[data[i]], 1u);
    __syncthreads();
    for (unsigned b = threadIdx.x; b < bins; b += blockDim.x)
        if (bin[b]) atomicAdd(&count[b], bin[b]);
}

/* All CTAs count in the result itself. */
extern "C" __global__ void histogram_global(const unsigned *__restrict__ data, unsigned *count, unsigned n,
                                            unsigned bins) {
    (void)bins;
    unsigned stride = gridDim.x * blockDim.x;
    for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += stride) atomicAdd(&count[data[i]], 1u);
}

/* Values are bytes, four to a word; each CTA counts in shared memory. words: of data. */
extern "C" __global__ void histogram_bytes(const unsigned *__restrict__ data, unsigned *count, unsigned words,
                                           unsigned bins) {
    for (unsigned b = threadIdx.x; b < bins; b += blockDim.x) bin[b] = 0;
    __syncthreads();
    unsigned stride = gridDim.x * blockDim.x;
    for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < words; i += stride) {
        unsigned four = data[i];
        atomicAdd(&bin[four & 255], 1u);
        atomicAdd(&bin[four >> 8 & 255], 1u);
        atomicAdd(&bin[four >> 16 & 255], 1u);
        atomicAdd(&bin[four >> 24], 1u);
    }
    __syncthreads();
    for (unsigned b = threadIdx.x; b < bins; b += blockDim.x)
        if (bin[b]) atomicAdd(&count[b], bin[b]);
}
