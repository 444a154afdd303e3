/* gnuplot's SVG as part of a page: markers are defined once for the page (page.c), colours that stand for
 * numbers become the page's, ids and empty groups go. */
#include "page.h"
#include <stdlib.h>
#include <string.h>

enum { FOREGROUND = 20, GRID = 21, BACKGROUND = 22 };

static void put_color(struct ww_buf *out, unsigned n) {
    if (n == FOREGROUND)
        ww_buf_puts(out, "var(--fg)");
    else if (n == GRID)
        ww_buf_puts(out, "var(--grid)");
    else if (n == BACKGROUND)
        ww_buf_puts(out, "var(--card)");
    else
        ww_buf_printf(out, "var(--c%u)", n);
}

/* Texts that are replaced as they stand. */
static const struct {
    const char *from, *to;
} words[] = {
    {"\"black\"", "\"var(--fg)\""},
    {"\"white\"", "\"var(--card)\""},
    {"\"gray\"", "\"var(--grid)\""},
    {" font-family=\"sans-serif\"", ""},
    {" stroke-linecap=\"round\" stroke-linejoin=\"round\"", ""},
    {" class=\"gridline\"", ""},
    {"xlink:href", "href"},
    {" shape-rendering='crispEdges'", ""},
};

/* rgb(n, n, n) at s; its length, or 0. */
static size_t match_color(const char *s, unsigned *n) {
    unsigned a, b, c;
    int length = 0;
    if (strncmp(s, "rgb(", 4) != 0 || sscanf(s, "rgb( %u, %u, %u)%n", &a, &b, &c, &length) != 3 || length <= 0)
        return 0;
    *n = a;
    return a == b && b == c && a > 0 && a <= BACKGROUND ? (size_t)length : 0;
}

static size_t replace_at(const char *s, struct ww_buf *out) {
    unsigned n;
    if (*s != 'r' && *s != '"' && *s != ' ' && *s != 'x') return 0;
    size_t length = match_color(s, &n);
    if (length) {
        put_color(out, n);
        return length;
    }
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        length = strlen(words[i].from);
        if (strncmp(s, words[i].from, length) != 0) continue;
        ww_buf_puts(out, words[i].to);
        return length;
    }
    return 0;
}

static void put_line(const char *s, struct ww_buf *out) {
    while (*s) {
        size_t n = replace_at(s, out);
        if (!n) ww_buf_byte(out, (unsigned char)*s), n = 1;
        s += n;
    }
    ww_buf_byte(out, '\n');
}

/* The next line without tabs before it; NULL at the end. *at moves on. */
static char *next_line(char **at) {
    char *s = *at;
    if (!*s) return NULL;
    char *end = s + strcspn(s, "\n");
    *at = *end ? end + 1 : end;
    *end = 0;
    return s + strspn(s, "\t ");
}

static bool starts(const char *s, const char *with) {
    return strncmp(s, with, strlen(with)) == 0;
}

/* One line of the drawing; `held` is an opened group of which nothing is known yet. */
static void take_line(char *line, char **held, struct ww_buf *out) {
    if (*held && strcmp(line, "</g>") == 0) { /* an empty group */
        *held = NULL;
        return;
    }
    if (*held) put_line(*held, out);
    *held = NULL;
    if (!*line || starts(line, "<rect x=\"0\" y=\"0\"")) return;
    if (starts(line, "<g id=\""))
        put_line("<g>", out);
    else if (starts(line, "<g fill=\"none\"") && line[strlen(line) - 1] == '>')
        *held = line;
    else
        put_line(line, out);
}

bool ww_svg_inline(char *svg, struct ww_buf *out) {
    char *at = svg, *line, *held = NULL;
    bool inside = false, defs = false, ended = false;
    while ((line = next_line(&at)) != NULL && !ended) {
        if (starts(line, "<g id=\"gnuplot_canvas\"")) inside = true;
        if (!inside) continue;
        if (starts(line, "<defs>")) defs = true;
        ended = starts(line, "</svg>");
        if (!defs && !ended) take_line(line, &held, out);
        if (starts(line, "</defs>")) defs = false;
    }
    if (held) put_line(held, out);
    return ended && !out->failed;
}
