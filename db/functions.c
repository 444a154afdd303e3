/* Functions of SQL: names of kernels for people. */
#include "db.h"
#include "../estimator/base/demangle.h"

static void short_name(sqlite3_context *context, int count, sqlite3_value **value) {
    char out[WW_NAME_SHORT];
    const char *name = (const char *)sqlite3_value_text(value[0]);
    (void)count;
    if (name) sqlite3_result_text(context, ww_short_name(name, out), -1, SQLITE_TRANSIENT);
}

static void whole_name(sqlite3_context *context, int count, sqlite3_value **value) {
    char out[WW_NAME_WHOLE];
    const char *name = (const char *)sqlite3_value_text(value[0]);
    (void)count;
    if (!name) return;
    if (ww_demangle(name, out, sizeof out))
        sqlite3_result_text(context, out, -1, SQLITE_TRANSIENT);
    else
        sqlite3_result_value(context, value[0]);
}

int ww_db_functions(sqlite3 *sql) {
    int flags = SQLITE_UTF8 | SQLITE_DETERMINISTIC;
    int rc = sqlite3_create_function(sql, "short_name", 1, flags, NULL, short_name, NULL, NULL);
    return rc == SQLITE_OK ? sqlite3_create_function(sql, "whole_name", 1, flags, NULL, whole_name, NULL, NULL)
                           : rc;
}
