/* l2.h: the L2 slices.
 *
 *   crossbar --> input FIFO --> tags --hit--------------------------> reply
 *                  (in order)     |--miss--> miss record --> DRAM --> fill --> replies
 *
 * - Sectored, write-back, allocate on read and write. The request at the head of the FIFO is served when all
 *   of it can proceed; parts that can (hits, sectors for which there is an MSHR) go ahead of the rest of
 *   the same request. A head that cannot proceed stalls the slice (l2_stall_cycles) until a fill, a
 *   delivered reply or room at the DRAM lets it; fills go on meanwhile.
 * - l2.latency is spent before the tags, so a miss pays it before DRAM sees it.
 * - What misses is read from DRAM in aligned blocks of l2.fetch_bytes: the block's other sectors come with it
 * if they are not there and MSHRs are free, and count in l2_prefetch.
 * - An MSHR is a sector with an outstanding read; requests for a pending sector join it, l2.mshr_merge of
 *   them. Sectors that one request misses in one line form one DRAM request.
 * - Writes: a sector written in full becomes valid and dirty without a fetch. Of a sector written in part,
 *   the slice keeps the bytes written (as hardware with byte masks does) and fetches nothing until it is
 *   read ("lazy fetch on read"). Requests carry no byte mask, so bytes are counted, and a sector counts
 *   as written in full when the count reaches its size; a read before that fetches the sector.
 *   A dirty sector, also one written in part, is written back as a whole sector when its line is replaced.
 * - Atomics are performed in the slice: they need the sector valid (else they miss like a read), make it
 *   dirty, and hold the slice for l2.atomic_cycles for each update that has to follow another.
 * - With l2.coalesce, a read of the same sectors as one that waits in the FIFO joins it (l2_coalesce.c), as in
 *   Hopper's L2 Request Coalescer in front of the slices.
 * - Reads and fills have ports of their own, each l2.bytes_per_cycle wide.
 *
 * Two partitions (l2.partitions; NVIDIA, A100 Tensor Core GPU Architecture, 2020: each caches data for the SMs
 * directly connected to it, hardware keeps them coherent):
 *
 *   SM --read--> slice of its partition --hit--> reply
 *                   |--miss, home here--> DRAM
 *                   |--miss, home there--> counterpart, l2.far_latency later --hit or DRAM--> copy here, reply
 *
 * - A line's home is the slice of its DRAM channel; a read from the other partition leaves a copy there, in the
 *   slice with the same place in it. Writes and atomics go to the home and make the copy invalid.
 * - Requests of counterparts have an input and fills of their own, and copies take at most half of the MSHRs
 * and never all ways of a set, so that no partition waits for itself.
 * - Strong reads (l2.strong_home) go to the home, over the link between the partitions if that is the other
 * one, and leave no copy.
 * - A sector counts as hit, merged or missed where it was found last; l2_far counts those asked of a home.
 *
 * Requests are of L1 lines: granules of 32 bytes carry masks between the two caches' ideas of sectors.
 */
#ifndef WW_CORE_L2_H
#define WW_CORE_L2_H

#include "../../base/bits.h"
#include "addrmap.h"
#include "dram.h"
#include "free_list.h"
#include "l2_tags.h"
#include "xbar.h"

#define WW_L2_HEADS_AHEAD 4     /* cycles that one event may serve ahead; fills of that time come after it */
#define WW_L2_WALKER UINT16_MAX /* in place of an SM's number: a page walk's read */
#define WW_L2_TIME_BITS 8 /* port times are kept in parts of a cycle, so that odd widths give their rate */
#define WW_L2_WAITERS_MAX 16384u /* of a slice; a head request waits if all are taken */

/* Of a request; packed, since queues of a slice hold thousands. */
struct ww_l2_kinds {
    uint8_t kind : 2, needs_reply : 2, fine : 1, walked : 1;
    uint8_t performed : 1; /* an atomic's addresses have had their time */
};

