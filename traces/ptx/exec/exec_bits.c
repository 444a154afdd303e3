/* exec_bits.c: shifts, bit fields, counting, permutes. */
#include "exec_types.h"

/* Shift amounts are 32-bit; those at or over the width give 0, or the sign. */
#define SHIFT(op, n, T, U, S, W, bits)                                                                         \
    static void shl_##n(EX_ARGS) {                                                                             \
        const S *a = ex_src(w, i->a);                                                                          \
        const uint32_t *b = ex_src(w, i->b);                                                                   \
        S *d = ex_dst(w, i->d);                                                                                \
        EX_EACH(mask, d[l] = b[l] >= (bits) ? 0 : (S)(U)((S)(U)a[l] << (b[l] & ((bits)-1))););                 \
    }                                                                                                          \
    static void shr_##n(EX_ARGS) {                                                                             \
        const S *a = ex_src(w, i->a);                                                                          \
        const uint32_t *b = ex_src(w, i->b);                                                                   \
        S *d = ex_dst(w, i->d);                                                                                \
        EX_EACH(mask, T x = (T)a[l]; uint32_t n = b[l] >= (bits) ? (bits)-1 : b[l]; T v = (T)(x >> n);         \
                if (b[l] >= (bits)) v = (T)(v >> 1); d[l] = (S)(U)v;);                                         \
    }
EX_INT6(SHIFT, shift)
EX_TABLE(shl)
EX_TABLE(shr)

static void shf(EX_ARGS) {
    const uint32_t *a = ex_src(w, i->a), *b = ex_src(w, i->b), *c = ex_src(w, i->c);
    uint32_t *d = ex_dst(w, i->d);
    bool left = i->sub == PTX_SUB_L, wrap = (i->mods & PTX_M_WRAP) != 0;
    for (uint32_t m = mask; m; m &= m - 1) {
        unsigned l = (unsigned)__builtin_ctz(m);
        uint32_t n = wrap ? c[l] & 31u : c[l] < 32 ? c[l] : 32;
        uint64_t v = (uint64_t)b[l] << 32 | a[l];
        d[l] = left ? (uint32_t)((v << n) >> 32) : (uint32_t)(v >> n);
    }
}

static uint64_t bit_mask(uint32_t n) {
    return n >= 64 ? UINT64_MAX : ((uint64_t)1 << n) - 1;
}

static void bfe(EX_ARGS) {
    const uint32_t *pb = ex_src(w, i->b), *pc = ex_src(w, i->c);
    uint32_t bits = i->dw == 8 ? 64 : 32;
    bool is_signed = i->type == PTX_T_S32 || i->type == PTX_T_S64;
    for (uint32_t m = mask; m; m &= m - 1) {
        unsigned l = (unsigned)__builtin_ctz(m);
        uint64_t a = ex_lane(w, i->a, i->dw, l), v = 0;
        uint32_t pos = pb[l] & 0xffu, len = pc[l] & 0xffu;
        uint32_t have = pos >= bits ? 0 : bits - pos < len ? bits - pos : len;
        if (have) v = (a >> pos) & bit_mask(have);
        uint32_t top = pos + len - 1 < bits - 1 ? pos + len - 1 : bits - 1;
        if (is_signed && len && (a >> top) & 1u) v |= ~bit_mask(have);
        ex_set_lane(w, i->d, i->dw, l, v);
    }
}

static void bfi(EX_ARGS) {
    const uint32_t *pc = ex_src(w, i->c), *pe = ex_src(w, i->e);
    uint32_t bits = i->dw == 8 ? 64 : 32;
    for (uint32_t m = mask; m; m &= m - 1) {
        unsigned l = (unsigned)__builtin_ctz(m);
        uint64_t a = ex_lane(w, i->a, i->dw, l), b = ex_lane(w, i->b, i->dw, l);
        uint32_t pos = pc[l] & 0xffu, len = pe[l] & 0xffu;
        if (pos < bits) {
            uint64_t field = bit_mask(len) << pos;
            b = (b & ~field) | ((a << pos) & field);
        }
        ex_set_lane(w, i->d, i->dw, l, b);
    }
}

/* bfind: position of the highest bit that differs from the sign; -1 if none. */
static void bfind(EX_ARGS) {
    uint32_t *d = ex_dst(w, i->d), bits = i->aw == 8 ? 64 : 32;
    bool is_signed = i->type == PTX_T_S32 || i->type == PTX_T_S64;
    for (uint32_t m = mask; m; m &= m - 1) {
        unsigned l = (unsigned)__builtin_ctz(m);
        uint64_t a = ex_lane(w, i->a, i->aw, l);
        if (is_signed && (a >> (bits - 1)) & 1u) a = ~a & bit_mask(bits);
        uint32_t at = a ? 63u - (uint32_t)__builtin_clzll(a) : UINT32_MAX;
        if (a && i->mods & PTX_M_SHIFTAMT) at = bits - 1 - at;
        d[l] = at;
    }
}

static void count(EX_ARGS) {
    uint32_t *d = ex_dst(w, i->d), bits = i->aw == 8 ? 64 : 32;
    for (uint32_t m = mask; m; m &= m - 1) {
        unsigned l = (unsigned)__builtin_ctz(m);
        uint64_t a = ex_lane(w, i->a, i->aw, l);
        if (i->op == PTX_POPC)
            d[l] = (uint32_t)__builtin_popcountll(a);
        else
            d[l] = a ? (uint32_t)__builtin_clzll(a) - (64 - bits) : bits;
    }
}

