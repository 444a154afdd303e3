#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>

#include "estimator/core/memory/l2_tags.h"
#include "memsys_fixture.h"
#include <stdlib.h>
#include <string.h>

/* Of the small GPU: 10 to the slice, 20 in it, 10 back; a reply of one sector is one flit. */
enum { HIT_PS = 40 * 1000, MISS_PS = HIT_PS + (14 + 12 + 1 + 50) * 1000 };

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

static void a_miss_adds_the_dram_and_a_hit_does_not(void **state) {
    struct rig *rig = *state;
    rig_start(rig);
    assert_int_equal(rig_round_trip(rig, 0, 1), MISS_PS);
    assert_int_equal(rig->log[0].reply.level, WW_LEVEL_DRAM);
    assert_int_equal(rig_round_trip(rig, 0, 1), HIT_PS);
    assert_int_equal(rig->log[1].reply.level, WW_LEVEL_L2);
    assert_int_equal(rig->counter[WW_C_L2_SECTOR_HIT], 1);
    assert_int_equal(rig->counter[WW_C_L2_SECTOR_MISS], 1);
    rig_check_laws(rig);
}

static void sectors_of_a_line_are_fetched_one_by_one(void **state) {
    struct rig *rig = *state;
    rig_start(rig);
    rig_round_trip(rig, 0, 0x1);
    rig_round_trip(rig, 0, 0xf);
    assert_int_equal(rig->counter[WW_C_L2_SECTOR_HIT], 1);
    assert_int_equal(rig->counter[WW_C_L2_SECTOR_MISS], 4);
    assert_int_equal(rig->counter[WW_C_DRAM_BURST_READ], 4);
    rig_check_laws(rig);
}

static void a_hit_part_is_answered_before_the_missing_part(void **state) {
    struct rig *rig = *state;
    rig_start(rig);
    rig_round_trip(rig, 0, 0x1);
    rig_read(rig, 0, 0, 0x3, 77);
    rig_drain(rig);
    assert_int_equal(rig->replies, 3);
    assert_int_equal(rig->log[1].reply.sectors, 0x1);
    assert_int_equal(rig->log[1].reply.last, 0);
    assert_int_equal(rig->log[1].reply.level, WW_LEVEL_L2);
    assert_int_equal(rig->log[2].reply.sectors, 0x2);
    assert_int_equal(rig->log[2].reply.last, 1);
    assert_int_equal(rig->log[2].reply.level, WW_LEVEL_DRAM);
    assert_int_equal(rig->log[2].reply.tag, 77);
}

static void requests_for_a_pending_sector_join_it(void **state) {
    struct rig *rig = *state;
    rig_start(rig);
    rig_read(rig, 0, 0, 1, 1);
    rig_read(rig, 1, 0, 1, 2);
    rig_drain(rig);
    assert_int_equal(rig->replies, 2);
    assert_int_equal(rig->counter[WW_C_L2_SECTOR_MISS], 1);
    assert_int_equal(rig->counter[WW_C_L2_SECTOR_MERGED], 1);
    assert_int_equal(rig->counter[WW_C_DRAM_SECTOR_READ], 1);
    rig_check_laws(rig);
}

static void the_l2_counts_misses_and_merges_for_the_instruction_that_asks(void **state) {
    struct rig *rig = *state;
    rig_start(rig);
    rig_round_trip(rig, 0, 1);
    rig_read(rig, 0, 0, 0x7, 1); /* a hit and two misses, answered from DRAM together */
    rig_read(rig, 1, 0, 0xe, 2); /* two joins and a miss */
    rig_drain(rig);
    assert_int_equal(rig->inst[1].counter[WW_I_L2_MISS], 2);
    assert_int_equal(rig->inst[1].counter[WW_I_L2_MERGED], 0);
    assert_int_equal(rig->inst[2].counter[WW_I_L2_MISS], 1);
    assert_int_equal(rig->inst[2].counter[WW_I_L2_MERGED], 2);
    rig_check_laws(rig);
}

static void a_full_mshr_stalls_the_slice_until_its_fill(void **state) {
    struct rig *rig = *state;
    rig->spec.l2_mshr_merge = 1;
    rig_start(rig);
    rig_read(rig, 0, 0, 1, 1);
    rig_read(rig, 1, 0, 1, 2);
    rig_drain(rig);
    assert_int_equal(rig->counter[WW_C_L2_SECTOR_MERGED], 0);
    assert_int_equal(rig->counter[WW_C_L2_SECTOR_HIT], 1); /* after the fill */
    /* Looked up at 31, filled at 107. */
    assert_int_equal(rig->counter[WW_C_L2_STALL_CYCLES], 76);
    rig_check_laws(rig);
}

