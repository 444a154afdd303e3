/* concurrent_code.c: the instruction tables of launches that run concurrently, as one. */
#include "concurrent.h"

#include <stdlib.h>
#include <string.h>

/* Padding between two tables, so that code that reads ahead in one does not reach the next. */
#define GAP 64u
/* Kernels lie apart in the address space of instructions, at multiples of: */
#define CODE_UNIT 4096u

static bool same_code(const struct ww_launch *a, const struct ww_launch *b) {
    return a->inst_count == b->inst_count && a->kernel && b->kernel && strcmp(a->kernel, b->kernel) == 0 &&
           (a->inst == b->inst || memcmp(a->inst, b->inst, a->inst_count * sizeof *a->inst) == 0);
}

static uint32_t last_pc(const struct ww_launch *l) {
    uint32_t last = 0;
    for (uint32_t i = 0; i < l->inst_count; i++)
        if (l->inst[i].pc > last) last = l->inst[i].pc;
    return last;
}

/* Where the kernel's code begins: launches of the same one share it. */
static uint32_t place_code(const struct ww_concurrent *b, uint32_t *base, uint32_t i, uint32_t *next) {
    for (uint32_t k = 0; k < i; k++)
        if (same_code(b->grid[k].launch, b->grid[i].launch)) return base[i] = base[k];
    base[i] = *next;
    *next += (last_pc(b->grid[i].launch) / CODE_UNIT + 1) * CODE_UNIT;
    return base[i];
}

static void copy_code(const struct ww_launch *l, struct ww_inst *to, uint32_t pc, uint32_t string) {
    for (uint32_t i = 0; i < l->inst_count; i++) {
        to[i] = l->inst[i];
        to[i].pc += pc;
        to[i].mnemonic += string;
        to[i].file += string;
    }
}

/* No warp executes them. Control fields are obeyed if all instructions have them, so these have some, too. */
static void fill_gap(const struct ww_launch *l, struct ww_inst *to, uint32_t pc) {
    struct ww_inst nothing = {.op = WW_OP_NOP, .pc = pc};
    nothing.flags = l->inst_count ? l->inst[0].flags & WW_INST_CONTROL : 0;
    nothing.control.stall = 1;
    nothing.control.write_barrier = nothing.control.read_barrier = WW_CONTROL_NO_BARRIER;
    for (uint32_t i = 0; i < GAP; i++) to[i] = nothing;
}

/* A CTA's streams with the numbers of the table of all. */
struct moved {
    struct ww_cta_trace of; /* the trace's */
    struct ww_warp_stream warp[];
};

/* Steps of all warps; some may stand for several warps. */
static size_t steps_of(const struct ww_cta_trace *cta) {
    size_t steps = 0;
    for (uint32_t i = 0; i < cta->warp_count; i++) steps += cta->warp[i].step_count;
    return steps;
}

static void move_steps(struct moved *m, uint32_t by) {
    struct ww_step *to = (struct ww_step *)(void *)(m->warp + m->of.warp_count);
    for (uint32_t i = 0; i < m->of.warp_count; i++) {
        const struct ww_warp_stream *from = &m->of.warp[i];
        m->warp[i] = *from;
        if (i && from->step == from[-1].step && from->step_count <= from[-1].step_count) {
            m->warp[i].step = m->warp[i - 1].step;
            continue;
        }
        m->warp[i].step = to;
        for (uint32_t k = 0; k < from->step_count; k++)
            *to++ = (struct ww_step){from->step[k].inst + by, from->step[k].mask};
    }
}

static enum ww_code load(void *context, uint64_t cta, struct ww_cta_trace *out, struct ww_error *error) {
    const struct ww_concurrent *b = context;
    const struct ww_concurrent_grid *g = &b->grid[b->loading];
    struct ww_cta_trace of;
    WW_TRY(ww_trace_load_cta(b->trace, g->index, cta, &of, error));
    struct moved *m =
        malloc(sizeof *m + of.warp_count * sizeof *m->warp + steps_of(&of) * sizeof(struct ww_step));
    if (!m) {
        ww_trace_release_cta(b->trace, &of);
        return ww_fail_nomem(error, "a CTA");
    }
    m->of = of;
    move_steps(m, g->first_inst);
    *out = (struct ww_cta_trace){of.index, of.warp_count, m->warp, m};
    return WW_OK;
}

static void release(void *context, struct ww_cta_trace *cta) {
    const struct ww_concurrent *b = context;
    struct moved *m = cta->group;
    ww_trace_release_cta(b->trace, &m->of);
    free(m);
}

static uint64_t next(void *context, uint64_t cta) {
    (void)context;
    return cta;
}

/* What the group is as a whole: its shared memory is the largest of its launches'. */
static void describe(struct ww_concurrent *b) {
    const struct ww_gpu_spec *gpu = &b->engine->gpu;
    uint64_t most = 0;
    b->all = *b->grid[0].launch;
    b->all.copy_count = 0;
    b->all.cta_count = b->all.warp_instructions = 0;
    for (uint32_t i = 0; i < b->count; i++) {
        const struct ww_launch *l = b->grid[i].launch;
        uint64_t used = (uint64_t)b->grid[i].shared * b->grid[i].ctas_per_sm;
        if (l->local_bytes > b->all.local_bytes) b->all.local_bytes = l->local_bytes;
        b->all.cta_count += l->cta_count;
        if (used > most) most = used;
    }
    if (most > gpu->sm_shared_kb * 1024ull) most = gpu->sm_shared_kb * 1024ull;
    b->all.shared_dynamic = 0;
    b->all.shared_static = most > gpu->sm_shared_reserved ? (uint32_t)most - gpu->sm_shared_reserved : 0;
}

enum ww_code ww_concurrent_merge(struct ww_concurrent *b, struct ww_arena *arena, struct ww_error *error) {
    size_t insts = 0, strings = 0;
    for (uint32_t i = 0; i < b->count; i++) {
        insts += b->grid[i].launch->inst_count + GAP;
        strings += b->grid[i].launch->string_count;
    }
    struct ww_inst *inst = ww_arena_array(arena, insts, sizeof *inst);
    const char **string = ww_arena_array(arena, strings + 1, sizeof *string);
    uint32_t *base = ww_arena_array(arena, b->count, sizeof *base), at = 0, text = 0, pc = 0;
    if (!inst || !string || !base) return ww_fail_nomem(error, "the code of launches");
    describe(b);
    for (uint32_t i = 0; i < b->count; i++) {
        const struct ww_launch *l = b->grid[i].launch;
        b->grid[i].first_inst = at;
        copy_code(l, inst + at, place_code(b, base, i, &pc), text);
        fill_gap(l, inst + at + l->inst_count, base[i]);
        for (uint32_t k = 0; k < l->string_count; k++) string[text + k] = l->string[k];
        at += l->inst_count + GAP;
        text += l->string_count;
    }
    b->all.inst = inst;
    b->all.inst_count = at;
    b->all.string = string;
    b->all.string_count = text;
    b->source = (struct ww_cta_source){b, load, release, next};
    return WW_OK;
}
