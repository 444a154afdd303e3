/* micro_bench.h: replays microbenchmarks that are made in memory (traces/micro) and records when instructions
 * issued.
 *
 * A bench is a GPU that has just been turned on: its caches are empty. Launches follow one another on it as
 * those of a run do: what the L2 and beyond hold lasts. ww_bench_reset turns the GPU off and on again.
 */
#ifndef WW_BENCH_H
#define WW_BENCH_H

#include "../api/gpu.h"
#include "../result/result.h"
#include "../base/err.h"

struct ww_micro;
struct ww_bench;

struct ww_bench_sample {
    uint64_t cycle; /* SM cycles from the launch's start */
    uint32_t inst;  /* static instruction of the microbenchmark */
    uint16_t sm, warp;
};

struct ww_bench_result {
    uint64_t cycles, time_ps;
    uint64_t counter[WW_COUNTER_COUNT];
    /* Issues of the microbenchmark's timed instructions (ww_micro_timed), if they were asked for. Those of one
     * warp are in order. Belongs to the bench, until its next launch. */
    const struct ww_bench_sample *sample;
    size_t sample_count;
    const struct ww_launch_result *launch; /* all of it; the bench's, too */
};

/* The GPU must outlive the bench. Errors: WW_NOMEM, and those of a run. */
enum ww_code ww_bench_new(const struct ww_gpu *gpu, uint64_t seed, struct ww_bench **out,
                          struct ww_error *error);
void ww_bench_free(struct ww_bench *bench);
/* From the next reset on, launches have the GPU's overhead in addition to their CTAs. At first they have none,
 * since figures are those of a kernel's own clock. */
void ww_bench_launches(struct ww_bench *bench);
enum ww_code ww_bench_reset(struct ww_bench *bench, struct ww_error *error);
/* While launches replay, calls `progress` every 2^14 warp instructions; its false ends the launch with WW_FAIL.
 * NULL: no call, as at the start. */
void ww_bench_watch(struct ww_bench *bench, ww_progress_fn progress, void *context);
/* Replays the microbenchmark. `samples`: how many issues to keep at most, 0 for none.
 * Errors: WW_UNSUPPORTED (a CTA does not fit an SM), WW_NOMEM, WW_INTERNAL. */
enum ww_code ww_bench_run(struct ww_bench *bench, const struct ww_micro *micro, size_t samples,
                          struct ww_bench_result *out, struct ww_error *error);

/* The figures of the board's data sheet, as a benchmark's author has them. */
struct ww_bench_board {
    const char *name, *arch;
    uint32_t sms, max_warps, max_threads, max_ctas, max_cta_threads;
    uint32_t shared_bytes, shared_per_cta; /* of an SM, of a CTA */
    uint64_t l2_bytes;
    double sm_mhz;
    double dram_peak_gbps; /* clock x width x transfers */
};
void ww_bench_board(const struct ww_bench *bench, struct ww_bench_board *out);

#endif
