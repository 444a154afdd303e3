#include "govern.h"

void ww_core_fail(struct ww_core *core, enum ww_code code) {
    if (core->code_failed == WW_OK) core->code_failed = code;
}

void ww_core_wake(struct ww_core *core, uint32_t sm, uint64_t cycle) {
    struct ww_wheel *wheel = &core->wheel[sm >> 6];
    uint64_t most = core->now + WW_WHEEL_SPAN, old = core->next[sm];
    if (cycle >= old) return;
    if (old != WW_NEVER) ww_wheel_clear(wheel, old < most ? old : most, sm & 63);
    core->next[sm] = cycle;
    ww_wheel_set(wheel, cycle < most ? cycle : most, sm & 63);
}

/* Sets the next step of an SM that has just been taken from the wheel. */
static void set_next(struct ww_core *core, uint32_t sm, uint64_t cycle) {
    uint64_t most = core->now + WW_WHEEL_SPAN;
    core->next[sm] = cycle;
    if (cycle != WW_NEVER) ww_wheel_set(&core->wheel[sm >> 6], cycle < most ? cycle : most, sm & 63);
}

/* Whether anything can still happen beside what a governor does and the ends of epochs. */
static bool alive(const struct ww_core *core) {
    return core->tick.queued || core->inflight || !ww_memsys_idle(core->memory);
}

/* The governor's next cycle, unless nothing else will ever happen: then the launch is stuck, which must show.
 */
static __attribute__((noinline)) uint64_t govern_cycle(const struct ww_core *core, uint64_t next) {
    bool adjusts = core->govern->adjust; /* CTAs may go on; a sample alone keeps nothing alive */
    return next != WW_NEVER || adjusts || alive(core) ? core->govern_at : WW_NEVER;
}

static inline uint64_t next_cycle(const struct ww_core *core) {
    uint64_t next = core->dispatch_at > core->now ? core->dispatch_at : core->now + 1;
    if (core->dispatch_at == WW_NEVER) next = WW_NEVER;
    for (uint32_t g = 0; g < core->groups; g++) {
        uint64_t at = ww_wheel_next(&core->wheel[g], core->now);
        if (at < next) next = at;
    }
    return core->govern_at < next ? govern_cycle(core, next) : next;
}

static void step_group(struct ww_core *core, uint32_t group, uint64_t cycle) {
    for (uint64_t due = ww_wheel_take(&core->wheel[group], cycle); due; due &= due - 1) {
        uint32_t id = group * 64 + (uint32_t)__builtin_ctzll(due);
        uint64_t next = core->next[id];
        if (next <= cycle) {
            core->next[id] = WW_NEVER;
            next = ww_sm_step(&core->sm[id], cycle);
        }
        set_next(core, id, next);
    }
}

static void one_cycle(struct ww_core *core, uint64_t cycle) {
    core->now = cycle;
    if (cycle >= core->epochs.end) ww_epochs_advance(&core->epochs, cycle);
    if (core->epochs.failed) ww_core_fail(core, ww_fail_nomem(core->error, "epochs"));
    if (core->dispatch_at <= cycle) {
        core->dispatch_at = WW_NEVER;
        if (ww_dispatch(core, cycle)) core->dispatch_at = cycle + 1;
    }
    for (uint32_t g = 0; g < core->groups; g++) step_group(core, g, cycle);
}

static void report(struct ww_core *core) {
    if (!core->progress || core->issued - core->progressed < 1u << 14) return;
    core->progressed = core->issued;
    double part = core->cta_count ? (double)core->ended_ctas / (double)core->cta_count : 1;
    if (!core->progress(core->progress_context, part, core->issued, "warp instructions"))
        ww_core_fail(core, ww_fail(core->error, WW_FAIL, "", "stopped as asked, after %llu warp instructions",
                                   (unsigned long long)core->issued));
}

