/* Storing by path, and databases that may only be read: what is left in the folder. */
#include "../../estimator/warpwatt.h"
#include "db_fixture.h"
#include <dirent.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cmocka.h>

static int files_in(const char *dir) {
    int n = 0;
    DIR *d = opendir(dir);
    assert_non_null(d);
    for (const struct dirent *e; (e = readdir(d));) n += e->d_name[0] != '.';
    closedir(d);
    return n;
}

static void close_db(struct ww_db_fixture *f) {
    ww_db_close(f->db);
    f->db = NULL;
}

/* Files may have at most so many bytes; SIZE_MAX: as many as before. */
static void limit_files(size_t bytes) {
    static struct rlimit before;
    struct rlimit now;
    if (bytes == SIZE_MAX) {
        setrlimit(RLIMIT_FSIZE, &before);
        return;
    }
    signal(SIGXFSZ, SIG_IGN);
    getrlimit(RLIMIT_FSIZE, &before);
    now = before;
    now.rlim_cur = bytes;
    setrlimit(RLIMIT_FSIZE, &now);
}

static void a_result_makes_the_database_it_is_stored_in(void **state) {
    struct ww_db_fixture *f = *state;
    char path[128];
    int64_t id = 0;
    snprintf(path, sizeof path, "%s/new.db", f->dir);
    struct ww_result *r = ww_fixture_result(NULL);
    close_db(f);
    for (int i = 1; i <= 2; i++) {
        assert_int_equal(ww_db_store_at(path, r, &id, &f->error), WW_OK);
        assert_int_equal(id, i);
    }
    ww_result_free(r);
    assert_int_equal(files_in(f->dir), 2); /* the fixture's and this one */
}

static void a_full_disk_leaves_no_new_database(void **state) {
    struct ww_db_fixture *f = *state;
    char path[128];
    snprintf(path, sizeof path, "%s/new.db", f->dir);
    struct ww_result *r = ww_fixture_result(NULL);
    close_db(f);
    enum ww_code check[3], store[3];
    for (size_t i = 0; i < 3; i++) { /* nothing, a part of the tables, a part of the result */
        limit_files(i ? i * 60000 : 1);
        check[i] = ww_db_check_path(path, &f->error);
        store[i] = ww_db_store_at(path, r, NULL, &f->error);
        limit_files(SIZE_MAX);
    }
    ww_result_free(r);
    assert_int_equal(check[0], WW_IO);
    assert_int_equal(check[1], WW_IO);
    for (size_t i = 0; i < 3; i++) assert_int_equal(store[i], WW_IO);
    assert_string_equal(f->error.where, path);
    assert_int_equal(files_in(f->dir), 1);
}

static void the_limit_of_file_sizes_is_named_for_a_new_database(void **state) {
    struct ww_db_fixture *f = *state;
    char path[128];
    snprintf(path, sizeof path, "%s/new.db", f->dir);
    for (size_t bytes = 1; bytes < 200000; bytes += 40000) {
        struct ww_db *db = NULL;
        limit_files(bytes);
        enum ww_code code = ww_db_open(path, true, &db, &f->error);
        limit_files(SIZE_MAX);
        assert_int_equal(code, WW_IO);
        ww_fixture_assert_contains(f->error.text, "the limit of file sizes is reached (ulimit -f)");
    }
}

/* The log beside the database reaches it first. */
static void the_limit_of_file_sizes_is_named_for_a_database_that_grows(void **state) {
    struct ww_db_fixture *f = *state;
    struct ww_result *r = ww_fixture_result(&(struct ww_fixture){.seed = 9, .launches = 3000});
    ww_db_fixture_store(f, NULL);
    limit_files(700000);
    enum ww_code code = ww_db_store(f->db, r, NULL, &f->error);
    limit_files(SIZE_MAX);
    ww_result_free(r);
    assert_int_equal(code, WW_IO);
    ww_fixture_assert_contains(f->error.text, "the limit of file sizes is reached (ulimit -f)");
}

static void looking_at_a_path_makes_nothing(void **state) {
    struct ww_db_fixture *f = *state;
    char path[128];
    close_db(f);
    snprintf(path, sizeof path, "%s/new.db", f->dir);
    assert_int_equal(ww_db_check_path(path, &f->error), WW_OK);
    assert_int_equal(ww_db_check_path(f->path, &f->error), WW_OK);
    assert_int_equal(files_in(f->dir), 1);
    snprintf(path, sizeof path, "%s/none/new.db", f->dir);
    assert_int_equal(ww_db_check_path(path, &f->error), WW_IO);
    assert_int_equal(ww_db_check_path(f->dir, &f->error), WW_IO);
}

