/* concurrent.c: which launch's CTAs are placed next, and when a launch begins and ends. */
#include "concurrent.h"
#include "../sm/occupancy.h"

#include <string.h>

/* ---- what fits an SM ---- */

static uint32_t partition(const struct ww_concurrent *b, uint32_t slot) {
    return slot % b->partitions;
}

/* The first run of free slots for a CTA's warps; WW_NONE: there is none. */
static uint32_t find_slots(const struct ww_gpu_spec *gpu, uint64_t taken, uint32_t warps) {
    uint64_t run = warps < 64 ? (1ull << warps) - 1 : UINT64_MAX;
    for (uint32_t at = 0; at + warps <= gpu->sm_max_warps; at++)
        if (!(taken & run << at)) return at;
    return WW_NONE;
}

static bool registers_fit(const struct ww_concurrent *b, const struct ww_taken *t,
                          const struct ww_concurrent_grid *g, uint32_t first) {
    uint32_t need[8], most = b->engine->gpu.sm_registers / b->partitions;
    memcpy(need, t->registers, sizeof need);
    need[0] += g->cta_registers;
    for (uint32_t w = 0; w < g->launch->warps_per_cta; w++) need[partition(b, first + w)] += g->warp_registers;
    for (uint32_t p = 0; p < b->partitions; p++)
        if (need[p] > most) return false;
    return true;
}

/* The slot of the first warp of a CTA that fits the SM, or WW_NONE. */
static uint32_t fit(const struct ww_core *core, const struct ww_concurrent_grid *g, uint32_t sm) {
    const struct ww_concurrent *b = core->concurrent;
    const struct ww_gpu_spec *gpu = core->gpu;
    const struct ww_taken *t = &b->taken[sm];
    if (core->sm[sm].resident_ctas >= gpu->sm_max_ctas || g->resident[sm] >= g->ctas_per_sm) return WW_NONE;
    if (t->threads + g->threads > gpu->sm_max_threads) return WW_NONE;
    if ((uint64_t)t->shared + g->shared > gpu->sm_shared_kb * 1024ull) return WW_NONE;
    uint32_t first = find_slots(gpu, t->warps, g->launch->warps_per_cta);
    return first != WW_NONE && registers_fit(b, t, g, first) ? first : WW_NONE;
}

/* sign: a CTA comes (1) or goes (UINT32_MAX, which is -1). */
static void take(struct ww_concurrent *b, const struct ww_concurrent_grid *g, uint32_t sm, uint32_t first,
                 uint32_t sign) {
    struct ww_taken *t = &b->taken[sm];
    uint32_t warps = g->launch->warps_per_cta;
    uint64_t run = warps < 64 ? (1ull << warps) - 1 : UINT64_MAX;
    t->warps ^= run << first;
    t->shared += sign * g->shared;
    t->threads += sign * g->threads;
    t->registers[0] += sign * g->cta_registers;
    for (uint32_t w = 0; w < warps; w++) t->registers[partition(b, first + w)] += sign * g->warp_registers;
}

/* ---- begins and ends ---- */

/* From when those that it waits for have ended until its first CTA may be placed, in cycles. */
static uint64_t queue_cycles(const struct ww_core *core, const struct ww_concurrent_grid *g) {
    uint64_t ps = ww_clock_time(&core->clock, g->time.front) - core->clock.origin_ps + g->time.latency_ps;
    ps = ps > g->time.hidden_ps ? ps - g->time.hidden_ps : 0;
    uint64_t cycles = ww_clock_cycle(&core->clock, core->clock.origin_ps + ps);
    return cycles ? cycles : 1;
}

static void wait_ended(struct ww_core *core, struct ww_concurrent_grid *g, uint64_t cycle) {
    if (cycle > g->begin) g->begin = cycle;
    if (--g->waits) return;
    g->ready = g->begin + queue_cycles(core, g);
}

static void end_grid(struct ww_core *core, uint32_t i) {
    struct ww_concurrent *b = core->concurrent;
    b->grid[i].state = WW_CONCURRENT_ENDED;
    for (uint32_t k = i + 1; k < b->count; k++)
        if (b->grid[k].before[i / 64] >> (i % 64) & 1) wait_ended(core, &b->grid[k], b->grid[i].end);
}

/* How long after its last CTA a launch's last write is taken as acknowledged, if memory stays busy with
 * others'. */
static uint64_t drain_cycles(const struct ww_core *core) {
    return core->gpu->launch_end_cycles ? core->gpu->launch_end_cycles : 1;
}

