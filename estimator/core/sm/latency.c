/* Fixed latencies by what reads a result.
 *
 * Where control fields are obeyed, stall counts have them. Where registers decide, a result is there after its
 * writer's latency for the unit that wrote it; other units, addresses and data of memory instructions, special
 * functions and guards read it later. Which instruction reads a result first is taken from the order of the
 * code: the next one that names the register. */
#include "pipe.h"

enum { AHEAD = 64 }; /* instructions in which a reader is looked for */

static bool names(const struct ww_operand *o, uint32_t reg) {
    return reg >= o->reg && reg < (uint32_t)o->reg + o->n;
}

/* Place of the register among the sources, or src_count. */
static uint32_t place_of(const struct ww_inst *in, uint32_t reg) {
    uint32_t i = 0;
    while (i < in->src_count && !names(&in->src[i], reg)) i++;
    return i;
}

static bool writes(const struct ww_inst *in, uint32_t reg) {
    for (uint32_t i = 0; i < in->dst_count; i++)
        if (names(&in->dst[i], reg)) return true;
    return false;
}

static bool is_predicate(uint32_t reg) {
    return (reg >= WW_REG_PRED && reg < WW_REG_UNIFORM) || reg >= WW_REG_UPRED;
}

/* Writers whose latency is fixed; the integer multiplier is one with the FP32 lanes. */
static bool is_fixed(const struct ww_dinst *d) {
    return d->action == WW_A_NONE && (d->group == WW_G_INT || d->group == WW_G_IMUL || d->group == WW_G_FP32 ||
                                      d->group == WW_G_FP16 || d->group == WW_G_UNIFORM);
}

static uint32_t unit_of(const struct ww_dinst *d) {
    return d->group == WW_G_IMUL && d->group2 ? d->group2 : d->group;
}

/* A product of two registers. */
static bool is_wide(const struct ww_inst *in, const struct ww_dinst *d) {
    return d->group == WW_G_IMUL && in->dst_count && in->dst[0].n > 1;
}

/* Cycles from the writer's issue to that of an instruction that reads the register at `place`. */
static uint32_t pair(const struct ww_gpu_spec *g, const struct ww_dinst *writer, uint32_t reg,
                     const struct ww_dinst *reader, uint32_t place) {
    bool guards = is_predicate(reg) && (place == 0 || reader->action == WW_A_BRANCH);
    if (guards && writer->latency < g->pipe_guard_latency) return g->pipe_guard_latency;
    if (writer->group == WW_G_UNIFORM)
        return writer->latency + (reader->group == WW_G_UNIFORM ? 0 : g->pipe_uniform_out_cycles);
    if (reader->action == WW_A_LSU) return writer->latency + g->pipe_memory_cycles;
    if (reader->group == WW_G_SFU || reader->action == WW_A_CONST) return writer->latency + g->pipe_sfu_cycles;
    return writer->latency +
           (is_fixed(reader) && unit_of(reader) != unit_of(writer) ? g->pipe_cross_cycles : 0);
}

/* The first that reads the register behind instruction i, before another writes it; inst_count: none is near.
 */
static uint32_t next_reader(const struct ww_launch *launch, uint32_t i, uint32_t reg, uint32_t *place) {
    for (uint32_t k = i + 1; k < launch->inst_count && k - i <= AHEAD; k++) {
        *place = place_of(&launch->inst[k], reg);
        if (*place < launch->inst[k].src_count) return k;
        if (writes(&launch->inst[k], reg)) break;
    }
    return launch->inst_count;
}

void ww_pipe_pair_latencies(const struct ww_gpu_spec *gpu, const struct ww_launch *launch,
                            struct ww_code_table *code) {
    for (uint32_t i = 0; i < launch->inst_count; i++) {
        const struct ww_inst *in = &launch->inst[i];
        struct ww_dinst *d = &code->inst[i];
        uint32_t first = launch->inst_count, latency = d->latency;
        if (!is_fixed(d)) continue;
        for (uint32_t k = 0; k < in->dst_count; k++) {
            uint32_t place = 0, reader = next_reader(launch, i, in->dst[k].reg, &place);
            if (reader >= first) continue;
            first = reader;
            latency = pair(gpu, d, in->dst[k].reg, &code->inst[reader], place);
            if (is_wide(in, d) && !is_wide(&launch->inst[reader], &code->inst[reader]))
                latency -= gpu->pipe_imul_wide_cycles;
        }
        d->latency = (uint16_t)latency;
    }
}
