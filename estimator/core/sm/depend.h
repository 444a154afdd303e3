/* depend.h: dependences by the compiler's control fields (core.dependences = control).
 *
 * A warp has six dependence counters. An instruction of variable latency adds one to a counter when it issues
 * and takes it away when its results are written, or when its sources are read; a later instruction does not
 * issue before the counters of its wait mask are 0, or (DEPBAR.LE) one of them is at most a level. Here a
 * counter is a register of the warp's scoreboard: its entry says when the counter is 0, so that a head waits
 * for it as for any register. A level of a counter that DEPBAR.LE waits for has an entry of its own.
 *
 *   board: [0, 6) counters   [6, 6 + levels) levels   then the entry of asynchronous copies
 *
 * Instructions of fixed latency need no counter: the stall count delays the warp's next issue. */
#ifndef WW_CORE_DEPEND_H
#define WW_CORE_DEPEND_H

#include "../../base/arena.h"
#include "pipe.h"

struct ww_sm;
struct ww_warp;

#define WW_COPY_GROUPS                                                                                         \
    8 /* groups of asynchronous copies under way that are told apart; later ones are joined */

/* What a warp has under way. */
struct ww_depend {
    uint64_t until[WW_DEPEND_COUNTERS]; /* scoreboard entry: the latest of the ends that are known */
    uint16_t open[WW_DEPEND_COUNTERS];  /* operations whose end is not known */
    uint64_t *latest;               /* [counter][levels' room], if there are levels: known ends, latest first */
    uint32_t copies, copied;        /* asynchronous copies issued, complete */
    uint64_t copied_at;             /* cycle at which the latter are */
    uint32_t group[WW_COPY_GROUPS]; /* copies before the end of a group that is under way */
    uint8_t group_counter[WW_COPY_GROUPS];
    uint8_t groups;
};

/* Memory for the warps of an SM, if its launch needs it. False: there is none. */
bool ww_depend_init(struct ww_sm *sm, struct ww_arena *arena);
/* A warp starts in slot `id`. */
void ww_depend_begin(struct ww_sm *sm, struct ww_warp *w, uint32_t id);
/* The instruction issues in `cycle`; entry: when its results are there, WW_NEVER if that is not known yet. */
void ww_depend_issue(struct ww_sm *sm, struct ww_warp *w, const struct ww_dinst *d, uint64_t cycle,
                     uint64_t entry);
/* The results of an instruction whose end was not known are there at the entry's cycle; the caller wakes
 * waiting warps. */
void ww_depend_written(struct ww_sm *sm, struct ww_warp *w, const struct ww_dinst *d, uint64_t entry);
/* The load/store unit, which is done with it in `cycle`, took it in cycle `taken`, and with it its sources. */
void ww_depend_read(struct ww_sm *sm, struct ww_warp *w, const struct ww_dinst *d, uint64_t taken,
                    uint64_t cycle);
/* Something of unknown end adds one to the counter; it ends at the entry's cycle. */
void ww_depend_open(struct ww_sm *sm, struct ww_warp *w, uint32_t counter);
void ww_depend_close(struct ww_sm *sm, struct ww_warp *w, uint32_t counter, uint64_t entry);
/* An asynchronous copy is complete at the entry's cycle. */
void ww_depend_copied(struct ww_sm *sm, struct ww_warp *w, uint64_t entry);
/* The head's entry as it is seen in the cycle after an issue that left those counters behind (mask): what it
 * added to them is not seen yet. */
uint64_t ww_depend_unseen(const struct ww_warp *w, const struct ww_dinst *d, uint32_t counters);

#endif
