/* Loops that go through traces ask whether they may go on before they have read the first, and leave nothing
 * when they are stopped. */
#include "../../estimator/warpwatt.h"
#include "wwt_fixture.h"
#include <dirent.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

static struct ww_error error;
static struct ww_arena arena;
static const char *trace, *out;
static char unit[64]; /* of the question that is answered with no */

static bool stop_now(void *context, double part, uint64_t done, const char *what) {
    (void)context, (void)part, (void)done;
    if (strcmp(what, "bytes") == 0) return true; /* a sweep reads its traces' checksums first */
    if (!unit[0]) snprintf(unit, sizeof unit, "%s", what);
    return false;
}

static void write_text(const char *path, const char *text) {
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    fputs(text, f);
    assert_int_equal(fclose(f), 0);
}

/* Files in the folder of the trace. */
static unsigned files(void) {
    char folder[512];
    unsigned n = 0;
    snprintf(folder, sizeof folder, "%.*s", (int)(strrchr(trace, '/') - trace), trace);
    DIR *d = opendir(folder);
    assert_non_null(d);
    for (struct dirent *e; (e = readdir(d));) n += e->d_name[0] != '.';
    closedir(d);
    return n;
}

static void slice_and_merge_can_be_stopped(void **state) {
    (void)state;
    struct ww_trace *t;
    assert_int_equal(ww_trace_open(trace, &t, &error), WW_OK);
    unsigned before = files();
    assert_int_equal(ww_trace_slice(t, NULL, NULL, out, stop_now, NULL, &error), WW_FAIL);
    assert_int_equal(ww_trace_merge(&t, 1, out, stop_now, NULL, &error), WW_FAIL);
    assert_int_equal(files(), before);
    ww_trace_close(t);
}

static void calibrating_timing_can_be_stopped_in_a_recording(void **state) {
    (void)state;
    static const char *const fit[] = {"l1.latency"};
    const char *measured = ww_made_path(&arena, "times.csv");
    write_text(measured,
               "workload,parameters,metric,value\nsaxpy,n=4096,cycles,3000\nsaxpy,n=8192,cycles,4000\n");
    const struct ww_calibrate_timing_options o = {
        .gpu = "v100", .measured = measured, .fit = fit, .fit_count = 1, .progress = stop_now};
    FILE *f = fopen("/dev/null", "w");
    assert_int_equal(ww_calibrate_timing(&o, f, &error), WW_FAIL);
    assert_non_null(strstr(unit, " CTAs of launch "));
    fclose(f);
}

static void calibrating_the_analytical_model_can_be_stopped_in_a_profile(void **state) {
    (void)state;
    char text[1024];
    const char *measured = ww_made_path(&arena, "replays.csv");
    snprintf(text, sizeof text, "application,trace,gpu,set,cycles,energy_j\nsaxpy,%s,v100,,3000,\n", trace);
    write_text(measured, text);
    const struct ww_calibrate_analytic_options o = {.measured = measured, .progress = stop_now};
    FILE *f = fopen("/dev/null", "w");
    assert_int_equal(ww_calibrate_analytic(&o, f, &error), WW_FAIL);
    assert_non_null(strstr(unit, "warp instructions"));
    fclose(f);
}

static void an_analytical_sweep_can_be_stopped_in_a_profile(void **state) {
    (void)state;
    char text[1024];
    const char *space = ww_made_path(&arena, "space.json"), *db = ww_made_path(&arena, "sweep.db");
    snprintf(text, sizeof text,
             "{\"gpu\": \"v100\", \"traces\": [\"%s\"], \"parameters\": {\"l1.latency\": [20, 30]}}", trace);
    write_text(space, text);
    struct ww_sweep_summary summary;
    const struct ww_sweep_options o = {
        .space = space, .db = db, .mode = "analytic", .jobs = 1, .progress = stop_now};
    assert_int_equal(ww_sweep(&o, &summary, &error), WW_FAIL);
    assert_non_null(strstr(unit, "warp instructions"));
}

static bool count_launches(void *context, double part, uint64_t done, const char *what) {
    (void)part, (void)done;
    *(unsigned *)context += strcmp(what, "launches") == 0;
    return true;
}

/* Each launch is described, then those of the sample are replayed; all are too short to ask while they are. */
static void a_sampled_replay_asks_before_each_unit(void **state) {
    (void)state;
    enum { LAUNCHES = 500 };
    struct ww_trace *t, *same[LAUNCHES];
    struct ww_gpu *gpu;
    struct ww_result *result;
    unsigned asked = 0;
    assert_int_equal(ww_trace_open(trace, &t, &error), WW_OK);
    for (size_t i = 0; i < LAUNCHES; i++) same[i] = t;
    assert_int_equal(ww_trace_merge(same, LAUNCHES, out, NULL, NULL, &error), WW_OK);
    ww_trace_close(t);
    assert_int_equal(ww_gpu_load("v100", NULL, 0, &gpu, &error), WW_OK);
    const struct ww_run_options o = {
        .gpu = gpu, .trace_path = out, .mode = "sampled", .progress = count_launches, .context = &asked};
    assert_int_equal(ww_run(&o, &result, &error), WW_OK);
    assert_true(asked > LAUNCHES + 3);
    ww_result_free(result);
    ww_gpu_free(gpu);
}

static int forget(void **state) {
    (void)state;
    unit[0] = 0;
    return 0;
}

static int record(void **state) {
    (void)state;
    static const char *const small[] = {"n=4096"};
    struct ww_record_stats stats;
    ww_arena_init(&arena, 0);
    trace = ww_made_path(&arena, "a.wwt");
    out = ww_made_path(&arena, "out.wwt");
    const struct ww_record_options o = {.out_path = trace, .arch = "sm_70"};
    return ww_record_workload("saxpy", small, 1, &o, &stats, &error) == WW_OK ? 0 : -1;
}

static int clean(void **state) {
    (void)state;
    ww_made_clean();
    ww_arena_free(&arena);
    return 0;
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(slice_and_merge_can_be_stopped, forget),
        cmocka_unit_test_setup(calibrating_timing_can_be_stopped_in_a_recording, forget),
        cmocka_unit_test_setup(calibrating_the_analytical_model_can_be_stopped_in_a_profile, forget),
        cmocka_unit_test_setup(an_analytical_sweep_can_be_stopped_in_a_profile, forget),
        cmocka_unit_test(a_sampled_replay_asks_before_each_unit),
    };
    return cmocka_run_group_tests(tests, record, clean);
}