static void a_path_that_names_no_file_of_ours_is_refused_at_once(void **state) {
    struct ww_db_fixture *f = *state;
    char path[128];
    snprintf(path, sizeof path, "%s/text", f->dir);
    FILE *file = fopen(path, "w");
    for (int i = 0; i < 200; i++) fputs("no database ", file);
    fclose(file);
    assert_int_equal(ww_db_check_path(path, &f->error), WW_DB);
    assert_int_equal(ww_db_check_path(":memory:", &f->error), WW_USAGE);
    ww_fixture_assert_contains(f->error.text, "in memory");
    assert_int_equal(ww_db_check_path("", &f->error), WW_USAGE);
}

static void a_read_only_file_is_read_and_nothing_appears_beside_it(void **state) {
    struct ww_db_fixture *f = *state;
    ww_db_fixture_store(f, NULL);
    close_db(f);
    assert_int_equal(chmod(f->path, 0444), 0);
    assert_int_equal(ww_db_open(f->path, false, &f->db, &f->error), WW_OK);
    char *text = ww_db_fixture_query(f, "SELECT count(*) AS n FROM run", WW_FORMAT_CSV);
    assert_string_equal(text, "n\r\n1\r\n");
    free(text);
    assert_int_equal(files_in(f->dir), 1);
    close_db(f);
    assert_int_equal(files_in(f->dir), 1);
}

/* In a process of its own, as a user who may read all and write nothing. */
static void a_database_in_a_folder_of_others_is_read(void **state) {
    struct ww_db_fixture *f = *state;
    ww_db_fixture_store(f, NULL);
    close_db(f);
    assert_int_equal(chmod(f->dir, 0555), 0);
    assert_int_equal(chmod(f->path, 0644), 0);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        int64_t last = 0;
        if (geteuid() == 0 && setuid(65534) != 0) _exit(2);
        enum ww_code code = ww_db_open(f->path, false, &f->db, &f->error);
        if (code == WW_OK) code = ww_db_last_run(f->db, &last, &f->error);
        _exit(code == WW_OK && last == 1 ? 0 : 1);
    }
    int status = -1;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(chmod(f->dir, 0755), 0);
    assert_int_equal(status, 0);
    assert_int_equal(files_in(f->dir), 1);
}

/* What opening says to a user who may not write. The file is stored and closed. */
static void refused_to_others(struct ww_db_fixture *f, bool create, const char *text) {
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        if (geteuid() == 0 && setuid(65534) != 0) _exit(2);
        enum ww_code code = ww_db_open(f->path, create, &f->db, &f->error);
        if (code != WW_IO || !strstr(f->error.text, text)) fprintf(stderr, "%d %s\n", code, f->error.text);
        _exit(code == WW_IO && strstr(f->error.text, text) ? 0 : 1);
    }
    int status = -1;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(chmod(f->dir, 0755), 0);
    assert_int_equal(status, 0);
}

static void a_database_that_may_not_be_written_says_so(void **state) {
    struct ww_db_fixture *f = *state;
    ww_db_fixture_store(f, NULL);
    close_db(f);
    assert_int_equal(chmod(f->path, 0444), 0);
    assert_int_equal(chmod(f->dir, 0555), 0);
    refused_to_others(f, true, "cannot be written: this user may only read");
}

static void a_database_that_may_not_be_opened_says_why(void **state) {
    struct ww_db_fixture *f = *state;
    ww_db_fixture_store(f, NULL);
    close_db(f);
    assert_int_equal(chmod(f->path, 0), 0);
    assert_int_equal(chmod(f->dir, 0755), 0);
    refused_to_others(f, false, "cannot be opened: Permission denied");
    assert_int_equal(unlink(f->path), 0);
    assert_int_equal(chmod(f->dir, 0555), 0);
    refused_to_others(f, true, "cannot create: Permission denied");
}

#define T(fn) cmocka_unit_test_setup_teardown(fn, ww_db_fixture_setup, ww_db_fixture_teardown)

int main(void) {
    const struct CMUnitTest tests[] = {
        T(a_result_makes_the_database_it_is_stored_in),
        T(a_full_disk_leaves_no_new_database),
        T(the_limit_of_file_sizes_is_named_for_a_new_database),
        T(the_limit_of_file_sizes_is_named_for_a_database_that_grows),
        T(looking_at_a_path_makes_nothing),
        T(a_path_that_names_no_file_of_ours_is_refused_at_once),
        T(a_read_only_file_is_read_and_nothing_appears_beside_it),
        T(a_database_in_a_folder_of_others_is_read),
        T(a_database_that_may_not_be_written_says_so),
        T(a_database_that_may_not_be_opened_says_why),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
