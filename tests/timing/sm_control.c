/* Barriers, branches, fetch, sleep, dispatch, and the order of warps. */
#include "fake_memory.h"
#include "sm_fixture.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

/* Warp 0 computes for a while and then comes to the barrier at which warp 1 waits. */
static void a_warp_waits_at_a_barrier_for_the_last_to_arrive(void **state) {
    (void)state;
    struct ww_gpu_spec g = fixture_gpu();
    struct program p;
    program_init(&p, 1, 64, 1, 32);
    uint32_t sfu = program_inst(&p, WW_OP_SFU, 1, 1, -1);
    uint32_t bar = program_inst(&p, WW_OP_BARRIER, -1, -1, -1);
    uint32_t after = program_inst(&p, WW_OP_INT, 5, -1, -1);
    for (int i = 0; i < 5; i++) program_step(&p, 0, sfu, ALL);
    program_all(&p, bar);
    program_all(&p, after);
    struct replay r = program_run(&p, &g);
    /* warp 0 issues the barrier in cycle 4 * 20 + 1; both go on 4 cycles (pipe.branch) later */
    assert_int_equal(r.r.cycles, 81 + 4 + 1);
    assert_int_equal(stall(&r, bar, WW_S_BARRIER), (85 - 1) + (85 - 82));
    assert_int_equal(r.r.counter[WW_C_BARRIER_WAITS], 2);
    assert_true(r.r.slot[WW_SLOT_BARRIER] >= 84);
    replay_free(&r);
    program_free(&p);
}

static void warps_that_have_ended_are_not_waited_for(void **state) {
    (void)state;
    struct ww_gpu_spec g = fixture_gpu();
    struct program p;
    program_init(&p, 1, 96, 1, 8);
    uint32_t bar = program_inst(&p, WW_OP_BARRIER, -1, -1, -1);
    uint32_t nop = program_inst(&p, WW_OP_NOP, -1, -1, -1);
    program_step(&p, 0, bar, ALL);
    program_step(&p, 0, nop, ALL);
    for (int i = 0; i < 6; i++) program_step(&p, 1, nop, ALL);
    for (int i = 0; i < 3; i++) program_step(&p, 2, nop, ALL);
    struct replay r = program_run(&p, &g);
    /* warp 1 issues its last instruction in cycle 5 */
    assert_int_equal(r.r.cycles, 5 + 4 + 1);
    replay_free(&r);
    program_free(&p);
}

static void a_barrier_without_threads_is_no_arrival(void **state) {
    (void)state;
    struct ww_gpu_spec g = fixture_gpu();
    struct program p;
    program_init(&p, 1, 64, 1, 32);
    uint32_t sfu = program_inst(&p, WW_OP_SFU, 1, 1, -1);
    uint32_t bar = program_inst(&p, WW_OP_BARRIER, -1, -1, -1);
    uint32_t after = program_inst(&p, WW_OP_INT, 5, -1, -1);
    program_step(&p, 0, bar, 0);
    for (int i = 0; i < 5; i++) program_step(&p, 0, sfu, ALL);
    program_all(&p, bar);
    program_all(&p, after);
    struct replay r = program_run(&p, &g);
    assert_in_range(stall(&r, bar, WW_S_BARRIER), 80, 90);
    assert_int_equal(r.r.counter[WW_C_BARRIER_WAITS], 2);
    replay_free(&r);
    program_free(&p);
}

static void a_barrier_of_some_threads_does_not_wait_for_others(void **state) {
    (void)state;
    struct ww_gpu_spec g = fixture_gpu();
    struct program p;
    program_init(&p, 1, 96, 1, 40);
    uint32_t bar = program_inst(&p, WW_OP_BARRIER, -1, -1, -1);
    uint32_t arrive = program_inst(&p, WW_OP_BARRIER, -1, -1, -1);
    uint32_t nop = program_inst(&p, WW_OP_NOP, -1, -1, -1);
    p.inst[bar].barrier = p.inst[arrive].barrier = 3;
    p.inst[bar].barrier_threads = p.inst[arrive].barrier_threads = 64;
    p.inst[arrive].flags = WW_INST_BAR_ARRIVE;
    program_step(&p, 0, bar, ALL);
    program_step(&p, 0, nop, ALL);
    program_step(&p, 1, arrive, ALL);
    program_step(&p, 1, nop, ALL);
    for (int i = 0; i < 40; i++) program_step(&p, 2, nop, ALL);
    struct replay r = program_run(&p, &g);
    assert_true(stall(&r, bar, WW_S_BARRIER) <= 5);
    assert_int_equal(stall(&r, arrive, WW_S_BARRIER), 0);
    replay_free(&r);
    program_free(&p);
}

