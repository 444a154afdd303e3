/* validate_analytic.c: the analytical model compared with full replays: errors with constants fitted without
 * the application, coverage of its intervals, ranks of 200 designs, points per second. The figures that it is
 * held to are aims of this project, not a publication's. */
#include "../../../api/gpu.h"
#include "../../../api/trace.h"
#include "../../../api/record.h"
#include "../../../api/run.h"
#include "../../../api/validate.h"
#include "../../../result/result.h"
#include "analytic_int.h"
#include "../../../base/rng.h"
#include "../../../base/tempfile.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define AIM_CYCLES 12.0 /* percent, mean absolute error */
#define AIM_POWER 10.0
#define AIM_RANK 0.9
#define AIM_FOUND 9.0 /* of the true ten best, among the best twenty */
#define AIM_POINTS 1e5
#define POINTS 200
#define PATH 256

static const struct machine {
    const char *gpu, *arch;
} machines[] = {{"gtx480", "sm_20"}, {"gtx980", "sm_52"}, {"v100", "sm_70"}, {"a100", "sm_70"}};
enum { MACHINES = sizeof machines / sizeof *machines };

/* Applications that stand for others: in place of all, with small inputs. */
static const char *const few[] = {"vectoradd", "reduction", "sgemm", "spmv", "kmeans", "stencil", "pathfinder"};
enum { FEW = sizeof few / sizeof *few };

struct suite {
    struct ww_validation *v;
    const struct ww_validate_options *options;
    struct analytic_table table;
    char dir[PATH];
    uint64_t done, all;
};

static void trace_path(const struct suite *s, const char *name, const char *arch, char out[PATH + 96]) {
    snprintf(out, PATH + 96, "%s/%s-%s.wwt", s->dir, name, arch);
}

static enum ww_code record(const struct suite *s, const char *name, const char *const *parameter, size_t count,
                           const char *arch, const char *path, struct ww_error *error) {
    struct ww_record_options o = {.out_path = path, .arch = arch};
    struct ww_record_stats stats;
    (void)s;
    return ww_record_workload(name, parameter, count, &o, &stats, error);
}

static enum ww_code replay(const struct ww_gpu *gpu, const char *path, double *cycles, double *energy,
                           double *seconds, struct ww_error *error) {
    struct ww_run_options o = {.gpu = gpu, .trace_path = path, .epoch_cycles = 1u << 30};
    struct ww_result *r;
    WW_TRY(ww_run(&o, &r, error));
    *cycles = (double)r->cycles;
    *energy = r->energy_known ? r->energy_j : NAN;
    *seconds = (double)r->time_ps * 1e-12;
    ww_result_free(r);
    return WW_OK;
}

static enum ww_code replay_on(struct suite *s, const char *name, const struct machine *m, const char *path,
                              struct ww_error *error) {
    struct ww_gpu *gpu;
    double cycles, energy, seconds;
    WW_TRY(ww_validate_step(s->options, s->done++, s->all, error));
    WW_TRY(ww_gpu_load(m->gpu, NULL, 0, &gpu, error));
    enum ww_code code = replay(gpu, path, &cycles, &energy, &seconds, error);
    ww_gpu_free(gpu);
    WW_TRY(code);
    return ww_analytic_add(&s->table, name, path, m->gpu, "", cycles, energy, error);
}

static enum ww_code application(struct suite *s, const char *name, struct ww_error *error) {
    const char *parameter[] = {s->options->small ? "size=small" : "size=default"};
    const char *arch = "";
    char path[PATH + 96];
    for (size_t i = 0; i < MACHINES; i++) {
        trace_path(s, name, machines[i].arch, path);
        if (strcmp(arch, machines[i].arch) != 0)
            WW_TRY(record(s, name, parameter, 1, machines[i].arch, path, error));
        arch = machines[i].arch;
        WW_TRY(replay_on(s, name, &machines[i], path, error));
    }
    return WW_OK;
}

/* ---- rows ---- */

static enum ww_code add(struct suite *s, const char *id, const char *what, double ours, double aim,
                        enum ww_validate_test test, const char *unit, struct ww_error *error) {
    struct ww_validate_row row = {.id = id,
                                  .what = what,
                                  .ours = ours,
                                  .paper = aim,
                                  .unit = unit,
                                  .test = test,
                                  .why =
                                      isnan(aim) ? "" : "an aim of this project in place of a paper's figure"};
    return ww_validate_add(s->v, &row, error);
}

static enum ww_code add_cases(struct suite *s, struct ww_error *error) {
    for (size_t i = 0; i < s->table.cases.count; i++) {
        const struct analytic_case *c = &s->table.cases.row[i];
        char id[160], what[200];
        snprintf(id, sizeof id, "analytic-%s-%s", c->gpu, c->application);
        snprintf(what, sizeof what, "%s, %s: cycles of the model less the replay's", c->gpu, c->application);
        WW_TRY(add(s, id, what, 100 * (c->own_cycles / c->cycles - 1), NAN, WW_VALIDATE_AT_MOST, "%", error));
    }
    return WW_OK;
}

