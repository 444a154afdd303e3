/* exec_cvt.c: conversions among all number types. */
#include "exec_float.h"

static uint32_t type_bits(uint8_t type) {
    return 8 * ww_ptx_type_bytes((enum ptx_type)type);
}
static bool is_signed_int(uint8_t type) {
    return type == PTX_T_S8 || type == PTX_T_S16 || type == PTX_T_S32 || type == PTX_T_S64;
}
static bool is_float(uint8_t type) {
    return type == PTX_T_F16 || type == PTX_T_BF16 || type == PTX_T_F32 || type == PTX_T_F64;
}

/* The low bits of v as an integer of the type, extended to 64 bits. */
static uint64_t extend(uint64_t v, uint8_t type) {
    uint32_t bits = type_bits(type);
    if (bits >= 64) return v;
    uint64_t mask = ((uint64_t)1 << bits) - 1, sign = (uint64_t)1 << (bits - 1);
    v &= mask;
    return is_signed_int(type) && v & sign ? v | ~mask : v;
}

/* Clamps an extended source to the destination's range. */
static uint64_t saturate(uint64_t v, bool from_signed, uint8_t to) {
    uint32_t bits = type_bits(to);
    if (is_signed_int(to)) {
        int64_t max = bits == 64 ? INT64_MAX : ((int64_t)1 << (bits - 1)) - 1, min = -max - 1;
        if (!from_signed) return v > (uint64_t)max ? (uint64_t)max : v;
        int64_t s = (int64_t)v;
        return (uint64_t)(s > max ? max : s < min ? min : s);
    }
    uint64_t max = bits == 64 ? UINT64_MAX : ((uint64_t)1 << bits) - 1;
    if (from_signed && (int64_t)v < 0) return 0;
    return v > max ? max : v;
}

/* Stores an integer result: extended by its own type to the destination register's width. */
static void store_int(struct ex_warp *w, const struct ex_inst *i, unsigned l, uint64_t v) {
    ex_set_lane(w, i->d, i->dw, l, extend(v, i->type));
}

static void int_to_int(EX_ARGS) {
    bool sat = (i->mods & PTX_M_SAT) != 0, from_signed = is_signed_int(i->type2);
    for (uint32_t m = mask; m; m &= m - 1) {
        unsigned l = (unsigned)__builtin_ctz(m);
        uint64_t v = extend(ex_lane(w, i->a, i->aw, l), i->type2);
        store_int(w, i, l, sat ? saturate(v, from_signed, i->type) : v);
    }
}

static void widen_u32(EX_ARGS) {
    const uint32_t *a = ex_src(w, i->a);
    uint64_t *d = ex_dst(w, i->d);
    EX_EACH(mask, d[l] = a[l];);
}
static void widen_s32(EX_ARGS) {
    const uint32_t *a = ex_src(w, i->a);
    uint64_t *d = ex_dst(w, i->d);
    EX_EACH(mask, d[l] = (uint64_t)(int64_t)(int32_t)a[l];);
}
static void narrow_64(EX_ARGS) {
    const uint64_t *a = ex_src(w, i->a);
    uint32_t *d = ex_dst(w, i->d);
    EX_EACH(mask, d[l] = (uint32_t)a[l];);
}

static double load_float(struct ex_warp *w, const struct ex_inst *i, unsigned l, bool ftz) {
    uint64_t v = ex_lane(w, i->a, i->aw, l);
    switch (i->type2) {
    case PTX_T_F64:
        return ex_f64(v);
    case PTX_T_F32:
        return (double)ex_f32(ex_flush((uint32_t)v, ftz));
    default:
        return ex_half(i->type2, (uint32_t)v, 0);
    }
}

static double round_whole(double v, uint8_t round) {
    switch (round) {
    case PTX_R_RZI:
    case PTX_R_RZ:
        return trunc(v);
    case PTX_R_RMI:
    case PTX_R_RM:
        return floor(v);
    case PTX_R_RPI:
    case PTX_R_RP:
        return ceil(v);
    default:
        return nearbyint(v);
    }
}

