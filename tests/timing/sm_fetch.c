/* Prefetchers beside the D-cache: the patterns of A. Sethia's dissertation (chapter V,
 * figures 5.3, 5.5, 5.7, 5.9) on streams made by hand, and what becomes of each prefetch. */
#include "../../estimator/warpwatt.h"
#include "fake_memory.h"
#include "sm_fixture.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

enum { LATENCY = 400 };

/* One SM of one scheduler with the D-cache of table 5.3a: 64 KB, 8 ways, lines of 32 bytes, 4 cycles. */
static struct ww_gpu_spec fetch_gpu(void) {
    struct ww_gpu_spec g = fixture_gpu();
    g.sm_schedulers = 1;
    g.pipe_int_count = g.pipe_imul_count = g.pipe_fp32_count = 1;
    g.pipe_fp16_count = g.pipe_fp64_count = g.pipe_sfu_count = 1;
    g.front_ibuffer = 16;
    g.l1_size_kb = 64;
    g.l1_ways = 8;
    g.l1_line = g.l1_sector = 32;
    g.l1_hash = WW_HASH_NONE;
    g.l1_latency = 4;
    g.l1_mshrs = 256;
    g.l1_miss_queue = 64;
    g.l1_write = WW_L1_UPDATE;
    fake.latency_ps = LATENCY * 1000;
    fake.level = WW_LEVEL_DRAM;
    fake.most = 0;
    return g;
}

enum { BASE = 0x100000, STEPS = 4000 };

/* The loop of figure 5.5: `warps` warps stride over an array, `work` arithmetic instructions in each iteration.
 */
static void grid_stride(struct program *p, uint32_t warps, uint32_t iterations, uint32_t work) {
    program_init(p, 1, warps * 32, 1, STEPS);
    uint32_t load = program_memory(p, WW_OP_LOAD, WW_SPACE_GLOBAL, 4, 1, 10);
    uint32_t use = program_inst(p, WW_OP_INT, 1, 1, -1);
    for (uint32_t i = 0; i < iterations; i++)
        for (uint32_t w = 0; w < warps; w++) {
            program_access(p, w, load, ALL, BASE + (uint64_t)(i * warps + w) * 128, 4);
            for (uint32_t k = 0; k < work; k++) program_step(p, w, use, ALL);
        }
}

static struct replay run_fetch(struct program *p, const struct ww_gpu_spec *g, const char *mech) {
    const char *list[4] = {"sched=lrr"};
    char copy[160];
    size_t n = 1;
    snprintf(copy, sizeof copy, "%s", mech);
    for (char *at = strtok(copy, " "); at; at = strtok(NULL, " ")) list[n++] = at;
    struct replay r = program_run_mech(p, g, list, n, 4096);
    if (r.code != WW_OK) fail_msg("%s: %s", r.error.where, r.error.text);
    return r;
}

static uint64_t count(struct program *p, const struct ww_gpu_spec *g, const char *mech, enum ww_counter c) {
    struct replay r = run_fetch(p, g, mech);
    uint64_t n = c == WW_COUNTER_COUNT ? r.r.cycles : r.r.counter[c];
    replay_free(&r);
    return n;
}
#define CYCLES WW_COUNTER_COUNT

static void one_pass_of_figure_5_5_is_predicted_by_all_its_threads(void **state) {
    struct ww_gpu_spec g = fetch_gpu();
    struct program p;
    (void)state;
    grid_stride(&p, 2, 2, 150); /* the first iteration teaches, the second one is prefetched in time */
    struct replay r = run_fetch(&p, &g, "fetch=apogee");
    assert_int_equal(r.r.counter[WW_C_PREFETCH_TIMELY], 8); /* two warps, four lines each */
    assert_int_equal(r.r.counter[WW_C_PREFETCH_SENT], 16);  /* the third iteration's, too */
    assert_int_equal(r.r.counter[WW_C_PREFETCH_USELESS], 8);
    assert_int_equal(r.r.counter[WW_C_L1_SECTOR_MISS], 8);
    assert_int_equal(fake.sectors, 24);
    replay_free(&r);
    program_free(&p);
}

