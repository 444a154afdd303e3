/* softmax: e^(x - max) / sum by rows of halves, a CTA a row. `online` finds maximum and sum in one pass: whenever
 * a thread's maximum grows, its sum is scaled down to it (M. Milakov, N. Gimelshein, "Online normalizer calculation for
 * softmax", 2018); a second pass writes. `three_pass` reads the row for the maximum, for the sum, and to write.
 * Loads and stores have 16 bytes. The width is a multiple of 8. */
#include "ww_half.h"

#define LOG2_E 1.44269504f
#define LEAST (-3.0e38f) /* of a thread that has seen no element; infinity less infinity would be no number */

struct state {
    float most, sum;
};

static __device__ __forceinline__ float power(float v, float most) {
    return ww_exp2f_fast((v - most) * LOG2_E);
}

static __device__ __forceinline__ state joined(state a, state b) {
    float most = ww_fmaxf(a.most, b.most);
    return {most, a.sum * power(a.most, most) + b.sum * power(b.most, most)};
}

static __device__ __forceinline__ state warp_joined(state s) {
#pragma unroll
    for (int lanes = 16; lanes > 0; lanes /= 2)
        s = joined(s, {__shfl_xor_sync(0xffffffffu, s.most, lanes), __shfl_xor_sync(0xffffffffu, s.sum, lanes)});
    return s;
}

/* The CTA's, in every thread. */
static __device__ __forceinline__ state cta_joined(state s) {
    __shared__ float most[32], sum[32];
    unsigned lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    s = warp_joined(s);
    if (lane == 0) most[warp] = s.most, sum[warp] = s.sum;
    __syncthreads();
    if (lane < blockDim.x / 32)
        s = {most[lane], sum[lane]};
    else
        s = {LEAST, 0};
    __syncthreads();
    return warp_joined(s);
}

static __device__ __forceinline__ void read(float (&v)[8], const unsigned short *p) {
    unsigned words[4];
    ww_load_words(words, p);
    ww_unpack(v, words);
}

static __device__ __forceinline__ float largest(const float (&v)[8]) {
    float most = v[0];
#pragma unroll
    for (int i = 1; i < 8; i++) most = ww_fmaxf(most, v[i]);
    return most;
}

static __device__ __forceinline__ float powers(const float (&v)[8], float most) {
    float sum = 0;
#pragma unroll
    for (int i = 0; i < 8; i++) sum += power(v[i], most);
    return sum;
}

static __device__ __forceinline__ void write(const unsigned short *in, unsigned short *out, unsigned width, state s) {
    float scale = 1.0f / s.sum, v[8];
    unsigned words[4];
    for (unsigned at = threadIdx.x * 8; at < width; at += blockDim.x * 8) {
        read(v, in + at);
#pragma unroll
        for (int i = 0; i < 8; i++) v[i] = power(v[i], s.most) * scale;
        ww_pack(words, v);
        ww_store_words(out + at, words);
    }
}

extern "C" __global__ void softmax_online(const unsigned short *in, unsigned short *out, unsigned width) {
    unsigned long row = (unsigned long)blockIdx.x * width;
    state s = {LEAST, 0};
    float v[8];
    in += row, out += row;
    for (unsigned at = threadIdx.x * 8; at < width; at += blockDim.x * 8) {
        read(v, in + at);
        float most = ww_fmaxf(s.most, largest(v));
        s = {most, s.sum * power(s.most, most) + powers(v, most)};
    }
    write(in, out, width, cta_joined(s));
}

extern "C" __global__ void softmax_three_pass(const unsigned short *in, unsigned short *out, unsigned width) {
    unsigned long row = (unsigned long)blockIdx.x * width;
    state s = {LEAST, 0};
    float v[8];
    in += row, out += row;
    for (unsigned at = threadIdx.x * 8; at < width; at += blockDim.x * 8) {
        read(v, in + at);
        s.most = ww_fmaxf(s.most, largest(v));
    }
    s.most = cta_joined(s).most;
    for (unsigned at = threadIdx.x * 8; at < width; at += blockDim.x * 8) {
        read(v, in + at);
        s.sum += powers(v, s.most);
    }
    write(in, out, width, cta_joined(s));
}
