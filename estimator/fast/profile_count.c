/* Counts of instructions and accesses. */
#include "profile_count.h"
#include "../base/hash.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define SEEN 65536u /* numbers that a set holds; more are not needed: they cost no cold start any more */

struct ww_seen {
    uint64_t entry[2 * SEEN];
    uint32_t count;
};

struct ww_seen *ww_seen_new(void) {
    return calloc(1, sizeof(struct ww_seen));
}

void ww_seen_free(struct ww_seen *s) {
    free(s);
}

/* 1 if it was not there. */
static uint32_t see(struct ww_seen *s, uint64_t v) {
    uint32_t i = (uint32_t)ww_hash_mix(v) & (2 * SEEN - 1);
    for (; s->entry[i]; i = (i + 1) & (2 * SEEN - 1))
        if (s->entry[i] == v + 1) return 0;
    if (s->count == SEEN) return 0;
    s->entry[i] = v + 1;
    s->count++;
    return 1;
}

enum ww_code ww_profile_count_begin(struct ww_profile_counter *c, const struct ww_launch *launch,
                                    struct ww_seen *pages, struct ww_kernel_profile *to,
                                    struct ww_error *error) {
    *c = (struct ww_profile_counter){.to = to, .launch = launch, .pages = pages};
    c->constants = calloc(1, sizeof *c->constants);
    c->executed = calloc(launch->inst_count + 1u, 1);
    c->lanes = calloc(launch->inst_count + 1u, sizeof *c->lanes);
    c->hot = ww_hot_new();
    if (c->constants && c->executed && c->lanes && c->hot) return WW_OK;
    ww_profile_count_end(c);
    return ww_fail_nomem(error, "profile");
}

static uint32_t file_registers(const struct ww_operand *o) {
    if (o->reg >= WW_REG_PRED) return 0;
    uint32_t room = WW_REG_PRED - o->reg;
    return o->n < room ? o->n : room;
}

/* Extra cycles to read the sources from two banks of two ports. */
static uint32_t bank_conflict(const struct ww_inst *in) {
    uint32_t reads[2] = {0, 0};
    for (uint32_t i = 0; i < in->src_count; i++)
        for (uint32_t r = in->src[i].reg; r < in->src[i].reg + file_registers(&in->src[i]); r++) reads[r & 1]++;
    uint32_t most = reads[0] > reads[1] ? reads[0] : reads[1];
    return most <= 2 ? 0 : (most + 1) / 2 - 1;
}

static bool overlap(const struct ww_operand *a, const struct ww_operand *b) {
    return a->reg < b->reg + (uint32_t)b->n && b->reg < a->reg + (uint32_t)a->n;
}

/* Could go with the one before it where a scheduler issues two: independent, to another unit, and neither a
 * branch nor behind one. */
static bool pairs(const struct ww_inst *first, const struct ww_inst *in) {
    enum ww_pipe a = ww_op_pipe((enum ww_op)first->op), b = ww_op_pipe((enum ww_op)in->op);
    if (a == WW_PIPE_BRANCH || b == WW_PIPE_BRANCH || a == b) return false;
    if ((a == WW_PIPE_INT && b == WW_PIPE_FP32) || (a == WW_PIPE_FP32 && b == WW_PIPE_INT)) return false;
    for (uint32_t d = 0; d < first->dst_count; d++) {
        for (uint32_t i = 0; i < in->src_count; i++)
            if (overlap(&first->dst[d], &in->src[i])) return false;
        for (uint32_t i = 0; i < in->dst_count; i++)
            if (overlap(&first->dst[d], &in->dst[i])) return false;
    }
    return true;
}

static void count_memory(struct ww_kernel_profile *p, const struct ww_inst *in) {
    bool shared = in->space == WW_SPACE_SHARED;
    if (in->op == WW_OP_ATOMIC || in->op == WW_OP_REDUCE)
        *(shared ? &p->shared : &p->atomics) += 1;
    else if (in->op == WW_OP_TEXTURE || in->space == WW_SPACE_TEX)
        p->texture++;
    else if (in->op == WW_OP_ASYNC_COPY)
        p->global_loads++;
    else if (in->op != WW_OP_LOAD && in->op != WW_OP_STORE)
        p->shuffles += in->op == WW_OP_SHUFFLE;
    else if (shared)
        p->shared++;
    else if (in->space == WW_SPACE_LOCAL)
        p->local++;
    else if (in->space == WW_SPACE_CONST)
        p->constants += (in->flags & WW_INST_ACCESS) != 0;
    else
        *(in->op == WW_OP_LOAD ? &p->global_loads : &p->global_stores) += 1;
}

static void count_shared(struct ww_kernel_profile *p, const struct ww_walk *walk, const struct ww_inst *in,
                         uint32_t mask, const struct ww_access *a) {
    bool atomic = in->op == WW_OP_ATOMIC || in->op == WW_OP_REDUCE;
    uint32_t updates = 0,
             passes = a && mask ? ww_walk_passes(walk->stream, in, a, mask, atomic ? &updates : NULL) : 1;
    *(in->op == WW_OP_STORE ? &p->shared_store_passes : &p->shared_passes) += passes;
    p->shared_updates += updates;
}

