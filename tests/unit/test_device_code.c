/* test_device_code.c: machine code on a device, and the way back to PTX. */
#include "../../estimator/warpwatt.h"
#include "../../traces/ptx/record/device_host.h"
#include "cubin_fixture.h"
#include "skip.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

/* Kernel k stores c in zero; the machine code of the fixture leaves memory as it is. */
static const char PTX[] = ".version 7.0\n.target sm_70\n.address_size 64\n"
                          ".visible .global .align 16 .b8 zero[32];\n"
                          ".visible .const .align 4 .u32 c = 5;\n"
                          ".visible .entry k(.param .u64 a, .param .u32 b)\n"
                          "{ .reg .b32 %r<2>; ld.const.u32 %r1, [c]; st.global.u32 [zero], %r1; ret; }\n";

static struct cubin_made made;
static char said[800];
static unsigned said_count;

static void note(void *context, const char *text) {
    (void)context;
    snprintf(said, sizeof said, "%s", text);
    said_count++;
}

static void watch(void *context, const struct ww_cta_trace *cta) {
    *(uint32_t *)context += cta->warp[0].step_count;
}

static struct ww_device *device_for(enum ww_record_code code) {
    const struct ww_record_options options = {.arch = "sm_75", .code = code, .message = note};
    struct ww_device *d;
    said[0] = 0;
    said_count = 0;
    assert_int_equal(ww_device_new(&options, NULL, &d, NULL), WW_OK);
    return d;
}

static struct ww_module *load(struct ww_device *d, const char *text) {
    const struct ww_cubin_source source = {.data = made.data, .n = made.n, .origin = "made"};
    struct ww_module *m;
    struct ww_error error = {0};
    if (ww_device_module_cubin(d, &source, text, text ? strlen(text) : 0, "module", &m, &error) != WW_OK)
        fail_msg("%s: %s", error.where, error.text);
    return m;
}

static enum ww_code launch(struct ww_device *d, struct ww_module *m, const char *kernel, uint32_t threads,
                           size_t arguments, struct ww_error *error) {
    const uint64_t a = 0;
    const uint32_t b = 0, grid[3] = {1, 1, 1}, block[3] = {threads, 1, 1};
    const struct ww_arg args[] = {{&a, 8}, {&b, 4}};
    return ww_device_launch(d, m, kernel, grid, block, 0, args, arguments, error);
}

static uint32_t stored(struct ww_device *d, struct ww_module *m) {
    uint64_t address, bytes;
    uint32_t value;
    assert_int_equal(ww_device_variable(d, m, "zero", false, &address, &bytes, NULL), WW_OK);
    assert_int_equal(ww_device_read(d, &value, address, 4, NULL), WW_OK);
    return value;
}

static void machine_code_is_run_and_recorded(void **state) {
    (void)state;
    uint32_t steps = 0, count;
    cubin_make(&made, 75, 8);
    struct ww_device *d = device_for(WW_RECORD_AUTO);
    struct ww_module *m = load(d, PTX);
    ww_device_watch(d, watch, &steps);
    assert_int_equal(launch(d, m, "k", 32, 2, NULL), WW_OK);
    assert_int_equal(steps, 3);
    assert_int_equal(ww_device_table(d, &count)[0].op, WW_OP_INT);
    assert_int_equal(ww_device_table(d, &count)[2].op, WW_OP_EXIT);
    assert_int_equal(count, 3);
    assert_true(ww_device_table(d, &count)[0].flags & WW_INST_CONTROL);
    assert_int_equal(ww_device_table(d, &count)[1].line, 9);
    assert_int_equal(stored(d, m), 0);
    assert_string_equal(said, "machine code of sm_75: made");
    ww_device_free_all(d);
}

/* Of two kernels the one that is known stays machine code; variables and constants are shared. */
static void an_unknown_instruction_falls_back_to_ptx(void **state) {
    (void)state;
    uint64_t address, bytes;
    const uint32_t value = 0x1234;
    cubin_make(&made, 75, 8);
    memset(made.data + made.text + 32, 0xff, 16);
    struct ww_device *d = device_for(WW_RECORD_AUTO);
    struct ww_module *m = load(d, PTX);
    assert_int_equal(ww_device_variable(d, m, "c", false, &address, &bytes, NULL), WW_OK);
    assert_int_equal(ww_device_write(d, address, &value, 4, NULL), WW_OK);
    assert_int_equal(launch(d, m, "k", 32, 2, NULL), WW_OK);
    assert_int_equal(stored(d, m), 0x1234);
    assert_non_null(strstr(said, "PTX is lowered for sm_70: k+0x20"));
    unsigned before = said_count;
    assert_int_equal(launch(d, m, "k", 32, 2, NULL), WW_OK);
    assert_int_equal(said_count, before); /* said once */
    assert_int_equal(launch(d, m, "other", 32, 0, NULL), WW_OK);
    ww_device_free_all(d);
}

