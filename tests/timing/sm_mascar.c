/* Mascar and the re-execution queue: the toy machines of figures 4.2 and 4.6 of A. Sethia's dissertation, and
 * the rules of ownership. */
#include "fake_memory.h"
#include "sm_fixture.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

/* A cycle of the toy machine is so many of ours, so that the steps of our pipeline (issue to unit, fill to use)
 * are a small part of one. A load issued at the toy's cycle t has its data at t + 5: it is used, or its MSHR
 * is, at t + 6. The last cycle begun counts. */
#define TOY 32
#define LOAD_PS (1000u * 6 * TOY)

static struct ww_gpu_spec toy_gpu(uint32_t mshrs) {
    struct ww_gpu_spec g = fixture_gpu();
    g.sm_schedulers = 1;
    g.pipe_int_count = g.pipe_imul_count = g.pipe_fp32_count = 1;
    g.pipe_fp16_count = g.pipe_fp64_count = g.pipe_sfu_count = 1;
    g.front_issue_interval = TOY;
    g.front_ibuffer = 16;
    g.l1_mshrs = mshrs;
    g.l1_latency = 1;
    return g;
}

/* Figure 4.2: three warps, each two loads and four additions of which the first needs both. */
static uint64_t toy_cycles(const char *sched, const char *lsu, uint32_t mshrs) {
    struct ww_gpu_spec g = toy_gpu(mshrs);
    struct program p;
    const char *const mech[] = {sched, lsu};
    fake.latency_ps = LOAD_PS;
    program_init(&p, 1, 96, 1, 8);
    for (uint32_t w = 0; w < 3; w++) {
        if (w == 0)
            for (int i = 0; i < 2; i++) program_memory(&p, WW_OP_LOAD, WW_SPACE_GLOBAL, 4, 1 + i, 10);
        for (uint32_t i = 0; i < 2; i++) program_access(&p, w, i, ALL, 0x10000 * (i + 1) + 0x200 * w, 4);
    }
    uint32_t add = program_inst(&p, WW_OP_INT, 3, 1, 2);
    for (int i = 0; i < 4; i++) program_all(&p, add);
    struct replay r = program_run_mech(&p, &g, mech, 2, 4096);
    assert_int_equal(r.code, WW_OK);
    uint64_t cycles = (r.r.cycles + TOY - 1) / TOY;
    replay_free(&r);
    program_free(&p);
    return cycles;
}

static void the_toy_machine_of_unlimited_resources_takes_21_cycles(void **state) {
    (void)state;
    assert_int_equal(toy_cycles("sched=lrr", "lsu=in_order", 64), 21);
}

static void the_toy_machine_takes_26_cycles_round_robin_with_two_requests(void **state) {
    (void)state;
    assert_int_equal(toy_cycles("sched=lrr", "lsu=in_order", 2), 26);
}

static void the_toy_machine_takes_23_cycles_under_mascar_with_two_requests(void **state) {
    (void)state;
    assert_int_equal(toy_cycles("sched=mascar", "lsu=reexecute", 2), 23);
    assert_int_equal(toy_cycles("sched=mascar", "lsu=in_order", 2), 23);
}

/* Figure 4.6: one MSHR, taken by warp 0. Warp 1 misses and finds none; the line of warp 2 is in the L1, in the
 * set that warp 1's line will take. */
static struct replay hit_under_miss(const char *lsu) {
    struct ww_gpu_spec g = toy_gpu(1);
    struct program p;
    const char *const mech[] = {"sched=lrr", lsu};
    g.l1_size_kb = 1;
    g.l1_ways = 1;
    g.l1_hash = WW_HASH_NONE;
    g.front_issue_interval = 1;
    fake.latency_ps = LOAD_PS;
    program_init(&p, 1, 96, 1, 8);
    uint32_t load = program_memory(&p, WW_OP_LOAD, WW_SPACE_GLOBAL, 4, 1, 10);
    uint32_t use = program_inst(&p, WW_OP_INT, 2, 1, -1), barrier = program_inst(&p, WW_OP_BARRIER, -1, -1, -1);
    program_access(&p, 2, load, ALL, 0x8000, 4);
    program_step(&p, 2, use, ALL);
    program_all(&p, barrier);
    program_access(&p, 0, load, ALL, 0x8080, 4);
    program_access(&p, 1, load, ALL, 0x8400, 4);
    program_access(&p, 2, load, ALL, 0x8000, 4);
    program_all(&p, use);
    struct replay r = program_run_mech(&p, &g, mech, 2, 4096);
    assert_int_equal(r.code, WW_OK);
    program_free(&p);
    return r;
}

