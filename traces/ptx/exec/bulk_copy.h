/* bulk_copy.h: what a bulk copy does to memory, for every executor: cp.async.bulk, UBLKCP, UTMALDG and their
 * kin.
 *
 * A copy is done at once and as a whole. The caller completes the mbarriers of the CTAs that it names. */
#ifndef WW_TRACES_PTX_BULK_COPY_H
#define WW_TRACES_PTX_BULK_COPY_H

#include "../../tensor_map.h"
#include <stddef.h>

#define WW_CLUSTER_MOST 16u /* CTAs of a cluster */

enum bulk_op {
    BULK_COPY,
    BULK_ADD,
    BULK_MIN,
    BULK_MAX,
    BULK_INC,
    BULK_DEC,
    BULK_AND,
    BULK_OR,
    BULK_XOR,
};
enum bulk_way { BULK_TO_SHARED, BULK_TO_GLOBAL, BULK_BETWEEN, BULK_PREFETCH };

struct bulk_request {
    uint8_t way, op; /* enum bulk_way, bulk_op */
    uint8_t type;    /* enum ww_tensor_type of a reduction that is not a tensor's */
    bool tensor;
    uint16_t ctas; /* destinations in shared memory, a bit for each CTA of the cluster */
    uint64_t global;
    uint32_t shared, from; /* offsets in a CTA's shared memory; BETWEEN: source */
    uint32_t bytes;        /* not of a tensor's box */
    unsigned own;          /* rank of the CTA that asks */
    struct ww_tensor_map map;
    struct ww_tensor_at at;
};

/* Memory as the executor has it. A function that gives NULL has failed the run. */
struct bulk_memory {
    void *context;
    unsigned char *(*global)(void *context, uint64_t address, uint32_t bytes, bool is_store);
    unsigned char *(*shared)(void *context, unsigned rank, uint32_t offset, uint32_t bytes, bool is_store);
    /* Bytes of global memory that the copy reads or writes, in its order; BETWEEN: of shared memory that it
     * writes, with the CTA's rank as traces have it. */
    void (*touch)(void *context, uint64_t address, uint32_t bytes);
};

/* Contiguous bytes that copies touched, in their order. */
struct bulk_extent {
    uint64_t address, bytes;
};
struct bulk_touched {
    struct bulk_extent *extent; /* from the heap */
    size_t count, capacity;
};
/* Adds bytes; false: no memory. */
bool ww_bulk_note(struct bulk_touched *t, uint64_t address, uint32_t bytes);
/* Walks over what was touched, in pieces of 16 bytes: up to 32 addresses into addr, and how many; 0 at the end.
 */
struct bulk_lanes {
    const struct bulk_touched *of;
    size_t extent;
    uint64_t at;
};
uint32_t ww_bulk_lanes(struct bulk_lanes *l, uint64_t addr[32]);
/* What a reduction makes of an element. */
uint64_t ww_bulk_reduce(uint8_t op, uint8_t type, uint64_t old, uint64_t v);

/* NULL, or what is wrong with it. */
const char *ww_bulk_check(const struct bulk_request *r);
/* False: a function of the memory has failed. `r` is right. */
bool ww_bulk_run(const struct bulk_request *r, const struct bulk_memory *m);
/* Bytes in shared memory. */
static inline uint32_t ww_bulk_bytes(const struct bulk_request *r) {
    return r->tensor ? ww_tensor_box_bytes(&r->map) : r->bytes;
}

#endif
