/* Step 12: where the machine code of a launch comes from. NULL: PTX was lowered by our rules, the trace is of
 * another tool, or the run was stored before this step. */
#include "schema.h"

/* clang-format off */
const char *const ww_db_code_sql[] = {
    "ALTER TABLE launch ADD COLUMN code TEXT",
    "DROP VIEW v_launch",

    "CREATE VIEW v_launch AS SELECT l.run_id AS run_id, l.trace_index AS launch, l.launch_id AS launch_id,"
    " k.name AS kernel, l.grid_x || 'x' || l.grid_y || 'x' || l.grid_z AS grid,"
    " l.block_x || 'x' || l.block_y || 'x' || l.block_z AS block, l.registers_per_thread AS registers,"
    " l.shared_bytes AS shared_bytes, l.ctas_per_sm AS ctas_per_sm, l.occupancy_limiter AS limiter,"
    " l.cycles AS cycles, l.time_ps * 1e-6 AS time_us, l.warp_instructions AS warp_instructions,"
    " 1.0 * l.warp_instructions / nullif(l.cycles, 0) AS ipc, l.energy_j AS energy_j,"
    " l.energy_j / nullif(l.time_ps * 1e-12, 0) AS power_w,"
    " 1.0 * l.resident_warp_cycles / nullif(l.cycles, 0) AS resident_warps,"
    " (SELECT s.name FROM launch_state v JOIN warp_state s USING(state_id)"
    " WHERE v.launch_id = l.launch_id AND s.name NOT IN ('issued', 'done')"
    " ORDER BY v.warp_cycles DESC, s.state_id LIMIT 1) AS top_stall, l.code AS code"
    " FROM launch l JOIN kernel k USING(kernel_id)",
    NULL,
};
/* clang-format on */