struct ww_l2_packet { /* a request at a slice */
    uint64_t address, local;
    uint64_t ready; /* L2 cycle at which it may be looked up */
    uint32_t tag, inst;
    uint32_t set; /* of its first line, in an input of a slice */
    uint16_t sm, bytes, atomic_ops;
    uint8_t granules;
    union {
        struct ww_l2_kinds kinds;
        struct {
            uint8_t kind : 2, needs_reply : 2, fine : 1, walked : 1;
        };
    };
};

struct ww_l2_wait_for {  /* a txn waits for sectors of one line */
    uint32_t next;       /* that wait for it, WW_NONE: none */
    uint8_t mask;        /* sectors; 0: it does not */
    uint8_t base, shift; /* line granule = request granule - base + shift */
};

/* A read or atomic that was not served at once. Nearly all wait once, for sectors of one line. */
struct ww_l2_txn {
    uint64_t address;
    uint32_t tag;
    struct ww_l2_wait_for wait; /* next: also in the free list */
    uint16_t sm, bytes, atomic_ops;
    uint8_t left; /* granules not replied yet */
    uint8_t have; /* of these, served */
    uint8_t level;
    union {
        struct ww_l2_kinds kinds;
        struct {
            uint8_t kind : 2, needs_reply : 2, fine : 1, walked : 1;
        };
    };
};

struct ww_l2_waiter { /* a txn that waits for more sectors, while its own wait lasts */
    uint32_t txn;
    struct ww_l2_wait_for wait;
};

struct ww_l2_miss { /* a line with pending sectors */
    uint32_t line;
    uint32_t first, last; /* that wait: txns, or, from the number of txns on, waiters */
    uint32_t next;        /* in the free list */
    uint16_t joined[8];   /* requests per sector */
};

struct ww_l2_fill {
    uint64_t ready; /* L2 cycle */
    uint32_t miss;
    uint8_t mask, level; /* level: enum ww_mem_level */
    bool begun;
};

struct ww_l2_fills { /* ring, in order of time */
    struct ww_l2_fill *fill;
    uint32_t head, count, mask;
};

/* What a head request can wait for, other than a fill. */
enum ww_l2_wait { WW_L2_WAIT_REPLY = 1, WW_L2_WAIT_READ = 2, WW_L2_WAIT_WRITE = 4 };

/* needs_reply of packets and txns: to whom. */
enum { WW_L2_REPLY_SM = 1, WW_L2_REPLY_PEER }; /* peer: tag is its miss record */

/* Bit of slice-local addresses: a copy of a line whose home is the slice's counterpart in the other partition.
 */
#define WW_L2_COPY ((uint64_t)1 << 56)

/* The part of a request that lies in one L2 line. */
struct ww_l2_part {
    uint64_t number;
    uint32_t set, index; /* index WW_NONE: not present */
    uint8_t want;        /* sectors */
    uint8_t base, shift; /* line granule = request granule - base + shift */
};

/* Requests that wait for the slice, and how far the head of them has come. */
struct ww_l2_input {
    struct ww_l2_packet *packet; /* ring */
    uint32_t packet_head, packet_count, packet_mask;
    bool begun, blocked;
    bool found;   /* part is that of the head, as of `installs` */
    uint8_t left; /* granules of the head not looked up yet */
    uint8_t hits; /* sectors of it that hit */
    uint32_t head_txn;
    uint64_t blocked_since;
    uint8_t waits; /* of a blocked head: enum ww_l2_wait; 0: for a fill */
    bool retry;    /* what the blocked head waited for has come */
    /* Of a head that was tried, where requests have but one part: it, and the tags' installs when it was found.
     */
    struct ww_l2_part part;
    uint64_t installs;
};

struct ww_l2_joined { /* a read that gets its reply with another one */
    uint32_t tag, inst, next;
    uint16_t sm;
};

