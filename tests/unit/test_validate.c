/* Rows of `warpwatt validate`: arithmetic, targets, and what is printed. */
#include "../../estimator/warpwatt.h"
#include "../../estimator/study/validate/rows/validate.h"
#include "result_fixture.h"
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

static struct ww_validation set;
static struct ww_error error;

static int start(void **state) {
    (void)state;
    return (int)ww_validation_init(&set, "test", &error);
}

static int stop(void **state) {
    (void)state;
    ww_validation_clear(&set);
    return 0;
}

static const struct ww_validate_row *add(struct ww_validate_row row) {
    if (!row.id) row.id = "row";
    row.what = "what";
    set.count = 0;
    if (ww_validate_add(&set, &row, &error) != WW_OK) fail_msg("%s", error.text);
    return &set.row[0];
}

static bool within(double ours, double paper, enum ww_validate_test test, double tolerance) {
    return add((struct ww_validate_row){.ours = ours, .paper = paper, .test = test, .tolerance = tolerance})
        ->within;
}

static void the_deviation_is_relative_to_the_papers_figure(void **state) {
    (void)state;
    assert_float_equal(add((struct ww_validate_row){.ours = 110, .paper = 100})->deviation, 0.1, 1e-12);
    assert_float_equal(add((struct ww_validate_row){.ours = -80, .paper = -64})->deviation, 0.25, 1e-12);
    assert_true(isnan(add((struct ww_validate_row){.ours = 1, .paper = 0})->deviation));
}

static void a_relative_tolerance_includes_its_bounds(void **state) {
    (void)state;
    assert_true(within(125, 100, WW_VALIDATE_RELATIVE, 0.25));
    assert_true(within(75, 100, WW_VALIDATE_RELATIVE, 0.25));
    assert_false(within(125.1, 100, WW_VALIDATE_RELATIVE, 0.25));
    assert_true(within(-75, -100, WW_VALIDATE_RELATIVE, 0.25));
    assert_false(within(75, -100, WW_VALIDATE_RELATIVE, 0.25));
}

static void an_absolute_tolerance_of_0_asks_for_the_very_figure(void **state) {
    (void)state;
    assert_true(within(3, 3, WW_VALIDATE_ABSOLUTE, 0));
    assert_false(within(4, 3, WW_VALIDATE_ABSOLUTE, 0));
    assert_true(within(4, 3, WW_VALIDATE_ABSOLUTE, 1));
}

static void a_bound_holds_on_one_side_only(void **state) {
    (void)state;
    assert_true(within(50, 40, WW_VALIDATE_AT_LEAST, 2));
    assert_true(within(38, 40, WW_VALIDATE_AT_LEAST, 2));
    assert_false(within(37, 40, WW_VALIDATE_AT_LEAST, 2));
    assert_true(within(-90, -66, WW_VALIDATE_AT_MOST, 0));
    assert_false(within(-60, -66, WW_VALIDATE_AT_MOST, 5));
}

static void a_figure_that_is_missing_is_never_within(void **state) {
    (void)state;
    const struct ww_validate_row *r = add((struct ww_validate_row){.ours = NAN, .paper = 3, .tolerance = 1});
    assert_true(r->counted && !r->within && isnan(r->deviation));
    r = add((struct ww_validate_row){.ours = 3, .paper = NAN, .tolerance = 1});
    assert_true(!r->counted && !r->within && isnan(r->deviation));
    r = add((struct ww_validate_row){.ours = INFINITY, .paper = 3, .test = WW_VALIDATE_AT_LEAST});
    assert_true(r->counted && !r->within && isnan(r->ours));
}

static void texts_are_within_if_they_are_equal(void **state) {
    (void)state;
    struct ww_validate_row row = {.ours_text = "32 sets", .paper_text = "32 sets", .ours = 1, .paper = 1};
    assert_true(add(row)->within && add(row)->counted && isnan(add(row)->deviation));
    row.ours_text = "16 sets";
    assert_false(add(row)->within);
    row.paper_text = NULL;
    assert_true(!add(row)->counted && !add(row)->within);
}

static void a_row_that_informs_only_is_not_counted(void **state) {
    (void)state;
    assert_false(add((struct ww_validate_row){.ours = 1, .paper = 1, .uncounted = true})->counted);
}

static void an_id_is_taken_once(void **state) {
    (void)state;
    struct ww_validate_row row = {.id = "a", .what = "w"};
    assert_int_equal(ww_validate_add(&set, &row, &error), WW_OK);
    assert_int_equal(ww_validate_add(&set, &row, &error), WW_INTERNAL);
    assert_int_equal(set.count, 1);
}

static void a_row_keeps_copies_of_its_strings(void **state) {
    (void)state;
    char id[] = "first";
    assert_string_equal(add((struct ww_validate_row){.id = id})->id, "first");
    id[0] = 'F';
    assert_string_equal(set.row[0].id, "first");
    assert_string_equal(set.row[0].why, "");
}

