/* The L2's tag array against a slow one. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "../../estimator/base/rng.h"
#include "../../estimator/core/memory/l2_tags.h"
#include <string.h>

enum { SETS = 4, MANY = 70 };

/* Each set as a list, most recent first. */
struct slow {
    uint64_t number[SETS][MANY];
    uint32_t count[SETS], ways;
};

/* Looks the line up and makes it, if it is new or hits count, the first of its set; true on a hit. */
static bool slow_use(struct slow *s, uint64_t number, bool lru) {
    uint64_t *list = s->number[number % SETS];
    uint32_t *count = &s->count[number % SETS], at = 0;
    while (at < *count && list[at] != number) at++;
    bool hit = at < *count;
    if (hit && !lru) return true;
    if (!hit) at = *count < s->ways ? (*count)++ : s->ways - 1;
    memmove(&list[1], list, at * sizeof *list);
    list[0] = number;
    return hit;
}

/* Sets of so many ways, whose lines are used at random. */
static void same_hits(uint32_t ways, uint32_t replace) {
    struct ww_gpu_spec gpu = {.l2_size_kb = SETS * ways,
                              .l2_slices = 1,
                              .l2_line = 1024,
                              .l2_ways = ways,
                              .l2_replace = (uint8_t)replace,
                              .l2_hash = WW_HASH_NONE};
    struct ww_arena arena;
    struct ww_l2_tags t;
    struct slow slow = {.ways = ways};
    struct ww_rng r;
    ww_rng_seed(&r, 7);
    ww_arena_init(&arena, 0);
    assert_true(ww_l2_tags_init(&t, &gpu, &arena, 0, 1));
    assert_int_equal(t.sets, SETS);
    for (uint32_t i = 0; i < 20000; i++) {
        uint64_t number = ww_rng_below(&r, SETS * (ways + ways / 2 + 1));
        uint32_t set = ww_l2_tags_set(&t, number), index = ww_l2_tags_find(&t, set, number);
        assert_int_equal(index != WW_NONE, slow_use(&slow, number, replace == WW_L2_LRU));
        if (index == WW_NONE) {
            index = ww_l2_tags_victim(&t, set);
            ww_l2_tags_install(&t, set, index, number);
        }
        ww_l2_tags_touch(&t, set, index);
    }
    ww_arena_free(&arena);
}

/* Ways that fill a part of a word, words, and so many that a list takes their place. */
static const uint32_t some[] = {1, 2, 3, 8, 9, 16, 20, 24, 63, 64, 65, MANY};

static void the_least_recently_used_line_is_replaced(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof some / sizeof *some; i++) same_hits(some[i], WW_L2_LRU);
}

static void first_in_first_out_ignores_hits(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof some / sizeof *some; i++) same_hits(some[i], WW_L2_FIFO);
}

/* From the oldest way on, the ways are those of the lines in the order of their use. */
static void newer_ways_follow_in_order(uint32_t ways) {
    struct ww_gpu_spec gpu = {
        .l2_size_kb = ways, .l2_slices = 1, .l2_line = 1024, .l2_ways = ways, .l2_hash = WW_HASH_NONE};
    struct ww_arena arena;
    struct ww_l2_tags t;
    ww_arena_init(&arena, 0);
    assert_true(ww_l2_tags_init(&t, &gpu, &arena, 0, 1));
    for (uint64_t n = 0; n < ways; n++) ww_l2_tags_install(&t, 0, ww_l2_tags_victim(&t, 0), n);
    for (uint64_t n = ways; n-- > 0;) ww_l2_tags_touch(&t, 0, ww_l2_tags_find(&t, 0, n));
    uint32_t way = ww_l2_tags_oldest(&t, 0);
    for (uint32_t n = ways; n-- > 0; way = ww_l2_tags_newer(&t, 0, way))
        assert_int_equal(t.line[way].number, n);
    assert_true(way == WW_NONE);
    ww_arena_free(&arena);
}

static void the_order_of_use_can_be_followed(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof some / sizeof *some; i++) newer_ways_follow_in_order(some[i]);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_least_recently_used_line_is_replaced),
        cmocka_unit_test(first_in_first_out_ignores_hits),
        cmocka_unit_test(the_order_of_use_can_be_followed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
