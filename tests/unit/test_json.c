/* JSON over parameter rows: what is read, and what each kind of bad input gets. */
#include "../../estimator/config/json.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <cmocka.h>

struct box {
    uint32_t width, kind;
    double weight;
    bool open;
    char label[WW_STR_MAX];
};

static const struct ww_param rows[] = {
    WW_PARAM_U32(box, width, "size.width", "mm", 1, 100, 7, "width"),
    WW_PARAM_F64(box, weight, "size.weight", "kg", 0, 5, 1, "weight"),
    WW_PARAM_BOOL(box, open, "open", 0, "no lid"),
    WW_PARAM_ENUM(box, kind, "kind", "paper|wood", 0, "made of"),
    WW_PARAM_STR(box, label, "label", "", "text on it"),
};
#define ROWS (sizeof rows / sizeof rows[0])

/* What one text gave. */
struct outcome {
    struct box box;
    bool seen[ROWS];
    const char *source[ROWS];
    struct ww_arena arena;
    enum ww_code code;
    struct ww_error error;
};

static void read_text(const char *text, bool need_source, struct outcome *o) {
    static const char *const reserved[] = {"sources", NULL};
    cJSON *root;
    memset(o, 0, sizeof *o);
    ww_arena_init(&o->arena, 0);
    ww_param_defaults(rows, ROWS, &o->box);
    o->code = ww_json_parse(text, strlen(text), "box.json", &root, &o->error);
    if (o->code != WW_OK) return;
    struct ww_json_reader r = {.file = "box.json",
                               .rows = rows,
                               .count = ROWS,
                               .object = &o->box,
                               .seen = o->seen,
                               .source = o->source,
                               .arena = &o->arena,
                               .sources = cJSON_GetObjectItemCaseSensitive(root, "sources"),
                               .need_source = need_source};
    o->code = ww_json_read_params(&r, root, "$", reserved, &o->error);
    cJSON_Delete(root);
}

/* The text must be refused, at this place, with this in the message. */
static void refused(const char *text, const char *where, const char *part) {
    struct outcome o;
    read_text(text, false, &o);
    assert_int_equal(o.code, WW_INPUT);
    assert_string_equal(o.error.where, where);
    if (!strstr(o.error.text, part)) fail_msg("\"%s\" is not in \"%s\"", part, o.error.text);
    ww_arena_free(&o.arena);
}

static void nested_objects_join_keys_with_dots(void **state) {
    (void)state;
    struct outcome o;
    read_text("{\"size\": {\"width\": 12, \"weight\": 0.5}, \"open\": true, \"kind\": \"wood\", \"label\": "
              "\"\\u00e9\"}",
              false, &o);
    assert_int_equal(o.code, WW_OK);
    assert_int_equal(o.box.width, 12);
    assert_true(o.box.weight == 0.5 && o.box.open && o.box.kind == 1);
    assert_string_equal(o.box.label, "\xc3\xa9");
    ww_arena_free(&o.arena);
}

static void dotted_keys_are_read_too(void **state) {
    (void)state;
    struct outcome o;
    read_text("{\"size.width\": 12}", false, &o);
    assert_int_equal(o.code, WW_OK);
    assert_int_equal(o.box.width, 12);
    ww_arena_free(&o.arena);
}

static void leaves_carry_sources_by_text_or_short_name(void **state) {
    (void)state;
    struct outcome o;
    read_text(
        "{\"sources\": {\"w\": \"The Whole Title, p. 3\"}, \"size\": {\"width\": {\"value\": 3, \"source\": "
        "\"w\", \"note\": \"n\"}, \"weight\": {\"value\": 2, \"source\": \"measured\"}}, \"open\": true}",
        false, &o);
    assert_int_equal(o.code, WW_OK);
    assert_int_equal(o.box.width, 3);
    assert_string_equal(o.source[0], "The Whole Title, p. 3");
    assert_string_equal(o.source[1], "measured");
    assert_string_equal(o.source[2], "");
    assert_null(o.source[3]);
    assert_true(o.seen[0] && o.seen[2] && !o.seen[3]);
    ww_arena_free(&o.arena);
}

static void a_value_without_source_fails_where_one_is_needed(void **state) {
    (void)state;
    struct outcome o;
    read_text("{\"open\": {\"value\": true}}", true, &o);
    assert_int_equal(o.code, WW_INPUT);
    assert_string_equal(o.error.where, "box.json: $.open");
    ww_arena_free(&o.arena);
    read_text("{\"open\": {\"value\": true, \"source\": \"seen\"}}", true, &o);
    assert_int_equal(o.code, WW_OK);
    ww_arena_free(&o.arena);
}

