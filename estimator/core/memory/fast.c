/* Fast replay's memory system: requests, replies, creation and release. */
#include "dram_channel.h"
#include "fast.h"

/* ---- replies in flight ----------------------------------------------------------------------- */

static inline bool before(const struct ww_fast_due *a, const struct ww_fast_due *b) {
    return a->ps < b->ps || (a->ps == b->ps && (int32_t)(a->order - b->order) < 0);
}

static void heap_put(struct ww_fast_port *p, struct ww_fast_due due) {
    uint32_t i = p->count++;
    for (uint32_t up; i && before(&due, &p->due[up = (i - 1) / 2]); i = up) p->due[i] = p->due[up];
    p->due[i] = due;
}

static struct ww_fast_due heap_take(struct ww_fast_port *p) {
    struct ww_fast_due first = p->due[0], last = p->due[--p->count];
    uint32_t i = 0, n = p->count;
    for (uint32_t down; (down = 2 * i + 1) < n; i = down) {
        if (down + 1 < n && before(&p->due[down + 1], &p->due[down])) down++;
        if (!before(&p->due[down], &last)) break;
        p->due[i] = p->due[down];
    }
    p->due[i] = last;
    return first;
}

/* Puts something under way to the SM; there is room, see ww_fast_send. */
static struct ww_fast_reply *put(struct ww_fast *f, struct ww_fast_port *p, uint16_t sm, uint64_t ps) {
    uint32_t n = f->free_reply.first;
    struct ww_fast_reply *r = &f->reply[n];
    ww_free_taken(&f->free_reply, r->next);
    r->sm = sm;
    heap_put(p, (struct ww_fast_due){.ps = ps, .order = p->order++, .reply = n});
    ++*f->live;
    if (!f->fetched && p->due[0].reply == n) ww_queue_earlier(f->queue, &p->deliver, ps);
    return r;
}

static void deliver_event(void *owner, struct ww_event *event, uint64_t now_ps) {
    struct ww_fast_port *p = owner;
    struct ww_fast *f = p->fast;
    const struct ww_memsys_client *client = &f->xbar->client;
    while (p->count && p->due[0].ps <= now_ps) {
        uint32_t n = heap_take(p).reply;
        struct ww_fast_reply r = f->reply[n];
        f->reply[n].next = ww_free_back(&f->free_reply, n);
        --*f->live;
        if (!r.performed)
            client->reply(client->context, r.sm, &r.reply, now_ps);
        else if (f->l2->performed)
            f->l2->performed(f->l2->performed_context, r.sm, r.line, now_ps);
    }
    if (p->count) ww_queue_earlier(f->queue, event, p->due[0].ps);
}

bool ww_fast_fetch(struct ww_fast *f, uint16_t sm, uint64_t ps, struct ww_mem_reply *reply) {
    struct ww_fast_port *p = &f->port[f->xbar->port_of[sm]];
    if (!p->count || p->due[0].ps > ps) return false;
    uint32_t n = heap_take(p).reply;
    *reply = f->reply[n].reply;
    f->reply[n].next = ww_free_back(&f->free_reply, n);
    --*f->live;
    return true;
}

uint64_t ww_fast_deliver(struct ww_fast *f, uint32_t slice, uint16_t sm, const struct ww_mem_reply *reply,
                         uint32_t payload, uint64_t cycle) {
    const struct ww_xbar *x = f->xbar;
    uint32_t port = x->port_of[sm], flits = ww_xbar_flits(x, payload);
    struct ww_fast_port *p = &f->port[port];
    uint64_t at = ww_calendar_take(&f->slice[slice].send, cycle, flits << WW_CALENDAR_UNIT) + x->latency;
    if (p->trunk && payload) at = ww_calendar_take(p->trunk, at, ww_xbar_trunk_time(x, payload));
    at = ww_calendar_take(&p->receive, at, flits << WW_CALENDAR_UNIT) + flits - 1;
    f->counter[WW_C_XBAR_REPLY]++;
    f->counter[WW_C_XBAR_REPLY_FLIT] += flits;
    if (f->answers) {
        f->answers->answer[f->answers->count++] = (struct ww_mem_answer){
            .ps = ww_clock_time(x->clock, at),
            .chunks = (uint32_t)ww_bits8((uint8_t)reply->sectors),
            .level = reply->walked || reply->kind == WW_MEM_TRANSLATION ? WW_LEVEL_TLB : reply->level};
        return at;
    }
    struct ww_fast_reply *r = put(f, p, sm, ww_clock_time(x->clock, at));
    r->reply = *reply;
    r->performed = false;
    return at;
}

void ww_fast_performed(struct ww_fast *f, uint16_t sm, uint64_t line, uint64_t cycle) {
    if (!f->l2->performed) return;
    struct ww_fast_reply *r = put(f, &f->port[f->xbar->port_of[sm]], sm, ww_clock_time(f->l2->clock, cycle));
    r->line = line;
    r->performed = true;
}

