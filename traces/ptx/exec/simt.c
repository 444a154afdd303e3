/* simt.c: splits and joins of a warp. */
#include "simt.h"
#include <stdlib.h>
#include <string.h>

bool ww_simt_warp_init(struct ex_warp *w, struct ex_cta *cta, uint32_t index) {
    struct ex_run *r = cta->run;
    uint32_t first = index * EX_LANES, threads = r->block_threads - first;
    memset(w, 0, sizeof *w);
    w->cta = cta;
    w->run = r;
    w->index = index;
    w->exist = threads >= EX_LANES ? EX_ALL : (1u << threads) - 1;
    w->live = w->exist;
    w->join_free = -1;
    w->base[1] = r->kernel->constant;
    struct ex_frame *f = ww_ex_frame_new(w, r->kernel->entry, NULL, w->exist);
    if (!f) return false;
    w->split[0] = (struct ex_split){.mask = w->exist, .join = -1, .frame = f};
    w->split_count = 1;
    return true;
}

void ww_simt_warp_free(struct ex_warp *w) {
    for (uint32_t s = 0; s < w->split_count; s++) {
        uint32_t lanes = w->split[s].mask;
        ww_ex_frame_leave(w, w->split[s].frame, lanes, true);
    }
    for (int32_t j = 0; j < w->join_capacity; j++)
        if (w->join[j].frame && w->join[j].arrived)
            ww_ex_frame_leave(w, w->join[j].frame, w->join[j].arrived, true);
    free(w->join);
    free(w->local);
    ww_record_stream_free(&w->stream);
    w->join = NULL;
    w->local = NULL;
    w->split_count = 0;
}

void ww_simt_use_frame(struct ex_warp *w, struct ex_frame *frame) {
    w->frame = frame;
    w->base[0] = frame->regs;
}

int32_t ww_simt_join_new(struct ex_warp *w, uint32_t pc, struct ex_frame *frame, uint32_t expect,
                         int32_t outer) {
    if (w->join_free < 0) {
        int32_t capacity = w->join_capacity ? 2 * w->join_capacity : 8;
        struct ex_join *p = realloc(w->join, (size_t)capacity * sizeof *p);
        if (!p) {
            ww_ex_fail(w, EX_LANES, WW_NOMEM, "memory ran out");
            return -1;
        }
        w->join = p;
        for (int32_t j = w->join_capacity; j < capacity; j++)
            p[j] = (struct ex_join){.outer = j + 1 < capacity ? j + 1 : -1};
        w->join_free = w->join_capacity;
        w->join_capacity = capacity;
    }
    int32_t j = w->join_free;
    w->join_free = w->join[j].outer;
    w->join[j] = (struct ex_join){.pc = pc, .expect = expect, .outer = outer, .frame = frame};
    return j;
}

static void join_free(struct ex_warp *w, int32_t j) {
    w->join[j] = (struct ex_join){.outer = w->join_free};
    w->join_free = j;
}

static void remove_split(struct ex_warp *w, uint32_t s) {
    memmove(&w->split[s], &w->split[s + 1], (w->split_count - s - 1) * sizeof w->split[0]);
    w->split_count--;
    if (w->current > s || w->current >= w->split_count) w->current = w->current ? w->current - 1 : 0;
}

static void add_split(struct ex_warp *w, uint32_t pc, uint32_t mask, int32_t join, struct ex_frame *frame) {
    w->split[w->split_count++] = (struct ex_split){.pc = pc, .mask = mask, .join = join, .frame = frame};
}

/* A join that has all its lanes turns into a split, which may stand at the next join at once. */
static void settle(struct ex_warp *w, int32_t j) {
    while (j >= 0 && w->join[j].arrived == w->join[j].expect) {
        struct ex_join done = w->join[j];
        join_free(w, j);
        if (done.expect == 0) return;
        if (done.outer >= 0 && w->join[done.outer].pc == done.pc && w->join[done.outer].frame == done.frame) {
            w->join[done.outer].arrived |= done.arrived;
            j = done.outer;
            continue;
        }
        add_split(w, done.pc, done.arrived, done.outer, done.frame);
        w->current = w->split_count - 1;
        return;
    }
}

void ww_simt_arrive(struct ex_warp *w, uint32_t s) {
    struct ex_split at = w->split[s];
    w->join[at.join].arrived |= at.mask;
    remove_split(w, s);
    settle(w, at.join);
}

bool ww_simt_diverge(struct ex_warp *w, uint32_t s, uint32_t mask, uint32_t pc, uint32_t rest_pc,
                     int32_t reconv) {
    struct ex_split *old = &w->split[s];
    uint32_t rest = old->mask & ~mask;
    int32_t join = old->join;
    bool same =
        join >= 0 && reconv >= 0 && w->join[join].pc == (uint32_t)reconv && w->join[join].frame == old->frame;
    if (reconv >= 0 && !same) {
        join = ww_simt_join_new(w, (uint32_t)reconv, old->frame, old->mask, join);
        if (join < 0) return false;
    }
    /* the rest goes first: of a loop's end, those that leave */
    struct ex_frame *frame = old->frame;
    *old = (struct ex_split){
        .pc = rest_pc, .mask = rest, .join = join, .frame = frame, .back_edges = old->back_edges};
    add_split(w, pc, mask, join, frame);
    w->split[w->split_count - 1].back_edges = old->back_edges;
    return true;
}

/* Takes lanes out of every join on the way out; innermost first. */
static void leave_joins(struct ex_warp *w, int32_t j, uint32_t mask) {
    while (j >= 0) {
        int32_t outer = w->join[j].outer;
        w->join[j].expect &= ~mask;
        j = outer;
    }
}

/* Settles the joins on the way out, after lanes have left. */
static void settle_chain(struct ex_warp *w, int32_t j) {
    while (j >= 0) {
        int32_t outer = w->join[j].outer;
        bool whole = w->join[j].arrived == w->join[j].expect;
        bool had = w->join[j].expect != 0;
        if (!whole) return; /* lanes are still on their way to it, so also to the outer ones */
        settle(w, j);
        if (had) return;
        j = outer;
    }
}

void ww_simt_exit(struct ex_warp *w, uint32_t s, uint32_t mask) {
    struct ex_split *at = &w->split[s];
    int32_t join = at->join;
    w->live &= ~mask;
    ww_ex_frame_leave(w, at->frame, mask, true);
    leave_joins(w, join, mask);
    at->mask &= ~mask;
    if (at->mask) return;
    remove_split(w, s);
    settle_chain(w, join);
    if (w->live == 0) w->cta->live_warps--;
    if (!w->cta->live_warps && w->cta->tmem_held && !w->run->failed)
        ww_ex_fail(w, EX_LANES, WW_EXEC,
                   "the CTA ends and has not given back all columns of tensor memory (0x%x)",
                   w->cta->tmem_held);
    ww_simt_barrier_check(w->cta);
    ww_simt_cluster_check(w->cta->cluster);
}

bool ww_simt_release_waiting(struct ex_warp *w, uint32_t s) {
    for (int32_t j = w->split[s].join; j >= 0; j = w->join[j].outer) {
        struct ex_join *at = &w->join[j];
        if (!at->arrived) continue;
        uint32_t lanes = at->arrived;
        at->expect &= ~lanes;
        at->arrived = 0;
        add_split(w, at->pc, lanes, at->outer, at->frame);
        struct ex_split *out = &w->split[w->split_count - 1];
        if (simt_at_join(w, out)) ww_simt_arrive(w, w->split_count - 1);
        return true;
    }
    return false;
}
