/* Which set of a cache an address belongs to, when that is no plain bit field. */
#include "set_index.h"

#include <string.h>

/* Each byte of the key adds its share: that of a value is that of the value less its lowest bit, and that
 * bit's. */
static void fill_part(uint16_t part[256], const uint64_t *mask, uint32_t count, uint32_t shift) {
    uint16_t of_bit[8] = {0};
    for (uint32_t b = 0; b < 8; b++)
        for (uint32_t i = 0; i < count; i++) of_bit[b] |= (uint16_t)((mask[i] >> (shift + b) & 1) << i);
    for (uint32_t v = 1; v < 256; v++) part[v] = part[v & (v - 1)] ^ of_bit[__builtin_ctz(v)];
}

static bool make(struct ww_set_index *index, const char *text, uint32_t line_shift, uint32_t sets) {
    uint64_t mask[WW_MASKS_MAX];
    int count = ww_mask_list(text, mask);
    memset(index, 0, sizeof *index);
    if (count <= 0) return count == 0;
    uint32_t bits = (uint32_t)count, lowest = 0;
    if (bits > 16 || sets >> bits == 0 || (sets >> bits) << bits != sets) return false;
    for (uint32_t i = 0; i < bits; i++) {
        uint64_t m = mask[i] >> line_shift;
        if (!m || m << line_shift != mask[i] || m >> 8 * WW_INDEX_PARTS) return false;
        while (m >> 8 * index->parts) index->parts++;
        if ((uint32_t)__builtin_ctzll(m) > lowest) lowest = (uint32_t)__builtin_ctzll(m);
    }
    for (uint32_t p = 0; p < index->parts; p++) fill_part(index->part[p], mask, bits, line_shift + 8 * p);
    index->bits = bits;
    index->groups = sets >> bits;
    index->rest_shift = lowest + 1;
    return true;
}

bool ww_set_index_init(struct ww_set_index *index, const char *text, uint32_t line_shift, uint32_t sets) {
    bool ok = make(index, text, line_shift, sets);
    if (!ok) index->parts = 0;
    return ok;
}
