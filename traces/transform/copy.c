/* Finds the instructions by which a kernel's warps copy tiles from global to shared memory. */
#include "../../estimator/api/trace.h"
#include "copy.h"

#include <string.h>

/* An instruction's producers, as met so far: of its address and predicates, and of its stored value. */
#define PRODUCERS 24
struct node {
    uint32_t from[PRODUCERS];
    bool value[PRODUCERS];
    uint8_t count;
    bool lost; /* more than there is room for */
};

struct finder {
    const struct ww_launch *launch;
    struct node *node;
    uint8_t *role;
    uint8_t *state; /* of value_of: 1 being looked at, 2 no copy's value, 3 constant, 4 from a load */
};

static void add_edge(struct node *n, uint32_t from, bool value) {
    for (uint32_t k = 0; k < n->count; k++)
        if (n->from[k] == from && n->value[k] == value) return;
    if (n->count == PRODUCERS) {
        n->lost = true;
        return;
    }
    n->from[n->count] = from;
    n->value[n->count++] = value;
}

static bool is_space(const struct ww_inst *i, enum ww_op op, enum ww_space space) {
    return i->op == op && i->space == space;
}

/* The first source of a store that is a value: behind the address, which is no source if it is a constant. */
static uint32_t first_value(const struct ww_inst *i) {
    uint32_t registers = 0;
    for (uint32_t n = 0; n < i->src_count; n++) registers += i->src[n].reg < WW_REG_PRED;
    return registers > 1;
}

static void follow_warp(struct finder *f, const struct ww_warp_stream *s) {
    uint32_t last[WW_REG_COUNT];
    memset(last, 0xff, sizeof last);
    for (uint32_t k = 0; k < s->step_count; k++) {
        uint32_t at = s->step[k].inst;
        const struct ww_inst *i = &f->launch->inst[at];
        uint32_t first = is_space(i, WW_OP_STORE, WW_SPACE_SHARED) ? first_value(i) : UINT32_MAX;
        for (uint32_t n = 0; n < i->src_count; n++)
            for (uint32_t r = i->src[n].reg; r < i->src[n].reg + (uint32_t)i->src[n].n && r < WW_REG_COUNT; r++)
                if (last[r] != UINT32_MAX) add_edge(&f->node[at], last[r], n >= first && r < WW_REG_PRED);
        for (uint32_t n = 0; n < i->dst_count; n++)
            for (uint32_t r = i->dst[n].reg; r < i->dst[n].reg + (uint32_t)i->dst[n].n && r < WW_REG_COUNT; r++)
                last[r] = at;
    }
}

enum { LOOKING = 1, OTHER, CONSTANT, LOADED };

/* What a value is: loads, constants, or moves and selections of such. */
static uint8_t value_of(struct finder *f, uint32_t at, uint32_t depth) {
    const struct ww_inst *i = &f->launch->inst[at];
    if (is_space(i, WW_OP_LOAD, WW_SPACE_GLOBAL)) return LOADED;
    if (i->op != WW_OP_INT || depth > 4 || f->node[at].lost) return OTHER;
    const char *name = f->launch->string[i->mnemonic];
    if (strncmp(name, "MOV", 3) != 0 && strncmp(name, "SEL", 3) != 0) return OTHER;
    if (f->state[at]) return f->state[at] == LOOKING ? CONSTANT : f->state[at];
    f->state[at] = LOOKING;
    uint8_t best = CONSTANT;
    for (uint32_t k = 0; k < f->node[at].count && best != OTHER; k++) {
        const struct ww_inst *from = &f->launch->inst[f->node[at].from[k]];
        if (from->dst_count && from->dst[0].reg >= WW_REG_PRED) continue; /* what a selection goes by */
        uint8_t v = value_of(f, f->node[at].from[k], depth + 1);
        if (v == OTHER || v > best) best = v;
    }
    return f->state[at] = best;
}

static bool is_copy_store(struct finder *f, uint32_t at) {
    const struct node *n = &f->node[at];
    uint8_t best = CONSTANT;
    if (!is_space(&f->launch->inst[at], WW_OP_STORE, WW_SPACE_SHARED) || n->lost) return false;
    for (uint32_t k = 0; k < n->count; k++) {
        if (!n->value[k]) continue;
        uint8_t v = value_of(f, n->from[k], 0);
        if (v == OTHER) return false;
        if (v > best) best = v;
    }
    return best == LOADED;
}

static void mark_slice(struct finder *f, uint32_t at) {
    const struct node *n = &f->node[at];
    for (uint32_t k = 0; k < n->count; k++) {
        uint32_t from = n->from[k];
        if (f->role[from] != WW_COPY_NONE) continue;
        f->role[from] = WW_COPY_SLICE;
        mark_slice(f, from);
    }
}

/* Loads behind a copy's value, through moves. */
static void mark_loads(struct finder *f, uint32_t at, bool values_only, bool *found) {
    const struct node *n = &f->node[at];
    for (uint32_t k = 0; k < n->count; k++) {
        uint32_t from = n->from[k];
        if (values_only && !n->value[k]) continue;
        if (is_space(&f->launch->inst[from], WW_OP_LOAD, WW_SPACE_GLOBAL)) {
            f->role[from] = WW_COPY_LOAD;
            *found = true;
        } else if (f->state[from] == LOADED) {
            mark_loads(f, from, false, found);
        }
    }
}

static bool decide(struct finder *f) {
    bool found = false;
    uint32_t count = f->launch->inst_count;
    for (uint32_t i = 0; i < count; i++)
        if (is_copy_store(f, i)) {
            f->role[i] = WW_COPY_STORE;
            mark_loads(f, i, true, &found);
        }
    for (uint32_t i = 0; i < count; i++)
        if (f->role[i] == WW_COPY_STORE || f->role[i] == WW_COPY_LOAD) mark_slice(f, i);
    return found;
}

static enum ww_code follow(struct finder *f, struct ww_trace *trace, size_t launch, uint32_t ctas,
                           struct ww_error *error) {
    uint64_t all = f->launch->cta_count, step = all / (ctas ? ctas : 1);
    if (step == 0) step = 1;
    for (uint64_t cta = ww_trace_next_cta(trace, launch, 0); cta < all;
         cta = ww_trace_next_cta(trace, launch, cta + step)) {
        struct ww_cta_trace c;
        WW_TRY(ww_trace_load_cta(trace, launch, cta, &c, error));
        for (uint32_t w = 0; w < c.warp_count; w++) follow_warp(f, &c.warp[w]);
        ww_trace_release_cta(trace, &c);
    }
    return WW_OK;
}

enum ww_code ww_copy_find(struct ww_trace *trace, size_t launch, uint32_t ctas, struct ww_arena *arena,
                          const uint8_t **role, bool *found, struct ww_error *error) {
    struct finder f = {.launch = NULL};
    WW_TRY(ww_trace_launch(trace, launch, &f.launch, error));
    size_t n = f.launch->inst_count;
    f.node = ww_arena_array(arena, n + 1, sizeof *f.node);
    f.role = ww_arena_array(arena, n + 1, 1);
    f.state = ww_arena_array(arena, n + 1, 1);
    if (!f.node || !f.role || !f.state) return ww_fail_nomem(error, "copies of a launch");
    WW_TRY(follow(&f, trace, launch, ctas, error));
    *found = decide(&f);
    *role = f.role;
    return WW_OK;
}
