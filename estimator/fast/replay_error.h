/* replay_error.h: how far fast replay (core/memory/fast.h) may be from full replay.
 *
 * Both were run on the workload suite (fast_fit.def, written by `make fast-fit`): log(full / fast) of each
 * case. No constant is fitted to them. Bounds of a confidence are formed of these residuals as those of the
 * analytical model are (model_error.h): they cover a further application that is exchangeable with the suite's
 * with that probability at least. Errors grow with the use of DRAM, and are larger with an L2 prefetcher.
 * So bounds are formed of the cases of the same kind of L2 whose use of DRAM is nearest to the run's (localized
 * conformal prediction: L. Guan, Biometrika 110(1), 2023). */
#ifndef WW_FAST_REPLAY_ERROR_H
#define WW_FAST_REPLAY_ERROR_H

#include "../base/error.h"
#include "model_error.h"
#include <stdbool.h>

/* WW_USAGE: there are too few cases to form bounds of this confidence. prefetches: the L2 has a prefetcher. */
enum ww_code ww_replay_error_check(bool prefetches, double confidence, struct ww_error *error);
/* Factors on a fast replay's figures: the bounds of full replay's at a confidence. dram_use: the share of the
 * time that DRAM's buses moved data. */
void ww_replay_error_of(bool prefetches, double dram_use, double confidence, struct ww_model_error *out);

#endif