static void a_branch_delays_the_next_issue(void **state) {
    (void)state;
    struct ww_gpu_spec g = fixture_gpu();
    struct program p;
    program_init(&p, 1, 32, 1, 2);
    uint32_t branch = program_inst(&p, WW_OP_BRANCH, -1, -1, -1);
    uint32_t next = program_inst(&p, WW_OP_NOP, -1, -1, -1);
    program_all(&p, branch);
    program_all(&p, next);
    struct replay r = program_run(&p, &g);
    assert_int_equal(r.r.cycles, 5 + 1);
    assert_int_equal(stall(&r, next, WW_S_NO_INST), 4);
    assert_int_equal(r.r.slot[WW_SLOT_NO_INST], 4);
    replay_free(&r);
    program_free(&p);
}

static void a_fetch_that_misses_the_instruction_cache_delays_the_warp(void **state) {
    (void)state;
    struct ww_gpu_spec g = fixture_gpu();
    struct program p;
    g.icache_kb = 1;
    g.icache_miss_cycles = 50;
    g.icache_prefetch_lines = 0;
    program_init(&p, 1, 32, 1, 16);
    for (int i = 0; i < 16; i++) program_all(&p, program_inst(&p, WW_OP_NOP, -1, -1, -1));
    struct replay r = program_run(&p, &g);
    /* 16 instructions of 16 bytes: two lines of 128 */
    assert_int_equal(r.r.counter[WW_C_FETCH_MISS], 2);
    assert_int_equal(r.r.cycles, 50 + 8 + 50 + 8);
    replay_free(&r);
    program_free(&p);
}

static void the_line_after_the_fetched_one_is_fetched_with_it(void **state) {
    (void)state;
    struct ww_gpu_spec g = fixture_gpu();
    struct program p;
    g.icache_kb = 1;
    g.icache_miss_cycles = 50;
    g.icache_prefetch_lines = 1;
    program_init(&p, 1, 32, 1, 24);
    for (int i = 0; i < 24; i++) program_all(&p, program_inst(&p, WW_OP_NOP, -1, -1, -1));
    struct replay r = program_run(&p, &g);
    /* Three lines: the second comes with the first, the third is asked for when the second is fetched. */
    assert_int_equal(r.r.counter[WW_C_FETCH_MISS], 1);
    assert_int_equal(r.r.cycles, 50 + 8 + 50 + 8);
    replay_free(&r);
    program_free(&p);
}

static void a_cta_starts_launch_cta_cycles_after_its_dispatch(void **state) {
    (void)state;
    struct ww_gpu_spec g = fixture_gpu();
    struct program p;
    g.launch_cta_cycles = 300;
    program_init(&p, 1, 32, 1, 1);
    program_all(&p, program_inst(&p, WW_OP_NOP, -1, -1, -1));
    struct replay r = program_run(&p, &g);
    assert_int_equal(r.r.cycles, 301);
    assert_int_equal(r.r.warp_cycles[WW_S_NO_INST], 300);
    replay_free(&r);
    program_free(&p);
}

static void so_many_ctas_are_dispatched_in_a_cycle(void **state) {
    (void)state;
    struct ww_gpu_spec g = fixture_gpu();
    struct program p;
    g.sm_count = 4;
    program_init(&p, 4, 32, 1, 1);
    program_all(&p, program_inst(&p, WW_OP_NOP, -1, -1, -1));
    struct replay r = program_run(&p, &g);
    assert_int_equal(r.r.cycles, 4);
    replay_free(&r);
    g.launch_ctas_per_cycle = 4;
    r = program_run(&p, &g);
    assert_int_equal(r.r.cycles, 1); /* one on each SM: in turn, not all on the first */
    replay_free(&r);
    program_free(&p);
}

