/* alu_mufu.c: MUFU, the function unit: reciprocal, roots, logarithm, exponential, sine, cosine, hyperbolic
 * tangent.
 *
 * Results are computed in double precision and rounded once, which is within 1 ulp of the hardware's. Of single
 * precision the unit takes a subnormal operand as zero and flushes a subnormal result (the compiler scales
 * operands around it where the program wants them). */
#include "alu.h"

/* ---- the functions, without branches, so that lanes are computed side by side ---- */

/* The nearest whole number of |x| < 2^51. */
ALU_INLINE double nearest(double x) {
    return (x + 0x1.8p52) - 0x1.8p52;
}
/* 2^n of a whole number -1022 <= n <= 1023. */
ALU_INLINE double power_of_two(double n) {
    return ex_f64((ex_f64_bits(n + (0x1.8p52 + 1023)) & 0xfffu) << 52);
}

/* 2^x: the whole part in the exponent, a Taylor series for the rest. */
ALU_INLINE double exponential(double x) {
    double bound = x < -300  ? -300
                   : x > 300 ? 300
                             : x,
           n = nearest(bound), t = (bound - n) * 0.6931471805599453094;
    double p = 1.0 / 479001600;
    p = p * t + 1.0 / 39916800;
    p = p * t + 1.0 / 3628800;
    p = p * t + 1.0 / 362880;
    p = p * t + 1.0 / 40320;
    p = p * t + 1.0 / 5040;
    p = p * t + 1.0 / 720;
    p = p * t + 1.0 / 120;
    p = p * t + 1.0 / 24;
    p = p * t + 1.0 / 6;
    p = p * t + 0.5;
    p = p * t + 1;
    p = p * t + 1;
    return p * power_of_two(n);
}

/* log2 x = e + log2 m with m in [sqrt(1/2), sqrt 2): 2 artanh((m - 1) / (m + 1)) as a series. */
ALU_INLINE double logarithm(double x) {
    uint64_t bits = ex_f64_bits(x) - 0x3fe6a09e667f3bcdu;
    double e =
        ex_f64(0x4330000000000000u | ((bits >> 52) ^ 0x800u)) - (0x1p52 + 2048); /* the signed top bits */
    double m = ex_f64((bits & 0xfffffffffffffu) + 0x3fe6a09e667f3bcdu);
    double s = (m - 1) / (m + 1), z = s * s, p = 1.0 / 21;
    p = p * z + 1.0 / 19;
    p = p * z + 1.0 / 17;
    p = p * z + 1.0 / 15;
    p = p * z + 1.0 / 13;
    p = p * z + 1.0 / 11;
    p = p * z + 1.0 / 9;
    p = p * z + 1.0 / 7;
    p = p * z + 1.0 / 5;
    p = p * z + 1.0 / 3;
    p = p * z + 1;
    double r = e + p * s * 2.885390081777926815;
    r = x == 0 ? -(double)INFINITY : r;
    r = x > 0x1p200 ? (double)INFINITY : r;
    bool none = (x < 0) | (x != x);
    return none ? (double)NAN : r;
}

/* sin(2 pi t) of |t| <= 1/4 */
ALU_INLINE double sine_series(double t) {
    double a = t * 6.283185307179586477, z = a * a, p = 1.0 / 51090942171709440000.0;
    p = 1.0 / 121645100408832000.0 - p * z;
    p = 1.0 / 355687428096000.0 - p * z;
    p = 1.0 / 1307674368000.0 - p * z;
    p = 1.0 / 6227020800.0 - p * z;
    p = 1.0 / 39916800 - p * z;
    p = 1.0 / 362880 - p * z;
    p = 1.0 / 5040 - p * z;
    p = 1.0 / 120 - p * z;
    p = 1.0 / 6 - p * z;
    return a - a * z * p;
}
/* The angle is what the range reduction leaves: in full turns. A single precision number from 2^24 on is whole.
 */
ALU_INLINE double fraction(double x) {
    double size = fabs(x), rest = size < 0x1p24 ? x - nearest(x) : x - x;
    return rest;
}
ALU_INLINE double sine(double x) {
    double r = fraction(x), size = fabs(r), t = size > 0.25 ? 0.5 - size : size, v = sine_series(t);
    uint64_t sign = ex_f64_bits(r == 0 ? x : r) & (uint64_t)1 << 63;
    return ex_f64(ex_f64_bits(v) ^ sign);
}
ALU_INLINE double cosine(double x) {
    return sine_series(0.25 - fabs(fraction(x)));
}

/* Of single precision: operand and result flushed. */
#define FUNCTION(name, EXPR)                                                                                   \
    ALU_INLINE void name(SX_ARGS) {                                                                            \
        const uint32_t *a = sx_src(w, i->a);                                                                   \
        uint32_t keep = alu_keep(i, 0), flip = alu_flip(i, 0);                                                 \
        ALU_ROW(i->d, double x = (double)ex_f32(ex_flush((a[l] & keep) ^ flip, true));                         \
                out = ex_result((float)(EXPR), true, false););                                                 \
    }                                                                                                          \
    ALU_PAIR(name)
FUNCTION(mufu_rcp, 1 / x)
FUNCTION(mufu_rsq, 1 / __builtin_sqrt(x < 0 ? (double)NAN : x))
FUNCTION(mufu_sqrt, __builtin_sqrt(x < 0 ? (double)NAN : x))
FUNCTION(mufu_ex2, exponential(x))
FUNCTION(mufu_lg2, logarithm(x))
FUNCTION(mufu_sin, sine(x))
FUNCTION(mufu_cos, cosine(x))

/* Subnormal numbers pass as they are. */
ALU_INLINE void mufu_tanh(SX_ARGS) {
    const uint32_t *a = sx_src(w, i->a);
    uint32_t keep = alu_keep(i, 0), flip = alu_flip(i, 0);
    ALU_ROW(i->d, out = ex_result((float)tanh((double)ex_f32((a[l] & keep) ^ flip)), false, false););
}
ALU_PAIR(mufu_tanh)

static sx_fn single(uint8_t op) {
    switch (op) {
    case SASS_MUFU_COS:
        return ALU_FN(mufu_cos);
    case SASS_MUFU_SIN:
        return ALU_FN(mufu_sin);
    case SASS_MUFU_EX2:
        return ALU_FN(mufu_ex2);
    case SASS_MUFU_LG2:
        return ALU_FN(mufu_lg2);
    case SASS_MUFU_RCP:
        return ALU_FN(mufu_rcp);
    case SASS_MUFU_RSQ:
        return ALU_FN(mufu_rsq);
    case SASS_MUFU_SQRT:
        return ALU_FN(mufu_sqrt);
    default:
        return ALU_FN(mufu_tanh);
    }
}

/* One number, of the other formats. */
static double function(uint8_t op, double x) {
    switch (op) {
    case SASS_MUFU_COS:
        return cosine(x);
    case SASS_MUFU_SIN:
        return sine(x);
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
    if (in->mod[SASS_M_HALFTYPE]) {
        const struct ww_sass_operand *o = &in->opd[in->opd[SASS_A].kind != SASS_K_NONE ? SASS_A : SASS_B];
        i->type = in->mod[SASS_M_STYPE] == SASS_T_BF16 ? SASS_T_BF16 : SASS_T_F16;
        i->shape = o->half ? 16 : 0;
        i->fn = mufu16;
    } else {
        i->fn = i->sub == SASS_MUFU_RCP64H || i->sub == SASS_MUFU_RSQ64H ? mufu64 : single(i->sub);
    }
    return true;
}
