/* alu_convert.c: I2F, F2I, F2F, FRND, I2I and the forms of them on the arithmetic units.
 *
 * DTYPE is the type of the result and STYPE that of the source (enum ww_sass_type). */
#include "alu_half.h"

static uint32_t bits_of(uint8_t type) {
    switch (type) {
    case SASS_T_U8:
    case SASS_T_S8:
        return 8;
    case SASS_T_U16:
    case SASS_T_S16:
    case SASS_T_F16:
    case SASS_T_BF16:
        return 16;
    case SASS_T_U64:
    case SASS_T_S64:
    case SASS_T_F64:
        return 64;
    default:
        return 32;
    }
}
static bool is_signed(uint8_t type) {
    return type == SASS_T_S8 || type == SASS_T_S16 || type == SASS_T_S32 || type == SASS_T_S64;
}

/* ---- sources ---- */

static uint64_t raw(const struct sx_inst *i, const uint32_t *a, unsigned l) {
    return i->bytes == 64 ? sx_get64(a, l) : a[l] >> i->shape;
}

static uint64_t load_int(const struct sx_inst *i, const uint32_t *a, unsigned l) {
    uint64_t v = raw(i, a, l);
    if (i->bytes < 64) {
        uint64_t keep = ((uint64_t)1 << i->bytes) - 1;
        v &= keep;
        if (is_signed(i->type2) && v >> (i->bytes - 1)) v |= ~keep;
    }
    if (i->abs && (int64_t)v < 0) v = 0 - v;
    return i->neg ? 0 - v : v;
}

static double load_float(const struct sx_inst *i, const uint32_t *a, unsigned l) {
    uint64_t v = raw(i, a, l), top = (uint64_t)1 << (i->bytes - 1);
    if (i->abs) v &= top - 1;
    if (i->neg) v ^= top;
    switch (i->type2) {
    case SASS_T_F64:
        return ex_f64(v);
    case SASS_T_F16:
        return (double)alu_from_f16((uint32_t)v & 0xffffu);
    case SASS_T_BF16:
        return (double)alu_from_bf16((uint32_t)v & 0xffffu);
    default:
        return (double)ex_f32(ex_flush((uint32_t)v, i->mods & 1u));
    }
}

/* ---- results ---- */

static double whole(double v, uint8_t round) {
    switch (round) {
    case PTX_R_RZ:
        return trunc(v);
    case PTX_R_RM:
        return floor(v);
    case PTX_R_RP:
        return ceil(v);
    default:
        return nearbyint(v);
    }
}

/* Clamped to the type's range and extended to 64 bits. A NaN gives 0 with NTZ, else only the type's top bit. */
static uint64_t to_int(double v, uint8_t type, bool nan_to_zero) {
    uint32_t bits = bits_of(type);
    bool sign = is_signed(type);
    uint64_t top = (uint64_t)1 << (bits - 1), ones = top - 1;
    if (isnan(v)) return nan_to_zero ? 0 : sign && bits < 64 ? 0 - top : top;
    double limit = (sign ? 1.0 : 2.0) * (double)top;
    if (v >= limit) return sign ? ones : ones | top;
    if (v <= (sign ? -limit : 0)) return sign ? 0 - top : 0;
    return sign ? (uint64_t)(int64_t)v : (uint64_t)v;
}

static void store_float(const struct sx_inst *i, uint32_t *d, unsigned l, double v) {
    bool ftz = (i->mods & 1u) != 0;
    if (i->mods & 2u) v = !(v > 0) ? 0 : v > 1 ? 1 : v;
    switch (i->type) {
    case SASS_T_F64:
        sx_set64(d, l, isnan(v) ? 0x7ff8000000000000u : ex_f64_bits(v));
        break;
    case SASS_T_F16:
        d[l] = ww_ex_double_to_f16(v, i->round, false);
        break;
    case SASS_T_BF16:
        d[l] = ww_ex_double_to_bf16(v, i->round);
        break;
    default:
        d[l] = ex_result((float)v, ftz, false);
        break;
    }
}

/* ---- instructions ---- */

static void float_to_int(SX_ARGS) {
    const uint32_t *a = sx_src(w, i->a);
    uint32_t *d = sx_dst(w, i->d);
    bool wide = bits_of(i->type) == 64, zero = (i->mods & 4u) != 0;
    for (uint32_t m = mask; m; m &= m - 1) {
        unsigned l = (unsigned)__builtin_ctz(m);
        uint64_t v = to_int(whole(load_float(i, a, l), i->round), i->type, zero);
        if (wide)
            sx_set64(d, l, v);
        else
            d[l] = (uint32_t)v;
    }
}

static void float_to_float(SX_ARGS) {
    const uint32_t *a = sx_src(w, i->a);
    uint32_t *d = sx_dst(w, i->d);
    int old = ww_ex_set_round(i->round);
    for (uint32_t m = mask; m; m &= m - 1) {
        unsigned l = (unsigned)__builtin_ctz(m);
        store_float(i, d, l, load_float(i, a, l));
    }
    ww_ex_restore_round(old);
}

