/* d2_block: kernels that buffer blocks of matrices in shared memory: 8 x 8 cosine transform, matrix product,
 * transpose in two orders of tiles, LU decomposition (Rodinia's three kernels). Plain and with D2MA (_dma). */
#include "ww_dma.h"

/* ---- DCT: tiles of 32 x 16 elements, 64 threads; each takes a row of 8, then a column of 8. Rows of the tile
 * are 33 elements apart, so that neither conflicts. ---- */

#define DCT_W 32
#define DCT_H 16
#define DCT_PITCH (DCT_W + 1)

static __device__ __forceinline__ void dct8(float *v, int step) {
    const float a = 0.49039264020161522f, b = 0.41573480615127262f, c = 0.27778511650980114f,
                e = 0.09754516100806412f, f = 0.46193976625564337f, g = 0.19134171618254489f,
                h = 0.35355339059327373f;
    float d0 = v[0] - v[7 * step], d1 = v[step] - v[6 * step], d2 = v[2 * step] - v[5 * step],
          d3 = v[3 * step] - v[4 * step];
    float s0 = v[0] + v[7 * step], s1 = v[step] + v[6 * step], s2 = v[2 * step] + v[5 * step],
          s3 = v[3 * step] + v[4 * step];
    v[0] = h * (s0 + s3 + s1 + s2);
    v[4 * step] = h * (s0 + s3 - s1 - s2);
    v[2 * step] = f * (s0 - s3) + g * (s1 - s2);
    v[6 * step] = g * (s0 - s3) - f * (s1 - s2);
    v[step] = a * d0 + b * d1 + c * d2 + e * d3;
    v[3 * step] = b * d0 - e * d1 - a * d2 - c * d3;
    v[5 * step] = c * d0 - a * d1 + e * d2 + b * d3;
    v[7 * step] = e * d0 - c * d1 + b * d2 - a * d3;
}

/* Threads are (8, 4, 2): column of an 8 x 8 block, block across, block down. */
static __device__ __forceinline__ void dct_tile(float *tile, float *out, unsigned width) {
    unsigned x = threadIdx.y * 8 + threadIdx.x, y = threadIdx.z * 8;
    dct8(tile + (y + threadIdx.x) * DCT_PITCH + threadIdx.y * 8, 1);
    __syncthreads();
    dct8(tile + y * DCT_PITCH + x, DCT_PITCH);
#pragma unroll
    for (unsigned i = 0; i < 8; i++) out[(y + i) * width + x] = tile[(y + i) * DCT_PITCH + x];
}

extern "C" __global__ void d2_dct(const float *__restrict__ in, float *__restrict__ out, unsigned width) {
    __shared__ float tile[DCT_H * DCT_PITCH];
    unsigned x = threadIdx.y * 8 + threadIdx.x, y = threadIdx.z * 8;
    unsigned base = blockIdx.y * DCT_H * width + blockIdx.x * DCT_W;
#pragma unroll
    for (unsigned i = 0; i < 8; i++) tile[(y + i) * DCT_PITCH + x] = in[base + (y + i) * width + x];
    __syncthreads();
    dct_tile(tile, out + base, width);
}

extern "C" __global__ void d2_dct_dma(const float *__restrict__ in, float *__restrict__ out, unsigned width) {
    __shared__ float tile[DCT_H * DCT_PITCH];
    unsigned base = blockIdx.y * DCT_H * width + blockIdx.x * DCT_W;
    dma_spread(0, sizeof(float), DCT_H, DCT_W, width, DCT_W);
    dma_execute(0, tile, in + base);
    dct_tile(tile, out + base, width);
}

/* ---- MM: C = A B, tiles of 32 x 32 (n, k multiples of 32): what the SDK's example takes on a GPU of compute
 * capability 2.0 ---- */

#define MM_TILE 32

static __device__ __forceinline__ float mm_part(float (*a)[MM_TILE], float (*b)[MM_TILE], float sum) {
#pragma unroll
    for (int k = 0; k < MM_TILE; k++) sum += a[threadIdx.y][k] * b[k][threadIdx.x];
    return sum;
}

