/* One workload on one GPU: a full replay, and samples by many seeds against it. */
#include "../../../api/gpu.h"
#include "../../../api/record.h"
#include "../../../api/run.h"
#include "../../../api/validate.h"
#include "../../../result/result.h"
#include "../../../base/tempfile.h"
#include "../../../run/run_sample.h"
#include "sampling_int.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define TARGET 0.03
#define CONFIDENCE 0.95

/* The caller's progress function, which may stop the work. */
struct asked {
    ww_progress_fn progress;
    void *context;
};

/* A design: its full replay, and its sampler. */
struct design {
    struct ww_run_options options;
    struct ww_gpu *gpu;
    const char *mechanism[1];
    struct ww_result *full;
    struct run run;
    struct ww_sampler sampler;
    bool open;
};

static enum ww_code open_design(struct design *d, const char *gpu, const char *mechanism, const char *trace,
                                const struct asked *asked, struct ww_error *error) {
    WW_TRY(ww_gpu_load(gpu, NULL, 0, &d->gpu, error));
    d->mechanism[0] = mechanism;
    d->options = (struct ww_run_options){.gpu = d->gpu,
                                         .trace_path = trace,
                                         .mechanisms = d->mechanism,
                                         .mechanism_count = mechanism != NULL,
                                         .progress = asked->progress,
                                         .context = asked->context};
    WW_TRY(ww_run(&d->options, &d->full, error));
    WW_TRY(ww_run_open(&d->options, &d->run, error));
    d->open = true;
    return ww_sampler_begin(&d->run, &d->sampler, error);
}

static void close_design(struct design *d) {
    if (d->open) ww_run_close(&d->run, true);
    ww_result_free(d->full);
    ww_gpu_free(d->gpu);
}

static double whole_of(const struct design *d, bool energy) {
    return energy ? d->full->energy_j : (double)d->full->cycles;
}

/* The sample's rows, as ww_sample_ratio reads them; their memory is the run's. */
static enum ww_code rows_of(struct design *d, const struct ww_estimate *e, struct ww_sampling *out,
                            struct ww_error *error) {
    const struct ww_frame *f = &d->sampler.frame;
    *out = (struct ww_sampling){.strata = f->strata,
                                .bias_cycles = e->bias[WW_MEASURE_CYCLES],
                                .bias_energy = e->bias[WW_MEASURE_JOULES]};
    out->row = ww_arena_array(d->run.arena, e->drawn, sizeof *out->row);
    if (!out->row) return ww_fail_nomem(error, "a sample");
    for (size_t i = 0; i < f->count; i++)
        if (e->measure[i].there)
            out->row[out->row_count++] =
                (struct ww_sample_row){.launch = f->unit[i].launch,
                                       .kind = f->unit[i].kind,
                                       .first_cta = f->unit[i].first,
                                       .end_cta = f->unit[i].end,
                                       .stratum = f->unit[i].stratum,
                                       .population = f->stratum[f->unit[i].stratum].count,
                                       .instructions = e->measure[i].instructions,
                                       .cycles = e->measure[i].y[WW_MEASURE_CYCLES],
                                       .energy_j = e->measure[i].y[WW_MEASURE_JOULES]};
    return WW_OK;
}

static enum ww_code compare(struct design *a, const struct ww_estimate *ea, struct design *b, uint64_t seed,
                            struct sampling_draw *out, struct ww_error *error) {
    struct ww_estimate eb;
    struct ww_sampling x, y;
    struct ww_sample_ratio ratio;
    WW_TRY(ww_sampler_draw(&b->sampler, seed, TARGET, CONFIDENCE, &eb, error));
    if (ea->all || eb.all) return WW_OK;
    WW_TRY(rows_of(a, ea, &x, error));
    WW_TRY(rows_of(b, &eb, &y, error));
    WW_TRY(ww_sample_ratio(&x, &y, false, CONFIDENCE, &ratio, error));
    double is = whole_of(a, false) / whole_of(b, false);
    out->paired = ratio.known;
    out->pair_covers = ratio.lo <= is && is <= ratio.hi;
    out->pair_error = fabs(ratio.ratio / is - 1);
    out->pair_half = (ratio.hi - ratio.lo) / 2 / ratio.ratio;
    return WW_OK;
}

static enum ww_code draw(struct design *d, struct design *other, uint64_t seed, struct sampling_draw *out,
                         struct ww_error *error) {
    struct ww_estimate e;
    WW_TRY(ww_sampler_draw(&d->sampler, seed, TARGET, CONFIDENCE, &e, error));
    *out = (struct sampling_draw){.all = e.all, .share = e.replayed / d->sampler.frame.instructions};
    for (int k = 0; k < 2 && !e.all; k++) {
        int m = k ? WW_MEASURE_JOULES : WW_MEASURE_CYCLES;
        double is = whole_of(d, k);
        out->covers[k] = e.lo[m] <= is && is <= e.hi[m];
        out->varies[k] = e.variance[m][m] > 2 * e.warm * e.total[m] * e.total[m];
        out->error[k] = e.total[m] / is - 1;
        out->half[k] = (e.hi[m] - e.lo[m]) / 2 / e.total[m];
    }
    return other ? compare(d, &e, other, seed, out, error) : WW_OK;
}

static enum ww_code record(const struct sampling_pair *pair, const char *path, const struct asked *asked,
                           struct ww_error *error) {
    struct ww_gpu *gpu;
    size_t count = 0;
    WW_TRY(ww_gpu_load(pair->gpu, NULL, 0, &gpu, error));
    const char *arch = gpu->spec.arch;
    struct ww_record_options o = {.out_path = path,
                                  .arch = arch[0] ? arch : NULL,
                                  .progress = asked->progress,
                                  .context = asked->context};
    while (count < SAMPLING_PARAMETERS && pair->workload->parameter[count]) count++;
    enum ww_code code =
        ww_record_workload(pair->workload->name, pair->workload->parameter, count, &o, NULL, error);
    ww_gpu_free(gpu);
    return code;
}

static enum ww_code replay(struct sampling_pair *pair, const char *path, const struct asked *asked,
                           struct ww_error *error) {
    struct design a = {0}, b = {0};
    enum ww_code code = record(pair, path, asked, error);
    if (code == WW_OK) code = open_design(&a, pair->gpu, NULL, path, asked, error);
    if (code == WW_OK && pair->other) code = open_design(&b, pair->gpu, pair->other, path, asked, error);
    for (size_t i = 0; i < pair->seeds && code == WW_OK; i++)
        code = draw(&a, pair->other ? &b : NULL, i + 1, &pair->draw[i], error);
    if (code == WW_OK) pair->instructions = a.full->warp_instructions;
    close_design(&a);
    close_design(&b);
    return code;
}

enum ww_code ww_sampling_measure(struct sampling_pair *pair, ww_progress_fn progress, void *context,
                                 struct ww_error *error) {
    const struct asked asked = {progress, context};
    struct ww_temp folder;
    char path[256];
    WW_TRY(ww_temp_folder(&folder, error));
    enum ww_code code = snprintf(path, sizeof path, "%s/trace.wwt", folder.path) < (int)sizeof path
                            ? replay(pair, path, &asked, error)
                            : ww_fail(error, WW_IO, folder.path, "the path is too long");
    ww_temp_remove(&folder);
    return code;
}
