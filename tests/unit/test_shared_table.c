/* The shared-memory management table, and CTAs of an SM under it. */
#include "../../estimator/core/sm/shared_table.h"
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>
#include <cmocka.h>

static struct ww_shared_table table(struct ww_shared_entry *entry, uint32_t count, uint32_t bytes) {
    memset(entry, 0, count * sizeof *entry);
    return (struct ww_shared_table){entry, count, bytes};
}

/* Figure 10: three private parts of 4 KiB from the bottom, two public ones of 2 KiB above. */
static void figure_10_fits_and_no_more(void **state) {
    (void)state;
    struct ww_shared_entry entry[6];
    struct ww_shared_table t = table(entry, 6, 16384);
    uint32_t start;
    for (uint32_t cta = 0; cta < 3; cta++) assert_true(ww_shared_take(&t, cta, cta * 4096, 4096, false));
    assert_true(ww_shared_take_top(&t, 0, 2048, &start));
    assert_int_equal(start, 14336);
    assert_true(ww_shared_take_top(&t, 1, 2048, &start));
    assert_int_equal(start, 12288);
    assert_false(ww_shared_take_top(&t, 2, 2048, &start));
    assert_true(ww_shared_drop(&t, 0, true));
    assert_true(ww_shared_take_top(&t, 2, 2048, &start));
    assert_int_equal(start, 14336);
}

static void parts_do_not_overlap(void **state) {
    (void)state;
    struct ww_shared_entry entry[4];
    struct ww_shared_table t = table(entry, 4, 1024);
    assert_true(ww_shared_take(&t, 0, 256, 256, false));
    assert_false(ww_shared_take(&t, 1, 511, 1, false));
    assert_false(ww_shared_take(&t, 1, 255, 2, false));
    assert_false(ww_shared_take(&t, 1, 0, 1024, false));
    assert_true(ww_shared_take(&t, 1, 512, 512, false));
    assert_true(ww_shared_take(&t, 2, 0, 256, false));
    assert_false(ww_shared_take(&t, 3, 1024, 1, false));
}

static void an_entry_is_dropped_once_and_only_of_its_kind(void **state) {
    (void)state;
    struct ww_shared_entry entry[2];
    struct ww_shared_table t = table(entry, 2, 1024);
    assert_true(ww_shared_take(&t, 5, 0, 64, true));
    assert_false(ww_shared_drop(&t, 5, false));
    assert_false(ww_shared_drop(&t, 4, true));
    assert_true(ww_shared_drop(&t, 5, true));
    assert_false(ww_shared_drop(&t, 5, true));
}

static void a_full_table_takes_nothing(void **state) {
    (void)state;
    struct ww_shared_entry entry[1];
    struct ww_shared_table t = table(entry, 1, 1024);
    assert_true(ww_shared_take(&t, 0, 0, 64, false));
    assert_false(ww_shared_take(&t, 1, 512, 64, false));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(figure_10_fits_and_no_more),
        cmocka_unit_test(parts_do_not_overlap),
        cmocka_unit_test(an_entry_is_dropped_once_and_only_of_its_kind),
        cmocka_unit_test(a_full_table_takes_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