/* Out-of-range values clamp to the destination's range. NaN gives 0, but only the top bit where source or
 * destination has 64 bits (PTX ISA, cvt). */
static uint64_t to_int(double v, uint8_t type, uint8_t from) {
    uint32_t bits = type_bits(type);
    if (isnan(v)) return from == PTX_T_F64 || bits == 64 ? (uint64_t)1 << (bits - 1) : 0;
    if (is_signed_int(type)) {
        double limit = ldexp(1, (int)bits - 1);
        int64_t max = bits == 64 ? INT64_MAX : ((int64_t)1 << (bits - 1)) - 1;
        if (v >= limit) return (uint64_t)max;
        return v < -limit ? (uint64_t)(-max - 1) : (uint64_t)(int64_t)v;
    }
    double limit = ldexp(1, (int)bits);
    if (v >= limit) return bits == 64 ? UINT64_MAX : ((uint64_t)1 << bits) - 1;
    return v <= 0 ? 0 : (uint64_t)v;
}

static void float_to_int(EX_ARGS) {
    bool ftz = (i->mods & PTX_M_FTZ) != 0;
    for (uint32_t m = mask; m; m &= m - 1) {
        unsigned l = (unsigned)__builtin_ctz(m);
        store_int(w, i, l, to_int(round_whole(load_float(w, i, l, ftz), i->round), i->type, i->type2));
    }
}

/* Directions of rounding to integer that, between floats, leave a float. */
static bool is_whole_round(uint8_t round) {
    return round >= PTX_R_RNI && round <= PTX_R_RPI;
}

static void store_float(struct ex_warp *w, const struct ex_inst *i, unsigned l, double v) {
    bool ftz = (i->mods & PTX_M_FTZ) != 0, sat = (i->mods & PTX_M_SAT) != 0;
    if (sat) v = !(v > 0) ? 0 : v > 1 ? 1 : v;
    if (i->mods & PTX_M_RELU && !isnan(v) && signbit(v)) v = 0;
    switch (i->type) {
    case PTX_T_F64:
        ex_set_lane(w, i->d, i->dw, l, ex_f64_bits(v));
        break;
    case PTX_T_F32:
        ex_set_lane(w, i->d, i->dw, l, ex_result((float)v, ftz, false));
        break;
    case PTX_T_F16:
        ex_set_lane(w, i->d, i->dw, l, ww_ex_double_to_f16(v, i->round, false));
        break;
    default:
        ex_set_lane(w, i->d, i->dw, l, ww_ex_double_to_bf16(v, i->round));
        break;
    }
}

static void float_to_float(EX_ARGS) {
    bool ftz = (i->mods & PTX_M_FTZ) != 0, whole = is_whole_round(i->round);
    int old = ww_ex_set_round(whole ? PTX_R_RN : i->round);
    for (uint32_t m = mask; m; m &= m - 1) {
        unsigned l = (unsigned)__builtin_ctz(m);
        double v = load_float(w, i, l, ftz);
        if (i->type == i->type2 && i->type == PTX_T_F64 && isnan(v)) v = (double)NAN;
        store_float(w, i, l, whole ? round_whole(v, i->round) : v);
    }
    ww_ex_restore_round(old);
}

/* Every 64-bit integer goes to single and double precision in one rounding; to half precision through
 * double, which is exact for all that half precision can tell apart (beyond it both give infinity). */
static void int_to_float(EX_ARGS) {
    bool is_signed = is_signed_int(i->type2);
    int old = ww_ex_set_round(i->round);
    for (uint32_t m = mask; m; m &= m - 1) {
        unsigned l = (unsigned)__builtin_ctz(m);
        uint64_t v = extend(ex_lane(w, i->a, i->aw, l), i->type2);
        if (i->type == PTX_T_F32) {
            volatile uint64_t held = v; /* converted after the direction is set */
            float f = is_signed ? (float)(int64_t)held : (float)held;
            if (i->mods & PTX_M_SAT) f = !(f > 0) ? 0 : f > 1 ? 1 : f;
            ex_set_lane(w, i->d, i->dw, l, ex_f32_bits(f));
        } else {
            volatile uint64_t held = v;
            store_float(w, i, l, is_signed ? (double)(int64_t)held : (double)held);
        }
    }
    ww_ex_restore_round(old);
}

