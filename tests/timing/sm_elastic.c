/* The barrel pipeline of an SM: when warps issue, where cycles are lost, and how memory warps keep their
 * distance from bank conflicts (Gou, Gaydadjiev: Elastic Pipeline, CF 2011). Warps of 32 threads on 8 lanes, as
 * in its table 3, unless a test says otherwise. */
#include "fake_memory.h"
#include "sm_fixture.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

static struct ww_gpu_spec elastic_gpu(void) {
    struct ww_gpu_spec g = fixture_gpu();
    g.sm_schedulers = 1;
    g.pipe_int_count = g.pipe_imul_count = g.pipe_fp32_count = 1;
    g.pipe_fp16_count = g.pipe_fp64_count = g.pipe_sfu_count = 1;
    g.shared_banks = 8;
    g.front_branch_cycles = 1;
    g.front_ibuffer = 16;
    g.lsu_queue = 16;
    g.l1_enabled = false;
    g.l1_latency = 1;
    return g;
}

#define SAMPLES 256
static struct ww_probe_sample sample[SAMPLES];
static uint32_t samples;

/* Replays and notes when each instruction issued. */
static struct replay run(struct program *p, const char *pipe, const char *a, const char *b) {
    struct ww_gpu_spec g = elastic_gpu();
    struct ww_probe probe = {0, PROGRAM_INSTS, sample, 0, SAMPLES};
    const char *const mech[] = {"sched=lrr", pipe, a ? a : "pipe.ports=1", b ? b : "pipe.ports=1"};
    memset(sample, 0, sizeof sample);
    p->probe = &probe;
    struct replay r = program_run_mech(p, &g, mech, 4, 4096);
    samples = (uint32_t)probe.count;
    if (r.code != WW_OK) fail_msg("%s: %s", r.error.where, r.error.text);
    return r;
}

static const char *const names[] = {"pipe=unified", "pipe=split", "pipe=elastic"};

static void a_warp_issues_again_after_its_last_sub_warp_was_written_back(void **state) {
    (void)state;
    for (int i = 0; i < 2; i++) {
        struct program p;
        program_init(&p, 1, 32, 1, 3);
        for (int k = 0; k < 3; k++) program_all(&p, program_inst(&p, WW_OP_INT, k, -1, -1));
        struct replay r = run(&p, names[i], NULL, NULL);
        /* fetched in 4 cycles, the last one through 24 stages */
        assert_int_equal(sample[1].cycle - sample[0].cycle, 24 + 3);
        assert_int_equal(sample[2].cycle - sample[1].cycle, 24 + 3);
        assert_int_equal(r.r.counter[WW_C_PIPE_FETCH_CYCLES], 3 * 4);
        replay_free(&r);
        program_free(&p);
    }
}

static void the_elastic_pipeline_forwards_past_the_memory_stages(void **state) {
    (void)state;
    struct program p;
    program_init(&p, 1, 32, 1, 2);
    for (int k = 0; k < 2; k++) program_all(&p, program_inst(&p, WW_OP_INT, k, -1, -1));
    struct replay r = run(&p, "pipe=elastic", NULL, NULL);
    assert_int_equal(sample[1].cycle - sample[0].cycle, 24 - 4 + 3);
    replay_free(&r);
    program_free(&p);
}

static void seven_warps_fill_the_24_stages(void **state) {
    (void)state;
    for (uint32_t warps = 6; warps <= 8; warps++) {
        struct program p;
        program_init(&p, 1, 32 * warps, 1, 4);
        for (int k = 0; k < 4; k++) program_all(&p, program_inst(&p, WW_OP_INT, k, -1, -1));
        struct replay r = run(&p, "pipe=unified", NULL, NULL);
        assert_int_equal(sample[3 * warps].cycle - sample[0].cycle, 3 * (warps < 7 ? 27 : 4 * warps));
        replay_free(&r);
        program_free(&p);
    }
}

/* Ten warps of one instruction each, the third of them a shared load whose sub-warps conflict so many times.
 * Returns cycles lost to conflicts; *spread: from the first issue to the last. */
