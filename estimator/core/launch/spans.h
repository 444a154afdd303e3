/* spans.h: fast replay goes SM by SM through spans of time.
 *
 * With fast replay (core/memory/fast.h) an SM knows when its answers come as soon as it has asked, and what the
 * others do reaches it through reservations only. So one SM goes through 128 cycles, sending and hearing by
 * itself, then the next one does: its state stays in the host's caches, and there are no events. Calendars take
 * reservations in any order of time; what depends on the order of requests (tags, MSHRs, who is served first)
 * is off by the length of a span at most. */
#ifndef WW_CORE_SPANS_H
#define WW_CORE_SPANS_H

#include "../sm/sm.h"

/* Whether the launch is replayed so: nothing looks at all SMs, or passes between them, beside memory. */
bool ww_spans_fit(const struct ww_core *core);
/* From now on it is: sets core->spans and the tick. Errors: WW_NOMEM. */
enum ww_code ww_spans_begin(struct ww_core *core, struct ww_arena *arena, struct ww_error *error);

#endif
