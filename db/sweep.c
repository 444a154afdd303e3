/* Beginning a sweep, and reading what is stored of it. */
#include "../estimator/api/database.h"
#include "db.h"
#include "sweep_sql.h"
#include "../estimator/base/buf.h"
#include "../estimator/base/hash.h"
#include <inttypes.h>
#include <string.h>

/* All that the sweep's content depends on, joined and hashed. */
enum ww_code ww_db_sweep_hash(const struct ww_db_sweep *s, char out[WW_CONFIG_HASH], struct ww_error *error) {
    struct ww_buf b = {0};
    ww_buf_printf(&b, "%s\n%s\n%s\n%s\n%s\n%s\n%" PRIu64 " %" PRIu64 " " WW_VERSION "\n", s->gpu, s->gpu_json,
                  s->power, s->space, s->strategy, s->mode, s->seed, s->points);
    if (s->budget > 0) ww_buf_printf(&b, "budget %.17g\n", s->budget);
    for (size_t i = 0; i < s->trace_count; i++)
        ww_buf_printf(&b, "%s %s\n", s->trace[i].hash, s->trace[i].program);
    if (b.failed) {
        ww_buf_free(&b);
        return ww_fail_nomem(error, "a sweep");
    }
    snprintf(out, WW_CONFIG_HASH, "%016" PRIx64 "%016" PRIx64, ww_hash_bytes(b.p, b.n, 0),
             ww_hash_bytes(b.p, b.n, 1));
    ww_buf_free(&b);
    return WW_OK;
}

static enum ww_code find(struct ww_db *db, struct ww_db_sweep *sweep, const char *hash,
                         struct ww_error *error) {
    sqlite3_stmt *stmt;
    sweep->id = 0;
    if (sqlite3_prepare_v2(db->sql, "SELECT sweep_id FROM sweep WHERE hash = ?1", -1, &stmt, NULL) != SQLITE_OK)
        return ww_db_fail(db, "reading a sweep", error);
    sqlite3_bind_text(stmt, 1, hash, -1, SQLITE_STATIC);
    int rc = sqlite3_step(stmt);
    if (rc == SQLITE_ROW) sweep->id = sqlite3_column_int64(stmt, 0);
    enum ww_code code =
        rc == SQLITE_ROW || rc == SQLITE_DONE ? WW_OK : ww_db_fail(db, "reading a sweep", error);
    sqlite3_finalize(stmt);
    return code;
}

static enum ww_code insert_head(struct ww_db *db, struct ww_db_sweep *s, const char *hash,
                                struct ww_error *error) {
    struct ww_insert in;
    int64_t gpu;
    char seed[24];
    snprintf(seed, sizeof seed, "%" PRIu64, s->seed);
    WW_TRY(ww_db_store_gpu(db, s->gpu, s->gpu_json, &gpu, error));
    ww_insert_open(&in, db, "sweep", "hash, gpu_id, power, space, strategy, seed, mode, version, points",
                   error);
    ww_insert_text(&in, hash);
    ww_insert_i64(&in, gpu);
    ww_insert_text(&in, s->power);
    ww_insert_text(&in, s->space);
    ww_insert_text(&in, s->strategy);
    ww_insert_text(&in, seed);
    ww_insert_text(&in, s->mode);
    ww_insert_text(&in, WW_VERSION);
    ww_insert_u64(&in, s->points);
    ww_insert_run(&in, &s->id);
    ww_insert_close(&in);
    return in.code;
}

