/* parse_init.c: initialisers of variables. */
#include "front.h"
#include <string.h>

struct init {
    struct ptx_parser *p;
    struct ptx_symbol *s;
    const uint64_t *dim; /* the vector length is the last dimension */
    uint32_t dims;
    unsigned char *data;
    uint64_t capacity; /* bytes; grows if the first dimension is open */
    bool open;
    size_t reloc_cap;
};

/* Makes sure that [at, at + n) lies in the data. */
static enum ww_code reach(struct init *in, const struct ptx_token *where, uint64_t at, uint64_t n) {
    if (at + n <= in->capacity && in->data) return WW_OK;
    if (at + n > in->s->size && !in->open)
        return ww_ptx_fail_at(in->p, where, WW_INPUT, "expected at most %llu bytes of initialisers",
                              (unsigned long long)in->s->size);
    uint64_t capacity = in->open ? (at + n) * 2 : in->s->size;
    if (capacity > SIZE_MAX / 2) return ww_ptx_nomem(in->p);
    unsigned char *data = ww_arena_alloc(&in->p->m->arena, (size_t)capacity);
    if (!data) return ww_ptx_nomem(in->p);
    if (in->data) memcpy(data, in->data, (size_t)in->capacity);
    in->data = data;
    in->capacity = capacity;
    return WW_OK;
}

static enum ww_code store_bits(struct init *in, const struct ptx_token *where, uint64_t at, uint64_t bits) {
    uint32_t n = ww_ptx_type_bytes(in->s->type);
    WW_TRY(reach(in, where, at, n));
    for (uint32_t i = 0; i < n && i < 8; i++) in->data[at + i] = (unsigned char)(bits >> (8 * i));
    return WW_OK;
}

static enum ww_code add_reloc(struct init *in, const struct ptx_token *name, uint64_t at, bool generic) {
    struct ptx_parser *p = in->p;
    const struct ptx_name *e = ww_ptx_name_find(p, NAME_VALUE, name->p, name->n);
    if (!e || e->kind != VALUE_SYMBOL)
        return ww_ptx_fail_at(p, name, WW_INPUT, "expected the name of a variable or function, found '%.*s'",
                              (int)(name->n < 80 ? name->n : 80), name->p);
    if (ww_ptx_type_bytes(in->s->type) < 4)
        return ww_ptx_fail_at(p, name, WW_UNSUPPORTED,
                              "an address in an element of fewer than 4 bytes is not supported");
    WW_TRY(reach(in, name, at, ww_ptx_type_bytes(in->s->type)));
    struct ptx_symbol *s = in->s;
    s->reloc = ww_ptx_grow(p, s->reloc, s->reloc_count, &in->reloc_cap, sizeof *s->reloc);
    if (!s->reloc) return ww_ptx_nomem(p);
    struct ptx_const add = {0};
    if (ww_ptx_is_punct(p, '+') || ww_ptx_is_punct(p, '-')) {
        if (ww_ptx_is_punct(p, '+')) WW_TRY(ww_ptx_next(p));
        WW_TRY(ww_ptx_parse_const(p, &add));
    }
    s->reloc[s->reloc_count++] =
        (struct ptx_reloc){.at = at, .sym = e->symbol, .add = (int64_t)add.bits, .generic = generic};
    return WW_OK;
}

static enum ww_code parse_value(struct init *in, uint64_t at) {
    struct ptx_parser *p = in->p;
    struct ptx_token t = p->tok;
    if (t.kind != TOK_IDENT || ww_ptx_token_is(&t, "WARP_SZ")) {
        struct ptx_const c;
        WW_TRY(ww_ptx_parse_const(p, &c));
        return store_bits(in, &t, at, (uint64_t)ww_ptx_const_bits(&c, in->s->type));
    }
    WW_TRY(ww_ptx_next(p));
    if (!ww_ptx_token_is(&t, "generic")) return add_reloc(in, &t, at, false);
    WW_TRY(ww_ptx_take(p, '('));
    struct ptx_token name = p->tok;
    if (name.kind != TOK_IDENT) return ww_ptx_expected(p, "a name");
    WW_TRY(ww_ptx_next(p));
    bool inside = ww_ptx_is_punct(p, '+'); /* generic(a+4) and generic(a)+4 */
    if (inside) WW_TRY(add_reloc(in, &name, at, true));
    WW_TRY(ww_ptx_take(p, ')'));
    return inside ? WW_OK : add_reloc(in, &name, at, true);
}

