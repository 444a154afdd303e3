/* lower_move.c: moves, conversions, comparisons, selections. */
#include "lower.h"

static void move_words(struct lower *l, struct lower_reg dst, struct lower_src s) {
    for (unsigned k = 0; k < dst.n; k++) {
        struct lower_src w = ww_lower_word(&s, k);
        ww_lower_put(l, WW_OP_INT, lower_by_arch(l, "MOV", "MOV", k & 1 ? "IMAD.MOV.U32" : "MOV"),
                     ww_lower_part(dst, k), &w, 1);
    }
}

/* Reads of special registers that do not change are shared: one for the entry block, or one in a block. */
static void special(struct lower *l, const struct ptx_inst *i) {
    const struct ptx_operand *o = &i->opnd[1];
    bool clock = o->sreg >= PTX_SR_CLOCK && o->sreg <= PTX_SR_GLOBALTIMER_HI;
    unsigned key = o->sreg * 3u + (unsigned)(o->imm % 3);
    const char *name = clock && l->arch == VOLTA ? "CS2R" : "S2R";
    struct lower_value *v = &l->value[l->value[i->opnd[0].reg].root];
    bool known =
        !clock && l->sreg_group[key] >= 0 && (l->sreg_block[key] == 0 || l->sreg_block[key] == i->block);
    struct lower_reg first = {.group = l->sreg_group[key], .n = 1};
    if (known && v->defs == 1 && v->reg.group < 0) {
        v->reg = first; /* another name of the one that was read before */
        return;
    }
    struct lower_reg dst = ww_lower_dest(l, &i->opnd[0]);
    if (known) {
        move_words(l, dst, ww_lower_of(first));
        return;
    }
    ww_lower_put(l, WW_OP_SYSREG, name, dst, NULL, 0);
    if (!clock && v->defs == 1 && i->guard < 0 && dst.n == 1) {
        l->sreg_group[key] = dst.group;
        l->sreg_block[key] = i->block;
    }
}

static void unpack(struct lower *l, const struct ptx_inst *i) {
    const struct ptx_operand *d = &i->opnd[0];
    struct lower_src s = ww_lower_source(l, &i->opnd[1]);
    uint32_t bytes = ww_ptx_type_bytes((enum ptx_type)i->type[0]) / d->vec_count;
    for (unsigned k = 0; k < d->vec_count; k++) {
        struct lower_reg dst = ww_lower_dest(l, &d->vec[k]);
        if (dst.group < 0) continue;
        struct lower_src w = ww_lower_word(&s, k * bytes / 4);
        if (bytes >= 4)
            ww_lower_put(l, WW_OP_INT, lower_by_arch(l, "MOV", "MOV", "IMAD.MOV.U32"), dst, &w, 1);
        else
            ww_lower_put(l, WW_OP_INT, "PRMT", dst, &w, 1);
    }
}

static void pack(struct lower *l, const struct ptx_inst *i) {
    const struct ptx_operand *v = &i->opnd[1];
    struct lower_reg dst = ww_lower_dest(l, &i->opnd[0]);
    uint32_t bytes = ww_ptx_type_bytes((enum ptx_type)i->type[0]) / v->vec_count;
    if (bytes < 4) {
        struct lower_src s[4];
        unsigned n = 0;
        for (unsigned k = 0; k < v->vec_count && n < 4; k++) s[n++] = ww_lower_source(l, &v->vec[k]);
        ww_lower_put(l, WW_OP_INT, "PRMT", ww_lower_part(dst, 0), s, n);
        if (dst.n > 1) ww_lower_put(l, WW_OP_INT, "PRMT", ww_lower_part(dst, 1), s, n);
        return;
    }
    for (unsigned k = 0; k < v->vec_count && k < dst.n; k++) {
        struct lower_src s = ww_lower_source(l, &v->vec[k]), w = ww_lower_word(&s, 0);
        ww_lower_put(l, WW_OP_INT, lower_by_arch(l, "MOV", "MOV", "IMAD.MOV.U32"), ww_lower_part(dst, k), &w,
                     1);
    }
}