static void apogee_prefetches_where_the_stride_of_an_sm_looks_random(void **state) {
    struct ww_gpu_spec g = fetch_gpu();
    struct program p;
    (void)state;
    /* Figure 5.3a: two loads of each warp are apart by a constant, those of the SM are not. */
    static const uint32_t order[6][4] = {{0, 2, 1, 3}, {3, 0, 2, 1}, {1, 0, 3, 2},
                                         {2, 3, 1, 0}, {0, 3, 1, 2}, {1, 2, 0, 3}};
    program_init(&p, 1, 128, 1, STEPS);
    uint32_t load = program_memory(&p, WW_OP_LOAD, WW_SPACE_GLOBAL, 4, 1, 10);
    uint32_t use = program_inst(&p, WW_OP_INT, 1, 1, -1), barrier = program_inst(&p, WW_OP_BARRIER, -1, -1, -1);
    for (uint32_t i = 0; i < 6; i++) {
        program_all(&p, barrier);
        for (uint32_t at = 0; at < 4; at++) {
            uint32_t w = order[i][at];
            for (uint32_t k = 0; k < 12 * at + 1; k++) program_step(&p, w, use, ALL); /* its turn comes */
            program_access(&p, w, load, ALL, BASE + 512 * i + 128 * w, 4);
            for (uint32_t k = 0; k < 30; k++) program_step(&p, w, use, ALL);
        }
    }
    uint64_t none = count(&p, &g, "fetch=none", CYCLES);
    assert_int_equal(count(&p, &g, "fetch=stride_sm", WW_C_PREFETCH_TIMELY), 0);
    assert_int_equal(count(&p, &g, "fetch=stride_sm", CYCLES), none);
    assert_true(count(&p, &g, "fetch=stride_warp", CYCLES) < none);
    assert_true(count(&p, &g, "fetch=apogee", CYCLES) < none);
    /* What a warp has learned serves the others: useful from the second iteration on, not from the fourth. */
    assert_int_equal(count(&p, &g, "fetch=apogee fetch.adapt=false", WW_C_PREFETCH_SENT), 4 * 24);
    assert_int_equal(count(&p, &g, "fetch=stride_warp", WW_C_PREFETCH_SENT), 4 * 16);
    program_free(&p);
}

static void the_next_line_of_a_warp_is_what_another_warp_has_asked_for(void **state) {
    struct ww_gpu_spec g = fetch_gpu();
    struct program p;
    (void)state;
    grid_stride(&p, 4, 4, 20);
    struct replay r = run_fetch(&p, &g, "fetch=next_line");
    assert_true(r.r.counter[WW_C_PREFETCH_PRESENT] > 10 * r.r.counter[WW_C_PREFETCH_SENT]); /* figure 5.3b */
    replay_free(&r);
    program_free(&p);
}

static void the_distance_grows_until_prefetches_come_in_time(void **state) {
    struct ww_gpu_spec g = fetch_gpu();
    struct program p;
    (void)state;
    grid_stride(&p, 1, 60, 5); /* an iteration is far shorter than memory's latency */
    struct replay r = run_fetch(&p, &g, "fetch=apogee"),
                  fixed = run_fetch(&p, &g, "fetch=apogee fetch.adapt=false");
    assert_true(r.r.counter[WW_C_PREFETCH_FARTHER] > 2);
    assert_int_equal(fixed.r.counter[WW_C_PREFETCH_FARTHER], 0);
    assert_true(fixed.r.counter[WW_C_PREFETCH_TIMELY] < 10);
    assert_true(fixed.r.counter[WW_C_PREFETCH_LATE] > 4 * 50);
    assert_true(r.r.counter[WW_C_PREFETCH_TIMELY] > 4 * 30);
    assert_true(3 * r.r.cycles < 2 * fixed.r.cycles);
    replay_free(&r);
    replay_free(&fixed);
    program_free(&p);
}

