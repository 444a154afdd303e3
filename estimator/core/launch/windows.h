/* windows.h: the memory system on a thread of its own, one window of cycles ahead of the SMs.
 *
 *   SMs:            window 0 | window 1 | window 2 | ...
 *   memory:  window 0 | window 1 | window 2 | window 3 ...
 *                    ^ the threads meet: requests and messages change hands (core/memory/exchange.h)
 *
 * A thread that has nothing of the memory system to do steps groups of SMs (team.c). Results are those of one
 * thread. */
#ifndef WW_CORE_WINDOWS_H
#define WW_CORE_WINDOWS_H

#include "../sm/sm.h"

/* Cycles of a window; 0: SMs and memory cannot be apart in this launch. */
uint64_t ww_windows_length(const struct ww_core *core);
/* In a tick, before `cycle`, whose time is ps: goes through windows of cycles from this one on, if it can.
 * Returns the SMs' next cycle. */
uint64_t ww_windows_run(struct ww_core *core, uint64_t cycle, uint64_t ps);

#endif
