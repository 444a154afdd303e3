/* sm_matrix_contention.c: matrix instructions of warpgroups that wait for shared memory's port, and for the
 * register file, beside other warps. */
#include "fake_memory.h"
#include "sm_fixture.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

static const char *const names[] = {"", "HGMMA.64x16x16.F32", "HGMMA.64x64x16.F32", "HGMMA.64x256x16.F32"};
enum { NONE, N16, N64, N256, COUNT = 40, OTHERS = 300 };

/* One scheduler whose FP32 unit takes an instruction a cycle, two banks of registers with a port each. */
static struct ww_gpu_spec gpu(bool port, uint32_t read_cycles) {
    struct ww_gpu_spec g = fixture_gpu();
    g.sm_schedulers = 1;
    g.pipe_int_count = g.pipe_imul_count = g.pipe_fp32_count = 1;
    g.pipe_fp16_count = g.pipe_fp64_count = g.pipe_sfu_count = g.pipe_tensor_count = 1;
    g.front_rf_banks = 2;
    g.front_rf_window = 3;
    g.pipe_tensor_unit = WW_TENSOR_GH100;
    g.pipe_tensor_speed = 1;
    g.pipe_tensor_async_cycles = 49;
    g.pipe_tensor_async_bytes = 128;
    g.pipe_tensor_async_queue = 7;
    g.pipe_tensor_async_port = port;
    g.pipe_tensor_async_read_cycles = read_cycles;
    g.pipe_tensor_async_reads = 1.3;
    g.pipe_tensor_async_reads_most = 1.875;
    return g;
}

enum other { NOTHING, SHARED, READS_OF_THREE, READS_OF_ONE };

static uint32_t fma_of(struct program *p, int to, uint16_t a, uint16_t b, uint16_t c) {
    uint32_t i = program_inst(p, WW_OP_FP32, to, a, b);
    if (c) p->inst[i].src[p->inst[i].src_count++] = (struct ww_operand){c, 1};
    for (uint8_t s = 0; s < p->inst[i].src_count; s++) p->inst[i].src_slot[s] = (uint8_t)(WW_SLOT_A + s);
    p->inst[i].flags |= WW_INST_CONTROL;
    return i;
}

/* Cycles of warp 0, which has COUNT instructions of that shape and waits for them, beside warp 1. */
static uint64_t cycles(const struct ww_gpu_spec *g, uint32_t shape, enum other other) {
    struct program p;
    program_init(&p, 1, 64, 1, OTHERS + 8);
    p.launch.string = names;
    p.launch.string_count = sizeof names / sizeof *names;
    uint32_t mma = program_inst(&p, WW_OP_TENSOR, -1, 2, -1), end = program_inst(&p, WW_OP_NOP, -1, -1, -1);
    uint32_t wait = program_inst(&p, WW_OP_WARP_SYNC, -1, -1, -1);
    p.inst[mma].mnemonic = shape;
    p.inst[mma].flags |= WW_INST_CONTROL;
    p.inst[end].flags |= WW_INST_GROUP_END | WW_INST_CONTROL;
    p.inst[wait].flags |= WW_INST_GROUP_WAIT | WW_INST_CONTROL;
    for (uint32_t n = 0; n < COUNT; n++) program_step(&p, 0, mma, ALL);
    program_step(&p, 0, end, ALL);
    program_step(&p, 0, wait, ALL);
    program_step(&p, 0, program_inst(&p, WW_OP_NOP, -1, -1, -1), ALL);
    for (uint32_t n = 0; n < OTHERS; n++) {
        if (other == SHARED) {
            uint32_t load = program_memory(&p, WW_OP_LOAD, WW_SPACE_SHARED, 4, 40 + (int)n % 100, 2);
            p.inst[load].flags |= WW_INST_CONTROL;
            program_access(&p, 1, load, ALL, 0, 4);
        }
        uint16_t c = other == READS_OF_ONE ? 0 : n % 2 ? 2 : 3;
        uint16_t a = n % 2 ? 3 : 2, b = other == READS_OF_ONE ? a : (uint16_t)(a + 2);
        if (other >= READS_OF_THREE) program_step(&p, 1, fma_of(&p, 40 + (int)n % 100, a, b, c), ALL);
    }
    program_step(&p, 1, end + 2, ALL);
    struct replay r = program_run_with(&p, g, "lrr", 4096);
    uint64_t all = r.r.cycles;
    replay_free(&r);
    program_free(&p);
    return all;
}

