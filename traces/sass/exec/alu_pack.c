/* alu_pack.c: conversions that pack: F2FP to halves, bytes and back, F2IP and I2IP to integers of 8 and 16
 * bits. */
#include "alu_half.h"

enum { MOD_RELU = 1, MOD_SAT = 2 };

static uint32_t to_short(const struct sx_inst *i, double v) {
    if (i->mods & MOD_RELU && !isnan(v) && signbit(v)) v = 0;
    switch (i->type) {
    case SASS_T_BF16:
        return ww_ex_double_to_bf16(v, i->round);
    case SASS_T_E4M3:
    case SASS_T_E5M2:
        return ww_ex_double_to_f8(v, i->type == SASS_T_E5M2, (i->mods & MOD_SAT) != 0);
    default:
        return ww_ex_double_to_f16(v, i->round, (i->mods & MOD_SAT) != 0);
    }
}

static double single(const struct sx_inst *i, const uint32_t *row, unsigned l, unsigned n) {
    return (double)ex_f32((row[l] & alu_keep(i, n)) ^ alu_flip(i, n));
}

/* PACK_AB: A above B. Bytes are put below a half of C. */
static void pack_two(SX_ARGS) {
    const uint32_t *a = sx_src(w, i->a), *b = sx_src(w, i->b), *c = sx_src(w, i->c);
    uint32_t *d = sx_dst(w, i->d);
    bool bytes = i->type == SASS_T_E4M3 || i->type == SASS_T_E5M2;
    for (uint32_t m = mask; m; m &= m - 1) {
        unsigned l = (unsigned)__builtin_ctz(m);
        uint32_t high = to_short(i, single(i, a, l, 0)), low = to_short(i, single(i, b, l, 1));
        d[l] = bytes ? (high << 8 | low) | c[l] >> i->shape << 16 : high << 16 | low;
    }
}

/* MERGE_C: one number, below the upper half of C. */
static void merge_one(SX_ARGS) {
    const uint32_t *a = sx_src(w, i->a), *b = sx_src(w, i->b);
    uint32_t *d = sx_dst(w, i->d);
    for (uint32_t m = mask; m; m &= m - 1) {
        unsigned l = (unsigned)__builtin_ctz(m);
        d[l] = to_short(i, single(i, a, l, 0)) | (b[l] & 0xffff0000u);
    }
}

/* UNPACK_B: two bytes to two halves, or two halves to two bytes below a half of C. */
static void bytes_to_halves(SX_ARGS) {
    const uint32_t *a = sx_src(w, i->a);
    uint32_t *d = sx_dst(w, i->d);
    for (uint32_t m = mask; m; m &= m - 1) {
        unsigned l = (unsigned)__builtin_ctz(m);
        uint32_t v = a[l] >> i->shape, r = 0;
        for (unsigned n = 0; n < 2; n++)
            r |= to_short(i, ww_ex_f8_to_double((uint8_t)(v >> 8 * n), i->type2 == SASS_T_E5M2)) << 16 * n;
        d[l] = r;
    }
}
static void halves_to_bytes(SX_ARGS) {
    const uint32_t *a = sx_src(w, i->a), *b = sx_src(w, i->b);
    uint32_t *d = sx_dst(w, i->d);
    for (uint32_t m = mask; m; m &= m - 1) {
        unsigned l = (unsigned)__builtin_ctz(m);
        uint32_t low = to_short(i, (double)alu_from_f16(a[l] & 0xffffu)),
                 high = to_short(i, (double)alu_from_f16(a[l] >> 16));
        d[l] = (high << 8 | low) | b[l] >> i->shape << 16;
    }
}

static void to_tf32(SX_ARGS) {
    const uint32_t *a = sx_src(w, i->a);
    uint32_t *d = sx_dst(w, i->d);
    SX_EACH(mask, d[l] = ww_ex_float_to_tf32((float)single(i, a, l, 0), i->round););
}

