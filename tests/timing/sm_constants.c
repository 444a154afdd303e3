/* Outstanding misses of the constant cache where a GPU limits them (const.mshrs). */
#include "fake_memory.h"
#include "sm_fixture.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

#define MISS 100

struct constants {
    struct program p;
    uint32_t load, use;
};

static struct ww_gpu_spec limited(uint32_t mshrs) {
    struct ww_gpu_spec g = fixture_gpu();
    g.const_miss_cycles = MISS;
    g.const_mshrs = mshrs;
    g.sm_schedulers = 1;
    return g;
}

static void constants_init(struct constants *c, uint32_t warps) {
    program_init(&c->p, 1, 32 * warps, 1, 8);
    c->load = program_memory(&c->p, WW_OP_LOAD, WW_SPACE_CONST, 4, 1, 10);
    c->use = program_inst(&c->p, WW_OP_INT, 2, 1, -1);
    fake.latency_ps = 1000 * 400;
    fake.most = 0;
}

/* Warp w loads from line[w], and waits for it. Returns the cycles of the launch. */
static uint64_t cycles_of(const uint32_t *line, uint32_t warps, uint32_t mshrs, uint64_t *saturated) {
    struct ww_gpu_spec g = limited(mshrs);
    struct constants c;
    constants_init(&c, warps);
    for (uint32_t w = 0; w < warps; w++) {
        program_access(&c.p, w, c.load, ALL, 64 * line[w], 0);
        program_step(&c.p, w, c.use, ALL);
    }
    struct replay r = program_run(&c.p, &g);
    uint64_t cycles = r.r.cycles;
    if (saturated) *saturated = r.r.counter[WW_C_MEM_SATURATED_CYCLES];
    replay_free(&r);
    program_free(&c.p);
    return cycles;
}

static void a_lone_miss_takes_the_same_time_with_any_limit(void **state) {
    (void)state;
    const uint32_t line[] = {1};
    uint64_t free_cycles = cycles_of(line, 1, 0, NULL);
    assert_int_equal(free_cycles, 8 + MISS + 1);
    assert_int_equal(cycles_of(line, 1, 1, NULL), free_cycles);
    assert_int_equal(cycles_of(line, 1, 64, NULL), free_cycles);
}

static void a_load_of_a_line_on_its_way_is_there_with_it(void **state) {
    (void)state;
    const uint32_t line[] = {1, 1};
    struct ww_gpu_spec g = limited(4);
    struct constants c;
    constants_init(&c, 2);
    for (uint32_t w = 0; w < 2; w++) {
        program_access(&c.p, w, c.load, ALL, 64 * line[w], 0);
        program_step(&c.p, w, c.use, ALL);
    }
    struct replay r = program_run(&c.p, &g);
    assert_int_equal(r.r.counter[WW_C_CONST_MISS], 1);
    assert_int_equal(stall(&r, c.use, WW_S_WAIT_CONST),
                     2 * (8 + MISS - 1) - 1); /* the second came a cycle later */
    replay_free(&r);
    program_free(&c.p);
}

static void misses_overlap_up_to_the_limit(void **state) {
    (void)state;
    const uint32_t line[] = {1, 2, 3};
    assert_int_equal(cycles_of(line, 3, 3, NULL), 2 + 8 + MISS + 1);
    /* the third waits for the first one's entry, the second is done meanwhile */
    assert_int_equal(cycles_of(line, 3, 2, NULL), 2 * MISS + 8 + 1);
    assert_int_equal(cycles_of(line, 3, 1, NULL), 3 * MISS + 8 + 1);
}

