/* Printing the rows of a query as a table, CSV or JSON. */
#include "../estimator/api/database.h"
#include "db.h"
#include "../estimator/base/escape.h"
#include "../estimator/base/jsonw.h"
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static void put_hex(FILE *out, const unsigned char *p, int n) {
    for (int i = 0; i < n; i++) fprintf(out, "%02x", p[i]);
}

/* ---- CSV, as RFC 4180 has it. NULL is an empty field, an empty text is "", a formula is made inert. ---- */

static void put_csv_text(FILE *out, const char *s, int n) {
    if (n == 0) fputs("\"\"", out);
    ww_put_csv(out, s, (size_t)n);
}

static void put_csv_cell(FILE *out, sqlite3_stmt *stmt, int c) {
    char text[32];
    switch (sqlite3_column_type(stmt, c)) {
    case SQLITE_NULL:
        break;
    case SQLITE_INTEGER:
        fprintf(out, "%" PRId64, (int64_t)sqlite3_column_int64(stmt, c));
        break;
    case SQLITE_FLOAT:
        ww_double_text(sqlite3_column_double(stmt, c), text);
        fputs(text, out);
        break;
    case SQLITE_BLOB: {
        const unsigned char *p = sqlite3_column_blob(stmt, c);
        put_hex(out, p, sqlite3_column_bytes(stmt, c));
        break;
    }
    default: {
        const char *s = (const char *)sqlite3_column_text(stmt, c);
        put_csv_text(out, s ? s : "", sqlite3_column_bytes(stmt, c));
    }
    }
}

static enum ww_code print_csv(struct ww_db *db, sqlite3_stmt *stmt, FILE *out, struct ww_error *error) {
    int count = sqlite3_column_count(stmt), rc;
    for (int c = 0; c < count; c++) {
        const char *name = sqlite3_column_name(stmt, c);
        if (c) putc(',', out);
        put_csv_text(out, name ? name : "", name ? (int)strlen(name) : 0);
    }
    fputs("\r\n", out);
    while ((rc = sqlite3_step(stmt)) == SQLITE_ROW && !ferror(out)) {
        db->rows++;
        for (int c = 0; c < count; c++) {
            if (c) putc(',', out);
            put_csv_cell(out, stmt, c);
        }
        fputs("\r\n", out);
    }
    return rc == SQLITE_ROW || rc == SQLITE_DONE ? WW_OK : ww_db_fail(db, "the query", error);
}

/* ---- JSON: an array of objects, one row a line ---- */

/* Keys of the columns: a name met before gets "_2", "_3"... behind it. Free with free_keys. */
static char **column_keys(sqlite3_stmt *stmt, int count) {
    char **keys = calloc((size_t)count + 1, sizeof *keys);
    for (int c = 0; keys && c < count; c++) {
        const char *name = sqlite3_column_name(stmt, c);
        char *key = sqlite3_mprintf("%s", name ? name : "");
        for (int i = 0, copy = 2; key && i < c; i++) {
            if (strcmp(keys[i], key) != 0) continue;
            sqlite3_free(key);
            key = sqlite3_mprintf("%s_%d", name ? name : "", copy++);
            i = -1;
        }
        keys[c] = key;
        if (!key) return keys; /* the caller sees a NULL before the end */
    }
    return keys;
}

static void free_keys(char **keys) {
    for (int c = 0; keys && keys[c]; c++) sqlite3_free(keys[c]);
    free(keys);
}

static void put_json_cell(struct ww_jsonw *w, const char *key, sqlite3_stmt *stmt, int c) {
    int n = sqlite3_column_bytes(stmt, c);
    switch (sqlite3_column_type(stmt, c)) {
    case SQLITE_NULL:
        ww_jsonw_null(w, key);
        break;
    case SQLITE_INTEGER:
        ww_jsonw_i64(w, key, sqlite3_column_int64(stmt, c));
        break;
    case SQLITE_FLOAT:
        ww_jsonw_f64(w, key, sqlite3_column_double(stmt, c));
        break;
    case SQLITE_BLOB:
        ww_jsonw_hex(w, key, sqlite3_column_blob(stmt, c), (size_t)n);
        break;
    default: {
        const char *s = (const char *)sqlite3_column_text(stmt, c);
        ww_jsonw_text(w, key, s ? s : "", s ? (size_t)sqlite3_column_bytes(stmt, c) : 0);
    }
    }
}

static enum ww_code print_json(struct ww_db *db, sqlite3_stmt *stmt, FILE *out, struct ww_error *error) {
    int count = sqlite3_column_count(stmt), rc;
    char **keys = column_keys(stmt, count);
    if (!keys || !keys[count - 1]) {
        free_keys(keys);
        return ww_fail_nomem(error, "a query's columns");
    }
    struct ww_jsonw w;
    ww_jsonw_begin(&w, out);
    ww_jsonw_open(&w, NULL, '[');
    while ((rc = sqlite3_step(stmt)) == SQLITE_ROW && !ferror(out)) {
        db->rows++;
        ww_jsonw_open_flat(&w, NULL, '{');
        for (int c = 0; c < count; c++) put_json_cell(&w, keys[c], stmt, c);
        ww_jsonw_close(&w, '}');
    }
    ww_jsonw_close(&w, ']');
    free_keys(keys);
    if (rc != SQLITE_ROW && rc != SQLITE_DONE) return ww_db_fail(db, "the query", error);
    return ww_jsonw_end(&w, error);
}

enum ww_code ww_db_print(struct ww_db *db, sqlite3_stmt *stmt, enum ww_format format, FILE *out,
                         struct ww_error *error) {
    db->rows = 0;
    switch (format) {
    case WW_FORMAT_CSV:
        WW_TRY(print_csv(db, stmt, out, error));
        break;
    case WW_FORMAT_JSON:
        WW_TRY(print_json(db, stmt, out, error));
        break;
    default:
        WW_TRY(ww_db_print_table(db, stmt, out, error));
    }
    if (fflush(out) != 0 || ferror(out))
        return ww_fail(error, WW_IO, "", "the output could not be written: %s", strerror(errno));
    return WW_OK;
}
