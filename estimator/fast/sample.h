/* sample.h: which parts of a program are replayed, and the estimate of the whole from them.
 *
 *   launches --frame--> units in strata --pilot--> variances --second stage--> totals with intervals
 *
 * A unit is a launch, or a part of a large launch: its start, a window of CTA waves, or its tail. Units of one
 * kernel that look alike before anything is replayed (kernel, block, size, place in the program) are a stratum;
 * units are drawn at random without replacement within strata, so that the intervals follow from the design
 * alone (Cochran, Sampling Techniques, 1977, chapters 5 and 6). The replay of a unit does not depend on which
 * other units are drawn. */
#ifndef WW_FAST_SAMPLE_H
#define WW_FAST_SAMPLE_H

#include "../base/arena.h"
#include "../base/err.h"
#include "../base/rng.h"
#include "../result/sample_unit.h"

/* CTAs of a launch whose time is measured: from the dispatch of `first` to that of `end`, or to the end of the
 * launch. Replay begins with CTA `from`, so that the machine is full. */
struct ww_unit {
    uint32_t launch; /* index in the trace */
    uint8_t kind;    /* enum ww_unit_kind */
    bool early;      /* of a family's first launches, which meet data that no cache has seen */
    uint32_t stratum;
    uint64_t first, end, from;
    double size; /* warp instructions, expected */
    double cost; /* of these, to be replayed to measure it */
};

/* Units order[first .. first + count - 1] of the frame, in random order once drawing has begun. */
struct ww_stratum {
    size_t first, count;
    size_t drawn, pilot;
    size_t fast; /* the first of them that fast replay measures; more than drawn: it is the control variate */
    uint32_t family;
};

/* Units that share a ratio of time to instructions: launches of one kernel and block, or all parts of such. */
struct ww_family {
    const char *kernel;
    double instructions; /* of all its units, exact */
};

/* The population. Belongs to the arena that it was made with. */
struct ww_frame {
    struct ww_unit *unit;
    size_t count;
    size_t *order;
    struct ww_stratum *stratum;
    size_t strata;
    struct ww_family *family;
    size_t families;
    double instructions; /* of all launches */
};

/* What is known of a launch before it is replayed. */
struct ww_frame_launch {
    uint32_t index;
    const char *kernel;
    uint32_t block[3], shared_bytes;
    uint64_t ctas, warp_instructions, thread_instructions, memory_instructions;
    uint64_t resident; /* CTAs that all SMs hold at once */
    bool whole;        /* must not be cut into parts */
};

/* Waves of CTAs: of a start (at least a window's), of warm-up behind the first fill, of a window at most and at
 * least; how many windows there should be before they get longer; from which on a launch is cut into parts. */
struct ww_frame_shape {
    uint32_t start, warm_up, window, window_least, windows, least;
};
extern const struct ww_frame_shape ww_frame_shape;

enum ww_code ww_frame_make(const struct ww_frame_launch *launch, size_t count,
                           const struct ww_frame_shape *most, struct ww_arena *arena, struct ww_frame *out,
                           struct ww_error *error);

enum ww_metric_of { WW_MEASURE_CYCLES, WW_MEASURE_SECONDS, WW_MEASURE_JOULES, WW_MEASURES };

/* What a unit took. */
struct ww_measure {
    double instructions, y[WW_MEASURES]; /* of the measured stretch */
    double work;                         /* instructions of the unit's CTAs; 0: not known */
    double replayed, warmed;             /* warp instructions: in detail, and to warm caches */
    double cost;                         /* of fast replay: what it takes of full replay's time */
    uint64_t ctas;                       /* replayed */
    bool there;
};

/* How a unit is measured: as drawn; with a longer way before it, and of windows with CTAs that begin in step,
 * to see what is left of how it began; or by fast replay. */
enum ww_measure_way { WW_WAY_DRAWN, WW_WAY_LONGER, WW_WAY_FAST, WW_WAYS };
typedef enum ww_code (*ww_measure_fn)(void *context, const struct ww_frame *frame, size_t unit,
                                      enum ww_measure_way way, struct ww_measure *out, struct ww_error *error);

/* Told before units are measured: those up to wanted[h] of each stratum h will be (NULL: no more), and then so
 * many a second time. It may be told anew, then with more. */
