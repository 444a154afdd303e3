/* cu_memory.c: the driver's interface: allocation, and what is known of pointers. */
#include "core_graph.h"
#include "cu.h"

static void *pointer(cu_pointer p) {
    return (void *)(uintptr_t)p;
}

static int allocate(cu_pointer *p, size_t bytes) {
    void *got;
    if (!p || bytes == 0) return RT_ERROR_INVALID_VALUE;
    int code = ww_rt_device_new(&got, bytes);
    if (!code) *p = (uintptr_t)got;
    return ww_cu_code(code);
}

RT_EXPORT int cuMemAlloc_v2(cu_pointer *p, size_t bytes) {
    CU_CONTEXT;
    return allocate(p, bytes);
}

RT_EXPORT int cuMemAllocAsync(cu_pointer *p, size_t bytes, void *stream) {
    CU_CONTEXT;
    if (!ww_rt_known_stream(stream)) return CU_INVALID_HANDLE;
    int code = ww_rt_capture_break(stream); /* allocations of graphs are not supported */
    return code ? code : allocate(p, bytes);
}
RT_ALIAS(cuMemAllocAsync_ptsz, cuMemAllocAsync)

RT_EXPORT int cuMemAllocFromPoolAsync(cu_pointer *p, size_t bytes, void *pool, void *stream) {
    (void)pool;
    return cuMemAllocAsync(p, bytes, stream);
}
RT_ALIAS(cuMemAllocFromPoolAsync_ptsz, cuMemAllocFromPoolAsync)

RT_EXPORT int cuMemAllocPitch_v2(cu_pointer *p, size_t *pitch, size_t width, size_t height, unsigned element) {
    size_t bytes;
    CU_CONTEXT;
    if (!p || !pitch || !width || !height || (element != 4 && element != 8 && element != 16))
        return RT_ERROR_INVALID_VALUE;
    if (!ww_rt_pitched_bytes(width, height, pitch, &bytes)) return RT_ERROR_MEMORY_ALLOCATION;
    return allocate(p, bytes);
}

RT_EXPORT int cuMemFree_v2(cu_pointer p) {
    CU_CONTEXT;
    return ww_cu_code(ww_rt_free(pointer(p)));
}

RT_EXPORT int cuMemFreeAsync(cu_pointer p, void *stream) {
    CU_CONTEXT;
    int code = ww_rt_capture_break(stream);
    return code ? code : ww_cu_code(ww_rt_free(pointer(p)));
}
RT_ALIAS(cuMemFreeAsync_ptsz, cuMemFreeAsync)

RT_EXPORT int cuMemAllocManaged(cu_pointer *p, size_t bytes, unsigned flags) {
    void *got;
    CU_CONTEXT;
    if (!p) return RT_ERROR_INVALID_VALUE;
    int code = ww_rt_shared_alloc(&got, bytes, RT_KIND_MANAGED, flags);
    if (!code) *p = (uintptr_t)got;
    return ww_cu_code(code);
}

RT_EXPORT int cuMemHostAlloc(void **p, size_t bytes, unsigned flags) {
    CU_CONTEXT;
    return ww_cu_code(ww_rt_shared_alloc(p, bytes, RT_KIND_HOST, flags));
}

RT_EXPORT int cuMemAllocHost_v2(void **p, size_t bytes) {
    return cuMemHostAlloc(p, bytes, 0);
}

RT_EXPORT int cuMemFreeHost(void *p) {
    CU_CONTEXT;
    return ww_cu_code(ww_rt_free_host(p));
}

RT_EXPORT int cuMemHostRegister_v2(void *p, size_t bytes, unsigned flags) {
    CU_CONTEXT;
    return ww_cu_code(ww_rt_register_host(p, bytes, flags));
}
RT_ALIAS(cuMemHostRegister, cuMemHostRegister_v2)

RT_EXPORT int cuMemHostUnregister(void *p) {
    CU_CONTEXT;
    return ww_cu_code(ww_rt_unregister_host(p));
}

RT_EXPORT int cuMemHostGetDevicePointer_v2(cu_pointer *device, void *host, unsigned flags) {
    CU_CONTEXT;
    if (!device || flags || !ww_rt_shared_find(host)) return RT_ERROR_INVALID_VALUE;
    *device = (uintptr_t)host;
    return 0;
}

RT_EXPORT int cuMemHostGetFlags(unsigned *flags, void *host) {
    CU_CONTEXT;
    const struct rt_shared *s = ww_rt_shared_find(host);
    if (!flags || !s) return RT_ERROR_INVALID_VALUE;
    *flags = s->flags;
    return 0;
}

RT_EXPORT int cuMemGetInfo_v2(size_t *available, size_t *total) {
    CU_CONTEXT;
    if (!available || !total) return RT_ERROR_INVALID_VALUE;
    *total = ww_rt_global_memory();
    *available = *total - ww_rt_memory_used();
    return 0;
}

RT_EXPORT int cuMemGetAddressRange_v2(cu_pointer *base, size_t *bytes, cu_pointer p) {
    struct ww_device_range r;
    CU_CONTEXT;
    if (!ww_rt_find(pointer(p), &r)) return CU_NOT_FOUND;
    if (base) *base = r.base;
    if (bytes) *bytes = r.bytes;
    return 0;
}

