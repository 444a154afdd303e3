/* Making the L1 and the texture cache of an SM from the GPU's parameters. */
#include "../../result/result.h"
#include "sm.h"

#include "l1_tag.h"

static uint32_t log2_of(uint32_t power) {
    return (uint32_t)__builtin_ctz(power);
}

static void fill_tables(struct ww_cache_shape *s, uint32_t bytes_per_cycle) {
    for (uint32_t n = 0; n <= 8; n++) {
        uint32_t cycles = (n * 32 + bytes_per_cycle - 1) / bytes_per_cycle;
        s->data_cycles[n] = cycles ? cycles : 1;
    }
    for (uint32_t m = 0; m < 256; m++)
        for (uint32_t p = 0; p < 8; p++)
            if ((m >> p) & 1) s->sectors_of[m] |= (uint8_t)(1u << (p >> s->sector_shift));
}

static void l1_shape(struct ww_cache_shape *s, const struct ww_gpu_spec *g) {
    uint64_t weight[WW_MASKS_MAX] = {0};
    *s = (struct ww_cache_shape){.line_shift = log2_of(g->l1_line),
                                 .sector_shift = log2_of(g->l1_sector / 32),
                                 .latency = g->l1_latency + g->lsu_latency,
                                 .mshrs = g->l1_mshrs,
                                 .mshr_merge = g->l1_mshr_merge,
                                 .tag = WW_TAG_MSHR,
                                 .offset_mask = ww_gpu_request_line(g) / g->l1_line - 1,
                                 .fine = ww_gpu_request_line(g) != g->l1_line,
                                 .access = WW_C_L1_ACCESS,
                                 .read = WW_C_L1_SECTOR_READ,
                                 .hit = WW_C_L1_SECTOR_HIT,
                                 .merged = WW_C_L1_SECTOR_MERGED,
                                 .miss = WW_C_L1_SECTOR_MISS,
                                 .evicted = WW_C_L1_EVICTION};
    fill_tables(s, g->l1_bytes_per_cycle);
    ww_mask_list(g->l1_way_weights, weight);
    for (uint32_t i = 0; i < WW_MASKS_MAX; i++) s->weight[i] = (uint32_t)weight[i];
    uint32_t sets = g->l1_size_kb * 1024 / g->l1_line / g->l1_ways;
    ww_set_index_init(&s->index, g->l1_index, s->line_shift, sets);
}

static void tex_shape(struct ww_cache_shape *s, const struct ww_gpu_spec *g) {
    *s = (struct ww_cache_shape){.line_shift = log2_of(g->tex_line),
                                 .latency = g->l1_latency + g->lsu_latency,
                                 .mshrs = g->tex_mshrs,
                                 .mshr_merge = g->tex_mshr_merge,
                                 .tag = WW_TAG_TEX,
                                 .offset_mask = ww_gpu_request_line(g) / g->tex_line - 1,
                                 .fine = true,
                                 .access = WW_C_TEX_ACCESS,
                                 .read = WW_C_TEX_SECTOR_READ,
                                 .hit = WW_C_TEX_SECTOR_HIT,
                                 .merged = WW_C_TEX_SECTOR_MERGED,
                                 .miss = WW_C_TEX_SECTOR_MISS,
                                 .evicted = WW_C_TEX_EVICTION};
    fill_tables(s, g->tex_bytes_per_cycle);
    ww_set_index_init(&s->index, g->tex_index, s->line_shift, g->tex_kb * 1024 / g->tex_line / g->tex_ways);
}

void ww_cache_shapes(struct ww_core *core) {
    const struct ww_gpu_spec *g = core->gpu;
    l1_shape(&core->l1_shape, g);
    if (g->tex_kb) tex_shape(&core->tex_shape, g);
    core->request_shift[WW_CACHE_NONE] = log2_of(ww_gpu_request_line(g));
    core->request_shift[WW_CACHE_L1] = core->l1_shape.line_shift;
    core->request_shift[WW_CACHE_TEX] = core->tex_shape.line_shift;
}

