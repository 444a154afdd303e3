/* The traces of a sweep: files that are there, and workloads that are recorded for it. */
#include "../../api/gpu.h"
#include "../../api/trace.h"
#include "../../api/record.h"
#include "../../api/sweep.h"
#include "job.h"
#include "program.h"
#include "../../config/gpu.h"
#include "../../../traces/trace.h"
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The target that suits the GPU, as docs/studies/gpus.md advises. */
static const char *target(const struct ww_gpu *gpu) {
    const char *arch = gpu->spec.arch;
    long capability = strncmp(arch, "sm_", 3) == 0 ? strtol(arch + 3, NULL, 10) : 70;
    return capability < 30 ? "sm_20" : capability < 70 ? "sm_52" : "sm_70";
}

/* Before the first point: the progress of a trace is not that of the whole. */
static bool goes_on(void *context, double part, uint64_t done, const char *unit) {
    const struct ww_sweep_options *o = context;
    (void)part;
    return !o->progress || o->progress(o->context, -1, done, unit);
}

/* The folder of workloads recorded earlier for this sweep, or NULL. */
static const char *recorded(const struct sweep_job *job) {
    return job->options->shard ? job->options->shard->traces : NULL;
}

static enum ww_code record(struct sweep_job *job, size_t i, struct ww_error *error) {
    struct ww_sweep_trace *t = &job->space.trace[i];
    char path[4096];
    if (snprintf(path, sizeof path, "%s/%zu.wwt", recorded(job) ? recorded(job) : job->dir.path, i) >=
        (int)sizeof path)
        return ww_fail(error, WW_USAGE, "--traces", "the name of the folder is too long");
    t->path = ww_arena_strdup(&job->space.arena, path);
    if (!t->path) return ww_fail_nomem(error, "a trace");
    if (recorded(job)) return WW_OK;
    struct ww_record_options o = {.out_path = t->path,
                                  .arch = target(job->gpu),
                                  .progress = goes_on,
                                  .context = (void *)(uintptr_t)job->options};
    struct ww_record_stats stats;
    return ww_record_workload(t->workload, t->parameter, t->parameters, &o, &stats, error);
}

static enum ww_code describe(struct sweep_job *job, size_t i, struct ww_error *error) {
    struct ww_db_sweep_trace *t = &job->head.trace[i];
    struct ww_trace *trace;
    WW_TRY(ww_trace_open(job->space.trace[i].path, &trace, error));
    enum ww_code code = ww_trace_verify(trace, goes_on, (void *)(uintptr_t)job->options, error);
    t->hash = ww_arena_strdup(&job->space.arena, ww_trace_hash(trace));
    t->program = ww_trace_program(trace, &job->space.arena);
    t->workload = job->space.trace[i].name;
    t->weight = job->space.trace[i].weight;
    ww_trace_close(trace);
    if (code != WW_OK) return code;
    return t->hash && t->program ? WW_OK : ww_fail_nomem(error, "a trace");
}

enum ww_code ww_sweep_traces_open(struct sweep_job *job, struct ww_error *error) {
    struct ww_sweep_space *s = &job->space;
    if (s->program) {
        s->trace = ww_arena_array(&s->arena, 1, sizeof *s->trace);
        if (!s->trace) return ww_fail_nomem(error, "the traces of a sweep");
        *s->trace = (struct ww_sweep_trace){.name = s->program->name, .weight = 1};
        s->trace_count = 1;
    }
    job->head.trace = ww_arena_array(&s->arena, s->trace_count, sizeof *job->head.trace);
    job->head.trace_count = s->trace_count;
    if (!job->head.trace) return ww_fail_nomem(error, "the traces of a sweep");
    if (s->program) {
        *job->head.trace = (struct ww_db_sweep_trace){
            .hash = s->program->hash, .program = s->program->name, .workload = s->program->name, .weight = 1};
        return WW_OK;
    }
    for (size_t i = 0; i < s->trace_count; i++) {
        if (s->trace[i].workload && !job->dir.path && !recorded(job)) WW_TRY(ww_temp_folder(&job->dir, error));
        char path[48];
        snprintf(path, sizeof path, "$.traces[%zu]", i);
        enum ww_code code = s->trace[i].workload ? record(job, i, error) : WW_OK;
        if (code == WW_OK) code = describe(job, i, error);
        WW_TRY(ww_sweep_named_at(s, path, code, error));
    }
    return WW_OK;
}

void ww_sweep_traces_close(struct sweep_job *job) {
    ww_temp_remove(&job->dir);
}
