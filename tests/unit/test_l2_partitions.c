/* Two L2 partitions: SM 0 and slice 0 are in one, SM 1 and slice 1 in the other. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>

#include "estimator/base/rng.h"
#include "memsys_fixture.h"
#include <stdlib.h>

/* Of the small GPU: 10 to the slice, 20 in it, 10 back. The home's answer takes a cycle to the copy. */
enum { HIT_PS = 40 * 1000, DRAM_PS = 77 * 1000, ROW_HIT_PS = 63 * 1000, FAR_PS = (30 + 1) * 1000, KB = 1024 };
enum { NEAR_LINE = 0, FAR_LINE = 256 }; /* of SM 0 */

static int setup(void **state) {
    struct rig *rig = calloc(1, sizeof *rig);
    assert_non_null(rig);
    small_spec(&rig->spec);
    rig->spec.l2_partitions = 2;
    rig->spec.l2_far_latency = 30;
    *state = rig;
    rig_start(rig);
    return 0;
}

static int teardown(void **state) {
    rig_stop(*state);
    free(*state);
    return 0;
}

static void restart(struct rig *rig) {
    rig_stop(rig);
    rig_start(rig);
}

static void a_line_of_the_own_partition_is_as_near_as_ever(void **state) {
    struct rig *rig = *state;
    assert_int_equal(rig_round_trip(rig, NEAR_LINE, 1), HIT_PS + DRAM_PS);
    assert_int_equal(rig_round_trip(rig, NEAR_LINE, 1), HIT_PS);
    assert_int_equal(rig->counter[WW_C_L2_FAR], 0);
}

static void a_line_of_the_other_partition_is_farther_and_leaves_a_copy(void **state) {
    struct rig *rig = *state;
    assert_int_equal(rig_round_trip(rig, FAR_LINE, 1), HIT_PS + FAR_PS + DRAM_PS);
    assert_int_equal(rig->log[0].reply.level, WW_LEVEL_DRAM);
    assert_int_equal(rig_round_trip(rig, FAR_LINE, 1), HIT_PS);
    assert_int_equal(rig->counter[WW_C_L2_FAR], 1);
    assert_int_equal(rig->counter[WW_C_DRAM_SECTOR_READ], 1);
    rig_check_laws(rig);
}

static void what_the_other_partition_has_is_not_read_from_dram(void **state) {
    struct rig *rig = *state;
    rig_read(rig, 1, FAR_LINE, 1, 0);
    rig_drain(rig);
    assert_int_equal(rig_round_trip(rig, FAR_LINE, 1), HIT_PS + FAR_PS);
    assert_int_equal(rig->log[1].reply.level, WW_LEVEL_L2);
    assert_int_equal(rig->counter[WW_C_DRAM_SECTOR_READ], 1);
    rig_check_laws(rig);
}

static void a_write_makes_the_copy_invalid(void **state) {
    struct rig *rig = *state;
    rig_round_trip(rig, FAR_LINE, 3);
    rig_write(rig, 1, FAR_LINE, 1, 32, 0);
    rig_drain(rig);
    assert_int_equal(rig_round_trip(rig, FAR_LINE, 2), HIT_PS);
    assert_int_equal(rig_round_trip(rig, FAR_LINE, 1), HIT_PS + FAR_PS);
    rig_check_laws(rig);
}

static void an_atomic_makes_the_copy_invalid(void **state) {
    struct rig *rig = *state;
    rig_round_trip(rig, FAR_LINE, 1);
    rig_atomic(rig, 1, FAR_LINE, 1, 1, 0);
    rig_drain(rig);
    assert_int_equal(rig_round_trip(rig, FAR_LINE, 1), HIT_PS + FAR_PS);
    rig_check_laws(rig);
}

static void requests_for_a_copy_on_its_way_join_it(void **state) {
    struct rig *rig = *state;
    rig_read(rig, 0, FAR_LINE, 1, 1);
    rig_read(rig, 0, FAR_LINE, 1, 2);
    rig_drain(rig);
    assert_int_equal(rig->replies, 2);
    assert_int_equal(rig->counter[WW_C_L2_FAR], 1);
    assert_int_equal(rig->counter[WW_C_L2_SECTOR_MERGED], 1);
    rig_check_laws(rig);
}

