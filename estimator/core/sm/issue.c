/* Issue: which warp of a scheduler issues next, and why the others do not. */
#include "../../result/result.h"
#include "barrel.h"
#include "collect.h"
#include "const_operand.h"
#include "issue_rules.h"
#include "lsu_queue.h"
#include "regs.h"
#include "sm_front.h"
#include "tensor.h"
#include "waits.h"
#include "warp_head.h"

/* Of instances that schedulers share, the one that is free first takes the instruction. */
static void take_shared(struct ww_sm *sm, uint32_t group, uint32_t count, uint64_t until) {
    const struct ww_core *core = sm->core;
    uint64_t *port = sm->port[group], next;
    uint32_t first = 0;
    for (uint32_t i = 1; i < count; i++)
        if (port[i] < port[first]) first = i;
    port[first] = until;
    next = port[0];
    for (uint32_t i = 1; i < count; i++)
        if (port[i] < next) next = port[i];
    for (uint32_t k = 0; k < core->gpu->sm_schedulers; k++) {
        struct ww_sched *s = &sm->sched[k];
        uint64_t other = group == WW_G_IMUL && core->imul_group2 ? s->unit_free[core->imul_group2] : 0;
        ww_issue_set_free(core, s, group, other > next ? other : next);
    }
}

static inline void take_unit(struct ww_sm *sm, struct ww_sched *s, uint32_t group, uint64_t until) {
    uint32_t count = sm->core->instances[group];
    if (count == 0)
        ww_issue_set_free(sm->core, s, group, until);
    else
        take_shared(sm, group, count, until);
}

static inline void set_results(struct ww_sm *sm, struct ww_warp *w, const struct ww_dinst *d, uint64_t cycle,
                               uint64_t entry) {
    for (uint32_t i = 0; i < d->result_count; i++) w->board[ww_results(d)[i]] = entry;
    if (d->counts) ww_depend_issue(sm, w, d, cycle, entry);
}

/* What ends later than its instruction: asynchronous copies, and stores of which mbarriers are told. */
static void count_copy(struct ww_sm *sm, struct ww_warp *w, const struct ww_dinst *d) {
    if (d->sends && sm->mbar) sm->mbar->warp[w - sm->warp].sent++;
    if (!d->async) return;
    w->board[sm->core->code.async_register] = WW_SB(WW_NEVER, (uint64_t)d->state);
    w->async_count++;
}

void ww_issue_memory(struct ww_sm *sm, struct ww_warp *w, const struct ww_dinst *d, uint32_t mask,
                     uint32_t inst, uint64_t cycle) {
    if (mask == 0) {
        /* No lane gives an address: nothing is fetched or stored; shared memory sees an empty pass. */
        if (d->path == WW_L_SHARED || d->path == WW_L_SHARED_ATOMIC) sm->core->counter[WW_C_SHARED_PASSES]++;
        return;
    }
    set_results(sm, w, d, cycle, WW_SB(WW_NEVER, (uint64_t)d->state));
    if (d->async || d->sends) count_copy(sm, w, d);
    ww_lsu_push(sm, w, d, inst, mask, d->access ? w->access : NULL, cycle);
}

static void sleep_until(struct ww_sm *sm, struct ww_warp *w, const struct ww_dinst *d, uint64_t cycle) {
    /* PTX limits nanosleep to a millisecond; a longer value is cut to that. */
    uint64_t ns = d->access ? w->access->base : 0, period = sm->core->clock.period_fp;
    if (ns > 1000000) ns = 1000000;
    w->front = cycle + 1 + ((ns * 1000) << 16) / period;
    w->front_state = WW_S_PAUSED;
}

/* What the instruction does besides taking its port. Returns false if the warp is held until something
 * outside of it happens. */
