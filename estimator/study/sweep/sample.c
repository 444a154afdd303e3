/* Sequences of points in the unit cube. */
#include "../../base/rng.h"
#include "sweep.h"
#include <gsl/gsl_qrng.h>
#include <math.h>
#include <stdlib.h>

struct ww_sweep_sampler {
    enum ww_sweep_strategy strategy;
    size_t dimensions, rows, row;
    struct ww_rng rng;
    gsl_qrng *sobol;
    double shift[WW_SWEEP_PARAMS]; /* Sobol: added modulo 1 */
    uint32_t *order;               /* Latin: [dimension][row], a permutation each */
};

struct ww_sweep_sampler *ww_sweep_sampler_new(enum ww_sweep_strategy strategy, size_t dimensions, size_t points,
                                              uint64_t seed) {
    struct ww_sweep_sampler *s = calloc(1, sizeof *s);
    if (!s) return NULL;
    s->strategy = strategy;
    s->dimensions = dimensions;
    s->rows = s->row = points;
    ww_rng_seed(&s->rng, seed);
    if (strategy == WW_SWEEP_LATIN) s->order = calloc(dimensions * points, sizeof *s->order);
    if (strategy == WW_SWEEP_SOBOL) s->sobol = gsl_qrng_alloc(gsl_qrng_sobol, (unsigned)dimensions);
    if ((strategy == WW_SWEEP_LATIN && !s->order) || (strategy == WW_SWEEP_SOBOL && !s->sobol)) {
        ww_sweep_sampler_free(s);
        return NULL;
    }
    for (size_t d = 0; d < dimensions && seed && s->sobol; d++) s->shift[d] = ww_rng_unit(&s->rng);
    return s;
}

void ww_sweep_sampler_free(struct ww_sweep_sampler *s) {
    if (!s) return;
    if (s->sobol) gsl_qrng_free(s->sobol);
    free(s->order);
    free(s);
}

/* A new hypercube: in each dimension a random permutation of the rows (Fisher and Yates). */
static void shuffle(struct ww_sweep_sampler *s) {
    for (size_t d = 0; d < s->dimensions; d++) {
        uint32_t *order = s->order + d * s->rows;
        for (uint32_t i = 0; i < s->rows; i++) order[i] = i;
        for (uint32_t i = (uint32_t)s->rows; i > 1; i--) {
            uint32_t k = ww_rng_below(&s->rng, i), t = order[i - 1];
            order[i - 1] = order[k];
            order[k] = t;
        }
    }
    s->row = 0;
}

void ww_sweep_sampler_next(struct ww_sweep_sampler *s, double *u) {
    if (s->sobol) {
        gsl_qrng_get(s->sobol, u);
        for (size_t d = 0; d < s->dimensions; d++) u[d] = fmod(u[d] + s->shift[d], 1);
        return;
    }
    if (s->order && s->row == s->rows) shuffle(s);
    for (size_t d = 0; d < s->dimensions; d++) {
        u[d] = ww_rng_unit(&s->rng);
        if (s->order) u[d] = (s->order[d * s->rows + s->row] + u[d]) / (double)s->rows;
    }
    s->row++;
}
