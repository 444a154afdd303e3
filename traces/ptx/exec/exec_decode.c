/* exec_decode.c: PTX instructions to ex_inst, once per kernel. */
#include "exec_decode.h"
#include "../../../estimator/base/buf.h"
#include "simt.h"
#include <stdlib.h>
#include <string.h>

#define FRAME_LIMIT ((uint64_t)64 << 20)

enum ww_code ww_ex_decode_fail(const struct ex_decoder *d, enum ww_code code, const char *what) {
    char where[300];
    struct ww_buf text = {0};
    snprintf(where, sizeof where, "%s:%u", d->kernel->module->name, d->inst ? d->inst->text_line : 0);
    if (d->inst) ww_ptx_print_inst(d->func->src, d->inst, &text);
    enum ww_code result =
        ww_fail(d->error, code, where, "%s: '%.300s' in %s", what, text.p ? text.p : "?", d->func->src->name);
    ww_buf_free(&text);
    return result;
}

static uint8_t lane_width(uint32_t bytes) {
    return bytes <= 4 ? 4 : bytes <= 8 ? 8 : 16;
}

/* A slot whose lanes all hold the constant; equal constants are not looked for beyond the last few. */
static enum ww_code constant_slot(struct ex_decoder *d, uint64_t bits, uint8_t width, uint32_t *slot) {
    struct ex_kernel *k = d->kernel;
    uint32_t bytes = width == 0 ? 64 : EX_LANES * width;
    unsigned char lanes[16 * EX_LANES] = {0};
    uint32_t narrow = width ? (uint32_t)bits : bits ? EX_ALL : 0;
    for (unsigned l = 0; l < (width ? EX_LANES : 1); l++) {
        if (width > 4)
            memcpy(lanes + 8 * l, &bits, 8);
        else
            memcpy(lanes + 4 * l, &narrow, 4);
    }
    for (uint32_t back = 1; back <= 24; back++) {
        uint32_t at = k->constant_bytes - back * bytes;
        if (back * bytes > k->constant_bytes) break;
        if (at % 64 == 0 && memcmp(k->constant + at, lanes, bytes) == 0) {
            *slot = at | EX_CONST;
            return WW_OK;
        }
    }
    if (k->constant_bytes + bytes > k->constant_capacity) {
        uint32_t capacity = k->constant_capacity ? 2 * k->constant_capacity : 1u << 14;
        if (capacity > 1u << 30) return ww_ex_decode_fail(d, WW_UNSUPPORTED, "too many constants");
        unsigned char *p = aligned_alloc(64, capacity);
        if (!p) return ww_fail_nomem(d->error, "kernel constants");
        if (k->constant) memcpy(p, k->constant, k->constant_bytes);
        free(k->constant);
        k->constant = p;
        k->constant_capacity = capacity;
    }
    memcpy(k->constant + k->constant_bytes, lanes, bytes);
    *slot = k->constant_bytes | EX_CONST;
    k->constant_bytes += bytes;
    return WW_OK;
}

static enum ww_code reg_slot(struct ex_decoder *d, int32_t reg, uint32_t *slot, uint8_t *width) {
    struct ex_func *f = d->func;
    if (f->slot[reg] == EX_NO_SLOT) {
        uint32_t bytes = f->width[reg] == 0 ? 64 : EX_LANES * f->width[reg];
        if (f->frame_bytes + (uint64_t)bytes > FRAME_LIMIT)
            return ww_ex_decode_fail(d, WW_UNSUPPORTED, "too many registers");
        f->slot[reg] = f->frame_bytes;
        f->frame_bytes += bytes;
    }
    *slot = f->slot[reg];
    *width = f->width[reg];
    return WW_OK;
}

