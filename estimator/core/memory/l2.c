/* The L2 slices. */
#include "../../result/result.h"
#include "floorplan.h"
#include "l2_part.h"
#include "l2_prefetch.h"
#include <assert.h>

/* Of the one function that serves a slice's event. */
#define INLINE static inline __attribute__((always_inline))

static uint64_t max64(uint64_t a, uint64_t b) {
    return a > b ? a : b;
}

/* Whole cycles of a transfer that takes `time`, and what is left of those before. */
static uint32_t port_cycles(uint32_t *rest, uint32_t time) {
    time += *rest;
    *rest = time & ((1u << WW_L2_TIME_BITS) - 1);
    return time >> WW_L2_TIME_BITS;
}

/* The first edge at or after a time. */
static uint64_t edge_at(const struct ww_l2 *l2, uint64_t ps) {
    return ww_clock_time(l2->clock, ww_clock_cycle(l2->clock, ps));
}

static void wake(struct ww_l2_slice *s, uint64_t ps) {
    ww_queue_earlier(s->l2->queue, &s->event, edge_at(s->l2, ps));
}

/* Something other than a fill that the blocked head waited for is available. */
static bool head_may_go(const struct ww_l2_slice *s, const struct ww_l2_input *in) {
    const struct ww_l2 *l2 = s->l2;
    return (in->waits & WW_L2_WAIT_REPLY && ww_xbar_can_reply(l2->xbar, s->index)) ||
           (in->waits & WW_L2_WAIT_READ && ww_dram_has_room(s->room, WW_DRAM_READ)) ||
           (in->waits & WW_L2_WAIT_WRITE && ww_dram_has_room(s->room, WW_DRAM_WRITE));
}

/* The head is at the tags at cycle `ready`. */
static inline void wake_for(struct ww_l2_slice *s, uint64_t ready) {
    struct ww_l2 *l2 = s->l2;
    ww_queue_earlier_since(l2->queue, &s->event, ww_clock_time(l2->clock, max64(ready, s->free)), s->fired);
}

/* Makes room in front of requests that came a longer way and are at the tags later than `ready`; what the slice
 * has begun to serve stays first. Returns the place in the order. */
static __attribute__((noinline)) uint32_t pass_later(struct ww_l2_input *in, uint64_t ready) {
    const uint32_t least = in->begun || in->blocked, mask = in->packet_mask;
    struct ww_l2_packet *packet = in->packet;
    uint32_t at = in->packet_count;
    for (; at > least; at--) {
        const struct ww_l2_packet *before = &packet[(in->packet_head + at - 1) & mask];
        if (before->ready <= ready) break;
        packet[(in->packet_head + at) & mask] = *before;
    }
    return at;
}

/* Puts a request into an input of the slice; it is at the tags at cycle `ready`. */
INLINE void push(struct ww_l2_slice *s, struct ww_l2_input *in, const struct ww_mem_request *request,
                 uint64_t local, uint8_t granules, uint64_t ready) {
    struct ww_l2 *l2 = s->l2;
    assert(in->packet_count <= in->packet_mask);
    uint32_t at = in->packet_count, end = in->packet_head + at, mask = in->packet_mask;
    if (at && l2->latency_of && in->packet[(end - 1) & mask].ready > ready) at = pass_later(in, ready);
    struct ww_l2_packet *p = &in->packet[(in->packet_head + at) & mask];
    ww_l2_write_packet(p, request, local, granules, ready);
    p->set = ww_l2_tags_set(&s->tags, local >> l2->line_shift);
    __builtin_prefetch((char *)(&in->packet[(end + 1) & mask] + 1) - 1, 1);
    ++*l2->live;
    in->packet_count++;
    if (at) return;
    in->found = false;
    wake_for(s, ready);
}

static void push_far(struct ww_l2_slice *s, const struct ww_mem_request *request, uint64_t local,
                     uint8_t granules, uint64_t arrived) {
    struct ww_l2 *l2 = s->l2;
    uint64_t from = ww_l2_cross(l2, request->sm >= l2->side_sms, ww_bits8(granules), arrived);
    push(s, &s->in[WW_L2_FAR], request, local, granules, from + l2->far_latency + l2->latency);
    ww_l2_count(s, WW_C_L2_FAR, ww_bits8(granules) >> l2->sector_shift);
}

