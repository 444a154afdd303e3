/* shapes.h: what is found out about the addresses of a warp, kept for accesses that lie alike.
 *
 * A program comes back to few patterns of addresses: what lines they lie in and how many passes of the banks
 * they take depends on the distances of the lanes and on where the first one lies in a line, not on the line. A
 * table holds the latest patterns, each with all of its distances: what is found in it is as if found out anew.
 *
 *   access --distances, mask, width, place in a line--> entry: lines as numbers from the first, or passes
 */
#ifndef WW_CORE_SHAPES_H
#define WW_CORE_SHAPES_H

#include "coalesce.h"
#include "smem.h"

#define WW_SHAPES 64u
#define WW_SHAPE_LINES 8u /* accesses of more are not kept */

struct ww_shape_line {
    int32_t line; /* from that of the access's base on */
    uint16_t bytes;
    uint8_t chunks;
};

struct ww_shape {
    uint64_t key;     /* 0: empty */
    uint64_t list[8]; /* distances of 32 lanes from the first, of 16 bits; or the stride */
    uint32_t count;
    struct ww_smem_passes passes;
    struct ww_shape_line line[WW_SHAPE_LINES];
};

/* One for each thread that steps SMs; zero at first. */
struct ww_shapes {
    struct ww_shape shape[WW_SHAPES];
};

/* As ww_coalesce, or ww_coalesce_read. */
void ww_shapes_coalesce(struct ww_shapes *s, struct ww_coalescer *c, const struct ww_access *access,
                        const uint64_t *pool, uint32_t mask, uint32_t width, bool read);
/* As ww_smem_passes, of one set of banks for all calls. */
struct ww_smem_passes ww_shapes_passes(struct ww_shapes *s, const struct ww_smem_banks *banks,
                                       const struct ww_access *access, const uint64_t *pool, uint32_t mask,
                                       uint32_t width, bool load);

#endif
