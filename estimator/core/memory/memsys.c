/* Everything behind the L1: crossbar, L2 slices, DRAM channels. */
#include "../../result/result.h"
#include "memsys.h"
#include "exchange.h"
#include "fast.h"
#include "fast_read.h"
#include "l2.h"
#include "peer.h"
#include "tlb.h"
#include "warm.h"
#include <assert.h>
#include <stdlib.h>
#include <string.h>

struct ww_memsys {
    struct ww_arena arena;
    struct ww_clock clock; /* crossbar and L2 */
    struct ww_addrmap map;
    struct ww_xbar xbar;
    struct ww_l2 l2;
    struct ww_tlb *tlb; /* NULL: addresses need no translation */
    struct ww_dram *dram;
    struct ww_fast *fast; /* NULL: full replay */
    struct ww_peer *peer; /* NULL: SMs have no network of their own */
    uint64_t *counter;
    struct ww_exchange *exchange; /* with the SMs, if they are apart; else NULL */
    struct ww_exchange *kept;     /* the same, from when it was first needed */
    uint64_t line_mask;
    uint32_t l1_sector_granules;
    uint8_t granules_of[256]; /* by mask of L1 sectors */
    /* packets, transactions and DRAM requests in flight, and replies but for the crossbar's */
    _Alignas(2 * WW_HOST_LINE) uint64_t live;
};

static void set_masks(struct ww_memsys *m, const struct ww_gpu_spec *gpu) {
    m->line_mask = ww_gpu_request_line(gpu) - 1;
    m->l1_sector_granules = gpu->l1_sector / 32;
    for (uint32_t mask = 0; mask < 256; mask++)
        for (uint32_t g = 0; g < 8; g++)
            if (mask >> g / m->l1_sector_granules & 1) m->granules_of[mask] |= (uint8_t)(1u << g);
}

static bool start(struct ww_memsys *m, const struct ww_gpu_spec *gpu, struct ww_queue *queue,
                  const struct ww_memsys_client *client, uint64_t *counter, uint64_t seed) {
    struct ww_dram_client dram_client = {
        .context = &m->l2, .done = ww_l2_filled, .written = ww_l2_written, .room = ww_l2_room};
    set_masks(m, gpu);
    m->counter = counter;
    ww_clock_init(&m->clock, gpu->clock_l2_mhz);
    ww_addrmap_init(&m->map, gpu);
    m->dram = ww_dram_new(gpu, queue, &dram_client, counter, &m->arena);
    if (!m->dram) return false;
    if (!ww_xbar_init(&m->xbar, gpu, queue, &m->clock, client, counter, &m->arena)) return false;
    m->xbar.delivered = ww_l2_delivered;
    m->xbar.delivered_context = &m->l2;
    m->l2 = (struct ww_l2){.queue = queue,
                           .clock = &m->clock,
                           .xbar = &m->xbar,
                           .dram = m->dram,
                           .map = &m->map,
                           .counter = counter,
                           .walks = gpu->tlb_enabled ? gpu->tlb_walkers : 0,
                           .live = &m->live};
    if (!ww_l2_init(&m->l2, gpu, &m->arena, seed)) return false;
    if (gpu->sm_gpcs) {
        m->peer = ww_peer_new(gpu, queue, &m->clock, client, &m->live, &m->arena);
        if (!m->peer) return false;
    }
    if (!gpu->tlb_enabled) return true;
    m->tlb = ww_arena_array(&m->arena, 1, sizeof *m->tlb);
    return m->tlb && ww_tlb_init(m->tlb, gpu, &m->l2, m->xbar.packet_limit * gpu->l2_slices, &m->arena, seed);
}

