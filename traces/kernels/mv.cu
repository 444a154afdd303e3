/* mv: y = A x, A rows x 1024 row-major. A CTA of 32 threads takes 32 rows; a tile of 32 x 32 is loaded by rows,
 * multiplied by the thread's element of x, and turned in shared memory, so that a thread adds up its own row.
 * The 33rd column spreads the words of a column over the banks. Each CTA begins 32 columns after the one before
 * it and goes around, so that CTAs do not all ask one memory channel: so does the mv that the authors' compiler
 * of 2010 publishes, which also unrolls its loops. */
#include "ww_device.h"

#define TILE 32
#define COLS 1024

extern "C" __global__ void mv_tile(const float *__restrict__ a, const float *__restrict__ x,
                                   float *__restrict__ y) {
    __shared__ float tile[TILE][TILE + 1];
    unsigned t = threadIdx.x;
    const float *rows = a + blockIdx.x * TILE * COLS + t;
    float sum = 0.0f;
    for (unsigned i = 0; i < COLS; i += TILE) {
        unsigned c = (blockIdx.x * TILE + i) % COLS;
        const float *row = rows + c;
        float stage[TILE], xc = x[c + t];
#pragma unroll
        for (unsigned i = 0; i < TILE; i++) stage[i] = row[i * COLS];
#pragma unroll
        for (unsigned i = 0; i < TILE; i++) stage[i] *= xc;
        __syncthreads();
#pragma unroll
        for (unsigned i = 0; i < TILE; i++) tile[i][t] = stage[i];
        __syncthreads();
#pragma unroll
        for (unsigned i = 0; i < TILE; i++) sum += tile[t][i];
    }
    y[blockIdx.x * TILE + t] = sum;
}
