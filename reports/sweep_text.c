/* Text report of a sweep: its front, what the parameters do, why points are invalid. */
#include "../estimator/api/report.h"
#include "../estimator/result/explored.h"
#include "../estimator/base/err.h"
#include "../estimator/base/locale.h"
#include "figures.h"
#include "text.h"
#include <inttypes.h>
#include <math.h>
#include <string.h>

enum { FRONT_ROWS = 40, EFFECT_ROWS = 20 };

static double known(double v) {
    return isfinite(v) ? v : -1;
}

static void settings(const struct ww_explored *e, const struct ww_explored_point *p, char out[96]) {
    size_t used = 0;
    out[0] = 0;
    for (size_t k = 0; k < e->key_count && used < 95; k++) {
        if (!p->value[k]) continue;
        int n = snprintf(out + used, 96 - used, "%s%s=%s", used ? " " : "", e->key[k], p->value[k]);
        if (n > 0) used += (size_t)n;
    }
}

enum { TIME, ENERGY, POWER, FIGURES };
static const char *const figures[FIGURES] = {"time", "energy", "power"};

/* Whether an objective is a figure that has its column; one of that name may be the user's own. */
static bool is_figure(const struct ww_explored *e, size_t objective) {
    size_t f = 0;
    while (f < FIGURES && strcmp(figures[f], e->objective[objective].name) != 0) f++;
    for (size_t i = 0; i < e->point_count && f < FIGURES; i++) {
        const struct ww_explored_point *p = &e->point[i];
        double value = p->objective[objective], of = f == TIME     ? p->time_s
                                                     : f == ENERGY ? p->energy_j
                                                                   : p->power_w;
        if (isfinite(value) && !(fabs(value - of) <= 1e-9 * fabs(of))) return false;
    }
    return f < FIGURES;
}

static bool boards_known(const struct ww_explored *e) {
    size_t i = 0;
    while (i < e->point_count && !(e->point[i].board_w > 0)) i++;
    return i < e->point_count;
}

static void add_board(struct ww_grid *g, const struct ww_explored_point *p) {
    char text[96], watts[32];
    bool above = ww_above_board(p->most_w, p->board_w);
    snprintf(text, sizeof text, "%s%s", above ? "above " : "", ww_si(known(p->board_w), "W", watts));
    ww_grid_add(g, text);
}

static void add_point(struct ww_grid *g, const struct ww_explored *e, const struct ww_explored_point *p) {
    char text[96], t[32];
    snprintf(text, sizeof text, "%" PRIu64, p->ord);
    ww_grid_add(g, text);
    settings(e, p, text);
    ww_grid_add(g, text);
    ww_grid_add(g, ww_si(known(p->time_s), "s", t));
    ww_grid_add(g, ww_si(known(p->energy_j), "J", t));
    ww_grid_add(g, ww_si(known(p->power_w), "W", t));
    if (boards_known(e)) add_board(g, p);
    for (size_t o = 0; o < e->objective_count; o++)
        if (!is_figure(e, o)) /* whose name may be that of a figure: then it is the user's, without a unit */
            ww_grid_add(g, ww_si(known(p->objective[o]),
                                 strncmp(e->objective[o].name, "ed", 2) == 0
                                     ? ww_objective_unit(e->objective[o].name)
                                     : "",
                                 t));
}

static void add_heading(struct ww_grid *g, const struct ww_explored_objective *o) {
    char text[96];
    snprintf(text, sizeof text, "%.80s (%s)", o->name, o->sense > 0 ? "least" : "most");
    ww_grid_add(g, text);
}

/* "time (least)" of what is an objective, "time" of what is none. */
static void add_figures(struct ww_grid *g, const struct ww_explored *e) {
    for (size_t f = 0; f < FIGURES; f++) {
        size_t o = 0;
        while (o < e->objective_count && !(strcmp(e->objective[o].name, figures[f]) == 0 && is_figure(e, o)))
            o++;
        if (o < e->objective_count)
            add_heading(g, &e->objective[o]);
        else
            ww_grid_add(g, figures[f]);
    }
    if (boards_known(e)) ww_grid_add(g, "board");
    for (size_t o = 0; o < e->objective_count; o++)
        if (!is_figure(e, o)) add_heading(g, &e->objective[o]);
}

