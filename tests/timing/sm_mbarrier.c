/* sm_mbarrier.c: waits at mbarriers end with the events that they count. */
#include "fake_memory.h"
#include "sm_fixture.h"
#include "../../traces/mbarrier.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

static void step_at(struct program *p, uint32_t warp, uint32_t inst, uint8_t kind, uint16_t phase,
                    uint16_t events) {
    const struct ww_mbarrier_step s = {.offset = 64, .phase = phase, .events = events, .kind = kind};
    program_access(p, warp, inst, 1, ww_mbarrier_pack(&s), 0);
}

static uint32_t mbarrier(struct program *p) {
    uint32_t i = program_inst(p, WW_OP_BARRIER, -1, -1, -1);
    p->inst[i].barrier = WW_MBARRIER;
    p->inst[i].flags |= WW_INST_ACCESS;
    return i;
}

/* Warp-cycles at the barrier: warp 0 starts `copies` copies, which an event completes; warp 1 waits for that
 * phase, or for one that is over. Without copies the event is an arrival behind `pauses` instructions. */
static uint64_t waited(uint32_t copies, uint32_t pauses, bool waits) {
    struct ww_gpu_spec g = fixture_gpu();
    struct program p;
    program_init(&p, 1, 64, 1, 64);
    uint32_t copy = program_memory(&p, WW_OP_ASYNC_COPY, WW_SPACE_GLOBAL, 4, -1, 2), bar = mbarrier(&p);
    uint32_t pause = program_inst(&p, WW_OP_NOP, -1, -1, -1);
    for (uint32_t n = 0; n < copies; n++) program_access(&p, 0, copy, ALL, (uint64_t)n << 12, 4);
    for (uint32_t n = 0; n < pauses; n++) program_step(&p, 0, pause, ALL);
    step_at(&p, 0, bar, copies ? WW_MBARRIER_COPIES : WW_MBARRIER_ARRIVE, 7, 1);
    step_at(&p, 1, bar, waits ? WW_MBARRIER_WAIT : WW_MBARRIER_NONE, 7, 1);
    program_step(&p, 1, pause, ALL);
    struct replay r = program_run(&p, &g);
    uint64_t cycles = stall(&r, bar, WW_S_BARRIER) + stall(&r, pause, WW_S_BARRIER);
    replay_free(&r);
    program_free(&p);
    return cycles;
}

static void a_wait_lasts_until_the_copies_of_another_warp_are_done(void **state) {
    (void)state;
    assert_int_equal(waited(1, 0, false), 0);
    assert_true(waited(1, 0, true) >= 200); /* the fixture's latency of the L2 */
    assert_true(waited(8, 0, true) > waited(1, 0, true));
}

static void a_wait_lasts_until_the_last_arrival(void **state) {
    (void)state;
    uint64_t few = waited(0, 10, true), more = waited(0, 30, true);
    assert_true(more >= few + 20);
}

/* The event comes first: nobody waits. */
static void a_phase_that_is_over_is_not_waited_for(void **state) {
    (void)state;
    struct ww_gpu_spec g = fixture_gpu();
    struct program p;
    program_init(&p, 1, 64, 1, 64);
    uint32_t bar = mbarrier(&p), pause = program_inst(&p, WW_OP_NOP, -1, -1, -1);
    step_at(&p, 0, bar, WW_MBARRIER_ARRIVE, 65535, 1);
    step_at(&p, 0, bar, WW_MBARRIER_ARRIVE, 0, 1); /* numbers begin anew */
    for (int n = 0; n < 20; n++) program_step(&p, 1, pause, ALL);
    step_at(&p, 1, bar, WW_MBARRIER_WAIT, 65535, 1);
    step_at(&p, 1, bar, WW_MBARRIER_WAIT, 0, 1);
    program_step(&p, 1, pause, ALL);
    struct replay r = program_run(&p, &g);
    assert_int_equal(stall(&r, bar, WW_S_BARRIER) + stall(&r, pause, WW_S_BARRIER), 0);
    replay_free(&r);
    program_free(&p);
}

static void a_wait_that_nothing_ends_is_an_error(void **state) {
    (void)state;
    struct ww_gpu_spec g = fixture_gpu();
    struct program p;
    program_init(&p, 1, 64, 1, 64);
    uint32_t bar = mbarrier(&p), behind = program_inst(&p, WW_OP_NOP, -1, -1, -1);
    step_at(&p, 0, bar, WW_MBARRIER_ARRIVE, 3, 1);
    step_at(&p, 1, bar, WW_MBARRIER_WAIT, 3, 2);
    program_step(&p, 1, behind, ALL);
    struct replay r = program_run_with(&p, &g, "gto", 4096);
    assert_int_equal(r.code, WW_INPUT);
    assert_non_null(strstr(r.error.text, "at an mbarrier"));
    replay_free(&r);
    program_free(&p);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_wait_lasts_until_the_copies_of_another_warp_are_done),
        cmocka_unit_test(a_wait_lasts_until_the_last_arrival),
        cmocka_unit_test(a_phase_that_is_over_is_not_waited_for),
        cmocka_unit_test(a_wait_that_nothing_ends_is_an_error),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
