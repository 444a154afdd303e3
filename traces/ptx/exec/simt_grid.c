/* simt_grid.c: CTAs of a launch, and their turns. */
#include "simt.h"
#include "window.h"
#include <stdlib.h>

static void cta_free(void *cta) {
    struct ex_cta *c = cta;
    for (uint32_t n = 0; c->warp && n < c->warp_count; n++) ww_simt_warp_free(&c->warp[n]);
    c->run->state_bytes -= c->state_bytes;
    free(c->warp);
    free(c->shared);
    free(c);
}

static void *cta_new(void *run, uint64_t index) {
    struct ex_run *r = run;
    struct ex_cta *c = calloc(1, sizeof *c);
    if (!c) return NULL;
    c->run = r;
    c->index = index;
    ww_cta_place(r->pick, index, r->grid, c->ctaid);
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

/* One turn of each warp. True if some lane did more than wait. */
static bool run_cta(void *cta) {
    struct ex_cta *c = cta;
    struct ex_run *r = c->run;
    bool progress = false, ran = false;
    for (uint32_t n = 0; n < c->warp_count && !r->failed; n++) {
        bool spinning;
        if (c->warp[n].live == 0) continue;
        uint32_t used = ww_simt_run_warp(&c->warp[n], WW_TURN, &spinning);
        ran = ran || used;
        progress = progress || (used && !spinning);
    }
    if (!ran && c->live_warps && !r->failed) ww_simt_barrier_stuck(c);
    return progress;
}

static bool is_done(const void *cta) {
    return ((const struct ex_cta *)cta)->live_warps == 0;
}

static enum ww_code record_cta(void *cta, struct ww_error *error) {
    struct ex_cta *c = cta;
    return c->run->recorder ? ww_record_cta(c->run->recorder, c, error) : WW_OK;
}

static void fail_cta(void *cta, const char *text) {
    ww_ex_fail(&((struct ex_cta *)cta)->warp[0], EX_LANES, WW_EXEC, "%s", text);
}

enum ww_code ww_ex_run_grid(struct ex_run *r, struct ww_error *error) {
    static const struct ww_cta_ops ops = {cta_new, cta_free, run_cta, is_done, record_cta, fail_cta};
    const struct ww_window_run w = {.ops = &ops,
                                    .run = r,
                                    .kernel = r->kernel->entry->src->name,
                                    .launch = r->grid_id,
                                    .cta_count = r->cta_count,
                                    .state_bytes = &r->state_bytes,
                                    .stream_bytes = &r->stream_bytes,
                                    .failed = &r->failed,
                                    .code = &r->code,
                                    .progress = r->progress,
                                    .progress_context = r->progress_context};
    r->error = error;
    return ww_window_run(&w, error);
}
