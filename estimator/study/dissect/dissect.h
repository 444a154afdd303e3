/* dissect.h: the microbenchmarks of X. Mei and X. Chu, "Dissecting GPU Memory Hierarchy through
 * Microbenchmarking" (TPDS 2017), run on a GPU model as they were on hardware, and what they tell.
 *
 * Of the GPU only what a data sheet says is taken as known (ww_bench_board); all else is measured. Ownership: a
 * result owns its arena; free it with ww_dissect_free, also after an error.
 */
#ifndef WW_DISSECT_DISSECT_H
#define WW_DISSECT_DISSECT_H

#include "../../api/dissect.h"
#include "infer.h"
#include <stdio.h>

/* A cache in an SM. */
struct ww_dissect_cache {
    const char *name;     /* "global loads", "global loads, L1 on", "texture" */
    bool texture, cached; /* cached: its hits are faster than the L2's */
    double hit, miss;     /* cycles; miss: the next level's hit, NAN if there was none */
    struct ww_infer_cache c;
};

struct ww_dissect_tlb {
    double hit, miss; /* cycles of a load that hits the L2 cache */
    struct ww_infer_cache c;
};

struct ww_dissect_l2 {
    bool found;
    double hit, miss;
    uint64_t size, fill; /* bytes */
    bool periodic;       /* what misses in one pass misses in the next */
    uint64_t
        prefetched; /* bytes after the first miss of a sequential walk that come before they are asked for */
};

/* Section 5.2: latencies of the patterns P1 to P6, NAN where a pattern does not differ from the one before. */
struct ww_dissect_patterns {
    const char *name; /* "L1 on", "L1 off", "" */
    double p[6];
};

struct ww_dissect_stride {
    uint32_t stride;        /* of 4-byte words */
    double cycles, cycles8; /* cycles8: in the 8-byte mode, NAN if there is none */
};

struct ww_dissect_point {
    uint32_t ctas, cta_size, ilp; /* ctas: of the GPU, or of an SM for shared memory */
    double gbps;
};

#define WW_DISSECT_CACHES_MOST 8
#define WW_DISSECT_STRIDES 64
struct ww_dissect_shared {
    bool measured;
    double latency;
    double conflict[5];               /* cycles of 2, 4, 8, 16 and 32-way conflicts */
    struct ww_dissect_stride *stride; /* strides 1 .. WW_DISSECT_STRIDES */
    bool modes;                       /* the GPU has a 4-byte and an 8-byte mode */
    struct ww_dissect_point *point;
    size_t point_count;
    struct ww_dissect_point best;
    uint64_t barrier_cycles; /* of a barrier and a reading of the clock alone */
    double cycle_bytes;      /* bytes a cycle at the best */
};

struct ww_dissect_global {
    bool measured;
    double peak; /* theoretical, GB/s */
    struct ww_dissect_point *point;
    size_t point_count;
    struct ww_dissect_point best;
};

/* Section 4.1: what the classic methods make of the texture cache. */
struct ww_dissect_classic_row {
    uint64_t bytes, stride;
    double cycles; /* average */
};
struct ww_dissect_guess {
    uint64_t size, line;
    uint32_t sets, ways;
};
struct ww_dissect_classic {
    bool measured;
    struct ww_dissect_classic_row *saavedra, *wong;
    size_t saavedra_count, wong_count;
    struct ww_dissect_guess by_saavedra, by_wong;
};

/* Curves over sizes and occupancy (curves.h). */
struct ww_dissect_xy {
    uint64_t bytes;
    double y; /* cycles or GB/s */
};
#define WW_DISSECT_PLATEAUS 8
struct ww_dissect_plateau {
    uint64_t from, to; /* sizes of its first and last point */
    double level;      /* cycles: the median */
    double knee; /* bytes: where the curve is half of the way from the plateau before; NAN: it is the first */
};
struct ww_dissect_stream {
    uint32_t ctas, cta_size; /* ctas: of an SM */
    double read, triad;      /* GB/s */
};
struct ww_dissect_curves {
    bool measured;
    struct ww_dissect_xy *latency, *cache, *l2;
    size_t latency_count, cache_count, l2_count;
    struct ww_dissect_plateau plateau[WW_DISSECT_PLATEAUS];
    size_t plateau_count;
    struct ww_dissect_stream *stream;
    size_t stream_count;
};

struct ww_dissect {
    const char *gpu;
    unsigned parts;
    struct ww_dissect_cache cache[WW_DISSECT_CACHES_MOST];
    size_t cache_count;
    struct ww_dissect_tlb tlb[2];
    size_t tlb_count;
    struct ww_dissect_l2 l2;
    struct ww_dissect_patterns pattern[2];
    size_t pattern_count;
    struct ww_dissect_shared shared;
    struct ww_dissect_global global;
    struct ww_dissect_classic classic;
    struct ww_dissect_curves curves;
    double sm_mhz;
    uint64_t accesses; /* of all chases */
    double host_seconds;
    struct ww_arena arena;
};

/* Errors: those of ww_gpu_load and of replays, WW_FAIL (progress stopped it). */
enum ww_code ww_dissect_run(const struct ww_dissect_options *options, struct ww_dissect *out,
                            struct ww_error *error);
void ww_dissect_free(struct ww_dissect *d);

/* Tables for people; JSON as in reports/schema/dissect.json. */
enum ww_code ww_dissect_print(const struct ww_dissect *d, FILE *out, struct ww_error *error);
enum ww_code ww_dissect_json(const struct ww_dissect *d, FILE *out, struct ww_error *error);
/* Data files and gnuplot scripts of the paper's figures into the folder, which is made if it is not there; SVG
 * too if gnuplot is found. Errors: WW_IO. */
enum ww_code ww_dissect_plots(const struct ww_dissect *d, const char *dir, struct ww_error *error);

/* "1 set of 17 + 6 sets of 8 entries", "4 sets x 96 lines": into `out`. */
void ww_dissect_sets_text(const struct ww_infer_cache *c, const char *unit, char *out, size_t size);
/* "16KB", "2MB", "100B". */
void ww_dissect_size_text(uint64_t bytes, char *out, size_t size);
/* "7-8", "9-11", "7,9": the bits set. */
void ww_dissect_bits_text(uint64_t bits, char *out, size_t size);

#endif
