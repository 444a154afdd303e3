/* sampling_fixture.h: what tests of samples and of their ratios share; after cmocka's headers. */
#ifndef TESTS_SAMPLING_FIXTURE_H
#define TESTS_SAMPLING_FIXTURE_H

#include "../../estimator/base/rng.h"
#include <math.h>

static inline void near(double a, double b, double tolerance) {
    if (!(fabs(a - b) <= tolerance)) fail_msg("%.10g is not %.10g", a, b);
}

/* Of the standard normal distribution. */
static inline double normal(struct ww_rng *r) {
    double u = ww_rng_unit(r), v = ww_rng_unit(r);
    return sqrt(-2 * log(1 - u)) * cos(6.283185307179586 * v);
}

#endif
