/* Replays launches of a trace on one GPU and counts. */
#include "../../api/trace.h"
#include "../../result/result.h"
#include "alone.h"
#include "concurrent.h"
#include "clusters.h"
#include "engine_internal.h"
#include "../sm/issue_plain.h"

#include "../sm/barrel.h"
#include "../sm/occupancy.h"
#include "../sm/waits.h"
#include "shard.h"
#include "windows.h"
#include "spans.h"
#include <stdlib.h>
#include <string.h>

/* If no reply comes for so long while requests are outstanding, one has been lost. */
#define SILENCE_PS 20000000000u

static enum ww_code choose_pipe(const struct ww_mech_choice *choice, struct ww_engine *e,
                                struct ww_error *error) {
    e->pipe_ops = (const struct ww_pipe_ops *)(const void *)choice->info;
    e->pipe_ops->plan(choice->settings, &e->pipe_plan);
    const struct ww_pipe_plan *p = &e->pipe_plan;
    if (p->stages && p->stages < p->memory + 4)
        return ww_fail(error, WW_USAGE, "",
                       "mechanism pipe.memory=%u: expected at most %u memory stages of pipe.stages=%u",
                       p->memory, p->stages - 4, p->stages);
    if (p->stages) e->gpu.core_dependences = WW_DEPENDENCES_SCOREBOARD; /* its stages look up registers */
    if (!p->stages || (e->gpu.sm_schedulers == 1 && e->gpu.sm_issue_width == 1)) return WW_OK;
    return ww_fail(error, WW_USAGE, e->gpu.name,
                   "mechanism pipe=%s: expected a GPU with one scheduler that issues one instruction, "
                   "it has %u of %u (elastic-16 is such a GPU)",
                   choice->info->name, e->gpu.sm_schedulers, e->gpu.sm_issue_width);
}

static enum ww_code choose_fetch(const struct ww_mech_choice *choice, struct ww_engine *e,
                                 struct ww_error *error) {
    e->fetch_ops = (const struct ww_fetch_ops *)(const void *)choice->info;
    e->fetch_settings = choice->settings;
    e->fetch_ops->plan(choice->settings, &e->fetch_plan);
    if (!e->fetch_plan.queue) return WW_OK;
    e->fetch_stride = (e->fetch_ops->state_size + 63) / 64 * 64;
    e->fetch_state = calloc(e->gpu.sm_count, e->fetch_stride ? e->fetch_stride : 64);
    return e->fetch_state ? WW_OK : ww_fail_nomem(error, "prefetchers");
}

/* Features that exclude a governor that pauses CTAs. */
static enum ww_code check_governor(const struct ww_engine *e, struct ww_error *error) {
    if (!e->governor || !e->governor->plan.epoch) return WW_OK;
    const char *name = e->governor->ops->info.name;
    if (e->smem_plan.dynamic)
        return ww_fail(error, WW_USAGE, "",
                       "mechanism governor=%s does not go with dynamic shared memory: a paused CTA would keep "
                       "what others wait for",
                       name);
    if (e->pipe_plan.stages)
        return ww_fail(error, WW_USAGE, "",
                       "mechanism governor=%s does not go with a barrel pipeline, whose warps cannot pause",
                       name);
    return WW_OK;
}

