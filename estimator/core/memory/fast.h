/* fast.h: the memory system of fast replay: what a request takes of each resource is reserved when it is sent.
 *
 *   SM --request--> port, slice --> tags --hit------------------> slice's port, trunk, SM's port
 *                                    |--miss--> bank, bus --fill--^
 *
 * Full replay moves each request from queue to queue by events. Here one pass over the way of a request finds
 * the time of each step: ports, buses and the rate of activates are calendars, MSHRs and the queues of DRAM are
 * pools of places (fast_calendar.h), a bank remembers the rows that it had open last. The time of the reply is
 * known when the request is sent. Warps, bulk copies and clusters are as in full replay, and so is the L1 with
 * its MSHRs and miss queue, unless SMs book their requests (sm/booked.h).
 *
 * The same as in full replay: addresses, tags, replacement, write-backs, sectors fetched, atomics, translation
 * and walks, the places of requests at a slice (a full one refuses).
 * Simplified:
 * - DRAM is not scheduled by what waits. A row stays usable until the activate of its bank's next row. Requests
 *   that come before that are row hits, as under FR-FCFS. Writes are collected into batches as the controller
 *   does, and a batch has the bus to itself, behind the reads that have reserved it. Writes that come meanwhile
 *   go with it, and reads in the queue wait. If nothing has been read since the last batch, writes take the
 *   bus at once.
 * - A request that waits at a slice delays those behind it, but not those that the host has simulated before.
 * - The queue of replies (xbar.reply_queue) and the protection of lines whose sectors are in flight are not
 *   modelled.
 * - Windows of a calendar are 8 cycles: reservations of one window are in the order in which they were made.
 */
#ifndef WW_CORE_FAST_H
#define WW_CORE_FAST_H

#include "fast_calendar.h"
#include "fast_map.h"
#include "fast_read.h"
#include "l2_part.h"
#include "memsys.h"
#include "tlb.h"

#define WW_FAST_REPLIES 1024u    /* under way to the SMs of a port, at most */
#define WW_FAST_ROWS 4u          /* rows that a bank remembers */
#define WW_FAST_DRAINS 4u        /* batches of writes that a channel remembers */
#define WW_FAST_LENGTHENED 1024u /* DRAM cycles by which a batch is expected to be lengthened, at most */
#define WW_FAST_JOINED 64u /* addresses of reads that a slice has waiting, of which it remembers the last */

struct ww_fast_reply {
    struct ww_mem_reply reply;
    uint64_t line; /* the line of a write that has been performed; then there is no reply */
    uint32_t next;
    uint16_t sm;
    bool performed;
};

struct ww_fast_due { /* of a heap */
    uint64_t ps;
    uint32_t order, reply;
};

struct ww_fast_port { /* of the crossbar, at the SMs */
    struct ww_event deliver;
    struct ww_fast *fast;
    struct ww_calendar *trunk; /* that it is connected to; NULL: none */
    struct ww_calendar receive;
    struct ww_fast_due *due; /* heap: what is under way, by time */
    uint64_t again_ps;       /* when the SM may try again what it was refused */
    uint32_t count, order;
};

struct ww_fast_wait { /* a read that hits, and when the slice serves it */
    uint64_t local, served;
    uint32_t joined;
    uint8_t granules;
};

struct ww_fast_slice {
    struct ww_l2_tags *lines;
    struct ww_fast_channel *channel;
    struct ww_calendar receive, tags, send;
    struct ww_calendar
        *fill; /* NULL: reads are plain, and DRAM cannot give sectors faster than it takes them */
    /* With two partitions, for requests of the own SMs and of the other partition: while one of them waits at
     * the tags, and those behind it, but not those from the other side. */
    struct ww_calendar *held;
    struct ww_places mshrs, requests; /* requests: under way or waiting */
    struct ww_fast_wait *wait;        /* l2.coalesce: by hash of the address; NULL: none */
};

/* A row that a bank has, had or will have open. Times are DRAM cycles from the channel's `base` on. */
struct ww_fast_row {
    int32_t act, pre; /* its activate, and its earliest precharge */
    int32_t until;    /* it is open before; INT32_MAX: no other one is to be opened yet */
    uint32_t number;
};

struct ww_fast_bank {                                            /* a line of the host */
    _Alignas(WW_HOST_LINE) struct ww_fast_row row[WW_FAST_ROWS]; /* the latest activate first */
};

struct ww_fast_times { /* of DRAM, in its cycles */
    int32_t trcd, trp, tras, trfc, trtp, write;
};

