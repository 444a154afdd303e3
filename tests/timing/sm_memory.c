/* Global memory as an SM sees it: L1 latency, misses, merging, limits, write-through, fences. */
#include "fake_memory.h"
#include "sm_fixture.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

struct load_use {
    struct program p;
    uint32_t load[4], use[4];
};

/* Four loads, each followed by the use of its value. */
static void load_use_init(struct load_use *l, uint32_t threads) {
    program_init(&l->p, 1, threads, 1, 32);
    for (int i = 0; i < 4; i++) {
        l->load[i] = program_memory(&l->p, WW_OP_LOAD, WW_SPACE_GLOBAL, 4, 10 + i, 2);
        l->use[i] = program_inst(&l->p, WW_OP_INT, 20 + i, 10 + i, -1);
    }
}

static void reset(void) {
    fake.latency_ps = 200000;
    fake.level = WW_LEVEL_L2;
    fake.most = 0;
}

static void a_hit_takes_exactly_the_l1_latency(void **state) {
    (void)state;
    struct ww_gpu_spec g = fixture_gpu();
    struct load_use l;
    reset();
    load_use_init(&l, 32);
    for (int i = 0; i < 2; i++) {
        program_access(&l.p, 0, l.load[i], ALL, 4096, 4);
        program_step(&l.p, 0, l.use[i], ALL);
    }
    struct replay r = program_run(&l.p, &g);
    assert_int_equal(stall(&r, l.use[1], WW_S_WAIT_L1), 30 - 1);
    assert_int_equal(r.r.counter[WW_C_L1_SECTOR_HIT], 4);
    assert_int_equal(r.r.counter[WW_C_L1_SECTOR_MISS], 4);
    replay_free(&r);
    g.lsu_latency = 7;
    r = program_run(&l.p, &g);
    assert_int_equal(stall(&r, l.use[1], WW_S_WAIT_L1), 37 - 1);
    replay_free(&r);
    program_free(&l.p);
}

static void a_miss_takes_the_l1_latency_and_the_way_to_memory_and_back(void **state) {
    (void)state;
    struct ww_gpu_spec g = fixture_gpu();
    struct load_use l;
    reset();
    load_use_init(&l, 32);
    program_access(&l.p, 0, l.load[0], ALL, 4096, 4);
    program_step(&l.p, 0, l.use[0], ALL);
    struct replay r = program_run(&l.p, &g);
    assert_int_equal(stall(&r, l.use[0], WW_S_WAIT_L2), 30 + 200);
    replay_free(&r);
    fake.level = WW_LEVEL_DRAM;
    r = program_run(&l.p, &g);
    assert_int_equal(stall(&r, l.use[0], WW_S_WAIT_DRAM), 30 + 200);
    assert_int_equal(r.r.pc[l.load[0]].counter[WW_I_L2_MISS], 4);
    replay_free(&r);
    program_free(&l.p);
}

static void a_second_miss_on_a_line_joins_the_first(void **state) {
    (void)state;
    struct ww_gpu_spec g = fixture_gpu();
    struct load_use l;
    reset();
    load_use_init(&l, 32);
    program_access(&l.p, 0, l.load[0], ALL, 4096, 4);
    program_access(&l.p, 0, l.load[1], ALL, 4096, 4);
    program_step(&l.p, 0, l.use[1], ALL);
    struct replay r = program_run(&l.p, &g);
    assert_int_equal(fake.reads, 1);
    assert_int_equal(r.r.counter[WW_C_L1_SECTOR_MERGED], 4);
    assert_int_equal(stall(&r, l.use[1], WW_S_WAIT_L2), 30 + 200 - 1);
    replay_free(&r);
    program_free(&l.p);
}

static void only_missing_sectors_of_a_line_are_fetched(void **state) {
    (void)state;
    struct ww_gpu_spec g = fixture_gpu();
    struct load_use l;
    reset();
    load_use_init(&l, 32);
    program_access(&l.p, 0, l.load[0], 0xff, 4096, 4);
    program_step(&l.p, 0, l.use[0], ALL);
    program_access(&l.p, 0, l.load[1], ALL, 4096, 4);
    struct replay r = program_run(&l.p, &g);
    assert_int_equal(fake.sectors, 4);
    assert_int_equal(r.r.counter[WW_C_L1_SECTOR_HIT], 1);
    assert_int_equal(r.r.counter[WW_C_L1_SECTOR_MISS], 4);
    replay_free(&r);
    program_free(&l.p);
}

