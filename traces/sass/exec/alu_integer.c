/* alu_integer.c: moves, additions, shift-and-add, absolute values. */
#include "alu.h"

ALU_INLINE void mov(SX_ARGS) {
    const uint32_t *a = sx_src(w, i->a);
    ALU_ROW(i->d, out = a[l];);
}
ALU_PAIR(mov)

ALU_INLINE void sel(SX_ARGS) {
    const uint32_t *a = sx_src(w, i->a), *b = sx_src(w, i->b);
    uint32_t take = sx_ps(w, i, 0), na = alu_neg(i, 0), nb = alu_neg(i, 1);
    ALU_ROW(i->d, out = take & alu_bit[l] ? (a[l] ^ na) - na : (b[l] ^ nb) - nb;);
}
ALU_PAIR(sel)

/* A negative source is its complement plus one: the ones are added together (i->imm). */
ALU_INLINE void add3(SX_ARGS) {
    const uint32_t *a = sx_src(w, i->a), *b = sx_src(w, i->b), *c = sx_src(w, i->c);
    uint32_t na = alu_neg(i, 0), nb = alu_neg(i, 1), nc = alu_neg(i, 2), ones = (uint32_t)i->imm;
    ALU_ROW(i->d, out = (a[l] ^ na) + (b[l] ^ nb) + (c[l] ^ nc) + ones;);
}
ALU_PAIR(add3)

ALU_INLINE void add2(SX_ARGS) {
    const uint32_t *a = sx_src(w, i->a), *b = sx_src(w, i->b);
    ALU_ROW(i->d, out = a[l] + b[l];);
}
ALU_PAIR(add2)

/* A sum of up to four words; *high gets what goes beyond 32 bits. */
ALU_INLINE uint32_t sum4(uint32_t a, uint32_t b, uint32_t c, uint32_t d, uint32_t *high) {
    uint32_t ab = a + b, abc = ab + c, all = abc + d;
    *high = (ab < a ? 1u : 0u) + (abc < c ? 1u : 0u) + (all < d ? 1u : 0u);
    return all;
}

/* With carries: in from up to two predicates, out into two, the second of them for a sum of 2^33 and above. */
ALU_INLINE void add3_carry(SX_ARGS) {
    const uint32_t *a = sx_src(w, i->a), *b = sx_src(w, i->b), *c = sx_src(w, i->c);
    uint32_t na = alu_neg(i, 0), nb = alu_neg(i, 1), nc = alu_neg(i, 2), ones = (uint32_t)i->imm;
    uint32_t in0 = i->sub ? sx_ps(w, i, 0) : 0, in1 = i->sub ? sx_ps(w, i, 1) : 0, once, twice, high[SX_LANES];
    ALU_ROW(i->d, uint32_t more = ones + (in0 & alu_bit[l] ? 1u : 0u) + (in1 & alu_bit[l] ? 1u : 0u);
            out = sum4(a[l] ^ na, b[l] ^ nb, c[l] ^ nc, more, &high[l]););
    if (i->pd[0] != SX_SINK) {
        ALU_MASK(once, out = high[l] >= 1;);
        sx_set_pred(w, i->pd[0], once, mask);
    }
    if (i->pd[1] != SX_SINK) {
        ALU_MASK(twice, out = high[l] >= 2;);
        sx_set_pred(w, i->pd[1], twice, mask);
    }
}
ALU_PAIR(add3_carry)

static uint32_t count_negative(const struct sx_inst *i) {
    return (i->neg & 1u) + (i->neg >> 1 & 1u) + (i->neg >> 2 & 1u);
}

static bool pick_add(struct sx_builder *b, const struct ww_sass_insn *in, struct sx_inst *i) {
    alu_operands(b, in, i, 1, 1, 1, 1);
    alu_predicates(b, in, i);
    bool extended = in->mod[SASS_M_X] != 0;
    if (!extended) i->imm = count_negative(i);
    i->sub = extended;
    if (extended || i->pd[0] != SX_SINK || i->pd[1] != SX_SINK)
        i->fn = ALU_FN(add3_carry);
    else
        i->fn = i->neg || i->c != SX_ZERO ? ALU_FN(add3) : ALU_FN(add2);
    return true;
}

