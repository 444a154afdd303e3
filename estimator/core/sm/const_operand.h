/* const_operand.h: constants that are operands, c[bank][offset], of a trace that names them (const.fixed_kb
 * above 0; Volta and later).
 *
 *   issue <-- fixed-latency constant cache (one a scheduler) <-- L1.5 (sm->constant15) <-- L2
 *
 * The line is looked up when the scheduler picks the instruction. If it is not there, the warp waits for it
 * (const_miss); the scheduler waits with it for const.fixed_hold_cycles and then selects other warps. */
#ifndef WW_CORE_CONST_OPERAND_H
#define WW_CORE_CONST_OPERAND_H

#include "sm.h"

struct ww_const_line {
    uint32_t key, used; /* line of the bank + 1, 0: none; when it was used last */
    uint64_t ready;     /* it is there from this cycle on */
};

struct ww_const_operands {
    struct ww_const_line *line; /* of all schedulers, one after the other */
    uint32_t sets, ways, uses;
    uint64_t *ready15; /* by line of the L1.5: there from this cycle on */
};

/* Memory from the arena; sm->operands stays NULL without. False: out of memory. */
bool ww_const_operand_init(struct ww_sm *sm, struct ww_arena *arena);
/* The scheduler has picked the warp, whose head is d, with a constant. False: its constant is not there, and
 * the warp has been put to sleep. */
bool ww_const_operand_admits(struct ww_sm *sm, struct ww_sched *s, struct ww_warp *w, const struct ww_dinst *d,
                             uint64_t cycle);

#endif
