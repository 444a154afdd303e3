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
void ww_lower_float_add(struct lower *l, const struct ptx_inst *i) {
    const struct float_class *c = class_of(i->type[0]);
    struct lower_reg dst = ww_lower_dest(l, &i->opnd[0]);
    for (unsigned k = 1; k < 3; k++) {
        const struct ptx_inst *p = ww_lower_deferred(l, &i->opnd[k]);
        if (!p || p->op != PTX_MUL || i->round != PTX_R_NONE) continue;
        struct lower_src s[3] = {ww_lower_source(l, &p->opnd[1]), ww_lower_source(l, &p->opnd[2]),
                                 ww_lower_source(l, &i->opnd[3 - k])};
        ww_lower_put(l, c->op, c->fma, dst, s, 3);
        return;
    }
    struct lower_src s[2] = {ww_lower_source(l, &i->opnd[1]), ww_lower_source(l, &i->opnd[2])};
    ww_lower_put(l, c->op, c->add, dst, s, 2);
}

static enum lower_sequence divide_f32(const struct ptx_inst *i) {
    if (i->mods & PTX_M_APPROX) return SEQ_DIV_APPROX_F32;
    return i->mods & PTX_M_FULL ? SEQ_DIV_FULL_F32 : SEQ_DIV_F32;
}

void ww_lower_float_mul(struct lower *l, const struct ptx_inst *i) {
    const struct float_class *c = class_of(i->type[0]);
    struct lower_operands o = ww_lower_read(l, i);
    ww_lower_put(l, c->op, i->op == PTX_MUL ? c->mul : c->fma, o.dst, o.s, o.n);
}

void ww_lower_float_sign(struct lower *l, const struct ptx_inst *i) {
    const struct float_class *c = class_of(i->type[0]);
    struct lower_operands o = ww_lower_read(l, i);
    if (i->type[0] != PTX_T_F64) {
        ww_lower_put(l, c->op, c->add, o.dst, o.s, o.n);
        return;
    }
    struct lower_src high = ww_lower_word(&o.s[0], 1), low = ww_lower_word(&o.s[0], 0);
    ww_lower_put(l, WW_OP_INT, "MOV", ww_lower_part(o.dst, 0), &low, 1);
    ww_lower_put(l, WW_OP_INT, l->arch == VOLTA ? "LOP3.LUT" : "LOP", ww_lower_part(o.dst, 1), &high, 1);
}

void ww_lower_float_min_max(struct lower *l, const struct ptx_inst *i) {
    const struct float_class *c = class_of(i->type[0]);
    struct lower_operands o = ww_lower_read(l, i);
    if (i->type[0] == PTX_T_F64)
        ww_lower_expand(l, SEQ_MINMAX_F64, o.dst, o.s, o.n);
    else
        ww_lower_put(l, c->op, c->op == WW_OP_FP16 ? "HMNMX2" : "FMNMX", o.dst, o.s, o.n);
}

void ww_lower_op_fma(struct lower *l, const struct ptx_inst *i) {
    ww_lower_float_mul(l, i);
}

void ww_lower_op_copysign(struct lower *l, const struct ptx_inst *i) {
    struct lower_operands o = ww_lower_read(l, i);
    ww_lower_put(l, WW_OP_INT, l->arch == VOLTA ? "LOP3.LUT" : "LOP", o.dst, o.s, o.n);
}

void ww_lower_op_testp(struct lower *l, const struct ptx_inst *i) {
    const struct float_class *c = class_of(i->type[0]);
    struct lower_operands o = ww_lower_read(l, i);
    ww_lower_put(l, c->op, c->set, o.dst, o.s, o.n);
}

/* ---- what takes a sequence, by type and precision ---- */

static void sequence(struct lower *l, const struct ptx_inst *i, enum lower_sequence f32,
                     enum lower_sequence f64) {
    struct lower_operands o = ww_lower_read(l, i);
    ww_lower_expand(l, i->type[0] == PTX_T_F64 ? f64 : f32, o.dst, o.s, o.n);
}

static enum lower_sequence if_set(const struct ptx_inst *i, uint32_t mod, enum lower_sequence yes,
                                  enum lower_sequence no) {
    return i->mods & mod ? yes : no;
}

void ww_lower_op_div(struct lower *l, const struct ptx_inst *i) {
    if (ww_lower_is_float(i->type[0]))
        sequence(l, i, divide_f32(i), SEQ_DIV_F64);
    else
        ww_lower_op_divide(l, i);
}

void ww_lower_op_rcp(struct lower *l, const struct ptx_inst *i) {
    sequence(l, i, if_set(i, PTX_M_APPROX, SEQ_RCP_APPROX_F32, SEQ_RCP_F32), SEQ_RCP_F64);
}

void ww_lower_op_sqrt(struct lower *l, const struct ptx_inst *i) {
    sequence(l, i, if_set(i, PTX_M_APPROX, SEQ_SQRT_APPROX_F32, SEQ_SQRT_F32), SEQ_SQRT_F64);
}

void ww_lower_op_rsqrt(struct lower *l, const struct ptx_inst *i) {
    sequence(l, i, if_set(i, PTX_M_FTZ, SEQ_RSQRT_FTZ_F32, SEQ_RSQRT_F32), SEQ_RSQRT_F64);
}

void ww_lower_op_ex2(struct lower *l, const struct ptx_inst *i) {
    enum lower_sequence id = if_set(i, PTX_M_FTZ, SEQ_EX2_FTZ_F32, SEQ_EX2_F32);
    sequence(l, i, id, id);
}

void ww_lower_op_lg2(struct lower *l, const struct ptx_inst *i) {
    enum lower_sequence id = if_set(i, PTX_M_FTZ, SEQ_LG2_FTZ_F32, SEQ_LG2_F32);
    sequence(l, i, id, id);
}

void ww_lower_op_sin(struct lower *l, const struct ptx_inst *i) {
    sequence(l, i, SEQ_SIN_F32, SEQ_SIN_F32);
}

void ww_lower_op_cos(struct lower *l, const struct ptx_inst *i) {
    sequence(l, i, SEQ_COS_F32, SEQ_COS_F32);
}

void ww_lower_op_tanh(struct lower *l, const struct ptx_inst *i) {
    sequence(l, i, SEQ_TANH_F32, SEQ_TANH_F32);
}
