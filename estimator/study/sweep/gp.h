/* gp.h: Gaussian-process regression of what a cheap estimate leaves over.
 *
 * A stationary process with a constant mean and Matern's kernel of smoothness 5/2, a length for each input
 * (Rasmussen and Williams 2006, chapters 2, 4, 5). Lengths and nugget are those of the greatest marginal
 * likelihood under a prior that says "as long as the input's range, give or take a factor e"; the variance is
 * integrated under an inverse-gamma prior about the spread that the cheap estimate is known to have, so that
 * three lucky observations do not make an interval narrow. Used as by Kennedy and O'Hagan (2000): full = cheap
 * x exp(process), with the factor of the cheap estimate fixed at 1. */
#ifndef WW_SWEEP_GP_H
#define WW_SWEEP_GP_H

#include <stdbool.h>
#include <stddef.h>

#define WW_GP_INPUTS 48
#define WW_GP_POINTS 240 /* observations that are used, at most */

struct ww_gp {
    size_t n, inputs;
    const bool *category; /* by input: values that differ are one apart; borrowed */
    double *x;            /* [observation][input] */
    double *factor;       /* Cholesky's, row by row, of the correlations */
    double *weight;       /* correlations' inverse times what the mean leaves */
    double *ones;         /* correlations' inverse times ones */
    double length[WW_GP_INPUTS];
    double nugget; /* share of the variance that the inputs do not explain */
    double mean, variance, ones_sum;
};

/* Fits n observations (1 to WW_GP_POINTS): x [observation][input], numbers about 0 to 1; y; noise: variance of
 * each observation's own error, as a share of prior^2. prior > 0: standard deviation of y about 0 before
 * anything is observed. Free with ww_gp_free, also after false: no memory. */
bool ww_gp_fit(struct ww_gp *gp, const double *x, const double *y, const double *noise, size_t n, size_t inputs,
               const bool *category, double prior);
/* Mean and standard deviation at a point. With n == 0 (nothing fitted): 0 and sqrt(variance). */
void ww_gp_at(const struct ww_gp *gp, const double *x, double *mean, double *deviation);
void ww_gp_free(struct ww_gp *gp);

#endif
