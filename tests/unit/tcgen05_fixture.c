/* tcgen05_fixture.c: kernels with tensor memory, run from PTX. */
#include "tcgen05_fixture.h"
#include "../../estimator/api/record.h"
#include "../../traces/ptx/record/device_host.h"

uint32_t out[TC_OUT];
unsigned char in[TC_IN];

enum ww_code tc_run(const char *text, uint32_t ctas, struct ww_error *error) {
    struct ww_record_options options = {
        .arch = "sm_100", .code = WW_RECORD_PTX, .instruction_limit = 100000000};
    struct exec_test t = {0};
    assert_int_equal(ww_device_new(&options, NULL, &t.device, &t.error), WW_OK);
    exec_must(&t, ww_device_module_text(t.device, text, strlen(text), "test.ptx", &t.module, &t.error));
    uint64_t arg[2] = {exec_alloc(&t, out, sizeof out), exec_alloc(&t, in, sizeof in)};
    enum ww_code result = exec_launch(&t, "k", ctas, 128, 0, arg, 2);
    if (result == WW_OK) exec_must(&t, ww_device_read(t.device, out, arg[0], sizeof out, &t.error));
    *error = t.error;
    exec_close(&t);
    return result;
}

void tc_must_run(const char *text, uint32_t ctas) {
    struct ww_error e = {0};
    if (tc_run(text, ctas, &e) != WW_OK) fail_msg("%s: %s", e.where, e.text);
}

void tc_refused(const char *text, uint32_t ctas, const char *part) {
    struct ww_error e = {0};
    assert_int_equal(tc_run(text, ctas, &e), WW_EXEC);
    if (!strstr(e.text, part)) fail_msg("'%s' does not say '%s'", e.text, part);
}

void tc_replace(char *text, const char *word, const char *by) {
    char *at = strstr(text, word);
    size_t old = strlen(word), new = strlen(by);
    memmove(at + new, at + old, strlen(at + old) + 1);
    memcpy(at, by, new);
}
