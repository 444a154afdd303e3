/* d2_filter: 3 x 3 image filters over tiles of 16 x 16 pixels with a halo of one pixel in shared memory; outside of
 * the image pixels are 0. The plain kernels fill the tile as CUDA programs do, with a condition for each side and
 * corner; those with _dma let D2MA's engine do it. */
#include "ww_dma.h"

#define TILE 16
#define WIDE (TILE + 2)

/* What the image holds at a place around the tile. */
static __device__ __forceinline__ float pixel(const float *in, int x, int y, int width, int height) {
    return x >= 0 && x < width && y >= 0 && y < height ? in[y * width + x] : 0.0f;
}

static __device__ __forceinline__ void fill(float (*tile)[WIDE], const float *in, int width, int height) {
    int tx = threadIdx.x, ty = threadIdx.y, x = blockIdx.x * TILE + tx, y = blockIdx.y * TILE + ty;
    tile[ty + 1][tx + 1] = in[y * width + x];
    if (ty == 0) tile[0][tx + 1] = pixel(in, x, y - 1, width, height);
    if (ty == TILE - 1) tile[TILE + 1][tx + 1] = pixel(in, x, y + 1, width, height);
    if (tx == 0) tile[ty + 1][0] = pixel(in, x - 1, y, width, height);
    if (tx == TILE - 1) tile[ty + 1][TILE + 1] = pixel(in, x + 1, y, width, height);
    if (tx == 0 && ty == 0) tile[0][0] = pixel(in, x - 1, y - 1, width, height);
    if (tx == TILE - 1 && ty == 0) tile[0][TILE + 1] = pixel(in, x + 1, y - 1, width, height);
    if (tx == 0 && ty == TILE - 1) tile[TILE + 1][0] = pixel(in, x - 1, y + 1, width, height);
    if (tx == TILE - 1 && ty == TILE - 1) tile[TILE + 1][TILE + 1] = pixel(in, x + 1, y + 1, width, height);
    __syncthreads();
}

static __device__ __forceinline__ void fetch(float (*tile)[WIDE], const float *in, int width) {
    unsigned region = dma_region(blockIdx.x, blockIdx.y, gridDim.x, gridDim.y);
    dma_halo(0, sizeof(float), TILE, TILE, width, 1, 1, 0);
    dma_execute(0, tile, in + blockIdx.y * TILE * width + blockIdx.x * TILE, region);
}

struct gauss {
    static __device__ __forceinline__ float of(float (*t)[WIDE], int x, int y) {
        float edges = t[y][x + 1] + t[y + 1][x] + t[y + 1][x + 2] + t[y + 2][x + 1];
        float corners = t[y][x] + t[y][x + 2] + t[y + 2][x] + t[y + 2][x + 2];
        return 0.25f * t[y + 1][x + 1] + 0.125f * edges + 0.0625f * corners;
    }
};

struct mean {
    static __device__ __forceinline__ float of(float (*t)[WIDE], int x, int y) {
        float sum = 0;
        for (int j = 0; j < 3; j++)
            for (int i = 0; i < 3; i++) sum += t[y + j][x + i];
        return sum * 0.0625f;
    }
};

struct sobel {
    static __device__ __forceinline__ float of(float (*t)[WIDE], int x, int y) {
        float h = t[y][x + 2] + 2 * t[y + 1][x + 2] + t[y + 2][x + 2] - t[y][x] - 2 * t[y + 1][x] - t[y + 2][x];
        float v = t[y][x] + 2 * t[y][x + 1] + t[y][x + 2] - t[y + 2][x] - 2 * t[y + 2][x + 1] - t[y + 2][x + 2];
        float sum = (h < 0 ? -h : h) + (v < 0 ? -v : v);
        return sum > 255 ? 255 : sum;
    }
};

template <class FILTER>
static __device__ __forceinline__ void filter(float *out, float (*tile)[WIDE], int width) {
    int x = blockIdx.x * TILE + threadIdx.x, y = blockIdx.y * TILE + threadIdx.y;
    out[y * width + x] = FILTER::of(tile, threadIdx.x, threadIdx.y);
}

#define FILTER(NAME)                                                                                           \
    extern "C" __global__ void d2_##NAME(const float *__restrict__ in, float *__restrict__ out, int width,     \
                                         int height) {                                                         \
        __shared__ float tile[WIDE][WIDE];                                                                     \
        fill(tile, in, width, height);                                                                         \
        filter<NAME>(out, tile, width);                                                                        \
    }                                                                                                          \
    extern "C" __global__ void d2_##NAME##_dma(const float *__restrict__ in, float *__restrict__ out,          \
                                               int width, int) {                                               \
        __shared__ float tile[WIDE][WIDE];                                                                     \
        fetch(tile, in, width);                                                                                \
        filter<NAME>(out, tile, width);                                                                        \
    }

FILTER(gauss)
FILTER(mean)
FILTER(sobel)
