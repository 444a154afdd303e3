#include "l2_tags.h"
#include "../base/hash.h"

bool ww_l2_tags_init(struct ww_l2_tags *t, const struct ww_gpu_spec *gpu, struct ww_arena *arena,
                     uint32_t slice, uint64_t seed) {
    uint64_t bytes = ((uint64_t)gpu->l2_size_kb << 10) / gpu->l2_slices;
    *t = (struct ww_l2_tags){.ways = gpu->l2_ways,
                             .stride = (gpu->l2_ways + 7) & ~7u,
                             .sets = (uint32_t)(bytes / ((uint64_t)gpu->l2_line * gpu->l2_ways)),
                             .replace = gpu->l2_replace,
                             .hash = gpu->l2_hash == WW_HASH_XOR};
    ww_divider_init(&t->by_sets, t->sets);
    while ((uint64_t)2 << t->fold_bits <= t->sets) t->fold_bits++;
    ww_rng_seed(&t->rng, ww_hash_mix(seed + slice));
    size_t count = (size_t)t->sets * t->stride;
    t->line = ww_arena_array(arena, count, sizeof *t->line);
    t->print = ww_arena_array(arena, count / 8, sizeof *t->print);
    return t->line && t->print;
}

static uint32_t random_victim(struct ww_l2_tags *t, uint32_t first) {
    uint32_t start = ww_rng_below(&t->rng, t->ways);
    for (uint32_t i = 0; i < t->ways; i++) {
        uint32_t way = start + i < t->ways ? start + i : start + i - t->ways;
        if (!t->line[first + way].pending) return first + way;
    }
    return WW_NONE;
}

uint32_t ww_l2_tags_victim(struct ww_l2_tags *t, uint32_t set) {
    uint32_t first = set * t->stride, best = WW_NONE, oldest = 0;
    for (uint32_t w = 0; w < t->ways; w++)
        if (!(uint8_t)(t->print[(first + w) / 8] >> w % 8 * 8)) return first + w;
    if (t->replace == WW_REPLACE_RANDOM) return random_victim(t, first);
    for (uint32_t w = 0; w < t->ways; w++) {
        const struct ww_l2_line *line = &t->line[first + w];
        uint32_t age = t->clock - line->stamp;
        if (!line->pending && (best == WW_NONE || age > oldest)) {
            best = first + w;
            oldest = age;
        }
    }
    return best;
}

void ww_l2_tags_install(struct ww_l2_tags *t, uint32_t index, uint64_t number) {
    uint64_t *word = &t->print[index / 8];
    uint32_t shift = index % 8 * 8;
    t->line[index] = (struct ww_l2_line){.number = number, .stamp = ++t->clock, .miss = WW_NONE};
    *word = (*word & ~((uint64_t)0xff << shift)) | (uint64_t)ww_l2_print_of(number) << shift;
}
