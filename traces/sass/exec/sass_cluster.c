/* sass_cluster.c: the barrier of a cluster: every live thread of all its CTAs arrives (UCGABAR_ARV), then waits
 * (UCGABAR_WAIT). A thread that comes to wait when its phase is over goes on. */
#include "bulk.h"

static bool is_complete(const struct sx_cluster *c) {
    bool any = false;
    for (uint32_t k = 0; k < c->count; k++)
        for (uint32_t n = 0; n < c->cta[k]->warp_count; n++) {
            const struct sx_warp *w = &c->cta[k]->warp[n];
            if (w->live & ~w->cluster_arrived) return false;
            any = any || w->cluster_arrived;
        }
    return any;
}

/* Lets the lanes go on that wait and whose phase is over. */
static void let_go(struct sx_warp *w) {
    uint32_t waiting = 0;
    for (uint32_t g = 0; g < w->group_count; g++)
        if (w->group[g].state == SX_AT_BAR && w->group[g].barrier == SX_CLUSTER_BARRIER)
            waiting |= w->group[g].mask;
    uint32_t go = waiting & w->cluster_passed;
    w->cluster_passed &= ~go;
    if (go) ww_sx_let_go(w, SX_AT_BAR, SX_CLUSTER_BARRIER, go);
}

void ww_sx_cluster_count(const struct sx_cluster *c, uint32_t *arrived, uint32_t *live) {
    *arrived = *live = 0;
    for (uint32_t k = 0; k < c->count; k++)
        for (uint32_t n = 0; n < c->cta[k]->warp_count; n++) {
            *arrived += (uint32_t)__builtin_popcount(c->cta[k]->warp[n].cluster_arrived);
            *live += (uint32_t)__builtin_popcount(c->cta[k]->warp[n].live);
        }
}

void ww_sx_cluster_check(struct sx_cluster *c) {
    if (!is_complete(c)) return;
    for (uint32_t k = 0; k < c->count; k++)
        for (uint32_t n = 0; n < c->cta[k]->warp_count; n++) {
            struct sx_warp *w = &c->cta[k]->warp[n];
            w->cluster_passed |= w->cluster_arrived;
            w->cluster_arrived = 0;
            let_go(w);
        }
}

bool ww_sx_cluster_barrier(struct sx_warp *w, uint32_t g, bool waits, uint32_t mask) {
    struct sx_group *at = &w->group[g];
    w->value = 0; /* recorded as a barrier of the whole CTA */
    if (waits) {
        at->state = SX_AT_BAR;
        at->barrier = SX_CLUSTER_BARRIER;
        let_go(w);
        return false;
    }
    if (w->cluster_arrived & mask) {
        ww_sx_fail(w, (unsigned)__builtin_ctz(mask), WW_EXEC, "UCGABAR_ARV twice without a UCGABAR_WAIT");
        return false;
    }
    w->cluster_arrived |= mask;
    at->pc++;
    ww_sx_cluster_check(w->cta->cluster);
    return false;
}
