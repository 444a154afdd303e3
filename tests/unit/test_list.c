/* Lists of numbers as users write them. */
#include "../../estimator/base/list.h"
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>
#include <cmocka.h>

static struct ww_arena arena;

static enum ww_code parse(const char *text, uint64_t end, struct ww_list *list) {
    struct ww_error error;
    return ww_list_parse(text, end, "list", &arena, list, &error);
}

static void numbers_and_ranges_are_members(void **state) {
    (void)state;
    struct ww_list list;
    assert_int_equal(parse("7,0,2-4", 10, &list), WW_OK);
    const char *want = "1011100100";
    for (uint64_t i = 0; i < 10; i++) assert_int_equal(ww_list_has(&list, i), want[i] == '1');
}

static void no_text_means_all(void **state) {
    (void)state;
    struct ww_list list;
    assert_int_equal(parse(NULL, 3, &list), WW_OK);
    assert_true(ww_list_has(&list, 0) && ww_list_has(&list, 2));
    assert_false(ww_list_has(&list, 3));
    assert_int_equal(parse(NULL, 0, &list), WW_OK);
    assert_int_equal(list.count, 0);
}

static void ranges_that_overlap_or_touch_become_one(void **state) {
    (void)state;
    struct ww_list list;
    assert_int_equal(parse("4-9,0-3,2-5,20", 100, &list), WW_OK);
    assert_int_equal(list.count, 2);
    assert_int_equal(list.range[0].last, 9);
}

static void what_is_no_list_is_refused(void **state) {
    (void)state;
    static const char *const bad[] = {"",    ",", "1,", "1-", "-1",
                                      "2-1", "x", "1 ", "10", "99999999999999999999"};
    struct ww_list list;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) assert_int_equal(parse(bad[i], 10, &list), WW_USAGE);
}

static void the_largest_number_is_a_number(void **state) {
    (void)state;
    struct ww_list list;
    assert_int_equal(parse("0-18446744073709551614,3", UINT64_MAX, &list), WW_OK);
    assert_int_equal(list.count, 1);
    assert_true(ww_list_has(&list, UINT64_MAX - 1));
}

static int clean(void **state) {
    (void)state;
    ww_arena_free(&arena);
    return 0;
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(numbers_and_ranges_are_members, clean),
        cmocka_unit_test_teardown(no_text_means_all, clean),
        cmocka_unit_test_teardown(ranges_that_overlap_or_touch_become_one, clean),
        cmocka_unit_test_teardown(what_is_no_list_is_refused, clean),
        cmocka_unit_test_teardown(the_largest_number_is_a_number, clean),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
