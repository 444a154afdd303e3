/* Step 14: variants of a program, by the configuration whose result they explain. */
#include "schema.h"

/* clang-format off */
const char *const ww_db_variant_sql[] = {
    "CREATE TABLE sweep_variant("
    " config TEXT NOT NULL, trace_id INTEGER NOT NULL REFERENCES trace,"
    " ctas INTEGER NOT NULL CHECK(ctas >= 0), recorded_ctas INTEGER NOT NULL CHECK(recorded_ctas >= 0),"
    " alike REAL NOT NULL, error REAL NOT NULL, registers INTEGER NOT NULL, shared_bytes INTEGER NOT NULL,"
    " local_bytes INTEGER NOT NULL, warps_per_cta INTEGER NOT NULL, ctas_per_sm INTEGER NOT NULL,"
    " limiter TEXT NOT NULL, top_stall TEXT NOT NULL, stall_share REAL NOT NULL, conflicts REAL NOT NULL,"
    " PRIMARY KEY(config, trace_id)) WITHOUT ROWID",

    "CREATE VIEW v_sweep_variant AS SELECT p.sweep_id AS sweep_id, p.ord AS point,"
    " (SELECT s.settings FROM v_sweep_settings s WHERE s.sweep_id = p.sweep_id AND s.point = p.ord) AS settings,"
    " p.reason AS reason, p.feasible AS feasible, r.time_ps * 1e-12 AS time_s, v.error AS error,"
    " r.warp_instructions AS warp_instructions, r.cycles AS cycles, v.registers AS registers,"
    " v.shared_bytes AS shared_bytes, v.local_bytes AS local_bytes, v.ctas AS ctas,"
    " v.recorded_ctas AS recorded_ctas, v.alike AS alike, v.ctas_per_sm AS ctas_per_sm,"
    " v.ctas_per_sm * v.warps_per_cta AS warps_per_sm, v.limiter AS limiter, v.top_stall AS top_stall,"
    " v.stall_share AS stall_share, v.conflicts AS conflicts"
    " FROM sweep_point p JOIN sweep_trace t ON t.sweep_id = p.sweep_id"
    " LEFT JOIN sweep_result r ON r.config = p.config AND r.trace_id = t.trace_id"
    " LEFT JOIN sweep_variant v ON v.config = p.config AND v.trace_id = t.trace_id",
    NULL,
};
/* clang-format on */
