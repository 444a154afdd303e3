/* rt_array.c: CUDA arrays, and copies that have an array on one side. An array is a pitch-free block of device
 * memory; its layout on a GPU is not modelled. */
#include "core_graph.h"
#include <stdlib.h>
#include <string.h>

RT_EXPORT int cudaMallocArray(struct rt_array **out, const rt_channel *c, size_t width, size_t height,
                              unsigned flags) {
    RT_ENTER;
    return ww_rt_set(ww_rt_array_new(out, c, (rt_extent){width, height, 0}, flags));
}

RT_EXPORT int cudaMalloc3DArray(struct rt_array **out, const rt_channel *c, rt_extent extent, unsigned flags) {
    RT_ENTER;
    return ww_rt_set(ww_rt_array_new(out, c, extent, flags));
}

RT_EXPORT int cudaFreeArray(struct rt_array *array) {
    RT_ENTER;
    return ww_rt_set(ww_rt_array_free(array));
}

RT_EXPORT int cudaArrayGetInfo(rt_channel *c, rt_extent *extent, unsigned *flags, const void *array) {
    RT_ENTER;
    const struct rt_array *a = ww_rt_array_find(array);
    if (!a) return ww_rt_set(RT_ERROR_INVALID_RESOURCE_HANDLE);
    if (c) *c = a->channel;
    if (extent) *extent = a->extent;
    if (flags) *flags = a->flags;
    return 0;
}

RT_EXPORT int cudaGetChannelDesc(rt_channel *c, const void *array) {
    return cudaArrayGetInfo(c, NULL, NULL, array);
}

RT_EXPORT rt_channel cudaCreateChannelDesc(int x, int y, int z, int w, int kind) {
    return (rt_channel){x, y, z, w, kind};
}

/* ---- copies of rows ---- */

/* The direction with the array's side taken as device memory. */
static int to_array(int kind) {
    return kind == RT_HOST_TO_DEVICE || kind == RT_DEVICE_TO_DEVICE ? kind : RT_COPY_DEFAULT;
}

RT_EXPORT int cudaMemcpy2DToArray(void *array, size_t x, size_t y, const void *src, size_t pitch, size_t width,
                                  size_t height, int kind) {
    unsigned char *p;
    size_t row;
    RT_ENTER;
    int code = ww_rt_array_place(array, x, y, width, height, &p, &row);
    return ww_rt_set(code ? code : ww_rt_copy_rows(p, row, src, pitch, width, height, to_array(kind)));
}
RT_ALIAS(cudaMemcpy2DToArray_ptds, cudaMemcpy2DToArray)

RT_EXPORT int cudaMemcpy2DToArrayAsync(void *array, size_t x, size_t y, const void *src, size_t pitch,
                                       size_t width, size_t height, int kind, void *stream) {
    RT_ON(stream);
    return cudaMemcpy2DToArray(array, x, y, src, pitch, width, height, kind);
}
RT_ALIAS(cudaMemcpy2DToArrayAsync_ptsz, cudaMemcpy2DToArrayAsync)

RT_EXPORT int cudaMemcpy2DFromArray(void *dst, size_t pitch, const void *array, size_t x, size_t y,
                                    size_t width, size_t height, int kind) {
    unsigned char *p;
    size_t row;
    RT_ENTER;
    int code = ww_rt_array_place(array, x, y, width, height, &p, &row);
    int way = kind == RT_DEVICE_TO_HOST || kind == RT_DEVICE_TO_DEVICE ? kind : RT_COPY_DEFAULT;
    return ww_rt_set(code ? code : ww_rt_copy_rows(dst, pitch, p, row, width, height, way));
}
RT_ALIAS(cudaMemcpy2DFromArray_ptds, cudaMemcpy2DFromArray)

RT_EXPORT int cudaMemcpy2DFromArrayAsync(void *dst, size_t pitch, const void *array, size_t x, size_t y,
                                         size_t width, size_t height, int kind, void *stream) {
    RT_ON(stream);
    return cudaMemcpy2DFromArray(dst, pitch, array, x, y, width, height, kind);
}
RT_ALIAS(cudaMemcpy2DFromArrayAsync_ptsz, cudaMemcpy2DFromArrayAsync)

RT_EXPORT int cudaMemcpy2DArrayToArray(void *to, size_t tx, size_t ty, const void *from, size_t fx, size_t fy,
                                       size_t width, size_t height, int kind) {
    unsigned char *p, *q;
    size_t to_row, from_row;
    (void)kind;
    RT_ENTER;
    int code = ww_rt_array_place(to, tx, ty, width, height, &p, &to_row);
    if (!code) code = ww_rt_array_place(from, fx, fy, width, height, &q, &from_row);
    return ww_rt_set(code ? code : ww_rt_copy_rows(p, to_row, q, from_row, width, height, RT_DEVICE_TO_DEVICE));
}
RT_ALIAS(cudaMemcpy2DArrayToArray_ptds, cudaMemcpy2DArrayToArray)

/* The older copies of n bytes that run on over rows: rows have no gaps here, so they are one range. */
static int place_run(const void *array, size_t x, size_t y, size_t n, unsigned char **p) {
    const struct rt_array *a = ww_rt_array_find(array);
    if (!a) return RT_ERROR_INVALID_RESOURCE_HANDLE;
    size_t all = a->row * a->rows;
    if (x > a->row || y >= a->rows || n > all - (y * a->row + x)) return RT_ERROR_INVALID_VALUE;
    *p = (unsigned char *)(uintptr_t)(a->address + y * a->row + x);
    return 0;
}

RT_EXPORT int cudaMemcpyToArray(void *array, size_t x, size_t y, const void *src, size_t n, int kind) {
    unsigned char *p;
    RT_ENTER;
    int code = place_run(array, x, y, n, &p);
    return ww_rt_set(code ? code : ww_rt_copy_rows(p, n, src, n, n, 1, to_array(kind)));
}
RT_ALIAS(cudaMemcpyToArray_ptds, cudaMemcpyToArray)

RT_EXPORT int cudaMemcpyFromArray(void *dst, const void *array, size_t x, size_t y, size_t n, int kind) {
    unsigned char *p;
    RT_ENTER;
    int code = place_run(array, x, y, n, &p);
    int way = kind == RT_DEVICE_TO_HOST || kind == RT_DEVICE_TO_DEVICE ? kind : RT_COPY_DEFAULT;
    return ww_rt_set(code ? code : ww_rt_copy_rows(dst, n, p, n, n, 1, way));
}
RT_ALIAS(cudaMemcpyFromArray_ptds, cudaMemcpyFromArray)

/* ---- 3D copies: slices of rows; widths are elements where an array takes part, else bytes ---- */

RT_EXPORT int cudaMemcpy3D(const rt_copy3d *c) {
    RT_ENTER;
    return ww_rt_set(c ? ww_rt_copy_3d(c) : RT_ERROR_INVALID_VALUE);
}
RT_ALIAS(cudaMemcpy3D_ptds, cudaMemcpy3D)

RT_EXPORT int cudaMemcpy3DAsync(const rt_copy3d *c, void *stream) {
    RT_ON(stream);
    return cudaMemcpy3D(c);
}
RT_ALIAS(cudaMemcpy3DAsync_ptsz, cudaMemcpy3DAsync)
