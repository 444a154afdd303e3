/* The frame of a figure: its caption, its legend, its data. */
#include "page.h"

void ww_figure_begin(struct ww_page *p, const char *title) {
    p->figure++;
    ww_html(p, "<figure>\n<figcaption>");
    ww_html_text(p, title);
    ww_html(p, "</figcaption>\n");
}

void ww_figure_legend(struct ww_page *p, const struct ww_series *series, size_t count) {
    ww_html(p, "<ul class=\"legend\">");
    for (size_t i = 0; i < count; i++) {
        ww_html(p, "<li class=\"s%u\">", series[i].color);
        ww_html_text(p, series[i].name);
        ww_html(p, "</li>");
    }
    ww_html(p, "</ul>\n");
}

void ww_figure_rows(struct ww_page *p, bool down, double from, double to, double t0, double t1) {
    ww_html(p,
            "<div hidden data-rows=\"%s\" data-from=\"%.4f\" data-to=\"%.4f\" data-t0=\"%.9g\" "
            "data-t1=\"%.9g\"></div>\n",
            down ? "down" : "along", from, to, t0, t1);
}

void ww_figure_data(struct ww_page *p) {
    ww_html(p, "<details><summary>Data of figure %u</summary>\n", p->figure);
}

void ww_figure_end(struct ww_page *p) {
    ww_html(p, "</details>\n</figure>\n");
}