static void the_distance_stays_where_one_iteration_is_enough(void **state) {
    struct ww_gpu_spec g = fetch_gpu();
    struct program p;
    (void)state;
    grid_stride(&p, 1, 3, 120);
    assert_int_equal(count(&p, &g, "fetch=apogee", WW_C_PREFETCH_FARTHER), 0);
    assert_int_equal(count(&p, &g, "fetch=apogee", WW_C_PREFETCH_NEARER), 0);
    program_free(&p);
}

/* A cache of 16 lines, in which what is prefetched eight iterations ahead does not live to its use. */
static void the_distance_shrinks_when_lines_are_replaced_before_their_use(void **state) {
    struct ww_gpu_spec g = fetch_gpu();
    struct program p;
    (void)state;
    g.l1_size_kb = 1;
    g.l1_ways = 16;
    grid_stride(&p, 1, 20, 15);
    fake.latency_ps = 40000;
    struct replay r = run_fetch(&p, &g, "fetch=apogee fetch.distance=12");
    assert_true(r.r.counter[WW_C_PREFETCH_NEARER] > 0);
    assert_true(r.r.counter[WW_C_PREFETCH_EARLY] > 0);
    assert_int_equal(r.r.counter[WW_C_PREFETCH_FARTHER], 0);
    replay_free(&r);
    program_free(&p);
}

/* Figure 5.9: warps load from one address each iteration, far behind another load, and lose it from the cache
 * to a stream that fills it. */
static void invariant_loop(struct program *p, uint32_t iterations, uint32_t between) {
    program_init(p, 1, 32, 1, STEPS);
    uint32_t ahead = program_memory(p, WW_OP_LOAD, WW_SPACE_GLOBAL, 4, 1, 10);
    uint32_t nearer = program_memory(p, WW_OP_LOAD, WW_SPACE_GLOBAL, 4, 2, 10);
    uint32_t invariant = program_memory(p, WW_OP_LOAD, WW_SPACE_GLOBAL, 4, 3, 10);
    uint32_t use = program_inst(p, WW_OP_INT, 4, 3, -1), other = program_inst(p, WW_OP_INT, 5, 5, -1);
    uint32_t wide = program_memory(p, WW_OP_LOAD, WW_SPACE_GLOBAL, 4, 6, 10);
    uint32_t all = program_inst(p, WW_OP_INT, 7, 6, -1);
    uint64_t address[32];
    for (uint32_t i = 0; i < iterations; i++) {
        program_access(p, 0, ahead, ALL, 0x200000 + 128 * i, 4);
        for (uint32_t k = 0; k < between; k++) program_step(p, 0, other, ALL);
        program_access(p, 0, nearer, ALL, 0x300000 + 128 * i, 4);
        program_step(p, 0, other, ALL);
        program_access(p, 0, invariant, ALL, 0x400000, 0);
        program_step(p, 0, use, ALL);
        for (uint32_t k = 0; k < 32; k++) address[k] = 0x500000 + 0x4000 * i + 32 * (5 * k % 32);
        program_list(p, 0, wide, ALL, address); /* no fixed offset; fills the cache */
        program_step(p, 0, all, ALL);
    }
}

static void an_invariant_address_is_prefetched_with_an_earlier_load(void **state) {
    struct ww_gpu_spec g = fetch_gpu();
    struct program p;
    (void)state;
    g.l1_size_kb = 1;
    g.l1_ways = 32;
    invariant_loop(&p, 12, 40);
    fake.latency_ps = 150000;
    struct replay with = run_fetch(&p, &g, "fetch=apogee"),
                  without = run_fetch(&p, &g, "fetch=apogee fetch.tia=false");
    assert_true(with.r.pc[2].counter[WW_I_L1_MISS] + 6 < without.r.pc[2].counter[WW_I_L1_MISS]);
    assert_true(with.r.cycles < without.r.cycles);
    replay_free(&with);
    replay_free(&without);
    program_free(&p);
}

