/* cu_tensor_map.c: the driver's interface: making tensor maps.
 *
 * NVIDIA does not publish the layout of a map's 128 bytes; these are our own (traces/tensor_map.h), which the
 * executors read. Arguments are checked as the driver API reference tells. */
#include "../tensor_map.h"
#include "cu.h"
#include <string.h>

#define CU_SUCCESS 0
#define CU_INVALID_VALUE 1
#define SWIZZLES 4u /* none, 32, 64 and 128 bytes; later ones are of sm_100 */

/* What both kinds have in common. */
struct arguments {
    int type;
    unsigned rank;
    void *address;
    const uint64_t *dim, *stride;
    const uint32_t *step;
    int interleave, swizzle, promotion, fill;
};

static int refuse(const char *function, const char *why) {
    ww_rt_say("%s: %s", function, why);
    return CU_INVALID_VALUE;
}

/* NULL, or what cannot be packed at all; the rest is ww_tensor_map_check()'s. */
static const char *check_arguments(const struct arguments *a) {
    if (!a->dim || !a->step || (!a->stride && a->rank > 1)) return "dimensions, strides or steps are NULL";
    if (a->rank < 1 || a->rank > WW_TENSOR_DIMS) return "the rank is 1 to 5";
    if (a->type < 0 || a->type >= WW_TENSOR_TYPES) return "the data type is not supported";
    if (a->interleave < 0 || a->interleave > 2) return "this interleaved layout is not known";
    if (a->swizzle < 0 || a->swizzle >= (int)SWIZZLES) return "this swizzle mode is not supported";
    if (a->promotion < 0 || a->promotion > 3) return "this promotion of the L2 is not known";
    return a->fill < 0 || a->fill > 1 ? "this fill of what lies outside is not known" : NULL;
}

static void common(struct ww_tensor_map *m, const struct arguments *a) {
    m->global = (uint64_t)(uintptr_t)a->address;
    m->type = (uint8_t)a->type;
    m->rank = (uint8_t)a->rank;
    m->interleave = (uint8_t)a->interleave;
    m->swizzle = (uint8_t)a->swizzle;
    m->promotion = (uint8_t)a->promotion;
    m->fill_nan = a->fill == 1;
    for (unsigned n = 0; n < WW_TENSOR_DIMS; n++) {
        m->dim[n] = n < a->rank ? a->dim[n] : 1;
        m->step[n] = n < a->rank ? a->step[n] : 1;
        m->stride[n] = !n ? ww_tensor_element(m->type) : n < a->rank ? a->stride[n - 1] : 16;
        m->box[n] = 1;
    }
}

static int finish(const char *function, const struct ww_tensor_map *m, unsigned char *out) {
    const char *why = ww_tensor_map_check(m);
    if (why) return refuse(function, why);
    ww_tensor_map_encode(m, out);
    return CU_SUCCESS;
}

RT_EXPORT int cuTensorMapEncodeTiled(unsigned char *map, int type, unsigned rank, void *address,
                                     const uint64_t *dim, const uint64_t *stride, const uint32_t *box,
                                     const uint32_t *step, int interleave, int swizzle, int promotion,
                                     int fill) {
    const struct arguments a = {type, rank, address, dim, stride, step, interleave, swizzle, promotion, fill};
    struct ww_tensor_map m = {0};
    RT_LOCK;
    const char *why = !map || !box ? "the map or its box is NULL" : check_arguments(&a);
    if (why) return refuse(__func__, why);
    common(&m, &a);
    for (unsigned n = 0; n < rank; n++) m.box[n] = box[n];
    return finish(__func__, &m, map);
}

RT_EXPORT int cuTensorMapEncodeIm2col(unsigned char *map, int type, unsigned rank, void *address,
                                      const uint64_t *dim, const uint64_t *stride, const int *lower,
                                      const int *upper, uint32_t channels, uint32_t pixels,
                                      const uint32_t *step, int interleave, int swizzle, int promotion,
                                      int fill) {
    const struct arguments a = {type, rank, address, dim, stride, step, interleave, swizzle, promotion, fill};
    struct ww_tensor_map m = {.im2col = true, .channels = channels, .pixels = pixels};
    RT_LOCK;
    const char *why = !map || !lower || !upper ? "the map or a corner of the box of pixels is NULL"
                      : rank < 3               ? "im2col takes 3 to 5 dimensions"
                                               : check_arguments(&a);
    if (why) return refuse(__func__, why);
    common(&m, &a);
    for (unsigned n = 0; n + 2 < rank; n++) {
        m.lower[n] = lower[n];
        m.upper[n] = upper[n];
    }
    return finish(__func__, &m, map);
}

RT_EXPORT int cuTensorMapReplaceAddress(unsigned char *map, void *address) {
    struct ww_tensor_map m;
    RT_LOCK;
    const char *why = map ? ww_tensor_map_decode(map, &m) : "the map is NULL";
    if (why) return refuse(__func__, why);
    m.global = (uint64_t)(uintptr_t)address;
    return finish(__func__, &m, map);
}