static enum ww_code choose(const struct ww_mech_choice *mechanism, struct ww_engine *e,
                           struct ww_error *error) {
    for (int kind = 0; mechanism && kind < WW_KIND_COUNT; kind++) {
        if (!mechanism[kind].info) continue;
        if (kind == WW_KIND_LSU) {
            const struct ww_lsu_ops *lsu = (const struct ww_lsu_ops *)(const void *)mechanism[kind].info;
            lsu->plan(mechanism[kind].settings, &e->lsu_plan);
            continue;
        }
        if (kind == WW_KIND_SMEM) {
            const struct ww_smem_ops *smem = (const struct ww_smem_ops *)(const void *)mechanism[kind].info;
            smem->plan(mechanism[kind].settings, &e->smem_plan);
            continue;
        }
        if (kind == WW_KIND_DMA) {
            const struct ww_dma_ops *dma = (const struct ww_dma_ops *)(const void *)mechanism[kind].info;
            dma->plan(mechanism[kind].settings, &e->dma_plan);
            continue;
        }
        if (kind == WW_KIND_FETCH) {
            WW_TRY(choose_fetch(&mechanism[kind], e, error));
            continue;
        }
        if (kind == WW_KIND_PIPE) {
            WW_TRY(choose_pipe(&mechanism[kind], e, error));
            continue;
        }
        if (kind == WW_KIND_GOVERNOR) {
            const struct ww_governor_ops *ops =
                (const struct ww_governor_ops *)(const void *)mechanism[kind].info;
            WW_TRY(ww_governor_new(ops, mechanism[kind].settings, &e->gpu, &e->governor, error));
            continue;
        }
        if (kind != WW_KIND_SCHED)
            return ww_fail(error, WW_USAGE, "", "mechanism %s=%s: the engine has no place for this kind yet",
                           ww_mech_kind_name((enum ww_mech_kind)kind), mechanism[kind].info->name);
        e->ops = (const struct ww_sched_ops *)(const void *)mechanism[kind].info;
        e->settings = mechanism[kind].settings;
    }
    WW_TRY(check_governor(e, error));
    if (!e->ops)
        e->ops = (const struct ww_sched_ops *)(const void *)ww_mech_find(WW_KIND_SCHED, ww_gpu_sched(&e->gpu));
    return e->ops ? WW_OK : ww_fail(error, WW_USAGE, "", "no warp scheduler");
}

static size_t outbox_bytes(const struct ww_gpu_spec *gpu) {
    size_t bytes = 2 * (size_t)gpu->sm_count * sizeof(struct ww_outbox);
    return (bytes + WW_HOST_LINE - 1) & ~(size_t)(WW_HOST_LINE - 1);
}

static enum ww_code make_memory(struct ww_engine *e, struct ww_error *error) {
    const struct ww_memsys_client client = {&e->core, ww_core_reply, ww_core_unblocked};
    double fastest = e->gpu.clock_sm_mhz > e->gpu.clock_l2_mhz ? e->gpu.clock_sm_mhz : e->gpu.clock_l2_mhz;
    e->queue = ww_queue_new((uint64_t)(1e6 / fastest));
    if (!e->queue) return ww_fail_nomem(error, "the event queue");
    e->memory = ww_memsys_new(&e->gpu, e->queue, &client, e->counter, e->options.seed);
    if (!e->memory) return ww_fail_nomem(error, "the memory system");
    ww_queue_keyed(e->queue);
    return e->options.fast ? ww_memsys_make_fast(e->memory, &e->gpu, error) : WW_OK;
}

static enum ww_code start_memory(struct ww_engine *e, struct ww_error *error) {
    WW_TRY(ww_memsys_check(&e->gpu, error));
    e->outbox = aligned_alloc(WW_HOST_LINE, outbox_bytes(&e->gpu));
    if (!e->outbox) return ww_fail_nomem(error, "the event queue");
    memset(e->outbox, 0, outbox_bytes(&e->gpu));
    e->sm = calloc(e->gpu.sm_count, sizeof *e->sm);
    if (!e->sm) return ww_fail_nomem(error, "the SMs");
    return make_memory(e, error);
}

/* What a profiler does between launches: dirty lines are written back and everything is invalidated, in time
 * that is no launch's. A new memory system is in that state, and at the time of a new engine. What code ran
 * before is still known: it counts only where launches are not replayed (code_counts). */
static enum ww_code flush(struct ww_engine *e, struct ww_error *error) {
    ww_memsys_free(e->memory);
    ww_queue_free(e->queue);
    e->memory = NULL;
    e->queue = NULL;
    e->end_ps = 0;
    e->queued = false;
    if (e->governor) ww_governor_memory_reset(e->governor);
    return make_memory(e, error);
}

