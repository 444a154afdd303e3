/* exec_warp.c: exchange between lanes: shfl, vote, match, activemask, redux, elect. */
#include "exec_types.h"

/* Source lane of shfl; *valid is the predicate (PTX ISA, shfl). */
static unsigned source_lane(uint8_t mode, unsigned lane, uint32_t b, uint32_t c, bool *valid) {
    uint32_t segment = (c >> 8) & 31u, clamp = c & 31u;
    int delta = (int)(b & 31u), max = (int)((lane & segment) | (clamp & ~segment & 31u)), j;
    switch (mode) {
    case PTX_SUB_UP:
        j = (int)lane - delta;
        *valid = j >= max;
        break;
    case PTX_SUB_DOWN:
        j = (int)lane + delta;
        *valid = j <= max;
        break;
    case PTX_SUB_BFLY:
        j = (int)lane ^ delta;
        *valid = j <= max;
        break;
    default:
        j = (int)((lane & segment) | ((uint32_t)delta & ~segment & 31u));
        *valid = j <= max;
        break;
    }
    return *valid ? (unsigned)j & 31u : lane;
}

/* A lane that does not take part gives 0. PTX leaves its value undefined; programs that pass on GPUs add it up
 * (reduce7 of CUDA's samples, which sums 8 values by shuffles over 32 lanes). */
static void shfl(EX_ARGS) {
    const uint32_t *a = ex_src(w, i->a), *b = ex_src(w, i->b), *c = ex_src(w, i->c);
    uint32_t *d = ex_dst(w, i->d), valid_mask = 0, v[EX_LANES];
    for (uint32_t m = mask; m; m &= m - 1) {
        unsigned l = (unsigned)__builtin_ctz(m);
        bool valid;
        unsigned from = source_lane(i->sub, l, b[l], c[l], &valid);
        v[l] = mask >> from & 1 ? a[from] : 0;
        valid_mask |= (uint32_t)valid << l;
    }
    for (uint32_t m = mask; m; m &= m - 1) d[__builtin_ctz(m)] = v[__builtin_ctz(m)];
    if (i->d2 != EX_NO_SLOT) ex_set_pred(w, i->d2, valid_mask, mask);
}

static void vote(EX_ARGS) {
    uint32_t p = ex_pred(w, i, i->a, 0) & mask;
    if (i->sub == PTX_SUB_BALLOT) {
        uint32_t *d = ex_dst(w, i->d);
        EX_EACH(mask, d[l] = p;);
        return;
    }
    bool all = p == mask, r = i->sub == PTX_SUB_ALL ? all : i->sub == PTX_SUB_ANY ? p != 0 : all || p == 0;
    ex_set_pred(w, i->d, r ? EX_ALL : 0, mask);
}

static void match(EX_ARGS) {
    uint32_t *d = ex_dst(w, i->d), equal[EX_LANES];
    bool all = true;
    for (uint32_t m = mask; m; m &= m - 1) {
        unsigned l = (unsigned)__builtin_ctz(m);
        equal[l] = 0;
        for (uint32_t n = mask; n; n &= n - 1) {
            unsigned k = (unsigned)__builtin_ctz(n);
            equal[l] |= (uint32_t)(ex_lane(w, i->a, i->aw, l) == ex_lane(w, i->a, i->aw, k)) << k;
        }
        all = all && equal[l] == mask;
    }
    for (uint32_t m = mask; m; m &= m - 1) {
        unsigned l = (unsigned)__builtin_ctz(m);
        d[l] = i->sub == PTX_SUB_ALL ? (all ? mask : 0) : equal[l];
    }
    if (i->d2 != EX_NO_SLOT) ex_set_pred(w, i->d2, all ? EX_ALL : 0, mask);
}

static uint32_t reduce(const struct ex_inst *i, uint32_t x, uint32_t y) {
    bool is_signed = i->type == PTX_T_S32;
    bool less = is_signed ? (int32_t)x < (int32_t)y : x < y;
    switch (i->sub) {
    case PTX_SUB_ADD:
        return x + y;
    case PTX_SUB_MIN:
        return less ? x : y;
    case PTX_SUB_MAX:
        return less ? y : x;
    case PTX_SUB_AND:
        return x & y;
    case PTX_SUB_OR:
        return x | y;
    default:
        return x ^ y;
    }
}

static void redux(EX_ARGS) {
    const uint32_t *a = ex_src(w, i->a);
    uint32_t *d = ex_dst(w, i->d), first = (uint32_t)__builtin_ctz(mask), r = a[first];
    for (uint32_t m = mask & (mask - 1); m; m &= m - 1) r = reduce(i, r, a[__builtin_ctz(m)]);
    EX_EACH(mask, d[l] = r;);
}

static void activemask(EX_ARGS) {
    uint32_t *d = ex_dst(w, i->d);
    EX_EACH(mask, d[l] = mask;);
}

static void elect(EX_ARGS) {
    uint32_t leader = (uint32_t)__builtin_ctz(mask);
    if (i->d != EX_NO_SLOT) {
        uint32_t *d = ex_dst(w, i->d);
        EX_EACH(mask, d[l] = leader;);
    }
    if (i->d2 != EX_NO_SLOT) ex_set_pred(w, i->d2, 1u << leader, mask);
}

/* It waits for the lanes of a mask. */
static ex_fn waits(struct ex_inst *i, ex_fn fn, uint32_t members) {
    i->kind = EX_WOP;
    i->members = members;
    return fn;
}

EX_PICK(shfl, i->mods &PTX_M_SYNC ? waits(i, shfl, i->e) : shfl)
EX_PICK(vote, i->mods &PTX_M_SYNC ? waits(i, vote, i->b) : vote)
EX_PICK(match, waits(i, match, i->b))
EX_PICK(activemask, activemask)
EX_PICK(elect, waits(i, elect, i->a))
EX_PICK(redux, ex_int6(i->type) == 2 || ex_int6(i->type) == 3 ? waits(i, redux, i->b) : NULL)
