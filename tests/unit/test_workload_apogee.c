/* The workloads of APOGEE's evaluation: each verifies with every number of warps, with several CTAs, and with
 * parts that leave warps and CTAs partly filled. */
#include "../../traces/workloads/host.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
/* clang-format off: cmocka needs the above first */
#include <cmocka.h>
/* clang-format on */

enum { VALUES = 4 };

static void verify(const char *name, const char *const *values, size_t count, struct ww_record_stats *stats) {
    struct ww_error error = {0};
    const struct ww_record_options options = {.seed = 5};
    const char *all[VALUES + 1] = {"size=small"};
    for (size_t i = 0; i < count; i++) all[i + 1] = values[i];
    memset(stats, 0, sizeof *stats);
    enum ww_code code = ww_record_workload(name, all, count + 1, &options, stats, &error);
    if (code != WW_OK) print_error("%s %s: %s: %s\n", name, values[0], error.where, error.text);
    assert_int_equal(code, WW_OK);
    assert_true(stats->verified);
}

static const char *const names[] = {"ap_filter", "ap_hotspot", "ap_shortestpath"};

static void every_number_of_warps_verifies(void **state) {
    (void)state;
    static const char *const warps[] = {"warps=1", "warps=2", "warps=4", "warps=8", "warps=16", "warps=32"};
    struct ww_record_stats stats;
    for (size_t n = 0; n < sizeof names / sizeof names[0]; n++)
        for (size_t w = 0; w < sizeof warps / sizeof warps[0]; w++) verify(names[n], &warps[w], 1, &stats);
}

static void several_ctas_share_the_work(void **state) {
    (void)state;
    for (size_t n = 0; n < sizeof names / sizeof names[0]; n++) {
        struct ww_record_stats one, seven;
        verify(names[n], (const char *const[]){"warps=2", "ctas=1"}, 2, &one);
        verify(names[n], (const char *const[]){"warps=2", "ctas=7"}, 2, &seven);
        assert_true(seven.thread_instructions < one.thread_instructions * 3 / 2);
    }
}

/* Threads are persistent: with four times as many of them, each has less to do, all together about the same. */
static void the_number_of_warps_hardly_changes_the_work(void **state) {
    (void)state;
    for (size_t n = 0; n < sizeof names / sizeof names[0]; n++) {
        struct ww_record_stats few, many;
        verify(names[n], (const char *const[]){"warps=1"}, 1, &few);
        verify(names[n], (const char *const[]){"warps=4"}, 1, &many);
        assert_true(many.thread_instructions > few.thread_instructions);
        assert_true(many.thread_instructions < few.thread_instructions * 3 / 2);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_number_of_warps_verifies),
        cmocka_unit_test(several_ctas_share_the_work),
        cmocka_unit_test(the_number_of_warps_hardly_changes_the_work),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