bool ww_cache_init(struct ww_cache *c, const struct ww_cache_shape *shape, struct ww_arena *arena) {
    c->shape = shape;
    c->entry = ww_arena_raw(arena, shape->mshrs, sizeof *c->entry);
    if (!c->entry) return false;
    for (uint32_t i = 0; i < shape->mshrs; i++)
        c->entry[i] = (struct ww_mshr){.next_free = i + 1 < shape->mshrs ? i + 1 : WW_NONE};
    return true;
}

/* The translations that an SM keeps: as many as the L1 TLB does. */
static bool init_pages(struct ww_sm *sm, struct ww_arena *arena, uint64_t seed) {
    const struct ww_gpu_spec *g = sm->core->gpu;
    const struct ww_tlb_shape shape = {.sets = 1, .ways = g->tlb_l1_entries, .random = true};
    if (!g->tlb_enabled || !g->tlb_on_l1_hit) return true;
    sm->page_shift = 10 + log2_of(g->tlb_page_kb);
    return ww_tlb_array_init(&sm->pages, arena, &shape, seed);
}

bool ww_l1_init(struct ww_sm *sm, struct ww_arena *arena, uint32_t ways, uint64_t seed) {
    const struct ww_gpu_spec *g = sm->core->gpu;
    const struct ww_cache_shape *l1 = &sm->core->l1_shape, *tex = &sm->core->tex_shape;
    uint32_t lines = g->l1_size_kb * 1024 / g->l1_line, sets = lines / g->l1_ways;
    if (sets == 0) sets = 1;
    if (ways > lines) ways = lines;
    /* a CTA of a cluster has an arrival and its end to tell at a time, an instruction a request for each other
     */
    uint32_t more = sm->core->main->cluster_size > 1 ? 2 * g->sm_max_ctas + WW_CLUSTER_CTAS : 0;
    sm->misses.room = g->l1_miss_queue + more;
    sm->misses.most = g->l1_miss_queue > g->l1_read_spare ? g->l1_miss_queue - g->l1_read_spare : 0;
    sm->misses.ring = ww_arena_array(arena, sm->misses.room, sizeof *sm->misses.ring);
    sm->misses.came = ww_arena_array(arena, sm->misses.room, sizeof *sm->misses.came);
    if (!sm->misses.ring || !sm->misses.came || !ww_cache_init(&sm->l1, l1, arena)) return false;
    if (!ww_tags_init(&sm->l1.tags, arena, sets, ways, g->l1_replace, g->l1_hash, seed)) return false;
    if (l1->index.parts) ww_tags_index(&sm->l1.tags, &l1->index);
    if (g->l1_replace == WW_REPLACE_WEIGHTED) ww_tags_weights(&sm->l1.tags, l1->weight);
    if (sm->core->ops->evicted) {
        sm->l1.brought = ww_arena_array(arena, (size_t)sets * ways, sizeof *sm->l1.brought);
        if (!sm->l1.brought) return false;
    }
    if (!init_pages(sm, arena, seed)) return false;
    if (!sm->core->code.uses_tex) return true; /* launches that do without it are the rule */
    sets = g->tex_kb * 1024 / g->tex_line / g->tex_ways;
    if (!ww_cache_init(&sm->tex, tex, arena)) return false;
    if (!ww_tags_init(&sm->tex.tags, arena, sets, g->tex_ways, WW_REPLACE_LRU, WW_HASH_NONE, seed))
        return false;
    if (tex->index.parts) ww_tags_index(&sm->tex.tags, &tex->index);
    return true;
}

void ww_l1_invalidate(struct ww_cache *c) {
    uint32_t lines = c->tags.sets * c->tags.ways;
    for (uint32_t i = 0; i < lines; i++) {
        struct ww_tag_line *l = &c->tags.line[i];
        if (l->key == UINT64_MAX) continue;
        l->valid = 0;
        if (!l->pins) ww_tags_drop(&c->tags, i);
    }
}
