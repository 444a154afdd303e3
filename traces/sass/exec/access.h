/* access.h: addresses of memory instructions, private to the executor (sass_address.c). */
#ifndef WW_TRACES_SASS_ACCESS_H
#define WW_TRACES_SASS_ACCESS_H

#include "grid.h"

/* A memory operand that has been taken apart; the instruction's `address` points to one. */
struct sx_address {
    uint32_t reg, ureg; /* slots; of RZ and URZ: zero */
    int64_t offset;
    bool reg64, ureg64;
    uint8_t scale; /* log2 of what the register is multiplied with */
    uint8_t space; /* enum ww_space; NONE: generic */
    uint8_t bytes; /* of one lane */
    bool is_store;
    bool peers; /* shared: of any CTA of the cluster */
    uint32_t *hint;
};

/* Takes the operand in `slot` apart; NULL if that is not a memory operand (or memory ran out). */
struct sx_address *ww_sx_address_of(struct sx_builder *b, const struct ww_sass_insn *in, enum ww_sass_slot slot,
                                    uint8_t space, uint32_t bytes, bool is_store);
/* Computes and checks the addresses of the lanes in `mask`: addr[l] within its space, host[l] where the bytes
 * are; fills w->access. False if one is bad (the run has failed). */
bool ww_sx_addresses(struct sx_warp *w, const struct sx_address *a, uint32_t mask, uint64_t *addr,
                     unsigned char **host);
/* Bytes of lanes that lie a fixed distance apart: those of lane l are at first + (l - lane) * step. */
struct sx_span {
    unsigned char *first;
    int64_t step;
    unsigned lane; /* the lowest active one */
};
/* Finds the bytes of a span whose lowest lane has address `base` and the highest one `base` + `length`. True,
 * with w->access and w->affine set, if all are aligned and lie within one allocation or the shared memory. */
bool ww_sx_place_span(struct sx_warp *w, const struct sx_address *a, uint32_t mask, uint64_t base,
                      uint64_t length, struct sx_span *span);
/* Computes without a check. */
void ww_sx_compute(const struct sx_warp *w, const struct sx_address *a, uint64_t *addr);
/* Bytes of a type of an access; 4 for none. */
uint32_t ww_sx_type_bytes(uint8_t type);
/* From memory into rows, and back. */
void ww_sx_load_rows(uint32_t *rows, uint8_t type, uint32_t mask, unsigned char *const *host);
void ww_sx_store_rows(const uint32_t *rows, uint32_t bytes, uint32_t mask, unsigned char *const *host);

/* Words of the lanes in `mask` that are row[l] = *base + (l - lowest) * *step, without a wrap. */
SX_INLINE bool sx_is_affine(const uint32_t *row, uint32_t mask, uint32_t *base, int64_t *step) {
    unsigned first = (unsigned)__builtin_ctz(mask), last = 31u - (unsigned)__builtin_clz(mask);
    uint32_t rest = mask & (mask - 1), x = row[first], wrong = 0;
    int64_t by = 0;
    if (rest) {
        unsigned second = (unsigned)__builtin_ctz(rest), gap = second - first;
        by = (int64_t)row[second] - x;
        if (gap != 1 && by % gap) return false;
        if (gap != 1) by /= gap;
    }
    int64_t end = (int64_t)x + by * (int64_t)(last - first);
    if (end < 0 || end > (int64_t)UINT32_MAX) return false;
    uint32_t origin = x - (uint32_t)by * first;
    if (mask == SX_ALL) {
        SX_VECTOR for (uint32_t l = 0; l < SX_LANES; l++) wrong |= row[l] ^ (origin + (uint32_t)by * l);
    } else {
        SX_VECTOR for (uint32_t l = 0; l < SX_LANES; l++) {
            uint32_t differs = row[l] ^ (origin + (uint32_t)by * l);
            wrong |= mask & sx_bit[l] ? differs : 0;
        }
    }
    *base = x;
    *step = by;
    return wrong == 0;
}

/* Words of the lanes in `mask` that are all equal. */
SX_INLINE bool sx_is_equal(const uint32_t *row, uint32_t mask) {
    uint32_t x = row[__builtin_ctz(mask)], wrong = 0;
    SX_VECTOR for (unsigned l = 0; l < SX_LANES; l++) {
        uint32_t differs = row[l] ^ x;
        wrong |= mask & sx_bit[l] ? differs : 0;
    }
    return wrong == 0;
}

/* The common case of an access: addresses a fixed distance apart, within one allocation or the shared memory,
 * which is seen without computing each of them. After false ww_sx_addresses() decides. */
SX_INLINE bool sx_span(struct sx_warp *w, const struct sx_address *a, uint32_t mask, struct sx_span *span) {
    const uint32_t *reg = sx_src(w, a->reg), *ureg = sx_src(w, a->ureg);
    uint32_t low;
    int64_t step;
    if (a->space == WW_SPACE_LOCAL || !sx_is_affine(reg, mask, &low, &step)) return false;
    if (a->reg64 && !sx_is_equal(reg + SX_LANES, mask)) return false;
    unsigned lane = (unsigned)__builtin_ctz(mask), last = 31u - (unsigned)__builtin_clz(mask);
    uint64_t base = a->reg64 ? sx_get64(reg, lane) : (uint64_t)low << a->scale;
    base += (uint64_t)a->offset + (a->ureg64 ? sx_get64(ureg, 0) : ureg[0]);
    if (!a->reg64) step *= 1 << a->scale;
    if (step > INT32_MAX || step < INT32_MIN) return false;
    *span = (struct sx_span){NULL, step, lane};
    return ww_sx_place_span(w, a, mask, base, (uint64_t)step * (last - lane), span);
}

#endif
