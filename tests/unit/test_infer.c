/* The inference of cache structures, on simulated caches whose structure is known. */
#include "../../estimator/base/rng.h"
#include "../../estimator/study/dissect/infer.h"
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

enum { HIT = 10, MISS = 200, MOST_WAYS = 128, MOST_SETS = 64 };
enum policy { LRU, FIFO, WEIGHTED };

/* A cache of which the test says everything. */
struct sim {
    uint64_t line, sector;
    uint32_t sets, ways[MOST_SETS];
    enum policy policy;
    uint32_t weight[MOST_WAYS];
    uint32_t (*set_of)(uint64_t line_number, const struct sim *s);
    struct {
        uint64_t tag, sectors, used;
        bool valid;
    } entry[MOST_SETS][MOST_WAYS];
    uint64_t clock;
    struct ww_rng rng;
};

static uint32_t by_low_bits(uint64_t n, const struct sim *s) {
    return (uint32_t)(n % s->sets);
}
/* 32-byte lines, set by address bits 7 and 8. */
static uint32_t by_bits_7_8(uint64_t n, const struct sim *s) {
    (void)s;
    return (uint32_t)(n >> 2 & 3);
}
/* Address bits 9 to 11 choose one of eight groups; within it the set depends on bits 7 and 8 and on bits 12 up.
 */
static uint32_t by_major_set(uint64_t n, const struct sim *s) {
    (void)s;
    return (uint32_t)((n >> 2 & 7) * 4 + ((n & 3) + (n >> 5)) % 4);
}
/* 17 + 6 x 8 entries: the first 65 pages fill all sets, the next ones go to the sets in turn. */
static uint32_t unequal(uint64_t n, const struct sim *s) {
    (void)s;
    if (n >= 65) return (uint32_t)(n - 65) % 7;
    return n < 56 ? (uint32_t)(n % 7) : 0;
}

static uint32_t victim(struct sim *s, uint32_t set) {
    uint32_t best = 0;
    for (uint32_t w = 0; w < s->ways[set]; w++)
        if (!s->entry[set][w].valid) return w;
    if (s->policy == WEIGHTED) {
        uint32_t total = 0, at;
        for (uint32_t w = 0; w < s->ways[set]; w++) total += s->weight[w];
        at = ww_rng_below(&s->rng, total);
        for (uint32_t w = 0; w < s->ways[set]; at -= s->weight[w++])
            if (at < s->weight[w]) return w;
    }
    for (uint32_t w = 1; w < s->ways[set]; w++)
        if (s->entry[set][w].used < s->entry[set][best].used) best = w;
    return best;
}

static uint32_t load(struct sim *s, uint64_t address) {
    uint64_t n = address / s->line, sector = 1ull << address % s->line / s->sector;
    uint32_t set = s->set_of(n, s), w;
    s->clock++;
    for (w = 0; w < s->ways[set]; w++)
        if (s->entry[set][w].valid && s->entry[set][w].tag == n) break;
    bool found = w < s->ways[set];
    if (!found) {
        w = victim(s, set);
        s->entry[set][w].valid = true;
        s->entry[set][w].tag = n;
        s->entry[set][w].sectors = 0;
        s->entry[set][w].used = s->clock;
    }
    bool hit = found && (s->entry[set][w].sectors & sector);
    s->entry[set][w].sectors |= sector;
    if (s->policy == LRU) s->entry[set][w].used = s->clock;
    return hit ? HIT : MISS;
}

static enum ww_code chase(void *context, const uint64_t *address, size_t count, uint32_t *latency,
                          struct ww_error *error) {
    struct sim *s = context;
    (void)error;
    memset(s->entry, 0, sizeof s->entry);
    for (size_t i = 0; i < count; i++) latency[i] = load(s, address[i]);
    return WW_OK;
}

static struct sim *new_sim(uint64_t line, uint64_t sector, uint32_t sets, uint32_t ways, enum policy policy,
                           uint32_t (*set_of)(uint64_t, const struct sim *)) {
    struct sim *s = calloc(1, sizeof *s);
    assert_non_null(s);
    s->line = line;
    s->sector = sector;
    s->sets = sets;
    for (uint32_t i = 0; i < sets; i++) s->ways[i] = ways;
    s->policy = policy;
    for (uint32_t i = 0; i < MOST_WAYS; i++) s->weight[i] = 1;
    s->set_of = set_of;
    ww_rng_seed(&s->rng, 7);
    return s;
}

static struct ww_arena arena;

static struct ww_infer_cache infer_with(struct sim *s, struct ww_infer_plan plan) {
    struct ww_box box = {s, chase};
    struct ww_infer_cache c;
    struct ww_error error;
    plan.hit_at_most = (HIT + MISS) / 2;
    assert_int_equal(ww_infer(&box, &plan, &arena, &c, &error), WW_OK);
    free(s);
    return c;
}