static void a_full_sector_write_fetches_nothing(void **state) {
    struct rig *rig = *state;
    rig_start(rig);
    rig_write(rig, 0, 0, 0xf, 128, 5);
    rig_drain(rig);
    assert_int_equal(rig->counter[WW_C_DRAM_SECTOR_READ], 0);
    assert_int_equal(rig->log[0].reply.kind, WW_MEM_WRITE);
    assert_int_equal(rig->log[0].reply.last, 1);
    assert_int_equal(rig_round_trip(rig, 0, 0xf), HIT_PS + 3 * 1000); /* valid; four flits */
    assert_int_equal(rig->counter[WW_C_L2_SECTOR_WRITE], 4);
    assert_int_equal(rig->counter[WW_C_L2_WRITE_HIT], 0);
    assert_int_equal(rig->counter[WW_C_L2_WRITE_MISS], 4);
    rig_check_laws(rig);
}

static void a_store_that_misses_is_sent_on_and_fetched_where_the_l2_does_so(void **state) {
    struct rig *rig = *state;
    rig->spec.l2_write_miss = WW_L2_WRITE_FETCH;
    rig_start(rig);
    rig_write(rig, 0, 0, 0x3, 64, 5);
    rig_drain(rig);
    assert_int_equal(rig->counter[WW_C_DRAM_SECTOR_READ], 2);
    assert_int_equal(rig->counter[WW_C_DRAM_SECTOR_WRITE], 2);
    assert_int_equal(rig->counter[WW_C_L2_WRITE_HIT], 0);
    assert_int_equal(rig_round_trip(rig, 0, 0x1), HIT_PS); /* fetched */
    rig_write(rig, 0, 0, 0x3, 64, 6);
    rig_drain(rig);
    assert_int_equal(rig->counter[WW_C_L2_WRITE_HIT], 2); /* and kept from now on */
    assert_int_equal(rig->counter[WW_C_L2_WRITE_MISS], 2);
    assert_int_equal(rig->counter[WW_C_DRAM_SECTOR_READ], 2);
    assert_int_equal(rig->counter[WW_C_DRAM_SECTOR_WRITE], 2);
    rig_check_laws(rig);
}

static void stores_to_sectors_on_their_way_are_sent_on_but_not_fetched_again(void **state) {
    struct rig *rig = *state;
    rig->spec.l2_write_miss = WW_L2_WRITE_FETCH;
    rig_start(rig);
    rig_write(rig, 0, 0, 0x1, 32, 5);
    rig_write(rig, 1, 0, 0x3, 64, 6);
    rig_drain(rig);
    assert_int_equal(rig->counter[WW_C_L2_WRITE_FETCH], 2);
    assert_int_equal(rig->counter[WW_C_L2_WRITE_THROUGH], 3);
    rig_check_laws(rig);
}

static void a_store_waits_for_an_mshr_where_it_fetches(void **state) {
    struct rig *rig = *state;
    rig->spec.l2_write_miss = WW_L2_WRITE_FETCH;
    rig->spec.l2_mshrs = 4;
    rig_start(rig);
    rig_read(rig, 0, 0, 0xf, 1);
    rig_write(rig, 1, 4096, 0x1, 32, 2);
    rig_drain(rig);
    assert_true(rig->counter[WW_C_L2_STALL_CYCLES] > 0);
    assert_int_equal(rig->counter[WW_C_L2_WRITE_FETCH], 1);
    rig_check_laws(rig);
}

static void a_partly_written_sector_is_fetched_when_read(void **state) {
    struct rig *rig = *state;
    rig_start(rig);
    rig_write(rig, 0, 0, 0x1, 4, 5);
    rig_drain(rig);
    assert_int_equal(rig->counter[WW_C_DRAM_SECTOR_READ], 0);
    rig_round_trip(rig, 0, 0x1);
    assert_int_equal(rig->counter[WW_C_DRAM_SECTOR_READ], 1);
    rig_check_laws(rig);
}

static void writes_that_add_up_to_a_sector_make_it_valid(void **state) {
    struct rig *rig = *state;
    rig_start(rig);
    for (uint32_t i = 0; i < 2; i++) {
        rig_write(rig, 0, 0, 0x1, 16, i);
        rig_drain(rig);
    }
    rig_round_trip(rig, 0, 0x1);
    assert_int_equal(rig->counter[WW_C_DRAM_SECTOR_READ], 0);
    assert_int_equal(rig->counter[WW_C_L2_WRITE_HIT], 1);
}

