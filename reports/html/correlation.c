/* The correlation page: estimated over measured cycles, a point a launch, ours and another estimator's side by
 * side. */
#include "../../estimator/base/demangle.h"
#include "../../estimator/base/err.h"
#include "../../estimator/base/locale.h"
#include "../points.h"
#include "page.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { SIZE = 460, LEFT = 72, BOTTOM = 46, EDGE = 10, COLORS = 10 };

/* ---- figures ---- */

struct sums {
    size_t launches;
    double error, bias, log_correlation;
};

static double estimate(const struct ww_point *point, bool other) {
    return other ? point->other : point->ours;
}

static struct sums sum_up(const struct ww_points *p, bool other, const char *program) {
    struct sums s = {0};
    double x = 0, y = 0, xx = 0, yy = 0, xy = 0;
    for (size_t i = 0; i < p->count; i++) {
        double v = estimate(&p->point[i], other), hw = p->point[i].measured;
        if (isnan(v) || (program && strcmp(program, p->point[i].program) != 0)) continue;
        double a = log(hw), b = log(v);
        s.launches++;
        s.error += fabs(v / hw - 1);
        s.bias += v / hw - 1;
        x += a, y += b, xx += a * a, yy += b * b, xy += a * b;
    }
    double n = (double)s.launches, dx = n * xx - x * x, dy = n * yy - y * y;
    s.error = n > 0 ? s.error / n : NAN;
    s.bias = n > 0 ? s.bias / n : NAN;
    s.log_correlation = n > 1 && dx > 0 && dy > 0 ? (n * xy - x * y) / sqrt(dx * dy) : NAN;
    return s;
}

/* ---- the scatter ---- */

struct axes {
    double lo, hi; /* decades, both axes */
};

static struct axes fit_axes(const struct ww_points *p) {
    struct axes a = {INFINITY, -INFINITY};
    for (size_t i = 0; i < p->count; i++)
        for (int k = 0; k < 3; k++) {
            double v = k == 0 ? p->point[i].measured : estimate(&p->point[i], k == 2);
            if (isnan(v)) continue;
            a.lo = fmin(a.lo, floor(log10(v)));
            a.hi = fmax(a.hi, ceil(log10(v)));
        }
    if (a.hi <= a.lo) a.hi = a.lo + 1;
    return a;
}

static double place(const struct axes *a, double cycles) {
    return (log10(cycles) - a->lo) / (a->hi - a->lo) * (SIZE - LEFT - EDGE);
}

static double at_x(const struct axes *a, double cycles) {
    return LEFT + place(a, cycles);
}

static double at_y(const struct axes *a, double cycles) {
    return SIZE - BOTTOM - place(a, cycles) * (SIZE - BOTTOM - EDGE) / (SIZE - LEFT - EDGE);
}

/* "100 k" for 10 to the power of 5. */
static void decade(int power, char out[32]) {
    static const char prefix[] = "kMGT";
    int third = power / 3;
    if (power >= 0 && power < 3)
        snprintf(out, 32, "%d", power == 0 ? 1 : power == 1 ? 10 : 100);
    else if (power < 0 || third > 4)
        snprintf(out, 32, "1e%d", power);
    else
        snprintf(out, 32, "%d %c", power % 3 == 0 ? 1 : power % 3 == 1 ? 10 : 100, prefix[third - 1]);
}

static void put_axes(struct ww_page *p, const struct axes *a) {
    for (int d = (int)a->lo; d <= (int)a->hi; d++) {
        double v = pow(10, d);
        char text[32];
        decade(d, text);
        ww_html(p,
                "<path d=\"M%.1f %d V%d M%d %.1f H%d\" stroke=\"currentColor\" stroke-opacity=\".2\" "
                "fill=\"none\"/>"
                "<text x=\"%.1f\" y=\"%d\" text-anchor=\"%s\">%s</text>"
                "<text x=\"%d\" y=\"%.1f\" text-anchor=\"end\">%s</text>\n",
                at_x(a, v), EDGE, SIZE - BOTTOM, LEFT, at_y(a, v), SIZE - EDGE, at_x(a, v), SIZE - BOTTOM + 18,
                d < (int)a->hi ? "middle" : "end", text, LEFT - 6, at_y(a, v) + 4, text);
    }
    double lo = pow(10, a->lo), hi = pow(10, a->hi);
    ww_html(
        p,
        "<path d=\"M%.1f %.1f L%.1f %.1f\" stroke=\"currentColor\" stroke-dasharray=\"4 3\" fill=\"none\"/>\n"
        "<text x=\"%d\" y=\"%d\" text-anchor=\"middle\">measured cycles</text>\n"
        "<text x=\"14\" y=\"%d\" text-anchor=\"middle\" transform=\"rotate(-90 14 %d)\">estimated "
        "cycles</text>\n",
        at_x(a, lo), at_y(a, lo), at_x(a, hi), at_y(a, hi), (SIZE + LEFT) / 2, SIZE - 8, (SIZE - BOTTOM) / 2,
        (SIZE - BOTTOM) / 2);
}