static void drain(struct ww_core *core, uint32_t i, uint64_t cycle) {
    struct ww_concurrent_grid *g = &core->concurrent->grid[i];
    uint64_t end = g->last_end + drain_cycles(core);
    if (cycle < end) return;
    if (!core->inflight && ww_memsys_idle(core->memory) && core->last_reply_ps > core->start_ps) {
        uint64_t drained = ww_clock_cycle(&core->clock, core->last_reply_ps);
        if (drained < end) end = drained > g->last_end ? drained : g->last_end;
    }
    g->end = end + g->time.end;
    end_grid(core, i);
}

/* A launch finds the L1s without what others left there. */
static void begin_grid(struct ww_core *core, struct ww_concurrent_grid *g) {
    struct ww_concurrent *b = core->concurrent;
    g->state = WW_CONCURRENT_RUNS;
    if (g == b->grid) return;
    for (uint32_t i = 0; g->begin && i < core->gpu->sm_count; i++) {
        ww_l1_invalidate(&core->sm[i].l1);
        if (core->sm[i].tex.shape) ww_l1_invalidate(&core->sm[i].tex);
    }
}

/* ---- dispatch ---- */

static bool goes_before(const struct ww_concurrent_grid *a, const struct ww_concurrent_grid *b) {
    int32_t pa = a->launch->order.priority, pb = b->launch->order.priority;
    if (pa != pb) return pa < pb;
    return a->ready < b->ready; /* of those that are ready at once, the first in the trace */
}

static uint32_t resident_grids(const struct ww_concurrent *b) {
    uint32_t n = 0;
    for (uint32_t i = 0; i < b->count; i++)
        n += b->grid[i].state == WW_CONCURRENT_RUNS || b->grid[i].state == WW_CONCURRENT_DRAINS;
    return n;
}

static struct ww_concurrent_grid *first_ready(struct ww_concurrent *b, uint64_t cycle) {
    struct ww_concurrent_grid *first = NULL;
    for (uint32_t i = 0; i < b->count; i++) {
        struct ww_concurrent_grid *g = &b->grid[i];
        if (g->state == WW_CONCURRENT_WAITS && !g->waits && g->ready <= cycle) g->state = WW_CONCURRENT_READY;
        if (g->state == WW_CONCURRENT_READY && (!first || goes_before(g, first))) first = g;
    }
    return first;
}

static void no_more_ctas(struct ww_core *core, struct ww_concurrent_grid *g, uint64_t cycle) {
    if (g->ended < g->launched || g->next_cta < g->launch->cta_count) return;
    if (g->last_end < cycle && !g->launched) g->last_end = cycle;
    g->state = WW_CONCURRENT_DRAINS;
    (void)core;
}

/* Lets launches begin and end in `cycle`. */
static void step_grids(struct ww_core *core, uint64_t cycle) {
    struct ww_concurrent *b = core->concurrent;
    for (uint32_t i = 0; i < b->count; i++)
        if (b->grid[i].state == WW_CONCURRENT_DRAINS) drain(core, i, cycle);
    uint32_t resident = resident_grids(b);
    for (struct ww_concurrent_grid *g = first_ready(b, cycle); g && resident < core->gpu->launch_resident_grids;
         g = first_ready(b, cycle)) {
        begin_grid(core, g);
        no_more_ctas(core, g, cycle);
        resident++;
    }
}

/* The launch whose CTAs are placed next, or NULL. */
static struct ww_concurrent_grid *head_grid(struct ww_concurrent *b) {
    struct ww_concurrent_grid *head = NULL;
    for (uint32_t i = 0; i < b->count; i++) {
        struct ww_concurrent_grid *g = &b->grid[i];
        bool has = g->state == WW_CONCURRENT_RUNS && g->next_cta < g->launch->cta_count;
        if (has && (!head || goes_before(g, head))) head = g;
    }
    return head;
}

static bool place_cta(struct ww_core *core, struct ww_concurrent_grid *g, uint32_t sm, uint32_t first,
                      uint64_t cycle) {
    struct ww_concurrent *b = core->concurrent;
    uint32_t slot = 0;
    while (core->sm[sm].cta[slot].resident) slot++;
    b->loading = (uint32_t)(g - b->grid);
    b->owner[(size_t)sm * core->gpu->sm_max_ctas + slot] = b->loading;
    uint64_t cta = g->next_cta;
    if (!g->resident[sm]++) g->active_since[sm] = cycle;
    g->launched++;
    g->next_cta = ww_trace_next_cta(b->trace, g->index, cta + 1);
    take(b, g, sm, first, 1);
    return ww_dispatch_place(&core->sm[sm], slot, first, g->launch->warps_per_cta, cta, cycle);
}

