/* Joining the sweeps of databases. The rows of a sweep have natural keys: the hash of the sweep, the number of
 * the point, the hash of the configuration; so a row that is there already is the same row, and the order of
 * merging does not count. The other database is attached under the name "other". */
#include "../estimator/api/database.h"
#include "merge_check.h"
#include "sweep_sql.h"
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

/* A point of the other database that is not here: ?1 is the sweep's number here, ?2 there. */
#define NEW_POINT(column)                                                                                      \
    "WHERE s.sweep_id = ?2 AND NOT EXISTS (SELECT 1 FROM main.sweep_point p WHERE p.sweep_id = ?1"             \
    " AND p.ord = s." column ")"
/* Replays there (r) with the number of their trace here (t). */
#define TRACE_HERE                                                                                             \
    " r JOIN other.trace x ON x.trace_id = r.trace_id"                                                         \
    " JOIN main.trace t ON t.hash = x.hash AND t.program = x.program"
#define RESULTS "FROM other.sweep_result" TRACE_HERE
#define HERE "SELECT 1 FROM main.sweep_result m WHERE m.config = r.config AND m.trace_id = t.trace_id"

#define VARIANT_COLUMNS(r)                                                                                     \
    r "ctas, " r "recorded_ctas, " r "alike, " r "error, " r "registers, " r "shared_bytes, " r                \
      "local_bytes, " r "warps_per_cta, " r "ctas_per_sm, " r "limiter, " r "top_stall, " r "stall_share, " r  \
      "conflicts"

struct merge {
    struct ww_db *db;
    struct ww_db_merged *merged;
    const char *from;
    struct ww_arena arena;
    struct ww_error *error;
};

/* Runs one statement with two numbers; *changed (may be NULL) counts the rows. */
static enum ww_code run(const struct merge *m, const char *sql, int64_t to, int64_t from, uint64_t *changed) {
    sqlite3_stmt *stmt;
    if (sqlite3_prepare_v2(m->db->sql, sql, -1, &stmt, NULL) != SQLITE_OK)
        return ww_db_fail(m->db, "merging", m->error);
    if (sqlite3_bind_parameter_count(stmt) > 0) sqlite3_bind_int64(stmt, 1, to);
    if (sqlite3_bind_parameter_count(stmt) > 1) sqlite3_bind_int64(stmt, 2, from);
    int rc = sqlite3_step(stmt);
    enum ww_code code = rc == SQLITE_DONE ? WW_OK : ww_db_fail(m->db, "merging", m->error);
    if (rc == SQLITE_CONSTRAINT && m->error) snprintf(m->error->where, sizeof m->error->where, "%s", m->from);
    if (code == WW_OK && changed) *changed += (uint64_t)sqlite3_changes(m->db->sql);
    sqlite3_finalize(stmt);
    return code;
}

/* ---- the heads of sweeps ---- */

/* The same GPU and the same traces here. */
static enum ww_code bring_gpu(struct merge *m, int64_t there, int64_t *gpu) {
    struct ww_select s;
    const char *name = "", *json = "";
    if (ww_select_open(&s, m->db,
                       "SELECT g.name, g.json FROM other.sweep w JOIN other.gpu g USING(gpu_id)"
                       " WHERE w.sweep_id = ?1",
                       there, m->error) == WW_OK &&
        ww_select_row(&s)) {
        name = ww_select_text(&s, &m->arena);
        json = ww_select_text(&s, &m->arena);
    }
    WW_TRY(ww_select_close(&s));
    return ww_db_store_gpu(m->db, name, json, gpu, m->error);
}

static enum ww_code bring_traces(struct merge *m, int64_t there) {
    struct ww_select s;
    enum ww_code code = WW_OK;
    if (ww_select_open(&s, m->db,
                       "SELECT x.hash, x.program FROM other.sweep_trace t JOIN other.trace x USING(trace_id)"
                       " WHERE t.sweep_id = ?1 ORDER BY t.ord",
                       there, m->error) == WW_OK)
        while (code == WW_OK && ww_select_row(&s)) {
            const char *hash = ww_select_text(&s, &m->arena), *program = ww_select_text(&s, &m->arena);
            int64_t id;
            if (s.code == WW_OK) code = ww_db_store_trace(m->db, hash, program, &id, m->error);
        }
    enum ww_code closed = ww_select_close(&s);
    return code == WW_OK ? closed : code;
}

