/* Control fields: stall counts, dependence counters, DEPBAR, and when they are obeyed. */
#include "fake_memory.h"
#include "sm_fixture.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>

#include <cmocka.h>

/* The GPU of the fixture as one of sm_70 that obeys control fields. */
static struct ww_gpu_spec control_gpu(void) {
    struct ww_gpu_spec g = fixture_gpu();
    snprintf(g.arch, sizeof g.arch, "sm_70");
    g.core_dependences = WW_DEPENDENCES_CONTROL;
    g.core_read_cycles = 11;
    g.core_read_shared_cycles = 9;
    g.core_read_store_cycles = 14;
    g.core_read_store_shared_cycles = 12;
    return g;
}

static void control(struct program *p, uint32_t inst, struct ww_control c) {
    p->inst[inst].flags |= WW_INST_CONTROL;
    p->inst[inst].control = c;
}

#define PLAIN                                                                                                  \
    (struct ww_control) {                                                                                      \
        .stall = 1, .write_barrier = 7, .read_barrier = 7                                                      \
    }

/* Cycle at which the second of two FP32 instructions issues, if the first has these fields. */
static uint64_t second_issue(struct ww_control first, const struct ww_gpu_spec *gpu) {
    struct program p;
    program_init(&p, 1, 32, 1, 4);
    uint32_t a = program_inst(&p, WW_OP_FP32, 1, 2, -1), b = program_inst(&p, WW_OP_FP32, 3, 1, -1);
    control(&p, a, first);
    control(&p, b, PLAIN);
    program_all(&p, a);
    program_all(&p, b);
    struct replay r = program_run(&p, gpu);
    uint64_t cycles = r.r.cycles;
    replay_free(&r);
    program_free(&p);
    return cycles - 1;
}

static void the_stall_count_alone_delays_a_dependent_instruction(void **state) {
    (void)state;
    struct ww_gpu_spec g = control_gpu();
    for (uint8_t stall = 1; stall <= 11; stall++)
        assert_int_equal(second_issue((struct ww_control){stall, 0, 7, 7, 0, 0}, &g), stall);
}

static void a_stall_above_11_needs_the_yield_bit(void **state) {
    (void)state;
    struct ww_gpu_spec g = control_gpu();
    assert_int_equal(second_issue((struct ww_control){13, 1, 7, 7, 0, 0}, &g), 13);
    assert_int_equal(second_issue((struct ww_control){13, 0, 7, 7, 0, 0}, &g), 2);
}

static void yield_costs_a_lone_warp_a_cycle_unless_it_stalls_anyway(void **state) {
    (void)state;
    struct ww_gpu_spec g = control_gpu();
    assert_int_equal(second_issue((struct ww_control){1, 1, 7, 7, 0, 0}, &g), 2);
    assert_int_equal(second_issue((struct ww_control){4, 1, 7, 7, 0, 0}, &g), 4);
}

static void stall_0_with_yield_stops_the_warp_for_45_cycles(void **state) {
    (void)state;
    struct ww_gpu_spec g = control_gpu();
    assert_int_equal(second_issue((struct ww_control){0, 1, 7, 7, 0, 0}, &g), 46);
}

static void control_fields_of_another_architecture_are_not_obeyed(void **state) {
    (void)state;
    struct ww_gpu_spec g = control_gpu();
    snprintf(g.arch, sizeof g.arch, "sm_80");
    /* the scoreboard knows that the fp32 result takes 5 cycles */
    assert_int_equal(second_issue((struct ww_control){2, 0, 7, 7, 0, 0}, &g), 5);
    snprintf(g.arch, sizeof g.arch, "sm_70");
    g.core_dependences = WW_DEPENDENCES_SCOREBOARD;
    assert_int_equal(second_issue((struct ww_control){2, 0, 7, 7, 0, 0}, &g), 5);
}

