/* exec_half.c: f16, bf16 and their packed forms. Computed in double and rounded once: 53 digits suffice for
 * sums, products and (with a sticky last bit) fused multiply-adds of 11-digit numbers. */
#include "exec_float.h"

static double flush_half(double v, bool ftz) {
    return ftz && fabs(v) < 0x1p-14 ? copysign(0, v) : v;
}

static double minmax(const struct ex_inst *i, double x, double y) {
    bool is_min = i->op == PTX_MIN;
    double sign = 1;
    if (i->mods & PTX_M_XORSIGN) {
        sign = signbit(x) != signbit(y) ? -1 : 1;
        x = fabs(x);
        y = fabs(y);
    }
    if (isnan(x) || isnan(y)) {
        if (i->mods & PTX_M_NAN || (isnan(x) && isnan(y))) return (double)NAN;
        return sign * (isnan(x) ? y : x);
    }
    if (x == y) return sign * ((signbit(x) != 0) == is_min ? x : y);
    return sign * ((x < y) == is_min ? x : y);
}

static double half_value(const struct ex_inst *i, double x, double y, double z) {
    switch (i->op) {
    case PTX_ADD:
        return x + y;
    case PTX_SUB:
        return x - y;
    case PTX_MUL:
        return x * y;
    case PTX_FMA:
        return ww_ex_fma_odd(x, y, z);
    case PTX_MIN:
    case PTX_MAX:
        return minmax(i, x, y);
    case PTX_EX2:
        return exp2(x);
    default:
        return tanh(x);
    }
}

static uint32_t half_result(const struct ex_inst *i, double v, bool bf16) {
    bool ftz = (i->mods & PTX_M_FTZ) != 0;
    if (i->mods & PTX_M_SAT) v = !(v > 0) ? 0 : v > 1 ? 1 : v;
    if (i->mods & PTX_M_RELU && (v < 0 || (v == 0 && signbit(v)))) v = 0;
    if (bf16) return ww_ex_double_to_bf16(v, PTX_R_RN);
    uint16_t h = ww_ex_double_to_f16(v, PTX_R_RN, false);
    return ftz && (h & 0x7c00u) == 0 ? h & 0x8000u : h;
}

static bool is_bf16(uint8_t type) {
    return type == PTX_T_BF16 || type == PTX_T_BF16X2;
}
static bool is_packed(uint8_t type) {
    return type == PTX_T_F16X2 || type == PTX_T_BF16X2;
}

static void arithmetic(EX_ARGS) {
    const uint32_t *a = ex_src(w, i->a), *b = i->b == EX_NO_SLOT ? a : ex_src(w, i->b);
    const uint32_t *c = i->c == EX_NO_SLOT ? a : ex_src(w, i->c);
    uint32_t *d = ex_dst(w, i->d);
    bool ftz = (i->mods & PTX_M_FTZ) != 0, bf16 = is_bf16(i->type);
    unsigned halves = is_packed(i->type) ? 2 : 1;
    for (uint32_t m = mask; m; m &= m - 1) {
        unsigned l = (unsigned)__builtin_ctz(m);
        uint32_t r = 0;
        for (unsigned h = 0; h < halves; h++) {
            double x = flush_half(ex_half(i->type, a[l], h), ftz && !bf16);
            double y = flush_half(ex_half(i->type, b[l], h), ftz && !bf16);
            double z = flush_half(ex_half(i->type, c[l], h), ftz && !bf16);
            r |= half_result(i, half_value(i, x, y, z), bf16) << (16 * h);
        }
        d[l] = r;
    }
}

static void sign(EX_ARGS) {
    const uint32_t *a = ex_src(w, i->a);
    uint32_t *d = ex_dst(w, i->d), top = is_packed(i->type) ? 0x80008000u : 0x8000u;
    if (i->op == PTX_NEG)
        EX_EACH(mask, d[l] = a[l] ^ top;);
    else
        EX_EACH(mask, d[l] = a[l] & ~top;);
}

ex_fn ww_ex_half_arithmetic(const struct ex_inst *i) {
    (void)i;
    return arithmetic;
}

ex_fn ww_ex_half_sign(const struct ex_inst *i) {
    (void)i;
    return sign;
}
