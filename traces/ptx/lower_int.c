/* lower_int.c: integer arithmetic. */
#include "lower.h"

static const char *by_arch(const struct lower *l, const char *fermi, const char *maxwell, const char *volta) {
    return l->arch == VOLTA ? volta : l->arch == MAXWELL ? maxwell : fermi;
}

static bool is_wide(const struct ptx_inst *i) {
    return ptx_type_bytes(i->type[0]) == 8;
}

/* One instruction for each word of the destination; later words wait for earlier ones if `carry`. */
static void by_word(struct lower *l, const char *low, const char *high, bool carry, struct lower_reg dst,
                    const struct lower_src *s, unsigned count) {
    for (unsigned k = 0; k < dst.n; k++) {
        struct lower_src w[5];
        unsigned n = 0;
        for (unsigned j = 0; j < count && n < 4; j++) w[n++] = lower_word(&s[j], k);
        if (carry && k) w[n++] = lower_of(lower_part(dst, 0));
        lower_put(l, WW_OP_INT, k ? high : low, lower_part(dst, k), w, n);
    }
}

/* Multiplication of 32-bit words: one instruction, or XMADs of 16 x 16 bits on Maxwell. */
static void multiply(struct lower *l, const char *fermi, const char *volta, unsigned xmads,
                     struct lower_reg dst, const struct lower_src *s, unsigned count) {
    if (l->arch != MAXWELL) {
        lower_put(l, WW_OP_IMUL, l->arch == VOLTA ? volta : fermi, dst, s, count);
        return;
    }
    struct lower_src w[4] = {{0}};
    for (unsigned k = 0; k < count && k < 3; k++) w[k] = s[k];
    for (unsigned k = 0; k < xmads; k++) {
        bool last = k + 1 == xmads;
        struct lower_reg r = last ? dst : lower_group_new(l, 1, false);
        lower_put(l, WW_OP_IMUL, last ? "XMAD.PSL.CBCC" : k ? "XMAD.MRG" : "XMAD", r, w, k ? 3 : count);
        if (!last) w[k & 1 ? 2 : 1] = lower_of(r);
    }
}

#define XMAD_LOW 3  /* 32 x 32 -> low 32 */
#define XMAD_WIDE 7 /* 32 x 32 -> 64 or its high half */

/* add base, (index << shift): LEA, ISCADD, IMAD.WIDE. Returns false where there is no such instruction. */
static bool scaled_add(struct lower *l, const struct ptx_inst *p, struct lower_reg dst, struct lower_src base) {
    struct lower_src s[3] = {lower_source(l, &p->opnd[1]), lower_source(l, &p->opnd[2]), base};
    int shift = p->op == PTX_SHL ? (int)p->opnd[2].imm : lower_log2(&p->opnd[2]);
    bool from32 = p->op == PTX_MUL;
    if (dst.n == 1) {
        s[0] = lower_word(&s[0], 0);
        s[2] = lower_word(&s[2], 0);
        if (shift < 0) {
            s[1] = lower_word(&s[1], 0);
            multiply(l, "IMAD", "IMAD", XMAD_LOW, dst, s, 3);
            return true;
        }
        s[1] = (struct lower_src){.kind = L_NONE};
        if (s[0].kind == L_CONST) s[0] = lower_in_reg(l, s[0], 1);
        lower_put(l, WW_OP_INT, l->arch == VOLTA ? "LEA" : "ISCADD", dst, s, 3);
        return true;
    }
    if (from32 && l->arch == VOLTA) {
        lower_put(l, WW_OP_IMUL, p->type[0] == PTX_T_S32 ? "IMAD.WIDE" : "IMAD.WIDE.U32", dst, s, 3);
        return true;
    }
    struct lower_src lo[3] = {lower_word(&s[0], 0), s[1], lower_word(&base, 0)};
    struct lower_src hi[4] = {lower_word(&s[0], from32 ? 0 : 1), s[1], lower_word(&base, 1),
                              lower_of(lower_part(dst, 0))};
    if (l->arch == FERMI) {
        lower_put(l, WW_OP_IMUL, "IMAD.CC", lower_part(dst, 0), lo, 3);
        lower_put(l, WW_OP_IMUL, "IMAD.HI.X", lower_part(dst, 1), hi, 4);
        return true;
    }
    lo[1] = hi[1] = (struct lower_src){.kind = L_NONE};
    if (l->arch == VOLTA) {
        lower_put(l, WW_OP_INT, "LEA", lower_part(dst, 0), lo, 3);
        struct lower_src top[4] = {lo[0], hi[0], hi[2], hi[3]};
        lower_put(l, WW_OP_INT, "LEA.HI.X", lower_part(dst, 1), top, 4);
        return true;
    }
    struct lower_reg t = lower_group_new(l, 1, false);
    lower_put(l, WW_OP_INT, p->type[0] == PTX_T_S32 ? "SHR" : "SHR.U32", t, lo, 1);
    lower_put(l, WW_OP_INT, "ISCADD.CC", lower_part(dst, 0), lo, 3);
    struct lower_src x[3] = {lower_of(t), hi[2], lower_of(lower_part(dst, 0))};
    lower_put(l, WW_OP_INT, "IADD.X", lower_part(dst, 1), x, 3);
    return true;
}