struct ww_fast_write { /* that the controller holds */
    struct ww_dram_place place;
    uint32_t bursts;
};

struct ww_fast_drain { /* a batch of writes: DRAM cycles in which no row is opened to be read */
    uint64_t begin, end;
};

struct ww_fast_channel {
    struct ww_calendar bus, activates;
    struct ww_calendar
        *group; /* by bank group; NULL: one column command after another, whatever their groups */
    struct ww_fast_bank *bank;
    int32_t *closed;          /* by bank: from when on it may be activated after its refresh */
    struct ww_places room[2]; /* by direction: bursts, in L2 cycles */
    struct ww_places
        *waiting;         /* for the prefetcher, if there is one: reads that wait, however many bursts each */
    uint64_t base;        /* cycle that times of rows are counted from */
    uint64_t refresh_due; /* UINT64_MAX: never */
    uint64_t open_since;  /* UINT64_MAX: no bank has been opened yet */
    uint32_t refresh_bank;
    struct ww_fast_write *write;                /* that wait, oldest first */
    uint32_t writes, write_bursts;              /* of these */
    struct ww_fast_drain drain[WW_FAST_DRAINS]; /* ring of the last ones */
    uint64_t drained;                           /* the latest end of them */
    uint32_t drains;                            /* so far */
    bool read;                                  /* something was read since the last one */
    /* The last batch as the controller sees it, in DRAM cycles from its decision on. The bus follows when it
     * has passed what was reserved before. */
    uint64_t written;     /* all of it has been issued */
    uint64_t joins_until; /* writes that come before go with it */
    uint64_t reads_from;  /* reads are issued again */
    uint64_t bus_behind;  /* cycles by which the bus follows */
    uint64_t joined;      /* bursts that went with it */
    uint64_t reads_held;  /* L2 cycles that reads in the queue have waited for batches */
};

struct ww_fast_page { /* being translated */
    uint64_t page, ready;
    bool walked;
};

struct ww_fast {
    struct ww_l2 *l2;
    struct ww_tlb *tlb; /* its arrays; NULL: addresses need no translation */
    struct ww_xbar *xbar;
    struct ww_dram *dram;
    struct ww_queue *queue;
    uint64_t *counter, *live;
    bool plain; /* a request has one part, and the L2 nothing of what is rare (fast_read.h) */
    struct ww_fast_ratio to_dram, from_dram; /* of the L2's cycles: of the launch's plain reads */
    uint64_t dram_tail; /* L2 cycles from a read's last column command until its data are at the slice */
    uint64_t recent,
        recent_dram; /* L2 cycle in which the last plain read was served, DRAM cycle of its command */
    uint32_t request_flits, request_way; /* of a read; cycles from the port until all of it is at the slice */
    bool sends;                          /* plain reads reserve the slice's port for their replies */
    uint32_t reply_flits[9], trunk_units[9]; /* of its reply, by 32-byte chunks */
    bool fetched;                            /* SMs fetch their replies: there are no events for them */
    struct ww_mem_answers *answers;          /* of the request that is booked; NULL: replies are under way */
    struct ww_event drained;                 /* all work of DRAM is done */
    uint64_t busy_until;
    struct ww_fast_port *port;
    struct ww_fast_reply *reply; /* of all ports */
    struct ww_free_list free_reply;
    struct ww_fast_slice *slice;
    struct ww_fast_channel *channel;
    struct ww_calendar *trunk, link[2];
    uint32_t trunks, ports;
    struct ww_fast_map map;
    uint32_t activate_units; /* of the calendar: an activate's part of tFAW, or tRRD */
    struct ww_fast_times times;
    struct ww_fast_page *page; /* ring of tlb.misses, the last one at page_at - 1 */
    uint32_t pages, page_at;
    struct ww_places walkers;
    uint64_t translated, l2_tlb_free; /* latest `ready` of them; next look-up of the L2 TLB */
};

/* Takes its memory from the arena. Errors: WW_NOMEM. */
enum ww_code ww_fast_new(const struct ww_gpu_spec *gpu, struct ww_l2 *l2, struct ww_tlb *tlb,
                         struct ww_arena *arena, struct ww_fast **out, struct ww_error *error);
/* As ww_memsys_send, for a request to the place; what it leads to is reserved. */
bool ww_fast_send(struct ww_fast *f, const struct ww_mem_request *request, struct ww_slice_place place,
                  uint8_t granules, uint64_t now_ps);
/* As ww_memsys_book, for a request to the place. */
uint64_t ww_fast_book(struct ww_fast *f, const struct ww_mem_request *request, struct ww_slice_place place,
                      uint8_t granules, uint64_t ps, struct ww_mem_answers *answers);
