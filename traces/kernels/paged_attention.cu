/* paged_attention: attention of one query a sequence over keys and values in blocks of 16 tokens, as a decoder does
 * for each new token. Blocks lie anywhere; a table names those of each sequence (W. Kwon et al., "Efficient Memory
 * Management for Large Language Model Serving with PagedAttention", 2023). Four heads of queries share a head of keys
 * and values. A CTA has a sequence, such a head and a split of the tokens; its parts are joined by a second kernel.
 *
 * DIM / 8 lanes hold a token's row by loads of 16 bytes, so that a warp has PER tokens at a time, STEP of them
 * in flight. Each such group of lanes keeps its maximum, sum and weighted values; all are joined at the end. */
#include "ww_half.h"

#define BLOCK 16 /* tokens */
#define HEADS 4  /* of queries for one of keys */
#define WARPS 4
#define STEP 4
#define LEAST (-3.0e38f)

struct cache {
    const unsigned short *keys, *values; /* block, head, token, element */
    const unsigned *table;               /* sequence, block of it */
    const unsigned *tokens;              /* sequence */
    unsigned blocks, heads, splits;      /* columns of the table, heads of keys */
};

template <int DIM> struct part {
    float most[HEADS], sum[HEADS], value[HEADS][8];
};

/* The scores of STEP tokens of the group; a token behind the end has the least. */
template <int DIM>
static __device__ __forceinline__ void score(float (&s)[STEP][HEADS], const float (&q)[HEADS][8],
                                             const unsigned (&k)[STEP][4], const bool (&in)[STEP]) {
#pragma unroll
    for (int u = 0; u < STEP; u++) {
        float key[8];
        ww_unpack(key, k[u]);
#pragma unroll
        for (int h = 0; h < HEADS; h++) {
            float dot = 0;
#pragma unroll
            for (int i = 0; i < 8; i++) dot = ww_fma(q[h][i], key[i], dot);
#pragma unroll
            for (int lanes = DIM / 16; lanes > 0; lanes /= 2) dot += __shfl_xor_sync(0xffffffffu, dot, lanes);
            s[u][h] = in[u] ? dot : LEAST;
        }
    }
}

template <int DIM>
static __device__ __forceinline__ void add(part<DIM> &p, const float (&s)[STEP][HEADS], const unsigned (&v)[STEP][4]) {
    float weight[STEP][HEADS];
#pragma unroll
    for (int h = 0; h < HEADS; h++) {
        float most = p.most[h];
#pragma unroll
        for (int u = 0; u < STEP; u++) most = ww_fmaxf(most, s[u][h]);
        float shrink = ww_exp2f_fast(p.most[h] - most), sum = p.sum[h] * shrink;
#pragma unroll
        for (int u = 0; u < STEP; u++) sum += weight[u][h] = ww_exp2f_fast(s[u][h] - most);
#pragma unroll
        for (int i = 0; i < 8; i++) p.value[h][i] *= shrink;
        p.most[h] = most, p.sum[h] = sum;
    }
#pragma unroll
    for (int u = 0; u < STEP; u++) {
        float value[8];
        ww_unpack(value, v[u]);
#pragma unroll
        for (int h = 0; h < HEADS; h++)
#pragma unroll
            for (int i = 0; i < 8; i++) p.value[h][i] = ww_fma(weight[u][h], value[i], p.value[h][i]);
    }
}

/* The warp's groups of lanes become one. */
template <int DIM> static __device__ __forceinline__ void join(part<DIM> &p) {
#pragma unroll
    for (int lanes = DIM / 8; lanes < 32; lanes *= 2)
#pragma unroll
        for (int h = 0; h < HEADS; h++) {
            float other = __shfl_xor_sync(0xffffffffu, p.most[h], lanes), most = ww_fmaxf(p.most[h], other);
            float mine = ww_exp2f_fast(p.most[h] - most), theirs = ww_exp2f_fast(other - most);
            p.sum[h] = p.sum[h] * mine + __shfl_xor_sync(0xffffffffu, p.sum[h], lanes) * theirs;
            p.most[h] = most;
#pragma unroll
            for (int i = 0; i < 8; i++)
                p.value[h][i] =
                    p.value[h][i] * mine + __shfl_xor_sync(0xffffffffu, p.value[h][i], lanes) * theirs;
        }
}

