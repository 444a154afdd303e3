/* Traces that lack CTAs, warps or the ends of warps: imported as they are, with a warning that names the place.
 */
#include "accelsim_fixture.h"
#include "wwt_fixture.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#define EXIT_LINE "0010 ffffffff 0 EXIT 0 0\n"
#define WARP(n) "warp = " n "\ninsts = 1\n" EXIT_LINE
#define CTA(at, warps) "#BEGIN_TB\nthread block = " at "\n" warps "#END_TB\n"
#define HEADER_LINES 14u /* of version 3: the body's first line is line 15 */

static struct as_result r;

static void import(const char *grid, const char *block, const char *body) {
    as_import(&(struct as_text){.version = 3, .grid = grid, .block = block, .body = body}, &r);
    if (r.code != WW_OK) fail_msg("%s: %s", r.error.where, r.error.text);
}

/* The only gap stands at this line of the body (0: of the file, without a line). */
static void expect(unsigned line, const char *text) {
    char where[32] = "text";
    if (line) snprintf(where, sizeof where, "text:%u", HEADER_LINES + line);
    assert_int_equal(r.stats.gap_count, 1);
    assert_string_equal(r.stats.gap[0].where, where);
    assert_string_equal(r.stats.gap[0].text, text);
}

static int end(void **state) {
    (void)state;
    as_free(&r);
    return 0;
}

static void a_whole_trace_lacks_nothing(void **state) {
    (void)state;
    import("(2,1,1)", "(64,1,1)", CTA("0,0,0", WARP("0") WARP("1")) CTA("1,0,0", WARP("0") WARP("1")));
    assert_int_equal(r.stats.gap_count, 0);
    assert_int_equal(r.stats.ctas_missing + r.stats.warps_missing + r.stats.warps_unended, 0);
}

static void a_whole_raw_trace_lacks_nothing(void **state) {
    (void)state;
    import("(2,1,1)", NULL, "1 0 0 0 " EXIT_LINE "0 0 0 0 " EXIT_LINE);
    assert_int_equal(r.stats.gap_count, 0);
}

static void a_trace_cut_behind_a_cta_is_warned_of(void **state) {
    (void)state;
    import("(2,2,1)", NULL, CTA("0,0,0", WARP("0")) CTA("1,0,0", WARP("0")));
    expect(12, "the trace ends here with 2 of 4 CTAs; the first of the grid that is not there is 0,1,0");
    assert_int_equal(r.stats.ctas_missing, 2);
    assert_int_equal(r.stats.launches, 1);
}

static void a_cta_that_lacks_in_the_middle_is_named(void **state) {
    (void)state;
    import("(4,1,1)", NULL, "3 0 0 0 " EXIT_LINE "0 0 0 0 " EXIT_LINE "1 0 0 0 " EXIT_LINE);
    expect(3, "the trace ends here with 3 of 4 CTAs; the first of the grid that is not there is 2,0,0");
}

static void a_header_without_ctas_is_warned_of(void **state) {
    (void)state;
    import("(3,1,1)", NULL, "");
    assert_int_equal(r.stats.ctas_missing, 3);
    assert_int_equal(r.stats.gap_count, 1);
}

static void warps_without_instructions_are_counted(void **state) {
    (void)state;
    import("(2,1,1)", "(96,1,1)",
           CTA("0,0,0", WARP("0") WARP("1") WARP("2")) CTA("1,0,0", WARP("1") "warp = 2\ninsts = 0\n"));
    expect(13, "2 warps have no instruction; the first is warp 0 of CTA 1,0,0");
    assert_int_equal(r.stats.warps_missing, 2);
}

static void a_warp_without_its_exit_is_warned_of(void **state) {
    (void)state;
    import(NULL, "(64,1,1)",
           CTA("0,0,0", WARP("0") "warp = 1\ninsts = 2\n0000 ffffffff 0 NOP 0 0\n0010 7fffffff 0 EXIT 0 0\n"));
    expect(1, "1 warp ends before all of its threads exit; the first is warp 1 of CTA 0,0,0");
    assert_int_equal(r.stats.warps_unended, 1);
}

static void a_raw_trace_cut_within_a_cta_is_warned_of(void **state) {
    (void)state;
    import(NULL, "(64,1,1)", "0 0 0 0 0000 ffffffff 0 NOP 0 0\n0 0 0 1 " EXIT_LINE);
    expect(0, "1 warp ends before all of its threads exit; the first is warp 0 of CTA 0,0,0");
}

