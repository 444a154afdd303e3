/* lsu_queue.h: memory instructions between their issue and the SM's load/store unit.
 *
 *   without lsu.sub_queue   schedulers --> one queue of lsu.queue --> load/store unit
 *   with it                 scheduler --> address generation, lsu.sub_cycles each --\
 *                           scheduler --> address generation                       --> load/store unit
 *                           (lsu.sub_queue places each)                           --/
 *
 * With places of its own a scheduler issues as long as one is free; the unit takes instructions in the order in
 * which their addresses are there, and a place is free lsu.sub_stages cycles after the unit has taken its
 * instruction. The ring holds those of all schedulers in the unit's order. */
#ifndef WW_CORE_LSU_QUEUE_H
#define WW_CORE_LSU_QUEUE_H

#include "sm.h"

/* False: there is no memory. */
bool ww_lsu_queue_init(struct ww_sm *sm, struct ww_arena *arena);
/* An instruction of the warp issues in `cycle`; entry.from is filled in. */
void ww_lsu_queue_add(struct ww_sm *sm, uint32_t warp, struct ww_lsu_entry entry, uint64_t cycle);
/* The unit is done with the first one, which it took in cycle `taken`. */
void ww_lsu_pop(struct ww_sm *sm, uint64_t taken);

#endif
