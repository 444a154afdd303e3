/* CTA barriers and the named ones: arrivals, waiting, release. */
#include "../../result/result.h"
#include "warp_head.h"

/* Lets the waiting warps go on. `last` (may be NULL) is the warp whose arrival did it: it is in the middle of
 * its issue and looks at its next instruction by itself. */
static void release(struct ww_sm *sm, struct ww_barrier *b, const struct ww_warp *last, uint64_t cycle) {
    const struct ww_gpu_spec *g = sm->core->gpu;
    uint64_t at = (b->at > cycle ? b->at : cycle) +
                  (g->front_barrier_cycles ? g->front_barrier_cycles : g->pipe_branch_latency);
    uint64_t waiting = b->waiting;
    if (sm->core->roles && waiting) ww_copy_barrier(sm, sm->warp[__builtin_ctzll(waiting)].cta, cycle);
    *b = (struct ww_barrier){0};
    for (; waiting; waiting &= waiting - 1) {
        struct ww_warp *w = &sm->warp[__builtin_ctzll(waiting)];
        w->barred = w->starved = false;
        if (w->done) continue;
        if (w->front < at) w->front = at;
        w->front_state = WW_S_BARRIER;
        if (w != last) ww_warp_head(sm, w, cycle);
    }
}

static bool complete(const struct ww_cta *cta, const struct ww_barrier *b) {
    if (b->arrived == 0) return false;
    if (b->expected) return b->arrived >= b->expected;
    return b->arrived + cta->exited >= cta->warps;
}

/* Shared memory is used between a barrier that allocates and one that frees, whether that is obeyed or not. */
static void note_use(struct ww_sm *sm, struct ww_cta *cta, const struct ww_dinst *smem, uint64_t cycle) {
    if (smem->smem == WW_SHARED_ALLOC) {
        cta->used_since = cycle;
    } else if (cta->used_since != WW_NEVER) {
        sm->core->counter[WW_C_SMEM_USED_CYCLES] += cycle - cta->used_since;
        cta->used_since = WW_NEVER;
    }
}

/* All have arrived: the barrier opens, unless its CTA waits for shared memory. */
static void open(struct ww_sm *sm, uint32_t cta, struct ww_barrier *b, const struct ww_warp *last,
                 uint64_t cycle) {
    if (!b->smem || !sm->core->shared_alloc.on || ww_shared_barrier(sm, cta, b->smem, cycle)) {
        if (b->smem) note_use(sm, &sm->cta[cta], b->smem, cycle);
        release(sm, b, last, cycle);
        return;
    }
    for (uint64_t waiting = b->waiting; waiting; waiting &= waiting - 1) {
        struct ww_warp *w = &sm->warp[__builtin_ctzll(waiting)];
        w->starved = true;
        if (w != last && !w->done) ww_warp_set_state(sm, w, WW_S_SMEM_WAIT, cycle);
    }
    b->arrived = 0; /* nothing completes it any more but the grant */
}

void ww_barrier_grant(struct ww_sm *sm, uint32_t cta, uint64_t cycle) {
    sm->cta[cta].used_since = cycle;
    release(sm, &sm->cta[cta].barrier[0], NULL, cycle);
}

/* The warp's shared accesses are all on their way: the barrier waits until they have been performed. */
static void arrive(struct ww_barrier *b, const struct ww_warp *w) {
    b->arrived++;
    if (b->at < w->shared_at) b->at = w->shared_at;
}

void ww_barrier_arrive(struct ww_sm *sm, struct ww_warp *w, const struct ww_dinst *d,
                       const struct ww_access *access, uint64_t cycle) {
    struct ww_cta *cta = &sm->cta[w->cta];
    uint32_t number = d->barrier, warps = d->barrier_warps;
    if (d->cluster && sm->cluster) {
        (d->cluster == WW_CLUSTER_ARRIVE ? ww_cluster_arrive : ww_cluster_wait)(sm, w);
        return;
    }
    if (ww_pipe_is_mbarrier(d)) {
        ww_mbar_issue(sm, w, d, access, cycle);
        return;
    }
    if (access) {
        number = (uint32_t)access->base & 255;
        warps = (((uint32_t)(access->base >> 8) & 0xffff) + 31) / 32;
    }
    if (number >= WW_BARRIERS) {
        ww_core_fail(sm->core,
                     ww_fail(sm->core->error, WW_INPUT, "", "CTA %llu: pc 0x%x uses barrier %u; there are %d",
                             (unsigned long long)cta->trace.index, d->pc, number, WW_BARRIERS));
        return;
    }
    struct ww_barrier *b = &cta->barrier[number];
    if (w->shared_queued && !((w->arriving >> number) & 1))
        w->arriving = (uint16_t)(w->arriving | 1u << number);
    else
        arrive(b, w);
    b->expected = warps;
    b->smem = d->smem ? d : NULL;
    sm->core->counter[WW_C_BARRIER_WAITS]++;
    if (!d->arrive) {
        w->barred = true;
        b->waiting |= 1ull << (w - sm->warp);
    }
    if (complete(cta, b)) open(sm, w->cta, b, w, cycle);
}

void ww_barrier_shared_done(struct ww_sm *sm, struct ww_warp *w, uint64_t cycle) {
    struct ww_cta *cta = &sm->cta[w->cta];
    uint32_t arriving = w->arriving;
    w->arriving = 0;
    for (; arriving; arriving &= arriving - 1) {
        struct ww_barrier *b = &cta->barrier[__builtin_ctz(arriving)];
        arrive(b, w);
        if (complete(cta, b)) open(sm, w->cta, b, NULL, cycle);
    }
}

void ww_barrier_exit(struct ww_sm *sm, struct ww_cta *cta, uint64_t cycle) {
    for (uint32_t i = 0; i < WW_BARRIERS; i++)
        if (cta->barrier[i].waiting && complete(cta, &cta->barrier[i]))
            open(sm, (uint32_t)(cta - sm->cta), &cta->barrier[i], NULL, cycle);
}
