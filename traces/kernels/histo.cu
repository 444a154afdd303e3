/* histo: a histogram of many bins whose counts stop at 255, for data around few of them. Bins are rows of 2^log
 * columns. Counts of the popular rows are kept in bytes in shared memory, a band of BAND bins in a CTA; other
 * bins are counted in global memory. */
#include "ww_device.h"

#define BAND 24576 /* bins of a CTA: 24 KiB; as the host has it */
#define WORDS (BAND / 4)
#define OTHER 0x80000000u /* marks a value in no band: the bin follows */
#define MOST 255u

#define PRESCAN 512 /* threads */

/* The sum of v over the CTA, for all threads; a function for each kernel, since a shared one compiles otherwise. */
template <int KERNEL> static __device__ __forceinline__ unsigned add_up(unsigned *sum, unsigned v) {
    __syncthreads();
    sum[threadIdx.x] = v;
    __syncthreads();
#pragma unroll 1
    for (unsigned step = PRESCAN / 2; step > 0; step /= 2) {
        if (threadIdx.x < step) sum[threadIdx.x] += sum[threadIdx.x + step];
        __syncthreads();
    }
    return sum[0];
}

/* range: the rows within four mean deviations of the mean, over all CTAs. Each takes a share of the data. */
extern "C" __global__ void histo_prescan(const unsigned *__restrict__ data, int *range, unsigned n,
                                         unsigned log) {
    __shared__ unsigned sum[PRESCAN];
    unsigned first = blockIdx.x * PRESCAN + threadIdx.x, step = gridDim.x * PRESCAN, total = 0, count = 0;
#pragma unroll 1
    for (unsigned i = first; i < n; i += step, count++) total += data[i] >> log;
    count = add_up<0>(sum, count);
    int mean = (int)(add_up<0>(sum, total) / count);
    total = 0;
#pragma unroll 1
    for (unsigned i = first; i < n; i += step) {
        int off = (int)(data[i] >> log) - mean;
        total += (unsigned)(off < 0 ? -off : off);
    }
    int width = (int)(4 * add_up<0>(sum, total) / count) + 1;
    if (threadIdx.x != 0) return;
    atomicMin(&range[0], mean - width);
    atomicMax(&range[1], mean + width);
}

/* Where a bin is counted: band << 16 | place in it, or OTHER | bin. */
static __device__ __forceinline__ unsigned map(unsigned bin, unsigned first, unsigned bins) {
    unsigned from = bin - first, band = from / BAND;
    return from < bins ? band << 16 | (from - band * BAND) : OTHER | bin;
}

/* A thread takes two columns of 16 rows of the image. `bins` are counted in bands, from bin `first`. */
extern "C" __global__ void histo_intermediates(const uint2 *__restrict__ image, uint2 *__restrict__ mapping,
                                               unsigned height, unsigned first, unsigned bins) {
    unsigned row = blockIdx.x * 16, last = row + 16 < height ? row + 16 : height;
#pragma unroll 1
    for (; row < last; row++) {
        unsigned i = row * blockDim.x + threadIdx.x;
        uint2 v = image[i], m;
        m.x = map(v.x, first, bins);
        m.y = map(v.y, first, bins);
        mapping[i] = m;
    }
}

/* CTA (part, band) counts the values of a part of the data that fall into a band; those of the first band also
 * count what is in no band. parts: WORDS for each band and part. */
extern "C" __global__ void histo_main(const unsigned *__restrict__ mapping, unsigned *__restrict__ parts,
                                      unsigned *other, unsigned n) {
    __shared__ unsigned count[WORDS];
    unsigned band = blockIdx.y;
    for (unsigned w = threadIdx.x; w < WORDS; w += blockDim.x) count[w] = 0;
    __syncthreads();
#pragma unroll 1
    for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
        unsigned m = mapping[i];
        if (m >> 16 == band) {
            unsigned *word = &count[(m & 0xffff) / 4], shift = m % 4 * 8, old = *word;
            while ((old >> shift & MOST) != MOST) {
                unsigned seen = atomicCAS(word, old, old + (1u << shift));
                if (seen == old) break;
                old = seen;
            }
        } else if (m >= OTHER && band == 0) {
            atomicAdd(&other[m - OTHER], 1u);
        }
    }
    __syncthreads();
    unsigned *to = parts + (band * gridDim.x + blockIdx.x) * WORDS;
    for (unsigned w = threadIdx.x; w < WORDS; w += blockDim.x) to[w] = count[w];
}

static __device__ __forceinline__ unsigned at_most(unsigned v) {
    return v < MOST ? v : MOST;
}

/* histogram: four counts in a word, from the parts of the band or from global memory. All in words of them. */
extern "C" __global__ void histo_final(const unsigned *__restrict__ parts, const uint4 *__restrict__ other,
                                       unsigned *__restrict__ histogram, unsigned words, unsigned first,
                                       unsigned banded, unsigned part_count) {
#pragma unroll 1
    for (unsigned w = blockIdx.x * blockDim.x + threadIdx.x; w < words; w += gridDim.x * blockDim.x) {
        unsigned from = w - first;
        uint4 sum = make_uint4(0, 0, 0, 0);
        if (from < banded) {
            const unsigned *p = parts + from / WORDS * part_count * WORDS + from % WORDS;
#pragma unroll 1
            for (unsigned k = 0; k < part_count; k++, p += WORDS) {
                unsigned v = *p;
                sum.x += v & 255;
                sum.y += v >> 8 & 255;
                sum.z += v >> 16 & 255;
                sum.w += v >> 24;
            }
        } else {
            sum = other[w];
        }
        histogram[w] = at_most(sum.x) | at_most(sum.y) << 8 | at_most(sum.z) << 16 | at_most(sum.w) << 24;
    }
}

/* The same from the first eighth of the share of each CTA, whose values lie side by side. */
extern "C" __global__ void histo_prescan_eighth(const unsigned *__restrict__ data, int *range, unsigned n,
                                                unsigned log) {
    __shared__ unsigned sum[PRESCAN];
    unsigned share = n / gridDim.x, from = blockIdx.x * share, end = from + share / 8, total = 0, count = 0;
#pragma unroll 1
    for (unsigned i = from + threadIdx.x; i < end; i += PRESCAN, count++) total += data[i] >> log;
    count = add_up<1>(sum, count);
    if (count == 0) return;
    int mean = (int)(add_up<1>(sum, total) / count);
    total = 0;
#pragma unroll 1
    for (unsigned i = from + threadIdx.x; i < end; i += PRESCAN) {
        int off = (int)(data[i] >> log) - mean;
        total += (unsigned)(off < 0 ? -off : off);
    }
    int width = (int)(4 * add_up<1>(sum, total) / count) + 1;
    if (threadIdx.x != 0) return;
    atomicMin(&range[0], mean - width);
    atomicMax(&range[1], mean + width);
}
