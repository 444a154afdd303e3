/* sweep.h: what the files of a sweep share: the space file, its values, the points that a strategy picks.
 *
 * A space is parameters, each with its levels; a point is one level of each. Everything here is plain data
 * that lives in the space's arena. Space files are hostile until they are read: all bounds are checked, and
 * errors name the file and the JSON path.
 */
#ifndef WW_SWEEP_SWEEP_H
#define WW_SWEEP_SWEEP_H

#include "../../base/arena.h"
#include "../../base/err.h"
#include "../../config/param.h"
#include "../../mech/mech.h"

#define WW_SWEEP_PARAMS 40      /* as many dimensions as GSL's Sobol sequence has */
#define WW_SWEEP_LEVELS 10000   /* of a parameter */
#define WW_SWEEP_POINTS 1000000 /* of a sweep */
#define WW_SWEEP_TRACES 256
#define WW_SWEEP_OBJECTIVES 4
#define WW_SWEEP_CLAUSES 64 /* conditions, or constraints */

/* A level: what stands behind "=" of an override. */
struct ww_sweep_level {
    const char *text;
    bool number; /* false: `text` alone counts; booleans are the numbers 1 and 0 */
    double value;
};

enum ww_sweep_target {
    WW_SWEEP_PROGRAM, /* a parameter of the program that is built (program.h) */
    WW_SWEEP_GPU,     /* a parameter of the GPU, V/F points among them */
    WW_SWEEP_KIND,    /* which mechanism of a kind */
    WW_SWEEP_SETTING  /* a parameter of the mechanism of a kind */
};

struct ww_sweep_param {
    const char *key; /* dotted path */
    enum ww_sweep_target target;
    enum ww_mech_kind kind;     /* unless it is the GPU's */
    bool whole;                 /* takes whole numbers: levels of a range are rounded */
    const struct ww_param *row; /* of the GPU or the setting; NULL: a kind */
    struct ww_sweep_level *level;
    size_t count;
    uint8_t pass;  /* of the program's: enum ww_program_pass */
    bool follows;  /* it moves together with another parameter, level by level */
    size_t leader; /* 1 + that parameter's place */
};

struct ww_program;
struct ww_sweep_trace {
    const char *name;             /* of the workload, or the trace's file without folders and .wwt */
    const char *path;             /* of the trace; of a recorded workload once it is recorded */
    const char *workload;         /* NULL: a trace file */
    const char *const *parameter; /* of the workload, "key=value" */
    size_t parameters;
    double weight;
};

struct ww_sweep_objective {
    const char *name, *sql;
    bool most; /* the greatest value is the best */
};

struct ww_sweep_space {
    struct ww_arena arena;
    const char *file, *gpu, *power; /* power: NULL: by the GPU */
    const char *mode;               /* of the replays; NULL: full */
    const char *json;               /* the file's content without its layout */
    const char **mech;              /* "kind=name" or "kind.parameter=value", for every point */
    size_t mech_count;
    struct ww_program *program; /* what is built and recorded for each point; NULL: traces are there */
    struct ww_sweep_trace *trace;
    size_t trace_count;
    struct ww_sweep_param *param;
    size_t param_count;
    const char **condition;
    size_t condition_count;
    const char **constraint; /* SQL over v_sweep_point */
    size_t constraint_count;
    struct ww_sweep_objective *objective;
    size_t objective_count; /* 0: time, and energy where it is known */
    /* Read once by ww_sweep_power_open, for the areas of all points that take this table; NULL: not read. */
    struct ww_power *table;
    const char *table_name;
};

/* ---- space.c ---- */

/* Reads n bytes of a space file. `where` is its name. Free with ww_sweep_space_free, also after an error.
 * Errors: WW_INPUT with file and JSON path, WW_NOMEM. */
enum ww_code ww_sweep_space_parse(const char *text, size_t n, const char *where, struct ww_sweep_space *space,
                                  struct ww_error *error);
enum ww_code ww_sweep_space_load(const char *path, struct ww_sweep_space *space, struct ww_error *error);
void ww_sweep_space_free(struct ww_sweep_space *space);

/* ---- range.c ---- */

/* How a range goes on from its first level. */
enum ww_sweep_progress { WW_SWEEP_STEPS, WW_SWEEP_STEP, WW_SWEEP_FACTOR };
struct ww_sweep_range {
    double from, to;
    enum ww_sweep_progress kind;
    double by; /* number of levels, difference or ratio of neighbours */
};
/* The levels of a range, from `from` up to at most `to`; each once, rounded if `whole`. Errors: WW_INPUT
 * (bounds in the wrong order, more than WW_SWEEP_LEVELS), WW_NOMEM. */
