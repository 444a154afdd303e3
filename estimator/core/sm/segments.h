/* segments.h: a launch cut into stretches with their counters, at the ends of epochs and where clocks change.
 *
 * Energy is computed from them (run.c), each at its own operating point. Cuts take no part in the simulation:
 * results are the same with and without them. */
#ifndef WW_CORE_SEGMENTS_H
#define WW_CORE_SEGMENTS_H

#include "../../base/arena.h"
#include "../../base/err.h"
#include "../../result/result.h"
#include "../../../traces/trace.h"

struct ww_core;

struct ww_inst_folded { /* what of a static instruction is in of_instructions */
    uint64_t issues, threads;
    enum ww_arith arith;
    uint32_t fma, lanes, passes; /* of a matrix instruction: multiply-adds, lane operations, quarters of passes
                                  * of shared memory */
};

struct ww_segments {
    struct ww_segment *row; /* grown as time goes on; kept for the next launch */
    size_t count, capacity;
    bool on;
    uint64_t cycle, ps; /* of the last cut */
    struct ww_inst_folded *folded;
    uint64_t of_instructions[WW_COUNTER_COUNT]; /* counters that follow from issues of instructions */
    uint64_t before[WW_COUNTER_COUNT];          /* all counters at the last cut */
};

/* Starts a launch at time ps. on: keep segments, else only the launch's end is asked for. Errors: WW_NOMEM. */
enum ww_code ww_segments_begin(struct ww_segments *p, bool on, const struct ww_launch *launch, uint64_t ps,
                               struct ww_arena *arena, struct ww_error *error);
/* Ends a segment before `cycle`, which begins at time ps. Nothing happens if one begins there already. */
void ww_segments_cut(struct ww_core *core, uint64_t cycle, uint64_t ps);
/* Ends the launch: the last segment, and core->counter complete. */
void ww_segments_end(struct ww_core *core, uint64_t cycle, uint64_t ps);
/* Adds what followed from the issues of `count` instructions so far. */
void ww_segments_of(const struct ww_core *core, uint32_t first, uint32_t count, uint64_t *n);
void ww_segments_free(struct ww_segments *p);

#endif
