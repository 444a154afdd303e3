/* What may be written over: base/outfile.h. */
#include "../../estimator/base/outfile.h"
#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <setjmp.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
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
    static const char *const made[] = {"file", "fifo", "link", "dangling", "loop", "hard"};
    for (size_t i = 0; i < sizeof made / sizeof *made; i++) unlink(made[i]);
    return chdir("/") == 0 && rmdir(home) == 0 ? 0 : -1;
}

static void expect_target(const char *path, const char *expected) {
    char *target;
    struct ww_error e;
    assert_int_equal(ww_outfile_resolve(path, WW_OUTFILE_TRACE, &target, &e), WW_OK);
    assert_string_equal(target, expected);
    free(target);
}

static void expect_failure(const char *path, enum ww_code code, const char *text) {
    char *target;
    struct ww_error e;
    assert_int_equal(ww_outfile_resolve(path, WW_OUTFILE_TRACE, &target, &e), code);
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

static void what_is_no_regular_file_is_written_directly(void **state) {
    (void)state;
    struct ww_outfile f;
    char *target = "";
    struct ww_error e;
    assert_int_equal(mkfifo("fifo", 0600), 0);
    assert_int_equal(ww_outfile_resolve("fifo", WW_OUTFILE_TRACE, &target, &e), WW_OK);
    assert_null(target);
    assert_int_equal(ww_outfile_stream(&f, "/dev/null", WW_OUTFILE_PAGE, &e), WW_OK);
    assert_int_equal(ww_outfile_close(&f, WW_OK, &e), WW_OK);
    struct stat st;
    assert_int_equal(stat("/dev/null", &st), 0);
    assert_true(S_ISCHR(st.st_mode));
    assert_int_equal(ww_outfile_stream(&f, "/dev/full", WW_OUTFILE_PAGE, &e), WW_OK);
    fputs("text", f.stream);
    assert_int_equal(ww_outfile_close(&f, WW_OK, &e), WW_IO);
    assert_non_null(strstr(e.text, "No space left on device"));
}

/* The file that a shell opened for `-o /dev/stdout >file`. */
static void an_open_descriptor_is_written_itself(void **state) {
    (void)state;
    struct ww_outfile f;
    struct ww_error e;
    struct stat before, after;
    char name[32], text[8] = "";
    int fd = open("file", O_RDWR | O_CREAT | O_TRUNC, 0600);
    assert_true(fd >= 0);
    assert_int_equal(fstat(fd, &before), 0);
    snprintf(name, sizeof name, "/dev/fd/%d", fd);
    assert_int_equal(ww_outfile_stream(&f, name, WW_OUTFILE_PAGE, &e), WW_OK);
    fputs("text", f.stream);
    assert_int_equal(ww_outfile_close(&f, WW_OK, &e), WW_OK);
    assert_int_equal(pread(fd, text, sizeof text - 1, 0), 4);
    assert_string_equal(text, "text");
    assert_int_equal(stat("file", &after), 0);
    assert_true(before.st_ino == after.st_ino);
    close(fd);
}

static void the_file_of_an_open_descriptor_must_be_empty(void **state) {
    (void)state;
    char name[32];
    int fd = open("file", O_RDWR | O_CREAT | O_TRUNC, 0600);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, "text", 4), 4);
    snprintf(name, sizeof name, "/proc/self/fd/%d", fd);
    expect_failure(name, WW_USAGE, "is not empty");
    close(fd);
}

static void a_directory_is_refused(void **state) {
    (void)state;
    expect_failure(".", WW_USAGE, "is a directory; expected a new name, an empty file, or a trace to replace");
}

static void put(const char *path, const void *bytes, size_t n) {
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    assert_int_equal(fwrite(bytes, 1, n, f), n);
    assert_int_equal(fclose(f), 0);
}

