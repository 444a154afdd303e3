/* spans.h: fast replay steps one SM after another through spans of time.
 *
 * With fast replay (core/memory/fast.h) the time of a reply is known when the request is sent, and SMs affect
 * one another only through reservations. So one SM is stepped through 64 cycles, with its requests and
 * replies, then the next one: its state stays in the host's caches, and there are no events. Calendars take
 * reservations in any order of time; what depends on the order of requests (tags, MSHRs, who is served first)
 * is off by the length of a span at most. */
#ifndef WW_CORE_SPANS_H
#define WW_CORE_SPANS_H

#include "../sm/sm.h"

/* Whether the launch can be replayed so: no part of the model reads all SMs, or connects them, except memory.
 */
bool ww_spans_fit(const struct ww_core *core);
/* Starts it: sets core->spans and the tick. Errors: WW_NOMEM. */
enum ww_code ww_spans_begin(struct ww_core *core, struct ww_arena *arena, struct ww_error *error);

#endif