void ww_l2_push(struct ww_l2 *l2, uint32_t slice, const struct ww_mem_request *request, uint64_t local,
                uint8_t granules, uint64_t arrived) {
    struct ww_l2_slice *s = &l2->slice[slice];
    if (ww_l2_is_far(l2, request, slice)) {
        push_far(s, request, local, granules, arrived);
        return;
    }
    if (l2->coalesce > 1 && ww_l2_coalesce(s, request, local, granules)) return;
    push(s, &s->in[WW_L2_NEAR], request, local, granules, arrived + ww_l2_latency(l2, slice, request->sm));
    if (l2->coalesce > 1) ww_l2_coalesce_last(s);
}

void ww_l2_push_walk(struct ww_l2 *l2, uint32_t slice, const struct ww_mem_request *request, uint64_t local,
                     uint64_t cycle) {
    if (l2->copy_bit) local &= WW_L2_COPY - 1;
    push(&l2->slice[slice], &l2->slice[slice].in[WW_L2_NEAR], request, local, (uint8_t)request->sectors, cycle);
}

void ww_l2_add_fill(struct ww_l2_slice *s, uint32_t side, struct ww_l2_fill fill) {
    struct ww_l2_fills *f = &s->fills[side];
    if (f->count) /* a clock that changed meanwhile must not reorder fills */
        fill.ready = max64(fill.ready, f->fill[(f->head + f->count - 1) & f->mask].ready);
    f->fill[(f->head + f->count) & f->mask] = fill;
    __builtin_prefetch(&s->miss[fill.miss], 1);
    if (f->count++ == 0)
        ww_queue_earlier(s->l2->queue, &s->event, ww_clock_time(s->l2->clock, max64(fill.ready, s->fill_free)));
}

void ww_l2_filled(void *context, const struct ww_dram_request *request, uint64_t ps) {
    struct ww_l2 *l2 = context;
    ww_l2_add_fill(&l2->slice[request->slice], WW_L2_NEAR,
                   (struct ww_l2_fill){.ready = ww_clock_cycle(l2->clock, ps),
                                       .miss = request->miss,
                                       .mask = request->mask,
                                       .level = WW_LEVEL_DRAM});
}

void ww_l2_written(void *context, const struct ww_dram_request *request) {
    struct ww_l2 *l2 = context;
    (void)request;
    --*l2->live;
}

/* The one of `count` that follows i, without a branch. */
static uint32_t next_in_turn(uint32_t i, uint32_t count) {
    return (i + 1) & (0u - (i + 1 < count));
}

void ww_l2_room(void *context, uint32_t channel, uint64_t ps) {
    struct ww_l2 *l2 = context;
    const uint32_t count = l2->slices_per_channel, turn = l2->turn[channel];
    for (uint32_t n = 0, i = turn; n < count; n++) {
        struct ww_l2_slice *s = &l2->slice[channel * count + i];
        i = next_in_turn(i, count);
        for (uint32_t side = 0; side < l2->sides; side++) {
            const struct ww_l2_input *in = &s->in[side];
            if (!in->blocked || !(in->waits & (WW_L2_WAIT_READ | WW_L2_WAIT_WRITE))) continue;
            if (head_may_go(s, in) && !ww_event_is_by(&s->event, ps)) wake(s, ps);
        }
    }
    l2->turn[channel] = next_in_turn(turn, count);
}

bool ww_l2_delivered(void *context, uint32_t slice, uint64_t now_ps) {
    struct ww_l2 *l2 = context;
    struct ww_l2_slice *s = &l2->slice[slice];
    bool waits = s->fill_waits[WW_L2_NEAR] || s->fill_waits[WW_L2_FAR];
    for (uint32_t side = 0; side < l2->sides; side++)
        waits |= s->in[side].blocked && s->in[side].waits & WW_L2_WAIT_REPLY;
    if (waits) wake(s, now_ps);
    return waits;
}

