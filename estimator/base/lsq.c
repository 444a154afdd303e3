/* Room for linear least squares (see lsq.h). */
#include "lsq.h"

bool ww_lsq_new(struct ww_lsq *l, size_t rows, size_t columns) {
    l->x = gsl_matrix_alloc(rows, columns);
    l->cov = gsl_matrix_alloc(columns, columns);
    l->y = gsl_vector_alloc(rows);
    l->c = gsl_vector_alloc(columns);
    l->work = gsl_multifit_linear_alloc(rows, columns);
    return l->x && l->cov && l->y && l->c && l->work;
}

void ww_lsq_free(struct ww_lsq *l) {
    gsl_matrix_free(l->x);
    gsl_matrix_free(l->cov);
    gsl_vector_free(l->y);
    gsl_vector_free(l->c);
    if (l->work) gsl_multifit_linear_free(l->work);
    *l = (struct ww_lsq){0};
}
