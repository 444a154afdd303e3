/* Arithmetic pipelines: latencies, initiation intervals, ports, pairs. */
#include "fake_memory.h"
#include "sm_fixture.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

/* Cycles of a launch of one warp that issues `inst` and then what needs its result: the second issues at the
 * latency and takes a cycle. */
static uint64_t dependent_cycles(enum ww_op op, const struct ww_gpu_spec *gpu) {
    struct program p;
    program_init(&p, 1, 32, 1, 2);
    program_all(&p, program_inst(&p, op, 1, 2, -1));
    program_all(&p, program_inst(&p, WW_OP_INT, 3, 1, -1));
    struct replay r = program_run(&p, gpu);
    uint64_t cycles = r.r.cycles;
    replay_free(&r);
    program_free(&p);
    return cycles;
}

static void a_dependent_instruction_issues_after_the_latency_of_its_producer(void **state) {
    (void)state;
    struct ww_gpu_spec g = fixture_gpu();
    assert_int_equal(dependent_cycles(WW_OP_INT, &g), 4 + 1);
    assert_int_equal(dependent_cycles(WW_OP_IMUL, &g), 6 + 1);
    assert_int_equal(dependent_cycles(WW_OP_FP32, &g), 5 + 1);
    assert_int_equal(dependent_cycles(WW_OP_FP16, &g), 7 + 1);
    assert_int_equal(dependent_cycles(WW_OP_FP64, &g), 9 + 1);
    assert_int_equal(dependent_cycles(WW_OP_SFU, &g), 20 + 1);
    g.front_dependent_issue = 3;
    assert_int_equal(dependent_cycles(WW_OP_FP32, &g), 8 + 1);
}

static void the_wait_is_counted_by_producer(void **state) {
    (void)state;
    struct ww_gpu_spec g = fixture_gpu();
    struct program p;
    program_init(&p, 1, 32, 1, 2);
    program_all(&p, program_inst(&p, WW_OP_SFU, 1, 2, -1));
    uint32_t use = program_inst(&p, WW_OP_INT, 3, 1, -1);
    program_all(&p, use);
    struct replay r = program_run(&p, &g);
    assert_int_equal(stall(&r, use, WW_S_WAIT_SFU), 19);
    assert_int_equal(stall(&r, use, WW_S_WAIT_ALU), 0);
    replay_free(&r);
    program_free(&p);
}

/* Cycles of n independent instructions of one kind in each of `warps` warps. */
static uint64_t independent_cycles(enum ww_op op, uint32_t warps, uint32_t n, const struct ww_gpu_spec *gpu) {
    struct program p;
    program_init(&p, 1, 32 * warps, 1, n);
    for (uint32_t i = 0; i < n; i++) program_all(&p, program_inst(&p, op, (int)(10 + i), 2, -1));
    struct replay r = program_run(&p, gpu);
    uint64_t cycles = r.r.cycles;
    replay_free(&r);
    program_free(&p);
    return cycles;
}

static void independent_instructions_issue_one_a_cycle(void **state) {
    (void)state;
    struct ww_gpu_spec g = fixture_gpu();
    assert_int_equal(independent_cycles(WW_OP_FP32, 1, 20, &g), 20);
}

static void a_pipeline_with_fewer_lanes_takes_an_instruction_every_32_over_lanes_cycles(void **state) {
    (void)state;
    struct ww_gpu_spec g = fixture_gpu();
    assert_int_equal(independent_cycles(WW_OP_FP64, 1, 10, &g), 9 * 4 + 1);
    assert_int_equal(independent_cycles(WW_OP_SFU, 1, 10, &g), 9 * 8 + 1);
}

static void schedulers_with_pipelines_of_their_own_do_not_wait_for_one_another(void **state) {
    (void)state;
    struct ww_gpu_spec g = fixture_gpu();
    assert_int_equal(independent_cycles(WW_OP_FP64, 2, 10, &g), 9 * 4 + 1);
}

static void schedulers_that_share_a_pipeline_take_turns(void **state) {
    (void)state;
    struct ww_gpu_spec g = fixture_gpu();
    g.pipe_fp64_count = 1;
    assert_int_equal(independent_cycles(WW_OP_FP64, 2, 10, &g), 19 * 4 + 1);
}

static void the_issue_interval_spaces_the_issues_of_a_scheduler(void **state) {
    (void)state;
    struct ww_gpu_spec g = fixture_gpu();
    g.front_issue_interval = 2;
    assert_int_equal(independent_cycles(WW_OP_FP32, 1, 10, &g), 9 * 2 + 1);
    assert_int_equal(independent_cycles(WW_OP_FP32, 4, 10, &g), 19 * 2 + 1);
}

