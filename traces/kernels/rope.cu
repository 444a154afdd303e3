/* rope: rotary embedding of the queries and keys of tokens, in place. Element pairs of a head are turned by an angle
 * that depends on the token's position: cosines and sines come from a table of positions x dim / 2 pairs of floats.
 * `halves` pairs element i with i + dim / 2, `pairs` 2 i with 2 i + 1. A thread turns 8 pairs by loads of 16 bytes;
 * queries and keys share one row of a token, as a fused projection writes them. The dimension is a multiple of 16. */
#include "ww_half.h"

static __device__ __forceinline__ void turn(float &a, float &b, float2 angle) {
    float first = a * angle.x - b * angle.y;
    b = a * angle.y + b * angle.x;
    a = first;
}

static __device__ __forceinline__ void angles(float2 (&to)[8], const float4 *from) {
#pragma unroll
    for (int i = 0; i < 4; i++) {
        const float4 v = from[i];
        to[2 * i] = make_float2(v.x, v.y), to[2 * i + 1] = make_float2(v.z, v.w);
    }
}

/* heads: of queries and keys of a token; a thread for each 8 pairs of them. */
template <bool HALVES>
static __device__ __forceinline__ void embed(unsigned short *rows, const unsigned *position, const float4 *table,
                                             unsigned tokens, unsigned heads, unsigned dim) {
    unsigned at = blockIdx.x * blockDim.x + threadIdx.x, pieces = dim / 16;
    unsigned token = at / (heads * pieces), head = at / pieces % heads, piece = at % pieces;
    if (token >= tokens) return;
    unsigned short *p = rows + ((unsigned long)token * heads + head) * dim + piece * (HALVES ? 8 : 16);
    unsigned short *q = p + (HALVES ? dim / 2 : 8);
    unsigned words[4];
    float a[8], b[8];
    float2 angle[8];
    ww_load_words(words, p);
    ww_unpack(a, words);
    ww_load_words(words, q);
    ww_unpack(b, words);
    angles(angle, table + ((unsigned long)position[token] * (dim / 2) + piece * 8) / 2);
#pragma unroll
    for (int i = 0; i < 8; i++) {
        if (HALVES)
            turn(a[i], b[i], angle[i]);
        else if (i < 4)
            turn(a[2 * i], a[2 * i + 1], angle[i]);
        else
            turn(b[2 * i - 8], b[2 * i - 7], angle[i]);
    }
    ww_pack(words, a);
    ww_store_words(p, words);
    ww_pack(words, b);
    ww_store_words(q, words);
}

extern "C" __global__ void rope_halves(unsigned short *rows, const unsigned *position, const float4 *table,
                                       unsigned tokens, unsigned heads, unsigned dim) {
    embed<true>(rows, position, table, tokens, heads, dim);
}
extern "C" __global__ void rope_pairs(unsigned short *rows, const unsigned *position, const float4 *table,
                                      unsigned tokens, unsigned heads, unsigned dim) {
    embed<false>(rows, position, table, tokens, heads, dim);
}
