/* core_memory.c: device, pinned and managed memory. */
#include "core.h"
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
        *bad = at >= RT_DEVICE_BASE && at < RT_SHARED_BASE; /* the process has no other memory there */
        return NULL;
    }
    *bad = n > r.bytes - (at - r.base);
    return *bad ? NULL : r.host + (at - r.base);
}

int ww_rt_device_new(void **p, size_t bytes) {
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

bool ww_rt_pitched_bytes(size_t width, size_t rows, size_t *pitch, size_t *bytes) {
    if (width > SIZE_MAX - PITCH) return false;
    *pitch = (width + PITCH - 1) / PITCH * PITCH;
    return !__builtin_mul_overflow(*pitch, rows, bytes);
}

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

int ww_rt_shared_alloc(void **p, size_t bytes, enum rt_kind kind, unsigned flags) {
    if (!p) return RT_ERROR_INVALID_VALUE;
    *p = NULL;
    if (bytes == 0) return kind == RT_KIND_MANAGED ? RT_ERROR_INVALID_VALUE : 0;
    *p = ww_rt_shared_new(bytes, kind, flags);
    return *p ? 0 : RT_ERROR_MEMORY_ALLOCATION;
}

int ww_rt_free_host(void *p) {
    if (!p) return 0;
    if (!ww_rt.device) return RT_ERROR_INVALID_VALUE;
    struct rt_shared *s = ww_rt_shared_find(p);
    if (!s || s->host != p || s->kind != RT_KIND_HOST) return RT_ERROR_INVALID_VALUE;
    shared_free(s);
    return 0;
}

int ww_rt_free(void *p) {
    if (!p) return 0;
    struct rt_shared *s = ww_rt_shared_find(p);
    if (s) {
        if (s->host != p || s->kind != RT_KIND_MANAGED) return RT_ERROR_INVALID_VALUE;
        shared_free(s);
        return 0;
    }
    bool ours = (uint64_t)(uintptr_t)p >= RT_DEVICE_BASE && (uint64_t)(uintptr_t)p < RT_SHARED_BASE;
    if (!ours || ww_device_free_padded(ww_rt.device, (uint64_t)(uintptr_t)p, NULL) != WW_OK)
        return RT_ERROR_INVALID_VALUE;
    return 0;
}

/* Whether all pages of the range are there: msync() says ENOMEM if one is not. */
static bool is_mapped(const void *p, size_t bytes) {
    uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE), first = (uintptr_t)p & ~(page - 1);
    if (bytes > UINTPTR_MAX - (uintptr_t)p) return false;
    return msync((void *)first, (uintptr_t)p + bytes - first, MS_ASYNC) == 0;
}

int ww_rt_register_host(void *p, size_t bytes, unsigned flags) {
    if (!p || bytes == 0 || !is_mapped(p, bytes)) return RT_ERROR_INVALID_VALUE;
    struct rt_shared *s = calloc(1, sizeof *s);
    if (!s) return RT_ERROR_MEMORY_ALLOCATION;
    if (ww_device_attach(ww_rt.device, p, bytes, NULL) != WW_OK) {
        free(s);
        return RT_ERROR_HOST_MEMORY_ALREADY_REGISTERED;
    }
    *s = (struct rt_shared){
        .host = p, .bytes = bytes, .kind = RT_KIND_REGISTERED, .flags = flags, .next = ww_rt.shared};
    ww_rt.shared = s;
    return 0;
}

int ww_rt_unregister_host(void *p) {
    struct rt_shared *s = ww_rt_shared_find(p);
    if (!s || s->host != p || s->kind != RT_KIND_REGISTERED) return RT_ERROR_HOST_MEMORY_NOT_REGISTERED;
    shared_free(s);
    return 0;
}

bool ww_rt_find(const void *p, struct ww_device_range *range) {
    return ww_device_find(ww_rt.device, (uint64_t)(uintptr_t)p, range);
}

uint64_t ww_rt_memory_used(void) {
    return ww_device_memory_used(ww_rt.device);
}

uint64_t ww_rt_heap(void) {
    return ww_device_heap(ww_rt.device);
}

void ww_rt_set_heap(uint64_t bytes) {
    ww_device_set_heap(ww_rt.device, bytes);
}
