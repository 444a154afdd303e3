/* Storing the points of a sweep. */
#include "../estimator/api/database.h"
#include "sweep_sql.h"
#include <math.h>
#include <stdlib.h>

static enum ww_code insert_point(struct ww_db *db, const struct ww_db_sweep *sweep,
                                 const struct ww_db_sweep_point *p, struct ww_error *error) {
    struct ww_insert in;
    ww_insert_open(&in, db, "sweep_point", "sweep_id, ord, config, feasible, reason, area_mm2", error);
    ww_insert_i64(&in, sweep->id);
    ww_insert_u64(&in, p->ord);
    ww_insert_text(&in, p->config);
    if (p->reason)
        ww_insert_null(&in);
    else
        ww_insert_i64(&in, 1);
    ww_insert_text(&in, p->reason);
    if (p->area_known)
        ww_insert_f64(&in, p->area_mm2);
    else
        ww_insert_null(&in);
    ww_insert_run(&in, NULL);
    ww_insert_close(&in);
    return in.code;
}

/* Numbers as numbers, so that SQL can compare them. */
static enum ww_code insert_settings(struct ww_db *db, const struct ww_db_sweep *sweep,
                                    const struct ww_db_sweep_point *p, struct ww_error *error) {
    struct ww_insert in;
    ww_insert_open(&in, db, "sweep_setting", "sweep_id, point, ord, key, value", error);
    for (size_t i = 0; i < p->settings && in.code == WW_OK; i++) {
        char *end = NULL;
        double v = p->number[i] ? strtod(p->value[i], &end) : 0;
        ww_insert_i64(&in, sweep->id);
        ww_insert_u64(&in, p->ord);
        ww_insert_u64(&in, i);
        ww_insert_text(&in, p->key[i]);
        if (!p->number[i] || *end)
            ww_insert_text(&in, p->value[i]);
        else if (v == floor(v) && fabs(v) <= 1e15)
            ww_insert_i64(&in, (int64_t)v);
        else
            ww_insert_f64(&in, v);
        ww_insert_run(&in, NULL);
    }
    ww_insert_close(&in);
    return in.code;
}

static enum ww_code insert_results(struct ww_db *db, const struct ww_db_sweep *sweep,
                                   const struct ww_db_sweep_point *p, struct ww_error *error) {
    struct ww_insert in;
    ww_insert_open(
        &in, db, "sweep_result",
        "config, trace_id, cycles, time_ps, warp_instructions, thread_instructions, energy_j, host_seconds",
        error);
    for (size_t i = 0; i < sweep->trace_count && in.code == WW_OK; i++) {
        const struct ww_db_sweep_result *r = &p->result[i];
        struct ww_db_sweep_result there;
        in.code = ww_db_sweep_find(db, p->config, sweep->trace[i].id, &there, error);
        if (there.stored) continue; /* by another sweep, or for a trace that the list holds twice */
        ww_insert_text(&in, p->config);
        ww_insert_i64(&in, sweep->trace[i].id);
        ww_insert_u64(&in, r->cycles);
        ww_insert_u64(&in, r->time_ps);
        ww_insert_u64(&in, r->warp_instructions);
        ww_insert_u64(&in, r->thread_instructions);
        if (r->energy_known)
            ww_insert_f64(&in, r->energy_j);
        else
            ww_insert_null(&in);
        ww_insert_f64(&in, r->host_seconds);
        ww_insert_run(&in, NULL);
    }
    ww_insert_close(&in);
    return in.code;
}

/* A row that is there stays, as its result does. */
static enum ww_code insert_energy(struct ww_db *db, const struct ww_db_sweep *sweep,
                                  const struct ww_db_sweep_point *p, struct ww_error *error) {
    struct ww_insert in;
    ww_insert_open(&in, db, "sweep_energy", "config, trace_id, " WW_DB_ENERGY_PARTS, error);
    for (size_t i = 0; i < sweep->trace_count && in.code == WW_OK; i++) {
        const struct ww_db_sweep_result *r = &p->result[i];
        struct ww_db_sweep_result there;
        in.code = ww_db_sweep_find(db, p->config, sweep->trace[i].id, &there, error);
        if (!r->parts_known || there.parts_known) continue;
        ww_insert_text(&in, p->config);
        ww_insert_i64(&in, sweep->trace[i].id);
        for (int g = 0; g < WW_ENERGY_GROUPS; g++) ww_insert_f64(&in, r->part_j[g]);
        ww_insert_run(&in, NULL);
    }
    ww_insert_close(&in);
    return in.code;
}

static enum ww_code insert_compared(struct ww_db *db, const struct ww_db_sweep *sweep,
                                    const struct ww_db_sweep_point *p, struct ww_error *error) {
    struct ww_insert in;
    ww_insert_open(&in, db, "sweep_compared", "config, trace_id, ctas, reason", error);
    ww_insert_text(&in, p->config);
    ww_insert_i64(&in, sweep->trace[0].id);
    ww_insert_u64(&in, p->variant->compared_ctas);
    ww_insert_text(&in, "");
    ww_insert_run(&in, NULL);
    ww_insert_close(&in);
    return in.code;
}

