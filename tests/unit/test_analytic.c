/* The analytical model: distances, critical paths, stored profiles, what points depend on, its own error. */
#include "../../estimator/warpwatt.h"
#include "../../estimator/fast/model_error.h"
#include "../../estimator/fast/profile_file.h"
#include "../../estimator/fast/profile_path.h"
#include "../../estimator/fast/profile_stack.h"
#include "../../estimator/fast/profile_walk.h"
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

static char path[] = "/tmp/warpwatt-analytic-XXXXXX.wwt";
static char stored[sizeof path + 16];
static struct ww_error error;

/* ---- distances ---- */

static void a_cycle_of_lines_has_the_distance_of_the_others(void **state) {
    (void)state;
    struct ww_stack *s = ww_stack_new();
    struct ww_stack_use use;
    for (int pass = 0; pass < 3; pass++)
        for (uint64_t line = 0; line < 1000; line++) {
            assert_true(ww_stack_use(s, line, 1, false, &use));
            assert_true(pass ? use.line == 999 && use.sector[0] == 999 : use.line >= WW_STACK_NEVER);
        }
    ww_stack_free(s);
}

static void a_sector_has_the_largest_distance_since_it_was_used(void **state) {
    (void)state;
    struct ww_stack *s = ww_stack_new();
    struct ww_stack_use use;
    ww_stack_use(s, 1, 3, false, &use);
    for (uint64_t line = 10; line < 60; line++) ww_stack_use(s, line, 1, false, &use);
    ww_stack_use(s, 1, 2, false, &use); /* sector 1 after 50 others */
    assert_true(use.line == 50 && use.sector[1] == 50);
    ww_stack_use(s, 2, 1, false, &use);
    ww_stack_use(s, 1, 1, false, &use); /* the line after 1, its sector 0 not for 50 */
    assert_true(use.line == 1 && use.sector[0] == 50);
    ww_stack_use(s, 1, 4, false, &use);
    assert_true(use.line == 0 && use.sector[2] >= WW_STACK_NEVER);
    ww_stack_free(s);
}

static void sampled_lines_keep_distances(void **state) {
    (void)state;
    enum { LINES = 300000 };
    struct ww_stack *s = ww_stack_new();
    struct ww_stack_use use;
    double weight = 0, sum = 0;
    for (int pass = 0; pass < 2; pass++)
        for (uint64_t line = 0; line < LINES; line++)
            if (ww_stack_use(s, line, 1, false, &use) && pass) {
                weight += use.weight;
                sum += use.weight * use.line;
            }
    assert_true(fabs(weight / LINES - 1) < 0.05);
    assert_true(fabs(sum / weight / LINES - 1) < 0.05);
    ww_stack_free(s);
}

/* ---- paths: load r1; r2 = r1 + r1; r3 = r0 + r0 by hand ---- */

static struct ww_inst inst[] = {
    {.op = WW_OP_LOAD,
     .space = WW_SPACE_GLOBAL,
     .width = 4,
     .flags = WW_INST_ACCESS,
     .dst_count = 1,
     .dst = {{1, 1}}},
    {.op = WW_OP_INT, .src_count = 1, .src = {{1, 1}}, .dst_count = 1, .dst = {{2, 1}}},
    {.op = WW_OP_INT, .src_count = 1, .src = {{0, 1}}, .dst_count = 1, .dst = {{3, 1}}},
    {.op = WW_OP_INT, .src_count = 1, .src = {{2, 1}}, .dst_count = 1, .dst = {{4, 1}}},
    {.op = WW_OP_BARRIER},
};
static const struct ww_launch by_hand = {.inst = inst, .inst_count = 5, .warps_per_cta = 2, .cta_count = 1};

