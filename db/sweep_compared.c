/* What is known of variants' outputs: how many CTAs were compared with the reference's. */
#include "sweep_sql.h"
#include <stdio.h>
#include <string.h>

/* A row of each valid point p of sweep ?1: its variant v, result r, and what was compared c. */
#define PICKS                                                                                                  \
    " FROM sweep_point p JOIN sweep_trace t USING(sweep_id)"                                                   \
    " JOIN sweep_result r ON r.config = p.config AND r.trace_id = t.trace_id"                                  \
    " JOIN sweep_variant v ON v.config = p.config AND v.trace_id = t.trace_id"                                 \
    " LEFT JOIN sweep_compared c ON c.config = p.config AND c.trace_id = t.trace_id"                           \
    " WHERE p.sweep_id = ?1 AND p.feasible IS NOT NULL "

enum ww_code ww_db_sweep_fastest(struct ww_db *db, const struct ww_db_sweep *sweep,
                                 struct ww_db_sweep_pick *pick, size_t room, size_t *count,
                                 struct ww_error *error) {
    struct ww_select s;
    struct ww_arena arena;
    *count = 0;
    ww_arena_init(&arena, 0);
    if (ww_select_open(&s, db,
                       "SELECT p.ord, v.ctas, coalesce(c.ctas, 0), r.thread_instructions, p.config,"
                       " coalesce(c.reason, '') <> ''" PICKS "AND p.feasible = 1 ORDER BY r.time_ps, p.ord",
                       sweep->id, error) == WW_OK)
        while (*count < room && ww_select_row(&s)) {
            struct ww_db_sweep_pick *p = &pick[(*count)++];
            p->ord = ww_select_u64(&s);
            p->ctas = ww_select_u64(&s);
            p->compared_ctas = ww_select_u64(&s);
            p->thread_instructions = ww_select_u64(&s);
            snprintf(p->config, sizeof p->config, "%s", ww_select_text(&s, &arena));
            p->differs = ww_select_i64(&s) != 0;
        }
    enum ww_code code = ww_select_close(&s);
    ww_arena_free(&arena);
    return code;
}

static enum ww_code run(struct ww_db *db, const char *sql, const char *config, int64_t trace, uint64_t ctas,
                        const char *reason, struct ww_error *error) {
    sqlite3_stmt *stmt;
    if (sqlite3_prepare_v2(db->sql, sql, -1, &stmt, NULL) != SQLITE_OK)
        return ww_db_fail(db, "storing what was compared", error);
    sqlite3_bind_text(stmt, 1, config, -1, SQLITE_STATIC);
    sqlite3_bind_int64(stmt, 2, trace);
    sqlite3_bind_int64(stmt, 3, (int64_t)ctas);
    sqlite3_bind_text(stmt, 4, reason, -1, SQLITE_STATIC);
    enum ww_code code =
        sqlite3_step(stmt) == SQLITE_DONE ? WW_OK : ww_db_fail(db, "storing what was compared", error);
    sqlite3_finalize(stmt);
    return code;
}

/* Points of other sweeps, too: what a configuration computes is the same there. */
#define WRONG "(SELECT reason FROM sweep_compared c WHERE c.config = ?1 AND c.trace_id = ?2 AND c.reason <> '')"
#define THEIRS                                                                                                 \
    " AND EXISTS " WRONG " AND EXISTS (SELECT 1 FROM sweep_trace t WHERE t.sweep_id = p.sweep_id"              \
    " AND t.trace_id = ?2)"

static enum ww_code store(struct ww_db *db, const struct ww_db_sweep *sweep, const char *config, uint64_t ctas,
                          const char *reason, struct ww_error *error) {
    static const char *const sql[] = {
        "INSERT INTO sweep_compared(config, trace_id, ctas, reason) VALUES(?1, ?2, ?3, coalesce(?4, ''))"
        " ON CONFLICT(config, trace_id) DO UPDATE SET ctas = max(ctas, excluded.ctas),"
        " reason = iif(excluded.reason <> '', excluded.reason, reason)",
        "DELETE FROM sweep_value WHERE EXISTS (SELECT 1 FROM sweep_point p WHERE p.sweep_id ="
        " sweep_value.sweep_id AND p.ord = sweep_value.point AND p.config = ?1" THEIRS ")",
        "UPDATE sweep_point AS p SET feasible = NULL, reason = " WRONG
        " WHERE p.config = ?1 AND p.feasible IS NOT NULL" THEIRS,
    };
    for (size_t i = 0; i < sizeof sql / sizeof *sql; i++)
        WW_TRY(run(db, sql[i], config, sweep->trace[0].id, ctas, reason, error));
    return WW_OK;
}

enum ww_code ww_db_sweep_compared(struct ww_db *db, const struct ww_db_sweep *sweep, const char *config,
                                  uint64_t ctas, const char *reason, struct ww_error *error) {
    WW_TRY(ww_db_exec(db, "BEGIN IMMEDIATE", "storing what was compared", error));
    return ww_db_finish(db, store(db, sweep, config, ctas, reason, error), error);
}

enum ww_code ww_db_sweep_compared_counts(struct ww_db *db, const struct ww_db_sweep *sweep, uint64_t *wrong,
                                         double *least, struct ww_error *error) {
    struct ww_select s;
    *wrong = 0;
    *least = 0;
    WW_TRY(ww_select_open(&s, db,
                          "SELECT count(*) FROM sweep_point p JOIN sweep_trace t USING(sweep_id)"
                          " JOIN sweep_compared c ON c.config = p.config AND c.trace_id = t.trace_id"
                          " WHERE p.sweep_id = ?1 AND p.feasible IS NULL AND c.reason <> ''",
                          sweep->id, error));
    if (ww_select_row(&s)) *wrong = ww_select_u64(&s);
    WW_TRY(ww_select_close(&s));
    WW_TRY(ww_select_open(&s, db, "SELECT coalesce(min(1.0 * coalesce(c.ctas, 0) / max(v.ctas, 1)), 1.0)" PICKS,
                          sweep->id, error));
    if (ww_select_row(&s)) *least = ww_select_f64(&s);
    return ww_select_close(&s);
}
