/* place_shared.c: where .shared variables lie in a CTA's block.
 *
 * A kernel's block holds the variables of all functions that it can reach. A variable has one offset for
 * the whole module: behind everything declared before it in each kernel that uses it. So variables of
 * kernels that have nothing in common overlap, as a linker lays them out. */
#include "front.h"
#include <stdlib.h>
#include <string.h>

#define WORK_MAX ((uint64_t)1 << 26) /* operands looked at before giving up on overlap */
#define SHARED_MAX ((uint64_t)1 << 24)

struct use {
    uint32_t symbol, kernel;
};

struct placing {
    struct ptx_parser *p;
    struct ptx_symbol **symbol; /* all shared variables, in order; symbol->id - first_id is the index */
    size_t count, cap;
    uint32_t *seen_symbol, *seen_func; /* kernel + 1 that saw it last */
    struct ptx_func **stack;
    uint32_t depth;
    struct use *use;
    size_t use_count, use_cap;
    uint64_t work;
    bool failed;
};

static bool collect(struct placing *g, struct ptx_symbol **list, size_t n) {
    for (size_t i = 0; i < n; i++) {
        struct ptx_symbol *s = list[i];
        if (s->kind != PTX_SYM_VAR || s->space != PTX_S_SHARED || s->size == 0) continue;
        struct ptx_symbol **grown = ww_ptx_grow(g->p, g->symbol, g->count, &g->cap, sizeof *grown);
        if (!grown) return false;
        g->symbol = grown;
        s->offset = g->count; /* its index, until it is placed */
        grown[g->count++] = s;
    }
    return true;
}

static void push(struct placing *g, struct ptx_func *f, uint32_t kernel) {
    if (g->seen_func[f->index] == kernel + 1) return;
    g->seen_func[f->index] = kernel + 1;
    g->stack[g->depth++] = f;
}

static void see_symbol(struct placing *g, const struct ptx_symbol *s, uint32_t kernel) {
    if (s->kind == PTX_SYM_FUNC) {
        push(g, s->func, kernel);
        return;
    }
    if (s->space != PTX_S_SHARED || s->size == 0 || g->seen_symbol[s->offset] == kernel + 1) return;
    g->seen_symbol[s->offset] = kernel + 1;
    struct use *grown = ww_ptx_grow(g->p, g->use, g->use_count, &g->use_cap, sizeof *grown);
    if (!grown) {
        g->failed = true;
        return;
    }
    g->use = grown;
    grown[g->use_count++] = (struct use){(uint32_t)s->offset, kernel};
}

static void see_inst(struct placing *g, const struct ptx_inst *i, uint32_t kernel) {
    g->work += i->opnd_count + 1u;
    for (uint32_t k = 0; k < i->opnd_count; k++) {
        const struct ptx_operand *o = &i->opnd[k];
        if (o->sym) see_symbol(g, o->sym, kernel);
        for (uint32_t v = 0; v < o->vec_count; v++)
            if (o->vec[v].sym) see_symbol(g, o->vec[v].sym, kernel);
    }
    if (i->op != PTX_CALL) return;
    if (i->callee) {
        push(g, i->callee->func, kernel);
        return;
    }
    for (size_t f = 0; f < g->p->m->func_count; f++) /* an indirect call may reach any device function */
        if (!g->p->m->func[f]->is_entry) push(g, g->p->m->func[f], kernel);
    g->work += g->p->m->func_count;
}

/* Notes which variables the kernel reaches. */
static void see_kernel(struct placing *g, struct ptx_func *kernel) {
    g->depth = 0;
    push(g, kernel, kernel->index);
    while (g->depth && g->work < WORK_MAX && !g->failed) {
        const struct ptx_func *f = g->stack[--g->depth];
        for (uint32_t i = 0; i < f->inst_count && g->work < WORK_MAX; i++)
            see_inst(g, &f->inst[i], kernel->index);
    }
}

static uint64_t round_up(uint64_t v, uint32_t align) {
    return (v + align - 1) / align * align;
}

static int by_symbol(const void *a, const void *b) {
    const struct use *x = a, *y = b;
    if (x->symbol != y->symbol) return x->symbol < y->symbol ? -1 : 1;
    return x->kernel < y->kernel ? -1 : x->kernel > y->kernel;
}

static void place_overlapping(struct placing *g) {
    struct ptx_func **func = g->p->m->func;
    if (g->use_count) qsort(g->use, g->use_count, sizeof *g->use, by_symbol);
    for (size_t s = 0; s < g->count; s++) g->symbol[s]->offset = 0;
    for (size_t u = 0; u < g->use_count;) {
        struct ptx_symbol *s = g->symbol[g->use[u].symbol];
        size_t end = u;
        uint64_t at = 0;
        for (; end < g->use_count && g->use[end].symbol == g->use[u].symbol; end++) {
            uint64_t used = func[g->use[end].kernel]->shared_bytes;
            if (used > at) at = used;
        }
        s->offset = round_up(at, s->align);
        for (; u < end; u++) func[g->use[u].kernel]->shared_bytes = s->offset + s->size;
    }
}

static void place_apart(struct placing *g) {
    uint64_t end = 0;
    for (size_t s = 0; s < g->count; s++) {
        g->symbol[s]->offset = round_up(end, g->symbol[s]->align);
        end = g->symbol[s]->offset + g->symbol[s]->size;
    }
    for (size_t f = 0; f < g->p->m->func_count; f++)
        if (g->p->m->func[f]->is_entry) g->p->m->func[f]->shared_bytes = end;
}

static enum ww_code check_sizes(struct placing *g) {
    const struct ptx_module *m = g->p->m;
    for (size_t f = 0; f < m->func_count; f++)
        if (m->func[f]->shared_bytes > SHARED_MAX)
            return ww_fail(g->p->error, WW_INPUT, m->name,
                           "kernel %s: expected at most %llu bytes of .shared, found %llu", m->func[f]->name,
                           (unsigned long long)SHARED_MAX, (unsigned long long)m->func[f]->shared_bytes);
    return WW_OK;
}

enum ww_code ww_ptx_place_shared(struct ptx_parser *p) {
    struct ptx_module *m = p->m;
    struct placing g = {.p = p};
    bool good = collect(&g, m->symbol, m->symbol_count);
    for (size_t f = 0; f < m->func_count; f++) {
        m->func[f]->index = (uint32_t)f;
        good = good && collect(&g, m->func[f]->local, m->func[f]->local_count);
    }
    if (good && !g.count) return WW_OK;
    g.seen_symbol = ww_arena_array(&m->arena, g.count, sizeof *g.seen_symbol);
    g.seen_func = ww_arena_array(&m->arena, m->func_count, sizeof *g.seen_func);
    g.stack = ww_arena_array(&m->arena, m->func_count, sizeof(struct ptx_func *));
    if (!good || !g.seen_symbol || !g.seen_func || !g.stack) return ww_ptx_nomem(p);
    for (size_t f = 0; f < m->func_count; f++)
        if (m->func[f]->is_entry) see_kernel(&g, m->func[f]);
    if (g.failed) return ww_ptx_nomem(p);
    if (g.work < WORK_MAX)
        place_overlapping(&g);
    else
        place_apart(&g);
    return check_sizes(&g);
}