static void an_unknown_key_names_its_path_and_the_nearest(void **state) {
    (void)state;
    refused("{\"size\": {\"widht\": 3}}", "box.json: $.size.widht", "did you mean \"size.width\"");
    refused("{\"lable\": \"x\"}", "box.json: $.lable", "did you mean \"label\"");
    refused("{\"colour\": 3}", "box.json: $.colour", "unknown key");
}

static void an_empty_group_is_not_passed_over(void **state) {
    (void)state;
    refused("{\"siez\": {}}", "box.json: $.siez", "unknown key");
}

static void reserved_names_are_reserved_at_the_top_only(void **state) {
    (void)state;
    refused("{\"size\": {\"sources\": 3}}", "box.json: $.size.sources", "unknown key");
}

static void a_violated_bound_names_value_and_bounds(void **state) {
    (void)state;
    refused("{\"size\": {\"width\": 101}}", "box.json: $.size.width",
            "101 is out of bounds: expected 1..100 mm");
    refused("{\"size\": {\"width\": {\"value\": 2.5}}}", "box.json: $.size.width", "2.5 is not a whole number");
    refused("{\"size\": {\"weight\": 1e999}}", "box.json: $.size.weight", "out of bounds");
    refused("{\"kind\": \"iron\"}", "box.json: $.kind", "paper|wood");
}

static void a_value_of_the_wrong_type_is_refused(void **state) {
    (void)state;
    refused("{\"size\": {\"width\": \"3\"}}", "box.json: $.size.width", "met a string, expected a number");
    refused("{\"open\": 1}", "box.json: $.open", "met a number, expected true or false");
    refused("{\"kind\": 1}", "box.json: $.kind", "met a number");
    refused("{\"label\": null}", "box.json: $.label", "met null, expected a string");
    refused("{\"size\": 4}", "box.json: $.size", "unknown key");
    refused("{\"open\": [true]}", "box.json: $.open", "met an array");
    refused("[1]", "box.json: $", "met an array, expected an object");
}

static void unknown_keys_beside_a_value_are_refused(void **state) {
    (void)state;
    refused("{\"open\": {\"value\": true, \"sorce\": \"x\"}}", "box.json: $.open.sorce", "unknown key");
    refused("{\"open\": {\"value\": true, \"source\": 3}}", "box.json: $.open", "\"source\"");
}

static void a_key_given_twice_is_refused(void **state) {
    (void)state;
    refused("{\"open\": true, \"open\": false}", "box.json", "\"open\" appears twice");
    refused("{\"size\": {\"width\": 1, \"weight\": 1, \"width\": 1}}", "box.json", "\"width\" appears twice");
    refused("{\"size\": {\"width\": 1}, \"size.width\": 2}", "box.json: $.size.width", "given twice");
}

static void bad_syntax_names_line_and_column(void **state) {
    (void)state;
    refused("{\n  \"open\": tru\n}", "box.json:2:11", "not valid JSON");
    refused("{\"open\": true", "box.json:1:14", "ends too early");
    refused("", "box.json:1:1", "ends too early");
    refused("{} {}", "box.json:1:4", "nothing more");
}

static void deep_nesting_is_refused(void **state) {
    (void)state;
    char text[4096];
    memset(text, '[', sizeof text);
    text[sizeof text - 1] = 0;
    refused(text, "box.json:1:65", "deeper than 64");
}

static void brackets_in_strings_do_not_nest(void **state) {
    (void)state;
    struct outcome o;
    read_text("{\"label\": \"[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[\\\"{{{{{{{{{{{{{{\"}", false, &o);
    assert_int_equal(o.code, WW_OK);
    ww_arena_free(&o.arena);
}

static void texts_that_json_forbids_are_refused(void **state) {
    (void)state;
    refused("{\"label\": \"a\xff\"}", "box.json:1:13", "not UTF-8");
    refused("{\"label\": \"\xc0\x80\"}", "box.json:1:12", "not UTF-8");
    refused("{\"label\": \"\xed\xa0\x80\"}", "box.json:1:12", "not UTF-8");
    refused("{\"label\": \"a\tb\"}", "box.json:1:13", "control character");
    refused("{\"label\": \"a\\u0000b\"}", "box.json:1:13", "\\u0000");
}

static void many_keys_are_checked_in_reasonable_time(void **state) {
    (void)state;
    struct ww_buf b = {0};
    ww_buf_puts(&b, "{\"sources\": {");
    for (int i = 0; i < 100000; i++) ww_buf_printf(&b, "\"k%d\": 1, ", i);
    ww_buf_puts(&b, "\"k5\": 1}}");
    cJSON *root;
    struct ww_error e;
    assert_int_equal(ww_json_parse(b.p, b.n, "big.json", &root, &e), WW_INPUT);
    assert_non_null(strstr(e.text, "\"k5\""));
    ww_buf_free(&b);
}

