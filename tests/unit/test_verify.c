/* trace verify: what a file can say and no kernel can do. */
#include "wwt_fixture.h"
#include "../../estimator/warpwatt.h"
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>
#include <cmocka.h>

enum { WORK, EXIT };

static struct ww_arena arena;
static struct ww_error error;

static int set_up(void **state) {
    (void)state;
    ww_arena_init(&arena, 0);
    return 0;
}

static int tear_down(void **state) {
    (void)state;
    ww_arena_free(&arena);
    ww_made_clean();
    return 0;
}

/* What verify says of a CTA of 32 + 8 threads; the second warp has the steps, the first one ends at once. */
static enum ww_code verify(const struct ww_step *step, uint32_t count, uint32_t registers) {
    static const char *const strings[] = {"", "X"};
    static const struct ww_inst code[] = {{.op = WW_OP_INT}, {.pc = 16, .op = WW_OP_EXIT}};
    static const struct ww_step first[] = {{EXIT, UINT32_MAX}};
    const struct ww_warp_stream warp[] = {{.step = first, .step_count = 1},
                                          {.step = step, .step_count = count}};
    const struct ww_made_launch l = {
        .launch = {.kernel = "kern",
                   .arch = "sm_70",
                   .grid = {1, 1, 1},
                   .block = {40, 1, 1},
                   .registers_per_thread = registers,
                   .inst = code,
                   .inst_count = 2,
                   .string = strings,
                   .string_count = 2},
        .cta = &(struct ww_cta_trace){.warp_count = 2, .warp = warp},
        .cta_count = 1,
    };
    const char *path = ww_made_path(&arena, "v.wwt");
    struct ww_trace *trace;
    assert_int_equal(ww_made_write(path, &l, 1, 0, &error), WW_OK);
    assert_int_equal(ww_trace_open(path, &trace, &error), WW_OK);
    enum ww_code code_of = ww_trace_verify(trace, NULL, NULL, &error);
    ww_trace_close(trace);
    return code_of;
}

#define VERIFY(...)                                                                                            \
    verify((const struct ww_step[]){__VA_ARGS__},                                                              \
           sizeof(const struct ww_step[]){__VA_ARGS__} / sizeof(struct ww_step), 16)

static void nothing_stands_behind_the_exit_of_all_lanes(void **state) {
    (void)state;
    assert_int_equal(VERIFY({WORK, 0xff}, {EXIT, 0xff}), WW_OK);
    assert_int_equal(VERIFY({WORK, 0xff}, {EXIT, 0xff}, {WORK, 0xff}), WW_INPUT);
    assert_non_null(strstr(error.text, "launch 0, warp 1"));
    assert_non_null(strstr(error.text, "instruction 0, step 2"));
    assert_int_equal(VERIFY({EXIT, 0xff}, {EXIT, 0}), WW_INPUT);
}

static void lanes_may_exit_one_after_the_other(void **state) {
    (void)state;
    assert_int_equal(VERIFY({EXIT, 0x0f}, {WORK, 0xf0}, {EXIT, 0}, {WORK, 0xf0}, {EXIT, 0xf0}), WW_OK);
    assert_int_equal(VERIFY({EXIT, 0x0f}, {WORK, 0xf0}, {EXIT, 0xf0}, {WORK, 0xf0}), WW_INPUT);
}

static void a_warp_may_be_cut_off_before_its_end(void **state) {
    (void)state;
    assert_int_equal(VERIFY({WORK, 0xff}), WW_OK);
    assert_int_equal(VERIFY({EXIT, 0x7f}, {WORK, 0x80}), WW_OK);
}

static void a_kernel_has_registers(void **state) {
    (void)state;
    static const struct ww_step step[] = {{EXIT, 0xff}};
    assert_int_equal(verify(step, 1, 1), WW_OK);
    assert_int_equal(verify(step, 1, 0), WW_INPUT);
    assert_non_null(strstr(error.text, "kernel \"kern\": 0 registers"));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nothing_stands_behind_the_exit_of_all_lanes),
        cmocka_unit_test(lanes_may_exit_one_after_the_other),
        cmocka_unit_test(a_warp_may_be_cut_off_before_its_end),
        cmocka_unit_test(a_kernel_has_registers),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
