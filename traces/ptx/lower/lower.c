/* lower.c: a kernel and what it calls, from PTX to machine instructions. */
#include "lower.h"
#include <string.h>

#define ARENA_LIMIT ((size_t)1 << 30)

/* A constant that some use wants in registers is moved there where it is defined. */
static void lower_constant(struct lower *l, const struct ptx_inst *i, struct lower_value *v) {
    if (!v->needs_reg) return;
    struct lower_reg dst = ww_lower_dest(l, &i->opnd[0]);
    struct lower_src s = {.kind = L_CONST, .is_imm = v->is_imm, .imm = v->imm};
    for (unsigned k = 0; k < dst.n; k++) {
        struct lower_src w = ww_lower_word(&s, k);
        ww_lower_put(l, WW_OP_INT, l->arch == VOLTA && k ? "IMAD.MOV.U32" : "MOV", ww_lower_part(dst, k), &w,
                     1);
    }
    v->in_reg = true;
}

static void (*const rows[PTX_OP_COUNT])(struct lower *l, const struct ptx_inst *i) = {
#define X(id, mnemonic, signature, types, places, words, flags, decode, pick, code)                            \
    [PTX_##id] = ww_lower_op_##code,
#include "../front/ptx_op.def"
#undef X
};

void ww_lower_one(struct lower *l, const struct ptx_inst *i) {
    if (i->dst_count == 1 && i->opnd[0].kind == PTX_O_REG) {
        struct lower_value *v = &l->value[i->opnd[0].reg];
        if (v->deferred && v->def == (uint32_t)(i - l->func->inst)) return;
        if (v->is_const && v->def == (uint32_t)(i - l->func->inst)) {
            lower_constant(l, i, v);
            return;
        }
    }
    rows[i->op](l, i);
}

static const struct lower_reg nowhere = {.group = -1};

/* What every kernel begins with: the stack pointer; on sm_70 ptxas adds a shuffle that no lane takes part in.
 */
static void prologue(struct lower *l) {
    struct lower_src none = {.kind = L_NONE};
    if (l->func->is_entry) ww_lower_put(l, WW_OP_INT, "MOV", nowhere, &none, 1);
    if (l->arch == VOLTA) ww_lower_put(l, WW_OP_NOP, "SHFL.IDX", nowhere, NULL, 0);
}

static void synchronise(struct lower *l, uint32_t at) {
    if (l->sync_at[at] && l->arch == VOLTA) ww_lower_put(l, WW_OP_BRANCH, "BSYNC", nowhere, NULL, 0);
    if (l->sync_at[at] && l->arch == MAXWELL) ww_lower_put(l, WW_OP_BRANCH, "SYNC", nowhere, NULL, 0);
}

static void open_region(struct lower *l, uint32_t at) {
    for (unsigned k = 0; k < l->sync_before[at]; k++) {
        if (l->arch == VOLTA) ww_lower_put(l, WW_OP_BRANCH, "BMOV.32.CLEAR", nowhere, NULL, 0);
        ww_lower_put(l, WW_OP_BRANCH, l->arch == VOLTA ? "BSSY" : "SSY", nowhere, NULL, 0);
    }
}

/* Instructions around the PTX instruction that are not subject to its guard. */
static void unguarded(struct lower *l, uint32_t at, void (*emit)(struct lower *, uint32_t)) {
    uint32_t first = l->inst_count;
    emit(l, at);
    for (uint32_t m = first; m < l->inst_count; m++) l->inst[m].src_count = 0;
}

static void emit_all(struct lower *l) {
    const struct ptx_func *f = l->func;
    prologue(l);
    for (uint32_t i = 0; i < f->inst_count && !l->failed; i++) {
        const struct ptx_inst *in = &f->inst[i];
        l->cur = i;
        if (!l->reachable[in->block]) continue;
        if (i == l->cfg.block[in->block].first) { /* constants in registers of other blocks do not reach here */
            uint32_t keep = 0;
            for (uint32_t k = 0; k < l->cache_count; k++)
                if (l->cache[k].block == 0) l->cache[keep++] = l->cache[k];
            l->cache_count = keep;
        }
        unguarded(l, i, synchronise);
        unguarded(l, i, open_region);
        if (l->live[i]) ww_lower_one(l, in);
    }
}

static struct ww_operand physical(const struct lower *l, struct lower_reg r) {
    const struct lower_group *g = &l->group[r.group];
    uint32_t base = g->phys < 0 ? 0 : (uint32_t)g->phys;
    return (struct ww_operand){.reg = (uint16_t)((g->pred ? WW_REG_PRED : 0) + base + r.off), .n = r.n};
}

static void finish_inst(const struct lower *l, const struct lower_inst *m, struct ptx_machine *out,
                        uint32_t pc) {
    const struct ptx_inst *i = &l->func->inst[m->ptx];
    *out = (struct ptx_machine){
        .access_part = m->access_part, .access_offset = m->access_offset, .mnemonic = m->name};
    out->inst = (struct ww_inst){.pc = pc,
                                 .op = m->op,
                                 .space = m->space,
                                 .width = m->width,
                                 .barrier = m->barrier,
                                 .barrier_threads = m->barrier_threads,
                                 .flags = m->flags,
                                 .bytes = m->bytes,
                                 .file = i->file,
                                 .line = i->line};
    for (unsigned k = 0; k < m->dst_count; k++) out->inst.dst[out->inst.dst_count++] = physical(l, m->dst[k]);
    for (unsigned k = 0; k < m->src_count; k++) out->inst.src[out->inst.src_count++] = physical(l, m->src[k]);
}

/* Copies into the module: machine code in layout order and its range for each PTX instruction. */
static bool finish(struct lower *l, struct ptx_module *module, uint32_t *pc) {
    struct ptx_func *f = l->func;
    f->machine = ww_arena_array(&module->arena, l->inst_count, sizeof *f->machine);
    if (!f->machine) return false;
    f->machine_count = l->inst_count;
    uint32_t at = 0, step = l->arch == VOLTA ? 16 : 8;
    for (uint32_t i = 0; i < f->inst_count; i++) {
        f->inst[i].lower_first = at;
        while (at < l->inst_count && l->inst[at].ptx == i) {
            finish_inst(l, &l->inst[at], &f->machine[at], *pc);
            if (l->inst[at].op == WW_OP_TENSOR) { /* made for it */
                f->machine[at].mnemonic = ww_arena_strdup(&module->arena, l->inst[at].name);
                if (!f->machine[at].mnemonic) return false;
            }
            *pc += step;
            at++;
        }
        f->inst[i].lower_count = at - f->inst[i].lower_first;
    }
    *pc = (*pc + 127) / 128 * 128;
    f->spill_bytes = l->spill_bytes;
    return at == l->inst_count;
}

static bool lower_func(struct ptx_module *module, struct ptx_func *f, const struct ptx_lower_options *o,
                       struct ww_arena *arena, uint32_t *pc, uint32_t *call_words) {
    struct lower l = {.arena = arena,
                      .module = module,
                      .func = f,
                      .sm = o->machine ? o->machine : o->arch,
                      .arch = o->arch >= 70   ? VOLTA
                              : o->arch >= 50 ? MAXWELL
                                              : FERMI};
    uint32_t most = l.arch == FERMI ? 63 : 255;
    l.max_registers = o->max_registers && o->max_registers < most ? o->max_registers : most;
    if (l.max_registers < 16) l.max_registers = 16;
    memset(l.sreg_group, 0xff, sizeof l.sreg_group);
    if (!ww_lower_analyse(&l) || !ww_lower_values(&l) || !ww_lower_flow(&l)) return false;
    emit_all(&l);
    if (l.failed || !ww_lower_allocate(&l) || !finish(&l, module, pc)) return false;
    f->machine_registers = l.words_used;
    *call_words = l.call_words;
    return true;
}

/* Functions that the kernel can reach, itself first; an indirect call reaches every function with a body. */
static uint32_t reach(const struct ptx_module *m, struct ptx_func *kernel, struct ptx_func **list, bool *seen) {
    uint32_t count = 0;
    list[count++] = kernel;
    seen[kernel->index] = true;
    for (uint32_t k = 0; k < count; k++)
        for (uint32_t i = 0; i < list[k]->inst_count; i++) {
            const struct ptx_inst *in = &list[k]->inst[i];
            if (in->op != PTX_CALL) continue;
            for (size_t f = in->callee ? in->callee->func->index : 0; f < m->func_count; f++) {
                struct ptx_func *g = m->func[f];
                if (!seen[f] && g->inst_count && !g->is_entry) {
                    seen[f] = true;
                    list[count++] = g;
                }
                if (in->callee) break;
            }
        }
    return count;
}

/* Registers of a kernel: its own, or those live across its calls with the callees' on top. */
static uint32_t with_callees(struct ptx_func **list, const uint32_t *call_words, uint32_t count) {
    uint32_t deepest = 0, across = call_words[0];
    for (uint32_t k = 1; k < count; k++) {
        if (list[k]->machine_registers > deepest) deepest = list[k]->machine_registers;
        if (call_words[k] > across) across = call_words[k];
    }
    uint32_t own = list[0]->machine_registers;
    return own > across + deepest ? own : across + deepest;
}

/* A kernel whose warpgroups take registers from one another begins with what an SM's 65536 give the threads
 * that it declares, in steps of 8; others are not bound by that. */
static uint32_t given_at_start(const struct ptx_func *f) {
    uint64_t threads = f->maxntid[0] ? (uint64_t)f->maxntid[0] : 0;
    for (int k = 1; k < 3; k++) threads *= f->maxntid[k] ? f->maxntid[k] : 1;
    bool moves = false;
    for (uint32_t k = 0; k < f->inst_count && !moves; k++) moves = f->inst[k].op == PTX_SETMAXNREG;
    uint64_t warpgroups = (threads + 127) / 128;
    if (!moves || warpgroups == 0 || warpgroups > 8) return UINT32_MAX;
    return (uint32_t)(65536 / (warpgroups * 128) / 8 * 8);
}

enum ww_code ww_ptx_lower(struct ptx_module *module, struct ptx_func *kernel,
                          const struct ptx_lower_options *options, struct ww_error *error) {
    struct ww_arena arena;
    if (!kernel->inst_count)
        return ww_fail(error, WW_USAGE, module->name, "function '%s' has no body", kernel->name);
    ww_arena_init(&arena, ARENA_LIMIT);
    struct ptx_func **list = ww_arena_array(&arena, module->func_count, sizeof(struct ptx_func *));
    bool *seen = ww_arena_array(&arena, module->func_count, sizeof *seen);
    uint32_t *call_words = ww_arena_array(&arena, module->func_count, sizeof *call_words);
    bool good = list && seen && call_words;
    uint32_t count = good ? reach(module, kernel, list, seen) : 0, pc = 0;
    for (uint32_t k = 0; k < count && good; k++) {
        struct ww_arena scratch;
        ww_arena_init(&scratch, ARENA_LIMIT);
        good = lower_func(module, list[k], options, &scratch, &pc, &call_words[k]);
        ww_arena_free(&scratch);
    }
    if (good) {
        uint32_t most = options->arch < 50 ? 63 : 255, n = with_callees(list, call_words, count);
        n += options->arch >= 70 ? 2 : 0; /* two that the driver reserves on sm_70 */
        n = n > most ? most : n;
        kernel->machine_registers = n > given_at_start(kernel) ? given_at_start(kernel) : n;
    }
    ww_arena_free(&arena);
    return good ? WW_OK : ww_fail_nomem(error, "lowering of a kernel (1 GiB at most)");
}
