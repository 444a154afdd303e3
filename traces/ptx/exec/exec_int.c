/* exec_int.c: integer add, subtract with carry chains, min, max, abs, neg, sad, and packed 16-bit forms. */
#include "exec_types.h"

#define add_EXPR(x, y, T, U, S, W, bits) ((S)(x) + (S)(y))
#define sub_EXPR(x, y, T, U, S, W, bits) ((S)(x) - (S)(y))
#define min_EXPR(x, y, T, U, S, W, bits) ((x) < (y) ? (x) : (y))
#define max_EXPR(x, y, T, U, S, W, bits) ((x) > (y) ? (x) : (y))
#define neg_EXPR(x, T, U, S, W, bits) ((S)0 - (S)(x))
#define abs_EXPR(x, T, U, S, W, bits) ((x) < (T)1 && (T)-1 < (T)1 ? (S)0 - (S)(x) : (S)(x))
#define sad_EXPR(x, y, z, T, U, S, W, bits) ((S)(z) + ((x) < (y) ? (S)(y) - (S)(x) : (S)(x) - (S)(y)))

EX_INT6(EX_BINARY, add)
EX_INT6(EX_BINARY, sub)
EX_INT6(EX_BINARY, min)
EX_INT6(EX_BINARY, max)
EX_INT6(EX_UNARY, neg)
EX_INT6(EX_UNARY, abs)
EX_INT6(EX_TERNARY, sad)
EX_TABLE(add)
EX_TABLE(sub)
EX_TABLE(min)
EX_TABLE(max)
EX_TABLE(neg)
EX_TABLE(abs)
EX_TABLE(sad)

static uint32_t clamp_s32(int64_t v) {
    if (v > INT32_MAX) return (uint32_t)INT32_MAX;
    return v < INT32_MIN ? (uint32_t)INT32_MIN : (uint32_t)(int32_t)v;
}

static void add_sat(EX_ARGS) {
    const uint32_t *a = ex_src(w, i->a), *b = ex_src(w, i->b);
    uint32_t *d = ex_dst(w, i->d);
    EX_EACH(mask, d[l] = clamp_s32((int64_t)(int32_t)a[l] + (int32_t)b[l]););
}

static void sub_sat(EX_ARGS) {
    const uint32_t *a = ex_src(w, i->a), *b = ex_src(w, i->b);
    uint32_t *d = ex_dst(w, i->d);
    EX_EACH(mask, d[l] = clamp_s32((int64_t)(int32_t)a[l] - (int32_t)b[l]););
}

/* min.relu, max.relu: negative results become 0. */
static void minmax_relu(EX_ARGS) {
    const uint32_t *a = ex_src(w, i->a), *b = ex_src(w, i->b);
    uint32_t *d = ex_dst(w, i->d);
    bool is_min = i->op == PTX_MIN;
    EX_EACH(mask, int32_t x = (int32_t)a[l]; int32_t y = (int32_t)b[l]; int32_t v = (x < y) == is_min ? x : y;
            d[l] = v < 0 ? 0 : (uint32_t)v;);
}

/* Carry chain: the carry (or borrow) of each lane is a bit of w->cc. */
static void carry(EX_ARGS, bool subtract, bool use) {
    bool wide = i->dw == 8;
    uint32_t in = use ? w->cc : 0, out = 0;
    for (uint32_t m = mask; m; m &= m - 1) {
        unsigned l = (unsigned)__builtin_ctz(m);
        uint64_t x = ex_lane(w, i->a, i->dw, l), y = ex_lane(w, i->b, i->dw, l), c = (in >> l) & 1u;
        ex_u128 full = subtract ? (ex_u128)x - y - c : (ex_u128)x + y + c;
        ex_set_lane(w, i->d, i->dw, l, (uint64_t)full);
        uint32_t carry_out = (uint32_t)(full >> (wide ? 64 : 32)) & 1u;
        out |= carry_out << l;
    }
    if (i->mods & PTX_M_CC) w->cc = (w->cc & ~mask) | out;
}

static void add_cc(EX_ARGS) {
    carry(w, i, mask, false, false);
}
static void addc(EX_ARGS) {
    carry(w, i, mask, false, true);
}
static void sub_cc(EX_ARGS) {
    carry(w, i, mask, true, false);
}
static void subc(EX_ARGS) {
    carry(w, i, mask, true, true);
}

/* u16x2, s16x2: each half on its own. */
static uint32_t packed_half(uint8_t op, bool is_signed, bool relu, uint32_t x, uint32_t y) {
    int32_t a = is_signed ? (int16_t)x : (int32_t)(x & 0xffffu),
            b = is_signed ? (int16_t)y : (int32_t)(y & 0xffffu);
    int32_t v = op == PTX_ADD   ? a + b
                : op == PTX_SUB ? a - b
                : op == PTX_MIN ? (a < b ? a : b)
                                : (a > b ? a : b);
    if (relu && v < 0) v = 0;
    return (uint32_t)v & 0xffffu;
}

static void packed(EX_ARGS) {
    const uint32_t *a = ex_src(w, i->a), *b = ex_src(w, i->b);
    uint32_t *d = ex_dst(w, i->d);
    bool is_signed = i->type == PTX_T_S16X2, relu = (i->mods & PTX_M_RELU) != 0;
    EX_EACH(mask, uint32_t lo = packed_half(i->op, is_signed, relu, a[l], b[l]);
            uint32_t hi = packed_half(i->op, is_signed, relu, a[l] >> 16, b[l] >> 16); d[l] = lo | hi << 16;);
}

static bool is_packed(uint8_t type) {
    return type == PTX_T_U16X2 || type == PTX_T_S16X2;
}

ex_fn ww_ex_int_add(const struct ex_inst *i) {
    bool is_add = i->op == PTX_ADD;
    if (is_packed(i->type)) return packed;
    if (i->mods & PTX_M_CC) return ex_of_word(is_add ? add_cc : sub_cc, i->type);
    if (i->mods & PTX_M_SAT) return i->type == PTX_T_S32 ? (is_add ? add_sat : sub_sat) : NULL;
    return ex_of_type(is_add ? add_table : sub_table, i->type);
}

ex_fn ww_ex_int_min_max(const struct ex_inst *i) {
    if (is_packed(i->type)) return packed;
    if (i->mods & PTX_M_RELU) return i->type == PTX_T_S32 ? minmax_relu : NULL;
    return ex_of_type(i->op == PTX_MIN ? min_table : max_table, i->type);
}

ex_fn ww_ex_int_neg(const struct ex_inst *i) {
    return ex_of_type(neg_table, i->type);
}

ex_fn ww_ex_int_abs(const struct ex_inst *i) {
    return ex_of_type(abs_table, i->type);
}

EX_PICK(addc, ex_of_word(addc, i->type))
EX_PICK(subc, ex_of_word(subc, i->type))
EX_PICK(sad, ex_of_type(sad_table, i->type))
