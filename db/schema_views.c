/* Step 2: the views, which answer the usual questions. Units stand in the column names: _j joules, _w
 * watts, _us microseconds, gb_s 10^9 bytes per second; a sector has
 * 32 bytes at every level. A ratio whose divisor is 0 is NULL.
 * Sums are correlated subqueries rather than GROUP BY, so that a view costs only the runs that are asked for,
 * however the run is named. */
#include "schema.h"

/* Sum of one counter over the launches of run r. */
#define C(name)                                                                                                \
    "(SELECT coalesce(sum(v.value), 0) FROM launch l JOIN launch_counter v USING(launch_id)"                   \
    " WHERE l.run_id = r.run_id AND v.counter_id = (SELECT counter_id FROM counter WHERE name = '" name "'))"
/* Warps in the states of a condition, averaged over epoch e of launch l. */
#define E(condition)                                                                                           \
    "(SELECT total(v.warp_cycles) FROM epoch_state v JOIN warp_state s USING(state_id)"                        \
    " WHERE v.launch_id = e.launch_id AND v.ord = e.ord AND " condition ") / nullif(e.cycles, 0)"
/* A column of v_memory_counter by level x. */
#define L(l1, l2, dram) "CASE x.level WHEN 'l1' THEN " l1 " WHEN 'l2' THEN " l2 " ELSE " dram " END"