/* Lines of one set of slice 0: 16 sets of 4 ways, two lines in each chunk, every other chunk. */
static uint64_t same_set(uint32_t i) {
    return (uint64_t)i * 16 / 2 * 256 * 2;
}

static void replacing_a_dirty_line_writes_its_dirty_sectors_back(void **state) {
    struct rig *rig = *state;
    rig_start(rig);
    rig_write(rig, 0, same_set(0), 0x5, 64, 0);
    rig_drain(rig);
    for (uint32_t i = 1; i < 5; i++) rig_round_trip(rig, same_set(i), 1);
    assert_int_equal(rig->counter[WW_C_L2_WRITEBACK], 2);
    assert_int_equal(rig->counter[WW_C_DRAM_BURST_WRITE], 2);
    rig_round_trip(rig, same_set(0), 1); /* gone */
    assert_int_equal(rig->counter[WW_C_L2_SECTOR_HIT], 0);
    rig_check_laws(rig);
}

static void the_least_recently_used_line_is_replaced(void **state) {
    struct rig *rig = *state;
    rig_start(rig);
    for (uint32_t i = 0; i < 4; i++) rig_round_trip(rig, same_set(i), 1);
    rig_round_trip(rig, same_set(0), 1);
    rig_round_trip(rig, same_set(4), 1); /* replaces 1 */
    rig->counter[WW_C_L2_SECTOR_HIT] = 0;
    rig_round_trip(rig, same_set(0), 1);
    assert_int_equal(rig->counter[WW_C_L2_SECTOR_HIT], 1);
    rig_round_trip(rig, same_set(1), 1);
    assert_int_equal(rig->counter[WW_C_L2_SECTOR_HIT], 1);
}

/* A store to a sector that is valid. */
static void store_renews_its_line(struct rig *rig) {
    rig_start(rig);
    for (uint32_t i = 0; i < 4; i++) rig_round_trip(rig, same_set(i), 1);
    rig_write(rig, 0, same_set(0), 1, 32, 9);
    rig_drain(rig);
    rig_round_trip(rig, same_set(4), 1); /* replaces 1 */
    rig->counter[WW_C_L2_SECTOR_HIT] = 0;
    rig_round_trip(rig, same_set(0), 1);
    assert_int_equal(rig->counter[WW_C_L2_SECTOR_HIT], 1);
    rig_round_trip(rig, same_set(1), 1);
    assert_int_equal(rig->counter[WW_C_L2_SECTOR_HIT], 1);
}

static void a_store_that_hits_is_a_use_of_its_line(void **state) {
    store_renews_its_line(*state);
}

static void a_store_that_hits_is_a_use_where_stores_fetch_too(void **state) {
    struct rig *rig = *state;
    rig->spec.l2_write_miss = WW_L2_WRITE_FETCH;
    store_renews_its_line(rig);
}

static void first_in_first_out_ignores_uses(void **state) {
    struct rig *rig = *state;
    rig->spec.l2_replace = WW_L2_FIFO;
    rig_start(rig);
    for (uint32_t i = 0; i < 4; i++) rig_round_trip(rig, same_set(i), 1);
    rig_round_trip(rig, same_set(0), 1);
    rig_round_trip(rig, same_set(4), 1); /* replaces 0 all the same */
    rig->counter[WW_C_L2_SECTOR_HIT] = 0;
    rig_round_trip(rig, same_set(0), 1);
    assert_int_equal(rig->counter[WW_C_L2_SECTOR_HIT], 0);
}

static void not_recently_used_spares_what_was_used_since(void **state) {
    struct rig *rig = *state;
    rig->spec.l2_replace = WW_L2_NRU;
    rig_start(rig);
    for (uint32_t i = 0; i < 4; i++) rig_round_trip(rig, same_set(i), 1); /* with 3, all were used */
    rig_round_trip(rig, same_set(0), 1);
    rig_round_trip(rig, same_set(4), 1); /* replaces 1 or 2 */
    rig->counter[WW_C_L2_SECTOR_HIT] = 0;
    rig_round_trip(rig, same_set(0), 1);
    rig_round_trip(rig, same_set(3), 1);
    assert_int_equal(rig->counter[WW_C_L2_SECTOR_HIT], 2);
}

