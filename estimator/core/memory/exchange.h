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

/* The memory system's reply to an SM. */
struct ww_told {
    uint64_t ps;
    uint64_t after; /* time of the next reply to the SM, or the end of the window */
    uint32_t next;  /* that reply's place in the list; WW_TOLD_NONE: there is none */
    uint16_t sm;
    struct ww_mem_reply reply;
};
#define WW_TOLD_NONE UINT32_MAX

/* A slice has taken requests. It is of interest when a request has found the slice full: until then they are
 * left where they are, and a slice may count too many packets. */
struct ww_taken {
    uint64_t ps;
    uint32_t slice, count;
};

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

struct ww_taken_list {
    struct ww_taken *item;
    uint32_t count, capacity;
};

struct ww_sent_list {
    struct ww_sent *item;
    uint32_t count, capacity;
};

struct ww_exchange {
    /* The memory system's, between two exchanges. */
    _Alignas(2 * WW_HOST_LINE) struct ww_told_list tell;
    struct ww_taken_list took;
    struct ww_sent_list take;
    uint64_t reached; /* all events up to this time have fired */
    bool failed;      /* out of memory */
    /* The SMs'. */
    _Alignas(2 * WW_HOST_LINE) struct ww_told_list told;
    struct ww_taken_list taken;
    struct ww_sent_list send;
    uint32_t next;       /* of told */
    uint32_t next_taken; /* of taken */
    uint32_t watched;    /* of taken: the first one of a slice for which SMs wait, or WW_TOLD_NONE */
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
/* Make lists longer; false: out of memory. */
bool ww_exchange_more_told(struct ww_exchange *x);
bool ww_exchange_more_taken(struct ww_exchange *x);
bool ww_exchange_more_sent(struct ww_exchange *x);
/* Each adds one to the end of a list; NULL: out of memory. */
static inline struct ww_told *ww_exchange_tell(struct ww_exchange *x) {
    struct ww_told_list *l = &x->tell;
    return l->count < l->capacity || ww_exchange_more_told(x) ? &l->item[l->count++] : NULL;
}
static inline struct ww_taken *ww_exchange_took(struct ww_exchange *x) {
    struct ww_taken_list *l = &x->took;
    return l->count < l->capacity || ww_exchange_more_taken(x) ? &l->item[l->count++] : NULL;
}
static inline struct ww_sent *ww_exchange_send(struct ww_exchange *x) {
    struct ww_sent_list *l = &x->send;
    return l->count < l->capacity || ww_exchange_more_sent(x) ? &l->item[l->count++] : NULL;
}
/* Time of the next reply; UINT64_MAX: there is none. */
static inline uint64_t ww_exchange_reply_ps(const struct ww_exchange *x) {
    return x->next < x->told.count ? x->told.item[x->next].ps : UINT64_MAX;
}
/* The same of requests that were taken by a slice for which SMs wait. */
static inline uint64_t ww_exchange_watched_ps(const struct ww_exchange *x) {
    return x->watched != WW_TOLD_NONE ? x->taken.item[x->watched].ps : UINT64_MAX;
}
/* The SM is called at time ps, or after this tick. */
void ww_exchange_retry(struct ww_exchange *x, uint16_t sm, uint64_t ps);
/* Takes an SM whose time has come; its time is retry_ps. */
uint16_t ww_exchange_take_retry(struct ww_exchange *x);

#endif
