/* Markdown tables for issues and notes. Names are escaped so that they stay texts: what Markdown or HTML would
 * read as a mark has a backslash, or is an entity, and a name is never longer than 80 bytes. */
#include "../estimator/api/report.h"
#include "../estimator/result/result.h"
#include "../estimator/result/names.h"
#include "../estimator/result/explored.h"
#include "../estimator/base/locale.h"
#include "../estimator/base/err.h"
#include "figures.h"
#include "text.h"
#include <ctype.h>
#include <inttypes.h>
#include <math.h>
#include <string.h>

enum { MOST = 80, LONG_MOST = 480, FRONT_ROWS = 30, EFFECT_ROWS = 12 };

static void put_clean(FILE *out, const char *clean) {
    for (const char *p = clean; *p; p++) {
        if (*p == '<')
            fputs("&lt;", out);
        else if (*p == '&')
            fputs("&amp;", out);
        else if (*p == '@' || *p == '#') /* mentions and references */
            fprintf(out, "&#%d;", *p);
        else if (*p == '_' && p > clean && isalnum((unsigned char)p[-1]) && isalnum((unsigned char)p[1]))
            fputc('_', out); /* within a word */
        else if (strchr("\\|`*_[]~>!", *p))
            fprintf(out, "\\%c", *p);
        else
            fputc(*p, out);
    }
}

static void put_text(FILE *out, const char *s) {
    char clean[MOST + 1];
    ww_clean_text(s, clean, sizeof clean);
    put_clean(out, clean);
}

/* A list of settings, whose names are clean. */
static void long_cell(FILE *out, const char *s) {
    char clean[LONG_MOST + 1];
    ww_clean_text(s, clean, sizeof clean);
    fputs("| ", out);
    put_clean(out, clean);
    fputc(' ', out);
}

static void cell(FILE *out, const char *s) {
    fputs("| ", out);
    put_text(out, s);
    fputc(' ', out);
}

static void row_end(FILE *out) {
    fputs("|\n", out);
}

/* Columns whose bit in `left` is set hold text. */
static void head(FILE *out, const char *const *names, unsigned left) {
    unsigned n = 0;
    for (; names[n]; n++) cell(out, names[n]);
    row_end(out);
    for (unsigned i = 0; i < n; i++) fputs(left >> i & 1 ? "|---" : "|--:", out);
    row_end(out);
}

static void title(FILE *out, const struct ww_result *r, int64_t id) {
    const char *slash = strrchr(r->trace, '/');
    char with[400], mode[80];
    fprintf(out, "### Run %" PRId64 ": ", id);
    put_text(out, slash ? slash + 1 : r->trace);
    fputs(" on ", out);
    put_text(out, r->gpu);
    ww_say_overrides(r, with, sizeof with);
    put_clean(out, with);
    ww_say_mode(r, mode);
    fprintf(out, ", %s\n\n", mode);
}

/* ---- runs side by side ---- */

static void change(FILE *out, double a, double b) {
    char text[32];
    snprintf(text, sizeof text, "%+.1f %%", 100 * (b / a - 1));
    cell(out, a > 0 && b >= 0 ? text : "-");
}

static void run_row(FILE *out, const struct ww_result *r, int64_t id, const struct ww_result *base) {
    struct ww_launch_result sum = {.cycles = r->cycles, .warp_instructions = r->warp_instructions};
    char text[64], a[32], b[32], with[400], gpu[480], mode[80];
    bool same = strcmp(r->trace_hash, base->trace_hash) == 0 && r->warp_instructions == base->warp_instructions;
    double seconds = (double)r->time_ps / 1e12, first = (double)base->time_ps / 1e12;
    double joules = r->energy_known ? r->energy_j : -1;
    snprintf(text, sizeof text, "%" PRId64, id);
    cell(out, text);
    cell(out, r->trace);
    ww_say_overrides(r, with, sizeof with);
    snprintf(gpu, sizeof gpu, "%.70s%s", r->gpu, with);
    long_cell(out, gpu);
    ww_say_mode(r, mode);
    cell(out, mode);
    cell(out, ww_grouped(r->cycles, a));
    cell(out, ww_si(seconds, "s", a));
    change(out, same ? first : -1, seconds);
    cell(out, ww_plain(ww_ipc(&sum), 4, a));
    cell(out, ww_si(ww_watts(joules, joules >= 0, r->time_ps), "W", a));
    cell(out, ww_si(joules, "J", a));
    change(out, same && base->energy_known ? base->energy_j : -1, joules);
    if (r->cycles_interval.lo < r->cycles_interval.hi)
        snprintf(text, sizeof text, "%s to %s", ww_si(r->cycles_interval.lo, "", a),
                 ww_si(r->cycles_interval.hi, "", b));
    else
        snprintf(text, sizeof text, "exact");
    cell(out, text);
    row_end(out);
}

