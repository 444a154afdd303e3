/* result.h: what a replay produced, as plain data.
 *
 * Read by db/ and reports/, filled by run.c (from core/ and power/). No function here allocates; the
 * owner of a ww_result is whoever called ww_run(), who gives it back with ww_result_free().
 *
 * Units: cycles are SM cycles of the replayed GPU, time is integer picoseconds, energy is joules.
 */
#ifndef WW_RESULT_H
#define WW_RESULT_H

#include "../base/error.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Event counters of one launch, summed over all units of a kind. Names and units: counter.def. */
enum ww_counter {
#define X(id, name, unit, level, help) WW_C_##id,
#include "counter.def"
#undef X
    WW_COUNTER_COUNT
};

/* Counters of one static instruction in one launch: inst_counter.def. */
enum ww_inst_counter {
#define X(id, name, step, shown, heading, sum, help) WW_I_##id,
#include "inst_counter.def"
#undef X
    WW_INST_COUNTER_COUNT
};

/* States of a resident warp; exactly one in every cycle (design: "warp state machine"). state.def. */
enum ww_warp_state {
#define X(id, name, nsight, help) WW_S_##id,
#include "state.def"
#undef X
    WW_STATE_COUNT
};

/* Why an issue slot (one scheduler, one cycle) was used or lost; exactly one cause a slot. slot.def. */
enum ww_slot {
#define X(id, name, help) WW_SLOT_##id,
#include "slot.def"
#undef X
    WW_SLOT_COUNT
};

/* Power components; their energies add up to the launch's total. component.def. */
enum ww_component {
#define X(id, name, help) WW_P_##id,
#include "component.def"
#undef X
    WW_COMPONENT_COUNT
};

/* Clock domains, each with an operating point of its own. */
enum ww_domain {
    WW_DOMAIN_SM,
    WW_DOMAIN_L2, /* interconnect, L2, memory controllers */
    WW_DOMAIN_DRAM,
    WW_DOMAIN_COUNT
};

/* One epoch of warp states: cycles [first_cycle, first_cycle + cycles) of the launch, all SMs. */
struct ww_epoch {
    uint64_t first_cycle;
    uint64_t cycles;
    uint64_t time_ps;                     /* the first one's includes the launch's overhead */
    uint64_t warp_cycles[WW_STATE_COUNT]; /* by state, summed over resident warps */
    uint64_t warp_instructions;           /* issued in the epoch */
    uint32_t cta_limit;                   /* CTAs that may run, over all SMs, at its end */
    uint32_t ctas_paused;                 /* by a governor, at its end */
};

/* Energy of an epoch by component; all epochs add up to the launch. */
struct ww_epoch_energy {
    double dynamic_j[WW_COMPONENT_COUNT];
    double static_j[WW_COMPONENT_COUNT];
};

/* The clocks from a cycle on. */
struct ww_vf_point {
    uint64_t cycle;   /* of the launch */
    uint64_t time_ps; /* since its first cycle */
    double mhz[WW_DOMAIN_COUNT];
};

/* When and where a CTA ran. Times are since the launch's first cycle. */
struct ww_cta_span {
    uint64_t cta; /* linear number in the grid */
    uint32_t sm, slot;
    uint64_t first_cycle, end_cycle;
    uint64_t start_ps, end_ps;
};

/* Counters that a run with a timeline keeps by epoch: ww_epoch_counter(). */
enum { WW_EPOCH_COUNTERS = 18 };

/* A stretch of a launch within one epoch and at one operating point. */
struct ww_segment {
    uint64_t first_cycle, cycles;
    uint64_t time_ps; /* how long it took; the first one without the launch's overhead */
    double mhz[WW_DOMAIN_COUNT];
    uint32_t cta_limit, ctas_paused;    /* at its end, over all SMs; see struct ww_epoch */
    uint64_t counter[WW_COUNTER_COUNT]; /* what was counted in it; all segments add up to the launch */
};

/* Counters of one static instruction. `stall` counts warp-cycles that warps spent in each state with
 * this instruction at their head. */
struct ww_pc_row {
    uint32_t inst; /* index in the launch's static instruction table */
    uint32_t pc;
    uint32_t line;        /* source line, 0 if unknown */
    const char *file;     /* source file or "" ; lives as long as the result */
    const char *mnemonic; /* for example "FFMA"; lives as long as the result */
    uint64_t counter[WW_INST_COUNTER_COUNT];
    uint64_t stall[WW_STATE_COUNT];
};

