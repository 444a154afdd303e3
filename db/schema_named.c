/* Step 21: the table of concurrent launches and its column of groups get the names that the rest of the schema
 * uses. */
#include "schema.h"

const char *const ww_db_named_sql[] = {"ALTER TABLE launch_beside RENAME TO launch_concurrent",
                                       "ALTER TABLE launch_concurrent RENAME COLUMN beside TO concurrent_group",
                                       NULL};