/* Two additions of 16 bits. */
static void add_halves(SX_ARGS) {
    const uint32_t *a = sx_src(w, i->a), *b = sx_src(w, i->b);
    uint32_t na = i->neg & 1u ? 0xffffffffu : 0, nb = i->neg & 2u ? 0xffffffffu : 0, one = i->neg & 1u,
             two = i->neg >> 1 & 1u;
    ALU_ROW(i->d, uint32_t x = a[l] ^ na; uint32_t y = b[l] ^ nb; uint32_t low = x + y + one + two;
            uint32_t high = (x >> 16) + (y >> 16) + one + two; out = (low & 0xffffu) | high << 16;);
}

/* An addition of signed numbers that stays at the ends of their range. */
ALU_INLINE void add_saturated(SX_ARGS) {
    const uint32_t *a = sx_src(w, i->a), *b = sx_src(w, i->b);
    int64_t sign = i->neg & 2u ? -1 : 1;
    ALU_ROW(i->d, int64_t sum = (int64_t)(int32_t)a[l] + sign * (int32_t)b[l];
            sum = sum > INT32_MAX ? INT32_MAX : sum; sum = sum < INT32_MIN ? INT32_MIN : sum;
            out = (uint32_t)(int32_t)sum;);
}
ALU_PAIR(add_saturated)

/* LEA: (A << shift) + B, of .HI the upper word of the pair C:A. Carry out of bit 31. */
ALU_INLINE void lea_row(SX_ARGS, bool upper) {
    const uint32_t *a = sx_src(w, i->a), *b = sx_src(w, i->b), *c = sx_src(w, i->c);
    uint32_t in0 = i->sub ? sx_ps(w, i, 0) : 0, over, high[SX_LANES], shift = (uint32_t)i->imm,
             nx = alu_neg(i, 0), ny = alu_neg(i, 1), ones = i->sub ? 0 : (nx & 1u) + (ny & 1u),
             extend = i->shape ? UINT32_MAX : 0;
    ALU_ROW(i->d, uint32_t top = (((uint32_t)((int32_t)a[l] >> 31)) & extend) | (c[l] & ~extend);
            uint32_t x = upper ? top << shift | (a[l] >> 1) >> (31 - shift) : a[l] << shift;
            out = sum4(x ^ nx, b[l] ^ ny, 0, ones + (in0 & alu_bit[l] ? 1u : 0u), &high[l]););
    if (i->pd[0] == SX_SINK) return;
    ALU_MASK(over, out = high[l] != 0;);
    sx_set_pred(w, i->pd[0], over, mask);
}
ALU_INLINE void lea(SX_ARGS) {
    lea_row(w, i, mask, false);
}
ALU_INLINE void lea_upper(SX_ARGS) {
    lea_row(w, i, mask, true);
}
ALU_PAIR(lea_upper)
ALU_PAIR(lea)

ALU_INLINE void lea_low(SX_ARGS) {
    const uint32_t *a = sx_src(w, i->a), *b = sx_src(w, i->b);
    uint32_t shift = (uint32_t)i->imm;
    ALU_ROW(i->d, out = (a[l] << shift) + b[l];);
}
ALU_PAIR(lea_low)

static bool pick_lea(struct sx_builder *b, const struct ww_sass_insn *in, struct sx_inst *i) {
    alu_operands(b, in, i, 1, 1, 1, 1);
    alu_predicates(b, in, i);
    i->imm = in->mod[SASS_M_SHIFT] & 31;
    i->sub = in->mod[SASS_M_X];
    i->type = in->mod[SASS_M_HI];
    i->shape = in->mod[SASS_M_SX32];
    bool plain = !i->sub && !i->type && !i->neg && i->pd[0] == SX_SINK;
    i->fn = plain ? ALU_FN(lea_low) : i->type ? ALU_FN(lea_upper) : ALU_FN(lea);
    return true;
}

