/* parse_inst.c: instructions. */
#include "front.h"
#include <string.h>

#define SNIPPET 90

enum ww_code ww_ptx_unsupported(struct ptx_parser *p, const struct ptx_token *at, const char *fmt, ...) {
    char text[200];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    const char *s = p->inst_text;
    int n = 0;
    while (s && n < SNIPPET && s + n < p->lex.end && s[n] != ';' && s[n] != '\n') n++;
    if (!n) return ww_ptx_fail_at(p, at, WW_UNSUPPORTED, "%s", text);
    return ww_ptx_fail_at(p, at, WW_UNSUPPORTED, "%s in '%.*s'", text, n, s);
}

static uint8_t doubled(uint8_t type) {
    return type == PTX_T_S16   ? PTX_T_S32
           : type == PTX_T_U16 ? PTX_T_U32
           : type == PTX_T_S32 ? PTX_T_S64
                               : PTX_T_U64;
}

uint8_t ww_ptx_operand_type(const struct ptx_inst *i, uint32_t n) {
    switch (ww_ptx_op_place(i, n)) {
    case '1':
    case 'b':
    case 'c':
        return i->type[1];
    case 'w':
        return i->mods & PTX_M_WIDE ? doubled(i->type[0]) : i->type[0];
    case 'u':
    case 'i':
        return PTX_T_U32;
    case 'g':
        return PTX_T_U64;
    case 'l':
        return PTX_T_B64;
    case 't':
        return PTX_T_B32;
    default:
        return i->type[0];
    }
}

/* Puts a mov in front that brings the operand into a register of its own. */
static enum ww_code move_operand(struct ptx_parser *p, struct ptx_operand *o, const char *name, uint8_t type,
                                 uint32_t line) {
    int32_t reg;
    struct ptx_operand *opnd = ww_arena_array(&p->m->arena, 2, sizeof *opnd);
    if (!opnd || !ww_ptx_reg_new(p, name, type, &reg)) return ww_ptx_nomem(p);
    struct ptx_inst *mov = ww_ptx_inst_add(p, line);
    if (!mov) return ww_ptx_nomem(p);
    opnd[0] = (struct ptx_operand){.kind = PTX_O_REG, .reg = reg};
    opnd[1] = *o;
    mov->op = PTX_MOV;
    mov->type[0] = type;
    mov->dst_count = 1;
    mov->opnd_count = 2;
    mov->opnd = opnd;
    *o = opnd[0];
    return WW_OK;
}

/* A special register outside of mov. */
static enum ww_code move_special(struct ptx_parser *p, struct ptx_operand *o, uint32_t line) {
    bool wide = o->sreg == PTX_SR_CLOCK64 || o->sreg == PTX_SR_GLOBALTIMER;
    return move_operand(p, o, "%special", wide ? PTX_T_U64 : PTX_T_U32, line);
}

/* The address of a local variable outside of mov: through a register of its own too. */
static enum ww_code move_local(struct ptx_parser *p, const struct ptx_inst *i, uint32_t n,
                               struct ptx_operand *o, uint32_t line) {
    uint8_t type = ww_ptx_type_bytes((enum ptx_type)ww_ptx_operand_type(i, n)) > 4 ? PTX_T_U64 : PTX_T_U32;
    return move_operand(p, o, "%address", type, line);
}

static bool is_local(const struct ptx_operand *o) {
    return o->kind == PTX_O_SYM && o->sym->kind == PTX_SYM_VAR && o->sym->space == PTX_S_LOCAL;
}

/* Letter of operand n in the signature where it needs a parser of its own, else 0. */
static char want_of(const struct ptx_inst *i, uint32_t n) {
    if (i->bulk & PTX_BULK_TENSOR) return n == (i->bulk & PTX_BULK_TX ? 1u : 0u) ? 'T' : 0;
    for (const char *s = ww_ptx_ops[i->op].signature; *s; s++) {
        if (*s == '/' || *s == '?') continue;
        if (n-- == 0) return *s == 'l' || *s == 'L' || *s == 'T' ? *s : 0;
    }
    return 0;
}

