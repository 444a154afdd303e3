/* waits.h: loads that wait for another warp's write (WW_INST_WAIT): grid barriers, flags between CTAs.
 *
 *   ready head --its write is still to come--> SYNC --the L2 has performed it--> ready again --issue--> load
 *
 * A launch names the words that are waited for. Of these, steps that write them are counted when the L2
 * performs them. Requests say which line they write, not which words; so what a step writes of a line with such
 * words is noted when it enters the load/store unit, and looked up, by SM and line in this order, when it is
 * performed. */
#ifndef WW_CORE_WAITS_H
#define WW_CORE_WAITS_H

#include "sm.h"

/* How an SM is told that what its warp waits for has been written at that time. */
typedef void (*ww_released_fn)(struct ww_core *core, uint32_t sm, uint32_t warp, uint64_t now_ps);

/* Sets core->waits, if steps of the launch wait for writes. Errors: WW_NOMEM. */
enum ww_code ww_waits_begin(struct ww_core *core, ww_released_fn released, struct ww_arena *arena,
                            struct ww_error *error);
/* Whether the warp's head, which waits for a write, may issue; if not, it is released later. */
bool ww_waits_admit(struct ww_sm *sm, struct ww_warp *w);
/* The load/store unit begins with a store or an atomic. */
void ww_waits_note(struct ww_sm *sm, const struct ww_lsu_entry *e, const struct ww_dinst *d);
/* A write of the SM to the line has been performed at that time. context: the core. */
void ww_waits_performed(void *context, uint16_t sm, uint64_t line, uint64_t now_ps);
/* Releases these warps of the SM: the writes that they waited for have been performed. */
void ww_waits_release(struct ww_sm *sm, uint64_t warps, uint64_t cycle);
/* True if warps wait for writes that are still to come. */
bool ww_waits_any(const struct ww_core *core);
/* Nothing can happen any more: lets them all go on. */
void ww_waits_give_up(struct ww_core *core, uint64_t now_ps);

#endif
