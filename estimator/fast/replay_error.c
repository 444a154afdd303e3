/* How far fast replay may be from full replay. */
#include "replay_error.h"
#include <math.h>
#include <stdlib.h>

#define NEIGHBOURS 100   /* cases that bounds are formed of, where their confidence needs no more */
#define LITTLE_USE 0.001 /* of DRAM: less is alike */

/* log(full / fast) of the suite's cases, whether the L2 has a prefetcher, and how busy DRAM's buses were. */
static const struct residual {
    bool prefetches;
    double dram_use, cycles, energy;
} residuals[] = {
#define RESIDUAL(application, machine, prefetches, dram_use, cycles, energy)                                   \
    {prefetches, dram_use, cycles, energy},
#include "fast_fit.def"
#undef RESIDUAL
};
enum { RESIDUALS = sizeof residuals / sizeof *residuals };

struct neighbour {
    double distance;
    size_t residual;
};

static int nearest_first(const void *a, const void *b) {
    const struct neighbour *x = a, *y = b;
    if (x->distance != y->distance) return x->distance < y->distance ? -1 : 1;
    return (x->residual > y->residual) - (x->residual < y->residual);
}

static size_t count_of(bool prefetches) {
    size_t count = 0;
    for (size_t i = 0; i < RESIDUALS; i++) count += residuals[i].prefetches == prefetches;
    return count;
}

enum ww_code ww_replay_error_check(bool prefetches, double confidence, struct ww_error *error) {
    const char *what = prefetches ? "fast replay with an L2 prefetcher" : "fast replay";
    return ww_model_conformal_check(what, count_of(prefetches), confidence, error);
}

void ww_replay_error_of(bool prefetches, double dram_use, double confidence, struct ww_model_error *out) {
    struct neighbour near[RESIDUALS];
    double cycles[RESIDUALS], energy[RESIDUALS];
    const double use = log(dram_use + LITTLE_USE),
                 enough = fmax(NEIGHBOURS, 2 * ww_model_conformal_least(confidence));
    size_t count = 0, used = 0;
    for (size_t i = 0; i < RESIDUALS; i++)
        if (residuals[i].prefetches == prefetches)
            near[count++] = (struct neighbour){fabs(log(residuals[i].dram_use + LITTLE_USE) - use), i};
    qsort(near, count, sizeof *near, nearest_first);
    for (; used < count && (double)used < enough; used++) {
        cycles[used] = residuals[near[used].residual].cycles;
        energy[used] = residuals[near[used].residual].energy;
    }
    ww_model_conformal(cycles, used, confidence, &out->cycles_low, &out->cycles_high);
    ww_model_conformal(energy, used, confidence, &out->energy_low, &out->energy_high);
    out->cycles_low = exp(out->cycles_low);
    out->cycles_high = exp(out->cycles_high);
    out->energy_low = exp(out->energy_low);
    out->energy_high = exp(out->energy_high);
}
