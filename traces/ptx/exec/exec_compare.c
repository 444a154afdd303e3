/* exec_compare.c: setp, set, selp, slct. */
#include "exec_float.h"

/* Comparisons of all lanes as a mask; lanes that are not active are harmless. */
#define LANES_WHERE(cond)                                                                                      \
    for (unsigned l = 0; l < EX_LANES; l++) r |= (uint32_t)(cond) << l

#define COMPARE_INT(name, S, T)                                                                                \
    static uint32_t compare_##name(const void *pa, const void *pb, uint8_t cmp) {                              \
        const S *a = pa, *b = pb;                                                                              \
        uint32_t r = 0;                                                                                        \
        switch (cmp) {                                                                                         \
        case PTX_C_EQ:                                                                                         \
            LANES_WHERE((T)a[l] == (T)b[l]);                                                                   \
            break;                                                                                             \
        case PTX_C_NE:                                                                                         \
            LANES_WHERE((T)a[l] != (T)b[l]);                                                                   \
            break;                                                                                             \
        case PTX_C_LT:                                                                                         \
        case PTX_C_LO:                                                                                         \
            LANES_WHERE((T)a[l] < (T)b[l]);                                                                    \
            break;                                                                                             \
        case PTX_C_LE:                                                                                         \
        case PTX_C_LS:                                                                                         \
            LANES_WHERE((T)a[l] <= (T)b[l]);                                                                   \
            break;                                                                                             \
        case PTX_C_GT:                                                                                         \
        case PTX_C_HI:                                                                                         \
            LANES_WHERE((T)a[l] > (T)b[l]);                                                                    \
            break;                                                                                             \
        default:                                                                                               \
            LANES_WHERE((T)a[l] >= (T)b[l]);                                                                   \
            break;                                                                                             \
        }                                                                                                      \
        return r;                                                                                              \
    }
COMPARE_INT(u16, uint32_t, uint16_t)
COMPARE_INT(s16, uint32_t, int16_t)
COMPARE_INT(u32, uint32_t, uint32_t)
COMPARE_INT(s32, uint32_t, int32_t)
COMPARE_INT(u64, uint64_t, uint64_t)
COMPARE_INT(s64, uint64_t, int64_t)

static uint32_t compare_double(const double *a, const double *b, uint8_t cmp) {
    uint32_t r = 0;
    switch (cmp) {
    case PTX_C_EQ:
        LANES_WHERE(a[l] == b[l]);
        break;
    case PTX_C_NE:
        LANES_WHERE(a[l] < b[l] || a[l] > b[l]);
        break;
    case PTX_C_LT:
        LANES_WHERE(a[l] < b[l]);
        break;
    case PTX_C_LE:
        LANES_WHERE(a[l] <= b[l]);
        break;
    case PTX_C_GT:
        LANES_WHERE(a[l] > b[l]);
        break;
    case PTX_C_GE:
        LANES_WHERE(a[l] >= b[l]);
        break;
    case PTX_C_EQU:
        LANES_WHERE(!(a[l] < b[l] || a[l] > b[l]));
        break;
    case PTX_C_NEU:
        LANES_WHERE(a[l] != b[l]);
        break;
    case PTX_C_LTU:
        LANES_WHERE(!(a[l] >= b[l]));
        break;
    case PTX_C_LEU:
        LANES_WHERE(!(a[l] > b[l]));
        break;
    case PTX_C_GTU:
        LANES_WHERE(!(a[l] <= b[l]));
        break;
    case PTX_C_GEU:
        LANES_WHERE(!(a[l] < b[l]));
        break;
    case PTX_C_NUM:
        LANES_WHERE(a[l] == a[l] && b[l] == b[l]);
        break;
    default:
        LANES_WHERE(a[l] != a[l] || b[l] != b[l]);
        break;
    }
    return r;
}

static double flushed(uint32_t bits, bool ftz) {
    return (double)ex_f32(ex_flush(bits, ftz));
}
static double flushed_half(uint8_t type, uint32_t bits, unsigned half, bool ftz) {
    double v = ex_half(type, bits, half);
    return ftz && fabs(v) < 0x1p-14 ? copysign(0, v) : v;
}

static uint32_t compare_float(struct ex_warp *w, const struct ex_inst *i, uint8_t type, unsigned half) {
    if (type == PTX_T_F64) return compare_double(ex_src(w, i->a), ex_src(w, i->b), i->cmp);
    const uint32_t *a = ex_src(w, i->a), *b = ex_src(w, i->b);
    double x[EX_LANES], y[EX_LANES];
    bool ftz = (i->mods & PTX_M_FTZ) != 0;
    if (type == PTX_T_F32) {
        for (unsigned l = 0; l < EX_LANES; l++) x[l] = flushed(a[l], ftz), y[l] = flushed(b[l], ftz);
    } else {
        for (unsigned l = 0; l < EX_LANES; l++)
            x[l] = flushed_half(type, a[l], half, ftz), y[l] = flushed_half(type, b[l], half, ftz);
    }
    return compare_double(x, y, i->cmp);
}

