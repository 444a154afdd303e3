/* merge_check.h: what must be true before the sweeps of another database are joined. */
#ifndef WW_DB_MERGE_CHECK_H
#define WW_DB_MERGE_CHECK_H

#include "../estimator/api/database.h"
#include "db.h"

/* Checks all that a database has of sweeps: types, ranges, finite numbers, rows that other rows name, and that
 * every sweep has traces and objectives, every valid point its replays. Errors: WW_DB (damaged), WW_IO. */
enum ww_code ww_db_check_sweeps(struct ww_db *db, struct ww_error *error);
/* Compares a sweep `here` with the sweep `there` of the same hash in the database attached as "other", whose
 * file is `from`: what both have must be the same; values may differ by 1e-9, as sums in another order do.
 * Errors: WW_MISMATCH, WW_DB. */
enum ww_code ww_db_compare_sweep(struct ww_db *db, const char *from, int64_t here, int64_t there,
                                 struct ww_error *error);

#endif
