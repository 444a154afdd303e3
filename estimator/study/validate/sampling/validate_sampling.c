/* How often the intervals of sampled runs hold the full replay, over workloads, GPUs and seeds. The goals are
 * the project's own (docs/model/sampling.md): no publication states them. */
#include "../../../api/validate.h"
#include "../../../base/locale.h"
#include "sampling_int.h"
#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

static const struct sampling_workload workloads[] = {
    {"srad", "srad, 120 launches", {"size=small", "iterations=60"}, SAMPLING_SHORT},
    {"cfd", "cfd, 140 launches", {"size=small", "iterations=20"}, SAMPLING_SHORT},
    {"kmeans", "kmeans, 80 launches", {"n=2000", "iterations=40"}, SAMPLING_SHORT},
    {"lbm", "lbm, 40 launches", {"size=small", "iterations=40"}, SAMPLING_SHORT},
    {"streamcluster", "streamcluster, 60 launches", {"size=small", "candidates=60"}, SAMPLING_SHORT},
    {"bfs", "bfs, a launch per level", {"nodes=8000", "graph=skewed"}, SAMPLING_SHORT},
    {"pathfinder", "pathfinder, 11 small launches", {"size=small", "pyramid=1"}, SAMPLING_SHORT},
    {"saxpy", "saxpy, one launch of many waves", {"n=6000000", "block=64", "per_thread=1"}, SAMPLING_SHORT},
    {"vectoradd", "vectoradd, one launch of many waves", {"n=6000000", "block=128"}, SAMPLING_SHORT},
    {"reduction", "reduction, many waves", {"n=3000000", "block=64", "per_thread=1"}, SAMPLING_SHORT},
    {"transpose", "transpose, many waves", {"rows=2400", "cols=2400"}, SAMPLING_SHORT},
    {"sgemm", "sgemm, tiles", {"m=480", "n=480", "k=16"}, SAMPLING_SHORT},
    {"stencil", "stencil, 1000 launches", {"nx=16", "ny=16", "nz=4", "iterations=1000"}, SAMPLING_LAUNCHES},
    {"cfd", "cfd, 1400 launches", {"size=small", "iterations=200"}, SAMPLING_LAUNCHES},
    {"lbm", "lbm, 1000 launches", {"size=small", "iterations=1000"}, SAMPLING_LAUNCHES},
    {"saxpy", "saxpy, one launch of 6,250 waves", {"n=48000000", "block=64", "per_thread=1"}, SAMPLING_LAUNCH},
    {"vectoradd", "vectoradd, one launch of 6,250 waves", {"n=48000000", "block=64"}, SAMPLING_LAUNCH},
};
static const struct sampling_workload small_workloads[] = {
    {"stencil", "stencil, 40 launches", {"size=small", "iterations=40"}, SAMPLING_SHORT},
    {"srad", "srad, 60 launches", {"size=small", "iterations=30"}, SAMPLING_SHORT},
};
static const char *const gpus[] = {"gtx480", "gtx780", "gtx980", "v100"};
enum { WORKLOADS = sizeof workloads / sizeof *workloads, GPUS = sizeof gpus / sizeof *gpus };
enum { SMALL = sizeof small_workloads / sizeof *small_workloads };
enum { SEEDS = 100, SEEDS_OTHER = 40, SEEDS_LONG = 20 };
#define DESIGN "sched=lrr"   /* that is compared with each GPU's own */
#define LONG_PART (1.0 / 20) /* of a long workload's instructions that may be replayed */

/* ---- measuring ------------------------------------------------------------------------------- */

struct pool {
    struct sampling_pair *pair;
    size_t count, next, done;
    const struct ww_validate_options *options;
    pthread_mutex_t lock;
    enum ww_code code;
    struct ww_error error;
};

/* Asked in the middle of a recording or a replay, by any thread. Where another pair failed none goes on. */
static bool goes_on(void *context, double part, uint64_t done, const char *unit) {
    struct pool *p = context;
    (void)part, (void)done, (void)unit;
    pthread_mutex_lock(&p->lock);
    bool on = p->code == WW_OK && ww_validate_step(p->options, p->done, p->count, NULL) == WW_OK;
    pthread_mutex_unlock(&p->lock);
    return on;
}

