/* Fast replay's memory system behind the L1: writes that wait together, reads that wait for one fill. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>

#include "memsys_fixture.h"

enum { QUEUE = 16, HIGH = QUEUE * 3 / 4, LOW = QUEUE / 4, READS = 5 };

static void start_fast(struct rig *rig) {
    struct ww_error error;
    rig_start(rig);
    assert_int_equal(ww_memsys_make_fast(rig->memory, &rig->spec, &error), WW_OK);
}

/* The round trip of a read through another slice of the channel, after so many writes to DRAM, the last of
 * which is made when the read is sent. */
static uint64_t read_behind(uint32_t writes) {
    static struct rig rig;
    small_spec(&rig.spec);
    rig.spec.dram_queue = QUEUE;
    rig.spec.l2_dirty_ways = 1;
    start_fast(&rig);
    rig_round_trip(&rig, 2 << 20, 1); /* writes wait for others only where something is read */
    for (uint64_t i = 0; i <= writes; i++) {
        rig_drain(&rig);
        rig_write(&rig, 0, i * 4096, 1, 32, 1); /* of one set: each has the line before it written back */
    }
    assert_int_equal(rig.counter[WW_C_L2_WRITEBACK], writes);
    uint64_t from = ww_queue_now(rig.queue);
    size_t before = rig.replies, last = 0;
    rig_read(&rig, 1, (1 << 20) + 256, 1, 7);
    rig_drain(&rig);
    for (size_t i = before; i < rig.replies; i++)
        if (rig.log[i].reply.tag == 7) last = i;
    uint64_t trip = rig.log[last].ps - from;
    assert_int_equal(rig.log[last].reply.tag, 7);
    rig_stop(&rig);
    return trip;
}

static void writes_below_three_quarters_of_the_queue_delay_no_read(void **state) {
    (void)state;
    assert_int_equal(read_behind(1), read_behind(0));
    assert_int_equal(read_behind(HIGH - 1), read_behind(0));
}

static void a_batch_of_writes_has_the_bus_to_itself(void **state) {
    (void)state;
    assert_true(read_behind(HIGH) >= read_behind(0) + 1000 * (HIGH - LOW));
}

static void what_a_batch_leaves_waits_for_the_next_one(void **state) {
    (void)state;
    assert_int_equal(read_behind(HIGH + 1), read_behind(0));
    assert_int_equal(read_behind(2 * HIGH - LOW - 1), read_behind(0));
    assert_true(read_behind(2 * HIGH - LOW) >= read_behind(0) + 1000 * (HIGH - LOW));
}

struct counts {
    uint64_t missed, merged, hit;
};

/* Of reads of one sector at the same time, which an MSHR holds `merge` of. */
static struct counts reads_of_a_sector(uint32_t merge, bool fast) {
    static struct rig rig;
    small_spec(&rig.spec);
    rig.spec.l2_mshr_merge = merge;
    if (fast)
        start_fast(&rig);
    else
        rig_start(&rig);
    for (uint32_t i = 0; i < READS; i++) rig_read(&rig, i & 1, 4096, 1, i);
    rig_drain(&rig);
    assert_int_equal(rig.replies, READS);
    rig_check_laws(&rig);
    struct counts n = {rig.counter[WW_C_L2_SECTOR_MISS], rig.counter[WW_C_L2_SECTOR_MERGED],
                       rig.counter[WW_C_L2_SECTOR_HIT]};
    rig_stop(&rig);
    return n;
}

static void an_mshr_holds_as_many_reads_as_in_full_replay(void **state) {
    (void)state;
    for (uint32_t merge = 1; merge <= READS + 1; merge++) {
        struct counts full = reads_of_a_sector(merge, false), fast = reads_of_a_sector(merge, true);
        assert_int_equal(full.merged, merge < READS ? merge - 1 : READS - 1);
        assert_int_equal(fast.missed, full.missed);
        assert_int_equal(fast.merged, full.merged);
        assert_int_equal(fast.hit, full.hit);
    }
}

/* Slice 0 is at home of both lines. A read of SM 0 waits there for a fill that has no room for it; SM 1, of the
 * other partition, reads what the slice has. Which of the two is answered first. */
static uint32_t first_answered(bool fast) {
    static struct rig rig;
    small_spec(&rig.spec);
    rig.spec.l2_partitions = 2;
    rig.spec.l2_far_latency = 30;
    rig.spec.l2_mshr_merge = 1;
    rig.spec.dram_latency = 400;
    if (fast)
        start_fast(&rig);
    else
        rig_start(&rig);
    rig_round_trip(&rig, 128, 1);
    rig.replies = 0;
    rig_read(&rig, 0, 0, 1, 1);
    rig_read(&rig, 0, 0, 1, 2);
    rig_read(&rig, 1, 128, 1, 3);
    rig_drain(&rig);
    assert_int_equal(rig.replies, 3);
    uint32_t tag = rig.log[0].reply.tag;
    rig_stop(&rig);
    return tag;
}

static void a_wait_holds_up_no_request_of_the_other_partition(void **state) {
    (void)state;
    assert_int_equal(first_answered(false), 3);
    assert_int_equal(first_answered(true), 3);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(writes_below_three_quarters_of_the_queue_delay_no_read),
        cmocka_unit_test(a_batch_of_writes_has_the_bus_to_itself),
        cmocka_unit_test(what_a_batch_leaves_waits_for_the_next_one),
        cmocka_unit_test(an_mshr_holds_as_many_reads_as_in_full_replay),
        cmocka_unit_test(a_wait_holds_up_no_request_of_the_other_partition),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
