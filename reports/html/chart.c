/* Stacked bars and stacked areas: the plot, its legend, its data. */
#include "page.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { WIDTH = 480, SERIES_MOST = 16, TABLE_ROWS = 60, TOP = 12, BOTTOM = 72 /* pixels */ };
#define LABEL 30 /* characters of a row's label */
#define LEFT 0.2 /* of the width: where the axis of time begins and ends */
#define RIGHT 0.97

struct ww_scale ww_scale_of(double most, const char *unit) {
    static const char *const prefix[] = {"p", "n", "µ", "m", "", "k", "M", "G", "T"};
    struct ww_scale s = {1, ""};
    int i = 4;
    if (!(most > 0) || !*unit) {
        snprintf(s.unit, sizeof s.unit, "%.8s", unit);
        return s;
    }
    for (; most < 1 && i > 0; i--) most *= 1000, s.factor *= 1000;
    for (; most >= 1000 && i < 8; i++) most /= 1000, s.factor /= 1000;
    snprintf(s.unit, sizeof s.unit, "%s%.8s", prefix[i], unit);
    return s;
}

static double row_sum(const struct ww_chart *c, size_t row) {
    double sum = 0;
    for (size_t k = 0; k < c->series; k++) sum += c->value[row * c->series + k];
    return sum;
}

static double largest(const struct ww_chart *c) {
    double most = 0;
    for (size_t i = 0; i < c->rows; i++) {
        double sum = c->hi ? fmax(row_sum(c, i), c->hi[i]) : row_sum(c, i);
        if (sum > most) most = sum;
    }
    return most;
}

/* Series that have anything, for the legend. */
static size_t used_series(const struct ww_chart *c, struct ww_series used[SERIES_MOST]) {
    size_t n = 0;
    for (size_t k = 0; k < c->series && n < SERIES_MOST; k++) {
        double sum = 0;
        for (size_t i = 0; i < c->rows; i++) sum += c->value[i * c->series + k];
        if (sum > 0) used[n++] = c->one[k];
    }
    return n;
}

static bool is_share(const struct ww_chart *c) {
    return strcmp(c->unit, "%") == 0;
}

/* Shares are shown out of 100. */
static struct ww_scale value_scale(const struct ww_chart *c) {
    return is_share(c) ? (struct ww_scale){100, "%"} : ww_scale_of(largest(c), c->unit);
}

static void put_axis(struct ww_plot *plot, char axis, const char *label, const char *unit) {
    fprintf(plot->script, "set %clabel \"%s%s%s%s\"\n", axis, label, *unit ? " (" : "", unit, *unit ? ")" : "");
}

/* ---- tables ---- */

static void put_value(struct ww_tab *t, const struct ww_chart *c, double v) {
    if (is_share(c))
        ww_tab_percent(t, v);
    else
        ww_tab_si(t, v, c->unit);
}

static void put_row(struct ww_tab *t, const struct ww_chart *c, size_t row, size_t merged) {
    double at = c->at ? c->at[row] : 0;
    char text[32];
    if (c->label)
        ww_tab_text(t, c->label[row]);
    else
        ww_tab_value(t, at, ww_si(at, "s", text));
    for (size_t k = 0; k < c->series; k++) {
        double sum = 0, weight = 0;
        for (size_t i = row; i < row + merged && i < c->rows; i++) {
            double span = c->at ? c->at[i + 1] - c->at[i] : 1;
            sum += c->value[i * c->series + k] * span;
            weight += span;
        }
        put_value(t, c, weight > 0 ? sum / weight : 0);
    }
}

static void put_table(struct ww_page *p, const struct ww_chart *c) {
    const char *head[SERIES_MOST + 2] = {c->row_head};
    size_t merged = c->at ? (c->rows + TABLE_ROWS - 1) / TABLE_ROWS : 1;
    for (size_t k = 0; k < c->series; k++) head[k + 1] = c->one[k].name;
    ww_figure_data(p);
    struct ww_tab t;
    ww_tab_begin(&t, p, c->title, head, c->label ? 1 : 0);
    for (size_t i = 0; i < c->rows; i += merged ? merged : 1) put_row(&t, c, i, merged ? merged : 1);
    ww_tab_end(&t);
}

