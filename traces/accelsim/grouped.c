/* Grouped files: one CTA after another.
 *
 *     #BEGIN_TB
 *     thread block = x,y,z
 *     cluster id = ..        (version 6, with "cluster cta" and "cluster rank")
 *     warp = n
 *     insts = k
 *     k instruction lines
 *     #END_TB
 */
#include "import.h"
#include <stdlib.h>
#include <string.h>

struct group {
    struct ww_as_import *im;
    struct ww_as_cta *cta; /* used again for each */
    bool open, placed, counted;
    uint32_t at[3];
    uint32_t warp;
    uint64_t expected, met; /* of the warp's instructions */
    uint64_t opened;        /* line of #BEGIN_TB */
};

static const char *after(const char *line, const char *name) {
    size_t n = strlen(name);
    if (strncmp(line, name, n) != 0) return NULL;
    line += n;
    while (*line == ' ') line++;
    return line;
}

static enum ww_code end_warp(struct group *g, struct ww_error *error) {
    if (g->counted && g->met != g->expected)
        return ww_as_bad(g->im->parser.in, error, "warp %u has %llu instructions; \"insts\" says %llu", g->warp,
                         (unsigned long long)g->met, (unsigned long long)g->expected);
    g->counted = false;
    return WW_OK;
}

static enum ww_code begin(struct group *g, struct ww_error *error) {
    if (g->open)
        return ww_as_bad(g->im->parser.in, error, "#BEGIN_TB before the #END_TB of line %llu's CTA",
                         (unsigned long long)g->opened);
    g->open = true;
    g->placed = false;
    g->opened = g->im->parser.in->line;
    g->warp = UINT32_MAX;
    ww_as_cta_reset(g->im, g->cta);
    return WW_OK;
}

static enum ww_code end(struct group *g, struct ww_error *error) {
    if (!g->placed) return ww_as_bad(g->im->parser.in, error, "a CTA without \"thread block = x,y,z\"");
    WW_TRY(end_warp(g, error));
    g->open = false;
    g->im->cta_line = g->opened;
    return ww_as_cta_finish(g->im, g->cta, error);
}

static enum ww_code place(struct group *g, const char *v, struct ww_error *error) {
    unsigned long long x[3];
    char rest;
    if (sscanf(v, "%10llu,%10llu,%10llu%c", &x[0], &x[1], &x[2], &rest) != 3 || x[0] > UINT32_MAX ||
        x[1] > UINT32_MAX || x[2] > UINT32_MAX)
        return ww_as_bad(g->im->parser.in, error, "\"%.60s\"; expected coordinates such as 0,0,0", v);
    for (int i = 0; i < 3; i++) g->at[i] = (uint32_t)x[i];
    g->placed = true;
    return ww_as_cta_index(g->im, g->at, &g->cta->index, error);
}

static enum ww_code number(struct group *g, const char *v, uint64_t max, uint64_t *out,
                           struct ww_error *error) {
    const char *p = v;
    if (!ww_as_dec(&p, out) || *p || *out > max)
        return ww_as_bad(g->im->parser.in, error, "\"%.40s\"; expected a number up to %llu", v,
                         (unsigned long long)max);
    return WW_OK;
}

static enum ww_code start_warp(struct group *g, const char *v, struct ww_error *error) {
    uint64_t n = 0;
    if (!g->placed) return ww_as_bad(g->im->parser.in, error, "a warp before \"thread block = x,y,z\"");
    WW_TRY(end_warp(g, error));
    WW_TRY(number(g, v, g->im->launch.warps_per_cta - 1, &n, error));
    if (g->cta->warp[n].started)
        return ww_as_bad(g->im->parser.in, error, "warp %u appears twice", (unsigned)n);
    g->warp = (uint32_t)n;
    g->cta->warp[n].started = true;
    return WW_OK;
}

static enum ww_code count_warp(struct group *g, const char *v, struct ww_error *error) {
    if (g->warp == UINT32_MAX) return ww_as_bad(g->im->parser.in, error, "\"insts\" before \"warp\"");
    WW_TRY(number(g, v, UINT32_MAX, &g->expected, error));
    g->counted = true;
    g->met = 0;
    return WW_OK;
}

static enum ww_code add_inst(struct group *g, char *text, struct ww_error *error) {
    struct ww_as_input *in = g->im->parser.in;
    struct ww_as_line line;
    if (!g->counted)
        return ww_as_bad(in, error, "\"%.40s\"; expected \"warp = \" and \"insts = \" first", text);
    if (++g->met > g->expected) return end_warp(g, error);
    WW_TRY(ww_as_line_parse(&g->im->parser, text, &line, error));
    if (g->im->parser.style.prefix && (memcmp(line.cta, g->at, sizeof g->at) != 0 || line.warp != g->warp))
        return ww_as_bad(in, error, "an instruction of CTA %u,%u,%u, warp %u in CTA %u,%u,%u, warp %u",
                         line.cta[0], line.cta[1], line.cta[2], line.warp, g->at[0], g->at[1], g->at[2],
                         g->warp);
    return ww_as_step_add(g->im, &g->cta->warp[g->warp], g->warp, &line, error);
}

static enum ww_code one_line(struct group *g, char *line, struct ww_error *error) {
    const char *v;
    if (after(line, "#BEGIN_TB")) return begin(g, error);
    if (!g->open) {
        if (*line == '#') return WW_OK;
        return ww_as_bad(g->im->parser.in, error, "\"%.40s\"; expected #BEGIN_TB", line);
    }
    if (*line >= '0' && *line <= '9') return add_inst(g, line, error);
    if (after(line, "#END_TB")) return end(g, error);
    if ((v = after(line, "thread block ="))) return place(g, v, error);
    if ((v = after(line, "warp ="))) return start_warp(g, v, error);
    if ((v = after(line, "insts ="))) return count_warp(g, v, error);
    if (after(line, "cluster ")) return WW_OK; /* CTAs of a cluster replay as CTAs */
    return add_inst(g, line, error);
}

static enum ww_code read_groups(struct group *g, char *line, struct ww_error *error) {
    struct ww_as_input *in = g->im->parser.in;
    size_t n;
    while (line) {
        if (*line) WW_TRY(one_line(g, line, error));
        if (in->line % 65536 == 0) WW_TRY(ww_as_progress(g->im, error));
        WW_TRY(ww_as_input_line(in, &line, &n, error));
    }
    if (g->open)
        return ww_as_bad(in, error, "the file ends within the CTA that began at line %llu",
                         (unsigned long long)g->opened);
    return WW_OK;
}

enum ww_code ww_as_grouped_read(struct ww_as_import *im, char *line, struct ww_error *error) {
    struct group g = {.im = im};
    WW_TRY(ww_as_cta_new(im, 0, &g.cta, error));
    enum ww_code code = read_groups(&g, line, error);
    ww_as_cta_free(im, g.cta);
    return code;
}
