/* moe: tokens to the experts of a mixture and back. A token goes to a few experts; each (token, expert) is a pick.
 * moe_count counts the picks of each expert, moe_offsets makes places of the counts, moe_place gives each pick a row
 * behind those of its expert, moe_gather copies the tokens there, so that an expert's rows lie side by side, and
 * moe_scatter adds the rows of a token's picks by their weights. Rows are of halves, their width is a multiple of 8. */
#include "ww_half.h"

#define EXPERTS 256 /* at most */

extern "C" __global__ void moe_count(const unsigned *expert, unsigned *count, unsigned picks, unsigned experts) {
    __shared__ unsigned mine[EXPERTS];
    for (unsigned e = threadIdx.x; e < experts; e += blockDim.x) mine[e] = 0;
    __syncthreads();
    for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < picks; i += gridDim.x * blockDim.x)
        atomicAdd(&mine[expert[i]], 1u);
    __syncthreads();
    for (unsigned e = threadIdx.x; e < experts; e += blockDim.x)
        if (mine[e]) atomicAdd(&count[e], mine[e]);
}

/* One warp: the first row of each expert. */
extern "C" __global__ void moe_offsets(const unsigned *count, unsigned *next, unsigned experts) {
    unsigned lane = threadIdx.x, before = 0;
    for (unsigned at = 0; at < experts; at += 32) {
        unsigned own = at + lane < experts ? count[at + lane] : 0, sum = own;
#pragma unroll
        for (unsigned step = 1; step < 32; step *= 2) {
            unsigned other = (unsigned)__shfl_sync(0xffffffffu, (int)sum, lane >= step ? lane - step : lane);
            if (lane >= step) sum += other;
        }
        if (at + lane < experts) next[at + lane] = before + sum - own;
        before += (unsigned)__shfl_sync(0xffffffffu, (int)sum, 31);
    }
}

/* A CTA takes places for all its picks of an expert at once. */
extern "C" __global__ void moe_place(const unsigned *expert, unsigned *next, unsigned *row, unsigned picks,
                                     unsigned experts) {
    __shared__ unsigned mine[EXPERTS], first[EXPERTS];
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x, own = 0, place = 0;
    for (unsigned e = threadIdx.x; e < experts; e += blockDim.x) mine[e] = 0;
    __syncthreads();
    if (i < picks) own = expert[i], place = atomicAdd(&mine[own], 1u);
    __syncthreads();
    for (unsigned e = threadIdx.x; e < experts; e += blockDim.x)
        if (mine[e]) first[e] = atomicAdd(&next[e], mine[e]);
    __syncthreads();
    if (i < picks) row[i] = first[own] + place;
}

/* A CTA a token: its row is read once and written for each of its picks. */
extern "C" __global__ void moe_gather(const unsigned short *x, const unsigned *row, unsigned short *rows, unsigned each,
                                      unsigned width) {
    for (unsigned at = threadIdx.x * 8; at < width; at += blockDim.x * 8) {
        unsigned words[4];
        ww_load_words(words, x + (unsigned long)blockIdx.x * width + at);
        for (unsigned j = 0; j < each; j++)
            ww_store_words(rows + (unsigned long)row[blockIdx.x * each + j] * width + at, words);
    }
}

extern "C" __global__ void moe_scatter(const unsigned short *rows, const unsigned *row, const float *weight,
                                       unsigned short *out, unsigned each, unsigned width) {
    for (unsigned at = threadIdx.x * 8; at < width; at += blockDim.x * 8) {
        unsigned words[4];
        float sum[8] = {0, 0, 0, 0, 0, 0, 0, 0}, v[8];
        for (unsigned j = 0; j < each; j++) {
            unsigned pick = blockIdx.x * each + j;
            float w = weight[pick];
            ww_load_words(words, rows + (unsigned long)row[pick] * width + at);
            ww_unpack(v, words);
#pragma unroll
            for (int i = 0; i < 8; i++) sum[i] = ww_fma(w, v[i], sum[i]);
        }
        ww_pack(words, sum);
        ww_store_words(out + (unsigned long)blockIdx.x * width + at, words);
    }
}
