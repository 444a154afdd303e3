/* The streaming multiprocessor: its step in a cycle, its state over a launch. */
#include "../../result/result.h"
#include "barrel.h"
#include "booked.h"
#include "collect.h"
#include "const_operand.h"
#include "issue_plain.h"
#include "lsu_queue.h"
#include "lsu_requests.h"
#include "regs.h"
#include "warp_head.h"

/* A read-only cache of so many KiB with LRU, indexed by address bits. */
static bool init_tags(struct ww_tags *tags, struct ww_arena *arena, uint32_t kb, uint32_t line, uint32_t ways) {
    uint32_t lines = kb * 1024 / line;
    if (ways > lines) ways = lines;
    return ww_tags_init(tags, arena, lines / ways, ways, WW_REPLACE_LRU, WW_HASH_NONE, 0);
}

/* Where the code takes fewer lines than the cache has sets, no set ever holds two lines of it: half the sets do
 * the same, while that is so. The host has less memory to clear. */
static bool init_instruction_cache(struct ww_sm *sm, struct ww_arena *arena) {
    const struct ww_gpu_spec *g = sm->core->gpu;
    const struct ww_supply_plan *p = &sm->core->supply;
    if (!g->icache_kb) return true;
    uint32_t lines = g->icache_kb * 1024 / g->icache_line;
    uint32_t ways = g->icache_ways < lines ? g->icache_ways : lines, sets = lines / ways;
    while (p->on && sets % 2 == 0 && sets / 2 > p->last - p->first + p->depth) sets /= 2;
    sm->icache_ready = ww_arena_raw(arena, (size_t)sets * ways, sizeof *sm->icache_ready);
    return sm->icache_ready && ww_tags_init(&sm->icache, arena, sets, ways, WW_REPLACE_LRU, WW_HASH_NONE, 0);
}

static enum ww_code init_caches(struct ww_sm *sm, struct ww_arena *arena, uint32_t l1_ways, uint64_t seed,
                                struct ww_error *error) {
    const struct ww_gpu_spec *g = sm->core->gpu;
    bool ok = ww_l1_init(sm, arena, l1_ways, seed) && init_instruction_cache(sm, arena) &&
              init_tags(&sm->constant, arena, g->const_kb, g->const_line, g->const_ways);
    if (ok && g->const_l15_kb && (sm->core->code.uses_const || sm->core->code.constant))
        ok = init_tags(&sm->constant15, arena, g->const_l15_kb, g->const_l15_line, g->const_l15_ways);
    if (ok) ok = ww_const_init(sm, arena) && ww_supply_init(sm, arena) && ww_const_operand_init(sm, arena);
    return ok ? WW_OK : ww_fail_nomem(error, "caches of an SM");
}

static enum ww_code init_schedulers(struct ww_sm *sm, struct ww_arena *arena, const void *settings,
                                    struct ww_error *error) {
    const struct ww_gpu_spec *g = sm->core->gpu;
    const struct ww_sched_ops *ops = sm->core->ops;
    uint32_t slots = (g->sm_max_warps + g->sm_schedulers - 1) / g->sm_schedulers;
    sm->shared = (struct ww_sched_sm){
        .schedulers = g->sm_schedulers, .unsent = ww_lsu_unsent, .loads = ww_lsu_head_loads, .sm = sm};
    if (ops->shared_size) {
        sm->shared.shared = ww_arena_alloc(arena, ops->shared_size);
        if (!sm->shared.shared) return ww_fail_nomem(error, "warp schedulers");
    }
    for (uint32_t i = 0; i < g->sm_schedulers; i++) {
        sm->sched[i].state = ww_arena_alloc(arena, ops->state_size);
        if (!sm->sched[i].state) return ww_fail_nomem(error, "warp schedulers");
        sm->sched[i].warp = &sm->warp[i];
        sm->sched[i].stride = (uint32_t)(g->sm_schedulers * sizeof *sm->warp);
        sm->sched[i].try_at = &sm->try_at[i];
        for (uint32_t w = i; w < g->sm_max_warps; w += g->sm_schedulers) sm->sched[i].own |= 1ull << w;
        sm->sched[i].copies = sm->core->roles ? sm : NULL;
        sm->sched[i].view.age = sm->sched[i].age;
        sm->sched[i].view.cta = sm->sched[i].cta;
        sm->sched[i].blocked_slot = WW_SLOT_COLLECT;
        ops->init(sm->sched[i].state, settings, slots);
        sm->shared.view[i] = &sm->sched[i].view;
        sm->shared.lsu_ready[i] = &sm->sched[i].unit_ready[WW_G_LSU];
        sm->shared.lsu_free[i] = &sm->sched[i].unit_free[WW_G_LSU];
        if (ops->join) ops->join(sm->sched[i].state, &sm->shared, i);
    }
    return WW_OK;
}

