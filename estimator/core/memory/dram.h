/* dram.h: DRAM channels: queues, FR-FCFS scheduling, bank and bus timing, refresh.
 *
 *   L2 slices --push--> read queue  \
 *                                    > scheduler -> row commands (precharge + activate), column commands
 *   L2 slices --push--> write queue /
 *
 * - A request is for some sectors of one L2 line: so many bursts of one row of one bank.
 * - First-ready, first-come: column commands to open rows first, the oldest among those ready soonest; a
 *   bank without a hit precharges and activates for its oldest request, during the data transfers of others.
 *   A request older than WW_DRAM_AGE_CAP cycles stops hits of its bank from passing it.
 * - Writes wait until three quarters of their queue are taken or no read waits, and drain to a quarter.
 * - Commands obey tRCD tRP tCL tRAS tRRD tFAW tCCD tCCD_L tWTR tWR tRTP, the data bus and its turnaround.
 * - All banks are refreshed together every tREFI, or (dram.refresh = bank) one after another, each every
 *   tREFI, while the others continue. An idle channel catches up on refreshes when it is next used, so that
 *   idle memory costs no event.
 * - The queues are measured in bursts. A request enters as a whole as soon as there is room for its first.
 * - Column commands are decided up to WW_DRAM_AHEAD cycles ahead, as by a controller's command buffer.
 *
 * Times are cycles of the DRAM command clock unless they end in _ps. The sources of the rules are the JEDEC
 * standards JESD212 (GDDR5) and JESD235 (HBM); FR-FCFS is after Rixner et al., ISCA 2000.
 */
#ifndef WW_CORE_DRAM_H
#define WW_CORE_DRAM_H

#include "../../base/arena.h"
#include "../../config/gpu.h"
#include "../../result/result.h"
#include "addrmap.h"
#include "../time/event.h"

#define WW_DRAM_AGE_CAP 1000 /* cycles; bounds the wait behind row hits */
#define WW_DRAM_AHEAD 16     /* cycles */

enum ww_dram_direction { WW_DRAM_READ, WW_DRAM_WRITE };

struct ww_dram_request {
    struct ww_dram_place place;
    uint32_t slice;
    uint32_t miss;   /* the slice's own; given back */
    uint16_t bursts; /* 1 or more */
    uint8_t mask;    /* sectors; given back */
    uint8_t direction;
};

/* Callbacks of the L2 for the DRAM. */
struct ww_dram_client {
    void *context;
    /* The last burst of a read is at the slice at time ps (not before now). */
    void (*done)(void *context, const struct ww_dram_request *request, uint64_t ps);
    /* The last burst of a write has been issued; there is no further callback for it. */
    void (*written)(void *context, const struct ww_dram_request *request);
    /* A queue of the channel, found full before, may have room from time ps on. */
    void (*room)(void *context, uint32_t channel, uint64_t ps);
};

struct ww_dram;
/* Takes its memory from the arena; NULL: out of memory. counter: see memsys.h. */
struct ww_dram *ww_dram_new(const struct ww_gpu_spec *gpu, struct ww_queue *queue,
                            const struct ww_dram_client *client, uint64_t *counter, struct ww_arena *arena);
/* What the queues of a channel hold, in bursts; the DRAM's to write. */
struct ww_dram_room {
    uint32_t bursts[2], depth;
    bool wanted;                  /* the client found one of them full */
    struct ww_dram_request *next; /* place of the next request, which the caller writes */
};
/* That of a channel; the pointer stays valid. */
struct ww_dram_room *ww_dram_room(struct ww_dram *d, uint32_t channel);
/* If there is no room, the client is called when there is. */
static inline bool ww_dram_has_room(struct ww_dram_room *room, enum ww_dram_direction direction) {
    if (room->bursts[direction] < room->depth) return true;
    room->wanted = true;
    return false;
}
/* Requests that wait at the channel. */
uint32_t ww_dram_waiting(const struct ww_dram *d, uint32_t channel, enum ww_dram_direction direction);
/* Queues the request written there from time now on, which may be a little ahead of the queue's; there must be
 * room. Counts its sectors, in units of 32 bytes. */
void ww_dram_push(struct ww_dram *d, uint32_t channel, uint64_t now_ps);
/* Bursts that one L2 sector takes. */
uint32_t ww_dram_bursts_per_sector(const struct ww_gpu_spec *gpu);
/* Brings refreshes and cycle counters up to time ps. */
void ww_dram_settle(struct ww_dram *d, uint64_t now_ps);
/* Adds the cycles that are not settled up to time ps to `counter`; the DRAM stays as it is. */
void ww_dram_count(const struct ww_dram *d, uint64_t now_ps, uint64_t *counter);
struct ww_clock *ww_dram_clock(struct ww_dram *d);

#endif
