/* sweep_analytic.c: points of a sweep by the analytical model: profiles are made once, a point reads no trace.
 */
#include "../../api/gpu.h"
#include "../../api/trace.h"
#include "../../result/result.h"
#include "../../core/time/launch_time.h"
#include "../../fast/model.h"
#include "../../fast/profile_file.h"
#include "../../run/run_int.h"
#include "job.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

struct sweep_model {
    struct ww_model_profile profile;
    struct ww_model model;
    bool usable;
};

/* The progress of a trace is not that of the sweep. */
static bool goes_on(void *context, double part, uint64_t done, const char *unit) {
    const struct ww_sweep_options *o = context;
    (void)part;
    return !o->progress || o->progress(o->context, -1, done, unit);
}

static enum ww_code open_one(struct sweep_model *m, const struct ww_sweep_options *o, const char *path,
                             struct ww_error *error) {
    struct ww_trace *trace;
    WW_TRY(ww_trace_open(path, &trace, error));
    enum ww_code code = ww_run_analytic_check(trace, error);
    if (code == WW_OK)
        code = ww_model_profile_of(trace, path, goes_on, (void *)(uintptr_t)o, &m->profile, NULL, error);
    ww_trace_close(trace);
    m->usable = code == WW_OK;
    return code == WW_OK ? ww_model_new(&m->profile, NULL, &m->model, error) : code;
}

enum ww_code ww_sweep_models_open(struct sweep_job *job, struct ww_error *error) {
    const char *own = job->gpu->spec.power_table[0] ? job->gpu->spec.power_table : NULL;
    const char *name = job->space.power ? job->space.power : own ? own : ww_gpu_name(job->gpu);
    job->model = calloc(job->space.trace_count ? job->space.trace_count : 1, sizeof *job->model);
    if (!job->model) return ww_fail_nomem(error, "the profiles of a sweep");
    for (size_t i = 0; i < job->space.trace_count; i++) {
        struct ww_error inner = {.code = WW_OK};
        enum ww_code code = open_one(&job->model[i], job->options, job->space.trace[i].path, &inner);
        if (code == WW_OK || (code == WW_UNSUPPORTED && job->head.budget > 0)) continue;
        if (error) *error = inner;
        return code;
    }
    if (strcmp(name, "none") == 0) return WW_OK;
    return ww_power_load(name, job->space.power || own, &job->table, error);
}

bool ww_sweep_has_model(const struct sweep_job *job, size_t trace) {
    return job->model && job->model[trace].usable;
}

void ww_sweep_models_close(struct sweep_job *job) {
    for (size_t i = 0; job->model && i < job->space.trace_count; i++) {
        ww_model_free(&job->model[i].model);
        ww_model_profile_free(&job->model[i].profile);
    }
    free(job->model);
    ww_power_free(job->table);
}

/* Adds a kernel as often as it is launched. */
static void add(const struct sweep_job *job, const struct ww_gpu_spec *gpu, const struct ww_model_kernel *k,
                const struct ww_model_result *m, struct ww_db_sweep_result *out) {
    struct ww_launch_result l;
    uint64_t times = (uint64_t)llround(k->times);
    memset(&l, 0, sizeof l);
    l.cycles = (uint64_t)llround(m->cycles);
    struct ww_launch_time time;
    ww_launch_time_begin(&time, gpu, times > 1 || out->cycles > 0);
    l.time_ps = ww_launch_ps(&time, gpu, m->cycles);
    out->cycles += times * l.cycles;
    out->time_ps += times * l.time_ps;
    out->warp_instructions += times * k->of->warp_instructions;
    out->thread_instructions += times * k->of->thread_instructions;
    if (!job->table) return;
    for (int i = 0; i < WW_COUNTER_COUNT; i++) l.counter[i] = (uint64_t)llround(m->events[i]);
    ww_power_launch(job->table, gpu, &l, &l.energy);
    out->energy_j += k->times * l.energy.total_j;
}

enum ww_code ww_sweep_estimate(const struct sweep_job *job, const struct ww_sweep_machine *machine,
                               size_t trace, struct ww_db_sweep_result *out, struct ww_error *error) {
    const struct ww_model *model = &job->model[trace].model;
    *out = (struct ww_db_sweep_result){.energy_known = job->table != NULL};
    for (size_t i = 0; i < model->count; i++) {
        struct ww_model_result m;
        WW_TRY(ww_model_launch(&model->kernel[i], &machine->gpu->spec, &ww_model_default, &m, error));
        add(job, &machine->gpu->spec, &model->kernel[i], &m, out);
    }
    return WW_OK;
}
