/* Measured variants compared with a sweep's estimates: the agreement of the two rankings. */
#include "../../api/database.h"
#include "../../api/sweep.h"
#include "../../../db/sweep.h"
#include "../../base/buf.h"
#include "../../base/locale.h"
#include "../../config/json.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define TABLE_MOST ((size_t)256 << 20)
#define COLUMNS_MOST 1024
#define ROWS_MOST 200000

struct cell {
    const char *p;
    size_t n;
};
/* A table of texts between tabs. */
struct table {
    struct ww_buf text;
    struct cell *cell; /* [row][column], the header first */
    size_t rows, columns;
};
struct point {
    double measured, estimate;
};
struct joining {
    const struct table *t;
    size_t column;  /* of the measured time */
    double unit;    /* its seconds */
    size_t *row_of; /* [row]: point + 1; 0: none */
    struct point *point;
    size_t count, unmatched, points;
    const char *path;
    struct ww_explored *into; /* NULL: nowhere */
    struct ww_error *error;
};

/* ---- the table ---- */

static enum ww_code read_table(const char *path, struct table *t, struct ww_error *error) {
    WW_TRY(ww_read_file(path, TABLE_MOST, &t->text, error));
    const char *p = t->text.p ? t->text.p : "";
    size_t lines = 1, first = strcspn(p, "\r\n");
    for (size_t i = 0; i < first; i++) t->columns += p[i] == '\t';
    t->columns++;
    for (const char *q = p; *q; q++) lines += *q == '\n';
    if (t->columns > COLUMNS_MOST || lines > ROWS_MOST)
        return ww_fail(error, WW_INPUT, path, "more than %d columns or %d rows", COLUMNS_MOST, ROWS_MOST);
    t->cell = calloc(lines * t->columns + 1, sizeof *t->cell);
    if (!t->cell) return ww_fail_nomem(error, "a table");
    while (*p) {
        size_t k = 0;
        for (;; p++) {
            size_t n = strcspn(p, "\t\r\n");
            if (k < t->columns) t->cell[t->rows * t->columns + k++] = (struct cell){p, n};
            p += n;
            if (*p != '\t') break;
        }
        if (k < t->columns && k > 1)
            return ww_fail(error, WW_INPUT, path, "row %zu has %zu columns, the header %zu", t->rows, k,
                           t->columns);
        t->rows += k == t->columns;
        p += strspn(p, "\r\n");
    }
    return WW_OK;
}

static const struct cell *at(const struct table *t, size_t row, size_t column) {
    return &t->cell[row * t->columns + column];
}

static bool is(const struct cell *c, const char *text, size_t n) {
    return c->n == n && memcmp(c->p, text, n) == 0;
}

static size_t find_column(const struct table *t, const char *name, size_t n) {
    for (size_t k = 0; t->rows && k < t->columns; k++)
        if (is(at(t, 0, k), name, n)) return k;
    return SIZE_MAX;
}

static double number(const struct cell *c) {
    char text[64], *end;
    if (c->n == 0 || c->n >= sizeof text) return NAN;
    memcpy(text, c->p, c->n);
    text[c->n] = 0;
    double v = strtod(text, &end);
    return *end ? NAN : v;
}

/* The column of times: the one that is asked for, or the first of those that tuners write. Its unit is in its
 * name. */
static enum ww_code find_times(struct joining *j, const char *asked, struct ww_error *error) {
    static const char *const usual[] = {"median_ms", "time_ms", "duration_us", "time_us", "time_s", "time"};
    const char *name = asked;
    j->column = SIZE_MAX;
    if (asked) j->column = find_column(j->t, asked, strlen(asked));
    for (size_t i = 0; !asked && i < sizeof usual / sizeof *usual && j->column == SIZE_MAX; i++) {
        name = usual[i];
        j->column = find_column(j->t, name, strlen(name));
    }
    if (j->column == SIZE_MAX)
        return ww_fail(error, WW_INPUT, j->path, "no column %s%s: name the measured times' column by --column",
                       asked ? "is called " : "of times is there (median_ms, time_ms, duration_us, ...)",
                       asked ? asked : "");
    size_t n = strlen(name);
    j->unit = n > 3 && strcmp(name + n - 3, "_us") == 0  ? 1e-6
              : n > 2 && strcmp(name + n - 2, "_s") == 0 ? 1
                                                         : 1e-3;
    return WW_OK;
}

/* ---- joining ---- */

static bool same(const struct cell *c, const char *value, size_t n) {
    if (is(c, value, n)) return true;
    struct cell v = {value, n};
    double a = number(c), b = number(&v);
    return a == b;
}

/* Whether a row has the values of all settings that are columns of the table. */
static bool matches(const struct table *t, size_t row, const char *settings) {
    for (const char *p = settings; *p;) {
        size_t key = strcspn(p, "= "), n = p[key] == '=' ? strcspn(p + key + 1, " ") : 0;
        size_t column = find_column(t, p, key);
        if (column != SIZE_MAX && !same(at(t, row, column), p + key + 1, n)) return false;
        p += key + (p[key] == '=') + n;
        p += *p == ' ';
    }
    return true;
}

/* Keeps a measured time with its point; points are in their order. */
static void keep(struct ww_explored *into, uint64_t ord, double measured) {
    for (size_t lo = 0, hi = into->point_count; lo < hi;) {
        size_t mid = lo + (hi - lo) / 2;
        if (into->point[mid].ord == ord) {
            into->point[mid].measured_s = measured;
            return;
        }
        if (into->point[mid].ord < ord)
            lo = mid + 1;
        else
            hi = mid;
    }
}

