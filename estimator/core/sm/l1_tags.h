/* l1_tags.h: a set-associative tag array: the L1, the constant cache and the instruction cache.
 *
 * Lines of small sets are found by comparing each way, those of larger ones through a hash table of all keys;
 * the order of replacement is a ring per set, so that the last line becomes the first by a turn of it. A line
 * may be pinned (a miss is outstanding): it is never a victim. Per-line data (valid sectors and the like)
 * belong to the owner.
 */
#ifndef WW_CORE_L1_TAGS_H
#define WW_CORE_L1_TAGS_H

#include "../../base/ahead.h"
#include "../../base/arena.h"
#include "../../base/rng.h"
#include "../../config/gpu.h"
#include "../memory/set_index.h"

#define WW_NO_LINE UINT32_MAX
#define WW_TAGS_EMPTY UINT64_MAX /* the key of a line that holds none */
#define WW_TAGS_SLOTS 8u         /* of a bucket of the hash table */

/* The fields of a line are adjacent, since they are used together and the tags of all SMs exceed the host's
 * caches. */
struct ww_tag_line {
    uint64_t key;                  /* or WW_TAGS_EMPTY */
    uint16_t prev, next;           /* order in its set, most recent first; a ring */
    uint16_t place;                /* in the hash table, if there is one */
    uint32_t valid, pending, mshr; /* the owner's: sector bits, entry */
    uint32_t pins;
};

/* Of the hash table of all keys: eight lines, found by a byte of the hash of their keys. A key that finds no
 * place is in a bucket behind its own. */
struct ww_tags_bucket {
    uint64_t prints;              /* bytes, 0: free */
    uint16_t line[WW_TAGS_SLOTS]; /* by byte of prints */
    uint32_t passed;              /* keys that found no place here */
    uint32_t unused;              /* two buckets fill a line of the host's caches */
};

