/* Stacked bars and stacked areas: the plot, its legend, its data. */
#include "page.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { WIDTH = 480, SERIES_MOST = 16, TABLE_ROWS = 60 };
enum { TOP = 8, BOTTOM = 48, ROW = 24, BAR = 17, RIGHT = 464 /* units of the view box */ };
enum { AREA_LEFT = 56, AREA_HEIGHT = 300, AREA_TOP = 30 };
enum { LABEL_SIZE = 13, LABEL_MOST = WIDTH / 2 };

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

/* "time (ms)". */
static void axis_label(const char *label, const char *unit, char out[80]) {
    snprintf(out, 80, "%.50s%s%.16s%s", label, *unit ? " (" : "", unit, *unit ? ")" : "");
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
    if (c->series > 1) ww_figure_legend(p, used, n);
    put_table(p, c);
    ww_figure_end(p);
}

/* ---- bars ---- */

static double row_middle(size_t row) {
    return TOP + 6 + ROW * ((double)row + 0.5);
}

static void put_bar(struct ww_plot *plot, const struct ww_chart *c, size_t row, double factor) {
    double from = 0, y = row_middle(row) - BAR / 2.0;
    for (size_t k = 0; k < c->series; k++) {
        double v = c->value[row * c->series + k] * factor, x = ww_plot_x(plot, from);
        if (!(v > 0)) continue;
        ww_html(plot->page,
                "<rect x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%d\" fill=\"var(--c%u)\" "
                "stroke=\"var(--card)\"/>\n",
                x, y, ww_plot_x(plot, from + v) - x, BAR, c->one[k].color);
        from += v;
    }
}

static void put_interval(struct ww_plot *plot, const struct ww_chart *c, size_t row, double factor) {
    double lo = ww_plot_x(plot, c->lo[row] * factor), hi = ww_plot_x(plot, c->hi[row] * factor),
           y = row_middle(row);
    if (c->lo[row] < c->hi[row])
        ww_html(plot->page,
                "<path fill=\"none\" stroke=\"currentColor\" stroke-width=\"2\" d=\"M%.1f %.1fH%.1fM%.1f %.1fv8"
                "M%.1f %.1fv8\"/>\n",
                lo, y, hi, lo, y - 4, hi, y - 4);
}

static double bars_height(const struct ww_chart *c) {
    return TOP + BOTTOM + 12 + ROW * (double)c->rows;
}

/* Bars begin where the longest label ends, at the middle at most. */
static double bars_left(const struct ww_chart *c) {
    double longest = 0;
    for (size_t i = 0; i < c->rows; i++) longest = fmax(longest, ww_plot_width(c->label[i], LABEL_SIZE));
    return fmin(longest, LABEL_MOST) + 12;
}

static void draw_bars(struct ww_plot *plot, const struct ww_chart *c) {
    struct ww_scale scale = value_scale(c);
    double left = bars_left(c), most = largest(c) * scale.factor;
    char label[80];
    axis_label(c->x_label, scale.unit, label);
    ww_plot_field(plot, left, RIGHT, TOP, bars_height(c) - BOTTOM);
    plot->x1 = is_share(c) && most > 99 ? 100 : most * 1.02;
    /* Fewer numbers where the field is narrow or they are long. */
    ww_plot_axis_x(plot, label, left > WIDTH / 3.0 || most < 2 ? 3 : 5);
    for (size_t i = 0; i < c->rows; i++) {
        ww_plot_text(plot, left - 8, row_middle(i) + 5, "end", LABEL_SIZE, LABEL_MOST, c->label[i]);
        put_bar(plot, c, i, scale.factor);
        if (c->lo) put_interval(plot, c, i, scale.factor);
    }
}

void ww_chart_bars(struct ww_page *p, const struct ww_chart *c) {
    struct ww_plot plot;
    if (c->rows == 0 || !(largest(c) > 0)) return;
    double height = bars_height(c);
    ww_figure_begin(p, c->title);
    ww_plot_begin(&plot, p, WIDTH, height, c->title, c->about);
    draw_bars(&plot, c);
    ww_plot_end(&plot);
    ww_figure_rows(p, true, (TOP + 6) / height, 1 - (BOTTOM + 6) / height, 0, 0);
    finish(p, c);
}

/* ---- areas ---- */

/* The sum of the first `series` + 1 of each row, as steps down to the axis. */
static void put_area(struct ww_plot *plot, const struct ww_chart *c, size_t series, double time,
                     double factor) {
    ww_html(plot->page, "<path fill=\"var(--c%u)\" d=\"M%.1f %.1f", c->one[series].color,
            ww_plot_x(plot, c->at[0] * time), plot->bottom);
    for (size_t i = 0; i < c->rows; i++) {
        double sum = 0;
        for (size_t k = 0; k <= series; k++) sum += c->value[i * c->series + k];
        ww_html(plot->page, "V%.1fH%.1f", ww_plot_y(plot, sum * factor), ww_plot_x(plot, c->at[i + 1] * time));
    }
    ww_html(plot->page, "V%.1fZ\"/>\n", plot->bottom);
}

static void draw_areas(struct ww_plot *plot, const struct ww_chart *c) {
    struct ww_scale time = ww_scale_of(c->at[c->rows], "s"), scale = value_scale(c);
    char label[80];
    ww_plot_field(plot, AREA_LEFT, RIGHT, AREA_TOP, AREA_HEIGHT - BOTTOM);
    plot->x0 = c->at[0] * time.factor;
    plot->x1 = c->at[c->rows] * time.factor;
    plot->y1 = largest(c) * scale.factor * 1.02;
    axis_label(c->x_label, time.unit, label);
    ww_plot_axis_x(plot, label, 5);
    axis_label(c->y_label, scale.unit, label);
    ww_plot_axis_y(plot, label, 5);
    /* Each covers the lower part of the one before. */
    for (size_t k = c->series; k-- > 0;) put_area(plot, c, k, time.factor, scale.factor);
}

void ww_chart_areas(struct ww_page *p, const struct ww_chart *c) {
    struct ww_plot plot;
    if (c->rows == 0 || !(largest(c) > 0) || !(c->at[c->rows] > c->at[0])) return;
    ww_figure_begin(p, c->title);
    ww_plot_begin(&plot, p, WIDTH, AREA_HEIGHT, c->title, c->about);
    draw_areas(&plot, c);
    ww_plot_end(&plot);
    ww_figure_rows(p, false, (double)AREA_LEFT / WIDTH, (double)RIGHT / WIDTH, c->at[0], c->at[c->rows]);
    finish(p, c);
}
