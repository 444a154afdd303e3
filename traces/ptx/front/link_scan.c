/* link_scan.c: PTX text as tokens, and as statements of the module's level. */
#include "link_scan.h"
#include <string.h>

static bool is_word(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '$' ||
           c == '%';
}

static const char *line_end(const char *p, const char *end) {
    const char *at = p < end ? memchr(p, '\n', (size_t)(end - p)) : NULL;
    return at ? at : end;
}

static const char *skip_space(const char *p, const char *end) {
    while (p < end) {
        if (*p == ' ' || *p == '\t' || *p == '\n' || *p == '\r' || *p == 0) {
            p++;
        } else if (end - p >= 2 && p[0] == '/' && p[1] == '/') {
            p = line_end(p, end);
        } else if (end - p >= 2 && p[0] == '/' && p[1] == '*') {
            for (p += 2; end - p >= 2 && !(p[0] == '*' && p[1] == '/');) p++;
            p = end - p >= 2 ? p + 2 : end;
        } else {
            break;
        }
    }
    return p;
}

struct link_token ww_link_token(const char **at, const char *end) {
    const char *p = skip_space(*at, end), *from = p;
    enum link_token_kind kind = LINK_MARK;
    if (p == end) {
        *at = p;
        return (struct link_token){LINK_END, p, 0};
    }
    if (*p == '"') {
        kind = LINK_STRING;
        for (p++; p < end && *p != '"';) p += *p == '\\' && end - p > 1 ? 2 : 1;
        p += p < end;
    } else if (is_word(*p) || *p == '.') {
        kind = *p == '.' ? LINK_DIRECTIVE : LINK_WORD;
        for (p++; p < end && is_word(*p);) p++;
    } else {
        p++;
    }
    *at = p;
    return (struct link_token){kind, from, (size_t)(p - from)};
}

bool ww_link_is(const struct link_token *t, const char *text) {
    return strlen(text) == t->n && memcmp(t->p, text, t->n) == 0;
}

static bool note_linkage(struct link_statement *s, const struct link_token *t) {
    static const struct {
        const char *text;
        enum link_linkage linkage;
    } list[] = {
        {".visible", LINK_VISIBLE}, {".extern", LINK_EXTERN}, {".weak", LINK_WEAK}, {".common", LINK_COMMON}};
    for (size_t n = 0; n < sizeof list / sizeof list[0]; n++) {
        if (!ww_link_is(t, list[n].text)) continue;
        s->linkage = list[n].linkage;
        return true;
    }
    return false;
}

static void note_directive(struct link_statement *s, const struct link_token *t) {
    static const char *const spaces[] = {".global", ".const", ".shared", ".tex"};
    if (note_linkage(s, t)) return;
    if (ww_link_is(t, ".func") || ww_link_is(t, ".entry")) {
        s->kind = LINK_DECLARATION;
        s->entry = ww_link_is(t, ".entry");
    }
    for (size_t n = 0; n < sizeof spaces / sizeof spaces[0]; n++)
        if (s->kind == LINK_OTHER && ww_link_is(t, spaces[n])) s->kind = LINK_VARIABLE;
}

struct depth {
    int brace, other;
};

static void count_mark(struct depth *d, char c) {
    d->brace += (c == '{') - (c == '}');
    d->other += (c == '(' || c == '[') - (c == ')' || c == ']');
}

/* Up to the semicolon, or the end of a function's body. False if there is no end. */
static bool read_statement(const char **p, const char *end, struct link_statement *s) {
    struct depth d = {0, 0};
    for (;;) {
        struct link_token t = ww_link_token(p, end);
        if (t.kind == LINK_END) return false;
        if (t.kind == LINK_MARK) {
            if (*t.p == '{' && d.brace == 0 && s->kind == LINK_DECLARATION) {
                s->kind = LINK_FUNCTION;
                s->body = t.p;
            }
            count_mark(&d, *t.p);
            if (d.brace < 0 || d.other < 0) return false;
            if (d.brace == 0 && ((*t.p == ';' && d.other == 0) || (*t.p == '}' && s->kind == LINK_FUNCTION)))
                return true;
        } else if (t.kind == LINK_DIRECTIVE && d.brace == 0 && d.other == 0) {
            note_directive(s, &t);
        } else if (t.kind == LINK_WORD && !s->name && d.brace == 0 && d.other == 0 &&
                   !(*t.p >= '0' && *t.p <= '9')) {
            s->name = t.p;
            s->name_n = t.n;
        }
    }
}

/* Behind the braces of a section. */
static bool skip_section(const char **p, const char *end) {
    struct depth d = {0, 0};
    for (;;) {
        struct link_token t = ww_link_token(p, end);
        if (t.kind == LINK_END) return false;
        if (t.kind != LINK_MARK) continue;
        count_mark(&d, *t.p);
        if (d.brace <= 0 && *t.p == '}') return true;
    }
}

enum ww_code ww_link_statement(const char **p, const char *text_end, const char *where,
                               struct link_statement *s, bool *more, struct ww_error *error) {
    const char *from = *p;
    struct link_token t = ww_link_token(p, text_end);
    *s = (struct link_statement){.kind = LINK_OTHER, .p = t.p};
    *more = t.kind != LINK_END;
    if (!*more) return WW_OK;
    bool header = ww_link_is(&t, ".version") || ww_link_is(&t, ".target") || ww_link_is(&t, ".address_size");
    bool whole = true;
    if (header || ww_link_is(&t, ".file")) {
        s->kind = header ? LINK_HEADER : LINK_FILE;
        *p = line_end(*p, text_end);
    } else if (ww_link_is(&t, ".section")) {
        s->dropped = true;
        whole = skip_section(p, text_end);
    } else {
        *p = t.p;
        whole = read_statement(p, text_end, s);
    }
    s->end = *p;
    if (!whole)
        return ww_fail(error, WW_INPUT, where, "a statement without end: expected ';' or '}' behind '%.40s'",
                       from < text_end ? t.p : "");
    return WW_OK;
}
