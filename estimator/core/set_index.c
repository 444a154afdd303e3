#include "set_index.h"

#include <string.h>

static uint32_t parity(uint64_t v) {
    return (uint32_t)__builtin_parityll(v);
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
        for (uint32_t p = 0; p < WW_INDEX_PARTS; p++)
            for (uint32_t v = 0; v < 256; v++) index->part[p][v] |= (uint16_t)(parity(m >> 8 * p & v) << i);
    }
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
