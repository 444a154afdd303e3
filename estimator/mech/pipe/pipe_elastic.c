/* Figures 5 and 6: the elastic pipeline. Instructions that need no memory wait in a queue of M entries
 * (equation 2), from each of which, and from EXE, they can go to writeback; those of memory wait before MEM0 in
 * a queue of N entries (equation 3), from each of which, and from EXE, they can go to MEM0.
 *
 * Order at the writeback multiplexer (M + 3 inputs), assumed: data from memory, the last memory stage, the
 * NONMEM queue with its oldest entry first, EXE. At the multiplexer of MEM0 (N + 1 inputs): the PREMEM queue,
 * oldest first, then EXE. Older instructions so come before younger ones, as far as they meet at the same
 * point; the memory stages come before the queue since they cannot wait without stopping.
 *
 * EXE stalls if the queue that it needs is full: for memory instructions that is a bank conflict while MEM0 is
 * busy with one or the PREMEM queue is; for the others it is one unless data from memory have the port. */
#include "pipe.h"

static const struct ww_param params[] = {WW_PIPE_PARAMS(1)};

/* The oldest instruction of the queue that may, goes to writeback. */
static void write_from_queue(struct ww_pipe_back *b, struct ww_pipe_cycle *c) {
    for (uint32_t i = 0; i < b->nonmem_count; i++) {
        if (!ww_pipe_may_write(c, &b->nonmem[i])) continue;
        c->written = b->nonmem[i];
        b->nonmem_count--;
        for (uint32_t k = i; k < b->nonmem_count; k++) b->nonmem[k] = b->nonmem[k + 1];
        return;
    }
}

static bool start_from_queue(struct ww_pipe_back *b) {
    if (!b->premem_count) return false;
    b->mem[0] = b->premem[0];
    b->premem_count--;
    for (uint32_t k = 0; k < b->premem_count; k++) b->premem[k] = b->premem[k + 1];
    return true;
}

static void take_memory(struct ww_pipe_back *b, const struct ww_pipe_plan *plan, struct ww_pipe_cycle *c,
                        bool free) {
    if (c->closed) {
        c->stalled = WW_PIPE_OTHER;
    } else if (free) {
        b->mem[0] = c->exe;
    } else if (b->premem_count < plan->premem) {
        b->premem[b->premem_count++] = c->exe;
    } else {
        c->stalled = WW_PIPE_CONFLICT;
    }
}

static void take_other(struct ww_pipe_back *b, const struct ww_pipe_plan *plan, struct ww_pipe_cycle *c) {
    if (!c->port_taken && !c->written.valid && ww_pipe_may_write(c, &c->exe))
        c->written = c->exe;
    else if (b->nonmem_count < plan->nonmem)
        b->nonmem[b->nonmem_count++] = c->exe;
    else
        c->stalled = c->port_taken ? WW_PIPE_OTHER : WW_PIPE_CONFLICT;
}

static void elastic_step(struct ww_pipe_back *b, const struct ww_pipe_plan *plan, struct ww_pipe_cycle *c) {
    bool busy = ww_pipe_busy(b), held = ww_pipe_memory_end(b, plan->memory, c);
    bool free = ww_pipe_advance(b, plan->memory, held, &c->passed);
    if (!c->port_taken && !c->written.valid) write_from_queue(b, c);
    bool waiting = b->premem_count != 0;
    if (free && start_from_queue(b)) free = false;
    if (!c->exe.valid) return;
    if (!c->exe.memory) {
        take_other(b, plan, c);
        return;
    }
    take_memory(b, plan, c, free);
    if (c->stalled == WW_PIPE_CONFLICT && held && !busy && !waiting) c->stalled = WW_PIPE_OTHER;
}

const struct ww_pipe_ops ww_pipe_elastic = {
    .info =
        {.kind = WW_KIND_PIPE,
         .name = "elastic",
         .help =
             "barrel pipeline with queues parallel to and before the memory stages, aware of bank conflicts",
         .paper =
             "Gou, Gaydadjiev: Elastic Pipeline: Addressing GPU On-chip Shared Memory Bank Conflicts, CF 2011",
         .params = params,
         .param_count = sizeof params / sizeof params[0],
         .settings_size = sizeof(struct ww_pipe_settings)},
    .plan = ww_pipe_plan_of,
    .step = elastic_step,
};
