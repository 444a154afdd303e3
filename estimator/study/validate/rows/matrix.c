/* Recording and replaying by several threads; sums are added in the order of jobs, so that results do not
 * depend on their number. */
#include "../../../api/gpu.h"
#include "../../../api/trace.h"
#include "../../../api/record.h"
#include "../../../api/run.h"
#include "../../../api/validate.h"
#include "../../../result/result.h"
#include "../../../base/locale.h"
#include "../../../base/tempfile.h"
#include "matrix.h"
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { THREADS = 64, PATH = 256 };

/* A job records a workload, or replays one on a machine. */
struct job {
    size_t workload, machine;
    struct ww_result *result;
};

struct pool {
    struct ww_matrix *matrix;
    const struct ww_validate_options *options;
    struct ww_temp folder;
    char (*path)[PATH]; /* by workload: its trace, in the folder */
    struct job *job;
    size_t jobs, next, done, all, before;
    enum ww_code (*run)(struct pool *pool, struct job *job, struct ww_error *error);
    pthread_mutex_t lock;
    enum ww_code code;
    struct ww_error error;
};

/* Asked in the middle of a recording or a replay, by any thread. Where another job failed none goes on. */
static bool goes_on(void *context, double part, uint64_t done, const char *unit) {
    struct pool *p = context;
    struct ww_error ignored;
    (void)part, (void)done, (void)unit;
    pthread_mutex_lock(&p->lock);
    bool on = p->code == WW_OK && ww_validate_step(p->options, p->before + p->done, p->all, &ignored) == WW_OK;
    pthread_mutex_unlock(&p->lock);
    return on;
}

static size_t count_strings(const char *const *text, size_t most) {
    size_t n = 0;
    while (n < most && text[n]) n++;
    return n;
}

/* Changes the trace in its place. */
static enum ww_code transform(struct pool *pool, const char *path, const struct ww_transform_options *how,
                              struct ww_error *error) {
    struct ww_transform_options o = *how;
    char changed[PATH + 4];
    struct ww_trace *trace;
    snprintf(changed, sizeof changed, "%s.tf", path);
    WW_TRY(ww_trace_open(path, &trace, error));
    o.progress = goes_on;
    o.context = pool;
    enum ww_code code = ww_trace_transform(trace, &o, changed, error);
    ww_trace_close(trace);
    if (code != WW_OK) return code;
    return rename(changed, path) == 0 ? WW_OK : ww_fail(error, WW_IO, path, "cannot be replaced");
}

static enum ww_code record(struct pool *pool, struct job *job, struct ww_error *error) {
    const struct ww_matrix_workload *w = &pool->matrix->workload[job->workload];
    struct ww_record_options o = {.out_path = pool->path[job->workload],
                                  .arch = "sm_20",
                                  .registers_per_thread = w->registers,
                                  .progress = goes_on,
                                  .context = pool};
    struct ww_record_stats stats;
    WW_TRY(ww_record_workload(w->name, w->parameter, count_strings(w->parameter, WW_MATRIX_PARAMETERS), &o,
                              &stats, error));
    const struct ww_transform_options *t = pool->matrix->transform;
    bool changes = t && t[job->workload].kind;
    return changes ? transform(pool, pool->path[job->workload], &t[job->workload], error) : WW_OK;
}

static enum ww_code replay(struct pool *pool, struct job *job, struct ww_error *error) {
    const struct ww_matrix_machine *m = &pool->matrix->machine[job->machine];
    struct ww_gpu *gpu = NULL;
    const char *const *set = pool->matrix->set ? pool->matrix->set[job->machine] : NULL;
    WW_TRY(ww_gpu_load(m->gpu, set, set ? count_strings(set, WW_MATRIX_OVERRIDES) : 0, &gpu, error));
    struct ww_run_options o = {.gpu = gpu,
                               .trace_path = pool->path[job->workload],
                               .launches = pool->matrix->workload[job->workload].launches,
                               .per_pc = pool->matrix->per_pc,
                               .mechanisms = m->mechanism,
                               .mechanism_count = count_strings(m->mechanism, WW_MATRIX_MECHANISMS),
                               .progress = goes_on,
                               .context = pool};
    enum ww_code code = ww_run(&o, &job->result, error);
    ww_gpu_free(gpu);
    return code;
}

/* The next job, or NULL: none is left, or something failed. */
static struct job *take(struct pool *p) {
    pthread_mutex_lock(&p->lock);
    struct job *job = p->code == WW_OK && p->next < p->jobs ? &p->job[p->next++] : NULL;
    pthread_mutex_unlock(&p->lock);
    return job;
}

