/* The transform d2ma keeps the program: on every kernel of D2MA's evaluation each load of shared memory has the
 * same last writer before and after, in whatever order warps run between barriers; and it takes out what it
 * should. */
#include "../../estimator/warpwatt.h"
#include "../../traces/transform/writers.h"
#include "../../traces/trace.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
/* clang-format off: cmocka needs the above first */
#include <cmocka.h>
/* clang-format on */

static char plain[] = "/tmp/warpwatt-d2ma-XXXXXX.wwt", changed[] = "/tmp/warpwatt-d2ma-XXXXXX.wwt";

static const char *const kernels[][2] = {
    {"d2_filter", "kernel=gauss"}, {"d2_filter", "kernel=mean"},  {"d2_filter", "kernel=sobel"},
    {"d2_stream", "kernel=saxpy"}, {"d2_stream", "kernel=sgemv"}, {"d2_stream", "kernel=path"},
    {"d2_stream", "kernel=walsh"}, {"d2_stream", "kernel=haar"},  {"d2_block", "kernel=dct"},
    {"d2_block", "kernel=mm"},     {"d2_block", "kernel=trans1"}, {"d2_block", "kernel=trans2"},
    {"d2_block", "kernel=lud"}};
enum { KERNELS = sizeof kernels / sizeof kernels[0] };

static enum ww_code transform(const char *workload, const char *parameter, const char *arch,
                              struct ww_error *error) {
    const char *values[] = {"size=small", "variant=plain", parameter};
    const struct ww_record_options options = {.seed = 3, .out_path = plain, .arch = arch};
    const struct ww_transform_options how = {.kind = "d2ma"};
    struct ww_record_stats stats;
    struct ww_trace *trace;
    memset(error, 0, sizeof *error);
    assert_int_equal(ww_record_workload(workload, values, parameter ? 3 : 1, &options, &stats, error), WW_OK);
    assert_int_equal(ww_trace_open(plain, &trace, error), WW_OK);
    enum ww_code code = ww_trace_transform(trace, &how, changed, error);
    ww_trace_close(trace);
    if (code != WW_OK && parameter)
        print_error("%s %s: %s: %s\n", workload, parameter, error->where, error->text);
    return code;
}

/* Compares `plain` with the trace at `path`. */
static struct ww_writers compare(const char *path) {
    struct ww_writers found = {0};
    struct ww_trace *before, *after;
    struct ww_error error;
    assert_int_equal(ww_trace_open(plain, &before, &error), WW_OK);
    assert_int_equal(ww_trace_open(path, &after, &error), WW_OK);
    assert_int_equal(ww_writers_compare_all(before, after, &found, &error), WW_OK);
    ww_trace_close(before);
    ww_trace_close(after);
    return found;
}

static void every_load_keeps_its_last_writer(void **state) {
    const char *arch = *state;
    struct ww_error error;
    for (size_t k = 0; k < KERNELS; k++) {
        assert_int_equal(transform(kernels[k][0], kernels[k][1], arch, &error), WW_OK);
        struct ww_writers found = compare(changed);
        assert_true(found.loads > 0);
        assert_int_equal(found.changed, 0);
    }
}

/* The product with intrinsics has no barrier: the first warp overwrites tiles that others still read. */
static void a_tile_that_is_overwritten_too_early_is_found(void **state) {
    (void)state;
    const char *values[] = {"size=small", "variant=dma", "kernel=mm"};
    const struct ww_record_options options = {.seed = 3, .out_path = changed, .arch = "sm_20"};
    struct ww_record_stats stats;
    struct ww_error error;
    assert_int_equal(transform("d2_block", "kernel=mm", "sm_20", &error), WW_OK);
    uint64_t loads = compare(changed).loads;
    assert_int_equal(ww_record_workload("d2_block", values, 3, &options, &stats, &error), WW_OK);
    struct ww_writers found = compare(changed);
    assert_int_equal(found.loads, loads);
    assert_true(found.changed > loads / 4);
}

