/* Escaped text and sortable tables. */
#include "page.h"
#include "../../estimator/base/escape.h"
#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <string.h>

enum { TEXT_MOST = 160, WIDE = 40, BRIEF = 14 };

void ww_html(struct ww_page *p, const char *fmt, ...) {
    va_list args;
    va_start(args, fmt);
    vfprintf(p->out, fmt, args);
    va_end(args);
}

static void put_escaped(FILE *out, const char *s, size_t n) {
    for (size_t i = 0; i < n;) {
        bool shows;
        size_t length = ww_text_next(s + i, n - i, &shows);
        char c = s[i];
        if (!shows)
            fputs("\xef\xbf\xbd", out);
        else if (c == '&')
            fputs("&amp;", out);
        else if (c == '<')
            fputs("&lt;", out);
        else if (c == '>')
            fputs("&gt;", out);
        else if (c == '"')
            fputs("&quot;", out);
        else if (c == '\'')
            fputs("&#39;", out);
        else
            fwrite(s + i, 1, length, out);
        i += length;
    }
}

void ww_html_text(struct ww_page *p, const char *s) {
    size_t n = strlen(s), head = n, tail = n;
    if (n > TEXT_MOST) {
        head = TEXT_MOST / 2;
        tail = n - TEXT_MOST / 2;
        while (head > 0 && ((unsigned char)s[head] & 0xc0) == 0x80) head--;
        while (tail < n && ((unsigned char)s[tail] & 0xc0) == 0x80) tail++;
    }
    put_escaped(p->out, s, head);
    if (head == n) return;
    fputs(" &#8230; ", p->out);
    put_escaped(p->out, s + tail, n - tail);
}

/* ---- tables ---- */

void ww_tab_begin(struct ww_tab *t, struct ww_page *p, const char *caption, const char *const *head,
                  uint32_t left) {
    *t = (struct ww_tab){.page = p, .head = head, .left = left};
    ww_html(p, "<div class=\"scroll\" role=\"group\" tabindex=\"0\" aria-label=\"Table: ");
    ww_html_text(p, caption);
    ww_html(p, "\">\n<table class=\"sortable\"><caption>");
    ww_html_text(p, caption);
    ww_html(p, "</caption>\n<thead><tr>");
    for (; head[t->columns]; t->columns++) {
        ww_html(p, "<th scope=\"col\"%s>", left >> t->columns & 1 ? "" : " class=\"n\"");
        ww_html_text(p, head[t->columns]);
        ww_html(p, "</th>");
    }
    ww_html(p, "</tr></thead>\n<tbody>\n");
}

/* Opens a cell up to its attributes; the first of a row is the row's heading. */
static void open_cell(struct ww_tab *t) {
    t->any = true;
    if (t->column == 0)
        ww_html(t->page, "<tr><th scope=\"row\"");
    else
        ww_html(t->page, "<td");
}

static void close_cell(struct ww_tab *t) {
    ww_html(t->page, t->column == 0 ? "</th>" : "</td>");
    if (++t->column < t->columns) return;
    t->column = 0;
    ww_html(t->page, "</tr>\n");
}

void ww_tab_text(struct ww_tab *t, const char *s) {
    open_cell(t);
    size_t n = t->column ? strlen(s) : 0;
    ww_html(t->page, n > WIDE ? " class=\"w\">" : n && n <= BRIEF ? " class=\"b\">" : ">");
    ww_html_text(t->page, s);
    close_cell(t);
}

void ww_tab_kernel(struct ww_tab *t, const struct ww_result *r, const char *kernel) {
    char brief[WW_NAME_SHORT], whole[WW_NAME_WHOLE];
    const char *shown = ww_kernel_name(r, kernel, brief);
    ww_demangle(kernel, whole, sizeof whole);
    open_cell(t);
    if (strcmp(shown, whole) != 0) {
        ww_html(t->page, " title=\"");
        put_escaped(t->page->out, whole, strlen(whole));
        ww_html(t->page, "\"");
    }
    ww_html(t->page, ">");
    ww_html_text(t->page, shown);
    close_cell(t);
}

