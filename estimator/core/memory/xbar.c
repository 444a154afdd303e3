/* The crossbar between SMs and L2 slices. */
#include "../../result/result.h"
#include "xbar.h"
#include "exchange.h"

void ww_xbar_call_back(struct ww_xbar *x, uint16_t sm, uint64_t cycle) {
    struct ww_xbar_port *p = &x->port[x->port_of[sm]];
    if (x->exchange) {
        ww_exchange_retry(x->exchange, sm, ww_clock_time(x->clock, cycle));
        return;
    }
    p->refused |= (uint64_t)1 << (sm - p->index * x->sms_per_port);
    ww_queue_earlier(x->queue, &p->retry, ww_clock_time(x->clock, cycle));
}

/* SMs begin to wait for the slice: when it has taken requests must be told in time. */
static void watch(struct ww_xbar *x, uint32_t slice) {
    struct ww_exchange *e = x->exchange;
    uint32_t end = e->watched < e->taken.count ? e->watched : e->taken.count, i = e->next_taken;
    while (i < end && e->taken.item[i].slice != slice) i++;
    if (i < end) e->watched = i;
}

void ww_xbar_watch(struct ww_xbar *x) {
    struct ww_exchange *e = x->exchange;
    uint32_t end = x->refusals ? e->taken.count : 0, i = e->next_taken;
    while (i < end && !x->door[e->taken.item[i].slice].refused) i++;
    e->watched = i < end ? i : WW_TOLD_NONE;
}

static void refuse_at_slice(struct ww_xbar *x, uint16_t sm, uint32_t slice) {
    uint64_t *word = &x->refused[slice * x->words + sm / 64], bit = (uint64_t)1 << (sm % 64);
    if (*word & bit) return;
    *word |= bit;
    x->refusals++;
    if (!x->door[slice].refused++ && x->exchange) watch(x, slice);
}

static inline void take_told(struct ww_xbar *x, const struct ww_taken *t) {
    x->door[t->slice].packets -= t->count;
}

/* The slice's requests are too many; the SMs' side, apart from memory, learns of all that were taken by now. */
static bool is_full(struct ww_xbar *x, uint32_t slice) {
    struct ww_exchange *e = x->exchange;
    while (e && e->next_taken < e->taken.count && e->taken.item[e->next_taken].ps <= e->tick_ps)
        take_told(x, &e->taken.item[e->next_taken++]);
    return x->door[slice].packets >= x->packet_limit;
}

bool ww_xbar_refuses(struct ww_xbar *x, uint16_t sm, uint32_t slice, uint64_t cycle) {
    if (x->send_free[x->port_of[sm]] >= cycle + WW_XBAR_BACKLOG) {
        ww_xbar_call_back(x, sm, ww_xbar_port_free(x, sm, cycle));
        return true;
    }
    if (!is_full(x, slice)) return false;
    refuse_at_slice(x, sm, slice);
    return true;
}

uint64_t ww_xbar_quiet(const struct ww_xbar *x, uint16_t sm, uint64_t now_ps) {
    uint64_t next = x->next_reply[x->port_of[sm]], later = now_ps + (x->latency * x->clock->period_fp >> 16);
    return next < later ? next : later;
}

void ww_xbar_quiet_all(const struct ww_xbar *x, uint64_t now_ps, uint64_t *quiet) {
    uint64_t later = now_ps + (x->latency * x->clock->period_fp >> 16);
    for (uint32_t sm = 0; sm < x->sms; sm++) {
        uint64_t next = x->next_reply[x->port_of[sm]];
        quiet[sm] = next < later ? next : later;
    }
}

void ww_xbar_part(struct ww_xbar *x, struct ww_exchange *exchange) {
    x->exchange = exchange;
    x->sends = exchange->counter;
    for (uint32_t i = 0; i < x->sms; i++) {
        struct ww_xbar_port *p = &x->port[i];
        if (!p->retry.queued) continue;
        ww_queue_cancel(x->queue, &p->retry);
        p->refused = 0;
        ww_exchange_retry(x->exchange, (uint16_t)i, p->retry.time);
    }
}

void ww_xbar_join(struct ww_xbar *x) {
    struct ww_exchange *exchange = x->exchange;
    x->exchange = NULL;
    x->sends = x->counter;
    while (exchange->retry_ps != UINT64_MAX) {
        /* If the SMs have stopped in a window, because of an error, events of later times may have fired. */
        uint64_t now = ww_queue_now(x->queue), ps = exchange->retry_ps > now ? exchange->retry_ps : now;
        uint16_t sm = ww_exchange_take_retry(exchange);
        x->port[sm].refused = 1;
        ww_queue_earlier(x->queue, &x->port[sm].retry, ps);
    }
}

