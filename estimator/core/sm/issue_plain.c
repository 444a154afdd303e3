/* Issue of instructions that need a port at most, in SMs without what looks at every issue. */
#include "issue_plain.h"
#include "../../result/result.h"
#include "booked.h"
#include "issue_rules.h"
#include "lsu_queue.h"
#include "regs.h"
#include "sm_front.h"
#include "warp_head.h"

/* Cycles by which instructions may issue before their cycle: with the longest latency of the ALUs these fit the
 * wheel of the SM, or wake-ups are looked at twice. */
#define AHEAD 128
#define LOOKED_AT 32 /* cycles after which it is found out anew when CTAs can end */

/* Issues of a cycle that are not yet counted in its epoch and the launch. */
struct tally {
    struct ww_sm *sm;
    uint64_t cycle, issues;
    uint64_t end; /* before which instructions of a run issue */
};

/* ---- a launch ---- */

static uint8_t lane_of(const struct ww_core *core, const struct ww_dinst *d) {
    if (d->queued || d->constant || d->async || d->ends_group || d->waits) return WW_LANE_NONE;
    if (d->action == WW_A_LSU) return d->ii || d->group2 ? WW_LANE_NONE : WW_LANE_MEMORY;
    if (d->action == WW_A_BRANCH) return d->ii || d->group2 ? WW_LANE_NONE : WW_LANE_BRANCH;
    if (d->action != WW_A_NONE || (WW_G_MEMORY >> d->group) & 1) return WW_LANE_NONE;
    if (!d->ii) return d->group2 ? WW_LANE_NONE : WW_LANE_FREE;
    if (d->group >= WW_UNIT_COUNT || core->instances[d->group]) return WW_LANE_NONE;
    if (d->group2) return core->instances[d->group2] ? WW_LANE_NONE : WW_LANE_TWO;
    return d->group == core->imul_group2 ? WW_LANE_IMUL : WW_LANE_PORT;
}

/* Registers and ports are all that it has to do with. */
static bool may_run(const struct ww_core *core, const struct ww_dinst *d) {
    bool in_lane = d->lane >= WW_LANE_FREE && d->lane <= WW_LANE_TWO;
    return in_lane && d->stall <= 1 && !d->counts && !d->unseen && !d->access && d->next_fetch == 1 &&
           !core->code.banked;
}

/* What follows it may. */
static bool may_lead(const struct ww_core *core, const struct ww_dinst *d) {
    bool others = d->lane == WW_LANE_BRANCH || (d->lane == WW_LANE_MEMORY && !d->sends);
    return d->runs || (others && !d->stall && !d->counts && !d->unseen && !core->code.banked);
}

void ww_issue_lanes(struct ww_core *core) {
    uint16_t spare = (uint16_t)core->code.registers++;
    for (uint32_t i = 0; i < core->code.inst_count; i++) {
        struct ww_dinst *d = &core->code.inst[i];
        if (d->check == d->few) ww_pipe_fill(d->few, d->check_count);
        d->lane = lane_of(core, d);
        d->interval = (uint8_t)(core->gpu->front_issue_interval + d->conflict);
        d->excess = (WW_G_MEMORY >> d->group) & 1 ? WW_S_EXCESS_MEM : WW_S_EXCESS_ALU;
        d->runs = may_run(core, d);
        d->leads = may_lead(core, d);
        d->result = d->result_count ? *ww_results(d) : spare;
    }
}

bool ww_issue_plain_allowed(const struct ww_sm *sm) {
    const struct ww_core *core = sm->core;
    return core->ops->greedy != WW_SCHED_NOT_GREEDY && core->gpu->sm_issue_width == 1 && !core->observed &&
           !sm->barrel && !sm->collect && !sm->dma && !sm->extras && !sm->lsu.reexec.capacity;
}

/* ---- states ---- */

/* The scheduler's slots before `cycle` that it has not counted are lost. */
static inline void count_lost(struct ww_sched *s, uint64_t cycle) {
    if (s->counted >= cycle) return;
    if (WW_UNLIKELY(s->blocked_until > s->counted)) {
        ww_issue_count(s, cycle); /* register ports delayed some of them */
        return;
    }
    s->slot[__builtin_ctz(ww_sched_causes(s) | 1u << WW_SLOT_EMPTY)] += cycle - s->counted; /* the last cause */
}

