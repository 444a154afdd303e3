/* Constants that are operands: the schedulers' fixed-latency constant caches. */
#include "fake_memory.h"
#include "sm_fixture.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

/* Two schedulers; the L1.5 answers in 40 cycles, the L2 in 100 more. Lines of 64 and 256 bytes. */
static struct ww_gpu_spec constant_gpu(void) {
    struct ww_gpu_spec g = fixture_gpu();
    g.const_kb = g.const_fixed_kb = 1;
    g.const_line = 64;
    g.const_ways = g.const_fixed_ways = 4;
    g.const_fixed_miss_cycles = 40;
    g.const_fixed_hold_cycles = 4;
    g.const_l15_kb = 16;
    g.const_l15_line = 256;
    g.const_l15_ways = 8;
    g.const_l15_miss_cycles = 100;
    return g;
}

/* An integer instruction with c[bank][offset]. */
static uint32_t with_constant(struct program *p, int dst, uint32_t bank, uint32_t offset) {
    uint32_t i = program_inst(p, WW_OP_INT, dst, -1, -1);
    p->inst[i].flags |= WW_INST_CONST;
    p->inst[i].constant = bank << 24 | offset;
    return i;
}

/* Cycles of one warp with these offsets of bank 0, one after the other. */
static uint64_t cycles_of(const struct ww_gpu_spec *g, const uint32_t *offset, int n) {
    struct program p;
    program_init(&p, 1, 32, 1, 16);
    for (int i = 0; i < n; i++) program_all(&p, with_constant(&p, 10 + i, 0, offset[i]));
    struct replay r = program_run(&p, g);
    uint64_t cycles = r.r.cycles;
    replay_free(&r);
    program_free(&p);
    return cycles;
}

static void a_constant_that_is_nowhere_comes_from_the_l2(void **state) {
    (void)state;
    struct ww_gpu_spec g = constant_gpu();
    assert_int_equal(cycles_of(&g, (const uint32_t[]){0x160}, 1), 100 + 40 + 1);
}

static void a_constant_that_is_there_costs_nothing(void **state) {
    (void)state;
    struct ww_gpu_spec g = constant_gpu();
    assert_int_equal(cycles_of(&g, (const uint32_t[]){0x160, 0x164}, 2), 140 + 2);
}

static void a_line_of_the_l15_holds_several_of_a_scheduler(void **state) {
    (void)state;
    struct ww_gpu_spec g = constant_gpu();
    assert_int_equal(cycles_of(&g, (const uint32_t[]){0x100, 0x140}, 2), 140 + 1 + 40 + 1);
}

static void without_such_a_cache_constants_are_always_there(void **state) {
    (void)state;
    struct ww_gpu_spec g = constant_gpu();
    g.const_fixed_kb = 0;
    assert_int_equal(cycles_of(&g, (const uint32_t[]){0x160}, 1), 1);
}

static void banks_are_told_apart(void **state) {
    (void)state;
    struct ww_gpu_spec g = constant_gpu();
    struct program p;
    program_init(&p, 1, 32, 1, 2);
    program_all(&p, with_constant(&p, 10, 0, 0x160));
    program_all(&p, with_constant(&p, 11, 3, 0x160));
    struct replay r = program_run(&p, &g);
    assert_int_equal(r.r.counter[WW_C_CONST_OPERAND_MISS], 2);
    assert_int_equal(r.r.counter[WW_C_CONST_L15_MISS], 2);
    replay_free(&r);
    program_free(&p);
}

/* The second scheduler's line is on its way to the L1.5 already. */
static void schedulers_have_caches_of_their_own_and_share_the_l15(void **state) {
    (void)state;
    struct ww_gpu_spec g = constant_gpu();
    struct program p;
    program_init(&p, 1, 64, 1, 2);
    program_all(&p, with_constant(&p, 10, 0, 0x160));
    struct replay r = program_run(&p, &g);
    assert_int_equal(r.r.counter[WW_C_CONST_OPERAND_MISS], 2);
    assert_int_equal(r.r.counter[WW_C_CONST_L15_MISS], 1);
    assert_int_equal(r.r.cycles, 140 + 1);
    replay_free(&r);
    program_free(&p);
}

static void the_wait_has_a_state_and_a_slot_of_its_own(void **state) {
    (void)state;
    struct ww_gpu_spec g = constant_gpu();
    struct program p;
    program_init(&p, 1, 32, 1, 2);
    uint32_t inst = with_constant(&p, 10, 0, 0x160);
    program_all(&p, inst);
    struct replay r = program_run(&p, &g);
    assert_int_equal(stall(&r, inst, WW_S_CONST_MISS), 140);
    assert_int_equal(r.r.slot[WW_SLOT_CONST_MISS], 140);
    replay_free(&r);
    program_free(&p);
}

/* Cycle in which the second warp of a scheduler, whose instructions need no constant, is through. */
static uint64_t others_cycles(uint32_t hold) {
    struct ww_gpu_spec g = constant_gpu();
    struct program p;
    g.sm_schedulers = 1;
    g.pipe_int_count = 1;
    g.const_fixed_hold_cycles = hold;
    program_init(&p, 1, 64, 1, 4);
    uint32_t constant = with_constant(&p, 10, 0, 0x160), other = program_inst(&p, WW_OP_INT, 11, -1, -1);
    program_step(&p, 0, constant, ALL);
    program_step(&p, 1, other, ALL);
    struct replay r = program_run(&p, &g);
    uint64_t wait = stall(&r, other, WW_S_EXCESS_ALU);
    replay_free(&r);
    program_free(&p);
    return wait;
}

static void the_scheduler_waits_a_while_before_it_turns_to_another_warp(void **state) {
    (void)state;
    assert_int_equal(others_cycles(4), 4);
    assert_int_equal(others_cycles(0), 1);
}

static void two_warps_that_replace_each_others_line_both_go_on(void **state) {
    (void)state;
    struct ww_gpu_spec g = constant_gpu();
    struct program p;
    g.sm_schedulers = 1;
    g.pipe_int_count = 1;
    g.const_line = 256;
    g.const_ways = g.const_fixed_ways = 1; /* four sets: offsets 0 and 1024 share one */
    program_init(&p, 1, 64, 1, 4);
    uint32_t a = with_constant(&p, 10, 0, 0), b = with_constant(&p, 11, 0, 1024);
    for (int i = 0; i < 4; i++) {
        program_step(&p, 0, i & 1 ? a : b, ALL);
        program_step(&p, 1, i & 1 ? b : a, ALL);
    }
    struct replay r = program_run(&p, &g);
    assert_true(r.r.counter[WW_C_CONST_OPERAND_MISS] <= 8);
    replay_free(&r);
    program_free(&p);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_constant_that_is_nowhere_comes_from_the_l2),
        cmocka_unit_test(a_constant_that_is_there_costs_nothing),
        cmocka_unit_test(a_line_of_the_l15_holds_several_of_a_scheduler),
        cmocka_unit_test(without_such_a_cache_constants_are_always_there),
        cmocka_unit_test(banks_are_told_apart),
        cmocka_unit_test(schedulers_have_caches_of_their_own_and_share_the_l15),
        cmocka_unit_test(the_wait_has_a_state_and_a_slot_of_its_own),
        cmocka_unit_test(the_scheduler_waits_a_while_before_it_turns_to_another_warp),
        cmocka_unit_test(two_warps_that_replace_each_others_line_both_go_on),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