/* Reads that joined one in the FIFO, by its place there. */
struct ww_l2_coalescer {
    struct ww_l2_joined *joined;
    uint32_t *first; /* that joined, by place; WW_NONE: none */
    uint8_t *count;
    uint32_t *place; /* by hash of an address: where a read of it was put last */
    uint32_t free;   /* of `joined` */
};

/* Where requests and fills come from. */
enum { WW_L2_NEAR, WW_L2_FAR, WW_L2_SIDES }; /* crossbar and DRAM; the other partition */

/* Fields that every event uses come first, and side by side: slices are many, and the host's caches small. */
struct ww_l2_slice {
    _Alignas(WW_HOST_LINE) struct ww_event event;
    struct ww_l2 *l2;
    uint64_t free;             /* cycle at which tags and read port are free */
    uint64_t fill_free;        /* cycle at which the fill port is free */
    uint64_t fired;            /* place of its last event in the order of scheduling */
    uint32_t rest;             /* parts of a cycle that the read port has still to be busy */
    uint32_t fill_rest;        /* the fill port */
    struct ww_dram_room *room; /* of the channel */
    uint32_t index, channel;
    uint32_t mshrs_used;
    uint32_t copies;              /* MSHRs whose sectors come from the other partition */
    bool fill_waits[WW_L2_SIDES]; /* a fill waits for room for its replies */
    struct ww_l2_miss *miss;
    struct ww_l2_waiter *waiter;
    struct ww_l2_txn *txn;
    uint32_t txns, waits; /* txns there are; waits that the slice can still hold */
    struct ww_free_list free_miss, free_waiter, free_txn;
    struct ww_l2_fills fills[WW_L2_SIDES];
    struct ww_l2_tags tags;
    struct ww_l2_input in[WW_L2_SIDES];
    struct ww_l2_coalescer coalescer;
};

#define WW_L2_SEQUENCES 8
#define WW_L2_CREDIT_MAX                                                                                       \
    512u /* unused prefetched sectors after which sequences must first advance by misses                       \
          */

struct ww_l2_sequence {  /* bytes that are prefetched one after another; see l2_prefetch.h */
    uint64_t start, end; /* of what may be fetched; equal: none */
    uint64_t next;       /* to be fetched next */
};

struct ww_l2_part;

/* What the prefetcher asks of the memory behind it: full replay's queues, or what fast replay has reserved. */
struct ww_l2_prefetch_ops {
    /* The slice's channel has few reads waiting at L2 cycle `cycle`, and room for one more. */
    bool (*idle)(struct ww_l2_slice *s, uint64_t cycle);
    /* MSHRs of the slice in use. */
    uint32_t (*mshrs_used)(struct ww_l2_slice *s, uint64_t cycle);
    /* Reads sectors of the part, which has a line and wants no write-back. */
    void (*read)(struct ww_l2_slice *s, const struct ww_l2_part *part, uint8_t need, uint64_t cycle);
};

struct ww_l2_prefetch {
    const struct ww_l2_prefetch_ops *ops;
    struct ww_fast *fast; /* of its ops */
    struct ww_l2_sequence sequence[WW_L2_SEQUENCES];
    uint64_t window, ahead; /* bytes; window 0: no prefetch */
    uint32_t queue;         /* reads that may wait at a channel that takes a prefetch */
    uint32_t turn, credit;  /* next sequence to be given up; sectors that may still go unused */
};

