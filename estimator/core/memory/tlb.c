/* Address translation in front of the L2. */
#include "../../result/result.h"
#include "tlb.h"

#define NONE UINT32_MAX

/* ---- lists ----------------------------------------------------------------------------------- */

static void append_request(struct ww_tlb *t, struct ww_tlb_list *list, uint32_t n) {
    t->request[n].next = NONE;
    if (list->first == NONE)
        list->first = n;
    else
        t->request[list->last].next = n;
    list->last = n;
}

static void append_miss(struct ww_tlb *t, struct ww_tlb_list *list, uint32_t m) {
    t->miss[m].next = NONE;
    if (list->first == NONE)
        list->first = m;
    else
        t->miss[list->last].next = m;
    list->last = m;
}

/* ---- misses of the L1 TLB -------------------------------------------------------------------- */

void ww_tlb_wake(struct ww_tlb *t, uint64_t cycle) {
    uint64_t ps = ww_clock_time(t->clock, cycle), now = ww_queue_now(t->queue);
    ww_queue_earlier(t->queue, &t->event, ps > now ? ps : now);
}

static uint32_t find_miss(const struct ww_tlb *t, uint64_t page) {
    for (uint32_t m = 0; m < t->misses; m++)
        if (t->miss[m].open && t->miss[m].page == page) return m;
    return NONE;
}

/* Opens a miss and sends it to the L2 TLB. */
static uint32_t open_miss(struct ww_tlb *t, uint64_t page, uint64_t cycle) {
    uint32_t m = t->free_miss;
    struct ww_tlb_miss *miss = &t->miss[m];
    uint64_t start = t->l2_free > cycle ? t->l2_free : cycle;
    t->free_miss = miss->next;
    t->l2_free = start + 1;
    *miss = (struct ww_tlb_miss){
        .page = page, .ready = start + t->l2_cycles, .first = NONE, .last = NONE, .open = true};
    t->counter[WW_C_TLB_L2_ACCESS]++;
    append_miss(t, &t->looking, m);
    if (t->looking.first == m) ww_tlb_wake(t, miss->ready);
    return m;
}

/* Adds a request to the miss of its page; false: it has none, and no other is free. */
static bool join_miss(struct ww_tlb *t, uint32_t n, uint64_t cycle) {
    uint64_t page = t->request[n].request.address >> t->page_shift;
    uint32_t m = find_miss(t, page);
    if (m != NONE)
        t->counter[WW_C_TLB_MERGED]++;
    else if (t->free_miss == NONE)
        return false;
    else
        m = open_miss(t, page, t->request[n].arrived > cycle ? t->request[n].arrived : cycle);
    struct ww_tlb_list list = {t->miss[m].first, t->miss[m].last};
    append_request(t, &list, n);
    t->miss[m].first = list.first;
    t->miss[m].last = list.last;
    return true;
}

static uint32_t put_aside(struct ww_tlb *t, const struct ww_mem_request *request, struct ww_slice_place place,
                          uint8_t granules, uint64_t arrived) {
    uint32_t n = t->free_request;
    t->free_request = t->request[n].next;
    t->request[n] = (struct ww_tlb_request){.request = *request,
                                            .local = place.local,
                                            .arrived = arrived,
                                            .slice = place.slice,
                                            .granules = granules};
    ++*t->live;
    return n;
}

bool ww_tlb_pass(struct ww_tlb *t, const struct ww_mem_request *request, struct ww_slice_place place,
                 uint8_t granules, uint64_t arrived) {
    t->counter[WW_C_TLB_L1_ACCESS]++;
    if (ww_tlb_array_find(&t->l1, request->address >> t->page_shift)) {
        t->counter[WW_C_TLB_L1_HIT]++;
        return true;
    }
    t->counter[WW_C_TLB_L1_MISS]++;
    uint32_t n = put_aside(t, request, place, granules, arrived);
    /* Requests that wait for a free miss come first. */
    if (t->held.first != NONE || !join_miss(t, n, arrived)) append_request(t, &t->held, n);
    return false;
}

/* Sends a request that was put aside to its slice. */
static void let_go(struct ww_tlb *t, uint32_t n, bool walked, uint64_t cycle) {
    struct ww_tlb_request *r = &t->request[n];
    uint64_t arrived = r->arrived > cycle ? r->arrived : cycle;
    r->request.walked = walked;
    --*t->live;
    ww_l2_push(t->l2, r->slice, &r->request, r->local, r->granules, arrived);
    r->next = t->free_request;
    t->free_request = n;
}

/* After a miss was closed: requests that found no free entry are looked up again. */
static void retry_held(struct ww_tlb *t, uint64_t cycle) {
    while (t->held.first != NONE) {
        uint32_t n = t->held.first, next = t->request[n].next;
        if (ww_tlb_array_find(&t->l1, t->request[n].request.address >> t->page_shift)) {
            t->counter[WW_C_TLB_MERGED]++;
            let_go(t, n, false, cycle);
        } else if (!join_miss(t, n, cycle)) {
            return;
        }
        t->held.first = next;
    }
}

void ww_tlb_translated(struct ww_tlb *t, uint32_t m, bool walked, uint64_t cycle) {
    struct ww_tlb_miss *miss = &t->miss[m];
    ww_tlb_array_fill(&t->l1, miss->page);
    for (uint32_t n = miss->first, next; n != NONE; n = next) {
        next = t->request[n].next;
        let_go(t, n, walked, cycle);
    }
    miss->open = false;
    miss->next = t->free_miss;
    t->free_miss = m;
    retry_held(t, cycle);
}

