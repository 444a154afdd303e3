/* Statements, bindings and errors: what all SQL here shares. */
#include "../estimator/api/database.h"
#include "db.h"
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/statvfs.h>

#define TEXT_MAX (64 << 20)
#define PAGE_MAX 65536 /* bytes: what SQLite writes at once */

static enum ww_code code_of(int rc) {
    switch (rc & 0xff) {
    case SQLITE_NOMEM:
        return WW_NOMEM;
    case SQLITE_FULL:
    case SQLITE_IOERR:
    case SQLITE_CANTOPEN:
    case SQLITE_READONLY:
    case SQLITE_PERM:
        return WW_IO;
    default:
        return WW_DB;
    }
}

/* The last error of the file system for an open file of SQLite's; 0: none. */
static int last_errno(struct ww_db *db, int which) {
    sqlite3_file *file = NULL;
    int why = 0;
    if (sqlite3_file_control(db->sql, "main", which, &file) != SQLITE_OK || !file || !file->pMethods) return 0;
    return file->pMethods->xFileControl(file, SQLITE_FCNTL_LAST_ERRNO, &why) == SQLITE_OK ? why : 0;
}

/* For a write-ahead log, whose error is not known: whether the disk is full, or a file at the limit of this
 * process. */
static int look_errno(const struct ww_db *db) {
    static const char *const suffix[] = {"", "-wal", "-journal", "-shm"};
    struct statvfs fs;
    struct rlimit limit;
    struct stat st;
    char name[4096];
    if (statvfs(db->path, &fs) == 0 && (fs.f_bavail == 0 || (fs.f_files > 0 && fs.f_favail == 0)))
        return ENOSPC;
    if (getrlimit(RLIMIT_FSIZE, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return 0;
    for (size_t i = 0; i < sizeof suffix / sizeof *suffix; i++) {
        int n = snprintf(name, sizeof name, "%s%s", db->path, suffix[i]);
        if (n > 0 && n < (int)sizeof name && stat(name, &st) == 0 &&
            (uint64_t)st.st_size + PAGE_MAX > limit.rlim_cur)
            return EFBIG;
    }
    return 0;
}

/* Why SQLite says that reading or writing failed. What it did afterwards, to undo the transaction, may have
 * covered the first error. */
static const char *io_reason(struct ww_db *db, int rc) {
    int why = (rc & 0xff) == SQLITE_FULL ? ENOSPC : sqlite3_system_errno(db->sql);
    if (!why) why = last_errno(db, SQLITE_FCNTL_FILE_POINTER);
    if (!why) why = last_errno(db, SQLITE_FCNTL_JOURNAL_POINTER);
    if (!why) why = look_errno(db);
    switch (why) {
    case 0:
        return sqlite3_errmsg(db->sql);
    case ENOSPC:
        return "no space left on the disk";
    case EDQUOT:
        return "no space left on the disk for this user (quota)";
    case EFBIG:
        return "the limit of file sizes is reached (ulimit -f)";
    default:
        return strerror(why);
    }
}

enum ww_code ww_db_fail(struct ww_db *db, const char *doing, struct ww_error *error) {
    int rc = sqlite3_errcode(db->sql);
    const char *hint = "";
    if ((rc & 0xff) == SQLITE_IOERR || (rc & 0xff) == SQLITE_FULL)
        return ww_fail(error, WW_IO, db->path, "%s: %s", doing, io_reason(db, rc));
    if ((rc & 0xff) == SQLITE_CANTOPEN)
        return ww_fail(error, WW_IO, db->path, "cannot be opened: %s", io_reason(db, rc));
    if ((rc & 0xff) == SQLITE_READONLY)
        return ww_fail(error, WW_IO, db->path,
                       "cannot be written: this user may only read the file, or its folder");
    if ((rc & 0xff) == SQLITE_BUSY) hint = "; another program is writing to it";
    if ((rc & 0xff) == SQLITE_CORRUPT || (rc & 0xff) == SQLITE_NOTADB) hint = "; the file is damaged";
    return ww_fail(error, code_of(rc), db->path, "%s: %s%s", doing, sqlite3_errmsg(db->sql), hint);
}

enum ww_code ww_db_damaged(struct ww_db *db, const char *what, struct ww_error *error) {
    return ww_fail(error, WW_DB, db->path, "the database is damaged: %s", what);
}

enum ww_code ww_db_no_run(struct ww_db *db, int64_t run_id, struct ww_error *error) {
    return ww_fail(error, WW_DB, db->path,
                   "there is no run %" PRId64 "; `warpwatt query --named runs` lists them", run_id);
}

enum ww_code ww_db_exec(struct ww_db *db, const char *sql, const char *doing, struct ww_error *error) {
    if (sqlite3_exec(db->sql, sql, NULL, NULL, NULL) != SQLITE_OK) return ww_db_fail(db, doing, error);
    return WW_OK;
}

enum ww_code ww_db_get_int(struct ww_db *db, const char *sql, int64_t *value, struct ww_error *error) {
    sqlite3_stmt *stmt;
    if (sqlite3_prepare_v2(db->sql, sql, -1, &stmt, NULL) != SQLITE_OK) return ww_db_fail(db, sql, error);
    enum ww_code code = WW_OK;
    int rc = sqlite3_step(stmt);
    if (rc == SQLITE_ROW)
        *value = sqlite3_column_int64(stmt, 0);
    else if (rc == SQLITE_DONE)
        code = ww_fail(error, WW_DB, db->path, "%s: no row", sql);
    else
        code = ww_db_fail(db, sql, error);
    sqlite3_finalize(stmt);
    return code;
}

enum ww_code ww_db_finish(struct ww_db *db, enum ww_code code, struct ww_error *error) {
    if (code == WW_OK) code = ww_db_exec(db, "COMMIT", "committing", error);
    if (code != WW_OK && !sqlite3_get_autocommit(db->sql)) sqlite3_exec(db->sql, "ROLLBACK", NULL, NULL, NULL);
    return code;
}

/* ---- a limit to what a statement takes ---- */

#define STEPS_AT_ONCE 1000000 /* operations of SQLite between two looks at the limit, at most */

/* Not zero: stop. */
static int count_steps(void *context) {
    struct ww_steps *s = context;
    s->left -= s->left < s->at_once ? s->left : s->at_once;
    return s->left == 0;
}

void ww_db_steps_begin(struct ww_db *db, struct ww_steps *steps, uint64_t limit) {
    steps->left = limit;
    steps->at_once = limit < STEPS_AT_ONCE ? limit : STEPS_AT_ONCE;
    sqlite3_progress_handler(db->sql, (int)steps->at_once, count_steps, steps);
}

void ww_db_steps_end(struct ww_db *db) {
    sqlite3_progress_handler(db->sql, 0, NULL, NULL);
}

bool ww_db_steps_spent(const struct ww_steps *steps) {
    return steps->left == 0;
}

/* ---- INSERT ---- */

enum ww_code ww_insert_open(struct ww_insert *in, struct ww_db *db, const char *table, const char *columns,
                            struct ww_error *error) {
    *in = (struct ww_insert){.db = db, .table = table, .columns = columns, .error = error};
    int count = 1;
    for (const char *p = columns; *p; p++) count += *p == ',';
    sqlite3_str *sql = sqlite3_str_new(db->sql);
    sqlite3_str_appendf(sql, "INSERT INTO %s(%s) VALUES(?", table, columns);
    for (int i = 1; i < count; i++) sqlite3_str_appendall(sql, ", ?");
    sqlite3_str_appendall(sql, ")");
    char *text = sqlite3_str_finish(sql);
    if (!text) return in->code = ww_fail_nomem(error, "an SQL statement");
    int rc = sqlite3_prepare_v3(db->sql, text, -1, SQLITE_PREPARE_PERSISTENT, &in->stmt, NULL);
    sqlite3_free(text);
    if (rc != SQLITE_OK) in->code = ww_db_fail(db, table, error);
    return in->code;
}

void ww_insert_close(struct ww_insert *in) {
    sqlite3_finalize(in->stmt);
    in->stmt = NULL;
}

static void bound(struct ww_insert *in, int rc) {
    if (rc != SQLITE_OK) in->code = ww_db_fail(in->db, in->table, in->error);
}

void ww_insert_i64(struct ww_insert *in, int64_t v) {
    if (in->code == WW_OK) bound(in, sqlite3_bind_int64(in->stmt, ++in->next, v));
}

/* Refuses the value that is next; `text` is the value. */
static void refuse_value(struct ww_insert *in, const char *text, const char *expected) {
    const char *column = in->columns;
    for (int i = 0; i < in->next && column; i++) {
        column = strchr(column, ',');
        if (column) column += 1 + strspn(column + 1, " ");
    }
    int n = column ? (int)strcspn(column, ",") : 0;
    in->code = ww_fail(in->error, WW_DB, in->db->path, "%s.%.*s is %s; expected %s", in->table, n,
                       column ? column : "", text, expected);
}

void ww_insert_u64(struct ww_insert *in, uint64_t v) {
    if (in->code != WW_OK) return;
    if (v > INT64_MAX) {
        char text[24];
        snprintf(text, sizeof text, "%" PRIu64, v);
        refuse_value(in, text, "at most 9223372036854775807, the largest integer that a database holds");
        return;
    }
    ww_insert_i64(in, (int64_t)v);
}

void ww_insert_f64(struct ww_insert *in, double v) {
    if (in->code != WW_OK) return;
    if (!isfinite(v)) {
        refuse_value(in,
                     v > 0   ? "infinite"
                     : v < 0 ? "negatively infinite"
                             : "not a number",
                     "a finite number");
        return;
    }
    bound(in, sqlite3_bind_double(in->stmt, ++in->next, v));
}

void ww_insert_text(struct ww_insert *in, const char *s) {
    if (in->code == WW_OK) bound(in, sqlite3_bind_text(in->stmt, ++in->next, s ? s : "", -1, SQLITE_STATIC));
}

void ww_insert_null(struct ww_insert *in) {
    if (in->code == WW_OK) bound(in, sqlite3_bind_null(in->stmt, ++in->next));
}

enum ww_code ww_insert_run(struct ww_insert *in, int64_t *id) {
    if (in->code == WW_OK && sqlite3_step(in->stmt) != SQLITE_DONE)
        in->code = ww_db_fail(in->db, in->table, in->error);
    if (in->code != WW_OK) return in->code;
    if (id) *id = sqlite3_last_insert_rowid(in->db->sql);
    sqlite3_reset(in->stmt);
    in->next = 0;
    return WW_OK;
}

/* ---- SELECT ---- */

enum ww_code ww_select_open(struct ww_select *s, struct ww_db *db, const char *sql, int64_t key,
                            struct ww_error *error) {
    *s = (struct ww_select){.db = db, .error = error};
    if (sqlite3_prepare_v2(db->sql, sql, -1, &s->stmt, NULL) != SQLITE_OK ||
        (sqlite3_bind_parameter_count(s->stmt) > 0 && sqlite3_bind_int64(s->stmt, 1, key) != SQLITE_OK)) {
        s->code = ww_db_fail(db, "reading", error);
        sqlite3_finalize(s->stmt);
        s->stmt = NULL;
    }
    return s->code;
}

bool ww_select_row(struct ww_select *s) {
    if (s->code != WW_OK) return false;
    s->next = 0;
    int rc = sqlite3_step(s->stmt);
    if (rc == SQLITE_ROW) return true;
    if (rc != SQLITE_DONE) s->code = ww_db_fail(s->db, "reading", s->error);
    return false;
}

static void refuse_column(struct ww_select *s, int column, const char *expected) {
    if (s->code != WW_OK) return;
    const unsigned char *text = sqlite3_column_text(s->stmt, column);
    char shown[64];
    snprintf(shown, sizeof shown, "%s", text ? (const char *)text : "NULL");
    s->code =
        ww_fail(s->error, WW_DB, s->db->path, "the database is damaged: a column %s holds \"%s\"; expected %s",
                sqlite3_column_name(s->stmt, column), shown, expected);
}

void ww_select_refuse(struct ww_select *s, const char *expected) {
    refuse_column(s, s->next - 1, expected);
}

int64_t ww_select_i64(struct ww_select *s) {
    if (s->code != WW_OK) return 0;
    int column = s->next++;
    if (sqlite3_column_type(s->stmt, column) != SQLITE_INTEGER) {
        refuse_column(s, column, "an integer");
        return 0;
    }
    return sqlite3_column_int64(s->stmt, column);
}

uint64_t ww_select_u64(struct ww_select *s) {
    int64_t v = ww_select_i64(s);
    if (v < 0) {
        ww_select_refuse(s, "an integer that is not negative");
        return 0;
    }
    return (uint64_t)v;
}

uint32_t ww_select_u32(struct ww_select *s) {
    uint64_t v = ww_select_u64(s);
    if (v > UINT32_MAX) {
        ww_select_refuse(s, "an integer below 4294967296");
        return 0;
    }
    return (uint32_t)v;
}

double ww_select_f64(struct ww_select *s) {
    if (s->code != WW_OK) return 0;
    int column = s->next++, type = sqlite3_column_type(s->stmt, column);
    double v = sqlite3_column_double(s->stmt, column);
    if ((type == SQLITE_FLOAT || type == SQLITE_INTEGER) && isfinite(v)) return v;
    refuse_column(s, column, "a finite number");
    return 0;
}

bool ww_select_is_null(struct ww_select *s) {
    return s->code == WW_OK && sqlite3_column_type(s->stmt, s->next) == SQLITE_NULL;
}

bool ww_select_skip_null(struct ww_select *s) {
    bool null = ww_select_is_null(s);
    s->next += null;
    return null;
}

const char *ww_select_text(struct ww_select *s, struct ww_arena *arena) {
    if (s->code != WW_OK) return "";
    int column = s->next++;
    const char *text = (const char *)sqlite3_column_text(s->stmt, column);
    size_t n = (size_t)sqlite3_column_bytes(s->stmt, column);
    if (sqlite3_column_type(s->stmt, column) != SQLITE_TEXT || !text || n > TEXT_MAX || memchr(text, 0, n)) {
        refuse_column(s, column, "text");
        return "";
    }
    char *copy = ww_arena_strndup(arena, text, n);
    if (copy) return copy;
    s->code = ww_fail_nomem(s->error, "a stored text");
    return "";
}

enum ww_code ww_select_close(struct ww_select *s) {
    sqlite3_finalize(s->stmt);
    s->stmt = NULL;
    return s->code;
}
