/* addrmap.h: where an address lives: L2 slice, place within the slice, DRAM bank and row.
 *
 *   address = chunk number * interleave + offset          (chunk: l2.interleave bytes, all in one slice)
 *   chunk number = group * slices + r                      (a group gives one chunk to every slice)
 *   slice = r permuted by bits of the group                ("xor"; plain r for "modulo"; "v100": see below)
 *   slice-local address = group * interleave + offset
 *   channel-local address = (group * slices per channel + slice in channel) * interleave + offset
 *
 *   channel-local address, low bits first:
 *     | 256 bytes of a row | bank group | rest of the row | bank in group | row |
 *   with bank group and bank xored with row bits, so that equal offsets of large arrays spread over banks.
 *
 * "v100" is what was found of a Tesla V100 (S. Jain et al., Fractional GPUs, RTAS 2019, and its repository):
 * 1 KiB lies in one of 32 channels, the parity of address bits for each bit of its number; bit 14 chooses
 * nothing but the half of a row, so 64 KiB give a row of 2 KiB to each channel; the bank is xored from bit 16
 * on. Of a channel's two slices, lines of 128 bytes take turns (that is not known).
 *
 *   slice-local address: | 7 bits | bits 8, 9, 14 | bits from 16 on |
 *
 * Every step is a bijection. Sequential streams spread over slices first, then over bank groups.
 * Pure functions of the parameters; no state.
 */
#ifndef WW_CORE_ADDRMAP_H
#define WW_CORE_ADDRMAP_H

#include "../../config/gpu.h"

#define WW_ADDRMAP_BANK_BITS 4 /* of "v100" */

/* Division by a constant without a divide: exact for numerators below 2^59. */
struct ww_divider {
    uint64_t factor; /* 0: a power of two */
    uint32_t shift;
    uint32_t value;
};

__extension__ typedef unsigned __int128 ww_u128;

struct ww_addrmap {
    struct ww_divider by_slices, by_channel; /* by_channel: slices of a channel */
    uint32_t interleave_shift;
    uint32_t slices;
    uint32_t slices_per_channel;
    bool permute;
    bool parities; /* "v100" */
    /* Of address bits 10 to 33, eight at a time, xored together: slices, but for bit 7. */
    uint8_t slice_of[3][256];
    uint8_t bank_of[3][256];                                   /* of bits 16 to 39 */
    uint32_t fold_bits;                                        /* floor(log2(slices)) */
    uint32_t fold_half;                                        /* ww_fold_half of them */
    uint32_t column_shift, group_bits, column_bits, bank_bits; /* fields of the channel-local address */
};

struct ww_slice_place {
    uint32_t slice;
    uint64_t local; /* address within the slice */
};

struct ww_dram_place {
    uint32_t bank; /* low bits: bank group */
    uint32_t row;
};

void ww_divider_init(struct ww_divider *d, uint32_t value);
/* The spec must have passed ww_gpu_check. */
void ww_addrmap_init(struct ww_addrmap *m, const struct ww_gpu_spec *gpu);
static inline uint64_t ww_divide(const struct ww_divider *d, uint64_t n) {
    if (!d->factor) return n >> d->shift;
    return (uint64_t)(((ww_u128)n * d->factor) >> 64) >> d->shift;
}

/* The largest 2^k * bits below 64; 0 for 0. */
static inline uint32_t ww_fold_half(uint32_t bits) {
    uint32_t half = bits;
    while (half && half < 32) half *= 2;
    return half;
}

/* Xors all fields of `bits` bits of v together, halves first; half: ww_fold_half(bits). */
static inline uint32_t ww_fold(uint64_t v, uint32_t bits, uint32_t half) {
    if (!bits) return 0;
    for (uint32_t shift = half; shift >= bits; shift >>= 1) v ^= v >> shift;
    return (uint32_t)v & ((1u << bits) - 1);
}

static inline struct ww_slice_place ww_addrmap_parities(const struct ww_addrmap *m, uint64_t address) {
    uint64_t a = address >> 10;
    uint32_t slice = m->slice_of[0][a & 255] ^ m->slice_of[1][a >> 8 & 255] ^ m->slice_of[2][a >> 16 & 255];
    uint64_t local = (address & 127) | (address >> 1 & 0x180) | (address >> 5 & 0x200) | address >> 16 << 10;
    return (struct ww_slice_place){slice ^ (address >> 7 & 1), local};
}

static inline struct ww_slice_place ww_addrmap_slice(const struct ww_addrmap *m, uint64_t address) {
    if (m->parities) return ww_addrmap_parities(m, address);
    uint64_t chunk = address >> m->interleave_shift;
    uint64_t group = ww_divide(&m->by_slices, chunk);
    uint32_t slice = (uint32_t)(chunk - group * m->slices);
    if (m->permute) {
        uint32_t turn = ww_fold(group, m->fold_bits, m->fold_half);
        if (!m->by_slices.factor) {
            slice ^= turn;
        } else {
            slice += turn;
            if (slice >= m->slices) slice -= m->slices;
        }
    }
    uint64_t offset = address & (((uint64_t)1 << m->interleave_shift) - 1);
    return (struct ww_slice_place){slice, (group << m->interleave_shift) | offset};
}

/* Bank and row of a slice-local address, where channels are not parities. */
struct ww_dram_place ww_addrmap_dram_fields(const struct ww_addrmap *m, uint32_t slice, uint64_t local);
/* Bank and row of a slice-local address. */
static inline struct ww_dram_place ww_addrmap_dram(const struct ww_addrmap *m, uint32_t slice, uint64_t local) {
    if (!m->parities) return ww_addrmap_dram_fields(m, slice, local);
    uint64_t high = local >> 10;
    uint32_t bank =
        m->bank_of[0][high & 255] ^ m->bank_of[1][high >> 8 & 255] ^ m->bank_of[2][high >> 16 & 255];
    return (struct ww_dram_place){bank, (uint32_t)(high >> WW_ADDRMAP_BANK_BITS)};
}

#endif
