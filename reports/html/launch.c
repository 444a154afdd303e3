/* launch.c: how near launches come to their GPU's limits, and what report.js draws of the one that a reader
 * picks: its limits, its roofline, what moved between the levels. Without a script the tables tell the same. */
#include "../../estimator/result/result.h"
#include "../light.h"
#include "page.h"
#include <math.h>
#include <stdlib.h>

enum { ROWS = 100, EXPLORE_FROM = 4, HEADS = 24 };

/* What the tables are made of. */
struct shown {
    const struct ww_result *r;
    const struct ww_launch_result *const *order; /* the longest first */
    size_t count;
    struct ww_gpu_facts facts;
    struct ww_peaks peaks;
    bool lanes[WW_LANES_COUNT]; /* some launch uses these */
};

static void choose_lanes(struct shown *s) {
    double part[WW_LIMIT_COUNT];
    for (size_t i = 0; i < s->count; i++) {
        ww_light(s->order[i], &s->facts, part);
        for (int k = 0; k < WW_LANES_COUNT; k++) s->lanes[k] |= part[WW_LIMIT_LANES + k] > 0;
    }
}

static void put_name(struct ww_tab *t, const struct ww_result *r, const struct ww_launch_result *l) {
    char text[16];
    snprintf(text, sizeof text, "%u", l->index);
    ww_tab_value(t, l->index, text);
    ww_tab_kernel(t, r, l->kernel);
}

/* ---- the tables ---- */

static void light_table(struct ww_page *p, const struct shown *s) {
    const char *head[HEADS] = {"launch", "kernel", "issue slots used"};
    unsigned n = 3;
    struct ww_tab t;
    for (int k = 0; k < WW_LANES_COUNT; k++)
        if (s->lanes[k]) head[n++] = ww_limit_name((enum ww_limit)(WW_LIMIT_LANES + k));
    static const char *const rest[] = {"L1 bandwidth", "L2 bandwidth", "DRAM bus busy"};
    for (size_t i = 0; i < sizeof rest / sizeof *rest; i++) head[n++] = rest[i];
    if (s->facts.board_w > 0) head[n++] = "board's power";
    head[n++] = "nearest limit";
    head[n++] = "time";
    ww_tab_begin(&t, p, "Speed of light by launch, the longest first", head, 1u << 1 | 1u << (n - 2));
    for (size_t i = 0; i < s->count; i++) {
        double part[WW_LIMIT_COUNT];
        enum ww_limit top = ww_light(s->order[i], &s->facts, part);
        put_name(&t, s->r, s->order[i]);
        for (int k = 0; k < WW_LIMIT_COUNT; k++)
            if (k < WW_LIMIT_LANES || k >= WW_LIMIT_L1 || s->lanes[k - WW_LIMIT_LANES])
                ww_tab_percent(&t, part[k]);
        if (s->facts.board_w > 0) ww_tab_part_of(&t, ww_ratio(ww_launch_watts(s->order[i]), s->facts.board_w));
        ww_tab_text(&t, part[top] > WW_LIGHT_NEAR ? ww_limit_brief(top) : "latency");
        ww_tab_si(&t, (double)s->order[i]->time_ps * 1e-12, "s");
    }
    ww_tab_end(&t);
}

/* The most operations a second that a launch's mix of types allows, and how many it made. */
static double mixed_peak(const struct shown *s, const struct ww_launch_result *l, double *operations) {
    double of[WW_OPS_TYPES], slowest = 0;
    ww_operations(l, of);
    *operations = 0;
    for (int k = 0; k < WW_OPS_TYPES; k++) {
        double peak = ww_operations_peak(&s->peaks, (enum ww_op_type)k);
        *operations += of[k];
        if (of[k] > 0 && peak > 0) slowest = fmax(slowest, of[k] / peak);
    }
    return ww_ratio(*operations, slowest);
}

static void put_ratio(struct ww_tab *t, double v) {
    ww_tab_value(t, v > 0 ? v : (double)NAN, ww_plain(v, 4, (char[32]){0}));
}

static void roofline_row(struct ww_tab *t, const struct shown *s, const struct ww_launch_result *l) {
    struct ww_flow flow[WW_LEVELS];
    double seconds = (double)l->time_ps * 1e-12, issued = (double)l->warp_instructions, operations;
    double peak = mixed_peak(s, l, &operations), allowed = peak;
    ww_flows(l, flow);
    put_name(t, s->r, l);
    ww_tab_si(t, ww_ratio(operations, seconds), "/s");
    ww_tab_si(t, operations > 0 ? peak : -1, "/s");
    for (int i = 0; i < WW_LEVELS; i++) {
        double bytes = 32 * (double)(flow[i].read + flow[i].written);
        put_ratio(t, ww_ratio(operations, bytes));
        if (bytes > 0 && s->peaks.bytes[i] > 0) allowed = fmin(allowed, s->peaks.bytes[i] * operations / bytes);
    }
    ww_tab_percent(t, operations > 0 && allowed > 0 ? ww_ratio(operations, seconds) / allowed : -1);
    ww_tab_si(t, ww_ratio(issued, seconds), "/s");
    for (int i = 0; i < WW_LEVELS; i++)
        put_ratio(t, ww_ratio(issued, (double)(flow[i].read + flow[i].written)));
}

