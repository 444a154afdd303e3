/* Named queries. Parameters that are not given are NULL; `:run` then means the latest run, and a filter
 * does not filter. Each has an example in docs/reference/query.md. */
#include "../estimator/api/database.h"
#include "../estimator/warpwatt.h"
#include "db.h"
#include "schema.h"
#include <string.h>

/* run_id of the run that :run names */
#define RUN "coalesce(:run, (SELECT max(run_id) FROM run))"

/* What a run's code was made from; NULL: no launch tells. */
#define CODE(run)                                                                                              \
    "(SELECT CASE WHEN sum(coalesce(code, '') LIKE 'trace of %') > 0 THEN 'imported' WHEN count(code) = 0"     \
    " AND count(*) > 0 THEN 'PTX' WHEN count(code) = count(*) AND count(*) > 0 THEN 'machine code' WHEN"       \
    " count(*) > 0 THEN 'PTX and machine code' END FROM launch WHERE run_id = " run ")"

/* sweep_id of the sweep that :sweep names */
#define SWEEP "coalesce(:sweep, (SELECT max(sweep_id) FROM sweep))"
/* Objective n of point p of a sweep so that less is better; 0 if the sweep has fewer objectives. */
#define COST(n)                                                                                                \
    "coalesce((SELECT w.value * o.sense FROM sweep_value w JOIN sweep_objective o ON o.sweep_id = w.sweep_id"  \
    " AND o.ord = w.objective WHERE w.sweep_id = p.sweep_id AND w.point = p.ord AND w.objective = " #n "), 0)"
/* v.workload's points in the order of a column. */
#define RANKED(objective, column)                                                                              \
    "SELECT workload, '" objective "' AS objective, point, " column " AS value, sweep_id,"                     \
    " row_number() OVER (PARTITION BY workload ORDER BY " column ", point) AS place FROM r WHERE " column      \
    " IS NOT NULL"

/* Value of counter v of run r; NULL: a fast replay does not model it. It knows saturation only where a
 * scheduler follows it, and then the cycles by the scheduler's mode are counted. */
#define KNOWN_VALUE                                                                                            \
    "CASE WHEN r.mode = 'fast' AND (v.counter = 'l2_stall_cycles' OR v.counter = 'mem_saturated_cycles' AND"   \
    " (SELECT total(m.value) FROM v_counter m WHERE m.run_id = v.run_id AND m.counter IN ('ep_cycles',"        \
    " 'mp_cycles')) = 0) THEN NULL ELSE v.value END"

