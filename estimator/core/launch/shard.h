/* shard.h: the SMs of a launch stepped by several threads, with the results of one.
 *
 *   a cycle:  miss queues are offered, CTAs placed | groups of SMs step, each on one thread | counts are added
 * up | the first thread lets memory's events pass up to the next | edge, then steps groups, too
 *
 * In a cycle SMs do not see one another (engine_tick.c), so any thread may step any of them. What a step
 * changes that is not the SM's (counters, epochs, pools) is kept once for each group of SMs, in a copy of
 * struct ww_core that these SMs take for the launch's: sums do not depend on the order of additions. Memory's
 * events between two edges of the SMs neither read nor change an SM: their messages to it wait for the next
 * edge.
 *
 * The other way to use threads is in windows.h. */
#ifndef WW_CORE_SHARD_H
#define WW_CORE_SHARD_H

#include "../../result/result.h"
#include "../sm/sm.h"

#define WW_THREADS_MAX 16
#define WW_THREADS_SMS 8 /* of a GPU, from which on several threads are used */

/* A group of SMs, and what they count. */
struct ww_shard {
    _Alignas(2 * WW_HOST_LINE) struct ww_core core; /* the launch's, but for what is counted */
    struct ww_error error;
    uint64_t seen_inflight, seen_issued; /* of these, what a tally has */
    uint64_t counter[WW_COUNTER_COUNT];
};

struct ww_team;

/* Starts threads - 1 threads for an engine of so many SMs. Errors: WW_NOMEM, WW_FAIL (no thread could be
 * started). */
enum ww_code ww_team_new(uint32_t threads, uint32_t sms, struct ww_team **team, struct ww_error *error);
/* Ends them. NULL is allowed. */
void ww_team_free(struct ww_team *team);
/* One of the threads, if there is one at rest, calls job(context); there is no other job. */
void ww_team_start(struct ww_team *team, void (*job)(void *context), void *context);
/* SMs of all groups go alone through a window that begins with `cycle` (alone.h), on all threads that are at
 * rest. */
void ww_team_alone(struct ww_core *core, uint64_t cycle);
/* Waits until that is done, or does it. */
void ww_team_finish(struct ww_team *team);
/* Steps the SMs that have something to do in `cycle`. Memory's events up to the next edge may have passed then.
 */
void ww_team_step(struct ww_core *core, uint64_t cycle);

/* How many SMs, as a power of two, make a group: 64, or so few that each of `threads` threads has several. */
uint32_t ww_shard_shift(uint32_t sms, uint32_t threads);
/* Makes a shard of each group of the core, whose SMs have not been made yet; *kept, which is made at the first
 * launch, holds them and what they allocate from launch to launch. Errors: WW_NOMEM. */
enum ww_code ww_shards_begin(struct ww_core *core, struct ww_team *team, struct ww_arena *arena,
                             struct ww_shard **kept, struct ww_error *error);
/* Steps the SMs of one shard in `cycle`. */
void ww_shard_step(struct ww_shard *shard, uint32_t group, uint64_t cycle);
/* Its SMs go alone through a window that begins with `cycle` (alone.h). */
void ww_shard_alone(struct ww_shard *shard, uint32_t group, uint64_t cycle);
/* Adds the shards' counters to n. */
void ww_shards_count(const struct ww_core *core, uint64_t *n);
/* The launch has ended: what else its result is made of is added up in the core. */
void ww_shards_end(struct ww_core *core);
void ww_shards_free(struct ww_shard *kept, uint32_t count);

#endif