static bool pick_f2fp(struct sx_builder *b, const struct ww_sass_insn *in, struct sx_inst *i) {
    uint8_t to = in->mod[SASS_M_DTYPE], from = in->mod[SASS_M_STYPE];
    alu_operands(b, in, i, 1, 1, 1, 1);
    i->type = to == SASS_T_NONE ? SASS_T_F16 : to;
    i->type2 = from == SASS_T_NONE ? SASS_T_F32 : from;
    i->round = ww_sx_alu_round(in->mod[SASS_M_RND]);
    i->mods = (in->mod[SASS_M_RELU] ? MOD_RELU : 0u) | (in->mod[SASS_M_SAT] ? MOD_SAT : 0u);
    bool bytes = i->type == SASS_T_E4M3 || i->type == SASS_T_E5M2;
    const struct ww_sass_operand *o = &in->opd[in->opd[SASS_A].kind != SASS_K_NONE ? SASS_A : SASS_B];
    i->shape = in->opd[SASS_C].half || in->mod[SASS_M_HI] ? 16 : 0;
    if (i->type2 == SASS_T_E4M3 || i->type2 == SASS_T_E5M2) {
        i->shape = o->half || in->mod[SASS_M_HI] ? 16 : 0;
        i->fn = bytes_to_halves;
    } else if (i->type2 == SASS_T_F16 && bytes) {
        i->fn = halves_to_bytes;
    } else if (i->type == SASS_T_TF32) {
        i->fn = to_tf32;
    } else if (i->type2 == SASS_T_F32) {
        i->fn = in->mod[SASS_M_MERGE] && !bytes ? merge_one : pack_two;
    } else {
        return false;
    }
    return true;
}

/* ---- to integers ---- */

static uint32_t clamp(int64_t v, uint8_t type) {
    bool sign = type == SASS_T_S8 || type == SASS_T_S16;
    unsigned bits = type == SASS_T_S8 || type == SASS_T_U8 ? 8 : 16;
    int64_t most = ((int64_t)1 << (bits - (sign ? 1 : 0))) - 1, least = sign ? -most - 1 : 0;
    v = v > most ? most : v < least ? least : v;
    return (uint32_t)v & (((uint32_t)1 << bits) - 1);
}

static int64_t whole(double v, uint8_t round) {
    if (isnan(v)) return 0;
    v = round == PTX_R_RZ   ? trunc(v)
        : round == PTX_R_RM ? floor(v)
        : round == PTX_R_RP ? ceil(v)
                            : nearbyint(v);
    return v > 1e9 ? 1000000000 : v < -1e9 ? -1000000000 : (int64_t)v;
}

/* A above B, above the lower part of C. */
static void pack_integers(SX_ARGS) {
    const uint32_t *a = sx_src(w, i->a), *b = sx_src(w, i->b), *c = sx_src(w, i->c);
    uint32_t *d = sx_dst(w, i->d);
    unsigned bits = i->type == SASS_T_S8 || i->type == SASS_T_U8 ? 8 : 16;
    for (uint32_t m = mask; m; m &= m - 1) {
        unsigned l = (unsigned)__builtin_ctz(m);
        int64_t x, y;
        if (i->type2 == SASS_T_F32)
            x = whole(single(i, a, l, 0), i->round), y = whole(single(i, b, l, 1), i->round);
        else if (i->type2 == SASS_T_U32)
            x = a[l], y = b[l];
        else
            x = (int32_t)a[l], y = (int32_t)b[l];
        uint32_t v = clamp(x, i->type) << bits | clamp(y, i->type);
        d[l] = bits == 16 ? v : v | c[l] << 16;
    }
}

static bool pick_integers(struct sx_builder *b, const struct ww_sass_insn *in, struct sx_inst *i,
                          uint8_t from) {
    alu_operands(b, in, i, 1, 1, 1, 1);
    i->type = in->mod[SASS_M_DTYPE] ? in->mod[SASS_M_DTYPE] : (uint8_t)SASS_T_U8;
    i->type2 = in->mod[SASS_M_STYPE] ? in->mod[SASS_M_STYPE] : from;
    i->round = ww_sx_alu_round(in->mod[SASS_M_RND]);
    i->fn = pack_integers;
    bool to = i->type == SASS_T_S8 || i->type == SASS_T_U8 || i->type == SASS_T_S16 || i->type == SASS_T_U16;
    return to && (i->type2 == SASS_T_F32 || i->type2 == SASS_T_S32 || i->type2 == SASS_T_U32);
}

bool ww_sx_alu_pack(struct sx_builder *b, const struct ww_sass_insn *in, struct sx_inst *i) {
    switch (in->op) {
    case SASS_F2FP:
    case SASS_UF2FP:
        return pick_f2fp(b, in, i);
    case SASS_F2IP:
        return pick_integers(b, in, i, SASS_T_F32);
    case SASS_I2IP:
        return pick_integers(b, in, i, SASS_T_S32);
    default:
        return false;
    }
}
