/* How far fast replay may be from full replay. */
#include "replay_error.h"
#include <math.h>

/* log(full / fast) of the suite's cases, and how busy DRAM's buses were. */
static const struct residual {
    double dram_use, cycles, energy;
} residuals[] = {
#define BUSY(use)
#define RESIDUAL(application, machine, dram_use, cycles, energy) {dram_use, cycles, energy},
#include "fast_fit.def"
#undef RESIDUAL
#undef BUSY
};
enum { RESIDUALS = sizeof residuals / sizeof *residuals };

#define BUSY(use) static const double busy_from = use;
#define RESIDUAL(application, machine, dram_use, cycles, energy)
#include "fast_fit.def"
#undef RESIDUAL
#undef BUSY

static void bounds(double *residual, size_t count, double confidence, double *low, double *high) {
    ww_model_conformal(residual, count, confidence, low, high);
    *low = exp(*low);
    *high = exp(*high);
}

void ww_replay_error_of(double dram_use, double confidence, struct ww_model_error *out) {
    double cycles[RESIDUALS], energy[RESIDUALS];
    size_t count = 0;
    for (size_t i = 0; i < RESIDUALS; i++) {
        if ((residuals[i].dram_use >= busy_from) != (dram_use >= busy_from)) continue;
        cycles[count] = residuals[i].cycles;
        energy[count++] = residuals[i].energy;
    }
    bounds(cycles, count, confidence, &out->cycles_low, &out->cycles_high);
    bounds(energy, count, confidence, &out->energy_low, &out->energy_high);
}
