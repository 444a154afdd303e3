#include "engine_internal.h"

#include <string.h>

static void add_memory(uint64_t *n, const struct ww_inst *in, uint64_t issues) {
    bool shared = in->space == WW_SPACE_SHARED;
    switch (in->op) {
    case WW_OP_ATOMIC:
    case WW_OP_REDUCE:
        n[shared ? WW_C_MEM_INST_SHARED : WW_C_MEM_INST_ATOMIC] += issues;
        return;
    case WW_OP_TEXTURE:
        n[WW_C_MEM_INST_TEX] += issues;
        return;
    case WW_OP_ASYNC_COPY:
        n[WW_C_MEM_INST_GLOBAL_LD] += issues;
        return;
    case WW_OP_LOAD:
    case WW_OP_STORE:
        break;
    default:
        return;
    }
    if (shared)
        n[WW_C_MEM_INST_SHARED] += issues;
    else if (in->space == WW_SPACE_LOCAL)
        n[WW_C_MEM_INST_LOCAL] += issues;
    else if (in->space == WW_SPACE_TEX)
        n[WW_C_MEM_INST_TEX] += issues;
    else if (in->space == WW_SPACE_CONST)
        n[WW_C_MEM_INST_CONST] += in->flags & WW_INST_ACCESS ? issues : 0;
    else
        n[in->op == WW_OP_LOAD ? WW_C_MEM_INST_GLOBAL_LD : WW_C_MEM_INST_GLOBAL_ST] += issues;
}

static void add_lanes(uint64_t *n, const struct ww_inst *in, uint64_t threads) {
    switch (ww_pipe_of((enum ww_op)in->op)) {
    case WW_PIPE_INT:
        n[WW_C_LANE_INT] += threads;
        break;
    case WW_PIPE_IMUL:
        n[WW_C_LANE_IMUL] += threads;
        break;
    case WW_PIPE_FP32:
        n[WW_C_LANE_FP32] += threads;
        break;
    case WW_PIPE_FP16:
        n[WW_C_LANE_FP16] += threads;
        break;
    case WW_PIPE_FP64:
        n[WW_C_LANE_FP64] += threads;
        break;
    case WW_PIPE_SFU:
        n[WW_C_LANE_SFU] += threads;
        break;
    case WW_PIPE_TENSOR:
        n[WW_C_LANE_TENSOR] += threads;
        break;
    case WW_PIPE_MEM:
        n[WW_C_LANE_MEM] += in->flags & WW_INST_ACCESS ? threads : 0;
        break;
    default:
        break;
    }
}

/* Registers of an operand that are kept in the vector register file. */
static uint64_t file_registers(const struct ww_operand *o) {
    if (o->reg >= WW_REG_PRED) return 0;
    uint32_t room = WW_REG_PRED - o->reg;
    return o->n < room ? o->n : room;
}

static void add_registers(uint64_t *n, const struct ww_inst *in, uint64_t issues) {
    for (uint32_t i = 0; i < in->src_count; i++) n[WW_C_REG_READ] += issues * file_registers(&in->src[i]);
    for (uint32_t i = 0; i < in->dst_count; i++) n[WW_C_REG_WRITE] += issues * file_registers(&in->dst[i]);
}

/* Counters that follow from how often each static instruction was issued. */
static void fold_instructions(const struct ww_core *core, const struct ww_launch *launch, uint64_t *n) {
    for (uint32_t i = 0; i < launch->inst_count; i++) {
        const struct ww_inst *in = &launch->inst[i];
        const struct ww_inst_count *count = &core->epochs.inst[i];
        n[WW_C_INST_ISSUED] += count->issues;
        n[WW_C_THREAD_INST] += count->threads;
        n[WW_C_REG_BANK_CONFLICT] += count->issues * core->code.inst[i].conflict;
        if (in->op == WW_OP_BRANCH) n[WW_C_BRANCH] += count->issues;
        add_memory(n, in, count->issues);
        add_lanes(n, in, count->threads);
        add_registers(n, in, count->issues);
    }
}

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

static const char *copy_string(struct ww_arena *arena, const struct ww_launch *launch, uint32_t index) {
    const char *s = index < launch->string_count && launch->string[index] ? launch->string[index] : "";
    return ww_arena_strdup(arena, s);
}

static enum ww_code copy_rows(const struct ww_core *core, const struct ww_launch *launch,
                              struct ww_arena *arena, struct ww_launch_result *out, struct ww_error *error) {
    out->pc = ww_arena_array(arena, launch->inst_count, sizeof *out->pc);
    if (!out->pc) return ww_fail_nomem(error, "counters per instruction");
    out->pc_count = launch->inst_count;
    for (uint32_t i = 0; i < launch->inst_count; i++) {
        const struct ww_inst *in = &launch->inst[i];
        const struct ww_inst_count *n = &core->epochs.inst[i];
        struct ww_pc_row *row = &out->pc[i];
        *row = (struct ww_pc_row){.inst = i,
                                  .pc = in->pc,
                                  .line = in->line,
                                  .issues = n->issues,
                                  .thread_instructions = n->threads,
                                  .sectors = n->sectors,
                                  .l1_miss_sectors = n->l1_miss,
                                  .l2_miss_sectors = n->l2_miss,
                                  .shared_conflicts = n->conflicts};
        memcpy(row->stall, n->stall, sizeof row->stall);
        row->file = copy_string(arena, launch, in->file);
        row->mnemonic = copy_string(arena, launch, in->mnemonic);
        if (!row->file || !row->mnemonic) return ww_fail_nomem(error, "counters per instruction");
    }
    return WW_OK;
}

static void fold_sms(struct ww_core *core, uint64_t cycles, struct ww_launch_result *out) {
    uint64_t active = 0;
    for (uint32_t i = 0; i < core->gpu->sm_count; i++) {
        active += core->sm[i].active_cycles;
        for (uint32_t k = 0; k < core->gpu->sm_schedulers; k++)
            for (uint32_t s = 0; s < WW_SLOT_COUNT; s++) out->slot[s] += core->sm[i].sched[k].slot[s];
    }
    core->counter[WW_C_SM_ACTIVE_CYCLES] = active;
    core->counter[WW_C_SM_IDLE_CYCLES] = cycles * core->gpu->sm_count - active;
    core->counter[WW_C_CTA_LAUNCHED] = core->launched_ctas;
    if (core->ops->may_miss) {
        core->counter[WW_C_MP_CYCLES] = core->counter[WW_C_MEM_SATURATED_CYCLES];
        core->counter[WW_C_EP_CYCLES] = active - core->counter[WW_C_MEM_SATURATED_CYCLES];
    }
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
    out->time_ps = ww_clock_time(&core->clock, cycles) - core->clock.origin_ps +
                   (uint64_t)(engine->gpu.launch_overhead_us * 1e6);
    fold_sms(core, cycles, out);
    fold_instructions(core, launch, core->counter);
    out->warp_instructions = core->counter[WW_C_INST_ISSUED];
    out->thread_instructions = core->counter[WW_C_THREAD_INST];
    out->resident_warp_cycles = core->resident_warp_cycles;
    WW_TRY(copy_epochs(core, cycles, arena, out, error));
    memcpy(out->counter, core->counter, sizeof out->counter);
    return engine->options.per_pc ? copy_rows(core, launch, arena, out, error) : WW_OK;
}
