/* parse.c: the module: directives and the order of things. */
#include "front.h"
#include <stdlib.h>
#include <string.h>

#define MEMORY_LIMIT ((size_t)1 << 30)
#define FILE_MAX 65535

enum ww_code ww_ptx_skip_braces(struct ptx_parser *p) {
    uint32_t depth = 0;
    do {
        if (p->tok.kind == TOK_END) return ww_ptx_expected(p, "'}'");
        if (ww_ptx_is_punct(p, '{')) depth++;
        if (ww_ptx_is_punct(p, '}') && depth) depth--;
        WW_TRY(ww_ptx_next(p));
    } while (depth);
    return WW_OK;
}

/* .file N "name" [, time, size]: may come behind the functions that use it. */
enum ww_code ww_ptx_parse_file(struct ptx_parser *p) {
    struct ptx_module *m = p->m;
    uint64_t n;
    WW_TRY(ww_ptx_next(p));
    WW_TRY(ww_ptx_parse_uint(p, "a file number", FILE_MAX, &n));
    if (p->tok.kind != TOK_STRING) return ww_ptx_expected(p, "a file name");
    while (m->file_count <= n) {
        const char **file = ww_ptx_grow(p, m->file, m->file_count, &p->file_cap, sizeof *file);
        if (!file) return ww_ptx_nomem(p);
        m->file = file;
        m->file[m->file_count++] = "";
    }
    if (n && !(m->file[n] = ww_arena_strndup(&m->arena, p->tok.p, p->tok.n))) return ww_ptx_nomem(p);
    WW_TRY(ww_ptx_next(p));
    for (bool more = true; more;) {
        WW_TRY(ww_ptx_take_if(p, ',', &more));
        if (more) WW_TRY(ww_ptx_parse_uint(p, "a number", UINT64_MAX, &n));
    }
    return WW_OK;
}

/* .loc file line column [, function_name label [+ n], inlined_at file line column] */
enum ww_code ww_ptx_parse_loc(struct ptx_parser *p) {
    uint64_t v[3];
    WW_TRY(ww_ptx_next(p));
    for (int i = 0; i < 3; i++) {
        if (p->tok.kind != TOK_INT) return ww_ptx_expected(p, "file, line and column");
        v[i] = p->tok.value;
        WW_TRY(ww_ptx_next(p));
    }
    p->loc_file = v[0] <= FILE_MAX ? (uint32_t)v[0] : 0;
    p->loc_line = v[1] <= UINT32_MAX ? (uint32_t)v[1] : 0;
    while (ww_ptx_is_punct(p, ',')) {
        WW_TRY(ww_ptx_next(p));
        bool inlined = ww_ptx_token_is(&p->tok, "inlined_at");
        if (!inlined && !ww_ptx_token_is(&p->tok, "function_name")) return ww_ptx_expected(p, "inlined_at");
        WW_TRY(ww_ptx_next(p));
        if (!inlined) WW_TRY(ww_ptx_next(p)); /* label */
        while (p->tok.kind == TOK_INT || ww_ptx_is_punct(p, '+')) WW_TRY(ww_ptx_next(p));
    }
    return WW_OK;
}

static enum ww_code parse_version(struct ptx_parser *p) {
    struct ptx_token t = p->tok;
    double v;
    if (t.kind != TOK_F64) return ww_ptx_expected(p, "a version such as 7.0");
    memcpy(&v, &t.value, sizeof v);
    p->m->version = v > 0 && v < 100 ? (uint32_t)(v * 10 + 0.5) : 0;
    if (p->m->version < 10 || p->m->version > 99)
        return ww_ptx_fail_at(p, &t, WW_UNSUPPORTED, "expected a PTX version from 1.0 to 9.9, found %.*s",
                              (int)(t.n < 20 ? t.n : 20), t.p);
    return ww_ptx_next(p);
}

