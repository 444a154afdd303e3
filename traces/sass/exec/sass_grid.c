/* sass_grid.c: CTAs of a launch, and their turns. The window holds clusters, whose CTAs begin and end together.
 */
#include "../../ptx/exec/window.h"
#include "bulk.h"
#include <stdlib.h>

#define SHARED_LIMIT (229u << 10)

static void cta_destroy(struct sx_cta *c) {
    for (uint32_t n = 0; c->warp && n < c->run->warps_per_cta; n++) ww_sx_warp_free(&c->warp[n]);
    free(c->warp);
    free(c->shared);
    free(c);
}

/* What is left of a CTA is kept for the next one. */
static void cta_free(struct sx_cta *c) {
    struct sx_run *r = c->run;
    r->state_bytes -= c->state_bytes;
    c->spare = r->spare;
    r->spare = c;
}

static struct sx_cta *cta_memory(struct sx_run *r) {
    struct sx_cta *c = r->spare;
    if (c) {
        struct sx_warp *warp = c->warp;
        unsigned char *shared = c->shared;
        r->spare = c->spare;
        memset(c, 0, sizeof *c);
        memset(shared, 0, r->shared_bytes);
        c->warp = warp;
        c->shared = shared;
        return c;
    }
    c = calloc(1, sizeof *c);
    if (!c) return NULL;
    c->run = r;
    c->warp = malloc(r->warps_per_cta * sizeof *c->warp);
    for (uint32_t n = 0; c->warp && n < r->warps_per_cta; n++) ww_sx_warp_clear(&c->warp[n]);
    c->shared = calloc(1, r->shared_bytes ? r->shared_bytes : 1);
    if (c->warp && c->shared) return c;
    cta_destroy(c);
    return NULL;
}

static uint32_t cluster_dim(const struct sx_run *r, unsigned n) {
    return r->cluster[n] ? r->cluster[n] : 1;
}

