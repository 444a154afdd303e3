/* tlb.h: address translation in front of the L2.
 *
 *   request at a slice's port --> L1 TLB --hit--------------------------------------> slice
 *                                   |--miss--> L2 TLB --hit--> waiters of the page --> slice
 *                                                |--miss--> walk: [directory] table --^
 *                                                             (reads through the L2 slices)
 *
 * Both TLBs serve all SMs and are on the L2's side of the crossbar, as Mei and Chu, IEEE TPDS 2017, infer
 * (sections 4.4 and 5.2): a miss of the L1 TLB adds little latency to a request that goes to the L2 anyway.
 * - The L1 TLB is looked up while the request is in the L2's pipeline: a hit costs nothing.
 * - A request that misses is put aside until its page is translated; others pass it. It keeps its place at the
 *   slice, so that too many of them block the crossbar and the SMs. Requests for a page that is being
 *   translated join its miss; there are tlb.misses of these, and a request that finds none free waits.
 * - The L2 TLB takes one look-up a cycle, tlb.l2_cycles each. A miss of it walks the page table, tlb.walkers
 *   at a time, in order.
 * - A walk reads the tlb.entry_bytes that describe the page from the table, which lies in memory: sectors
 *   that are read through the slices and, if need be, from DRAM, counted like all others. The directory above
 *   the table is cached for the tlb.contexts most recently used regions of tlb.context_mb. A walk elsewhere
 *   first reads the region's sector of it (a context switch), one at a time. 0: the directory costs no reads.
 * - Physical addresses are the virtual ones: what is modelled is time and traffic, not placement.
 *
 * All times are L2 cycles. Contents last over launches.
 */
#ifndef WW_CORE_TLB_H
#define WW_CORE_TLB_H

#include "l2.h"
#include "tlb_array.h"

struct ww_tlb_request { /* put aside */
    struct ww_mem_request request;
    uint64_t local;
    uint64_t arrived; /* cycle at which it is at the slice */
    uint32_t slice, next;
    uint8_t granules;
};

struct ww_tlb_miss { /* a page that is being translated */
    uint64_t page;
    uint64_t ready;       /* the L2 TLB has looked it up; since then, while it is walked */
    uint32_t first, last; /* requests that wait */
    uint32_t next;        /* in one of the lists */
    bool open;
};

struct ww_tlb_list { /* of requests or misses, first come first */
    uint32_t first, last;
};

struct ww_tlb_walker {
    uint32_t miss;  /* WW_NONE: free */
    uint64_t ready; /* cycle at which the read's data are there, UINT64_MAX: not known yet */
    bool directory; /* it reads that first */
    bool from_dram; /* a part of what is read came from there */
};

struct ww_tlb {
    struct ww_event event;
    struct ww_queue *queue;
    const struct ww_clock *clock;
    struct ww_l2 *l2;
    uint64_t *counter, *live;
    struct ww_tlb_array l1, l2_array, active; /* active: regions whose directory entry is cached */
    struct ww_tlb_request *request;
    struct ww_tlb_miss *miss;
    struct ww_tlb_walker *walker;
    struct ww_tlb_list held;    /* requests that found no free miss */
    struct ww_tlb_list looking; /* misses in the L2 TLB */
    struct ww_tlb_list walking; /* misses that wait for a walker */
    uint32_t free_request, free_miss, misses, walkers;
    uint64_t l2_free; /* cycle at which the L2 TLB takes the next look-up */
    uint32_t page_shift, context_shift, line_mask;
    uint32_t l2_cycles, read_cycles, fill_cycles, context_cycles, entry_bytes;
    uint32_t least_cycles; /* from a translation or a walk's step until something follows from it */
    uint32_t overtaken;    /* walks that went before the first of `walking` */
    bool contexts, any_context, switching;
};

/* requests: how many may be put aside. Sets the slices' callback. False: out of memory. */
bool ww_tlb_init(struct ww_tlb *t, const struct ww_gpu_spec *gpu, struct ww_l2 *l2, uint32_t requests,
                 struct ww_arena *arena, uint64_t seed);
/* Bytes that ww_tlb_init takes for `requests`. */
double ww_tlb_bytes(const struct ww_gpu_spec *gpu, double requests);
/* Looks up the page of a request that is at its slice at cycle `arrived`. True: it may go on. False: it was
 * put aside, and will go to the slice when the translation is there. */
bool ww_tlb_pass(struct ww_tlb *t, const struct ww_mem_request *request, struct ww_slice_place place,
                 uint8_t granules, uint64_t arrived);

/* When what was to be ready at `ready` goes on, at its event in `cycle`. If the clock became faster since the
 * event was scheduled, `ready` may have passed: what follows must not lie in the past. */
static inline uint64_t ww_tlb_goes_on(const struct ww_tlb *t, uint64_t ready, uint64_t cycle) {
    return ready + t->least_cycles < cycle ? cycle : ready;
}

/* A page is being translated. */
bool ww_tlb_busy(const struct ww_tlb *t);

/* Where the page table and the directory above it lie in the memory that is behind the L2, beyond all that a
 * program addresses (its local memory begins at 2^60). */
#define WW_TLB_TABLE_BASE (1ull << 61)
#define WW_TLB_DIRECTORY_BASE (WW_TLB_TABLE_BASE + (1ull << 60))
#define WW_TLB_DIRECTORY_BYTES 32u /* one sector describes a region */
static inline uint64_t ww_tlb_table_address(const struct ww_tlb *t, uint64_t page) {
    return WW_TLB_TABLE_BASE + page * t->entry_bytes;
}
static inline uint64_t ww_tlb_directory_address(uint64_t region) {
    return WW_TLB_DIRECTORY_BASE + region * WW_TLB_DIRECTORY_BYTES;
}

/* ---- between tlb.c and tlb_walk.c ---- */

/* Starts walks for waiting misses, as long as walkers are free. */
void ww_tlb_start_walks(struct ww_tlb *t, uint64_t cycle);
/* Goes on with walks whose data are there at `cycle`; returns the cycle at which the next one's are. */
uint64_t ww_tlb_step_walks(struct ww_tlb *t, uint64_t cycle);
/* A slice's reply to a read of walker `tag`. */
void ww_tlb_walk_read(void *context, const struct ww_mem_reply *reply, uint64_t cycle);
/* The page of miss m is translated: those who wait go to their slices. */
void ww_tlb_translated(struct ww_tlb *t, uint32_t m, bool walked, uint64_t cycle);
/* The unit has something to do at `cycle`. */
void ww_tlb_wake(struct ww_tlb *t, uint64_t cycle);

#endif
