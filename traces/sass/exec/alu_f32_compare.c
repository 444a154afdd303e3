/* alu_f32_compare.c: comparison and selection of single precision numbers. */
#include "alu.h"

/* The comparison from the three masks of lanes: less, equal, not comparable. */
uint32_t ww_sx_alu_holds(uint8_t cmp, uint32_t less, uint32_t equal, uint32_t nan) {
    uint32_t greater = ~(less | equal | nan), r = 0;
    uint8_t ordered = cmp & 7;
    if (cmp == SASS_CMP_F) return 0;
    if (cmp == SASS_CMP_T) return UINT32_MAX;
    if (cmp == SASS_CMP_NUM) return ~nan;
    if (cmp == SASS_CMP_NAN) return nan;
    if (ordered & SASS_CMP_LT) r |= less;
    if (ordered & SASS_CMP_EQ) r |= equal;
    if (ordered & SASS_CMP_GT) r |= greater;
    return cmp & 8 ? r | nan : r & ~nan;
}

ALU_INLINE float load(const uint32_t *row, uint32_t keep, uint32_t flip, uint32_t ftz, unsigned l) {
    return ex_f32(alu_flush((row[l] & keep) ^ flip, ftz));
}

ALU_INLINE uint32_t compare(struct sx_warp *w, const struct sx_inst *i) {
    const uint32_t *a = sx_src(w, i->a), *b = sx_src(w, i->b);
    uint32_t ka = alu_keep(i, 0), fa = alu_flip(i, 0), kb = alu_keep(i, 1), fb = alu_flip(i, 1), less, equal,
             nan;
    uint32_t ftz = i->sub ? UINT32_MAX : 0;
    ALU_MASK(less, out = load(a, ka, fa, ftz, l) < load(b, kb, fb, ftz, l););
    ALU_MASK(equal, out = load(a, ka, fa, ftz, l) == load(b, kb, fb, ftz, l););
    ALU_MASK(nan, float x = load(a, ka, fa, ftz, l); float y = load(b, kb, fb, ftz, l);
             out = x != x || y != y;);
    return ww_sx_alu_holds(i->cmp, less, equal, nan);
}

ALU_INLINE void fsetp(SX_ARGS) {
    uint32_t r = compare(w, i), other = sx_ps(w, i, 0);
    sx_set_pred(w, i->pd[0], alu_combine(i->boolop, r, other), mask);
    if (i->pd[1] != SX_SINK) sx_set_pred(w, i->pd[1], alu_combine(i->boolop, ~r, other), mask);
}
ALU_PAIR(fsetp)

/* 1.0 (BF) or all ones where the comparison holds. */
ALU_INLINE void fset(SX_ARGS) {
    uint32_t r = alu_combine(i->boolop, compare(w, i), sx_ps(w, i, 0)), yes = (uint32_t)i->imm;
    ALU_ROW(i->d, out = r & alu_bit[l] ? yes : 0;);
}
ALU_PAIR(fset)

ALU_INLINE void fsel(SX_ARGS) {
    const uint32_t *a = sx_src(w, i->a), *b = sx_src(w, i->b);
    uint32_t ka = alu_keep(i, 0), fa = alu_flip(i, 0), kb = alu_keep(i, 1), fb = alu_flip(i, 1);
    uint32_t take = sx_ps(w, i, 0);
    uint32_t ftz = i->sub ? UINT32_MAX : 0;
    ALU_ROW(i->d, out = alu_flush(take & alu_bit[l] ? (a[l] & ka) ^ fa : (b[l] & kb) ^ fb, ftz););
}
ALU_PAIR(fsel)

enum { MM_FTZ = 1, MM_NAN = 2, MM_XORSIGN = 4 };

/* A number wins over a NaN unless NAN; -0 is below +0. Numbers order as their bits do, negative ones turned
 * over. */
