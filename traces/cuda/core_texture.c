/* core_texture.c: texture and surface objects. */
#include "../ptx/exec/tex.h"
#include "core.h"
#include <string.h>

static int set_channels(struct tex_object *o, const rt_channel *c) {
    const int bits[4] = {c->x, c->y, c->z, c->w};
    o->element = (uint32_t)ww_rt_element_bytes(c);
    if (o->element == 0 || c->kind < 0 || c->kind > 2) return RT_ERROR_INVALID_CHANNEL_DESCRIPTOR;
    o->kind = (uint8_t)c->kind; /* the numbers of cudaChannelFormatKind */
    for (unsigned n = 0; n < 4 && bits[n]; n++) {
        bool fits = bits[n] == 8 || bits[n] == 16 || bits[n] == 32;
        if (!fits || (c->kind == TEX_FLOAT && bits[n] == 8)) return RT_ERROR_INVALID_CHANNEL_DESCRIPTOR;
        o->bits[o->channels++] = (uint8_t)bits[n];
    }
    return o->channels ? 0 : RT_ERROR_INVALID_CHANNEL_DESCRIPTOR;
}

static int set_resource(struct tex_object *o, const rt_resource *r) {
    const struct rt_array *a;
    o->size[1] = o->size[2] = 1;
    switch (r->type) {
    case RESOURCE_ARRAY:
        a = ww_rt_array_find(r->u.array);
        if (!a) return RT_ERROR_INVALID_RESOURCE_HANDLE;
        o->address = a->address;
        o->row = a->row;
        o->slice = a->row * a->rows;
        o->size[0] = a->extent.width;
        o->size[1] = a->rows;
        o->size[2] = a->extent.depth ? a->extent.depth : 1;
        if (a->extent.height == 0 && a->extent.depth) { /* layers of a 1D texture are rows */
            o->size[1] = o->size[2];
            o->size[2] = 1;
        }
        return set_channels(o, &a->channel);
    case RESOURCE_LINEAR:
        o->address = (uint64_t)(uintptr_t)r->u.linear.p;
        if (set_channels(o, &r->u.linear.channel)) return RT_ERROR_INVALID_CHANNEL_DESCRIPTOR;
        o->size[0] = r->u.linear.bytes / o->element;
        return o->size[0] ? 0 : RT_ERROR_INVALID_VALUE;
    case RESOURCE_PITCH2D:
        o->address = (uint64_t)(uintptr_t)r->u.pitch2d.p;
        o->row = r->u.pitch2d.pitch;
        o->size[0] = r->u.pitch2d.width;
        o->size[1] = r->u.pitch2d.height;
        return o->size[0] && o->size[1] ? set_channels(o, &r->u.pitch2d.channel) : RT_ERROR_INVALID_VALUE;
    default:
        ww_rt_say("textures and surfaces of mipmapped arrays are not supported");
        return RT_ERROR_NOT_SUPPORTED;
    }
}

static int add(const struct tex_object *o, unsigned long long *out) {
    uint64_t handle;
    if (ww_device_add_texture(ww_rt.device, o, &handle, NULL) != WW_OK) return RT_ERROR_MEMORY_ALLOCATION;
    *out = handle;
    return 0;
}

int ww_rt_texture_free(unsigned long long handle, bool surface) {
    struct tex_object *o = ww_device_texture(ww_rt.device, handle);
    if (!o || o->surface != surface) return RT_ERROR_INVALID_VALUE;
    o->live = false;
    return 0;
}

int ww_rt_texture_new(unsigned long long *out, const rt_resource *r, const rt_texture *t, const void *view) {
    struct tex_object o = {0};
    if (!out || !r || !t) return RT_ERROR_INVALID_VALUE;
    if (view || t->srgb) {
        ww_rt_say("resource views and sRGB of textures are not supported");
        return RT_ERROR_NOT_SUPPORTED;
    }
    int code = set_resource(&o, r);
    if (code) return code;
    o.filter = t->filter_mode != 0;
    o.as_float = t->read_mode != 0 && o.kind != TEX_FLOAT;
    o.normalized = t->normalized != 0;
    memcpy(o.border, t->border, sizeof o.border);
    for (unsigned n = 0; n < 3; n++) { /* wrap and mirror need normalized coordinates */
        int mode = t->address_mode[n];
        o.mode[n] = (uint8_t)(mode < 0 || mode > 3 || (!o.normalized && mode != TEX_BORDER) ? TEX_CLAMP : mode);
    }
    if (o.filter && o.kind != TEX_FLOAT && !o.as_float) return RT_ERROR_INVALID_FILTER_SETTING;
    return add(&o, out);
}

int ww_rt_surface_new(unsigned long long *out, const rt_resource *r) {
    struct tex_object o = {.surface = true};
    if (!out || !r || r->type != RESOURCE_ARRAY) return RT_ERROR_INVALID_VALUE;
    int code = set_resource(&o, r);
    return code ? code : add(&o, out);
}
