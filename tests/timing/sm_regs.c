/* Register ports of the schedulers' banks, and operand caches. */
#include "fake_memory.h"
#include "sm_fixture.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

enum { COUNT = 16 };

/* One scheduler that issues an FP32 instruction a cycle; two banks of one port. */
static struct ww_gpu_spec banked_gpu(void) {
    struct ww_gpu_spec g = fixture_gpu();
    g.sm_schedulers = 1;
    g.pipe_int_count = g.pipe_imul_count = g.pipe_fp32_count = 1;
    g.pipe_fp16_count = g.pipe_fp64_count = g.pipe_sfu_count = 1;
    g.front_rf_banks = 2;
    g.front_rf_ports = 2;
    g.front_rf_window = 3;
    return g;
}

/* An instruction whose sources stand at A, B and C, with the compiler's fields; reg < 0: none. */
static uint32_t machine(struct program *p, int dst, int a, int b, int c) {
    uint32_t i = program_inst(p, WW_OP_FP32, dst, a, b);
    struct ww_inst *in = &p->inst[i];
    if (c >= 0) in->src[in->src_count++] = (struct ww_operand){(uint16_t)c, 1};
    in->flags |= WW_INST_CONTROL;
    for (uint8_t s = 0; s < in->src_count; s++) in->src_slot[s] = (uint8_t)(WW_SLOT_A + s);
    return i;
}

/* Independent instructions of one warp with these sources. */
static struct replay run_alike(const struct ww_gpu_spec *g, int a, int b, int c, uint8_t reuse_a) {
    struct program p;
    program_init(&p, 1, 32, 1, COUNT);
    for (int i = 0; i < COUNT; i++) {
        uint32_t inst = machine(&p, 20 + i, a, b, c);
        p.inst[inst].src_slot[0] |= reuse_a;
        program_all(&p, inst);
    }
    struct replay r = program_run(&p, g);
    program_free(&p);
    return r;
}

static uint64_t held(int a, int b, int c, uint8_t reuse_a) {
    struct ww_gpu_spec g = banked_gpu();
    struct replay r = run_alike(&g, a, b, c, reuse_a);
    uint64_t cycles = r.r.counter[WW_C_REG_BANK_CONFLICT];
    replay_free(&r);
    return cycles;
}

static void sources_in_both_banks_hold_nothing(void **state) {
    (void)state;
    assert_int_equal(held(2, 3, -1, 0), 0);
}

/* The first two find all ports free in the three cycles after their issue. */
static void two_sources_in_one_bank_hold_a_cycle(void **state) {
    (void)state;
    assert_int_equal(held(2, 4, -1, 0), COUNT - 2);
}

static void three_sources_in_one_bank_hold_two(void **state) {
    (void)state;
    assert_int_equal(held(2, 4, 6, 0), 2 * (COUNT - 1));
}

static void a_register_that_two_operands_name_is_read_once(void **state) {
    (void)state;
    assert_int_equal(held(2, 2, -1, 0), 0);
}

static void a_source_that_is_kept_reads_no_bank(void **state) {
    (void)state;
    assert_int_equal(held(2, 4, -1, WW_SLOT_REUSE), 0);
}

/* R2 is kept for A only; B reads it, and C another one of the bank (an RTX 3060: seven cycles for four, not
 * four). */
static void a_register_of_two_operands_is_read_unless_both_are_kept(void **state) {
    (void)state;
    assert_int_equal(held(2, 2, 4, WW_SLOT_REUSE), held(2, 4, -1, 0));
}

static void slots_that_ports_cost_have_a_cause_of_their_own(void **state) {
    (void)state;
    struct ww_gpu_spec g = banked_gpu();
    struct replay r = run_alike(&g, 2, 4, 6, 0);
    assert_int_equal(r.r.slot[WW_SLOT_REG_PORT], 2 * (COUNT - 2)); /* nothing follows the last */
    replay_free(&r);
}

/* How often a source comes from the cache when two instructions follow each other. */
static uint64_t kept(int a1, uint8_t flags1, int a2, int b2) {
    struct ww_gpu_spec g = banked_gpu();
    struct program p;
    program_init(&p, 1, 32, 1, 3);
    uint32_t first = machine(&p, 20, a1, 11, -1), second = machine(&p, 21, a2, b2, -1);
    p.inst[first].src_slot[0] |= flags1;
    program_all(&p, first);
    program_all(&p, second);
    struct replay r = program_run(&p, &g);
    uint64_t n = r.r.counter[WW_C_REG_REUSE];
    replay_free(&r);
    program_free(&p);
    return n;
}