struct ww_memsys *ww_memsys_new(const struct ww_gpu_spec *gpu, struct ww_queue *queue,
                                const struct ww_memsys_client *client, uint64_t *counter, uint64_t seed) {
    struct ww_memsys *m = aligned_alloc(2 * WW_HOST_LINE, sizeof *m);
    if (!m) return NULL;
    memset(m, 0, sizeof *m);
    assert(gpu->l2_interleave >= ww_gpu_request_line(gpu) && gpu->l2_interleave >= gpu->l2_line);
    ww_arena_init(&m->arena, WW_MEMSYS_LIMIT);
    if (start(m, gpu, queue, client, counter, seed)) return m;
    ww_memsys_free(m);
    return NULL;
}

enum ww_code ww_memsys_make_fast(struct ww_memsys *m, const struct ww_gpu_spec *gpu, struct ww_error *error) {
    return ww_fast_new(gpu, &m->l2, m->tlb, &m->arena, &m->fast, error);
}

void ww_memsys_free(struct ww_memsys *m) {
    if (!m) return;
    ww_peer_free(m->peer);
    ww_exchange_free(m->kept);
    ww_arena_free(&m->arena);
    free(m);
}

void ww_memsys_count_insts(struct ww_memsys *m, struct ww_inst_count *inst) {
    m->l2.inst = inst;
}

void ww_memsys_tell_writes(struct ww_memsys *m,
                           void (*performed)(void *context, uint16_t sm, uint64_t line, uint64_t now_ps),
                           void *context) {
    m->l2.performed = performed;
    m->l2.performed_context = context;
}

static void send_later(struct ww_exchange *x, const struct ww_mem_request *request, struct ww_slice_place place,
                       uint8_t granules, uint64_t arrived) {
    struct ww_sent *s = ww_exchange_send(x);
    if (!s) return;
    s->request = *request;
    s->local = place.local;
    s->arrived = arrived;
    s->tick_ps = x->tick_ps;
    s->slice = place.slice;
    s->granules = granules;
}

bool ww_memsys_send(struct ww_memsys *m, const struct ww_mem_request *request, uint64_t now_ps) {
    if (request->kind >= WW_MEM_PEER) return ww_peer_send(m->peer, request, now_ps);
    assert(!(request->address & m->line_mask) && request->sectors && request->sectors < 256);
    uint8_t granules = request->fine ? (uint8_t)request->sectors : m->granules_of[request->sectors];
    struct ww_slice_place place = ww_addrmap_slice(&m->map, request->address);
    place = ww_l2_route(&m->l2, request, place);
    if (m->fast) return ww_fast_send(m->fast, request, place, granules, now_ps);
    uint32_t payload = request->kind == WW_MEM_READ ? 0 : request->bytes;
    uint64_t arrived;
    if (!ww_xbar_send(&m->xbar, request->sm, place.slice, payload, now_ps, &arrived)) return false;
    uint32_t sectors = request->kind == WW_MEM_TRANSLATION ? 0 : ww_bits8(granules);
    m->xbar.sends[request->kind == WW_MEM_WRITE ? WW_C_XBAR_SECTOR_WRITE : WW_C_XBAR_SECTOR_READ] += sectors;
    if (m->exchange) {
        assert(!ww_l2_is_far(&m->l2, request, place.slice));
        send_later(m->exchange, request, place, granules, arrived);
        return true;
    }
    if (m->tlb && !ww_tlb_pass(m->tlb, request, place, granules, arrived)) return true;
    ww_l2_push(&m->l2, place.slice, request, place.local, granules, arrived);
    return true;
}

uint64_t ww_memsys_book(struct ww_memsys *m, const struct ww_mem_request *request,
                        const struct ww_mem_place *place, uint64_t ps, struct ww_mem_answers *answers) {
    assert(!(request->address & m->line_mask) && request->sectors && request->sectors < 256);
    uint8_t granules = request->fine ? (uint8_t)request->sectors : m->granules_of[request->sectors];
    struct ww_slice_place at = place ? (struct ww_slice_place){place->slice, place->local}
                                     : ww_addrmap_slice(&m->map, request->address);
    return ww_fast_book(m->fast, request, ww_l2_route(&m->l2, request, at), granules, ps, answers);
}

void ww_memsys_expect(const struct ww_memsys *m, struct ww_mem_place *place, uint32_t mask) {
    ww_fast_expect(m->fast, place, mask);
}

