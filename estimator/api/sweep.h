/* sweep.h: design-space exploration. Part of warpwatt.h. */
#ifndef WW_API_SWEEP_H
#define WW_API_SWEEP_H

#include "../base/error.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A part of a sweep's points, computed into its own database, for machines that share only files. */
struct ww_sweep_shard {
    uint64_t number, of; /* which part of how many, from 1; parts differ in size by one point at most */
    const char *into;    /* the shard's database, moved here from `local` when complete; its points are kept */
    const char *local;   /* folder where it is written, on a disk of this machine; NULL: TMPDIR or /tmp */
    const char *traces;  /* folder of workloads recorded earlier; NULL: they are recorded now */
    const char *sweep_hash; /* fails if the sweep's hash is another one; NULL: not checked */
};

/* A sweep as job arrays of a Slurm cluster; strings are as sbatch takes them, NULL: the cluster's default. */
struct ww_sweep_slurm {
    const char *folder;   /* that all nodes share, for shards and logs; NULL: the database's name with .slurm */
    const char *node_dir; /* on a node's own disk; NULL: TMPDIR of the task, or /tmp */
    const char *partition, *account, *time, *memory;
    const char *const *extra; /* further options of sbatch, a word each */
    size_t extra_count;
    unsigned cpus;         /* of a task, and its threads; 0: 1 */
    uint64_t shard_points; /* points of a task; 0: 100 */
    unsigned tries;        /* of a shard that adds no point, before it counts as failed; 0: 3 */
    unsigned poll_s;       /* seconds between queries of the queue; 0: 5 */
    bool keep;             /* do not delete the folder at the end */
    void (*note)(void *context, const char *text); /* progress, a line each; may be NULL */
};

struct ww_sweep_options {
    const char *space;    /* file: GPU, traces, parameters with their levels (docs/guide/sweep.md) */
    const char *db;       /* made if it is not there */
    const char *strategy; /* "grid" (NULL), "random", "latin", "sobol", "adaptive", "best" */
    const char *mode;     /* of the replays: "full" (NULL), "fast", "sampled", "analytic" */
    uint64_t points; /* number that the strategy picks; 0 for grid; adaptive: candidates, 0: the whole grid */
    double budget;   /* of adaptive, best: share of the cost of replaying all candidates, 0: 0.05; 1 */
    uint64_t seed;
    unsigned jobs; /* threads, at least 1; what is stored does not depend on their number */
    const struct ww_sweep_shard *shard; /* NULL: all points; else `db` is ignored */
    const struct ww_sweep_slurm *slurm; /* NULL: on this machine; else `jobs` is ignored */
    ww_progress_fn progress;
    void *context;
};
#define WW_SWEEP_CAUSES 5 /* most causes in a summary */
/* A reason for invalid points. Reasons that differ only in numbers and settings are one cause. */
struct ww_sweep_cause {
    uint64_t points;
    char reason[600]; /* of the first of them */
};
#define WW_SWEEP_NEAR 0.05
struct ww_sweep_summary {
    int64_t sweep; /* its number in the database; 0: it was not started */
    uint64_t points, stored, invalid, infeasible;
    uint64_t computed, reused;     /* replays of this call, and those found in the database */
    uint64_t replayed;             /* adaptive: points that were replayed in full, now or before */
    uint64_t sampled;              /* adaptive: further points, of which samples were replayed */
    double budget, cost;           /* adaptive: shares of the exhaustive cost, allowed and spent; else 0 */
    char built[600];               /* best: what makes its code, as words of a command line */
    char best[600];                /* best: the fastest variant's settings; "" if the strategy is another one */
    double best_s;                 /* its time in seconds */
    double best_sure, best_margin; /* probability that no other replay is faster by more than this part */
    uint64_t best_near; /* best: other replayed variants whose times are within WW_SWEEP_NEAR of it */
    uint64_t builds;    /* of a program's variants, by this call, and seconds of them and of recording */
    double build_s, record_s;
    char why[1000];                               /* adaptive: why no candidate was replayed; "" if one was */
    struct ww_sweep_cause cause[WW_SWEEP_CAUSES]; /* of the most points first */
    uint64_t causes;                              /* all of them, also those without room */
    char together[600];  /* line for the space file that couples parameters of sizes; "": none suggested */
    const char *warning; /* what the figures do not include, a static string; NULL: nothing known */
    /* Of a program with "compare": variants among the fastest that were executed completely and are correct;
     * those that are too long for that; faster ones with wrong output; the least share of CTAs compared in a
     * valid variant. */
    uint64_t verified, too_long, wrong;
    double compared;
    bool small;        /* best: all variants are replayed, without screening, since they are few */
    char made_by[300]; /* of a program: the kind of code recorded and its compiler; else "" */
    /* Points that satisfy the constraints but have no finite value of an objective, and are in no front; the
     * objective that most of them have no value of. */
    uint64_t no_value;
    char no_value_objective[80];
};
/* Replays every trace on every point that the strategy picks, stores each point when it is done, and resumes an
 * interrupted sweep. A point that is not possible is stored as invalid, with the reason.
 * *summary is filled also on error, as far as it went. Errors: WW_USAGE (options), WW_INPUT (the space file,
 * with the place, such as SQL that is not deterministic, or an objective that is text; traces), WW_UNSUPPORTED
 * (energies without a power table), WW_FAIL (progress stopped it), WW_DB, WW_IO. */
WW_API enum ww_code ww_sweep(const struct ww_sweep_options *options, struct ww_sweep_summary *summary,
                             struct ww_error *error);
struct ww_sweep_merged {
    uint64_t sweeps, points, replays; /* that the database did not have */
};
/* Adds the sweeps of `count` other databases (shards, or whole ones) to one, which is created if absent. Rows
 * that exist are kept, so the call can be repeated. Errors: WW_DB (a file is
 * damaged), WW_MISMATCH (replays disagree), WW_USAGE (a file into itself), WW_IO. */
WW_API enum ww_code ww_sweep_merge(const char *db, const char *const *from, size_t count,
                                   struct ww_sweep_merged *merged, struct ww_error *error);
struct ww_db;
#define WW_SWEEP_TOPS 3
/* Agreement of the rankings of variants by a sweep's estimates and by measured times. */
struct ww_sweep_ranking {
    int64_t sweep;
    char gpu[64];
    uint64_t variants, unmatched; /* variants in both; points that are not in the table */
    double spearman, kendall;     /* tau b */
    uint64_t top[WW_SWEEP_TOPS];
    double regret[WW_SWEEP_TOPS]; /* the fastest measured time among our `top` best, over the fastest of all,
                                     minus 1 */
    double mean_abs_error, median_ratio; /* of estimates against measured times */
};
struct ww_explored;
/* Compares the times of a sweep (0: the latest) with a table of tab-separated values. Its first row has the
 * names of columns: those of parameters, and `column`, the measured times (NULL: median_ms, time_ms,
 * duration_us, ...; the unit is s or us if the name ends in _s or _us, else ms). `into` (may be NULL) is that
 * sweep as ww_db_load_sweep read it, and gets the measured times. Errors: WW_IO, WW_INPUT (the table), WW_DB.
 */
WW_API enum ww_code ww_sweep_rank(struct ww_db *db, int64_t sweep, const char *path, const char *column,
                                  struct ww_explored *into, struct ww_sweep_ranking *out,
                                  struct ww_error *error);
/* Names of strategies; NULL if out of range. */
WW_API size_t ww_sweep_strategy_count(void);
WW_API const char *ww_sweep_strategy_at(size_t i);

#ifdef __cplusplus
}
#endif

#endif
