/* A set-associative tag array: the L1, the constant cache and the instruction cache. */
#include "l1_tags.h"

#include "../../base/hash.h"
#include <assert.h>

#define EMPTY WW_TAGS_EMPTY
#define SMALL_SET 8 /* ways that are looked at one by one */

bool ww_tags_init(struct ww_tags *t, struct ww_arena *arena, uint32_t sets, uint32_t ways, uint32_t replace,
                  uint32_t hash, uint64_t seed) {
    size_t lines = (size_t)sets * ways, buckets = 1;
    assert(lines <= WW_TAGS_LINES_MAX);
    while (WW_TAGS_SLOTS * buckets < 2 * lines) buckets *= 2;
    *t = (struct ww_tags){.sets = sets, .ways = ways, .replace = replace, .hash = hash};
    t->power_of_two = (sets & (sets - 1)) == 0;
    t->by_bits = t->power_of_two && hash != WW_HASH_XOR;
    while ((1u << t->set_shift) < sets) t->set_shift++;
    t->way_shift = ways & (ways - 1) ? 32 : (uint32_t)__builtin_ctz(ways);
    t->bucket_mask = (uint32_t)(buckets - 1);
    t->line = ww_arena_raw_lines(arena, lines, sizeof *t->line);
    t->first = ww_arena_array(arena, sets, sizeof *t->first);
    if (ways > SMALL_SET && !(t->bucket = ww_arena_lines(arena, buckets, sizeof *t->bucket))) return false;
    if (!t->line || !t->first) return false;
    for (uint32_t set = 0; set < sets; set++) {
        uint32_t base = set * ways;
        t->first[set] = base;
        for (uint32_t i = base; i < base + ways; i++)
            t->line[i] =
                (struct ww_tag_line){.key = EMPTY, .prev = (uint16_t)(i - 1), .next = (uint16_t)(i + 1)};
        t->line[base].prev = (uint16_t)(base + ways - 1);
        t->line[base + ways - 1].next = (uint16_t)base;
    }
    ww_rng_seed(&t->rng, seed);
    return true;
}

void ww_tags_index(struct ww_tags *t, const struct ww_set_index *index) {
    t->index = index;
    t->by_bits = false;
}

void ww_tags_weights(struct ww_tags *t, const uint32_t *weight) {
    t->weight = weight;
}

void ww_tags_move_first(struct ww_tags *t, uint32_t set, uint32_t line) {
    struct ww_tag_line *all = t->line, *l = &all[line];
    uint32_t first = t->first[set], last = all[first].prev;
    t->first[set] = line;
    if (line == first || line == last) return;
    uint16_t prev = l->prev, next = l->next;
    all[prev].next = next;
    all[next].prev = prev;
    l->prev = (uint16_t)last;
    l->next = (uint16_t)first;
    all[last].next = all[first].prev = (uint16_t)line;
}

static void move_last(struct ww_tags *t, uint32_t set, uint32_t line) {
    ww_tags_move_first(t, set, line);
    t->first[set] = t->line[line].next;
}

/* A way of a set by the weights of those that are not pinned; the first empty one, if there is one: then the
 * last of the order is empty, too. */
static uint32_t weighted_victim(struct ww_tags *t, uint32_t set) {
    uint32_t base = set * t->ways, sum = 0;
    if (t->line[ww_tags_last(t, set)].key == EMPTY)
        for (uint32_t i = base;; i++)
            if (t->line[i].key == EMPTY) return i;
    for (uint32_t i = 0; i < t->ways; i++) sum += t->line[base + i].pins ? 0 : t->weight[i];
    if (!sum) return WW_NO_LINE;
    uint32_t drawn = ww_rng_below(&t->rng, sum), i = 0;
    for (; t->line[base + i].pins || drawn >= t->weight[i]; i++)
        if (!t->line[base + i].pins) drawn -= t->weight[i];
    return base + i;
}

static inline uint32_t victim(struct ww_tags *t, uint32_t set) {
    uint32_t line = ww_tags_last(t, set);
    if (t->replace == WW_REPLACE_WEIGHTED) return weighted_victim(t, set);
    if (t->line[line].key == EMPTY) return line;
    if (t->replace == WW_REPLACE_RANDOM) {
        uint32_t pick = set * t->ways + ww_rng_below(&t->rng, t->ways);
        if (!t->line[pick].pins) return pick;
    }
    while (line != WW_NO_LINE && t->line[line].pins) line = ww_tags_before(t, set, line);
    return line;
}

uint32_t ww_tags_victim(struct ww_tags *t, uint64_t key) {
    return victim(t, ww_tags_set(t, key));
}

static inline bool replace(struct ww_tags *t, uint32_t set, uint32_t line, uint64_t key) {
    bool valid = t->line[line].key != EMPTY;
    if (valid && t->bucket) ww_tags_take_out(t, &t->line[line]);
    t->line[line].key = key;
    if (t->bucket) ww_tags_put(t, line, ww_tags_hash(key));
    ww_tags_turn(t, set, line);
    return valid;
}

bool ww_tags_replace(struct ww_tags *t, uint32_t line, uint64_t key) {
    return replace(t, ww_tags_set_of_line(t, line), line, key);
}

uint32_t ww_tags_take(struct ww_tags *t, uint64_t key, bool *evicted) {
    uint32_t set = ww_tags_set(t, key), line = victim(t, set);
    if (line == WW_NO_LINE) return line;
    *evicted = replace(t, set, line, key);
    ww_tags_prefetch_victim(t, line);
    return line;
}

void ww_tags_drop(struct ww_tags *t, uint32_t line) {
    if (t->line[line].key == EMPTY) return;
    uint32_t set = ww_tags_set_of_line(t, line);
    if (t->bucket) ww_tags_take_out(t, &t->line[line]);
    t->line[line].key = EMPTY;
    move_last(t, set, line);
}
