/* SMs of fast replay, which book their requests: on a memory that answers after the same time, they take what
 * full replay takes. */
#include "fake_memory.h"
#include "sm_fixture.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

enum { LINE = 4096, STEPS = 64, WINDOW = 16 /* in which MSHRs are counted */ };

static struct program p;
static uint32_t load, use, store, fence;
static struct ww_gpu_spec gpu;

static void begin(uint32_t warps) {
    fake.latency_ps = 200000;
    fake.level = WW_LEVEL_DRAM;
    fake.most = 0;
    gpu = fixture_gpu();
    program_init(&p, 1, 32 * warps, 1, STEPS);
    load = program_memory(&p, WW_OP_LOAD, WW_SPACE_GLOBAL, 4, 10, 2);
    use = program_inst(&p, WW_OP_INT, 20, 10, -1);
    store = program_memory(&p, WW_OP_STORE, WW_SPACE_GLOBAL, 4, -1, 2);
    fence = program_inst(&p, WW_OP_FENCE, -1, -1, -1);
}

static struct replay run(bool fast) {
    p.fast = fast;
    return program_run(&p, &gpu);
}

/* Fast replay's cycles less full replay's. */
static int64_t later(void) {
    struct replay full = run(false), fast = run(true);
    int64_t cycles = (int64_t)fast.r.cycles - (int64_t)full.r.cycles;
    replay_free(&full);
    replay_free(&fast);
    program_free(&p);
    return cycles;
}

static void a_load_that_misses_takes_as_long(void **state) {
    (void)state;
    begin(1);
    program_access(&p, 0, load, ALL, LINE, 4);
    program_step(&p, 0, use, ALL);
    assert_int_equal(later(), 0);
}

static void a_load_of_32_lines_takes_as_long(void **state) {
    (void)state;
    begin(1);
    program_access(&p, 0, load, ALL, LINE, 128);
    program_step(&p, 0, use, ALL);
    assert_int_equal(later(), 0);
}

static void a_hit_takes_as_long(void **state) {
    (void)state;
    begin(1);
    for (uint32_t i = 0; i < 3; i++) {
        program_access(&p, 0, load, ALL, LINE, 4);
        program_step(&p, 0, use, ALL);
    }
    assert_int_equal(later(), 0);
}

static void a_second_warp_waits_for_the_fill_of_the_first(void **state) {
    (void)state;
    begin(2);
    for (uint32_t w = 0; w < 2; w++) {
        program_access(&p, w, load, ALL, LINE, 4);
        program_step(&p, w, use, ALL);
    }
    struct replay full = run(false), fast = run(true);
    assert_int_equal(fast.r.counter[WW_C_L1_SECTOR_MERGED], full.r.counter[WW_C_L1_SECTOR_MERGED]);
    assert_true(full.r.counter[WW_C_L1_SECTOR_MERGED] > 0);
    replay_free(&full);
    replay_free(&fast);
    assert_int_equal(later(), 0);
}

static void a_fence_waits_for_stores(void **state) {
    (void)state;
    begin(1);
    program_access(&p, 0, store, ALL, LINE, 4);
    program_step(&p, 0, fence, ALL);
    program_step(&p, 0, use, ALL);
    assert_int_equal(later(), 0);
}

static void a_warp_that_ends_waits_for_what_it_has_loaded(void **state) {
    (void)state;
    begin(1);
    program_access(&p, 0, load, ALL, LINE, 4);
    assert_int_equal(later(), 0);
}

/* The time of 16 loads of 32 lines each. */
static uint64_t many(bool fast, struct replay *r) {
    begin(16);
    for (uint32_t w = 0; w < 16; w++) {
        program_access(&p, w, load, ALL, LINE * (w + 1), 128);
        program_step(&p, w, use, ALL);
    }
    gpu.l1_mshrs = 8;
    gpu.l1_miss_queue = 4;
    *r = run(fast);
    program_free(&p);
    return r->r.cycles;
}

static void few_mshrs_hold_loads_as_long(void **state) {
    (void)state;
    struct replay full, fast;
    uint64_t a = many(false, &full), b = many(true, &fast), rounds = 16 * 32 / 8;
    assert_true(a > rounds * fake.latency_ps / 1000);
    assert_true(llabs((int64_t)(b - a)) <= (int64_t)(rounds * WINDOW));
    replay_free(&full);
    replay_free(&fast);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_load_that_misses_takes_as_long),
        cmocka_unit_test(a_load_of_32_lines_takes_as_long),
        cmocka_unit_test(a_hit_takes_as_long),
        cmocka_unit_test(a_second_warp_waits_for_the_fill_of_the_first),
        cmocka_unit_test(a_fence_waits_for_stores),
        cmocka_unit_test(a_warp_that_ends_waits_for_what_it_has_loaded),
        cmocka_unit_test(few_mshrs_hold_loads_as_long),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
