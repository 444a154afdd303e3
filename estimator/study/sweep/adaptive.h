/* adaptive.h: a sweep that replays few points of many (docs/guide/sweep.md).
 *
 * All candidates are screened by the analytical model. Rounds follow: Gaussian processes learn from the points
 * that were replayed by what factor the model is off, each trace and each of time and energy for itself; the
 * objectives of every candidate are evaluated at the corrected estimate and at the corners of its interval; the
 * points whose optimistic corner adds most to the hypervolume of what was measured are replayed. That is the
 * confidence-bound selection of SMS-EGO (Ponweiser et al. 2008), in batches by taking a picked point's estimate
 * for its result (Ginsbourger et al. 2010); points that are dominated within their interval are out, as in
 * Pareto active learning (Zuluaga et al. 2013). The correction is Kennedy and O'Hagan's (2000).
 *
 * A round depends on nothing but the space, the budget, the seed and the results of the rounds before it. So an
 * interrupted sweep picks the same points again, finds them stored, and goes on. */
#ifndef WW_SWEEP_ADAPTIVE_H
#define WW_SWEEP_ADAPTIVE_H

#include "../../api/database.h"
#include "../../../db/sweep_screen.h"
#include "gp.h"
#include "job.h"

#define WW_ADAPTIVE_CANDIDATES 20000
#define WW_ADAPTIVE_BUDGET 0.05 /* share of the exhaustive cost, if none is given */
#define WW_ADAPTIVE_CORNERS 5   /* estimate, then time and energy at either end of their intervals */

enum adaptive_state {
    ADAPTIVE_OUT,     /* there is no such machine */
    ADAPTIVE_MODEL,   /* by the analytical model alone */
    ADAPTIVE_SAMPLED, /* replayed by samples */
    ADAPTIVE_FULL
};

struct adaptive {
    struct sweep_job *job;
    struct ww_db *scratch;
    struct ww_db_sweep head; /* the sweep in the scratch database */
    size_t n, traces, objectives, inputs;
    /* By candidate; of results [candidate][trace]. */
    enum adaptive_state *state;
    uint32_t *round;
    const char **config, **scratch_config, **settings;
    struct ww_db_sweep_result *model, *known, *guess;
    double *error; /* of known, [candidate][trace][2]: relative standard error of time and energy */
    double *input; /* [candidate][inputs]; the last one is left for the model's own value */
    bool category[WW_GP_INPUTS];
    float *shift, *spread;     /* [candidate][trace][2]: mean and deviation of log(result / model) */
    double *cost, *low, *high; /* objectives, less is better: [candidate][objective] */
    bool *likely, *possible;
    bool *has_model; /* by trace */
    double prior[2]; /* deviation of log(result / model) of time and energy before anything is replayed */
    double room[WW_GP_POINTS];
    size_t valid;
    const char *reason; /* of the first candidate that cannot be; NULL: all can */
    double spent;       /* full replays of a point */
    uint32_t rounds;
};

/* gp_inputs.c. The parameters that are varied as inputs of the process: `input` [points][width], from the first
 * column on. Levels of numbers become 0 to 1, by their logarithms where they span a factor of 4; texts their
 * number, and category. */
void ww_gp_inputs(const struct ww_sweep_space *space, const uint16_t *level, size_t points, size_t width,
                  double *input, bool *category);
/* adaptive_screen.c. Resolves and estimates all candidates, stores those that cannot be. */
enum ww_code ww_adaptive_screen(struct adaptive *a, struct ww_error *error);
/* Sets the reason why no candidate was worth a replay. */
void ww_adaptive_say_why(const struct adaptive *a, char *text, size_t size);
/* adaptive_learn.c. Corrects the model by what is known, and judges all candidates anew. */
enum ww_code ww_adaptive_learn(struct adaptive *a, struct ww_error *error);
/* adaptive_pick.c. Picks up to `count` candidates to be replayed; before these, and if need be beyond `count`,
 * up to `fresh` ones that show levels which no picked one has yet. `optimism`: standard deviations. Errors:
 * WW_NOMEM. */
enum ww_code ww_adaptive_pick(const struct adaptive *a, size_t count, size_t fresh, double optimism,
                              size_t *pick, size_t *picked, struct ww_error *error);

#endif
