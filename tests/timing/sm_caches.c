/* The caches of an SM as loads see them: which loads use which, the texture cache's structure, its limits and
 * its latency, lines that are shorter than requests. */
#include "fake_memory.h"
#include "sm_fixture.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

struct loads {
    struct program p;
    uint32_t plain, fetch, read_only, local, store;
};

/* One warp; each load waits for the one before it. */
static void loads_init(struct loads *l, uint32_t steps) {
    program_init(&l->p, 1, 32, 1, steps);
    l->plain = program_memory(&l->p, WW_OP_LOAD, WW_SPACE_GLOBAL, 4, 1, 1);
    l->fetch = program_memory(&l->p, WW_OP_TEXTURE, WW_SPACE_TEX, 4, 1, 1);
    l->read_only = program_memory(&l->p, WW_OP_LOAD, WW_SPACE_GLOBAL, 4, 1, 1);
    l->p.inst[l->read_only].flags |= WW_INST_READ_ONLY;
    l->local = program_memory(&l->p, WW_OP_LOAD, WW_SPACE_LOCAL, 4, 1, 1);
    l->store = program_memory(&l->p, WW_OP_STORE, WW_SPACE_GLOBAL, 4, -1, 1);
    fake.latency_ps = 200000;
    fake.level = WW_LEVEL_L2;
    fake.most = 0;
}

/* The texture cache of Fermi and Kepler. */
static struct ww_gpu_spec texture_gpu(void) {
    struct ww_gpu_spec g = fixture_gpu();
    g.tex_kb = 12;
    g.tex_line = 32;
    g.tex_ways = 96;
    snprintf(g.tex_index, sizeof g.tex_index, "0x80,0x100");
    g.tex_latency = 50;
    return g;
}

static void expect(const struct replay *r, uint32_t l1_hit, uint32_t l1_miss, uint32_t tex_hit,
                   uint32_t tex_miss) {
    assert_int_equal(r->r.counter[WW_C_L1_SECTOR_HIT], l1_hit);
    assert_int_equal(r->r.counter[WW_C_L1_SECTOR_MISS], l1_miss);
    assert_int_equal(r->r.counter[WW_C_TEX_SECTOR_HIT], tex_hit);
    assert_int_equal(r->r.counter[WW_C_TEX_SECTOR_MISS], tex_miss);
}

/* First a load by `first`, then one by `second`, of one word. */
static struct replay two(struct loads *l, const struct ww_gpu_spec *g, uint32_t first, uint32_t second) {
    program_access(&l->p, 0, first, 1, 4096, 4);
    program_access(&l->p, 0, second, 1, 4096, 4);
    return program_run(&l->p, g);
}

static void a_texture_fetch_leaves_its_line_in_the_texture_cache_alone(void **state) {
    (void)state;
    struct ww_gpu_spec g = texture_gpu();
    struct loads l;
    loads_init(&l, 8);
    struct replay r = two(&l, &g, l.fetch, l.plain);
    expect(&r, 0, 1, 0, 1);
    replay_free(&r);
    r = two(&l, &g, l.fetch, l.plain); /* once more, behind the first two */
    expect(&r, 1, 1, 1, 1);
    replay_free(&r);
    g.tex_kb = 0; /* as Maxwell */
    r = program_run(&l.p, &g);
    expect(&r, 3, 1, 0, 0);
    replay_free(&r);
    program_free(&l.p);
}

static void read_only_loads_use_the_texture_cache_where_the_gpu_says_so(void **state) {
    (void)state;
    struct ww_gpu_spec g = texture_gpu();
    struct loads l;
    g.l1_global_loads = false; /* as Kepler */
    loads_init(&l, 8);
    struct replay r = two(&l, &g, l.read_only, l.read_only);
    expect(&r, 0, 2, 0, 0);
    replay_free(&r);
    g.tex_read_only_loads = true;
    r = program_run(&l.p, &g);
    expect(&r, 0, 0, 1, 1);
    replay_free(&r);
    program_free(&l.p);
}

static void keplers_plain_loads_hit_nowhere_and_local_ones_in_the_l1(void **state) {
    (void)state;
    struct ww_gpu_spec g = texture_gpu();
    struct loads l;
    g.l1_global_loads = false;
    g.tex_read_only_loads = true;
    loads_init(&l, 8);
    struct replay r = two(&l, &g, l.read_only, l.plain);
    expect(&r, 0, 1, 0, 1);
    replay_free(&r);
    program_free(&l.p);
    loads_init(&l, 8);
    program_access(&l.p, 0, l.local, 1, 0, 0);
    program_access(&l.p, 0, l.local, 1, 0, 0);
    r = program_run(&l.p, &g);
    expect(&r, 1, 1, 0, 0);
    replay_free(&r);
    program_free(&l.p);
}

static void textures_are_cached_without_an_l1(void **state) {
    (void)state;
    struct ww_gpu_spec g = texture_gpu();
    struct loads l;
    g.l1_enabled = false;
    loads_init(&l, 8);
    struct replay r = two(&l, &g, l.fetch, l.fetch);
    expect(&r, 0, 0, 1, 1);
    replay_free(&r);
    program_free(&l.p);
}

