/* Reads that a slice answers together (l2.coalesce). */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>

#include "estimator/base/rng.h"
#include "memsys_fixture.h"
#include <stdlib.h>

enum { READ_CYCLES = 16, PORT_CYCLES = 4 }; /* of 128 bytes: the slice's lines, and its port */

static int setup(void **state) {
    struct rig *rig = calloc(1, sizeof *rig);
    assert_non_null(rig);
    small_spec(&rig->spec);
    rig->spec.l2_coalesce = 4;
    rig->spec.l2_bytes_per_cycle = 8;
    *state = rig;
    return 0;
}

static int teardown(void **state) {
    rig_stop(*state);
    free(*state);
    return 0;
}

/* Cycles from the first to the last answer of `count` reads of one line that is there. */
static uint64_t last_after_first(struct rig *rig, uint32_t count) {
    rig_start(rig);
    rig_round_trip(rig, 0, 0xf);
    for (uint32_t i = 0; i < count; i++) rig_read(rig, (uint16_t)(i & 1), 0, 0xf, i);
    rig_drain(rig);
    assert_int_equal(rig->replies, 1 + count);
    rig_check_laws(rig);
    return (rig->log[count].ps - rig->log[1].ps) / 1000;
}

static void a_read_of_the_same_sectors_needs_the_lines_no_more(void **state) {
    struct rig *rig = *state;
    assert_int_equal(last_after_first(rig, 2), PORT_CYCLES);
    assert_int_equal(rig->counter[WW_C_L2_SECTOR_HIT], 4);
    assert_int_equal(rig->counter[WW_C_L2_SECTOR_MERGED], 4);
    assert_int_equal(rig->inst[1].counter[WW_I_L2_MERGED], 4);
}

static void without_it_each_read_takes_its_time(void **state) {
    struct rig *rig = *state;
    rig->spec.l2_coalesce = 0;
    assert_int_equal(last_after_first(rig, 2), READ_CYCLES);
    assert_int_equal(rig->counter[WW_C_L2_SECTOR_HIT], 8);
}

static void so_many_are_answered_together_and_no_more(void **state) {
    struct rig *rig = *state;
    rig->spec.l2_coalesce = 3;
    assert_int_equal(last_after_first(rig, 4), READ_CYCLES);
    assert_int_equal(rig->counter[WW_C_L2_SECTOR_MERGED], 8);
}

static void other_sectors_of_the_line_are_read_by_themselves(void **state) {
    struct rig *rig = *state;
    rig_start(rig);
    rig_round_trip(rig, 0, 0xf);
    rig_read(rig, 0, 0, 0x3, 0);
    rig_read(rig, 1, 0, 0x6, 1);
    rig_drain(rig);
    assert_int_equal(rig->counter[WW_C_L2_SECTOR_MERGED], 0);
}

static void reads_that_joined_a_miss_wait_for_the_same_data(void **state) {
    struct rig *rig = *state;
    rig_start(rig);
    for (uint32_t i = 0; i < 3; i++) rig_read(rig, (uint16_t)(i & 1), 0, 0xf, i);
    rig_drain(rig);
    assert_int_equal(rig->replies, 3);
    assert_int_equal(rig->counter[WW_C_DRAM_SECTOR_READ], 4);
    rig_check_laws(rig);
}

static void a_read_behind_a_store_that_waits_is_answered(void **state) {
    struct rig *rig = *state;
    rig_start(rig);
    rig_read(rig, 0, 0, 0x1, 0);
    rig_write(rig, 1, 0, 0x1, 32, 1);
    rig_read(rig, 0, 0, 0x1, 2);
    rig_drain(rig);
    assert_int_equal(rig->replies, 3);
    rig_check_laws(rig);
}

/* Few lines, so that many meet; requests of each SM one after another, as room is there. */
static uint32_t left, answered;
static struct ww_rng rng;

static void send(struct rig *rig, uint16_t sm) {
    const struct ww_mem_request r = {.address = 128 * ww_rng_below(&rng, 40),
                                     .sectors = 1 + ww_rng_below(&rng, 3),
                                     .sm = sm,
                                     .kind = ww_rng_below(&rng, 8) ? WW_MEM_READ : WW_MEM_WRITE,
                                     .needs_reply = 1,
                                     .bytes = 32};
    if (left && ww_memsys_send(rig->memory, &r, ww_queue_now(rig->queue))) left--;
}

static void again(struct rig *rig, uint16_t sm, const struct ww_mem_reply *reply, uint64_t now_ps) {
    (void)now_ps;
    answered += reply && reply->last;
    send(rig, sm);
    if (!reply) send(rig, sm);
}

static void all_of_many_are_answered(void **state) {
    struct rig *rig = *state;
    enum { MANY = 3000 };
    for (uint32_t together = 2; together < 6; together++) {
        rig_stop(rig);
        rig->spec.l2_coalesce = together;
        rig->react = again;
        rig_start(rig);
        ww_rng_seed(&rng, together);
        left = MANY;
        answered = 0;
        for (uint32_t i = 0; i < 12; i++) send(rig, (uint16_t)(i & 1));
        rig_drain(rig);
        assert_int_equal(left, 0);
        assert_int_equal(answered, MANY);
        assert_true(ww_memsys_idle(rig->memory));
        assert_true(rig->counter[WW_C_L2_SECTOR_MERGED] > 0);
        rig_check_laws(rig);
    }
}

#define T(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void) {
    const struct CMUnitTest tests[] = {
        T(a_read_of_the_same_sectors_needs_the_lines_no_more),
        T(without_it_each_read_takes_its_time),
        T(so_many_are_answered_together_and_no_more),
        T(other_sectors_of_the_line_are_read_by_themselves),
        T(reads_that_joined_a_miss_wait_for_the_same_data),
        T(a_read_behind_a_store_that_waits_is_answered),
        T(all_of_many_are_answered),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
