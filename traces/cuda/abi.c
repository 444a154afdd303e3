/* abi.c: the entry points whose layouts or arguments differ between versions 11, 12 and 13; compiled once for
 * each with -DRT_ABI. A program of version 12 may ask for the properties in the layout of 11 (the plain name)
 * or its own (_v2). */
#include "core_graph.h"
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

/* ---- graphs: edges have data since 13; instantiation and updates changed with 12 ---- */

static int join(struct rt_node *const *from, struct rt_node *const *to, size_t count) {
    RT_ENTER;
    int code = count && (!from || !to) ? RT_ERROR_INVALID_VALUE : 0;
    for (size_t n = 0; n < count && !code; n++) code = ww_rt_graph_join(from[n], to[n]);
    return ww_rt_set(code);
}

static int capture_info(const void *stream, int *status, unsigned long long *id, struct rt_graph **graph) {
    RT_ENTER;
    if (!status || !ww_rt_known_stream(stream)) return ww_rt_set(RT_ERROR_INVALID_VALUE);
    *status = ww_rt_capture_status(stream, id, graph);
    return 0;
}

static int instantiate(struct rt_graph **exec, struct rt_graph *graph) {
    RT_ENTER;
    return ww_rt_set(ww_rt_exec_new(exec, graph));
}

static int update(struct rt_graph *exec, struct rt_graph *graph, int *result) {
    RT_ENTER;
    return ww_rt_set(ww_rt_exec_update(exec, graph, result));
}

#if RT_ABI == 13
RT_EXPORT int cudaGraphAddDependencies(struct rt_graph *graph, struct rt_node *const *from,
                                       struct rt_node *const *to, const void *edges, size_t count) {
    (void)graph, (void)edges;
    return join(from, to, count);
}
RT_EXPORT int cudaStreamGetCaptureInfo(const void *stream, int *status, unsigned long long *id,
                                       struct rt_graph **graph, void *before, void *edges, size_t *count) {
    if (before || edges || count) return ww_rt_missing("cudaStreamGetCaptureInfo with dependencies");
    return capture_info(stream, status, id, graph);
}
#else
RT_EXPORT int cudaGraphAddDependencies(struct rt_graph *graph, struct rt_node *const *from,
                                       struct rt_node *const *to, size_t count) {
    (void)graph;
    return join(from, to, count);
}
RT_EXPORT int cudaStreamGetCaptureInfo(const void *stream, int *status, unsigned long long *id) {
    return capture_info(stream, status, id, NULL);
}
RT_EXPORT int cudaStreamGetCaptureInfo_v2(const void *stream, int *status, unsigned long long *id,
                                          struct rt_graph **graph, void *before, size_t *count) {
    if (before || count) return ww_rt_missing("cudaStreamGetCaptureInfo_v2 with dependencies");
    return capture_info(stream, status, id, graph);
}
RT_ALIAS(cudaStreamGetCaptureInfo_v2_ptsz, cudaStreamGetCaptureInfo_v2)
#endif
RT_ALIAS(cudaStreamGetCaptureInfo_ptsz, cudaStreamGetCaptureInfo)

#if RT_ABI >= 12
RT_EXPORT int cudaGraphInstantiate(struct rt_graph **exec, struct rt_graph *graph, unsigned long long flags) {
    (void)flags;
    return instantiate(exec, graph);
}

struct update_info {
    int result;
    void *error_node, *error_from;
};

RT_EXPORT int cudaGraphExecUpdate(struct rt_graph *exec, struct rt_graph *graph, struct update_info *info) {
    if (!info) return ww_rt_set(RT_ERROR_INVALID_VALUE);
    *info = (struct update_info){0};
    return update(exec, graph, &info->result);
}
#else
RT_EXPORT int cudaGraphInstantiate(struct rt_graph **exec, struct rt_graph *graph, void **node, char *text,
                                   size_t bytes) {
    if (node) *node = NULL;
    if (text && bytes) *text = 0;
    return instantiate(exec, graph);
}
RT_EXPORT int cudaGraphExecUpdate(struct rt_graph *exec, struct rt_graph *graph, void **node, int *result) {
    int unused;
    if (node) *node = NULL;
    return update(exec, graph, result ? result : &unused);
}
#endif

/* ---- functions of the driver by name ---- */

int cuGetProcAddress_v2(const char *name, void **function, int version, uint64_t flags, int *status);
int cuGetExportTable(const void **table, const unsigned char *id);

RT_EXPORT int cudaGetExportTable(const void **table, const unsigned char *id) {
    { RT_ENTER; /* the driver's functions need its start */ }
    int code = cuGetExportTable(table, id);
    return code == RT_ERROR_NOT_SUPPORTED || code == 0 ? code : RT_ERROR_INVALID_VALUE;
}

static int entry_point(const char *name, void **function, int version, uint64_t flags, int *status) {
    int found;
    if (!name || !function) return ww_rt_set(RT_ERROR_INVALID_VALUE);
    int code = cuGetProcAddress_v2(name, function, version, flags, &found);
    if (status) *status = found;
    return ww_rt_set(!code && found && !status ? RT_ERROR_SYMBOL_NOT_FOUND : code);
}

RT_EXPORT int cudaGetDriverEntryPoint(const char *name, void **function, unsigned long long flags,
                                      int *status) {
    return entry_point(name, function, RT_VERSION, flags, status);
}
RT_ALIAS(cudaGetDriverEntryPoint_ptsz, cudaGetDriverEntryPoint)

RT_EXPORT int cudaGetDriverEntryPointByVersion(const char *name, void **function, unsigned version,
                                               unsigned long long flags, int *status) {
    return entry_point(name, function, (int)version, flags, status);
}
RT_ALIAS(cudaGetDriverEntryPointByVersion_ptsz, cudaGetDriverEntryPointByVersion)

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