struct ww_fast *ww_memsys_plain(const struct ww_memsys *m) {
    if (!m->fast->plain) return NULL;
    ww_fast_tell_clocks(m->fast);
    return m->fast;
}

bool ww_memsys_set_fetched(struct ww_memsys *m, bool fetched) {
    if (!m->fast || m->xbar.sms_per_port > 1) return false;
    m->fast->fetched = fetched;
    return true;
}

bool ww_memsys_fetch(struct ww_memsys *m, uint16_t sm, uint64_t ps, struct ww_mem_reply *reply) {
    return ww_fast_fetch(m->fast, sm, ps, reply);
}

uint64_t ww_memsys_next(const struct ww_memsys *m, uint16_t sm) {
    return ww_fast_quiet(m->fast, sm);
}

uint64_t ww_memsys_again(const struct ww_memsys *m, uint16_t sm) {
    return m->fast->port[m->xbar.port_of[sm]].again_ps;
}

void ww_memsys_drain(struct ww_memsys *m) {
    ww_fast_drain(m->fast);
}

struct ww_peer *ww_memsys_peer(struct ww_memsys *m) {
    return m->peer;
}

/* Far ahead, in ps. */
#define FAR ((uint64_t)1 << 40)

static uint64_t fast_quiet(const struct ww_memsys *m, uint16_t sm, uint64_t now_ps) {
    uint64_t next = ww_fast_quiet(m->fast, sm);
    return next < now_ps + FAR ? next : now_ps + FAR;
}

uint64_t ww_memsys_quiet(const struct ww_memsys *m, uint16_t sm, uint64_t now_ps) {
    return m->fast ? fast_quiet(m, sm, now_ps) : ww_xbar_quiet(&m->xbar, sm, now_ps);
}

void ww_memsys_quiet_all(const struct ww_memsys *m, uint64_t now_ps, uint64_t *quiet) {
    if (!m->fast) {
        ww_xbar_quiet_all(&m->xbar, now_ps, quiet);
        return;
    }
    for (uint32_t sm = 0; sm < m->xbar.sms; sm++) quiet[sm] = fast_quiet(m, (uint16_t)sm, now_ps);
}

/* ---- apart from the SMs ---------------------------------------------------------------------- */

uint64_t ww_memsys_lead(const struct ww_memsys *m, bool strong) {
    const struct ww_l2 *l2 = &m->l2;
    uint32_t cycles = m->xbar.latency + l2->least_latency;
    bool far = strong && l2->strong_home && l2->side_slices;
    /* What takes the link between partitions at once, or joins requests, or is refused by a shared port, is not
     * exchanged. */
    bool alike = !m->fast && l2->coalesce < 2 && !far && m->xbar.sms_per_port == 1;
    if (!alike || cycles <= WW_L2_HEADS_AHEAD) return 0;
    cycles -= WW_L2_HEADS_AHEAD;
    if (m->tlb && m->xbar.latency + m->tlb->l2_cycles < cycles) cycles = m->xbar.latency + m->tlb->l2_cycles;
    return cycles * m->clock.period_fp >> 16;
}

static bool translates(const struct ww_memsys *m) {
    return m->tlb && ww_tlb_busy(m->tlb);
}

bool ww_memsys_part(struct ww_memsys *m, uint64_t now_ps) {
    if (translates(m) || !ww_queue_takes_late(m->l2.queue, now_ps)) return false;
    if (!m->kept) m->kept = ww_exchange_new(m->xbar.sms);
    if (!m->kept) return false;
    m->exchange = m->kept;
    m->exchange->reached = now_ps;
    m->exchange->tick_ps = now_ps;
    ww_xbar_part(&m->xbar, m->kept);
    return true;
}

/* Lets events up to time ps pass, while there are such and something is in flight. */
static void pass_events(struct ww_memsys *m, uint64_t ps) {
    struct ww_exchange *x = m->exchange;
    ww_queue_run_by(m->l2.queue, ps, &m->live, &m->xbar.under_way);
    uint64_t reached = ww_memsys_idle(m) ? ww_queue_now(m->l2.queue) : ps;
    if (reached > x->reached) x->reached = reached;
}

