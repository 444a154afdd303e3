/* alu_mufu.c: MUFU, the function unit: reciprocal, roots, logarithm, exponential, sine, cosine, hyperbolic
 * tangent.
 *
 * Results are computed in double precision and rounded once, which is within 1 ulp of the hardware's. Of single
 * precision the unit takes a subnormal operand as zero and flushes a subnormal result (the compiler scales
 * operands around it where the program wants them). */
#include "alu.h"

/* Sine and cosine take the angle as the range reduction leaves it: in units of a full turn (FMUL by 1 / 2 pi).
 */
static double function(uint8_t op, double x) {
    const double turn = 6.283185307179586476925;
    switch (op) {
    case SASS_MUFU_COS:
        return cos((x - floor(x)) * turn);
    case SASS_MUFU_SIN:
        return x == nearbyint(x) ? copysign(0, x) : sin((x - nearbyint(x)) * turn);
    case SASS_MUFU_EX2:
        return exp2(x);
    case SASS_MUFU_LG2:
        return log2(x);
    case SASS_MUFU_RCP:
    case SASS_MUFU_RCP64H:
        return 1 / x;
    case SASS_MUFU_RSQ:
    case SASS_MUFU_RSQ64H:
        return 1 / sqrt(x);
    case SASS_MUFU_SQRT:
        return sqrt(x);
    default:
        return tanh(x);
    }
}

static void mufu32(SX_ARGS) {
    const uint32_t *a = sx_src(w, i->a);
    uint32_t *d = sx_dst(w, i->d), keep = alu_keep(i, 0), flip = alu_flip(i, 0);
    for (uint32_t m = mask; m; m &= m - 1) {
        unsigned l = (unsigned)__builtin_ctz(m);
        uint32_t x = ex_flush((a[l] & keep) ^ flip, true);
        d[l] = ex_result((float)function(i->sub, (double)ex_f32(x)), true, false);
    }
}

/* The upper word of the reciprocal, or of the reciprocal root, of the double whose upper word is the operand.
 */
static void mufu64(SX_ARGS) {
    const uint32_t *a = sx_src(w, i->a);
    uint32_t *d = sx_dst(w, i->d), keep = alu_keep(i, 0), flip = alu_flip(i, 0);
    for (uint32_t m = mask; m; m &= m - 1) {
        unsigned l = (unsigned)__builtin_ctz(m);
        uint64_t x = (uint64_t)((a[l] & keep) ^ flip) << 32;
        if ((x & 0x7ff0000000000000u) == 0) x &= (uint64_t)1 << 63;
        double v = function(i->sub, ex_f64(x));
        uint64_t r = ex_f64_bits(v);
        if ((r & 0x7ff0000000000000u) == 0) r &= (uint64_t)1 << 63;
        d[l] = isnan(v) ? 0x7fffffffu : (uint32_t)(r >> 32);
    }
}

/* Half precision, of the lower or upper half of the operand; the result is in the lower half. */
static void mufu16(SX_ARGS) {
    const uint32_t *a = sx_src(w, i->a);
    uint32_t *d = sx_dst(w, i->d);
    bool bf16 = i->type == SASS_T_BF16;
    for (uint32_t m = mask; m; m &= m - 1) {
        unsigned l = (unsigned)__builtin_ctz(m);
        uint16_t h = (uint16_t)(a[l] >> i->shape);
        if (i->abs) h &= 0x7fff;
        if (i->neg) h ^= 0x8000;
        double v = function(i->sub, bf16 ? ww_ex_bf16_to_double(h) : ww_ex_f16_to_double(h));
        d[l] = bf16 ? ww_ex_double_to_bf16(v, PTX_R_RN) : ww_ex_double_to_f16(v, PTX_R_RN, false);
    }
}

bool ww_sx_alu_mufu(struct sx_builder *b, const struct ww_sass_insn *in, struct sx_inst *i) {
    if (in->op != SASS_MUFU) return false;
    alu_operands(b, in, i, 1, 1, 1, 1);
    i->sub = in->mod[SASS_M_MUFU];
    if (in->mod[SASS_M_HALFTYPE] || in->mod[SASS_M_BF16]) {
        const struct ww_sass_operand *o = &in->opd[in->opd[SASS_A].kind != SASS_K_NONE ? SASS_A : SASS_B];
        i->type = in->mod[SASS_M_BF16] ? SASS_T_BF16 : SASS_T_F16;
        i->shape = o->half ? 16 : 0;
        i->fn = mufu16;
    } else {
        i->fn = i->sub == SASS_MUFU_RCP64H || i->sub == SASS_MUFU_RSQ64H ? mufu64 : mufu32;
    }
    return true;
}
