/* A launch's instructions, decoded once for one GPU: what an issue takes and when its result is there. */
#include "../../result/result.h"
#include "pipe.h"
#include "cluster.h"
#include "control.h"
#include "regs.h"
#include "shared_table.h"
#include "tensor.h"
#include "tma.h"

#include <string.h>

enum ww_pipe ww_pipe_of(enum ww_op op) {
    static const uint8_t pipe[] = {
#define X(id, name, pipe, help) WW_PIPE_##pipe,
#include "../../../traces/opclass.def"
#undef X
    };
    return (enum ww_pipe)pipe[op];
}

uint32_t ww_pipe_instances(const struct ww_gpu_spec *gpu, enum ww_group unit) {
    switch (unit) {
    case WW_G_INT:
        return gpu->pipe_int_count;
    case WW_G_IMUL:
        return gpu->pipe_imul_count;
    case WW_G_FP32:
        return gpu->pipe_fp32_count;
    case WW_G_FP16:
        return gpu->pipe_fp16_count;
    case WW_G_FP64:
        return gpu->pipe_fp64_count;
    case WW_G_SFU:
        return gpu->pipe_sfu_count;
    case WW_G_TENSOR:
        return gpu->pipe_tensor_count;
    case WW_G_UNIFORM:
        return gpu->sm_schedulers;
    default:
        return 0;
    }
}

static uint16_t interval(uint32_t lanes) {
    return (uint16_t)(lanes >= 32 ? 1 : 32 / lanes);
}

static void set_unit(struct ww_dinst *d, enum ww_group unit, uint32_t lanes, uint32_t latency) {
    d->group = (uint8_t)unit;
    d->ii = interval(lanes);
    d->latency = (uint16_t)latency;
    d->state = unit == WW_G_SFU ? WW_S_WAIT_SFU : WW_S_WAIT_ALU;
}

static void set_imul(const struct ww_gpu_spec *g, bool wide, struct ww_dinst *d) {
    set_unit(d, WW_G_IMUL, g->pipe_imul_lanes, g->pipe_imul_latency + (wide ? g->pipe_imul_wide_cycles : 0));
    if (g->pipe_imul_shares == WW_IMUL_INT && !g->pipe_int_shares_fp32) {
        d->group2 = WW_G_INT;
        d->ii2 = interval(g->pipe_int_lanes);
    } else if (g->pipe_imul_shares != WW_IMUL_OWN) {
        d->group2 = WW_G_FP32;
        d->ii2 = interval(g->pipe_fp32_lanes);
    }
}

static void set_uniform(const struct ww_gpu_spec *g, struct ww_dinst *d) {
    d->group = WW_G_UNIFORM;
    d->ii = (uint16_t)g->pipe_uniform_cycles;
    d->latency = (uint16_t)g->pipe_uniform_latency;
    d->state = WW_S_WAIT_ALU;
}

/* The arithmetic pipes. False: not one of them. */
static bool set_pipe(const struct ww_gpu_spec *g, enum ww_pipe pipe, bool wide, struct ww_dinst *d) {
    if (pipe == WW_PIPE_TENSOR && g->pipe_tensor_count == 0) pipe = WW_PIPE_FP16;
    switch (pipe) {
    case WW_PIPE_INT:
        if (g->pipe_int_shares_fp32)
            set_unit(d, WW_G_FP32, g->pipe_fp32_lanes, g->pipe_int_latency);
        else
            set_unit(d, WW_G_INT, g->pipe_int_lanes, g->pipe_int_latency);
        return true;
    case WW_PIPE_IMUL:
        set_imul(g, wide, d);
        return true;
    case WW_PIPE_FP32:
        set_unit(d, WW_G_FP32, g->pipe_fp32_lanes, g->pipe_fp32_latency);
        return true;
    case WW_PIPE_FP16:
        set_unit(d, WW_G_FP16, g->pipe_fp16_lanes, g->pipe_fp16_latency);
        return true;
    case WW_PIPE_FP64:
        set_unit(d, WW_G_FP64, g->pipe_fp64_lanes, g->pipe_fp64_latency);
        return true;
    case WW_PIPE_SFU:
        set_unit(d, WW_G_SFU, g->pipe_sfu_lanes, g->pipe_sfu_latency);
        return true;
    case WW_PIPE_TENSOR:
        set_unit(d, WW_G_TENSOR, g->pipe_tensor_lanes, g->pipe_tensor_latency);
        return true;
    default:
        return false;
    }
}