static void misses_at_the_home_are_those_of_the_instruction_that_asked_for_a_copy(void **state) {
    struct rig *rig = *state;
    rig_read(rig, 0, FAR_LINE, 3, 5);
    rig_drain(rig);
    assert_int_equal(rig->inst[5].counter[WW_I_L2_MISS], 2);
    rig_check_laws(rig);
}

/* Mean time of a second pass of SM 0 over the array. */
static uint64_t second_pass_ps(struct rig *rig, uint64_t bytes) {
    uint64_t sum = 0;
    restart(rig);
    for (uint64_t at = 0; at < bytes; at += 128) rig_round_trip(rig, at, 1);
    for (uint64_t at = 0; at < bytes; at += 128) sum += rig_round_trip(rig, at, 1);
    return sum / (bytes / 128);
}

/* 16 KiB in two partitions, of which one SM reads. */
static void an_sm_finds_one_partitions_size_near_and_half_of_the_rest_far(void **state) {
    struct rig *rig = *state;
    assert_int_equal(second_pass_ps(rig, 8 * KB), HIT_PS);
    uint64_t half = second_pass_ps(rig, 16 * KB);
    assert_true(half >= HIT_PS + (FAR_PS + ROW_HIT_PS) / 2 - 1000 && half <= HIT_PS + (FAR_PS + DRAM_PS) / 2);
    uint64_t none = second_pass_ps(rig, 32 * KB);
    assert_true(none >= HIT_PS + FAR_PS / 2 + ROW_HIT_PS - 1000 && none <= HIT_PS + FAR_PS / 2 + DRAM_PS);
}

static void addresses_of_64_bits_are_served(void **state) {
    struct rig *rig = *state;
    for (uint32_t bit = 40; bit < 64; bit++) rig_round_trip(rig, (uint64_t)3 << bit, 1);
    for (uint32_t bit = 40; bit < 64; bit++) rig_round_trip(rig, ((uint64_t)3 << bit) + FAR_LINE, 1);
    rig_check_laws(rig);
}

/* ---- strong reads ---- */

/* Reads of the line's first sector by SM 0 at the same time; returns the time to the last answer. */
static uint64_t strong_ps(struct rig *rig, uint64_t address, uint32_t count) {
    struct ww_mem_request r = {
        .address = address, .sectors = 1, .kind = WW_MEM_READ, .needs_reply = 1, .strong = 1};
    uint64_t from = ww_queue_now(rig->queue);
    for (uint32_t i = 0; i < count; i++) assert_true(ww_memsys_send(rig->memory, &r, from));
    rig_drain(rig);
    return rig->log[rig->replies - 1].ps - from;
}

static void a_strong_read_goes_to_the_home_and_leaves_no_copy(void **state) {
    struct rig *rig = *state;
    rig->spec.l2_strong_home = 1;
    restart(rig);
    rig_round_trip(rig, FAR_LINE, 1); /* there is a copy now */
    assert_int_equal(strong_ps(rig, FAR_LINE, 1), HIT_PS + 30 * 1000);
    assert_int_equal(strong_ps(rig, FAR_LINE, 1), HIT_PS + 30 * 1000);
    assert_int_equal(strong_ps(rig, NEAR_LINE, 1), HIT_PS + DRAM_PS);
    assert_int_equal(strong_ps(rig, NEAR_LINE, 1), HIT_PS);
    assert_int_equal(rig->counter[WW_C_L2_FAR], 1 + 2);
    rig_check_laws(rig);
}

static void without_it_a_strong_read_finds_the_copy(void **state) {
    struct rig *rig = *state;
    rig_round_trip(rig, FAR_LINE, 1);
    assert_int_equal(strong_ps(rig, FAR_LINE, 1), HIT_PS);
}

static void data_pass_between_partitions_as_fast_as_the_link_is_wide(void **state) {
    struct rig *rig = *state;
    rig->spec.l2_strong_home = 1;
    rig->spec.l2_far_bytes = 4; /* 8 cycles a sector */
    restart(rig);
    rig_read(rig, 1, FAR_LINE, 1, 0);
    rig_drain(rig);
    assert_int_equal(strong_ps(rig, FAR_LINE, 3), HIT_PS + (30 + 2 * 8) * 1000);
    assert_int_equal(rig_round_trip(rig, FAR_LINE, 1), HIT_PS + FAR_PS); /* the link is free again */
    rig_check_laws(rig);
}

