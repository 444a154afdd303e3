/* Memory and energy: the roofline, the flows between levels, energy by component.
 *
 * The roofline is that of instructions (Ding and Williams, An Instruction Roofline Model for GPUs, PMBS 2019):
 * warp instructions a second over warp instructions per sector that a level moved; a level's roof is its
 * bandwidth in sectors, the ceiling that of the schedulers.
 */
#include "../../estimator/result/result.h"
#include "../../estimator/result/names.h"
#include "../light.h"
#include "page.h"
#include <math.h>
#include <stdlib.h>

enum { LEVELS = 3, BAR_ROWS = 14 };

struct roof {
    const char *name;
    unsigned color;
    double sectors; /* moved */
    double most;    /* sectors a second; <= 0: not known */
};

/* The sectors of L1 are those of its own lookups, without textures'. */
static void make_roofs(const struct ww_peaks *peaks, const uint64_t *c, struct roof roof[LEVELS]) {
    roof[0] = (struct roof){"L1", 2, (double)(c[WW_C_L1_SECTOR_READ] + c[WW_C_L1_SECTOR_WRITE]), 0};
    roof[1] = (struct roof){"L2", 5, (double)(c[WW_C_L2_SECTOR_READ] + c[WW_C_L2_SECTOR_WRITE]), 0};
    roof[2] = (struct roof){"DRAM", 4, (double)(c[WW_C_DRAM_SECTOR_READ] + c[WW_C_DRAM_SECTOR_WRITE]), 0};
    for (int i = 0; i < LEVELS; i++) roof[i].most = peaks->bytes[i] > 0 ? peaks->bytes[i] / 32 : -1;
}

struct roofline {
    struct roof roof[LEVELS];
    double peak, rate, seconds, instructions; /* peak and rate: warp instructions a second */
};

static double intensity(const struct roofline *r, int level) {
    return ww_ratio(r->instructions, r->roof[level].sectors);
}

/* What the roofs allow at a level's intensity. */
static double attainable(const struct roofline *r, int level) {
    return fmin(r->peak, r->roof[level].most * intensity(r, level));
}

/* The least and the most that the axes show. */
static void roofline_axes(struct ww_plot *plot, const struct roofline *r) {
    double least = r->rate;
    plot->x0 = 0.1;
    plot->x1 = 100;
    for (int i = 0; i < LEVELS; i++) {
        double at = intensity(r, i), ridge = r->peak / r->roof[i].most;
        if (at > 0) plot->x0 = fmin(plot->x0, at / 2), plot->x1 = fmax(plot->x1, at * 2);
        if (r->roof[i].most > 0) plot->x1 = fmax(plot->x1, ridge * 4);
    }
    for (int i = 0; i < LEVELS; i++)
        if (r->roof[i].most > 0) least = fmin(least, r->roof[i].most * plot->x0);
    plot->y0 = fmax(least * 0.5e-9, r->rate * 0.1e-9);
    plot->y1 = r->peak * 2e-9;
    plot->log_x = plot->log_y = true;
}

/* From the left or lower border of the field to the schedulers' peak. */
static void draw_roof(struct ww_plot *plot, const struct roofline *r, const struct roof *roof) {
    double slope = roof->most * 1e-9, from = fmax(plot->x0, plot->y0 / slope), to = r->peak * 1e-9 / slope;
    if (roof->most <= 0 || from >= to) return;
    ww_html(plot->page,
            "<path fill=\"none\" stroke=\"var(--c%u)\" stroke-width=\"2\" d=\"M%.1f %.1fL%.1f %.1f\"/>\n",
            roof->color, ww_plot_x(plot, from), ww_plot_y(plot, slope * from), ww_plot_x(plot, to),
            ww_plot_y(plot, slope * to));
}

