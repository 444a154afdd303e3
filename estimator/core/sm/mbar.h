/* mbar.h: mbarriers in shared memory (traces/mbarrier.h): events of a CTA's phases, and warps that wait for
 * them.
 *
 *     arrival --------------------------.
 *     copies of a warp --> their count --+--> events of a phase --enough--> waiting warps go on
 *
 * An event of copies comes when as many asynchronous copies of the warp are done as were issued before it. */
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

struct ww_mbar_phase {
    uint64_t waiting; /* warps of the SM */
    uint64_t at;      /* cycle of its latest event */
    uint16_t phase, events, need;
    bool used;
};
struct ww_mbar_bar {
    uint32_t key; /* offset + 1; 0: free */
    struct ww_mbar_phase phase[WW_MBAR_PHASES];
};
struct ww_mbar_warp {
    uint32_t done, head, count; /* copies; events in the queue */
    struct {
        uint32_t after; /* copies that must be done */
        uint64_t word;
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
/* The step at an mbarrier issues. True: the warp goes on. */
bool ww_mbar_issue(struct ww_sm *sm, struct ww_warp *w, const struct ww_access *access, uint64_t cycle);
/* Bytes of a bulk copy of the CTA, whose step at the mbarrier has that word, are complete at cycle `at`. */
void ww_mbar_bytes(struct ww_sm *sm, uint32_t cta, uint64_t word, uint64_t cycle, uint64_t at);
/* An asynchronous copy of the warp is done; async_count is without it. */
void ww_mbar_copied(struct ww_sm *sm, const struct ww_warp *w, uint64_t cycle);

#endif
