/* issue_plain.h: a fast path for instructions that need only an issue slot, ports of their own scheduler and
 * registers, as most instructions do. It is issue.c's path without the cases that such an instruction does not
 * have, in SMs where no part of the model observes every issue; the resulting state is the same.
 *
 * A warp that issues greedily keeps the others of its scheduler from issuing, and its use of units and
 * registers is not visible outside the scheduler. So its next instructions issue in one call, before the SM
 * steps their cycles, as long as each can issue in its first cycle, or nothing else of the scheduler can
 * meanwhile. A run ends in front of an instruction that others see, and behind one after which it is not known
 * yet when the next one's operands are there. */
#ifndef WW_CORE_ISSUE_PLAIN_H
#define WW_CORE_ISSUE_PLAIN_H

#include "sm.h"

/* How an instruction issues, in an SM that is plain. */
enum ww_lane {
    WW_LANE_NONE,   /* by ww_issue_warp */
    WW_LANE_FREE,   /* it takes no port */
    WW_LANE_PORT,   /* it takes its scheduler's port */
    WW_LANE_IMUL,   /* and with it that of integer multiplications */
    WW_LANE_TWO,    /* it takes two ports */
    WW_LANE_BRANCH, /* a branch, without a port */
    WW_LANE_MEMORY  /* it goes to the load/store unit */
};

/* Gives the instructions of the launch their lanes. */
void ww_issue_lanes(struct ww_core *core);
/* Whether the SM is plain; it has all its parts. */
bool ww_issue_plain_allowed(const struct ww_sm *sm);
/* As ww_issue. */
uint64_t ww_issue_plain(struct ww_sm *sm, uint64_t cycle);

#endif
