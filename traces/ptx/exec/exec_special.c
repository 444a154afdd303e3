/* exec_special.c: decoding of control flow, calls, memory, vector moves and barriers. */
#include "../../refused_call.h"
#include "exec_decode.h"
#include "simt.h"
#include <string.h>

/* ---- what a kernel can reach ---- */

static enum ww_code reach(struct ex_decoder *d, const struct ptx_func *f, uint32_t *stack, uint32_t *depth) {
    if (!f || f->is_extern || d->kernel->func[f->index]) return WW_OK;
    struct ex_func *e = ww_arena_alloc(&d->kernel->arena, sizeof *e);
    if (!e) return ww_fail_nomem(d->error, "decoding a kernel");
    e->index = f->index;
    d->kernel->func[f->index] = e;
    stack[(*depth)++] = f->index;
    return WW_OK;
}

static enum ww_code reach_operand(struct ex_decoder *d, const struct ptx_operand *o, uint32_t *stack,
                                  uint32_t *depth) {
    for (uint8_t n = 0; o->kind == PTX_O_VEC && n < o->vec_count; n++)
        if (o->vec[n].sym && o->vec[n].sym->kind == PTX_SYM_FUNC)
            WW_TRY(reach(d, o->vec[n].sym->func, stack, depth));
    if (!o->sym || o->sym->kind != PTX_SYM_FUNC) return WW_OK;
    return reach(d, o->sym->func, stack, depth);
}

enum ww_code ww_ex_find_reachable(struct ex_decoder *d, const struct ptx_func *entry) {
    const struct ptx_module *m = d->kernel->module;
    uint32_t depth = 0, *stack = ww_arena_array(&d->kernel->arena, m->func_count, sizeof *stack);
    d->kernel->func = ww_arena_array(&d->kernel->arena, m->func_count, sizeof *d->kernel->func);
    d->kernel->func_count = (uint32_t)m->func_count;
    if (!stack || !d->kernel->func) return ww_fail_nomem(d->error, "decoding a kernel");
    WW_TRY(reach(d, entry, stack, &depth));
    for (size_t s = 0; s < m->symbol_count; s++)
        for (size_t r = 0; r < m->symbol[s]->reloc_count; r++)
            if (m->symbol[s]->reloc[r].sym->kind == PTX_SYM_FUNC)
                WW_TRY(reach(d, m->symbol[s]->reloc[r].sym->func, stack, &depth));
    while (depth) {
        const struct ptx_func *f = m->func[stack[--depth]];
        for (uint32_t n = 0; n < f->inst_count; n++) {
            const struct ptx_inst *i = &f->inst[n];
            if (i->callee) WW_TRY(reach(d, i->callee->func, stack, &depth));
            for (uint8_t k = 0; k < i->opnd_count; k++) WW_TRY(reach_operand(d, &i->opnd[k], stack, &depth));
        }
    }
    return WW_OK;
}

/* ---- instructions ---- */

static enum ww_code vector_elements(struct ex_decoder *d, const struct ptx_operand *o, uint8_t want) {
    struct ex_inst *i = d->out;
    i->elem_count = o->vec_count;
    i->elem = ww_arena_array(&d->kernel->arena, o->vec_count, sizeof *i->elem);
    if (!i->elem) return ww_fail_nomem(d->error, "decoding a kernel");
    for (uint8_t n = 0; n < o->vec_count; n++) {
        if (o->vec[n].kind == PTX_O_NONE) {
            i->elem[n] = (struct ex_elem){.slot = EX_NO_SLOT, .width = want};
            continue;
        }
        WW_TRY(ww_ex_operand_slot(d, &o->vec[n], want, &i->elem[n].slot, &i->elem[n].width));
        if (i->elem[n].slot == EX_NO_SLOT || i->elem[n].width == 0)
            return ww_ex_decode_fail(d, WW_INPUT, "vector element does not fit");
    }
    return WW_OK;
}

static uint8_t bytes_width(uint32_t bytes) {
    return bytes <= 4 ? 4 : bytes <= 8 ? 8 : 16;
}

