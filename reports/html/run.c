/* What the page says of one run. */
#include "../../estimator/result/result.h"
#include "../../estimator/result/names.h"
#include "../bands.h"
#include "page.h"
#include <ctype.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { STACK_ROWS = 12, LAUNCH_ROWS = 100 };

/* ---- key figures ---- */

static void figure(struct ww_page *p, const char *name, const char *value) {
    ww_html(p, "<li><span>%s</span> <b>", name);
    ww_html_text(p, value);
    ww_html(p, "</b></li>\n");
}

/* "1.2 ms to 1.4 ms at 95 %", or nothing where the figure is exact. */
static void interval(struct ww_page *p, const char *name, const struct ww_interval *i, const char *unit,
                     double confidence) {
    char text[96], a[32], b[32];
    if (!(i->lo < i->hi)) return;
    snprintf(text, sizeof text, "%s to %s at %.0f %%", ww_si(i->lo, unit, a), ww_si(i->hi, unit, b),
             100 * confidence);
    figure(p, name, text);
}

static void sampling(struct ww_page *p, const struct ww_result *r) {
    const struct ww_sampling *s = &r->sampling;
    char a[32], b[32], text[160];
    interval(p, "cycles, interval", &r->cycles_interval, "", r->confidence);
    if (r->energy_known) interval(p, "energy, interval", &r->energy_interval, "J", r->confidence);
    if (!s->reason) return;
    interval(p, "time, interval", &s->time_s, "s", r->confidence);
    interval(p, "IPC, interval", &s->ipc, "", r->confidence);
    if (r->energy_known) interval(p, "power, interval", &s->power_w, "W", r->confidence);
    snprintf(text, sizeof text, "%s of the instructions, %s of %s units",
             ww_percent(ww_ratio((double)s->replayed_instructions, (double)r->warp_instructions), a),
             ww_grouped(s->drawn, b), ww_grouped(s->units, (char[32]){0}));
    figure(p, "replayed", text);
    figure(p, "why it stopped", s->reason);
    if (!s->fast_units) return;
    snprintf(text, sizeof text, "%s; correlation %.2f, pays from %.2f; %s units by fast replay", s->estimator,
             s->correlation, s->pays_from, ww_grouped(s->fast_units, a));
    figure(p, "estimator", text);
}

/* The board's power, for comparison with the run's. */
static void board_figure(struct ww_page *p, const struct ww_result *r, double board) {
    char text[80], a[32], b[32];
    double watts = ww_watts(r->energy_j, r->energy_known, r->time_ps);
    if (!(board > 0)) return;
    if (watts >= 0)
        snprintf(text, sizeof text, "%s of %s", ww_percent(watts / board, a), ww_si(board, "W", b));
    else
        snprintf(text, sizeof text, "%s", ww_si(board, "W", b));
    figure(p, "of the board's power", text);
}

/* Launches above the board's power, and at which clock the run stays below it. */
static void board_note(struct ww_page *p, const struct ww_result *r, double board) {
    char a[32], b[32], c[32], kernel[WW_NAME_SHORT];
    const struct ww_launch_result *most = NULL;
    size_t above = 0;
    uint64_t ps = 0;
    for (size_t i = 0; i < r->launch_count; i++) {
        const struct ww_launch_result *l = &r->launch[i];
        if (!ww_above_board(ww_launch_watts(l), board)) continue;
        above++;
        ps += l->time_ps;
        if (!most || ww_launch_watts(l) > ww_launch_watts(most)) most = l;
    }
    if (!above) return;
    ww_html(
        p,
        "<p class=\"note\">%zu of %zu launches, %s of the time, draw more than the %s that the board is built"
        " for (<code>board.tdp_w</code>), most of all launch %u (",
        above, r->launch_count, ww_percent(fmin(1, ww_ratio((double)ps, (double)r->time_ps)), a),
        ww_si(board, "W", b), most->index);
    ww_html_text(p, ww_kernel_name(r, most->kernel, kernel));
    ww_html(p,
            ") with %s. The board would lower its clocks; <code>warpwatt run --clock-control limit</code> "
            "does.</p>\n",
            ww_si(ww_launch_watts(most), "W", c));
}

