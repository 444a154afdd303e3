/* What `ncu --csv` prints of kernels, as measurements: one row a metric (its details page), or one row a kernel
 * (its raw page, whose second line has the units). */
#include "../../api/hardware.h"
#include "../../result/measured.h"
#include "hardware.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define CELLS_MOST 8192 /* the raw page has a column for each metric */

enum place { ID, PROCESS, KERNEL, GRID, BLOCK, DEVICE_CC, NAME, UNIT, VALUE, PLACES };
static const char *const headings[PLACES] = {"ID", "Process Name", "Kernel Name", "Grid Size",   "Block Size",
                                             "CC", "Metric Name",  "Metric Unit", "Metric Value"};
/* Metrics that we compare with, the best first: as they are named, and as the details page shows them. */
struct metric {
    const char *name;
    enum ww_metric metric;
    int rank;
};
static const struct metric metrics[] = {
    {"gpc__cycles_elapsed.max", WW_METRIC_CYCLES, 0},
    {"Elapsed Cycles", WW_METRIC_CYCLES, 1},
    {"sm__cycles_elapsed.max", WW_METRIC_CYCLES, 2},
    {"gpu__time_duration.sum", WW_METRIC_TIME, 0},
    {"Duration", WW_METRIC_TIME, 1},
};
#define METRICS (sizeof metrics / sizeof metrics[0])

struct page {
    const char *where;
    size_t line;
    char **cell;
    size_t columns;
    size_t of[PLACES]; /* column of each, SIZE_MAX: it is not there */
    bool raw;
    size_t column[METRICS]; /* raw: of each metric, SIZE_MAX: it is not there */
    const char *unit[METRICS];
    struct { /* of the points so far: which metric they come from */
        uint32_t launch;
        int rank;
    } * from;
    struct ww_measured *m;
    struct ww_error *error;
};

static enum ww_code fail(const struct page *p, const char *what, const char *met) {
    char place[320];
    snprintf(place, sizeof place, "%.290s:%zu", p->where, p->line);
    return ww_fail(p->error, WW_INPUT, place, "\"%.80s\": %s", met, what);
}

/* The profiler's own messages stand in front of the table and behind it. */
static bool is_message(const char *line) {
    return !*line || strncmp(line, "==", 2) == 0;
}

bool ww_measured_is_ncu(const char *text, size_t n) {
    static const char heading[] = "\"ID\",\"Process ID\"";
    for (size_t i = 0; i + sizeof heading - 1 <= n;) {
        const char *end = memchr(text + i, '\n', n - i);
        size_t length = end ? (size_t)(end - text) - i : n - i;
        if (length >= sizeof heading - 1 && memcmp(text + i, heading, sizeof heading - 1) == 0) return true;
        i += length + 1;
    }
    return false;
}

static enum ww_code read_heading(struct page *p) {
    for (int k = 0; k < PLACES; k++) p->of[k] = SIZE_MAX;
    for (size_t k = 0; k < METRICS; k++) p->column[k] = SIZE_MAX;
    for (size_t i = 0; i < p->columns; i++) {
        for (int k = 0; k < PLACES; k++)
            if (strcmp(p->cell[i], headings[k]) == 0) p->of[k] = i;
        for (size_t k = 0; k < METRICS; k++)
            if (strcmp(p->cell[i], metrics[k].name) == 0) p->column[k] = i;
    }
    if (p->of[ID] == SIZE_MAX || p->of[KERNEL] == SIZE_MAX)
        return fail(p, "expected the columns ID and Kernel Name of Nsight Compute's CSV", p->cell[0]);
    p->raw = p->of[NAME] == SIZE_MAX;
    if (!p->raw && (p->of[UNIT] == SIZE_MAX || p->of[VALUE] == SIZE_MAX))
        return fail(p, "expected the columns Metric Unit and Metric Value next to Metric Name", p->cell[0]);
    return WW_OK;
}

/* Whether each comma has a digit in front of it and three behind it, as in 1,234.5. In some languages the
 * profiler writes one in place of the point: 2,5 is not 25. */
static bool sets_thousands_apart(const char *text) {
    size_t n = strspn(text, "0123456789");
    if (text[n] != ',') return !strchr(text, ',');
    if (n < 1 || n > 3) return false;
    for (text += n; *text == ','; text += 4)
        if (strspn(text + 1, "0123456789") < 3 || (text[4] >= '0' && text[4] <= '9')) return false;
    return !strchr(text, ',');
}

