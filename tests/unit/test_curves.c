/* Curves of a dissection: plateaus and knees in points that are given, and points that are measured. */
#include "../../estimator/warpwatt.h"
#include "../../estimator/study/dissect/curves.h"
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
/* clang-format off: cmocka needs the above first */
#include <cmocka.h>
/* clang-format on */

static struct ww_dissect_plateau plateau[WW_DISSECT_PLATEAUS];
#define FIND(...)                                                                                              \
    ww_plateaus((struct ww_dissect_xy[])__VA_ARGS__,                                                           \
                sizeof((struct ww_dissect_xy[])__VA_ARGS__) / sizeof(struct ww_dissect_xy), 0.04, plateau)

static void two_levels_are_two_plateaus_with_the_knee_between_them(void **state) {
    (void)state;
    assert_int_equal(FIND({{1000, 30}, {2000, 30}, {4000, 30}, {8000, 115}, {16000, 200}, {32000, 201}}), 2);
    assert_true(plateau[0].level == 30 && plateau[1].level == 200.5);
    assert_int_equal(plateau[0].to, 4000);
    assert_int_equal(plateau[1].from, 16000);
    assert_true(isnan(plateau[0].knee));
    assert_true(fabs(plateau[1].knee - 8000) < 50); /* 115.25 is half of the way */
}

static void a_rise_without_level_parts_is_no_plateau(void **state) {
    (void)state;
    assert_int_equal(FIND({{1000, 30}, {2000, 40}, {4000, 50}, {8000, 60}, {16000, 70}}), 0);
}

static void neighbours_of_nearly_the_same_size_are_no_plateau(void **state) {
    (void)state;
    assert_int_equal(FIND({{1000, 30}, {2000, 30}, {3000, 100}, {3100, 101}, {5000, 200}, {9000, 200}}), 2);
    assert_true(plateau[1].level == 200);
}

static void a_slow_drift_stays_one_plateau_only_so_far(void **state) {
    (void)state;
    assert_int_equal(FIND({{1000, 100}, {2000, 103}, {4000, 106}, {8000, 109}}), 1);
    assert_int_equal(plateau[0].to, 8000);
    assert_int_equal(FIND({{1000, 100}, {2000, 103}, {4000, 106}, {8000, 109}, {16000, 113}, {19000, 116}}), 1);
    assert_int_equal(plateau[0].to, 8000); /* 13 % above the lowest */
}

static void a_dip_after_a_plateau_is_none_of_its_own(void **state) {
    (void)state;
    assert_int_equal(FIND({{1000, 200}, {2000, 200}, {4000, 100}, {8000, 100}, {16000, 400}, {32000, 400}}), 2);
    assert_true(plateau[1].level == 400);
}

static void no_points_have_no_plateau(void **state) {
    (void)state;
    assert_int_equal(ww_plateaus(NULL, 0, 0.04, plateau), 0);
}

/* ---- measured ---- */

static struct ww_dissect out;
static struct ww_meter meter;
static struct ww_error error;

static void open_gpu(const char *gpu, const char *override) { /* override: NULL for none */
    static struct ww_dissect_options o;
    o = (struct ww_dissect_options){.gpu = gpu};
    memset(&out, 0, sizeof out);
    ww_arena_init(&out.arena, 0);
    if (ww_meter_open(&meter, &o, &out, override, &error) != WW_OK) fail_msg("%s: %s", error.where, error.text);
}

static void close_gpu(void) {
    ww_meter_close(&meter);
    ww_dissect_free(&out);
}

static double chase(uint64_t kb) {
    double y = NAN;
    assert_int_equal(ww_curve_latency(&meter, kb * WW_KB, &y, &error), WW_OK);
    return y;
}

static void a_chase_leaves_the_l1_at_the_size_that_it_has(void **state) {
    (void)state;
    open_gpu("gtx480", NULL);
    assert_true(chase(14) < 100 && chase(48) > 300);
    close_gpu();
    open_gpu("v100", NULL); /* 128 KB */
    assert_true(chase(100) < 40 && chase(160) > 200);
    close_gpu();
    open_gpu("a100", NULL); /* 192 KB */
    assert_true(chase(150) < 40 && chase(230) > 200);
    close_gpu();
}

static double same(uint64_t kb) {
    double y = NAN;
    assert_int_equal(ww_curve_cache(&meter, kb * WW_KB, &y, &error), WW_OK);
    return y;
}

static double parts(uint64_t kb) {
    double y = NAN;
    assert_int_equal(ww_curve_l2(&meter, kb * WW_KB, WW_CURVE_PAIRS, &y, &error), WW_OK);
    return y;
}

/* A V100's SM reads 128 bytes a cycle of its L1: 14131 GB/s in all. */
static void an_l1_gives_a_line_a_cycle_at_every_size_that_fits(void **state) {
    (void)state;
    static const uint64_t kb[] = {8, 28, 37, 64};
    open_gpu("v100", "sm.count=8");
    for (size_t i = 0; i < sizeof kb / sizeof kb[0]; i++) {
        double gbps = same(kb[i]);
        assert_true(gbps < 1.001 * 1413.1 && gbps > 0.9 * 1413.1);
    }
    close_gpu();
}

static void parts_of_an_array_come_from_the_l2_or_from_dram(void **state) {
    (void)state;
    open_gpu("v100", NULL);
    double l2 = parts(4096);
    assert_true(l2 > 2 * meter.board.dram_peak_gbps);
    assert_true(parts(24576) < 1.1 * meter.board.dram_peak_gbps);
    close_gpu();
}

static void a_stream_grows_with_the_threads_and_stays_below_the_peak(void **state) {
    (void)state;
    double few, more, most;
    open_gpu("v100", NULL);
    assert_int_equal(ww_curve_stream(&meter, 1, 32, &ww_curve_read, &few, &error), WW_OK);
    assert_int_equal(ww_curve_stream(&meter, 2, 64, &ww_curve_read, &more, &error), WW_OK);
    assert_int_equal(ww_curve_stream(&meter, 2, 1024, &ww_curve_triad, &most, &error), WW_OK);
    assert_true(few > 0 && more > 3 * few && more < 5 * few);
    assert_true(most > 0.7 * meter.board.dram_peak_gbps && most < 1.02 * meter.board.dram_peak_gbps);
    close_gpu();
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(two_levels_are_two_plateaus_with_the_knee_between_them),
        cmocka_unit_test(a_rise_without_level_parts_is_no_plateau),
        cmocka_unit_test(neighbours_of_nearly_the_same_size_are_no_plateau),
        cmocka_unit_test(a_slow_drift_stays_one_plateau_only_so_far),
        cmocka_unit_test(a_dip_after_a_plateau_is_none_of_its_own),
        cmocka_unit_test(no_points_have_no_plateau),
        cmocka_unit_test(a_chase_leaves_the_l1_at_the_size_that_it_has),
        cmocka_unit_test(an_l1_gives_a_line_a_cycle_at_every_size_that_fits),
        cmocka_unit_test(parts_of_an_array_come_from_the_l2_or_from_dram),
        cmocka_unit_test(a_stream_grows_with_the_threads_and_stays_below_the_peak),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
