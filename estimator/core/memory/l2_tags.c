/* Tags and line states of one L2 slice. */
#include "l2_tags.h"
#include "../../base/hash.h"

static bool make_order(struct ww_l2_tags *t, struct ww_arena *arena) {
    if (t->ways <= WW_L2_WORD_WAYS) {
        t->order = ww_arena_array(arena, (size_t)t->sets * t->stride / 8, sizeof *t->order);
        return t->order;
    }
    t->link = ww_arena_array(arena, (size_t)t->sets * t->stride, sizeof *t->link);
    t->newest = ww_arena_array(arena, t->sets, sizeof *t->newest);
    t->oldest = ww_arena_array(arena, t->sets, sizeof *t->oldest);
    return t->link && t->newest && t->oldest;
}

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
    t->fold_half = ww_fold_half(t->fold_bits);
    ww_rng_seed(&t->rng, ww_hash_mix(seed + slice));
    size_t count = (size_t)t->sets * t->stride;
    t->line = ww_arena_array(arena, count, sizeof *t->line);
    t->print = ww_arena_array(arena, count / 8, sizeof *t->print);
    t->dirty = ww_arena_array(arena, t->sets, sizeof *t->dirty);
    if (!t->line || !t->print || !t->dirty || !make_order(t, arena)) return false;
    if (t->replace == WW_L2_NRU) {
        t->used = ww_arena_array(arena, t->sets, sizeof *t->used);
        if (!t->used) return false;
    }
    return true;
}

/* The order of a set whose memory is zero, way 0 the oldest. Most sets of a large L2 are never used. */
static void begin_set(struct ww_l2_tags *t, uint32_t set) {
    if (t->order) {
        uint64_t *word = &t->order[(size_t)set * t->stride / 8];
        for (uint64_t w = 0; w < t->ways; w++) word[w / 8] |= (t->ways - 1 - w) << w % 8 * 8;
        return;
    }
    struct ww_l2_link *link = &t->link[(size_t)set * t->stride];
    for (uint32_t w = 0; w < t->ways; w++) {
        link[w].newer = (uint16_t)(w + 1);
        link[w].older = (uint16_t)(w - 1);
    }
    t->newest[set] = (uint16_t)(t->ways - 1);
}

static bool begun(const struct ww_l2_tags *t, uint32_t set) {
    return t->order ? t->order[set * t->stride / 8] != 0 : t->newest[set] != t->oldest[set];
}

void ww_l2_tags_relink(struct ww_l2_tags *t, uint32_t set, uint32_t way) {
    struct ww_l2_link *link = &t->link[(size_t)set * t->stride], *e = &link[way];
    if (t->oldest[set] == way)
        t->oldest[set] = e->newer;
    else
        link[e->older].newer = e->newer;
    link[e->newer].older = e->older;
    link[t->newest[set]].newer = (uint16_t)way;
    e->older = t->newest[set];
    t->newest[set] = (uint16_t)way;
}

uint32_t ww_l2_tags_newer(const struct ww_l2_tags *t, uint32_t set, uint32_t way) {
    if (!t->order) return t->newest[set] == way ? WW_NONE : t->link[(size_t)set * t->stride + way].newer;
    uint32_t newer = WW_NONE;
    for (const uint64_t *word = &t->order[set * t->stride / 8];; word++) {
        uint32_t byte = ww_l2_byte_of(*word, way);
        if (byte == 0) return newer;
        if (byte < 64) return (uint32_t)(*word >> (byte - 8) & 255);
        newer = (uint32_t)(*word >> 56);
    }
}

static bool empty(const struct ww_l2_tags *t, uint32_t index) {
    return !(uint8_t)(t->print[index / 8] >> index % 8 * 8);
}

/* A random way without pending sectors that is not in `spared`; WW_NONE: none. */
static uint32_t random_victim(struct ww_l2_tags *t, uint32_t first, uint64_t spared) {
    uint32_t start = ww_rng_below(&t->rng, t->ways);
    for (uint32_t i = 0; i < t->ways; i++) {
        uint32_t way = start + i < t->ways ? start + i : start + i - t->ways;
        if (spared && spared >> way & 1) continue;
        if (!t->line[first + way].pending) return first + way;
    }
    return WW_NONE;
}

uint32_t ww_l2_tags_victim(struct ww_l2_tags *t, uint32_t set) {
    if (!begun(t, set)) begin_set(t, set);
    uint32_t first = set * t->stride, way = ww_l2_tags_oldest(t, set);
    if (empty(t, first + way)) return first + way;
    if (t->replace == WW_L2_RANDOM) return random_victim(t, first, 0);
    if (t->replace == WW_L2_NRU) {
        uint32_t index = random_victim(t, first, t->used[set]);
        return index != WW_NONE ? index : random_victim(t, first, 0);
    }
    while (t->line[first + way].pending) {
        way = ww_l2_tags_newer(t, set, way);
        if (way == WW_NONE) return WW_NONE;
    }
    return first + way;
}

/* Makes the oldest way of a set with words the newest. Behind the last way, bytes may be any. */
static void turn(struct ww_l2_tags *t, uint32_t set, uint64_t way) {
    uint64_t *word = &t->order[set * t->stride / 8], *end = word + t->stride / 8;
    for (; word < end; word++) {
        uint64_t ways = *word;
        *word = ways << 8 | way;
        way = ways >> 56;
    }
}

void ww_l2_tags_install(struct ww_l2_tags *t, uint32_t set, uint32_t index, uint64_t number) {
    uint64_t *word = &t->print[index / 8];
    struct ww_l2_line *line = &t->line[index];
    uint32_t shift = index % 8 * 8;
    t->installs++;
    uint32_t way = index - set * t->stride;
    if (t->order && way == ww_l2_tags_oldest(t, set))
        turn(t, set, way);
    else
        ww_l2_tags_renew(t, set, index);
    ww_l2_tags_clean(t, set, line);
    *line = (struct ww_l2_line){.number = number, .miss = WW_NONE};
    *word = (*word & ~((uint64_t)0xff << shift)) | (uint64_t)ww_l2_print_of(number) << shift;
}