/* What governs SMs as a whole, or notes things in the order in which they happen, is left to one thread. */
static enum ww_code start_threads(struct ww_engine *e, struct ww_error *error) {
    const struct ww_engine_options *o = &e->options;
    bool alone = e->gpu.sm_count < WW_THREADS_SMS || e->governor || o->probe || o->transfers || o->ctas;
    e->threads = alone || o->threads < 1 ? 1 : o->threads;
    if (e->threads > WW_THREADS_MAX) e->threads = WW_THREADS_MAX;
    if (e->threads > e->gpu.sm_count) e->threads = e->gpu.sm_count;
    return e->threads > 1 ? ww_team_new(e->threads, e->gpu.sm_count, &e->team, error) : WW_OK;
}

enum ww_code ww_engine_new(const struct ww_engine_options *options, struct ww_engine **engine,
                           struct ww_error *error) {
    struct ww_engine *e = calloc(1, sizeof *e);
    *engine = NULL;
    if (!e) return ww_fail_nomem(error, "the engine");
    e->options = *options;
    e->gpu = *options->gpu;
    ww_arena_init(&e->arena, 0);
    e->core.pool.op_free = e->core.pool.target_free = WW_NONE;
    enum ww_code code = choose(options->mechanism, e, error);
    if (code == WW_OK) code = start_threads(e, error);
    if (code == WW_OK) code = start_memory(e, error);
    if (code != WW_OK) {
        ww_engine_free(e);
        return code;
    }
    *engine = e;
    return WW_OK;
}

void ww_engine_free(struct ww_engine *engine) {
    if (!engine) return;
    ww_team_free(engine->team);
    ww_shards_free(engine->shard, engine->shards);
    ww_memsys_free(engine->memory);
    if (engine->queue) ww_queue_free(engine->queue);
    ww_epochs_free(&engine->core.epochs);
    ww_segments_free(&engine->core.segments);
    ww_governor_free(engine->governor);
    free(engine->fetch_state);
    for (uint32_t i = 0; engine->outbox && i < 2 * engine->gpu.sm_count; i++) free(engine->outbox[i].reply);
    free(engine->outbox);
    free(engine->sm);
    ww_pool_free(&engine->core.pool);
    ww_arena_free(&engine->arena);
    free(engine);
}

void ww_engine_roles(struct ww_engine *engine, const uint8_t *roles) {
    engine->roles = roles;
}

void ww_engine_queued(struct ww_engine *engine, bool queued) {
    engine->queued = queued;
}

const struct ww_segment *ww_engine_segments(const struct ww_engine *engine, size_t *count) {
    *count = engine->core.segments.on ? engine->core.segments.count : 0;
    return engine->core.segments.row;
}

/* From how many of its entries on something is saturated. */
static void set_high(uint32_t high[2], uint32_t entries, const uint32_t eighths[2]) {
    for (int on = 0; on < 2; on++) high[on] = entries - (uint32_t)((uint64_t)entries * (8 - eighths[on]) / 8);
}

/* When the memory saturation flag is set (0), and stays set (1). */
static void set_saturation(struct ww_core *c, const void *settings) {
    uint32_t eighths[2] = {7, 7};
    if (c->ops->saturation) c->ops->saturation(settings, &eighths[0], &eighths[1]);
    set_high(c->l1_shape.mshr_high, c->l1_shape.mshrs, eighths);
    set_high(c->tex_shape.mshr_high, c->tex_shape.mshrs, eighths);
    set_high(c->fetch_shape.mshr_high, c->fetch_shape.mshrs, eighths);
    set_high(c->queue_high, c->gpu->l1_miss_queue, eighths);
}

