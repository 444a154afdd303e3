/* test_exec_print.c: fields of the kernels' printf. */
#include "exec_test.h"

#define TEXTS_MAX 9000

/* Prints `format` with the arguments of 8 bytes each; a text argument points to "abcdef". */
static enum ww_code print(const char *format, const uint64_t *args, size_t count, char *out,
                          struct ww_error *e) {
    struct exec_test t;
    static const char head[] = PTX_HEAD
        ".extern .func (.param .b32 r) vprintf(.param .b64 f, .param .b64 a);\n"
        ".visible .entry k(.param .u64 p0, .param .u64 p1)\n{ .reg .b64 %rd<4>; .reg .b32 %r<2>;\n"
        "ld.param.u64 %rd1,[p0]; ld.param.u64 %rd2,[p1]; { .param .b64 f; st.param.b64 [f],%rd1;\n"
        ".param .b64 a; st.param.b64 [a],%rd2; .param .b32 r; call.uni (r), vprintf, (f, a); } ret; }\n";
    exec_open(&t, head);
    uint64_t text = exec_alloc(&t, "abcdef", 7), list[6] = {0};
    for (size_t n = 0; n < count; n++) list[n] = args[n] == UINT64_MAX ? text : args[n];
    uint64_t address[2] = {exec_alloc(&t, format, strlen(format) + 1), exec_alloc(&t, list, sizeof list)};
    enum ww_code code = exec_launch(&t, "k", 1, 1, 0, address, 2);
    rewind(t.out);
    out[fread(out, 1, TEXTS_MAX - 1, t.out)] = 0;
    *e = t.error;
    exec_close(&t);
    return code;
}

static void prints(const char *format, const uint64_t *args, size_t count, const char *want) {
    char out[TEXTS_MAX];
    struct ww_error e = {0};
    enum ww_code code = print(format, args, count, out, &e);
    if (code != WW_OK) fail_msg("%s", e.text);
    assert_string_equal(out, want);
}

static uint64_t bits(double v) {
    uint64_t b;
    memcpy(&b, &v, sizeof b);
    return b;
}

static void texts_keep_width_and_precision(void **state) {
    (void)state;
    prints("[%10s|%-8s|%.3s|%5.1s]", (uint64_t[]){UINT64_MAX, UINT64_MAX, UINT64_MAX, UINT64_MAX}, 4,
           "[    abcdef|abcdef  |abc|    a]");
    prints("[%8s]", (uint64_t[]){0}, 1, "[  (null)]");
}

static void a_negative_star_is_an_adjustment_or_no_precision(void **state) {
    (void)state;
    uint64_t minus = (uint32_t)-1, left = (uint32_t)-6;
    prints("[%.*f]", (uint64_t[]){minus, bits(1.5)}, 2, "[1.500000]");
    prints("[%*lld|%*lld]", (uint64_t[]){left, 42, 6, 42}, 4, "[42    |    42]");
    prints("[%+06.2f|%#llx|%-6llu|%.4llu]", (uint64_t[]){bits(3.14159), 255, 7, 7}, 4,
           "[+03.14|0xff|7     |0007]");
}

static void pointers_and_characters_have_a_width(void **state) {
    (void)state;
    prints("[%8p|%-4p]", (uint64_t[]){0x1f, 1}, 2, "[    0x1f|0x1 ]");
    prints("[%3c]", (uint64_t[]){'z'}, 1, "[  z]");
}

static void wide_fields_and_long_formats_are_whole(void **state) {
    (void)state;
    char want[TEXTS_MAX], format[TEXTS_MAX];
    memset(want, ' ', 1000);
    memcpy(want + 999, "7", 2);
    prints("%1000llu", (uint64_t[]){7}, 1, want);
    memset(format, 'x', 6000);
    format[6000] = 0;
    prints(format, NULL, 0, format);
}

static void a_field_beyond_all_measure_fails(void **state) {
    (void)state;
    char out[TEXTS_MAX];
    struct ww_error e = {0};
    assert_int_equal(print("%99999999999d", (uint64_t[]){1}, 1, out, &e), WW_EXEC);
    assert_non_null(strstr(e.text, "width"));
    assert_int_equal(print("%*d", (uint64_t[]){0x80000000u, 1}, 2, out, &e), WW_EXEC);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(texts_keep_width_and_precision),
        cmocka_unit_test(a_negative_star_is_an_adjustment_or_no_precision),
        cmocka_unit_test(pointers_and_characters_have_a_width),
        cmocka_unit_test(wide_fields_and_long_formats_are_whole),
        cmocka_unit_test(a_field_beyond_all_measure_fails),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