static void a_prefetcher_that_asks_for_nothing_changes_no_cycle(void **state) {
    static const char *const name[] = {"apogee", "stride_warp", "stride_sm", "next_line", "mta"};
    struct ww_gpu_spec g = fetch_gpu();
    struct program p;
    (void)state;
    grid_stride(&p, 4, 12, 6);
    struct replay none = run_fetch(&p, &g, "fetch=none");
    for (size_t i = 0; i < sizeof name / sizeof *name; i++) {
        char mech[64];
        snprintf(mech, sizeof mech, "fetch=%s fetch.send=false", name[i]);
        struct replay r = run_fetch(&p, &g, mech);
        assert_int_equal(r.r.cycles, none.r.cycles);
        assert_int_equal(r.r.counter[WW_C_PREFETCH_ASKED], 0);
        assert_memory_equal(r.r.warp_cycles, none.r.warp_cycles, sizeof none.r.warp_cycles);
        replay_free(&r);
    }
    replay_free(&none);
    program_free(&p);
}

static void the_first_prefetch_is_looked_up_ten_cycles_after_its_load(void **state) {
    struct ww_gpu_spec g = fetch_gpu();
    struct program p;
    (void)state;
    grid_stride(&p, 1, 2, 8); /* the second load comes while its prefetch is under way: it waits for that */
    uint64_t at_10 = count(&p, &g, "fetch=apogee", CYCLES);
    uint64_t at_2 = count(&p, &g, "fetch=apogee fetch.latency=2", CYCLES);
    assert_int_equal(at_10 - at_2, 8);
    program_free(&p);
}

static void a_prefetch_waits_where_no_mshr_is_free(void **state) {
    struct ww_gpu_spec g = fetch_gpu();
    struct program p;
    (void)state;
    grid_stride(&p, 1, 2, 1);
    uint64_t enough = count(&p, &g, "fetch=apogee", CYCLES), none = count(&p, &g, "fetch=none", CYCLES);
    g.l1_mshrs = 4; /* as many as a load takes: prefetches go when its data have come */
    assert_true(count(&p, &g, "fetch=apogee", CYCLES) > enough + LATENCY / 2);
    assert_true(count(&p, &g, "fetch=apogee", CYCLES) >= none);
    assert_int_equal(count(&p, &g, "fetch=apogee", WW_C_PREFETCH_SENT), 8);
    program_free(&p);
}

static void a_full_queue_drops_what_comes(void **state) {
    struct ww_gpu_spec g = fetch_gpu();
    struct program p;
    (void)state;
    grid_stride(&p, 4, 10, 2);
    assert_int_equal(count(&p, &g, "fetch=apogee", WW_C_PREFETCH_DROPPED), 0);
    assert_true(count(&p, &g, "fetch=apogee fetch.queue=2", WW_C_PREFETCH_DROPPED) > 10);
    program_free(&p);
}

static void mta_serves_loads_from_its_own_cache(void **state) {
    struct ww_gpu_spec g = fetch_gpu();
    struct program p;
    (void)state;
    grid_stride(&p, 4, 20, 120);
    struct replay r = run_fetch(&p, &g, "fetch=mta fetch.throttle=false");
    assert_true(r.r.counter[WW_C_PREFETCH_TIMELY] > 4 * 4 * 14);
    assert_true(r.r.counter[WW_C_L1_SECTOR_HIT] >= r.r.counter[WW_C_PREFETCH_TIMELY]);
    assert_int_equal(r.r.counter[WW_C_L1_EVICTION], 0);
    assert_true(r.r.cycles < count(&p, &g, "fetch=none", CYCLES));
    replay_free(&r);
    program_free(&p);
}

