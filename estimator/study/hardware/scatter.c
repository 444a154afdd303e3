/* A correlation as scatter plots: for terminals, and as data files with a gnuplot script. */
#include "../../api/hardware.h"
#include "../../result/measured.h"
#include "../../base/escape.h"
#include "../../base/locale.h"
#include "../../base/outfile.h"
#include "correlate.h"
#include <errno.h>
#include <math.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { COLUMNS = 60, LINES = 24 };

static const char *const title[WW_METRIC_COUNT] = {"time, s", "SM cycles", "power, W", "energy, J"};

static bool counted(const struct ww_correlation_row *r, enum ww_metric metric) {
    return r->metric == metric && r->verified && r->measured > 0 && r->estimate > 0;
}

/* The range of both axes, in powers of ten; false if no row counts. */
static bool range(const struct ww_correlation *c, enum ww_metric metric, double *low, double *high) {
    *low = INFINITY;
    *high = -INFINITY;
    for (size_t i = 0; i < c->row_count; i++) {
        if (!counted(&c->row[i], metric)) continue;
        *low = fmin(*low, log10(fmin(c->row[i].measured, c->row[i].estimate)));
        *high = fmax(*high, log10(fmax(c->row[i].measured, c->row[i].estimate)));
    }
    if (!(*low <= *high)) return false;
    double margin = fmax(0.02 * (*high - *low), 0.01);
    *low -= margin;
    *high += margin;
    return true;
}

/* ---- text ---- */

static int cell(double v, double low, double high, int cells) {
    int at = (int)((log10(v) - low) / (high - low) * cells);
    return at < 0 ? 0 : at < cells ? at : cells - 1;
}

/* A point is o, several in one place their number up to 9; where both are equal there are dots. */
static void draw(const struct ww_correlation *c, enum ww_metric metric, double low, double high,
                 char grid[LINES][COLUMNS + 1]) {
    for (int y = 0; y < LINES; y++) {
        memset(grid[y], ' ', COLUMNS);
        grid[y][COLUMNS] = 0;
    }
    for (int x = 0; x < COLUMNS; x++) grid[LINES - 1 - x * LINES / COLUMNS][x] = '.';
    for (size_t i = 0; i < c->row_count; i++) {
        const struct ww_correlation_row *r = &c->row[i];
        if (!counted(r, metric)) continue;
        char *at =
            &grid[LINES - 1 - cell(r->estimate, low, high, LINES)][cell(r->measured, low, high, COLUMNS)];
        *at = *at == 'o' ? '2' : *at >= '2' && *at <= '8' ? (char)(*at + 1) : *at == '9' ? '9' : 'o';
    }
}

void ww_correlation_scatter(const struct ww_correlation *c, FILE *out) {
    WW_PLAIN_LOCALE;
    char grid[LINES][COLUMNS + 1];
    for (int m = 0; m < WW_METRIC_COUNT; m++) {
        double low, high;
        if (!range(c, (enum ww_metric)m, &low, &high)) continue;
        draw(c, (enum ww_metric)m, low, high, grid);
        fprintf(out, "\n%s: estimate (up) over measured, logarithmic, both from %.3g to %.3g\n", title[m],
                pow(10, low), pow(10, high));
        for (int y = 0; y < LINES; y++) {
            int n = COLUMNS;
            while (n > 0 && grid[y][n - 1] == ' ') n--;
            fprintf(out, "|%.*s\n", n, grid[y]);
        }
        fputc('+', out);
        for (int x = 0; x < COLUMNS; x++) fputc('-', out);
        fputc('\n', out);
    }
}

/* ---- gnuplot ---- */

static enum ww_code open_in(const char *dir, const char *name, FILE **out, struct ww_error *error) {
    char path[4200];
    WW_TRY(ww_outfile_check_in(dir, name, error));
    snprintf(path, sizeof path, "%.4000s/%s", dir, name);
    *out = fopen(path, "w");
    return *out ? WW_OK : ww_fail(error, WW_IO, path, "cannot write: %s", strerror(errno));
}

static enum ww_code close_in(FILE *file, const char *name, struct ww_error *error) {
    bool bad = ferror(file) != 0;
    bad |= fclose(file) != 0;
    return bad ? ww_fail(error, WW_IO, name, "cannot write") : WW_OK;
}