static double path_of(const uint32_t *order, uint32_t n, uint32_t warps, double memory,
                      double steps[WW_PATH_COUNT]) {
    struct ww_step step[16];
    struct ww_access access[16] = {{.base = 0, .stride = 4, .list = WW_AFFINE}};
    struct ww_warp_stream stream[2] = {{.step = step, .access = access, .step_count = n, .access_count = 1},
                                       {.step = &step[n - 1], .access = access, .step_count = 1}};
    struct ww_cta_trace cta = {.warp_count = warps, .warp = stream};
    struct ww_path_latency l = {{0}};
    for (uint32_t i = 0; i < n; i++) step[i] = (struct ww_step){order[i], UINT32_MAX};
    l.of[WW_PATH_ISSUE] = 1;
    l.of[WW_PATH_INT] = 4;
    l.of[WW_PATH_MEMORY] = memory;
    l.of[WW_PATH_BARRIER] = 10;
    struct ww_path *p = ww_path_new(&by_hand);
    double cycles = ww_path_longest(p, &cta, &l, steps);
    ww_path_free(p);
    return cycles;
}

static void a_dependence_waits_for_its_producer(void **state) {
    (void)state;
    static const uint32_t chain[] = {0, 1, 3}; /* load, its use, the use's use */
    double steps[WW_PATH_COUNT];
    double cycles = path_of(chain, 3, 1, 100, steps);
    assert_true(cycles == 1 + 100 + 4 && steps[WW_PATH_MEMORY] == 1 && steps[WW_PATH_INT] == 1);
}

static void independent_instructions_hide_latency(void **state) {
    (void)state;
    static const uint32_t hidden[] = {0, 2, 2, 2, 2, 2, 1}; /* five others between the load and its use */
    double steps[WW_PATH_COUNT];
    /* the write-after-write of r3 costs 4 each: the load of 3 cycles is there long before its use */
    path_of(hidden, 7, 1, 3, steps);
    assert_true(steps[WW_PATH_MEMORY] == 0 && steps[WW_PATH_INT] == 4);
    path_of(hidden, 7, 1, 500, steps);
    assert_true(steps[WW_PATH_MEMORY] == 1 && steps[WW_PATH_INT] == 0);
}

static void a_barrier_opens_for_the_last_warp(void **state) {
    (void)state;
    static const uint32_t late[] = {0, 1, 4};
    double steps[WW_PATH_COUNT];
    double cycles = path_of(late, 3, 2, 100, steps);
    assert_true(cycles == 1 + 100 + 1 + 10 && steps[WW_PATH_BARRIER] == 1);
}

static void planes_support_the_path_from_below(void **state) {
    (void)state;
    static const uint32_t hidden[] = {0, 2, 2, 2, 2, 2, 1};
    double near[WW_PATH_COUNT], far[WW_PATH_COUNT], own[WW_PATH_COUNT];
    path_of(hidden, 7, 1, 3, near);
    path_of(hidden, 7, 1, 500, far);
    for (double memory = 1; memory < 600; memory += 7) {
        double l[WW_PATH_COUNT] = {[WW_PATH_ISSUE] = 1, [WW_PATH_INT] = 4, [WW_PATH_MEMORY] = memory};
        double a = 0, b = 0, cycles = path_of(hidden, 7, 1, memory, own);
        for (int c = 0; c < WW_PATH_COUNT; c++) {
            a += near[c] * l[c];
            b += far[c] * l[c];
        }
        assert_true((a > b ? a : b) == cycles); /* two planes are all that this function has */
    }
}

/* ---- profiles ---- */

static struct ww_model_profile make(void) {
    struct ww_trace *trace;
    struct ww_model_profile p;
    assert_int_equal(ww_trace_open(path, &trace, &error), WW_OK);
    assert_int_equal(ww_model_profile_make(trace, NULL, NULL, &p, &error), WW_OK);
    ww_trace_close(trace);
    return p;
}

static void counts_are_those_of_the_trace(void **state) {
    (void)state;
    struct ww_trace *trace;
    const struct ww_launch *launch;
    struct ww_model_profile p = make();
    assert_int_equal(ww_trace_open(path, &trace, &error), WW_OK);
    assert_int_equal(p.count, ww_trace_launch_count(trace));
    for (size_t i = 0; i < p.count; i++) {
        assert_int_equal(ww_trace_launch(trace, i, &launch, &error), WW_OK);
        assert_int_equal(p.launch[i].warp_instructions, launch->warp_instructions);
        assert_int_equal(p.launch[i].thread_instructions, launch->thread_instructions);
        assert_int_equal(p.launch[i].ctas, launch->cta_count);
    }
    ww_trace_close(trace);
    ww_model_profile_free(&p);
}