static void a_refused_request_blocks_a_hit_until_its_line_is_gone(void **state) {
    (void)state;
    struct replay r = hit_under_miss("lsu=in_order");
    assert_int_equal(fake.reads, 4);
    assert_int_equal(r.r.counter[WW_C_L1_SECTOR_HIT], 0);
    assert_true(r.r.counter[WW_C_LSU_STALL_CYCLES] > 150);
    replay_free(&r);
}

static void with_re_execution_a_hit_passes_the_refused_request(void **state) {
    (void)state;
    struct replay r = hit_under_miss("lsu=reexecute");
    assert_int_equal(fake.reads, 3);
    assert_int_equal(r.r.counter[WW_C_L1_SECTOR_HIT], 4);
    assert_int_equal(r.r.counter[WW_C_L1_HIT_UNDER_MISS], 1);
    assert_int_equal(r.r.counter[WW_C_REEXEC_PUSH], 1);
    assert_int_equal(r.r.counter[WW_C_LSU_STALL_CYCLES], 0);
    replay_free(&r);
}

static void cycles_behind_a_stalled_unit_with_data_in_the_cache_are_counted_if_asked(void **state) {
    (void)state;
    struct replay r = hit_under_miss("lsu.watch=true");
    uint64_t stalled = r.r.counter[WW_C_LSU_STALL_CYCLES], behind = r.r.counter[WW_C_LSU_HIT_BEHIND_STALL];
    assert_true(behind > 150 && behind <= stalled);
    replay_free(&r);
    r = hit_under_miss("lsu=in_order");
    assert_int_equal(r.r.counter[WW_C_LSU_HIT_BEHIND_STALL], 0);
    replay_free(&r);
}

/* Loads of `warps` warps, uncoalesced, from lines of their own; each waits for its data. */
static struct replay scattered(const char *sched, const char *lsu, uint32_t loads) {
    struct ww_gpu_spec g = toy_gpu(8);
    struct program p;
    const char *const mech[] = {sched, lsu};
    uint64_t address[32];
    g.front_issue_interval = 1;
    fake.latency_ps = LOAD_PS;
    program_init(&p, 2, 128, 1, 2 * loads);
    uint32_t load = program_memory(&p, WW_OP_LOAD, WW_SPACE_GLOBAL, 4, 1, 10);
    uint32_t use = program_inst(&p, WW_OP_INT, 2, 1, -1);
    for (uint32_t i = 0; i < loads; i++)
        for (uint32_t w = 0; w < 4; w++) {
            for (uint32_t k = 0; k < 32; k++) address[k] = 0x100000ull * (w + 1) + 0x10000 * i + 0x100 * k;
            program_list(&p, w, load, ALL, address);
            program_step(&p, w, use, ALL);
        }
    struct replay r = program_run_mech(&p, &g, mech, 2, 4096);
    assert_int_equal(r.code, WW_OK);
    program_free(&p);
    return r;
}

static void cycles_of_both_modes_add_up_to_the_active_ones(void **state) {
    (void)state;
    struct replay r = scattered("sched=mascar", "lsu=reexecute", 4);
    const uint64_t *c = r.r.counter;
    assert_true(c[WW_C_MP_CYCLES] > 0 && c[WW_C_EP_CYCLES] > 0);
    assert_int_equal(c[WW_C_MP_CYCLES] + c[WW_C_EP_CYCLES], c[WW_C_SM_ACTIVE_CYCLES]);
    assert_int_equal(c[WW_C_MP_CYCLES], c[WW_C_MEM_SATURATED_CYCLES]);
    replay_free(&r);
    r = scattered("sched=gto", "lsu=reexecute", 4);
    assert_int_equal(r.r.counter[WW_C_MP_CYCLES] + r.r.counter[WW_C_EP_CYCLES], 0);
    assert_true(r.r.counter[WW_C_MEM_SATURATED_CYCLES] > 0);
    replay_free(&r);
}

static void ownership_changes_hands_and_others_are_refused_while_memory_is_saturated(void **state) {
    (void)state;
    struct replay r = scattered("sched=mascar", "lsu=reexecute", 4);
    assert_true(r.r.counter[WW_C_OWNER_CHANGES] > 4);
    assert_true(r.r.counter[WW_C_OWNER_REFUSED] > 0);
    replay_free(&r);
    r = scattered("sched=gto", "lsu=reexecute", 4);
    assert_int_equal(r.r.counter[WW_C_OWNER_CHANGES] + r.r.counter[WW_C_OWNER_REFUSED], 0);
    replay_free(&r);
}

static void refused_requests_of_an_instruction_are_all_tried_again(void **state) {
    (void)state;
    struct replay r = scattered("sched=lrr", "lsu=reexecute", 2);
    const uint64_t *c = r.r.counter;
    assert_true(c[WW_C_REEXEC_PUSH] > 100);
    assert_true(c[WW_C_REEXEC_TRY] >= c[WW_C_REEXEC_PUSH]);
    assert_int_equal(fake.reads, 4 * 2 * 32);
    replay_free(&r);
}

