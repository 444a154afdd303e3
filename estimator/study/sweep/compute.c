/* Computing the points of a sweep by several threads. What is stored does not depend on their number: rows have
 * the point's number, and a configuration that two points share is computed by one of them while the other
 * waits. */
#include "../../api/run.h"
#include "../../api/sweep.h"
#include "../../result/result.h"
#include "../../base/locale.h"
#include "../../run/run_int.h"
#include "variant.h"
#include <stdlib.h>
#include <string.h>

#define NORMAL_95 1.96 /* standard deviations of half an interval of 95 % */
#define WARMED 0.25    /* cost of an instruction that only warms caches, in replayed ones */

/* A thread's own. */
struct worker {
    struct sweep_job *job;
    size_t number, trace; /* that is being replayed */
    pthread_t thread;
};

/* Reports the sweep's progress; called with the lock held. Points under way count by their parts. False: stop.
 */
static bool report(struct sweep_job *job) {
    const struct ww_sweep_options *o = job->options;
    double points = (double)job->finished;
    char of[48];
    if (!o->progress) return true;
    for (unsigned i = 0; i < o->jobs; i++) points += job->under_way[i];
    snprintf(of, sizeof of, "of %zu points", job->todo);
    double part = job->todo ? points / (double)job->todo : 1;
    return o->progress(o->context, part < 1 ? part : 1, job->finished, of);
}

/* Called inside a replay, so that a long one can be stopped and the time left stays true. */
static bool replay_progress(void *context, double part, uint64_t done, const char *unit) {
    struct worker *w = context;
    struct sweep_job *job = w->job;
    (void)done, (void)unit;
    if (atomic_load(&job->stop)) return false;
    if (pthread_mutex_trylock(&job->lock) != 0) return true;
    double point = ((double)w->trace + (part > 0 ? part : 0)) / (double)job->head.trace_count;
    if (point > job->under_way[w->number]) job->under_way[w->number] = point;
    if (!report(job)) atomic_store(&job->stop, true);
    pthread_mutex_unlock(&job->lock);
    return !atomic_load(&job->stop);
}

static void fail(struct sweep_job *job, enum ww_code code, const struct ww_error *error) {
    if (job->code == WW_OK) {
        job->code = code;
        job->error = *error;
    }
    atomic_store(&job->stop, true);
}

/* The next point that is not done, or plan.count. With the lock held. */
static size_t take(struct sweep_job *job) {
    while (job->next < job->plan.count && job->done[job->next]) job->next++;
    if (atomic_load(&job->stop)) return job->plan.count;
    return job->next < job->plan.count ? job->next++ : job->plan.count;
}

static bool is_busy(const struct sweep_job *job, const char *config, unsigned threads) {
    for (unsigned i = 0; i < threads; i++)
        if (strcmp(job->busy[i], config) == 0) return true;
    return false;
}

/* Waits until no other thread computes this configuration, then reads what there is of it. */
static enum ww_code claim(struct worker *w, const char *config, struct ww_db_sweep_result *result,
                          struct ww_error *error) {
    struct sweep_job *job = w->job;
    enum ww_code code = WW_OK;
    pthread_mutex_lock(&job->lock);
    while (is_busy(job, config, job->options->jobs)) pthread_cond_wait(&job->freed, &job->lock);
    memcpy(job->busy[w->number], config, WW_CONFIG_HASH);
    for (size_t i = 0; i < job->head.trace_count && code == WW_OK; i++) {
        code = job->sampling
                   ? ww_db_sweep_find_sampled(job->db, config, job->head.trace[i].id, &result[i], error)
                   : ww_db_sweep_find(job->db, config, job->head.trace[i].id, &result[i], error);
        job->reused += result[i].stored;
    }
    pthread_mutex_unlock(&job->lock);
    return code;
}

void ww_sweep_energy_parts(const struct ww_result *r, struct ww_db_sweep_result *out) {
    double sum = 0;
    for (size_t i = 0; i < r->launch_count; i++)
        for (int c = 0; c < WW_COMPONENT_COUNT; c++) {
            double joules = r->launch[i].energy.dynamic_j[c] + r->launch[i].energy.static_j[c];
            out->part_j[ww_energy_group((enum ww_component)c)] += joules;
            sum += joules;
        }
    out->parts_known = out->energy_known && fabs(sum - out->energy_j) <= 1e-6 * out->energy_j;
}

