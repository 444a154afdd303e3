#include "dram_bench.h"

/* ---- one access ---- */

static void a_read_of_a_closed_bank_takes_trcd_tcl_burst_and_latency(void **state) {
    (void)state;
    struct bench b = {0};
    small_spec(&b.spec);
    start(&b);
    push(&b, 1, 0, 5, 1, WW_DRAM_READ, 100);
    drain(&b);
    assert_int_equal(when(&b, 1), 100 + 14 + 12 + 1 + 50);
    assert_int_equal(b.counter[WW_C_DRAM_ROW_HIT], 0);
    stop(&b);
}

static void a_row_hit_takes_tcl_burst_and_latency(void **state) {
    (void)state;
    struct bench b = {0};
    small_spec(&b.spec);
    start(&b);
    push(&b, 1, 0, 5, 1, WW_DRAM_READ, 100);
    drain(&b);
    push(&b, 2, 0, 5, 1, WW_DRAM_READ, 1000);
    drain(&b);
    assert_int_equal(when(&b, 2), 1000 + 12 + 1 + 50);
    assert_int_equal(b.counter[WW_C_DRAM_ROW_HIT], 1);
    stop(&b);
}

static void a_row_conflict_adds_trp(void **state) {
    (void)state;
    struct bench b = {0};
    small_spec(&b.spec);
    start(&b);
    push(&b, 1, 0, 5, 1, WW_DRAM_READ, 100);
    drain(&b);
    push(&b, 2, 0, 6, 1, WW_DRAM_READ, 1000);
    drain(&b);
    assert_int_equal(when(&b, 2), 1000 + 13 + 14 + 12 + 1 + 50);
    assert_int_equal(b.counter[WW_C_DRAM_PRECHARGE], 1);
    stop(&b);
}

static void a_row_stays_open_for_tras(void **state) {
    (void)state;
    struct bench b = {0};
    small_spec(&b.spec);
    start(&b);
    push(&b, 1, 0, 5, 1, WW_DRAM_READ, 100);
    push(&b, 2, 0, 6, 1, WW_DRAM_READ, 100);
    drain(&b);
    assert_int_equal(when(&b, 2), 100 + 30 + 13 + 14 + 12 + 1 + 50);
    stop(&b);
}

static void the_closed_page_policy_closes_a_row_after_its_last_hit(void **state) {
    (void)state;
    struct bench b = {0};
    small_spec(&b.spec);
    b.spec.dram_page = 1;
    start(&b);
    push(&b, 1, 0, 5, 1, WW_DRAM_READ, 100);
    drain(&b);
    push(&b, 2, 0, 6, 1, WW_DRAM_READ, 1000);
    drain(&b);
    assert_int_equal(when(&b, 2), 1000 + 14 + 12 + 1 + 50); /* no precharge to wait for */
    assert_int_equal(b.counter[WW_C_DRAM_PRECHARGE], 2);
    stop(&b);
}

/* ---- between accesses ---- */

static void bursts_of_one_bank_group_are_tccd_l_apart(void **state) {
    (void)state;
    struct bench b = {0};
    small_spec(&b.spec);
    start(&b);
    push(&b, 1, 0, 5, 4, WW_DRAM_READ, 100);
    drain(&b);
    assert_int_equal(when(&b, 1), 100 + 14 + 3 * 2 + 12 + 1 + 50);
    assert_int_equal(b.counter[WW_C_DRAM_ROW_HIT], 3);
    stop(&b);
}

static void bursts_of_two_bank_groups_interleave_at_tccd(void **state) {
    (void)state;
    struct bench b = {0};
    small_spec(&b.spec);
    start(&b);
    push(&b, 1, 0, 5, 1, WW_DRAM_READ, 100);
    push(&b, 2, 1, 5, 1, WW_DRAM_READ, 100);
    drain(&b);
    push(&b, 3, 0, 5, 4, WW_DRAM_READ, 1000);
    push(&b, 4, 1, 5, 4, WW_DRAM_READ, 1000);
    drain(&b);
    assert_int_equal(when(&b, 3), 1000 + 6 + 12 + 1 + 50);
    assert_int_equal(when(&b, 4), 1000 + 7 + 12 + 1 + 50);
    stop(&b);
}

