/* Drawings of variants: parallel coordinates, and ranks compared with measured ones. Lines and points have
 * tooltips. */
#include "page.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    AXES = 14, /* drawn at most, in addition to that of the time */
    STEP = 118,
    LEFT = 64,
    TOP = 40,
    HEIGHT = 400,
    BOTTOM = 16,
    LINES = 500,
    LABELS = 20,
    NAME = 15
};

struct axis {
    size_t key;
    const char **level;
    size_t levels;
};

static void put_settings(struct ww_page *p, const struct ww_explored *e, const struct ww_explored_point *q) {
    const char *between = "";
    for (size_t k = 0; k < e->key_count; k++) {
        if (!q->value[k]) continue;
        ww_html(p, "%s", between);
        ww_html_text(p, e->key[k]);
        ww_html(p, "=");
        ww_html_text(p, q->value[k]);
        between = " ";
    }
}

static void begin_svg(struct ww_page *p, const char *title, const char *about, int width, int height) {
    ww_html(p,
            "<div class=\"scroll\" role=\"group\" tabindex=\"0\" aria-label=\"%s\">\n<svg role=\"img\" "
            "viewBox=\"0 0 %d %d\" class=\"drawn\" style=\"min-width:%dpx\"><title>%s</title><desc>%s</desc>\n",
            title, width, height, width < 480 ? 0 : width * 4 / 5, title, about);
}

/* ---- parallel coordinates ---- */

/* Parameters with several values; the first AXES of them. */
static size_t find_axes(const struct ww_explored *e, struct axis axis[AXES], size_t *all) {
    size_t n = 0;
    *all = 0;
    for (size_t k = 0; k < e->key_count; k++) {
        struct axis a = {.key = k};
        a.level = ww_variants_levels(e, k, &a.levels);
        if (a.level && a.levels > 1 && n < AXES)
            axis[n++] = a;
        else
            free(a.level);
        *all += a.levels > 1;
    }
    return n;
}

static double height(void) {
    return HEIGHT - TOP - BOTTOM;
}

static size_t level_of(const struct axis *a, const char *value) {
    size_t i = 0;
    while (i < a->levels && strcmp(a->level[i], value) != 0) i++;
    return i;
}

/* A value has a band; faster variants pass it further up, so that lines do not cover one another. */
static double level_y(const struct axis *a, const char *value, double place) {
    double band = height() / (double)a->levels;
    if (!value) return HEIGHT - BOTTOM / 2.0;
    return TOP + band * ((double)level_of(a, value) + 0.5 + 0.6 * (place - 0.5));
}

static double time_y(const struct ww_ranked *r, double seconds) {
    double lo = log(r->point[0]->time_s), hi = log(r->point[r->count - 1]->time_s);
    return TOP + (hi > lo ? (log(seconds) - lo) / (hi - lo) : 0.5) * height();
}

static void put_axis(struct ww_page *p, const struct ww_explored *e, const struct axis *a, int x) {
    char name[NAME + 3];
    size_t each = (a->levels + LABELS - 1) / LABELS;
    snprintf(name, sizeof name, "%.*s%s", NAME, e->key[a->key], strlen(e->key[a->key]) > NAME ? ".." : "");
    ww_html(p,
            "<path d=\"M%d %d V%d\" stroke=\"currentColor\" fill=\"none\"/><text x=\"%d\" y=\"20\" "
            "text-anchor=\"middle\" font-weight=\"600\">",
            x, TOP, HEIGHT - BOTTOM, x);
    ww_html_text(p, name);
    ww_html(p, "</text>\n");
    for (size_t i = 0; i < a->levels; i += each) {
        snprintf(name, sizeof name, "%.*s", NAME, a->level[i]);
        ww_html(p, "<text class=\"lv\" x=\"%d\" y=\"%.1f\" text-anchor=\"end\">", x - 7,
                level_y(a, a->level[i], 0.5) + 4);
        ww_html_text(p, name);
        ww_html(p, "</text>\n");
    }
}

static void put_time_axis(struct ww_page *p, const struct ww_ranked *r, int x) {
    double lo = r->point[0]->time_s, hi = r->point[r->count - 1]->time_s;
    char text[32];
    ww_html(p,
            "<path d=\"M%d %d V%d\" stroke=\"currentColor\" fill=\"none\"/><text x=\"%d\" y=\"20\" "
            "text-anchor=\"middle\" font-weight=\"600\">time</text>\n",
            x, TOP, HEIGHT - BOTTOM, x);
    for (int i = 0; i <= 4 && (hi > lo || i == 0); i++) {
        double v = lo * pow(hi / lo, i / 4.0);
        ww_html(p, "<text class=\"lv\" x=\"%d\" y=\"%.1f\">%s</text>\n", x + 7, time_y(r, v) + 4,
                ww_si(v, "s", text));
    }
}