void ww_lower_op_cvt(struct lower *l, const struct ptx_inst *i) {
    struct lower_reg dst = ww_lower_dest(l, &i->opnd[0]);
    struct lower_src s[2] = {ww_lower_source(l, &i->opnd[1])};
    unsigned n = 1;
    bool to_float = ww_lower_is_float(i->type[0]), from_float = ww_lower_is_float(i->type[1]);
    uint32_t to = ww_ptx_type_bytes((enum ptx_type)i->type[0]),
             from = ww_ptx_type_bytes((enum ptx_type)i->type[1]);
    if (i->opnd_count > 2) s[n++] = ww_lower_source(l, &i->opnd[2]);
    if (to_float && from_float) {
        bool rounds = i->round >= PTX_R_RNI;
        if (to == 4 && from == 2)
            ww_lower_put(l, WW_OP_FP16, l->arch == VOLTA ? "HADD2.F32" : "F2F.F32.F16", dst, s, n);
        else if (to == from && !rounds)
            ww_lower_put(l, WW_OP_FP32, "FADD", dst, s, n); /* saturation or flush */
        else
            ww_lower_put(l, WW_OP_CVT, rounds ? lower_by_arch(l, "F2F.ROUND", "F2F.ROUND", "FRND") : "F2F", dst,
                         s, n);
    } else if (to_float) {
        ww_lower_put(l, WW_OP_CVT, "I2F", dst, s, n);
    } else if (from_float) {
        ww_lower_put(l, WW_OP_CVT, "F2I", dst, s, n);
    } else if (to == 8 && dst.n == 2) {
        struct lower_src low = ww_lower_word(&s[0], 0);
        bool sign = i->type[1] >= PTX_T_S8 && i->type[1] <= PTX_T_S64;
        struct lower_inst *m = ww_lower_put(
            l, WW_OP_INT, sign ? lower_by_arch(l, "SHR", "SHR", "SHF.R.S32.HI") : "MOV", dst, &low, 1);
        (void)m; /* the low word is allocated where its source ends: one instruction for the pair */
    } else if (i->mods & PTX_M_SAT) {
        ww_lower_put(l, WW_OP_CVT, "I2I", dst, s, n);
    } else {
        ww_lower_put(l, WW_OP_INT, lower_by_arch(l, "LOP", "LOP", to == 1 || from == 1 ? "LOP3.LUT" : "PRMT"),
                     dst, s, n);
    }
}

/* setp: one comparison, or two for 64-bit integers; `with` is a predicate of a folded logic operation. */
static void compare(struct lower *l, const struct ptx_inst *i, struct lower_reg dst, struct lower_reg second,
                    struct lower_src with) {
    struct lower_src s[4] = {ww_lower_source(l, &i->opnd[i->dst_count]),
                             ww_lower_source(l, &i->opnd[i->dst_count + 1]), with};
    uint8_t type = i->op == PTX_SET ? i->type[1] : i->type[0];
    if (i->opnd_count > i->dst_count + 2) s[3] = ww_lower_source(l, &i->opnd[i->dst_count + 2]);
    struct lower_inst *m;
    if (!ww_lower_is_float(type) && ww_ptx_type_bytes((enum ptx_type)type) == 8) {
        struct lower_src lo[2] = {ww_lower_word(&s[0], 0), ww_lower_word(&s[1], 0)};
        ww_lower_put(l, WW_OP_INT, "ISETP", dst, lo, 2);
        struct lower_src hi[5] = {ww_lower_word(&s[0], 1), ww_lower_word(&s[1], 1), ww_lower_of(dst), s[2],
                                  s[3]};
        m = ww_lower_put(l, WW_OP_INT, "ISETP.EX", dst, hi, 5);
    } else if (type == PTX_T_F64) {
        m = ww_lower_put(l, WW_OP_FP64, "DSETP", dst, s, 4);
    } else if (ww_lower_is_float(type)) {
        m = ww_lower_put(l, type == PTX_T_F32 ? WW_OP_FP32 : WW_OP_FP16, type == PTX_T_F32 ? "FSETP" : "HSETP2",
                         dst, s, 4);
    } else {
        m = ww_lower_put(l, WW_OP_INT, "ISETP", dst, s, 4);
    }
    if (m && second.group >= 0 && m->dst_count < WW_INST_DST_MAX) m->dst[m->dst_count++] = second;
}

