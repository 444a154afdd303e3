/* Parameters of a timing model fitted to measured times. */
#include "../../estimator/study/calibrate/timing_fit.h"
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

static struct ww_error error;
enum { POINTS = 8 };

/* Cycles of a machine of three parameters: loads that take x[0], misses x[1], and words at a rate of x[2]. What
 * is moved overlaps with what waits, so that the larger counts. */
struct machine {
    double loads[POINTS], misses[POINTS], words[POINTS];
    size_t calls;
};

static enum ww_code cycles(void *context, const double *x, double *out, struct ww_error *e) {
    struct machine *m = context;
    (void)e;
    m->calls++;
    for (int i = 0; i < POINTS; i++)
        out[i] = 500 + fmax(m->loads[i] * x[0] + m->misses[i] * x[1], m->words[i] / x[2]);
    return WW_OK;
}

static struct machine machine(void) {
    struct machine m = {0};
    for (int i = 0; i < POINTS; i++) {
        m.loads[i] = 100 + 40 * (i % 3);
        m.misses[i] = i < 5 ? 10 * i : 5;
        m.words[i] = i < 5 ? 100 : 400000 * (i - 3);
    }
    return m;
}

static const struct ww_timing_param three[] = {
    {"load", 10, 200, 100, true}, {"miss", 50, 800, 200, true}, {"rate", 4, 128, 16, false}};

static enum ww_code fit_of(struct machine *m, const struct ww_timing_param *param, size_t params,
                           const double *measured, struct ww_timing_fit *fit) {
    struct ww_timing_problem p = {.param = param,
                                  .params = params,
                                  .measured = measured,
                                  .points = POINTS,
                                  .model = cycles,
                                  .context = m};
    return ww_timing_fit(&p, fit, &error);
}

static void parameters_of_a_known_machine_are_found(void **state) {
    (void)state;
    struct machine m = machine();
    struct ww_timing_fit fit;
    double measured[POINTS];
    cycles(&m, (const double[]){37, 611, 93.7}, measured, &error);
    assert_int_equal(fit_of(&m, three, 3, measured, &fit), WW_OK);
    assert_true(fit.x[0] == 37 && fit.x[1] == 611);
    assert_true(fabs(fit.x[2] - 93.7) < 0.01);
    assert_true(fit.left_out < 1e-3);
    assert_true(!fit.at_bound[0] && !fit.at_bound[1] && !fit.at_bound[2]);
}

/* Errors of 3 %, of either sign: the truth lies within three standard errors, which are not 0. */
static void standard_errors_hold_what_noise_does(void **state) {
    (void)state;
    struct machine m = machine();
    struct ww_timing_fit fit;
    double measured[POINTS];
    static const double truth[] = {37, 611, 93.7};
    cycles(&m, truth, measured, &error);
    for (int i = 0; i < POINTS; i++) measured[i] *= i % 2 ? 1.03 : 0.97;
    assert_int_equal(fit_of(&m, three, 3, measured, &fit), WW_OK);
    for (int k = 0; k < 3; k++) {
        assert_true(fit.error[k] > 0 && fit.error[k] < 0.3 * truth[k]);
        assert_true(fabs(fit.x[k] - truth[k]) < 3 * fit.error[k]);
    }
    assert_true(fit.left_out > 0.01 && fit.left_out < 0.2);
}

static void a_parameter_stays_within_its_bounds(void **state) {
    (void)state;
    struct machine m = machine();
    struct ww_timing_param param[3];
    struct ww_timing_fit fit;
    double measured[POINTS];
    memcpy(param, three, sizeof param);
    param[0].low = 60;
    cycles(&m, (const double[]){37, 611, 93.7}, measured, &error);
    assert_int_equal(fit_of(&m, param, 3, measured, &fit), WW_OK);
    assert_true(fit.x[0] == 60 && fit.at_bound[0] && isnan(fit.error[0]));
    assert_true(fit.x[1] < 611 && fit.x[1] > 50 && fabs(fit.x[2] - 93.7) < 0.1);
}

