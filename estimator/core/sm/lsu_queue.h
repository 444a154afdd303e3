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
/* The queue of all schedulers is full; has room again. */
void ww_lsu_close(struct ww_sm *sm);
void ww_lsu_open(struct ww_sm *sm);
/* With places of schedulers: an instruction of the warp issues in `cycle`; entry->from is filled in. */
void ww_lsu_sub_add(struct ww_sm *sm, struct ww_lsu_entry *entry, uint64_t cycle);
/* The unit is done with an instruction of the warp, which it took in cycle `taken`. */
void ww_lsu_sub_leave(struct ww_sm *sm, uint32_t warp, uint64_t taken);

/* The unit is done with the first instruction, which it took in cycle `taken`. */
static inline void ww_lsu_pop(struct ww_sm *sm, uint64_t taken) {
    struct ww_lsu *l = &sm->lsu;
    uint32_t warp = l->ring[l->head].warp;
    if (++l->head == l->capacity) l->head = 0;
    l->count--;
    l->active = false;
    sm->core->inflight--;
    l->busy = l->free;
    if (l->count && l->ring[l->head].from > l->free) l->free = l->ring[l->head].from;
    if (l->sub)
        ww_lsu_sub_leave(sm, warp, taken);
    else if (l->count + 1 == l->capacity)
        ww_lsu_open(sm);
}

#endif
