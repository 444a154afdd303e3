/* Instruction supply: L0 caches, stream buffers and the L1.5; a fetch port. */
#include "fake_memory.h"
#include "sm_fixture.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

enum { PER_LINE = 8 }; /* instructions of 16 bytes in a line of 128 */

/* Two schedulers with L0s of 8 lines; the L1.5 answers in 10 cycles, the L2 in 50 more. */
static struct ww_gpu_spec supply_gpu(uint32_t stream_lines) {
    struct ww_gpu_spec g = fixture_gpu();
    g.icache_kb = 16;
    g.icache_l0_kb = 1;
    g.icache_l0_ways = 4;
    g.icache_l0_miss_cycles = 10;
    g.icache_miss_cycles = 50;
    g.icache_stream_lines = stream_lines;
    g.front_ibuffer = 3;
    return g;
}

/* So many instructions that need nothing, for all warps; executed `times` times. */
static void straight(struct program *p, uint32_t threads, uint32_t insts, uint32_t times) {
    program_init(p, 1, threads, 1, insts * times);
    for (uint32_t i = 0; i < insts; i++) program_inst(p, WW_OP_NOP, -1, -1, -1);
    for (uint32_t t = 0; t < times; t++)
        for (uint32_t i = 0; i < insts; i++) program_all(p, i);
}

static struct replay run_straight(const struct ww_gpu_spec *g, uint32_t threads, uint32_t insts,
                                  uint32_t times) {
    struct program p;
    straight(&p, threads, insts, times);
    struct replay r = program_run(&p, g);
    program_free(&p);
    return r;
}

static void a_line_of_the_l2_passes_the_l15_and_the_l0(void **state) {
    (void)state;
    struct ww_gpu_spec g = supply_gpu(0);
    struct replay r = run_straight(&g, 32, PER_LINE, 1);
    assert_int_equal(r.r.cycles, 10 + 50 + PER_LINE);
    replay_free(&r);
}

static void schedulers_miss_in_caches_of_their_own_and_share_the_l15(void **state) {
    (void)state;
    struct ww_gpu_spec g = supply_gpu(0);
    struct replay r = run_straight(&g, 64, PER_LINE, 1);
    assert_int_equal(r.r.counter[WW_C_FETCH_L0_MISS], 2);
    assert_int_equal(r.r.counter[WW_C_FETCH_MISS], 1);
    replay_free(&r);
}

/* The buffer is 2 instructions ahead of the warp: the next line is asked for when two of this one are left. */
static void the_next_line_is_asked_for_when_the_buffer_comes_to_it(void **state) {
    (void)state;
    struct ww_gpu_spec g = supply_gpu(0);
    struct replay r = run_straight(&g, 32, 3 * PER_LINE, 1);
    assert_int_equal(r.r.cycles, 60 + 8 + 2 * (60 - 2 + 8));
    replay_free(&r);
}

/* Lines 1 to 4 come with line 0; each that is taken out lets one more be asked for, so 5 is asked for in cycle
 * 66, when the buffer comes to line 1. */
static void the_stream_buffer_keeps_so_many_lines_on_their_way(void **state) {
    (void)state;
    struct ww_gpu_spec g = supply_gpu(4);
    struct replay r = run_straight(&g, 32, 6 * PER_LINE, 1);
    assert_int_equal(r.r.cycles, 66 + 60 + PER_LINE);
    assert_int_equal(r.r.counter[WW_C_FETCH_STREAM], 5);
    assert_int_equal(r.r.counter[WW_C_FETCH_AHEAD], 5); /* there is no line 6 */
    replay_free(&r);
}

