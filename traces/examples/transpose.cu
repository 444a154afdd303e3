/* A matrix transpose to tune: tiles of TILE x TILE in shared memory, PAD columns beside them, ROWS elements a thread. */
#ifndef TILE
#define TILE 32
#endif
#ifndef PAD
#define PAD 1
#endif
#ifndef ROWS
#define ROWS 4
#endif

extern "C" __global__ void transpose(float *out, const float *in, int n) {
    __shared__ float tile[TILE][TILE + PAD];
    int x = blockIdx.x * TILE + threadIdx.x, y = blockIdx.y * TILE + threadIdx.y;
    for (int i = 0; i < TILE; i += TILE / ROWS) tile[threadIdx.y + i][threadIdx.x] = in[(y + i) * n + x];
    __syncthreads();
    x = blockIdx.y * TILE + threadIdx.x;
    y = blockIdx.x * TILE + threadIdx.y;
    for (int i = 0; i < TILE; i += TILE / ROWS) out[(y + i) * n + x] = tile[threadIdx.x][threadIdx.y + i];
}