/* Five lines in turn in a set of four: LRU misses all. */
static void not_recently_used_misses_aperiodically(void **state) {
    struct rig *rig = *state;
    uint32_t pattern[40] = {0}, misses = 0, same = 0;
    rig->spec.l2_replace = WW_L2_NRU;
    rig_start(rig);
    for (uint32_t turn = 0; turn < 40; turn++)
        for (uint32_t i = 0; i < 5; i++) {
            uint64_t before = rig->counter[WW_C_L2_SECTOR_MISS];
            rig_round_trip(rig, same_set(i), 1);
            pattern[turn] |= (uint32_t)(rig->counter[WW_C_L2_SECTOR_MISS] - before) << i;
            misses += pattern[turn] >> i & 1;
        }
    for (uint32_t turn = 8; turn < 40; turn++) same += pattern[turn] == pattern[turn - 1];
    assert_true(misses > 40 && misses < 190);
    assert_true(same < 24);
}

static void addresses_of_64_bits_are_served(void **state) {
    struct rig *rig = *state;
    rig_start(rig);
    for (uint32_t bit = 40; bit < 64; bit++)
        assert_int_equal(rig_round_trip(rig, (uint64_t)3 << bit, 1) > 0, 1);
    assert_int_equal(rig->counter[WW_C_L2_SECTOR_MISS], 24);
    rig_check_laws(rig);
}

static void a_line_with_a_pending_sector_is_never_replaced(void **state) {
    struct rig *rig = *state;
    rig_start(rig);
    for (uint32_t i = 0; i < 5; i++) rig_read(rig, i & 1, same_set(i), 1, i);
    rig_drain(rig);
    assert_int_equal(rig->replies, 5);
    assert_true(rig->counter[WW_C_L2_STALL_CYCLES] > 0); /* the fifth waits for a fill */
    rig_check_laws(rig);
}

static void an_atomic_holds_the_slice_for_each_address(void **state) {
    struct rig *rig = *state;
    rig->spec.l2_atomic_cycles = 3;
    rig_start(rig);
    rig_round_trip(rig, 0, 1);
    uint64_t from = ww_queue_now(rig->queue);
    rig_atomic(rig, 0, 0, 1, 8, 1);
    rig_read(rig, 1, 0, 1, 2);
    rig_drain(rig);
    assert_int_equal(rig->log[1].reply.kind, WW_MEM_ATOMIC);
    /* The read arrives two cycles behind (the atomic is of one flit, then one for the read) and waits for 24.
     */
    assert_int_equal(rig->log[2].ps - from, HIT_PS + 24 * 1000);
    assert_int_equal(rig->counter[WW_C_L2_ATOMIC], 1);
    rig_check_laws(rig);
}

static void an_atomic_that_misses_fetches_and_dirties_its_sector(void **state) {
    struct rig *rig = *state;
    rig_start(rig);
    rig_atomic(rig, 0, same_set(0), 1, 1, 1);
    rig_drain(rig);
    assert_int_equal(rig->counter[WW_C_L2_SECTOR_MISS], 1);
    assert_int_equal(rig->counter[WW_C_L2_ATOMIC], 1);
    for (uint32_t i = 1; i < 5; i++) rig_round_trip(rig, same_set(i), 1);
    assert_int_equal(rig->counter[WW_C_L2_WRITEBACK], 1);
    rig_check_laws(rig);
}

static void contents_outlive_a_launch(void **state) {
    struct rig *rig = *state;
    rig_start(rig);
    rig_round_trip(rig, 0, 1);
    ww_memsys_end_launch(rig->memory, ww_queue_now(rig->queue));
    assert_int_equal(rig_round_trip(rig, 0, 1), HIT_PS);
}

static void dram_cycles_of_launches_add_up(void **state) {
    struct rig *rig = *state;
    rig_start(rig);
    rig_round_trip(rig, 0, 1);
    ww_memsys_end_launch(rig->memory, 500 * 1000);
    assert_int_equal(rig->counter[WW_C_DRAM_CYCLES], 500);
    ww_memsys_end_launch(rig->memory, 1234 * 1000);
    assert_int_equal(rig->counter[WW_C_DRAM_CYCLES], 1234);
}

static void an_unsectored_l1_line_is_answered_in_whole(void **state) {
    struct rig *rig = *state;
    rig->spec.l1_sector = 128;
    rig_start(rig);
    rig_read(rig, 0, 0, 1, 9);
    rig_drain(rig);
    assert_int_equal(rig->replies, 1);
    assert_int_equal(rig->log[0].reply.sectors, 1);
    assert_int_equal(rig->log[0].reply.last, 1);
    assert_int_equal(rig->counter[WW_C_XBAR_SECTOR_READ], 4); /* of 32 bytes */
    rig_check_laws(rig);
}