static const char *clock_control(const struct ww_result *r) {
    for (size_t i = 0; i < r->mechanism_count; i++)
        if (strcmp(r->mechanism[i].key, "clock_control") == 0) return r->mechanism[i].value;
    return "";
}

static void key_figures(struct ww_page *p, const struct ww_result *r, const struct ww_launch_result *sum) {
    char a[32], bound[240];
    struct ww_gpu_facts facts;
    ww_gpu_facts(r->gpu_json, &facts);
    ww_html(p, "<ul class=\"key\">\n");
    figure(p, "time", ww_si((double)r->time_ps * 1e-12, "s", a));
    figure(p, "SM cycles", ww_grouped(r->cycles, a));
    uint64_t overhead = sum->counter[WW_C_LAUNCH_FRONT_CYCLES] + sum->counter[WW_C_LAUNCH_END_CYCLES];
    if (overhead) figure(p, "of these, launch overhead", ww_grouped(overhead, a));
    figure(p, "IPC", ww_plain(ww_ipc(sum), 4, a));
    figure(p, "power", r->energy_known ? ww_si(ww_watts(r->energy_j, true, r->time_ps), "W", a) : "-");
    board_figure(p, r, facts.board_w);
    if (facts.clock_mhz > 0) {
        bool limit = strcmp(clock_control(r), "limit") == 0;
        snprintf(bound, sizeof bound, "%s%s", ww_si(facts.clock_mhz * 1e6, "Hz", a),
                 limit ? ", by the board's power" : "");
        figure(p, "SM clock", bound);
    }
    figure(p, "energy", r->energy_known ? ww_si(r->energy_j, "J", a) : "- (no power table)");
    figure(p, "warp instructions", ww_grouped(r->warp_instructions, a));
    figure(p, "mode", r->mode);
    sampling(p, r);
    ww_html(p, "</ul>\n<p class=\"bound\"><strong>Bound by</strong> ");
    ww_bound_text(sum, bound);
    ww_html_text(p, bound);
    ww_html(p, ".</p>\n");
    if (strcmp(clock_control(r), "limit") != 0) board_note(p, r, facts.board_w);
    if (!ww_is_estimate(r)) return;
    ww_say_scaled(r, bound);
    ww_html(p,
            "<p class=\"note\">Sampled: figures with an interval are estimates of the whole program; %s. "
            "Launches and what is shown over time are those launches' own.</p>\n",
            bound);
}

/* How far estimates of this GPU have been from hardware. */
static void bands(struct ww_page *p, const char *gpu) {
    static const char *const head[] = {
        "of", "programs", "points", "mean error", "bias", "9 of 10 points within", NULL};
    struct ww_band band[WW_BANDS];
    size_t n = ww_bands_of(gpu, band);
    struct ww_tab t;
    ww_html(p, "<h3>Error against hardware</h3>\n");
    if (!n) ww_html(p, "<p>Not known: estimates of this GPU were not compared with a board.</p>\n");
    if (!n) return;
    ww_html(p,
            "<p>Estimates of this GPU compared with measurements: launches by their size in cycles, and "
            "microbenchmarks, as of %s. How they count: " WW_BANDS_LEGEND ".</p>\n",
            band[0].date);
    ww_tab_begin(&t, p, "Error against hardware", head, 1);
    for (size_t i = 0; i < n; i++) {
        ww_tab_text(&t, ww_band_name(&band[i]));
        ww_tab_count(&t, band[i].programs);
        ww_tab_count(&t, band[i].launches);
        ww_tab_percent(&t, band[i].error);
        ww_tab_change(&t, band[i].bias);
        ww_tab_percent(&t, band[i].p90);
    }
    ww_tab_end(&t);
}

