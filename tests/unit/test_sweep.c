/* Space files: ranges, conditions, strategies, hashes of configurations, effects. */
#include "../../estimator/warpwatt.h"
#include "../../estimator/study/sweep/point.h"
#include "result_fixture.h"
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

static struct ww_error error;

static enum ww_code parse(const char *parameters, const char *more, struct ww_sweep_space *s) {
    char text[2000];
    snprintf(text, sizeof text, "{\"gpu\": \"gtx480\", \"traces\": [\"a.wwt\"], \"parameters\": %s%s}",
             parameters, more);
    return ww_sweep_space_parse(text, strlen(text), "s.json", s, &error);
}

static void space(const char *parameters, const char *more, struct ww_sweep_space *s) {
    if (parse(parameters, more, s) != WW_OK) fail_msg("%s: %s", error.where, error.text);
}

static void levels_are(const char *range, const char *expected) {
    struct ww_sweep_space s;
    char parameters[200], text[400] = "";
    snprintf(parameters, sizeof parameters, "{\"clock.sm_mhz\": %s}", range);
    space(parameters, "", &s);
    for (size_t i = 0; i < s.param[0].count; i++) {
        strcat(text, i ? " " : "");
        strcat(text, s.param[0].level[i].text);
    }
    assert_string_equal(text, expected);
    ww_sweep_space_free(&s);
}

static void ranges_have_the_levels_that_the_docs_show(void **state) {
    (void)state;
    levels_are("{\"from\": 8, \"to\": 64, \"log2\": true}", "8 16 32 64");
    levels_are("{\"from\": 10, \"to\": 1000, \"factor\": 10}", "10 100 1000");
    levels_are("{\"from\": 1, \"to\": 2, \"step\": 0.25}", "1 1.25 1.5 1.75 2");
    levels_are("{\"from\": 4, \"to\": 16, \"steps\": 3}", "4 10 16");
    levels_are("{\"from\": 0.1, \"to\": 0.3, \"step\": 0.1}", "0.1 0.2 0.3");
    levels_are("{\"from\": 8, \"to\": 60, \"log2\": true}", "8 16 32");
}

static void whole_parameters_get_whole_levels_once(void **state) {
    (void)state;
    struct ww_sweep_space s;
    space("{\"sm.count\": {\"from\": 1, \"to\": 3, \"steps\": 9}}", "", &s);
    assert_int_equal(s.param[0].count, 3);
    assert_string_equal(s.param[0].level[1].text, "2");
    ww_sweep_space_free(&s);
}

static void refused(const char *parameters, const char *more, const char *place, const char *says) {
    struct ww_sweep_space s;
    assert_int_equal(parse(parameters, more, &s), WW_INPUT);
    ww_fixture_assert_contains(error.where, place);
    ww_fixture_assert_contains(error.text, says);
    ww_sweep_space_free(&s);
}

static void mistakes_are_refused_with_their_place(void **state) {
    (void)state;
    refused("{}", "", "$.parameters", "1 to 40");
    refused("{\"sm.cuont\": [1]}", "", "$.parameters[\"sm.cuont\"]", "did you mean \"sm.count\"");
    refused("{\"sm.count\": []}", "", "sm.count", "1 to 10000 levels");
    refused("{\"sm.count\": [1, 1]}", "", "[1]", "twice");
    refused("{\"sm.count\": [null]}", "", "[0]", "expected a number");
    refused("{\"sched\": [\"lrr\", \"nothing\"]}", "", "[1]", "no mechanism");
    refused("{\"sm.count\": {\"from\": 4, \"to\": 1, \"step\": 1}}", "", "sm.count", "from < to");
    refused("{\"sm.count\": {\"from\": 1, \"to\": 4}}", "", "sm.count", "one of");
    refused("{\"sm.count\": {\"from\": 1, \"to\": 1e9, \"step\": 1}}", "", "sm.count", "at most 10000");
    refused("{\"sm.count\": {\"from\": 0, \"to\": 8, \"log2\": true}}", "", "sm.count", "more than 0");
    refused("{\"sm.count\": [1]}", ", \"objectives\": [\"speed\"]", "$.objectives[0]", "expected time");
    refused("{\"sm.count\": [1]}", ", \"mech\": [\"sched=x\"]", "$.mech[0]", "no such mechanism");
    refused("{\"sm.count\": [1]}", ", \"colour\": 1", "colour", "unknown key");
}

