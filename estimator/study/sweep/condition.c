/* Conditions between parameters: a recursive descent that evaluates as it reads. Both sides of "and" and "or"
 * are always read, so that an error shows at the first point. */
#include "sweep.h"
#include "words.h"
#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { NAME_LEN = 128, NESTING = 64 };

struct reader {
    const char *text, *p, *where;
    ww_sweep_lookup lookup;
    const void *context;
    struct ww_error *error;
    enum ww_code code;
    unsigned depth;
};

/* A number, or a text: n bytes at s. */
struct value {
    const char *s; /* NULL: a number */
    size_t n;
    double v;
};

static struct value number(double v) {
    return (struct value){NULL, 0, v};
}

static struct value fail(struct reader *r, const char *what) {
    if (r->code == WW_OK)
        r->code = ww_fail(r->error, WW_INPUT, r->where, "column %zu of the condition \"%.200s\": %s",
                          (size_t)(r->p - r->text) + 1, r->text, what);
    return number(0);
}

static bool take(struct reader *r, const char *sign) {
    return ww_word_take(&r->p, sign);
}

static double numeric(struct reader *r, struct value v) {
    if (v.s) fail(r, "a text stands where a number must be");
    return v.v;
}

static struct value either(struct reader *r);

static struct value named(struct reader *r) {
    char name[NAME_LEN];
    size_t n = 0;
    while (ww_word_char(r->p[n])) n++;
    if (n == 0) return fail(r, *r->p ? "expected a number, a 'text', a parameter or (" : "it ends too early");
    if (n >= sizeof name) return fail(r, "a name of more than 127 characters");
    memcpy(name, r->p, n);
    name[n] = 0;
    if (strcmp(name, "true") == 0 || strcmp(name, "false") == 0) {
        r->p += n;
        return number(name[0] == 't');
    }
    const struct ww_sweep_level *level = r->lookup(r->context, name);
    if (!level) return fail(r, "no such parameter in \"parameters\"");
    r->p += n;
    return level->number ? number(level->value) : (struct value){level->text, strlen(level->text), 0};
}

static struct value primary(struct reader *r) {
    r->p = ww_word_skip(r->p);
    if (*r->p == '\'') {
        const char *end = strchr(r->p + 1, '\'');
        if (!end) return fail(r, "the text is not closed by '");
        struct value v = {r->p + 1, (size_t)(end - r->p - 1), 0};
        r->p = end + 1;
        return v;
    }
    if (isdigit((unsigned char)*r->p) || *r->p == '.') {
        char *end;
        double v = strtod(r->p, &end);
        if (end == r->p || ww_word_char(*end) || !isfinite(v)) return fail(r, "not a number");
        r->p = end;
        return number(v);
    }
    if (!take(r, "(")) return named(r);
    struct value v = either(r);
    if (!take(r, ")")) return fail(r, "expected )");
    return v;
}

static struct value unary(struct reader *r) {
    if (++r->depth > NESTING) return fail(r, "nested too deeply");
    struct value v = take(r, "-") ? number(-numeric(r, unary(r))) : primary(r);
    r->depth--;
    return v;
}

static struct value product(struct reader *r) {
    struct value v = unary(r);
    while (r->code == WW_OK) {
        char op = take(r, "*") ? '*' : take(r, "/") ? '/' : take(r, "%") ? '%' : 0;
        if (!op) break;
        double a = numeric(r, v), b = numeric(r, unary(r));
        v = number(op == '*' ? a * b : op == '/' ? a / b : fmod(a, b));
    }
    return v;
}

static struct value sum(struct reader *r) {
    struct value v = product(r);
    while (r->code == WW_OK) {
        char op = take(r, "+") ? '+' : take(r, "-") ? '-' : 0;
        if (!op) break;
        double a = numeric(r, v), b = numeric(r, product(r));
        v = number(op == '+' ? a + b : a - b);
    }
    return v;
}

static bool equal(struct reader *r, struct value a, struct value b) {
    if (!a.s != !b.s) {
        fail(r, "a text is compared with a number");
        return false;
    }
    return a.s ? a.n == b.n && memcmp(a.s, b.s, a.n) == 0 : a.v == b.v;
}

static struct value comparison(struct reader *r) {
    static const char *const signs[] = {"==", "!=", "<=", ">=", "<", ">"};
    struct value a = sum(r);
    size_t op = 0;
    while (op < 6 && !take(r, signs[op])) op++;
    if (op == 6 || r->code != WW_OK) return a;
    struct value b = sum(r);
    if (op < 2) return number(equal(r, a, b) == (op == 0));
    double x = numeric(r, a), y = numeric(r, b);
    return number(op == 2 ? x <= y : op == 3 ? x >= y : op == 4 ? x < y : x > y);
}

static struct value negation(struct reader *r) {
    if (++r->depth > NESTING) return fail(r, "nested too deeply");
    struct value v = take(r, "not") ? number(numeric(r, negation(r)) == 0) : comparison(r);
    r->depth--;
    return v;
}

static struct value both(struct reader *r) {
    struct value v = negation(r);
    while (r->code == WW_OK && take(r, "and")) {
        double a = numeric(r, v), b = numeric(r, negation(r));
        v = number(a != 0 && b != 0);
    }
    return v;
}

static struct value either(struct reader *r) {
    struct value v = both(r);
    while (r->code == WW_OK && take(r, "or")) {
        double a = numeric(r, v), b = numeric(r, both(r));
        v = number(a != 0 || b != 0);
    }
    return v;
}

enum ww_code ww_sweep_condition(const char *text, ww_sweep_lookup lookup, const void *context,
                                const char *where, bool *holds, struct ww_error *error) {
    struct reader r = {
        .text = text, .p = text, .where = where, .lookup = lookup, .context = context, .error = error};
    double v = numeric(&r, either(&r));
    r.p = ww_word_skip(r.p);
    if (r.code == WW_OK && *r.p) fail(&r, "expected nothing more, or an operator");
    *holds = v != 0 && !isnan(v);
    return r.code;
}
