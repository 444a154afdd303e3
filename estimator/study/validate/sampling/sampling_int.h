/* sampling_int.h: between validate_sampling.c, which says what is sampled and prints, and sampling_run.c, which
 * replays and draws. */
#ifndef WW_VALIDATE_SAMPLING_INT_H
#define WW_VALIDATE_SAMPLING_INT_H

#include "../../../api/validate.h"
#include "../rows/validate.h"

enum { SAMPLING_PARAMETERS = 6, SAMPLING_SEEDS_MOST = 200 };

/* Long ones, of many launches or of one, must be replayed 20 times less. */
enum sampling_class { SAMPLING_SHORT, SAMPLING_LAUNCHES, SAMPLING_LAUNCH };

struct sampling_workload {
    const char *name, *label;
    const char *parameter[SAMPLING_PARAMETERS]; /* ends with NULL */
    enum sampling_class of;
};

/* One draw, against the full replay. */
struct sampling_draw {
    bool all;                 /* everything was to be replayed */
    bool covers[2];           /* cycles, energy */
    bool varies[2];           /* the interval is sampling's for the greater part, not the allowance */
    double error[2];          /* estimate / full replay - 1 */
    double half[2], share;    /* half-width, relative; part of the instructions replayed */
    bool paired, pair_covers; /* the ratio to a second design is known, and its interval holds */
    double pair_error, pair_half;
};

/* A workload on a GPU. */
struct sampling_pair {
    const struct sampling_workload *workload;
    const char *gpu;
    const char *other; /* mechanism of a second design that is compared with the first, or NULL */
    size_t seeds;
    struct sampling_draw draw[SAMPLING_SEEDS_MOST];
    uint64_t instructions;
};

/* Records the workload, replays it whole once, and samples with each seed; replays of units are shared. Errors:
 * those of recording and replay, WW_FAIL (progress stopped it). */
enum ww_code ww_sampling_measure(struct sampling_pair *pair, ww_progress_fn progress, void *context,
                                 struct ww_error *error);

#endif
