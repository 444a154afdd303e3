/* Shared memory, shuffles and the constant cache. */
#include "../../estimator/warpwatt.h"
#include "fake_memory.h"
#include "sm_fixture.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

/* Cycles that the use of a shared access waits, for one warp. */
static uint64_t wait_of(enum ww_op op, uint32_t width, int32_t stride, const struct ww_gpu_spec *gpu,
                        uint64_t *conflicts) {
    struct program p;
    program_init(&p, 1, 32, 1, 2);
    uint32_t access = program_memory(&p, op, WW_SPACE_SHARED, width, 10, 2);
    uint32_t use = program_inst(&p, WW_OP_INT, 11, 10, -1);
    program_access(&p, 0, access, ALL, 0, stride);
    program_step(&p, 0, use, ALL);
    struct replay r = program_run(&p, gpu);
    uint64_t wait = stall(&r, use, WW_S_WAIT_SHARED);
    *conflicts = r.r.counter[WW_C_SHARED_CONFLICTS];
    assert_int_equal(r.r.counter[WW_C_SHARED_PASSES], *conflicts + r.r.counter[WW_C_SHARED_WIDE] + 1);
    replay_free(&r);
    program_free(&p);
    return wait;
}

static void an_access_without_conflict_takes_the_shared_latency(void **state) {
    (void)state;
    struct ww_gpu_spec g = fixture_gpu();
    uint64_t conflicts;
    assert_int_equal(wait_of(WW_OP_LOAD, 4, 4, &g, &conflicts), 24 - 1);
    assert_int_equal(conflicts, 0);
    assert_int_equal(wait_of(WW_OP_LOAD, 4, 0, &g, &conflicts), 24 - 1);
    assert_int_equal(conflicts, 0);
}

static void a_conflict_of_degree_n_takes_n_minus_1_more_passes(void **state) {
    (void)state;
    struct ww_gpu_spec g = fixture_gpu();
    uint64_t conflicts;
    for (uint32_t n = 2; n <= 32; n *= 2) {
        assert_int_equal(wait_of(WW_OP_LOAD, 4, (int32_t)(4 * n), &g, &conflicts), 24 - 1 + (n - 1));
        assert_int_equal(conflicts, n - 1);
    }
    g.shared_conflict_cycles = 3;
    assert_int_equal(wait_of(WW_OP_LOAD, 4, 32, &g, &conflicts), 24 - 1 + 7 * 3);
}

static void wide_accesses_go_in_phases(void **state) {
    (void)state;
    struct ww_gpu_spec g = fixture_gpu();
    uint64_t conflicts;
    assert_int_equal(wait_of(WW_OP_LOAD, 8, 8, &g, &conflicts), 24 - 1 + 1);
    assert_int_equal(conflicts, 0);
    assert_int_equal(wait_of(WW_OP_LOAD, 16, 16, &g, &conflicts), 24 - 1 + 3);
    assert_int_equal(conflicts, 0);
}

static void wide_loads_of_one_address_go_in_half_the_phases_where_they_are_packed(void **state) {
    (void)state;
    struct ww_gpu_spec g = fixture_gpu();
    uint64_t conflicts;
    g.shared_pair_loads = true;
    assert_int_equal(wait_of(WW_OP_LOAD, 8, 0, &g, &conflicts), 24 - 1);
    assert_int_equal(wait_of(WW_OP_LOAD, 16, 0, &g, &conflicts), 24 - 1 + 1);
    assert_int_equal(wait_of(WW_OP_LOAD, 16, 16, &g, &conflicts), 24 - 1 + 3);
}

static void a_conflict_adds_the_latency_of_its_degree(void **state) {
    (void)state;
    struct ww_gpu_spec g = fixture_gpu();
    uint64_t conflicts;
    g.shared_conflict_cycles_2 = 35;
    g.shared_conflict_cycles_4 = 49;
    g.shared_conflict_cycles_8 = 111;
    g.shared_conflict_cycles_16 = 210;
    g.shared_conflict_cycles_32 = 437;
    assert_int_equal(wait_of(WW_OP_LOAD, 4, 4, &g, &conflicts), 24 - 1);
    assert_int_equal(wait_of(WW_OP_LOAD, 4, 8, &g, &conflicts), 24 - 1 + 35);
    assert_int_equal(wait_of(WW_OP_LOAD, 4, 16, &g, &conflicts), 24 - 1 + 49);
    assert_int_equal(wait_of(WW_OP_LOAD, 4, 32, &g, &conflicts), 24 - 1 + 111);
    assert_int_equal(wait_of(WW_OP_LOAD, 4, 64, &g, &conflicts), 24 - 1 + 210);
    assert_int_equal(wait_of(WW_OP_LOAD, 4, 128, &g, &conflicts), 24 - 1 + 437);
}