static void a_start_outside_of_the_bounds_is_moved_inside(void **state) {
    (void)state;
    struct machine m = machine();
    struct ww_timing_param param[3];
    struct ww_timing_fit fit;
    double measured[POINTS];
    memcpy(param, three, sizeof param);
    param[0].start = 5000;
    cycles(&m, (const double[]){37, 611, 93.7}, measured, &error);
    assert_int_equal(fit_of(&m, param, 3, measured, &fit), WW_OK);
    assert_true(fit.x[0] == 37 && fit.x[1] == 611);
}

static void parameters_whose_effects_are_multiples_are_refused_by_name(void **state) {
    (void)state;
    struct machine m = machine();
    struct ww_timing_fit fit;
    double measured[POINTS];
    cycles(&m, (const double[]){37, 611, 93.7}, measured, &error);
    for (int i = 0; i < POINTS; i++) m.misses[i] = 2 * m.loads[i];
    assert_int_equal(fit_of(&m, three, 3, measured, &fit), WW_INPUT);
    assert_string_equal(error.where, "load, miss");
}

static void a_parameter_that_no_point_depends_on_is_refused_by_name(void **state) {
    (void)state;
    struct machine m = machine();
    struct ww_timing_fit fit;
    double measured[POINTS];
    for (int i = 0; i < POINTS; i++) m.words[i] = 0;
    cycles(&m, (const double[]){37, 611, 93.7}, measured, &error);
    assert_int_equal(fit_of(&m, three, 3, measured, &fit), WW_INPUT);
    assert_string_equal(error.where, "rate");
}

/* One point is off by a factor; left out, the others predict it well off, and each other exactly. */
static void the_left_out_error_is_of_points_not_seen(void **state) {
    (void)state;
    struct machine m = machine();
    struct ww_timing_fit fit;
    double measured[POINTS];
    for (int i = 0; i < POINTS; i++) m.misses[i] = m.words[i] = 0;
    cycles(&m, (const double[]){40, 0, 1}, measured, &error);
    assert_int_equal(fit_of(&m, three, 1, measured, &fit), WW_OK);
    assert_true(fit.left_out == 0);
    measured[3] *= 2;
    assert_int_equal(fit_of(&m, three, 1, measured, &fit), WW_OK);
    assert_true(fit.left_out > 0.5 / POINTS);
}

static enum ww_code broken(void *context, const double *x, double *out, struct ww_error *e) {
    (void)context, (void)x, (void)out;
    return ww_fail(e, WW_IO, "trace", "is gone");
}

static void the_models_error_is_passed_on(void **state) {
    (void)state;
    struct ww_timing_fit fit;
    static const double measured[POINTS] = {1, 1, 1, 1, 1, 1, 1, 1};
    struct ww_timing_problem p = {
        .param = three, .params = 3, .measured = measured, .points = POINTS, .model = broken};
    assert_int_equal(ww_timing_fit(&p, &fit, &error), WW_IO);
    assert_string_equal(error.where, "trace");
}

static void too_few_points_are_refused(void **state) {
    (void)state;
    struct machine m = machine();
    struct ww_timing_fit fit;
    static const double measured[3] = {1, 1, 1};
    struct ww_timing_problem p = {
        .param = three, .params = 3, .measured = measured, .points = 3, .model = cycles, .context = &m};
    assert_int_equal(ww_timing_fit(&p, &fit, &error), WW_USAGE);
    p.params = 0;
    assert_int_equal(ww_timing_fit(&p, &fit, &error), WW_USAGE);
    assert_int_equal(m.calls, 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(parameters_of_a_known_machine_are_found),
        cmocka_unit_test(standard_errors_hold_what_noise_does),
        cmocka_unit_test(a_parameter_stays_within_its_bounds),
        cmocka_unit_test(a_start_outside_of_the_bounds_is_moved_inside),
        cmocka_unit_test(parameters_whose_effects_are_multiples_are_refused_by_name),
        cmocka_unit_test(a_parameter_that_no_point_depends_on_is_refused_by_name),
        cmocka_unit_test(the_left_out_error_is_of_points_not_seen),
        cmocka_unit_test(the_models_error_is_passed_on),
        cmocka_unit_test(too_few_points_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
