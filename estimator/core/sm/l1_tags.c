/* A set-associative tag array: the L1, the constant cache and the instruction cache. */
#include "l1_tags.h"

#include "../../base/hash.h"
#include <assert.h>

#define EMPTY UINT64_MAX
#define SMALL_SET 8 /* ways that are looked at one by one */

bool ww_tags_init(struct ww_tags *t, struct ww_arena *arena, uint32_t sets, uint32_t ways, uint32_t replace,
                  uint32_t hash, uint64_t seed) {
    size_t lines = (size_t)sets * ways, buckets = 1;
    assert(lines <= WW_TAGS_LINES_MAX);
    while (8 * buckets < 2 * lines) buckets *= 2;
    *t = (struct ww_tags){.sets = sets, .ways = ways, .replace = replace, .hash = hash};
    t->power_of_two = (sets & (sets - 1)) == 0;
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
            t->line[i] = (struct ww_tag_line){.key = EMPTY, .prev = i - 1, .next = i + 1};
        t->line[base].prev = base + ways - 1;
        t->line[base + ways - 1].next = base;
    }
    ww_rng_seed(&t->rng, seed);
    return true;
}

void ww_tags_index(struct ww_tags *t, const struct ww_set_index *index) {
    t->index = index;
}

void ww_tags_weights(struct ww_tags *t, const uint32_t *weight) {
    t->weight = weight;
}

static inline void bucket_add(struct ww_tags *t, uint32_t line) {
    const uint64_t tops = 0x8080808080808080u, hash = ww_tags_hash(t->line[line].key);
    struct ww_tags_bucket *b = &t->bucket[ww_tags_home(t, hash)];
    while (!(~b->prints & tops)) {
        b->passed++;
        b = &t->bucket[(uint32_t)(b - t->bucket + 1) & t->bucket_mask];
    }
    uint32_t bit = (uint32_t)__builtin_ctzll(~b->prints & tops) - 7;
    b->prints |= ww_tags_print(hash) << bit;
    b->line[bit / 8] = (uint16_t)line;
}

/* Takes the line out of the bucket; false: it is not there. */
static inline bool take_out(struct ww_tags_bucket *b, uint64_t print, uint32_t line) {
    for (uint64_t m = ww_tags_matches(b->prints, print); m; m &= m - 1) {
        uint32_t bit = (uint32_t)__builtin_ctzll(m) - 7;
        if (b->line[bit / 8] != line) continue;
        b->prints &= ~((uint64_t)0xff << bit);
        return true;
    }
    return false;
}

static inline void bucket_remove(struct ww_tags *t, uint32_t line) {
    uint64_t hash = ww_tags_hash(t->line[line].key);
    uint32_t i = ww_tags_home(t, hash);
    while (!take_out(&t->bucket[i], ww_tags_print(hash), line)) {
        t->bucket[i].passed--;
        i = (i + 1) & t->bucket_mask;
    }
}

void ww_tags_move_first(struct ww_tags *t, uint32_t set, uint32_t line) {
    uint32_t first = t->first[set], last = t->line[first].prev;
    t->first[set] = line;
    if (line == first || line == last) return;
    struct ww_tag_line *l = &t->line[line];
    t->line[l->prev].next = l->next;
    t->line[l->next].prev = l->prev;
    l->prev = last;
    l->next = first;
    t->line[last].next = t->line[first].prev = line;
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
    if (valid && t->bucket) bucket_remove(t, line);
    t->line[line].key = key;
    if (t->bucket) bucket_add(t, line);
    if (t->line[t->first[set]].prev == line) /* the usual one */
        t->first[set] = line;
    else
        ww_tags_move_first(t, set, line);
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
    if (t->bucket) bucket_remove(t, line);
    t->line[line].key = EMPTY;
    move_last(t, set, line);
}