static enum ww_code read_number(const struct page *p, const char *text, double *out) {
    char digits[64], *end;
    size_t n = 0;
    if (!sets_thousands_apart(text))
        return fail(p, "expected commas between thousands only; profile with LC_ALL=C", text);
    for (const char *c = text; *c; c++)
        if (*c != ',') {
            if (n + 1 == sizeof digits) return fail(p, "expected a number", text);
            digits[n++] = *c;
        }
    digits[n] = 0;
    *out = strtod(digits, &end);
    if (!n || *end || !isfinite(*out) || *out <= 0) return fail(p, "expected a number greater than 0", text);
    return WW_OK;
}

static enum ww_code scale(const struct page *p, enum ww_metric metric, const char *unit, double *value) {
    static const struct {
        const char *name;
        double seconds;
    } units[] = {{"nsecond", 1e-9}, {"ns", 1e-9}, {"usecond", 1e-6}, {"us", 1e-6},
                 {"msecond", 1e-3}, {"ms", 1e-3}, {"second", 1},     {"s", 1}};
    if (metric == WW_METRIC_CYCLES)
        return strcmp(unit, "cycle") == 0 ? WW_OK : fail(p, "expected cycles in the unit cycle", unit);
    for (size_t i = 0; i < sizeof units / sizeof units[0]; i++)
        if (strcmp(unit, units[i].name) == 0) {
            *value *= units[i].seconds;
            return WW_OK;
        }
    return fail(p, "expected a duration in ns, us, ms or s", unit);
}

/* The function's name without arguments and template arguments, as kernels of traces can be compared with. */
static enum ww_code kernel_name(const struct page *p, const char *shown, const char **out) {
    size_t n = strcspn(shown, "(<");
    while (n && shown[n - 1] == ' ') n--;
    size_t from = n;
    while (from && shown[from - 1] != ' ' && shown[from - 1] != ':') from--;
    *out = ww_arena_strndup(ww_measured_arena(p->m), shown + from, n - from);
    return *out ? WW_OK : ww_fail_nomem(p->error, p->where);
}

/* "(1024, 1, 1)"; in another form it stays unknown. */
static void read_size(const struct page *p, enum place place, uint32_t out[3]) {
    unsigned long v[3];
    int used = 0;
    if (p->of[place] >= p->columns) return;
    const char *text = p->cell[p->of[place]];
    if (strspn(text, "0123456789(), ") != strlen(text) ||
        sscanf(text, " (%9lu, %9lu, %9lu) %n", &v[0], &v[1], &v[2], &used) != 3 || text[used])
        return;
    for (int d = 0; d < 3; d++) out[d] = (uint32_t)v[d];
}

/* The trace that a process is taken to have: PROCESS.wwt. */
static enum ww_code trace_name(const struct page *p, const char **out) {
    const char *process = p->of[PROCESS] < p->columns ? p->cell[p->of[PROCESS]] : "";
    *out = ww_arena_printf(ww_measured_arena(p->m), "%.200s.wwt", *process ? process : "program");
    return *out ? WW_OK : ww_fail_nomem(p->error, p->where);
}

static enum ww_code read_launch(const struct page *p, uint32_t *launch) {
    char *end;
    const char *text = p->cell[p->of[ID]];
    unsigned long v = strtoul(text, &end, 10);
    if (end == text || *end || text[0] == '-' || v >= WW_ALL_LAUNCHES)
        return fail(p, "expected the number of a kernel", text);
    *launch = (uint32_t)v;
    return WW_OK;
}

/* Of several metrics that mean the same of a kernel the best one counts. */
static struct ww_measured_point *point_for(struct page *p, uint32_t launch, const struct metric *metric) {
    struct ww_measured *m = p->m;
    for (size_t i = m->point_count; i-- > 0 && p->from[i].launch == launch;)
        if (m->point[i].metric == metric->metric) {
            if (p->from[i].rank <= metric->rank) return NULL;
            p->from[i].rank = metric->rank;
            return &m->point[i];
        }
    p->from[m->point_count].launch = launch;
    p->from[m->point_count].rank = metric->rank;
    return &m->point[m->point_count++];
}