static void a_texture_hit_takes_the_l1_latency_and_that_of_the_path(void **state) {
    (void)state;
    struct ww_gpu_spec g = texture_gpu();
    struct loads l;
    loads_init(&l, 8);
    program_access(&l.p, 0, l.fetch, 1, 4096, 4);
    program_access(&l.p, 0, l.fetch, 1, 4096, 4);
    uint32_t use = program_inst(&l.p, WW_OP_INT, 2, 1, -1);
    program_step(&l.p, 0, use, 1);
    struct replay r = program_run(&l.p, &g);
    assert_int_equal(stall(&r, use, WW_S_WAIT_L1), 30 + 50 - 1);
    assert_int_equal(stall(&r, l.fetch, WW_S_WAIT_L2), 200 + 30 + 50);
    replay_free(&r);
    g.tex_latency = 51;
    r = program_run(&l.p, &g);
    assert_int_equal(stall(&r, use, WW_S_WAIT_L1), 30 + 51 - 1);
    replay_free(&r);
    program_free(&l.p);
}

/* Misses of a chase through the first `lines` 32-byte lines of an array, `rounds` times after the first. */
static uint64_t chase(const struct ww_gpu_spec *g, uint32_t lines, uint32_t rounds) {
    struct loads l;
    loads_init(&l, lines * (rounds + 1));
    for (uint32_t i = 0; i <= rounds; i++)
        for (uint32_t k = 0; k < lines; k++) program_access(&l.p, 0, l.fetch, 1, (1u << 20) + 32 * k, 4);
    struct replay r = program_run(&l.p, g);
    uint64_t misses = r.r.counter[WW_C_TEX_SECTOR_MISS];
    replay_free(&r);
    program_free(&l.p);
    return misses - lines;
}

static void a_chase_over_the_texture_cache_misses_set_by_set_and_periodically(void **state) {
    (void)state;
    struct ww_gpu_spec g = texture_gpu();
    assert_int_equal(chase(&g, 384, 2), 0);
    /* one to four lines more are in one set, as bits 5 and 6 choose none: all of it misses, in each round */
    assert_int_equal(chase(&g, 385, 3), 3 * 97);
    assert_int_equal(chase(&g, 388, 3), 3 * 100);
    assert_int_equal(chase(&g, 389, 3), 3 * (100 + 97));
    assert_int_equal(chase(&g, 400, 3), 3 * 400);
}

static void a_set_index_of_bits_5_and_6_would_miss_in_another_set_with_each_line(void **state) {
    (void)state;
    struct ww_gpu_spec g = texture_gpu();
    g.tex_index[0] = 0;
    assert_int_equal(chase(&g, 385, 1), 97);
    assert_int_equal(chase(&g, 388, 1), 388);
}

static void a_miss_of_the_texture_cache_fetches_its_32_bytes(void **state) {
    (void)state;
    struct ww_gpu_spec g = texture_gpu();
    struct loads l;
    g.l1_sector = 128;
    loads_init(&l, 8);
    for (uint32_t k = 3; k < 5; k++) program_access(&l.p, 0, l.fetch, 1, 4096 + 32 * k, 4);
    for (uint32_t k = 2; k < 5; k++) program_access(&l.p, 0, l.fetch, 1, 4096 + 32 * k, 4);
    struct replay r = program_run(&l.p, &g);
    expect(&r, 0, 0, 2, 3);
    assert_int_equal(fake.sectors, 3);
    replay_free(&r);
    program_free(&l.p);
}

/* Two fetches of two lines, and one that the third waits behind; nothing waits for a value. */
static struct replay three_fetches(struct ww_gpu_spec *g, uint32_t step) {
    struct loads l;
    loads_init(&l, 8);
    for (int i = 0; i < 3; i++) {
        uint32_t fetch = program_memory(&l.p, WW_OP_TEXTURE, WW_SPACE_TEX, 4, 10 + i, 2);
        program_access(&l.p, 0, fetch, 1, 4096u + step * (unsigned)i, 4);
    }
    struct replay r = program_run(&l.p, g);
    program_free(&l.p);
    return r;
}

static void a_fetch_without_an_mshr_holds_the_lsu(void **state) {
    (void)state;
    struct ww_gpu_spec g = texture_gpu();
    g.l1_mshrs = 1; /* those of the L1 are others */
    struct replay r = three_fetches(&g, 32);
    assert_int_equal(r.r.counter[WW_C_L1_RESERVATION_FAIL], 0);
    replay_free(&r);
    g.tex_mshrs = 2;
    r = three_fetches(&g, 32);
    assert_int_equal(r.r.counter[WW_C_L1_RESERVATION_FAIL], 198);
    replay_free(&r);
}

