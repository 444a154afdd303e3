#include "sm.h"

/* The slot cause that a warp in a state gives its scheduler. */
static uint32_t cause_of(uint32_t state) {
    static const uint8_t cause[WW_STATE_COUNT] = {
        [WW_S_ISSUED] = WW_SLOT_ISSUED,          [WW_S_WAIT_ALU] = WW_SLOT_WAIT_ALU,
        [WW_S_WAIT_SFU] = WW_SLOT_WAIT_ALU,      [WW_S_WAIT_SHARED] = WW_SLOT_WAIT_SHARED,
        [WW_S_WAIT_CONST] = WW_SLOT_WAIT_SHARED, [WW_S_WAIT_L1] = WW_SLOT_WAIT_MEM,
        [WW_S_WAIT_L2] = WW_SLOT_WAIT_MEM,       [WW_S_WAIT_DRAM] = WW_SLOT_WAIT_MEM,
        [WW_S_WAIT_TLB] = WW_SLOT_WAIT_MEM,      [WW_S_EXCESS_ALU] = WW_SLOT_EXCESS_ALU,
        [WW_S_EXCESS_MEM] = WW_SLOT_EXCESS_MEM,  [WW_S_BARRIER] = WW_SLOT_BARRIER,
        [WW_S_MEMBAR] = WW_SLOT_BARRIER,         [WW_S_NO_INST] = WW_SLOT_NO_INST,
        [WW_S_SMEM_WAIT] = WW_SLOT_SMEM_WAIT,    [WW_S_DMA_WAIT] = WW_SLOT_DMA_WAIT,
        [WW_S_PAUSED] = WW_SLOT_PAUSED,          [WW_S_DONE] = WW_SLOT_DRAIN,
    };
    return cause[state];
}

static void add_cause(struct ww_sched *s, uint32_t cause) {
    if (s->cause_count[cause]++ == 0) s->causes |= 1u << cause;
}

static void remove_cause(struct ww_sched *s, uint32_t cause) {
    if (--s->cause_count[cause] == 0) s->causes &= ~(1u << cause);
}

void ww_warp_set_state(struct ww_sm *sm, struct ww_warp *w, uint32_t state, uint64_t cycle) {
    ww_warp_count(sm, w, cycle);
    if (state == w->state) return;
    uint32_t old = cause_of(w->state), new = cause_of(state);
    w->state = (uint8_t)state;
    if (old == new) return;
    struct ww_sched *s = &sm->sched[w->sched];
    ww_issue_count(s, cycle);
    remove_cause(s, old);
    add_cause(s, new);
}

/* Wakes the warp in `cycle`, or as late as the wheel reaches. */
static void wake_at(struct ww_sm *sm, const struct ww_warp *w, uint64_t cycle) {
    uint64_t most = sm->now + WW_WHEEL_SPAN;
    ww_wheel_set(&sm->wheel, cycle < most ? cycle : most, (uint32_t)(w - sm->warp));
}

/* The scoreboard entry that decides when an instruction's operands are there. */
static uint64_t board_entry(const struct ww_core *core, const struct ww_warp *w, const struct ww_dinst *d) {
    const uint16_t *reg = core->code.reg + d->check;
    uint64_t latest = 0;
    for (uint32_t i = 0; i < d->check_count; i++)
        if (w->board[reg[i]] > latest) latest = w->board[reg[i]];
    return latest;
}

static void make_ready(struct ww_sm *sm, struct ww_warp *w, uint32_t group, uint64_t cycle) {
    struct ww_sched *s = &sm->sched[w->sched];
    w->group = (uint8_t)group;
    s->ready[group] |= 1ull << w->slot;
    s->groups |= 1u << group;
    if (s->try_at > cycle) s->try_at = cycle;
    sm->stirred = true;
    ww_warp_set_state(sm, w, WW_G_MEMORY & (1u << group) ? WW_S_EXCESS_MEM : WW_S_EXCESS_ALU, cycle);
}

