/* mem.h: the device's global memory.
 *
 * Allocations lie at 256-byte aligned addresses that only ever grow, with a gap of at least 256 bytes
 * between them, so that an access just outside of one hits nothing; attached memory lies where its owner
 * says. The table is sorted by address.
 *
 *     | allocation 0 |pad+gap| allocation 1 |pad+gap| ...
 */
#ifndef WW_TRACES_PTX_MEM_H
#define WW_TRACES_PTX_MEM_H

#include "../../../estimator/base/err.h"

#define MEM_BASE 0x10000000u
#define MEM_ALIGN 256u

struct mem_alloc {
    uint64_t base, size;
    unsigned char *host;
    bool from_kernel; /* device malloc */
    bool foreign;     /* `host` is not the table's to free */
    uint32_t pad;     /* padding bytes at both ends */
    const char *name; /* of a module's variable, or NULL */
};

struct mem {
    struct mem_alloc **alloc;
    size_t count, capacity;
    uint64_t next;                   /* address of the next allocation */
    uint64_t bytes;                  /* allocated now */
    uint64_t limit;                  /* of bytes */
    uint64_t heap_bytes, heap_limit; /* of device malloc: mem_heap_charge */
};

/* What an allocation of device malloc takes from the heap: its bytes, aligned, and what keeps account of it. */
static inline uint64_t mem_heap_charge(uint64_t bytes) {
    return (bytes + 15) / 16 * 16 + sizeof(struct mem_alloc) + 64;
}

void ww_mem_init(struct mem *m, uint64_t limit);
void ww_mem_free_all(struct mem *m);
/* Zeroed. Errors: WW_NOMEM. */
enum ww_code ww_mem_new(struct mem *m, uint64_t bytes, const char *name, struct mem_alloc **out,
                        struct ww_error *error);
/* Adds memory that lives elsewhere, at a device address of the caller's choice. Errors: WW_NOMEM, WW_USAGE
 * (overlaps another allocation). */
enum ww_code ww_mem_attach(struct mem *m, uint64_t address, uint64_t bytes, unsigned char *host,
                           struct mem_alloc **out, struct ww_error *error);
/* False if `address` is not the start of an allocation. */
bool ww_mem_release(struct mem *m, uint64_t address);
/* The allocation that holds `address`, or NULL. */
struct mem_alloc *ww_mem_find(const struct mem *m, uint64_t address);
/* The nearest allocation, for errors; NULL if there is none. */
struct mem_alloc *ww_mem_nearest(const struct mem *m, uint64_t address);
/* What is wrong with a load or store that hits no allocation. */
void ww_mem_miss_text(const struct mem *m, uint64_t address, uint32_t bytes, bool is_store, char *out,
                      size_t n);
/* malloc of kernels: 0 when the heap is full, as on the device, and for no bytes. */
uint64_t ww_mem_kernel_malloc(struct mem *m, uint64_t bytes);
/* free of kernels; false if malloc did not return `address`. */
bool ww_mem_kernel_free(struct mem *m, uint64_t address);

/* True if [address, address + n) lies in a. */
static inline bool mem_holds(const struct mem_alloc *a, uint64_t address, uint64_t n) {
    return address >= a->base && n <= a->size && address - a->base <= a->size - n;
}

#endif