/* The register may be wider than what is loaded or stored, not narrower. */
static enum ww_code data_operand(struct ex_decoder *d, const struct ptx_operand *o, uint32_t *slot,
                                 uint8_t *width) {
    uint8_t want = bytes_width(d->out->bytes);
    if (o->kind == PTX_O_VEC) {
        WW_TRY(vector_elements(d, o, want));
        for (uint32_t n = 0; n < d->out->elem_count; n++)
            if (d->out->elem[n].width < want || (want < 16 && d->out->elem[n].width == 16))
                return ww_ex_decode_fail(d, WW_INPUT, "a register's size does not fit the instruction's type");
        return WW_OK;
    }
    WW_TRY(ww_ex_operand_slot(d, o, want, slot, width));
    if (*slot == EX_NO_SLOT || *width < want || (want < 16 && *width == 16))
        return ww_ex_decode_fail(d, WW_INPUT, "a register's size does not fit the instruction's type");
    return WW_OK;
}

static enum ww_code new_hint(struct ex_decoder *d) {
    d->out->hint = ww_arena_alloc(&d->kernel->arena, sizeof *d->out->hint);
    return d->out->hint ? WW_OK : ww_fail_nomem(d->error, "decoding a kernel");
}

enum ww_code ww_ex_decode_memory(struct ex_decoder *d) {
    const struct ptx_inst *p = d->inst;
    struct ex_inst *i = d->out;
    i->bytes = (uint8_t)ww_ptx_type_bytes((enum ptx_type)p->type[0]);
    uint8_t at = p->dst_count ? 1 : 0;
    WW_TRY(new_hint(d));
    WW_TRY(ww_ex_address_operand(d, &p->opnd[at], &i->a, &i->aw, &i->imm, &i->space));
    if (p->dst_count) WW_TRY(data_operand(d, &p->opnd[0], &i->d, &i->dw));
    bool has_value = strchr(ww_ptx_ops[p->op].signature, 'v') != NULL;
    if (has_value) {
        WW_TRY(data_operand(d, &p->opnd[at + 1], &i->b, &i->bw));
        if (p->sub == PTX_SUB_CAS && p->opnd_count > at + 2)
            WW_TRY(data_operand(d, &p->opnd[at + 2], &i->c, &i->cw));
    }
    WW_TRY(ww_ex_choose(d));
    return p->bulk & PTX_BULK_ASYNC ? ww_ex_decode_store_async(d) : WW_OK;
}

static enum ww_code vector_move(struct ex_decoder *d) {
    const struct ptx_inst *p = d->inst;
    struct ex_inst *i = d->out;
    uint32_t whole = ww_ptx_type_bytes((enum ptx_type)p->type[0]);
    bool unpack = p->opnd[0].kind == PTX_O_VEC;
    const struct ptx_operand *v = &p->opnd[unpack ? 0 : 1];
    uint32_t part = whole / v->vec_count;
    WW_TRY(vector_elements(d, v, bytes_width(part)));
    if (unpack)
        WW_TRY(ww_ex_operand_slot(d, &p->opnd[1], bytes_width(whole), &i->a, &i->aw));
    else
        WW_TRY(ww_ex_operand_slot(d, &p->opnd[0], bytes_width(whole), &i->d, &i->dw));
    if ((unpack ? i->aw : i->dw) != bytes_width(whole) || (unpack ? i->a : i->d) == EX_NO_SLOT)
        return ww_ex_decode_fail(d, WW_INPUT, "a register's size does not fit the instruction's type");
    for (uint32_t n = 0; n < i->elem_count; n++)
        if (i->elem[n].width != bytes_width(part))
            return ww_ex_decode_fail(d, WW_INPUT,
                                     "a vector element's size does not fit the instruction's type");
    i->imm = 8 * (int64_t)part;
    i->fn = ww_ex_pick_mov(i);
    bool odd = whole == 16 && i->elem_count != 2;
    return i->fn && !odd ? WW_OK : ww_ex_decode_fail(d, WW_UNSUPPORTED, "this form of mov is not supported");
}

enum ww_code ww_ex_decode_mov(struct ex_decoder *d) {
    const struct ptx_operand *o = d->inst->opnd;
    return o[0].kind == PTX_O_VEC || o[1].kind == PTX_O_VEC ? vector_move(d) : ww_ex_decode_plain(d);
}

