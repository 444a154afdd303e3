/* Address translation of fast replay: the arrays of tlb.h, with the time of each translation known at once. */
#include "fast.h"

/* Where tables lie: as tlb_walk.c has them. */
static uint64_t read(struct ww_fast *f, const struct ww_mem_request *request, uint64_t address, uint32_t bytes,
                     uint64_t cycle, bool *from_dram) {
    struct ww_tlb *t = f->tlb;
    uint32_t offset = (uint32_t)address & t->line_mask, sectors = bytes / 32;
    struct ww_slice_place place = ww_addrmap_slice(f->l2->map, address - offset);
    struct ww_l2_packet p = {.address = address - offset,
                             .local = f->l2->copy_bit ? place.local & (WW_L2_COPY - 1) : place.local,
                             .inst = request->inst,
                             .sm = WW_L2_WALKER,
                             .granules = (uint8_t)(((1u << sectors) - 1) << offset / 32),
                             .kind = WW_MEM_READ,
                             .needs_reply = WW_L2_REPLY_SM,
                             .fine = 1};
    f->counter[WW_C_TLB_WALK_SECTOR] += sectors;
    return ww_fast_walk_read(f, place.slice, &p, cycle + t->read_cycles, from_dram);
}

/* When a walk for the page, asked for at `cycle`, ends. */
static uint64_t walk(struct ww_fast *f, const struct ww_mem_request *request, uint64_t page, uint64_t cycle) {
    struct ww_tlb *t = f->tlb;
    uint64_t begin = ww_places_free(&f->walkers, 1, cycle), start = begin,
             region = page >> (t->context_shift - t->page_shift);
    bool from_dram = false;
    f->counter[WW_C_TLB_WALK]++;
    if (t->contexts) {
        if (!t->any_context) ww_tlb_array_fill(&t->active, region);
        t->any_context = true;
        if (!ww_tlb_array_find(&t->active, region)) {
            f->counter[WW_C_TLB_CONTEXT_SWITCH]++;
            start =
                read(f, request, ww_tlb_directory_address(region), WW_TLB_DIRECTORY_BYTES, start, &from_dram);
            start += t->context_cycles;
            ww_tlb_array_fill(&t->active, region);
            from_dram = false;
        }
    }
    uint64_t end = read(f, request, ww_tlb_table_address(t, page), t->entry_bytes, start, &from_dram);
    if (from_dram) end += t->fill_cycles;
    ww_places_take(&f->walkers, 1, end);
    f->counter[WW_C_TLB_WALK_CYCLES] += end - cycle;
    return end;
}

/* The page's translation, if it is under way at `cycle`; NULL: it is not. */
static const struct ww_fast_page *under_way(const struct ww_fast *f, uint64_t page, uint64_t cycle) {
    if (f->translated <= cycle) return NULL;
    for (uint32_t i = 0; i < f->pages; i++)
        if (f->page[i].page == page && f->page[i].ready > cycle) return &f->page[i];
    return NULL;
}

uint64_t ww_fast_translate(struct ww_fast *f, const struct ww_mem_request *request, uint64_t cycle,
                           bool *walked) {
    struct ww_tlb *t = f->tlb;
    uint64_t page = request->address >> t->page_shift;
    const struct ww_fast_page *same = under_way(f, page, cycle);
    *walked = false;
    f->counter[WW_C_TLB_L1_ACCESS]++;
    if (same) {
        f->counter[WW_C_TLB_L1_MISS]++;
        f->counter[WW_C_TLB_MERGED]++;
        *walked = same->walked;
        return same->ready;
    }
    if (ww_tlb_array_find(&t->l1, page)) {
        f->counter[WW_C_TLB_L1_HIT]++;
        return cycle;
    }
    f->counter[WW_C_TLB_L1_MISS]++;
    f->counter[WW_C_TLB_L2_ACCESS]++;
    struct ww_fast_page *p = &f->page[f->page_at];
    if (++f->page_at == f->pages) f->page_at = 0;
    if (p->ready > cycle) cycle = p->ready; /* no miss is free before */
    uint64_t start = f->l2_tlb_free > cycle ? f->l2_tlb_free : cycle, ready = start + t->l2_cycles;
    f->l2_tlb_free = start + 1;
    if (ww_tlb_array_find(&t->l2_array, page)) {
        f->counter[WW_C_TLB_L2_HIT]++;
    } else {
        f->counter[WW_C_TLB_L2_MISS]++;
        *walked = true;
        ready = walk(f, request, page, ready);
        ww_tlb_array_fill(&t->l2_array, page);
    }
    ww_tlb_array_fill(&t->l1, page);
    *p = (struct ww_fast_page){.page = page, .ready = ready, .walked = *walked};
    if (ready > f->translated) f->translated = ready;
    return ready;
}
