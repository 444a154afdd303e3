/* sm_cluster.c: clusters: their places, their barrier, accesses to other CTAs' shared memory. */
#include "../../estimator/config/gpc.h"
#include "fake_memory.h"
#include "sm_fixture.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

static const char *const names[] = {"", "UCGABAR_ARV", "UCGABAR_WAIT"};

/* Six SMs of one CTA each; GPCs of two and of four SMs. */
static struct ww_gpu_spec gpu(void) {
    struct ww_gpu_spec g = fixture_gpu();
    g.sm_count = 6;
    g.sm_gpcs = 2;
    g.sm_max_ctas = 1;
    g.cluster_latency = 100;
    g.cluster_bytes = 16;
    return g;
}

static void begin(struct program *p, uint32_t ctas, uint32_t size, uint32_t variants) {
    program_init(p, ctas, 32, variants, 300);
    p->launch.string = names;
    p->launch.string_count = 3;
    p->launch.cluster[0] = size;
    p->launch.cluster[1] = p->launch.cluster[2] = 1;
}

static void pause(struct program *p, uint32_t warp, uint32_t cycles) {
    uint32_t i = program_inst(p, WW_OP_NOP, -1, -1, -1);
    for (uint32_t n = 0; n < cycles; n++) program_step(p, warp, i, ALL);
}

static uint64_t cycles_of(struct program *p, const struct ww_gpu_spec *g) {
    struct replay r = program_run(p, g);
    uint64_t cycles = r.r.cycles;
    replay_free(&r);
    program_free(p);
    return cycles;
}

static uint64_t time_of(uint32_t ctas, uint32_t size) {
    struct ww_gpu_spec g = gpu();
    struct program p;
    begin(&p, ctas, size, 1);
    pause(&p, 0, 200);
    return cycles_of(&p, &g);
}

/* The GPC of two SMs holds no cluster of four. */
static void a_cluster_runs_within_a_gpc(void **state) {
    (void)state;
    uint64_t once = time_of(6, 1), twice = time_of(12, 1);
    assert_true(twice > once + 190);
    assert_in_range(time_of(12, 2), twice - 20, twice + 20);
    assert_true(time_of(12, 4) > twice + 190);
}

static void a_cluster_for_which_no_gpc_has_room_is_an_error(void **state) {
    (void)state;
    struct ww_gpu_spec g = gpu();
    struct program p;
    begin(&p, 8, 8, 1);
    pause(&p, 0, 10);
    struct replay r = program_run_with(&p, &g, "gto", 4096);
    assert_int_equal(r.code, WW_INPUT);
    assert_non_null(strstr(r.error.text, "clusters of 8 CTAs"));
    replay_free(&r);
    program_free(&p);
}

/* 66 pairs of SMs in eight GPCs are two of nine pairs and six of eight. */
static void clusters_that_are_resident_depend_on_the_gpcs(void **state) {
    (void)state;
    struct ww_gpu_spec g = gpu();
    g.sm_count = 132;
    g.sm_gpcs = 8;
    assert_int_equal(ww_gpc_clusters(&g, 1, 2), 66);
    assert_int_equal(ww_gpc_clusters(&g, 1, 4), 32);
    assert_int_equal(ww_gpc_clusters(&g, 1, 16), 8);
    assert_int_equal(ww_gpc_clusters(&g, 2, 16), 16);
    uint32_t sms[8] = {0};
    for (uint32_t i = 0; i < 132; i++) sms[ww_gpc_of(&g, i)]++;
    for (uint32_t i = 0, large = 0; i < 8; i++) {
        assert_true(sms[i] == 16 || sms[i] == 18);
        large += sms[i] == 18;
        if (i == 7) assert_int_equal(large, 2);
    }
}

static uint32_t barrier(struct program *p, uint32_t name) {
    uint32_t i = program_inst(p, WW_OP_BARRIER, -1, -1, -1);
    p->inst[i].mnemonic = name;
    return i;
}

/* Warp-cycles at the barrier: CTA 0 comes so many cycles late. */
static uint64_t at_barrier(uint32_t late, uint32_t threads, bool leaves) {
    struct ww_gpu_spec g = gpu();
    struct program p;
    begin(&p, 2, 2, 2);
    p.threads = threads;
    uint32_t arrive = barrier(&p, 1), wait = barrier(&p, 2);
    pause(&p, 0, late);
    for (uint32_t cta = leaves; cta < 2; cta++) {
        program_step(&p, cta, arrive, ALL);
        program_step(&p, cta, wait, ALL);
        pause(&p, cta, 1);
    }
    struct replay r = program_run(&p, &g);
    uint64_t cycles = r.r.warp_cycles[WW_S_BARRIER];
    replay_free(&r);
    program_free(&p);
    return cycles;
}

static void the_barrier_waits_for_all_ctas_of_the_cluster(void **state) {
    (void)state;
    uint64_t soon = at_barrier(1, 1, false);
    assert_in_range(soon, 2 * 100, 2 * 100 + 40);
    assert_in_range(at_barrier(151, 1, false), soon + 145, soon + 155);
    assert_int_equal(at_barrier(151, 2, false), at_barrier(151, 1, false));
}

