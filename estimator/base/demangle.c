/* Names of C++ kernels for people. */
#include "demangle.h"
#include <stdint.h>
#include <stdio.h>
#include <string.h>

enum { TEXT = 1u << 14, SUBSTITUTIONS = 256, DEPTH = 48, NAME_MOST = 8192, ARGUMENTS = 64 };

/* A piece of `text`. */
struct piece {
    unsigned at, n;
};

struct reader {
    const char *p, *end;
    bool brief, failed;
    unsigned depth, inside; /* of calls, and of template arguments */
    char text[TEXT];        /* all pieces; it only grows, so that hostile names end */
    unsigned used;
    struct piece known[SUBSTITUTIONS]; /* what S_, S0_, ... stand for */
    unsigned known_count;
    struct piece argument[ARGUMENTS]; /* what T_, T0_, ... stand for: arguments of the last outer template */
    unsigned argument_count;
};

static struct piece read_type(struct reader *r);
static struct piece read_name(struct reader *r);

/* ---- pieces ---- */

static struct piece fail(struct reader *r) {
    r->failed = true;
    return (struct piece){0, 0};
}

static struct piece make(struct reader *r, const char *s, size_t n) {
    if (r->failed || n > TEXT - r->used) return fail(r);
    struct piece out = {r->used, (unsigned)n};
    memcpy(r->text + r->used, s, n);
    r->used += (unsigned)n;
    return out;
}

static struct piece word(struct reader *r, const char *s) {
    return make(r, s, strlen(s));
}

/* a, then s, then b. */
static struct piece join(struct reader *r, struct piece a, const char *s, struct piece b) {
    size_t n = strlen(s);
    if (r->failed || a.n + n + b.n > TEXT - r->used) return fail(r);
    struct piece out = {r->used, a.n + (unsigned)n + b.n};
    memmove(r->text + r->used, r->text + a.at, a.n);
    memcpy(r->text + r->used + a.n, s, n);
    memmove(r->text + r->used + a.n + n, r->text + b.at, b.n);
    r->used += out.n;
    return out;
}

static struct piece behind(struct reader *r, struct piece a, const char *s) {
    return join(r, a, s, (struct piece){0, 0});
}

static struct piece know(struct reader *r, struct piece a) {
    if (r->known_count == SUBSTITUTIONS) return fail(r);
    r->known[r->known_count++] = a;
    return a;
}

/* ---- characters ---- */

static char peek(const struct reader *r) {
    return r->p < r->end ? *r->p : 0;
}

static bool take(struct reader *r, const char *s) {
    size_t n = strlen(s);
    if ((size_t)(r->end - r->p) < n || memcmp(r->p, s, n) != 0) return false;
    r->p += n;
    return true;
}

static unsigned number(struct reader *r) {
    unsigned v = 0, digits = 0;
    while (peek(r) >= '0' && peek(r) <= '9' && digits++ < 6) v = v * 10 + (unsigned)(*r->p++ - '0');
    if (!digits || digits > 6) fail(r);
    return v;
}

/* "_" is 0, "0_" 1, "1_" 2 ...; in base 36 for substitutions. */
static unsigned sequence(struct reader *r) {
    unsigned v = 0;
    if (take(r, "_")) return 0;
    while (peek(r) && peek(r) != '_' && v < 10000) {
        char c = *r->p++;
        unsigned digit = c >= '0' && c <= '9'   ? (unsigned)(c - '0')
                         : c >= 'A' && c <= 'Z' ? (unsigned)(c - 'A') + 10
                                                : 99;
        if (digit == 99) fail(r);
        v = v * 36 + digit;
    }
    if (!take(r, "_")) fail(r);
    return v + 1;
}

/* ---- names ---- */

/* In a brief name only the last component counts. */
static struct piece component(struct reader *r, struct piece scope, struct piece name) {
    return r->brief || !scope.n ? name : join(r, scope, "::", name);
}

static struct piece source_name(struct reader *r) {
    unsigned n = number(r);
    if (r->failed || n > (size_t)(r->end - r->p)) return fail(r);
    const char *s = r->p;
    r->p += n;
    if (n >= 10 && strncmp(s, "_GLOBAL__N", 10) == 0) return word(r, "(anonymous namespace)");
    struct piece out = make(r, s, n);
    while (take(r, "B")) { /* ABI tags */
        unsigned tag = number(r);
        if (r->failed || tag > (size_t)(r->end - r->p)) return fail(r);
        r->p += tag;
    }
    return out;
}

