/* gemv_int4: y = W x with weights of 4 bits, x and y of halves: the product of a projection while a token is decoded.
 * A group of 128 weights of a row shares a scale of half precision: weight = (q - 8) * scale. A word holds 8 weights;
 * its nibbles 0 to 3 are the even ones and 4 to 7 the odd ones, so that a shift and a mask give a pair. Put below the
 * exponent of 1024, a nibble becomes the half 1024 + q without a conversion.
 * CTAs of 128 threads; a warp has ROWS rows, and each of its lanes 32 weights at a time, a load of 16 bytes. x is
 * converted by nobody: products of pairs are halves, their sums floats. The depth is a multiple of 1024. */
#include "ww_half.h"

#define WARPS 4
#define ROWS 2
#define LANE_DEPTH 32                /* weights of a load */
#define WARP_DEPTH (32 * LANE_DEPTH) /* of a warp's */
#define GROUP 128

/* The products of 8 weights with 8 of x. */
static __device__ __forceinline__ float eight(unsigned q, const unsigned (&x)[4]) {
    unsigned sum = 0;
#pragma unroll
    for (int i = 0; i < 4; i++) {
        unsigned pair = (q >> (4 * i) & 0x000f000fu) | 0x64006400u;         /* 1024 + q */
        sum = ww_half2_fma(ww_half2_sub(pair, 0x64086408u), x[i], sum);     /* less 1032 */
    }
    return ww_half_low(sum) + ww_half_high(sum);
}

extern "C" __global__ void __launch_bounds__(128)
    gemv_int4(const unsigned *weight, const unsigned short *scale, const unsigned short *x, unsigned short *y,
              unsigned rows, unsigned depth) {
    unsigned lane = threadIdx.x % 32, row = (blockIdx.x * WARPS + threadIdx.x / 32) * ROWS;
    float sum[ROWS];
    if (row >= rows) return;
#pragma unroll
    for (int r = 0; r < ROWS; r++) sum[r] = 0;
    for (unsigned at = lane * LANE_DEPTH; at < depth; at += WARP_DEPTH) {
        unsigned q[ROWS][4], v[4][4];
#pragma unroll
        for (int r = 0; r < ROWS; r++) ww_load_words(q[r], weight + ((unsigned long)(row + r) * depth + at) / 8);
#pragma unroll
        for (int i = 0; i < 4; i++) ww_load_words(v[i], x + at + 8 * i);
#pragma unroll
        for (int r = 0; r < ROWS; r++) {
            float part = 0;
#pragma unroll
            for (int i = 0; i < 4; i++) part += eight(q[r][i], v[i]);
            float s = ww_half_to_float(scale[((unsigned long)(row + r) * depth + at) / GROUP]);
            sum[r] = ww_fma(part, s, sum[r]);
        }
    }
#pragma unroll
    for (int r = 0; r < ROWS; r++) {
        float all = ww_warp_sum(sum[r]);
        if (lane == 0) y[row + r] = ww_float_to_half(all);
    }
}
