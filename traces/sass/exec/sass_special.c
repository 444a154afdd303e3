/* sass_special.c: special registers, moves of convergence barriers, and what has no effect on values. */
#include "access.h"

#define WARPS_OF_SM 64u

static void nothing(SX_ARGS) {
    (void)w;
    (void)i;
    (void)mask;
}

void ww_sx_pick_nop(struct sx_inst *i) {
    i->kind = SX_DATA;
    i->fn = nothing;
}

/* ---- special registers ---- */

/* Numbers of special registers (sass_sreg.def). */
enum {
    SR_LANEID = 0,
    SR_CLOCK = 1,
    SR_VIRTCFG = 2,
    SR_VIRTID = 3,
    SR_TID = 32,
    SR_TID_X = 33,
    SR_CTAID_X = 37,
    SR_CTAID_Z = 39,
    SR_NTID = 40,
    SR_LWINHI = 46,
    SR_SWINHI = 47,
    SR_SWINLO = 48,
    SR_SWINSZ = 49,
    SR_SMEMSZ = 50,
    SR_LWINLO = 52,
    SR_LWINSZ = 53,
    SR_EQMASK = 56,
    SR_GEMASK = 60,
    SR_VIRTUALSMID = 67,
    SR_CLOCKLO = 80,
    SR_CLOCKHI = 81,
    SR_GLOBALTIMERLO = 82,
    SR_GLOBALTIMERHI = 83,
    SR_WARPGROUPID = 135,
    SR_CGACTAID = 136,
    SR_BANK = 138, /* sm_100: which copy of the driver's constants is current */
    SR_ZERO = 255
};

static uint32_t lane_mask(uint32_t sreg, unsigned l) {
    uint32_t eq = 1u << l, lt = eq - 1;
    switch (sreg - SR_EQMASK) {
    case 0:
        return eq;
    case 1:
        return lt;
    case 2:
        return lt | eq;
    case 3:
        return ~(lt | eq);
    default:
        return ~lt;
    }
}

static uint32_t thread_index(const struct sx_warp *w, unsigned l, uint32_t component) {
    const uint32_t *b = w->run->block;
    uint32_t t = w->index * SX_LANES + l;
    return component == 0 ? t % b[0] : component == 1 ? t / b[0] % b[1] : t / b[0] / b[1];
}

/* The same for all lanes. Time is the number of warp instructions that the launch has executed. */
static uint32_t uniform_sreg(const struct sx_warp *w, uint32_t sreg) {
    const struct sx_run *r = w->run;
    if (sreg >= SR_CTAID_X && sreg <= SR_CTAID_Z) return w->cta->ctaid[sreg - SR_CTAID_X];
    switch (sreg) {
    case SR_CLOCK:
    case SR_CLOCKLO:
    case SR_GLOBALTIMERLO:
        return (uint32_t)r->clock;
    case SR_CLOCKHI:
    case SR_GLOBALTIMERHI:
        return (uint32_t)(r->clock >> 32);
    case SR_VIRTCFG: /* bits 8 to 14: warps of the multiprocessor */
        return WARPS_OF_SM << 8;
    case SR_VIRTID: /* bits 8 to 14: the warp's number */
        return w->index << 8;
    case SR_VIRTUALSMID:
        return (uint32_t)(w->cta->index % SX_SMS);
    case SR_SMEMSZ:
        return r->shared_bytes;
    case SR_SWINHI:
        return (uint32_t)(SX_SHARED_WINDOW >> 32);
    case SR_LWINHI:
        return (uint32_t)(SX_LOCAL_WINDOW >> 32);
    case SR_SWINSZ:
    case SR_LWINSZ:
        return SX_WINDOW_BYTES;
    case SR_WARPGROUPID:
        return w->index / 4;
    case SR_CGACTAID:
        return w->cta->rank;
    default: /* SWINLO, LWINLO, SRZ */
        return 0;
    }
}

