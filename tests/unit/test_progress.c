/* Progress weighs work by what it costs the host, and tells of a trace as a whole. */
#include "../../estimator/run/run_int.h"
#include "../../estimator/api/gpu.h"
#include "../../estimator/api/record.h"
#include "../../estimator/api/run.h"
#include "../../estimator/fast/profile_file.h"
#include "wwt_fixture.h"
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

static struct ww_error error;
static struct ww_arena arena;

static const char *recorded(const char *workload, const char *parameter) {
    const char *path = ww_made_path(&arena, workload);
    const struct ww_record_options o = {.out_path = path, .arch = "sm_70"};
    struct ww_record_stats stats;
    assert_int_equal(ww_record_workload(workload, &parameter, 1, &o, &stats, &error), WW_OK);
    return path;
}

/* Arithmetic in shared memory, then strided stores, of about as many instructions. */
static const char *two_launches(uint64_t instructions[2]) {
    const char *part[2] = {recorded("sgemm", "size=small"), recorded("transpose", "rows=512")};
    const char *both = ww_made_path(&arena, "both");
    struct ww_trace *t[2];
    for (int i = 0; i < 2; i++) {
        const struct ww_launch *l;
        assert_int_equal(ww_trace_open(part[i], &t[i], &error), WW_OK);
        assert_int_equal(ww_trace_launch(t[i], 0, &l, &error), WW_OK);
        instructions[i] = l->warp_instructions;
    }
    assert_int_equal(ww_trace_merge(t, 2, both, NULL, NULL, &error), WW_OK);
    for (int i = 0; i < 2; i++) ww_trace_close(t[i]);
    return both;
}

struct seen {
    uint64_t first; /* instructions of the first launch */
    double part, last;
    unsigned falls, unknown;
};

static bool watch(void *context, double part, uint64_t done, const char *unit) {
    struct seen *s = context;
    (void)unit;
    if (part < 0) s->unknown++;
    if (part < s->last || part > 1) s->falls++;
    if (done == s->first && !(s->part > 0)) s->part = part;
    s->last = part;
    return true;
}

static void a_launch_that_goes_to_memory_weighs_more(void **state) {
    (void)state;
    uint64_t n[2];
    const char *trace = two_launches(n);
    struct seen seen = {.first = n[0]};
    struct ww_gpu *gpu;
    struct ww_result *result;
    assert_int_equal(ww_gpu_load("v100", NULL, 0, &gpu, &error), WW_OK);
    const struct ww_run_options o = {
        .gpu = gpu, .trace_path = trace, .mode = "full", .progress = watch, .context = &seen, .weigh = true};
    assert_int_equal(ww_run(&o, &result, &error), WW_OK);
    ww_result_free(result);
    ww_gpu_free(gpu);
    double weight = (1 - seen.part) / seen.part, count = (double)n[1] / (double)n[0];
    if (!(weight > 1.5 * count)) fail_msg("%g times as much work, %g times the instructions", weight, count);
    assert_int_equal(seen.falls, 0);
}

/* CTAs whose first half of instructions costs nine tenths: all of one wave, and the last of many. */
static void the_part_of_a_launch_follows_its_ctas_curve(void **state) {
    (void)state;
    struct ww_run_cost c = {.cost = 1, .resident = 1};
    for (int i = 0; i < WW_RUN_CURVE; i++) {
        double t = (i + 1.0) / WW_RUN_CURVE;
        c.steps[i] = t;
        c.spent[i] = t < 0.5 ? 1.8 * t : 0.9 + 0.2 * (t - 0.5);
    }
    assert_true(fabs(ww_run_part_of_launch(&c, 0.25, 0) - 0.45) < 1e-9);
    assert_true(fabs(ww_run_part_of_launch(&c, 0.5, 0) - 0.9) < 1e-9);
    assert_true(fabs(ww_run_part_of_launch(&c, 1, 0) - 1) < 1e-9);
    assert_true(fabs(ww_run_part_of_launch(&c, 1, 1) - 1) < 1e-9);
    c.resident = 0.1;
    assert_true(fabs(ww_run_part_of_launch(&c, 0.55, 0.5) - 0.59) < 1e-9);
}

struct sample_seen {
    double part, least;
    uint64_t done;
    unsigned known, backwards;
};

static bool watch_sample(void *context, double part, uint64_t done, const char *unit) {
    struct sample_seen *s = context;
    if (part < 0) return true; /* before there is a plan */
    if (s->known++ && (done < s->done || strcmp(unit, "warp instructions") != 0)) s->backwards++;
    if (s->known == 1) s->least = part;
    s->part = part;
    s->done = done;
    return true;
}

/* The plan of its sample is known before the first unit is replayed, and ends where the run ends. */
static void a_sampled_run_knows_how_far_it_is(void **state) {
    (void)state;
    static const char *const parameter[] = {"size=small", "iterations=20"};
    const char *path = ww_made_path(&arena, "sampled");
    const struct ww_record_options record = {.out_path = path, .arch = "sm_70"};
    struct ww_record_stats stats;
    struct sample_seen seen = {0};
    struct ww_gpu *gpu;
    struct ww_result *result;
    assert_int_equal(ww_record_workload("kmeans", parameter, 2, &record, &stats, &error), WW_OK);
    assert_int_equal(ww_gpu_load("v100", NULL, 0, &gpu, &error), WW_OK);
    const struct ww_run_options o = {.gpu = gpu,
                                     .trace_path = path,
                                     .mode = "sampled",
                                     .target_error = 0.2,
                                     .progress = watch_sample,
                                     .context = &seen,
                                     .weigh = true};
    assert_int_equal(ww_run(&o, &result, &error), WW_OK);
    assert_true(result->sampling.drawn < result->sampling.units);
    ww_result_free(result);
    ww_gpu_free(gpu);
    assert_true(seen.known > 4 && seen.least < 0.2 && seen.part > 0.7 && seen.part <= 1);
    assert_int_equal(seen.backwards, 0);
}

static void a_profile_has_one_bar_for_all_launches(void **state) {
    (void)state;
    uint64_t n[2];
    const char *path = two_launches(n);
    struct ww_model_profile profile;
    struct ww_trace *trace;
    struct seen seen = {.first = n[0]};
    assert_int_equal(ww_trace_open(path, &trace, &error), WW_OK);
    assert_int_equal(ww_model_profile_make(trace, watch, &seen, &profile, &error), WW_OK);
    ww_model_profile_free(&profile);
    ww_trace_close(trace);
    assert_int_equal(seen.unknown, 0);
    assert_int_equal(seen.falls, 0);
    assert_true(seen.part > 0);
}

static int begin(void **state) {
    (void)state;
    ww_arena_init(&arena, 0);
    return 0;
}

static int end(void **state) {
    (void)state;
    ww_made_clean();
    ww_arena_free(&arena);
    return 0;
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(a_launch_that_goes_to_memory_weighs_more),
                                       cmocka_unit_test(the_part_of_a_launch_follows_its_ctas_curve),
                                       cmocka_unit_test(a_sampled_run_knows_how_far_it_is),
                                       cmocka_unit_test(a_profile_has_one_bar_for_all_launches)};
    return cmocka_run_group_tests(tests, begin, end);
}
