/* xbar.h: the crossbar between SMs and L2 slices.
 *
 *   SM ports (xbar.sms_per_port SMs each)  == requests ==>  slice ports
 *   SM ports                               <== replies ===  slice ports
 *
 * Each port passes one flit of xbar.flit bytes per L2 cycle and direction; contention is the time for which
 * a port is busy. A packet's first flit takes xbar.latency cycles from its start at the sending port to the
 * receiving one; the last follows flits - 1 cycles later. Packets are served in order of their offering.
 * With xbar.trunks, replies to the SMs of a cluster (a GPC) pass one trunk of xbar.trunk_bytes of data a cycle
 * in front of their ports; see Z. Jin et al., Uncovering Real GPU NoC Characteristics, MICRO 2024: the SMs of a
 * V100's GPC together get half of what they take one by one. A sending port takes packets while its backlog is
 * below WW_XBAR_BACKLOG cycles. A slice admits as many request packets, on the way or waiting, as its queue and
 * the pipeline in front of it hold; what a slice has sent and no SM has got is bounded likewise. SMs that were
 * refused are called when they may try again.
 */
#ifndef WW_CORE_XBAR_H
#define WW_CORE_XBAR_H

#include "../../base/arena.h"
#include "exchange.h"
#include "free_list.h"
#include "memsys.h"
#include <assert.h>

#define WW_XBAR_NONE UINT32_MAX /* no reply */
#define WW_XBAR_TIME_BITS 8
#define WW_XBAR_BACKLOG 8 /* L2 cycles of packets that a sending port buffers */

struct ww_xbar_reply {
    struct ww_mem_reply reply;
    uint64_t ps; /* of delivery */
    uint32_t next;
    uint32_t slice;
    uint16_t sm;
};

struct ww_xbar_port { /* of an SM cluster */
    _Alignas(WW_HOST_LINE) struct ww_event deliver;
    struct ww_xbar *xbar;
    uint64_t receive_free; /* L2 cycle */
    uint64_t *trunk;       /* when it is free, cycles << WW_XBAR_TIME_BITS; NULL: there is none */
    uint32_t head, tail;   /* replies under way, by time */
    uint32_t index;
    uint64_t refused; /* bit per SM of the cluster that waits for the port */
    struct ww_event retry;
};

struct ww_xbar_door { /* port of a slice, for requests; see exchange.h for why these are apart from replies */
    uint64_t receive_free;
    uint32_t packets; /* requests under way or waiting */
    uint32_t refused; /* SMs waiting */
    uint32_t next_sm; /* round robin over them */
};

struct ww_xbar_slice { /* the same for replies */
    uint64_t send_free;
    uint32_t replies; /* under way */
    uint32_t taken;   /* requests, not told the SMs' side yet */
    bool wants;       /* it had no room for a reply, and is called when it has */
};

struct ww_xbar {
    /* What sends change. */
    _Alignas(2 * WW_HOST_LINE) struct ww_clock_note now; /* time of the last send */
    uint32_t refusals;                                   /* SMs that wait for slices, once for each */
    /* What replies change. */
    _Alignas(2 * WW_HOST_LINE) struct ww_free_list free_reply;
    uint32_t under_way; /* replies */
    /* What neither does. */
    _Alignas(2 * WW_HOST_LINE) struct ww_exchange *exchange; /* NULL: SMs and memory are not apart */
    struct ww_queue *queue;
    const struct ww_clock *clock; /* L2 domain */
    struct ww_memsys_client client;
    uint64_t *counter, *sends; /* sends: what they count in, too */
    struct ww_xbar_port *port;
    uint64_t *send_free;       /* by port: L2 cycle */
    uint64_t *next_reply;      /* by port: time of its next delivery, UINT64_MAX: none is under way */
    struct ww_xbar_door *door; /* by slice */
    struct ww_xbar_slice *slice;
    struct ww_xbar_reply *reply; /* pool */
    uint64_t *refused;           /* bits: [slice * words + sm / 64] */
    uint16_t *port_of;           /* by SM */
    uint32_t words, sms, sms_per_port;
    uint32_t packet_limit, reply_limit;
    uint32_t flit, header, latency;
    uint8_t flits[512];       /* by payload bytes */
    uint32_t trunk_time[512]; /* likewise, cycles << WW_XBAR_TIME_BITS */
    /* A reply of `slice`, which had no room for one, was delivered: it has. True: it still waits, and is called
     * again after the next one. */
    bool (*delivered)(void *context, uint32_t slice, uint64_t now_ps);
    void *delivered_context;
};

