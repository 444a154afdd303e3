/* Pausing and unpausing of CTAs. A paused warp is in no ready set and in no slot of the wheel, and waits for no
 * reply; results are still written to its registers. When it resumes, its head is examined again. */
#include "../../result/result.h"
#include "pause.h"
#include "warp_head.h"

static void pause_warp(struct ww_sm *sm, struct ww_warp *w, uint64_t cycle) {
    struct ww_sched *s = &sm->sched[w->sched];
    w->paused = true;
    if (w->done) return;
    ww_issue_count(s, cycle);
    if (s->ready & (1ull << w->slot)) ww_ready_remove(s, w->slot, w->group);
    w->pending = false;
    ww_wheel_forget(&sm->wheel, (uint32_t)(w - sm->warp));
    ww_warp_set_state(sm, w, WW_S_PAUSED, cycle);
}

static void unpause_warp(struct ww_sm *sm, struct ww_warp *w, uint64_t cycle) {
    w->paused = false;
    if (w->done) return;
    if (w->barred || w->fenced)
        ww_warp_set_state(sm, w, w->fenced ? WW_S_MEMBAR : w->starved ? WW_S_SMEM_WAIT : WW_S_BARRIER, cycle);
    else
        ww_warp_head(sm, w, cycle);
}

static void set_paused(struct ww_sm *sm, struct ww_cta *c, bool paused, uint64_t cycle) {
    ww_sm_advance(sm, cycle);
    c->paused = paused;
    for (uint32_t i = 0; i < c->warps; i++)
        if (paused)
            pause_warp(sm, &sm->warp[c->first_warp + i], cycle);
        else
            unpause_warp(sm, &sm->warp[c->first_warp + i], cycle);
}

/* Of the resident CTAs that are paused or not, the one that was dispatched first or last. */
static struct ww_cta *find(struct ww_sm *sm, bool paused, bool oldest) {
    struct ww_cta *best = NULL;
    for (uint32_t i = 0; i < sm->core->ctas_per_sm; i++) {
        struct ww_cta *c = &sm->cta[i];
        if (!c->resident || c->paused != paused) continue;
        if (!best || (c->trace.index < best->trace.index) == oldest) best = c;
    }
    return best;
}

bool ww_sm_set_running(struct ww_sm *sm, uint32_t limit, uint64_t cycle) {
    bool changed = false;
    for (; sm->resident_ctas - sm->paused_ctas > limit; sm->paused_ctas++, changed = true)
        set_paused(sm, find(sm, false, false), true, cycle);
    for (; sm->paused_ctas && sm->resident_ctas - sm->paused_ctas < limit; sm->paused_ctas--, changed = true)
        set_paused(sm, find(sm, true, true), false, cycle);
    sm->cta_room = sm->paused_ctas ? 0 : limit;
    return changed;
}