static void print_above(const struct ww_explored *e, FILE *out) {
    char text[240];
    if (ww_say_above(e, text)) fprintf(out, "warning: %s\n", text);
}

static enum ww_code print_front(const struct ww_explored *e, size_t count, FILE *out, struct ww_error *error) {
    struct ww_grid g = {.columns = 2 + FIGURES + boards_known(e), .left = 1u << 1};
    size_t shown = 0;
    char text[240];
    fputs("\nPoints that no other one beats\n", out);
    for (size_t o = 0; o < e->objective_count; o++) g.columns += !is_figure(e, o);
    ww_grid_add(&g, "point");
    ww_grid_add(&g, "settings");
    add_figures(&g, e);
    for (size_t i = 0; i < e->point_count && shown < FRONT_ROWS; i++) {
        if (!e->point[i].front) continue;
        add_point(&g, e, &e->point[i]);
        shown++;
    }
    WW_TRY(ww_grid_print(&g, out, error));
    if (shown < count) fprintf(out, "  and %zu more\n", count - shown);
    print_above(e, out);
    if (ww_say_no_value(e, text)) fprintf(out, "warning: %s\n", text);
    return WW_OK;
}

/* An effect that its error could be alone says so. */
static enum ww_code print_effects(const struct ww_explored *e, FILE *out, struct ww_error *error) {
    static const char *const head[] = {"objective", "parameter", "with", "effect", "error", "share", ""};
    struct ww_grid g = {.columns = 7, .left = 7u | 1u << 6};
    char t[32];
    if (!e->effect_count) return WW_OK;
    for (size_t i = 0; i < 7; i++) ww_grid_add(&g, head[i]);
    for (size_t i = 0; i < e->effect_count && i < EFFECT_ROWS; i++) {
        const struct ww_explored_effect *f = &e->effect[i];
        const char *name = e->objective[f->objective].name, *unit = ww_objective_unit(name);
        bool told = isfinite(f->effect) && isfinite(f->error);
        ww_grid_add(&g, name);
        ww_grid_add(&g, f->a);
        ww_grid_add(&g, f->b);
        ww_grid_add(&g, isfinite(f->effect) ? ww_si_signed(ww_effect_shown(e, f), unit, t) : "-");
        ww_grid_add(&g, ww_si(known(f->error), unit, t));
        ww_grid_add(&g, ww_percent(known(f->share), t));
        ww_grid_add(&g, told && fabs(f->effect) < f->error ? "smaller than its error" : "");
    }
    fputs("\nEffects: change from the least level to the greatest\n", out);
    return ww_grid_print(&g, out, error);
}

enum ww_code ww_report_sweep(const struct ww_explored *e, FILE *out, struct ww_error *error) {
    WW_PLAIN_LOCALE;
    size_t front = 0, invalid = 0, outside = 0;
    char gpu[100], traces[400], mode[80];
    ww_say_sweep_mode(e, mode);
    for (size_t i = 0; i < e->point_count; i++) {
        front += e->point[i].front;
        invalid += e->point[i].feasible < 0;
        outside += e->point[i].feasible == 0;
    }
    ww_clean_text(e->gpu, gpu, sizeof gpu);
    ww_clean_text(e->traces, traces, sizeof traces);
    fprintf(out, "sweep %" PRId64 " on %s: %s, %s\n  traces        %s\n", e->sweep, gpu, e->strategy, mode,
            traces);
    fprintf(out,
            "  points        %zu of %" PRIu64 ", %zu invalid, %zu outside the constraints, %zu in the front\n",
            e->point_count, e->planned, invalid, outside, front);
    WW_TRY(print_front(e, front, out, error));
    WW_TRY(print_effects(e, out, error));
    return ww_out_check(out, error);
}
