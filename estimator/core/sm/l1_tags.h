/* l1_tags.h: a set-associative tag array: the L1, the constant cache and the instruction cache.
 *
 * Lines of small sets are found by comparing each way, those of larger ones through a hash table of all keys;
 * the order of replacement is a list per set. A line may be pinned (a miss is outstanding): it is never a
 * victim. Per-line data (valid sectors and the like) belong to the owner.
 */
#ifndef WW_CORE_L1_TAGS_H
#define WW_CORE_L1_TAGS_H

#include "../../base/ahead.h"
#include "../../base/arena.h"
#include "../../base/rng.h"
#include "../../config/gpu.h"
#include "../memory/set_index.h"

#define WW_NO_LINE UINT32_MAX

/* The fields of a line are adjacent, since they are used together and the tags of all SMs exceed the host's
 * caches. */
struct ww_tag_line {
    uint64_t key;                  /* UINT64_MAX: empty */
    uint32_t prev, next;           /* order in its set, most recent first */
    uint32_t valid, pending, mshr; /* the owner's: sector bits, entry */
    uint32_t pins;
};

struct ww_tags {
    struct ww_tag_line *line;
    uint32_t *first, *last; /* by set */
    uint32_t *slot;         /* hash table of prints and line numbers + 1; NULL: sets are small */
    uint32_t slot_mask;
    uint32_t sets, ways;
    uint32_t set_shift; /* bits of sets, if a power of two */
    uint32_t way_shift; /* bits of ways, if a power of two, else 32 */
    uint32_t replace, hash;
    const struct ww_set_index *index; /* NULL: by hash */
    const uint32_t *weight;           /* of each way, for weighted replacement */
    bool power_of_two;
    struct ww_rng rng;
};

/* Makes an empty array of sets x ways lines, WW_TAGS_LINES_MAX at most. False: out of memory. */
bool ww_tags_init(struct ww_tags *t, struct ww_arena *arena, uint32_t sets, uint32_t ways, uint32_t replace,
                  uint32_t hash, uint64_t seed);
/* Lets `index` (which stays the caller's, and has parts > 0) choose the sets of an empty array. */
void ww_tags_index(struct ww_tags *t, const struct ww_set_index *index);
/* Weights of the ways for WW_REPLACE_WEIGHTED, not all 0: a full set's victim is way i with probability
 * weight[i] / sum. Empty ways are filled in their order. The array stays the caller's. */
void ww_tags_weights(struct ww_tags *t, const uint32_t *weight);
/* An entry of the hash table has a print of the key in its upper half, so that a search looks at no line but
 * the right one, and a line number + 1 in its lower half. */
#define WW_TAGS_LINES_MAX (1u << 15)
#define WW_TAGS_SLOT_LINE 0xffffu

/* The print of a key; its low bits are where the look-up of the key begins in the hash table. */
static inline uint32_t ww_tags_print(uint64_t key) {
    return (uint32_t)((key * 0x9e3779b97f4a7c15u) >> 48);
}

/* The set that may hold `key`. */
static inline uint32_t ww_tags_set(const struct ww_tags *t, uint64_t key) {
    if (t->index) return ww_set_index_of(t->index, key);
    if (t->hash == WW_HASH_XOR && t->power_of_two)
        key ^= (key >> t->set_shift) ^ (key >> (2 * t->set_shift));
    else if (t->hash == WW_HASH_XOR)
        key ^= key >> 7;
    return t->power_of_two ? (uint32_t)key & (t->sets - 1) : (uint32_t)(key % t->sets);
}

/* The set of a line. */
static inline uint32_t ww_tags_set_of_line(const struct ww_tags *t, uint32_t line) {
    return t->way_shift < 32 ? line >> t->way_shift : line / t->ways;
}

/* The line that holds `key` (an address divided by the line size), or WW_NO_LINE. */
static inline uint32_t ww_tags_find(const struct ww_tags *t, uint64_t key) {
    if (!t->slot) {
        uint32_t first = ww_tags_set(t, key) * t->ways;
        for (uint32_t i = 0; i < t->ways; i++)
            if (t->line[first + i].key == key) return first + i;
        return WW_NO_LINE;
    }
    uint32_t print = ww_tags_print(key);
    for (uint32_t i = print & t->slot_mask;; i = (i + 1) & t->slot_mask) {
        uint32_t slot = t->slot[i], line = (slot & WW_TAGS_SLOT_LINE) - 1;
        if (slot == 0) return WW_NO_LINE;
        if (slot >> 16 == print && t->line[line].key == key) return line;
    }
}

/* Makes the line the first of its set's order. */
void ww_tags_move_first(struct ww_tags *t, uint32_t set, uint32_t line);
/* Records a use of the line, for LRU. */
static inline void ww_tags_touch(struct ww_tags *t, uint32_t line) {
    if (t->replace == WW_REPLACE_LRU && t->line[line].prev != WW_NO_LINE)
        ww_tags_move_first(t, ww_tags_set_of_line(t, line), line);
}
/* The line that `key` would replace, or WW_NO_LINE if all of its set are pinned. An empty one comes first. */
uint32_t ww_tags_victim(struct ww_tags *t, uint64_t key);
/* The host loads what a look-up of the key begins with. */
WW_AHEAD ww_tags_prefetch(const struct ww_tags *t, uint64_t key) {
    if (t->slot)
        __builtin_prefetch(&t->slot[ww_tags_print(key) & t->slot_mask], 1);
    else
        __builtin_prefetch(&t->line[ww_tags_set(t, key) * t->ways]);
}
/* The host loads what the next replacement in the set of a line will look at, and a line of the one after it.
 */
WW_AHEAD ww_tags_prefetch_victim(const struct ww_tags *t, uint32_t line) {
    const struct ww_tag_line *victim = &t->line[t->last[ww_tags_set_of_line(t, line)]];
    if (!t->slot) return;
    ww_tags_prefetch(t, victim->key);
    if (victim->prev != WW_NO_LINE) __builtin_prefetch(&t->line[victim->prev], 1);
}
/* Gives the line (a victim of key) to `key`. Returns true if a valid key was replaced. */
bool ww_tags_replace(struct ww_tags *t, uint32_t line, uint64_t key);
/* Forgets the line's key; it becomes the set's first victim. */
void ww_tags_drop(struct ww_tags *t, uint32_t line);

#endif
