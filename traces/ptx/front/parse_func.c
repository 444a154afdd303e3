/* parse_func.c: functions: header, performance directives, body. */
#include "front.h"
#include <string.h>

static enum ww_code find_or_add(struct ptx_parser *p, const struct ptx_token *t, bool entry,
                                struct ptx_func **out) {
    const struct ptx_name *old = ww_ptx_name_find(p, NAME_VALUE, t->p, t->n);
    struct ptx_module *m = p->m;
    if (old) {
        if (old->kind != VALUE_SYMBOL || old->symbol->kind != PTX_SYM_FUNC)
            return ww_ptx_fail_at(p, t, WW_INPUT, "'%.*s' is declared twice", (int)(t->n < 80 ? t->n : 80),
                                  t->p);
        if (old->symbol->func->is_entry != entry)
            return ww_ptx_fail_at(p, t, WW_INPUT, "'%s' is declared as kernel and as function",
                                  old->symbol->name);
        *out = old->symbol->func;
        return WW_OK;
    }
    char *name = ww_arena_strndup(&m->arena, t->p, t->n);
    struct ptx_symbol *s = ww_arena_alloc(&m->arena, sizeof *s);
    struct ptx_func *f = ww_arena_alloc(&m->arena, sizeof *f);
    uint32_t depth = p->depth;
    p->depth = 0;
    struct ptx_name *e = name ? ww_ptx_name_add(p, NAME_VALUE, name, t->n) : NULL;
    p->depth = depth;
    struct ptx_symbol **symbols = ww_ptx_grow(p, m->symbol, m->symbol_count, &p->symbol_cap, sizeof *symbols);
    if (symbols) m->symbol = symbols;
    struct ptx_func **funcs = ww_ptx_grow(p, m->func, m->func_count, &p->func_cap, sizeof *funcs);
    if (funcs) m->func = funcs;
    if (!s || !f || !e || !symbols || !funcs) return ww_ptx_nomem(p);
    e->kind = VALUE_SYMBOL;
    e->symbol = s;
    *s = (struct ptx_symbol){.kind = PTX_SYM_FUNC, .name = name, .func = f, .id = (uint32_t)m->symbol_count};
    m->symbol[m->symbol_count++] = s;
    m->func[m->func_count++] = f;
    f->name = name;
    f->is_extern = true;
    *out = f;
    return WW_OK;
}

/* "(.param .u32 a, ...)" into a list. */
static enum ww_code parse_params(struct ptx_parser *p, struct ptx_symbol ***list, uint32_t *count,
                                 size_t *cap) {
    WW_TRY(ww_ptx_take(p, '('));
    bool more = !ww_ptx_is_punct(p, ')');
    while (more) {
        if (!ww_ptx_is_dot(p, "param")) {
            if (ww_ptx_is_dot(p, "reg"))
                return ww_ptx_fail_at(p, &p->tok, WW_UNSUPPORTED, "parameters in registers are not supported");
            return ww_ptx_expected(p, "'.param'");
        }
        struct ptx_symbol *s = NULL;
        WW_TRY(ww_ptx_next(p));
        WW_TRY(ww_ptx_parse_declarator(p, PTX_S_PARAM, &s));
        s->is_param = true;
        struct ptx_symbol **grown = ww_ptx_grow(p, *list, *count, cap, sizeof *grown);
        if (!grown) return ww_ptx_nomem(p);
        *list = grown;
        grown[(*count)++] = s;
        WW_TRY(ww_ptx_take_if(p, ',', &more));
    }
    return ww_ptx_take(p, ')');
}

static enum ww_code parse_dims(struct ptx_parser *p, uint32_t dim[3]) {
    bool more = true;
    dim[0] = dim[1] = dim[2] = 1;
    for (unsigned i = 0; i < 3 && more; i++) {
        uint64_t v;
        WW_TRY(ww_ptx_parse_uint(p, "a number of threads", UINT32_MAX, &v));
        dim[i] = (uint32_t)v;
        WW_TRY(ww_ptx_take_if(p, ',', &more));
    }
    return WW_OK;
}

