/* regalloc.c: linear-scan register allocation (Poletto and Sarkar, 1999) over the intervals of liveness.c.
 *
 * R1 is the stack pointer of the ABI and not given out. Where the limit is too small, the interval that
 * is longest for its uses is moved to the thread's local frame: a load before each use, a store behind each
 * definition, and the scan is done again. */
#include "lower.h"
#include <stdlib.h>
#include <string.h>

#define REG_MAX 255
#define PRED_MAX 7
#define ROUNDS_MAX 12

struct order {
    uint32_t first, group;
};

struct scan {
    struct lower *l;
    struct lower_interval *interval;
    int32_t owner[REG_MAX + 1], pred_owner[PRED_MAX]; /* group, -1 free */
    uint32_t limit;
    bool spilled;
};

static int by_first(const void *a, const void *b) {
    const struct order *x = a, *y = b;
    if (x->first != y->first) return x->first < y->first ? -1 : 1;
    return x->group < y->group ? -1 : x->group > y->group;
}

static void expire(struct scan *s, uint32_t position) {
    for (uint32_t r = 0; r < REG_MAX; r++)
        if (s->owner[r] >= 0 && s->interval[s->owner[r]].last < position) s->owner[r] = -1;
    for (uint32_t r = 0; r < PRED_MAX; r++)
        if (s->pred_owner[r] >= 0 && s->interval[s->pred_owner[r]].last < position) s->pred_owner[r] = -1;
}

static uint32_t alignment(uint8_t n) {
    return n > 2 ? 4 : n;
}

static int32_t find_free(const struct scan *s, uint8_t n) {
    uint32_t step = alignment(n);
    for (uint32_t r = 0; r + n <= s->limit; r += step) {
        bool good = true;
        for (uint32_t k = r; k < r + n && good; k++) good = s->owner[k] < 0 && k != 1;
        if (good) return (int32_t)r;
    }
    return -1;
}

static void take(struct scan *s, uint32_t g, int32_t r) {
    s->l->group[g].phys = r;
    for (uint32_t k = 0; k < s->l->group[g].n; k++) s->owner[r + (int32_t)k] = (int32_t)g;
    uint32_t top = (uint32_t)r + s->l->group[g].n;
    if (top > s->l->words_used) s->l->words_used = top;
}

/* The active group that is cheapest to keep in memory: the longest interval per use; -1: none is better than
 * group g0 itself. */
static int32_t cheapest(const struct scan *s, uint8_t n, uint32_t g0) {
    int32_t best = -1;
    const struct lower_interval *own = &s->interval[g0];
    double best_score = (double)(own->last - own->first) / (own->uses + 1);
    if (own->last - own->first < 4) best_score = -1;
    for (uint32_t r = 0; r < s->limit; r++) {
        int32_t g = s->owner[r];
        if (g < 0 || s->l->group[g].spilled || s->l->group[g].n < n) continue;
        const struct lower_interval *v = &s->interval[g];
        double score = (double)(v->last - v->first) / (v->uses + 1);
        if (v->last - v->first < 4 || score <= best_score) continue; /* short: a reload of its own */
        best = g;
        best_score = score;
    }
    return best;
}

static void place_group(struct scan *s, uint32_t g) {
    struct lower_group *group = &s->l->group[g];
    int32_t r = find_free(s, group->n);
    if (r < 0) {
        int32_t victim = cheapest(s, group->n, g);
        bool tiny = s->interval[g].last - s->interval[g].first < 4;
        s->spilled = true;
        if (victim < 0 && !tiny) {
            group->spilled = true;
            return;
        }
        if (victim < 0) { /* nothing to give up: share, the next round has fewer */
            group->phys = 0;
            return;
        }
        s->l->group[victim].spilled = true;
        for (uint32_t k = 0; k < REG_MAX; k++)
            if (s->owner[k] == victim) s->owner[k] = -1;
        r = find_free(s, group->n);
        if (r < 0) {
            group->phys = 0;
            return;
        }
    }
    take(s, g, r);
}

/* More than 7 live predicates share; ptxas would keep the rest in a register. */
static void place_pred(struct scan *s, uint32_t g) {
    uint32_t r = 0;
    while (r + 1 < PRED_MAX && s->pred_owner[r] >= 0) r++;
    s->pred_owner[r] = (int32_t)g;
    s->l->group[g].phys = (int32_t)r;
}