static void brev(EX_ARGS) {
    for (uint32_t m = mask; m; m &= m - 1) {
        unsigned l = (unsigned)__builtin_ctz(m);
        uint64_t a = ex_lane(w, i->a, i->dw, l), v = 0;
        uint32_t bits = i->dw == 8 ? 64 : 32;
        for (uint32_t n = 0; n < bits; n++) v |= ((a >> n) & 1u) << (bits - 1 - n);
        ex_set_lane(w, i->d, i->dw, l, v);
    }
}

/* bmsk: b ones from bit a; clamp limits both to 32, wrap takes them modulo 32. */
static void bmsk(EX_ARGS) {
    const uint32_t *a = ex_src(w, i->a), *b = ex_src(w, i->b);
    uint32_t *d = ex_dst(w, i->d);
    bool wrap = (i->mods & PTX_M_WRAP) != 0;
    for (uint32_t m = mask; m; m &= m - 1) {
        unsigned l = (unsigned)__builtin_ctz(m);
        uint32_t pos = wrap ? a[l] & 31u : a[l] < 32 ? a[l] : 32, n = wrap ? b[l] & 31u : b[l] < 32 ? b[l] : 32;
        d[l] = (uint32_t)(bit_mask(n) << pos);
    }
}

/* szext: sign- or zero-extends the low b bits. */
static void szext(EX_ARGS) {
    const uint32_t *a = ex_src(w, i->a), *b = ex_src(w, i->b);
    uint32_t *d = ex_dst(w, i->d);
    bool wrap = (i->mods & PTX_M_WRAP) != 0;
    for (uint32_t m = mask; m; m &= m - 1) {
        unsigned l = (unsigned)__builtin_ctz(m);
        uint32_t n = wrap ? b[l] & 31u : b[l] < 32 ? b[l] : 32;
        uint32_t v = a[l] & (uint32_t)bit_mask(n);
        if (i->type == PTX_T_S32 && n && (a[l] >> (n - 1)) & 1u) v |= ~(uint32_t)bit_mask(n);
        d[l] = v;
    }
}

static uint32_t permute(uint32_t a, uint32_t b, uint32_t selector) {
    uint64_t bytes = (uint64_t)b << 32 | a;
    uint32_t v = 0;
    for (unsigned n = 0; n < 4; n++) {
        uint32_t s = (selector >> (4 * n)) & 0xfu, byte = (uint32_t)(bytes >> (8 * (s & 7u))) & 0xffu;
        if (s & 8u) byte = byte & 0x80u ? 0xffu : 0;
        v |= byte << (8 * n);
    }
    return v;
}

/* Selectors of the named modes, by the low two bits of c (PTX ISA, prmt). */
static uint32_t mode_selector(uint8_t mode, uint32_t c) {
    static const uint16_t f4e[] = {0x3210, 0x4321, 0x5432, 0x6543}, b4e[] = {0x5670, 0x6701, 0x7012, 0x0123};
    static const uint16_t rc8[] = {0x0000, 0x1111, 0x2222, 0x3333}, ecl[] = {0x3210, 0x3211, 0x3222, 0x3333};
    static const uint16_t ecr[] = {0x0000, 0x1110, 0x2210, 0x3210}, rc16[] = {0x1010, 0x3232, 0x1010, 0x3232};
    switch (mode) {
    case PTX_SUB_F4E:
        return f4e[c & 3u];
    case PTX_SUB_B4E:
        return b4e[c & 3u];
    case PTX_SUB_RC8:
        return rc8[c & 3u];
    case PTX_SUB_ECL:
        return ecl[c & 3u];
    case PTX_SUB_ECR:
        return ecr[c & 3u];
    case PTX_SUB_RC16:
        return rc16[c & 3u];
    default:
        return c;
    }
}

static void prmt(EX_ARGS) {
    const uint32_t *a = ex_src(w, i->a), *b = ex_src(w, i->b), *c = ex_src(w, i->c);
    uint32_t *d = ex_dst(w, i->d);
    for (uint32_t m = mask; m; m &= m - 1) {
        unsigned l = (unsigned)__builtin_ctz(m);
        /* b4e walks down from byte c: modulo 8 over the pair */
        d[l] = permute(a[l], b[l], mode_selector(i->sub, c[l]));
    }
}

/* fns: position of the n-th set bit from `base`, upwards for n > 0, downwards for n < 0. */
static uint32_t find_nth(uint32_t bits, uint32_t base, int32_t n) {
    if (n == 0) return base < 32 && (bits >> base) & 1u ? base : UINT32_MAX;
    int step = n > 0 ? 1 : -1;
    uint32_t left = n > 0 ? (uint32_t)n : 0u - (uint32_t)n;
    for (int at = (int)(base & 31u); at >= 0 && at < 32; at += step)
        if ((bits >> at) & 1u && --left == 0) return (uint32_t)at;
    return UINT32_MAX;
}

static void fns(EX_ARGS) {
    const uint32_t *a = ex_src(w, i->a), *b = ex_src(w, i->b), *c = ex_src(w, i->c);
    uint32_t *d = ex_dst(w, i->d);
    for (uint32_t m = mask; m; m &= m - 1) {
        unsigned l = (unsigned)__builtin_ctz(m);
        d[l] = find_nth(a[l], b[l], (int32_t)c[l]);
    }
}

EX_PICK(shl, ex_of_type(shl_table, i->type))
EX_PICK(shr, ex_of_type(shr_table, i->type))
EX_PICK(shf, shf)
EX_PICK(bfe, ex_of_word(bfe, i->type))
EX_PICK(bfi, ex_of_word(bfi, i->type))
EX_PICK(bfind, ex_of_word(bfind, i->type))
EX_PICK(count, ex_of_word(count, i->type))
EX_PICK(brev, ex_of_word(brev, i->type))
EX_PICK(bmsk, bmsk)
EX_PICK(szext, szext)
EX_PICK(prmt, prmt)
EX_PICK(fns, fns)
