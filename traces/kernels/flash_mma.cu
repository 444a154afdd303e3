/* flash_mma: attention forward by blocks of keys with a running softmax (T. Dao, D. Fu, S. Ermon, A. Rudra, C. Re,
 * "FlashAttention", NeurIPS 2022; T. Dao, "FlashAttention-2", 2023), by mma.sync for sm_80. A CTA has 128 queries of a head,
 * a warp 32. Scores of 32 x 64 stay in registers, become powers, and are the left operand of the product with the
 * values. Keys and values have a buffer each: values come while scores are computed, the next keys while values are
 * multiplied. Rows of DIM halves; piece p (16 bytes) of row r lies at p ^ r % 8. */
#include "ww_mma.h"

#define QUERIES 128
#define KEYS 64
#define THREADS 128
#define TILES 2 /* of 16 queries of a warp */
#define LEAST (-1.0e30f)

/* Where the thread's first piece of rows of DIM halves lies in shared memory; in global memory it is its 8 halves. */
template <int DIM> static __device__ __forceinline__ unsigned own_piece(unsigned base) {
    unsigned row = threadIdx.x / (DIM / 8), piece = threadIdx.x % (DIM / 8);
    return base + row * DIM * 2 + (piece ^ row % 8) * 16;
}

/* The thread's pieces of ROWS rows, whole multiples of 8 rows apart. */
template <int DIM, int ROWS>
static __device__ __forceinline__ void fetch(unsigned to, const unsigned short *from) {
#pragma unroll
    for (unsigned j = 0; j < ROWS * (DIM / 8) / THREADS; j++)
        ww_copy_async(to + j * THREADS * 16, from + j * THREADS * 8);
    ww_copy_commit();
}

/* Where lane i finds row i % 16 of a matrix, piece i / 16 (turned: row i % 8 + i / 16 * 8, piece i / 8 % 2). Pieces 2 k
 * further lie at the address ^ 32 k, rows that are multiples of 8 further at the same place in theirs. */
template <int DIM> static __device__ __forceinline__ unsigned place(unsigned base, bool turned) {
    unsigned lane = threadIdx.x % 32, row = turned ? lane % 8 + lane / 16 * 8 : lane % 16;
    return base + row * DIM * 2 + ((turned ? lane / 8 % 2 : lane / 16) ^ lane % 8) * 16;
}

template <int DIM>
static __device__ __forceinline__ void scores(float (&s)[TILES][KEYS / 8][4], unsigned queries, unsigned keys) {
#pragma unroll
    for (int i = 0; i < TILES * KEYS / 8 * 4; i++) s[i / (KEYS / 2)][i / 4 % (KEYS / 8)][i % 4] = 0;
#pragma unroll
    for (unsigned k = 0; k < DIM / 16; k++) {
        unsigned q[TILES][4], b[4];
#pragma unroll
        for (unsigned y = 0; y < TILES; y++)
            ww_load_matrices(q[y], (queries ^ 32 * k) + 16 * y * DIM * 2);
#pragma unroll
        for (unsigned x = 0; x < KEYS / 16; x++) {
            ww_load_matrices(b, (keys ^ 32 * k) + 16 * x * DIM * 2);
#pragma unroll
            for (unsigned y = 0; y < TILES; y++) {
                ww_multiply(s[y][2 * x], q[y], b[0], b[1]);
                ww_multiply(s[y][2 * x + 1], q[y], b[2], b[3]);
            }
        }
    }
}

/* Keys behind the query count nothing. last: which key, from the thread's first on, is the last of its upper row. */
static __device__ __forceinline__ void mask(float (&s)[KEYS / 8][4], int last) {
#pragma unroll
    for (int x = 0; x < KEYS / 8; x++)
#pragma unroll
        for (int i = 0; i < 4; i++)
            if (8 * x + i % 2 - i / 2 * 8 > last) s[x][i] = LEAST;
}