static void retry_event(void *owner, struct ww_event *event, uint64_t now_ps) {
    struct ww_xbar_port *p = owner;
    (void)event;
    uint64_t refused = p->refused;
    p->refused = 0;
    for (; refused; refused &= refused - 1) {
        uint32_t sm = p->index * p->xbar->sms_per_port + (uint32_t)__builtin_ctzll(refused);
        p->xbar->client.unblocked(p->xbar->client.context, (uint16_t)sm, now_ps);
    }
}

/* Takes the next refused SM after next_sm out of the slice's set; there is one. */
static uint32_t pop_refused(struct ww_xbar *x, uint32_t slice) {
    uint64_t *set = &x->refused[slice * x->words];
    uint32_t from = x->door[slice].next_sm, word = from / 64;
    uint64_t bits = set[word] & (UINT64_MAX << (from % 64));
    while (!bits) {
        word = word + 1 < x->words ? word + 1 : 0;
        bits = set[word];
    }
    uint32_t sm = word * 64 + (uint32_t)__builtin_ctzll(bits);
    set[word] &= ~((uint64_t)1 << (sm % 64));
    x->door[slice].next_sm = sm + 1 < x->words * 64 ? sm + 1 : 0;
    x->door[slice].refused--;
    x->refusals--;
    return sm;
}

void ww_xbar_call_refused(struct ww_xbar *x, uint32_t slice, uint64_t now_ps) {
    struct ww_xbar_door *s = &x->door[slice];
    if (!s->refused) return;
    uint32_t room = x->packet_limit - s->packets;
    /* An empty slice makes no later call, so it calls all refused SMs now. */
    uint32_t count = s->packets == 0 || room > s->refused ? s->refused : room;
    while (count-- && s->refused) {
        uint32_t sm = pop_refused(x, slice);
        x->client.unblocked(x->client.context, (uint16_t)sm, now_ps);
    }
}

void ww_xbar_tell_watched(struct ww_xbar *x) {
    struct ww_exchange *e = x->exchange;
    const struct ww_taken *t = &e->taken.item[e->watched];
    while (e->next_taken <= e->watched) take_told(x, &e->taken.item[e->next_taken++]);
    ww_xbar_call_refused(x, t->slice, t->ps);
    ww_xbar_watch(x);
}

void ww_xbar_told_all(struct ww_xbar *x) {
    struct ww_exchange *e = x->exchange;
    while (e->next_taken < e->taken.count) take_told(x, &e->taken.item[e->next_taken++]);
}

/* The reply is at the SM, or the SMs' side is told so. */
static inline void give(struct ww_xbar *x, const struct ww_xbar_reply *r, uint64_t now_ps) {
    if (!x->exchange) {
        x->client.reply(x->client.context, r->sm, &r->reply, now_ps);
        return;
    }
    struct ww_told *t = ww_exchange_tell(x->exchange);
    if (!t) return;
    t->ps = now_ps;
    t->reply = r->reply;
    t->sm = r->sm;
}

static __attribute__((noinline)) void deliver_any(struct ww_xbar_port *p, struct ww_event *event,
                                                  uint64_t now_ps) {
    struct ww_xbar *x = p->xbar;
    while (p->head != WW_XBAR_NONE && x->reply[p->head].ps <= now_ps) {
        uint32_t n = p->head;
        struct ww_xbar_reply *r = &x->reply[n];
        p->head = r->next;
        struct ww_xbar_slice *s = &x->slice[r->slice];
        s->replies--;
        x->under_way--;
        if (s->wants) s->wants = x->delivered(x->delivered_context, r->slice, now_ps);
        give(x, r, now_ps);
        r->next = ww_free_back(&x->free_reply, n);
    }
    uint64_t next = p->head != WW_XBAR_NONE ? x->reply[p->head].ps : UINT64_MAX;
    x->next_reply[p->index] = next;
    if (next != UINT64_MAX) ww_queue_earlier(x->queue, event, next);
}

/* Delivers what is there. As a rule that is one reply, and the SMs' side is told: for that nothing is called.
 */
