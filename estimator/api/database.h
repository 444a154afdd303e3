/* database.h: the database of runs: storing, loading, queries. Part of warpwatt.h. */
#ifndef WW_API_DATABASE_H
#define WW_API_DATABASE_H

#include "../base/error.h"
#include "../result/explored.h"
#include "../result/result.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#ifdef __cplusplus
extern "C" {
#endif

struct ww_db;

/* Opens or creates (create = true) a database; migrates an older schema. Errors: WW_DB, WW_IO. */
WW_API enum ww_code ww_db_open(const char *path, bool create, struct ww_db **db, struct ww_error *error);
WW_API void ww_db_close(struct ww_db *db);
/* Checks before a long run whether ww_db_store_at can store: the path can be written or created, the file is a
 * database of warpwatt, and no other program holds its lock for more than 10 s. Changes nothing.
 * Errors: as ww_db_open. */
WW_API enum ww_code ww_db_check_path(const char *path, struct ww_error *error);
/* Opens the database, stores, closes. A new database is written under a temporary name in the same folder and
 * renamed when the result is in it, so that a failure leaves no file. Errors: as ww_db_open. */
WW_API enum ww_code ww_db_store_at(const char *path, const struct ww_result *result, int64_t *run_id,
                                   struct ww_error *error);
/* Stores a result in one transaction; *run_id is its key. On error the database is as before. */
WW_API enum ww_code ww_db_store(struct ww_db *db, const struct ww_result *result, int64_t *run_id,
                                struct ww_error *error);
/* Reads a stored run; free with ww_result_free. Errors: WW_DB (no such run). */
WW_API enum ww_code ww_db_load(struct ww_db *db, int64_t run_id, struct ww_result **result,
                               struct ww_error *error);
/* The number of the run that was stored last. Errors: WW_DB (there is none). */
WW_API enum ww_code ww_db_last_run(struct ww_db *db, int64_t *run_id, struct ww_error *error);
/* Reads sweep `sweep_id`, 0: the last one; free with ww_explored_free. Errors: WW_DB (no such sweep), WW_NOMEM.
 */
WW_API enum ww_code ww_db_load_sweep(struct ww_db *db, int64_t sweep_id, struct ww_explored **sweep,
                                     struct ww_error *error);
WW_API void ww_explored_free(struct ww_explored *sweep);
enum ww_format { WW_FORMAT_TABLE, WW_FORMAT_CSV, WW_FORMAT_JSON };
/* Runs one read-only SQL statement and prints its rows. A binding is the value of the parameter at its
 * position, or ":name=value". A value that is a JSON number is bound as a number; any other, or one in single
 * quotes, as text; a NULL pointer as SQL's NULL. Errors: WW_DB (the SQL), WW_USAGE (a parameter without a
 * value, a value without one). */
WW_API enum ww_code ww_db_query(struct ww_db *db, const char *sql, const char *const *bindings, size_t count,
                                enum ww_format format, FILE *out, struct ww_error *error);
/* The same with a named query, whose parameters have defaults. :run and :base are the number of a stored run,
 * :sweep of a sweep, or "last"; :objective and :at name an objective and a setting of the sweep. Errors:
 * WW_USAGE (no such query, not a number, no such name), WW_DB (no such run or sweep). */
WW_API enum ww_code ww_db_query_named(struct ww_db *db, const char *name, const char *const *bindings,
                                      size_t count, enum ww_format format, FILE *out, struct ww_error *error);
/* Later queries fail with WW_DB after about `steps` operations of SQLite's virtual machine; 0: no limit. */
WW_API void ww_db_limit_steps(struct ww_db *db, uint64_t steps);
/* How many rows the last query printed. */
WW_API uint64_t ww_db_rows(const struct ww_db *db);
/* Named queries: SQL text by name; NULL if unknown. Enumerate with ww_db_named(i). */
struct ww_named_query {
    const char *name, *help, *sql;
};
WW_API size_t ww_db_named_count(void);
WW_API const struct ww_named_query *ww_db_named(size_t i);
WW_API const struct ww_named_query *ww_db_named_find(const char *name);

#ifdef __cplusplus
}
#endif

#endif