/* Gives the waiters of a fill their sectors; false if there is no room for a reply, to be tried again. */
static bool feed_waiters(struct ww_l2_slice *s, const struct ww_l2_fill *f, uint64_t cycle) {
    struct ww_l2 *l2 = s->l2;
    struct ww_l2_miss *miss = &s->miss[f->miss];
    uint32_t previous = WW_NONE;
    for (uint32_t n = miss->first, next; n != WW_NONE; n = next) {
        struct ww_l2_waiter *more = n < s->txns ? NULL : &s->waiter[n - s->txns];
        uint32_t txn = more ? more->txn : n;
        struct ww_l2_wait_for *w = more ? &more->wait : &s->txn[n].wait;
        uint8_t got = w->mask & f->mask, rest = w->mask & (uint8_t)~f->mask;
        next = w->next;
        if (!got) {
            previous = n;
            continue;
        }
        if (s->txn[txn].needs_reply == WW_L2_REPLY_SM && !ww_xbar_can_reply(l2->xbar, s->index)) return false;
        if (s->txn[txn].kind == WW_MEM_ATOMIC)
            ww_l2_tags_soil(&s->tags, miss->line / s->tags.stride, &s->tags.line[miss->line], got);
        w->mask = rest;
        /* It may be given back here, if it is the txn's own. */
        ww_l2_txn_got(s, txn, (uint8_t)(l2->granules_of[got] >> w->shift << w->base), f->level, cycle);
        if (rest) {
            previous = n;
            continue;
        }
        if (previous == WW_NONE)
            miss->first = next;
        else
            ww_l2_wait(s, previous)->next = next;
        if (miss->last == n) miss->last = previous;
        s->waits++;
        if (more) w->next = ww_free_back(&s->free_waiter, n - s->txns);
    }
    return true;
}

/* The same if one txn waits, once, for nothing but what comes with the fill, as nearly all do. */
INLINE bool feed_one(struct ww_l2_slice *s, const struct ww_l2_fill *f, uint64_t cycle) {
    struct ww_l2 *l2 = s->l2;
    struct ww_l2_miss *miss = &s->miss[f->miss];
    uint32_t n = miss->first;
    if (n != miss->last || n >= s->txns || s->txn[n].wait.mask & ~f->mask) return feed_waiters(s, f, cycle);
    struct ww_l2_txn *t = &s->txn[n];
    uint8_t got = t->wait.mask, granules = (uint8_t)(l2->granules_of[got] >> t->wait.shift << t->wait.base);
    if (t->needs_reply == WW_L2_REPLY_SM && !ww_xbar_can_reply(l2->xbar, s->index)) return false;
    if (t->kind == WW_MEM_ATOMIC)
        ww_l2_tags_soil(&s->tags, miss->line / s->tags.stride, &s->tags.line[miss->line], got);
    t->wait.mask = 0;
    miss->first = miss->last = WW_NONE;
    s->waits++;
    if (ww_l2_is_all(t, granules, f->level))
        ww_l2_answer_read(s, n, f->level, cycle);
    else
        ww_l2_txn_got(s, n, granules, f->level, cycle);
    return true;
}

/* One fill; false if it must wait for room for its replies. */
INLINE bool serve_fill(struct ww_l2_slice *s, uint32_t side, struct ww_l2_fill *f, uint64_t cycle) {
    struct ww_l2_miss *miss = &s->miss[f->miss];
    struct ww_l2_line *line = &s->tags.line[miss->line];
    if (!f->begun) {
        f->begun = true;
        line->valid |= f->mask; /* still pending, too, which protects the line while replies wait */
        /* A record that ends is written anew; the other partition's copies may lose sectors before. */
        if (f->mask != line->pending || s->l2->sides > 1)
            for (uint8_t m = f->mask; m; m &= (uint8_t)(m - 1)) miss->joined[__builtin_ctz(m)] = 0;
    }
    if (!feed_one(s, f, cycle)) return false;
    uint32_t sectors = ww_bits8(f->mask);
    line->pending &= (uint8_t)~f->mask;
    if (!line->pending) {
        miss->next = ww_free_back(&s->free_miss, f->miss);
    }
    s->mshrs_used -= sectors;
    if (side == WW_L2_FAR) s->copies -= sectors;
    s->fill_free = cycle + port_cycles(&s->fill_rest, s->l2->time_of[0][sectors]);
    --*s->l2->live;
    return true;
}