/* A conflict of 32 passes and an access behind it, by another warp or not: cycles until both are used. */
static void the_unit_is_taken_for_the_passes_not_for_the_latency_of_a_conflict(void **state) {
    (void)state;
    struct ww_gpu_spec g = fixture_gpu();
    struct program p;
    g.shared_conflict_cycles = 10;
    g.shared_pass_cycles = 2;
    program_init(&p, 1, 32, 1, 3);
    uint32_t load = program_memory(&p, WW_OP_LOAD, WW_SPACE_SHARED, 4, 10, 2);
    uint32_t next = program_memory(&p, WW_OP_LOAD, WW_SPACE_SHARED, 4, 11, 2);
    uint32_t use = program_inst(&p, WW_OP_INT, 12, 11, -1);
    program_access(&p, 0, load, ALL, 0, 32);
    program_access(&p, 0, next, ALL, 0, 4);
    program_step(&p, 0, use, ALL);
    struct replay r = program_run(&p, &g);
    /* 8 passes hold the unit from cycle 1 to 16; the second access starts in 17 and is used 24 later */
    assert_int_equal(stall(&r, use, WW_S_WAIT_SHARED), 16 + 24 - 2);
    replay_free(&r);
    program_free(&p);
}

/* Warp 0 stores with a conflict of 32 passes and comes to a barrier, warp 1 only to the barrier. */
static uint64_t cycles_to_pass_a_barrier(const struct ww_gpu_spec *gpu) {
    struct program p;
    program_init(&p, 1, 64, 1, 3);
    uint32_t store = program_memory(&p, WW_OP_STORE, WW_SPACE_SHARED, 4, -1, 2);
    uint32_t bar = program_inst(&p, WW_OP_BARRIER, -1, -1, -1);
    uint32_t nop = program_inst(&p, WW_OP_NOP, -1, -1, -1);
    program_access(&p, 0, store, ALL, 0, 128);
    program_all(&p, bar);
    program_all(&p, nop);
    struct replay r = program_run(&p, gpu);
    uint64_t cycles = r.r.cycles;
    replay_free(&r);
    program_free(&p);
    return cycles;
}

static void a_barrier_waits_for_the_passes_of_shared_accesses_before_it(void **state) {
    (void)state;
    struct ww_gpu_spec g = fixture_gpu();
    uint64_t one = cycles_to_pass_a_barrier(&g);
    g.shared_pass_cycles = 3;
    assert_int_equal(cycles_to_pass_a_barrier(&g), one + 2 * 32);
}

static void stores_may_hold_the_unit_longer_than_loads(void **state) {
    (void)state;
    struct ww_gpu_spec g = fixture_gpu();
    uint64_t one = cycles_to_pass_a_barrier(&g), conflicts;
    g.shared_store_cycles = 2;
    assert_int_equal(cycles_to_pass_a_barrier(&g), one + 32);
    assert_int_equal(wait_of(WW_OP_LOAD, 4, 8, &g, &conflicts), 24 - 1 + 1);
}

static void a_barrier_opens_so_many_cycles_after_the_last_arrival(void **state) {
    (void)state;
    struct ww_gpu_spec g = fixture_gpu();
    uint64_t one = cycles_to_pass_a_barrier(&g);
    g.front_barrier_cycles = g.pipe_branch_latency + 30;
    assert_int_equal(cycles_to_pass_a_barrier(&g), one + 30);
}

static void updates_of_one_address_follow_one_another(void **state) {
    (void)state;
    struct ww_gpu_spec g = fixture_gpu();
    uint64_t conflicts;
    assert_int_equal(wait_of(WW_OP_ATOMIC, 4, 4, &g, &conflicts), 24 - 1 + 4);
    assert_int_equal(wait_of(WW_OP_ATOMIC, 4, 0, &g, &conflicts), 24 - 1 + 32 * 4);
}

static void a_conflict_holds_the_accesses_behind_it(void **state) {
    (void)state;
    struct ww_gpu_spec g = fixture_gpu();
    struct program p;
    program_init(&p, 1, 32, 1, 3);
    uint32_t load = program_memory(&p, WW_OP_LOAD, WW_SPACE_SHARED, 4, 10, 2);
    uint32_t next = program_memory(&p, WW_OP_LOAD, WW_SPACE_SHARED, 4, 11, 2);
    uint32_t use = program_inst(&p, WW_OP_INT, 12, 11, -1);
    program_access(&p, 0, load, ALL, 0, 128);
    program_access(&p, 0, next, ALL, 0, 4);
    program_step(&p, 0, use, ALL);
    struct replay r = program_run(&p, &g);
    /* the first holds the unit from cycle 1 to 32, the second starts in 33 */
    assert_int_equal(r.r.cycles, 32 + 24 + 1);
    replay_free(&r);
    program_free(&p);
}

