/* A sweep: the Pareto front, the sensitivity to parameters, the points. */
#include "../../estimator/result/explored.h"
#include "../figures.h"
#include "page.h"
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { PLOT_POINTS = 1500, TABLE_ROWS = 200, POINT_ROWS = 600, EFFECT_ROWS = 12, KEYS = 12 };

struct counts {
    size_t feasible, infeasible, invalid, front;
};

static struct counts count_points(const struct ww_explored *e) {
    struct counts c = {0};
    for (size_t i = 0; i < e->point_count; i++) {
        const struct ww_explored_point *p = &e->point[i];
        c.feasible += p->feasible == 1;
        c.infeasible += p->feasible == 0;
        c.invalid += p->feasible < 0;
        c.front += p->front;
    }
    return c;
}

/* Whether a board's power is known; if so, points have columns for it. */
static bool boards_known(const struct ww_explored *e) {
    size_t i = 0;
    while (i < e->point_count && !(e->point[i].board_w > 0)) i++;
    return i < e->point_count;
}

static bool has_objective(const struct ww_explored *e, const char *name) {
    size_t o = 0;
    while (o < e->objective_count && strcmp(e->objective[o].name, name) != 0) o++;
    return o < e->objective_count;
}

static void note(struct ww_page *p, size_t said, const char *text) {
    if (!said) return;
    ww_html(p, "<p class=\"note\">");
    ww_html_text(p, text);
    ww_html(p, ".</p>\n");
}

/* The board's power, or its range over the points. */
static void board_figure(struct ww_page *p, const struct ww_explored *e) {
    double least = INFINITY, most = 0;
    char a[32], b[32];
    for (size_t i = 0; i < e->point_count; i++) {
        if (!(e->point[i].board_w > 0)) continue;
        least = fmin(least, e->point[i].board_w);
        most = fmax(most, e->point[i].board_w);
    }
    if (!(most > 0)) return;
    ww_html(p, "<li><span>board's power</span> <b>%s", ww_si(least, "W", a));
    if (least < most) ww_html(p, " to %s", ww_si(most, "W", b));
    ww_html(p, "</b></li>\n");
}

static void head(struct ww_page *p, const struct ww_explored *e, const struct counts *c) {
    ww_html(p, "<section>\n<h2 id=\"sweep\">Sweep %" PRId64 " on ", e->sweep);
    ww_html_text(p, e->gpu);
    ww_html(p, "</h2>\n<ul class=\"key\">\n<li class=\"wide\"><span>traces</span> <b>");
    ww_html_text(p, e->traces);
    ww_html(p, "</b></li>\n<li><span>strategy</span> <b>");
    ww_html_text(p, e->strategy);
    ww_html(p, "</b></li>\n<li><span>mode</span> <b>");
    char mode[80];
    ww_say_sweep_mode(e, mode);
    ww_html_text(p, mode);
    ww_html(p, "</b></li>\n<li><span>points done</span> <b>%zu of %" PRIu64 "</b></li>\n", e->point_count,
            e->planned);
    ww_html(p, "<li><span>on the front</span> <b>%zu</b></li>\n", c->front);
    if (c->infeasible) /* else there are none, or all points hold them */
        ww_html(p,
                "<li><span>hold the constraints</span> <b>%zu</b></li>\n<li><span>outside them</span> "
                "<b>%zu</b></li>\n",
                c->feasible, c->infeasible);
    ww_html(p, "<li><span>invalid</span> <b>%zu</b></li>\n", c->invalid);
    board_figure(p, e);
    ww_html(p, "</ul>\n");
    char text[240];
    note(p, ww_say_above(e, text), text);
    note(p, ww_say_no_value(e, text), text);
}

/* ---- the front ---- */

enum kind { DOMINATED, OUTSIDE, FRONT, KINDS };

static enum kind kind_of(const struct ww_explored_point *p) {
    return p->front ? FRONT : p->feasible == 1 ? DOMINATED : OUTSIDE;
}

static int by_first(const void *a, const void *b) {
    const struct ww_explored_point *x = *(const struct ww_explored_point *const *)a;
    const struct ww_explored_point *y = *(const struct ww_explored_point *const *)b;
    if (x->objective[0] != y->objective[0]) return x->objective[0] < y->objective[0] ? -1 : 1;
    return x->ord < y->ord ? -1 : x->ord > y->ord;
}

/* The front in the order of the first objective. The caller frees it; NULL: no memory. */
static const struct ww_explored_point **front_of(const struct ww_explored *e, size_t *count) {
    const struct ww_explored_point **front = calloc(e->point_count + 1, sizeof *front);
    *count = 0;
    for (size_t i = 0; front && i < e->point_count; i++)
        if (e->point[i].front) front[(*count)++] = &e->point[i];
    if (front) qsort(front, *count, sizeof *front, by_first);
    return front;
}

