/* pause.h: which of an SM's CTAs run. */
#ifndef WW_CORE_PAUSE_H
#define WW_CORE_PAUSE_H

#include "sm.h"

/* Lets `limit` CTAs run, at least 1: pauses the youngest or unpauses the oldest, from `cycle` on, which the SM
 * has not stepped. New CTAs are taken up to the limit while none is paused. True: the SM has to step. */
bool ww_sm_set_running(struct ww_sm *sm, uint32_t limit, uint64_t cycle);

#endif
