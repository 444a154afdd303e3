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

enum { CHANNEL_BITS = 5, BANK_BITS = WW_ADDRMAP_BANK_BITS };

/* Address bits whose parity is a bit of the channel's number ("memory module index" of Fractional GPUs), and of
 * the bank's (those of its "DRAM bank index" that tell a channel's banks apart). */
static const uint64_t channel_mask[CHANNEL_BITS] = {
    0x3670a2400, /* 10 13 17 19 24 25 26 29 30 32 33 */
    0x0ed80a800, /* 11 13 15 23 24 26 27 29 30 31 */
    0x074b59000, /* 12 15 16 18 20 21 23 26 28 29 30 */
    0x03a582000, /* 13 19 20 22 25 27 28 29 */
    0x3e4c48000, /* 15 18 22 23 26 29 30 31 32 33 */
};
static const uint64_t bank_mask[BANK_BITS] = {
    0x2a8990000, /* 16 19 20 23 27 29 31 33 */
    0x0db860000, /* 17 18 23 24 25 27 28 30 31 */
    0x122240000, /* 18 21 25 29 32 */
    0x2e7580000, /* 19 20 22 24 25 26 29 30 31 33 */
};

/* Bits whose parity chooses one of a channel's two slices: 7 15 21 23 24 25 28 32, a bit of the set number. */
static const uint64_t turn_mask = 0x113a08080;

/* Bits from `first` on of entry b of table k: the parities of what bits `low` + 8 k + ... of b are in the
 * masks.
 */
static void fill(uint8_t table[3][256], const uint64_t *mask, uint32_t bits, uint32_t first, uint32_t low) {
    for (uint32_t k = 0; k < 3; k++)
        for (uint64_t b = 0; b < 256; b++)
            for (uint32_t i = 0; i < bits; i++)
                table[k][b] |=
                    (uint8_t)((uint32_t)__builtin_parityll(b << (low + 8 * k) & mask[i]) << (first + i));
}

enum { HASH_MODULO, HASH_XOR, HASH_V100 };

/* The published parities are of 32 modules of 16 banks. A design with other numbers has them as `xor` has. */
static bool has_v100_banks(const struct ww_gpu_spec *g) {
    return g->l2_slices == 64 && g->dram_channels == 32 && g->dram_banks == 16 && g->dram_row_bytes == 2048 &&
           ww_gpu_request_line(g) == 128;
}

void ww_addrmap_init(struct ww_addrmap *m, const struct ww_gpu_spec *gpu) {
    const bool parities = gpu->l2_slice_hash == HASH_V100 && has_v100_banks(gpu);
    *m = (struct ww_addrmap){.interleave_shift = log2_floor(gpu->l2_interleave),
                             .slices = gpu->l2_slices,
                             .slices_per_channel = gpu->l2_slices / gpu->dram_channels,
                             .permute = gpu->l2_slice_hash != HASH_MODULO && !parities,
                             .parities = parities,
                             .fold_bits = log2_floor(gpu->l2_slices)};
    m->fold_half = ww_fold_half(m->fold_bits);
    if (m->parities) {
        fill(m->slice_of, &turn_mask, 1, 0, 10);
        fill(m->slice_of, channel_mask, CHANNEL_BITS, 1, 10);
        fill(m->bank_of, bank_mask, BANK_BITS, 0, 16);
    }
    ww_divider_init(&m->by_slices, gpu->l2_slices);
    ww_divider_init(&m->by_channel, m->slices_per_channel);
    uint32_t row_shift = log2_floor(gpu->dram_row_bytes);
    m->column_shift = row_shift < 8 ? row_shift : 8;
    m->column_bits = row_shift - m->column_shift;
    m->group_bits = log2_floor(gpu->dram_bank_groups);
    m->bank_bits = log2_floor(gpu->dram_banks) - m->group_bits;
}

struct ww_dram_place ww_addrmap_dram_fields(const struct ww_addrmap *m, uint32_t slice, uint64_t local) {
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