static enum ww_code insert_lists(struct ww_db *db, const struct ww_db_sweep *s, struct ww_error *error) {
    struct ww_insert in;
    ww_insert_open(&in, db, "sweep_trace", "sweep_id, ord, trace_id, workload, weight", error);
    for (size_t i = 0; i < s->trace_count && in.code == WW_OK; i++) {
        ww_insert_i64(&in, s->id);
        ww_insert_u64(&in, i);
        ww_insert_i64(&in, s->trace[i].id);
        ww_insert_text(&in, s->trace[i].workload);
        ww_insert_f64(&in, s->trace[i].weight);
        ww_insert_run(&in, NULL);
    }
    ww_insert_close(&in);
    WW_TRY(in.code);
    ww_insert_open(&in, db, "sweep_objective", "sweep_id, ord, name, sql, sense", error);
    for (size_t i = 0; i < s->objective_count && in.code == WW_OK; i++) {
        ww_insert_i64(&in, s->id);
        ww_insert_u64(&in, i);
        ww_insert_text(&in, s->objective[i].name);
        ww_insert_text(&in, s->objective[i].sql);
        ww_insert_i64(&in, s->objective[i].most ? -1 : 1);
        ww_insert_run(&in, NULL);
    }
    ww_insert_close(&in);
    return in.code;
}

static enum ww_code begin(struct ww_db *db, struct ww_db_sweep *s, struct ww_error *error) {
    char hash[WW_CONFIG_HASH];
    WW_TRY(ww_sweep_check_sql(db, s, error));
    WW_TRY(ww_db_sweep_hash(s, hash, error));
    for (size_t i = 0; i < s->trace_count; i++)
        WW_TRY(ww_db_store_trace(db, s->trace[i].hash, s->trace[i].program, &s->trace[i].id, error));
    WW_TRY(find(db, s, hash, error));
    if (s->id) return WW_OK;
    WW_TRY(insert_head(db, s, hash, error));
    return insert_lists(db, s, error);
}

enum ww_code ww_db_sweep_begin(struct ww_db *db, struct ww_db_sweep *sweep, struct ww_error *error) {
    WW_TRY(ww_db_exec(db, "BEGIN IMMEDIATE", "beginning a sweep", error));
    return ww_db_finish(db, begin(db, sweep, error), error);
}

/* ---- reading ---- */

enum ww_code ww_db_sweep_done(struct ww_db *db, const struct ww_db_sweep *sweep, bool *done,
                              struct ww_error *error) {
    struct ww_select s;
    if (ww_select_open(&s, db, "SELECT ord FROM sweep_point WHERE sweep_id = ?1", sweep->id, error) == WW_OK)
        while (ww_select_row(&s)) {
            uint64_t ord = ww_select_u64(&s);
            if (ord < sweep->points)
                done[ord] = true;
            else
                ww_select_refuse(&s, "the number of one of the sweep's points");
        }
    return ww_select_close(&s);
}

enum ww_code ww_db_sweep_find(struct ww_db *db, const char *config, int64_t trace, struct ww_db_sweep_result *r,
                              struct ww_error *error) {
    struct ww_select s;
    char sql[256];
    *r = (struct ww_db_sweep_result){0};
    snprintf(sql, sizeof sql,
             "SELECT cycles, time_ps, warp_instructions, thread_instructions, energy_j FROM sweep_result"
             " WHERE trace_id = ?1 AND config = '%.32s'",
             config);
    if (ww_select_open(&s, db, sql, trace, error) == WW_OK && ww_select_row(&s)) {
        r->stored = true;
        r->cycles = ww_select_u64(&s);
        r->time_ps = ww_select_u64(&s);
        r->warp_instructions = ww_select_u64(&s);
        r->thread_instructions = ww_select_u64(&s);
        r->energy_known = !ww_select_is_null(&s);
        if (r->energy_known) r->energy_j = ww_select_f64(&s);
    }
    WW_TRY(ww_select_close(&s));
    snprintf(sql, sizeof sql,
             "SELECT " WW_DB_ENERGY_PARTS " FROM sweep_energy WHERE trace_id = ?1 AND config = '%.32s'",
             config);
    if (ww_select_open(&s, db, sql, trace, error) == WW_OK && ww_select_row(&s)) {
        r->parts_known = true;
        for (int g = 0; g < WW_ENERGY_GROUPS; g++) r->part_j[g] = ww_select_f64(&s);
    }
    return ww_select_close(&s);
}