static void activates_are_trrd_apart(void **state) {
    (void)state;
    struct bench b = {0};
    small_spec(&b.spec);
    start(&b);
    for (uint32_t i = 0; i < 3; i++) push(&b, i, i, 5, 1, WW_DRAM_READ, 100);
    drain(&b);
    for (uint32_t i = 0; i < 3; i++) assert_int_equal(when(&b, i), 100 + 4 * i + 14 + 12 + 1 + 50);
    stop(&b);
}

/* Five activates; the fifth is asked for at `cycle`. Returns its activate's cycle. */
static uint64_t fifth_activate(uint64_t cycle) {
    struct bench b = {0};
    small_spec(&b.spec);
    start(&b);
    for (uint32_t i = 0; i < 4; i++) push(&b, i, i, 5, 1, WW_DRAM_READ, 100);
    while (ww_queue_next(b.queue) < cycle * 1000) ww_queue_step(b.queue);
    push(&b, 4, 4, 5, 1, WW_DRAM_READ, cycle);
    drain(&b);
    uint64_t act = when(&b, 4) - 14 - 12 - 1 - 50;
    stop(&b);
    return act;
}

static void the_fifth_activate_waits_for_tfaw_and_no_longer(void **state) {
    (void)state;
    assert_int_equal(fifth_activate(119), 120); /* one cycle before the window ends: blocked */
    assert_int_equal(fifth_activate(120), 120); /* ready on the cycle */
    assert_int_equal(fifth_activate(121), 121);
}

static void a_read_after_a_write_waits_for_twtr(void **state) {
    (void)state;
    struct bench b = {0};
    small_spec(&b.spec);
    start(&b);
    push(&b, 1, 0, 5, 1, WW_DRAM_READ, 100);
    drain(&b);
    push(&b, 2, 0, 5, 1, WW_DRAM_WRITE, 1000);
    assert_true(ww_queue_step(b.queue)); /* no read waits: the write goes at 1000 */
    push(&b, 3, 0, 5, 1, WW_DRAM_READ, 1001);
    drain(&b);
    assert_int_equal(when(&b, 3), 1000 + 4 + 1 + 5 + 12 + 1 + 50);
    stop(&b);
}

static void a_written_row_closes_twr_after_the_data(void **state) {
    (void)state;
    struct bench b = {0};
    small_spec(&b.spec);
    start(&b);
    push(&b, 1, 0, 5, 1, WW_DRAM_READ, 100);
    drain(&b);
    push(&b, 2, 0, 5, 1, WW_DRAM_WRITE, 1000);
    assert_true(ww_queue_step(b.queue));
    push(&b, 3, 0, 6, 1, WW_DRAM_READ, 1001);
    drain(&b);
    assert_int_equal(when(&b, 3), 1000 + 4 + 1 + 11 + 13 + 14 + 12 + 1 + 50);
    stop(&b);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_read_of_a_closed_bank_takes_trcd_tcl_burst_and_latency),
        cmocka_unit_test(a_row_hit_takes_tcl_burst_and_latency),
        cmocka_unit_test(a_row_conflict_adds_trp),
        cmocka_unit_test(a_row_stays_open_for_tras),
        cmocka_unit_test(the_closed_page_policy_closes_a_row_after_its_last_hit),
        cmocka_unit_test(bursts_of_one_bank_group_are_tccd_l_apart),
        cmocka_unit_test(bursts_of_two_bank_groups_interleave_at_tccd),
        cmocka_unit_test(activates_are_trrd_apart),
        cmocka_unit_test(the_fifth_activate_waits_for_tfaw_and_no_longer),
        cmocka_unit_test(a_read_after_a_write_waits_for_twtr),
        cmocka_unit_test(a_written_row_closes_twr_after_the_data),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
