/* Step 7: adaptive sweeps. Only points that were replayed in full are rows of sweep_point; what is known of the
 * others is in tables of its own. */
#include "schema.h"

/* clang-format off */
const char *const ww_db_adaptive_sql[] = {
    "CREATE TABLE sweep_adaptive("
    " sweep_id INTEGER PRIMARY KEY REFERENCES sweep ON DELETE CASCADE, budget REAL NOT NULL CHECK(budget > 0),"
    " cost REAL NOT NULL CHECK(cost >= 0), rounds INTEGER NOT NULL CHECK(rounds >= 0))",
    "CREATE TABLE sweep_candidate("
    " sweep_id INTEGER NOT NULL REFERENCES sweep ON DELETE CASCADE, point INTEGER NOT NULL CHECK(point >= 0),"
    " settings TEXT NOT NULL, fidelity TEXT NOT NULL CHECK(fidelity IN ('analytic', 'sampled', 'full')),"
    " round INTEGER, holds INTEGER NOT NULL CHECK(holds IN (0, 1)), may_hold INTEGER NOT NULL"
    " CHECK(may_hold IN (0, 1)), PRIMARY KEY(sweep_id, point)) WITHOUT ROWID",
    "CREATE TABLE sweep_estimate("
    " sweep_id INTEGER NOT NULL, point INTEGER NOT NULL, objective INTEGER NOT NULL, estimate REAL NOT NULL,"
    " low REAL NOT NULL, high REAL NOT NULL, PRIMARY KEY(sweep_id, point, objective),"
    " FOREIGN KEY(sweep_id, point) REFERENCES sweep_candidate(sweep_id, point) ON DELETE CASCADE,"
    " FOREIGN KEY(sweep_id, objective) REFERENCES sweep_objective(sweep_id, ord) ON DELETE CASCADE) WITHOUT ROWID",
    "CREATE TABLE sweep_sampled("
    " config TEXT NOT NULL, trace_id INTEGER NOT NULL REFERENCES trace, replayed REAL NOT NULL,"
    " time_error REAL NOT NULL, energy_error REAL NOT NULL, PRIMARY KEY(config, trace_id)) WITHOUT ROWID",
    NULL,
};
/* clang-format on */
