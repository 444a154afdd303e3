/* Suite "curves": latency over the working set, bandwidth of L1 and L2 over the size, and of streams over the
 * occupancy, against what RRZE-HPC/gpu-benches measured of a V100 and an A100 with 80 GB, point by point
 * (estimator/study/dissect/curves.h has the benchmarks).
 *
 * Plateaus and knees of the published latencies are found in their points as those of ours are. Points on a
 * plateau count; of those between two the knee does. */
#include "../../../api/dissect.h"
#include "../../../api/validate.h"
#include "../../../base/locale.h"
#include "../../dissect/curves.h"
#include "../rows/validate.h"
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PLATEAU_TOLERANCE 0.10
#define KNEE_TOLERANCE 0.15 /* of the size */
#define STREAM_TOLERANCE 0.10
#define CACHE_TOLERANCE 0.15
#define SAME 0.07 /* part by which neighbours on a plateau of the published points may differ */

enum { MOST = 512, THREADS = 16 };
enum kind { LATENCY, CACHE, L2, EARLY_L2, READ, TRIAD, EARLY_READ, EARLY_TRIAD, KINDS };
static const char *const prefix[KINDS] = {"lat-",  "cache-", "l2-",    "l2add-",
                                          "read-", "triad-", "read1-", "triad2-"};

struct job {
    const struct ww_target *target;
    enum kind kind;
    char gpu[16];
    double kb;               /* of sizes */
    uint32_t ctas, cta_size; /* of streams */
    double ours;
};

struct suite {
    struct ww_validation *v;
    const struct ww_validate_options *options;
    struct job job[MOST];
    size_t jobs, next, done;
    pthread_mutex_t lock;
    enum ww_code code;
    struct ww_error error;
};

/* "lat-v100-512", "read-a100_80-2x64": the rest of the id is where on the curve the point lies. */
static bool read_id(const struct ww_target *t, struct job *job) {
    for (int k = 0; k < KINDS; k++) {
        size_t n = strlen(prefix[k]), g = strlen(t->machine);
        if (strncmp(t->id, prefix[k], n) != 0 || strncmp(t->id + n, t->machine, g) != 0) continue;
        if (t->id[n + g] != '-' || g >= sizeof job->gpu) continue;
        const char *at = t->id + n + g + 1;
        *job = (struct job){.target = t, .kind = (enum kind)k, .ours = NAN};
        memcpy(job->gpu, t->machine, g + 1);
        if (k >= READ) return sscanf(at, "%ux%u", &job->ctas, &job->cta_size) == 2;
        return sscanf(at, "%lf", &job->kb) == 1 && job->kb > 0;
    }
    return false;
}

/* By kind, from READ on. */
static const struct ww_curve_arrays *const arrays[] = {&ww_curve_read, &ww_curve_triad, &ww_curve_early_read,
                                                       &ww_curve_early_triad};

static enum ww_code measure(struct ww_meter *m, struct job *job, struct ww_error *error) {
    uint64_t bytes = (uint64_t)(job->kb * 1024);
    switch (job->kind) {
    case LATENCY:
        return ww_curve_latency(m, bytes, &job->ours, error);
    case CACHE:
        return ww_curve_cache(m, bytes, &job->ours, error);
    case L2:
        return ww_curve_l2(m, bytes, WW_CURVE_PAIRS, &job->ours, error);
    case EARLY_L2:
        return ww_curve_l2(m, bytes, WW_CURVE_SINGLE, &job->ours, error);
    case READ:
    case TRIAD:
    case EARLY_READ:
    case EARLY_TRIAD:
    case KINDS:
        break;
    }
    return ww_curve_stream(m, job->ctas, job->cta_size, arrays[job->kind - READ], &job->ours, error);
}

/* Asked in the middle of a measurement, by any thread. Where another job failed none goes on. */
static bool goes_on(void *context, double part, uint64_t done, const char *unit) {
    struct suite *s = context;
    struct ww_error ignored;
    (void)part, (void)done, (void)unit;
    pthread_mutex_lock(&s->lock);
    bool on = s->code == WW_OK && ww_validate_step(s->options, s->done, s->jobs, &ignored) == WW_OK;
    pthread_mutex_unlock(&s->lock);
    return on;
}

static enum ww_code measure_on(struct suite *s, struct job *job, struct ww_error *error) {
    const struct ww_dissect_options o = {.gpu = job->gpu, .progress = goes_on, .context = s};
    struct ww_dissect out = {0};
    struct ww_meter m;
    ww_arena_init(&out.arena, 0);
    enum ww_code code = ww_meter_open(&m, &o, &out, NULL, error);
    if (code == WW_OK) code = measure(&m, job, error);
    ww_meter_close(&m);
    ww_arena_free(&out.arena);
    return code;
}

/* Takes jobs until there is none; the largest stand last in each curve and are taken first. */
static void *work(void *context) {
    WW_PLAIN_LOCALE;
    struct suite *s = context;
    for (;;) {
        struct ww_error error;
        pthread_mutex_lock(&s->lock);
        struct job *job = s->code == WW_OK && s->next < s->jobs ? &s->job[s->jobs - 1 - s->next++] : NULL;
        pthread_mutex_unlock(&s->lock);
        if (!job) return NULL;
        enum ww_code code = measure_on(s, job, &error);
        pthread_mutex_lock(&s->lock);
        s->done++;
        if (code == WW_OK) code = ww_validate_step(s->options, s->done, s->jobs, &error);
        if (code != WW_OK && s->code == WW_OK) {
            s->code = code;
            s->error = error;
        }
        pthread_mutex_unlock(&s->lock);
    }
}