/* A CTA that comes to a slot finds it zero. */
static bool init_ctas(struct ww_sm *sm, struct ww_arena *arena) {
    uint32_t count = sm->core->gpu->sm_max_ctas;
    sm->cta = ww_arena_raw(arena, count, sizeof *sm->cta);
    for (uint32_t i = 0; sm->cta && i < count; i++) sm->cta[i].resident = false;
    return sm->cta;
}

enum ww_code ww_sm_init(struct ww_sm *sm, struct ww_error *error) {
    const struct ww_core *core = sm->core;
    const struct ww_gpu_spec *g = core->gpu;
    struct ww_arena *arena = core->sm_plan.arena;
    sm->warp = ww_arena_lines(arena, g->sm_max_warps, sizeof *sm->warp);
    sm->sched = ww_arena_lines(arena, g->sm_schedulers, sizeof *sm->sched);
    sm->board = ww_arena_raw(arena, (size_t)g->sm_max_warps * core->code.registers, sizeof *sm->board);
    sm->port = ww_arena_array(arena, WW_UNIT_COUNT, sizeof *sm->port);
    if (!sm->warp || !sm->sched || !init_ctas(sm, arena) || !sm->board || !sm->port ||
        !ww_lsu_queue_init(sm, arena))
        return ww_fail_nomem(error, "an SM");
    ww_coalesce_init(&sm->lsu.coalescer, ww_gpu_request_line(g));
    if (core->lsu_plan.watch) {
        sm->lsu.watch = ww_arena_array(arena, 1, sizeof *sm->lsu.watch);
        if (!sm->lsu.watch) return ww_fail_nomem(error, "an SM");
        ww_coalesce_init(sm->lsu.watch, ww_gpu_request_line(g));
    }
    if (!ww_reexec_init(sm, arena, core->lsu_plan.entries)) return ww_fail_nomem(error, "re-execution queue");
    if (!ww_shared_init(sm, arena)) return ww_fail_nomem(error, "the table of shared memory");
    WW_TRY(ww_dma_init(sm, arena, error));
    if (!ww_mbar_init(sm, arena)) return ww_fail_nomem(error, "mbarriers");
    if (!ww_cluster_init(sm, arena)) return ww_fail_nomem(error, "clusters");
    if (!ww_tma_init(sm, arena)) return ww_fail_nomem(error, "engine of bulk copies");
    if (!ww_depend_init(sm, arena)) return ww_fail_nomem(error, "dependence counters");
    if (!ww_barrel_init(sm, arena)) return ww_fail_nomem(error, "an SM's pipeline");
    if (!ww_collect_init(sm, arena)) return ww_fail_nomem(error, "operand collectors");
    if (!ww_regs_init(sm, arena)) return ww_fail_nomem(error, "operand caches");
    sm->gathers = sm->collect || sm->rf;
    WW_TRY(init_schedulers(sm, arena, core->sm_plan.settings, error));
    WW_TRY(init_caches(sm, arena, core->sm_plan.l1_ways, core->sm_plan.seed + sm->id, error));
    sm->gates = sm->dma || sm->operands || core->waits;
    sm->extras = sm->barrel || sm->dma || sm->tma || sm->lsu.watch; /* or a prefetcher, which comes later */
    sm->plain = ww_issue_plain_allowed(sm);
    if (core->books && !ww_booked_init(sm, arena)) return ww_fail_nomem(error, "an SM");
    ww_lsu_begin(sm);
    sm->lsu.skips_retries = !core->ops->may_miss && !sm->lsu.reexec.capacity && !sm->extras;
    sm->lsu.passes = ww_lsu_passes(sm);
    return WW_OK;
}

static void wake_warps(struct ww_sm *sm, uint64_t cycle) {
    for (uint64_t due = ww_wheel_take(&sm->wheel, cycle); due; due &= due - 1) {
        struct ww_warp *w = &sm->warp[__builtin_ctzll(due)];
        if (w->resident && !w->done)
            ww_head_wake(sm, w, cycle);
        else if (w->resident && sm->booked && ww_booked_gone(sm, w, cycle))
            ww_lsu_release(sm, w, cycle);
    }
}

void ww_sm_count_mode(struct ww_sm *sm, uint64_t cycle) {
    if (sm->saturated && sm->resident_ctas)
        sm->core->counter[WW_C_MEM_SATURATED_CYCLES] += cycle - sm->saturated_at;
    sm->saturated_at = cycle;
    sm->saturated = ww_l1_saturated(sm);
}

