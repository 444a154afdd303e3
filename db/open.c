/* Opening: nothing is written to a file before its header says that it is one of ours. A new database is
 * made in rollback-journal mode, so that its header is complete once the creating transaction is, and
 * turned to write-ahead logging afterwards. */
#include "../estimator/api/database.h"
#include "../estimator/base/locale.h"
#include "db.h"
#include "schema.h"
#include "sweep.h"
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#define BUSY_MS 10000
#define LENGTH_MAX (256 << 20) /* bytes of one value */
#define HEADER 100             /* bytes of SQLite's file header */

static uint32_t big_endian(const unsigned char *p) {
    return (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3];
}

static enum ww_code not_sqlite(const char *path, struct ww_error *error) {
    return ww_fail(error, WW_DB, path, "this is no SQLite database; expected one that warpwatt made");
}

/* What the path names, before anything is opened. */
static enum ww_code check_path(const char *path, bool create, bool *exists, struct ww_error *error) {
    struct stat st;
    *exists = stat(path, &st) == 0;
    if (!*exists && errno != ENOENT)
        return ww_fail(error, WW_IO, path, "cannot be examined: %s", strerror(errno));
    if (!*exists && !create)
        return ww_fail(error, WW_IO, path, "there is no such database; `warpwatt run --db` makes one");
    if (*exists && !S_ISREG(st.st_mode))
        return ww_fail(error, WW_IO, path, "is not a regular file; expected a database file");
    if (*exists && st.st_size == 0 && !create)
        return ww_fail(error, WW_DB, path, "the file is empty; expected a database that warpwatt made");
    if (*exists && st.st_size > 0 && st.st_size < HEADER) return not_sqlite(path, error);
    return WW_OK;
}

/* Looks at the file's header through SQLite's own file handle, without locks and without a statement, which
 * could recover a journal. (Closing a descriptor of our own would drop the locks that another connection of
 * this process holds.) */
static enum ww_code check_header(struct ww_db *db, struct ww_error *error) {
    sqlite3_file *file = NULL;
    sqlite3_int64 size = 0;
    unsigned char header[HEADER] = {0};
    if (sqlite3_file_control(db->sql, "main", SQLITE_FCNTL_FILE_POINTER, &file) != SQLITE_OK || !file ||
        !file->pMethods) /* a database in memory has no file */
        return WW_OK;
    if (file->pMethods->xFileSize(file, &size) != SQLITE_OK)
        return ww_fail(error, WW_IO, db->path, "its size cannot be read");
    if (size == 0) return WW_OK;
    if (file->pMethods->xRead(file, header, HEADER, 0) != SQLITE_OK)
        return ww_fail(error, WW_IO, db->path, "its header cannot be read");
    if (memcmp(header, "SQLite format 3", 16) != 0) return not_sqlite(db->path, error);
    uint32_t id = big_endian(header + 68);
    if (id != WW_DB_APPLICATION_ID)
        return ww_fail(error, WW_DB, db->path,
                       "an SQLite database of another program (application id %" PRIu32
                       "); expected one that warpwatt made (%d)",
                       id, WW_DB_APPLICATION_ID);
    return WW_OK;
}

/* ---- migration ---- */

static enum ww_code take_steps(struct ww_db *db, int64_t from, struct ww_error *error) {
    char text[64];
    for (int64_t step = from; step < ww_db_step_count; step++) {
        for (const char *const *sql = ww_db_steps[step].sql; *sql; sql++)
            WW_TRY(ww_db_exec(db, *sql, "making the tables", error));
        WW_TRY(ww_db_inst_step(db, (int)step + 1, error));
    }
    if (from == 0) {
        snprintf(text, sizeof text, "PRAGMA application_id = %d", WW_DB_APPLICATION_ID);
        WW_TRY(ww_db_exec(db, text, "marking the database", error));
    }
    snprintf(text, sizeof text, "PRAGMA user_version = %d", ww_db_step_count);
    return ww_db_exec(db, text, "marking the database", error);
}

static enum ww_code check_version(struct ww_db *db, int64_t *version, struct ww_error *error) {
    WW_TRY(ww_db_get_int(db, "PRAGMA user_version", version, error));
    if (*version > ww_db_step_count)
        return ww_fail(error, WW_DB, db->path,
                       "its schema has version %" PRId64
                       ", and this program supports up to %d; use a newer warpwatt",
                       *version, ww_db_step_count);
    if (*version < 0) return ww_db_damaged(db, "its schema version is negative", error);
    return WW_OK;
}