/* What a sampled replay cost, and how far it may be off. */
static void measure(const struct ww_result *r, struct ww_db_sweep_result *out) {
    const struct ww_sampling *s = &r->sampling;
    double all = (double)r->warp_instructions, half = 2 * NORMAL_95;
    out->replayed = 1;
    if (!s->reason || s->drawn >= s->units || !(all > 0)) return;
    out->replayed = ((double)s->replayed_instructions + WARMED * (double)s->warmed_instructions) / all;
    if (out->time_ps) out->time_error = (s->time_s.hi - s->time_s.lo) / half / ((double)out->time_ps * 1e-12);
    if (out->energy_j > 0)
        out->energy_error = (r->energy_interval.hi - r->energy_interval.lo) / half / out->energy_j;
}

static enum ww_code replay(struct worker *w, const struct ww_sweep_machine *m, size_t trace,
                           struct ww_db_sweep_result *out, struct ww_error *error) {
    struct sweep_job *job = w->job;
    w->trace = trace;
    struct ww_run_options o = {.gpu = m->gpu,
                               .trace_path = job->space.trace[trace].path,
                               .mechanisms = m->mech,
                               .mechanism_count = m->mech_count,
                               .power_table = job->space.power,
                               .mode = job->space.mode,
                               .epoch_cycles = WW_SWEEP_EPOCH,
                               .progress = replay_progress,
                               .context = w};
    struct ww_result *r;
    WW_TRY(ww_run_with_power(&o, m->table, &r, error));
    *out = (struct ww_db_sweep_result){.cycles = r->cycles,
                                       .time_ps = r->time_ps,
                                       .warp_instructions = r->warp_instructions,
                                       .thread_instructions = r->thread_instructions,
                                       .energy_j = r->energy_j,
                                       .energy_known = r->energy_known,
                                       .host_seconds = r->host_seconds};
    ww_sweep_energy_parts(r, out);
    if (job->sampling) measure(r, out);
    ww_result_free(r);
    return WW_OK;
}

/* Replays every trace that no point of this configuration has replayed yet. */
static enum ww_code replay_all(struct worker *w, struct ww_sweep_machine *m, struct ww_db_sweep_result *result,
                               struct ww_variant *variant, size_t *computed, struct ww_error *error) {
    struct sweep_job *job = w->job;
    for (size_t i = 0; i < job->head.trace_count; i++) {
        if (result[i].stored) continue;
        struct ww_error inner = {.code = WW_OK};
        if (job->variants) {
            WW_TRY(ww_variant_replay(job, m, job->space.mode, &result[i], variant, error));
            if (m->reason[0]) return WW_OK;
            ++*computed;
            continue;
        }
        enum ww_code code = job->model && !job->wanted && m->mech_count == 0
                                ? ww_sweep_estimate(job, m, i, &result[i], &inner)
                                : replay(w, m, i, &result[i], &inner);
        if (code == WW_OK) {
            ++*computed;
        } else if (ww_sweep_is_reason(code)) {
            const char *name = job->head.trace[i].workload;
            snprintf(m->reason, sizeof m->reason, "%.200s: %.700s", name, inner.text);
            return WW_OK;
        } else {
            *error = inner;
            return code;
        }
    }
    return WW_OK;
}

static enum ww_code store(struct worker *w, size_t ord, const struct ww_sweep_machine *m,
                          const struct ww_db_sweep_result *result, const struct ww_variant *variant,
                          size_t computed, struct ww_error *error) {
    struct sweep_job *job = w->job;
    struct ww_db_sweep_point point = ww_sweep_machine_row(m, ord);
    point.variant = job->variants && computed ? &variant->row : NULL;
    point.result = result;
    pthread_mutex_lock(&job->lock);
    enum ww_code code = job->sampling && !point.reason
                            ? ww_db_sweep_store_sampled(job->db, &job->head, &point, error)
                            : ww_db_sweep_store(job->db, &job->head, &point, error);
    job->computed += computed;
    job->finished++;
    job->under_way[w->number] = 0;
    pthread_mutex_unlock(&job->lock);
    return code;
}