static void provenance(struct ww_page *p, const struct ww_result *r) {
    static const char *const head[] = {"what", "value", NULL};
    struct ww_tab t;
    char seed[32];
    snprintf(seed, sizeof seed, "%" PRIu64, r->seed);
    ww_html(p, "<details><summary>Inputs: program, mechanisms, version</summary>\n");
    ww_tab_begin(&t, p, "Inputs of the run", head, 3);
    const char *const rows[][2] = {
        {"GPU", r->gpu},         {"trace", r->trace},     {"trace hash", r->trace_hash},
        {"program", r->program}, {"version", r->version}, {"seed", seed}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        ww_tab_text(&t, rows[i][0]);
        ww_tab_text(&t, rows[i][1] ? rows[i][1] : "");
    }
    for (size_t i = 0; i < r->override_count; i++) {
        char value[200];
        snprintf(value, sizeof value, "%s (%s of its own: %s)", r->override[i].value, r->gpu,
                 r->override[i].base);
        ww_tab_text(&t, r->override[i].key);
        ww_tab_text(&t, value);
    }
    for (size_t i = 0; i < r->mechanism_count; i++) {
        ww_tab_text(&t, r->mechanism[i].key);
        ww_tab_text(&t, r->mechanism[i].value);
    }
    ww_tab_end(&t);
    ww_html(p, "</details>\n");
}

/* ---- launches, the longest first ---- */

static int by_cycles(const void *a, const void *b) {
    const struct ww_launch_result *x = *(const struct ww_launch_result *const *)a;
    const struct ww_launch_result *y = *(const struct ww_launch_result *const *)b;
    if (x->cycles != y->cycles) return x->cycles < y->cycles ? 1 : -1;
    return x < y ? -1 : x > y;
}

static void add_launch(struct ww_tab *t, const struct ww_result *r, const struct ww_launch_result *l,
                       const struct ww_gpu_facts *facts) {
    char text[64];
    int top = ww_top_stall(l->warp_cycles);
    snprintf(text, sizeof text, "%u", l->index);
    ww_tab_value(t, l->index, text);
    ww_tab_kernel(t, r, l->kernel);
    snprintf(text, sizeof text, "%ux%ux%u of %ux%ux%u", l->grid[0], l->grid[1], l->grid[2], l->block[0],
             l->block[1], l->block[2]);
    ww_tab_text(t, text);
    ww_tab_count(t, l->ctas_per_sm);
    ww_tab_text(t, l->occupancy_limiter);
    ww_tab_percent(t, ww_occupancy_reached(l, facts));
    ww_tab_count(t, l->cycles);
    ww_tab_si(t, (double)l->time_ps * 1e-12, "s");
    ww_tab_value(t, ww_ipc(l), ww_plain(ww_ipc(l), 4, (char[32]){0}));
    ww_tab_si(t, ww_launch_watts(l), "W");
    if (facts->board_w > 0) ww_tab_part_of(t, ww_ratio(ww_launch_watts(l), facts->board_w));
    ww_tab_si(t, l->energy.known ? l->energy.total_j : -1, "J");
    ww_tab_text(t, top < 0 ? "-" : ww_state_name((enum ww_warp_state)top));
}

static void launches(struct ww_page *p, const struct ww_result *r, const struct ww_launch_result **order) {
    const char *head[16] = {"launch",    "kernel", "grid of blocks", "CTAs/SM", "limited by",
                            "occupancy", "cycles", "time",           "IPC",     "power"};
    unsigned n = 10;
    struct ww_gpu_facts facts;
    struct ww_tab t;
    size_t shown = r->launch_count < LAUNCH_ROWS ? r->launch_count : LAUNCH_ROWS;
    ww_gpu_facts(r->gpu_json, &facts);
    if (facts.board_w > 0) head[n++] = "of the board's";
    head[n++] = "energy";
    head[n++] = "top stall";
    ww_html(p, "<h3>Launches</h3>\n");
    if (shown < r->launch_count)
        ww_html(p, "<p class=\"note\">The %zu longest of %zu launches.</p>\n", shown, r->launch_count);
    ww_tab_begin(&t, p, "Launches, the longest first", head, 1u << 1 | 1u << 2 | 1u << 4 | 1u << (n - 1));
    for (size_t i = 0; i < shown; i++) add_launch(&t, r, order[i], &facts);
    ww_tab_end(&t);
}

/* ---- copies, in their order ---- */