static size_t grid(const char *parameters, const char *more) {
    struct ww_sweep_space s;
    struct ww_sweep_plan plan;
    space(parameters, more, &s);
    if (ww_sweep_pick(&s, WW_SWEEP_GRID, 0, 0, &plan, &error) != WW_OK) plan.count = 0;
    ww_sweep_space_free(&s);
    return plan.count;
}

#define AB "{\"l1.ways\": [1, 2, 4], \"sm.count\": [2, 4, 8]}"
static size_t holding(const char *condition) {
    char more[200];
    snprintf(more, sizeof more, ", \"conditions\": [\"%s\"]", condition);
    return grid(AB, more);
}

static void conditions_choose_points(void **state) {
    (void)state;
    assert_int_equal(holding("l1.ways < sm.count"), 6);
    assert_int_equal(holding("l1.ways * 2 == sm.count"), 3);
    assert_int_equal(holding("not l1.ways == 1 and sm.count > 2"), 4);
    assert_int_equal(holding("l1.ways == 1 or sm.count == 2"), 5);
    assert_int_equal(holding("(l1.ways + 1) % 2 == 0"), 3);
    assert_int_equal(holding("-l1.ways <= -2"), 6);
}

static void conditions_that_cannot_be_read_are_errors(void **state) {
    (void)state;
    static const char *const bad[] = {"l1.ways <",      "l1.way == 1", "(l1.ways == 1",     "l1.ways == 'a'",
                                      "l1.ways == 1 2", "'open",       "1 ** 2 == l1.ways", "l1.ways = 1"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        error.text[0] = 0;
        assert_int_equal(holding(bad[i]), 0);
        ww_fixture_assert_contains(error.where, "$.conditions[0]");
        ww_fixture_assert_contains(error.text, "column");
    }
}

static void a_setting_of_another_mechanism_is_not_varied(void **state) {
    (void)state;
    assert_int_equal(grid("{\"governor\": [\"none\", \"static\"], \"governor.sm\": [0.5, 1, 2]}", ""), 4);
}

static void sampled(enum ww_sweep_strategy strategy, size_t points, uint64_t seed, size_t expected) {
    struct ww_sweep_space s;
    struct ww_sweep_plan a, b;
    space("{\"l1.ways\": {\"from\": 1, \"to\": 8, \"step\": 1}, \"sm.count\": {\"from\": 1, \"to\": 8, "
          "\"step\": 1}}",
          ", \"conditions\": [\"l1.ways <= sm.count\"]", &s);
    assert_int_equal(ww_sweep_pick(&s, strategy, points, seed, &a, &error), WW_OK);
    assert_int_equal(ww_sweep_pick(&s, strategy, points, seed, &b, &error), WW_OK);
    assert_int_equal(a.count, expected);
    assert_memory_equal(a.level, b.level, a.count * 2 * sizeof *a.level);
    for (size_t i = 0; i < a.count; i++) {
        assert_true(a.level[2 * i] <= a.level[2 * i + 1] && a.level[2 * i + 1] < 8);
        for (size_t k = 0; k < i; k++)
            assert_memory_not_equal(&a.level[2 * i], &a.level[2 * k], 2 * sizeof *a.level);
    }
    ww_sweep_space_free(&s);
}

static void samples_are_distinct_hold_conditions_and_depend_on_the_seed_alone(void **state) {
    (void)state;
    for (int strategy = WW_SWEEP_RANDOM; strategy <= WW_SWEEP_SOBOL; strategy++) {
        sampled((enum ww_sweep_strategy)strategy, 20, 3, 20);
        sampled((enum ww_sweep_strategy)strategy, 100, 0, 36); /* the space has no more */
    }
}

