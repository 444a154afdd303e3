/* Two runs side by side: speed-up, energy, and where the difference comes from.
 *
 * A launch's time is laid on its issue slots: each cause gets the time times its share of all slots, and
 * the time that launches take outside of their active cycles (launch.overhead_us) is a cause of its own. So the
 * differences by cause add up to the difference in time, also between GPUs of different clocks. */
#include "../estimator/api/run.h"
#include "../estimator/api/report.h"
#include "../estimator/result/result.h"
#include "../estimator/result/names.h"
#include "../estimator/base/locale.h"
#include "../estimator/base/err.h"
#include "intervals.h"
#include "parts.h"
#include "text.h"
#include <inttypes.h>
#include <math.h>
#include <string.h>

enum { CAUSES = WW_SLOT_COUNT + 1, OVERHEAD = WW_SLOT_COUNT, WARNINGS = 6 };

struct side {
    const struct ww_result *result;
    int64_t id;
    struct ww_gpu_facts facts;
    struct ww_launch_result sum;
    double seconds, time[CAUSES];
};

static void lay_time(struct side *s) {
    for (size_t i = 0; i < s->result->launch_count; i++) {
        const struct ww_launch_result *l = &s->result->launch[i];
        double weight = ww_launch_weight(s->result, l->index);
        double seconds = (double)l->time_ps / 1e12 * weight, slots = (double)ww_sum_u64(l->slot, WW_SLOT_COUNT);
        double overhead = (double)ww_launch_latency_ps(l, &s->facts) * 1e-12 * weight;
        if (overhead > seconds || slots == 0) overhead = seconds;
        s->time[OVERHEAD] += overhead;
        for (int c = 0; c < WW_SLOT_COUNT && slots > 0; c++)
            s->time[c] += (seconds - overhead) * ((double)l->slot[c] / slots);
    }
}

/* Of an estimate, the launches that were replayed whole stand for all: their times are scaled to the run's. */
static void scale_time(struct side *s) {
    double part = 0;
    for (int c = 0; c < CAUSES; c++) part += s->time[c];
    for (int c = 0; c < CAUSES && part > 0; c++) s->time[c] *= s->seconds / part;
}

static void make_side(struct side *s, const struct ww_result *result, int64_t id) {
    *s = (struct side){.result = result, .id = id, .seconds = (double)result->time_ps / 1e12};
    ww_gpu_facts(result->gpu_json, &s->facts);
    ww_sum_launches(result, &s->sum);
    lay_time(s);
    if (ww_is_estimate(result)) scale_time(s);
}

/* How the figures came to be: a sampled run that replayed everything is as good as a full one. */
static const char *kind_of(const struct ww_result *r) {
    return strcmp(r->mode, "sampled") == 0 && !ww_is_estimate(r) ? "full" : r->mode;
}

/* True if how time and energy divide is known: a sample may have replayed no launch whole. */
static bool divided(const struct side *s) {
    return !ww_is_estimate(s->result) || s->result->launch_count > 0;
}

static const char *cause_name(int c) {
    return c == OVERHEAD ? "launch_overhead" : ww_slot_name((enum ww_slot)c);
}

/* Texts of what makes the comparison doubtful; returns their number. */
static int find_warnings(const struct side *a, const struct side *b, const struct ww_ratio_intervals *intervals,
                         const char *out[WARNINGS]) {
    int n = 0;
    if (strcmp(a->result->trace_hash, b->result->trace_hash) != 0)
        out[n++] = "the runs replay different traces: the figures are of different work";
    else if (a->sum.warp_instructions != b->sum.warp_instructions)
        out[n++] = "the runs replay different parts of the trace: the figures are of different work";
    if (strcmp(a->result->version, b->result->version) != 0)
        out[n++] = "the runs were computed by different versions of warpwatt";
    if (a->result->energy_known != b->result->energy_known)
        out[n++] = "only one run has a power table: energies cannot be compared";
    if (strcmp(kind_of(a->result), kind_of(b->result)) != 0)
        out[n++] = "the runs' modes differ: so does what is estimated of them, whatever the designs";
    if (!divided(a) || !divided(b))
        out[n++] = "no launch of a sampled run was replayed whole: only totals are compared";
    else if (ww_is_estimate(a->result) || ww_is_estimate(b->result))
        out[n++] = "of a sampled run, figures by cause, state, memory level and component are those of the "
                   "launches replayed whole, weighted by stratum and scaled to the run";
    if (ww_order_is_open(intervals))
        out[n++] = "by the intervals of the runs either of them may be the faster one";
    return n;
}

