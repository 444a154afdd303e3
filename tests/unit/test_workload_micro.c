/* The microbenchmark workloads: each verifies on old and new machines, and the recorded chase is one. */
#include "../../estimator/warpwatt.h"
#include "../../traces/trace.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
/* clang-format off: cmocka needs the above first */
#include <cmocka.h>
/* clang-format on */

static const char *const machines[] = {"sm_20", "sm_52", "sm_70"};

static enum ww_code record(const char *name, const char *a, const char *b, const char *arch, const char *path,
                           struct ww_record_stats *stats, struct ww_error *error) {
    const struct ww_record_options options = {.arch = arch, .seed = 5, .out_path = path};
    const char *values[] = {"size=small", a, b};
    memset(stats, 0, sizeof *stats);
    return ww_record_workload(name, values, b ? 3 : a ? 2 : 1, &options, stats, error);
}

static void verifies(const char *name, const char *a, const char *b) {
    for (size_t i = 0; i < sizeof machines / sizeof machines[0]; i++) {
        struct ww_record_stats stats;
        struct ww_error error;
        if (record(name, a, b, machines[i], NULL, &stats, &error) != WW_OK)
            fail_msg("%s %s: %s: %s", name, a ? a : "", error.where, error.text);
        assert_true(stats.verified);
    }
}

static void every_chase_verifies(void **state) {
    (void)state;
    verifies("pchase", NULL, NULL);
    verifies("pchase", "path=readonly", "stride=7");
    verifies("pchase", "path=shared", "stride=32");
    verifies("pchase", "warm=5", "count=1");
}

static void strides_and_copies_verify(void **state) {
    static const char *const ilp[] = {"ilp=1", "ilp=2", "ilp=4", "ilp=8"};
    (void)state;
    verifies("smem_stride", "stride=1", NULL);
    verifies("smem_stride", "stride=32", NULL);
    for (size_t i = 0; i < 4; i++) verifies("gcopy", ilp[i], "block=48");
    for (size_t i = 0; i < 4; i++) verifies("scopy", ilp[i], "block=48");
    verifies("scopy", "ilp=6", "repeats=1");
}

static void an_array_too_large_for_shared_memory_is_refused(void **state) {
    (void)state;
    struct ww_record_stats stats;
    struct ww_error error;
    assert_int_equal(record("pchase", "path=shared", "n=12289", NULL, NULL, &stats, &error), WW_USAGE);
}

/* One thread; each load of the array takes its address from what the one before brought. */
static void a_recorded_chase_visits_the_array_in_steps(void **state) {
    (void)state;
    char path[] = "/tmp/warpwatt-micro-XXXXXX.wwt";
    struct ww_record_stats stats;
    struct ww_error error;
    struct ww_trace *trace;
    const struct ww_launch *launch;
    struct ww_cta_trace cta;
    uint64_t first = 0, loads = 0;
    int fd = mkstemps(path, 4);
    assert_true(fd >= 0);
    close(fd);
    assert_int_equal(record("pchase", "warm=1", "count=100", "sm_70", path, &stats, &error), WW_OK);
    assert_int_equal(ww_trace_open(path, &trace, &error), WW_OK);
    assert_int_equal(ww_trace_launch(trace, 0, &launch, &error), WW_OK);
    assert_int_equal(launch->cta_count * launch->block[0], 1);
    assert_int_equal(ww_trace_load_cta(trace, 0, 0, &cta, &error), WW_OK);
    const struct ww_access *access = cta.warp[0].access;
    for (uint32_t i = 0; i < cta.warp[0].step_count; i++) {
        const struct ww_inst *inst = &launch->inst[cta.warp[0].step[i].inst];
        if (!(inst->flags & WW_INST_ACCESS)) continue;
        uint64_t at = access->list == WW_AFFINE ? access->base : ww_listed(access, cta.warp[0].pool, 0);
        access++;
        if (inst->op != WW_OP_LOAD || inst->space != WW_SPACE_GLOBAL) continue;
        if (!loads) first = at;
        assert_int_equal(at, first + loads * 8 % 1024 * 4);
        loads++;
    }
    assert_int_equal(loads, 101);
    ww_trace_release_cta(trace, &cta);
    ww_trace_close(trace);
    unlink(path);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_chase_verifies),
        cmocka_unit_test(strides_and_copies_verify),
        cmocka_unit_test(an_array_too_large_for_shared_memory_is_refused),
        cmocka_unit_test(a_recorded_chase_visits_the_array_in_steps),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
