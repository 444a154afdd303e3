/* Step 8: what runs keep for their timelines. What each column means: docs/reference/database.md. */
#include "schema.h"

/* clang-format off */
const char *const ww_db_timeline_sql[] = {
    "CREATE TABLE epoch_counter("
    " launch_id INTEGER NOT NULL, ord INTEGER NOT NULL, counter_id INTEGER NOT NULL REFERENCES counter,"
    " value INTEGER NOT NULL CHECK(value > 0), PRIMARY KEY(launch_id, ord, counter_id),"
    " FOREIGN KEY(launch_id, ord) REFERENCES epoch ON DELETE CASCADE) WITHOUT ROWID",
    "CREATE TABLE cta("
    " launch_id INTEGER NOT NULL REFERENCES launch ON DELETE CASCADE, ord INTEGER NOT NULL CHECK(ord >= 0),"
    " cta INTEGER NOT NULL CHECK(cta >= 0), sm INTEGER NOT NULL CHECK(sm >= 0), slot INTEGER NOT NULL CHECK(slot >= 0),"
    " first_cycle INTEGER NOT NULL CHECK(first_cycle >= 0), end_cycle INTEGER NOT NULL CHECK(end_cycle >= first_cycle),"
    " start_ps INTEGER NOT NULL CHECK(start_ps >= 0), end_ps INTEGER NOT NULL CHECK(end_ps >= start_ps),"
    " PRIMARY KEY(launch_id, ord)) WITHOUT ROWID",

    "CREATE VIEW v_cta AS SELECT l.run_id AS run_id, l.ord AS launch, k.name AS kernel, c.cta AS cta, c.sm AS sm,"
    " c.slot AS slot, c.first_cycle AS first_cycle, c.end_cycle - c.first_cycle AS cycles,"
    " c.start_ps * 1e-6 AS start_us, (c.end_ps - c.start_ps) * 1e-6 AS time_us"
    " FROM launch l JOIN kernel k USING(kernel_id) JOIN cta c USING(launch_id)",
    NULL,
};
/* clang-format on */
