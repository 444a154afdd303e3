/* Figure 4(a): every instruction goes through the memory stages. An access that conflicts stays in MEM0 and
 * stops all stages before it; behind it a bubble moves to writeback. When data from memory take the port,
 * everything stops that has something to write back in front of it. Where both happen, the cycle counts as a
 * bank conflict. */
#include "pipe.h"

static const struct ww_param params[] = {WW_PIPE_PARAMS(0)};

static void unified_step(struct ww_pipe_back *b, const struct ww_pipe_plan *plan, struct ww_pipe_cycle *c) {
    bool busy = ww_pipe_busy(b), held = ww_pipe_memory_end(b, plan->memory, c);
    bool free = ww_pipe_advance(b, plan->memory, held, &c->passed);
    c->stalled = busy ? WW_PIPE_CONFLICT : WW_PIPE_OTHER;
    if (!free || (c->closed && c->exe.valid)) return;
    c->stalled = WW_PIPE_NOT_STALLED;
    b->mem[0] = c->exe;
}

const struct ww_pipe_ops ww_pipe_unified = {
    .info =
        {.kind = WW_KIND_PIPE,
         .name = "unified",
         .help = "barrel pipeline, all instructions through the memory stages",
         .paper =
             "Gou, Gaydadjiev: Elastic Pipeline: Addressing GPU On-chip Shared Memory Bank Conflicts, CF 2011",
         .params = params,
         .param_count = sizeof params / sizeof params[0],
         .settings_size = sizeof(struct ww_pipe_settings)},
    .plan = ww_pipe_plan_of,
    .step = unified_step,
};
