/* cfg.h: the control-flow graph of a function. Block `count` is the virtual exit. */
#ifndef WW_TRACES_PTX_CFG_H
#define WW_TRACES_PTX_CFG_H

#include "ir.h"

struct ptx_block {
    uint32_t first, end;                         /* instructions */
    uint32_t succ, succ_count, pred, pred_count; /* in ptx_cfg.succ and .pred */
};

struct ptx_cfg {
    uint32_t count;
    struct ptx_block *block; /* count + 1 */
    uint32_t *succ, *pred;
    uint32_t *ipdom; /* of each block; count: the exit; UINT32_MAX: no path to an exit */
};

/* Builds the graph in `scratch` and sets inst.block; the function has at least one instruction. Returns
 * false if memory ran out. */
bool ww_ptx_cfg_build(struct ww_arena *scratch, struct ptx_func *func, struct ptx_cfg *cfg);
/* Reorders the instructions inside each block so that loads come early; the function computes the same.
 * Returns false if memory ran out. */
bool ww_ptx_schedule(struct ww_arena *scratch, struct ptx_func *func, const struct ptx_cfg *cfg);

#endif
