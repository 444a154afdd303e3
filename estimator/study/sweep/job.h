/* job.h: a sweep under way. Threads compute points; one lock guards everything that they share, the database
 * among it. */
#ifndef WW_SWEEP_JOB_H
#define WW_SWEEP_JOB_H

#include "../../api/gpu.h"
#include "../../api/database.h"
#include "../../api/sweep.h"
#include "../../base/tempfile.h"
#include "point.h"
#include <pthread.h>
#include <stdatomic.h>

enum { SWEEP_THREADS = 256 };

struct sweep_job {
    const struct ww_sweep_options *options;
    struct ww_sweep_space space;
    struct ww_sweep_plan plan;
    struct ww_gpu *gpu; /* without the point's parameters */
    char power[WW_CONFIG_HASH];
    struct ww_temp dir;           /* of recorded traces; WW_TEMP_NONE: there are none */
    struct ww_variants *variants; /* of a space with a program (variants.h); else NULL */
    enum ww_sweep_strategy strategy;
    struct ww_db *db;
    struct ww_db_sweep head;
    size_t first, end;         /* the points that are computed here; end 0: all */
    struct sweep_model *model; /* by trace, of an analytic sweep; else NULL */
    struct ww_power *table;    /* of these; NULL: energy is not known */

    pthread_mutex_t lock;
    pthread_cond_t freed;         /* a configuration is no longer being computed */
    char (*busy)[WW_CONFIG_HASH]; /* by thread: what it computes, "" nothing */
    double *under_way;            /* by thread: how much of its point is done */
    bool *done;                   /* by point */
    bool *wanted;                 /* by point: those that are computed now; NULL: all */
    bool alone;                   /* no thread computes points: what is under way says itself how far it is */
    bool sampling;                /* what is computed now are samples, which are no points */
    size_t budgeted;              /* points that an adaptive sweep will replay */
    size_t next, finished, todo, computed, reused;
    atomic_bool stop;
    enum ww_code code;
    struct ww_error error;
};

/* ---- sweep.c ---- */

/* Computes the job's points and counts what is stored; job->db is open. Errors: those of ww_sweep_compute. */
enum ww_code ww_sweep_run_points(struct sweep_job *job, struct ww_sweep_summary *summary,
                                 struct ww_error *error);

/* ---- shard.c ---- */

/* Whether the shard's file may be written over; asked before any work. Errors: WW_USAGE, WW_IO. */
enum ww_code ww_sweep_check_into(const struct ww_sweep_options *options, struct ww_error *error);
/* Computes the shard that job->options names into a file of its own. The job is ready but for its database.
 * Errors: WW_USAGE, WW_MISMATCH (another sweep), those of ww_sweep_compute, WW_IO. */
enum ww_code ww_sweep_run_shard(struct sweep_job *job, struct ww_sweep_summary *summary,
                                struct ww_error *error);
/* ---- slurm.c ---- */

/* Computes the job's points on a cluster, as job->options->slurm says. The job is ready but for its database.
 * Errors: WW_FAIL (stopped, or shards that failed again and again), WW_IO (Slurm, with its words), WW_DB. */
enum ww_code ww_sweep_run_slurm(struct sweep_job *job, struct ww_sweep_summary *summary,
                                struct ww_error *error);

/* ---- shard.c ---- */

/* The points of shard `number` of `of`. */
void ww_sweep_shard_points(uint64_t number, uint64_t of, size_t points, size_t *first, size_t *end);
/* Copies a file to another file system, where its name appears only when it is complete, and syncs it to the
 * disk. */
enum ww_code ww_sweep_put_file(const char *from, const char *to, struct ww_error *error);

/* ---- the others ---- */

/* Opens or records every trace, checks it whole, and fills job->head.trace. Errors: those of recording, of
 * ww_trace_open and ww_trace_verify. */
enum ww_code ww_sweep_traces_open(struct sweep_job *job, struct ww_error *error);
/* Removes what was recorded. */
void ww_sweep_traces_close(struct sweep_job *job);
/* Profiles every trace for the analytical model. Errors: those of profiling, WW_UNSUPPORTED (a trace that the
 * model cannot take), those of ww_power_load. */
enum ww_code ww_sweep_models_open(struct sweep_job *job, struct ww_error *error);
void ww_sweep_models_close(struct sweep_job *job);
/* A trace on a machine of GPU parameters alone, by the model. Errors: WW_UNSUPPORTED (a CTA fits no SM). */
enum ww_code ww_sweep_estimate(const struct sweep_job *job, const struct ww_sweep_machine *machine,
                               size_t trace, struct ww_db_sweep_result *out, struct ww_error *error);
/* Computes and stores all points that are not done, by job->options->jobs threads. Errors: those of the
 * database, WW_FAIL (stopped), WW_IO, WW_NOMEM. */
enum ww_code ww_sweep_compute(struct sweep_job *job, struct ww_error *error);
/* Whether the model can take a trace (the others are not estimated, if the sweep is adaptive). */
bool ww_sweep_has_model(const struct sweep_job *job, size_t trace);
/* Screens all points of the plan and computes those that are worth it (adaptive.h). Errors: those of
 * ww_sweep_compute, WW_USAGE (a budget below one point), WW_UNSUPPORTED (too many candidates). */
enum ww_code ww_sweep_adaptive(struct sweep_job *job, struct ww_sweep_summary *summary, struct ww_error *error);
/* Finds the fastest variant (best.c). Errors: those of ww_sweep_compute. */
enum ww_code ww_sweep_best(struct sweep_job *job, struct ww_sweep_summary *summary, struct ww_error *error);
/* verify.c: executes the fastest variants of a stored sweep whole and compares their outputs. One that differs
 * becomes an invalid point: *wrong says whether any did. Errors: those of ww_variant_verify, of the database.
 */
enum ww_code ww_sweep_verify(struct sweep_job *job, bool *wrong, struct ww_error *error);
/* What the summary says of that. */
enum ww_code ww_sweep_verified(const struct sweep_job *job, struct ww_sweep_summary *summary,
                               struct ww_error *error);
/* Gives a failure its place in the space file, in front of the place that it has: of what was named there. One
 * that has nothing to do with what was named (no memory, stopped) stays as it is; WW_USAGE becomes WW_INPUT. */
enum ww_code ww_sweep_named_at(const struct ww_sweep_space *space, const char *path, enum ww_code code,
                               struct ww_error *error);
/* Fits and stores the effects of every objective. */
enum ww_code ww_sweep_fit(struct sweep_job *job, struct ww_error *error);

/* together.c: if points are invalid since one size of an SM moves alone, summary->together says what to write.
 */
void ww_sweep_together(const struct sweep_job *job, struct ww_sweep_summary *summary);

/* Adds up the parts of a replay's energy (ww_energy_group) where they are all of it, which those of a sample's
 * launches are not. `out` has the energy, and zeros as its parts. */
void ww_sweep_energy_parts(const struct ww_result *r, struct ww_db_sweep_result *out);

#endif
