/* Step 16: launches that ran concurrently, by their group (step 21 renames both names). Launches that ran alone
 * have no row. */
#include "schema.h"

const char *const ww_db_concurrent_sql[] = {
    "CREATE TABLE launch_beside("
    " launch_id INTEGER PRIMARY KEY REFERENCES launch ON DELETE CASCADE, beside INTEGER NOT NULL CHECK(beside "
    "> 0),"
    " stream INTEGER NOT NULL CHECK(stream >= 0), start_ps INTEGER NOT NULL CHECK(start_ps >= 0),"
    " shared_ps INTEGER NOT NULL CHECK(shared_ps >= 0), shared_active INTEGER NOT NULL CHECK(shared_active >= "
    "0),"
    " shared_cycles INTEGER NOT NULL CHECK(shared_cycles >= 0))",
    NULL};
