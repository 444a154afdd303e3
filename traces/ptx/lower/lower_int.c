/* lower_int.c: integer arithmetic. */
#include "lower.h"

static bool is_wide(const struct ptx_inst *i) {
    return ww_ptx_type_bytes(i->type[0]) == 8;
}

/* Multiplication of 32-bit words: one instruction, or XMADs of 16 x 16 bits on Maxwell. */
static void multiply(struct lower *l, const char *fermi, const char *volta, unsigned xmads,
                     struct lower_reg dst, const struct lower_src *s, unsigned count) {
    if (l->arch != MAXWELL) {
        ww_lower_put(l, WW_OP_IMUL, l->arch == VOLTA ? volta : fermi, dst, s, count);
        return;
    }
    struct lower_src w[4] = {{0}};
    for (unsigned k = 0; k < count && k < 3; k++) w[k] = s[k];
    for (unsigned k = 0; k < xmads; k++) {
        bool last = k + 1 == xmads;
        struct lower_reg r = last ? dst : ww_lower_group_new(l, 1, false);
        ww_lower_put(l, WW_OP_IMUL, last ? "XMAD.PSL.CBCC" : k ? "XMAD.MRG" : "XMAD", r, w, k ? 3 : count);
        if (!last) w[k & 1 ? 2 : 1] = ww_lower_of(r);
    }
}

#define XMAD_LOW 3  /* 32 x 32 -> low 32 */
#define XMAD_WIDE 7 /* 32 x 32 -> 64 or its high half */

/* add base, (index << shift): LEA, ISCADD, IMAD.WIDE. Returns false where there is no such instruction. */
static bool scaled_add(struct lower *l, const struct ptx_inst *p, struct lower_reg dst, struct lower_src base) {
    struct lower_src s[3] = {ww_lower_source(l, &p->opnd[1]), ww_lower_source(l, &p->opnd[2]), base};
    int shift = p->op == PTX_SHL ? (int)p->opnd[2].imm : ww_lower_log2(&p->opnd[2]);
    bool from32 = p->op == PTX_MUL;
    if (dst.n == 1) {
        s[0] = ww_lower_word(&s[0], 0);
        s[2] = ww_lower_word(&s[2], 0);
        if (shift < 0) {
            s[1] = ww_lower_word(&s[1], 0);
            multiply(l, "IMAD", "IMAD", XMAD_LOW, dst, s, 3);
            return true;
        }
        s[1] = (struct lower_src){.kind = L_NONE};
        if (s[0].kind == L_CONST) s[0] = ww_lower_in_reg(l, s[0], 1);
        ww_lower_put(l, WW_OP_INT, l->arch == VOLTA ? "LEA" : "ISCADD", dst, s, 3);
        return true;
    }
    if (from32 && l->arch == VOLTA) {
        ww_lower_put(l, WW_OP_IMUL, p->type[0] == PTX_T_S32 ? "IMAD.WIDE" : "IMAD.WIDE.U32", dst, s, 3);
        return true;
    }
    struct lower_src lo[3] = {ww_lower_word(&s[0], 0), s[1], ww_lower_word(&base, 0)};
    struct lower_src hi[4] = {ww_lower_word(&s[0], from32 ? 0 : 1), s[1], ww_lower_word(&base, 1),
                              ww_lower_of(ww_lower_part(dst, 0))};
    if (l->arch == FERMI) {
        ww_lower_put(l, WW_OP_IMUL, "IMAD.CC", ww_lower_part(dst, 0), lo, 3);
        ww_lower_put(l, WW_OP_IMUL, "IMAD.HI.X", ww_lower_part(dst, 1), hi, 4);
        return true;
    }
    lo[1] = hi[1] = (struct lower_src){.kind = L_NONE};
    if (l->arch == VOLTA) {
        ww_lower_put(l, WW_OP_INT, "LEA", ww_lower_part(dst, 0), lo, 3);
        struct lower_src top[4] = {lo[0], hi[0], hi[2], hi[3]};
        ww_lower_put(l, WW_OP_INT, "LEA.HI.X", ww_lower_part(dst, 1), top, 4);
        return true;
    }
    struct lower_reg t = ww_lower_group_new(l, 1, false);
    ww_lower_put(l, WW_OP_INT, p->type[0] == PTX_T_S32 ? "SHR" : "SHR.U32", t, lo, 1);
    ww_lower_put(l, WW_OP_INT, "ISCADD.CC", ww_lower_part(dst, 0), lo, 3);
    struct lower_src x[3] = {ww_lower_of(t), hi[2], ww_lower_of(ww_lower_part(dst, 0))};
    ww_lower_put(l, WW_OP_INT, "IADD.X", ww_lower_part(dst, 1), x, 3);
    return true;
}