/* To a whole number in the same format. */
static void round_whole(SX_ARGS) {
    const uint32_t *a = sx_src(w, i->a);
    uint32_t *d = sx_dst(w, i->d);
    for (uint32_t m = mask; m; m &= m - 1) {
        unsigned l = (unsigned)__builtin_ctz(m);
        double v = whole(load_float(i, a, l), i->round);
        store_float(i, d, l, v);
    }
}

/* The double that is equal, or next to it with the last bit set: rounding it again to a short format is exact.
 */
static double int_to_odd(uint64_t v, bool sign) {
    bool negative = sign && (int64_t)v < 0;
    uint64_t size = negative ? 0 - v : v;
    if (size >> 53) size = (size & ~(uint64_t)0xfff) | (size & 0xfff ? 0x1000 : 0);
    return negative ? -(double)size : (double)size;
}

static void int_to_float(SX_ARGS) {
    const uint32_t *a = sx_src(w, i->a);
    uint32_t *d = sx_dst(w, i->d);
    bool sign = is_signed(i->type2);
    int old = ww_ex_set_round(i->round);
    for (uint32_t m = mask; m; m &= m - 1) {
        unsigned l = (unsigned)__builtin_ctz(m);
        volatile uint64_t v = load_int(i, a, l); /* converted after the direction is set */
        if (i->type == SASS_T_F32)
            d[l] = ex_f32_bits(sign ? (float)(int64_t)v : (float)v);
        else if (i->type == SASS_T_F64)
            sx_set64(d, l, ex_f64_bits(sign ? (double)(int64_t)v : (double)v));
        else
            store_float(i, d, l, int_to_odd(v, sign));
    }
    ww_ex_restore_round(old);
}

/* Between integers, clamped to the range of the result. */
static void int_to_int(SX_ARGS) {
    const uint32_t *a = sx_src(w, i->a);
    uint32_t *d = sx_dst(w, i->d);
    for (uint32_t m = mask; m; m &= m - 1) {
        unsigned l = (unsigned)__builtin_ctz(m);
        uint64_t v = load_int(i, a, l);
        double value = is_signed(i->type2) ? (double)(int64_t)v : (double)v; /* at most 32 bits: exact */
        d[l] = (uint32_t)to_int(value, i->type, true);
    }
}

static uint8_t type_or(uint8_t type, uint8_t other) {
    return type == SASS_T_NONE ? other : type;
}

static void set_types(struct sx_builder *b, const struct ww_sass_insn *in, struct sx_inst *i, uint8_t to,
                      uint8_t from) {
    i->type = type_or(in->mod[SASS_M_DTYPE], to);
    i->type2 = type_or(in->mod[SASS_M_STYPE], from);
    i->bytes = (uint8_t)bits_of(i->type2);
    i->round = ww_sx_alu_round(in->mod[SASS_M_RND]);
    i->mods = (in->mod[SASS_M_FTZ] ? 1u : 0) | (in->mod[SASS_M_SAT] ? 2u : 0) | (in->mod[SASS_M_NTZ] ? 4u : 0);
    const struct ww_sass_operand *o = &in->opd[in->opd[SASS_A].kind != SASS_K_NONE ? SASS_A : SASS_B];
    if (i->bytes < 32) i->shape = (uint8_t)((o->half * i->bytes) & 31);
    i->type3 = (uint8_t)(32 - i->bytes - i->shape); /* of 8, 16 and 32 bits */
    uint32_t rows = i->bytes == 64 ? 2 : 1;
    alu_operands(b, in, i, bits_of(i->type) == 64 ? 2 : 1, rows, rows, rows);
}

/* The operation whatever the datapath, and the function for any types. */
static unsigned plain_op(unsigned op, sx_fn *any) {
    switch (op) {
    case SASS_I2F:
    case SASS_I2FP:
    case SASS_UI2F:
    case SASS_UI2FP:
        *any = int_to_float;
        return SASS_I2F;
    case SASS_F2I:
    case SASS_UF2I:
        *any = float_to_int;
        return SASS_F2I;
    case SASS_F2F:
    case SASS_UF2F:
        *any = float_to_float;
        return SASS_F2F;
    case SASS_FRND:
    case SASS_UFRND:
        *any = round_whole;
        return SASS_FRND;
    case SASS_I2I:
        *any = int_to_int;
        return SASS_I2I;
    default:
        return SASS_INVALID;
    }
}

bool ww_sx_alu_convert(struct sx_builder *b, const struct ww_sass_insn *in, struct sx_inst *i) {
    sx_fn any;
    unsigned op = plain_op(in->op, &any);
    if (op == SASS_INVALID) return false;
    bool from_int = op == SASS_I2F || op == SASS_I2I, to_int = op == SASS_F2I || op == SASS_I2I;
    uint8_t other = op == SASS_FRND ? type_or(in->mod[SASS_M_STYPE], SASS_T_F32) : (uint8_t)SASS_T_F32;
    set_types(b, in, i, to_int ? SASS_T_S32 : other, from_int ? SASS_T_S32 : other);
    i->fn = ww_sx_alu_convert_rows(i, op);
    if (!i->fn) i->fn = any;
    return op != SASS_I2I || i->bytes <= 32;
}