static void *work(void *context) {
    WW_PLAIN_LOCALE;
    struct pool *p = context;
    for (;;) {
        pthread_mutex_lock(&p->lock);
        size_t i = p->code == WW_OK ? p->next++ : p->count;
        pthread_mutex_unlock(&p->lock);
        if (i >= p->count) return NULL;
        struct ww_error error = {.code = WW_OK};
        enum ww_code code = ww_sampling_measure(&p->pair[i], goes_on, p, &error);
        pthread_mutex_lock(&p->lock);
        p->done++;
        if (code == WW_OK) code = ww_validate_step(p->options, p->done, p->count, &error);
        if (code != WW_OK && p->code == WW_OK) {
            p->code = code;
            p->error = error;
        }
        pthread_mutex_unlock(&p->lock);
    }
}

static enum ww_code measure_all(struct pool *p, struct ww_error *error) {
    enum { THREADS = 64 };
    pthread_t thread[THREADS];
    unsigned started = 0;
    if (pthread_mutex_init(&p->lock, NULL)) return ww_fail_nomem(error, "a lock");
    while (started + 1 < p->options->jobs && started < THREADS &&
           pthread_create(&thread[started], NULL, work, p) == 0)
        started++;
    work(p);
    for (unsigned i = 0; i < started; i++) pthread_join(thread[i], NULL);
    pthread_mutex_destroy(&p->lock);
    if (p->code != WW_OK && error) *error = p->error;
    return p->code;
}

/* Long workloads take long: of many launches on the first GPU and the last, of one launch on the first. */
static bool is_measured(const struct sampling_workload *w, size_t gpu) {
    return w->of == SAMPLING_SHORT || gpu == 0 || (w->of == SAMPLING_LAUNCHES && gpu == GPUS - 1);
}

static size_t seeds_of(const struct sampling_workload *w, size_t gpu, bool small) {
    if (small || w->of != SAMPLING_SHORT) return SEEDS_LONG;
    return gpu == 0 ? SEEDS : SEEDS_OTHER;
}

static enum ww_code plan(struct ww_arena *arena, bool small, struct pool *p, struct ww_error *error) {
    size_t n = small ? SMALL : WORKLOADS;
    const struct sampling_workload *list = small ? small_workloads : workloads;
    p->pair = ww_arena_array(arena, n * GPUS, sizeof *p->pair);
    if (!p->pair) return ww_fail_nomem(error, "measurements");
    for (const struct sampling_workload *w = list; w < list + n; w++)
        for (size_t g = 0; g < GPUS; g += small ? GPUS - 1 : 1)
            if (is_measured(w, g))
                p->pair[p->count++] =
                    (struct sampling_pair){.workload = w,
                                           .gpu = gpus[g],
                                           .other = g == 0 && w->of == SAMPLING_SHORT ? DESIGN : NULL,
                                           .seeds = seeds_of(w, g, small)};
    return WW_OK;
}

/* ---- what they say --------------------------------------------------------------------------- */

/* Draws of all pairs that were sampled, or of one. */
struct pooled {
    size_t draws, covered[2], all, pairs_full, compared, compare_covered;
    size_t varying[2], varying_covered[2]; /* whose interval is mainly sampling's */
    double bias, pairs;                    /* sum of squares of the mean errors; pairs that were sampled */
    double *error[2], *half[2], *share, *pair_half, *pair_error;
};