/* Texture fetches and read-only loads have a path of their own; where it has no cache of its own, the L1 is
 * that of both (Maxwell and later). */
static enum ww_lsu_cache cache_of(const struct ww_gpu_spec *g, const struct ww_inst *in) {
    bool texture = in->op == WW_OP_TEXTURE || in->space == WW_SPACE_TEX;
    bool read_only = (in->flags & WW_INST_READ_ONLY) && (g->tex_read_only_loads || !g->tex_kb);
    bool local = in->space == WW_SPACE_LOCAL;
    if (in->flags & WW_INST_BYPASS_L1) return WW_CACHE_NONE;
    if (g->tex_kb && (texture || (read_only && !local))) return WW_CACHE_TEX;
    return g->l1_enabled && (g->l1_global_loads || local || texture || read_only) ? WW_CACHE_L1 : WW_CACHE_NONE;
}

static void set_path(const struct ww_gpu_spec *g, const struct ww_inst *in, struct ww_dinst *d,
                     enum ww_lsu_path path) {
    d->group = path <= WW_L_SHARED_ATOMIC ? WW_G_SHARED : WW_G_LSU;
    d->action = WW_A_LSU;
    d->path = (uint8_t)path;
    d->state = path <= WW_L_SHARED_ATOMIC ? WW_S_WAIT_SHARED : WW_S_WAIT_L1;
    d->local = in->space == WW_SPACE_LOCAL;
    d->cache = (uint8_t)(path == WW_L_LOAD ? cache_of(g, in) : WW_CACHE_NONE);
    d->texture = path == WW_L_LOAD && (in->op == WW_OP_TEXTURE || d->cache == WW_CACHE_TEX);
}

static void set_memory(const struct ww_gpu_spec *g, const struct ww_inst *in, struct ww_dinst *d) {
    bool shared = in->space == WW_SPACE_SHARED;
    switch (in->op) {
    case WW_OP_SHUFFLE:
        set_path(g, in, d, WW_L_SHUFFLE);
        return;
    case WW_OP_FENCE:
        d->group = WW_G_FENCE;
        d->action = WW_A_FENCE;
        return;
    case WW_OP_DMA:
        d->group = WW_G_FENCE;
        d->action = WW_A_DMA;
        return;
    case WW_OP_ATOMIC:
    case WW_OP_REDUCE:
        set_path(g, in, d, shared ? WW_L_SHARED_ATOMIC : WW_L_ATOMIC);
        d->reply = in->op == WW_OP_ATOMIC;
        return;
    case WW_OP_STORE:
        set_path(g, in, d, shared ? WW_L_SHARED : WW_L_STORE);
        d->stores = true;
        return;
    case WW_OP_TEXTURE:
        set_path(g, in, d, in->dst_count ? WW_L_LOAD : WW_L_STORE);
        return;
    case WW_OP_ASYNC_COPY:
        set_path(g, in, d, WW_L_LOAD);
        d->async = true;
        return;
    default:
        break;
    }
    if (in->space == WW_SPACE_CONST) {
        d->group = WW_G_CONST;
        d->action = WW_A_CONST;
        d->state = WW_S_WAIT_CONST;
        return;
    }
    set_path(g, in, d, shared ? WW_L_SHARED : WW_L_LOAD);
    d->waits = (in->flags & WW_INST_WAIT) && in->space == WW_SPACE_GLOBAL;
}