/* .maxntid and the like, between header and body. */
static enum ww_code parse_directive(struct ptx_parser *p, struct ptx_func *f) {
    struct ptx_token t = p->tok;
    uint64_t v = 0;
    WW_TRY(ww_ptx_next(p));
    if (ww_ptx_token_is(&t, "maxntid")) return parse_dims(p, f->maxntid);
    if (ww_ptx_token_is(&t, "reqntid")) return parse_dims(p, f->reqntid);
    if (ww_ptx_token_is(&t, "reqnctapercluster")) {
        WW_TRY(parse_dims(p, f->cluster));
        if (f->cluster[0] && f->cluster[1] && f->cluster[2]) return WW_OK;
        return ww_ptx_fail_at(p, &t, WW_INPUT, ".reqnctapercluster %u,%u,%u: expected at least 1 CTA each way",
                              f->cluster[0], f->cluster[1], f->cluster[2]);
    }
    if (ww_ptx_token_is(&t, "noreturn") || ww_ptx_token_is(&t, "explicitcluster") ||
        ww_ptx_token_is(&t, "blocksareclusters") || ww_ptx_token_is(&t, "abi_preserve_control"))
        return p->tok.kind == TOK_INT ? ww_ptx_next(p) : WW_OK;
    if (ww_ptx_token_is(&t, "pragma")) {
        while (!ww_ptx_is_punct(p, ';')) {
            if (p->tok.kind != TOK_STRING && !ww_ptx_is_punct(p, ',')) return ww_ptx_expected(p, "a string");
            WW_TRY(ww_ptx_next(p));
        }
        return ww_ptx_next(p);
    }
    bool nreg = ww_ptx_token_is(&t, "maxnreg");
    if (!nreg && !ww_ptx_token_is(&t, "minnctapersm") && !ww_ptx_token_is(&t, "maxnctapersm") &&
        !ww_ptx_token_is(&t, "maxclusterrank") && !ww_ptx_token_is(&t, "abi_preserve"))
        return ww_ptx_fail_at(p, &t, WW_UNSUPPORTED, "directive '.%.*s' is not supported",
                              (int)(t.n < 60 ? t.n : 60), t.p);
    WW_TRY(ww_ptx_parse_uint(p, "a number", UINT32_MAX, &v));
    if (nreg)
        f->maxnreg = (uint32_t)v;
    else if (ww_ptx_token_is(&t, "minnctapersm"))
        f->minnctapersm = (uint32_t)v;
    return WW_OK;
}

/* "name: .branchtargets a, b;" Lists of call targets and prototypes are read and dropped. */
static enum ww_code parse_list(struct ptx_parser *p, const struct ptx_token *name) {
    struct ptx_func *f = p->func;
    uint32_t count = 0;
    WW_TRY(ww_ptx_next(p));
    struct ptx_token at[1024]; /* fixups need stable places: the list is copied first */
    bool more;
    do {
        if (p->tok.kind != TOK_IDENT) return ww_ptx_expected(p, "a label");
        if (count == 1024)
            return ww_ptx_fail_at(p, &p->tok, WW_UNSUPPORTED, "expected at most 1024 branch targets");
        at[count++] = p->tok;
        WW_TRY(ww_ptx_next(p));
        WW_TRY(ww_ptx_take_if(p, ',', &more));
    } while (more);
    uint32_t *target = ww_arena_array(&p->m->arena, count, sizeof *target);
    struct ptx_label_list *lists = ww_ptx_grow(p, f->list, f->list_count, &p->list_cap, sizeof *lists);
    struct ptx_name *e = ww_ptx_name_add(p, NAME_LIST, name->p, name->n);
    if (!target || !lists || !e) return ww_ptx_nomem(p);
    f->list = lists;
    e->value = f->list_count;
    lists[f->list_count++] = (struct ptx_label_list){target, count};
    for (uint32_t i = 0; i < count; i++) WW_TRY(ww_ptx_label_use(p, &at[i], NULL, &target[i]));
    return ww_ptx_take(p, ';');
}

static enum ww_code skip_statement(struct ptx_parser *p) {
    while (!ww_ptx_is_punct(p, ';')) {
        if (p->tok.kind == TOK_END) return ww_ptx_expected(p, "';'");
        WW_TRY(ww_ptx_next(p));
    }
    return ww_ptx_next(p);
}

