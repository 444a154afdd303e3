/* Runs side by side: the first one is what others are compared with, where they replay the same trace. */
#include "../../estimator/api/report.h"
#include "../../estimator/result/names.h"
#include "../../estimator/result/result.h"
#include "../intervals.h"
#include "page.h"
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { BAR_ROWS = 24, NAME = 96 };

/* The part of the trace's name that people know. */
static void run_name(const struct ww_result *r, int64_t id, const struct ww_result *base, bool one_gpu,
                     char out[NAME]) {
    const char *slash = strrchr(r->trace, '/'), *name = slash ? slash + 1 : r->trace;
    size_t n = strlen(name);
    if (n > 4 && strcmp(name + n - 4, ".wwt") == 0) n -= 4;
    struct ww_difference d[WW_DIFFERENCES];
    size_t count = r == base ? 0 : ww_differences(base, r, d), i = 0;
    while (i < count && i + 1 < WW_DIFFERENCES && strcmp(d[i].what, "gpu") == 0) i++;
    snprintf(out, NAME, "%" PRId64 " %.*s%s%.20s%s%.28s%s%.12s", id, n > 24 ? 24 : (int)n, name,
             one_gpu ? "" : " on ", one_gpu ? "" : r->gpu, i < count ? " " : "", i < count ? d[i].what : "",
             i < count ? "=" : "", i < count ? d[i].b : "");
}

/* What the run differs from the first one in: "sm.count=40 (80), sched=lrr (gto)". */
static void differing(const struct ww_result *r, const struct ww_result *base, char *out, size_t size) {
    struct ww_difference d[WW_DIFFERENCES];
    bool traces = strcmp(r->trace_hash, base->trace_hash) != 0;
    size_t count = ww_differences(base, r, d), used = 0;
    snprintf(out, size, "%s", traces ? "another trace" : "nothing");
    if (traces) used = strlen(out);
    for (size_t i = 0; i < count && i < WW_DIFFERENCES && used < size; i++) {
        int n = snprintf(out + used, size - used, "%s%s=%s (%s)", used ? ", " : "", d[i].what, d[i].b, d[i].a);
        if (n > 0) used += (size_t)n;
    }
}

static bool same_work(const struct ww_result *a, const struct ww_result *b) {
    return strcmp(a->trace_hash, b->trace_hash) == 0 && a->warp_instructions == b->warp_instructions;
}

/* b against a as a change in percent. */
static void change(struct ww_tab *t, double a, double b) {
    ww_tab_change(t, a > 0 && b >= 0 ? b / a - 1 : (double)NAN);
}

static void add_run(struct ww_tab *t, const struct ww_result *r, int64_t id, const struct ww_result *base) {
    struct ww_launch_result sum = {.cycles = r->cycles, .warp_instructions = r->warp_instructions};
    char text[600], gpu[600], with[400], mode[80];
    bool same = same_work(r, base);
    double seconds = (double)r->time_ps * 1e-12, first = (double)base->time_ps * 1e-12;
    double joules = r->energy_known ? r->energy_j : -1, base_j = base->energy_known ? base->energy_j : -1;
    snprintf(text, sizeof text, "%" PRId64, id);
    ww_tab_value(t, (double)id, text);
    ww_tab_path(t, r->trace);
    ww_say_overrides(r, with, sizeof with);
    snprintf(gpu, sizeof gpu, "%.100s%s", r->gpu, with);
    ww_tab_long(t, gpu);
    differing(r, base, text, sizeof text);
    ww_tab_long(t, r == base ? "(base)" : text);
    ww_say_mode(r, mode);
    ww_tab_text(t, mode);
    ww_tab_count(t, r->cycles);
    ww_tab_si(t, seconds, "s");
    change(t, same ? first : -1, seconds);
    ww_tab_value(t, ww_ipc(&sum), ww_plain(ww_ipc(&sum), 4, (char[32]){0}));
    ww_tab_si(t, ww_watts(joules, joules >= 0, r->time_ps), "W");
    ww_tab_si(t, joules, "J");
    change(t, same ? base_j : -1, joules);
    ww_tab_si(t, joules >= 0 ? joules * seconds : -1, "Js");
    change(t, same && base_j >= 0 ? base_j * first : -1, joules >= 0 ? joules * seconds : -1);
}

