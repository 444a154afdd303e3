/* cfg.c: basic blocks and immediate post-dominators.
 *
 * Post-dominators by the iteration of Cooper, Harvey and Kennedy ("A simple, fast dominance algorithm",
 * 2001) over the reversed graph, whose root is a virtual exit block. A block from which no exit can be
 * reached has no post-dominator: its branches reconverge at the exit (-1). */
#include "cfg.h"
#include "op.h"
#include <string.h>

static bool ends_block(const struct ptx_inst *i) {
    return ptx_op_is(i, OP_ENDS);
}

/* Marks where blocks begin. */
static uint32_t mark_leaders(const struct ptx_func *f, unsigned char *leader) {
    uint32_t count = 0;
    leader[0] = 1;
    for (uint32_t i = 0; i < f->inst_count; i++) {
        const struct ptx_inst *in = &f->inst[i];
        if (in->op == PTX_BRA) leader[in->opnd[0].imm] = 1;
        if (in->op == PTX_BRX) {
            const struct ptx_label_list *l = &f->list[in->opnd[1].imm];
            for (uint32_t k = 0; k < l->count; k++) leader[l->target[k]] = 1;
        }
        if (ends_block(in) && i + 1 < f->inst_count) leader[i + 1] = 1;
    }
    for (uint32_t i = 0; i < f->inst_count; i++) count += leader[i];
    return count;
}

static uint32_t successor_count(const struct ptx_func *f, const struct ptx_inst *last) {
    uint32_t fall = !ends_block(last) || last->guard >= 0;
    if (last->op == PTX_BRA) return 1 + fall;
    if (last->op == PTX_BRX) return f->list[last->opnd[1].imm].count + fall;
    return fall + (ends_block(last) ? 1 : 0); /* the exit */
}

static void fill_successors(const struct ptx_func *f, struct ptx_cfg *g, uint32_t b, uint32_t *at) {
    const struct ptx_inst *last = &f->inst[g->block[b].end - 1];
    uint32_t *s = &g->succ[*at];
    g->block[b].succ = *at;
    if (last->op == PTX_BRA) {
        *s++ = f->inst[last->opnd[0].imm].block;
    } else if (last->op == PTX_BRX) {
        const struct ptx_label_list *l = &f->list[last->opnd[1].imm];
        for (uint32_t k = 0; k < l->count; k++) *s++ = f->inst[l->target[k]].block;
    } else if (ends_block(last)) {
        *s++ = g->count; /* virtual exit */
    }
    if (!ends_block(last) || last->guard >= 0) *s++ = b + 1;
    *at = (uint32_t)(s - g->succ);
    g->block[b].succ_count = *at - g->block[b].succ;
}

static bool build_blocks(struct ww_arena *a, struct ptx_func *f, struct ptx_cfg *g) {
    unsigned char *leader = ww_arena_alloc(a, f->inst_count);
    if (!leader) return false;
    g->count = mark_leaders(f, leader);
    g->block = ww_arena_array(a, g->count + 1, sizeof *g->block);
    if (!g->block) return false;
    uint32_t b = 0, edges = 0;
    for (uint32_t i = 0; i < f->inst_count; i++) {
        if (leader[i]) g->block[b++].first = i;
        f->inst[i].block = b - 1;
        g->block[b - 1].end = i + 1;
    }
    for (b = 0; b < g->count; b++) {
        uint32_t n = successor_count(f, &f->inst[g->block[b].end - 1]);
        if (n > UINT32_MAX / 2 - edges) return false;
        edges += n;
    }
    g->succ = ww_arena_array(a, edges, sizeof *g->succ);
    g->pred = ww_arena_array(a, edges, sizeof *g->pred);
    if (!g->succ || !g->pred) return false;
    uint32_t at = 0;
    for (b = 0; b < g->count; b++) fill_successors(f, g, b, &at);
    return true;
}

static void fill_predecessors(struct ptx_cfg *g) {
    for (uint32_t b = 0; b < g->count; b++)
        for (uint32_t k = 0; k < g->block[b].succ_count; k++)
            g->block[g->succ[g->block[b].succ + k]].pred_count++;
    uint32_t at = 0;
    for (uint32_t b = 0; b <= g->count; b++) {
        g->block[b].pred = at;
        at += g->block[b].pred_count;
        g->block[b].pred_count = 0;
    }
    for (uint32_t b = 0; b < g->count; b++)
        for (uint32_t k = 0; k < g->block[b].succ_count; k++) {
            struct ptx_block *s = &g->block[g->succ[g->block[b].succ + k]];
            g->pred[s->pred + s->pred_count++] = b;
        }
}