static bool act(struct ww_sm *sm, struct ww_warp *w, const struct ww_dinst *d, const struct ww_step *step,
                uint64_t cycle, uint64_t delay) {
    if (sm->barrel && ww_barrel_take(sm, w, d, cycle)) return true;
    if (d->action == WW_A_NONE) {
        set_results(sm, w, d, cycle, WW_SB(cycle + d->latency + delay, (uint64_t)d->state));
        return true;
    }
    switch (d->action) {
    case WW_A_CONST: {
        uint64_t at = step->mask ? ww_const_load(sm, d->access ? w->access : NULL, w->pool, step->mask, cycle)
                                 : cycle + 1;
        set_results(sm, w, d, cycle, WW_SB(at + d->latency + delay, (uint64_t)d->state));
        return true;
    }
    case WW_A_LSU:
        ww_issue_memory(sm, w, d, step->mask, step->inst, cycle + delay);
        return true;
    case WW_A_FENCE:
        if (w->memory_count == 0) {
            if (sm->booked && w->memory_at > w->front) {
                w->front = w->memory_at;
                w->front_state = WW_S_MEMBAR;
            }
            return true;
        }
        w->fenced = true;
        return false;
    case WW_A_DMA:
        ww_dma_issue(sm, w, d, step->mask, cycle);
        return true;
    case WW_A_TMA:
        if (ww_tma_issue(sm, w, d, cycle))
            set_results(sm, w, d, cycle, WW_SB(cycle + d->latency + delay, (uint64_t)d->state));
        return true;
    case WW_A_MATRIX: {
        uint64_t entry = WW_SB(cycle + d->latency + delay, (uint64_t)d->state);
        set_results(sm, w, d, cycle, entry);
        ww_tensor_issue(sm, w, d, entry);
        return true;
    }
    case WW_A_SLEEP:
        sleep_until(sm, w, d, cycle);
        return true;
    case WW_A_BARRIER:
        if (!step->mask) return true;
        ww_barrier_arrive(sm, w, d, d->access ? w->access : NULL, cycle);
        return !w->barred;
    default:
        set_results(sm, w, d, cycle, WW_SB(cycle + d->latency + delay, (uint64_t)d->state));
        return true;
    }
}

/* An instruction goes into its unit's queue; returns the cycles that it waits there. */
static uint64_t enqueue(const struct ww_sm *sm, struct ww_sched *s, const struct ww_dinst *d, uint64_t cycle) {
    uint64_t start = s->busy[d->group], end;
    if (d->matrix && sm->core->code.contended) start += ww_tensor_contention(sm, s, d, cycle);
    if (start < cycle) start = cycle;
    end = start + d->ii;
    if (d->part) {
        s->parts = (uint8_t)(s->parts + d->part);
        end += s->parts >> 3;
        s->parts &= 7u;
    }
    s->busy[d->group] = end;
    s->unit_free[d->group] = end > d->room ? end - d->room : 0;
    return start - cycle;
}

/* Takes what an issue needs; returns the cycles by which operands or results are later than without others. */
static inline uint64_t take(struct ww_sm *sm, struct ww_sched *s, const struct ww_warp *w,
                            const struct ww_dinst *d, uint64_t cycle) {
    uint64_t delay = 0;
    if (sm->gathers) {
        if (!sm->collect)
            delay = d->writes ? ww_regs_read(sm, s, w, d, cycle) : 0;
        else if (d->ii)
            return ww_collect_issue(sm, d, cycle);
        else
            return d->action == WW_A_LSU || d->action == WW_A_CONST ? ww_collect_memory(sm, d, cycle) : 0;
    }
    if (d->queued) return enqueue(sm, s, d, cycle);
    if (d->ii) take_unit(sm, s, d->group, cycle + d->ii);
    if (d->group2) take_unit(sm, s, d->group2, cycle + d->ii2);
    return delay;
}

static inline void count_issue(struct ww_core *core, struct ww_inst_count *n, const struct ww_step *step) {
    n->counter[WW_I_ISSUES]++;
    n->counter[WW_I_THREAD_INSTRUCTIONS] += step->mask == UINT32_MAX ? 32 : ww_bits(step->mask);
    core->epochs.now->warp_instructions++;
    core->issued++;
}

/* For a probe, and where the roles of instructions in copies are known. */
static void show_issue(struct ww_sm *sm, struct ww_warp *w, uint32_t inst, uint64_t cycle) {
    const struct ww_core *core = sm->core;
    if (core->probe) ww_probe_issue(core->probe, sm->id, (uint32_t)(w - sm->warp), inst, cycle);
    if (!core->roles) return;
    sm->copied = cycle + 1; /* no stall in a cycle with an issue */
    if (core->roles[inst]) ww_copy_issue(sm, w, core->roles[inst], cycle);
}

/* Issues the head of a ready warp and leaves it at the next instruction, not yet looked at. Returns false if
 * the warp is held, or has ended. */
