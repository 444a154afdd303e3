/* rt_memory.c: allocation of device, pinned and managed memory, and what is known of pointers. */
#include "core_graph.h"
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* ---- device memory ---- */

RT_EXPORT int cudaMalloc(void **p, size_t bytes) {
    RT_ENTER;
    return ww_rt_set(ww_rt_device_new(p, bytes));
}

/* Allocations of graphs are not supported. */
static bool breaks(void *stream) {
    RT_LOCK;
    if (!ww_rt_capturing(stream)) return false;
    ww_rt_say("allocations in a stream that is captured are not supported");
    return ww_rt_capture_break(stream) != 0;
}

RT_EXPORT int cudaMallocAsync(void **p, size_t bytes, void *stream) {
    if (breaks(stream)) return ww_rt_set(RT_ERROR_STREAM_CAPTURE_UNSUPPORTED);
    return cudaMalloc(p, bytes);
}
RT_ALIAS(cudaMallocAsync_ptsz, cudaMallocAsync)

RT_EXPORT int cudaMallocFromPoolAsync(void **p, size_t bytes, void *pool, void *stream) {
    (void)pool;
    return cudaMallocAsync(p, bytes, stream);
}
RT_ALIAS(cudaMallocFromPoolAsync_ptsz, cudaMallocFromPoolAsync)

RT_EXPORT int cudaMallocPitch(void **p, size_t *pitch, size_t width, size_t height) {
    size_t bytes;
    RT_ENTER;
    if (!pitch) return ww_rt_set(RT_ERROR_INVALID_VALUE);
    if (!ww_rt_pitched_bytes(width, height, pitch, &bytes)) return ww_rt_set(RT_ERROR_MEMORY_ALLOCATION);
    return ww_rt_set(ww_rt_device_new(p, bytes));
}

RT_EXPORT int cudaMalloc3D(rt_pitched *p, rt_extent extent) {
    size_t bytes, rows;
    RT_ENTER;
    if (!p) return ww_rt_set(RT_ERROR_INVALID_VALUE);
    bool fits = !__builtin_mul_overflow(extent.height, extent.depth, &rows) &&
                ww_rt_pitched_bytes(extent.width, rows, &p->pitch, &bytes);
    if (!fits) return ww_rt_set(RT_ERROR_MEMORY_ALLOCATION);
    p->xsize = extent.width;
    p->ysize = extent.height;
    return ww_rt_set(ww_rt_device_new(&p->ptr, bytes));
}

/* ---- memory with one address for host and device ---- */

RT_EXPORT int cudaMallocManaged(void **p, size_t bytes, unsigned flags) {
    RT_ENTER;
    return ww_rt_set(ww_rt_shared_alloc(p, bytes, RT_KIND_MANAGED, flags));
}

RT_EXPORT int cudaHostAlloc(void **p, size_t bytes, unsigned flags) {
    RT_ENTER;
    return ww_rt_set(ww_rt_shared_alloc(p, bytes, RT_KIND_HOST, flags));
}

RT_EXPORT int cudaMallocHost(void **p, size_t bytes) {
    return cudaHostAlloc(p, bytes, 0);
}

RT_EXPORT int cudaFreeHost(void *p) {
    RT_LOCK;
    return ww_rt_set(ww_rt_free_host(p));
}

RT_EXPORT int cudaFree(void *p) {
    RT_ENTER;
    return ww_rt_set(ww_rt_free(p));
}

RT_EXPORT int cudaFreeAsync(void *p, void *stream) {
    if (breaks(stream)) return ww_rt_set(RT_ERROR_STREAM_CAPTURE_UNSUPPORTED);
    return cudaFree(p);
}
RT_ALIAS(cudaFreeAsync_ptsz, cudaFreeAsync)

RT_EXPORT int cudaHostRegister(void *p, size_t bytes, unsigned flags) {
    RT_ENTER;
    return ww_rt_set(ww_rt_register_host(p, bytes, flags));
}

RT_EXPORT int cudaHostUnregister(void *p) {
    RT_ENTER;
    return ww_rt_set(ww_rt_unregister_host(p));
}

