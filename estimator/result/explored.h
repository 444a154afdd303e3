/* explored.h: a sweep read back from the database, for reports. Not known: NAN. */
#ifndef WW_EXPLORED_H
#define WW_EXPLORED_H

#include "names.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { WW_EXPLORED_OBJECTIVES = 4 };

/* Properties of a variant of a program other than its time (docs/guide/tune.md). */
struct ww_explored_variant {
    uint64_t ctas, recorded_ctas;                         /* of the grid; recorded and replayed */
    uint64_t registers, shared_bytes, local_bytes, warps; /* warps: of an SM */
    const char *limiter, *top_stall;
    double error, stall_share,
        conflicts; /* of the time; of the resident warps' time; of shared-memory passes */
};

/* A point that is done. Times, energies and powers are sums over the traces by weight. */
struct ww_explored_point {
    uint64_t ord;       /* its number in the sweep */
    int feasible;       /* 1: the constraints hold, 0: they do not, -1: the point is invalid */
    bool front;         /* feasible, and no other such point beats it in all objectives */
    const char *reason; /* why it is invalid; "" if it is not */
    const char **value; /* of each key, in text; NULL: not set in this point */
    double time_s, energy_j, power_w, area_mm2;
    double board_w, most_w; /* watts that the board is built for (board.tdp_w); greatest mean of a trace */
    double objective[WW_EXPLORED_OBJECTIVES];
    const struct ww_explored_variant *variant; /* NULL: the sweep is of no program, or nothing is known */
    double measured_s;                         /* by ww_sweep_rank */
    bool screened;                             /* not replayed: time_s is an estimate, within these at 95 % */
    double low_s, high_s;
    double *part_s, *part_j;          /* of each trace, times its weight; NULL: not replayed */
    double group_j[WW_ENERGY_GROUPS]; /* parts of the energy (ww_energy_group) */
};

/* What an adaptive sweep knows of a point of its space. */
struct ww_explored_candidate {
    uint64_t ord;
    const char *settings, *fidelity; /* "analytic", "sampled" or "full": what the estimates are from */
    bool holds, may_hold;            /* the constraints: by the estimates; at some value within their bounds */
    double estimate[WW_EXPLORED_OBJECTIVES], low[WW_EXPLORED_OBJECTIVES], high[WW_EXPLORED_OBJECTIVES];
};

struct ww_explored_objective {
    const char *name;
    int sense; /* 1: the least value is the best; -1: the greatest */
};

/* The effect of a parameter, or of a pair of parameters, by regression. */
struct ww_explored_effect {
    size_t objective;
    const char *a, *b;           /* b: "" for a main effect */
    double effect, error, share; /* share: part of the objective's variance */
};

struct ww_explored {
    int64_t sweep;
    const char *gpu, *strategy, *mode, *version, *seed, *traces; /* traces: their names */
    uint64_t planned;                                            /* points that the strategy picked */
    const char **key;                                            /* parameters that any point sets */
    size_t key_count;
    struct ww_explored_objective objective[WW_EXPLORED_OBJECTIVES];
    size_t objective_count;
    struct ww_explored_point *point;
    size_t point_count;
    const char **workload; /* of each trace */
    size_t trace_count;
    struct ww_explored_candidate *candidate;
    size_t candidate_count;
    size_t variant_count;               /* points that are variants of a program */
    struct ww_explored_point *screened; /* variants that a search for the fastest did not replay */
    size_t screened_count;
    struct ww_explored_effect *effect;
    size_t effect_count;
    void *owner; /* memory of all pointers above; private */
};

#endif
