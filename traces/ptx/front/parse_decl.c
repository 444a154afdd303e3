/* parse_decl.c: variables and registers. */
#include "front.h"
#include <string.h>

#define DIM_MAX 8
#define SIZE_MAX_BYTES ((uint64_t)1 << 40)

struct declared {
    uint8_t type, vec;
    uint32_t align;
};

enum ww_code ww_ptx_parse_type(struct ptx_parser *p, uint8_t *type) {
    if (p->tok.kind != TOK_DOT) return ww_ptx_expected(p, "a type");
    struct ptx_inst probe = {0};
    WW_TRY(ww_ptx_modifier(p, &probe, &p->tok));
    if (!probe.type[0]) return ww_ptx_expected(p, "a type");
    *type = probe.type[0];
    return ww_ptx_next(p);
}

static enum ww_code skip_parens(struct ptx_parser *p) {
    WW_TRY(ww_ptx_take(p, '('));
    while (!ww_ptx_is_punct(p, ')')) {
        if (p->tok.kind == TOK_END) return ww_ptx_expected(p, "')'");
        WW_TRY(ww_ptx_next(p));
    }
    return ww_ptx_next(p);
}

static enum ww_code parse_align(struct ptx_parser *p, uint32_t *align) {
    struct ptx_token at = p->tok;
    uint64_t v;
    WW_TRY(ww_ptx_parse_uint(p, "an alignment", 1024, &v));
    if (!v || (v & (v - 1)))
        return ww_ptx_fail_at(p, &at, WW_INPUT, "expected a power of two, found an alignment of %u",
                              (unsigned)v);
    *align = (uint32_t)v;
    return WW_OK;
}

/* The words between the space and the name. .ptr describes what a pointer parameter points to. */
static enum ww_code parse_attributes(struct ptx_parser *p, struct declared *d) {
    bool of_pointer = false;
    *d = (struct declared){.vec = 1};
    while (p->tok.kind == TOK_DOT) {
        if (ww_ptx_is_dot(p, "align")) {
            uint32_t align = 0;
            WW_TRY(ww_ptx_next(p));
            WW_TRY(parse_align(p, &align));
            if (!of_pointer) d->align = align;
        } else if (ww_ptx_is_dot(p, "attribute")) {
            WW_TRY(ww_ptx_next(p));
            WW_TRY(skip_parens(p));
        } else if (ww_ptx_is_dot(p, "ptr")) {
            of_pointer = true;
            WW_TRY(ww_ptx_next(p));
        } else if (ww_ptx_is_dot(p, "v2") || ww_ptx_is_dot(p, "v4") || ww_ptx_is_dot(p, "v8")) {
            d->vec = (uint8_t)(p->tok.p[1] - '0');
            WW_TRY(ww_ptx_next(p));
        } else if (of_pointer) {
            WW_TRY(ww_ptx_next(p)); /* its space */
        } else {
            WW_TRY(ww_ptx_parse_type(p, &d->type));
        }
    }
    if (!d->type) return ww_ptx_expected(p, "a type");
    return WW_OK;
}

/* A symbol of that name in scope `depth`: a new one, or the one that was declared extern before. */
static enum ww_code declare(struct ptx_parser *p, const struct ptx_token *t, uint32_t depth, bool is_extern,
                            struct ptx_symbol **out) {
    struct ptx_name *e = ww_ptx_name_find(p, NAME_VALUE, t->p, t->n);
    if (e && e->depth == depth) {
        if (e->kind == VALUE_SYMBOL && e->symbol->kind == PTX_SYM_VAR && (is_extern || e->symbol->is_extern)) {
            *out = e->symbol;
            return WW_OK;
        }
        return ww_ptx_fail_at(p, t, WW_INPUT, "'%.*s' is declared twice", (int)(t->n < 80 ? t->n : 80), t->p);
    }
    char *name = ww_arena_strndup(&p->m->arena, t->p, t->n);
    struct ptx_symbol *s = ww_arena_alloc(&p->m->arena, sizeof *s);
    e = name ? ww_ptx_name_add(p, NAME_VALUE, name, t->n) : NULL;
    if (!e || !s) return ww_ptx_nomem(p);
    e->kind = VALUE_SYMBOL;
    e->symbol = s;
    s->name = name;
    s->is_extern = is_extern;
    s->id = UINT32_MAX;
    *out = s;
    return WW_OK;
}

static uint64_t round_up(uint64_t v, uint32_t align) {
    return (v + align - 1) & ~(uint64_t)(align - 1);
}