static bool plotted(const struct ww_explored_point *p, size_t a, size_t b) {
    return p->feasible >= 0 && isfinite(p->objective[a]) && isfinite(p->objective[b]);
}

static size_t count_kind(const struct ww_explored *e, enum kind kind, size_t a, size_t b) {
    size_t n = 0;
    for (size_t i = 0; i < e->point_count; i++)
        n += plotted(&e->point[i], a, b) && kind_of(&e->point[i]) == kind;
    return n;
}
static const char *unit_of(const struct ww_explored *e, size_t o) {
    return ww_objective_unit(e->objective[o].name);
}

static struct ww_scale objective_scale(const struct ww_explored *e, size_t o) {
    double most = 0;
    for (size_t i = 0; i < e->point_count; i++)
        if (isfinite(e->point[i].objective[o])) most = fmax(most, fabs(e->point[i].objective[o]));
    return ww_scale_of(most, unit_of(e, o));
}

static void objective_cell(struct ww_tab *t, const struct ww_explored *e, size_t o, double v) {
    const char *unit = unit_of(e, o);
    char text[32];
    if (*unit) {
        ww_tab_si(t, v, unit);
        return;
    }
    snprintf(text, sizeof text, "%.6g", v);
    ww_tab_value(t, v, text);
}

static void axis_label(const char *name, const struct ww_scale *scale, char out[80]) {
    const char *unit = *scale->unit ? scale->unit : strcmp(name, "area") == 0 ? "mm²" : "";
    snprintf(out, 80, "%.50s%s%.16s%s", name, *unit ? " (" : "", unit, *unit ? ")" : "");
}

static const struct ww_series kinds[KINDS] = {
    {"beaten", 9}, {"outside the constraints", 4}, {"on the front", 2}};

/* Circles, crosses and discs: kinds differ without colours, too. */
static void draw_point(struct ww_plot *plot, const struct ww_explored *e, const struct ww_explored_point *q,
                       size_t a, size_t b, double x, double y) {
    static const char *const mark[KINDS] = {"m-3.5 0a3.5 3.5 0 1 0 7 0a3.5 3.5 0 1 0 -7 0Z\" fill=\"none",
                                            "m-3.5 -3.5l7 7m-7 0l7 -7\" fill=\"none",
                                            "m-5 0a5 5 0 1 0 10 0a5 5 0 1 0 -10 0Z\" fill=\"var(--c2)"};
    enum kind kind = kind_of(q);
    char first[32], second[32];
    ww_html(plot->page,
            "<path d=\"M%.1f %.1f%s\" stroke=\"var(--c%u)\"><title>point %" PRIu64 ": %s, %s</title></path>\n",
            x, y, mark[kind], kinds[kind].color, q->ord, ww_si(q->objective[a], unit_of(e, a), first),
            ww_si(q->objective[b], unit_of(e, b), second));
}

/* Points of a kind, some left out where there are too many. */
static void draw_points(struct ww_plot *plot, const struct ww_explored *e, enum kind kind, size_t a, size_t b,
                        double x, double y) {
    size_t n = 0, step = count_kind(e, kind, a, b) / PLOT_POINTS + 1;
    for (size_t i = 0; i < e->point_count; i++) {
        const struct ww_explored_point *q = &e->point[i];
        if (!plotted(q, a, b) || kind_of(q) != kind || n++ % step) continue;
        draw_point(plot, e, q, a, b, ww_plot_x(plot, q->objective[a] * x),
                   ww_plot_y(plot, q->objective[b] * y));
    }
}

/* Of two objectives the front is a line: each point of it is beaten by none. */
static void draw_line(struct ww_plot *plot, const struct ww_explored_point *const *front, size_t count,
                      size_t a, size_t b, double x, double y) {
    bool any = false;
    for (size_t i = 0; i < count; i++) {
        if (!plotted(front[i], a, b)) continue;
        ww_html(plot->page, "%s%.1f %.1f",
                any ? "L" : "<path fill=\"none\" stroke=\"var(--c2)\" stroke-width=\"1.5\" d=\"M",
                ww_plot_x(plot, front[i]->objective[a] * x), ww_plot_y(plot, front[i]->objective[b] * y));
        any = true;
    }
    if (any) ww_html(plot->page, "\"/>\n");
}

/* The span of an objective over the points of two, a bit more on either side. */
static void span_of(const struct ww_explored *e, size_t o, size_t a, size_t b, double factor, double *lo,
                    double *hi) {
    *lo = INFINITY;
    *hi = -INFINITY;
    for (size_t i = 0; i < e->point_count; i++) {
        if (!plotted(&e->point[i], a, b)) continue;
        *lo = fmin(*lo, e->point[i].objective[o] * factor);
        *hi = fmax(*hi, e->point[i].objective[o] * factor);
    }
    double more = *hi > *lo ? (*hi - *lo) * 0.05 : fabs(*hi) > 0 ? fabs(*hi) * 0.05 : 1;
    *lo -= more;
    *hi += more;
}

