/* Page walks. */
#include "../../result/result.h"
#include "tlb.h"

#define NONE UINT32_MAX

#define OVERTAKES 32u /* walks that may go before one whose region is not cached: an assumption */

/* The instruction whose request missed first. */
static uint32_t caused_by(const struct ww_tlb *t, uint32_t walker) {
    const struct ww_tlb_miss *miss = &t->miss[t->walker[walker].miss];
    return t->request[miss->first].request.inst;
}

/* Sends the walker's read of `bytes` bytes, within one line, to its slice. */
static void send_read(struct ww_tlb *t, uint32_t walker, uint64_t address, uint32_t bytes, uint64_t cycle) {
    uint32_t offset = (uint32_t)address & t->line_mask, sectors = bytes / 32;
    struct ww_mem_request request = {.address = address - offset,
                                     .sectors = ((1u << sectors) - 1) << offset / 32,
                                     .tag = walker,
                                     .sm = WW_L2_WALKER,
                                     .kind = WW_MEM_READ,
                                     .needs_reply = 1,
                                     .fine = 1,
                                     .inst = caused_by(t, walker)};
    struct ww_slice_place place = ww_addrmap_slice(t->l2->map, request.address);
    t->walker[walker].ready = UINT64_MAX;
    t->counter[WW_C_TLB_WALK_SECTOR] += sectors;
    ww_l2_push_walk(t->l2, place.slice, &request, place.local, cycle + t->read_cycles);
}

static void read_table(struct ww_tlb *t, uint32_t walker, uint64_t cycle) {
    struct ww_tlb_walker *w = &t->walker[walker];
    w->directory = w->from_dram = false;
    send_read(t, walker, ww_tlb_table_address(t, t->miss[w->miss].page), t->entry_bytes, cycle);
}

static void read_directory(struct ww_tlb *t, uint32_t walker, uint64_t region, uint64_t cycle) {
    t->walker[walker].directory = t->switching = true;
    t->counter[WW_C_TLB_CONTEXT_SWITCH]++;
    send_read(t, walker, ww_tlb_directory_address(region), WW_TLB_DIRECTORY_BYTES, cycle);
}

static uint64_t region_of(const struct ww_tlb *t, uint32_t m) {
    return t->miss[m].page >> (t->context_shift - t->page_shift);
}

/* True if the directory entry of the miss's region is cached. That of the first region that is used at all is
 * loaded when the kernel starts, as Mei and Chu saw. */
static bool at_hand(struct ww_tlb *t, uint32_t m) {
    if (!t->contexts) return true;
    if (!t->any_context) ww_tlb_array_fill(&t->active, region_of(t, m));
    t->any_context = true;
    return ww_tlb_array_find(&t->active, region_of(t, m));
}

static uint32_t free_walker(const struct ww_tlb *t) {
    for (uint32_t i = 0; i < t->walkers; i++)
        if (t->walker[i].miss == NONE) return i;
    return NONE;
}

/* The waiting miss that walks next, and in *before the one ahead of it in the list (NONE: it is the first).
 * Contexts change one at a time and each change costs as much as several walks, so misses whose directory entry
 * is cached go before one that needs a change; after OVERTAKES of them the other one walks. NONE: all have to
 * wait for the change that is under way. */
static uint32_t next_walk(struct ww_tlb *t, uint32_t *before) {
    uint32_t first = t->walking.first;
    *before = NONE;
    if (!t->contexts || at_hand(t, first)) return first;
    if (t->overtaken < OVERTAKES) {
        uint32_t previous = first;
        for (uint32_t m = t->miss[first].next; m != NONE; previous = m, m = t->miss[m].next) {
            if (!at_hand(t, m)) continue;
            *before = previous;
            return m;
        }
    }
    return t->switching ? NONE : first;
}

static void take_out(struct ww_tlb *t, uint32_t m, uint32_t before) {
    uint32_t next = t->miss[m].next;
    if (before == NONE) {
        t->walking.first = next;
        t->overtaken = 0;
    } else {
        t->miss[before].next = next;
        if (next == NONE) t->walking.last = before;
        t->overtaken++;
    }
}

void ww_tlb_start_walks(struct ww_tlb *t, uint64_t cycle) {
    while (t->walking.first != NONE) {
        uint32_t before, walker = free_walker(t), m;
        if (walker == NONE) return;
        m = next_walk(t, &before);
        if (m == NONE) return;
        bool known = at_hand(t, m);
        take_out(t, m, before);
        t->walker[walker].miss = m;
        t->counter[WW_C_TLB_WALK]++;
        ++*t->live;
        if (known)
            read_table(t, walker, cycle);
        else
            read_directory(t, walker, region_of(t, m), cycle);
    }
}

void ww_tlb_walk_read(void *context, const struct ww_mem_reply *reply, uint64_t cycle) {
    struct ww_tlb *t = context;
    struct ww_tlb_walker *w = &t->walker[reply->tag];
    if (reply->level == WW_LEVEL_DRAM) w->from_dram = true;
    if (!reply->last) return;
    w->ready = cycle;
    if (w->directory)
        w->ready += t->context_cycles;
    else if (w->from_dram)
        w->ready += t->fill_cycles;
    ww_tlb_wake(t, w->ready);
}

static void end_walk(struct ww_tlb *t, struct ww_tlb_walker *w, uint64_t cycle) {
    uint32_t m = w->miss;
    *w = (struct ww_tlb_walker){.miss = NONE, .ready = UINT64_MAX};
    --*t->live;
    t->counter[WW_C_TLB_WALK_CYCLES] += cycle - t->miss[m].ready;
    ww_tlb_array_fill(&t->l2_array, t->miss[m].page);
    ww_tlb_translated(t, m, true, cycle);
}

uint64_t ww_tlb_step_walks(struct ww_tlb *t, uint64_t cycle) {
    uint64_t next = UINT64_MAX;
    bool ended = false;
    for (uint32_t i = 0; i < t->walkers; i++) {
        struct ww_tlb_walker *w = &t->walker[i];
        if (w->ready <= cycle) {
            uint64_t at = ww_tlb_goes_on(t, w->ready, cycle);
            ended = true;
            if (w->directory) {
                t->switching = false;
                ww_tlb_array_fill(&t->active, region_of(t, w->miss));
                read_table(t, i, at);
            } else {
                end_walk(t, w, at);
            }
        }
        if (w->ready < next) next = w->ready;
    }
    if (ended) ww_tlb_start_walks(t, cycle);
    return next;
}