/* Post-order over the reversed graph from the exit, without recursion. Fills order[]; returns its length. */
static uint32_t reverse_postorder(const struct ptx_cfg *g, uint32_t *order, uint32_t *number, uint32_t *stack,
                                  uint32_t *next) {
    uint32_t depth = 0, count = 0;
    stack[depth++] = g->count;
    number[g->count] = 1; /* seen */
    while (depth) {
        uint32_t b = stack[depth - 1];
        if (next[b] < g->block[b].pred_count) {
            uint32_t c = g->pred[g->block[b].pred + next[b]++];
            if (!number[c]) {
                number[c] = 1;
                stack[depth++] = c;
            }
        } else {
            order[count] = b;
            number[b] = ++count; /* from 1, in post-order */
            depth--;
        }
    }
    return count;
}

static uint32_t intersect(const uint32_t *ipdom, const uint32_t *number, uint32_t a, uint32_t b) {
    while (a != b) {
        while (number[a] < number[b]) a = ipdom[a];
        while (number[b] < number[a]) b = ipdom[b];
    }
    return a;
}

static void iterate(const struct ptx_cfg *g, const uint32_t *order, const uint32_t *number, uint32_t count,
                    uint32_t *ipdom) {
    for (uint32_t b = 0; b <= g->count; b++) ipdom[b] = UINT32_MAX;
    ipdom[g->count] = g->count;
    for (bool changed = true; changed;) {
        changed = false;
        for (uint32_t k = count - 1; k-- > 0;) {
            uint32_t b = order[k], now = UINT32_MAX;
            for (uint32_t s = 0; s < g->block[b].succ_count; s++) {
                uint32_t c = g->succ[g->block[b].succ + s];
                if (ipdom[c] == UINT32_MAX) continue;
                now = now == UINT32_MAX ? c : intersect(ipdom, number, c, now);
            }
            if (now != ipdom[b]) {
                ipdom[b] = now;
                changed = true;
            }
        }
    }
}

static bool post_dominators(struct ww_arena *a, struct ptx_cfg *g) {
    uint32_t n = g->count + 1;
    uint32_t *order = ww_arena_array(a, n, sizeof *order), *number = ww_arena_array(a, n, sizeof *number);
    uint32_t *stack = ww_arena_array(a, n, sizeof *stack), *next = ww_arena_array(a, n, sizeof *next);
    g->ipdom = ww_arena_array(a, n, sizeof *g->ipdom);
    if (!order || !number || !stack || !next || !g->ipdom) return false;
    uint32_t count = reverse_postorder(g, order, number, stack, next);
    iterate(g, order, number, count, g->ipdom);
    return true;
}

bool ww_ptx_cfg_build(struct ww_arena *scratch, struct ptx_func *f, struct ptx_cfg *g) {
    memset(g, 0, sizeof *g);
    if (!build_blocks(scratch, f, g)) return false;
    fill_predecessors(g);
    return post_dominators(scratch, g);
}

enum ww_code ww_ptx_module_prepare(struct ptx_module *m, struct ww_error *error) {
    struct ww_arena scratch;
    enum ww_code code = WW_OK;
    ww_arena_init(&scratch, (size_t)1 << 30);
    for (size_t k = 0; k < m->func_count && code == WW_OK; k++) {
        struct ptx_func *f = m->func[k];
        struct ptx_cfg g;
        if (!f->inst_count) continue;
        if (!ww_ptx_cfg_build(&scratch, f, &g) || !ww_ptx_schedule(&scratch, f, &g)) {
            code = ww_fail_nomem(error, "control-flow graph");
            break;
        }
        for (uint32_t b = 0; b < g.count; b++) {
            uint32_t d = g.ipdom[b];
            struct ptx_inst *last = &f->inst[g.block[b].end - 1];
            if (ends_block(last)) last->reconv = d < g.count ? (int32_t)g.block[d].first : -1;
        }
        ww_arena_reset(&scratch);
    }
    ww_arena_free(&scratch);
    return code;
}