static void runs(FILE *out, const struct ww_report_set *set) {
    static const char *const names[] = {"run",    "trace", "GPU",   "mode",   "SM cycles", "time",
                                        "change", "IPC",   "power", "energy", "change",    "cycles, interval",
                                        NULL};
    fputs("## Runs\n\n", out);
    head(out, names, 14u);
    for (size_t i = 0; i < set->run_count; i++) run_row(out, set->run[i], set->run_id[i], set->run[0]);
    if (set->run_count > 1) fputs("\nChanges are against the first run, where the work is the same.\n", out);
    fputc('\n', out);
}

/* ---- one run ---- */

static void slots(FILE *out, const struct ww_launch_result *sum) {
    static const char *const names[] = {"issue slots", "share", "CPI", "meaning", NULL};
    double total = (double)ww_sum_u64(sum->slot, WW_SLOT_COUNT);
    char a[32];
    if (total <= 0) return;
    head(out, names, 9u);
    for (int s = 0; s < WW_SLOT_COUNT; s++) {
        double v = (double)sum->slot[s];
        if (v <= 0) continue;
        cell(out, ww_slot_name((enum ww_slot)s));
        cell(out, ww_percent(v / total, a));
        cell(out, ww_plain(ww_ratio(v, (double)sum->warp_instructions), 4, a));
        cell(out, ww_slot_help((enum ww_slot)s));
        row_end(out);
    }
    fputc('\n', out);
}

static void states(FILE *out, const struct ww_launch_result *sum) {
    static const char *const names[] = {"warp state", "share", "meaning", NULL};
    char a[32];
    if (!sum->resident_warp_cycles) return;
    head(out, names, 5u);
    for (int s = 0; s < WW_STATE_COUNT; s++) {
        if (!sum->warp_cycles[s]) continue;
        cell(out, ww_state_name((enum ww_warp_state)s));
        cell(out, ww_percent((double)sum->warp_cycles[s] / (double)sum->resident_warp_cycles, a));
        cell(out, ww_state_help((enum ww_warp_state)s));
        row_end(out);
    }
    fputc('\n', out);
}

static void memory(FILE *out, const struct ww_launch_result *sum) {
    static const char *const names[] = {"memory",    "read",       "written",  "hits",
                                        "read rate", "write rate", "bus busy", NULL};
    struct ww_level level[WW_LEVELS];
    char a[32];
    ww_levels(sum, level);
    head(out, names, 1u);
    for (int i = 0; i < WW_LEVELS; i++) {
        cell(out, level[i].name);
        cell(out, ww_si(level[i].bytes_read, "B", a));
        cell(out, ww_si(level[i].bytes_written, "B", a));
        cell(out, ww_percent(level[i].hit_rate, a));
        cell(out, ww_si(level[i].read_gb_s * 1e9, "B/s", a));
        cell(out, ww_si(level[i].write_gb_s * 1e9, "B/s", a));
        cell(out, ww_percent(level[i].busy, a));
        row_end(out);
    }
    fputc('\n', out);
}

static void energy(FILE *out, const struct ww_launch_result *sum) {
    static const char *const names[] = {"component", "dynamic", "static", "share", "meaning", NULL};
    const struct ww_energy *e = &sum->energy;
    double total = 0;
    char a[32];
    for (int c = 0; c < WW_COMPONENT_COUNT; c++) total += e->dynamic_j[c] + e->static_j[c];
    if (!e->known || total <= 0) {
        fputs("Energy is not known: the GPU has no power table.\n\n", out);
        return;
    }
    head(out, names, 17u);
    for (int c = 0; c < WW_COMPONENT_COUNT; c++) {
        if (e->dynamic_j[c] + e->static_j[c] <= 0) continue;
        cell(out, ww_component_name((enum ww_component)c));
        cell(out, ww_si(e->dynamic_j[c], "J", a));
        cell(out, ww_si(e->static_j[c], "J", a));
        cell(out, ww_percent((e->dynamic_j[c] + e->static_j[c]) / total, a));
        cell(out, ww_component_help((enum ww_component)c));
        row_end(out);
    }
    fputc('\n', out);
}

