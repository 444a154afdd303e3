/* Step 10: `launch` in views is the launch's number in its trace, as everywhere else; the place in the run
 * stays in launch.ord. */
#include "schema.h"

/* Warps in the states of a condition, averaged over epoch e of launch l. */
#define E(condition)                                                                                           \
    "(SELECT total(v.warp_cycles) FROM epoch_state v JOIN warp_state s USING(state_id)"                        \
    " WHERE v.launch_id = e.launch_id AND v.ord = e.ord AND " condition ") / nullif(e.cycles, 0)"
#define NUMBER "l.run_id AS run_id, l.trace_index AS launch"

/* clang-format off */
const char *const ww_db_launch_sql[] = {
    "DROP VIEW v_launch", "DROP VIEW v_epoch", "DROP VIEW v_epoch_energy", "DROP VIEW v_epoch_power",
    "DROP VIEW v_vf", "DROP VIEW v_cta",

    "CREATE VIEW v_launch AS SELECT " NUMBER ", l.launch_id AS launch_id,"
    " k.name AS kernel, l.grid_x || 'x' || l.grid_y || 'x' || l.grid_z AS grid,"
    " l.block_x || 'x' || l.block_y || 'x' || l.block_z AS block, l.registers_per_thread AS registers,"
    " l.shared_bytes AS shared_bytes, l.ctas_per_sm AS ctas_per_sm, l.occupancy_limiter AS limiter,"
    " l.cycles AS cycles, l.time_ps * 1e-6 AS time_us, l.warp_instructions AS warp_instructions,"
    " 1.0 * l.warp_instructions / nullif(l.cycles, 0) AS ipc, l.energy_j AS energy_j,"
    " l.energy_j / nullif(l.time_ps * 1e-12, 0) AS power_w,"
    " 1.0 * l.resident_warp_cycles / nullif(l.cycles, 0) AS resident_warps,"
    " (SELECT s.name FROM launch_state v JOIN warp_state s USING(state_id)"
    " WHERE v.launch_id = l.launch_id AND s.name NOT IN ('issued', 'done')"
    " ORDER BY v.warp_cycles DESC, s.state_id LIMIT 1) AS top_stall"
    " FROM launch l JOIN kernel k USING(kernel_id)",

    "CREATE VIEW v_epoch AS SELECT " NUMBER ", e.ord AS epoch,"
    " e.first_cycle AS first_cycle, e.cycles AS cycles,"
    " 1.0 * e.warp_instructions / nullif(e.cycles, 0) AS ipc,"
    " " E("s.name <> 'done'") " AS active,"
    " " E("s.name LIKE 'wait!_%' ESCAPE '!'") " AS waiting,"
    " " E("s.name = 'excess_alu'") " AS x_alu,"
    " " E("s.name = 'excess_mem'") " AS x_mem FROM launch l JOIN epoch e USING(launch_id)",

    "CREATE VIEW v_epoch_energy AS SELECT " NUMBER ", e.ord AS epoch,"
    " p.name AS component, v.dynamic_j AS dynamic_j, v.static_j AS static_j,"
    " v.dynamic_j + v.static_j AS energy_j,"
    " (v.dynamic_j + v.static_j) / nullif(t.time_ps * 1e-12, 0) AS power_w"
    " FROM launch l JOIN epoch e USING(launch_id)"
    " JOIN epoch_time t ON t.launch_id = e.launch_id AND t.ord = e.ord"
    " JOIN epoch_energy v ON v.launch_id = e.launch_id AND v.ord = e.ord JOIN component p USING(component_id)",

    "CREATE VIEW v_epoch_power AS SELECT run_id, launch, epoch, first_cycle, start_us, time_us, energy_j,"
    " energy_j / nullif(time_us * 1e-6, 0) AS power_w, cta_limit, ctas_paused FROM ("
    "SELECT " NUMBER ", e.ord AS epoch, e.first_cycle AS first_cycle,"
    " (SELECT coalesce(sum(b.time_ps), 0) FROM epoch_time b WHERE b.launch_id = e.launch_id AND b.ord < e.ord)"
    " * 1e-6 AS start_us, t.time_ps * 1e-6 AS time_us,"
    " (SELECT sum(v.dynamic_j + v.static_j) FROM epoch_energy v WHERE v.launch_id = e.launch_id"
    " AND v.ord = e.ord) AS energy_j, t.cta_limit AS cta_limit, t.ctas_paused AS ctas_paused"
    " FROM launch l JOIN epoch e USING(launch_id)"
    " JOIN epoch_time t ON t.launch_id = e.launch_id AND t.ord = e.ord)",

    "CREATE VIEW v_vf AS SELECT run_id, launch, point, first_cycle, (until_cycle - first_cycle) AS cycles,"
    " start_ps * 1e-6 AS start_us, (until_cycle - first_cycle) / sm_mhz AS time_us, sm_mhz, l2_mhz, dram_mhz"
    " FROM (SELECT " NUMBER ", v.ord AS point, v.first_cycle AS first_cycle,"
    " coalesce((SELECT n.first_cycle FROM vf_point n WHERE n.launch_id = v.launch_id AND n.ord = v.ord + 1),"
    " l.cycles) AS until_cycle, v.start_ps AS start_ps, v.sm_mhz AS sm_mhz, v.l2_mhz AS l2_mhz,"
    " v.dram_mhz AS dram_mhz FROM launch l JOIN vf_point v USING(launch_id))",

    "CREATE VIEW v_cta AS SELECT " NUMBER ", k.name AS kernel, c.cta AS cta, c.sm AS sm,"
    " c.slot AS slot, c.first_cycle AS first_cycle, c.end_cycle - c.first_cycle AS cycles,"
    " c.start_ps * 1e-6 AS start_us, (c.end_ps - c.start_ps) * 1e-6 AS time_us"
    " FROM launch l JOIN kernel k USING(kernel_id) JOIN cta c USING(launch_id)",
    NULL,
};
/* clang-format on */
