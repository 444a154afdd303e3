/* mbar.h: mbarriers in shared memory (traces/mbarrier.h): events of a CTA's phases, and warps that wait for
 * them.
 *
 *     arrival --------------------------.
 *     copies of a warp --> their count --+--> events of a phase --enough--> waiting warps continue
 *                                       |         ^
 *                                       '--network of the GPC--> those of another CTA of the cluster
 *
 * An event of copies comes when as many asynchronous copies, or stores of which mbarriers are told, of the warp
 * are done as were issued before it. An arrival at another CTA's barrier takes the way of the network; data of
 * copies and stores have taken it, and their events are told there at once. Where the CTAs of a cluster are not
 * placed together, waits are for events of their own CTA alone. */
#ifndef WW_CORE_MBAR_H
#define WW_CORE_MBAR_H

#include "../../../traces/mbarrier.h"
#include <stddef.h>

#define WW_MBAR_PHASES 4u /* of a barrier that are told apart at a time */
#define WW_MBAR_QUEUE 16u /* events of a warp that wait for copies */

struct ww_sm;
struct ww_warp;
struct ww_arena;
struct ww_access;
struct ww_launch;
struct ww_inst;
struct ww_dinst;
struct ww_mem_reply;

struct ww_mbar_phase {
    uint64_t waiting; /* warps of the SM */
    uint64_t at;      /* cycle of its latest event */
    uint16_t phase, events, need;
    uint16_t others, need_others; /* of these, by other CTAs of the cluster */
    bool used;
};
struct ww_mbar_bar {
    uint32_t key; /* offset + 1; 0: free */
    struct ww_mbar_phase phase[WW_MBAR_PHASES];
};
struct ww_mbar_warp {
    uint32_t done, sent, stored; /* copies; stores issued, and done */
    uint32_t head, count;        /* of the queue: events that wait */
    struct ww_mbar_event {
        const struct ww_access *access;
        const uint64_t *pool;
        uint32_t mask, after, stores; /* copies and stores that must be done */
    } queue[WW_MBAR_QUEUE];
};
struct ww_mbar {
    struct ww_mbar_bar (*bar)[WW_MBARRIER_MOST]; /* by CTA slot */
    struct ww_mbar_warp *warp;
};

/* Makes the tables, if the launch has mbarriers. False: no memory. */
bool ww_mbar_init(struct ww_sm *sm, struct ww_arena *arena);
/* A CTA comes to the slot. */
void ww_mbar_cta(struct ww_sm *sm, uint32_t cta);
/* Whether the instruction is a store that is reported to mbarriers, or reports matrix instructions to them
 * (UTCBAR); or sleeps until a phase is complete (NANOSLEEP.SYNCS), which takes no time here: the wait before it
 * is for the phase itself. */
void ww_mbar_decode(const struct ww_launch *launch, const struct ww_inst *in, struct ww_dinst *d);
/* The step at an mbarrier issues. True: the warp goes on. */
bool ww_mbar_issue(struct ww_sm *sm, struct ww_warp *w, const struct ww_dinst *d,
                   const struct ww_access *access, uint64_t cycle);
/* Bytes of a bulk copy of the CTA, whose step at the mbarrier has that access, are complete at cycle `at`. */
void ww_mbar_bytes(struct ww_sm *sm, uint32_t cta, const struct ww_access *access, uint64_t cycle, uint64_t at);
/* The same at mbarriers of other CTAs, each of which has got so many bytes. */
void ww_mbar_bytes_far(struct ww_sm *sm, uint32_t cta, const struct ww_access *access, const uint64_t *pool,
                       uint32_t mask, uint32_t bytes, uint64_t at);
/* An asynchronous copy of the warp is done, and async_count without it; or a store. */
void ww_mbar_copied(struct ww_sm *sm, const struct ww_warp *w, const struct ww_dinst *d, uint64_t cycle);
/* An event of another CTA has come. */
void ww_mbar_told(struct ww_sm *sm, const struct ww_mem_reply *reply, uint64_t cycle);

#endif
