/* Matrix instructions: times by shape and type, and the groups of those of a warpgroup. */
#include "tensor.h"
#include "../../config/tensor.h"
#include "../../result/result.h"
#include "regs.h"
#include "sm.h"

static const char *mnemonic(const struct ww_launch *launch, const struct ww_inst *in) {
    return in->mnemonic < launch->string_count ? launch->string[in->mnemonic] : "";
}

void ww_tensor_groups(const struct ww_gpu_spec *gpu, const struct ww_launch *launch, uint32_t first,
                      struct ww_code_table *code) {
    bool any = false;
    uint32_t room = 1;
    for (uint32_t i = 0; i < launch->inst_count; i++) {
        const struct ww_inst *in = &launch->inst[i];
        any |= (in->flags & WW_INST_GROUP_END) != 0;
        if (in->flags & WW_INST_GROUP_WAIT && in->barrier_threads >= room) room = in->barrier_threads + 1u;
    }
    code->matrix_room = (uint16_t)(room < WW_TENSOR_LEVELS ? room : WW_TENSOR_LEVELS);
    code->matrix_register = (uint16_t)(any ? first : 0);
    code->contended = any && (gpu->pipe_tensor_async_port || gpu->pipe_tensor_async_read_cycles ||
                              gpu->pipe_tensor_async_write_wait > 0);
}

uint16_t ww_tensor_level(const struct ww_code_table *code, const struct ww_inst *in) {
    uint32_t level = in->barrier_threads < code->matrix_room ? in->barrier_threads : code->matrix_room - 1u;
    return (uint16_t)(code->matrix_register + level);
}

/* A is in registers: four in a row that are no sums. */
static bool from_registers(const struct ww_inst *in) {
    for (uint32_t i = 0; i < in->src_count; i++)
        if (in->src[i].n == 4 && in->src[i].reg < WW_REG_PRED &&
            (!in->dst_count || in->src[i].reg != in->dst[0].reg))
            return true;
    return false;
}

void ww_tensor_decode(const struct ww_gpu_spec *gpu, const struct ww_launch *launch, const struct ww_inst *in,
                      struct ww_dinst *d) {
    struct ww_matrix x;
    struct ww_tensor_time t;
    d->ends_matrix = (in->flags & WW_INST_GROUP_END) != 0;
    if (d->ends_matrix) d->action = WW_A_MATRIX;
    if (in->op != WW_OP_TENSOR || d->group != WW_G_TENSOR) return;
    const char *name = mnemonic(launch, in);
    if (ww_matrix_of(name, &x) && x.async) {
        d->matrix = true;
        d->action = WW_A_MATRIX;
        d->sums = (uint16_t)x.registers;
    }
    if (!ww_tensor_time(gpu, name, from_registers(in), &t)) return;
    bool own = gpu->pipe_tensor_count == gpu->sm_schedulers;
    d->ii = (uint16_t)(own ? t.eighths / 8 : (t.eighths + 4) / 8);
    d->latency = (uint16_t)t.latency;
    if (!own || (t.eighths % 8 == 0 && !x.async)) return;
    d->part = (uint8_t)(t.eighths % 8);
    d->queued = true;
    d->room = (uint16_t)(x.async ? gpu->pipe_tensor_async_queue * d->ii : 0);
    if (x.async && gpu->pipe_tensor_async_port) d->share = (uint16_t)(t.read * 256 * 8 / t.eighths);
}

/* Cycles by which other accesses have delayed its use of the port: it was not free for them and for the
 * operands. */
static uint64_t port_over(const struct ww_contention *c, uint64_t used, uint64_t elapsed, uint64_t busy) {
    uint64_t left = elapsed - busy * c->share / 256;
    return used > left ? used - left : 0;
}

/* And of the register file: in proportion to the reads beyond the threshold. */
static uint64_t reads_over(const struct ww_gpu_spec *g, const struct ww_contention *c, uint64_t reads,
                           uint64_t elapsed, uint64_t busy) {
    double least = g->pipe_tensor_async_reads, most = g->pipe_tensor_async_reads_most;
    double rate = (double)reads / (double)elapsed, part = (rate - least) / (most - least);
    if (part <= 0) return 0;
    double longer =
        (part < 1 ? part : 1) * g->pipe_tensor_async_read_cycles; /* each of them, in this time, too */
    return (uint64_t)((double)busy / (c->ii + longer) * longer + 0.5);
}

/* And of its banks' write ports: a register of sums waits where another instruction writes its bank. */
static uint64_t writes_over(const struct ww_gpu_spec *g, const struct ww_contention *c, uint64_t writes,
                            uint64_t elapsed, uint64_t busy) {
    double rate = (double)writes / (double)elapsed;
    double longer = (rate < 1 ? rate : 1) * g->pipe_tensor_async_write_wait * c->sums;
    return (uint64_t)((double)busy / (c->ii + longer) * longer + 0.5);
}

uint64_t ww_tensor_contention(const struct ww_sm *sm, struct ww_sched *s, const struct ww_dinst *d,
                              uint64_t cycle) {
    const struct ww_gpu_spec *g = sm->core->gpu;
    struct ww_contention last = s->matrix, *c = &s->matrix;
    uint64_t until = s->busy[d->group] < cycle ? s->busy[d->group] : cycle, elapsed = cycle - last.at, over = 0;
    c->at = cycle;
    c->port = sm->l1.port_used;
    c->reads = sm->rf ? sm->rf[s - sm->sched].reads : 0;
    c->writes = sm->rf ? sm->rf[s - sm->sched].writes : 0;
    c->share = d->share;
    c->sums = d->sums;
    c->ii = d->ii;
    if (until <= last.at || !elapsed) return 0;
    if (g->pipe_tensor_async_port) over = port_over(&last, c->port - last.port, elapsed, until - last.at);
    if (g->pipe_tensor_async_read_cycles)
        over += reads_over(g, &last, c->reads - last.reads, elapsed, until - last.at);
    if (g->pipe_tensor_async_write_wait > 0)
        over += writes_over(g, &last, c->writes - last.writes, elapsed, until - last.at);
    return over;
}

uint64_t ww_tensor_pending(const struct ww_sm *sm, const struct ww_warp *w) {
    const struct ww_code_table *code = &sm->core->code;
    return code->matrix_register ? WW_SB_CYCLE(w->board[code->matrix_register + code->matrix_room]) : 0;
}

void ww_tensor_issue(struct ww_sm *sm, struct ww_warp *w, const struct ww_dinst *d, uint64_t entry) {
    const struct ww_code_table *code = &sm->core->code;
    if (!code->matrix_register) return;
    uint64_t *level = w->board + code->matrix_register, *pending = level + code->matrix_room;
    if (d->matrix && entry > *pending) *pending = entry;
    if (!d->ends_matrix) return;
    for (uint32_t k = code->matrix_room - 1u; k > 0; k--) level[k] = level[k - 1];
    level[0] = *pending;
}
