/* coalesce.h: from a warp's addresses to requests of one line each, with the 32-byte chunks that they touch.
 *
 * Requests come in the order of the first lane that needs them. Affine accesses whose lanes lie side by side
 * are done as one range, without looking at single lanes. */
#ifndef WW_CORE_COALESCE_H
#define WW_CORE_COALESCE_H

#include "../../../traces/trace.h"
#include "../../base/bits.h"
#include <stdbool.h>

#define WW_REQUEST_MAX 192 /* 32 lanes x 5 words of local memory, and some */

struct ww_line_request {
    uint64_t key;     /* address / line size */
    uint32_t chunks;  /* bit per 32 bytes of the line */
    uint16_t bytes;   /* payload if it is a store or an atomic */
    uint16_t updates; /* of an atomic: updates that follow one another; see ww_coalesce_updates */
};

struct ww_coalescer {
    uint32_t line_shift; /* log2 of bytes */
    uint32_t line_bytes;
    uint32_t count;
    struct ww_line_request request[WW_REQUEST_MAX];
    uint64_t above;  /* no request of the current access has this key or a higher one */
    uint32_t hashed; /* requests in the hash table: it is filled when one is looked for in it */
    uint32_t stamp;  /* of what is in the hash tables below now */
    uint32_t seen_stamp[256];
    uint8_t seen_request[256];
    uint32_t address_stamp[128];
    uint64_t address[128];
    uint8_t address_lanes[128];
};

/* Where a warp's local memory lies: word w of all lanes is one row of 128 bytes, so that lanes that use the
 * same offset of their frames touch neighbouring words, as the hardware interleaves it. */
struct ww_local_frame {
    uint64_t base;
    uint32_t words; /* of one thread's frame */
};

void ww_coalesce_init(struct ww_coalescer *c, uint32_t line_bytes);
/* Other lines from the next access on, of 2^line_shift bytes. */
static inline void ww_coalesce_lines(struct ww_coalescer *c, uint32_t line_shift) {
    c->line_shift = line_shift;
    c->line_bytes = 1u << line_shift;
}
/* Fills c->request and c->count for `width` bytes in each lane of mask (not 0). `pool`: the stream's. */
void ww_coalesce(struct ww_coalescer *c, const struct ww_access *access, const uint64_t *pool, uint32_t mask,
                 uint32_t width);
/* The same but for `bytes`, which are any. */
void ww_coalesce_read(struct ww_coalescer *c, const struct ww_access *access, const uint64_t *pool,
                      uint32_t mask, uint32_t width);
/* True if an affine access is one address, or a run of lanes side by side: it is soon done. */
static inline bool ww_coalesce_is_range(const struct ww_access *a, uint32_t mask, uint32_t width) {
    uint32_t run = mask >> __builtin_ctz(mask);
    uint64_t step = a->stride < 0 ? (uint64_t)(-(int64_t)a->stride) : (uint64_t)a->stride;
    return step == 0 || (step <= width && (run & (run + 1)) == 0);
}
/* The most usual one: a whole warp side by side in one line. False: it is another one, and nothing is done. */
static inline bool ww_coalesce_line(struct ww_coalescer *c, const struct ww_access *a, uint32_t mask,
                                    uint32_t width) {
    uint32_t in_line = (uint32_t)a->base & (c->line_bytes - 1), length = 32 * width;
    if (a->list != WW_AFFINE || mask != UINT32_MAX || a->stride != (int32_t)width) return false;
    if (in_line + length > c->line_bytes) return false;
    uint32_t chunks = (2u << ((in_line + length - 1) >> 5)) - (1u << (in_line >> 5));
    c->count = 1;
    c->request[0] = (struct ww_line_request){a->base >> c->line_shift, chunks, (uint16_t)length, 0};
    return true;
}
/* As ww_coalesce for offsets into thread frames. */
void ww_coalesce_local(struct ww_coalescer *c, const struct ww_access *access, const uint64_t *pool,
                       uint32_t mask, uint32_t width, const struct ww_local_frame *frame);
/* Sets `updates` of each request of an atomic. Lanes that share an address are served one after the other;
 * different words of a 32-byte chunk at once, as the L2's atomic units work on whole chunks. So a chunk takes
 * as many updates as its most requested word, and a request the sum over its chunks (same-address rates:
 * NVIDIA, Kepler GK110 whitepaper). Call after ww_coalesce. */
void ww_coalesce_updates(struct ww_coalescer *c, const struct ww_access *access, const uint64_t *pool,
                         uint32_t mask);

/* Address of a lane; `rank` is its number among the active ones. */
static inline uint64_t ww_lane_address(const struct ww_access *a, const uint64_t *pool, uint32_t lane,
                                       uint32_t rank) {
    return a->list == WW_AFFINE ? a->base + (uint64_t)((int64_t)a->stride * (int64_t)lane)
                                : ww_listed(a, pool, rank);
}

/* Addresses of the active lanes, in their order: in the pool, or in `room`. */
static inline const uint64_t *ww_lane_addresses(const struct ww_access *a, const uint64_t *pool, uint32_t mask,
                                                uint64_t room[static 32]) {
    uint32_t n = 0;
    if (a->list != WW_AFFINE) return ww_list_addresses(a, pool, ww_bits(mask), room);
    for (uint32_t m = mask; m; m &= m - 1) room[n++] = ww_lane_address(a, NULL, (uint32_t)__builtin_ctz(m), 0);
    return room;
}

#endif