static uint64_t lost(const char *pipe, int32_t stride, bool second, uint64_t *spread) {
    struct program p;
    program_init(&p, 1, 320, 1, 1);
    uint32_t add = program_inst(&p, WW_OP_INT, 1, -1, -1);
    uint32_t load = program_memory(&p, WW_OP_LOAD, WW_SPACE_SHARED, 4, 2, 3);
    for (uint32_t w = 0; w < 10; w++)
        if (w == 2 || (w == 3 && second))
            program_access(&p, w, load, ALL, 0, stride);
        else
            program_step(&p, w, add, ALL);
    struct replay r = run(&p, pipe, "pipe.aware=off", NULL);
    uint64_t conflicts = r.r.counter[WW_C_PIPE_STALL_CONFLICT];
    *spread = sample[9].cycle - sample[0].cycle;
    assert_int_equal(r.r.counter[WW_C_SHARED_CONFLICTS], (second ? 2u : 1u) * 4u * ((uint32_t)stride / 4 - 1));
    replay_free(&r);
    program_free(&p);
    return conflicts;
}

static void a_lone_conflicting_access_stalls_unified_and_split_but_not_elastic_stages(void **state) {
    (void)state;
    uint64_t spread;
    assert_int_equal(lost("pipe=unified", 4, false, &spread), 0);
    assert_int_equal(spread, 9 * 4);
    assert_int_equal(lost("pipe=unified", 8, false, &spread), 4); /* four sub-warps of degree 2 */
    assert_int_equal(spread, 9 * 4 + 4);
    assert_true(lost("pipe=split", 8, false, &spread) >= 4);
    assert_int_equal(lost("pipe=elastic", 8, false, &spread), 0);
    assert_int_equal(spread, 9 * 4);
    assert_int_equal(lost("pipe=elastic", 32, false, &spread), 0); /* any degree */
}

static void two_conflicting_warps_in_a_row_stall_the_elastic_pipeline_without_care(void **state) {
    (void)state;
    uint64_t spread;
    /* The second warp comes 4 cycles behind one that needs 16; three of its sub-warps fit the queue. */
    assert_true(lost("pipe=elastic", 16, true, &spread) > 0);
    assert_true(lost("pipe=unified", 16, true, &spread) > lost("pipe=elastic", 16, true, &spread));
}

/* Eight warps, each the same conflicting shared load twice, with additions between. */
static struct replay twice(const char *a, const char *b, struct program *p) {
    program_init(p, 1, 256, 1, 8);
    uint32_t add = program_inst(p, WW_OP_INT, 1, -1, -1);
    uint32_t load = program_memory(p, WW_OP_LOAD, WW_SPACE_SHARED, 4, 2, 3);
    for (uint32_t w = 0; w < 8; w++)
        for (int k = 0; k < 2; k++) {
            program_access(p, w, load, ALL, 0, 16);
            for (int n = 0; n < 3; n++) program_step(p, w, add, ALL);
        }
    return run(p, "pipe=elastic", a, b);
}

static uint64_t least_distance(uint32_t first) {
    uint64_t least = UINT64_MAX, before = 0;
    for (uint32_t i = 0, met = 0; i < samples; i++) {
        if (sample[i].inst != 1) continue;
        if (met++ > first && sample[i].cycle - before < least) least = sample[i].cycle - before;
        before = sample[i].cycle;
    }
    return least;
}

