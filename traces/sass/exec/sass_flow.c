/* sass_flow.c: branches, calls, convergence, barriers, exits. */
#include "bulk.h"

enum flow {
    FLOW_BRA,
    FLOW_CONV, /* branch if the lanes of a mask are all here */
    FLOW_DIV,  /* branch if they are not */
    FLOW_JUMP, /* to register + offset: BRX, JMX, CALL, RET */
    FLOW_BSSY,
    FLOW_BSYNC,
    FLOW_BREAK,
    FLOW_WARPSYNC,
    FLOW_YIELD,
    FLOW_EXIT,
    FLOW_TRAP,
    FLOW_BAR,
    FLOW_CLUSTER_ARRIVE,
    FLOW_CLUSTER_BAR,
    FLOW_SLEEP
};

static unsigned first_lane(uint32_t mask) {
    return (unsigned)__builtin_ctz(mask);
}

static uint32_t *copies(const struct sx_warp *w, const struct sx_inst *i) {
    return (uint32_t *)(void *)(w->base[0] + w->run->kernel->barrier_at + (uint32_t)i->imm * SX_ROW);
}

/* ---- branches ---- */

/* Lanes of `taken` go to `target`, the rest of the group to the next instruction. */
static bool go(struct sx_warp *w, uint32_t g, uint32_t taken, uint32_t target) {
    struct sx_group *at = &w->group[g];
    if (taken == 0) {
        at->pc++;
        return true;
    }
    if (target == SX_NOWHERE) {
        ww_sx_fail(w, first_lane(taken), WW_EXEC, "a branch to an address outside of the code");
        return false;
    }
    if (taken == at->mask) {
        at->pc = target;
        return true;
    }
    at->pc++;
    ww_sx_part(w, g, taken, target);
    return false;
}

/* All lanes take the branch: if it is that of a spin loop, nothing has happened since they came to the loop. */
static void go_round(struct sx_warp *w, uint32_t g, const struct sx_inst *i, uint32_t mask) {
    uint32_t inst = (uint32_t)(i - w->run->kernel->inst);
    if (w->run->recorder->entry[inst].loop)
        ww_spin_again(w->run->recorder, inst, mask, &w->stream, &w->group[g].watch);
}

static bool branch(struct sx_warp *w, uint32_t g, const struct sx_inst *i, uint32_t act) {
    uint32_t mask = w->group[g].mask, taken = act & sx_ps(w, i, 0) & sx_ps(w, i, 1);
    if (i->sub != FLOW_BRA && act) {
        uint32_t members = ((const uint32_t *)sx_src(w, i->a))[first_lane(act)];
        if (i->neg) members = ~members;
        bool here = (members & w->live & ~mask) == 0;
        if (here != (i->sub == FLOW_CONV)) taken = 0;
    }
    if (i->mods && taken) taken = mask; /* all lanes branch if one does */
    ww_sx_record(w, i, mask, taken);
    if (taken == mask && w->run->recorder && w->run->recorder->spins) go_round(w, g, i, mask);
    return go(w, g, taken, i->target);
}

/* Where lane l jumps to; calls of the driver's functions go to the next instruction. */
static uint32_t jump_target(struct sx_warp *w, const struct sx_inst *i, unsigned l, const char **external) {
    const struct sx_kernel *k = w->run->kernel;
    uint64_t address = (uint64_t)i->imm + (i->a == SX_ZERO ? 0 : sx_get64(sx_src(w, i->a), l));
    *external = NULL;
    if (address < WW_CUBIN_CODE && i->src->op == SASS_CALL) *external = ww_cubin_extern(k->cubin, address);
    if (*external) return (uint32_t)(i - k->inst) + 1;
    uint32_t target = ww_sx_find(k, address);
    if (target == SX_NOWHERE)
        ww_sx_fail(w, l, WW_EXEC, "a jump to 0x%llx, which is outside of the code",
                   (unsigned long long)address);
    return target;
}

