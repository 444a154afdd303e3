/* replay_error.h: how far fast replay (core/memory/fast.h) may be from full replay.
 *
 * Both were run on the workload suite (fast_fit.def, written by `make fast-fit`): log(full / fast) of each
 * case. No constant is fitted to them. Bounds of a confidence are formed of these residuals as those of the
 * analytical model are (model_error.h): they cover a further application that is exchangeable with the suite's
 * with that probability at least. Errors grow with the use of DRAM, so that there are two classes of cases, of
 * which a run's bounds are formed of its own: those whose buses are busy for a tenth of the time or more, and
 * the others (Mondrian conformal prediction: V. Vovk et al., Algorithmic Learning in a Random World, 2005). */
#ifndef WW_FAST_REPLAY_ERROR_H
#define WW_FAST_REPLAY_ERROR_H

#include "model_error.h"

/* Factors on a fast replay's figures: the bounds of full replay's at a confidence. dram_use: the share of the
 * time that DRAM's buses moved data. */
void ww_replay_error_of(double dram_use, double confidence, struct ww_model_error *out);

#endif