/* A disc for L1, a square for L2, a triangle for DRAM: they differ without colours, too. */
static void draw_level(struct ww_plot *plot, const struct roofline *r, int level) {
    static const char *const mark[LEVELS] = {"m-6 0a6 6 0 1 0 12 0a6 6 0 1 0 -12 0Z", "m-5.5 -5.5h11v11h-11Z",
                                             "m0 -7.5l7 12.5h-14Z"};
    char rate[32], per[32];
    if (!(intensity(r, level) > 0)) return;
    ww_html(plot->page,
            "<path fill=\"var(--c%u)\" stroke=\"var(--card)\" d=\"M%.1f %.1f%s\"><title>%s: %s at %s per "
            "sector</title></path>\n",
            r->roof[level].color, ww_plot_x(plot, intensity(r, level)), ww_plot_y(plot, r->rate * 1e-9),
            mark[level], r->roof[level].name, ww_si(r->rate, "instr./s", rate),
            ww_plain(intensity(r, level), 3, per));
}

static void draw_roofline(struct ww_plot *plot, const struct roofline *r) {
    double peak = r->peak * 1e-9;
    ww_plot_field(plot, 56, 464, 30, 292);
    roofline_axes(plot, r);
    ww_plot_axis_x(plot, "warp instructions per sector", 8);
    ww_plot_axis_y(plot, "billion warp instructions a second", 8);
    ww_html(plot->page,
            "<path fill=\"none\" stroke=\"currentColor\" stroke-width=\"2\" stroke-dasharray=\"8 5\" d=\"M%.1f "
            "%.1fH%.1f\"/>\n",
            plot->left, ww_plot_y(plot, peak), plot->right);
    for (int i = 0; i < LEVELS; i++) draw_roof(plot, r, &r->roof[i]);
    for (int i = 0; i < LEVELS; i++) draw_level(plot, r, i);
}

static void roofline_data(struct ww_page *p, const struct roofline *r, const char *title) {
    static const char *const head[] = {
        "level",   "sectors",    "instr. per sector",          "sectors a second",
        "at most", "of it used", "the roof allows (instr./s)", "reached",
        NULL};
    struct ww_tab t;
    ww_figure_data(p);
    ww_tab_begin(&t, p, title, head, 1);
    for (int i = 0; i < LEVELS; i++) {
        const struct roof *f = &r->roof[i];
        double at = intensity(r, i), allowed = at > 0 && f->most > 0 ? attainable(r, i) : r->peak;
        ww_tab_text(&t, f->name);
        ww_tab_si(&t, f->sectors, "");
        ww_tab_value(&t, at > 0 ? at : (double)NAN, ww_plain(at, 4, (char[32]){0}));
        ww_tab_si(&t, f->sectors / r->seconds, "/s");
        ww_tab_si(&t, f->most, "/s");
        ww_tab_percent(&t, f->most > 0 ? f->sectors / r->seconds / f->most : -1);
        ww_tab_si(&t, allowed, "/s");
        ww_tab_percent(&t, ww_ratio(r->rate, allowed));
    }
    ww_tab_end(&t);
    ww_figure_end(p);
}

static void roofline(struct ww_page *p, const struct ww_result *result, const uint64_t *counter,
                     double instructions, double seconds) {
    static const struct ww_series legend[] = {{"L1", 2}, {"L2", 5}, {"DRAM", 4}};
    static const char title[] = "Instruction roofline (dashed: the schedulers' peak)";
    struct ww_gpu_facts f;
    struct ww_peaks peaks;
    struct ww_plot plot;
    ww_gpu_facts(result->gpu_json, &f);
    ww_peaks(&f, &peaks);
    struct roofline r = {.seconds = seconds, .instructions = instructions, .peak = peaks.issue};
    if (!(seconds > 0) || !(instructions > 0) || !(r.peak > 0)) return;
    r.rate = instructions / seconds;
    make_roofs(&peaks, counter, r.roof);
    ww_figure_begin(p, title);
    ww_plot_begin(
        &plot, p, 480, 340, title,
        "Log-log plot: lines are each level's bandwidth, the dashed one the schedulers' peak; a mark per level "
        "shows the run's rate at its instructions per sector of that level.");
    draw_roofline(&plot, &r);
    ww_plot_end(&plot);
    ww_figure_legend(p, legend, LEVELS);
    roofline_data(p, &r, title);
}

/* ---- flows ---- */

