/* How many dirty lines a set of the L2 keeps (l2.dirty_ways). */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>

#include "memsys_fixture.h"
#include <stdlib.h>

enum { HIT_PS = 40 * 1000 };

static int setup(void **state) {
    struct rig *rig = calloc(1, sizeof *rig);
    assert_non_null(rig);
    small_spec(&rig->spec);
    rig->spec.l2_dirty_ways = 2;
    *state = rig;
    return 0;
}

static int teardown(void **state) {
    rig_stop(*state);
    free(*state);
    return 0;
}

/* Lines of one set of slice 0: 16 sets of 4 ways, two lines in each chunk, every other chunk. */
static uint64_t same_set(uint32_t i) {
    return (uint64_t)i * 16 / 2 * 256 * 2;
}

static void store(struct rig *rig, uint32_t line, uint32_t sectors, uint16_t bytes) {
    rig_write(rig, 0, same_set(line), sectors, bytes, 0);
    rig_drain(rig);
}

static void a_set_keeps_its_dirty_lines_up_to_the_bound(void **state) {
    struct rig *rig = *state;
    rig_start(rig);
    store(rig, 0, 0x1, 32);
    store(rig, 1, 0x1, 32);
    assert_int_equal(rig->counter[WW_C_DRAM_SECTOR_WRITE], 0);
    rig_check_laws(rig);
}

static void one_line_more_has_all_dirty_sectors_of_one_written_back(void **state) {
    struct rig *rig = *state;
    rig_start(rig);
    store(rig, 0, 0x7, 96);
    store(rig, 1, 0x1, 32);
    store(rig, 2, 0x1, 32);
    assert_int_equal(rig->counter[WW_C_L2_WRITEBACK], 3);
    rig_check_laws(rig);
}

static void the_line_used_least_recently_is_written_back(void **state) {
    struct rig *rig = *state;
    rig_start(rig);
    store(rig, 0, 0x7, 96);
    store(rig, 1, 0x1, 32);
    rig_round_trip(rig, same_set(0), 0x1);
    store(rig, 2, 0x1, 32);
    assert_int_equal(rig->counter[WW_C_L2_WRITEBACK], 1);
    rig_check_laws(rig);
}

static void what_is_written_back_stays_and_can_be_read(void **state) {
    struct rig *rig = *state;
    rig_start(rig);
    for (uint32_t i = 0; i < 3; i++) store(rig, i, 0x1, 32);
    assert_int_equal(rig_round_trip(rig, same_set(0), 0x1), HIT_PS);
}

static void it_is_not_written_again_when_its_line_is_replaced(void **state) {
    struct rig *rig = *state;
    rig_start(rig);
    for (uint32_t i = 0; i < 3; i++) store(rig, i, 0x1, 32);
    for (uint32_t i = 3; i < 5; i++) rig_round_trip(rig, same_set(i), 0x1); /* takes the way of the first */
    assert_int_equal(rig->counter[WW_C_L2_WRITEBACK], 1);
    rig_check_laws(rig);
}

static void a_second_store_to_a_dirty_line_writes_nothing_back(void **state) {
    struct rig *rig = *state;
    rig_start(rig);
    store(rig, 0, 0x1, 32);
    store(rig, 1, 0x1, 32);
    store(rig, 1, 0x2, 32);
    assert_int_equal(rig->counter[WW_C_L2_WRITEBACK], 0);
}

static void without_a_bound_all_ways_may_be_dirty(void **state) {
    struct rig *rig = *state;
    rig->spec.l2_dirty_ways = 0;
    rig_start(rig);
    for (uint32_t i = 0; i < 4; i++) store(rig, i, 0x1, 32);
    assert_int_equal(rig->counter[WW_C_L2_WRITEBACK], 0);
}

#define T(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void) {
    const struct CMUnitTest tests[] = {
        T(a_set_keeps_its_dirty_lines_up_to_the_bound),
        T(one_line_more_has_all_dirty_sectors_of_one_written_back),
        T(the_line_used_least_recently_is_written_back),
        T(what_is_written_back_stays_and_can_be_read),
        T(it_is_not_written_again_when_its_line_is_replaced),
        T(a_second_store_to_a_dirty_line_writes_nothing_back),
        T(without_a_bound_all_ways_may_be_dirty),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
