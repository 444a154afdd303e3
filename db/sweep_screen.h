/* sweep_screen.h: the database's functions for adaptive sweeps. Estimates are judged by the same SQL as
 * results: they are stored in a temporary database in memory, which has the sweep's tables and views. */
#ifndef WW_DB_SWEEP_SCREEN_H
#define WW_DB_SWEEP_SCREEN_H

#include "../estimator/api/database.h"
#include "sweep.h"

/* Makes a database in memory with all tables and views and nothing in them. Close with ww_db_close. Errors:
 * WW_DB, WW_NOMEM. */
enum ww_code ww_db_scratch_open(struct ww_db **out, struct ww_error *error);
/* Stores points with their settings and results, but without values of objectives. Between ww_db_scratch_begin
 * and ww_db_scratch_end, which are one transaction. */
enum ww_code ww_db_scratch_begin(struct ww_db *db, struct ww_error *error);
enum ww_code ww_db_scratch_put(struct ww_db *db, const struct ww_db_sweep *sweep,
                               const struct ww_db_sweep_point *point, struct ww_error *error);
enum ww_code ww_db_scratch_end(struct ww_db *db, enum ww_code code, struct ww_error *error);
/* Puts other results, [point][trace], in the place of those that are stored; `config` is that of each point,
 * NULL: it has none. */
enum ww_code ww_db_scratch_guess(struct ww_db *db, const struct ww_db_sweep *sweep, const char *const *config,
                                 const struct ww_db_sweep_result *result, struct ww_error *error);
/* Objectives of all points, value[point][objective], with the sign that makes less better, NAN where there is
 * none; holds[point]: whether all constraints hold. Errors: WW_INPUT (an expression with parameters), WW_DB. */
enum ww_code ww_db_scratch_judge(struct ww_db *db, const struct ww_db_sweep *sweep, double *value, bool *holds,
                                 struct ww_error *error);

/* A candidate at the end of an adaptive sweep. */
struct ww_db_sweep_candidate {
    const char *settings, *fidelity;     /* "analytic", "sampled" or "full" */
    uint64_t round;                      /* in which it was replayed; 0: never */
    bool likely, possible;               /* constraints hold by the estimate; within its interval */
    const double *estimate, *low, *high; /* by objective, as the objectives are */
};
/* Puts the candidates (NULL entries: those that cannot be), budget and cost in the place of what is stored of
 * them, in one transaction. */
enum ww_code ww_db_sweep_candidates(struct ww_db *db, const struct ww_db_sweep *sweep,
                                    const struct ww_db_sweep_candidate *const *candidate, double cost,
                                    uint64_t rounds, struct ww_error *error);

#endif