static enum ww_code measure_all(struct suite *s, struct ww_error *error) {
    pthread_t thread[THREADS];
    unsigned jobs = s->options && s->options->jobs ? s->options->jobs : 1, started = 0;
    pthread_mutex_init(&s->lock, NULL);
    while (started + 1 < jobs && started < THREADS && pthread_create(&thread[started], NULL, work, s) == 0)
        started++;
    work(s);
    for (unsigned i = 0; i < started; i++) pthread_join(thread[i], NULL);
    pthread_mutex_destroy(&s->lock);
    if (s->code != WW_OK && error) *error = s->error;
    return s->code;
}

/* ---- rows ---- */

static enum ww_code add(struct suite *s, const struct job *job, double tolerance, const char *uncounted,
                        struct ww_error *error) {
    const struct ww_target *t = job->target;
    const char *what = ww_arena_printf(&s->v->arena, "%s, %s", t->machine, t->workload);
    if (!what) return ww_fail_nomem(error, s->v->suite);
    struct ww_validate_row row = {.id = t->id,
                                  .what = what,
                                  .ours = job->ours,
                                  .paper = t->value,
                                  .unit = t->unit,
                                  .test = WW_VALIDATE_RELATIVE,
                                  .tolerance = tolerance,
                                  .uncounted = uncounted != NULL,
                                  .why = uncounted};
    return ww_validate_add(s->v, &row, error);
}

static enum ww_code add_knee(struct suite *s, const char *gpu, size_t k, double ours, double published,
                             struct ww_error *error) {
    char id[48], what[96];
    snprintf(id, sizeof id, "knee-%s-%zu", gpu, k);
    snprintf(what, sizeof what, "%s, random chase: half of the way to plateau %zu", gpu, k + 1);
    struct ww_validate_row row = {.id = id,
                                  .what = what,
                                  .ours = ours / 1024,
                                  .paper = published / 1024,
                                  .unit = "KB",
                                  .test = WW_VALIDATE_RELATIVE,
                                  .tolerance = KNEE_TOLERANCE,
                                  .why = isnan(ours) ? "no such plateau" : ""};
    return ww_validate_add(s->v, &row, error);
}

/* The points of a GPU's latencies from `from` on: plateaus, and the knees between them. */
static enum ww_code latencies(struct suite *s, size_t from, size_t count, struct ww_error *error) {
    struct ww_dissect_xy ours[MOST] = {0}, published[MOST];
    struct ww_dissect_plateau own[WW_DISSECT_PLATEAUS], their[WW_DISSECT_PLATEAUS];
    const struct job *job = &s->job[from];
    for (size_t i = 0; i < count; i++) {
        ours[i] = (struct ww_dissect_xy){(uint64_t)(job[i].kb * 1024), job[i].ours};
        published[i] = (struct ww_dissect_xy){ours[i].bytes, job[i].target->value};
    }
    size_t n = ww_plateaus(ours, count, SAME, own), plateaus = ww_plateaus(published, count, SAME, their);
    for (size_t i = 0; i < count; i++) {
        bool on = false;
        for (size_t k = 0; k < plateaus; k++)
            on |= published[i].bytes >= their[k].from && published[i].bytes <= their[k].to;
        WW_TRY(add(s, &job[i], PLATEAU_TOLERANCE, on ? NULL : "between plateaus: the knee counts", error));
    }
    for (size_t k = 1; k < plateaus; k++)
        WW_TRY(add_knee(s, job->gpu, k, k < n ? own[k].knee : NAN, their[k].knee, error));
    return WW_OK;
}

static enum ww_code compare(struct suite *s, struct ww_error *error) {
    static const double tolerance[KINDS] = {PLATEAU_TOLERANCE, CACHE_TOLERANCE,  CACHE_TOLERANCE,
                                            CACHE_TOLERANCE,   STREAM_TOLERANCE, STREAM_TOLERANCE,
                                            STREAM_TOLERANCE,  STREAM_TOLERANCE};
    for (size_t i = 0, n; i < s->jobs; i += n) {
        const struct job *job = &s->job[i];
        for (n = 1; i + n < s->jobs && job[n].kind == job->kind && strcmp(job[n].gpu, job->gpu) == 0;) n++;
        if (job->kind == LATENCY) WW_TRY(latencies(s, i, n, error));
        for (size_t k = 0; k < n && job->kind != LATENCY; k++)
            WW_TRY(add(s, &job[k], tolerance[job->kind], NULL, error));
    }
    return WW_OK;
}

enum ww_code ww_validate_suite_curves(struct ww_validation *v, const struct ww_validate_options *options,
                                      struct ww_error *error) {
    struct suite *s = calloc(1, sizeof *s);
    if (!s) return ww_fail_nomem(error, "the suite");
    s->v = v;
    s->options = options;
    for (size_t i = 0; i < v->target_count && s->jobs < MOST; i++)
        if (read_id(&v->target[i], &s->job[s->jobs])) s->jobs++;
    enum ww_code code = measure_all(s, error);
    if (code == WW_OK) code = compare(s, error);
    free(s);
    return code;
}
