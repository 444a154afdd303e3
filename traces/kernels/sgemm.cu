/* sgemm: C = alpha A B + beta C, row-major, A m x k, B k x n. */
#include "ww_device.h"

#define TILE 16

/* One element per thread, 16 x 16 tiles of A and B in shared memory. CTA: 16 x 16 threads. */
extern "C" __global__ void sgemm_tiled(const float *__restrict__ a, const float *__restrict__ b,
                                       float *__restrict__ c, unsigned m, unsigned n, unsigned k, float alpha,
                                       float beta) {
    __shared__ float as[TILE][TILE], bs[TILE][TILE];
    unsigned x = threadIdx.x, y = threadIdx.y;
    unsigned row = blockIdx.y * TILE + y, col = blockIdx.x * TILE + x;
    float sum = 0.0f;
    for (unsigned t = 0; t < k; t += TILE) {
        as[y][x] = row < m && t + x < k ? a[row * k + t + x] : 0.0f;
        bs[y][x] = t + y < k && col < n ? b[(t + y) * n + col] : 0.0f;
        __syncthreads();
#pragma unroll
        for (unsigned i = 0; i < TILE; i++) sum += as[y][i] * bs[i][x];
        __syncthreads();
    }
    if (row < m && col < n) c[row * n + col] = alpha * sum + beta * c[row * n + col];
}

#define BLOCK 64 /* elements of C on a side per CTA */
#define DEPTH 16
#define PER 4 /* elements of C on a side per thread */

/* 4 x 4 elements per thread in registers, 64 x 64 per CTA. CTA: 16 x 16 threads. */
extern "C" __global__ void sgemm_register(const float *__restrict__ a, const float *__restrict__ b,
                                          float *__restrict__ c, unsigned m, unsigned n, unsigned k,
                                          float alpha, float beta) {
    __shared__ float as[DEPTH][BLOCK + 4], bs[DEPTH][BLOCK]; /* A transposed; + 4 keeps rows 16-byte aligned */
    unsigned x = threadIdx.x, y = threadIdx.y, t = y * 16 + x;
    unsigned row0 = blockIdx.y * BLOCK, col0 = blockIdx.x * BLOCK;
    float sum[PER][PER] = {};
    for (unsigned d = 0; d < k; d += DEPTH) {
#pragma unroll
        for (unsigned i = 0; i < BLOCK * DEPTH / 256; i++) {
            unsigned e = i * 256 + t;
            unsigned ar = e / DEPTH, ak = e % DEPTH, bk = e / BLOCK, bc = e % BLOCK;
            as[ak][ar] = row0 + ar < m && d + ak < k ? a[(row0 + ar) * k + d + ak] : 0.0f;
            bs[bk][bc] = d + bk < k && col0 + bc < n ? b[(d + bk) * n + col0 + bc] : 0.0f;
        }
        __syncthreads();
#pragma unroll 4
        for (unsigned i = 0; i < DEPTH; i++) {
            float4 av = *(const float4 *)&as[i][y * PER], bv = *(const float4 *)&bs[i][x * PER];
            float ar[PER] = {av.x, av.y, av.z, av.w}, br[PER] = {bv.x, bv.y, bv.z, bv.w};
#pragma unroll
            for (unsigned p = 0; p < PER; p++)
#pragma unroll
                for (unsigned q = 0; q < PER; q++) sum[p][q] += ar[p] * br[q];
        }
        __syncthreads();
    }
#pragma unroll
    for (unsigned p = 0; p < PER; p++)
#pragma unroll
        for (unsigned q = 0; q < PER; q++) {
            unsigned row = row0 + y * PER + p, col = col0 + x * PER + q;
            if (row < m && col < n) c[row * n + col] = alpha * sum[p][q] + beta * c[row * n + col];
        }
}

#define WIDE 16 /* columns of C per CTA, all of a thread's row */
#define TALL 8  /* rows of B's tile */

/* A row's 16 elements per thread, 128 x 16 per CTA: a tile of B in shared memory, each element of A from global
 * memory straight into 16 products. A and C are column-major here (a[k * m + row]), so that a warp's elements
 * are neighbours. CTA: 16 x 8 threads. After V. Volkov and J. W. Demmel, "Benchmarking GPUs to Tune Dense
 * Linear Algebra" (SC 2008). */
extern "C" __global__ void sgemm_rows(const float *__restrict__ a, const float *__restrict__ b,
                                      float *__restrict__ c, unsigned m, unsigned n, unsigned k, float alpha,
                                      float beta) {
    __shared__ float bs[TALL][WIDE];
    unsigned x = threadIdx.x, y = threadIdx.y, t = y * WIDE + x;
    unsigned row = blockIdx.y * WIDE * TALL + t, col0 = blockIdx.x * WIDE;
    float sum[WIDE] = {};
    for (unsigned d = 0; d < k; d += TALL) {
        bs[y][x] = d + y < k && col0 + x < n ? b[(d + y) * n + col0 + x] : 0.0f;
        __syncthreads();
#pragma unroll 1
        for (unsigned i = 0; i < TALL; i++) {
            float av = row < m && d + i < k ? a[(d + i) * m + row] : 0.0f;
#pragma unroll
            for (unsigned q = 0; q < WIDE; q++) sum[q] += av * bs[i][q];
        }
        __syncthreads();
    }
#pragma unroll
    for (unsigned q = 0; q < WIDE; q++)
        if (row < m && col0 + q < n) c[(col0 + q) * m + row] = alpha * sum[q] + beta * c[(col0 + q) * m + row];
}