enum ww_code ww_ex_decode_brx(struct ex_decoder *d) {
    const struct ptx_inst *p = d->inst;
    const struct ptx_label_list *list = &d->func->src->list[p->opnd[1].imm];
    d->out->kind = EX_BRX;
    d->out->list = list->target;
    d->out->list_count = list->count;
    WW_TRY(ww_ex_operand_slot(d, &p->opnd[0], 4, &d->out->a, &d->out->aw));
    return d->out->aw == 4 ? WW_OK : ww_ex_decode_fail(d, WW_INPUT, "expected a 32-bit index");
}

static enum ww_code call_operand(struct ex_decoder *d, const struct ptx_operand *o, struct ex_elem *e) {
    e->is_param = o->kind == PTX_O_SYM;
    if (e->is_param) {
        e->slot = (uint32_t)o->sym->offset;
        if (ww_ex_is_kernel_param(d, o->sym))
            return ww_ex_decode_fail(d, WW_UNSUPPORTED, "kernel parameter as argument");
        return WW_OK;
    }
    return ww_ex_operand_slot(d, o, 8, &e->slot, &e->width);
}

enum ww_code ww_ex_decode_call(struct ex_decoder *d) {
    const struct ptx_inst *p = d->inst;
    struct ex_inst *i = d->out;
    uint32_t indirect = p->callee ? 0 : 1;
    i->kind = EX_CALL;
    i->ret_count = p->call_ret;
    i->elem_count = (uint32_t)p->call_ret + p->call_args;
    i->elem = ww_arena_array(&d->kernel->arena, i->elem_count, sizeof *i->elem);
    if (!i->elem) return ww_fail_nomem(d->error, "decoding a kernel");
    for (uint32_t n = 0; n < i->elem_count; n++)
        WW_TRY(call_operand(d, &p->opnd[n < p->call_ret ? n : n + indirect], &i->elem[n]));
    if (indirect) return ww_ex_operand_slot(d, &p->opnd[p->call_ret], 8, &i->a, &i->aw);
    const struct ptx_func *f = p->callee->func;
    i->callee = f;
    if (f->is_extern && ww_ex_is_dma(f->name)) {
        i->kind = EX_DMA;
        i->d = EX_NO_SLOT; /* a barrier gives no result */
        return WW_OK;
    }
    if (f->is_extern) {
        i->fn = ww_ex_builtin;
        const char *refused = ww_refused_call(f->name);
        if (!ww_ex_is_builtin(f->name))
            return ww_ex_decode_fail(d, WW_UNSUPPORTED,
                                     refused ? refused : "call of a function without a body");
        return WW_OK;
    }
    if (f->param_count != p->call_args || f->ret_count != p->call_ret)
        return ww_ex_decode_fail(d, WW_INPUT, "the call's operands do not fit the function");
    return WW_OK;
}

/* bar, barrier: number in a, count in b, predicate of a reduction in c. */
enum ww_code ww_ex_decode_barrier(struct ex_decoder *d) {
    const struct ptx_inst *p = d->inst;
    struct ex_inst *i = d->out;
    uint8_t width, n = p->dst_count;
    bool reduces = p->sub >= PTX_SUB_RED_POPC && p->sub <= PTX_SUB_RED_OR;
    if (p->sub == PTX_SUB_CLUSTER_ARRIVE || p->sub == PTX_SUB_CLUSTER_WAIT) {
        i->kind = EX_BAR;
        return WW_OK;
    }
    i->kind = p->sub == PTX_SUB_WARP_SYNC ? EX_WSYNC : EX_BAR;
    if (n) WW_TRY(ww_ex_operand_slot(d, &p->opnd[0], 4, &i->d, &i->dw));
    if (n && i->dw != (p->sub == PTX_SUB_RED_POPC ? 4 : 0) && p->opnd[0].kind == PTX_O_REG)
        return ww_ex_decode_fail(d, WW_INPUT, "a register's size does not fit the instruction's type");
    uint8_t last = (uint8_t)(p->opnd_count - (reduces ? 1 : 0));
    WW_TRY(ww_ex_operand_slot(d, &p->opnd[n], 4, &i->a, &i->aw));
    if (i->kind == EX_WSYNC) i->members = i->a;
    if (n + 1 < last) WW_TRY(ww_ex_operand_slot(d, &p->opnd[n + 1], 4, &i->b, &i->bw));
    if (reduces) WW_TRY(ww_ex_operand_slot(d, &p->opnd[last], 0, &i->c, &width));
    if (reduces && p->opnd[last].neg) i->neg |= 4;
    if (i->aw != 4 || (i->b != EX_NO_SLOT && i->bw != 4))
        return ww_ex_decode_fail(d, WW_INPUT, "expected 32-bit barrier operands");
    return WW_OK;
}