RT_EXPORT int cudaHostGetDevicePointer(void **device, void *host, unsigned flags) {
    RT_ENTER;
    if (!device || flags || !ww_rt_shared_find(host)) return ww_rt_set(RT_ERROR_INVALID_VALUE);
    *device = host;
    return 0;
}

RT_EXPORT int cudaHostGetFlags(unsigned *flags, void *host) {
    RT_ENTER;
    const struct rt_shared *s = ww_rt_shared_find(host);
    if (!flags || !s) return ww_rt_set(RT_ERROR_INVALID_VALUE);
    *flags = s->flags;
    return 0;
}

RT_EXPORT int cudaMemGetInfo(size_t *available, size_t *total) {
    RT_ENTER;
    if (!available || !total) return ww_rt_set(RT_ERROR_INVALID_VALUE);
    *total = ww_rt_global_memory();
    *available = *total - ww_rt_memory_used();
    return 0;
}

/* Writes the fields that all versions have. */
RT_EXPORT int cudaPointerGetAttributes(rt_pointer_attributes *a, const void *p) {
    struct ww_device_range r;
    RT_ENTER;
    if (!a) return ww_rt_set(RT_ERROR_INVALID_VALUE);
    const struct rt_shared *s = ww_rt_shared_find(p);
    void *address = (void *)(uintptr_t)p;
    a->device = 0;
    a->device_pointer = a->host_pointer = NULL;
    if (s) {
        a->type = s->kind == RT_KIND_MANAGED ? RT_MEMORY_MANAGED : RT_MEMORY_HOST;
        a->device_pointer = a->host_pointer = address;
    } else if (ww_rt_find(p, &r)) {
        bool both = r.host == (unsigned char *)(uintptr_t)r.base;
        a->type = both ? RT_MEMORY_MANAGED : RT_MEMORY_DEVICE;
        a->device_pointer = address;
        a->host_pointer = both ? address : NULL;
    } else {
        a->type = RT_MEMORY_UNREGISTERED;
        a->host_pointer = address;
        a->device = -1;
    }
    return 0;
}

/* ---- hints ---- */

RT_EXPORT int cudaStreamAttachMemAsync(void *stream, void *p, size_t bytes, unsigned flags) {
    (void)stream, (void)bytes, (void)flags;
    RT_ENTER;
    return ww_rt_set(ww_rt_shared_find(p) ? 0 : RT_ERROR_INVALID_VALUE);
}
RT_ALIAS(cudaStreamAttachMemAsync_ptsz, cudaStreamAttachMemAsync)

/* ---- memory pools: one, which allocates and frees at once ---- */

static char pool;

RT_EXPORT int cudaDeviceGetDefaultMemPool(void **out, int device) {
    RT_ENTER;
    if (!out || device != 0) return ww_rt_set(RT_ERROR_INVALID_VALUE);
    *out = &pool;
    return 0;
}
RT_ALIAS(cudaDeviceGetMemPool, cudaDeviceGetDefaultMemPool)

RT_EXPORT int cudaDeviceSetMemPool(int device, void *given) {
    RT_ENTER;
    return ww_rt_set(device == 0 && given == &pool ? 0 : RT_ERROR_INVALID_VALUE);
}

RT_EXPORT int cudaMemPoolCreate(void **out, const void *properties) {
    (void)properties;
    return cudaDeviceGetDefaultMemPool(out, 0);
}

static int known_pool(const void *given) {
    RT_ENTER;
    return ww_rt_set(given == &pool ? 0 : RT_ERROR_INVALID_VALUE);
}
RT_EXPORT int cudaMemPoolDestroy(void *given) {
    return known_pool(given);
}
RT_EXPORT int cudaMemPoolTrimTo(void *given, size_t bytes) {
    (void)bytes;
    return known_pool(given);
}
RT_EXPORT int cudaMemPoolSetAttribute(void *given, int attribute, void *value) {
    (void)attribute, (void)value;
    return known_pool(given);
}