static void without_ptx_an_unknown_instruction_is_an_error(void **state) {
    (void)state;
    struct ww_error error;
    cubin_make(&made, 75, 8);
    memset(made.data + made.text + 32, 0xff, 16);
    for (int strict = 0; strict < 2; strict++) {
        struct ww_device *d = device_for(strict ? WW_RECORD_SASS : WW_RECORD_AUTO);
        struct ww_module *m = load(d, strict ? PTX : NULL);
        assert_int_equal(launch(d, m, "k", 32, 2, &error), WW_UNSUPPORTED);
        char all[1000];
        snprintf(all, sizeof all, "%s: %s", error.where, error.text);
        assert_non_null(strstr(all, "k+0x20"));
        assert_non_null(strstr(all, "ffffffffffffffffffffffffffffffff"));
        ww_device_free_all(d);
    }
}

static void a_launch_is_checked_against_the_cubin(void **state) {
    (void)state;
    struct ww_error error;
    struct ww_kernel_info info;
    uint64_t offset, bytes;
    cubin_make(&made, 75, 8);
    struct ww_device *d = device_for(WW_RECORD_SASS);
    struct ww_module *m = load(d, NULL);
    assert_int_equal(launch(d, m, "k", 32, 1, &error), WW_USAGE);
    assert_non_null(strstr(error.text, "1 arguments given, the kernel has 2"));
    assert_int_equal(launch(d, m, "k", 256, 2, &error), WW_USAGE); /* .maxntid 128 */
    assert_non_null(strstr(error.text, "the kernel allows 128"));
    assert_int_equal(launch(d, m, "none", 32, 0, &error), WW_USAGE);
    assert_int_equal(ww_device_kernel_info(d, m, "k", &info, NULL), WW_OK);
    assert_int_equal(info.registers, 8);
    assert_int_equal(info.shared_bytes, 16);
    assert_int_equal(info.max_threads, 128);
    assert_int_equal(ww_device_kernel_param(d, m, "k", 1, &offset, &bytes, NULL), WW_OK);
    assert_int_equal(offset, 8);
    assert_int_equal(bytes, 4);
    ww_device_free_all(d);
}

static void code_before_sm_70_is_refused_or_lowered(void **state) {
    (void)state;
    struct ww_record_options options = {.arch = "sm_52", .code = WW_RECORD_SASS};
    struct ww_device *d;
    struct ww_error error;
    assert_int_equal(ww_device_new(&options, NULL, &d, &error), WW_USAGE);
    assert_non_null(strstr(error.text, "machine code of sm_52: expected sm_70 or newer"));
    options.code = WW_RECORD_AUTO;
    assert_int_equal(ww_device_new(&options, NULL, &d, NULL), WW_OK);
    ww_device_free_all(d);
}

/* A launch file's kernels and arguments are checked against the PTX, whatever code then runs. */
static void a_launch_file_runs_as_machine_code(void **state) {
    (void)state;
    struct ww_record_options options = {.arch = "sm_75", .code = WW_RECORD_SASS, .seed = 1};
    struct ww_record_stats stats;
    struct ww_error error = {0};
    enum ww_code code =
        ww_record_ptx("traces/examples/softmax.ptx", "traces/examples/softmax.json", &options, &stats, &error);
    if (code == WW_UNSUPPORTED && strstr(error.text, "ptxas")) SKIP_BECAUSE("there is no ptxas");
    assert_string_equal(error.text, "");
    assert_true(stats.verified);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(machine_code_is_run_and_recorded),
        cmocka_unit_test(an_unknown_instruction_falls_back_to_ptx),
        cmocka_unit_test(without_ptx_an_unknown_instruction_is_an_error),
        cmocka_unit_test(a_launch_is_checked_against_the_cubin),
        cmocka_unit_test(code_before_sm_70_is_refused_or_lowered),
        cmocka_unit_test(a_launch_file_runs_as_machine_code),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