static void control_fields_are_not_obeyed_where_an_instruction_lacks_them(void **state) {
    (void)state;
    struct ww_gpu_spec g = control_gpu();
    struct program p;
    program_init(&p, 1, 32, 1, 4);
    uint32_t a = program_inst(&p, WW_OP_FP32, 1, 2, -1), b = program_inst(&p, WW_OP_FP32, 3, 1, -1);
    control(&p, a, PLAIN);
    program_all(&p, a);
    program_all(&p, b);
    struct replay r = program_run(&p, &g);
    assert_int_equal(r.r.cycles, 5 + 1);
    replay_free(&r);
    program_free(&p);
}

static void the_cycles_of_a_stall_count_have_a_state_and_a_cause_of_their_own(void **state) {
    (void)state;
    struct ww_gpu_spec g = control_gpu();
    struct program p;
    program_init(&p, 1, 32, 1, 4);
    uint32_t a = program_inst(&p, WW_OP_FP32, 1, 2, -1), b = program_inst(&p, WW_OP_FP32, 3, 1, -1);
    control(&p, a, (struct ww_control){6, 0, 7, 7, 0, 0});
    control(&p, b, PLAIN);
    program_all(&p, a);
    program_all(&p, b);
    struct replay r = program_run(&p, &g);
    assert_int_equal(r.r.warp_cycles[WW_S_WAIT_STALL], 5);
    assert_int_equal(stall(&r, b, WW_S_WAIT_STALL), 5);
    assert_int_equal(r.r.slot[WW_SLOT_WAIT_STALL], 5);
    replay_free(&r);
    program_free(&p);
}

/* Cycle at which an instruction issues that waits for `wait` after `count` SFU instructions, each of which
 * counts in scoreboard 0, its sources in 1. They issue 8 cycles apart. */
static uint64_t wait_after_sfu(int count, uint8_t wait, int depbar_level, const struct ww_gpu_spec *gpu) {
    struct program p;
    program_init(&p, 1, 32, 1, 12);
    uint32_t a = program_inst(&p, WW_OP_SFU, 1, 2, -1);
    uint32_t b = program_inst(&p, depbar_level < 0 ? WW_OP_FP32 : WW_OP_ASYNC_WAIT, -1, -1, -1);
    control(&p, a, (struct ww_control){2, 0, 0, 1, 0, 0});
    control(&p, b, (struct ww_control){1, 0, 7, 7, wait, 0});
    p.inst[b].barrier = 0;
    p.inst[b].barrier_threads = (uint16_t)(depbar_level < 0 ? 0 : depbar_level);
    for (int i = 0; i < count; i++) program_all(&p, a);
    program_all(&p, b);
    struct replay r = program_run(&p, gpu);
    uint64_t cycles = r.r.cycles;
    replay_free(&r);
    program_free(&p);
    return cycles - 1;
}

static void a_write_counter_is_waited_for_until_the_result_is_there(void **state) {
    (void)state;
    struct ww_gpu_spec g = control_gpu();
    assert_int_equal(wait_after_sfu(1, 1u << 0, -1, &g), 20);
    assert_int_equal(wait_after_sfu(3, 1u << 0, -1, &g), 16 + 20);
}

static void a_read_counter_is_waited_for_until_the_sources_are_read(void **state) {
    (void)state;
    struct ww_gpu_spec g = control_gpu();
    assert_int_equal(wait_after_sfu(1, 1u << 1, -1, &g), 9);
}

static void who_waits_for_no_counter_goes_on(void **state) {
    (void)state;
    struct ww_gpu_spec g = control_gpu();
    assert_int_equal(wait_after_sfu(1, 1u << 5, -1, &g), 2);
}

static void depbar_waits_until_its_scoreboard_is_at_its_level(void **state) {
    (void)state;
    struct ww_gpu_spec g = control_gpu();
    /* three SFU instructions issue at 0, 8, 16 and end 20 later */
    assert_int_equal(wait_after_sfu(3, 0, 0, &g), 36);
    assert_int_equal(wait_after_sfu(3, 0, 1, &g), 28);
    assert_int_equal(wait_after_sfu(3, 0, 2, &g), 20);
    assert_int_equal(wait_after_sfu(3, 0, 3, &g), 18);
}

