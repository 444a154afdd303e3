/* run.h: replaying a trace on a GPU. Part of warpwatt.h. */
#ifndef WW_API_RUN_H
#define WW_API_RUN_H

#include "../base/error.h"
#include "../result/result.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#ifdef __cplusplus
extern "C" {
#endif

#define WW_AUTO_INSTRUCTIONS 50000000u

struct ww_run_options {
    const struct ww_gpu *gpu;
    const char *trace_path;
    const char *launches;          /* list such as "0,2-4"; NULL: all */
    const char *const *mechanisms; /* "kind=name" or "kind.parameter=value" */
    size_t mechanism_count;
    const char *mode; /* "full" (NULL), "fast", "sampled", "analytic"; "auto": sampled if the launches have more
                       * than WW_AUTO_INSTRUCTIONS warp instructions, else full */
    double target_error;     /* sampled: half-width of the intervals, part of the estimate; 0: 0.03 */
    double confidence;       /* of the intervals, 0.5 to 0.9999; 0: 0.95 */
    const char *power_table; /* NULL: by the GPU's name; "none": no energy */
    uint32_t epoch_cycles;   /* 0: 4096 */
    const char
        *cache_control;        /* before each launch: "flush": L2 and TLBs are written back and invalidated, as
                                * profilers do, and each launch is timed by itself; "flush-once": the same, but a
                                * kernel's first launch finds its code in DRAM; "keep" (NULL): as the previous
                                * launch left them; "flush-sm": as "keep", but each launch is timed by itself, with its
                                * code in the L2 at best. The SMs' data caches start empty in all cases */
    const char *clock_control; /* how the GPU's clocks were set (ww_gpu_clock_control): stored with the result;
                                  or NULL */
    uint64_t seed;
    bool per_pc;   /* counters per PC */
    bool pack_pc;  /* full replays: the counters are packed to a tenth; only ww_db_store can read them */
    bool timeline; /* full replays: keep counters of the memory path by epoch, and the first CTAs */
    uint64_t timeline_ctas; /* how many CTAs of the run, at most */
    /* Threads of a full replay, which share its SMs and memory system, at most 16 and as many as there are SMs;
     * 0: one. Results are the same for any number. It is one for fewer than 8 SMs, with a governor, or a
     * timeline of CTAs. */
    unsigned threads;
    bool serialize; /* full replays: launches run one after the other, also where their order allows more */
    ww_progress_fn progress;
    void *context;
    bool weigh; /* full replays: progress counts estimated host time, not instructions; some CTAs of each launch
                 * are read first to estimate it */
};
/* Names of modes, "auto" among them; NULL if out of range. */
WW_API const char *ww_run_mode_at(size_t i);
/* Replays a trace on a GPU. Deterministic: equal inputs give equal results, except host_seconds.
 * Errors: WW_INPUT, WW_USAGE (mechanism), WW_UNSUPPORTED (a CTA does not fit an SM), WW_INTERNAL (a
 * conservation law does not hold), WW_IO. */
WW_API enum ww_code ww_run(const struct ww_run_options *options, struct ww_result **result,
                           struct ww_error *error);
/* Checks every conservation law on a result: each cycle of each resident warp is in one warp state, each issue
 * slot is used or lost to one cause, accesses of a memory level are its hits and misses, energies add up.
 * ww_run() has done so already. Errors: WW_INTERNAL with the law that does not hold. */
WW_API enum ww_code ww_result_check(const struct ww_result *result, struct ww_error *error);

#ifdef __cplusplus
}
#endif

#endif
