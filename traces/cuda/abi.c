/* abi.c: the entry points whose layouts or arguments differ between versions 11, 12 and 13; compiled once for
 * each with -DRT_ABI. A program of version 12 may ask for the properties in the layout of 11 (the plain name)
 * or its own (_v2). */
#include "rt.h"
#include <string.h>

#ifndef RT_ABI
#define RT_ABI 13
#endif
#if RT_ABI == 13
#define RT_VERSION 13000
#elif RT_ABI == 12
#define RT_VERSION 12080
#else
#define RT_VERSION 11080
#endif

/* Which versions' layouts have a field. */
#define HAS_11_ALL(x) x
#define HAS_11_OLD(x) x
#define HAS_11_FROM12(x)
#define HAS_11_ONLY12(x)
#define HAS_11_ONLY13(x)
#define HAS_12_ALL(x) x
#define HAS_12_OLD(x) x
#define HAS_12_FROM12(x) x
#define HAS_12_ONLY12(x) x
#define HAS_12_ONLY13(x)
#define HAS_13_ALL(x) x
#define HAS_13_OLD(x)
#define HAS_13_FROM12(x) x
#define HAS_13_ONLY12(x)
#define HAS_13_ONLY13(x) x

struct prop11 {
#define P(versions, type, name, dimension, value) HAS_11_##versions(type name dimension;)
#include "rt_prop.def"
#undef P
};
struct prop12 {
#define P(versions, type, name, dimension, value) HAS_12_##versions(type name dimension;)
#include "rt_prop.def"
#undef P
};
struct prop13 {
#define P(versions, type, name, dimension, value) HAS_13_##versions(type name dimension;)
#include "rt_prop.def"
#undef P
};
_Static_assert(sizeof(struct prop11) == 728 && sizeof(struct prop12) == 1032 && sizeof(struct prop13) == 1008,
               "sizes of cudaDeviceProp");

static int attribute(int number) {
    int value = 0;
    ww_rt_attribute(number, &value);
    return value;
}

/* The fields that are arrays. */
#define FILL_ARRAYS(p)                                                                                         \
    do {                                                                                                       \
        snprintf((p)->name, sizeof(p)->name, "%s (warpwatt)", ww_rt.spec->name);                               \
        memcpy((p)->uuid, "warpwatt device0", 16);                                                             \
        for (int n_ = 0; n_ < 3; n_++) {                                                                       \
            (p)->maxThreadsDim[n_] = attribute(2 + n_);                                                        \
            (p)->maxGridSize[n_] = attribute(5 + n_);                                                          \
            (p)->maxTexture2DLinear[n_] = attribute(70 + n_);                                                  \
            (p)->maxTexture3D[n_] = attribute(24 + n_);                                                        \
        }                                                                                                      \
        (p)->maxTexture2D[0] = attribute(22);                                                                  \
        (p)->maxTexture2D[1] = attribute(23);                                                                  \
    } while (0)
#define A(n) attribute(n)
#define V(v) (v)
#define NONE 0

/* Scalars are set by name; arrays and absent features stay as memset left them. */
#define FIELD(p, type, name, dimension, value) set_field(&(p)->name, sizeof(p)->name, (int64_t)(value));
#define ARRAY 0
static void set_field(void *field, size_t bytes, int64_t value) {
    if (value && (bytes == 4 || bytes == 8)) memcpy(field, &value, bytes);
}

__attribute__((unused)) static void fill11(struct prop11 *p) {
    memset(p, 0, sizeof *p);
#define P(versions, type, name, dimension, value) HAS_11_##versions(FIELD(p, type, name, dimension, value))
#include "rt_prop.def"
#undef P
    FILL_ARRAYS(p);
}
__attribute__((unused)) static void fill12(struct prop12 *p) {
    memset(p, 0, sizeof *p);
#define P(versions, type, name, dimension, value) HAS_12_##versions(FIELD(p, type, name, dimension, value))
#include "rt_prop.def"
#undef P
    FILL_ARRAYS(p);
}
__attribute__((unused)) static void fill13(struct prop13 *p) {
    memset(p, 0, sizeof *p);
#define P(versions, type, name, dimension, value) HAS_13_##versions(FIELD(p, type, name, dimension, value))
#include "rt_prop.def"
#undef P
    FILL_ARRAYS(p);
}

