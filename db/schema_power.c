/* Step 4: power, operating points and limits on CTAs over time. What each column means:
 * docs/reference/database.md. */
#include "schema.h"

/* clang-format off */
const char *const ww_db_power_sql[] = {
    "CREATE TABLE epoch_time("
    " launch_id INTEGER NOT NULL, ord INTEGER NOT NULL, time_ps INTEGER NOT NULL CHECK(time_ps >= 0),"
    " cta_limit INTEGER NOT NULL CHECK(cta_limit >= 0), ctas_paused INTEGER NOT NULL CHECK(ctas_paused >= 0),"
    " PRIMARY KEY(launch_id, ord),"
    " FOREIGN KEY(launch_id, ord) REFERENCES epoch ON DELETE CASCADE) WITHOUT ROWID",
    "CREATE TABLE epoch_energy("
    " launch_id INTEGER NOT NULL, ord INTEGER NOT NULL,"
    " component_id INTEGER NOT NULL REFERENCES component, dynamic_j REAL NOT NULL, static_j REAL NOT NULL,"
    " PRIMARY KEY(launch_id, ord, component_id),"
    " FOREIGN KEY(launch_id, ord) REFERENCES epoch ON DELETE CASCADE) WITHOUT ROWID",
    "CREATE TABLE vf_point("
    " launch_id INTEGER NOT NULL REFERENCES launch ON DELETE CASCADE, ord INTEGER NOT NULL CHECK(ord >= 0),"
    " first_cycle INTEGER NOT NULL CHECK(first_cycle >= 0), start_ps INTEGER NOT NULL CHECK(start_ps >= 0),"
    " sm_mhz REAL NOT NULL CHECK(sm_mhz > 0), l2_mhz REAL NOT NULL CHECK(l2_mhz > 0),"
    " dram_mhz REAL NOT NULL CHECK(dram_mhz > 0), PRIMARY KEY(launch_id, ord)) WITHOUT ROWID",

    "CREATE VIEW v_epoch_energy AS SELECT l.run_id AS run_id, l.ord AS launch, e.ord AS epoch,"
    " p.name AS component, v.dynamic_j AS dynamic_j, v.static_j AS static_j,"
    " v.dynamic_j + v.static_j AS energy_j,"
    " (v.dynamic_j + v.static_j) / nullif(t.time_ps * 1e-12, 0) AS power_w"
    " FROM launch l JOIN epoch e USING(launch_id)"
    " JOIN epoch_time t ON t.launch_id = e.launch_id AND t.ord = e.ord"
    " JOIN epoch_energy v ON v.launch_id = e.launch_id AND v.ord = e.ord JOIN component p USING(component_id)",

    "CREATE VIEW v_epoch_power AS SELECT run_id, launch, epoch, first_cycle, start_us, time_us, energy_j,"
    " energy_j / nullif(time_us * 1e-6, 0) AS power_w, cta_limit, ctas_paused FROM ("
    "SELECT l.run_id AS run_id, l.ord AS launch, e.ord AS epoch, e.first_cycle AS first_cycle,"
    " (SELECT coalesce(sum(b.time_ps), 0) FROM epoch_time b WHERE b.launch_id = e.launch_id AND b.ord < e.ord)"
    " * 1e-6 AS start_us, t.time_ps * 1e-6 AS time_us,"
    " (SELECT sum(v.dynamic_j + v.static_j) FROM epoch_energy v WHERE v.launch_id = e.launch_id"
    " AND v.ord = e.ord) AS energy_j, t.cta_limit AS cta_limit, t.ctas_paused AS ctas_paused"
    " FROM launch l JOIN epoch e USING(launch_id)"
    " JOIN epoch_time t ON t.launch_id = e.launch_id AND t.ord = e.ord)",

    "CREATE VIEW v_vf AS SELECT run_id, launch, point, first_cycle, (until_cycle - first_cycle) AS cycles,"
    " start_ps * 1e-6 AS start_us, (until_cycle - first_cycle) / sm_mhz AS time_us, sm_mhz, l2_mhz, dram_mhz"
    " FROM (SELECT l.run_id AS run_id, l.ord AS launch, v.ord AS point, v.first_cycle AS first_cycle,"
    " coalesce((SELECT n.first_cycle FROM vf_point n WHERE n.launch_id = v.launch_id AND n.ord = v.ord + 1),"
    " l.cycles) AS until_cycle, v.start_ps AS start_ps, v.sm_mhz AS sm_mhz, v.l2_mhz AS l2_mhz,"
    " v.dram_mhz AS dram_mhz FROM launch l JOIN vf_point v USING(launch_id))",
    NULL,
};
/* clang-format on */