static void draw_front(struct ww_plot *plot, const struct ww_explored *e, size_t a, size_t b,
                       const struct ww_explored_point *const *front, size_t count) {
    struct ww_scale x = objective_scale(e, a), y = objective_scale(e, b);
    char label[80];
    ww_plot_field(plot, 64, 464, 30, 292);
    span_of(e, a, a, b, x.factor, &plot->x0, &plot->x1);
    span_of(e, b, a, b, y.factor, &plot->y0, &plot->y1);
    axis_label(e->objective[a].name, &x, label);
    ww_plot_axis_x(plot, label, 5);
    axis_label(e->objective[b].name, &y, label);
    ww_plot_axis_y(plot, label, 5);
    if (e->objective_count == 2) draw_line(plot, front, count, a, b, x.factor, y.factor);
    for (int k = 0; k < KINDS; k++) draw_points(plot, e, (enum kind)k, a, b, x.factor, y.factor);
}

static void front_table(struct ww_page *p, const struct ww_explored *e, const char *title,
                        const struct ww_explored_point *const *point, size_t count) {
    const char *heads[4 + KEYS + WW_EXPLORED_OBJECTIVES + 1] = {"point"};
    bool boards = boards_known(e), power = boards && !has_objective(e, "power");
    size_t keys = e->key_count < KEYS ? e->key_count : KEYS, n = 1;
    struct ww_tab t;
    char text[32];
    for (size_t k = 0; k < keys; k++) heads[n++] = e->key[k];
    for (size_t o = 0; o < e->objective_count; o++) heads[n++] = e->objective[o].name;
    if (power) heads[n++] = "power";
    if (boards) heads[n++] = "of the board's";
    heads[n++] = "state";
    ww_tab_begin(&t, p, title, heads, ((1u << keys) - 1) << 1 | 1u << (n - 1));
    for (size_t i = 0; i < count; i++) {
        const struct ww_explored_point *q = point[i];
        snprintf(text, sizeof text, "%" PRIu64, q->ord);
        ww_tab_value(&t, (double)q->ord, text);
        for (size_t k = 0; k < keys; k++) ww_tab_text(&t, q->value[k] ? q->value[k] : "-");
        for (size_t o = 0; o < e->objective_count; o++) objective_cell(&t, e, o, q->objective[o]);
        if (power) ww_tab_si(&t, q->power_w, "W");
        if (boards) ww_tab_part_of(&t, ww_ratio(q->most_w, q->board_w));
        ww_tab_text(&t, q->front           ? "front"
                        : q->feasible == 1 ? "beaten"
                        : q->feasible == 0 ? "outside"
                                           : q->reason);
    }
    ww_tab_end(&t);
}

/* Of the kinds that there are points of. */
static void front_legend(struct ww_page *p, const struct ww_explored *e, size_t a, size_t b) {
    struct ww_series there[KINDS];
    size_t n = 0;
    for (int k = 0; k < KINDS; k++)
        if (count_kind(e, (enum kind)k, a, b)) there[n++] = kinds[k];
    ww_figure_legend(p, there, n);
}

static void front_plot(struct ww_page *p, const struct ww_explored *e, size_t a, size_t b,
                       const struct ww_explored_point *const *front, size_t count) {
    struct ww_plot plot;
    char title[120], x[40], y[40];
    ww_clean_text(e->objective[a].name, x, sizeof x);
    ww_clean_text(e->objective[b].name, y, sizeof y);
    snprintf(title, sizeof title, "Pareto front: %s over %s", y, x);
    ww_figure_begin(p, title);
    ww_plot_begin(
        &plot, p, 480, 340, title,
        "Scatter plot of the points by two objectives: those of the front, those that others beat, and those "
        "outside the constraints.");
    draw_front(&plot, e, a, b, front, count);
    ww_plot_end(&plot);
    front_legend(p, e, a, b);
    ww_figure_data(p);
    front_table(p, e, "Points of the front", front, count < TABLE_ROWS ? count : TABLE_ROWS);
    ww_figure_end(p);
}

/* ---- effects ---- */

