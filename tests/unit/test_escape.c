/* Texts of others in places where some characters do more than show. */
#include "../../estimator/base/escape.h"
#include "../../estimator/base/jsonw.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <cjson/cJSON.h>
#include <cmocka.h>

static char *text;
static size_t size;

static FILE *begin(void) {
    free(text);
    text = NULL;
    return open_memstream(&text, &size);
}

static void is(FILE *out, const char *expected) {
    fclose(out);
    assert_string_equal(text, expected);
}

static const char *put_text(const char *s) {
    FILE *out = begin();
    ww_put_text(out, s);
    fclose(out);
    return text;
}

static const char *put_csv(const char *s) {
    FILE *out = begin();
    ww_put_csv(out, s, strlen(s));
    fclose(out);
    return text;
}

static void what_does_not_show_is_replaced(void **state) {
    (void)state;
    static const char *const hidden[] = {
        "\x1b",             /* escape */
        "\n",               /* line break */
        "\x7f",             /* delete */
        "\xc2\x9b",         /* U+009B: the one-byte CSI */
        "\xc2\xad",         /* soft hyphen */
        "\xd8\x9c",         /* Arabic letter mark */
        "\xe2\x80\x8b",     /* zero-width space */
        "\xe2\x80\x8d",     /* zero-width joiner */
        "\xe2\x80\x8f",     /* right-to-left mark */
        "\xe2\x80\xa8",     /* line separator */
        "\xe2\x80\xae",     /* right-to-left override */
        "\xe2\x81\xa0",     /* word joiner */
        "\xe2\x81\xa6",     /* left-to-right isolate */
        "\xef\xb8\x8f",     /* variation selector */
        "\xef\xbb\xbf",     /* byte order mark */
        "\xef\xbf\xb9",     /* interlinear annotation */
        "\xf3\xa0\x81\x81", /* tag A */
        "\xff",             /* no UTF-8 */
    };
    for (size_t i = 0; i < sizeof hidden / sizeof *hidden; i++) {
        char all[16];
        snprintf(all, sizeof all, "a%sb", hidden[i]);
        assert_string_equal(put_text(all), "a?b");
        assert_string_equal(ww_shown(all), "a?b");
    }
}

static void what_shows_is_left_as_it_is(void **state) {
    (void)state;
    static const char shows[] = "naïve_kernel<float, 4> 行列 \xf0\x9f\x98\x80 \xcc\x81 ~";
    assert_string_equal(put_text(shows), shows);
    assert_ptr_equal(ww_shown(shows), shows);
    assert_string_equal(put_text("a\tb"), "a\tb");
}

static void a_printf_may_have_several_of_them(void **state) {
    (void)state;
    char line[64];
    snprintf(line, sizeof line, "%s %s %s %s", ww_shown("\x1b"), ww_shown("a\n"), ww_shown(NULL),
             ww_shown("\rb"));
    assert_string_equal(line, "? a?  ?b");
    char most[2000];
    memset(most, 'x', sizeof most - 1);
    most[0] = 27;
    most[sizeof most - 1] = 0;
    const char *cut = ww_shown(most);
    assert_true(strlen(cut) < 512);
    assert_string_equal(cut + strlen(cut) - 4, "x...");
}

static void a_gnuplot_text_cannot_end(void **state) {
    (void)state;
    FILE *out = begin();
    ww_put_gnuplot(out, "a'b\"c`d\\e\n!f\r\t$g @h {i}");
    is(out, "a?b?c?d?e?!f??$g @h {i}");
}

static void formulas_are_inert_in_csv(void **state) {
    (void)state;
    static const char *const formula[] = {"=1",
                                          "+a",
                                          "-a",
                                          "@a",
                                          " =1",
                                          "\t1",
                                          "-",
                                          "--1",
                                          "+",
                                          "-1+cmd",
                                          "-1e5x ",
                                          "+.",
                                          "-e5",
                                          ("\xef\xbc\x9d"
                                           "1")};
    char expected[32];
    for (size_t i = 0; i < sizeof formula / sizeof *formula; i++) {
        snprintf(expected, sizeof expected, "'%s", formula[i]);
        assert_string_equal(put_csv(formula[i]), expected);
    }
    assert_string_equal(put_csv("\r=1"), "\"'\r=1\"");
    assert_string_equal(put_csv("\n1"), "\"'\n1\"");
    assert_string_equal(put_csv("=a,\"b\""), "\"'=a,\"\"b\"\"\"");
}

static void numbers_and_texts_stay_in_csv(void **state) {
    (void)state;
    static const char *const same[] = {"-1",  "-1.5e-3", "+7", "-.5", "-5.",       "1e9",
                                       "a=b", "a-1",     "'",  "",    "e\xcc\x81", "\x1b"};
    for (size_t i = 0; i < sizeof same / sizeof *same; i++) assert_string_equal(put_csv(same[i]), same[i]);
}

static void json_reads_back_to_the_same_text(void **state) {
    (void)state;
    static const char all[] =
        "\x1b\r\n\t\x7f\xc2\x9b\xe2\x80\xae\xe2\x80\x8b\xef\xbb\xbf\xf3\xa0\x81\x81\xf0\x9f\x98\x80\"\\";
    struct ww_jsonw w;
    FILE *out = begin();
    ww_jsonw_begin(&w, out);
    ww_jsonw_str(&w, NULL, all);
    ww_jsonw_end(&w, NULL);
    fclose(out);
    for (const char *s = text; s[1]; s++) {
        bool shows;
        ww_text_next(s, strlen(s), &shows);
        if ((*s & 0xc0) != 0x80) assert_true(shows);
    }
    cJSON *back = cJSON_Parse(text);
    assert_string_equal(cJSON_GetStringValue(back), all);
    cJSON_Delete(back);
}

static int free_text(void **state) {
    (void)state;
    free(text);
    return 0;
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_does_not_show_is_replaced),    cmocka_unit_test(what_shows_is_left_as_it_is),
        cmocka_unit_test(a_printf_may_have_several_of_them), cmocka_unit_test(a_gnuplot_text_cannot_end),
        cmocka_unit_test(formulas_are_inert_in_csv),         cmocka_unit_test(numbers_and_texts_stay_in_csv),
        cmocka_unit_test(json_reads_back_to_the_same_text),
    };
    return cmocka_run_group_tests(tests, NULL, free_text);
}