static bool is_known(uint32_t sreg) {
    switch (sreg) {
    case SR_LANEID:
    case SR_CLOCK:
    case SR_VIRTCFG:
    case SR_VIRTID:
    case SR_TID:
    case SR_LWINHI:
    case SR_SWINHI:
    case SR_SWINLO:
    case SR_SWINSZ:
    case SR_SMEMSZ:
    case SR_LWINLO:
    case SR_LWINSZ:
    case SR_VIRTUALSMID:
    case SR_CLOCKLO:
    case SR_CLOCKHI:
    case SR_GLOBALTIMERLO:
    case SR_GLOBALTIMERHI:
    case SR_WARPGROUPID:
    case SR_CGACTAID:
    case SR_BANK:
    case SR_ZERO:
        return true;
    default:
        return (sreg >= SR_TID_X && sreg <= SR_TID_X + 2) || (sreg >= SR_CTAID_X && sreg <= SR_CTAID_Z) ||
               (sreg >= SR_EQMASK && sreg <= SR_GEMASK);
    }
}

static uint32_t lane_sreg(const struct sx_warp *w, uint32_t sreg, unsigned l) {
    if (sreg == SR_LANEID) return l;
    if (sreg >= SR_TID_X && sreg <= SR_TID_X + 2) return thread_index(w, l, sreg - SR_TID_X);
    if (sreg == SR_TID) /* x in bits 0 to 15, y in 16 to 25, z in 26 to 31 */
        return thread_index(w, l, 0) | thread_index(w, l, 1) << 16 | thread_index(w, l, 2) << 26;
    if (sreg >= SR_EQMASK && sreg <= SR_GEMASK) return lane_mask(sreg, l);
    return uniform_sreg(w, sreg);
}

/* x of the lanes' threads: counted on from the first one's. */
static void read_thread_x(SX_ARGS) {
    uint32_t *d = sx_dst(w, i->d), x = thread_index(w, 0, 0), end = w->run->block[0], value[SX_LANES];
    for (unsigned l = 0; l < SX_LANES; l++) {
        value[l] = x++;
        if (x == end) x = 0;
    }
    SX_EACH(mask, d[l] = value[l];);
}

static void read_sreg(SX_ARGS) {
    uint32_t *d = sx_dst(w, i->d), sreg = (uint32_t)i->imm;
    if (sreg == SR_TID_X && i->kind != SX_UNIFORM) {
        read_thread_x(w, i, mask);
        return;
    }
    if (sreg >= SR_CTAID_X && sreg <= SR_CTAID_Z) {
        uint32_t v = uniform_sreg(w, sreg);
        SX_EACH(mask, d[l] = v;);
        return;
    }
    if (i->kind == SX_UNIFORM) { /* the lowest active lane's */
        uint32_t v = lane_sreg(w, sreg, (unsigned)__builtin_ctz(w->active));
        for (unsigned l = 0; l < SX_LANES; l++) d[l] = v;
        return;
    }
    SX_EACH(mask, d[l] = lane_sreg(w, sreg, l););
}

/* Two registers: the special one and the one behind it (clocks and timers: their upper halves). */
static void read_sreg64(SX_ARGS) {
    uint32_t *d = sx_dst(w, i->d), sreg = (uint32_t)i->imm;
    uint32_t low = uniform_sreg(w, sreg), high = sreg == SR_ZERO ? 0 : uniform_sreg(w, sreg + 1);
    SX_EACH(mask, d[l] = low; d[l + SX_LANES] = high;);
}

/* ---- convergence barriers as data ---- */

static uint32_t barrier_slot(const struct sx_kernel *k, uint32_t n) {
    return k->barrier_at + n * SX_ROW;
}

#define BREG_MACTIVE 26

static void move_from_barrier(SX_ARGS) {
    uint32_t *d = sx_dst(w, i->d), *from = sx_dst(w, i->a);
    SX_EACH(mask, d[l] = from[l];);
    if (i->mods) SX_EACH(mask, from[l] = 0;);
}

static void move_to_barrier(SX_ARGS) {
    uint32_t *d = sx_dst(w, i->d);
    const uint32_t *from = sx_src(w, i->a);
    SX_EACH(mask, d[l] = from[l];);
}