static void the_cache_is_looked_up_by_place_and_register(void **state) {
    (void)state;
    assert_int_equal(kept(2, WW_SLOT_REUSE, 2, 5), 1);
    assert_int_equal(kept(2, WW_SLOT_REUSE, 4, 5), 0);
    assert_int_equal(kept(2, WW_SLOT_REUSE, 5, 2), 0);
    assert_int_equal(kept(2, 0, 2, 5), 0);
}

/* R2 is kept; the second reads it without keeping it; the third finds it gone. */
static void a_read_of_the_place_empties_it(void **state) {
    (void)state;
    struct ww_gpu_spec g = banked_gpu();
    struct program p;
    program_init(&p, 1, 32, 1, 3);
    for (int i = 0; i < 3; i++) {
        uint32_t inst = machine(&p, 20 + i, 2, 5, -1);
        if (i == 0) p.inst[inst].src_slot[0] |= WW_SLOT_REUSE;
        program_all(&p, inst);
    }
    struct replay r = program_run(&p, &g);
    assert_int_equal(r.r.counter[WW_C_REG_REUSE], 1);
    replay_free(&r);
    program_free(&p);
}

static void another_warp_finds_nothing_kept(void **state) {
    (void)state;
    struct ww_gpu_spec g = banked_gpu();
    struct program p;
    program_init(&p, 1, 64, 1, 4);
    for (int i = 0; i < 4; i++) {
        uint32_t inst = machine(&p, 20 + i, 2, 5, -1);
        p.inst[inst].src_slot[0] |= WW_SLOT_REUSE;
        program_all(&p, inst);
    }
    struct replay r = program_run_with(&p, &g, "lrr", 4096); /* the warps take turns */
    assert_int_equal(r.r.counter[WW_C_REG_REUSE], 0);
    replay_free(&r);
    program_free(&p);
}

static void without_the_compilers_fields_each_instruction_is_by_itself(void **state) {
    (void)state;
    struct ww_gpu_spec g = banked_gpu();
    struct program p;
    program_init(&p, 1, 32, 1, COUNT);
    for (int i = 0; i < COUNT; i++) {
        uint32_t inst = machine(&p, 20 + i, 2, 4, 6);
        p.inst[inst].flags &= ~WW_INST_CONTROL;
        program_all(&p, inst);
    }
    struct replay r = program_run(&p, &g);
    assert_int_equal(r.r.counter[WW_C_REG_BANK_CONFLICT], COUNT);
    replay_free(&r);
    program_free(&p);
}

static void special_functions_read_when_ports_are_idle(void **state) {
    (void)state;
    struct ww_gpu_spec g = banked_gpu();
    struct program p;
    g.pipe_sfu_lanes = 32;
    program_init(&p, 1, 32, 1, COUNT);
    for (int i = 0; i < COUNT; i++) {
        uint32_t inst = machine(&p, 20 + i, 2, 4, 6);
        p.inst[inst].op = WW_OP_SFU;
        program_all(&p, inst);
    }
    struct replay r = program_run(&p, &g);
    assert_int_equal(r.r.counter[WW_C_REG_BANK_CONFLICT], 0);
    replay_free(&r);
    program_free(&p);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sources_in_both_banks_hold_nothing),
        cmocka_unit_test(two_sources_in_one_bank_hold_a_cycle),
        cmocka_unit_test(three_sources_in_one_bank_hold_two),
        cmocka_unit_test(a_register_that_two_operands_name_is_read_once),
        cmocka_unit_test(a_source_that_is_kept_reads_no_bank),
        cmocka_unit_test(a_register_of_two_operands_is_read_unless_both_are_kept),
        cmocka_unit_test(slots_that_ports_cost_have_a_cause_of_their_own),
        cmocka_unit_test(the_cache_is_looked_up_by_place_and_register),
        cmocka_unit_test(a_read_of_the_place_empties_it),
        cmocka_unit_test(another_warp_finds_nothing_kept),
        cmocka_unit_test(without_the_compilers_fields_each_instruction_is_by_itself),
        cmocka_unit_test(special_functions_read_when_ports_are_idle),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