static void a_latin_hypercube_meets_each_stratum_once(void **state) {
    (void)state;
    struct ww_sweep_sampler *s = ww_sweep_sampler_new(WW_SWEEP_LATIN, 2, 16, 7);
    unsigned met[2] = {0};
    double u[2];
    for (int i = 0; i < 16; i++) {
        ww_sweep_sampler_next(s, u);
        for (int d = 0; d < 2; d++) met[d] |= 1u << (unsigned)(u[d] * 16);
    }
    assert_true(met[0] == 0xffff && met[1] == 0xffff);
    ww_sweep_sampler_free(s);
}

static void config_of(const char *parameters, const uint16_t *level, const char *power,
                      char out[WW_CONFIG_HASH]) {
    struct ww_sweep_space s;
    struct ww_sweep_machine m;
    space(parameters, "", &s);
    assert_int_equal(ww_sweep_machine(&s, level, power, &m, &error), WW_OK);
    assert_string_equal(m.reason, "");
    memcpy(out, m.config, WW_CONFIG_HASH);
    ww_sweep_machine_free(&m);
    ww_sweep_space_free(&s);
}

static void equal_machines_have_equal_hashes_and_others_do_not(void **state) {
    (void)state;
    char a[WW_CONFIG_HASH], b[WW_CONFIG_HASH], c[WW_CONFIG_HASH], d[WW_CONFIG_HASH], e[WW_CONFIG_HASH];
    config_of("{\"sm.count\": [4, 8], \"sched\": [\"lrr\", \"gto\"]}", (uint16_t[]){0, 1}, "p", a);
    config_of("{\"sched\": [\"gto\"], \"sm.count\": [2, 4]}", (uint16_t[]){0, 1}, "p", b);
    config_of("{\"sched\": [\"lrr\"], \"sm.count\": [2, 4]}", (uint16_t[]){0, 1}, "p", c);
    config_of("{\"sched\": [\"gto\"], \"sm.count\": [2, 4]}", (uint16_t[]){0, 0}, "p", d);
    config_of("{\"sched\": [\"gto\"], \"sm.count\": [2, 4]}", (uint16_t[]){0, 1}, "q", e);
    assert_string_equal(a, b);
    assert_string_not_equal(a, c);
    assert_string_not_equal(a, d);
    assert_string_not_equal(a, e);
}

static void a_machine_that_cannot_be_has_a_reason(void **state) {
    (void)state;
    struct ww_sweep_space s;
    struct ww_sweep_machine m;
    space("{\"sm.count\": [0]}", "", &s);
    assert_int_equal(ww_sweep_machine(&s, (uint16_t[]){0}, "p", &m, &error), WW_OK);
    ww_fixture_assert_contains(m.reason, "sm.count");
    ww_sweep_machine_free(&m);
    ww_sweep_space_free(&s);
}

/* y = 10 + 3 a - 2 b + a b with a and b coded from -1 to 1. */
static void effects_are_those_of_a_known_function(void **state) {
    (void)state;
    struct ww_sweep_space s;
    struct ww_sweep_plan plan;
    struct ww_sweep_effect e[3];
    size_t row[9], count;
    double y[9];
    space(AB, "", &s);
    assert_int_equal(ww_sweep_pick(&s, WW_SWEEP_GRID, 0, 0, &plan, &error), WW_OK);
    assert_int_equal(plan.count, 9);
    for (size_t i = 0; i < 9; i++) {
        double a = 2 * (s.param[0].level[plan.level[2 * i]].value - 1) / 3 - 1;
        double b = 2 * (s.param[1].level[plan.level[2 * i + 1]].value - 2) / 6 - 1;
        row[i] = i;
        y[i] = 10 + 3 * a - 2 * b + a * b;
    }
    assert_int_equal(ww_sweep_effects(&s, &plan, row, y, 9, e, &count, &error), WW_OK);
    assert_int_equal(count, 3);
    assert_true(fabs(e[0].effect - 6) < 1e-9 && fabs(e[1].effect + 4) < 1e-9 && fabs(e[2].effect - 2) < 1e-9);
    assert_true(e[2].a == 0 && e[2].b == 1 && e[0].share > e[1].share && e[1].share > e[2].share);
    ww_sweep_space_free(&s);
}

