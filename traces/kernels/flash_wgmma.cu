/* flash_wgmma: attention forward by blocks of keys with a running softmax, by wgmma and tensor maps, for sm_90a. The
 * algorithm is that of flash_mma.cu; warps of their own fetch, as in J. Shah et al., "FlashAttention-3", 2024. A CTA has
 * 128 queries of a head of 128 elements: two warpgroups have 64 each, and one warp fetches blocks of 128 keys and values
 * into two stages each. Scores of 64 x 128 become powers in registers, which are the left operand of the product with
 * the values. A block's values are multiplied while the powers of the next block are computed, and while one warpgroup
 * computes powers, the other's products run. */
#include "ww_hopper.h"

#define DIM 128
#define QUERIES 128
#define KEYS 128
#define STAGES 2
#define THREADS 384 /* the third warpgroup gives its registers to the others, and one of its warps fetches */
#define HALF_ROW 128                     /* bytes: a box has half of the 128 halves of a row */
#define BOX_BYTES (KEYS * HALF_ROW)      /* of a box */
#define BLOCK_BYTES (2 * BOX_BYTES)      /* of a block of keys, of values or of queries */
#define LEAST (-1.0e30f)

/* Barriers: of the queries, of each stage of keys and values, full and empty. */
struct barriers {
    unsigned queries, full_k, full_v, empty_k, empty_v;
};

static __device__ __forceinline__ void fetch(unsigned to, const void *map, unsigned row, unsigned barrier) {
    ww_barrier_expect(barrier, BLOCK_BYTES);
    ww_box(to, map, 0, row, barrier);
    ww_box(to + BOX_BYTES, map, HALF_ROW / 2, row, barrier);
}

/* One thread. row: of the head's first key. */
static __device__ __forceinline__ void produce(const void *queries, const void *keys, const void *values, unsigned base,
                                               const barriers &b, unsigned first, unsigned row, unsigned blocks) {
    unsigned at_k = base + BLOCK_BYTES, at_v = at_k + STAGES * BLOCK_BYTES;
    fetch(base, queries, first, b.queries);
    for (unsigned n = 0; n < blocks; n++) {
        unsigned s = n % STAGES, parity = (n / STAGES + 1) % 2;
        if (n >= STAGES) ww_barrier_wait(b.empty_k + 8 * s, parity);
        fetch(at_k + s * BLOCK_BYTES, keys, row + n * KEYS, b.full_k + 8 * s);
        if (n >= STAGES) ww_barrier_wait(b.empty_v + 8 * s, parity);
        fetch(at_v + s * BLOCK_BYTES, values, row + n * KEYS, b.full_v + 8 * s);
    }
}

/* Scores of 64 queries and a block of keys. */
static __device__ __forceinline__ void scores(float (&s)[64], unsigned queries, unsigned keys) {
    ww_group_begin();
#pragma unroll
    for (int k = 0; k < DIM / 16; k++) {
        unsigned at = k / 4 * BOX_BYTES + k % 4 * 32;
        ww_group_half(s, ww_matrix(queries + at), ww_matrix(keys + at), k == 0);
    }
    ww_group_end();
}

/* last: which key of the block, from the thread's first on, is the last that its upper row attends to. */
static __device__ __forceinline__ void mask(float (&s)[64], int last) {
#pragma unroll
    for (int i = 0; i < 64; i++)
        if (i / 4 * 8 + i % 2 - i / 2 % 2 * 8 > last) s[i] = LEAST;
}

/* Of the upper (h = 0) or lower row: scores become powers, maximum and sum follow; what the sums so far shrink by. */
static __device__ __forceinline__ float powers(float (&s)[64], float &most, float &sum, int h, float scale) {
    float top = most, part = 0;
#pragma unroll
    for (int i = 2 * h; i < 64; i += 4) top = ww_fmaxf(top, ww_fmaxf(s[i], s[i + 1]));
    top = ww_fmaxf(top, __shfl_xor_sync(0xffffffffu, top, 1));
    top = ww_fmaxf(top, __shfl_xor_sync(0xffffffffu, top, 2));
    float shrink = ww_exp2f_fast((most - top) * scale), less = -top * scale;
#pragma unroll
    for (int i = 2 * h; i < 64; i += 4) {
        s[i] = ww_exp2f_fast(ww_fma(s[i], scale, less));
        s[i + 1] = ww_exp2f_fast(ww_fma(s[i + 1], scale, less));
        part += s[i] + s[i + 1];
    }
    sum = sum * shrink + part;
    most = top;
    return shrink;
}

static __device__ __forceinline__ void weigh(float (&out)[64], const unsigned (&p)[KEYS / 16][4], unsigned values) {
    ww_group_begin();
#pragma unroll
    for (int k = 0; k < KEYS / 16; k++) ww_group_turned(out, p[k], ww_matrix(values + k * 16 * HALF_ROW, BOX_BYTES));
    ww_group_end();
}

static __device__ __forceinline__ void store(unsigned short *to, const float (&out)[64], const float (&sum)[2]) {
    unsigned lane = threadIdx.x % 32, row = threadIdx.x / 32 * 16 + lane / 4;
#pragma unroll
    for (int h = 0; h < 2; h++) {
        float all = sum[h];
        all += __shfl_xor_sync(0xffffffffu, all, 1);
        all += __shfl_xor_sync(0xffffffffu, all, 2);
        float scale = 1.0f / all;
#pragma unroll
        for (int x = 0; x < DIM / 8; x++)
            *(unsigned *)&to[(row + 8 * h) * DIM + 8 * x + lane % 4 * 2] =
                ww_pack_half(out[4 * x + 2 * h] * scale, out[4 * x + 2 * h + 1] * scale);
    }
}

