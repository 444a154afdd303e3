/* rmsnorm: out = x / sqrt(mean(x^2) + epsilon) * weight by rows of halves, a CTA a row. A thread keeps 8 elements
 * in registers: one load and one store of 16 bytes for each array. `residual` first adds x to the residual stream,
 * which it stores, too. The width is a multiple of 8, at most 8 elements a thread. */
#include "ww_half.h"

/* The CTA's sum, in every thread. */
static __device__ __forceinline__ float cta_sum(float v) {
    __shared__ float part[32];
    unsigned lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    v = ww_warp_sum(v);
    if (lane == 0) part[warp] = v;
    __syncthreads();
    return ww_warp_sum(lane < blockDim.x / 32 ? part[lane] : 0.0f);
}

template <bool RESIDUAL>
static __device__ __forceinline__ void normalise(const unsigned short *x, unsigned short *residual,
                                                 const unsigned short *weight, unsigned short *out, unsigned width,
                                                 float epsilon) {
    unsigned at = threadIdx.x * 8, words[4];
    unsigned long row = (unsigned long)blockIdx.x * width;
    float v[8] = {0, 0, 0, 0, 0, 0, 0, 0}, w[8], sum = 0;
    bool mine = at < width;
    if (mine) {
        ww_load_words(words, x + row + at);
        ww_unpack(v, words);
    }
    if (RESIDUAL && mine) {
        float r[8];
        ww_load_words(words, residual + row + at);
        ww_unpack(r, words);
#pragma unroll
        for (int i = 0; i < 8; i++) v[i] += r[i];
        ww_pack(words, v);
        ww_store_words(residual + row + at, words);
    }
#pragma unroll
    for (int i = 0; i < 8; i++) sum = ww_fma(v[i], v[i], sum);
    float scale = ww_rsqrtf(cta_sum(sum) / (float)width + epsilon);
    if (!mine) return;
    ww_load_words(words, weight + at);
    ww_unpack(w, words);
#pragma unroll
    for (int i = 0; i < 8; i++) v[i] = v[i] * scale * w[i];
    ww_pack(words, v);
    ww_store_words(out + row + at, words);
}

extern "C" __global__ void rmsnorm_plain(const unsigned short *x, unsigned short *residual,
                                         const unsigned short *weight, unsigned short *out, unsigned width,
                                         float epsilon) {
    normalise<false>(x, residual, weight, out, width, epsilon);
}
extern "C" __global__ void rmsnorm_residual(const unsigned short *x, unsigned short *residual,
                                            const unsigned short *weight, unsigned short *out, unsigned width,
                                            float epsilon) {
    normalise<true>(x, residual, weight, out, width, epsilon);
}
