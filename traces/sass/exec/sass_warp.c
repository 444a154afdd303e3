/* sass_warp.c: exchange between the lanes of a warp: the active lanes of the group take part. */
#include "grid.h"

/* ---- SHFL ---- */

/* A lane that does not take part gives 0, as in PTX (traces/ptx/exec/exec_warp.c). */
static void shuffle(SX_ARGS) {
    const uint32_t *a = sx_src(w, i->a), *b = sx_src(w, i->b), *c = sx_src(w, i->c);
    uint32_t *d = sx_dst(w, i->d), result[SX_LANES], inside = 0;
    for (uint32_t m = mask; m; m &= m - 1) {
        unsigned l = (unsigned)__builtin_ctz(m);
        unsigned segment = c[l] >> 8 & 31, clamp = c[l] & 31, by = b[l] & 31;
        unsigned low = l & segment, high = low | (clamp & ~segment), from = l;
        bool in = true;
        switch (i->sub) {
        case SASS_SHFL_UP:
            in = (int)l - (int)by >= (int)high;
            from = l - by;
            break;
        case SASS_SHFL_DOWN:
            from = l + by;
            in = from <= high;
            break;
        case SASS_SHFL_BFLY:
            from = l ^ by;
            in = from <= high;
            break;
        default:
            from = low | (by & ~segment);
            in = from <= high;
            break;
        }
        if (!in) from = l;
        result[l] = mask >> (from & 31) & 1 ? a[from & 31] : 0;
        inside |= (uint32_t)in << l;
    }
    SX_EACH(mask, d[l] = result[l];);
    sx_set_pred(w, i->pd[0], inside, mask);
}

/* ---- VOTE, MATCH, REDUX ---- */

static void vote(SX_ARGS) {
    uint32_t lanes = w->active, yes = sx_ps(w, i, 0) & lanes, *d = sx_dst(w, i->d);
    bool all = yes == lanes, any = yes != 0;
    bool result = i->sub == SASS_VOTE_ALL ? all : i->sub == SASS_VOTE_ANY ? any : all || !any;
    SX_EACH(mask, d[l] = yes;);
    sx_set_pred(w, i->pd[0], result ? SX_ALL : 0, mask);
}

static uint64_t match_value(const struct sx_inst *i, const uint32_t *a, unsigned l) {
    return i->bytes == 8 ? sx_get64(a, l) : a[l];
}

static void match(SX_ARGS) {
    const uint32_t *a = sx_src(w, i->a);
    uint32_t *d = sx_dst(w, i->d), result[SX_LANES], everyone = 0;
    for (uint32_t m = mask; m; m &= m - 1) {
        unsigned l = (unsigned)__builtin_ctz(m);
        result[l] = 0;
        for (uint32_t n = mask; n; n &= n - 1)
            if (match_value(i, a, (unsigned)__builtin_ctz(n)) == match_value(i, a, l))
                result[l] |= n & (0u - n);
        if (result[l] == mask) everyone |= 1u << l;
    }
    bool all = i->sub == SASS_VOTE_ALL;
    SX_EACH(mask, d[l] = all && result[l] != mask ? 0 : result[l];);
    sx_set_pred(w, i->pd[0], everyone, mask);
}

static uint32_t reduce(uint8_t op, bool is_signed, uint32_t x, uint32_t y) {
    switch (op) {
    case SASS_REDUX_AND:
        return x & y;
    case SASS_REDUX_OR:
        return x | y;
    case SASS_REDUX_XOR:
        return x ^ y;
    case SASS_REDUX_SUM:
        return x + y;
    default: {
        bool less = is_signed ? (int32_t)x < (int32_t)y : x < y;
        return less == (op == SASS_REDUX_MIN) ? x : y;
    }
    }
}

/* The result goes to a uniform register: all its lanes. */
static void redux(SX_ARGS) {
    const uint32_t *a = sx_src(w, i->a);
    uint32_t *d = sx_dst(w, i->d), left = w->active, v = a[__builtin_ctz(left)];
    for (left &= left - 1; left; left &= left - 1) v = reduce(i->sub, i->type, v, a[__builtin_ctz(left)]);
    SX_EACH(mask, d[l] = v;);
}