static int by_value(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double quantile(double *x, size_t n, double q) {
    if (!n) return NAN;
    qsort(x, n, sizeof *x, by_value);
    return x[(size_t)(q * (double)(n - 1) + 0.5)];
}

static size_t sampled(const struct sampling_pair *p, int k, size_t *covered) {
    size_t n = 0;
    *covered = 0;
    for (size_t i = 0; i < p->seeds; i++) {
        if (p->draw[i].all) continue;
        n++;
        *covered += p->draw[i].covers[k];
    }
    return n;
}

static double mean_error(const struct sampling_pair *p, int k) {
    double sum = 0;
    size_t n = 0;
    for (size_t i = 0; i < p->seeds; i++) {
        if (p->draw[i].all) continue;
        sum += p->draw[i].error[k];
        n++;
    }
    return n ? sum / (double)n : 0;
}

static void add_draw(struct pooled *sum, const struct sampling_draw *d) {
    for (int k = 0; k < 2; k++) {
        sum->covered[k] += d->covers[k];
        sum->varying[k] += d->varies[k];
        sum->varying_covered[k] += d->varies[k] && d->covers[k];
        sum->error[k][sum->draws] = fabs(d->error[k]);
        sum->half[k][sum->draws] = d->half[k];
    }
    sum->share[sum->draws++] = d->share;
    if (!d->paired) return;
    sum->pair_half[sum->compared] = d->pair_half;
    sum->pair_error[sum->compared++] = d->pair_error;
    sum->compare_covered += d->pair_covers;
}

static void add_pair(struct pooled *sum, const struct sampling_pair *p) {
    size_t covered, n = sampled(p, 0, &covered);
    double bias = mean_error(p, 0);
    sum->all += p->seeds - n;
    sum->pairs_full += n == 0;
    sum->pairs += n > 0;
    sum->bias += bias * bias;
    for (size_t i = 0; i < p->seeds; i++)
        if (!p->draw[i].all) add_draw(sum, &p->draw[i]);
}

/* Standard error of the pooled coverage when draws of one workload go together (linearised ratio). */
static double clustered_error(const struct pool *p, int k, double coverage, size_t draws) {
    double sum = 0, clusters = 0;
    for (size_t i = 0; i < p->count;) {
        double deviation = 0;
        size_t first = i;
        for (; i < p->count && p->pair[i].workload == p->pair[first].workload; i++) {
            size_t covered, n = sampled(&p->pair[i], k, &covered);
            deviation += (double)covered - coverage * (double)n;
        }
        sum += deviation * deviation;
        clusters++;
    }
    return clusters > 1 && draws ? sqrt(sum * clusters / (clusters - 1)) / (double)draws : NAN;
}

static enum ww_code pool_all(const struct pool *p, struct ww_arena *arena, struct pooled *out,
                             struct ww_error *error) {
    size_t most = 1;
    for (size_t i = 0; i < p->count; i++) most += p->pair[i].seeds;
    double **list[] = {&out->error[0], &out->error[1],  &out->half[0],   &out->half[1],
                       &out->share,    &out->pair_half, &out->pair_error};
    for (size_t i = 0; i < sizeof list / sizeof *list; i++) {
        *list[i] = ww_arena_array(arena, most, sizeof **list[i]);
        if (!*list[i]) return ww_fail_nomem(error, "measurements");
    }
    for (size_t i = 0; i < p->count; i++) add_pair(out, &p->pair[i]);
    return WW_OK;
}

static enum ww_code add(struct ww_validation *v, const char *id, const char *what, double ours, double goal,
                        enum ww_validate_test test, double tolerance, const char *unit,
                        struct ww_error *error) {
    struct ww_validate_row row = {.id = id,
                                  .what = what,
                                  .ours = ours,
                                  .paper = goal,
                                  .unit = unit,
                                  .test = test,
                                  .tolerance = tolerance,
                                  .uncounted = isnan(ours)};
    return ww_validate_add(v, &row, error);
}

enum { ENOUGH = 200 }; /* draws from which on a coverage's standard error, 1.5 points, is below its tolerance */

/* A pooled coverage, which is not counted if few draws make it. */
static enum ww_code add_pooled_coverage(struct ww_validation *v, const char *id, const char *what,
                                        size_t covered, size_t draws, struct ww_error *error) {
    bool few = draws < ENOUGH;
    struct ww_validate_row row = {
        .id = id,
        .what = few ? ww_arena_printf(&v->arena, "%s (of %zu draws: too few to judge)", what, draws) : what,
        .ours = draws ? 100.0 * (double)covered / (double)draws : NAN,
        .paper = 95.5,
        .unit = "%",
        .test = WW_VALIDATE_ABSOLUTE,
        .tolerance = 2.5,
        .uncounted = few};
    return ww_validate_add(v, &row, error);
}

static enum ww_code add_coverage(struct ww_validation *v, const struct pool *p, const struct pooled *s, int k,
                                 struct ww_error *error) {
    const char *name = k ? "energy" : "cycles";
    struct ww_arena *a = &v->arena;
    double coverage = s->draws ? (double)s->covered[k] / (double)s->draws : NAN;
    const char *what = ww_arena_printf(a, "pooled coverage of the 95 %% interval of %s (standard error %.1f)",
                                       name, 100 * clustered_error(p, k, coverage, s->draws));
    WW_TRY(add_pooled_coverage(v, ww_arena_printf(a, "smp-%s-coverage", name), what, s->covered[k], s->draws,
                               error));
    WW_TRY(add_pooled_coverage(
        v, ww_arena_printf(a, "smp-%s-varying", name),
        ww_arena_printf(a, "the same where sampling's variance is the larger part (%zu of %zu draws)",
                        s->varying[k], s->draws),
        s->varying_covered[k], s->varying[k], error));
    WW_TRY(add(v, ww_arena_printf(a, "smp-%s-half", name), ww_arena_printf(a, "median half-width, %s", name),
               100 * quantile(s->half[k], s->draws, 0.5), 3, WW_VALIDATE_AT_MOST, 0, "%", error));
    return add(v, ww_arena_printf(a, "smp-%s-error", name),
               ww_arena_printf(a, "95th percentile of the error, %s", name),
               100 * quantile(s->error[k], s->draws, 0.95), 3, WW_VALIDATE_AT_MOST, 0, "%", error);
}

/* Coverage of one workload on one GPU; both figures in one row, the smaller is ours. */
static enum ww_code add_one(struct ww_validation *v, const struct sampling_pair *p, struct ww_error *error) {
    size_t covered[2], n = sampled(p, 0, &covered[0]);
    struct ww_arena *a = &v->arena;
    double share = 0, half = 0, worst = 0;
    sampled(p, 1, &covered[1]);
    for (size_t i = 0; i < p->seeds; i++) {
        if (p->draw[i].all) continue;
        share += p->draw[i].share / (double)n;
        half += p->draw[i].half[0] / (double)n;
        worst = fmax(worst, fabs(p->draw[i].error[0]));
    }
    double least = n ? 100.0 * (double)(covered[0] < covered[1] ? covered[0] : covered[1]) / (double)n : NAN;
    const char *what =
        n ? ww_arena_printf(a,
                            "%s on %s: %zu of %zu seeds sampled, %.1f %% replayed, half-width %.2f %%, error "
                            "%+.2f %% on average and at most %.2f %%, covers cycles %.0f %%, energy %.0f %%",
                            p->workload->label, p->gpu, n, p->seeds, 100 * share, 100 * half,
                            100 * mean_error(p, 0), 100 * worst, 100.0 * (double)covered[0] / (double)n,
                            100.0 * (double)covered[1] / (double)n)
          : ww_arena_printf(a, "%s on %s: always replayed in full", p->workload->label, p->gpu);
    const char *is_long = p->workload->of == SAMPLING_SHORT ? "" : "long-";
    if (*is_long)
        WW_TRY(add(v, ww_arena_printf(a, "smp-part-%s-%s", p->workload->name, p->gpu),
                   ww_arena_printf(a, "%s on %s: part of the %.1f million instructions that is replayed",
                                   p->workload->label, p->gpu, (double)p->instructions * 1e-6),
                   n == p->seeds ? 100 * share : 100, 100 * LONG_PART, WW_VALIDATE_AT_MOST, 0, "%", error));
    return add(v, ww_arena_printf(a, "smp-%s%s-%s", is_long, p->workload->name, p->gpu), what, least, 85,
               WW_VALIDATE_AT_LEAST, 0, "%", error);
}

static enum ww_code add_pooled(struct ww_validation *v, const struct pool *p, struct pooled *s,
                               struct ww_error *error) {
    struct ww_arena *a = &v->arena;
    for (int k = 0; k < 2; k++) WW_TRY(add_coverage(v, p, s, k, error));
    WW_TRY(add(v, "smp-share", "median part of the instructions that is replayed",
               100 * quantile(s->share, s->draws, 0.5), NAN, WW_VALIDATE_AT_MOST, 0, "%", error));
    WW_TRY(add(v, "smp-full",
               ww_arena_printf(a, "draws that replayed everything, not counted (%zu of %zu pairs always)",
                               s->pairs_full, p->count),
               (double)s->all, NAN, WW_VALIDATE_AT_MOST, 0, "", error));
    WW_TRY(add(v, "smp-bias", "root mean square of the pairs' mean errors of cycles",
               s->pairs > 0 ? 100 * sqrt(s->bias / s->pairs) : NAN, NAN, WW_VALIDATE_AT_MOST, 0, "%", error));
    WW_TRY(add_pooled_coverage(v, "smp-pair-coverage",
                               "coverage of the paired interval of the speed-up over " DESIGN,
                               s->compare_covered, s->compared, error));
    return add(v, "smp-pair-half", "median half-width of the paired speed-up",
               100 * quantile(s->pair_half, s->compared, 0.5), 3, WW_VALIDATE_AT_MOST, 0, "%", error);
}

enum ww_code ww_validate_suite_sampling(struct ww_validation *v, const struct ww_validate_options *options,
                                        struct ww_error *error) {
    struct pool p = {.options = options};
    struct pooled sum = {0};
    WW_TRY(plan(&v->arena, options->small, &p, error));
    WW_TRY(measure_all(&p, error));
    WW_TRY(pool_all(&p, &v->arena, &sum, error));
    WW_TRY(add_pooled(v, &p, &sum, error));
    for (size_t i = 0; i < p.count; i++) WW_TRY(add_one(v, &p.pair[i], error));
    return WW_OK;
}
