/* alu_wide.c: moves, additions, comparisons and extremes of integers of 64 bits, which sm_120 (some: sm_80)
 * has. */
#include "alu.h"

/* ---- one lane ---- */

ALU_INLINE uint64_t wide_neg(const struct sx_inst *i, unsigned n) {
    return (uint64_t)0 - (uint64_t)((i->neg >> n) & 1u);
}

ALU_INLINE void wide_mov(SX_ARGS) {
    const uint32_t *a = sx_src(w, i->a);
    ALU_ROW2(i->d, out = sx_get64(a, l););
}
ALU_PAIR(wide_mov)

ALU_INLINE void wide_sel(SX_ARGS) {
    const uint32_t *a = sx_src(w, i->a), *b = sx_src(w, i->b);
    uint32_t take = sx_ps(w, i, 0);
    ALU_ROW2(i->d, out = take & alu_bit[l] ? sx_get64(a, l) : sx_get64(b, l););
}
ALU_PAIR(wide_sel)

ALU_INLINE void wide_add(SX_ARGS) {
    const uint32_t *a = sx_src(w, i->a), *b = sx_src(w, i->b), *c = sx_src(w, i->c);
    uint64_t na = wide_neg(i, 0), nb = wide_neg(i, 1), nc = wide_neg(i, 2);
    ALU_ROW2(i->d, uint64_t x = (sx_get64(a, l) ^ na) - na; uint64_t y = (sx_get64(b, l) ^ nb) - nb;
             out = x + y + ((sx_get64(c, l) ^ nc) - nc););
}
ALU_PAIR(wide_add)

/* With carries, of two operands: a negated one is its complement plus 1, with a carry in its complement. */
ALU_INLINE void wide_add_carry(SX_ARGS) {
    const uint32_t *a = sx_src(w, i->a), *b = sx_src(w, i->b);
    uint64_t na = wide_neg(i, 0), nb = wide_neg(i, 1), ones = i->sub ? 0 : (na & 1u) + (nb & 1u);
    uint32_t carry, in = i->sub ? sx_ps(w, i, 0) : 0;
    ALU_MASK(carry, uint64_t x = sx_get64(a, l) ^ na; uint64_t sum = x + (sx_get64(b, l) ^ nb);
             out = (sum < x) | (sum + ones + (in & alu_bit[l] ? 1u : 0u) < sum););
    ALU_ROW2(i->d, out = (sx_get64(a, l) ^ na) + (sx_get64(b, l) ^ nb) + ones + (in & alu_bit[l] ? 1u : 0u););
    sx_set_pred(w, i->pd[0], carry, mask);
}
ALU_PAIR(wide_add_carry)

/* The smaller one where the predicate holds, else the larger one. */
ALU_INLINE void wide_minmax(SX_ARGS) {
    const uint32_t *a = sx_src(w, i->a), *b = sx_src(w, i->b);
    uint64_t top = i->type ? (uint64_t)1 << 63 : 0;
    uint32_t is_min = sx_ps(w, i, 0);
    ALU_ROW2(i->d, uint64_t x = sx_get64(a, l); uint64_t y = sx_get64(b, l); bool less = (x ^ top) < (y ^ top);
             out = less == ((is_min & alu_bit[l]) != 0) ? x : y;);
}
ALU_PAIR(wide_minmax)

static uint32_t wide_holds(uint8_t cmp, uint32_t less, uint32_t equal) {
    switch (cmp) {
    case SASS_CMP_LT:
        return less;
    case SASS_CMP_EQ:
        return equal;
    case SASS_CMP_LE:
        return less | equal;
    case SASS_CMP_GT:
        return ~(less | equal);
    case SASS_CMP_NE:
        return ~equal;
    case SASS_CMP_GE:
        return ~less;
    default:
        return cmp == SASS_CMP_T ? UINT32_MAX : 0;
    }
}

