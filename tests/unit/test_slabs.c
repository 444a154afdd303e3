/* Blocks of memory side by side in large pages of the system. */
#include "../../estimator/base/rng.h"
#include "../../estimator/base/slabs.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#define MIB ((size_t)1 << 20)

#if defined(__SANITIZE_ADDRESS__)
#define MALLOCS true /* blocks are malloc's, and their places are its matter */
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define MALLOCS true
#endif
#endif
#ifndef MALLOCS
#define MALLOCS false
#endif

static void blocks_are_aligned_and_apart(void **state) {
    (void)state;
    enum { BLOCKS = 200 };
    struct ww_slabs s = {0};
    unsigned char *block[BLOCKS];
    for (size_t i = 0; i < BLOCKS; i++) {
        size_t size = 1 + i * 1000;
        assert_non_null(block[i] = ww_slabs_take(&s, size));
        assert_int_equal((uintptr_t)block[i] % 16, 0);
        memset(block[i], (int)i, size);
    }
    for (size_t i = 0; i < BLOCKS; i++) {
        size_t size = 1 + i * 1000;
        assert_int_equal(block[i][0], i);
        assert_int_equal(block[i][size - 1], i);
        ww_slabs_give(&s, block[i], size);
    }
    ww_slabs_free(&s);
}

static void memory_of_blocks_that_came_back_is_used_again(void **state) {
    (void)state;
    struct ww_slabs s = {0};
    uintptr_t low = UINTPTR_MAX, high = 0;
    char *before = NULL;
    if (MALLOCS) skip();
    for (int i = 0; i < 1000; i++) {
        char *p = ww_slabs_take(&s, MIB);
        assert_non_null(p);
        if ((uintptr_t)p < low) low = (uintptr_t)p;
        if ((uintptr_t)p > high) high = (uintptr_t)p;
        ww_slabs_give(&s, before, MIB);
        before = p;
    }
    ww_slabs_give(&s, before, MIB);
    ww_slabs_free(&s);
    assert_true(high - low < 8 * MIB); /* of 1000 MiB that were taken */
}

static void a_gap_between_blocks_is_filled_first(void **state) {
    (void)state;
    struct ww_slabs s = {0};
    char *p = ww_slabs_take(&s, MIB), *gap = ww_slabs_take(&s, MIB), *behind = ww_slabs_take(&s, 16), *q, *r;
    assert_true(p && gap && behind);
    ww_slabs_give(&s, gap, MIB);
    assert_non_null(q = ww_slabs_take(&s, MIB / 2));
    assert_non_null(r = ww_slabs_take(&s, MIB / 2));
    if (!MALLOCS) {
        assert_ptr_equal(q, gap);
        assert_ptr_equal(r, gap + MIB / 2);
    }
    ww_slabs_give(&s, behind, 16);
    ww_slabs_give(&s, q, MIB / 2);
    ww_slabs_give(&s, p, MIB);
    ww_slabs_give(&s, r, MIB / 2);
    ww_slabs_free(&s);
}

static void neighbours_that_came_back_are_one_place(void **state) {
    (void)state;
    enum { BLOCKS = 6 };
    struct ww_slabs s = {0};
    char *block[BLOCKS], *last, *all;
    for (int i = 0; i < BLOCKS; i++) assert_non_null(block[i] = ww_slabs_take(&s, MIB / 2));
    assert_non_null(last = ww_slabs_take(&s, 16));
    const int order[BLOCKS] = {1, 4, 0, 2, 5, 3};
    for (int i = 0; i < BLOCKS; i++) ww_slabs_give(&s, block[order[i]], MIB / 2);
    assert_non_null(all = ww_slabs_take(&s, BLOCKS * MIB / 2));
    if (!MALLOCS) assert_ptr_equal(all, block[0]);
    ww_slabs_give(&s, all, BLOCKS * MIB / 2);
    ww_slabs_give(&s, last, 16);
    ww_slabs_free(&s);
}

/* Blocks of all sizes, of which a random one goes when there are 64. */
static void blocks_never_overlap(void **state) {
    (void)state;
    enum { BLOCKS = 64 };
    struct ww_slabs s = {0};
    uint64_t *block[BLOCKS] = {NULL};
    size_t words[BLOCKS] = {0};
    struct ww_rng r;
    ww_rng_seed(&r, 7);
    for (uint64_t i = 1; i < 20000; i++) {
        size_t at = ww_rng_below(&r, BLOCKS);
        if (block[at]) {
            assert_int_equal(block[at][0], block[at][words[at] - 1]);
            ww_slabs_give(&s, block[at], words[at] * 8);
        }
        words[at] = 1 + ww_rng_below(&r, 1u << ww_rng_below(&r, 19));
        assert_non_null(block[at] = ww_slabs_take(&s, words[at] * 8));
        block[at][0] = block[at][words[at] - 1] = i;
    }
    for (size_t at = 0; at < BLOCKS; at++) {
        assert_true(!block[at] || block[at][0] == block[at][words[at] - 1]);
        ww_slabs_give(&s, block[at], words[at] * 8);
    }
    ww_slabs_free(&s);
}

static void a_large_block_is_kept_for_the_next_of_its_size(void **state) {
    (void)state;
    struct ww_slabs s = {0};
    char *p = ww_slabs_take(&s, 33 * MIB), *again;
    assert_non_null(p);
    p[33 * MIB - 1] = 1;
    ww_slabs_give(&s, p, 33 * MIB);
    assert_non_null(again = ww_slabs_take(&s, 33 * MIB));
    if (!MALLOCS) assert_ptr_equal(again, p);
    ww_slabs_give(&s, again, 33 * MIB);
    ww_slabs_free(&s);
}

static void without_slabs_blocks_are_mallocs(void **state) {
    (void)state;
    char *p = ww_slabs_take(NULL, 100);
    assert_non_null(p);
    memset(p, 1, 100);
    ww_slabs_give(NULL, p, 100);
    ww_slabs_give(NULL, NULL, 100);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(blocks_are_aligned_and_apart),
        cmocka_unit_test(memory_of_blocks_that_came_back_is_used_again),
        cmocka_unit_test(a_gap_between_blocks_is_filled_first),
        cmocka_unit_test(neighbours_that_came_back_are_one_place),
        cmocka_unit_test(blocks_never_overlap),
        cmocka_unit_test(a_large_block_is_kept_for_the_next_of_its_size),
        cmocka_unit_test(without_slabs_blocks_are_mallocs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
