/* cu_copy.c: the driver's interface: copies and fills. They are done when the call returns. */
#include "core_graph.h"
#include "cu.h"

static void *pointer(cu_pointer p) {
    return (void *)(uintptr_t)p;
}

static int copy(void *dst, const void *src, size_t n, int kind) {
    CU_CONTEXT;
    return ww_cu_code(ww_rt_copy_rows(dst, n, src, n, n, 1, kind));
}

/* The same on a stream. */
static int copy_on(void *stream, void *dst, const void *src, size_t n, int kind) {
    CU_CONTEXT;
    if (!ww_rt_known_stream(stream)) return CU_INVALID_HANDLE;
    RT_ON(stream);
    return ww_cu_code(ww_rt_copy_rows(dst, n, src, n, n, 1, kind));
}

RT_EXPORT int cuMemcpy(cu_pointer dst, cu_pointer src, size_t n) {
    return copy(pointer(dst), pointer(src), n, RT_COPY_DEFAULT);
}
RT_ALIAS(cuMemcpy_ptds, cuMemcpy)
RT_EXPORT int cuMemcpyAsync(cu_pointer dst, cu_pointer src, size_t n, void *stream) {
    return copy_on(stream, pointer(dst), pointer(src), n, RT_COPY_DEFAULT);
}
RT_ALIAS(cuMemcpyAsync_ptsz, cuMemcpyAsync)

RT_EXPORT int cuMemcpyHtoD_v2(cu_pointer dst, const void *src, size_t n) {
    return copy(pointer(dst), src, n, RT_HOST_TO_DEVICE);
}
RT_ALIAS(cuMemcpyHtoD_v2_ptds, cuMemcpyHtoD_v2)
RT_EXPORT int cuMemcpyHtoDAsync_v2(cu_pointer dst, const void *src, size_t n, void *stream) {
    return copy_on(stream, pointer(dst), src, n, RT_HOST_TO_DEVICE);
}
RT_ALIAS(cuMemcpyHtoDAsync_v2_ptsz, cuMemcpyHtoDAsync_v2)

RT_EXPORT int cuMemcpyDtoH_v2(void *dst, cu_pointer src, size_t n) {
    return copy(dst, pointer(src), n, RT_DEVICE_TO_HOST);
}
RT_ALIAS(cuMemcpyDtoH_v2_ptds, cuMemcpyDtoH_v2)
RT_EXPORT int cuMemcpyDtoHAsync_v2(void *dst, cu_pointer src, size_t n, void *stream) {
    return copy_on(stream, dst, pointer(src), n, RT_DEVICE_TO_HOST);
}
RT_ALIAS(cuMemcpyDtoHAsync_v2_ptsz, cuMemcpyDtoHAsync_v2)

RT_EXPORT int cuMemcpyDtoD_v2(cu_pointer dst, cu_pointer src, size_t n) {
    return copy(pointer(dst), pointer(src), n, RT_DEVICE_TO_DEVICE);
}
RT_ALIAS(cuMemcpyDtoD_v2_ptds, cuMemcpyDtoD_v2)
RT_EXPORT int cuMemcpyDtoDAsync_v2(cu_pointer dst, cu_pointer src, size_t n, void *stream) {
    return copy_on(stream, pointer(dst), pointer(src), n, RT_DEVICE_TO_DEVICE);
}
RT_ALIAS(cuMemcpyDtoDAsync_v2_ptsz, cuMemcpyDtoDAsync_v2)

/* ---- 2D and 3D ---- */

struct place {
    unsigned char *p;
    size_t pitch, slice;
};

/* Where a side begins; `pitch` 0 stands for rows without gaps. */
static int place_of(const cu_side3d *s, size_t width, size_t height, size_t depth, struct place *at) {
    const struct rt_array *a = s->type == CU_ARRAY ? ww_rt_array_find(s->array) : NULL;
    if (s->level || s->type < CU_HOST || s->type > CU_UNIFIED) return RT_ERROR_INVALID_VALUE;
    if (s->type == CU_ARRAY) {
        if (!a) return CU_INVALID_HANDLE;
        size_t slices = a->extent.depth ? a->extent.depth : 1;
        if (s->z > slices || depth > slices - s->z) return RT_ERROR_INVALID_VALUE;
        at->slice = a->row * a->rows;
        int code = ww_rt_array_place(s->array, s->x, s->y, width, height, &at->p, &at->pitch);
        at->p += s->z * at->slice;
        return code;
    }
    at->pitch = s->pitch ? s->pitch : width;
    at->slice = at->pitch * (s->height ? s->height : height);
    unsigned char *base = s->type == CU_HOST ? s->host : pointer(s->device);
    if (!base) return RT_ERROR_INVALID_VALUE;
    at->p = base + s->z * at->slice + s->y * at->pitch + s->x;
    return 0;
}

