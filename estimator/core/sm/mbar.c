/* mbar.c: mbarriers in shared memory: events of a CTA's phases, and warps that wait for them. */
#include "mbar.h"
#include "../../result/result.h"
#include "warp_head.h"
#include <string.h>

bool ww_mbar_init(struct ww_sm *sm, struct ww_arena *arena) {
    const struct ww_gpu_spec *g = sm->core->gpu;
    if (!sm->core->code.uses_mbarriers) return true;
    struct ww_mbar *m = ww_arena_array(arena, 1, sizeof *m);
    if (!m) return false;
    m->bar = ww_arena_array(arena, g->sm_max_ctas, sizeof *m->bar);
    m->warp = ww_arena_array(arena, g->sm_max_warps, sizeof *m->warp);
    sm->mbar = m;
    return m->bar && m->warp;
}

void ww_mbar_cta(struct ww_sm *sm, uint32_t cta) {
    const struct ww_cta *c = &sm->cta[cta];
    memset(sm->mbar->bar[cta], 0, sizeof sm->mbar->bar[cta]);
    memset(&sm->mbar->warp[c->first_warp], 0, c->warps * sizeof *sm->mbar->warp);
}

/* The phase that a step tells of; NULL: it is long over, or there are too many barriers. */
static struct ww_mbar_phase *phase_of(struct ww_sm *sm, uint32_t cta, const struct ww_mbarrier_step *s) {
    for (uint32_t n = 0; n < WW_MBARRIER_MOST; n++) {
        struct ww_mbar_bar *b = &sm->mbar->bar[cta][n];
        if (!b->key) b->key = s->offset + 1;
        if (b->key != s->offset + 1) continue;
        struct ww_mbar_phase *p = &b->phase[s->phase % WW_MBAR_PHASES];
        bool older = p->used && (int16_t)(uint16_t)(s->phase - p->phase) < 0;
        if (older || (p->used && p->phase != s->phase && p->waiting)) return NULL;
        if (!p->used || p->phase != s->phase) *p = (struct ww_mbar_phase){.phase = s->phase, .used = true};
        return p;
    }
    return NULL;
}

/* Events that take effect at cycle `at`, of which the SM knows in `cycle`. */
static void event(struct ww_sm *sm, uint32_t cta, const struct ww_mbarrier_step *s, uint64_t cycle,
                  uint64_t at) {
    struct ww_mbar_phase *p = phase_of(sm, cta, s);
    if (!p) return;
    if (p->at < at) p->at = at;
    p->events = (uint16_t)(p->events + s->events);
    if (!p->waiting || p->events < p->need) return;
    uint64_t waiting = p->waiting;
    p->waiting = 0;
    for (; waiting; waiting &= waiting - 1) {
        struct ww_warp *w = &sm->warp[__builtin_ctzll(waiting)];
        w->barred = false;
        if (w->done) continue;
        uint64_t open = p->at + 1 + sm->core->gpu->pipe_branch_latency;
        if (w->front < open) w->front = open;
        w->front_state = WW_S_BARRIER;
        ww_warp_head(sm, w, cycle);
    }
}

static bool wait_for(struct ww_sm *sm, struct ww_warp *w, const struct ww_mbarrier_step *s) {
    struct ww_mbar_phase *p = phase_of(sm, w->cta, s);
    sm->core->counter[WW_C_BARRIER_WAITS]++;
    if (p && p->events >= s->events && w->front <= p->at) {
        w->front = p->at + 1;
        w->front_state = WW_S_BARRIER;
    }
    if (!p || p->events >= s->events) return true;
    p->need = s->events;
    p->waiting |= 1ull << (w - sm->warp);
    w->barred = true;
    return false;
}

bool ww_mbar_issue(struct ww_sm *sm, struct ww_warp *w, const struct ww_access *access, uint64_t cycle) {
    struct ww_mbarrier_step s = ww_mbarrier_unpack(access->base);
    struct ww_mbar_warp *own = &sm->mbar->warp[w - sm->warp];
    switch ((enum ww_mbarrier_kind)s.kind) {
    case WW_MBARRIER_WAIT:
        return wait_for(sm, w, &s);
    case WW_MBARRIER_COPIES:
        if (sm->tma && ww_tma_attach(sm, w, access->base)) return true;
        if (w->async_count && own->count < WW_MBAR_QUEUE) {
            uint32_t at = (own->head + own->count++) % WW_MBAR_QUEUE;
            own->queue[at].after = own->done + w->async_count;
            own->queue[at].word = access->base;
            return true;
        }
        event(sm, w->cta, &s, cycle, cycle);
        return true;
    case WW_MBARRIER_ARRIVE:
        event(sm, w->cta, &s, cycle, cycle);
        return true;
    default:
        return true;
    }
}

void ww_mbar_bytes(struct ww_sm *sm, uint32_t cta, uint64_t word, uint64_t cycle, uint64_t at) {
    struct ww_mbarrier_step s = ww_mbarrier_unpack(word);
    event(sm, cta, &s, cycle, at);
}

void ww_mbar_copied(struct ww_sm *sm, const struct ww_warp *w, uint64_t cycle) {
    struct ww_mbar_warp *own = &sm->mbar->warp[w - sm->warp];
    own->done++;
    while (own->count && own->queue[own->head].after <= own->done) {
        struct ww_mbarrier_step s = ww_mbarrier_unpack(own->queue[own->head].word);
        own->head = (own->head + 1) % WW_MBAR_QUEUE;
        own->count--;
        event(sm, w->cta, &s, cycle, cycle);
    }
}
