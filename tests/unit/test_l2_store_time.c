/* How long stores hold an L2 slice (l2.write_cycles). */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>

#include "memsys_fixture.h"
#include <stdlib.h>

static int setup(void **state) {
    struct rig *rig = calloc(1, sizeof *rig);
    assert_non_null(rig);
    small_spec(&rig->spec);
    *state = rig;
    return 0;
}

static int teardown(void **state) {
    rig_stop(*state);
    free(*state);
    return 0;
}

enum { MANY = 4 };

/* Cycles from the first to the last of so many acknowledgements of stores to one slice, from two SMs. */
static uint64_t last_after_first(struct rig *rig, uint32_t sectors, uint16_t bytes) {
    rig_start(rig);
    for (uint32_t i = 0; i < MANY; i++) rig_write(rig, (uint16_t)(i & 1), 0, sectors, bytes, i);
    rig_drain(rig);
    assert_int_equal(rig->replies, MANY);
    return (rig->log[MANY - 1].ps - rig->log[0].ps) / 1000;
}

static void each_store_of_a_sector_takes_its_slice_for_the_time_of_one(void **state) {
    struct rig *rig = *state;
    rig->spec.l2_write_cycles = 5;
    assert_int_equal(last_after_first(rig, 0x1, 32), (MANY - 1) * 5);
}

static void a_store_of_a_word_takes_as_long_as_one_of_its_sector(void **state) {
    struct rig *rig = *state;
    rig->spec.l2_write_cycles = 5;
    assert_int_equal(last_after_first(rig, 0x1, 4), (MANY - 1) * 5);
}

static void a_store_takes_the_time_of_all_its_sectors(void **state) {
    struct rig *rig = *state;
    rig->spec.l2_write_cycles = 5;
    assert_int_equal(last_after_first(rig, 0xf, 128), (MANY - 1) * 20);
}

static void parts_of_a_cycle_add_up(void **state) {
    struct rig *rig = *state;
    rig->spec.l2_write_cycles = 4.25;
    assert_in_range(last_after_first(rig, 0x1, 32), (MANY - 1) * 4.25, (MANY - 1) * 4.25 + 1);
}

static void without_it_a_store_takes_what_a_read_takes(void **state) {
    struct rig *rig = *state;
    rig->spec.l2_bytes_per_cycle = 8;
    assert_int_equal(last_after_first(rig, 0x1, 32), (MANY - 1) * 4);
}

static void reads_take_no_longer_for_it(void **state) {
    struct rig *rig = *state;
    rig->spec.l2_write_cycles = 20;
    rig_start(rig);
    rig_round_trip(rig, 0, 0xf);
    for (uint32_t i = 0; i < 2; i++) rig_read(rig, (uint16_t)i, 0, 0x1, i);
    rig_drain(rig);
    assert_int_equal(rig->log[2].ps - rig->log[1].ps, 1000);
}

#define T(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void) {
    const struct CMUnitTest tests[] = {
        T(each_store_of_a_sector_takes_its_slice_for_the_time_of_one),
        T(a_store_of_a_word_takes_as_long_as_one_of_its_sector),
        T(a_store_takes_the_time_of_all_its_sectors),
        T(parts_of_a_cycle_add_up),
        T(without_it_a_store_takes_what_a_read_takes),
        T(reads_take_no_longer_for_it),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