static void known_conflicts_keep_memory_warps_at_the_safe_distance(void **state) {
    (void)state;
    struct program p;
    struct replay r = twice("pipe.aware=safe", NULL, &p);
    /* four sub-warps of degree 4: equation 5 gives 16, once the first one has been resolved */
    assert_int_equal(least_distance(7), 16);
    assert_true(r.r.counter[WW_C_BANK_UNKNOWN] > 0);
    assert_int_equal(r.r.counter[WW_C_BANK_PREDICTED], 16);
    assert_int_equal(r.r.counter[WW_C_BANK_MISPREDICTED], r.r.counter[WW_C_BANK_UNKNOWN]);
    assert_int_equal(r.r.counter[WW_C_BANK_UNDERPREDICTED], r.r.counter[WW_C_BANK_UNKNOWN]);
    replay_free(&r);
    program_free(&p);
    r = twice("pipe.aware=off", NULL, &p);
    assert_int_equal(r.r.counter[WW_C_BANK_PREDICTED], 0);
    assert_true(least_distance(7) < 16);
    replay_free(&r);
    program_free(&p);
    r = twice("pipe.aware=safe", "pipe.ports=2", &p);
    assert_int_equal(least_distance(7), 8); /* two ports: half */
    replay_free(&r);
    program_free(&p);
}

/* A warp that always conflicts, and one of memory only: nothing but the second is ready beside the first. */
static uint64_t first_load_after_conflict(const char *aware) {
    struct program p;
    program_init(&p, 1, 64, 1, 4);
    uint32_t load = program_memory(&p, WW_OP_LOAD, WW_SPACE_SHARED, 4, 2, 3);
    uint32_t other = program_memory(&p, WW_OP_LOAD, WW_SPACE_SHARED, 4, 4, 5);
    for (int k = 0; k < 3; k++) {
        program_access(&p, 0, load, ALL, 0, 32);
        program_access(&p, 1, other, ALL, 0, 4);
    }
    struct replay r = run(&p, "pipe=elastic", aware, NULL);
    uint64_t at = 0, least = UINT64_MAX;
    for (uint32_t i = 0; i < 6; i++) {
        if (sample[i].inst == load && i >= 2) at = sample[i].cycle;
        if (sample[i].inst == other && at && sample[i].cycle - at < least) least = sample[i].cycle - at;
    }
    replay_free(&r);
    program_free(&p);
    return least;
}

static void the_variant_issues_memory_warps_anyway_when_nothing_else_is_ready(void **state) {
    (void)state;
    assert_true(first_load_after_conflict("pipe.aware=safe") >= 32);
    assert_true(first_load_after_conflict("pipe.aware=anyway") < 32);
}

static void all_kinds_of_memory_keep_the_distance(void **state) {
    (void)state;
    struct program p;
    program_init(&p, 1, 64, 1, 4);
    uint32_t load = program_memory(&p, WW_OP_LOAD, WW_SPACE_SHARED, 4, 2, 3);
    uint32_t store = program_memory(&p, WW_OP_STORE, WW_SPACE_GLOBAL, 4, -1, 3);
    for (int k = 0; k < 3; k++) {
        program_access(&p, 0, load, ALL, 0, 32);
        program_access(&p, 1, store, ALL, 0x1000, 4);
    }
    struct replay r = run(&p, "pipe=elastic", NULL, NULL);
    uint64_t at = 0;
    for (uint32_t i = 2; i < 6; i++) {
        if (sample[i].inst == store && at) assert_true(sample[i].cycle - at >= 32);
        if (sample[i].inst == load) at = sample[i].cycle;
    }
    assert_true(at > 0);
    replay_free(&r);
    program_free(&p);
}

static void data_of_loads_take_the_writeback_port(void **state) {
    (void)state;
    struct program p;
    program_init(&p, 1, 320, 1, 40);
    uint32_t load = program_memory(&p, WW_OP_LOAD, WW_SPACE_GLOBAL, 4, 2, 3);
    uint32_t add = program_inst(&p, WW_OP_INT, 1, -1, -1);
    program_access(&p, 0, load, ALL, 0x1000, 4);
    for (uint32_t w = 1; w < 10; w++)
        for (int k = 0; k < 40; k++) program_step(&p, w, add, ALL);
    struct replay r = run(&p, "pipe=unified", NULL, NULL);
    assert_int_equal(r.r.counter[WW_C_PIPE_STALL_OTHER], 4); /* a warp's data: one cycle for 8 lanes */
    assert_int_equal(r.r.counter[WW_C_PIPE_STALL_CONFLICT], 0);
    replay_free(&r);
    program_free(&p);
}

