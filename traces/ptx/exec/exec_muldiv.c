/* exec_muldiv.c: integer multiply in its forms, divide, remainder, dot products. */
#include "exec_types.h"

#define mul_lo_EXPR(x, y, T, U, S, W, bits) ((S)(x) * (S)(y))
#define mul_hi_EXPR(x, y, T, U, S, W, bits) (((W)(x) * (W)(y)) >> (bits))
#define mad_lo_EXPR(x, y, z, T, U, S, W, bits) ((S)(x) * (S)(y) + (S)(z))
#define mad_hi_EXPR(x, y, z, T, U, S, W, bits) ((S)(((W)(x) * (W)(y)) >> (bits)) + (S)(z))
/* Division by zero gives all ones, and the remainder is the dividend; the quotient of the most negative
 * value and -1 is that value (PTX leaves the first unspecified; this is what NVIDIA's code returns). */
#define div_EXPR(x, y, T, U, S, W, bits)                                                                       \
    ((y) == 0 ? (S)-1 : (T)-1 < (T)1 && (y) == (T)-1 ? (S)0 - (S)(x) : (S)(T)((x) / (y)))
#define rem_EXPR(x, y, T, U, S, W, bits)                                                                       \
    ((y) == 0 ? (S)(x) : (T)-1 < (T)1 && (y) == (T)-1 ? (S)0 : (S)(T)((x) % (y)))

EX_INT6(EX_BINARY, mul_lo)
EX_INT6(EX_BINARY, mul_hi)
EX_INT6(EX_BINARY, div)
EX_INT6(EX_BINARY, rem)
EX_INT6(EX_TERNARY, mad_lo)
EX_INT6(EX_TERNARY, mad_hi)
EX_TABLE(mul_lo)
EX_TABLE(mul_hi)
EX_TABLE(div)
EX_TABLE(rem)
EX_TABLE(mad_lo)
EX_TABLE(mad_hi)

/* mul.wide, mad.wide: sources of T in 32-bit lanes, results and addend twice as wide in lanes of D. */
#define WIDE(name, T, D, P)                                                                                    \
    static void mul_wide_##name(EX_ARGS) {                                                                     \
        const uint32_t *a = ex_src(w, i->a), *b = ex_src(w, i->b);                                             \
        D *d = ex_dst(w, i->d);                                                                                \
        EX_EACH(mask, d[l] = (D)((P)(T)a[l] * (P)(T)b[l]););                                                   \
    }                                                                                                          \
    static void mad_wide_##name(EX_ARGS) {                                                                     \
        const uint32_t *a = ex_src(w, i->a), *b = ex_src(w, i->b);                                             \
        const D *c = ex_src(w, i->c);                                                                          \
        D *d = ex_dst(w, i->d);                                                                                \
        EX_EACH(mask, d[l] = (D)((P)(T)a[l] * (P)(T)b[l]) + c[l];);                                            \
    }
WIDE(u16, uint16_t, uint32_t, uint32_t)
WIDE(s16, int16_t, uint32_t, int32_t)
WIDE(u32, uint32_t, uint64_t, uint64_t)
WIDE(s32, int32_t, uint64_t, int64_t)

static void mad_hi_sat(EX_ARGS) {
    const uint32_t *a = ex_src(w, i->a), *b = ex_src(w, i->b), *c = ex_src(w, i->c);
    uint32_t *d = ex_dst(w, i->d);
    EX_EACH(mask, int64_t v = (((int64_t)(int32_t)a[l] * (int32_t)b[l]) >> 32) + (int32_t)c[l];
            d[l] = v > INT32_MAX   ? (uint32_t)INT32_MAX
                   : v < INT32_MIN ? (uint32_t)INT32_MIN
                                   : (uint32_t)v;);
}

/* mad.cc, madc: product part plus c plus carry. */
static void mad_carry(EX_ARGS) {
    uint32_t out = 0;
    bool hi = (i->mods & PTX_M_HI) != 0, wide = i->dw == 8,
         is_signed = i->type == PTX_T_S32 || i->type == PTX_T_S64;
    for (uint32_t m = mask; m; m &= m - 1) {
        unsigned l = (unsigned)__builtin_ctz(m);
        uint64_t x = ex_lane(w, i->a, i->dw, l), y = ex_lane(w, i->b, i->dw, l), part;
        if (!wide) {
            uint64_t p = is_signed ? (uint64_t)((int64_t)(int32_t)x * (int32_t)y) : x * y;
            part = hi ? p >> 32 : (uint32_t)p;
        } else {
            ex_u128 p = is_signed ? (ex_u128)((ex_s128)(int64_t)x * (int64_t)y) : (ex_u128)x * y;
            part = hi ? (uint64_t)(p >> 64) : (uint64_t)p;
        }
        uint64_t c = i->op == PTX_MADC ? (w->cc >> l) & 1u : 0;
        ex_u128 sum = (ex_u128)part + ex_lane(w, i->c, i->dw, l) + c;
        ex_set_lane(w, i->d, i->dw, l, (uint64_t)sum);
        out |= ((uint32_t)(sum >> (wide ? 64 : 32)) & 1u) << l;
    }
    if (i->mods & PTX_M_CC) w->cc = (w->cc & ~mask) | out;
}