/* Of each sector, the lanes that update its most accessed word, which are serialised. */
static void count_updates(struct ww_profile_counter *c, const struct ww_warp_stream *w,
                          const struct ww_access *a, uint32_t mask) {
    uint64_t word[32], sector[32];
    uint32_t lanes[32], longest[32], words = 0, sectors = 0, rank = 0;
    for (uint32_t m = mask; m; m &= m - 1, rank++) {
        uint64_t address = ww_walk_address(w, a, (uint32_t)__builtin_ctz(m), rank);
        uint32_t i = 0, s = 0;
        while (i < words && word[i] != address) i++;
        while (s < sectors && sector[s] != address >> 5) s++;
        if (i == words) {
            word[words] = address;
            lanes[words++] = 0;
        }
        if (s == sectors) {
            sector[sectors] = address >> 5;
            longest[sectors++] = 0;
        }
        if (++lanes[i] <= longest[s]) continue;
        longest[s] = lanes[i];
        c->to->atomic_updates++;
        ww_hot_add(c->hot, address >> 8);
    }
}

static void count_access(struct ww_profile_counter *c, const struct ww_walk *walk, const struct ww_inst *in,
                         uint32_t mask, const struct ww_access *a) {
    if (in->space == WW_SPACE_SHARED && in->op != WW_OP_ASYNC_COPY) count_shared(c->to, walk, in, mask, a);
    if (in->space == WW_SPACE_CONST && a && mask) {
        uint32_t lane = (uint32_t)__builtin_ctz(mask);
        see(c->constants, ww_walk_address(walk->stream, a, lane, 0) / 64);
    }
    if (ww_walk_kind(in) == WW_WALK_STORE && a)
        c->to->store_bytes += (uint64_t)__builtin_popcount(mask) * in->width;
    if (ww_walk_kind(in) == WW_WALK_ATOMIC && a && mask) count_updates(c, walk->stream, a, mask);
}

void ww_profile_count_step(struct ww_profile_counter *c, const struct ww_walk *walk, const struct ww_inst *inst,
                           uint32_t mask, const struct ww_access *access) {
    struct ww_kernel_profile *p = c->to;
    uint32_t lanes = (uint32_t)__builtin_popcount(mask);
    enum ww_pipe pipe = ww_op_pipe((enum ww_op)inst->op);
    p->warp_instructions++;
    p->thread_instructions += lanes;
    p->pipe[pipe]++;
    p->lane[pipe] += pipe == WW_PIPE_MEM && !access ? 0 : lanes;
    c->lanes[inst - c->launch->inst] += lanes;
    p->sysreg += inst->op == WW_OP_SYSREG;
    p->branches += inst->op == WW_OP_BRANCH;
    p->barriers += inst->op == WW_OP_BARRIER;
    p->conflicts2 += bank_conflict(inst);
    for (uint32_t i = 0; i < inst->src_count; i++) p->register_reads += file_registers(&inst->src[i]);
    for (uint32_t i = 0; i < inst->dst_count; i++) p->register_writes += file_registers(&inst->dst[i]);
    if (walk->step > 1 && c->last && pairs(c->last, inst)) {
        p->pairs++;
        c->last = NULL; /* it is the second of a pair */
    } else {
        c->last = inst;
    }
    c->executed[inst - c->launch->inst] = 1;
    if (pipe != WW_PIPE_MEM) return;
    count_memory(p, inst);
    count_access(c, walk, inst, mask, access);
}

void ww_profile_count_access(struct ww_profile_counter *c, enum ww_walk_kind kind,
                             const struct ww_walk_line *line, unsigned n) {
    struct ww_kernel_profile *p = c->to;
    uint64_t sectors = 0;
    for (unsigned i = 0; i < n; i++) {
        sectors += (uint32_t)__builtin_popcount(line[i].sectors);
        if (!(line[i].line & WW_WALK_LOCAL)) p->pages += see(c->pages, line[i].line >> 14);
    }
    uint64_t *to[] = {NULL,
                      &p->load_sectors[0],
                      &p->load_sectors[1],
                      &p->bypass_sectors,
                      &p->store_sectors,
                      &p->atomic_sectors};
    uint64_t *lines[] = {
        NULL, &p->load_lines[0], &p->load_lines[1], &p->bypass_lines, &p->store_lines, &p->atomic_lines};
    *to[kind] += sectors;
    *lines[kind] += n;
    for (unsigned w = 0; w < WW_LSU_WIDTHS; w++) p->lsu_cycles[w] += n > 1u << w ? n : 1u << w;
}

void ww_profile_count_cta(struct ww_profile_counter *c, uint64_t instructions) {
    double n = (double)instructions;
    c->ctas++;
    c->square += n * n;
    if (n > c->to->cta_max) c->to->cta_max = n;
}

static void count_arithmetic(struct ww_profile_counter *c) {
    for (uint32_t i = 0; c->lanes && i < c->launch->inst_count; i++) {
        enum ww_arith arith = ww_arith_of(c->launch, &c->launch->inst[i]);
        if (arith < WW_ARITH_COUNT) c->to->arith[arith] += c->lanes[i];
    }
}

void ww_profile_count_end(struct ww_profile_counter *c) {
    struct ww_kernel_profile *p = c->to;
    if (c->ctas > 0) {
        p->ctas = (uint64_t)c->ctas;
        p->cta_mean = (double)p->warp_instructions / c->ctas;
        double variance = c->square / c->ctas - p->cta_mean * p->cta_mean;
        p->cta_deviation = variance > 0 ? sqrt(variance) : 0;
    }
    uint32_t line = UINT32_MAX; /* instructions stand in the order of their addresses */
    for (uint32_t i = 0; c->executed && i < c->launch->inst_count; i++) {
        if (!c->executed[i] || c->launch->inst[i].pc >> 7 == line) continue;
        line = c->launch->inst[i].pc >> 7;
        p->code_lines++;
    }
    count_arithmetic(c);
    if (c->constants) p->constant_lines = c->constants->count;
    if (c->hot) ww_hot_most(c->hot, p);
    ww_hot_free(c->hot);
    free(c->constants);
    free(c->executed);
    free(c->lanes);
}
