/* lower_dma.c: calls of the intrinsics of bulk transfers (traces/kernels/ww_dma.h).
 *
 * Their arguments are operands of the instruction, so storing an argument costs nothing: constants belong to
 * the instruction, as the parameters of D2MA's configuration instructions do, the rest is read from registers.
 */
#include "../../trace.h"
#include "lower.h"
#include <string.h>

static const struct lower_reg nowhere = {.group = -1};

static bool is_transfer(const struct ptx_inst *i) {
    return i->op == PTX_CALL && i->callee && i->callee->func->is_extern &&
           strncmp(i->callee->name, "ww_dma_", 7) == 0;
}

static bool is_argument(const struct ptx_inst *call, const struct ptx_symbol *sym) {
    for (uint32_t n = call->call_ret; n < call->opnd_count; n++)
        if (call->opnd[n].sym == sym) return true;
    return false;
}

bool ww_lower_is_transfer_argument(const struct lower *l, const struct ptx_inst *store) {
    const struct ptx_inst *end = l->func->inst + l->func->inst_count, *i = store;
    while (i < end && i->op != PTX_CALL) i++;
    return i < end && is_transfer(i) && is_argument(i, store->opnd[0].sym);
}

bool ww_lower_transfer(struct lower *l, const struct ptx_inst *call) {
    struct lower_src s[WW_INST_SRC_MAX];
    unsigned n = 0;
    if (!is_transfer(call)) return false;
    for (const struct ptx_inst *i = call;
         i-- > l->func->inst && i->op != PTX_CALL && i->block == call->block;) {
        bool stores = i->op == PTX_ST && i->space == PTX_S_PARAM && is_argument(call, i->opnd[0].sym);
        if (!stores || i->opnd[1].kind != PTX_O_REG || n == WW_INST_SRC_MAX) continue;
        struct lower_src v = ww_lower_source(l, &i->opnd[1]);
        if (v.kind == L_CONST || v.kind == L_ZERO) continue;
        s[n++] = v;
    }
    bool starts = strcmp(call->callee->name, "ww_dma_execute") == 0;
    struct lower_inst *m = ww_lower_put(l, WW_OP_DMA, starts ? "DMA.EXECUTE" : "DMA.CONFIGURE", nowhere, s, n);
    if (m && starts) m->flags |= WW_INST_ACCESS;
    return true;
}
