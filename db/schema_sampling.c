/* Step 6: what sampled runs replayed. What each column means: docs/reference/database.md. */
#include "schema.h"

/* clang-format off */
const char *const ww_db_sampling_sql[] = {
    "CREATE TABLE run_sampling("
    " run_id INTEGER PRIMARY KEY REFERENCES run ON DELETE CASCADE, reason TEXT NOT NULL,"
    " target_error REAL NOT NULL, units INTEGER NOT NULL, drawn INTEGER NOT NULL, strata INTEGER NOT NULL,"
    " launches INTEGER NOT NULL, replayed_launches INTEGER NOT NULL, ctas INTEGER NOT NULL,"
    " replayed_ctas INTEGER NOT NULL, replayed_instructions INTEGER NOT NULL,"
    " warmed_instructions INTEGER NOT NULL, pairs INTEGER NOT NULL, cold_start_cycles REAL NOT NULL,"
    " cold_start_energy REAL NOT NULL, time_s_lo REAL NOT NULL, time_s_hi REAL NOT NULL, ipc_lo REAL NOT NULL,"
    " ipc_hi REAL NOT NULL, power_w_lo REAL NOT NULL, power_w_hi REAL NOT NULL,"
    " energy_delay_lo REAL NOT NULL, energy_delay_hi REAL NOT NULL)",
    "CREATE TABLE run_unit("
    " run_id INTEGER NOT NULL REFERENCES run ON DELETE CASCADE, ord INTEGER NOT NULL CHECK(ord >= 0),"
    " launch INTEGER NOT NULL, kind INTEGER NOT NULL CHECK(kind BETWEEN 0 AND 3), first_cta INTEGER NOT NULL,"
    " end_cta INTEGER NOT NULL, stratum INTEGER NOT NULL, population INTEGER NOT NULL CHECK(population > 0),"
    " instructions REAL NOT NULL, cycles REAL NOT NULL, time_s REAL NOT NULL, energy_j REAL NOT NULL,"
    " PRIMARY KEY(run_id, ord)) WITHOUT ROWID",
    NULL,
};
/* clang-format on */
