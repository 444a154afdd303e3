/* fast_map.h: where a line goes, in fewer steps than addrmap.h, l2_tags.h and dram take.
 *
 * Where slices, sets, channels are powers of two, each bit of their numbers is the parity of some address bits.
 * So a table for each byte of the address, xored together, gives all of them at once. */
#ifndef WW_CORE_FAST_MAP_H
#define WW_CORE_FAST_MAP_H

#include "addrmap.h"
#include "l2_tags.h"

#define WW_FAST_MAP_LOW 7 /* address bits below have no part in it */
#define WW_FAST_MAP_PARTS 5
#define WW_FAST_MAP_END (WW_FAST_MAP_LOW + 8 * WW_FAST_MAP_PARTS) /* nor may those from here on be set */

struct ww_fast_map {
    uint32_t part[WW_FAST_MAP_PARTS][256]; /* slice, set and bank, as below */
    uint32_t line_shift, row_shift;        /* of addresses: of a slice's lines; of these: of rows */
    uint32_t high, high_left;              /* a line's number: address bits from `high` on, shifted left; */
    uint32_t mid, mid_mask;                /* and those of two fields */
    uint32_t low, low_mask;
    bool fits; /* else it is not to be used */
};

/* Where the address goes, step by step. */
struct ww_fast_where {
    uint64_t number; /* of the slice's line */
    uint32_t slice, set, bank, row;
};

enum { WW_FAST_MAP_SLICE = 10, WW_FAST_MAP_SET = 14, WW_FAST_MAP_BANK = 8 }; /* bits, from the lowest on */

/* tags: of any slice. */
void ww_fast_map_init(struct ww_fast_map *m, const struct ww_addrmap *map, const struct ww_l2_tags *tags,
                      uint32_t line_shift);

static inline struct ww_fast_where ww_fast_where(const struct ww_fast_map *m, uint64_t address) {
    uint64_t a = address >> WW_FAST_MAP_LOW;
    uint32_t all = m->part[0][a & 255] ^ m->part[1][a >> 8 & 255] ^ m->part[2][a >> 16 & 255] ^
                   m->part[3][a >> 24 & 255] ^ m->part[4][a >> 32 & 255];
    struct ww_fast_where w = {.slice = all & ((1u << WW_FAST_MAP_SLICE) - 1),
                              .set = all >> WW_FAST_MAP_SLICE & ((1u << WW_FAST_MAP_SET) - 1),
                              .bank = all >> (WW_FAST_MAP_SLICE + WW_FAST_MAP_SET)};
    w.number = (address >> m->high << m->high_left) | (address >> m->mid & m->mid_mask) |
               (address >> m->low & m->low_mask);
    w.row = (uint32_t)(w.number >> m->row_shift);
    return w;
}

#endif
