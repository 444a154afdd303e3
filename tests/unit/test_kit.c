/* The measurement kit's parts that need no GPU: statistics, and the results file that grows from run to run. */
#include "../hardware/kit_result.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

#define GPU_LINE "{\"name\": \"a\"}"
#define OPEN "{\"schema\": \"" KIT_SCHEMA "\",\n\"gpu\": " GPU_LINE ",\n\"records\": [\n"

static char path[64];

static int setup(void **state) {
    (void)state;
    strcpy(path, "/tmp/warpwatt-kit-XXXXXX");
    int fd = mkstemp(path);
    if (fd < 0) return -1;
    close(fd);
    unlink(path);
    return 0;
}

static int teardown(void **state) {
    (void)state;
    unlink(path);
    return 0;
}

static void put_file(const char *text) {
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    fputs(text, f);
    fclose(f);
}

static char *get_file(void) {
    static char text[8192];
    FILE *f = fopen(path, "r");
    assert_non_null(f);
    text[fread(text, 1, sizeof text - 1, f)] = 0;
    fclose(f);
    return text;
}

static struct kit_value value(double median) {
    return (struct kit_value){median, median, median, 1};
}

/* ---- statistics ---- */

static void the_median_of_an_even_number_lies_between(void **state) {
    (void)state;
    double v[] = {4, 1, 3, 2};
    struct kit_value r = kit_value_of(v, 4);
    assert_true(r.median == 2.5 && r.count == 4);
}

static void quartiles_lie_at_a_quarter_of_the_way(void **state) {
    (void)state;
    double v[] = {50, 10, 40, 20, 30};
    struct kit_value r = kit_value_of(v, 5);
    assert_true(r.low == 20 && r.median == 30 && r.high == 40);
}

static void one_value_is_its_own_median_and_quartiles(void **state) {
    (void)state;
    double v[] = {7};
    struct kit_value r = kit_value_of(v, 1);
    assert_true(r.low == 7 && r.median == 7 && r.high == 7);
    r = kit_value_of(v, 0);
    assert_true(r.median == 0 && r.count == 0);
}

static void a_rate_swaps_the_quartiles_of_its_time(void **state) {
    (void)state;
    struct kit_value r = kit_value_rate((struct kit_value){2, 1, 4, 9}, 8);
    assert_true(r.median == 4 && r.low == 2 && r.high == 8 && r.count == 9);
    r = kit_value_rate((struct kit_value){0, 0, 0, 9}, 8);
    assert_true(r.median == 0 && r.high == 0);
}

/* ---- the file ---- */

static void what_was_measured_is_there_after_a_resume(void **state) {
    (void)state;
    struct kit_result r;
    assert_true(kit_result_open(&r, path, GPU_LINE, true)); /* there may be no file */
    assert_true(kit_result_figure(&r, "micro", "chase", "path=ca bytes=2048", "cycle", value(32)));
    assert_true(kit_result_line(&r, "suite/saxpy/0", "{\"id\": \"suite/saxpy/0\", \"kind\": \"launch\"}"));
    assert_true(kit_result_write(&r));
    char *first = strdup(get_file());
    kit_result_free(&r);
    assert_true(kit_result_open(&r, path, GPU_LINE, true));
    assert_true(r.count == 2 && kit_result_has(&r, "micro/chase/path=ca,bytes=2048"));
    assert_true(kit_result_has(&r, "suite/saxpy/0") && !kit_result_has(&r, "suite/saxpy"));
    assert_true(kit_result_write(&r));
    assert_string_equal(get_file(), first);
    kit_result_free(&r);
    free(first);
}

static void a_record_of_the_same_id_is_replaced(void **state) {
    (void)state;
    struct kit_result r;
    assert_true(kit_result_open(&r, path, GPU_LINE, false));
    assert_true(kit_result_figure(&r, "micro", "m", "", "s", value(1)));
    assert_true(kit_result_figure(&r, "micro", "m", "", "s", value(2)));
    assert_true(r.count == 1 && strstr(r.line[0], "\"median\": 2,"));
    kit_result_free(&r);
}

static void a_file_is_not_overwritten_without_resume(void **state) {
    (void)state;
    struct kit_result r;
    put_file(OPEN "]}\n");
    assert_false(kit_result_open(&r, path, GPU_LINE, false));
    assert_non_null(strstr(r.error, "--resume"));
    kit_result_free(&r);
}

static void another_gpus_file_is_refused(void **state) {
    (void)state;
    struct kit_result r;
    put_file(OPEN "]}\n");
    assert_false(kit_result_open(&r, path, "{\"name\": \"b\"}", true));
    assert_non_null(strstr(r.error, "another GPU"));
    kit_result_free(&r);
    assert_false(kit_result_open(&r, path, "{\"name\": \"a", true)); /* not a beginning of it either */
    kit_result_free(&r);
}

static void files_that_are_not_of_the_kit_are_refused(void **state) {
    (void)state;
    static const char *const bad[] = {"",
                                      "{}",
                                      "{\"schema\": \"" KIT_SCHEMA "\",\n",
                                      OPEN,
                                      OPEN "]}\nmore\n",
                                      OPEN "{\"id\": \"x\n]}\n",
                                      OPEN "{\"id\": \"x\"\n]}\n",
                                      OPEN "{\n]}\n",
                                      OPEN "\n]}\n",
                                      OPEN ",\n]}\n",
                                      OPEN "{\"kind\": \"figure\"}\n]}\n"};
    struct kit_result r;
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        put_file(bad[i]);
        if (kit_result_open(&r, path, GPU_LINE, true)) fail_msg("case %zu was taken", i);
        assert_true(r.error[0]);
        kit_result_free(&r);
    }
}

static void a_figure_that_is_not_finite_is_refused(void **state) {
    (void)state;
    struct kit_result r;
    assert_true(kit_result_open(&r, path, GPU_LINE, false));
    assert_false(kit_result_figure(&r, "micro", "m", "", "s", value(1.0 / 0.0)));
    assert_int_equal(r.count, 0);
    kit_result_free(&r);
}

static void a_result_that_cannot_be_written_says_why(void **state) {
    (void)state;
    struct kit_result r;
    assert_true(kit_result_open(&r, "/nonexistent/result.json", GPU_LINE, false));
    assert_false(kit_result_write(&r));
    assert_non_null(strstr(r.error, "No such file"));
    kit_result_free(&r);
}

static void text_becomes_a_json_string(void **state) {
    (void)state;
    char out[64], tiny[12];
    kit_json_string(out, sizeof out, "a\"b\\c\n\xff");
    assert_string_equal(out, "\"a\\\"b\\\\c\\u000a\\u00ff\"");
    kit_json_string(tiny, sizeof tiny, "\n\n\n\n\n\n");
    assert_true(strlen(tiny) < sizeof tiny && tiny[strlen(tiny) - 1] == '"');
}

int main(void) {
#define CASE(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
    const struct CMUnitTest tests[] = {
        CASE(the_median_of_an_even_number_lies_between), CASE(quartiles_lie_at_a_quarter_of_the_way),
        CASE(one_value_is_its_own_median_and_quartiles), CASE(a_rate_swaps_the_quartiles_of_its_time),
        CASE(what_was_measured_is_there_after_a_resume), CASE(a_record_of_the_same_id_is_replaced),
        CASE(a_file_is_not_overwritten_without_resume),  CASE(another_gpus_file_is_refused),
        CASE(files_that_are_not_of_the_kit_are_refused), CASE(a_figure_that_is_not_finite_is_refused),
        CASE(a_result_that_cannot_be_written_says_why),  CASE(text_becomes_a_json_string),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
