/* alu_multiply.c: integer multiplication with addition, dot products. */
#include "alu.h"

/* The low word of A * B + C; C is complemented where it is extended, and the carry added. */
ALU_INLINE void mad_low(SX_ARGS) {
    const uint32_t *a = sx_src(w, i->a), *b = sx_src(w, i->b), *c = sx_src(w, i->c);
    uint32_t product = 0u - ((uint32_t)(i->neg ^ i->neg >> 1) & 1u), nc = alu_neg(i, 2),
             one = i->sub ? 0 : nc & 1u;
    uint32_t in0 = i->sub ? sx_ps(w, i, 0) : 0;
    ALU_ROW(i->d, uint32_t p = ((a[l] * b[l]) ^ product) - product;
            out = p + (c[l] ^ nc) + one + (in0 & alu_bit[l] ? 1u : 0u););
}
ALU_PAIR(mad_low)

ALU_INLINE void mad_plain(SX_ARGS) {
    const uint32_t *a = sx_src(w, i->a), *b = sx_src(w, i->b), *c = sx_src(w, i->c);
    ALU_ROW(i->d, out = a[l] * b[l] + c[l];);
}
ALU_PAIR(mad_plain)

/* A + C: a multiplication by 1. */
ALU_INLINE void mad_add(SX_ARGS) {
    const uint32_t *a = sx_src(w, i->a), *c = sx_src(w, i->c);
    uint32_t nc = alu_neg(i, 2), one = nc & 1u;
    ALU_ROW(i->d, out = a[l] + (c[l] ^ nc) + one;);
}
ALU_PAIR(mad_add)

static bool pick_low(struct sx_builder *b, const struct ww_sass_insn *in, struct sx_inst *i) {
    const struct ww_sass_operand *factor = &in->opd[SASS_B];
    alu_operands(b, in, i, 1, 1, 1, 1);
    alu_predicates(b, in, i);
    i->sub = in->mod[SASS_M_X];
    if (i->sub || i->neg & 3u)
        i->fn = ALU_FN(mad_low);
    else if (i->a == SX_ZERO || (factor->kind == SASS_K_IMM && factor->imm == 1))
        i->fn = ALU_FN(mad_add);
    else
        i->fn = i->neg ? ALU_FN(mad_low) : ALU_FN(mad_plain);
    return i->pd[0] == SX_SINK;
}

/* The product of 64 bits plus the pair C. */
ALU_INLINE void wide_unsigned(SX_ARGS) {
    const uint32_t *a = sx_src(w, i->a), *b = sx_src(w, i->b), *c = sx_src(w, i->c);
    ALU_ROW2(i->d, out = (uint64_t)a[l] * b[l] + sx_get64(c, l););
}
ALU_PAIR(wide_unsigned)

ALU_INLINE void wide_signed(SX_ARGS) {
    const uint32_t *a = sx_src(w, i->a), *b = sx_src(w, i->b), *c = sx_src(w, i->c);
    ALU_ROW2(i->d, out = (uint64_t)((int64_t)(int32_t)a[l] * (int32_t)b[l]) + sx_get64(c, l););
}
ALU_PAIR(wide_signed)

ALU_INLINE void high_unsigned(SX_ARGS) {
    const uint32_t *a = sx_src(w, i->a), *b = sx_src(w, i->b), *c = sx_src(w, i->c);
    ALU_ROW(i->d, out = (uint32_t)(((uint64_t)a[l] * b[l] + sx_get64(c, l)) >> 32););
}
ALU_PAIR(high_unsigned)

/* Every other form: signs, complements, carry in and out of bit 63. */
static uint64_t wide_lane(const struct sx_inst *i, uint32_t a, uint32_t b, uint64_t c, bool carry, bool *over) {
    uint64_t p = i->type ? (uint64_t)((int64_t)(int32_t)a * (int32_t)b) : (uint64_t)a * b;
    if ((i->neg ^ i->neg >> 1) & 1u) p = 0 - p;
    ex_u128 sum = p;
    if (i->neg & 4u) c = ~c;
    sum += c;
    sum += i->sub ? carry : i->neg >> 2 & 1u;
    *over = (sum >> 64) != 0;
    return (uint64_t)sum;
}

