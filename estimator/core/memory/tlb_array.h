/* tlb_array.h: the entries of a TLB: which pages it holds.
 *
 * Sets of `ways` entries, indexed by the low bits of the page number. The first set may be larger than the
 * others; it then takes two of the index values, 0 and 1: with 7 sets, of 17 and of 8 ways, three bits choose
 * the set, and 65 pages in a row from a multiple of 8 fill every entry. The 66th page overfills the large
 * set, each of the next six one of the small ones: what Mei and Chu, IEEE TPDS 2017, figure 10, saw.
 * Replacement is least recently used, or random.
 */
#ifndef WW_CORE_TLB_ARRAY_H
#define WW_CORE_TLB_ARRAY_H

#include "../../base/arena.h"
#include "../../base/rng.h"
#include <stdbool.h>
#include <stdint.h>

struct ww_tlb_shape {
    uint32_t sets, ways;
    uint32_t first_ways; /* of the first set, which takes two index values; 0: as the others */
    bool random;
};

struct ww_tlb_array {
    uint64_t *page; /* by entry; UINT64_MAX: empty */
    uint64_t *used; /* by entry: time of its last use; 0: never */
    uint64_t clock; /* uses so far */
    struct ww_tlb_shape shape;
    uint32_t index_mask;
    uint32_t recent; /* entry found last */
    struct ww_rng rng;
};

/* Makes an empty array. sets, or sets + 1 where the first set is larger, is a power of two. False: out of
 * memory. */
bool ww_tlb_array_init(struct ww_tlb_array *a, struct ww_arena *arena, const struct ww_tlb_shape *shape,
                       uint64_t seed);
/* True if the page is there; records the use. */
bool ww_tlb_array_find(struct ww_tlb_array *a, uint64_t page);
/* Puts in a page that is not there, in place of another of its set if that is full. */
void ww_tlb_array_fill(struct ww_tlb_array *a, uint64_t page);

#endif
