/* Where a correlation's estimates come from: recordings that are replayed, or runs in a database. */
#include "../../api/gpu.h"
#include "../../api/record.h"
#include "../../api/run.h"
#include "../../api/hardware.h"
#include "../../result/result.h"
#include "../../result/measured.h"
#include "../../base/hash.h"
#include "correlate.h"
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define WORDS_MOST 32

static double launch_value(const struct ww_launch_result *l, enum ww_metric metric, bool *known) {
    double seconds = (double)l->time_ps * 1e-12;
    *known = metric == WW_METRIC_TIME || metric == WW_METRIC_CYCLES || l->energy.known;
    switch (metric) {
    case WW_METRIC_TIME:
        return seconds;
    case WW_METRIC_CYCLES:
        return (double)l->cycles;
    case WW_METRIC_POWER:
        return seconds > 0 ? l->energy.total_j / seconds : 0;
    default:
        return l->energy.total_j;
    }
}

static double run_value(const struct ww_result *r, enum ww_metric metric, bool *known) {
    double seconds = (double)r->time_ps * 1e-12;
    *known = metric == WW_METRIC_TIME || metric == WW_METRIC_CYCLES || r->energy_known;
    switch (metric) {
    case WW_METRIC_TIME:
        return seconds;
    case WW_METRIC_CYCLES:
        return (double)r->cycles;
    case WW_METRIC_POWER:
        return seconds > 0 ? r->energy_j / seconds : 0;
    default:
        return r->energy_j;
    }
}

/* Equal, or the trace's is mangled and has the measured name with its length in front, as in _Z6saxpyv. */
static bool same_kernel(const char *measured, const char *recorded) {
    char part[128];
    if (strcmp(measured, recorded) == 0) return true;
    int n = snprintf(part, sizeof part, "%zu%s", strlen(measured), measured);
    return strncmp(recorded, "_Z", 2) == 0 && n > 0 && (size_t)n < sizeof part && strstr(recorded, part);
}

/* A launch of other sizes is other work: its error of time would be meaningless. */
static enum ww_code same_size(const char *what, const uint32_t measured[3], const uint32_t recorded[3],
                              const struct ww_measured_point *p, struct ww_error *error) {
    if (!measured[0] || memcmp(measured, recorded, 3 * sizeof *measured) == 0) return WW_OK;
    return ww_fail(
        error, WW_INPUT, p->workload,
        "launch %u (%.60s) has %s (%u, %u, %u), measured was (%u, %u, %u); expected the same launches",
        p->launch, p->kernel, what, recorded[0], recorded[1], recorded[2], measured[0], measured[1],
        measured[2]);
}

enum ww_code ww_estimate_of(const struct ww_result *r, const struct ww_measured_point *p, double *out,
                            struct ww_error *error) {
    bool known;
    if (p->launch == WW_ALL_LAUNCHES) {
        *out = run_value(r, p->metric, &known);
    } else {
        if (p->launch >= r->launch_count)
            return ww_fail(error, WW_INPUT, p->workload, "launch %u was measured, and the estimate has %zu",
                           p->launch, r->launch_count);
        const struct ww_launch_result *l = &r->launch[p->launch];
        if (p->kernel[0] && !same_kernel(p->kernel, l->kernel))
            return ww_fail(error, WW_INPUT, p->workload, "launch %u is of kernel %.60s, measured was %.60s",
                           p->launch, l->kernel, p->kernel);
        WW_TRY(same_size("the grid", p->grid, l->grid, p, error));
        WW_TRY(same_size("blocks of", p->block, l->block, p, error));
        *out = launch_value(l, p->metric, &known);
    }
    return known ? WW_OK
                 : ww_fail(error, WW_UNSUPPORTED, p->workload,
                           "%s was measured, and %s has no power table; give one with --power",
                           ww_metric_name(p->metric), r->gpu);
}

/* ---- recordings ---- */

static bool is_trace(const char *name) {
    size_t n = strlen(name);
    return n > 4 && strcmp(name + n - 4, ".wwt") == 0;
}

/* The target that suits the GPU, as docs/studies/gpus.md advises. */
static const char *target(const struct ww_gpu *gpu) {
    struct ww_param_view view;
    for (size_t i = 0; i < ww_gpu_param_count(); i++)
        if (ww_gpu_param(gpu, i, &view, NULL) == WW_OK && strcmp(view.key, "arch") == 0) {
            long capability = strncmp(view.value, "sm_", 3) == 0 ? strtol(view.value + 3, NULL, 10) : 70;
            return capability < 30 ? "sm_20" : capability < 70 ? "sm_52" : "sm_70";
        }
    return "sm_70";
}

/* Words "key=value" as a list; the texts lie in `copy`. */
static size_t split(char *copy, const char *word[WORDS_MOST]) {
    size_t n = 0;
    char *save = NULL;
    for (char *w = strtok_r(copy, " ", &save); w && n < WORDS_MOST; w = strtok_r(NULL, " ", &save))
        word[n++] = w;
    return n;
}

static enum ww_code record(const struct ww_correlate_options *o, const struct ww_measured_point *p,
                           const char *arch, const char *path, struct ww_error *error) {
    const char *word[WORDS_MOST];
    char *copy = strdup(p->parameters);
    if (!copy) return ww_fail_nomem(error, p->workload);
    struct ww_record_options options = {
        .out_path = path, .arch = arch, .seed = p->seed, .progress = o->progress, .context = o->context};
    struct ww_record_stats stats;
    enum ww_code code = ww_record_workload(p->workload, word, split(copy, word), &options, &stats, error);
    free(copy);
    return code;
}

/* The name contains all that the trace depends on. */
static void trace_name(const struct ww_measured_point *p, const char *arch, const char *dir, char *path,
                       size_t size) {
    char text[1024];
    int n = snprintf(text, sizeof text, "%s|%s|%" PRIu64 "|%s|" WW_VERSION, p->workload, p->parameters, p->seed,
                     arch);
    size_t length = n < 0 ? 0 : (size_t)n < sizeof text ? (size_t)n : sizeof text - 1;
    snprintf(path, size, "%.3000s/%.60s-%s-%016" PRIx64 ".wwt", dir, p->workload, arch,
             ww_hash_bytes(text, length, 0));
}

enum ww_code ww_estimate_run(const struct ww_correlate_options *o, const struct ww_gpu *gpu, const char *dir,
                             const struct ww_measured_point *p, struct ww_result **out,
                             struct ww_error *error) {
    char path[4096];
    *out = NULL;
    if (o->find) return o->find(o->find_context, p, out, error);
    if (is_trace(p->workload)) {
        snprintf(path, sizeof path, "%s", p->workload);
    } else {
        trace_name(p, target(gpu), dir, path, sizeof path);
        if (access(path, R_OK) != 0) WW_TRY(record(o, p, target(gpu), path, error));
    }
    struct ww_run_options run = {.gpu = gpu,
                                 .trace_path = path,
                                 .mechanisms = o->mechanisms,
                                 .mechanism_count = o->mechanism_count,
                                 .power_table = o->power_table,
                                 .cache_control = o->cache_control,
                                 .clock_control = o->clock_control,
                                 .progress = o->progress,
                                 .context = o->context};
    return ww_run(&run, out, error);
}
