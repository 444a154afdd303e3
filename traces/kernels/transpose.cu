/* transpose: out[c][r] = in[r][c] for a rows x cols matrix; a CTA of 32 x 8 threads takes a 32 x 32 tile.
 * naive: loads are coalesced, each store of a warp touches 32 lines. coalesced: through a tile in shared
 * memory, whose columns all lie in one bank. padded: one unused column spreads them over the banks. */
#include "ww_device.h"

#define TILE 32
#define ROWS 8

extern "C" __global__ void transpose_naive(const float *__restrict__ in, float *__restrict__ out,
                                           unsigned rows, unsigned cols) {
    unsigned c = blockIdx.x * TILE + threadIdx.x, r = blockIdx.y * TILE + threadIdx.y;
    for (unsigned j = 0; j < TILE; j += ROWS)
        if (c < cols && r + j < rows) out[c * rows + r + j] = in[(r + j) * cols + c];
}

template <int WIDTH>
static __device__ __forceinline__ void transpose_tile(float (*tile)[WIDTH], const float *__restrict__ in,
                                                      float *__restrict__ out, unsigned rows, unsigned cols) {
    unsigned c = blockIdx.x * TILE + threadIdx.x, r = blockIdx.y * TILE + threadIdx.y;
    for (unsigned j = 0; j < TILE; j += ROWS)
        if (c < cols && r + j < rows) tile[threadIdx.y + j][threadIdx.x] = in[(r + j) * cols + c];
    __syncthreads();
    unsigned oc = blockIdx.y * TILE + threadIdx.x, orow = blockIdx.x * TILE + threadIdx.y;
    for (unsigned j = 0; j < TILE; j += ROWS)
        if (oc < rows && orow + j < cols) out[(orow + j) * rows + oc] = tile[threadIdx.x][threadIdx.y + j];
}

extern "C" __global__ void transpose_coalesced(const float *__restrict__ in, float *__restrict__ out,
                                               unsigned rows, unsigned cols) {
    __shared__ float tile[TILE][TILE];
    transpose_tile<TILE>(tile, in, out, rows, cols);
}

extern "C" __global__ void transpose_padded(const float *__restrict__ in, float *__restrict__ out,
                                            unsigned rows, unsigned cols) {
    __shared__ float tile[TILE][TILE + 1];
    transpose_tile<TILE + 1>(tile, in, out, rows, cols);
}

#define SQUARE 16

/* A thread moves one element: CTAs of 16 x 16 threads, matrices of any size (indices of 64 bits). */
template <int WIDTH>
static __device__ __forceinline__ void transpose_one(float (*tile)[WIDTH], const float *in, float *out,
                                                     unsigned long rows, unsigned long cols) {
    unsigned long left = (unsigned long)blockIdx.x * SQUARE, top = (unsigned long)blockIdx.y * SQUARE;
    unsigned long c = left + threadIdx.x, r = top + threadIdx.y;
    if (c < cols && r < rows) tile[threadIdx.y][threadIdx.x] = in[r * cols + c];
    __syncthreads();
    c = left + threadIdx.y;
    r = top + threadIdx.x;
    if (c < cols && r < rows) out[c * rows + r] = tile[threadIdx.x][threadIdx.y];
}

extern "C" __global__ void transpose_square(const float *in, float *out, unsigned long rows,
                                            unsigned long cols) {
    __shared__ float tile[SQUARE][SQUARE];
    transpose_one<SQUARE>(tile, in, out, rows, cols);
}

extern "C" __global__ void transpose_square_padded(const float *in, float *out, unsigned long rows,
                                                   unsigned long cols) {
    __shared__ float tile[SQUARE][SQUARE + 1];
    transpose_one<SQUARE + 1>(tile, in, out, rows, cols);
}

#define LINES 4

/* As padded, by CTAs of 32 x 4 threads. */
extern "C" __global__ void transpose_lines(const float *__restrict__ in, float *__restrict__ out, unsigned rows,
                                           unsigned cols) {
    __shared__ float tile[TILE][TILE + 1];
    unsigned c = blockIdx.x * TILE + threadIdx.x, r = blockIdx.y * TILE + threadIdx.y;
    for (unsigned j = 0; j < TILE; j += LINES)
        if (c < cols && r + j < rows) tile[threadIdx.y + j][threadIdx.x] = in[(r + j) * cols + c];
    __syncthreads();
    unsigned oc = blockIdx.y * TILE + threadIdx.x, orow = blockIdx.x * TILE + threadIdx.y;
    for (unsigned j = 0; j < TILE; j += LINES)
        if (oc < rows && orow + j < cols) out[(orow + j) * rows + oc] = tile[threadIdx.x][threadIdx.y + j];
}