/* Places one CTA; false: none fits. */
static bool place_next(struct ww_core *core, struct ww_concurrent_grid *g, uint64_t cycle) {
    uint32_t count = core->gpu->sm_count, sm = core->turn;
    for (uint32_t k = 0; k < count; k++, sm = sm + 1 == count ? 0 : sm + 1) {
        uint32_t first = fit(core, g, sm);
        if (first == WW_NONE) continue;
        core->turn = sm + 1 == count ? 0 : sm + 1;
        return place_cta(core, g, sm, first, cycle);
    }
    return false;
}

/* When something happens that no CTA's end brings about. */
static uint64_t next_event(const struct ww_core *core, uint64_t cycle) {
    const struct ww_concurrent *b = core->concurrent;
    uint64_t next = WW_NEVER;
    for (uint32_t i = 0; i < b->count; i++) {
        const struct ww_concurrent_grid *g = &b->grid[i];
        uint64_t at = WW_NEVER;
        if (g->state == WW_CONCURRENT_WAITS && !g->waits) at = g->ready;
        if (g->state == WW_CONCURRENT_DRAINS) at = g->last_end + drain_cycles(core);
        if (at != WW_NEVER && at <= cycle) at = cycle + 1;
        if (at < next) next = at;
    }
    return next;
}

static bool all_placed(const struct ww_concurrent *b) {
    for (uint32_t i = 0; i < b->count; i++)
        if (b->grid[i].state < WW_CONCURRENT_RUNS || b->grid[i].next_cta < b->grid[i].launch->cta_count)
            return false;
    return true;
}

bool ww_concurrent_dispatch(struct ww_core *core, uint64_t cycle) {
    struct ww_concurrent *b = core->concurrent;
    struct ww_concurrent_grid *g;
    step_grids(core, cycle);
    uint32_t n = 0, most = ww_dispatch_most(core, cycle);
    for (; n < most && (g = head_grid(b)) != NULL && place_next(core, g, cycle); n++)
        ww_dispatch_counted(core, cycle);
    if (core->code_failed != WW_OK) return false;
    if (all_placed(b)) core->next_cta = core->cta_count;
    core->dispatch_at = next_event(core, cycle);
    bool slow = most == 0, more = n == most && head_grid(b);
    return (slow || more) && head_grid(b);
}

void ww_concurrent_cta_end(struct ww_core *core, const struct ww_sm *sm, uint32_t cta, uint64_t cycle) {
    struct ww_concurrent *b = core->concurrent;
    const struct ww_cta *c = &sm->cta[cta];
    struct ww_concurrent_grid *g = &b->grid[b->owner[(size_t)sm->id * core->gpu->sm_max_ctas + cta]];
    take(b, g, sm->id, c->first_warp, UINT32_MAX);
    g->cta_cycles += cycle - c->started;
    g->warp_cycles += c->warps * (cycle - c->started);
    if (!--g->resident[sm->id]) g->active_cycles += cycle - g->active_since[sm->id];
    g->ended++;
    if (cycle > g->last_end) g->last_end = cycle;
    no_more_ctas(core, g, cycle);
    if (cycle < core->dispatch_at) core->dispatch_at = cycle;
}

uint64_t ww_concurrent_end(struct ww_core *core, uint64_t drained) {
    struct ww_concurrent *b = core->concurrent;
    uint64_t end = 0;
    for (uint32_t i = 0; i < b->count; i++) {
        struct ww_concurrent_grid *g = &b->grid[i];
        if (g->state != WW_CONCURRENT_ENDED) {
            g->end = (drained > g->last_end ? drained : g->last_end) + g->time.end;
            g->state = WW_CONCURRENT_ENDED;
        }
        if (g->end > end) end = g->end;
    }
    return end;
}

/* ---- a group ---- */

static uint64_t round_up(uint64_t v, uint64_t unit) {
    return (v + unit - 1) / unit * unit;
}

/* What a CTA takes of an SM; see ww_occupancy. */
static void count_registers(const struct ww_gpu_spec *gpu, struct ww_concurrent_grid *g) {
    uint64_t most = gpu->sm_max_registers_per_thread, n = g->launch->registers_per_thread;
    uint64_t rounded = round_up(g->launch->warps_per_cta, gpu->sm_warp_unit);
    if (n > most) n = most;
    if (gpu->sm_register_granularity == 1)
        g->cta_registers = (uint32_t)round_up(rounded * 32 * n, gpu->sm_register_unit);
    else
        g->warp_registers = (uint32_t)round_up(32 * n, gpu->sm_register_unit);
}

