/* epoch.h: where warp-cycles are counted: by static instruction and state, and by epoch and state.
 *
 * A warp's time is counted when its state is known: at once, or, while it waits for memory, when the load
 * comes back and says which level served it. The span may then lie in several epochs, and is split. */
#ifndef WW_CORE_EPOCH_H
#define WW_CORE_EPOCH_H

#include "../../base/err.h"
#include "../../base/likely.h"
#include "../../result/result.h"

/* Counters of one static instruction. */
struct ww_inst_count {
    uint64_t counter[WW_INST_COUNTER_COUNT];
    uint64_t stall[WW_STATE_COUNT];
};

/* Issues of one static instruction that are not in its row yet: all instructions' lie in few lines of the
 * host's caches. */
struct ww_issue_count {
    uint64_t issues;
    uint64_t idle;   /* lanes that were not active in them */
    uint64_t excess; /* cycles in WW_S_EXCESS_ALU */
};

static inline uint64_t ww_issue_threads(const struct ww_issue_count *n) {
    return n->issues * 32 - n->idle;
}

struct ww_epochs {
    struct ww_epoch *row; /* grown as time goes on */
    size_t count, capacity;
    struct ww_epoch *now;        /* row of the current epoch */
    uint64_t length, first, end; /* of the current epoch: cycles [first, end) */
    struct ww_inst_count *inst;
    struct ww_issue_count *issued; /* by instruction; each issue took a cycle of its warp */
    bool failed;                   /* out of memory */
};

/* Starts a launch; `inst` and `issued` have a row for each static instruction. Errors: WW_NOMEM. */
enum ww_code ww_epochs_begin(struct ww_epochs *e, uint32_t length, struct ww_inst_count *inst,
                             struct ww_issue_count *issued, struct ww_error *error);
/* Adds the issues of the first `count` instructions to their rows. */
void ww_epochs_settle(struct ww_epochs *e, uint32_t count);
void ww_epochs_free(struct ww_epochs *e);
/* Makes the epoch of `cycle` (>= first) the current one. Sets failed if memory ran out. */
void ww_epochs_advance(struct ww_epochs *e, uint64_t cycle);
/* Counts a span that began before the current epoch. */
void ww_epochs_count_long(struct ww_epochs *e, uint32_t state, uint64_t from, uint64_t to);

/* Counts cycles [from, to) of one warp at an instruction; to <= end. */
static inline void ww_epochs_count(struct ww_epochs *e, struct ww_inst_count *inst, uint32_t state,
                                   uint64_t from, uint64_t to) {
    inst->stall[state] += to - from;
    if (WW_LIKELY(from >= e->first && to <= e->end))
        e->now->warp_cycles[state] += to - from;
    else
        ww_epochs_count_long(e, state, from, to);
}

#endif
