/* sweep_sql.h: what the two files of sweeps in db/ share. */
#ifndef WW_DB_SWEEP_SQL_H
#define WW_DB_SWEEP_SQL_H

#include "../estimator/api/database.h"
#include "db.h"
#include "sweep.h"

/* Columns of sweep_energy in the order of ww_energy_group(). */
#define WW_DB_ENERGY_PARTS "instructions_j, lanes_j, load_store_j, l2_j, dram_j, pipeline_j, idle_j, constant_j"

/* Prepares an SQL expression over v_sweep_point (named p); :sweep and :point say which row. */
enum ww_code ww_sweep_prepare(struct ww_db *db, const char *expression, sqlite3_stmt **stmt,
                              struct ww_error *error);

/* The same for a whole statement. Errors: WW_INPUT (it is not deterministic), WW_DB. */
enum ww_code ww_sweep_prepare_sql(struct ww_db *db, const char *sql, sqlite3_stmt **stmt,
                                  struct ww_error *error);

/* Checks the objectives and constraints of a new sweep. Errors: WW_INPUT with the place. */
enum ww_code ww_sweep_check_sql(struct ww_db *db, const struct ww_db_sweep *sweep, struct ww_error *error);

/* WW_INPUT if the column of the present row, the value of an objective, is a text or a blob. */
enum ww_code ww_sweep_refuse_text(const struct ww_db_sweep *sweep, size_t objective, sqlite3_stmt *stmt,
                                  int column, struct ww_error *error);

/* sqlite3_step() for an expression of a space file, which may never end: after WW_SQL_STEPS operations of
 * SQLite for one row it gives up. SQLITE_ROW, SQLITE_DONE, or *code is set. `what` names the expression in the
 * message. Errors: WW_INPUT (no end), those of ww_db_fail. */
#define WW_SQL_STEPS 100000000
int ww_sweep_step(struct ww_db *db, sqlite3_stmt *stmt, const char *what, enum ww_code *code,
                  struct ww_error *error);

/* Stores a point, its settings and results, and nothing that follows from them. */
enum ww_code ww_sweep_put(struct ww_db *db, const struct ww_db_sweep *sweep, const struct ww_db_sweep_point *p,
                          struct ww_error *error);

#endif