/* The record of the miss that a fill of the slice is for, the i-th from now on. */
static inline const struct ww_l2_miss *miss_of(const struct ww_l2_slice *s, const struct ww_l2_fills *fills,
                                               uint32_t i) {
    return &s->miss[fills->fill[(fills->head + i) & fills->mask].miss];
}

/* The host loads what the next fill will use; its miss record was when it came. */
WW_AHEAD prefetch_fills(const struct ww_l2_slice *s, const struct ww_l2_fills *fills) {
    if (fills->count < 2) return;
    __builtin_prefetch(miss_of(s, fills, 2), 1); /* any record, if there is no such fill */
    const struct ww_l2_miss *miss = miss_of(s, fills, 1);
    __builtin_prefetch(&s->tags.line[miss->line], 1);
    if (miss->first != WW_NONE) __builtin_prefetch(ww_l2_wait(s, miss->first), 1);
}

/* The request that will be served next is looked up, and the host loads the line, or the one that it would
 * replace. A head that waits has been; then it is about the request behind it, which is probably a miss. */
static void look_ahead(struct ww_l2_slice *s, struct ww_l2_input *in) {
    struct ww_l2_tags *tags = &s->tags;
    if (in->packet_count <= in->blocked) return;
    const struct ww_l2_packet *p = &in->packet[(in->packet_head + in->blocked) & in->packet_mask];
    uint32_t index = WW_NONE;
    if (!in->blocked && !in->begun && !in->found && s->l2->parts == 1) {
        in->part = ww_l2_first_part(s, p, p->granules);
        in->installs = tags->installs;
        in->found = true;
        index = in->part.index;
    }
    if (index == WW_NONE) index = p->set * tags->stride + ww_l2_tags_oldest(tags, p->set);
    __builtin_prefetch(&tags->line[index], 1);
}

/* Serves the fills of one side whose time has come; true if there was one. */
INLINE bool serve_fills(struct ww_l2_slice *s, uint32_t side, uint64_t cycle) {
    struct ww_l2_fills *fills = &s->fills[side];
    bool served = false;
    while (fills->count) {
        struct ww_l2_fill *f = &fills->fill[fills->head];
        if (f->ready > cycle || s->fill_free > cycle) break;
        s->fill_waits[side] = !serve_fill(s, side, f, cycle);
        if (s->fill_waits[side]) break;
        fills->head = (fills->head + 1) & fills->mask;
        fills->count--;
        served = true;
    }
    return served;
}

/* Serves the head request of an input if its time has come; true if it was taken from the queue. */
INLINE bool serve_head(struct ww_l2_slice *s, struct ww_l2_input *in, uint64_t cycle) {
    struct ww_l2 *l2 = s->l2;
    struct ww_l2_packet *p = &in->packet[in->packet_head];
    if (!in->packet_count || p->ready > cycle || s->free > cycle) return false;
    if (!in->begun && !in->blocked) {
        in->left = p->granules;
        in->hits = 0;
    }
    in->retry = false;
    in->waits = 0;
    if (!ww_l2_serve(s, in, p, cycle)) {
        if (!in->blocked) in->blocked_since = cycle;
        in->blocked = true;
        return false;
    }
    l2->counter[WW_C_L2_STALL_CYCLES] += (cycle - in->blocked_since) & (0u - (uint64_t)in->blocked);
    bool whole = !in->begun; /* or it has waited, or waits, for sectors */
    in->blocked = in->begun = in->found = false;
    s->free = max64(s->free, cycle + port_cycles(&s->rest, l2->time_of[p->kind == WW_MEM_WRITE][in->hits]));
    --*l2->live;
    if (l2->coalesce > 1 && in == &s->in[WW_L2_NEAR] && ww_l2_reply_joined(s, whole, cycle)) return true;
    in->packet_head = (in->packet_head + 1) & in->packet_mask;
    in->packet_count--;
    if (p->needs_reply != WW_L2_REPLY_PEER && p->sm != WW_L2_WALKER) ww_xbar_taken(l2->xbar, s->index);
    return true;
}

