/* exchange.h: the memory system apart from the SMs.
 *
 *   SMs, cycles [a, b)  --requests, in order-->  memory system, one window later
 *                       <--messages, by time---  it is ahead by up to two windows
 *
 * What an SM sends has no effect at a slice before the latencies of crossbar and L2 have passed. Two windows of
 * less than that let the SMs step through one of them, while (or after) the memory system's events of the next
 * one pass: it needs the requests up to the window before, and the SMs all messages up to the end of theirs.
 * Between windows both pass on what they have written (ww_memsys_exchange).
 *
 * Results are those of events in order:
 * - Whether a request is refused depends on what the SM's port and the slice hold. The SMs' side counts that
 *   itself; the memory system tells it when slices have taken requests.
 * - A request reaches the order of events late. It takes the place there that it would have had (event.h).
 */
#ifndef WW_CORE_EXCHANGE_H
#define WW_CORE_EXCHANGE_H

#include "memsys.h"

/* The memory system's message to an SM, or of requests that a slice has taken. */
struct ww_told {
    uint64_t ps;
    uint64_t after; /* time of the next reply to the SM, or the end of the window */
    uint32_t next;  /* that reply's place in the list; WW_TOLD_NONE: there is none */
    uint32_t slice; /* that has taken requests; WW_TOLD_REPLY: none */
    uint32_t count; /* of them */
    struct ww_mem_reply reply;
    uint16_t sm;
};
#define WW_TOLD_REPLY UINT32_MAX
#define WW_TOLD_NONE UINT32_MAX

/* A request that was let through to its slice. */
struct ww_sent {
    struct ww_mem_request request;
    uint64_t local, arrived;
    uint64_t tick_ps; /* of the SMs' cycle at whose beginning it was sent */
    uint32_t slice;
    uint8_t granules;
};

struct ww_told_list {
    struct ww_told *item;
    uint32_t count, capacity;
};

struct ww_sent_list {
    struct ww_sent *item;
    uint32_t count, capacity;
};

struct ww_exchange {
    /* The memory system's, between two exchanges. */
    _Alignas(2 * WW_HOST_LINE) struct ww_told_list tell;
    struct ww_sent_list take;
    uint64_t reached; /* all events up to this time have fired */
    bool failed;      /* out of memory */
    /* The SMs'. */
    _Alignas(2 * WW_HOST_LINE) struct ww_told_list told;
    struct ww_sent_list send;
    uint32_t next;   /* of told */
    uint32_t *reply; /* by SM: its next reply in told, or WW_TOLD_NONE; SMs that are ahead have taken theirs */
    uint64_t tick_ps;
    uint64_t *retry;   /* by SM: when it is called after its port has refused; UINT64_MAX: it is not */
    uint64_t retry_ps; /* the earliest */
    uint32_t sms;
    bool full; /* out of memory */
    uint64_t counter[WW_COUNTER_COUNT];
};

/* NULL: out of memory. */
struct ww_exchange *ww_exchange_new(uint32_t sms);
void ww_exchange_free(struct ww_exchange *x);
/* Each adds one to the end of a list; NULL: out of memory. */
struct ww_told *ww_exchange_tell(struct ww_exchange *x);
struct ww_sent *ww_exchange_send(struct ww_exchange *x);
/* The SM is called at time ps, or after this tick. */
void ww_exchange_retry(struct ww_exchange *x, uint16_t sm, uint64_t ps);
/* Takes an SM whose time has come; its time is retry_ps. */
uint16_t ww_exchange_take_retry(struct ww_exchange *x);

#endif