extern "C" __global__ void d2_mm(const float *__restrict__ A, const float *__restrict__ B,
                                 float *__restrict__ C, int n, int k) {
    __shared__ float a[MM_TILE][MM_TILE], b[MM_TILE][MM_TILE];
    int tx = threadIdx.x, ty = threadIdx.y, row = blockIdx.y * MM_TILE + ty, column = blockIdx.x * MM_TILE + tx;
    float sum = 0;
    for (int i = 0; i < k; i += MM_TILE) {
        a[ty][tx] = A[row * k + i + tx];
        b[ty][tx] = B[(i + ty) * n + column];
        __syncthreads();
        sum = mm_part(a, b, sum);
        __syncthreads();
    }
    C[row * n + column] = sum;
}

extern "C" __global__ void d2_mm_dma(const float *__restrict__ A, const float *__restrict__ B,
                                     float *__restrict__ C, int n, int k) {
    __shared__ float a[MM_TILE][MM_TILE], b[MM_TILE][MM_TILE];
    float sum = 0;
    dma_tile(0, sizeof(float), MM_TILE, MM_TILE, k);
    dma_tile(1, sizeof(float), MM_TILE, MM_TILE, n);
    A += blockIdx.y * MM_TILE * k;
    B += blockIdx.x * MM_TILE;
    for (int i = 0; i < k; i += MM_TILE) {
        dma_execute(0, a, A + i);
        dma_execute(1, b, B + i * n);
        sum = mm_part(a, b, sum);
    }
    C[(blockIdx.y * MM_TILE + threadIdx.y) * n + blockIdx.x * MM_TILE + threadIdx.x] = sum;
}

/* ---- TRANS1: tiles in the order of the grid. TRANS2: along diagonals, rows of the tile 17 apart. n x n; a CTA
 * transposes its tile `repeats` times, as the SDK's kernels do to be timed ---- */

#define TILE 16

struct place {
    unsigned x, y;
};
static __device__ __forceinline__ place in_order() {
    return {blockIdx.x, blockIdx.y};
}
static __device__ __forceinline__ place diagonal() {
    return {(blockIdx.x + blockIdx.y) % gridDim.x, blockIdx.x};
}

static __device__ __forceinline__ void put(float *out, const float *tile, int pitch, place p, unsigned n) {
    out[(p.x * TILE + threadIdx.y) * n + p.y * TILE + threadIdx.x] = tile[threadIdx.x * pitch + threadIdx.y];
}

/* `in` may lie in `out` as far as the compiler knows, so that repetitions load again. */
static __device__ __forceinline__ void transpose(float *out, const float *in, float *tile, int pitch, place p,
                                                 unsigned n, unsigned repeats) {
    const float *from = in + (p.y * TILE + threadIdx.y) * n + p.x * TILE + threadIdx.x;
    for (unsigned r = 0; r < repeats; r++) {
        tile[threadIdx.y * pitch + threadIdx.x] = *from;
        __syncthreads();
        put(out, tile, pitch, p, n);
        __syncthreads();
    }
}
static __device__ __forceinline__ void transpose_dma(float *out, const float *in, float *tile, int pitch,
                                                     place p, unsigned n, unsigned repeats) {
    for (unsigned r = 0; r < repeats; r++) {
        dma_execute(0, tile, in + p.y * TILE * n + p.x * TILE);
        put(out, tile, pitch, p, n);
    }
}

extern "C" __global__ void d2_trans1(const float *in, float *out, unsigned n, unsigned repeats) {
    __shared__ float tile[TILE * TILE];
    transpose(out, in, tile, TILE, in_order(), n, repeats);
}

extern "C" __global__ void d2_trans1_dma(const float *in, float *out, unsigned n, unsigned repeats) {
    __shared__ float tile[TILE * TILE];
    dma_tile(0, sizeof(float), TILE, TILE, n);
    transpose_dma(out, in, tile, TILE, in_order(), n, repeats);
}

extern "C" __global__ void d2_trans2(const float *in, float *out, unsigned n, unsigned repeats) {
    __shared__ float tile[TILE * (TILE + 1)];
    transpose(out, in, tile, TILE + 1, diagonal(), n, repeats);
}

extern "C" __global__ void d2_trans2_dma(const float *in, float *out, unsigned n, unsigned repeats) {
    __shared__ float tile[TILE * (TILE + 1)];
    dma_spread(0, sizeof(float), TILE, TILE, n, TILE);
    transpose_dma(out, in, tile, TILE + 1, diagonal(), n, repeats);
}