/* clang-format off */
const char *const ww_db_views_sql[] = {
    /* file name of the trace without directories and suffix */
    "CREATE VIEW v_workload AS SELECT run_id,"
    " CASE WHEN substr(base, -4) = '.wwt' THEN substr(base, 1, length(base) - 4) ELSE base END AS workload"
    " FROM (SELECT run_id, replace(trace_path, rtrim(trace_path, replace(trace_path, '/', '')), '') AS base"
    " FROM run)",

    "CREATE VIEW v_stall AS SELECT run_id, state, nsight, warp_cycles,"
    " 1.0 * warp_cycles / nullif(whole, 0) AS share,"
    " 1.0 * warp_cycles / nullif(warp_instructions, 0) AS per_instruction FROM ("
    "SELECT r.run_id AS run_id, s.name AS state, s.nsight AS nsight, r.warp_instructions AS warp_instructions,"
    " (SELECT coalesce(sum(v.warp_cycles), 0) FROM launch l JOIN launch_state v USING(launch_id)"
    " WHERE l.run_id = r.run_id AND v.state_id = s.state_id) AS warp_cycles,"
    " (SELECT total(l.resident_warp_cycles) FROM launch l WHERE l.run_id = r.run_id) AS whole"
    " FROM run r CROSS JOIN warp_state s)",

    "CREATE VIEW v_top_stall AS SELECT r.run_id AS run_id, s.name AS state, s.nsight AS nsight,"
    " (SELECT total(v.warp_cycles) FROM launch l JOIN launch_state v USING(launch_id)"
    " WHERE l.run_id = r.run_id AND v.state_id = s.state_id) / nullif((SELECT total(l.resident_warp_cycles)"
    " FROM launch l WHERE l.run_id = r.run_id), 0) AS share FROM run r JOIN warp_state s ON s.state_id ="
    " (SELECT v.state_id FROM launch l JOIN launch_state v USING(launch_id) JOIN warp_state x USING(state_id)"
    " WHERE l.run_id = r.run_id AND x.name NOT IN ('issued', 'done') GROUP BY v.state_id"
    " ORDER BY sum(v.warp_cycles) DESC, v.state_id LIMIT 1)",

    "CREATE VIEW v_slot AS SELECT run_id, cause, slots, 1.0 * slots / nullif(whole, 0) AS share FROM ("
    "SELECT r.run_id AS run_id, s.name AS cause,"
    " (SELECT coalesce(sum(v.slots), 0) FROM launch l JOIN launch_slot v USING(launch_id)"
    " WHERE l.run_id = r.run_id AND v.cause_id = s.cause_id) AS slots,"
    " (SELECT total(v.slots) FROM launch l JOIN launch_slot v USING(launch_id) WHERE l.run_id = r.run_id)"
    " AS whole FROM run r CROSS JOIN slot_cause s)",

    "CREATE VIEW v_cpi_stack AS SELECT s.run_id AS run_id, s.cause AS cause,"
    " 1.0 * s.slots / nullif(r.warp_instructions, 0) AS cpi, s.share AS share,"
    " s.share * r.cycles AS cycles FROM v_slot s JOIN run r USING(run_id)",

    "CREATE VIEW v_energy AS SELECT run_id, component, dynamic_j, static_j, dynamic_j + static_j AS energy_j,"
    " (dynamic_j + static_j) / nullif(whole, 0) AS share,"
    " (dynamic_j + static_j) / nullif(time_ps * 1e-12, 0) AS power_w FROM ("
    "SELECT r.run_id AS run_id, p.name AS component, r.energy_j AS whole, r.time_ps AS time_ps,"
    " (SELECT sum(v.dynamic_j) FROM launch l JOIN launch_energy v USING(launch_id)"
    " WHERE l.run_id = r.run_id AND v.component_id = p.component_id) AS dynamic_j,"
    " (SELECT sum(v.static_j) FROM launch l JOIN launch_energy v USING(launch_id)"
    " WHERE l.run_id = r.run_id AND v.component_id = p.component_id) AS static_j"
    " FROM run r CROSS JOIN component p)",

    "CREATE VIEW v_counter AS SELECT r.run_id AS run_id, c.name AS counter, c.level AS level,"
    " (SELECT coalesce(sum(v.value), 0) FROM launch l JOIN launch_counter v USING(launch_id)"
    " WHERE l.run_id = r.run_id AND v.counter_id = c.counter_id) AS value, c.unit AS unit"
    " FROM run r CROSS JOIN counter c",

    "CREATE VIEW v_setting AS SELECT r.run_id AS run_id,"
    " coalesce((SELECT group_concat(pair, ' ') FROM (SELECT key || '=' || value AS pair FROM run_setting s"
    " WHERE s.run_id = r.run_id ORDER BY ord)), '') AS mechanisms FROM run r",

    "CREATE VIEW v_run AS SELECT r.run_id AS run_id, w.workload AS workload, g.name AS gpu, r.mode AS mode,"
    " (SELECT count(*) FROM launch l WHERE l.run_id = r.run_id) AS launches, r.cycles AS cycles,"
    " r.time_ps * 1e-6 AS time_us, r.warp_instructions AS warp_instructions,"
    " r.thread_instructions AS thread_instructions,"
    " 1.0 * r.warp_instructions / nullif(r.cycles, 0) AS ipc, r.energy_j AS energy_j,"
    " r.energy_j / nullif(r.time_ps * 1e-12, 0) AS power_w, m.mechanisms AS mechanisms,"
    " r.stored_at AS stored_at, r.host_seconds AS host_seconds"
    " FROM run r JOIN gpu g USING(gpu_id) JOIN v_workload w USING(run_id) JOIN v_setting m USING(run_id)",

    "CREATE VIEW v_launch AS SELECT l.run_id AS run_id, l.ord AS launch, l.launch_id AS launch_id,"
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

    /* the counters of the memory levels, one row a run, with sector sizes and seconds */
    "CREATE VIEW v_memory_counter AS SELECT r.run_id AS run_id, r.time_ps * 1e-12 AS seconds,"
    " " C("l1_sector_read") " AS l1_read,"
    " " C("l1_sector_hit") " AS l1_hit,"
    " " C("l1_sector_merged") " AS l1_merged,"
    " " C("l1_sector_miss") " AS l1_miss,"
    " " C("l1_sector_write") " AS l1_write,"
    " " C("l2_sector_read") " AS l2_read,"
    " " C("l2_sector_hit") " AS l2_hit,"
    " " C("l2_sector_merged") " AS l2_merged,"
    " " C("l2_sector_miss") " AS l2_miss,"
    " " C("l2_sector_write") " AS l2_write,"
    " " C("dram_sector_read") " AS dram_read,"
    " " C("dram_sector_write") " AS dram_write,"
    " " C("dram_row_hit") " AS row_hit,"
    " " C("dram_burst_read") " + " C("dram_burst_write") " AS bursts FROM run r",

    "CREATE VIEW v_memory AS SELECT run_id, level, sectors_read, sectors_written,"
    " 1.0 * hit / nullif(lookups, 0) AS hit_rate, 1.0 * merged / nullif(lookups, 0) AS merged_rate,"
    " sectors_read * 32 / nullif(seconds, 0) * 1e-9 AS read_gb_s,"
    " sectors_written * 32 / nullif(seconds, 0) * 1e-9 AS write_gb_s FROM ("
    "SELECT m.run_id AS run_id, x.level AS level, m.seconds AS seconds,"
    " " L("l1_read", "l2_read", "dram_read") " AS sectors_read,"
    " " L("l1_write", "l2_write", "dram_write") " AS sectors_written,"
    " " L("l1_hit", "l2_hit", "row_hit") " AS hit,"
    " " L("l1_merged", "l2_merged", "NULL") " AS merged,"
    " " L("l1_read", "l2_read", "bursts") " AS lookups"
    " FROM v_memory_counter m CROSS JOIN"
    " (SELECT 'l1' AS level UNION ALL SELECT 'l2' UNION ALL SELECT 'dram') x)",

    "CREATE VIEW v_speedup AS SELECT a.run_id AS base_run, b.run_id AS new_run, w.workload AS workload,"
    " ga.name AS base_gpu, gb.name AS new_gpu, ma.mechanisms AS base_mechanisms,"
    " mb.mechanisms AS new_mechanisms, 1.0 * a.time_ps / nullif(b.time_ps, 0) AS speedup,"
    " b.energy_j / nullif(a.energy_j, 0) AS energy_ratio,"
    " a.energy_j * a.time_ps / nullif(b.energy_j * b.time_ps, 0) AS edp_gain"
    " FROM run a JOIN run b ON b.trace_id = a.trace_id AND b.run_id <> a.run_id"
    " JOIN gpu ga ON ga.gpu_id = a.gpu_id JOIN gpu gb ON gb.gpu_id = b.gpu_id"
    " JOIN v_workload w ON w.run_id = a.run_id JOIN v_setting ma ON ma.run_id = a.run_id"
    " JOIN v_setting mb ON mb.run_id = b.run_id",

    "CREATE VIEW v_epoch AS SELECT l.run_id AS run_id, l.ord AS launch, e.ord AS epoch,"
    " e.first_cycle AS first_cycle, e.cycles AS cycles,"
    " 1.0 * e.warp_instructions / nullif(e.cycles, 0) AS ipc,"
    " " E("s.name <> 'done'") " AS active,"
    " " E("s.name LIKE 'wait!_%' ESCAPE '!'") " AS waiting,"
    " " E("s.name = 'excess_alu'") " AS x_alu,"
    " " E("s.name = 'excess_mem'") " AS x_mem FROM launch l JOIN epoch e USING(launch_id)",

    "CREATE VIEW v_source_stall AS SELECT l.run_id AS run_id, i.kernel_id AS kernel_id,"
    " i.file_id AS file_id, i.line AS line, s.name AS state, sum(v.warp_cycles) AS warp_cycles"
    " FROM launch l JOIN pc p USING(launch_id) JOIN instruction i USING(instruction_id)"
    " JOIN pc_stall v ON v.launch_id = p.launch_id AND v.ord = p.ord JOIN warp_state s USING(state_id)"
    " WHERE s.name NOT IN ('issued', 'done') GROUP BY l.run_id, i.kernel_id, i.file_id, i.line, s.state_id",

    "CREATE VIEW v_source_top AS SELECT run_id, kernel_id, file_id, line, state AS top_stall,"
    " max(warp_cycles) AS most, sum(warp_cycles) AS stall_warp_cycles FROM v_source_stall"
    " GROUP BY run_id, kernel_id, file_id, line",

    "CREATE VIEW v_source AS SELECT l.run_id AS run_id, k.name AS kernel, f.path AS file, i.line AS line,"
    " coalesce(t.stall_warp_cycles, 0) AS stall_warp_cycles, t.top_stall AS top_stall,"
    " sum(p.issues) AS issues, sum(p.thread_instructions) AS thread_instructions,"
    " sum(p.sectors) AS sectors, sum(p.l1_miss_sectors) AS l1_miss_sectors,"
    " sum(p.l2_miss_sectors) AS l2_miss_sectors, sum(p.shared_conflicts) AS shared_conflicts"
    " FROM launch l JOIN pc p USING(launch_id) JOIN instruction i USING(instruction_id)"
    " JOIN kernel k ON k.kernel_id = i.kernel_id JOIN source_file f USING(file_id)"
    " LEFT JOIN v_source_top t ON t.run_id = l.run_id AND t.kernel_id = i.kernel_id"
    " AND t.file_id = i.file_id AND t.line = i.line"
    " GROUP BY l.run_id, i.kernel_id, i.file_id, i.line",
    NULL,
};
/* clang-format on */