static bool energies(const struct side *a, const struct side *b) {
    return a->result->energy_known && b->result->energy_known;
}

/* Gain in energy-delay product, -1 if not known. */
static double edp_gain(const struct side *a, const struct side *b) {
    if (!energies(a, b)) return -1;
    return ww_ratio(a->result->energy_j * a->seconds, b->result->energy_j * b->seconds);
}

/* ---- JSON ---- */

static void write_run(struct ww_jsonw *w, const char *key, const struct side *s) {
    ww_jsonw_open(w, key, '{');
    ww_part_summary(w, s->result, s->id);
    ww_jsonw_close(w, '}');
}

static void write_pair(struct ww_jsonw *w, const char *key, double a, double b) {
    ww_jsonw_open_flat(w, key, '{');
    ww_jsonw_f64(w, "base", a);
    ww_jsonw_f64(w, "new", b);
    ww_jsonw_f64(w, "change", b - a);
    ww_jsonw_close(w, '}');
}

static void write_times(struct ww_jsonw *w, const struct side *a, const struct side *b) {
    if (!divided(a) || !divided(b)) {
        ww_jsonw_null(w, "time_s_by_cause");
        return;
    }
    ww_jsonw_open(w, "time_s_by_cause", '{');
    for (int c = 0; c < CAUSES; c++) write_pair(w, cause_name(c), a->time[c], b->time[c]);
    ww_jsonw_close(w, '}');
}

static void write_states(struct ww_jsonw *w, const struct side *a, const struct side *b) {
    if (!divided(a) || !divided(b)) {
        ww_jsonw_null(w, "warp_cycles");
        return;
    }
    ww_jsonw_open(w, "warp_cycles", '{');
    for (int s = 0; s < WW_STATE_COUNT; s++) {
        uint64_t x = a->sum.warp_cycles[s], y = b->sum.warp_cycles[s];
        ww_jsonw_open_flat(w, ww_state_name((enum ww_warp_state)s), '{');
        ww_jsonw_u64(w, "base", x);
        ww_jsonw_u64(w, "new", y);
        ww_part_known(w, "base_share", ww_ratio((double)x, (double)a->sum.resident_warp_cycles));
        ww_part_known(w, "new_share", ww_ratio((double)y, (double)b->sum.resident_warp_cycles));
        ww_jsonw_close(w, '}');
    }
    ww_jsonw_close(w, '}');
}

static double component(const struct side *s, int c) {
    return s->sum.energy.dynamic_j[c] + s->sum.energy.static_j[c];
}

static void write_energies(struct ww_jsonw *w, const struct side *a, const struct side *b) {
    if (!energies(a, b) || !divided(a) || !divided(b)) {
        ww_jsonw_null(w, "energy_j_by_component");
        return;
    }
    ww_jsonw_open(w, "energy_j_by_component", '{');
    for (int c = 0; c < WW_COMPONENT_COUNT; c++)
        write_pair(w, ww_component_name((enum ww_component)c), component(a, c), component(b, c));
    ww_jsonw_close(w, '}');
}

static void write_differences(struct ww_jsonw *w, const struct side *a, const struct side *b) {
    struct ww_difference d[WW_DIFFERENCES];
    size_t count = ww_differences(a->result, b->result, d);
    ww_jsonw_open(w, "differences", '{');
    for (size_t i = 0; i < count && i < WW_DIFFERENCES; i++) {
        ww_jsonw_open_flat(w, d[i].what, '{');
        ww_jsonw_str(w, "base", d[i].a);
        ww_jsonw_str(w, "new", d[i].b);
        ww_jsonw_close(w, '}');
    }
    ww_jsonw_close(w, '}');
}