/* RPCMOV: between a general register and half of Rpc, a register of return addresses that kernels use for
 * spills. */
static bool pick_rpcmov(struct sx_builder *b, const struct ww_sass_insn *in, struct sx_inst *i) {
    uint32_t half = ww_sx_building(b)->return_at + (in->mod[SASS_M_HI] ? SX_ROW : 0);
    bool reads = in->opd[SASS_D].kind == SASS_K_REG;
    i->d = reads ? ww_sx_dst(b, in, SASS_D, 1) : half;
    i->a = reads ? half : ww_sx_src(b, in, SASS_B, 1);
    i->fn = move_to_barrier;
    return true;
}

static void move_active(SX_ARGS) {
    uint32_t *d = sx_dst(w, i->d);
    SX_EACH(mask, d[l] = mask;);
}

static bool is_barrier(const struct ww_sass_operand *o) {
    return (o->kind == SASS_K_BREG || o->kind == SASS_K_BAR) && o->reg < SX_CONVERGENCE;
}

/* BMOV: between general registers and the barriers, or from one barrier to another. Other state that it can
 * reach is the traps' and not there. */
static bool pick_bmov(struct sx_builder *b, const struct ww_sass_insn *in, struct sx_inst *i) {
    const struct ww_sass_operand *to = &in->opd[SASS_D], *from = &in->opd[SASS_B];
    const struct sx_kernel *k = ww_sx_building(b);
    i->mods = in->mod[SASS_M_CLEAR];
    if (is_barrier(to)) {
        i->d = barrier_slot(k, to->reg);
        i->a = is_barrier(from) ? barrier_slot(k, from->reg) : ww_sx_src(b, in, SASS_B, 1);
        i->fn = is_barrier(from) ? move_from_barrier : move_to_barrier;
        return true;
    }
    i->d = ww_sx_dst(b, in, SASS_D, 1);
    if (from->kind == SASS_K_BREG && from->reg == BREG_MACTIVE) {
        i->fn = move_active;
        return true;
    }
    i->a = is_barrier(from) ? barrier_slot(k, from->reg) : SX_SINK;
    i->fn = move_from_barrier;
    return is_barrier(from);
}

/* ---- the rest ---- */

/* What the last BAR.RED of the warp came to. */
static void barrier_result(SX_ARGS) {
    const struct sx_reduced *r = &w->reduced;
    uint32_t *d = sx_dst(w, i->d);
    SX_EACH(mask, d[l] = r->popc;);
    sx_set_pred(w, i->pd[0], (r->is_and ? r->all : r->any) ? SX_ALL : 0, mask);
}

/* The code address of the instruction, or of a label. */
static void code_address(SX_ARGS) {
    uint32_t *d = sx_dst(w, i->d);
    SX_EACH(mask, sx_set64(d, l, (uint64_t)i->imm););
}

static bool pick_code_address(struct sx_builder *b, const struct ww_sass_insn *in, struct sx_inst *i) {
    const struct sx_kernel *k = ww_sx_building(b);
    uint64_t own = ww_sx_address(k, (uint32_t)(in - k->insn));
    const struct ww_sass_operand *e = &in->opd[SASS_E];
    i->imm = (int64_t)own;
    if (e->kind == SASS_K_LABEL) i->imm = (int64_t)(own - in->offset) + e->imm;
    i->d = ww_sx_dst(b, in, SASS_D, 2);
    i->fn = code_address;
    return e->kind == SASS_K_LABEL || e->kind == SASS_K_NONE;
}

/* USETMAXREG.TRY_ALLOC always gets what it asks for. */
static void registers_granted(SX_ARGS) {
    (void)mask;
    sx_set_pred(w, i->pd[0], SX_ALL, SX_ALL);
}

