/* Step 19: copies of a program, and launches among them. Runs without copies have no rows. */
#include "schema.h"

const char *const ww_db_copies_sql[] = {
    "CREATE TABLE run_copy("
    " run_id INTEGER NOT NULL REFERENCES run ON DELETE CASCADE, number INTEGER NOT NULL CHECK(number >= 0),"
    " way TEXT NOT NULL CHECK(way IN ('to device', 'from device', 'within', 'fill')),"
    " pageable INTEGER NOT NULL CHECK(pageable IN (0, 1)), stream INTEGER NOT NULL CHECK(stream >= 0),"
    " launches_before INTEGER NOT NULL CHECK(launches_before >= 0), engine INTEGER CHECK(engine >= 0),"
    " bytes INTEGER NOT NULL CHECK(bytes > 0), start_ps INTEGER NOT NULL CHECK(start_ps >= 0),"
    " end_ps INTEGER NOT NULL CHECK(end_ps >= start_ps), PRIMARY KEY(run_id, number)) WITHOUT ROWID",
    "CREATE TABLE launch_among_copies("
    " launch_id INTEGER PRIMARY KEY REFERENCES launch ON DELETE CASCADE,"
    " start_ps INTEGER NOT NULL CHECK(start_ps >= 0), end_ps INTEGER NOT NULL CHECK(end_ps >= start_ps))",
    NULL};