static struct ww_infer_cache infer(struct sim *s) {
    return infer_with(s, (struct ww_infer_plan){
                             .unit = 4, .smallest = 64, .largest = 1 << 17, .longest_line = 512, .sets = true});
}

static void assert_kind(const struct ww_infer_cache *c, size_t i, uint32_t sets, uint32_t ways) {
    assert_true(i < c->kind_count);
    assert_int_equal(c->kind[i].sets, sets);
    assert_int_equal(c->kind[i].ways, ways);
}

static void a_classical_lru_cache_is_found_exactly(void **state) {
    (void)state;
    struct ww_infer_cache c = infer(new_sim(64, 64, 4, 2, LRU, by_low_bits));
    assert_true(c.found);
    assert_int_equal(c.size, 512);
    assert_int_equal(c.fill, 64);
    assert_int_equal(c.line, 64);
    assert_int_equal(c.sets, 4);
    assert_int_equal(c.kind_count, 1);
    assert_kind(&c, 0, 4, 2);
    assert_int_equal(c.policy, WW_POLICY_LRU);
    assert_int_equal(c.set_bits, 0xc0);
    assert_true(c.set_by_bits);
}

static void fifo_is_told_from_lru(void **state) {
    (void)state;
    struct ww_infer_cache c = infer(new_sim(64, 64, 4, 4, FIFO, by_low_bits));
    assert_int_equal(c.size, 1024);
    assert_int_equal(c.policy, WW_POLICY_FIFO);
}

static void the_texture_caches_sets_by_bits_7_and_8_are_found(void **state) {
    (void)state;
    struct ww_infer_cache c = infer(new_sim(32, 32, 4, 96, LRU, by_bits_7_8));
    assert_int_equal(c.size, 12288);
    assert_int_equal(c.line, 32);
    assert_kind(&c, 0, 4, 96);
    assert_int_equal(c.policy, WW_POLICY_LRU);
    assert_int_equal(c.set_bits, 0x180);
    assert_true(c.set_by_bits);
}

/* The same accesses miss in the texture cache of the test before when whole arrays are walked. */
static void a_line_of_sectors_is_told_from_a_short_line(void **state) {
    (void)state;
    struct ww_infer_cache c = infer(new_sim(128, 32, 4, 24, LRU, by_low_bits));
    assert_int_equal(c.size, 12288);
    assert_int_equal(c.fill, 32);
    assert_int_equal(c.line, 128);
    assert_kind(&c, 0, 4, 24);
    assert_int_equal(c.set_bits, 0x180);
}

static void fermis_l1_with_weighted_ways_and_major_sets_is_found(void **state) {
    (void)state;
    struct sim *s = new_sim(128, 128, 32, 4, WEIGHTED, by_major_set);
    s->weight[1] = 3;
    struct ww_infer_cache c = infer(s);
    assert_int_equal(c.size, 16384);
    assert_int_equal(c.line, 128);
    assert_int_equal(c.sets, 32);
    assert_kind(&c, 0, 32, 4);
    assert_int_equal(c.policy, WW_POLICY_RANDOM);
    assert_int_equal(c.set_bits, 0xe00);
    assert_false(c.set_by_bits);
    assert_int_equal(c.way_bits, 0x3000);
    for (uint32_t w = 0; w < 4; w++) {
        uint32_t k, d;
        assert_true(ww_fraction(c.way[w], c.victims, &k, &d));
        assert_int_equal(k, 1);
        assert_int_equal(d, w == 1 ? 2 : 6);
    }
}

static void equal_ways_are_not_taken_for_weighted_ones(void **state) {
    (void)state;
    struct ww_infer_cache c = infer(new_sim(128, 128, 8, 4, WEIGHTED, by_low_bits));
    assert_int_equal(c.policy, WW_POLICY_RANDOM);
    for (uint32_t w = 0; w < 4; w++) assert_true(fabs(c.way[w] - 0.25) < 0.015);
    assert_int_equal(c.set_bits, 0x380);
    assert_true(c.set_by_bits);
}

static void unequal_sets_are_found_one_by_one(void **state) {
    (void)state;
    enum { MB = 1 << 20 };
    struct sim *s = new_sim(2 * MB, 2 * MB, 7, 8, LRU, unequal);
    s->ways[0] = 17;
    struct ww_infer_cache c = infer_with(
        s, (struct ww_infer_plan){
               .unit = MB / 4, .smallest = MB, .largest = 1024ull * MB, .longest_line = 8 * MB, .sets = true});
    assert_int_equal(c.size, 130ull * MB);
    assert_int_equal(c.line, 2 * MB);
    assert_int_equal(c.sets, 7);
    assert_int_equal(c.kind_count, 2);
    assert_kind(&c, 0, 1, 17);
    assert_kind(&c, 1, 6, 8);
    assert_int_equal(c.grown[0], 17);
    for (int i = 1; i < 7; i++) assert_int_equal(c.grown[i], 8);
    assert_int_equal(c.policy, WW_POLICY_LRU);
}