/* cvt.f16x2.f32 d, a, b: a to the upper half, b to the lower; also bf16x2 and the 8-bit pairs. */
static uint32_t pack_one(const struct ex_inst *i, uint32_t bits) {
    double v = (double)ex_f32(bits);
    if (i->mods & PTX_M_RELU && !isnan(v) && signbit(v)) v = 0;
    bool finite = (i->mods & PTX_M_SAT) != 0;
    switch (i->type) {
    case PTX_T_F16X2:
        return ww_ex_double_to_f16(v, i->round, finite);
    case PTX_T_BF16X2:
        return ww_ex_double_to_bf16(v, i->round);
    default:
        return ww_ex_double_to_f8(v, i->type == PTX_T_E5M2, finite);
    }
}

static void pack_pair(EX_ARGS) {
    const uint32_t *a = ex_src(w, i->a), *b = ex_src(w, i->b);
    uint32_t *d = ex_dst(w, i->d);
    unsigned shift = i->type == PTX_T_F16X2 || i->type == PTX_T_BF16X2 ? 16 : 8;
    EX_EACH(mask, uint32_t hi = pack_one(i, a[l]); uint32_t lo = pack_one(i, b[l]); d[l] = hi << shift | lo;);
}

/* Between a pair of 8-bit floats and f16x2. */
static void pair_8_16(EX_ARGS) {
    const uint32_t *a = ex_src(w, i->a);
    uint32_t *d = ex_dst(w, i->d);
    for (uint32_t m = mask; m; m &= m - 1) {
        unsigned l = (unsigned)__builtin_ctz(m);
        uint32_t r = 0;
        for (unsigned h = 0; h < 2; h++) {
            if (i->type == PTX_T_F16X2) {
                double v = ww_ex_f8_to_double((uint8_t)(a[l] >> (8 * h)), i->type2 == PTX_T_E5M2);
                if (i->mods & PTX_M_RELU && !isnan(v) && signbit(v)) v = 0;
                r |= (uint32_t)ww_ex_double_to_f16(v, PTX_R_RN, false) << (16 * h);
            } else {
                double v = ex_half(PTX_T_F16, a[l], h);
                r |= (uint32_t)ww_ex_double_to_f8(v, i->type == PTX_T_E5M2, true) << (8 * h);
            }
        }
        d[l] = r;
    }
}

static void to_tf32(EX_ARGS) {
    const uint32_t *a = ex_src(w, i->a);
    uint32_t *d = ex_dst(w, i->d);
    EX_EACH(mask, d[l] = ww_ex_float_to_tf32(ex_f32(a[l]), i->round););
}

static bool is_pair(uint8_t type) {
    return type == PTX_T_F16X2 || type == PTX_T_BF16X2 || type == PTX_T_E4M3 || type == PTX_T_E5M2;
}

static ex_fn pick_int_to_int(const struct ex_inst *i) {
    if (i->mods & PTX_M_SAT) return int_to_int;
    uint32_t from = type_bits(i->type2), to = type_bits(i->type);
    if (from == 32 && to == 64 && i->aw == 4 && i->dw == 8)
        return is_signed_int(i->type2) ? widen_s32 : widen_u32;
    if (from == 64 && to == 32 && i->aw == 8 && i->dw == 4) return narrow_64;
    return int_to_int;
}

ex_fn ww_ex_pick_cvt(struct ex_inst *i) {
    if (i->type == PTX_T_TF32) return to_tf32;
    if (is_pair(i->type) && i->type2 == PTX_T_F32) return i->b != EX_NO_SLOT ? pack_pair : NULL;
    if (is_pair(i->type) || is_pair(i->type2)) return pair_8_16;
    if (is_float(i->type)) return is_float(i->type2) ? float_to_float : int_to_float;
    return is_float(i->type2) ? float_to_int : pick_int_to_int(i);
}