static void add_copy(struct ww_tab *t, size_t number, const struct ww_copy_span *c) {
    char text[64];
    ww_tab_count(t, number);
    snprintf(text, sizeof text, "%s%s", ww_copy_way_name(c->way), c->pageable ? ", not pinned" : "");
    ww_tab_text(t, text);
    ww_tab_count(t, c->stream);
    ww_tab_count(t, c->launch);
    snprintf(text, sizeof text, "%u", c->engine);
    ww_tab_text(t, c->engine == WW_COPY_NO_ENGINE ? "-" : text);
    ww_tab_count(t, c->bytes);
    ww_tab_si(t, (double)c->start_ps * 1e-12, "s");
    ww_tab_si(t, (double)c->end_ps * 1e-12, "s");
}

static void copies(struct ww_page *p, const struct ww_result *r) {
    static const char *const head[] = {"copy", "way", "stream", "before launch", "engine", "bytes",
                                       "from", "to",  NULL};
    struct ww_tab t;
    char all[32], busy[32];
    size_t shown = r->copy_count < LAUNCH_ROWS ? r->copy_count : LAUNCH_ROWS;
    if (!shown) return;
    ww_html(p, "<h3>Copies</h3>\n<p class=\"note\">With copies the program takes %s; launches run in %s of it.",
            ww_si((double)r->with_copies_ps * 1e-12, "s", all),
            ww_si((double)ww_launches_ps(r) * 1e-12, "s", busy));
    if (shown < r->copy_count) ww_html(p, " The first %zu of %zu copies.", shown, r->copy_count);
    ww_html(p, "</p>\n");
    ww_tab_begin(&t, p, "Copies in their order", head, 1u << 1 | 1u << 4);
    for (size_t i = 0; i < shown; i++) add_copy(&t, i, &r->copy[i]);
    ww_tab_end(&t);
}

/* ---- stacks ---- */

static bool put_shares(const uint64_t slot[WW_SLOT_COUNT], double out[WW_SLOT_GROUPS]) {
    double total = (double)ww_sum_u64(slot, WW_SLOT_COUNT);
    for (int s = 0; s < WW_SLOT_COUNT && total > 0; s++)
        out[ww_group_of_slot((enum ww_slot)s)] += (double)slot[s] / total;
    return total > 0;
}

static void slot_stack(struct ww_page *p, const struct ww_result *r, const struct ww_launch_result *sum,
                       const struct ww_launch_result **order) {
    static const char title[] = "Issue slots: what each scheduler did with each cycle";
    double value[STACK_ROWS + 1][WW_SLOT_GROUPS] = {{0}};
    char names[STACK_ROWS + 1][64] = {"all launches"};
    const char *label[STACK_ROWS + 1] = {names[0]};
    size_t rows = 1;
    if (!put_shares(sum->slot, value[0])) return;
    for (size_t i = 0; i < r->launch_count && i < STACK_ROWS && r->launch_count > 1; i++) {
        char kernel[WW_NAME_SHORT];
        snprintf(names[rows], sizeof names[rows], "%u %.50s", order[i]->index,
                 ww_kernel_name(r, order[i]->kernel, kernel));
        label[rows] = names[rows];
        rows += put_shares(order[i]->slot, value[rows]);
    }
    ww_chart_bars(
        p, &(struct ww_chart){.title = title,
                              .about = "Horizontal bars of the shares of issue slots by what they were used "
                                       "for or lost to, for all launches and the longest ones.",
                              .row_head = "launch",
                              .x_label = "share of issue slots",
                              .unit = "%",
                              .label = label,
                              .rows = rows,
                              .series = WW_SLOT_GROUPS,
                              .one = ww_slot_groups,
                              .value = &value[0][0]});
}