static uint32_t compare(struct ex_warp *w, const struct ex_inst *i, uint8_t type, unsigned half) {
    const void *a = ex_src(w, i->a), *b = ex_src(w, i->b);
    switch (type) {
    case PTX_T_U16:
    case PTX_T_B16:
        return compare_u16(a, b, i->cmp);
    case PTX_T_S16:
        return compare_s16(a, b, i->cmp);
    case PTX_T_U32:
    case PTX_T_B32:
        return compare_u32(a, b, i->cmp);
    case PTX_T_S32:
        return compare_s32(a, b, i->cmp);
    case PTX_T_U64:
    case PTX_T_B64:
        return compare_u64(a, b, i->cmp);
    case PTX_T_S64:
        return compare_s64(a, b, i->cmp);
    default:
        return compare_float(w, i, type, half);
    }
}

static uint32_t combine(uint8_t boolop, uint32_t r, uint32_t c) {
    switch (boolop) {
    case PTX_B_AND:
        return r & c;
    case PTX_B_OR:
        return r | c;
    case PTX_B_XOR:
        return r ^ c;
    default:
        return r;
    }
}

static bool is_packed(uint8_t type) {
    return type == PTX_T_F16X2 || type == PTX_T_BF16X2;
}

/* setp p|q: p is the comparison, q its complement, each combined with c; for packed types p and q are the
 * two halves. */
static void setp(EX_ARGS) {
    uint32_t c = i->boolop != PTX_B_NONE ? ex_pred(w, i, i->c, 2) : 0;
    uint32_t p = compare(w, i, i->type, 0), q = is_packed(i->type) ? compare(w, i, i->type, 1) : ~p;
    ex_set_pred(w, i->d, combine(i->boolop, p, c), mask);
    if (i->d2 != EX_NO_SLOT) ex_set_pred(w, i->d2, combine(i->boolop, q, c), mask);
}

static uint32_t true_value(uint8_t type) {
    switch (type) {
    case PTX_T_F32:
        return 0x3f800000u;
    case PTX_T_F16:
    case PTX_T_F16X2:
        return 0x3c00u;
    case PTX_T_BF16:
    case PTX_T_BF16X2:
        return 0x3f80u;
    case PTX_T_U16:
    case PTX_T_S16:
    case PTX_T_B16:
        return 0xffffu;
    default:
        return UINT32_MAX;
    }
}

/* set.cmp.dtype.stype. */
static void set(EX_ARGS) {
    uint32_t *d = ex_dst(w, i->d), c = i->boolop != PTX_B_NONE ? ex_pred(w, i, i->c, 2) : 0;
    bool packed = is_packed(i->type2);
    uint32_t lo = combine(i->boolop, compare(w, i, i->type2, 0), c);
    uint32_t hi = packed ? combine(i->boolop, compare(w, i, i->type2, 1), c) : 0;
    uint32_t yes = packed && !is_packed(i->type) ? 0xffffu : true_value(i->type);
    EX_EACH(mask, d[l] = ((lo >> l) & 1u ? yes : 0) | ((hi >> l) & 1u ? yes << 16 : 0););
}

static void selp32(EX_ARGS) {
    const uint32_t *a = ex_src(w, i->a), *b = ex_src(w, i->b);
    uint32_t *d = ex_dst(w, i->d), p = ex_pred(w, i, i->c, 2);
    EX_EACH(mask, d[l] = (p >> l) & 1u ? a[l] : b[l];);
}

static void selp64(EX_ARGS) {
    const uint64_t *a = ex_src(w, i->a), *b = ex_src(w, i->b);
    uint64_t *d = ex_dst(w, i->d);
    uint32_t p = ex_pred(w, i, i->c, 2);
    EX_EACH(mask, d[l] = (p >> l) & 1u ? a[l] : b[l];);
}

/* slct.dtype.ctype: a if c >= 0 (NaN is not), else b. */
static void slct(EX_ARGS) {
    const uint32_t *c = ex_src(w, i->c);
    bool ftz = (i->mods & PTX_M_FTZ) != 0;
    for (uint32_t m = mask; m; m &= m - 1) {
        unsigned l = (unsigned)__builtin_ctz(m);
        bool first = i->type2 == PTX_T_F32 ? ex_f32(ex_flush(c[l], ftz)) >= 0 : (int32_t)c[l] >= 0;
        ex_set_lane(w, i->d, i->dw, l, ex_lane(w, first ? i->a : i->b, i->dw, l));
    }
}

EX_PICK(setp, setp)
EX_PICK(set, set)
EX_PICK(selp, i->dw == 8 ? selp64 : selp32)
EX_PICK(slct, slct)
