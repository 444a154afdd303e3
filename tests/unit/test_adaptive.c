/* The adaptive strategy: hypervolumes, regressions, what is replayed and what is stored. */
#include "../../estimator/base/rng.h"
#include "../../estimator/study/sweep/gp.h"
#include "../../estimator/study/sweep/hypervolume.h"
#include "../../estimator/warpwatt.h"
#include <math.h>
#include <setjmp.h>
#include <sqlite3.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

#define NEAR(a, b) assert_true(fabs((a) - (b)) < 1e-9)

/* ---- hypervolume ---- */

static void hypervolumes_of_two_costs_are_known_ones(void **state) {
    (void)state;
    static const double p[] = {1, 3, 2, 2, 3, 1}, reference[] = {4, 4};
    NEAR(ww_hypervolume(p, 3, 2, reference), 6);
    NEAR(ww_hypervolume(p, 1, 2, reference), 3);
    NEAR(ww_hypervolume(p, 0, 2, reference), 0);
}

static void hypervolumes_of_three_and_four_costs_are_known_ones(void **state) {
    (void)state;
    static const double p3[] = {0, 1, 1, 1, 0, 1, 1, 1, 0}, r3[] = {2, 2, 2};
    static const double p4[] = {0, 1, 1, 1, 1, 0, 1, 1, 1, 1, 0, 1, 1, 1, 1, 0}, r4[] = {2, 2, 2, 2};
    NEAR(ww_hypervolume(p3, 3, 3, r3), 4); /* 3 x 2 - 3 x 1 + 1 */
    NEAR(ww_hypervolume(p4, 4, 4, r4), 5); /* 4 x 2 - 6 x 1 + 4 x 1 - 1 */
}

static void dominated_and_far_points_add_no_hypervolume(void **state) {
    (void)state;
    static const double p[] = {1, 1, 1, 2, 2, 2, 1, 1, 1, 0, 0, 9, 3, 0, 0}, reference[] = {3, 3, 3};
    NEAR(ww_hypervolume(p, 5, 3, reference), 8);
}

/* Cells of a grid of whole numbers that some point dominates. */
static double count_cells(const double *p, size_t n, int side) {
    double cells = 0;
    for (int x = 0; x < side; x++)
        for (int y = 0; y < side; y++)
            for (int z = 0; z < side; z++)
                for (size_t i = 0; i < n; i++)
                    if (p[3 * i] <= x && p[3 * i + 1] <= y && p[3 * i + 2] <= z) {
                        cells++;
                        break;
                    }
    return cells;
}

static void random_hypervolumes_are_what_counting_cells_gives(void **state) {
    (void)state;
    struct ww_rng rng;
    ww_rng_seed(&rng, 1);
    for (int trial = 0; trial < 50; trial++) {
        double p[60], reference[] = {9, 9, 9}, room[60];
        for (int i = 0; i < 60; i++) p[i] = ww_rng_below(&rng, 10);
        NEAR(ww_hypervolume(p, 20, 3, reference), count_cells(p, 20, 9));
        NEAR(ww_hypervolume_gain(p, 19, 3, reference, p + 57, room),
             count_cells(p, 20, 9) - count_cells(p, 19, 9));
    }
}

/* ---- regression ---- */

static void a_regression_goes_through_what_it_saw_and_doubts_the_rest(void **state) {
    (void)state;
    static const bool category[] = {false};
    double x[6], y[6], noise[6] = {0}, mean, near, far, at[] = {0.25}, away[] = {5};
    for (int i = 0; i < 6; i++) {
        x[i] = i / 10.0;
        y[i] = 0.3 * x[i] - 0.1;
    }
    struct ww_gp gp;
    assert_true(ww_gp_fit(&gp, x, y, noise, 6, 1, category, 0.1));
    ww_gp_at(&gp, at, &mean, &near);
    assert_true(fabs(mean - (-0.025)) < 0.003);
    ww_gp_at(&gp, away, &mean, &far);
    assert_true(near < 0.02 && far > 4 * near);
    ww_gp_free(&gp);
}

static void a_regression_of_nothing_is_its_prior(void **state) {
    (void)state;
    static const bool category[] = {false};
    double at[] = {0.5}, mean, deviation;
    struct ww_gp gp;
    assert_true(ww_gp_fit(&gp, NULL, NULL, NULL, 0, 1, category, 0.2));
    ww_gp_at(&gp, at, &mean, &deviation);
    NEAR(mean, 0);
    NEAR(deviation, 0.2);
    ww_gp_free(&gp);
}

