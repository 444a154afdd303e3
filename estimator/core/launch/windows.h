/* windows.h: the memory system goes through windows of cycles before the SMs do.
 *
 *   SMs:              window 0 | window 1 | window 2 | ...
 *   memory:  window 0 | window 1 | window 2 | window 3 ...
 *                     ^ requests and messages change hands (core/memory/exchange.h)
 *
 * One thread goes through a window of memory's, then through one of the SMs'. Of several threads, one takes
 * memory's next window while the others take SMs alone (alone.h), and takes such SMs when it is done (team.c).
 * Results are those of cycle by cycle. */
#ifndef WW_CORE_WINDOWS_H
#define WW_CORE_WINDOWS_H

#include "../sm/sm.h"

/* Cycles of a window; 0: SMs and memory cannot be apart in this launch. */
uint64_t ww_windows_length(const struct ww_core *core);
/* In a tick, before `cycle`, whose time is ps: goes through windows of cycles from this one on, if it can.
 * Returns the SMs' next cycle. */
uint64_t ww_windows_run(struct ww_core *core, uint64_t cycle, uint64_t ps);

#endif
