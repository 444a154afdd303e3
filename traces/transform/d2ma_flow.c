/* d2ma_flow.c: which instructions only the copies need.
 *
 * Needed are effects: stores but those of copies, atomics, barriers that stay, exits; then whatever made a
 * value that a needed instruction reads (as recorded, lane by lane), and the conditional branches that decide
 * whether a needed instruction is executed (R. Cytron et al., "Efficiently computing static single assignment
 * form and the control dependence graph", TOPLAS 1991, section 7.1). The targets of branches are those that
 * were recorded. */
#include "d2ma.h"
#include <string.h>

struct flow {
    struct ww_d2 *d;
    uint64_t *after;   /* [n + 1][row]: instructions that every way from here to the end passes */
    uint64_t *decides; /* [n][row]: what a conditional branch decides about */
    uint8_t *needed;
    uint32_t *work, works;
};

static const struct ww_inst *inst(const struct flow *f, uint32_t i) {
    return &f->d->launch->inst[i];
}

static bool conditional(const struct flow *f, uint32_t i) {
    return inst(f, i)->op == WW_OP_BRANCH && (inst(f, i)->flags & WW_INST_BRANCH_COND);
}

static bool is_mark(const struct flow *f, uint32_t i) { /* of a place where lanes meet again */
    const char *name = f->d->launch->string[inst(f, i)->mnemonic];
    return strcmp(name, "SSY") == 0 || strcmp(name, "BSSY") == 0;
}

static bool jumps(const struct flow *f, uint32_t i) {
    return inst(f, i)->op == WW_OP_BRANCH && !conditional(f, i) &&
           strncmp(f->d->launch->string[inst(f, i)->mnemonic], "BRA", 3) == 0;
}

/* Calls with each successor; n is the end. */
static void each_next(const struct flow *f, uint32_t i, void (*call)(void *context, uint32_t next),
                      void *context) {
    uint32_t n = f->d->n, met = 0;
    const uint64_t *to = f->d->to + (size_t)i * f->d->row;
    for (uint32_t k = 0; k < n && (conditional(f, i) || jumps(f, i)); k++)
        if (ww_d2_has(to, k)) call(context, k), met++;
    bool ends = inst(f, i)->op == WW_OP_EXIT && inst(f, i)->src_count == 0;
    if (ends || (jumps(f, i) && met == 0))
        call(context, n);
    else if (!jumps(f, i))
        call(context, i + 1);
}

/* ---- what follows in any case ---- */

struct meet {
    const struct flow *f;
    uint64_t *set;
};

static void meet_next(void *context, uint32_t next) {
    struct meet *m = context;
    const uint64_t *other = m->f->after + (size_t)next * m->f->d->row;
    for (uint32_t k = 0; k < m->f->d->row; k++) m->set[k] &= other[k];
}

static bool update_after(struct flow *f, uint32_t i, uint64_t *set) {
    uint32_t row = f->d->row;
    uint64_t *mine = f->after + (size_t)i * row;
    memset(set, 0xff, row * sizeof *set);
    struct meet m = {f, set};
    each_next(f, i, meet_next, &m);
    ww_d2_add(set, i);
    if (memcmp(mine, set, row * sizeof *set) == 0) return false;
    memcpy(mine, set, row * sizeof *set);
    return true;
}

static enum ww_code find_after(struct flow *f, struct ww_arena *arena, struct ww_error *error) {
    uint32_t n = f->d->n, row = f->d->row;
    uint64_t *set = ww_arena_array(arena, row, sizeof *set);
    f->after = ww_arena_array(arena, (size_t)(n + 1) * row, sizeof *f->after);
    if (!set || !f->after) return ww_fail_nomem(error, "a transform");
    memset(f->after, 0xff, (size_t)n * row * sizeof *f->after);
    ww_d2_add(f->after + (size_t)n * row, n);
    for (bool more = true; more;) {
        more = false;
        for (uint32_t i = n; i-- > 0;) more = update_after(f, i, set) || more;
    }
    return WW_OK;
}

/* ---- what branches decide ---- */

struct reach {
    struct flow *f;
    uint32_t branch;
};