/* Three loads of three lines, and then a shared-memory load behind them in the LSU. */
static struct replay three_lines(struct ww_gpu_spec *g) {
    struct load_use l;
    load_use_init(&l, 32);
    for (int i = 0; i < 3; i++) program_access(&l.p, 0, l.load[i], ALL, 4096u + 128u * (unsigned)i, 4);
    struct replay r = program_run(&l.p, g);
    program_free(&l.p);
    return r;
}

static void a_request_without_an_mshr_holds_the_lsu(void **state) {
    (void)state;
    struct ww_gpu_spec g = fixture_gpu();
    reset();
    struct replay r = three_lines(&g);
    assert_int_equal(r.r.counter[WW_C_LSU_STALL_CYCLES], 0);
    replay_free(&r);
    g.l1_mshrs = 2;
    r = three_lines(&g);
    /* requests leave in cycles 1 and 2; the third is refused from 3 to the first answer in 201 */
    assert_int_equal(r.r.counter[WW_C_LSU_STALL_CYCLES], 198);
    assert_int_equal(r.r.counter[WW_C_L1_RESERVATION_FAIL], 198);
    assert_int_equal(fake.reads, 3);
    replay_free(&r);
}

static void what_is_behind_a_held_request_waits(void **state) {
    (void)state;
    struct ww_gpu_spec g = fixture_gpu();
    struct load_use l;
    reset();
    g.l1_mshrs = 1;
    load_use_init(&l, 32);
    uint32_t shared = program_memory(&l.p, WW_OP_LOAD, WW_SPACE_SHARED, 4, 30, 2);
    uint32_t use = program_inst(&l.p, WW_OP_INT, 31, 30, -1);
    for (int i = 0; i < 2; i++) program_access(&l.p, 0, l.load[i], ALL, 4096u + 128u * (unsigned)i, 4);
    program_access(&l.p, 0, shared, ALL, 0, 4);
    program_step(&l.p, 0, use, ALL);
    struct replay r = program_run(&l.p, &g);
    assert_true(stall(&r, use, WW_S_WAIT_SHARED) > 200);
    replay_free(&r);
    program_free(&l.p);
}

static void an_mshr_merges_so_many_requests_and_no_more(void **state) {
    (void)state;
    struct ww_gpu_spec g = fixture_gpu();
    struct load_use l;
    reset();
    g.l1_mshr_merge = 2;
    load_use_init(&l, 32);
    for (int i = 0; i < 3; i++) program_access(&l.p, 0, l.load[i], ALL, 4096, 4);
    struct replay r = program_run(&l.p, &g);
    assert_int_equal(r.r.counter[WW_C_LSU_STALL_CYCLES], 198);
    assert_int_equal(r.r.counter[WW_C_L1_SECTOR_HIT], 4); /* the third finds the line filled */
    replay_free(&r);
    program_free(&l.p);
}

static void a_full_miss_queue_holds_the_lsu(void **state) {
    (void)state;
    struct ww_gpu_spec g = fixture_gpu();
    reset();
    fake.most = 1;
    g.l1_miss_queue = 1;
    struct replay r = three_lines(&g);
    assert_true(fake.refused > 0);
    /* 1: sent; 2: queued; 3: held until the queue has moved, at the end of 201 */
    assert_int_equal(r.r.counter[WW_C_LSU_STALL_CYCLES], 199);
    replay_free(&r);
    reset();
}

static uint64_t stall_of_two_places(uint32_t spare) {
    struct ww_gpu_spec g = fixture_gpu();
    reset();
    fake.most = 1;
    g.l1_miss_queue = 2;
    g.l1_read_spare = spare;
    struct replay r = three_lines(&g);
    uint64_t stall = r.r.counter[WW_C_LSU_STALL_CYCLES];
    replay_free(&r);
    reset();
    return stall;
}