enum { BOX = 60, GAP = 74, BOX_TOP = 24, BOX_BOTTOM = 176 };

/* Between two boxes, from x on; as wide as its bytes are of the most. */
static void arrow(struct ww_plot *plot, double x, double y, bool left, double bytes, double most,
                  unsigned color) {
    double width = 1.5 + 8.5 * bytes / most, head = 6 + width / 2, wing = 3.5 + width / 2;
    double from = left ? x + GAP - 4 : x + 4, to = left ? x + 4 : x + GAP - 4,
           neck = left ? to + head : to - head;
    char text[32];
    if (bytes <= 0) return;
    ww_html(plot->page,
            "<path fill=\"none\" stroke=\"var(--c%u)\" stroke-width=\"%.1f\" d=\"M%.1f %gH%.1f\"/>"
            "<path fill=\"var(--c%u)\" d=\"M%.1f %gL%.1f %.1fV%.1fZ\"/>\n",
            color, width, from, y, neck, color, to, y, neck, y - wing, y + wing);
    ww_plot_text(plot, x + GAP / 2.0, left ? y - 14 : y + 22, "middle", 12, GAP, ww_si(bytes, "B", text));
}

static void box(struct ww_plot *plot, double x, const char *name, double hit_rate, const char *hits) {
    char text[32];
    ww_html(plot->page,
            "<rect x=\"%g\" y=\"%d\" width=\"%d\" height=\"%d\" rx=\"6\" fill=\"none\" stroke=\"currentColor\" "
            "stroke-width=\"1.5\"/>\n",
            x, BOX_TOP, BOX, BOX_BOTTOM - BOX_TOP);
    ww_plot_text(plot, x + BOX / 2.0, 90, "middle", 14, BOX, name);
    if (hit_rate < 0) return;
    ww_plot_text(plot, x + BOX / 2.0, 114, "middle", 12, BOX, ww_percent(hit_rate, text));
    ww_plot_text(plot, x + BOX / 2.0, 131, "middle", 11, BOX + 8, hits);
}

static void draw_flows(struct ww_plot *plot, const struct ww_flow flow[LEVELS],
                       const struct ww_level level[WW_LEVELS]) {
    static const char *const name[] = {"SMs", "L1", "L2", "DRAM"};
    double most = 1;
    for (int i = 0; i < LEVELS; i++)
        most = fmax(most, 32 * (double)(flow[i].read > flow[i].written ? flow[i].read : flow[i].written));
    for (int i = 0; i <= LEVELS; i++)
        box(plot, 8 + (BOX + GAP) * i, name[i], i ? level[i - 1].hit_rate : -1,
            i == LEVELS ? "open rows" : "hits");
    for (int i = 0; i < LEVELS; i++) {
        double x = 8 + BOX + (BOX + GAP) * i;
        arrow(plot, x, 72, true, 32 * (double)flow[i].read, most, 2);
        arrow(plot, x, 128, false, 32 * (double)flow[i].written, most, 4);
    }
}

static void flows(struct ww_page *p, const struct ww_launch_result *sum) {
    static const char *const head[] = {"between",         "sectors read",  "bytes read",
                                       "sectors written", "bytes written", NULL};
    static const struct ww_series legend[] = {{"read", 2}, {"written", 4}};
    static const char title[] = "Flows between the levels";
    static const char *const between[LEVELS] = {"SMs and L1", "L1 and L2", "L2 and DRAM"};
    struct ww_flow flow[LEVELS];
    struct ww_level level[WW_LEVELS];
    struct ww_plot plot;
    struct ww_tab t;
    ww_levels(sum, level);
    ww_flows(sum, flow);
    ww_figure_begin(p, title);
    ww_plot_begin(
        &plot, p, 480, 200, title,
        "Boxes for the SMs, the L1, the L2 and DRAM; arrows between them are as wide as the bytes that moved.");
    draw_flows(&plot, flow, level);
    ww_plot_end(&plot);
    ww_figure_legend(p, legend, 2);
    ww_figure_data(p);
    ww_tab_begin(&t, p, title, head, 1);
    for (int i = 0; i < LEVELS; i++) {
        ww_tab_text(&t, between[i]);
        ww_tab_count(&t, flow[i].read);
        ww_tab_si(&t, 32 * (double)flow[i].read, "B");
        ww_tab_count(&t, flow[i].written);
        ww_tab_si(&t, 32 * (double)flow[i].written, "B");
    }
    ww_tab_end(&t);
    ww_figure_end(p);
}

