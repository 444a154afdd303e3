/* Where a line goes, by tables. */
#include "fast_map.h"

static struct ww_fast_where by_steps(const struct ww_fast_map *m, const struct ww_addrmap *map,
                                     const struct ww_l2_tags *tags, uint64_t address) {
    struct ww_slice_place in = ww_addrmap_slice(map, address);
    struct ww_dram_place at = ww_addrmap_dram(map, in.slice, in.local);
    uint64_t number = in.local >> m->line_shift;
    return (struct ww_fast_where){number, in.slice, ww_l2_tags_set(tags, number), at.bank, at.row};
}

static uint32_t packed(const struct ww_fast_where *w) {
    return w->slice | w->set << WW_FAST_MAP_SLICE | w->bank << (WW_FAST_MAP_SLICE + WW_FAST_MAP_SET);
}

/* The same as by steps, for some addresses. */
static bool right(const struct ww_fast_map *m, const struct ww_addrmap *map, const struct ww_l2_tags *tags) {
    for (uint64_t i = 0; i < 256; i++) {
        uint64_t address = i * UINT64_C(0x9e3779b97f4a7c15) >> (64 - WW_FAST_MAP_END);
        struct ww_fast_where w = by_steps(m, map, tags, address), got = ww_fast_where(m, address);
        if (w.number != got.number || w.row != got.row || packed(&w) != packed(&got)) return false;
    }
    return true;
}

void ww_fast_map_init(struct ww_fast_map *m, const struct ww_addrmap *map, const struct ww_l2_tags *tags,
                      uint32_t line_shift) {
    uint32_t slice_bits = map->fold_bits, chunk = map->interleave_shift;
    uint32_t row = map->column_shift + map->group_bits + map->column_bits + map->bank_bits;
    *m = (struct ww_fast_map){.line_shift = line_shift};
    if (map->slices > 1u << WW_FAST_MAP_SLICE || tags->sets > 1u << WW_FAST_MAP_SET ||
        map->group_bits + map->bank_bits > WW_FAST_MAP_BANK || line_shift < WW_FAST_MAP_LOW ||
        chunk < line_shift)
        return;
    if (map->parities) { /* as ww_addrmap_parities */
        m->high = 16, m->high_left = 3;
        m->mid = 12, m->mid_mask = 4;
        m->low = 8, m->low_mask = 3;
        m->row_shift = 3 + WW_ADDRMAP_BANK_BITS;
    } else {
        m->high = chunk + slice_bits, m->high_left = chunk - line_shift;
        m->low = line_shift, m->low_mask = (1u << (chunk - line_shift)) - 1;
        uint32_t below = line_shift; /* address bits of a row that are not of the line's number */
        while (1u << (below - line_shift) < map->slices_per_channel) below++;
        if (row < below) return;
        m->row_shift = row - below;
    }
    for (uint32_t k = 0; k < WW_FAST_MAP_PARTS; k++)
        for (uint32_t b = 1; b < 256; b++) {
            uint32_t rest = b & (b - 1);
            struct ww_fast_where w = by_steps(m, map, tags, (uint64_t)(b & -b) << (WW_FAST_MAP_LOW + 8 * k));
            m->part[k][b] = m->part[k][rest] ^ packed(&w);
        }
    m->fits = right(m, map, tags);
}
