#include "../../estimator/warpwatt.h"
#include "db_fixture.h"
#include <dirent.h>
#include <setjmp.h>
#include <sqlite3.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

int ww_db_fixture_setup(void **state) {
    struct ww_db_fixture *f = calloc(1, sizeof *f);
    if (!f) return -1;
    const char *tmp = getenv("TMPDIR");
    snprintf(f->dir, sizeof f->dir, "%s/wwdb-XXXXXX", tmp && strlen(tmp) < 40 ? tmp : "/tmp");
    if (!mkdtemp(f->dir)) return -1;
    snprintf(f->path, sizeof f->path, "%s/r.db", f->dir);
    *state = f;
    return ww_db_open(f->path, true, &f->db, &f->error) == WW_OK ? 0 : -1;
}

int ww_db_fixture_teardown(void **state) {
    struct ww_db_fixture *f = *state;
    ww_db_close(f->db);
    DIR *dir = opendir(f->dir);
    for (struct dirent *entry; dir && (entry = readdir(dir));) {
        char path[512];
        if (entry->d_name[0] == '.') continue;
        snprintf(path, sizeof path, "%s/%.200s", f->dir, entry->d_name);
        unlink(path);
    }
    if (dir) closedir(dir);
    rmdir(f->dir);
    free(f);
    return 0;
}

void ww_db_fixture_reopen(struct ww_db_fixture *f) {
    ww_db_close(f->db);
    f->db = NULL;
    if (ww_db_open(f->path, false, &f->db, &f->error) != WW_OK) fail_msg("%s", f->error.text);
}

int64_t ww_db_fixture_store(struct ww_db_fixture *f, const struct ww_fixture *options) {
    struct ww_result *r = ww_fixture_result(options);
    int64_t id = 0;
    enum ww_code code = ww_db_store(f->db, r, &id, &f->error);
    ww_result_free(r);
    if (code != WW_OK) fail_msg("%s: %s", f->error.where, f->error.text);
    return id;
}

static enum ww_code run(struct ww_db_fixture *f, const char *sql, enum ww_format format, char **text) {
    size_t n = 0;
    *text = NULL;
    FILE *out = open_memstream(text, &n);
    if (!out) fail_msg("out of memory");
    enum ww_code code = ww_db_query(f->db, sql, NULL, 0, format, out, &f->error);
    fclose(out);
    return code;
}

char *ww_db_fixture_query(struct ww_db_fixture *f, const char *sql, enum ww_format format) {
    char *text;
    if (run(f, sql, format, &text) != WW_OK) fail_msg("%s: %s: %s", sql, f->error.where, f->error.text);
    return text;
}

char *ww_db_fixture_named(struct ww_db_fixture *f, const char *name, enum ww_format format) {
    char *text;
    size_t n;
    FILE *out = open_memstream(&text, &n);
    if (!out) fail_msg("out of memory");
    enum ww_code code = ww_db_query_named(f->db, name, NULL, 0, format, out, &f->error);
    fclose(out);
    if (code != WW_OK) fail_msg("%s: %s: %s", name, f->error.where, f->error.text);
    return text;
}

enum ww_code ww_db_fixture_try(struct ww_db_fixture *f, const char *sql) {
    char *text;
    enum ww_code code = run(f, sql, WW_FORMAT_CSV, &text);
    free(text);
    return code;
}

void ww_db_fixture_tamper(struct ww_db_fixture *f, const char *sql) {
    ww_db_close(f->db);
    f->db = NULL;
    sqlite3 *raw;
    char *message = NULL;
    if (sqlite3_open(f->path, &raw) != SQLITE_OK) fail_msg("cannot open the file");
    sqlite3_exec(raw, "PRAGMA ignore_check_constraints = ON; PRAGMA writable_schema = ON", NULL, NULL, NULL);
    if (sqlite3_exec(raw, sql, NULL, NULL, &message) != SQLITE_OK) fail_msg("%s: %s", sql, message);
    sqlite3_close(raw);
}