static enum ww_code insert_variant(struct ww_db *db, const struct ww_db_sweep *sweep,
                                   const struct ww_db_sweep_point *p, struct ww_error *error) {
    struct ww_insert in;
    const struct ww_db_sweep_variant *v = p->variant;
    char sql[200];
    int64_t there;
    snprintf(sql, sizeof sql, "SELECT count(*) FROM sweep_variant WHERE config = '%.32s' AND trace_id = %lld",
             p->config, (long long)sweep->trace[0].id);
    WW_TRY(ww_db_get_int(db, sql, &there, error));
    if (there) return WW_OK;
    ww_insert_open(&in, db, "sweep_variant",
                   "config, trace_id, ctas, recorded_ctas, alike, error, registers, shared_bytes, local_bytes,"
                   " warps_per_cta, ctas_per_sm, limiter, top_stall, stall_share, conflicts",
                   error);
    ww_insert_text(&in, p->config);
    ww_insert_i64(&in, sweep->trace[0].id);
    ww_insert_u64(&in, v->ctas);
    ww_insert_u64(&in, v->recorded_ctas);
    ww_insert_f64(&in, v->alike);
    ww_insert_f64(&in, v->error);
    ww_insert_u64(&in, v->registers);
    ww_insert_u64(&in, v->shared_bytes);
    ww_insert_u64(&in, v->local_bytes);
    ww_insert_u64(&in, v->warps_per_cta);
    ww_insert_u64(&in, v->ctas_per_sm);
    ww_insert_text(&in, v->limiter);
    ww_insert_text(&in, v->top_stall);
    ww_insert_f64(&in, v->stall_share);
    ww_insert_f64(&in, v->conflicts);
    ww_insert_run(&in, NULL);
    ww_insert_close(&in);
    return in.code == WW_OK && v->compared_ctas ? insert_compared(db, sweep, p, error) : in.code;
}

/* An expression's value at a point. *known: it is a finite number. `objective`: its number, or NO_OBJECTIVE. */
#define NO_OBJECTIVE SIZE_MAX
static enum ww_code evaluate(struct ww_db *db, const struct ww_db_sweep *sweep, uint64_t ord, size_t objective,
                             const char *expression, double *value, bool *known, struct ww_error *error) {
    sqlite3_stmt *stmt;
    WW_TRY(ww_sweep_prepare(db, expression, &stmt, error));
    sqlite3_bind_int64(stmt, sqlite3_bind_parameter_index(stmt, ":sweep"), sweep->id);
    sqlite3_bind_int64(stmt, sqlite3_bind_parameter_index(stmt, ":point"), (int64_t)ord);
    enum ww_code code = WW_OK;
    int rc = ww_sweep_step(db, stmt, expression, &code, error),
        type = rc == SQLITE_ROW ? sqlite3_column_type(stmt, 0) : SQLITE_NULL;
    *value = rc == SQLITE_ROW ? sqlite3_column_double(stmt, 0) : 0;
    *known = (type == SQLITE_INTEGER || type == SQLITE_FLOAT) && isfinite(*value);
    if (rc == SQLITE_ROW && objective != NO_OBJECTIVE)
        code = ww_sweep_refuse_text(sweep, objective, stmt, 0, error);
    sqlite3_finalize(stmt);
    return code;
}

static enum ww_code insert_values(struct ww_db *db, const struct ww_db_sweep *sweep, uint64_t ord,
                                  struct ww_error *error) {
    struct ww_insert in;
    ww_insert_open(&in, db, "sweep_value", "sweep_id, point, objective, value", error);
    for (size_t i = 0; i < sweep->objective_count && in.code == WW_OK; i++) {
        double value;
        bool known = false;
        in.code = evaluate(db, sweep, ord, i, sweep->objective[i].sql, &value, &known, error);
        if (!known) continue;
        ww_insert_i64(&in, sweep->id);
        ww_insert_u64(&in, ord);
        ww_insert_u64(&in, i);
        ww_insert_f64(&in, value);
        ww_insert_run(&in, NULL);
    }
    ww_insert_close(&in);
    return in.code;
}

static enum ww_code judge(struct ww_db *db, const struct ww_db_sweep *sweep, uint64_t ord,
                          struct ww_error *error) {
    bool holds = true;
    for (size_t i = 0; i < sweep->constraint_count; i++) {
        double value;
        bool known;
        WW_TRY(evaluate(db, sweep, ord, NO_OBJECTIVE, sweep->constraint[i], &value, &known, error));
        holds = holds && known && value != 0;
    }
    if (holds) return WW_OK;
    char sql[160];
    snprintf(sql, sizeof sql, "UPDATE sweep_point SET feasible = 0 WHERE sweep_id = %lld AND ord = %llu",
             (long long)sweep->id, (unsigned long long)ord);
    return ww_db_exec(db, sql, "storing a point", error);
}

