/* tensor.h: matrix instructions: times by shape and type, and the groups of those of a warpgroup.
 *
 * A matrix instruction of a warpgroup (HGMMA) issues into a queue of its scheduler's tensor core and is done
 * later; it reads and writes registers that nobody may touch meanwhile, so that the scoreboard does not know
 * them. Each of its four warps has a quarter, which is timed by itself. Instructions with WW_INST_GROUP_END end
 * a group; those with WW_INST_GROUP_WAIT wait until at most so many groups are under way:
 *
 *   board: matrix_register + k   at most k groups are under way, k below matrix_room
 *          ... + matrix_room     what is issued so far is done */
#ifndef WW_CORE_TENSOR_H
#define WW_CORE_TENSOR_H

#include "pipe.h"

struct ww_sched;
struct ww_sm;
struct ww_warp;

#define WW_TENSOR_LEVELS 8u /* of groups that are told apart; more are waited for as the last */

/* Numbers of scoreboard entries from `first` on, if the launch has groups. */
void ww_tensor_groups(const struct ww_gpu_spec *gpu, const struct ww_launch *launch, uint32_t first,
                      struct ww_code_table *code);
/* The entry that an instruction with WW_INST_GROUP_WAIT waits for. */
uint16_t ww_tensor_level(const struct ww_code_table *code, const struct ww_inst *in);
/* What the instruction takes, if it is one of these; of others nothing changes. */
void ww_tensor_decode(const struct ww_gpu_spec *gpu, const struct ww_launch *launch, const struct ww_inst *in,
                      struct ww_dinst *d);
/* Cycles by which the scheduler's tensor core is late for the instruction of a warpgroup that is issued, since
 * others have used the data port of shared memory or read registers while it worked on those before. What they
 * do after the issue counts for the next instruction. */
uint64_t ww_tensor_contention(const struct ww_sm *sm, struct ww_sched *s, const struct ww_dinst *d,
                              uint64_t cycle);
/* An instruction of a warpgroup, or an end of a group, has been issued; entry: when its sums are written. */
void ww_tensor_issue(struct ww_sm *sm, struct ww_warp *w, const struct ww_dinst *d, uint64_t entry);
/* Cycle at which the warp's asynchronous matrix instructions so far are done; 0: it has had none. */
uint64_t ww_tensor_pending(const struct ww_sm *sm, const struct ww_warp *w);

#endif