static enum ww_code parse_target(struct ptx_parser *p) {
    bool more;
    do {
        struct ptx_token t = p->tok;
        if (t.kind != TOK_IDENT) return ww_ptx_expected(p, "a target such as sm_70");
        if (t.n > 3 && t.n < 9 && memcmp(t.p, "sm_", 3) == 0) {
            p->m->target = 0;
            for (size_t i = 3; i < t.n && t.p[i] >= '0' && t.p[i] <= '9'; i++)
                p->m->target = p->m->target * 10 + (uint32_t)(t.p[i] - '0');
        }
        WW_TRY(ww_ptx_next(p));
        WW_TRY(ww_ptx_take_if(p, ',', &more));
    } while (more);
    if (!p->m->target) return ww_ptx_expected(p, "a target such as sm_70");
    return WW_OK;
}

static enum ww_code parse_address_size(struct ptx_parser *p) {
    struct ptx_token t = p->tok;
    if (t.kind != TOK_INT) return ww_ptx_expected(p, "64");
    if (t.value != 64)
        return ww_ptx_fail_at(p, &t, WW_UNSUPPORTED, "expected .address_size 64, found %llu",
                              (unsigned long long)t.value);
    p->m->address_bits = 64;
    return ww_ptx_next(p);
}

/* .alias a, b; */
static enum ww_code parse_alias(struct ptx_parser *p) {
    struct ptx_name *e[2];
    for (int i = 0; i < 2; i++) {
        struct ptx_token t = p->tok;
        e[i] = t.kind == TOK_IDENT ? ww_ptx_name_find(p, NAME_VALUE, t.p, t.n) : NULL;
        if (!e[i] || e[i]->kind != VALUE_SYMBOL || e[i]->symbol->kind != PTX_SYM_FUNC)
            return ww_ptx_expected(p, "a function");
        WW_TRY(ww_ptx_next(p));
        if (!i) WW_TRY(ww_ptx_take(p, ','));
    }
    e[0]->symbol->func = e[1]->symbol->func;
    return ww_ptx_take(p, ';');
}

static bool is_space(const struct ptx_parser *p) {
    return ww_ptx_is_dot(p, "global") || ww_ptx_is_dot(p, "const") || ww_ptx_is_dot(p, "shared") ||
           ww_ptx_is_dot(p, "local");
}

/* Linking directives, then a function or a variable. */
static enum ww_code parse_linked(struct ptx_parser *p) {
    bool is_extern = false;
    while (ww_ptx_is_dot(p, "visible") || ww_ptx_is_dot(p, "weak") || ww_ptx_is_dot(p, "extern") ||
           ww_ptx_is_dot(p, "common")) {
        is_extern |= ww_ptx_is_dot(p, "extern");
        WW_TRY(ww_ptx_next(p));
    }
    if (ww_ptx_is_dot(p, "entry") || ww_ptx_is_dot(p, "func")) return ww_ptx_parse_function(p, is_extern);
    if (is_space(p)) return ww_ptx_parse_variable(p, is_extern);
    if (p->tok.kind == TOK_DOT)
        return ww_ptx_fail_at(p, &p->tok, WW_UNSUPPORTED, "directive '.%.*s' is not supported",
                              (int)(p->tok.n < 60 ? p->tok.n : 60), p->tok.p);
    return ww_ptx_expected(p, "a directive");
}