/* The warp was ready, and is in another state from the cycle after its issue on. */
static inline void leave_ready(struct ww_sched *s, struct ww_warp *w, uint32_t state) {
    uint32_t cause = ww_slot_cause[state];
    w->state = (uint8_t)state;
    ww_cause_add(s, cause);
    if ((WW_LONG_CAUSES >> cause) & 1) s->view.waiting_long ^= 1ull << w->slot;
}

/* It is ready again for the unit of the instruction. */
static inline void stay_ready(struct ww_sched *s, struct ww_warp *w, const struct ww_dinst *d) {
    uint32_t group = d->group;
    w->group = (uint8_t)group;
    ww_ready_add(s, w->slot, group);
    w->state = d->excess;
}

static inline void wait_for(struct ww_sm *sm, struct ww_sched *s, struct ww_warp *w, uint64_t entry) {
    uint64_t at = WW_SB_CYCLE(entry);
    leave_ready(s, w, WW_SB_STATE(entry));
    w->operands_at = at;
    if (at == WW_NEVER)
        w->pending = true;
    else
        ww_wake_at(sm, w, at);
}

/* As ww_head_look in the cycle after the issue. */
static inline void look(struct ww_sm *sm, struct ww_sched *s, struct ww_warp *w, uint64_t cycle) {
    const struct ww_core *core = sm->core;
    uint32_t inst = w->step->inst;
    w->counts = &core->epochs.inst[inst];
    if (w->front > cycle) {
        leave_ready(s, w, w->front_state);
        ww_wake_at(sm, w, w->front);
        return;
    }
    const struct ww_dinst *d = &core->code.inst[inst];
    uint64_t entry = w->unseen ? ww_depend_unseen(w, d, w->unseen) : ww_head_entry(w, d);
    w->head = d;
    w->unseen = 0;
    if (WW_SB_CYCLE(entry) > cycle) {
        wait_for(sm, s, w, entry);
        return;
    }
    stay_ready(s, w, d);
}

/* ---- an issue ---- */

static inline void add_issue(struct ww_issue_count *n, uint32_t mask) {
    n->issues++;
    if (WW_UNLIKELY(mask != UINT32_MAX)) n->idle += ww_bits(~mask);
}

static inline void count_issue(struct ww_core *core, struct ww_sched *s, struct ww_warp *w,
                               const struct ww_step *step, uint64_t cycle) {
    count_lost(s, cycle);
    s->slot[WW_SLOT_ISSUED]++;
    s->counted = cycle + 1;
    if (w->since < cycle) ww_epochs_count(&core->epochs, w->counts, w->state, w->since, cycle);
    add_issue(&core->epochs.issued[step->inst], step->mask);
    w->since = cycle + 1;
}

static inline void take_port(const struct ww_core *core, struct ww_sched *s, const struct ww_dinst *d,
                             uint64_t cycle) {
    uint64_t until = cycle + d->ii;
    if (d->lane == WW_LANE_PORT) {
        s->unit_free[d->group] = until;
    } else if (d->lane == WW_LANE_IMUL) {
        s->unit_free[d->group] = until;
        if (s->unit_free[WW_G_IMUL] < until) s->unit_free[WW_G_IMUL] = until;
    } else if (d->lane == WW_LANE_TWO) {
        ww_issue_set_free(core, s, d->group, until);
        ww_issue_set_free(core, s, d->group2, cycle + d->ii2);
    }
}

/* Most have one. */
static inline void set_results(struct ww_warp *w, const struct ww_dinst *d, uint64_t entry) {
    w->board[d->result] = entry;
    for (uint32_t i = 1; i < d->result_count; i++) w->board[ww_results(d)[i]] = entry;
}

static inline void write_results(struct ww_sm *sm, struct ww_warp *w, const struct ww_dinst *d, uint64_t cycle,
                                 uint64_t delay) {
    uint64_t entry = WW_SB(cycle + d->latency + delay, (uint64_t)d->state);
    set_results(w, d, entry);
    if (d->counts) ww_depend_issue(sm, w, d, cycle, entry);
}

/* As ww_issue_memory. */
static inline void issue_memory(struct ww_sm *sm, struct ww_warp *w, const struct ww_dinst *d,
                                const struct ww_step *step, uint64_t cycle) {
    uint64_t entry = WW_SB(WW_NEVER, (uint64_t)d->state);
    if (!step->mask || d->sends) {
        ww_issue_memory(sm, w, d, step->mask, step->inst, cycle);
        return;
    }
    set_results(w, d, entry);
    if (d->counts) ww_depend_issue(sm, w, d, cycle, entry);
    ww_lsu_push(sm, w, d, step->inst, step->mask, d->access ? w->access : NULL, cycle);
}