static void effect_bars(struct ww_page *p, const struct ww_explored *e, size_t objective) {
    static const struct ww_series series[] = {{"share of the variance", 2}};
    char name[EFFECT_ROWS][80], title[120];
    const char *label[EFFECT_ROWS];
    double share[EFFECT_ROWS];
    size_t rows = 0;
    for (size_t i = 0; i < e->effect_count && rows < EFFECT_ROWS; i++) {
        const struct ww_explored_effect *f = &e->effect[i];
        if (f->objective != objective || !(f->share >= 0.0005)) continue;
        snprintf(name[rows], sizeof name[rows], "%.30s%s%.30s", f->a, *f->b ? " x " : "", f->b);
        label[rows] = name[rows];
        share[rows++] = f->share;
    }
    snprintf(title, sizeof title, "Sensitivity of %.60s", e->objective[objective].name);
    ww_chart_bars(
        p, &(struct ww_chart){.title = title,
                              .about = "Horizontal bars of the part of the objective's variance that a fit "
                                       "without the parameter, or the pair, cannot explain.",
                              .row_head = "parameter",
                              .x_label = "share of the variance",
                              .unit = "%",
                              .label = label,
                              .rows = rows,
                              .series = 1,
                              .one = series,
                              .value = share});
}

static void effect_table(struct ww_page *p, const struct ww_explored *e) {
    static const char *const heads[] = {"objective",      "parameter", "with", "effect",
                                        "standard error", "share",     "note", NULL};
    struct ww_tab t;
    char text[32];
    if (!e->effect_count) return;
    ww_tab_begin(&t, p, "Main effects and pairwise interactions", heads, 7 | 1u << 6);
    for (size_t i = 0; i < e->effect_count && i < TABLE_ROWS; i++) {
        const struct ww_explored_effect *f = &e->effect[i];
        ww_tab_text(&t, e->objective[f->objective].name);
        ww_tab_text(&t, f->a);
        ww_tab_text(&t, f->b);
        double effect = ww_effect_shown(e, f);
        ww_tab_value(&t, effect, ww_si_signed(effect, unit_of(e, f->objective), text));
        ww_tab_value(&t, f->error, ww_si(f->error, unit_of(e, f->objective), text));
        ww_tab_percent(&t, f->share);
        ww_tab_text(&t, fabs(f->effect) < f->error ? "smaller than its error" : "");
    }
    ww_tab_end(&t);
    if (e->effect_count > TABLE_ROWS)
        ww_html(p, "<p class=\"note\">The first %d of %zu effects.</p>\n", TABLE_ROWS, e->effect_count);
}

/* ---- points ---- */

static void point_table(struct ww_page *p, const struct ww_explored *e) {
    const struct ww_explored_point *point[POINT_ROWS];
    size_t shown = 0, step = (e->point_count + POINT_ROWS - 1) / POINT_ROWS;
    for (size_t i = 0; i < e->point_count && shown < POINT_ROWS; i += step) point[shown++] = &e->point[i];
    ww_html(p, "<h3>Points</h3>\n");
    if (shown < e->point_count)
        ww_html(p,
                "<p class=\"note\">%zu of %zu points, each %zuth; <code>warpwatt report --sweep %" PRId64
                " --csv</code> has all.</p>\n",
                shown, e->point_count, step, e->sweep);
    const char *name[WW_EXPLORED_OBJECTIVES + 1] = {0};
    for (size_t o = 0; o < e->objective_count; o++) name[o] = e->objective[o].name;
    ww_html_explorer(p, name);
    ww_html(p, "<details open><summary>Data of these points</summary>\n");
    front_table(p, e, "Points of the sweep", point, shown);
    ww_html(p, "</details>\n");
}

void ww_html_sweep(struct ww_page *p, const struct ww_explored *e) {
    struct counts c = count_points(e);
    size_t count;
    const struct ww_explored_point **front = front_of(e, &count);
    if (!front) {
        p->failed = true;
        return;
    }
    head(p, e, &c);
    if (c.feasible + c.infeasible > KINDS * PLOT_POINTS)
        ww_html(p, "<p class=\"note\">Plots show at most about %d points of each kind, evenly picked.</p>\n",
                PLOT_POINTS);
    if (count > TABLE_ROWS)
        ww_html(p, "<p class=\"note\">The table of the front has the first %d of its %zu points.</p>\n",
                TABLE_ROWS, count);
    if (e->key_count > KEYS)
        ww_html(p, "<p class=\"note\">Tables show the first %d of %zu parameters.</p>\n", KEYS, e->key_count);
    ww_html(p, "<div class=\"grid\">\n");
    for (size_t b = 1; b < e->objective_count && c.feasible + c.infeasible; b++)
        front_plot(p, e, 0, b, front, count);
    for (size_t o = 0; o < e->objective_count; o++) effect_bars(p, e, o);
    ww_html_sweep_parts(p, e, front, count);
    ww_html(p, "</div>\n");
    if (e->objective_count < 2 && count)
        front_table(p, e, "The best point", front, count < TABLE_ROWS ? count : TABLE_ROWS);
    effect_table(p, e);
    point_table(p, e);
    ww_html_candidates(p, e);
    ww_html(p, "</section>\n");
    free(front);
}