/* Whose lines are drawn: the best tenth, or hundred, all, and of the others some. */
static size_t step_of(const struct ww_ranked *r) {
    return r->count > LINES ? r->count / (LINES - LINES / 5) + 1 : 1;
}

static void put_line(struct ww_page *p, const struct ww_ranked *r, const struct axis *axis, size_t axes,
                     size_t i) {
    static const char *const style[] = {"c1)\" stroke-width=\"2.2\" stroke-opacity=\".95",
                                        "c3)\" stroke-width=\"1.1\" stroke-opacity=\".6",
                                        "c9)\" stroke-width=\".8\" stroke-opacity=\".35"};
    const struct ww_explored_point *q = r->point[i];
    double place = r->count > 1 ? (double)i / (double)(r->count - 1) : 0;
    char text[32];
    int kind = i < (r->count + 19) / 20 ? 0 : i < (r->count + 3) / 4 ? 1 : 2;
    ww_html(p, "<path fill=\"none\" stroke=\"var(--%s\" d=\"", style[kind]);
    for (size_t k = 0; k < axes; k++)
        ww_html(p, "%s%d %.1f", k ? "L" : "M", LEFT + (int)k * STEP,
                level_y(&axis[k], q->value[axis[k].key], place));
    ww_html(p, "%s%d %.1f\"%s><title>%zu: %s%s, ", axes ? "L" : "M", LEFT + (int)axes * STEP,
            time_y(r, q->time_s), q->screened ? " stroke-dasharray=\"5 4\"" : "", i + 1,
            ww_si(q->time_s, "s", text), q->screened ? " (screened)" : "");
    put_settings(p, r->sweep, q);
    ww_html(p, "</title></path>\n");
}

static void put_notes(struct ww_page *p, const struct ww_ranked *r, size_t axes, size_t all) {
    ww_html(p, "<p>A line is a variant; up is faster. At a value, faster variants pass further up.</p>\n");
    if (r->sweep->screened_count)
        ww_html(p, "<p class=\"note\">Dashed lines: variants that were only screened.</p>\n");
    if (step_of(r) > 1)
        ww_html(p, "<p class=\"note\">Lines of the fastest %d, and of each %zuth of the others.</p>\n",
                LINES / 5, step_of(r));
    if (axes < all) ww_html(p, "<p class=\"note\">The first %zu of %zu parameters.</p>\n", axes, all);
}

void ww_variants_parallel(struct ww_page *p, const struct ww_ranked *r) {
    static const struct ww_series series[] = {
        {"the fastest twentieth", 1}, {"the fastest quarter", 3}, {"the others", 9}};
    static const char title[] = "Parameters and times";
    struct axis axis[AXES];
    size_t all, axes = find_axes(r->sweep, axis, &all), step = step_of(r);
    ww_html(p, "<figure>\n<figcaption>%s</figcaption>\n", title);
    p->figure++;
    begin_svg(p, title,
              "Parallel coordinates: an axis for each parameter, and one of time; a line for each variant.",
              LEFT + (int)axes * STEP + 80, HEIGHT);
    for (size_t i = r->count; i-- > 0;)
        if (i < LINES / 5 || i % step == 0) put_line(p, r, axis, axes, i);
    for (size_t k = 0; k < axes; k++) put_axis(p, r->sweep, &axis[k], LEFT + (int)k * STEP);
    put_time_axis(p, r, LEFT + (int)axes * STEP);
    ww_html(p, "</svg></div>\n");
    ww_figure_legend(p, series, 3);
    put_notes(p, r, axes, all);
    ww_html(p, "</figure>\n");
    for (size_t k = 0; k < axes; k++) free(axis[k].level);
}

/* ---- ranks ---- */

enum { SIZE = 440, EDGE = 12, MARGIN = 52, STALLS = 8, POINTS = 2000 };

