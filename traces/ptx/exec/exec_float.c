/* exec_float.c: single and double precision arithmetic under the four rounding directions.
 *
 * The host's IEEE arithmetic does the work. A direction other than to-nearest is set around the loop;
 * lanes are read from and written to memory that the calls of fesetround() may touch, so that no operation
 * moves out from between them. */
#include "exec_float.h"

#define RUN_ROUNDED(loop)                                                                                      \
    if (i->round == PTX_R_RZ || i->round == PTX_R_RM || i->round == PTX_R_RP) {                                \
        int old = ww_ex_set_round(i->round);                                                                   \
        loop;                                                                                                  \
        ww_ex_restore_round(old);                                                                              \
    } else {                                                                                                   \
        loop;                                                                                                  \
    }

#define F32_BINARY(name, EXPR)                                                                                 \
    static void name##_f32(EX_ARGS) {                                                                          \
        const uint32_t *pa = ex_src(w, i->a), *pb = ex_src(w, i->b);                                           \
        uint32_t *pd = ex_dst(w, i->d);                                                                        \
        bool ftz = (i->mods & PTX_M_FTZ) != 0, sat = (i->mods & PTX_M_SAT) != 0;                               \
        RUN_ROUNDED(EX_EACH(mask, float x = ex_f32(ex_flush(pa[l], ftz));                                      \
                            float y = ex_f32(ex_flush(pb[l], ftz)); pd[l] = ex_result(EXPR, ftz, sat);))       \
    }
#define F64_BINARY(name, EXPR)                                                                                 \
    static void name##_f64(EX_ARGS) {                                                                          \
        const double *pa = ex_src(w, i->a), *pb = ex_src(w, i->b);                                             \
        double *pd = ex_dst(w, i->d);                                                                          \
        RUN_ROUNDED(EX_EACH(mask, double x = pa[l]; double y = pb[l]; pd[l] = EXPR;))                          \
    }

F32_BINARY(add, x + y)
F32_BINARY(sub, x - y)
F32_BINARY(mul, x *y)
F32_BINARY(div, x / y)
F64_BINARY(add, x + y)
F64_BINARY(sub, x - y)
F64_BINARY(mul, x *y)
F64_BINARY(div, x / y)

#if defined(__x86_64__) && defined(__GNUC__)
#define HAVE_FMA_CLONE 1
#endif

#define FMA_F32_BODY                                                                                           \
    const uint32_t *pa = ex_src(w, i->a), *pb = ex_src(w, i->b), *pc = ex_src(w, i->c);                        \
    uint32_t *pd = ex_dst(w, i->d);                                                                            \
    bool ftz = (i->mods & PTX_M_FTZ) != 0, sat = (i->mods & PTX_M_SAT) != 0;                                   \
    RUN_ROUNDED(EX_EACH(mask, float x = ex_f32(ex_flush(pa[l], ftz)); float y = ex_f32(ex_flush(pb[l], ftz));  \
                        float z = ex_f32(ex_flush(pc[l], ftz));                                                \
                        pd[l] = ex_result(__builtin_fmaf(x, y, z), ftz, sat);))
#define FMA_F64_BODY                                                                                           \
    const double *pa = ex_src(w, i->a), *pb = ex_src(w, i->b), *pc = ex_src(w, i->c);                          \
    double *pd = ex_dst(w, i->d);                                                                              \
    RUN_ROUNDED(EX_EACH(mask, pd[l] = __builtin_fma(pa[l], pb[l], pc[l]);))

static void fma_f32(EX_ARGS) {
    FMA_F32_BODY
}
static void fma_f64(EX_ARGS) {
    FMA_F64_BODY
}
#ifdef HAVE_FMA_CLONE
/* The same on hosts whose fused multiply-add is one instruction; the results are equal. */
__attribute__((target("avx2,fma"))) static void fma_f32_host(EX_ARGS) {
    FMA_F32_BODY
}
__attribute__((target("avx2,fma"))) static void fma_f64_host(EX_ARGS) {
    FMA_F64_BODY
}
#endif

static ex_fn pick_fma(bool wide) {
#ifdef HAVE_FMA_CLONE
    if (__builtin_cpu_supports("fma") && __builtin_cpu_supports("avx2"))
        return wide ? fma_f64_host : fma_f32_host;
#endif
    return wide ? fma_f64 : fma_f32;
}

/* min, max: a number wins over NaN unless .NaN; -0 is below +0; .xorsign.abs. */
static double pick_minmax(bool is_min, bool nan, double x, double y) {
    if (isnan(x) || isnan(y)) {
        if (nan || (isnan(x) && isnan(y))) return (double)NAN;
        return isnan(x) ? y : x;
    }
    if (x == y) return (signbit(x) != 0) == is_min ? x : y;
    return (x < y) == is_min ? x : y;
}