static void wide_any(SX_ARGS) {
    const uint32_t *a = sx_src(w, i->a), *b = sx_src(w, i->b), *c = sx_src(w, i->c);
    uint32_t *d = sx_dst(w, i->d), in0 = i->sub ? sx_ps(w, i, 0) : 0, carry = 0;
    for (uint32_t m = mask; m; m &= m - 1) {
        unsigned l = (unsigned)__builtin_ctz(m);
        bool over;
        uint64_t r = wide_lane(i, a[l], b[l], sx_get64(c, l), in0 >> l & 1u, &over);
        carry |= (uint32_t)over << l;
        if (i->shape)
            d[l] = (uint32_t)(r >> 32);
        else
            sx_set64(d, l, r);
    }
    sx_set_pred(w, i->pd[0], carry, mask);
}

static bool pick_wide(struct sx_builder *b, const struct ww_sass_insn *in, struct sx_inst *i, bool high) {
    alu_operands(b, in, i, high ? 1 : 2, 1, 1, 2);
    alu_predicates(b, in, i);
    i->type = in->mod[SASS_M_SIGNED];
    i->sub = in->mod[SASS_M_X];
    i->shape = high;
    bool plain = !i->neg && !i->sub && i->pd[0] == SX_SINK;
    if (!plain || (high && i->type))
        i->fn = wide_any;
    else if (high)
        i->fn = ALU_FN(high_unsigned);
    else
        i->fn = i->type ? ALU_FN(wide_signed) : ALU_FN(wide_unsigned);
    return true;
}

/* ---- dot products ---- */

static int32_t byte_of(uint32_t v, unsigned n, bool is_signed) {
    return is_signed ? (int8_t)(v >> 8 * n) : (uint8_t)(v >> 8 * n);
}
static int32_t half_of(uint32_t v, unsigned n, bool is_signed) {
    return is_signed ? (int16_t)(v >> 16 * n) : (uint16_t)(v >> 16 * n);
}

static uint32_t dot4(uint32_t a, uint32_t b, bool sa, bool sb) {
    uint32_t sum = 0;
    for (unsigned n = 0; n < 4; n++) sum += (uint32_t)(byte_of(a, n, sa) * byte_of(b, n, sb));
    return sum;
}
/* Two halves of A with two bytes of B, the lower or the upper ones. */
static uint32_t dot2(uint32_t a, uint32_t b, bool sa, bool sb, unsigned first) {
    uint32_t sum = 0;
    for (unsigned n = 0; n < 2; n++) sum += (uint32_t)half_of(a, n, sa) * (uint32_t)byte_of(b, first + n, sb);
    return sum;
}

ALU_INLINE void dp4(SX_ARGS) {
    const uint32_t *a = sx_src(w, i->a), *b = sx_src(w, i->b), *c = sx_src(w, i->c);
    ALU_ROW(i->d, out = c[l] + dot4(a[l], b[l], i->type != 0, i->type2 != 0););
}
ALU_PAIR(dp4)
static void dp2(SX_ARGS) {
    const uint32_t *a = sx_src(w, i->a), *b = sx_src(w, i->b), *c = sx_src(w, i->c);
    ALU_ROW(i->d, out = c[l] + dot2(a[l], b[l], i->type != 0, i->type2 != 0, i->sub ? 2 : 0););
}

/* EXTRA of IDP: 1: .2A, 0: .4A. */
static bool pick_dot(struct sx_builder *b, const struct ww_sass_insn *in, struct sx_inst *i) {
    alu_operands(b, in, i, 1, 1, 1, 1);
    i->type = in->mod[SASS_M_SIGNED_A];
    i->type2 = in->mod[SASS_M_SIGNED_B];
    i->sub = in->mod[SASS_M_HI];
    i->fn = in->op == SASS_IDP && in->mod[SASS_M_EXTRA] ? dp2 : ALU_FN(dp4);
    return !i->neg;
}

bool ww_sx_alu_multiply(struct sx_builder *b, const struct ww_sass_insn *in, struct sx_inst *i) {
    switch (in->op) {
    case SASS_IMAD:
    case SASS_UIMAD:
    case SASS_IMUL:
        return pick_low(b, in, i);
    case SASS_IMAD_WIDE:
    case SASS_UIMAD_WIDE:
    case SASS_IMUL_WIDE:
        return pick_wide(b, in, i, false);
    case SASS_IMAD_HI:
    case SASS_UIMAD_HI:
        return pick_wide(b, in, i, true);
    case SASS_IDP:
    case SASS_IDP4A:
        return pick_dot(b, in, i);
    default:
        return false;
    }
}
