/* lsu_requests.h: parts of the load/store unit's work on an instruction with requests. Between lsu.c,
 * lsu_pass.c and booked.c. */
#ifndef WW_CORE_LSU_REQUESTS_H
#define WW_CORE_LSU_REQUESTS_H

#include "sm.h"

static inline bool ww_lsu_has_reply(const struct ww_dinst *d) {
    return d->path == WW_L_LOAD || (d->path == WW_L_ATOMIC && d->reply);
}

/* Whether the next request is looked up in the same cycle as the one before. */
static inline bool ww_lsu_same_pass(const struct ww_lsu *l) {
    return l->banked && l->next_request < l->coalescer.count &&
           l->pass[l->next_request] == l->pass[l->next_request - 1];
}

/* The host loads what the look-ups of the load's lines begin with. */
WW_AHEAD ww_lsu_prefetch_requests(const struct ww_sm *sm) {
    const struct ww_coalescer *c = &sm->lsu.coalescer;
    for (uint32_t i = 0; i < c->count; i++) ww_tags_prefetch(&sm->l1.tags, c->request[i].key);
}

/* Starts a global, local or texture instruction: addresses become line requests. */
void ww_lsu_start_requests(struct ww_sm *sm, const struct ww_lsu_entry *e, const struct ww_dinst *d,
                           uint64_t cycle);
/* All requests of the instruction that the unit works on are on their way; it takes the next one. */
void ww_lsu_finish_requests(struct ww_sm *sm, uint64_t cycle);
/* Whether loads with tag banks can pass in one go. */
bool ww_lsu_passes(const struct ww_sm *sm);
/* Works on such a load, from its next request on. */
void ww_lsu_pass(struct ww_sm *sm, uint64_t cycle);
/* The unit, which has an instruction and is free, works in `cycle`. */
void ww_lsu_step(struct ww_sm *sm, uint64_t cycle);
/* Cycles of the L1's data port for the lines of a banked load that hit. */
uint32_t ww_lsu_waves(const struct ww_sm *sm, const struct ww_lsu_entry *e, const struct ww_dinst *d);
/* The instruction's results are there from `ready` on; state: of those who wait for them. */
void ww_lsu_write_results(struct ww_sm *sm, struct ww_warp *w, const struct ww_dinst *d, uint64_t cycle,
                          uint64_t ready, uint32_t state);
/* The unit is done with an instruction that has no reply; memory has acknowledged it at `ready`. */
void ww_lsu_finish_silent(struct ww_sm *sm, struct ww_warp *w, const struct ww_dinst *d, uint64_t cycle,
                          uint64_t ready);

#endif
