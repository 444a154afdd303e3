/* mbar.c: mbarriers in shared memory: events of a CTA's phases, and warps that wait for them. */
#include "mbar.h"
#include "../../result/result.h"
#include "l1_tag.h"
#include "tensor.h"
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

/* The phase of a step; NULL: it is too old, or there are too many barriers. */
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

/* Lets warps go on whose phase has had the events that they wait for. */
static void open_phase(struct ww_sm *sm, struct ww_mbar_phase *p, uint64_t cycle) {
    uint64_t waiting = p->waiting;
    p->waiting = 0;
    for (; waiting; waiting &= waiting - 1) {
        struct ww_warp *w = &sm->warp[__builtin_ctzll(waiting)];
        sm->core->counter[WW_C_MBAR_ENDED]++;
        w->barred = false;
        if (w->done) continue;
        uint64_t open = p->at + 1 + sm->core->gpu->pipe_branch_latency;
        if (w->front < open) w->front = open;
        w->front_state = WW_S_BARRIER;
        ww_warp_head(sm, w, cycle);
    }
}

/* Events that take effect at cycle `at`, which the SM receives in `cycle`. */
static void event(struct ww_sm *sm, uint32_t cta, const struct ww_mbarrier_step *s, uint64_t cycle,
                  uint64_t at) {
    struct ww_mbar_phase *p = phase_of(sm, cta, s);
    if (!p) return;
    if (p->at < at) p->at = at;
    if (s->rank)
        p->others = (uint16_t)(p->others + s->events);
    else
        p->events = (uint16_t)(p->events + s->events);
    if (p->waiting && p->events >= p->need && p->others >= p->need_others) open_phase(sm, p, cycle);
}

static bool wait_for(struct ww_sm *sm, struct ww_warp *w, const struct ww_mbarrier_step *s) {
    struct ww_mbar_phase *p = phase_of(sm, w->cta, s);
    uint16_t others = sm->cluster && sm->cluster[w->cta].id ? s->others : 0;
    bool over = !p || (p->events >= s->events && p->others >= others);
    sm->core->counter[WW_C_BARRIER_WAITS]++;
    sm->core->counter[WW_C_MBAR_WAIT]++;
    sm->core->counter[WW_C_MBAR_OVER] += over;
    if (p && over && w->front <= p->at) {
        w->front = p->at + 1;
        w->front_state = WW_S_BARRIER;
    }
    if (over) return true;
    p->need = s->events;
    p->need_others = others;
    p->waiting |= 1ull << (w - sm->warp);
    w->barred = true;
    return false;
}

/* ---- barriers of other CTAs ---- */

#define UNIT_SHIFT 6 /* of a tag: data in units of 16 bytes, above the slot */
#define UNITS 0x1fffffu

/* Events at the barrier of another CTA, with data that have come there. */
static void tell(struct ww_sm *sm, uint32_t cta, uint64_t word, uint32_t bytes, bool travels, uint64_t at) {
    struct ww_core *core = sm->core;
    const struct ww_cluster_cta *c = sm->cluster ? &sm->cluster[cta] : NULL;
    struct ww_mbarrier_step s = ww_mbarrier_unpack(word);
    if (!c || !c->id || !s.rank || s.rank > c->count) return;
    uint32_t units = bytes / 16 < UNITS ? bytes / 16 : UNITS;
    struct ww_mem_reply reply = {.address = word,
                                 .tag = WW_TAG_TEX | WW_TAG_CLUSTER | WW_TAG_EVENT | units << UNIT_SHIFT};
    if (!ww_peer_event(ww_memsys_peer(core->memory), c->key, s.rank - 1u, sm->id, reply, travels,
                       ww_clock_time(&core->clock, at)))
        return;
    core->inflight++;
    core->counter[WW_C_EVENT_SENT] += s.events;
    core->counter[WW_C_COPY_SENT] += (uint64_t)units * 16;
}

static void tell_all(struct ww_sm *sm, uint32_t cta, const struct ww_access *access, const uint64_t *pool,
                     uint32_t mask, uint32_t bytes, bool travels, uint64_t at) {
    uint32_t n = 0;
    for (uint32_t m = mask; m; m &= m - 1, n++)
        tell(sm, cta, ww_lane_address(access, pool, (uint32_t)__builtin_ctz(m), n), bytes, travels, at);
}

/* Data have passed the port of shared memory while they came: what else does is later by so much. */
static uint64_t pass_port(struct ww_sm *sm, uint64_t bytes, uint64_t cycle) {
    struct ww_cache *l = &sm->l1;
    uint64_t takes = bytes / 128 * l->shape->data_cycles[4], from = cycle > takes ? cycle - takes : 0;
    if (!bytes) return cycle;
    ww_cache_port(l, from, takes);
    return l->port_free > cycle ? l->port_free : cycle;
}

void ww_mbar_told(struct ww_sm *sm, const struct ww_mem_reply *reply, uint64_t cycle) {
    uint32_t slot = reply->tag & ((1u << UNIT_SHIFT) - 1);
    uint64_t bytes = (uint64_t)(reply->tag >> UNIT_SHIFT & UNITS) * 16;
    struct ww_mbarrier_step s = ww_mbarrier_unpack(reply->address);
    sm->core->inflight--;
    sm->core->counter[WW_C_EVENT_RECEIVED] += s.events;
    sm->core->counter[WW_C_COPY_RECEIVED] += bytes;
    if (!sm->mbar || (uint32_t)sm->cluster[slot].id != reply->sectors) return; /* the CTA has ended */
    event(sm, slot, &s, cycle, pass_port(sm, bytes, cycle));
}

