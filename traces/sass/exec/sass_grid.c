/* exec_grid.c: the window of resident CTAs.
 *
 * CTAs take turns, so that one may wait for another. New ones begin in order when others finish, as long as the
 * window's state stays small, or when all residents only wait. While the recorded streams of the window take
 * more memory than allowed only the oldest CTA runs, unless it waits. */
#include "grid.h"
#include <inttypes.h>
#include <stdlib.h>

#define WINDOW_CTAS 256u
#define WINDOW_BYTES ((uint64_t)64 << 20)
#define WINDOW_HARD ((uint64_t)2 << 30)
#define STREAM_BYTES ((uint64_t)512 << 20)
#define TURN 256u         /* warp instructions of a warp's turn */
#define IDLE_ROUNDS 4096u /* rounds in which every thread only spins */
#define REPORT_TURNS 16u  /* turns of CTAs between two reports of progress, which hear an interruption */
#define SHARED_LIMIT (229u << 10)

struct window {
    struct sx_run *run;
    struct sx_cta **cta;
    size_t count, capacity;
    uint32_t turns; /* of CTAs */
};

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

static struct sx_cta *cta_new(struct sx_run *r, uint64_t index) {
    struct sx_cta *c = cta_memory(r);
    if (!c) return NULL;
    c->run = r;
    c->index = index;
    ww_cta_place(r->pick, index, r->grid, c->ctaid);
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

static bool add_cta(struct window *v) {
    struct sx_run *r = v->run;
    if (v->count == v->capacity) {
        size_t capacity = v->capacity ? 2 * v->capacity : 64;
        struct sx_cta **p = realloc(v->cta, capacity * sizeof *p);
        if (!p) return false;
        v->cta = p;
        v->capacity = capacity;
    }
    struct sx_cta *c = cta_new(r, r->started);
    if (!c) return false;
    v->cta[v->count++] = c;
    r->started++;
    return true;
}

static enum ww_code fill(struct window *v, bool waiting) {
    struct sx_run *r = v->run;
    while (r->started < r->cta_count) {
        bool room = v->count < WINDOW_CTAS && r->state_bytes < WINDOW_BYTES && r->stream_bytes < STREAM_BYTES;
        bool must = v->count == 0 || waiting;
        if (!room && !must) return WW_OK;
        if (r->state_bytes > WINDOW_HARD)
            return ww_fail(r->error, WW_EXEC, r->kernel->entry->name,
                           "%zu CTAs wait for others that do not fit in memory with them", v->count);
        if (!add_cta(v)) return ww_fail_nomem(r->error, "a CTA's state");
        if (!room) waiting = false;
    }
    return WW_OK;
}

/* One turn of each warp. True if some lane did more than wait. */
static bool run_cta(struct sx_cta *c) {
    struct sx_run *r = c->run;
    bool progress = false, ran = false;
    for (uint32_t n = 0; n < c->warp_count && !r->failed; n++) {
        bool spinning;
        if (c->warp[n].live == 0) continue;
        uint32_t used = ww_sx_run_warp(&c->warp[n], TURN, &spinning);
        ran = ran || used;
        progress = progress || (used && !spinning);
    }
    if (!ran && c->live_warps && !r->failed) ww_sx_barrier_stuck(c);
    return progress;
}

/* Says how far the launch is. */
static enum ww_code report(struct sx_run *r) {
    if (!r->progress) return WW_OK;
    double part = (double)r->finished / (double)r->cta_count;
    char of[64];
    snprintf(of, sizeof of, "of %" PRIu64 " CTAs of launch %" PRIu64, r->cta_count, r->grid_id);
    if (r->progress(r->progress_context, part, r->finished, of)) return WW_OK;
    return ww_fail(r->error, WW_FAIL, r->kernel->entry->name, "stopped");
}

static enum ww_code finish_cta(struct window *v, size_t at) {
    struct sx_run *r = v->run;
    struct sx_cta *c = v->cta[at];
    memmove(&v->cta[at], &v->cta[at + 1], (v->count - at - 1) * sizeof *v->cta);
    v->count--;
    enum ww_code code = r->recorder ? ww_sx_record_cta(c, r->error) : WW_OK;
    cta_free(c);
    r->finished++;
    return code == WW_OK ? report(r) : code;
}

/* One round over the window; *progress if any CTA got on. */
static enum ww_code round_robin(struct window *v, bool *progress) {
    struct sx_run *r = v->run;
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

static enum ww_code run_window(struct sx_run *r, struct ww_error *error) {
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
            ww_sx_fail(&v.cta[0]->warp[0], SX_LANES, WW_EXEC,
                       "no thread gets on: all %zu resident CTAs wait in loops for memory that nobody changes",
                       v.count);
            code = r->code;
        }
    }
    for (size_t n = 0; n < v.count; n++) cta_free(v.cta[n]);
    for (struct sx_cta *c = r->spare; c; c = r->spare) {
        r->spare = c->spare;
        cta_destroy(c);
    }
    free(v.cta);
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
