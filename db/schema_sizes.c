/* Step 20: grid and block of launches that a profiler measured; NULL where they are not known. */
#include "schema.h"

#define SIZE(column) "ALTER TABLE hardware_point ADD COLUMN " column " INTEGER CHECK(" column " > 0)"

const char *const ww_db_sizes_sql[] = {
    SIZE("grid_x"), SIZE("grid_y"), SIZE("grid_z"), SIZE("block_x"), SIZE("block_y"), SIZE("block_z"), NULL};
