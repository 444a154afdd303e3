/* CTA dispatch: which CTA goes to which SM, and what its end releases. */
#include "engine_internal.h"
#include "../../result/result.h"
#include "../sm/barrel.h"
#include "../sm/sm_front.h"
#include "concurrent.h"
#include "clusters.h"
#include "ctalog.h"
#include "governor_run.h"

#include <string.h>

static void start_warp(struct ww_sm *sm, uint32_t id, uint32_t cta, const struct ww_warp_stream *stream,
                       uint64_t cycle) {
    struct ww_core *core = sm->core;
    struct ww_warp *w = &sm->warp[id];
    uint32_t schedulers = core->gpu->sm_schedulers, generation = w->generation;
    uint64_t *board = sm->board + (size_t)id * core->code.registers;
    memset(board, 0, core->code.registers * sizeof *board);
    *w = (struct ww_warp){.step = stream->step,
                          .end = stream->step + stream->step_count,
                          .access = stream->access,
                          .pool = stream->pool,
                          .board = board,
                          .counts = core->epochs.inst,
                          .generation = generation,
                          .icache_key = UINT64_MAX,
                          .sched = (uint8_t)(id % schedulers),
                          .slot = (uint8_t)(id / schedulers),
                          .cta = (uint8_t)cta,
                          .number = (uint8_t)id};
    if (sm->depend) ww_depend_begin(sm, w, id);
    uint64_t fetch = cycle + core->gpu->launch_cta_cycles;
    if (stream->step_count == 0) {
        ww_warp_arrive(sm, w, cycle, fetch);
        return;
    }
    w->counts += w->step->inst;
    ww_warp_arrive(sm, w, cycle, ww_front_fill(sm, w, fetch));
    ww_warp_head(sm, w, cycle);
}

static uint32_t free_slot(const struct ww_sm *sm) {
    uint32_t i = 0;
    while (sm->cta[i].resident) i++;
    return i;
}

/* The log's key of a CTA: of concurrent launches with the launch's number. */
static uint64_t logged(const struct ww_core *core, uint64_t cta) {
    return core->concurrent ? cta | (uint64_t)core->concurrent->loading << WW_LOG_SHIFT : cta;
}

bool ww_dispatch_place(struct ww_sm *sm, uint32_t slot, uint32_t first_warp, uint32_t warps, uint64_t index,
                       uint64_t cycle) {
    struct ww_core *core = sm->core->main;
    struct ww_cta *c = &sm->cta[slot];
    memset(c, 0, sizeof *c);
    enum ww_code code = core->source->load(core->source->context, index, &c->trace, core->error);
    if (code == WW_OK && c->trace.warp_count != warps) {
        core->source->release(core->source->context, &c->trace);
        code = ww_fail(core->error, WW_INPUT, "", "CTA %llu has %u warps, expected %u",
                       (unsigned long long)index, c->trace.warp_count, warps);
    }
    if (code != WW_OK) {
        ww_core_fail(core, code);
        return false;
    }
    c->resident = true;
    c->started = cycle;
    c->used_since = WW_NEVER;
    c->warps = c->live = warps;
    c->first_warp = first_warp;
    if (sm->resident_ctas == 0) {
        ww_sm_count_mode(sm, cycle);
        sm->active_since = cycle;
        if (sm->barrel) sm->barrel->counted = cycle;
    }
    if (core->ctas)
        ww_cta_log_begin(core->ctas, logged(core, index), sm->id, slot, cycle,
                         ww_clock_time(&core->clock, cycle) - core->start_ps);
    if (sm->dma) ww_dma_cta(sm, slot);
    if (sm->mbar) ww_mbar_cta(sm, slot);
    if (sm->tma) ww_tma_cta(sm, slot);
    sm->resident_ctas++;
    core->launched_ctas++;
    ww_sm_advance(sm, cycle);
    for (uint32_t i = 0; i < c->warps; i++) start_warp(sm, c->first_warp + i, slot, &c->trace.warp[i], cycle);
    for (uint32_t i = 0; i < warps; i++)
        if (c->trace.warp && c->trace.warp[i].step_count == 0)
            ww_warp_finish(sm, &sm->warp[c->first_warp + i], cycle);
    if (sm->completed) ww_dispatch_collect(core, sm->id >> core->group_shift);
    ww_core_wake(core, sm->id, cycle);
    return true;
}

static bool place(struct ww_sm *sm, uint64_t index, uint64_t cycle) {
    uint32_t slot = free_slot(sm),
             warps = sm->core->main->warps_per_cta; /* next_sm has taken the private part */
    return ww_dispatch_place(sm, slot, slot * warps, warps, index, cycle);
}

