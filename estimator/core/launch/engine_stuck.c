/* The error of a launch that cannot continue: which warp waits for what. */
#include "../../result/result.h"
#include "../../result/names.h"
#include "engine_internal.h"

#include <inttypes.h>

static const struct ww_barrier *barrier_of(const struct ww_sm *sm, const struct ww_warp *w, uint32_t *number) {
    const struct ww_cta *cta = &sm->cta[w->cta];
    for (uint32_t i = 0; i < WW_BARRIERS; i++)
        if ((cta->barrier[i].waiting >> (w - sm->warp)) & 1) {
            *number = i;
            return &cta->barrier[i];
        }
    return NULL;
}

static enum ww_code stuck_warp(const struct ww_sm *sm, const struct ww_warp *w, struct ww_error *error) {
    const struct ww_cta *cta = &sm->cta[w->cta];
    const struct ww_dinst *d = &sm->core->code.inst[w->counts - sm->core->epochs.inst];
    uint32_t number = 0, id = (uint32_t)(w - sm->warp) - cta->first_warp;
    const struct ww_barrier *b = w->barred ? barrier_of(sm, w, &number) : NULL;
    char where[96];
    snprintf(where, sizeof where, "CTA %" PRIu64 ", warp %u, pc 0x%x", cta->trace.index, id, d->pc);
    if (b)
        return ww_fail(error, WW_INPUT, where,
                       "waits for ever at barrier %u: %u warps have arrived, expected %u; %u have ended",
                       number, b->arrived, b->expected ? b->expected : cta->warps - cta->exited, cta->exited);
    if (w->barred)
        return ww_fail(error, WW_INPUT, where,
                       "waits for ever at an mbarrier: the events that end its phase do not come");
    return ww_fail(error, WW_INTERNAL, where,
                   "is stuck in state %s (%u memory operations, %u of them queued or with a result to come)",
                   ww_state_name((enum ww_warp_state)w->state), w->memory_count, w->inflight);
}

enum ww_code ww_engine_stuck(const struct ww_core *core, struct ww_error *error) {
    const struct ww_warp *any = NULL;
    const struct ww_sm *its = NULL;
    for (uint32_t i = 0; i < core->gpu->sm_count; i++)
        for (uint32_t k = 0; ww_sm_made(&core->sm[i]) && k < core->gpu->sm_max_warps; k++) {
            const struct ww_warp *w = &core->sm[i].warp[k];
            if (!w->resident || (w->done && !w->inflight)) continue;
            if (w->barred && !w->done) return stuck_warp(&core->sm[i], w, error);
            if (!any) {
                any = w;
                its = &core->sm[i];
            }
        }
    if (any) return stuck_warp(its, any, error);
    return ww_fail(error, WW_INTERNAL, "",
                   "%" PRIu64 " of %" PRIu64 " CTAs ended, %" PRIu64
                   " memory requests without a reply, nothing left to do",
                   core->ended_ctas, core->cta_count, core->inflight);
}