/* First bytes of a file of each kind, as the writers make them. */
static const struct {
    enum ww_outfile_kind kind;
    const char *text;
    size_t n;
} sample[] = {
#define S(kind, text)                                                                                          \
    { WW_OUTFILE_##kind, text, sizeof(text) - 1 }
    S(TRACE, "\x89WWT\r\n\x1a\n rest"),
    S(DATABASE, "SQLite format 3\0" /* 68 bytes in front of the application id */
                "1234567890123456789012345678901234567890123456789012WwDB1234567890123456789012345678901234"),
    S(PROFILE, "WWPROF\1\0"),
    S(PAGE, "<!DOCTYPE html>\n<html>\n<meta name=\"generator\" content=\"warpwatt 0.1\">"),
    S(GPU, "{\n  \"description\": \"x\",\n  \"inherits\": \"v100\"}"),
    S(POWER, "{\n  \"description\": \"x\",\n  \"sources\": {},\n  \"events\": []}"),
    S(FIT, "/* Written by `warpwatt calibrate analytic` (make analytic-fit): do not edit."),
    S(SCRIPT, "# gnuplot figures.gp: figures"),
    S(DATA, "# CTAs, threads\n1 2.5 3\n"),
    S(SVG, "<?xml version=\"1.0\"?>\n<svg width=\"1\">"),
    S(PNG, "\x89PNG\r\n\x1a\n"),
#undef S
};
enum { SAMPLES = sizeof sample / sizeof *sample };

static void each_kind_replaces_itself_and_no_other(void **state) {
    (void)state;
    struct ww_error e;
    assert_int_equal(SAMPLES, WW_OUTFILE_KINDS);
    for (int i = 0; i < SAMPLES; i++) {
        put("file", sample[i].text, sample[i].n);
        for (int k = 0; k < SAMPLES; k++)
            assert_int_equal(ww_outfile_check("file", sample[k].kind, &e),
                             i == k ||
                                     (sample[k].kind == WW_OUTFILE_DATA && sample[i].kind == WW_OUTFILE_SCRIPT)
                                 ? WW_OK
                                 : WW_USAGE);
    }
}

static void texts_of_users_are_of_no_kind(void **state) {
    (void)state;
    static const char *const text[] = {"{\"gpu\": \"v100\", \"parameters\": {}}", "trace,power_w\na.wwt,100\n",
                                       "1,2,3\n", "a note\n", "<!DOCTYPE html><p>mine</p>"};
    struct ww_error e;
    for (size_t i = 0; i < sizeof text / sizeof *text; i++) {
        put("file", text[i], strlen(text[i]));
        for (int k = 0; k < WW_OUTFILE_KINDS; k++)
            assert_int_equal(ww_outfile_check("file", (enum ww_outfile_kind)k, &e), WW_USAGE);
        assert_non_null(strstr(e.text, "is a file of another kind, which is not written over"));
    }
}

static void an_empty_file_is_of_every_kind(void **state) {
    (void)state;
    struct ww_error e;
    put("file", "", 0);
    for (int k = 0; k < WW_OUTFILE_KINDS; k++)
        assert_int_equal(ww_outfile_check("file", (enum ww_outfile_kind)k, &e), WW_OK);
}

static void an_input_is_known_by_any_name(void **state) {
    (void)state;
    struct ww_error e;
    put("file", "x", 1);
    unlink("link");
    assert_int_equal(symlink("file", "link"), 0);
    assert_int_equal(link("file", "hard"), 0);
    assert_int_equal(ww_outfile_not_input("link", "file", &e), WW_USAGE);
    assert_int_equal(ww_outfile_not_input("hard", "file", &e), WW_USAGE);
    assert_non_null(strstr(e.text, "the output is also an input"));
    assert_int_equal(ww_outfile_not_input("new", "file", &e), WW_OK);
    assert_int_equal(ww_outfile_not_input("/dev/null", "/dev/null", &e), WW_OK);
}

static size_t files_named(const char *part) {
    size_t n = 0;
    DIR *d = opendir(".");
    assert_non_null(d);
    for (struct dirent *e; (e = readdir(d));) n += strstr(e->d_name, part) != NULL;
    closedir(d);
    return n;
}

static void a_failure_leaves_the_old_file(void **state) {
    (void)state;
    struct ww_outfile f;
    struct ww_error e;
    char text[16] = "";
    put("file", sample[0].text, sample[0].n);
    assert_int_equal(ww_outfile_stream(&f, "file", WW_OUTFILE_TRACE, &e), WW_OK);
    fputs("half of it", f.stream);
    assert_int_equal(ww_outfile_close(&f, WW_FAIL, &e), WW_FAIL);
    FILE *in = fopen("file", "r");
    assert_int_equal(fread(text, 1, 4, in), 4);
    fclose(in);
    assert_memory_equal(text, sample[0].text, 4);
    assert_int_equal(files_named(".tmp-ww-"), 0);
}

static void a_printer_that_fails_names_the_file(void **state) {
    (void)state;
    struct ww_outfile f;
    struct ww_error e;
    assert_int_equal(ww_outfile_stream(&f, "page", WW_OUTFILE_PAGE, &e), WW_OK);
    enum ww_code code = ww_fail(&e, WW_IO, "", "the output could not be written");
    assert_int_equal(ww_outfile_close(&f, code, &e), WW_IO);
    assert_string_equal(e.where, "page");
    assert_int_equal(access("page", F_OK), -1);
}

/* A child makes a temporary file and a folder with a file in it, and is killed. */
static void killed_child(void) {
    int ready[2];
    char byte;
    assert_int_equal(pipe(ready), 0);
    pid_t child = fork();
    if (child == 0) {
        struct ww_temp file, folder;
        struct ww_error e;
        char inner[PATH_MAX];
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        if (ww_temp_beside("out", &file, &e) != WW_OK || ww_temp_folder(&folder, &e) != WW_OK) _exit(1);
        snprintf(inner, sizeof inner, "%s/0.wwt", folder.path);
        close(open(inner, O_WRONLY | O_CREAT, 0600));
        if (write(ready[1], "x", 1) != 1) _exit(1);
        pause();
    }
    assert_int_equal(read(ready[0], &byte, 1), 1);
    assert_int_equal(files_named(".tmp-ww-"), 1);
    assert_int_equal(files_named("warpwatt-tmp-"), 1);
    kill(child, SIGKILL);
    waitpid(child, NULL, 0);
    close(ready[0]);
    close(ready[1]);
}

static void what_a_killed_process_left_is_taken_away(void **state) {
    (void)state;
    struct ww_temp file, folder;
    struct ww_error e;
    setenv("TMPDIR", home, 1);
    killed_child();
    put("notes.tmp-ww-x", "mine", 4);
    assert_int_equal(ww_temp_beside("other", &file, &e), WW_OK); /* of another output in the same folder */
    assert_int_equal(ww_temp_folder(&folder, &e), WW_OK);
    assert_int_equal(files_named(".tmp-ww-"), 2); /* ours, and what only looks like one */
    assert_int_equal(files_named("warpwatt-tmp-"), 1);
    ww_temp_remove(&file);
    ww_temp_remove(&folder);
    assert_int_equal(files_named("-tmp-"), 0);
    assert_int_equal(unlink("notes.tmp-ww-x"), 0);
}

static void what_a_process_at_work_has_stays(void **state) {
    (void)state;
    struct ww_temp file, folder, more, second;
    struct ww_error e;
    setenv("TMPDIR", home, 1);
    assert_int_equal(ww_temp_beside("out", &file, &e), WW_OK);
    assert_int_equal(ww_temp_folder(&folder, &e), WW_OK);
    pid_t child = fork();
    if (child == 0) {
        bool good = ww_temp_beside("out", &more, &e) == WW_OK && ww_temp_folder(&second, &e) == WW_OK;
        ww_temp_remove(&more);
        ww_temp_remove(&second);
        _exit(good ? 0 : 1);
    }
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    assert_int_equal(access(file.path, F_OK), 0);
    assert_int_equal(access(folder.path, F_OK), 0);
    ww_temp_remove(&file);
    ww_temp_remove(&folder);
}

/* A process that makes the next temporary file takes away those that nobody has locked: between another's
 * open() and its lock, that one's, too. */
static void processes_that_write_in_one_folder_lose_nothing(void **state) {
    (void)state;
    enum { PROCESSES = 6, FILES = 1500 };
    pid_t child[PROCESSES];
    int status;
    for (int i = 0; i < PROCESSES; i++) {
        child[i] = fork();
        if (child[i] != 0) continue;
        char name[32];
        struct ww_outfile f;
        struct ww_error e;
        int lost = 0;
        snprintf(name, sizeof name, "out-%d", i);
        for (int n = 0; n < FILES; n++)
            if (ww_outfile_open(&f, name, WW_OUTFILE_TRACE, &e) != WW_OK ||
                ww_outfile_close(&f, WW_OK, &e) != WW_OK)
                lost++;
        unlink(name);
        _exit(lost != 0);
    }
    for (int i = 0; i < PROCESSES; i++) {
        assert_int_equal(waitpid(child[i], &status, 0), child[i]);
        assert_int_equal(status, 0);
    }
    assert_int_equal(files_named(".tmp-ww-"), 0);
}

static void standard_output_and_no_name_are_refused(void **state) {
    (void)state;
    expect_failure("-", WW_USAGE, "/dev/stdout is standard output");
    expect_failure("", WW_USAGE, "empty");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_new_name_is_taken_as_it_is),
        cmocka_unit_test(a_link_resolves_to_its_file),
        cmocka_unit_test(a_link_without_a_file_resolves_to_the_name),
        cmocka_unit_test(links_in_a_circle_are_an_error),
        cmocka_unit_test(what_is_no_regular_file_is_written_directly),
        cmocka_unit_test(an_open_descriptor_is_written_itself),
        cmocka_unit_test(the_file_of_an_open_descriptor_must_be_empty),
        cmocka_unit_test(a_directory_is_refused),
        cmocka_unit_test(each_kind_replaces_itself_and_no_other),
        cmocka_unit_test(texts_of_users_are_of_no_kind),
        cmocka_unit_test(an_empty_file_is_of_every_kind),
        cmocka_unit_test(an_input_is_known_by_any_name),
        cmocka_unit_test(a_failure_leaves_the_old_file),
        cmocka_unit_test(a_printer_that_fails_names_the_file),
        cmocka_unit_test(what_a_killed_process_left_is_taken_away),
        cmocka_unit_test(what_a_process_at_work_has_stays),
        cmocka_unit_test(processes_that_write_in_one_folder_lose_nothing),
        cmocka_unit_test(standard_output_and_no_name_are_refused),
    };
    return cmocka_run_group_tests(tests, enter_folder, leave_folder);
}