static uint64_t second_issue(const char *barrel, bool depends, bool conflicts) {
    struct program p;
    program_init(&p, 1, 32, 1, 4);
    uint32_t load = program_memory(&p, WW_OP_LOAD, WW_SPACE_SHARED, 4, 2, 3);
    uint32_t use = program_inst(&p, WW_OP_INT, 4, depends ? 2 : 5, -1);
    uint32_t wait = program_inst(&p, WW_OP_BARRIER, -1, -1, -1);
    program_access(&p, 0, load, ALL, 0, conflicts ? 16 : 4); /* makes it known */
    program_step(&p, 0, wait, ALL);
    program_access(&p, 0, load, ALL, 0, conflicts ? 16 : 4);
    program_step(&p, 0, use, ALL);
    struct replay r = run(&p, "pipe=elastic", barrel, NULL);
    uint64_t cycles = sample[3].cycle - sample[2].cycle;
    replay_free(&r);
    program_free(&p);
    return cycles;
}

static void relaxed_barrels_issue_independent_instructions_of_a_warp_in_a_row(void **state) {
    (void)state;
    assert_int_equal(second_issue("pipe.barrel=strict", false, false), 27);
    assert_int_equal(second_issue("pipe.barrel=out_of_order", false, false), 4);
    assert_int_equal(second_issue("pipe.barrel=out_of_order", true, false), 27);
    assert_int_equal(second_issue("pipe.barrel=out_of_order", false, true), 4);
    assert_int_equal(second_issue("pipe.barrel=in_order", false, false), 4);
    assert_true(second_issue("pipe.barrel=in_order", false, true) > 27); /* not behind a predicted conflict */
}

/* What making an engine with these says is wrong. */
static void refused(const struct ww_gpu_spec *g, const char *const *mech, size_t count, const char *text) {
    struct ww_mech_choice choice[WW_KIND_COUNT];
    struct ww_arena arena;
    struct ww_error error;
    struct ww_engine *engine;
    ww_arena_init(&arena, 0);
    assert_int_equal(ww_mech_resolve(mech, count, &arena, choice, &error), WW_OK);
    struct ww_engine_options options = {.gpu = g, .mechanism = choice};
    assert_int_equal(ww_engine_new(&options, &engine, &error), WW_USAGE);
    assert_non_null(strstr(error.text, text));
    ww_arena_free(&arena);
}

static void a_pipeline_needs_an_sm_that_issues_one_instruction(void **state) {
    (void)state;
    struct ww_gpu_spec g = fixture_gpu();
    refused(&g, (const char *const[]){"pipe=elastic"}, 1, "one scheduler");
}

static void a_pipeline_needs_four_stages_beside_those_of_memory(void **state) {
    (void)state;
    struct ww_gpu_spec g = fixture_gpu();
    g.sm_schedulers = 1;
    refused(&g, (const char *const[]){"pipe=split", "pipe.stages=7"}, 2, "at most 3 memory stages");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_warp_issues_again_after_its_last_sub_warp_was_written_back),
        cmocka_unit_test(the_elastic_pipeline_forwards_past_the_memory_stages),
        cmocka_unit_test(seven_warps_fill_the_24_stages),
        cmocka_unit_test(a_lone_conflicting_access_stalls_unified_and_split_but_not_elastic_stages),
        cmocka_unit_test(two_conflicting_warps_in_a_row_stall_the_elastic_pipeline_without_care),
        cmocka_unit_test(known_conflicts_keep_memory_warps_at_the_safe_distance),
        cmocka_unit_test(the_variant_issues_memory_warps_anyway_when_nothing_else_is_ready),
        cmocka_unit_test(all_kinds_of_memory_keep_the_distance),
        cmocka_unit_test(data_of_loads_take_the_writeback_port),
        cmocka_unit_test(relaxed_barrels_issue_independent_instructions_of_a_warp_in_a_row),
        cmocka_unit_test(a_pipeline_needs_an_sm_that_issues_one_instruction),
        cmocka_unit_test(a_pipeline_needs_four_stages_beside_those_of_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