/* ---- targets ---- */

static void a_row_of_a_target_has_its_figure_and_unit(void **state) {
    (void)state;
    assert_int_equal(ww_validate_add_number(&set, "dis-p1-780", 200, WW_VALIDATE_RELATIVE, 0.05, NULL, &error),
                     WW_OK);
    const struct ww_validate_row *r = &set.row[0];
    assert_true(r->paper == 198 && r->within && r->counted);
    assert_string_equal(r->unit, "cycle");
    assert_string_equal(r->what, "gtx780, p-chase P1: latency");
}

static void a_target_of_structure_is_compared_as_text(void **state) {
    (void)state;
    const struct ww_target *t = ww_target_find(&set, "dis-tlb1");
    assert_non_null(t);
    assert_int_equal(ww_validate_add_text(&set, t->id, t->text, NULL, &error), WW_OK);
    assert_true(set.row[0].within);
    assert_string_equal(set.row[0].unit, "");
}

static void a_target_that_is_not_there_is_an_error(void **state) {
    (void)state;
    assert_null(ww_target_find(&set, "no-such"));
    assert_int_equal(ww_validate_add_number(&set, "no-such", 1, WW_VALIDATE_RELATIVE, 0, NULL, &error),
                     WW_INTERNAL);
    assert_non_null(strstr(error.text, "no-such"));
}

#define HEADING "id,paper,where,machine,workload,metric,value,unit,note\n"

static enum ww_code parse(const char *text, const struct ww_target **t, size_t *n) {
    return ww_targets_parse(text, strlen(text), "t.csv", &set.arena, t, n, &error);
}

static void a_quoted_field_may_hold_commas_and_quotes(void **state) {
    (void)state;
    const struct ww_target *t;
    size_t n;
    assert_int_equal(parse(HEADING "a,p,w,m,\"k, \"\"l\"\"\",x,1.5,u,\r\nb,,,,,,none,,end", &t, &n), WW_OK);
    assert_int_equal(n, 2);
    assert_string_equal(t[0].workload, "k, \"l\"");
    assert_true(t[0].value == 1.5 && isnan(t[1].value));
    assert_string_equal(t[1].text, "none");
    assert_string_equal(t[1].note, "end");
}

static void a_bad_line_of_targets_is_named(void **state) {
    (void)state;
    static const char *const bad[] = {
        "id,paper\n",
        HEADING "a,p,w,m,k,x,1,u\n",
        HEADING "a,p,w,m,k,x,1,u,n,more\n",
        HEADING ",p,w,m,k,x,1,u,n\n",
        HEADING "a,p,w,m,k,x,1,u,n\na,p,w,m,k,x,1,u,n\n",
        HEADING "a,\"p,w,m,k,x,1,u,n\n",
    };
    static const char *const place[] = {"t.csv:1", "t.csv:2", "t.csv:2", "t.csv:2", "t.csv:3", "t.csv:2"};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        const struct ww_target *t;
        size_t n;
        assert_int_equal(parse(bad[i], &t, &n), WW_INPUT);
        assert_string_equal(error.where, place[i]);
    }
}

/* ---- printing ---- */

static char *print(bool json) {
    char *text = NULL;
    size_t size;
    struct ww_validation *list = &set;
    FILE *out = open_memstream(&text, &size);
    assert_int_equal(ww_validation_print(&list, 1, json, out, &error), WW_OK);
    fclose(out);
    return text;
}

static void json_escapes_texts_and_has_null_for_what_is_missing(void **state) {
    (void)state;
    add((struct ww_validate_row){.id = "a\"b", .ours = NAN, .paper = 2, .why = "line\nbreak \\"});
    char *text = print(true);
    assert_non_null(strstr(text, "\"id\": \"a\\\"b\""));
    assert_non_null(strstr(text, "\"ours\": null"));
    assert_non_null(strstr(text, "\"paper\": 2"));
    assert_non_null(strstr(text, "\"deviation\": null"));
    assert_non_null(strstr(text, "line\\nbreak \\\\"));
    free(text);
}

static void json_has_texts_for_rows_of_structure(void **state) {
    (void)state;
    add((struct ww_validate_row){.ours_text = "4 ways"});
    char *text = print(true);
    assert_non_null(strstr(text, "\"ours\": \"4 ways\""));
    assert_non_null(strstr(text, "\"paper\": null"));
    assert_non_null(strstr(text, "\"tolerance\": null"));
    free(text);
}

static void the_last_line_counts_the_rows(void **state) {
    (void)state;
    struct ww_validate_row row = {.what = "w", .ours = 1, .paper = 1};
    for (int i = 0; i < 4; i++) {
        row.id = (const char *[]){"a", "b", "c", "d"}[i];
        row.ours = i == 1 ? 2 : 1;
        row.paper = i == 2 ? NAN : 1;
        assert_int_equal(ww_validate_add(&set, &row, &error), WW_OK);
    }
    char *text = print(false);
    assert_non_null(strstr(text, "\n4 rows, 2 within, 1 not counted\n"));
    free(text);
}

