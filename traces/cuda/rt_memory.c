/* rt_memory.c: allocation of device, pinned and managed memory, and what is known of pointers. */
#include "rt.h"
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define PITCH 512u /* of rows; as on the GPUs modelled */
#define PAGE 4096u
#define PAD 65536u /* around device memory: see ww_device_alloc_padded */

size_t ww_rt_global_memory(void) {
    return (size_t)16 << 30;
}

unsigned char *ww_rt_device_bytes(const void *p, size_t n, bool *bad) {
    struct ww_device_range r;
    uint64_t at = (uint64_t)(uintptr_t)p;
    *bad = false;
    if (!ww_device_find(ww_rt.device, at, &r)) {
        *bad = at >= RT_DEVICE_BASE && at < RT_SHARED_BASE; /* nobody else has memory there */
        return NULL;
    }
    *bad = n > r.bytes - (at - r.base);
    return *bad ? NULL : r.host + (at - r.base);
}

/* ---- device memory ---- */

static int device_new(void **p, size_t bytes) {
    struct ww_error error = {0};
    uint64_t address;
    if (!p) return RT_ERROR_INVALID_VALUE;
    *p = NULL;
    if (bytes == 0) return 0;
    if (ww_device_alloc_padded(ww_rt.device, bytes, ww_rt.options.strict ? 0 : PAD, &address, &error) != WW_OK)
        return RT_ERROR_MEMORY_ALLOCATION;
    *p = (void *)(uintptr_t)address;
    return 0;
}

RT_EXPORT int cudaMalloc(void **p, size_t bytes) {
    RT_ENTER;
    return ww_rt_set(device_new(p, bytes));
}

RT_EXPORT int cudaMallocAsync(void **p, size_t bytes, void *stream) {
    (void)stream;
    return cudaMalloc(p, bytes);
}
RT_ALIAS(cudaMallocAsync_ptsz, cudaMallocAsync)

RT_EXPORT int cudaMallocFromPoolAsync(void **p, size_t bytes, void *pool, void *stream) {
    (void)pool, (void)stream;
    return cudaMalloc(p, bytes);
}
RT_ALIAS(cudaMallocFromPoolAsync_ptsz, cudaMallocFromPoolAsync)

static bool pitched_bytes(size_t width, size_t rows, size_t *pitch, size_t *bytes) {
    if (width > SIZE_MAX - PITCH) return false;
    *pitch = (width + PITCH - 1) / PITCH * PITCH;
    return !__builtin_mul_overflow(*pitch, rows, bytes);
}

RT_EXPORT int cudaMallocPitch(void **p, size_t *pitch, size_t width, size_t height) {
    size_t bytes;
    RT_ENTER;
    if (!pitch) return ww_rt_set(RT_ERROR_INVALID_VALUE);
    if (!pitched_bytes(width, height, pitch, &bytes)) return ww_rt_set(RT_ERROR_MEMORY_ALLOCATION);
    return ww_rt_set(device_new(p, bytes));
}

RT_EXPORT int cudaMalloc3D(rt_pitched *p, rt_extent extent) {
    size_t bytes, rows;
    RT_ENTER;
    if (!p) return ww_rt_set(RT_ERROR_INVALID_VALUE);
    bool fits = !__builtin_mul_overflow(extent.height, extent.depth, &rows) &&
                pitched_bytes(extent.width, rows, &p->pitch, &bytes);
    if (!fits) return ww_rt_set(RT_ERROR_MEMORY_ALLOCATION);
    p->xsize = extent.width;
    p->ysize = extent.height;
    return ww_rt_set(device_new(&p->ptr, bytes));
}

/* ---- memory with one address for host and device ---- */

/* Addresses are handed out in order and never again, so that runs are alike. */
void *ww_rt_shared_new(size_t bytes, enum rt_kind kind, unsigned flags) {
    struct rt_shared *s = calloc(1, sizeof *s);
    uint32_t pad = ww_rt.options.strict ? 0 : PAD;
    if (!s || bytes > ww_rt_global_memory()) {
        free(s);
        return NULL;
    }
    size_t mapped = (bytes + PAGE - 1) / PAGE * PAGE + 2 * (size_t)pad;
    void *want = (void *)(uintptr_t)ww_rt.next_shared;
    int map = MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE | MAP_NORESERVE;
    void *got = mmap(want, mapped, PROT_READ | PROT_WRITE, map, -1, 0);
    if (got == MAP_FAILED) got = mmap(NULL, mapped, PROT_READ | PROT_WRITE, map & ~MAP_FIXED_NOREPLACE, -1, 0);
    unsigned char *first = got == MAP_FAILED ? NULL : (unsigned char *)got + pad;
    if (!first || ww_device_attach_padded(ww_rt.device, first, bytes, pad, NULL) != WW_OK) {
        if (got != MAP_FAILED) munmap(got, mapped);
        free(s);
        return NULL;
    }
    ww_rt.next_shared += mapped + PAGE;
    *s = (struct rt_shared){.host = first,
                            .bytes = bytes,
                            .mapped = mapped,
                            .pad = pad,
                            .kind = kind,
                            .flags = flags,
                            .next = ww_rt.shared};
    ww_rt.shared = s;
    return first;
}

