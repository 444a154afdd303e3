/* Replays the launches that were measured, by several threads. */
#include "../../../api/gpu.h"
#include "../../../api/run.h"
#include "../../../api/trace.h"
#include "../../../base/locale.h"
#include "silicon_int.h"
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { THREADS = 64, PATH = 1024, SECTOR = 32 };

/* One replay: rows[first ... first + count) of a program; from empty caches. */
struct job {
    size_t first, count;
    char path[PATH];
};

struct pool {
    struct ww_silicon_row *row;
    const struct ww_silicon_suite *suite;
    const struct ww_validate_options *options;
    struct ww_arena *arena;
    struct job *job;
    size_t jobs, next, done;
    pthread_mutex_t lock; /* of all above that changes, and of the arena */
    enum ww_code code;
    struct ww_error error;
};

/* FOLDER/SUITE/PROGRAM/CODE.wwt; of gv100, where the programs' folders lie in FOLDER itself, without the suite.
 */
static bool find_trace(const char *folder, const struct ww_silicon_suite *suite, const char *program,
                       char path[PATH]) {
    static const char *const code[] = {"sass", "default", "ptx"};
    for (int nested = 1; nested >= 0; nested--)
        for (size_t i = 0; i < sizeof code / sizeof *code; i++) {
            int n = snprintf(path, PATH, "%s/%s%s%s/%s.wwt", folder, nested ? suite->name : "",
                             nested ? "/" : "", program, code[i]);
            bool allowed = nested || strcmp(suite->name, "gv100") == 0;
            if (allowed && n < PATH && access(path, R_OK) == 0) return true;
        }
    return false;
}

/* ---- figures of launches ---- */

static double percent(double part, double whole) {
    return whole > 0 ? 100 * part / whole : NAN;
}

/* Hit rates as profilers count them: L1: hits, merged misses and stores that hit; L2: stores are hits. */
static struct ww_silicon_figures figures(const struct ww_launch_result *launch, size_t count) {
    double c[WW_COUNTER_COUNT] = {0};
    struct ww_silicon_figures f = {0};
    for (size_t i = 0; i < count; i++) {
        f.cycles += (double)launch[i].cycles;
        f.warp_instructions += (double)launch[i].warp_instructions;
        for (int k = 0; k < WW_COUNTER_COUNT; k++) c[k] += (double)launch[i].counter[k];
    }
    f.l1_hit_percent = percent(c[WW_C_L1_SECTOR_HIT] + c[WW_C_L1_SECTOR_MERGED] + c[WW_C_L1_WRITE_HIT],
                               c[WW_C_L1_SECTOR_READ] + c[WW_C_L1_SECTOR_WRITE]);
    f.l2_hit_percent = percent(c[WW_C_L2_SECTOR_HIT] + c[WW_C_L2_SECTOR_MERGED] + c[WW_C_L2_SECTOR_WRITE],
                               c[WW_C_L2_SECTOR_READ] + c[WW_C_L2_SECTOR_WRITE]);
    f.dram_read_bytes = SECTOR * c[WW_C_DRAM_SECTOR_READ];
    f.dram_write_bytes = SECTOR * c[WW_C_DRAM_SECTOR_WRITE];
    return f;
}

static bool keep(struct pool *p, struct ww_silicon_row *row, const struct ww_launch_result *launch,
                 size_t count) {
    row->kernel = ww_arena_strdup(p->arena, row->launch < 0 ? "" : launch->kernel);
    row->ours = figures(launch, count);
    return row->kernel != NULL;
}

static enum ww_code keep_all(struct pool *p, const struct job *job, const struct ww_result *result,
                             struct ww_error *error) {
    for (size_t i = job->first; i < job->first + job->count; i++) {
        struct ww_silicon_row *row = &p->row[i];
        bool good =
            row->launch >= 0 || !result->launch_count || keep(p, row, result->launch, result->launch_count);
        for (size_t k = 0; good && k < result->launch_count; k++)
            if ((long)result->launch[k].index == row->launch) good = keep(p, row, &result->launch[k], 1);
        if (!good) return ww_fail_nomem(error, p->suite->name);
    }
    return WW_OK;
}

/* ---- jobs ---- */

static bool goes_on(void *context, double part, uint64_t done, const char *unit) {
    struct pool *p = context;
    struct ww_error ignored;
    (void)part, (void)done, (void)unit;
    pthread_mutex_lock(&p->lock);
    bool on = p->code == WW_OK && ww_validate_step(p->options, p->done, p->jobs, &ignored) == WW_OK;
    pthread_mutex_unlock(&p->lock);
    return on;
}