static enum ww_code join(void *context, uint64_t point, const char *settings, double seconds) {
    struct joining *j = context;
    bool found = false;
    j->points++;
    for (size_t row = 1; row < j->t->rows; row++) {
        if (!matches(j->t, row, settings)) continue;
        double measured = number(at(j->t, row, j->column)) * j->unit;
        found = true;
        if (!(measured > 0)) continue; /* it failed on the GPU */
        if (j->row_of[row])
            return ww_fail(j->error, WW_INPUT, j->path,
                           "row %zu is that of two points: expected a column for each parameter of the sweep",
                           row);
        j->row_of[row] = j->count + 1;
        j->point[j->count++] = (struct point){measured, seconds};
        if (j->into) keep(j->into, point, measured);
        break;
    }
    j->unmatched += !found;
    return WW_OK;
}

/* ---- agreement ---- */

struct ranked {
    double value;
    size_t index;
};
static int by_value(const void *a, const void *b) {
    const struct ranked *x = a, *y = b;
    if (x->value != y->value) return x->value < y->value ? -1 : 1;
    return x->index < y->index ? -1 : x->index > y->index;
}

/* Ranks, equal values sharing theirs. */
static void rank(struct ranked *r, size_t n, double *out) {
    qsort(r, n, sizeof *r, by_value);
    for (size_t i = 0; i < n;) {
        size_t k = i;
        while (k + 1 < n && r[k + 1].value == r[i].value) k++;
        for (size_t m = i; m <= k; m++) out[r[m].index] = (double)(i + k) / 2;
        i = k + 1;
    }
}

static double pearson(const double *a, const double *b, size_t n) {
    double ma = 0, mb = 0, ab = 0, aa = 0, bb = 0;
    for (size_t i = 0; i < n; i++) ma += a[i] / (double)n, mb += b[i] / (double)n;
    for (size_t i = 0; i < n; i++) {
        ab += (a[i] - ma) * (b[i] - mb);
        aa += (a[i] - ma) * (a[i] - ma);
        bb += (b[i] - mb) * (b[i] - mb);
    }
    return aa > 0 && bb > 0 ? ab / sqrt(aa * bb) : NAN;
}

/* Kendall's tau b. */
static double kendall(const struct point *p, size_t n) {
    double agree = 0, a = 0, b = 0;
    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; k < i; k++) {
            int x = (p[i].measured > p[k].measured) - (p[i].measured < p[k].measured);
            int y = (p[i].estimate > p[k].estimate) - (p[i].estimate < p[k].estimate);
            agree += x * y;
            a += x != 0;
            b += y != 0;
        }
    return a > 0 && b > 0 ? agree / sqrt(a * b) : NAN;
}

static enum ww_code judge(const struct joining *j, struct ww_sweep_ranking *out, struct ww_error *error) {
    static const size_t tops[WW_SWEEP_TOPS] = {1, 3, 10};
    size_t n = j->count;
    struct ranked *r = calloc(n + 1, sizeof *r);
    double *a = calloc(n + 1, sizeof *a), *b = calloc(n + 1, sizeof *b), best = INFINITY;
    if (!r || !a || !b) {
        free(r), free(a), free(b);
        return ww_fail_nomem(error, "a ranking");
    }
    for (size_t i = 0; i < n; i++) {
        r[i] = (struct ranked){j->point[i].measured, i};
        best = fmin(best, j->point[i].measured);
        out->mean_abs_error += fabs(j->point[i].estimate / j->point[i].measured - 1) / (double)n;
    }
    rank(r, n, a);
    for (size_t i = 0; i < n; i++) r[i] = (struct ranked){j->point[i].estimate / j->point[i].measured, i};
    qsort(r, n, sizeof *r, by_value);
    out->median_ratio = n ? r[n / 2].value : NAN;
    for (size_t i = 0; i < n; i++) r[i] = (struct ranked){j->point[i].estimate, i};
    rank(r, n, b);
    out->spearman = pearson(a, b, n);
    out->kendall = kendall(j->point, n);
    for (size_t k = 0; k < WW_SWEEP_TOPS; k++) {
        double ours = INFINITY;
        for (size_t i = 0; i < n && i < tops[k]; i++) ours = fmin(ours, j->point[r[i].index].measured);
        out->top[k] = tops[k];
        out->regret[k] = n ? ours / best - 1 : NAN;
    }
    free(r);
    free(a);
    free(b);
    return WW_OK;
}

enum ww_code ww_sweep_rank(struct ww_db *db, int64_t sweep, const char *path, const char *column,
                           struct ww_explored *into, struct ww_sweep_ranking *out, struct ww_error *error) {
    WW_PLAIN_LOCALE;
    struct table t = {0};
    struct joining j = {.t = &t, .path = path, .into = into, .error = error};
    *out = (struct ww_sweep_ranking){0};
    enum ww_code code = read_table(path, &t, error);
    if (code == WW_OK) code = find_times(&j, column, error);
    if (code == WW_OK) {
        j.row_of = calloc(t.rows + 1, sizeof *j.row_of);
        j.point = calloc(t.rows + 1, sizeof *j.point);
        if (!j.row_of || !j.point) code = ww_fail_nomem(error, "a ranking");
    }
    if (code == WW_OK) code = ww_db_sweep_times(db, sweep, &out->sweep, out->gpu, join, &j, error);
    if (code == WW_OK && j.count < 2)
        code = ww_fail(error, WW_INPUT, path, "%zu of its rows are points of the sweep: expected two, at least",
                       j.count);
    if (code == WW_OK) code = judge(&j, out, error);
    out->variants = j.count;
    out->unmatched = j.unmatched;
    ww_buf_free(&t.text);
    free(t.cell);
    free(j.row_of);
    free(j.point);
    return code;
}