/* ---- the L2 TLB ------------------------------------------------------------------------------ */

/* Ends the look-ups whose time has come. */
static void step_lookups(struct ww_tlb *t, uint64_t cycle) {
    while (t->looking.first != NONE && t->miss[t->looking.first].ready <= cycle) {
        uint32_t m = t->looking.first;
        t->looking.first = t->miss[m].next;
        if (ww_tlb_array_find(&t->l2_array, t->miss[m].page)) {
            t->counter[WW_C_TLB_L2_HIT]++;
            ww_tlb_translated(t, m, false, ww_tlb_goes_on(t, t->miss[m].ready, cycle));
            continue;
        }
        t->counter[WW_C_TLB_L2_MISS]++;
        append_miss(t, &t->walking, m);
        ww_tlb_start_walks(t, cycle);
    }
}

static void tlb_event(void *owner, struct ww_event *event, uint64_t now_ps) {
    struct ww_tlb *t = owner;
    uint64_t cycle = ww_clock_cycle(t->clock, now_ps);
    (void)event;
    step_lookups(t, cycle);
    uint64_t next = ww_tlb_step_walks(t, cycle);
    if (t->looking.first != NONE && t->miss[t->looking.first].ready < next)
        next = t->miss[t->looking.first].ready;
    if (next != UINT64_MAX) ww_tlb_wake(t, next);
}

bool ww_tlb_busy(const struct ww_tlb *t) {
    for (uint32_t m = 0; m < t->misses; m++)
        if (t->miss[m].open) return true;
    return t->held.first != NONE || t->event.queued;
}

/* ---- life ------------------------------------------------------------------------------------ */

static bool make_arrays(struct ww_tlb *t, const struct ww_gpu_spec *gpu, struct ww_arena *arena,
                        uint64_t seed) {
    const struct ww_tlb_shape first = {.sets = 1, .ways = gpu->tlb_l1_entries, .random = true},
                              second = {.sets = gpu->tlb_l2_sets,
                                        .ways = gpu->tlb_l2_ways,
                                        .first_ways = gpu->tlb_l2_first_ways},
                              active = {.sets = 1, .ways = gpu->tlb_contexts ? gpu->tlb_contexts : 1};
    return ww_tlb_array_init(&t->l1, arena, &first, seed) &&
           ww_tlb_array_init(&t->l2_array, arena, &second, seed) &&
           ww_tlb_array_init(&t->active, arena, &active, seed);
}

static void set_figures(struct ww_tlb *t, const struct ww_gpu_spec *gpu) {
    t->misses = gpu->tlb_misses;
    t->walkers = gpu->tlb_walkers;
    t->page_shift = 10 + (uint32_t)__builtin_ctz(gpu->tlb_page_kb);
    t->context_shift = 20 + (uint32_t)__builtin_ctz(gpu->tlb_context_mb);
    t->line_mask = ww_gpu_request_line(gpu) - 1;
    t->l2_cycles = gpu->tlb_l2_cycles;
    t->read_cycles = gpu->tlb_read_cycles;
    t->least_cycles = t->l2->latency_of ? 0 : t->l2->latency < t->read_cycles ? t->l2->latency : t->read_cycles;
    t->fill_cycles = gpu->tlb_fill_cycles;
    t->context_cycles = gpu->tlb_context_cycles;
    t->entry_bytes = gpu->tlb_entry_bytes;
    t->contexts = gpu->tlb_contexts > 0;
}

bool ww_tlb_init(struct ww_tlb *t, const struct ww_gpu_spec *gpu, struct ww_l2 *l2, uint32_t requests,
                 struct ww_arena *arena, uint64_t seed) {
    const struct ww_tlb_list none = {NONE, NONE};
    *t = (struct ww_tlb){.event = {.fn = tlb_event, .owner = t},
                         .queue = l2->queue,
                         .clock = l2->clock,
                         .l2 = l2,
                         .counter = l2->counter,
                         .live = l2->live,
                         .held = none,
                         .looking = none,
                         .walking = none};
    set_figures(t, gpu);
    l2->walk_read = ww_tlb_walk_read;
    l2->walk_context = t;
    t->request = ww_arena_array(arena, requests, sizeof *t->request);
    t->miss = ww_arena_array(arena, t->misses, sizeof *t->miss);
    t->walker = ww_arena_array(arena, t->walkers, sizeof *t->walker);
    if (!t->request || !t->miss || !t->walker) return false;
    for (uint32_t i = 0; i < requests; i++) t->request[i].next = i + 1 < requests ? i + 1 : NONE;
    for (uint32_t i = 0; i < t->misses; i++) t->miss[i].next = i + 1 < t->misses ? i + 1 : NONE;
    for (uint32_t i = 0; i < t->walkers; i++)
        t->walker[i] = (struct ww_tlb_walker){.miss = NONE, .ready = UINT64_MAX};
    return make_arrays(t, gpu, arena, seed);
}

double ww_tlb_bytes(const struct ww_gpu_spec *gpu, double requests) {
    return gpu->tlb_enabled ? requests * sizeof(struct ww_tlb_request) : 0;
}
