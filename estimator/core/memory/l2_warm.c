/* Functional warming: what accesses leave in the L2 and the TLBs, without time and without counts. */
#include "l2_part.h"
#include "tlb.h"
#include "warm.h"

/* The part's line, brought in if it is not there. What it replaces is dropped, dirty or not: its write-back
 * lies before the time that is measured. */
static struct ww_l2_line *warm_line(struct ww_l2_slice *s, struct ww_l2_part *part) {
    if (part->index == WW_NONE) {
        uint32_t victim = ww_l2_tags_victim(&s->tags, part->set);
        if (victim == WW_NONE) return NULL;
        ww_l2_tags_install(&s->tags, part->set, victim, part->number);
        part->index = victim;
    }
    ww_l2_tags_touch(&s->tags, part->set, part->index);
    return &s->tags.line[part->index];
}

static void warm_store(struct ww_l2_slice *s, const struct ww_l2_part *part, const struct ww_l2_packet *p) {
    ww_l2_mark_written(s, part, p);
    if (!s->l2->dirty_ways) return;
    for (struct ww_l2_line *more; (more = ww_l2_surplus(s, part->set));)
        ww_l2_tags_clean(&s->tags, part->set, more);
}

static void warm_slice(struct ww_l2 *l2, uint32_t slice, const struct ww_l2_packet *p) {
    struct ww_l2_slice *s = &l2->slice[slice];
    for (uint32_t k = 0; k < l2->parts; k++) {
        uint8_t granules = ww_l2_granules_in(l2, p->granules, k);
        if (!granules) continue;
        struct ww_l2_part part = ww_l2_find_part(s, p, k, granules);
        struct ww_l2_line *line = warm_line(s, &part);
        if (!line) continue;
        bool fetched = l2->write_fetches && part.want & ~line->valid;
        if (p->kind == WW_MEM_WRITE && !fetched)
            warm_store(s, &part, p);
        else
            line->valid |= part.want | l2->fetch_of[part.want & (uint8_t)~line->valid];
        if (p->kind == WW_MEM_ATOMIC) ww_l2_tags_soil(&s->tags, part.set, line, part.want);
        if (p->kind != WW_MEM_READ && l2->side_slices) ww_l2_drop_copy(s, part.number, part.want);
    }
}

void ww_l2_warm(struct ww_l2 *l2, const struct ww_mem_request *request, struct ww_slice_place home) {
    struct ww_slice_place place = ww_l2_route(l2, request, home);
    struct ww_l2_packet p = {.address = request->address,
                             .local = place.local,
                             .granules = (uint8_t)request->sectors,
                             .bytes = request->bytes,
                             .kind = request->kind & 3u};
    if (place.slice != home.slice) { /* a copy comes from its home */
        struct ww_l2_packet at_home = p;
        at_home.local = home.local;
        warm_slice(l2, home.slice, &at_home);
    }
    warm_slice(l2, place.slice, &p);
}

static void warm_array(struct ww_tlb_array *a, uint64_t page) {
    if (!ww_tlb_array_find(a, page)) ww_tlb_array_fill(a, page);
}

void ww_tlb_warm(struct ww_tlb *t, uint64_t address) {
    uint64_t page = address >> t->page_shift;
    if (ww_tlb_array_find(&t->l1, page)) return;
    warm_array(&t->l2_array, page);
    if (t->contexts) {
        warm_array(&t->active, address >> t->context_shift);
        t->any_context = true;
    }
    ww_tlb_array_fill(&t->l1, page);
}