/* Columns: measured, quartiles, estimate, and what it is of. */
static enum ww_code put_data(const struct ww_correlation *c, enum ww_metric metric, const char *dir,
                             struct ww_error *error) {
    char name[64];
    FILE *out;
    snprintf(name, sizeof name, "%s.dat", ww_metric_name(metric));
    WW_TRY(open_in(dir, name, &out, error));
    fputs("# measured, lower and upper quartile, estimate, workload, kernel\n", out);
    for (size_t i = 0; i < c->row_count; i++) {
        const struct ww_correlation_row *r = &c->row[i];
        if (!counted(r, metric)) continue;
        fprintf(out, "%.9g %.9g %.9g %.9g # ", r->measured, r->low, r->high, r->estimate);
        ww_put_gnuplot(out, r->workload);
        fputc(' ', out);
        ww_put_gnuplot(out, r->kernel);
        fputc('\n', out);
    }
    return close_in(out, name, error);
}

static void put_plot(const struct ww_correlation *c, enum ww_metric metric, const char *terminal,
                     const char *ending, FILE *script) {
    const struct ww_agreement *a = &c->agreement[metric];
    const char *name = ww_metric_name(metric);
    fprintf(script, "reset\nset terminal %s\nset output '%s.%s'\n", terminal, name, ending);
    fprintf(script, "set title '%zu points, mean absolute error %.1f %%'\n", a->count, 100 * a->mape);
    fprintf(script, "set xlabel 'measured %s'\nset ylabel 'estimate %s'\n", title[metric], title[metric]);
    fputs("set logscale xy\nset size square\nset key left top\n", script);
    fprintf(script,
            "plot x with lines dashtype 2 title 'equal', '%s.dat' using 1:4:2:3 with xerrorbars pointtype 7 "
            "title 'counted rows'\n",
            name);
}

/* What gnuplot would write over. */
static enum ww_code check_images(const char *dir, struct ww_error *error) {
    char name[64];
    for (int m = 0; m < WW_METRIC_COUNT; m++) {
        snprintf(name, sizeof name, "%s.svg", ww_metric_name((enum ww_metric)m));
        WW_TRY(ww_outfile_check_in(dir, name, error));
        snprintf(name, sizeof name, "%s.png", ww_metric_name((enum ww_metric)m));
        WW_TRY(ww_outfile_check_in(dir, name, error));
    }
    return WW_OK;
}

/* Draws, if there is a gnuplot; its failure is no error of ours. */
static void run_gnuplot(const char *dir) {
    pid_t child = fork();
    if (child == 0) {
        if (chdir(dir) != 0) _exit(127);
        FILE *null = freopen("/dev/null", "w", stderr);
        if (null) execlp("gnuplot", "gnuplot", "correlate.gp", (char *)NULL);
        _exit(127);
    }
    if (child > 0) waitpid(child, NULL, 0);
}

enum ww_code ww_correlation_plots(const struct ww_correlation *c, const char *dir, struct ww_error *error) {
    WW_PLAIN_LOCALE;
    FILE *script;
    enum ww_code code = WW_OK;
    double low, high;
    if (mkdir(dir, 0777) != 0 && errno != EEXIST)
        return ww_fail(error, WW_IO, dir, "cannot make the folder: %s", strerror(errno));
    WW_TRY(open_in(dir, "correlate.gp", &script, error));
    fputs("# gnuplot correlate.gp: estimates over what was measured\n", script);
    for (int m = 0; m < WW_METRIC_COUNT && code == WW_OK; m++) {
        if (!range(c, (enum ww_metric)m, &low, &high)) continue;
        code = put_data(c, (enum ww_metric)m, dir, error);
        put_plot(c, (enum ww_metric)m, "svg size 640,640 background 'white'", "svg", script);
        put_plot(c, (enum ww_metric)m, "png size 640,640", "png", script);
    }
    struct ww_error late;
    enum ww_code closed = close_in(script, "correlate.gp", code == WW_OK ? error : &late);
    if (code == WW_OK) code = closed;
    WW_TRY(code);
    WW_TRY(check_images(dir, error));
    run_gnuplot(dir);
    return WW_OK;
}