/* ---- LUD: step `at` of the decomposition of an n x n matrix in place, without pivots ---- */

static __device__ __forceinline__ void lud_factor(float (*s)[TILE], float *m, int n) {
    int t = threadIdx.x;
    for (int i = 0; i < TILE - 1; i++) {
        if (t > i) {
            for (int j = 0; j < i; j++) s[t][i] -= s[t][j] * s[j][i];
            s[t][i] /= s[i][i];
        }
        __syncthreads();
        if (t > i)
            for (int j = 0; j < i + 1; j++) s[i + 1][t] -= s[i + 1][j] * s[j][t];
        __syncthreads();
    }
    for (int i = 1; i < TILE; i++) m[i * n + t] = s[i][t];
}

extern "C" __global__ void d2_lud_diagonal(float *m, int n, int at) {
    __shared__ float s[TILE][TILE];
    m += at * n + at;
    for (int i = 0; i < TILE; i++) s[i][threadIdx.x] = m[i * n + threadIdx.x];
    __syncthreads();
    lud_factor(s, m, n);
}

extern "C" __global__ void d2_lud_diagonal_dma(float *m, int n, int at) {
    __shared__ float s[TILE][TILE];
    m += at * n + at;
    dma_tile(0, sizeof(float), TILE, TILE, n);
    dma_execute(0, s, m);
    lud_factor(s, m, n);
}

/* The row and the column of blocks of the step: 32 threads, half of them for either. */
extern "C" __global__ void d2_lud_perimeter(float *m, int n, int at) {
    __shared__ float d[TILE][TILE], r[TILE][TILE], c[TILE][TILE];
    int t = threadIdx.x % TILE, other = at + (blockIdx.x + 1) * TILE;
    bool is_row = threadIdx.x < TILE;
    for (int i = 0; i < TILE; i++) {
        if (is_row) {
            d[i][t] = m[(at + i) * n + at + t];
            r[i][t] = m[(at + i) * n + other + t];
        } else {
            c[i][t] = m[(other + i) * n + at + t];
        }
    }
    __syncthreads();
    if (is_row) {
        for (int i = 1; i < TILE; i++)
            for (int j = 0; j < i; j++) r[i][t] -= d[i][j] * r[j][t];
    } else {
        for (int i = 0; i < TILE; i++) {
            for (int j = 0; j < i; j++) c[t][i] -= c[t][j] * d[j][i];
            c[t][i] /= d[i][i];
        }
    }
    __syncthreads();
    for (int i = 0; i < TILE; i++) {
        if (is_row)
            m[(at + i) * n + other + t] = r[i][t];
        else
            m[(other + i) * n + at + t] = c[i][t];
    }
}

static __device__ __forceinline__ void lud_update(float (*row)[TILE], float (*col)[TILE], float *m, int n) {
    float sum = 0;
#pragma unroll
    for (int i = 0; i < TILE; i++) sum += col[threadIdx.y][i] * row[i][threadIdx.x];
    m[threadIdx.y * n + threadIdx.x] -= sum;
}

extern "C" __global__ void d2_lud_internal(float *m, int n, int at) {
    __shared__ float row[TILE][TILE], col[TILE][TILE];
    int tx = threadIdx.x, ty = threadIdx.y;
    int y = at + (blockIdx.y + 1) * TILE, x = at + (blockIdx.x + 1) * TILE;
    row[ty][tx] = m[(at + ty) * n + x + tx];
    col[ty][tx] = m[(y + ty) * n + at + tx];
    __syncthreads();
    lud_update(row, col, m + y * n + x, n);
}

extern "C" __global__ void d2_lud_internal_dma(float *m, int n, int at) {
    __shared__ float row[TILE][TILE], col[TILE][TILE];
    int y = at + (blockIdx.y + 1) * TILE, x = at + (blockIdx.x + 1) * TILE;
    dma_tile(0, sizeof(float), TILE, TILE, n);
    dma_tile(1, sizeof(float), TILE, TILE, n);
    dma_execute(0, row, m + at * n + x);
    dma_execute(1, col, m + y * n + at);
    lud_update(row, col, m + y * n + x, n);
}
