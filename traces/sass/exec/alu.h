/* alu.h: what the families of arithmetic instructions share, private to alu_*.c.
 *
 * A function computes all 32 lanes, in rows, so that the compiler makes vector instructions of it; with a mask
 * that is not full the lanes of the mask are then taken over. Lanes that do not take part compute on whatever
 * their registers hold: no operation here can fail or trap. Each function exists twice, for the plain host and
 * for one with AVX2 and fused multiply-add; ALU_FN chooses. */
#ifndef WW_TRACES_SASS_ALU_H
#define WW_TRACES_SASS_ALU_H

#include "../../ptx/exec/exec_float.h"
#include "grid.h"

#define ALU_INLINE SX_INLINE
#define ALU_PAIR SX_PAIR
#define ALU_FN SX_FN
#define alu_bit sx_bit

/* Lane l of `row` becomes that of `from` where the mask has it. */
ALU_INLINE void alu_blend(uint32_t *row, const uint32_t *from, uint32_t mask) {
    SX_VECTOR for (unsigned l = 0; l < SX_LANES; l++) row[l] = mask & alu_bit[l] ? from[l] : row[l];
}

/* Statements that set `out` for each lane l, into the row of slot d. */
#define ALU_ROW(d, ...)                                                                                        \
    do {                                                                                                       \
        uint32_t *row_ = sx_dst(w, d), part_[SX_LANES], *to_ = mask == SX_ALL ? row_ : part_;                  \
        SX_VECTOR for (unsigned l = 0; l < SX_LANES; l++) {                                                    \
            uint32_t out;                                                                                      \
            __VA_ARGS__                                                                                        \
            to_[l] = out;                                                                                      \
        }                                                                                                      \
        if (mask != SX_ALL) alu_blend(row_, part_, mask);                                                      \
    } while (0)
/* The same for a value of two rows: `out` has 64 bits. */
#define ALU_ROW2(d, ...)                                                                                       \
    do {                                                                                                       \
        uint32_t *row_ = sx_dst(w, d), part_[2 * SX_LANES], *to_ = mask == SX_ALL ? row_ : part_;              \
        SX_VECTOR for (unsigned l = 0; l < SX_LANES; l++) {                                                    \
            uint64_t out;                                                                                      \
            __VA_ARGS__                                                                                        \
            to_[l] = (uint32_t)out;                                                                            \
            to_[l + SX_LANES] = (uint32_t)(out >> 32);                                                         \
        }                                                                                                      \
        if (mask != SX_ALL) {                                                                                  \
            alu_blend(row_, part_, mask);                                                                      \
            alu_blend(row_ + SX_LANES, part_ + SX_LANES, mask);                                                \
        }                                                                                                      \
    } while (0)
/* A mask of the lanes for which the statements leave `out` true. */
#define ALU_MASK(result, ...)                                                                                  \
    do {                                                                                                       \
        uint32_t or_ = 0;                                                                                      \
        SX_VECTOR for (unsigned l = 0; l < SX_LANES; l++) {                                                    \
            uint32_t out;                                                                                      \
            __VA_ARGS__                                                                                        \
            or_ |= out ? alu_bit[l] : 0;                                                                       \
        }                                                                                                      \
        (result) = or_;                                                                                        \
    } while (0)

/* All bits if source n is negated or complemented, else none; value xor these, minus these, is the negative. */
ALU_INLINE uint32_t alu_neg(const struct sx_inst *i, unsigned n) {
    return 0u - ((uint32_t)(i->neg >> n) & 1u);
}
/* What to AND a single precision source n with, and then to XOR with: magnitude and sign. */
ALU_INLINE uint32_t alu_keep(const struct sx_inst *i, unsigned n) {
    return (i->abs >> n) & 1u ? 0x7fffffffu : UINT32_MAX;
}
ALU_INLINE uint32_t alu_flip(const struct sx_inst *i, unsigned n) {
    return (i->neg >> n) & 1u ? 0x80000000u : 0;
}

/* A subnormal becomes a zero of its sign where ftz is all ones (0: it stays). */
ALU_INLINE uint32_t alu_flush(uint32_t bits, uint32_t ftz) {
    return (bits & 0x7f800000u) == 0 ? bits & (0x80000000u | ~ftz) : bits;
}

/* Combines a comparison's result with the source predicate (enum ww_sass_bool). */
ALU_INLINE uint32_t alu_combine(uint8_t op, uint32_t result, uint32_t other) {
    return op == SASS_AND ? result & other : op == SASS_OR ? result | other : result ^ other;
}