static void set_control(const struct ww_gpu_spec *g, const struct ww_inst *in, struct ww_dinst *d) {
    d->group = WW_G_FREE;
    d->state = WW_S_WAIT_ALU;
    d->latency = (uint16_t)g->pipe_branch_latency;
    d->arrive = (in->flags & WW_INST_BAR_ARRIVE) != 0;
    d->barrier = in->barrier;
    if (in->flags & (WW_INST_SMEM_ALLOC | WW_INST_SMEM_FREE)) {
        d->smem = in->flags & WW_INST_SMEM_ALLOC ? WW_SHARED_ALLOC : WW_SHARED_FREE;
        d->barrier = 0;
    }
    d->barrier_warps = (uint16_t)((in->barrier_threads + 31u) / 32);
    if (in->op == WW_OP_BRANCH) d->action = WW_A_BRANCH;
    if (in->op == WW_OP_EXIT) d->action = WW_A_EXIT;
    if (in->op == WW_OP_BARRIER) d->action = WW_A_BARRIER;
    if (in->op == WW_OP_SLEEP) d->action = WW_A_SLEEP;
}

/* Extra cycles to read the sources: registers of one bank are read rf_ports at a time. */
static uint8_t bank_conflict(const struct ww_gpu_spec *g, const struct ww_inst *in) {
    uint8_t reads[64] = {0}, most = 0;
    bool seen[WW_REG_PRED] = {false};
    if (!g->front_rf_banks) return 0;
    for (uint32_t s = 0; s < in->src_count; s++)
        for (uint32_t r = in->src[s].reg; r < in->src[s].reg + (uint32_t)in->src[s].n && r < WW_REG_PRED; r++) {
            uint32_t bank = r % g->front_rf_banks;
            if (seen[r]) continue;
            seen[r] = true;
            if (++reads[bank] > most) most = reads[bank];
        }
    return (uint8_t)(most <= g->front_rf_ports ? 0 : (most + g->front_rf_ports - 1) / g->front_rf_ports - 1);
}

struct renumber {
    uint16_t dense[WW_REG_COUNT]; /* number + 1; 0: not seen */
    uint16_t count;
};

/* Adds an operand's registers to the list, each once; to_end: moves one that is there already behind. */
static void add_registers(struct renumber *n, const struct ww_operand *o, uint16_t *list, uint8_t *count) {
    for (uint32_t r = o->reg; r < o->reg + (uint32_t)o->n; r++) {
        if (!n->dense[r]) n->dense[r] = ++n->count;
        uint16_t id = (uint16_t)(n->dense[r] - 1);
        uint8_t i = 0;
        while (i < *count && list[i] != id) i++;
        if (i == *count) list[(*count)++] = id;
    }
}

static enum ww_code check_operand(const struct ww_operand *o, uint32_t i, struct ww_error *error) {
    if (o->n <= 8 && o->reg + (uint32_t)o->n <= WW_REG_COUNT) return WW_OK;
    return ww_fail(error, WW_INPUT, "",
                   "instruction %u: operand of %u registers from %u; expected at most 8, below register %d", i,
                   o->n, o->reg, WW_REG_COUNT);
}

/* Sources that are not results first, then the results: the scoreboard checks all and writes the last. `more`:
 * where the list goes if it is long; one more register may be added to it. */
static void list_registers(const struct ww_inst *in, struct renumber *n, uint16_t *more, struct ww_dinst *d) {
    uint16_t results[16], all[80];
    uint8_t result_count = 0, all_count = 0;
    for (uint32_t i = 0; i < in->dst_count && !d->matrix; i++)
        add_registers(n, &in->dst[i], results, &result_count);
    for (uint32_t i = 0; i < result_count; i++) all[all_count++] = results[i];
    for (uint32_t i = 0; i < in->src_count; i++)
        if (!d->matrix || !in->dst_count || in->src[i].reg != in->dst[0].reg)
            add_registers(n, &in->src[i], all, &all_count);
    uint8_t sources = (uint8_t)(all_count - result_count);
    uint16_t *list = all_count < WW_FEW ? d->few : more;
    memcpy(list, all + result_count, sources * sizeof *list);
    memcpy(list + sources, results, result_count * sizeof *list);
    d->check = list;
    d->check_count = all_count;
    d->result_count = result_count;
}

