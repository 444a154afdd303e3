/* What changed over time: warp states, power, clocks. Epochs of all launches, one after the other, in at most
 * so many steps as the page has room for. */
#include "../../estimator/result/names.h"
#include "../../estimator/result/result.h"
#include "page.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

struct course {
    size_t rows;
    double *at;    /* rows + 1 times in seconds */
    double *state; /* rows x WW_STATE_GROUPS: mean resident warps */
    double *power; /* rows x WW_ENERGY_GROUPS: watts; NULL: not known */
    double *mhz;   /* rows x domains */
};

/* How long an epoch took; older databases know only the launch's time. */
static double epoch_seconds(const struct ww_launch_result *l, size_t i) {
    if (l->epoch[i].time_ps) return (double)l->epoch[i].time_ps * 1e-12;
    return l->cycles ? (double)l->time_ps * 1e-12 * (double)l->epoch[i].cycles / (double)l->cycles : 0;
}

static size_t epochs_of(const struct ww_result *r) {
    size_t n = 0;
    for (size_t i = 0; i < r->launch_count; i++) n += r->launch[i].epoch_count;
    return n;
}

static bool power_known(const struct ww_result *r) {
    for (size_t i = 0; i < r->launch_count; i++)
        if (!r->launch[i].epoch_energy && r->launch[i].epoch_count) return false;
    return r->launch_count > 0;
}

static bool open_course(struct course *c, size_t rows, bool power) {
    *c = (struct course){.rows = rows};
    c->at = calloc(rows + 2, sizeof *c->at);
    c->state = calloc((rows + 1) * WW_STATE_GROUPS, sizeof *c->state);
    c->mhz = calloc((rows + 1) * WW_DOMAIN_COUNT, sizeof *c->mhz);
    if (power) c->power = calloc((rows + 1) * WW_ENERGY_GROUPS, sizeof *c->power);
    return c->at && c->state && c->mhz && (c->power || !power);
}

static void close_course(struct course *c) {
    free(c->at);
    free(c->state);
    free(c->power);
    free(c->mhz);
}

/* The clocks at a cycle. */
static const double *clocks_at(const struct ww_launch_result *l, uint64_t cycle) {
    static const double none[WW_DOMAIN_COUNT];
    const double *mhz = none;
    for (size_t i = 0; i < l->point_count && l->point[i].cycle <= cycle; i++) mhz = l->point[i].mhz;
    return mhz;
}

/* Adds an epoch to its row; sums that divide() turns into means over time. */
static void add_epoch(struct course *c, size_t row, const struct ww_launch_result *l, size_t i,
                      double seconds) {
    const struct ww_epoch *e = &l->epoch[i];
    const double *mhz = clocks_at(l, e->first_cycle);
    for (int s = 0; s < WW_STATE_COUNT && e->cycles; s++)
        c->state[row * WW_STATE_GROUPS + ww_group_of_state((enum ww_warp_state)s)] +=
            (double)e->warp_cycles[s] / (double)e->cycles * seconds;
    for (int k = 0; c->power && k < WW_COMPONENT_COUNT; k++)
        c->power[row * WW_ENERGY_GROUPS + ww_energy_group((enum ww_component)k)] +=
            l->epoch_energy[i].dynamic_j[k] + l->epoch_energy[i].static_j[k];
    for (int d = 0; d < WW_DOMAIN_COUNT; d++) c->mhz[row * WW_DOMAIN_COUNT + (size_t)d] += mhz[d] * seconds;
}

static void divide(struct course *c) {
    for (size_t i = 0; i < c->rows; i++) {
        double seconds = c->at[i + 1] - c->at[i];
        double by = seconds > 0 ? 1 / seconds : 0;
        for (size_t k = 0; k < WW_STATE_GROUPS; k++) c->state[i * WW_STATE_GROUPS + k] *= by;
        for (size_t k = 0; c->power && k < WW_ENERGY_GROUPS; k++) c->power[i * WW_ENERGY_GROUPS + k] *= by;
        for (size_t k = 0; k < WW_DOMAIN_COUNT; k++) c->mhz[i * WW_DOMAIN_COUNT + k] *= by;
    }
}

static bool make_course(struct course *c, const struct ww_result *r, unsigned most) {
    size_t epochs = epochs_of(r), merged = (epochs + most - 1) / most, n = 0;
    if (!merged) merged = 1;
    if (!open_course(c, (epochs + merged - 1) / merged, power_known(r))) return false;
    double now = 0;
    for (size_t i = 0; i < r->launch_count; i++) {
        const struct ww_launch_result *l = &r->launch[i];
        for (size_t e = 0; e < l->epoch_count; e++, n++) {
            double seconds = epoch_seconds(l, e);
            add_epoch(c, n / merged, l, e, seconds);
            now += seconds;
            c->at[n / merged + 1] = now;
        }
    }
    divide(c);
    return true;
}