static uint64_t count(const char *path, enum ww_op op, enum ww_space space) {
    struct ww_trace *trace;
    struct ww_error error;
    uint64_t n = 0;
    assert_int_equal(ww_trace_open(path, &trace, &error), WW_OK);
    for (size_t l = 0; l < ww_trace_launch_count(trace); l++) {
        const struct ww_launch *launch;
        assert_int_equal(ww_trace_launch(trace, l, &launch, &error), WW_OK);
        for (uint64_t c = 0; c < launch->cta_count; c++) {
            struct ww_cta_trace cta;
            assert_int_equal(ww_trace_load_cta(trace, l, c, &cta, &error), WW_OK);
            for (uint32_t w = 0; w < cta.warp_count; w++)
                for (uint32_t s = 0; s < cta.warp[w].step_count; s++) {
                    const struct ww_inst *in = &launch->inst[cta.warp[w].step[s].inst];
                    n += in->op == op && in->space == space;
                }
            ww_trace_release_cta(trace, &cta);
        }
    }
    ww_trace_close(trace);
    return n;
}

static void a_filter_keeps_no_load_store_branch_or_barrier_of_its_tile(void **state) {
    (void)state;
    struct ww_error error;
    assert_int_equal(transform("d2_filter", "kernel=gauss", "sm_20", &error), WW_OK);
    assert_int_equal(count(changed, WW_OP_LOAD, WW_SPACE_GLOBAL), 0);
    assert_int_equal(count(changed, WW_OP_STORE, WW_SPACE_SHARED), 0);
    assert_int_equal(count(changed, WW_OP_BARRIER, WW_SPACE_NONE), 0);
    assert_int_equal(count(changed, WW_OP_BRANCH, WW_SPACE_NONE), 0);
    assert_int_equal(count(changed, WW_OP_LOAD, WW_SPACE_SHARED), count(plain, WW_OP_LOAD, WW_SPACE_SHARED));
    assert_int_equal(count(changed, WW_OP_STORE, WW_SPACE_GLOBAL), count(plain, WW_OP_STORE, WW_SPACE_GLOBAL));
}

/* Of the two barriers of a step the one in front of the next step's copy protects the tile. */
static void the_barrier_that_protects_a_tile_stays(void **state) {
    (void)state;
    struct ww_error error;
    assert_int_equal(transform("d2_block", "kernel=mm", "sm_20", &error), WW_OK);
    assert_int_equal(2 * count(changed, WW_OP_BARRIER, WW_SPACE_NONE),
                     count(plain, WW_OP_BARRIER, WW_SPACE_NONE));
}

static void a_trace_without_copies_is_refused(void **state) {
    (void)state;
    struct ww_error error;
    assert_int_equal(transform("vectoradd", NULL, "sm_20", &error), WW_UNSUPPORTED);
    assert_non_null(strstr(error.text, "copies"));
}

static void a_value_that_is_computed_on_the_way_is_refused_or_left(void **state) {
    (void)state;
    struct ww_error error;
    enum ww_code code = transform("mv", NULL, "sm_20", &error); /* multiplied before it is stored */
    assert_int_equal(code, WW_UNSUPPORTED);
}

static int make_paths(void **state) {
    (void)state;
    int a = mkstemps(plain, 4), b = mkstemps(changed, 4);
    return a < 0 || b < 0 || close(a) || close(b);
}

static int remove_paths(void **state) {
    (void)state;
    return remove(plain) || remove(changed);
}

int main(void) {
    static char sm_20[] = "sm_20", sm_70[] = "sm_70";
    const struct CMUnitTest tests[] = {
        {"every_load_keeps_its_last_writer_sm_20", every_load_keeps_its_last_writer, NULL, NULL, sm_20},
        {"every_load_keeps_its_last_writer_sm_70", every_load_keeps_its_last_writer, NULL, NULL, sm_70},
        cmocka_unit_test(a_tile_that_is_overwritten_too_early_is_found),
        cmocka_unit_test(a_filter_keeps_no_load_store_branch_or_barrier_of_its_tile),
        cmocka_unit_test(the_barrier_that_protects_a_tile_stays),
        cmocka_unit_test(a_trace_without_copies_is_refused),
        cmocka_unit_test(a_value_that_is_computed_on_the_way_is_refused_or_left),
    };
    return cmocka_run_group_tests(tests, make_paths, remove_paths);
}
