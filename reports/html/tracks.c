/* The timeline: launches by stream, copies by engine and CTAs by SM, as spans over time. */
#include "../../estimator/result/result.h"
#include "../../estimator/result/names.h"
#include "../figures.h"
#include "page.h"
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { WIDTH = 960, LEFT = 120, RIGHT = 944, TOP = 8, ROW = 18, COLORS = 10, SPANS = 4000, LISTED = 300 };

struct span {
    uint64_t track; /* in the order of the rows: below */
    uint64_t start, end;
    const struct ww_launch_result *launch; /* NULL: a copy */
    const struct ww_cta_span *cta;         /* NULL: the whole launch */
    const struct ww_copy_span *copy;
};
/* Kinds of tracks; with the number of an engine, a stream or an SM in the lower half. */
#define ENGINE ((uint64_t)0 << 32)
#define LAUNCHES ((uint64_t)1 << 32)
#define STREAM ((uint64_t)2 << 32)
#define SM ((uint64_t)3 << 32)

struct tracks {
    const struct ww_result *result;
    struct span *span;
    size_t count, all; /* all: also those that are left out */
    uint32_t slots;    /* of an SM */
    uint64_t end;
};

static void add(struct tracks *t, struct span span) {
    if (span.end <= span.start) return;
    if (t->count < SPANS) t->span[t->count++] = span;
    if (span.end > t->end) t->end = span.end;
    t->all++;
}

/* With copies the program's own time is shown, in which launches may wait for them. */
static void add_launch(struct tracks *t, const struct ww_launch_result *l, struct ww_place place) {
    bool copies = t->result->copy_count > 0;
    uint64_t start = copies ? l->with_copies_start_ps : place.start;
    uint64_t ctas =
        place.ctas >= place.start || start >= place.start - place.ctas ? start + place.ctas - place.start : 0;
    add(t, (struct span){.track = l->concurrent ? STREAM | l->stream : LAUNCHES,
                         .start = start,
                         .end = copies ? l->with_copies_end_ps : place.start + l->time_ps,
                         .launch = l});
    for (size_t i = 0; i < l->cta_count; i++) {
        const struct ww_cta_span *c = &l->cta[i];
        add(t, (struct span){.track = SM | c->sm,
                             .start = ctas + c->start_ps,
                             .end = ctas + c->end_ps,
                             .launch = l,
                             .cta = c});
        if (c->slot < 64 && c->slot >= t->slots) t->slots = c->slot + 1;
    }
}

static int by_track(const void *a, const void *b) {
    const struct span *x = a, *y = b;
    if (x->track != y->track) return x->track < y->track ? -1 : 1;
    return x->start < y->start ? -1 : x->start > y->start;
}

static bool collect(struct tracks *t) {
    const struct ww_result *r = t->result;
    struct ww_gpu_facts facts;
    struct ww_placing placing = {0};
    t->span = calloc(SPANS, sizeof *t->span);
    if (!t->span) return false;
    ww_gpu_facts(r->gpu_json, &facts);
    for (size_t i = 0; i < r->copy_count; i++)
        add(t, (struct span){.track = ENGINE | r->copy[i].engine,
                             .start = r->copy[i].start_ps,
                             .end = r->copy[i].end_ps,
                             .copy = &r->copy[i]});
    for (size_t i = 0; i < r->launch_count; i++)
        add_launch(t, &r->launch[i], ww_place_next(&placing, &r->launch[i], &facts));
    qsort(t->span, t->count, sizeof *t->span, by_track);
    return true;
}

static void track_name(const struct span *s, char out[40]) {
    uint32_t number = (uint32_t)s->track;
    if (s->copy && s->copy->engine == WW_COPY_NO_ENGINE)
        snprintf(out, 40, "copies within");
    else if (s->copy)
        snprintf(out, 40, "copy engine %u", number);
    else if (s->cta)
        snprintf(out, 40, "SM %u", number);
    else if (s->launch->concurrent)
        snprintf(out, 40, "stream %u", number);
    else
        snprintf(out, 40, "launches");
}

static void span_name(const struct ww_result *r, const struct span *s, char out[160]) {
    char kernel[WW_NAME_SHORT], bytes[32];
    if (s->copy)
        snprintf(out, 160, "copy %s, %s", ww_copy_way_name(s->copy->way),
                 ww_si((double)s->copy->bytes, "B", bytes));
    else if (s->cta)
        snprintf(out, 160, "CTA %" PRIu64 " of launch %u", s->cta->cta, s->launch->index);
    else
        snprintf(out, 160, "launch %u, %.100s", s->launch->index, ww_kernel_name(r, s->launch->kernel, kernel));
}

