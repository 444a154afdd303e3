/* Running one read-only statement. SQLite's authorizer refuses everything that could write or reach
 * another file while the statement is prepared; sqlite3_stmt_readonly() is asked as well. */
#include "db.h"
#include <stdlib.h>
#include <string.h>

static bool pragma_reads(const char *name, const char *argument) {
    static const char *const with_argument[] = {"table_info",  "table_xinfo",      "index_list", "index_info",
                                                "index_xinfo", "foreign_key_list", "table_list"};
    static const char *const without[] = {
        "user_version", "application_id",  "page_count",  "page_size",         "encoding",
        "table_list",   "integrity_check", "quick_check", "foreign_key_check", "compile_options"};
    if (!name) return false;
    for (size_t i = 0; argument && i < sizeof with_argument / sizeof *with_argument; i++)
        if (strcmp(name, with_argument[i]) == 0) return true;
    for (size_t i = 0; !argument && i < sizeof without / sizeof *without; i++)
        if (strcmp(name, without[i]) == 0) return true;
    return false;
}

static int authorize(void *context, int action, const char *a, const char *b, const char *c, const char *d) {
    (void)context, (void)c, (void)d;
    switch (action) {
    case SQLITE_SELECT:
    case SQLITE_READ:
    case SQLITE_FUNCTION:
    case SQLITE_RECURSIVE:
        return SQLITE_OK;
    case SQLITE_UPDATE: /* asked when a table-valued function is first met; a real one writes and is refused */
        return a && strcmp(a, "sqlite_master") == 0 ? SQLITE_OK : SQLITE_DENY;
    case SQLITE_PRAGMA:
        return pragma_reads(a, b) ? SQLITE_OK : SQLITE_DENY;
    default:
        return SQLITE_DENY;
    }
}

/* An error while preparing: where in the SQL, as line and column from 1. */
static enum ww_code sql_error(struct ww_db *db, const char *sql, struct ww_error *error) {
    int offset = sqlite3_error_offset(db->sql), line = 1, column = 1;
    if ((sqlite3_errcode(db->sql) & 0xff) == SQLITE_AUTH)
        return ww_fail(error, WW_DB, "SQL", "%s; expected one statement that only reads (SELECT, WITH, VALUES)",
                       sqlite3_errmsg(db->sql));
    if (offset < 0) return ww_db_fail(db, "the query", error);
    for (int i = 0; i < offset && sql[i]; i++) {
        column = sql[i] == '\n' ? 1 : column + 1;
        line += sql[i] == '\n';
    }
    char where[48];
    snprintf(where, sizeof where, "SQL:%d:%d", line, column);
    return ww_fail(error, WW_DB, where, "%s, at \"%.40s\"", sqlite3_errmsg(db->sql), sql + offset);
}

/* Only space, comments and semicolons may follow the statement. */
static enum ww_code check_tail(struct ww_db *db, const char *tail, struct ww_error *error) {
    while (*tail) {
        sqlite3_stmt *more = NULL;
        const char *next = tail;
        int rc = sqlite3_prepare_v2(db->sql, tail, -1, &more, &next);
        sqlite3_finalize(more);
        if (rc != SQLITE_OK || more || next == tail)
            return ww_fail(error, WW_DB, "SQL", "a second statement begins at \"%.40s\"; expected exactly one",
                           tail);
        tail = next;
    }
    return WW_OK;
}

static enum ww_code prepare(struct ww_db *db, const char *sql, sqlite3_stmt **stmt, struct ww_error *error) {
    const char *tail = "";
    if (sqlite3_prepare_v2(db->sql, sql, -1, stmt, &tail) != SQLITE_OK) return sql_error(db, sql, error);
    if (!*stmt) return ww_fail(error, WW_DB, "SQL", "there is no statement; expected one that reads");
    WW_TRY(check_tail(db, tail, error));
    if (!sqlite3_stmt_readonly(*stmt) || sqlite3_column_count(*stmt) == 0)
        return ww_fail(error, WW_DB, "SQL", "the statement writes; expected one that only reads");
    return WW_OK;
}

/* True if the whole text is a number as JSON writes it. */
static bool is_number(const char *s, bool *integer) {
    const char *p = s + (*s == '-');
    size_t digits = strspn(p, "0123456789");
    if (digits == 0 || (digits > 1 && *p == '0')) return false;
    p += digits;
    *integer = *p == 0 && digits <= 18;
    if (*p == '.') {
        if ((digits = strspn(++p, "0123456789")) == 0) return false;
        p += digits;
    }
    if (*p == 'e' || *p == 'E') {
        p += 1 + (p[1] == '-' || p[1] == '+');
        if ((digits = strspn(p, "0123456789")) == 0) return false;
        p += digits;
    }
    return *p == 0;
}

static int bind_value(sqlite3_stmt *stmt, int i, const char *value) {
    bool integer = false;
    if (!is_number(value, &integer)) return sqlite3_bind_text(stmt, i, value, -1, SQLITE_TRANSIENT);
    if (integer) return sqlite3_bind_int64(stmt, i, strtoll(value, NULL, 10));
    return sqlite3_bind_double(stmt, i, strtod(value, NULL));
}

/* "value" fills the parameter of its place in the list, ":name=value" the one of that name. */
static enum ww_code bind_one(struct ww_db *db, sqlite3_stmt *stmt, int place, const char *text,
                             struct ww_error *error) {
    const char *equals = text[0] == ':' ? strchr(text, '=') : NULL;
    if (equals) {
        char name[64];
        snprintf(name, sizeof name, "%.*s", (int)(equals - text), text);
        place = sqlite3_bind_parameter_index(stmt, name);
        if (place == 0)
            return ww_fail(error, WW_USAGE, "", "the query has no parameter %s; it takes %d", name,
                           sqlite3_bind_parameter_count(stmt));
        text = equals + 1;
    } else if (place > sqlite3_bind_parameter_count(stmt)) {
        return ww_fail(error, WW_USAGE, "", "value \"%s\" has no place: the query takes %d", text,
                       sqlite3_bind_parameter_count(stmt));
    }
    return bind_value(stmt, place, text) == SQLITE_OK ? WW_OK : ww_db_fail(db, "binding a value", error);
}

static enum ww_code run_query(struct ww_db *db, const char *sql, const char *const *bindings, size_t count,
                              enum ww_format format, FILE *out, struct ww_error *error) {
    sqlite3_stmt *stmt = NULL;
    enum ww_code code = prepare(db, sql, &stmt, error);
    for (size_t i = 0; i < count && code == WW_OK; i++)
        code = bind_one(db, stmt, (int)i + 1, bindings[i], error);
    if (code == WW_OK) code = ww_db_print(db, stmt, format, out, error);
    sqlite3_finalize(stmt);
    return code;
}

enum ww_code ww_db_query(struct ww_db *db, const char *sql, const char *const *bindings, size_t count,
                         enum ww_format format, FILE *out, struct ww_error *error) {
    if (count > 999) return ww_fail(error, WW_USAGE, "", "%zu values; expected at most 999", count);
    sqlite3_set_authorizer(db->sql, authorize, NULL);
    enum ww_code code = run_query(db, sql, bindings, count, format, out, error);
    sqlite3_set_authorizer(db->sql, NULL, NULL);
    return code;
}