static struct piece operator_name(struct reader *r) {
    static const char *const names[][2] = {
        {"cl", "()"}, {"ix", "[]"}, {"pl", "+"},  {"mi", "-"},  {"ml", "*"},  {"dv", "/"},  {"rm", "%"},
        {"eq", "=="}, {"ne", "!="}, {"lt", "<"},  {"gt", ">"},  {"le", "<="}, {"ge", ">="}, {"aS", "="},
        {"pL", "+="}, {"mI", "-="}, {"mL", "*="}, {"ls", "<<"}, {"rs", ">>"}, {"nt", "!"},  {"pp", "++"},
        {"mm", "--"}, {"an", "&"},  {"or", "|"},  {"eo", "^"},  {"aa", "&&"}, {"oo", "||"}, {"pt", "->"},
    };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (take(r, names[i][0])) return join(r, word(r, "operator"), names[i][1], (struct piece){0, 0});
    return fail(r);
}

/* "{lambda()#1}": its parameters are read over. */
static struct piece unnamed(struct reader *r, bool lambda) {
    char text[48];
    while (lambda && !r->failed && !take(r, "E")) read_type(r);
    unsigned n = sequence(r) + 1;
    snprintf(text, sizeof text, lambda ? "{lambda#%u}" : "{unnamed type#%u}", n);
    return word(r, text);
}

static struct piece unqualified(struct reader *r) {
    char c = peek(r);
    if (c >= '0' && c <= '9') return source_name(r);
    if (take(r, "Ul")) return unnamed(r, true);
    if (take(r, "Ut")) return unnamed(r, false);
    if (take(r, "L")) return source_name(r); /* internal linkage */
    return operator_name(r);
}

/* ---- template arguments ---- */

static struct piece literal(struct reader *r) {
    if (take(r, "_Z")) {
        struct piece name = read_name(r);
        while (!r->failed && peek(r) && peek(r) != 'E') read_type(r);
        return take(r, "E") ? join(r, word(r, "&"), "", name) : fail(r);
    }
    char kind = peek(r);
    struct piece type = read_type(r);
    const char *s = r->p;
    while (peek(r) && peek(r) != 'E') r->p++;
    size_t n = (size_t)(r->p - s);
    if (!take(r, "E")) return fail(r);
    if (kind == 'b' && n == 1) return word(r, *s == '1' ? "true" : "false");
    struct piece value = n && *s == 'n' ? join(r, word(r, "-"), "", make(r, s + 1, n - 1)) : make(r, s, n);
    if (kind == 'i' || r->brief) return value;
    if (kind == 'j') return behind(r, value, "u");
    if (kind == 'l') return behind(r, value, "l");
    if (kind == 'm') return behind(r, value, "ul");
    return join(r, join(r, word(r, "("), "", type), ")", value);
}

static struct piece argument(struct reader *r);

static struct piece arguments(struct reader *r, struct piece *kept, unsigned *count) {
    struct piece all = {0, 0};
    bool any = false;
    while (!r->failed && !take(r, "E")) {
        if (!peek(r)) return fail(r);
        struct piece one = argument(r);
        if (kept && *count < ARGUMENTS) kept[(*count)++] = one;
        if (!one.n) continue; /* an empty pack */
        all = any ? join(r, all, ", ", one) : one;
        any = true;
    }
    return all;
}

static struct piece argument(struct reader *r) {
    if (++r->depth > DEPTH) return fail(r);
    if (take(r, "XadL")) { /* the address of a function */
        struct piece address = literal(r);
        r->depth--;
        return take(r, "E") ? address : fail(r);
    }
    struct piece out = take(r, "L") ? literal(r) : take(r, "J") ? arguments(r, NULL, NULL) : read_type(r);
    r->depth--;
    return out;
}

/* Behind "I": name<...>; inside of other arguments a brief name has none. */
static struct piece template_of(struct reader *r, struct piece name) {
    struct piece kept[ARGUMENTS];
    unsigned count = 0;
    if (++r->depth > DEPTH) return fail(r);
    r->inside++;
    struct piece all = arguments(r, kept, &count);
    r->inside--;
    r->depth--;
    if (r->failed) return all;
    if (!r->inside) {
        memcpy(r->argument, kept, count * sizeof *kept);
        r->argument_count = count;
    }
    if (r->brief && r->inside) return name;
    return behind(r, join(r, name, "<", all), ">");
}