void ww_lower_op_setp(struct lower *l, const struct ptx_inst *i) {
    struct lower_src none = {.kind = L_NONE};
    struct lower_reg q = i->dst_count > 1 ? ww_lower_dest(l, &i->opnd[1]) : (struct lower_reg){.group = -1};
    compare(l, i, ww_lower_dest(l, &i->opnd[0]), q, none);
}

/* and, or, xor, not of predicates: part of the comparison that makes an operand, or one instruction. */
void ww_lower_predicate_logic(struct lower *l, const struct ptx_inst *i) {
    struct lower_reg dst = ww_lower_dest(l, &i->opnd[0]), none = {.group = -1};
    for (unsigned k = 1; k < 3 && i->opnd_count == 3; k++) {
        const struct ptx_inst *p = ww_lower_deferred(l, &i->opnd[k]);
        if (!p || p->op != PTX_SETP) continue;
        compare(l, p, dst, none, ww_lower_source(l, &i->opnd[3 - k]));
        return;
    }
    struct lower_src s[2] = {{0}};
    unsigned n = 0;
    for (unsigned k = 1; k < i->opnd_count && n < 2; k++) s[n++] = ww_lower_source(l, &i->opnd[k]);
    ww_lower_put(l, WW_OP_INT, l->arch == VOLTA ? "PLOP3.LUT" : "PSETP", dst, s, n);
}

void ww_lower_op_select(struct lower *l, const struct ptx_inst *i) {
    struct lower_reg dst = ww_lower_dest(l, &i->opnd[0]);
    struct lower_src s[3] = {ww_lower_source(l, &i->opnd[1]), ww_lower_source(l, &i->opnd[2]),
                             ww_lower_source(l, &i->opnd[3])};
    if (i->op == PTX_SLCT) { /* the third is compared with 0 */
        struct lower_reg p = ww_lower_group_new(l, 1, true);
        ww_lower_put(l, i->type[1] == PTX_T_F32 ? WW_OP_FP32 : WW_OP_INT,
                     i->type[1] == PTX_T_F32 ? "FSETP" : "ISETP", p, &s[2], 1);
        s[2] = ww_lower_of(p);
    }
    for (unsigned k = 0; k < dst.n; k++) {
        struct lower_src w[3] = {ww_lower_word(&s[0], k), ww_lower_word(&s[1], k), s[2]};
        ww_lower_put(l, WW_OP_INT, l->arch == VOLTA && ww_lower_is_float(i->type[0]) ? "FSEL" : "SEL",
                     ww_lower_part(dst, k), w, 3);
    }
}

void ww_lower_op_set(struct lower *l, const struct ptx_inst *i) {
    struct lower_reg p = ww_lower_group_new(l, 1, true), none = {.group = -1};
    struct lower_src s = ww_lower_of(p);
    compare(l, i, p, none, (struct lower_src){.kind = L_NONE});
    ww_lower_put(l, WW_OP_INT, "SEL", ww_lower_dest(l, &i->opnd[0]), &s, 1);
}

void ww_lower_op_isspacep(struct lower *l, const struct ptx_inst *i) {
    struct lower_src s = ww_lower_source(l, &i->opnd[1]), hi = ww_lower_word(&s, 1);
    ww_lower_put(l, WW_OP_INT, "ISETP", ww_lower_dest(l, &i->opnd[0]), &hi, 1);
}

void ww_lower_op_mov(struct lower *l, const struct ptx_inst *i) {
    if (i->opnd[0].kind == PTX_O_VEC)
        unpack(l, i);
    else if (i->opnd[1].kind == PTX_O_VEC)
        pack(l, i);
    else if (i->opnd[1].kind == PTX_O_SREG && i->opnd[1].sreg != PTX_SR_NTID &&
             i->opnd[1].sreg != PTX_SR_NCTAID && i->opnd[1].sreg != PTX_SR_WARPSZ &&
             i->opnd[0].kind == PTX_O_REG)
        special(l, i);
    else if (i->type[0] == PTX_T_PRED)
        ww_lower_predicate_logic(l, i);
    else {
        struct lower_src s = ww_lower_source(l, &i->opnd[1]);
        if (i->opnd[1].kind == PTX_O_SREG) s = (struct lower_src){.kind = L_CONST};
        move_words(l, ww_lower_dest(l, &i->opnd[0]), s);
    }
}