/* Lanes part by their targets. */
static bool jump(struct sx_warp *w, uint32_t g, const struct sx_inst *i, uint32_t act) {
    uint32_t left = act & sx_ps(w, i, 0), rest = w->group[g].mask & ~left, target = 0;
    ww_sx_record(w, i, act, left);
    if (!left) {
        w->group[g].pc++;
        return true;
    }
    uint32_t lane_target[SX_LANES];
    for (uint32_t m = left; m; m &= m - 1) {
        const char *external;
        unsigned l = first_lane(m);
        lane_target[l] = jump_target(w, i, l, &external);
        if (external) ww_sx_extern(w, external, 1u << l);
        if (w->run->failed) return false;
    }
    for (;;) {
        uint32_t same = 0;
        target = lane_target[first_lane(left)];
        for (uint32_t m = left; m; m &= m - 1)
            if (lane_target[first_lane(m)] == target) same |= m & (0u - m);
        left &= ~same;
        if (!left && !rest) break;
        ww_sx_part(w, g, same, target);
        if (!left) {
            w->group[g].pc++;
            return false;
        }
    }
    w->group[g].pc = target;
    return w->group_count == 1;
}

/* ---- convergence ---- */

/* Lanes whose guard does not hold pass by: they go on alone. Group g keeps `act`. */
static void only(struct sx_warp *w, uint32_t g, uint32_t act) {
    uint32_t rest = w->group[g].mask & ~act;
    if (rest) ww_sx_part(w, g, rest, w->group[g].pc + 1);
}

static bool set_barrier(struct sx_warp *w, uint32_t g, const struct sx_inst *i, uint32_t act) {
    uint32_t *copy = copies(w, i);
    ww_sx_record(w, i, act, act);
    act &= sx_ps(w, i, 0);
    SX_EACH(act, copy[l] = act;);
    w->group[g].pc++;
    return true;
}

static bool wait_barrier(struct sx_warp *w, uint32_t g, const struct sx_inst *i, uint32_t act) {
    ww_sx_record(w, i, act, act);
    act &= sx_ps(w, i, 0);
    if (!act || w->group_count == 1) {
        w->group[g].pc++;
        return true;
    }
    only(w, g, act);
    w->group[g].state = SX_AT_BSYNC;
    w->group[g].barrier = (uint8_t)i->imm;
    ww_sx_settle(w);
    return false;
}

static bool leave_barrier(struct sx_warp *w, uint32_t g, const struct sx_inst *i, uint32_t act) {
    ww_sx_record(w, i, act, act);
    act &= sx_ps(w, i, 0);
    w->group[g].pc++;
    if (!act || w->group_count == 1) {
        if (act) ww_sx_leave_barrier(w, (uint32_t)i->imm, act);
        return true;
    }
    ww_sx_leave_barrier(w, (uint32_t)i->imm, act);
    ww_sx_settle(w);
    return false;
}

static bool sync_warp(struct sx_warp *w, uint32_t g, const struct sx_inst *i, uint32_t act) {
    ww_sx_record(w, i, act, act);
    act &= sx_ps(w, i, 0);
    if (!act || w->group_count == 1) {
        w->group[g].pc++;
        return true;
    }
    only(w, g, act);
    struct sx_group *at = &w->group[g];
    at->state = SX_AT_WARPSYNC;
    at->barrier = 0;
    at->members = ((const uint32_t *)sx_src(w, i->a))[first_lane(act)];
    ww_sx_settle(w);
    return false;
}

/* ---- the rest ---- */

static bool leave(struct sx_warp *w, uint32_t g, const struct sx_inst *i, uint32_t act) {
    ww_sx_record(w, i, act, act);
    act &= sx_ps(w, i, 0);
    w->group[g].pc++;
    if (!act) return true;
    ww_sx_exit(w, g, act);
    return false;
}

static bool barrier(struct sx_warp *w, uint32_t g, const struct sx_inst *i, uint32_t act) {
    if (!act) {
        ww_sx_record(w, i, 0, 0);
        w->group[g].pc++;
        return true;
    }
    unsigned first = first_lane(act);
    uint32_t number = ((const uint32_t *)sx_src(w, i->a))[first];
    uint32_t count = ((const uint32_t *)sx_src(w, i->b))[first];
    if (i->mods) { /* one register holds both */
        count = number >> 16 & 0xfff;
        number &= 15;
    }
    only(w, g, act);
    if (i->sub == FLOW_CLUSTER_BAR || i->sub == FLOW_CLUSTER_ARRIVE) {
        ww_sx_cluster_barrier(w, g, i->sub == FLOW_CLUSTER_BAR, act);
        if (!w->run->failed) ww_sx_record(w, i, act, act);
        return false;
    }
    if (number >= SX_CLUSTER_BARRIER)
        number = SX_BARRIERS; /* refused */
    else
        w->cta->barrier[number].is_and = i->cmp == SASS_BAR_AND;
    ww_sx_barrier(w, g, number, count, i->type != SASS_BAR_ARV, sx_ps(w, i, 0), act);
    if (!w->run->failed) ww_sx_record(w, i, act, act);
    return false;
}

