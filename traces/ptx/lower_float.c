/* lower_float.c: floating-point arithmetic. */
#include "lower.h"

struct float_class {
    enum ww_op op;
    const char *add, *mul, *fma, *set;
};

static const struct float_class *class_of(uint8_t type) {
    static const struct float_class f32 = {WW_OP_FP32, "FADD", "FMUL", "FFMA", "FSETP"};
    static const struct float_class f64 = {WW_OP_FP64, "DADD", "DMUL", "DFMA", "DSETP"};
    static const struct float_class f16 = {WW_OP_FP16, "HADD2", "HMUL2", "HFMA2", "HSETP2"};
    if (type == PTX_T_F64) return &f64;
    return type == PTX_T_F32 || type == PTX_T_TF32 ? &f32 : &f16;
}

/* add or sub, contracted with a product of one use. */
static void add(struct lower *l, const struct ptx_inst *i) {
    const struct float_class *c = class_of(i->type[0]);
    struct lower_reg dst = lower_dest(l, &i->opnd[0]);
    for (unsigned k = 1; k < 3; k++) {
        const struct ptx_inst *p = lower_deferred(l, &i->opnd[k]);
        if (!p || p->op != PTX_MUL || i->round != PTX_R_NONE) continue;
        struct lower_src s[3] = {lower_source(l, &p->opnd[1]), lower_source(l, &p->opnd[2]),
                                 lower_source(l, &i->opnd[3 - k])};
        lower_put(l, c->op, c->fma, dst, s, 3);
        return;
    }
    struct lower_src s[2] = {lower_source(l, &i->opnd[1]), lower_source(l, &i->opnd[2])};
    lower_put(l, c->op, c->add, dst, s, 2);
}

static enum lower_sequence divide_f32(const struct ptx_inst *i) {
    if (i->mods & PTX_M_APPROX) return SEQ_DIV_APPROX_F32;
    return i->mods & PTX_M_FULL ? SEQ_DIV_FULL_F32 : SEQ_DIV_F32;
}

static enum lower_sequence sequence_of(const struct ptx_inst *i) {
    bool wide = i->type[0] == PTX_T_F64, approx = i->mods & PTX_M_APPROX, ftz = i->mods & PTX_M_FTZ;
    switch (i->op) {
    case PTX_DIV:
        return wide ? SEQ_DIV_F64 : divide_f32(i);
    case PTX_RCP:
        return wide ? SEQ_RCP_F64 : approx ? SEQ_RCP_APPROX_F32 : SEQ_RCP_F32;
    case PTX_SQRT:
        return wide ? SEQ_SQRT_F64 : approx ? SEQ_SQRT_APPROX_F32 : SEQ_SQRT_F32;
    case PTX_RSQRT:
        return wide ? SEQ_RSQRT_F64 : ftz ? SEQ_RSQRT_FTZ_F32 : SEQ_RSQRT_F32;
    case PTX_EX2:
        return ftz ? SEQ_EX2_FTZ_F32 : SEQ_EX2_F32;
    case PTX_LG2:
        return ftz ? SEQ_LG2_FTZ_F32 : SEQ_LG2_F32;
    case PTX_SIN:
        return SEQ_SIN_F32;
    case PTX_COS:
        return SEQ_COS_F32;
    default:
        return SEQ_TANH_F32;
    }
}

void lower_float(struct lower *l, const struct ptx_inst *i) {
    const struct float_class *c = class_of(i->type[0]);
    struct lower_src s[4];
    unsigned n = 0;
    if (i->op == PTX_ADD || i->op == PTX_SUB) {
        add(l, i);
        return;
    }
    struct lower_reg dst = lower_dest(l, &i->opnd[0]);
    for (unsigned k = i->dst_count; k < i->opnd_count && n < 4; k++) s[n++] = lower_source(l, &i->opnd[k]);
    switch (i->op) {
    case PTX_MUL:
        lower_put(l, c->op, c->mul, dst, s, n);
        break;
    case PTX_FMA:
    case PTX_MAD:
        lower_put(l, c->op, c->fma, dst, s, n);
        break;
    case PTX_ABS:
    case PTX_NEG:
        if (i->type[0] == PTX_T_F64) {
            struct lower_src high = lower_word(&s[0], 1), low = lower_word(&s[0], 0);
            lower_put(l, WW_OP_INT, "MOV", lower_part(dst, 0), &low, 1);
            lower_put(l, WW_OP_INT, l->arch == VOLTA ? "LOP3.LUT" : "LOP", lower_part(dst, 1), &high, 1);
        } else {
            lower_put(l, c->op, c->add, dst, s, n);
        }
        break;
    case PTX_MIN:
    case PTX_MAX:
        if (i->type[0] == PTX_T_F64)
            lower_expand(l, SEQ_MINMAX_F64, dst, s, n);
        else
            lower_put(l, c->op, c->op == WW_OP_FP16 ? "HMNMX2" : "FMNMX", dst, s, n);
        break;
    case PTX_COPYSIGN:
        lower_put(l, WW_OP_INT, l->arch == VOLTA ? "LOP3.LUT" : "LOP", dst, s, n);
        break;
    case PTX_TESTP:
        lower_put(l, c->op, c->set, dst, s, n);
        break;
    default:
        lower_expand(l, sequence_of(i), dst, s, n);
        break;
    }
}
