/* Step 13: what makes a run's GPU differ from its model. Older runs have no rows: their overrides are not
 * known. */
#include "schema.h"

const char *const ww_db_override_sql[] = {
    "CREATE TABLE run_override("
    " run_id INTEGER NOT NULL REFERENCES run ON DELETE CASCADE, key TEXT NOT NULL, value TEXT NOT NULL,"
    " base TEXT NOT NULL, PRIMARY KEY(run_id, key)) WITHOUT ROWID",
    "CREATE VIEW v_override AS SELECT r.run_id AS run_id, coalesce((SELECT group_concat(pair, ' ') FROM"
    " (SELECT o.key || '=' || o.value AS pair FROM run_override o WHERE o.run_id = r.run_id ORDER BY o.key)),"
    " '') AS overrides FROM run r",
    NULL};