/* Figures that are computed once for the loop. */
static void derive(struct ww_core *c, const struct ww_launch *launch) {
    const struct ww_gpu_spec *g = c->gpu;
    ww_cache_shapes(c);
    ww_fetch_shape(c);
    for (uint32_t m = 0; m < 256; m++)
        for (uint32_t p = 0; p < 8; p++) {
            uint32_t first = p / (g->l2_sector / 32) * (g->l2_sector / 32);
            if ((m >> p) & 1) c->chunks_of[m] |= (uint8_t)(((1u << (g->l2_sector / 32)) - 1) << first);
        }
    c->lsu_cycles = g->lsu_lanes >= 32 ? 1 : 32 / g->lsu_lanes;
    bool alone = !c->lsu_plan.entries && !c->fetch_plan.queue; /* mechanisms look at one line after another */
    c->tag_banks = alone && g->l1_tag_banks > 1 ? g->l1_tag_banks : 0;
    c->local_words = (launch->local_bytes + 3) / 4 ? (launch->local_bytes + 3) / 4 : 1;
    c->icache_shift = (uint32_t)__builtin_ctz(g->icache_line);
    c->const_shift = (uint32_t)__builtin_ctz(g->const_line);
    c->const15_shift = (uint32_t)__builtin_ctz(g->const_l15_line);
    ww_smem_init(&c->banks, g);
    for (uint32_t u = 1; u < WW_UNIT_COUNT; u++) {
        uint32_t count = ww_pipe_instances(g, (enum ww_group)u);
        c->instances[u] = count == g->sm_schedulers ? 0 : count;
    }
    if (g->pipe_imul_shares != WW_IMUL_OWN)
        c->imul_group2 = g->pipe_imul_shares == WW_IMUL_INT && !g->pipe_int_shares_fp32 ? WW_G_INT : WW_G_FP32;
}

/* Where shared memory is carved from the L1's array, it takes whole ways of it. */
static uint32_t l1_ways(const struct ww_core *c, const struct ww_launch *launch) {
    const struct ww_gpu_spec *g = c->gpu;
    uint64_t total = (uint64_t)g->l1_size_kb * 1024;
    uint64_t used = (uint64_t)ww_occupancy_shared(g, launch) * c->ctas_per_sm;
    if (!g->l1_unified) return g->l1_ways;
    uint64_t ways = g->l1_ways * ww_occupancy_l1(g, used) / total;
    return ways ? (uint32_t)ways : 1;
}

/* Whether no launch of the run has had the kernel's code before; if so its code comes from DRAM. */
static bool code_is_new(struct ww_engine *e, const struct ww_launch *launch) {
    uint32_t h = 2166136261u;
    for (const char *p = launch->kernel; p && *p; p++) h = (h ^ (uint8_t)*p) * 16777619u;
    h ^= h >> 16;
    uint64_t *word = &e->code[h / 64 % WW_CODE_WORDS], bit = 1ull << h % 64;
    bool new = !(*word & bit);
    *word |= bit;
    return new;
}

/* Whether it matters: a profiler that flushes caches replays a launch several times, and its passes leave the
 * code in the L2. One that counts in a single pass does not. */
static bool code_counts(const struct ww_engine *e) {
    return !e->options.code_known && (!e->options.flush || e->options.one_pass);
}