/* Scores become powers; maximum, sum and what was added up so far follow. h: the upper or lower row of the tile. */
template <int DIM>
static __device__ __forceinline__ void powers(float (&s)[KEYS / 8][4], float (&out)[DIM / 8][4], float &most, float &sum,
                                              int h, float scale) {
    float top = most, part = 0;
#pragma unroll
    for (int x = 0; x < KEYS / 8; x++) top = ww_fmaxf(top, ww_fmaxf(s[x][2 * h], s[x][2 * h + 1]));
    top = ww_fmaxf(top, __shfl_xor_sync(0xffffffffu, top, 1));
    top = ww_fmaxf(top, __shfl_xor_sync(0xffffffffu, top, 2));
    float shrink = ww_exp2f_fast((most - top) * scale), less = -top * scale;
#pragma unroll
    for (int x = 0; x < KEYS / 8; x++)
#pragma unroll
        for (int i = 2 * h; i < 2 * h + 2; i++) part += s[x][i] = ww_exp2f_fast(ww_fma(s[x][i], scale, less));
#pragma unroll
    for (int x = 0; x < DIM / 8; x++) out[x][2 * h] *= shrink, out[x][2 * h + 1] *= shrink;
    sum = sum * shrink + part;
    most = top;
}

template <int DIM>
static __device__ __forceinline__ void weigh(float (&out)[TILES][DIM / 8][4], const float (&s)[TILES][KEYS / 8][4],
                                             unsigned values) {
#pragma unroll
    for (unsigned k = 0; k < KEYS / 16; k++) {
        unsigned p[TILES][4], b[4];
#pragma unroll
        for (int y = 0; y < TILES; y++)
#pragma unroll
            for (int i = 0; i < 4; i++)
                p[y][i] = ww_pack_half(s[y][2 * k + i / 2][i % 2 * 2], s[y][2 * k + i / 2][i % 2 * 2 + 1]);
#pragma unroll
        for (unsigned x = 0; x < DIM / 16; x++) {
            ww_load_matrices_transposed(b, (values ^ 32 * x) + 16 * k * DIM * 2);
#pragma unroll
            for (int y = 0; y < TILES; y++) {
                ww_multiply(out[y][2 * x], p[y], b[0], b[1]);
                ww_multiply(out[y][2 * x + 1], p[y], b[2], b[3]);
            }
        }
    }
}

/* The warp's rows, by way of its part of the queries' shared memory, so that rows are written by 16 bytes. */
template <int DIM>
static __device__ __forceinline__ void store(unsigned short *to, char *memory, const float (&out)[TILES][DIM / 8][4],
                                             const float (&sum)[TILES][2]) {
    unsigned lane = threadIdx.x % 32, first = threadIdx.x / 32 * 16 * TILES;
#pragma unroll
    for (unsigned y = 0; y < TILES; y++)
#pragma unroll
        for (unsigned h = 0; h < 2; h++) {
            float all = sum[y][h];
            all += __shfl_xor_sync(0xffffffffu, all, 1);
            all += __shfl_xor_sync(0xffffffffu, all, 2);
            float scale = 1.0f / all;
            unsigned row = first + 16 * y + 8 * h + lane / 4;
#pragma unroll
            for (unsigned x = 0; x < DIM / 8; x++)
                *(unsigned *)(memory + row * DIM * 2 + (x ^ row % 8) * 16 + lane % 4 * 4) =
                    ww_pack_half(out[y][x][2 * h] * scale, out[y][x][2 * h + 1] * scale);
        }
    __syncwarp();
#pragma unroll
    for (unsigned j = 0; j < 16 * TILES * (DIM / 8) / 32; j++) {
        unsigned at = j * 32 + lane, row = first + at / (DIM / 8), piece = at % (DIM / 8), words[4];
        ww_load_words(words, memory + row * DIM * 2 + (piece ^ row % 8) * 16);
        ww_store_words(to + (unsigned long)row * DIM + piece * 8, words);
    }
}