static void finish(struct ww_page *p, const struct ww_chart *c) {
    struct ww_series used[SERIES_MOST];
    size_t n = used_series(c, used);
    if (c->series > 1 && p->plots) ww_figure_legend(p, used, n);
    put_table(p, c);
    ww_figure_end(p);
}

/* ---- bars ---- */

static void put_bars(struct ww_plot *plot, const struct ww_chart *c, double factor) {
    for (size_t k = 0; k < c->series; k++) {
        fprintf(plot->script, "$s%zu << EOD\n", k);
        for (size_t i = 0; i < c->rows; i++) {
            double from = 0, v = c->value[i * c->series + k];
            for (size_t j = 0; j < k; j++) from += c->value[i * c->series + j];
            if (v > 0) fprintf(plot->script, "%.6g %.6g %zu\n", from * factor, (from + v) * factor, i);
        }
        fputs("EOD\n", plot->script);
    }
}

static void put_intervals(struct ww_plot *plot, const struct ww_chart *c, double factor) {
    fputs("$i << EOD\n", plot->script);
    for (size_t i = 0; c->lo && i < c->rows; i++)
        if (c->lo[i] < c->hi[i])
            fprintf(plot->script, "%.6g %.6g %.6g %zu\n", row_sum(c, i) * factor, c->lo[i] * factor,
                    c->hi[i] * factor, i);
    fputs("EOD\n", plot->script);
}

static bool any_interval(const struct ww_chart *c) {
    for (size_t i = 0; c->lo && i < c->rows; i++)
        if (c->lo[i] < c->hi[i]) return true;
    return false;
}

/* A round step that makes at most five, fewer where their numbers or the labels of rows are long. */
static double tic_step(double most, bool long_labels) {
    double raw = most / (long_labels || most < 2 ? 3 : 5), power = pow(10, floor(log10(raw))),
           step = raw / power;
    return power * (step <= 1 ? 1 : step <= 2 ? 2 : step <= 5 ? 5 : 10);
}

static unsigned bars_height(const struct ww_chart *c) {
    return TOP + BOTTOM + 12 + 24 * (unsigned)c->rows;
}

/* Labels that take half of the width, in a smaller size, so that bars have the other half. */
static bool has_long_labels(const struct ww_chart *c) {
    size_t longest = 0;
    for (size_t i = 0; i < c->rows; i++) {
        size_t n = strlen(c->label[i]);
        if (n > longest) longest = n;
    }
    return longest > LABEL / 3 * 2;
}

static void script_bars(struct ww_plot *plot, const struct ww_chart *c) {
    struct ww_scale scale = value_scale(c);
    fprintf(plot->script, "set tmargin at screen %.5f\nset bmargin at screen %.5f\n",
            1 - (double)TOP / bars_height(c), (double)BOTTOM / bars_height(c));
    put_axis(plot, 'x', c->x_label, scale.unit);
    fprintf(plot->script,
            "set border 2\nset grid x noy lt 1 lw 1 lc rgb " WW_PLOT_GRID "\nset yrange [%g:-0.5]\n",
            (double)c->rows - 0.5);
    fprintf(plot->script, "set ytics scale 0 font \",%d\" (", has_long_labels(c) ? 12 : 14);
    for (size_t i = 0; i < c->rows; i++) {
        ww_plot_label(plot, c->label[i], LABEL);
        fprintf(plot->script, " %zu%s", i, i + 1 < c->rows ? ", " : ")\n");
    }
    double most = largest(c) * scale.factor;
    fprintf(plot->script, "set xrange [0:%.6g]\nset xtics %.3g\n",
            is_share(c) && most > 99 ? 100
            : most > 0               ? most * 1.02
                                     : 1,
            tic_step(most, has_long_labels(c)));
    put_bars(plot, c, scale.factor);
    put_intervals(plot, c, scale.factor);
    fputs("plot ", plot->script);
    for (size_t k = 0; k < c->series; k++) {
        unsigned color = c->one[k].color;
        fprintf(plot->script,
                "$s%zu using 1:3:1:2:($3-0.36):($3+0.36) with boxxyerror lc rgb \"#%02x%02x%02x\" fs solid 1 "
                "border "
                "rgb " WW_PLOT_BG "%s",
                k, color, color, color, k + 1 < c->series ? ", " : "");
    }
    if (any_interval(c)) fputs(", $i using 1:4:2:3 with xerrorbars pt 0 lw 2 lc rgb " WW_PLOT_FG, plot->script);
    fputc('\n', plot->script);
}