/* Sets up the core for a launch, but for its SMs. */
static enum ww_code prepare(struct ww_engine *e, const struct ww_launch *launch, struct ww_cta_source *source,
                            struct ww_error *error) {
    struct ww_core *c = &e->core;
    struct ww_pool pool = c->pool;
    struct ww_epochs epochs = c->epochs;
    struct ww_segments segments = c->segments;
    uint64_t start = ww_queue_now(e->queue) > e->end_ps ? ww_queue_now(e->queue) : e->end_ps;
    memset(c, 0, sizeof *c);
    memset(e->counter, 0, sizeof e->counter);
    ww_arena_reset(&e->arena);
    ww_pool_free(&pool);
    c->pool = pool;
    c->epochs = epochs;
    c->segments = segments;
    c->launch = launch;
    c->gpu = &e->gpu;
    c->ops = e->ops;
    c->lsu_plan = e->lsu_plan;
    c->dma_plan = e->dma_plan;
    c->fetch_ops = e->fetch_ops;
    c->fetch_settings = e->fetch_settings;
    c->fetch_plan = e->fetch_plan;
    c->sequence = e->launches++;
    c->roles = e->roles;
    c->transfers = e->options.transfers;
    c->pipe_ops = e->pipe_ops;
    c->pipe_plan = e->pipe_plan;
    c->counter = e->counter;
    c->memory = e->memory;
    c->probe = e->options.probe;
    c->ctas = e->options.ctas;
    c->observed = c->probe || c->roles;
    c->runs_ahead = !(e->options.in_step || e->governor || e->marks.count || c->probe || c->transfers ||
                      e->concurrent || launch->wait_words);
    c->queue = e->queue;
    c->error = error;
    c->source = source;
    c->marks = e->marks;
    c->concurrent = e->concurrent;
    c->cta_count = launch->cta_count;
    c->warps_per_cta = launch->warps_per_cta;
    c->progress = e->options.progress;
    c->progress_context = e->options.progress_context;
    c->main = c;
    c->now = UINT64_MAX; /* the cycle before the first */
    c->last_reply_ps = start;
    c->outside = (struct ww_outside){.ps = UINT64_MAX};
    ww_clock_init(&c->clock, e->gpu.clock_sm_mhz);
    c->clock.origin_ps = c->start_ps = start;
    c->clock.origin_cycle = 0;
    c->mhz[WW_DOMAIN_SM] = e->gpu.clock_sm_mhz;
    c->mhz[WW_DOMAIN_L2] = e->gpu.clock_l2_mhz;
    c->mhz[WW_DOMAIN_DRAM] = e->gpu.clock_dram_mhz;
    c->governor = e->governor;
    c->governor_at = WW_NEVER;
    c->tick = (struct ww_event){.fn = ww_core_tick, .owner = c, .last = true};
    c->cut = (struct ww_event){.fn = ww_core_epoch_end, .owner = c};
    derive(c, launch);
    set_saturation(c, e->settings);
    ww_launch_time_begin(&c->launch_time, c->gpu, e->queued);
    bool segments_on = (e->options.segments || e->governor) && !e->concurrent;
    WW_TRY(ww_segments_begin(&c->segments, segments_on, launch, start, &e->arena, error));
    WW_TRY(ww_pipe_decode(&e->gpu, launch, &e->arena, &c->code, error));
    ww_supply_plan(c, code_is_new(e, launch) && code_counts(e));
    /* Where caches are flushed, code is in the L2 at best. */
    if (e->options.flush || e->options.flush_sm) c->supply.kept = false;
    ww_issue_lanes(c);
    ww_lsu_prepare(c);
    WW_TRY(ww_waits_begin(c, ww_core_released, &e->arena, error));
    ww_memsys_tell_writes(e->memory, c->waits ? ww_waits_performed : NULL, c);
    if (c->pipe_plan.stages && !ww_barrel_decode(c, &e->arena))
        return ww_fail_nomem(error, "decoded instructions");
    return WW_OK;
}

/* Launches side by side share what they have taken of the SMs; writes that are waited for are of all SMs, and
 * the CTAs of a cluster tell one another's mbarriers. */
static bool one_thread(const struct ww_engine *e) {
    return e->concurrent || e->core.waits || (e->core.cluster_size > 1 && e->core.code.uses_mbarriers);
}

/* The groups of SMs, and what is known of them between cycles. */
static bool make_groups(struct ww_engine *e) {
    struct ww_core *c = &e->core;
    uint32_t count = e->gpu.sm_count;
    c->group_shift = ww_shard_shift(count, one_thread(e) ? 1 : e->threads);
    c->groups = ((count - 1) >> c->group_shift) + 1;
    c->group = ww_arena_lines(&e->arena, c->groups, sizeof *c->group);
    c->summary = ww_arena_lines(&e->arena, c->groups, sizeof *c->summary);
    for (uint32_t k = 0; k < 2; k++) c->posted[k] = ww_arena_array(&e->arena, c->groups, sizeof *c->posted[k]);
    c->outbox = e->outbox;
    c->next = ww_arena_lines(&e->arena, count, sizeof *c->next);
    if (!c->group || !c->summary || !c->posted[0] || !c->posted[1] || !c->next) return false;
    c->sm = e->sm;
    for (uint32_t g = 0; g < c->groups; g++) c->summary[g].next = WW_NEVER;
    for (uint32_t i = 0; i < count; i++) c->next[i] = WW_NEVER;
    return true;
}