/* Banks of operands: one of 64 bits, in two registers, is one read; vectors are as many as they have registers.
 */
static uint8_t list_banks(const struct ww_gpu_spec *g, const struct ww_operand *o, uint32_t count,
                          uint8_t *list) {
    uint8_t n = 0;
    for (uint32_t i = 0; i < count; i++) {
        if (o[i].reg >= WW_REG_PRED) continue;
        uint32_t registers = o[i].n > 2 ? o[i].n : 1;
        for (uint32_t k = 0; k < registers && n < 24; k++)
            list[n++] = (uint8_t)((o[i].reg + k) % g->collect_banks);
    }
    return n;
}

/* Loads, stores and special functions wait for their sources in queues. */
static bool reads_late(const struct ww_dinst *d) {
    return !d->ii || d->group == WW_G_SFU;
}

/* Registers that it writes, if the launch needs them. */
static uint8_t written(const struct ww_gpu_spec *g, const struct ww_inst *in, const struct ww_dinst *d) {
    uint32_t n = 0;
    if (g->pipe_tensor_async_write_wait <= 0 || d->matrix) return 0;
    for (uint32_t s = 0; s < in->dst_count; s++)
        if (in->dst[s].reg < WW_REG_PRED) n += in->dst[s].n;
    return (uint8_t)(n < 255 ? n : 255);
}

/* What regs.h says of an instruction; returns how many sources it lists. */
static uint8_t list_reads(const struct ww_gpu_spec *g, const struct ww_inst *in, const struct ww_dinst *d,
                          uint8_t *head) {
    uint8_t n = 0, *list = head + WW_RF_HEAD, seen[WW_INST_SRC_MAX * 8];
    uint32_t seen_count = 0;
    head[0] = head[1] = head[2] = 0;
    head[3] = written(g, in, d);
    for (uint32_t s = 0; s < in->src_count; s++)
        for (uint32_t r = in->src[s].reg; r < in->src[s].reg + (uint32_t)in->src[s].n && r < WW_REG_PRED; r++) {
            uint32_t place = in->src_slot[s] & WW_SLOT_PLACE, bank = r & 1;
            bool same = false, reuse = in->src_slot[s] & WW_SLOT_REUSE;
            for (uint32_t i = 0; i < seen_count; i++) same |= seen[i] == r;
            if (!same && !reads_late(d) && head[bank] < g->front_rf_window) head[bank]++;
            seen[seen_count++] = (uint8_t)r;
            if (place == 0 || place > WW_RF_PLACES) continue;
            list[2 * n] = (uint8_t)r;
            list[2 * n + 1] =
                (uint8_t)(bank * WW_RF_PLACES + place) | (reuse ? WW_RF_REUSE : 0) | (same ? WW_RF_SAME : 0);
            head[2] |= reuse;
            n++;
        }
    return n;
}

/* Whether the launch's instructions say what the operand caches keep. */
static bool is_banked(const struct ww_gpu_spec *g, const struct ww_launch *launch) {
    if (!g->front_rf_banks || !g->front_rf_window) return false;
    for (uint32_t i = 0; i < launch->inst_count; i++)
        if (launch->inst[i].flags & WW_INST_CONTROL) return true;
    return false;
}

