/* The end of CTAs: what a CTA held of its SM is free. */
#include "../../result/result.h"
#include "barrel.h"
#include "sm.h"

/* Takes the CTA off the SM, and tells the launch. */
static void leave(struct ww_sm *sm, uint32_t cta, uint64_t cycle) {
    struct ww_core *core = sm->core;
    struct ww_cta *c = &sm->cta[cta];
    for (uint32_t i = 0; i < c->warps; i++) ww_warp_leave(sm, &sm->warp[c->first_warp + i], cycle);
    ww_shared_end(sm, cta, cycle);
    core->counter[WW_C_CTA_CYCLES] += cycle - c->started;
    core->resident_warp_cycles += c->warps * (cycle - c->started);
    c->resident = false;
    if (sm->resident_ctas == 1) {
        ww_sm_count_mode(sm, cycle);
        sm->active_cycles += cycle - sm->active_since;
        if (sm->barrel) ww_barrel_count_idle(sm, cycle);
    }
    sm->resident_ctas--;
    if (c->paused) sm->paused_ctas--;
    c->others_paused = sm->paused_ctas != 0;
    c->completed = cycle;
    sm->completed |= 1ull << cta;
    uint32_t group = sm->id >> core->group_shift;
    core->group[group].completed |= 1ull << (sm->id - (group << core->group_shift));
}

void ww_cta_leave_all(struct ww_sm *sm, uint64_t cycle) {
    for (; sm->ended; sm->ended &= sm->ended - 1) leave(sm, (uint32_t)__builtin_ctzll(sm->ended), cycle);
}

void ww_cta_warp_gone(struct ww_sm *sm, uint32_t cta, uint64_t cycle) {
    if (--sm->cta[cta].live) return;
    if (sm->issuing)
        sm->ended |= 1ull << cta;
    else
        leave(sm, cta, cycle);
}