/* Points at which a and b change together, and points as many as coefficients: neither gives effects. */
static void effects_that_points_cannot_tell_apart_are_not_given(void **state) {
    (void)state;
    struct ww_sweep_space s;
    struct ww_sweep_plan plan;
    struct ww_sweep_effect e[3];
    size_t diagonal[5] = {0, 4, 8, 0, 4}, corner[4] = {0, 1, 3, 4}, all[9], count;
    double y[9];
    for (size_t i = 0; i < 9; i++) y[i] = (double)(all[i] = i) + 1;
    space(AB, "", &s);
    assert_int_equal(ww_sweep_pick(&s, WW_SWEEP_GRID, 0, 0, &plan, &error), WW_OK);
    assert_int_equal(ww_sweep_effects(&s, &plan, all, y, 9, e, &count, &error), WW_OK);
    assert_int_equal(count, 3);
    assert_int_equal(ww_sweep_effects(&s, &plan, diagonal, y, 5, e, &count, &error), WW_OK);
    assert_int_equal(count, 0);
    assert_int_equal(ww_sweep_effects(&s, &plan, corner, y, 4, e, &count, &error), WW_OK);
    assert_int_equal(count, 0);
    ww_sweep_space_free(&s);
}

static bool refuse(void *context, double part, uint64_t done, const char *unit) {
    (void)part, (void)done;
    if (!*(char *)context) snprintf(context, 32, "%s", unit);
    return false;
}

static void a_sweep_stops_while_it_records(void **state) {
    (void)state;
    char dir[] = "/tmp/warpwatt-test-XXXXXX", path[64], db[64], unit[32] = "";
    assert_non_null(mkdtemp(dir));
    snprintf(path, sizeof path, "%s/s.json", dir);
    snprintf(db, sizeof db, "%s/s.db", dir);
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    fputs("{\"gpu\": \"gtx480\", \"traces\": [{\"workload\": \"saxpy\"}], \"parameters\": {\"sm.count\": [1]}}",
          f);
    fclose(f);
    struct ww_sweep_options o = {.space = path, .db = db, .jobs = 1, .progress = refuse, .context = unit};
    struct ww_sweep_summary summary;
    assert_int_equal(ww_sweep(&o, &summary, &error), WW_FAIL);
    assert_non_null(strstr(unit, " CTAs of launch ")); /* of the recording; not "points" */
    assert_int_equal(summary.stored, 0);
    unlink(path);
    unlink(db);
    assert_int_equal(rmdir(dir), 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ranges_have_the_levels_that_the_docs_show),
        cmocka_unit_test(whole_parameters_get_whole_levels_once),
        cmocka_unit_test(mistakes_are_refused_with_their_place),
        cmocka_unit_test(conditions_choose_points),
        cmocka_unit_test(conditions_that_cannot_be_read_are_errors),
        cmocka_unit_test(a_setting_of_another_mechanism_is_not_varied),
        cmocka_unit_test(samples_are_distinct_hold_conditions_and_depend_on_the_seed_alone),
        cmocka_unit_test(a_latin_hypercube_meets_each_stratum_once),
        cmocka_unit_test(equal_machines_have_equal_hashes_and_others_do_not),
        cmocka_unit_test(a_machine_that_cannot_be_has_a_reason),
        cmocka_unit_test(effects_are_those_of_a_known_function),
        cmocka_unit_test(effects_that_points_cannot_tell_apart_are_not_given),
        cmocka_unit_test(a_sweep_stops_while_it_records),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