static bool run_scan(struct lower *l, struct lower_interval *interval, struct order *order, uint32_t limit,
                     bool *spilled) {
    struct scan s = {.l = l, .interval = interval, .limit = limit};
    uint32_t n = 0;
    memset(s.owner, 0xff, sizeof s.owner);
    memset(s.pred_owner, 0xff, sizeof s.pred_owner);
    l->words_used = 0;
    for (uint32_t g = 0; g < l->group_count; g++)
        if (interval[g].first != UINT32_MAX) order[n++] = (struct order){interval[g].first, g};
    if (n) qsort(order, n, sizeof *order, by_first);
    for (uint32_t k = 0; k < n; k++) {
        uint32_t g = order[k].group;
        if (l->group[g].spilled) continue;
        expire(&s, order[k].first);
        if (l->group[g].pred)
            place_pred(&s, g);
        else
            place_group(&s, g);
    }
    *spilled = s.spilled;
    return true;
}

static struct lower_inst spill_access(const struct lower *l, const struct lower_inst *at, struct lower_reg reg,
                                      uint32_t offset, bool is_store) {
    struct lower_inst m = {.op = is_store ? WW_OP_STORE : WW_OP_LOAD,
                           .space = WW_SPACE_LOCAL,
                           .ptx = at->ptx,
                           .width = (uint8_t)(4 * reg.n),
                           .flags = WW_INST_ACCESS,
                           .name = is_store ? "STL" : "LDL",
                           .access_part = PTX_ACCESS_NONE,
                           .access_offset = (uint32_t)l->func->local_bytes + offset};
    if (is_store)
        m.src[m.src_count++] = reg;
    else
        m.dst[m.dst_count++] = reg;
    return m;
}

static uint32_t spill_place(const struct lower *l, struct lower_reg r) {
    return l->group[r.group].spill_offset - 1 + 4u * r.off;
}

/* Replaces references to spilled groups by short-lived ones around each instruction. */
static bool rewrite(struct lower *l) {
    uint32_t old_groups = l->group_count, n = 0;
    struct lower_inst *out = ww_arena_array(l->arena, (size_t)l->inst_count * 9, sizeof *out);
    if (!out) return false;
    for (uint32_t g = 0; g < old_groups; g++)
        if (l->group[g].spilled && l->group[g].spill_offset == 0) {
            uint32_t bytes = 4u * l->group[g].n;
            l->spill_bytes = (l->spill_bytes + bytes - 1) / bytes * bytes;
            l->group[g].spill_offset = l->spill_bytes + 1; /* 0 is "none yet" */
            l->spill_bytes += bytes;
        }
    for (uint32_t m = 0; m < l->inst_count; m++) {
        struct lower_inst in = l->inst[m];
        struct lower_inst after[WW_INST_DST_MAX];
        unsigned stores = 0;
        for (unsigned k = 0; k < in.src_count; k++) {
            struct lower_reg r = in.src[k];
            if (!l->group[r.group].spilled) continue;
            in.src[k] = ww_lower_group_new(l, r.n, false);
            if (in.src[k].group < 0) return false;
            out[n++] = spill_access(l, &in, in.src[k], spill_place(l, r), false);
        }
        for (unsigned d = 0; d < in.dst_count; d++) {
            struct lower_reg r = in.dst[d];
            if (!l->group[r.group].spilled) continue;
            in.dst[d] = ww_lower_group_new(l, r.n, false);
            if (in.dst[d].group < 0) return false;
            after[stores++] = spill_access(l, &in, in.dst[d], spill_place(l, r), true);
        }
        out[n++] = in;
        for (unsigned k = 0; k < stores; k++) out[n++] = after[k];
    }
    l->inst = out;
    l->inst_count = l->inst_cap = n;
    return true;
}

/* Registers live across calls: the callee's come on top of them. */
static void count_call_words(struct lower *l, const struct lower_interval *interval) {
    for (uint32_t m = 0; m < l->inst_count; m++) {
        if (l->func->inst[l->inst[m].ptx].op != PTX_CALL || l->inst[m].op != WW_OP_BRANCH) continue;
        uint32_t words = 0;
        for (uint32_t g = 0; g < l->group_count; g++)
            if (interval[g].first != UINT32_MAX && interval[g].first < 2 * m && interval[g].last > 2 * m + 1 &&
                !l->group[g].pred && !l->group[g].spilled)
                words += l->group[g].n;
        if (words > l->call_words) l->call_words = words;
    }
}

bool ww_lower_allocate(struct lower *l) {
    for (unsigned round = 0; round < ROUNDS_MAX; round++) {
        struct lower_interval *interval = ww_arena_array(l->arena, l->group_count + 1u, sizeof *interval);
        struct order *order = ww_arena_array(l->arena, l->group_count + 1u, sizeof *order);
        bool spilled;
        if (!interval || !order || !ww_lower_intervals(l, interval)) return false;
        if (!run_scan(l, interval, order, l->max_registers, &spilled)) return false;
        if (!spilled) {
            count_call_words(l, interval);
            return !l->failed;
        }
        if (round + 1 < ROUNDS_MAX && !rewrite(l)) return false;
    }
    return !l->failed; /* the last round's sharing stands: more registers than there are, see
                        * docs/model/lowering.md
                        */
}