static void a_sleeping_warp_is_paused(void **state) {
    (void)state;
    struct ww_gpu_spec g = fixture_gpu();
    struct program p;
    program_init(&p, 1, 32, 1, 2);
    uint32_t sleep = program_inst(&p, WW_OP_SLEEP, -1, -1, -1);
    p.inst[sleep].flags = WW_INST_ACCESS;
    program_access(&p, 0, sleep, ALL, 1000, 0); /* ns; a cycle is one */
    program_step(&p, 0, program_inst(&p, WW_OP_NOP, -1, -1, -1), ALL);
    struct replay r = program_run(&p, &g);
    assert_int_equal(r.r.cycles, 1 + 1000 + 1);
    assert_int_equal(stall(&r, sleep, WW_S_PAUSED), 1000);
    replay_free(&r);
    program_free(&p);
}

/* Its phase is complete: the wait before it is for that. */
static void a_sleep_until_a_phase_is_complete_takes_no_time(void **state) {
    (void)state;
    static const char *const names[] = {"", "NANOSLEEP.SYNCS"};
    struct ww_gpu_spec g = fixture_gpu();
    struct program p;
    program_init(&p, 1, 32, 1, 2);
    p.launch.string = names;
    p.launch.string_count = sizeof names / sizeof *names;
    uint32_t sleep = program_inst(&p, WW_OP_SLEEP, -1, -1, -1);
    p.inst[sleep].flags = WW_INST_ACCESS;
    p.inst[sleep].mnemonic = 1;
    program_access(&p, 0, sleep, ALL, 1000, 0);
    program_step(&p, 0, program_inst(&p, WW_OP_NOP, -1, -1, -1), ALL);
    struct replay r = program_run(&p, &g);
    assert_int_equal(r.r.cycles, 2);
    replay_free(&r);
    program_free(&p);
}

/* Cycles that the first warp of a scheduler waits for its turn, when three warps have eight independent
 * instructions each. Slots 0, 1 and 2 of scheduler 0 are warps 0, 2 and 4. */
static uint64_t first_warp_excess(const char *sched) {
    struct ww_gpu_spec g = fixture_gpu();
    struct program p;
    g.sm_schedulers = 1;
    g.pipe_int_count = 1;
    program_init(&p, 1, 96, 1, 8);
    uint32_t mine[8], other[8];
    for (int i = 0; i < 8; i++) mine[i] = program_inst(&p, WW_OP_INT, 10 + i, 2, -1);
    for (int i = 0; i < 8; i++) other[i] = program_inst(&p, WW_OP_INT, 10 + i, 2, -1);
    for (int i = 0; i < 8; i++)
        for (uint32_t w = 0; w < 3; w++) program_step(&p, w, w ? other[i] : mine[i], ALL);
    struct replay r = program_run_with(&p, &g, sched, 4096);
    assert_int_equal(r.code, WW_OK);
    assert_int_equal(r.r.cycles, 24);
    uint64_t excess = 0;
    for (int i = 0; i < 8; i++) excess += stall(&r, mine[i], WW_S_EXCESS_ALU);
    replay_free(&r);
    program_free(&p);
    return excess;
}

static void greedy_then_oldest_stays_with_a_warp_and_round_robin_does_not(void **state) {
    (void)state;
    assert_int_equal(first_warp_excess("gto"), 0);
    assert_int_equal(first_warp_excess("lrr"), 7 * 2);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_warp_waits_at_a_barrier_for_the_last_to_arrive),
        cmocka_unit_test(warps_that_have_ended_are_not_waited_for),
        cmocka_unit_test(a_barrier_without_threads_is_no_arrival),
        cmocka_unit_test(a_barrier_of_some_threads_does_not_wait_for_others),
        cmocka_unit_test(a_branch_delays_the_next_issue),
        cmocka_unit_test(a_fetch_that_misses_the_instruction_cache_delays_the_warp),
        cmocka_unit_test(the_line_after_the_fetched_one_is_fetched_with_it),
        cmocka_unit_test(a_cta_starts_launch_cta_cycles_after_its_dispatch),
        cmocka_unit_test(so_many_ctas_are_dispatched_in_a_cycle),
        cmocka_unit_test(a_sleeping_warp_is_paused),
        cmocka_unit_test(a_sleep_until_a_phase_is_complete_takes_no_time),
        cmocka_unit_test(greedy_then_oldest_stays_with_a_warp_and_round_robin_does_not),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