static void table(struct ww_page *p, const struct ww_report_set *set) {
    static const char *const head[] = {"run",    "trace",  "GPU",    "differs in", "mode",
                                       "cycles", "time",   "change", "IPC",        "power",
                                       "energy", "change", "EDP",    "change",     NULL};
    struct ww_tab t;
    ww_tab_begin(&t, p, "Runs side by side; changes are against the first run, of the same work", head,
                 15u << 1);
    for (size_t i = 0; i < set->run_count; i++) add_run(&t, set->run[i], set->run_id[i], set->run[0]);
    ww_tab_end(&t);
}

/* ---- bars ---- */

struct bars {
    size_t rows;
    char name[BAR_ROWS][NAME];
    const char *label[BAR_ROWS];
    double lo[BAR_ROWS], hi[BAR_ROWS];
    double time[BAR_ROWS][WW_SLOT_GROUPS];
    double energy[BAR_ROWS][WW_ENERGY_GROUPS];
};

/* A run's time by what its issue slots were used for or lost to. */
static void lay_time(const struct ww_result *r, const struct ww_launch_result *sum,
                     double out[WW_SLOT_GROUPS]) {
    double slots = (double)ww_sum_u64(sum->slot, WW_SLOT_COUNT), seconds = (double)r->time_ps * 1e-12;
    if (slots <= 0) out[WW_SLOT_GROUPS - 1] = seconds;
    for (int s = 0; s < WW_SLOT_COUNT && slots > 0; s++)
        out[ww_group_of_slot((enum ww_slot)s)] += (double)sum->slot[s] / slots * seconds;
}

static void lay_energy(const struct ww_result *r, const struct ww_launch_result *sum,
                       double out[WW_ENERGY_GROUPS]) {
    for (int c = 0; c < WW_COMPONENT_COUNT && r->energy_known; c++)
        out[ww_energy_group((enum ww_component)c)] += sum->energy.dynamic_j[c] + sum->energy.static_j[c];
}

static void make_bars(struct bars *b, const struct ww_report_set *set) {
    bool one_gpu = true;
    for (size_t i = 1; i < set->run_count; i++) one_gpu &= strcmp(set->run[i]->gpu, set->run[0]->gpu) == 0;
    for (size_t i = 0; i < set->run_count && i < BAR_ROWS; i++) {
        const struct ww_result *r = set->run[i];
        struct ww_launch_result sum;
        ww_sum_launches(r, &sum);
        run_name(r, set->run_id[i], set->run[0], one_gpu, b->name[i]);
        b->label[i] = b->name[i];
        lay_time(r, &sum, b->time[i]);
        lay_energy(r, &sum, b->energy[i]);
        struct ww_interval time = ww_time_interval(r);
        b->lo[i] = time.lo;
        b->hi[i] = time.hi;
        b->rows++;
    }
}

void ww_html_compare(struct ww_page *p, const struct ww_report_set *set) {
    if (set->run_count < 2) return;
    struct bars *b = calloc(1, sizeof *b);
    if (!b) {
        p->failed = true;
        return;
    }
    make_bars(b, set);
    struct ww_chart time = {.title = "Time, by what issue slots were used for or lost to",
                            .about = "Stacked horizontal bars of each run's time; whiskers are intervals of "
                                     "estimates.",
                            .row_head = "run",
                            .x_label = "time",
                            .unit = "s",
                            .label = b->label,
                            .rows = b->rows,
                            .series = WW_SLOT_GROUPS,
                            .one = ww_slot_groups,
                            .value = &b->time[0][0],
                            .lo = b->lo,
                            .hi = b->hi};
    struct ww_chart energy = {.title = "Energy, by component",
                              .about = "Stacked horizontal bars of each run's energy.",
                              .row_head = "run",
                              .x_label = "energy",
                              .unit = "J",
                              .label = b->label,
                              .rows = b->rows,
                              .series = WW_ENERGY_GROUPS,
                              .one = ww_power_groups,
                              .value = &b->energy[0][0]};
    ww_html(p, "<section>\n<h2 id=\"compare\">Runs side by side</h2>\n");
    table(p, set);
    if (set->run_count > BAR_ROWS)
        ww_html(p, "<p class=\"note\">Charts show the first %d of %zu runs.</p>\n", BAR_ROWS, set->run_count);
    ww_html(p, "<div class=\"grid\">\n");
    ww_chart_bars(p, &time);
    ww_chart_bars(p, &energy);
    ww_html(p, "</div>\n</section>\n");
    free(b);
}
