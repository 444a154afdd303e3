/* alu_f32.c: single precision arithmetic.
 *
 * The host's IEEE arithmetic does the work, as in ../ptx/exec_float.c: the rounding direction is set around the
 * loop. Every NaN that comes out is 0x7fffffff. */
#include "alu.h"

/* Source n of a lane: magnitude, sign, subnormals. */
struct source {
    const uint32_t *row;
    uint32_t keep, flip;
};
ALU_INLINE struct source source(struct sx_warp *w, const struct sx_inst *i, unsigned n) {
    uint32_t slot = n == 0 ? i->a : n == 1 ? i->b : i->c;
    return (struct source){sx_src(w, slot), alu_keep(i, n), alu_flip(i, n)};
}
ALU_INLINE float load(const struct source *s, unsigned l, bool ftz) {
    return ex_f32(alu_flush((s->row[l] & s->keep) ^ s->flip, ftz ? UINT32_MAX : 0));
}
ALU_INLINE uint32_t canonical(float v) {
    return v != v ? 0x7fffffffu : ex_f32_bits(v);
}

enum { MOD_FTZ = 1, MOD_SAT = 2, MOD_FMZ = 4 };

ALU_INLINE uint32_t finish(float v, bool ftz, bool sat) {
    uint32_t bits = alu_flush(canonical(v), ftz ? UINT32_MAX : 0);
    uint32_t clamped = v > 1 ? 0x3f800000u : bits;
    clamped = v > 0 ? clamped : 0;
    return sat ? clamped : bits;
}

/* All modifiers; sub: 0 A + B, 1 A * B, 2 A * B + C. */
#define ANY(name, EXPR)                                                                                        \
    ALU_INLINE void name(SX_ARGS) {                                                                            \
        const struct source a = source(w, i, 0), b = source(w, i, 1), c = source(w, i, 2);                     \
        bool ftz = (i->mods & (MOD_FTZ | MOD_FMZ)) != 0, sat = (i->mods & MOD_SAT) != 0;                       \
        float scale = ex_f32((uint32_t)i->imm);                                                                \
        (void)c, (void)scale;                                                                                  \
        int old = ww_ex_set_round(i->round);                                                                   \
        ALU_ROW(i->d, float x = load(&a, l, ftz); float y = load(&b, l, ftz); out = finish(EXPR, ftz, sat););  \
        ww_ex_restore_round(old);                                                                              \
    }                                                                                                          \
    ALU_PAIR(name)
ANY(add_any, x + y)
ANY(mul_any, (x * scale) * y)
ANY(fma_any, __builtin_fmaf(x, y, load(&c, l, ftz)))
/* .FMZ: a zero times anything is zero. */
ANY(mul_zero, x == 0 || y == 0 ? 0 : x * y)
ANY(fma_zero, x == 0 || y == 0 ? load(&c, l, ftz) : __builtin_fmaf(x, y, load(&c, l, ftz)))

/* To nearest, with or without .FTZ: what nearly all code uses. */
#define PLAIN(name, FTZ, EXPR)                                                                                 \
    ALU_INLINE void name(SX_ARGS) {                                                                            \
        const struct source a = source(w, i, 0), b = source(w, i, 1), c = source(w, i, 2);                     \
        (void)c;                                                                                               \
        ALU_ROW(i->d, float x = load(&a, l, FTZ); float y = load(&b, l, FTZ); uint32_t v = canonical(EXPR);    \
                out = alu_flush(v, (FTZ) ? UINT32_MAX : 0););                                                  \
    }                                                                                                          \
    ALU_PAIR(name)
PLAIN(add_near, false, x + y)
PLAIN(mul_near, false, x *y)
PLAIN(fma_near, false, __builtin_fmaf(x, y, load(&c, l, false)))
PLAIN(add_ftz, true, x + y)
PLAIN(mul_ftz, true, x *y)
PLAIN(fma_ftz, true, __builtin_fmaf(x, y, load(&c, l, true)))

static sx_fn function(const struct sx_inst *i) {
    bool ftz = i->mods == MOD_FTZ;
    if (i->mods & MOD_FMZ && i->sub) return i->sub == 1 ? ALU_FN(mul_zero) : ALU_FN(fma_zero);
    if (i->round != PTX_R_RN || (i->mods && !ftz) || i->type3)
        return i->sub == 0 ? ALU_FN(add_any) : i->sub == 1 ? ALU_FN(mul_any) : ALU_FN(fma_any);
    if (i->sub == 0) return ftz ? ALU_FN(add_ftz) : ALU_FN(add_near);
    if (i->sub == 1) return ftz ? ALU_FN(mul_ftz) : ALU_FN(mul_near);
    return ftz ? ALU_FN(fma_ftz) : ALU_FN(fma_near);
}

uint8_t ww_sx_alu_round(uint8_t rnd) {
    static const uint8_t rounds[] = {PTX_R_RN, PTX_R_RM, PTX_R_RP, PTX_R_RZ, PTX_R_RNA};
    return rnd < sizeof rounds ? rounds[rnd] : PTX_R_RN;
}

/* FSWZADD: within each quad of lanes, two bits of the table for each lane: A + B, A - B, B - A, B of the lane's
 * neighbours. Not made of PTX: not supported. */
bool ww_sx_alu_f32(struct sx_builder *b, const struct ww_sass_insn *in, struct sx_inst *i) {
    switch (in->op) {
    case SASS_FADD:
    case SASS_UFADD:
        i->sub = 0;
        break;
    case SASS_FMUL:
    case SASS_UFMUL:
        i->sub = 1;
        break;
    case SASS_FFMA:
    case SASS_UFFMA:
        i->sub = 2;
        break;
    default:
        return false;
    }
    alu_operands(b, in, i, 1, 1, 1, 1);
    i->round = ww_sx_alu_round(in->mod[SASS_M_RND]);
    i->mods = (in->mod[SASS_M_FTZ] ? MOD_FTZ : 0u) | (in->mod[SASS_M_SAT] ? MOD_SAT : 0u) |
              (in->mod[SASS_M_FMZ] ? MOD_FMZ : 0u);
    int power = (int8_t)in->mod[SASS_M_PDIV];
    i->type3 = power != 0; /* exact: a power of two */
    i->imm = ex_f32_bits(ldexpf(1, power));
    i->fn = function(i);
    return true;
}
