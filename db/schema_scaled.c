/* Step 9: views of sampled runs. Their launches are those that were replayed whole; each counts as many times
 * as it stands for launches of its stratum, and what they add up to is scaled to the run, as reports do:
 * warp-cycles, slots and counters of cycles by cycles, other counters by warp instructions, components by
 * joules. Other runs' launches add up to the run and are shown as they are. */
#include "schema.h"

/* Launches of its stratum that launch l stands for: 1 but in samples. */
#define WEIGHT "coalesce(w.weight, 1)"
#define WEIGHTED " LEFT JOIN launch_weight w ON w.launch_id = l.launch_id"
/* How many times run r is what its launches add up to in a column. */
#define SCALE(column)                                                                                          \
    "CASE WHEN r.mode = 'sampled' THEN 1.0 * r." column " / nullif((SELECT total(l." column " * " WEIGHT       \
    ") FROM launch l" WEIGHTED " WHERE l.run_id = r.run_id), 0) ELSE 1.0 END"
/* A whole number scaled; what is not scaled stays exact. */
#define SCALED(number)                                                                                         \
    "CASE WHEN mode = 'sampled' THEN CAST(round(" number " * scale) AS INTEGER) ELSE " number " END"
/* Value of a counter of run r. */
#define C(name) "(SELECT v.value FROM v_counter v WHERE v.run_id = r.run_id AND v.counter = '" name "')"

/* clang-format off */
const char *const ww_db_scaled_sql[] = {
    "CREATE TABLE launch_weight("
    " launch_id INTEGER PRIMARY KEY REFERENCES launch ON DELETE CASCADE, weight REAL NOT NULL CHECK(weight > 0))",
    WW_DB_WEIGHTS,
    "DROP VIEW v_stall", "DROP VIEW v_slot", "DROP VIEW v_energy", "DROP VIEW v_counter", "DROP VIEW v_memory_counter",

    "CREATE VIEW v_stall AS SELECT run_id, state, nsight, " SCALED("whole_cycles") " AS warp_cycles,"
    " 1.0 * whole_cycles / nullif(whole, 0) AS share,"
    " scale * whole_cycles / nullif(warp_instructions, 0) AS per_instruction FROM ("
    "SELECT r.run_id AS run_id, r.mode AS mode, s.name AS state, s.nsight AS nsight,"
    " r.warp_instructions AS warp_instructions, " SCALE("cycles") " AS scale,"
    " (SELECT coalesce(sum(v.warp_cycles * " WEIGHT "), 0) FROM launch l JOIN launch_state v USING(launch_id)" WEIGHTED
    " WHERE l.run_id = r.run_id AND v.state_id = s.state_id) AS whole_cycles,"
    " (SELECT total(l.resident_warp_cycles * " WEIGHT ") FROM launch l" WEIGHTED " WHERE l.run_id = r.run_id) AS whole"
    " FROM run r CROSS JOIN warp_state s)",

    "CREATE VIEW v_slot AS SELECT run_id, cause, " SCALED("whole_slots") " AS slots,"
    " 1.0 * whole_slots / nullif(whole, 0) AS share FROM ("
    "SELECT r.run_id AS run_id, r.mode AS mode, s.name AS cause, " SCALE("cycles") " AS scale,"
    " (SELECT coalesce(sum(v.slots * " WEIGHT "), 0) FROM launch l JOIN launch_slot v USING(launch_id)" WEIGHTED
    " WHERE l.run_id = r.run_id AND v.cause_id = s.cause_id) AS whole_slots,"
    " (SELECT total(v.slots * " WEIGHT ") FROM launch l JOIN launch_slot v USING(launch_id)" WEIGHTED " WHERE l.run_id = r.run_id)"
    " AS whole FROM run r CROSS JOIN slot_cause s)",

    "CREATE VIEW v_energy AS SELECT run_id, component, dynamic_j, static_j, dynamic_j + static_j AS energy_j,"
    " (dynamic_j + static_j) / nullif(whole, 0) AS share,"
    " (dynamic_j + static_j) / nullif(time_ps * 1e-12, 0) AS power_w FROM ("
    "SELECT r.run_id AS run_id, p.name AS component, r.energy_j AS whole, r.time_ps AS time_ps,"
    " (SELECT sum(v.dynamic_j * " WEIGHT ") FROM launch l JOIN launch_energy v USING(launch_id)" WEIGHTED
    " WHERE l.run_id = r.run_id AND v.component_id = p.component_id) * (" SCALE("energy_j") ") AS dynamic_j,"
    " (SELECT sum(v.static_j * " WEIGHT ") FROM launch l JOIN launch_energy v USING(launch_id)" WEIGHTED
    " WHERE l.run_id = r.run_id AND v.component_id = p.component_id) * (" SCALE("energy_j") ") AS static_j"
    " FROM run r CROSS JOIN component p)",

    "CREATE VIEW v_counter AS SELECT run_id, counter, level, " SCALED("whole_value") " AS value, unit FROM ("
    "SELECT r.run_id AS run_id, r.mode AS mode, c.name AS counter, c.level AS level, c.unit AS unit,"
    " CASE WHEN c.unit = 'cycle' OR c.unit LIKE '% cycle' THEN " SCALE("cycles")
    " ELSE " SCALE("warp_instructions") " END AS scale,"
    " (SELECT coalesce(sum(v.value * " WEIGHT "), 0) FROM launch l JOIN launch_counter v USING(launch_id)" WEIGHTED
    " WHERE l.run_id = r.run_id AND v.counter_id = c.counter_id) AS whole_value"
    " FROM run r CROSS JOIN counter c)",

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
    NULL,
};
/* clang-format on */
