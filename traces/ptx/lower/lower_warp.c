/* lower_warp.c: barriers, fences, exchange between lanes, matrix instructions, the rest. */
#include "../../mbarrier.h"
#include "lower.h"

static const struct lower_reg nowhere = {.group = -1};

/* bar, barrier: number and threads are part of the instruction where they are constants. */
void ww_lower_op_bar(struct lower *l, const struct ptx_inst *i) {
    if (i->sub == PTX_SUB_WARP_SYNC) {
        ww_lower_put(l, WW_OP_WARP_SYNC, l->arch == VOLTA ? "WARPSYNC" : "NOP", nowhere, NULL, 0);
        return;
    }
    if (i->sub == PTX_SUB_CLUSTER_ARRIVE || i->sub == PTX_SUB_CLUSTER_WAIT) {
        bool waits = i->sub == PTX_SUB_CLUSTER_WAIT;
        struct lower_inst *m = ww_lower_put(l, waits ? WW_OP_BARRIER : WW_OP_NOP,
                                            waits ? "UCGABAR_WAIT" : "UCGABAR_ARV", nowhere, NULL, 0);
        if (!m || !waits) return;
        m->flags |= WW_INST_ACCESS;
        m->access_part = 0;
        return;
    }
    bool red = i->sub >= PTX_SUB_RED_POPC && i->sub <= PTX_SUB_RED_OR;
    const struct ptx_operand *number = &i->opnd[i->dst_count];
    const struct ptx_operand *threads = i->opnd_count > i->dst_count + (red ? 2 : 1) ? number + 1 : NULL;
    struct lower_src s[3];
    unsigned n = 0;
    bool dynamic = false;
    for (const struct ptx_operand *o = number; o && n < 2; o = o == number ? threads : NULL) {
        dynamic |= o->kind != PTX_O_IMM;
        s[n++] = ww_lower_source(l, o);
    }
    if (red) s[n++] = ww_lower_source(l, &i->opnd[i->opnd_count - 1]);
    if (l->arch == VOLTA) ww_lower_put(l, WW_OP_NOP, "NOP", nowhere, NULL, 0);
    struct lower_inst *m = ww_lower_put(l, WW_OP_BARRIER,
                                        i->sub == PTX_SUB_ARRIVE ? "BAR.ARV"
                                        : red                    ? "BAR.RED"
                                                                 : "BAR.SYNC",
                                        nowhere, s, n);
    if (m && dynamic) {
        m->flags |= WW_INST_ACCESS;
        m->access_part = 0;
    } else if (m) {
        m->barrier = (uint8_t)(number->imm & 15);
        m->barrier_threads = (uint16_t)(threads ? threads->imm : 0);
    }
    if (m && i->sub == PTX_SUB_ARRIVE) m->flags |= WW_INST_BAR_ARRIVE;
    if (m && i->smem) {
        m->flags |= i->smem > 0 ? WW_INST_SMEM_ALLOC : WW_INST_SMEM_FREE;
        m->bytes = (uint32_t)(i->smem > 0 ? i->smem : -i->smem);
    }
    if (red) ww_lower_put(l, WW_OP_SYSREG, "B2R.RESULT", ww_lower_dest(l, &i->opnd[0]), NULL, 0);
}

void ww_lower_op_shfl(struct lower *l, const struct ptx_inst *i) {
    struct lower_src s[3];
    unsigned n = 0;
    unsigned data = i->dst_count;
    for (unsigned k = data; k < i->opnd_count && n < 3; k++) {
        struct lower_src v = ww_lower_source(l, &i->opnd[k]);
        s[n++] = k == data ? ww_lower_in_reg(l, v, 1) : v;
        if (s[n - 1].kind == L_CONST)
            s[n - 1] = (struct lower_src){.kind = L_NONE}; /* lane and mask fit the encoding */
    }
    struct lower_inst *m = ww_lower_put(l, WW_OP_SHUFFLE, "SHFL", ww_lower_dest(l, &i->opnd[0]), s, n);
    if (m && i->dst_count > 1 && m->dst_count < WW_INST_DST_MAX) {
        struct lower_reg p = ww_lower_dest(l, &i->opnd[1]);
        if (p.group >= 0) m->dst[m->dst_count++] = p;
    }
}