/* One component's part in a launch's energy. static_j is leakage and background, dynamic_j the rest. */
struct ww_energy {
    double dynamic_j[WW_COMPONENT_COUNT];
    double static_j[WW_COMPONENT_COUNT];
    double total_j;
    bool known; /* false: the GPU has no power table; all figures are then 0 and shown as null */
};

#define WW_CODE_FOREIGN "trace of " /* with the tool's name: ww_launch_result.code */

/* A copy or fill that a program asked for. Times are since the start of the program's first operation. */
enum ww_copy_way { WW_COPY_TO_DEVICE, WW_COPY_FROM_DEVICE, WW_COPY_WITHIN, WW_COPY_FILL, WW_COPY_WAYS };
struct ww_copy_span {
    uint32_t way;      /* enum ww_copy_way */
    uint32_t pageable; /* 1: its memory of the host is not pinned */
    uint32_t stream;   /* of the trace */
    uint32_t launch;   /* launches of the trace before it */
    uint32_t engine;   /* copy engine that it took; of those within the device WW_COPY_NO_ENGINE */
    uint64_t bytes, start_ps, end_ps;
};
#define WW_COPY_NO_ENGINE 255u
/* One kernel launch. */
struct ww_launch_result {
    uint32_t index; /* in the trace */
    const char *kernel;
    uint32_t grid[3], block[3];
    uint32_t registers_per_thread;
    uint32_t shared_bytes;
    uint32_t ctas_per_sm;          /* occupancy limit that dispatch used */
    const char *occupancy_limiter; /* "threads", "ctas", "registers", "shared" or "grid" */
    uint64_t cycles;               /* active SM cycles: those of the launch itself, its CTAs, memory drained */
    uint64_t time_ps; /* elapsed: with the launch's latency, less what passed behind another launch */
    uint64_t warp_instructions;
    uint64_t thread_instructions;
    uint64_t resident_warp_cycles; /* = sum of warp_cycles */
    uint64_t counter[WW_COUNTER_COUNT];
    uint64_t warp_cycles[WW_STATE_COUNT];
    uint64_t slot[WW_SLOT_COUNT]; /* adds up to SMs x schedulers x cycles */
    struct ww_energy energy;
    struct ww_epoch *epoch;
    size_t epoch_count;
    struct ww_epoch_energy *epoch_energy; /* epoch_count of them; NULL: not known */
    struct ww_vf_point *point;            /* the first one is that of cycle 0 */
    size_t point_count;
    struct ww_pc_row *pc;
    size_t pc_count;
    const struct ww_pc_packed *pc_packed; /* private: these rows of a run with pack_pc, whose pc_count is 0 */
    uint64_t pc_unknown;     /* bit i: counter i of instructions is not known, the run being older than it */
    uint64_t *epoch_counter; /* epoch_count x WW_EPOCH_COUNTERS; NULL: the run kept no timeline */
    struct ww_cta_span *cta; /* the first CTAs of a run that kept a timeline, in the order of their dispatch */
    size_t cta_count;
    /* Of launches that ran concurrently; all 0 of one that ran alone. */
    uint32_t concurrent;    /* number of the group of concurrent launches, from 1; those of a group follow one
                               another */
    uint32_t stream;        /* of the trace */
    uint64_t start_ps;      /* since the group's start; its own time begins there */
    uint64_t shared_ps;     /* of its time, what is counted as others' that ran in it */
    uint64_t shared_active; /* the same of SM cycles with a CTA (sm_active_cycles) */
    uint64_t shared_cycles; /* the same of its cycles: cycles - shared_cycles of all launches is the run's */
    /* When it ran among the program's copies, since the start of the first operation; both 0 in a result that
     * has no copies. */
    uint64_t with_copies_start_ps, with_copies_end_ps;
    const char *code; /* where the machine code that was replayed comes from: "ptxas 12.4.131 -arch sm_70", or
                       * WW_CODE_FOREIGN and the tool that made the trace; NULL: PTX lowered by our rules, or a
                       * run older than this */
};

/* An interval of confidence; lo == hi where the estimate is exact. */
struct ww_interval {
    double lo, hi;
};

/* A part of a program that a sampled run measured: CTAs first .. end - 1 of a launch. */
struct ww_sample_row {
    uint32_t launch; /* index in the trace */
    uint8_t kind;    /* 0: the whole launch, 1: its start, 2: a window of it, 3: its tail */
    uint64_t first_cta, end_cta;
    uint64_t stratum, population; /* number, and how many units that stratum has */
    double instructions, cycles, time_s, energy_j;
};