/* Destinations that the signature of the op has, without an optional second one. */
static uint8_t shape_dsts(const struct ptx_inst *i) {
    const char *shape = ww_ptx_ops[i->op].signature;
    uint8_t n = 0;
    if (i->op == PTX_BAR || i->op == PTX_BARRIER) return i->sub >= PTX_SUB_RED_POPC && i->sub <= PTX_SUB_RED_OR;
    if (i->op == PTX_WMMA) return i->sub != PTX_SUB_WMMA_STORE_D;
    if (i->op == PTX_WGMMA) return i->sub == PTX_SUB_WGMMA_MMA;
    if (i->op == PTX_TCGEN05) return i->sub == PTX_SUB_TC_LD;
    if (i->op == PTX_MBARRIER) return 0; /* decided by the number of operands: check.c */
    while (shape[n] && shape[n] != '/') n++;
    return n;
}

static enum ww_code parse_operands(struct ptx_parser *p, struct ptx_inst *i, struct ptx_operand *opnd,
                                   struct ptx_token *at) {
    uint8_t n = 0, dsts = shape_dsts(i);
    i->dst_count = dsts;
    bool more = !ww_ptx_is_punct(p, ';');
    while (more) {
        if (n == PTX_OPERAND_MAX)
            return ww_ptx_unsupported(p, &p->tok, "more than %d operands", PTX_OPERAND_MAX);
        at[n] = p->tok;
        WW_TRY(ww_ptx_parse_operand(p, &opnd[n], ww_ptx_operand_type(i, n), want_of(i, n)));
        n++;
        if (n == 1 && dsts == 1 && ww_ptx_is_punct(p, '|')) {
            WW_TRY(ww_ptx_next(p));
            i->dst_count = 2;
            continue;
        }
        WW_TRY(ww_ptx_take_if(p, ',', &more));
    }
    i->opnd_count = n;
    return WW_OK;
}

static enum ww_code finish(struct ptx_parser *p, struct ptx_inst *i, const struct ptx_token *op,
                           struct ptx_operand *opnd, const struct ptx_token *at) {
    for (uint8_t k = i->dst_count; k < i->opnd_count && i->op != PTX_MOV; k++) {
        if (opnd[k].kind == PTX_O_SREG) WW_TRY(move_special(p, &opnd[k], op->line));
        if (is_local(&opnd[k])) WW_TRY(move_local(p, i, k, &opnd[k], op->line));
    }
    i->opnd = ww_arena_array(&p->m->arena, i->opnd_count, sizeof *opnd);
    if (!i->opnd) return ww_ptx_nomem(p);
    memcpy(i->opnd, opnd, i->opnd_count * sizeof *opnd);
    WW_TRY(ww_ptx_check_inst(p, i, op));
    for (uint8_t k = 0; k < i->opnd_count; k++)
        if (i->opnd[k].kind == PTX_O_LABEL) WW_TRY(ww_ptx_label_use(p, &at[k], &i->opnd[k].imm, NULL));
    struct ptx_inst *slot = ww_ptx_inst_add(p, op->line);
    if (!slot) return ww_ptx_nomem(p);
    i->text_line = slot->text_line;
    i->line = slot->line;
    i->file = slot->file;
    *slot = *i;
    return WW_OK;
}

enum ww_code ww_ptx_parse_inst(struct ptx_parser *p, const struct ptx_token *op, int32_t guard,
                               bool guard_neg) {
    const struct ptx_name *e = ww_ptx_name_find(p, NAME_OP, op->p, op->n);
    p->inst_text = op->p;
    if (!e)
        return ww_ptx_unsupported(p, op, "instruction '%.*s' is not supported", (int)(op->n < 40 ? op->n : 40),
                                  op->p);
    struct ptx_inst i = {
        .op = (uint8_t)e->value, .vec = 1, .guard = guard, .guard_neg = guard_neg, .reconv = -1};
    while (p->tok.kind == TOK_DOT) {
        WW_TRY(ww_ptx_modifier(p, &i, &p->tok));
        WW_TRY(ww_ptx_next(p));
    }
    WW_TRY(ww_ptx_check_modifiers(p, &i, op));
    struct ptx_operand opnd[PTX_OPERAND_MAX] = {{0}};
    struct ptx_token at[PTX_OPERAND_MAX];
    if (i.op == PTX_CALL) {
        WW_TRY(ww_ptx_parse_call(p, &i));
        struct ptx_inst *slot = ww_ptx_inst_add(p, op->line);
        if (!slot) return ww_ptx_nomem(p);
        i.text_line = slot->text_line;
        i.line = slot->line;
        i.file = slot->file;
        *slot = i;
    } else {
        WW_TRY(parse_operands(p, &i, opnd, at));
        WW_TRY(finish(p, &i, op, opnd, at));
    }
    p->inst_text = NULL;
    return ww_ptx_take(p, ';');
}

