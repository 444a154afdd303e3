/* A CSV of measured figures: a heading that names the columns, then a line for each figure. */
#include "../../api/hardware.h"
#include "../../result/measured.h"
#include "hardware.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum column { WORKLOAD, PARAMETERS, SEED, KERNEL, LAUNCH, METRIC, VALUE, COLUMNS };
static const char *const names[COLUMNS] = {"workload", "parameters", "seed", "kernel",
                                           "launch",   "metric",     "value"};
#define CELLS_MOST 32

struct table {
    const char *where;
    size_t line;
    int of[CELLS_MOST]; /* column of each cell, -1: an unknown one */
    size_t cells;
    struct ww_measured *m;
    struct ww_error *error;
};

static enum ww_code fail(const struct table *t, const char *what, const char *met) {
    char place[320];
    snprintf(place, sizeof place, "%.290s:%zu", t->where, t->line);
    return ww_fail(t->error, WW_INPUT, place, "\"%.80s\": %s", met, what);
}

static enum ww_code read_heading(struct table *t, char *line) {
    char *cell[CELLS_MOST];
    bool seen[COLUMNS] = {0};
    if (!ww_csv_cut(line, cell, CELLS_MOST, &t->cells))
        return fail(t, "expected a heading of at most 32 columns", line);
    for (size_t i = 0; i < t->cells; i++) {
        t->of[i] = -1;
        const char *name = strcmp(cell[i], "trace") == 0 ? names[WORKLOAD] : cell[i];
        for (int c = 0; c < COLUMNS; c++)
            if (strcmp(name, names[c]) == 0) t->of[i] = c;
        if (t->of[i] < 0)
            return fail(t,
                        "no such column: expected workload (or trace), parameters, seed, kernel, launch,"
                        " metric, value",
                        cell[i]);
        if (seen[t->of[i]]) return fail(t, "the column appears twice", cell[i]);
        seen[t->of[i]] = true;
    }
    if (!seen[WORKLOAD] || !seen[METRIC] || !seen[VALUE])
        return fail(t, "the columns workload (or trace), metric and value must be there", cell[0]);
    return WW_OK;
}

static enum ww_code read_whole(struct table *t, const char *text, uint64_t max, uint64_t *out) {
    char *end;
    unsigned long long v = strtoull(text, &end, 10);
    if (end == text || *end || text[0] == '-' || v > max) return fail(t, "expected a whole number", text);
    *out = v;
    return WW_OK;
}

static enum ww_code read_value(struct table *t, const char *text, double *out) {
    char *end;
    *out = strtod(text, &end);
    if (end == text || *end || !isfinite(*out) || *out <= 0)
        return fail(t, "expected a number greater than 0", text);
    return WW_OK;
}

static enum ww_code read_metric(struct table *t, const char *text, enum ww_metric *out) {
    for (int i = 0; i < WW_METRIC_COUNT; i++)
        if (strcmp(text, ww_metric_name((enum ww_metric)i)) == 0) {
            *out = (enum ww_metric)i;
            return WW_OK;
        }
    return fail(t, "expected the metric time_s, cycles, power_w or energy_j", text);
}

static enum ww_code keep(struct table *t, const char *text, const char **out) {
    *out = ww_arena_strdup(ww_measured_arena(t->m), text);
    return *out ? WW_OK : ww_fail_nomem(t->error, t->where);
}

static enum ww_code read_cell(struct table *t, int column, const char *text, struct ww_measured_point *p) {
    uint64_t v = 0;
    switch (column) {
    case WORKLOAD:
        return *text ? keep(t, text, &p->workload) : fail(t, "expected a workload or a trace", text);
    case PARAMETERS:
        return keep(t, text, &p->parameters);
    case SEED:
        return *text ? read_whole(t, text, UINT64_MAX, &p->seed) : WW_OK;
    case KERNEL:
        return keep(t, text, &p->kernel);
    case LAUNCH:
        if (!*text || strcmp(text, "all") == 0) return WW_OK;
        WW_TRY(read_whole(t, text, WW_ALL_LAUNCHES - 1, &v));
        p->launch = (uint32_t)v;
        return WW_OK;
    case METRIC:
        return read_metric(t, text, &p->metric);
    default:
        return read_value(t, text, &p->value);
    }
}

static enum ww_code read_row(struct table *t, char *line) {
    char *cell[CELLS_MOST];
    size_t count;
    struct ww_measured_point p = {.parameters = "", .kernel = "", .launch = WW_ALL_LAUNCHES, .verified = true};
    if (!ww_csv_cut(line, cell, CELLS_MOST, &count))
        return fail(t, "a quote is open, or text follows one", line);
    if (count != t->cells) return fail(t, "the line has more or fewer cells than the heading", cell[0]);
    for (size_t i = 0; i < count; i++) WW_TRY(read_cell(t, t->of[i], cell[i], &p));
    p.low = p.high = p.value;
    t->m->point[t->m->point_count++] = p;
    return WW_OK;
}

static enum ww_code read_lines(struct table *t, char *text) {
    bool heading = false;
    for (char *line = text, *next; line; line = next) {
        next = strchr(line, '\n');
        if (next) *next++ = 0;
        t->line++;
        size_t n = strlen(line);
        if (n && line[n - 1] == '\r') line[n - 1] = 0;
        if (!*line || *line == '#') continue;
        WW_TRY(heading ? read_row(t, line) : read_heading(t, line));
        heading = true;
    }
    return heading ? WW_OK : fail(t, "the file is empty: expected a heading", "");
}

enum ww_code ww_measured_parse_csv(const char *bytes, size_t n, const char *where, struct ww_measured *m,
                                   struct ww_error *error) {
    struct table t = {.where = where, .m = m, .error = error};
    size_t lines = 1;
    if (memchr(bytes, 0, n)) return ww_fail(error, WW_INPUT, where, "has NUL bytes; expected text");
    for (size_t i = 0; i < n; i++) lines += bytes[i] == '\n';
    char *copy = ww_arena_strndup(ww_measured_arena(m), bytes, n);
    m->point = ww_arena_array(ww_measured_arena(m), lines, sizeof *m->point);
    if (!copy || !m->point) return ww_fail_nomem(error, where);
    return read_lines(&t, copy);
}
