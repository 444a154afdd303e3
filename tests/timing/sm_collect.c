/* Operand collectors, register banks and result buses (collect.*). */
#include "fake_memory.h"
#include "sm_fixture.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

/* Register r is in bank r mod 16. Latencies: int 4, fp32 5. */
static struct ww_gpu_spec collecting(uint32_t schedulers) {
    struct ww_gpu_spec g = fixture_gpu();
    g.sm_schedulers = schedulers;
    g.pipe_int_count = g.pipe_imul_count = g.pipe_fp32_count = schedulers;
    g.pipe_fp16_count = g.pipe_fp64_count = g.pipe_sfu_count = schedulers;
    g.collect_units_sp = 6;
    g.collect_units_sfu = 8;
    g.collect_units_mem = 2;
    g.collect_ports_sp = 2;
    g.collect_ports_sfu = g.collect_ports_mem = 1;
    g.collect_banks = 16;
    g.collect_result_buses = 2;
    return g;
}

/* Cycles of a producer and of what waits for it, in one warp. */
static uint64_t pair_cycles(enum ww_op op, int src1, int src2, const struct ww_gpu_spec *g, uint64_t *delay) {
    struct program p;
    program_init(&p, 1, 32, 1, 2);
    program_all(&p, program_inst(&p, op, 1, src1, src2));
    program_all(&p, program_inst(&p, WW_OP_INT, 3, 1, -1));
    struct replay r = program_run(&p, g);
    uint64_t cycles = r.r.cycles;
    *delay = r.r.counter[WW_C_COLLECT_DELAY];
    replay_free(&r);
    program_free(&p);
    return cycles;
}

static void what_nothing_delays_takes_the_latency_of_its_pipeline(void **state) {
    (void)state;
    const enum ww_op ops[] = {WW_OP_INT, WW_OP_IMUL, WW_OP_FP32, WW_OP_FP64, WW_OP_SFU};
    struct ww_gpu_spec with = collecting(2), without = collecting(2);
    uint64_t delay;
    without.collect_units_sp = 0;
    for (size_t i = 0; i < sizeof ops / sizeof ops[0]; i++) {
        uint64_t cycles = pair_cycles(ops[i], 2, 5, &without, &delay);
        assert_int_equal(delay, 0);
        assert_int_equal(pair_cycles(ops[i], 2, 5, &with, &delay), cycles);
        assert_int_equal(delay, 0);
    }
}

static void a_collector_reads_one_operand_a_cycle_from_whatever_banks(void **state) {
    (void)state;
    struct ww_gpu_spec g = collecting(2);
    uint64_t delay;
    assert_int_equal(pair_cycles(WW_OP_INT, 2, 18, &g, &delay), 4 + 1);
    assert_int_equal(delay, 0);
}

/* Two warps of two schedulers issue in the same cycle, and read one register each. */
static uint64_t delay_of_reads(int first, int second, struct ww_gpu_spec *g) {
    struct program p;
    program_init(&p, 1, 64, 1, 1);
    program_step(&p, 0, program_inst(&p, WW_OP_INT, 1, first, -1), ALL);
    program_step(&p, 1, program_inst(&p, WW_OP_INT, 1, second, -1), ALL);
    struct replay r = program_run(&p, g);
    uint64_t delay = r.r.counter[WW_C_COLLECT_DELAY];
    replay_free(&r);
    program_free(&p);
    return delay;
}

static void a_bank_serves_one_read_a_cycle(void **state) {
    (void)state;
    struct ww_gpu_spec g = collecting(2);
    assert_int_equal(delay_of_reads(2, 3, &g), 0);
    assert_int_equal(delay_of_reads(2, 2, &g), 1);
    assert_int_equal(delay_of_reads(2, 18, &g), 1);
    g.collect_banks = 32;
    assert_int_equal(delay_of_reads(2, 18, &g), 0);
}

/* Warp 0 issues in cycle 0 what writes bank 1 in cycle 8: it reads in 2, is dispatched in 3, starts in 4. Warp
 * 1 reads that bank two cycles after its issue number `n`, which is in cycle n. */
static uint64_t delay_of_read_at(uint32_t n) {
    struct ww_gpu_spec g = collecting(2);
    struct program p;
    program_init(&p, 1, 64, 1, 16);
    program_step(&p, 0, program_inst(&p, WW_OP_INT, 1, 2, -1), ALL);
    uint32_t other = program_inst(&p, WW_OP_FP32, 31, 3, -1);
    for (uint32_t i = 0; i < n; i++)
        program_step(&p, 1, i == 0 ? other : program_inst(&p, WW_OP_FP32, (int)(31 + 16 * i), 3, -1), ALL);
    program_step(&p, 1, program_inst(&p, WW_OP_FP32, 15, 17, -1), ALL);
    struct replay r = program_run(&p, &g);
    uint64_t delay = r.r.counter[WW_C_COLLECT_DELAY];
    replay_free(&r);
    program_free(&p);
    return delay;
}

