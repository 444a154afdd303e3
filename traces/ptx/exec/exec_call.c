/* exec_call.c: activations, calls and returns, and the functions that CUDA's device runtime provides. */
#include "simt.h"
#include <stdlib.h>
#include <string.h>

#define FRAMES_LIMIT ((uint64_t)8 << 30) /* bytes of all activations */

static bool grow_local(struct ex_warp *w, uint32_t bytes) {
    if (bytes <= w->local_capacity) return true;
    uint32_t capacity = w->local_capacity ? 2 * w->local_capacity : 64;
    while (capacity < bytes) capacity *= 2;
    unsigned char *p = calloc(EX_LANES, capacity);
    if (!p) return false;
    for (uint32_t l = 0; l < EX_LANES && w->local; l++)
        memcpy(p + (size_t)l * capacity, w->local + (size_t)l * w->local_capacity, w->local_capacity);
    uint64_t more = (uint64_t)EX_LANES * (capacity - w->local_capacity);
    w->cta->state_bytes += more;
    w->run->state_bytes += more;
    free(w->local);
    w->local = p;
    w->local_capacity = capacity;
    return true;
}

static uint32_t round16(uint32_t v) {
    return (v + 15) / 16 * 16;
}

struct ex_frame *ww_ex_frame_new(struct ex_warp *w, const struct ex_func *func, struct ex_frame *up,
                                 uint32_t lanes) {
    uint32_t base = up ? up->local_base + round16(up->func->local_bytes) : 0;
    size_t bytes = (func->frame_bytes + 63) / 64 * 64;
    uint64_t all = bytes + (uint64_t)EX_LANES * func->param_bytes;
    if (w->run->frame_bytes + all > FRAMES_LIMIT) return NULL;
    struct ex_frame *f = calloc(1, sizeof *f);
    unsigned char *regs = aligned_alloc(64, bytes);
    unsigned char *param = func->param_bytes ? calloc(EX_LANES, func->param_bytes) : NULL;
    if (!f || !regs || (func->param_bytes && !param) || !grow_local(w, base + func->local_bytes)) {
        free(f);
        free(regs);
        free(param);
        return NULL;
    }
    memset(regs, 0, bytes);
    w->run->frame_bytes += all;
    *f = (struct ex_frame){.up = up,
                           .func = func,
                           .lanes = lanes,
                           .depth = up ? up->depth + 1 : 0,
                           .local_base = base,
                           .regs = regs,
                           .param = param};
    return f;
}

/* Lanes leave an activation, or (exit) it and all its callers; it goes with the last of them. */
void ww_ex_frame_leave(struct ex_warp *w, struct ex_frame *frame, uint32_t lanes, bool whole_chain) {
    while (frame) {
        struct ex_frame *up = frame->up;
        frame->lanes &= ~lanes;
        if (frame->lanes == 0) {
            const struct ex_func *f = frame->func;
            w->run->frame_bytes -= (f->frame_bytes + 63) / 64 * 64 + (uint64_t)EX_LANES * f->param_bytes;
            free(frame->regs);
            free(frame->param);
            free(frame);
        }
        if (!whole_chain) return;
        frame = up;
    }
}

/* Copies a call operand of one lane between the caller's place and the callee's parameter storage. */
static void put_argument(struct ex_warp *w, const struct ex_elem *e, struct ex_frame *up,
                         struct ex_frame *callee, const struct ptx_symbol *param, unsigned l) {
    unsigned char *to = callee->param + (size_t)l * callee->func->param_bytes + param->offset;
    if (e->is_param) {
        memcpy(to, up->param + (size_t)l * up->func->param_bytes + e->slot, param->size);
        return;
    }
    uint64_t v = ex_lane(w, e->slot, e->width, l);
    memcpy(to, &v, param->size < 8 ? param->size : 8);
}

static void take_result(struct ex_warp *w, const struct ex_elem *e, struct ex_frame *up,
                        struct ex_frame *callee, const struct ptx_symbol *ret, unsigned l) {
    const unsigned char *from = callee->param + (size_t)l * callee->func->param_bytes + ret->offset;
    if (e->is_param) {
        memcpy(up->param + (size_t)l * up->func->param_bytes + e->slot, from, ret->size);
        return;
    }
    uint64_t v = 0;
    memcpy(&v, from, ret->size < 8 ? ret->size : 8);
    ex_set_lane(w, e->slot, e->width, l, v); /* the caller's registers are current */
}

