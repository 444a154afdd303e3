/* lex.c: text to tokens. */
#include "front.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

static bool is_digit(char c) {
    return c >= '0' && c <= '9';
}

static bool is_word(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || is_digit(c) || c == '_' || c == '$';
}

static int hex_digit(char c) {
    if (is_digit(c)) return c - '0';
    if (c >= 'a' && c <= 'f') return c - 'a' + 10;
    if (c >= 'A' && c <= 'F') return c - 'A' + 10;
    return -1;
}

enum ww_code ww_ptx_fail_at(struct ptx_parser *p, const struct ptx_token *at, enum ww_code code,
                            const char *fmt, ...) {
    char where[512], text[512];
    snprintf(where, sizeof where, "%.400s:%u:%u", p->m->name, at->line, at->column);
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    return ww_fail(p->error, code, where, "%s", text);
}

enum ww_code ww_ptx_nomem(struct ptx_parser *p) {
    return ww_fail_nomem(p->error, "PTX module (1 GiB at most)");
}

enum ww_code ww_ptx_expected(struct ptx_parser *p, const char *what) {
    const struct ptx_token *t = &p->tok;
    if (t->kind == TOK_END)
        return ww_ptx_fail_at(p, t, WW_INPUT, "expected %s, found the end of the text", what);
    int n = (int)(t->n < 60 ? t->n : 60);
    return ww_ptx_fail_at(p, t, WW_INPUT, "expected %s, found '%s%.*s'", what, t->kind == TOK_DOT ? "." : "", n,
                          t->p);
}

bool ww_ptx_is_punct(const struct ptx_parser *p, char c) {
    return p->tok.kind == TOK_PUNCT && p->tok.punct == c;
}

bool ww_ptx_token_is(const struct ptx_token *t, const char *word) {
    return t->n == strlen(word) && memcmp(t->p, word, t->n) == 0;
}

bool ww_ptx_is_dot(const struct ptx_parser *p, const char *word) {
    return p->tok.kind == TOK_DOT && ww_ptx_token_is(&p->tok, word);
}

enum ww_code ww_ptx_take(struct ptx_parser *p, char c) {
    if (!ww_ptx_is_punct(p, c)) {
        char what[4] = {'\'', c, '\'', 0};
        return ww_ptx_expected(p, what);
    }
    return ww_ptx_next(p);
}

enum ww_code ww_ptx_take_if(struct ptx_parser *p, char c, bool *taken) {
    *taken = ww_ptx_is_punct(p, c);
    return *taken ? ww_ptx_next(p) : WW_OK;
}

/* Moves behind white space and comments; false: a comment has no end. */
static bool skip_space(struct ptx_lexer *l) {
    while (l->p < l->end) {
        char c = *l->p;
        if (c == '\n') {
            l->p++;
            l->line++;
            l->line_start = l->p;
        } else if (c == ' ' || c == '\t' || c == '\r' || c == '\f' || c == '\v') {
            l->p++;
        } else if (c == '/' && l->end - l->p > 1 && l->p[1] == '/') {
            while (l->p < l->end && *l->p != '\n') l->p++;
        } else if (c == '/' && l->end - l->p > 1 && l->p[1] == '*') {
            for (l->p += 2;; l->p++) {
                if (l->end - l->p < 2) return false;
                if (l->p[0] == '*' && l->p[1] == '/') break;
                if (*l->p == '\n') {
                    l->line++;
                    l->line_start = l->p + 1;
                }
            }
            l->p += 2;
        } else {
            return true;
        }
    }
    return true;
}

/* Digits of a base; false: none, or more than 64 bits. */
static bool read_digits(struct ptx_lexer *l, unsigned base, uint64_t *value) {
    const char *start = l->p;
    uint64_t v = 0;
    for (; l->p < l->end; l->p++) {
        int d = hex_digit(*l->p);
        if (d < 0 || (unsigned)d >= base) break;
        if (v > (UINT64_MAX - (unsigned)d) / base) return false;
        v = v * base + (unsigned)d;
    }
    *value = v;
    return l->p > start;
}

static enum ww_code read_hex_float(struct ptx_parser *p, struct ptx_token *t, unsigned digits) {
    struct ptx_lexer *l = &p->lex;
    l->p += 2;
    t->value = 0;
    for (unsigned i = 0; i < digits; i++, l->p++) {
        int d = l->p < l->end ? hex_digit(*l->p) : -1;
        if (d < 0) return ww_ptx_fail_at(p, t, WW_INPUT, "expected %u hexadecimal digits of a float", digits);
        t->value = t->value << 4 | (unsigned)d;
    }
    t->kind = digits == 8 ? TOK_F32 : TOK_F64;
    return WW_OK;
}