/* The number that a symbol stands for: an address in its own space. */
static enum ww_code symbol_value(struct ex_decoder *d, const struct ptx_symbol *s, uint64_t *value) {
    *value = s->offset;
    if (s->kind == PTX_SYM_FUNC)
        *value = EX_FUNC_BASE + (uint64_t)s->func->index * EX_FUNC_STEP;
    else if (s->space == PTX_S_SHARED && s->size == 0)
        *value = d->kernel->dynamic_at;
    else if (s->space == PTX_S_GLOBAL && s->id < d->kernel->global_count)
        *value = d->kernel->global[s->id];
    else if (s->space == PTX_S_GLOBAL || s->space == PTX_S_TEX)
        return ww_ex_decode_fail(d, WW_UNSUPPORTED, "symbol");
    else if (s->space == PTX_S_PARAM && !ww_ex_is_kernel_param(d, s))
        return ww_ex_decode_fail(d, WW_UNSUPPORTED, "address of a device function's parameter");
    return WW_OK;
}

enum ww_code ww_ex_operand_slot(struct ex_decoder *d, const struct ptx_operand *o, uint8_t want, uint32_t *slot,
                                uint8_t *width) {
    uint64_t value;
    *width = want;
    switch (o->kind) {
    case PTX_O_REG:
        return reg_slot(d, o->reg, slot, width);
    case PTX_O_IMM:
        return constant_slot(d, (uint64_t)o->imm, want, slot);
    case PTX_O_NONE:
        *slot = d->func->scratch;
        return WW_OK;
    case PTX_O_SYM:
        if (o->sym->kind == PTX_SYM_VAR && o->sym->space == PTX_S_LOCAL) {
            if (d->inst->op != PTX_MOV) return ww_ex_decode_fail(d, WW_INPUT, "operand does not fit");
            d->out->imm = (int64_t)o->sym->offset + o->imm;
            *slot = EX_NO_SLOT;
            return WW_OK;
        }
        WW_TRY(symbol_value(d, o->sym, &value));
        return constant_slot(d, value + (uint64_t)o->imm, want, slot);
    case PTX_O_SREG:
        d->out->type2 = o->sreg;
        d->out->imm = o->imm;
        d->out->fn = ww_ex_read_sreg;
        *slot = EX_NO_SLOT;
        return WW_OK;
    default:
        return ww_ex_decode_fail(d, WW_INPUT, "operand does not fit");
    }
}

bool ww_ex_is_kernel_param(const struct ex_decoder *d, const struct ptx_symbol *s) {
    const struct ptx_func *f = d->func->src;
    if (!f->is_entry) return false;
    for (uint32_t n = 0; n < f->param_count; n++)
        if (f->param[n] == s) return true;
    return false;
}

/* [reg + imm], [symbol + imm], [imm] into i->a, i->aw, i->imm, i->space. */
enum ww_code ww_ex_address_operand(struct ex_decoder *d, const struct ptx_operand *o, uint32_t *slot,
                                   uint8_t *width, int64_t *offset, uint8_t *space) {
    *slot = EX_NO_SLOT;
    *width = 8;
    *offset = o->imm;
    if (o->reg >= 0) {
        WW_TRY(reg_slot(d, o->reg, slot, width));
        return *width == 4 || *width == 8 ? WW_OK
                                          : ww_ex_decode_fail(d, WW_INPUT, "address register of a wrong type");
    }
    if (!o->sym) return WW_OK;
    uint64_t value = o->sym->offset;
    bool is_call = o->sym->space == PTX_S_PARAM && !ww_ex_is_kernel_param(d, o->sym);
    if (is_call)
        *space = EX_S_CALL;
    else if (o->sym->space != PTX_S_LOCAL)
        WW_TRY(symbol_value(d, o->sym, &value));
    if (*space == PTX_S_GENERIC) *space = o->sym->space; /* a plain name: its own space */
    *offset += (int64_t)value;
    return WW_OK;
}

