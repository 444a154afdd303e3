/* fetch.h: kind "fetch", a prefetcher at the D-cache (L1) of each SM.
 *
 *   load --lines looked up--> load() --asks--> queue --latency later--> D-cache --absent--> MSHR, miss queue
 *                                ^                        |                                     |
 *                                '------ queued(), sent(), done(), lost() -----------------------'
 *
 * One instance per SM; its state persists over all launches of a run, as tables in hardware do. Core calls
 * load() for each load that goes through the L1 (textures have units of their own), once all of its lines have
 * been looked up. What load() asks for is coalesced into lines, waits `latency` cycles in a queue and is looked
 * up in a cycle in which the load/store unit leaves the port free; what is there or on its way is forgotten.
 * Core counts. An instance knows only its arguments, and requests at most WW_FETCH_REQUESTS
 * accesses at a time. */
#ifndef WW_MECH_FETCH_H
#define WW_MECH_FETCH_H

#include "../mech.h"

#define WW_FETCH_REQUESTS 64
#define WW_FETCH_NO_TOKEN UINT32_MAX /* of requests whose outcome the prefetcher does not need */

/* How a load found a line; the worst of its parts counts, in this order. */
enum ww_fetch_outcome {
    WW_FETCH_HIT,
    WW_FETCH_TIMELY, /* hit, the first use of a prefetched line */
    WW_FETCH_MERGED, /* on its way, as asked for by a load */
    WW_FETCH_LATE,   /* on its way, as asked for by a prefetch and by no load before */
    WW_FETCH_MISS
};

struct ww_fetch_line {
    uint64_t address; /* of its first byte */
    uint8_t outcome;
};

/* A load, by all lanes of a warp. */
struct ww_fetch_load {
    uint64_t cycle;
    uint32_t pc;             /* number of the instruction, its kernel's place in the code included */
    uint32_t warp;           /* slot in the SM, below 64 */
    uint32_t threads;        /* that are resident in the SM */
    uint32_t mask, lanes;    /* active lanes, and their number */
    uint32_t width;          /* bytes of each lane */
    const uint64_t *address; /* of the active lanes, in their order */
    const struct ww_fetch_line *line;
    uint32_t lines;
    bool missed; /* a line was not there: merged, late or miss */
    bool absent; /* a line was not on its way either: miss */
};

/* An access whose lines are to be prefetched: lane l of mask at base + stride * l; or, shifted, the load's own
 * addresses plus base. */
struct ww_fetch_request {
    uint64_t base;
    int32_t stride;
    uint32_t mask, width;
    uint32_t
        token; /* comes back with queued(), sent() and done(), for each line, unless it is WW_FETCH_NO_TOKEN */
    bool shifted;
};

struct ww_fetch_requests {
    struct ww_fetch_request request[WW_FETCH_REQUESTS];
    uint32_t count;
    uint32_t farther, nearer; /* changes of a prefetch distance, for the counters */
};

struct ww_fetch_plan {
    uint32_t queue;    /* lines that wait to be prefetched; 0: there is no prefetcher */
    uint32_t latency;  /* SM cycles from the load to the look-up of what it asked for */
    uint32_t cache_kb; /* of a separate cache for prefetches, next to the D-cache; 0: none */
    uint32_t cache_ways;
};

struct ww_fetch_launch {
    uint32_t line;     /* bytes of a line of the D-cache */
    uint64_t sequence; /* launches of the run before this one */
};

struct ww_fetch_ops {
    struct ww_mech_info info;
    /* The plan that the settings (what info.params describe) mean. */
    void (*plan)(const void *settings, struct ww_fetch_plan *plan);
    size_t state_size; /* of a block for each SM that core zeroes once and keeps over the launches of a run */
    /* A launch begins; nothing of the one before is on its way. */
    void (*begin)(void *state, const void *settings, const struct ww_fetch_launch *launch);
    /* A load has looked its lines up; what it leads to is appended to the requests, of which there are none. */
    void (*load)(void *state, const void *settings, const struct ww_fetch_load *load,
                 struct ww_fetch_requests *requests);
    /* A requested line waits to be looked up; has been sent to memory; is complete: its data have come, or it
     * was found in the cache or in flight. There is no call for what the full queue drops. NULL: nothing is
     * done. */
    void (*queued)(void *state, uint32_t token);
    void (*sent)(void *state, uint32_t token);
    void (*done)(void *state, uint32_t token);
    /* A prefetched line was replaced before it was used. NULL: nothing is done. */
    void (*lost)(void *state);
};

#endif
