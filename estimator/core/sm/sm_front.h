/* sm_front.h: how warps get their instructions: from the SM's instruction cache (sm_front.c), or from the
 * caches of its schedulers (supply.h). */
#ifndef WW_CORE_SM_FRONT_H
#define WW_CORE_SM_FRONT_H

#include "sm.h"

/* Fills the warp's buffer, from `cycle` on; returns the cycle at which its head is there. */
uint64_t ww_front_fill(struct ww_sm *sm, struct ww_warp *w, uint64_t cycle);

/* As ww_supply_fill with what it does most often: the head, d, follows the instruction before it in the code,
 * and the lines that are asked for are there. */
static inline uint64_t ww_supply_follow(struct ww_sm *sm, struct ww_warp *w, const struct ww_dinst *d,
                                        uint64_t cycle) {
    const struct ww_supply_plan *p = &sm->core->supply;
    uint32_t left = d->left;
    if (WW_UNLIKELY(!p->plain)) return ww_supply_fill(sm, w, cycle);
    if (d->line == w->line) {
        const struct ww_l0 *l0 = &sm->supply.l0[w->sched];
        if (WW_UNLIKELY(w->next_line || w->line >= p->last || !l0->where[w->line + 1 - p->first]))
            return ww_supply_fill(sm, w, cycle);
        uint64_t arrival = l0->line[l0->where[w->line + 1 - p->first] - 1].arrival;
        w->next_line = arrival >> WW_FROM_BITS > cycle ? arrival : WW_ARRIVAL(cycle, WW_FROM_L0);
        w->missed = false;
    } else {
        bool there = w->next_line && w->next_line >> WW_FROM_BITS <= cycle && !w->missed;
        if (WW_UNLIKELY(d->line != w->line + 1 || !there || left <= p->ahead))
            return ww_supply_fill(sm, w, cycle);
        w->line = d->line;
        w->next_line = 0;
        left -= p->ahead;
    }
    w->buffered = (uint8_t)left;
    sm->core->counter[WW_C_FETCH] += (left + 1) / 2;
    return cycle;
}

/* The same as ww_front_fill. */
static inline uint64_t ww_front_refill(struct ww_sm *sm, struct ww_warp *w, uint64_t at) {
    const struct ww_core *core = sm->core;
    if (WW_LIKELY(core->supply.on)) return ww_supply_fill(sm, w, at);
    if (ww_head(core, w)->pc >> core->icache_shift != w->icache_key) return ww_front_fill(sm, w, at);
    core->counter[WW_C_FETCH]++; /* from the line that it fetched from last */
    w->buffered = (uint8_t)core->gpu->front_ibuffer;
    return at;
}

/* Cycle at which the warp has the instruction that follows the one (number inst) issued at `cycle`. Its
 * buffer is filled with one access when it runs empty or the warp goes elsewhere. Fetching ahead hides the
 * access itself; a branch costs front.branch_cycles, and a miss its latency. */
static inline uint64_t ww_front_next(struct ww_sm *sm, struct ww_warp *w, const struct ww_dinst *issued,
                                     uint32_t inst, uint64_t cycle) {
    uint64_t at = cycle + issued->next_fetch;
    if (w->buffered > 1 && w->step->inst == inst + 1) {
        w->buffered--;
        return at;
    }
    return ww_front_refill(sm, w, at);
}

#endif
