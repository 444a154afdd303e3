/* Intervals of two runs' ratios. */
#include "intervals.h"
#include "../estimator/base/err.h"
#include <math.h>
#include <string.h>

static bool is_wide(const struct ww_interval *i) {
    return i->lo < i->hi;
}

struct ww_interval ww_time_interval(const struct ww_result *r) {
    double seconds = (double)r->time_ps * 1e-12, cycles = (double)r->cycles;
    if (is_wide(&r->sampling.time_s)) return r->sampling.time_s;
    if (!is_wide(&r->cycles_interval) || r->cycles == 0) return (struct ww_interval){seconds, seconds};
    return (struct ww_interval){seconds * (r->cycles_interval.lo / cycles),
                                seconds * (r->cycles_interval.hi / cycles)};
}

/* ---- from the units that both sampled ---- */

static enum ww_code find_paired(const struct ww_result *a, const struct ww_result *b, bool energy,
                                struct ww_sample_ratio *out, struct ww_error *error) {
    if (!a->sampling.row_count || !b->sampling.row_count || strcmp(a->trace_hash, b->trace_hash) != 0)
        return WW_OK;
    if (energy && !(a->energy_known && b->energy_known)) return WW_OK;
    return ww_sample_ratio(&a->sampling, &b->sampling, energy, a->confidence, out, error);
}

/* ---- from the interval of each run ---- */

static struct ww_interval interval_of(const struct ww_result *r, bool energy) {
    if (!energy) return ww_time_interval(r);
    return is_wide(&r->energy_interval) ? r->energy_interval : (struct ww_interval){r->energy_j, r->energy_j};
}

/* The chances that either interval misses add up at most, however they depend on each other (Bonferroni). */
static double both_hold(double a, double b) {
    return fmax(0, round((a + b - 1) * 1e12) / 1e12); /* 0.9 of twice 0.95, as people write it */
}

static void find_bounds(const struct ww_result *base, const struct ww_result *new_run, bool energy,
                        struct ww_ratio_bounds *out) {
    if (energy && !(base->energy_known && new_run->energy_known)) return;
    struct ww_interval a = interval_of(base, energy), b = interval_of(new_run, energy);
    if (!(is_wide(&a) || is_wide(&b)) || !(a.lo > 0 && b.lo > 0)) return;
    double holds = both_hold(is_wide(&a) ? base->confidence : 1, is_wide(&b) ? new_run->confidence : 1);
    *out = (struct ww_ratio_bounds){.lo = a.lo / b.hi, .hi = a.hi / b.lo, .confidence = holds, .known = true};
}

enum ww_code ww_find_intervals(const struct ww_result *base, const struct ww_result *new_run,
                               struct ww_ratio_intervals *out, struct ww_error *error) {
    *out = (struct ww_ratio_intervals){0};
    for (int k = 0; k < 2; k++) WW_TRY(find_paired(base, new_run, k, &out->paired[k], error));
    for (int k = 0; k < 2 && !out->paired[0].known; k++) find_bounds(base, new_run, k, &out->bounds[k]);
    return WW_OK;
}

bool ww_order_is_open(const struct ww_ratio_intervals *i) {
    return i->bounds[0].known && i->bounds[0].lo <= 1 && i->bounds[0].hi >= 1;
}

/* ---- JSON and text ---- */

static void write_pair(struct ww_jsonw *w, const char *name, double lo, double hi) {
    ww_jsonw_open_flat(w, name, '[');
    ww_jsonw_f64(w, NULL, lo);
    ww_jsonw_f64(w, NULL, hi);
    ww_jsonw_close(w, ']');
}

static const char *const paired_name[] = {"cycles", "energy"}, *const bounds_name[] = {"time", "energy"};

void ww_write_intervals(struct ww_jsonw *w, const struct ww_ratio_intervals *i) {
    const struct ww_sample_ratio *p = i->paired;
    const struct ww_ratio_bounds *b = i->bounds;
    if (p[0].known) {
        ww_jsonw_open(w, "paired", '{');
        ww_jsonw_u64(w, "units", p[0].common);
        for (int k = 0; k < 2; k++)
            if (p[k].known) write_pair(w, paired_name[k], p[k].lo, p[k].hi);
        ww_jsonw_close(w, '}');
    } else if (b[0].known) {
        ww_jsonw_open(w, "bounds", '{');
        ww_jsonw_f64(w, "confidence", b[0].confidence);
        for (int k = 0; k < 2; k++)
            if (b[k].known) write_pair(w, bounds_name[k], b[k].lo, b[k].hi);
        ww_jsonw_close(w, '}');
    }
}

void ww_print_intervals(const struct ww_ratio_intervals *i, double confidence, FILE *out) {
    for (int k = 0; k < 2; k++) {
        const struct ww_sample_ratio *p = &i->paired[k];
        const struct ww_ratio_bounds *b = &i->bounds[k];
        if (p->known)
            fprintf(out,
                    "%s of base by new: %.4f to %.4f at %.4g %% confidence, from %zu units that both sampled\n",
                    paired_name[k], p->lo, p->hi, 100 * confidence, p->common);
        if (b->known)
            fprintf(out,
                    "%s of base by new: %.4f to %.4f at %.4g %% confidence or more, from each run's interval\n",
                    bounds_name[k], b->lo, b->hi, 100 * b->confidence);
    }
}
