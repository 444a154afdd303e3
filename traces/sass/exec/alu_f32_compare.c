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

ALU_INLINE float load(const uint32_t *row, uint32_t keep, uint32_t flip, bool ftz, unsigned l) {
    return ex_f32(ex_flush((row[l] & keep) ^ flip, ftz));
}

ALU_INLINE uint32_t compare(struct sx_warp *w, const struct sx_inst *i) {
    const uint32_t *a = sx_src(w, i->a), *b = sx_src(w, i->b);
    uint32_t ka = alu_keep(i, 0), fa = alu_flip(i, 0), kb = alu_keep(i, 1), fb = alu_flip(i, 1), less, equal,
             nan;
    bool ftz = i->sub != 0;
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
    bool ftz = i->sub != 0;
    ALU_ROW(i->d, out = ex_flush(take & alu_bit[l] ? (a[l] & ka) ^ fa : (b[l] & kb) ^ fb, ftz););
}
ALU_PAIR(fsel)

enum { MM_FTZ = 1, MM_NAN = 2, MM_XORSIGN = 4 };

/* A number wins over a NaN unless NAN; -0 is below +0. Numbers order as their bits do, negative ones turned
 * over. */
ALU_INLINE uint32_t ordered(uint32_t v) {
    return v ^ ((0u - (v >> 31)) | 0x80000000u);
}
ALU_INLINE uint32_t minmax_lane(uint32_t x, uint32_t y, bool least, uint32_t mods) {
    uint32_t sign = mods & MM_XORSIGN ? (x ^ y) & 0x80000000u : 0;
    if (mods & MM_XORSIGN) x &= 0x7fffffffu, y &= 0x7fffffffu;
    bool nx = (x & 0x7fffffffu) > 0x7f800000u, ny = (y & 0x7fffffffu) > 0x7f800000u;
    uint32_t less = ordered(x) < ordered(y) ? x : y, more = ordered(x) < ordered(y) ? y : x;
    uint32_t r = (least ? less : more) | sign;
    r = nx ? y | sign : ny ? x | sign : r;
    return (nx && ny) || ((mods & MM_NAN) && (nx || ny)) ? 0x7fffffffu : r;
}
ALU_INLINE void fmnmx(SX_ARGS) {
    const uint32_t *a = sx_src(w, i->a), *b = sx_src(w, i->b);
    uint32_t ka = alu_keep(i, 0), fa = alu_flip(i, 0), kb = alu_keep(i, 1), fb = alu_flip(i, 1);
    uint32_t least = sx_ps(w, i, 0), mods = i->mods;
    if (mods & MM_XORSIGN) ka = kb = UINT32_MAX; /* magnitudes are taken anyway, signs are needed */
    ALU_ROW(i->d, uint32_t x = ex_flush((a[l] & ka) ^ fa, mods & MM_FTZ);
            uint32_t y = ex_flush((b[l] & kb) ^ fb, mods & MM_FTZ);
            out = minmax_lane(x, y, (least & alu_bit[l]) != 0, mods););
}
ALU_PAIR(fmnmx)

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
