/* The control variate's figures: when it pays, and its slope. */
#include "sample_variate.h"
#include <gsl/gsl_cdf.h>
#include <math.h>

double ww_variate_pays_from(double cost) {
    return cost < 1 ? 4 * cost / ((1 + cost) * (1 + cost)) : 1;
}

double ww_variate_part(double correlation, double cost) {
    double square = correlation * correlation;
    if (!(square > 0)) return 1;
    double part = sqrt(cost * (1 - square) / square);
    return part < 1 ? part : 1;
}

double ww_variate_gain(double correlation, double cost) {
    double square = correlation * correlation, root = sqrt(1 - square) + sqrt(cost * square);
    return ww_variate_part(correlation, cost) < 1 ? root * root : 1 + cost;
}

double ww_variate_least(double correlation, double df, double confidence) {
    if (!(df > 2) || !(correlation > 0)) return 0;
    if (correlation >= 1) return 1;
    double z = atanh(correlation) - gsl_cdf_ugaussian_Pinv(confidence) / sqrt(df - 2);
    return z > 0 ? tanh(z) : 0;
}

/* Sums over units that were measured in both ways, of deviations from their stratum's mean. */
struct moments {
    double ee[WW_MEASURES], dd[WW_MEASURES], ed[WW_MEASURES];
};

static void add_stratum(const struct ww_frame *f, const struct ww_measure *measure,
                        const struct ww_measure *fast, const struct ww_stratum *s, const double *ratio,
                        const struct ww_variate *v, struct moments *sum) {
    size_t both = ww_variate_both(s);
    double n = (double)both, N = (double)s->count,
           weight = N * N / (n * (n - 1)); /* as the total's variance has it */
    for (int k = 0; k < WW_MEASURES; k++) {
        double e = 0, d = 0;
        for (size_t i = 0; i < both; i++) {
            size_t u = f->order[s->first + i];
            e += ww_residual(&measure[u], k, ratio[k]) / n;
            d += ww_residual(&fast[u], k, v->ratio[k]) / n;
        }
        for (size_t i = 0; i < both; i++) {
            size_t u = f->order[s->first + i];
            double x = ww_residual(&measure[u], k, ratio[k]) - e, z = ww_residual(&fast[u], k, v->ratio[k]) - d;
            sum->ee[k] += weight * x * x;
            sum->dd[k] += weight * z * z;
            sum->ed[k] += weight * x * z;
        }
    }
}

void ww_variate_fit(const struct ww_frame *f, const struct ww_measure *measure, const struct ww_measure *fast,
                    size_t family, const double ratio[WW_MEASURES], struct ww_variate *out) {
    struct moments sum = {{0}, {0}, {0}};
    double y[WW_MEASURES] = {0}, instructions = 0;
    *out = (struct ww_variate){.df = 0};
    for (const struct ww_stratum *s = f->stratum; s < f->stratum + f->strata; s++)
        for (size_t i = 0; s->family == family && i < s->fast; i++) {
            const struct ww_measure *m = &fast[f->order[s->first + i]];
            double factor = (double)s->count / (double)s->fast;
            instructions += factor * m->instructions;
            for (int k = 0; k < WW_MEASURES; k++) y[k] += factor * m->y[k];
        }
    for (int k = 0; k < WW_MEASURES && instructions > 0; k++) out->ratio[k] = y[k] / instructions;
    for (const struct ww_stratum *s = f->stratum; s < f->stratum + f->strata; s++) {
        if (s->family != family || ww_variate_both(s) < 2) continue;
        add_stratum(f, measure, fast, s, ratio, out, &sum);
        out->df += (double)ww_variate_both(s) - 1;
    }
    for (int k = 0; k < WW_MEASURES; k++) {
        if (!(sum.dd[k] > 0)) continue;
        out->slope[k] = sum.ed[k] / sum.dd[k];
        if (sum.ee[k] > 0) out->correlation[k] = sum.ed[k] / sqrt(sum.ee[k] * sum.dd[k]);
    }
}