static void place_in_frame(uint64_t *used, uint64_t *peak, struct ptx_symbol *s) {
    s->offset = round_up(*used, s->align);
    *used = s->offset + s->size;
    if (*used > *peak) *peak = *used;
}

static enum ww_code keep(struct ptx_parser *p, struct ptx_symbol *s) {
    struct ptx_symbol ***list = p->func ? &p->func->local : &p->m->symbol;
    size_t count = p->func ? p->func->local_count : p->m->symbol_count;
    *list = ww_ptx_grow(p, *list, count, p->func ? &p->local_cap : &p->symbol_cap, sizeof **list);
    if (!*list || count >= UINT32_MAX - 1) return ww_ptx_nomem(p);
    (*list)[count] = s;
    if (p->func)
        p->func->local_count++;
    else
        s->id = (uint32_t)p->m->symbol_count++;
    return WW_OK;
}

static enum ww_code parse_dims(struct ptx_parser *p, uint64_t *dim, uint32_t *dims) {
    for (*dims = 0; ww_ptx_is_punct(p, '[');) {
        if (*dims == DIM_MAX)
            return ww_ptx_fail_at(p, &p->tok, WW_UNSUPPORTED, "expected at most %d dimensions", DIM_MAX);
        WW_TRY(ww_ptx_next(p));
        dim[*dims] = 0;
        if (!ww_ptx_is_punct(p, ']')) WW_TRY(ww_ptx_parse_uint(p, "a dimension", SIZE_MAX_BYTES, &dim[*dims]));
        ++*dims;
        WW_TRY(ww_ptx_take(p, ']'));
    }
    return WW_OK;
}

/* Bytes of the array; a leading dimension of 0 makes it 0. */
static enum ww_code array_size(struct ptx_parser *p, const struct ptx_token *at, struct ptx_symbol *s,
                               const struct declared *d, const uint64_t *dim, uint32_t dims) {
    uint64_t size = (uint64_t)ww_ptx_type_bytes(d->type) * d->vec;
    if (!size)
        return ww_ptx_fail_at(p, at, WW_INPUT, "a variable cannot have the type .%s",
                              ww_ptx_type_name(d->type));
    uint32_t natural = (uint32_t)size;
    for (uint32_t i = dims; i-- > 0;) {
        if (dim[i] && size > SIZE_MAX_BYTES / dim[i])
            return ww_ptx_fail_at(p, at, WW_INPUT, "expected a variable of at most 2^40 bytes");
        size *= dim[i];
    }
    s->type = d->type;
    s->align = d->align ? d->align : natural;
    s->size = size;
    return WW_OK;
}

static enum ww_code place(struct ptx_parser *p, const struct ptx_token *at, struct ptx_symbol *s) {
    struct ptx_func *f = p->func;
    if (s->space == PTX_S_CONST) {
        s->offset = round_up(p->m->const_bytes, s->align);
        p->m->const_bytes = s->offset + s->size;
        if (p->m->const_bytes > 65536)
            return ww_ptx_fail_at(p, at, WW_INPUT,
                                  "expected at most 65536 bytes of .const variables, found %llu",
                                  (unsigned long long)p->m->const_bytes);
    } else if (s->space == PTX_S_LOCAL && f) {
        place_in_frame(&p->local_bytes, &f->local_bytes, s);
        if (f->local_bytes > 524288)
            return ww_ptx_fail_at(p, at, WW_INPUT, "expected a frame of at most 512 KiB, found %llu bytes",
                                  (unsigned long long)f->local_bytes);
    } else if (s->space == PTX_S_PARAM && f) {
        place_in_frame(&p->param_bytes, &p->param_peak, s);
        if (p->param_peak > 65536)
            return ww_ptx_fail_at(p, at, WW_INPUT, "expected at most 64 KiB of parameters, found %llu bytes",
                                  (unsigned long long)p->param_peak);
    } else if (s->space == PTX_S_LOCAL) {
        return ww_ptx_fail_at(p, at, WW_UNSUPPORTED, ".local at module scope is not supported");
    }
    return WW_OK;
}