static void add_words(struct lower *l, const struct ptx_inst *i) {
    struct lower_reg dst = ww_lower_dest(l, &i->opnd[0]);
    for (unsigned k = 1; k < 3 && i->op == PTX_ADD; k++) {
        const struct ptx_inst *p = ww_lower_deferred(l, &i->opnd[k]);
        if (!p) continue;
        struct lower_src other = ww_lower_source(l, &i->opnd[3 - k]);
        if (p->op == PTX_MUL || p->op == PTX_SHL) {
            scaled_add(l, p, dst, other);
            return;
        }
        if (p->op == PTX_ADD && dst.n == 1) {
            struct lower_src s[3] = {ww_lower_source(l, &p->opnd[1]), ww_lower_source(l, &p->opnd[2]), other};
            for (unsigned j = 0; j < 3; j++) s[j] = ww_lower_word(&s[j], 0);
            ww_lower_put(l, WW_OP_INT, "IADD3", dst, s, 3);
            return;
        }
    }
    struct lower_src s[2] = {ww_lower_source(l, &i->opnd[1]), ww_lower_source(l, &i->opnd[2])};
    bool carry_in = i->op == PTX_ADDC || i->op == PTX_SUBC;
    ww_lower_by_word(l,
                     lower_by_arch(l, carry_in ? "IADD.X" : "IADD", carry_in ? "IADD.X" : "IADD",
                                   carry_in ? "IADD3.X" : "IADD3"),
                     lower_by_arch(l, "IADD.X", "IADD.X", "IADD3.X"), true, dst, s, 2);
}

void ww_lower_op_add(struct lower *l, const struct ptx_inst *i) {
    ww_lower_is_float(i->type[0]) ? ww_lower_float_add(l, i) : add_words(l, i);
}

void ww_lower_op_add_carry(struct lower *l, const struct ptx_inst *i) {
    add_words(l, i);
}

void ww_lower_op_logic(struct lower *l, const struct ptx_inst *i) {
    if (i->type[0] == PTX_T_PRED) {
        ww_lower_predicate_logic(l, i);
        return;
    }
    struct lower_reg dst = ww_lower_dest(l, &i->opnd[0]);
    struct lower_src s[3];
    unsigned n = 0;
    for (unsigned k = 1; k < i->opnd_count; k++) {
        const struct ptx_inst *p = ww_lower_deferred(l, &i->opnd[k]);
        if (p && (p->op == PTX_AND || p->op == PTX_OR || p->op == PTX_XOR) && n < 2 && i->op != PTX_NOT) {
            s[n++] = ww_lower_source(l, &p->opnd[1]);
            s[n++] = ww_lower_source(l, &p->opnd[2]);
        } else if (n < 3) {
            s[n++] = ww_lower_source(l, &i->opnd[k]);
        }
    }
    const char *name = lower_by_arch(l, "LOP", "LOP3.LUT", "LOP3.LUT");
    ww_lower_by_word(l, name, name, false, dst, s, n);
}