static __device__ __forceinline__ void pack(unsigned (&p)[KEYS / 16][4], const float (&s)[64]) {
#pragma unroll
    for (int k = 0; k < KEYS / 16; k++)
#pragma unroll
        for (int i = 0; i < 4; i++) p[k][i] = ww_pack_half(s[8 * k + 2 * i], s[8 * k + 2 * i + 1]);
}

template <bool CAUSAL>
static __device__ __forceinline__ void consume(unsigned short *to, unsigned base, const barriers &b, unsigned block,
                                               unsigned blocks, float scale) {
    unsigned group = threadIdx.x / 128, queries = base + group * 64 * HALF_ROW;
    unsigned at_k = base + BLOCK_BYTES, at_v = at_k + STAGES * BLOCK_BYTES, p[KEYS / 16][4];
    int row = (int)(block * QUERIES + threadIdx.x / 32 * 16 + threadIdx.x % 32 / 4 - threadIdx.x % 4 * 2);
    bool leader = threadIdx.x % 128 == 0;
    float out[64], s[64], most[2] = {LEAST, LEAST}, sum[2] = {0, 0}, shrink[2];
#pragma unroll
    for (int i = 0; i < 64; i++) out[i] = 0, s[i] = 0;
    ww_barrier_wait(b.queries, 0);
    ww_barrier_wait(b.full_k, 0);
    scores(s, queries, at_k);
    ww_group_wait<0>();
    if (leader) ww_barrier_arrive(b.empty_k);
    if (CAUSAL && block == 0) mask(s, row);
#pragma unroll
    for (int h = 0; h < 2; h++) powers(s, most[h], sum[h], h, scale);
    pack(p, s);
    unsigned n = 0; /* the block whose powers p has */
    while (n + 1 < blocks) {
        unsigned stage = n % STAGES, parity = n / STAGES % 2;
        n++;
        ww_barrier_wait(b.full_k + 8 * (n % STAGES), n / STAGES % 2);
        scores(s, queries, at_k + n % STAGES * BLOCK_BYTES);
        ww_barrier_wait(b.full_v + 8 * stage, parity);
        weigh(out, p, at_v + stage * BLOCK_BYTES);
        ww_group_wait<1>();
        if (leader) ww_barrier_arrive(b.empty_k + 8 * (n % STAGES));
        if (CAUSAL && n == block) mask(s, row - (int)(n * KEYS));
#pragma unroll
        for (int h = 0; h < 2; h++) shrink[h] = powers(s, most[h], sum[h], h, scale);
        ww_group_wait<0>();
        if (leader) ww_barrier_arrive(b.empty_v + 8 * stage);
#pragma unroll
        for (int i = 0; i < 64; i++) out[i] *= shrink[i / 2 % 2];
        pack(p, s);
    }
    ww_barrier_wait(b.full_v + 8 * (n % STAGES), n / STAGES % 2);
    weigh(out, p, at_v + n % STAGES * BLOCK_BYTES);
    ww_group_wait<0>();
    store(to, out, sum);
}

/* Grid: blocks of queries x heads. Maps: all heads' rows, boxes of 64 columns and 128 rows. count: rows of a head. */
template <bool CAUSAL>
static __device__ __forceinline__ void attend(const void *queries, const void *keys, const void *values,
                                              unsigned short *to, unsigned count, float scale) {
#ifdef WW_HOPPER
    extern __shared__ __attribute__((aligned(1024))) char memory[];
    __shared__ unsigned long barrier[1 + 4 * STAGES];
    unsigned base = (ww_shared(memory) + 1023) / 1024 * 1024, at = ww_shared(barrier);
    const barriers b = {at, at + 8, at + 8 + 8 * STAGES, at + 8 + 16 * STAGES, at + 8 + 24 * STAGES};
    unsigned block = CAUSAL ? gridDim.x - 1 - blockIdx.x : blockIdx.x; /* the longest first */
    unsigned row = blockIdx.y * count, first = row + block * QUERIES, blocks = CAUSAL ? block + 1 : count / KEYS;
    if (threadIdx.x <= 4 * STAGES) /* queries and full ones: the thread that fetches; empty ones: both warpgroups */
        ww_barrier_make(at + 8 * threadIdx.x, threadIdx.x <= 2 * STAGES ? 1 : 2);
    ww_barrier_made();
    __syncthreads();
    if (threadIdx.x / 128 == 2) {
        ww_registers_less<24>();
        if (threadIdx.x == 256) produce(queries, keys, values, base, b, first, row, blocks);
    } else {
        ww_registers_more<240>();
        consume<CAUSAL>(to + (unsigned long)first * DIM, base, b, block, blocks, scale);
    }
#endif
}

#define KERNEL(name, causal)                                                                                   \
    extern "C" __global__ void __launch_bounds__(THREADS)                                                      \
        name(const void *queries, const void *keys, const void *values, unsigned short *out, unsigned count,   \
             float scale) {                                                                                    \
        attend<causal>(queries, keys, values, out, count, scale);                                              \
    }
KERNEL(flash_wgmma, false)
KERNEL(flash_wgmma_causal, true)
