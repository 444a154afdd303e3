/* The page: head, style, sections, script. */
#include "../../estimator/api/report.h"
#include "../../estimator/base/locale.h"
#include "page.h"
#include "../../estimator/base/err.h"
#include <inttypes.h>
#include <string.h>

extern const char ww_report_css[], ww_report_js[];
extern const size_t ww_report_css_size, ww_report_js_size;

enum { DETAILED = 8, POINTS = 240, POINTS_ALL = 600 };

static void put_title(struct ww_page *p, const struct ww_report_set *set) {
    if (set->run_count == 1) {
        const char *slash = strrchr(set->run[0]->trace, '/');
        ww_html_text(p, slash ? slash + 1 : set->run[0]->trace);
        ww_html(p, " on ");
        ww_html_text(p, set->run[0]->gpu);
    } else if (set->run_count) {
        ww_html(p, "%zu runs", set->run_count);
    }
    if (set->run_count && set->sweep) ww_html(p, " and ");
    if (set->sweep) {
        ww_html(p, "sweep %" PRId64 " on ", set->sweep->sweep);
        ww_html_text(p, set->sweep->gpu);
    }
}

/* Up to what follows <title>. */
static void put_prolog(struct ww_page *p) {
    ww_html(
        p,
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
        "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
        "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'; "
        "script-src 'unsafe-inline'\">\n"
        "<meta name=\"color-scheme\" content=\"light dark\">\n<meta name=\"generator\" content=\"warpwatt "
        "%s\">\n"
        "<title>",
        WW_VERSION);
}

static void put_style(struct ww_page *p) {
    ww_html(p, " - warpwatt</title>\n<style>\n");
    fwrite(ww_report_css, 1, ww_report_css_size, p->out);
    ww_html(p, "</style>\n</head>\n<body>\n<header>\n<p class=\"brand\">warpwatt report</p>\n");
}

void ww_page_head(struct ww_page *p, const char *title) {
    put_prolog(p);
    ww_html_text(p, title);
    put_style(p);
}

void ww_page_foot(struct ww_page *p) {
    ww_html(
        p,
        "</main>\n<footer><p>Made by warpwatt %s. Everything is in this file; it loads nothing.</p></footer>\n"
        "<script>\n",
        WW_VERSION);
    fwrite(ww_report_js, 1, ww_report_js_size, p->out);
    ww_html(p, "</script>\n</body>\n</html>\n");
}

static void put_head(struct ww_page *p, const struct ww_report_set *set) {
    put_prolog(p);
    put_title(p, set);
    put_style(p);
    ww_html(p, "<h1>");
    put_title(p, set);
    ww_html(p, "</h1>\n");
}

static void put_links(struct ww_page *p, const struct ww_report_set *set, size_t detailed) {
    if (set->run_count < 2 && !(set->sweep && set->run_count)) return;
    ww_html(p, "<nav aria-label=\"Parts of the report\"><ul>\n");
    if (set->sweep) ww_html(p, "<li><a href=\"#sweep\">Sweep</a></li>\n");
    if (set->run_count > 1) ww_html(p, "<li><a href=\"#compare\">Side by side</a></li>\n");
    for (size_t i = 0; i < detailed; i++)
        ww_html(p, "<li><a href=\"#run-%" PRId64 "\">Run %" PRId64 "</a></li>\n", set->run_id[i],
                set->run_id[i]);
    ww_html(p, "</ul></nav>\n");
}

enum ww_code ww_report_html(const struct ww_report_set *set, FILE *out, struct ww_error *error) {
    WW_PLAIN_LOCALE;
    size_t detailed = set->run_count < DETAILED ? set->run_count : DETAILED;
    struct ww_page p = {.out = out, .points = POINTS, .sources = set->sources, .find_source = set->find_source};
    if (detailed > 2) p.points = (unsigned)(POINTS_ALL / detailed);
    put_head(&p, set);
    put_links(&p, set, detailed);
    ww_html(&p, "</header>\n<main>\n");
    if (set->sweep) ww_html_variants(&p, set->sweep, set->ranking);
    if (set->sweep) ww_html_sweep(&p, set->sweep);
    ww_html_compare(&p, set);
    for (size_t i = 0; i < detailed; i++)
        ww_html_run(&p, set->run[i], set->run_id[i], set->trace && set->find_source ? set->trace[i] : NULL);
    if (detailed < set->run_count)
        ww_html(&p, "<p class=\"note\">Details of the first %zu of %zu runs.</p>\n", detailed, set->run_count);
    ww_page_foot(&p);
    return p.failed ? ww_fail_nomem(error, "a report") : ww_out_check(out, error);
}