/* The same, whether anything is in flight or not. */
static void catch_up(struct ww_memsys *m, uint64_t ps) {
    if (m->exchange->reached >= ps) return;
    while (ww_queue_step_by(m->l2.queue, ps)) continue;
    m->exchange->reached = ps;
}

static void take_requests(struct ww_memsys *m) {
    struct ww_sent_list *l = &m->exchange->take;
    uint64_t tick_ps = UINT64_MAX;
    for (uint32_t i = 0; i < l->count; i++) {
        const struct ww_sent *s = &l->item[i];
        if (s->tick_ps != tick_ps) {
            tick_ps = s->tick_ps;
            ww_queue_on_time(m->l2.queue);
            catch_up(m, tick_ps);
            ww_queue_late(m->l2.queue, tick_ps);
        }
        if (!m->tlb || ww_tlb_pass(m->tlb, &s->request, (struct ww_slice_place){s->slice, s->local},
                                   s->granules, s->arrived))
            ww_l2_push(&m->l2, s->slice, &s->request, s->local, s->granules, s->arrived);
    }
    ww_queue_on_time(m->l2.queue);
    l->count = 0;
}

bool ww_memsys_advance(struct ww_memsys *m, uint64_t ps) {
    take_requests(m);
    if (translates(m) || m->exchange->failed) return false;
    pass_events(m, ps);
    return true;
}

bool ww_memsys_exchange(struct ww_memsys *m, uint64_t *quiet, uint64_t end) {
    struct ww_exchange *x = m->exchange;
    take_requests(m);
    assert(x->next == x->told.count);
    assert(x->watched == WW_TOLD_NONE);
    ww_xbar_told_all(&m->xbar);
    struct ww_told_list told = x->tell;
    struct ww_taken_list taken = x->took;
    struct ww_sent_list sent = x->send;
    x->tell = x->told;
    x->tell.count = x->next = 0;
    x->told = told;
    x->took = x->taken;
    x->took.count = x->next_taken = 0;
    x->taken = taken;
    ww_xbar_watch(&m->xbar);
    x->send = x->take;
    x->take = sent;
    for (uint32_t sm = 0; sm < x->sms; sm++) {
        quiet[sm] = end;
        x->reply[sm] = WW_TOLD_NONE;
    }
    for (uint32_t i = told.count; i--;) {
        struct ww_told *t = &told.item[i];
        t->after = quiet[t->sm];
        t->next = x->reply[t->sm];
        quiet[t->sm] = t->ps;
        x->reply[t->sm] = i;
    }
    return !x->full;
}

void ww_memsys_tick(struct ww_memsys *m, uint64_t ps) {
    m->exchange->tick_ps = ps;
}

uint64_t ww_memsys_told(const struct ww_memsys *m) {
    const struct ww_exchange *x = m->exchange;
    uint64_t ps = ww_exchange_reply_ps(x), taken = ww_exchange_watched_ps(x);
    if (x->retry_ps < ps) ps = x->retry_ps;
    return taken < ps ? taken : ps;
}

/* Those from number n of the list on. */
static inline struct ww_mem_coming coming(const struct ww_exchange *x, uint32_t n) {
    const struct ww_told *item = x->told.item;
    struct ww_mem_coming c = {0};
    if (n == WW_TOLD_NONE) return c;
    c.reply = &item[n].reply;
    if ((n = item[n].next) == WW_TOLD_NONE) return c;
    c.next = &item[n].reply;
    if ((n = item[n].next) == WW_TOLD_NONE) return c;
    c.third = &item[n].reply;
    if (item[n].next != WW_TOLD_NONE) __builtin_prefetch(&item[item[n].next]);
    return c;
}

