/* fit.h: measured power as a sum of parts of a model's power, each with a factor that is not negative.
 *
 * Weighted least squares with the bound x >= 0. With few parts the bounded optimum is found exactly: the least
 * squares of every subset of parts (GSL) are computed, and of those whose factors are all positive the one with
 * the smallest sum of squares is taken.
 */
#ifndef WW_POWER_FIT_H
#define WW_POWER_FIT_H

#include "../estimator/base/err.h"
#include <stddef.h>

#define WW_FIT_PARTS 8

struct ww_fit_point {
    double part[WW_FIT_PARTS]; /* W, of each part by the model */
    double rest;               /* W, of what is not fitted */
    double measured, sigma;    /* W */
};

struct ww_fit {
    double x[WW_FIT_PARTS];
    double error[WW_FIT_PARTS]; /* standard error; NAN for a factor at its bound */
    double left_out; /* mean |error| / measured of points that the fit did not see, one left out at a time */
};

/* Fits `parts` factors to `count` points. Errors: WW_USAGE (more parts than points or than WW_FIT_PARTS),
 * WW_INPUT (no part has power in any point), WW_NOMEM. */
enum ww_code ww_fit_power(const struct ww_fit_point *point, size_t count, size_t parts, struct ww_fit *fit,
                          struct ww_error *error);
/* Power of a point by a fit. */
double ww_fit_predict(const struct ww_fit *fit, size_t parts, const struct ww_fit_point *point);

#endif