/* QSPC: whether a generic address is in a space. */
static void query_space(SX_ARGS) {
    uint64_t addr[SX_LANES];
    uint32_t inside = 0, *d = sx_dst(w, i->d);
    ww_sx_compute(w, i->address, addr);
    for (uint32_t m = mask; m; m &= m - 1) {
        unsigned l = (unsigned)__builtin_ctz(m);
        bool shared = addr[l] - SX_SHARED_WINDOW < SX_CLUSTER_WINDOW;
        bool local = addr[l] - SX_LOCAL_WINDOW < SX_WINDOW_BYTES;
        bool yes = i->sub == WW_SPACE_SHARED  ? shared
                   : i->sub == WW_SPACE_LOCAL ? local
                                              : !shared && !local && addr[l] >= MEM_BASE;
        inside |= (uint32_t)yes << l;
        d[l] = yes;
    }
    sx_set_pred(w, i->pd[0], inside, mask);
}

static bool pick_query(struct sx_builder *b, const struct ww_sass_insn *in, struct sx_inst *i) {
    static const uint8_t space[] = {WW_SPACE_GLOBAL, WW_SPACE_LOCAL, WW_SPACE_SHARED};
    if (in->mod[SASS_M_EXTRA] >= sizeof space) return false;
    i->sub = space[in->mod[SASS_M_EXTRA]];
    i->address = ww_sx_address_of(b, in, SASS_A, WW_SPACE_NONE, 1, false);
    i->d = ww_sx_dst(b, in, SASS_D, 1);
    i->pd[0] = ww_sx_pred_dst(b, in, SASS_PD);
    i->fn = query_space;
    return i->address != NULL;
}

static bool pick_sreg(struct sx_builder *b, const struct ww_sass_insn *in, struct sx_inst *i) {
    bool uniform = in->op == SASS_S2UR || in->op == SASS_CS2UR,
         copy = in->op == SASS_CS2R || in->op == SASS_CS2UR;
    bool wide = copy && in->mod[SASS_M_WIDTH64];
    i->imm = in->opd[SASS_B].reg;
    i->d = ww_sx_dst(b, in, SASS_D, wide ? 2 : 1);
    if (uniform) i->kind = SX_UNIFORM;
    i->fn = wide ? read_sreg64 : read_sreg;
    return in->opd[SASS_B].kind == SASS_K_SREG && is_known((uint32_t)i->imm);
}

bool ww_sx_pick_special(struct sx_builder *b, const struct ww_sass_insn *in, struct sx_inst *i) {
    switch (in->op) {
    case SASS_NOP:
    case SASS_PMTRIG:
    case SASS_PREEXIT:
    case SASS_ACQBULK:
    case SASS_WARPGROUPSET:
    case SASS_ENDCOLLECTIVE:
    case SASS_MEMBAR:
    case SASS_ERRBAR:
    case SASS_CGAERRBAR:
    case SASS_FENCE:
    case SASS_DEPBAR:
    case SASS_LDGDEPBAR:
    case SASS_CCTL:
    case SASS_CCTLL:
    case SASS_CCTLT:
    case SASS_UCCTL:
        ww_sx_pick_nop(i);
        return true;
    case SASS_WARPGROUP:
        if (!ww_sx_pick_group_wait(in, i)) ww_sx_pick_nop(i);
        return true;
    case SASS_USETMAXREG:
        i->pd[0] = ww_sx_pred_dst(b, in, SASS_PD);
        i->fn = registers_granted;
        return true;
    case SASS_S2R:
    case SASS_CS2R:
    case SASS_S2UR:
    case SASS_CS2UR:
        return pick_sreg(b, in, i);
    case SASS_RPCMOV:
        return pick_rpcmov(b, in, i);
    case SASS_BMOV:
        return pick_bmov(b, in, i);
    case SASS_B2R:
        i->d = ww_sx_dst(b, in, SASS_D, 1);
        i->pd[0] = ww_sx_pred_dst(b, in, SASS_PD);
        i->fn = barrier_result;
        return true;
    case SASS_LEPC:
        return pick_code_address(b, in, i);
    case SASS_QSPC:
        return pick_query(b, in, i);
    default:
        return false;
    }
}
