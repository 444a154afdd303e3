/* lower_flow.c: control flow: divergence, predicated short branches, reconvergence, calls. */
#include "lower.h"

#define PASSES_MAX 16
#define PREDICATED_MAX 7 /* instructions that ptxas makes conditional rather than branch around */

static bool divergent_source(const struct ptx_inst *i) {
    switch (i->op) {
    case PTX_ATOM: case PTX_SHFL: case PTX_CALL: case PTX_MATCH: case PTX_ELECT: case PTX_WMMA: case PTX_MMA:
    case PTX_LDMATRIX: case PTX_MBARRIER: return true;
    case PTX_LD: return i->space == PTX_S_LOCAL;
    case PTX_MOV:
        if (i->opnd[1].kind != PTX_O_SREG) return false;
        switch (i->opnd[1].sreg) {
        case PTX_SR_TID: case PTX_SR_LANEID: case PTX_SR_LANEMASK_EQ: case PTX_SR_LANEMASK_LE:
        case PTX_SR_LANEMASK_LT: case PTX_SR_LANEMASK_GE: case PTX_SR_LANEMASK_GT: return true;
        default: return false;
        }
    default: return false;
    }
}

static bool depends(const struct lower *l, const struct ptx_inst *i) {
    struct lower_use use[LOWER_USES_MAX];
    if (i->op == PTX_VOTE || i->op == PTX_ACTIVEMASK || i->op == PTX_REDUX) return false;
    uint32_t n = lower_uses(i, use);
    for (uint32_t k = 0; k < n; k++)
        if (l->value[use[k].reg].divergent) return true;
    return false;
}

/* Marks what differs between the lanes of a warp; `region` marks blocks that only some lanes may execute. */
static bool pass(struct lower *l, const bool *region) {
    const struct ptx_func *f = l->func;
    bool changed = false;
    for (uint32_t i = 0; i < f->inst_count; i++) {
        const struct ptx_inst *in = &f->inst[i];
        int32_t reg[64];
        if (!l->reachable[in->block]) continue;
        uint32_t n = lower_defs(in, reg, 64);
        if (!n) continue;
        bool all = divergent_source(in) || depends(l, in);
        for (uint32_t k = 0; k < n; k++) {
            struct lower_value *v = &l->value[reg[k]];
            if (v->divergent || !(all || (v->defs > 1 && region[in->block]))) continue;
            v->divergent = true;
            changed = true;
        }
    }
    return changed;
}

static bool is_divergent(const struct lower *l, const struct ptx_inst *i) {
    if (i->guard >= 0 && l->value[i->guard].divergent) return true;
    return i->op == PTX_BRX && i->opnd[0].reg >= 0 && l->value[i->opnd[0].reg].divergent;
}

static void mark_regions(const struct lower *l, bool *region) {
    const struct ptx_func *f = l->func;
    uint32_t until = 0; /* blocks before it lie in some region */
    for (uint32_t b = 0; b < l->cfg.count; b++) {
        const struct ptx_inst *last = &f->inst[l->cfg.block[b].end - 1];
        if (b < until) region[b] = true;
        if ((last->op != PTX_BRA && last->op != PTX_BRX) || !is_divergent(l, last)) continue;
        uint32_t end = last->reconv >= 0 ? f->inst[last->reconv].block : l->cfg.count;
        if (end > until) until = end;
    }
}

static bool find_divergence(struct lower *l) {
    bool *region = ww_arena_array(l->arena, l->cfg.count + 1, sizeof *region);
    if (!region) return false;
    bool changed = true;
    for (unsigned k = 0; k < PASSES_MAX && changed; k++) {
        changed = pass(l, region);
        mark_regions(l, region);
    }
    for (uint32_t r = 0; changed && r < l->func->reg_count; r++) l->value[r].divergent = true;
    return true;
}

static bool predicable(const struct ptx_inst *i) {
    switch (i->op) {
    case PTX_BAR: case PTX_BARRIER: case PTX_CALL: case PTX_BRX: case PTX_RET: case PTX_EXIT: case PTX_TRAP:
    case PTX_SHFL: case PTX_VOTE: case PTX_MATCH: case PTX_WMMA: case PTX_MMA: case PTX_ACTIVEMASK:
    case PTX_MEMBAR: case PTX_FENCE: case PTX_DIV: case PTX_REM: return false;
    default: return true;
    }
}

/* The block behind a conditional branch that skips just it, short enough to be predicated. */
static void convert_ifs(struct lower *l) {
    const struct ptx_func *f = l->func;
    for (uint32_t b = 0; b + 1 < l->cfg.count; b++) {
        uint32_t at = l->cfg.block[b].end - 1;
        const struct ptx_inst *in = &f->inst[at];
        const struct ptx_block *body = &l->cfg.block[b + 1];
        if (in->op != PTX_BRA || in->guard < 0 || in->reconv < 0 || (uint32_t)in->reconv != body->end) continue;
        if ((uint32_t)in->opnd[0].imm != body->end || body->pred_count != 1) continue;
        uint32_t cost = 0;
        bool good = true;
        for (uint32_t i = body->first; i < body->end && good; i++) {
            int32_t reg;
            const struct ptx_inst *x = &f->inst[i];
            bool last_jump = x->op == PTX_BRA && i + 1 == body->end;
            bool own = lower_defs(x, &reg, 1) == 1 && l->value[reg].deferred;
            if (l->live[i] && !own && !last_jump) cost++;
            good = (predicable(x) && x->op != PTX_BRA) || (last_jump && x->guard < 0);
            if (lower_defs(x, &reg, 1) == 1 && reg == in->guard) good = false;
        }
        if (!good || cost > PREDICATED_MAX) continue;
        l->folded_branch[at] = true;
        l->block_guard[b + 1] = in->guard;
    }
}