static void roofline_table(struct ww_page *p, const struct shown *s) {
    static const char *const head[] = {"launch",
                                       "kernel",
                                       "operations a second",
                                       "mix allows",
                                       "per byte of L1",
                                       "per byte of L2",
                                       "per byte of DRAM",
                                       "reached of roofs",
                                       "warp instr. a second",
                                       "per sector of L1",
                                       "per sector of L2",
                                       "per sector of DRAM",
                                       NULL};
    struct ww_tab t;
    ww_tab_begin(&t, p, "Roofline by launch: floating-point operations and warp instructions", head, 1u << 1);
    for (size_t i = 0; i < s->count; i++) roofline_row(&t, s, s->order[i]);
    ww_tab_end(&t);
}

static void memory_table(struct ww_page *p, const struct shown *s) {
    static const char *const head[] = {
        "launch",  "kernel",    "L1 read",      "L1 written",   "L1 hits",       "L2 read",       "L2 written",
        "L2 hits", "DRAM read", "DRAM written", "in open rows", "shared passes", "for conflicts", NULL};
    struct ww_tab t;
    ww_tab_begin(&t, p, "Memory by launch: bytes between the levels, and what each level held", head, 1u << 1);
    for (size_t i = 0; i < s->count; i++) {
        const struct ww_launch_result *l = s->order[i];
        struct ww_flow flow[WW_LEVELS];
        struct ww_level level[WW_LEVELS];
        ww_flows(l, flow);
        ww_levels(l, level);
        put_name(&t, s->r, l);
        for (int k = 0; k < WW_LEVELS; k++) {
            ww_tab_si(&t, 32 * (double)flow[k].read, "B");
            ww_tab_si(&t, 32 * (double)flow[k].written, "B");
            ww_tab_percent(&t, level[k].hit_rate);
        }
        ww_tab_si(&t, (double)l->counter[WW_C_SHARED_PASSES], "");
        ww_tab_percent(
            &t, ww_ratio((double)l->counter[WW_C_SHARED_CONFLICTS], (double)l->counter[WW_C_SHARED_PASSES]));
    }
    ww_tab_end(&t);
}

/* ---- the picture ---- */

/* Where report.js draws, with the roofs that the tables do not have: "fp32 1.5e13;...". */
static void put_place(struct ww_page *p, const struct shown *s) {
    bool any = false;
    ww_html(p, "<div data-launches data-peaks=\"");
    for (int k = 0; k < WW_OPS_TYPES; k++) {
        double peak = ww_operations_peak(&s->peaks, (enum ww_op_type)k), of[WW_OPS_TYPES];
        bool used = false;
        for (size_t i = 0; i < s->count; i++) ww_operations(s->order[i], of), used |= of[k] > 0;
        if (peak <= 0 || !used) continue;
        ww_html(p, "%s%s %.6g", any ? ";" : "", ww_op_type_name((enum ww_op_type)k), peak);
        any = true;
    }
    ww_html(p, "\" data-issue=\"%.6g\" data-bytes=\"%.6g %.6g %.6g\"></div>\n", s->peaks.issue,
            s->peaks.bytes[0], s->peaks.bytes[1], s->peaks.bytes[2]);
}

void ww_html_light(struct ww_page *p, const struct ww_result *r, const struct ww_launch_result *const *order) {
    struct shown s = {.r = r, .order = order, .count = r->launch_count < ROWS ? r->launch_count : ROWS};
    ww_gpu_facts(r->gpu_json, &s.facts);
    ww_peaks(&s.facts, &s.peaks);
    choose_lanes(&s);
    ww_html(p,
            "<h3>Speed of light</h3>\n<p>How much of each limit a launch reaches. Below %.0f %% of all of them "
            "it waits "
            "for latencies. Lanes that are switched off do no work, so that divergence lowers the shares of "
            "lanes.</p>\n",
            100 * WW_LIGHT_NEAR);
    put_place(p, &s);
    if (r->launch_count >= EXPLORE_FROM)
        ww_html_explorer(p, (const char *const[]){"time", "DRAM bus busy", NULL});
    light_table(p, &s);
    ww_html(p, "<details><summary>Data of each launch: roofline, memory</summary>\n"
               "<p>An operation is a floating-point addition, multiplication, comparison or selection of a "
               "lane; a fused "
               "multiply-add is two. Tensor cores' are counted whatever their type, and their peak is that of "
               "fp16.</p>\n");
    roofline_table(p, &s);
    memory_table(p, &s);
    ww_html(p, "</details>\n");
}