static void one_run(FILE *out, const struct ww_result *r, int64_t id) {
    struct ww_launch_result sum;
    char scaled[240];
    ww_sum_launches(r, &sum);
    title(out, r, id);
    if (ww_is_estimate(r)) {
        ww_say_scaled(r, scaled);
        fprintf(out, "Sampled: %s.\n\n", scaled);
    }
    slots(out, &sum);
    states(out, &sum);
    memory(out, &sum);
    energy(out, &sum);
}

/* ---- a sweep ---- */

static void front(FILE *out, const struct ww_explored *e) {
    size_t shown = 0, count = 0;
    char text[240];
    double part;
    for (size_t i = 0; i < e->point_count; i++) count += e->point[i].front;
    fprintf(out, "Points that no other one beats (%zu of %zu done, %" PRIu64 " planned):\n\n", count,
            e->point_count, e->planned);
    cell(out, "point");
    for (size_t k = 0; k < e->key_count; k++) cell(out, e->key[k]);
    for (size_t o = 0; o < e->objective_count; o++) cell(out, e->objective[o].name);
    cell(out, "power");
    cell(out, "of the board's");
    row_end(out);
    for (size_t i = 0; i <= e->key_count + e->objective_count + 2; i++) fputs("|--:", out);
    row_end(out);
    for (size_t i = 0; i < e->point_count && shown < FRONT_ROWS; i++) {
        const struct ww_explored_point *p = &e->point[i];
        if (!p->front) continue;
        snprintf(text, sizeof text, "%" PRIu64, p->ord);
        cell(out, text);
        for (size_t k = 0; k < e->key_count; k++) cell(out, p->value[k] ? p->value[k] : "-");
        for (size_t o = 0; o < e->objective_count; o++) {
            const char *unit = ww_objective_unit(e->objective[o].name);
            snprintf(text, sizeof text, "%.5g", p->objective[o]);
            cell(out, *unit && p->objective[o] >= 0 ? ww_si(p->objective[o], unit, text) : text);
        }
        cell(out, ww_si(p->power_w >= 0 ? p->power_w : -1, "W", text));
        part = ww_ratio(p->most_w, p->board_w);
        cell(out, ww_percent(part >= 0 ? part : -1, text));
        row_end(out);
        shown++;
    }
    if (shown < count) fprintf(out, "\nThe first %zu of them.\n", shown);
    if (ww_say_above(e, text)) fprintf(out, "\n**%s.**\n", text);
    if (ww_say_no_value(e, text)) {
        fputs("\n**", out);
        put_clean(out, text);
        fputs(".**\n", out);
    }
    fputc('\n', out);
}

static void effects(FILE *out, const struct ww_explored *e) {
    static const char *const names[] = {"objective", "parameter", "with", "effect", "error", "share", NULL};
    char text[64];
    if (!e->effect_count) return;
    head(out, names, 7u);
    for (size_t i = 0; i < e->effect_count && i < EFFECT_ROWS; i++) {
        const struct ww_explored_effect *f = &e->effect[i];
        cell(out, e->objective[f->objective].name);
        cell(out, f->a);
        cell(out, f->b);
        const char *unit = ww_objective_unit(e->objective[f->objective].name);
        cell(out, isfinite(f->effect) ? ww_si_signed(ww_effect_shown(e, f), unit, text) : "-");
        cell(out, isfinite(f->error) ? ww_si(f->error, unit, text) : "-");
        cell(out, ww_percent(f->share, text));
        row_end(out);
    }
    fputc('\n', out);
}

static void sweep(FILE *out, const struct ww_explored *e) {
    fprintf(out, "## Sweep %" PRId64 " on ", e->sweep);
    put_text(out, e->gpu);
    fputs("\n\nTraces: ", out);
    put_text(out, e->traces);
    fputs(". Strategy: ", out);
    put_text(out, e->strategy);
    fputs(", mode: ", out);
    char mode[80];
    ww_say_sweep_mode(e, mode);
    put_text(out, mode);
    fputs(".\n\n", out);
    front(out, e);
    effects(out, e);
}

enum ww_code ww_report_markdown(const struct ww_report_set *set, FILE *out, struct ww_error *error) {
    WW_PLAIN_LOCALE;
    if (set->sweep) sweep(out, set->sweep);
    if (set->run_count) runs(out, set);
    for (size_t i = 0; i < set->run_count; i++) one_run(out, set->run[i], set->run_id[i]);
    return ww_out_check(out, error);
}
