/* Counters up to a cycle, and the segments of a launch that lie between two of them. */
#include "../../result/result.h"
#include "../../config/tensor.h"
#include "governor_run.h"
#include "shard.h"

#include <stdlib.h>
#include <string.h>

#define MOST_PIECES ((size_t)1 << 22)

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

static const enum ww_counter of_arith[WW_ARITH_COUNT] = {
#define X(id, help) [WW_ARITH_##id] = WW_C_LANE_##id,
#include "../../../traces/arith.def"
#undef X
};

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
    case WW_PIPE_MEM:
        n[WW_C_LANE_MEM] += in->flags & WW_INST_ACCESS ? threads : 0;
        break;
    default:
        break;
    }
}

static void add_matrix(uint64_t *n, const struct ww_inst_folded *f, uint64_t issues) {
    n[WW_C_TENSOR_FMA] += issues * f->fma;
    n[WW_C_LANE_TENSOR] += issues * f->lanes;
    n[WW_C_SHARED_MATRIX_PASSES] += issues * f->passes / 4;
}

/* Multiply-adds of fp16 that take the time of one of the type, in sixteenths: those of an A100. */
static const uint32_t as_fp16[WW_MATRIX_TYPES] = {
    [WW_MATRIX_FP16] = 16, [WW_MATRIX_TF32] = 32, [WW_MATRIX_FP64] = 256, [WW_MATRIX_FP8] = 8,
    [WW_MATRIX_INT8] = 8,  [WW_MATRIX_INT4] = 4,  [WW_MATRIX_B1] = 1,     [WW_MATRIX_FP4] = 4};