/* Serves heads whose turn comes within WW_L2_HEADS_AHEAD cycles, each at its own cycle; true: some were taken.
 */
INLINE bool serve_heads(struct ww_l2_slice *s, struct ww_l2_input *in, uint64_t cycle) {
    bool taken = false;
    for (uint64_t end = cycle + WW_L2_HEADS_AHEAD;;) {
        uint64_t turn = cycle;
        if (in->packet_count && !in->blocked)
            turn = max64(max64(in->packet[in->packet_head].ready, s->free), cycle);
        if (turn >= end || !serve_head(s, in, turn)) return taken;
        taken = true;
    }
}

/* Serves an input; *next: when to look at it again, if that is earlier. True: some requests were taken. */
INLINE bool serve_input(struct ww_l2_slice *s, struct ww_l2_input *in, uint64_t cycle, bool filled,
                        uint64_t *next) {
    bool taken = false;
    /* A blocked head is tried again after a fill, or when what it lacked is there. */
    if (in->blocked && (in->waits ? head_may_go(s, in) : filled)) in->retry = true;
    if (!in->blocked || in->retry) taken = serve_heads(s, in, cycle);
    if (!in->packet_count || (in->blocked && !in->retry)) return taken;
    uint64_t turn = max64(in->packet[in->packet_head].ready, s->free);
    if (turn < *next) *next = turn;
    return taken;
}

INLINE void next_fill(const struct ww_l2_slice *s, uint32_t side, uint64_t *next) {
    const struct ww_l2_fills *f = &s->fills[side];
    if (!f->count || f->fill[f->head].begun) return;
    uint64_t fill = max64(f->fill[f->head].ready, s->fill_free);
    if (fill < *next) *next = fill;
}

/* near_only: a constant, whether nothing comes from the other partition or from elsewhere. */
INLINE void pass(struct ww_l2_slice *s, struct ww_event *event, uint64_t now_ps, bool near_only) {
    struct ww_l2 *l2 = s->l2;
    uint64_t cycle = ww_clock_noted_cycle(&l2->fired, l2->clock, now_ps), next = UINT64_MAX;
    bool filled = serve_fills(s, WW_L2_NEAR, cycle), taken = false;
    if (!near_only && l2->elsewhere) {
        filled |= serve_fills(s, WW_L2_FAR, cycle);
        next_fill(s, WW_L2_FAR, &next);
    }
    if (!near_only && l2->sides > 1) {
        filled |= serve_fills(s, WW_L2_FAR, cycle);
        taken = serve_input(s, &s->in[WW_L2_FAR], cycle, filled, &next);
        next_fill(s, WW_L2_FAR, &next);
    }
    taken |= serve_input(s, &s->in[WW_L2_NEAR], cycle, filled, &next);
    next_fill(s, WW_L2_NEAR, &next);
    if (filled) prefetch_fills(s, &s->fills[WW_L2_NEAR]);
    s->fired = ww_queue_place(l2->queue);
    if (next != UINT64_MAX)
        ww_queue_earlier(l2->queue, event, ww_clock_time(l2->clock, max64(next, cycle + 1)));
    if (!taken) return;
    look_ahead(s, &s->in[WW_L2_NEAR]);
    ww_xbar_wake(l2->xbar, s->index, now_ps);
}

static void slice_event(void *owner, struct ww_event *event, uint64_t now_ps) {
    pass(owner, event, now_ps, false);
}

static void near_slice_event(void *owner, struct ww_event *event, uint64_t now_ps) {
    pass(owner, event, now_ps, true);
}

/* ---- life ------------------------------------------------------------------------------------ */

static uint32_t power_of_two(uint32_t n) {
    uint32_t p = 1;
    while (p < n) p <<= 1;
    return p;
}

