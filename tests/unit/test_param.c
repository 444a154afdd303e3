/* Parameter rows: defaults, setting from text and numbers, bounds, printing. */
#include "../../estimator/warpwatt.h"
#include "../../estimator/config/param.h"
#include <locale.h>
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>
#include <cmocka.h>

struct thing {
    uint32_t count, shape;
    uint64_t big;
    double ratio;
    bool on;
    char name[WW_STR_MAX];
};

static const struct ww_param rows[] = {
    WW_PARAM_U32(thing, count, "a.count", "piece", 1, 10, 4, "how many"),
    WW_PARAM_U64(thing, big, "a.big", "byte", 0, 1e15, WW_REQUIRED, "how large"),
    WW_PARAM_F64(thing, ratio, "a.ratio", "", -1, 1, 0.5, "a part"),
    WW_PARAM_BOOL(thing, on, "b.on", 1, "whether"),
    WW_PARAM_ENUM(thing, shape, "b.shape", "round|square|flat", 1, "which"),
    WW_PARAM_STR(thing, name, "name", "none", "what it is called"),
};
enum { COUNT, BIG, RATIO, ON, SHAPE, NAME, ROWS };

static enum ww_code set(struct thing *t, int row, const char *text, struct ww_error *e) {
    return ww_param_set_text(&rows[row], t, text, "here", e);
}

static void defaults_fill_every_row_and_count_those_without(void **state) {
    (void)state;
    struct thing t;
    memset(&t, 0xff, sizeof t);
    assert_int_equal(ww_param_defaults(rows, ROWS, &t), 1);
    assert_int_equal(t.count, 4);
    assert_int_equal(t.big, 0);
    assert_true(t.ratio == 0.5);
    assert_true(t.on);
    assert_int_equal(t.shape, 1);
    assert_string_equal(t.name, "none");
}

static void text_is_read_under_its_type(void **state) {
    (void)state;
    struct thing t;
    struct ww_error e;
    ww_param_defaults(rows, ROWS, &t);
    assert_int_equal(set(&t, COUNT, "10", &e), WW_OK);
    assert_int_equal(set(&t, BIG, "1e12", &e), WW_OK);
    assert_int_equal(set(&t, RATIO, "-0.25", &e), WW_OK);
    assert_int_equal(set(&t, ON, "false", &e), WW_OK);
    assert_int_equal(set(&t, SHAPE, "flat", &e), WW_OK);
    assert_int_equal(set(&t, NAME, "x y", &e), WW_OK);
    assert_true(t.count == 10 && t.big == 1000000000000 && t.ratio == -0.25 && !t.on && t.shape == 2);
    assert_string_equal(t.name, "x y");
}

static void bounds_are_inclusive_and_named_in_the_error(void **state) {
    (void)state;
    struct thing t = {0};
    struct ww_error e;
    assert_int_equal(set(&t, COUNT, "1", &e), WW_OK);
    assert_int_equal(set(&t, COUNT, "0", &e), WW_INPUT);
    assert_int_equal(set(&t, COUNT, "11", &e), WW_INPUT);
    assert_string_equal(e.where, "here");
    assert_non_null(strstr(e.text, "11"));
    assert_non_null(strstr(e.text, "1..10 piece"));
    assert_int_equal(t.count, 1);
}

static void what_is_no_value_of_the_type_is_refused(void **state) {
    (void)state;
    struct thing t = {0};
    struct ww_error e;
    static const struct {
        int row;
        const char *text;
    } bad[] = {{COUNT, "2.5"}, {COUNT, ""},       {COUNT, "2x"},  {COUNT, "nan"}, {COUNT, "0x4"}, {COUNT, " 4"},
               {BIG, "-1"},    {RATIO, "inf"},    {RATIO, "nan"}, {RATIO, "0,5"}, {ON, "yes"},    {ON, "2"},
               {SHAPE, "rou"}, {SHAPE, "rounds"}, {SHAPE, ""},    {NAME, "a\nb"}};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        assert_int_equal(set(&t, bad[i].row, bad[i].text, &e), WW_INPUT);
        assert_true(e.text[0]);
    }
    struct thing zero = {0};
    assert_memory_equal(&t, &zero, sizeof t);
}

