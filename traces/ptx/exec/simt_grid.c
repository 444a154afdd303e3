/* simt_grid.c: CTAs of a launch, and their turns. The window holds clusters, whose CTAs begin and end together.
 */
#include "simt.h"
#include "window.h"
#include <stdlib.h>
#include <string.h>

static void cta_free(void *cta) {
    struct ex_cta *c = cta;
    for (uint32_t n = 0; c->warp && n < c->warp_count; n++) ww_simt_warp_free(&c->warp[n]);
    c->run->state_bytes -= c->state_bytes;
    free(c->warp);
    free(c->shared);
    free(c->tmem);
    free(c);
}

static uint32_t cluster_dim(const struct ex_run *r, unsigned n) {
    return r->cluster[n] ? r->cluster[n] : 1;
}

/* Where CTA `rank` of cluster `index` lies in the grid. */
static void place(const struct ex_run *r, uint64_t index, uint32_t rank, struct ex_cta *c) {
    c->index = index;
    if (!r->cluster[0]) {
        ww_cta_place(r->pick, index, r->grid, c->ctaid);
        return;
    }
    for (unsigned n = 0; n < 3; n++) {
        uint32_t of = cluster_dim(r, n), clusters = r->grid[n] / of;
        c->ctaid[n] = (uint32_t)(index % clusters) * of + rank % of;
        index /= clusters;
        rank /= of;
    }
    c->index = c->ctaid[0] + (uint64_t)r->grid[0] * (c->ctaid[1] + (uint64_t)r->grid[1] * c->ctaid[2]);
}

static struct ex_cta *cta_new(struct ex_cluster *cluster, uint64_t index, uint32_t rank) {
    struct ex_run *r = cluster->run;
    struct ex_cta *c = calloc(1, sizeof *c);
    if (!c) return NULL;
    c->run = r;
    c->cluster = cluster;
    c->rank = rank;
    place(r, index, rank, c);
    c->warp = calloc(r->warps_per_cta, sizeof *c->warp);
    c->shared = calloc(1, r->shared_bytes ? r->shared_bytes : 1);
    bool good = c->warp && c->shared;
    for (uint32_t n = 0; good && n < r->warps_per_cta; n++) {
        good = ww_simt_warp_init(&c->warp[n], c, n);
        if (good) c->warp_count++;
    }
    const struct ex_func *f = r->kernel->entry;
    c->live_warps = c->warp_count;
    /* local memory has been counted where it was allocated */
    uint64_t own = r->shared_bytes + (uint64_t)r->warps_per_cta * (sizeof(struct ex_warp) + f->frame_bytes);
    c->state_bytes += own;
    r->state_bytes += own;
    if (good) return c;
    cta_free(c);
    return NULL;
}

static void cluster_free(void *cluster) {
    struct ex_cluster *c = cluster;
    for (uint32_t n = 0; n < c->count; n++)
        if (c->cta[n]) cta_free(c->cta[n]);
    free(c);
}

static void *cluster_new(void *run, uint64_t index) {
    struct ex_run *r = run;
    struct ex_cluster *c = calloc(1, sizeof *c);
    if (!c) return NULL;
    c->run = r;
    c->count = cluster_dim(r, 0) * cluster_dim(r, 1) * cluster_dim(r, 2);
    for (uint32_t n = 0; n < c->count; n++) {
        c->cta[n] = cta_new(c, index, n);
        if (c->cta[n]) continue;
        cluster_free(c);
        return NULL;
    }
    return c;
}

/* One turn of each warp. True if some lane did more than wait; *ran if one executed anything. */
static bool run_cta(struct ex_cta *c, bool *any) {
    struct ex_run *r = c->run;
    bool progress = false, ran = false;
    for (uint32_t n = 0; n < c->warp_count && !r->failed; n++) {
        bool spinning;
        if (c->warp[n].live == 0) continue;
        uint32_t turn = ww_cta_pick_turn(r->pick, c->warp[n].stream.step_count, WW_TURN);
        if (!turn) continue;
        uint32_t used = ww_simt_run_warp(&c->warp[n], turn, &spinning);
        ran = ran || used;
        progress = progress || (used && !spinning);
    }
    *any = *any || ran;
    return progress;
}

static bool is_done(const void *cluster) {
    const struct ex_cluster *c = cluster;
    for (uint32_t n = 0; n < c->count; n++)
        if (c->cta[n]->live_warps) return false;
    return true;
}

/* Lanes of the warp that wait at a barrier of a number of threads. */
static uint32_t waiting_lanes(const struct ex_warp *w) {
    uint32_t lanes = 0;
    for (uint32_t n = 0; n < w->split_count; n++)
        if (w->split[n].state == SPLIT_BARRIER && w->cta->barrier[w->split[n].barrier].expected)
            lanes |= w->split[n].act;
    return lanes;
}