/* The head of the warp, which is ready and not its last instruction, issues by its lane. */
static inline void issue(struct tally *t, struct ww_sched *s, struct ww_warp *w, const struct ww_dinst *d) {
    struct ww_sm *sm = t->sm;
    const struct ww_step step = *w->step;
    uint64_t cycle = t->cycle, delay = 0, fetched;
    uint32_t group = d->group;
    count_issue(sm->core, s, w, &step, cycle);
    t->issues++;
    s->next_issue = cycle + d->interval;
    ww_ready_remove(s, w->slot, group);
    s->last = w;
    if (sm->rf && d->writes) delay = ww_regs_read(sm, s, w, d, cycle);
    w->front = cycle + 1;
    w->front_state = WW_S_NO_INST;
    if (d->lane == WW_LANE_MEMORY) {
        issue_memory(sm, w, d, &step, cycle + delay);
        w->access += d->access;
        w->step++;
    } else {
        take_port(sm->core, s, d, cycle);
        write_results(sm, w, d, cycle, delay);
        w->access += d->access;
        w->step++;
        if (d->lane == WW_LANE_BRANCH && d->conditional)
            ww_issue_count_branch(sm->core, step.mask, w->last_mask, w->step->mask);
    }
    w->last_mask = step.mask;
    fetched = ww_front_next(sm, w, d, step.inst, cycle);
    if (fetched > w->front) w->front = fetched;
    if (d->stall) ww_issue_obey_stall(w, d, cycle);
    look(sm, s, w, cycle + 1);
}

/* ---- schedulers ---- */

/* States from which only its own wake-up leads a warp, and not to memory. */
#define QUIET                                                                                                  \
    (1u << WW_SLOT_EXCESS_ALU | 1u << WW_SLOT_WAIT_ALU | 1u << WW_SLOT_WAIT_STALL | 1u << WW_SLOT_NO_INST |    \
     1u << WW_SLOT_DRAIN)

/* The cycle before which instructions of a run issue. */
static inline uint64_t run_end(const struct ww_core *core, uint64_t cycle) {
    if (!core->runs_ahead) return 0;
    return core->epochs.end < cycle + AHEAD ? core->epochs.end : cycle + AHEAD;
}

/* Cycles from now on that the CTA lasts at least: a scheduler issues one of its instructions in a cycle. */
static uint64_t lasts(const struct ww_sm *sm, const struct ww_cta *cta) {
    uint64_t left[WW_SCHEDULERS_MOST] = {0}, most = 1;
    for (const struct ww_warp *w = &sm->warp[cta->first_warp], *end = w + cta->warps; w < end; w++) {
        if (w->done) continue;
        uint64_t sum = left[w->sched] += (uint64_t)(w->end - w->step);
        most = sum > most ? sum : most;
    }
    return most - 1;
}

__attribute__((noinline)) static void find_full(struct ww_sm *sm) {
    uint64_t least = WW_NEVER;
    for (uint32_t i = 0, left = sm->resident_ctas; left; i++) {
        if (!sm->cta[i].resident) continue;
        uint64_t cycles = lasts(sm, &sm->cta[i]);
        if (cycles < least) least = cycles;
        left--;
    }
    sm->full_from = sm->now;
    sm->full_until = sm->now + least;
}

/* No CTA comes to the SM before `cycle`: there is none, or none has left by then. */
static inline bool no_cta_comes(struct ww_sm *sm, uint64_t cycle) {
    const struct ww_core *core = sm->core;
    if (core->main->next_cta >= core->main->cta_count) return true;
    if (sm->resident_ctas < sm->cta_room || core->shared_alloc.on) return false;
    if (cycle >= sm->full_until && sm->now >= sm->full_from + LOOKED_AT) find_full(sm);
    return cycle < sm->full_until;
}

/* The cycle before which no other warp of the scheduler becomes ready, and none but those that are is the cause
 * of a slot; as far as `end` and known for `at`. It stays so while one of its warps runs. */
static uint64_t quiet_until(struct ww_sm *sm, const struct ww_sched *s, uint64_t at, uint64_t end) {
    const struct ww_wheel *wheel = &sm->wheel;
    if (ww_sched_causes(s) & ~QUIET || !no_cta_comes(sm, at)) return 0;
    if (sm->core->main->next_cta < sm->core->main->cta_count && sm->full_until <= end) end = sm->full_until - 1;
    if (sm->booked && sm->booked->far_first < end) end = sm->booked->far_first; /* not in the wheel yet */
    for (uint64_t cycle = sm->now; (cycle = ww_wheel_next(wheel, cycle)) < end;)
        if (wheel->slot[cycle & 255] & s->own) return cycle;
    return end;
}

