/* model_error.h: how far the analytical model may be off, and whether a point is of the kind that it was tried
 * on.
 *
 * The model was compared with full replays of the workload suite (model_fit.def, written by `warpwatt
 * calibrate analytic`): each application's residuals, log(full / model), come from constants that were fitted
 * without it. An interval of confidence c for a new application is formed from these residuals as split
 * conformal prediction does: of n residuals sorted, the ones of rank floor((n + 1) (1 - c) / 2) and ceil((n +
 * 1) (1 + c) / 2), so that it covers a further exchangeable application with probability c at least; with too
 * few of them for c, the farthest one on that side. No shape of a distribution is assumed. What is not
 * exchangeable with the suite has no such guarantee, which is why features outside of the suite's are named.
 */
#ifndef WW_FAST_MODEL_ERROR_H
#define WW_FAST_MODEL_ERROR_H

#include "../base/error.h"
#include "model.h"

/* Features that describe the suite that was fitted. */
enum ww_model_feature {
#define X(id, name, help) WW_MODEL_F_##id,
#include "model_feature.def"
#undef X
    WW_MODEL_FEATURES
};
const char *ww_model_feature_name(enum ww_model_feature feature);

/* Features of a launch on a GPU. */
void ww_model_features(const struct ww_kernel_profile *profile, const struct ww_gpu_spec *gpu,
                       const struct ww_model_result *result, double feature[WW_MODEL_FEATURES]);

/* Range of features over launches. All zero: empty. */
struct ww_model_span {
    size_t count;
    double least[WW_MODEL_FEATURES], most[WW_MODEL_FEATURES];
};
void ww_model_span_add(struct ww_model_span *span, const struct ww_kernel_profile *profile,
                       const struct ww_gpu_spec *gpu, const struct ww_model_result *result);
/* Whether some feature lies outside of the suite's range by more than a tenth of it; `why` gets the first such
 * one in words. */
bool ww_model_span_outside(const struct ww_model_span *span, char *why, size_t size);

/* Factors on an estimate: bounds of the full replay's value at a confidence. */
struct ww_model_error {
    double cycles_low, cycles_high, energy_low, energy_high;
};
void ww_model_error_of(const struct ww_model_span *span, double confidence, struct ww_model_error *out);
/* WW_USAGE: the suite has too few cases for bounds of this confidence. */
enum ww_code ww_model_error_check(double confidence, struct ww_error *error);
/* Values of which the least and the greatest are bounds of a confidence; of fewer there are none. */
double ww_model_conformal_least(double confidence);
/* WW_USAGE, of --confidence: n values are too few. `what` has the interval. */
enum ww_code ww_model_conformal_check(const char *what, size_t n, double confidence, struct ww_error *error);
/* Bounds of rank (n + 1) (1 -+ c) / 2 of n values, which are sorted in place. */
void ww_model_conformal(double *value, size_t n, double confidence, double *low, double *high);

#endif
