/* alu_convert_rows.c: the frequent conversions, 32 lanes side by side. */
#include "alu.h"

/* Single precision to 32 bits, NaN to zero, by direction. */
ALU_INLINE uint32_t to_s32(float v) {
    bool fits = v >= -0x1p31f && v < 0x1p31f;
    uint32_t near = (uint32_t)(int32_t)(fits ? v : 0), far = v > 0 ? 0x7fffffffu : 0x80000000u;
    far = v != v ? 0 : far;
    return fits ? near : far;
}
ALU_INLINE uint32_t to_u32(float v) {
    bool large = v >= 0x1p31f;
    float part = large ? v - 0x1p31f : v;
    bool fits = part >= 0 && part < 0x1p31f;
    uint32_t near = (uint32_t)(int32_t)(fits ? part : 0) ^ (large ? 0x80000000u : 0);
    return fits ? near : v > 0 ? UINT32_MAX : 0;
}
#define TO_WORD(name, CONVERT, ROUND)                                                                          \
    ALU_INLINE void name(SX_ARGS) {                                                                            \
        const uint32_t *a = sx_src(w, i->a);                                                                   \
        uint32_t keep = alu_keep(i, 0), flip = alu_flip(i, 0), ftz = i->mods & 1u ? UINT32_MAX : 0;            \
        ALU_ROW(i->d, float v = ex_f32(alu_flush((a[l] & keep) ^ flip, ftz)); out = CONVERT(ROUND(v)););       \
    }                                                                                                          \
    ALU_PAIR(name)
TO_WORD(s32_near, to_s32, __builtin_nearbyintf)
TO_WORD(s32_down, to_s32, __builtin_floorf)
TO_WORD(s32_up, to_s32, __builtin_ceilf)
TO_WORD(s32_cut, to_s32, __builtin_truncf)
TO_WORD(u32_near, to_u32, __builtin_nearbyintf)
TO_WORD(u32_down, to_u32, __builtin_floorf)
TO_WORD(u32_up, to_u32, __builtin_ceilf)
TO_WORD(u32_cut, to_u32, __builtin_truncf)
ALU_INLINE uint32_t same(float v) {
    return v != v ? 0x7fffffffu : ex_f32_bits(v);
}
TO_WORD(whole_near, same, __builtin_nearbyintf)
TO_WORD(whole_down, same, __builtin_floorf)
TO_WORD(whole_up, same, __builtin_ceilf)
TO_WORD(whole_cut, same, __builtin_truncf)

/* kind: 0 signed, 1 unsigned, 2 single precision */
static sx_fn to_word(unsigned kind, uint8_t round) {
    switch (round) {
    case PTX_R_RM:
        return kind == 0 ? ALU_FN(s32_down) : kind == 1 ? ALU_FN(u32_down) : ALU_FN(whole_down);
    case PTX_R_RP:
        return kind == 0 ? ALU_FN(s32_up) : kind == 1 ? ALU_FN(u32_up) : ALU_FN(whole_up);
    case PTX_R_RZ:
        return kind == 0 ? ALU_FN(s32_cut) : kind == 1 ? ALU_FN(u32_cut) : ALU_FN(whole_cut);
    default:
        return kind == 0 ? ALU_FN(s32_near) : kind == 1 ? ALU_FN(u32_near) : ALU_FN(whole_near);
    }
}

