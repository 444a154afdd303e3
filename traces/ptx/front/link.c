/* link.c: device linking of PTX: which of the modules' statements stay, under which names, and in which order.
 */
#include "link_scan.h"
#include <stdlib.h>
#include <string.h>

struct linker {
    const struct ww_ptx_module *module;
    size_t modules;
    struct link_statement *statement;
    size_t count, most;
    struct link_statement **symbol; /* those with names, by name and module */
    size_t symbols;
    bool *needed;        /* modules */
    uint32_t *file_base; /* added to a module's file numbers */
};

/* ---- taking apart ---- */

static enum ww_code add_statement(struct linker *l, const struct link_statement *s, struct ww_error *error) {
    if (l->count == l->most) {
        size_t most = l->most ? 2 * l->most : 256;
        struct link_statement *list = realloc(l->statement, most * sizeof *list);
        if (!list) return ww_fail_nomem(error, "statements of PTX");
        l->statement = list;
        l->most = most;
    }
    l->statement[l->count++] = *s;
    return WW_OK;
}

static unsigned long file_number(const char *p, const char *end) {
    struct link_token t = ww_link_token(&p, end);
    t = ww_link_token(&p, end);
    return t.kind == LINK_WORD && t.n < 10 ? strtoul(t.p, NULL, 10) : 0;
}

static enum ww_code take_module(struct linker *l, size_t n, struct ww_error *error) {
    const struct ww_ptx_module *m = &l->module[n];
    const char *p = m->text, *end = m->text + m->n;
    unsigned long files = 0;
    for (bool more = true;;) {
        struct link_statement s;
        WW_TRY(ww_link_statement(&p, end, m->where, &s, &more, error));
        if (!more) break;
        s.module = (uint32_t)n;
        if (s.kind == LINK_DECLARATION && s.entry) s.dropped = true; /* for launches from kernels */
        if (s.kind == LINK_FILE && file_number(s.p, s.end) > files) files = file_number(s.p, s.end);
        if (!s.dropped) WW_TRY(add_statement(l, &s, error));
    }
    if (n + 1 < l->modules) l->file_base[n + 1] = l->file_base[n] + (uint32_t)(files < 1000000 ? files : 0);
    return WW_OK;
}

static int compare_names(const char *a, size_t an, const char *b, size_t bn) {
    int c = memcmp(a, b, an < bn ? an : bn);
    return c ? c : (an > bn) - (an < bn);
}

static int by_name(const void *pa, const void *pb) {
    const struct link_statement *a = *(struct link_statement *const *)pa,
                                *b = *(struct link_statement *const *)pb;
    int c = compare_names(a->name, a->name_n, b->name, b->name_n);
    if (c) return c;
    return a->module != b->module ? (a->module > b->module) - (a->module < b->module)
                                  : (a->p > b->p) - (a->p < b->p);
}

static enum ww_code sort_symbols(struct linker *l, struct ww_error *error) {
    l->symbol = calloc(l->count ? l->count : 1, sizeof(struct link_statement *));
    if (!l->symbol) return ww_fail_nomem(error, "symbols of PTX");
    for (size_t n = 0; n < l->count; n++) {
        struct link_statement *s = &l->statement[n];
        bool named = s->kind == LINK_FUNCTION || s->kind == LINK_DECLARATION || s->kind == LINK_VARIABLE;
        if (named && s->name) l->symbol[l->symbols++] = s;
    }
    qsort(l->symbol, l->symbols, sizeof *l->symbol, by_name);
    return WW_OK;
}

/* ---- which stay ---- */

static bool same_name(const struct link_statement *a, const struct link_statement *b) {
    return compare_names(a->name, a->name_n, b->name, b->name_n) == 0;
}

/* The end of the row of symbols of one name. */
static size_t row_end(const struct linker *l, size_t first) {
    size_t n = first + 1;
    while (n < l->symbols && same_name(l->symbol[first], l->symbol[n])) n++;
    return n;
}

static bool defines(const struct link_statement *s) {
    return s->linkage != LINK_EXTERN && s->linkage != LINK_LOCAL && s->kind != LINK_DECLARATION;
}

