/* exec_logic.c: and, or, xor, not, cnot, lop3, on registers and predicates. */
#include "exec_types.h"

#define and_EXPR(x, y, T, U, S, W, bits) ((x) & (y))
#define or_EXPR(x, y, T, U, S, W, bits) ((x) | (y))
#define xor_EXPR(x, y, T, U, S, W, bits) ((x) ^ (y))
#define not_EXPR(x, T, U, S, W, bits) (~(x))
#define cnot_EXPR(x, T, U, S, W, bits) ((x) == 0)

EX_INT6(EX_BINARY, and)
EX_INT6(EX_BINARY, or)
EX_INT6(EX_BINARY, xor)
EX_INT6(EX_UNARY, not )
EX_INT6(EX_UNARY, cnot)
EX_TABLE(and)
EX_TABLE(or)
EX_TABLE(xor)
EX_TABLE(not )
EX_TABLE(cnot)

static void pred_and(EX_ARGS) {
    ex_set_pred(w, i->d, ex_pred(w, i, i->a, 0) & ex_pred(w, i, i->b, 1), mask);
}
static void pred_or(EX_ARGS) {
    ex_set_pred(w, i->d, ex_pred(w, i, i->a, 0) | ex_pred(w, i, i->b, 1), mask);
}
static void pred_xor(EX_ARGS) {
    ex_set_pred(w, i->d, ex_pred(w, i, i->a, 0) ^ ex_pred(w, i, i->b, 1), mask);
}
static void pred_not(EX_ARGS) {
    ex_set_pred(w, i->d, ~ex_pred(w, i, i->a, 0), mask);
}

/* lop3: bit n of the table imm is the result for (a, b, c) = the bits of n, a the highest. */
static uint32_t lop3_value(uint32_t a, uint32_t b, uint32_t c, uint32_t table) {
    uint32_t v = 0;
    for (uint32_t n = 0; n < 8; n++)
        if ((table >> n) & 1u) v |= (n & 4u ? a : ~a) & (n & 2u ? b : ~b) & (n & 1u ? c : ~c);
    return v;
}

static void lop3(EX_ARGS) {
    const uint32_t *a = ex_src(w, i->a), *b = ex_src(w, i->b), *c = ex_src(w, i->c);
    uint32_t *d = ex_dst(w, i->d), table = (uint32_t)i->imm, nonzero = 0;
    for (uint32_t m = mask; m; m &= m - 1) {
        unsigned l = (unsigned)__builtin_ctz(m);
        d[l] = lop3_value(a[l], b[l], c[l], table);
        nonzero |= (uint32_t)(d[l] != 0) << l;
    }
    if (i->d2 == EX_NO_SLOT) return;
    uint32_t q = ex_pred(w, i, i->e, 3);
    ex_set_pred(w, i->d2, i->boolop == PTX_B_OR ? nonzero | q : nonzero & q, mask);
}

static ex_fn pick(const struct ex_inst *i, ex_fn of_predicates, const ex_fn table[6]) {
    return i->type == PTX_T_PRED ? of_predicates : ex_of_type(table, i->type);
}

EX_PICK(and, pick(i, pred_and, and_table))
EX_PICK(or, pick(i, pred_or, or_table))
EX_PICK(xor, pick(i, pred_xor, xor_table))
EX_PICK(not, pick(i, pred_not, not_table))
EX_PICK(cnot, ex_of_type(cnot_table, i->type))
EX_PICK(lop3, i->type == PTX_T_PRED || ex_int6(i->type) >= 0 ? lop3 : NULL)
