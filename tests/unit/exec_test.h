/* exec_test.h: running small PTX texts on a device, for the tests of the executor and the recorder. */
#ifndef WW_TESTS_EXEC_TEST_H
#define WW_TESTS_EXEC_TEST_H

#include "../../estimator/warpwatt.h"
#include "../../traces/ptx/record/device_new.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#define PTX_HEAD ".version 7.8\n.target sm_80\n.address_size 64\n"

struct exec_test {
    struct ww_device *device;
    struct ww_module *module;
    struct ww_error error;
    FILE *out;
};

static inline void exec_open_limit(struct exec_test *t, const char *text, uint64_t limit) {
    memset(t, 0, sizeof *t);
    t->out = tmpfile();
    struct ww_record_options options = {.instruction_limit = limit, .kernel_output = t->out};
    assert_int_equal(ww_device_new(&options, NULL, &t->device, &t->error), WW_OK);
    enum ww_code code = ww_device_module_text(t->device, text, strlen(text), "test.ptx", &t->module, &t->error);
    if (code != WW_OK) fail_msg("%s: %s", t->error.where, t->error.text);
}

static inline void exec_open(struct exec_test *t, const char *text) {
    exec_open_limit(t, text, 0);
}

static inline void exec_close(struct exec_test *t) {
    ww_device_free_all(t->device);
    if (t->out) fclose(t->out);
}

static inline uint64_t exec_alloc(struct exec_test *t, const void *data, size_t n) {
    uint64_t address;
    assert_int_equal(ww_device_alloc(t->device, n, &address, &t->error), WW_OK);
    if (data) assert_int_equal(ww_device_write(t->device, address, data, n, &t->error), WW_OK);
    return address;
}

/* Launches `kernel` with 64-bit arguments. */
static inline enum ww_code exec_launch(struct exec_test *t, const char *kernel, uint32_t ctas, uint32_t threads,
                                       uint32_t shared, const uint64_t *args, size_t count) {
    struct ww_arg arg[8];
    uint32_t grid[3] = {ctas, 1, 1}, block[3] = {threads, 1, 1};
    for (size_t n = 0; n < count; n++) arg[n] = (struct ww_arg){&args[n], 8};
    return ww_device_launch(t->device, t->module, kernel, grid, block, shared, arg, count, &t->error);
}

static inline void exec_must(struct exec_test *t, enum ww_code code) {
    if (code != WW_OK) fail_msg("%s: %s", t->error.where, t->error.text);
}

/* A kernel "k" with parameters out, a, b, c (addresses), whose body works on the thread's elements:
 * %rd0 .. %rd3 hold the addresses of 8-byte elements number %tid.x of out, a, b and c; %r0 is %tid.x. */
#define PTX_ELEMENT(regs, body)                                                                                \
    PTX_HEAD ".visible .entry k(.param .u64 p0, .param .u64 p1, .param .u64 p2, .param .u64 p3)\n{\n"          \
             ".reg .b64 %rd<10>; .reg .b32 %r<10>; .reg .pred %p<4>;\n" regs                                   \
             "mov.u32 %r0, %tid.x; mul.wide.u32 %rd9, %r0, 8;\n"                                               \
             "ld.param.u64 %rd0, [p0]; add.u64 %rd0, %rd0, %rd9;\n"                                            \
             "ld.param.u64 %rd1, [p1]; add.u64 %rd1, %rd1, %rd9;\n"                                            \
             "ld.param.u64 %rd2, [p2]; add.u64 %rd2, %rd2, %rd9;\n"                                            \
             "ld.param.u64 %rd3, [p3]; add.u64 %rd3, %rd3, %rd9;\n" body "\nret;\n}\n"

/* Runs PTX_ELEMENT text over n <= 1024 elements. */
static inline void exec_elements(const char *text, uint64_t *out, const uint64_t *a, const uint64_t *b,
                                 const uint64_t *c, uint32_t n) {
    struct exec_test t;
    exec_open(&t, text);
    uint64_t args[4] = {exec_alloc(&t, out, 8 * (size_t)n), exec_alloc(&t, a, 8 * (size_t)n),
                        exec_alloc(&t, b, 8 * (size_t)n), exec_alloc(&t, c, 8 * (size_t)n)};
    exec_must(&t, exec_launch(&t, "k", 1, n, 0, args, 4));
    assert_int_equal(ww_device_read(t.device, out, args[0], 8 * (size_t)n, &t.error), WW_OK);
    exec_close(&t);
}

#endif
