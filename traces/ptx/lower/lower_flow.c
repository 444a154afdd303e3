/* lower_flow.c: control flow: divergence, predicated short branches, reconvergence, calls. */
#include "lower.h"

#define PASSES_MAX 16
enum { NOT_FOLDED, FOLDED, FOLDED_JUMP };
#define PREDICATED_MAX 7 /* instructions that ptxas makes conditional rather than branch around */

static bool divergent_source(const struct ptx_inst *i) {
    switch (i->op) {
    case PTX_LD:
        return i->space == PTX_S_LOCAL;
    case PTX_MOV:
        if (i->opnd[1].kind != PTX_O_SREG) return false;
        switch (i->opnd[1].sreg) {
        case PTX_SR_TID:
        case PTX_SR_LANEID:
        case PTX_SR_LANEMASK_EQ:
        case PTX_SR_LANEMASK_LE:
        case PTX_SR_LANEMASK_LT:
        case PTX_SR_LANEMASK_GE:
        case PTX_SR_LANEMASK_GT:
            return true;
        default:
            return false;
        }
    default:
        return ptx_op_is(i, OP_VARIES);
    }
}

static bool depends(const struct lower *l, const struct ptx_inst *i) {
    struct lower_use use[LOWER_USES_MAX];
    if (ptx_op_is(i, OP_UNIFORM)) return false;
    uint32_t n = ww_lower_uses(i, use);
    for (uint32_t k = 0; k < n; k++)
        if (l->value[use[k].reg].divergent) return true;
    return false;
}

/* Blocks that only some lanes of a warp may execute, because of one divergent branch. */
struct partial {
    uint32_t first, end;
};

struct partials {
    struct partial *list;
    uint32_t count;
};

/* A register that is written in a part and read outside of it holds different definitions in different
 * lanes; one that is written and read inside only is the same for all lanes that are there. */
static bool is_joined(const struct lower_value *v, uint32_t block, const struct partials *parts) {
    for (uint32_t k = 0; k < parts->count; k++) {
        const struct partial *p = &parts->list[k];
        if (block >= p->first && block < p->end && (v->use_first < p->first || v->use_last >= p->end))
            return true;
    }
    return false;
}

