/* Plots: SVG with axes, which readers see at any size and in the colours of the page. */
#include "page.h"
#include "../../estimator/base/escape.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { SMALL = 12, LARGE = 13 /* pixels of a font */, DECADES_MOST = 60 };

void ww_plot_begin(struct ww_plot *plot, struct ww_page *p, double width, double height, const char *title,
                   const char *about) {
    *plot = (struct ww_plot){.page = p, .right = width, .bottom = height, .x1 = 1, .y1 = 1};
    ww_html(p, "<svg role=\"img\" class=\"plot\" viewBox=\"0 0 %g %g\" aria-label=\"", width, height);
    ww_html_text(p, title);
    ww_html(p, "\"><title>");
    ww_html_text(p, title);
    ww_html(p, "</title><desc>");
    ww_html_text(p, about);
    ww_html(p, "</desc>\n");
}

void ww_plot_field(struct ww_plot *plot, double left, double right, double top, double bottom) {
    plot->left = left;
    plot->right = right;
    plot->top = top;
    plot->bottom = bottom;
}

static double place(const double range[2], bool is_log, double v) {
    double part =
        is_log ? log(v / range[0]) / log(range[1] / range[0]) : (v - range[0]) / (range[1] - range[0]);
    return isfinite(part) ? fmin(fmax(part, -1), 2) : 0;
}

double ww_plot_x(const struct ww_plot *plot, double v) {
    return plot->left + place((double[]){plot->x0, plot->x1}, plot->log_x, v) * (plot->right - plot->left);
}

double ww_plot_y(const struct ww_plot *plot, double v) {
    return plot->bottom - place((double[]){plot->y0, plot->y1}, plot->log_y, v) * (plot->bottom - plot->top);
}

/* ---- texts ---- */

/* Widths of sans-serif fonts, of their size: Arial's, Helvetica's and DejaVu's differ by some percent. */
static double letter_width(unsigned char c) {
    if (strchr("ijl|'.,:;!", c)) return 0.34;
    if (strchr("mwMW%@", c)) return 1.0;
    if ((c >= 'A' && c <= 'Z') || c == '_' || c == '=' || c == '+' || c == '<' || c == '>' || c == '?')
        return 0.76;
    return c < 0x80 ? 0.62 : 1.0;
}

double ww_plot_width(const char *s, double size) {
    double width = 0;
    bool shows;
    for (size_t n = strlen(s), step; n; n -= step, s += step) {
        step = ww_text_next(s, n, &shows);
        width += shows ? letter_width((unsigned char)*s) : 1.0;
    }
    return width * size;
}

void ww_plot_text(struct ww_plot *plot, double x, double y, const char *anchor, double size, double most,
                  const char *s) {
    char cut[160];
    bool shows;
    size_t fits = 0, all = strlen(s);
    double width = 0, end = 2 * letter_width('.') * size;
    for (size_t i = 0, step; i < all && i + 8 < sizeof cut; i += step) {
        step = ww_text_next(s + i, all - i, &shows);
        width += (shows ? letter_width((unsigned char)s[i]) : 1.0) * size;
        if (width + end <= most) fits = i + step;
        if (width > most) break;
        if (i + step == all) fits = all;
    }
    snprintf(cut, sizeof cut, "%.*s%s", (int)fits, s, fits < all ? ".." : "");
    ww_html(plot->page, "<text x=\"%.1f\" y=\"%.1f\"", x, y);
    if (strcmp(anchor, "start") != 0) ww_html(plot->page, " text-anchor=\"%s\"", anchor);
    if (size != LARGE) ww_html(plot->page, " style=\"font-size:%gpx\"", size);
    ww_html(plot->page, ">");
    ww_html_text(plot->page, cut);
    ww_html(plot->page, "</text>\n");
}

/* ---- axes ---- */