/* ---- substitutions ---- */

static struct piece substitution(struct reader *r) {
    static const char *const std[][2] = {
        {"t", "std"},          {"a", "std::allocator"}, {"b", "std::basic_string"}, {"s", "std::string"},
        {"i", "std::istream"}, {"o", "std::ostream"},   {"d", "std::iostream"}};
    for (size_t i = 0; i < sizeof std / sizeof *std; i++)
        if (take(r, std[i][0])) return word(r, r->brief && i ? std[i][1] + 5 : std[i][1]);
    unsigned n = sequence(r);
    return r->failed || n >= r->known_count ? fail(r) : r->known[n];
}

static struct piece template_parameter(struct reader *r) {
    unsigned n = sequence(r);
    return r->failed || n >= r->argument_count ? fail(r) : r->argument[n];
}

static struct piece nested(struct reader *r) {
    struct piece scope = {0, 0};
    while (take(r, "r") || take(r, "V") || take(r, "K") || take(r, "R") || take(r, "O")) {
    }
    while (!r->failed && !take(r, "E")) {
        if (!peek(r)) return fail(r);
        if (take(r, "S")) {
            scope = substitution(r);
            continue; /* it is known already */
        }
        if (take(r, "T")) {
            scope = template_parameter(r);
        } else if (take(r, "I")) {
            scope = template_of(r, scope);
        } else {
            scope = component(r, scope, unqualified(r));
        }
        if (peek(r) != 'E') know(r, scope);
    }
    return scope;
}

/* A function's own names: _ZZ function E name. */
static struct piece local(struct reader *r) {
    struct piece function = read_name(r);
    while (!r->failed && peek(r) && peek(r) != 'E') read_type(r);
    if (!take(r, "E")) return fail(r);
    if (take(r, "s")) return function;
    struct piece out = component(r, function, read_name(r));
    if (take(r, "_")) number(r);
    return out;
}

static struct piece read_name(struct reader *r) {
    struct piece out;
    bool fresh = true;
    if (++r->depth > DEPTH) return fail(r);
    if (take(r, "N")) {
        out = nested(r);
        r->depth--;
        return out;
    }
    if (take(r, "Z")) {
        out = local(r);
    } else if (take(r, "St")) {
        out = component(r, word(r, "std"), unqualified(r));
    } else if (take(r, "S")) {
        out = substitution(r);
        fresh = false;
    } else {
        out = unqualified(r);
    }
    if (take(r, "I")) {
        if (fresh) know(r, out);
        out = template_of(r, out);
    }
    r->depth--;
    return out;
}

/* ---- types ---- */

static const char *builtin(char c) {
    static const char *const names[26] = {['a' - 'a'] = "signed char",
                                          ['b' - 'a'] = "bool",
                                          ['c' - 'a'] = "char",
                                          ['d' - 'a'] = "double",
                                          ['e' - 'a'] = "long double",
                                          ['f' - 'a'] = "float",
                                          ['h' - 'a'] = "unsigned char",
                                          ['i' - 'a'] = "int",
                                          ['j' - 'a'] = "unsigned int",
                                          ['l' - 'a'] = "long",
                                          ['m' - 'a'] = "unsigned long",
                                          ['n' - 'a'] = "__int128",
                                          ['s' - 'a'] = "short",
                                          ['t' - 'a'] = "unsigned short",
                                          ['v' - 'a'] = "void",
                                          ['w' - 'a'] = "wchar_t",
                                          ['x' - 'a'] = "long long",
                                          ['y' - 'a'] = "unsigned long long",
                                          ['z' - 'a'] = "..."};
    return c >= 'a' && c <= 'z' ? names[c - 'a'] : NULL;
}

static struct piece function_type(struct reader *r, const char *mark) {
    struct piece out = behind(r, read_type(r), mark), all = {0, 0};
    while (!r->failed && !take(r, "E")) {
        if (!peek(r)) return fail(r);
        bool none = take(r, "v");
        struct piece one = none ? (struct piece){0, 0} : read_type(r);
        all = all.n && one.n ? join(r, all, ", ", one) : one.n ? one : all;
    }
    return behind(r, join(r, out, "", all), ")");
}