/* Two lines of one set of one way replace each other. */
static void code_beyond_the_l0_comes_from_the_l15(void **state) {
    (void)state;
    struct ww_gpu_spec g = supply_gpu(0);
    struct program p;
    g.icache_l0_ways = 1;
    program_init(&p, 1, 32, 1, 200);
    uint32_t here = program_inst(&p, WW_OP_NOP, -1, -1, -1);
    program_inst(&p, WW_OP_NOP, -1, -1, -1);
    uint32_t there = program_inst(&p, WW_OP_NOP, -1, -1, -1);
    p.inst[there].pc = 8 * 128;
    for (int i = 0; i < 3; i++) {
        program_all(&p, here);
        program_all(&p, there);
    }
    struct replay r = program_run(&p, &g);
    assert_int_equal(r.r.counter[WW_C_FETCH_L0_MISS], 6);
    assert_int_equal(r.r.counter[WW_C_FETCH_MISS], 2);
    replay_free(&r);
    program_free(&p);
}

static void a_warp_says_where_the_line_comes_from_that_it_waits_for(void **state) {
    (void)state;
    struct ww_gpu_spec g = supply_gpu(0);
    struct program p;
    g.icache_l0_ways = 1;
    program_init(&p, 1, 32, 1, 200);
    uint32_t here = program_inst(&p, WW_OP_NOP, -1, -1, -1);
    program_inst(&p, WW_OP_NOP, -1, -1, -1);
    uint32_t there = program_inst(&p, WW_OP_NOP, -1, -1, -1);
    p.inst[there].pc = 8 * 128; /* of the same set */
    uint32_t path[] = {here, there, here};
    for (int i = 0; i < 3; i++) program_all(&p, path[i]);
    struct replay r = program_run(&p, &g);
    assert_int_equal(stall(&r, there, WW_S_NO_INST_L15), 60);
    assert_int_equal(stall(&r, here, WW_S_NO_INST_L0), 10);
    replay_free(&r);
    program_free(&p);
}

static void of_two_warps_that_start_one_is_served_in_a_cycle(void **state) {
    (void)state;
    struct ww_gpu_spec g = supply_gpu(0);
    g.sm_schedulers = 1;
    g.icache_miss_cycles = g.icache_l0_miss_cycles = 0;
    struct replay r = run_straight(&g, 64, 1, 1);
    assert_int_equal(r.r.warp_cycles[WW_S_NO_INST], 1);
    replay_free(&r);
}

/* A first launch: the L2 lacks the code. */
static void what_no_launch_has_had_comes_from_dram(void **state) {
    (void)state;
    struct ww_gpu_spec g = supply_gpu(0);
    g.icache_dram_cycles = 300;
    struct replay r = run_straight(&g, 32, PER_LINE, 2);
    assert_int_equal(r.r.cycles, 10 + 50 + 300 + 2 * PER_LINE);
    replay_free(&r);
}

static struct replay run_known(const struct ww_gpu_spec *g, uint32_t insts) {
    struct program p;
    straight(&p, 32, insts, 1);
    p.code_known = true;
    struct replay r = program_run(&p, g);
    program_free(&p);
    return r;
}

/* 2 KiB are 16 lines. */
static void a_launch_leaves_code_that_fits_in_the_l15(void **state) {
    (void)state;
    struct ww_gpu_spec g = supply_gpu(0);
    g.icache_kb = 2;
    g.icache_dram_cycles = 300;
    struct replay r = run_known(&g, PER_LINE);
    assert_int_equal(r.r.cycles, 10 + PER_LINE);
    assert_int_equal(r.r.counter[WW_C_FETCH_MISS], 0);
    assert_int_equal(r.r.counter[WW_C_FETCH_L15], 1);
    replay_free(&r);
    r = run_known(&g, 16 * PER_LINE);
    assert_int_equal(r.r.counter[WW_C_FETCH_MISS], 0);
    replay_free(&r);
}

/* It is in the L2, though: no line comes from DRAM. */
static void of_longer_code_the_l15_keeps_nothing(void **state) {
    (void)state;
    struct ww_gpu_spec g = supply_gpu(0);
    g.icache_kb = 2;
    g.icache_dram_cycles = 300;
    struct replay r = run_known(&g, 17 * PER_LINE);
    assert_int_equal(r.r.counter[WW_C_FETCH_MISS], 17);
    assert_int_equal(r.r.cycles, 60 + 8 + 16 * (60 - 2 + 8));
    replay_free(&r);
}