static enum ww_code parse_label(struct ptx_parser *p, const struct ptx_token *t) {
    if (ww_ptx_is_dot(p, "branchtargets")) return parse_list(p, t);
    if (ww_ptx_is_dot(p, "calltargets") || ww_ptx_is_dot(p, "callprototype")) return skip_statement(p);
    const struct ptx_name *old = ww_ptx_name_find(p, NAME_LABEL, t->p, t->n);
    if (old && old->depth == p->depth)
        return ww_ptx_fail_at(p, t, WW_INPUT, "label '%.*s' is defined twice", (int)(t->n < 80 ? t->n : 80),
                              t->p);
    struct ptx_name *e = ww_ptx_name_add(p, NAME_LABEL, t->p, t->n);
    if (!e) return ww_ptx_nomem(p);
    e->value = p->func->inst_count;
    p->label_at_end = true;
    return WW_OK;
}

/* "@p" or "@!p" */
static enum ww_code parse_guard(struct ptx_parser *p, int32_t *guard, bool *neg) {
    WW_TRY(ww_ptx_take(p, '@'));
    WW_TRY(ww_ptx_take_if(p, '!', neg));
    struct ptx_token t = p->tok;
    const struct ptx_name *e = t.kind == TOK_IDENT ? ww_ptx_value_find(p, &t) : NULL;
    if (!e || e->kind != VALUE_REG || e->type != PTX_T_PRED) return ww_ptx_expected(p, "a predicate register");
    *guard = (int32_t)e->value;
    return ww_ptx_next(p);
}

static enum ww_code parse_body_directive(struct ptx_parser *p) {
    if (ww_ptx_is_dot(p, "reg")) return ww_ptx_parse_reg(p);
    if (ww_ptx_is_dot(p, "loc")) return ww_ptx_parse_loc(p);
    if (ww_ptx_is_dot(p, "file")) return ww_ptx_parse_file(p);
    if (ww_ptx_is_dot(p, "pragma")) return ww_ptx_parse_pragma(p);
    if (ww_ptx_is_dot(p, "calltargets")) return skip_statement(p);
    if (ww_ptx_is_dot(p, "local") || ww_ptx_is_dot(p, "shared") || ww_ptx_is_dot(p, "param") ||
        ww_ptx_is_dot(p, "const") || ww_ptx_is_dot(p, "global"))
        return ww_ptx_parse_variable(p, false);
    if (!ww_ptx_is_dot(p, "extern")) return ww_ptx_expected(p, "a statement");
    WW_TRY(ww_ptx_next(p));
    if (!ww_ptx_is_dot(p, "shared")) return ww_ptx_expected(p, "'.shared'");
    return ww_ptx_parse_variable(p, true);
}

static enum ww_code parse_statement(struct ptx_parser *p) {
    struct ptx_token t = p->tok;
    int32_t guard = -1;
    bool neg = false;
    if (t.kind == TOK_DOT) return parse_body_directive(p);
    if (ww_ptx_is_punct(p, ';')) return ww_ptx_next(p);
    if (ww_ptx_is_punct(p, '@')) {
        WW_TRY(parse_guard(p, &guard, &neg));
        t = p->tok;
    }
    if (t.kind != TOK_IDENT) return ww_ptx_expected(p, "an instruction");
    WW_TRY(ww_ptx_next(p));
    if (guard < 0 && ww_ptx_is_punct(p, ':')) {
        WW_TRY(ww_ptx_next(p));
        return parse_label(p, &t);
    }
    WW_TRY(ww_ptx_parse_inst(p, &t, guard, neg));
    return ww_ptx_apply_pragma(p, &t);
}

/* A body must end in an instruction that nothing follows. */
static enum ww_code close_body(struct ptx_parser *p) {
    struct ptx_func *f = p->func;
    const struct ptx_inst *last = f->inst_count ? &f->inst[f->inst_count - 1] : NULL;
    bool ends = last && last->guard < 0 && !p->label_at_end && ptx_op_is(last, OP_ENDS);
    if (ends) return WW_OK;
    struct ptx_inst *ret = ww_ptx_inst_add(p, p->tok.line);
    if (!ret) return ww_ptx_nomem(p);
    ret->op = PTX_RET;
    ret->opnd = ww_arena_array(&p->m->arena, 0, sizeof *ret->opnd);
    return ret->opnd ? WW_OK : ww_ptx_nomem(p);
}