/* How far an adaptive sweep has come: it has one course, so that this is taken with its head or not at all. */
static enum ww_code bring_adaptive(struct merge *m, int64_t there, int64_t here) {
    static const char *const parts[] = {
        "INSERT INTO main.sweep_adaptive(sweep_id, budget, cost, rounds)"
        " SELECT ?1, budget, cost, rounds FROM other.sweep_adaptive WHERE sweep_id = ?2",
        "INSERT INTO main.sweep_candidate(sweep_id, point, settings, fidelity, round, holds, may_hold)"
        " SELECT ?1, point, settings, fidelity, round, holds, may_hold FROM other.sweep_candidate"
        " WHERE sweep_id = ?2",
        "INSERT INTO main.sweep_estimate(sweep_id, point, objective, estimate, low, high)"
        " SELECT ?1, point, objective, estimate, low, high FROM other.sweep_estimate WHERE sweep_id = ?2",
    };
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) WW_TRY(run(m, parts[i], here, there, NULL));
    return WW_OK;
}

/* A sweep that is not here yet. */
static enum ww_code bring_head(struct merge *m, int64_t there, int64_t *here) {
    int64_t gpu;
    WW_TRY(bring_gpu(m, there, &gpu));
    WW_TRY(bring_traces(m, there));
    WW_TRY(run(m,
               "INSERT INTO main.sweep(stored_at, hash, gpu_id, power, space, strategy, seed, mode, version,"
               " points) SELECT stored_at, hash, ?1, power, space, strategy, seed, mode, version, points"
               " FROM other.sweep WHERE sweep_id = ?2",
               gpu, there, &m->merged->sweeps));
    *here = sqlite3_last_insert_rowid(m->db->sql);
    WW_TRY(run(m,
               "INSERT INTO main.sweep_trace(sweep_id, ord, trace_id, workload, weight)"
               " SELECT ?1, s.ord, t.trace_id, s.workload, s.weight FROM other.sweep_trace s"
               " JOIN other.trace x ON x.trace_id = s.trace_id"
               " JOIN main.trace t ON t.hash = x.hash AND t.program = x.program WHERE s.sweep_id = ?2",
               *here, there, NULL));
    WW_TRY(run(m,
               "INSERT INTO main.sweep_objective(sweep_id, ord, name, sql, sense)"
               " SELECT ?1, ord, name, sql, sense FROM other.sweep_objective WHERE sweep_id = ?2",
               *here, there, NULL));
    return bring_adaptive(m, there, *here);
}

static enum ww_code bring_sweep(struct merge *m, int64_t there, int64_t *here) {
    struct ww_select s;
    *here = 0;
    if (ww_select_open(&s, m->db,
                       "SELECT sweep_id FROM main.sweep WHERE hash = (SELECT hash FROM other.sweep"
                       " WHERE sweep_id = ?1)",
                       there, m->error) == WW_OK &&
        ww_select_row(&s))
        *here = ww_select_i64(&s);
    WW_TRY(ww_select_close(&s));
    return *here ? ww_db_compare_sweep(m->db, m->from, *here, there, m->error) : bring_head(m, there, here);
}

/* ---- points and replays ---- */

/* The points themselves come last: until then they say which rows are new. Foreign keys are deferred. */
static enum ww_code bring_points(struct merge *m, int64_t there) {
    static const char *const parts[] = {
        "INSERT INTO main.sweep_setting(sweep_id, point, ord, key, value)"
        " SELECT ?1, s.point, s.ord, s.key, s.value FROM other.sweep_setting s " NEW_POINT("point"),
        "INSERT INTO main.sweep_value(sweep_id, point, objective, value)"
        " SELECT ?1, s.point, s.objective, s.value FROM other.sweep_value s " NEW_POINT("point"),
    };
    int64_t here;
    WW_TRY(bring_sweep(m, there, &here));
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) WW_TRY(run(m, parts[i], here, there, NULL));
    return run(m,
               "INSERT INTO main.sweep_point(sweep_id, ord, config, feasible, reason, area_mm2)"
               " SELECT ?1, s.ord, s.config, s.feasible, s.reason, s.area_mm2"
               " FROM other.sweep_point s " NEW_POINT("ord"),
               here, there, &m->merged->points);
}

