/* Where an address lives: L2 slice, place within the slice, DRAM bank and row. */
#include "addrmap.h"

static uint32_t log2_floor(uint64_t v) {
    uint32_t n = 0;
    while (v >>= 1) n++;
    return n;
}

void ww_divider_init(struct ww_divider *d, uint32_t value) {
    uint32_t bits = log2_floor(value);
    d->value = value;
    d->factor = 0;
    d->shift = bits;
    if (value == (uint32_t)1 << bits) return;
    /* factor = floor(2^(64 + bits) / value) + 1 lies in (2^63, 2^64): n * factor / 2^(64 + bits) exceeds
     * n / value by n * e / (value * 2^(64 + bits)) with e <= value, less than 1 / value for n < 2^59. */
    d->factor = (uint64_t)((((ww_u128)1) << (64 + bits)) / value) + 1;
}

void ww_addrmap_init(struct ww_addrmap *m, const struct ww_gpu_spec *gpu) {
    *m = (struct ww_addrmap){.interleave_shift = log2_floor(gpu->l2_interleave),
                             .slices = gpu->l2_slices,
                             .slices_per_channel = gpu->l2_slices / gpu->dram_channels,
                             .permute = gpu->l2_slice_hash == 1,
                             .fold_bits = log2_floor(gpu->l2_slices)};
    m->fold_half = ww_fold_half(m->fold_bits);
    ww_divider_init(&m->by_slices, gpu->l2_slices);
    ww_divider_init(&m->by_channel, m->slices_per_channel);
    uint32_t row_shift = log2_floor(gpu->dram_row_bytes);
    m->column_shift = row_shift < 8 ? row_shift : 8;
    m->column_bits = row_shift - m->column_shift;
    m->group_bits = log2_floor(gpu->dram_bank_groups);
    m->bank_bits = log2_floor(gpu->dram_banks) - m->group_bits;
}

struct ww_dram_place ww_addrmap_dram(const struct ww_addrmap *m, uint32_t slice, uint64_t local) {
    uint64_t channel = ww_divide(&m->by_channel, slice);
    uint64_t within = slice - channel * m->slices_per_channel;
    uint64_t chunk = (local >> m->interleave_shift) * m->slices_per_channel + within;
    uint64_t offset = local & (((uint64_t)1 << m->interleave_shift) - 1);
    uint64_t rest = ((chunk << m->interleave_shift) | offset) >> m->column_shift;
    uint32_t group = (uint32_t)(rest & ((1u << m->group_bits) - 1));
    rest >>= m->group_bits + m->column_bits;
    uint32_t bank = (uint32_t)(rest & ((1u << m->bank_bits) - 1));
    uint64_t row = rest >> m->bank_bits;
    group ^= (uint32_t)row & ((1u << m->group_bits) - 1);
    bank ^= (uint32_t)(row >> m->group_bits) & ((1u << m->bank_bits) - 1);
    return (struct ww_dram_place){group | bank << m->group_bits, (uint32_t)row};
}