static void set_blocks(struct ww_l2 *l2, const struct ww_gpu_spec *gpu) {
    uint32_t bytes = gpu->l2_fetch_bytes < gpu->l2_line ? gpu->l2_fetch_bytes : gpu->l2_line;
    uint32_t block = bytes > gpu->l2_sector ? bytes / gpu->l2_sector : 1, ones = (1u << block) - 1;
    l2->blocks = block > 1;
    for (uint32_t m = 0; m < 256; m++)
        for (uint32_t first = 0; first < 8; first += block)
            if (m >> first & ones) l2->fetch_of[m] |= (uint8_t)(ones << first);
}

/* L2 cycles of a DRAM read of a closed row when nothing else is under way. */
static uint32_t idle_latency(const struct ww_gpu_spec *g) {
    double cycles = g->dram_latency + g->dram_trcd + g->dram_tcl + (double)g->dram_burst / g->dram_data_rate;
    return (uint32_t)(cycles * g->clock_l2_mhz / g->clock_dram_mhz + 0.5);
}

static void set_sizes(struct ww_l2 *l2, const struct ww_gpu_spec *gpu) {
    while (gpu->l2_line >> (l2->line_shift + 1)) l2->line_shift++;
    l2->line_granules = gpu->l2_line / 32;
    l2->sector_granules = gpu->l2_sector / 32;
    while (l2->sector_granules >> (l2->sector_shift + 1)) l2->sector_shift++;
    l2->l1_sector_granules = gpu->l1_sector / 32;
    uint32_t line = ww_gpu_request_line(gpu);
    l2->parts = line > gpu->l2_line ? line / gpu->l2_line : 1;
    l2->slices = gpu->l2_slices;
    l2->slices_per_channel = gpu->l2_slices / gpu->dram_channels;
    l2->sides = gpu->l2_partitions;
    if (l2->sides > 1) {
        l2->side_slices = gpu->l2_slices / 2;
        l2->side_sms = (gpu->sm_count + 1) / 2;
        l2->far_latency = gpu->l2_far_latency;
        l2->far_bytes = gpu->l2_far_bytes;
        l2->strong_home = gpu->l2_strong_home;
        l2->copy_bit = WW_L2_COPY >> l2->line_shift;
    }
    l2->mshrs = gpu->l2_mshrs;
    l2->merge = gpu->l2_mshr_merge < UINT16_MAX ? gpu->l2_mshr_merge : UINT16_MAX;
    l2->latency = gpu->l2_latency;
    l2->coalesce = gpu->l2_coalesce;
    l2->atomic_cycles = gpu->l2_atomic_cycles;
    l2->bursts_per_sector = ww_dram_bursts_per_sector(gpu);
    l2->write_fetches = gpu->l2_write_miss == WW_L2_WRITE_FETCH;
    l2->dirty_ways = gpu->l2_dirty_ways;
    if (gpu->l2_partitions == 1) l2->elsewhere = (uint32_t)(gpu->l2_shared_elsewhere * 65536 + 0.5);
    l2->elsewhere_latency = idle_latency(gpu);
    if (gpu->l2_prefetch == WW_L2_PREFETCH_SEQUENTIAL)
        l2->prefetch = (struct ww_l2_prefetch){.ops = &ww_l2_prefetch_queued,
                                               .window = (uint64_t)gpu->l2_prefetch_kb << 10,
                                               .ahead = gpu->l2_prefetch_ahead,
                                               .queue = gpu->l2_prefetch_queue,
                                               .credit = WW_L2_CREDIT_MAX};
    for (uint32_t n = 0; n <= 8; n++) {
        uint32_t bytes = n * gpu->l2_sector, one = 1u << WW_L2_TIME_BITS;
        uint32_t time = (bytes * one + gpu->l2_bytes_per_cycle - 1) / gpu->l2_bytes_per_cycle;
        l2->time_of[0][n] = time > one ? time : one;
        uint32_t write = (uint32_t)(n * gpu->l2_write_cycles * one + 0.5);
        l2->time_of[1][n] = gpu->l2_write_cycles <= 0 ? l2->time_of[0][n] : write > one ? write : one;
    }
    for (uint32_t m = 0; m < 256; m++)
        for (uint32_t g = 0; g < 8; g++) {
            uint32_t sector = g / l2->sector_granules;
            if (m >> g & 1) l2->sectors_of[m] |= (uint8_t)(1u << sector);
            if (m >> sector & 1) l2->granules_of[m] |= (uint8_t)(1u << g);
        }
    set_blocks(l2, gpu);
    bool ordered = gpu->l2_replace == WW_L2_LRU || gpu->l2_replace == WW_L2_FIFO;
    l2->plain = ordered && l2->parts == 1 && l2->coalesce < 2 && l2->sides == 1 && !l2->elsewhere &&
                !l2->prefetch.window;
}

