/* SMs that go through a window of cycles by themselves. */
#include "alone.h"

#include "engine_internal.h"

void ww_alone_plan(struct ww_core *core) {
    const struct ww_gpu_spec *g = core->gpu;
    uint32_t most = g->l1_miss_queue > g->l1_read_spare ? g->l1_miss_queue - g->l1_read_spare : 0;
    uint32_t step = core->tag_banks ? core->tag_banks : 1; /* requests that a step can add */
    for (uint32_t i = 0; i < 2; i++)
        if (core->queue_high[i] < most) most = core->queue_high[i];
    core->alone_misses = most > step ? most - step : 0;
}

/* A CTA may leave the SM when a memory operation ends: all its warps have. */
static bool cta_may_leave(const struct ww_sm *sm) {
    if (!sm->draining) return false;
    for (uint32_t i = 0, left = sm->resident_ctas; left; i++) {
        const struct ww_cta *c = &sm->cta[i];
        if (!c->resident) continue;
        if (c->exited == c->warps) return true;
        left--;
    }
    return false;
}

/* Whether nothing outside of the SM can have to do with its next step. */
static inline bool goes_on(const struct ww_sm *sm, bool more) {
    if (sm->ahead || ww_alone_held(sm) || !sm->resident_ctas || !ww_alone_has_room(sm)) return false;
    return !(more && (sm->resident_ctas < sm->cta_room || sm->core->shared_alloc.on || cta_may_leave(sm)));
}

/* An SM that goes alone takes the replies of the cycle; returns the cycle of the next step because of them. */
static uint64_t receive(struct ww_sm *sm, uint64_t cycle) {
    ww_sm_advance(sm, cycle);
    ww_alone_receive(sm, cycle, ww_clock_time(&sm->core->clock, cycle));
    if (sm->saturated && !ww_l1_saturated(sm)) ww_sm_count_mode(sm, cycle);
    if (sm->became_ready || ww_lsu_goes_on(&sm->lsu)) return cycle;
    if (!sm->answered) return WW_NEVER;
    sm->answered = false;
    return ww_wheel_next(&sm->wheel, cycle - 1);
}

uint64_t ww_alone_go_on(struct ww_sm *sm, uint64_t next) {
    struct ww_core *core = sm->core, *all = core->main;
    uint64_t end = all->alone_until < core->epochs.end ? all->alone_until : core->epochs.end;
    bool more = all->next_cta < all->cta_count;
    if (!core->runs_ahead || !sm->lsu.skips_retries) return next;
    if (goes_on(sm, more)) {
        const uint64_t *quiet = &all->told_ps[sm->id];
        uint64_t reply = ww_clock_cycle(&core->clock, *quiet), at;
        do {
            if ((at = next < reply ? next : reply) >= end) break;
            if (reply == at) {
                uint64_t woken = receive(sm, at);
                reply = ww_clock_cycle(&core->clock, *quiet);
                if (woken < next) next = woken;
                if (next > at) continue;
            }
            next = ww_sm_steps_alone(sm, at, reply < end ? reply : end, more);
        } while (goes_on(sm, more));
    }
    /* No reply comes to an SM that waits for none, in any window. */
    end = core->epochs.end;
    if (!sm->outstanding && !sm->ahead && next < end && ww_sm_alone(sm)) next = ww_sm_run_ahead(sm, next, end);
    return next;
}

void ww_alone_group(struct ww_core *core, uint32_t index, uint64_t cycle) {
    struct ww_sm_group *group = &core->group[index];
    uint32_t first = index << core->group_shift, count = core->gpu->sm_count - first;
    uint64_t posted = core->posted[0][index] | core->posted[1][index];
    uint64_t *units = &core->summary[index].units;
    if (count > 1u << core->group_shift) count = 1u << core->group_shift;
    for (uint32_t bit = 0; bit < count; bit++) {
        struct ww_sm *sm = &core->sm[first + bit];
        if (!ww_sm_made(sm) || posted >> bit & 1) continue;
        uint64_t old = core->next[first + bit], from = *units >> bit & 1 && cycle < old ? cycle : old,
                 next = ww_alone_run(sm, from), most = cycle + WW_WHEEL_SPAN - 1;
        if (next == from) continue;
        *units &= ~(1ull << bit);
        if (old <= most) ww_wheel_clear(&group->wheel, old, bit);
        core->next[first + bit] = next;
        if (next != WW_NEVER) ww_wheel_set(&group->wheel, next < most ? next : most, bit);
    }
    ww_core_summarise(core, index, cycle - 1);
}
