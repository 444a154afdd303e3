/* Step 5: sweeps. What each column means: docs/reference/database.md. Rows are found by the number of their
 * point, not by when they were stored, so that a sweep's content does not depend on the order in which its
 * points ended. */
#include "schema.h"

/* clang-format off */
const char *const ww_db_sweep_sql[] = {
    "CREATE TABLE sweep("
    " sweep_id INTEGER PRIMARY KEY AUTOINCREMENT,"
    " stored_at TEXT NOT NULL DEFAULT (strftime('%Y-%m-%dT%H:%M:%fZ', 'now')),"
    " hash TEXT NOT NULL UNIQUE, gpu_id INTEGER NOT NULL REFERENCES gpu, power TEXT NOT NULL,"
    " space TEXT NOT NULL, strategy TEXT NOT NULL, seed TEXT NOT NULL, mode TEXT NOT NULL,"
    " version TEXT NOT NULL, points INTEGER NOT NULL CHECK(points > 0))",
    "CREATE TABLE sweep_trace("
    " sweep_id INTEGER NOT NULL REFERENCES sweep ON DELETE CASCADE, ord INTEGER NOT NULL,"
    " trace_id INTEGER NOT NULL REFERENCES trace, workload TEXT NOT NULL, weight REAL NOT NULL CHECK(weight > 0),"
    " PRIMARY KEY(sweep_id, ord)) WITHOUT ROWID",
    "CREATE TABLE sweep_objective("
    " sweep_id INTEGER NOT NULL REFERENCES sweep ON DELETE CASCADE, ord INTEGER NOT NULL,"
    " name TEXT NOT NULL, sql TEXT NOT NULL, sense INTEGER NOT NULL CHECK(sense IN (-1, 1)),"
    " PRIMARY KEY(sweep_id, ord)) WITHOUT ROWID",
    "CREATE TABLE sweep_point("
    " sweep_id INTEGER NOT NULL REFERENCES sweep ON DELETE CASCADE, ord INTEGER NOT NULL CHECK(ord >= 0),"
    " config TEXT NOT NULL, feasible INTEGER CHECK(feasible IN (0, 1)), reason TEXT NOT NULL, area_mm2 REAL,"
    " PRIMARY KEY(sweep_id, ord)) WITHOUT ROWID",
    "CREATE TABLE sweep_setting("
    " sweep_id INTEGER NOT NULL, point INTEGER NOT NULL, ord INTEGER NOT NULL, key TEXT NOT NULL, value NOT NULL,"
    " PRIMARY KEY(sweep_id, point, ord),"
    " FOREIGN KEY(sweep_id, point) REFERENCES sweep_point(sweep_id, ord) ON DELETE CASCADE) WITHOUT ROWID",
    "CREATE TABLE sweep_result("
    " config TEXT NOT NULL, trace_id INTEGER NOT NULL REFERENCES trace,"
    " cycles INTEGER NOT NULL CHECK(cycles >= 0), time_ps INTEGER NOT NULL CHECK(time_ps >= 0),"
    " warp_instructions INTEGER NOT NULL CHECK(warp_instructions >= 0),"
    " thread_instructions INTEGER NOT NULL CHECK(thread_instructions >= 0), energy_j REAL,"
    " host_seconds REAL NOT NULL, PRIMARY KEY(config, trace_id)) WITHOUT ROWID",
    "CREATE TABLE sweep_value("
    " sweep_id INTEGER NOT NULL, point INTEGER NOT NULL, objective INTEGER NOT NULL, value REAL NOT NULL,"
    " PRIMARY KEY(sweep_id, point, objective),"
    " FOREIGN KEY(sweep_id, point) REFERENCES sweep_point(sweep_id, ord) ON DELETE CASCADE,"
    " FOREIGN KEY(sweep_id, objective) REFERENCES sweep_objective(sweep_id, ord) ON DELETE CASCADE) WITHOUT ROWID",
    "CREATE TABLE sweep_effect("
    " sweep_id INTEGER NOT NULL, objective INTEGER NOT NULL, ord INTEGER NOT NULL,"
    " a TEXT NOT NULL, b TEXT NOT NULL, effect REAL, error REAL, share REAL NOT NULL,"
    " PRIMARY KEY(sweep_id, objective, ord),"
    " FOREIGN KEY(sweep_id, objective) REFERENCES sweep_objective(sweep_id, ord) ON DELETE CASCADE) WITHOUT ROWID",

    "CREATE VIEW v_sweep_result AS SELECT t.sweep_id AS sweep_id, p.ord AS point, t.ord AS trace,"
    " t.workload AS workload, t.weight AS weight, p.feasible AS feasible, r.cycles AS cycles,"
    " r.time_ps * 1e-12 AS time_s, r.warp_instructions AS warp_instructions,"
    " r.thread_instructions AS thread_instructions, r.energy_j AS energy_j,"
    " r.energy_j / nullif(r.time_ps * 1e-12, 0) AS power_w"
    " FROM sweep_point p JOIN sweep_trace t ON t.sweep_id = p.sweep_id"
    " JOIN sweep_result r ON r.config = p.config AND r.trace_id = t.trace_id WHERE p.feasible IS NOT NULL",

    "CREATE VIEW v_sweep_settings AS SELECT sweep_id, ord AS point,"
    " (SELECT group_concat(setting, ' ') FROM (SELECT s.key || '=' || s.value AS setting FROM sweep_setting s"
    " WHERE s.sweep_id = p.sweep_id AND s.point = p.ord ORDER BY s.ord)) AS settings FROM sweep_point p",

    "CREATE VIEW v_sweep_point AS SELECT sweep_id, point, feasible, cycles, time_s, warp_instructions,"
    " thread_instructions, warp_instructions / nullif(cycles, 0) AS ipc, energy_j,"
    " energy_j / nullif(time_s, 0) AS power_w, energy_j * time_s AS edp, area_mm2 FROM ("
    "SELECT r.sweep_id AS sweep_id, r.point AS point, r.feasible AS feasible,"
    " sum(r.weight * r.cycles) AS cycles, sum(r.weight * r.time_s) AS time_s,"
    " sum(r.weight * r.warp_instructions) AS warp_instructions,"
    " sum(r.weight * r.thread_instructions) AS thread_instructions,"
    " CASE WHEN count(*) = count(r.energy_j) THEN sum(r.weight * r.energy_j) END AS energy_j,"
    " (SELECT p.area_mm2 FROM sweep_point p WHERE p.sweep_id = r.sweep_id AND p.ord = r.point) AS area_mm2"
    " FROM v_sweep_result r GROUP BY r.sweep_id, r.point)",
    NULL,
};
/* clang-format on */
