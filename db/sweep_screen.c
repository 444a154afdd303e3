/* The database's functions for adaptive sweeps. */
#include "../estimator/api/database.h"
#include "sweep_screen.h"
#include "schema.h"
#include "sweep_sql.h"
#include "../estimator/base/buf.h"
#include <math.h>
#include <stdlib.h>

/* ---- the scratch database ---- */

enum ww_code ww_db_scratch_open(struct ww_db **out, struct ww_error *error) {
    struct ww_db *db = calloc(1, sizeof *db);
    *out = NULL;
    if (!db) return ww_fail_nomem(error, "a scratch database");
    db->path = sqlite3_mprintf("%s", "the scratch database");
    enum ww_code code = WW_OK;
    if (!db->path || sqlite3_open(":memory:", &db->sql) != SQLITE_OK)
        code = ww_fail_nomem(error, "a scratch database");
    for (int i = 0; code == WW_OK && i < ww_db_step_count; i++)
        for (const char *const *sql = ww_db_steps[i].sql; code == WW_OK && *sql; sql++)
            code = ww_db_exec(db, *sql, "making a scratch database", error);
    if (code == WW_OK)
        *out = db;
    else
        ww_db_close(db);
    return code;
}

enum ww_code ww_db_scratch_begin(struct ww_db *db, struct ww_error *error) {
    return ww_db_exec(db, "BEGIN", "estimates", error);
}

enum ww_code ww_db_scratch_end(struct ww_db *db, enum ww_code code, struct ww_error *error) {
    return ww_db_finish(db, code, error);
}

enum ww_code ww_db_scratch_put(struct ww_db *db, const struct ww_db_sweep *sweep,
                               const struct ww_db_sweep_point *point, struct ww_error *error) {
    return ww_sweep_put(db, sweep, point, error);
}

static enum ww_code guess(struct ww_db *db, const struct ww_db_sweep *sweep, const char *const *config,
                          const struct ww_db_sweep_result *result, struct ww_error *error) {
    sqlite3_stmt *s;
    enum ww_code code = WW_OK;
    if (sqlite3_prepare_v2(db->sql,
                           "UPDATE sweep_result SET cycles = ?1, time_ps = ?2, energy_j = ?3"
                           " WHERE config = ?4 AND trace_id = ?5",
                           -1, &s, NULL) != SQLITE_OK)
        return ww_db_fail(db, "estimates", error);
    for (uint64_t p = 0; p < sweep->points && code == WW_OK; p++)
        for (size_t t = 0; config[p] && t < sweep->trace_count && code == WW_OK; t++) {
            const struct ww_db_sweep_result *r = &result[p * sweep->trace_count + t];
            sqlite3_bind_int64(s, 1, (int64_t)r->cycles);
            sqlite3_bind_int64(s, 2, (int64_t)r->time_ps);
            if (r->energy_known)
                sqlite3_bind_double(s, 3, r->energy_j);
            else
                sqlite3_bind_null(s, 3);
            sqlite3_bind_text(s, 4, config[p], -1, SQLITE_STATIC);
            sqlite3_bind_int64(s, 5, sweep->trace[t].id);
            if (sqlite3_step(s) != SQLITE_DONE) code = ww_db_fail(db, "estimates", error);
            sqlite3_reset(s);
        }
    sqlite3_finalize(s);
    return code;
}

enum ww_code ww_db_scratch_guess(struct ww_db *db, const struct ww_db_sweep *sweep, const char *const *config,
                                 const struct ww_db_sweep_result *result, struct ww_error *error) {
    WW_TRY(ww_db_scratch_begin(db, error));
    return ww_db_finish(db, guess(db, sweep, config, result, error), error);
}

/* One statement for all points: number, objectives, whether the constraints hold. */
static enum ww_code prepare_judge(struct ww_db *db, const struct ww_db_sweep *sweep, sqlite3_stmt **stmt,
                                  struct ww_error *error) {
    struct ww_buf b = {0};
    *stmt = NULL;
    ww_buf_printf(&b, "SELECT p.point");
    for (size_t i = 0; i < sweep->objective_count; i++) ww_buf_printf(&b, ", (%s\n)", sweep->objective[i].sql);
    ww_buf_printf(&b, ", 1");
    for (size_t i = 0; i < sweep->constraint_count; i++)
        ww_buf_printf(&b, " AND coalesce((%s\n), 0)", sweep->constraint[i]);
    ww_buf_printf(&b, " FROM v_sweep_point p WHERE p.sweep_id = %lld", (long long)sweep->id);
    ww_buf_byte(&b, 0);
    enum ww_code code =
        b.failed ? ww_fail_nomem(error, "estimates") : ww_sweep_prepare_sql(db, (const char *)b.p, stmt, error);
    ww_buf_free(&b);
    if (code == WW_OK && sqlite3_bind_parameter_count(*stmt))
        code = ww_fail(error, WW_INPUT, sweep->file,
                       "objectives and constraints of an adaptive sweep cannot have parameters");
    return code;
}

