/* Running one read-only statement. SQLite's authorizer refuses everything that could write or reach
 * another file while the statement is prepared; sqlite3_stmt_readonly() is asked as well. */
#include "../estimator/api/database.h"
#include "../estimator/base/locale.h"
#include "db.h"
#include <inttypes.h>
#include <limits.h>
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

int ww_db_authorize_reading(void *context, int action, const char *a, const char *b, const char *c,
                            const char *d) {
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

enum ww_code ww_db_prepare_under(struct ww_db *db, const char *sql, ww_db_authorizer *authorizer, void *context,
                                 sqlite3_stmt **stmt, struct ww_error *error) {
    *stmt = NULL;
    sqlite3_set_authorizer(db->sql, authorizer, context);
    enum ww_code code = prepare(db, sql, stmt, error);
    sqlite3_set_authorizer(db->sql, NULL, NULL);
    if (code != WW_OK) {
        sqlite3_finalize(*stmt);
        *stmt = NULL;
    }
    return code;
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

/* What stands in single quotes is text, whatever it looks like. */
static int bind_value(sqlite3_stmt *stmt, int i, const char *value) {
    bool integer = false;
    size_t n = strlen(value);
    if (n >= 2 && n < INT_MAX && value[0] == '\'' && value[n - 1] == '\'')
        return sqlite3_bind_text(stmt, i, value + 1, (int)n - 2, SQLITE_TRANSIENT);
    if (!is_number(value, &integer)) return sqlite3_bind_text(stmt, i, value, -1, SQLITE_TRANSIENT);
    if (integer) return sqlite3_bind_int64(stmt, i, strtoll(value, NULL, 10));
    return sqlite3_bind_double(stmt, i, strtod(value, NULL));
}

/* Parameters of named queries that are numbers of runs. */
static bool is_run_parameter(sqlite3_stmt *stmt, int i) {
    const char *name = sqlite3_bind_parameter_name(stmt, i);
    return name && (strcmp(name, ":run") == 0 || strcmp(name, ":base") == 0);
}

/* A run that is stored, by its number or as "last". */
static enum ww_code bind_run(struct ww_db *db, sqlite3_stmt *stmt, int i, const char *value,
                             struct ww_error *error) {
    int64_t id = 0, there = 0;
    bool integer = false;
    char sql[80];
    if (strcmp(value, "last") == 0) {
        WW_TRY(ww_db_last_run(db, &id, error));
    } else if (!is_number(value, &integer) || !integer) {
        return ww_fail(error, WW_USAGE, sqlite3_bind_parameter_name(stmt, i),
                       "\"%.80s\": expected the number of a run, or last", value);
    } else {
        id = strtoll(value, NULL, 10);
        snprintf(sql, sizeof sql, "SELECT count(*) FROM run WHERE run_id = %lld", (long long)id);
        WW_TRY(ww_db_get_int(db, sql, &there, error));
        if (!there) return ww_db_no_run(db, id, error);
    }
    return sqlite3_bind_int64(stmt, i, id) == SQLITE_OK ? WW_OK : ww_db_fail(db, "binding a value", error);
}

/* A sweep that is stored, by its number or as "last". */
static enum ww_code bind_sweep(struct ww_db *db, sqlite3_stmt *stmt, int i, const char *value, int64_t *id,
                               struct ww_error *error) {
    int64_t there = 0;
    bool integer = false;
    char sql[96] = "SELECT coalesce(max(sweep_id), 0) FROM sweep";
    if (strcmp(value, "last") != 0) {
        if (!is_number(value, &integer) || !integer)
            return ww_fail(error, WW_USAGE, ":sweep", "\"%.80s\": expected the number of a sweep, or last",
                           value);
        snprintf(sql, sizeof sql, "SELECT coalesce(max(sweep_id), 0) FROM sweep WHERE sweep_id = %lld",
                 strtoll(value, NULL, 10));
    }
    WW_TRY(ww_db_get_int(db, sql, &there, error));
    if (!there)
        return ww_fail(error, WW_DB, db->path, "there is no sweep %.80s; `warpwatt query --named sweeps`",
                       value);
    *id = there;
    return sqlite3_bind_int64(stmt, i, there) == SQLITE_OK ? WW_OK : ww_db_fail(db, "binding a value", error);
}

/* What is bound, and whether it was. */
struct binding {
    struct ww_db *db;
    sqlite3_stmt *stmt;
    bool named; /* a named query: knows its parameters, of which any may be left out */
    bool *given;
    int64_t sweep; /* of a named query; 0: the latest */
    struct ww_error *error;
};

static bool is_parameter(const struct binding *b, int place, const char *name) {
    const char *is = sqlite3_bind_parameter_name(b->stmt, place);
    return b->named && is && strcmp(is, name) == 0;
}

/* "value" fills the parameter of its place in the list, ":name=value" the one of that name; NULL is no value.
 */
static enum ww_code bind_one(struct binding *b, int place, const char *text) {
    int count = sqlite3_bind_parameter_count(b->stmt);
    const char *equals = text && text[0] == ':' ? strchr(text, '=') : NULL;
    if (equals) {
        char name[64];
        snprintf(name, sizeof name, "%.*s", (int)(equals - text), text);
        place = sqlite3_bind_parameter_index(b->stmt, name);
        if (place == 0)
            return ww_fail(b->error, WW_USAGE, "", "the query has no parameter %s; it takes %d", name, count);
        text = equals + 1;
    } else if (place > count) {
        return ww_fail(b->error, WW_USAGE, "", "value \"%s\" has no place: the query takes %d",
                       text ? text : "NULL", count);
    }
    b->given[place] = true;
    if (!text) return WW_OK; /* as a statement's parameters are at first */
    if (is_parameter(b, place, ":sweep")) return bind_sweep(b->db, b->stmt, place, text, &b->sweep, b->error);
    if (b->named && is_run_parameter(b->stmt, place)) return bind_run(b->db, b->stmt, place, text, b->error);
    return bind_value(b->stmt, place, text) == SQLITE_OK ? WW_OK
                                                         : ww_db_fail(b->db, "binding a value", b->error);
}

/* A parameter without a value would be NULL, and a comparison with it silently false. */
static enum ww_code check_all_given(const struct binding *b) {
    for (int i = 1; i <= sqlite3_bind_parameter_count(b->stmt); i++) {
        const char *name = sqlite3_bind_parameter_name(b->stmt, i);
        if (b->given[i]) continue;
        if (name && name[0] == ':')
            return ww_fail(b->error, WW_USAGE, "SQL", "parameter %s has no value; give one as %s=VALUE", name,
                           name);
        if (!name || name[0] == '?')
            return ww_fail(b->error, WW_USAGE, "SQL", "parameter %d (?) has no value; give one behind the SQL",
                           i);
        return ww_fail(b->error, WW_USAGE, "SQL", "parameter %s has no value; write it as :%s", name, name + 1);
    }
    return WW_OK;
}

/* A name that the sweep does not have would match nothing, without an error. */
static const struct {
    const char *parameter, *sql, *expected;
} known[] = {
    {":objective",
     "SELECT ?2 WHERE NOT EXISTS (SELECT 1 FROM sweep_objective WHERE sweep_id = ?1 AND name = ?2)",
     "an objective of the sweep"},
    {":at",
     "SELECT key FROM json_each(" WW_AT_JSON("?2") ") WHERE key <> '' AND key NOT IN"
                                                   " (SELECT key FROM sweep_setting WHERE sweep_id = ?1)",
     "a parameter of the sweep"},
    {":at",
     "SELECT w.key || '=' || w.value FROM json_each(" WW_AT_JSON(
         "?2") ") w WHERE w.key <> ''"
               " AND NOT EXISTS (SELECT 1 FROM sweep_setting s WHERE s.sweep_id = ?1 AND s.key = w.key"
               " AND (s.value = w.value OR typeof(s.value) <> 'text' AND w.value GLOB '*[0-9]*'))",
     "a number, or a text that is a level of the parameter"},
};

static enum ww_code check_known(struct binding *b, size_t k, const char *value) {
    sqlite3_stmt *stmt = NULL;
    enum ww_code code = WW_OK;
    if (sqlite3_prepare_v2(b->db->sql, known[k].sql, -1, &stmt, NULL) != SQLITE_OK ||
        sqlite3_bind_int64(stmt, 1, b->sweep) != SQLITE_OK ||
        sqlite3_bind_text(stmt, 2, value, -1, SQLITE_STATIC) != SQLITE_OK) {
        code = ww_db_fail(b->db, "binding a value", b->error);
    } else {
        int rc = sqlite3_step(stmt);
        const char *bad = rc == SQLITE_ROW ? (const char *)sqlite3_column_text(stmt, 0) : NULL;
        if (bad)
            code = ww_fail(b->error, WW_USAGE, known[k].parameter, "\"%.80s\": expected %s", bad,
                           known[k].expected);
        else if (rc != SQLITE_ROW && rc != SQLITE_DONE)
            code = ww_db_fail(b->db, known[k].parameter, b->error);
    }
    sqlite3_finalize(stmt);
    return code;
}

static enum ww_code check_names(struct binding *b, const char *const *bindings, size_t count) {
    if (!b->sweep)
        WW_TRY(ww_db_get_int(b->db, "SELECT coalesce(max(sweep_id), 0) FROM sweep", &b->sweep, b->error));
    for (size_t i = 0; i < count && b->sweep; i++) {
        if (!bindings[i]) continue;
        const char *text = bindings[i], *equals = text[0] == ':' ? strchr(text, '=') : NULL;
        for (size_t k = 0; k < sizeof known / sizeof *known; k++) {
            size_t n = strlen(known[k].parameter);
            bool same = equals ? (size_t)(equals - text) == n && strncmp(text, known[k].parameter, n) == 0
                               : is_parameter(b, (int)i + 1, known[k].parameter);
            if (same) WW_TRY(check_known(b, k, equals ? equals + 1 : text));
        }
    }
    return WW_OK;
}

static enum ww_code bind_all(struct binding *b, const char *const *bindings, size_t count) {
    b->given = calloc((size_t)sqlite3_bind_parameter_count(b->stmt) + 1, sizeof *b->given);
    if (!b->given) return ww_fail_nomem(b->error, "a query's values");
    enum ww_code code = WW_OK;
    for (size_t i = 0; i < count && code == WW_OK; i++) code = bind_one(b, (int)i + 1, bindings[i]);
    if (code == WW_OK) code = b->named ? check_names(b, bindings, count) : check_all_given(b);
    free(b->given);
    return code;
}

/* One query of the public interface. */
struct asked {
    const char *sql;
    bool named;
    const char *const *bindings;
    size_t count;
};

/* Prints the rows; of what it takes for them there may be a limit. */
static enum ww_code print_within(struct ww_db *db, sqlite3_stmt *stmt, enum ww_format format, FILE *out,
                                 struct ww_error *error) {
    struct ww_steps steps;
    if (!db->limit_steps) return ww_db_print(db, stmt, format, out, error);
    ww_db_steps_begin(db, &steps, db->limit_steps);
    enum ww_code code = ww_db_print(db, stmt, format, out, error);
    ww_db_steps_end(db);
    if (code == WW_OK || !ww_db_steps_spent(&steps)) return code;
    return ww_fail(error, WW_DB, db->path,
                   "the query takes more than %" PRIu64 " operations of SQLite, its limit", db->limit_steps);
}

static enum ww_code run_query(struct ww_db *db, const struct asked *q, enum ww_format format, FILE *out,
                              struct ww_error *error) {
    struct binding b = {.db = db, .named = q->named, .error = error};
    enum ww_code code = prepare(db, q->sql, &b.stmt, error);
    if (code == WW_OK) code = bind_all(&b, q->bindings, q->count);
    if (code == WW_OK) code = print_within(db, b.stmt, format, out, error);
    sqlite3_finalize(b.stmt);
    return code;
}

static enum ww_code ask(struct ww_db *db, const struct asked *q, enum ww_format format, FILE *out,
                        struct ww_error *error) {
    if (q->count > 999) return ww_fail(error, WW_USAGE, "", "%zu values; expected at most 999", q->count);
    sqlite3_set_authorizer(db->sql, ww_db_authorize_reading, NULL);
    enum ww_code code = run_query(db, q, format, out, error);
    sqlite3_set_authorizer(db->sql, NULL, NULL);
    return code;
}

void ww_db_limit_steps(struct ww_db *db, uint64_t steps) {
    db->limit_steps = steps;
}

enum ww_code ww_db_query(struct ww_db *db, const char *sql, const char *const *bindings, size_t count,
                         enum ww_format format, FILE *out, struct ww_error *error) {
    WW_PLAIN_LOCALE;
    return ask(db, &(struct asked){sql, false, bindings, count}, format, out, error);
}

enum ww_code ww_db_query_named(struct ww_db *db, const char *name, const char *const *bindings, size_t count,
                               enum ww_format format, FILE *out, struct ww_error *error) {
    WW_PLAIN_LOCALE;
    const struct ww_named_query *q = ww_db_named_find(name);
    if (!q) return ww_fail(error, WW_USAGE, "", "unknown query \"%.80s\"", name ? name : "");
    return ask(db, &(struct asked){q->sql, true, bindings, count}, format, out, error);
}

uint64_t ww_db_rows(const struct ww_db *db) {
    return db->rows;
}