/* As ww_memsys_quiet: when the next reply comes. */
uint64_t ww_fast_quiet(const struct ww_fast *f, uint16_t sm);

/* The SM's next reply, if it is there at `ps`; false: none is. Only where SMs fetch replies. */
bool ww_fast_fetch(struct ww_fast *f, uint16_t sm, uint64_t ps, struct ww_mem_reply *reply);
/* Lets the queue wait until DRAM has written everything. */
void ww_fast_drain(struct ww_fast *f);

/* ---- between the files of fast replay ---- */

/* For plain reads: the clocks of L2 and DRAM are those of a launch that does not change them. */
void ww_fast_tell_clocks(struct ww_fast *f);

/* The first cycle from `cycle` on in which the SM's port takes a request and the slice has a place for it. */
static inline uint64_t ww_fast_room(struct ww_fast *f, uint16_t sm, uint32_t slice, uint64_t cycle) {
    struct ww_places *requests = &f->slice[slice].requests;
    for (uint64_t free; (free = ww_places_free(requests, 1, ww_xbar_port_free(f->xbar, sm, cycle))) > cycle;)
        cycle = free;
    return cycle;
}

/* A reply leaves the slice at L2 cycle `cycle`; returns when all of it is at the SM. */
uint64_t ww_fast_deliver(struct ww_fast *f, uint32_t slice, uint16_t sm, const struct ww_mem_reply *reply,
                         uint32_t payload, uint64_t cycle);
/* Reports that a write or an atomic of the SM to the line is performed at L2 cycle `cycle`, if a caller has
 * asked for that. */
void ww_fast_performed(struct ww_fast *f, uint16_t sm, uint64_t line, uint64_t cycle);

/* A request of the own SMs, or, `far`, from the other partition, is at the tags at `cycle` and takes `units`;
 * returns when it begins. */
static inline uint64_t ww_fast_tags(struct ww_fast *f, struct ww_fast_slice *own, bool far, uint64_t cycle,
                                    uint32_t units) {
    if (f->l2->side_slices) cycle = ww_calendar_free(&own->held[far], cycle);
    return ww_calendar_take(&own->tags, cycle, units);
}
/* Such a request waits until `until`; those behind it do, too. */
static inline void ww_fast_hold_tags(struct ww_fast *f, struct ww_fast_slice *own, bool far, uint64_t from,
                                     uint64_t until) {
    if (until > from) ww_calendar_hold(f->l2->side_slices ? &own->held[far] : &own->tags, from, until);
}

/* A request is at the slice's tags at L2 cycle `cycle` (l2.latency behind its arrival), from the crossbar or,
 * `far`, from the other partition. Returns when the slice has served it. */
uint64_t ww_fast_serve(struct ww_fast *f, uint32_t slice, const struct ww_l2_packet *p, bool far,
                       uint64_t cycle);
/* What the prefetcher looks at: places taken in the channel's queue of reads, and MSHRs in use at the slice. */
extern const struct ww_l2_prefetch_ops ww_fast_prefetch;
/* A page walk's read; returns the cycle at which the data are there. *from_dram: some of them came from there.
 */
uint64_t ww_fast_walk_read(struct ww_fast *f, uint32_t slice, const struct ww_l2_packet *p, uint64_t cycle,
                           bool *from_dram);

/* When a request that is at its slice at `cycle` has its page translated; *walked: by a walk. */
uint64_t ww_fast_translate(struct ww_fast *f, const struct ww_mem_request *request, uint64_t cycle,
                           bool *walked);

/* Sectors of a line are read from DRAM, asked for at L2 cycle `cycle`; returns the L2 cycle at which the last
 * are at the slice (fast_dram.h has the same for a known place). */
uint64_t ww_fast_dram_read(struct ww_fast *f, uint32_t slice, uint64_t number, uint8_t mask, uint64_t cycle);
/* Sectors of a line are given to the controller to be written, at L2 cycle `cycle`. */
void ww_fast_dram_write(struct ww_fast *f, uint32_t slice, uint64_t number, uint8_t mask, uint64_t cycle);
/* False: out of memory. */
bool ww_fast_dram_init(struct ww_fast *f, const struct ww_gpu_spec *gpu, struct ww_arena *arena);
/* As ww_dram_settle and ww_dram_count. */
void ww_fast_dram_settle(struct ww_fast *f, uint64_t now_ps);
void ww_fast_dram_count(const struct ww_fast *f, uint64_t now_ps, uint64_t *counter);

#endif
