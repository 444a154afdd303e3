/* schedule.c: order of the instructions of a basic block.
 *
 * Compilers leave the order of PTX to ptxas, which issues loads early so that they overlap. Replayed in
 * order, PTX as written would wait at each first use. Each block is list-scheduled (longest latency to the
 * end of the region first, then order as written) between instructions with effects, which stay where they
 * are. Register dependences, and memory dependences that cannot be excluded, are kept, so the block
 * computes the same. While many values are live, the order as written is followed. */
#include "cfg.h"
#include "op.h"
#include <string.h>

#define REGION_MAX 256
#define LIVE_MAX 24 /* values of the region alive at once before pressure counts */

struct region {
    struct ptx_inst *inst; /* first of the region */
    uint32_t count;
    uint64_t succ[REGION_MAX][REGION_MAX / 64];
    uint16_t preds[REGION_MAX];
    uint32_t height[REGION_MAX];
    uint16_t uses_left[REGION_MAX]; /* of the values that the instruction defines, in the region */
    bool done[REGION_MAX];
};

/* By register: the region (stamp) that touched it, and its last definition there + 1. */
struct reg_state {
    uint32_t stamp;
    uint16_t def;
    bool used;
};

static bool is_plain_load(const struct ptx_inst *i) {
    return (i->op == PTX_LD || i->op == PTX_LDU) && !(i->mods & PTX_M_VOLATILE);
}

static bool is_plain_store(const struct ptx_inst *i) {
    return i->op == PTX_ST && !(i->mods & PTX_M_VOLATILE);
}

/* Whether it may be reordered at all. */
static bool is_movable(const struct ptx_inst *i) {
    switch (i->op) {
    case PTX_LD:
    case PTX_LDU:
        return is_plain_load(i) && i->space != PTX_S_PARAM;
    case PTX_ST:
        return is_plain_store(i) && i->space != PTX_S_PARAM;
    default:
        return ww_ptx_is_pure(i);
    }
}

static uint32_t latency(const struct ptx_inst *i) {
    switch (i->op) {
    case PTX_LD:
    case PTX_LDU:
        return i->space == PTX_S_SHARED || i->space == PTX_S_CONST ? 25 : 200;
    default:
        return ptx_op_is(i, OP_SLOW) ? 40 : ptx_op_is(i, OP_LONG) ? 20 : 4;
    }
}

/* Whether two accesses, at least one a store, can be swapped. */
static bool independent(const struct ptx_inst *a, const struct ptx_inst *b) {
    if ((is_plain_load(a) && (a->mods & PTX_M_NC)) || (is_plain_load(b) && (b->mods & PTX_M_NC))) return true;
    if (a->space == PTX_S_CONST || b->space == PTX_S_CONST) return true;
    if (a->space != b->space) return a->space != PTX_S_GENERIC && b->space != PTX_S_GENERIC;
    return false;
}

static void add_edge(struct region *r, uint32_t from, uint32_t to) {
    uint64_t bit = (uint64_t)1 << (to & 63);
    if (from == to) return; /* one instruction that writes a register twice */
    if (r->succ[from][to >> 6] & bit) return;
    r->succ[from][to >> 6] |= bit;
    r->preds[to]++;
}

/* Registers of one operand; vectors hold scalars only. */
static uint32_t registers(const struct ptx_operand *o, int32_t *reg) {
    uint32_t n = 0;
    if ((o->kind == PTX_O_REG || o->kind == PTX_O_ADDR) && o->reg >= 0) reg[n++] = o->reg;
    for (uint32_t v = 0; v < o->vec_count && n < 32; v++)
        if (o->vec[v].kind == PTX_O_REG) reg[n++] = o->vec[v].reg;
    return n;
}

static bool reads(const struct ptx_inst *i, int32_t reg) {
    int32_t all[32];
    if (i->guard == reg) return true;
    for (uint32_t k = i->dst_count; k < i->opnd_count; k++) {
        uint32_t n = registers(&i->opnd[k], all);
        for (uint32_t j = 0; j < n; j++)
            if (all[j] == reg) return true;
    }
    return false;
}

static struct reg_state *state_of(struct reg_state *states, int32_t reg, uint32_t stamp) {
    struct reg_state *s = &states[reg];
    if (s->stamp != stamp) *s = (struct reg_state){.stamp = stamp};
    return s;
}

static void use_register(struct region *r, struct reg_state *states, uint32_t stamp, int32_t reg, uint32_t j) {
    struct reg_state *s = state_of(states, reg, stamp);
    s->used = true;
    if (!s->def) return;
    add_edge(r, s->def - 1u, j);
    r->uses_left[s->def - 1]++;
}

