/* simt_cluster.c: the barrier of a cluster: every live thread of all its CTAs arrives, then waits. Arriving and
 * waiting are instructions apart; a thread that comes to wait when its phase is over goes on. */
#include "simt.h"

static bool is_complete(const struct ex_cluster *c) {
    for (uint32_t k = 0; k < c->count; k++) {
        if (!c->cta[k]) return false;
        for (uint32_t n = 0; n < c->cta[k]->warp_count; n++)
            if (c->cta[k]->warp[n].live & ~c->cta[k]->warp[n].cluster_arrived) return false;
    }
    return true;
}

/* Lets the splits go on whose lanes have all arrived in a phase that is over. */
static void let_go(struct ex_warp *w) {
    for (uint32_t s = 0; s < w->split_count; s++) {
        struct ex_split *at = &w->split[s];
        if (at->state != SPLIT_CLUSTER || at->act & ~w->cluster_passed) continue;
        w->cluster_passed &= ~at->act;
        at->state = SPLIT_RUN;
        at->pc++;
    }
}

static bool anyone_arrived(const struct ex_cluster *c) {
    for (uint32_t k = 0; k < c->count; k++)
        for (uint32_t n = 0; n < c->cta[k]->warp_count; n++)
            if (c->cta[k]->warp[n].cluster_arrived) return true;
    return false;
}

void ww_simt_cluster_count(const struct ex_cluster *c, uint32_t *arrived, uint32_t *live) {
    *arrived = *live = 0;
    for (uint32_t k = 0; k < c->count; k++)
        for (uint32_t n = 0; n < c->cta[k]->warp_count; n++) {
            *arrived += (uint32_t)__builtin_popcount(c->cta[k]->warp[n].cluster_arrived);
            *live += (uint32_t)__builtin_popcount(c->cta[k]->warp[n].live);
        }
}

void ww_simt_cluster_check(struct ex_cluster *c) {
    if (!is_complete(c) || !anyone_arrived(c)) return;
    for (uint32_t k = 0; k < c->count; k++)
        for (uint32_t n = 0; n < c->cta[k]->warp_count; n++) {
            struct ex_warp *w = &c->cta[k]->warp[n];
            w->cluster_passed |= w->cluster_arrived;
            w->cluster_arrived = 0;
            let_go(w);
        }
}

void ww_simt_cluster(struct ex_warp *w, uint32_t s, const struct ex_inst *i, uint32_t mask) {
    struct ex_split *at = &w->split[s];
    w->value = 0; /* recorded as a barrier of the whole CTA */
    if (i->sub == PTX_SUB_CLUSTER_WAIT) {
        at->state = SPLIT_CLUSTER;
        at->act = mask;
        let_go(w);
        return;
    }
    if (w->cluster_arrived & mask) {
        ww_ex_fail(w, (unsigned)__builtin_ctz(mask), WW_EXEC, "barrier.cluster.arrive twice without a wait");
        return;
    }
    w->cluster_arrived |= mask;
    at->pc++;
    ww_simt_cluster_check(w->cta->cluster);
}