/* Programs are numbered in the order in which they first appear; a colour each, again from the first after all.
 */
static unsigned program_of(const struct ww_points *p, size_t i) {
    unsigned n = 0;
    for (size_t k = 0; k <= i; k++) {
        size_t first = 0;
        while (strcmp(p->point[first].program, p->point[k].program) != 0) first++;
        if (first == k && strcmp(p->point[k].program, p->point[i].program) == 0) return n;
        n += first == k;
    }
    return n;
}

static unsigned color_of(unsigned program) {
    return program % COLORS + 1;
}

/* The second ten of programs have hollow points, the third ten squares, the fourth hollow ones. */
static const char *fill_of(unsigned program) {
    return program / COLORS % 2 ? "0" : ".75";
}

/* Opens the mark of a program's points. */
static void put_mark(struct ww_page *page, unsigned program, double x, double y, double r) {
    if (program / COLORS % 4 < 2)
        ww_html(page, "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"%.0f\"", x, y, r);
    else
        ww_html(page, "<rect x=\"%.1f\" y=\"%.1f\" width=\"%.0f\" height=\"%.0f\"", x - r, y - r, 2 * r, 2 * r);
    ww_html(page, " stroke=\"var(--c%u)\" fill=\"var(--c%u)\" fill-opacity=\"%s\"", color_of(program),
            color_of(program), fill_of(program));
}

static void put_point(struct ww_page *page, const struct axes *a, const struct ww_point *point,
                      unsigned program, bool other) {
    double v = estimate(point, other);
    put_mark(page, program, at_x(a, point->measured), at_y(a, v), 4);
    ww_html(page, "><title>");
    ww_html_text(page, point->program);
    ww_html(page, " ");
    ww_html_text(page, point->launch);
    ww_html(page, " (");
    ww_html_text(page, point->table);
    ww_html(page, ") ");
    ww_html_text(page, point->kernel);
    ww_html(page, ": measured %.0f, estimated %.0f, %+.1f %%</title></%s>\n", point->measured, v,
            100 * (v / point->measured - 1), program / COLORS % 4 < 2 ? "circle" : "rect");
}

static void put_scatter(struct ww_page *page, const struct ww_points *p, const unsigned *program,
                        const char *name, bool other) {
    struct axes a = fit_axes(p);
    struct sums s = sum_up(p, other, NULL);
    ww_html(page, "<div><h3>");
    ww_html_text(page, name);
    ww_html(page,
            "</h3><p>%zu launches, mean error %.1f %%, bias %+.1f %%, correlation of logarithms %.3f</p>\n"
            "<svg role=\"img\" viewBox=\"0 0 %d %d\" width=\"%d\" height=\"%d\" font-size=\"12\" "
            "fill=\"currentColor\"><title>Estimated over measured cycles, ",
            s.launches, 100 * s.error, 100 * s.bias, s.log_correlation, SIZE, SIZE, SIZE, SIZE);
    ww_html_text(page, name);
    ww_html(page, "</title>\n");
    put_axes(page, &a);
    for (size_t i = 0; i < p->count; i++)
        if (!isnan(estimate(&p->point[i], other))) put_point(page, &a, &p->point[i], program[i], other);
    ww_html(page, "</svg></div>\n");
}

/* ---- tables ---- */

static void put_programs(struct ww_page *page, const struct ww_points *p, const unsigned *program) {
    char other_error[80];
    const char *const head[] = {"program", "launches", "error", "bias", p->other ? other_error : NULL, NULL};
    struct ww_tab t;
    snprintf(other_error, sizeof other_error, "error of %.60s", p->other ? p->other : "");
    unsigned seen = 0;
    ww_tab_begin(&t, page, "Programs, mean over launches", head, 1);
    for (size_t i = 0; i < p->count; i++) {
        if (program[i] != seen) continue;
        seen++;
        struct sums ours = sum_up(p, false, p->point[i].program), other = sum_up(p, true, p->point[i].program);
        ww_tab_text(&t, p->point[i].program);
        ww_tab_count(&t, ours.launches);
        ww_tab_percent(&t, ours.error);
        ww_tab_change(&t, ours.bias);
        if (p->other) ww_tab_percent(&t, other.error);
    }
    ww_tab_end(&t);
}