/* clang-format off */
#define FRONT \
    "WITH v AS MATERIALIZED (SELECT p.sweep_id, p.ord AS point, p.area_mm2, " COST(0) " AS a, " COST(1) " AS b, " \
    COST(2) " AS c, " COST(3) " AS d FROM sweep_point p WHERE p.sweep_id = " SWEEP " AND p.feasible = 1" \
    " AND (SELECT count(*) FROM sweep_value w WHERE w.sweep_id = p.sweep_id AND w.point = p.ord)" \
    " = (SELECT count(*) FROM sweep_objective o WHERE o.sweep_id = p.sweep_id))," \
    " k AS MATERIALIZED (SELECT * FROM (SELECT *, min(b) OVER (PARTITION BY c, d ORDER BY a GROUPS BETWEEN" \
    " UNBOUNDED PRECEDING AND 1 PRECEDING) AS less, min(b) OVER (PARTITION BY c, d, a) AS same FROM v)" \
    " WHERE b = same AND (less IS NULL OR b < less) ORDER BY a, b, c, d)," \
    " f AS MATERIALIZED (SELECT * FROM k WHERE (SELECT count(*) FROM sweep_objective WHERE sweep_id = " SWEEP \
    ") <= 2 OR NOT EXISTS (SELECT 1 FROM k o WHERE o.a <= k.a AND o.b <= k.b AND o.c <= k.c AND o.d <= k.d" \
    " AND (o.a < k.a OR o.b < k.b OR o.c < k.c OR o.d < k.d)))," \
    " t AS (SELECT f.*, (SELECT sum(r.weight * r.time_s) FROM v_sweep_result r WHERE r.sweep_id = f.sweep_id" \
    " AND r.point = f.point) AS time_s, (SELECT CASE WHEN count(*) = count(r.energy_j) THEN" \
    " sum(r.weight * r.energy_j) END FROM v_sweep_result r WHERE r.sweep_id = f.sweep_id" \
    " AND r.point = f.point) AS energy_j FROM f)" \
    " SELECT t.point AS point, x.settings AS settings, t.time_s AS time_s, t.energy_j AS energy_j," \
    " t.energy_j / nullif(t.time_s, 0) AS power_w, t.area_mm2 AS area_mm2, (SELECT group_concat(one, ' ')" \
    " FROM (SELECT o.name || '=' || w.value AS one FROM sweep_value w JOIN sweep_objective o" \
    " ON o.sweep_id = w.sweep_id AND o.ord = w.objective WHERE w.sweep_id = t.sweep_id AND w.point = t.point" \
    " AND NOT coalesce(abs(w.value / nullif(CASE o.name WHEN 'time' THEN t.time_s WHEN 'energy' THEN t.energy_j" \
    " WHEN 'power' THEN t.energy_j / nullif(t.time_s, 0) WHEN 'area' THEN t.area_mm2 END, 0) - 1) < 1e-9, 0)" \
    " ORDER BY o.ord)) AS others FROM t JOIN v_sweep_settings x ON x.sweep_id = t.sweep_id" \
    " AND x.point = t.point ORDER BY t.a, t.b, t.point"

/* A launch's counter, among rows of launch_counter v and counter n. */
#define COUNTER(which) "coalesce(max(v.value) FILTER (WHERE n.name = '" which "'), 0)"
#define PARAMETER(key_) "max(value) FILTER (WHERE key = '" key_ "')"
#define LIMITS \
    "WITH g AS (SELECT " PARAMETER("sm.count") " * " PARAMETER("l1.bytes_per_cycle") " * " \
    PARAMETER("clock.sm_mhz") " AS l1, " PARAMETER("l2.slices") " * " PARAMETER("l2.bytes_per_cycle") " * " \
    PARAMETER("clock.l2_mhz") " AS l2 FROM gpu_param JOIN run USING(gpu_id) WHERE run_id = " RUN ")," \
    " c AS (SELECT launch_id, l.time_ps AS ps, " COUNTER("l1_sector_read") " + " COUNTER("l1_sector_write") \
    " AS l1_sectors, " COUNTER("l2_sector_read") " + " COUNTER("l2_sector_write") " AS l2_sectors, " \
    COUNTER("dram_busy_cycles") " AS busy, " COUNTER("dram_cycles") " AS dram, " COUNTER("lsu_stall_cycles") \
    " AS stalled, " COUNTER("sm_active_cycles") " AS active FROM launch l LEFT JOIN launch_counter v" \
    " USING(launch_id) LEFT JOIN counter n USING(counter_id) WHERE l.run_id = " RUN " GROUP BY launch_id)," \
    " s AS (SELECT launch_id, 1.0 * coalesce(sum(slots) FILTER (WHERE name = 'issued'), 0) / sum(slots) AS used" \
    " FROM launch_slot JOIN slot_cause USING(cause_id) GROUP BY launch_id)" \
    " SELECT launch, short_name(kernel) AS kernel, time_us, round(100 * used, 1) AS issue_percent," \
    " round(3.2e9 * l1_sectors / nullif(ps * l1, 0), 1) AS l1_percent," \
    " round(3.2e9 * l2_sectors / nullif(ps * l2, 0), 1) AS l2_percent," \
    " round(100.0 * busy / nullif(dram, 0), 1) AS dram_percent," \
    " round(100.0 * stalled / nullif(active, 0), 1) AS lsu_stall_percent" \
    " FROM v_launch JOIN c USING(launch_id) JOIN g LEFT JOIN s USING(launch_id)" \
    " WHERE :launch IS NULL OR launch = :launch ORDER BY time_us DESC, launch"
