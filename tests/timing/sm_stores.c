/* Stores that take lines of the L1 (l1.write=through_allocate). */
#include "fake_memory.h"
#include "sm_fixture.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

#define LINE 4096
#define ONE_WORD 1u /* lanes */
#define ONE_SECTOR 0xffu

static struct program p;
static uint32_t load, use, store, atomic;

/* One warp; accesses are given in order, each load waits for its value. */
static void begin(void) {
    fake.latency_ps = 200000;
    fake.level = WW_LEVEL_L2;
    fake.most = 0;
    program_init(&p, 1, 32, 1, 32);
    load = program_memory(&p, WW_OP_LOAD, WW_SPACE_GLOBAL, 4, 10, 2);
    use = program_inst(&p, WW_OP_INT, 20, 10, -1);
    store = program_memory(&p, WW_OP_STORE, WW_SPACE_GLOBAL, 4, -1, 2);
    atomic = program_memory(&p, WW_OP_ATOMIC, WW_SPACE_GLOBAL, 4, 10, 2);
}

static void loads(uint64_t address, uint32_t lanes) {
    program_access(&p, 0, load, lanes, address, 4);
    program_step(&p, 0, use, ALL);
}

static void stores(uint64_t address, uint32_t lanes) {
    program_access(&p, 0, store, lanes, address, 4);
}

static struct replay end(uint32_t ways) {
    struct ww_gpu_spec g = fixture_gpu();
    g.l1_write = WW_L1_ALLOCATE;
    g.l1_hash = WW_HASH_NONE;
    g.l1_size_kb = 1;
    g.l1_ways = ways;
    struct replay r = program_run(&p, &g);
    program_free(&p);
    return r;
}

static void a_store_that_misses_fetches_nothing(void **state) {
    (void)state;
    begin();
    stores(LINE, ONE_WORD);
    struct replay r = end(8);
    assert_int_equal(r.r.counter[WW_C_L1_WRITE_MISS], 1);
    assert_int_equal(r.r.counter[WW_C_XBAR_SECTOR_READ], 0);
    assert_int_equal(fake.writes, 1);
    replay_free(&r);
}

static void a_store_hits_if_a_store_to_another_sector_has_taken_the_line(void **state) {
    (void)state;
    begin();
    stores(LINE, ONE_SECTOR);
    stores(LINE + 96, ONE_SECTOR);
    struct replay r = end(8);
    assert_int_equal(r.r.counter[WW_C_L1_WRITE_HIT], 1);
    assert_int_equal(r.r.counter[WW_C_L1_WRITE_MISS], 1);
    replay_free(&r);
}

static void a_store_hits_if_a_load_of_another_sector_has_brought_the_line(void **state) {
    (void)state;
    begin();
    loads(LINE, ONE_SECTOR);
    stores(LINE + 96, ONE_SECTOR);
    struct replay r = end(8);
    assert_int_equal(r.r.counter[WW_C_L1_WRITE_HIT], 1);
    replay_free(&r);
}

static void a_sector_that_a_store_fills_is_read_from_the_l1(void **state) {
    (void)state;
    begin();
    stores(LINE, ONE_SECTOR);
    loads(LINE, ONE_SECTOR);
    struct replay r = end(8);
    assert_int_equal(r.r.counter[WW_C_L1_SECTOR_HIT], 1);
    replay_free(&r);
}

static void a_sector_stored_in_part_is_fetched_when_it_is_read(void **state) {
    (void)state;
    begin();
    stores(LINE, ONE_WORD);
    loads(LINE, ONE_WORD);
    struct replay r = end(8);
    assert_int_equal(r.r.counter[WW_C_L1_SECTOR_HIT], 0);
    assert_int_equal(r.r.counter[WW_C_L1_SECTOR_MISS], 1);
    replay_free(&r);
}

static void a_sector_that_is_there_stays_readable_when_a_part_of_it_is_stored(void **state) {
    (void)state;
    begin();
    loads(LINE, ONE_WORD);
    stores(LINE, ONE_WORD);
    loads(LINE, ONE_WORD);
    struct replay r = end(8);
    assert_int_equal(r.r.counter[WW_C_L1_SECTOR_HIT], 1);
    replay_free(&r);
}

static void a_store_drives_out_the_line_that_was_used_least_recently(void **state) {
    (void)state;
    begin();
    loads(0, ONE_SECTOR);
    stores(LINE, ONE_SECTOR);
    stores(2 * LINE, ONE_SECTOR);
    loads(0, ONE_SECTOR);
    struct replay r = end(2);
    assert_int_equal(r.r.counter[WW_C_L1_SECTOR_MISS], 2);
    replay_free(&r);
}

static void a_store_leaves_lines_alone_that_wait_for_their_data(void **state) {
    (void)state;
    begin();
    program_access(&p, 0, load, ONE_SECTOR, 0, 4); /* takes the only way of its set and is on its way */
    stores(LINE, ONE_SECTOR);
    stores(LINE, ONE_SECTOR);
    struct replay r = end(1);
    assert_int_equal(r.r.counter[WW_C_L1_WRITE_MISS], 2);
    assert_int_equal(r.r.counter[WW_C_L1_EVICTION], 0);
    replay_free(&r);
}

static void an_atomic_takes_no_line_and_evicts_the_one_there_is(void **state) {
    (void)state;
    begin();
    stores(LINE, ONE_SECTOR);
    program_access(&p, 0, atomic, ONE_SECTOR, LINE, 4);
    program_step(&p, 0, use, ALL);
    loads(LINE, ONE_SECTOR);
    struct replay r = end(8);
    assert_int_equal(r.r.counter[WW_C_L1_SECTOR_MISS], 1);
    replay_free(&r);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_store_that_misses_fetches_nothing),
        cmocka_unit_test(a_store_hits_if_a_store_to_another_sector_has_taken_the_line),
        cmocka_unit_test(a_store_hits_if_a_load_of_another_sector_has_brought_the_line),
        cmocka_unit_test(a_sector_that_a_store_fills_is_read_from_the_l1),
        cmocka_unit_test(a_sector_stored_in_part_is_fetched_when_it_is_read),
        cmocka_unit_test(a_sector_that_is_there_stays_readable_when_a_part_of_it_is_stored),
        cmocka_unit_test(a_store_drives_out_the_line_that_was_used_least_recently),
        cmocka_unit_test(a_store_leaves_lines_alone_that_wait_for_their_data),
        cmocka_unit_test(an_atomic_takes_no_line_and_evicts_the_one_there_is),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