static void fewer_address_lanes_space_the_accesses(void **state) {
    (void)state;
    struct ww_gpu_spec g = fixture_gpu();
    struct program p;
    g.lsu_lanes = 16;
    program_init(&p, 1, 32, 1, 3);
    uint32_t load = program_memory(&p, WW_OP_LOAD, WW_SPACE_SHARED, 4, 10, 2);
    uint32_t next = program_memory(&p, WW_OP_LOAD, WW_SPACE_SHARED, 4, 11, 2);
    program_access(&p, 0, load, ALL, 0, 4);
    program_access(&p, 0, next, ALL, 0, 4);
    program_step(&p, 0, program_inst(&p, WW_OP_INT, 12, 11, -1), ALL);
    struct replay r = program_run(&p, &g);
    assert_int_equal(r.r.cycles, 2 + 24 + 1);
    replay_free(&r);
    program_free(&p);
}

static void a_shuffle_takes_the_shared_latency(void **state) {
    (void)state;
    struct ww_gpu_spec g = fixture_gpu();
    struct program p;
    program_init(&p, 1, 32, 1, 2);
    program_all(&p, program_inst(&p, WW_OP_SHUFFLE, 10, 2, -1));
    program_all(&p, program_inst(&p, WW_OP_INT, 11, 10, -1));
    struct replay r = program_run(&p, &g);
    assert_int_equal(r.r.cycles, 24 + 1);
    assert_int_equal(r.r.counter[WW_C_SHARED_PASSES], 0);
    replay_free(&r);
    program_free(&p);
}

/* A special register is read behind a conflict of 8 passes: cycles until it is used. */
static uint64_t sysreg_behind_a_conflict(const struct ww_gpu_spec *gpu) {
    struct program p;
    program_init(&p, 1, 32, 1, 3);
    uint32_t store = program_memory(&p, WW_OP_STORE, WW_SPACE_SHARED, 4, -1, 2);
    uint32_t sysreg = program_inst(&p, WW_OP_SYSREG, 10, -1, -1);
    uint32_t use = program_inst(&p, WW_OP_INT, 11, 10, -1);
    program_access(&p, 0, store, ALL, 0, 32);
    program_step(&p, 0, sysreg, ALL);
    program_step(&p, 0, use, ALL);
    struct replay r = program_run(&p, gpu);
    uint64_t cycles = r.r.cycles;
    replay_free(&r);
    program_free(&p);
    return cycles;
}

static void a_special_register_is_read_in_turn_with_shared_accesses_if_the_unit_reads_it(void **state) {
    (void)state;
    struct ww_gpu_spec g = fixture_gpu();
    uint64_t alone = sysreg_behind_a_conflict(&g);
    g.lsu_sysreg = true;
    /* issue in cycle 1, the store's passes in 1 to 8, the read in 9, its use 24 later */
    assert_int_equal(sysreg_behind_a_conflict(&g), 8 + 24 + 1);
    assert_int_equal(alone, 1 + g.pipe_int_latency + 1);
}

static uint64_t constant_cycles(int32_t stride, uint32_t loads, const struct ww_gpu_spec *gpu,
                                uint64_t *misses) {
    struct program p;
    program_init(&p, 1, 32, 1, 2 * loads);
    for (uint32_t i = 0; i < loads; i++) {
        uint32_t load = program_memory(&p, WW_OP_LOAD, WW_SPACE_CONST, 4, 10, 2);
        program_access(&p, 0, load, ALL, 64, stride);
        program_step(&p, 0, program_inst(&p, WW_OP_INT, 2, 10, -1), ALL);
    }
    struct replay r = program_run(&p, gpu);
    uint64_t cycles = r.r.cycles;
    *misses = r.r.counter[WW_C_CONST_MISS];
    replay_free(&r);
    program_free(&p);
    return cycles;
}

