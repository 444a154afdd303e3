/* Memory instructions between their issue and the load/store unit. */
#include "lsu_queue.h"
#include "../../result/result.h"

bool ww_lsu_queue_init(struct ww_sm *sm, struct ww_arena *arena) {
    const struct ww_gpu_spec *g = sm->core->gpu;
    struct ww_lsu *l = &sm->lsu;
    l->capacity = g->lsu_sub_queue ? g->lsu_sub_queue * g->sm_schedulers : g->lsu_queue;
    while (l->ring_mask + 1 < l->capacity) l->ring_mask = 2 * l->ring_mask + 1;
    l->ring = ww_arena_array(arena, l->ring_mask + 1, sizeof *l->ring);
    if (g->lsu_sub_queue) l->sub = ww_arena_array(arena, g->sm_schedulers, sizeof *l->sub);
    for (uint32_t i = 0; l->sub && i < g->sm_schedulers; i++)
        l->sub[i] = (struct ww_lsu_sub){.sched = &sm->sched[i],
                                        .cycles = g->lsu_sub_cycles,
                                        .stages = g->lsu_sub_stages,
                                        .places = (uint8_t)g->lsu_sub_queue};
    return l->ring && (l->sub || !g->lsu_sub_queue);
}

void ww_lsu_load_list(const struct ww_access *access, const uint64_t *pool) {
    const char *list = (const char *)(pool + (access->list & WW_LIST_PLACE));
    for (uint32_t i = 0, n = 32u << ww_list_shift(access->list); i < n; i += 64) __builtin_prefetch(list + i);
}

/* ---- one queue for the SM ---- */

void ww_lsu_close(struct ww_sm *sm) {
    struct ww_sched *end = sm->sched + sm->core->gpu->sm_schedulers;
    for (struct ww_sched *s = sm->sched; s < end; s++) ww_lsu_set_free(s, WW_NEVER);
}

void ww_lsu_open(struct ww_sm *sm) {
    struct ww_sched *end = sm->sched + sm->core->gpu->sm_schedulers;
    for (struct ww_sched *s = sm->sched; s < end; s++) {
        ww_lsu_set_free(s, 0);
        if (s->groups & (1u << WW_G_LSU | 1u << WW_G_SHARED)) ww_sched_try(sm, s, 0);
    }
}

/* ---- places of schedulers ---- */

/* One that the unit works on stays the first, and so does any where the unit has other work, too. */
uint32_t ww_lsu_overtake(struct ww_lsu *l, uint64_t from, uint32_t at) {
    uint32_t first = l->active || l->reexec.capacity ? 1 : 0, i = l->count;
    while (i > first) {
        uint32_t before = (at - 1) & l->ring_mask;
        if (l->ring[before].from <= from) break;
        l->ring[at] = l->ring[before];
        at = before;
        i--;
    }
    if (i == 0) l->free = l->busy > from ? l->busy : from;
    return at;
}