/* Cycles of FP32 and another class in turn, all independent. */
static uint64_t alternating_cycles(enum ww_op other, const struct ww_gpu_spec *gpu, uint64_t *paired) {
    struct program p;
    program_init(&p, 1, 32, 1, 16);
    for (int i = 0; i < 16; i++) program_all(&p, program_inst(&p, i & 1 ? other : WW_OP_FP32, 10 + i, 2, -1));
    struct replay r = program_run(&p, gpu);
    uint64_t cycles = r.r.cycles;
    *paired = r.r.counter[WW_C_DUAL_ISSUED];
    replay_free(&r);
    program_free(&p);
    return cycles;
}

static void a_second_instruction_issues_with_the_first_if_it_takes_another_port(void **state) {
    (void)state;
    struct ww_gpu_spec g = fixture_gpu();
    uint64_t paired;
    assert_int_equal(alternating_cycles(WW_OP_INT, &g, &paired), 16);
    assert_int_equal(paired, 0);
    g.sm_issue_width = 2;
    assert_int_equal(alternating_cycles(WW_OP_INT, &g, &paired), 8);
    assert_int_equal(paired, 8);
    assert_int_equal(alternating_cycles(WW_OP_FP32, &g, &paired), 16);
    assert_int_equal(paired, 0);
}

static void a_dependent_second_instruction_is_not_paired(void **state) {
    (void)state;
    struct ww_gpu_spec g = fixture_gpu();
    g.sm_issue_width = 2;
    assert_int_equal(dependent_cycles(WW_OP_FP32, &g), 5 + 1);
}

static void shared_lanes_and_shared_ports_exclude_one_another(void **state) {
    (void)state;
    struct ww_gpu_spec g = fixture_gpu();
    uint64_t paired;
    g.sm_issue_width = 2;
    g.pipe_int_shares_fp32 = true;
    assert_int_equal(alternating_cycles(WW_OP_INT, &g, &paired), 16);
    g.pipe_int_shares_fp32 = false;
    g.pipe_imul_shares = WW_IMUL_FP32;
    assert_int_equal(alternating_cycles(WW_OP_IMUL, &g, &paired), 16);
    g.pipe_imul_shares = WW_IMUL_OWN;
    assert_int_equal(alternating_cycles(WW_OP_IMUL, &g, &paired), 8);
}

static void sources_in_one_register_bank_delay_issue_and_result(void **state) {
    (void)state;
    struct ww_gpu_spec g = fixture_gpu();
    struct program p;
    g.front_rf_banks = 2;
    program_init(&p, 1, 32, 1, 2);
    uint32_t fma = program_inst(&p, WW_OP_FP32, 1, 2, 4); /* both in bank 0 */
    program_all(&p, fma);
    program_all(&p, program_inst(&p, WW_OP_INT, 3, 1, -1));
    struct replay r = program_run(&p, &g);
    assert_int_equal(r.r.cycles, 5 + 1 + 1);
    assert_int_equal(r.r.counter[WW_C_REG_BANK_CONFLICT], 1);
    replay_free(&r);
    p.inst[fma].src[1].reg = 5;
    r = program_run(&p, &g);
    assert_int_equal(r.r.cycles, 5 + 1);
    assert_int_equal(r.r.counter[WW_C_REG_BANK_CONFLICT], 0);
    replay_free(&r);
    program_free(&p);
}

static void a_gpu_without_tensor_cores_runs_them_on_fp16(void **state) {
    (void)state;
    struct ww_gpu_spec g = fixture_gpu();
    assert_int_equal(dependent_cycles(WW_OP_TENSOR, &g), 7 + 1);
    g.pipe_tensor_count = 2;
    g.pipe_tensor_lanes = 16;
    g.pipe_tensor_latency = 12;
    assert_int_equal(dependent_cycles(WW_OP_TENSOR, &g), 12 + 1);
}

/* Cycles from the issue of `first` with result `reg` to that of `second`, which reads it first or after
 * another. */
static uint64_t pair_cycles(enum ww_op first, int reg, enum ww_op second, int before,
                            const struct ww_gpu_spec *gpu) {
    struct program p;
    program_init(&p, 1, 32, 1, 2);
    program_all(&p, program_inst(&p, first, reg, 2, -1));
    program_all(&p, program_inst(&p, second, 3, before >= 0 ? before : reg, before >= 0 ? reg : -1));
    struct replay r = program_run(&p, gpu);
    uint64_t cycles = r.r.cycles - 1;
    replay_free(&r);
    program_free(&p);
    return cycles;
}

