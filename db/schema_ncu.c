/* Step 15: figures of launches under the names that Nsight Compute has for what means the same. */
#include "schema.h"

/* A metric that follows from columns of the launch, its run and its GPU. */
#define OF_LAUNCH(metric, unit, value)                                                                         \
    "SELECT l.run_id AS run_id, l.trace_index AS launch, k.name AS kernel, '" metric "' AS metric, '" unit     \
    "' AS unit, " value " AS value FROM launch l JOIN kernel k USING(kernel_id)"
#define PARAMETER(key)                                                                                         \
    "(SELECT p.value FROM run r JOIN gpu_param p USING(gpu_id) WHERE r.run_id = l.run_id AND p.key = '" key "')"
#define COUNTER(counter_name)                                                                                  \
    "coalesce((SELECT v.value FROM launch_counter v JOIN counter c USING(counter_id) WHERE v.launch_id ="      \
    " l.launch_id AND c.name = '" counter_name "'), 0)"
#define AND " UNION ALL "

/* clang-format off */
const char *const ww_db_ncu_sql[] = {
    /* states that two reasons of Nsight Compute share are neither */
    "CREATE VIEW v_ncu_stall AS SELECT l.run_id AS run_id, l.trace_index AS launch, k.name AS kernel, 'smsp__average_warps_issue_stalled_' || s.nsight ||"
    " '_per_issue_active.ratio' AS metric, 'warp' AS unit, 1.0 * sum(coalesce(v.warp_cycles, 0)) / nullif((SELECT i.slots FROM"
    " launch_slot i JOIN slot_cause x USING(cause_id) WHERE i.launch_id = l.launch_id AND x.name = 'issued'), 0) AS value"
    " FROM launch l JOIN kernel k USING(kernel_id) CROSS JOIN warp_state s LEFT JOIN launch_state v"
    " ON v.launch_id = l.launch_id AND v.state_id = s.state_id WHERE s.nsight NOT LIKE '%,%'"
    " GROUP BY l.launch_id, s.nsight",

    "CREATE VIEW v_ncu AS "
    OF_LAUNCH("launch__grid_size", "block", "l.grid_x * l.grid_y * l.grid_z") AND
    OF_LAUNCH("launch__block_size", "thread", "l.block_x * l.block_y * l.block_z") AND
    OF_LAUNCH("launch__registers_per_thread", "register", "l.registers_per_thread") AND
    OF_LAUNCH("gpu__time_duration.sum", "ns", "l.time_ps * 1e-3") AND
    OF_LAUNCH("sm__cycles_elapsed.max", "cycle", "l.cycles") AND
    OF_LAUNCH("smsp__inst_executed.sum", "inst", "l.warp_instructions") AND
    OF_LAUNCH("smsp__thread_inst_executed.sum", "inst", "l.thread_instructions") AND
    OF_LAUNCH("sm__inst_executed.sum.per_cycle_elapsed", "inst/cycle",
              "1.0 * l.warp_instructions / nullif(l.cycles, 0)") AND
    OF_LAUNCH("sm__warps_active.avg.pct_of_peak_sustained_elapsed", "%",
              "100.0 * l.resident_warp_cycles / nullif(l.cycles * " PARAMETER("sm.count") " * "
              PARAMETER("sm.max_warps") ", 0)") AND
    OF_LAUNCH("lts__t_sectors_op_read.sum", "sector", COUNTER("l2_sector_read") " - " COUNTER("l2_atomic")) AND
    "SELECT l.run_id, l.trace_index, k.name, m.metric, m.unit, m.factor * coalesce(v.value, 0)"
    " FROM launch l JOIN kernel k USING(kernel_id) CROSS JOIN"
    " (SELECT column1 AS metric, column2 AS unit, column3 AS counter, column4 AS factor FROM (VALUES"
    " ('smsp__sass_inst_executed_op_global_ld.sum', 'inst', 'mem_inst_global_ld', 1),"
    " ('smsp__sass_inst_executed_op_global_st.sum', 'inst', 'mem_inst_global_st', 1),"
    " ('smsp__sass_thread_inst_executed_op_fmul_pred_on.sum', 'inst', 'lane_fp32_mul', 1),"
    " ('smsp__sass_thread_inst_executed_op_ffma_pred_on.sum', 'inst', 'lane_fp32_fma', 1),"
    " ('smsp__sass_thread_inst_executed_op_dfma_pred_on.sum', 'inst', 'lane_fp64_fma', 1),"
    " ('l1tex__data_pipe_lsu_wavefronts_mem_shared.sum', 'wavefront', 'shared_passes', 1),"
    " ('l1tex__data_bank_conflicts_pipe_lsu_mem_shared.sum', 'conflict', 'shared_conflicts', 1),"
    " ('lts__t_sectors_op_write.sum', 'sector', 'l2_sector_write', 1),"
    " ('dram__sectors_read.sum', 'sector', 'dram_sector_read', 1),"
    " ('dram__sectors_write.sum', 'sector', 'dram_sector_write', 1),"
    " ('dram__bytes_read.sum', 'byte', 'dram_sector_read', 32),"
    " ('dram__bytes_write.sum', 'byte', 'dram_sector_write', 32))) m JOIN counter c ON c.name = m.counter"
    " LEFT JOIN launch_counter v ON v.launch_id = l.launch_id AND v.counter_id = c.counter_id" AND
    "SELECT run_id, launch, kernel, metric, unit, value FROM v_ncu_stall",
    NULL};
/* clang-format on */