static void fetches_of_a_line_that_is_on_its_way_merge(void **state) {
    (void)state;
    struct ww_gpu_spec g = texture_gpu();
    struct replay r = three_fetches(&g, 4);
    assert_int_equal(fake.reads, 1);
    assert_int_equal(r.r.counter[WW_C_TEX_SECTOR_MERGED], 2);
    replay_free(&r);
    g.tex_mshr_merge = 2;
    r = three_fetches(&g, 4);
    assert_int_equal(r.r.counter[WW_C_TEX_SECTOR_HIT], 1);
    assert_int_equal(r.r.counter[WW_C_L1_RESERVATION_FAIL], 198);
    replay_free(&r);
}

static void outstanding_fetches_count_as_saturation(void **state) {
    (void)state;
    struct ww_core core = {
        .l1_shape.mshr_high = {10, 10}, .tex_shape.mshr_high = {7, 7}, .queue_high = {10, 10}};
    struct ww_sm sm = {.core = &core};
    sm.tex.used = 7;
    assert_false(ww_l1_saturated(&sm)); /* no texture cache */
    sm.tex.shape = &core.tex_shape;
    assert_true(ww_l1_saturated(&sm));
    sm.tex.used = 6;
    assert_false(ww_l1_saturated(&sm));
}

/* Maxwell: lines of 32 bytes, requests past the L1 of 128. */
static struct ww_gpu_spec short_lines(void) {
    struct ww_gpu_spec g = fixture_gpu();
    g.l1_size_kb = 24;
    g.l1_line = 32;
    g.l1_ways = 192;
    g.lsu_line = 128;
    snprintf(g.l1_index, sizeof g.l1_index, "0x80,0x100");
    return g;
}

static void cached_loads_go_by_lines_and_others_by_requests(void **state) {
    (void)state;
    struct ww_gpu_spec g = short_lines();
    struct loads l;
    loads_init(&l, 8);
    struct replay r;
    program_access(&l.p, 0, l.plain, ALL, 4096, 4);
    r = program_run(&l.p, &g);
    assert_int_equal(fake.reads, 4);
    assert_int_equal(fake.sectors, 4);
    replay_free(&r);
    g.l1_global_loads = false;
    r = program_run(&l.p, &g);
    assert_int_equal(fake.reads, 1);
    assert_int_equal(fake.sectors, 4);
    replay_free(&r);
    program_free(&l.p);
}

static void a_store_evicts_all_lines_that_it_covers(void **state) {
    (void)state;
    struct ww_gpu_spec g = short_lines();
    struct loads l;
    loads_init(&l, 8);
    program_access(&l.p, 0, l.plain, ALL, 4096, 4);
    program_access(&l.p, 0, l.store, 0xffff00, 4096, 4); /* the second and the third 32 bytes */
    program_access(&l.p, 0, l.plain, ALL, 4096, 4);
    struct replay r = program_run(&l.p, &g);
    assert_int_equal(fake.writes, 1);
    assert_int_equal(r.r.counter[WW_C_L1_WRITE_HIT], 2);
    assert_int_equal(r.r.counter[WW_C_L1_SECTOR_HIT], 2);
    assert_int_equal(r.r.counter[WW_C_L1_SECTOR_MISS], 6);
    replay_free(&r);
    program_free(&l.p);
}

static void read_only_loads_use_a_unified_l1_that_plain_ones_do_not(void **state) {
    (void)state;
    struct ww_gpu_spec g = short_lines();
    struct loads l;
    g.l1_global_loads = false;
    loads_init(&l, 8);
    struct replay r = two(&l, &g, l.plain, l.read_only);
    expect(&r, 0, 2, 0, 0);
    replay_free(&r);
    r = two(&l, &g, l.fetch, l.read_only); /* behind the first two */
    expect(&r, 2, 2, 0, 0);
    replay_free(&r);
    program_free(&l.p);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_texture_fetch_leaves_its_line_in_the_texture_cache_alone),
        cmocka_unit_test(read_only_loads_use_the_texture_cache_where_the_gpu_says_so),
        cmocka_unit_test(keplers_plain_loads_hit_nowhere_and_local_ones_in_the_l1),
        cmocka_unit_test(textures_are_cached_without_an_l1),
        cmocka_unit_test(a_texture_hit_takes_the_l1_latency_and_that_of_the_path),
        cmocka_unit_test(a_chase_over_the_texture_cache_misses_set_by_set_and_periodically),
        cmocka_unit_test(a_set_index_of_bits_5_and_6_would_miss_in_another_set_with_each_line),
        cmocka_unit_test(a_miss_of_the_texture_cache_fetches_its_32_bytes),
        cmocka_unit_test(a_fetch_without_an_mshr_holds_the_lsu),
        cmocka_unit_test(fetches_of_a_line_that_is_on_its_way_merge),
        cmocka_unit_test(outstanding_fetches_count_as_saturation),
        cmocka_unit_test(cached_loads_go_by_lines_and_others_by_requests),
        cmocka_unit_test(a_store_evicts_all_lines_that_it_covers),
        cmocka_unit_test(read_only_loads_use_a_unified_l1_that_plain_ones_do_not),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
