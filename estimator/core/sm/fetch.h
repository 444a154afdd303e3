/* fetch.h: the prefetcher of an SM's L1. The lines that are prefetched are chosen by mech/
 * (mech/fetch/fetch.h).
 *
 *   L1 --outcome of each line--> note --all lines of a load--> prefetcher --accesses--> coalescer
 *                                                                                           |
 *   memory system <--miss queue-- MSHR <--absent-- L1 or the prefetch cache <-- ring, `latency` later
 *
 * A prefetch is looked up in a cycle in which the load/store unit does not use the L1, one a cycle. It takes an
 * MSHR and a place in the miss queue as a load does, and waits where there is none; the ring is then full for
 * others. If the prefetcher has its own cache, that is searched together with the L1: loads are served from it,
 * merges with prefetches included, as from the L1.
 *
 * Each prefetch that is sent ends as exactly one of
 *   timely   the first load of its line finds the data there
 *   late     it finds them on their way
 *   early    the line is replaced before a load, and a load asks for it later in the launch
 *   useless  no load asks for it in this launch
 * A table of 4,096 lines remembers what was replaced; what it forgets counts as useless. */
#ifndef WW_CORE_FETCH_H
#define WW_CORE_FETCH_H

#include "../../mech/fetch/fetch.h"
#include "l1.h"

struct ww_lsu_entry;
struct ww_engine;

#define WW_FETCH_GONE 4096

struct ww_fetch_item {
    struct ww_line_request request;
    uint64_t ready; /* cycle from which it may be looked up */
    uint32_t token, inst, warp;
};

struct ww_fetcher {
    const struct ww_fetch_ops *ops;
    const void *settings;
    void *state; /* the prefetcher's; persists over launches */
    struct ww_fetch_plan plan;
    struct ww_cache own; /* of prefetched lines, if the plan has one: its shape is NULL else */
    struct ww_fetch_item *ring;
    uint32_t head, count;
    bool blocked;  /* the first one found no MSHR or no place in the miss queue, and waits for a reply */
    uint32_t code; /* number of the kernel's first instruction */
    uint32_t cta_threads;
    /* of the load that the load/store unit works on */
    struct ww_fetch_line *line;
    uint32_t lines;
    struct ww_coalescer coalescer;
    uint64_t address[32], shifted[32];
    struct ww_fetch_requests requests;
    struct { /* lines that were replaced before their first use */
        uint64_t key;
        uint32_t count; /* prefetches of it; 0: empty */
    } gone[WW_FETCH_GONE];
};

/* Shapes the prefetch cache of a launch. */
void ww_fetch_shape(struct ww_core *core);
/* Makes the SM's prefetcher, if the launch has one. state: of this SM. False: out of memory. */
bool ww_fetch_init(struct ww_sm *sm, struct ww_arena *arena, void *state);
/* The cache that a load of the line goes to. */
struct ww_cache *ww_fetch_where(struct ww_sm *sm, uint64_t key);
/* A load has been accepted by the cache: line is what held the key (WW_NO_LINE: none did), and its sectors were
 * found so. */
void ww_fetch_note(struct ww_sm *sm, struct ww_cache *c, uint64_t key, uint32_t line, uint32_t merged,
                   uint32_t miss);
/* All lines of the load at the head of the unit have been looked up, or put aside. */
void ww_fetch_load(struct ww_sm *sm, const struct ww_lsu_entry *e, const struct ww_dinst *d, uint64_t cycle);
/* A line loses its data, or its key. */
void ww_fetch_lose(struct ww_sm *sm, struct ww_cache *c, uint32_t line);
/* A store replaces what a prefetch cache holds of the line. */
void ww_fetch_store(struct ww_sm *sm, uint64_t key);
/* All data that an MSHR of the cache waited for are there. */
void ww_fetch_filled(struct ww_sm *sm, struct ww_cache *c, uint32_t m);
/* Looks up the first waiting prefetch; the load/store unit does not use the L1 in this cycle. */
void ww_fetch_step(struct ww_sm *sm, uint64_t cycle);
/* Cycle after `cycle` at which it has something to do. */
static inline uint64_t ww_fetch_next(const struct ww_fetcher *f, uint64_t cycle) {
    if (!f->count || f->blocked) return UINT64_MAX;
    return f->ring[f->head].ready > cycle ? f->ring[f->head].ready : cycle + 1;
}
/* Counts what is left at the launch's end. */
void ww_fetch_close(struct ww_sm *sm);

#endif