static void define_register(struct region *r, struct reg_state *states, uint32_t stamp, int32_t reg,
                            uint32_t j) {
    struct reg_state *s = state_of(states, reg, stamp);
    uint32_t since = s->def ? s->def - 1u : 0;
    if (s->def) add_edge(r, s->def - 1u, j);
    for (uint32_t i = since; s->used && i < j; i++)
        if (reads(&r->inst[i], reg)) add_edge(r, i, j);
    s->def = (uint16_t)(j + 1);
    s->used = false;
}

static void add_dependences(struct region *r, struct reg_state *states, uint32_t stamp) {
    int32_t reg[32];
    for (uint32_t j = 0; j < r->count; j++) {
        const struct ptx_inst *in = &r->inst[j];
        if (in->guard >= 0) use_register(r, states, stamp, in->guard, j);
        for (uint32_t k = in->dst_count; k < in->opnd_count; k++) {
            uint32_t n = registers(&in->opnd[k], reg);
            for (uint32_t x = 0; x < n; x++) use_register(r, states, stamp, reg[x], j);
        }
        for (uint32_t k = 0; k < in->dst_count; k++) {
            uint32_t n = registers(&in->opnd[k], reg);
            for (uint32_t x = 0; x < n; x++) define_register(r, states, stamp, reg[x], j);
        }
        bool store = is_plain_store(in);
        if (!store && !is_plain_load(in)) continue;
        for (uint32_t i = 0; i < j; i++) {
            bool other_store = is_plain_store(&r->inst[i]);
            if ((store || other_store) && (other_store || is_plain_load(&r->inst[i])) &&
                !independent(&r->inst[i], in))
                add_edge(r, i, j);
        }
    }
}

static void find_heights(struct region *r) {
    for (uint32_t i = r->count; i-- > 0;) {
        uint32_t most = 0;
        for (uint32_t w = 0; w < REGION_MAX / 64; w++)
            for (uint64_t bits = r->succ[i][w]; bits; bits &= bits - 1) {
                uint32_t h = r->height[64 * w + (uint32_t)__builtin_ctzll(bits)];
                if (h > most) most = h;
            }
        r->height[i] = most + latency(&r->inst[i]);
    }
}

/* Values whose last use in the region this is. */
static uint32_t ends(const struct region *r, uint32_t i) {
    uint32_t n = 0;
    for (uint32_t k = 0; k < i; k++)
        if (r->done[k] && r->uses_left[k] == 1 && (r->succ[k][i >> 6] >> (i & 63) & 1)) n++;
    return n;
}

static uint32_t pick(const struct region *r, uint32_t live) {
    uint32_t best = UINT32_MAX;
    for (uint32_t i = 0; i < r->count; i++) {
        if (r->done[i] || r->preds[i]) continue;
        if (live >= LIVE_MAX) return i; /* the first in the order as written */
        if (best == UINT32_MAX || r->height[i] > r->height[best]) best = i;
    }
    return best;
}

static void order_region(struct region *r, struct ptx_inst *out) {
    uint32_t live = 0;
    for (uint32_t n = 0; n < r->count; n++) {
        uint32_t i = pick(r, live), freed = ends(r, i);
        r->done[i] = true;
        out[n] = r->inst[i];
        live += r->uses_left[i] > 0;
        live -= freed < live ? freed : live;
        for (uint32_t k = 0; k < i; k++)
            if ((r->succ[k][i >> 6] >> (i & 63) & 1) && r->uses_left[k] > 1) r->uses_left[k]--;
        for (uint32_t w = 0; w < REGION_MAX / 64; w++)
            for (uint64_t bits = r->succ[i][w]; bits; bits &= bits - 1)
                r->preds[64 * w + (uint32_t)__builtin_ctzll(bits)]--;
    }
    memcpy(r->inst, out, r->count * sizeof *out);
}

bool ww_ptx_schedule(struct ww_arena *scratch, struct ptx_func *f, const struct ptx_cfg *g) {
    struct region *r = ww_arena_alloc(scratch, sizeof *r);
    struct ptx_inst *out = ww_arena_array(scratch, REGION_MAX, sizeof *out);
    struct reg_state *states = ww_arena_array(scratch, f->reg_count, sizeof *states);
    uint32_t stamp = 0;
    if (!r || !out || !states) return false;
    for (uint32_t b = 0; b < g->count; b++)
        for (uint32_t i = g->block[b].first; i < g->block[b].end;) {
            uint32_t end = i;
            while (end < g->block[b].end && end - i < REGION_MAX && is_movable(&f->inst[end])) end++;
            if (end - i > 2) {
                memset(r, 0, sizeof *r);
                r->inst = &f->inst[i];
                r->count = end - i;
                add_dependences(r, states, ++stamp);
                find_heights(r);
                order_region(r, out);
            }
            i = end > i ? end : i + 1;
        }
    return true;
}