/* Empty series make empty data blocks, which gnuplot warns of and skips; with none at all there is no plot. */
void ww_chart_bars(struct ww_page *p, const struct ww_chart *c) {
    struct ww_plot plot;
    if (c->rows == 0 || !(largest(c) > 0)) return;
    ww_figure_begin(p, c->title);
    double height = bars_height(c);
    ww_plot_begin(&plot, p, WIDTH, bars_height(c));
    if (plot.script) script_bars(&plot, c);
    ww_plot_end(&plot, p, c->title, c->about);
    if (p->plots) ww_figure_rows(p, true, TOP / height, 1 - BOTTOM / height, 0, 0);
    finish(p, c);
}

/* ---- areas ---- */

static void put_areas(struct ww_plot *plot, const struct ww_chart *c, double time, double factor) {
    fputs("$d << EOD\n", plot->script);
    for (size_t i = 0; i < c->rows; i++) {
        for (int side = 0; side < 2; side++) {
            double sum = 0;
            fprintf(plot->script, "%.7g", c->at[i + (size_t)side] * time);
            for (size_t k = 0; k < c->series; k++)
                fprintf(plot->script, " %.5g", (sum += c->value[i * c->series + k]) * factor);
            fputc('\n', plot->script);
        }
    }
    fputs("EOD\n", plot->script);
}

static void script_areas(struct ww_plot *plot, const struct ww_chart *c) {
    struct ww_scale time = ww_scale_of(c->at[c->rows], "s"), scale = value_scale(c);
    put_axis(plot, 'x', c->x_label, time.unit);
    put_axis(plot, 'y', c->y_label, scale.unit);
    fprintf(plot->script, "set xrange [%.7g:%.7g]\nset yrange [0:*]\n", c->at[0] * time.factor,
            c->at[c->rows] * time.factor);
    fprintf(plot->script,
            "set tmargin at screen 0.95\nset bmargin at screen 0.25\nset lmargin at screen %g\nset rmargin at "
            "screen %g\n",
            LEFT, RIGHT);
    put_areas(plot, c, time.factor, scale.factor);
    fputs("plot ", plot->script);
    for (size_t k = c->series; k-- > 0;) {
        unsigned color = c->one[k].color;
        fprintf(plot->script, "$d using 1:%zu with filledcurves y1=0 lc rgb \"#%02x%02x%02x\"%s", k + 2, color,
                color, color, k ? ", " : "\n");
    }
}

void ww_chart_areas(struct ww_page *p, const struct ww_chart *c) {
    struct ww_plot plot;
    if (c->rows == 0 || !(largest(c) > 0) || !(c->at[c->rows] > c->at[0])) return;
    ww_figure_begin(p, c->title);
    ww_plot_begin(&plot, p, WIDTH, 300);
    if (plot.script) script_areas(&plot, c);
    ww_plot_end(&plot, p, c->title, c->about);
    if (p->plots) ww_figure_rows(p, false, LEFT, RIGHT, c->at[0], c->at[c->rows]);
    finish(p, c);
}
