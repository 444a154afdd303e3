/* What a launch leaves: counters, states and segments as a result. */
#include "../../result/result.h"
#include "engine_internal.h"

#include <string.h>

static enum ww_code copy_epochs(const struct ww_core *core, uint64_t cycles, struct ww_arena *arena,
                                struct ww_launch_result *out, struct ww_error *error) {
    const struct ww_epochs *e = &core->epochs;
    uint64_t count = (cycles + e->length - 1) / e->length;
    out->epoch = ww_arena_array(arena, count ? count : 1, sizeof *out->epoch);
    if (!out->epoch) return ww_fail_nomem(error, "epochs");
    out->epoch_count = count;
    for (size_t i = 0; i < count; i++) {
        struct ww_epoch *row = &out->epoch[i];
        if (i < e->count) *row = e->row[i];
        row->first_cycle = i * e->length;
        row->cycles = cycles - row->first_cycle < e->length ? cycles - row->first_cycle : e->length;
        for (uint32_t s = 0; s < WW_STATE_COUNT; s++) out->warp_cycles[s] += row->warp_cycles[s];
    }
    return WW_OK;
}

/* When the epochs were, and what a governor had CTAs do at their ends. */
static void time_epochs(const struct ww_engine *engine, struct ww_launch_result *out) {
    const struct ww_core *core = &engine->core;
    const struct ww_segments *p = &core->segments;
    uint32_t limit, paused;
    ww_governor_count(core, &limit, &paused);
    for (size_t i = 0; i < out->epoch_count; i++) {
        struct ww_epoch *row = &out->epoch[i];
        row->time_ps = i ? 0 : core->launch_time.latency_ps;
        row->cta_limit = limit;
        if (!p->on)
            row->time_ps +=
                ww_clock_time(&core->clock, row->first_cycle + row->cycles) -
                ww_clock_time(&core->clock, row->first_cycle) -
                ww_launch_hidden(&core->launch_time, row->first_cycle, row->first_cycle + row->cycles);
    }
    for (size_t i = 0; i < p->count; i++) {
        size_t k = (size_t)(p->row[i].first_cycle / core->epochs.length);
        if (k >= out->epoch_count) break;
        out->epoch[k].time_ps += p->row[i].time_ps;
        out->epoch[k].cta_limit = p->row[i].cta_limit;
        out->epoch[k].ctas_paused = p->row[i].ctas_paused;
    }
}

static enum ww_code copy_points(const struct ww_engine *engine, struct ww_arena *arena,
                                struct ww_launch_result *out, struct ww_error *error) {
    const struct ww_governor *g = engine->governor;
    out->point_count = g ? g->point_count : 1;
    out->point = ww_arena_array(arena, out->point_count, sizeof *out->point);
    if (!out->point) return ww_fail_nomem(error, "operating points");
    if (g)
        memcpy(out->point, g->point, g->point_count * sizeof *out->point);
    else
        memcpy(out->point[0].mhz, engine->core.mhz, sizeof out->point[0].mhz);
    return WW_OK;
}

static const char *copy_string(struct ww_arena *arena, const struct ww_launch *launch, uint32_t index) {
    const char *s = index < launch->string_count && launch->string[index] ? launch->string[index] : "";
    return ww_arena_strdup(arena, s);
}

/* Sectors that the lanes' bytes would fill if they lay side by side; lanes that share bytes need fewer. */
static uint64_t ideal_sectors(const struct ww_inst *in, const uint64_t *counter) {
    uint64_t bytes = counter[WW_I_THREAD_INSTRUCTIONS] * in->width, least = counter[WW_I_ISSUES];
    uint64_t ideal = bytes / 32 > least ? (bytes + 31) / 32 : least;
    return in->width && ideal < counter[WW_I_SECTORS] ? ideal : counter[WW_I_SECTORS];
}

enum ww_code ww_engine_rows(const struct ww_core *core, const struct ww_launch *launch, uint32_t first,
                            struct ww_arena *arena, struct ww_launch_result *out, struct ww_error *error) {
    out->pc = ww_arena_array(arena, launch->inst_count, sizeof *out->pc);
    if (!out->pc) return ww_fail_nomem(error, "counters per instruction");
    out->pc_count = launch->inst_count;
    for (uint32_t i = 0; i < launch->inst_count; i++) {
        const struct ww_inst *in = &launch->inst[i];
        const struct ww_inst_count *n = &core->epochs.inst[first + i];
        struct ww_pc_row *row = &out->pc[i];
        *row = (struct ww_pc_row){.inst = i, .pc = in->pc, .line = in->line};
        memcpy(row->counter, n->counter, sizeof row->counter);
        row->counter[WW_I_IDEAL_SECTORS] = ideal_sectors(in, row->counter);
        memcpy(row->stall, n->stall, sizeof row->stall);
        row->file = copy_string(arena, launch, in->file);
        row->mnemonic = copy_string(arena, launch, in->mnemonic);
        if (!row->file || !row->mnemonic) return ww_fail_nomem(error, "counters per instruction");
    }
    return WW_OK;
}

static void fold_slots(const struct ww_core *core, struct ww_launch_result *out) {
    for (uint32_t i = 0; i < core->gpu->sm_count; i++)
        for (uint32_t k = 0; k < core->gpu->sm_schedulers; k++)
            if (ww_sm_made(&core->sm[i]))
                for (uint32_t s = 0; s < WW_SLOT_COUNT; s++) out->slot[s] += core->sm[i].sched[k].slot[s];
            else
                out->slot[WW_SLOT_EMPTY] += out->cycles;
    uint64_t launch = (uint64_t)core->gpu->sm_count * core->gpu->sm_schedulers *
                      (core->launch_time.front + core->launch_time.end);
    out->slot[WW_SLOT_EMPTY] -= launch; /* no warp was resident then */
    out->slot[WW_SLOT_LAUNCH] += launch;
}

enum ww_code ww_engine_result(struct ww_engine *engine, const struct ww_launch *launch, uint64_t cycles,
                              struct ww_arena *arena, struct ww_launch_result *out, struct ww_error *error) {
    struct ww_core *core = &engine->core;
    const char *limiter = out->occupancy_limiter;
    uint32_t ctas = out->ctas_per_sm, index = out->index;
    *out = (struct ww_launch_result){.index = index, .ctas_per_sm = ctas, .occupancy_limiter = limiter};
    out->kernel = ww_arena_strdup(arena, launch->kernel ? launch->kernel : "");
    if (!out->kernel) return ww_fail_nomem(error, "a name");
    memcpy(out->grid, launch->grid, sizeof out->grid);
    memcpy(out->block, launch->block, sizeof out->block);
    out->registers_per_thread = launch->registers_per_thread;
    out->shared_bytes = launch->shared_static + launch->shared_dynamic;
    out->cycles = cycles;
    out->time_ps = ww_clock_time(&core->clock, cycles) - core->start_ps + core->launch_time.latency_ps -
                   core->launch_time.hidden_ps;
    fold_slots(core, out);
    out->warp_instructions = core->counter[WW_C_INST_ISSUED];
    out->thread_instructions = core->counter[WW_C_THREAD_INST];
    out->resident_warp_cycles = core->resident_warp_cycles;
    WW_TRY(copy_epochs(core, cycles, arena, out, error));
    time_epochs(engine, out);
    WW_TRY(copy_points(engine, arena, out, error));
    memcpy(out->counter, core->counter, sizeof out->counter);
    if (!engine->options.per_pc) return WW_OK;
    return ww_engine_rows(core, launch, 0, engine->options.pc_arena ? engine->options.pc_arena : arena, out,
                          error);
}