static void decode_one(const struct ww_gpu_spec *gpu, const struct ww_launch *launch, const struct ww_inst *in,
                       bool banked, struct ww_dinst *d) {
    enum ww_pipe pipe = ww_pipe_of((enum ww_op)in->op);
    d->pc = in->pc;
    d->width = in->width ? in->width : 4;
    d->space = in->space;
    d->access = (in->flags & WW_INST_ACCESS) != 0;
    d->conditional = (in->flags & WW_INST_BRANCH_COND) != 0;
    d->conflict = banked ? 0 : bank_conflict(gpu, in);
    if (gpu->pipe_uniform_cycles && ww_pipe_uniform(in))
        set_uniform(gpu, d);
    else if (pipe == WW_PIPE_MEM)
        set_memory(gpu, in, d);
    else if (in->op == WW_OP_SYSREG && gpu->lsu_sysreg)
        set_path(gpu, in, d, WW_L_SHUFFLE);
    else if (!set_pipe(gpu, pipe, in->dst_count && in->dst[0].n > 1, d))
        set_control(gpu, in, d);
    ww_tensor_decode(gpu, launch, in, d);
    ww_tma_decode(gpu, launch, in, d);
    ww_cluster_decode(gpu, launch, in, d);
    ww_mbar_decode(launch, in, d);
    d->latency = (uint16_t)(d->latency + gpu->front_dependent_issue + d->conflict);
    d->write_counter = d->read_counter = WW_NO_COUNTER;
    d->next_fetch = 1;
    if (d->action == WW_A_BRANCH && gpu->front_branch_cycles > 1 && !gpu->front_fetch_port)
        d->next_fetch = (uint16_t)gpu->front_branch_cycles;
}

/* Of two kinds, the one that only ends a group of copies (LDGDEPBAR) has a scoreboard of its own. */
static bool waits_for_copies(const struct ww_inst *in, const struct ww_dinst *d) {
    bool ends_group = (in->flags & WW_INST_CONTROL) && in->control.write_barrier != WW_CONTROL_NO_BARRIER;
    return in->op == WW_OP_ASYNC_WAIT && !d->result_count && !ends_group;
}

/* Lines of constant operands, if the GPU has a cache for them and the trace names any. False: out of memory. */
static bool list_constants(const struct ww_gpu_spec *g, const struct ww_launch *launch, struct ww_arena *arena,
                           struct ww_code_table *out) {
    bool any = false;
    for (uint32_t i = 0; i < launch->inst_count && !any; i++) any = launch->inst[i].flags & WW_INST_CONST;
    if (!any || !g->const_fixed_kb) return true;
    out->constant = ww_arena_array(arena, launch->inst_count, sizeof *out->constant);
    if (!out->constant) return false;
    for (uint32_t i = 0; i < launch->inst_count; i++)
        if ((out->inst[i].constant = launch->inst[i].flags & WW_INST_CONST))
            out->constant[i] = launch->inst[i].constant / g->const_line + 1;
    return true;
}

/* Of the scoreboard with control fields, as many as there may be. */
#define CONTROL_ENTRIES (WW_DEPEND_COUNTERS + WW_DEPEND_LEVELS + 1u)

