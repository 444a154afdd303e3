/* copy.h: finds the instructions by which a kernel's warps copy tiles from global to shared memory.
 *
 * Dataflow is followed through registers along recorded streams, so it needs operands: every recorded trace has
 * them. A copy's store is one to shared memory whose values all come, perhaps through moves and selections,
 * from global loads or constants, at least one from a load; those are the copy's loads. The slice is all that
 * their addresses and predicates come from. */
#ifndef WW_TRACES_COPY_H
#define WW_TRACES_COPY_H

#include "../../estimator/api/trace.h"
#include "../trace.h"

enum ww_copy_role { WW_COPY_NONE, WW_COPY_SLICE, WW_COPY_LOAD, WW_COPY_STORE };

/* Roles of a launch's instructions: an array of inst_count enum ww_copy_role from `arena`. Looks at `ctas`
 * CTAs, spread over the launch. *found: whether there is any copy. Errors: WW_NOMEM, those of the trace. */
enum ww_code ww_copy_find(struct ww_trace *trace, size_t launch, uint32_t ctas, struct ww_arena *arena,
                          const uint8_t **role, bool *found, struct ww_error *error);

#endif