/* False: out of memory. The caller sets delivered afterwards. */
bool ww_xbar_init(struct ww_xbar *x, const struct ww_gpu_spec *gpu, struct ww_queue *queue,
                  const struct ww_clock *clock, const struct ww_memsys_client *client, uint64_t *counter,
                  struct ww_arena *arena);
/* Calls the SM at L2 cycle `cycle`, which is in the future, to retry the request that was refused. */
void ww_xbar_call_back(struct ww_xbar *x, uint16_t sm, uint64_t cycle);
/* The first cycle from `cycle` on in which the SM's port takes a packet. */
static inline uint64_t ww_xbar_port_free(const struct ww_xbar *x, uint16_t sm, uint64_t cycle) {
    uint64_t busy = x->send_free[x->port_of[sm]];
    if (busy < cycle + WW_XBAR_BACKLOG) return cycle;
    return busy - WW_XBAR_BACKLOG / 2 > cycle ? busy - WW_XBAR_BACKLOG / 2 : cycle + 1;
}
/* A packet of so many flits leaves the port, which takes one in `cycle`; returns when its first one does. */
static inline uint64_t ww_xbar_leave(struct ww_xbar *x, uint16_t sm, uint32_t flits, uint64_t cycle) {
    uint64_t *free = &x->send_free[x->port_of[sm]], start = *free > cycle ? *free : cycle;
    *free = start + flits;
    return start;
}
static inline uint32_t ww_xbar_flits(const struct ww_xbar *x, uint32_t payload) {
    if (payload < sizeof x->flits) return x->flits[payload];
    return (payload + x->header + x->flit - 1) / x->flit;
}
/* Of the trunk in front of the SMs, for so many bytes: cycles << WW_XBAR_TIME_BITS. */
static inline uint32_t ww_xbar_trunk_time(const struct ww_xbar *x, uint32_t payload) {
    uint32_t last = sizeof x->trunk_time / sizeof x->trunk_time[0] - 1;
    return x->trunk_time[payload < last ? payload : last];
}
/* Whether its port or the slice refuses a request of the SM at L2 cycle `cycle`; the SM will be called then. */
bool ww_xbar_refuses(struct ww_xbar *x, uint16_t sm, uint32_t slice, uint64_t cycle);
/* Sends a request packet of `payload` bytes from an SM to a slice. True: *ready is the L2 cycle at which all
 * of it is at the slice. False: refused, the SM will be called. */
static inline bool ww_xbar_send(struct ww_xbar *x, uint16_t sm, uint32_t slice, uint32_t payload,
                                uint64_t now_ps, uint64_t *ready) {
    struct ww_xbar_door *s = &x->door[slice];
    uint64_t cycle = ww_clock_noted_cycle(&x->now, x->clock, now_ps), *port = &x->send_free[x->port_of[sm]];
    bool may_refuse = *port >= cycle + WW_XBAR_BACKLOG || s->packets >= x->packet_limit;
    if (may_refuse && ww_xbar_refuses(x, sm, slice, cycle)) return false;
    uint32_t flits = ww_xbar_flits(x, payload);
    uint64_t arrive = ww_xbar_leave(x, sm, flits, cycle) + x->latency;
    if (arrive < s->receive_free) arrive = s->receive_free;
    s->receive_free = arrive + flits;
    s->packets++;
    x->sends[WW_C_XBAR_REQUEST]++;
    x->sends[WW_C_XBAR_REQUEST_FLIT] += flits;
    *ready = arrive + flits - 1;
    return true;
}
/* A time before which no reply comes to the SM's port: what is not under way yet takes the crossbar's latency.
 */