static bool slice_init(struct ww_l2 *l2, uint32_t index, const struct ww_gpu_spec *gpu, struct ww_arena *arena,
                       uint64_t seed) {
    struct ww_l2_slice *s = &l2->slice[index];
    uint64_t joined = (uint64_t)l2->mshrs * l2->merge;
    uint32_t waiters = joined < WW_L2_WAITERS_MAX ? (uint32_t)joined : WW_L2_WAITERS_MAX;
    uint32_t packets = power_of_two(l2->xbar->packet_limit + l2->walks), fills = power_of_two(l2->mshrs);
    bool near_only = l2->sides == 1 && !l2->elsewhere;
    s->event = (struct ww_event){.fn = near_only ? near_slice_event : slice_event, .owner = s};
    s->l2 = l2;
    s->index = index;
    s->channel = index / l2->slices_per_channel;
    s->room = ww_dram_room(l2->dram, s->channel);
    for (uint32_t side = 0; side < l2->sides; side++) {
        struct ww_l2_input *in = &s->in[side];
        struct ww_l2_fills *f = &s->fills[side];
        /* Counterparts ask at most for what they have MSHRs, and SMs for what the crossbar admits. */
        uint32_t n = side == WW_L2_NEAR ? packets : power_of_two(l2->mshrs + l2->xbar->packet_limit);
        in->head_txn = WW_NONE;
        in->packet_mask = n - 1;
        f->mask = fills - 1;
        in->packet = ww_arena_array(arena, n, sizeof *in->packet);
        f->fill = ww_arena_array(arena, fills, sizeof *f->fill);
        if (!in->packet || !f->fill) return false;
    }
    if (l2->elsewhere) {
        s->fills[WW_L2_FAR].mask = fills - 1;
        s->fills[WW_L2_FAR].fill = ww_arena_array(arena, fills, sizeof *s->fills[WW_L2_FAR].fill);
        if (!s->fills[WW_L2_FAR].fill) return false;
    }
    s->miss = ww_arena_array(arena, l2->mshrs, sizeof *s->miss);
    s->waiter = ww_arena_array(arena, waiters, sizeof *s->waiter);
    /* Every txn but the heads' waits somewhere. */
    uint32_t txns = waiters + l2->sides;
    s->txn = ww_arena_array(arena, txns, sizeof *s->txn);
    if (!s->miss || !s->waiter || !s->txn) return false;
    s->free_miss = ww_free_list(l2->mshrs);
    s->free_waiter = ww_free_list(waiters);
    s->waits = waiters;
    s->free_txn = ww_free_list(txns);
    s->txns = txns;
    if (l2->coalesce > 1 && !ww_l2_coalescer_init(s, arena)) return false;
    return ww_l2_tags_init(&s->tags, gpu, arena, index, seed);
}

bool ww_l2_init(struct ww_l2 *l2, const struct ww_gpu_spec *gpu, struct ww_arena *arena, uint64_t seed) {
    set_sizes(l2, gpu);
    l2->slice = ww_arena_lines(arena, l2->slices, sizeof *l2->slice);
    l2->turn = ww_arena_array(arena, gpu->dram_channels, sizeof *l2->turn);
    if (!l2->slice || !l2->turn || !ww_floorplan_latencies(gpu, arena, &l2->latency_of)) return false;
    l2->least_latency = l2->latency;
    for (size_t i = 0; l2->latency_of && i < (size_t)gpu->sm_count * l2->slices; i++)
        if (l2->latency_of[i] < l2->least_latency) l2->least_latency = l2->latency_of[i];
    for (uint32_t i = 0; i < l2->slices; i++)
        if (!slice_init(l2, i, gpu, arena, seed)) return false;
    return true;
}
