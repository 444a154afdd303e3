/* Whole-number expressions: a recursive descent that evaluates as it reads. What is not taken (the right side
 * of "0 && x") is read with `dead` above 0: its names must be known, but its arithmetic cannot fail. */
#include "expression.h"
#include "words.h"
#include <ctype.h>
#include <string.h>

enum { NAME_MOST = 128, NESTING_MOST = 64 };

struct reader {
    const char *text, *p, *where;
    ww_expression_lookup lookup;
    const void *context;
    struct ww_error *error;
    enum ww_code code;
    unsigned depth, dead;
};

static int64_t fail(struct reader *r, const char *what) {
    if (r->code == WW_OK)
        r->code = ww_fail(r->error, WW_INPUT, r->where, "column %zu of \"%.200s\": %s",
                          (size_t)(r->p - r->text) + 1, r->text, what);
    return 0;
}

static int64_t beyond(struct reader *r) {
    return r->dead ? 0 : fail(r, "the value is beyond 64 bits");
}

static bool take(struct reader *r, const char *sign) {
    return ww_word_take(&r->p, sign);
}

static int64_t choice(struct reader *r);

static int64_t quotient(struct reader *r, int64_t a, int64_t b, char op) {
    if (b == 0) return r->dead ? 0 : fail(r, "a division by 0");
    if (a == INT64_MIN && b == -1) return op == '%' ? 0 : beyond(r);
    int64_t q = a / b, rest = a % b;
    if (op == '%') return rest;
    if (op == 'f' && rest && (rest < 0) != (b < 0)) return q - 1;
    if (op == 'c' && rest && (rest < 0) == (b < 0)) return q + 1;
    return q;
}

static int64_t call(struct reader *r, const char *name) {
    bool least = strcmp(name, "min") == 0, divides = strcmp(name, "ceil_div") == 0;
    int64_t v = choice(r);
    unsigned arguments = 1;
    for (; r->code == WW_OK && take(r, ","); arguments++) {
        int64_t next = choice(r);
        if (divides && arguments == 1)
            v = quotient(r, v, next, 'c');
        else
            v = least ? (next < v ? next : v) : next > v ? next : v;
    }
    if (divides && arguments != 2) fail(r, "ceil_div takes two values");
    if (!take(r, ")")) fail(r, "expected , or )");
    return v;
}

static int64_t named(struct reader *r) {
    char name[NAME_MOST];
    size_t n = 0;
    int64_t v = 0;
    while (ww_word_char(r->p[n])) n++;
    if (n == 0) return fail(r, *r->p ? "expected a number, a name or (" : "it ends too early");
    if (n >= sizeof name) return fail(r, "a name of more than 127 characters");
    memcpy(name, r->p, n);
    name[n] = 0;
    bool function = strcmp(name, "min") == 0 || strcmp(name, "max") == 0 || strcmp(name, "ceil_div") == 0;
    if (!function && !r->lookup(r->context, name, &v)) return fail(r, "no parameter has this name");
    r->p += n;
    if (!function) return v;
    return take(r, "(") ? call(r, name) : fail(r, "expected (");
}

static int64_t number(struct reader *r) {
    bool hexadecimal = r->p[0] == '0' && (r->p[1] == 'x' || r->p[1] == 'X');
    int base = hexadecimal ? 16 : 10;
    int64_t v = 0;
    if (hexadecimal) r->p += 2;
    const char *first = r->p;
    for (; isxdigit((unsigned char)*r->p) && (hexadecimal || isdigit((unsigned char)*r->p)); r->p++) {
        char c = (char)tolower((unsigned char)*r->p);
        int digit = c <= '9' ? c - '0' : c - 'a' + 10;
        if (__builtin_mul_overflow(v, base, &v) || __builtin_add_overflow(v, digit, &v))
            return fail(r, "a number beyond 64 bits");
    }
    return r->p == first || ww_word_char(*r->p) ? fail(r, "not a whole number") : v;
}

static int64_t primary(struct reader *r) {
    r->p = ww_word_skip(r->p);
    if (isdigit((unsigned char)*r->p)) return number(r);
    if (!take(r, "(")) return named(r);
    int64_t v = choice(r);
    if (!take(r, ")")) fail(r, "expected )");
    return v;
}

