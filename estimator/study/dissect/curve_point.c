/* Single points of the curves. */
#include "../../base/rng.h"
#include "curves.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define LINE 128u
#define TIMED 10000u              /* loads of a chase */
#define TWICE_UP_TO (4 * WW_MB)   /* up to here a chase warms the caches twice: not all of them are LRU */
#define CACHE_READS (256 * WW_KB) /* of an SM, and four times the array more */
#define PART_THREADS 1024u
#define WAVES 24u /* CTAs of a stream that follow one another */
#define PART_BYTES (512 * WW_KB)
#define PART_WAVES 3u /* CTAs that follow one another, in addition to those that read all parts twice */
#define MORE_WAVES 3u /* beyond the L2, until it holds what it does in a long run */

/* gpu-stream's arrays, one allocated after another: 2^28 + 2 doubles in whole pages of 2 MiB. Before December
 * 2024 they had half of that, and the triad read two. */
const struct ww_curve_arrays ww_curve_read = {1, 0, 2048 * WW_MB + 2 * WW_MB},
                             ww_curve_triad = {3, 1, 2048 * WW_MB + 2 * WW_MB},
                             ww_curve_early_read = {1, 0, 1024 * WW_MB + 2 * WW_MB},
                             ww_curve_early_triad = {2, 1, 1024 * WW_MB + 2 * WW_MB};

/* One cycle through all lines: S. Sattolo, 1986. */
static void make_cycle(uint32_t *next, uint32_t lines) {
    struct ww_rng rng;
    ww_rng_seed(&rng, lines);
    for (uint32_t i = 0; i < lines; i++) next[i] = i;
    for (uint32_t i = lines - 1; i > 0; i--) {
        uint32_t k = ww_rng_below(&rng, i), line = next[i];
        next[i] = next[k];
        next[k] = line;
    }
}

static enum ww_code chase_cycle(struct ww_meter *m, const uint32_t *next, size_t warm, uint64_t *address,
                                uint32_t *latency, double *cycles, struct ww_error *error) {
    uint64_t sum = 0;
    uint32_t at = 0;
    for (size_t i = 0; i < warm + TIMED; i++, at = next[at]) address[i] = (uint64_t)at * LINE;
    WW_TRY(ww_meter_chase(m, address, warm + TIMED, latency, error));
    for (size_t i = warm; i < warm + TIMED; i++) sum += latency[i];
    *cycles = (double)sum / TIMED;
    return WW_OK;
}

enum ww_code ww_curve_latency(struct ww_meter *m, uint64_t bytes, double *cycles, struct ww_error *error) {
    uint32_t lines = bytes < 2 * LINE ? 2 : (uint32_t)(bytes / LINE);
    size_t warm = (size_t)lines * (bytes <= TWICE_UP_TO ? 2 : 1);
    uint32_t *next = calloc(lines, sizeof *next), *latency = calloc(warm + TIMED, sizeof *latency);
    uint64_t *address = calloc(warm + TIMED, sizeof *address);
    enum ww_code code = next && latency && address ? WW_OK : ww_fail_nomem(error, "a chase");
    m->path = WW_MICRO_GLOBAL;
    if (code == WW_OK) {
        make_cycle(next, lines);
        code = chase_cycle(m, next, warm, address, latency, cycles, error);
    }
    free(next);
    free(latency);
    free(address);
    return code;
}

static int by_cycle(const void *a, const void *b) {
    const struct ww_bench_sample *x = a, *y = b;
    return (x->cycle > y->cycle) - (x->cycle < y->cycle);
}

/* GB/s in the middle of a run, in which each of `accesses` issues moves as many of `bytes`. A board's benchmark
 * runs so long that start and end do not matter; here the first and last quarter of the issues are left out. */
static enum ww_code rate(struct ww_meter *m, const struct ww_bench_result *r, size_t accesses, uint64_t bytes,
                         double *gbps, struct ww_error *error) {
    struct ww_bench_sample *s = calloc(accesses, sizeof *s);
    if (!s) return ww_fail_nomem(error, "issue times");
    memcpy(s, r->sample, accesses * sizeof *s);
    qsort(s, accesses, sizeof *s, by_cycle);
    size_t from = accesses / 4, to = accesses - 1 - accesses / 4;
    double cycles = (double)(s[to].cycle - s[from].cycle), part = (double)(to - from) / (double)accesses;
    *gbps = cycles > 0 ? part * (double)bytes / cycles * m->board.sm_mhz / 1000 : NAN;
    free(s);
    return WW_OK;
}

