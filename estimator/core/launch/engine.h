/* engine.h: replays launches of a trace on one GPU and counts.
 *
 * The engine persists over all launches of a run, so that L2 contents carry over, unless they are to be
 * flushed; L1s are invalidated between launches, as the hardware does.
 */
#ifndef WW_CORE_ENGINE_H
#define WW_CORE_ENGINE_H

#include "../../api/trace.h"
#include "../../../traces/trace.h"
#include "../../config/gpu.h"
#include "../../mech/mech.h"
#include "../../result/result.h"

struct ww_engine;
struct ww_cta_log;
struct ww_probe;
struct ww_transfer_log;

struct ww_engine_options {
    const struct ww_gpu_spec *gpu;
    const struct ww_mech_choice *mechanism; /* WW_KIND_COUNT of them */
    uint32_t epoch_cycles;
    uint64_t seed;
    bool per_pc;
    struct ww_arena *pc_arena; /* where rows per PC are put; NULL: with the rest of the result */
    bool segments; /* keep the launch's segments, for energy by epoch (a governor needs them anyway) */
    struct ww_transfer_log *transfers; /* notes transfers to shared memory; as probe */
    struct ww_probe *probe;  /* notes issues of instructions; the caller's, or NULL (core/sm/probe.h) */
    struct ww_cta_log *ctas; /* notes when and where CTAs run; the caller's, or NULL (core/launch/ctalog.h) */
    uint32_t threads; /* that step SMs, results are the same; 0: one. It is one for few SMs, with a governor, or
                       * any of these logs */
    bool flush;       /* before each launch: memory is as in a new engine; the launch is timed by itself */
    bool one_pass;    /* with flush: no earlier pass of a profiler ran the launch, so its code may be in DRAM */
    bool flush_sm;    /* before each launch: the SMs' instruction caches are flushed; it is timed by itself */
    bool code_known;  /* the L2 has the code of all kernels from the start: none has its first launch */
    bool fast;        /* memory behind the SMs is served by reservations (core/memory/fast.h) */
    bool in_step;     /* no SM runs ahead of the others; results are the same */
    ww_progress_fn progress;
    void *progress_context;
};

/* Errors: WW_NOMEM, WW_USAGE (a mechanism that core has no interface for), WW_UNSUPPORTED (fast, and the GPU
 * has a feature that fast.h does not model). */
enum ww_code ww_engine_new(const struct ww_engine_options *options, struct ww_engine **engine,
                           struct ww_error *error);
void ww_engine_free(struct ww_engine *engine);
/* Sets which instructions of the next launch copy tiles to shared memory (an enum ww_copy_role each,
 * traces/transform/copy.h), so that the time of these copies is counted (transfer*). The array must stay
 * valid until the launch has ended; NULL: none. */
void ww_engine_roles(struct ww_engine *engine, const uint8_t *roles);
/* Sets whether the next launch is queued behind another one. Default: all but the engine's first. */
void ww_engine_queued(struct ww_engine *engine, bool queued);
/* Replays launch `index` of the trace to its end. Fills everything of *out but energy and index; arrays and
 * strings are taken from `arena`. Errors: WW_UNSUPPORTED (a CTA fits no SM: says which limit), WW_INPUT
 * (trace), WW_INTERNAL (deadlock: says what waits for what). */
enum ww_code ww_engine_launch(struct ww_engine *engine, struct ww_trace *trace, size_t index,
                              struct ww_arena *arena, struct ww_launch_result *out, struct ww_error *error);
/* Whether launches can run concurrently: no governor, no log of issues or transfers, no allocation of
 * shared memory at run time, no barrel pipeline, caches are not flushed. */
bool ww_engine_side_by_side(const struct ww_engine *engine);
/* Replays launches first .. first + count - 1 of the trace concurrently, each from when those that it
 * waits for have ended. out: as of ww_engine_launch, with concurrent.h's fields. Errors: as there. */
enum ww_code ww_engine_concurrent(struct ww_engine *engine, struct ww_trace *trace, size_t first, size_t count,
                                  struct ww_arena *arena, struct ww_launch_result *out, struct ww_error *error);
/* The segments of the launch that was replayed last, in order of time; valid until the next one. */
const struct ww_segment *ww_engine_segments(const struct ww_engine *engine, size_t *count);
/* A part of a launch: CTAs first .. end - 1, dispatched as if the launch had no others. The CTAs that fill the
 * machine start in the middle of their instructions (staggered_start.h), unless the part begins with the
 * launch's first CTA or they are to start together. When CTA mark[i] (or the first behind it that the file
 * holds) is dispatched, a segment ends there and mark_cycle[i] is the cycle; UINT64_MAX: it was not. Marks
 * rise. Needs an engine with segments.
 */
struct ww_engine_part {
    uint64_t first, end;
    bool in_step;
    uint64_t work_first, work_end;
    uint64_t *work; /* gets the warp instructions of CTAs work_first .. work_end - 1; or NULL */
    const uint64_t *mark;
    uint64_t *mark_cycle;
    size_t mark_count;
};
/* Replays a part to its end; the machine is empty before and after. Otherwise as ww_engine_launch. */
enum ww_code ww_engine_part(struct ww_engine *engine, struct ww_trace *trace, size_t index,
                            const struct ww_engine_part *part, struct ww_arena *arena,
                            struct ww_launch_result *out, struct ww_error *error);
/* Statistics of warming: warp instructions read, sectors that their accesses touched. */
struct ww_warmed {
    uint64_t instructions, sectors;
};
/* Performs the global accesses of CTAs first .. end - 1 of a launch on the L2 and the TLBs, without time
 * (warm.h). Adds to *warmed. Errors: WW_INPUT, WW_NOMEM. */
enum ww_code ww_engine_warm(struct ww_engine *engine, struct ww_trace *trace, size_t index, uint64_t first,
                            uint64_t end, struct ww_warmed *warmed, struct ww_error *error);
/* The next launch begins at `ps`, if that is later than now. Its phase relative to refreshes and to the edges
 * of other clocks depends on earlier launches. */
void ww_engine_set_time(struct ww_engine *engine, uint64_t ps);

#endif