/* Counters are those of the launches that were replayed whole, and so must be the time that they stand against.
 */
void ww_html_memory(struct ww_page *p, const struct ww_result *r, const struct ww_launch_result *sum) {
    double instructions = 0, seconds = 0;
    for (size_t i = 0; i < r->launch_count; i++) {
        instructions += (double)r->launch[i].warp_instructions;
        seconds += (double)r->launch[i].time_ps * 1e-12;
    }
    roofline(p, r, sum->counter, instructions, seconds);
    flows(p, sum);
}

/* ---- energy ---- */

struct component {
    int c;
    double joules;
};

static int by_joules(const void *a, const void *b) {
    const struct component *x = a, *y = b;
    if (x->joules != y->joules) return x->joules < y->joules ? 1 : -1;
    return x->c - y->c;
}

static void energy_bars(struct ww_page *p, const struct ww_energy *e, const struct component *order) {
    static const struct ww_series series[] = {{"dynamic", 2}, {"static", 5}};
    double value[BAR_ROWS][2];
    const char *label[BAR_ROWS];
    size_t rows = 0;
    for (int i = 0; i < WW_COMPONENT_COUNT && rows < BAR_ROWS && order[i].joules > 0; i++, rows++) {
        label[rows] = ww_component_name((enum ww_component)order[i].c);
        value[rows][0] = e->dynamic_j[order[i].c];
        value[rows][1] = e->static_j[order[i].c];
    }
    ww_chart_bars(p, &(struct ww_chart){.title = "Energy by component, the largest",
                                        .about = "Horizontal bars of dynamic and static energy by component.",
                                        .row_head = "component",
                                        .x_label = "energy",
                                        .unit = "J",
                                        .label = label,
                                        .rows = rows,
                                        .series = 2,
                                        .one = series,
                                        .value = &value[0][0]});
}

void ww_html_energy(struct ww_page *p, const struct ww_result *r, const struct ww_launch_result *sum) {
    static const char *const head[] = {"component", "dynamic", "static",  "energy",
                                       "power",     "share",   "meaning", NULL};
    const struct ww_energy *e = &sum->energy;
    struct component order[WW_COMPONENT_COUNT];
    double total = 0;
    struct ww_tab t;
    if (!e->known) {
        ww_html(p, "<h3>Energy</h3>\n<p>The GPU has no power table: energy and power are not known.</p>\n");
        return;
    }
    for (int c = 0; c < WW_COMPONENT_COUNT; c++) {
        order[c] = (struct component){c, e->dynamic_j[c] + e->static_j[c]};
        total += order[c].joules;
    }
    qsort(order, WW_COMPONENT_COUNT, sizeof *order, by_joules);
    ww_html(p, "<h3>Energy</h3>\n<div class=\"grid\">\n");
    energy_bars(p, e, order);
    ww_html_time(p, r, true);
    ww_html(p, "</div>\n");
    ww_tab_begin(&t, p, "Energy by component", head, 1u | 1u << 6);
    for (int i = 0; i < WW_COMPONENT_COUNT && order[i].joules > 0; i++) {
        enum ww_component c = (enum ww_component)order[i].c;
        ww_tab_text(&t, ww_component_name(c));
        ww_tab_si(&t, e->dynamic_j[c], "J");
        ww_tab_si(&t, e->static_j[c], "J");
        ww_tab_si(&t, order[i].joules, "J");
        ww_tab_si(&t, ww_watts(order[i].joules, true, sum->time_ps), "W");
        ww_tab_percent(&t, ww_ratio(order[i].joules, total));
        ww_tab_text(&t, ww_component_help(c));
    }
    ww_tab_end(&t);
}