/* ---- requests -------------------------------------------------------------------------------- */

/* A launch does not end before what DRAM writes is written. */
static void drained_event(void *owner, struct ww_event *event, uint64_t now_ps) {
    struct ww_fast *f = owner;
    if (f->busy_until > now_ps)
        ww_queue_earlier(f->queue, event, f->busy_until);
    else
        --*f->live;
}

void ww_fast_drain(struct ww_fast *f) {
    if (f->drained.queued || f->busy_until <= ww_queue_now(f->queue)) return;
    ++*f->live;
    ww_queue_earlier(f->queue, &f->drained, f->busy_until);
}

/* False: the SM's port has enough to send, the slice has no place for one more request, or too much is under
 * way to the SM. */
static bool has_room(struct ww_fast *f, uint16_t sm, uint32_t slice, uint64_t cycle) {
    struct ww_xbar *x = f->xbar;
    struct ww_fast_slice *s = &f->slice[slice];
    struct ww_fast_port *p = &f->port[x->port_of[sm]];
    uint64_t again = ww_xbar_port_free(x, sm, cycle);
    again = ww_places_free(&s->requests, 1, again);
    if (again <= cycle && p->count + 4 > WW_FAST_REPLIES) again = cycle + x->latency;
    if (again <= cycle) return true;
    p->again_ps = ww_clock_time(x->clock, again);
    if (!f->fetched) ww_xbar_call_back(x, sm, again);
    return false;
}

/* Sends a request at an L2 cycle in which it is not refused. */
static void send(struct ww_fast *f, const struct ww_mem_request *request, struct ww_slice_place place,
                 uint8_t granules, uint64_t cycle) {
    struct ww_l2 *l2 = f->l2;
    uint32_t payload = request->kind == WW_MEM_READ ? 0 : request->bytes;
    struct ww_fast_slice *own = &f->slice[place.slice];
    uint32_t flits = ww_xbar_flits(f->xbar, payload);
    uint64_t sent = ww_xbar_leave(f->xbar, request->sm, flits, cycle), arrived;
    arrived = ww_calendar_take(&own->receive, sent + f->xbar->latency, flits << WW_CALENDAR_UNIT) + flits - 1;
    f->counter[WW_C_XBAR_REQUEST]++;
    f->counter[WW_C_XBAR_REQUEST_FLIT] += flits;
    uint32_t sectors = request->kind == WW_MEM_TRANSLATION ? 0 : ww_bits8(granules);
    f->counter[request->kind == WW_MEM_WRITE ? WW_C_XBAR_SECTOR_WRITE : WW_C_XBAR_SECTOR_READ] += sectors;
    bool walked = false;
    if (f->tlb) arrived = ww_fast_translate(f, request, arrived, &walked);
    struct ww_l2_packet p = ww_l2_packet(request, place.local, granules, 0);
    p.walked = walked;
    bool far = ww_l2_is_far(l2, request, place.slice);
    if (far) {
        uint32_t units = l2->far_bytes ? (32u * ww_bits8(granules) << WW_CALENDAR_UNIT) / l2->far_bytes : 0;
        if (units) arrived = ww_calendar_take(&f->link[request->sm >= l2->side_sms], arrived, units);
        arrived += l2->far_latency;
        ww_l2_count(&l2->slice[place.slice], WW_C_L2_FAR, (uint32_t)ww_bits8(granules) >> l2->sector_shift);
    }
    uint64_t served =
        ww_fast_serve(f, place.slice, &p, far, arrived + ww_l2_latency(l2, place.slice, request->sm));
    ww_places_take(&own->requests, 1, served);
}

bool ww_fast_send(struct ww_fast *f, const struct ww_mem_request *request, struct ww_slice_place place,
                  uint8_t granules, uint64_t now_ps) {
    uint64_t cycle = ww_clock_cycle(f->l2->clock, now_ps);
    if (!has_room(f, request->sm, place.slice, cycle)) return false;
    send(f, request, place, granules, cycle);
    if (!f->fetched) ww_fast_drain(f);
    return true;
}

uint64_t ww_fast_book(struct ww_fast *f, const struct ww_mem_request *request, struct ww_slice_place place,
                      uint8_t granules, uint64_t ps, struct ww_mem_answers *answers) {
    uint64_t asked = ww_clock_cycle(f->l2->clock, ps);
    uint64_t cycle = ww_fast_room(f, request->sm, place.slice, asked);
    answers->count = 0;
    f->answers = answers;
    send(f, request, place, granules, cycle);
    f->answers = NULL;
    return cycle > asked ? ww_clock_time(f->l2->clock, cycle) : ps;
}

uint64_t ww_fast_quiet(const struct ww_fast *f, uint16_t sm) {
    const struct ww_fast_port *p = &f->port[f->xbar->port_of[sm]];
    return p->count ? p->due[0].ps : UINT64_MAX;
}

/* ---- life ------------------------------------------------------------------------------------ */

