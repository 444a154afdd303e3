/* exec_atomic.c: atom and red. Lanes take effect one after the other, lowest first. */
#include "exec_float.h"

static bool is_signed_type(uint8_t t) {
    return t == PTX_T_S32 || t == PTX_T_S64 || t == PTX_T_S16;
}

static uint64_t add_f32(uint64_t old, uint64_t b, bool ftz) {
    return ex_result(ex_f32(ex_flush((uint32_t)old, ftz)) + ex_f32(ex_flush((uint32_t)b, ftz)), ftz, false);
}

static double half_op(uint8_t sub, double x, double y) {
    if (sub == PTX_SUB_ADD) return x + y;
    if (isnan(x) || isnan(y)) return isnan(x) ? y : x;
    return (x < y) == (sub == PTX_SUB_MIN) ? x : y;
}

static uint64_t half_rmw(const struct ex_inst *i, uint64_t old, uint64_t b) {
    bool bf16 = i->type == PTX_T_BF16 || i->type == PTX_T_BF16X2;
    unsigned halves = i->type == PTX_T_F16X2 || i->type == PTX_T_BF16X2 ? 2 : 1;
    uint64_t r = 0;
    for (unsigned h = 0; h < halves; h++) {
        double v = half_op(i->sub, ex_half(i->type, (uint32_t)old, h), ex_half(i->type, (uint32_t)b, h));
        uint16_t bits = bf16 ? ww_ex_double_to_bf16(v, PTX_R_RN) : ww_ex_double_to_f16(v, PTX_R_RN, false);
        r |= (uint64_t)bits << (16 * h);
    }
    return r;
}

static uint64_t add(const struct ex_inst *i, uint64_t old, uint64_t b) {
    switch (i->type) {
    case PTX_T_F64:
        return ex_f64_bits(ex_f64(old) + ex_f64(b));
    case PTX_T_F32:
        return add_f32(old, b, i->space != PTX_S_SHARED); /* global: flushes (PTX ISA, atom) */
    case PTX_T_F16:
    case PTX_T_F16X2:
    case PTX_T_BF16:
    case PTX_T_BF16X2:
        return half_rmw(i, old, b);
    default:
        return old + b;
    }
}

static uint64_t minmax(const struct ex_inst *i, uint64_t old, uint64_t b) {
    bool is_min = i->sub == PTX_SUB_MIN, less;
    if (i->type >= PTX_T_F16 && i->type <= PTX_T_BF16X2) return half_rmw(i, old, b);
    if (i->type == PTX_T_S32)
        less = (int32_t)old < (int32_t)b;
    else if (is_signed_type(i->type))
        less = (int64_t)old < (int64_t)b;
    else
        less = old < b;
    return less == is_min ? old : b;
}

/* The new value at the address. */
static uint64_t modify(const struct ex_inst *i, uint64_t old, uint64_t b, uint64_t c) {
    switch (i->sub) {
    case PTX_SUB_ADD:
        return add(i, old, b);
    case PTX_SUB_MIN:
    case PTX_SUB_MAX:
        return minmax(i, old, b);
    case PTX_SUB_INC:
        return old >= b ? 0 : old + 1;
    case PTX_SUB_DEC:
        return old == 0 || old > b ? b : old - 1;
    case PTX_SUB_CAS:
        return old == b ? c : old;
    case PTX_SUB_EXCH:
        return b;
    case PTX_SUB_AND:
        return old & b;
    case PTX_SUB_OR:
        return old | b;
    default:
        return old ^ b;
    }
}

static void atomic(EX_ARGS) {
    unsigned char *host[EX_LANES];
    struct ex_address a = {
        .slot = i->a, .width = i->aw, .offset = i->imm, .space = i->space, .bytes = i->bytes, .is_store = true};
    if (!ww_ex_addresses(w, i, &a, mask, w->addr, host)) return;
    uint64_t cut = i->bytes == 8 ? UINT64_MAX : ((uint64_t)1 << (8 * i->bytes)) - 1;
    for (uint32_t m = mask; m; m &= m - 1) {
        unsigned l = (unsigned)__builtin_ctz(m);
        uint64_t old = 0, b = ex_lane(w, i->b, i->bw, l) & cut;
        uint64_t c = i->c == EX_NO_SLOT ? 0 : ex_lane(w, i->c, i->cw, l) & cut;
        memcpy(&old, host[l], i->bytes);
        uint64_t v = modify(i, old, b, c);
        memcpy(host[l], &v, i->bytes);
        if (i->d != EX_NO_SLOT) ex_set_lane(w, i->d, i->dw, l, old);
    }
}

static bool is_supported(const struct ex_inst *i) {
    bool is_float = i->type >= PTX_T_F16 && i->type <= PTX_T_F64;
    bool is_half = i->type >= PTX_T_F16 && i->type <= PTX_T_BF16X2;
    if (i->elem_count || i->bytes > 8 || i->bytes < 2) return false;
    switch (i->sub) {
    case PTX_SUB_ADD:
        return true;
    case PTX_SUB_MIN:
    case PTX_SUB_MAX:
        return !is_float || is_half;
    case PTX_SUB_INC:
    case PTX_SUB_DEC:
        return i->bytes == 4 && !is_float;
    case PTX_SUB_CAS:
        return i->c != EX_NO_SLOT;
    case PTX_SUB_EXCH:
        return true;
    case PTX_SUB_AND:
    case PTX_SUB_OR:
    case PTX_SUB_XOR:
        return !is_float;
    default:
        return false;
    }
}

ex_fn ww_ex_pick_atom(struct ex_inst *i) {
    i->kind = EX_MEM;
    return is_supported(i) ? atomic : NULL;
}