/* None of those that are ready, but the one that issues by the group, issues before `at`. */
static inline bool others_wait(const struct ww_sched *s, uint32_t group, uint64_t at) {
    for (uint32_t groups = s->groups & ~(1u << group); groups; groups &= groups - 1)
        if (s->unit_free[(uint32_t)__builtin_ctz(groups)] < at) return false;
    return true;
}

/* The step's instruction issues in cycle `at`: its fetch needs nothing that schedulers share, nor does another
 * warp's come before it. */
static inline bool fetch_is_local(struct ww_sm *sm, const struct ww_warp *w, const struct ww_step *step,
                                  uint64_t at) {
    if (step[1].inst != step->inst + 1) return false;
    return w->buffered > 1 ||
           (sm->core->supply.on && no_cta_comes(sm, at) && ww_supply_local(sm, w, step->inst));
}

/* The warp advances to `step`, to the instruction d, whose operands are there at the entry. */
static void end_run(struct tally *t, struct ww_sched *s, struct ww_warp *w, const struct ww_dinst *d,
                    uint64_t entry, uint64_t cycle) {
    uint64_t at = WW_SB_CYCLE(entry);
    if (w->front > cycle) {
        leave_ready(s, w, w->front_state);
        ww_wake_at(t->sm, w, w->front);
        return;
    }
    w->head = d;
    if (at <= cycle) {
        stay_ready(s, w, d);
    } else if (WW_UNLIKELY(at == WW_NEVER && cycle > t->cycle + 1)) { /* it may be known by then */
        w->operands_at = 0;
        ww_wake_at(t->sm, w, cycle);
    } else {
        wait_for(t->sm, s, w, entry);
    }
}

static inline void lead_memory(struct ww_sm *sm, struct ww_warp *w, const struct ww_dinst *d, uint64_t cycle) {
    const struct ww_step *step = w->step;
    if (WW_LIKELY(step->mask)) {
        set_results(w, d, WW_SB(WW_NEVER, (uint64_t)d->state));
        ww_lsu_push(sm, w, d, step->inst, step->mask, d->access ? w->access : NULL, cycle);
    } else {
        ww_issue_memory(sm, w, d, 0, step->inst, cycle);
    }
    w->access += d->access;
}

/* The first instruction of a run issues, which need not be one that runs. */
static inline void lead(struct tally *t, struct ww_sched *s, struct ww_warp *w, const struct ww_dinst *d,
                        const struct ww_step *step) {
    if (d->lane == WW_LANE_MEMORY) {
        lead_memory(t->sm, w, d, t->cycle);
        return;
    }
    take_port(t->sm->core, s, d, t->cycle);
    set_results(w, d, WW_SB(t->cycle + d->latency, (uint64_t)d->state));
    if (d->runs) return;
    w->access += d->access;
    if (d->conditional) ww_issue_count_branch(t->sm->core, step->mask, w->last_mask, step[1].mask);
}

