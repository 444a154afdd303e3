/* sm_tensor_memory.c: matrix instructions whose sums lie in tensor memory, and what is told of them at
 * mbarriers. */
#include "fake_memory.h"
#include "sm_fixture.h"
#include "../../traces/mbarrier.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

static const char *const names[] = {"", "UTCHMMA.128x256x16.F32", "UTCHMMA.64x64x16.F32",
                                    "UTCQMMA.128x256x32.F32.E4M3", "UTCBAR"};
enum { NONE, LARGE, SMALL, FP8, BAR };

static struct ww_gpu_spec gpu(void) {
    struct ww_gpu_spec g = fixture_gpu();
    g.sm_schedulers = g.pipe_tensor_count = 4;
    g.pipe_tensor_unit = WW_TENSOR_GB100;
    g.pipe_tensor_speed = 1;
    g.pipe_tensor_async_cycles = 49;
    g.pipe_tensor_async_bytes = 128;
    g.pipe_tensor_async_queue = 7;
    return g;
}

struct outcome {
    uint64_t waited, fma;
};

/* Warp 0 asks for `count` instructions and commits; warp 1 waits for that. */
static struct outcome multiply(uint32_t name, uint32_t count) {
    struct ww_gpu_spec g = gpu();
    struct program p;
    program_init(&p, 1, 64, 1, 200);
    p.launch.string = names;
    p.launch.string_count = sizeof names / sizeof *names;
    uint32_t mma = program_inst(&p, WW_OP_TENSOR, -1, 2, -1), end = program_inst(&p, WW_OP_NOP, -1, -1, -1);
    uint32_t bar = program_inst(&p, WW_OP_BARRIER, -1, -1, -1),
             wait = program_inst(&p, WW_OP_BARRIER, -1, -1, -1);
    p.inst[mma].mnemonic = name;
    p.inst[end].flags |= WW_INST_GROUP_END;
    p.inst[bar].mnemonic = BAR;
    p.inst[bar].barrier = p.inst[wait].barrier = WW_MBARRIER;
    p.inst[bar].flags |= WW_INST_ACCESS | WW_INST_BAR_ARRIVE;
    p.inst[wait].flags |= WW_INST_ACCESS;
    struct ww_mbarrier_step s = {.offset = 64, .phase = 1, .events = 1, .kind = WW_MBARRIER_COPIES};
    for (uint32_t n = 0; n < count; n++) program_step(&p, 0, mma, 1);
    program_step(&p, 0, end, 1);
    program_access(&p, 0, bar, 1, ww_mbarrier_pack(&s), 0);
    s.kind = WW_MBARRIER_WAIT;
    program_access(&p, 1, wait, ALL, ww_mbarrier_pack(&s), 0);
    program_step(&p, 1, program_inst(&p, WW_OP_NOP, -1, -1, -1), ALL);
    struct replay r = program_run(&p, &g);
    struct outcome o = {r.r.warp_cycles[WW_S_BARRIER], r.r.counter[WW_C_TENSOR_FMA]};
    replay_free(&r);
    program_free(&p);
    return o;
}

/* 4,096 multiply-adds of fp16 an SM and cycle, twice as many of fp8. */
static void instructions_take_the_rate_of_the_whole_sm(void **state) {
    (void)state;
    struct outcome two = multiply(LARGE, 2), ten = multiply(LARGE, 10);
    assert_int_equal(ten.waited - two.waited, 8 * 128 * 256 * 16 / 4096);
    assert_int_equal(multiply(FP8, 10).waited - multiply(FP8, 2).waited, 8 * 128 * 256 * 32 / 8192);
    assert_int_equal(ten.fma, 10 * 128 * 256 * 16);
}

/* 4 KB of operands at 128 bytes a cycle are 32 cycles, the products 16. */
static void operands_from_shared_memory_may_take_longer(void **state) {
    (void)state;
    assert_int_equal(multiply(SMALL, 10).waited - multiply(SMALL, 2).waited, 8 * 32);
}

static void a_commit_is_told_when_the_last_one_is_done(void **state) {
    (void)state;
    uint64_t one = multiply(LARGE, 1).waited;
    assert_in_range(one, 128 + 49 - 4, 128 + 49 + 20);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(instructions_take_the_rate_of_the_whole_sm),
                                       cmocka_unit_test(operands_from_shared_memory_may_take_longer),
                                       cmocka_unit_test(a_commit_is_told_when_the_last_one_is_done)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
