/* clusters.c: CTAs of a cluster begin together, on SMs of one GPC. */
#include "clusters.h"
#include "../../config/gpc.h"
#include "concurrent.h"
#include "engine_internal.h"

enum ww_code ww_clusters_plan(struct ww_core *core, const struct ww_launch *launch, struct ww_error *error) {
    const struct ww_gpu_spec *g = core->gpu;
    uint32_t size = ww_cluster_size(launch);
    core->cluster_size = 1;
    if (size < 2 || !g->sm_gpcs || core->concurrent || core->shared_alloc.on) return WW_OK;
    if (!ww_gpc_clusters(g, core->ctas_per_sm, size))
        return ww_fail(error, WW_INPUT, launch->kernel,
                       "clusters of %u CTAs: no GPC of %s has room for one (%u CTAs an SM)", size, g->name,
                       core->ctas_per_sm);
    core->cluster_size = size;
    core->next_cluster = 1;
    core->runs_ahead = false; /* other SMs can reach each of them */
    return WW_OK;
}

/* SMs of the GPC for `count` CTAs, those with the fewest CTAs first; returns how many the fullest of them has
 * then, WW_NONE: there is no room. */
static uint32_t find_sms(const struct ww_core *core, uint32_t gpc, uint32_t count, uint16_t *sm) {
    uint32_t first = ww_gpc_first(core->gpu, gpc), end = ww_gpc_first(core->gpu, gpc + 1), room = 0, n = 0;
    for (uint32_t i = first; i < end; i++)
        if (core->sm[i].cta_room > core->sm[i].resident_ctas)
            room += core->sm[i].cta_room - core->sm[i].resident_ctas;
    if (room < count) return WW_NONE;
    uint32_t ctas = 0;
    for (; n < count; ctas++)
        for (uint32_t i = first; i < end && n < count; i++)
            if (core->sm[i].resident_ctas <= ctas && ctas < core->sm[i].cta_room) sm[n++] = (uint16_t)i;
    return ctas;
}

/* Warps of a CTA that have nothing to execute, and ended when it was placed. */
static uint64_t ended_warps(const struct ww_sm *sm, uint32_t slot) {
    const struct ww_cta *c = &sm->cta[slot];
    uint64_t ended = 0;
    for (uint32_t i = 0; i < c->warps; i++)
        if (sm->warp[c->first_warp + i].done) ended |= 1ull << i;
    return ended;
}

/* Tells the SMs and the network of a cluster whose CTAs have been placed. */
static void join(struct ww_core *core, struct ww_peer_cluster *p) {
    for (uint32_t r = 0; r < p->count; r++)
        if (!core->sm[p->member[r].sm].cta[p->member[r].slot].resident) p->gone |= 1u << r;
    if (p->gone == (1u << p->count) - 1) return;
    uint32_t key = ww_peer_begin(ww_memsys_peer(core->memory), p);
    for (uint32_t r = 0; r < p->count; r++) {
        if (p->gone >> r & 1) continue;
        struct ww_cluster_cta *c = &core->sm[p->member[r].sm].cluster[p->member[r].slot];
        *c = (struct ww_cluster_cta){.id = p->id, .key = key, .rank = r, .count = p->count};
        c->gone = ended_warps(&core->sm[p->member[r].sm], p->member[r].slot);
        for (uint32_t k = 0; k < p->count; k++) c->sm[k] = p->member[k].sm;
    }
}

static bool place(struct ww_core *core, uint64_t number, const uint16_t *sm, uint64_t cycle) {
    struct ww_peer_cluster p = {.id = core->next_cluster++, .count = core->cluster_size};
    for (uint32_t r = 0; r < p.count; r++) {
        struct ww_sm *to = &core->sm[sm[r]];
        p.member[r].sm = sm[r];
        if (!ww_dispatch_make(to)) return false;
        while (to->cta[p.member[r].slot].resident) p.member[r].slot++;
        uint64_t cta = ww_cluster_member(core->launch, number, r);
        uint32_t slot = p.member[r].slot, warps = core->warps_per_cta;
        to->cluster[slot] = (struct ww_cluster_cta){.id = 0};
        if (core->source->next(core->source->context, cta) != cta) {
            p.gone |= 1u << r; /* the trace leaves it out */
            continue;
        }
        if (!ww_dispatch_place(to, slot, slot * warps, warps, cta, cycle)) return false;
        ww_dispatch_counted(core, cycle);
    }
    if (!p.gone) join(core, &p);
    return true;
}

/* The GPC, the first in turn, whose SMs have the fewest CTAs with a cluster more; WW_NONE: there is no room. */
static uint32_t next_gpc(struct ww_core *core, uint16_t *sm) {
    uint32_t gpcs = core->gpu->sm_gpcs, best = WW_NONE, least = WW_NONE;
    for (uint32_t k = 0, gpc = core->turn; k < gpcs; k++, gpc = gpc + 1 == gpcs ? 0 : gpc + 1) {
        uint32_t ctas = find_sms(core, gpc, core->cluster_size, sm);
        if (ctas < least) {
            least = ctas;
            best = gpc;
        }
    }
    if (best != WW_NONE) find_sms(core, best, core->cluster_size, sm);
    return best;
}

static bool has_any(const struct ww_core *core, uint64_t number) {
    for (uint32_t r = 0; r < core->cluster_size; r++) {
        uint64_t cta = ww_cluster_member(core->launch, number, r);
        if (core->source->next(core->source->context, cta) == cta) return true;
    }
    return false;
}

/* Moves next_cta to the next cluster of which there is a CTA. False: there is none. */
static bool find_next(struct ww_core *core) {
    uint32_t size = core->cluster_size;
    const uint32_t *c = core->launch->cluster;
    while (core->next_cta < core->cta_count && !has_any(core, core->next_cta / size)) {
        core->next_cta += size;
        if (c[1] != 1 || c[2] != 1) continue;
        uint64_t cta = core->source->next(core->source->context, core->next_cta);
        core->next_cta = cta < core->cta_count ? cta / size * size : core->cta_count;
    }
    return core->next_cta < core->cta_count;
}

/* next_cta counts CTAs in the order of clusters. */
bool ww_clusters_dispatch(struct ww_core *core, uint64_t cycle) {
    uint32_t size = core->cluster_size;
    uint16_t sm[WW_CLUSTER_CTAS];
    for (uint32_t n = 0, most = ww_dispatch_most(core, cycle); n < most; n += size) {
        uint32_t gpc = find_next(core) ? next_gpc(core, sm) : WW_NONE;
        if (gpc == WW_NONE) return false;
        uint64_t number = core->next_cta / size;
        ww_dispatch_marks(core, core->next_cta, cycle);
        if (!place(core, number, sm, cycle)) return false;
        core->next_cta = (number + 1) * size;
        core->turn = gpc + 1 == core->gpu->sm_gpcs ? 0 : gpc + 1;
    }
    return core->next_cta < core->cta_count;
}
