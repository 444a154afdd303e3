/* Tables for people. */
#include "../base/escape.h"
#include "cmd.h"
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#define COLUMNS_MAX 16

void ww_cmd_table_cell(struct cmd_table *t, const char *text) {
    if (t->count == t->capacity) {
        size_t capacity = t->capacity ? 2 * t->capacity : 64;
        char **cell = realloc(t->cell, capacity * sizeof *cell);
        if (!cell) {
            t->failed = true;
            return;
        }
        t->cell = cell;
        t->capacity = capacity;
    }
    t->cell[t->count] = strdup(ww_shown(text));
    if (t->cell[t->count])
        t->count++;
    else
        t->failed = true;
}

void ww_cmd_table_cellf(struct cmd_table *t, const char *fmt, ...) {
    char text[512];
    va_list args;
    va_start(args, fmt);
    vsnprintf(text, sizeof text, fmt, args);
    va_end(args);
    ww_cmd_table_cell(t, text);
}

static bool is_number(const char *s) {
    return strspn(s, "0123456789+-.e") == strlen(s);
}

enum ww_code ww_cmd_table_print(struct cmd_table *t, FILE *out, struct ww_error *error) {
    size_t width[COLUMNS_MAX] = {0};
    bool right[COLUMNS_MAX];
    for (size_t c = 0; c < t->columns; c++) right[c] = t->count > t->columns;
    for (size_t i = 0; i < t->count; i++) {
        size_t c = i % t->columns, n = strlen(t->cell[i]);
        if (n > width[c]) width[c] = n;
        if (i >= t->columns && !is_number(t->cell[i])) right[c] = false;
    }
    size_t gap = 0; /* pending blanks: written before the next text, so that no line ends in blanks */
    for (size_t i = 0; i < t->count && !t->failed; i++) {
        size_t c = i % t->columns, n = strlen(t->cell[i]);
        if (right[c]) gap += width[c] - n;
        if (n) fprintf(out, "%*s%s", (int)gap, "", t->cell[i]);
        gap = (n ? 0 : gap) + 2 + (right[c] ? 0 : width[c] - n);
        if (c + 1 < t->columns) continue;
        fputc('\n', out);
        gap = 0;
    }
    for (size_t i = 0; i < t->count; i++) free(t->cell[i]);
    free(t->cell);
    bool failed = t->failed;
    *t = (struct cmd_table){.columns = t->columns};
    return failed ? ww_fail_nomem(error, "a table") : WW_OK;
}