static void multiply_wide(struct lower *l, const struct ptx_inst *i, struct lower_reg dst) {
    struct lower_src s[3] = {ww_lower_source(l, &i->opnd[1]), ww_lower_source(l, &i->opnd[2])};
    unsigned count = 2;
    if (i->op == PTX_MAD) s[count++] = ww_lower_source(l, &i->opnd[3]);
    int shift = ww_lower_log2(&i->opnd[2]);
    if (ww_ptx_type_bytes(i->type[0]) == 2 || dst.n == 1) {
        bool as_shift = shift >= 0 && count == 2;
        if (as_shift)
            ww_lower_put(l, WW_OP_INT, lower_by_arch(l, "SHL", "SHL", "IMAD.SHL.U32"), dst, s, 1);
        else
            multiply(l, "IMAD", "IMAD", ww_ptx_type_bytes(i->type[0]) == 2 ? 1 : XMAD_LOW, dst, s, count);
        return;
    }
    if (l->arch == VOLTA) {
        ww_lower_put(l, WW_OP_IMUL, i->type[0] == PTX_T_S32 ? "IMAD.WIDE" : "IMAD.WIDE.U32", dst, s, count);
        return;
    }
    struct lower_src lo[4], hi[4];
    for (unsigned k = 0; k < count; k++) {
        lo[k] = ww_lower_word(&s[k], 0);
        hi[k] = ww_lower_word(&s[k], k == 2 ? 1 : 0);
    }
    hi[count] = ww_lower_of(ww_lower_part(dst, 0));
    if (shift >= 0 && count == 2) {
        ww_lower_put(l, WW_OP_INT, "SHL", ww_lower_part(dst, 0), lo, 1);
        ww_lower_put(l, WW_OP_INT, i->type[0] == PTX_T_S32 ? "SHR" : "SHR.U32", ww_lower_part(dst, 1), lo, 1);
        return;
    }
    multiply(l, count == 3 ? "IMAD.CC" : "IMUL", "", XMAD_LOW, ww_lower_part(dst, 0), lo, count);
    multiply(l, count == 3 ? "IMAD.HI.X" : "IMUL.HI", "", XMAD_WIDE - XMAD_LOW + 1, ww_lower_part(dst, 1), hi,
             count);
}

/* 64 x 64 -> low 64: the cross products enter the high word. */
static void multiply_64(struct lower *l, struct lower_reg dst, const struct lower_src *s, unsigned count) {
    struct lower_src lo[3], a[3], b[3];
    struct lower_reg t = ww_lower_group_new(l, 1, false), u = ww_lower_group_new(l, 1, false),
                     w = ww_lower_group_new(l, 2, false);
    for (unsigned k = 0; k < 2; k++) lo[k] = ww_lower_word(&s[k], 0);
    lo[2] = count == 3 ? s[2] : (struct lower_src){.kind = L_ZERO};
    a[0] = ww_lower_word(&s[0], 1);
    a[1] = lo[1];
    multiply(l, "IMUL", "IMAD", XMAD_LOW, t, a, 2);
    b[0] = lo[0];
    b[1] = ww_lower_word(&s[1], 1);
    b[2] = ww_lower_of(t);
    multiply(l, "IMAD", "IMAD", XMAD_LOW, u, b, 3);
    if (l->arch == VOLTA) {
        ww_lower_put(l, WW_OP_IMUL, "IMAD.WIDE.U32", w, lo, count);
    } else {
        multiply(l, "IMUL", "", XMAD_LOW, ww_lower_part(w, 0), lo, count);
        multiply(l, "IMUL.HI", "", XMAD_WIDE, ww_lower_part(w, 1), lo, count);
    }
    struct lower_src x[2] = {ww_lower_of(ww_lower_part(w, 1)), ww_lower_of(u)},
                     low = ww_lower_of(ww_lower_part(w, 0));
    ww_lower_put(l, WW_OP_INT, lower_by_arch(l, "IADD", "IADD", "IMAD.IADD"), ww_lower_part(dst, 1), x, 2);
    ww_lower_put(l, WW_OP_INT, lower_by_arch(l, "MOV", "MOV", "IMAD.MOV.U32"), ww_lower_part(dst, 0), &low, 1);
}