struct ww_l2 {
    struct ww_queue *queue;
    const struct ww_clock *clock;
    struct ww_clock_note fired; /* time of the last slice's event */
    struct ww_xbar *xbar;
    struct ww_dram *dram;
    const struct ww_addrmap *map;
    uint64_t *counter;
    struct ww_inst_count *inst; /* NULL: nobody asks */
    uint64_t *live;             /* things in flight in the whole memory system */
    struct ww_l2_slice *slice;
    uint32_t *turn; /* by channel: its slice that is told first of room */
    uint32_t slices, slices_per_channel;
    uint32_t line_shift, line_granules, sector_granules, l1_sector_granules;
    uint32_t sector_shift;          /* log2 of sector_granules */
    uint32_t sides;                 /* inputs of a slice: 2 if there are two partitions */
    uint32_t side_slices, side_sms; /* of a partition; side_slices 0: there is but one */
    uint64_t copy_bit;              /* of line numbers: WW_L2_COPY; 0 if there is but one partition */
    uint32_t far_latency;
    uint32_t far_bytes;         /* that pass between them in a cycle, each way; 0: any */
    uint64_t link_free[2];      /* by the partition that data go to: cycles << WW_L2_TIME_BITS */
    bool strong_home;           /* strong reads are served at the line's home */
    uint32_t parts;             /* L2 lines that an L1 line covers, at least 1 */
    uint32_t coalesce;          /* reads that get their replies together; below 2: none */
    const uint16_t *latency_of; /* by sm * slices + slice, as floorplan.h has it; NULL: all take `latency` */
    uint32_t least_latency;     /* of these */
    uint32_t mshrs, merge, latency, atomic_cycles, bursts_per_sector;
    /* Requests lie in one line; no coalescer, no partitions, no prefetch, no lines elsewhere; victims by an
     * order. */
    bool plain;
    bool blocks;        /* what misses brings more sectors with it */
    bool write_fetches; /* l2.write_miss=fetch */
    uint32_t elsewhere; /* of 65,536 lines: those that DRAM reads for others at about the same time */
    uint32_t elsewhere_latency;
    uint32_t dirty_ways; /* of a set; beyond them lines are written back and stay; 0: no bound */
    uint32_t walks;      /* page walks at a time, for which slices have room */
    /* The reply to a page walk's read, at L2 cycle `cycle`. */
    void (*walk_read)(void *context, const struct ww_mem_reply *reply, uint64_t cycle);
    void *walk_context;
    /* A write or an atomic of the SM to the line has been performed; NULL: not called. */
    void (*performed)(void *context, uint16_t sm, uint64_t line, uint64_t now_ps);
    void *performed_context;
    /* Of a port, by number of sectors: cycles << WW_L2_TIME_BITS, at least one; [1]: that stores write. */
    uint32_t time_of[2][9];
    uint8_t sectors_of[256], granules_of[256];
    uint8_t fetch_of[256]; /* by sectors that miss: what is read from DRAM, l2.fetch_bytes at a time */
    struct ww_l2_prefetch prefetch;
};

/* From the arrival of the SM's request at the slice to its tags. */
static inline uint32_t ww_l2_latency(const struct ww_l2 *l2, uint32_t slice, uint16_t sm) {
    return l2->latency_of ? l2->latency_of[sm * l2->slices + slice] : l2->latency;
}

/* False: out of memory. */
bool ww_l2_init(struct ww_l2 *l2, const struct ww_gpu_spec *gpu, struct ww_arena *arena, uint64_t seed);
/* A request packet is at the slice at L2 cycle `arrived`. */
void ww_l2_push(struct ww_l2 *l2, uint32_t slice, const struct ww_mem_request *request, uint64_t local,
                uint8_t granules, uint64_t arrived);
/* A page walk's read, which does not come through the crossbar, is at the slice's tags at `cycle`. */
void ww_l2_push_walk(struct ww_l2 *l2, uint32_t slice, const struct ww_mem_request *request, uint64_t local,
                     uint64_t cycle);
/* Data are there for a miss record from cycle fill.ready on, from DRAM (WW_L2_NEAR) or the other partition. */
void ww_l2_add_fill(struct ww_l2_slice *s, uint32_t side, struct ww_l2_fill fill);
/* Asks the line's home in the other partition for sectors of a line of which the slice keeps a copy. */
void ww_l2_ask_home(struct ww_l2_slice *s, uint64_t number, uint8_t mask, uint32_t miss, uint32_t inst,
                    uint64_t cycle);
