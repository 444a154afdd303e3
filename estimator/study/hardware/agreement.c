/* How estimates and measurements agree: errors, correlation, ranks. */
#include "hardware.h"
#include <gsl/gsl_statistics_double.h>
#include <math.h>
#include <stdlib.h>

static bool varies(const double *v, size_t count) {
    for (size_t i = 1; i < count; i++)
        if (v[i] != v[0]) return true;
    return false;
}

enum ww_code ww_agreement_of(const double *measured, const double *estimate, size_t count,
                             struct ww_agreement *out, struct ww_error *error) {
    double absolute = 0, signed_ = 0;
    *out = (struct ww_agreement){count, NAN, NAN, NAN, NAN, NAN};
    if (count == 0) return WW_OK;
    double *work = calloc(2 * count, sizeof *work);
    if (!work) return ww_fail_nomem(error, "errors and ranks");
    for (size_t i = 0; i < count; i++) {
        double e = (estimate[i] - measured[i]) / measured[i];
        absolute += work[i] = fabs(e);
        signed_ += e;
    }
    out->mape = absolute / (double)count;
    out->bias = signed_ / (double)count;
    out->median = gsl_stats_median(work, 1, count);
    if (count > 1 && varies(measured, count) && varies(estimate, count)) {
        out->pearson = gsl_stats_correlation(measured, 1, estimate, 1, count);
        out->spearman = gsl_stats_spearman(measured, 1, estimate, 1, count, work);
    }
    free(work);
    return WW_OK;
}