enum ww_code ww_db_scratch_judge(struct ww_db *db, const struct ww_db_sweep *sweep, double *value, bool *holds,
                                 struct ww_error *error) {
    sqlite3_stmt *s;
    size_t m = sweep->objective_count;
    enum ww_code code = prepare_judge(db, sweep, &s, error);
    for (uint64_t p = 0; p < sweep->points; p++) {
        holds[p] = false;
        for (size_t i = 0; i < m; i++) value[p * m + i] = NAN;
    }
    while (code == WW_OK && ww_sweep_step(db, s, "objectives and constraints", &code, error) == SQLITE_ROW) {
        uint64_t p = (uint64_t)sqlite3_column_int64(s, 0);
        if (p >= sweep->points) continue;
        for (size_t i = 0; i < m && code == WW_OK; i++)
            code = ww_sweep_refuse_text(sweep, i, s, (int)i + 1, error);
        for (size_t i = 0; i < m; i++)
            if (sqlite3_column_type(s, (int)i + 1) != SQLITE_NULL)
                value[p * m + i] = sqlite3_column_double(s, (int)i + 1) * (sweep->objective[i].most ? -1 : 1);
        holds[p] = sqlite3_column_int(s, (int)m + 1) != 0;
    }
    sqlite3_finalize(s);
    return code;
}

/* ---- what is kept ---- */

static enum ww_code insert_estimates(struct ww_db *db, const struct ww_db_sweep *sweep, uint64_t point,
                                     const struct ww_db_sweep_candidate *c, struct ww_error *error) {
    struct ww_insert in;
    ww_insert_open(&in, db, "sweep_estimate", "sweep_id, point, objective, estimate, low, high", error);
    for (size_t i = 0; i < sweep->objective_count && in.code == WW_OK; i++) {
        if (!isfinite(c->estimate[i]) || !isfinite(c->low[i]) || !isfinite(c->high[i])) continue;
        ww_insert_i64(&in, sweep->id);
        ww_insert_u64(&in, point);
        ww_insert_u64(&in, i);
        ww_insert_f64(&in, c->estimate[i]);
        ww_insert_f64(&in, c->low[i]);
        ww_insert_f64(&in, c->high[i]);
        ww_insert_run(&in, NULL);
    }
    ww_insert_close(&in);
    return in.code;
}

static enum ww_code insert_candidate(struct ww_db *db, const struct ww_db_sweep *sweep, uint64_t point,
                                     const struct ww_db_sweep_candidate *c, struct ww_error *error) {
    struct ww_insert in;
    ww_insert_open(&in, db, "sweep_candidate", "sweep_id, point, settings, fidelity, round, holds, may_hold",
                   error);
    ww_insert_i64(&in, sweep->id);
    ww_insert_u64(&in, point);
    ww_insert_text(&in, c->settings);
    ww_insert_text(&in, c->fidelity);
    if (c->round)
        ww_insert_u64(&in, c->round);
    else
        ww_insert_null(&in);
    ww_insert_i64(&in, c->likely);
    ww_insert_i64(&in, c->possible);
    ww_insert_run(&in, NULL);
    ww_insert_close(&in);
    WW_TRY(in.code);
    return insert_estimates(db, sweep, point, c, error);
}

static enum ww_code store(struct ww_db *db, const struct ww_db_sweep *sweep,
                          const struct ww_db_sweep_candidate *const *candidate, double cost, uint64_t rounds,
                          struct ww_error *error) {
    char sql[200];
    struct ww_insert in;
    snprintf(
        sql, sizeof sql,
        "DELETE FROM sweep_adaptive WHERE sweep_id = %lld; DELETE FROM sweep_candidate WHERE sweep_id = %lld",
        (long long)sweep->id, (long long)sweep->id);
    WW_TRY(ww_db_exec(db, sql, "storing estimates", error));
    ww_insert_open(&in, db, "sweep_adaptive", "sweep_id, budget, cost, rounds", error);
    ww_insert_i64(&in, sweep->id);
    ww_insert_f64(&in, sweep->budget);
    ww_insert_f64(&in, cost);
    ww_insert_u64(&in, rounds);
    ww_insert_run(&in, NULL);
    ww_insert_close(&in);
    WW_TRY(in.code);
    for (uint64_t p = 0; p < sweep->points; p++)
        if (candidate[p]) WW_TRY(insert_candidate(db, sweep, p, candidate[p], error));
    return WW_OK;
}

enum ww_code ww_db_sweep_candidates(struct ww_db *db, const struct ww_db_sweep *sweep,
                                    const struct ww_db_sweep_candidate *const *candidate, double cost,
                                    uint64_t rounds, struct ww_error *error) {
    WW_TRY(ww_db_exec(db, "BEGIN IMMEDIATE", "storing estimates", error));
    return ww_db_finish(db, store(db, sweep, candidate, cost, rounds, error), error);
}
