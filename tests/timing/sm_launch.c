/* What a launch takes beside its CTAs: front and end cycles, their time alone and queued behind another launch.
 */
#include "../../estimator/warpwatt.h"
#include "fake_memory.h"
#include "sm_fixture.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

#define MHZ 1000 /* of fixture_gpu(): a cycle is 1,000 ps */

static struct ww_gpu_spec gpu(uint32_t front, uint32_t end) {
    struct ww_gpu_spec g = fixture_gpu();
    g.launch_front_cycles = front;
    g.launch_end_cycles = end;
    return g;
}

/* A CTA of one instruction. */
static void one_cta(struct program *p) {
    program_init(p, 1, 32, 1, 1);
    program_all(p, program_inst(p, WW_OP_NOP, -1, -1, -1));
}

static uint64_t cycles_of(uint32_t front, uint32_t end) {
    struct ww_gpu_spec g = gpu(front, end);
    struct program p;
    one_cta(&p);
    struct replay r = program_run(&p, &g);
    uint64_t cycles = r.r.cycles;
    replay_free(&r);
    program_free(&p);
    return cycles;
}

static void front_and_end_cycles_are_added_to_a_launch(void **state) {
    (void)state;
    uint64_t none = cycles_of(0, 0);
    assert_int_equal(cycles_of(1700, 0), none + 1700);
    assert_int_equal(cycles_of(0, 200), none + 200);
    assert_int_equal(cycles_of(1700, 200), none + 1900);
}

static void slots_of_the_launch_itself_are_a_cause_of_their_own(void **state) {
    (void)state;
    struct ww_gpu_spec g = gpu(1700, 200);
    struct program p;
    one_cta(&p);
    struct replay r = program_run(&p, &g);
    assert_int_equal(r.r.slot[WW_SLOT_LAUNCH], (uint64_t)g.sm_count * g.sm_schedulers * 1900);
    assert_int_equal(r.r.counter[WW_C_LAUNCH_FRONT_CYCLES], 1700);
    assert_int_equal(r.r.counter[WW_C_LAUNCH_END_CYCLES], 200);
    replay_free(&r);
    program_free(&p);
}

static void no_sm_is_active_before_the_first_cta(void **state) {
    (void)state;
    struct ww_gpu_spec without = gpu(0, 0), with = gpu(1700, 200);
    struct program p;
    one_cta(&p);
    struct replay a = program_run(&p, &without), b = program_run(&p, &with);
    assert_int_equal(a.r.counter[WW_C_SM_ACTIVE_CYCLES], b.r.counter[WW_C_SM_ACTIVE_CYCLES]);
    replay_free(&a);
    replay_free(&b);
    program_free(&p);
}

static struct ww_launch_time time_of(bool queued, double overhead_us, double queued_us) {
    struct ww_gpu_spec g = gpu(1700, 200);
    struct ww_launch_time t;
    g.clock_sm_mhz = MHZ;
    g.launch_overhead_us = overhead_us;
    g.launch_queued_us = queued_us;
    ww_launch_time_begin(&t, &g, queued);
    return t;
}

static void a_launch_alone_takes_its_latency_beside_its_cycles(void **state) {
    (void)state;
    struct ww_launch_time t = time_of(false, 0.7, 0.4);
    assert_int_equal(t.latency_ps, 700000);
    assert_int_equal(t.hidden_ps, 0);
}

static void a_queued_launch_hides_all_of_its_front_but_the_gap(void **state) {
    (void)state;
    struct ww_launch_time t = time_of(true, 0.7, 0.4);
    assert_int_equal(t.latency_ps, 0);
    assert_int_equal(t.hidden_ps, 1300000); /* of 1,700 cycles */
}

static void a_gap_that_is_longer_than_the_front_is_latency(void **state) {
    (void)state;
    struct ww_launch_time t = time_of(true, 0.7, 2.5);
    assert_int_equal(t.latency_ps, 800000);
    assert_int_equal(t.hidden_ps, 0);
}

static void without_a_gap_queued_launches_are_as_any_other(void **state) {
    (void)state;
    struct ww_launch_time t = time_of(true, 0.7, -1);
    assert_int_equal(t.latency_ps, 700000);
    assert_int_equal(t.hidden_ps, 0);
}

static void hidden_time_is_spread_over_the_front_cycles(void **state) {
    (void)state;
    struct ww_launch_time t = time_of(true, 0.7, 0.4);
    assert_int_equal(ww_launch_hidden(&t, 0, 850), 650000);
    assert_int_equal(ww_launch_hidden(&t, 850, 4096), 650000);
    assert_int_equal(ww_launch_hidden(&t, 1700, 4096), 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(front_and_end_cycles_are_added_to_a_launch),
        cmocka_unit_test(slots_of_the_launch_itself_are_a_cause_of_their_own),
        cmocka_unit_test(no_sm_is_active_before_the_first_cta),
        cmocka_unit_test(a_launch_alone_takes_its_latency_beside_its_cycles),
        cmocka_unit_test(a_queued_launch_hides_all_of_its_front_but_the_gap),
        cmocka_unit_test(a_gap_that_is_longer_than_the_front_is_latency),
        cmocka_unit_test(without_a_gap_queued_launches_are_as_any_other),
        cmocka_unit_test(hidden_time_is_spread_over_the_front_cycles),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