void ww_lower_op_mul_integer(struct lower *l, const struct ptx_inst *i) {
    struct lower_reg dst = ww_lower_dest(l, &i->opnd[0]);
    if (i->mods & PTX_M_WIDE) {
        multiply_wide(l, i, dst);
        return;
    }
    struct lower_src s[3] = {ww_lower_source(l, &i->opnd[1]), ww_lower_source(l, &i->opnd[2])};
    unsigned count = 2;
    if (i->opnd_count > 3) s[count++] = ww_lower_source(l, &i->opnd[3]);
    int shift = ww_lower_log2(&i->opnd[2]);
    if (is_wide(i) && (i->mods & PTX_M_HI)) {
        ww_lower_expand(l, SEQ_MULHI64, dst, s, 2);
    } else if (dst.n == 2) {
        if (shift >= 0 && count == 2) {
            struct lower_src w[2] = {ww_lower_word(&s[0], 0), ww_lower_word(&s[0], 1)};
            ww_lower_put(l, WW_OP_INT, lower_by_arch(l, "SHL", "SHL", "IMAD.SHL.U32"), ww_lower_part(dst, 0), w,
                         1);
            ww_lower_put(l, WW_OP_INT, lower_by_arch(l, "IMAD.HI", "SHF.L.U64", "SHF.L.U64.HI"),
                         ww_lower_part(dst, 1), w, 2);
        } else {
            multiply_64(l, dst, s, count);
        }
    } else if (i->mods & PTX_M_HI) {
        multiply(l, "IMUL.HI", "IMAD.HI.U32", XMAD_WIDE, dst, s, count);
    } else if (shift >= 0 && count == 2) {
        ww_lower_put(l, WW_OP_INT, lower_by_arch(l, "SHL", "SHL", "IMAD.SHL.U32"), dst, s, 1);
    } else {
        for (unsigned k = 0; k < count; k++) s[k] = ww_lower_word(&s[k], 0);
        bool half = ww_ptx_type_bytes(i->type[0]) == 2 && i->op == PTX_MUL;
        if (shift > 0 && l->arch != VOLTA) { /* mad by a power of two */
            s[1] = (struct lower_src){.kind = L_NONE};
            ww_lower_put(l, WW_OP_INT, "ISCADD", dst, s, 3);
        } else {
            multiply(l, count == 3 ? "IMAD" : "IMUL", "IMAD", half ? 1 : XMAD_LOW, dst, s, count);
        }
    }
}

/* mul, mad */
void ww_lower_op_mul(struct lower *l, const struct ptx_inst *i) {
    ww_lower_is_float(i->type[0]) ? ww_lower_float_mul(l, i) : ww_lower_op_mul_integer(l, i);
}

void ww_lower_op_divide(struct lower *l, const struct ptx_inst *i) {
    struct lower_reg dst = ww_lower_dest(l, &i->opnd[0]);
    struct lower_src s[2] = {ww_lower_source(l, &i->opnd[1]), ww_lower_source(l, &i->opnd[2])};
    bool sign = i->type[0] >= PTX_T_S8 && i->type[0] <= PTX_T_S64, rem = i->op == PTX_REM;
    int shift = ww_lower_log2(&i->opnd[2]);
    if (is_wide(i)) {
        ww_lower_expand(l, rem ? SEQ_REM64 : SEQ_DIV64, dst, s, 2);
    } else if (shift >= 0 && !sign) {
        ww_lower_put(l, WW_OP_INT,
                     rem ? lower_by_arch(l, "LOP", "LOP3.LUT", "LOP3.LUT")
                         : lower_by_arch(l, "SHR", "SHR.U32", "SHF.R.U32.HI"),
                     dst, s, 1);
    } else if (i->opnd[2].kind == PTX_O_IMM) {
        ww_lower_expand(
            l, rem ? (sign ? SEQ_SREM_CONST : SEQ_UREM_CONST) : (sign ? SEQ_SDIV_CONST : SEQ_UDIV_CONST), dst,
            s, 2);
    } else {
        ww_lower_expand(l, sign ? (rem ? SEQ_SREM32 : SEQ_SDIV32) : (rem ? SEQ_UREM32 : SEQ_UDIV32), dst, s, 2);
    }
}

