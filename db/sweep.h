/* sweep.h: the database's functions for sweeps. One connection serves one thread at a time: its callers hold a
 * lock. */
#ifndef WW_DB_SWEEP_H
#define WW_DB_SWEEP_H

#include "../estimator/result/names.h"
#include "../estimator/api/database.h"
#include "../estimator/api/sweep.h"
#include "../estimator/base/arena.h"
#include "../estimator/base/err.h"

#define WW_CONFIG_HASH 33 /* bytes of a configuration's hash with its NUL */

struct ww_db_sweep_trace {
    const char *hash, *program, *workload;
    double weight;
    int64_t id; /* out: of the row in trace */
};
struct ww_db_sweep_objective {
    const char *name, *sql;
    bool most;
};
/* A sweep as it is begun. */
struct ww_db_sweep {
    const char *gpu, *gpu_json, *power, *space, *strategy, *mode;
    uint64_t seed, points;
    double budget; /* of an adaptive sweep: share of the exhaustive cost; else 0 */
    struct ww_db_sweep_trace *trace;
    size_t trace_count;
    const struct ww_db_sweep_objective *objective;
    size_t objective_count;
    const char *const *constraint;
    size_t constraint_count;
    const char *file; /* named in errors of the SQL */
    int64_t id;       /* out */
};

/* What a replay of one trace on one configuration gave. */
struct ww_db_sweep_result {
    uint64_t cycles, time_ps, warp_instructions, thread_instructions;
    double energy_j, host_seconds;
    bool energy_known, parts_known;
    double part_j[WW_ENERGY_GROUPS]; /* of the energy, if parts_known */
    bool stored;                     /* the database has it already */
    /* Of a sampled replay in an adaptive sweep: share of the instructions that were replayed (those that were
     * only warmed count a quarter), relative standard errors. */
    double replayed, time_error, energy_error;
};

/* Properties of a variant of a program other than its time (docs/reference/database.md). Texts are static. */
struct ww_db_sweep_variant {
    uint64_t ctas, recorded_ctas; /* of the grid; recorded and replayed */
    double alike;                 /* share of CTAs looked at that are; 0: none was looked at */
    double error;                 /* of the time, relative, from recording a part */
    uint32_t registers, shared_bytes, local_bytes, warps_per_cta, ctas_per_sm;
    const char *limiter, *top_stall;
    double stall_share, conflicts; /* of the resident warps' time; of shared-memory passes */
    uint64_t compared_ctas;        /* whose outputs are those of the reference; 0: none is compared */
};

/* A point that is done: a result for each trace of the sweep, or a reason why it cannot be. */
struct ww_db_sweep_point {
    uint64_t ord;
    const char *config;
    const char *const *key, *const *value; /* settings */
    const bool *number;                    /* by setting: its value is stored as a number */
    size_t settings;
    const char *reason; /* NULL: valid */
    double area_mm2;
    bool area_known;
    const struct ww_db_sweep_result *result;   /* by trace */
    const struct ww_db_sweep_variant *variant; /* with a program, if it was computed now; else NULL */
};

struct ww_db_sweep_effect {
    const char *a, *b; /* b: "" of a main effect */
    double effect, error, share;
    bool slope; /* effect and error are meant */
};

/* ---- open.c ---- */

enum ww_db_use {
    WW_DB_HERE,  /* as ww_db_open: the journal that suits the file system */
    WW_DB_SHARD, /* a database that is copied as a file when it is closed: a rollback journal */
    WW_DB_READ   /* neither the file nor a file of its journal is changed */
};
/* As ww_db_open; it makes the file unless it is only read. */
enum ww_code ww_db_open_for(const char *path, enum ww_db_use use, struct ww_db **db, struct ww_error *error);

/* ---- merge.c ---- */

struct ww_db_merged {
    uint64_t sweeps, points, results; /* that are new; results: replays */
};
/* Checks whether a database can be merged into another: all of its pages, and every row that it has of sweeps.
 * Errors: those of ww_db_open_for, WW_DB (damaged). */
enum ww_code ww_db_check_merge(const char *from, struct ww_error *error);
/* Adds what another database has of sweeps, in one transaction: rows that are there already stay, so that
 * merging again changes nothing. Only adds to *merged. Errors: WW_DB (damaged, of another version, the same
 * database), WW_MISMATCH (a replay or a point that both have is another one there), WW_IO, WW_NOMEM. */
enum ww_code ww_db_merge(struct ww_db *db, const char *from, struct ww_db_merged *merged,
                         struct ww_error *error);
/* Looks for damage in all of the file. Errors: WW_DB, WW_IO. */
enum ww_code ww_db_check_pages(struct ww_db *db, struct ww_error *error);
/* Writes all that was committed to the disk. */
enum ww_code ww_db_make_durable(struct ww_db *db, struct ww_error *error);

/* ---- sweep.c ---- */

/* What identifies a sweep, as in the column sweep.hash. Errors: WW_NOMEM. */
enum ww_code ww_db_sweep_hash(const struct ww_db_sweep *sweep, char out[WW_CONFIG_HASH],
                              struct ww_error *error);