static enum ww_code migrate_locked(struct ww_db *db, struct ww_error *error) {
    int64_t version = 0, objects = 0;
    WW_TRY(check_version(db, &version, error)); /* again: another program may have been first */
    WW_TRY(ww_db_get_int(db, "SELECT count(*) FROM sqlite_schema", &objects, error));
    if (version == 0 && objects > 0) return ww_db_damaged(db, "it has tables but no schema version", error);
    return version < ww_db_step_count ? take_steps(db, version, error) : WW_OK;
}

static enum ww_code migrate(struct ww_db *db, enum ww_db_use use, struct ww_error *error) {
    int64_t version = 0;
    WW_TRY(check_version(db, &version, error));
    if (version == ww_db_step_count) return WW_OK;
    if (use == WW_DB_READ && access(db->path, W_OK) == 0)
        return ww_fail(error, WW_DB, db->path,
                       "its schema has version %" PRId64 ", this program's has %d, and it is only read here;"
                       " `warpwatt query \"SELECT 1\" --db FILE` brings it there",
                       version, ww_db_step_count);
    if (sqlite3_db_readonly(db->sql, "main") == 1)
        return ww_fail(error, WW_IO, db->path,
                       "its schema has version %" PRId64
                       ", which must be brought to %d, but the file is read-only",
                       version, ww_db_step_count);
    WW_TRY(ww_db_exec(db, "BEGIN IMMEDIATE", "opening", error));
    return ww_db_finish(db, migrate_locked(db, error), error);
}

/* ---- the schema must be what this program makes ---- */

static enum ww_code compare_object(struct ww_db *db, sqlite3_stmt *want, sqlite3_stmt *have,
                                   struct ww_error *error) {
    const char *name = (const char *)sqlite3_column_text(want, 0);
    const char *sql = (const char *)sqlite3_column_text(want, 1);
    sqlite3_reset(have);
    sqlite3_bind_text(have, 1, name, -1, SQLITE_TRANSIENT);
    int rc = sqlite3_step(have);
    if (rc != SQLITE_ROW && rc != SQLITE_DONE) return ww_db_fail(db, "reading its schema", error);
    const char *stored = rc == SQLITE_ROW ? (const char *)sqlite3_column_text(have, 0) : NULL;
    if (stored && sql && strcmp(stored, sql) == 0) return WW_OK;
    return ww_fail(error, WW_DB, db->path, "the database is damaged: table or view %s is %s", name ? name : "?",
                   stored ? "not as this version makes it" : "missing");
}

static enum ww_code compare_schema(struct ww_db *db, struct ww_db *model, struct ww_error *error) {
    sqlite3_stmt *want = NULL, *have = NULL;
    enum ww_code code = WW_OK;
    if (sqlite3_prepare_v2(model->sql,
                           "SELECT name, sql FROM sqlite_schema WHERE sql IS NOT NULL ORDER BY rowid", -1,
                           &want, NULL) != SQLITE_OK)
        code = ww_db_fail(model, "making a model of the schema", error);
    else if (sqlite3_prepare_v2(db->sql, "SELECT sql FROM sqlite_schema WHERE name = ?1", -1, &have, NULL) !=
             SQLITE_OK)
        code = ww_db_fail(db, "reading its schema", error);
    while (code == WW_OK && sqlite3_step(want) == SQLITE_ROW) code = compare_object(db, want, have, error);
    sqlite3_finalize(want);
    sqlite3_finalize(have);
    return code;
}

static enum ww_code check_schema(struct ww_db *db, struct ww_error *error) {
    int64_t triggers = 0;
    WW_TRY(ww_db_get_int(db, "SELECT count(*) FROM sqlite_schema WHERE type = 'trigger'", &triggers, error));
    if (triggers) return ww_db_damaged(db, "it has triggers, which this program never makes", error);
    struct ww_db model = {.path = db->path};
    if (sqlite3_open(":memory:", &model.sql) != SQLITE_OK) {
        sqlite3_close(model.sql);
        return ww_fail_nomem(error, "a model of the schema");
    }
    enum ww_code code = take_steps(&model, 0, error);
    if (code == WW_OK) code = compare_schema(db, &model, error);
    sqlite3_close(model.sql);
    return code;
}

