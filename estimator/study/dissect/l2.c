/* Section 4.6: the L2. Its lines are visited in a fixed but irregular order, so that prefetching has no effect,
 * and any mapping is allowed. */
#include "../../base/rng.h"
#include "meter.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define STEP 128u /* of the walks that find the size */
#define SMALLEST (64 * WW_KB)
#define PRECISION (4 * WW_KB) /* so many bytes displace more lines than FEW */
#define FEW 96u
#define LARGEST (128 * WW_MB)
#define WINDOWS 64u
#define WINDOW 512u

struct walk {
    struct ww_meter *m;
    uint64_t *address;
    uint32_t *latency;
    size_t count; /* of one pass */
    uint32_t hit_at_most;
};

static void walk_free(struct walk *w) {
    free(w->address);
    free(w->latency);
    w->address = NULL;
    w->latency = NULL;
}

static enum ww_code walk_alloc(struct walk *w, size_t count, uint32_t passes, struct ww_error *error) {
    walk_free(w);
    w->count = count;
    w->address = calloc(count * passes, sizeof *w->address);
    w->latency = calloc(count * passes, sizeof *w->latency);
    return w->address && w->latency ? WW_OK : ww_fail_nomem(error, "a walk");
}

/* The numbers 0 .. count - 1 in an order that is always the same. */
static void shuffle(uint64_t *value, size_t count) {
    struct ww_rng rng;
    ww_rng_seed(&rng, count);
    for (size_t i = count; i > 1; i--) {
        size_t k = ww_rng_below(&rng, (uint32_t)i);
        uint64_t swap = value[i - 1];
        value[i - 1] = value[k];
        value[k] = swap;
    }
}

/* Chases all lines of `bytes`, shuffled. */
static enum ww_code walk(struct walk *w, uint64_t bytes, uint32_t passes, struct ww_error *error) {
    size_t n = (size_t)((bytes + STEP - 1) / STEP);
    WW_TRY(walk_alloc(w, n, passes, error));
    for (size_t i = 0; i < n; i++) w->address[i] = i * STEP;
    shuffle(w->address, n);
    for (size_t i = n; i < n * passes; i++) w->address[i] = w->address[i - n];
    return ww_meter_chase(w->m, w->address, n * passes, w->latency, error);
}

/* Latencies of a hit, and of a miss in a page that has just been used. */
static enum ww_code thresholds(struct walk *w, struct ww_dissect_l2 *l2, struct ww_error *error) {
    enum { PAGES = 16, APART = 832 * 1024 };
    uint64_t address[3 * PAGES];
    uint32_t latency[3 * PAGES], hit[PAGES], miss[PAGES];
    for (uint64_t i = 0; i < PAGES; i++) {
        address[3 * i] = i * 32 * WW_MB + i * 4096;
        address[3 * i + 1] = address[3 * i] + APART;
        address[3 * i + 2] = address[3 * i + 1];
    }
    WW_TRY(ww_meter_chase(w->m, address, 3 * PAGES, latency, error));
    for (size_t i = 0; i < PAGES; i++) {
        miss[i] = latency[3 * i + 1];
        hit[i] = latency[3 * i + 2];
    }
    l2->hit = ww_median(hit, PAGES);
    l2->miss = ww_median(miss, PAGES);
    w->hit_at_most = (uint32_t)((hit[PAGES - 1] + miss[0]) / 2);
    return WW_OK;
}

/* Lines that miss in any pass after the first. The page table's entries lie in the L2, too, and crowd a few
 * sets: up to FEW lines may miss in an array that fits. */
static enum ww_code fits(struct walk *w, uint64_t bytes, bool *all_hit, struct ww_error *error) {
    uint32_t passes = bytes > 4 * WW_MB ? 2 : 6;
    size_t missing = 0;
    WW_TRY(walk(w, bytes, passes, error));
    for (size_t i = 0; i < w->count; i++) {
        bool missed = false;
        for (uint32_t p = 1; p < passes; p++) missed |= w->latency[p * w->count + i] > w->hit_at_most;
        missing += missed;
    }
    *all_hit = missing <= FEW;
    return WW_OK;
}

