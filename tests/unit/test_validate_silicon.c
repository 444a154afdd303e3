/* The suite silicon: its table, and errors by launch, kernel and program. */
#include "../../estimator/study/validate/silicon/silicon_int.h"
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#define HEADING                                                                                                \
    "suite,program,launch,cycles,warp_instructions,l1_hit_percent,l2_hit_percent,"                             \
    "dram_read_bytes,dram_write_bytes,accelsim_cycles\n"

static struct ww_arena arena;
static struct ww_error error;

static int start(void **state) {
    (void)state;
    ww_arena_init(&arena, 0);
    return 0;
}

static int stop(void **state) {
    (void)state;
    ww_arena_free(&arena);
    return 0;
}

static enum ww_code parse(const char *text, struct ww_silicon_row **row, size_t *count) {
    return ww_silicon_parse(text, strlen(text), "t.csv", &arena, row, count, &error);
}

static void a_line_is_a_launch_or_all_of_a_programs(void **state) {
    (void)state;
    struct ww_silicon_row *row;
    size_t count;
    assert_int_equal(parse(HEADING "s,p,3,100,10,50,,64,0,120\ns,q,,7,1,,,,,\n", &row, &count), WW_OK);
    assert_int_equal(count, 2);
    assert_int_equal(row[0].launch, 3);
    assert_float_equal(row[0].hw.l1_hit_percent, 50, 0);
    assert_true(isnan(row[0].hw.l2_hit_percent));
    assert_int_equal(row[1].launch, -1);
    assert_true(isnan(row[1].accelsim_cycles));
}

static void a_table_that_is_wrong_is_refused_with_its_line(void **state) {
    (void)state;
    static const char *const bad[] = {
        "suite,program\n",
        HEADING "s,p,0,100,10,,,,\n",              /* 9 fields */
        HEADING "s,p,0,100,10,,,,,,\n",            /* 11 */
        HEADING "s,p,0,-1,10,,,,,\n",              /* no count */
        HEADING "s,p,0,,10,,,,,\n",                /* no cycles */
        HEADING "s,p,0,1x,10,,,,,\n",              /* no number */
        HEADING ",p,0,1,10,,,,,\n",                /* no suite */
        HEADING "s,p,0,1,1,,,,,\ns,p,0,2,1,,,,,\n" /* twice */
    };
    struct ww_silicon_row *row;
    size_t count;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        assert_int_equal(parse(bad[i], &row, &count), WW_INPUT);
        assert_non_null(strstr(error.where, "t.csv:"));
    }
}

static void the_librarys_table_is_sound(void **state) {
    (void)state;
    struct ww_silicon_row *row;
    size_t count;
    assert_int_equal(ww_silicon_read(&arena, &row, &count, &error), WW_OK);
    assert_true(count > 400);
}

static struct ww_silicon_row replayed(const char *program, const char *kernel, double hw, double ours) {
    return (struct ww_silicon_row){.program = program,
                                   .kernel = kernel,
                                   .hw = {.cycles = hw, .l1_hit_percent = 50},
                                   .ours = {.cycles = ours, .l1_hit_percent = 40},
                                   .accelsim_cycles = 2 * hw};
}

static void kernels_of_a_program_count_equally(void **state) {
    (void)state;
    struct ww_silicon_error e;
    /* p: kernel a 10 % in three launches, b 50 % in one: 30 %; q: 20 %. */
    struct ww_silicon_row row[] = {replayed("p", "a", 100, 110), replayed("p", "b", 100, 50),
                                   replayed("p", "a", 100, 110), replayed("p", "a", 100, 110),
                                   replayed("q", "a", 100, 80)};
    assert_int_equal(ww_silicon_errors(row, 5, WW_SILICON_OURS, &e, &error), WW_OK);
    assert_float_equal(e.by_program, 0.25, 1e-9);
    assert_float_equal(e.by_launch, (0.1 * 3 + 0.5 + 0.2) / 5, 1e-9);
    assert_float_equal(e.bias_by_program, (-0.2 - 0.2) / 2, 1e-9);
    assert_int_equal(e.class_launches[0], 5);
}

static void repetitive_programs_are_left_out_of_the_rest(void **state) {
    (void)state;
    struct ww_silicon_error e;
    struct ww_silicon_row row[] = {replayed("lud", "a", 1e5, 2e5), replayed("nn", "b", 1e4, 1.1e4)};
    assert_int_equal(ww_silicon_errors(row, 2, WW_SILICON_OURS, &e, &error), WW_OK);
    assert_float_equal(e.by_program, 0.55, 1e-9);
    assert_float_equal(e.by_program_rest, 0.1, 1e-9);
    assert_float_equal(e.by_launch_rest, 0.1, 1e-9);
    assert_float_equal(e.class_error[1], 0.1, 1e-9);
    assert_float_equal(e.class_error[2], 1, 1e-9);
}

static void what_was_not_replayed_does_not_count(void **state) {
    (void)state;
    struct ww_silicon_error e;
    struct ww_silicon_row row[] = {replayed("p", NULL, 100, NAN), replayed("q", "k", 100, 90)};
    assert_int_equal(ww_silicon_errors(row, 2, WW_SILICON_ACCELSIM, &e, &error), WW_OK);
    assert_int_equal(e.launches, 1);
    assert_float_equal(e.by_program, 1, 1e-9);
    assert_true(isnan(e.rank_correlation));
    assert_float_equal(ww_silicon_points(row, 2, true), 10, 1e-9);
}

static void correlations_are_of_ranks_and_of_logarithms(void **state) {
    (void)state;
    struct ww_silicon_error e;
    struct ww_silicon_row row[] = {replayed("p", "a", 10, 20), replayed("p", "b", 100, 400),
                                   replayed("p", "c", 1000, 8000)};
    assert_int_equal(ww_silicon_errors(row, 3, WW_SILICON_OURS, &e, &error), WW_OK);
    assert_float_equal(e.rank_correlation, 1, 1e-9);
    assert_float_equal(e.log_correlation, 1, 1e-9);
    row[2].ours.cycles = 10;
    assert_int_equal(ww_silicon_errors(row, 3, WW_SILICON_OURS, &e, &error), WW_OK);
    assert_float_equal(e.rank_correlation, -0.5, 1e-9);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_line_is_a_launch_or_all_of_a_programs),
        cmocka_unit_test(a_table_that_is_wrong_is_refused_with_its_line),
        cmocka_unit_test(the_librarys_table_is_sound),
        cmocka_unit_test(kernels_of_a_program_count_equally),
        cmocka_unit_test(repetitive_programs_are_left_out_of_the_rest),
        cmocka_unit_test(what_was_not_replayed_does_not_count),
        cmocka_unit_test(correlations_are_of_ranks_and_of_logarithms),
    };
    return cmocka_run_group_tests(tests, start, stop);
}
