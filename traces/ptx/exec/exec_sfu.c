/* exec_sfu.c: reciprocal, roots and transcendentals.
 *
 * Approximate forms are computed in double precision and rounded once: more exact than the hardware's, and
 * within every bound that the PTX ISA states. Correctly rounded forms use the host's division and root. */
#include "exec_float.h"

static double approximate(uint8_t op, double x) {
    switch (op) {
    case PTX_RCP:
        return 1 / x;
    case PTX_SQRT:
        return sqrt(x);
    case PTX_RSQRT:
        return 1 / sqrt(x);
    case PTX_EX2:
        return exp2(x);
    case PTX_LG2:
        return log2(x);
    case PTX_SIN:
        return sin(x);
    case PTX_COS:
        return cos(x);
    default:
        return tanh(x);
    }
}

static void sfu_f32(EX_ARGS) {
    const uint32_t *a = ex_src(w, i->a);
    uint32_t *d = ex_dst(w, i->d);
    bool ftz = (i->mods & PTX_M_FTZ) != 0;
    for (uint32_t m = mask; m; m &= m - 1) {
        unsigned l = (unsigned)__builtin_ctz(m);
        d[l] = ex_result((float)approximate(i->op, (double)ex_f32(ex_flush(a[l], ftz))), ftz, false);
    }
}

static void exact_f32(EX_ARGS) {
    const uint32_t *a = ex_src(w, i->a);
    uint32_t *d = ex_dst(w, i->d);
    bool ftz = (i->mods & PTX_M_FTZ) != 0, root = i->op == PTX_SQRT;
    int old = ww_ex_set_round(i->round);
    for (uint32_t m = mask; m; m &= m - 1) {
        unsigned l = (unsigned)__builtin_ctz(m);
        float x = ex_f32(ex_flush(a[l], ftz));
        d[l] = ex_result(root ? sqrtf(x) : 1.0f / x, ftz, false);
    }
    ww_ex_restore_round(old);
}

static void exact_f64(EX_ARGS) {
    const double *a = ex_src(w, i->a);
    double *d = ex_dst(w, i->d);
    int old = ww_ex_set_round(i->round);
    for (uint32_t m = mask; m; m &= m - 1) {
        unsigned l = (unsigned)__builtin_ctz(m);
        d[l] = i->op == PTX_SQRT ? sqrt(a[l]) : i->op == PTX_RCP ? 1 / a[l] : 1 / sqrt(a[l]);
    }
    ww_ex_restore_round(old);
}

/* rcp.approx.ftz.f64, rsqrt.approx.ftz.f64: only the high word of source and result (PTX ISA). */
static void approx_f64(EX_ARGS) {
    const uint64_t *a = ex_src(w, i->a);
    uint64_t *d = ex_dst(w, i->d);
    for (uint32_t m = mask; m; m &= m - 1) {
        unsigned l = (unsigned)__builtin_ctz(m);
        uint64_t x = a[l] & 0xffffffff00000000u;
        if ((x & 0x7ff0000000000000u) == 0) x &= (uint64_t)1 << 63;
        uint64_t r = ex_f64_bits(approximate(i->op, ex_f64(x)));
        if ((r & 0x7ff0000000000000u) == 0) r &= (uint64_t)1 << 63;
        d[l] = isnan(ex_f64(r)) ? 0x7fffffff00000000u : r & 0xffffffff00000000u;
    }
}

/* Reciprocals and roots have rounded forms, too. */
static ex_fn rounded(const struct ex_inst *i, bool approx) {
    bool truncated = (i->mods & PTX_M_APPROX) != 0 && (i->mods & PTX_M_FTZ) != 0;
    if (i->type == PTX_T_F64) return truncated && i->op != PTX_SQRT ? approx_f64 : exact_f64;
    if (i->type != PTX_T_F32) return NULL;
    return approx ? sfu_f32 : exact_f32;
}

ex_fn ww_ex_float_sfu(const struct ex_inst *i) {
    return i->type == PTX_T_F32 ? sfu_f32 : NULL;
}

EX_PICK(rcp, rounded(i, i->mods &PTX_M_APPROX))
EX_PICK(sqrt, rounded(i, i->mods &PTX_M_APPROX))
EX_PICK(rsqrt, rounded(i, true))
EX_PICK(sfu, ww_ex_float_sfu(i))
