/* Lines that SMs outside of a part of a GPU have read before (l2.shared_elsewhere). */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>

#include "memsys_fixture.h"
#include <stdlib.h>

enum { HIT_PS = 40 * 1000, LINES = 400 };

static struct rig *start(double share) {
    struct rig *rig = calloc(1, sizeof *rig);
    assert_non_null(rig);
    small_spec(&rig->spec);
    rig->spec.l2_shared_elsewhere = share;
    rig_start(rig);
    return rig;
}

static void stop(struct rig *rig) {
    rig_check_laws(rig);
    rig_stop(rig);
    free(rig);
}

static void a_read_of_such_a_line_takes_an_idle_drams_time_and_nothing_of_it(void **state) {
    (void)state;
    struct rig *rig = start(0);
    uint64_t idle = rig_round_trip(rig, 0, 0x1);
    stop(rig);
    rig = start(1);
    assert_in_range(rig_round_trip(rig, 0, 0x1), idle * 9 / 10, idle * 11 / 10);
    assert_int_equal(rig->counter[WW_C_DRAM_SECTOR_READ], 0);
    assert_int_equal(rig->counter[WW_C_L2_SECTOR_MERGED], 1);
    stop(rig);
}

static void a_second_read_hits(void **state) {
    (void)state;
    struct rig *rig = start(1);
    rig_round_trip(rig, 0, 0x1);
    assert_int_equal(rig_round_trip(rig, 0, 0x1), HIT_PS);
    stop(rig);
}

static void as_many_lines_are_such_as_are_asked_for(void **state) {
    (void)state;
    struct rig *rig = start(0.25);
    for (uint32_t i = 0; i < LINES; i++) rig_round_trip(rig, (uint64_t)i * 128, 0x1);
    assert_in_range(rig->counter[WW_C_L2_SECTOR_MERGED], LINES / 5, LINES * 3 / 10);
    assert_int_equal(rig->counter[WW_C_L2_SECTOR_MERGED] + rig->counter[WW_C_DRAM_SECTOR_READ], LINES);
    stop(rig);
}

static void stores_write_as_without(void **state) {
    (void)state;
    struct rig *rig = start(1);
    rig_write(rig, 0, 0, 0x1, 32, 0);
    rig_drain(rig);
    assert_int_equal(rig->counter[WW_C_L2_SECTOR_WRITE], 1);
    assert_int_equal(rig->counter[WW_C_L2_SECTOR_MERGED], 0);
    stop(rig);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_read_of_such_a_line_takes_an_idle_drams_time_and_nothing_of_it),
        cmocka_unit_test(a_second_read_hits),
        cmocka_unit_test(as_many_lines_are_such_as_are_asked_for),
        cmocka_unit_test(stores_write_as_without),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
