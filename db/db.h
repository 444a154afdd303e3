/* db.h: what the files of db/ share. No other folder uses SQLite.
 *
 * Errors of SQLite become WW_DB, but WW_NOMEM for memory and WW_IO where the system refused (disk full,
 * read or write errors); `where` is the database's path.
 */
#ifndef WW_DB_DB_H
#define WW_DB_DB_H

#include "../estimator/api/database.h"
#include "../estimator/result/result.h"
#include "../estimator/base/arena.h"
#include "../estimator/base/err.h"
#include <sqlite3.h>

struct ww_db {
    sqlite3 *sql;
    char *path;
    uint64_t rows;        /* that the last query printed */
    uint64_t limit_steps; /* of a query, 0: none */
    bool made;            /* there was no file before it was opened */
};

/* ---- sql.c: errors, statements, rows ---- */

/* Converts SQLite's current error into an enum ww_code; `doing` names the failed operation. */
enum ww_code ww_db_fail(struct ww_db *db, const char *doing, struct ww_error *error);
/* A value of a stored row is not what it must be. */
enum ww_code ww_db_damaged(struct ww_db *db, const char *what, struct ww_error *error);
/* There is no run of that number. */
enum ww_code ww_db_no_run(struct ww_db *db, int64_t run_id, struct ww_error *error);
/* Runs statements that give no rows. */
enum ww_code ww_db_exec(struct ww_db *db, const char *sql, const char *doing, struct ww_error *error);
/* Adds the counters of instructions that step `step` of the schema, from 1, brings; see schema_inst.c. */
enum ww_code ww_db_inst_step(struct ww_db *db, int step, struct ww_error *error);
/* First column of the first row, an integer. */
enum ww_code ww_db_get_int(struct ww_db *db, const char *sql, int64_t *value, struct ww_error *error);
/* Ends the open transaction: commits if code is WW_OK, else rolls back. Returns the code that counts. */
enum ww_code ww_db_finish(struct ww_db *db, enum ww_code code, struct ww_error *error);

/* A prepared INSERT, filled from left to right. The first failure stays in `code`; later calls then do
 * nothing, so that a row is checked once, by ww_insert_run. */
struct ww_insert {
    struct ww_db *db;
    sqlite3_stmt *stmt;
    const char *table, *columns;
    int next;
    enum ww_code code;
    struct ww_error *error;
};
/* `table` and `columns` must outlive the statement; `columns` is a list such as "run_id, ord". */
enum ww_code ww_insert_open(struct ww_insert *in, struct ww_db *db, const char *table, const char *columns,
                            struct ww_error *error);
void ww_insert_close(struct ww_insert *in);
void ww_insert_i64(struct ww_insert *in, int64_t v);
/* Fails above INT64_MAX, which SQLite cannot hold. */
void ww_insert_u64(struct ww_insert *in, uint64_t v);
/* Fails if v is not finite. */
void ww_insert_f64(struct ww_insert *in, double v);
/* NULL counts as "". The text must live until ww_insert_run. */
void ww_insert_text(struct ww_insert *in, const char *s);
void ww_insert_null(struct ww_insert *in);
/* Runs it, makes it ready for the next row; *id (may be NULL) becomes the row's id. */
enum ww_code ww_insert_run(struct ww_insert *in, int64_t *id);

/* A SELECT over one key, read from left to right with types checked. */
struct ww_select {
    struct ww_db *db;
    sqlite3_stmt *stmt;
    int next;
    enum ww_code code;
    struct ww_error *error;
};
/* ?1 in `sql` is bound to `key`. */
enum ww_code ww_select_open(struct ww_select *s, struct ww_db *db, const char *sql, int64_t key,
                            struct ww_error *error);
/* Steps to the next row; false at the end or after a failure. */
bool ww_select_row(struct ww_select *s);
int64_t ww_select_i64(struct ww_select *s);
uint64_t ww_select_u64(struct ww_select *s);
uint32_t ww_select_u32(struct ww_select *s);
double ww_select_f64(struct ww_select *s);
/* True if the next column is NULL (the column is not consumed). */
bool ww_select_is_null(struct ww_select *s);
/* The same, and advances to the next column if so. */
bool ww_select_skip_null(struct ww_select *s);
/* A copy in the arena; text of at most 64 MiB without NUL bytes. "" after a failure. */
const char *ww_select_text(struct ww_select *s, struct ww_arena *arena);
/* Sets the failure: the column just read holds a value that cannot be. */
void ww_select_refuse(struct ww_select *s, const char *expected);
enum ww_code ww_select_close(struct ww_select *s);

/* Between begin and end statements stop with an error after about `limit` > 0 operations of SQLite; they were
 * spent if there are none left. */
struct ww_steps {
    uint64_t left, at_once;
};
void ww_db_steps_begin(struct ww_db *db, struct ww_steps *steps, uint64_t limit);
void ww_db_steps_end(struct ww_db *db);
bool ww_db_steps_spent(const struct ww_steps *steps);

/* ---- dict.c: the lists of names ---- */

