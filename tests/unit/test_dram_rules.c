#include "dram_bench.h"
#include "estimator/base/rng.h"
#include "estimator/core/memory/dram_channel.h"

static void a_row_hit_passes_an_older_row_miss(void **state) {
    (void)state;
    struct bench b = {0};
    small_spec(&b.spec);
    start(&b);
    push(&b, 1, 0, 5, 1, WW_DRAM_READ, 100);
    drain(&b);
    push(&b, 2, 0, 6, 1, WW_DRAM_READ, 1000);
    push(&b, 3, 0, 5, 1, WW_DRAM_READ, 1000);
    drain(&b);
    assert_int_equal(when(&b, 3), 1000 + 12 + 1 + 50);
    assert_true(when(&b, 2) > when(&b, 3));
    stop(&b);
}

static void of_two_hits_the_older_goes_first(void **state) {
    (void)state;
    struct bench b = {0};
    small_spec(&b.spec);
    start(&b);
    push(&b, 1, 0, 5, 1, WW_DRAM_READ, 100);
    push(&b, 2, 4, 5, 1, WW_DRAM_READ, 100); /* another bank of the same group */
    drain(&b);
    push(&b, 3, 4, 5, 1, WW_DRAM_READ, 1000);
    push(&b, 4, 0, 5, 1, WW_DRAM_READ, 1000);
    drain(&b);
    assert_int_equal(b.done[2], 3);
    assert_int_equal(b.done[3], 4);
    stop(&b);
}

/* Vectors of the scheduler have four elements, whatever there is of groups. */
static void banks_of_one_or_two_groups_have_their_bursts_once(void **state) {
    (void)state;
    for (uint32_t groups = 1; groups <= 2; groups++) {
        struct bench b = {0};
        small_spec(&b.spec);
        b.spec.dram_bank_groups = groups;
        start(&b);
        for (uint32_t bank = 0; bank < 4; bank++) push(&b, bank, bank, 5, 2, WW_DRAM_READ, 100);
        drain(&b);
        assert_int_equal(b.count, 4);
        for (uint32_t bank = 0; bank < 4; bank++) assert_int_equal(b.done[bank], bank);
        assert_int_equal(b.counter[WW_C_DRAM_BURST_READ], 8);
        assert_int_equal(b.counter[WW_C_DRAM_ROW_HIT], 4);
        stop(&b);
    }
}

/* Ages are numbered anew when they have become large. */
static void of_two_hits_the_older_goes_first_when_ages_are_numbered_anew(void **state) {
    (void)state;
    struct bench b = {0};
    small_spec(&b.spec);
    start(&b);
    push(&b, 1, 0, 5, 1, WW_DRAM_READ, 100);
    push(&b, 2, 4, 5, 1, WW_DRAM_READ, 100); /* another bank of the same group */
    drain(&b);
    b.dram->channel[0].age = WW_DRAM_AGES - 1;
    push(&b, 3, 4, 5, 1, WW_DRAM_READ, 1000);
    push(&b, 4, 0, 5, 1, WW_DRAM_READ, 1000);
    assert_int_equal(b.dram->channel[0].age, 2);
    drain(&b);
    assert_int_equal(b.done[2], 3);
    assert_int_equal(b.done[3], 4);
    stop(&b);
}

static void a_row_stays_open_for_tras_when_times_get_another_base(void **state) {
    (void)state;
    struct bench b = {0};
    small_spec(&b.spec);
    start(&b);
    const uint64_t cycle = WW_DRAM_SPAN - 20;
    push(&b, 1, 0, 5, 1, WW_DRAM_READ, 100);
    drain(&b);
    push(&b, 2, 0, 6, 1, WW_DRAM_READ, cycle);
    push(&b, 3, 0, 7, 1, WW_DRAM_READ, cycle);
    assert_int_equal(b.dram->channel[0].base, 0);
    drain(&b);
    assert_true(b.dram->channel[0].base >= WW_DRAM_SPAN);
    assert_int_equal(when(&b, 3), cycle + 13 + 30 + 13 + 14 + 12 + 1 + 50);
    stop(&b);
}

/* Hits of one row keep coming; the miss is asked for at 1000. */
static void the_age_cap_ends_the_wait_behind_hits(void **state) {
    (void)state;
    struct bench b = {0};
    small_spec(&b.spec);
    start(&b);
    push(&b, 1, 0, 5, 1, WW_DRAM_READ, 100);
    drain(&b);
    push(&b, 2, 0, 5, 4, WW_DRAM_READ, 1000);
    push(&b, 3, 0, 6, 1, WW_DRAM_READ, 1000);
    uint32_t id = 4;
    for (uint64_t cycle = 1005; cycle < 3000; cycle += 5) {
        while (ww_queue_next(b.queue) < cycle * 1000) ww_queue_step(b.queue);
        if (ww_dram_has_room(ww_dram_room(b.dram, 0), WW_DRAM_READ))
            push(&b, id++, 0, 5, 4, WW_DRAM_READ, cycle);
    }
    drain(&b);
    assert_true(when(&b, 3) > 1000 + WW_DRAM_AGE_CAP);
    assert_true(when(&b, 3) < 1000 + WW_DRAM_AGE_CAP + 200);
    stop(&b);
}