static void a_fully_associative_structure_is_one_set(void **state) {
    (void)state;
    struct ww_infer_cache c = infer(new_sim(256, 256, 1, 16, WEIGHTED, by_low_bits));
    assert_int_equal(c.size, 4096);
    assert_int_equal(c.line, 256);
    assert_int_equal(c.sets, 1);
    assert_kind(&c, 0, 1, 16);
    assert_int_equal(c.set_bits, 0);
}

/* A TLB behind a small one whose replacement is random: it answers now and then, and the other does not hear of
 * it. */
struct two_levels {
    struct sim *front, *back;
};
static enum ww_code chase_two(void *context, const uint64_t *address, size_t count, uint32_t *latency,
                              struct ww_error *error) {
    struct two_levels *t = context;
    (void)error;
    memset(t->front->entry, 0, sizeof t->front->entry);
    memset(t->back->entry, 0, sizeof t->back->entry);
    for (size_t i = 0; i < count; i++)
        latency[i] = load(t->front, address[i]) == HIT ? HIT : HIT + 10 + load(t->back, address[i]);
    return WW_OK;
}

static void lru_is_found_behind_a_level_of_random_replacement(void **state) {
    (void)state;
    enum { MB = 1 << 20 };
    struct two_levels t = {new_sim(2 * MB, 2 * MB, 1, 16, WEIGHTED, by_low_bits),
                           new_sim(2 * MB, 2 * MB, 7, 8, LRU, unequal)};
    struct ww_box box = {&t, chase_two};
    struct ww_infer_plan plan = {.unit = MB / 4,
                                 .smallest = MB,
                                 .largest = 512ull * MB,
                                 .longest_line = 8 * MB,
                                 .hit_at_most = 2 * HIT + 10,
                                 .sets = true};
    struct ww_infer_cache c;
    struct ww_error error;
    t.back->ways[0] = 17;
    assert_int_equal(ww_infer(&box, &plan, &arena, &c, &error), WW_OK);
    assert_int_equal(c.size, 130ull * MB);
    assert_int_equal(c.line, 2 * MB);
    assert_kind(&c, 0, 1, 17);
    assert_kind(&c, 1, 6, 8);
    assert_int_equal(c.policy, WW_POLICY_LRU);
    free(t.front);
    free(t.back);
}

static void what_never_misses_is_not_found(void **state) {
    (void)state;
    struct ww_infer_cache c = infer_with(
        new_sim(128, 128, 64, 64, LRU, by_low_bits),
        (struct ww_infer_plan){.unit = 4, .smallest = 64, .largest = 65536, .longest_line = 512, .sets = true});
    assert_false(c.found);
}

static void latencies_fall_into_clusters(void **state) {
    (void)state;
    uint32_t latency[400];
    struct ww_cluster cluster[WW_CLUSTERS];
    for (int i = 0; i < 400; i++) latency[i] = i % 4 == 0 ? 198 + (uint32_t)i % 3 : i % 4 == 1 ? 204 : 257;
    assert_int_equal(ww_cluster(latency, 400, 3, cluster), 3);
    assert_int_equal(cluster[0].low, 198);
    assert_int_equal(cluster[0].high, 200);
    assert_int_equal(cluster[1].low, 204);
    assert_int_equal(cluster[2].count, 200);
    assert_int_equal(ww_cluster_between(&cluster[1], &cluster[2]), 230);
}

static void fractions_are_the_simplest_that_fit(void **state) {
    (void)state;
    uint32_t k, d;
    assert_true(ww_fraction(0.1672, 20000, &k, &d));
    assert_true(k == 1 && d == 6);
    assert_true(ww_fraction(0.5, 100, &k, &d));
    assert_true(k == 1 && d == 2);
    assert_false(ww_fraction(0.4721, 100000000, &k, &d));
}

static int start(void **state) {
    (void)state;
    ww_arena_init(&arena, 0);
    return 0;
}
static int stop(void **state) {
    (void)state;
    ww_arena_free(&arena);
    return 0;
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_classical_lru_cache_is_found_exactly),
        cmocka_unit_test(fifo_is_told_from_lru),
        cmocka_unit_test(the_texture_caches_sets_by_bits_7_and_8_are_found),
        cmocka_unit_test(a_line_of_sectors_is_told_from_a_short_line),
        cmocka_unit_test(fermis_l1_with_weighted_ways_and_major_sets_is_found),
        cmocka_unit_test(equal_ways_are_not_taken_for_weighted_ones),
        cmocka_unit_test(unequal_sets_are_found_one_by_one),
        cmocka_unit_test(a_fully_associative_structure_is_one_set),
        cmocka_unit_test(lru_is_found_behind_a_level_of_random_replacement),
        cmocka_unit_test(what_never_misses_is_not_found),
        cmocka_unit_test(latencies_fall_into_clusters),
        cmocka_unit_test(fractions_are_the_simplest_that_fit),
    };
    return cmocka_run_group_tests(tests, start, stop);
}
