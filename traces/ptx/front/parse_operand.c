/* parse_operand.c: operands of instructions. */
#include "front.h"
#include <string.h>

#define VEC_MAX 128 /* sums of wgmma */

enum ww_code ww_ptx_label_use(struct ptx_parser *p, const struct ptx_token *at, int64_t *imm,
                              uint32_t *target) {
    struct ptx_fixup *f = ww_arena_alloc(&p->m->arena, sizeof *f);
    if (!f) return ww_ptx_nomem(p);
    *f = (struct ptx_fixup){.next = p->scope[p->depth].fixups, .at = *at, .imm = imm, .target = target};
    p->scope[p->depth].fixups = f;
    return WW_OK;
}

/* .x .y .z .w (.r .g .b .a) behind a name; -1: none there. */
static enum ww_code parse_component(struct ptx_parser *p, int *component) {
    *component = -1;
    if (p->tok.kind != TOK_DOT || p->tok.n != 1) return WW_OK;
    const char *all = "xyzwrgba", *at = strchr(all, p->tok.p[0]);
    if (!at) return ww_ptx_expected(p, "a component .x .y .z .w");
    *component = (int)((at - all) & 3);
    return ww_ptx_next(p);
}

static enum ww_code vector_register(struct ptx_parser *p, const struct ptx_name *e, struct ptx_operand *o) {
    int c;
    struct ptx_token at = p->tok;
    WW_TRY(parse_component(p, &c));
    if (c >= e->vec) return ww_ptx_fail_at(p, &at, WW_INPUT, "expected a component of a vector of %u", e->vec);
    if (c >= 0) {
        *o = (struct ptx_operand){.kind = PTX_O_REG, .reg = (int32_t)e->value + c};
        return WW_OK;
    }
    *o = (struct ptx_operand){.kind = PTX_O_VEC, .reg = -1, .vec_count = e->vec};
    o->vec = ww_arena_array(&p->m->arena, e->vec, sizeof *o->vec);
    if (!o->vec) return ww_ptx_nomem(p);
    for (int i = 0; i < e->vec; i++)
        o->vec[i] = (struct ptx_operand){.kind = PTX_O_REG, .reg = (int32_t)e->value + i};
    return WW_OK;
}

/* Special registers; returns false if the name is none. */
static bool find_special(const struct ptx_parser *p, const struct ptx_token *t, struct ptx_operand *o) {
    size_t n = t->n;
    int64_t number = 0;
    if (t->p[0] == '%' && (n > 7 && memcmp(t->p, "%envreg", 7) == 0 && n < 11)) {
        for (size_t i = 7; i < n; i++) number = number * 10 + (t->p[i] - '0');
        n = 7;
    }
    const struct ptx_name *e = ww_ptx_name_find(p, NAME_SREG, t->p, n);
    if (!e || number < 0 || number > 31) return false;
    *o = (struct ptx_operand){.kind = PTX_O_SREG, .sreg = (uint8_t)e->value, .reg = -1, .imm = number};
    return true;
}

static bool has_components(uint8_t sreg) {
    return sreg <= PTX_SR_NCTAID || (sreg >= PTX_SR_CLUSTERID && sreg <= PTX_SR_CLUSTER_NCTAID);
}

static enum ww_code special_register(struct ptx_parser *p, struct ptx_operand *o) {
    if (!has_components(o->sreg)) return WW_OK;
    int c;
    struct ptx_token at = p->tok;
    WW_TRY(parse_component(p, &c));
    if (c < 0 || c > 2) return ww_ptx_fail_at(p, &at, WW_INPUT, "expected a component .x .y .z");
    o->imm = c;
    return WW_OK;
}

/* "+ constant" or "- constant" behind a name. */
static enum ww_code parse_offset(struct ptx_parser *p, int64_t *imm) {
    if (!ww_ptx_is_punct(p, '+') && !ww_ptx_is_punct(p, '-')) return WW_OK;
    struct ptx_token at = p->tok;
    struct ptx_const c;
    if (at.punct == '+') WW_TRY(ww_ptx_next(p));
    WW_TRY(ww_ptx_parse_const(p, &c));
    if (c.is_float) return ww_ptx_fail_at(p, &at, WW_INPUT, "expected an integer offset");
    *imm = (int64_t)c.bits;
    return WW_OK;
}

static enum ww_code undeclared(struct ptx_parser *p, const struct ptx_token *t) {
    return ww_ptx_fail_at(p, t, WW_INPUT, "'%.*s' is not declared", (int)(t->n < 80 ? t->n : 80), t->p);
}

/* A name that is not a label. */
static enum ww_code parse_name(struct ptx_parser *p, struct ptx_operand *o) {
    struct ptx_token t = p->tok;
    WW_TRY(ww_ptx_next(p));
    if (ww_ptx_token_is(&t, "_")) {
        *o = (struct ptx_operand){.kind = PTX_O_NONE, .reg = -1};
        return WW_OK;
    }
    const struct ptx_name *e = ww_ptx_value_find(p, &t);
    if (!e) return find_special(p, &t, o) ? special_register(p, o) : undeclared(p, &t);
    if (e->kind == VALUE_VECTOR) return vector_register(p, e, o);
    if (e->kind == VALUE_REG) {
        *o = (struct ptx_operand){.kind = PTX_O_REG, .reg = (int32_t)e->value};
        return WW_OK;
    }
    *o = (struct ptx_operand){.kind = PTX_O_SYM, .reg = -1, .sym = e->symbol};
    return parse_offset(p, &o->imm);
}