static void latencies_depend_on_the_reader_where_the_gpu_says_so(void **state) {
    (void)state;
    struct ww_gpu_spec g = fixture_gpu();
    assert_int_equal(pair_cycles(WW_OP_INT, 1, WW_OP_FP32, -1, &g), 4);
    g.pipe_guard_latency = 12;
    g.pipe_cross_cycles = 1;
    g.pipe_sfu_cycles = 2;
    assert_int_equal(pair_cycles(WW_OP_INT, 1, WW_OP_INT, -1, &g), 4);
    assert_int_equal(pair_cycles(WW_OP_INT, 1, WW_OP_FP32, -1, &g), 5);
    assert_int_equal(pair_cycles(WW_OP_FP32, 1, WW_OP_SFU, -1, &g), 7);
    assert_int_equal(pair_cycles(WW_OP_INT, WW_REG_PRED, WW_OP_INT, -1, &g), 12); /* it guards */
    assert_int_equal(pair_cycles(WW_OP_INT, WW_REG_PRED, WW_OP_INT, 9, &g), 4);   /* it is an operand */
}

/* A product of 64 bits is late only for another one. */
static void a_wide_product_is_late_for_wide_products(void **state) {
    (void)state;
    struct ww_gpu_spec g = fixture_gpu();
    g.pipe_guard_latency = 12;
    g.pipe_imul_wide_cycles = 2;
    struct program p;
    for (uint16_t wide = 1; wide <= 2; wide++) {
        program_init(&p, 1, 32, 1, 2);
        uint32_t first = program_inst(&p, WW_OP_IMUL, 4, 2, -1),
                 second = program_inst(&p, WW_OP_IMUL, 6, 4, -1);
        p.inst[first].dst[0].n = 2;
        p.inst[second].dst[0].n = (uint8_t)wide;
        program_all(&p, first);
        program_all(&p, second);
        struct replay r = program_run(&p, &g);
        assert_int_equal(r.r.cycles - 1, g.pipe_imul_latency + (wide == 2 ? 2 : 0));
        replay_free(&r);
        program_free(&p);
    }
}

static void uniform_instructions_have_a_unit_of_their_own(void **state) {
    (void)state;
    struct ww_gpu_spec g = fixture_gpu();
    g.pipe_guard_latency = 12;
    g.pipe_uniform_cycles = 2;
    g.pipe_uniform_latency = 7;
    g.pipe_uniform_out_cycles = 3;
    assert_int_equal(pair_cycles(WW_OP_INT, WW_REG_UNIFORM, WW_OP_INT, -1, &g), 7 + 3);
    struct program p;
    program_init(&p, 1, 32, 1, 3);
    program_all(&p, program_inst(&p, WW_OP_INT, WW_REG_UNIFORM, -1, -1));
    program_all(&p, program_inst(&p, WW_OP_INT, WW_REG_UNIFORM + 1, -1, -1));
    program_all(&p, program_inst(&p, WW_OP_INT, WW_REG_UNIFORM + 2, WW_REG_UNIFORM, -1));
    struct replay r = program_run(&p, &g);
    assert_int_equal(r.r.cycles, 7 + 1); /* the second issues at 2, the third needs the first */
    replay_free(&r);
    program_free(&p);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_dependent_instruction_issues_after_the_latency_of_its_producer),
        cmocka_unit_test(the_wait_is_counted_by_producer),
        cmocka_unit_test(independent_instructions_issue_one_a_cycle),
        cmocka_unit_test(a_pipeline_with_fewer_lanes_takes_an_instruction_every_32_over_lanes_cycles),
        cmocka_unit_test(schedulers_with_pipelines_of_their_own_do_not_wait_for_one_another),
        cmocka_unit_test(schedulers_that_share_a_pipeline_take_turns),
        cmocka_unit_test(the_issue_interval_spaces_the_issues_of_a_scheduler),
        cmocka_unit_test(a_second_instruction_issues_with_the_first_if_it_takes_another_port),
        cmocka_unit_test(a_dependent_second_instruction_is_not_paired),
        cmocka_unit_test(shared_lanes_and_shared_ports_exclude_one_another),
        cmocka_unit_test(sources_in_one_register_bank_delay_issue_and_result),
        cmocka_unit_test(a_gpu_without_tensor_cores_runs_them_on_fp16),
        cmocka_unit_test(latencies_depend_on_the_reader_where_the_gpu_says_so),
        cmocka_unit_test(a_wide_product_is_late_for_wide_products),
        cmocka_unit_test(uniform_instructions_have_a_unit_of_their_own),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
