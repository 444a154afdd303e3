/* The L2's sequential prefetch, as a chase of single loads sees it and as its counters do. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>

#include "estimator/base/rng.h"
#include "memsys_fixture.h"
#include <stdlib.h>

/* Of the small GPU: 10 to the slice, 20 in it, 10 back. */
enum { HIT_PS = 40 * 1000, KB = 1024 };

static int setup(void **state) {
    struct rig *rig = calloc(1, sizeof *rig);
    assert_non_null(rig);
    small_spec(&rig->spec);
    rig->spec.l2_size_kb = 96;
    rig->spec.l2_ways = 6;
    rig->spec.l2_prefetch = WW_L2_PREFETCH_SEQUENTIAL;
    rig->spec.l2_prefetch_kb = 64;
    *state = rig;
    return 0;
}

static int teardown(void **state) {
    rig_stop(*state);
    free(*state);
    return 0;
}

/* One load of 32 bytes; its time. */
static uint64_t load(struct rig *rig, uint64_t address) {
    uint64_t from = ww_queue_now(rig->queue);
    rig->replies = 0;
    rig_read(rig, 0, address & ~(uint64_t)127, 1u << (address >> 5 & 3), 0);
    while (!rig->replies) assert_true(ww_queue_step(rig->queue));
    return rig->log[0].ps - from;
}

/* Loads `bytes` bytes in steps of `stride`; how many took longer than a hit. */
static uint32_t chase(struct rig *rig, uint64_t from, uint64_t bytes, uint64_t stride) {
    uint32_t slow = 0;
    for (uint64_t at = 0; at < bytes; at += stride) slow += load(rig, from + at) > HIT_PS;
    rig_drain(rig);
    rig_check_laws(rig);
    return slow;
}

static void only_the_first_load_of_a_uniform_chase_sees_dram(void **state) {
    struct rig *rig = *state;
    rig_start(rig);
    static const uint64_t strides[] = {4, 32, 64, 128};
    for (size_t i = 0; i < sizeof strides / sizeof *strides; i++)
        assert_int_equal(chase(rig, i << 24, 16 * KB, strides[i]), 1);
}

static void without_prefetch_every_sector_of_the_chase_sees_dram(void **state) {
    struct rig *rig = *state;
    rig->spec.l2_prefetch = WW_L2_PREFETCH_OFF;
    rig_start(rig);
    assert_int_equal(chase(rig, 0, 16 * KB, 32), 16 * KB / 32);
    assert_int_equal(rig->counter[WW_C_L2_PREFETCH], 0);
}

static void a_sequence_ends_after_its_length(void **state) {
    struct rig *rig = *state;
    rig_start(rig);
    assert_int_equal(chase(rig, 0, 64 * KB, 32), 1);
    assert_int_equal(chase(rig, 1 << 24, 64 * KB + 32, 32), 2);
    assert_int_equal(chase(rig, 1 << 25, 3 * 64 * KB, 32), 3);
}

static void strides_of_megabytes_see_dram_each_time(void **state) {
    struct rig *rig = *state;
    rig_start(rig);
    assert_int_equal(chase(rig, 0, (uint64_t)65 << 20, 1 << 20), 65);
}

static void little_is_fetched_behind_the_end_of_an_array(void **state) {
    struct rig *rig = *state;
    rig_start(rig);
    for (uint64_t bytes = 256; bytes <= 32 * KB; bytes *= 2) {
        uint64_t before = rig->counter[WW_C_DRAM_SECTOR_READ];
        chase(rig, bytes << 20, bytes, 32);
        uint64_t over = rig->counter[WW_C_DRAM_SECTOR_READ] - before - bytes / 32;
        assert_true(32 * over <= rig->spec.l2_prefetch_ahead + 128);
        assert_true(32 * over <= bytes + 256 + 128);
    }
}

