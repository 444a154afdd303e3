/* alu_half.c: sums, products and fused multiply-adds of packed halves. Computed in single (bf16: in double)
 * precision with the last bit sticky, and rounded once. */
#include "alu_half.h"

enum { MOD_FTZ = 1, MOD_SAT = 2, MOD_RELU = 4, MOD_FMZ = 8 };

ALU_INLINE float finish(float v, uint32_t mods) {
    float clamped = v > 1 ? 1 : v, positive = v > 0 || v != v ? v : 0;
    clamped = v > 0 ? clamped : 0;
    v = mods & MOD_SAT ? clamped : v;
    return mods & MOD_RELU ? positive : v;
}
ALU_INLINE uint32_t pack(float v, uint32_t mods) {
    uint32_t h = alu_to_f16(finish(v, mods)), zero = h & 0x8000u;
    bool flush = ((mods & MOD_FTZ) != 0) & ((h & 0x7c00u) == 0);
    return flush ? zero : h;
}

/* f16: sums and fused multiply-adds in single precision with a sticky last bit; products are exact there. */
#define HALVES(name, GET, EXPR)                                                                                \
    ALU_INLINE float name##_value(float x, float y, float z) {                                                 \
        (void)z;                                                                                               \
        return EXPR;                                                                                           \
    }                                                                                                          \
    ALU_INLINE void name(SX_ARGS) {                                                                            \
        const struct alu_half a = alu_half_source(w, i, 0), b = alu_half_source(w, i, 1),                      \
                              c = alu_half_source(w, i, 2);                                                    \
        uint32_t mods = i->mods;                                                                               \
        ALU_ROW(i->d, float low = name##_value(GET(&a, l, false), GET(&b, l, false), GET(&c, l, false));       \
                float high = name##_value(GET(&a, l, true), GET(&b, l, true), GET(&c, l, true));               \
                out = pack(low, mods) | pack(high, mods) << 16;);                                              \
    }                                                                                                          \
    ALU_PAIR(name)
HALVES(half_add, alu_half_get16, alu_sum_odd(x, y))
HALVES(half_mul, alu_half_get16, x *y)
HALVES(half_fma, alu_half_get16, alu_sum_odd(x *y, z))
/* With an operand in single precision, or .FMZ. */
HALVES(half_add_any, alu_half_get, alu_sum_odd(x, y))
HALVES(half_mul_any, alu_half_get, x == 0 || y == 0 ? 0 : x * y)
HALVES(half_fma_any, alu_half_get, x == 0 || y == 0 ? z : alu_sum_odd(x * y, z))

static double bf16_value(const struct sx_inst *i, double x, double y, double z) {
    if (i->sub == 0) return ww_ex_fma_odd(x, 1, y);
    return i->sub == 1 ? x * y : ww_ex_fma_odd(x, y, z);
}
static uint32_t bf16_half(const struct sx_inst *i, const struct alu_half s[3], unsigned l, bool high) {
    double v = bf16_value(i, (double)alu_half_get(&s[0], l, high), (double)alu_half_get(&s[1], l, high),
                          (double)alu_half_get(&s[2], l, high));
    if (i->mods & MOD_SAT) v = !(v > 0) ? 0 : v > 1 ? 1 : v;
    if (i->mods & MOD_RELU && (v < 0 || v == 0)) v = 0;
    return ww_ex_double_to_bf16(v, PTX_R_RN);
}
static void bf16(SX_ARGS) {
    const struct alu_half s[3] = {alu_half_source(w, i, 0), alu_half_source(w, i, 1), alu_half_source(w, i, 2)};
    uint32_t *d = sx_dst(w, i->d);
    for (uint32_t m = mask; m; m &= m - 1) {
        unsigned l = (unsigned)__builtin_ctz(m);
        d[l] = bf16_half(i, s, l, false) | bf16_half(i, s, l, true) << 16;
    }
}

/* .F32: one result, of the lower numbers, in single precision. */
static void to_single(SX_ARGS) {
    const struct alu_half a = alu_half_source(w, i, 0), b = alu_half_source(w, i, 1),
                          c = alu_half_source(w, i, 2);
    ALU_ROW(i->d, double x = (double)alu_half_get(&a, l, false); double y = (double)alu_half_get(&b, l, false);
            double z = (double)alu_half_get(&c, l, false); double v = i->sub == 0   ? x + y
                                                                      : i->sub == 1 ? x * y
                                                                                    : ww_ex_fma_odd(x, y, z);
            out = ex_result(finish((float)v, i->mods), (i->mods & MOD_FTZ) != 0, false););
}

/* A constant made by an addition to 0 * 0: what the compiler uses as a move. */
static void constant(SX_ARGS) {
    uint32_t value = (uint32_t)i->imm;
    ALU_ROW(i->d, out = value;);
}

static bool is_constant(const struct ww_sass_insn *in, const struct sx_inst *i) {
    const struct ww_sass_operand *c = &in->opd[SASS_C];
    return in->op == SASS_HFMA2 && i->a == SX_ZERO && i->b == SX_ZERO && c->kind == SASS_K_IMM && !i->mods &&
           i->neg == 1 && !i->abs;
}

static bool is_wide(const struct sx_inst *i) {
    return (i->shape & 3u) == SASS_H_F32 || (i->shape >> 2 & 3u) == SASS_H_F32 ||
           (i->shape >> 4 & 3u) == SASS_H_F32;
}

static sx_fn function(const struct sx_inst *i) {
    if (i->type == SASS_T_BF16) return bf16;
    bool any = is_wide(i) || i->mods & MOD_FMZ;
    if (i->sub == 0) return any ? ALU_FN(half_add_any) : ALU_FN(half_add);
    if (i->sub == 1) return i->mods & MOD_FMZ ? ALU_FN(half_mul_any) : ALU_FN(half_mul);
    return i->mods & MOD_FMZ ? ALU_FN(half_fma_any) : ALU_FN(half_fma);
}

bool ww_sx_alu_half(struct sx_builder *b, const struct ww_sass_insn *in, struct sx_inst *i) {
    switch (in->op) {
    case SASS_HADD2:
        i->sub = 0;
        break;
    case SASS_HMUL2:
        i->sub = 1;
        break;
    case SASS_HFMA2:
        i->sub = 2;
        break;
    default:
        return false;
    }
    alu_operands(b, in, i, 1, 1, 1, 1);
    alu_half_operands(in, i);
    i->mods = (in->mod[SASS_M_FTZ] ? MOD_FTZ : 0u) | (in->mod[SASS_M_SAT] ? MOD_SAT : 0u) |
              (in->mod[SASS_M_RELU] ? MOD_RELU : 0u) | (in->mod[SASS_M_FMZ] ? MOD_FMZ | MOD_FTZ : 0u);
    i->imm = in->opd[SASS_C].imm;
    if (in->mod[SASS_M_F32])
        i->fn = to_single;
    else if (is_constant(in, i))
        i->fn = constant;
    else
        i->fn = function(i);
    if (is_wide(i) && i->sub != 0 && !in->mod[SASS_M_F32]) return false;
    return true;
}
