/* Mode sampled: a sample's estimate as a run's result. */
#include "../result/result.h"
#include "run_sample.h"
#include <math.h>

static uint64_t whole_number(double x) {
    return x > 0 ? (uint64_t)llround(x) : 0;
}

/* The launches that were replayed whole, in order, with their energies; the estimate's totals are no sums of
 * them. */
static enum ww_code take_launches(struct ww_sampler *s, struct ww_result *out, struct ww_error *error) {
    out->launch = ww_arena_array(s->run->arena, s->frame.count, sizeof *out->launch);
    if (!out->launch) return ww_fail_nomem(error, "result");
    for (size_t u = 0; u < s->frame.count; u++)
        if (s->whole[u]) out->launch[out->launch_count++] = *s->whole[u];
    return WW_OK;
}

static void take_totals(const struct run *r, const struct ww_sampler *s, const struct ww_estimate *e) {
    struct ww_result *out = r->result;
    out->cycles = whole_number(e->total[WW_MEASURE_CYCLES]);
    out->time_ps = whole_number(e->total[WW_MEASURE_SECONDS] * 1e12);
    out->energy_j = e->total[WW_MEASURE_JOULES];
    for (size_t i = 0; i < s->launches; i++) {
        out->warp_instructions += s->launch[i].warp_instructions;
        out->thread_instructions += s->launch[i].thread_instructions;
    }
    out->cycles_interval = (struct ww_interval){e->lo[WW_MEASURE_CYCLES], e->hi[WW_MEASURE_CYCLES]};
    out->energy_interval = (struct ww_interval){e->lo[WW_MEASURE_JOULES], e->hi[WW_MEASURE_JOULES]};
}

static void take_derived(const struct run *r, const struct ww_estimate *e) {
    struct ww_sampling *s = &r->result->sampling;
    double value, n = (double)r->result->warp_instructions, confidence = r->confidence;
    s->time_s = (struct ww_interval){e->lo[WW_MEASURE_SECONDS], e->hi[WW_MEASURE_SECONDS]};
    ww_estimate_product(e, confidence, WW_MEASURE_CYCLES, -1, WW_MEASURE_SECONDS, 0, &value, &s->ipc.lo,
                        &s->ipc.hi);
    s->ipc.lo *= n;
    s->ipc.hi *= n;
    if (!r->power) return;
    ww_estimate_product(e, confidence, WW_MEASURE_JOULES, 1, WW_MEASURE_SECONDS, -1, &value, &s->power_w.lo,
                        &s->power_w.hi);
    ww_estimate_product(e, confidence, WW_MEASURE_JOULES, 1, WW_MEASURE_SECONDS, 1, &value, &s->edp.lo,
                        &s->edp.hi);
}

static void say_what(const struct run *r, const struct ww_sampler *s, const struct ww_estimate *e) {
    struct ww_sampling *out = &r->result->sampling;
    *out = (struct ww_sampling){.reason = ww_sample_reason_text(e->reason),
                                .target_error = r->target_error,
                                .units = s->frame.count,
                                .drawn = e->drawn,
                                .strata = s->frame.strata,
                                .launches = s->launches,
                                .replayed_launches = e->launches,
                                .replayed_ctas = e->ctas,
                                .replayed_instructions = whole_number(e->replayed),
                                .warmed_instructions = whole_number(e->warmed),
                                .warming_seconds = s->warming_seconds,
                                .bias_cycles = e->bias[WW_MEASURE_CYCLES],
                                .bias_energy = e->bias[WW_MEASURE_JOULES],
                                .pairs = e->pairs,
                                .estimator = e->variate ? "ratio to instructions, and regression on fast replay"
                                                        : "ratio to instructions",
                                .fast_units = e->fast,
                                .fast_instructions = whole_number(e->fast_replayed),
                                .fast_cost = e->fast_cost,
                                .correlation = e->correlation,
                                .pays_from = e->pays_from};
    for (size_t i = 0; i < s->launches; i++) out->ctas += s->launch[i].ctas;
}

static enum ww_code take_rows(const struct run *r, const struct ww_sampler *s, const struct ww_estimate *e,
                              struct ww_error *error) {
    struct ww_sampling *out = &r->result->sampling;
    out->row = ww_arena_array(r->arena, e->drawn, sizeof *out->row);
    if (!out->row) return ww_fail_nomem(error, "result");
    for (size_t i = 0; i < s->frame.count; i++) {
        const struct ww_unit *u = &s->frame.unit[i];
        const struct ww_measure *m = &e->measure[i];
        if (!m->there) continue;
        out->row[out->row_count++] = (struct ww_sample_row){.launch = u->launch,
                                                            .kind = u->kind,
                                                            .first_cta = u->first,
                                                            .end_cta = u->end,
                                                            .stratum = u->stratum,
                                                            .population = s->frame.stratum[u->stratum].count,
                                                            .instructions = m->instructions,
                                                            .cycles = m->y[WW_MEASURE_CYCLES],
                                                            .time_s = m->y[WW_MEASURE_SECONDS],
                                                            .energy_j = m->y[WW_MEASURE_JOULES]};
    }
    return WW_OK;
}

/* Everything is replayed, as in mode full; the result has the reason. */
static enum ww_code replay_all(struct run *r, const struct ww_sampler *s, const struct ww_estimate *e,
                               struct ww_error *error) {
    struct ww_result *out = r->result;
    r->before = 0;
    WW_TRY(ww_run_full(r, error));
    say_what(r, s, e);
    out->sampling.drawn = out->sampling.units;
    out->sampling.replayed_launches = out->sampling.launches;
    out->sampling.replayed_ctas = out->sampling.ctas;
    out->sampling.replayed_instructions += out->warp_instructions; /* in addition to the sample's */
    return WW_OK;
}

enum ww_code ww_run_sampled(struct run *r, struct ww_error *error) {
    struct ww_sampler s;
    struct ww_estimate e;
    WW_TRY(ww_sampler_begin(r, &s, error));
    WW_TRY(ww_sampler_draw(&s, r->options->seed, r->target_error, r->confidence, &e, error));
    if (e.all) return replay_all(r, &s, &e, error);
    WW_TRY(ww_run_tell_serial(r, error));
    say_what(r, &s, &e);
    take_totals(r, &s, &e);
    take_derived(r, &e);
    WW_TRY(take_rows(r, &s, &e, error));
    return take_launches(&s, r->result, error);
}
