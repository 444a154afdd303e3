/* timing_fit.h: parameters of a timing model fitted to measured times.
 *
 * Nonlinear least squares of the relative errors estimate / measured - 1 within bounds: Gauss-Newton with
 * differences of the model for derivatives (a linear least-squares problem by GSL in each step, parameters at a
 * bound that the step would leave held fixed), halved steps where a whole one does not help, and at the end a
 * search along each parameter, since cycles are a step function of whole parameters.
 */
#ifndef WW_MEASURED_TIMING_FIT_H
#define WW_MEASURED_TIMING_FIT_H

#include "../../base/err.h"
#include <stdbool.h>
#include <stddef.h>

#define WW_TIMING_PARAMS 8
#define WW_TIMING_HARDLY_APART 10.0 /* condition number of the scaled derivatives that deserves a warning */
#define WW_TIMING_TOLD_APART                                                                                   \
    30.0 /* condition number of the scaled derivatives above which a fit is refused                            \
          */

struct ww_timing_param {
    const char *key;
    double low, high, start;
    bool whole; /* takes whole numbers only */
};

struct ww_timing_problem {
    const struct ww_timing_param *param;
    size_t params;
    const double *measured; /* above 0 */
    size_t points;
    /* The model's estimates at x, `points` of them, in the unit of `measured`. It is called at the same x many
     * times. */
    enum ww_code (*model)(void *context, const double *x, double *estimate, struct ww_error *error);
    void *context;
};

struct ww_timing_fit {
    double x[WW_TIMING_PARAMS];
    double error[WW_TIMING_PARAMS]; /* standard error; NAN for a parameter at its bound */
    double condition;               /* of the derivatives at x, of parameters inside of their bounds; 1: best */
    bool at_bound[WW_TIMING_PARAMS];
    double left_out; /* mean |estimate / measured - 1| of points that the fit did not see, one left out at a
                        time */
};

/* Fits. Errors: WW_USAGE (no parameter or more than WW_TIMING_PARAMS, no more points than parameters), WW_INPUT
 * with the parameters' names (a parameter that no point depends on, parameters whose effects on the points are
 * multiples of each other, before or after the fit), those of the model, WW_NOMEM. */
enum ww_code ww_timing_fit(const struct ww_timing_problem *problem, struct ww_timing_fit *fit,
                           struct ww_error *error);

#endif
