/* Figure 4(b): instructions that need no memory take a parallel path of as many stages as the memory stages.
 * Both paths are rigid: what cannot be written back stops its whole path, and EXE if that holds an instruction
 * for this path. Order at the writeback multiplexer, assumed: data from memory, MEM path, NONMEM path; the
 * figure has an instruction of the NONMEM path stall the fetch in cycle i+6, where it meets one that a conflict
 * has delayed. Such a stall counts as a bank conflict, unless data from memory have the port. */
#include "pipe.h"

static const struct ww_param params[] = {WW_PIPE_PARAMS(0)};

/* A step of the NONMEM path: whether its first stage is free. */
static bool advance_nonmem(struct ww_pipe_back *b, uint32_t stages, struct ww_pipe_cycle *c) {
    struct ww_subwarp *last = &b->nonmem[stages - 1];
    if (last->valid && (c->port_taken || c->written.valid || !ww_pipe_may_write(c, last))) return false;
    if (last->valid) c->written = *last;
    for (uint32_t i = stages - 1; i > 0; i--) b->nonmem[i] = b->nonmem[i - 1];
    b->nonmem[0].valid = false;
    return true;
}

static void split_step(struct ww_pipe_back *b, const struct ww_pipe_plan *plan, struct ww_pipe_cycle *c) {
    bool busy = ww_pipe_busy(b), held = ww_pipe_memory_end(b, plan->memory, c);
    bool memory_free = ww_pipe_advance(b, plan->memory, held, &c->passed);
    bool nonmem_free = advance_nonmem(b, plan->memory, c);
    if (!c->exe.valid) return;
    if (c->exe.memory) {
        c->stalled = busy ? WW_PIPE_CONFLICT : WW_PIPE_OTHER;
        if (!memory_free || c->closed) return;
        b->mem[0] = c->exe;
    } else {
        c->stalled = c->port_taken ? WW_PIPE_OTHER : WW_PIPE_CONFLICT;
        if (!nonmem_free) return;
        b->nonmem[0] = c->exe;
    }
    c->stalled = WW_PIPE_NOT_STALLED;
}

const struct ww_pipe_ops ww_pipe_split = {
    .info =
        {.kind = WW_KIND_PIPE,
         .name = "split",
         .help = "barrel pipeline, a rigid path parallel to the memory stages",
         .paper =
             "Gou, Gaydadjiev: Elastic Pipeline: Addressing GPU On-chip Shared Memory Bank Conflicts, CF 2011",
         .params = params,
         .param_count = sizeof params / sizeof params[0],
         .settings_size = sizeof(struct ww_pipe_settings)},
    .plan = ww_pipe_plan_of,
    .step = split_step,
};