/* False: the unit is held, and what it waits for has not come. */
static inline bool lsu_tries(struct ww_lsu *l) {
    if (!l->held) return true;
    return l->retry = l->retry && l->waits == WW_LSU_ANY;
}

/* A cycle of constant fills, prefetcher, bulk transfers and the load/store unit. */
static __attribute__((noinline)) void step_memory_all(struct ww_sm *sm, uint64_t cycle) {
    const struct ww_lsu *l = &sm->lsu;
    if (sm->const_fills.saturated_until) ww_const_step(sm, cycle);
    bool port = (l->count | l->reexec.count) && l->free <= cycle;
    if (port && lsu_tries(&sm->lsu)) ww_lsu_step(sm, cycle);
    if (sm->fetch && sm->fetch->count && (!port || l->held)) ww_fetch_step(sm, cycle);
    if (sm->dma) ww_dma_step(sm, cycle);
    if (sm->tma) ww_tma_step(sm, cycle);
    if (ww_l1_saturated(sm) != sm->saturated) ww_sm_count_mode(sm, cycle);
}

/* The same; as a rule there is but the unit. What it does not do saturates nothing. */
static inline void step_memory(struct ww_sm *sm, uint64_t cycle) {
    const struct ww_lsu *l = &sm->lsu;
    if (sm->extras || sm->const_fills.saturated_until || l->reexec.count || sm->fetch) {
        if (l->count | l->reexec.count || sm->const_fills.saturated_until || sm->extras)
            step_memory_all(sm, cycle);
        return;
    }
    if (!l->count) return;
    if (l->free <= cycle && lsu_tries(&sm->lsu))
        ww_lsu_step(sm, cycle);
    else if (!sm->saturated)
        return;
    if (ww_l1_saturated(sm) != sm->saturated) ww_sm_count_mode(sm, cycle);
}

/* What few SMs have takes part in this one. */
static uint64_t step_all(struct ww_sm *sm, uint64_t cycle) {
    uint64_t before = sm->core->issued;
    sm->issuing = true;
    if (sm->barrel) ww_barrel_step(sm, cycle);
    uint64_t next = sm->issue_at <= cycle ? ww_issue(sm, cycle) : sm->issue_at;
    sm->issuing = false;
    if (sm->barrel) {
        ww_barrel_count(sm, cycle);
        uint64_t moves = ww_barrel_next(sm, cycle);
        if (moves < next) next = moves;
    }
    if (sm->lsu.watch) ww_lsu_watch(sm, cycle, sm->core->issued != before);
    if (sm->dma && ww_dma_next(sm->dma, cycle) < next) next = ww_dma_next(sm->dma, cycle);
    if (sm->tma && ww_tma_next(sm->tma, cycle) < next) next = ww_tma_next(sm->tma, cycle);
    if (sm->fetch && ww_fetch_next(sm->fetch, cycle) < next) next = ww_fetch_next(sm->fetch, cycle);
    return next;
}

static inline uint64_t step_issue(struct ww_sm *sm, uint64_t cycle) {
    if (sm->issue_at > cycle) return sm->issue_at;
    sm->issuing = true;
    uint64_t next = sm->plain ? ww_issue_plain(sm, cycle) : ww_issue(sm, cycle);
    sm->issuing = false;
    return next;
}

/* The part of a step that changes this SM alone; returns the cycle of the next issue. */
static inline uint64_t step_inside(struct ww_sm *sm, uint64_t cycle) {
    sm->now = cycle;
    sm->became_ready = false;
    if (ww_wheel_due(&sm->wheel, cycle)) wake_warps(sm, cycle);
    step_memory(sm, cycle);
    return sm->extras ? step_all(sm, cycle) : step_issue(sm, cycle);
}

/* Ended CTAs leave; returns the cycle of the next step. */
static inline uint64_t end_inside(struct ww_sm *sm, uint64_t cycle, uint64_t next) {
    uint64_t at = ww_lsu_next(&sm->lsu, cycle);
    if (sm->ended) ww_cta_leave_all(sm, cycle + 1);
    if (at < next) next = at;
    at = sm->const_fills.saturated_until;
    if (at && at < next) next = at;
    if (next == cycle + 1) return next;
    at = ww_wheel_next(&sm->wheel, cycle);
    return at < next ? at : next;
}