static void a_profile_is_read_as_it_was_written(void **state) {
    (void)state;
    struct ww_model_profile p = make(), q;
    struct ww_buf a = {0}, b = {0};
    assert_int_equal(ww_model_profile_print(&p, &a, &error), WW_OK);
    assert_int_equal(ww_model_profile_parse(a.p, a.n, "x", &q, &error), WW_OK);
    assert_int_equal(ww_model_profile_print(&q, &b, &error), WW_OK);
    assert_true(a.n == b.n && memcmp(a.p, b.p, a.n) == 0);
    assert_string_equal(p.hash, q.hash);
    assert_memory_equal(p.launch, q.launch, p.count * sizeof *p.launch);
    ww_buf_free(&a);
    ww_buf_free(&b);
    ww_model_profile_free(&p);
    ww_model_profile_free(&q);
}

static void a_damaged_profile_is_refused_wherever_it_is_damaged(void **state) {
    (void)state;
    struct ww_model_profile p = make(), q;
    struct ww_buf a = {0};
    assert_int_equal(ww_model_profile_print(&p, &a, &error), WW_OK);
    for (size_t i = 0; i < a.n; i += 1 + a.n / 500) {
        a.p[i] ^= 0x10;
        assert_int_equal(ww_model_profile_parse(a.p, a.n, "x", &q, &error), WW_INPUT);
        a.p[i] ^= 0x10;
    }
    for (size_t n = 0; n < a.n; n += 1 + a.n / 100)
        assert_int_equal(ww_model_profile_parse(a.p, n, "x", &q, &error), WW_INPUT);
    ww_buf_free(&a);
    ww_model_profile_free(&p);
}

static void a_stored_profile_is_used_and_a_damaged_one_made_anew(void **state) {
    (void)state;
    struct ww_trace *trace;
    struct ww_model_profile p;
    struct ww_error made;
    assert_int_equal(ww_trace_open(path, &trace, &error), WW_OK);
    remove(stored);
    assert_int_equal(ww_model_profile_of(trace, path, NULL, NULL, &p, &made, &error), WW_OK);
    assert_int_equal(made.code, WW_IO);
    ww_model_profile_free(&p);
    assert_int_equal(ww_model_profile_of(trace, path, NULL, NULL, &p, &made, &error), WW_OK);
    assert_int_equal(made.code, WW_OK);
    ww_model_profile_free(&p);
    assert_int_equal(truncate(stored, 1000), 0);
    assert_int_equal(ww_model_profile_of(trace, path, NULL, NULL, &p, &made, &error), WW_OK);
    assert_int_equal(made.code, WW_INPUT);
    ww_model_profile_free(&p);
    assert_int_equal(ww_model_profile_load(stored, &p, &error), WW_OK);
    ww_model_profile_free(&p);
    ww_trace_close(trace);
}

/* ---- points ---- */

static double cycles_on(const struct ww_model_profile *p, const char *gpu_name, const char *set, double *dram) {
    struct ww_gpu *gpu;
    struct ww_model model;
    double sum = 0;
    assert_int_equal(ww_gpu_load(gpu_name, &set, set ? 1 : 0, &gpu, &error), WW_OK);
    assert_int_equal(ww_model_new(p, NULL, &model, &error), WW_OK);
    if (dram) *dram = 0;
    for (size_t i = 0; i < model.count; i++) {
        struct ww_model_result r;
        assert_int_equal(ww_model_launch(&model.kernel[i], &gpu->spec, &ww_model_default, &r, &error), WW_OK);
        sum += model.kernel[i].times * r.cycles;
        if (dram) *dram += model.kernel[i].times * r.events[WW_C_DRAM_SECTOR_READ];
    }
    ww_model_free(&model);
    ww_gpu_free(gpu);
    return sum;
}