static enum ww_code parse_immediate(struct ptx_parser *p, struct ptx_operand *o, uint8_t type) {
    struct ptx_const c;
    WW_TRY(ww_ptx_parse_const(p, &c));
    *o = (struct ptx_operand){.kind = PTX_O_IMM, .reg = -1, .imm = ww_ptx_const_bits(&c, type)};
    return WW_OK;
}

static enum ww_code parse_vector(struct ptx_parser *p, struct ptx_operand *o, uint8_t type);

/* "[handle, {coordinates}]" of texture and surface instructions: one vector, the handle first. */
static enum ww_code parse_texel(struct ptx_parser *p, const struct ptx_token *at, bool fits,
                                const struct ptx_operand *handle, struct ptx_operand *o) {
    struct ptx_operand coords;
    if (!fits || handle->kind != PTX_O_REG)
        return ww_ptx_unsupported(p, at, "an address of several parts is not supported");
    WW_TRY(ww_ptx_take(p, ','));
    if (!ww_ptx_is_punct(p, '{'))
        return ww_ptx_unsupported(p, at, "samplers apart from textures are not supported");
    WW_TRY(parse_vector(p, &coords, PTX_T_B32));
    *o = (struct ptx_operand){.kind = PTX_O_VEC, .reg = -1, .vec_count = (uint8_t)(coords.vec_count + 1)};
    o->vec = ww_arena_array(&p->m->arena, o->vec_count, sizeof *o->vec);
    if (!o->vec) return ww_ptx_nomem(p);
    o->vec[0] = *handle;
    memcpy(o->vec + 1, coords.vec, coords.vec_count * sizeof *o->vec);
    return ww_ptx_take(p, ']');
}

static enum ww_code parse_address(struct ptx_parser *p, struct ptx_operand *o, bool texel) {
    struct ptx_token at = p->tok;
    struct ptx_operand base = {.reg = -1};
    WW_TRY(ww_ptx_take(p, '['));
    if (p->tok.kind == TOK_IDENT && !ww_ptx_token_is(&p->tok, "WARP_SZ")) {
        WW_TRY(parse_name(p, &base));
        if (base.kind == PTX_O_REG)
            WW_TRY(parse_offset(p, &base.imm));
        else if (base.kind != PTX_O_SYM || base.sym->kind != PTX_SYM_VAR)
            return ww_ptx_fail_at(p, &at, WW_INPUT, "expected a register, variable or constant as address");
    } else {
        WW_TRY(parse_immediate(p, &base, PTX_T_B64));
    }
    if (ww_ptx_is_punct(p, ',')) return parse_texel(p, &at, texel, &base, o);
    base.kind = PTX_O_ADDR;
    *o = base;
    return ww_ptx_take(p, ']');
}

static enum ww_code parse_vector(struct ptx_parser *p, struct ptx_operand *o, uint8_t type) {
    struct ptx_operand vec[VEC_MAX];
    uint8_t n = 0;
    struct ptx_token at = p->tok;
    bool more;
    WW_TRY(ww_ptx_take(p, '{'));
    do {
        if (n == VEC_MAX) return ww_ptx_fail_at(p, &at, WW_INPUT, "expected at most %d elements", VEC_MAX);
        struct ptx_token element = p->tok;
        if (p->tok.kind == TOK_IDENT)
            WW_TRY(parse_name(p, &vec[n]));
        else
            WW_TRY(parse_immediate(p, &vec[n], type));
        if (vec[n].kind == PTX_O_VEC || vec[n].kind == PTX_O_SREG)
            return ww_ptx_fail_at(p, &element, WW_INPUT, "expected a scalar register or a constant");
        n++;
        WW_TRY(ww_ptx_take_if(p, ',', &more));
    } while (more);
    *o = (struct ptx_operand){.kind = PTX_O_VEC, .reg = -1, .vec_count = n};
    o->vec = ww_arena_array(&p->m->arena, n, sizeof *vec);
    if (!o->vec) return ww_ptx_nomem(p);
    memcpy(o->vec, vec, n * sizeof *vec);
    return ww_ptx_take(p, '}');
}

static enum ww_code parse_target(struct ptx_parser *p, struct ptx_operand *o, char want) {
    struct ptx_token t = p->tok;
    if (t.kind != TOK_IDENT) return ww_ptx_expected(p, want == 'l' ? "a label" : "a label list");
    *o = (struct ptx_operand){.kind = want == 'l' ? PTX_O_LABEL : PTX_O_LIST, .reg = -1};
    if (want == 'L') {
        const struct ptx_name *e = ww_ptx_name_find(p, NAME_LIST, t.p, t.n);
        if (!e) return undeclared(p, &t);
        o->imm = e->value;
    }
    return ww_ptx_next(p);
}

enum ww_code ww_ptx_parse_operand(struct ptx_parser *p, struct ptx_operand *o, uint8_t type, char want) {
    if (want == 'l' || want == 'L') return parse_target(p, o, want);
    if (ww_ptx_is_punct(p, '{')) return parse_vector(p, o, type);
    if (ww_ptx_is_punct(p, '[')) return parse_address(p, o, want == 'T');
    if (p->tok.kind == TOK_IDENT && !ww_ptx_token_is(&p->tok, "WARP_SZ")) return parse_name(p, o);
    if (!ww_ptx_is_punct(p, '!')) return parse_immediate(p, o, type);
    struct ptx_token at = p->tok;
    WW_TRY(ww_ptx_next(p));
    if (p->tok.kind != TOK_IDENT) return ww_ptx_expected(p, "a predicate register");
    WW_TRY(parse_name(p, o));
    if (o->kind != PTX_O_REG)
        return ww_ptx_fail_at(p, &at, WW_INPUT, "expected a predicate register behind '!'");
    o->neg = 1;
    return WW_OK;
}