struct ww_tags {
    struct ww_tag_line *line;
    uint32_t *first;               /* by set */
    struct ww_tags_bucket *bucket; /* NULL: sets are small */
    uint32_t bucket_mask;
    uint32_t sets, ways;
    uint32_t set_shift; /* bits of sets, if a power of two */
    uint32_t way_shift; /* bits of ways, if a power of two, else 32 */
    uint32_t replace, hash;
    const struct ww_set_index *index; /* NULL: by hash */
    const uint32_t *weight;           /* of each way, for weighted replacement */
    bool power_of_two;
    bool by_bits; /* a key's last bits are its set */
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
#define WW_TAGS_LINES_MAX (1u << 15)

/* What a look-up in the hash table begins with: the key's bucket, and the byte that it is found by. */
static inline uint64_t ww_tags_hash(uint64_t key) {
    return key * 0x9e3779b97f4a7c15u;
}
static inline uint32_t ww_tags_home(const struct ww_tags *t, uint64_t hash) {
    return (uint32_t)(hash >> 40) & t->bucket_mask;
}
static inline uint64_t ww_tags_print(uint64_t hash) {
    return hash >> 56 | 0x80;
}

/* Bit 7 of each byte of the prints that is `print`. The byte above such a one may be marked falsely, if it is
 * not free. */
static inline uint64_t ww_tags_matches(uint64_t prints, uint64_t print) {
    const uint64_t ones = 0x0101010101010101u, tops = 0x8080808080808080u;
    uint64_t x = prints ^ print * ones;
    return (x - ones) & ~x & tops;
}

/* The set that may hold `key`. */
static inline uint32_t ww_tags_set(const struct ww_tags *t, uint64_t key) {
    if (t->by_bits) return (uint32_t)key & (t->sets - 1);
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

/* The line that holds `key`, of an array with a hash table; hash: the key's. */
static inline uint32_t ww_tags_find_hashed(const struct ww_tags *t, uint64_t key, uint64_t hash) {
    for (uint32_t i = ww_tags_home(t, hash);; i = (i + 1) & t->bucket_mask) {
        const struct ww_tags_bucket *b = &t->bucket[i];
        for (uint64_t m = ww_tags_matches(b->prints, ww_tags_print(hash)); m; m &= m - 1) {
            uint32_t line = b->line[__builtin_ctzll(m) / 8];
            if (t->line[line].key == key) return line;
        }
        if (!b->passed) return WW_NO_LINE;
    }
}

/* The line that holds `key` (an address divided by the line size), or WW_NO_LINE. */
static inline uint32_t ww_tags_find(const struct ww_tags *t, uint64_t key) {
    if (t->bucket) return ww_tags_find_hashed(t, key, ww_tags_hash(key));
    uint32_t first = ww_tags_set(t, key) * t->ways;
    for (uint32_t i = 0; i < t->ways; i++)
        if (t->line[first + i].key == key) return first + i;
    return WW_NO_LINE;
}

/* The last line of a set's order, the one before another one (WW_NO_LINE: that is the first). */
static inline uint32_t ww_tags_last(const struct ww_tags *t, uint32_t set) {
    return t->line[t->first[set]].prev;
}
static inline uint32_t ww_tags_before(const struct ww_tags *t, uint32_t set, uint32_t line) {
    return line == t->first[set] ? WW_NO_LINE : t->line[line].prev;
}
/* Makes the line the first of its set's order. */
void ww_tags_move_first(struct ww_tags *t, uint32_t set, uint32_t line);
/* Records a use of the line, for LRU. */
static inline void ww_tags_touch(struct ww_tags *t, uint32_t line) {
    if (t->replace != WW_REPLACE_LRU) return;
    uint32_t set = ww_tags_set_of_line(t, line);
    if (t->first[set] != line) ww_tags_move_first(t, set, line);
}
/* The line that `key` would replace, or WW_NO_LINE if all of its set are pinned. An empty one comes first. */
uint32_t ww_tags_victim(struct ww_tags *t, uint64_t key);
/* The host loads what a look-up of the key begins with; of an array with a hash table. */
WW_AHEAD ww_tags_prefetch_hashed(const struct ww_tags *t, uint64_t hash) {
    __builtin_prefetch(&t->bucket[ww_tags_home(t, hash)], 1);
}
WW_AHEAD ww_tags_prefetch(const struct ww_tags *t, uint64_t key) {
    if (t->bucket)
        ww_tags_prefetch_hashed(t, ww_tags_hash(key));
    else
        __builtin_prefetch(&t->line[ww_tags_set(t, key) * t->ways]);
}
/* The host loads what the next replacement in the set of a line, its first, will look at, and a line of the one
 * after it. */
WW_AHEAD ww_tags_prefetch_victim(const struct ww_tags *t, uint32_t line) {
    if (!t->bucket) return;
    const struct ww_tag_line *victim = &t->line[t->line[line].prev];
    __builtin_prefetch(&t->bucket[victim->place / WW_TAGS_SLOTS], 1);
    __builtin_prefetch(&t->line[victim->prev], 1);
}
/* Gives the line (a victim of key) to `key`. Returns true if a valid key was replaced. */
bool ww_tags_replace(struct ww_tags *t, uint32_t line, uint64_t key);
/* Both in one: gives the key's victim to it. WW_NO_LINE, and nothing has changed: there is none. *evicted, if
 * there is one: a valid key was replaced. */
uint32_t ww_tags_take(struct ww_tags *t, uint64_t key, bool *evicted);
/* Takes the line's key out of the hash table; puts it there. */
static inline void ww_tags_take_out(struct ww_tags *t, const struct ww_tag_line *l) {
    uint32_t bucket = l->place / WW_TAGS_SLOTS, bit = l->place % WW_TAGS_SLOTS * 8;
    t->bucket[bucket].prints &= ~((uint64_t)0xff << bit);
    for (uint32_t i = ww_tags_home(t, ww_tags_hash(l->key)); i != bucket; i = (i + 1) & t->bucket_mask)
        t->bucket[i].passed--;
}
static inline void ww_tags_put(struct ww_tags *t, uint32_t line, uint64_t hash) {
    const uint64_t tops = 0x8080808080808080u;
    uint32_t i = ww_tags_home(t, hash);
    for (; !(~t->bucket[i].prints & tops); i = (i + 1) & t->bucket_mask) t->bucket[i].passed++;
    struct ww_tags_bucket *b = &t->bucket[i];
    uint32_t bit = (uint32_t)__builtin_ctzll(~b->prints & tops) - 7;
    b->prints |= ww_tags_print(hash) << bit;
    b->line[bit / 8] = (uint16_t)line;
    t->line[line].place = (uint16_t)(i * WW_TAGS_SLOTS + bit / 8);
}
/* The line is the first of its set's order, and holds what has come last. */
static inline void ww_tags_turn(struct ww_tags *t, uint32_t set, uint32_t line) {
    if (t->line[t->first[set]].prev == line) /* the usual one */
        t->first[set] = line;
    else
        ww_tags_move_first(t, set, line);
}
/* As ww_tags_take, of an array with a hash table and an order that decides (LRU, FIFO); hash: the key's. The
 * line's other data are as they were. */
static inline uint32_t ww_tags_take_last(struct ww_tags *t, uint32_t set, uint64_t key, uint64_t hash,
                                         bool *evicted) {
    uint32_t last = ww_tags_last(t, set), line = last;
    while (t->line[line].pins)
        if ((line = ww_tags_before(t, set, line)) == WW_NO_LINE) return line;
    struct ww_tag_line *l = &t->line[line];
    *evicted = l->key != WW_TAGS_EMPTY;
    if (*evicted) ww_tags_take_out(t, l);
    l->key = key;
    ww_tags_put(t, line, hash);
    if (line == last)
        t->first[set] = line;
    else
        ww_tags_move_first(t, set, line);
    ww_tags_prefetch_victim(t, line);
    return line;
}
/* Gives the last line of a set's order to `key`; valid: it has one now. */
static inline void ww_tags_replace_last(struct ww_tags *t, uint32_t set, uint32_t line, uint64_t key,
                                        bool valid) {
    if (valid && t->bucket) ww_tags_take_out(t, &t->line[line]);
    t->line[line].key = key;
    if (t->bucket) ww_tags_put(t, line, ww_tags_hash(key));
    t->first[set] = line;
}
/* Forgets the line's key; it becomes the set's first victim. */
void ww_tags_drop(struct ww_tags *t, uint32_t line);

#endif
