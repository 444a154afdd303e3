/* Blocks that are given back in about the order in which they were taken. */
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
    assert_true(high - low < 100 * MIB); /* of 1000 MiB that were taken */
}

static void the_latest_block_grows_in_its_place(void **state) {
    (void)state;
    struct ww_slabs s = {0};
    char *p = ww_slabs_take(&s, 1000), *behind;
    if (MALLOCS) {
        ww_slabs_give(&s, p, 1000);
        skip();
    }
    assert_true(ww_slabs_resize(&s, p, 1000, MIB));
    assert_non_null(behind = ww_slabs_take(&s, 16));
    assert_true(behind >= p + MIB);
    ww_slabs_give(&s, behind, 16);
    ww_slabs_give(&s, p, MIB);
    ww_slabs_free(&s);
}

static void a_block_with_one_behind_it_only_shrinks(void **state) {
    (void)state;
    struct ww_slabs s = {0};
    char *p = ww_slabs_take(&s, 1000), *behind = ww_slabs_take(&s, 16);
    assert_non_null(p);
    assert_non_null(behind);
    assert_false(ww_slabs_resize(&s, p, 1000, 2000));
    assert_true(ww_slabs_resize(&s, p, 1000, 500));
    ww_slabs_give(&s, p, 500);
    ww_slabs_give(&s, behind, 16);
    ww_slabs_free(&s);
}

static void what_a_block_gives_up_is_the_next_ones(void **state) {
    (void)state;
    struct ww_slabs s = {0};
    char *p = ww_slabs_take(&s, MIB), *next;
    assert_non_null(p);
    assert_true(ww_slabs_resize(&s, p, MIB, 1024));
    assert_non_null(next = ww_slabs_take(&s, 16));
    if (!MALLOCS) assert_ptr_equal(next, p + 1024);
    ww_slabs_give(&s, p, 1024);
    ww_slabs_give(&s, next, 16);
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
    assert_false(ww_slabs_resize(NULL, p, 100, 200));
    ww_slabs_give(NULL, p, 100);
    ww_slabs_give(NULL, NULL, 100);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(blocks_are_aligned_and_apart),
        cmocka_unit_test(memory_of_blocks_that_came_back_is_used_again),
        cmocka_unit_test(the_latest_block_grows_in_its_place),
        cmocka_unit_test(a_block_with_one_behind_it_only_shrinks),
        cmocka_unit_test(what_a_block_gives_up_is_the_next_ones),
        cmocka_unit_test(a_large_block_is_kept_for_the_next_of_its_size),
        cmocka_unit_test(without_slabs_blocks_are_mallocs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