static void add(struct lower *l, const struct ptx_inst *i) {
    struct lower_reg dst = lower_dest(l, &i->opnd[0]);
    for (unsigned k = 1; k < 3 && i->op == PTX_ADD; k++) {
        const struct ptx_inst *p = lower_deferred(l, &i->opnd[k]);
        if (!p) continue;
        struct lower_src other = lower_source(l, &i->opnd[3 - k]);
        if (p->op == PTX_MUL || p->op == PTX_SHL) {
            scaled_add(l, p, dst, other);
            return;
        }
        if (p->op == PTX_ADD && dst.n == 1) {
            struct lower_src s[3] = {lower_source(l, &p->opnd[1]), lower_source(l, &p->opnd[2]), other};
            for (unsigned j = 0; j < 3; j++) s[j] = lower_word(&s[j], 0);
            lower_put(l, WW_OP_INT, "IADD3", dst, s, 3);
            return;
        }
    }
    struct lower_src s[2] = {lower_source(l, &i->opnd[1]), lower_source(l, &i->opnd[2])};
    bool carry_in = i->op == PTX_ADDC || i->op == PTX_SUBC;
    by_word(
        l,
        by_arch(l, carry_in ? "IADD.X" : "IADD", carry_in ? "IADD.X" : "IADD", carry_in ? "IADD3.X" : "IADD3"),
        by_arch(l, "IADD.X", "IADD.X", "IADD3.X"), true, dst, s, 2);
}

static void logic(struct lower *l, const struct ptx_inst *i) {
    struct lower_reg dst = lower_dest(l, &i->opnd[0]);
    struct lower_src s[3];
    unsigned n = 0;
    for (unsigned k = 1; k < i->opnd_count; k++) {
        const struct ptx_inst *p = lower_deferred(l, &i->opnd[k]);
        if (p && (p->op == PTX_AND || p->op == PTX_OR || p->op == PTX_XOR) && n < 2 && i->op != PTX_NOT) {
            s[n++] = lower_source(l, &p->opnd[1]);
            s[n++] = lower_source(l, &p->opnd[2]);
        } else if (n < 3) {
            s[n++] = lower_source(l, &i->opnd[k]);
        }
    }
    const char *name = by_arch(l, "LOP", "LOP3.LUT", "LOP3.LUT");
    by_word(l, name, name, false, dst, s, n);
}