/* What a counter's increment is seen from on: with a stall of 1 the next instruction passes. */
static void an_increment_is_seen_from_the_second_cycle_on(void **state) {
    (void)state;
    struct ww_gpu_spec g = control_gpu();
    struct program p;
    for (uint8_t stall_count = 1; stall_count <= 2; stall_count++) {
        program_init(&p, 1, 32, 1, 4);
        uint32_t a = program_inst(&p, WW_OP_SFU, 1, 2, -1), b = program_inst(&p, WW_OP_FP32, 3, 1, -1);
        control(&p, a, (struct ww_control){stall_count, 0, 0, 7, 0, 0});
        control(&p, b, (struct ww_control){1, 0, 7, 7, 1, 0});
        program_all(&p, a);
        program_all(&p, b);
        struct replay r = program_run(&p, &g);
        assert_int_equal(r.r.cycles - 1, stall_count == 1 ? 1 : 20);
        replay_free(&r);
        program_free(&p);
    }
}

/* A load of width 4 that counts in 0 (written) and 1 (read), then an instruction that waits for one of them. */
static uint64_t wait_after_memory(enum ww_op op, enum ww_space space, uint32_t width, uint8_t wait,
                                  const struct ww_gpu_spec *gpu, uint64_t *read_wait) {
    struct program p;
    program_init(&p, 1, 32, 1, 4);
    bool load = op == WW_OP_LOAD;
    uint32_t a = program_memory(&p, op, space, width, load ? 1 : -1, 2);
    uint32_t b = program_inst(&p, WW_OP_FP32, 3, 1, -1);
    control(&p, a, (struct ww_control){2, 0, load ? 0 : 7, 1, 0, 0});
    control(&p, b, (struct ww_control){1, 0, 7, 7, wait, 0});
    program_access(&p, 0, a, ALL, 0, (int32_t)width);
    program_all(&p, b);
    struct replay r = program_run(&p, gpu);
    uint64_t waits = 0, issue;
    for (int s = WW_S_WAIT_ALU; s <= WW_S_WAIT_READ; s++) waits += stall(&r, b, (enum ww_warp_state)s);
    issue = waits + 1;
    *read_wait = stall(&r, b, WW_S_WAIT_READ);
    replay_free(&r);
    program_free(&p);
    return issue;
}

static void a_shared_load_writes_its_counter_when_its_data_are_there(void **state) {
    (void)state;
    struct ww_gpu_spec g = control_gpu();
    uint64_t read;
    assert_int_equal(wait_after_memory(WW_OP_LOAD, WW_SPACE_SHARED, 4, 1, &g, &read), 24);
    assert_int_equal(read, 0);
}

static void memory_instructions_read_their_sources_by_kind_and_width(void **state) {
    (void)state;
    struct ww_gpu_spec g = control_gpu();
    uint64_t read;
    assert_int_equal(wait_after_memory(WW_OP_LOAD, WW_SPACE_SHARED, 4, 2, &g, &read), 9);
    assert_int_equal(read, 7); /* after the stall count */
    assert_int_equal(wait_after_memory(WW_OP_LOAD, WW_SPACE_GLOBAL, 4, 2, &g, &read), 11);
    assert_int_equal(wait_after_memory(WW_OP_STORE, WW_SPACE_SHARED, 4, 2, &g, &read), 12);
    assert_int_equal(wait_after_memory(WW_OP_STORE, WW_SPACE_GLOBAL, 4, 2, &g, &read), 14);
    assert_int_equal(wait_after_memory(WW_OP_STORE, WW_SPACE_GLOBAL, 8, 2, &g, &read), 16);
    assert_int_equal(wait_after_memory(WW_OP_STORE, WW_SPACE_GLOBAL, 16, 2, &g, &read), 20);
}