static enum ww_code add_summary(struct suite *s, const char *gpu, struct ww_error *error) {
    struct analytic_summary sum;
    char id[96], what[160];
    const char *name = gpu ? gpu : "all";
    WW_TRY(ww_analytic_sum_up(&s->table.cases, gpu, 0.95, &sum, error));
    const struct {
        const char *metric, *text;
        double ours, aim;
    } row[] = {{"cycles", "mean absolute error of cycles", 100 * sum.cycles, AIM_CYCLES},
               {"power", "mean absolute error of average power", 100 * sum.power, AIM_POWER},
               {"bias", "mean error of cycles", 100 * sum.bias, NAN},
               {"covered-cycles", "replays in the 95 % interval of cycles", 100 * sum.covered_cycles, NAN},
               {"covered-energy", "replays in the 95 % interval of energy", 100 * sum.covered_energy, NAN}};
    for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
        snprintf(id, sizeof id, "analytic-%s-%s", row[i].metric, name);
        snprintf(what, sizeof what, "%s: %s", name, row[i].text);
        WW_TRY(add(s, id, what, row[i].ours, gpu ? NAN : row[i].aim, WW_VALIDATE_AT_MOST, "%", error));
    }
    return WW_OK;
}

/* ---- 200 designs ---- */

/* A design is one value of each of these, drawn at random. */
static const struct {
    const char *key;
    unsigned levels, level[5];
} space[] = {{"sm.count", 5, {6, 9, 12, 15, 20}},          {"clock.sm_mhz", 4, {900, 1150, 1400, 1700}},
             {"clock.dram_mhz", 4, {500, 700, 924, 1200}}, {"l2.size_kb", 4, {384, 768, 1536, 3072}},
             {"clock.l2_mhz", 3, {500, 700, 1000}},        {"lsu.lanes", 3, {8, 16, 32}},
             {"pipe.fp32.latency", 3, {8, 14, 22}},        {"l1.mshrs", 3, {16, 32, 64}}};
enum { KEYS = sizeof space / sizeof *space };

static const struct ranked_workload {
    const char *name, *parameter[3];
    size_t parameters;
} ranked[] = {{"kmeans", {"n=20000"}, 1},     {"stencil", {"nx=64", "ny=32", "nz=24"}, 3},
              {"spmv", {"rows=20000"}, 1},    {"sgemm", {"m=160", "n=160", "k=64"}, 3},
              {"reduction", {"n=200000"}, 1}, {"transpose", {"rows=320", "cols=320"}, 2},
              {"vectoradd", {"n=150000"}, 1}, {"histogram", {"n=150000"}, 1},
              {"srad", {"size=small"}, 1},    {"convolution", {"width=128", "height=448"}, 2}};
enum { RANKED = sizeof ranked / sizeof *ranked };

static void draw(struct ww_rng *rng, char text[KEYS][48], const char *list[KEYS]) {
    for (size_t k = 0; k < KEYS; k++) {
        unsigned v = space[k].level[ww_rng_below(rng, space[k].levels)];
        snprintf(text[k], 48, "%s=%u", space[k].key, v);
        list[k] = text[k];
    }
}

/* Constants that know nothing of the application: fitted to the others' cases. */
static struct ww_model_constants without(const struct analytic_cases *cases, const char *application) {
    struct ww_model_constants k = ww_model_start;
    for (size_t i = 0; i < cases->count; i++)
        if (strcmp(cases->row[i].application, application) == 0) {
            ww_analytic_fit(cases, cases->row[i].number, &k);
            return k;
        }
    return ww_model_default;
}

/* One design's time by replay and by the model. */
static enum ww_code design(const struct ww_model *model, const struct ww_model_constants *k, const char *path,
                           const char *const *set, double *truth, double *guess, struct ww_error *error) {
    struct ww_gpu *gpu;
    double cycles, energy;
    WW_TRY(ww_gpu_load("gtx480", set, KEYS, &gpu, error));
    struct analytic_case c = {.model = model, .spec = &gpu->spec};
    enum ww_code code = replay(gpu, path, &cycles, &energy, truth, error);
    if (code == WW_OK) code = ww_analytic_estimate(&c, k, guess, NULL, error);
    *guess /= gpu->spec.clock_sm_mhz;
    ww_gpu_free(gpu);
    return code;
}