static void multiply_wide(struct lower *l, const struct ptx_inst *i, struct lower_reg dst) {
    struct lower_src s[3] = {lower_source(l, &i->opnd[1]), lower_source(l, &i->opnd[2])};
    unsigned count = 2;
    if (i->op == PTX_MAD) s[count++] = lower_source(l, &i->opnd[3]);
    int shift = lower_log2(&i->opnd[2]);
    if (ptx_type_bytes(i->type[0]) == 2 || dst.n == 1) {
        bool as_shift = shift >= 0 && count == 2;
        if (as_shift)
            lower_put(l, WW_OP_INT, by_arch(l, "SHL", "SHL", "IMAD.SHL.U32"), dst, s, 1);
        else
            multiply(l, "IMAD", "IMAD", ptx_type_bytes(i->type[0]) == 2 ? 1 : XMAD_LOW, dst, s, count);
        return;
    }
    if (l->arch == VOLTA) {
        lower_put(l, WW_OP_IMUL, i->type[0] == PTX_T_S32 ? "IMAD.WIDE" : "IMAD.WIDE.U32", dst, s, count);
        return;
    }
    struct lower_src lo[4], hi[4];
    for (unsigned k = 0; k < count; k++) {
        lo[k] = lower_word(&s[k], 0);
        hi[k] = lower_word(&s[k], k == 2 ? 1 : 0);
    }
    hi[count] = lower_of(lower_part(dst, 0));
    if (shift >= 0 && count == 2) {
        lower_put(l, WW_OP_INT, "SHL", lower_part(dst, 0), lo, 1);
        lower_put(l, WW_OP_INT, i->type[0] == PTX_T_S32 ? "SHR" : "SHR.U32", lower_part(dst, 1), lo, 1);
        return;
    }
    multiply(l, count == 3 ? "IMAD.CC" : "IMUL", "", XMAD_LOW, lower_part(dst, 0), lo, count);
    multiply(l, count == 3 ? "IMAD.HI.X" : "IMUL.HI", "", XMAD_WIDE - XMAD_LOW + 1, lower_part(dst, 1), hi,
             count);
}

/* 64 x 64 -> low 64: the cross products enter the high word. */
static void multiply_64(struct lower *l, struct lower_reg dst, const struct lower_src *s, unsigned count) {
    struct lower_src lo[3], a[3], b[3];
    struct lower_reg t = lower_group_new(l, 1, false), u = lower_group_new(l, 1, false),
                     w = lower_group_new(l, 2, false);
    for (unsigned k = 0; k < 2; k++) lo[k] = lower_word(&s[k], 0);
    lo[2] = count == 3 ? s[2] : (struct lower_src){.kind = L_ZERO};
    a[0] = lower_word(&s[0], 1);
    a[1] = lo[1];
    multiply(l, "IMUL", "IMAD", XMAD_LOW, t, a, 2);
    b[0] = lo[0];
    b[1] = lower_word(&s[1], 1);
    b[2] = lower_of(t);
    multiply(l, "IMAD", "IMAD", XMAD_LOW, u, b, 3);
    if (l->arch == VOLTA) {
        lower_put(l, WW_OP_IMUL, "IMAD.WIDE.U32", w, lo, count);
    } else {
        multiply(l, "IMUL", "", XMAD_LOW, lower_part(w, 0), lo, count);
        multiply(l, "IMUL.HI", "", XMAD_WIDE, lower_part(w, 1), lo, count);
    }
    struct lower_src x[2] = {lower_of(lower_part(w, 1)), lower_of(u)}, low = lower_of(lower_part(w, 0));
    lower_put(l, WW_OP_INT, by_arch(l, "IADD", "IADD", "IMAD.IADD"), lower_part(dst, 1), x, 2);
    lower_put(l, WW_OP_INT, by_arch(l, "MOV", "MOV", "IMAD.MOV.U32"), lower_part(dst, 0), &low, 1);
}