/* 1: sent; 2 and 3: queued; or 3 held as by a queue of one place. */
static void a_load_leaves_places_of_the_miss_queue_free(void **state) {
    (void)state;
    assert_int_equal(stall_of_two_places(0), 0);
    assert_int_equal(stall_of_two_places(1), 199);
}

static void a_set_whose_lines_are_all_reserved_holds_the_lsu(void **state) {
    (void)state;
    struct ww_gpu_spec g = fixture_gpu();
    reset();
    g.l1_size_kb = 1; /* 8 lines: 4 sets of 2 ways */
    g.l1_ways = 2;
    g.l1_hash = WW_HASH_NONE;
    struct load_use l;
    load_use_init(&l, 32);
    for (int i = 0; i < 3; i++) program_access(&l.p, 0, l.load[i], ALL, 4096u + 512u * (unsigned)i, 4);
    struct replay r = program_run(&l.p, &g);
    assert_int_equal(r.r.counter[WW_C_L1_RESERVATION_FAIL], 198);
    replay_free(&r);
    program_free(&l.p);
}

static void a_full_lsu_queue_shows_as_excess_memory(void **state) {
    (void)state;
    struct ww_gpu_spec g = fixture_gpu();
    struct load_use l;
    reset();
    g.l1_mshrs = 1;
    g.lsu_queue = 1;
    load_use_init(&l, 32);
    for (int i = 0; i < 3; i++) program_access(&l.p, 0, l.load[i], ALL, 4096u + 128u * (unsigned)i, 4);
    struct replay r = program_run(&l.p, &g);
    assert_true(stall(&r, l.load[2], WW_S_EXCESS_MEM) > 190);
    assert_true(r.r.slot[WW_SLOT_EXCESS_MEM] > 190);
    replay_free(&r);
    program_free(&l.p);
}

static void a_load_that_bypasses_the_l1_leaves_no_line(void **state) {
    (void)state;
    struct ww_gpu_spec g = fixture_gpu();
    struct load_use l;
    reset();
    load_use_init(&l, 32);
    l.p.inst[l.load[0]].flags |= WW_INST_BYPASS_L1;
    program_access(&l.p, 0, l.load[0], ALL, 4096, 4);
    program_step(&l.p, 0, l.use[0], ALL);
    program_access(&l.p, 0, l.load[1], ALL, 4096, 4);
    struct replay r = program_run(&l.p, &g);
    assert_int_equal(fake.reads, 2);
    assert_int_equal(r.r.counter[WW_C_L1_ACCESS], 1);
    assert_int_equal(r.r.counter[WW_C_L1_SECTOR_MISS], 8);
    replay_free(&r);
    g.l1_global_loads = false;
    r = program_run(&l.p, &g);
    assert_int_equal(r.r.counter[WW_C_L1_ACCESS], 0);
    replay_free(&r);
    program_free(&l.p);
}

static void a_store_is_written_through_and_evicts_its_line(void **state) {
    (void)state;
    struct ww_gpu_spec g = fixture_gpu();
    struct load_use l;
    reset();
    load_use_init(&l, 32);
    uint32_t store = program_memory(&l.p, WW_OP_STORE, WW_SPACE_GLOBAL, 4, -1, 2);
    program_access(&l.p, 0, l.load[0], ALL, 4096, 4);
    program_step(&l.p, 0, l.use[0], ALL);
    program_access(&l.p, 0, store, ALL, 4096, 4);
    program_access(&l.p, 0, l.load[1], ALL, 4096, 4);
    struct replay r = program_run(&l.p, &g);
    assert_int_equal(fake.writes, 1);
    assert_int_equal(fake.write_bytes, 128);
    assert_int_equal(r.r.counter[WW_C_L1_WRITE_HIT], 4);
    assert_int_equal(r.r.counter[WW_C_L1_WRITE_MISS], 0);
    assert_int_equal(r.r.counter[WW_C_L1_SECTOR_HIT], 0);
    replay_free(&r);
    g.l1_write = WW_L1_UPDATE;
    r = program_run(&l.p, &g);
    assert_int_equal(r.r.counter[WW_C_L1_SECTOR_HIT], 4);
    replay_free(&r);
    program_free(&l.p);
}