/* Finds the sweep of the same space, strategy, seed, number of points, GPU, traces, power and version, or makes
 * its rows, in one transaction. Checks that objectives and constraints are SQL that reads. Errors: WW_INPUT
 * (the SQL), WW_DB, WW_IO. */
enum ww_code ww_db_sweep_begin(struct ww_db *db, struct ww_db_sweep *sweep, struct ww_error *error);
/* done[point] becomes true for points that are stored. */
enum ww_code ww_db_sweep_done(struct ww_db *db, const struct ww_db_sweep *sweep, bool *done,
                              struct ww_error *error);
/* Reads a result; result->stored is false if there is none. */
enum ww_code ww_db_sweep_find(struct ww_db *db, const char *config, int64_t trace,
                              struct ww_db_sweep_result *result, struct ww_error *error);
/* Stores a point with its results, the values of its objectives and whether its constraints hold, in one
 * transaction. One that is there already stays. */
enum ww_code ww_db_sweep_store(struct ww_db *db, const struct ww_db_sweep *sweep,
                               const struct ww_db_sweep_point *point, struct ww_error *error);
/* Stores sampled results of a configuration, which belong to no point, and what they cost, in one transaction.
 * What is there already stays. */
enum ww_code ww_db_sweep_store_sampled(struct ww_db *db, const struct ww_db_sweep *sweep,
                                       const struct ww_db_sweep_point *point, struct ww_error *error);
/* ww_db_sweep_find, and what a sampled result cost. */
enum ww_code ww_db_sweep_find_sampled(struct ww_db *db, const char *config, int64_t trace,
                                      struct ww_db_sweep_result *result, struct ww_error *error);

/* ---- sweep_compared.c ---- */

/* A variant that is among the fastest of its sweep. */
struct ww_db_sweep_pick {
    uint64_t ord, ctas, compared_ctas, thread_instructions;
    char config[WW_CONFIG_HASH];
    bool differs; /* it is known that its outputs do, and the point is still a valid one */
};
/* The `room` fastest valid points that hold the constraints, of a sweep with a program. */
enum ww_code ww_db_sweep_fastest(struct ww_db *db, const struct ww_db_sweep *sweep,
                                 struct ww_db_sweep_pick *pick, size_t room, size_t *count,
                                 struct ww_error *error);
/* Stores that so many CTAs of a configuration were compared and are right, or a reason why they are not. Valid
 * points of a configuration with a reason, which may be stored already (NULL here), become invalid ones. */
enum ww_code ww_db_sweep_compared(struct ww_db *db, const struct ww_db_sweep *sweep, const char *config,
                                  uint64_t ctas, const char *reason, struct ww_error *error);
/* *wrong: points that became invalid so; *least: the smallest share of a valid point's CTAs that was compared.
 */
enum ww_code ww_db_sweep_compared_counts(struct ww_db *db, const struct ww_db_sweep *sweep, uint64_t *wrong,
                                         double *least, struct ww_error *error);

/* ---- sweep.c ---- */

/* Values of an objective: value[i] of point[i], in the order of points; both have room for sweep->points. */
enum ww_code ww_db_sweep_values(struct ww_db *db, const struct ww_db_sweep *sweep, size_t objective,
                                size_t *point, double *value, size_t *count, struct ww_error *error);
/* Puts the effects of an objective in the place of those that are stored. */
enum ww_code ww_db_sweep_effects(struct ww_db *db, const struct ww_db_sweep *sweep, size_t objective,
                                 const struct ww_db_sweep_effect *effect, size_t count, struct ww_error *error);
/* Counts of points: stored, with a reason, and valid ones whose constraints do not hold. */
enum ww_code ww_db_sweep_counts(struct ww_db *db, const struct ww_db_sweep *sweep, uint64_t *stored,
                                uint64_t *invalid, uint64_t *infeasible, struct ww_error *error);
/* Counts points that hold the constraints and lack a finite value of an objective; name: of the one that most
 * of them lack, "" if there are none. */
enum ww_code ww_db_sweep_no_value(struct ww_db *db, const struct ww_db_sweep *sweep, uint64_t *points,
                                  char name[80], struct ww_error *error);
/* Causes of invalid points, of the most points first; *causes counts those without room too. */
enum ww_code ww_db_sweep_causes(struct ww_db *db, const struct ww_db_sweep *sweep,
                                struct ww_sweep_cause cause[WW_SWEEP_CAUSES], uint64_t *causes,
                                struct ww_error *error);

/* Closes a database whose first use failed; a file that was made for it and holds no result is removed. */
void ww_db_close_unused(struct ww_db *db);

/* ---- sweep_times.c ---- */

/* The computed points of a sweep (0: the latest one), in their order: settings as "key=value key=value",
 * seconds. Errors: WW_DB (none such), what `each` returns. */
enum ww_code ww_db_sweep_times(struct ww_db *db, int64_t sweep, int64_t *found, char gpu[64],
                               enum ww_code (*each)(void *context, uint64_t point, const char *settings,
                                                    double seconds),
                               void *context, struct ww_error *error);

#endif