static void mul(struct lower *l, const struct ptx_inst *i) {
    struct lower_reg dst = lower_dest(l, &i->opnd[0]);
    if (i->mods & PTX_M_WIDE) {
        multiply_wide(l, i, dst);
        return;
    }
    struct lower_src s[3] = {lower_source(l, &i->opnd[1]), lower_source(l, &i->opnd[2])};
    unsigned count = 2;
    if (i->opnd_count > 3) s[count++] = lower_source(l, &i->opnd[3]);
    int shift = lower_log2(&i->opnd[2]);
    if (is_wide(i) && (i->mods & PTX_M_HI)) {
        lower_expand(l, SEQ_MULHI64, dst, s, 2);
    } else if (dst.n == 2) {
        if (shift >= 0 && count == 2) {
            struct lower_src w[2] = {lower_word(&s[0], 0), lower_word(&s[0], 1)};
            lower_put(l, WW_OP_INT, by_arch(l, "SHL", "SHL", "IMAD.SHL.U32"), lower_part(dst, 0), w, 1);
            lower_put(l, WW_OP_INT, by_arch(l, "IMAD.HI", "SHF.L.U64", "SHF.L.U64.HI"), lower_part(dst, 1), w,
                      2);
        } else {
            multiply_64(l, dst, s, count);
        }
    } else if (i->mods & PTX_M_HI) {
        multiply(l, "IMUL.HI", "IMAD.HI.U32", XMAD_WIDE, dst, s, count);
    } else if (shift >= 0 && count == 2) {
        lower_put(l, WW_OP_INT, by_arch(l, "SHL", "SHL", "IMAD.SHL.U32"), dst, s, 1);
    } else {
        for (unsigned k = 0; k < count; k++) s[k] = lower_word(&s[k], 0);
        bool half = ptx_type_bytes(i->type[0]) == 2 && i->op == PTX_MUL;
        if (shift > 0 && l->arch != VOLTA) { /* mad by a power of two */
            s[1] = (struct lower_src){.kind = L_NONE};
            lower_put(l, WW_OP_INT, "ISCADD", dst, s, 3);
        } else {
            multiply(l, count == 3 ? "IMAD" : "IMUL", "IMAD", half ? 1 : XMAD_LOW, dst, s, count);
        }
    }
}

static void divide(struct lower *l, const struct ptx_inst *i) {
    struct lower_reg dst = lower_dest(l, &i->opnd[0]);
    struct lower_src s[2] = {lower_source(l, &i->opnd[1]), lower_source(l, &i->opnd[2])};
    bool sign = i->type[0] >= PTX_T_S8 && i->type[0] <= PTX_T_S64, rem = i->op == PTX_REM;
    int shift = lower_log2(&i->opnd[2]);
    if (is_wide(i)) {
        lower_expand(l, rem ? SEQ_REM64 : SEQ_DIV64, dst, s, 2);
    } else if (shift >= 0 && !sign) {
        lower_put(l, WW_OP_INT,
                  rem ? by_arch(l, "LOP", "LOP3.LUT", "LOP3.LUT")
                      : by_arch(l, "SHR", "SHR.U32", "SHF.R.U32.HI"),
                  dst, s, 1);
    } else if (i->opnd[2].kind == PTX_O_IMM) {
        lower_expand(l,
                     rem ? (sign ? SEQ_SREM_CONST : SEQ_UREM_CONST) : (sign ? SEQ_SDIV_CONST : SEQ_UDIV_CONST),
                     dst, s, 2);
    } else {
        lower_expand(l, sign ? (rem ? SEQ_SREM32 : SEQ_SDIV32) : (rem ? SEQ_UREM32 : SEQ_UDIV32), dst, s, 2);
    }
}