/* Banks 0 to 3 must precharge for theirs, bank 6 is closed. */
static void a_closed_bank_takes_its_turn_among_banks_that_precharge(void **state) {
    (void)state;
    struct bench b = {0};
    small_spec(&b.spec);
    start(&b);
    for (uint32_t bank = 0; bank < 4; bank++) push(&b, bank, bank, 5, 1, WW_DRAM_READ, 100);
    drain(&b);
    push(&b, 10, 0, 6, 1, WW_DRAM_READ, 1000);
    push(&b, 11, 6, 6, 1, WW_DRAM_READ, 1000);
    for (uint32_t bank = 1; bank < 4; bank++) push(&b, 11 + bank, bank, 6, 1, WW_DRAM_READ, 1000);
    drain(&b);
    assert_int_equal(when(&b, 11), when(&b, 10) + 4); /* tRRD */
    assert_int_equal(when(&b, 12), when(&b, 11) + 4);
    stop(&b);
}

static void a_closed_bank_activates_at_once_if_nothing_else_does(void **state) {
    (void)state;
    struct bench b = {0};
    small_spec(&b.spec);
    start(&b);
    push(&b, 1, 6, 6, 1, WW_DRAM_READ, 1000);
    drain(&b);
    assert_int_equal(when(&b, 1), 1000 + 14 + 12 + 1 + 50);
    stop(&b);
}

static void writes_wait_for_reads_below_the_high_mark(void **state) {
    (void)state;
    struct bench b = {0};
    small_spec(&b.spec);
    start(&b);
    for (uint32_t i = 0; i < 20; i++) push(&b, i, i % 8, 5, 1, WW_DRAM_READ, 100);
    for (uint32_t i = 0; i < 47; i++) push(&b, 100 + i, i % 8, 5, 1, WW_DRAM_WRITE, 100);
    drain(&b);
    assert_int_equal(b.reads_done_before_first_write, 20);
    assert_int_equal(b.written, 47);
    stop(&b);
}

static void at_the_high_mark_writes_drain_to_the_low_mark(void **state) {
    (void)state;
    struct bench b = {0};
    small_spec(&b.spec);
    start(&b);
    for (uint32_t i = 0; i < 20; i++) push(&b, i, i % 8, 5, 1, WW_DRAM_READ, 100);
    for (uint32_t i = 0; i < 48; i++) push(&b, 100 + i, i % 8, 5, 1, WW_DRAM_WRITE, 100);
    while (b.count == 0) assert_true(ww_queue_step(b.queue));
    assert_int_equal(b.reads_done_before_first_write, 0);
    assert_int_equal(b.written, 48 - 16);
    drain(&b);
    assert_int_equal(b.written, 48);
    assert_int_equal(b.count, 20);
    stop(&b);
}

static void idle_memory_is_refreshed_without_events(void **state) {
    (void)state;
    struct bench b = {0};
    small_spec(&b.spec);
    b.spec.dram_trefi = 1000;
    b.spec.dram_trfc = 100;
    start(&b);
    assert_int_equal(ww_queue_next(b.queue), UINT64_MAX);
    ww_dram_settle(b.dram, 999 * 1000);
    assert_int_equal(b.counter[WW_C_DRAM_REFRESH], 0);
    ww_dram_settle(b.dram, 1000 * 1000);
    assert_int_equal(b.counter[WW_C_DRAM_REFRESH], 1);
    ww_dram_settle(b.dram, 123456 * 1000);
    assert_int_equal(b.counter[WW_C_DRAM_REFRESH], 123);
    assert_int_equal(b.counter[WW_C_DRAM_CYCLES], 123456);
    assert_int_equal(b.counter[WW_C_DRAM_ACTIVE_CYCLES], 0);
    stop(&b);
}

static void busy_memory_is_refreshed_as_often(void **state) {
    (void)state;
    struct bench b = {0};
    small_spec(&b.spec);
    b.spec.dram_trefi = 1000;
    b.spec.dram_trfc = 100;
    start(&b);
    for (uint64_t cycle = 100; cycle < 20050; cycle += 50) {
        while (ww_queue_next(b.queue) < cycle * 1000) ww_queue_step(b.queue);
        push(&b, 1, (uint32_t)cycle / 50 % 8, 5, 4, WW_DRAM_READ, cycle);
    }
    drain(&b);
    ww_dram_settle(b.dram, 20500 * 1000);
    assert_int_equal(b.counter[WW_C_DRAM_REFRESH], 20);
    assert_true(b.counter[WW_C_DRAM_ACTIVE_CYCLES] < 20500 - 20 * 100);
    assert_true(b.counter[WW_C_DRAM_ACTIVE_CYCLES] > 15000);
    stop(&b);
}