static void cpi_table(struct ww_page *p, const struct ww_launch_result *sum) {
    static const char *const head[] = {"cause", "slots", "share", "CPI", "meaning", NULL};
    struct ww_tab t;
    double total = (double)ww_sum_u64(sum->slot, WW_SLOT_COUNT);
    if (total <= 0) return;
    ww_tab_begin(&t, p, "CPI stack: issue slots per warp instruction, by cause", head, 1u | 1u << 4);
    for (int s = 0; s < WW_SLOT_COUNT; s++) {
        double v = (double)sum->slot[s], cpi = ww_ratio(v, (double)sum->warp_instructions);
        if (v <= 0) continue;
        ww_tab_text(&t, ww_slot_name((enum ww_slot)s));
        ww_tab_si(&t, v, "");
        ww_tab_percent(&t, v / total);
        ww_tab_value(&t, cpi, ww_plain(cpi, 4, (char[32]){0}));
        ww_tab_text(&t, ww_slot_help((enum ww_slot)s));
    }
    ww_tab_end(&t);
}

static void state_table(struct ww_page *p, const struct ww_launch_result *sum) {
    static const char *const head[] = {"state",   "warp-cycles", "share", "Nsight Compute's name",
                                       "meaning", NULL};
    struct ww_tab t;
    ww_tab_begin(&t, p, "Warp states: where resident warps spent their cycles", head, 1u | 3u << 3);
    for (int s = 0; s < WW_STATE_COUNT; s++) {
        double v = (double)sum->warp_cycles[s];
        if (v <= 0) continue;
        ww_tab_text(&t, ww_state_name((enum ww_warp_state)s));
        ww_tab_si(&t, v, "");
        ww_tab_percent(&t, ww_ratio(v, (double)sum->resident_warp_cycles));
        ww_tab_text(&t, ww_state_nsight((enum ww_warp_state)s));
        ww_tab_text(&t, ww_state_help((enum ww_warp_state)s));
    }
    ww_tab_end(&t);
}

static void title(struct ww_page *p, const struct ww_result *r, int64_t id) {
    const char *slash = strrchr(r->trace, '/');
    char mode[80];
    ww_html(p, "<section>\n<h2 id=\"run-%" PRId64 "\">Run %" PRId64 ": ", id, id);
    ww_html_text(p, slash ? slash + 1 : r->trace);
    ww_html(p, " on ");
    ww_html_text(p, r->gpu);
    ww_html(p, "</h2>\n<p class=\"named\">");
    ww_say_mode(r, mode);
    mode[0] = (char)toupper((unsigned char)mode[0]);
    ww_html_text(p, mode);
    for (size_t i = 0; i < r->override_count; i++) {
        ww_html(p, i ? ", " : " with ");
        ww_html_text(p, r->override[i].key);
        ww_html(p, "=");
        ww_html_text(p, r->override[i].value);
        ww_html(p, " (");
        ww_html_text(p, r->override[i].base);
        ww_html(p, ")");
    }
    ww_html(p, "</p>\n");
}

void ww_html_run(struct ww_page *p, const struct ww_result *r, int64_t id, const struct ww_trace *trace) {
    const struct ww_launch_result **order = calloc(r->launch_count + 1, sizeof *order);
    struct ww_launch_result sum;
    if (!order) {
        p->failed = true;
        return;
    }
    for (size_t i = 0; i < r->launch_count; i++) order[i] = &r->launch[i];
    qsort(order, r->launch_count, sizeof *order, by_cycles);
    ww_sum_launches(r, &sum);
    title(p, r, id);
    key_figures(p, r, &sum);
    provenance(p, r);
    ww_html(p, "<h3>Where the cycles go</h3>\n<div class=\"grid\">\n");
    slot_stack(p, r, &sum, order);
    ww_html_time(p, r, false);
    ww_html(p, "</div>\n");
    cpi_table(p, &sum);
    if (sum.resident_warp_cycles) state_table(p, &sum);
    ww_html_tracks(p, r);
    ww_html_light(p, r, order);
    ww_html(p, "<h3>Memory</h3>\n<div class=\"grid\">\n");
    ww_html_memory(p, r, &sum);
    ww_html(p, "</div>\n");
    ww_html_energy(p, r, &sum);
    launches(p, r, order);
    copies(p, r);
    ww_html_listing(p, r, trace);
    ww_html_instructions(p, r);
    bands(p, r->gpu);
    ww_html(p, "</section>\n");
    free(order);
}