static void shift(struct lower *l, const struct ptx_inst *i) {
    struct lower_reg dst = lower_dest(l, &i->opnd[0]);
    bool left = i->op == PTX_SHL;
    struct lower_src a = lower_source(l, &i->opnd[1]), by = lower_source(l, &i->opnd[2]);
    struct lower_src lo = lower_word(&a, 0), hi = lower_word(&a, 1);
    const char *one = left ? by_arch(l, "SHL", "SHL", "SHF.L.U32") : by_arch(l, "SHR", "SHR", "SHF.R.U32.HI");
    if (dst.n == 1 && (left || !is_wide(i))) {
        struct lower_src s[2] = {lo, by};
        lower_put(l, WW_OP_INT, one, dst, s, 2);
        return;
    }
    struct lower_src both[3] = {lo, hi, by}, single[2] = {left ? lo : hi, by};
    struct lower_reg full = dst.n == 2 ? dst : lower_group_new(l, 2, false);
    const char *funnel =
        left ? by_arch(l, "SHL.W", "SHF.L.U64", "SHF.L.U64.HI") : by_arch(l, "SHR.W", "SHF.R.U64", "SHF.R.U64");
    if (l->arch == FERMI) { /* no funnel shifter: three more for the bits that cross */
        struct lower_reg t = lower_group_new(l, 1, false);
        lower_put(l, WW_OP_INT, left ? "SHR" : "SHL", t, both, 3);
        both[2] = lower_of(t);
        if (i->opnd[2].kind != PTX_O_IMM) lower_put(l, WW_OP_INT, "ISETP", lower_group_new(l, 1, true), &by, 1);
    }
    lower_put(l, WW_OP_INT, funnel, lower_part(full, left ? 1 : 0), both, 3);
    if (dst.n == 2)
        lower_put(l, WW_OP_INT, one, lower_part(dst, left ? 0 : 1), single, 2);
    else {
        struct lower_src got = lower_of(lower_part(full, 0));
        l->inst[l->inst_count - 1].dst[0] = dst;
        (void)got;
    }
}

static void min_max(struct lower *l, const struct ptx_inst *i) {
    struct lower_reg dst = lower_dest(l, &i->opnd[0]);
    struct lower_src s[2] = {lower_source(l, &i->opnd[1]), lower_source(l, &i->opnd[2])};
    if (!is_wide(i)) {
        lower_put(l, WW_OP_INT, "IMNMX", dst, s, 2);
        return;
    }
    struct lower_reg p = lower_group_new(l, 1, true);
    for (unsigned k = 0; k < 2; k++) {
        struct lower_src w[3] = {lower_word(&s[0], k), lower_word(&s[1], k), lower_of(p)};
        lower_put(l, WW_OP_INT, k ? "ISETP.EX" : "ISETP", p, w, k ? 3 : 2);
    }
    for (unsigned k = 0; k < dst.n; k++) {
        struct lower_src w[3] = {lower_word(&s[0], k), lower_word(&s[1], k), lower_of(p)};
        lower_put(l, WW_OP_INT, "SEL", lower_part(dst, k), w, 3);
    }
}

static void sources(struct lower *l, const struct ptx_inst *i, struct lower_src *s, unsigned *n) {
    *n = 0;
    for (unsigned k = i->dst_count; k < i->opnd_count && *n < 4; k++) s[(*n)++] = lower_source(l, &i->opnd[k]);
}

/* lop3 d|p: whether the result is not 0, combined with the last operand. */
static void lop3_test(struct lower *l, const struct ptx_inst *i, struct lower_reg dst, struct lower_src s[4]) {
    struct lower_reg p = lower_dest(l, &i->opnd[1]);
    s[3] = lower_source(l, &i->opnd[i->opnd_count - 1]);
    struct lower_inst *m = lower_put(l, WW_OP_INT, "LOP3.LUT", dst, s, 4);
    if (m && p.group >= 0 && m->dst_count < WW_INST_DST_MAX) m->dst[m->dst_count++] = p;
}

