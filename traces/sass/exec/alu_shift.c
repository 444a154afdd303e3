/* alu_shift.c: shifts, bit masks, sign extension, counting. */
#include "alu.h"

/* SHF: the pair C:A shifted by B; the upper word of the result with HI. A count at or above the width of the
 * type is taken modulo the width (.W) or as the width. */
struct count {
    uint32_t keep, most;
};
ALU_INLINE struct count counting(const struct sx_inst *i) {
    return (struct count){i->sub ? i->type2 - 1u : UINT32_MAX, i->type2};
}
ALU_INLINE uint32_t count_of(struct count c, uint32_t n) {
    n &= c.keep;
    return n < c.most ? n : c.most;
}

/* In words, so that lanes are computed side by side; n is at most 64. */
ALU_INLINE uint32_t funnel_left(uint32_t low, uint32_t high, uint32_t n, bool upper) {
    uint32_t m = n & 31u, both = high << m | (low >> 1) >> (31 - m), shifted = low << m;
    uint32_t far = upper ? shifted : 0, near = upper ? both : shifted;
    return n < 32 ? near : n < 64 ? far : 0;
}
ALU_INLINE uint32_t funnel_right(uint32_t low, uint32_t high, uint32_t n, bool upper, bool is_signed) {
    uint32_t m = n & 31u, both = low >> m | (high << 1) << (31 - m);
    uint32_t shifted = is_signed ? (uint32_t)((int32_t)high >> m) : high >> m;
    uint32_t fill = is_signed ? (uint32_t)((int32_t)high >> 31) : 0, far = upper ? fill : shifted,
             near = upper ? shifted : both;
    return n < 32 ? near : n < 64 ? far : fill;
}

ALU_INLINE void shf_left(SX_ARGS) {
    const uint32_t *a = sx_src(w, i->a), *b = sx_src(w, i->b), *c = sx_src(w, i->c);
    bool upper = i->shape != 0;
    struct count range = counting(i);
    ALU_ROW(i->d, out = funnel_left(a[l], c[l], count_of(range, b[l]), upper););
}
ALU_PAIR(shf_left)
ALU_INLINE void shf_right(SX_ARGS) {
    const uint32_t *a = sx_src(w, i->a), *b = sx_src(w, i->b), *c = sx_src(w, i->c);
    bool upper = i->shape != 0, is_signed = i->type != 0;
    struct count range = counting(i);
    ALU_ROW(i->d, out = funnel_right(a[l], c[l], count_of(range, b[l]), upper, is_signed););
}
ALU_PAIR(shf_right)

/* The common forms: one word shifted by what the type clamps to 32. */
ALU_INLINE void shift_left(SX_ARGS) {
    const uint32_t *a = sx_src(w, i->a), *b = sx_src(w, i->b);
    ALU_ROW(i->d, uint32_t n = b[l]; out = n < 32 ? a[l] << (n & 31) : 0;);
}
ALU_PAIR(shift_left)
ALU_INLINE void shift_right(SX_ARGS) {
    const uint32_t *c = sx_src(w, i->c), *b = sx_src(w, i->b);
    ALU_ROW(i->d, uint32_t n = b[l]; out = n < 32 ? c[l] >> (n & 31) : 0;);
}
ALU_PAIR(shift_right)
ALU_INLINE void shift_signed(SX_ARGS) {
    const uint32_t *c = sx_src(w, i->c), *b = sx_src(w, i->b);
    ALU_ROW(i->d, uint32_t n = b[l] < 31 ? b[l] : 31; out = (uint32_t)((int32_t)c[l] >> n););
}
ALU_PAIR(shift_signed)

static bool pick_shf(struct sx_builder *b, const struct ww_sass_insn *in, struct sx_inst *i) {
    uint8_t type = in->mod[SASS_M_TYPE];
    alu_operands(b, in, i, 1, 1, 1, 1);
    bool right = in->mod[SASS_M_RIGHT] != 0, upper = in->mod[SASS_M_HI] != 0;
    i->type = type == SASS_T_S32 || type == SASS_T_S64;
    i->type2 = type == SASS_T_U64 || type == SASS_T_S64 ? 64 : 32;
    i->sub = in->mod[SASS_M_WRAP];
    i->shape = upper;
    i->fn = right ? ALU_FN(shf_right) : ALU_FN(shf_left);
    if (i->sub || i->type2 != 32 || i->neg) return !i->neg;
    if (!right && !upper) i->fn = ALU_FN(shift_left);
    if (right && upper && (i->a == SX_ZERO || !i->type))
        i->fn = i->type ? ALU_FN(shift_signed) : ALU_FN(shift_right);
    return true;
}

