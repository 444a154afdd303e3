/* alu_compare.c: comparison of integers. */
#include "alu.h"

#define COMPARE(name, OP)                                                                                      \
    ALU_INLINE void name(SX_ARGS) {                                                                            \
        const uint32_t *a = sx_src(w, i->a), *b = sx_src(w, i->b);                                             \
        uint32_t top = i->type ? 0x80000000u : 0, r, other = sx_ps(w, i, 0);                                   \
        ALU_MASK(r, out = (int32_t)(a[l] ^ top) OP(int32_t)(b[l] ^ top););                                     \
        sx_set_pred(w, i->pd[0], alu_combine(i->boolop, r, other), mask);                                      \
        if (i->pd[1] != SX_SINK) sx_set_pred(w, i->pd[1], alu_combine(i->boolop, ~r, other), mask);            \
    }                                                                                                          \
    ALU_PAIR(name)
COMPARE(set_lt, <)
COMPARE(set_eq, ==)
COMPARE(set_le, <=)
COMPARE(set_gt, >)
COMPARE(set_ne, !=)
COMPARE(set_ge, >=)

/* F and T, and the comparison of upper words: of equal ones the lower words' result (PS2) decides. */
ALU_INLINE uint32_t holds(uint8_t cmp, uint32_t less, uint32_t equal) {
    uint32_t r = cmp == SASS_CMP_T ? UINT32_MAX : 0;
    if (cmp == SASS_CMP_LT || cmp == SASS_CMP_LE) r = less;
    if (cmp == SASS_CMP_GT || cmp == SASS_CMP_GE) r = ~less & ~equal;
    if (cmp == SASS_CMP_NE) r = ~equal;
    return r;
}

ALU_INLINE void set_extended(SX_ARGS) {
    const uint32_t *a = sx_src(w, i->a), *b = sx_src(w, i->b);
    uint32_t top = i->type ? 0x80000000u : 0, less, equal, other = sx_ps(w, i, 0),
             low = i->sub ? sx_ps(w, i, 1) : 0;
    ALU_MASK(less, out = (int32_t)(a[l] ^ top) < (int32_t)(b[l] ^ top););
    ALU_MASK(equal, out = a[l] == b[l];);
    uint32_t r = holds(i->cmp, less, equal);
    if (i->sub) r = (equal & low) | (~equal & r);
    sx_set_pred(w, i->pd[0], alu_combine(i->boolop, r, other), mask);
    sx_set_pred(w, i->pd[1], alu_combine(i->boolop, ~r, other), mask);
}
ALU_PAIR(set_extended)

static sx_fn function(uint8_t cmp) {
    switch (cmp) {
    case SASS_CMP_LT:
        return ALU_FN(set_lt);
    case SASS_CMP_EQ:
        return ALU_FN(set_eq);
    case SASS_CMP_LE:
        return ALU_FN(set_le);
    case SASS_CMP_GT:
        return ALU_FN(set_gt);
    case SASS_CMP_NE:
        return ALU_FN(set_ne);
    case SASS_CMP_GE:
        return ALU_FN(set_ge);
    default:
        return ALU_FN(set_extended);
    }
}

bool ww_sx_alu_compare(struct sx_builder *b, const struct ww_sass_insn *in, struct sx_inst *i) {
    if (in->op != SASS_ISETP && in->op != SASS_UISETP) return false;
    alu_operands(b, in, i, 0, 1, 1, 1);
    alu_predicates(b, in, i);
    i->type = !in->mod[SASS_M_SIGNED]; /* unsigned numbers are compared with their top bits flipped */
    i->cmp = in->mod[SASS_M_CMP];
    i->boolop = in->mod[SASS_M_BOOL];
    i->sub = in->mod[SASS_M_X];
    i->fn = i->sub ? ALU_FN(set_extended) : function(i->cmp);
    return !i->neg;
}