#if RT_ABI == 13
typedef struct prop13 plain_prop;
#define FILL_PLAIN fill13
#else
typedef struct prop11 plain_prop;
#define FILL_PLAIN fill11
#endif

RT_EXPORT int cudaGetDeviceProperties(plain_prop *p, int device) {
    RT_ENTER;
    if (!p) return ww_rt_set(RT_ERROR_INVALID_VALUE);
    if (device != 0) return ww_rt_set(RT_ERROR_INVALID_DEVICE);
    FILL_PLAIN(p);
    return 0;
}

#if RT_ABI == 12
RT_EXPORT int cudaGetDeviceProperties_v2(struct prop12 *p, int device) {
    RT_ENTER;
    if (!p) return ww_rt_set(RT_ERROR_INVALID_VALUE);
    if (device != 0) return ww_rt_set(RT_ERROR_INVALID_DEVICE);
    fill12(p);
    return 0;
}
#endif

RT_EXPORT int cudaRuntimeGetVersion(int *version) {
    if (!version) return ww_rt_set(RT_ERROR_INVALID_VALUE);
    *version = RT_VERSION;
    return 0;
}
RT_ALIAS(cudaDriverGetVersion, cudaRuntimeGetVersion)

/* ---- entry points of the driver: since 12 with a place for what became of the search ---- */

#if RT_ABI == 11
RT_EXPORT int cudaGetDriverEntryPoint(const char *name, void **out, unsigned long long flags) {
    RT_LOCK;
    (void)flags;
    return ww_rt_driver_entry(name, out, NULL);
}
#else
RT_EXPORT int cudaGetDriverEntryPoint(const char *name, void **out, unsigned long long flags, int *status) {
    RT_LOCK;
    (void)flags;
    return ww_rt_driver_entry(name, out, status);
}
#endif
RT_ALIAS(cudaGetDriverEntryPoint_ptsz, cudaGetDriverEntryPoint)

/* ---- hints on managed memory: a location since 13, a device number before ---- */

static int known_managed(const void *p) {
    bool bad;
    RT_ENTER;
    return ww_rt_set(ww_rt_device_bytes(p, 1, &bad) ? 0 : RT_ERROR_INVALID_VALUE);
}

#if RT_ABI == 13
RT_EXPORT int cudaMemAdvise(const void *p, size_t n, int advice, rt_location where) {
    (void)n, (void)advice, (void)where;
    return known_managed(p);
}
RT_EXPORT int cudaMemPrefetchAsync(const void *p, size_t n, rt_location where, unsigned flags, void *stream) {
    (void)n, (void)where, (void)flags, (void)stream;
    return known_managed(p);
}
#else
RT_EXPORT int cudaMemAdvise(const void *p, size_t n, int advice, int device) {
    (void)n, (void)advice, (void)device;
    return known_managed(p);
}
RT_EXPORT int cudaMemAdvise_v2(const void *p, size_t n, int advice, rt_location where) {
    (void)n, (void)advice, (void)where;
    return known_managed(p);
}
RT_EXPORT int cudaMemPrefetchAsync(const void *p, size_t n, int device, void *stream) {
    (void)n, (void)device, (void)stream;
    return known_managed(p);
}
RT_EXPORT int cudaMemPrefetchAsync_v2(const void *p, size_t n, rt_location where, unsigned flags,
                                      void *stream) {
    (void)n, (void)where, (void)flags, (void)stream;
    return known_managed(p);
}
RT_ALIAS(cudaMemPrefetchAsync_v2_ptsz, cudaMemPrefetchAsync_v2)
#endif
RT_ALIAS(cudaMemPrefetchAsync_ptsz, cudaMemPrefetchAsync)