/* What a sampled run replayed, and why it stopped there. Instructions are of warps. */
struct ww_sampling {
    const char *reason;  /* NULL: the run was not sampled */
    double target_error; /* half-width asked for, part of the estimate */
    uint64_t units, drawn, strata;
    uint64_t launches, replayed_launches; /* selected; of which something was replayed */
    uint64_t ctas, replayed_ctas;
    uint64_t replayed_instructions;         /* in detail, also of what came before the measured parts */
    uint64_t warmed_instructions;           /* whose addresses the caches saw */
    double warming_seconds;                 /* of the host */
    double bias_cycles, bias_energy;        /* of how units begin, relative; corrected if none is a window */
    uint64_t pairs;                         /* of units that this was measured on */
    const char *estimator;                  /* of the totals */
    uint64_t fast_units, fast_instructions; /* measured by fast replay, too; 0: not tried */
    double fast_cost;                       /* of a unit, part of full replay's */
    double correlation,
        pays_from;             /* of fast and full replay in the pilot; from which one on fast replay pays */
    struct ww_sample_row *row; /* units that were measured, in order */
    size_t row_count;
    struct ww_interval time_s, power_w, ipc, edp; /* derived figures; edp: energy times delay, J s */
};

/* One name = value pair of a resolved configuration, in text as it would stand in JSON. */
struct ww_setting {
    const char *key;
    const char *value;
};

/* A parameter or a setting that an option changed: its value, and the one without options, as texts. */
struct ww_override {
    const char *key, *value, *base;
};

struct ww_result {
    const char *gpu;
    const char *gpu_json;   /* the full resolved GPU configuration, canonical JSON */
    const char *trace;      /* path as given */
    const char *trace_hash; /* content hash of the trace, hex */
    const char *program;    /* provenance of the trace: what was recorded */
    const char *mode;       /* "full", "fast", "sampled" or "analytic" */
    const char *version;    /* warpwatt version that computed it */
    const char *warning; /* of the run that computed it: what limits the figures; NULL: nothing. Not stored */
    uint64_t seed;
    uint32_t epoch_cycles;
    struct ww_setting *mechanism; /* kind = name, and kind.parameter = value */
    size_t mechanism_count;
    struct ww_override *override; /* what makes the run differ from one on its GPU without options: parameters,
                                   * mechanisms and their settings, cache and clock control */
    size_t override_count;
    struct ww_launch_result *launch; /* sampled: those that were replayed whole */
    size_t launch_count;
    uint64_t cycles; /* sum over launches; estimated unless the mode is full or fast */
    uint64_t time_ps;
    uint64_t warp_instructions;
    uint64_t thread_instructions;
    struct ww_copy_span *copy; /* full replays of whole traces that say when copies may run; in their order */
    size_t copy_count;
    uint64_t with_copies_ps; /* from the start of the first operation, copy or launch, to the last one's end; 0
                              * without copies */
    double energy_j;         /* meaningful only if energy_known */
    bool energy_known;
    double confidence;
    struct ww_interval cycles_interval;
    struct ww_interval energy_interval;
    struct ww_sampling sampling;
    bool mangled; /* reports show kernels' names as they are; else for people */
    double host_seconds;
    uint64_t peak_memory_bytes; /* host memory that the replay took from the system, at most */
    void *owner;                /* memory of all pointers above; private */
};

#ifdef __cplusplus
extern "C" {
#endif

/* Gives a result back; NULL is fine. */
WW_API void ww_result_free(struct ww_result *result);
/* The ratio of two designs that were sampled alike (same trace, same seed): the costs of a unit under both are
 * correlated, so that the ratio has a smaller error than either (ratio estimator of a stratified sample,
 * Cochran, Sampling Techniques, 1977, section 6.11). */
struct ww_sample_ratio {
    double ratio, lo, hi; /* a by b */
    size_t common;        /* units that both measured */
    bool known;           /* false: the samples do not go together */
};
/* Of the cycles, or the energies. Corrected and widened by the difference of what cold starts changed. Errors:
 * WW_NOMEM. */
WW_API enum ww_code ww_sample_ratio(const struct ww_sampling *a, const struct ww_sampling *b, bool energy,
                                    double confidence, struct ww_sample_ratio *out, struct ww_error *error);

#ifdef __cplusplus
}
#endif

#endif
