/* sass_group.c: the groups of lanes of a warp: how they diverge, wait for each other and reconverge.
 *
 * A convergence barrier is a mask of lanes. Each lane has its own copy of the warp's 16, so that groups that
 * are in the same code at different times do not disturb each other. Lanes at a BSYNC wait until all lanes of
 * their copy that are alive stand at a BSYNC of the same number with an equal copy. */
#include "bulk.h"
#include <stddef.h>
#include <stdlib.h>

void ww_sx_warp_clear(struct sx_warp *w) {
    memset(w, 0, offsetof(struct sx_warp, group));
}

bool ww_sx_warp_init(struct sx_warp *w, struct sx_cta *cta, uint32_t index) {
    struct sx_run *r = cta->run;
    const struct sx_kernel *k = r->kernel;
    uint32_t first = index * SX_LANES, threads = r->block_threads - first;
    unsigned char *file = w->base[0]; /* of a warp that has ended, or none */
    free(w->local);
    ww_record_stream_free(&w->stream);
    ww_sx_warp_clear(w);
    w->cta = cta;
    w->run = r;
    w->index = index;
    w->exist = threads >= SX_LANES ? SX_ALL : (1u << threads) - 1;
    w->live = w->exist;
    w->base[0] = file ? file : aligned_alloc(SX_ROW, k->file_bytes);
    w->base[1] = r->constants;
    if (!w->base[0]) return false;
    memset(w->base[0], 0, k->file_bytes);
    w->group[0] = (struct sx_group){.mask = w->exist};
    w->group_count = 1;
    return true;
}

void ww_sx_warp_free(struct sx_warp *w) {
    free(w->base[0]);
    free(w->local);
    ww_record_stream_free(&w->stream);
    w->base[0] = NULL;
    w->local = NULL;
    w->group_count = 0;
}

static void remove_group(struct sx_warp *w, uint32_t g) {
    memmove(&w->group[g], &w->group[g + 1], (w->group_count - g - 1) * sizeof w->group[0]);
    w->group_count--;
    if (w->current > g || w->current >= w->group_count) w->current = w->current ? w->current - 1 : 0;
}

static struct sx_group *add_group(struct sx_warp *w, const struct sx_group *like, uint32_t mask) {
    struct sx_group *g = &w->group[w->group_count++];
    *g = *like;
    g->mask = mask;
    return g;
}

void ww_sx_part(struct sx_warp *w, uint32_t g, uint32_t mask, uint32_t pc) {
    struct sx_group *at = &w->group[g];
    if (mask == at->mask) {
        at->pc = pc;
        return;
    }
    at->mask &= ~mask;
    at->spin_turns = 0;
    add_group(w, at, mask)->pc = pc;
}

/* Groups that were let go just now and stand at the same place go on as one. */
static void merge(struct sx_warp *w, const bool *fresh_lane) {
    for (uint32_t a = 0; a < w->group_count; a++)
        for (uint32_t b = a + 1; b < w->group_count;) {
            struct sx_group *x = &w->group[a], *y = &w->group[b];
            bool same = x->state == SX_RUN && y->state == SX_RUN && x->pc == y->pc &&
                        fresh_lane[__builtin_ctz(x->mask)] && fresh_lane[__builtin_ctz(y->mask)];
            if (!same) {
                b++;
                continue;
            }
            x->mask |= y->mask;
            x->spin_turns = 0;
            remove_group(w, b);
        }
}

void ww_sx_let_go(struct sx_warp *w, uint8_t state, uint32_t number, uint32_t lanes) {
    bool fresh[SX_LANES] = {false};
    uint32_t count = w->group_count;
    for (uint32_t g = 0; g < count; g++) {
        struct sx_group *at = &w->group[g];
        uint32_t go = at->mask & lanes;
        if (at->state != state || at->barrier != number || !go) continue;
        struct sx_group *free_ones = at;
        if (go != at->mask) {
            at->mask &= ~go;
            free_ones = add_group(w, at, go);
        }
        free_ones->state = SX_RUN;
        free_ones->pc++;
        fresh[__builtin_ctz(go)] = true;
    }
    merge(w, fresh);
}

/* ---- convergence barriers ---- */

static uint32_t *copies(const struct sx_warp *w, uint32_t barrier) {
    return (uint32_t *)(void *)(w->base[0] + w->run->kernel->barrier_at + barrier * SX_ROW);
}

