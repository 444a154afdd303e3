/* pipe_history.h: the bank-conflict history cache of section 4.2 and figure 7. It holds, by the address of a
 * shared-memory instruction, how often its last execution conflicted: the sum of its sub-warps' degrees minus
 * their number (footnote 9), so that 0 stands for none, and is what a miss returns. A launch starts with it
 * empty, that is all zero. */
#ifndef WW_MECH_PIPE_HISTORY_H
#define WW_MECH_PIPE_HISTORY_H

#include <stdbool.h>
#include <stdint.h>

#define WW_HISTORY_SETS 256
#define WW_HISTORY_WAYS 2
#define WW_HISTORY_PC_BITS 14 /* instructions that it can tell apart */

struct ww_history_way {
    bool valid;
    uint8_t tag, conflicts;
};

struct ww_pipe_history {
    struct ww_history_way way[WW_HISTORY_SETS][WW_HISTORY_WAYS]; /* the one used last first */
};

/* What the instruction number `pc` did last, 0 if it is not known (*hit false). Counts as a use. */
uint32_t ww_history_predict(struct ww_pipe_history *h, uint32_t pc, bool *hit);
/* It has done this now; what the least recently used entry of the set held is lost. */
void ww_history_update(struct ww_pipe_history *h, uint32_t pc, uint32_t conflicts);

#endif