/* Replays are deterministic: if two databases disagree about one, either may be wrong. */
static enum ww_code bring_results(const struct merge *m) {
    int64_t differ = 0;
    WW_TRY(ww_db_get_int(m->db,
                         "SELECT count(*) " RESULTS " JOIN main.sweep_result m ON m.config = r.config"
                         " AND m.trace_id = t.trace_id WHERE m.cycles <> r.cycles OR m.time_ps <> r.time_ps"
                         " OR m.energy_j IS NOT r.energy_j",
                         &differ, m->error));
    if (differ)
        return ww_fail(m->error, WW_MISMATCH, m->from,
                       "%lld of its replays are in %s with other results; expected the same of the same"
                       " configuration, trace and version",
                       (long long)differ, m->db->path);
    WW_TRY(run(m,
               "INSERT INTO main.sweep_sampled(config, trace_id, replayed, time_error, energy_error)"
               " SELECT r.config, t.trace_id, r.replayed, r.time_error, r.energy_error"
               " FROM other.sweep_sampled" TRACE_HERE " WHERE NOT EXISTS (SELECT 1 FROM main.sweep_sampled m"
               " WHERE m.config = r.config AND m.trace_id = t.trace_id)",
               0, 0, NULL));
    WW_TRY(run(m,
               "INSERT INTO main.sweep_variant(config, trace_id, " VARIANT_COLUMNS(
                   "") ")"
                       " SELECT r.config, t.trace_id, " VARIANT_COLUMNS(
                           "r.") " FROM other.sweep_variant" TRACE_HERE
                                 " WHERE NOT EXISTS (SELECT 1 FROM main.sweep_variant m"
                                 " WHERE m.config = r.config AND m.trace_id = t.trace_id)",
               0, 0, NULL));
    WW_TRY(run(m,
               "INSERT INTO main.sweep_compared(config, trace_id, ctas, reason)"
               " SELECT r.config, t.trace_id, r.ctas, r.reason FROM other.sweep_compared" TRACE_HERE
               " WHERE true ON CONFLICT(config, trace_id) DO UPDATE SET ctas = max(ctas, excluded.ctas),"
               " reason = max(reason, excluded.reason)",
               0, 0, NULL));
    WW_TRY(run(m,
               "INSERT INTO main.sweep_energy(config, trace_id, " WW_DB_ENERGY_PARTS ")"
               " SELECT r.config, t.trace_id, " WW_DB_ENERGY_PARTS " FROM other.sweep_energy" TRACE_HERE
               " WHERE NOT EXISTS (SELECT 1 FROM main.sweep_energy m"
               " WHERE m.config = r.config AND m.trace_id = t.trace_id)",
               0, 0, NULL));
    return run(m,
               "INSERT INTO main.sweep_result(config, trace_id, cycles, time_ps, warp_instructions,"
               " thread_instructions, energy_j, host_seconds) SELECT r.config, t.trace_id, r.cycles, r.time_ps,"
               " r.warp_instructions, r.thread_instructions, r.energy_j, r.host_seconds " RESULTS
               " WHERE NOT EXISTS (" HERE ")",
               0, 0, &m->merged->results);
}