static void less_of_a_resource_is_never_faster(void **state) {
    (void)state;
    static const char *const less[] = {"clock.dram_mhz=300",   "sm.count=7",          "sm.schedulers=1",
                                       "l1.bytes_per_cycle=8", "l1.latency=60",       "l2.bytes_per_cycle=8",
                                       "lsu.lanes=8",          "pipe.int.latency=12", "xbar.latency=300"};
    struct ww_model_profile p = make();
    double all = cycles_on(&p, "v100", NULL, NULL);
    for (size_t i = 0; i < sizeof less / sizeof *less; i++) {
        double cycles = cycles_on(&p, "v100", less[i], NULL);
        if (cycles < all) print_message("%s: %.0f, all: %.0f\n", less[i], cycles, all);
        assert_true(cycles >= all);
    }
    assert_true(cycles_on(&p, "v100", "l1.latency=60", NULL) > all);
    ww_model_profile_free(&p);
}

static void a_smaller_l2_reads_more_from_dram(void **state) {
    (void)state;
    struct ww_model_profile p = make();
    double large, small;
    cycles_on(&p, "gtx480", NULL, &large);
    cycles_on(&p, "gtx480", "l2.size_kb=24", &small);
    assert_true(small > 1.2 * large && large > 0);
    ww_model_profile_free(&p);
}

static void a_cta_that_fits_no_sm_is_refused(void **state) {
    (void)state;
    struct ww_model_profile p = make();
    struct ww_model_kernel kernel;
    struct ww_model_result r;
    struct ww_gpu *gpu;
    assert_int_equal(ww_gpu_load("v100", NULL, 0, &gpu, &error), WW_OK);
    p.launch[0].shared_static = 200000;
    ww_model_fold(&p.launch[0], &kernel);
    assert_int_equal(ww_model_launch(&kernel, &gpu->spec, &ww_model_default, &r, &error), WW_UNSUPPORTED);
    ww_gpu_free(gpu);
    ww_model_profile_free(&p);
}

/* ---- runs ---- */

static struct ww_result *run(const char *gpu_name, const char *mode) {
    struct ww_gpu *gpu;
    struct ww_result *result = NULL;
    assert_int_equal(ww_gpu_load(gpu_name, NULL, 0, &gpu, &error), WW_OK);
    struct ww_run_options o = {.gpu = gpu, .trace_path = path, .mode = mode};
    enum ww_code code = ww_run(&o, &result, &error);
    if (code != WW_OK) print_message("%s: %s\n", error.where, error.text);
    assert_int_equal(code, WW_OK);
    ww_gpu_free(gpu);
    return result;
}

static void laws_of_conservation_hold_on_every_gpu(void **state) {
    (void)state;
    static const char *const gpu[] = {"gtx280", "gtx285", "gtx480", "gtx560ti", "gtx580", "gtx780",
                                      "gtx980", "v100",   "a100",   "h100",     "h200"};
    for (size_t i = 0; i < sizeof gpu / sizeof *gpu; i++) {
        struct ww_result *r = run(gpu[i], "analytic");
        assert_int_equal(ww_result_check(r, &error), WW_OK);
        assert_string_equal(r->mode, "analytic");
        assert_true(r->cycles_interval.lo <= (double)r->cycles && (double)r->cycles <= r->cycles_interval.hi);
        assert_true(r->cycles_interval.lo < r->cycles_interval.hi);
        ww_result_free(r);
    }
}