/* Whether nothing but the end stands at `at`. */
static bool is_end(const struct ptx_func *f, int32_t at) {
    return at < 0 || f->inst[at].op == PTX_RET || f->inst[at].op == PTX_EXIT;
}

/* Opens a region before the branch, or before the loop that it closes. */
static void open_region(struct lower *l, uint32_t at) {
    const struct ptx_func *f = l->func;
    const struct ptx_inst *in = &f->inst[at];
    if (in->op != PTX_BRA || (uint32_t)in->opnd[0].imm > at) {
        l->sync_before[at]++;
        return;
    }
    uint32_t header = f->inst[in->opnd[0].imm].block;
    for (uint32_t k = 0; k < l->cfg.block[header].pred_count; k++) {
        uint32_t p = l->cfg.pred[l->cfg.block[header].pred + k];
        if (p < header) l->sync_before[l->cfg.block[p].end - 1]++;
    }
}

static void find_regions(struct lower *l) {
    const struct ptx_func *f = l->func;
    for (uint32_t b = 0; b < l->cfg.count; b++) {
        uint32_t at = l->cfg.block[b].end - 1;
        const struct ptx_inst *in = &f->inst[at];
        if (!l->reachable[b] || (in->op != PTX_BRA && in->op != PTX_BRX) || l->folded_branch[at]) continue;
        if (!is_divergent(l, in) || is_end(f, in->reconv) || l->sync_at[in->reconv]) continue;
        open_region(l, at);
        l->sync_at[in->reconv] = 1;
    }
}

bool lower_flow(struct lower *l) {
    uint32_t n = l->func->inst_count;
    l->block_guard = ww_arena_array(l->arena, l->cfg.count + 1, sizeof *l->block_guard);
    l->sync_before = ww_arena_array(l->arena, n, 1);
    l->sync_at = ww_arena_array(l->arena, n, 1);
    l->folded_branch = ww_arena_array(l->arena, n, sizeof *l->folded_branch);
    if (!l->block_guard || !l->sync_before || !l->sync_at || !l->folded_branch) return false;
    for (uint32_t b = 0; b <= l->cfg.count; b++) l->block_guard[b] = -1;
    if (!find_divergence(l)) return false;
    convert_ifs(l);
    find_regions(l);
    return true;
}

static const struct lower_reg nowhere = {.group = -1};

static void jump(struct lower *l, const struct ptx_inst *i) {
    uint32_t at = l->cur, target = (uint32_t)i->opnd[0].imm;
    if (l->folded_branch[at]) return;
    if (i->guard < 0 && target == at + 1) return; /* falls through */
    if (l->block_guard[i->block] >= 0) return;    /* end of a predicated body */
    struct lower_inst *m = lower_put(l, WW_OP_BRANCH, "BRA", nowhere, NULL, 0);
    if (!m) return;
    if (i->guard >= 0) m->flags |= WW_INST_BRANCH_COND;
    if (target <= at) m->flags |= WW_INST_BACK_EDGE;
}

void lower_branch(struct lower *l, const struct ptx_inst *i) {
    struct lower_src s;
    switch (i->op) {
    case PTX_BRA: jump(l, i); break;
    case PTX_BRX:
        s = lower_in_reg(l, lower_source(l, &i->opnd[0]), 1);
        lower_put(l, WW_OP_BRANCH, "BRX", nowhere, &s, 1);
        break;
    case PTX_EXIT: lower_put(l, WW_OP_EXIT, "EXIT", nowhere, NULL, 0); break;
    case PTX_TRAP: lower_put(l, WW_OP_EXIT, "BPT.TRAP", nowhere, NULL, 0); break;
    default:
        if (l->func->is_entry) lower_put(l, WW_OP_EXIT, "EXIT", nowhere, NULL, 0);
        else lower_put(l, WW_OP_BRANCH, l->arch == VOLTA ? "RET.REL.NODEC" : "RET", nowhere, NULL, 0);
        break;
    }
}

/* A call: the return address in a register pair on sm_70, on the call stack before. */
void lower_call(struct lower *l, const struct ptx_inst *i) {
    struct lower_src s[2] = {{0}};
    unsigned n = 0;
    if (l->arch == VOLTA) {
        struct lower_src here = {.kind = L_CONST, .is_imm = true, .imm = 16 * ((int64_t)l->cur + 1)};
        struct lower_reg back = lower_group_new(l, 2, false);
        lower_put(l, WW_OP_INT, "MOV", lower_part(back, 0), &here, 1);
        lower_put(l, WW_OP_INT, "MOV", lower_part(back, 1), &here, 1);
        s[n++] = lower_of(back);
    }
    if (!i->callee) s[n++] = lower_in_reg(l, lower_source(l, &i->opnd[i->call_ret]), 1);
    lower_put(l, WW_OP_BRANCH, l->arch == VOLTA ? "CALL.REL.NOINC" : i->callee ? "CAL" : "BRX", nowhere, s, n);
}