/* The CTA's warps become one; `state` gets maximum and sum, `values` the weighted values, of each head. */
template <int DIM>
static __device__ __forceinline__ void store(const part<DIM> &p, float *values, float2 *state, unsigned splits) {
    __shared__ float most[WARPS][HEADS], sum[WARPS][HEADS], value[WARPS][HEADS * DIM];
    unsigned warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    if (lane < DIM / 8)
#pragma unroll
        for (int h = 0; h < HEADS; h++) {
            if (lane == 0) most[warp][h] = p.most[h], sum[warp][h] = p.sum[h];
#pragma unroll
            for (int i = 0; i < 8; i++) value[warp][h * DIM + lane * 8 + i] = p.value[h][i];
        }
    __syncthreads();
    for (unsigned at = threadIdx.x; at < HEADS * DIM; at += WARPS * 32) {
        unsigned h = at / DIM;
        float top = LEAST, all = 0, v = 0;
        for (int w = 0; w < WARPS; w++) top = ww_fmaxf(top, most[w][h]);
        for (int w = 0; w < WARPS; w++) {
            float weight = ww_exp2f_fast(most[w][h] - top);
            all += sum[w][h] * weight;
            v += value[w][at] * weight;
        }
        values[h * splits * DIM + at % DIM] = v;
        if (at % DIM == 0) state[h * splits] = make_float2(top, all);
    }
}

/* Grid: heads of keys x sequences x splits. Queries and parts: sequence, head. */
template <int DIM>
static __device__ __forceinline__ void attend(const unsigned short *queries, const cache &c, float scale, float *values,
                                              float2 *state) {
    const unsigned lanes = DIM / 8, per = 32 / lanes, warp_step = per * STEP;
    unsigned lane = threadIdx.x % 32, group = lane / lanes, place = lane % lanes * 8;
    unsigned head = blockIdx.x, sequence = blockIdx.y, split = blockIdx.z, tokens = c.tokens[sequence];
    unsigned share = ((tokens + c.splits - 1) / c.splits + BLOCK - 1) / BLOCK * BLOCK;
    unsigned first = split * share, end = first + share < tokens ? first + share : tokens;
    unsigned row = (sequence * c.heads + head) * HEADS, words[4];
    const unsigned *table = c.table + sequence * c.blocks;
    float q[HEADS][8];
    part<DIM> p;
#pragma unroll
    for (int h = 0; h < HEADS; h++) {
        ww_load_words(words, queries + (row + h) * DIM + place);
        ww_unpack(q[h], words);
        p.most[h] = LEAST, p.sum[h] = 0;
#pragma unroll
        for (int i = 0; i < 8; i++) q[h][i] *= scale, p.value[h][i] = 0;
    }
    for (unsigned at = first + threadIdx.x / 32 * warp_step; at < end; at += WARPS * warp_step) {
        unsigned k[STEP][4], v[STEP][4];
        float s[STEP][HEADS];
        bool in[STEP];
#pragma unroll
        for (unsigned u = 0; u < STEP; u++) {
            unsigned token = at + u * per + group;
            in[u] = token < end;
            token = in[u] ? token : end - 1;
            unsigned long from = ((unsigned long)table[token / BLOCK] * c.heads + head) * BLOCK + token % BLOCK;
            ww_load_words(k[u], c.keys + from * DIM + place);
            ww_load_words(v[u], c.values + from * DIM + place);
        }
        score<DIM>(s, q, k, in);
        add<DIM>(p, s, v);
    }
    join<DIM>(p);
    row = row * c.splits + split;
    store<DIM>(p, values + (unsigned long)row * DIM, state + row, c.splits);
}

/* A CTA of a thread for each element joins a head's splits. */
extern "C" __global__ void paged_attention_join(const float *values, const float2 *state, unsigned short *out,
                                                unsigned splits) {
    unsigned row = blockIdx.x, dim = blockDim.x;
    float top = LEAST, all = 0, v = 0;
    for (unsigned i = 0; i < splits; i++) top = ww_fmaxf(top, state[row * splits + i].x);
    for (unsigned i = 0; i < splits; i++) {
        const float2 s = state[row * splits + i];
        float weight = ww_exp2f_fast(s.x - top);
        all = ww_fma(s.y, weight, all);
        v = ww_fma(values[(unsigned long)(row * splits + i) * dim + threadIdx.x], weight, v);
    }
    out[row * dim + threadIdx.x] = ww_float_to_half(v / all);
}

extern "C" __global__ void __launch_bounds__(128)
    paged_attention_128(const unsigned short *queries, const unsigned short *keys, const unsigned short *values,
                        const unsigned *table, const unsigned *tokens, float *parts, float2 *state, unsigned blocks,
                        unsigned heads, unsigned splits, float scale) {
    attend<128>(queries, {keys, values, table, tokens, blocks, heads, splits}, scale, parts, state);
}
extern "C" __global__ void __launch_bounds__(128)
    paged_attention_64(const unsigned short *queries, const unsigned short *keys, const unsigned short *values,
                       const unsigned *table, const unsigned *tokens, float *parts, float2 *state, unsigned blocks,
                       unsigned heads, unsigned splits, float scale) {
    attend<64>(queries, {keys, values, table, tokens, blocks, heads, splits}, scale, parts, state);
}