static void texts_are_apart_however_their_levels_are_numbered(void **state) {
    (void)state;
    static const bool category[] = {true};
    double x[] = {0, 0, 1, 1, 2, 2}, y[] = {0.5, 0.5, -0.5, -0.5, 0.5, 0.5}, noise[6] = {0}, mean[3], deviation;
    struct ww_gp gp;
    assert_true(ww_gp_fit(&gp, x, y, noise, 6, 1, category, 0.5));
    for (int i = 0; i < 3; i++) ww_gp_at(&gp, x + 2 * i, &mean[i], &deviation);
    assert_true(fabs(mean[0] - 0.5) < 0.05 && fabs(mean[1] + 0.5) < 0.05 && fabs(mean[2] - 0.5) < 0.05);
    ww_gp_free(&gp);
}

/* ---- sweeps ---- */

struct place {
    char dir[40], space[64], db[64];
    struct ww_error error;
};

static const char *const space_text =
    "{\"gpu\": \"gtx480\", \"traces\": [{\"workload\": \"saxpy\", \"parameters\": [\"n=4096\"]}],"
    " \"parameters\": {\"sm.count\": [2, 4, 8, 15], \"clock.sm_mhz\": [700, 1401], \"sched\": [\"lrr\", "
    "\"gto\"],"
    " \"lsu\": [\"in_order\", \"reexecute\"]}, \"objectives\": [\"time\", \"energy\"]}";

static void write_space(struct place *p, const char *text) {
    FILE *f = fopen(p->space, "w");
    assert_non_null(f);
    fputs(text, f);
    fclose(f);
}

static int make_place(void **state) {
    struct place *p = calloc(1, sizeof *p);
    snprintf(p->dir, sizeof p->dir, "/tmp/warpwatt-test-XXXXXX");
    if (!mkdtemp(p->dir)) return -1;
    snprintf(p->space, sizeof p->space, "%s/s.json", p->dir);
    snprintf(p->db, sizeof p->db, "%s/s.db", p->dir);
    *state = p;
    return 0;
}

static int remove_place(void **state) {
    struct place *p = *state;
    char path[80];
    unlink(p->space);
    unlink(p->db);
    snprintf(path, sizeof path, "%s-wal", p->db);
    unlink(path);
    snprintf(path, sizeof path, "%s-shm", p->db);
    unlink(path);
    int left = rmdir(p->dir);
    free(p);
    return left;
}

static struct ww_sweep_summary sweep(struct place *p, double budget, unsigned jobs) {
    struct ww_sweep_options o = {
        .space = p->space, .db = p->db, .strategy = "adaptive", .budget = budget, .jobs = jobs};
    struct ww_sweep_summary s;
    if (ww_sweep(&o, &s, &p->error) != WW_OK) fail_msg("%s: %s", p->error.where, p->error.text);
    return s;
}

static int number(const struct place *p, const char *sql) {
    sqlite3 *db;
    sqlite3_stmt *stmt;
    assert_int_equal(sqlite3_open(p->db, &db), SQLITE_OK);
    assert_int_equal(sqlite3_prepare_v2(db, sql, -1, &stmt, NULL), SQLITE_OK);
    assert_int_equal(sqlite3_step(stmt), SQLITE_ROW);
    int n = sqlite3_column_int(stmt, 0);
    sqlite3_finalize(stmt);
    sqlite3_close(db);
    return n;
}

static void a_budget_is_kept_and_points_are_full_replays(void **state) {
    struct place *p = *state;
    write_space(p, space_text);
    struct ww_sweep_summary s = sweep(p, 0.25, 1);
    assert_int_equal(s.points, 32);
    assert_int_equal(s.replayed, 8);
    NEAR(s.cost, 0.25);
    assert_int_equal(number(p, "SELECT count(*) FROM sweep_point"), 8);
    assert_int_equal(number(p, "SELECT count(*) FROM sweep_candidate"), 32);
    assert_int_equal(number(p, "SELECT count(*) FROM sweep_candidate WHERE fidelity = 'full'"), 8);
    assert_int_equal(number(p, "SELECT count(*) FROM sweep_candidate c JOIN sweep_point p ON p.ord = c.point"
                               " WHERE fidelity <> 'full'"),
                     0);
    /* What the estimates say of a replayed point is what the replay said. */
    assert_int_equal(number(p, "SELECT count(*) FROM sweep_estimate JOIN sweep_value USING(sweep_id, point,"
                               " objective) WHERE abs(estimate - value) > 1e-9 * value OR low <> high"),
                     0);
    assert_true(number(p, "SELECT count(*) FROM sweep_estimate WHERE low < estimate AND estimate < high") >=
                24);
}