/* SHL and SHR of one word. */
static bool pick_plain(struct sx_builder *b, const struct ww_sass_insn *in, struct sx_inst *i) {
    alu_operands(b, in, i, 1, 1, 1, 1);
    i->type2 = 32;
    i->sub = in->mod[SASS_M_WRAP];
    i->type = in->mod[SASS_M_SIGNED];
    if (in->op == SASS_SHL) {
        i->fn = ALU_FN(shf_left);
    } else {
        i->c = i->a;
        i->a = SX_ZERO;
        i->shape = 1;
        i->fn = ALU_FN(shf_right);
    }
    return !i->neg;
}

/* B ones from bit A. */
static void bmsk(SX_ARGS) {
    struct count range = counting(i);
    const uint32_t *a = sx_src(w, i->a), *b = sx_src(w, i->b);
    ALU_ROW(i->d, uint32_t at = count_of(range, a[l]); uint32_t n = count_of(range, b[l]);
            out = (uint32_t)((((uint64_t)1 << n) - 1) << at););
}

/* The low B bits of A, sign- or zero-extended. */
ALU_INLINE void sgxt(SX_ARGS) {
    const uint32_t *a = sx_src(w, i->a), *b = sx_src(w, i->b);
    bool is_signed = i->type != 0;
    struct count range = counting(i);
    ALU_ROW(i->d, uint32_t n = count_of(range, b[l]); uint32_t up = n ? 32 - n : 0; uint32_t v = a[l] << up;
            v = is_signed ? (uint32_t)((int32_t)v >> up) : v >> up; out = n ? v : 0;);
}
ALU_PAIR(sgxt)

static uint32_t reverse(uint32_t v) {
    v = (v >> 1 & 0x55555555u) | (v & 0x55555555u) << 1;
    v = (v >> 2 & 0x33333333u) | (v & 0x33333333u) << 2;
    v = (v >> 4 & 0x0f0f0f0fu) | (v & 0x0f0f0f0fu) << 4;
    return __builtin_bswap32(v);
}
static void brev(SX_ARGS) {
    const uint32_t *a = sx_src(w, i->a);
    uint32_t na = alu_neg(i, 0);
    ALU_ROW(i->d, out = reverse(a[l] ^ na););
}
static void popc(SX_ARGS) {
    const uint32_t *a = sx_src(w, i->a);
    uint32_t na = alu_neg(i, 0);
    ALU_ROW(i->d, out = (uint32_t)__builtin_popcount(a[l] ^ na););
}

/* Position of the highest bit that differs from the sign (.SH: from above); all ones if there is none. */
static void flo(SX_ARGS) {
    const uint32_t *a = sx_src(w, i->a);
    uint32_t na = alu_neg(i, 0), found;
    ALU_MASK(found, uint32_t v = a[l] ^ na; out = (i->type && v >> 31 ? ~v : v) != 0;);
    ALU_ROW(i->d, uint32_t v = a[l] ^ na; if (i->type && v >> 31) v = ~v;
            uint32_t above = v ? (uint32_t)__builtin_clz(v) : 0; out = !v       ? UINT32_MAX
                                                                       : i->sub ? above
                                                                                : 31 - above;);
    sx_set_pred(w, i->pd[0], found, mask);
}

bool ww_sx_alu_shift(struct sx_builder *b, const struct ww_sass_insn *in, struct sx_inst *i) {
    switch (in->op) {
    case SASS_SHF:
    case SASS_USHF:
        return pick_shf(b, in, i);
    case SASS_SHL:
    case SASS_SHR:
        return pick_plain(b, in, i);
    case SASS_BMSK:
    case SASS_UBMSK:
        i->fn = bmsk;
        break;
    case SASS_SGXT:
    case SASS_USGXT:
        i->fn = ALU_FN(sgxt);
        break;
    case SASS_BREV:
    case SASS_UBREV:
        i->fn = brev;
        break;
    case SASS_POPC:
    case SASS_UPOPC:
        i->fn = popc;
        break;
    case SASS_FLO:
    case SASS_UFLO:
        i->fn = flo;
        i->pd[0] = ww_sx_pred_dst(b, in, SASS_PD);
        i->sub = in->mod[SASS_M_SH];
        break;
    default:
        return false;
    }
    alu_operands(b, in, i, 1, 1, 1, 1);
    i->type = in->mod[SASS_M_SIGNED];
    i->type2 = 32;
    if (in->op != SASS_FLO && in->op != SASS_UFLO) i->sub = in->mod[SASS_M_WRAP];
    return true;
}