static void a_result_keeps_reads_from_its_bank_in_its_cycle(void **state) {
    (void)state;
    assert_int_equal(delay_of_read_at(5), 0);
    assert_int_equal(delay_of_read_at(6), 1);
    assert_int_equal(delay_of_read_at(7), 0);
}

/* fp32 issued in cycle 0 and int issued in cycle 1 have their results in the same cycle. */
static void a_result_bus_takes_one_result_a_cycle(void **state) {
    (void)state;
    for (uint32_t buses = 1; buses <= 2; buses++) {
        struct ww_gpu_spec g = collecting(2);
        g.collect_result_buses = buses;
        struct program p;
        program_init(&p, 1, 64, 1, 2);
        program_step(&p, 0, program_inst(&p, WW_OP_FP32, 1, 2, -1), ALL);
        program_step(&p, 1, program_inst(&p, WW_OP_INT, 4, 3, -1), ALL);
        program_step(&p, 1, program_inst(&p, WW_OP_INT, 5, 6, -1), ALL);
        struct replay r = program_run(&p, &g);
        assert_int_equal(r.r.counter[WW_C_RESULT_BUS_WAIT], buses == 1 ? 1 : 0);
        assert_int_equal(r.r.counter[WW_C_COLLECT_DELAY], buses == 1 ? 1 : 0);
        replay_free(&r);
        program_free(&p);
    }
}

/* One collector, which an instruction holds for two cycles: the second instruction waits in front of it, the
 * others issue every other cycle, and what lies between is lost to it. */
static void a_slot_without_a_free_collector_is_lost_to_it(void **state) {
    (void)state;
    struct ww_gpu_spec g = collecting(1);
    g.collect_units_sp = g.collect_ports_sp = 1;
    struct program p;
    program_init(&p, 1, 32, 1, 10);
    for (int i = 0; i < 10; i++) program_all(&p, program_inst(&p, WW_OP_INT, 20 + i, 2, -1));
    struct replay r = program_run(&p, &g);
    assert_int_equal(r.r.cycles, 1 + 8 * 2 + 1);
    assert_int_equal(r.r.slot[WW_SLOT_ISSUED], 10);
    assert_int_equal(r.r.slot[WW_SLOT_COLLECT], 8);
    assert_int_equal(r.r.slot[WW_SLOT_EXCESS_ALU], 0);
    replay_free(&r);
    program_free(&p);
}

static void units_of_their_own_do_not_take_one_anothers_collectors(void **state) {
    (void)state;
    struct ww_gpu_spec g = collecting(1);
    g.collect_units_sp = g.collect_ports_sp = 1;
    struct program p;
    program_init(&p, 1, 32, 1, 2);
    program_all(&p, program_inst(&p, WW_OP_INT, 20, 2, -1));
    program_all(&p, program_inst(&p, WW_OP_SFU, 21, 3, -1));
    struct replay r = program_run(&p, &g);
    assert_int_equal(r.r.counter[WW_C_COLLECT_DELAY], 0);
    replay_free(&r);
    program_free(&p);
}

/* Loads of two warps, whose addresses are in the same bank or not. */
static uint64_t delay_of_loads(int first, int second) {
    struct ww_gpu_spec g = collecting(2);
    struct program p;
    program_init(&p, 1, 64, 1, 1);
    p.launch.shared_static = 1024;
    program_access(&p, 0, program_memory(&p, WW_OP_LOAD, WW_SPACE_SHARED, 4, 1, first), ALL, 0, 4);
    program_access(&p, 1, program_memory(&p, WW_OP_LOAD, WW_SPACE_SHARED, 4, 1, second), ALL, 128, 4);
    struct replay r = program_run(&p, &g);
    uint64_t delay = r.r.counter[WW_C_COLLECT_DELAY];
    replay_free(&r);
    program_free(&p);
    return delay;
}

static void addresses_of_loads_are_collected_too(void **state) {
    (void)state;
    assert_int_equal(delay_of_loads(2, 3), 0);
    assert_int_equal(delay_of_loads(2, 18), 1);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_nothing_delays_takes_the_latency_of_its_pipeline),
        cmocka_unit_test(a_collector_reads_one_operand_a_cycle_from_whatever_banks),
        cmocka_unit_test(a_bank_serves_one_read_a_cycle),
        cmocka_unit_test(a_result_keeps_reads_from_its_bank_in_its_cycle),
        cmocka_unit_test(a_result_bus_takes_one_result_a_cycle),
        cmocka_unit_test(a_slot_without_a_free_collector_is_lost_to_it),
        cmocka_unit_test(units_of_their_own_do_not_take_one_anothers_collectors),
        cmocka_unit_test(addresses_of_loads_are_collected_too),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
