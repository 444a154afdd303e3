/* Factors fitted to measured power, and the table that is written with them. */
#include "../../estimator/warpwatt.h"
#include "../../power/fit.h"
#include "../../power/power.h"
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

static char path[] = "/tmp/warpwatt-fit-XXXXXX.json";
static struct ww_error error;

/* Measured: rest + 2 x first + 0.5 x second, and `off` on the last point. */
static void points(struct ww_fit_point p[5], double off) {
    for (int i = 0; i < 5; i++) {
        p[i] = (struct ww_fit_point){.part = {10 + 7 * i, 40 - 3 * i * i}, .rest = 30, .sigma = 1};
        p[i].measured = 30 + 2 * p[i].part[0] + 0.5 * p[i].part[1];
    }
    p[4].measured += off;
}

static void factors_are_found(void **state) {
    (void)state;
    struct ww_fit_point p[5];
    struct ww_fit fit;
    points(p, 0);
    assert_int_equal(ww_fit_power(p, 5, 2, &fit, &error), WW_OK);
    assert_true(fabs(fit.x[0] - 2) < 1e-9 && fabs(fit.x[1] - 0.5) < 1e-9);
    assert_true(fit.error[0] < 1e-9 && fit.left_out < 1e-9);
}

static void no_factor_is_negative(void **state) {
    (void)state;
    struct ww_fit_point p[5];
    struct ww_fit fit;
    points(p, 0);
    for (int i = 0; i < 5; i++) p[i].measured -= p[i].part[1]; /* as if the second factor were -0.5 */
    assert_int_equal(ww_fit_power(p, 5, 2, &fit, &error), WW_OK);
    assert_true(fit.x[0] > 0);
    assert_true(fit.x[1] == 0 && isnan(fit.error[1]));
}

static void a_point_of_large_sigma_counts_little(void **state) {
    (void)state;
    struct ww_fit_point p[5];
    struct ww_fit even, weighted;
    points(p, 40);
    assert_int_equal(ww_fit_power(p, 5, 2, &even, &error), WW_OK);
    p[4].sigma = 1000;
    assert_int_equal(ww_fit_power(p, 5, 2, &weighted, &error), WW_OK);
    assert_true(fabs(even.x[0] - 2) > 0.1);
    assert_true(fabs(weighted.x[0] - 2) < 1e-3);
}

/* Two points, one factor, sigma 1: x = sum(ay)/sum(aa), error = sqrt(chi2 / (n - p) / sum(aa)). */
static void the_standard_error_is_that_of_least_squares(void **state) {
    (void)state;
    struct ww_fit_point p[2] = {{.part = {1}, .measured = 1, .sigma = 1},
                                {.part = {1}, .measured = 3, .sigma = 1}};
    struct ww_fit fit;
    assert_int_equal(ww_fit_power(p, 2, 1, &fit, &error), WW_OK);
    assert_true(fabs(fit.x[0] - 2) < 1e-12);
    assert_true(fabs(fit.error[0] - 1) < 1e-12);
}

/* Left out, 1 is predicted as 3 and 3 as 1: errors of 200 % and 67 %. */
static void the_left_out_error_is_of_points_not_seen(void **state) {
    (void)state;
    struct ww_fit_point p[2] = {{.part = {1}, .measured = 1, .sigma = 1},
                                {.part = {1}, .measured = 3, .sigma = 1}};
    struct ww_fit fit;
    assert_int_equal(ww_fit_power(p, 2, 1, &fit, &error), WW_OK);
    assert_true(fabs(fit.left_out - (2 + 2.0 / 3) / 2) < 1e-12);
}

static void too_few_points_are_refused(void **state) {
    (void)state;
    struct ww_fit_point p[5];
    struct ww_fit fit;
    points(p, 0);
    assert_int_equal(ww_fit_power(p, 2, 2, &fit, &error), WW_USAGE);
    for (int i = 0; i < 5; i++) p[i].part[1] = 0;
    assert_int_equal(ww_fit_power(p, 5, 2, &fit, &error), WW_INPUT);
}

static struct ww_energy energy(const struct ww_power *power) {
    struct ww_gpu_spec spec = {0};
    struct ww_launch_result l = {.time_ps = 1000000};
    struct ww_energy out;
    spec.sm_count = 80;
    spec.clock_sm_mhz = spec.clock_l2_mhz = 1380;
    spec.clock_dram_mhz = 877;
    for (int c = 0; c < WW_COUNTER_COUNT; c++) l.counter[c] = 1000;
    ww_power_launch(power, &spec, &l, &out);
    return out;
}

static void a_written_table_has_the_factors_and_is_else_the_same(void **state) {
    (void)state;
    struct ww_power *old, *new;
    struct ww_power_factors by;
    assert_int_equal(ww_power_load("v100", true, &old, &error), WW_OK);
    for (int c = 0; c < WW_COMPONENT_COUNT; c++)
        by.dynamic[c] = by.steady[c] = (struct ww_power_factor){.value = 1};
    by.dynamic[WW_P_FP32] = (struct ww_power_factor){3, 0.2, true};
    by.steady[WW_P_CONSTANT] = (struct ww_power_factor){0.5, 0.2, true};
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    ww_power_write(old, &by, "a \"file\"", f);
    assert_int_equal(fclose(f), 0);
    assert_int_equal(ww_power_load(path, true, &new, &error), WW_OK);
    struct ww_energy was = energy(old), is = energy(new);
    for (int c = 0; c < WW_COMPONENT_COUNT; c++) {
        double dynamic = was.dynamic_j[c] * by.dynamic[c].value, steady = was.static_j[c] * by.steady[c].value;
        assert_true(fabs(is.dynamic_j[c] - dynamic) <= 1e-8 * dynamic);
        assert_true(fabs(is.static_j[c] - steady) <= 1e-8 * steady);
    }
    assert_true(is.total_j > 0);
    ww_power_free(old);
    ww_power_free(new);
}

static int make_file(void **state) {
    (void)state;
    int fd = mkstemps(path, 5);
    return fd < 0 ? -1 : close(fd);
}

static int remove_file(void **state) {
    (void)state;
    return unlink(path);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(factors_are_found),
        cmocka_unit_test(no_factor_is_negative),
        cmocka_unit_test(a_point_of_large_sigma_counts_little),
        cmocka_unit_test(the_standard_error_is_that_of_least_squares),
        cmocka_unit_test(the_left_out_error_is_of_points_not_seen),
        cmocka_unit_test(too_few_points_are_refused),
        cmocka_unit_test(a_written_table_has_the_factors_and_is_else_the_same),
    };
    return cmocka_run_group_tests(tests, make_file, remove_file);
}
