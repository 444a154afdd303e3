/* Checks that a database's sweeps are complete: every value has its type and range, every row has those that it
 * refers to. SQLite keeps text in a column of integers, and its CHECKs hold for text; a file that was damaged
 * or made by hand passes them. */
#include "../estimator/api/database.h"
#include "merge_check.h"
#include <string.h>

#define TEXT(column) "(typeof(" column ") = 'text' AND instr(CAST(" column " AS BLOB), x'00') = 0)"
#define INTEGER(column) "typeof(" column ") = 'integer'"
#define COUNT(column) "(" INTEGER(column) " AND " column " >= 0)"
#define FINITE(column) "(typeof(" column ") = 'real' AND abs(" column ") <= 1.7976931348623157e308)"
#define NONE_OR(column, test) "(" column " IS NULL OR " test ")"
/* Numbers from 0 on without a gap, at least one, of a sweep w. */
#define LISTED(table)                                                                                          \
    "(SELECT count(*) > 0 AND min(x.ord) = 0 AND max(x.ord) = count(*) - 1 FROM " table                        \
    " x WHERE x.sweep_id = w.sweep_id)"
#define POINT_OF "JOIN sweep w USING(sweep_id)"
#define AND " AND "

/* What is true of every row. clang-format would break texts in the middle of words. */
/* clang-format off */
static const struct check {
    const char *table, *rows, *test;
} checks[] = {
    {"gpu", "gpu g WHERE g.gpu_id IN (SELECT gpu_id FROM sweep)",
     TEXT("g.name") " AND " TEXT(
         "g.json") " AND CASE WHEN json_valid(g.json) THEN json_type(g.json) = 'object' END"},
    {"trace", "trace", TEXT("hash") " AND " TEXT("program")},
    {"sweep", "sweep w",
     TEXT("hash") " AND length(hash) = 32 AND " TEXT("stored_at") " AND " TEXT("power") " AND " TEXT("space") " AND " TEXT(
         "strategy") " AND " TEXT("seed") " AND " TEXT("mode") " AND " TEXT("version") " AND " INTEGER("points") " AND points BETWEEN 1 AND 9007199254740992"},
    {"sweep_trace", "sweep_trace",
     COUNT("ord") " AND " TEXT("workload") " AND " FINITE("weight") " AND weight > 0"},
    {"sweep_trace", "sweep w", LISTED("sweep_trace")},
    {"sweep_objective", "sweep_objective",
     COUNT("ord") " AND " TEXT("name") " AND " TEXT("sql") " AND " INTEGER("sense")},
    {"sweep_objective", "sweep w", LISTED("sweep_objective")},
    {"sweep_point", "sweep_point p " POINT_OF,
     COUNT("p.ord") " AND p.ord < w.points AND " TEXT("p.config") " AND " TEXT("p.reason") " AND " NONE_OR(
         "p.area_mm2", FINITE("p.area_mm2")) " AND (p.feasible IS NULL OR typeof(p.feasible) = 'integer')"
                                             " AND (p.feasible IS NULL) = (p.reason <> '')"},
    {"sweep_setting", "sweep_setting",
     COUNT("ord") " AND " TEXT("key") " AND (" INTEGER("value") " OR " FINITE("value") " OR " TEXT(
         "value") ")"
                  " AND length(CAST(key AS BLOB)) <= 65536 AND length(CAST(value AS BLOB)) <= 65536"},
    {"sweep_value", "sweep_value", FINITE("value")},
    {"sweep_result", "sweep_result",
     TEXT("config") AND COUNT("cycles") AND COUNT("time_ps") AND COUNT("warp_instructions")
     AND COUNT("thread_instructions") AND NONE_OR("energy_j", FINITE("energy_j")) AND FINITE("host_seconds")},
    {"sweep_result", "sweep_point p JOIN sweep_trace t USING(sweep_id) WHERE p.feasible IS NOT NULL",
     "EXISTS (SELECT 1 FROM sweep_result r WHERE r.config = p.config AND r.trace_id = t.trace_id)"},
    {"sweep_sampled", "sweep_sampled",
     TEXT("config") " AND " FINITE("replayed") " AND " FINITE("time_error") " AND " FINITE("energy_error")},
    {"sweep_variant", "sweep_variant",
     TEXT("config") AND COUNT("ctas") AND COUNT("recorded_ctas") AND FINITE("alike") AND FINITE("error")
     AND COUNT("registers") AND COUNT("shared_bytes") AND COUNT("local_bytes") AND COUNT("warps_per_cta")
     AND COUNT("ctas_per_sm") AND TEXT("limiter") AND TEXT("top_stall") AND FINITE("stall_share")
     AND FINITE("conflicts")},
    {"sweep_energy", "sweep_energy",
     TEXT("config") " AND " FINITE("instructions_j") " AND " FINITE("lanes_j") " AND " FINITE("load_store_j") " AND " FINITE("l2_j") " AND " FINITE("dram_j") " AND " FINITE("pipeline_j") " AND " FINITE("idle_j") " AND " FINITE("constant_j")},
    {"sweep_compared", "sweep_compared", TEXT("config") AND COUNT("ctas") AND TEXT("reason")},
    {"sweep_adaptive", "sweep_adaptive", FINITE("budget") " AND " FINITE("cost") " AND " COUNT("rounds")},
    {"sweep_candidate", "sweep_candidate c " POINT_OF,
     COUNT("c.point") " AND c.point < w.points AND " TEXT("c.settings") " AND " NONE_OR(
         "c.round", COUNT("c.round")) " AND " INTEGER("c.holds") " AND " INTEGER("c.may_hold")},
    {"sweep_estimate", "sweep_estimate", FINITE("estimate") " AND " FINITE("low") " AND " FINITE("high")},
};
/* clang-format on */