/* Whether something looks at all SMs, or keeps a state of each over launches. */
static bool needs_all(const struct ww_engine *e) {
    return e->concurrent || e->governor || e->core.fetch_plan.queue || e->core.pipe_plan.stages;
}

static enum ww_code make_sm(struct ww_engine *e, struct ww_sm *sm, struct ww_error *error) {
    WW_TRY(ww_sm_init(sm, error));
    if (ww_fetch_init(sm, &e->arena, e->fetch_state + sm->id * e->fetch_stride)) return WW_OK;
    return ww_fail_nomem(error, "a prefetcher");
}

static enum ww_code prepare_sms(struct ww_engine *e, const struct ww_launch *launch, struct ww_error *error) {
    struct ww_core *c = &e->core;
    uint32_t count = e->gpu.sm_count;
    struct ww_inst_count *inst = ww_arena_lines(&e->arena, (size_t)launch->inst_count + 1, sizeof *inst);
    struct ww_issue_count *issued = ww_arena_lines(&e->arena, (size_t)launch->inst_count + 1, sizeof *issued);
    if (!inst || !issued || !make_groups(e)) return ww_fail_nomem(error, "the SMs");
    uint32_t length = e->options.epoch_cycles ? e->options.epoch_cycles : 4096;
    WW_TRY(ww_epochs_begin(&c->epochs, length, inst, issued, error));
    ww_memsys_count_insts(e->memory, inst);
    c->sm_plan = (struct ww_sm_plan){&e->arena, e->settings, e->options.seed, l1_ways(c, launch)};
    if (e->team && !one_thread(e)) {
        e->shards = c->groups;
        WW_TRY(ww_shards_begin(c, e->team, &e->arena, &e->shard, error));
    }
    for (uint32_t i = 0; i < count; i++) {
        if (ww_sm_made(&c->sm[i])) memset(&c->sm[i], 0, sizeof c->sm[i]);
        c->sm[i].core = c->shard ? &c->shard[i >> c->group_shift].core : c;
        c->sm[i].id = i;
        c->sm[i].now = UINT64_MAX;
        c->sm[i].cta_room = e->concurrent ? e->gpu.sm_max_ctas : c->ctas_per_sm;
        if (needs_all(e)) WW_TRY(make_sm(e, &c->sm[i], error));
    }
    if (c->governor) ww_governor_begin(c, launch);
    return WW_OK;
}

static bool finished(const struct ww_core *c) {
    return c->next_cta >= c->cta_count && c->ended_ctas == c->launched_ctas && c->inflight == 0 &&
           ww_memsys_idle(c->memory);
}

static enum ww_code run(struct ww_core *c, struct ww_error *error) {
    c->dispatch_free = 0;
    c->dispatch_at = c->next_cta < c->cta_count ? c->launch_time.front : WW_NEVER;
    if (c->segments.on) ww_queue_add(c->queue, &c->cut, ww_clock_time(&c->clock, c->epochs.length));
    if (c->dispatch_at != WW_NEVER) ww_queue_add(c->queue, &c->tick, c->clock.origin_ps);
    while (c->code_failed == WW_OK && !finished(c)) {
        bool more = ww_queue_step(c->queue);
        if (c->code_failed != WW_OK) break;
        if (c->tick.queued) continue;
        bool awaited = ww_waits_any(c);
        bool waits =
            c->inflight || c->ended_ctas == c->launched_ctas || (awaited && !ww_memsys_idle(c->memory));
        bool silent = ww_queue_now(c->queue) > c->last_reply_ps + SILENCE_PS;
        if (more && waits && !(silent && c->inflight)) continue;
        if (!awaited) return ww_engine_stuck(c, error);
        ww_waits_give_up(c, ww_queue_now(c->queue));
    }
    return c->code_failed;
}