static void reach_next(void *context, uint32_t next) {
    struct reach *r = context;
    struct flow *f = r->f;
    uint64_t *set = f->decides + (size_t)r->branch * f->d->row;
    const uint64_t *after = f->after + (size_t)r->branch * f->d->row;
    bool meets = next == f->d->n || (next != r->branch && ww_d2_has(after, next));
    if (meets || ww_d2_has(set, next)) return;
    ww_d2_add(set, next);
    f->work[f->works++] = next;
}

static void find_decided(struct flow *f, uint32_t branch) {
    struct reach r = {f, branch};
    f->works = 0;
    each_next(f, branch, reach_next, &r);
    while (f->works) each_next(f, f->work[--f->works], reach_next, &r);
}

/* ---- what is needed ---- */

static void need(struct flow *f, uint32_t i) {
    if (f->needed[i]) return;
    f->needed[i] = 1;
    f->work[f->works++] = i;
}

static bool is_root(const struct flow *f, uint32_t i) {
    const struct ww_inst *in = inst(f, i);
    if (f->d->role[i] == WW_COPY_STORE) return false;
    if (in->op == WW_OP_BARRIER) return f->d->kept[i] != 0;
    if (in->op == WW_OP_BRANCH) return false;
    bool effect =
        in->op == WW_OP_STORE || in->op == WW_OP_ATOMIC || in->op == WW_OP_REDUCE || in->op == WW_OP_EXIT;
    return effect || in->dst_count == 0;
}

static void spread(struct flow *f) {
    uint32_t n = f->d->n, row = f->d->row;
    while (f->works) {
        uint32_t i = f->work[--f->works];
        for (uint32_t k = 0; k < n; k++) {
            if (ww_d2_has(f->d->producers + (size_t)i * row, k)) need(f, k);
            if (conditional(f, k) && ww_d2_has(f->decides + (size_t)k * row, i)) need(f, k);
        }
    }
}

/* Jumps, marks and branches that were never taken go with the branches that decide about them. */
static bool stays(const struct flow *f, uint32_t i) {
    bool decided = false;
    if (is_mark(f, i)) {
        uint32_t k = i + 1;
        while (k < f->d->n && !conditional(f, k)) k++;
        return k == f->d->n || f->needed[k];
    }
    for (uint32_t k = 0; k < f->d->n; k++) {
        if (!conditional(f, k) || k == i || !ww_d2_has(f->decides + (size_t)k * f->d->row, i)) continue;
        if (f->needed[k]) return true;
        decided = true;
    }
    return !decided;
}

static bool never_taken(const struct flow *f, uint32_t i) {
    const uint64_t *to = f->d->to + (size_t)i * f->d->row;
    for (uint32_t k = 0; k < f->d->row; k++)
        if (to[k]) return false;
    return true;
}

static void find_needed(struct flow *f) {
    uint32_t n = f->d->n;
    f->works = 0;
    for (uint32_t i = 0; i < n; i++)
        if (is_root(f, i)) need(f, i);
    spread(f);
    for (uint32_t i = 0; i < n; i++)
        if (conditional(f, i) && never_taken(f, i) && stays(f, i)) need(f, i);
    spread(f);
    for (uint32_t i = n; i-- > 0;)
        if (inst(f, i)->op == WW_OP_BRANCH && !conditional(f, i) && stays(f, i)) f->needed[i] = 1;
}

enum ww_code ww_d2_flow(struct ww_d2 *d, struct ww_arena *arena, struct ww_error *error) {
    struct flow f = {.d = d};
    f.decides = ww_arena_array(arena, (size_t)d->n * d->row, sizeof *f.decides);
    f.needed = ww_arena_array(arena, d->n + 1, 1);
    f.work = ww_arena_array(arena, (size_t)d->n + 1, sizeof *f.work);
    if (!f.decides || !f.needed || !f.work) return ww_fail_nomem(error, "a transform");
    WW_TRY(find_after(&f, arena, error));
    for (uint32_t i = 0; i < d->n; i++)
        if (conditional(&f, i)) find_decided(&f, i);
    find_needed(&f);
    for (uint32_t i = 0; i < d->n; i++) d->gone[i] = !f.needed[i];
    return WW_OK;
}