static void deliver_event(void *owner, struct ww_event *event, uint64_t now_ps) {
    struct ww_xbar_port *p = owner;
    struct ww_xbar *x = p->xbar;
    struct ww_exchange *e = x->exchange;
    const uint32_t n = p->head;
    assert(n != WW_XBAR_NONE && x->reply[n].ps <= now_ps);
    struct ww_xbar_reply *r = &x->reply[n];
    const uint32_t next = r->next;
    struct ww_xbar_slice *s = &x->slice[r->slice];
    uint64_t next_ps = next != WW_XBAR_NONE ? x->reply[next].ps : UINT64_MAX;
    if (!e || s->wants || next_ps <= now_ps || e->tell.count == e->tell.capacity) {
        deliver_any(p, event, now_ps);
        return;
    }
    struct ww_told *t = &e->tell.item[e->tell.count++];
    t->ps = now_ps;
    t->reply = r->reply;
    t->sm = r->sm;
    s->replies--;
    x->under_way--;
    r->next = ww_free_back(&x->free_reply, n);
    p->head = next;
    x->next_reply[p->index] = next_ps;
    if (next == WW_XBAR_NONE) return;
    if (x->reply[next].next != WW_XBAR_NONE) __builtin_prefetch(&x->reply[x->reply[next].next], 1);
    ww_queue_earlier(x->queue, event, next_ps);
}

static bool make_ports(struct ww_xbar *x, const struct ww_gpu_spec *gpu, struct ww_arena *arena) {
    uint32_t ports = (gpu->sm_count + gpu->xbar_sms_per_port - 1) / gpu->xbar_sms_per_port;
    x->port = ww_arena_lines(arena, ports, sizeof *x->port);
    x->next_reply = ww_arena_array(arena, ports, sizeof *x->next_reply);
    x->port_of = ww_arena_array(arena, gpu->sm_count, sizeof *x->port_of);
    x->send_free = ww_arena_lines(arena, ports, sizeof *x->send_free);
    if (!x->port || !x->next_reply || !x->port_of || !x->send_free) return false;
    for (uint32_t i = 0; i < ports; i++) x->next_reply[i] = UINT64_MAX;
    for (uint32_t i = 0; i < ports; i++)
        x->port[i] = (struct ww_xbar_port){.retry = {.fn = retry_event, .owner = &x->port[i]},
                                           .deliver = {.fn = deliver_event, .owner = &x->port[i]},
                                           .xbar = x,
                                           .head = WW_XBAR_NONE,
                                           .tail = WW_XBAR_NONE,
                                           .index = i};
    for (uint32_t i = 0; i < gpu->sm_count; i++) x->port_of[i] = (uint16_t)(i / gpu->xbar_sms_per_port);
    if (!gpu->xbar_trunks || !gpu->xbar_trunk_bytes) return true;
    uint64_t *trunk = ww_arena_array(arena, gpu->xbar_trunks, sizeof *trunk);
    if (!trunk) return false;
    for (uint32_t i = 0; i < ports; i++) x->port[i].trunk = &trunk[i * gpu->xbar_trunks / ports];
    for (uint32_t i = 0; i < sizeof x->trunk_time / sizeof x->trunk_time[0]; i++)
        x->trunk_time[i] = (i << WW_XBAR_TIME_BITS) / gpu->xbar_trunk_bytes;
    return true;
}

bool ww_xbar_init(struct ww_xbar *x, const struct ww_gpu_spec *gpu, struct ww_queue *queue,
                  const struct ww_clock *clock, const struct ww_memsys_client *client, uint64_t *counter,
                  struct ww_arena *arena) {
    *x = (struct ww_xbar){.queue = queue,
                          .clock = clock,
                          .client = *client,
                          .counter = counter,
                          .sends = counter,
                          .sms = gpu->sm_count,
                          .sms_per_port = gpu->xbar_sms_per_port,
                          .words = (gpu->sm_count + 63) / 64,
                          .flit = gpu->xbar_flit,
                          .header = gpu->xbar_header,
                          .latency = gpu->xbar_latency};
    /* One packet for each pipeline stage keeps a port busy at full rate; the queue comes on top. */
    x->packet_limit = gpu->xbar_request_queue + gpu->xbar_latency + gpu->l2_latency;
    x->reply_limit = gpu->xbar_reply_queue + gpu->xbar_latency;
    for (uint32_t i = 0; i < sizeof x->flits; i++) {
        uint32_t flits = (i + x->header + x->flit - 1) / x->flit;
        x->flits[i] = (uint8_t)(flits ? flits : 1);
    }
    uint32_t replies = x->reply_limit * gpu->l2_slices;
    x->door = ww_arena_lines(arena, gpu->l2_slices, sizeof *x->door);
    x->slice = ww_arena_lines(arena, gpu->l2_slices, sizeof *x->slice);
    x->refused = ww_arena_array(arena, (size_t)gpu->l2_slices * x->words, sizeof *x->refused);
    x->reply = ww_arena_array(arena, replies, sizeof *x->reply);
    if (!x->door || !x->slice || !x->refused || !x->reply || !make_ports(x, gpu, arena)) return false;
    x->free_reply = ww_free_list(replies);
    return true;
}