struct rt_shared *ww_rt_shared_find(const void *p) {
    for (struct rt_shared *s = ww_rt.shared; s; s = s->next)
        if ((uintptr_t)p - (uintptr_t)s->host < s->bytes) return s;
    return NULL;
}

static void shared_free(struct rt_shared *gone) {
    struct rt_shared **at = &ww_rt.shared;
    while (*at != gone) at = &(*at)->next;
    *at = gone->next;
    ww_device_detach(ww_rt.device, gone->host);
    if (gone->kind != RT_KIND_REGISTERED) munmap((unsigned char *)gone->host - gone->pad, gone->mapped);
    free(gone);
}

static int shared_alloc(void **p, size_t bytes, enum rt_kind kind, unsigned flags) {
    if (!p) return RT_ERROR_INVALID_VALUE;
    *p = NULL;
    if (bytes == 0) return kind == RT_KIND_MANAGED ? RT_ERROR_INVALID_VALUE : 0;
    *p = ww_rt_shared_new(bytes, kind, flags);
    return *p ? 0 : RT_ERROR_MEMORY_ALLOCATION;
}

RT_EXPORT int cudaMallocManaged(void **p, size_t bytes, unsigned flags) {
    RT_ENTER;
    return ww_rt_set(shared_alloc(p, bytes, RT_KIND_MANAGED, flags));
}

RT_EXPORT int cudaHostAlloc(void **p, size_t bytes, unsigned flags) {
    RT_ENTER;
    return ww_rt_set(shared_alloc(p, bytes, RT_KIND_HOST, flags));
}

RT_EXPORT int cudaMallocHost(void **p, size_t bytes) {
    return cudaHostAlloc(p, bytes, 0);
}

RT_EXPORT int cudaFreeHost(void *p) {
    RT_LOCK;
    if (!p) return 0;
    if (!ww_rt.device) return ww_rt_set(RT_ERROR_INVALID_VALUE);
    struct rt_shared *s = ww_rt_shared_find(p);
    if (!s || s->host != p || s->kind != RT_KIND_HOST) return ww_rt_set(RT_ERROR_INVALID_VALUE);
    shared_free(s);
    return 0;
}

RT_EXPORT int cudaFree(void *p) {
    RT_ENTER;
    if (!p) return 0;
    struct rt_shared *s = ww_rt_shared_find(p);
    if (s) {
        if (s->host != p || s->kind != RT_KIND_MANAGED) return ww_rt_set(RT_ERROR_INVALID_VALUE);
        shared_free(s);
        return 0;
    }
    bool ours = (uint64_t)(uintptr_t)p >= RT_DEVICE_BASE && (uint64_t)(uintptr_t)p < RT_SHARED_BASE;
    if (!ours || ww_device_free_padded(ww_rt.device, (uint64_t)(uintptr_t)p, NULL) != WW_OK)
        return ww_rt_set(RT_ERROR_INVALID_VALUE);
    return 0;
}

RT_EXPORT int cudaFreeAsync(void *p, void *stream) {
    (void)stream;
    return cudaFree(p);
}
RT_ALIAS(cudaFreeAsync_ptsz, cudaFreeAsync)

RT_EXPORT int cudaHostRegister(void *p, size_t bytes, unsigned flags) {
    RT_ENTER;
    if (!p || bytes == 0) return ww_rt_set(RT_ERROR_INVALID_VALUE);
    struct rt_shared *s = calloc(1, sizeof *s);
    if (!s) return ww_rt_set(RT_ERROR_MEMORY_ALLOCATION);
    if (ww_device_attach(ww_rt.device, p, bytes, NULL) != WW_OK) {
        free(s);
        return ww_rt_set(RT_ERROR_HOST_MEMORY_ALREADY_REGISTERED);
    }
    *s = (struct rt_shared){
        .host = p, .bytes = bytes, .kind = RT_KIND_REGISTERED, .flags = flags, .next = ww_rt.shared};
    ww_rt.shared = s;
    return 0;
}

RT_EXPORT int cudaHostUnregister(void *p) {
    RT_ENTER;
    struct rt_shared *s = ww_rt_shared_find(p);
    if (!s || s->host != p || s->kind != RT_KIND_REGISTERED)
        return ww_rt_set(RT_ERROR_HOST_MEMORY_NOT_REGISTERED);
    shared_free(s);
    return 0;
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
    *available = *total - ww_device_memory_used(ww_rt.device);
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
    } else if (ww_device_find(ww_rt.device, (uint64_t)(uintptr_t)p, &r)) {
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
