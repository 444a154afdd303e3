/* simt_grid.c: the window of resident CTAs.
 *
 * CTAs take turns, so that one may wait for another. New ones begin in order when others finish, as long as
 * the window's state stays small, or when all residents only wait. While the recorded streams of the
 * window take more memory than allowed only the oldest CTA runs, unless it waits. */
#include "simt.h"
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define WINDOW_CTAS 256u
#define WINDOW_BYTES ((uint64_t)64 << 20)
#define WINDOW_HARD ((uint64_t)2 << 30)
#define STREAM_BYTES ((uint64_t)512 << 20)
#define TURN 256u         /* warp instructions of a warp's turn */
#define IDLE_ROUNDS 4096u /* rounds in which every thread only spins */
#define REPORT_TURNS 16u  /* turns of CTAs between two reports of progress, which hear an interruption */

struct window {
    struct ex_run *run;
    struct ex_cta **cta;
    size_t count, capacity;
    uint32_t turns; /* of CTAs */
};

static void cta_free(struct ex_cta *c) {
    for (uint32_t n = 0; c->warp && n < c->warp_count; n++) ww_simt_warp_free(&c->warp[n]);
    c->run->state_bytes -= c->state_bytes;
    free(c->warp);
    free(c->shared);
    free(c);
}

static struct ex_cta *cta_new(struct ex_run *r, uint64_t index) {
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

static bool add_cta(struct window *v) {
    struct ex_run *r = v->run;
    if (v->count == v->capacity) {
        size_t capacity = v->capacity ? 2 * v->capacity : 64;
        struct ex_cta **p = realloc(v->cta, capacity * sizeof *p);
        if (!p) return false;
        v->cta = p;
        v->capacity = capacity;
    }
    struct ex_cta *c = cta_new(r, r->started);
    if (!c) return false;
    v->cta[v->count++] = c;
    r->started++;
    return true;
}

static enum ww_code fill(struct window *v, bool waiting) {
    struct ex_run *r = v->run;
    while (r->started < r->cta_count) {
        bool room = v->count < WINDOW_CTAS && r->state_bytes < WINDOW_BYTES && r->stream_bytes < STREAM_BYTES;
        bool must = v->count == 0 || waiting;
        if (!room && !must) return WW_OK;
        if (r->state_bytes > WINDOW_HARD)
            return ww_fail(r->error, WW_EXEC, r->kernel->entry->src->name,
                           "%zu CTAs wait for others that do not fit in memory with them", v->count);
        if (!add_cta(v)) return ww_fail_nomem(r->error, "a CTA's state");
        if (!room) waiting = false;
    }
    return WW_OK;
}

/* One turn of each warp. True if some lane did more than wait. */
static bool run_cta(struct ex_cta *c) {
    struct ex_run *r = c->run;
    bool progress = false, ran = false;
    for (uint32_t n = 0; n < c->warp_count && !r->failed; n++) {
        bool spinning;
        if (c->warp[n].live == 0) continue;
        uint32_t used = ww_simt_run_warp(&c->warp[n], TURN, &spinning);
        ran = ran || used;
        progress = progress || (used && !spinning);
    }
    if (!ran && c->live_warps && !r->failed) ww_simt_barrier_stuck(c);
    return progress;
}

/* Says how far the launch is. */
static enum ww_code report(struct ex_run *r) {
    if (!r->progress) return WW_OK;
    double part = (double)r->finished / (double)r->cta_count;
    char of[64];
    snprintf(of, sizeof of, "of %" PRIu64 " CTAs of launch %" PRIu64, r->cta_count, r->grid_id);
    if (r->progress(r->progress_context, part, r->finished, of)) return WW_OK;
    return ww_fail(r->error, WW_FAIL, r->kernel->entry->src->name, "stopped");
}

static enum ww_code finish_cta(struct window *v, size_t at) {
    struct ex_run *r = v->run;
    struct ex_cta *c = v->cta[at];
    memmove(&v->cta[at], &v->cta[at + 1], (v->count - at - 1) * sizeof *v->cta);
    v->count--;
    enum ww_code code = r->recorder ? ww_record_cta(r->recorder, c, r->error) : WW_OK;
    cta_free(c);
    r->finished++;
    return code == WW_OK ? report(r) : code;
}

/* One round over the window; *progress if any CTA got on. */
static enum ww_code round_robin(struct window *v, bool *progress) {
    struct ex_run *r = v->run;
    for (size_t n = 0; n < v->count;) {
        bool got_on = run_cta(v->cta[n]);
        *progress = *progress || got_on;
        if (r->failed) return r->code;
        if (++v->turns % REPORT_TURNS == 0) WW_TRY(report(r)); /* CTAs may take long to end, or for ever */
        if (v->cta[n]->live_warps == 0) {
            *progress = true;
            WW_TRY(finish_cta(v, n));
            continue;
        }
        bool oldest_only = r->stream_bytes > STREAM_BYTES && got_on;
        if (oldest_only) return WW_OK; /* begins again with the oldest */
        n++;
    }
    return WW_OK;
}

enum ww_code ww_ex_run_grid(struct ex_run *r, struct ww_error *error) {
    struct window v = {.run = r};
    enum ww_code code = WW_OK;
    uint32_t idle = 0;
    r->error = error;
    while (code == WW_OK && r->finished < r->cta_count) {
        bool progress = false;
        code = fill(&v, idle > 2);
        if (code == WW_OK) code = round_robin(&v, &progress);
        idle = progress ? 0 : idle + 1;
        if (code == WW_OK && idle > IDLE_ROUNDS && r->started == r->cta_count) {
            ww_ex_fail(&v.cta[0]->warp[0], EX_LANES, WW_EXEC,
                       "no thread gets on: all %zu resident CTAs wait in loops for memory that nobody changes",
                       v.count);
            code = r->code;
        }
    }
    for (size_t n = 0; n < v.count; n++) cta_free(v.cta[n]);
    free(v.cta);
    return code;
}