/* Grid: blocks of queries x heads. Heads of `count` rows follow one another; count is a multiple of QUERIES. */
template <int DIM, bool CAUSAL>
static __device__ __forceinline__ void attend(const unsigned short *queries, const unsigned short *keys,
                                              const unsigned short *values, unsigned short *to, unsigned count,
                                              float scale) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
    extern __shared__ __attribute__((aligned(1024))) char memory[];
    unsigned at_q = ww_shared(memory), at_k = at_q + QUERIES * DIM * 2, at_v = at_k + KEYS * DIM * 2;
    unsigned block = CAUSAL ? gridDim.x - 1 - blockIdx.x : blockIdx.x; /* the longest first */
    unsigned q = place<DIM>(at_q + threadIdx.x / 32 * 16 * TILES * DIM * 2, false);
    unsigned k = place<DIM>(at_k, true), v = place<DIM>(at_v, false);
    unsigned long head = (unsigned long)blockIdx.y * count * DIM;
    int row = (int)(block * QUERIES + threadIdx.x / 32 * 16 * TILES + threadIdx.x % 32 / 4 - threadIdx.x % 4 * 2);
    unsigned end = CAUSAL ? (block + 1) * QUERIES : count;
    float out[TILES][DIM / 8][4], s[TILES][KEYS / 8][4], most[TILES][2], sum[TILES][2];
#pragma unroll
    for (int y = 0; y < TILES; y++) {
#pragma unroll
        for (int i = 0; i < DIM / 2; i++) out[y][i / 4][i % 4] = 0;
        most[y][0] = most[y][1] = LEAST, sum[y][0] = sum[y][1] = 0;
    }
    unsigned put = own_piece<DIM>(0);
    queries += head + (unsigned long)block * QUERIES * DIM + threadIdx.x * 8;
    keys += head + threadIdx.x * 8, values += head + threadIdx.x * 8;
    fetch<DIM, QUERIES>(at_q + put, queries);
    fetch<DIM, KEYS>(at_k + put, keys);
    for (unsigned key = 0; key < end; key += KEYS) {
        asm volatile("" : "+r"(q), "+r"(k), "+r"(v), "+r"(put)); /* else all addresses are kept in registers */
        ww_copy_wait<0>();
        __syncthreads(); /* the keys are there; the values before them have been read */
        fetch<DIM, KEYS>(at_v + put, values + (unsigned long)key * DIM);
        scores<DIM>(s, q, k);
#pragma unroll
        for (int y = 0; y < TILES; y++) {
            if (CAUSAL && key + KEYS > block * QUERIES) mask(s[y], row + 16 * (int)y - (int)key);
#pragma unroll
            for (int h = 0; h < 2; h++) powers<DIM>(s[y], out[y], most[y][h], sum[y][h], h, scale);
        }
        ww_copy_wait<0>();
        __syncthreads(); /* the values are there; the keys have been read */
        if (key + KEYS < end) fetch<DIM, KEYS>(at_k + put, keys + (unsigned long)(key + KEYS) * DIM);
        weigh<DIM>(out, s, v);
    }
    store<DIM>(to + head + (unsigned long)block * QUERIES * DIM, memory, out, sum);
#endif
}

#define KERNEL(name, dim, causal)                                                                              \
    extern "C" __global__ void __launch_bounds__(THREADS)                                                      \
        name(const unsigned short *queries, const unsigned short *keys, const unsigned short *values,          \
             unsigned short *out, unsigned count, float scale) {                                               \
        attend<dim, causal>(queries, keys, values, out, count, scale);                                         \
    }
KERNEL(flash_mma_64, 64, false)
KERNEL(flash_mma_64_causal, 64, true)
KERNEL(flash_mma_128, 128, false)
KERNEL(flash_mma_128_causal, 128, true)