/* ---- building ---- */
static inline bool alu_is_zero(const struct ww_sass_operand *o) {
    return (o->kind == SASS_K_REG && o->reg == SASS_RZ) || (o->kind == SASS_K_UREG && o->reg == SASS_URZ) ||
           (o->kind == SASS_K_IMM && o->imm == 0);
}
/* Source operand `slot` as source n (0 a, 1 b, 2 c) of i, of `rows` rows; one that is missing reads as zero. */
static inline void alu_source(struct sx_builder *b, const struct ww_sass_insn *in, struct sx_inst *i,
                              enum ww_sass_slot slot, unsigned n, uint32_t rows) {
    const struct ww_sass_operand *o = &in->opd[slot];
    uint32_t *to = n == 0 ? &i->a : n == 1 ? &i->b : &i->c;
    if ((alu_is_zero(o) && rows > SX_WIDE) || (o->kind == SASS_K_IMM && rows > 2))
        ww_sx_problem(b, WW_UNSUPPORTED, "so wide an operand that is not a register");
    *to = o->kind == SASS_K_NONE ? SX_ZERO : ww_sx_src(b, in, slot, rows);
    if (o->flags & (SASS_F_NEG | SASS_F_NOT)) i->neg |= (uint8_t)(1u << n);
    if (o->flags & SASS_F_ABS) i->abs |= (uint8_t)(1u << n);
}
/* The sources that the opcode has, in their order A, B, C, as sources 0, 1, 2 of so many rows each; D of rd
 * rows (0: none). */
static inline void alu_operands(struct sx_builder *b, const struct ww_sass_insn *in, struct sx_inst *i,
                                uint32_t rd, uint32_t ra, uint32_t rb, uint32_t rc) {
    const uint32_t rows[3] = {ra, rb, rc};
    unsigned n = 0;
    i->d = rd ? ww_sx_dst(b, in, SASS_D, rd) : SX_SINK;
    i->a = i->b = i->c = SX_ZERO;
    for (enum ww_sass_slot s = SASS_A; s <= SASS_C; s++)
        if (in->opd[s].kind != SASS_K_NONE) {
            alu_source(b, in, i, s, n, rows[n]);
            n++;
        }
}
static inline void alu_predicates(struct sx_builder *b, const struct ww_sass_insn *in, struct sx_inst *i) {
    i->pd[0] = ww_sx_pred_dst(b, in, SASS_PD);
    i->pd[1] = ww_sx_pred_dst(b, in, SASS_PD2);
    for (unsigned n = 0; n < 3; n++) i->ps[n] = ww_sx_pred_src(b, in, (enum ww_sass_slot)(SASS_PS + n), n, i);
}

/* The direction of rounding (enum ptx_round) of a modifier (enum ww_sass_rnd): alu_f32.c. */
uint8_t ww_sx_alu_round(uint8_t rnd);
/* Lanes for which a comparison of floats holds (enum ww_sass_cmp), from those that are less, equal, and have a
 * NaN: alu_f32_compare.c. */
uint32_t ww_sx_alu_holds(uint8_t cmp, uint32_t less, uint32_t equal, uint32_t nan);

/* The function of a conversion whose types are set (type, type2, bytes, type3, shape, round, mods: bit 0 FTZ, 1
 * SAT, 2 NTZ), by SASS_I2F, F2I, F2F or FRND; NULL if it is none of the frequent ones: alu_convert_rows.c. */
sx_fn ww_sx_alu_convert_rows(const struct sx_inst *i, unsigned op);

/* Families; false if the instruction is not theirs. alu.c asks them in turn. */
bool ww_sx_alu_wide(struct sx_builder *b, const struct ww_sass_insn *in, struct sx_inst *i);
bool ww_sx_alu_integer(struct sx_builder *b, const struct ww_sass_insn *in, struct sx_inst *i);
bool ww_sx_alu_multiply(struct sx_builder *b, const struct ww_sass_insn *in, struct sx_inst *i);
bool ww_sx_alu_minmax(struct sx_builder *b, const struct ww_sass_insn *in, struct sx_inst *i);
bool ww_sx_alu_logic(struct sx_builder *b, const struct ww_sass_insn *in, struct sx_inst *i);
bool ww_sx_alu_shift(struct sx_builder *b, const struct ww_sass_insn *in, struct sx_inst *i);
bool ww_sx_alu_compare(struct sx_builder *b, const struct ww_sass_insn *in, struct sx_inst *i);
bool ww_sx_alu_f32(struct sx_builder *b, const struct ww_sass_insn *in, struct sx_inst *i);
bool ww_sx_alu_f32_compare(struct sx_builder *b, const struct ww_sass_insn *in, struct sx_inst *i);
bool ww_sx_alu_f64(struct sx_builder *b, const struct ww_sass_insn *in, struct sx_inst *i);
bool ww_sx_alu_mufu(struct sx_builder *b, const struct ww_sass_insn *in, struct sx_inst *i);
bool ww_sx_alu_half(struct sx_builder *b, const struct ww_sass_insn *in, struct sx_inst *i);
bool ww_sx_alu_half_compare(struct sx_builder *b, const struct ww_sass_insn *in, struct sx_inst *i);
bool ww_sx_alu_convert(struct sx_builder *b, const struct ww_sass_insn *in, struct sx_inst *i);
bool ww_sx_alu_pack(struct sx_builder *b, const struct ww_sass_insn *in, struct sx_inst *i);
bool ww_sx_alu_matrix(struct sx_builder *b, const struct ww_sass_insn *in, struct sx_inst *i);
bool ww_sx_alu_matrix_group(struct sx_builder *b, const struct ww_sass_insn *in, struct sx_inst *i);

#endif
