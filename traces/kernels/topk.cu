/* topk: the k largest of each row of floats, largest first, and their columns. Of equal elements any is taken.
 * `radix`, a CTA a row: four digits of 8 bits, counted in shared memory, tell the k-th largest; what is above it is
 * gathered and sorted in shared memory. `warp`, a warp a row of at most 256: the largest is taken k times, as in the
 * gate of a mixture of experts. */
#include "ww_half.h"

#define MOST 1024 /* of k under radix */

/* Keys are ordered as the floats are. */
static __device__ __forceinline__ unsigned to_key(float v) {
    int bits = ww_float_as_int(v);
    return (unsigned)bits ^ ((unsigned)(bits >> 31) | 0x80000000u);
}
static __device__ __forceinline__ float to_float(unsigned key) {
    return ww_int_as_float((int)(key ^ ((key & 0x80000000u) ? 0x80000000u : 0xffffffffu)));
}

static __device__ __forceinline__ void keys(unsigned (&key)[4], const float4 *at) {
    ww_load_words(key, at);
#pragma unroll
    for (int i = 0; i < 4; i++) key[i] = to_key(ww_int_as_float((int)key[i]));
}

/* The first warp finds the digit in which the `left`-th largest lies, and how many it is the largest of there. */
static __device__ __forceinline__ void choose(const unsigned *count, unsigned left, unsigned *chosen, unsigned *rest) {
    unsigned lane = threadIdx.x, sum = 0, above, mine[8];
#pragma unroll
    for (int i = 0; i < 8; i++) sum += mine[i] = count[255 - (lane * 8 + i)];
    above = sum;
#pragma unroll
    for (int step = 1; step < 32; step *= 2) {
        unsigned other = (unsigned)__shfl_sync(0xffffffffu, (int)above, lane >= (unsigned)step ? lane - step : lane);
        if (lane >= (unsigned)step) above += other;
    }
    above -= sum;
    if (above < left && left <= above + sum)
        for (int i = 0; i < 8; i++) {
            if (left <= above + mine[i]) {
                *chosen = 255 - (lane * 8 + i);
                *rest = left - above;
                break;
            }
            above += mine[i];
        }
}

/* Sorts n (a power of two) keys with their columns, largest first. */
static __device__ __forceinline__ void sort(unsigned *key, unsigned *column, unsigned n) {
    for (unsigned size = 2; size <= n; size *= 2)
        for (unsigned step = size / 2; step > 0; step /= 2) {
            __syncthreads();
            for (unsigned t = threadIdx.x; t < n / 2; t += blockDim.x) {
                unsigned a = t / step * step * 2 + t % step, b = a + step;
                if ((key[a] < key[b]) == ((a & size) == 0)) {
                    unsigned k = key[a], c = column[a];
                    key[a] = key[b], column[a] = column[b];
                    key[b] = k, column[b] = c;
                }
            }
        }
    __syncthreads();
}

/* The width is a multiple of 4; sorted: the power of two from k on. */
extern "C" __global__ void topk_radix(const float4 *in, float *value, unsigned *index, unsigned width, unsigned k,
                                      unsigned sorted) {
    __shared__ unsigned count[256], key[MOST], column[MOST], chosen, rest, taken, equal;
    const float4 *row = in + (unsigned long)blockIdx.x * (width / 4);
    unsigned prefix = 0, known = 0, left = k;
    for (int shift = 24; shift >= 0; shift -= 8) {
        for (unsigned i = threadIdx.x; i < 256; i += blockDim.x) count[i] = 0;
        __syncthreads();
        for (unsigned i = threadIdx.x; i < width / 4; i += blockDim.x) {
            unsigned key4[4];
            keys(key4, row + i);
#pragma unroll
            for (int j = 0; j < 4; j++)
                if ((key4[j] & known) == prefix) atomicAdd(&count[key4[j] >> shift & 255], 1u);
        }
        __syncthreads();
        if (threadIdx.x < 32) choose(count, left, &chosen, &rest);
        __syncthreads();
        prefix |= chosen << shift;
        known |= 255u << shift;
        left = rest;
    }
    if (threadIdx.x == 0) taken = equal = 0;
    for (unsigned i = threadIdx.x; i < sorted; i += blockDim.x) key[i] = 0, column[i] = 0;
    __syncthreads();
    for (unsigned i = threadIdx.x; i < width / 4; i += blockDim.x) {
        unsigned key4[4];
        keys(key4, row + i);
#pragma unroll
        for (unsigned j = 0; j < 4; j++) {
            if (key4[j] < prefix || (key4[j] == prefix && atomicAdd(&equal, 1u) >= left)) continue;
            unsigned at = atomicAdd(&taken, 1u);
            key[at] = key4[j];
            column[at] = i * 4 + j;
        }
    }
    sort(key, column, sorted);
    for (unsigned i = threadIdx.x; i < k; i += blockDim.x) {
        value[blockIdx.x * k + i] = to_float(key[i]);
        index[blockIdx.x * k + i] = column[i];
    }
}

#define PIECES 8 /* of 32 columns of a row under warp */

extern "C" __global__ void topk_warp(const float *in, float *value, unsigned *index, unsigned rows, unsigned width,
                                     unsigned k) {
    unsigned row = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
    unsigned key[PIECES], none = 0;
    if (row >= rows) return;
#pragma unroll
    for (unsigned i = 0; i < PIECES; i++) {
        unsigned c = i * 32 + lane;
        key[i] = c < width ? to_key(in[(unsigned long)row * width + c]) : none;
    }
    for (unsigned n = 0; n < k; n++) {
        unsigned best = none, piece = 0;
#pragma unroll
        for (unsigned i = 0; i < PIECES; i++)
            if (key[i] > best) best = key[i], piece = i;
        unsigned column = piece * 32 + lane;
#pragma unroll
        for (int lanes = 16; lanes > 0; lanes /= 2) {
            unsigned k2 = (unsigned)__shfl_xor_sync(0xffffffffu, (int)best, lanes);
            unsigned c2 = (unsigned)__shfl_xor_sync(0xffffffffu, (int)column, lanes);
            if (k2 > best || (k2 == best && c2 < column)) best = k2, column = c2;
        }
#pragma unroll
        for (unsigned i = 0; i < PIECES; i++)
            if (column == i * 32 + lane) key[i] = none;
        if (lane == 0) value[row * k + n] = to_float(best), index[row * k + n] = column;
    }
}