static int copy_3d(const cu_copy3d *c) {
    struct place from, to;
    int code = place_of(&c->src, c->width, c->height, c->depth, &from);
    if (!code) code = place_of(&c->dst, c->width, c->height, c->depth, &to);
    for (size_t z = 0; z < c->depth && !code; z++)
        code = ww_rt_copy_rows(to.p + z * to.slice, to.pitch, from.p + z * from.slice, from.pitch, c->width,
                               c->height, RT_COPY_DEFAULT);
    return ww_cu_code(code);
}

static cu_side3d deepen(const cu_side2d *s) {
    return (cu_side3d){.x = s->x,
                       .y = s->y,
                       .type = s->type,
                       .host = s->host,
                       .device = s->device,
                       .array = s->array,
                       .pitch = s->pitch};
}

RT_EXPORT int cuMemcpy2D_v2(const cu_copy2d *c) {
    CU_CONTEXT;
    if (!c) return RT_ERROR_INVALID_VALUE;
    const cu_copy3d deep = {deepen(&c->src), deepen(&c->dst), c->width, c->height, 1};
    return copy_3d(&deep);
}
RT_ALIAS(cuMemcpy2D_v2_ptds, cuMemcpy2D_v2)
RT_ALIAS(cuMemcpy2DUnaligned_v2, cuMemcpy2D_v2)
RT_ALIAS(cuMemcpy2DUnaligned_v2_ptds, cuMemcpy2D_v2)

RT_EXPORT int cuMemcpy2DAsync_v2(const cu_copy2d *c, void *stream) {
    RT_ON(stream);
    return cuMemcpy2D_v2(c);
}
RT_ALIAS(cuMemcpy2DAsync_v2_ptsz, cuMemcpy2DAsync_v2)

RT_EXPORT int cuMemcpy3D_v2(const cu_copy3d *c) {
    CU_CONTEXT;
    return c ? copy_3d(c) : RT_ERROR_INVALID_VALUE;
}
RT_ALIAS(cuMemcpy3D_v2_ptds, cuMemcpy3D_v2)

RT_EXPORT int cuMemcpy3DAsync_v2(const cu_copy3d *c, void *stream) {
    RT_ON(stream);
    return cuMemcpy3D_v2(c);
}
RT_ALIAS(cuMemcpy3DAsync_v2_ptsz, cuMemcpy3DAsync_v2)

/* ---- fills: `width` elements of 1, 2 or 4 bytes ---- */

static int fill(cu_pointer p, size_t pitch, uint32_t value, unsigned element, size_t width, size_t height) {
    size_t bytes;
    CU_CONTEXT;
    if (__builtin_mul_overflow(width, element, &bytes)) return RT_ERROR_INVALID_VALUE;
    const struct rt_fill f = {pointer(p), height > 1 ? pitch : bytes, bytes, height, value, element};
    return ww_cu_code(ww_rt_fill_rows(&f));
}

#define FILL(bits, type)                                                                                       \
    RT_EXPORT int cuMemsetD##bits##_v2(cu_pointer p, type value, size_t n) {                                   \
        return fill(p, 0, value, (bits) / 8, n, 1);                                                            \
    }                                                                                                          \
    RT_ALIAS(cuMemsetD##bits##_v2_ptds, cuMemsetD##bits##_v2)                                                  \
    RT_EXPORT int cuMemsetD##bits##Async(cu_pointer p, type value, size_t n, void *stream) {                   \
        RT_ON(stream);                                                                                         \
        return fill(p, 0, value, (bits) / 8, n, 1);                                                            \
    }                                                                                                          \
    RT_ALIAS(cuMemsetD##bits##Async_ptsz, cuMemsetD##bits##Async)                                              \
    RT_EXPORT int cuMemsetD2D##bits##_v2(cu_pointer p, size_t pitch, type value, size_t width,                 \
                                         size_t height) {                                                      \
        return fill(p, pitch, value, (bits) / 8, width, height);                                               \
    }                                                                                                          \
    RT_ALIAS(cuMemsetD2D##bits##_v2_ptds, cuMemsetD2D##bits##_v2)                                              \
    RT_EXPORT int cuMemsetD2D##bits##Async(cu_pointer p, size_t pitch, type value, size_t width,               \
                                           size_t height, void *stream) {                                      \
        RT_ON(stream);                                                                                         \
        return fill(p, pitch, value, (bits) / 8, width, height);                                               \
    }                                                                                                          \
    RT_ALIAS(cuMemsetD2D##bits##Async_ptsz, cuMemsetD2D##bits##Async)

FILL(8, uint8_t)
FILL(16, uint16_t)
FILL(32, uint32_t)