void ww_lower_op_shift(struct lower *l, const struct ptx_inst *i) {
    struct lower_reg dst = ww_lower_dest(l, &i->opnd[0]);
    bool left = i->op == PTX_SHL;
    struct lower_src a = ww_lower_source(l, &i->opnd[1]), by = ww_lower_source(l, &i->opnd[2]);
    struct lower_src lo = ww_lower_word(&a, 0), hi = ww_lower_word(&a, 1);
    const char *one =
        left ? lower_by_arch(l, "SHL", "SHL", "SHF.L.U32") : lower_by_arch(l, "SHR", "SHR", "SHF.R.U32.HI");
    if (dst.n == 1 && (left || !is_wide(i))) {
        struct lower_src s[2] = {lo, by};
        ww_lower_put(l, WW_OP_INT, one, dst, s, 2);
        return;
    }
    struct lower_src both[3] = {lo, hi, by}, single[2] = {left ? lo : hi, by};
    struct lower_reg full = dst.n == 2 ? dst : ww_lower_group_new(l, 2, false);
    const char *funnel = left ? lower_by_arch(l, "SHL.W", "SHF.L.U64", "SHF.L.U64.HI")
                              : lower_by_arch(l, "SHR.W", "SHF.R.U64", "SHF.R.U64");
    if (l->arch == FERMI) { /* no funnel shifter: three more for the bits that cross */
        struct lower_reg t = ww_lower_group_new(l, 1, false);
        ww_lower_put(l, WW_OP_INT, left ? "SHR" : "SHL", t, both, 3);
        both[2] = ww_lower_of(t);
        if (i->opnd[2].kind != PTX_O_IMM)
            ww_lower_put(l, WW_OP_INT, "ISETP", ww_lower_group_new(l, 1, true), &by, 1);
    }
    ww_lower_put(l, WW_OP_INT, funnel, ww_lower_part(full, left ? 1 : 0), both, 3);
    if (dst.n == 2)
        ww_lower_put(l, WW_OP_INT, one, ww_lower_part(dst, left ? 0 : 1), single, 2);
    else {
        struct lower_src got = ww_lower_of(ww_lower_part(full, 0));
        l->inst[l->inst_count - 1].dst[0] = dst;
        (void)got;
    }
}

void ww_lower_op_min_max(struct lower *l, const struct ptx_inst *i) {
    if (ww_lower_is_float(i->type[0])) {
        ww_lower_float_min_max(l, i);
        return;
    }
    struct lower_reg dst = ww_lower_dest(l, &i->opnd[0]);
    struct lower_src s[2] = {ww_lower_source(l, &i->opnd[1]), ww_lower_source(l, &i->opnd[2])};
    if (!is_wide(i)) {
        ww_lower_put(l, WW_OP_INT, "IMNMX", dst, s, 2);
        return;
    }
    struct lower_reg p = ww_lower_group_new(l, 1, true);
    for (unsigned k = 0; k < 2; k++) {
        struct lower_src w[3] = {ww_lower_word(&s[0], k), ww_lower_word(&s[1], k), ww_lower_of(p)};
        ww_lower_put(l, WW_OP_INT, k ? "ISETP.EX" : "ISETP", p, w, k ? 3 : 2);
    }
    for (unsigned k = 0; k < dst.n; k++) {
        struct lower_src w[3] = {ww_lower_word(&s[0], k), ww_lower_word(&s[1], k), ww_lower_of(p)};
        ww_lower_put(l, WW_OP_INT, "SEL", ww_lower_part(dst, k), w, 3);
    }
}

void ww_lower_op_abs(struct lower *l, const struct ptx_inst *i) {
    if (ww_lower_is_float(i->type[0])) {
        ww_lower_float_sign(l, i);
        return;
    }
    struct lower_operands o = ww_lower_read(l, i);
    if (is_wide(i))
        ww_lower_expand(l, SEQ_ABS64, o.dst, o.s, o.n);
    else
        ww_lower_put(l, WW_OP_INT, lower_by_arch(l, "I2I", "I2I", "IABS"), o.dst, o.s, o.n);
}

void ww_lower_op_neg(struct lower *l, const struct ptx_inst *i) {
    if (ww_lower_is_float(i->type[0])) {
        ww_lower_float_sign(l, i);
        return;
    }
    struct lower_operands o = ww_lower_read(l, i);
    ww_lower_by_word(l, lower_by_arch(l, "IADD", "IADD", "IADD3"),
                     lower_by_arch(l, "IADD.X", "IADD.X", "IADD3.X"), true, o.dst, o.s, o.n);
}

void ww_lower_op_sad(struct lower *l, const struct ptx_inst *i) {
    struct lower_operands o = ww_lower_read(l, i);
    if (l->arch == VOLTA)
        ww_lower_expand(l, SEQ_SAD, o.dst, o.s, o.n);
    else
        ww_lower_put(l, WW_OP_INT, "ISAD", o.dst, o.s, o.n);
}

void ww_lower_op_dot(struct lower *l, const struct ptx_inst *i) {
    struct lower_operands o = ww_lower_read(l, i);
    ww_lower_put(l, WW_OP_IMUL, i->op == PTX_DP4A ? "IDP.4A" : "IDP.2A", o.dst, o.s, o.n);
}