static enum ww_code parse_declared(struct ptx_parser *p, uint8_t space, bool is_extern,
                                   const struct declared *d, bool of_list, struct ptx_symbol **out) {
    struct ptx_token at = p->tok;
    uint64_t dim[DIM_MAX];
    uint32_t dims;
    struct ptx_symbol *s = NULL;
    if (at.kind != TOK_IDENT) return ww_ptx_expected(p, "a name");
    WW_TRY(declare(p, &at, p->depth, is_extern, &s));
    bool known = s->space != PTX_S_GENERIC;
    if (known && s->space != space)
        return ww_ptx_fail_at(p, &at, WW_INPUT, "'%s' is declared in two spaces", s->name);
    WW_TRY(ww_ptx_next(p));
    WW_TRY(parse_dims(p, dim, &dims));
    s->kind = PTX_SYM_VAR;
    s->space = space;
    if (!is_extern) s->is_extern = false;
    WW_TRY(array_size(p, &at, s, d, dim, dims));
    bool init;
    WW_TRY(ww_ptx_take_if(p, '=', &init));
    if (init) WW_TRY(ww_ptx_parse_init(p, s, dim, dims, d->vec));
    if (!known || (space == PTX_S_CONST && !s->is_extern)) WW_TRY(place(p, &at, s));
    if (!known && !of_list) WW_TRY(keep(p, s));
    if (out) *out = s;
    return WW_OK;
}

enum ww_code ww_ptx_parse_declarator(struct ptx_parser *p, uint8_t space, struct ptx_symbol **symbol) {
    struct declared d;
    WW_TRY(parse_attributes(p, &d));
    return parse_declared(p, space, false, &d, true, symbol);
}

enum ww_code ww_ptx_parse_variable(struct ptx_parser *p, bool is_extern) {
    struct ptx_inst probe = {0};
    struct declared d;
    WW_TRY(ww_ptx_modifier(p, &probe, &p->tok));
    WW_TRY(ww_ptx_next(p));
    if (ww_ptx_is_punct(p, '[')) { /* .const[bank] of old PTX: one bank here */
        uint64_t bank, dim[DIM_MAX];
        uint32_t dims;
        WW_TRY(parse_dims(p, dim, &dims));
        bank = dims == 1 ? dim[0] : 1;
        if (bank)
            return ww_ptx_fail_at(p, &p->tok, WW_UNSUPPORTED, "constant banks other than 0 are not supported");
    }
    WW_TRY(parse_attributes(p, &d));
    bool more;
    do {
        WW_TRY(parse_declared(p, probe.space, is_extern, &d, false, NULL));
        WW_TRY(ww_ptx_take_if(p, ',', &more));
    } while (more);
    return ww_ptx_take(p, ';');
}

static enum ww_code declare_reg(struct ptx_parser *p, uint8_t type, uint8_t vec) {
    struct ptx_token t = p->tok;
    if (t.kind != TOK_IDENT) return ww_ptx_expected(p, "a register name");
    WW_TRY(ww_ptx_next(p));
    const struct ptx_name *old = ww_ptx_name_find(p, NAME_VALUE, t.p, t.n);
    if (old && old->depth == p->depth)
        return ww_ptx_fail_at(p, &t, WW_INPUT, "'%.*s' is declared twice", (int)(t.n < 80 ? t.n : 80), t.p);
    char *name = ww_arena_strndup(&p->m->arena, t.p, t.n);
    struct ptx_name *e = name ? ww_ptx_name_add(p, NAME_VALUE, name, t.n) : NULL;
    if (!e) return ww_ptx_nomem(p);
    e->type = type;
    e->vec = vec;
    bool range;
    WW_TRY(ww_ptx_take_if(p, '<', &range));
    if (range) {
        uint64_t count;
        if (p->tok.kind != TOK_INT || p->tok.value > UINT32_MAX)
            return ww_ptx_expected(p, "a number of registers");
        count = p->tok.value;
        WW_TRY(ww_ptx_next(p));
        e->kind = VALUE_REG_RANGE;
        e->value = (int64_t)count;
        return ww_ptx_take(p, '>');
    }
    e->kind = vec > 1 ? VALUE_VECTOR : VALUE_REG;
    for (unsigned i = 0; i < vec; i++) {
        int32_t reg;
        if (!ww_ptx_reg_new(p, name, type, &reg))
            return ww_ptx_fail_at(p, &t, WW_NOMEM, "expected at most 2^20 registers in a function");
        if (!i) e->value = reg;
    }
    return WW_OK;
}

enum ww_code ww_ptx_parse_reg(struct ptx_parser *p) {
    struct declared d;
    WW_TRY(ww_ptx_next(p));
    WW_TRY(parse_attributes(p, &d));
    bool more;
    do {
        WW_TRY(declare_reg(p, d.type, d.vec));
        WW_TRY(ww_ptx_take_if(p, ',', &more));
    } while (more);
    return ww_ptx_take(p, ';');
}