static int escaped(const char **s, const char *end) {
    char c = *(*s)++;
    if (c != '\\' || *s >= end) return (unsigned char)c;
    c = *(*s)++;
    switch (c) {
    case 'n':
        return '\n';
    case 't':
        return '\t';
    case 'r':
        return '\r';
    case '0':
        return 0;
    default:
        return (unsigned char)c;
    }
}

static enum ww_code parse_text(struct init *in, uint64_t at) {
    struct ptx_token t = in->p->tok;
    if (ww_ptx_type_bytes(in->s->type) != 1) return ww_ptx_expected(in->p, "a number");
    for (const char *s = t.p, *end = t.p + t.n; s < end;)
        WW_TRY(store_bits(in, &t, at++, (uint64_t)escaped(&s, end)));
    return ww_ptx_next(in->p);
}

static uint64_t row_bytes(const struct init *in, uint32_t level) {
    uint64_t n = ww_ptx_type_bytes(in->s->type);
    for (uint32_t i = level; i < in->dims; i++) n *= in->dim[i];
    return n;
}

/* One brace level: elements of dimension `level` start at `at`; *end: behind the last one written. */
static enum ww_code parse_braces(struct init *in, uint64_t at, uint32_t level, uint64_t *end) {
    struct ptx_parser *p = in->p;
    WW_TRY(ww_ptx_take(p, '{'));
    while (!ww_ptx_is_punct(p, '}')) {
        if (ww_ptx_is_punct(p, '{')) {
            if (level + 1 >= in->dims) return ww_ptx_expected(p, "a value");
            uint64_t inner;
            WW_TRY(parse_braces(in, at, level + 1, &inner));
            at += row_bytes(in, level + 1);
        } else if (p->tok.kind == TOK_STRING) {
            size_t n = p->tok.n;
            WW_TRY(parse_text(in, at));
            at += level + 1 < in->dims ? row_bytes(in, level + 1) : n;
        } else {
            WW_TRY(parse_value(in, at));
            at += ww_ptx_type_bytes(in->s->type);
        }
        bool more;
        WW_TRY(ww_ptx_take_if(p, ',', &more));
        if (!more && !ww_ptx_is_punct(p, '}')) return ww_ptx_expected(p, "',' or '}'");
    }
    *end = at;
    return ww_ptx_next(p);
}

enum ww_code ww_ptx_parse_init(struct ptx_parser *p, struct ptx_symbol *symbol, const uint64_t *dim,
                               uint32_t dims, uint32_t vec) {
    uint64_t all[9], end = 0;
    for (uint32_t i = 0; i < dims; i++) all[i] = dim[i];
    if (vec > 1) all[dims++] = vec;
    struct init in = {.p = p, .s = symbol, .dim = all, .dims = dims};
    struct ptx_token at = p->tok;
    in.open = dims > 0 && all[0] == 0;
    if (symbol->space != PTX_S_GLOBAL && symbol->space != PTX_S_CONST)
        return ww_ptx_fail_at(p, &at, WW_INPUT, "only .global and .const variables take an initialiser");
    if (p->tok.kind == TOK_STRING) {
        end = p->tok.n + 1;
        WW_TRY(parse_text(&in, 0));
    } else if (ww_ptx_is_punct(p, '{')) {
        WW_TRY(parse_braces(&in, 0, 0, &end));
    } else {
        WW_TRY(parse_value(&in, 0));
    }
    if (in.open) {
        uint64_t row = row_bytes(&in, 1);
        if (!row) return ww_ptx_fail_at(p, &at, WW_INPUT, "expected a size for all dimensions but the first");
        symbol->size = (end + row - 1) / row * row;
        if (symbol->size) WW_TRY(reach(&in, &at, 0, symbol->size));
    }
    symbol->init = in.data;
    return WW_OK;
}