static uint32_t lanes_at(const struct sx_warp *w, uint8_t state, uint32_t barrier) {
    uint32_t lanes = 0;
    for (uint32_t g = 0; g < w->group_count; g++)
        if (w->group[g].state == state && w->group[g].barrier == barrier) lanes |= w->group[g].mask;
    return lanes;
}

/* Lanes of `waiting` whose copy is the same as lane l's. */
static uint32_t equal_copies(const struct sx_warp *w, uint32_t barrier, uint32_t waiting, unsigned l) {
    const uint32_t *copy = copies(w, barrier);
    uint32_t same = 0;
    uint32_t mine = copy[l], live = w->live;
    SX_VECTOR for (unsigned n = 0; n < SX_LANES; n++) same |= (copy[n] ^ mine) & live ? 0 : sx_bit[n];
    return same & waiting;
}

/* Releases the lanes that have all arrived at the barrier; true if any. */
static bool settle_bsync(struct sx_warp *w, uint32_t barrier) {
    uint32_t waiting = lanes_at(w, SX_AT_BSYNC, barrier), go = 0;
    for (uint32_t left = waiting; left;) {
        unsigned l = (unsigned)__builtin_ctz(left);
        uint32_t same = equal_copies(w, barrier, waiting, l), want = copies(w, barrier)[l] & w->live;
        left &= ~same;
        if ((want & ~same) == 0) go |= same;
    }
    if (go) ww_sx_let_go(w, SX_AT_BSYNC, barrier, go);
    return go != 0;
}

static bool settle_warpsync(struct sx_warp *w, uint32_t g) {
    uint32_t members = w->group[g].members & w->live, here = lanes_at(w, SX_AT_WARPSYNC, 0);
    if (members & ~here) return false;
    ww_sx_let_go(w, SX_AT_WARPSYNC, 0, members | w->group[g].mask);
    return true;
}

void ww_sx_settle(struct sx_warp *w) {
    bool again = true;
    while (again) {
        again = false;
        for (uint32_t g = 0; g < w->group_count && !again; g++) {
            const struct sx_group *at = &w->group[g];
            if (at->state == SX_AT_BSYNC)
                again = settle_bsync(w, at->barrier);
            else if (at->state == SX_AT_WARPSYNC)
                again = settle_warpsync(w, g);
        }
    }
}

void ww_sx_leave_barrier(struct sx_warp *w, uint32_t barrier, uint32_t lanes) {
    uint32_t *copy = copies(w, barrier);
    for (uint32_t left = lanes & w->live; left;) {
        unsigned l = (unsigned)__builtin_ctz(left);
        uint32_t mask = copy[l], same = equal_copies(w, barrier, mask & w->live, l) & lanes;
        for (uint32_t m = mask & w->live; m; m &= m - 1) {
            unsigned other = (unsigned)__builtin_ctz(m);
            if (copy[other] == mask && !(lanes >> other & 1u)) copy[other] &= ~same;
        }
        left &= ~(same | 1u << l);
    }
}

bool ww_sx_release_waiting(struct sx_warp *w) {
    for (uint32_t g = 0; g < w->group_count; g++) {
        struct sx_group at = w->group[g];
        if (at.state == SX_AT_BSYNC) {
            uint32_t lanes = equal_copies(w, at.barrier, lanes_at(w, SX_AT_BSYNC, at.barrier),
                                          (unsigned)__builtin_ctz(at.mask));
            lanes |= at.mask;
            ww_sx_leave_barrier(w, at.barrier, lanes);
            ww_sx_let_go(w, SX_AT_BSYNC, at.barrier, lanes);
            return true;
        }
        if (at.state == SX_AT_WARPSYNC) {
            ww_sx_let_go(w, SX_AT_WARPSYNC, 0, lanes_at(w, SX_AT_WARPSYNC, 0));
            return true;
        }
    }
    return false;
}

void ww_sx_exit(struct sx_warp *w, uint32_t g, uint32_t mask) {
    w->group[g].mask &= ~mask;
    if (!w->group[g].mask) remove_group(w, g);
    w->live &= ~mask;
    if (w->group_count) ww_sx_settle(w);
    if (!w->live) w->cta->live_warps--;
    ww_sx_barrier_check(w->cta);
    ww_sx_cluster_check(w->cta->cluster);
}