static void strings_that_do_not_fit_are_refused(void **state) {
    (void)state;
    struct thing t = {0};
    struct ww_error e;
    char text[WW_STR_MAX + 1];
    memset(text, 'n', sizeof text);
    text[WW_STR_MAX] = 0;
    assert_int_equal(set(&t, NAME, text, &e), WW_INPUT);
    text[WW_STR_MAX - 1] = 0;
    assert_int_equal(set(&t, NAME, text, &e), WW_OK);
    assert_int_equal(strlen(t.name), WW_STR_MAX - 1);
}

static void printed_values_read_back(void **state) {
    (void)state;
    static const double values[] = {0, 1, -1, 0.1, 1.0 / 3, 1e-300, -0.0625, 0.30000000000000004};
    struct thing t;
    struct ww_error e;
    for (size_t i = 0; i < sizeof values / sizeof values[0]; i++) {
        struct ww_buf b = {0};
        t.ratio = values[i];
        ww_param_print_text(&rows[RATIO], &t, &b);
        t.ratio = 2;
        assert_int_equal(set(&t, RATIO, b.p, &e), WW_OK);
        assert_true(t.ratio == values[i]);
        ww_buf_free(&b);
    }
}

static void numbers_are_printed_as_short_as_they_read_back(void **state) {
    (void)state;
    struct ww_buf b = {0};
    ww_print_double(0.1, &b);
    ww_buf_byte(&b, ' ');
    ww_print_double(1401, &b);
    ww_buf_byte(&b, ' ');
    ww_print_double(INFINITY, &b);
    assert_string_equal(b.p, "0.1 1401 null");
    ww_buf_free(&b);
}

static void json_quotes_names_and_strings_only(void **state) {
    (void)state;
    struct thing t = {.count = 3, .shape = 2, .name = "a\"b\\c"};
    struct ww_buf b = {0};
    for (int i = 0; i < ROWS; i++) {
        ww_param_print_json(&rows[i], &t, &b);
        ww_buf_byte(&b, ' ');
    }
    assert_string_equal(b.p, "3 0 0 false \"flat\" \"a\\\"b\\\\c\" ");
    ww_buf_free(&b);
}

static void the_nearest_key_is_found(void **state) {
    (void)state;
    assert_string_equal(ww_param_nearest(rows, ROWS, "a.coutn"), "a.count");
    assert_null(ww_param_nearest(rows, ROWS, "zzzzzzz"));
    assert_int_equal(ww_param_find(rows, ROWS, "b.on"), ON);
    assert_int_equal(ww_param_find(rows, ROWS, "b.o"), -1);
}

static void views_hold_unit_bounds_value_and_source(void **state) {
    (void)state;
    struct thing t;
    struct ww_param_view v;
    ww_param_defaults(rows, ROWS, &t);
    ww_param_view_fill(&rows[COUNT], &t, "a book", &v);
    assert_string_equal(v.key, "a.count");
    assert_string_equal(v.unit, "piece");
    assert_string_equal(v.bounds, "1..10");
    assert_string_equal(v.value, "4");
    assert_string_equal(v.source, "a book");
    ww_param_view_fill(&rows[SHAPE], &t, "", &v);
    assert_string_equal(v.unit, "");
    assert_string_equal(v.bounds, "round|square|flat");
    assert_string_equal(v.value, "square");
}

static void views_cut_long_sources_and_say_so(void **state) {
    (void)state;
    struct thing t = {.count = 1};
    struct ww_param_view v;
    char text[2000];
    memset(text, 's', sizeof text);
    text[sizeof text - 1] = 0;
    ww_param_view_fill(&rows[COUNT], &t, text, &v);
    assert_int_equal(strlen(v.source), sizeof v.source - 1);
    assert_string_equal(v.source + sizeof v.source - 4, "...");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(defaults_fill_every_row_and_count_those_without),
        cmocka_unit_test(text_is_read_under_its_type),
        cmocka_unit_test(bounds_are_inclusive_and_named_in_the_error),
        cmocka_unit_test(what_is_no_value_of_the_type_is_refused),
        cmocka_unit_test(strings_that_do_not_fit_are_refused),
        cmocka_unit_test(printed_values_read_back),
        cmocka_unit_test(numbers_are_printed_as_short_as_they_read_back),
        cmocka_unit_test(json_quotes_names_and_strings_only),
        cmocka_unit_test(the_nearest_key_is_found),
        cmocka_unit_test(views_hold_unit_bounds_value_and_source),
        cmocka_unit_test(views_cut_long_sources_and_say_so),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