static bool issue_head(struct ww_sm *sm, struct ww_sched *s, struct ww_warp *w, const struct ww_dinst *d,
                       struct ww_inst_count *counts, uint64_t cycle) {
    struct ww_core *core = sm->core;
    const struct ww_step *step = w->step;
    uint64_t delay = take(sm, s, w, d, cycle);
    count_issue(core, counts, step);
    if (core->observed) show_issue(sm, w, step->inst, cycle);
    w->front = cycle + 1;
    w->front_state = WW_S_NO_INST;
    bool goes_on = act(sm, w, d, step, cycle, delay);
    w->access += d->access;
    w->step++;
    if (d->action == WW_A_BRANCH && d->conditional)
        ww_issue_count_branch(core, step->mask, w->last_mask, w->step < w->end ? w->step->mask : 0);
    w->last_mask = step->mask;
    if (w->step == w->end) return false;
    if (d->bulk && w->step->inst == step->inst) return true; /* more of the same copy */
    if (d->action != WW_A_SLEEP) {
        uint64_t fetched = ww_front_next(sm, w, d, step->inst, cycle);
        if (fetched > w->front) w->front = fetched;
    }
    if (d->stall) ww_issue_obey_stall(w, d, cycle);
    return goes_on;
}

/* The second instruction of a cycle: the same warp's next, if it depends on nothing unfinished and goes to
 * another port. Branches and what follows them, barriers and fences issue alone. */
static bool can_pair(const struct ww_sched *s, const struct ww_warp *w, const struct ww_dinst *first,
                     const struct ww_dinst *d, uint64_t cycle) {
    if (first->action >= WW_A_BRANCH && first->action <= WW_A_SLEEP) return false;
    if (d->group == WW_G_FREE || d->group == WW_G_FENCE || w->front > cycle + 1) return false;
    if (d->group == first->group || d->group == first->group2 || d->group2 == first->group) return false;
    if (d->group == WW_G_LSU && (s->view.parked >> w->slot) & 1) return false;
    return WW_SB_CYCLE(ww_head_entry(w, d)) <= cycle && s->unit_free[d->group] <= cycle;
}

static void after_issue(struct ww_sm *sm, struct ww_warp *w, bool goes_on, uint64_t cycle) {
    if (goes_on)
        ww_head_look(sm, w, cycle + 1);
    else if (w->step < w->end)
        ww_warp_set_state(sm, w,
                          w->fenced    ? WW_S_MEMBAR
                          : w->starved ? WW_S_SMEM_WAIT
                                       : WW_S_BARRIER,
                          cycle + 1);
    else
        ww_warp_finish(sm, w, cycle + 1);
}

/* The cycle counts as an issue, for the scheduler and for the warp. */
static inline void count_cycle(struct ww_sm *sm, struct ww_sched *s, struct ww_warp *w, uint64_t cycle) {
    struct ww_epochs *e = &sm->core->epochs;
    ww_issue_count(s, cycle);
    s->slot[WW_SLOT_ISSUED]++;
    s->counted = cycle + 1;
    ww_warp_count(sm, w, cycle);
    w->counts->stall[WW_S_ISSUED]++;
    e->now->warp_cycles[WW_S_ISSUED]++;
    w->since = cycle + 1;
}

/* The head may not issue: the slot is lost, and the warp waits. */
static void lose_slot(struct ww_sm *sm, struct ww_sched *s, const struct ww_warp *w, enum ww_slot cause,
                      uint64_t cycle) {
    uint32_t group = w->head->group;
    ww_issue_count(s, cycle);
    s->slot[cause]++;
    s->counted = cycle + 1;
    s->next_issue = cycle + sm->core->gpu->front_issue_interval;
    ww_ready_remove(s, w->slot, group);
}

/* It waits for a bulk transfer of its CTA. */
static void squash(struct ww_sm *sm, struct ww_sched *s, struct ww_warp *w, uint64_t cycle) {
    lose_slot(sm, s, w, WW_SLOT_DMA_WAIT, cycle);
    ww_dma_wait(sm, w);
    ww_warp_set_state(sm, w, WW_S_DMA_WAIT, cycle);
}

/* It waits for another warp's write. */
static void hold(struct ww_sm *sm, struct ww_sched *s, struct ww_warp *w, uint64_t cycle) {
    lose_slot(sm, s, w, WW_SLOT_SYNC, cycle);
    ww_warp_set_state(sm, w, WW_S_SYNC, cycle);
}

