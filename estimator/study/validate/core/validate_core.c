/* Suites "core" and "tensor": an SM in machine code of our own (reports/core.sass, reports/tensor.sass) against
 * published measurements: chains by class, units under load, register banks and operand caches, instruction
 * supply, constants, memory instructions and their dependence counters; matrix instructions by shape and type.
 */
#include "../../../api/gpu.h"
#include "../../../run/micro_bench.h"
#include "core_int.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define TOLERANCE 0.05
#define TOLERANCE_LATENCY 0.10 /* of matrix instructions */

enum { SETTINGS = 32 };

extern const char ww_core_sass[];
extern const size_t ww_core_sass_size;
extern const char ww_tensor_sass[];
extern const size_t ww_tensor_sass_size;

struct suite {
    struct ww_validation *v;
    const struct ww_validate_options *options;
    struct core_suite core;
    const char *name; /* of the listing */
    size_t done, all;
};

static bool goes_on(void *context, double part, uint64_t done, const char *unit) {
    struct suite *s = context;
    struct ww_error ignored;
    (void)part, (void)done, (void)unit;
    return ww_validate_step(s->options, s->done, s->all, &ignored) == WW_OK;
}

/* Cycles from the first timed instruction to the last one, of warp 0 in the run's turn. */
static double timed(const struct core_kernel *k, const struct core_run *run, const struct ww_bench_result *r) {
    uint64_t first = 0;
    uint32_t turn = 0;
    for (size_t i = 0; i < r->sample_count; i++) {
        const struct ww_bench_sample *x = &r->sample[i];
        if (x->warp != 0) continue;
        if (x->inst == k->first) first = x->cycle;
        if (x->inst == k->last && turn++ == run->of) return (double)(x->cycle - first);
    }
    return NAN;
}

static enum ww_code launch(struct ww_bench *bench, const struct core_kernel *k, const struct core_run *run,
                           uint32_t turns, struct ww_bench_result *r, struct ww_error *error) {
    size_t samples = run->more ? 0 : (size_t)turns * run->warps * (k->last - k->first + 1);
    struct ww_micro *micro;
    WW_TRY(ww_core_micro(k, run, turns, &micro, error));
    enum ww_code code = WW_OK;
    for (uint32_t i = 0; code == WW_OK && i < run->launch; i++)
        code = ww_bench_run(bench, micro, samples, r, error);
    ww_micro_free(micro);
    return code;
}

static enum ww_code measure_on(struct ww_bench *bench, const struct core_kernel *k, struct core_run *run,
                               struct ww_error *error) {
    struct ww_bench_result few, many;
    WW_TRY(launch(bench, k, run, run->turns, &few, error));
    if (!run->more) {
        run->ours = timed(k, run, &few) / run->per;
        return WW_OK;
    }
    uint64_t cycles = few.cycles;
    WW_TRY(ww_bench_reset(bench, error));
    WW_TRY(launch(bench, k, run, run->more, &many, error));
    run->ours = (double)(many.cycles - cycles) / (run->more - run->turns) / run->per;
    return WW_OK;
}

static enum ww_code measure(struct suite *s, const struct core_kernel *k, struct core_run *run,
                            struct ww_error *error) {
    const char *set[SETTINGS];
    struct ww_gpu *gpu;
    struct ww_bench *bench = NULL;
    size_t count = 0;
    for (uint32_t i = 0; i < run->gpu->count && count + 1 < SETTINGS; i++) set[count++] = run->gpu->set[i];
    if (!run->control) set[count++] = "core.dependences=scoreboard";
    WW_TRY(ww_gpu_load(run->gpu->base, set, count, &gpu, error));
    enum ww_code code = ww_bench_new(gpu, 1, &bench, error);
    if (code == WW_OK) {
        ww_bench_watch(bench, goes_on, s);
        code = measure_on(bench, k, run, error);
    }
    ww_bench_free(bench);
    ww_gpu_free(gpu);
    return code;
}

static enum ww_code add(struct suite *s, const struct core_run *run, struct ww_error *error) {
    const struct ww_target *t = ww_target_find(s->v, run->id);
    if (!t) return ww_fail(error, WW_INTERNAL, s->name, "no target \"%s\"", run->id);
    const char *what = ww_arena_printf(&s->v->arena, "%s, %s", t->machine, t->workload);
    if (!what) return ww_fail_nomem(error, s->v->suite);
    struct ww_validate_row row = {.id = t->id,
                                  .what = what,
                                  .ours = run->ours,
                                  .paper = t->value,
                                  .unit = t->unit,
                                  .test = WW_VALIDATE_RELATIVE,
                                  .tolerance =
                                      strcmp(t->metric, "latency") == 0 ? TOLERANCE_LATENCY : TOLERANCE};
    return ww_validate_add(s->v, &row, error);
}

static enum ww_code of_listing(struct ww_validation *v, const struct ww_validate_options *options,
                               const char *text, size_t size, const char *name, struct ww_error *error) {
    struct suite s = {.v = v, .options = options, .name = name};
    WW_TRY(ww_core_read(text, size, name, &v->arena, &s.core, error));
    for (uint32_t k = 0; k < s.core.kernel_count; k++) s.all += s.core.kernel[k].run_count;
    for (uint32_t k = 0; k < s.core.kernel_count; k++)
        for (uint32_t i = 0; i < s.core.kernel[k].run_count; i++) {
            struct core_run *run = &s.core.kernel[k].run[i];
            WW_TRY(measure(&s, &s.core.kernel[k], run, error));
            s.done++;
            WW_TRY(ww_validate_step(options, s.done, s.all, error));
            WW_TRY(add(&s, run, error));
        }
    return WW_OK;
}

enum ww_code ww_validate_suite_core(struct ww_validation *v, const struct ww_validate_options *options,
                                    struct ww_error *error) {
    return of_listing(v, options, ww_core_sass, ww_core_sass_size, "reports/core.sass", error);
}

enum ww_code ww_validate_suite_tensor(struct ww_validation *v, const struct ww_validate_options *options,
                                      struct ww_error *error) {
    return of_listing(v, options, ww_tensor_sass, ww_tensor_sass_size, "reports/tensor.sass", error);
}