static void minmax_f32(EX_ARGS) {
    const uint32_t *a = ex_src(w, i->a), *b = ex_src(w, i->b);
    uint32_t *d = ex_dst(w, i->d);
    bool ftz = (i->mods & PTX_M_FTZ) != 0, nan = (i->mods & PTX_M_NAN) != 0,
         xs = (i->mods & PTX_M_XORSIGN) != 0;
    for (uint32_t m = mask; m; m &= m - 1) {
        unsigned l = (unsigned)__builtin_ctz(m);
        uint32_t x = ex_flush(a[l], ftz), y = ex_flush(b[l], ftz), sign = xs ? (x ^ y) & 0x80000000u : 0;
        if (xs) x &= 0x7fffffffu, y &= 0x7fffffffu;
        double v = pick_minmax(i->op == PTX_MIN, nan, (double)ex_f32(x), (double)ex_f32(y));
        d[l] = isnan(v) ? 0x7fffffffu : ex_f32_bits((float)v) | sign;
    }
}

static void minmax_f64(EX_ARGS) {
    const double *a = ex_src(w, i->a), *b = ex_src(w, i->b);
    double *d = ex_dst(w, i->d);
    EX_EACH(mask, d[l] = pick_minmax(i->op == PTX_MIN, (i->mods & PTX_M_NAN) != 0, a[l], b[l]););
}

static void sign_f32(EX_ARGS) {
    const uint32_t *a = ex_src(w, i->a);
    uint32_t *d = ex_dst(w, i->d);
    bool ftz = (i->mods & PTX_M_FTZ) != 0;
    if (i->op == PTX_NEG)
        EX_EACH(mask, d[l] = ex_flush(a[l], ftz) ^ 0x80000000u;);
    else
        EX_EACH(mask, d[l] = ex_flush(a[l], ftz) & 0x7fffffffu;);
}

static void sign_f64(EX_ARGS) {
    const uint64_t *a = ex_src(w, i->a);
    uint64_t *d = ex_dst(w, i->d), top = (uint64_t)1 << 63;
    if (i->op == PTX_NEG)
        EX_EACH(mask, d[l] = a[l] ^ top;);
    else
        EX_EACH(mask, d[l] = a[l] & ~top;);
}

/* copysign d, a, b: the sign of a with the magnitude of b. */
static void copysign_f32(EX_ARGS) {
    const uint32_t *a = ex_src(w, i->a), *b = ex_src(w, i->b);
    uint32_t *d = ex_dst(w, i->d);
    EX_EACH(mask, d[l] = (a[l] & 0x80000000u) | (b[l] & 0x7fffffffu););
}

static void copysign_f64(EX_ARGS) {
    const uint64_t *a = ex_src(w, i->a), *b = ex_src(w, i->b);
    uint64_t *d = ex_dst(w, i->d), top = (uint64_t)1 << 63;
    EX_EACH(mask, d[l] = (a[l] & top) | (b[l] & ~top););
}

static bool test_property(uint8_t sub, int kind) {
    switch (sub) {
    case PTX_SUB_FINITE:
        return kind != FP_NAN && kind != FP_INFINITE;
    case PTX_SUB_INFINITE:
        return kind == FP_INFINITE;
    case PTX_SUB_NUMBER:
        return kind != FP_NAN;
    case PTX_SUB_NOTANUMBER:
        return kind == FP_NAN;
    case PTX_SUB_NORMAL:
        return kind == FP_NORMAL;
    default:
        return kind == FP_SUBNORMAL;
    }
}

static void testp(EX_ARGS) {
    uint32_t r = 0;
    for (uint32_t m = mask; m; m &= m - 1) {
        unsigned l = (unsigned)__builtin_ctz(m);
        uint64_t v = ex_lane(w, i->a, i->aw, l);
        int kind = i->type == PTX_T_F64 ? fpclassify(ex_f64(v)) : fpclassify(ex_f32((uint32_t)v));
        /* zero counts as normal (PTX ISA, testp) */
        r |= (uint32_t)test_property(i->sub, kind == FP_ZERO ? FP_NORMAL : kind) << l;
    }
    ex_set_pred(w, i->d, r, mask);
}

static ex_fn by_size(const struct ex_inst *i, ex_fn f32, ex_fn f64) {
    return i->type == PTX_T_F64 ? f64 : i->type == PTX_T_F32 ? f32 : NULL;
}

ex_fn ww_ex_float_add(const struct ex_inst *i) {
    return by_size(i, add_f32, add_f64);
}

ex_fn ww_ex_float_sub(const struct ex_inst *i) {
    return by_size(i, sub_f32, sub_f64);
}

ex_fn ww_ex_float_mul(const struct ex_inst *i) {
    return by_size(i, mul_f32, mul_f64);
}

/* .approx and .full too: their error bounds hold. */
ex_fn ww_ex_float_div(const struct ex_inst *i) {
    return by_size(i, div_f32, div_f64);
}

ex_fn ww_ex_float_fma(const struct ex_inst *i) {
    return by_size(i, pick_fma(false), pick_fma(true));
}

ex_fn ww_ex_float_min_max(const struct ex_inst *i) {
    return by_size(i, minmax_f32, minmax_f64);
}

ex_fn ww_ex_float_sign(const struct ex_inst *i) {
    return by_size(i, sign_f32, sign_f64);
}

EX_PICK(copysign, by_size(i, copysign_f32, copysign_f64))
EX_PICK(testp, by_size(i, testp, testp))