static void the_replay_lies_in_a_wide_interval(void **state) {
    (void)state;
    static const char *const gpu[] = {"gtx480", "v100", "a100"};
    for (size_t i = 0; i < sizeof gpu / sizeof *gpu; i++) {
        struct ww_result *full = run(gpu[i], "full"), *r = run(gpu[i], "analytic");
        assert_true((double)full->cycles > 0.5 * (double)r->cycles &&
                    (double)full->cycles < 2 * (double)r->cycles);
        assert_int_equal(full->warp_instructions, r->warp_instructions);
        uint64_t a = full->launch[0].counter[WW_C_L2_SECTOR_WRITE],
                 b = r->launch[0].counter[WW_C_L2_SECTOR_WRITE];
        assert_int_equal(a, b); /* stores are written through: nothing is to be guessed */
        assert_string_equal(full->launch[0].occupancy_limiter, r->launch[0].occupancy_limiter);
        assert_int_equal(full->launch[0].counter[WW_C_REG_READ], r->launch[0].counter[WW_C_REG_READ]);
        assert_int_equal(full->launch[0].counter[WW_C_LANE_FP32], r->launch[0].counter[WW_C_LANE_FP32]);
        ww_result_free(full);
        ww_result_free(r);
    }
}

static void a_gpu_unlike_those_seen_is_named(void **state) {
    (void)state;
    struct ww_gpu *gpu;
    struct ww_result *result;
    const char *set = "sm.count=700";
    assert_int_equal(ww_gpu_load("v100", &set, 1, &gpu, &error), WW_OK);
    struct ww_run_options o = {.gpu = gpu, .trace_path = path, .mode = "analytic"};
    assert_int_equal(ww_run(&o, &result, &error), WW_OK);
    assert_non_null(result->warning);
    assert_non_null(strstr(result->warning, "outside"));
    ww_result_free(result);
    ww_gpu_free(gpu);
}

static void put_file(const char *name, const char *text) {
    FILE *f = fopen(name, "w");
    assert_non_null(f);
    assert_true(fputs(text, f) >= 0);
    assert_int_equal(fclose(f), 0);
}

static void a_sweep_keeps_estimates_and_replays_apart(void **state) {
    (void)state;
    char space[80], db[80], text[400];
    struct ww_sweep_summary summary;
    snprintf(space, sizeof space, "%s.json", path);
    snprintf(db, sizeof db, "%s.db", path);
    snprintf(text, sizeof text,
             "{\"gpu\": \"v100\", \"traces\": [{\"trace\": \"%s\"}], "
             "\"parameters\": {\"sm.count\": [20, 40, 80]}}",
             path);
    put_file(space, text);
    struct ww_sweep_options o = {.space = space, .db = db, .mode = "analytic", .jobs = 1};
    assert_int_equal(ww_sweep(&o, &summary, &error), WW_OK);
    assert_int_equal(summary.computed, 3);
    assert_int_equal(ww_sweep(&o, &summary, &error), WW_OK);
    assert_int_equal(summary.computed, 0);
    o.mode = NULL;
    assert_int_equal(ww_sweep(&o, &summary, &error), WW_OK);
    assert_int_equal(summary.computed, 3);
    o.mode = "none such";
    assert_int_equal(ww_sweep(&o, &summary, &error), WW_USAGE);
    remove(space);
    remove(db);
}

static void a_sweep_by_the_model_warns_of_schedulers(void **state) {
    (void)state;
    char space[80], db[80], text[400];
    struct ww_sweep_summary summary;
    snprintf(space, sizeof space, "%s.json", path);
    snprintf(db, sizeof db, "%s.db", path);
    struct ww_sweep_options o = {.space = space, .db = db, .mode = "analytic", .jobs = 1};
    for (int other = 0; other < 2; other++) {
        snprintf(text, sizeof text,
                 "{\"gpu\": \"v100\", \"traces\": [{\"trace\": \"%s\"}], \"parameters\": {\"sched\": [%s]}}",
                 path, other ? "\"gto\", \"lrr\"" : "\"gto\"");
        put_file(space, text);
        assert_int_equal(ww_sweep(&o, &summary, &error), WW_OK);
        assert_true(other ? summary.warning && strstr(summary.warning, "schedulers") : !summary.warning);
    }
    o.mode = "full";
    assert_int_equal(ww_sweep(&o, &summary, &error), WW_OK);
    assert_null(summary.warning);
    remove(space);
    remove(db);
}

