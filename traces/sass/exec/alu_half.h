/* alu_half.h: half precision numbers (f16 and bf16) as single precision, private to alu_*.c. */
#ifndef WW_TRACES_SASS_ALU_HALF_H
#define WW_TRACES_SASS_ALU_HALF_H

#include "alu.h"

ALU_INLINE float alu_from_f16(uint32_t h) {
    uint32_t size = h & 0x7fffu;
    uint32_t bits = size >= 0x7c00u ? size << 13 | 0x7f800000u : ex_f32_bits(ex_f32(size << 13) * 0x1p112f);
    return ex_f32(bits | (h & 0x8000u) << 16);
}
ALU_INLINE float alu_from_bf16(uint32_t h) {
    return ex_f32(h << 16);
}

/* To nearest even; a NaN becomes 0x7fff. */
ALU_INLINE uint32_t alu_to_f16(float v) {
    uint32_t bits = ex_f32_bits(v), size = bits & 0x7fffffffu, sign = bits >> 16 & 0x8000u;
    uint32_t small = ex_f32_bits(ex_f32(size) + 0.5f) - 0x3f000000u; /* units of the smallest subnormal */
    uint32_t normal = (size + 0xfffu + (size >> 13 & 1u) - (112u << 23)) >> 13;
    uint32_t r = size < 0x38800000u ? small : size >= 0x47800000u ? 0x7c00u : normal;
    return size > 0x7f800000u ? 0x7fffu : r | sign;
}
ALU_INLINE uint32_t alu_to_bf16(float v) {
    uint32_t bits = ex_f32_bits(v);
    uint32_t r = (bits + 0x7fffu + (bits >> 16 & 1u)) >> 16;
    return (bits & 0x7fffffffu) > 0x7f800000u ? 0x7fffu : r;
}

/* Towards zero: a single precision operand of packed halves. */
ALU_INLINE uint32_t alu_cut_f16(float v) {
    return ww_ex_double_to_f16((double)v, PTX_R_RZ, false);
}

/* p + c, with the last bit set if the sum is not exact: rounding it again to a shorter format is then right. */
ALU_INLINE float alu_sum_odd(float p, float c) {
    float s = p + c, t = s - p, e = (p - (s - t)) + (c - t);
    uint32_t bits = ex_f32_bits(s);
    uint32_t toward = (ex_f32_bits(e) ^ bits) >> 31; /* 1: the rest has the other sign */
    uint32_t moved = bits + 1 - 2 * toward, odd = bits & 1u ? bits : moved;
    odd = (bits & 0x7f800000u) == 0x7f800000u ? bits : odd;
    return ex_f32(e == 0 ? bits : odd);
}

/* Operand n of packed halves: which half delivers the lower and the upper number, and what becomes of the
 * signs. */
struct alu_half {
    const uint32_t *row;
    uint32_t low, high; /* shifts */
    uint32_t keep, flip;
    bool wide, bf16, ftz; /* wide: a single precision number, cut to half */
};
static inline struct alu_half alu_half_source(struct sx_warp *w, const struct sx_inst *i, unsigned n) {
    uint32_t slot = n == 0 ? i->a : n == 1 ? i->b : i->c, which = i->shape >> 2 * n & 3u;
    return (struct alu_half){
        .row = sx_src(w, slot),
        .low = which == SASS_H1_H1 ? 16 : 0,
        .high = which == SASS_H0_H0 ? 0 : 16,
        .keep = i->abs >> n & 1u ? 0x7fffu : 0xffffu,
        .flip = i->neg >> n & 1u ? 0x8000u : 0,
        .wide = which == SASS_H_F32,
        .bf16 = i->type == SASS_T_BF16,
        .ftz = (i->mods & 1u) != 0,
    };
}
/* The lower (high false) or upper number of a lane. */
ALU_INLINE float alu_half_get(const struct alu_half *s, unsigned l, bool high) {
    uint32_t v = s->wide ? alu_cut_f16(ex_f32(s->row[l])) : s->row[l] >> (high ? s->high : s->low);
    uint32_t h = (v & s->keep) ^ s->flip;
    if (s->ftz && (h & 0x7c00u) == 0) h &= 0x8000u;
    return s->bf16 ? alu_from_bf16(h) : alu_from_f16(h);
}
/* The same of f16 that is not wide, without branches. */
ALU_INLINE float alu_half_get16(const struct alu_half *s, unsigned l, bool high) {
    uint32_t h = ((s->row[l] >> (high ? s->high : s->low)) & s->keep) ^ s->flip, zero = h & 0x8000u;
    return alu_from_f16((s->ftz & ((h & 0x7c00u) == 0)) ? zero : h);
}
/* Notes how the operands are selected, in i->shape. */
static inline void alu_half_operands(const struct ww_sass_insn *in, struct sx_inst *i) {
    unsigned n = 0;
    for (enum ww_sass_slot s = SASS_A; s <= SASS_C; s++)
        if (in->opd[s].kind != SASS_K_NONE) i->shape |= (uint8_t)((in->opd[s].half & 3u) << 2 * n++);
    i->type = in->mod[SASS_M_BF16] ? SASS_T_BF16 : SASS_T_F16;
}

#endif
