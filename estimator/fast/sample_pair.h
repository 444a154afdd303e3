/* sample_pair.h: comparisons of two sampled runs that drew the same units (same trace, same seed).
 *
 * What both take in the same unit rises and falls together, so that the ratio of two designs is known better
 * than either of them (ratio estimator of a stratified sample, Cochran 1977, section 6.11). */
#ifndef WW_FAST_SAMPLE_PAIR_H
#define WW_FAST_SAMPLE_PAIR_H

#include "../base/err.h"
#include "../result.h"

struct ww_sample_ratio {
    double ratio, lo, hi; /* a by b */
    size_t common;        /* units that both measured */
    bool known;           /* false: the samples do not go together */
};

/* Ratio of the cycles, or the energies, of a to those of b. Widened by the difference of what cold starts
 * changed. Errors: WW_NOMEM. */
enum ww_code ww_sample_ratio(const struct ww_sampling *a, const struct ww_sampling *b, bool energy,
                             double confidence, struct ww_sample_ratio *out, struct ww_error *error);

#endif
