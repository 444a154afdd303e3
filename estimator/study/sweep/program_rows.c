/* The variants that a table names: rows of texts between tabs, the first one the names of the columns. */
#include "../../base/hash.h"
#include "program.h"
#include "space.h"
#include <stdlib.h>
#include <string.h>

#define TABLE_MOST ((size_t)64 << 20)
#define COLUMNS_MOST 1024

static int by_number(const void *a, const void *b) {
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return x < y ? -1 : x > y;
}

static uint64_t join(uint64_t h, const char *text, size_t n) {
    return ww_hash_mix(ww_hash_bytes(text, n, h));
}

/* Cells of a line; its end is *end. */
static size_t split(const char *line, const char **cell, size_t *bytes, const char **end) {
    size_t n = 0;
    for (const char *p = line;; p++) {
        size_t k = strcspn(p, "\t\r\n");
        if (n < COLUMNS_MOST) cell[n] = p, bytes[n++] = k;
        p += k;
        if (*p == '\t') continue;
        *end = p + strspn(p, "\r\n");
        return n;
    }
}

/* Which column a parameter of the program stands in. */
static enum ww_code find_columns(const struct space_reader *r, const char *path, const char *const *cell,
                                 const size_t *bytes, size_t n, size_t *column) {
    const struct ww_sweep_space *s = r->space;
    for (size_t i = 0; i < s->param_count; i++) {
        const char *key = s->param[i].key;
        size_t at = 0;
        while (at < n && !(strlen(key) == bytes[at] && strncmp(key, cell[at], bytes[at]) == 0)) at++;
        if (at == n) return ww_space_fail(r, "$.program.variants", "%.120s has no column \"%.60s\"", path, key);
        column[i] = at;
    }
    return WW_OK;
}

static enum ww_code read_rows(const struct space_reader *r, const char *path, const char *text) {
    struct ww_program *p = r->space->program;
    const char **cell = calloc(COLUMNS_MOST, sizeof *cell), *end;
    size_t *bytes = calloc(COLUMNS_MOST, sizeof *bytes), column[WW_SWEEP_PARAMS], lines = 0;
    enum ww_code code = cell && bytes ? WW_OK : ww_space_nomem(r);
    for (const char *q = text; *q; q++) lines += *q == '\n';
    if (code == WW_OK) p->row = ww_arena_array(&r->space->arena, lines + 2, sizeof *p->row);
    if (code == WW_OK && !p->row) code = ww_space_nomem(r);
    size_t n = code == WW_OK ? split(text, cell, bytes, &end) : 0;
    if (code == WW_OK) code = find_columns(r, path, cell, bytes, n, column);
    while (code == WW_OK && *end) {
        uint64_t h = 0;
        n = split(end, cell, bytes, &end);
        for (size_t i = 0; i < r->space->param_count && code == WW_OK; i++) {
            if (column[i] >= n)
                code =
                    ww_space_fail(r, "$.program.variants", "%.120s: row %zu is too short", path, p->rows + 1);
            else
                h = join(h, cell[column[i]], bytes[column[i]]);
        }
        p->row[p->rows++] = h;
    }
    free(cell);
    free(bytes);
    if (code == WW_OK) qsort(p->row, p->rows, sizeof *p->row, by_number);
    return code;
}

enum ww_code ww_program_read_rows(const struct space_reader *r, const cJSON *node) {
    struct ww_buf text;
    struct ww_program *p = r->space->program;
    WW_TRY(ww_space_string(r, node, "$.program.variants", &p->table));
    WW_TRY(ww_read_file(p->table, TABLE_MOST, &text, r->error));
    enum ww_code code = read_rows(r, p->table, text.p ? text.p : "");
    ww_buf_free(&text);
    return code;
}

bool ww_program_has_row(const struct ww_sweep_space *space, const uint16_t *level) {
    const struct ww_program *p = space->program;
    uint64_t h = 0;
    for (size_t i = 0; i < space->param_count; i++) {
        const struct ww_sweep_param *q = &space->param[i];
        if (q->target == WW_SWEEP_PROGRAM)
            h = join(h, q->level[level[i]].text, strlen(q->level[level[i]].text));
    }
    return bsearch(&h, p->row, p->rows, sizeof h, by_number) != NULL;
}
