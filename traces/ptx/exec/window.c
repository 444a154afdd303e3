/* window.c: the window of resident CTAs. */
#include "window.h"
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define WINDOW_CTAS 256u
#define WINDOW_BYTES ((uint64_t)64 << 20)
/* Of a grid that fits into the window: a GPU has all its CTAs resident, which may share work by a counter. */
#define WINDOW_WHOLE ((uint64_t)256 << 20)
#define WINDOW_HARD ((uint64_t)2 << 30)
#define IDLE_ROUNDS 4096u /* rounds in which every thread only spins */
#define REPORT_TURNS                                                                                           \
    16u /* turns of CTAs between two reports of progress, which also check for an interruption */

struct window {
    const struct ww_window_run *run;
    struct ww_error *error;
    void **cta;
    size_t count, capacity;
    uint64_t started, finished;
    uint32_t turns; /* of CTAs */
};

static bool add_cta(struct window *v) {
    if (v->count == v->capacity) {
        size_t capacity = v->capacity ? 2 * v->capacity : 64;
        void **p = realloc(v->cta, capacity * sizeof *p);
        if (!p) return false;
        v->cta = p;
        v->capacity = capacity;
    }
    void *c = v->run->ops->begin(v->run->run, v->started);
    if (!c) return false;
    v->cta[v->count++] = c;
    v->started++;
    return true;
}

static bool has_stream_room(const struct ww_window_run *r) {
    return *r->stream_bytes <= r->stream_limit / 3 * 2;
}

static enum ww_code fill(struct window *v, bool waiting) {
    const struct ww_window_run *r = v->run;
    uint64_t most = r->cta_count <= WINDOW_CTAS ? WINDOW_WHOLE : WINDOW_BYTES;
    while (v->started < r->cta_count) {
        bool room = v->count < WINDOW_CTAS && *r->state_bytes < most && has_stream_room(r);
        bool must = v->count == 0 || waiting || r->together;
        if (!room && !must) return WW_OK;
        if (*r->state_bytes > WINDOW_HARD)
            return ww_fail(v->error, WW_EXEC, r->kernel,
                           "%zu CTAs wait for others that do not fit in memory with them", v->count);
        if (!add_cta(v)) return ww_fail_nomem(v->error, "a CTA's state");
        if (!room) waiting = false;
    }
    return WW_OK;
}

/* Reports the launch's progress. */
static enum ww_code report(const struct window *v) {
    const struct ww_window_run *r = v->run;
    if (!r->progress) return WW_OK;
    double part = (double)v->finished / (double)r->cta_count;
    char of[64];
    snprintf(of, sizeof of, "of %" PRIu64 " CTAs of launch %" PRIu64, r->cta_count, r->launch);
    if (r->progress(r->progress_context, part, v->finished, of)) return WW_OK;
    return ww_fail(v->error, WW_FAIL, r->kernel, "stopped");
}

static enum ww_code finish_cta(struct window *v, size_t at) {
    void *c = v->cta[at];
    memmove(&v->cta[at], &v->cta[at + 1], (v->count - at - 1) * sizeof *v->cta);
    v->count--;
    enum ww_code code = v->run->ops->record(c, v->error);
    v->run->ops->end(c);
    v->finished++;
    return code == WW_OK ? report(v) : code;
}

/* One round over the window; *progress if any CTA got on. */
static enum ww_code round_robin(struct window *v, bool *progress) {
    const struct ww_window_run *r = v->run;
    for (size_t n = 0; n < v->count;) {
        bool got_on = r->ops->turn(v->cta[n]);
        *progress = *progress || got_on;
        if (*r->failed) return *r->code;
        if (++v->turns % REPORT_TURNS == 0) WW_TRY(report(v)); /* CTAs may run for long, or never end */
        if (r->ops->is_done(v->cta[n])) {
            *progress = true;
            WW_TRY(finish_cta(v, n));
            continue;
        }
        bool oldest_only = !has_stream_room(r) && got_on;
        if (oldest_only) return WW_OK; /* begins again with the oldest */
        n++;
    }
    return WW_OK;
}

static enum ww_code fail_stuck(const struct window *v) {
    char text[160];
    snprintf(text, sizeof text,
             "no thread makes progress: all %zu resident CTAs wait in loops for memory that no thread changes",
             v->count);
    v->run->ops->stuck(v->cta[0], text);
    return *v->run->code;
}

enum ww_code ww_window_run(const struct ww_window_run *r, struct ww_error *error) {
    struct window v = {.run = r, .error = error};
    enum ww_code code = WW_OK;
    uint32_t idle = 0;
    while (code == WW_OK && v.finished < r->cta_count) {
        bool progress = false;
        code = fill(&v, idle > 2);
        if (code == WW_OK) code = round_robin(&v, &progress);
        idle = progress ? 0 : idle + 1;
        if (code == WW_OK && idle > IDLE_ROUNDS && v.started == r->cta_count) code = fail_stuck(&v);
    }
    for (size_t n = 0; n < v.count; n++) r->ops->end(v.cta[n]);
    free(v.cta);
    return code;
}
