/* The SM's tag array against a slow one, and its timing wheel. */
#include "../../estimator/base/rng.h"
#include "../../estimator/core/sm/l1_tags.h"
#include "../../estimator/core/sm/sm_wheel.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

enum { SETS = 4, WAYS = 3, KEYS = 40 };

/* Each set as a list, most recent first. */
struct slow {
    uint64_t key[SETS][WAYS];
    uint32_t count[SETS];
};

static int slow_find(const struct slow *s, uint64_t key) {
    uint32_t set = key % SETS;
    for (uint32_t i = 0; i < s->count[set]; i++)
        if (s->key[set][i] == key) return (int)i;
    return -1;
}

/* Looks the key up and makes it the most recent of its set; true on a hit. */
static bool slow_use(struct slow *s, uint64_t key, bool lru) {
    uint32_t set = key % SETS;
    int at = slow_find(s, key);
    if (at >= 0 && !lru) return true;
    if (at < 0) {
        at = (int)(s->count[set] < WAYS ? s->count[set]++ : WAYS - 1);
        memmove(&s->key[set][1], &s->key[set][0], (size_t)at * sizeof(uint64_t));
        s->key[set][0] = key;
        return false;
    }
    memmove(&s->key[set][1], &s->key[set][0], (size_t)at * sizeof(uint64_t));
    s->key[set][0] = key;
    return true;
}

static void same_hits(uint32_t replace) {
    struct ww_arena arena;
    struct ww_tags t;
    struct slow slow;
    struct ww_rng r;
    memset(&slow, 0, sizeof slow);
    ww_rng_seed(&r, 7);
    ww_arena_init(&arena, 0);
    assert_true(ww_tags_init(&t, &arena, SETS, WAYS, replace, WW_HASH_NONE, 1));
    for (int i = 0; i < 50000; i++) {
        uint64_t key = ww_rng_below(&r, KEYS);
        uint32_t line = ww_tags_find(&t, key);
        assert_int_equal(line != WW_NO_LINE, slow_use(&slow, key, replace == WW_REPLACE_LRU));
        if (line != WW_NO_LINE)
            ww_tags_touch(&t, line);
        else
            ww_tags_replace(&t, ww_tags_victim(&t, key), key);
    }
    ww_arena_free(&arena);
}

static void the_least_recently_used_line_is_replaced(void **state) {
    (void)state;
    same_hits(WW_REPLACE_LRU);
}

static void first_in_first_out_ignores_hits(void **state) {
    (void)state;
    same_hits(WW_REPLACE_FIFO);
}

static void a_pinned_line_is_no_victim(void **state) {
    (void)state;
    struct ww_arena arena;
    struct ww_tags t;
    ww_arena_init(&arena, 0);
    assert_true(ww_tags_init(&t, &arena, 1, 2, WW_REPLACE_RANDOM, WW_HASH_NONE, 1));
    uint32_t a = ww_tags_victim(&t, 1);
    ww_tags_replace(&t, a, 1);
    t.line[a].pins = 1;
    for (uint64_t key = 2; key < 50; key++) {
        uint32_t b = ww_tags_victim(&t, key);
        assert_int_not_equal(b, a);
        ww_tags_replace(&t, b, key);
    }
    t.line[0].pins = t.line[1].pins = 1;
    assert_int_equal(ww_tags_victim(&t, 99), WW_NO_LINE);
    ww_arena_free(&arena);
}

static void a_dropped_line_is_gone_and_the_next_victim(void **state) {
    (void)state;
    struct ww_arena arena;
    struct ww_tags t;
    ww_arena_init(&arena, 0);
    assert_true(ww_tags_init(&t, &arena, 1, 4, WW_REPLACE_LRU, WW_HASH_XOR, 1));
    for (uint64_t key = 1; key <= 4; key++) ww_tags_replace(&t, ww_tags_victim(&t, key), key);
    uint32_t line = ww_tags_find(&t, 3);
    ww_tags_drop(&t, line);
    assert_int_equal(ww_tags_find(&t, 3), WW_NO_LINE);
    assert_int_equal(ww_tags_victim(&t, 9), line);
    assert_false(ww_tags_replace(&t, line, 9));
    assert_int_not_equal(ww_tags_find(&t, 1), WW_NO_LINE);
    ww_arena_free(&arena);
}

static void the_wheel_gives_the_first_cycle_that_is_set(void **state) {
    (void)state;
    static struct ww_wheel w;
    for (uint64_t base = 0; base < 600; base += 7)
        for (uint32_t distance = 1; distance <= WW_WHEEL_SPAN; distance++) {
            assert_true(ww_wheel_next(&w, base) == WW_NEVER);
            ww_wheel_set(&w, base + distance, 5);
            if (distance < WW_WHEEL_SPAN) ww_wheel_set(&w, base + WW_WHEEL_SPAN, 63);
            assert_true(ww_wheel_next(&w, base) == base + distance);
            assert_true(ww_wheel_take(&w, base + distance) == 1ull << 5);
            if (distance < WW_WHEEL_SPAN) ww_wheel_clear(&w, base + WW_WHEEL_SPAN, 63);
        }
}

/* Many more keys of one bucket of the hash table than it has places, and some of the bucket behind it. */
static void keys_of_one_bucket_are_found_until_they_are_replaced_or_dropped(void **state) {
    (void)state;
    enum { LINES = 32, POOL = 48 };
    struct ww_arena arena;
    struct ww_tags t;
    struct ww_rng r;
    uint64_t pool[POOL], key = 0;
    int64_t holds[LINES]; /* index in the pool, -1: none */
    ww_rng_seed(&r, 11);
    ww_arena_init(&arena, 0);
    assert_true(ww_tags_init(&t, &arena, 1, LINES, WW_REPLACE_LRU, WW_HASH_NONE, 1));
    assert_non_null(t.bucket);
    for (uint32_t n = 0; n < POOL; n++, key++) {
        while (ww_tags_home(&t, ww_tags_hash(key)) != t.bucket_mask * (n % 4 != 3)) key++;
        pool[n] = key;
    }
    for (uint32_t i = 0; i < LINES; i++) holds[i] = -1;
    for (int step = 0; step < 20000; step++) {
        uint32_t n = ww_rng_below(&r, POOL), line = ww_tags_find(&t, pool[n]), held = WW_NO_LINE;
        for (uint32_t i = 0; i < LINES; i++)
            if (holds[i] == n) held = i;
        assert_int_equal(line, held);
        if (line == WW_NO_LINE) {
            line = ww_tags_victim(&t, pool[n]);
            ww_tags_replace(&t, line, pool[n]);
            holds[line] = n;
        } else if (step % 3) {
            ww_tags_drop(&t, line);
            holds[line] = -1;
        }
    }
    ww_arena_free(&arena);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_least_recently_used_line_is_replaced),
        cmocka_unit_test(first_in_first_out_ignores_hits),
        cmocka_unit_test(a_pinned_line_is_no_victim),
        cmocka_unit_test(a_dropped_line_is_gone_and_the_next_victim),
        cmocka_unit_test(keys_of_one_bucket_are_found_until_they_are_replaced_or_dropped),
        cmocka_unit_test(the_wheel_gives_the_first_cycle_that_is_set),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
