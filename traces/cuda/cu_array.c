/* cu_array.c: the driver's interface: arrays, texture and surface objects. */
#include "cu.h"
#include <string.h>

/* CUDA_ARRAY3D_DESCRIPTOR; the 2D one lacks depth and flags. */
typedef struct {
    size_t width, height, depth;
    int format;
    unsigned channels, flags;
} array3d;
typedef struct {
    size_t width, height;
    int format;
    unsigned channels;
} array2d;

/* The channels of CUarray_format; all 0 for one that is not known. */
static rt_channel channel_of(int format, unsigned channels) {
    static const struct {
        int format, bits, kind; /* kind: 0 signed, 1 unsigned, 2 float */
    } known[] = {{1, 8, 1},  {2, 16, 1},  {3, 32, 1},  {8, 8, 0},
                 {9, 16, 0}, {10, 32, 0}, {16, 16, 2}, {32, 32, 2}};
    rt_channel c = {0};
    int *const bits[4] = {&c.x, &c.y, &c.z, &c.w};
    if (channels != 1 && channels != 2 && channels != 4) return c;
    for (size_t n = 0; n < sizeof known / sizeof known[0]; n++) {
        if (known[n].format != format) continue;
        for (unsigned i = 0; i < channels; i++) *bits[i] = known[n].bits;
        c.kind = known[n].kind;
    }
    return c;
}

static int create(struct rt_array **out, const array3d *d) {
    rt_channel c = channel_of(d->format, d->channels);
    return ww_cu_code(ww_rt_array_new(out, &c, (rt_extent){d->width, d->height, d->depth}, d->flags));
}

RT_EXPORT int cuArrayCreate_v2(struct rt_array **out, const array2d *d) {
    CU_CONTEXT;
    if (!d) return RT_ERROR_INVALID_VALUE;
    const array3d deep = {d->width, d->height, 0, d->format, d->channels, 0};
    return create(out, &deep);
}

RT_EXPORT int cuArray3DCreate_v2(struct rt_array **out, const array3d *d) {
    CU_CONTEXT;
    return d ? create(out, d) : RT_ERROR_INVALID_VALUE;
}

RT_EXPORT int cuArrayDestroy(struct rt_array *array) {
    CU_CONTEXT;
    return ww_cu_code(ww_rt_array_free(array));
}

static int describe(array3d *d, const void *array) {
    const struct rt_array *a = ww_rt_array_find(array);
    if (!a) return CU_INVALID_HANDLE;
    *d = (array3d){.width = a->extent.width,
                   .height = a->extent.height,
                   .depth = a->extent.depth,
                   .channels = (unsigned)((a->channel.x > 0) + (a->channel.y > 0) + (a->channel.z > 0) +
                                          (a->channel.w > 0)),
                   .flags = a->flags};
    for (int format = 1; format <= 32; format++) {
        rt_channel c = channel_of(format, d->channels);
        if (c.x && memcmp(&c, &a->channel, sizeof c) == 0) d->format = format;
    }
    return 0;
}

RT_EXPORT int cuArray3DGetDescriptor_v2(array3d *d, const void *array) {
    CU_CONTEXT;
    return d ? describe(d, array) : RT_ERROR_INVALID_VALUE;
}

RT_EXPORT int cuArrayGetDescriptor_v2(array2d *d, const void *array) {
    array3d deep;
    CU_CONTEXT;
    int code = d ? describe(&deep, array) : RT_ERROR_INVALID_VALUE;
    if (!code) *d = (array2d){deep.width, deep.height, deep.format, deep.channels};
    return code;
}

/* ---- texture and surface objects ---- */

/* CUDA_RESOURCE_DESC; its types have the numbers of the runtime's. */
typedef struct {
    int type;
    union {
        void *array;
        struct {
            cu_pointer p;
            int format;
            unsigned channels;
            size_t bytes;
        } linear;
        struct {
            cu_pointer p;
            int format;
            unsigned channels;
            size_t width, height, pitch;
        } pitch2d;
        int reserved[32];
    } u;
    unsigned flags;
} cu_resource;

/* CUDA_TEXTURE_DESC */
typedef struct {
    int address_mode[3], filter_mode;
    unsigned flags; /* 1: integers as they are, 2: normalized coordinates, 16: sRGB */
    unsigned anisotropy;
    int mip_filter;
    float bias, least, most, border[4];
    int reserved[12];
} cu_texture;

static rt_resource resource_of(const cu_resource *r) {
    rt_resource out = {.type = r->type};
    if (r->type == RESOURCE_LINEAR) {
        out.u.linear.p = (void *)(uintptr_t)r->u.linear.p;
        out.u.linear.channel = channel_of(r->u.linear.format, r->u.linear.channels);
        out.u.linear.bytes = r->u.linear.bytes;
    } else if (r->type == RESOURCE_PITCH2D) {
        out.u.pitch2d.p = (void *)(uintptr_t)r->u.pitch2d.p;
        out.u.pitch2d.channel = channel_of(r->u.pitch2d.format, r->u.pitch2d.channels);
        out.u.pitch2d.width = r->u.pitch2d.width;
        out.u.pitch2d.height = r->u.pitch2d.height;
        out.u.pitch2d.pitch = r->u.pitch2d.pitch;
    } else {
        out.u.array = r->u.array;
    }
    return out;
}

/* 8 and 16 bit integers are read as floats unless flag 1 is set. */
static bool reads_floats(const rt_resource *r, const cu_texture *t) {
    const struct rt_array *a = r->type == RESOURCE_ARRAY ? ww_rt_array_find(r->u.array) : NULL;
    const rt_channel *c = a                            ? &a->channel
                          : r->type == RESOURCE_LINEAR ? &r->u.linear.channel
                                                       : &r->u.pitch2d.channel;
    return !(t->flags & 1) && (a || r->type != RESOURCE_ARRAY) && c->kind != 2 && c->x < 32;
}

RT_EXPORT int cuTexObjectCreate(unsigned long long *out, const cu_resource *r, const cu_texture *t,
                                const void *view) {
    CU_CONTEXT;
    if (!out || !r || !t) return RT_ERROR_INVALID_VALUE;
    const rt_resource resource = resource_of(r);
    rt_texture texture = {.address_mode = {t->address_mode[0], t->address_mode[1], t->address_mode[2]},
                          .filter_mode = t->filter_mode,
                          .read_mode = reads_floats(&resource, t),
                          .srgb = (t->flags & 16) != 0,
                          .normalized = (t->flags & 2) != 0};
    memcpy(texture.border, t->border, sizeof texture.border);
    return ww_cu_code(ww_rt_texture_new(out, &resource, &texture, view));
}

RT_EXPORT int cuTexObjectDestroy(unsigned long long handle) {
    CU_CONTEXT;
    return ww_cu_code(ww_rt_texture_free(handle, false));
}

RT_EXPORT int cuSurfObjectCreate(unsigned long long *out, const cu_resource *r) {
    CU_CONTEXT;
    if (!out || !r) return RT_ERROR_INVALID_VALUE;
    const rt_resource resource = resource_of(r);
    return ww_cu_code(ww_rt_surface_new(out, &resource));
}

RT_EXPORT int cuSurfObjectDestroy(unsigned long long handle) {
    CU_CONTEXT;
    return ww_cu_code(ww_rt_texture_free(handle, true));
}