/* The definition that all modules share: a strong one before weak ones; NULL: none. */
static enum ww_code choose(const struct linker *l, size_t first, size_t end, struct link_statement **chosen,
                           struct ww_error *error) {
    *chosen = NULL;
    for (size_t n = first; n < end; n++) {
        struct link_statement *s = l->symbol[n];
        if (!defines(s) || !l->needed[s->module]) continue;
        if (*chosen && s->linkage == LINK_VISIBLE && (*chosen)->linkage == LINK_VISIBLE)
            return ww_fail(error, WW_INPUT, l->module[s->module].where,
                           "symbol %.*s is also defined in %s: expected one definition",
                           (int)(s->name_n < 200 ? s->name_n : 200), s->name,
                           l->module[(*chosen)->module].where);
        if (!*chosen || (s->linkage == LINK_VISIBLE && (*chosen)->linkage != LINK_VISIBLE)) *chosen = s;
    }
    return WW_OK;
}

static void drop_others(const struct linker *l, size_t first, size_t end, const struct link_statement *chosen) {
    bool declared = false;
    for (size_t n = first; n < end; n++) {
        struct link_statement *s = l->symbol[n];
        if (s == chosen || s->linkage == LINK_LOCAL || !l->needed[s->module]) continue;
        s->dropped = chosen || declared; /* what no module defines is declared once */
        declared = true;
    }
}

static enum ww_code resolve(struct linker *l, struct ww_error *error) {
    for (size_t n = 0, end; n < l->symbols; n = end) {
        struct link_statement *chosen;
        end = row_end(l, n);
        WW_TRY(choose(l, n, end, &chosen, error));
        drop_others(l, n, end, chosen);
    }
    return WW_OK;
}

/* Libraries of device functions bring modules that nothing needs. */
static bool need_definer(struct linker *l, size_t first, size_t end) {
    bool wanted = false, there = false;
    size_t definer = end;
    for (size_t n = first; n < end; n++) {
        const struct link_statement *s = l->symbol[n];
        if (!l->needed[s->module])
            definer = definer == end && defines(s) ? n : definer;
        else if (s->linkage == LINK_EXTERN)
            wanted = true;
        else if (defines(s))
            there = true;
    }
    if (!wanted || there || definer == end) return false;
    l->needed[l->symbol[definer]->module] = true;
    return true;
}

static void find_needed(struct linker *l) {
    for (size_t n = 0; n < l->modules; n++) l->needed[n] = !l->module[n].library;
    for (bool more = true; more;) {
        more = false;
        for (size_t n = 0, end; n < l->symbols; n = end) {
            end = row_end(l, n);
            more = need_definer(l, n, end) || more;
        }
    }
    for (size_t n = 0; n < l->count; n++)
        if (!l->needed[l->statement[n].module]) l->statement[n].dropped = true;
}

/* ---- writing ---- */