enum ww_code ww_pipe_decode(const struct ww_gpu_spec *gpu, const struct ww_launch *launch,
                            struct ww_arena *arena, struct ww_code_table *out, struct ww_error *error) {
    size_t list = 0;
    struct renumber n = {.count = 0};
    for (uint32_t i = 0; i < launch->inst_count; i++) {
        const struct ww_inst *in = &launch->inst[i];
        if (in->op >= WW_OP_COUNT || in->dst_count > WW_INST_DST_MAX || in->src_count > WW_INST_SRC_MAX)
            return ww_fail(error, WW_INPUT, "", "instruction %u is malformed", i);
        for (uint32_t k = 0; k < in->dst_count; k++) WW_TRY(check_operand(&in->dst[k], i, error));
        for (uint32_t k = 0; k < in->src_count; k++) WW_TRY(check_operand(&in->src[k], i, error));
        if ((in->width & (in->width - 1)) || in->width > 16)
            return ww_fail(error, WW_INPUT, "", "instruction %u accesses %u bytes, expected 1, 2, 4, 8 or 16",
                           i, in->width);
        list += 1;
        for (uint32_t k = 0; k < in->dst_count; k++) list += in->dst[k].n;
        for (uint32_t k = 0; k < in->src_count; k++) list += in->src[k].n;
    }
    out->inst_count = launch->inst_count;
    out->inst = ww_arena_lines(arena, (size_t)launch->inst_count + 1, sizeof *out->inst);
    out->reg = ww_arena_array(arena, list + 1, sizeof *out->reg);
    if (!out->inst || !out->reg) return ww_fail_nomem(error, "decoded instructions");
    out->control = ww_control_applies(gpu, launch);
    if (!out->control) out->async_register = n.count++;
    ww_tensor_groups(gpu, launch, out->control ? CONTROL_ENTRIES : n.count, out);
    if (!out->control && out->matrix_register) n.count = (uint16_t)(n.count + out->matrix_room + 1);
    out->banked = is_banked(gpu, launch);
    bool listed = gpu->collect_units_sp || out->banked;
    size_t heads = (size_t)(WW_RF_HEAD - 2) * launch->inst_count; /* `list` has one of 2 bytes for each */
    out->bank = listed ? ww_arena_array(arena, 2 * list + heads + 1, sizeof *out->bank) : NULL;
    if (listed && !out->bank) return ww_fail_nomem(error, "decoded instructions");
    uint32_t at = 0, banks = 0;
    for (uint32_t i = 0; i < launch->inst_count; i++) {
        struct ww_dinst *d = &out->inst[i];
        decode_one(gpu, launch, &launch->inst[i], out->banked, d);
        if (d->cache == WW_CACHE_TEX) out->uses_tex = true;
        if (d->action == WW_A_CONST) out->uses_const = true;
        if (d->action == WW_A_DMA) out->uses_dma = true;
        if (d->action == WW_A_TMA) out->uses_tma = true;
        if (ww_pipe_is_mbarrier(d)) out->uses_mbarriers = true;
        if (d->waits) out->uses_waits = true;
        if (out->control)
            ww_control_decode(gpu, &launch->inst[i], out, d);
        else
            list_registers(&launch->inst[i], &n, out->reg + at, d);
        if (out->banked) {
            d->bank = banks;
            d->reads = list_reads(gpu, &launch->inst[i], d, out->bank + banks);
            d->writes = out->bank[banks] || out->bank[banks + 1] || d->reads || out->bank[banks + 3];
            banks += WW_RF_HEAD + 2u * d->reads;
        } else if (out->bank) {
            d->bank = banks;
            banks += d->reads =
                list_banks(gpu, launch->inst[i].src, launch->inst[i].src_count, out->bank + banks);
            banks += d->writes =
                list_banks(gpu, launch->inst[i].dst, launch->inst[i].dst_count, out->bank + banks);
        }
        uint16_t *check = d->check == d->few ? d->few : out->reg + at;
        if (!out->control && waits_for_copies(&launch->inst[i], d))
            check[d->check_count++] = out->async_register;
        if (out->matrix_register && launch->inst[i].flags & WW_INST_GROUP_WAIT)
            check[d->check_count++] = ww_tensor_level(out, &launch->inst[i]);
        if (check != d->few) at += d->check_count;
    }
    if (out->control) {
        out->async_register = (uint16_t)(WW_DEPEND_COUNTERS + out->levels);
        n.count = (uint16_t)(out->async_register + 1);
    }
    out->registers = n.count;
    if (out->control && out->matrix_register) out->registers = CONTROL_ENTRIES + out->matrix_room + 1u;
    if (!out->control && gpu->pipe_guard_latency) ww_pipe_pair_latencies(gpu, launch, out);
    return list_constants(gpu, launch, arena, out) ? WW_OK : ww_fail_nomem(error, "decoded instructions");
}