/* clang-format on */

static const struct ww_named_query queries[] = {
    {"runs",
     "all runs, latest first, with what makes them differ from runs without options; :workload and :gpu filter",
     "SELECT run_id AS run, workload, gpu, overrides, mode, " CODE(
         "v.run_id") " AS code, launches, cycles,"
                     " time_us, ipc, energy_j, power_w, stored_at, mechanisms FROM v_run v JOIN v_override "
                     "USING(run_id) WHERE"
                     " (:workload IS NULL OR workload = :workload) AND (:gpu IS NULL OR gpu = :gpu) ORDER BY "
                     "run_id DESC"},
    {"differences",
     "what two runs differ in: parameters of their GPUs, mechanisms, mode, code (:base, the run before; :run)",
     "WITH o AS (SELECT " RUN " AS new), q AS (SELECT new, coalesce(:base, (SELECT max(run_id) FROM run WHERE"
     " run_id < new)) AS base FROM o), v(run_id, ord, what, value) AS (SELECT run_id, 0, 'gpu', name FROM run"
     " JOIN gpu USING(gpu_id) UNION ALL SELECT run_id, 1, 'mode', mode FROM run UNION ALL SELECT run_id, 2,"
     " 'code', " CODE("run_id") " FROM run UNION ALL SELECT run_id, 3, key, value FROM run_setting UNION ALL"
                                " SELECT run_id, 4, key, value FROM run JOIN gpu_param USING(gpu_id)), k AS "
                                "(SELECT ord, what FROM v, q"
                                " WHERE run_id = base UNION SELECT ord, what FROM v, q WHERE run_id = new), d "
                                "AS (SELECT k.ord AS ord,"
                                " k.what AS what, (SELECT value FROM v, q WHERE run_id = base AND v.what = "
                                "k.what AND v.ord = k.ord) AS base,"
                                " (SELECT value FROM v, q WHERE run_id = new AND v.what = k.what AND v.ord = "
                                "k.ord) AS new FROM k)"
                                " SELECT what, base, new FROM d WHERE base IS NOT new ORDER BY ord, what"},
    {"workloads",
     "the latest run of each trace on each GPU in each mode: cycles, time, IPC, watts, joules, top stall",
     "SELECT v.workload AS workload, v.gpu AS gpu, v.mode AS mode, v.cycles AS cycles, v.time_us AS time_us,"
     " round(v.ipc, 3) AS ipc, round(v.power_w, 2) AS watts, v.energy_j AS joules, t.state AS top_stall,"
     " round(100 * t.share, 1) AS stall_percent, v.run_id AS run FROM v_run v"
     " JOIN (SELECT max(run_id) AS run_id FROM run GROUP BY trace_id, gpu_id, mode) USING(run_id)"
     " LEFT JOIN v_top_stall t USING(run_id) ORDER BY v.workload, v.gpu, v.run_id"},
    {"ncu", "a launch's figures under Nsight Compute's names of what means the same (:run, :launch)",
     "SELECT launch, short_name(kernel) AS kernel, metric, value, unit FROM v_ncu WHERE run_id = " RUN
     " AND (:launch IS NULL OR launch = :launch) ORDER BY launch, metric"},
    {"launches", "the kernel launches of a run (:run)",
     "SELECT launch, short_name(kernel) AS kernel, grid, block, ctas_per_sm, limiter, cycles, time_us, "
     "warp_instructions, ipc,"
     " resident_warps, power_w, energy_j, top_stall FROM v_launch WHERE run_id = " RUN " ORDER BY launch"},
    {"stalls", "where a run's resident warps spent their cycles (:run)",
     "SELECT state, nsight, warp_cycles, round(100 * share, 2) AS percent, per_instruction FROM v_stall"
     " WHERE run_id = " RUN " ORDER BY warp_cycles DESC, state"},
    {"slots", "what a run's issue slots were used for or lost to (:run)",
     "SELECT cause, slots, round(100 * share, 2) AS percent FROM v_slot WHERE run_id = " RUN
     " ORDER BY slots DESC, cause"},
    {"cpi", "the CPI stack of a run: issue slots per warp instruction, and SM cycles, by cause (:run)",
     "SELECT cause, cpi, cycles, round(100 * share, 2) AS percent FROM v_cpi_stack WHERE run_id = " RUN
     " ORDER BY cycles DESC, cause"},
    {"memory", "sectors, hit rates and bandwidth of a run's memory levels (:run)",
     "SELECT level, sectors_read, sectors_written, round(100 * hit_rate, 2) AS hit_percent,"
     " round(100 * merged_rate, 2) AS merged_percent, read_gb_s, write_gb_s FROM v_memory WHERE run_id = " RUN},
    {"limits", "speed of light of a run's launches: per cent of each limit that they reach (:run, :launch)",
     LIMITS},
    {"saturation",
     "runs of a run's trace and GPU side by side: stalls, saturation, Mascar's modes, hit rates (:run)",
     "WITH o AS (SELECT trace_id, gpu_id FROM run WHERE run_id = " RUN "), c AS (SELECT run_id,"
     " max(value) FILTER (WHERE counter = 'sm_active_cycles') AS active,"
     " max(value) FILTER (WHERE counter = 'lsu_stall_cycles') AS stall,"
     " max(value) FILTER (WHERE counter = 'mem_saturated_cycles') AS saturated,"
     " max(value) FILTER (WHERE counter = 'ep_cycles') AS ep, max(value) FILTER (WHERE counter = 'mp_cycles') "
     "AS mp,"
     " max(value) FILTER (WHERE counter = 'owner_changes') AS owners,"
     " max(value) FILTER (WHERE counter = 'reexec_push') AS pushed,"
     " max(value) FILTER (WHERE counter = 'l1_hit_under_miss') AS under,"
     " max(value) FILTER (WHERE counter = 'l1_sector_hit') AS hit,"
     " max(value) FILTER (WHERE counter = 'l1_sector_read') AS asked"
     " FROM v_counter WHERE run_id IN (SELECT run_id FROM run JOIN o USING(trace_id, gpu_id)) GROUP BY run_id)"
     " SELECT v.run_id AS run, v.mode AS mode, v.mechanisms AS mechanisms, v.cycles AS cycles,"
     " round(100.0 * stall / nullif(active, 0), 1) AS lsu_stall_percent,"
     " CASE WHEN v.mode <> 'fast' OR ep + mp > 0 THEN round(100.0 * saturated / nullif(active, 0), 1) END"
     " AS saturated_percent,"
     " round(100.0 * ep / nullif(active, 0), 1) AS ep_percent, round(100.0 * mp / nullif(active, 0), 1) AS "
     "mp_percent,"
     " owners, pushed AS reexecuted, under AS hits_under_miss, round(100.0 * hit / nullif(asked, 0), 1) AS"
     " l1_hit_percent FROM c JOIN v_run v USING(run_id) ORDER BY v.run_id"},
    {"energy", "a run's energy and average power by component (:run)",
     "SELECT component, dynamic_j, static_j, energy_j, power_w, round(100 * share, 2) AS percent FROM v_energy"
     " WHERE run_id = " RUN " ORDER BY energy_j DESC, component"},
    {"power", "power, limits on CTAs and paused CTAs over time, an epoch a row (:run, :launch)",
     "SELECT launch, epoch, first_cycle, start_us, time_us, energy_j, power_w, cta_limit, ctas_paused"
     " FROM v_epoch_power WHERE run_id = " RUN " AND (:launch IS NULL OR launch = :launch)"
     " ORDER BY launch, epoch"},
    {"points", "operating points over time: clocks from a cycle on (:run, :launch)",
     "SELECT launch, point, first_cycle, cycles, start_us, time_us, sm_mhz, l2_mhz, dram_mhz FROM v_vf"
     " WHERE run_id = " RUN " AND (:launch IS NULL OR launch = :launch) ORDER BY launch, point"},
    {"counters", "all counters of a run, zeros too (:run, :level)",
     "SELECT v.counter AS counter, " KNOWN_VALUE " AS value, v.unit AS unit, v.level AS level FROM v_counter v"
     " JOIN run r USING(run_id) WHERE v.run_id = " RUN " AND (:level IS NULL OR v.level = :level)"},
    {"epochs", "warps by kind of state over time: averages of resident warps an epoch (:run, :launch)",
     "SELECT launch, epoch, first_cycle, cycles, ipc, active, waiting, x_alu, x_mem FROM v_epoch"
     " WHERE run_id = " RUN " AND (:launch IS NULL OR launch = :launch) ORDER BY launch, epoch"},
    {"source", "a run's source lines, those that stall most first (:run, :most)",
     "WITH p AS MATERIALIZED (SELECT p.*, i.kernel_id, i.file_id, i.line FROM launch l JOIN pc p"
     " USING(launch_id) JOIN instruction i USING(instruction_id) WHERE l.run_id = " RUN "),"
     " s AS (SELECT p.kernel_id, p.file_id, p.line, x.name AS state, sum(v.warp_cycles) AS cycles FROM p"
     " JOIN pc_stall v ON v.launch_id = p.launch_id AND v.ord = p.ord JOIN warp_state x USING(state_id)"
     " WHERE x.name NOT IN ('issued', 'done') GROUP BY p.kernel_id, p.file_id, p.line, v.state_id),"
     " t AS (SELECT kernel_id, file_id, line, state, max(cycles), sum(cycles) AS cycles FROM s"
     " GROUP BY kernel_id, file_id, line)"
     " SELECT f.path AS file, p.line AS line, short_name(k.name) AS kernel, coalesce(t.cycles, 0) AS "
     "stall_warp_cycles,"
     " t.state AS top_stall"
#define REPORT(name) ", sum(p." name ") AS " name
#define DATA(name) ""
#define X(id, name, step, shown, ...) shown(name)
#include "../estimator/result/inst_counter.def"
#undef X
     ", 1.0 * sum(p.thread_instructions) / nullif(sum(p.issues), 0) AS active_lanes" WW_DB_PER_REQUEST
     " FROM p JOIN kernel k USING(kernel_id)"
     " JOIN source_file f USING(file_id) LEFT JOIN t ON t.kernel_id = p.kernel_id AND t.file_id = p.file_id"
     " AND t.line = p.line GROUP BY p.kernel_id, p.file_id, p.line"
     " ORDER BY stall_warp_cycles DESC, file, line LIMIT coalesce(:most, 30)"},
    {"speedup", "runs of the same traces against a base (:base, the first run of each trace if not given)",
     "SELECT base_run, new_run, workload, base_gpu, new_gpu, x.mode AS base_mode, y.mode AS new_mode,"
     " base_mechanisms, new_mechanisms, speedup, energy_ratio, edp_gain FROM v_speedup JOIN run x"
     " ON x.run_id = base_run JOIN run y ON y.run_id = new_run WHERE base_run = coalesce(:base, (SELECT "
     "min(b.run_id) FROM run a"
     " JOIN run b USING(trace_id) WHERE a.run_id = new_run)) ORDER BY workload, new_run"},
    {"regressions",
     "what differs between the latest runs and earlier ones of the same work (:version, :percent)",
     "WITH g AS MATERIALIZED (SELECT r.run_id, r.trace_id, v.gpu, v.mechanisms, v.mode, r.gpu_id, "
     "r.version, v.workload FROM run r JOIN v_run v USING(run_id)), n AS (SELECT * FROM g WHERE run_id"
     " = (SELECT max(h.run_id) FROM g h WHERE h.trace_id = g.trace_id AND h.gpu = g.gpu AND "
     "h.mechanisms = g.mechanisms AND h.mode = g.mode)), q AS MATERIALIZED (SELECT n.run_id AS new_run, "
     "b.run_id AS "
     "base_run, n.workload AS workload, n.gpu AS gpu, n.gpu_id = b.gpu_id AS same_gpu, n.mode AS mode,"
     " n.mode = 'full' AS full FROM n JOIN g b ON b.run_id = coalesce((SELECT max(h.run_id) FROM g"
     " h WHERE h.trace_id = n.trace_id AND h.gpu = n.gpu AND h.mechanisms = n.mechanisms AND h.mode = n.mode "
     "AND h.version"
     " <> n.version AND (:version IS NULL OR h.version = :version)), (SELECT max(h.run_id) FROM g h "
     "WHERE h.trace_id = n.trace_id AND h.gpu_id = n.gpu_id AND h.mechanisms = n.mechanisms AND "
     "h.mode = n.mode AND h.run_id <> n.run_id AND (:version IS NULL OR h.version = :version)))), f AS (SELECT "
     "run_id, "
     "'cycles' AS figure, cycles AS value, cycles_lo AS lo, cycles_hi AS hi FROM run UNION ALL SELECT "
     "run_id, 'energy_j', energy_j, energy_lo_j, energy_hi_j FROM run WHERE energy_j IS NOT NULL UNION"
     " ALL SELECT r.run_id, 'time_us', r.time_ps * 1e-6, coalesce(s.time_s_lo * 1e6, r.time_ps * 1e-6 "
     "* r.cycles_lo / nullif(r.cycles, 0)), coalesce(s.time_s_hi * 1e6, r.time_ps * 1e-6 * r.cycles_hi"
     " / nullif(r.cycles, 0)) FROM run r LEFT JOIN run_sampling s USING(run_id)), d AS (SELECT q.*, "
     "a.figure AS figure, a.value AS base, b.value AS new, a.lo <= b.hi AND b.lo <= a.hi AS meet FROM "
     "q JOIN f a ON a.run_id = q.base_run JOIN f b ON b.run_id = q.new_run AND b.figure = a.figure "
     "UNION ALL SELECT q.*, a.counter, a.value, b.value, a.value = b.value FROM q JOIN v_counter a ON "
     "a.run_id = q.base_run JOIN v_counter b ON b.run_id = q.new_run AND b.counter = a.counter WHERE "
     "q.full) SELECT d.workload AS workload, d.gpu AS gpu, d.mode AS mode, d.figure AS figure, d.base AS base, "
     "d.new "
     "AS new, round(100.0 * (d.new - d.base) / nullif(d.base, 0), 3) AS percent, CASE WHEN d.meet THEN"
     " 'within intervals' WHEN NOT d.same_gpu THEN 'moved, GPU file changed' ELSE 'moved' END AS "
     "verdict, d.base_run AS base_run, d.new_run AS new_run, x.version AS base_version, y.version AS "
     "new_version FROM d JOIN run x ON x.run_id = d.base_run JOIN run y ON y.run_id = d.new_run WHERE "
     "d.base <> d.new AND abs(d.new - d.base) >= coalesce(:percent, 0) / 100.0 * abs(d.base) ORDER BY "
     "d.workload, d.gpu, d.new_run, d.figure NOT IN ('cycles', 'time_us', 'energy_j'), abs(percent) "
     "DESC, d.figure"},
    {"pareto", "runs that no other run of their trace and mode beats in both time and energy (:workload)",
     "SELECT v.workload AS workload, v.run_id AS run, v.gpu AS gpu, v.mode AS mode, v.mechanisms AS mechanisms,"
     " v.time_us AS time_us, v.energy_j AS energy_j FROM v_run v JOIN run r USING(run_id)"
     " WHERE r.energy_j IS NOT NULL AND (:workload IS NULL OR v.workload = :workload) AND NOT EXISTS"
     " (SELECT 1 FROM run o WHERE o.trace_id = r.trace_id AND o.mode = r.mode AND o.time_ps <= r.time_ps"
     " AND o.energy_j <= r.energy_j AND (o.time_ps < r.time_ps OR o.energy_j < r.energy_j))"
     " ORDER BY v.workload, v.mode, v.time_us, v.run_id"},
    {"sweeps", "all sweeps, latest first: how many of their points are stored",
     "SELECT s.sweep_id AS sweep, g.name AS gpu, s.strategy AS strategy, s.mode AS mode, s.points AS points, "
     "(SELECT count(*)"
     " FROM sweep_point p WHERE p.sweep_id = s.sweep_id) AS stored, (SELECT count(*) FROM sweep_point p"
     " WHERE p.sweep_id = s.sweep_id AND p.reason <> '') AS invalid, (SELECT group_concat(workload, ' ') FROM"
     " (SELECT workload FROM sweep_trace t WHERE t.sweep_id = s.sweep_id ORDER BY ord)) AS traces,"
     " s.stored_at AS stored_at FROM sweep s JOIN gpu g USING(gpu_id) ORDER BY s.sweep_id DESC"},
    {"explored",
     "the points of a sweep in their order: figures, the board's power, why one is invalid (:sweep)",
     "SELECT p.ord AS point, x.settings AS settings, p.feasible AS feasible, v.time_s AS time_s,"
     " v.energy_j AS energy_j, v.power_w AS power_w, b.most_w AS most_w, b.board_w AS board_w,"
     " b.most_w > b.board_w AS above_board, v.area_mm2 AS area_mm2, p.reason AS reason FROM sweep_point p LEFT "
     "JOIN (" WW_DB_BOARDS
     ") b ON b.sweep_id = p.sweep_id AND b.point = p.ord JOIN v_sweep_settings x ON x.sweep_id = p.sweep_id "
     "AND x.point = p.ord"
     " LEFT JOIN v_sweep_point v ON v.sweep_id = p.sweep_id AND v.point = p.ord AND v.feasible IS NOT NULL "
     "WHERE p.sweep_id = " SWEEP " ORDER BY p.ord"},
    {"candidates", "candidates of an adaptive sweep: estimates with bounds, and which were replayed (:sweep)",
     "SELECT c.point AS point, c.settings AS settings, c.fidelity AS fidelity, c.round AS round,"
     " c.holds AS feasible, (SELECT group_concat(one, ' ') FROM (SELECT o.name || '=' || printf('%.4g', "
     "e.estimate)"
     " || CASE WHEN e.low < e.high THEN printf('(%.4g..%.4g)', e.low, e.high) ELSE '' END AS one"
     " FROM sweep_estimate e JOIN sweep_objective o ON o.sweep_id = e.sweep_id AND o.ord = e.objective"
     " WHERE e.sweep_id = c.sweep_id AND e.point = c.point ORDER BY o.ord)) AS objectives"
     " FROM sweep_candidate c WHERE c.sweep_id = " SWEEP " ORDER BY c.point"},
    /* k leaves out what a point of the same third and fourth cost beats, in one pass: with two objectives that
     * is all, and with more the rest is compared with few. */
    {"front", "points of a sweep that no other one beats in all its objectives (:sweep)", FRONT},
    {"best", "the fastest, most frugal and least edp point of each workload of a sweep (:sweep)",
     "WITH r AS MATERIALIZED (SELECT *, energy_j * time_s AS edp FROM v_sweep_result WHERE feasible = 1"
     " AND sweep_id = " SWEEP
     "), k AS (" RANKED("time", "time_s") " UNION ALL " RANKED("energy", "energy_j") " UNION ALL " RANKED(
         "edp",
         "edp") ")"
                " SELECT k.workload AS workload, k.objective AS objective, k.point AS point, x.settings AS "
                "settings,"
                " k.value AS value FROM k JOIN v_sweep_settings x USING(sweep_id, point) WHERE k.place = 1"
                " ORDER BY k.workload, k.objective DESC"},
    {"variants",
     "a program's variants, the fastest first: within :percent of it, :most; what bounds them (:sweep)",
     "WITH w AS (SELECT * FROM v_sweep_variant WHERE sweep_id = " SWEEP
     "), b AS (SELECT min(time_s) AS best FROM w WHERE feasible = 1) SELECT row_number() OVER (ORDER BY "
     "w.time_s IS NULL,"
     " w.time_s, w.point) AS place, w.point AS point, w.settings AS settings, round(w.time_s * 1e6, 3) AS "
     "time_us,"
     " round(w.time_s / b.best, 4) AS \"of best\", round(100 * w.error, 1) AS \"error %\", w.registers AS "
     "registers,"
     " w.shared_bytes AS shared, w.local_bytes AS local, w.warps_per_sm AS warps, w.limiter AS limiter, "
     "w.top_stall AS"
     " top_stall, round(100 * w.stall_share, 1) AS \"stall %\", round(100 * w.conflicts, 1) AS \"conflicts %\","
     " w.recorded_ctas || '/' || w.ctas AS ctas, coalesce(w.compared_ctas || '/' || w.ctas, '') AS compared,"
     " w.reason AS reason FROM w, b WHERE (:percent IS NULL OR "
     "w.time_s <="
     " b.best * (1 + :percent / 100.0)) ORDER BY place LIMIT coalesce(:most, -1)"},
    {"sensitivity", "main effects and pairwise interactions of a sweep's parameters (:sweep, :objective)",
     "SELECT o.name AS objective, e.a AS parameter, e.b AS \"with\", e.effect AS effect, e.error AS error,"
     " round(100 * e.share, 2) AS percent FROM sweep_effect e JOIN sweep_objective o"
     " ON o.sweep_id = e.sweep_id AND o.ord = e.objective WHERE e.sweep_id = " SWEEP
     " AND (:objective IS NULL OR o.name = :objective) ORDER BY e.objective, e.share DESC, e.ord"},
    {"nearest", "the computed points nearest to :at, as 'l1.size_kb=24 sched=lrr' (:sweep, :most)",
     "WITH w AS (SELECT key, value FROM json_each(" WW_AT_JSON(
         ":at") ") WHERE key <> ''), k AS (SELECT key, max(value) - min(value) AS width FROM"
                " sweep_setting WHERE sweep_id = " SWEEP " GROUP BY key), d AS (SELECT p.sweep_id AS sweep_id,"
                " p.ord AS point, (SELECT total(CASE WHEN typeof(s.value) = 'text' THEN s.value <> w.value "
                "WHEN k.width = "
                "0"
                " THEN s.value <> CAST(w.value AS REAL) ELSE (s.value - CAST(w.value AS REAL)) / (1.0 * "
                "k.width)"
                " * ((s.value - CAST(w.value AS REAL)) / k.width) END) FROM w JOIN k USING(key) JOIN "
                "sweep_setting s"
                " ON s.sweep_id = p.sweep_id AND s.point = p.ord AND s.key = w.key) AS distance FROM "
                "sweep_point p"
                " WHERE p.sweep_id = " SWEEP
                " AND NOT EXISTS (SELECT 1 FROM w WHERE NOT EXISTS (SELECT 1 FROM sweep_setting s"
                " WHERE s.sweep_id = p.sweep_id AND s.point = p.ord AND s.key = w.key)))"
                " SELECT d.point AS point, round(sqrt(d.distance), 4) AS distance, x.settings AS settings,"
                " v.time_s AS time_s, v.energy_j AS energy_j, v.power_w AS power_w FROM d JOIN "
                "v_sweep_settings x"
                " USING(sweep_id, point) JOIN v_sweep_point v USING(sweep_id, point) WHERE v.feasible IS NOT "
                "NULL"
                " ORDER BY d.distance, d.point LIMIT coalesce(:most, 5)"},
    {"gpu", "the resolved parameters of a run's GPU (:run, :key is a pattern such as dram.*)",
     "SELECT key, value FROM gpu_param WHERE gpu_id = (SELECT gpu_id FROM run WHERE run_id = " RUN ")"
     " AND (:key IS NULL OR key GLOB :key) ORDER BY key"},
};

size_t ww_db_named_count(void) {
    return sizeof queries / sizeof *queries;
}

const struct ww_named_query *ww_db_named(size_t i) {
    return i < ww_db_named_count() ? &queries[i] : NULL;
}

const struct ww_named_query *ww_db_named_find(const char *name) {
    for (size_t i = 0; name && i < ww_db_named_count(); i++)
        if (strcmp(queries[i].name, name) == 0) return &queries[i];
    return NULL;
}
