/* booked.h: the load/store unit of fast replay: all of an instruction's requests at once.
 *
 *   LSU --lines of an instruction--> L1 tags --misses--> ww_memsys_book --times of the replies--> scoreboard
 *
 * Where the memory system is one of reservations (memory/fast.h) and SMs go through spans of time, the time of
 * a reply is known when its request is sent. So nothing is under way: the unit looks up the lines of an
 * instruction one after another, each at the cycle in which full replay would, books what misses, and gives the
 * results the cycle of the last reply. Only the end of a span interrupts it. What full replay counts down is
 * kept as times:
 *
 * - A line has the cycle of its last fill (mshr), the sectors that come with it (pending, and above them the
 *   level that serves them) and the requests that wait for it (pins). From that cycle on the sectors are valid;
 *   this is noted when the line is looked at next (ww_booked_settle).
 * - MSHRs are counted by the window of 16 cycles in which they become free.
 * - The miss queue has the cycles in which its last requests were sent.
 * - The data port is a calendar.
 *
 * Sectors of one line that are asked for at different times all come with the last of them. */
#ifndef WW_CORE_BOOKED_H
#define WW_CORE_BOOKED_H

#include "../memory/fast_calendar.h"
#include "../memory/fast_read.h"
#include "sm.h"

#define WW_BOOKED_WINDOWS 1024u
#define WW_BOOKED_AHEAD (1u << 24)
#define WW_BOOKED_PLACES 32u /* a power of two */
#define WW_BOOKED_SHIFT 4    /* log2 of a window's cycles */
#define WW_BOOKED_LEVEL 8    /* bits of a line's pending sectors below its level */

struct ww_booked {
    struct ww_fast *plain;               /* reads take the short way (memory/fast_read.h); NULL: they do not */
    struct ww_fast_reader reader;        /* for them */
    struct ww_fast_ratio to_l2, from_l2; /* of the SM's cycles, for them */
    uint64_t replied;                    /* L2 cycle of the latest of their replies */
    uint64_t at;        /* cycle in which the unit looks at its next request, or did at the last one */
    uint64_t ready;     /* latest reply to the instruction that it works on */
    uint64_t told;      /* cycle in which the last of them is received */
    uint8_t level;      /* of them */
    bool done;          /* all requests of it have been looked at, up to `at` */
    uint64_t cycles;    /* for which the last one takes the unit */
    uint64_t read_free; /* the data port is free for what the L1 has */
    uint64_t window;    /* MSHRs that leave in windows up to this one have left */
    uint64_t *sent;     /* ring of l1.miss_queue: cycles at whose end requests were sent */
    uint32_t queue, next;
    uint64_t send_from; /* the cycle after the last of them */
    /* Of a load's requests, by number, those up to number `placed`: the line that has it, WW_NO_LINE: none had;
     * and where it goes, if something is not in the L1. */
    uint32_t line[WW_BOOKED_PLACES];
    struct ww_mem_place place[WW_BOOKED_PLACES];
    uint32_t placed, missing;    /* missing: bit for each that goes somewhere */
    uint32_t lines, missed, hit; /* of the instruction, not counted yet: lines, sectors of new ones, hits */
    bool quick;                  /* a line that is not there takes the short way, too */
    uint64_t far;                /* bit per warp that wakes later than the SM's wheel reaches */
    uint64_t far_first;          /* cycle of the first of them; WW_NEVER: there is none */
    uint64_t far_at[64];
    uint16_t leave[WW_BOOKED_WINDOWS]; /* MSHRs, by window */
    struct ww_calendar port;           /* of the L1's data */
};

/* Whether the launch's SMs can work so: nothing looks at what is under way. */
bool ww_booked_fits(const struct ww_core *core);
/* For an SM of such a launch. False: out of memory. */
bool ww_booked_init(struct ww_sm *sm, struct ww_arena *arena);
/* Works on the first instruction of the queue in `cycle`. */
void ww_booked_step(struct ww_sm *sm, const struct ww_lsu_entry *e, const struct ww_dinst *d, uint64_t cycle);
/* Counts the reads since the last call. */
void ww_booked_count(struct ww_booked *b);
/* The warp has ended with its last instruction issued: false, and it is woken, if results are still to come. */
bool ww_booked_gone(struct ww_sm *sm, struct ww_warp *w, uint64_t cycle);

/* The warp wakes at a cycle that the SM's wheel does not reach. */
static inline bool ww_booked_wake(struct ww_booked *b, uint32_t warp, uint64_t cycle) {
    b->far |= 1ull << warp;
    b->far_at[warp] = cycle;
    if (cycle < b->far_first) b->far_first = cycle;
    return true;
}
/* Puts warps into the wheel that wake before `end`, which it reaches; the SM has nothing else to do before the
 * first of them. */
void ww_booked_wake_before(struct ww_sm *sm, uint64_t end);

/* A fill that is due by `cycle` has taken place. Lines have the low half of its cycle; one that would be so far
 * in the future is in the past. */
static inline void ww_booked_settle(struct ww_tag_line *line, uint64_t cycle) {
    if (!line->pins || line->mshr - (uint32_t)cycle - 1 < WW_BOOKED_AHEAD) return;
    line->valid |= line->pending & ((1u << WW_BOOKED_LEVEL) - 1);
    line->pending = line->pins = 0;
}
/* The same for the lines of the key's set that a victim is chosen of. */
void ww_booked_settle_set(struct ww_tags *t, uint64_t key, uint64_t cycle);

#endif
