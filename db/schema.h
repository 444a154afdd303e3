/* schema.h: the tables and views, as steps of migration.
 *
 * A database's user_version is the number of steps it has taken; opening it takes those that are left, in
 * one transaction. A step that has been released never changes: what must change is a new step at the end.
 */
#ifndef WW_DB_SCHEMA_H
#define WW_DB_SCHEMA_H

#include "../estimator/base/outfile.h" /* WW_DB_APPLICATION_ID */
#include <stddef.h>

/* Gives launches that samples replayed whole their weights: how many units of their stratum each stands for. A
 * condition on l.run_id may follow. */
#define WW_DB_WEIGHTS                                                                                          \
    "INSERT INTO launch_weight(launch_id, weight) SELECT l.launch_id, u.weight FROM launch l JOIN (SELECT"     \
    " run_id, launch, kind, 1.0 * population / count(*) OVER (PARTITION BY run_id, stratum) AS weight"         \
    " FROM run_unit) u ON u.run_id = l.run_id AND u.launch = l.trace_index WHERE u.kind = 0"

/* A NULL-ended list of statements. Columns of counters of instructions come after them: ww_db_inst_step(). */
struct ww_db_step {
    const char *const *sql;
};
extern const struct ww_db_step ww_db_steps[];
extern const int ww_db_step_count;

/* Statements of the steps there are, ended by NULL. */
extern const char *const ww_db_tables_sql[];     /* schema_tables.c */
extern const char *const ww_db_views_sql[];      /* schema_views.c */
extern const char *const ww_db_hardware_sql[];   /* schema_hardware.c */
extern const char *const ww_db_power_sql[];      /* schema_power.c */
extern const char *const ww_db_sweep_sql[];      /* schema_sweep.c */
extern const char *const ww_db_sampling_sql[];   /* schema_sampling.c */
extern const char *const ww_db_adaptive_sql[];   /* schema_adaptive.c */
extern const char *const ww_db_timeline_sql[];   /* schema_timeline.c */
extern const char *const ww_db_scaled_sql[];     /* schema_scaled.c */
extern const char *const ww_db_launch_sql[];     /* schema_launch.c */
extern const char *const ww_db_code_sql[];       /* schema_code.c */
extern const char *const ww_db_energy_sql[];     /* schema_energy.c */
extern const char *const ww_db_override_sql[];   /* schema_override.c */
extern const char *const ww_db_variant_sql[];    /* schema_variant.c */
extern const char *const ww_db_ncu_sql[];        /* schema_ncu.c */
extern const char *const ww_db_concurrent_sql[]; /* schema_concurrent.c */
extern const char *const ww_db_compared_sql[];   /* schema_compared.c */
extern const char *const ww_db_copies_sql[];     /* schema_copies.c */
extern const char *const ww_db_sizes_sql[];      /* schema_sizes.c */
extern const char *const ww_db_named_sql[];      /* schema_named.c */
extern const char *const ww_db_variate_sql[];    /* schema_variate.c */

/* Sectors for each warp instruction that accesses some, of rows p of pc; and the fewest possible. */
#define WW_DB_PER_REQUEST                                                                                      \
    ", 1.0 * sum(p.sectors) / sum(p.issues) FILTER(WHERE p.sectors > 0) AS sectors_per_request,"               \
    " 1.0 * sum(p.ideal_sectors) / sum(p.issues) FILTER(WHERE p.sectors > 0) AS ideal_per_request"

/* Points of sweeps with the watts that their board is built for (board.tdp_w of the point, else of the sweep's
 * GPU; NULL: not known) and the greatest mean power of a trace. */
#define WW_DB_BOARDS                                                                                           \
    "SELECT q.sweep_id AS sweep_id, q.ord AS point, nullif(coalesce((SELECT CAST(o.value AS REAL) FROM"        \
    " sweep_setting o WHERE o.sweep_id = q.sweep_id AND o.point = q.ord AND o.key = 'board.tdp_w'),"           \
    " (SELECT CAST(g.value AS REAL) FROM sweep w JOIN gpu_param g USING(gpu_id) WHERE w.sweep_id ="            \
    " q.sweep_id AND g.key = 'board.tdp_w')), 0) AS board_w, (SELECT max(r.power_w) FROM v_sweep_result r"     \
    " WHERE r.sweep_id = q.sweep_id AND r.point = q.ord) AS most_w FROM sweep_point q WHERE q.feasible IS NOT" \
    " NULL"

#endif