void ww_tab_path(struct ww_tab *t, const char *path) {
    const char *slash = strrchr(path, '/');
    open_cell(t);
    ww_html(t->page, " title=\"");
    ww_html_text(t->page, path);
    ww_html(t->page, "\">");
    ww_html_text(t->page, slash ? slash + 1 : path);
    close_cell(t);
}

void ww_tab_code(struct ww_tab *t, const char *s) {
    open_cell(t);
    ww_html(t->page, " class=\"src\">");
    for (size_t n = strcspn(s, "\t\r"); *s; s += n, n = strcspn(s, "\t\r")) {
        put_escaped(t->page->out, s, n);
        if (s[n] == '\t') ww_html(t->page, "&#9;");
        if (s[n]) s++;
    }
    close_cell(t);
}

void ww_tab_lines(struct ww_tab *t, const char *s) {
    open_cell(t);
    ww_html(t->page, " class=\"src asm\">");
    for (size_t n = strcspn(s, "\n"); *s; s += n, n = strcspn(s, "\n")) {
        put_escaped(t->page->out, s, n);
        if (s[n]) ww_html(t->page, "<br>"), s++;
    }
    close_cell(t);
}

void ww_tab_long(struct ww_tab *t, const char *s) {
    open_cell(t);
    ww_html(t->page, t->column && strlen(s) > WIDE ? " class=\"w\">" : ">");
    put_escaped(t->page->out, s, strlen(s));
    close_cell(t);
}

void ww_tab_value(struct ww_tab *t, double v, const char *shown) {
    open_cell(t);
    if (isfinite(v))
        ww_html(t->page, " class=\"n\" data-v=\"%.9g\">", v);
    else
        ww_html(t->page, " class=\"n\">");
    ww_html_text(t->page, isfinite(v) ? shown : "-");
    close_cell(t);
}

void ww_tab_si(struct ww_tab *t, double v, const char *unit) {
    char text[32];
    ww_tab_value(t, v >= 0 ? v : (double)NAN, ww_si(v, unit, text));
}

void ww_tab_percent(struct ww_tab *t, double part) {
    char text[32];
    ww_tab_value(t, part >= 0 ? part : (double)NAN, ww_percent(part, text));
}

void ww_tab_part_of(struct ww_tab *t, double part) {
    char text[32];
    if (!(part > 1) || !t->column) {
        ww_tab_percent(t, part);
        return;
    }
    open_cell(t);
    ww_html(t->page, " class=\"n above\" data-v=\"%.9g\">", part);
    ww_html_text(t->page, ww_percent(part, text));
    close_cell(t);
}

void ww_tab_change(struct ww_tab *t, double part) {
    char text[32];
    snprintf(text, sizeof text, "%+.1f %%", 100 * part);
    ww_tab_value(t, part, text);
}

void ww_tab_count(struct ww_tab *t, uint64_t v) {
    char text[32];
    ww_tab_value(t, (double)v, ww_grouped(v, text));
}

void ww_tab_per_request(struct ww_tab *t, const uint64_t counter[WW_INST_COUNTER_COUNT], uint64_t requests,
                        bool ideal_known) {
    double each = ww_ratio((double)counter[WW_I_SECTORS], (double)requests),
           ideal = ideal_known ? ww_ratio((double)counter[WW_I_IDEAL_SECTORS], (double)requests) : -1;
    ww_tab_value(t, each >= 0 ? each : (double)NAN, ww_plain(each, 3, (char[32]){0}));
    ww_tab_value(t, ideal >= 0 ? ideal : (double)NAN, ww_plain(ideal, 3, (char[32]){0}));
}

void ww_tab_end(struct ww_tab *t) {
    if (!t->any) ww_html(t->page, "<tr><td colspan=\"%u\">none</td></tr>\n", t->columns);
    ww_html(t->page, "</tbody></table></div>\n");
}
