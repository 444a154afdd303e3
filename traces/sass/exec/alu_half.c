/* alu_half.c: sums, products and fused multiply-adds of packed halves. Computed in single (bf16: in double)
 * precision with the last bit sticky, and rounded once. */
#include "alu_half.h"

enum { MOD_FTZ = 1, MOD_SAT = 2, MOD_RELU = 4, MOD_FMZ = 8 };

ALU_INLINE float finish(float v, uint32_t mods) {
    if (mods & MOD_SAT) v = !(v > 0) ? 0 : v > 1 ? 1 : v;
    if (mods & MOD_RELU) v = v < 0 || v == 0 ? 0 : v;
    return v;
}
ALU_INLINE uint32_t pack(float v, uint32_t mods) {
    uint32_t h = alu_to_f16(finish(v, mods));
    return mods & MOD_FTZ && (h & 0x7c00u) == 0 ? h & 0x8000u : h;
}

/* sub: 0 a + b, 1 a b, 2 a b + c */
ALU_INLINE float half_value(const struct sx_inst *i, float x, float y, float z) {
    if (i->sub == 0) return alu_sum_odd(x, y);
    if (i->sub == 1) return x * y;
    float product = i->mods & MOD_FMZ && (x == 0 || y == 0) ? 0 : x * y;
    return alu_sum_odd(product, z);
}

ALU_INLINE void half(SX_ARGS) {
    const struct alu_half a = alu_half_source(w, i, 0), b = alu_half_source(w, i, 1),
                          c = alu_half_source(w, i, 2);
    uint32_t mods = i->mods;
    ALU_ROW(i->d, float low = half_value(i, alu_half_get(&a, l, false), alu_half_get(&b, l, false),
                                         alu_half_get(&c, l, false));
            float high =
                half_value(i, alu_half_get(&a, l, true), alu_half_get(&b, l, true), alu_half_get(&c, l, true));
            out = pack(low, mods) | pack(high, mods) << 16;);
}
ALU_PAIR(half)

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
        i->fn = i->type == SASS_T_BF16 ? bf16 : ALU_FN(half);
    return true;
}