static enum ww_code compare_json(const struct side *a, const struct side *b, FILE *out,
                                 struct ww_error *error) {
    const char *warning[WARNINGS];
    struct ww_ratio_intervals intervals;
    WW_TRY(ww_find_intervals(a->result, b->result, &intervals, error));
    int warnings = find_warnings(a, b, &intervals, warning);
    struct ww_jsonw w;
    ww_jsonw_begin(&w, out);
    ww_jsonw_open(&w, NULL, '{');
    write_run(&w, "base", a);
    write_run(&w, "new", b);
    write_differences(&w, a, b);
    ww_part_known(&w, "speedup", ww_ratio(a->seconds, b->seconds));
    ww_write_intervals(&w, &intervals);
    ww_part_known(&w, "energy_ratio", energies(a, b) ? ww_ratio(b->result->energy_j, a->result->energy_j) : -1);
    ww_part_known(&w, "edp_gain", edp_gain(a, b));
    write_times(&w, a, b);
    write_states(&w, a, b);
    write_energies(&w, a, b);
    ww_part_memory(&w, "base_memory", &a->sum);
    ww_part_memory(&w, "new_memory", &b->sum);
    ww_jsonw_open(&w, "warnings", '[');
    for (int i = 0; i < warnings; i++) ww_jsonw_str(&w, NULL, warning[i]);
    ww_jsonw_close(&w, ']');
    ww_jsonw_close(&w, '}');
    return ww_jsonw_end(&w, error);
}

/* ---- text ---- */

static void add_row(struct ww_grid *g, const char *const *cells) {
    for (unsigned i = 0; i < g->columns; i++) ww_grid_add(g, cells[i]);
}

static void name_run(const struct side *s, const char *role, FILE *out) {
    char gpu[80], trace[160], with[400], mode[80];
    ww_say_overrides(s->result, with, sizeof with);
    ww_say_mode(s->result, mode);
    ww_clean_text(s->result->gpu, gpu, sizeof gpu);
    ww_clean_text(s->result->trace, trace, sizeof trace);
    fprintf(out, "%s ", role);
    if (s->id >= 0) fprintf(out, "run %" PRId64 ": ", s->id);
    fprintf(out, "%s on %s%s, %s\n", trace, gpu, with, mode);
}

static enum ww_code print_differences(const struct side *a, const struct side *b, FILE *out,
                                      struct ww_error *error) {
    struct ww_difference d[WW_DIFFERENCES];
    size_t count = ww_differences(a->result, b->result, d);
    if (!count) return WW_OK;
    struct ww_grid g = {.columns = 3, .left = 1u};
    add_row(&g, (const char *[]){"", "base", "new"});
    for (size_t i = 0; i < count && i < WW_DIFFERENCES; i++)
        add_row(&g, (const char *[]){d[i].what, d[i].a, d[i].b});
    fputs("\nWhat the runs differ in\n", out);
    WW_TRY(ww_grid_print(&g, out, error));
    if (count > WW_DIFFERENCES) fprintf(out, "  and %zu more\n", count - WW_DIFFERENCES);
    return WW_OK;
}

/* Ratio as a factor, "-" if not known. */
static const char *factor(double r, char out[32]) {
    if (r < 0) return strcpy(out, "-");
    snprintf(out, 32, "%.3fx", r);
    return out;
}

static void add_figure(struct ww_grid *g, const char *name, double a, double b, const char *unit) {
    char t[4][32];
    add_row(g, (const char *[]){name, ww_si(a, unit, t[0]), ww_si(b, unit, t[1]),
                                a < 0 || b < 0 ? "-" : ww_si_signed(b - a, unit, t[2]),
                                a < 0 || b < 0 ? "-" : factor(ww_ratio(b, a), t[3])});
}

static enum ww_code print_figures(const struct side *a, const struct side *b, FILE *out,
                                  struct ww_error *error) {
    const struct ww_result *x = a->result, *y = b->result;
    struct ww_grid g = {.columns = 5, .left = 1u};
    add_row(&g, (const char *[]){"", "base", "new", "change", "new/base"});
    add_figure(&g, "time", a->seconds, b->seconds, "s");
    add_figure(&g, "SM cycles", (double)x->cycles, (double)y->cycles, "");
    add_figure(&g, "IPC", ww_ipc(&a->sum), ww_ipc(&b->sum), "");
    add_figure(&g, "energy", x->energy_known ? x->energy_j : -1, y->energy_known ? y->energy_j : -1, "J");
    add_figure(&g, "power", ww_watts(x->energy_j, x->energy_known, x->time_ps),
               ww_watts(y->energy_j, y->energy_known, y->time_ps), "W");
    return ww_grid_print(&g, out, error);
}

/* Times of causes are shares of whole picoseconds: a difference in their last digits is rounding. */
static double change(double a, double b) {
    return fabs(b - a) <= 1e-6 * fabs(a) ? 0 : b - a;
}

