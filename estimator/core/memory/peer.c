/* peer.c: the network between the SMs of a GPC, and the barriers of clusters. */
#include "peer.h"
#include "../../config/gpc.h"
#include <stdlib.h>

#define TIME_BITS 8
#define BACKLOG 64 /* cycles of data in front of a port, beyond which its SM is refused */

struct packet {
    uint64_t ps, order;
    struct ww_mem_reply reply;
    uint16_t sm;
};

struct ww_peer {
    struct ww_queue *queue;
    const struct ww_clock *clock;
    struct ww_memsys_client client;
    struct ww_event event;
    uint64_t *live;
    uint64_t *port, *trunk;          /* by SM, by GPC: free from, cycles << TIME_BITS */
    uint16_t *gpc;                   /* by SM */
    bool *refused;                   /* by SM */
    struct ww_peer_cluster *cluster; /* by key */
    uint32_t *key, keys;             /* those that no cluster has */
    struct packet *heap;             /* by time, then order */
    size_t count, capacity;
    uint64_t order;
    uint32_t sms, bytes, gpc_bytes, there, back;
    bool anyone_refused;
};

/* ---- packets under way ---- */

static bool before(const struct packet *a, const struct packet *b) {
    return a->ps < b->ps || (a->ps == b->ps && a->order < b->order);
}

static bool grow(struct ww_peer *p) {
    size_t capacity = p->capacity ? 2 * p->capacity : 256;
    struct packet *heap = realloc(p->heap, capacity * sizeof *heap);
    if (!heap) return false;
    p->heap = heap;
    p->capacity = capacity;
    return true;
}

static void deliver(struct ww_peer *p, uint16_t sm, const struct ww_mem_reply *reply, uint64_t time) {
    struct packet new = {ww_clock_time(p->clock, (time >> TIME_BITS) + 1), p->order++, *reply, sm};
    size_t at = p->count++;
    for (; at && before(&new, &p->heap[(at - 1) / 2]); at = (at - 1) / 2) p->heap[at] = p->heap[(at - 1) / 2];
    p->heap[at] = new;
    ++*p->live;
    ww_queue_earlier(p->queue, &p->event, p->heap[0].ps);
}

static struct packet take(struct ww_peer *p) {
    struct packet first = p->heap[0], last = p->heap[--p->count];
    size_t at = 0;
    for (size_t child; (child = 2 * at + 1) < p->count; at = child) {
        if (child + 1 < p->count && before(&p->heap[child + 1], &p->heap[child])) child++;
        if (!before(&p->heap[child], &last)) break;
        p->heap[at] = p->heap[child];
    }
    if (p->count) p->heap[at] = last;
    return first;
}

static bool is_busy(const struct ww_peer *p, uint16_t sm, uint64_t cycle) {
    return p->port[sm] > (cycle + BACKLOG) << TIME_BITS;
}

static void call_refused(struct ww_peer *p, uint64_t now_ps) {
    uint64_t cycle = ww_clock_cycle(p->clock, now_ps);
    p->anyone_refused = false;
    for (uint32_t sm = 0; sm < p->sms; sm++) {
        if (!p->refused[sm]) continue;
        if (is_busy(p, (uint16_t)sm, cycle)) {
            p->anyone_refused = true;
            continue;
        }
        p->refused[sm] = false;
        p->client.unblocked(p->client.context, (uint16_t)sm, now_ps);
    }
}

static void arrive(void *owner, struct ww_event *event, uint64_t now_ps) {
    struct ww_peer *p = owner;
    while (p->count && p->heap[0].ps <= now_ps) {
        struct packet packet = take(p);
        --*p->live;
        p->client.reply(p->client.context, packet.sm, &packet.reply, now_ps);
    }
    if (p->anyone_refused) call_refused(p, now_ps);
    if (p->count) ww_queue_earlier(p->queue, event, p->heap[0].ps);
}

/* ---- data ---- */

/* Data pass the SM's port, and the trunk if they go to another pair; returns when the last of them has. */
static uint64_t pass(struct ww_peer *p, uint32_t sm, uint32_t to, uint32_t bytes, uint64_t time) {
    uint64_t *port = &p->port[sm], *trunk = &p->trunk[p->gpc[sm]];
    if (!bytes) return time;
    time = (time > *port ? time : *port) + ((uint64_t)bytes << TIME_BITS) / p->bytes;
    *port = time;
    if (!p->gpc_bytes || sm / WW_TPC_SMS == to / WW_TPC_SMS) return time;
    uint64_t takes = ((uint64_t)bytes << TIME_BITS) / p->gpc_bytes, start = time > *trunk ? time : *trunk;
    *trunk = start + takes;
    return start > time ? *trunk : time;
}

static bool send_data(struct ww_peer *p, const struct ww_mem_request *q, uint64_t cycle) {
    uint32_t to = (uint32_t)q->address;
    if (q->bytes && is_busy(p, q->sm, cycle)) {
        p->refused[q->sm] = p->anyone_refused = true;
        return false;
    }
    uint64_t time = pass(p, q->sm, to, q->bytes, cycle << TIME_BITS) + ((uint64_t)p->there << TIME_BITS);
    if (!q->strong) time = pass(p, to, q->sm, q->atomic_ops, time) + ((uint64_t)p->back << TIME_BITS);
    deliver(p, q->sm, &(struct ww_mem_reply){.tag = q->tag, .kind = q->kind, .last = 1}, time);
    return true;
}

