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

/* A part of a sweep's points, computed into a database of its own, for machines that share no more than files.
 */
struct ww_sweep_shard {
    uint64_t number, of;    /* which part of how many, from 1; parts differ in size by one point at most */
    const char *into;       /* the database, written elsewhere and put in place whole; what it has is kept */
    const char *local;      /* folder where it is written, on a disk of this machine; NULL: TMPDIR or /tmp */
    const char *traces;     /* folder of workloads that were recorded already; NULL: they are recorded here */
    const char *sweep_hash; /* of the sweep that this must be a part of; NULL: any */
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
    unsigned tries;        /* of a shard without a new point before it is given up; 0: 3 */
    unsigned poll_s;       /* seconds between two looks at the queue; 0: 5 */
    bool keep;             /* the folder when all is done */
    void (*note)(void *context, const char *text); /* what happens, a line each; may be NULL */
};

struct ww_sweep_options {
    const char *space;    /* file: GPU, traces, parameters with their levels (docs/guide/sweep.md) */
    const char *db;       /* made if it is not there */
    const char *strategy; /* "grid" (NULL), "random", "latin", "sobol", "adaptive", "best" */
    const char *mode;     /* of the replays: "full" (NULL), "fast", "sampled", "analytic" */
    uint64_t points;      /* that the strategy picks; 0 for the grid; of adaptive candidates, 0: the grid */
    double budget;        /* of adaptive, best: share of the cost of replaying all candidates, 0: 0.05; 1 */
    uint64_t seed;
    unsigned jobs; /* threads, at least 1; what is stored does not depend on their number */
    const struct ww_sweep_shard *shard; /* NULL: all points; else db is not looked at */
    const struct ww_sweep_slurm *slurm; /* NULL: on this machine; else jobs is not looked at */
    ww_progress_fn progress;
    void *context;
};
#define WW_SWEEP_CAUSES 5 /* that a summary has room for */
/* Why points are invalid: those whose reasons differ in numbers and settings only are one cause. */
struct ww_sweep_cause {
    uint64_t points;
    char reason[600]; /* of the first of them */
};
#define WW_SWEEP_NEAR 0.05
struct ww_sweep_summary {
    int64_t sweep; /* its number in the database; 0: it was not begun */
    uint64_t points, stored, invalid, infeasible;
    uint64_t computed, reused;     /* replays: done by this call, and found in the database */
    uint64_t replayed;             /* adaptive: points that were replayed in full, now or before */
    uint64_t sampled;              /* adaptive: further points, of which samples were replayed */
    double budget, cost;           /* adaptive: shares of the exhaustive cost, allowed and spent; else 0 */
    char built[600];               /* best: what makes its code, as words of a command line */
    char best[600];                /* best: the fastest variant's settings; "" if the strategy is another one */
    double best_s;                 /* its time */
    double best_sure, best_margin; /* probability that no other replay is faster by more than this part */
    uint64_t best_near; /* best: other replayed variants whose times are within WW_SWEEP_NEAR of it */
    uint64_t builds;    /* of a program's variants, by this call, and seconds of them and of recording */
    double build_s, record_s;
    char why[1000]; /* adaptive: why no candidate was worth a replay; "" if one was */
    struct ww_sweep_cause cause[WW_SWEEP_CAUSES]; /* of the most points first */
    uint64_t causes;                              /* all of them, also those without room */
    char together[600];  /* what to write into the space file so that sizes move together; "": nothing known */
    const char *warning; /* what the figures leave out, lives for ever; NULL: nothing known */
    /* Of a program with "compare": the fastest variants that were executed whole and are right; those that are
     * too long for that; faster ones that were wrong; the least share of a valid variant's CTAs compared. */
    uint64_t verified, too_long, wrong;
    double compared;
    bool small;        /* best: variants are so few that all are replayed without screening */
    char made_by[300]; /* of a program: what kind of code is recorded, and what makes it; else "" */
    /* Points that hold the constraints but lack a finite value of an objective, so that no front has them; the
     * objective that most of them lack. */
    uint64_t no_value;
    char no_value_objective[80];
};
/* Replays every trace on every point that the strategy picks, stores each point when it is done, and goes on
 * where an earlier call of the same sweep was interrupted. A point that cannot be is stored with its reason.
 * *summary is filled also on error, as far as it went. Errors: WW_USAGE (options), WW_INPUT (the space file,
 * with the place, also SQL that may give another value each time, or a text as an objective; traces),
 * WW_UNSUPPORTED (energies without a power table), WW_FAIL (progress stopped it),
 * WW_DB, WW_IO. */
WW_API enum ww_code ww_sweep(const struct ww_sweep_options *options, struct ww_sweep_summary *summary,
                             struct ww_error *error);
struct ww_sweep_merged {
    uint64_t sweeps, points, replays; /* that the database did not have */
};
/* Joins the sweeps of `count` other databases (shards, or whole ones) into one, which is made if it is not
 * there. What is there already stays, so that it can be done again at any time. Errors: WW_DB (a file is
 * damaged), WW_MISMATCH (replays disagree), WW_USAGE (a file into itself), WW_IO. */
WW_API enum ww_code ww_sweep_merge(const char *db, const char *const *from, size_t count,
                                   struct ww_sweep_merged *merged, struct ww_error *error);
struct ww_db;
#define WW_SWEEP_TOPS 3
/* How alike a sweep's estimates and measured times rank variants. */
struct ww_sweep_ranking {
    int64_t sweep;
    char gpu[64];
    uint64_t variants, unmatched; /* that both have; points that the table does not */
    double spearman, kendall;     /* tau b */
    uint64_t top[WW_SWEEP_TOPS];
    double regret[WW_SWEEP_TOPS]; /* of our `top` best the fastest measured time, over the fastest of all, less
                                     1 */
    double mean_abs_error, median_ratio; /* of estimates against measured times */
};
struct ww_explored;
/* Sets the times of a sweep (0: the latest) beside a table: texts between tabs, the first row names, columns by
 * the names of parameters, `column` the measured times (NULL: median_ms, time_ms, duration_us, ...; ends in _s,
 * _us or else means milliseconds). `into`, if there is one, is that sweep read back, and gets the measured
 * times. Errors: WW_IO, WW_INPUT (the table), WW_DB. */
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
