/* liveness.c: where each virtual register of the lowering is live.
 *
 * Exact per block (each use is followed backwards to its definitions), then widened to one interval per
 * register in layout order. Where following the uses would take too long, a register is taken to be live
 * everywhere. */
#include "lower.h"
#include <string.h>

#define WORK_MAX ((uint64_t)1 << 28)

struct live {
    struct lower *l;
    struct lower_interval *interval;
    uint32_t *block_first, *block_end; /* machine instructions of each block */
    uint32_t *stamp;                   /* by block: last register + 1 that was seen live-in */
    uint32_t *stack;
    uint64_t work;
};

static void cover(struct lower_interval *v, uint32_t position) {
    if (position < v->first) v->first = position;
    if (position > v->last) v->last = position;
}

/* Live at the block's start: so it is at the end of each predecessor, and on to their starts unless they
 * define it. `def_block`: definitions of the register, sorted by block. */
static void live_in(struct live *s, uint32_t group, uint32_t block, const uint32_t *def_block, uint32_t defs) {
    const struct ptx_cfg *g = &s->l->cfg;
    uint32_t depth = 0;
    if (s->stamp[block] == group + 1) return;
    s->stamp[block] = group + 1;
    s->stack[depth++] = block;
    while (depth) {
        uint32_t b = s->stack[--depth];
        cover(&s->interval[group], 2 * s->block_first[b]);
        for (uint32_t k = 0; k < g->block[b].pred_count; k++) {
            uint32_t p = g->pred[g->block[b].pred + k];
            s->work++;
            if (!s->l->reachable[p]) continue;
            cover(&s->interval[group], 2 * s->block_end[p]);
            bool defined = false;
            for (uint32_t d = 0; d < defs && !defined; d++) defined = def_block[d] == p;
            s->work += defs;
            if (defined || s->stamp[p] == group + 1) continue;
            s->stamp[p] = group + 1;
            s->stack[depth++] = p;
        }
    }
}

static bool locate_blocks(struct live *s) {
    const struct lower *l = s->l;
    uint32_t n = l->cfg.count;
    s->block_first = ww_arena_array(l->arena, n + 1, sizeof *s->block_first);
    s->block_end = ww_arena_array(l->arena, n + 1, sizeof *s->block_end);
    s->stamp = ww_arena_array(l->arena, n + 1, sizeof *s->stamp);
    s->stack = ww_arena_array(l->arena, n + 1, sizeof *s->stack);
    if (!s->block_first || !s->block_end || !s->stamp || !s->stack) return false;
    uint32_t at = 0;
    for (uint32_t b = 0; b < n; b++) {
        s->block_first[b] = at;
        while (at < l->inst_count && l->func->inst[l->inst[at].ptx].block == b) at++;
        s->block_end[b] = at;
    }
    return true;
}

/* Blocks in which each group is defined, one list after the other. */
static bool list_defs(const struct lower *l, uint32_t *first, uint32_t **list) {
    uint32_t total = 0;
    for (uint32_t m = 0; m < l->inst_count; m++)
        for (unsigned d = 0; d < l->inst[m].dst_count; d++) {
            first[l->inst[m].dst[d].group + 1]++;
            total++;
        }
    for (uint32_t g = 0; g < l->group_count; g++) first[g + 1] += first[g];
    *list = ww_arena_array(l->arena, total, sizeof **list);
    uint32_t *fill = ww_arena_array(l->arena, l->group_count, sizeof *fill);
    if (!*list || !fill) return false;
    for (uint32_t m = 0; m < l->inst_count; m++)
        for (unsigned d = 0; d < l->inst[m].dst_count; d++) {
            uint32_t g = (uint32_t)l->inst[m].dst[d].group;
            (*list)[first[g] + fill[g]++] = l->func->inst[l->inst[m].ptx].block;
        }
    return true;
}

/* Uses of a group that no instruction before them in their block defines. */
static void scan_block(struct live *s, uint32_t b, const uint32_t *first, const uint32_t *list,
                       uint32_t *seen) {
    const struct lower *l = s->l;
    for (uint32_t m = s->block_first[b]; m < s->block_end[b]; m++) {
        const struct lower_inst *in = &l->inst[m];
        for (unsigned k = 0; k < in->src_count; k++) {
            uint32_t g = (uint32_t)in->src[k].group;
            cover(&s->interval[g], 2 * m);
            s->interval[g].uses++;
            if (seen[g] != b + 1 && s->work < WORK_MAX)
                live_in(s, g, b, &list[first[g]], first[g + 1] - first[g]);
        }
        for (unsigned d = 0; d < in->dst_count; d++) {
            uint32_t g = (uint32_t)in->dst[d].group;
            cover(&s->interval[g], 2 * m + 1);
            bool guarded = l->func->inst[in->ptx].guard >= 0; /* keeps the old value in some lanes */
            if (!guarded && in->dst[d].n == l->group[g].n)
                seen[g] = b + 1;
            else if (!guarded && in->dst[d].off == 0)
                seen[g] = b + 1; /* words are written in order */
        }
    }
}

bool ww_lower_intervals(struct lower *l, struct lower_interval *interval) {
    struct live s = {.l = l, .interval = interval};
    uint32_t *first = ww_arena_array(l->arena, l->group_count + 2u, sizeof *first), *list;
    uint32_t *seen = ww_arena_array(l->arena, l->group_count + 1u, sizeof *seen);
    for (uint32_t g = 0; g < l->group_count; g++) interval[g] = (struct lower_interval){.first = UINT32_MAX};
    if (!first || !seen || !locate_blocks(&s) || !list_defs(l, first, &list)) return false;
    for (uint32_t b = 0; b < l->cfg.count; b++) scan_block(&s, b, first, list, seen);
    if (s.work >= WORK_MAX)
        for (uint32_t g = 0; g < l->group_count; g++) {
            interval[g].first = 0;
            interval[g].last = 2 * l->inst_count;
        }
    return true;
}