/* ---- barriers ---- */

static uint32_t all_of(const struct ww_peer_cluster *c) {
    return (1u << c->count) - 1;
}

static void open_if_complete(struct ww_peer *p, const struct ww_mem_request *q, struct ww_peer_cluster *c,
                             uint64_t time) {
    uint32_t all = all_of(c);
    if (!c->arrived || ((c->arrived | c->gone) & all) != all) return;
    for (uint32_t r = 0; r < c->count; r++) {
        uint32_t tag = q->tag | c->member[r].slot;
        if (!(c->arrived >> r & 1)) continue;
        deliver(p, c->member[r].sm, &(struct ww_mem_reply){.address = c->id, .tag = tag, .last = 1}, time);
    }
    c->arrived = 0;
}

static void send_arrival(struct ww_peer *p, const struct ww_mem_request *q, uint64_t cycle) {
    struct ww_peer_cluster *c = &p->cluster[q->address];
    uint64_t time = (cycle + p->there + p->back) << TIME_BITS;
    if (q->kind == WW_MEM_CLUSTER) {
        c->arrived |= 1u << q->bytes;
    } else {
        c->gone |= 1u << q->bytes;
        deliver(p, q->sm, &(struct ww_mem_reply){.tag = q->tag, .last = 1}, cycle << TIME_BITS);
    }
    open_if_complete(p, q, c, time);
    if (c->gone == all_of(c)) p->key[p->keys++] = (uint32_t)q->address;
}

bool ww_peer_send(struct ww_peer *p, const struct ww_mem_request *q, uint64_t now_ps) {
    uint64_t cycle = ww_clock_cycle(p->clock, now_ps);
    while (p->count + WW_PEER_MEMBERS + 1 > p->capacity)
        if (!grow(p)) return false; /* no progress: the launch reports that it is stuck */
    if (q->kind == WW_MEM_PEER) return send_data(p, q, cycle);
    send_arrival(p, q, cycle);
    return true;
}

bool ww_peer_event(struct ww_peer *p, uint32_t key, uint32_t rank, uint32_t from, struct ww_mem_reply reply,
                   bool travels, uint64_t now_ps) {
    const struct ww_peer_cluster *c = &p->cluster[key];
    uint64_t time = ww_clock_cycle(p->clock, now_ps) << TIME_BITS;
    if (c->gone >> rank & 1) return false;
    if (p->count == p->capacity && !grow(p)) return false;
    if (travels) time = (time > p->port[from] ? time : p->port[from]) + ((uint64_t)p->there << TIME_BITS);
    reply.sectors = (uint32_t)c->id;
    reply.tag |= c->member[rank].slot;
    deliver(p, c->member[rank].sm, &reply, time);
    return true;
}

uint32_t ww_peer_begin(struct ww_peer *p, const struct ww_peer_cluster *cluster) {
    uint32_t key = p->key[--p->keys];
    p->cluster[key] = *cluster;
    return key;
}

struct ww_peer *ww_peer_new(const struct ww_gpu_spec *gpu, struct ww_queue *queue, const struct ww_clock *clock,
                            const struct ww_memsys_client *client, uint64_t *live, struct ww_arena *arena) {
    struct ww_peer *p = ww_arena_array(arena, 1, sizeof *p);
    uint32_t sms = gpu->sm_count, keys = sms * gpu->sm_max_ctas;
    if (!p) return NULL;
    *p = (struct ww_peer){.queue = queue,
                          .clock = clock,
                          .client = *client,
                          .live = live,
                          .event = {.fn = arrive, .owner = p},
                          .sms = sms,
                          .bytes = gpu->cluster_bytes,
                          .gpc_bytes = gpu->cluster_gpc_bytes,
                          .there = gpu->cluster_latency / 2,
                          .back = gpu->cluster_latency - gpu->cluster_latency / 2,
                          .port = ww_arena_array(arena, sms, sizeof *p->port),
                          .trunk = ww_arena_array(arena, gpu->sm_gpcs, sizeof *p->trunk),
                          .gpc = ww_arena_array(arena, sms, sizeof *p->gpc),
                          .refused = ww_arena_array(arena, sms, sizeof *p->refused),
                          .cluster = ww_arena_array(arena, keys, sizeof *p->cluster),
                          .key = ww_arena_array(arena, keys, sizeof *p->key)};
    if (!p->port || !p->trunk || !p->gpc || !p->refused || !p->cluster || !p->key) return NULL;
    while (p->keys < keys) p->key[p->keys] = p->keys, p->keys++;
    for (uint32_t i = 0; i < sms; i++) p->gpc[i] = (uint16_t)ww_gpc_of(gpu, i);
    return p;
}

void ww_peer_free(struct ww_peer *p) {
    if (p) free(p->heap);
}
