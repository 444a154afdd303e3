/* Step 3: what was measured on real GPUs. What each column means: docs/reference/database.md. */
#include "schema.h"

const char *const ww_db_hardware_sql[] = {
    "CREATE TABLE hardware("
    " hardware_id INTEGER PRIMARY KEY AUTOINCREMENT,"
    " imported_at TEXT NOT NULL DEFAULT (strftime('%Y-%m-%dT%H:%M:%fZ', 'now')),"
    " hash TEXT NOT NULL UNIQUE, source TEXT NOT NULL, gpu TEXT NOT NULL, compute_capability TEXT NOT NULL,"
    " driver TEXT NOT NULL, ended TEXT NOT NULL, sms INTEGER NOT NULL, l2_bytes INTEGER NOT NULL,"
    " memory_clock_khz INTEGER NOT NULL, memory_bus_bits INTEGER NOT NULL,"
    " quick INTEGER NOT NULL CHECK(quick IN (0, 1)), json TEXT NOT NULL)",
    "CREATE TABLE hardware_figure("
    " hardware_id INTEGER NOT NULL REFERENCES hardware ON DELETE CASCADE, ord INTEGER NOT NULL,"
    " part TEXT NOT NULL, method TEXT NOT NULL, parameters TEXT NOT NULL, unit TEXT NOT NULL,"
    " median REAL NOT NULL, low REAL NOT NULL, high REAL NOT NULL, repetitions INTEGER NOT NULL,"
    " PRIMARY KEY(hardware_id, ord)) WITHOUT ROWID",
    "CREATE TABLE hardware_point("
    " hardware_id INTEGER NOT NULL REFERENCES hardware ON DELETE CASCADE, ord INTEGER NOT NULL,"
    " workload TEXT NOT NULL, parameters TEXT NOT NULL, seed TEXT NOT NULL,"
    " launch INTEGER CHECK(launch >= 0), kernel TEXT NOT NULL, metric TEXT NOT NULL,"
    " value REAL NOT NULL CHECK(value > 0), low REAL NOT NULL, high REAL NOT NULL,"
    " repetitions INTEGER NOT NULL, verified INTEGER NOT NULL CHECK(verified IN (0, 1)),"
    " PRIMARY KEY(hardware_id, ord)) WITHOUT ROWID",
    NULL,
};