/* The tables whose rows name others. */
static const char *const keyed[] = {
    "sweep",          "sweep_trace",   "sweep_objective", "sweep_point",    "sweep_setting",
    "sweep_value",    "sweep_result",  "sweep_candidate", "sweep_estimate", "sweep_sampled",
    "sweep_adaptive", "sweep_variant", "sweep_compared",  "sweep_energy",
};

static enum ww_code damaged(struct ww_db *db, const char *table, const char *what, struct ww_error *error) {
    char text[120];
    snprintf(text, sizeof text, "table %s: %s", table, what);
    return ww_db_damaged(db, text, error);
}

/* Whether a statement gives a row. */
static enum ww_code has_row(struct ww_db *db, const char *sql, bool *row, struct ww_error *error) {
    sqlite3_stmt *stmt;
    if (sqlite3_prepare_v2(db->sql, sql, -1, &stmt, NULL) != SQLITE_OK)
        return ww_db_fail(db, "checking", error);
    int rc = sqlite3_step(stmt);
    *row = rc == SQLITE_ROW;
    enum ww_code code = rc == SQLITE_ROW || rc == SQLITE_DONE ? WW_OK : ww_db_fail(db, "checking", error);
    sqlite3_finalize(stmt);
    return code;
}

enum ww_code ww_db_check_sweeps(struct ww_db *db, struct ww_error *error) {
    char sql[2048];
    bool bad = false;
    for (size_t i = 0; i < sizeof keyed / sizeof *keyed; i++) {
        snprintf(sql, sizeof sql, "PRAGMA foreign_key_check(%s)", keyed[i]);
        WW_TRY(has_row(db, sql, &bad, error));
        if (bad) return damaged(db, keyed[i], "a row names one that is not there", error);
    }
    for (size_t i = 0; i < sizeof checks / sizeof *checks; i++) {
        const struct check *c = &checks[i];
        bool where = strstr(c->rows, " WHERE ") != NULL;
        snprintf(sql, sizeof sql, "SELECT 1 FROM %s %s (%s) IS NOT 1 LIMIT 1", c->rows, where ? "AND" : "WHERE",
                 c->test);
        WW_TRY(has_row(db, sql, &bad, error));
        if (bad) return damaged(db, c->table, "a row is missing or has a value that cannot be", error);
    }
    return WW_OK;
}

/* ---- the same sweep in two databases ---- */

#define NEAR(column)                                                                                           \
    "(a." column " IS b." column " OR abs(a." column " - b." column ") <= 1e-9 * abs(b." column "))"
/* The rows of both databases, joined: ?1 is the sweep's number here, ?2 there. */
#define BOTH(table, key)                                                                                       \
    table " a JOIN other." table " b ON a.sweep_id = ?1 AND b.sweep_id = ?2 AND a." key " = b." key

/* A point may be valid in one of them, and found wrong in the other when it was among the fastest. */
#define FOUND_WRONG(db)                                                                                        \
    "EXISTS (SELECT 1 FROM " db ".sweep_compared c WHERE c.config = a.config AND c.reason <> '')"