/* Where CTA `rank` of cluster `index` lies in the grid. */
static void place(const struct sx_run *r, uint64_t index, uint32_t rank, struct sx_cta *c) {
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

static struct sx_cta *cta_new(struct sx_cluster *cluster, uint64_t index, uint32_t rank) {
    struct sx_run *r = cluster->run;
    struct sx_cta *c = cta_memory(r);
    if (!c) return NULL;
    c->run = r;
    c->cluster = cluster;
    c->rank = rank;
    place(r, index, rank, c);
    for (uint32_t n = 0; n < r->warps_per_cta; n++) {
        if (!ww_sx_warp_init(&c->warp[n], c, n)) {
            cta_destroy(c);
            return NULL;
        }
        c->warp_count++;
    }
    c->live_warps = c->warp_count;
    /* local memory is counted where it is allocated */
    c->state_bytes =
        r->shared_bytes + (uint64_t)r->warps_per_cta * (sizeof(struct sx_warp) + r->kernel->file_bytes);
    r->state_bytes += c->state_bytes;
    return c;
}

static void cluster_free(void *cluster) {
    struct sx_cluster *c = cluster;
    for (uint32_t n = 0; n < c->count; n++)
        if (c->cta[n]) cta_free(c->cta[n]);
    free(c);
}

static void *cluster_new(void *run, uint64_t index) {
    struct sx_run *r = run;
    struct sx_cluster *c = calloc(1, sizeof *c);
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

/* One turn of each warp. True if some lane did more than wait; *any if one executed anything. */
static bool run_cta(struct sx_cta *c, bool *any) {
    struct sx_run *r = c->run;
    bool progress = false;
    for (uint32_t n = 0; n < c->warp_count && !r->failed; n++) {
        bool spinning;
        if (c->warp[n].live == 0) continue;
        uint32_t turn = ww_cta_pick_turn(r->pick, c->warp[n].stream.step_count, WW_TURN);
        if (!turn) continue;
        uint32_t used = ww_sx_run_warp(&c->warp[n], turn, &spinning);
        *any = *any || used;
        progress = progress || (used && !spinning);
    }
    return progress;
}

static bool is_done(const void *cluster) {
    const struct sx_cluster *c = cluster;
    for (uint32_t n = 0; n < c->count; n++)
        if (c->cta[n]->live_warps) return false;
    return true;
}

/* Lanes of the warp that wait at a barrier of a number of threads. */
static uint32_t waiting_lanes(const struct sx_warp *w) {
    uint32_t lanes = 0;
    for (uint32_t n = 0; n < w->group_count; n++)
        if (w->group[n].state == SX_AT_BAR && w->cta->barrier[w->group[n].barrier].expected)
            lanes |= w->group[n].mask;
    return lanes;
}

/* Ends a CTA whose warps are cut, or wait for such a warp. False: none is cut. */
static bool end_cut(struct sx_cta *c) {
    const struct sx_run *r = c->run;
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
    struct sx_cluster *c = cluster;
    bool progress = false, ran = false;
    uint32_t stuck = c->count;
    for (uint32_t n = 0; n < c->count && !c->run->failed; n++)
        if (run_cta(c->cta[n], &ran)) progress = true;
    if (!progress && !c->run->failed && end_cut(c->cta[0])) return true;
    for (uint32_t n = c->count; n-- > 0;)
        if (c->cta[n]->live_warps) stuck = n;
    if (!ran && stuck < c->count && !c->run->failed) ww_sx_barrier_stuck(c->cta[stuck]);
    return progress;
}

static enum ww_code record_cluster(void *cluster, struct ww_error *error) {
    struct sx_cluster *c = cluster;
    for (uint32_t n = 0; c->run->recorder && n < c->count; n++) WW_TRY(ww_sx_record_cta(c->cta[n], error));
    return WW_OK;
}

/* What a live warp of the cluster polls; NULL if nothing is recorded, or no loop could be followed. */
static const struct spin_watch *polled(const struct sx_cluster *c) {
    for (uint32_t n = 0; n < c->count; n++)
        for (uint32_t k = 0; k < c->cta[n]->warp_count; k++) {
            const struct sx_warp *w = &c->cta[n]->warp[k];
            for (uint32_t g = 0; w->live && g < w->group_count; g++)
                if (w->group[g].watch.goes_round) return &w->group[g].watch;
        }
    return NULL;
}

/* The mbarrier at which a live warp of the cluster waits. */
static bool unmet(const struct sx_cluster *c, char *text, size_t size) {
    for (uint32_t n = 0; n < c->count; n++)
        for (uint32_t k = 0; k < c->cta[n]->warp_count; k++)
            if (c->cta[n]->warp[k].live && ww_sx_mbarrier_say(&c->cta[n]->warp[k], text, size)) return true;
    return false;
}

static void fail_cluster(void *cluster, const char *text) {
    const struct sx_cluster *c = cluster;
    const struct spin_watch *at = polled(c);
    char lacks[160];
    if (unmet(c, lacks, sizeof lacks))
        ww_sx_fail(&c->cta[0]->warp[0], SX_LANES, WW_EXEC, "%s%s", text, lacks);
    else if (at)
        ww_sx_fail(&c->cta[0]->warp[0], SX_LANES, WW_EXEC, "%s; the loop that ends here polls address 0x%llx",
                   text, (unsigned long long)at->address);
    else
        ww_sx_fail(&c->cta[0]->warp[0], SX_LANES, WW_EXEC, "%s", text);
}

static enum ww_code run_window(struct sx_run *r, struct ww_error *error) {
    static const struct ww_cta_ops ops = {cluster_new, cluster_free,   run_cluster,
                                          is_done,     record_cluster, fail_cluster};
    const struct ww_window_run w = {.ops = &ops,
                                    .run = r,
                                    .kernel = r->kernel->entry->name,
                                    .launch = r->grid_id,
                                    .together = r->workspace != 0,
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
    for (struct sx_cta *c = r->spare; c; c = r->spare) {
        r->spare = c->spare;
        cta_destroy(c);
    }
    free(r->touched.extent);
    memset(&r->touched, 0, sizeof r->touched);
    return code;
}

/* Shapes and sizes that follow from the launch. */
static enum ww_code prepare(struct sx_run *r, struct ww_error *error) {
    const struct sx_kernel *k = r->kernel;
    uint64_t threads = 1, ctas = 1;
    for (int n = 0; n < 3; n++) {
        if (r->block[n] == 0 || r->block[n] > 1024 || r->grid[n] == 0)
            return ww_fail(error, WW_USAGE, k->entry->name,
                           "expected a block of 1 to 1024 threads and a grid of CTAs");
        threads *= r->block[n];
        if (ctas > UINT64_MAX / r->grid[n]) return ww_fail(error, WW_USAGE, k->entry->name, "too many CTAs");
        ctas *= r->grid[n];
    }
    uint64_t shared = (uint64_t)k->entry->shared_bytes + r->dynamic_shared;
    if (threads > 1024 || shared > SHARED_LIMIT)
        return ww_fail(error, WW_USAGE, k->entry->name,
                       "%llu threads, %llu bytes of shared memory: expected at most 1024 and %u",
                       (unsigned long long)threads, (unsigned long long)shared, SHARED_LIMIT);
    uint64_t local = ((uint64_t)k->entry->local_bytes + 15) / 16 * 16;
    if (local > SX_LOCAL_LIMIT)
        return ww_fail(error, WW_UNSUPPORTED, k->entry->name, "%llu bytes of local memory: expected at most %u",
                       (unsigned long long)local, SX_LOCAL_LIMIT);
    r->local_base = k->calls ? SX_STACK_EXTRA : 0;
    r->local_top = r->local_base + (uint32_t)local;
    if (r->pick) WW_TRY(ww_cta_pick_check(r->pick, ctas, k->entry->name, error));
    r->cta_count = r->pick ? r->pick->count : ctas;
    r->block_threads = (uint32_t)threads;
    r->warps_per_cta = ((uint32_t)threads + SX_LANES - 1) / SX_LANES;
    r->shared_bytes = (uint32_t)shared;
    r->shared_mask = r->cluster[0] ? SX_OFFSET_MASK : UINT32_MAX;
    if (!r->limit) r->limit = SX_DEFAULT_LIMIT;
    return WW_OK;
}

enum ww_code ww_sx_run_grid(struct sx_run *r, struct ww_error *error) {
    WW_TRY(prepare(r, error));
    enum ww_code code = ww_sx_constants_new(r, error);
    if (code == WW_OK) code = run_window(r, error);
    ww_sx_constants_free(r);
    return code;
}