static enum ww_code add(struct page *p, const struct metric *metric, const char *unit, const char *value) {
    uint32_t launch = 0;
    double number = 0;
    WW_TRY(read_launch(p, &launch));
    WW_TRY(read_number(p, value, &number));
    WW_TRY(scale(p, metric->metric, unit, &number));
    struct ww_measured_point *point = point_for(p, launch, metric);
    if (!point) return WW_OK;
    *point = (struct ww_measured_point){
        .parameters = "", .launch = launch, .metric = metric->metric, .verified = true};
    point->value = point->low = point->high = number;
    read_size(p, GRID, point->grid);
    read_size(p, BLOCK, point->block);
    WW_TRY(trace_name(p, &point->workload));
    return kernel_name(p, p->cell[p->of[KERNEL]], &point->kernel);
}

static enum ww_code read_units(struct page *p) {
    for (size_t k = 0; k < METRICS; k++) {
        if (p->column[k] >= p->columns) continue;
        p->unit[k] = ww_arena_strdup(ww_measured_arena(p->m), p->cell[p->column[k]]);
        if (!p->unit[k]) return ww_fail_nomem(p->error, p->where);
    }
    return WW_OK;
}

static enum ww_code read_raw(struct page *p) {
    if (!*p->cell[p->of[ID]]) return read_units(p);
    for (size_t k = 0; k < METRICS; k++)
        if (p->column[k] < p->columns && *p->cell[p->column[k]]) {
            if (!p->unit[k]) return fail(p, "expected the line of units first", p->cell[0]);
            WW_TRY(add(p, &metrics[k], p->unit[k], p->cell[p->column[k]]));
        }
    return WW_OK;
}

static enum ww_code read_row(struct page *p) {
    if (p->of[DEVICE_CC] < p->columns && *p->cell[p->of[DEVICE_CC]] && !*p->m->compute_capability) {
        p->m->compute_capability = ww_arena_strdup(ww_measured_arena(p->m), p->cell[p->of[DEVICE_CC]]);
        if (!p->m->compute_capability) return ww_fail_nomem(p->error, p->where);
    }
    if (p->raw) return read_raw(p);
    for (size_t k = 0; k < METRICS; k++)
        if (strcmp(p->cell[p->of[NAME]], metrics[k].name) == 0)
            return add(p, &metrics[k], p->cell[p->of[UNIT]], p->cell[p->of[VALUE]]);
    return WW_OK;
}

static enum ww_code read_line(struct page *p, char *line, bool *heading) {
    size_t count;
    if (!ww_csv_cut(line, p->cell, CELLS_MOST, &count))
        return fail(p, "a quote is open, text follows one, or there are more than 8192 columns", line);
    if (!*heading) {
        *heading = true;
        p->columns = count;
        return read_heading(p);
    }
    if (count != p->columns) return fail(p, "the line has more or fewer cells than the heading", p->cell[0]);
    return read_row(p);
}

static enum ww_code read_lines(struct page *p, char *text) {
    bool heading = false;
    for (char *line = text, *next; line; line = next) {
        next = strchr(line, '\n');
        if (next) *next++ = 0;
        p->line++;
        size_t n = strlen(line);
        if (n && line[n - 1] == '\r') line[n - 1] = 0;
        if (is_message(line) || (!heading && *line != '"')) continue; /* the program's output stands in front */
        WW_TRY(read_line(p, line, &heading));
    }
    if (p->m->point_count) return WW_OK;
    return fail(p,
                "no elapsed cycles and no duration: profile with --metrics "
                "gpc__cycles_elapsed.max,gpu__time_duration.sum",
                "");
}

enum ww_code ww_measured_parse_ncu(const char *bytes, size_t n, const char *where, struct ww_measured *m,
                                   struct ww_error *error) {
    struct page p = {.where = where, .m = m, .error = error};
    size_t lines = 1;
    if (memchr(bytes, 0, n)) return ww_fail(error, WW_INPUT, where, "has NUL bytes; expected text");
    for (size_t i = 0; i < n; i++) lines += bytes[i] == '\n';
    char *copy = ww_arena_strndup(ww_measured_arena(m), bytes, n);
    p.cell = ww_arena_array(ww_measured_arena(m), CELLS_MOST, sizeof *p.cell);
    p.from = ww_arena_array(ww_measured_arena(m), lines * METRICS, sizeof *p.from);
    m->point = ww_arena_array(ww_measured_arena(m), lines * METRICS, sizeof *m->point);
    if (!copy || !p.cell || !p.from || !m->point) return ww_fail_nomem(error, where);
    return read_lines(&p, copy);
}