/* Reports misses to the core, too. */
static inline uint64_t end_step(struct ww_sm *sm, uint64_t cycle, uint64_t next) {
    if (sm->misses.count && !sm->misses.refused) ww_core_sends(sm->core, sm->id);
    return end_inside(sm, cycle, next);
}

uint64_t ww_sm_step(struct ww_sm *sm, uint64_t cycle) {
    return end_step(sm, cycle, step_inside(sm, cycle));
}

uint64_t ww_sm_rest(struct ww_sm *sm, uint64_t cycle) {
    return end_step(sm, cycle, step_issue(sm, cycle));
}

uint64_t ww_sm_step_apart(struct ww_sm *sm, uint64_t cycle, bool *unit) {
    const struct ww_lsu *l = &sm->lsu;
    uint64_t issue = step_inside(sm, cycle);
    *unit = l->passing && !l->held && l->free == cycle + 1 && ww_sm_unit_alone(sm);
    if (!*unit) return end_step(sm, cycle, issue);
    if (sm->misses.count && !sm->misses.refused) ww_core_sends(sm->core, sm->id);
    if (sm->ended) ww_cta_leave_all(sm, cycle + 1);
    uint64_t at = ww_wheel_next(&sm->wheel, cycle);
    return at < issue ? at : issue;
}

uint64_t ww_sm_complete(struct ww_sm *sm, uint64_t cycle) {
    sm->ahead = false;
    return end_step(sm, cycle, sm->ahead_next);
}

/* What its unit has done may have to do with others, so that it is to be looked at before the next step. */
static inline bool unit_is_seen(const struct ww_sm *sm) {
    uint32_t misses = sm->misses.count;
    return (misses && misses >= sm->core->main->alone_misses) || (sm->lsu.held && sm->lsu.waits < WW_LSU_ENTRY);
}

/* The unit or constant fills may have something to do. */
static inline bool has_memory(const struct ww_sm *sm) {
    return sm->lsu.count || sm->const_fills.saturated_until;
}

/* An SM that goes alone has no extras, no prefetcher and no re-execution queue. */
uint64_t ww_sm_steps_alone(struct ww_sm *sm, uint64_t next, uint64_t end, bool more) {
    const uint32_t ctas = sm->resident_ctas;
    bool seen = false;
    do {
        const uint64_t cycle = next;
        sm->now = cycle;
        sm->became_ready = false;
        if (ww_wheel_due(&sm->wheel, cycle)) wake_warps(sm, cycle);
        if (has_memory(sm)) {
            bool queued = sm->misses.count != 0;
            step_memory(sm, cycle);
            seen = unit_is_seen(sm);
            if (!queued && sm->misses.count) ww_core_offers(sm->core, sm->id, cycle);
        }
        uint64_t issue = step_issue(sm, cycle);
        if (sm->ended && more) {
            sm->ahead = true;
            sm->ahead_next = issue;
            return cycle;
        }
        if (sm->ended || has_memory(sm)) {
            next = end_inside(sm, cycle, issue);
        } else {
            uint64_t at = issue == cycle + 1 ? issue : ww_wheel_next(&sm->wheel, cycle);
            next = at < issue ? at : issue;
        }
    } while (!seen && next < end && ctas == sm->resident_ctas && !(more && sm->draining));
    return next;
}

/* An SM that books its requests goes beyond the span while it has none to book and no CTA is to come. */
static inline bool may_go_on(const struct ww_sm *sm, uint64_t next) {
    const struct ww_lsu *l = &sm->lsu;
    const struct ww_core *core = sm->core;
    if (!sm->booked || next < core->span_end) return true;
    if (core->next_cta < core->cta_count || next >= sm->booked->far_first) return false;
    return !l->count || core->code.inst[l->ring[l->head].inst].path <= WW_L_SHARED_ATOMIC;
}

uint64_t ww_sm_run_ahead(struct ww_sm *sm, uint64_t next, uint64_t end) {
    do {
        uint64_t at = next, issue = step_inside(sm, at);
        if (sm->ended || sm->misses.count) {
            sm->ahead = true;
            sm->ahead_next = issue;
            return at;
        }
        next = end_step(sm, at, issue);
    } while (next < end && !sm->draining && may_go_on(sm, next));
    return next;
}

void ww_sm_close(struct ww_sm *sm, uint64_t end) {
    if (!ww_sm_made(sm)) return;
    for (uint32_t i = 0; i < sm->core->gpu->sm_schedulers; i++) ww_issue_count(&sm->sched[i], end);
    ww_sm_count_mode(sm, end);
    ww_fetch_close(sm);
    sm->core->counter[WW_C_OWNER_CHANGES] += sm->shared.owner_changes;
}
