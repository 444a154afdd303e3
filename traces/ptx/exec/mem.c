/* mem.c: the table of global allocations. */
#include "mem.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void ww_mem_init(struct mem *m, uint64_t limit) {
    memset(m, 0, sizeof *m);
    m->next = MEM_BASE;
    m->limit = limit;
    m->heap_limit = 64u << 20;
}

static void alloc_free(struct mem_alloc *a) {
    if (!a->foreign) free(a->host);
    free(a);
}

void ww_mem_free_all(struct mem *m) {
    for (size_t i = 0; i < m->count; i++) alloc_free(m->alloc[i]);
    free(m->alloc);
    memset(m, 0, sizeof *m);
}

static bool grow(struct mem *m) {
    if (m->count < m->capacity) return true;
    size_t capacity = m->capacity ? 2 * m->capacity : 16;
    struct mem_alloc **p = realloc(m->alloc, capacity * sizeof *p);
    if (!p) return false;
    m->alloc = p;
    m->capacity = capacity;
    return true;
}

/* Index of the last allocation whose base is <= address, or -1. */
static ptrdiff_t below(const struct mem *m, uint64_t address) {
    size_t lo = 0, hi = m->count;
    while (lo < hi) {
        size_t mid = lo + (hi - lo) / 2;
        if (m->alloc[mid]->base <= address)
            lo = mid + 1;
        else
            hi = mid;
    }
    return (ptrdiff_t)lo - 1;
}

/* Puts an allocation in its place; there is room. */
static void insert(struct mem *m, struct mem_alloc *a) {
    size_t at = (size_t)(below(m, a->base) + 1);
    memmove(&m->alloc[at + 1], &m->alloc[at], (m->count - at) * sizeof *m->alloc);
    m->alloc[at] = a;
    m->count++;
}

enum ww_code ww_mem_new(struct mem *m, uint64_t bytes, const char *name, struct mem_alloc **out,
                        struct ww_error *error) {
    if (bytes > m->limit || m->bytes > m->limit - bytes)
        return ww_fail(error, WW_NOMEM, "device memory",
                       "%llu bytes asked for with %llu in use: over the limit of %llu",
                       (unsigned long long)bytes, (unsigned long long)m->bytes, (unsigned long long)m->limit);
    struct mem_alloc *a = calloc(1, sizeof *a);
    unsigned char *host = calloc(1, bytes ? bytes : 1);
    if (!a || !host || !grow(m)) {
        free(a);
        free(host);
        return ww_fail_nomem(error, "device memory");
    }
    *a = (struct mem_alloc){.base = m->next, .size = bytes, .host = host, .name = name};
    insert(m, a);
    m->bytes += bytes;
    uint64_t padded = (bytes + MEM_ALIGN - 1) / MEM_ALIGN * MEM_ALIGN;
    m->next += padded + MEM_ALIGN;
    *out = a;
    return WW_OK;
}

static bool is_free(const struct mem *m, uint64_t address, uint64_t bytes) {
    ptrdiff_t i = below(m, address);
    if (bytes == 0 || address > UINT64_MAX - bytes) return false;
    if (i >= 0 && address - m->alloc[i]->base < m->alloc[i]->size) return false;
    size_t next = (size_t)(i + 1);
    return next == m->count || m->alloc[next]->base >= address + bytes;
}

enum ww_code ww_mem_attach(struct mem *m, uint64_t address, uint64_t bytes, unsigned char *host,
                           struct mem_alloc **out, struct ww_error *error) {
    if (!is_free(m, address, bytes))
        return ww_fail(error, WW_USAGE, "device memory", "%llu bytes at 0x%llx overlap an allocation",
                       (unsigned long long)bytes, (unsigned long long)address);
    struct mem_alloc *a = calloc(1, sizeof *a);
    if (!a || !grow(m)) {
        free(a);
        return ww_fail_nomem(error, "device memory");
    }
    *a = (struct mem_alloc){.base = address, .size = bytes, .host = host, .foreign = true};
    insert(m, a);
    *out = a;
    return WW_OK;
}

bool ww_mem_release(struct mem *m, uint64_t address) {
    ptrdiff_t i = below(m, address);
    if (i < 0 || m->alloc[i]->base != address) return false;
    if (!m->alloc[i]->foreign) m->bytes -= m->alloc[i]->size;
    if (m->alloc[i]->from_kernel) m->heap_bytes -= mem_heap_charge(m->alloc[i]->size);
    alloc_free(m->alloc[i]);
    size_t behind = m->count - (size_t)i - 1;
    memmove(&m->alloc[i], &m->alloc[i + 1], behind * sizeof *m->alloc);
    m->count--;
    return true;
}

struct mem_alloc *ww_mem_find(const struct mem *m, uint64_t address) {
    ptrdiff_t i = below(m, address);
    if (i < 0 || !mem_holds(m->alloc[i], address, 1)) return NULL;
    return m->alloc[i];
}

struct mem_alloc *ww_mem_nearest(const struct mem *m, uint64_t address) {
    if (m->count == 0) return NULL;
    ptrdiff_t i = below(m, address);
    if (i < 0) return m->alloc[0];
    if ((size_t)i + 1 == m->count) return m->alloc[i];
    uint64_t end = m->alloc[i]->base + m->alloc[i]->size;
    uint64_t down = address > end ? address - end : 0, up = m->alloc[i + 1]->base - address;
    return down <= up ? m->alloc[i] : m->alloc[i + 1];
}

void ww_mem_miss_text(const struct mem *m, uint64_t address, uint32_t bytes, bool is_store, char *out,
                      size_t n) {
    const char *what = is_store ? "store" : "load";
    const struct mem_alloc *near = ww_mem_nearest(m, address);
    if (!near) {
        snprintf(out, n, "%s of %u bytes at 0x%llx: nothing is allocated", what, bytes,
                 (unsigned long long)address);
        return;
    }
    unsigned long long at = address, base = near->base + near->pad, size = near->size - 2u * near->pad;
    bool before = at < base;
    unsigned long long distance = before ? base - at : at - base;
    snprintf(
        out, n,
        "out-of-bounds %s of %u bytes at 0x%llx: %llu bytes %s the start of the nearest allocation, 0x%llx of "
        "%llu bytes%s%s",
        what, bytes, at, distance, before ? "before" : "behind", base, size, near->name ? ", variable " : "",
        near->name ? near->name : "");
}

uint64_t ww_mem_kernel_malloc(struct mem *m, uint64_t bytes) {
    struct mem_alloc *a;
    if (bytes == 0 || bytes > m->heap_limit) return 0;
    if (mem_heap_charge(bytes) > m->heap_limit - m->heap_bytes) return 0;
    if (ww_mem_new(m, bytes, NULL, &a, NULL) != WW_OK) return 0;
    a->from_kernel = true;
    m->heap_bytes += mem_heap_charge(bytes);
    return a->base;
}

bool ww_mem_kernel_free(struct mem *m, uint64_t address) {
    const struct mem_alloc *a = ww_mem_find(m, address);
    if (!a || a->base != address || !a->from_kernel) return false;
    return ww_mem_release(m, address);
}