static void getters_name_the_key(void **state) {
    (void)state;
    cJSON *root;
    struct ww_error e;
    double v;
    const char *s;
    static const char *const keys[] = {"a", "b", NULL};
    assert_int_equal(ww_json_parse("{\"a\": 3, \"b\": \"x\"}", 18, "f", &root, &e), WW_OK);
    assert_int_equal(ww_json_get_number(root, "a", "f: $", 0, 10, &v, &e), WW_OK);
    assert_true(v == 3);
    assert_int_equal(ww_json_get_number(root, "a", "f: $", 4, 10, &v, &e), WW_INPUT);
    assert_string_equal(e.where, "f: $.a");
    assert_int_equal(ww_json_get_number(root, "c", "f: $", 0, 1, &v, &e), WW_INPUT);
    assert_non_null(strstr(e.text, "missing"));
    assert_int_equal(ww_json_get_string(root, "b", "f: $", &s, &e), WW_OK);
    assert_string_equal(s, "x");
    assert_int_equal(ww_json_get_string(root, "a", "f: $", &s, &e), WW_INPUT);
    assert_int_equal(ww_json_only_keys(root, keys, "f: $", &e), WW_OK);
    assert_int_equal(ww_json_only_keys(root, keys + 1, "f: $", &e), WW_INPUT);
    assert_string_equal(e.where, "f: $.a");
    cJSON_Delete(root);
}

static void files_that_cannot_be_read_are_io_errors(void **state) {
    (void)state;
    struct ww_buf b;
    struct ww_error e;
    assert_int_equal(ww_read_file("/nonexistent/x", 100, &b, &e), WW_IO);
    assert_string_equal(e.where, "/nonexistent/x");
    assert_int_equal(ww_read_file("/tmp", 100, &b, &e), WW_IO);
    assert_non_null(strstr(e.text, "directory"));
}

static void a_fifo_with_a_name_is_refused_at_once(void **state) {
    (void)state;
    struct ww_buf b;
    struct ww_error e;
    char folder[] = "/tmp/ww_json_XXXXXX", path[64];
    assert_non_null(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/fifo", folder);
    assert_int_equal(mkfifo(path, 0600), 0);
    alarm(10); /* nobody writes: a reader that waits is ended */
    assert_int_equal(ww_read_file(path, 100, &b, &e), WW_IO);
    alarm(0);
    assert_non_null(strstr(e.text, "FIFO"));
    unlink(path);
    rmdir(folder);
}

static void files_over_the_limit_are_refused(void **state) {
    (void)state;
    struct ww_buf b;
    struct ww_error e;
    assert_int_equal(ww_read_file("/dev/zero", 1000, &b, &e), WW_INPUT);
    assert_null(b.p);
}

static void a_pipe_is_read_to_its_end(void **state) {
    (void)state;
    int fd[2];
    char path[64];
    struct ww_buf b;
    struct ww_error e;
    assert_int_equal(pipe(fd), 0);
    assert_int_equal(write(fd[1], "hello", 5), 5);
    close(fd[1]);
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd[0]);
    assert_int_equal(ww_read_file(path, 100, &b, &e), WW_OK);
    assert_string_equal(b.p, "hello");
    assert_int_equal(b.n, 5);
    ww_buf_free(&b);
    close(fd[0]);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nested_objects_join_keys_with_dots),
        cmocka_unit_test(dotted_keys_are_read_too),
        cmocka_unit_test(leaves_carry_sources_by_text_or_short_name),
        cmocka_unit_test(a_value_without_source_fails_where_one_is_needed),
        cmocka_unit_test(an_unknown_key_names_its_path_and_the_nearest),
        cmocka_unit_test(an_empty_group_is_not_passed_over),
        cmocka_unit_test(reserved_names_are_reserved_at_the_top_only),
        cmocka_unit_test(a_violated_bound_names_value_and_bounds),
        cmocka_unit_test(a_value_of_the_wrong_type_is_refused),
        cmocka_unit_test(unknown_keys_beside_a_value_are_refused),
        cmocka_unit_test(a_key_given_twice_is_refused),
        cmocka_unit_test(bad_syntax_names_line_and_column),
        cmocka_unit_test(deep_nesting_is_refused),
        cmocka_unit_test(brackets_in_strings_do_not_nest),
        cmocka_unit_test(texts_that_json_forbids_are_refused),
        cmocka_unit_test(many_keys_are_checked_in_reasonable_time),
        cmocka_unit_test(getters_name_the_key),
        cmocka_unit_test(files_that_cannot_be_read_are_io_errors),
        cmocka_unit_test(a_fifo_with_a_name_is_refused_at_once),
        cmocka_unit_test(files_over_the_limit_are_refused),
        cmocka_unit_test(a_pipe_is_read_to_its_end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
