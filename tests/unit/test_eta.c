/* The time left, by a simulated clock: from 20 % done on it is within a third in four of five samples. */
#include "../../estimator/base/eta.h"
#include "../../estimator/base/rng.h"
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <cmocka.h>

enum { STEPS = 4000 };

/* Seconds that each of STEPS equal parts of the work takes. */
typedef double (*course)(size_t step, struct ww_rng *rng);

/* Share of samples, one each 0.2 s as the program has them, whose time left is within a third of the true one;
 * the last second is left out: nobody reads it. */
static double share_within(course of, uint64_t seed) {
    static double at[STEPS + 1];
    struct ww_rng rng;
    struct ww_eta eta;
    size_t samples = 0, good = 0;
    double shown = 0;
    ww_rng_seed(&rng, seed);
    at[0] = 0;
    for (size_t i = 0; i < STEPS; i++) at[i + 1] = at[i] + of(i, &rng);
    ww_eta_begin(&eta);
    ww_eta_add(&eta, 0, 0);
    for (size_t i = 1; i < STEPS; i++) {
        if (at[i] - shown < 0.2) continue;
        shown = at[i];
        ww_eta_add(&eta, at[i], (double)i / STEPS);
        double truth = at[STEPS] - at[i], left = ww_eta_left(&eta);
        if (i < STEPS / 5 || truth < 1) continue;
        samples++;
        good += left >= truth * 2 / 3 && left <= truth * 4 / 3;
    }
    return samples ? (double)good / (double)samples : 0;
}

static double steady(size_t step, struct ww_rng *rng) {
    (void)step, (void)rng;
    return 0.01;
}

static double uneven(size_t step, struct ww_rng *rng) {
    (void)step;
    return 0.02 * ww_rng_below(rng, 1000) / 1000.0;
}

/* Launches that come in lumps, one in a hundred a hundred times as long. */
static double lumps(size_t step, struct ww_rng *rng) {
    (void)step;
    return ww_rng_below(rng, 100) == 0 ? 0.5 : 0.005;
}

static double slower_at_the_middle(size_t step, struct ww_rng *rng) {
    (void)rng;
    return step < STEPS / 2 ? 0.01 : 0.014;
}

static double faster_at_the_middle(size_t step, struct ww_rng *rng) {
    (void)rng;
    return step < STEPS / 2 ? 0.014 : 0.01;
}

static double waves(size_t step, struct ww_rng *rng) {
    (void)rng;
    return 0.01 * (1 + 0.6 * sin((double)step / 150));
}

/* Of all samples of twenty runs. */
static void check(course of) {
    double share = 0;
    for (uint64_t seed = 1; seed <= 20; seed++) share += share_within(of, seed) / 20;
    if (share < 0.8) fail_msg("%.2f of the samples are within a third", share);
}

static void time_left_is_within_a_third_where_work_is_steady(void **state) {
    (void)state;
    check(steady);
    check(uneven);
}

static void time_left_is_within_a_third_where_work_comes_in_lumps_and_waves(void **state) {
    (void)state;
    check(lumps);
    check(waves);
}

static void time_left_follows_a_change_of_pace(void **state) {
    (void)state;
    check(slower_at_the_middle);
    check(faster_at_the_middle);
}

static void time_before_the_first_sample_does_not_count(void **state) {
    (void)state;
    struct ww_eta eta;
    ww_eta_begin(&eta);
    assert_true(ww_eta_left(&eta) < 0);
    ww_eta_add(&eta, 100, 0);
    assert_true(ww_eta_left(&eta) < 0);
    ww_eta_add(&eta, 101, 0.5);
    assert_true(fabs(ww_eta_left(&eta) - 1) < 1e-9);
}

/* At 1 s half of the work seems to be done; then there is twice as much of it. */
static void work_that_grows_keeps_its_rate(void **state) {
    (void)state;
    struct ww_eta eta;
    ww_eta_begin(&eta);
    ww_eta_add(&eta, 0, 0);
    ww_eta_add(&eta, 1, 0.5);
    ww_eta_scale(&eta, 0.5);
    assert_true(fabs(ww_eta_left(&eta) - 3) < 1e-9);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(time_left_is_within_a_third_where_work_is_steady),
        cmocka_unit_test(time_left_is_within_a_third_where_work_comes_in_lumps_and_waves),
        cmocka_unit_test(time_left_follows_a_change_of_pace),
        cmocka_unit_test(work_that_grows_keeps_its_rate),
        cmocka_unit_test(time_before_the_first_sample_does_not_count),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