/* Whether every call variable holds what the callee's parameters ask for. */
static bool operands_fit(const struct ex_inst *i, const struct ex_func *caller, const struct ptx_func *f) {
    if (f->ret_count != i->ret_count || f->ret_count + f->param_count != i->elem_count) return false;
    for (uint32_t n = 0; n < i->elem_count; n++) {
        const struct ptx_symbol *s = n < i->ret_count ? f->ret[n] : f->param[n - i->ret_count];
        if (i->elem[n].is_param && i->elem[n].slot + s->size > caller->param_bytes) return false;
        if (!i->elem[n].is_param && s->size > 8) return false;
    }
    return true;
}

static void enter(struct ex_warp *w, uint32_t s, const struct ex_inst *i, const struct ex_func *callee) {
    struct ex_split *at = &w->split[s];
    struct ex_frame *up = at->frame;
    uint32_t lane = (uint32_t)__builtin_ctz(at->mask);
    uint64_t local = (uint64_t)up->local_base + round16(up->func->local_bytes) + callee->local_bytes;
    if (up->depth + 1 >= SIMT_STACK_LIMIT || local > SIMT_LOCAL_LIMIT) {
        ww_ex_fail(w, lane, WW_EXEC,
                   "stack overflow: %u calls deep, %llu bytes of local memory (limits %u and %u)",
                   up->depth + 1, (unsigned long long)local, SIMT_STACK_LIMIT, SIMT_LOCAL_LIMIT);
        return;
    }
    if (!operands_fit(i, up->func, callee->src)) {
        ww_ex_fail(w, lane, WW_EXEC, "the call's operands do not fit function %s", callee->src->name);
        return;
    }
    struct ex_frame *f = ww_ex_frame_new(w, callee, up, at->mask);
    int32_t join = f ? ww_simt_join_new(w, at->pc + 1, up, at->mask, at->join) : -1;
    if (join < 0) {
        if (f) ww_ex_frame_leave(w, f, at->mask, false);
        ww_ex_fail(w, lane, WW_NOMEM, "memory ran out in a call");
        return;
    }
    for (uint32_t n = i->ret_count; n < i->elem_count; n++)
        for (uint32_t m = at->mask; m; m &= m - 1)
            put_argument(w, &i->elem[n], up, f, callee->src->param[n - i->ret_count],
                         (unsigned)__builtin_ctz(m));
    f->return_pc = at->pc + 1;
    f->call = i;
    at->frame = f;
    at->join = join;
    at->pc = 0;
    ww_simt_use_frame(w, f);
}

static const struct ex_func *indirect_target(struct ex_warp *w, const struct ex_inst *i, unsigned l) {
    const struct ex_kernel *k = w->run->kernel;
    uint64_t v = ex_lane(w, i->a, i->aw, l), n = (v - EX_FUNC_BASE) / EX_FUNC_STEP;
    bool good = v >= EX_FUNC_BASE && v % EX_FUNC_STEP == 0 && n < k->func_count && k->func[n] &&
                !k->func[n]->src->is_entry;
    if (good) return k->func[n];
    ww_ex_fail(w, l, WW_EXEC, "indirect call of 0x%llx, which is not the address of a function",
               (unsigned long long)v);
    return NULL;
}

/* Lanes with the first lane's target go in; the others come here again. */
static void call_indirect(struct ex_warp *w, uint32_t s, const struct ex_inst *i) {
    uint32_t mask = w->split[s].mask, same = 0, pc = w->split[s].pc;
    const struct ex_func *first = NULL;
    for (uint32_t m = mask; m; m &= m - 1) {
        unsigned l = (unsigned)__builtin_ctz(m);
        const struct ex_func *f = indirect_target(w, i, l);
        if (!f) return;
        if (!first) first = f;
        if (f == first) same |= 1u << l;
    }
    if (same != mask) {
        /* the rest keeps the call for later; all join behind it */
        if (!ww_simt_diverge(w, s, mask & ~same, pc, pc, (int32_t)pc + 1)) return;
    }
    enter(w, s, i, first);
}

void ww_ex_call(struct ex_warp *w, uint32_t s, const struct ex_inst *i, uint32_t mask) {
    struct ex_split *at = &w->split[s];
    if (i->fn) { /* a function of the device runtime */
        i->fn(w, i, mask);
        at->pc++;
        return;
    }
    if (mask != at->mask) { /* guarded: the others wait behind the call */
        if (!ww_simt_diverge(w, s, at->mask & ~mask, at->pc + 1, at->pc, (int32_t)at->pc + 1)) return;
    }
    if (i->callee)
        enter(w, s, i, w->run->kernel->func[i->callee->index]);
    else
        call_indirect(w, s, i);
}