bool ww_sx_flow(struct sx_warp *w, uint32_t g, const struct sx_inst *i, uint32_t act) {
    switch ((enum flow)i->sub) {
    case FLOW_BRA:
    case FLOW_CONV:
    case FLOW_DIV:
        return branch(w, g, i, act);
    case FLOW_JUMP:
        return jump(w, g, i, act);
    case FLOW_BSSY:
        return set_barrier(w, g, i, act);
    case FLOW_BSYNC:
        return wait_barrier(w, g, i, act);
    case FLOW_BREAK:
        return leave_barrier(w, g, i, act);
    case FLOW_WARPSYNC:
        return sync_warp(w, g, i, act);
    case FLOW_EXIT:
        return leave(w, g, i, act);
    case FLOW_BAR:
    case FLOW_CLUSTER_BAR:
    case FLOW_CLUSTER_ARRIVE:
        return barrier(w, g, i, act);
    case FLOW_TRAP:
        ww_sx_record(w, i, act, act);
        if (act) ww_sx_fail(w, first_lane(act), WW_EXEC, "trap");
        w->group[g].pc++;
        return true;
    case FLOW_SLEEP:
        if (act) w->value = ((const uint32_t *)sx_src(w, i->a))[first_lane(act)];
        break;
    case FLOW_YIELD:
        break;
    }
    ww_sx_record(w, i, act, act);
    w->group[g].pc++;
    if (w->group_count == 1) return true;
    w->current = (g + 1) % w->group_count;
    return false;
}

/* ---- building ---- */

/* The index of the instruction at a label, which is a byte offset of the section that holds `in`. */
static uint64_t label_address(struct sx_builder *b, const struct ww_sass_insn *in) {
    const struct sx_kernel *k = ww_sx_building(b);
    uint64_t own = ww_sx_address(k, (uint32_t)(in - k->insn));
    return own - in->offset + (uint64_t)in->opd[SASS_E].imm;
}

/* The slot in which a branch has what is uniform: a predicate, or the mask of lanes of CONV and DIV. */
static enum ww_sass_slot uniform_slot(const struct ww_sass_insn *in) {
    static const uint8_t slots[] = {SASS_PS3, SASS_PS2, SASS_A, SASS_B};
    for (size_t n = 0; n < sizeof slots; n++)
        if (in->opd[slots[n]].kind != SASS_K_NONE) return (enum ww_sass_slot)slots[n];
    return SASS_PS3;
}

static bool pick_branch(struct sx_builder *b, const struct ww_sass_insn *in, struct sx_inst *i) {
    enum ww_sass_slot slot = uniform_slot(in);
    const struct ww_sass_operand *o = &in->opd[slot];
    bool is_mask = o->kind == SASS_K_UREG || o->kind == SASS_K_REG;
    if (in->opd[SASS_E].kind != SASS_K_LABEL || in->mod[SASS_M_INC]) return false;
    i->mods = in->mod[SASS_M_EXTRA]; /* ANY */
    i->ps[1] = is_mask ? SX_ONES : ww_sx_pred_src(b, in, slot, 1, i);
    i->sub = in->mod[SASS_M_CONV] ? FLOW_CONV : in->mod[SASS_M_DIV] ? FLOW_DIV : FLOW_BRA;
    i->target = ww_sx_find(ww_sx_building(b), label_address(b, in));
    i->neg = is_mask && (o->flags & SASS_F_NOT);
    i->a = is_mask ? ww_sx_src(b, in, slot, 1) : SX_ONES;
    return i->sub != FLOW_BRA || !is_mask;
}