void ww_warp_head(struct ww_sm *sm, struct ww_warp *w, uint64_t cycle) {
    struct ww_core *core = sm->core;
    ww_warp_count(sm, w, cycle);
    if (w->front > cycle) {
        if (w->front_state == WW_S_NO_INST) w->inst = w->step->inst;
        ww_warp_set_state(sm, w, w->front_state, cycle);
        wake_at(sm, w, w->front);
        return;
    }
    const struct ww_dinst *d = ww_head(core, w);
    w->inst = w->step->inst;
    uint64_t entry = board_entry(core, w, d), at = WW_SB_CYCLE(entry);
    if (at <= cycle) {
        make_ready(sm, w, d->group, cycle);
        return;
    }
    ww_warp_set_state(sm, w, WW_SB_STATE(entry), cycle);
    if (at == WW_NEVER)
        w->pending = true;
    else
        wake_at(sm, w, at);
}

void ww_warp_arrival(struct ww_sm *sm, struct ww_warp *w, uint64_t cycle, uint32_t served) {
    if (!w->pending) return;
    uint64_t entry = board_entry(sm->core, w, ww_head(sm->core, w));
    if (WW_SB_CYCLE(entry) == WW_NEVER && cause_of(WW_SB_STATE(entry)) == cause_of(w->state)) return;
    if (cause_of(served) == cause_of(w->state)) w->state = (uint8_t)served;
    ww_warp_count(sm, w, cycle);
    w->pending = false;
    ww_warp_head(sm, w, cycle);
}

static void release_fence(struct ww_sm *sm, struct ww_warp *w, uint64_t cycle) {
    w->fenced = false;
    w->front = w->memory_at > cycle ? w->memory_at : cycle;
    w->front_state = WW_S_MEMBAR;
    ww_warp_head(sm, w, cycle);
}

void ww_warp_memory_done(struct ww_sm *sm, struct ww_warp *w, uint64_t cycle, uint64_t ready) {
    if (ready > w->memory_at) w->memory_at = ready;
    w->memory_count--;
    if (w->fenced && w->memory_count == 0) release_fence(sm, w, cycle);
}

void ww_warp_finish(struct ww_sm *sm, struct ww_warp *w, uint64_t cycle) {
    struct ww_cta *cta = &sm->cta[w->cta];
    w->done = true;
    w->fenced = false;
    ww_warp_set_state(sm, w, WW_S_DONE, cycle);
    cta->exited++;
    ww_barrier_exit(sm, cta, cycle - 1);
    if (w->inflight == 0) ww_dispatch_warp_gone(sm, w->cta, cycle);
}

void ww_warp_arrive(struct ww_sm *sm, struct ww_warp *w, uint64_t cycle, uint64_t first_fetch) {
    struct ww_core *core = sm->core;
    struct ww_sched *s = &sm->sched[w->sched];
    uint64_t bit = 1ull << w->slot;
    ww_issue_count(s, cycle);
    add_cause(s, cause_of(WW_S_NO_INST));
    s->resident |= bit;
    s->age[w->slot] = core->age++;
    s->cta[w->slot] = w->cta;
    if (core->ops->arrived) core->ops->arrived(s->state, w->slot, s->age[w->slot]);
    w->state = w->front_state = WW_S_NO_INST;
    w->since = cycle;
    w->front = first_fetch;
    w->resident = true;
    sm->resident_warps++;
}

void ww_warp_leave(struct ww_sm *sm, struct ww_warp *w, uint64_t cycle) {
    struct ww_sched *s = &sm->sched[w->sched];
    ww_warp_count(sm, w, cycle);
    ww_issue_count(s, cycle);
    remove_cause(s, cause_of(w->state));
    s->resident &= ~(1ull << w->slot);
    if (sm->core->ops->finished) sm->core->ops->finished(s->state, w->slot);
    w->resident = false;
    w->generation++;
    sm->resident_warps--;
}