static struct piece compound(struct reader *r) {
    static const char *const marks[][2] = {{"P", "*"},      {"R", "&"},         {"O", "&&"},
                                           {"K", " const"}, {"V", " volatile"}, {"r", " restrict"}};
    if (take(r, "PF")) { /* the function and the pointer are known each */
        struct piece out = know(r, function_type(r, " (*)("));
        return know(r, out);
    }
    for (size_t i = 0; i < sizeof marks / sizeof *marks; i++)
        if (take(r, marks[i][0])) return know(r, behind(r, read_type(r), marks[i][1]));
    if (take(r, "A")) {
        char size[32];
        snprintf(size, sizeof size, " [%u]", number(r));
        if (!take(r, "_")) return fail(r);
        return know(r, behind(r, read_type(r), size));
    }
    if (take(r, "F")) return know(r, function_type(r, " ("));
    if (take(r, "Dp")) return read_type(r); /* a pack in all its length */
    if (take(r, "Dn")) return word(r, "decltype(nullptr)");
    if (take(r, "Dh")) return word(r, "half");
    if (take(r, "u")) return know(r, source_name(r));
    return fail(r);
}

static struct piece read_type(struct reader *r) {
    struct piece out;
    char c = peek(r);
    if (r->failed || ++r->depth > DEPTH) return fail(r);
    if (builtin(c) && c != 'r') {
        r->p++;
        out = word(r, builtin(c));
    } else if (c == 'T') {
        r->p++;
        out = know(r, template_parameter(r));
    } else if (c == 'S' && r->end - r->p > 1 && r->p[1] != 't') {
        r->p++;
        out = substitution(r);
        if (take(r, "I")) out = know(r, template_of(r, out));
    } else if (c == 'N' || c == 'Z' || c == 'S' || (c >= '0' && c <= '9')) {
        out = know(r, read_name(r));
    } else {
        out = compound(r);
    }
    r->depth--;
    return out;
}

/* ---- the whole ---- */

static bool read_all(struct reader *r, const char *name, bool brief) {
    size_t n = strlen(name);
    if (n < 3 || n > NAME_MOST || name[0] != '_' || name[1] != 'Z') return false;
    memset(r, 0, offsetof(struct reader, text));
    r->used = r->known_count = r->argument_count = 0;
    r->p = name + 2;
    r->end = name + n;
    r->brief = brief;
    struct piece out = read_name(r);
    if (r->failed || !out.n) return false;
    memmove(r->text, r->text + out.at, out.n);
    r->used = out.n;
    return true;
}

static void keep(const char *s, size_t n, char *out, size_t size) {
    if (n >= size) n = size - 1;
    memcpy(out, s, n);
    out[n] = 0;
}

bool ww_demangle(const char *name, char *out, size_t size) {
    struct reader r;
    bool read = read_all(&r, name, false);
    if (read)
        keep(r.text, r.used, out, size);
    else
        keep(name, strlen(name), out, size);
    return read;
}

/* Cuts arguments from the end of "name<a, b, c>". */
static void cut(const char *s, size_t n, char out[WW_NAME_SHORT]) {
    static const char dots[] = "...>";
    size_t most = WW_NAME_SHORT - sizeof dots, at = most;
    while (at > 0 && s[at] != ' ' && s[at] != '<') at--;
    if (s[n - 1] != '>' || !at || !memchr(s, '<', at + 1)) {
        keep(s, n, out, WW_NAME_SHORT);
        return;
    }
    memcpy(out, s, at + 1);
    memcpy(out + at + 1, dots, sizeof dots);
}

const char *ww_short_name(const char *name, char out[WW_NAME_SHORT]) {
    struct reader r;
    size_t n = strlen(name);
    if (read_all(&r, name, true)) {
        if (r.used < WW_NAME_SHORT)
            keep(r.text, r.used, out, WW_NAME_SHORT);
        else
            cut(r.text, r.used, out);
    } else if (n < WW_NAME_SHORT) {
        keep(name, n, out, WW_NAME_SHORT);
    } else { /* the middle is left out */
        memcpy(out, name, 40);
        memcpy(out + 40, "...", 3);
        keep(name + n - 20, 20, out + 43, WW_NAME_SHORT - 43);
    }
    return out;
}