/* Cycles follow one another here, without the queue, as long as no other event lies between them. */
void ww_core_tick(void *owner, struct ww_event *event, uint64_t now_ps) {
    struct ww_core *core = owner;
    uint64_t cycle = next_cycle(core);
    (void)now_ps;
    core->ticking = true;
    while (cycle != WW_NEVER && core->code_failed == WW_OK) {
        core->now_ps = ww_clock_time(&core->clock, cycle);
        if (core->now_ps > now_ps && core->now_ps >= ww_queue_next(core->queue)) break;
        bool governs = cycle >= core->govern_at;
        if (governs) ww_govern_before(core, cycle);
        one_cycle(core, cycle);
        if (governs) ww_govern_after(core, cycle);
        report(core);
        cycle = next_cycle(core);
    }
    core->ticking = false;
    core->tick_cycle = cycle;
    if (cycle != WW_NEVER && core->code_failed == WW_OK)
        ww_queue_add(core->queue, event, ww_clock_time(&core->clock, cycle));
}

void ww_core_epoch_end(void *owner, struct ww_event *event, uint64_t now_ps) {
    struct ww_core *core = owner;
    uint64_t length = core->epochs.length, cycle = (core->pieces.cycle / length + 1) * length;
    ww_pieces_cut(core, cycle, now_ps);
    if (alive(core)) ww_queue_add(core->queue, event, ww_clock_time(&core->clock, cycle + length));
}

/* The cycle in which something from outside takes effect: the next edge whose tick is still to come. */
static uint64_t outside_cycle(struct ww_core *core, uint64_t now_ps) {
    uint64_t time = ww_clock_time(&core->clock, core->now), cycle = core->now;
    if (time < now_ps) {
        if (ww_clock_time(&core->clock, cycle + 1) >= now_ps)
            cycle++;
        else
            cycle = ww_clock_cycle(&core->clock, now_ps);
    }
    if (cycle <= core->now) cycle = core->now + 1;
    if (core->now < cycle - 1) core->now = cycle - 1;
    return cycle;
}

/* After an event from outside: the SM steps when a warp of it can issue or wakes, or its LSU may go on. */
static void wake_after(struct ww_sm *sm, uint64_t cycle) {
    struct ww_core *core = sm->core;
    bool queue = sm->misses.count && !sm->misses.refused;
    uint64_t at =
        sm->stirred || (sm->lsu.held && sm->lsu.retry) || queue ? cycle : ww_wheel_next(&sm->wheel, cycle - 1);
    if (sm->dma && ww_dma_next(sm->dma, cycle - 1) < at) at = ww_dma_next(sm->dma, cycle - 1);
    if (sm->fetch && ww_fetch_next(sm->fetch, cycle - 1) < at) at = ww_fetch_next(sm->fetch, cycle - 1);
    if (at != WW_NEVER) ww_core_wake(core, sm->id, at);
    if (core->ticking) return;
    /* A CTA may have ended, too. The tick stands in the queue for all else. */
    if (core->dispatch_at < at) at = core->dispatch_at > core->now ? core->dispatch_at : core->now + 1;
    if (core->govern_at < at) at = core->govern_at > core->now ? core->govern_at : core->now + 1;
    if (at < core->tick_cycle) {
        core->tick_cycle = at;
        ww_queue_earlier(core->queue, &core->tick, ww_clock_time(&core->clock, at));
    }
}

void ww_core_reply(void *owner, uint16_t sm, const struct ww_mem_reply *reply, uint64_t now_ps) {
    struct ww_core *core = owner;
    uint64_t cycle = outside_cycle(core, now_ps);
    core->answered_ps = now_ps;
    ww_sm_advance(&core->sm[sm], cycle);
    ww_l1_reply(&core->sm[sm], reply, cycle);
    if (core->sm[sm].saturated && !ww_l1_saturated(&core->sm[sm])) ww_sm_count_mode(&core->sm[sm], cycle);
    wake_after(&core->sm[sm], cycle);
}

void ww_core_unblocked(void *owner, uint16_t sm, uint64_t now_ps) {
    struct ww_core *core = owner;
    uint64_t cycle = outside_cycle(core, now_ps);
    core->answered_ps = now_ps;
    ww_sm_advance(&core->sm[sm], cycle);
    core->sm[sm].misses.refused = false;
    ww_dma_retry(core->sm[sm].dma, cycle);
    wake_after(&core->sm[sm], cycle);
}
