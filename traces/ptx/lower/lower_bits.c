/* lower_bits.c: bits and fields of integers. */
#include "lower.h"

static bool is_wide(const struct ptx_inst *i) {
    return ww_ptx_type_bytes(i->type[0]) == 8;
}

void ww_lower_op_cnot(struct lower *l, const struct ptx_inst *i) {
    struct lower_operands o = ww_lower_read(l, i);
    ww_lower_put(l, WW_OP_INT, "ISETP", ww_lower_group_new(l, 1, true), o.s, o.n);
    ww_lower_put(l, WW_OP_INT, "SEL", o.dst, o.s, o.n);
}

/* popc, clz, bfind: one for each word, and a sum or difference. */
void ww_lower_op_count(struct lower *l, const struct ptx_inst *i) {
    struct lower_operands o = ww_lower_read(l, i);
    const char *name = i->op == PTX_POPC ? "POPC" : lower_by_arch(l, "FLO", "FLO", "FLO.U32");
    struct lower_reg t = is_wide(i) || i->op == PTX_CLZ ? ww_lower_group_new(l, 1, false) : o.dst;
    for (unsigned k = 0; k < (is_wide(i) ? 2u : 1u); k++) {
        struct lower_src w = ww_lower_word(&o.s[0], k);
        ww_lower_put(l, WW_OP_CVT, name, t, &w, 1);
    }
    struct lower_src got = ww_lower_of(t);
    if (t.group != o.dst.group)
        ww_lower_put(l, WW_OP_INT, lower_by_arch(l, "IADD", "IADD", "IADD3"), o.dst, &got, 1);
}

void ww_lower_op_brev(struct lower *l, const struct ptx_inst *i) {
    struct lower_operands o = ww_lower_read(l, i);
    ww_lower_by_word(l, "BREV", "BREV", false, o.dst, o.s, o.n);
}

void ww_lower_op_bfe(struct lower *l, const struct ptx_inst *i) {
    struct lower_operands o = ww_lower_read(l, i);
    if (is_wide(i))
        ww_lower_expand(l, SEQ_BFE64, o.dst, o.s, o.n);
    else if (l->arch != VOLTA)
        ww_lower_put(l, WW_OP_INT, "BFE", o.dst, o.s, o.n);
    else if (i->opnd[2].kind == PTX_O_IMM && i->opnd[3].kind == PTX_O_IMM)
        ww_lower_expand(l, SEQ_BFE_CONST, o.dst, o.s, 1);
    else
        ww_lower_expand(l, SEQ_BFE32, o.dst, o.s, o.n);
}

void ww_lower_op_bfi(struct lower *l, const struct ptx_inst *i) {
    struct lower_operands o = ww_lower_read(l, i);
    if (is_wide(i))
        ww_lower_expand(l, SEQ_BFI64, o.dst, o.s, o.n);
    else if (l->arch != VOLTA)
        ww_lower_put(l, WW_OP_INT, "BFI", o.dst, o.s, o.n);
    else
        ww_lower_expand(l, SEQ_BFI32, o.dst, o.s, o.n);
}

void ww_lower_op_prmt(struct lower *l, const struct ptx_inst *i) {
    struct lower_operands o = ww_lower_read(l, i);
    ww_lower_put(l, WW_OP_INT, "PRMT", o.dst, o.s, o.n);
}

/* d|p: p is whether the result is not 0, combined with the last operand. */
static void lop3_test(struct lower *l, const struct ptx_inst *i, struct lower_operands *o) {
    struct lower_reg p = ww_lower_dest(l, &i->opnd[1]);
    o->s[3] = ww_lower_source(l, &i->opnd[i->opnd_count - 1]);
    struct lower_inst *m = ww_lower_put(l, WW_OP_INT, "LOP3.LUT", o->dst, o->s, 4);
    if (m && p.group >= 0 && m->dst_count < WW_INST_DST_MAX) m->dst[m->dst_count++] = p;
}

void ww_lower_op_lop3(struct lower *l, const struct ptx_inst *i) {
    struct lower_operands o = ww_lower_read(l, i);
    if (i->dst_count > 1)
        lop3_test(l, i, &o);
    else
        ww_lower_by_word(l, "LOP3.LUT", "LOP3.LUT", false, o.dst, o.s, o.n > 3 ? 3 : o.n);
}

void ww_lower_op_shf(struct lower *l, const struct ptx_inst *i) {
    struct lower_operands o = ww_lower_read(l, i);
    const char *volta = i->sub == PTX_SUB_L ? "SHF.L.W.U32" : "SHF.R.W.U32";
    ww_lower_put(l, WW_OP_INT, lower_by_arch(l, "SHF", "SHF", volta), o.dst, o.s, o.n);
}

void ww_lower_op_bmsk(struct lower *l, const struct ptx_inst *i) {
    struct lower_operands o = ww_lower_read(l, i);
    ww_lower_expand(l, SEQ_BMSK, o.dst, o.s, o.n);
}

void ww_lower_op_szext(struct lower *l, const struct ptx_inst *i) {
    struct lower_operands o = ww_lower_read(l, i);
    ww_lower_expand(l, SEQ_BFE_CONST, o.dst, o.s, o.n);
}

void ww_lower_op_fns(struct lower *l, const struct ptx_inst *i) {
    struct lower_operands o = ww_lower_read(l, i);
    ww_lower_expand(l, SEQ_FNS, o.dst, o.s, o.n);
}