/* Lane width that a source or destination must have; 0: predicate; 255: whatever the register has. */
static uint8_t want_width(const struct ptx_inst *p, uint32_t n) {
    uint32_t bytes = ww_ptx_type_bytes((enum ptx_type)p->type[0]);
    if (n == 1 && n < p->dst_count) return 0; /* d|p, p|q */
    switch (ww_ptx_op_place(p, n)) {
    case 'p':
        return 0;
    case 'v':
        return p->sub == PTX_SUB_BALLOT ? 4 : 0;
    case 'u':
    case 'c':
        return 4;
    case 'a':
    case 'b':
    case 'g':
        return 255;
    case '1':
        return lane_width(ww_ptx_type_bytes((enum ptx_type)p->type[1]));
    case 'w':
        if (p->mods & PTX_M_WIDE) return lane_width(2 * bytes);
        break;
    default:
        break;
    }
    return p->type[0] == PTX_T_PRED ? 0 : lane_width(bytes);
}

static bool width_fits(uint8_t have, uint8_t want) {
    return want == 255 ? have == 4 || have == 8 : have == want;
}

/* Where the next operand goes: d and d2, then a, b, c, e in order. */
static enum ww_code plain_operand(struct ex_decoder *d, uint32_t n, uint32_t src) {
    const struct ptx_operand *o = &d->inst->opnd[n];
    struct ex_inst *i = d->out;
    uint8_t want = want_width(d->inst, n), unused;
    uint8_t *const width[] = {&i->aw, &i->bw, &i->cw, &unused};
    uint32_t *const slot[] = {&i->a, &i->b, &i->c, &i->e};
    bool dst = n < d->inst->dst_count;
    if (dst && n == 1 && o->kind == PTX_O_NONE) return WW_OK;
    uint32_t *to = dst ? (n ? &i->d2 : &i->d) : slot[src];
    uint8_t *at = dst ? (n ? &unused : &i->dw) : width[src];
    WW_TRY(ww_ex_operand_slot(d, o, want == 255 ? 8 : want, to, at));
    if (o->kind == PTX_O_REG && !width_fits(*at, want))
        return ww_ex_decode_fail(d, WW_INPUT, "a register's size does not fit the instruction's type");
    if (o->neg && !dst) i->neg |= (uint8_t)(1u << src);
    return WW_OK;
}

static enum ww_code plain_operands(struct ex_decoder *d) {
    const struct ptx_inst *p = d->inst;
    for (uint32_t n = 0, src = 0; n < p->opnd_count && src < 4; n++) {
        if (ww_ptx_op_place(p, n) == 'i') {
            d->out->imm = p->opnd[n].imm & 0xff;
            continue;
        }
        WW_TRY(plain_operand(d, n, src));
        src += n >= p->dst_count;
    }
    return WW_OK;
}