/* Doubles to 32 bits and to whole numbers, by direction. A NaN gives the top bit. */
ALU_INLINE uint32_t s32_of(double v) {
    double near = v < -0x1p31 ? -0x1p31 : v, inside = near > 0x1p31 - 1 ? 0x1p31 - 1 : near;
    int32_t r = (int32_t)(v != v ? 0 : inside);
    return v != v ? 0x80000000u : (uint32_t)r;
}
#define OF_DOUBLE(name, ROUND)                                                                                 \
    ALU_INLINE void double_##name(SX_ARGS) {                                                                   \
        const uint32_t *a = sx_src(w, i->a);                                                                   \
        ALU_ROW(i->d, out = s32_of(ROUND(ex_f64(sx_get64(a, l)))););                                           \
    }                                                                                                          \
    ALU_PAIR(double_##name)                                                                                    \
    ALU_INLINE void double_whole_##name(SX_ARGS) {                                                             \
        const uint32_t *a = sx_src(w, i->a);                                                                   \
        ALU_ROW2(i->d, double v = ROUND(ex_f64(sx_get64(a, l)));                                               \
                 out = v != v ? 0x7ff8000000000000u : ex_f64_bits(v););                                        \
    }                                                                                                          \
    ALU_PAIR(double_whole_##name)
OF_DOUBLE(near, __builtin_nearbyint)
OF_DOUBLE(down, __builtin_floor)
OF_DOUBLE(up, __builtin_ceil)
OF_DOUBLE(cut, __builtin_trunc)

static sx_fn of_double(bool is_whole, uint8_t round) {
    switch (round) {
    case PTX_R_RM:
        return is_whole ? ALU_FN(double_whole_down) : ALU_FN(double_down);
    case PTX_R_RP:
        return is_whole ? ALU_FN(double_whole_up) : ALU_FN(double_up);
    case PTX_R_RZ:
        return is_whole ? ALU_FN(double_whole_cut) : ALU_FN(double_cut);
    default:
        return is_whole ? ALU_FN(double_whole_near) : ALU_FN(double_near);
    }
}

/* Up to 32 bits to single precision: exact in double precision, and then rounded. type3: how far the number is
 * shifted up, so that its sign is on top; bytes: its width. */
ALU_INLINE void signed_to_f32(SX_ARGS) {
    const uint32_t *a = sx_src(w, i->a);
    uint32_t up = i->type3, down = 32u - i->bytes;
    int old = ww_ex_set_round(i->round);
    ALU_ROW(i->d, out = ex_f32_bits((float)((int32_t)(a[l] << up) >> down)););
    ww_ex_restore_round(old);
}
ALU_PAIR(signed_to_f32)
ALU_INLINE void unsigned_to_f32(SX_ARGS) {
    const uint32_t *a = sx_src(w, i->a);
    uint32_t up = i->type3, down = 32u - i->bytes;
    int old = ww_ex_set_round(i->round);
    ALU_ROW(i->d, uint32_t v = (a[l] << up) >> down;
            out = ex_f32_bits((float)((double)(int32_t)(v >> 16) * 65536 + (double)(int32_t)(v & 0xffffu))););
    ww_ex_restore_round(old);
}
ALU_PAIR(unsigned_to_f32)
ALU_INLINE void near_s32_to_f32(SX_ARGS) {
    const uint32_t *a = sx_src(w, i->a);
    ALU_ROW(i->d, out = ex_f32_bits((float)(int32_t)a[l]););
}
ALU_PAIR(near_s32_to_f32)
ALU_INLINE void s32_to_f64(SX_ARGS) {
    const uint32_t *a = sx_src(w, i->a);
    ALU_ROW2(i->d, out = ex_f64_bits((double)(int32_t)a[l]););
}
ALU_PAIR(s32_to_f64)
ALU_INLINE void f32_to_f64(SX_ARGS) {
    const uint32_t *a = sx_src(w, i->a);
    uint32_t keep = alu_keep(i, 0), flip = alu_flip(i, 0);
    bool ftz = (i->mods & 1u) != 0;
    ALU_ROW2(i->d, double v = (double)ex_f32(ex_flush((a[l] & keep) ^ flip, ftz));
             out = v != v ? 0x7ff8000000000000u : ex_f64_bits(v););
}
ALU_PAIR(f32_to_f64)

ALU_INLINE void f64_to_f32(SX_ARGS) {
    const uint32_t *a = sx_src(w, i->a);
    ALU_ROW(i->d, float v = (float)ex_f64(sx_get64(a, l)); out = v != v ? 0x7fffffffu : ex_f32_bits(v););
}
ALU_PAIR(f64_to_f32)

static sx_fn from_int(const struct sx_inst *i) {
    bool plain = i->round == PTX_R_RN && !i->shape,
         is_signed = i->type2 == SASS_T_S8 || i->type2 == SASS_T_S16 || i->type2 == SASS_T_S32;
    if (i->neg || i->abs || i->mods || i->bytes > 32) return NULL;
    if (i->type == SASS_T_F64) return plain && i->type2 == SASS_T_S32 ? ALU_FN(s32_to_f64) : NULL;
    if (i->type != SASS_T_F32) return NULL;
    if (plain && i->type2 == SASS_T_S32) return ALU_FN(near_s32_to_f32);
    return is_signed ? ALU_FN(signed_to_f32) : ALU_FN(unsigned_to_f32);
}

static sx_fn to_int(const struct sx_inst *i, bool plain_double) {
    bool word = i->type == SASS_T_S32 || i->type == SASS_T_U32;
    if (i->type2 == SASS_T_F32 && word && i->mods & 4u) return to_word(i->type == SASS_T_S32 ? 0 : 1, i->round);
    return plain_double && i->type == SASS_T_S32 ? of_double(false, i->round) : NULL;
}

static sx_fn among_floats(const struct sx_inst *i) {
    if (i->type == SASS_T_F64 && i->type2 == SASS_T_F32 && !(i->mods & 2u)) return ALU_FN(f32_to_f64);
    bool plain = i->round == PTX_R_RN && !i->mods && !i->neg && !i->abs;
    return plain && i->type == SASS_T_F32 && i->type2 == SASS_T_F64 ? ALU_FN(f64_to_f32) : NULL;
}

sx_fn ww_sx_alu_convert_rows(const struct sx_inst *i, unsigned op) {
    bool plain_double = i->type2 == SASS_T_F64 && !i->neg && !i->abs && !(i->mods & 6u);
    switch (op) {
    case SASS_I2F:
        return from_int(i);
    case SASS_F2I:
        return to_int(i, plain_double);
    case SASS_F2F:
        return among_floats(i);
    case SASS_FRND:
        if (plain_double) return of_double(true, i->round);
        return i->type2 == SASS_T_F32 && !(i->mods & 2u) ? to_word(2, i->round) : NULL;
    default:
        return NULL;
    }
}
