#include "sm.h"

/* The instance of a unit that a scheduler would use: its own, or of shared ones the one that is free first. */
static inline uint64_t *port_of(const struct ww_sm *sm, uint32_t group, uint32_t sched) {
    uint64_t *port = sm->port[group];
    uint32_t count = sm->core->instances[group], first = 0;
    if (count == 0) return &port[sched];
    for (uint32_t i = 1; i < count; i++)
        if (port[i] < port[first]) first = i;
    return &port[first];
}

/* Cycle from which a group takes an instruction of a scheduler. */
static inline uint64_t group_free(const struct ww_sm *sm, uint32_t group, uint32_t sched) {
    if (group == WW_G_LSU) return sm->lsu.count < sm->lsu.capacity ? 0 : WW_NEVER;
    if (group == WW_G_CONST) return sm->const_free;
    if (group == WW_G_FREE || group == WW_G_FENCE) return 0;
    uint64_t at = *port_of(sm, group, sched);
    if (group == WW_G_IMUL && sm->core->imul_group2) {
        uint64_t other = *port_of(sm, sm->core->imul_group2, sched);
        if (other > at) at = other;
    }
    return at;
}

static void set_results(const struct ww_core *core, struct ww_warp *w, const struct ww_dinst *d,
                        uint64_t entry) {
    const uint16_t *reg = core->code.reg + d->check + d->check_count - d->result_count;
    for (uint32_t i = 0; i < d->result_count; i++) w->board[reg[i]] = entry;
}

static void issue_memory(struct ww_sm *sm, struct ww_warp *w, const struct ww_dinst *d, uint32_t mask,
                         uint32_t inst, uint64_t cycle) {
    if (mask == 0) {
        /* No lane gives an address: nothing is fetched or stored; shared memory sees an empty pass. */
        if (d->path == WW_L_SHARED || d->path == WW_L_SHARED_ATOMIC) sm->core->counter[WW_C_SHARED_PASSES]++;
        return;
    }
    set_results(sm->core, w, d, WW_SB(WW_NEVER, (uint64_t)d->state));
    if (d->async) {
        w->board[sm->core->code.async_register] = WW_SB(WW_NEVER, (uint64_t)d->state);
        w->async_count++;
    }
    ww_lsu_push(sm, w, inst, mask, d->access ? w->access : NULL, cycle);
}

static void sleep_until(struct ww_sm *sm, struct ww_warp *w, const struct ww_dinst *d, uint64_t cycle) {
    /* PTX limits nanosleep to a millisecond; a longer value is not believed. */
    uint64_t ns = d->access ? w->access->base : 0, period = sm->core->clock.period_fp;
    if (ns > 1000000) ns = 1000000;
    w->front = cycle + 1 + ((ns * 1000) << 16) / period;
    w->front_state = WW_S_PAUSED;
}

/* What the instruction does besides taking its port. Returns false if the warp is held until something
 * outside of it happens. */
static bool act(struct ww_sm *sm, struct ww_warp *w, const struct ww_dinst *d, const struct ww_step *step,
                uint64_t cycle) {
    switch (d->action) {
    case WW_A_CONST: {
        uint64_t at = step->mask ? ww_const_load(sm, d->access ? w->access : NULL, w->pool, step->mask, cycle)
                                 : cycle + 1;
        set_results(sm->core, w, d, WW_SB(at + d->latency, (uint64_t)d->state));
        return true;
    }
    case WW_A_LSU:
        issue_memory(sm, w, d, step->mask, step->inst, cycle);
        return true;
    case WW_A_FENCE:
        if (w->memory_count == 0) return true;
        w->fenced = true;
        return false;
    case WW_A_SLEEP:
        sleep_until(sm, w, d, cycle);
        return true;
    case WW_A_BARRIER:
        ww_barrier_arrive(sm, w, d, d->access ? w->access : NULL, cycle);
        return !w->barred;
    default:
        set_results(sm->core, w, d, WW_SB(cycle + d->latency, (uint64_t)d->state));
        return true;
    }
}

static void count_branch(struct ww_core *core, struct ww_warp *w, const struct ww_step *step) {
    uint32_t before = step->mask | w->last_mask, after = w->step < w->end ? w->step->mask : 0;
    if (after && ww_bits(after) < ww_bits(before) && !(after & ~before)) core->counter[WW_C_BRANCH_DIVERGENT]++;
}

static void count_issue(struct ww_core *core, const struct ww_step *step) {
    struct ww_inst_count *n = &core->epochs.inst[step->inst];
    n->issues++;
    n->threads += step->mask == UINT32_MAX ? 32 : ww_bits(step->mask);
    core->epochs.now->warp_instructions++;
    core->issued++;
}

/* Issues the head of a ready warp and leaves it at the next instruction, not yet looked at. Returns false if
 * the warp is held, or has ended. */
static bool issue_head(struct ww_sm *sm, uint32_t sched, struct ww_warp *w, uint64_t cycle) {
    struct ww_core *core = sm->core;
    const struct ww_step *step = w->step;
    const struct ww_dinst *d = &core->code.inst[step->inst];
    if (d->ii) *port_of(sm, d->group, sched) = cycle + d->ii;
    if (d->group2) *port_of(sm, d->group2, sched) = cycle + d->ii2;
    count_issue(core, step);
    w->front = cycle + 1;
    w->front_state = WW_S_NO_INST;
    bool goes_on = act(sm, w, d, step, cycle);
    if (d->access) w->access++;
    w->step++;
    if (d->action == WW_A_BRANCH && d->conditional) count_branch(core, w, step);
    w->last_mask = step->mask;
    if (w->step < w->end && d->action != WW_A_SLEEP) {
        uint64_t fetched = ww_front_next(sm, w, d, cycle);
        if (fetched > w->front) w->front = fetched;
    }
    return goes_on && w->step < w->end;
}