void ww_ex_return(struct ex_warp *w, uint32_t s, uint32_t mask) {
    struct ex_split *at = &w->split[s];
    struct ex_frame *f = at->frame, *up = f->up;
    const struct ex_inst *i = f->call;
    if (mask != at->mask && !ww_simt_diverge(w, s, at->mask & ~mask, at->pc + 1, at->pc, -1)) return;
    at = &w->split[s];
    ww_simt_use_frame(w, up);
    for (uint32_t n = 0; n < i->ret_count; n++)
        for (uint32_t m = mask; m; m &= m - 1)
            take_result(w, &i->elem[n], up, f, f->func->src->ret[n], (unsigned)__builtin_ctz(m));
    at->pc = f->return_pc;
    at->frame = up;
    ww_ex_frame_leave(w, f, mask, false);
}

/* ---- vprintf, malloc, free, __assertfail ---- */

static const char *const BUILTIN[] = {"vprintf", "malloc", "free", "__assertfail"};

bool ww_ex_is_builtin(const char *name) {
    for (size_t n = 0; n < sizeof BUILTIN / sizeof *BUILTIN; n++)
        if (strcmp(name, BUILTIN[n]) == 0) return true;
    return false;
}

uint64_t ww_ex_argument(struct ex_warp *w, const struct ex_inst *i, uint32_t n, unsigned l) {
    uint64_t v = 0;
    uint32_t at = i->ret_count + n;
    if (at >= i->elem_count) return 0;
    const struct ex_elem *e = &i->elem[at];
    if (!e->is_param) return ex_lane(w, e->slot, e->width, l);
    uint32_t have = w->frame->func->param_bytes - e->slot;
    memcpy(&v, w->frame->param + (size_t)l * w->frame->func->param_bytes + e->slot, have < 8 ? have : 8);
    return v;
}

static void set_result(struct ex_warp *w, const struct ex_inst *i, unsigned l, uint64_t v, size_t n) {
    if (i->ret_count == 0) return;
    const struct ex_elem *e = &i->elem[0];
    if (!e->is_param) {
        ex_set_lane(w, e->slot, e->width, l, v);
        return;
    }
    uint32_t have = w->frame->func->param_bytes - e->slot;
    memcpy(w->frame->param + (size_t)l * w->frame->func->param_bytes + e->slot, &v, n < have ? n : have);
}

static void device_free(struct ex_warp *w, unsigned l, uint64_t address) {
    if (address && !ww_mem_kernel_free(w->run->mem, address))
        ww_ex_fail(w, l, WW_EXEC, "free of 0x%llx, which malloc did not return", (unsigned long long)address);
}

static void read_text(struct ex_warp *w, unsigned l, uint64_t address, char *out, size_t n) {
    size_t at = 0;
    for (; at + 1 < n; at++) {
        const unsigned char *p = ww_ex_generic(w, l, address + at, 1);
        if (!p || !*p) break;
        out[at] = (char)*p;
    }
    out[at] = 0;
}

static void assert_failed(struct ex_warp *w, const struct ex_inst *i, unsigned l) {
    char what[200], file[200], function[100];
    read_text(w, l, ww_ex_argument(w, i, 0, l), what, sizeof what);
    read_text(w, l, ww_ex_argument(w, i, 1, l), file, sizeof file);
    read_text(w, l, ww_ex_argument(w, i, 3, l), function, sizeof function);
    if (!w->run->failed)
        ww_ex_fail(w, l, WW_EXEC, "assertion '%s' failed at %s:%u in %s", what, file,
                   (unsigned)ww_ex_argument(w, i, 2, l), function);
}

void ww_ex_builtin(EX_ARGS) {
    const char *name = i->callee->name;
    for (uint32_t m = mask; m && !w->run->failed; m &= m - 1) {
        unsigned l = (unsigned)__builtin_ctz(m);
        uint64_t a = ww_ex_argument(w, i, 0, l);
        switch (name[0]) {
        case 'v':
            ww_ex_vprintf(w, l, a, ww_ex_argument(w, i, 1, l));
            set_result(w, i, l, 0, 4);
            break;
        case 'm':
            set_result(w, i, l, ww_mem_kernel_malloc(w->run->mem, a), 8);
            break;
        case 'f':
            device_free(w, l, a);
            break;
        default:
            assert_failed(w, i, l);
            break;
        }
    }
}