static void a_refresh_closes_rows_and_holds_activates_for_trfc(void **state) {
    (void)state;
    struct bench b = {0};
    small_spec(&b.spec);
    b.spec.dram_trefi = 1000;
    b.spec.dram_trfc = 100;
    start(&b);
    push(&b, 1, 0, 5, 1, WW_DRAM_READ, 100);
    drain(&b);
    /* At 1000 the row is precharged (tRP 13); the refresh ends at 1113. */
    push(&b, 2, 0, 5, 1, WW_DRAM_READ, 1020);
    drain(&b);
    assert_int_equal(when(&b, 2), 1113 + 14 + 12 + 1 + 50);
    ww_dram_settle(b.dram, 1200 * 1000);
    assert_int_equal(b.counter[WW_C_DRAM_ACTIVATE], 2);
    assert_int_equal(b.counter[WW_C_DRAM_PRECHARGE], 1);
    assert_int_equal(b.counter[WW_C_DRAM_ACTIVE_CYCLES], 900 + 87); /* 100 to 1000 and from 1113 on */
    stop(&b);
}

/* Banks are refreshed in turn, every 1000 cycles each: of eight, bank 0 at 125, 1 at 250. */
static void bank_refresh_spec(struct bench *b) {
    small_spec(&b->spec);
    b->spec.dram_trefi = 1000;
    b->spec.dram_trfc = 100;
    b->spec.dram_refresh = 1;
}

static void a_bank_refresh_closes_the_row_of_its_bank_and_holds_it_for_trfc(void **state) {
    (void)state;
    struct bench b = {0};
    bank_refresh_spec(&b);
    start(&b);
    push(&b, 1, 1, 5, 1, WW_DRAM_READ, 150);
    drain(&b);
    /* The row is precharged at 250 (tRP 13); the refresh ends at 363. */
    push(&b, 2, 1, 5, 1, WW_DRAM_READ, 255);
    drain(&b);
    assert_int_equal(when(&b, 2), 363 + 14 + 12 + 1 + 50);
    assert_int_equal(b.counter[WW_C_DRAM_ACTIVATE], 2);
    assert_int_equal(b.counter[WW_C_DRAM_PRECHARGE], 1);
    stop(&b);
}

static void a_bank_refresh_leaves_the_other_banks_alone(void **state) {
    (void)state;
    struct bench b = {0};
    bank_refresh_spec(&b);
    start(&b);
    push(&b, 1, 2, 5, 1, WW_DRAM_READ, 150);
    drain(&b);
    push(&b, 2, 2, 5, 1, WW_DRAM_READ, 255); /* bank 1 is being refreshed */
    drain(&b);
    assert_int_equal(when(&b, 2), 255 + 12 + 1 + 50);
    assert_int_equal(b.counter[WW_C_DRAM_ROW_HIT], 1);
    stop(&b);
}

static void a_round_of_bank_refreshes_is_one_of_the_channel(void **state) {
    (void)state;
    struct bench b = {0};
    bank_refresh_spec(&b);
    start(&b);
    ww_dram_settle(b.dram, (8 * 125 - 1) * 1000);
    assert_int_equal(b.counter[WW_C_DRAM_REFRESH], 0);
    ww_dram_settle(b.dram, 8 * 125 * 1000);
    assert_int_equal(b.counter[WW_C_DRAM_REFRESH], 1);
    ww_dram_settle(b.dram, 100 * 8 * 125 * 1000);
    assert_int_equal(b.counter[WW_C_DRAM_REFRESH], 100);
    stop(&b);
}

static void the_queue_is_measured_in_bursts(void **state) {
    (void)state;
    struct bench b = {0};
    small_spec(&b.spec);
    b.spec.dram_queue = 8;
    start(&b);
    push(&b, 1, 0, 5, 4, WW_DRAM_READ, 0);
    push(&b, 2, 0, 5, 3, WW_DRAM_READ, 0);
    assert_true(ww_dram_has_room(ww_dram_room(b.dram, 0), WW_DRAM_READ));
    push(&b, 3, 0, 5, 1, WW_DRAM_READ, 0);
    assert_false(ww_dram_has_room(ww_dram_room(b.dram, 0), WW_DRAM_READ));
    stop(&b);
}