static void a_stream_buffer_that_restarts_forgets_its_lines(void **state) {
    (void)state;
    struct ww_gpu_spec g = supply_gpu(2);
    struct program p;
    program_init(&p, 1, 32, 1, 8);
    uint32_t inst[4 * PER_LINE];
    for (uint32_t i = 0; i < 4 * PER_LINE; i++) inst[i] = program_inst(&p, WW_OP_NOP, -1, -1, -1);
    program_all(&p, inst[0]);            /* lines 1 and 2 are fetched ahead */
    program_all(&p, inst[3 * PER_LINE]); /* line 3 is not there */
    program_all(&p, inst[PER_LINE]);     /* line 1 no longer is */
    struct replay r = program_run(&p, &g);
    assert_int_equal(r.r.counter[WW_C_FETCH_STREAM], 0);
    assert_int_equal(r.r.counter[WW_C_FETCH_L0_MISS], 3);
    replay_free(&r);
    program_free(&p);
}

/* An RTX 3060 with code that none of an SM's caches holds: 35.6 cycles a line of 128 bytes for one warp
 * (YKTian-x2b/AmpereArchViaMicroBenchMark: 22,528 to 30,720 FFMA in 100,372 to 136,940 cycles); its L2 answers
 * a constant's miss of the first level 238 - 14 cycles later than a hit. */
static void straight_code_from_the_l2_takes_as_long_as_measured(void **state) {
    (void)state;
    struct ww_gpu_spec g = supply_gpu(6);
    g.icache_l0_miss_cycles = 64;
    g.icache_miss_cycles = 160;
    struct replay some = run_straight(&g, 32, 32 * PER_LINE, 1), more = run_straight(&g, 32, 64 * PER_LINE, 1);
    double a_line = (double)(more.r.cycles - some.r.cycles) / 32;
    assert_true(a_line > 35.6 * 0.95 && a_line < 35.6 * 1.05);
    replay_free(&some);
    replay_free(&more);
}

/* A line that is moved into the L0 before it has come keeps its place: six places, six lines in the time of an
 * answer, not seven. */
static void as_many_lines_are_on_their_way_as_the_stream_buffer_has_places(void **state) {
    (void)state;
    struct ww_gpu_spec g = supply_gpu(2);
    g.icache_l0_miss_cycles = 100;
    g.icache_miss_cycles = 100;
    struct replay some = run_straight(&g, 32, 20 * PER_LINE, 1), more = run_straight(&g, 32, 40 * PER_LINE, 1);
    assert_int_equal(more.r.cycles - some.r.cycles, 20 * 200 / 2);
    replay_free(&some);
    replay_free(&more);
}

/* Three lines come with the first one; the warp comes to them when they are there. */
static void a_line_that_the_l0_lacks_costs_its_entry(void **state) {
    (void)state;
    struct ww_gpu_spec g = supply_gpu(6);
    struct replay without = run_straight(&g, 32, 4 * PER_LINE, 2);
    g.icache_stream_cycles = 20;
    struct replay with = run_straight(&g, 32, 4 * PER_LINE, 2);
    assert_int_equal(with.r.cycles - without.r.cycles, 3 * 20); /* the second pass finds them in the L0 */
    replay_free(&without);
    replay_free(&with);
}

/* ---- one fetch a cycle (front.fetch_port) ---- */

static struct ww_gpu_spec port_gpu(void) {
    struct ww_gpu_spec g = fixture_gpu();
    g.front_fetch_port = true;
    g.front_ibuffer = 2;
    return g;
}

/* A fetch in cycle 0 issues in 2 and 3; in 3 the buffer is empty. */
static void a_lone_warp_issues_in_two_of_three_cycles(void **state) {
    (void)state;
    struct ww_gpu_spec g = port_gpu();
    struct replay r = run_straight(&g, 32, 8, 1);
    assert_int_equal(r.r.cycles, 13);
    replay_free(&r);
}