ALU_INLINE void iabs(SX_ARGS) {
    const uint32_t *a = sx_src(w, i->a);
    ALU_ROW(i->d, uint32_t s = (uint32_t)((int32_t)a[l] >> 31); out = (a[l] ^ s) - s;);
}
ALU_PAIR(iabs)

/* |A - B| + C */
static void absdiff(SX_ARGS) {
    const uint32_t *a = sx_src(w, i->a), *b = sx_src(w, i->b), *c = sx_src(w, i->c);
    uint32_t top = i->type ? 0x80000000u : 0;
    ALU_ROW(i->d, bool less = (a[l] ^ top) < (b[l] ^ top); out = (less ? b[l] - a[l] : a[l] - b[l]) + c[l];);
}

/* Of four bytes each: their absolute differences, or the sum of these added to C. */
static uint32_t absdiff_bytes(uint32_t x, uint32_t y, uint32_t c, bool is_signed, bool sum) {
    uint32_t packed = 0, total = c;
    for (unsigned n = 0; n < 32; n += 8) {
        int32_t p = is_signed ? (int8_t)(x >> n) : (uint8_t)(x >> n),
                q = is_signed ? (int8_t)(y >> n) : (uint8_t)(y >> n);
        uint32_t diff = (uint32_t)(p < q ? q - p : p - q);
        packed |= (diff & 0xffu) << n;
        total += diff;
    }
    return sum ? total : packed;
}
static void absdiff4(SX_ARGS) {
    const uint32_t *a = sx_src(w, i->a), *b = sx_src(w, i->b), *c = sx_src(w, i->c);
    ALU_ROW(i->d, out = absdiff_bytes(a[l], b[l], c[l], i->type != 0, i->sub != 0););
}

static bool pick_rest(struct sx_builder *b, const struct ww_sass_insn *in, struct sx_inst *i) {
    alu_operands(b, in, i, 1, 1, 1, 1);
    i->type = in->mod[SASS_M_SIGNED];
    i->sub = in->mod[SASS_M_ACC];
    switch (in->op) {
    case SASS_IABS:
    case SASS_UIABS:
        i->fn = ALU_FN(iabs);
        return true;
    case SASS_VABSDIFF:
        i->fn = absdiff;
        return true;
    case SASS_VABSDIFF4:
        i->fn = absdiff4;
        return true;
    case SASS_SEL:
    case SASS_USEL:
        alu_predicates(b, in, i);
        i->fn = ALU_FN(sel);
        return true;
    default:
        i->fn = ALU_FN(mov);
        return true;
    }
}

bool ww_sx_alu_integer(struct sx_builder *b, const struct ww_sass_insn *in, struct sx_inst *i) {
    switch (in->op) {
    case SASS_IADD3:
    case SASS_UIADD3:
    case SASS_IADD:
        return pick_add(b, in, i);
    case SASS_VIADD:
    case SASS_UVIADD:
        if (!in->mod[SASS_M_PACKED] && !in->mod[SASS_M_SAT]) return pick_add(b, in, i);
        alu_operands(b, in, i, 1, 1, 1, 1);
        i->fn = in->mod[SASS_M_SAT] ? ALU_FN(add_saturated) : add_halves;
        return true;
    case SASS_LEA:
    case SASS_ULEA:
        return pick_lea(b, in, i);
    case SASS_MOV:
    case SASS_MOV32I:
    case SASS_UMOV:
    case SASS_SEL:
    case SASS_USEL:
    case SASS_IABS:
    case SASS_UIABS:
    case SASS_VABSDIFF:
    case SASS_VABSDIFF4:
        return pick_rest(b, in, i);
    default:
        return false;
    }
}
