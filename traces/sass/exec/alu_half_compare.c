/* alu_half_compare.c: comparison, minimum and maximum of packed halves. */
#include "alu_half.h"

enum { MOD_FTZ = 1, MOD_NAN = 2, MOD_XORSIGN = 4 };

/* Lanes for which the comparison of the lower or upper numbers holds. */
static uint32_t compare(struct sx_warp *w, const struct sx_inst *i, bool high) {
    const struct alu_half a = alu_half_source(w, i, 0), b = alu_half_source(w, i, 1);
    uint32_t less = 0, equal = 0, nan = 0;
    for (unsigned l = 0; l < SX_LANES; l++) {
        float x = alu_half_get(&a, l, high), y = alu_half_get(&b, l, high);
        less |= x < y ? alu_bit[l] : 0;
        equal |= x == y ? alu_bit[l] : 0;
        nan |= x != x || y != y ? alu_bit[l] : 0;
    }
    return ww_sx_alu_holds(i->cmp, less, equal, nan);
}

/* PD of the lower numbers, PD2 of the upper ones; H_AND: PD of both, PD2 of not both. */
static void hsetp2(SX_ARGS) {
    uint32_t low = compare(w, i, false), high = compare(w, i, true), other = sx_ps(w, i, 0);
    if (i->sub) low &= high, high = ~low;
    sx_set_pred(w, i->pd[0], alu_combine(i->boolop, low, other), mask);
    sx_set_pred(w, i->pd[1], alu_combine(i->boolop, high, other), mask);
}

static void hset2(SX_ARGS) {
    uint32_t other = sx_ps(w, i, 0), yes = (uint32_t)i->imm;
    uint32_t low = alu_combine(i->boolop, compare(w, i, false), other);
    uint32_t high = alu_combine(i->boolop, compare(w, i, true), other);
    ALU_ROW(i->d, out = (low & alu_bit[l] ? yes : 0) | (high & alu_bit[l] ? yes << 16 : 0););
}

static uint32_t minmax(const struct alu_half *a, const struct alu_half *b, unsigned l, bool high, bool least,
                       uint32_t mods) {
    uint32_t p = ((a->row[l] >> (high ? a->high : a->low)) & a->keep) ^ a->flip;
    uint32_t q = ((b->row[l] >> (high ? b->high : b->low)) & b->keep) ^ b->flip, sign = 0;
    if (mods & MOD_XORSIGN) {
        sign = ((a->row[l] >> (high ? a->high : a->low)) ^ (b->row[l] >> (high ? b->high : b->low))) & 0x8000u;
        p &= 0x7fffu, q &= 0x7fffu;
    }
    if (mods & MOD_FTZ) {
        p = (p & 0x7c00u) == 0 ? p & 0x8000u : p;
        q = (q & 0x7c00u) == 0 ? q & 0x8000u : q;
    }
    uint32_t infinite = a->bf16 ? 0x7f80u : 0x7c00u;
    bool np = (p & 0x7fffu) > infinite, nq = (q & 0x7fffu) > infinite;
    if ((np && nq) || ((np || nq) && mods & MOD_NAN)) return 0x7fff;
    if (np || nq) return (np ? q : p) | sign;
    uint32_t op = p & 0x8000u ? 0xffffu ^ p : p | 0x8000u, oq = q & 0x8000u ? 0xffffu ^ q : q | 0x8000u;
    return ((op < oq) == least ? p : q) | sign;
}

static void hmnmx2(SX_ARGS) {
    const struct alu_half a = alu_half_source(w, i, 0), b = alu_half_source(w, i, 1);
    uint32_t *d = sx_dst(w, i->d), least = sx_ps(w, i, 0);
    for (uint32_t m = mask; m; m &= m - 1) {
        unsigned l = (unsigned)__builtin_ctz(m);
        bool low = least >> l & 1u;
        d[l] = minmax(&a, &b, l, false, low, i->mods) | minmax(&a, &b, l, true, low, i->mods) << 16;
    }
}

bool ww_sx_alu_half_compare(struct sx_builder *b, const struct ww_sass_insn *in, struct sx_inst *i) {
    switch (in->op) {
    case SASS_HSETP2:
        i->fn = hsetp2;
        break;
    case SASS_HSET2:
        i->fn = hset2;
        break;
    case SASS_HMNMX2:
        i->fn = hmnmx2;
        break;
    default:
        return false;
    }
    alu_operands(b, in, i, in->opd[SASS_D].kind != SASS_K_NONE ? 1 : 0, 1, 1, 1);
    alu_half_operands(in, i);
    alu_predicates(b, in, i);
    i->cmp = in->mod[SASS_M_CMP];
    i->boolop = in->mod[SASS_M_BOOL];
    i->sub = in->mod[SASS_M_H_AND];
    i->imm = !in->mod[SASS_M_BF] ? 0xffff : i->type == SASS_T_BF16 ? 0x3f80 : 0x3c00;
    i->mods = (in->mod[SASS_M_FTZ] ? MOD_FTZ : 0u) | (in->mod[SASS_M_NAN] ? MOD_NAN : 0u) |
              (in->mod[SASS_M_XORSIGN] ? MOD_XORSIGN : 0u);
    return true;
}