static enum ww_code read_decimal_float(struct ptx_parser *p, struct ptx_token *t) {
    struct ptx_lexer *l = &p->lex;
    char text[64];
    size_t n = 0;
    for (l->p = t->p; l->p < l->end && n < sizeof text - 1; l->p++) {
        char c = *l->p;
        bool sign = (c == '+' || c == '-') && n > 0 && (text[n - 1] == 'e' || text[n - 1] == 'E');
        if (!is_digit(c) && c != '.' && c != 'e' && c != 'E' && !sign) break;
        text[n++] = c;
    }
    text[n] = 0;
    char *end;
    double d = strtod(text, &end);
    if (*end || !n) return ww_ptx_fail_at(p, t, WW_INPUT, "'%s' is not a number", text);
    memcpy(&t->value, &d, sizeof d);
    t->kind = TOK_F64;
    return WW_OK;
}

static enum ww_code read_number(struct ptx_parser *p, struct ptx_token *t) {
    struct ptx_lexer *l = &p->lex;
    char second = l->end - l->p > 1 ? l->p[1] : 0;
    unsigned base = 10;
    if (*l->p == '0') {
        if (second == 'f' || second == 'F') return read_hex_float(p, t, 8);
        if (second == 'd' || second == 'D') return read_hex_float(p, t, 16);
        if (second == 'x' || second == 'X')
            base = 16;
        else if (second == 'b' || second == 'B')
            base = 2;
        else if (is_digit(second))
            base = 8;
    }
    if (base == 16 || base == 2) l->p += 2;
    bool good = read_digits(l, base, &t->value);
    if (good && base == 10 && l->p < l->end && (*l->p == '.' || *l->p == 'e' || *l->p == 'E'))
        return read_decimal_float(p, t);
    if (good && l->p < l->end && *l->p == 'U') l->p++;
    if (!good || (l->p < l->end && is_word(*l->p)))
        return ww_ptx_fail_at(p, t, WW_INPUT, "expected an integer of at most 64 bits");
    t->kind = TOK_INT;
    return WW_OK;
}

static enum ww_code read_string(struct ptx_parser *p, struct ptx_token *t) {
    struct ptx_lexer *l = &p->lex;
    t->p = ++l->p;
    while (l->p < l->end && *l->p != '"' && *l->p != '\n') {
        if (*l->p == '\\' && l->end - l->p > 1) l->p++;
        l->p++;
    }
    if (l->p >= l->end || *l->p != '"')
        return ww_ptx_fail_at(p, t, WW_INPUT, "expected '\"' at the string's end");
    t->n = (size_t)(l->p++ - t->p);
    t->kind = TOK_STRING;
    return WW_OK;
}

/* A directive or modifier: words joined by "::". */
static void read_dotted(struct ptx_lexer *l, struct ptx_token *t) {
    t->p = ++l->p;
    for (; l->p < l->end; l->p++) {
        bool colons = l->end - l->p > 2 && l->p[0] == ':' && l->p[1] == ':' && is_word(l->p[2]);
        if (colons)
            l->p++;
        else if (!is_word(*l->p))
            break;
    }
    t->n = (size_t)(l->p - t->p);
    t->kind = TOK_DOT;
}

enum ww_code ww_ptx_next(struct ptx_parser *p) {
    struct ptx_lexer *l = &p->lex;
    struct ptx_token *t = &p->tok;
    bool closed = skip_space(l);
    *t = (struct ptx_token){
        .kind = TOK_END, .line = l->line, .column = (uint32_t)(l->p - l->line_start) + 1, .p = l->p};
    if (!closed) return ww_ptx_fail_at(p, t, WW_INPUT, "expected '*/' at the comment's end");
    if (l->p >= l->end) return WW_OK;
    char c = *l->p, d = l->end - l->p > 1 ? l->p[1] : 0;
    if (is_digit(c)) {
        WW_TRY(read_number(p, t));
    } else if (is_word(c) || (c == '%' && is_word(d))) {
        for (l->p++; l->p < l->end && is_word(*l->p);) l->p++;
        t->kind = TOK_IDENT;
    } else if (c == '"') {
        return read_string(p, t);
    } else if (c == '.' && is_word(d)) {
        read_dotted(l, t);
        return WW_OK;
    } else if (c == 0 || c < 0 || !strchr("{}[]()<>,;:@!|+-*/%&^~=?.", c)) {
        return ww_ptx_fail_at(p, t, WW_INPUT, "expected PTX, found the character 0x%02x", (unsigned char)c);
    } else {
        l->p++;
        t->kind = TOK_PUNCT;
        t->punct = c;
    }
    t->n = (size_t)(l->p - t->p);
    return WW_OK;
}