static enum ww_code do_point(struct worker *w, size_t ord, struct ww_db_sweep_result *result,
                             struct ww_error *error) {
    struct sweep_job *job = w->job;
    struct ww_sweep_machine m;
    struct ww_variant variant;
    size_t computed = 0;
    const uint16_t *level = job->plan.level + ord * job->space.param_count;
    enum ww_code code = ww_sweep_machine(&job->space, level, job->power, &m, error);
    if (code == WW_OK && !m.reason[0]) code = claim(w, m.config, result, error);
    if (code == WW_OK && !m.reason[0]) code = replay_all(w, &m, result, &variant, &computed, error);
    if (code == WW_OK) code = store(w, ord, &m, result, &variant, computed, error);
    pthread_mutex_lock(&job->lock);
    job->busy[w->number][0] = 0;
    pthread_cond_broadcast(&job->freed);
    pthread_mutex_unlock(&job->lock);
    ww_sweep_machine_free(&m);
    return code;
}

static void *work(void *context) {
    WW_PLAIN_LOCALE;
    struct worker *w = context;
    struct sweep_job *job = w->job;
    struct ww_error error = {.code = WW_OK};
    struct ww_db_sweep_result *result = calloc(job->head.trace_count, sizeof *result);
    enum ww_code code = result ? WW_OK : ww_fail_nomem(&error, "a sweep");
    for (;;) {
        pthread_mutex_lock(&job->lock);
        if (code != WW_OK)
            fail(job, code, &error);
        else if (!report(job))
            atomic_store(&job->stop, true);
        size_t ord = take(job);
        pthread_mutex_unlock(&job->lock);
        if (ord == job->plan.count) break;
        code = do_point(w, ord, result, &error);
    }
    free(result);
    return NULL;
}

/* Fewer threads than were asked for are an error: the points that are done by then stay. */
static void fail_to_start(struct sweep_job *job, unsigned thread, int why) {
    struct ww_error error;
    enum ww_code code = ww_fail(&error, WW_IO, job->space.file, "cannot start thread %u of %u: %s", thread + 1,
                                job->options->jobs, strerror(why));
    pthread_mutex_lock(&job->lock);
    fail(job, code, &error);
    pthread_mutex_unlock(&job->lock);
}

/* Starts the threads; the calling one is the first. */
static void run_threads(struct sweep_job *job, struct worker *worker) {
    unsigned started = 1, wanted = job->options->jobs;
    int why = 0;
    if (wanted > job->todo) wanted = job->todo ? (unsigned)job->todo : 1;
    for (unsigned i = 0; i < wanted; i++) worker[i] = (struct worker){.job = job, .number = i};
    while (started < wanted &&
           (why = pthread_create(&worker[started].thread, NULL, work, &worker[started])) == 0)
        started++;
    if (why) fail_to_start(job, started, why);
    work(&worker[0]);
    for (unsigned i = 1; i < started; i++) pthread_join(worker[i].thread, NULL);
}

enum ww_code ww_sweep_compute(struct sweep_job *job, struct ww_error *error) {
    struct worker worker[SWEEP_THREADS];
    if (!job->done) job->done = ww_arena_array(&job->space.arena, job->plan.count, sizeof *job->done);
    if (!job->busy) job->busy = ww_arena_array(&job->space.arena, job->options->jobs, sizeof *job->busy);
    if (!job->under_way)
        job->under_way = ww_arena_array(&job->space.arena, job->options->jobs, sizeof *job->under_way);
    if (!job->done || !job->busy || !job->under_way) return ww_fail_nomem(error, "a sweep");
    memset(job->done, 0, job->plan.count * sizeof *job->done);
    WW_TRY(ww_db_sweep_done(job->db, &job->head, job->done, error));
    job->next = 0;
    job->todo = job->finished;
    for (size_t i = 0; i < job->plan.count; i++) {
        if (job->end && (i < job->first || i >= job->end)) job->done[i] = true; /* another shard's */
        if (job->wanted && !job->wanted[i]) job->done[i] = true;
        job->todo += !job->done[i];
    }
    if (job->todo < job->budgeted) job->todo = job->budgeted;
    if (pthread_mutex_init(&job->lock, NULL)) return ww_fail_nomem(error, "a lock");
    if (pthread_cond_init(&job->freed, NULL)) {
        pthread_mutex_destroy(&job->lock);
        return ww_fail_nomem(error, "a lock");
    }
    run_threads(job, worker);
    pthread_cond_destroy(&job->freed);
    pthread_mutex_destroy(&job->lock);
    if (job->code != WW_OK) {
        if (error) *error = job->error;
        return job->code;
    }
    return atomic_load(&job->stop) ? ww_fail(error, WW_FAIL, job->space.file, "stopped") : WW_OK;
}