/* mul24, mad24: products of the low 24 bits; .hi takes bits 47..16. */
static void mul24(EX_ARGS) {
    const uint32_t *a = ex_src(w, i->a), *b = ex_src(w, i->b);
    const uint32_t *c = i->op == PTX_MAD24 ? ex_src(w, i->c) : NULL;
    uint32_t *d = ex_dst(w, i->d);
    bool is_signed = i->type == PTX_T_S32, hi = (i->mods & PTX_M_HI) != 0, sat = (i->mods & PTX_M_SAT) != 0;
    for (uint32_t m = mask; m; m &= m - 1) {
        unsigned l = (unsigned)__builtin_ctz(m);
        int64_t x = (int64_t)(a[l] & 0xffffffu), y = (int64_t)(b[l] & 0xffffffu);
        if (is_signed) {
            x = (x ^ 0x800000) - 0x800000;
            y = (y ^ 0x800000) - 0x800000;
        }
        int64_t p = x * y;
        uint32_t part = hi ? (uint32_t)(uint64_t)(p >> 16) : (uint32_t)(uint64_t)p;
        int64_t sum = (int64_t)(int32_t)part + (c ? (int64_t)(int32_t)c[l] : 0);
        if (sat && sum > INT32_MAX) sum = INT32_MAX;
        if (sat && sum < INT32_MIN) sum = INT32_MIN;
        d[l] = (uint32_t)(uint64_t)sum;
    }
}

static int32_t byte_of(uint32_t v, unsigned n, bool is_signed) {
    uint32_t b = (v >> (8 * n)) & 0xffu;
    return is_signed ? (int8_t)b : (int32_t)b;
}

/* dp4a.atype.btype, dp2a.{lo,hi}.atype.btype. */
static void dot(EX_ARGS) {
    const uint32_t *a = ex_src(w, i->a), *b = ex_src(w, i->b), *c = ex_src(w, i->c);
    uint32_t *d = ex_dst(w, i->d);
    bool sa = i->type == PTX_T_S32, sb = i->type2 == PTX_T_S32;
    unsigned half = i->mods & PTX_M_HI ? 2u : 0u;
    for (uint32_t m = mask; m; m &= m - 1) {
        unsigned l = (unsigned)__builtin_ctz(m);
        uint32_t sum = c[l];
        if (i->op == PTX_DP4A) {
            for (unsigned n = 0; n < 4; n++) sum += (uint32_t)(byte_of(a[l], n, sa) * byte_of(b[l], n, sb));
        } else {
            for (unsigned n = 0; n < 2; n++) {
                uint32_t h = (a[l] >> (16 * n)) & 0xffffu;
                int32_t x = sa ? (int16_t)h : (int32_t)h;
                sum += (uint32_t)(x * byte_of(b[l], half + n, sb));
            }
        }
        d[l] = sum;
    }
}

static ex_fn pick_wide(const struct ex_inst *i) {
    static const ex_fn mul[] = {mul_wide_u16, mul_wide_s16, mul_wide_u32, mul_wide_s32};
    static const ex_fn mad[] = {mad_wide_u16, mad_wide_s16, mad_wide_u32, mad_wide_s32};
    int t = ex_int6(i->type);
    if (t < 0 || t > 3) return NULL;
    return i->op == PTX_MUL ? mul[t] : mad[t];
}

ex_fn ww_ex_int_mad(const struct ex_inst *i) {
    if (i->op == PTX_MADC || i->mods & PTX_M_CC) return ex_of_word(mad_carry, i->type);
    if (i->mods & PTX_M_WIDE) return pick_wide(i);
    if (!(i->mods & PTX_M_HI)) return ex_of_type(mad_lo_table, i->type);
    if (i->mods & PTX_M_SAT) return i->type == PTX_T_S32 ? mad_hi_sat : NULL;
    return ex_of_type(mad_hi_table, i->type);
}

ex_fn ww_ex_int_mul(const struct ex_inst *i) {
    if (i->mods & PTX_M_WIDE) return pick_wide(i);
    return ex_of_type(i->mods & PTX_M_HI ? mul_hi_table : mul_lo_table, i->type);
}

ex_fn ww_ex_int_div(const struct ex_inst *i) {
    return ex_of_type(div_table, i->type);
}

static bool is_32(uint8_t type) {
    return ex_int6(type) == 2 || ex_int6(type) == 3;
}

EX_PICK(madc, ww_ex_int_mad(i))
EX_PICK(mul24, is_32(i->type) ? mul24 : NULL)
EX_PICK(rem, ex_of_type(rem_table, i->type))
EX_PICK(dot, ex_int6(i->type) >= 0 ? dot : NULL)
