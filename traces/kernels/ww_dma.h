/* ww_dma.h: intrinsics of D2MA, bulk transfers from global to shared memory (A. Jamshidi, M. Samadi, S. Mahlke,
 * D2MA: Accelerating Coarse-Grained Data Transfer for GPUs, PACT 2014).
 *
 * A CTA has four buffers. dma_flat(), dma_strided(), dma_tile(), dma_spread(), dma_halo() say what a buffer
 * holds; dma_execute() fetches a tile into it. All threads of the CTA call them, at the same places, with the
 * same arguments. A transfer takes effect when all warps of the CTA have reached it; loads of the tile wait for
 * it, so no __syncthreads() is needed behind it. The recorder of warpwatt turns the two declared functions into
 * one instruction each; for a compiler of real GPUs a copy by all threads stands in for the engine.
 *
 * Sizes and strides are in elements of `size` bytes. Regions of a halo are numbered clockwise from the top left
 * corner, 9 is inside:  1 2 3 / 8 9 4 / 7 6 5. */
#ifndef WW_DMA_H
#define WW_DMA_H

#include "ww_device.h"

#ifndef __NVCC__

extern "C" __device__ void ww_dma_configure(unsigned buffer, unsigned columns, unsigned rows, unsigned size,
                                            unsigned stride, unsigned mode, unsigned halo_rows,
                                            unsigned halo_columns, unsigned constant);
extern "C" __device__ void ww_dma_execute(unsigned buffer, void *shared, const void *global, unsigned region);

#else

struct ww_dma_layout {
    unsigned columns, rows, size, stride, mode, halo_rows, halo_columns, constant;
};
static __device__ __forceinline__ ww_dma_layout *ww_dma_table() {
    __shared__ ww_dma_layout table[4];
    return table;
}
static __device__ __forceinline__ void ww_dma_configure(unsigned buffer, unsigned columns, unsigned rows,
                                                        unsigned size, unsigned stride, unsigned mode,
                                                        unsigned halo_rows, unsigned halo_columns,
                                                        unsigned constant) {
    __syncthreads();
    ww_dma_table()[buffer] = {columns, rows, size, stride, mode, halo_rows, halo_columns, constant};
    __syncthreads();
}
static __device__ __forceinline__ void ww_dma_execute(unsigned buffer, void *shared, const void *global,
                                                      unsigned region) {
    const ww_dma_layout d = ww_dma_table()[buffer];
    unsigned threads = blockDim.x * blockDim.y * blockDim.z;
    unsigned me = threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
    bool halo = d.mode == 2, top = region >= 1 && region <= 3, bottom = region >= 5 && region <= 7;
    bool left = region == 1 || region >= 7 && region <= 8, right = region >= 3 && region <= 5;
    int hr = halo ? d.halo_rows : 0, hc = halo ? d.halo_columns : 0, rows = d.rows ? d.rows : 1;
    int width = d.columns + 2 * hc, all = width * (rows + 2 * hr);
    __syncthreads();
    for (int k = me; k < all; k += threads) {
        int r = k / width - hr, c = k % width - hc;
        bool outside = r < 0 && top || r >= rows && bottom || c < 0 && left || c >= (int)d.columns && right;
        long long at = d.rows ? (long long)r * d.stride + c : (long long)c * d.stride;
        unsigned place = d.mode == 1 ? k + k / d.halo_rows : k;
        for (unsigned b = 0; b < d.size; b++)
            ((unsigned char *)shared)[place * d.size + b] =
                halo && outside ? (b < 2 ? d.constant >> 8 * b : 0)
                                : ((const unsigned char *)global)[at * d.size + b];
    }
    __syncthreads();
}

#endif

/* n elements side by side. */
WW_BUILTIN void dma_flat(unsigned buffer, unsigned size, unsigned n) {
    ww_dma_configure(buffer, n, 0, size, 1, 0, 0, 0, 0);
}
/* n elements, `stride` apart. */
WW_BUILTIN void dma_strided(unsigned buffer, unsigned size, unsigned n, unsigned stride) {
    ww_dma_configure(buffer, n, 0, size, stride, 0, 0, 0, 0);
}
/* rows x columns of a matrix whose rows are `leading` apart; dense in shared memory. */
WW_BUILTIN void dma_tile(unsigned buffer, unsigned size, unsigned rows, unsigned columns, unsigned leading) {
    ww_dma_configure(buffer, columns, rows, size, leading, 0, 0, 0, 0);
}
/* The same; in shared memory one element is left free behind each `run` ones, against bank conflicts. */
WW_BUILTIN void dma_spread(unsigned buffer, unsigned size, unsigned rows, unsigned columns, unsigned leading,
                           unsigned run) {
    ww_dma_configure(buffer, columns, rows, size, leading, 1, run, 0, 0);
}
/* The same with so many rows and columns around it; outside of the data they are the constant. */
WW_BUILTIN void dma_halo(unsigned buffer, unsigned size, unsigned rows, unsigned columns, unsigned leading,
                         unsigned halo_rows, unsigned halo_columns, unsigned constant) {
    ww_dma_configure(buffer, columns, rows, size, leading, 2, halo_rows, halo_columns, constant);
}
/* Fetches the tile at `global` into the buffer's place in shared memory; region: of a halo, else 0. */
WW_BUILTIN void dma_execute(unsigned buffer, void *shared, const void *global, unsigned region = 0) {
    ww_dma_execute(buffer, shared, global, region);
}
/* Region of tile (x, y) of nx x ny ones (at least two each way). */
WW_BUILTIN unsigned dma_region(unsigned x, unsigned y, unsigned nx, unsigned ny) {
    unsigned along = (x > 0) + (x == nx - 1);
    unsigned side = along == 0 ? 8 : along == 1 ? 9 : 4;
    return y == 0 ? 1 + along : y == ny - 1 ? 7 - along : side;
}

#endif