/* Marks what differs between the lanes of a warp. */
static bool pass(struct lower *l, const struct partials *parts) {
    const struct ptx_func *f = l->func;
    bool changed = false;
    for (uint32_t i = 0; i < f->inst_count; i++) {
        const struct ptx_inst *in = &f->inst[i];
        int32_t reg[64];
        if (!l->reachable[in->block]) continue;
        uint32_t n = ww_lower_defs(in, reg, 64);
        if (!n) continue;
        bool all = divergent_source(in) || depends(l, in);
        for (uint32_t k = 0; k < n; k++) {
            struct lower_value *v = &l->value[reg[k]];
            if (v->divergent || !(all || (v->defs > 1 && is_joined(v, in->block, parts)))) continue;
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

static void find_partials(const struct lower *l, struct partials *parts) {
    const struct ptx_func *f = l->func;
    parts->count = 0;
    for (uint32_t b = 0; b < l->cfg.count; b++) {
        const struct ptx_inst *last = &f->inst[l->cfg.block[b].end - 1];
        if ((last->op != PTX_BRA && last->op != PTX_BRX) || !is_divergent(l, last)) continue;
        uint32_t join = last->reconv >= 0 ? f->inst[last->reconv].block : l->cfg.count;
        uint32_t target = last->op == PTX_BRA ? f->inst[last->opnd[0].imm].block : b + 1;
        struct partial p = {b + 1, join};
        if (target <= b) p = (struct partial){target, b + 1}; /* lanes leave the loop one by one */
        if (p.end > p.first) parts->list[parts->count++] = p;
    }
}

static void find_use_range(struct lower *l) {
    const struct ptx_func *f = l->func;
    struct lower_use use[LOWER_USES_MAX];
    for (uint32_t r = 0; r < f->reg_count; r++) l->value[r].use_first = UINT32_MAX;
    for (uint32_t i = 0; i < f->inst_count; i++) {
        uint32_t n = ww_lower_uses(&f->inst[i], use), b = f->inst[i].block;
        for (uint32_t k = 0; k < n; k++) {
            struct lower_value *v = &l->value[use[k].reg];
            if (b < v->use_first) v->use_first = b;
            if (b > v->use_last) v->use_last = b;
        }
    }
}

#define JOIN_WORK_MAX ((uint64_t)1 << 25)

static bool find_divergence(struct lower *l) {
    struct partials parts = {.list = ww_arena_array(l->arena, l->cfg.count + 1, sizeof *parts.list)};
    if (!parts.list) return false;
    find_use_range(l);
    bool changed = true;
    for (unsigned k = 0; k < PASSES_MAX && changed; k++) {
        if ((uint64_t)parts.count * l->func->inst_count > JOIN_WORK_MAX) break;
        changed = pass(l, &parts);
        find_partials(l, &parts);
    }
    for (uint32_t r = 0; changed && r < l->func->reg_count; r++) l->value[r].divergent = true; /* gave up */
    return true;
}

/* Machine cost of a block as far as it is known before it is lowered; -1: cannot be predicated. */
static int block_cost(const struct lower *l, uint32_t b, int32_t guard) {
    const struct ptx_func *f = l->func;
    int cost = 0;
    for (uint32_t i = l->cfg.block[b].first; i < l->cfg.block[b].end; i++) {
        const struct ptx_inst *x = &f->inst[i];
        int32_t reg;
        bool one = ww_lower_defs(x, &reg, 1) == 1;
        if (one && reg == guard) return -1;
        if (x->op == PTX_BRA && i + 1 == l->cfg.block[b].end && x->guard < 0) continue;
        if (ptx_op_is(x, OP_BRANCHED) || x->op == PTX_BRA) return -1;
        if (l->live[i] && !(one && l->value[reg].deferred)) cost++;
    }
    return cost;
}

/* Follows blocks of one predecessor and one successor from `b` to `join`. Returns their cost, -1 if they do not
 * form such a chain; *last: the highest block of it. Guards them if `guard_them`. */
static int follow(struct lower *l, uint32_t b, uint32_t join, int32_t guard, uint32_t *last, bool guard_them) {
    int cost = 0;
    for (unsigned steps = 0; b != join; steps++) {
        const struct ptx_block *k = b < l->cfg.count ? &l->cfg.block[b] : NULL;
        if (!k || steps > PREDICATED_MAX || k->pred_count != 1 || k->succ_count != 1) return -1;
        int c = block_cost(l, b, guard);
        if (c < 0) return -1;
        cost += c;
        if (b > *last) *last = b;
        if (guard_them) l->block_guard[b] = guard;
        b = l->cfg.succ[k->succ];
    }
    return cost;
}

/* Conditional branches over code so short that ptxas predicates it: triangles and diamonds. */
static void convert_ifs(struct lower *l) {
    const struct ptx_func *f = l->func;
    for (uint32_t b = 0; b + 1 < l->cfg.count; b++) {
        uint32_t at = l->cfg.block[b].end - 1, last = b;
        const struct ptx_inst *in = &f->inst[at];
        if (in->op != PTX_BRA || in->guard < 0 || in->reconv < 0 || !l->reachable[b]) continue;
        uint32_t join = f->inst[in->reconv].block, target = f->inst[in->opnd[0].imm].block;
        int taken = follow(l, target, join, in->guard, &last, false);
        int not_taken = follow(l, b + 1, join, in->guard, &last, false);
        if (taken < 0 || not_taken < 0 || taken + not_taken > PREDICATED_MAX || taken + not_taken == 0)
            continue;
        follow(l, target, join, in->guard, &last, true);
        follow(l, b + 1, join, in->guard, &last, true);
        l->folded_branch[at] = join == last + 1 ? FOLDED : FOLDED_JUMP;
    }
}

/* Whether nothing but the end stands at `at`. */
static bool is_end(const struct ptx_func *f, int32_t at) {
    return at < 0 || f->inst[at].op == PTX_RET || f->inst[at].op == PTX_EXIT;
}

struct loop {
    uint32_t first, last; /* blocks, in layout order */
};

/* Back edges in layout order, as the ranges of blocks that they span. */
static uint32_t find_loops(const struct lower *l, struct loop *loop) {
    uint32_t n = 0;
    for (uint32_t b = 0; b < l->cfg.count; b++)
        for (uint32_t k = 0; k < l->cfg.block[b].succ_count; k++) {
            uint32_t s = l->cfg.succ[l->cfg.block[b].succ + k];
            if (s <= b) loop[n++] = (struct loop){s, b};
        }
    return n;
}

/* Opens a region: before the branch, or on the ways into the outermost loop that holds the branch but not
 * the place where it reconverges. */
static void open_region(struct lower *l, uint32_t at, const struct loop *loop, uint32_t loops) {
    const struct ptx_func *f = l->func;
    uint32_t b = f->inst[at].block, join = f->inst[f->inst[at].reconv].block;
    struct loop out = {b, b};
    bool inside = false;
    for (uint32_t k = 0; k < loops; k++) {
        if (b < loop[k].first || b > loop[k].last || (join >= loop[k].first && join <= loop[k].last)) continue;
        if (loop[k].first < out.first) out.first = loop[k].first;
        if (loop[k].last > out.last) out.last = loop[k].last;
        inside = true;
    }
    if (!inside) {
        l->sync_before[at]++;
        return;
    }
    for (uint32_t x = out.first; x <= out.last; x++)
        for (uint32_t k = 0; k < l->cfg.block[x].pred_count; k++) {
            uint32_t p = l->cfg.pred[l->cfg.block[x].pred + k];
            if ((p < out.first || p > out.last) && l->sync_before[l->cfg.block[p].end - 1] < 8)
                l->sync_before[l->cfg.block[p].end - 1]++;
        }
}

#define LOOP_WORK_MAX ((uint64_t)1 << 24)

static bool find_regions(struct lower *l) {
    const struct ptx_func *f = l->func;
    uint32_t edges = 0;
    for (uint32_t b = 0; b < l->cfg.count; b++) edges += l->cfg.block[b].succ_count;
    struct loop *loop = ww_arena_array(l->arena, edges, sizeof *loop);
    if (!loop) return false;
    uint32_t loops = find_loops(l, loop);
    if ((uint64_t)loops * l->cfg.count > LOOP_WORK_MAX) loops = 0; /* regions then open at the branches */
    for (uint32_t b = 0; b < l->cfg.count; b++) {
        uint32_t at = l->cfg.block[b].end - 1;
        const struct ptx_inst *in = &f->inst[at];
        if (!l->reachable[b] || (in->op != PTX_BRA && in->op != PTX_BRX) || l->folded_branch[at]) continue;
        if (!is_divergent(l, in) || is_end(f, in->reconv) || l->sync_at[in->reconv]) continue;
        open_region(l, at, loop, loops);
        l->sync_at[in->reconv] = 1;
    }
    return true;
}

bool ww_lower_flow(struct lower *l) {
    uint32_t n = l->func->inst_count;
    l->block_guard = ww_arena_array(l->arena, l->cfg.count + 1, sizeof *l->block_guard);
    l->sync_before = ww_arena_array(l->arena, n, 1);
    l->sync_at = ww_arena_array(l->arena, n, 1);
    l->folded_branch = ww_arena_array(l->arena, n, sizeof *l->folded_branch);
    if (!l->block_guard || !l->sync_before || !l->sync_at || !l->folded_branch) return false;
    for (uint32_t b = 0; b <= l->cfg.count; b++) l->block_guard[b] = -1;
    if (!find_divergence(l)) return false;
    convert_ifs(l);
    return find_regions(l);
}

static const struct lower_reg nowhere = {.group = -1};

void ww_lower_op_bra(struct lower *l, const struct ptx_inst *i) {
    uint32_t at = l->cur, target = (uint32_t)i->opnd[0].imm;
    if (l->folded_branch[at] == FOLDED) return;
    if (l->folded_branch[at] == FOLDED_JUMP) { /* all lanes go on at the join, which stands elsewhere */
        struct lower_inst *m = ww_lower_put(l, WW_OP_BRANCH, "BRA", nowhere, NULL, 0);
        if (m) m->src_count = 0;
        return;
    }
    if (i->guard < 0 && target == at + 1) return; /* falls through */
    if (l->block_guard[i->block] >= 0) return;    /* end of a predicated body */
    struct lower_inst *m = ww_lower_put(l, WW_OP_BRANCH, "BRA", nowhere, NULL, 0);
    if (!m) return;
    if (i->guard >= 0) m->flags |= WW_INST_BRANCH_COND;
    if (target <= at) m->flags |= WW_INST_BACK_EDGE;
}

void ww_lower_op_brx(struct lower *l, const struct ptx_inst *i) {
    struct lower_src s = ww_lower_in_reg(l, ww_lower_source(l, &i->opnd[0]), 1);
    ww_lower_put(l, WW_OP_BRANCH, "BRX", nowhere, &s, 1);
}

void ww_lower_op_exit(struct lower *l, const struct ptx_inst *i) {
    (void)i;
    ww_lower_put(l, WW_OP_EXIT, "EXIT", nowhere, NULL, 0);
}

void ww_lower_op_trap(struct lower *l, const struct ptx_inst *i) {
    (void)i;
    ww_lower_put(l, WW_OP_EXIT, "BPT.TRAP", nowhere, NULL, 0);
}

void ww_lower_op_ret(struct lower *l, const struct ptx_inst *i) {
    (void)i;
    if (l->func->is_entry)
        ww_lower_put(l, WW_OP_EXIT, "EXIT", nowhere, NULL, 0);
    else
        ww_lower_put(l, WW_OP_BRANCH, l->arch == VOLTA ? "RET.REL.NODEC" : "RET", nowhere, NULL, 0);
}

/* A call: the return address in a register pair on sm_70, on the call stack before. */
void ww_lower_op_call(struct lower *l, const struct ptx_inst *i) {
    struct lower_src s[2] = {{0}};
    unsigned n = 0;
    if (ww_lower_transfer(l, i)) return;
    if (l->arch == VOLTA) {
        struct lower_src here = {.kind = L_CONST, .is_imm = true, .imm = 16 * ((int64_t)l->cur + 1)};
        struct lower_reg back = ww_lower_group_new(l, 2, false);
        ww_lower_put(l, WW_OP_INT, "MOV", ww_lower_part(back, 0), &here, 1);
        ww_lower_put(l, WW_OP_INT, "MOV", ww_lower_part(back, 1), &here, 1);
        s[n++] = ww_lower_of(back);
    }
    if (!i->callee) s[n++] = ww_lower_in_reg(l, ww_lower_source(l, &i->opnd[i->call_ret]), 1);
    ww_lower_put(l, WW_OP_BRANCH,
                 l->arch == VOLTA ? "CALL.REL.NOINC"
                 : i->callee      ? "CAL"
                                  : "BRX",
                 nowhere, s, n);
}