/* ---- steps ---- */

void ww_mbar_decode(const struct ww_launch *launch, const struct ww_inst *in, struct ww_dinst *d) {
    const char *name = in->mnemonic < launch->string_count ? launch->string[in->mnemonic] : "";
    /* A wait with a time limit sleeps until its phase is complete; the step before has waited for that. */
    if (d->action == WW_A_SLEEP && strncmp(name, "NANOSLEEP.SYNCS", 15) == 0) d->action = WW_A_NONE;
    if (ww_pipe_is_mbarrier(d)) d->sends = strncmp(name, "UTCBAR", 6) == 0;
    if (d->action != WW_A_LSU || (d->path != WW_L_SHARED && d->path != WW_L_SHARED_ATOMIC)) return;
    d->sends = strncmp(name, "STAS", 4) == 0 || strncmp(name, "REDAS", 5) == 0 || strncmp(name, "UBLK", 4) == 0;
}

static void happen(struct ww_sm *sm, uint32_t cta, const struct ww_mbar_event *e, bool travels,
                   uint64_t cycle) {
    if (ww_mbarrier_is_far(e->access)) {
        tell_all(sm, cta, e->access, e->pool, e->mask, 0, travels, cycle);
        return;
    }
    struct ww_mbarrier_step s = ww_mbarrier_own(e->access);
    event(sm, cta, &s, cycle, cycle);
}

/* Events of copies: when they are done that the warp has issued before. */
static void after_copies(struct ww_sm *sm, const struct ww_warp *w, const struct ww_mbar_event *e,
                         uint64_t cycle) {
    struct ww_mbar_warp *own = &sm->mbar->warp[w - sm->warp];
    if (sm->tma && ww_tma_attach(sm, w, e->access, e->mask)) return;
    bool waits = w->async_count || own->stored != own->sent;
    if (waits && own->count < WW_MBAR_QUEUE) {
        struct ww_mbar_event *to = &own->queue[(own->head + own->count++) % WW_MBAR_QUEUE];
        *to = *e;
        to->after = own->done + w->async_count;
        to->stores = own->sent;
        return;
    }
    happen(sm, w->cta, e, true, cycle);
}

/* The warp's matrix instructions in tensor memory: when the last one so far is done. */
static void after_matrices(struct ww_sm *sm, const struct ww_warp *w, const struct ww_mbar_event *e,
                           uint64_t cycle) {
    uint64_t pending = ww_tensor_pending(sm, w), at = pending > cycle ? pending : cycle;
    struct ww_mbarrier_step s = ww_mbarrier_own(e->access);
    if (ww_mbarrier_is_far(e->access))
        tell_all(sm, w->cta, e->access, e->pool, e->mask, 0, true, at);
    else
        event(sm, w->cta, &s, cycle, at);
}

bool ww_mbar_issue(struct ww_sm *sm, struct ww_warp *w, const struct ww_dinst *d,
                   const struct ww_access *access, uint64_t cycle) {
    uint32_t mask = w->step->mask;
    const struct ww_mbar_event e = {.access = access, .pool = w->pool, .mask = mask};
    uint64_t first = access->base;
    if (access->list != WW_AFFINE || first >> 26 & 31)
        first = ww_lane_address(access, w->pool, (uint32_t)__builtin_ctz(mask), 0);
    struct ww_mbarrier_step s = ww_mbarrier_unpack(first);
    switch ((enum ww_mbarrier_kind)s.kind) {
    case WW_MBARRIER_WAIT:
        s = ww_mbarrier_own(access);
        return wait_for(sm, w, &s);
    case WW_MBARRIER_COPIES:
        if (d->sends)
            after_matrices(sm, w, &e, cycle);
        else
            after_copies(sm, w, &e, cycle);
        return true;
    case WW_MBARRIER_ARRIVE:
        happen(sm, w->cta, &e, true, cycle);
        return true;
    default:
        return true;
    }
}

void ww_mbar_bytes(struct ww_sm *sm, uint32_t cta, const struct ww_access *access, uint64_t cycle,
                   uint64_t at) {
    struct ww_mbarrier_step s = ww_mbarrier_own(access);
    event(sm, cta, &s, cycle, at);
}

void ww_mbar_bytes_far(struct ww_sm *sm, uint32_t cta, const struct ww_access *access, const uint64_t *pool,
                       uint32_t mask, uint32_t bytes, uint64_t at) {
    tell_all(sm, cta, access, pool, mask, bytes, false, at);
}

void ww_mbar_copied(struct ww_sm *sm, const struct ww_warp *w, const struct ww_dinst *d, uint64_t cycle) {
    struct ww_mbar_warp *own = &sm->mbar->warp[w - sm->warp];
    own->done += d->async;
    own->stored += d->sends;
    while (own->count) {
        struct ww_mbar_event e = own->queue[own->head];
        if ((int32_t)(own->done - e.after) < 0 || (int32_t)(own->stored - e.stores) < 0) return;
        own->head = (own->head + 1) % WW_MBAR_QUEUE;
        own->count--;
        happen(sm, w->cta, &e, false, cycle);
    }
}