ALU_INLINE uint32_t ordered(uint32_t v) {
    return v ^ ((0u - (v >> 31)) | 0x80000000u);
}
ALU_INLINE uint32_t minmax_lane(uint32_t x, uint32_t y, uint32_t least, uint32_t sign, bool strict) {
    bool nx = (x & 0x7fffffffu) > 0x7f800000u, ny = (y & 0x7fffffffu) > 0x7f800000u;
    bool less = ordered(x) < ordered(y);
    uint32_t low = less ? x : y, high = less ? y : x, r = least ? low : high;
    r = ny ? x : r;
    r = nx ? y : r;
    return (nx & ny) | (strict & (nx | ny)) ? 0x7fffffffu : r | sign;
}
ALU_INLINE void fmnmx(SX_ARGS) {
    const uint32_t *a = sx_src(w, i->a), *b = sx_src(w, i->b);
    uint32_t ka = alu_keep(i, 0), fa = alu_flip(i, 0), kb = alu_keep(i, 1), fb = alu_flip(i, 1);
    uint32_t least = sx_ps(w, i, 0), ftz = i->mods & MM_FTZ ? UINT32_MAX : 0;
    bool strict = (i->mods & MM_NAN) != 0;
    if (i->mods & MM_XORSIGN)
        ALU_ROW(i->d, uint32_t x = a[l] ^ fa; uint32_t y = b[l] ^ fb; uint32_t sign = (x ^ y) & 0x80000000u;
                out = minmax_lane(alu_flush(x & 0x7fffffffu, ftz), alu_flush(y & 0x7fffffffu, ftz),
                                  least & alu_bit[l], sign, strict););
    else
        ALU_ROW(i->d, uint32_t x = alu_flush((a[l] & ka) ^ fa, ftz);
                uint32_t y = alu_flush((b[l] & kb) ^ fb, ftz);
                out = minmax_lane(x, y, least & alu_bit[l], 0, strict););
}
ALU_PAIR(fmnmx)

/* Of three. */
ALU_INLINE void fmnmx3(SX_ARGS) {
    const uint32_t *a = sx_src(w, i->a), *b = sx_src(w, i->b), *c = sx_src(w, i->c);
    uint32_t ka = alu_keep(i, 0), fa = alu_flip(i, 0), kb = alu_keep(i, 1), fb = alu_flip(i, 1),
             kc = alu_keep(i, 2), fc = alu_flip(i, 2);
    uint32_t least = sx_ps(w, i, 0), ftz = i->mods & MM_FTZ ? UINT32_MAX : 0;
    bool strict = (i->mods & MM_NAN) != 0;
    ALU_ROW(i->d, uint32_t x = alu_flush((a[l] & ka) ^ fa, ftz); uint32_t y = alu_flush((b[l] & kb) ^ fb, ftz);
            uint32_t z = alu_flush((c[l] & kc) ^ fc, ftz); x = minmax_lane(x, y, least & alu_bit[l], 0, strict);
            out = minmax_lane(x, z, least & alu_bit[l], 0, strict););
}
ALU_PAIR(fmnmx3)

/* Whether a / b needs more than the inline sequence of a reciprocal and fused multiply-adds: an operand that is
 * zero, subnormal, infinite or no number, a reciprocal or a quotient that leaves the range of normal numbers, a
 * remainder that would lose bits. The exact limits of the hardware are not published. */
static bool needs_slow_division(uint32_t a, uint32_t b) {
    int ea = (int)(a >> 23 & 255u), eb = (int)(b >> 23 & 255u);
    if (ea == 255 || eb == 0 || eb >= 253) return true;
    return ea <= 24 || ea - eb > 125 || ea - eb < -124;
}
static void fchk(SX_ARGS) {
    const uint32_t *a = sx_src(w, i->a), *b = sx_src(w, i->b);
    uint32_t r;
    ALU_MASK(r, out = needs_slow_division(a[l], b[l]););
    sx_set_pred(w, i->pd[0], r, mask);
}

bool ww_sx_alu_f32_compare(struct sx_builder *b, const struct ww_sass_insn *in, struct sx_inst *i) {
    switch (in->op) {
    case SASS_FSETP:
    case SASS_UFSETP:
        i->fn = ALU_FN(fsetp);
        break;
    case SASS_FSET:
    case SASS_UFSET:
        i->fn = ALU_FN(fset);
        break;
    case SASS_FSEL:
    case SASS_UFSEL:
        i->fn = ALU_FN(fsel);
        break;
    case SASS_FMNMX:
    case SASS_UFMNMX:
        i->fn = ALU_FN(fmnmx);
        break;
    case SASS_FMNMX3:
        i->fn = ALU_FN(fmnmx3);
        break;
    case SASS_FCHK:
        i->fn = fchk;
        break;
    default:
        return false;
    }
    bool has_result = in->opd[SASS_D].kind != SASS_K_NONE;
    alu_operands(b, in, i, has_result ? 1 : 0, 1, 1, 1);
    alu_predicates(b, in, i);
    i->cmp = in->mod[SASS_M_CMP];
    i->boolop = in->mod[SASS_M_BOOL];
    i->sub = in->mod[SASS_M_FTZ];
    i->imm = in->mod[SASS_M_BF] ? 0x3f800000 : 0xffffffff;
    i->mods = (in->mod[SASS_M_FTZ] ? MM_FTZ : 0u) | (in->mod[SASS_M_NAN] ? MM_NAN : 0u) |
              (in->mod[SASS_M_XORSIGN] ? MM_XORSIGN : 0u);
    return true;
}
