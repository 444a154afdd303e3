/* Memory instructions between their issue and the load/store unit. */
#include "lsu_queue.h"
#include "../../result/result.h"

bool ww_lsu_queue_init(struct ww_sm *sm, struct ww_arena *arena) {
    const struct ww_gpu_spec *g = sm->core->gpu;
    struct ww_lsu *l = &sm->lsu;
    l->capacity = g->lsu_sub_queue ? g->lsu_sub_queue * g->sm_schedulers : g->lsu_queue;
    l->ring = ww_arena_array(arena, l->capacity, sizeof *l->ring);
    if (g->lsu_sub_queue) l->sub = ww_arena_array(arena, g->sm_schedulers, sizeof *l->sub);
    return l->ring && (l->sub || !g->lsu_sub_queue);
}

/* ---- one queue for the SM ---- */

void ww_lsu_close(struct ww_sm *sm) {
    struct ww_sched *end = sm->sched + sm->core->gpu->sm_schedulers;
    for (struct ww_sched *s = sm->sched; s < end; s++) s->free[WW_G_LSU] = s->free[WW_G_SHARED] = WW_NEVER;
}

void ww_lsu_open(struct ww_sm *sm) {
    struct ww_sched *end = sm->sched + sm->core->gpu->sm_schedulers;
    for (struct ww_sched *s = sm->sched; s < end; s++) {
        s->free[WW_G_LSU] = s->free[WW_G_SHARED] = 0;
        if (s->groups & (1u << WW_G_LSU | 1u << WW_G_SHARED)) ww_sched_try(sm, s, 0);
    }
}

/* ---- places of schedulers ---- */

static void set_free(struct ww_sched *s, uint64_t cycle) {
    s->free[WW_G_LSU] = s->free[WW_G_SHARED] = cycle;
}

static uint8_t next_place(const struct ww_gpu_spec *g, uint8_t place) {
    return (uint8_t)(place + 1u == g->lsu_sub_queue ? 0u : place + 1u);
}

/* Takes a place of the scheduler; returns the cycle from which the unit may take the instruction. */
static uint64_t take_place(struct ww_sm *sm, uint32_t scheduler, uint64_t cycle) {
    const struct ww_gpu_spec *g = sm->core->gpu;
    struct ww_lsu_sub *u = &sm->lsu.sub[scheduler];
    uint64_t from = u->free > cycle + 1 ? u->free : cycle + 1;
    u->free = from + g->lsu_sub_cycles;
    u->leave[u->in] = WW_NEVER;
    u->in = next_place(g, u->in);
    set_free(&sm->sched[scheduler], u->leave[u->in]);
    return from;
}

void ww_lsu_sub_leave(struct ww_sm *sm, uint32_t warp, uint64_t taken) {
    uint32_t scheduler = sm->warp[warp].sched;
    const struct ww_gpu_spec *g = sm->core->gpu;
    struct ww_lsu_sub *u = &sm->lsu.sub[scheduler];
    struct ww_sched *s = &sm->sched[scheduler];
    uint64_t at = taken + g->lsu_sub_stages;
    u->leave[u->out] = at;
    if (u->out == u->in) { /* the next one to be taken */
        set_free(s, at);
        if (s->groups & (1u << WW_G_LSU | 1u << WW_G_SHARED)) ww_sched_try(sm, s, at);
    }
    u->out = next_place(g, u->out);
}

/* ---- the ring ---- */

static uint32_t place(const struct ww_lsu *l, uint32_t i) {
    uint32_t at = l->head + i;
    return at >= l->capacity ? at - l->capacity : at;
}

/* Puts it behind those whose addresses are there before or at the same time. One that the unit works on stays
 * the first, and so does any where the unit has other work, too. */
static inline void insert(struct ww_lsu *l, const struct ww_lsu_entry *e) {
    uint32_t first = l->active || l->reexec.capacity ? 1 : 0, i = l->count, at = place(l, i);
    while (i > first) {
        uint32_t before = at ? at - 1 : l->capacity - 1;
        if (l->ring[before].from <= e->from) break;
        l->ring[at] = l->ring[before];
        at = before;
        i--;
    }
    l->ring[at] = *e;
    if (i == 0 && l->count) l->free = l->busy > e->from ? l->busy : e->from;
}

void ww_lsu_sub_add(struct ww_sm *sm, struct ww_lsu_entry *e, uint64_t cycle) {
    struct ww_lsu *l = &sm->lsu;
    e->from = take_place(sm, sm->warp[e->warp].sched, cycle);
    if (l->count == 0) l->busy = l->free;
    insert(l, e);
    if (l->count++ == 0 && l->free < e->from) l->free = e->from;
}