static bool make_ports(struct ww_fast *f, const struct ww_gpu_spec *gpu, struct ww_arena *arena) {
    f->ports = (gpu->sm_count + gpu->xbar_sms_per_port - 1) / gpu->xbar_sms_per_port;
    f->port = ww_arena_array(arena, f->ports, sizeof *f->port);
    if (!f->port) return false;
    for (uint32_t i = 0; i < f->ports; i++) {
        struct ww_fast_port *p = &f->port[i];
        p->deliver = (struct ww_event){.fn = deliver_event, .owner = p};
        p->fast = f;
    }
    if (!gpu->xbar_trunks || !gpu->xbar_trunk_bytes) return true;
    f->trunks = gpu->xbar_trunks;
    f->trunk = ww_arena_array(arena, f->trunks, sizeof *f->trunk);
    if (!f->trunk) return false;
    for (uint32_t i = 0; i < f->ports; i++) f->port[i].trunk = &f->trunk[i * f->trunks / f->ports];
    return true;
}

/* Replies under way: behind all else, as launches that book their requests have none, and large pages that
 * nothing writes cost no time. */
static bool make_replies(struct ww_fast *f, struct ww_arena *arena) {
    size_t count = (size_t)f->ports * WW_FAST_REPLIES;
    struct ww_fast_due *due = ww_arena_array(arena, count, sizeof *due);
    f->reply = ww_arena_array(arena, count, sizeof *f->reply);
    if (!due || !f->reply) return false;
    f->free_reply = ww_free_list((uint32_t)count);
    for (uint32_t i = 0; i < f->ports; i++) f->port[i].due = due + (size_t)i * WW_FAST_REPLIES;
    return true;
}

/* A slice takes sectors more slowly than its channel can give them. */
static bool fills_slowly(const struct ww_fast *f) {
    const struct ww_l2 *l2 = f->l2;
    const struct ww_dram *d = f->dram;
    uint64_t given = l2->bursts_per_sector * d->timing.gap * d->clock.period_fp;
    return l2->time_of[0][1] * l2->clock->period_fp > given << WW_CALENDAR_UNIT;
}

static bool make_slices(struct ww_fast *f, const struct ww_gpu_spec *gpu, struct ww_arena *arena) {
    bool fills = !f->plain || fills_slowly(f);
    f->slice = ww_arena_array(arena, gpu->l2_slices, sizeof *f->slice);
    if (!f->slice) return false;
    for (uint32_t i = 0; i < gpu->l2_slices; i++) {
        struct ww_fast_slice *s = &f->slice[i];
        s->lines = &f->l2->slice[i].tags;
        s->mshrs.limit = gpu->l2_mshrs;
        s->requests.limit = f->xbar->packet_limit;
        if (f->l2->side_slices && !(s->held = ww_arena_array(arena, 2, sizeof *s->held))) return false;
        if (fills && !(s->fill = ww_arena_array(arena, 1, sizeof *s->fill))) return false;
        if (f->l2->coalesce < 2) continue;
        s->wait = ww_arena_array(arena, WW_FAST_JOINED, sizeof *s->wait);
        if (!s->wait) return false;
    }
    return true;
}

static bool make_walks(struct ww_fast *f, const struct ww_gpu_spec *gpu, struct ww_arena *arena) {
    if (!f->tlb) return true;
    f->pages = gpu->tlb_misses;
    f->page = ww_arena_array(arena, f->pages, sizeof *f->page);
    f->walkers.limit = gpu->tlb_walkers;
    return f->page;
}

enum ww_code ww_fast_new(const struct ww_gpu_spec *gpu, struct ww_l2 *l2, struct ww_tlb *tlb,
                         struct ww_arena *arena, struct ww_fast **out, struct ww_error *error) {
    struct ww_fast *f = ww_arena_array(arena, 1, sizeof *f);
    if (!f) return ww_fail_nomem(error, "the memory system");
    *f = (struct ww_fast){.l2 = l2,
                          .tlb = tlb,
                          .xbar = l2->xbar,
                          .dram = l2->dram,
                          .queue = l2->queue,
                          .counter = l2->counter,
                          .live = l2->live,
                          .drained = {.fn = drained_event, .owner = f}};
    f->plain = l2->parts == 1 && !tlb && !l2->side_slices && l2->coalesce < 2 && !l2->prefetch.window &&
               !l2->elsewhere && l2->l1_sector_granules == 1;
    if (!make_ports(f, gpu, arena) || !make_slices(f, gpu, arena) || !make_walks(f, gpu, arena) ||
        !ww_fast_dram_init(f, gpu, arena) || !make_replies(f, arena))
        return ww_fail_nomem(error, "the memory system");
    ww_fast_map_init(&f->map, l2->map, &l2->slice->tags, l2->line_shift);
    l2->prefetch.ops = &ww_fast_prefetch;
    l2->prefetch.fast = f;
    *out = f;
    return WW_OK;
}