static int by_error(const void *left, const void *right) {
    const struct ww_point *a = *(const struct ww_point *const *)left,
                          *b = *(const struct ww_point *const *)right;
    double x = fabs(a->ours / a->measured - 1), y = fabs(b->ours / b->measured - 1);
    return x > y ? -1 : x < y ? 1 : a < b ? -1 : a > b;
}

static void put_launches(struct ww_page *page, const struct ww_points *p, const struct ww_point **order) {
    char other[80];
    const char *const head[] = {"program",   "launch",   "table", "kernel",
                                "measured",  "warpwatt", "error", p->other ? other : NULL,
                                "its error", NULL};
    struct ww_tab t;
    snprintf(other, sizeof other, "%.60s", p->other ? p->other : "");
    for (size_t i = 0; i < p->count; i++) order[i] = &p->point[i];
    qsort(order, p->count, sizeof *order, by_error);
    ww_tab_begin(&t, page, "Launches, those furthest off first", head, 1u | 1u << 1 | 1u << 2 | 1u << 3);
    for (size_t i = 0; i < p->count; i++) {
        const struct ww_point *r = order[i];
        char kernel[WW_NAME_SHORT];
        ww_tab_text(&t, r->program);
        ww_tab_text(&t, r->launch);
        ww_tab_text(&t, r->table);
        ww_tab_text(&t, ww_short_name(r->kernel, kernel));
        ww_tab_count(&t, (uint64_t)r->measured);
        ww_tab_count(&t, (uint64_t)r->ours);
        ww_tab_change(&t, r->ours / r->measured - 1);
        if (!p->other) continue;
        if (r->other > 0)
            ww_tab_count(&t, (uint64_t)r->other);
        else
            ww_tab_value(&t, NAN, "-");
        ww_tab_change(&t, r->other > 0 ? r->other / r->measured - 1 : (double)NAN);
    }
    ww_tab_end(&t);
}

static void put_legend(struct ww_page *page, const struct ww_points *p, const unsigned *program) {
    unsigned seen = 0;
    ww_html(page, "<ul class=\"dots\">\n");
    for (size_t i = 0; i < p->count; i++) {
        if (program[i] != seen) continue;
        ww_html(page, "<li><svg width=\"12\" height=\"12\" aria-hidden=\"true\">");
        put_mark(page, seen, 6, 6, 5);
        ww_html(page, "/></svg> ");
        seen++;
        ww_html_text(page, p->point[i].program);
        ww_html(page, "</li>\n");
    }
    ww_html(page, "</ul>\n");
}

static void put_page(struct ww_page *page, const struct ww_points *p, const unsigned *program,
                     const struct ww_point **order) {
    char date[32] = "";
    time_t now = time(NULL);
    struct tm tm;
    if (gmtime_r(&now, &tm)) strftime(date, sizeof date, "%Y-%m-%d", &tm);
    ww_page_head(page, "Estimates and real GPUs");
    ww_html(page,
            "<h1>Estimates and real GPUs</h1>\n<p>%zu launches, %s, warpwatt %s. A point is a launch; on "
            "the dashed line estimate and measurement "
            "agree.</p>\n</header>\n<main>\n<section><h2>Correlation</h2>\n"
            "<div class=\"grid\">\n",
            p->count, date, WW_VERSION);
    put_scatter(page, p, program, "warpwatt", false);
    if (p->other) put_scatter(page, p, program, p->other, true);
    ww_html(page, "</div>\n");
    put_legend(page, p, program);
    ww_html(page, "</section>\n<section><h2>Programs</h2>\n");
    put_programs(page, p, program);
    ww_html(page, "</section>\n<section><h2>Launches</h2>\n");
    put_launches(page, p, order);
    ww_html(page, "</section>\n");
    ww_page_foot(page);
}

enum ww_code ww_points_html(const struct ww_points *points, FILE *out, struct ww_error *error) {
    WW_PLAIN_LOCALE;
    struct ww_page page = {.out = out};
    unsigned *program = malloc((points->count + 1) * sizeof *program);
    const struct ww_point **order = malloc((points->count + 1) * sizeof *order);
    if (program && order) {
        for (size_t i = 0; i < points->count; i++) program[i] = program_of(points, i);
        put_page(&page, points, program, order);
    }
    bool failed = !program || !order || page.failed;
    free(program);
    free(order);
    return failed ? ww_fail_nomem(error, "a page") : ww_out_check(out, error);
}
