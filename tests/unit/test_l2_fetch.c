/* What the L2 reads from DRAM for a sector that misses (l2.fetch_bytes). */
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
    rig->spec.l2_fetch_bytes = 64;
    *state = rig;
    return 0;
}

static int teardown(void **state) {
    rig_stop(*state);
    free(*state);
    return 0;
}

static void a_miss_brings_the_other_sector_of_its_block(void **state) {
    struct rig *rig = *state;
    rig_start(rig);
    rig_round_trip(rig, 0, 0x8);
    assert_int_equal(rig_round_trip(rig, 0, 0x4), HIT_PS);
    assert_int_equal(rig->counter[WW_C_L2_SECTOR_MISS], 1);
    assert_int_equal(rig->counter[WW_C_L2_PREFETCH], 1);
    rig_check_laws(rig);
}

static void a_miss_leaves_the_other_block_of_its_line(void **state) {
    struct rig *rig = *state;
    rig_start(rig);
    rig_round_trip(rig, 0, 0x8);
    rig_round_trip(rig, 0, 0x2);
    assert_int_equal(rig->counter[WW_C_L2_SECTOR_MISS], 2);
    rig_check_laws(rig);
}

static void a_block_of_a_line_brings_all_of_it(void **state) {
    struct rig *rig = *state;
    rig->spec.l2_fetch_bytes = 128;
    rig_start(rig);
    rig_round_trip(rig, 0, 0x4);
    assert_int_equal(rig->counter[WW_C_DRAM_SECTOR_READ], 4);
    rig_check_laws(rig);
}

static void a_whole_line_is_read_as_it_is_asked_for(void **state) {
    struct rig *rig = *state;
    rig_start(rig);
    rig_round_trip(rig, 0, 0xf);
    assert_int_equal(rig->counter[WW_C_L2_PREFETCH], 0);
    assert_int_equal(rig->counter[WW_C_DRAM_SECTOR_READ], 4);
    rig_check_laws(rig);
}

static void a_request_for_the_other_sector_joins_its_fetch(void **state) {
    struct rig *rig = *state;
    rig_start(rig);
    rig_read(rig, 0, 0, 0x1, 1);
    rig_read(rig, 1, 0, 0x2, 2);
    rig_drain(rig);
    assert_int_equal(rig->counter[WW_C_L2_SECTOR_MERGED], 1);
    assert_int_equal(rig->counter[WW_C_DRAM_SECTOR_READ], 2);
    rig_check_laws(rig);
}

static void a_sector_that_is_there_is_not_read_again(void **state) {
    struct rig *rig = *state;
    rig_start(rig);
    rig_write(rig, 0, 0, 0x1, 32, 5);
    rig_drain(rig);
    rig_round_trip(rig, 0, 0x2);
    assert_int_equal(rig->counter[WW_C_DRAM_SECTOR_READ], 1);
    rig_check_laws(rig);
}

static void without_an_mshr_for_the_other_sector_it_is_left(void **state) {
    struct rig *rig = *state;
    rig->spec.l2_mshrs = 1;
    rig_start(rig);
    rig_round_trip(rig, 0, 0x1);
    assert_int_equal(rig->counter[WW_C_L2_PREFETCH], 0);
    assert_int_equal(rig->counter[WW_C_DRAM_SECTOR_READ], 1);
    rig_check_laws(rig);
}

#define T(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void) {
    const struct CMUnitTest tests[] = {
        T(a_miss_brings_the_other_sector_of_its_block),
        T(a_miss_leaves_the_other_block_of_its_line),
        T(a_block_of_a_line_brings_all_of_it),
        T(a_whole_line_is_read_as_it_is_asked_for),
        T(a_request_for_the_other_sector_joins_its_fetch),
        T(a_sector_that_is_there_is_not_read_again),
        T(without_an_mshr_for_the_other_sector_it_is_left),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