static void a_hit_passes_while_every_entry_is_taken_but_not_a_miss_that_waits(void **state) {
    (void)state;
    struct ww_gpu_spec g = limited(1);
    struct constants c;
    uint64_t hit_alone, hit_behind;
    for (int behind = 0; behind < 2; behind++) {
        constants_init(&c, 3);
        uint32_t again = program_memory(&c.p, WW_OP_LOAD, WW_SPACE_CONST, 4, 3, 2);
        uint32_t barrier = program_inst(&c.p, WW_OP_BARRIER, -1, -1, -1);
        program_access(&c.p, 2, c.load, ALL, 64, 0); /* line 1 is there from now on */
        program_step(&c.p, 2, c.use, ALL);
        program_all(&c.p, barrier);
        program_access(&c.p, 0, c.load, ALL, 128, 0);
        if (behind) program_access(&c.p, 1, c.load, ALL, 192, 0);
        program_access(&c.p, 2, again, ALL, 64, 0);
        struct replay r = program_run_with(&c.p, &g, "oldest", 4096);
        *(behind ? &hit_behind : &hit_alone) = stall(&r, again, WW_S_EXCESS_MEM);
        replay_free(&r);
        program_free(&c.p);
    }
    assert_true(hit_alone <= 2);
    assert_in_range(hit_behind, MISS - 4, MISS + 2);
}

static void memory_is_saturated_while_seven_eighths_of_the_entries_are_in_use(void **state) {
    (void)state;
    const uint32_t line[] = {1, 2, 3, 4, 5, 6, 7};
    uint64_t cycles;
    cycles_of(line, 1, 1, &cycles);
    assert_int_equal(cycles, MISS);
    cycles_of(line, 1, 0, &cycles);
    assert_int_equal(cycles, 0);
    cycles_of(line, 6, 8, &cycles);
    assert_int_equal(cycles, 0);
    cycles_of(line, 7, 8, &cycles);
    assert_int_equal(cycles, MISS - 6); /* the seventh begins six cycles after the first, which ends it */
}

/* Each warp misses in the constant cache, and loads from global memory meanwhile. */
static void constants_alone_bring_mascar_to_mp_mode_and_back(void **state) {
    (void)state;
    for (uint32_t i = 0; i < 2; i++) {
        const char *const mech[] = {"sched=mascar", i ? "lsu=in_order" : "lsu=reexecute"};
        struct ww_gpu_spec g = limited(1);
        struct constants c;
        constants_init(&c, 3);
        fake.latency_ps = 1000 * 10;
        uint32_t global = program_memory(&c.p, WW_OP_LOAD, WW_SPACE_GLOBAL, 4, 3, 10);
        uint32_t use = program_inst(&c.p, WW_OP_INT, 4, 3, 1);
        for (uint32_t w = 0; w < 3; w++)
            for (uint32_t k = 0; k < 2; k++) {
                program_access(&c.p, w, c.load, ALL, 64 * (1 + 2 * w + k), 0);
                program_access(&c.p, w, global, ALL, 0x10000 * (w + 1) + 0x1000 * k, 4);
                program_step(&c.p, w, use, ALL);
            }
        struct replay r = program_run_mech(&c.p, &g, mech, 2, 4096);
        assert_int_equal(r.code, WW_OK);
        const uint64_t *n = r.r.counter;
        assert_int_equal(n[WW_C_CONST_MISS], 6);
        assert_in_range(n[WW_C_MP_CYCLES], 6 * MISS, 6 * MISS + 6);
        assert_true(n[WW_C_OWNER_CHANGES] > 0);
        assert_int_equal(fake.reads, 6);
        replay_free(&r);
        program_free(&c.p);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_lone_miss_takes_the_same_time_with_any_limit),
        cmocka_unit_test(a_load_of_a_line_on_its_way_is_there_with_it),
        cmocka_unit_test(misses_overlap_up_to_the_limit),
        cmocka_unit_test(a_hit_passes_while_every_entry_is_taken_but_not_a_miss_that_waits),
        cmocka_unit_test(memory_is_saturated_while_seven_eighths_of_the_entries_are_in_use),
        cmocka_unit_test(constants_alone_bring_mascar_to_mp_mode_and_back),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