static void states(struct ww_page *p, const struct course *c) {
    ww_chart_areas(
        p, &(struct ww_chart){.title = "Warp states over time",
                              .about = "Stacked areas of the mean number of resident warps on all SMs, by "
                                       "what they did, over time.",
                              .row_head = "from",
                              .x_label = "time",
                              .y_label = "resident warps",
                              .unit = "",
                              .at = c->at,
                              .rows = c->rows,
                              .series = WW_STATE_GROUPS,
                              .one = ww_state_groups,
                              .value = c->state});
}

static void power(struct ww_page *p, const struct course *c) {
    if (!c->power) return;
    ww_chart_areas(p, &(struct ww_chart){.title = "Power over time",
                                         .about = "Stacked areas of power by groups of components, over time.",
                                         .row_head = "from",
                                         .x_label = "time",
                                         .y_label = "power",
                                         .unit = "W",
                                         .at = c->at,
                                         .rows = c->rows,
                                         .series = WW_ENERGY_GROUPS,
                                         .one = ww_power_groups,
                                         .value = c->power});
}

/* ---- clocks, where a governor changed them ---- */

static bool clocks_change(const struct course *c) {
    for (size_t i = WW_DOMAIN_COUNT; i < c->rows * WW_DOMAIN_COUNT; i++)
        if (fabs(c->mhz[i] - c->mhz[i - WW_DOMAIN_COUNT]) > 0.5) return true;
    return false;
}

static const struct ww_series domains[WW_DOMAIN_COUNT] = {{"SMs", 2}, {"interconnect and L2", 5}, {"DRAM", 4}};

static void draw_clock(struct ww_plot *plot, const struct course *c, unsigned domain, double time) {
    static const char *const dash[WW_DOMAIN_COUNT] = {"", " stroke-dasharray=\"9 5\"",
                                                      " stroke-dasharray=\"3 4\""};
    ww_html(plot->page, "<path fill=\"none\" stroke=\"var(--c%u)\" stroke-width=\"%u\"%s d=\"M%.1f %.1f",
            domains[domain].color, 4 - domain, dash[domain], ww_plot_x(plot, c->at[0] * time),
            ww_plot_y(plot, c->mhz[domain]));
    for (size_t i = 0; i < c->rows; i++)
        ww_html(plot->page, "V%.1fH%.1f", ww_plot_y(plot, c->mhz[i * WW_DOMAIN_COUNT + domain]),
                ww_plot_x(plot, c->at[i + 1] * time));
    ww_html(plot->page, "\"/>\n");
}

static void draw_clocks(struct ww_plot *plot, const struct course *c) {
    struct ww_scale time = ww_scale_of(c->at[c->rows], "s");
    double most = 0;
    char label[40];
    for (size_t i = 0; i < c->rows * WW_DOMAIN_COUNT; i++) most = fmax(most, c->mhz[i]);
    ww_plot_field(plot, 56, 464, 30, 172);
    plot->x0 = c->at[0] * time.factor;
    plot->x1 = c->at[c->rows] * time.factor;
    plot->y1 = most * 1.05;
    snprintf(label, sizeof label, "time (%s)", time.unit);
    ww_plot_axis_x(plot, label, 5);
    ww_plot_axis_y(plot, "MHz", 4);
    for (unsigned d = 0; d < WW_DOMAIN_COUNT; d++) draw_clock(plot, c, d, time.factor);
}

static void clocks(struct ww_page *p, const struct course *c) {
    static const char *const head[] = {"from", "SMs", "interconnect and L2", "DRAM", NULL};
    static const char title[] = "Clocks over time";
    struct ww_plot plot;
    struct ww_tab t;
    char text[32];
    if (!clocks_change(c)) return;
    ww_figure_begin(p, title);
    ww_plot_begin(&plot, p, 480, 220, title, "Lines of the clocks of the three domains over time.");
    draw_clocks(&plot, c);
    ww_plot_end(&plot);
    ww_figure_legend(p, domains, WW_DOMAIN_COUNT);
    ww_figure_data(p);
    ww_tab_begin(&t, p, title, head, 0);
    for (size_t i = 0; i < c->rows; i++) {
        if (i && memcmp(&c->mhz[3 * i], &c->mhz[3 * i - 3], 3 * sizeof *c->mhz) == 0) continue;
        ww_tab_value(&t, c->at[i], ww_si(c->at[i], "s", text));
        for (size_t d = 0; d < WW_DOMAIN_COUNT; d++) ww_tab_si(&t, c->mhz[3 * i + d] * 1e6, "Hz");
    }
    ww_tab_end(&t);
    ww_figure_end(p);
}

void ww_html_time(struct ww_page *p, const struct ww_result *r, bool watts) {
    struct course c;
    if (epochs_of(r) == 0) return;
    if (make_course(&c, r, p->points)) {
        if (watts) {
            power(p, &c);
            clocks(p, &c);
        } else {
            states(p, &c);
        }
    } else {
        p->failed = true;
    }
    close_course(&c);
}
