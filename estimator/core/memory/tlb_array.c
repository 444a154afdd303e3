/* The entries of a TLB: which pages it holds. */
#include "tlb_array.h"

struct set {
    uint32_t first, ways; /* entries of it */
};

static struct set set_of(const struct ww_tlb_array *a, uint64_t page) {
    const struct ww_tlb_shape *s = &a->shape;
    uint32_t index = (uint32_t)page & a->index_mask;
    if (!s->first_ways) return (struct set){index * s->ways, s->ways};
    if (index < 2) return (struct set){0, s->first_ways};
    return (struct set){s->first_ways + (index - 2) * s->ways, s->ways};
}

bool ww_tlb_array_init(struct ww_tlb_array *a, struct ww_arena *arena, const struct ww_tlb_shape *shape,
                       uint64_t seed) {
    uint32_t larger = shape->first_ways ? 1 : 0;
    uint32_t entries = (shape->sets - larger) * shape->ways + shape->first_ways;
    *a = (struct ww_tlb_array){.shape = *shape, .index_mask = shape->sets + larger - 1};
    a->page = ww_arena_array(arena, entries, sizeof *a->page);
    a->used = ww_arena_array(arena, entries, sizeof *a->used);
    if (!a->page || !a->used) return false;
    for (uint32_t i = 0; i < entries; i++) a->page[i] = UINT64_MAX;
    ww_rng_seed(&a->rng, seed);
    return true;
}

bool ww_tlb_array_find(struct ww_tlb_array *a, uint64_t page) {
    uint32_t i = a->recent;
    if (a->page[i] != page) {
        struct set set = set_of(a, page);
        uint32_t end = set.first + set.ways;
        for (i = set.first; i < end && a->page[i] != page; i++) {
        }
        if (i == end) return false;
    }
    a->used[i] = ++a->clock;
    a->recent = i;
    return true;
}

void ww_tlb_array_fill(struct ww_tlb_array *a, uint64_t page) {
    struct set set = set_of(a, page);
    uint32_t victim = set.first;
    for (uint32_t i = set.first; i < set.first + set.ways; i++)
        if (a->used[i] < a->used[victim]) victim = i;
    if (a->shape.random && a->used[victim]) victim = set.first + (uint32_t)ww_rng_below(&a->rng, set.ways);
    a->page[victim] = page;
    a->used[victim] = ++a->clock;
}