/* A and B of m64n64k16 are 4 KB, 32 cycles of the port: all that the products take. */
static void others_that_use_the_port_are_in_the_way_of_operands(void **state) {
    (void)state;
    struct ww_gpu_spec with = gpu(true, 0), without = gpu(false, 0);
    uint64_t alone = cycles(&with, N64, NOTHING), beside = cycles(&with, N64, SHARED);
    assert_int_equal(alone, cycles(&without, N64, NOTHING));
    assert_in_range(beside, alone + OTHERS * 8 / 10, alone + OTHERS + 40);
    assert_in_range(cycles(&without, N64, SHARED), alone, alone + 70);
}

/* Those of m64n256k16 take 80 of 128: others that take the port for some 350 cycles find 130 of these free. */
static void what_the_operands_leave_of_the_port_costs_nothing(void **state) {
    (void)state;
    struct ww_gpu_spec with = gpu(true, 0);
    uint64_t alone = cycles(&with, N256, NOTHING), beside = cycles(&with, N256, SHARED);
    assert_in_range(beside, alone + OTHERS * 5 / 10, alone + OTHERS * 7 / 10);
}

/* H800: 21.5 cycles alone, 52 beside reads of three registers, whatever the shape; beside one read a cycle as
 * alone. */
static void many_reads_of_registers_cost_the_same_for_every_shape(void **state) {
    (void)state;
    struct ww_gpu_spec with = gpu(false, 30), without = gpu(false, 0);
    uint64_t small = cycles(&with, N16, READS_OF_THREE) - cycles(&without, N16, READS_OF_THREE);
    uint64_t large = cycles(&with, N64, READS_OF_THREE) - cycles(&without, N64, READS_OF_THREE);
    assert_in_range(small, 200, 400);
    assert_in_range(large, 200, 400);
    assert_int_equal(cycles(&with, N16, READS_OF_ONE), cycles(&without, N16, READS_OF_ONE));
}

/* H800: 0.49 cycles for each register of sums beside a register a cycle that others write. The other warp
 * writes for OTHERS cycles; m64n64k16 takes 32 and has 32 registers, m64n256k16 128 and 128: of 300 cycles a
 * third is lost. */
static void registers_that_others_write_make_sums_wait(void **state) {
    (void)state;
    struct ww_gpu_spec with = gpu(false, 0), without = gpu(false, 0);
    with.pipe_tensor_async_write_wait = 0.49;
    assert_int_equal(cycles(&with, N64, NOTHING), cycles(&without, N64, NOTHING));
    uint64_t small = cycles(&with, N64, READS_OF_ONE) - cycles(&without, N64, READS_OF_ONE);
    uint64_t large = cycles(&with, N256, READS_OF_ONE) - cycles(&without, N256, READS_OF_ONE);
    assert_in_range(small, OTHERS * 49 / 149 - 25, OTHERS * 49 / 149 + 25);
    assert_in_range(large, OTHERS * 49 / 149 - 60, OTHERS * 49 / 149 + 60);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(others_that_use_the_port_are_in_the_way_of_operands),
                                       cmocka_unit_test(what_the_operands_leave_of_the_port_costs_nothing),
                                       cmocka_unit_test(many_reads_of_registers_cost_the_same_for_every_shape),
                                       cmocka_unit_test(registers_that_others_write_make_sums_wait)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