static void exits_of_parts_of_a_warp_add_up(void **state) {
    (void)state;
    import(NULL, "(40,1,1)",
           CTA("0,0,0", "warp = 0\ninsts = 2\n0010 ffff0000 0 EXIT 0 0\n0010 0000ffff 0 EXIT 0 0\n"
                        "warp = 1\ninsts = 1\n0010 000000ff 0 EXIT 0 0\n"));
    assert_int_equal(r.stats.gap_count, 0);
}

static void strict_refuses_what_is_not_whole(void **state) {
    (void)state;
    as_import(
        &(struct as_text){.version = 3, .grid = "(2,1,1)", .body = CTA("0,0,0", WARP("0")), .strict = true},
        &r);
    assert_int_equal(r.code, WW_INPUT);
    assert_string_equal(r.error.where, "text:20");
    assert_non_null(strstr(r.error.text, "1 of 2 CTAs"));
}

#define OURS "-warpwatt launch = 0 0 sm_70\n-warpwatt inst = 10 %u 0 0 0 0 0 0 0 0 EXIT EXIT -\n"

/* The header of an export states how many of the grid's CTAs there are. */
static void import_ours(unsigned stated) {
    char more[160];
    unsigned exits = WW_OP_EXIT;
    snprintf(more, sizeof more, OURS "-warpwatt ctas = %u\n", exits, stated);
    as_import(&(struct as_text){.version = 3, .grid = "(9,1,1)", .more = more, .body = CTA("4,0,0", WARP("0"))},
              &r);
    if (r.code != WW_OK) fail_msg("%s: %s", r.error.where, r.error.text);
}

static void an_exported_slice_lacks_nothing(void **state) {
    (void)state;
    import_ours(1);
    assert_int_equal(r.stats.gap_count, 0);
}

static void an_exported_slice_that_was_cut_is_warned_of(void **state) {
    (void)state;
    import_ours(3);
    assert_int_equal(r.stats.ctas_missing, 2);
    assert_non_null(strstr(r.stats.gap[0].text, "with 1 of 3 CTAs"));
}

static int clean(void **state) {
    (void)state;
    ww_made_clean();
    return 0;
}

#define T(f) cmocka_unit_test_teardown(f, end)

#define POLL(address) "0 0 0 0 0010 1 1 R2 LDG.E.STRONG.GPU 1 R4 4 1 " address " 0 "
#define JUMP "0 0 0 0 0020 1 0 BRA 0 0 "

static void loads_that_wait_in_a_loop_are_counted(void **state) {
    (void)state;
    import("(1,1,1)", NULL,
           POLL("0x7f0000") "\n" JUMP "\n" POLL("0x7f0000") "\n" JUMP
                                                            "\n" POLL("0x7f0000") "\n"
                                                                                  "0 0 0 0 " EXIT_LINE);
    assert_int_equal(r.stats.polls, 2);
    assert_int_equal(r.stats.polls_pc, 0x10);
    as_free(&r);
    import("(1,1,1)", NULL, POLL("0x7f0000") "\n" JUMP "\n" POLL("0x7f0040") "\n0 0 0 0 " EXIT_LINE);
    assert_int_equal(r.stats.polls, 0); /* another address */
    as_free(&r);
    import("(1,1,1)", NULL,
           POLL("0x7f0000") "\n0 0 0 0 0018 1 0 STG.E 2 R2 R4 4 1 0x7f0080 0\n" POLL(
               "0x7f0000") "\n0 0 0 0 " EXIT_LINE);
    assert_int_equal(r.stats.polls, 0); /* the warp wrote between them */
}

int main(void) {
    const struct CMUnitTest tests[] = {
        T(loads_that_wait_in_a_loop_are_counted),
        T(a_whole_trace_lacks_nothing),
        T(a_whole_raw_trace_lacks_nothing),
        T(a_trace_cut_behind_a_cta_is_warned_of),
        T(a_cta_that_lacks_in_the_middle_is_named),
        T(a_header_without_ctas_is_warned_of),
        T(warps_without_instructions_are_counted),
        T(a_warp_without_its_exit_is_warned_of),
        T(a_raw_trace_cut_within_a_cta_is_warned_of),
        T(exits_of_parts_of_a_warp_add_up),
        T(strict_refuses_what_is_not_whole),
        T(an_exported_slice_lacks_nothing),
        T(an_exported_slice_that_was_cut_is_warned_of),
    };
    return cmocka_run_group_tests(tests, NULL, clean);
}