/* The second instruction of a cycle: the same warp's next, if it depends on nothing unfinished and goes to
 * another port. Branches and what follows them, barriers and fences issue alone. */
static bool can_pair(struct ww_sm *sm, uint32_t sched, struct ww_warp *w, const struct ww_dinst *first,
                     uint64_t cycle) {
    const struct ww_dinst *d = ww_head(sm->core, w);
    const uint16_t *reg = sm->core->code.reg + d->check;
    if (first->action >= WW_A_BRANCH && first->action <= WW_A_SLEEP) return false;
    if (d->group == WW_G_FREE || d->group == WW_G_FENCE || w->front > cycle + 1) return false;
    if (d->group == first->group || d->group == first->group2 || d->group2 == first->group) return false;
    for (uint32_t i = 0; i < d->check_count; i++)
        if (WW_SB_CYCLE(w->board[reg[i]]) > cycle) return false;
    return group_free(sm, d->group, sched) <= cycle;
}

static void after_issue(struct ww_sm *sm, struct ww_warp *w, bool goes_on, uint64_t cycle) {
    if (goes_on)
        ww_warp_head(sm, w, cycle + 1);
    else if (w->step < w->end)
        ww_warp_set_state(sm, w, w->fenced ? WW_S_MEMBAR : WW_S_BARRIER, cycle + 1);
    else
        ww_warp_finish(sm, w, cycle + 1);
}

static void issue_warp(struct ww_sm *sm, uint32_t sched, struct ww_warp *w, uint64_t cycle) {
    struct ww_core *core = sm->core;
    struct ww_sched *s = &sm->sched[sched];
    const struct ww_dinst *d = ww_head(core, w);
    ww_issue_count(s, cycle);
    s->slot[WW_SLOT_ISSUED]++;
    s->counted = cycle + 1;
    s->next_issue = cycle + core->gpu->front_issue_interval + d->conflict;
    s->ready[w->group] &= ~(1ull << w->slot);
    if (!s->ready[w->group]) s->groups &= ~(1u << w->group);
    ww_warp_count(sm, w, cycle);
    ww_epochs_count(&core->epochs, w->inst, WW_S_ISSUED, cycle, cycle + 1);
    w->since = cycle + 1;
    if (core->ops->issued) core->ops->issued(s->state, w->slot, (WW_G_MEMORY >> w->group) & 1, cycle);
    bool goes_on = issue_head(sm, sched, w, cycle);
    if (goes_on && core->gpu->sm_issue_width > 1 && can_pair(sm, sched, w, d, cycle)) {
        core->counter[WW_C_DUAL_ISSUED]++;
        goes_on = issue_head(sm, sched, w, cycle);
    }
    after_issue(sm, w, goes_on, cycle);
}

/* Warps of a scheduler that can issue in this cycle; sets try_at to when another group's unit is free. */
static uint64_t issueable(struct ww_sm *sm, uint32_t sched, uint64_t cycle, uint64_t *memory) {
    struct ww_sched *s = &sm->sched[sched];
    uint64_t ready = 0;
    s->try_at = WW_NEVER;
    for (uint32_t groups = s->groups; groups; groups &= groups - 1) {
        uint32_t g = (uint32_t)__builtin_ctz(groups);
        uint64_t at = group_free(sm, g, sched);
        if (at > cycle) {
            if (at < s->try_at) s->try_at = at;
            continue;
        }
        ready |= s->ready[g];
        if ((WW_G_MEMORY >> g) & 1) *memory |= s->ready[g];
    }
    return ready;
}

/* After an issue: the first cycle in which one of the ready warps finds its unit free. */
static void find_next_try(struct ww_sm *sm, uint32_t sched, uint64_t cycle) {
    struct ww_sched *s = &sm->sched[sched];
    uint64_t next = WW_NEVER;
    if (s->next_issue > cycle + 1 && s->groups) { /* it waits in any case */
        s->try_at = s->next_issue;
        return;
    }
    for (uint32_t groups = s->groups; groups; groups &= groups - 1) {
        uint64_t at = group_free(sm, (uint32_t)__builtin_ctz(groups), sched);
        if (at < next) next = at;
    }
    if (next <= cycle) next = cycle + 1;
    s->try_at = next < s->next_issue ? s->next_issue : next;
}

static void schedule(struct ww_sm *sm, uint32_t sched, uint64_t cycle) {
    struct ww_sched *s = &sm->sched[sched];
    uint64_t memory = 0;
    if (s->next_issue > cycle) {
        s->try_at = s->next_issue;
        return;
    }
    uint64_t ready = issueable(sm, sched, cycle, &memory);
    if (!ready) return;
    struct ww_sched_view view = {cycle, ready, memory, s->resident, s->age, s->cta, ww_l1_saturated(sm)};
    int slot = sm->core->ops->pick(s->state, &view);
    if (slot < 0 || slot > 63 || !((ready >> slot) & 1)) {
        s->try_at = cycle + 1;
        return;
    }
    issue_warp(sm, sched, &sm->warp[(uint32_t)slot * sm->core->gpu->sm_schedulers + sched], cycle);
    find_next_try(sm, sched, cycle);
}

uint64_t ww_issue(struct ww_sm *sm, uint64_t cycle) {
    uint64_t next = WW_NEVER;
    for (uint32_t k = 0; k < sm->core->gpu->sm_schedulers; k++) {
        struct ww_sched *s = &sm->sched[k];
        if (s->try_at <= cycle) schedule(sm, k, cycle);
        if (s->try_at < next) next = s->try_at;
    }
    return next > cycle ? next : cycle + 1;
}