/* "(a, b)" into opnd[*n ...]. */
static enum ww_code parse_call_list(struct ptx_parser *p, struct ptx_operand *opnd, uint8_t *n) {
    WW_TRY(ww_ptx_take(p, '('));
    bool more = !ww_ptx_is_punct(p, ')');
    while (more) {
        struct ptx_token at = p->tok;
        if (*n >= 250) return ww_ptx_unsupported(p, &at, "more than 250 operands");
        struct ptx_operand *o = &opnd[*n];
        WW_TRY(ww_ptx_parse_operand(p, o, PTX_T_B64, 0));
        bool param = o->kind == PTX_O_SYM && o->sym->kind == PTX_SYM_VAR && o->sym->space == PTX_S_PARAM;
        bool pred = o->kind == PTX_O_REG && p->func->reg[o->reg].type == PTX_T_PRED;
        if (pred || o->neg || (o->kind != PTX_O_REG && o->kind != PTX_O_IMM && !param))
            return ww_ptx_fail_at(p, &at, WW_INPUT, "expected a .param variable, register or constant");
        ++*n;
        WW_TRY(ww_ptx_take_if(p, ',', &more));
    }
    return ww_ptx_take(p, ')');
}

static enum ww_code parse_callee(struct ptx_parser *p, struct ptx_inst *i, struct ptx_operand *opnd,
                                 uint8_t *n) {
    struct ptx_token at = p->tok;
    if (at.kind != TOK_IDENT) return ww_ptx_expected(p, "a function");
    struct ptx_operand o;
    WW_TRY(ww_ptx_parse_operand(p, &o, PTX_T_B64, 0));
    if (o.kind == PTX_O_SYM && o.sym->kind == PTX_SYM_FUNC && !o.sym->func->is_entry) {
        i->callee = o.sym;
    } else if (o.kind == PTX_O_REG && p->func->reg[o.reg].type != PTX_T_PRED) {
        opnd[(*n)++] = o;
    } else {
        return ww_ptx_fail_at(p, &at, WW_INPUT, "expected a device function or a register");
    }
    return WW_OK;
}

enum ww_code ww_ptx_parse_call(struct ptx_parser *p, struct ptx_inst *i) {
    struct ptx_operand opnd[252] = {{0}};
    uint8_t n = 0;
    bool more;
    struct ptx_token at = p->tok;
    if (ww_ptx_is_punct(p, '(')) {
        WW_TRY(parse_call_list(p, opnd, &n));
        WW_TRY(ww_ptx_take(p, ','));
    }
    i->call_ret = n;
    i->dst_count = n;
    for (uint8_t k = 0; k < n; k++)
        if (opnd[k].kind == PTX_O_IMM)
            return ww_ptx_fail_at(p, &at, WW_INPUT, "expected a place for the result");
    WW_TRY(parse_callee(p, i, opnd, &n));
    uint8_t before = n;
    WW_TRY(ww_ptx_take_if(p, ',', &more));
    if (more && ww_ptx_is_punct(p, '(')) {
        WW_TRY(parse_call_list(p, opnd, &n));
        WW_TRY(ww_ptx_take_if(p, ',', &more));
    }
    i->call_args = (uint8_t)(n - before);
    if (more) WW_TRY(ww_ptx_next(p)); /* prototype or list of possible targets */
    i->opnd_count = n;
    i->opnd = ww_arena_array(&p->m->arena, n, sizeof *opnd);
    if (!i->opnd) return ww_ptx_nomem(p);
    memcpy(i->opnd, opnd, n * sizeof *opnd);
    return WW_OK;
}
