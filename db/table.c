/* Tables for people: columns as wide as the first rows need, numbers to the right, NULL as "-", control
 * characters replaced (a stored text must not steer a terminal), long texts cut. Rows behind the first
 * batch are printed as they come, with the widths that the batch gave. */
#include "../estimator/api/database.h"
#include "db.h"
#include "../estimator/base/escape.h"
#include <inttypes.h>
#include <math.h>
#include <string.h>

#define BATCH_ROWS 1000
#define BATCH_CELLS 20000 /* fewer rows where the columns are many */
#define CELL_MAX 100      /* characters shown of one cell */
#define REASON_MAX 1000   /* of reasons and lists of settings, whose end carries information */
#define CELL_BYTES (4 * REASON_MAX + 8)

struct table {
    int columns;
    int *width;
    bool *text; /* the column holds text: it is put to the left */
    struct ww_arena arena;
    const char **cell; /* capacity x columns */
    size_t rows, capacity;
};

static void real_text(double v, char *out, size_t size) {
    double a = fabs(v);
    snprintf(out, size, a >= 1e6 && a < 1e15 ? "%.0f" : "%.6g", v);
}

/* Copies what can be shown: at most `most` characters, "..." where cut. */
static void show_text(const char *s, size_t n, size_t most, char *out) {
    size_t used = 0, chars = 0;
    for (size_t i = 0; i < n; chars++) {
        if (chars == most - 3 && n - i > 3) {
            memcpy(out + used, "...", 3);
            used += 3;
            break;
        }
        bool shows;
        size_t length = ww_text_next(s + i, n - i, &shows);
        if (!shows)
            out[used++] = s[i] == '\n' || s[i] == '\t' ? ' ' : '?';
        else
            memcpy(out + used, s + i, length), used += length;
        i += length;
    }
    out[used] = 0;
}

static size_t most_of(sqlite3_stmt *stmt, int c) {
    const char *name = sqlite3_column_name(stmt, c);
    static const char *const whole[] = {"reason", "overrides", "settings", "mechanisms"};
    for (size_t i = 0; name && i < sizeof whole / sizeof *whole; i++)
        if (strcmp(name, whole[i]) == 0) return REASON_MAX;
    return CELL_MAX;
}

/* The shown text of a cell, in `out` of CELL_BYTES. */
static void cell_text(sqlite3_stmt *stmt, int c, char *out) {
    switch (sqlite3_column_type(stmt, c)) {
    case SQLITE_NULL:
        strcpy(out, "-");
        return;
    case SQLITE_INTEGER:
        snprintf(out, CELL_BYTES, "%" PRId64, (int64_t)sqlite3_column_int64(stmt, c));
        return;
    case SQLITE_FLOAT:
        real_text(sqlite3_column_double(stmt, c), out, CELL_BYTES);
        return;
    case SQLITE_BLOB:
        snprintf(out, CELL_BYTES, "(%d bytes)", sqlite3_column_bytes(stmt, c));
        return;
    default: {
        const char *s = (const char *)sqlite3_column_text(stmt, c);
        show_text(s ? s : "", s ? (size_t)sqlite3_column_bytes(stmt, c) : 0, most_of(stmt, c), out);
    }
    }
}

static int shown_width(const char *s) {
    int n = 0;
    for (; *s; s++) n += ((unsigned char)*s & 0xc0) != 0x80;
    return n;
}

static void put_cell(FILE *out, const struct table *t, int c, const char *text) {
    int pad = t->width[c] - shown_width(text);
    if (c) fputs("  ", out);
    if (!t->text[c]) fprintf(out, "%*s", pad > 0 ? pad : 0, "");
    fputs(text, out);
    if (t->text[c] && c + 1 < t->columns) fprintf(out, "%*s", pad > 0 ? pad : 0, "");
    if (c + 1 == t->columns) putc('\n', out);
}

static enum ww_code keep_row(struct table *t, sqlite3_stmt *stmt, struct ww_error *error) {
    char text[CELL_BYTES];
    for (int c = 0; c < t->columns; c++) {
        cell_text(stmt, c, text);
        char *copy = ww_arena_strdup(&t->arena, text);
        if (!copy) return ww_fail_nomem(error, "a table");
        t->cell[t->rows * (size_t)t->columns + (size_t)c] = copy;
        int type = sqlite3_column_type(stmt, c), width = shown_width(text);
        if (type == SQLITE_TEXT || type == SQLITE_BLOB) t->text[c] = true;
        if (width > t->width[c]) t->width[c] = width;
    }
    t->rows++;
    return WW_OK;
}

static enum ww_code make_table(struct table *t, sqlite3_stmt *stmt, struct ww_error *error) {
    size_t columns = (size_t)t->columns;
    t->capacity = columns > BATCH_CELLS / BATCH_ROWS ? BATCH_CELLS / columns + 1 : BATCH_ROWS;
    t->width = ww_arena_array(&t->arena, columns, sizeof *t->width);
    t->text = ww_arena_array(&t->arena, columns, sizeof *t->text);
    t->cell = ww_arena_array(&t->arena, columns * t->capacity, sizeof *t->cell);
    if (!t->width || !t->text || !t->cell) return ww_fail_nomem(error, "a table");
    char text[CELL_BYTES];
    for (int c = 0; c < t->columns; c++) {
        const char *name = sqlite3_column_name(stmt, c);
        show_text(name ? name : "", name ? strlen(name) : 0, CELL_MAX, text);
        t->width[c] = shown_width(text);
    }
    return WW_OK;
}

static void print_batch(const struct table *t, sqlite3_stmt *stmt, FILE *out) {
    char text[CELL_BYTES];
    for (int c = 0; c < t->columns; c++) {
        const char *name = sqlite3_column_name(stmt, c);
        show_text(name ? name : "", name ? strlen(name) : 0, CELL_MAX, text);
        put_cell(out, t, c, text);
    }
    for (size_t i = 0; i < t->rows * (size_t)t->columns; i++)
        put_cell(out, t, (int)(i % (size_t)t->columns), t->cell[i]);
}

static enum ww_code fill_and_print(struct ww_db *db, struct table *t, sqlite3_stmt *stmt, FILE *out,
                                   struct ww_error *error) {
    int rc = SQLITE_DONE;
    WW_TRY(make_table(t, stmt, error));
    while (t->rows < t->capacity && (rc = sqlite3_step(stmt)) == SQLITE_ROW) WW_TRY(keep_row(t, stmt, error));
    if (rc != SQLITE_ROW && rc != SQLITE_DONE) return ww_db_fail(db, "the query", error);
    print_batch(t, stmt, out);
    db->rows += t->rows;
    char text[CELL_BYTES];
    while (rc == SQLITE_ROW && !ferror(out) && (rc = sqlite3_step(stmt)) == SQLITE_ROW)
        for (int c = 0; c < t->columns; c++) {
            cell_text(stmt, c, text);
            put_cell(out, t, c, text);
        }
    return rc == SQLITE_ROW || rc == SQLITE_DONE ? WW_OK : ww_db_fail(db, "the query", error);
}

enum ww_code ww_db_print_table(struct ww_db *db, sqlite3_stmt *stmt, FILE *out, struct ww_error *error) {
    struct table t = {.columns = sqlite3_column_count(stmt)};
    ww_arena_init(&t.arena, 0);
    enum ww_code code = fill_and_print(db, &t, stmt, out, error);
    ww_arena_free(&t.arena);
    return code;
}