static void a_load_does_not_pass_a_store_of_its_warp_in_the_queue(void **state) {
    (void)state;
    struct ww_gpu_spec g = toy_gpu(1);
    struct program p;
    const char *const mech[] = {"sched=lrr", "lsu=reexecute"};
    g.front_issue_interval = 1;
    g.l1_miss_queue = 1;
    fake.latency_ps = LOAD_PS;
    fake.most = 1;
    program_init(&p, 1, 32, 1, 8);
    uint32_t load = program_memory(&p, WW_OP_LOAD, WW_SPACE_GLOBAL, 4, 1, 10);
    uint32_t store = program_memory(&p, WW_OP_STORE, WW_SPACE_GLOBAL, 4, -1, 10);
    uint32_t use = program_inst(&p, WW_OP_INT, 2, 1, -1);
    program_access(&p, 0, load, ALL, 0x8000, 4); /* the line is in the L1 */
    program_step(&p, 0, use, ALL);
    for (uint32_t i = 1; i < 4; i++) program_access(&p, 0, store, ALL, 0x8000 + 0x1000 * (3 - i), 4);
    program_access(&p, 0, load, ALL, 0x8000, 4);
    struct replay r = program_run_mech(&p, &g, mech, 2, 4096);
    fake.most = 0;
    assert_int_equal(r.code, WW_OK);
    assert_true(r.r.counter[WW_C_REEXEC_PUSH] > 0);
    assert_int_equal(r.r.counter[WW_C_L1_SECTOR_HIT],
                     0); /* the last store takes the line out of the L1 first */
    assert_int_equal(fake.reads, 2);
    replay_free(&r);
    program_free(&p);
}

/* A load of 8 lines takes all of 8 MSHRs; the answers come one a cycle. */
static uint64_t cycles_of_mp(const char *sets, const char *clears) {
    struct ww_gpu_spec g = toy_gpu(8);
    struct program p;
    const char *const mech[] = {"sched=mascar", "lsu=reexecute", sets, clears};
    uint64_t address[32];
    for (uint64_t i = 0; i < 32; i++) address[i] = 0x8000 + i / 4 * 0x1000;
    fake.latency_ps = LOAD_PS;
    program_init(&p, 1, 32, 1, 4);
    uint32_t load = program_memory(&p, WW_OP_LOAD, WW_SPACE_GLOBAL, 4, 1, 10);
    uint32_t use = program_inst(&p, WW_OP_INT, 2, 1, -1);
    program_list(&p, 0, load, ALL, address);
    program_step(&p, 0, use, ALL);
    struct replay r = program_run_mech(&p, &g, mech, 4, 4096);
    assert_int_equal(r.code, WW_OK);
    uint64_t cycles = r.r.counter[WW_C_MP_CYCLES];
    replay_free(&r);
    program_free(&p);
    return cycles;
}

/* Six more MSHRs are free when the flag clears with the last one; it is set six requests earlier. */
static void eighths_of_the_mshrs_set_and_clear_the_saturation_flag(void **state) {
    (void)state;
    uint64_t alike = cycles_of_mp("sched.sets=7", "sched.clears=7");
    assert_int_equal(cycles_of_mp("sched.sets=7", "sched.clears=1"), alike + 6);
    assert_int_equal(cycles_of_mp("sched.sets=1", "sched.clears=1"), alike + 12);
    assert_int_equal(cycles_of_mp("sched.sets=7", "sched.clears=8"), alike);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(eighths_of_the_mshrs_set_and_clear_the_saturation_flag),
        cmocka_unit_test(the_toy_machine_of_unlimited_resources_takes_21_cycles),
        cmocka_unit_test(the_toy_machine_takes_26_cycles_round_robin_with_two_requests),
        cmocka_unit_test(the_toy_machine_takes_23_cycles_under_mascar_with_two_requests),
        cmocka_unit_test(a_refused_request_blocks_a_hit_until_its_line_is_gone),
        cmocka_unit_test(with_re_execution_a_hit_passes_the_refused_request),
        cmocka_unit_test(cycles_behind_a_stalled_unit_with_data_in_the_cache_are_counted_if_asked),
        cmocka_unit_test(cycles_of_both_modes_add_up_to_the_active_ones),
        cmocka_unit_test(ownership_changes_hands_and_others_are_refused_while_memory_is_saturated),
        cmocka_unit_test(refused_requests_of_an_instruction_are_all_tried_again),
        cmocka_unit_test(a_load_does_not_pass_a_store_of_its_warp_in_the_queue),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
