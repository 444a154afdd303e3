/* SQL expressions of a sweep's space file: its objectives and constraints. What they give must follow from the
 * point alone, so that a sweep is the same each time it is computed, and they must end. */
#include "../estimator/api/database.h"
#include "sweep_sql.h"
#include <string.h>

/* Functions whose value follows from their arguments. Not among them: random() and its like, the date and time
 * functions, what a connection did before (changes()), and what the library was built with. */
static bool is_steady(const char *name) {
    static const char names[] =
        " -> ->> abs acos acosh asin asinh atan atan2 atanh avg ceil ceiling char coalesce concat concat_ws cos"
        " cosh count cume_dist degrees dense_rank exp first_value floor format glob group_concat hex if ifnull "
        "iif"
        " instr json json_array json_array_length json_extract json_group_array json_group_object json_insert"
        " json_object json_patch json_quote json_remove json_replace json_set json_type json_valid lag "
        "last_value"
        " lead length like likelihood likely ln log log10 log2 lower ltrim max median min mod nth_value ntile "
        "nullif"
        " octet_length percent_rank percentile pi pow power printf quote radians rank replace round row_number "
        "rtrim"
        " sign sin sinh sqrt string_agg substr substring sum tan tanh total trim trunc typeof unhex unicode "
        "unlikely"
        " upper zeroblob ";
    char word[64];
    int n = snprintf(word, sizeof word, " %s ", name);
    return n > 0 && (size_t)n < sizeof word && strstr(names, word) != NULL;
}

/* Columns that say when or how fast a result was made, and tables that tell of the file. */
static bool is_of_the_host(const char *table, const char *column) {
    return strcmp(column, "host_seconds") == 0 || strcmp(column, "stored_at") == 0 ||
           strcmp(column, "imported_at") == 0 || strncmp(table, "pragma_", 7) == 0 ||
           strcmp(table, "dbstat") == 0;
}

/* The first thing that was refused, for the message. */
struct refused {
    char what[80];
};

static int authorize(void *context, int action, const char *a, const char *b, const char *c, const char *d) {
    struct refused *r = context;
    int code = ww_db_authorize_reading(NULL, action, a, b, c, d);
    if (action == SQLITE_FUNCTION && b && !is_steady(b)) {
        if (!r->what[0]) snprintf(r->what, sizeof r->what, "%.60s()", b);
        code = SQLITE_DENY;
    } else if (action == SQLITE_READ && a && b && is_of_the_host(a, b)) {
        if (!r->what[0]) snprintf(r->what, sizeof r->what, "%.30s.%.30s", a, b);
        code = SQLITE_DENY;
    }
    return code;
}

enum ww_code ww_sweep_prepare_sql(struct ww_db *db, const char *sql, sqlite3_stmt **stmt,
                                  struct ww_error *error) {
    struct refused refused = {""};
    enum ww_code code = ww_db_prepare_under(db, sql, authorize, &refused, stmt, error);
    if (code != WW_OK && refused.what[0])
        return ww_fail(error, WW_INPUT, "SQL",
                       "%s may give another value each time; expected what follows from the point alone",
                       refused.what);
    return code;
}

/* Prepares an expression over one row of `from`, which is called p. */
static enum ww_code prepare_over(struct ww_db *db, const char *expression, const char *from,
                                 sqlite3_stmt **stmt, struct ww_error *error) {
    char *sql = sqlite3_mprintf("SELECT (%s\n) FROM %s", expression, from);
    *stmt = NULL;
    if (!sql) return ww_fail_nomem(error, "an SQL expression");
    enum ww_code code = ww_sweep_prepare_sql(db, sql, stmt, error);
    sqlite3_free(sql);
    return code;
}

enum ww_code ww_sweep_prepare(struct ww_db *db, const char *expression, sqlite3_stmt **stmt,
                              struct ww_error *error) {
    return prepare_over(db, expression, "v_sweep_point p WHERE p.sweep_id = :sweep AND p.point = :point", stmt,
                        error);
}

int ww_sweep_step(struct ww_db *db, sqlite3_stmt *stmt, const char *what, enum ww_code *code,
                  struct ww_error *error) {
    struct ww_steps steps;
    ww_db_steps_begin(db, &steps, WW_SQL_STEPS);
    int rc = sqlite3_step(stmt);
    ww_db_steps_end(db);
    if (rc == SQLITE_ROW || rc == SQLITE_DONE) return rc;
    *code = ww_db_steps_spent(&steps)
                ? ww_fail(error, WW_INPUT, "SQL",
                          "\"%.200s\" takes more than %d operations for one point; expected an expression"
                          " that ends",
                          what, WW_SQL_STEPS)
                : ww_db_fail(db, what, error);
    return rc;
}