static void *work(void *context) {
    WW_PLAIN_LOCALE;
    struct pool *p = context;
    for (struct job *job = take(p); job; job = take(p)) {
        struct ww_error error;
        enum ww_code code = p->run(p, job, &error);
        pthread_mutex_lock(&p->lock);
        p->done++;
        if (code == WW_OK) code = ww_validate_step(p->options, p->before + p->done, p->all, &error);
        if (code != WW_OK && p->code == WW_OK) {
            p->code = code;
            p->error = error;
        }
        pthread_mutex_unlock(&p->lock);
    }
    return NULL;
}

/* Does all jobs; the calling thread is one of those that work. */
static enum ww_code run_jobs(struct pool *p, struct ww_error *error) {
    pthread_t thread[THREADS];
    unsigned wanted = p->options ? p->options->jobs : 1, started = 0;
    if (wanted > THREADS) wanted = THREADS;
    while (started + 1 < wanted && pthread_create(&thread[started], NULL, work, p) == 0) started++;
    work(p);
    for (unsigned i = 0; i < started; i++) pthread_join(thread[i], NULL);
    if (p->code != WW_OK && error) *error = p->error;
    return p->code;
}

static void add_launch(struct ww_matrix_sum *sum, const struct ww_launch_result *l) {
    sum->cycles += l->cycles;
    sum->warp_instructions += l->warp_instructions;
    sum->total_j += l->energy.total_j;
    sum->time_ps += l->time_ps;
    sum->ctas_per_sm = l->ctas_per_sm;
    for (int s = 0; s < WW_STATE_COUNT; s++) sum->warp_cycles[s] += l->warp_cycles[s];
    for (int c = 0; c < WW_COUNTER_COUNT; c++) sum->counter[c] += l->counter[c];
    for (int c = 0; c < WW_COMPONENT_COUNT; c++) {
        sum->dynamic_j[c] += l->energy.dynamic_j[c];
        sum->static_j[c] += l->energy.static_j[c];
    }
}

static void add_result(struct ww_matrix *b, const struct job *job) {
    for (size_t i = 0; job->result && i < job->result->launch_count; i++)
        for (size_t k = 0; k < b->kernels; k++)
            if (strcmp(job->result->launch[i].kernel, b->kernel[k]) == 0)
                add_launch(&b->sum[job->machine * b->kernels + k], &job->result->launch[i]);
}

static enum ww_code name_files(struct pool *p, struct ww_error *error) {
    for (size_t i = 0; i < p->matrix->workloads; i++)
        if (snprintf(p->path[i], PATH, "%s/%zu.wwt", p->folder.path, i) >= PATH)
            return ww_fail(error, WW_IO, p->folder.path, "the path is too long");
    return WW_OK;
}

static enum ww_code run_all(struct pool *p, struct ww_error *error) {
    struct ww_matrix *b = p->matrix;
    WW_TRY(name_files(p, error));
    for (size_t w = 0; w < b->workloads; w++) p->job[p->jobs++] = (struct job){.workload = w};
    size_t records = p->jobs;
    p->all = records;
    for (size_t w = 0; w < b->workloads; w++)
        for (size_t m = 0; m < b->machines; m++) p->all += !b->wanted || b->wanted(w, m);
    p->run = record;
    WW_TRY(run_jobs(p, error));
    p->before = records;
    p->jobs = p->next = p->done = 0;
    for (size_t w = 0; w < b->workloads; w++)
        for (size_t m = 0; m < b->machines; m++)
            if (!b->wanted || b->wanted(w, m)) p->job[p->jobs++] = (struct job){.workload = w, .machine = m};
    p->run = replay;
    enum ww_code code = run_jobs(p, error);
    for (size_t i = 0; i < p->jobs; i++) {
        const struct job *job = &p->job[i];
        if (code == WW_OK) add_result(b, job);
        if (code == WW_OK && b->seen)
            code = b->seen(b->context, job->workload, job->machine, job->result, error);
        ww_result_free(p->job[i].result);
    }
    return code;
}

enum ww_code ww_matrix_run(struct ww_matrix *matrix, struct ww_arena *arena,
                           const struct ww_validate_options *options, struct ww_error *error) {
    struct pool p = {.matrix = matrix, .options = options};
    size_t jobs = matrix->workloads * (matrix->machines ? matrix->machines : 1);
    matrix->sum = ww_arena_array(arena, matrix->machines * matrix->kernels, sizeof *matrix->sum);
    p.path = ww_arena_array(arena, matrix->workloads, sizeof *p.path);
    p.job = ww_arena_array(arena, jobs, sizeof *p.job);
    if (!matrix->sum || !p.path || !p.job) return ww_fail_nomem(error, "measurements");
    WW_TRY(ww_temp_folder(&p.folder, error));
    if (pthread_mutex_init(&p.lock, NULL)) {
        ww_temp_remove(&p.folder);
        return ww_fail_nomem(error, "a lock");
    }
    enum ww_code code = run_all(&p, error);
    ww_temp_remove(&p.folder);
    pthread_mutex_destroy(&p.lock);
    return code;
}
