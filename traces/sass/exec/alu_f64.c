/* alu_f64.c: double precision arithmetic and comparison. A double is two rows. */
#include "alu.h"

struct source {
    const uint32_t *row;
    uint64_t keep, flip;
};
ALU_INLINE struct source source(struct sx_warp *w, const struct sx_inst *i, unsigned n) {
    uint32_t slot = n == 0 ? i->a : n == 1 ? i->b : i->c;
    uint64_t top = (uint64_t)1 << 63;
    return (struct source){sx_src(w, slot), i->abs >> n & 1u ? ~top : UINT64_MAX, i->neg >> n & 1u ? top : 0};
}
ALU_INLINE double load(const struct source *s, unsigned l) {
    return ex_f64((sx_get64(s->row, l) & s->keep) ^ s->flip);
}

#define ARITHMETIC(name, EXPR)                                                                                 \
    ALU_INLINE void name##_near(SX_ARGS) {                                                                     \
        const struct source a = source(w, i, 0), b = source(w, i, 1), c = source(w, i, 2);                     \
        (void)c;                                                                                               \
        ALU_ROW2(i->d, double x = load(&a, l); double y = load(&b, l); out = ex_f64_bits(EXPR););              \
    }                                                                                                          \
    ALU_PAIR(name##_near)                                                                                      \
    ALU_INLINE void name##_round(SX_ARGS) {                                                                    \
        int old = ww_ex_set_round(i->round);                                                                   \
        name##_near(w, i, mask);                                                                               \
        ww_ex_restore_round(old);                                                                              \
    }                                                                                                          \
    ALU_PAIR(name##_round)
ARITHMETIC(dadd, x + y)
ARITHMETIC(dmul, x *y)
ARITHMETIC(dfma, __builtin_fma(x, y, load(&c, l)))

/* DSETP with MIN and MAX: PD, whether A is it; PD2, whether none is (both are
 * NaN). */
static void minmax(SX_ARGS) {
    const struct source a = source(w, i, 0), b = source(w, i, 1);
    uint32_t first = 0, none = 0;
    bool least = i->cmp == SASS_CMP_MIN;
    for (unsigned l = 0; l < SX_LANES; l++) {
        double x = load(&a, l), y = load(&b, l);
        bool take = isnan(y) || (!isnan(x) && (x == y ? (signbit(x) != 0) == least : (x < y) == least));
        first |= (uint32_t)take << l;
        none |= (uint32_t)(isnan(x) && isnan(y)) << l;
    }
    uint32_t other = sx_ps(w, i, 0);
    sx_set_pred(w, i->pd[0], alu_combine(i->boolop, first, other), mask);
    sx_set_pred(w, i->pd[1], alu_combine(i->boolop, none, other), mask);
}

static void dsetp(SX_ARGS) {
    const struct source a = source(w, i, 0), b = source(w, i, 1);
    uint32_t less, equal, nan, other = sx_ps(w, i, 0);
    ALU_MASK(less, out = load(&a, l) < load(&b, l););
    ALU_MASK(equal, out = load(&a, l) == load(&b, l););
    ALU_MASK(nan, double x = load(&a, l); double y = load(&b, l); out = x != x || y != y;);
    uint32_t r = ww_sx_alu_holds(i->cmp, less, equal, nan);
    sx_set_pred(w, i->pd[0], alu_combine(i->boolop, r, other), mask);
    sx_set_pred(w, i->pd[1], alu_combine(i->boolop, ~r, other), mask);
}

static sx_fn function(unsigned op, bool near) {
    switch (op) {
    case SASS_DADD:
        return near ? ALU_FN(dadd_near) : ALU_FN(dadd_round);
    case SASS_DMUL:
        return near ? ALU_FN(dmul_near) : ALU_FN(dmul_round);
    default:
        return near ? ALU_FN(dfma_near) : ALU_FN(dfma_round);
    }
}

bool ww_sx_alu_f64(struct sx_builder *b, const struct ww_sass_insn *in, struct sx_inst *i) {
    switch (in->op) {
    case SASS_DADD:
    case SASS_DMUL:
    case SASS_DFMA:
        alu_operands(b, in, i, 2, 2, 2, 2);
        i->round = ww_sx_alu_round(in->mod[SASS_M_RND]);
        i->fn = function(in->op, i->round == PTX_R_RN);
        return true;
    case SASS_DSETP:
        alu_operands(b, in, i, 0, 2, 2, 2);
        alu_predicates(b, in, i);
        i->cmp = in->mod[SASS_M_CMP];
        i->boolop = in->mod[SASS_M_BOOL];
        i->fn = i->cmp == SASS_CMP_MIN || i->cmp == SASS_CMP_MAX ? minmax : dsetp;
        return true;
    default:
        return false;
    }
}