/* Cycles of dependent constant loads of the addresses, one lane each; no conflicts. */
static struct ww_launch_result constant_chase(const uint64_t *address, uint32_t count, uint32_t passes,
                                              const struct ww_gpu_spec *gpu) {
    struct program p;
    program_init(&p, 1, 32, 1, count * passes);
    uint32_t load = program_memory(&p, WW_OP_LOAD, WW_SPACE_CONST, 4, 2, 2);
    for (uint32_t i = 0; i < count * passes; i++) program_access(&p, 0, load, 1, address[i % count], 4);
    struct replay r = program_run(&p, gpu);
    struct ww_launch_result out = r.r;
    replay_free(&r);
    program_free(&p);
    return out;
}

static void a_miss_of_the_constant_cache_looks_in_the_second_level(void **state) {
    (void)state;
    struct ww_gpu_spec g = fixture_gpu();
    const uint64_t address[] = {0, 64, 192, 256, 64};
    g.const_miss_cycles = 60;
    g.const_l15_kb = 1;
    g.const_l15_ways = 1;
    g.const_l15_miss_cycles = 200;
    struct ww_launch_result r = constant_chase(address, 5, 1, &g);
    assert_int_equal(r.counter[WW_C_CONST_MISS], 4);
    assert_int_equal(r.counter[WW_C_CONST_L15_MISS], 2);      /* lines of 256 bytes */
    assert_int_equal(r.cycles, 4 * 8 + 4 * 60 + 2 * 200 + 1); /* the last one is issued, not waited for */
    g.const_l15_kb = 0;
    r = constant_chase(address, 5, 1, &g);
    assert_int_equal(r.counter[WW_C_CONST_L15_MISS], 0);
    assert_int_equal(r.cycles, 4 * 8 + 4 * 60 + 1);
}

static void the_second_level_holds_what_the_first_does_not(void **state) {
    (void)state;
    struct ww_gpu_spec g = fixture_gpu();
    uint64_t address[64];
    g.const_l15_kb = 4;
    g.const_l15_ways = 4;
    for (uint64_t i = 0; i < 64; i++) address[i] = 64 * i;
    struct ww_launch_result r = constant_chase(address, 64, 3, &g); /* 4 KiB, the first level holds 2 */
    assert_int_equal(r.counter[WW_C_CONST_MISS], 3 * 64);
    assert_int_equal(r.counter[WW_C_CONST_L15_MISS], 16);
    g.const_l15_kb = 3;
    g.const_l15_ways = 12;
    r = constant_chase(address, 64, 3, &g); /* least recently used: the second level misses, too */
    assert_int_equal(r.counter[WW_C_CONST_L15_MISS], 3 * 16);
}

static void a_constant_is_broadcast_and_distinct_addresses_follow_one_another(void **state) {
    (void)state;
    struct ww_gpu_spec g = fixture_gpu();
    uint64_t misses;
    g.const_miss_cycles = 100;
    assert_int_equal(constant_cycles(0, 1, &g, &misses), 8 + 100 + 1);
    assert_int_equal(misses, 1);
    /* load, use, load, use: the use gives the next load its address */
    assert_int_equal(constant_cycles(0, 2, &g, &misses), 8 + 100 + 4 + 8 + 1);
    assert_int_equal(misses, 1);
    g.const_miss_cycles = 0;
    assert_int_equal(constant_cycles(4, 1, &g, &misses), 8 + 31 + 1);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_access_without_conflict_takes_the_shared_latency),
        cmocka_unit_test(a_conflict_of_degree_n_takes_n_minus_1_more_passes),
        cmocka_unit_test(wide_accesses_go_in_phases),
        cmocka_unit_test(wide_loads_of_one_address_go_in_half_the_phases_where_they_are_packed),
        cmocka_unit_test(a_conflict_adds_the_latency_of_its_degree),
        cmocka_unit_test(the_unit_is_taken_for_the_passes_not_for_the_latency_of_a_conflict),
        cmocka_unit_test(a_barrier_waits_for_the_passes_of_shared_accesses_before_it),
        cmocka_unit_test(stores_may_hold_the_unit_longer_than_loads),
        cmocka_unit_test(a_barrier_opens_so_many_cycles_after_the_last_arrival),
        cmocka_unit_test(updates_of_one_address_follow_one_another),
        cmocka_unit_test(a_conflict_holds_the_accesses_behind_it),
        cmocka_unit_test(fewer_address_lanes_space_the_accesses),
        cmocka_unit_test(a_shuffle_takes_the_shared_latency),
        cmocka_unit_test(a_special_register_is_read_in_turn_with_shared_accesses_if_the_unit_reads_it),
        cmocka_unit_test(a_miss_of_the_constant_cache_looks_in_the_second_level),
        cmocka_unit_test(the_second_level_holds_what_the_first_does_not),
        cmocka_unit_test(a_constant_is_broadcast_and_distinct_addresses_follow_one_another),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