static void a_fine_request_of_an_unsectored_l1_touches_only_its_pieces(void **state) {
    struct rig *rig = *state;
    rig->spec.l1_sector = 128;
    rig_start(rig);
    struct ww_mem_request r = {
        .address = 0, .sectors = 0x4, .kind = WW_MEM_WRITE, .needs_reply = 1, .bytes = 32, .fine = 1};
    assert_true(ww_memsys_send(rig->memory, &r, 0));
    rig_drain(rig);
    assert_int_equal(rig->log[0].reply.sectors, 0x4);
    assert_int_equal(rig->counter[WW_C_L2_SECTOR_WRITE], 1);
    r.kind = WW_MEM_READ;
    r.sectors = 0x6;
    assert_true(ww_memsys_send(rig->memory, &r, ww_queue_now(rig->queue)));
    rig_drain(rig);
    assert_int_equal(rig->log[1].reply.sectors, 0x4); /* the hit */
    assert_int_equal(rig->log[2].reply.sectors, 0x2);
    assert_int_equal(rig->counter[WW_C_DRAM_SECTOR_READ], 1);
    rig_check_laws(rig);
}

static void an_l1_line_may_span_several_l2_lines(void **state) {
    struct rig *rig = *state;
    rig->spec.l2_line = 32;
    rig_start(rig);
    rig_round_trip(rig, 128, 0x2);
    rig_read(rig, 1, 128, 0xf, 3);
    rig_drain(rig);
    uint32_t sectors = 0;
    for (size_t i = 1; i < rig->replies; i++) {
        assert_int_equal(sectors & rig->log[i].reply.sectors, 0);
        sectors |= rig->log[i].reply.sectors;
        assert_int_equal(rig->log[i].reply.last, i == rig->replies - 1);
    }
    assert_int_equal(sectors, 0xf);
    assert_int_equal(rig->counter[WW_C_L2_SECTOR_HIT], 1);
    rig_check_laws(rig);
}

static void an_l1_line_may_be_part_of_an_l2_line(void **state) {
    struct rig *rig = *state;
    rig->spec.l1_line = 32;
    rig_start(rig);
    rig_round_trip(rig, 96, 1);
    assert_int_equal(rig_round_trip(rig, 96, 1), HIT_PS);
    assert_int_equal(rig_round_trip(rig, 64, 1),
                     MISS_PS - 14 * 1000); /* same line and open row, another sector */
    rig_check_laws(rig);
}

#define T(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void) {
    const struct CMUnitTest tests[] = {
        T(a_miss_adds_the_dram_and_a_hit_does_not),
        T(sectors_of_a_line_are_fetched_one_by_one),
        T(a_hit_part_is_answered_before_the_missing_part),
        T(requests_for_a_pending_sector_join_it),
        T(the_l2_counts_misses_and_merges_for_the_instruction_that_asks),
        T(a_full_mshr_stalls_the_slice_until_its_fill),
        T(a_full_sector_write_fetches_nothing),
        T(a_store_that_misses_is_sent_on_and_fetched_where_the_l2_does_so),
        T(stores_to_sectors_on_their_way_are_sent_on_but_not_fetched_again),
        T(a_store_waits_for_an_mshr_where_it_fetches),
        T(a_partly_written_sector_is_fetched_when_read),
        T(writes_that_add_up_to_a_sector_make_it_valid),
        T(replacing_a_dirty_line_writes_its_dirty_sectors_back),
        T(the_least_recently_used_line_is_replaced),
        T(a_store_that_hits_is_a_use_of_its_line),
        T(a_store_that_hits_is_a_use_where_stores_fetch_too),
        T(first_in_first_out_ignores_uses),
        T(not_recently_used_spares_what_was_used_since),
        T(not_recently_used_misses_aperiodically),
        T(addresses_of_64_bits_are_served),
        T(a_line_with_a_pending_sector_is_never_replaced),
        T(an_atomic_holds_the_slice_for_each_address),
        T(an_atomic_that_misses_fetches_and_dirties_its_sector),
        T(contents_outlive_a_launch),
        T(dram_cycles_of_launches_add_up),
        T(an_unsectored_l1_line_is_answered_in_whole),
        T(a_fine_request_of_an_unsectored_l1_touches_only_its_pieces),
        T(an_l1_line_may_span_several_l2_lines),
        T(an_l1_line_may_be_part_of_an_l2_line),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