/* The states that bound most variants, those of the fastest first; what comes after STALLS shares a colour. */
static size_t find_stalls(const struct ww_ranked *r, struct ww_series stall[STALLS + 1]) {
    static const unsigned color[STALLS] = {2, 4, 1, 5, 6, 8, 3, 7};
    size_t n = 0;
    for (size_t i = 0; i < r->count; i++) {
        const char *name = r->point[i]->variant ? r->point[i]->variant->top_stall : "not replayed";
        size_t k = 0;
        if (!r->measured[i]) continue;
        while (k < n && strcmp(stall[k].name, name) != 0) k++;
        if (k < n) continue;
        if (n == STALLS) {
            stall[n] = (struct ww_series){"others", 9};
            return n + 1;
        }
        stall[n] = (struct ww_series){name, color[n]};
        n++;
    }
    return n;
}

static unsigned color_of(const struct ww_series *stall, size_t count, const struct ww_explored_point *q) {
    const char *name = q->variant ? q->variant->top_stall : "not replayed";
    for (size_t k = 0; k < count; k++)
        if (strcmp(stall[k].name, name) == 0) return stall[k].color;
    return 9;
}

static double along(size_t place, size_t count) {
    return count > 1 ? (double)(place - 1) / (double)(count - 1) * (SIZE - MARGIN - EDGE) : 0;
}

static void rank_axes(struct ww_page *p, size_t count) {
    int lo = SIZE - MARGIN;
    ww_html(p,
            "<path d=\"M%d %d V%d H%d\" stroke=\"currentColor\" fill=\"none\"/>\n<path d=\"M%d %d L%d %d\" "
            "stroke=\"currentColor\" stroke-dasharray=\"4 3\" fill=\"none\"/>\n",
            MARGIN, EDGE, lo, SIZE - EDGE, MARGIN, lo, SIZE - EDGE, EDGE);
    size_t step = 1; /* 1, 2, 5, 10, 20, ... */
    for (int i = 0; count / step > 8; i++) step = i % 3 == 1 ? step / 2 * 5 : step * 2;
    for (size_t place = 1; place <= count; place += place == 1 && step > 1 ? step - 1 : step) {
        ww_html(p,
                "<text x=\"%.1f\" y=\"%d\" text-anchor=\"middle\">%zu</text><text x=\"%d\" y=\"%.1f\" "
                "text-anchor=\"end\">%zu</text>\n",
                MARGIN + along(place, count), lo + 18, place, MARGIN - 6, lo - along(place, count) + 4, place);
    }
    ww_html(p,
            "<text x=\"%d\" y=\"%d\" text-anchor=\"middle\">measured place</text>\n<text x=\"13\" y=\"%d\" "
            "text-anchor=\"middle\" transform=\"rotate(-90 13 %d)\">estimated place</text>\n",
            (SIZE + MARGIN) / 2, SIZE - 8, lo / 2, lo / 2);
}

static void rank_point(struct ww_page *p, const struct ww_ranked *r, size_t i, size_t place, unsigned color) {
    const struct ww_explored_point *q = r->point[i];
    char text[32];
    ww_html(p,
            "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"4\" stroke=\"var(--c%u)\" fill=\"var(--c%u)\" "
            "fill-opacity=\".6\"><title>",
            MARGIN + along(r->measured[i], r->measured_count), SIZE - MARGIN - along(place, r->measured_count),
            color, color);
    put_settings(p, r->sweep, q);
    ww_html(p, ": measured %s", ww_si(q->measured_s, "s", text));
    ww_html(p, ", place %zu", r->measured[i]);
    ww_html(p, "; estimated %s, place %zu</title></circle>\n", ww_si(q->time_s, "s", text), place);
}

void ww_variants_ranks(struct ww_page *p, const struct ww_ranked *r) {
    static const char title[] = "Estimated and measured ranks";
    struct ww_series stall[STALLS + 1];
    size_t place = 0, stalls = find_stalls(r, stall), step = r->measured_count / POINTS + 1;
    p->figure++;
    ww_html(p, "<div class=\"grid\">\n<figure>\n<figcaption>%s</figcaption>\n", title);
    begin_svg(p, title,
              "A point for each variant, by its place among the measured and among the estimated times.", SIZE,
              SIZE);
    rank_axes(p, r->measured_count);
    for (size_t i = 0; i < r->count; i++)
        if (r->measured[i] && place++ % step == 0)
            rank_point(p, r, i, place, color_of(stall, stalls, r->point[i]));
    ww_html(p, "</svg></div>\n");
    ww_figure_legend(p, stall, stalls);
    ww_html(p,
            "<p>1 is the fastest; on the dashed line both places are the same. Colours: the state in which a "
            "variant's warps spend most time.</p>\n");
    if (step > 1) ww_html(p, "<p class=\"note\">Each %zuth variant.</p>\n", step);
    ww_html(p, "</figure>\n</div>\n");
}