/* A launch and its CTAs have one colour. */
static void put_span(struct ww_plot *plot, const struct tracks *t, const struct span *s, double y) {
    double x = ww_plot_x(plot, (double)s->start), end = ww_plot_x(plot, (double)s->end), height = ROW - 4;
    char name[160], from[32], to[32];
    if (s->cta && t->slots) {
        height /= t->slots;
        y += height * (s->cta->slot % t->slots);
    }
    span_name(t->result, s, name);
    ww_html(plot->page,
            "<rect data-from=\"%.9g\" data-to=\"%.9g\" x=\"%.2f\" y=\"%.2f\" width=\"%.2f\" height=\"%.2f\" "
            "fill=\"var(--c%u)\"><title>",
            (double)s->start * 1e-12, (double)s->end * 1e-12, x, y, end - x > 0.4 ? end - x : 0.4, height,
            s->copy ? 9 : s->launch->index % (COLORS - 2) + 1);
    ww_html_text(plot->page, name);
    ww_html(plot->page, ": %s to %s</title></rect>\n", ww_si((double)s->start * 1e-12, "s", from),
            ww_si((double)s->end * 1e-12, "s", to));
}

static size_t count_rows(const struct tracks *t) {
    size_t rows = 0;
    for (size_t i = 0; i < t->count; i++) rows += i == 0 || t->span[i].track != t->span[i - 1].track;
    return rows;
}

static void draw(struct ww_page *p, const struct tracks *t, const char *title) {
    double bottom = TOP + ROW * (double)count_rows(t), y = TOP - ROW;
    char label[40];
    struct ww_plot plot;
    struct ww_scale scale = ww_scale_of((double)t->end * 1e-12, "s");
    ww_html(p, "<div class=\"scroll\" role=\"group\" tabindex=\"0\" aria-label=\"Timeline\">\n");
    ww_plot_begin(
        &plot, p, WIDTH, bottom + 46, title,
        "Rows of spans over time: copies by engine, launches by stream, CTAs by SM. A launch and its CTAs have "
        "one colour.");
    ww_plot_field(&plot, LEFT, RIGHT, TOP, bottom);
    plot.x1 = (double)t->end * 1e-12 * scale.factor;
    snprintf(label, sizeof label, "time (%s)", scale.unit);
    ww_plot_axis_x(&plot, label, 8);
    plot.x1 = (double)t->end;
    for (size_t i = 0; i < t->count; i++) {
        if (i == 0 || t->span[i].track != t->span[i - 1].track) {
            y += ROW;
            track_name(&t->span[i], label);
            ww_plot_text(&plot, LEFT - 8, y + 12, "end", 12, LEFT - 12, label);
        }
        put_span(&plot, t, &t->span[i], y + 2);
    }
    ww_plot_end(&plot);
    ww_html(p, "</div>\n<div hidden data-spans data-left=\"%d\" data-right=\"%d\" data-end=\"%.9g\"></div>\n",
            LEFT, RIGHT, (double)t->end * 1e-12);
}

static void list(struct ww_page *p, const struct tracks *t, const char *title) {
    static const char *const head[] = {"row", "what", "from", "to", NULL};
    struct ww_tab tab;
    size_t shown = t->count < LISTED ? t->count : LISTED;
    char text[160];
    ww_figure_data(p);
    if (shown < t->count) ww_html(p, "<p class=\"note\">The first %zu of %zu spans.</p>\n", shown, t->count);
    ww_tab_begin(&tab, p, title, head, 3);
    for (size_t i = 0; i < shown; i++) {
        const struct span *s = &t->span[i];
        track_name(s, text);
        ww_tab_text(&tab, text);
        span_name(t->result, s, text);
        ww_tab_text(&tab, text);
        ww_tab_si(&tab, (double)s->start * 1e-12, "s");
        ww_tab_si(&tab, (double)s->end * 1e-12, "s");
    }
    ww_tab_end(&tab);
    ww_figure_end(p);
}

void ww_html_tracks(struct ww_page *p, const struct ww_result *r) {
    static const char title[] = "Timeline: copies, launches, CTAs by SM";
    struct tracks t = {.result = r};
    bool ctas = false;
    if (ww_is_estimate(r)) return; /* its launches are not all */
    if (!collect(&t)) {
        p->failed = true;
        return;
    }
    for (size_t i = 0; i < t.count && !ctas; i++) ctas = t.span[i].cta != NULL;
    if (t.end && (t.count > 1 || ctas)) {
        ww_html(p, "<h3>Timeline</h3>\n");
        if (!ctas)
            ww_html(p, "<p class=\"note\"><code>warpwatt run --timeline N</code> keeps the first N CTAs of "
                       "each launch, "
                       "which are then shown by SM.</p>\n");
        if (t.count < t.all) ww_html(p, "<p class=\"note\">The first %zu of %zu spans.</p>\n", t.count, t.all);
        ww_figure_begin(p, title);
        draw(p, &t, title);
        list(p, &t, title);
    }
    free(t.span);
}
