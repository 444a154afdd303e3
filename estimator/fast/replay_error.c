/* How far fast replay may be from full replay. */
#include "replay_error.h"
#include <math.h>
#include <string.h>

/* log(full / fast) */
static const double cycles_residual[] = {
#define RESIDUAL(application, gpu, cycles, energy) cycles,
#include "fast_fit.def"
#undef RESIDUAL
};
static const double energy_residual[] = {
#define RESIDUAL(application, gpu, cycles, energy) energy,
#include "fast_fit.def"
#undef RESIDUAL
};
enum { RESIDUALS = sizeof cycles_residual / sizeof *cycles_residual };

static void bounds(const double *residual, double confidence, double *low, double *high) {
    double sorted[RESIDUALS];
    memcpy(sorted, residual, sizeof sorted);
    ww_model_conformal(sorted, RESIDUALS, confidence, low, high);
    *low = exp(*low);
    *high = exp(*high);
}

void ww_replay_error_of(double confidence, struct ww_model_error *out) {
    bounds(cycles_residual, confidence, &out->cycles_low, &out->cycles_high);
    bounds(energy_residual, confidence, &out->energy_low, &out->energy_high);
}