static enum ww_code find_size(struct walk *w, struct ww_dissect_l2 *l2, struct ww_error *error) {
    uint64_t good = 0, bad = 0;
    bool all_hit;
    for (uint64_t size = SMALLEST; size <= LARGEST && !bad; size *= 2) {
        WW_TRY(fits(w, size, &all_hit, error));
        *(all_hit ? &good : &bad) = size;
    }
    if (!good || !bad) return WW_OK;
    uint64_t precision = good >= 4 * WW_MB ? good / 64 : PRECISION;
    while (bad - good > precision) {
        uint64_t middle = good + (bad - good) / 2 / precision * precision;
        WW_TRY(fits(w, middle, &all_hit, error));
        *(all_hit ? &good : &bad) = middle;
    }
    l2->size = good;
    l2->found = true;
    return WW_OK;
}

/* Windows that are read word by word, while all else is read to have them replaced: a miss brings its piece, so
 * misses of one window are multiples of it apart. */
static enum ww_code find_fill(struct walk *w, struct ww_dissect_l2 *l2, struct ww_error *error) {
    uint64_t bytes = 2 * l2->size, apart = bytes / WINDOWS;
    size_t lines = (size_t)(bytes / STEP), words = WINDOWS * (WINDOW / 4);
    WW_TRY(walk_alloc(w, lines + words, 2, error));
    for (size_t i = 0; i < lines; i++) w->address[i] = bytes + i * STEP;
    shuffle(w->address, lines);
    for (size_t i = 0; i < words; i++)
        w->address[lines + i] = i / (WINDOW / 4) * (apart / WINDOW * WINDOW) + i % (WINDOW / 4) * 4;
    memcpy(w->address + w->count, w->address, w->count * sizeof *w->address);
    WW_TRY(ww_meter_chase(w->m, w->address, 2 * w->count, w->latency, error));
    const uint32_t *latency = w->latency + w->count + lines;
    for (size_t i = 0, last = SIZE_MAX; i < words; i++) {
        if (latency[i] <= w->hit_at_most) continue;
        uint64_t from = last == SIZE_MAX ? 0 : (i - last) * 4;
        bool same = last != SIZE_MAX && i / (WINDOW / 4) == last / (WINDOW / 4);
        if (same && (!l2->fill || from < l2->fill)) l2->fill = from;
        last = i;
    }
    return WW_OK;
}

/* Whether the same lines miss in each pass over slightly more than fits. */
static enum ww_code find_period(struct walk *w, struct ww_dissect_l2 *l2, struct ww_error *error) {
    enum { PASSES = 6 };
    size_t changed = 0, missed = 0;
    WW_TRY(walk(w, l2->size + l2->size / 32, PASSES, error));
    for (size_t i = 4 * w->count; i < PASSES * w->count; i++) {
        bool now = w->latency[i] > w->hit_at_most, before = w->latency[i - w->count] > w->hit_at_most;
        changed += now != before;
        missed += now;
    }
    l2->periodic = changed * 20 <= missed;
    return WW_OK;
}

/* A first walk in order, word by word: what comes without a miss after the first was fetched ahead. A miss
 * brings its own piece, too. */
static enum ww_code find_prefetch(struct walk *w, struct ww_dissect_l2 *l2, struct ww_error *error) {
    uint64_t step = l2->fill ? l2->fill : 32;
    size_t n = (size_t)(l2->size / step);
    WW_TRY(walk_alloc(w, n, 1, error));
    for (size_t i = 0; i < n; i++) w->address[i] = i * step;
    WW_TRY(ww_meter_chase(w->m, w->address, n, w->latency, error));
    size_t first = 1;
    while (first < n && w->latency[first] <= w->hit_at_most) first++;
    l2->prefetched = (first - 1) * step;
    return WW_OK;
}

enum ww_code ww_dissect_l2(struct ww_meter *m, struct ww_error *error) {
    struct ww_dissect_l2 *l2 = &m->out->l2;
    struct walk w = {.m = m};
    m->path = WW_MICRO_L2;
    enum ww_code code = thresholds(&w, l2, error);
    if (code == WW_OK && l2->miss > 1.1 * l2->hit) code = find_size(&w, l2, error);
    if (code == WW_OK && l2->found) code = find_fill(&w, l2, error);
    if (code == WW_OK && l2->found) code = find_period(&w, l2, error);
    if (code == WW_OK && l2->found) code = find_prefetch(&w, l2, error);
    walk_free(&w);
    return code;
}