static enum ww_code parse_item(struct ptx_parser *p) {
    if (ww_ptx_is_dot(p, "file")) return ww_ptx_parse_file(p);
    if (ww_ptx_is_dot(p, "loc")) return ww_ptx_parse_loc(p);
    if (ww_ptx_is_dot(p, "section")) {
        while (!ww_ptx_is_punct(p, '{')) {
            if (p->tok.kind == TOK_END) return ww_ptx_expected(p, "'{'");
            WW_TRY(ww_ptx_next(p));
        }
        return ww_ptx_skip_braces(p);
    }
    if (ww_ptx_is_dot(p, "pragma")) {
        while (!ww_ptx_is_punct(p, ';')) {
            if (p->tok.kind == TOK_END) return ww_ptx_expected(p, "';'");
            WW_TRY(ww_ptx_next(p));
        }
        return ww_ptx_next(p);
    }
    struct ptx_token t = p->tok;
    bool head = ww_ptx_is_dot(p, "version") || ww_ptx_is_dot(p, "target") || ww_ptx_is_dot(p, "address_size");
    if (!head && !ww_ptx_is_dot(p, "alias")) return parse_linked(p);
    WW_TRY(ww_ptx_next(p));
    if (ww_ptx_token_is(&t, "version")) return parse_version(p);
    if (ww_ptx_token_is(&t, "target")) return parse_target(p);
    return head ? parse_address_size(p) : parse_alias(p);
}

static enum ww_code check_call(struct ptx_parser *p, const struct ptx_inst *i) {
    const struct ptx_func *f = i->callee->func;
    if (i->call_args == f->param_count && i->call_ret == f->ret_count) return WW_OK;
    char where[512];
    snprintf(where, sizeof where, "%.400s:%u", p->m->name, i->text_line);
    return ww_fail(p->error, WW_INPUT, where, "expected %u arguments and %u results of '%s', found %u and %u",
                   f->param_count, f->ret_count, f->name, i->call_args, i->call_ret);
}

/* What may stand behind its uses is known now: source files, parameters of functions. */
static enum ww_code settle(struct ptx_parser *p) {
    struct ptx_module *m = p->m;
    for (size_t f = 0; f < m->func_count; f++)
        for (uint32_t i = 0; i < m->func[f]->inst_count; i++) {
            struct ptx_inst *inst = &m->func[f]->inst[i];
            if (inst->file >= m->file_count) inst->file = 0;
            if (inst->op == PTX_CALL && inst->callee) WW_TRY(check_call(p, inst));
        }
    return ww_ptx_place_shared(p);
}

static enum ww_code parse_all(struct ptx_parser *p) {
    WW_TRY(ww_ptx_names_init(p));
    WW_TRY(ww_ptx_next(p));
    if (!ww_ptx_is_dot(p, "version")) return ww_ptx_expected(p, "'.version'");
    while (p->tok.kind != TOK_END) {
        if (p->tok.kind == TOK_PUNCT && p->tok.punct == ';')
            WW_TRY(ww_ptx_next(p));
        else
            WW_TRY(parse_item(p));
    }
    if (!p->m->target) return ww_ptx_fail_at(p, &p->tok, WW_INPUT, "expected '.target'");
    return settle(p);
}

enum ww_code ww_ptx_module_parse(const char *text, size_t n, const char *name, struct ptx_module **module,
                                 struct ww_error *error) {
    *module = NULL;
    struct ptx_module *m = calloc(1, sizeof *m);
    struct ptx_parser *p = calloc(1, sizeof *p);
    while (n && !text[n - 1]) n--; /* embedded texts may end in NUL */
    if (m) ww_arena_init(&m->arena, MEMORY_LIMIT);
    if (m) m->name = ww_arena_strdup(&m->arena, name);
    if (m) m->address_bits = 64;
    enum ww_code code = WW_OK;
    if (!m || !p || !m->name) {
        code = ww_fail_nomem(error, "PTX module");
    } else {
        p->m = m;
        p->error = error;
        p->lex = (struct ptx_lexer){.p = text, .end = text + n, .line_start = text, .line = 1};
        code = parse_all(p);
    }
    free(p);
    if (code == WW_OK)
        *module = m;
    else
        ww_ptx_module_free(m);
    return code;
}

void ww_ptx_module_free(struct ptx_module *m) {
    if (!m) return;
    ww_arena_free(&m->arena);
    free(m);
}

struct ptx_func *ww_ptx_module_func(const struct ptx_module *m, const char *name) {
    for (size_t i = 0; i < m->func_count; i++)
        if (!strcmp(m->func[i]->name, name)) return m->func[i];
    return NULL;
}