double ww_plot_step(double range, unsigned most) {
    double raw = range / (most ? most : 1), power = pow(10, floor(log10(raw))), step = raw / power;
    if (!(range > 0) || !isfinite(power) || !(power > 0)) return 1;
    return power * (step <= 1 ? 1 : step <= 2 ? 2 : step <= 5 ? 5 : 10);
}

/* Values that get a number. Linear: multiples of a round step. Logarithmic: powers of ten, or 1, 2 and 5 of
 * each where there are few. */
static size_t find_tics(double lo, double hi, bool is_log, unsigned most, double tic[WW_PLOT_TICS]) {
    size_t n = 0;
    if (is_log) {
        int first = (int)floor(log10(lo)), last = (int)ceil(log10(hi)), each = 1;
        static const double of[] = {1, 2, 5};
        bool few = last - first <= 2;
        if (last - first > DECADES_MOST) return 0;
        while ((last - first) / each > (int)most) each++;
        for (int d = first; d <= last; d += each)
            for (int k = 0; k < (few ? 3 : 1) && n < WW_PLOT_TICS; k++) {
                double v = of[k] * pow(10, d);
                if (v >= lo * 0.9999 && v <= hi * 1.0001) tic[n++] = v;
            }
        return n;
    }
    double step = ww_plot_step(hi - lo, most);
    for (double i = ceil(lo / step - 1e-9); i * step <= hi + 1e-9 * step && n < WW_PLOT_TICS; i++)
        tic[n++] = i * step;
    return n;
}

static const char *number(double v, double step, char out[32]) {
    int digits = step > 0 ? (int)-floor(log10(step) + 1e-9) : 0;
    if (fabs(v) < step * 1e-6) v = 0;
    if (fabs(v) >= 1e7 || digits > 6)
        snprintf(out, 32, "%.4g", v);
    else
        snprintf(out, 32, "%.*f", digits > 0 ? digits : 0, v);
    return out;
}

static const char *tic_text(const double *tic, size_t n, size_t i, bool is_log, char out[32]) {
    if (!is_log && n > 1) return number(tic[i], tic[1] - tic[0], out);
    snprintf(out, 32, "%.6g", tic[i]);
    return out;
}

void ww_plot_axis_x(struct ww_plot *plot, const char *label, unsigned most) {
    double tic[WW_PLOT_TICS], middle = (plot->left + plot->right) / 2;
    char text[32];
    size_t n = find_tics(plot->x0, plot->x1, plot->log_x, most, tic);
    for (size_t i = 0; i < n; i++)
        ww_html(plot->page, "<path class=\"grid\" d=\"M%.1f %.1fV%.1f\"/>\n", ww_plot_x(plot, tic[i]),
                plot->top, plot->bottom);
    for (size_t i = 0; i < n; i++)
        ww_plot_text(plot, ww_plot_x(plot, tic[i]), plot->bottom + 18, "middle", SMALL, 100,
                     tic_text(tic, n, i, plot->log_x, text));
    double room = 2 * fmin(middle, plot->right + 12 - middle);
    ww_plot_text(plot, middle, plot->bottom + 38, "middle", LARGE, room, label);
}

void ww_plot_axis_y(struct ww_plot *plot, const char *label, unsigned most) {
    double tic[WW_PLOT_TICS];
    char text[32];
    size_t n = find_tics(plot->y0, plot->y1, plot->log_y, most, tic);
    for (size_t i = 0; i < n; i++) {
        ww_html(plot->page, "<path class=\"grid\" d=\"M%.1f %.1fH%.1f\"/>\n", plot->left,
                ww_plot_y(plot, tic[i]), plot->right);
        ww_plot_text(plot, plot->left - 6, ww_plot_y(plot, tic[i]) + 4, "end", SMALL, plot->left - 6,
                     tic_text(tic, n, i, plot->log_y, text));
    }
    ww_plot_text(plot, 4, plot->top - 12, "start", LARGE, plot->right - 4, label);
}

void ww_plot_end(struct ww_plot *plot) {
    ww_html(plot->page, "</svg>\n");
}