static void an_adaptive_sweep_goes_on_and_computes_nothing_twice(void **state) {
    struct place *p = *state;
    write_space(p, space_text);
    assert_int_equal(sweep(p, 0.25, 1).computed, 8);
    int picked = number(p, "SELECT sum((ord + 1) * (ord + 1)) FROM sweep_point");
    struct ww_sweep_summary again = sweep(p, 0.25, 2);
    assert_int_equal(again.computed, 0);
    assert_int_equal(again.replayed, 8);
    /* As after an interruption: some points and all estimates are gone. */
    sqlite3 *db;
    assert_int_equal(sqlite3_open(p->db, &db), SQLITE_OK);
    assert_int_equal(
        sqlite3_exec(db,
                     "PRAGMA foreign_keys = ON; DELETE FROM sweep_candidate; DELETE FROM sweep_result"
                     " WHERE config IN (SELECT config FROM sweep_point ORDER BY ord LIMIT 5);"
                     " DELETE FROM sweep_point WHERE ord IN (SELECT ord FROM sweep_point ORDER BY ord"
                     " LIMIT 5)",
                     NULL, NULL, NULL),
        SQLITE_OK);
    sqlite3_close(db);
    assert_int_equal(sweep(p, 0.25, 2).computed, 5);
    assert_int_equal(number(p, "SELECT sum((ord + 1) * (ord + 1)) FROM sweep_point"), picked);
}

static void mechanisms_that_the_model_refuses_are_replayed_too(void **state) {
    struct place *p = *state;
    write_space(p, space_text);
    sweep(p, 0.25, 1);
    assert_true(number(p, "SELECT count(*) FROM sweep_setting WHERE key = 'lsu' AND value = 'reexecute'") > 0);
    assert_true(number(p, "SELECT count(*) FROM sweep_setting WHERE key = 'lsu' AND value = 'in_order'") > 0);
}

static void points_that_break_a_constraint_are_not_sought(void **state) {
    struct place *p = *state;
    write_space(p,
                "{\"gpu\": \"gtx480\", \"traces\": [{\"workload\": \"saxpy\", \"parameters\": [\"n=4096\"]}],"
                " \"parameters\": {\"sm.count\": {\"from\": 1, \"to\": 16, \"steps\": 16}, \"sched\": [\"lrr\","
                " \"gto\"]}, \"constraints\": [\"area_mm2 <= 30\"], \"objectives\": [\"time\"]}");
    struct ww_sweep_summary s = sweep(p, 0.2, 1);
    assert_int_equal(s.infeasible, 0); /* the area is known before anything is replayed */
    assert_true(number(p, "SELECT count(*) FROM sweep_candidate WHERE may_hold = 0") > 8);
}

static void a_budget_below_one_point_is_refused(void **state) {
    struct place *p = *state;
    write_space(p, space_text);
    struct ww_sweep_options o = {
        .space = p->space, .db = p->db, .strategy = "adaptive", .budget = 0.01, .jobs = 1};
    struct ww_sweep_summary s;
    assert_int_equal(ww_sweep(&o, &s, &p->error), WW_USAGE);
    o.budget = 1.5;
    assert_int_equal(ww_sweep(&o, &s, &p->error), WW_USAGE);
}

#define PLACED(test) cmocka_unit_test_setup_teardown(test, make_place, remove_place)

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(hypervolumes_of_two_costs_are_known_ones),
        cmocka_unit_test(hypervolumes_of_three_and_four_costs_are_known_ones),
        cmocka_unit_test(dominated_and_far_points_add_no_hypervolume),
        cmocka_unit_test(random_hypervolumes_are_what_counting_cells_gives),
        cmocka_unit_test(a_regression_goes_through_what_it_saw_and_doubts_the_rest),
        cmocka_unit_test(a_regression_of_nothing_is_its_prior),
        cmocka_unit_test(texts_are_apart_however_their_levels_are_numbered),
        PLACED(a_budget_is_kept_and_points_are_full_replays),
        PLACED(an_adaptive_sweep_goes_on_and_computes_nothing_twice),
        PLACED(mechanisms_that_the_model_refuses_are_replayed_too),
        PLACED(points_that_break_a_constraint_are_not_sought),
        PLACED(a_budget_below_one_point_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
