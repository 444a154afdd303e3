/* set_index.h: which set of a cache an address belongs to, when that is no plain bit field.
 *
 * Each bit of the set number is the parity of some address bits: a mask per bit. A mask of one bit takes that
 * bit; one of several xors them. All index functions that microbenchmarks found on GPUs as bit fields, and the
 * xor hashes, are of this kind (X. Mei, X. Chu, Dissecting GPU Memory Hierarchy through Microbenchmarking).
 * If a cache has more sets than the masks tell apart, the rest of the number is the address above the
 * masks' lowest bits modulo what is left. Constant once made; shared by the same caches of all SMs. */
#ifndef WW_CORE_SET_INDEX_H
#define WW_CORE_SET_INDEX_H

#include "../../config/mask_list.h"

#define WW_INDEX_PARTS 5 /* bytes of a key that masks may reach */

struct ww_set_index {
    uint32_t parts;  /* bytes of the key that are looked at; 0: no masks were given */
    uint32_t bits;   /* of the set number that the masks give */
    uint32_t groups; /* sets / 2^bits */
    uint32_t rest_shift;
    uint16_t part[WW_INDEX_PARTS][256];
};

/* Makes the index of a cache of `sets` sets and lines of 2^line_shift bytes from `text`, a list of masks of
 * byte addresses (mask_list.h), lowest bit of the set number first; "" makes one with parts 0. False: the list
 * is malformed, a mask has bits inside of a line or too high ones, or 2^masks does not divide the sets. */
bool ww_set_index_init(struct ww_set_index *index, const char *text, uint32_t line_shift, uint32_t sets);

/* The set of a key (an address divided by the line size). */
static inline uint32_t ww_set_index_of(const struct ww_set_index *index, uint64_t key) {
    uint32_t set = index->part[0][key & 255];
    for (uint32_t i = 1; i < index->parts; i++) set ^= index->part[i][key >> 8 * i & 255];
    if (index->groups > 1) set |= (uint32_t)((key >> index->rest_shift) % index->groups) << index->bits;
    return set;
}

#endif