/* ---- what a space file may ask for ---- */

/* An expression that would close our parenthesis is no expression. */
static bool is_balanced(const char *s) {
    int depth = 0;
    for (char quote = 0; *s; s++) {
        if (quote)
            quote = *s == quote ? 0 : quote;
        else if (*s == '\'' || *s == '"')
            quote = *s;
        else if (*s == '(')
            depth++;
        else if (*s == ')' && --depth < 0)
            return false;
        else if ((*s == '-' && s[1] == '-') || (*s == '/' && s[1] == '*') || *s == ';')
            return false;
    }
    return depth == 0;
}

static enum ww_code check_expression(struct ww_db *db, const char *where, const char *expression,
                                     struct ww_error *error) {
    sqlite3_stmt *stmt = NULL;
    struct ww_error inner = {.code = WW_OK};
    if (!is_balanced(expression))
        return ww_fail(error, WW_INPUT, where, "\"%.200s\": expected one SQL expression without comments",
                       expression);
    enum ww_code code = ww_sweep_prepare(db, expression, &stmt, &inner);
    int values = code == WW_OK ? sqlite3_bind_parameter_count(stmt) : 0;
    sqlite3_finalize(stmt);
    if (code == WW_NOMEM) return ww_fail_nomem(error, where);
    char *at = strstr(inner.text, ", at \""); /* of the statement around it */
    if (at) *at = 0;
    if (code != WW_OK) return ww_fail(error, WW_INPUT, where, "\"%.200s\": %.300s", expression, inner.text);
    if (values > 2) return ww_fail(error, WW_INPUT, where, "\"%.200s\": parameters have no value", expression);
    return WW_OK;
}

enum ww_code ww_sweep_refuse_text(const struct ww_db_sweep *sweep, size_t objective, sqlite3_stmt *stmt,
                                  int column, struct ww_error *error) {
    const struct ww_db_sweep_objective *o = &sweep->objective[objective];
    int type = sqlite3_column_type(stmt, column);
    char where[400];
    if (type != SQLITE_TEXT && type != SQLITE_BLOB) return WW_OK;
    const char *text = (const char *)sqlite3_column_text(stmt, column);
    snprintf(where, sizeof where, "%.240s: $.objectives[%zu]", sweep->file, objective);
    return ww_fail(error, WW_INPUT, where, "\"%.200s\" is the text \"%.60s\"; expected a number, or NULL",
                   o->sql, text ? text : "");
}

/* A text is refused before anything is computed where a point of ones gives one already. */
static enum ww_code try_objective(struct ww_db *db, const struct ww_db_sweep *sweep, size_t i,
                                  struct ww_error *error) {
    static const char ones[] =
        "(SELECT 1 AS sweep_id, 1 AS point, 1 AS feasible, 1 AS cycles, 1.0 AS time_s, 1 AS warp_instructions,"
        " 1 AS thread_instructions, 1.0 AS ipc, 1.0 AS energy_j, 1.0 AS power_w, 1.0 AS edp, 1.0 AS area_mm2) "
        "p";
    sqlite3_stmt *stmt = NULL;
    enum ww_code code = WW_OK, ignored = WW_OK;
    if (prepare_over(db, sweep->objective[i].sql, ones, &stmt, NULL) != WW_OK) return WW_OK;
    if (ww_sweep_step(db, stmt, sweep->objective[i].sql, &ignored, NULL) == SQLITE_ROW)
        code = ww_sweep_refuse_text(sweep, i, stmt, 0, error);
    sqlite3_finalize(stmt);
    return code;
}

enum ww_code ww_sweep_check_sql(struct ww_db *db, const struct ww_db_sweep *sweep, struct ww_error *error) {
    char where[400];
    for (size_t i = 0; i < sweep->objective_count; i++) {
        snprintf(where, sizeof where, "%.240s: $.objectives[%zu]", sweep->file, i);
        WW_TRY(check_expression(db, where, sweep->objective[i].sql, error));
        WW_TRY(try_objective(db, sweep, i, error));
    }
    for (size_t i = 0; i < sweep->constraint_count; i++) {
        snprintf(where, sizeof where, "%.240s: $.constraints[%zu]", sweep->file, i);
        WW_TRY(check_expression(db, where, sweep->constraint[i], error));
    }
    return WW_OK;
}
