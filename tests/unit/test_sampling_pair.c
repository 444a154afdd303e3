/* Ratios of two designs that replayed the same sample. */
#include "../../estimator/warpwatt.h"
#include "../../estimator/fast/sample.h"
#include "../../estimator/result/result.h"
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <cmocka.h>

#include "sampling_fixture.h"

static struct ww_error error;

static void fill_rows(struct ww_sample_row *row, size_t n, double factor, double noise, uint64_t seed) {
    struct ww_rng r, own;
    ww_rng_seed(&r, 11);
    ww_rng_seed(&own, seed);
    for (uint32_t i = 0; i < n; i++)
        row[i] = (struct ww_sample_row){.launch = 2 * i,
                                        .end_cta = 10,
                                        .population = 100,
                                        .cycles = factor * (1000 + 200 * normal(&r)) + noise * normal(&own)};
}

static void designs_that_differ_by_a_factor_are_told_apart_exactly(void **state) {
    (void)state;
    struct ww_sample_row a[20], b[20];
    struct ww_sampling x = {.row = a, .row_count = 20, .strata = 1},
                       y = {.row = b, .row_count = 20, .strata = 1};
    struct ww_sample_ratio ratio;
    fill_rows(a, 20, 1.5, 0, 1);
    fill_rows(b, 20, 1, 0, 1);
    assert_int_equal(ww_sample_ratio(&x, &y, false, 0.95, &ratio, &error), WW_OK);
    assert_true(ratio.known);
    near(ratio.ratio, 1.5, 1e-12);
    near(ratio.hi - ratio.lo, 2 * 1.96 * WW_WARM_ERROR * sqrt(2) * 1.5,
         1e-5); /* all that is left is warming's */
    fill_rows(b, 20, 1, 20, 2);
    assert_int_equal(ww_sample_ratio(&x, &y, false, 0.95, &ratio, &error), WW_OK);
    assert_true(ratio.lo < 1.5 && ratio.hi > 1.5 && ratio.hi - ratio.lo < 0.1); /* each alone: 9 % of 1.5 */
}

static void what_cold_starts_change_in_one_design_is_corrected_in_the_ratio(void **state) {
    (void)state;
    struct ww_sample_row a[20], b[20];
    struct ww_sampling x = {.row = a, .row_count = 20, .strata = 1, .bias_cycles = 0.02},
                       y = {.row = b, .row_count = 20, .strata = 1, .bias_cycles = -0.01};
    struct ww_sample_ratio ratio;
    fill_rows(a, 20, 1.5, 0, 1);
    fill_rows(b, 20, 1, 0, 1);
    assert_int_equal(ww_sample_ratio(&x, &y, false, 0.95, &ratio, &error), WW_OK);
    near(ratio.ratio, 1.5 * 1.02 / 0.99, 1e-12);
    near((ratio.hi - ratio.lo) / ratio.ratio,
         2 * 1.96 * sqrt(0.03 * 0.03 / 3 + 2 * WW_WARM_ERROR * WW_WARM_ERROR), 1e-4);
}

static void samples_with_no_unit_in_common_cannot_be_compared(void **state) {
    (void)state;
    struct ww_sample_row a[4], b[4];
    struct ww_sampling x = {.row = a, .row_count = 4, .strata = 1}, y = {.row = b, .row_count = 4, .strata = 1};
    struct ww_sample_ratio ratio;
    fill_rows(a, 4, 1, 0, 1);
    fill_rows(b, 4, 1, 0, 1);
    for (int i = 0; i < 4; i++) b[i].launch++;
    assert_int_equal(ww_sample_ratio(&x, &y, false, 0.95, &ratio, &error), WW_OK);
    assert_false(ratio.known);
}

static void samples_with_a_stratum_that_has_no_unit_in_common_cannot_be_compared(void **state) {
    (void)state;
    struct ww_sample_row a[8], b[8];
    struct ww_sampling x = {.row = a, .row_count = 8, .strata = 2}, y = {.row = b, .row_count = 8, .strata = 2};
    struct ww_sample_ratio ratio;
    fill_rows(a, 8, 1, 0, 1);
    fill_rows(b, 8, 1, 0, 1);
    for (int i = 4; i < 8; i++) a[i].stratum = b[i].stratum = 1;
    assert_int_equal(ww_sample_ratio(&x, &y, false, 0.95, &ratio, &error), WW_OK);
    assert_true(ratio.known);
    for (int i = 4; i < 8; i++) b[i].launch++;
    assert_int_equal(ww_sample_ratio(&x, &y, false, 0.95, &ratio, &error), WW_OK);
    assert_false(ratio.known);
}

/* Twenty windows of 1000 cycles and instructions, or `more` of both, every other with more by the scatter and
 * the rest with less. */
static void fill_windows(struct ww_sample_row *row, double more, double scatter) {
    for (uint32_t i = 0; i < 20; i++) {
        double issued = 1000 * (1 + more + (i % 2 ? scatter : -scatter));
        row[i] = (struct ww_sample_row){.first_cta = 10 * i,
                                        .end_cta = 10 * i + 10,
                                        .kind = WW_UNIT_WINDOW,
                                        .population = 100,
                                        .instructions = issued,
                                        .cycles = issued};
    }
}

static double half_of(double more, double scatter, double *ratio_is) {
    struct ww_sample_row a[20], b[20];
    struct ww_sampling x = {.row = a, .row_count = 20, .strata = 1},
                       y = {.row = b, .row_count = 20, .strata = 1};
    struct ww_sample_ratio ratio;
    fill_windows(a, more, scatter);
    fill_windows(b, 0, 0);
    assert_int_equal(ww_sample_ratio(&x, &y, false, 0.95, &ratio, &error), WW_OK);
    *ratio_is = ratio.ratio;
    return (ratio.hi - ratio.lo) / 2 / ratio.ratio;
}

static void windows_are_compared_by_the_time_of_an_instruction(void **state) {
    (void)state;
    double ratio, floor = 1.96 * sqrt(2) * WW_WARM_ERROR_PARTS;
    near(half_of(0, 0.02, &ratio), floor, 1e-4); /* what a window issues more takes longer: no error */
    near(ratio, 1, 1e-9);
    near(half_of(0, 0, &ratio), floor, 1e-6);
}

static void a_drift_of_one_design_widens_the_ratio(void **state) {
    (void)state;
    double ratio, half = half_of(0.01, 0, &ratio);
    near(ratio, 1, 1e-9);
    near(half, 1.96 * sqrt(0.01 * 0.01 / 3 + 2 * WW_WARM_ERROR_PARTS * WW_WARM_ERROR_PARTS), 1e-4);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(designs_that_differ_by_a_factor_are_told_apart_exactly),
        cmocka_unit_test(what_cold_starts_change_in_one_design_is_corrected_in_the_ratio),
        cmocka_unit_test(samples_with_no_unit_in_common_cannot_be_compared),
        cmocka_unit_test(samples_with_a_stratum_that_has_no_unit_in_common_cannot_be_compared),
        cmocka_unit_test(windows_are_compared_by_the_time_of_an_instruction),
        cmocka_unit_test(a_drift_of_one_design_widens_the_ratio),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