static void atomics_go_to_the_l2_with_the_updates_that_follow_one_another(void **state) {
    (void)state;
    struct ww_gpu_spec g = fixture_gpu();
    struct load_use l;
    reset();
    load_use_init(&l, 32);
    uint32_t atomic = program_memory(&l.p, WW_OP_ATOMIC, WW_SPACE_GLOBAL, 4, 10, 2);
    uint32_t reduce = program_memory(&l.p, WW_OP_REDUCE, WW_SPACE_GLOBAL, 4, -1, 2);
    program_access(&l.p, 0, reduce, ALL, 4096, 0);
    program_access(&l.p, 0, atomic, ALL, 4096, 4);
    program_step(&l.p, 0, l.use[0], ALL);
    struct replay r = program_run(&l.p, &g);
    assert_int_equal(fake.atomics, 2);
    assert_int_equal(fake.updates, 32 + 4);
    assert_int_equal(r.r.counter[WW_C_L1_SECTOR_MISS], 0);
    assert_int_equal(stall(&r, l.use[0], WW_S_WAIT_L2), 200 + 30);
    replay_free(&r);
    program_free(&l.p);
}

static void a_fence_waits_for_the_acknowledgement_of_stores(void **state) {
    (void)state;
    struct ww_gpu_spec g = fixture_gpu();
    struct load_use l;
    reset();
    load_use_init(&l, 32);
    uint32_t store = program_memory(&l.p, WW_OP_STORE, WW_SPACE_GLOBAL, 4, -1, 2);
    uint32_t fence = program_inst(&l.p, WW_OP_FENCE, -1, -1, -1);
    program_access(&l.p, 0, store, ALL, 4096, 4);
    program_step(&l.p, 0, fence, ALL);
    program_step(&l.p, 0, l.use[3], ALL);
    struct replay r = program_run(&l.p, &g);
    /* sent in cycle 1, acknowledged in 201; the fence issued in cycle 1 */
    assert_int_equal(stall(&r, fence, WW_S_MEMBAR), 199);
    replay_free(&r);
    program_free(&l.p);
}

static void an_asynchronous_copy_is_waited_for_where_the_program_says(void **state) {
    (void)state;
    struct ww_gpu_spec g = fixture_gpu();
    struct load_use l;
    reset();
    load_use_init(&l, 32);
    uint32_t copy = program_memory(&l.p, WW_OP_ASYNC_COPY, WW_SPACE_GLOBAL, 4, -1, 2);
    uint32_t wait = program_inst(&l.p, WW_OP_ASYNC_WAIT, -1, -1, -1);
    program_access(&l.p, 0, copy, ALL, 4096, 4);
    program_access(&l.p, 0, copy, ALL, 8192, 4);
    program_step(&l.p, 0, l.use[0], ALL);
    program_step(&l.p, 0, wait, ALL);
    struct replay r = program_run(&l.p, &g);
    assert_int_equal(stall(&r, l.use[0], WW_S_WAIT_L2), 0);
    assert_int_equal(stall(&r, wait, WW_S_WAIT_L2), 2 + 200 + 30 - 3);
    replay_free(&r);
    program_free(&l.p);
}

static void a_texture_fetch_takes_its_own_latency_on_top(void **state) {
    (void)state;
    struct ww_gpu_spec g = fixture_gpu();
    struct load_use l;
    reset();
    load_use_init(&l, 32);
    uint32_t fetch = program_memory(&l.p, WW_OP_TEXTURE, WW_SPACE_TEX, 4, 11, 2);
    g.tex_latency = 50;
    program_access(&l.p, 0, l.load[0], ALL, 4096, 4);
    program_step(&l.p, 0, l.use[0], ALL);
    program_access(&l.p, 0, fetch, ALL, 4096, 4);
    program_step(&l.p, 0, l.use[1], ALL);
    struct replay r = program_run(&l.p, &g);
    assert_int_equal(stall(&r, l.use[1], WW_S_WAIT_L1), 80 - 1);
    replay_free(&r);
    program_free(&l.p);
}