void ww_issue_warp(struct ww_sm *sm, struct ww_sched *s, struct ww_warp *w, uint64_t cycle) {
    const struct ww_core *core = sm->core;
    const struct ww_dinst *d = w->head;
    uint32_t group = d->group;
    if (sm->gates) {
        if (sm->dma && (WW_G_MEMORY >> group) & 1 && !ww_dma_admits(sm, w, d)) {
            squash(sm, s, w, cycle);
            return;
        }
        if (d->waits && core->waits && !ww_waits_admit(sm, w)) {
            hold(sm, s, w, cycle);
            return;
        }
        if (sm->operands && d->constant && !ww_const_operand_admits(sm, s, w, d, cycle)) return;
    }
    count_cycle(sm, s, w, cycle);
    s->next_issue = cycle + core->gpu->front_issue_interval + d->conflict;
    ww_ready_remove(s, w->slot, group);
    s->last = w;
    if (core->ops->issued) core->ops->issued(s->state, w->slot, (WW_G_MEMORY >> group) & 1, cycle);
    struct ww_inst_count *counts = w->counts;
    for (uint32_t left = core->gpu->sm_issue_width;;) {
        bool goes_on = issue_head(sm, s, w, d, counts, cycle);
        const struct ww_dinst *first = d;
        if (goes_on && --left) {
            d = ww_head(core, w);
            counts = &core->epochs.inst[w->step->inst];
        }
        if (!goes_on || !left || !can_pair(s, w, first, d, cycle) || (sm->dma && !ww_dma_admits(sm, w, d))) {
            after_issue(sm, w, goes_on, cycle);
            return;
        }
        core->counter[WW_C_DUAL_ISSUED]++;
    }
}

/* Finds the warps that can issue in this cycle, for the mechanism; sets try_at to when another group's unit
 * is free. False: there is none. */
static bool find_ready(struct ww_sched *s, uint64_t cycle) {
    uint64_t ready = 0, memory = 0, try_at = WW_NEVER;
    for (uint32_t groups = s->groups; groups; groups &= groups - 1) {
        uint32_t g = (uint32_t)__builtin_ctz(groups);
        uint64_t at = s->unit_free[g];
        if (at > cycle) {
            if (at < try_at) try_at = at;
            continue;
        }
        ready |= s->unit_ready[g];
        if ((WW_G_MEMORY >> g) & 1) memory |= s->unit_ready[g];
    }
    uint64_t lsu = ready & s->unit_ready[WW_G_LSU];
    ready &= ~(lsu & s->view.parked);
    *s->try_at = try_at;
    s->view.ready_lsu = lsu & ready;
    s->view.ready = ready;
    s->view.ready_mem = memory & ready;
    return ready != 0;
}

/* Collectors alone keep what is ready from `from` to the next attempt. */
static void note_blocked(const struct ww_sm *sm, struct ww_sched *s, uint64_t from) {
    if (!sm->collect || *s->try_at == WW_NEVER || *s->try_at <= from) return;
    s->blocked_from = from;
    s->blocked_until = *s->try_at;
}

static void schedule(struct ww_sm *sm, struct ww_sched *s, uint64_t cycle) {
    if (s->next_issue > cycle) {
        *s->try_at = s->next_issue;
        return;
    }
    if (!find_ready(s, cycle) || (sm->barrel && !ww_barrel_filter(sm, s, cycle))) {
        note_blocked(sm, s, cycle);
        return;
    }
    s->view.cycle = cycle;
    const struct ww_sched_ops *ops = sm->core->ops;
    if (ops->by_saturation) s->view.memory_saturated = ww_l1_saturated(sm);
    int slot = ops->pick(s->state, &s->view);
    if ((uint32_t)slot > 63 || !((s->view.ready >> slot) & 1)) {
        *s->try_at = cycle + 1;
        return;
    }
    ww_issue_warp(sm, s, &s->warp[(uint32_t)slot * sm->core->gpu->sm_schedulers], cycle);
    if (ops->may_miss) sm->lsu.retry = true; /* the owner may have changed */
    *s->try_at = ww_issue_next_try(s, cycle + 1);
    note_blocked(sm, s, s->next_issue > cycle + 1 ? s->next_issue : cycle + 1);
}

uint64_t ww_issue(struct ww_sm *sm, uint64_t cycle) {
    uint64_t next = WW_NEVER;
    sm->issue_at = WW_NEVER; /* an issue may make another scheduler's warps ready */
    struct ww_sched *end = sm->sched + sm->core->gpu->sm_schedulers;
    for (struct ww_sched *s = sm->sched; s < end; s++) {
        if (*s->try_at <= cycle) schedule(sm, s, cycle);
        if (*s->try_at < next) next = *s->try_at;
    }
    if (next > sm->issue_at) next = sm->issue_at;
    return sm->issue_at = next > cycle ? next : cycle + 1;
}