/* Ends a CTA whose warps are cut, or wait for such a warp. False: none is cut. */
static bool end_cut(struct ex_cta *c) {
    const struct ex_run *r = c->run;
    bool any = false;
    for (uint32_t n = 0; n < c->warp_count && !any; n++)
        any = c->warp[n].live && !ww_cta_pick_turn(r->pick, c->warp[n].stream.step_count, WW_TURN);
    for (uint32_t n = 0; any && n < c->warp_count; n++) {
        c->warp[n].stream.cut = c->warp[n].live;
        c->warp[n].stream.waiting = c->warp[n].live ? waiting_lanes(&c->warp[n]) : 0;
        c->warp[n].live = 0;
    }
    if (any) c->live_warps = 0;
    return any;
}

static bool run_cluster(void *cluster) {
    struct ex_cluster *c = cluster;
    bool progress = false, ran = false;
    uint32_t stuck = c->count;
    for (uint32_t n = 0; n < c->count && !c->run->failed; n++)
        if (run_cta(c->cta[n], &ran)) progress = true;
    if (!progress && !c->run->failed && end_cut(c->cta[0])) return true;
    for (uint32_t n = c->count; n-- > 0;)
        if (c->cta[n]->live_warps) stuck = n;
    if (!ran && stuck < c->count && !c->run->failed) ww_simt_barrier_stuck(c->cta[stuck]);
    return progress;
}

static enum ww_code record_cluster(void *cluster, struct ww_error *error) {
    struct ex_cluster *c = cluster;
    for (uint32_t n = 0; c->run->recorder && n < c->count; n++)
        WW_TRY(ww_record_cta(c->run->recorder, c->cta[n], error));
    return WW_OK;
}

/* What a live warp of the cluster polls; NULL if nothing is recorded, or no loop could be followed. */
static const struct spin_watch *polled(const struct ex_cluster *c) {
    for (uint32_t n = 0; n < c->count; n++)
        for (uint32_t k = 0; k < c->cta[n]->warp_count; k++) {
            const struct ex_warp *w = &c->cta[n]->warp[k];
            for (uint32_t g = 0; w->live && g < w->split_count; g++)
                if (w->split[g].watch.goes_round) return &w->split[g].watch;
        }
    return NULL;
}

/* The mbarrier at which a live warp of the cluster waits. */
static bool unmet(const struct ex_cluster *c, char *text, size_t size) {
    for (uint32_t n = 0; n < c->count; n++)
        for (uint32_t k = 0; k < c->cta[n]->warp_count; k++)
            if (c->cta[n]->warp[k].live && ww_ex_mbarrier_say(&c->cta[n]->warp[k], text, size)) return true;
    return false;
}

static void fail_cluster(void *cluster, const char *text) {
    const struct ex_cluster *c = cluster;
    const struct spin_watch *at = polled(c);
    char lacks[160];
    if (unmet(c, lacks, sizeof lacks))
        ww_ex_fail(&c->cta[0]->warp[0], EX_LANES, WW_EXEC, "%s%s", text, lacks);
    else if (at)
        ww_ex_fail(&c->cta[0]->warp[0], EX_LANES, WW_EXEC, "%s; the loop that ends here polls address 0x%llx",
                   text, (unsigned long long)at->address);
    else
        ww_ex_fail(&c->cta[0]->warp[0], EX_LANES, WW_EXEC, "%s", text);
}

enum ww_code ww_ex_run_grid(struct ex_run *r, struct ww_error *error) {
    static const struct ww_cta_ops ops = {cluster_new, cluster_free,   run_cluster,
                                          is_done,     record_cluster, fail_cluster};
    const struct ww_window_run w = {.ops = &ops,
                                    .run = r,
                                    .kernel = r->kernel->entry->src->name,
                                    .together = r->workspace != 0,
                                    .launch = r->grid_id,
                                    .cta_count = r->cta_count /
                                                 (cluster_dim(r, 0) * cluster_dim(r, 1) * cluster_dim(r, 2)),
                                    .state_bytes = &r->state_bytes,
                                    .stream_bytes = &r->stream_bytes,
                                    .stream_limit = r->stream_limit,
                                    .failed = &r->failed,
                                    .code = &r->code,
                                    .progress = r->progress,
                                    .progress_context = r->progress_context};
    r->error = error;
    enum ww_code code = ww_window_run(&w, error);
    free(r->touched.extent);
    memset(&r->touched, 0, sizeof r->touched);
    return code;
}
