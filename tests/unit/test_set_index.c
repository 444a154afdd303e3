/* Index functions and weighted replacement of the SM's caches, against what microbenchmarks found (X. Mei, X.
 * Chu, Dissecting GPU Memory Hierarchy through Microbenchmarking). Data lines are counted from 1, as there. */
#include "../../estimator/core/sm/l1_tags.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

#define FERMI "0x2080,0x4100,0x200,0x400,0x800"

static struct ww_set_index index_of(const char *text, uint32_t line_shift, uint32_t sets) {
    struct ww_set_index index;
    assert_true(ww_set_index_init(&index, text, line_shift, sets));
    return index;
}

static void of_129_lines_the_fermi_l1_has_3_35_68_100_and_129_in_one_set(void **state) {
    (void)state;
    struct ww_set_index x = index_of(FERMI, 7, 32);
    uint32_t found[8], count = 0;
    for (uint32_t line = 1; line <= 129; line++)
        if (ww_set_index_of(&x, line - 1) == ww_set_index_of(&x, 128) && count < 8) found[count++] = line;
    const uint32_t measured[] = {3, 35, 68, 100, 129};
    assert_int_equal(count, 5);
    assert_memory_equal(found, measured, sizeof measured);
}

static void bits_9_to_11_are_the_major_set_of_16_lines(void **state) {
    (void)state;
    struct ww_set_index x = index_of(FERMI, 7, 32);
    uint32_t lines[8] = {0};
    for (uint64_t line = 0; line < 128; line++) {
        uint32_t major = ww_set_index_of(&x, line) >> 2;
        assert_int_equal(major, (line << 7) >> 9 & 7);
        lines[major]++;
    }
    for (int i = 0; i < 8; i++) assert_int_equal(lines[i], 16);
}

/* An array as large as the cache fits it, and a line loaded in order lies in the way of its bits 12 and 13. */
static void lines_loaded_in_order_lie_in_the_way_of_bits_12_and_13(void **state) {
    (void)state;
    const uint32_t weight[4] = {1, 3, 1, 1};
    struct ww_set_index x = index_of(FERMI, 7, 32);
    struct ww_arena arena;
    struct ww_tags t;
    ww_arena_init(&arena, 0);
    assert_true(ww_tags_init(&t, &arena, 32, 4, WW_REPLACE_WEIGHTED, WW_HASH_NONE, 1));
    ww_tags_index(&t, &x);
    ww_tags_weights(&t, weight);
    for (uint64_t line = 0; line < 128; line++) {
        uint32_t at = ww_tags_victim(&t, line);
        assert_false(ww_tags_replace(&t, at, line));
        assert_int_equal(at % 4, (line << 7) >> 12 & 3);
    }
    ww_arena_free(&arena);
}

static void of_384_lines_in_order_each_set_of_48_kib_holds_four(void **state) {
    (void)state;
    struct ww_set_index x = index_of(FERMI, 7, 96);
    uint32_t lines[96] = {0};
    for (uint64_t line = 0; line < 384; line++) {
        uint32_t set = ww_set_index_of(&x, line);
        assert_true(set < 96);
        lines[set]++;
    }
    for (int i = 0; i < 96; i++) assert_int_equal(lines[i], 4);
}

static void the_texture_cache_takes_its_set_from_bits_7_and_8(void **state) {
    (void)state;
    struct ww_set_index x = index_of("0x80,0x100", 5, 4);
    for (uint64_t address = 0; address < 1u << 16; address += 32)
        assert_int_equal(ww_set_index_of(&x, address >> 5), address >> 7 & 3);
}

static void high_address_bits_count_too(void **state) {
    (void)state;
    struct ww_set_index x = index_of("0x1000000080", 7, 2);
    for (int i = 0; i < 4; i++)
        assert_int_equal(ww_set_index_of(&x, ((uint64_t)(i >> 1) << 29) + (uint64_t)(i & 1)),
                         (i >> 1) ^ (i & 1));
}

static void malformed_indices_are_refused(void **state) {
    (void)state;
    struct ww_set_index x;
    const char *const bad[] = {"0x80,",
                               ",0x80",
                               "x80",
                               "0x",
                               "-1",
                               "0x40",
                               "0x80 ,0x100",
                               "0x80,0x100,0x200,0x400,0x800,0x1000",
                               "0",
                               "0x80;1",
                               "99999999999999999999"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) assert_false(ww_set_index_init(&x, bad[i], 7, 32));
    assert_true(ww_set_index_init(&x, "", 7, 32));
    assert_int_equal(x.parts, 0);
    assert_true(ww_set_index_init(&x, "128,256", 7, 32));
}

/* Draws victims of one full set; pinned: bit per way. */
static void draw(const uint32_t weight[4], uint32_t pinned, uint32_t draws, uint64_t seed, uint32_t share[4]) {
    struct ww_arena arena;
    struct ww_tags t;
    ww_arena_init(&arena, 0);
    assert_true(ww_tags_init(&t, &arena, 1, 4, WW_REPLACE_WEIGHTED, WW_HASH_NONE, seed));
    ww_tags_weights(&t, weight);
    for (uint64_t key = 0; key < 4; key++) ww_tags_replace(&t, ww_tags_victim(&t, key), key);
    for (uint32_t i = 0; i < 4; i++) t.line[i].pins = pinned >> i & 1;
    memset(share, 0, 4 * sizeof *share);
    for (uint64_t key = 4; key < 4 + draws; key++) {
        uint32_t way = ww_tags_victim(&t, key);
        assert_true(ww_tags_replace(&t, way, key));
        share[way]++;
    }
    ww_arena_free(&arena);
}

/* Five standard deviations of a binomial count. */
static void share_is(uint32_t count, double p, double n) {
    double off = (double)count - n * p;
    assert_true(off * off <= 25 * n * p * (1 - p));
}

static void ways_are_replaced_by_their_weights(void **state) {
    (void)state;
    const uint32_t weight[4] = {1, 3, 1, 1};
    uint32_t share[4], other[4];
    draw(weight, 0, 60000, 1, share);
    for (int i = 0; i < 4; i++) share_is(share[i], weight[i] / 6.0, 60000);
    draw(weight, 0, 60000, 1, other);
    assert_memory_equal(share, other, sizeof share);
    draw(weight, 0, 60000, 2, other);
    assert_memory_not_equal(share, other, sizeof share);
}

static void a_pinned_way_is_left_out_of_the_draw(void **state) {
    (void)state;
    const uint32_t weight[4] = {1, 3, 1, 1};
    uint32_t share[4];
    draw(weight, 2, 30000, 1, share);
    assert_int_equal(share[1], 0);
    share_is(share[0], 1 / 3.0, 30000);
    draw(weight, 1, 30000, 1, share);
    assert_int_equal(share[0], 0);
    share_is(share[1], 3 / 5.0, 30000);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(of_129_lines_the_fermi_l1_has_3_35_68_100_and_129_in_one_set),
        cmocka_unit_test(bits_9_to_11_are_the_major_set_of_16_lines),
        cmocka_unit_test(lines_loaded_in_order_lie_in_the_way_of_bits_12_and_13),
        cmocka_unit_test(of_384_lines_in_order_each_set_of_48_kib_holds_four),
        cmocka_unit_test(the_texture_cache_takes_its_set_from_bits_7_and_8),
        cmocka_unit_test(high_address_bits_count_too),
        cmocka_unit_test(malformed_indices_are_refused),
        cmocka_unit_test(ways_are_replaced_by_their_weights),
        cmocka_unit_test(a_pinned_way_is_left_out_of_the_draw),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