static void room_is_told_and_bounded(void **state) {
    (void)state;
    struct bench b = {0};
    small_spec(&b.spec);
    b.spec.dram_queue = 2;
    start(&b);
    push(&b, 1, 0, 5, 1, WW_DRAM_READ, 0);
    push(&b, 2, 0, 5, 1, WW_DRAM_READ, 0);
    assert_false(ww_dram_has_room(ww_dram_room(b.dram, 0), WW_DRAM_READ));
    assert_true(ww_dram_has_room(ww_dram_room(b.dram, 0), WW_DRAM_WRITE));
    while (b.room == 0) assert_true(ww_queue_step(b.queue));
    assert_true(ww_dram_has_room(ww_dram_room(b.dram, 0), WW_DRAM_READ));
    stop(&b);
}

static void cycles_follow_a_clock_change(void **state) {
    (void)state;
    struct bench b = {0};
    small_spec(&b.spec);
    start(&b);
    ww_clock_set(ww_dram_clock(b.dram), 500, 1000 * 1000);
    ww_dram_settle(b.dram, 3000 * 1000);
    assert_int_equal(b.counter[WW_C_DRAM_CYCLES], 1000 + 1000);
    stop(&b);
}

/* Requests of all kinds to the first 16 banks, as soon as there is room for them. */
static void push_at_random(struct bench *b) {
    struct ww_rng r;
    uint64_t cycle = 0;
    ww_rng_seed(&r, 3);
    for (uint32_t id = 0; id < DONE_MAX; id++) {
        uint8_t direction = ww_rng_below(&r, 4) ? WW_DRAM_READ : WW_DRAM_WRITE;
        uint32_t bank = ww_rng_below(&r, 16), row = ww_rng_below(&r, 4), wait = ww_rng_below(&r, 8);
        uint16_t bursts = (uint16_t)(1 + ww_rng_below(&r, 4));
        cycle += id % 100 ? wait : 2000;
        while (ww_queue_next(b->queue) <= cycle * 1000 ||
               !ww_dram_has_room(ww_dram_room(b->dram, 0), direction)) {
            assert_true(ww_queue_step(b->queue));
            if (ww_queue_now(b->queue) > cycle * 1000) cycle = ww_queue_now(b->queue) / 1000;
        }
        push(b, id, bank, row, bursts, direction, cycle);
    }
    drain(b);
}

/* 16 banks in up to four groups are scheduled by loops of their own. */
static void banks_that_are_never_used_change_nothing(void **state) {
    (void)state;
    for (uint32_t groups = 1; groups <= 4; groups *= 2) {
        struct bench few = {0}, many = {0};
        small_spec(&few.spec);
        few.spec.dram_banks = 16;
        few.spec.dram_bank_groups = groups;
        few.spec.dram_tccd_l = 3;
        many.spec = few.spec;
        many.spec.dram_banks = 32;
        start(&few);
        start(&many);
        push_at_random(&few);
        push_at_random(&many);
        assert_int_equal(few.count, many.count);
        assert_memory_equal(few.done, many.done, sizeof few.done);
        assert_memory_equal(few.cycle, many.cycle, sizeof few.cycle);
        assert_memory_equal(few.counter, many.counter, sizeof few.counter);
        stop(&few);
        stop(&many);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_row_hit_passes_an_older_row_miss),
        cmocka_unit_test(of_two_hits_the_older_goes_first),
        cmocka_unit_test(banks_of_one_or_two_groups_have_their_bursts_once),
        cmocka_unit_test(of_two_hits_the_older_goes_first_when_ages_are_numbered_anew),
        cmocka_unit_test(a_row_stays_open_for_tras_when_times_get_another_base),
        cmocka_unit_test(the_age_cap_ends_the_wait_behind_hits),
        cmocka_unit_test(a_closed_bank_takes_its_turn_among_banks_that_precharge),
        cmocka_unit_test(a_closed_bank_activates_at_once_if_nothing_else_does),
        cmocka_unit_test(writes_wait_for_reads_below_the_high_mark),
        cmocka_unit_test(at_the_high_mark_writes_drain_to_the_low_mark),
        cmocka_unit_test(idle_memory_is_refreshed_without_events),
        cmocka_unit_test(busy_memory_is_refreshed_as_often),
        cmocka_unit_test(a_refresh_closes_rows_and_holds_activates_for_trfc),
        cmocka_unit_test(a_bank_refresh_closes_the_row_of_its_bank_and_holds_it_for_trfc),
        cmocka_unit_test(a_bank_refresh_leaves_the_other_banks_alone),
        cmocka_unit_test(a_round_of_bank_refreshes_is_one_of_the_channel),
        cmocka_unit_test(the_queue_is_measured_in_bursts),
        cmocka_unit_test(room_is_told_and_bounded),
        cmocka_unit_test(cycles_follow_a_clock_change),
        cmocka_unit_test(banks_that_are_never_used_change_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