/* Loads of which no sequence comes of: what was spent on them at first is bounded. */
static void random_loads_stop_being_prefetched_for(void **state) {
    struct rig *rig = *state;
    struct ww_rng rng;
    ww_rng_seed(&rng, 1);
    rig_start(rig);
    for (int i = 0; i < 2000; i++) load(rig, (uint64_t)ww_rng_below(&rng, 1 << 20) << 12);
    rig_drain(rig);
    rig_check_laws(rig);
    assert_true(rig->counter[WW_C_L2_PREFETCH] > 0);
    assert_true(rig->counter[WW_C_L2_PREFETCH] < rig->counter[WW_C_L2_SECTOR_MISS]);
}

static void after_random_loads_a_sequence_must_prove_itself(void **state) {
    struct rig *rig = *state;
    rig_start(rig);
    chase(rig, 0, (uint64_t)100 << 20, 1 << 20);
    uint64_t before = rig->counter[WW_C_L2_PREFETCH];
    load(rig, (uint64_t)1 << 30);
    rig_drain(rig);
    assert_int_equal(rig->counter[WW_C_L2_PREFETCH], before);
    assert_int_equal(chase(rig, ((uint64_t)1 << 30) + 32, 16 * KB, 32), 512 / 32);
    assert_true(rig->counter[WW_C_L2_PREFETCH] > before);
}

static void a_load_of_a_sector_on_its_way_joins_it(void **state) {
    struct rig *rig = *state;
    rig_start(rig);
    rig_read(rig, 0, 0, 1, 0);
    while (!rig->counter[WW_C_L2_PREFETCH]) assert_true(ww_queue_step(rig->queue));
    rig_read(rig, 0, 0, 2, 1);
    rig_drain(rig);
    assert_int_equal(rig->counter[WW_C_L2_SECTOR_MERGED], 1);
    assert_int_equal(rig->counter[WW_C_L2_SECTOR_MISS], 1);
    rig_check_laws(rig);
}

static void a_busy_channel_takes_no_prefetch(void **state) {
    struct rig *rig = *state;
    rig->spec.l2_prefetch_queue = 0;
    rig_start(rig);
    /* The first miss is queued itself when its prefetch is looked at. */
    rig_read(rig, 0, 0, 1, 0);
    rig_drain(rig);
    assert_int_equal(rig->counter[WW_C_L2_PREFETCH], 0);
}

static void a_prefetch_writes_nothing_back(void **state) {
    struct rig *rig = *state;
    rig_start(rig);
    for (uint64_t at = 0; at < 96 * KB; at += 128) {
        rig_write(rig, 0, at, 0xf, 128, 0);
        rig_drain(rig);
    }
    assert_int_equal(rig->counter[WW_C_L2_WRITEBACK], 0);
    load(rig, 1 << 24);
    rig_drain(rig);
    assert_int_equal(rig->counter[WW_C_L2_WRITEBACK], 4); /* the demanded line's victim */
    rig_check_laws(rig);
}

/* rig_drain would meet the queue's assertion if a prefetch took a place that there is not. */
static void prefetches_fit_in_a_short_queue_of_a_channel(void **state) {
    struct rig *rig = *state;
    rig->spec.dram_queue = 4;
    rig_start(rig);
    assert_true(chase(rig, 0, 16 * KB, 128) > 0);
    for (uint64_t i = 0; i < 8; i++) rig_read(rig, 0, (1 << 24) + i * 128, 15, 0);
    rig_drain(rig);
    assert_true(rig->counter[WW_C_L2_PREFETCH] > 0);
    rig_check_laws(rig);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(only_the_first_load_of_a_uniform_chase_sees_dram),
        TEST(without_prefetch_every_sector_of_the_chase_sees_dram),
        TEST(a_sequence_ends_after_its_length),
        TEST(strides_of_megabytes_see_dram_each_time),
        TEST(little_is_fetched_behind_the_end_of_an_array),
        TEST(random_loads_stop_being_prefetched_for),
        TEST(after_random_loads_a_sequence_must_prove_itself),
        TEST(a_load_of_a_sector_on_its_way_joins_it),
        TEST(a_busy_channel_takes_no_prefetch),
        TEST(prefetches_fit_in_a_short_queue_of_a_channel),
        TEST(a_prefetch_writes_nothing_back),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