uint64_t ww_xbar_quiet(const struct ww_xbar *x, uint16_t sm, uint64_t now_ps);
/* The same of every SM, by number. */
void ww_xbar_quiet_all(const struct ww_xbar *x, uint64_t now_ps, uint64_t *quiet);
/* The slice has taken a request out of its queue. Call ww_xbar_wake after that. */
static inline void ww_xbar_taken(struct ww_xbar *x, uint32_t slice) {
    if (x->exchange)
        x->slice[slice].taken++;
    else
        x->door[slice].packets--;
}
/* Calls as many refused SMs as the slice has room for. They may send from within the call. */
void ww_xbar_call_refused(struct ww_xbar *x, uint32_t slice, uint64_t now_ps);
/* The same, or the SMs' side, apart from memory, will be told what the slice has taken. */
static inline void ww_xbar_wake(struct ww_xbar *x, uint32_t slice, uint64_t now_ps) {
    if (!x->exchange) {
        ww_xbar_call_refused(x, slice, now_ps);
        return;
    }
    struct ww_taken *t = ww_exchange_took(x->exchange);
    if (!t) return;
    *t = (struct ww_taken){now_ps, slice, x->slice[slice].taken};
    x->slice[slice].taken = 0;
}
/* The SMs' side, apart from memory, learns of requests that a slice has taken for which SMs wait; there are
 * such.
 */
void ww_xbar_tell_watched(struct ww_xbar *x);
/* It learns of all that were taken before the next exchange, and no SM waits for them. */
void ww_xbar_told_all(struct ww_xbar *x);
/* After an exchange: finds the first that SMs wait for. */
void ww_xbar_watch(struct ww_xbar *x);
/* SMs and memory part, and are together again: calls of SMs that their ports have refused change hands. */
void ww_xbar_part(struct ww_xbar *x, struct ww_exchange *exchange);
void ww_xbar_join(struct ww_xbar *x);
/* If there is no room, x->delivered is called when there is. */
static inline bool ww_xbar_can_reply(struct ww_xbar *x, uint32_t slice) {
    if (x->slice[slice].replies < x->reply_limit) return true;
    x->slice[slice].wants = true;
    return false;
}
/* The place of the next reply, which the caller writes. */
static inline struct ww_mem_reply *ww_xbar_next(struct ww_xbar *x) {
    return &x->reply[x->free_reply.first].reply;
}
/* Passes `payload` bytes, there at cycle `arrive`, through the trunk; returns when it begins to. */
static inline uint64_t ww_xbar_pass_trunk(const struct ww_xbar *x, uint64_t *trunk, uint32_t payload,
                                          uint64_t arrive) {
    uint64_t at = arrive << WW_XBAR_TIME_BITS;
    if (at < *trunk) at = *trunk;
    *trunk = at + ww_xbar_trunk_time(x, payload);
    return at >> WW_XBAR_TIME_BITS;
}

/* Sends the reply written there from a slice at L2 cycle `cycle`; ww_xbar_can_reply must hold. */
static inline void ww_xbar_reply(struct ww_xbar *x, uint32_t slice, uint16_t sm, uint32_t payload,
                                 uint64_t cycle) {
    struct ww_xbar_slice *s = &x->slice[slice];
    struct ww_xbar_port *p = &x->port[x->port_of[sm]];
    uint32_t flits = ww_xbar_flits(x, payload), n = x->free_reply.first;
    assert(s->replies < x->reply_limit && n != WW_XBAR_NONE);
    uint64_t start = s->send_free > cycle ? s->send_free : cycle, arrive = start + x->latency;
    s->send_free = start + flits;
    if (p->trunk) arrive = ww_xbar_pass_trunk(x, p->trunk, payload, arrive);
    if (arrive < p->receive_free) arrive = p->receive_free;
    p->receive_free = arrive + flits;
    struct ww_xbar_reply *r = &x->reply[n];
    ww_free_taken(&x->free_reply, r->next);
    r->ps = ww_clock_time(x->clock, arrive + flits - 1);
    r->next = WW_XBAR_NONE;
    r->slice = slice;
    r->sm = sm;
    s->replies++;
    x->under_way++;
    x->counter[WW_C_XBAR_REPLY]++;
    x->counter[WW_C_XBAR_REPLY_FLIT] += flits;
    if (p->head == WW_XBAR_NONE) {
        p->head = p->tail = n;
        x->next_reply[p->index] = r->ps;
        ww_queue_earlier(x->queue, &p->deliver, r->ps);
        return;
    }
    /* A clock that was raised meanwhile must not let a packet pass the one in front of it. */
    if (r->ps < x->reply[p->tail].ps) r->ps = x->reply[p->tail].ps;
    x->reply[p->tail].next = n;
    p->tail = n;
}

#endif