static void fold_matrix(const struct ww_launch *launch, const struct ww_inst *in, struct ww_inst_folded *f) {
    struct ww_matrix x;
    if (in->op != WW_OP_TENSOR) return;
    f->lanes = 32; /* of one that is not known: a step of HMMA.884 */
    if (in->mnemonic >= launch->string_count || !ww_matrix_of(launch->string[in->mnemonic], &x)) return;
    f->fma = x.whole ? 4 * x.fma : x.fma; /* a quarter is one scheduler's */
    f->lanes = f->fma / 16 * as_fp16[x.type] / 8;
    /* A and B have 32 bytes a row and column of the warpgroup: a pass of 128 bytes for four. */
    f->passes = x.async ? (uint32_t)(x.m + x.n) / 4 : 0;
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

static void add_issues(struct ww_inst_folded *n, const struct ww_epochs *e, uint32_t inst) {
    n->issues += e->inst[inst].counter[WW_I_ISSUES] + e->issued[inst].issues;
    n->threads += e->inst[inst].counter[WW_I_THREAD_INSTRUCTIONS] + ww_issue_threads(&e->issued[inst]);
}

static struct ww_inst_folded all_of(const struct ww_core *core, uint32_t inst) {
    struct ww_inst_folded n = core->segments.folded[inst];
    n.issues = n.threads = 0;
    add_issues(&n, &core->epochs, inst);
    for (uint32_t g = 0; core->shard && g < core->groups; g++)
        add_issues(&n, &core->shard[g].core.epochs, inst);
    return n;
}

/* Adds what follows from so many issues of an instruction. */
static inline void add_instruction(const struct ww_core *core, uint32_t i, uint64_t issues, uint64_t threads,
                                   uint64_t *n) {
    const struct ww_inst *in = &core->launch->inst[i];
    const struct ww_inst_folded *f = &core->segments.folded[i];
    n[WW_C_INST_ISSUED] += issues;
    n[WW_C_THREAD_INST] += threads;
    n[WW_C_REG_BANK_CONFLICT] += issues * core->code.inst[i].conflict;
    if (in->op == WW_OP_BRANCH) n[WW_C_BRANCH] += issues;
    add_memory(n, in, issues);
    add_lanes(n, in, threads);
    if (f->lanes) add_matrix(n, f, issues);
    if (f->arith < WW_ARITH_COUNT) n[of_arith[f->arith]] += threads;
    add_registers(n, in, issues);
}

/* Adds what follows from how often each static instruction was issued since the last time. */
static void fold_instructions(struct ww_core *core, uint64_t *n) {
    const struct ww_launch *launch = core->launch;
    for (uint32_t i = 0; i < launch->inst_count; i++) {
        struct ww_inst_folded *before = &core->segments.folded[i], all = all_of(core, i);
        uint64_t issues = all.issues - before->issues, threads = all.threads - before->threads;
        if (!issues) continue;
        *before = all;
        add_instruction(core, i, issues, threads, n);
    }
}

void ww_segments_of(const struct ww_core *core, uint32_t first, uint32_t count, uint64_t *n) {
    for (uint32_t i = first; i < first + count; i++) {
        struct ww_inst_folded all = all_of(core, i);
        if (all.issues) add_instruction(core, i, all.issues, all.threads, n);
    }
}

/* Cycles with a resident CTA, summed over SMs. */
static uint64_t active_cycles(const struct ww_core *core, uint64_t cycle) {
    uint64_t active = 0;
    for (uint32_t i = 0; i < core->gpu->sm_count; i++) {
        const struct ww_sm *sm = &core->sm[i];
        active += sm->active_cycles;
        if (sm->resident_ctas && cycle > sm->active_since) active += cycle - sm->active_since;
    }
    return active;
}

/* All counters from the launch's begin up to a cycle, whose time is ps. */
static void totals(struct ww_core *core, uint64_t cycle, uint64_t ps, uint64_t *n) {
    struct ww_segments *p = &core->segments;
    fold_instructions(core, p->of_instructions);
    for (int i = 0; i < WW_COUNTER_COUNT; i++) n[i] = core->counter[i] + p->of_instructions[i];
    if (core->shard) ww_shards_count(core, n);
    n[WW_C_SM_ACTIVE_CYCLES] = active_cycles(core, cycle);
    n[WW_C_SM_IDLE_CYCLES] = cycle * core->gpu->sm_count - n[WW_C_SM_ACTIVE_CYCLES];
    n[WW_C_CTA_LAUNCHED] = core->launched_ctas;
    if (core->ops->by_saturation) {
        n[WW_C_MP_CYCLES] = n[WW_C_MEM_SATURATED_CYCLES];
        n[WW_C_EP_CYCLES] = n[WW_C_SM_ACTIVE_CYCLES] - n[WW_C_MEM_SATURATED_CYCLES];
    }
    ww_memsys_count(core->memory, ps, n);
}

/* The row to write to; NULL: no memory, the launch is given up. */
static struct ww_segment *open_piece(struct ww_core *core) {
    struct ww_segments *p = &core->segments;
    if (p->count == p->capacity) {
        size_t capacity = p->capacity ? 2 * p->capacity : 16;
        struct ww_segment *row = capacity > MOST_PIECES ? NULL : realloc(p->row, capacity * sizeof *row);
        if (!row) {
            ww_core_fail(core, ww_fail_nomem(core->error, "energy by epoch"));
            return NULL;
        }
        p->row = row;
        p->capacity = capacity;
    }
    return &p->row[p->count++];
}

/* Counts since the last cut go into the row. */
static void add_since(struct ww_segments *p, const uint64_t *now, struct ww_segment *row) {
    for (int i = 0; i < WW_COUNTER_COUNT; i++) row->counter[i] += now[i] - p->before[i];
    memcpy(p->before, now, sizeof p->before);
}

void ww_segments_cut(struct ww_core *core, uint64_t cycle, uint64_t ps) {
    struct ww_segments *p = &core->segments;
    uint64_t now[WW_COUNTER_COUNT];
    if (!p->on || cycle <= p->cycle) return;
    totals(core, cycle, ps, now);
    struct ww_segment *row = open_piece(core);
    if (!row) return;
    *row = (struct ww_segment){.first_cycle = p->cycle, .cycles = cycle - p->cycle, .time_ps = ps - p->ps};
    row->time_ps -= ww_launch_hidden(&core->launch_time, p->cycle, cycle);
    memcpy(row->mhz, core->mhz, sizeof row->mhz);
    ww_governor_count(core, &row->cta_limit, &row->ctas_paused);
    add_since(p, now, row);
    p->cycle = cycle;
    p->ps = ps;
}

void ww_segments_end(struct ww_core *core, uint64_t cycle, uint64_t ps) {
    struct ww_segments *p = &core->segments;
    uint64_t now[WW_COUNTER_COUNT];
    ww_segments_cut(core, cycle, ps);
    totals(core, cycle, ps, now);
    if (p->count) add_since(p, now, &p->row[p->count - 1]); /* what was counted since a cut in the last cycle */
    memcpy(core->counter, now, sizeof now);
}

enum ww_code ww_segments_begin(struct ww_segments *p, bool on, const struct ww_launch *launch, uint64_t ps,
                               struct ww_arena *arena, struct ww_error *error) {
    struct ww_segment *row = p->row;
    size_t capacity = p->capacity;
    *p = (struct ww_segments){.row = row, .capacity = capacity, .on = on, .ps = ps};
    p->folded = ww_arena_array(arena, (size_t)launch->inst_count + 1, sizeof *p->folded);
    if (!p->folded) return ww_fail_nomem(error, "counters by instruction");
    for (uint32_t i = 0; i < launch->inst_count; i++) {
        p->folded[i].arith = ww_arith_of(launch, &launch->inst[i]);
        fold_matrix(launch, &launch->inst[i], &p->folded[i]);
    }
    return WW_OK;
}

void ww_segments_free(struct ww_segments *p) {
    free(p->row);
    *p = (struct ww_segments){0};
}