static int64_t unary(struct reader *r) {
    if (++r->depth > NESTING_MOST) return fail(r, "nested too deeply");
    int64_t v;
    r->p = ww_word_skip(r->p);
    if (*r->p == '-') {
        r->p++;
        if (__builtin_sub_overflow((int64_t)0, unary(r), &v)) v = beyond(r);
    } else if (*r->p == '+') {
        r->p++;
        v = unary(r);
    } else if (*r->p == '!' && r->p[1] != '=') {
        r->p++;
        v = !unary(r);
    } else
        v = primary(r);
    r->depth--;
    return v;
}

static int64_t product(struct reader *r) {
    int64_t v = unary(r);
    while (r->code == WW_OK) {
        char op = take(r, "*") ? '*' : take(r, "//") ? 'f' : take(r, "/") ? '/' : take(r, "%") ? '%' : 0;
        if (!op) break;
        int64_t b = unary(r);
        if (op != '*')
            v = quotient(r, v, b, op);
        else if (__builtin_mul_overflow(v, b, &v))
            v = beyond(r);
    }
    return v;
}

static int64_t sum(struct reader *r) {
    int64_t v = product(r);
    while (r->code == WW_OK) {
        char op = take(r, "+") ? '+' : take(r, "-") ? '-' : 0;
        if (!op) break;
        int64_t b = product(r);
        if (op == '+' ? __builtin_add_overflow(v, b, &v) : __builtin_sub_overflow(v, b, &v)) v = beyond(r);
    }
    return v;
}

static int64_t order(struct reader *r) {
    int64_t v = sum(r);
    while (r->code == WW_OK) {
        char op = take(r, "<=") ? 'l' : take(r, ">=") ? 'g' : take(r, "<") ? '<' : take(r, ">") ? '>' : 0;
        if (!op) break;
        int64_t b = sum(r);
        v = op == 'l' ? v <= b : op == 'g' ? v >= b : op == '<' ? v < b : v > b;
    }
    return v;
}

static int64_t equality(struct reader *r) {
    int64_t v = order(r);
    while (r->code == WW_OK) {
        char op = take(r, "==") ? '=' : take(r, "!=") ? '!' : 0;
        if (!op) break;
        v = (v == order(r)) == (op == '=');
    }
    return v;
}

static int64_t negation(struct reader *r) {
    if (++r->depth > NESTING_MOST) return fail(r, "nested too deeply");
    int64_t v = take(r, "not") ? !negation(r) : equality(r);
    r->depth--;
    return v;
}

static int64_t both(struct reader *r) {
    int64_t v = negation(r);
    while (r->code == WW_OK && (take(r, "&&") || take(r, "and"))) {
        bool dead = !v;
        r->dead += dead;
        int64_t b = negation(r);
        r->dead -= dead;
        v = v && b;
    }
    return v;
}

static int64_t either(struct reader *r) {
    int64_t v = both(r);
    while (r->code == WW_OK && (take(r, "||") || take(r, "or"))) {
        bool dead = v != 0;
        r->dead += dead;
        int64_t b = both(r);
        r->dead -= dead;
        v = v || b;
    }
    return v;
}

static int64_t choice(struct reader *r) {
    if (++r->depth > NESTING_MOST) return fail(r, "nested too deeply");
    int64_t v = either(r);
    if (r->code == WW_OK && take(r, "?")) {
        bool yes = v != 0;
        r->dead += !yes;
        int64_t a = choice(r);
        r->dead -= !yes;
        if (!take(r, ":")) fail(r, "expected :");
        r->dead += yes;
        int64_t b = choice(r);
        r->dead -= yes;
        v = yes ? a : b;
    }
    r->depth--;
    return v;
}

enum ww_code ww_expression(const char *text, ww_expression_lookup lookup, const void *context,
                           const char *where, int64_t *value, struct ww_error *error) {
    struct reader r = {
        .text = text, .p = text, .where = where, .lookup = lookup, .context = context, .error = error};
    *value = choice(&r);
    r.p = ww_word_skip(r.p);
    if (r.code == WW_OK && *r.p) fail(&r, "expected nothing more, or an operator");
    return r.code;
}

bool ww_expression_is_name(const char *text) {
    if (!isalpha((unsigned char)text[0]) && text[0] != '_') return false;
    for (; *text; text++)
        if (!isalnum((unsigned char)*text) && *text != '_') return false;
    return true;
}