/* Copies of two groups; DEPBAR.LE SB0, 1 waits for the first group only. */
static uint64_t wait_for_groups(uint8_t level, const struct ww_gpu_spec *gpu) {
    struct program p;
    program_init(&p, 1, 32, 1, 12);
    uint32_t copy = program_memory(&p, WW_OP_ASYNC_COPY, WW_SPACE_GLOBAL, 4, -1, 2);
    uint32_t end = program_inst(&p, WW_OP_ASYNC_WAIT, -1, -1, -1);
    uint32_t wait = program_inst(&p, WW_OP_ASYNC_WAIT, -1, -1, -1);
    uint32_t pause = program_inst(&p, WW_OP_NOP, -1, -1, -1);
    control(&p, copy, (struct ww_control){2, 0, 7, 7, 0, 0});
    control(&p, end, (struct ww_control){2, 0, 0, 7, 0, 0});
    control(&p, wait, (struct ww_control){4, 1, 7, 7, 0, 0});
    control(&p, pause, (struct ww_control){0, 1, 7, 7, 0, 0});
    p.inst[wait].barrier_threads = level;
    for (uint64_t i = 0; i < 2; i++) {
        program_access(&p, 0, copy, ALL, i << 12, 4);
        program_all(&p, end);
        for (int k = 0; k < 2 && i == 0; k++) program_all(&p, pause);
    }
    program_all(&p, wait);
    struct replay r = program_run(&p, gpu);
    uint64_t cycles = r.r.cycles;
    replay_free(&r);
    program_free(&p);
    return cycles;
}

static void groups_of_asynchronous_copies_are_told_apart(void **state) {
    (void)state;
    struct ww_gpu_spec g = control_gpu();
    assert_true(wait_for_groups(0, &g) >= wait_for_groups(1, &g) + 20);
}

/* FP64 instructions that issue 4 cycles apart without a queue, then a NOP, which needs no unit. */
static void a_queue_in_front_of_a_unit_lets_later_instructions_issue(void **state) {
    (void)state;
    struct ww_gpu_spec g = control_gpu();
    for (uint32_t queue = 0; queue <= 2; queue += 2) {
        struct program p;
        g.core_unit_queue = queue;
        program_init(&p, 1, 32, 1, 8);
        uint32_t a = program_inst(&p, WW_OP_FP64, 1, 2, -1), b = program_inst(&p, WW_OP_NOP, -1, -1, -1);
        uint32_t c = program_inst(&p, WW_OP_NOP, -1, -1, -1);
        control(&p, a, (struct ww_control){1, 0, 0, 7, 0, 0});
        control(&p, b, (struct ww_control){2, 0, 7, 7, 0, 0});
        control(&p, c, (struct ww_control){1, 0, 7, 7, 1, 0});
        for (int i = 0; i < 3; i++) program_all(&p, a);
        program_all(&p, b);
        program_all(&p, c);
        struct replay r = program_run(&p, &g);
        /* the last of three starts in cycle 8 in any case, and its result is there 9 cycles later */
        assert_int_equal(r.r.cycles - 1, 8 + 9);
        assert_int_equal(stall(&r, a, WW_S_EXCESS_ALU), queue ? 0 : 6);
        replay_free(&r);
        program_free(&p);
    }
}

/* Cycles in which the first warp of `warps` issues its shared loads, which are eight; the first issues at 0. */
static void issue_cycles(uint32_t warps, uint64_t cycle[8], const struct ww_gpu_spec *gpu) {
    struct ww_probe_sample sample[64];
    struct ww_probe probe = {0, PROGRAM_INSTS, sample, 0, 64};
    struct program p;
    program_init(&p, 1, 32 * warps, 1, 8);
    p.probe = &probe;
    for (int i = 0; i < 8; i++) {
        uint32_t load = program_memory(&p, WW_OP_LOAD, WW_SPACE_SHARED, 4, 1 + i, 20);
        control(&p, load, (struct ww_control){1, 0, 0, 7, 0, 0});
        for (uint32_t w = 0; w < warps; w++) program_access(&p, w, load, ALL, 0, 4);
    }
    struct replay r = program_run(&p, gpu);
    for (size_t i = 0, n = 0; i < probe.count; i++)
        if (sample[i].warp == 0) cycle[n++] = sample[i].cycle;
    replay_free(&r);
    program_free(&p);
}

