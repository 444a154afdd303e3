/* What sampled runs replayed, stored and read back. */
#include "../estimator/api/database.h"
#include "../estimator/result/result.h"
#include "db.h"

static const char columns[] =
    "reason, target_error, units, drawn, strata, launches, replayed_launches, ctas, replayed_ctas,"
    "replayed_instructions, warmed_instructions, pairs, cold_start_cycles, cold_start_energy, time_s_lo, "
    "time_s_hi,"
    "ipc_lo, ipc_hi, power_w_lo, power_w_hi, energy_delay_lo, energy_delay_hi, estimator, fast_units,"
    "fast_instructions, fast_cost, correlation, pays_from";

/* Derived intervals, in the order of the columns. */
enum { INTERVALS = 4 };
static void intervals(struct ww_sampling *s, struct ww_interval *out[INTERVALS]) {
    struct ww_interval *all[INTERVALS] = {&s->time_s, &s->ipc, &s->power_w, &s->edp};
    for (int i = 0; i < INTERVALS; i++) out[i] = all[i];
}

static enum ww_code store_summary(struct ww_db *db, int64_t run_id, const struct ww_sampling *s,
                                  struct ww_error *error) {
    struct ww_sampling copy = *s;
    struct ww_interval *interval[INTERVALS];
    struct ww_insert in;
    const uint64_t counts[] = {s->units,
                               s->drawn,
                               s->strata,
                               s->launches,
                               s->replayed_launches,
                               s->ctas,
                               s->replayed_ctas,
                               s->replayed_instructions,
                               s->warmed_instructions,
                               s->pairs};
    char names[640];
    snprintf(names, sizeof names, "run_id, %s", columns);
    ww_insert_open(&in, db, "run_sampling", names, error);
    ww_insert_i64(&in, run_id);
    ww_insert_text(&in, s->reason);
    ww_insert_f64(&in, s->target_error);
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) ww_insert_u64(&in, counts[i]);
    ww_insert_f64(&in, s->bias_cycles);
    ww_insert_f64(&in, s->bias_energy);
    intervals(&copy, interval);
    for (int i = 0; i < INTERVALS; i++) {
        ww_insert_f64(&in, interval[i]->lo);
        ww_insert_f64(&in, interval[i]->hi);
    }
    ww_insert_text(&in, s->estimator);
    ww_insert_u64(&in, s->fast_units);
    ww_insert_u64(&in, s->fast_instructions);
    ww_insert_f64(&in, s->fast_cost);
    ww_insert_f64(&in, s->correlation);
    ww_insert_f64(&in, s->pays_from);
    ww_insert_run(&in, NULL);
    ww_insert_close(&in);
    return in.code;
}

enum ww_code ww_db_store_sampling(struct ww_db *db, int64_t run_id, const struct ww_result *r,
                                  struct ww_error *error) {
    struct ww_insert in;
    if (!r->sampling.reason) return WW_OK;
    WW_TRY(store_summary(db, run_id, &r->sampling, error));
    ww_insert_open(&in, db, "run_unit",
                   "run_id, ord, launch, kind, first_cta, end_cta, stratum, population, instructions, cycles,"
                   "time_s, energy_j",
                   error);
    for (size_t i = 0; i < r->sampling.row_count && in.code == WW_OK; i++) {
        const struct ww_sample_row *row = &r->sampling.row[i];
        ww_insert_i64(&in, run_id);
        ww_insert_u64(&in, i);
        ww_insert_u64(&in, row->launch);
        ww_insert_u64(&in, row->kind);
        ww_insert_u64(&in, row->first_cta);
        ww_insert_u64(&in, row->end_cta);
        ww_insert_u64(&in, row->stratum);
        ww_insert_u64(&in, row->population);
        ww_insert_f64(&in, row->instructions);
        ww_insert_f64(&in, row->cycles);
        ww_insert_f64(&in, row->time_s);
        ww_insert_f64(&in, row->energy_j);
        ww_insert_run(&in, NULL);
    }
    ww_insert_close(&in);
    return in.code;
}

static void read_summary(struct ww_select *q, struct ww_sampling *s, struct ww_arena *arena) {
    struct ww_interval *interval[INTERVALS];
    s->reason = ww_select_text(q, arena);
    s->target_error = ww_select_f64(q);
    uint64_t *counts[] = {&s->units,
                          &s->drawn,
                          &s->strata,
                          &s->launches,
                          &s->replayed_launches,
                          &s->ctas,
                          &s->replayed_ctas,
                          &s->replayed_instructions,
                          &s->warmed_instructions,
                          &s->pairs};
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) *counts[i] = ww_select_u64(q);
    s->bias_cycles = ww_select_f64(q);
    s->bias_energy = ww_select_f64(q);
    intervals(s, interval);
    for (int i = 0; i < INTERVALS; i++) {
        interval[i]->lo = ww_select_f64(q);
        interval[i]->hi = ww_select_f64(q);
    }
    s->estimator = ww_select_text(q, arena);
    s->fast_units = ww_select_u64(q);
    s->fast_instructions = ww_select_u64(q);
    s->fast_cost = ww_select_f64(q);
    s->correlation = ww_select_f64(q);
    s->pays_from = ww_select_f64(q);
}

static enum ww_code load_rows(struct ww_db *db, int64_t run_id, struct ww_sampling *s, struct ww_arena *arena,
                              struct ww_error *error) {
    struct ww_select q;
    WW_TRY(ww_select_open(&q, db, "SELECT count(*) FROM run_unit WHERE run_id = ?1", run_id, error));
    size_t count = ww_select_row(&q) ? ww_select_u64(&q) : 0;
    WW_TRY(ww_select_close(&q));
    s->row = ww_arena_array(arena, count, sizeof *s->row);
    if (!s->row) return ww_fail_nomem(error, "a run's sample");
    WW_TRY(ww_select_open(&q, db,
                          "SELECT launch, kind, first_cta, end_cta, stratum, population, instructions, cycles,"
                          " time_s, energy_j FROM run_unit WHERE run_id = ?1 ORDER BY ord",
                          run_id, error));
    while (s->row_count < count && ww_select_row(&q)) {
        struct ww_sample_row *row = &s->row[s->row_count++];
        row->launch = ww_select_u32(&q);
        row->kind = (uint8_t)ww_select_u32(&q);
        row->first_cta = ww_select_u64(&q);
        row->end_cta = ww_select_u64(&q);
        row->stratum = ww_select_u64(&q);
        row->population = ww_select_u64(&q);
        row->instructions = ww_select_f64(&q);
        row->cycles = ww_select_f64(&q);
        row->time_s = ww_select_f64(&q);
        row->energy_j = ww_select_f64(&q);
    }
    return ww_select_close(&q);
}

enum ww_code ww_db_load_sampling(struct ww_db *db, int64_t run_id, struct ww_result *r, struct ww_arena *arena,
                                 struct ww_error *error) {
    struct ww_select q;
    char sql[700];
    snprintf(sql, sizeof sql, "SELECT %s FROM run_sampling WHERE run_id = ?1", columns);
    WW_TRY(ww_select_open(&q, db, sql, run_id, error));
    if (ww_select_row(&q)) read_summary(&q, &r->sampling, arena);
    WW_TRY(ww_select_close(&q));
    return r->sampling.reason ? load_rows(db, run_id, &r->sampling, arena, error) : WW_OK;
}