static void vote(struct lower *l, const struct ptx_inst *i, const char *name) {
    struct lower_src s = {.kind = L_NONE}; /* activemask has no source */
    if (i->opnd_count > i->dst_count) s = ww_lower_source(l, &i->opnd[i->dst_count]);
    struct lower_reg dst = i->dst_count ? ww_lower_dest(l, &i->opnd[0]) : nowhere;
    if (s.kind == L_CONST) s.kind = L_NONE;
    struct lower_inst *m =
        ww_lower_put(l, WW_OP_VOTE, name, dst, &s, i->op == PTX_ACTIVEMASK || i->op == PTX_ELECT ? 0 : 1);
    if (m && i->dst_count > 1 && m->dst_count < WW_INST_DST_MAX) {
        struct lower_reg p = ww_lower_dest(l, &i->opnd[1]);
        if (p.group >= 0) m->dst[m->dst_count++] = p;
    }
}

static struct lower_inst *one(struct lower *l, const struct ptx_inst *i, enum ww_op op, const char *name) {
    struct lower_src s[3];
    unsigned n = 0;
    for (unsigned k = i->dst_count; k < i->opnd_count && n < 3; k++) s[n++] = ww_lower_source(l, &i->opnd[k]);
    return ww_lower_put(l, op, name, i->dst_count ? ww_lower_dest(l, &i->opnd[0]) : nowhere, s, n);
}

void ww_lower_op_membar(struct lower *l, const struct ptx_inst *i) {
    bool cta = i->sub == PTX_SUB_MEMBAR_CTA;
    ww_lower_put(l, WW_OP_FENCE, cta ? "MEMBAR.CTA" : "MEMBAR.GPU", nowhere, NULL, 0);
}

void ww_lower_op_vote(struct lower *l, const struct ptx_inst *i) {
    vote(l, i, i->sub == PTX_SUB_ALL ? "VOTE.ALL" : "VOTE.ANY");
}

void ww_lower_op_any_lane(struct lower *l, const struct ptx_inst *i) {
    vote(l, i, "VOTE.ANY");
}

void ww_lower_op_match(struct lower *l, const struct ptx_inst *i) {
    vote(l, i, i->sub == PTX_SUB_ALL ? "MATCH.ALL" : "MATCH.ANY");
}

void ww_lower_op_redux(struct lower *l, const struct ptx_inst *i) {
    vote(l, i, "REDUX");
}

void ww_lower_op_nanosleep(struct lower *l, const struct ptx_inst *i) {
    struct lower_src s = ww_lower_source(l, &i->opnd[0]);
    struct lower_inst *m = ww_lower_put(l, WW_OP_SLEEP, "NANOSLEEP", nowhere, &s, 1);
    if (!m) return;
    m->flags |= WW_INST_ACCESS;
    m->access_part = 0;
}

void ww_lower_mbarrier(struct lower_inst *m, bool waits) {
    if (!m) return;
    m->flags |= WW_INST_ACCESS | (waits ? 0 : WW_INST_BAR_ARRIVE);
    m->access_part = 0;
    m->barrier = WW_MBARRIER;
}

void ww_lower_op_mbarrier(struct lower *l, const struct ptx_inst *i) {
    if (i->sub == PTX_SUB_MB_PENDING_COUNT) {
        one(l, i, WW_OP_SYSREG, "SYNCS");
        return;
    }
    bool waits = i->sub == PTX_SUB_MB_TEST_WAIT || i->sub == PTX_SUB_MB_TRY_WAIT;
    struct lower_inst *m =
        one(l, i, WW_OP_BARRIER, waits ? "SYNCS.PHASECHK.TRANS64.TRYWAIT" : "SYNCS.ARRIVE.TRANS64");
    ww_lower_mbarrier(m, waits);
}

void ww_lower_op_movmatrix(struct lower *l, const struct ptx_inst *i) {
    one(l, i, WW_OP_SHUFFLE, "MOVM.16");
}

void ww_lower_op_rank(struct lower *l, const struct ptx_inst *i) {
    one(l, i, WW_OP_INT, "MOV");
}

void ww_lower_op_prefetch(struct lower *l, const struct ptx_inst *i) {
    (void)i;
    ww_lower_put(l, WW_OP_NOP, "CCTL.PF2", nowhere, NULL, 0);
}

void ww_lower_op_nop(struct lower *l, const struct ptx_inst *i) {
    (void)i;
    ww_lower_put(l, WW_OP_NOP, "NOP", nowhere, NULL, 0);
}