struct ww_mem_coming ww_memsys_take_reply(struct ww_memsys *m, uint16_t sm, uint64_t *quiet) {
    struct ww_exchange *x = m->exchange;
    uint32_t n = x->reply[sm];
    x->reply[sm] = x->told.item[n].next;
    *quiet = x->told.item[n].after;
    return coming(x, n);
}

struct ww_mem_coming ww_memsys_coming(const struct ww_memsys *m, uint16_t sm) {
    return coming(m->exchange, m->exchange->reply[sm]);
}

/* The next message is no reply. */
static __attribute__((noinline)) void tell_other(struct ww_memsys *m) {
    struct ww_exchange *x = m->exchange;
    const struct ww_memsys_client *client = &m->xbar.client;
    uint64_t ps = x->retry_ps;
    if (ww_exchange_watched_ps(x) <= ps)
        ww_xbar_tell_watched(&m->xbar);
    else
        client->unblocked(client->context, ww_exchange_take_retry(x), ps);
}

struct ww_memsys_told ww_memsys_tell(struct ww_memsys *m, uint64_t end, uint32_t shift, uint64_t *sms) {
    struct ww_exchange *x = m->exchange;
    const struct ww_told *item = x->told.item;
    const uint32_t first = x->next, count = x->told.count;
    uint64_t watched = ww_exchange_watched_ps(x), left = 0;
    if (watched < end) end = watched;
    if (x->retry_ps < end) end = x->retry_ps;
    uint32_t i = first;
    for (; i < count && item[i].ps <= end; i++) {
        uint32_t sm = item[i].sm, word = sm >> shift;
        uint64_t has = x->reply[sm] <= i;
        if (i + 4 < count) __builtin_prefetch(&item[i + 4]);
        sms[word] |= has << (sm - (word << shift));
        left |= has;
    }
    x->next = i;
    if (i > first) return (struct ww_memsys_told){item[i - 1].ps, i - first, left != 0};
    tell_other(m);
    return (struct ww_memsys_told){0};
}

bool ww_memsys_join(struct ww_memsys *m, uint64_t ps) {
    struct ww_exchange *x = m->exchange;
    take_requests(m);
    catch_up(m, ps);
    x->tell.count = x->told.count = x->next = x->send.count = 0;
    x->took.count = x->taken.count = x->next_taken = 0;
    x->watched = WW_TOLD_NONE;
    m->exchange = NULL;
    ww_xbar_join(&m->xbar);
    for (int i = 0; i < WW_COUNTER_COUNT; i++) m->counter[i] += x->counter[i];
    memset(x->counter, 0, sizeof x->counter);
    return !x->failed && !x->full;
}

void ww_memsys_warm(struct ww_memsys *m, const struct ww_mem_request *request) {
    assert(!m->live && !(request->address & m->line_mask));
    if (m->tlb) ww_tlb_warm(m->tlb, request->address);
    ww_l2_warm(&m->l2, request, ww_addrmap_slice(&m->map, request->address));
}

void ww_memsys_fill(struct ww_memsys *m, const struct ww_mem_request *request) {
    assert(!m->live && !(request->address & m->line_mask));
    ww_l2_warm(&m->l2, request, ww_addrmap_slice(&m->map, request->address));
}

bool ww_memsys_idle(const struct ww_memsys *m) {
    return m->live == 0 && m->xbar.under_way == 0;
}

void ww_memsys_end_launch(struct ww_memsys *m, uint64_t now_ps) {
    if (m->fast)
        ww_fast_dram_settle(m->fast, now_ps);
    else
        ww_dram_settle(m->dram, now_ps);
}

void ww_memsys_count(const struct ww_memsys *m, uint64_t now_ps, uint64_t *counter) {
    if (m->fast)
        ww_fast_dram_count(m->fast, now_ps, counter);
    else
        ww_dram_count(m->dram, now_ps, counter);
}

struct ww_clock *ww_memsys_l2_clock(struct ww_memsys *m) {
    return &m->clock;
}

struct ww_clock *ww_memsys_dram_clock(struct ww_memsys *m) {
    return ww_dram_clock(m->dram);
}
