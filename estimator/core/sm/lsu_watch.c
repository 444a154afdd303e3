/* lsu_watch.c: how long warps whose data are in the L1 wait behind a held load/store unit while no scheduler
 * issues (Sethia et al., Mascar, HPCA 2015, motivation). Looks at every waiting access whenever the SM acts, so
 * it is done only if asked for. */
#include "../../result/result.h"
#include "sm.h"

/* Whether a sector of a line that the access needs is valid in the cache that it goes to. */
static bool any_hit(struct ww_sm *sm, const struct ww_dinst *d, const struct ww_access *access,
                    const uint64_t *pool, uint32_t mask) {
    struct ww_coalescer *c = sm->lsu.watch;
    if (d->path != WW_L_LOAD || d->cache == WW_CACHE_NONE || !access || d->local || !mask) return false;
    const struct ww_cache *cache = d->cache == WW_CACHE_L1 ? &sm->l1 : &sm->tex;
    c->count = 0;
    ww_coalesce_lines(c, sm->core->request_shift[d->cache]);
    ww_coalesce(c, access, pool, mask, d->width);
    for (uint32_t i = 0; i < c->count; i++) {
        uint32_t line = ww_tags_find(&cache->tags, c->request[i].key);
        if (line != WW_NO_LINE &&
            (cache->tags.line[line].valid & cache->shape->sectors_of[c->request[i].chunks]))
            return true;
    }
    return false;
}

/* Of those in the queue behind the refused one, and of those that are ready to enter it. */
static bool is_behind(struct ww_sm *sm) {
    const struct ww_core *core = sm->core;
    const struct ww_lsu *l = &sm->lsu;
    for (uint32_t i = 1, k = l->head; i < l->count; i++) {
        k = (k + 1) & l->ring_mask;
        const struct ww_lsu_entry *e = &l->ring[k];
        if (any_hit(sm, &core->code.inst[e->inst], e->access, e->pool, e->mask)) return true;
    }
    for (uint32_t s = 0; s < core->gpu->sm_schedulers; s++)
        for (uint64_t m = sm->sched[s].unit_ready[WW_G_LSU]; m; m &= m - 1) {
            const struct ww_warp *w =
                &sm->sched[s].warp[(uint32_t)__builtin_ctzll(m) * core->gpu->sm_schedulers];
            if (any_hit(sm, w->head, w->head->access ? w->access : NULL, w->pool, w->step->mask)) return true;
        }
    return false;
}

void ww_lsu_watch(struct ww_sm *sm, uint64_t cycle, bool issued) {
    struct ww_lsu *l = &sm->lsu;
    if (l->behind && cycle > l->behind_since)
        sm->core->counter[WW_C_LSU_HIT_BEHIND_STALL] += cycle - l->behind_since;
    l->behind = l->held && is_behind(sm);
    l->behind_since = cycle + issued;
}