/* Gives back the CTAs that a failed launch still holds. */
static void abandon(struct ww_core *c) {
    for (uint32_t g = 0; c->sm && g < c->groups; g++) ww_dispatch_collect(c, g);
    for (uint32_t i = 0; c->sm && i < c->gpu->sm_count; i++)
        for (uint32_t k = 0; c->sm[i].cta && k < c->gpu->sm_max_ctas; k++)
            if (c->sm[i].cta[k].resident) c->source->release(c->source->context, &c->sm[i].cta[k].trace);
}

/* The launch overhead, outside of its CTAs; a launch without CTAs has none. */
static void count_launch(struct ww_core *c) {
    struct ww_launch_time *t = &c->launch_time;
    if (!c->launched_ctas) *t = (struct ww_launch_time){.latency_ps = t->latency_ps};
    c->counter[WW_C_LAUNCH_FRONT_CYCLES] = t->front;
    c->counter[WW_C_LAUNCH_END_CYCLES] = t->end;
    c->counter[WW_C_LAUNCH_LATENCY_PS] = t->latency_ps;
    c->counter[WW_C_LAUNCH_HIDDEN_PS] = t->hidden_ps;
}

/* The launch lasts to the end of its last CTA, until memory has taken and acknowledged everything, and to what
 * follows that. */
static uint64_t close_launch(struct ww_engine *e) {
    struct ww_core *c = &e->core;
    uint64_t now = ww_queue_now(e->queue), end;
    if (c->spans && c->last_reply_ps > now) now = c->last_reply_ps; /* it was no event of the queue */
    end = c->last_end;
    if (now > c->start_ps) {
        uint64_t drained = ww_clock_cycle(&c->clock, now);
        if (drained > end) end = drained;
    }
    count_launch(c);
    end = c->concurrent ? ww_concurrent_end(c, end) : end + c->launch_time.end;
    for (uint32_t i = 0; i < e->gpu.sm_count; i++) ww_sm_close(&c->sm[i], end);
    e->end_ps = ww_clock_time(&c->clock, end);
    if (e->end_ps < now) e->end_ps = now;
    ww_memsys_end_launch(e->memory, e->end_ps);
    ww_epochs_settle(&c->epochs, c->launch->inst_count);
    ww_segments_end(c, end, e->end_ps);
    if (c->governor) ww_governor_end(c, end);
    if (c->shard) ww_shards_end(c);
    return end;
}

/* With fast replay, SMs go through spans of time where they can. */
static enum ww_code choose_spans(struct ww_engine *e, struct ww_error *error) {
    struct ww_core *c = &e->core;
    if (!e->options.fast) return WW_OK;
    bool fetched = ww_memsys_set_fetched(e->memory, ww_spans_fit(c));
    return fetched && ww_spans_fit(c) ? ww_spans_begin(c, &e->arena, error) : WW_OK;
}

