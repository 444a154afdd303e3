/* sass_atomic.c: atomics and reductions. Lanes take effect one after the other, lowest first. */
#include "access.h"
#include "../../ptx/exec/exec.h"
#include <math.h>

static float as_float(uint64_t bits) {
    uint32_t low = (uint32_t)bits;
    float f;
    memcpy(&f, &low, sizeof f);
    return f;
}

static uint32_t float_bits(float f) {
    uint32_t u;
    memcpy(&u, &f, sizeof u);
    return u;
}

static uint64_t add_double(uint64_t x, uint64_t y) {
    double a, b;
    memcpy(&a, &x, sizeof a);
    memcpy(&b, &y, sizeof b);
    a += b;
    memcpy(&x, &a, sizeof x);
    return x;
}

/* A subnormal number becomes zero of its sign. */
static uint32_t flush(uint32_t v) {
    return (v & 0x7f800000u) == 0 ? v & 0x80000000u : v;
}

static uint64_t add_float(uint64_t x, uint64_t y, bool ftz) {
    uint32_t a = (uint32_t)x, b = (uint32_t)y;
    if (!ftz) return float_bits(as_float(a) + as_float(b));
    uint32_t r = flush(float_bits(as_float(flush(a)) + as_float(flush(b))));
    return r;
}

static double half_op(uint8_t op, double x, double y) {
    if (op == SASS_ATOM_ADD || op == SASS_ATOM_SAFEADD) return x + y;
    if (isnan(x) || isnan(y)) return isnan(x) ? y : x;
    return (x < y) == (op == SASS_ATOM_MIN) ? x : y;
}

static uint64_t half_rmw(uint8_t op, bool bf16, unsigned halves, uint64_t old, uint64_t b) {
    uint64_t r = 0;
    for (unsigned h = 0; h < halves; h++) {
        uint16_t x = (uint16_t)(old >> (16 * h)), y = (uint16_t)(b >> (16 * h));
        double v = bf16 ? half_op(op, ww_ex_bf16_to_double(x), ww_ex_bf16_to_double(y))
                        : half_op(op, ww_ex_f16_to_double(x), ww_ex_f16_to_double(y));
        uint16_t bits = bf16 ? ww_ex_double_to_bf16(v, PTX_R_RN) : ww_ex_double_to_f16(v, PTX_R_RN, false);
        r |= (uint64_t)bits << (16 * h);
    }
    return r;
}

static uint64_t add(const struct sx_inst *i, uint64_t old, uint64_t b) {
    switch (i->type) {
    case SASS_T_F64:
        return add_double(old, b);
    case SASS_T_F32:
        return add_float(old, b, i->mods & 1u);
    case SASS_T_F32_FTZ:
        return add_float(old, b, true);
    default:
        return old + b;
    }
}

static uint64_t minmax(const struct sx_inst *i, uint64_t old, uint64_t b) {
    bool is_min = i->sub == SASS_ATOM_MIN, less;
    if (i->type == SASS_T_S32)
        less = (int32_t)old < (int32_t)b;
    else if (i->type == SASS_T_S64)
        less = (int64_t)old < (int64_t)b;
    else
        less = old < b;
    return less == is_min ? old : b;
}

/* The new value at the address. */
static uint64_t modify(const struct sx_inst *i, uint64_t old, uint64_t b, uint64_t c) {
    switch (i->type) {
    case SASS_T_F16X2:
        return half_rmw(i->sub, false, 2, old, b);
    case SASS_T_BF16X2:
        return half_rmw(i->sub, true, 2, old, b);
    case SASS_T_F16:
        return half_rmw(i->sub, false, 1, old, b);
    case SASS_T_BF16:
        return half_rmw(i->sub, true, 1, old, b);
    default:
        break;
    }
    switch (i->sub) {
    case SASS_ATOM_ADD:
    case SASS_ATOM_SAFEADD:
        return add(i, old, b);
    case SASS_ATOM_MIN:
    case SASS_ATOM_MAX:
        return minmax(i, old, b);
    case SASS_ATOM_INC:
        return old >= b ? 0 : old + 1;
    case SASS_ATOM_DEC:
        return old == 0 || old > b ? b : old - 1;
    case SASS_ATOM_CAS:
    case SASS_ATOM_CAST:
    case SASS_ATOM_CAST_SPIN:
        return old == b ? c : old;
    case SASS_ATOM_EXCH:
        return b;
    case SASS_ATOM_AND:
        return old & b;
    case SASS_ATOM_OR:
        return old | b;
    case SASS_ATOM_XOR:
        return old ^ b;
    default: /* POPC_INC */
        return old + 1;
    }
}

static uint64_t lane_value(const uint32_t *rows, unsigned l, uint32_t bytes) {
    if (bytes == 8) return sx_get64(rows, l);
    return bytes == 2 ? (uint16_t)rows[l] : rows[l];
}

static void set_result(uint32_t *rows, unsigned l, uint32_t bytes, uint64_t v) {
    if (bytes == 8)
        sx_set64(rows, l, v);
    else
        rows[l] = (uint32_t)v;
}

static void atomic(SX_ARGS) {
    unsigned char *host[SX_LANES];
    uint32_t bytes = i->address->bytes;
    const uint32_t *pb = sx_src(w, i->b), *pc = sx_src(w, i->c);
    uint32_t *d = sx_dst(w, i->d), done = 0;
    if (!ww_sx_addresses(w, i->address, mask, w->addr, host)) return;
    bool cast = i->sub == SASS_ATOM_CAST || i->sub == SASS_ATOM_CAST_SPIN;
    for (uint32_t m = mask; m; m &= m - 1) {
        unsigned l = (unsigned)__builtin_ctz(m);
        uint64_t old = 0, b = lane_value(pb, l, bytes), c = lane_value(pc, l, bytes);
        memcpy(&old, host[l], bytes);
        uint64_t v = modify(i, old, b, c);
        memcpy(host[l], &v, bytes);
        done |= (uint32_t)(old == b) << l;
        set_result(d, l, bytes, cast ? old == b : old);
    }
    sx_set_pred(w, i->pd[0], cast ? done : SX_ALL, mask);
}