/* The suite's GPU, at the clock at which it was measured. */
static enum ww_code load_gpu(const struct ww_silicon_suite *suite, struct ww_gpu **gpu,
                             struct ww_error *error) {
    char sm[48], l2[48];
    const char *const clocks[] = {sm, l2};
    double sm_mhz, l2_mhz;
    WW_TRY(ww_gpu_load(suite->gpu, NULL, 0, gpu, error));
    if (!suite->clock) return WW_OK;
    enum ww_code code = ww_gpu_clock_control(*gpu, suite->clock, &sm_mhz, &l2_mhz, error);
    ww_gpu_free(*gpu);
    *gpu = NULL;
    WW_TRY(code);
    snprintf(sm, sizeof sm, "clock.sm_mhz=%.17g", sm_mhz);
    snprintf(l2, sizeof l2, "clock.l2_mhz=%.17g", l2_mhz);
    return ww_gpu_load(suite->gpu, clocks, 2, gpu, error);
}

static enum ww_code replay(struct pool *p, const struct job *job, struct ww_result **result,
                           struct ww_error *error) {
    char launch[32];
    struct ww_gpu *gpu = NULL;
    snprintf(launch, sizeof launch, "%ld", p->row[job->first].launch);
    WW_TRY(load_gpu(p->suite, &gpu, error));
    struct ww_run_options o = {.gpu = gpu,
                               .trace_path = job->path,
                               .launches = p->suite->flushed ? launch : NULL,
                               .cache_control = p->suite->caches,
                               .power_table = "none",
                               .progress = goes_on,
                               .context = p};
    enum ww_code code = ww_run(&o, result, error);
    ww_gpu_free(gpu);
    return code;
}

static void *work(void *context) {
    WW_PLAIN_LOCALE;
    struct pool *p = context;
    for (;;) {
        struct ww_error error;
        struct ww_result *result = NULL;
        pthread_mutex_lock(&p->lock);
        struct job *job = p->code == WW_OK && p->next < p->jobs ? &p->job[p->next++] : NULL;
        pthread_mutex_unlock(&p->lock);
        if (!job) return NULL;
        enum ww_code code = replay(p, job, &result, &error);
        pthread_mutex_lock(&p->lock);
        p->done++;
        if (code == WW_OK) code = keep_all(p, job, result, &error);
        if (code == WW_OK) code = ww_validate_step(p->options, p->done, p->jobs, &error);
        if (code != WW_OK && p->code == WW_OK) {
            p->code = code;
            p->error = error;
        }
        pthread_mutex_unlock(&p->lock);
        ww_result_free(result);
    }
}

static enum ww_code run_jobs(struct pool *p, struct ww_error *error) {
    pthread_t thread[THREADS];
    unsigned wanted = p->options && p->options->jobs ? p->options->jobs : 1, started = 0;
    if (pthread_mutex_init(&p->lock, NULL)) return ww_fail_nomem(error, "a lock");
    while (started + 1 < wanted && started < THREADS && pthread_create(&thread[started], NULL, work, p) == 0)
        started++;
    work(p);
    for (unsigned i = 0; i < started; i++) pthread_join(thread[i], NULL);
    pthread_mutex_destroy(&p->lock);
    if (p->code != WW_OK && error) *error = p->error;
    return p->code;
}

/* Whether the trace has the launch that the row measured. */
static enum ww_code launches_of(const char *path, long *launches, struct ww_error *error) {
    struct ww_trace *trace;
    WW_TRY(ww_trace_open(path, &trace, error));
    *launches = (long)ww_trace_launch_count(trace);
    ww_trace_close(trace);
    return WW_OK;
}

static enum ww_code add_program(struct pool *p, size_t first, size_t count, const char *folder,
                                struct ww_error *error) {
    struct job job = {.first = first, .count = count};
    long launches;
    if (!find_trace(folder, p->suite, p->row[first].program, job.path)) return WW_OK;
    WW_TRY(launches_of(job.path, &launches, error));
    if (!p->suite->flushed) {
        p->job[p->jobs++] = job;
        return WW_OK;
    }
    for (job.count = 1; job.first < first + count; job.first++)
        if (p->row[job.first].launch < launches) p->job[p->jobs++] = job;
    return WW_OK;
}

enum ww_code ww_silicon_replay(struct ww_silicon_row *row, size_t count, const struct ww_silicon_suite *suite,
                               const char *folder, struct ww_arena *arena,
                               const struct ww_validate_options *options, struct ww_error *error) {
    struct pool p = {.row = row, .suite = suite, .options = options, .arena = arena};
    p.job = malloc((count + 1) * sizeof *p.job);
    if (!p.job) return ww_fail_nomem(error, suite->name);
    enum ww_code code = WW_OK;
    for (size_t i = 0, n; i < count && code == WW_OK; i += n) {
        for (n = 1; i + n < count && strcmp(row[i].program, row[i + n].program) == 0;) n++;
        code = add_program(&p, i, n, folder, error);
    }
    if (code == WW_OK) code = run_jobs(&p, error);
    free(p.job);
    return code;
}