/* cp.async: shared destination in a, global source in b (offset in elem), size in c. */
enum ww_code ww_ex_decode_async(struct ex_decoder *d) {
    const struct ptx_inst *p = d->inst;
    struct ex_inst *i = d->out;
    uint8_t space = PTX_S_SHARED;
    if (p->op == PTX_CP && p->sub == PTX_SUB_CP_BULK) return ww_ex_decode_bulk(d);
    WW_TRY(ww_ex_choose(d));
    if (p->op == PTX_MBARRIER || p->sub == PTX_SUB_CP_MBARRIER_ARRIVE) {
        uint32_t *slot[] = {&i->b, &i->c};
        uint8_t *width[] = {&i->bw, &i->cw}, at = p->dst_count, n = 0;
        WW_TRY(new_hint(d));
        if (at && p->opnd[0].kind == PTX_O_REG) WW_TRY(ww_ex_operand_slot(d, &p->opnd[0], 8, &i->d, &i->dw));
        if (p->sub == PTX_SUB_MB_PENDING_COUNT) return ww_ex_operand_slot(d, &p->opnd[1], 8, &i->a, &i->aw);
        WW_TRY(ww_ex_address_operand(d, &p->opnd[at], &i->a, &i->aw, &i->imm, &i->space));
        for (at++; at < p->opnd_count && n < 2; at++, n++)
            WW_TRY(ww_ex_operand_slot(d, &p->opnd[at], 8, slot[n], width[n]));
        return WW_OK;
    }
    if (p->sub != PTX_SUB_CP_ASYNC) return WW_OK;
    i->elem = ww_arena_alloc(&d->kernel->arena, sizeof *i->elem);
    if (!i->elem) return ww_fail_nomem(d->error, "decoding a kernel");
    int64_t source = 0;
    i->bytes = p->cp_bytes;
    WW_TRY(new_hint(d));
    WW_TRY(ww_ex_address_operand(d, &p->opnd[1], &i->b, &i->bw, &source, &i->space));
    i->elem->slot = (uint32_t)source;
    if (source < INT32_MIN || source > UINT32_MAX || i->b == EX_NO_SLOT)
        return ww_ex_decode_fail(d, WW_UNSUPPORTED, "this source address of cp.async is not supported");
    WW_TRY(ww_ex_address_operand(d, &p->opnd[0], &i->a, &i->aw, &i->imm, &space));
    bool has_size = p->opnd_count > 3 && !(p->mods & PTX_M_CACHE_HINT && p->opnd_count == 4);
    return has_size ? ww_ex_operand_slot(d, &p->opnd[3], 4, &i->c, &i->cw) : WW_OK;
}

enum ww_code ww_ex_decode_bra(struct ex_decoder *d) {
    d->out->kind = EX_BRA;
    d->out->target = (uint32_t)d->inst->opnd[0].imm;
    d->out->is_back_edge = d->out->target <= (uint32_t)(d->inst - d->func->src->inst);
    return WW_OK;
}

enum ww_code ww_ex_decode_ret(struct ex_decoder *d) {
    d->out->kind = d->func->src->is_entry ? EX_EXIT : EX_RET;
    return WW_OK;
}

enum ww_code ww_ex_decode_exit(struct ex_decoder *d) {
    d->out->kind = EX_EXIT;
    return WW_OK;
}

enum ww_code ww_ex_decode_trap(struct ex_decoder *d) {
    d->out->kind = EX_TRAP;
    return WW_OK;
}

enum ww_code ww_ex_decode_nanosleep(struct ex_decoder *d) {
    d->out->kind = EX_SLEEP;
    return ww_ex_operand_slot(d, &d->inst->opnd[0], 4, &d->out->a, &d->out->aw);
}
