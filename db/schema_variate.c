/* Step 22: fast replay as control variate of a sampled run. Runs stored before it tried none. */
#include "schema.h"

#define COLUMN(column) "ALTER TABLE run_sampling ADD COLUMN " column

const char *const ww_db_variate_sql[] = {COLUMN("estimator TEXT NOT NULL DEFAULT 'ratio to instructions'"),
                                         COLUMN("fast_units INTEGER NOT NULL DEFAULT 0 CHECK(fast_units >= 0)"),
                                         COLUMN("fast_instructions INTEGER NOT NULL DEFAULT 0"),
                                         COLUMN("fast_cost REAL NOT NULL DEFAULT 0"),
                                         COLUMN("correlation REAL NOT NULL DEFAULT 0"),
                                         COLUMN("pays_from REAL NOT NULL DEFAULT 0"),
                                         NULL};