/* Jumps, calls and returns: base in a register or none, and a label, an absolute address or an offset. */
static bool pick_jump(struct sx_builder *b, const struct ww_sass_insn *in, struct sx_inst *i) {
    const struct ww_sass_operand *e = &in->opd[SASS_E];
    bool absolute = in->op == SASS_JMP || in->op == SASS_JMX || in->op == SASS_JMXU || in->mod[SASS_M_ABSOLUTE];
    uint64_t next =
        ww_sx_address(ww_sx_building(b), (uint32_t)(in - ww_sx_building(b)->insn)) + SASS_INSN_BYTES;
    i->sub = FLOW_JUMP;
    i->a = ww_sx_src(b, in, SASS_A, 2);
    i->imm = e->imm;
    if (!absolute) i->imm = (int64_t)(e->kind == SASS_K_LABEL ? label_address(b, in) : next + (uint64_t)e->imm);
    return true;
}

static void pick_barrier(struct sx_builder *b, const struct ww_sass_insn *in, struct sx_inst *i) {
    i->sub = FLOW_BAR;
    i->type = in->mod[SASS_M_BAR];
    i->cmp = in->mod[SASS_M_BARRED];
    i->a = ww_sx_src(b, in, SASS_A, 1);
    i->b = ww_sx_src(b, in, SASS_B, 1);
    i->mods = in->opd[SASS_A].kind == SASS_K_REG && in->opd[SASS_B].kind == SASS_K_REG;
}

static bool pick_convergence(const struct ww_sass_insn *in, struct sx_inst *i, uint8_t sub) {
    i->sub = sub;
    i->imm = in->opd[SASS_A].reg;
    return in->opd[SASS_A].kind == SASS_K_BAR && in->opd[SASS_A].reg < SX_CONVERGENCE;
}

bool ww_sx_pick_flow(struct sx_builder *b, const struct ww_sass_insn *in, struct sx_inst *i) {
    i->kind = SX_FLOW;
    i->ps[0] = SX_ONES;
    if (in->op != SASS_BMOV) i->ps[0] = ww_sx_pred_src(b, in, SASS_PS, 0, i);
    switch (in->op) {
    case SASS_BRA:
        return pick_branch(b, in, i);
    case SASS_BRX:
    case SASS_BRXU:
    case SASS_JMP:
    case SASS_JMX:
    case SASS_JMXU:
    case SASS_CALL:
    case SASS_RET:
        return pick_jump(b, in, i);
    case SASS_BSSY:
        return pick_convergence(in, i, FLOW_BSSY);
    case SASS_BSYNC:
        return pick_convergence(in, i, FLOW_BSYNC);
    case SASS_BREAK:
        return pick_convergence(in, i, FLOW_BREAK);
    case SASS_WARPSYNC:
        i->sub = FLOW_WARPSYNC;
        i->a = in->mod[SASS_M_ALLLANES] == 1 ? SX_ONES
                                             : ww_sx_src(b, in, in->opd[SASS_A].kind ? SASS_A : SASS_B, 1);
        return true;
    case SASS_YIELD:
        i->sub = FLOW_YIELD;
        return true;
    case SASS_NANOSLEEP:
        i->sub = FLOW_SLEEP;
        i->a = ww_sx_src(b, in, in->opd[SASS_B].kind ? SASS_B : SASS_A, 1);
        return true;
    case SASS_EXIT:
    case SASS_KILL:
        i->sub = FLOW_EXIT;
        return true;
    case SASS_BPT: /* EXTRA 3: a trap; the others only tell a debugger */
        i->sub = in->mod[SASS_M_EXTRA] == 3 ? FLOW_TRAP : FLOW_YIELD;
        return true;
    case SASS_BAR:
        pick_barrier(b, in, i);
        return true;
    case SASS_UCGABAR_ARV:
    case SASS_UCGABAR_WAIT:
        i->sub = in->op == SASS_UCGABAR_WAIT ? FLOW_CLUSTER_BAR : FLOW_CLUSTER_ARRIVE;
        i->a = i->b = SX_ZERO;
        return true;
    default:
        i->kind = SX_DATA;
        i->ps[0] = 0;
        i->pneg = 0;
        return false;
    }
}