/* When data that are asked for in `cycle` can begin to pass to the slice's or the SM's partition `side`. */
uint64_t ww_l2_cross(struct ww_l2 *l2, uint32_t side, uint32_t granules, uint64_t cycle);
/* The home's reply to its counterpart, whose miss record is the tag. */
void ww_l2_far_reply(struct ww_l2_slice *home, const struct ww_l2_txn *t, uint8_t granules, uint64_t cycle);
/* ---- l2_coalesce.c ---- */
/* False: out of memory. */
bool ww_l2_coalescer_init(struct ww_l2_slice *s, struct ww_arena *arena);
/* True: the request, from the crossbar, joined one that waits for the slice; nothing else is to be done. */
bool ww_l2_coalesce(struct ww_l2_slice *s, const struct ww_mem_request *request, uint64_t local,
                    uint8_t granules);
/* Others may join the request that was put last into the FIFO. */
void ww_l2_coalesce_last(struct ww_l2_slice *s);
/* The packet at the head has been served; `whole`: from the lines, with a reply in `cycle`. Replies to those
 * that joined it. True: one could not get its reply so, and is the head now. */
bool ww_l2_reply_joined(struct ww_l2_slice *s, bool whole, uint64_t cycle);
/* Makes sectors of the counterpart's copy of a line invalid. */
void ww_l2_drop_copy(struct ww_l2_slice *home, uint64_t number, uint8_t sectors);
/* Reads go to the slice of the SM's own partition that keeps a copy if the line's home is in the other one;
 * place is the home's. */
static inline struct ww_slice_place ww_l2_route(const struct ww_l2 *l2, const struct ww_mem_request *request,
                                                struct ww_slice_place place) {
    if (!l2->side_slices) return place;
    bool far = (request->sm >= l2->side_sms) != (place.slice >= l2->side_slices);
    place.local &= WW_L2_COPY - 1;
    if (!far || request->kind != WW_MEM_READ || (request->strong && l2->strong_home)) return place;
    place.slice += place.slice >= l2->side_slices ? 0 - l2->side_slices : l2->side_slices;
    place.local |= WW_L2_COPY;
    return place;
}
/* The request is a strong one at its home in the other partition. */
static inline bool ww_l2_is_far(const struct ww_l2 *l2, const struct ww_mem_request *request, uint32_t slice) {
    return request->strong && l2->strong_home && (request->sm >= l2->side_sms) != (slice >= l2->side_slices);
}
/* DRAM's and the crossbar's calls. */
void ww_l2_filled(void *context, const struct ww_dram_request *request, uint64_t ps);
void ww_l2_written(void *context, const struct ww_dram_request *request);
void ww_l2_room(void *context, uint32_t channel, uint64_t ps);
bool ww_l2_delivered(void *context, uint32_t slice, uint64_t now_ps);

/* ---- between l2.c and l2_serve.c ---- */

static inline struct ww_l2_wait_for *ww_l2_wait(const struct ww_l2_slice *s, uint32_t n) {
    return n < s->txns ? &s->txn[n].wait : &s->waiter[n - s->txns].wait;
}

/* Serves what can be served of the slice's head request at `cycle`; true: all of it. */
bool ww_l2_serve(struct ww_l2_slice *s, struct ww_l2_input *in, const struct ww_l2_packet *p, uint64_t cycle);
/* These granules are all that an SM's read has asked for, and come at once. */
static inline bool ww_l2_is_all(const struct ww_l2_txn *t, uint8_t granules, uint8_t level) {
    bool sm = t->needs_reply == WW_L2_REPLY_SM && t->sm != WW_L2_WALKER;
    return t->kind == WW_MEM_READ && sm && t->left == granules && !t->have && t->level <= level;
}
/* Replies to such a read. */
void ww_l2_answer_read(struct ww_l2_slice *s, uint32_t n, uint8_t level, uint64_t cycle);
/* Gives txn n the request granules `got`, which DRAM served, and replies what is complete. There must be
 * room for a reply if the txn needs one. */
void ww_l2_txn_got(struct ww_l2_slice *s, uint32_t n, uint8_t got, uint8_t level, uint64_t cycle);

#endif