/* ---- opening ---- */

/* What a hostile file could use is off: triggers' and views' access to unsafe functions, writes to the
 * schema, cells that point outside their page. */
static enum ww_code configure(struct ww_db *db, struct ww_error *error) {
    sqlite3_busy_timeout(db->sql, BUSY_MS);
    sqlite3_db_config(db->sql, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
    sqlite3_db_config(db->sql, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, NULL);
    sqlite3_limit(db->sql, SQLITE_LIMIT_LENGTH, LENGTH_MAX);
    return ww_db_exec(db, "PRAGMA cell_size_check = ON; PRAGMA foreign_keys = ON", "opening", error);
}

/* Sets the journal that suits the file system. If another program is at work on the file just now, it stays
 * as it is. */
static enum ww_code set_journal(struct ww_db *db, enum ww_db_use use, struct ww_error *error) {
    struct statfs fs;
    if (use == WW_DB_READ) return WW_OK;
    if (use == WW_DB_SHARD)
        return ww_db_exec(db, "PRAGMA journal_mode = TRUNCATE; PRAGMA synchronous = NORMAL",
                          "setting the journal", error);
    if (sqlite3_db_readonly(db->sql, "main") == 1 || statfs(db->path, &fs) != 0) return WW_OK;
    bool network = ww_is_network_fs((uint64_t)fs.f_type);
    const char *sql = network ? "PRAGMA journal_mode = DELETE" : "PRAGMA journal_mode = WAL";
    int rc = sqlite3_exec(db->sql, sql, NULL, NULL, NULL);
    if (rc == SQLITE_BUSY || rc == SQLITE_LOCKED) return WW_OK;
    if (rc != SQLITE_OK) return ww_db_fail(db, "setting the journal", error);
    return network ? WW_OK : ww_db_exec(db, "PRAGMA synchronous = NORMAL", "setting the journal", error);
}

/* Whether files can be created in the path's folder; if not, errno says why. */
static bool folder_is_writable(const char *path) {
    char name[4096];
    const char *slash = strrchr(path, '/');
    snprintf(name, sizeof name, "%.*s", slash ? (int)(slash - path) + 1 : 1, slash ? path : ".");
    return faccessat(AT_FDCWD, name, W_OK | X_OK, AT_EACCESS) == 0;
}

/* True if this process can write neither the file nor its folder, and there is no log to read. Then it is read
 * as an immutable file: with a log SQLite needs a file of shared memory in the same folder. */
static bool is_frozen(const char *path) {
    struct stat st;
    char name[4096];
    int n = snprintf(name, sizeof name, "%s-wal", path);
    if (n < 0 || (size_t)n >= sizeof name || (stat(name, &st) == 0 && st.st_size > 0)) return false;
    if (stat(path, &st) == 0 && (st.st_mode & 0222) == 0) return true;
    if (faccessat(AT_FDCWD, path, W_OK, AT_EACCESS) != 0) return true;
    return !folder_is_writable(path);
}

/* The path as a URI that tells SQLite that the file does not change. Free with sqlite3_free. */
static char *frozen_uri(const char *path) {
    sqlite3_str *uri = sqlite3_str_new(NULL);
    sqlite3_str_appendall(uri, path[0] == '/' ? "file://" : "file:");
    for (const char *p = path; *p; p++) sqlite3_str_appendf(uri, strchr("%?#", *p) ? "%%%02x" : "%c", *p);
    sqlite3_str_appendall(uri, "?immutable=1");
    return sqlite3_str_finish(uri);
}

static enum ww_code open_sqlite(struct ww_db *db, bool exists, bool create, enum ww_db_use use,
                                struct ww_error *error) {
    bool frozen = exists && !create && is_frozen(db->path);
    int flags = SQLITE_OPEN_NOMUTEX | (exists ? 0 : SQLITE_OPEN_CREATE);
    flags |= frozen              ? SQLITE_OPEN_READONLY | SQLITE_OPEN_URI
             : use == WW_DB_READ ? SQLITE_OPEN_READONLY
                                 : SQLITE_OPEN_READWRITE;
    char *uri = frozen ? frozen_uri(db->path) : NULL;
    if (frozen && !uri) return ww_fail_nomem(error, "a database");
    if (!exists && !folder_is_writable(db->path))
        return ww_fail(error, WW_IO, db->path, "cannot create: %s", strerror(errno));
    int rc = sqlite3_open_v2(frozen ? uri : db->path, &db->sql, flags, NULL);
    sqlite3_free(uri);
    if (rc == SQLITE_OK) rc = ww_db_functions(db->sql);
    if (rc == SQLITE_OK) return WW_OK;
    return db->sql ? ww_db_fail(db, "opening", error) : ww_fail_nomem(error, "a database");
}

static enum ww_code open_file(struct ww_db *db, const char *path, bool exists, bool create, enum ww_db_use use,
                              struct ww_error *error) {
    /* a name such as "file:x" is a file's name, not a URI */
    db->made = !exists;
    db->path = sqlite3_mprintf("%s%s", strncmp(path, "file:", 5) == 0 ? "./" : "", path);
    if (!db->path) return ww_fail_nomem(error, "a database");
    WW_TRY(open_sqlite(db, exists, create, use, error));
    WW_TRY(check_header(db, error));
    WW_TRY(configure(db, error));
    WW_TRY(migrate(db, use, error));
    WW_TRY(check_schema(db, error));
    return set_journal(db, use, error);
}

/* A new file in which nothing could be made, as on a full disk, does not stay. */
static void close_unopened(struct ww_db *db) {
    struct stat st;
    sqlite3_close(db->sql);
    if (db->made && db->path && stat(db->path, &st) == 0 && st.st_size == 0) unlink(db->path);
    sqlite3_free(db->path);
    free(db);
}

static enum ww_code open_as(const char *path, bool create, enum ww_db_use use, struct ww_db **out,
                            struct ww_error *error) {
    bool exists;
    *out = NULL;
    if (!path || !*path) return ww_fail(error, WW_USAGE, "", "no database was named; expected a path");
    if (strcmp(path, "-") == 0)
        return ww_fail(error, WW_USAGE, path, "is not a file name; expected a database's path");
    if (strcmp(path, ":memory:") == 0)
        return ww_fail(error, WW_USAGE, path, "a database in memory would be lost; expected a file's path");
    WW_TRY(check_path(path, create, &exists, error));
    struct ww_db *db = calloc(1, sizeof *db);
    if (!db) return ww_fail_nomem(error, "a database");
    enum ww_code code = open_file(db, path, exists, create, use, error);
    if (code == WW_OK)
        *out = db;
    else
        close_unopened(db);
    return code;
}

enum ww_code ww_db_open(const char *path, bool create, struct ww_db **db, struct ww_error *error) {
    WW_PLAIN_LOCALE;
    return open_as(path, create, WW_DB_HERE, db, error);
}

enum ww_code ww_db_open_for(const char *path, enum ww_db_use use, struct ww_db **db, struct ww_error *error) {
    return open_as(path, use != WW_DB_READ, use, db, error);
}

/* No other connection uses it, and there is no result in it. Leaves a transaction open that locks others out.
 */
static bool is_unused(struct ww_db *db) {
    static const char *const tables[] = {"run", "sweep_point", "sweep_result", "hardware"};
    int64_t rows = 0;
    char sql[64];
    if (sqlite3_exec(db->sql, "PRAGMA journal_mode = DELETE", NULL, NULL, NULL) != SQLITE_OK ||
        sqlite3_exec(db->sql, "BEGIN EXCLUSIVE", NULL, NULL, NULL) != SQLITE_OK)
        return false;
    for (size_t i = 0; i < sizeof tables / sizeof *tables; i++) {
        snprintf(sql, sizeof sql, "SELECT count(*) FROM %s", tables[i]);
        if (ww_db_get_int(db, sql, &rows, NULL) != WW_OK || rows) return false;
    }
    return true;
}

void ww_db_close_unused(struct ww_db *db) {
    if (db && db->made && db->sql) {
        sqlite3_busy_timeout(db->sql, 0);
        if (is_unused(db)) unlink(db->path);
    }
    ww_db_close(db);
}

void ww_db_close(struct ww_db *db) {
    if (!db) return;
    sqlite3_close(db->sql);
    sqlite3_free(db->path);
    free(db);
}