/* Order of `count` differences, the largest change first. */
static void rank_changes(const double *a, const double *b, int *order, int count) {
    for (int i = 0; i < count; i++) {
        int at = i;
        for (; at > 0 && fabs(b[order[at - 1]] - a[order[at - 1]]) < fabs(b[i] - a[i]); at--)
            order[at] = order[at - 1];
        order[at] = i;
    }
}

/* A table of two values and their change, largest change first, rows that are zero twice left out. */
static enum ww_code print_changes(const char *title, const double *a, const double *b, int count,
                                  const char *(*name)(int), const char *unit, FILE *out,
                                  struct ww_error *error) {
    enum { MOST = WW_COMPONENT_COUNT + WW_STATE_COUNT + CAUSES };
    int order[MOST];
    double whole = 0;
    char t[4][32];
    for (int i = 0; i < count; i++) whole += a[i];
    rank_changes(a, b, order, count);
    struct ww_grid g = {.columns = 5, .left = 1u};
    add_row(&g, (const char *[]){"", "base", "new", "change", "of base total"});
    for (int k = 0; k < count; k++) {
        int i = order[k];
        if (a[i] == 0 && b[i] == 0) continue;
        snprintf(t[3], sizeof t[3], "%+.1f %%", whole > 0 ? 100 * change(a[i], b[i]) / whole : 0);
        add_row(&g, (const char *[]){name(i), ww_si(a[i], unit, t[0]), ww_si(b[i], unit, t[1]),
                                     ww_si_signed(change(a[i], b[i]), unit, t[2]), whole > 0 ? t[3] : "-"});
    }
    fprintf(out, "\n%s\n", title);
    return ww_grid_print(&g, out, error);
}

static const char *state_name(int s) {
    return ww_state_name((enum ww_warp_state)s);
}

static const char *component_name(int c) {
    return ww_component_name((enum ww_component)c);
}

static enum ww_code print_parts(const struct side *a, const struct side *b, FILE *out, struct ww_error *error) {
    double x[WW_COMPONENT_COUNT + WW_STATE_COUNT], y[WW_COMPONENT_COUNT + WW_STATE_COUNT];
    if (!divided(a) || !divided(b)) return WW_OK;
    WW_TRY(print_changes("Time by what issue slots were used for or lost to", a->time, b->time, CAUSES,
                         cause_name, "s", out, error));
    for (int s = 0; s < WW_STATE_COUNT; s++) {
        x[s] = (double)a->sum.warp_cycles[s];
        y[s] = (double)b->sum.warp_cycles[s];
    }
    WW_TRY(print_changes("Warp-cycles by state", x, y, WW_STATE_COUNT, state_name, "", out, error));
    if (!energies(a, b)) return WW_OK;
    for (int c = 0; c < WW_COMPONENT_COUNT; c++) {
        x[c] = component(a, c);
        y[c] = component(b, c);
    }
    return print_changes("Energy by component", x, y, WW_COMPONENT_COUNT, component_name, "J", out, error);
}

static enum ww_code compare_text(const struct side *a, const struct side *b, FILE *out,
                                 struct ww_error *error) {
    const char *warning[WARNINGS];
    struct ww_ratio_intervals intervals;
    WW_TRY(ww_find_intervals(a->result, b->result, &intervals, error));
    int warnings = find_warnings(a, b, &intervals, warning);
    char t[3][32];
    name_run(a, "base", out);
    name_run(b, "new ", out);
    for (int i = 0; i < warnings; i++) fprintf(out, "warning: %s\n", warning[i]);
    fprintf(out, "\nspeed-up %s", factor(ww_ratio(a->seconds, b->seconds), t[0]));
    if (energies(a, b))
        fprintf(out, ", energy %s of base's, energy-delay gain %s",
                factor(ww_ratio(b->result->energy_j, a->result->energy_j), t[1]), factor(edp_gain(a, b), t[2]));
    fputs("\n", out);
    ww_print_intervals(&intervals, a->result->confidence, out);
    WW_TRY(print_differences(a, b, out, error));
    fputs("\n", out);
    WW_TRY(print_figures(a, b, out, error));
    WW_TRY(print_parts(a, b, out, error));
    return ww_out_check(out, error);
}

enum ww_code ww_report_compare(const struct ww_result *a, int64_t a_id, const struct ww_result *b, int64_t b_id,
                               bool json, FILE *out, struct ww_error *error) {
    WW_PLAIN_LOCALE;
    struct side x, y;
    make_side(&x, a, a_id);
    make_side(&y, b, b_id);
    return json ? compare_json(&x, &y, out, error) : compare_text(&x, &y, out, error);
}
