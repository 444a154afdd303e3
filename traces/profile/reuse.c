/* Reuse distances of a stream of lines, in bounded memory. */
#include "reuse.h"
#include "../../estimator/base/heap.h"
#include <stdlib.h>
#include <string.h>

#define TABLE (WW_REUSE_LINES * 4u) /* hash table slots, a power of two */
#define SLOTS (WW_REUSE_LINES * 8u) /* time stamps before they are packed again */
#define NONE UINT32_MAX

struct entry {
    uint64_t line;
    uint32_t hash, stamp;
    uint32_t next; /* in its hash chain */
};

struct ww_reuse {
    struct entry entry[WW_REUSE_LINES + 1];
    uint32_t chain[TABLE];
    struct ww_heap heap; /* entries, largest hash first */
    struct ww_heap_item item[WW_REUSE_LINES + 1];
    uint32_t owner[SLOTS];    /* entry of a time stamp */
    uint32_t tree[SLOTS + 1]; /* Fenwick tree: live time stamps */
    uint32_t free, clock;
    uint64_t threshold; /* lines with hash < threshold are tracked, of 2^32 */
    double bucket[WW_REUSE_BUCKETS], cold;
};

/* The finaliser of MurmurHash3 (public domain arithmetic): every bit of the line moves every bit. */
static uint32_t hash_of(uint64_t line) {
    line ^= line >> 33;
    line *= 0xff51afd7ed558ccdull;
    line ^= line >> 33;
    line *= 0xc4ceb9fe1a85ec53ull;
    return (uint32_t)(line >> 32);
}

struct ww_reuse *ww_reuse_new(void) {
    struct ww_reuse *r = malloc(sizeof *r);
    if (r) ww_reuse_clear(r);
    return r;
}

void ww_reuse_free(struct ww_reuse *r) {
    free(r);
}

void ww_reuse_clear(struct ww_reuse *r) {
    memset(r, 0, sizeof *r);
    memset(r->chain, 0xff, sizeof r->chain);
    memset(r->owner, 0xff, sizeof r->owner);
    for (uint32_t i = 0; i <= WW_REUSE_LINES; i++) r->entry[i].next = i + 1;
    r->heap.item = r->item;
    r->heap.capacity = WW_REUSE_LINES + 1;
    r->threshold = 1ull << 32;
}

static void tree_add(struct ww_reuse *r, uint32_t stamp, uint32_t by) {
    for (uint32_t i = stamp + 1; i <= SLOTS; i += i & (0u - i)) r->tree[i] += by;
}

/* Live stamps at or before `stamp`. */
static uint32_t tree_sum(const struct ww_reuse *r, uint32_t stamp) {
    uint32_t sum = 0;
    for (uint32_t i = stamp + 1; i > 0; i -= i & (0u - i)) sum += r->tree[i];
    return sum;
}

/* Gives the live stamps numbers from 0 on, in their order. */
static void pack(struct ww_reuse *r) {
    uint32_t n = 0;
    for (uint32_t i = 0; i < SLOTS; i++) {
        uint32_t e = r->owner[i];
        r->owner[i] = NONE;
        if (e == NONE) continue;
        r->owner[n] = e;
        r->entry[e].stamp = n++;
    }
    r->clock = n;
    memset(r->tree, 0, sizeof r->tree);
    for (uint32_t i = 0; i < n; i++) tree_add(r, i, 1);
}

static void stamp_now(struct ww_reuse *r, uint32_t e) {
    if (r->clock == SLOTS) pack(r);
    r->entry[e].stamp = r->clock;
    r->owner[r->clock] = e;
    tree_add(r, r->clock++, 1);
}

static void unstamp(struct ww_reuse *r, uint32_t e) {
    r->owner[r->entry[e].stamp] = NONE;
    tree_add(r, r->entry[e].stamp, UINT32_MAX);
}

/* ---- tracked lines ---- */

static uint32_t *chain_of(struct ww_reuse *r, uint32_t hash) {
    return &r->chain[hash & (TABLE - 1)];
}

static uint32_t find(struct ww_reuse *r, uint64_t line, uint32_t hash) {
    uint32_t e = *chain_of(r, hash);
    while (e != NONE && r->entry[e].line != line) e = r->entry[e].next;
    return e;
}

static void forget_largest(struct ww_reuse *r) {
    uint32_t e = (uint32_t)ww_heap_pop(&r->heap).value;
    uint32_t *link = chain_of(r, r->entry[e].hash);
    while (*link != e) link = &r->entry[*link].next;
    *link = r->entry[e].next;
    unstamp(r, e);
    r->entry[e].next = r->free;
    r->free = e;
}

static uint32_t largest_hash(const struct ww_reuse *r) {
    return UINT32_MAX - (uint32_t)r->heap.item[0].key;
}

/* More lines than can be tracked: the rate falls below the largest hash, and what was counted is scaled so
 * that it stands for the same number of accesses at the new rate. */
static void lower_rate(struct ww_reuse *r) {
    uint32_t largest = largest_hash(r);
    double scale = (double)largest / (double)r->threshold;
    r->threshold = largest;
    while (r->heap.count && largest_hash(r) >= largest) forget_largest(r);
    for (int k = 0; k < WW_REUSE_BUCKETS; k++) r->bucket[k] *= scale;
    r->cold *= scale;
}

static void track(struct ww_reuse *r, uint64_t line, uint32_t hash) {
    uint32_t e = r->free, *chain = chain_of(r, hash);
    r->free = r->entry[e].next;
    r->entry[e] = (struct entry){.line = line, .hash = hash, .next = *chain};
    *chain = e;
    ww_heap_push(&r->heap, UINT32_MAX - hash, e);
    stamp_now(r, e);
    r->cold += 1;
    if (r->heap.count > WW_REUSE_LINES) lower_rate(r);
}

static unsigned bucket_of(double distance) {
    uint64_t d = (uint64_t)distance;
    unsigned k = d ? 64u - (unsigned)__builtin_clzll(d) : 0;
    return k < WW_REUSE_BUCKETS ? k : WW_REUSE_BUCKETS - 1;
}

void ww_reuse_access(struct ww_reuse *r, uint64_t line) {
    uint32_t hash = hash_of(line);
    if (hash >= r->threshold) return;
    uint32_t e = find(r, line, hash);
    if (e == NONE) {
        track(r, line, hash);
        return;
    }
    uint32_t since = (uint32_t)r->heap.count - tree_sum(r, r->entry[e].stamp);
    r->bucket[bucket_of((double)since / ww_reuse_rate(r))] += 1;
    unstamp(r, e);
    stamp_now(r, e);
}

double ww_reuse_rate(const struct ww_reuse *r) {
    return (double)r->threshold / 4294967296.0;
}

double ww_reuse_count(const struct ww_reuse *r, unsigned bucket) {
    return r->bucket[bucket] / ww_reuse_rate(r);
}

double ww_reuse_lines(const struct ww_reuse *r) {
    return r->cold / ww_reuse_rate(r);
}
