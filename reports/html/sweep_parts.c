/* A sweep's points by workload, and what an adaptive sweep knows of the points that it did not replay. */
#include "../../estimator/result/explored.h"
#include "../figures.h"
#include "page.h"
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

enum { POINTS = 12, WORKLOADS = 10, CANDIDATES = 300 };

/* ---- parts ---- */

struct parts {
    char name[POINTS][32];
    const char *label[POINTS];
    struct ww_series series[WORKLOADS];
    double value[POINTS * WORKLOADS];
    size_t rows, series_count;
};

/* Workloads from the last colour on are one. */
static void take_parts(struct parts *t, const struct ww_explored *e, const struct ww_explored_point *q,
                       bool joules) {
    const double *part = joules ? q->part_j : q->part_s;
    double *value = &t->value[t->rows * t->series_count];
    if (!part) return;
    for (size_t k = 0; k < e->trace_count; k++)
        if (isfinite(part[k])) value[k < t->series_count ? k : t->series_count - 1] += part[k];
    snprintf(t->name[t->rows], sizeof t->name[0], "point %" PRIu64, q->ord);
    t->label[t->rows] = t->name[t->rows];
    t->rows++;
}

static void parts_figure(struct ww_page *p, const struct ww_explored *e,
                         const struct ww_explored_point *const *point, size_t count, bool joules) {
    struct parts t = {.series_count = e->trace_count < WORKLOADS ? e->trace_count : WORKLOADS};
    for (size_t k = 0; k < t.series_count; k++)
        t.series[k] = (struct ww_series){
            k + 1 == WORKLOADS && e->trace_count > WORKLOADS ? "others" : e->workload[k], (unsigned)(k + 1)};
    for (size_t i = 0; i < count && t.rows < POINTS; i++) take_parts(&t, e, point[i], joules);
    ww_chart_bars(p, &(struct ww_chart){
                         .title = joules ? "Energy of the front by workload" : "Time of the front by workload",
                         .about = "Horizontal bars of the first points of the front, stacked by workload.",
                         .row_head = "point",
                         .x_label = joules ? "energy" : "time",
                         .unit = joules ? "J" : "s",
                         .label = t.label,
                         .rows = t.rows,
                         .series = t.series_count,
                         .one = t.series,
                         .value = t.value});
}

static void energy_figure(struct ww_page *p, const struct ww_explored_point *const *point, size_t count) {
    char name[POINTS][32];
    const char *label[POINTS];
    double value[POINTS * WW_ENERGY_GROUPS];
    size_t rows = 0;
    for (size_t i = 0; i < count && rows < POINTS; i++) {
        if (!isfinite(point[i]->group_j[0])) continue;
        for (int g = 0; g < WW_ENERGY_GROUPS; g++)
            value[rows * WW_ENERGY_GROUPS + (size_t)g] = point[i]->group_j[g];
        snprintf(name[rows], sizeof name[0], "point %" PRIu64, point[i]->ord);
        label[rows] = name[rows];
        rows++;
    }
    ww_chart_bars(p, &(struct ww_chart){
                         .title = "Energy of the front by groups of components",
                         .about = "Horizontal bars of the first points of the front, stacked by component.",
                         .row_head = "point",
                         .x_label = "energy",
                         .unit = "J",
                         .label = label,
                         .rows = rows,
                         .series = WW_ENERGY_GROUPS,
                         .one = ww_power_groups,
                         .value = value});
}

void ww_html_sweep_parts(struct ww_page *p, const struct ww_explored *e,
                         const struct ww_explored_point *const *point, size_t count) {
    if (e->trace_count > 1) {
        parts_figure(p, e, point, count, false);
        parts_figure(p, e, point, count, true);
    }
    energy_figure(p, point, count);
}

/* ---- candidates ---- */

static void bounds_cell(struct ww_tab *t, const struct ww_explored *e, const struct ww_explored_candidate *c,
                        size_t o) {
    const char *unit = ww_objective_unit(e->objective[o].name);
    char value[32], low[32], high[32], text[112];
    ww_si(c->estimate[o], unit, value);
    if (c->low[o] < c->high[o])
        snprintf(text, sizeof text, "%s (%s to %s)", value, ww_si(c->low[o], unit, low),
                 ww_si(c->high[o], unit, high));
    else
        snprintf(text, sizeof text, "%s", value);
    ww_tab_value(t, c->estimate[o], text);
}

void ww_html_candidates(struct ww_page *p, const struct ww_explored *e) {
    const char *head[4 + WW_EXPLORED_OBJECTIVES + 1] = {"candidate", "settings", "estimated by", "constraints"};
    size_t shown = e->candidate_count < CANDIDATES ? e->candidate_count : CANDIDATES;
    struct ww_tab t;
    if (!shown) return;
    for (size_t o = 0; o < e->objective_count; o++) head[4 + o] = e->objective[o].name;
    ww_html(p, "<h3>Candidates</h3>\n<p>What the sweep knows of each point of its space: estimates, with the "
               "bounds of their intervals. Points that were fully replayed have none.</p>\n");
    if (shown < e->candidate_count)
        ww_html(p, "<p class=\"note\">The first %zu of %zu candidates.</p>\n", shown, e->candidate_count);
    ww_tab_begin(&t, p, "Candidates and their bounds", head, 7u << 1);
    for (size_t i = 0; i < shown; i++) {
        const struct ww_explored_candidate *c = &e->candidate[i];
        ww_tab_count(&t, c->ord);
        ww_tab_long(&t, c->settings);
        ww_tab_text(&t, c->fidelity);
        ww_tab_text(&t, c->holds ? "hold" : c->may_hold ? "may hold" : "do not hold");
        for (size_t o = 0; o < e->objective_count; o++) bounds_cell(&t, e, c, o);
    }
    ww_tab_end(&t);
}