static void copies_share_the_link(void **state) {
    struct rig *rig = *state;
    rig->spec.l2_far_bytes = 4;
    restart(rig);
    rig_read(rig, 1, FAR_LINE, 3, 0);
    rig_read(rig, 1, FAR_LINE + 512, 3, 0);
    rig_drain(rig);
    uint64_t from = ww_queue_now(rig->queue);
    rig_read(rig, 0, FAR_LINE, 3, 1);
    rig_read(rig, 0, FAR_LINE + 512, 3, 2);
    rig_drain(rig);
    assert_true(rig->log[rig->replies - 1].ps - from >= HIT_PS + FAR_PS + 16 * 1000);
    rig_check_laws(rig);
}

/* ---- both SMs ask for all kinds of things at once ---- */

struct storm {
    struct ww_rng rng;
    uint32_t left[2], out[2];
};

static void react(struct rig *rig, uint16_t sm, const struct ww_mem_reply *reply, uint64_t now_ps) {
    struct storm *s = rig->user;
    if (reply && reply->last) s->out[sm]--;
    while (s->left[sm] && s->out[sm] < 200) {
        uint32_t dice = ww_rng_below(&s->rng, 8);
        struct ww_mem_request r = {.address = (uint64_t)ww_rng_below(&s->rng, 400) * 128,
                                   .sectors = 1 + ww_rng_below(&s->rng, 15),
                                   .sm = sm,
                                   .kind = dice == 0   ? WW_MEM_WRITE
                                           : dice == 1 ? WW_MEM_ATOMIC
                                                       : WW_MEM_READ,
                                   .needs_reply = 1,
                                   .bytes = 64,
                                   .atomic_ops = 1,
                                   .strong = dice > 4};
        if (!ww_memsys_send(rig->memory, &r, now_ps)) return;
        s->out[sm]++;
        s->left[sm]--;
    }
}

static void storm(struct rig *rig) {
    struct storm s = {.left = {20000, 20000}};
    ww_rng_seed(&s.rng, 7);
    restart(rig);
    rig->user = &s;
    rig->react = react;
    react(rig, 0, NULL, 0);
    react(rig, 1, NULL, 0);
    rig_drain(rig);
    assert_int_equal(s.left[0] + s.left[1] + s.out[0] + s.out[1], 0);
    rig_check_laws(rig);
}

static void partitions_that_need_each_other_do_not_wait_for_ever(void **state) {
    struct rig *rig = *state;
    static const uint32_t ways[] = {2, 4}, mshrs[] = {16, 64}, merges[] = {1, 8};
    for (int i = 0; i < 8; i++) {
        rig->spec.l2_ways = ways[i & 1];
        rig->spec.l2_mshrs = mshrs[i >> 1 & 1];
        rig->spec.l2_mshr_merge = merges[i >> 2];
        rig->spec.l2_size_kb = 1 + 15 * (uint32_t)(i & 1);
        rig->spec.l2_strong_home = (i & 3) == 1;
        rig->spec.l2_far_bytes = i & 4 ? 7 : 0;
        storm(rig);
    }
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(a_line_of_the_own_partition_is_as_near_as_ever),
        TEST(a_line_of_the_other_partition_is_farther_and_leaves_a_copy),
        TEST(what_the_other_partition_has_is_not_read_from_dram),
        TEST(a_write_makes_the_copy_invalid),
        TEST(an_atomic_makes_the_copy_invalid),
        TEST(requests_for_a_copy_on_its_way_join_it),
        TEST(misses_at_the_home_are_those_of_the_instruction_that_asked_for_a_copy),
        TEST(an_sm_finds_one_partitions_size_near_and_half_of_the_rest_far),
        TEST(addresses_of_64_bits_are_served),
        TEST(a_strong_read_goes_to_the_home_and_leaves_no_copy),
        TEST(without_it_a_strong_read_finds_the_copy),
        TEST(data_pass_between_partitions_as_fast_as_the_link_is_wide),
        TEST(copies_share_the_link),
        TEST(partitions_that_need_each_other_do_not_wait_for_ever),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
