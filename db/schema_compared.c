/* Step 18: how many of a variant's CTAs had their outputs compared with the reference's, and what was found. */
#include "schema.h"

/* clang-format off */
const char *const ww_db_compared_sql[] = {
    "CREATE TABLE sweep_compared("
    " config TEXT NOT NULL, trace_id INTEGER NOT NULL REFERENCES trace, ctas INTEGER NOT NULL CHECK(ctas >= 0),"
    " reason TEXT NOT NULL, PRIMARY KEY(config, trace_id)) WITHOUT ROWID",

    "DROP VIEW v_sweep_variant",
    "CREATE VIEW v_sweep_variant AS SELECT p.sweep_id AS sweep_id, p.ord AS point,"
    " (SELECT s.settings FROM v_sweep_settings s WHERE s.sweep_id = p.sweep_id AND s.point = p.ord) AS settings,"
    " p.reason AS reason, p.feasible AS feasible, r.time_ps * 1e-12 AS time_s, v.error AS error,"
    " r.warp_instructions AS warp_instructions, r.cycles AS cycles, v.registers AS registers,"
    " v.shared_bytes AS shared_bytes, v.local_bytes AS local_bytes, v.ctas AS ctas,"
    " v.recorded_ctas AS recorded_ctas, c.ctas AS compared_ctas, v.alike AS alike, v.ctas_per_sm AS ctas_per_sm,"
    " v.ctas_per_sm * v.warps_per_cta AS warps_per_sm, v.limiter AS limiter, v.top_stall AS top_stall,"
    " v.stall_share AS stall_share, v.conflicts AS conflicts"
    " FROM sweep_point p JOIN sweep_trace t ON t.sweep_id = p.sweep_id"
    " LEFT JOIN sweep_result r ON r.config = p.config AND r.trace_id = t.trace_id AND p.feasible IS NOT NULL"
    " LEFT JOIN sweep_variant v ON v.config = p.config AND v.trace_id = t.trace_id AND p.feasible IS NOT NULL"
    " LEFT JOIN sweep_compared c ON c.config = p.config AND c.trace_id = t.trace_id",
    NULL,
};
/* clang-format on */