static void mta_learns_the_stride_from_warp_to_warp(void **state) {
    struct ww_gpu_spec g = fetch_gpu();
    struct program p;
    (void)state;
    /* each warp loads once only; each one a while after the one before */
    program_init(&p, 1, 32 * 8, 1, STEPS);
    uint32_t load = program_memory(&p, WW_OP_LOAD, WW_SPACE_GLOBAL, 4, 1, 10);
    uint32_t use = program_inst(&p, WW_OP_INT, 1, 1, -1);
    for (uint32_t w = 0; w < 8; w++) {
        for (uint32_t k = 0; k < 20 * w + 1; k++) program_step(&p, w, use, ALL);
        program_access(&p, w, load, ALL, BASE + 0x1000 * w, 4);
        program_step(&p, w, use, ALL);
    }
    struct replay r = run_fetch(&p, &g, "fetch=mta fetch.throttle=false");
    assert_int_equal(r.r.counter[WW_C_PREFETCH_TIMELY] + r.r.counter[WW_C_PREFETCH_LATE], 4 * 5);
    assert_int_equal(r.r.counter[WW_C_PREFETCH_SENT], 4 * 6); /* warps 2 to 7, for 3 to 8 */
    replay_free(&r);
    program_free(&p);
}

static void mta_stops_while_its_lines_are_evicted_unused(void **state) {
    struct ww_gpu_spec g = fetch_gpu();
    struct program p;
    (void)state;
    /* strides that hold for three steps and then jump: what is predicted is never used */
    program_init(&p, 1, 32, 1, STEPS);
    uint32_t load = program_memory(&p, WW_OP_LOAD, WW_SPACE_GLOBAL, 4, 1, 10);
    uint32_t use = program_inst(&p, WW_OP_INT, 1, 1, -1);
    for (uint32_t i = 0; i < 180; i++) {
        program_access(&p, 0, load, ALL, BASE + 0x100000ull * (i / 3) + 0x1000 * (i % 3), 4);
        program_step(&p, 0, use, ALL);
    }
    const char *small = "fetch=mta fetch.cache_kb=1 fetch.period=2000";
    uint64_t free_running =
        count(&p, &g, "fetch=mta fetch.throttle=false fetch.cache_kb=1", WW_C_PREFETCH_SENT);
    uint64_t throttled = count(&p, &g, small, WW_C_PREFETCH_SENT);
    assert_true(free_running > 100);
    assert_true(2 * throttled < free_running);
    program_free(&p);
}

static void two_replays_prefetch_the_same(void **state) {
    static const char *const name[] = {"apogee", "stride_warp", "stride_sm", "next_line", "mta"};
    struct ww_gpu_spec g = fetch_gpu();
    struct program p;
    (void)state;
    grid_stride(&p, 8, 20, 3);
    for (size_t i = 0; i < sizeof name / sizeof *name; i++) {
        char mech[64];
        snprintf(mech, sizeof mech, "fetch=%s", name[i]);
        struct replay a = run_fetch(&p, &g, mech), b = run_fetch(&p, &g, mech);
        assert_int_equal(a.r.cycles, b.r.cycles);
        assert_memory_equal(a.r.counter, b.r.counter, sizeof a.r.counter);
        replay_free(&a);
        replay_free(&b);
    }
    program_free(&p);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_pass_of_figure_5_5_is_predicted_by_all_its_threads),
        cmocka_unit_test(apogee_prefetches_where_the_stride_of_an_sm_looks_random),
        cmocka_unit_test(the_next_line_of_a_warp_is_what_another_warp_has_asked_for),
        cmocka_unit_test(the_distance_grows_until_prefetches_come_in_time),
        cmocka_unit_test(the_distance_stays_where_one_iteration_is_enough),
        cmocka_unit_test(the_distance_shrinks_when_lines_are_replaced_before_their_use),
        cmocka_unit_test(an_invariant_address_is_prefetched_with_an_earlier_load),
        cmocka_unit_test(a_prefetcher_that_asks_for_nothing_changes_no_cycle),
        cmocka_unit_test(the_first_prefetch_is_looked_up_ten_cycles_after_its_load),
        cmocka_unit_test(a_prefetch_waits_where_no_mshr_is_free),
        cmocka_unit_test(a_full_queue_drops_what_comes),
        cmocka_unit_test(mta_serves_loads_from_its_own_cache),
        cmocka_unit_test(mta_learns_the_stride_from_warp_to_warp),
        cmocka_unit_test(mta_stops_while_its_lines_are_evicted_unused),
        cmocka_unit_test(two_replays_prefetch_the_same),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
