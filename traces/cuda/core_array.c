/* core_array.c: CUDA arrays, and copies that have an array on one side. An array is a pitch-free block of
 * device memory; its layout on a GPU is not modelled. */
#include "core.h"
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

int ww_rt_array_new(struct rt_array **out, const rt_channel *c, rt_extent e, unsigned flags) {
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

/* The place of (x bytes, y) in the array if width x height bytes fit there. */
int ww_rt_array_place(const void *array, size_t x, size_t y, size_t width, size_t height, unsigned char **p,
                      size_t *pitch) {
    const struct rt_array *a = ww_rt_array_find(array);
    if (!a) return RT_ERROR_INVALID_RESOURCE_HANDLE;
    if (x > a->row || width > a->row - x || y > a->rows || height > a->rows - y) return RT_ERROR_INVALID_VALUE;
    *p = (unsigned char *)(uintptr_t)(a->address + y * a->row + x);
    *pitch = a->row;
    return 0;
}

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

int ww_rt_copy_3d(const rt_copy3d *c) {
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

int ww_rt_array_free(struct rt_array *array) {
    if (!array) return 0;
    for (struct rt_array **at = &arrays; *at; at = &(*at)->next) {
        if (*at != array) continue;
        *at = array->next;
        ww_device_free(ww_rt.device, array->address, NULL);
        free(array);
        return 0;
    }
    return RT_ERROR_INVALID_RESOURCE_HANDLE;
}