static enum ww_code merge_all(struct merge *m) {
    struct ww_select s;
    int64_t *id = NULL;
    size_t count = 0;
    WW_TRY(ww_db_exec(m->db, "PRAGMA defer_foreign_keys = ON", "merging", m->error));
    int64_t sweeps = 0;
    WW_TRY(ww_db_get_int(m->db, "SELECT count(*) FROM other.sweep", &sweeps, m->error));
    id = ww_arena_array(&m->arena, (size_t)sweeps + 1, sizeof *id);
    if (!id) return ww_fail_nomem(m->error, "the sweeps of a database");
    if (ww_select_open(&s, m->db, "SELECT sweep_id FROM other.sweep ORDER BY sweep_id", 0, m->error) == WW_OK)
        while (count < (size_t)sweeps && ww_select_row(&s)) id[count++] = ww_select_i64(&s);
    WW_TRY(ww_select_close(&s));
    for (size_t i = 0; i < count; i++) WW_TRY(bring_points(m, id[i]));
    return bring_results(m);
}

/* ---- the other database ---- */

enum ww_code ww_db_check_pages(struct ww_db *db, struct ww_error *error) {
    sqlite3_stmt *stmt = NULL;
    enum ww_code code = WW_OK;
    if (sqlite3_prepare_v2(db->sql, "PRAGMA quick_check(1)", -1, &stmt, NULL) != SQLITE_OK ||
        sqlite3_step(stmt) != SQLITE_ROW)
        code = ww_db_fail(db, "checking", error);
    else if (strcmp((const char *)sqlite3_column_text(stmt, 0), "ok") != 0)
        code = ww_db_damaged(db, (const char *)sqlite3_column_text(stmt, 0), error);
    sqlite3_finalize(stmt);
    return code;
}

enum ww_code ww_db_check_merge(const char *from, struct ww_error *error) {
    struct ww_db *other;
    WW_TRY(ww_db_open_for(from, WW_DB_READ, &other, error));
    enum ww_code code = ww_db_check_pages(other, error);
    if (code == WW_OK) code = ww_db_check_sweeps(other, error);
    ww_db_close(other);
    return code;
}

/* A sweep that this program would not make is not joined. */
static enum ww_code check_other(const struct ww_db *db, const char *from, struct ww_error *error) {
    struct stat a, b;
    if (stat(db->path, &a) == 0 && stat(from, &b) == 0 && a.st_dev == b.st_dev && a.st_ino == b.st_ino)
        return ww_fail(error, WW_USAGE, from, "is the database that it would be merged into");
    return ww_db_check_merge(from, error);
}

static enum ww_code attach(struct ww_db *db, const char *from, struct ww_error *error) {
    sqlite3_stmt *stmt;
    char *path = sqlite3_mprintf("%s%s", strncmp(from, "file:", 5) == 0 ? "./" : "", from);
    if (!path) return ww_fail_nomem(error, "a database's name");
    enum ww_code code = WW_OK;
    if (sqlite3_prepare_v2(db->sql, "ATTACH ?1 AS other", -1, &stmt, NULL) != SQLITE_OK)
        code = ww_db_fail(db, "attaching", error);
    sqlite3_bind_text(stmt, 1, path, -1, SQLITE_STATIC);
    if (code == WW_OK && sqlite3_step(stmt) != SQLITE_DONE) code = ww_db_fail(db, "attaching", error);
    sqlite3_finalize(stmt);
    sqlite3_free(path);
    return code;
}

enum ww_code ww_db_merge(struct ww_db *db, const char *from, struct ww_db_merged *merged,
                         struct ww_error *error) {
    struct ww_db_merged before = *merged;
    struct merge m = {.db = db, .merged = merged, .from = from, .error = error};
    WW_TRY(check_other(db, from, error));
    WW_TRY(attach(db, from, error));
    ww_arena_init(&m.arena, 0);
    enum ww_code code = ww_db_exec(db, "BEGIN IMMEDIATE", "merging", error);
    if (code == WW_OK) code = ww_db_finish(db, merge_all(&m), error);
    if (code != WW_OK) *merged = before;
    ww_arena_free(&m.arena);
    sqlite3_exec(db->sql, "DETACH other", NULL, NULL, NULL);
    return code;
}

enum ww_code ww_db_make_durable(struct ww_db *db, struct ww_error *error) {
    return ww_db_exec(db, "PRAGMA wal_checkpoint(FULL)", "writing", error);
}