static void scattered_lanes_take_a_request_each(void **state) {
    (void)state;
    struct ww_gpu_spec g = fixture_gpu();
    struct load_use l;
    reset();
    load_use_init(&l, 32);
    program_access(&l.p, 0, l.load[0], ALL, 4096, 128);
    program_step(&l.p, 0, l.use[0], ALL);
    struct replay r = program_run(&l.p, &g);
    assert_int_equal(fake.reads, 32);
    /* the last of 32 requests leaves in cycle 32 */
    assert_int_equal(stall(&r, l.use[0], WW_S_WAIT_L2), 31 + 200 + 30);
    replay_free(&r);
    program_free(&l.p);
}

static void lanes_of_local_memory_at_one_offset_share_a_line(void **state) {
    (void)state;
    struct ww_gpu_spec g = fixture_gpu();
    struct load_use l;
    reset();
    load_use_init(&l, 32);
    uint32_t local = program_memory(&l.p, WW_OP_LOAD, WW_SPACE_LOCAL, 8, 10, 2);
    program_access(&l.p, 0, local, ALL, 16, 0);
    struct replay r = program_run(&l.p, &g);
    assert_int_equal(fake.reads, 2); /* two words, a row of 128 bytes each */
    assert_int_equal(fake.sectors, 8);
    replay_free(&r);
    program_free(&l.p);
}

static void the_data_port_returns_so_many_bytes_a_cycle(void **state) {
    (void)state;
    struct ww_gpu_spec g = fixture_gpu();
    struct load_use l;
    reset();
    g.l1_bytes_per_cycle = 32;
    load_use_init(&l, 32);
    program_access(&l.p, 0, l.load[0], ALL, 4096, 4);
    program_step(&l.p, 0, l.use[0], ALL);
    program_access(&l.p, 0, l.load[1], ALL, 4096, 4);
    program_step(&l.p, 0, l.use[1], ALL);
    struct replay r = program_run(&l.p, &g);
    assert_int_equal(stall(&r, l.use[1], WW_S_WAIT_L1), 30 - 1 + 3);
    replay_free(&r);
    g.l1_sector = 128; /* what is not asked for does not pass the port */
    l.p.step[2].mask = 0xff;
    r = program_run(&l.p, &g);
    assert_int_equal(stall(&r, l.use[1], WW_S_WAIT_L1), 30 - 1);
    replay_free(&r);
    program_free(&l.p);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_hit_takes_exactly_the_l1_latency),
        cmocka_unit_test(a_miss_takes_the_l1_latency_and_the_way_to_memory_and_back),
        cmocka_unit_test(a_second_miss_on_a_line_joins_the_first),
        cmocka_unit_test(only_missing_sectors_of_a_line_are_fetched),
        cmocka_unit_test(a_request_without_an_mshr_holds_the_lsu),
        cmocka_unit_test(what_is_behind_a_held_request_waits),
        cmocka_unit_test(an_mshr_merges_so_many_requests_and_no_more),
        cmocka_unit_test(a_full_miss_queue_holds_the_lsu),
        cmocka_unit_test(a_load_leaves_places_of_the_miss_queue_free),
        cmocka_unit_test(a_set_whose_lines_are_all_reserved_holds_the_lsu),
        cmocka_unit_test(a_full_lsu_queue_shows_as_excess_memory),
        cmocka_unit_test(a_load_that_bypasses_the_l1_leaves_no_line),
        cmocka_unit_test(a_store_is_written_through_and_evicts_its_line),
        cmocka_unit_test(atomics_go_to_the_l2_with_the_updates_that_follow_one_another),
        cmocka_unit_test(a_fence_waits_for_the_acknowledgement_of_stores),
        cmocka_unit_test(an_asynchronous_copy_is_waited_for_where_the_program_says),
        cmocka_unit_test(a_texture_fetch_takes_its_own_latency_on_top),
        cmocka_unit_test(scattered_lanes_take_a_request_each),
        cmocka_unit_test(lanes_of_local_memory_at_one_offset_share_a_line),
        cmocka_unit_test(the_data_port_returns_so_many_bytes_a_cycle),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