static const struct {
    enum ww_code (*decode)(struct ex_decoder *d);
    ex_fn (*pick)(struct ex_inst *i);
} rows[PTX_OP_COUNT] = {
#define X(id, mnemonic, signature, types, places, words, flags, decode, pick, lower)                           \
    [PTX_##id] = {ww_ex_decode_##decode, ww_ex_pick_##pick},
#include "../front/ptx_op.def"
#undef X
};

EX_PICK(none, NULL)

enum ww_code ww_ex_choose(struct ex_decoder *d) {
    d->out->fn = rows[d->inst->op].pick(d->out);
    return d->out->fn ? WW_OK
                      : ww_ex_decode_fail(d, WW_UNSUPPORTED, "this form of the instruction is not supported");
}

enum ww_code ww_ex_decode_plain(struct ex_decoder *d) {
    WW_TRY(plain_operands(d));
    return d->out->fn ? WW_OK : ww_ex_choose(d); /* fn is there for special registers */
}

/* Its operands mean nothing to the executor. */
enum ww_code ww_ex_decode_bare(struct ex_decoder *d) {
    return ww_ex_choose(d);
}

static enum ww_code one_instruction(struct ex_decoder *d) {
    const struct ptx_inst *p = d->inst;
    struct ex_inst *i = d->out;
    *i = (struct ex_inst){.op = p->op,
                          .sub = p->sub,
                          .round = p->round,
                          .cmp = p->cmp,
                          .boolop = p->boolop,
                          .space = p->space,
                          .vec = p->vec,
                          .type = p->type[0],
                          .type2 = p->type[1],
                          .type3 = p->type[2],
                          .guard_neg = p->guard_neg,
                          .guard = EX_NO_SLOT,
                          .mods = p->mods,
                          .d = EX_NO_SLOT,
                          .d2 = EX_NO_SLOT,
                          .a = EX_NO_SLOT,
                          .b = EX_NO_SLOT,
                          .c = EX_NO_SLOT,
                          .e = EX_NO_SLOT,
                          .members = EX_NO_SLOT,
                          .reconv = p->reconv,
                          .src = p};
    uint8_t width;
    if (p->guard >= 0) WW_TRY(reg_slot(d, p->guard, &i->guard, &width));
    return rows[p->op].decode(d);
}

static enum ww_code decode_func(struct ex_decoder *d, const struct ptx_func *src, struct ex_func *f) {
    struct ww_arena *arena = &d->kernel->arena;
    f->src = src;
    f->count = src->inst_count;
    f->inst = ww_arena_array(arena, (size_t)f->count + 1, sizeof *f->inst);
    f->slot = ww_arena_array(arena, src->reg_count, sizeof *f->slot);
    f->width = ww_arena_array(arena, src->reg_count, 1);
    if (!f->inst || !f->slot || !f->width) return ww_fail_nomem(d->error, "decoding a kernel");
    f->scratch = 0;
    f->frame_bytes = EX_LANES * 16; /* sink of "_" */
    f->local_bytes = (uint32_t)src->local_bytes;
    f->param_bytes = (uint32_t)(src->is_entry ? src->frame_param_bytes : src->param_bytes);
    for (uint32_t r = 0; r < src->reg_count; r++) {
        f->slot[r] = EX_NO_SLOT;
        f->width[r] =
            src->reg[r].type == PTX_T_PRED ? 0 : lane_width(ww_ptx_type_bytes((enum ptx_type)src->reg[r].type));
    }
    d->func = f;
    for (uint32_t n = 0; n < f->count; n++) {
        d->inst = &src->inst[n];
        d->out = &f->inst[n];
        WW_TRY(one_instruction(d));
    }
    /* running off the end returns */
    f->inst[f->count] = (struct ex_inst){.kind = src->is_entry ? EX_EXIT : EX_RET, .guard = EX_NO_SLOT};
    d->inst = NULL;
    return WW_OK;
}

/* Where dynamic shared memory begins: behind the static variables, aligned for every extern array. */
static uint32_t dynamic_start(const struct ptx_module *m, const struct ptx_func *entry) {
    uint64_t align = 16;
    for (size_t n = 0; n < m->symbol_count; n++) {
        const struct ptx_symbol *s = m->symbol[n];
        if (s->kind == PTX_SYM_VAR && s->space == PTX_S_SHARED && s->size == 0 && s->align > align)
            align = s->align;
    }
    return (uint32_t)((entry->shared_bytes + align - 1) / align * align);
}

enum ww_code ww_ex_kernel_new(const struct ptx_module *module, const struct ptx_func *entry,
                              const uint64_t *global, uint32_t global_count, struct ex_kernel **out,
                              struct ww_error *error) {
    struct ex_kernel *k = calloc(1, sizeof *k);
    if (!k) return ww_fail_nomem(error, "decoding a kernel");
    ww_arena_init(&k->arena, (size_t)2 << 30);
    k->module = module;
    k->global = global;
    k->global_count = global_count;
    k->dynamic_at = dynamic_start(module, entry);
    struct ex_decoder d = {.kernel = k, .error = error};
    enum ww_code code = ww_ex_find_reachable(&d, entry);
    for (size_t n = 0; code == WW_OK && n < k->func_count; n++)
        if (k->func[n]) code = decode_func(&d, module->func[n], k->func[n]);
    if (code != WW_OK) {
        ww_ex_kernel_free(k);
        return code;
    }
    k->entry = k->func[entry->index];
    *out = k;
    return WW_OK;
}

void ww_ex_kernel_free(struct ex_kernel *k) {
    if (!k) return;
    ww_arena_free(&k->arena);
    free(k->constant);
    free(k);
}
