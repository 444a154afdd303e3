/* lsu_queue.h: memory instructions between their issue and the SM's load/store unit.
 *
 *   without lsu.sub_queue   schedulers --> one queue of lsu.queue --> load/store unit
 *   with it                 scheduler --> address generation, lsu.sub_cycles each --\
 *                           scheduler --> address generation                       --> load/store unit
 *                           (lsu.sub_queue places each)                           --/
 *
 * With places of its own a scheduler issues as long as one is free; the unit takes instructions in the order in
 * which their addresses are there, and a place is free lsu.sub_stages cycles after the unit has taken its
 * instruction. The ring holds those of all schedulers in the unit's order. */
#ifndef WW_CORE_LSU_QUEUE_H
#define WW_CORE_LSU_QUEUE_H

#include "sm.h"

/* False: there is no memory. */
bool ww_lsu_queue_init(struct ww_sm *sm, struct ww_arena *arena);
/* The queue of all schedulers is full; has room again. */
void ww_lsu_close(struct ww_sm *sm);
void ww_lsu_open(struct ww_sm *sm);

/* ---- places of schedulers ---- */

static inline void ww_lsu_set_free(struct ww_sched *s, uint64_t cycle) {
    s->unit_free[WW_G_LSU] = cycle;
    s->unit_free[WW_G_SHARED] = cycle;
}

/* Takes a place of the scheduler; returns the cycle from which the unit may take the instruction. */
static inline uint64_t ww_lsu_take_place(struct ww_lsu_sub *u, uint64_t cycle) {
    uint64_t from = u->free > cycle + 1 ? u->free : cycle + 1;
    u->free = from + u->cycles;
    u->leave[u->in++ % WW_LSU_SUB_QUEUE] = WW_NEVER;
    uint64_t next = u->leave[(uint8_t)(u->in - u->places) % WW_LSU_SUB_QUEUE];
    struct ww_sched *s = u->sched;
    s->unit_free[WW_G_LSU] = s->unit_free[WW_G_SHARED] = next;
    return from;
}

/* The unit is done with an instruction of the scheduler, which it took in cycle `taken`. */
static inline void ww_lsu_leave_place(struct ww_sm *sm, struct ww_lsu_sub *u, uint64_t taken) {
    uint64_t at = taken + u->stages;
    uint8_t out = u->out++;
    u->leave[out % WW_LSU_SUB_QUEUE] = at;
    if ((uint8_t)(u->in - out) == u->places) { /* the next instruction gets its place */
        struct ww_sched *s = u->sched;
        ww_lsu_set_free(s, at);
        if (s->groups & (1u << WW_G_LSU | 1u << WW_G_SHARED)) ww_sched_try(sm, s, at);
    }
}

/* ---- the ring ---- */

/* Makes room in front of the last ones, whose addresses are there later; at: the place behind them. Returns the
 * place. */
uint32_t ww_lsu_overtake(struct ww_lsu *l, uint64_t from, uint32_t at);

/* The place of an instruction whose addresses are there in cycle `from`: behind those that are there before or
 * at the same time, most often all of them. */
static inline struct ww_lsu_entry *ww_lsu_insert(struct ww_lsu *l, uint64_t from) {
    uint32_t at = (l->head + l->count) & l->ring_mask, last = (at - 1) & l->ring_mask;
    if (l->count && WW_UNLIKELY(l->ring[last].from > from)) at = ww_lsu_overtake(l, from, at);
    return &l->ring[at];
}

/* The host loads the list of an access. */
void ww_lsu_load_list(const struct ww_access *access, const uint64_t *pool);

/* Each warp's accesses lie apart in a large array, which no prefetcher of the host follows. */
WW_AHEAD ww_lsu_expect(const struct ww_smem_banks *banks, const struct ww_access *access, const uint64_t *pool,
                       const struct ww_dinst *d) {
    if (access->list == WW_AFFINE || (d->path == WW_L_SHARED && ww_smem_close(banks, access, d->width))) return;
    ww_lsu_load_list(access, pool);
}

/* Whether it needs one pass, and nothing but registers is to be told then: what ww_lsu_entry.quick says. */
static inline uint16_t ww_lsu_quick(const struct ww_sm *sm, const struct ww_dinst *d,
                                    const struct ww_access *access) {
    uint16_t quick = d->quick & sm->lsu.quick;
    if (!quick || !access) return quick;
    if (access->list != WW_AFFINE) return ww_smem_close(&sm->core->banks, access, d->width) ? quick : 0;
    bool one = access->stride == 0 || (d->side && access->stride == d->width);
    return one && !(access->base & (d->width - 1u)) ? quick : 0;
}

/* The warp's instruction d (number inst) issues in `cycle`. access: NULL if it has none. */
static inline void ww_lsu_push(struct ww_sm *sm, struct ww_warp *w, const struct ww_dinst *d, uint32_t inst,
                               uint32_t mask, const struct ww_access *access, uint64_t cycle) {
    struct ww_lsu *l = &sm->lsu;
    struct ww_lsu_entry *e;
    uint64_t from = cycle + 1;
    uint16_t quick = ww_lsu_quick(sm, d, access);
    if (access) __builtin_prefetch((const void *)((uintptr_t)access + 64));
    if (access && !quick) ww_lsu_expect(&sm->core->banks, access, w->pool, d);
    if (WW_LIKELY(l->sub)) {
        from = ww_lsu_take_place(&l->sub[w->sched], cycle);
        if (l->count == 0) l->busy = l->free;
        e = ww_lsu_insert(l, from);
        if (l->count++ == 0 && l->free < from) l->free = from;
    } else {
        e = &l->ring[(l->head + l->count) & l->ring_mask];
        if (l->count++ == 0 && l->free <= cycle) l->free = from;
        if (WW_UNLIKELY(l->count == l->capacity)) ww_lsu_close(sm);
    }
    *e = (struct ww_lsu_entry){access, w->pool, from, inst, mask, w->number, quick};
    sm->core->inflight++;
    w->inflight++;
    w->memory_count++;
    w->shared_queued = (uint16_t)(w->shared_queued + (d->path <= WW_L_SHARED_ATOMIC));
}

/* The unit is done with the first instruction, of the warp, which it took in cycle `taken`. */
static inline void ww_lsu_pop(struct ww_sm *sm, const struct ww_warp *w, uint64_t taken) {
    struct ww_lsu *l = &sm->lsu;
    l->head = (l->head + 1) & l->ring_mask;
    l->active = false;
    sm->core->inflight--;
    l->busy = l->free;
    if (--l->count && l->ring[l->head].from > l->free) l->free = l->ring[l->head].from;
    if (l->sub)
        ww_lsu_leave_place(sm, &l->sub[w->sched], taken);
    else if (l->count + 1 == l->capacity)
        ww_lsu_open(sm);
}

#endif