/* In cycles 0 to 3 one after the other; the last one issues in 5 and 6. */
static void the_port_serves_one_warp_a_cycle(void **state) {
    (void)state;
    struct ww_gpu_spec g = port_gpu();
    struct replay r = run_straight(&g, 4 * 32, 2, 1);
    assert_int_equal(r.r.cycles, 7);
    replay_free(&r);
}

static uint64_t cycles_of_path(const struct ww_gpu_spec *g, const uint32_t *path, uint32_t count) {
    struct program p;
    program_init(&p, 1, 32, 1, 16);
    for (uint32_t i = 0; i < 8; i++) program_inst(&p, WW_OP_NOP, -1, -1, -1);
    for (uint32_t i = 0; i < count; i++) program_all(&p, path[i]);
    struct replay r = program_run(&p, g);
    uint64_t cycles = r.r.cycles;
    replay_free(&r);
    program_free(&p);
    return cycles;
}

/* Instruction 1, in the buffer, is thrown away in the cycle after 0's issue, and 4 is fetched in that cycle. */
static void what_is_buffered_is_thrown_away_where_a_warp_goes_elsewhere(void **state) {
    (void)state;
    struct ww_gpu_spec g = port_gpu();
    assert_int_equal(cycles_of_path(&g, (const uint32_t[]){0, 4}, 2), 6);
}

/* Instructions 2 and 3 are fetched before it is known that 4 follows. */
static void an_empty_buffer_is_filled_with_what_follows_in_the_code(void **state) {
    (void)state;
    struct ww_gpu_spec g = port_gpu();
    assert_int_equal(cycles_of_path(&g, (const uint32_t[]){0, 1, 4}, 3), 8);
}

/* The line is there 70 cycles after the fetch, which is then made again. */
static void a_fetch_that_misses_takes_the_port_again(void **state) {
    (void)state;
    struct ww_gpu_spec g = port_gpu();
    g.icache_kb = 2;
    g.icache_miss_cycles = 70;
    g.icache_prefetch_lines = 0;
    assert_int_equal(cycles_of_path(&g, (const uint32_t[]){0, 1}, 2), 70 + 2 + 2);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_line_of_the_l2_passes_the_l15_and_the_l0),
        cmocka_unit_test(a_lone_warp_issues_in_two_of_three_cycles),
        cmocka_unit_test(the_port_serves_one_warp_a_cycle),
        cmocka_unit_test(what_is_buffered_is_thrown_away_where_a_warp_goes_elsewhere),
        cmocka_unit_test(an_empty_buffer_is_filled_with_what_follows_in_the_code),
        cmocka_unit_test(a_fetch_that_misses_takes_the_port_again),
        cmocka_unit_test(schedulers_miss_in_caches_of_their_own_and_share_the_l15),
        cmocka_unit_test(the_next_line_is_asked_for_when_the_buffer_comes_to_it),
        cmocka_unit_test(the_stream_buffer_keeps_so_many_lines_on_their_way),
        cmocka_unit_test(code_beyond_the_l0_comes_from_the_l15),
        cmocka_unit_test(a_warp_says_where_the_line_comes_from_that_it_waits_for),
        cmocka_unit_test(of_two_warps_that_start_one_is_served_in_a_cycle),
        cmocka_unit_test(what_no_launch_has_had_comes_from_dram),
        cmocka_unit_test(a_launch_leaves_code_that_fits_in_the_l15),
        cmocka_unit_test(of_longer_code_the_l15_keeps_nothing),
        cmocka_unit_test(straight_code_from_the_l2_takes_as_long_as_measured),
        cmocka_unit_test(a_stream_buffer_that_restarts_forgets_its_lines),
        cmocka_unit_test(as_many_lines_are_on_their_way_as_the_stream_buffer_has_places),
        cmocka_unit_test(a_line_that_the_l0_lacks_costs_its_entry),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
