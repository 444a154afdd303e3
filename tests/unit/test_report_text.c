/* Numbers and texts for people. */
#include "result_fixture.h"
#include "../../estimator/base/escape.h"
#include "../../estimator/base/jsonw.h"
#include "../../reports/text.h"
#include "skip.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

static void si_prefixes_fit_the_value(void **state) {
    (void)state;
    static const struct {
        double v;
        const char *unit, *text;
    } rows[] = {
        {0, "J", "0 J"},           {1, "s", "1 s"},
        {0.5, "s", "500.0 ms"},    {1234, "B", "1.234 kB"},
        {12345, "B", "12.35 kB"},  {123456, "B", "123.5 kB"},
        {999499, "B", "999.5 kB"}, {999600, "B", "1.000 MB"},
        {2.5e-5, "J", "25.00 uJ"}, {3e-12, "J", "3.000 pJ"},
        {1.5e18, "", "1.500 E"},   {42, "", "42"},
        {0.25, "", "0.25"},        {-1, "J", "-"},
    };
    char out[32];
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        assert_string_equal(ww_si(rows[i].v, rows[i].unit, out), rows[i].text);
}

static void changes_carry_their_sign(void **state) {
    (void)state;
    char out[32];
    assert_string_equal(ww_si_signed(-0.0025, "s", out), "-2.500 ms");
    assert_string_equal(ww_si_signed(1500, "J", out), "+1.500 kJ");
    assert_string_equal(ww_si_signed(0, "J", out), "0 J");
    assert_string_equal(ww_si_signed(-3e-22, "s", out), "0 s");
}

static void large_numbers_are_grouped(void **state) {
    (void)state;
    char out[32];
    assert_string_equal(ww_grouped(0, out), "0");
    assert_string_equal(ww_grouped(999, out), "999");
    assert_string_equal(ww_grouped(1000, out), "1,000");
    assert_string_equal(ww_grouped(UINT64_MAX, out), "18,446,744,073,709,551,615");
}

static void what_is_not_known_is_a_dash(void **state) {
    (void)state;
    char out[32];
    assert_string_equal(ww_percent(-1, out), "-");
    assert_string_equal(ww_plain(-1, 4, out), "-");
    assert_string_equal(ww_percent(0.123, out), "12.3 %");
}

static void long_texts_lose_their_middle_and_stay_utf8(void **state) {
    (void)state;
    char out[16];
    ww_clean_text("0123456789abcdefghij", out, sizeof out);
    assert_string_equal(out, "012345...efghij");
    ww_clean_text("\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9x", out, sizeof out);
    assert_true(strlen(out) < sizeof out);
    for (size_t i = 0, n = strlen(out); i < n;) {
        size_t length = ww_utf8_length(out + i, n - i);
        assert_true(length > 0);
        i += length;
    }
}

static void control_characters_are_replaced(void **state) {
    (void)state;
    char out[32];
    ww_clean_text("a\x1b[2J\nb\xc2\x9b\xff", out, sizeof out);
    assert_string_equal(out, "a?[2J?b??");
}

static void doubles_read_back_exactly(void **state) {
    (void)state;
    static const double values[] = {0.1,          1.0 / 3, 5e-324, 1.7976931348623157e308, 123456789012345680.0,
                                    2.2842999e-05};
    char out[32];
    for (size_t i = 0; i < sizeof values / sizeof *values; i++) {
        ww_double_text(values[i], out);
        assert_true(strtod(out, NULL) == values[i]);
    }
    ww_double_text(0.1, out);
    assert_string_equal(out, "0.1");
}

static void utf8_that_is_not_valid_is_seen(void **state) {
    (void)state;
    static const char *const bad[] = {
        "\x80",     "\xc0\x80", "\xe0\x80\x80", "\xed\xa0\x80", "\xf5\x80\x80\x80", "\xf4\x90\x80\x80",
        "\xe2\x82", "\xff"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_int_equal(ww_utf8_length(bad[i], strlen(bad[i])), 0);
    assert_int_equal(ww_utf8_length("\xe2\x82\xac", 3), 3);
    assert_int_equal(ww_utf8_length("\xf0\x9f\x98\x80", 4), 4);
}

static void json_nests_with_commas_and_breaks(void **state) {
    (void)state;
    char *text = NULL;
    size_t n;
    struct ww_jsonw w;
    FILE *out = open_memstream(&text, &n);
    ww_jsonw_begin(&w, out);
    ww_jsonw_open(&w, NULL, '{');
    ww_jsonw_u64(&w, "a", UINT64_MAX);
    ww_jsonw_open(&w, "b", '[');
    ww_jsonw_close(&w, ']');
    ww_jsonw_open_flat(&w, "c", '[');
    ww_jsonw_i64(&w, NULL, INT64_MIN);
    ww_jsonw_open(&w, NULL, '{');
    ww_jsonw_bool(&w, "d", true);
    ww_jsonw_str(&w, "e", NULL);
    ww_jsonw_close(&w, '}');
    ww_jsonw_close(&w, ']');
    ww_jsonw_f64(&w, "f", 0.5);
    ww_jsonw_close(&w, '}');
    assert_int_equal(ww_jsonw_end(&w, NULL), WW_OK);
    fclose(out);
    assert_string_equal(text,
                        "{\n  \"a\": 18446744073709551615,\n  \"b\": [],\n"
                        "  \"c\": [-9223372036854775808, {\"d\": true, \"e\": null}],\n  \"f\": 0.5\n}\n");
    free(text);
}

static void json_that_cannot_be_written_is_an_error(void **state) {
    (void)state;
    FILE *full = fopen("/dev/full", "w");
    if (!full) SKIP_BECAUSE("there is no /dev/full");
    struct ww_jsonw w;
    ww_jsonw_begin(&w, full);
    ww_jsonw_u64(&w, NULL, 1);
    assert_int_equal(ww_jsonw_end(&w, NULL), WW_IO);
    fclose(full);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(si_prefixes_fit_the_value),
        cmocka_unit_test(changes_carry_their_sign),
        cmocka_unit_test(large_numbers_are_grouped),
        cmocka_unit_test(what_is_not_known_is_a_dash),
        cmocka_unit_test(long_texts_lose_their_middle_and_stay_utf8),
        cmocka_unit_test(control_characters_are_replaced),
        cmocka_unit_test(doubles_read_back_exactly),
        cmocka_unit_test(utf8_that_is_not_valid_is_seen),
        cmocka_unit_test(json_nests_with_commas_and_breaks),
        cmocka_unit_test(json_that_cannot_be_written_is_an_error),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