static enum ww_code parse_body(struct ptx_parser *p) {
    uint32_t outer = p->depth;
    WW_TRY(ww_ptx_take(p, '{'));
    for (;;) {
        if (p->tok.kind == TOK_END) return ww_ptx_expected(p, "'}'");
        if (ww_ptx_is_punct(p, '{')) {
            WW_TRY(ww_ptx_scope_enter(p));
            WW_TRY(ww_ptx_next(p));
        } else if (ww_ptx_is_punct(p, '}')) {
            if (p->depth == outer) break;
            WW_TRY(ww_ptx_scope_leave(p));
            WW_TRY(ww_ptx_next(p));
        } else {
            WW_TRY(parse_statement(p));
        }
    }
    return close_body(p);
}

static void start(struct ptx_parser *p, struct ptx_func *f) {
    p->func = f;
    p->inst_cap = p->reg_cap = p->local_cap = p->list_cap = p->param_cap = p->ret_cap = 0;
    p->local_bytes = p->param_bytes = p->param_peak = 0;
    p->loc_file = p->loc_line = 0;
    p->label_at_end = false;
    p->smem = 0;
}

static enum ww_code parse_header(struct ptx_parser *p, bool entry, struct ptx_func *f) {
    if (!entry && ww_ptx_is_punct(p, '(')) WW_TRY(parse_params(p, &f->ret, &f->ret_count, &p->ret_cap));
    struct ptx_token name = p->tok;
    struct ptx_func *named = NULL;
    if (name.kind != TOK_IDENT) return ww_ptx_expected(p, "a function's name");
    WW_TRY(ww_ptx_next(p));
    WW_TRY(find_or_add(p, &name, entry, &named));
    if (named->inst) return ww_ptx_fail_at(p, &name, WW_INPUT, "function '%s' is defined twice", named->name);
    *named = (struct ptx_func){
        .name = named->name, .ret = f->ret, .ret_count = f->ret_count, .is_entry = entry, .is_extern = true};
    p->func = named;
    if (ww_ptx_is_punct(p, '(')) WW_TRY(parse_params(p, &named->param, &named->param_count, &p->param_cap));
    named->param_bytes = p->param_bytes;
    while (p->tok.kind == TOK_DOT) WW_TRY(parse_directive(p, named));
    return WW_OK;
}

enum ww_code ww_ptx_parse_function(struct ptx_parser *p, bool is_extern) {
    bool entry = ww_ptx_is_dot(p, "entry");
    struct ptx_func scratch = {0};
    start(p, &scratch);
    WW_TRY(ww_ptx_scope_enter(p));
    WW_TRY(ww_ptx_next(p));
    while (!entry && ww_ptx_is_dot(p, "attribute")) { /* .attribute(.unified(...)) */
        while (!ww_ptx_is_punct(p, ')') && p->tok.kind != TOK_END) WW_TRY(ww_ptx_next(p));
        WW_TRY(ww_ptx_next(p));
        if (ww_ptx_is_punct(p, ')')) WW_TRY(ww_ptx_next(p));
    }
    WW_TRY(parse_header(p, entry, &scratch));
    struct ptx_func *f = p->func;
    if (ww_ptx_is_punct(p, '{')) {
        if (is_extern) return ww_ptx_expected(p, "';'");
        f->is_extern = false;
        if (entry) {
            p->param_bytes = p->param_peak = 0; /* a kernel's parameters lie in a block of their own */
            WW_TRY(parse_body(p));
            f->frame_param_bytes = p->param_peak;
        } else {
            WW_TRY(parse_body(p));
            f->param_bytes = p->param_peak;
        }
        WW_TRY(ww_ptx_scope_leave(p));
        p->func = NULL;
        return ww_ptx_take(p, '}');
    }
    if (entry) return ww_ptx_expected(p, "'{'");
    WW_TRY(ww_ptx_scope_leave(p));
    p->func = NULL;
    return ww_ptx_take(p, ';');
}