/* Additions of words, what most atomics are. */
static void atomic_add(SX_ARGS) {
    unsigned char *host[SX_LANES];
    const uint32_t *b = sx_src(w, i->b);
    uint32_t *d = sx_dst(w, i->d);
    if (!ww_sx_addresses(w, i->address, mask, w->addr, host)) return;
    for (uint32_t m = mask; m; m &= m - 1) {
        unsigned l = (unsigned)__builtin_ctz(m);
        uint32_t old, v;
        memcpy(&old, host[l], 4);
        v = old + b[l];
        memcpy(host[l], &v, 4);
        d[l] = old;
    }
    sx_set_pred(w, i->pd[0], SX_ALL, mask);
}

/* Several elements at one address, each by itself: adds of vectors. */
static void atomic_vector(SX_ARGS) {
    unsigned char *host[SX_LANES];
    uint32_t words = i->address->bytes / 4u;
    const uint32_t *pb = sx_src(w, i->b);
    uint32_t *d = sx_dst(w, i->d);
    if (!ww_sx_addresses(w, i->address, mask, w->addr, host)) return;
    for (uint32_t m = mask; m; m &= m - 1) {
        unsigned l = (unsigned)__builtin_ctz(m);
        for (uint32_t n = 0; n < words; n++) {
            uint32_t old, v, b = pb[n * SX_LANES + l];
            memcpy(&old, host[l] + 4 * n, 4);
            v = (uint32_t)modify(i, old, b, 0);
            memcpy(host[l] + 4 * n, &v, 4);
            d[n * SX_LANES + l] = old;
        }
    }
    sx_set_pred(w, i->pd[0], SX_ALL, mask);
}

/* ---- building ---- */

/* The element's type where the access is a vector of them. */
static uint8_t element(uint8_t type) {
    switch (type) {
    case SASS_T_F16X4:
    case SASS_T_F16X8:
        return SASS_T_F16X2;
    case SASS_T_BF16X4:
    case SASS_T_BF16X8:
        return SASS_T_BF16X2;
    case SASS_T_F32X2:
    case SASS_T_F32X4:
        return SASS_T_F32;
    case SASS_T_F32X2_FTZ:
    case SASS_T_F32X4_FTZ:
        return SASS_T_F32_FTZ;
    default:
        return SASS_T_NONE;
    }
}

static bool is_supported(const struct sx_inst *i) {
    bool is_half =
        i->type == SASS_T_F16X2 || i->type == SASS_T_BF16X2 || i->type == SASS_T_F16 || i->type == SASS_T_BF16;
    bool is_float = is_half || i->type == SASS_T_F32 || i->type == SASS_T_F32_FTZ || i->type == SASS_T_F64;
    switch (i->sub) {
    case SASS_ATOM_ADD:
    case SASS_ATOM_SAFEADD:
    case SASS_ATOM_EXCH:
        return true;
    case SASS_ATOM_MIN:
    case SASS_ATOM_MAX:
        return !is_float || is_half;
    case SASS_ATOM_INC:
    case SASS_ATOM_DEC:
    case SASS_ATOM_POPC_INC:
    case SASS_ATOM_AND:
    case SASS_ATOM_OR:
    case SASS_ATOM_XOR:
    case SASS_ATOM_CAS:
    case SASS_ATOM_CAST:
    case SASS_ATOM_CAST_SPIN:
        return !is_float;
    default:
        return false;
    }
}

static bool is_integer(uint8_t type) {
    return type == SASS_T_NONE || type == SASS_T_U32 || type == SASS_T_S32;
}

static uint8_t space_of(uint16_t op) {
    if (op == SASS_ATOMS) return WW_SPACE_SHARED;
    return op == SASS_ATOMG || op == SASS_REDG ? WW_SPACE_GLOBAL : WW_SPACE_NONE;
}

bool ww_sx_pick_atomic(struct sx_builder *b, const struct ww_sass_insn *in, struct sx_inst *i) {
    bool is_atomic = in->op == SASS_ATOM || in->op == SASS_ATOMG || in->op == SASS_ATOMS ||
                     in->op == SASS_RED || in->op == SASS_REDG;
    if (!is_atomic) return false;
    uint8_t type = in->mod[SASS_M_TYPE];
    uint32_t bytes = ww_sx_type_bytes(type), rows = (bytes + 3) / 4;
    bool vector = element(type) != SASS_T_NONE;
    i->kind = SX_MEM;
    i->sub = in->mod[SASS_M_ATOM];
    i->type = vector ? element(type) : type;
    i->mods = in->mod[SASS_M_FTZ];
    i->address = ww_sx_address_of(b, in, SASS_A, space_of(in->op), bytes, true);
    i->d = ww_sx_dst(b, in, SASS_D, rows);
    i->pd[0] = ww_sx_pred_dst(b, in, SASS_PD);
    i->b = ww_sx_src(b, in, SASS_B, rows);
    i->c = ww_sx_src(b, in, SASS_C, rows);
    bool is_word = bytes == 4 && !vector && is_integer(i->type);
    i->fn = vector ? atomic_vector : is_word && i->sub == SASS_ATOM_ADD ? atomic_add : atomic;
    return i->address && is_supported(i) && (vector || bytes == 2 || bytes == 4 || bytes == 8);
}