enum ww_code ww_db_sweep_find_sampled(struct ww_db *db, const char *config, int64_t trace,
                                      struct ww_db_sweep_result *r, struct ww_error *error) {
    struct ww_select s;
    char sql[200];
    WW_TRY(ww_db_sweep_find(db, config, trace, r, error));
    bool found = r->stored;
    r->stored = false;
    snprintf(
        sql, sizeof sql,
        "SELECT replayed, time_error, energy_error FROM sweep_sampled WHERE trace_id = ?1 AND config = '%.32s'",
        config);
    if (ww_select_open(&s, db, sql, trace, error) == WW_OK && ww_select_row(&s)) {
        r->stored = found;
        r->replayed = ww_select_f64(&s);
        r->time_error = ww_select_f64(&s);
        r->energy_error = ww_select_f64(&s);
    }
    return ww_select_close(&s);
}

enum ww_code ww_db_sweep_values(struct ww_db *db, const struct ww_db_sweep *sweep, size_t objective,
                                size_t *point, double *value, size_t *count, struct ww_error *error) {
    struct ww_select s;
    char sql[160];
    *count = 0;
    snprintf(sql, sizeof sql,
             "SELECT point, value FROM sweep_value WHERE sweep_id = ?1 AND objective = %zu ORDER BY point",
             objective);
    if (ww_select_open(&s, db, sql, sweep->id, error) == WW_OK)
        while (ww_select_row(&s) && *count < sweep->points) {
            point[*count] = (size_t)ww_select_u64(&s);
            value[*count] = ww_select_f64(&s);
            if (point[*count] >= sweep->points) ww_select_refuse(&s, "the number of one of the sweep's points");
            (*count)++;
        }
    return ww_select_close(&s);
}

enum ww_code ww_db_sweep_counts(struct ww_db *db, const struct ww_db_sweep *sweep, uint64_t *stored,
                                uint64_t *invalid, uint64_t *infeasible, struct ww_error *error) {
    struct ww_select s;
    if (ww_select_open(&s, db,
                       "SELECT count(*), count(*) FILTER (WHERE reason <> ''),"
                       " count(*) FILTER (WHERE feasible = 0) FROM sweep_point WHERE sweep_id = ?1",
                       sweep->id, error) == WW_OK &&
        ww_select_row(&s)) {
        *stored = ww_select_u64(&s);
        *invalid = ww_select_u64(&s);
        *infeasible = ww_select_u64(&s);
    }
    return ww_select_close(&s);
}

enum ww_code ww_db_sweep_no_value(struct ww_db *db, const struct ww_db_sweep *sweep, uint64_t *points,
                                  char name[80], struct ww_error *error) {
    struct ww_select s;
    uint64_t most = 0, lacking = 0;
    *points = 0;
    name[0] = 0;
    if (ww_select_open(&s, db,
                       "WITH p AS (SELECT o.ord AS objective, p.ord AS point FROM sweep_point p JOIN"
                       " sweep_objective o USING(sweep_id) LEFT JOIN sweep_value v ON v.sweep_id = p.sweep_id"
                       " AND v.point = p.ord AND v.objective = o.ord"
                       " WHERE p.sweep_id = ?1 AND p.feasible = 1 AND v.value IS NULL)"
                       " SELECT objective, count(*), (SELECT count(DISTINCT point) FROM p) FROM p"
                       " GROUP BY objective ORDER BY objective",
                       sweep->id, error) == WW_OK)
        while (ww_select_row(&s)) {
            uint64_t objective = ww_select_u64(&s);
            lacking = ww_select_u64(&s);
            *points = ww_select_u64(&s);
            if (lacking <= most || objective >= sweep->objective_count) continue;
            most = lacking;
            snprintf(name, 80, "%.79s", sweep->objective[objective].name);
        }
    return ww_select_close(&s);
}
