/* infer.h: the structure of a cache or TLB, found from nothing but the latencies of chases.
 *
 * The two-stage procedure of X. Mei and X. Chu, "Dissecting GPU Memory Hierarchy through Microbenchmarking"
 * (TPDS 2017), section 4.2 and figure 6, carried on where a structure needs it: lines and the sectors of them
 * are told apart, LRU and FIFO too, and the bits that map addresses to sets are looked for. What is measured is
 * a black box: the GPU model, or a test's simulator of a cache.
 */
#ifndef WW_DISSECT_INFER_H
#define WW_DISSECT_INFER_H

#include "../../base/arena.h"
#include "../../base/err.h"

/* Something that loads addresses one after the other, each when the one before has come, and says how many
 * cycles each took. Every chase begins with empty caches. Errors: its own. */
struct ww_box {
    void *context;
    enum ww_code (*chase)(void *context, const uint64_t *address, size_t count, uint32_t *latency,
                          struct ww_error *error);
};

/* How to look for one structure. Positions are bytes from `base`, multiples of `unit`; element k lies at
 * base + k * unit + (k * stagger) mod unit, so that elements of a TLB's pages need not share sets of a data
 * cache. */
struct ww_infer_plan {
    uint64_t base, unit, stagger;
    uint64_t smallest, largest; /* sizes to try */
    uint64_t precision;         /* of the size; 0: unit */
    uint64_t size_step;         /* stride of the walks that find the size; 0: unit */
    uint64_t longest_line;
    uint32_t hit_at_most; /* cycles of a hit; found by ww_cluster */
    bool sets;            /* look for sets, replacement and mapping too */
};

enum ww_policy {
    WW_POLICY_UNKNOWN,
    WW_POLICY_LRU,
    WW_POLICY_FIFO,
    WW_POLICY_PERIODIC, /* misses repeat, but not those of LRU or FIFO */
    WW_POLICY_RANDOM    /* aperiodic: ways are replaced with certain probabilities */
};
const char *ww_policy_name(enum ww_policy policy);

#define WW_INFER_KINDS 8
#define WW_INFER_WAYS 32
struct ww_infer_cache {
    bool found;                /* it misses at some size */
    uint64_t size, fill, line; /* bytes; fill: what one miss brings (a sector), line: what has a tag */
    uint32_t sets;             /* 0: not looked for, or not found */
    struct ww_infer_kind {
        uint32_t sets, ways;
    } kind[WW_INFER_KINDS]; /* the largest sets first */
    size_t kind_count;
    enum ww_policy policy;
    uint32_t way_count; /* of the set that was watched, if the policy is random */
    double way[WW_INFER_WAYS];
    uint64_t victims;  /* seen */
    uint64_t set_bits; /* address bits that are the same in all lines of each set */
    bool set_by_bits;  /* they alone tell the set */
    uint64_t way_bits; /* address bits that tell the lines of a set apart */
    uint32_t *grown;   /* for size / line + 1, + 2, ... lines: lines that miss and did not before */
    size_t grown_count;
    uint64_t accesses; /* that it took */
};

/* Finds the structure. Arrays are taken from the arena. Errors: the box's, WW_NOMEM. */
enum ww_code ww_infer(const struct ww_box *box, const struct ww_infer_plan *plan, struct ww_arena *arena,
                      struct ww_infer_cache *out, struct ww_error *error);

/* ---- latencies in clusters (cluster.c) ---- */

#define WW_CLUSTERS 16
struct ww_cluster {
    uint32_t low, high; /* cycles */
    size_t count;
};
/* Sorts the latencies (in place) and splits them where neighbouring values are further apart than `gap` cycles
 * and than 1/64 of the value; clusters with less than 1/500 of the values are left out. Returns how many there
 * are. */
size_t ww_cluster(uint32_t *latency, size_t count, uint32_t gap, struct ww_cluster out[WW_CLUSTERS]);
/* The cycle between two clusters that parts them: a hit takes at most so many. */
uint32_t ww_cluster_between(const struct ww_cluster *low, const struct ww_cluster *high);

/* The probability as the simplest fraction within three standard deviations of its estimate from n trials;
 * denominators up to 16. false: none is so near. */
bool ww_fraction(double p, uint64_t n, uint32_t *numerator, uint32_t *denominator);

#endif