/* Operations of one instruction per word, or of a fixed number. */
static void simple(struct lower *l, const struct ptx_inst *i) {
    struct lower_reg dst = lower_dest(l, &i->opnd[0]);
    struct lower_src s[4];
    unsigned n;
    sources(l, i, s, &n);
    switch (i->op) {
    case PTX_ABS:
        is_wide(i) ? lower_expand(l, SEQ_ABS64, dst, s, n)
                   : (void)lower_put(l, WW_OP_INT, by_arch(l, "I2I", "I2I", "IABS"), dst, s, n);
        break;
    case PTX_NEG:
        by_word(l, by_arch(l, "IADD", "IADD", "IADD3"), by_arch(l, "IADD.X", "IADD.X", "IADD3.X"), true, dst, s,
                n);
        break;
    case PTX_CNOT:
        lower_put(l, WW_OP_INT, "ISETP", lower_group_new(l, 1, true), s, n);
        lower_put(l, WW_OP_INT, "SEL", dst, s, n);
        break;
    case PTX_POPC:
    case PTX_CLZ:
    case PTX_BFIND: {
        const char *name = i->op == PTX_POPC ? "POPC" : by_arch(l, "FLO", "FLO", "FLO.U32");
        struct lower_reg t = is_wide(i) || i->op == PTX_CLZ ? lower_group_new(l, 1, false) : dst;
        for (unsigned k = 0; k < (is_wide(i) ? 2u : 1u); k++) {
            struct lower_src w = lower_word(&s[0], k);
            lower_put(l, WW_OP_CVT, name, t, &w, 1);
        }
        struct lower_src got = lower_of(t);
        if (t.group != dst.group) lower_put(l, WW_OP_INT, by_arch(l, "IADD", "IADD", "IADD3"), dst, &got, 1);
        break;
    }
    case PTX_BREV:
        by_word(l, "BREV", "BREV", false, dst, s, n);
        break;
    case PTX_BFE:
        if (is_wide(i))
            lower_expand(l, SEQ_BFE64, dst, s, n);
        else if (l->arch != VOLTA)
            lower_put(l, WW_OP_INT, "BFE", dst, s, n);
        else if (i->opnd[2].kind == PTX_O_IMM && i->opnd[3].kind == PTX_O_IMM)
            lower_expand(l, SEQ_BFE_CONST, dst, s, 1);
        else
            lower_expand(l, SEQ_BFE32, dst, s, n);
        break;
    case PTX_BFI:
        if (is_wide(i))
            lower_expand(l, SEQ_BFI64, dst, s, n);
        else if (l->arch != VOLTA)
            lower_put(l, WW_OP_INT, "BFI", dst, s, n);
        else
            lower_expand(l, SEQ_BFI32, dst, s, n);
        break;
    case PTX_PRMT:
        lower_put(l, WW_OP_INT, "PRMT", dst, s, n);
        break;
    case PTX_LOP3:
        if (i->dst_count > 1)
            lop3_test(l, i, dst, s);
        else
            by_word(l, "LOP3.LUT", "LOP3.LUT", false, dst, s, n > 3 ? 3 : n);
        break;
    case PTX_SHF:
        lower_put(l, WW_OP_INT, by_arch(l, "SHF", "SHF", i->sub == PTX_SUB_L ? "SHF.L.W.U32" : "SHF.R.W.U32"),
                  dst, s, n);
        break;
    case PTX_SAD:
        if (l->arch == VOLTA)
            lower_expand(l, SEQ_SAD, dst, s, n);
        else
            lower_put(l, WW_OP_INT, "ISAD", dst, s, n);
        break;
    case PTX_DP4A:
    case PTX_DP2A:
        lower_put(l, WW_OP_IMUL, i->op == PTX_DP4A ? "IDP.4A" : "IDP.2A", dst, s, n);
        break;
    case PTX_BMSK:
        lower_expand(l, SEQ_BMSK, dst, s, n);
        break;
    case PTX_SZEXT:
        lower_expand(l, SEQ_BFE_CONST, dst, s, n);
        break;
    case PTX_FNS:
        lower_expand(l, SEQ_FNS, dst, s, n);
        break;
    default:
        lower_put(l, WW_OP_INT, "IADD3", dst, s, n);
        break;
    }
}

void lower_integer(struct lower *l, const struct ptx_inst *i) {
    switch (i->op) {
    case PTX_ADD:
    case PTX_SUB:
    case PTX_ADDC:
    case PTX_SUBC:
        add(l, i);
        break;
    case PTX_AND:
    case PTX_OR:
    case PTX_XOR:
    case PTX_NOT:
        logic(l, i);
        break;
    case PTX_MUL:
    case PTX_MAD:
    case PTX_MADC:
    case PTX_MUL24:
    case PTX_MAD24:
        mul(l, i);
        break;
    case PTX_DIV:
    case PTX_REM:
        divide(l, i);
        break;
    case PTX_SHL:
    case PTX_SHR:
        shift(l, i);
        break;
    case PTX_MIN:
    case PTX_MAX:
        min_max(l, i);
        break;
    default:
        simple(l, i);
        break;
    }
}
