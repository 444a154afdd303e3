/* l2_tags.h: tags and line states of one L2 slice.
 *
 * Per way an 8-bit fingerprint (0: empty) finds the line eight ways at a time; the line itself holds the
 * full number. Sector masks are over the line's sectors. A line with pending sectors is never a victim.
 * Replacement "nru": a random one of the ways not used since all of the set's ways had been; its choices do not
 * repeat, as those of hardware that is not LRU, but what is in use stays.
 * Memory comes from the arena given to init and lives as long as it.
 */
#ifndef WW_CORE_L2_TAGS_H
#define WW_CORE_L2_TAGS_H

#include "../../base/ahead.h"
#include "../../base/arena.h"
#include "../../base/rng.h"
#include "addrmap.h"
#include <string.h>

#define WW_NONE UINT32_MAX

enum ww_l2_replace { WW_L2_LRU, WW_L2_FIFO, WW_L2_RANDOM, WW_L2_NRU };

struct ww_l2_line {
    uint64_t number;    /* slice-local address / l2.line */
    uint32_t miss;      /* miss record while pending is not 0 */
    uint8_t valid;      /* sectors that can be read */
    uint8_t dirty;      /* sectors with bytes that DRAM lacks */
    uint8_t pending;    /* sectors asked of DRAM */
    uint8_t prefetched; /* sectors, valid or pending, without a demand access since their prefetch */
    uint8_t written[8]; /* bytes written to a sector that is not valid, at most 255 */
    uint8_t from_dram;  /* fast replay: sectors whose last fill comes from DRAM */
};

/* The order of a set's ways by use (lru) or allocation (fifo) lies apart from the lines: a use of one line
 * touches no other one. Up to so many ways are the bytes of words, the newest first; more are a list. */
#define WW_L2_WORD_WAYS 64u

struct ww_l2_link { /* ways */
    uint16_t newer, older;
};

struct ww_l2_tags {
    struct ww_l2_line *line;   /* [set * stride + way] */
    uint64_t *print;           /* fingerprints, eight to a word: [set * stride / 8] */
    uint64_t *order;           /* ways, eight to a word: [set * stride / 8]; 0: a set that was never used */
    struct ww_l2_link *link;   /* lists: [set * stride + way], if order is NULL, */
    uint16_t *newest, *oldest; /* and their ends; equal: as 0 above. Empty ways are the oldest */
    uint16_t *dirty;           /* lines of a set with dirty sectors */
    uint64_t installs;         /* lines installed so far */
    uint64_t *used;            /* nru: ways used of a set, one bit each, since all were */
    struct ww_divider by_sets;
    uint32_t sets, ways, stride;   /* stride: ways rounded up to 8 */
    uint32_t fold_bits, fold_half; /* of the set hash */
    uint32_t replace;              /* enum ww_l2_replace */
    bool hash;
    struct ww_rng rng;
};

/* False: out of memory. `slice` and `seed` start the random replacement. */
bool ww_l2_tags_init(struct ww_l2_tags *t, const struct ww_gpu_spec *gpu, struct ww_arena *arena,
                     uint32_t slice, uint64_t seed);
/* Index of the way to replace in a set: an empty one, else by policy among lines without pending sectors;
 * WW_NONE if all are pending. */
uint32_t ww_l2_tags_victim(struct ww_l2_tags *t, uint32_t set);
/* The same where ways are replaced in an order: nearly always the oldest one. */
static inline uint32_t ww_l2_tags_victim_in_order(struct ww_l2_tags *t, uint32_t set);
/* The way that is the next newer one than `way`, WW_NONE: that is the newest. */
uint32_t ww_l2_tags_newer(const struct ww_l2_tags *t, uint32_t set, uint32_t way);
/* Makes way `index` hold line `number` with no sector valid; no use of it yet. */
void ww_l2_tags_install(struct ww_l2_tags *t, uint32_t set, uint32_t index, uint64_t number);

static inline uint32_t ww_l2_tags_set(const struct ww_l2_tags *t, uint64_t number) {
    uint64_t high = ww_divide(&t->by_sets, number);
    uint64_t set = number - high * t->sets;
    if (t->hash) {
        uint32_t turn = ww_fold(high, t->fold_bits, t->fold_half);
        if (!t->by_sets.factor) return (uint32_t)set ^ turn;
        set += turn;
        if (set >= t->sets) set -= t->sets;
    }
    return (uint32_t)set;
}

static inline uint8_t ww_l2_print_of(uint64_t number) {
    return (uint8_t)((number * 0x9e3779b97f4a7c15u) >> 57 | 0x80);
}

/* Index of the line in `line`, or WW_NONE. */
static inline uint32_t ww_l2_tags_find(const struct ww_l2_tags *t, uint32_t set, uint64_t number) {
    const uint64_t ones = 0x0101010101010101u, tops = 0x8080808080808080u;
    uint64_t pattern = ww_l2_print_of(number) * ones;
    uint32_t first = set * t->stride;
    for (uint32_t w = 0; w < t->stride; w += 8) {
        uint64_t x = t->print[(first + w) / 8] ^ pattern;
        /* Bit 7 of each byte of x that is 0; bytes above such a one may be false and are checked below. */
        for (uint64_t m = (x - ones) & ~x & tops; m; m &= m - 1) {
            uint32_t index = first + w + (uint32_t)__builtin_ctzll(m) / 8;
            if (t->line[index].number == number && (uint8_t)(t->print[index / 8] >> index % 8 * 8))
                return index;
        }
    }
    return WW_NONE;
}

/* The set's oldest way; 0 if it was never used. */
static inline uint32_t ww_l2_tags_oldest(const struct ww_l2_tags *t, uint32_t set) {
    uint32_t last = set * t->stride + t->ways - 1;
    return t->order ? (uint32_t)(t->order[last / 8] >> last % 8 * 8 & 255) : t->oldest[set];
}