static enum ww_code store(struct ww_db *db, const struct ww_db_sweep *sweep, const struct ww_db_sweep_point *p,
                          struct ww_error *error) {
    char sql[160];
    int64_t there;
    snprintf(sql, sizeof sql, "SELECT count(*) FROM sweep_point WHERE sweep_id = %lld AND ord = %llu",
             (long long)sweep->id, (unsigned long long)p->ord);
    WW_TRY(ww_db_get_int(db, sql, &there, error));
    if (there) return WW_OK; /* by another program that runs the same sweep */
    WW_TRY(insert_point(db, sweep, p, error));
    WW_TRY(insert_settings(db, sweep, p, error));
    if (p->reason) return WW_OK;
    WW_TRY(insert_results(db, sweep, p, error));
    WW_TRY(insert_energy(db, sweep, p, error));
    if (p->variant) WW_TRY(insert_variant(db, sweep, p, error));
    WW_TRY(insert_values(db, sweep, p->ord, error));
    return judge(db, sweep, p->ord, error);
}

enum ww_code ww_sweep_put(struct ww_db *db, const struct ww_db_sweep *sweep, const struct ww_db_sweep_point *p,
                          struct ww_error *error) {
    WW_TRY(insert_point(db, sweep, p, error));
    WW_TRY(insert_settings(db, sweep, p, error));
    WW_TRY(insert_results(db, sweep, p, error));
    return insert_energy(db, sweep, p, error);
}

enum ww_code ww_db_sweep_store(struct ww_db *db, const struct ww_db_sweep *sweep,
                               const struct ww_db_sweep_point *point, struct ww_error *error) {
    WW_TRY(ww_db_exec(db, "BEGIN IMMEDIATE", "storing a point", error));
    return ww_db_finish(db, store(db, sweep, point, error), error);
}

static enum ww_code store_sampled(struct ww_db *db, const struct ww_db_sweep *sweep,
                                  const struct ww_db_sweep_point *p, struct ww_error *error) {
    struct ww_insert in;
    WW_TRY(insert_results(db, sweep, p, error));
    WW_TRY(insert_energy(db, sweep, p, error));
    ww_insert_open(&in, db, "sweep_sampled", "config, trace_id, replayed, time_error, energy_error", error);
    for (size_t i = 0; i < sweep->trace_count && in.code == WW_OK; i++) {
        const struct ww_db_sweep_result *r = &p->result[i];
        if (r->stored) continue;
        ww_insert_text(&in, p->config);
        ww_insert_i64(&in, sweep->trace[i].id);
        ww_insert_f64(&in, r->replayed);
        ww_insert_f64(&in, r->time_error);
        ww_insert_f64(&in, r->energy_error);
        ww_insert_run(&in, NULL);
    }
    ww_insert_close(&in);
    return in.code;
}

enum ww_code ww_db_sweep_store_sampled(struct ww_db *db, const struct ww_db_sweep *sweep,
                                       const struct ww_db_sweep_point *point, struct ww_error *error) {
    WW_TRY(ww_db_exec(db, "BEGIN IMMEDIATE", "storing a sampled point", error));
    return ww_db_finish(db, store_sampled(db, sweep, point, error), error);
}

static enum ww_code store_effects(struct ww_db *db, const struct ww_db_sweep *sweep, size_t objective,
                                  const struct ww_db_sweep_effect *effect, size_t count,
                                  struct ww_error *error) {
    struct ww_insert in;
    char sql[120];
    snprintf(sql, sizeof sql, "DELETE FROM sweep_effect WHERE sweep_id = %lld AND objective = %zu",
             (long long)sweep->id, objective);
    WW_TRY(ww_db_exec(db, sql, "storing effects", error));
    ww_insert_open(&in, db, "sweep_effect", "sweep_id, objective, ord, a, b, effect, error, share", error);
    for (size_t i = 0; i < count && in.code == WW_OK; i++) {
        ww_insert_i64(&in, sweep->id);
        ww_insert_u64(&in, objective);
        ww_insert_u64(&in, i);
        ww_insert_text(&in, effect[i].a);
        ww_insert_text(&in, effect[i].b);
        if (effect[i].slope) {
            ww_insert_f64(&in, effect[i].effect);
            ww_insert_f64(&in, effect[i].error);
        } else {
            ww_insert_null(&in);
            ww_insert_null(&in);
        }
        ww_insert_f64(&in, effect[i].share);
        ww_insert_run(&in, NULL);
    }
    ww_insert_close(&in);
    return in.code;
}

enum ww_code ww_db_sweep_effects(struct ww_db *db, const struct ww_db_sweep *sweep, size_t objective,
                                 const struct ww_db_sweep_effect *effect, size_t count,
                                 struct ww_error *error) {
    WW_TRY(ww_db_exec(db, "BEGIN IMMEDIATE", "storing effects", error));
    return ww_db_finish(db, store_effects(db, sweep, objective, effect, count, error), error);
}
