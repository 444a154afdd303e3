/* What GSL needs for one linear least-squares fit, allocated and freed together. */
#ifndef WW_BASE_LSQ_H
#define WW_BASE_LSQ_H

#include <gsl/gsl_multifit.h>
#include <stdbool.h>

struct ww_lsq {
    gsl_matrix *x, *cov; /* rows x columns; columns x columns */
    gsl_vector *y, *c;   /* rows; columns: what is fitted */
    gsl_multifit_linear_workspace *work;
};

/* Room for `rows` points of `columns` unknowns (both at least 1), values undefined. False: out of memory; *l is
 * to be freed all the same. */
bool ww_lsq_new(struct ww_lsq *l, size_t rows, size_t columns);
/* Frees what *l holds, which may be all zero, and leaves it so. */
void ww_lsq_free(struct ww_lsq *l);

#endif