static inline uint32_t ww_l2_tags_victim_in_order(struct ww_l2_tags *t, uint32_t set) {
    uint32_t first = set * t->stride;
    if (t->order && t->order[first / 8]) {
        uint32_t last = first + t->ways - 1, index = first + (uint8_t)(t->order[last / 8] >> last % 8 * 8);
        if (!t->line[index].pending) return index;
    }
    return ww_l2_tags_victim(t, set);
}

/* The host loads the line of the number, or the one that it would replace: it is looked up soon. */
WW_AHEAD ww_l2_tags_prefetch(const struct ww_l2_tags *t, uint32_t set, uint64_t number) {
    const uint64_t ones = 0x0101010101010101u, tops = 0x8080808080808080u;
    uint64_t pattern = ww_l2_print_of(number) * ones;
    uint32_t first = set * t->stride, way = ww_l2_tags_oldest(t, set);
    for (uint32_t w = 0; w < t->stride; w += 8) {
        uint64_t x = t->print[(first + w) / 8] ^ pattern, m = (x - ones) & ~x & tops;
        if (m) way = w + (uint32_t)__builtin_ctzll(m) / 8;
    }
    __builtin_prefetch(&t->line[first + way], 1);
}

/* Sectors of a line of the set become dirty; or all of it clean. */
static inline void ww_l2_tags_soil(struct ww_l2_tags *t, uint32_t set, struct ww_l2_line *line,
                                   uint8_t sectors) {
    t->dirty[set] = (uint16_t)(t->dirty[set] + (!line->dirty && sectors));
    line->dirty |= sectors;
}
static inline void ww_l2_tags_clean(struct ww_l2_tags *t, uint32_t set, struct ww_l2_line *line) {
    t->dirty[set] = (uint16_t)(t->dirty[set] - (line->dirty != 0));
    line->dirty = 0;
}

/* Moves the way to the front of a list. */
void ww_l2_tags_relink(struct ww_l2_tags *t, uint32_t set, uint32_t way);

/* The byte of a word that is `way`: its lowest bit; 64: none is. Bytes behind the set's last way may be any. */
static inline uint32_t ww_l2_byte_of(uint64_t word, uint64_t way) {
    const uint64_t ones = 0x0101010101010101u, tops = 0x8080808080808080u;
    uint64_t x = word ^ way * ones, equal = (x - ones) & ~x & tops;
    return equal ? (uint32_t)__builtin_ctzll(equal) & 56 : 64;
}

/* Makes the line the newest of its set. */
static inline void ww_l2_tags_renew(struct ww_l2_tags *t, uint32_t set, uint32_t index) {
    uint64_t way = index - set * t->stride, next = way;
    if (!t->order) {
        if (t->newest[set] != way) ww_l2_tags_relink(t, set, (uint32_t)way);
        return;
    }
    for (uint64_t *word = &t->order[set * t->stride / 8];; word++) {
        uint64_t ways = *word;
        uint32_t byte = ww_l2_byte_of(ways, way);
        if (byte < 64) {
            uint64_t newer = ((uint64_t)1 << byte) - 1, older = ~newer << 7 << 1;
            *word = (ways & older) | (ways & newer) << 8 | next;
            return;
        }
        *word = ways << 8 | next;
        next = ways >> 56;
    }
}

/* Notes a use of the way for "nru". */
static inline void ww_l2_tags_mark(struct ww_l2_tags *t, uint32_t set, uint32_t index) {
    uint64_t bit = (uint64_t)1 << (index - set * t->stride);
    t->used[set] |= bit;
    if (t->used[set] == UINT64_MAX >> (64 - t->ways)) t->used[set] = bit;
}

/* Whether the set's oldest line is its victim, and ww_l2_tags_install_oldest is allowed: of a set that has been
 * used, where no line has pending sectors. */
static inline bool ww_l2_tags_takes_oldest(const struct ww_l2_tags *t, uint32_t set) {
    return t->replace <= WW_L2_FIFO && t->order && t->order[set * t->stride / 8];
}

/* As ww_l2_tags_install, for the set's oldest line. */
static inline void ww_l2_tags_install_oldest(struct ww_l2_tags *t, uint32_t set, uint32_t index,
                                             uint64_t number) {
    uint64_t *print = &t->print[index / 8], way = index - set * t->stride;
    struct ww_l2_line *line = &t->line[index];
    uint32_t shift = index % 8 * 8;
    for (uint64_t *word = &t->order[set * t->stride / 8], *end = word + t->stride / 8; word < end; word++) {
        uint64_t ways = *word;
        *word = ways << 8 | way;
        way = ways >> 56;
    }
    if (t->dirty[set]) ww_l2_tags_clean(t, set, line);
    t->installs++;
    *line = (struct ww_l2_line){.number = number, .miss = WW_NONE};
    *print = (*print & ~((uint64_t)0xff << shift)) | (uint64_t)ww_l2_print_of(number) << shift;
}

/* A use of the line that was installed last in the set, which is its newest. */
static inline void ww_l2_tags_first_use(struct ww_l2_tags *t, uint32_t set, uint32_t index) {
    if (t->replace == WW_L2_NRU) ww_l2_tags_mark(t, set, index);
}

/* A use of the line. */
static inline void ww_l2_tags_touch(struct ww_l2_tags *t, uint32_t set, uint32_t index) {
    if (t->replace == WW_L2_LRU) {
        ww_l2_tags_renew(t, set, index);
    } else if (t->replace == WW_L2_NRU) {
        ww_l2_tags_mark(t, set, index);
    }
}

#endif