static enum ww_code add_grid(struct ww_concurrent *b, uint32_t i, struct ww_arena *arena,
                             struct ww_error *error) {
    struct ww_concurrent_grid *g = &b->grid[i];
    const struct ww_gpu_spec *gpu = &b->engine->gpu;
    WW_TRY(ww_trace_launch(b->trace, g->index, &g->launch, error));
    const uint32_t *block = g->launch->block;
    WW_TRY(ww_occupancy(gpu, g->launch, &g->ctas_per_sm, &g->limiter, error));
    g->threads = block[0] * block[1] * block[2];
    if (g->launch->warps_per_cta != (g->threads + 31) / 32)
        return ww_fail(error, WW_INPUT, g->launch->kernel, "%u warps per CTA do not make up its block",
                       g->launch->warps_per_cta);
    g->shared = ww_occupancy_shared(gpu, g->launch);
    count_registers(gpu, g);
    g->next_cta = ww_trace_next_cta(b->trace, g->index, 0);
    g->resident = ww_arena_array(arena, gpu->sm_count, sizeof *g->resident);
    g->active_since = ww_arena_array(arena, gpu->sm_count, sizeof *g->active_since);
    g->before = ww_arena_array(arena, (b->count + 63) / 64, sizeof *g->before);
    return g->resident && g->active_since && g->before ? WW_OK : ww_fail_nomem(error, "launches");
}

/* Notes which launches of the group it waits for. */
static void link_grid(struct ww_concurrent *b, uint32_t i) {
    struct ww_concurrent_grid *g = &b->grid[i];
    const struct ww_trace_order *o = &g->launch->order;
    for (uint32_t k = i; k-- > 0;)
        if (b->grid[k].launch->order.stream == o->stream) {
            g->before[k / 64] |= 1ull << k % 64;
            break;
        }
    for (uint32_t w = 0; w < o->wait_count; w++)
        for (uint32_t k = 0; k < i; k++)
            if (b->grid[k].index == o->wait[w]) g->before[k / 64] |= 1ull << k % 64;
    for (uint32_t k = 0; k < (b->count + 63) / 64; k++)
        g->waits += (uint32_t)__builtin_popcountll(g->before[k]);
}

static enum ww_code make_group(struct ww_concurrent *b, size_t first, struct ww_arena *arena,
                               struct ww_error *error) {
    const struct ww_gpu_spec *gpu = &b->engine->gpu;
    b->partitions = gpu->sm_register_granularity == 1 || gpu->sm_warp_unit > 8 ? 1 : gpu->sm_warp_unit;
    b->grid = ww_arena_array(arena, b->count, sizeof *b->grid);
    b->taken = ww_arena_array(arena, gpu->sm_count, sizeof *b->taken);
    b->owner = ww_arena_array(arena, (size_t)gpu->sm_count * gpu->sm_max_ctas, sizeof *b->owner);
    if (!b->grid || !b->taken || !b->owner) return ww_fail_nomem(error, "launches");
    for (uint32_t i = 0; i < b->count; i++) {
        struct ww_concurrent_grid *g = &b->grid[i];
        g->index = first + i;
        WW_TRY(add_grid(b, i, arena, error));
        link_grid(b, i);
        ww_engine_copies(b->engine, g->launch); /* now, since nothing is under way in memory */
        bool root = !g->waits, queued = root ? b->engine->queued : !ww_engine_waited(b->engine, g->launch);
        ww_launch_time_begin(&g->time, gpu, queued);
        g->ready = g->time.front;
    }
    return ww_concurrent_merge(b, arena, error);
}

bool ww_engine_side_by_side(const struct ww_engine *e) {
    const struct ww_engine_options *o = &e->options;
    return !e->governor && !o->probe && !o->transfers && !o->flush && !o->flush_sm && !e->roles &&
           !e->marks.count && !e->smem_plan.dynamic && !e->pipe_plan.stages && !e->lsu_plan.entries &&
           !e->fetch_plan.queue;
}

enum ww_code ww_engine_concurrent(struct ww_engine *engine, struct ww_trace *trace, size_t first, size_t count,
                                  struct ww_arena *arena, struct ww_launch_result *out,
                                  struct ww_error *error) {
    struct ww_concurrent b = {.engine = engine, .trace = trace, .count = (uint32_t)count};
    struct ww_arena own;
    const struct ww_launch *launch;
    if (engine->broken) return ww_fail(error, WW_USAGE, "", "the engine cannot replay after a failed launch");
    WW_TRY(ww_trace_launch(trace, first, &launch, error));
    if (ww_engine_waited(engine, launch)) engine->queued = false;
    b.number = ++engine->groups;
    ww_arena_init(&own, 0);
    enum ww_code code = make_group(&b, first, &own, error);
    if (code == WW_OK) code = ww_engine_group(engine, &b, error);
    if (code == WW_OK) code = ww_concurrent_results(&b, arena, out, error);
    ww_arena_free(&own);
    return code;
}
