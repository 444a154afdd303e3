/* rt_array.c: CUDA arrays, and copies that have an array on one side. An array is a pitch-free block of device
 * memory; its layout on a GPU is not modelled. */
#include "rt.h"
#include "rt_array.h"
#include <stdlib.h>
#include <string.h>

static struct rt_array *arrays;

struct rt_array *ww_rt_array_find(const void *handle) {
    for (struct rt_array *a = arrays; a; a = a->next)
        if (a == handle) return a;
    return NULL;
}

size_t ww_rt_element_bytes(const rt_channel *c) {
    int bits = c->x + c->y + c->z + c->w;
    bool good = c->x >= 0 && c->y >= 0 && c->z >= 0 && c->w >= 0 && bits % 8 == 0 && bits <= 128;
    return good ? (size_t)bits / 8 : 0;
}

static int new_array(struct rt_array **out, const rt_channel *c, rt_extent e, unsigned flags) {
    size_t element = c ? ww_rt_element_bytes(c) : 0, row, bytes, rows = (e.height ? e.height : 1);
    if (!out || element == 0) return out ? RT_ERROR_INVALID_CHANNEL_DESCRIPTOR : RT_ERROR_INVALID_VALUE;
    if (e.width == 0) return RT_ERROR_INVALID_VALUE;
    if (__builtin_mul_overflow(e.width, element, &row) || __builtin_mul_overflow(row, rows, &bytes) ||
        __builtin_mul_overflow(bytes, e.depth ? e.depth : 1, &bytes))
        return RT_ERROR_MEMORY_ALLOCATION;
    struct rt_array *a = calloc(1, sizeof *a);
    if (!a) return RT_ERROR_MEMORY_ALLOCATION;
    if (ww_device_alloc(ww_rt.device, bytes, &a->address, NULL) != WW_OK) {
        free(a);
        return RT_ERROR_MEMORY_ALLOCATION;
    }
    a->channel = *c;
    a->extent = e;
    a->flags = flags;
    a->element = element;
    a->row = row;
    a->rows = rows;
    a->next = arrays;
    arrays = a;
    *out = a;
    return 0;
}

RT_EXPORT int cudaMallocArray(struct rt_array **out, const rt_channel *c, size_t width, size_t height,
                              unsigned flags) {
    RT_ENTER;
    return ww_rt_set(new_array(out, c, (rt_extent){width, height, 0}, flags));
}

RT_EXPORT int cudaMalloc3DArray(struct rt_array **out, const rt_channel *c, rt_extent extent, unsigned flags) {
    RT_ENTER;
    return ww_rt_set(new_array(out, c, extent, flags));
}