ALU_INLINE void wide_compare(SX_ARGS) {
    const uint32_t *a = sx_src(w, i->a), *b = sx_src(w, i->b);
    uint64_t top = i->type ? (uint64_t)1 << 63 : 0;
    uint32_t less, equal, other = sx_ps(w, i, 0);
    ALU_MASK(less, out = (sx_get64(a, l) ^ top) < (sx_get64(b, l) ^ top););
    ALU_MASK(equal, out = sx_get64(a, l) == sx_get64(b, l););
    uint32_t r = wide_holds(i->cmp, less, equal);
    sx_set_pred(w, i->pd[0], alu_combine(i->boolop, r, other), mask);
    sx_set_pred(w, i->pd[1], alu_combine(i->boolop, ~r, other), mask);
}
ALU_PAIR(wide_compare)

/* ---- building ---- */

/* An immediate of 32 bits is extended by its sign, of unsigned operations too; of SEL a bit says whether. A
 * move's may have all 64. */
static uint32_t wide_source(struct sx_builder *b, const struct ww_sass_insn *in, struct sx_inst *i,
                            enum ww_sass_slot slot, unsigned n) {
    const struct ww_sass_operand *o = &in->opd[slot];
    bool is_move = in->op == SASS_MOV || in->op == SASS_UMOV;
    if (o->kind == SASS_K_NONE) return SX_ZERO;
    if (o->kind == SASS_K_IMM)
        return ww_sx_value(b, (uint64_t)(is_move ? o->imm : (int64_t)(int32_t)o->imm), 2);
    bool complements = (o->flags & SASS_F_NOT) && !in->mod[SASS_M_X];
    if (complements || o->flags & SASS_F_ABS) ww_sx_problem(b, WW_UNSUPPORTED, "an operand of this kind");
    if (o->flags & (SASS_F_NEG | SASS_F_NOT)) i->neg |= (uint8_t)(1u << n);
    return ww_sx_src(b, in, slot, 2);
}

static sx_fn wide_function(const struct ww_sass_insn *in) {
    switch (in->op) {
    case SASS_MOV:
    case SASS_UMOV:
        return ALU_FN(wide_mov);
    case SASS_SEL:
    case SASS_USEL:
        return ALU_FN(wide_sel);
    case SASS_IADD:
    case SASS_UIADD3:
        return ALU_FN(wide_add);
    case SASS_IMNMX:
        return ALU_FN(wide_minmax);
    case SASS_ISETP:
        return ALU_FN(wide_compare);
    default:
        return NULL;
    }
}

bool ww_sx_alu_wide(struct sx_builder *b, const struct ww_sass_insn *in, struct sx_inst *i) {
    sx_fn fn = in->mod[SASS_M_WIDTH64] ? wide_function(in) : NULL;
    bool extended = in->mod[SASS_M_X] != 0;
    if (!fn || (extended && in->op != SASS_IADD)) return false;
    bool is_move = in->op == SASS_MOV || in->op == SASS_UMOV,
         adds = in->op == SASS_IADD || in->op == SASS_UIADD3;
    alu_predicates(b, in, i);
    bool carries = adds && (extended || i->pd[0] != SX_SINK);
    bool carry_in = in->opd[SASS_PS].kind != SASS_K_NONE && !(i->ps[0] == SX_ONES && i->pneg & 1u);
    if (adds &&
        ((carry_in && !extended) || i->pd[1] != SX_SINK || (carries && in->opd[SASS_C].kind != SASS_K_NONE)))
        return false;
    i->d = in->op == SASS_ISETP ? SX_SINK : ww_sx_dst(b, in, SASS_D, 2);
    i->a = wide_source(b, in, i, is_move ? SASS_B : SASS_A, 0);
    i->b = is_move ? SX_ZERO : wide_source(b, in, i, SASS_B, 1);
    i->c = is_move ? SX_ZERO : wide_source(b, in, i, SASS_C, 2);
    i->type = in->mod[SASS_M_SIGNED]; /* top bits are flipped */
    i->sub = extended;
    i->cmp = in->mod[SASS_M_CMP];
    i->boolop = in->mod[SASS_M_BOOL];
    i->fn = carries ? ALU_FN(wide_add_carry) : fn;
    return adds || !i->neg;
}