enum ww_code ww_engine_replay(struct ww_engine *engine, const struct ww_launch *launch,
                              struct ww_cta_source *source, struct ww_arena *arena,
                              struct ww_launch_result *out, struct ww_error *error) {
    struct ww_core *c = &engine->core;
    uint32_t ctas;
    const char *limiter;
    struct ww_error local;
    if (!error) error = &local;
    if (engine->broken) return ww_fail(error, WW_USAGE, "", "the engine cannot replay after a failed launch");
    WW_TRY(ww_occupancy(&engine->gpu, launch, &ctas, &limiter, error));
    if (launch->warps_per_cta != (launch->block[0] * launch->block[1] * launch->block[2] + 31) / 32)
        return ww_fail(error, WW_INPUT, launch->kernel, "%u warps per CTA do not make up its block",
                       launch->warps_per_cta);
    if (engine->options.flush && engine->launches) {
        enum ww_code flushed = flush(engine, error);
        engine->broken = flushed != WW_OK;
        WW_TRY(flushed);
    }
    if (engine->options.flush_sm) engine->queued = false;
    WW_TRY(prepare(engine, launch, source, error));
    WW_TRY(ww_shared_plan(&engine->gpu, launch, &engine->smem_plan, ctas, &c->shared_alloc, error));
    if (c->shared_alloc.on) {
        ctas = c->shared_alloc.ctas;
        limiter = c->shared_alloc.limiter;
    }
    c->ctas_per_sm = ctas;
    WW_TRY(ww_clusters_plan(c, launch, error));
    WW_TRY(prepare_sms(engine, launch, error));
    if (c->cluster_size < 2) c->next_cta = source->next(source->context, c->next_cta);
    WW_TRY(choose_spans(engine, error));
    c->window = ww_windows_length(c);
    c->told = ww_arena_array(&engine->arena, engine->gpu.sm_count, sizeof *c->told);
    if (!c->told) return ww_fail_nomem(error, "the SMs");
    for (uint32_t g = 0; c->shard && g < c->groups; g++) c->shard[g].core.window = c->window;
    ww_alone_plan(c);
    enum ww_code code = run(c, error);
    engine->broken = code != WW_OK;
    engine->queued = true;
    if (code != WW_OK) abandon(c);
    ww_queue_cancel(engine->queue, &c->tick);
    ww_queue_cancel(engine->queue, &c->cut);
    if (code != WW_OK) return code;
    out->ctas_per_sm = ctas;
    out->occupancy_limiter = c->cta_count < (uint64_t)ctas * engine->gpu.sm_count ? "grid" : limiter;
    return ww_engine_result(engine, launch, close_launch(engine), arena, out, error);
}

static enum ww_code replay_group(struct ww_engine *e, struct ww_concurrent *b, struct ww_error *error) {
    struct ww_core *c = &e->core;
    bool new = false;
    for (uint32_t i = 0; i < b->count; i++) new |= code_is_new(e, b->grid[i].launch);
    WW_TRY(prepare(e, &b->all, &b->source, error));
    ww_supply_plan(c, new &&code_counts(e));
    c->ctas_per_sm = c->cluster_size = 1;
    WW_TRY(prepare_sms(e, &b->all, error));
    e->launches += b->count - 1;
    if (e->options.fast) ww_memsys_set_fetched(e->memory, false);
    enum ww_code code = run(c, error);
    if (code != WW_OK) abandon(c);
    ww_queue_cancel(e->queue, &c->tick);
    if (code == WW_OK) close_launch(e);
    return code;
}

enum ww_code ww_engine_group(struct ww_engine *engine, struct ww_concurrent *b, struct ww_error *error) {
    struct ww_error local;
    engine->concurrent = b;
    enum ww_code code = replay_group(engine, b, error ? error : &local);
    engine->concurrent = NULL;
    engine->broken = code != WW_OK;
    engine->queued = true;
    return code;
}

struct from_trace {
    struct ww_trace *trace;
    size_t launch;
};

static enum ww_code load_cta(void *context, uint64_t cta, struct ww_cta_trace *out, struct ww_error *error) {
    const struct from_trace *f = context;
    return ww_trace_load_cta(f->trace, f->launch, cta, out, error);
}

static void release_cta(void *context, struct ww_cta_trace *cta) {
    const struct from_trace *f = context;
    ww_trace_release_cta(f->trace, cta);
}

static uint64_t next_cta(void *context, uint64_t cta) {
    const struct from_trace *f = context;
    return ww_trace_next_cta(f->trace, f->launch, cta);
}

enum ww_code ww_engine_launch(struct ww_engine *engine, struct ww_trace *trace, size_t index,
                              struct ww_arena *arena, struct ww_launch_result *out, struct ww_error *error) {
    struct from_trace from = {trace, index};
    struct ww_cta_source source = {&from, load_cta, release_cta, next_cta};
    const struct ww_launch *launch;
    WW_TRY(ww_trace_launch(trace, index, &launch, error));
    if (!engine->broken) ww_engine_copies(engine, launch);
    if (ww_engine_waited(engine, launch)) engine->queued = false;
    return ww_engine_replay(engine, launch, &source, arena, out, error);
}