/* The head of the warp, which is ready and may lead, issues, and what follows it as long as it can. */
static inline void run(struct tally *t, struct ww_sched *s, struct ww_warp *w) {
    struct ww_sm *sm = t->sm;
    struct ww_core *core = sm->core;
    const struct ww_step *first = w->step, *step = first, *last = w->end - 1;
    const struct ww_dinst *d = w->head;
    uint64_t cycle = t->cycle, quiet = 0, lost = 0, entry = 0, front, next;
    count_lost(s, cycle);
    if (w->since < cycle) ww_epochs_count(&core->epochs, w->counts, w->state, w->since, cycle);
    ww_ready_remove(s, w->slot, d->group);
    w->front_state = WW_S_NO_INST;
    lead(t, s, w, d, step);
    for (;;) {
        uint64_t at;
        add_issue(&core->epochs.issued[step->inst], step->mask);
        next = cycle + d->interval;
        front = cycle + d->next_fetch;
        step++;
        if (w->buffered > 1 && step->inst == step[-1].inst + 1) {
            w->buffered--;
            d++;
        } else {
            w->step = step;
            bool follows = step->inst == step[-1].inst + 1;
            d += (int32_t)(step->inst - step[-1].inst);
            front =
                follows && core->supply.on ? ww_supply_follow(sm, w, d, front) : ww_front_refill(sm, w, front);
        }
        if (front > cycle + 1) break;
        entry = ww_head_entry(w, d);
        if (WW_SB_CYCLE(entry) > cycle + 1 || !d->runs) break;
        at = s->unit_free[d->group] > next ? s->unit_free[d->group] : next;
        if (at >= t->end || step >= last || !fetch_is_local(sm, w, step, at)) break;
        if (at > cycle + 1) {
            if (!others_wait(s, d->group, at)) break;
            if (at > quiet && at > (quiet = quiet_until(sm, s, at, t->end))) break;
            core->epochs.issued[step->inst].excess += at - cycle - 1;
            lost += at - cycle - 1;
        }
        cycle = at;
        take_port(core, s, d, cycle);
        set_results(w, d, WW_SB(cycle + d->latency, (uint64_t)d->state));
    }
    if (WW_UNLIKELY(lost)) {
        s->slot[WW_SLOT_EXCESS_ALU] += lost;
        core->epochs.now->warp_cycles[WW_S_EXCESS_ALU] += lost;
    }
    t->issues += (uint64_t)(step - first);
    s->slot[WW_SLOT_ISSUED] += (uint64_t)(step - first);
    s->last = w;
    s->counted = w->since = cycle + 1;
    s->next_issue = next;
    w->step = step;
    w->last_mask = step[-1].mask;
    w->counts = &core->epochs.inst[step->inst];
    w->front = front;
    w->unseen = 0;
    end_run(t, s, w, d, entry, cycle + 1);
}

/* Counts the pending issues before code that may read the counters. */
static inline void tell(struct tally *t) {
    struct ww_core *core = t->sm->core;
    core->issued += t->issues;
    core->epochs.now->warp_instructions += t->issues;
    core->epochs.now->warp_cycles[WW_S_ISSUED] += t->issues;
    t->issues = 0;
}

/* The warp's head issues, and what follows it as long as it can. */
static inline void issue_warp(struct tally *t, struct ww_sched *s, struct ww_warp *w) {
    const struct ww_dinst *d = w->head;
    bool follows = w->step + 1 < w->end;
    if (WW_LIKELY(follows && d->leads)) {
        run(t, s, w);
    } else if (WW_LIKELY(follows && d->lane != WW_LANE_NONE)) {
        issue(t, s, w, d);
    } else {
        tell(t);
        ww_issue_warp(t->sm, s, w, t->cycle);
    }
}

/* The warp that issues: of those that are ready and whose units are free the one that issued last, or else the
 * first by age. NULL: there is none. */
static inline struct ww_warp *pick(const struct ww_sched *s, uint64_t cycle) {
    uint64_t ready = s->ready;
    struct ww_warp *w = s->last;
    if (w && (ready >> w->slot) & 1) {
        if (s->unit_free[w->group] <= cycle) return w;
        ready &= ~s->unit_ready[w->group];
    }
    for (; ready; ready &= ~s->unit_ready[w->group]) {
        w = (struct ww_warp *)((char *)s->warp + ww_sched_first(s->before, ready) * s->stride);
        if (s->unit_free[w->group] <= cycle) return w;
    }
    return NULL;
}

/* The scheduler lets a warp issue, if one can; returns the cycle in which it tries again. */
static inline uint64_t schedule(struct tally *t, struct ww_sched *s) {
    uint64_t cycle = t->cycle;
    if (WW_UNLIKELY(s->next_issue > cycle)) return s->next_issue;
    struct ww_warp *w = pick(s, cycle);
    if (WW_UNLIKELY(!w)) return ww_issue_next_try(s, cycle + 1);
    issue_warp(t, s, w);
    return ww_issue_next_try(s, s->counted);
}

uint64_t ww_issue_plain(struct ww_sm *sm, uint64_t cycle) {
    struct tally t = {.sm = sm, .cycle = cycle, .end = run_end(sm->core, cycle)};
    uint64_t next = WW_NEVER;
    sm->issue_at = WW_NEVER; /* an issue may make another scheduler's warps ready */
    const uint32_t count = sm->core->gpu->sm_schedulers;
    for (uint32_t i = 0; i < count; i++) {
        if (sm->try_at[i] <= cycle) sm->try_at[i] = schedule(&t, &sm->sched[i]);
        next = sm->try_at[i] < next ? sm->try_at[i] : next;
    }
    if (t.issues) tell(&t);
    if (next > sm->issue_at) next = sm->issue_at;
    return sm->issue_at = next > cycle ? next : cycle + 1;
}