RT_EXPORT int cudaFreeArray(struct rt_array *array) {
    RT_ENTER;
    if (!array) return 0;
    for (struct rt_array **at = &arrays; *at; at = &(*at)->next) {
        if (*at != array) continue;
        *at = array->next;
        ww_device_free(ww_rt.device, array->address, NULL);
        free(array);
        return 0;
    }
    return ww_rt_set(RT_ERROR_INVALID_RESOURCE_HANDLE);
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

/* The place of (x bytes, y) in the array if width x height bytes fit there. */
static int place(const void *array, size_t x, size_t y, size_t width, size_t height, unsigned char **p,
                 size_t *pitch) {
    const struct rt_array *a = ww_rt_array_find(array);
    if (!a) return RT_ERROR_INVALID_RESOURCE_HANDLE;
    if (x > a->row || width > a->row - x || y > a->rows || height > a->rows - y) return RT_ERROR_INVALID_VALUE;
    *p = (unsigned char *)(uintptr_t)(a->address + y * a->row + x);
    *pitch = a->row;
    return 0;
}

/* The direction with the array's side taken as device memory. */
static int to_array(int kind) {
    return kind == RT_HOST_TO_DEVICE || kind == RT_DEVICE_TO_DEVICE ? kind : RT_COPY_DEFAULT;
}

RT_EXPORT int cudaMemcpy2DToArray(void *array, size_t x, size_t y, const void *src, size_t pitch, size_t width,
                                  size_t height, int kind) {
    unsigned char *p;
    size_t row;
    RT_ENTER;
    int code = place(array, x, y, width, height, &p, &row);
    return ww_rt_set(code ? code : ww_rt_copy_rows(p, row, src, pitch, width, height, to_array(kind)));
}
RT_ALIAS(cudaMemcpy2DToArray_ptds, cudaMemcpy2DToArray)

RT_EXPORT int cudaMemcpy2DToArrayAsync(void *array, size_t x, size_t y, const void *src, size_t pitch,
                                       size_t width, size_t height, int kind, void *stream) {
    (void)stream;
    return cudaMemcpy2DToArray(array, x, y, src, pitch, width, height, kind);
}
RT_ALIAS(cudaMemcpy2DToArrayAsync_ptsz, cudaMemcpy2DToArrayAsync)

RT_EXPORT int cudaMemcpy2DFromArray(void *dst, size_t pitch, const void *array, size_t x, size_t y,
                                    size_t width, size_t height, int kind) {
    unsigned char *p;
    size_t row;
    RT_ENTER;
    int code = place(array, x, y, width, height, &p, &row);
    int way = kind == RT_DEVICE_TO_HOST || kind == RT_DEVICE_TO_DEVICE ? kind : RT_COPY_DEFAULT;
    return ww_rt_set(code ? code : ww_rt_copy_rows(dst, pitch, p, row, width, height, way));
}
RT_ALIAS(cudaMemcpy2DFromArray_ptds, cudaMemcpy2DFromArray)

RT_EXPORT int cudaMemcpy2DFromArrayAsync(void *dst, size_t pitch, const void *array, size_t x, size_t y,
                                         size_t width, size_t height, int kind, void *stream) {
    (void)stream;
    return cudaMemcpy2DFromArray(dst, pitch, array, x, y, width, height, kind);
}
RT_ALIAS(cudaMemcpy2DFromArrayAsync_ptsz, cudaMemcpy2DFromArrayAsync)

RT_EXPORT int cudaMemcpy2DArrayToArray(void *to, size_t tx, size_t ty, const void *from, size_t fx, size_t fy,
                                       size_t width, size_t height, int kind) {
    unsigned char *p, *q;
    size_t to_row, from_row;
    (void)kind;
    RT_ENTER;
    int code = place(to, tx, ty, width, height, &p, &to_row);
    if (!code) code = place(from, fx, fy, width, height, &q, &from_row);
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

struct side3d {
    unsigned char *p;
    size_t pitch, slice;
};

static int side3d(const void *array, const rt_pitched *linear, rt_pos at, size_t width, rt_extent e,
                  struct side3d *s) {
    const struct rt_array *a = ww_rt_array_find(array);
    if (array && !a) return RT_ERROR_INVALID_RESOURCE_HANDLE;
    if (!a) {
        s->pitch = linear->pitch;
        s->slice = linear->pitch * linear->ysize;
        s->p = (unsigned char *)linear->ptr + at.z * s->slice + at.y * s->pitch + at.x;
        return linear->ptr ? 0 : RT_ERROR_INVALID_VALUE;
    }
    size_t depth = a->extent.depth ? a->extent.depth : 1, x = at.x * a->element;
    bool fits = x <= a->row && width <= a->row - x && at.y <= a->rows && e.height <= a->rows - at.y &&
                at.z <= depth && e.depth <= depth - at.z;
    s->pitch = a->row;
    s->slice = a->row * a->rows;
    s->p = (unsigned char *)(uintptr_t)(a->address + at.z * s->slice + at.y * s->pitch + x);
    return fits ? 0 : RT_ERROR_INVALID_VALUE;
}

static int copy3d(const rt_copy3d *c) {
    struct side3d to, from;
    const struct rt_array *a = ww_rt_array_find(c->src_array), *b = ww_rt_array_find(c->dst_array);
    size_t width = c->extent.width * (a ? a->element : b ? b->element : 1);
    int kind = a || b ? RT_COPY_DEFAULT : c->kind;
    int code = side3d(c->dst_array, &c->dst, c->dst_pos, width, c->extent, &to);
    if (!code) code = side3d(c->src_array, &c->src, c->src_pos, width, c->extent, &from);
    for (size_t z = 0; z < c->extent.depth && !code; z++)
        code = ww_rt_copy_rows(to.p + z * to.slice, to.pitch, from.p + z * from.slice, from.pitch, width,
                               c->extent.height, kind);
    return code;
}

RT_EXPORT int cudaMemcpy3D(const rt_copy3d *c) {
    RT_ENTER;
    return ww_rt_set(c ? copy3d(c) : RT_ERROR_INVALID_VALUE);
}
RT_ALIAS(cudaMemcpy3D_ptds, cudaMemcpy3D)

RT_EXPORT int cudaMemcpy3DAsync(const rt_copy3d *c, void *stream) {
    (void)stream;
    return cudaMemcpy3D(c);
}
RT_ALIAS(cudaMemcpy3DAsync_ptsz, cudaMemcpy3DAsync)