static void a_table_of_replays_is_read_with_its_lines(void **state) {
    (void)state;
    char table[80], text[400];
    FILE *out = tmpfile();
    assert_non_null(out);
    snprintf(table, sizeof table, "%s.csv", path);
    struct ww_calibrate_analytic_options o = {.measured = table};
    put_file(table, "trace,gpu\n");
    assert_int_equal(ww_calibrate_analytic(&o, out, &error), WW_INPUT);
    snprintf(text, sizeof text, "application,trace,gpu,set,cycles,energy_j\na,%s,v100,,0,\n", path);
    put_file(table, text);
    assert_int_equal(ww_calibrate_analytic(&o, out, &error), WW_INPUT);
    assert_non_null(strstr(error.where, ":2"));
    snprintf(text, sizeof text,
             "application,trace,gpu,set,cycles,energy_j\na,%s,v100,,5000,\nb,%s,gtx480,sm.count=7;clock.dram_"
             "mhz=500,9000,1e-3\n",
             path, path);
    put_file(table, text);
    assert_int_equal(ww_calibrate_analytic(&o, out, &error), WW_OK);
    remove(table);
    fclose(out);
}

/* ---- conformal bounds ---- */

static void bounds_have_the_ranks_of_split_conformal_prediction(void **state) {
    (void)state;
    double v[99], low, high;
    for (int i = 0; i < 99; i++) v[i] = (double)((i * 37) % 99); /* 0 to 98 in another order */
    ww_model_conformal(v, 99, 0.9, &low, &high);
    assert_true(low == 4 && high == 94); /* ranks 5 and 95 of 100 */
    ww_model_conformal(v, 99, 0.999, &low, &high);
    assert_true(low == 0 && high == 98);
}

static int make_trace(void **state) {
    static const char *const parameter[] = {"nx=64", "ny=16", "nz=8"};
    struct ww_record_options o = {.out_path = path};
    struct ww_record_stats stats;
    (void)state;
    int fd = mkstemps(path, 4);
    if (fd < 0) return -1;
    close(fd);
    snprintf(stored, sizeof stored, "%s" WW_PROFILE_SUFFIX, path);
    return ww_record_workload("stencil", parameter, 3, &o, &stats, &error) == WW_OK ? 0 : -1;
}

static int remove_trace(void **state) {
    (void)state;
    remove(stored);
    return remove(path);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_cycle_of_lines_has_the_distance_of_the_others),
        cmocka_unit_test(a_sector_has_the_largest_distance_since_it_was_used),
        cmocka_unit_test(sampled_lines_keep_distances),
        cmocka_unit_test(a_dependence_waits_for_its_producer),
        cmocka_unit_test(independent_instructions_hide_latency),
        cmocka_unit_test(a_barrier_opens_for_the_last_warp),
        cmocka_unit_test(planes_support_the_path_from_below),
        cmocka_unit_test(counts_are_those_of_the_trace),
        cmocka_unit_test(a_profile_is_read_as_it_was_written),
        cmocka_unit_test(a_damaged_profile_is_refused_wherever_it_is_damaged),
        cmocka_unit_test(a_stored_profile_is_used_and_a_damaged_one_made_anew),
        cmocka_unit_test(less_of_a_resource_is_never_faster),
        cmocka_unit_test(a_smaller_l2_reads_more_from_dram),
        cmocka_unit_test(a_cta_that_fits_no_sm_is_refused),
        cmocka_unit_test(laws_of_conservation_hold_on_every_gpu),
        cmocka_unit_test(the_replay_lies_in_a_wide_interval),
        cmocka_unit_test(a_gpu_unlike_those_seen_is_named),
        cmocka_unit_test(a_sweep_keeps_estimates_and_replays_apart),
        cmocka_unit_test(a_sweep_by_the_model_warns_of_schedulers),
        cmocka_unit_test(a_table_of_replays_is_read_with_its_lines),
        cmocka_unit_test(bounds_have_the_ranks_of_split_conformal_prediction),
    };
    return cmocka_run_group_tests(tests, make_trace, remove_trace);
}