static bool refuse(void *context, double part, uint64_t done, const char *unit) {
    (void)part, (void)done, (void)unit;
    ++*(int *)context;
    return false;
}

static void a_suite_stops_when_it_is_asked_to(void **state) {
    (void)state;
    int calls = 0;
    struct ww_validate_options options = {.jobs = 1, .progress = refuse, .context = &calls};
    struct ww_validation *v = NULL;
    assert_int_equal(ww_validate("models", &options, &v, &error), WW_FAIL);
    assert_int_equal(calls, 1);
    assert_null(v);
}

/* Lets a few calls pass, and notes the parts of which they tell. */
struct patience {
    int calls;
    double part;
};

static bool refuse_the_third(void *context, double part, uint64_t done, const char *unit) {
    struct patience *p = context;
    (void)done, (void)unit;
    p->part = part;
    return ++p->calls < 3;
}

/* The first measurement of each takes many steps, and none is finished by the third. */
static void a_suite_stops_in_the_middle_of_a_measurement(void **state) {
    static const char *const suite[] = {"curves", "multiplexing", "d2ma", "dissecting", "sampling"};
    (void)state;
    for (size_t i = 0; i < sizeof suite / sizeof suite[0]; i++) {
        struct patience p = {0};
        struct ww_validate_options options = {.jobs = 1, .progress = refuse_the_third, .context = &p};
        struct ww_validation *v = NULL;
        assert_int_equal(ww_validate(suite[i], &options, &v, &error), WW_FAIL);
        assert_int_equal(p.calls, 3);
        assert_float_equal(p.part, 0, 0);
    }
}

static void an_unknown_suite_is_refused(void **state) {
    (void)state;
    struct ww_validation *v = NULL;
    assert_int_equal(ww_validate("modles", NULL, &v, &error), WW_USAGE);
    assert_non_null(strstr(error.text, "did you mean \"models\""));
}

/* The number behind "| id | what | " of a page; NAN without such a row. */
static double documented(const char *page, const char *id) {
    char start[80];
    snprintf(start, sizeof start, "\n| %s | ", id);
    const char *at = strstr(page, start);
    at = at ? strstr(at + strlen(start), " | ") : NULL;
    return at ? strtod(at + 3, NULL) : NAN;
}

/* Of each model, and docs/studies/gpus.md has what is measured. */
static void models_do_what_was_published_and_documented(void **state) {
    (void)state;
    struct ww_validate_options options = {.jobs = 1};
    struct ww_validation *v = NULL;
    char path[512];
    char *page = ww_fixture_read(ww_fixture_source_file("docs/studies/gpus.md", path));
    if (ww_validate("models", &options, &v, &error) != WW_OK) fail_msg("%s: %s", error.where, error.text);
    assert_true(v->count >= 54);
    for (size_t i = 0; i < v->count; i++) {
        const struct ww_validate_row *r = &v->row[i];
        double shown = documented(page, r->id);
        if (!r->within) fail_msg("%s: %g, published %g", r->id, r->ours, r->paper);
        if (!(fabs(shown - r->ours) <= 0.01 * r->ours))
            fail_msg("%s: %g, docs/studies/gpus.md has %g", r->id, r->ours, shown);
    }
    ww_validation_free(v);
    free(page);
}

#define T(f) cmocka_unit_test_setup_teardown(f, start, stop)

int main(void) {
    const struct CMUnitTest tests[] = {
        T(the_deviation_is_relative_to_the_papers_figure),
        T(a_relative_tolerance_includes_its_bounds),
        T(an_absolute_tolerance_of_0_asks_for_the_very_figure),
        T(a_bound_holds_on_one_side_only),
        T(a_figure_that_is_missing_is_never_within),
        T(texts_are_within_if_they_are_equal),
        T(a_row_that_informs_only_is_not_counted),
        T(an_id_is_taken_once),
        T(a_row_keeps_copies_of_its_strings),
        T(a_row_of_a_target_has_its_figure_and_unit),
        T(a_target_of_structure_is_compared_as_text),
        T(a_target_that_is_not_there_is_an_error),
        T(a_quoted_field_may_hold_commas_and_quotes),
        T(a_bad_line_of_targets_is_named),
        T(json_escapes_texts_and_has_null_for_what_is_missing),
        T(json_has_texts_for_rows_of_structure),
        T(the_last_line_counts_the_rows),
        T(a_suite_stops_when_it_is_asked_to),
        T(a_suite_stops_in_the_middle_of_a_measurement),
        T(an_unknown_suite_is_refused),
        T(models_do_what_was_published_and_documented),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