static enum ww_code rank_designs(struct suite *s, const struct ranked_workload *w, const struct ww_model *model,
                                 const char *path, struct ww_error *error) {
    double truth[POINTS], guess[POINTS], rho, lost;
    char text[KEYS][48], id[96], what[160];
    const char *list[KEYS];
    size_t points = s->options->small ? 40 : POINTS, found;
    const struct ww_model_constants k = without(&s->table.cases, w->name);
    struct ww_rng rng;
    ww_rng_seed(&rng, 1);
    for (size_t i = 0; i < points; i++) {
        WW_TRY(ww_validate_step(s->options, s->done++, s->all, error));
        draw(&rng, text, list);
        WW_TRY(design(model, &k, path, list, &truth[i], &guess[i], error));
    }
    WW_TRY(ww_analytic_rank(truth, guess, points, &rho, error));
    WW_TRY(ww_analytic_found(truth, guess, points, 10, 20, &found, error));
    snprintf(id, sizeof id, "analytic-rank-%s", w->name);
    snprintf(what, sizeof what, "%s, %zu designs: rank correlation of times", w->name, points);
    WW_TRY(add(s, id, what, rho, AIM_RANK, WW_VALIDATE_AT_LEAST, "", error));
    snprintf(id, sizeof id, "analytic-best-%s", w->name);
    snprintf(what, sizeof what, "%s: of the ten best designs, among the model's twenty", w->name);
    WW_TRY(add(s, id, what, (double)found, AIM_FOUND, WW_VALIDATE_AT_LEAST, "", error));
    WW_TRY(ww_analytic_lost(truth, guess, points, 20, &lost, error));
    snprintf(id, sizeof id, "analytic-lost-%s", w->name);
    snprintf(what, sizeof what, "%s: the fastest of the model's twenty over the fastest of all", w->name);
    return add(s, id, what, 100 * lost, NAN, WW_VALIDATE_AT_MOST, "%", error);
}

static bool goes_on(void *context, double part, uint64_t done, const char *unit) {
    (void)part, (void)done, (void)unit;
    return ww_validate_step(context, 0, 0, NULL) == WW_OK;
}

static enum ww_code rank_workload(struct suite *s, const struct ranked_workload *w, struct ww_error *error) {
    char path[PATH + 96], name[64];
    struct ww_trace *trace;
    struct ww_model_profile profile;
    struct ww_model model;
    snprintf(name, sizeof name, "rank-%s", w->name);
    trace_path(s, name, "sm_20", path);
    WW_TRY(record(s, w->name, w->parameter, w->parameters, "sm_20", path, error));
    WW_TRY(ww_trace_open(path, &trace, error));
    enum ww_code code = ww_model_profile_make(trace, goes_on, (void *)(uintptr_t)s->options, &profile, error);
    ww_trace_close(trace);
    WW_TRY(code);
    code = ww_model_new(&profile, NULL, &model, error);
    if (code == WW_OK) code = rank_designs(s, w, &model, path, error);
    ww_model_free(&model);
    ww_model_profile_free(&profile);
    return code;
}

/* ---- speed ---- */

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

/* Launches on design points a second of processor time, over all cases, cycles and events. */
static enum ww_code add_speed(struct suite *s, struct ww_error *error) {
    double began = now(), launches = 0, cycles;
    do {
        for (size_t i = 0; i < s->table.cases.count; i++) {
            const struct analytic_case *c = &s->table.cases.row[i];
            WW_TRY(ww_analytic_estimate(c, &ww_model_default, &cycles, NULL, error));
            launches += (double)c->model->count;
        }
    } while (now() - began < 0.2);
    return add(s, "analytic-speed", "launches on design points a second, one core", launches / (now() - began),
               AIM_POINTS, WW_VALIDATE_AT_LEAST, "1/s", error);
}

/* ---- the suite ---- */

static enum ww_code measure(struct suite *s, struct ww_error *error) {
    size_t applications = s->options->small ? FEW : ww_workload_count(),
           designs = s->options->small ? 2 : RANKED;
    s->all = applications * MACHINES + designs * (s->options->small ? 40 : POINTS);
    for (size_t i = 0; i < applications; i++) {
        struct ww_workload_view view = {.name = s->options->small ? few[i] : NULL};
        if (!view.name) WW_TRY(ww_workload(i, &view, error));
        if (view.arch) { /* most of the machines cannot run it */
            s->done += MACHINES;
            continue;
        }
        WW_TRY(application(s, view.name, error));
    }
    ww_analytic_table_bind(&s->table);
    WW_TRY(ww_analytic_leave_out(&s->table.cases, NULL, error));
    WW_TRY(add_cases(s, error));
    for (size_t i = 0; i <= MACHINES; i++) WW_TRY(add_summary(s, i < MACHINES ? machines[i].gpu : NULL, error));
    for (size_t i = 0; i < designs; i++) WW_TRY(rank_workload(s, &ranked[i], error));
    return add_speed(s, error);
}

enum ww_code ww_validate_suite_analytic(struct ww_validation *v, const struct ww_validate_options *options,
                                        struct ww_error *error) {
    static const struct ww_validate_options none = {.jobs = 1};
    struct suite s = {.v = v, .options = options ? options : &none};
    struct ww_temp folder;
    WW_TRY(ww_temp_folder(&folder, error));
    enum ww_code code = snprintf(s.dir, sizeof s.dir, "%s", folder.path) < (int)sizeof s.dir
                            ? measure(&s, error)
                            : ww_fail(error, WW_IO, folder.path, "the path is too long");
    ww_temp_remove(&folder);
    ww_analytic_table_free(&s.table);
    return code;
}