static void a_cta_that_has_ended_is_not_waited_for(void **state) {
    (void)state;
    assert_in_range(at_barrier(100, 1, true), 150, 250);
}

/* Two SMs are free for the next cluster while CTAs of two others have not come to their barriers. */
static void ctas_that_stay_meet_at_the_barrier_of_their_own_cluster(void **state) {
    (void)state;
    struct ww_gpu_spec g = gpu();
    struct program p;
    begin(&p, 24, 2, 2);
    uint32_t arrive = barrier(&p, 1), wait = barrier(&p, 2);
    pause(&p, 0, 1);
    pause(&p, 1, 100);
    program_step(&p, 1, arrive, ALL);
    program_step(&p, 1, wait, ALL);
    pause(&p, 1, 1);
    struct replay r = program_run_with(&p, &g, "gto", 4096);
    assert_int_equal(r.code, WW_OK);
    assert_int_equal(r.r.counter[WW_C_BARRIER_WAITS], 12);
    replay_free(&r);
    program_free(&p);
}

static void ctas_without_instructions_are_not_waited_for(void **state) {
    (void)state;
    struct ww_gpu_spec g = gpu();
    struct program p;
    begin(&p, 24, 2, 2);
    uint32_t arrive = barrier(&p, 1), wait = barrier(&p, 2);
    program_step(&p, 1, arrive, ALL);
    program_step(&p, 1, wait, ALL);
    pause(&p, 1, 1);
    struct replay r = program_run_with(&p, &g, "gto", 4096);
    assert_int_equal(r.code, WW_OK);
    replay_free(&r);
    program_free(&p);
}

/* Cycles of a launch in which each CTA loads, from its own or the other CTA's shared memory, and uses that. */
static uint64_t access_cycles(const struct ww_gpu_spec *g, enum ww_op op, bool other, uint32_t count) {
    struct program p;
    begin(&p, 2, 2, 2);
    uint32_t access = program_memory(&p, op, WW_SPACE_SHARED, 4, op == WW_OP_LOAD ? 5 : -1, 2);
    uint32_t use = program_inst(&p, WW_OP_INT, 6, 5, -1);
    for (uint32_t cta = 0; cta < 2; cta++) {
        uint64_t rank = other ? (uint64_t)(2 - cta) << WW_SHARED_RANK_SHIFT : 0;
        for (uint32_t n = 0; n < count; n++) program_access(&p, cta, access, ALL, rank, 4);
        program_step(&p, cta, use, ALL);
    }
    struct replay r = program_run(&p, g);
    uint64_t cycles = r.r.cycles;
    assert_int_equal(r.r.counter[WW_C_PEER_REQUEST], other ? 2 * count : 0);
    assert_int_equal(r.r.counter[WW_C_PEER_BYTES], other ? 2 * count * 128 : 0);
    replay_free(&r);
    program_free(&p);
    return cycles;
}

static void other_ctas_shared_memory_is_so_far_away(void **state) {
    (void)state;
    struct ww_gpu_spec g = gpu(), far = g;
    far.cluster_latency += 60;
    g.cluster_bytes = far.cluster_bytes = 4096;
    uint64_t near_by = access_cycles(&g, WW_OP_LOAD, true, 1);
    assert_in_range(near_by - access_cycles(&g, WW_OP_LOAD, false, 1), 98, 104);
    assert_int_equal(access_cycles(&far, WW_OP_LOAD, true, 1), near_by + 60);
}

static void an_sm_sends_so_many_bytes_a_cycle(void **state) {
    (void)state;
    struct ww_gpu_spec g = gpu();
    uint64_t more = access_cycles(&g, WW_OP_STORE, true, 40) - access_cycles(&g, WW_OP_STORE, true, 20);
    assert_in_range(more, 20 * 128 / 16 - 4, 20 * 128 / 16 + 4);
}

static void the_trunk_of_a_gpc_does_not_hold_back_a_pair(void **state) {
    (void)state;
    struct ww_gpu_spec g = gpu();
    uint64_t without = access_cycles(&g, WW_OP_STORE, true, 40);
    g.cluster_gpc_bytes = 4;
    assert_int_equal(access_cycles(&g, WW_OP_STORE, true, 40), without);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_cluster_runs_within_a_gpc),
        cmocka_unit_test(a_cluster_for_which_no_gpc_has_room_is_an_error),
        cmocka_unit_test(clusters_that_are_resident_depend_on_the_gpcs),
        cmocka_unit_test(the_barrier_waits_for_all_ctas_of_the_cluster),
        cmocka_unit_test(a_cta_that_has_ended_is_not_waited_for),
        cmocka_unit_test(ctas_that_stay_meet_at_the_barrier_of_their_own_cluster),
        cmocka_unit_test(ctas_without_instructions_are_not_waited_for),
        cmocka_unit_test(other_ctas_shared_memory_is_so_far_away),
        cmocka_unit_test(an_sm_sends_so_many_bytes_a_cycle),
        cmocka_unit_test(the_trunk_of_a_gpc_does_not_hold_back_a_pair),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