static const struct difference {
    const char *what, *sql;
} differences[] = {
    {"its head",
     "SELECT 1 FROM main.sweep a JOIN other.sweep b ON a.sweep_id = ?1 AND b.sweep_id = ?2"
     " JOIN main.gpu g ON g.gpu_id = a.gpu_id JOIN other.gpu h ON h.gpu_id = b.gpu_id"
     " WHERE (a.power, a.space, a.strategy, a.seed, a.mode, a.version, a.points, g.name, g.json)"
     " IS NOT (b.power, b.space, b.strategy, b.seed, b.mode, b.version, b.points, h.name, h.json) LIMIT 1"},
    {"its traces", "WITH a AS (SELECT s.ord, t.hash, t.program, s.workload, s.weight FROM main.sweep_trace s"
                   " JOIN main.trace t USING(trace_id) WHERE s.sweep_id = ?1),"
                   " b AS (SELECT s.ord, t.hash, t.program, s.workload, s.weight FROM other.sweep_trace s"
                   " JOIN other.trace t USING(trace_id) WHERE s.sweep_id = ?2)"
                   " SELECT 1 FROM (SELECT * FROM a EXCEPT SELECT * FROM b)"
                   " UNION ALL SELECT 1 FROM (SELECT * FROM b EXCEPT SELECT * FROM a) LIMIT 1"},
    {"its objectives", "WITH a AS (SELECT ord, name, sql, sense FROM main.sweep_objective WHERE sweep_id = ?1),"
                       " b AS (SELECT ord, name, sql, sense FROM other.sweep_objective WHERE sweep_id = ?2)"
                       " SELECT 1 FROM (SELECT * FROM a EXCEPT SELECT * FROM b)"
                       " UNION ALL SELECT 1 FROM (SELECT * FROM b EXCEPT SELECT * FROM a) LIMIT 1"},
    {"a point",
     "SELECT 1 FROM main." BOTH(
         "sweep_point",
         "ord") " WHERE a.config <> b.config OR ((a.reason <> b.reason OR a.feasible IS NOT b.feasible)"
                " AND NOT (" FOUND_WRONG("main") " OR " FOUND_WRONG("other") "))"
                                                                             " OR NOT " NEAR(
                                                                                 "area_mm2") " IS 1 LIMIT 1"},
    {"the settings of a point",
     "SELECT 1 FROM main." BOTH(
         "sweep_point",
         "ord") " WHERE EXISTS (SELECT ord, key, value FROM main.sweep_setting WHERE sweep_id = ?1 AND point = "
                "a.ord"
                " EXCEPT SELECT ord, key, value FROM other.sweep_setting WHERE sweep_id = ?2 AND point = a.ord)"
                " OR (SELECT count(*) FROM main.sweep_setting WHERE sweep_id = ?1 AND point = a.ord) <>"
                " (SELECT count(*) FROM other.sweep_setting WHERE sweep_id = ?2 AND point = a.ord) LIMIT 1"},
    {"an objective of a point",
     "SELECT 1 FROM main." BOTH("sweep_value", "point") " AND a.objective = b.objective WHERE NOT " NEAR(
         "value") " IS 1 LIMIT 1"},
};

enum ww_code ww_db_compare_sweep(struct ww_db *db, const char *from, int64_t here, int64_t there,
                                 struct ww_error *error) {
    for (size_t i = 0; i < sizeof differences / sizeof *differences; i++) {
        sqlite3_stmt *stmt;
        if (sqlite3_prepare_v2(db->sql, differences[i].sql, -1, &stmt, NULL) != SQLITE_OK)
            return ww_db_fail(db, "comparing", error);
        sqlite3_bind_int64(stmt, 1, here);
        sqlite3_bind_int64(stmt, 2, there);
        int rc = sqlite3_step(stmt);
        enum ww_code code = rc == SQLITE_ROW || rc == SQLITE_DONE ? WW_OK : ww_db_fail(db, "comparing", error);
        sqlite3_finalize(stmt);
        WW_TRY(code);
        if (rc == SQLITE_ROW)
            return ww_fail(
                error, WW_MISMATCH, from,
                "its sweep %lld is the sweep %lld of %s, but differs in %s; one of the two is damaged",
                (long long)there, (long long)here, db->path, differences[i].what);
    }
    return WW_OK;
}