/* ---- attributes of pointers ---- */

enum {
    OF_CONTEXT = 1,
    OF_TYPE,
    OF_DEVICE,
    OF_HOST,
    OF_BUFFER_ID = 7,
    OF_MANAGED,
    OF_ORDINAL,
    OF_START = 11,
    OF_SIZE
};

static int pointer_attribute(void *data, int attribute, cu_pointer p) {
    int cuCtxGetCurrent(struct cu_context * *context);
    struct ww_device_range r;
    const struct rt_shared *s = ww_rt_shared_find(pointer(p));
    if (!data || !ww_rt_find(pointer(p), &r)) return RT_ERROR_INVALID_VALUE;
    bool both = r.host == (unsigned char *)pointer(r.base);
    switch (attribute) {
    case OF_TYPE:
        *(unsigned *)data = s && s->kind != RT_KIND_MANAGED ? CU_HOST : CU_DEVICE;
        return 0;
    case OF_DEVICE:
        *(cu_pointer *)data = p;
        return 0;
    case OF_HOST:
        if (!both) return RT_ERROR_INVALID_VALUE;
        *(void **)data = pointer(p);
        return 0;
    case OF_BUFFER_ID:
        *(uint64_t *)data = r.base;
        return 0;
    case OF_MANAGED:
        *(int *)data = s ? s->kind == RT_KIND_MANAGED : both;
        return 0;
    case OF_ORDINAL:
        *(int *)data = 0;
        return 0;
    case OF_START:
        *(cu_pointer *)data = r.base;
        return 0;
    case OF_SIZE:
        *(size_t *)data = r.bytes;
        return 0;
    default:
        return RT_ERROR_NOT_SUPPORTED;
    }
}

RT_EXPORT int cuPointerGetAttribute(void *data, int attribute, cu_pointer p) {
    CU_ENTER;
    return pointer_attribute(data, attribute, p);
}

/* What is not known of a pointer is left as it is. */
RT_EXPORT int cuPointerGetAttributes(unsigned count, const int *attribute, void **data, cu_pointer p) {
    CU_ENTER;
    if (!attribute || !data) return RT_ERROR_INVALID_VALUE;
    for (unsigned n = 0; n < count; n++) pointer_attribute(data[n], attribute[n], p);
    return 0;
}

/* ---- hints on managed memory ---- */

static int known_memory(cu_pointer p) {
    bool bad;
    CU_CONTEXT;
    return ww_rt_device_bytes(pointer(p), 1, &bad) ? 0 : RT_ERROR_INVALID_VALUE;
}

RT_EXPORT int cuMemAdvise(cu_pointer p, size_t bytes, int advice, int device) {
    (void)bytes, (void)advice, (void)device;
    return known_memory(p);
}
RT_EXPORT int cuMemAdvise_v2(cu_pointer p, size_t bytes, int advice, rt_location where) {
    (void)bytes, (void)advice, (void)where;
    return known_memory(p);
}
RT_EXPORT int cuMemPrefetchAsync(cu_pointer p, size_t bytes, int device, void *stream) {
    (void)bytes, (void)device, (void)stream;
    return known_memory(p);
}
RT_ALIAS(cuMemPrefetchAsync_ptsz, cuMemPrefetchAsync)
RT_EXPORT int cuMemPrefetchAsync_v2(cu_pointer p, size_t bytes, rt_location where, unsigned flags,
                                    void *stream) {
    (void)bytes, (void)where, (void)flags, (void)stream;
    return known_memory(p);
}
RT_ALIAS(cuMemPrefetchAsync_v2_ptsz, cuMemPrefetchAsync_v2)

/* ---- memory pools: one, which allocates and frees at once ---- */

static char pool;

RT_EXPORT int cuDeviceGetDefaultMemPool(void **out, int device) {
    CU_ENTER;
    if (!out || device != 0) return RT_ERROR_INVALID_VALUE;
    *out = &pool;
    return 0;
}
RT_ALIAS(cuDeviceGetMemPool, cuDeviceGetDefaultMemPool)

RT_EXPORT int cuDeviceSetMemPool(int device, const void *given) {
    CU_ENTER;
    return device == 0 && given == &pool ? 0 : RT_ERROR_INVALID_VALUE;
}

RT_EXPORT int cuMemPoolCreate(void **out, const void *properties) {
    (void)properties;
    return cuDeviceGetDefaultMemPool(out, 0);
}

static int known_pool(const void *given) {
    CU_ENTER;
    return given == &pool ? 0 : RT_ERROR_INVALID_VALUE;
}
RT_EXPORT int cuMemPoolDestroy(const void *given) {
    return known_pool(given);
}
RT_EXPORT int cuMemPoolTrimTo(const void *given, size_t bytes) {
    (void)bytes;
    return known_pool(given);
}
RT_EXPORT int cuMemPoolSetAttribute(const void *given, int attribute, const void *value) {
    (void)attribute, (void)value;
    return known_pool(given);
}
