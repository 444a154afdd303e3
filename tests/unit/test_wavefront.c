/* Loads that the L1 looks up several lines at a time: passes through the tags, cycles of the data. */
#include "../../estimator/warpwatt.h"
#include "../../estimator/run/micro_bench.h"
#include "../../traces/micro/micro.h"
#include "estimator/core/sm/wavefront.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <cmocka.h>

static struct ww_error error;

static void ok(enum ww_code code) {
    if (code != WW_OK) fail_msg("%s: %s", error.where, error.text);
}

/* Passes of lines with these numbers, of four banks. */
static uint32_t passes_of(const uint64_t *line, uint32_t count) {
    static struct ww_coalescer c;
    uint8_t pass[WW_REQUEST_MAX];
    c.count = count;
    for (uint32_t i = 0; i < count; i++) c.request[i] = (struct ww_line_request){.key = line[i]};
    ww_wavefront_order(&c, 4, pass);
    for (uint32_t i = 1; i < count; i++) assert_true(pass[i] == pass[i - 1] || pass[i] == pass[i - 1] + 1);
    for (uint32_t i = 0; i < count; i++) { /* none is lost */
        uint32_t k = 0;
        while (k < count && c.request[k].key != line[i]) k++;
        assert_true(k < count);
    }
    return pass[count - 1] + 1u;
}

static void neighbouring_lines_are_looked_up_together(void **state) {
    (void)state;
    const uint64_t line[] = {4, 5, 6, 7};
    assert_int_equal(passes_of(line, 4), 1);
}

static void lines_of_one_bank_are_looked_up_one_after_another(void **state) {
    (void)state;
    const uint64_t line[] = {0, 5, 10, 15}; /* both digits to the base of 4 are equal */
    assert_int_equal(passes_of(line, 4), 4);
}

static void lines_a_power_of_two_apart_are_spread_over_the_banks(void **state) {
    (void)state;
    const uint64_t line[] = {0, 4, 8, 12};
    assert_int_equal(passes_of(line, 4), 1);
}

static void a_free_bank_passes_one_that_is_taken(void **state) {
    (void)state;
    const uint64_t line[] = {0, 5, 1, 2}; /* banks 0, 0, 1, 2 */
    assert_int_equal(passes_of(line, 4), 2);
}

static uint64_t cycles_of_repeats(const char *set, uint32_t width, uint32_t column, uint32_t repeats) {
    const struct ww_micro_lanes what = {
        .cta_size = 1024, .width = width, .columns = 1024, .column = column, .repeats = repeats};
    struct ww_gpu *gpu;
    struct ww_bench *bench;
    struct ww_bench_result r;
    struct ww_micro *m;
    ok(ww_gpu_load("a100", &set, set != NULL, &gpu, &error));
    ok(ww_bench_new(gpu, 0, &bench, &error));
    ok(ww_micro_lanes_read(&what, &m, &error));
    ok(ww_bench_run(bench, m, 0, &r, &error));
    ww_micro_free(m);
    ww_bench_free(bench);
    ww_gpu_free(gpu);
    return r.cycles;
}

/* Cycles of one of eight loads that 32 warps of an SM repeat. */
static double cycles_of(const char *set, uint32_t width, uint32_t column) {
    uint64_t few = cycles_of_repeats(set, width, column, 20), many = cycles_of_repeats(set, width, column, 60);
    return (double)(many - few) / (40 * 8 * 32);
}

static void lanes_a_line_and_a_word_apart_take_a_quarter_of_their_lines(void **state) {
    (void)state;
    double banks = cycles_of(NULL, 4, 33), lines = cycles_of("l1.tag_banks=0", 4, 33);
    print_message("%.2f, one line a cycle %.2f\n", banks, lines);
    assert_true(banks > 7.9 && banks < 9.7); /* measured 8.8 */
    assert_true(lines > 31);
}

static void lanes_a_line_apart_take_a_cycle_each_for_their_data(void **state) {
    (void)state;
    double cycles = cycles_of(NULL, 4, 32);
    assert_true(cycles > 31 && cycles < 33); /* measured 32.0 */
}

static void a_coalesced_load_that_cuts_a_line_takes_one_cycle(void **state) {
    (void)state;
    double cycles = cycles_of(NULL, 4, 1);
    assert_true(cycles > 0.95 && cycles < 1.1); /* measured 1.02 */
}

static void doubles_take_a_cycle_a_half_warp(void **state) {
    (void)state;
    double cycles = cycles_of(NULL, 8, 0);
    assert_true(cycles > 1.9 && cycles < 2.1); /* measured 2.01 */
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(neighbouring_lines_are_looked_up_together),
        cmocka_unit_test(lines_of_one_bank_are_looked_up_one_after_another),
        cmocka_unit_test(lines_a_power_of_two_apart_are_spread_over_the_banks),
        cmocka_unit_test(a_free_bank_passes_one_that_is_taken),
        cmocka_unit_test(lanes_a_line_and_a_word_apart_take_a_quarter_of_their_lines),
        cmocka_unit_test(lanes_a_line_apart_take_a_cycle_each_for_their_data),
        cmocka_unit_test(a_coalesced_load_that_cuts_a_line_takes_one_cycle),
        cmocka_unit_test(doubles_take_a_cycle_a_half_warp),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