/* Runs the microbenchmark, which it takes. `gbps` NULL: only what it leaves in the caches counts. */
static enum ww_code run(struct ww_meter *m, struct ww_micro *micro, size_t accesses, uint64_t bytes,
                        double *gbps, struct ww_error *error) {
    struct ww_bench_result r;
    enum ww_code code = ww_meter_step(m, "curves", error);
    if (code == WW_OK) code = ww_bench_run(m->bench, micro, gbps ? accesses : 0, &r, error);
    if (code == WW_OK && gbps && r.sample_count != accesses)
        code = ww_fail(error, WW_INTERNAL, "curves", "%zu issues of %zu", r.sample_count, accesses);
    if (code == WW_OK && gbps) code = rate(m, &r, accesses, bytes, gbps, error);
    ww_micro_free(micro);
    return code;
}

enum ww_code ww_curve_cache(struct ww_meter *m, uint64_t bytes, double *gbps, struct ww_error *error) {
    uint32_t threads = 512, most = m->board.max_cta_threads;
    struct ww_micro *micro;
    bytes = bytes < WW_KB ? WW_KB : bytes / WW_KB * WW_KB;
    while (threads > 128 && (threads > most || bytes % (threads * 8) != 0)) threads /= 2;
    uint64_t rows = bytes / (threads * 4);
    uint32_t passes = (uint32_t)(CACHE_READS / bytes) + 4;
    while (rows * passes % 8 != 0) passes++; /* eight loads are at once */
    size_t accesses = (size_t)(m->board.sms * rows * passes * (threads / 32));
    WW_TRY(ww_bench_reset(m->bench, error));
    WW_TRY(ww_micro_cache_read(m->board.sms, threads, bytes, passes, &micro, error));
    return run(m, micro, accesses, m->board.sms * bytes * passes, gbps, error);
}

/* A grid whose CTAs begin one after another, as in the middle of a long one. */
enum ww_code ww_curve_l2(struct ww_meter *m, uint64_t bytes, uint32_t row_loads, double *gbps,
                         struct ww_error *error) {
    uint32_t threads = PART_THREADS < m->board.max_cta_threads ? PART_THREADS : m->board.max_cta_threads;
    uint32_t row = threads * 8 * row_loads, wave = m->board.sms * (m->board.max_threads / threads);
    uint32_t parts = bytes < PART_BYTES ? 1 : (uint32_t)(bytes / PART_BYTES);
    uint32_t waves = PART_WAVES + 2 * parts / wave + (bytes > ww_meter_l2_bytes(m) ? MORE_WAVES : 0);
    uint64_t read;
    struct ww_micro *micro;
    struct ww_micro_parts p = {.ctas = waves * wave,
                               .wave = wave,
                               .cta_size = threads,
                               .parts = parts,
                               .rows = (uint32_t)(PART_BYTES / row),
                               .row_loads = row_loads};
    WW_TRY(ww_bench_reset(m->bench, error));
    WW_TRY(ww_micro_parts_read(&p, &read, &micro, error));
    return run(m, micro, (size_t)(read * row_loads * (threads / 32)), read * row, gbps, error);
}

/* Other arrays in large pieces, twice as many bytes as the L2 holds: what it holds in a long run. */
static enum ww_code fill_l2(struct ww_meter *m, uint32_t loads, uint32_t stores, struct ww_error *error) {
    struct ww_micro_bulk b = {.path = WW_MICRO_GLOBAL,
                              .cta_size = 256,
                              .loads = loads,
                              .stores = stores,
                              .width = 16,
                              .repeats = 1,
                              .cta_bytes = 256 * 16};
    struct ww_micro *micro;
    b.ctas = (uint32_t)(2 * ww_meter_l2_bytes(m) / (b.cta_bytes * (loads + stores))) + 1;
    for (uint32_t k = 0; k < loads + stores; k++) b.base[k] = (uint64_t)(16 + k) << 32;
    WW_TRY(ww_micro_bulk(&b, &micro, error));
    return run(m, micro, 0, 0, NULL, error);
}

enum ww_code ww_curve_stream(struct ww_meter *m, uint32_t ctas_per_sm, uint32_t cta_size,
                             const struct ww_curve_arrays *arrays, double *gbps, struct ww_error *error) {
    uint32_t operands = arrays->loads + arrays->stores, a_wave = m->board.sms * ctas_per_sm;
    uint32_t shared = m->board.shared_bytes / (ctas_per_sm + 1) + 1024; /* no further CTA finds room */
    struct ww_micro_stream s = {.ctas = a_wave * WAVES,
                                .cta_size = cta_size,
                                .loads = arrays->loads,
                                .stores = arrays->stores,
                                .shared_bytes = shared,
                                .apart = arrays->bytes,
                                .arch = m->board.arch};
    size_t accesses = (size_t)s.ctas * ((cta_size + 31) / 32) * s.loads;
    struct ww_micro *micro;
    if (s.shared_bytes > m->board.shared_per_cta) s.shared_bytes = m->board.shared_per_cta;
    WW_TRY(ww_bench_reset(m->bench, error));
    WW_TRY(fill_l2(m, s.loads, s.stores, error));
    WW_TRY(ww_micro_stream(&s, &micro, error));
    return run(m, micro, accesses, (uint64_t)operands * 8 * s.ctas * cta_size, gbps, error);
}