/* True if a name of this module's own is also one of another module. */
static bool is_renamed(const struct linker *l, uint32_t module, const struct link_token *t) {
    size_t low = 0, high = l->symbols;
    while (low < high) {
        size_t middle = (low + high) / 2;
        const struct link_statement *s = l->symbol[middle];
        if (compare_names(s->name, s->name_n, t->p, t->n) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    bool local = false, others = false;
    for (; low < l->symbols && compare_names(l->symbol[low]->name, l->symbol[low]->name_n, t->p, t->n) == 0;
         low++) {
        const struct link_statement *s = l->symbol[low];
        if (s->module == module)
            local = s->linkage == LINK_LOCAL && !s->entry;
        else
            others = others || l->needed[s->module];
    }
    return local && others;
}

/* A source line: its file's number, and nothing of functions that were inlined. */
static const char *put_line(const struct linker *l, struct ww_buf *out, uint32_t module, const char *p,
                            const char *end) {
    struct link_token number = ww_link_token(&p, end);
    const char *line = p < end ? memchr(p, '\n', (size_t)(end - p)) : NULL, *stop = line ? line : end;
    const char *comma = memchr(p, ',', (size_t)(stop - p));
    unsigned long file = number.kind == LINK_WORD && number.n < 10 ? strtoul(number.p, NULL, 10) : 0;
    ww_buf_printf(out, " %lu", file + l->file_base[module]);
    ww_buf_append(out, p, (size_t)((comma ? comma : stop) - p));
    return stop;
}

static void put_text(const struct linker *l, struct ww_buf *out, uint32_t module, const char *p,
                     const char *end) {
    for (const char *from = p;; from = p) {
        struct link_token t = ww_link_token(&p, end);
        ww_buf_append(out, from, (size_t)(p - from));
        if (t.kind == LINK_END) break;
        if (t.kind == LINK_WORD && is_renamed(l, module, &t)) ww_buf_printf(out, "$%u", module);
        if (t.kind == LINK_DIRECTIVE && (ww_link_is(&t, ".loc") || ww_link_is(&t, ".file")) && p < end)
            p = ww_link_is(&t, ".loc") ? put_line(l, out, module, p, end) : p;
    }
    ww_buf_byte(out, '\n');
}

static void put_file(const struct linker *l, struct ww_buf *out, const struct link_statement *s) {
    const char *p = s->p;
    struct link_token t = ww_link_token(&p, s->end);
    unsigned long number = file_number(s->p, s->end);
    t = ww_link_token(&p, s->end);
    t = ww_link_token(&p, s->end);
    if (t.kind == LINK_STRING)
        ww_buf_printf(out, ".file %lu %.*s\n", number + l->file_base[s->module], (int)(t.n < 4096 ? t.n : 4096),
                      t.p);
}

static void put_kind(const struct linker *l, struct ww_buf *out, enum link_kind kind) {
    for (size_t n = 0; n < l->count; n++) {
        const struct link_statement *s = &l->statement[n];
        if (s->dropped || s->kind != kind) continue;
        if (kind == LINK_FILE)
            put_file(l, out, s);
        else
            put_text(l, out, s->module, s->p, s->end);
    }
}

/* Functions are known before variables hold their addresses and before others call them. */
static void put_heads(const struct linker *l, struct ww_buf *out) {
    for (size_t n = 0; n < l->count; n++) {
        const struct link_statement *s = &l->statement[n];
        if (s->dropped || s->kind != LINK_FUNCTION || s->entry) continue;
        put_text(l, out, s->module, s->p, s->body);
        ww_buf_puts(out, ";\n");
    }
}

/* The number behind a directive of the header: 8.5 as 8005, sm_80 as 80. */
static unsigned long level(const struct link_statement *s) {
    const char *p = s->p;
    while (p < s->end && !(*p >= '0' && *p <= '9')) p++;
    char *rest = NULL;
    unsigned long major = p < s->end ? strtoul(p, &rest, 10) : 0;
    return p < s->end && *rest == '.' ? 1000 * major + strtoul(rest + 1, NULL, 10) : major;
}

static void put_header(const struct linker *l, struct ww_buf *out) {
    static const char *const order[] = {".version", ".target", ".address_size"};
    for (size_t k = 0; k < sizeof order / sizeof order[0]; k++) {
        const struct link_statement *best = NULL;
        for (size_t n = 0; n < l->count; n++) {
            const struct link_statement *s = &l->statement[n];
            if (s->dropped || s->kind != LINK_HEADER || strncmp(s->p, order[k], strlen(order[k])) != 0)
                continue;
            if (!best || level(s) > level(best)) best = s;
        }
        if (best) put_text(l, out, best->module, best->p, best->end);
    }
}

static void put_all(const struct linker *l, struct ww_buf *out) {
    put_header(l, out);
    put_kind(l, out, LINK_FILE);
    put_kind(l, out, LINK_OTHER);
    put_kind(l, out, LINK_DECLARATION);
    put_heads(l, out);
    put_kind(l, out, LINK_VARIABLE);
    put_kind(l, out, LINK_FUNCTION);
}

static enum ww_code link_all(struct linker *l, struct ww_buf *out, struct ww_error *error) {
    for (size_t n = 0; n < l->modules; n++) WW_TRY(take_module(l, n, error));
    WW_TRY(sort_symbols(l, error));
    find_needed(l);
    WW_TRY(resolve(l, error));
    put_all(l, out);
    return out->failed ? ww_fail_nomem(error, "linked PTX") : WW_OK;
}

enum ww_code ww_ptx_link(const struct ww_ptx_module *module, size_t count, struct ww_buf *out,
                         struct ww_error *error) {
    struct linker l = {.module = module, .modules = count};
    l.needed = calloc(count ? count : 1, sizeof *l.needed);
    l.file_base = calloc(count ? count : 1, sizeof *l.file_base);
    enum ww_code code =
        l.needed && l.file_base ? link_all(&l, out, error) : ww_fail_nomem(error, "modules of PTX");
    free(l.needed);
    free(l.file_base);
    free(l.symbol);
    free(l.statement);
    return code;
}