enum ww_code ww_sweep_range_levels(const struct ww_sweep_range *range, bool whole, struct ww_arena *arena,
                                   struct ww_sweep_level **level, size_t *count, const char *where,
                                   struct ww_error *error);
/* A number as a level. */
enum ww_code ww_sweep_number(double v, struct ww_arena *arena, struct ww_sweep_level *level,
                             struct ww_error *error);

/* ---- condition.c ---- */

/* The value of a name in a condition, or NULL if there is no such name. */
typedef const struct ww_sweep_level *(*ww_sweep_lookup)(const void *context, const char *name);
/* Evaluates a condition such as "l1.size_kb <= 2 * l2.size_kb and not sched == 'lrr'": numbers, 'texts', names
 * of parameters, true, false, + - * / %, == != < <= > >=, not, and, or, parentheses. Errors: WW_INPUT with the
 * column (syntax, unknown name, a text where a number must be). */
enum ww_code ww_sweep_condition(const char *text, ww_sweep_lookup lookup, const void *context,
                                const char *where, bool *holds, struct ww_error *error);

/* ---- plan.c ---- */

enum ww_sweep_strategy {
    WW_SWEEP_GRID,
    WW_SWEEP_RANDOM,
    WW_SWEEP_LATIN,
    WW_SWEEP_SOBOL,
    WW_SWEEP_ADAPTIVE,
    WW_SWEEP_BEST,
    WW_SWEEP_STRATEGIES
};
extern const char *const ww_sweep_strategy_name[WW_SWEEP_STRATEGIES];

/* Which points are computed, in their order: level numbers, [point][parameter]. In the space's arena. */
struct ww_sweep_plan {
    uint16_t *level;
    size_t count;
};
/* Picks the points that hold all conditions, each once; a setting that the point's mechanism does not have is
 * not varied. `points` and `seed` are not looked at for the grid. A space that has fewer points than asked for
 * may give fewer. The candidates of an adaptive sweep are the grid, or `points` of Sobol's sequence.
 * Errors: WW_INPUT (no point holds the conditions; a grid of more than WW_SWEEP_POINTS; a
 * condition that cannot be evaluated), WW_NOMEM. */
enum ww_code ww_sweep_pick(struct ww_sweep_space *space, enum ww_sweep_strategy strategy, size_t points,
                           uint64_t seed, struct ww_sweep_plan *plan, struct ww_error *error);
/* The mechanism of a kind at a point, if the space says it; else NULL. */
const char *ww_sweep_mechanism(const struct ww_sweep_space *space, const uint16_t *level,
                               enum ww_mech_kind kind);
/* Whether parameter i means anything at the point: not a setting of another mechanism than the chosen one. */
bool ww_sweep_active(const struct ww_sweep_space *space, const uint16_t *level, size_t i);

/* ---- sample.c ---- */

struct ww_sweep_sampler;
/* Sequences of points in the unit cube: uniform, Latin hypercubes of `points` rows, Sobol (rotated by the seed
 * unless that is 0). NULL: no memory. */
struct ww_sweep_sampler *ww_sweep_sampler_new(enum ww_sweep_strategy strategy, size_t dimensions, size_t points,
                                              uint64_t seed);
void ww_sweep_sampler_next(struct ww_sweep_sampler *sampler, double *u);
void ww_sweep_sampler_free(struct ww_sweep_sampler *sampler);

/* ---- effects.c ---- */

/* How an objective depends on a parameter, or on a pair. */
struct ww_sweep_effect {
    size_t a, b;   /* parameters; b == a: a main effect */
    bool slope;    /* both have numbers or two levels: the two figures below are meant */
    double effect; /* change from the least to the greatest level, others at their middle */
    double error;  /* standard error of that */
    double share;  /* of the objective's variance: what the fit loses without the term */
};
/* Least squares of the objective over main effects and pairwise products. value[i] belongs to plan row row[i].
 * If there are too few points for the pairs, or points that do not tell the columns apart, only main effects
 * are fitted; if for these too, *count is 0. A fit has two points more than coefficients, at least. `effect`
 * has room for params * (params + 1) / 2. Errors: WW_NOMEM. */
enum ww_code ww_sweep_effects(const struct ww_sweep_space *space, const struct ww_sweep_plan *plan,
                              const size_t *row, const double *value, size_t values,
                              struct ww_sweep_effect *effect, size_t *count, struct ww_error *error);

#endif
