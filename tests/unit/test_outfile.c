/* What may be written over: base/outfile.h. */
#include "../../estimator/base/outfile.h"
#include <limits.h>
#include <setjmp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

static char home[PATH_MAX];

static int enter_folder(void **state) {
    (void)state;
    char name[] = "/tmp/warpwatt-outfile-XXXXXX";
    return mkdtemp(name) && realpath(name, home) && chdir(home) == 0 ? 0 : -1;
}

static int leave_folder(void **state) {
    (void)state;
    static const char *const made[] = {"file", "fifo", "link", "dangling", "loop"};
    for (size_t i = 0; i < sizeof made / sizeof *made; i++) unlink(made[i]);
    return chdir("/") == 0 && rmdir(home) == 0 ? 0 : -1;
}

static void expect_target(const char *path, const char *expected) {
    char *target;
    struct ww_error e;
    assert_int_equal(ww_outfile_resolve(path, &target, &e), WW_OK);
    assert_string_equal(target, expected);
    free(target);
}

static void expect_failure(const char *path, enum ww_code code, const char *text) {
    char *target;
    struct ww_error e;
    assert_int_equal(ww_outfile_resolve(path, &target, &e), code);
    assert_null(target);
    assert_non_null(strstr(e.text, text));
}

static void a_new_name_is_taken_as_it_is(void **state) {
    (void)state;
    expect_target("new.wwt", "new.wwt");
    expect_target("none/new.wwt", "none/new.wwt");
}

static void a_link_resolves_to_its_file(void **state) {
    (void)state;
    char whole[PATH_MAX + 8];
    FILE *f = fopen("file", "w");
    assert_non_null(f);
    fclose(f);
    assert_int_equal(symlink("file", "link"), 0);
    snprintf(whole, sizeof whole, "%s/file", home);
    expect_target("link", whole);
}

static void a_link_without_a_file_resolves_to_the_name(void **state) {
    (void)state;
    char link[PATH_MAX + 16], whole[PATH_MAX + 16];
    assert_int_equal(symlink("unmade", "dangling"), 0);
    expect_target("dangling", "unmade");
    snprintf(link, sizeof link, "%s/dangling", home);
    snprintf(whole, sizeof whole, "%s/unmade", home);
    expect_target(link, whole);
}

static void links_in_a_circle_are_an_error(void **state) {
    (void)state;
    assert_int_equal(symlink("loop", "loop"), 0);
    expect_failure("loop", WW_IO, "cannot be followed");
}

static void what_is_no_regular_file_is_refused(void **state) {
    (void)state;
    assert_int_equal(mkfifo("fifo", 0600), 0);
    expect_failure("fifo", WW_USAGE, "is a FIFO; expected a regular file or a new name");
    expect_failure(".", WW_USAGE, "is a directory");
}

static void standard_output_and_no_name_are_refused(void **state) {
    (void)state;
    expect_failure("-", WW_USAGE, "standard output");
    expect_failure("", WW_USAGE, "empty");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_new_name_is_taken_as_it_is),
        cmocka_unit_test(a_link_resolves_to_its_file),
        cmocka_unit_test(a_link_without_a_file_resolves_to_the_name),
        cmocka_unit_test(links_in_a_circle_are_an_error),
        cmocka_unit_test(what_is_no_regular_file_is_refused),
        cmocka_unit_test(standard_output_and_no_name_are_refused),
    };
    return cmocka_run_group_tests(tests, enter_folder, leave_folder);
}
