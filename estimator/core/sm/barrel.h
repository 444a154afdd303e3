/* barrel.h: the in-order barrel pipeline of an SM, where a mechanism of kind "pipe" gives it one
 * (mech/pipe/pipe.h).
 *
 *   issue -> fetch .. EXE (move together) -> the organisation's stages -> writeback -> the warp may go on
 *                                                 |                          ^
 *                                                 '-> load/store unit -> data of loads
 *
 * An issued instruction is in flight until its last sub-warp, or the last of its data, has been written back.
 * The registers that it writes, and one that represents the pipeline itself, become ready then. Barriers and
 * fences take effect at issue; their warps continue after writeback. In a cycle the fetch stage takes a
 * sub-warp, or is stopped, or finds no warp: the counters pipe_fetch_cycles, pipe_stall_* add up to active
 * cycles. */
#ifndef WW_CORE_BARREL_H
#define WW_CORE_BARREL_H

#include "../../mech/pipe/pipe_history.h"
#include "sm.h"

#define WW_INFLIGHT_MOST 128 /* instructions in flight in an SM */
#define WW_FRONT 64          /* more than stages before the memory stages */

struct ww_inflight {
    const struct ww_access *access;
    const uint64_t *pool;
    uint64_t ready; /* cycle from which its data may be written back; WW_NEVER: not known */
    uint32_t inst, mask;
    uint32_t next;      /* flight of the same warp that was issued after it, WW_NONE */
    uint16_t conflicts; /* sum of degrees less sub-warps */
    uint16_t predicted;
    uint8_t warp, state;     /* state: of those who wait for it */
    uint8_t passed, written; /* sub-warps */
    bool pushes, booked;     /* goes to the load/store unit; has a place in its queue */
    bool leaves;             /* its data come back */
    bool shared, trains;     /* accesses shared memory; was predicted */
};

struct ww_barrel {
    struct ww_pipe_back back;
    struct ww_subwarp front[WW_FRONT]; /* by the number of the move that brought it in */
    struct ww_subwarp part[WW_PIPE_PARTS_MOST];
    struct ww_inflight flight[WW_INFLIGHT_MOST];
    struct ww_pipe_history history;
    uint64_t used[2];               /* bit per flight */
    uint64_t wait[2];               /* flights behind another one of their warp */
    uint64_t held;                  /* warps that wait for a conflict to be written back */
    uint64_t memory_from;           /* cycle from which memory warps may issue again */
    uint64_t counted;               /* cycles before it are counted */
    uint32_t move;                  /* of the front, so many */
    uint32_t inside;                /* sub-warps in front and back */
    uint32_t feed;                  /* sub-warps of the last issued warp that are not fetched */
    uint32_t reserved;              /* places of the load/store queue */
    uint32_t port, port_parts;      /* flight whose data are being written back; sub-warps of it to come */
    uint32_t back_count;            /* flights whose data wait for that */
    uint8_t data[WW_INFLIGHT_MOST]; /* these */
    uint32_t first[64], last[64];   /* by warp: flights in the order of issue */
    uint8_t count[64];
    bool open, fetched; /* the fetch stage takes a warp in this cycle; took a sub-warp */
    enum ww_pipe_cause stalled;
};

/* Gives the SM a pipeline, if the core has a plan for one. False: out of memory. */
bool ww_barrel_init(struct ww_sm *sm, struct ww_arena *arena);
/* Makes instructions wait for those of their warp in the pipeline. False: out of memory. */
bool ww_barrel_decode(struct ww_core *core, struct ww_arena *arena);

/* Moves everything by one cycle, into `cycle`. */
void ww_barrel_step(struct ww_sm *sm, uint64_t cycle);
/* Takes from the ready warps of the scheduler's view those that the pipeline does not let issue in `cycle`.
 * False: none is left. */
bool ww_barrel_filter(struct ww_sm *sm, struct ww_sched *s, uint64_t cycle);
/* The warp's head is issued. True: the caller has nothing else to do for it. */
bool ww_barrel_take(struct ww_sm *sm, struct ww_warp *w, const struct ww_dinst *d, uint64_t cycle);
/* All data of a load of the warp are there at `ready` (>= cycle). */
void ww_barrel_data(struct ww_sm *sm, struct ww_warp *w, uint32_t inst, uint64_t ready, uint32_t state);
/* Counts the cycles before `cycle`, in which the SM has been active and nothing was in the pipeline. */
void ww_barrel_count_idle(struct ww_sm *sm, uint64_t cycle);
/* Counts `cycle`, after schedulers have issued. */
void ww_barrel_count(struct ww_sm *sm, uint64_t cycle);
/* The next cycle in which there is something to do. */
uint64_t ww_barrel_next(const struct ww_sm *sm, uint64_t cycle);

#endif
