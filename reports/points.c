/* Reads tables of launches with measured and estimated cycles: the CSV that scripts/silicon.py prints. */
#include "points.h"
#include "../estimator/base/err.h"
#include "../estimator/base/infile.h"
#include "../estimator/base/locale.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { COLUMNS = 64, POINTS = 100000 };
enum column { APP, LAUNCH, KERNEL, MEASURED, OURS, OTHER, KINDS };

struct reader {
    struct ww_points *p;
    const char *path, *table;
    unsigned line;
    int at[KINDS]; /* which column of the table, -1: none */
    int columns;
    struct ww_error *error;
};

static enum ww_code refuse(const struct reader *r, const char *text) {
    char where[320];
    snprintf(where, sizeof where, "%.200s:%u", r->path, r->line);
    return ww_fail(r->error, WW_INPUT, where, "%s", text);
}

/* Cuts the line at its commas, quotes removed; the number of fields, -1: a quote is open, or there are too
 * many. */
static int split(char *line, char *field[COLUMNS]) {
    int n = 0;
    char *in = line, *out = line;
    for (field[n++] = out;; in++) {
        if (*in == '"') {
            for (in++; *in && (*in != '"' || in[1] == '"'); in++) {
                if (*in == '"') in++;
                *out++ = *in;
            }
            if (!*in) return -1;
        } else if (*in == ',' || !*in) {
            bool last = !*in;
            *out++ = 0;
            if (last) return n;
            if (n == COLUMNS) return -1;
            field[n++] = out;
        } else {
            *out++ = *in;
        }
    }
}

/* "accelsim_cycles": the first that is neither the measured one nor ours. */
static bool is_other(const char *name) {
    size_t n = strlen(name), end = strlen("_cycles");
    return n > end && strcmp(name + n - end, "_cycles") == 0 && strcmp(name, "hw_cycles") != 0;
}

static enum ww_code read_heading(struct reader *r, char *line) {
    static const char *const name[] = {"app", "launch", "kernel", "hw_cycles", "cycles"};
    char *field[COLUMNS];
    for (int k = 0; k < KINDS; k++) r->at[k] = -1;
    r->columns = split(line, field);
    for (int i = 0; i < r->columns; i++) {
        for (int k = 0; k < OTHER; k++)
            if (strcmp(field[i], name[k]) == 0) r->at[k] = i;
        if (r->at[OTHER] < 0 && is_other(field[i])) r->at[OTHER] = i;
    }
    for (int k = 0; k < OTHER; k++)
        if (r->at[k] < 0) return refuse(r, "expected the columns app, launch, kernel, hw_cycles and cycles");
    if (r->at[OTHER] < 0 || r->p->other) return WW_OK;
    char *other = field[r->at[OTHER]];
    other[strlen(other) - strlen("_cycles")] = 0;
    r->p->other = strcmp(other, "accelsim") == 0 ? "Accel-Sim" : ww_arena_strdup(&r->p->arena, other);
    return r->p->other ? WW_OK : ww_fail_nomem(r->error, r->path);
}

static bool cycles(const char *text, double *out) {
    char *end;
    *out = strtod(text, &end);
    return end != text && !*end && isfinite(*out) && *out > 0;
}

static enum ww_code add(struct reader *r, const struct ww_point *point) {
    struct ww_points *p = r->p;
    if (p->count == POINTS) return refuse(r, "more than 100,000 launches");
    if (p->count == p->capacity) {
        size_t capacity = p->capacity ? 2 * p->capacity : 256;
        struct ww_point *list = realloc(p->point, capacity * sizeof *list);
        if (!list) return ww_fail_nomem(r->error, r->path);
        p->point = list;
        p->capacity = capacity;
    }
    p->point[p->count++] = *point;
    return WW_OK;
}

static enum ww_code read_row(struct reader *r, char *line) {
    char *f[COLUMNS];
    struct ww_point point = {.table = r->table, .other = NAN};
    if (split(line, f) != r->columns) return refuse(r, "not as many fields as the heading has");
    if (!cycles(f[r->at[MEASURED]], &point.measured) || !cycles(f[r->at[OURS]], &point.ours))
        return refuse(r, "hw_cycles and cycles: numbers above 0 were expected");
    if (r->at[OTHER] >= 0 && *f[r->at[OTHER]] && !cycles(f[r->at[OTHER]], &point.other))
        return refuse(r, "the other estimate: a number above 0, or nothing, was expected");
    point.program = ww_arena_strdup(&r->p->arena, f[r->at[APP]]);
    point.launch =
        ww_arena_strdup(&r->p->arena, strcmp(f[r->at[LAUNCH]], "-1") == 0 ? "all" : f[r->at[LAUNCH]]);
    point.kernel = ww_arena_strdup(&r->p->arena, f[r->at[KERNEL]]);
    if (!point.program || !point.launch || !point.kernel) return ww_fail_nomem(r->error, r->path);
    return add(r, &point);
}

static enum ww_code read_lines(struct reader *r, FILE *f) {
    char line[8192];
    while (fgets(line, sizeof line, f)) {
        r->line++;
        size_t n = strcspn(line, "\r\n");
        if (n + 1 == sizeof line) return refuse(r, "the line is too long");
        line[n] = 0;
        WW_TRY(r->line == 1 ? read_heading(r, line) : read_row(r, line));
    }
    if (ferror(f)) return ww_fail(r->error, WW_IO, r->path, "cannot be read");
    return r->line > 1 ? WW_OK : refuse(r, "no launches");
}

/* The file's name without its folder and ".csv". */
static const char *name_of(struct ww_points *p, const char *path) {
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
    size_t n = strlen(name);
    if (n > 4 && strcmp(name + n - 4, ".csv") == 0) n -= 4;
    return ww_arena_printf(&p->arena, "%.*s", (int)n, name);
}

static enum ww_code read_table(struct ww_points *p, const char *path, struct ww_error *error) {
    struct reader r = {.p = p, .path = path, .error = error};
    r.table = name_of(p, path);
    if (!r.table) return ww_fail_nomem(error, path);
    FILE *f;
    WW_TRY(ww_infile_open(path, &f, error));
    enum ww_code code = read_lines(&r, f);
    fclose(f);
    return code;
}

enum ww_code ww_points_read(const char *const *path, size_t count, struct ww_points **points,
                            struct ww_error *error) {
    WW_PLAIN_LOCALE;
    struct ww_points *p = calloc(1, sizeof *p);
    if (!p) return ww_fail_nomem(error, "the points");
    ww_arena_init(&p->arena, 0);
    enum ww_code code = WW_OK;
    for (size_t i = 0; i < count && code == WW_OK; i++) code = read_table(p, path[i], error);
    if (code == WW_OK)
        *points = p;
    else
        ww_points_free(p);
    return code;
}

void ww_points_free(struct ww_points *points) {
    if (!points) return;
    free(points->point);
    ww_arena_free(&points->arena);
    free(points);
}