typedef void (*ww_sample_plan_fn)(void *context, const size_t *wanted, size_t pairs);

struct ww_sample_options {
    uint64_t seed;
    double target, confidence;
    double least; /* warp instructions; a program of fewer is replayed in full */
    bool energy;  /* joules count */
    bool variate; /* units can be measured by fast replay, too, and are where that pays (sample_variate.h) */
    ww_measure_fn measure;
    ww_sample_plan_fn plan; /* NULL: not called */
    void *context;
};

enum ww_sample_reason {
    WW_SAMPLE_SMALL,     /* a program of fewer than the least instructions is not sampled */
    WW_SAMPLE_PILOT,     /* the least sample was enough */
    WW_SAMPLE_SECOND,    /* the second stage, whose size the pilot gave, was drawn */
    WW_SAMPLE_STRATA,    /* strata that varied more than the pilot showed were then taken whole */
    WW_SAMPLE_ALL,       /* the sample would cost about as much as everything */
    WW_SAMPLE_BEGINNING, /* what begins in the middle makes the interval wider than the target */
    WW_SAMPLE_REASONS
};
/* In words; NULL if out of range. */
const char *ww_sample_reason_text(enum ww_sample_reason reason);

struct ww_estimate {
    double total[WW_MEASURES];
    double variance[WW_MEASURES][WW_MEASURES]; /* with the covariances */
    double df[WW_MEASURES];
    double lo[WW_MEASURES], hi[WW_MEASURES];
    double bias[WW_MEASURES]; /* of cold starts, relative; corrected in the totals unless there are windows */
    double warm;              /* of the relative variances, what stands for imperfect starts of units */
    size_t units, drawn, pairs;
    size_t launches; /* of which something was replayed */
    uint64_t ctas;
    double replayed, warmed;
    /* Fast replay as control variate: units measured by it, their warp instructions, what one costs of full
     * replay; correlation in the pilot, the less of cycles and joules; and from which one on it pays. fast 0:
     * not tried. */
    size_t fast;
    double fast_replayed, fast_cost, correlation, pays_from;
    bool variate;                     /* it is part of the estimate */
    const struct ww_measure *measure; /* by unit of the frame */
    enum ww_sample_reason reason;
    bool all; /* nothing was estimated: everything is to be replayed */
};

/* Draws and measures until the intervals of cycles and, if they count, joules are within the target, as far as
 * that can be done without spoiling their coverage. Deterministic. Errors: those of measure, WW_NOMEM. */
enum ww_code ww_sample(struct ww_frame *frame, const struct ww_sample_options *options, struct ww_arena *arena,
                       struct ww_estimate *out, struct ww_error *error);

/* A family's ratios of what its drawn units take to their instructions, by measure. */
void ww_sample_ratio_of(const struct ww_frame *frame, const struct ww_measure *measure, size_t family,
                        double ratio[WW_MEASURES]);
/* Relative variance that stands for how units begin, the same for all measures: of warming, above, and of
 * drift. In the middle of a launch as many instructions are issued from one dispatch to another as the CTAs
 * between have. Where windows issue more or fewer on average, beyond chance, the machine is not yet as it would
 * be, and their time for an instruction may be wrong by up to as much, all of that range alike. */
double ww_sample_warm_variance(const struct ww_frame *frame, const struct ww_measure *measure);

/* Estimate and interval of a[i] to the power p times b to the power q of two totals, by the delta method. */
void ww_estimate_product(const struct ww_estimate *e, double confidence, enum ww_metric_of a, double p,
                         enum ww_metric_of b, double q, double *value, double *lo, double *hi);

/* ---- between sample_*.c ---- */

/* Totals, variances and degrees of freedom from the measures of the units drawn so far. fast: measures by fast
 * replay, by unit; NULL: none count. pilot: from the pilot's units alone. by_stratum (may be NULL): variance of
 * one unit's contribution, [stratum][measure]. */
void ww_sample_totals(const struct ww_frame *frame, const struct ww_measure *measure,
                      const struct ww_measure *fast, bool pilot, double (*by_stratum)[WW_MEASURES],
                      struct ww_estimate *out);

#endif