bool ww_dispatch_make(struct ww_sm *sm) {
    struct ww_core *core = sm->core->main;
    if (ww_sm_made(sm)) return true;
    ww_core_fail(core, ww_sm_init(sm, core->error));
    return core->code_failed == WW_OK;
}

/* The next SM in turn with room, or WW_NONE. */
static uint32_t next_sm(struct ww_core *core) {
    uint32_t count = core->gpu->sm_count, i = core->turn;
    for (uint32_t k = 0; k < count; k++) {
        struct ww_sm *sm = &core->sm[i];
        if (sm->resident_ctas < sm->cta_room) {
            if (!ww_dispatch_make(sm)) return WW_NONE;
            if (!core->shared_alloc.on || ww_shared_place(sm, free_slot(sm))) return i;
        }
        if (++i == count) i = 0;
    }
    return WW_NONE;
}

void ww_dispatch_marks(struct ww_core *core, uint64_t cta, uint64_t cycle) {
    struct ww_marks *m = &core->marks;
    while (m->count && *m->cta <= cta) {
        ww_segments_cut(core, cycle, ww_clock_time(&core->clock, cycle));
        *m->cycle = cycle;
        m->cta++;
        m->cycle++;
        m->count--;
    }
}

/* CTAs that may be dispatched in the cycle. */
uint32_t ww_dispatch_most(const struct ww_core *core, uint64_t cycle) {
    double rate = core->gpu->launch_ctas_per_cycle;
    return rate >= 1 ? (uint32_t)rate : (double)cycle >= core->dispatch_free;
}

/* A CTA was dispatched; the mean time between CTAs that follow closely is 1 / rate. */
void ww_dispatch_counted(struct ww_core *core, uint64_t cycle) {
    double rate = core->gpu->launch_ctas_per_cycle, now = (double)cycle;
    if (rate >= 1) return;
    core->dispatch_free = (core->dispatch_free > now - 1 ? core->dispatch_free : now) + 1 / rate;
}

bool ww_dispatch(struct ww_core *core, uint64_t cycle) {
    if (core->concurrent) return ww_concurrent_dispatch(core, cycle);
    if (core->cluster_size > 1) return ww_clusters_dispatch(core, cycle);
    for (uint32_t n = 0, most = ww_dispatch_most(core, cycle); n < most; n++) {
        uint32_t sm = core->next_cta < core->cta_count ? next_sm(core) : WW_NONE;
        if (sm == WW_NONE) return false;
        if (core->marks.count && *core->marks.cta <= core->next_cta)
            ww_dispatch_marks(core, core->next_cta, cycle);
        if (!place(&core->sm[sm], core->next_cta++, cycle)) return false;
        core->next_cta = core->source->next(core->source->context, core->next_cta);
        core->turn = sm + 1 == core->gpu->sm_count ? 0 : sm + 1;
        ww_dispatch_counted(core, cycle);
    }
    return core->next_cta < core->cta_count;
}

bool ww_dispatch_next(struct ww_sm *sm, uint64_t cycle) {
    struct ww_core *core = sm->core->main;
    if (!ww_dispatch_make(sm) || !place(sm, core->next_cta++, cycle)) return false;
    core->next_cta = core->source->next(core->source->context, core->next_cta);
    return true;
}

/* What follows from the end of a CTA outside of its SM. */
static void collect_cta(struct ww_core *core, struct ww_sm *sm, uint32_t slot) {
    struct ww_cta *c = &sm->cta[slot];
    uint64_t cycle = c->completed;
    if (core->ctas)
        ww_cta_log_end(core->ctas, sm->id, slot, cycle, ww_clock_time(&core->clock, cycle) - core->start_ps);
    core->source->release(core->source->context, &c->trace);
    if (c->others_paused) ww_governor_cta_ended(core, cycle);
    core->ended_ctas++;
    if (cycle > core->last_end) core->last_end = cycle;
    if (core->concurrent)
        ww_concurrent_cta_end(core, sm, slot, cycle);
    else if (core->next_cta < core->cta_count && cycle < core->dispatch_at)
        core->dispatch_at = cycle;
}

void ww_dispatch_collect(struct ww_core *core, uint32_t group) {
    uint64_t *sms = &core->summary[group].completed;
    *sms |= core->group[group].completed;
    core->group[group].completed = 0;
    for (; *sms; *sms &= *sms - 1) {
        struct ww_sm *sm = &core->sm[(group << core->group_shift) + (uint32_t)__builtin_ctzll(*sms)];
        for (; sm->completed; sm->completed &= sm->completed - 1)
            collect_cta(core, sm, (uint32_t)__builtin_ctzll(sm->completed));
    }
}