/* One of the active lanes: the lowest. */
static void elect(SX_ARGS) {
    uint32_t *d = sx_dst(w, i->d), first = w->active & (0u - w->active);
    uint32_t lane = (uint32_t)__builtin_ctz(first);
    for (unsigned l = 0; l < SX_LANES; l++) d[l] = lane;
    sx_set_pred(w, i->pd[0], first, mask);
}

/* A general register's value in the lowest lane that executes. The predicate says which of them have another
 * one (.OR: or had, of an instruction before): a loop goes over the values that there are. */
static void to_uniform(SX_ARGS) {
    const uint32_t *a = sx_src(w, i->a);
    const uint32_t *before = sx_dst(w, i->pd[0]);
    uint32_t *d = sx_dst(w, i->d), v = a[__builtin_ctz(mask)], others = i->sub ? *before : 0;
    SX_EACH(mask, others |= (uint32_t)(a[l] != v) << l;);
    for (unsigned l = 0; l < SX_LANES; l++) d[l] = v;
    sx_set_pred(w, i->pd[0], others, mask);
}

/* ---- building ---- */

static enum ww_sass_slot first_source(const struct ww_sass_insn *in) {
    return in->opd[SASS_A].kind != SASS_K_NONE ? SASS_A : SASS_B;
}

static bool pick_shuffle(struct sx_builder *b, const struct ww_sass_insn *in, struct sx_inst *i) {
    i->sub = in->mod[SASS_M_SHFL];
    i->d = ww_sx_dst(b, in, SASS_D, 1);
    i->pd[0] = ww_sx_pred_dst(b, in, SASS_PD);
    i->a = ww_sx_src(b, in, SASS_A, 1);
    i->b = ww_sx_src(b, in, SASS_B, 1);
    i->c = ww_sx_src(b, in, SASS_C, 1);
    i->fn = shuffle;
    return true;
}

bool ww_sx_pick_warp(struct sx_builder *b, const struct ww_sass_insn *in, struct sx_inst *i) {
    switch (in->op) {
    case SASS_SHFL:
        return pick_shuffle(b, in, i);
    case SASS_VOTEU:
        i->kind = SX_UNIFORM; /* fallthrough */
    case SASS_VOTE:
        i->sub = in->mod[SASS_M_VOTE];
        i->d = ww_sx_dst(b, in, SASS_D, 1);
        i->pd[0] = ww_sx_pred_dst(b, in, SASS_PD);
        i->ps[0] = ww_sx_pred_src(b, in, SASS_PS, 0, i);
        i->fn = vote;
        return true;
    case SASS_MATCH:
        i->sub = in->mod[SASS_M_VOTE];
        i->bytes = in->mod[SASS_M_WIDTH64] ? 8 : 4;
        i->d = ww_sx_dst(b, in, SASS_D, 1);
        i->pd[0] = ww_sx_pred_dst(b, in, SASS_PD);
        i->a = ww_sx_src(b, in, first_source(in), i->bytes / 4u);
        i->fn = match;
        return true;
    case SASS_REDUX:
        i->kind = SX_UNIFORM;
        i->sub = in->mod[SASS_M_REDUX];
        i->type = in->mod[SASS_M_SIGNED];
        i->d = ww_sx_dst(b, in, SASS_D, 1);
        i->a = ww_sx_src(b, in, first_source(in), 1);
        i->fn = redux;
        return true;
    case SASS_ELECT:
        i->d = ww_sx_dst(b, in, SASS_D, 1);
        i->pd[0] = ww_sx_pred_dst(b, in, SASS_PD);
        i->fn = elect;
        return true;
    case SASS_R2UR:
        i->sub = in->mod[SASS_M_EXTRA]; /* .OR */
        i->d = ww_sx_dst(b, in, SASS_D, 1);
        i->pd[0] = ww_sx_pred_dst(b, in, SASS_PD);
        i->a = ww_sx_src(b, in, first_source(in), 1);
        i->fn = to_uniform;
        return true;
    default:
        return false;
    }
}