/* The id in the database of each enumerator, -1 if it has none. */
struct ww_dict {
    int64_t counter[WW_COUNTER_COUNT];
    int64_t state[WW_STATE_COUNT];
    int64_t slot[WW_SLOT_COUNT];
    int64_t component[WW_COMPONENT_COUNT];
};
/* Brings the lists up to this program's; within the caller's transaction. */
enum ww_code ww_dict_sync(struct ww_db *db, struct ww_error *error);
enum ww_code ww_dict_read(struct ww_db *db, struct ww_dict *dict, struct ww_error *error);
/* The enumerator of an id in one of the lists, or -1. */
int ww_dict_find(const int64_t *ids, int count, int64_t id);

/* ---- functions.c ---- */

/* The functions short_name(KERNEL) and whole_name(KERNEL) of SQL; SQLite's code. */
int ww_db_functions(sqlite3 *sql);

/* ---- store.c ---- */

/* The number of a GPU's or a trace's row, made if there is none. */
enum ww_code ww_db_store_gpu(struct ww_db *db, const char *name, const char *json, int64_t *id,
                             struct ww_error *error);
enum ww_code ww_db_store_trace(struct ww_db *db, const char *hash, const char *program, int64_t *id,
                               struct ww_error *error);

/* ---- query.c ---- */

/* SQL: a list of settings, as 'l1.size_kb=24 sched=lrr', as the text of a JSON object. */
#define WW_AT_JSON(at)                                                                                         \
    "CASE WHEN coalesce(" at ", '') = '' THEN '{}' ELSE '{\"' || replace(replace(" at                          \
    ", '=', '\":\"'), ' ', '\",\"') || '\"}' END"

/* SQLite's authorizer of statements that only read. */
typedef int ww_db_authorizer(void *context, int action, const char *a, const char *b, const char *c,
                             const char *d);
int ww_db_authorize_reading(void *context, int action, const char *a, const char *b, const char *c,
                            const char *d);
/* Prepares one statement that only reads, and that the authorizer allows. Free with sqlite3_finalize. */
enum ww_code ww_db_prepare_under(struct ww_db *db, const char *sql, ww_db_authorizer *authorizer, void *context,
                                 sqlite3_stmt **stmt, struct ww_error *error);

/* ---- store_launch.c, load_launch.c ---- */

enum ww_code ww_db_store_launches(struct ww_db *db, const struct ww_dict *dict, int64_t run_id,
                                  const struct ww_result *result, struct ww_error *error);
enum ww_code ww_db_load_launches(struct ww_db *db, const struct ww_dict *dict, int64_t run_id,
                                 struct ww_result *result, struct ww_arena *arena, struct ww_error *error);

/* ---- timeline.c ---- */

/* What a run kept of a launch for its timeline; nothing is stored or read of others. */
enum ww_code ww_db_store_timeline(struct ww_db *db, const struct ww_dict *dict, int64_t launch_id,
                                  const struct ww_launch_result *l, struct ww_error *error);
enum ww_code ww_db_load_timeline(struct ww_db *db, const struct ww_dict *dict, int64_t launch_id,
                                 struct ww_launch_result *l, struct ww_arena *arena, struct ww_error *error);

/* ---- concurrent.c ---- */

/* Group and shared time of a launch that ran concurrently with others. Errors: WW_INPUT (it shares more than it
 * took). */
enum ww_code ww_db_store_concurrent(struct ww_db *db, int64_t launch_id, const struct ww_launch_result *l,
                                    struct ww_error *error);
enum ww_code ww_db_load_concurrent(struct ww_db *db, int64_t launch_id, struct ww_launch_result *l,
                                   struct ww_error *error);

/* ---- copies.c ---- */

/* A run's copies; and a launch's time among them. */
enum ww_code ww_db_store_copies(struct ww_db *db, int64_t run_id, const struct ww_result *r,
                                struct ww_error *error);
enum ww_code ww_db_load_copies(struct ww_db *db, int64_t run_id, struct ww_result *r, struct ww_arena *arena,
                               struct ww_error *error);
enum ww_code ww_db_store_among(struct ww_db *db, int64_t launch_id, const struct ww_launch_result *l,
                               struct ww_error *error);
enum ww_code ww_db_load_among(struct ww_db *db, int64_t launch_id, struct ww_launch_result *l,
                              struct ww_error *error);

/* ---- sampling.c ---- */

/* What a sampled run replayed; nothing is stored or read of others. */
enum ww_code ww_db_store_sampling(struct ww_db *db, int64_t run_id, const struct ww_result *r,
                                  struct ww_error *error);
enum ww_code ww_db_load_sampling(struct ww_db *db, int64_t run_id, struct ww_result *r, struct ww_arena *arena,
                                 struct ww_error *error);

/* ---- print.c ---- */

/* Steps `stmt` to its end and prints its rows. */
enum ww_code ww_db_print(struct ww_db *db, sqlite3_stmt *stmt, enum ww_format format, FILE *out,
                         struct ww_error *error);
enum ww_code ww_db_print_table(struct ww_db *db, sqlite3_stmt *stmt, FILE *out, struct ww_error *error);

#endif