/* Huerta et al., table 1, less 2: their schedulers begin in cycle 2, and their unit takes one in two cycles. */
static void schedulers_issue_memory_instructions_as_their_places_allow(void **state) {
    (void)state;
    static const uint64_t alone[8] = {0, 1, 2, 3, 4, 11, 15, 19}, all[8] = {0, 1, 2, 3, 4, 11, 19, 27};
    struct ww_gpu_spec g = control_gpu();
    uint64_t cycle[8];
    g.sm_schedulers = 4;
    g.lsu_lanes = 16;
    g.lsu_sub_queue = 5;
    g.lsu_sub_cycles = 4;
    g.lsu_sub_stages = 10;
    issue_cycles(1, cycle, &g);
    assert_memory_equal(cycle, alone, sizeof cycle);
    issue_cycles(4, cycle, &g);
    assert_memory_equal(cycle, all, sizeof cycle);
}

/* Passes of a shared access of 16 bytes whose lanes have one address, by machine code. */
static uint64_t packed_passes(enum ww_op op) {
    struct ww_gpu_spec g = control_gpu();
    struct program p;
    g.shared_pair_loads = true;
    program_init(&p, 1, 32, 1, 1);
    uint32_t access = program_memory(&p, op, WW_SPACE_SHARED, 16, op == WW_OP_LOAD ? 4 : -1, 2);
    control(&p, access, PLAIN);
    program_access(&p, 0, access, ALL, 0, 0);
    struct replay r = program_run(&p, &g);
    uint64_t passes = r.r.counter[WW_C_SHARED_PASSES];
    replay_free(&r);
    program_free(&p);
    return passes;
}

static void loads_of_machine_code_are_packed_and_stores_are_not(void **state) {
    (void)state;
    assert_int_equal(packed_passes(WW_OP_LOAD), 2);
    assert_int_equal(packed_passes(WW_OP_STORE), 4);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(loads_of_machine_code_are_packed_and_stores_are_not),
        cmocka_unit_test(the_stall_count_alone_delays_a_dependent_instruction),
        cmocka_unit_test(a_stall_above_11_needs_the_yield_bit),
        cmocka_unit_test(yield_costs_a_lone_warp_a_cycle_unless_it_stalls_anyway),
        cmocka_unit_test(stall_0_with_yield_stops_the_warp_for_45_cycles),
        cmocka_unit_test(control_fields_of_another_architecture_are_not_obeyed),
        cmocka_unit_test(control_fields_are_not_obeyed_where_an_instruction_lacks_them),
        cmocka_unit_test(the_cycles_of_a_stall_count_have_a_state_and_a_cause_of_their_own),
        cmocka_unit_test(a_write_counter_is_waited_for_until_the_result_is_there),
        cmocka_unit_test(a_read_counter_is_waited_for_until_the_sources_are_read),
        cmocka_unit_test(who_waits_for_no_counter_goes_on),
        cmocka_unit_test(depbar_waits_until_its_scoreboard_is_at_its_level),
        cmocka_unit_test(an_increment_is_seen_from_the_second_cycle_on),
        cmocka_unit_test(a_shared_load_writes_its_counter_when_its_data_are_there),
        cmocka_unit_test(memory_instructions_read_their_sources_by_kind_and_width),
        cmocka_unit_test(a_queue_in_front_of_a_unit_lets_later_instructions_issue),
        cmocka_unit_test(schedulers_issue_memory_instructions_as_their_places_allow),
        cmocka_unit_test(groups_of_asynchronous_copies_are_told_apart),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
