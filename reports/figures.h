/* figures.h: what reports compute from a result's raw numbers. Nothing here fails or prints. */
#ifndef WW_REPORTS_DERIVE_H
#define WW_REPORTS_DERIVE_H

#include "../estimator/result/result.h"
#include "../estimator/warpwatt.h"
#include "../estimator/base/demangle.h"

/* Pipelines whose lanes are counted by launch. */
enum ww_lanes {
    WW_LANES_INT,
    WW_LANES_IMUL,
    WW_LANES_FP32,
    WW_LANES_FP16,
    WW_LANES_FP64,
    WW_LANES_SFU,
    WW_LANES_TENSOR,
    WW_LANES_COUNT
};

/* Parameters of the stored GPU that reports need; a value that the configuration lacks is < 0. */
struct ww_gpu_facts {
    double sm_count, max_warps, schedulers, clock_mhz, overhead_us;
    double board_w;                               /* what the board is built for, watts; 0 or less: not known */
    bool counts_launch;                           /* its runs count the overhead of launches */
    double issue_width, issue_interval;           /* of a scheduler: instructions each so many cycles */
    double l1_bytes, l2_slices, l2_bytes, l2_mhz; /* bytes a cycle of an SM's L1 and of a slice */
    double dram_channels, dram_bytes, dram_mhz;   /* bytes a cycle of a channel */
    double
        lanes[WW_LANES_COUNT]; /* of an SM: lane operations a cycle, 8 multiply-adds of fp16 a tensor core's */
    bool int_in_fp32;          /* integer operations use the lanes of fp32 */
};
void ww_gpu_facts(const char *gpu_json, struct ww_gpu_facts *facts);

/* Time of a launch outside of its active cycles; runs that do not count it have the GPU's. */
uint64_t ww_launch_latency_ps(const struct ww_launch_result *launch, const struct ww_gpu_facts *facts);

/* Where launches lie on a run's time: one after another as they were replayed, concurrent ones by their group.
 */
struct ww_placing {
    uint64_t now;               /* the end of all launches before */
    uint32_t concurrent;        /* the group of the launch before, 0: none */
    uint64_t group, group_ctas; /* its start; the time that its CTAs' times are since */
};
struct ww_place {
    uint64_t start; /* of the launch, ps */
    uint64_t ctas;  /* what its CTAs' times are since; before the end of the launch before if a part is hidden
                       there */
};
/* The place of the next launch in their order; a placing begins as zeros. */
struct ww_place ww_place_next(struct ww_placing *placing, const struct ww_launch_result *launch,
                              const struct ww_gpu_facts *facts);

/* True if the run's totals are a sample's estimate, its launches those that were replayed whole. */
bool ww_is_estimate(const struct ww_result *result);
/* Those launches' share of the warp instructions, < 0 if there are none. */
double ww_share_whole(const struct ww_result *result);
/* Launches of its stratum that one that a sample replayed whole stands for, by its index in the trace; 1 in
 * other runs. */
double ww_launch_weight(const struct ww_result *result, uint32_t launch);
/* A sentence, without its capital and full stop, on where an estimate's figures by part are from. */
void ww_say_scaled(const struct ww_result *result, char out[240]);

/* False for what a fast replay does not model: stalls of the L2's slices, and saturation unless a scheduler
 * follows it, which then counts its modes. The counter is 0 or too low. */
bool ww_counter_known(const struct ww_result *result, const struct ww_launch_result *launch, enum ww_counter c);

/* A run's launches added up, as one launch: counters, states, slots, energy, cycles, time. Its kernel,
 * shape, epochs and instructions are empty. Of an estimate, what the launches replayed whole add up to by
 * their weights is scaled to the run: slots, warp-cycles and counters of cycles by cycles, other counters by
 * warp instructions, components by joules. So slots add up to SMs x schedulers x cycles and components to the
 * run's energy; all are 0 if no launch was replayed whole. */
void ww_sum_launches(const struct ww_result *result, struct ww_launch_result *sum);

/* One level of the memory system. Rates are parts of 1, < 0 where there is nothing to divide by. */
struct ww_level {
    const char *name;
    uint64_t read, written, hit, merged,
        missed; /* sectors of 32 bytes; dram: hit counts bursts in an open row */
    double hit_rate, merged_rate;
    double bytes_read, bytes_written;
    double read_gb_s, write_gb_s; /* 10^9 bytes per second over the launch's time */
    double busy;                  /* part of the data bus's cycles in use, dram only */
};
enum { WW_LEVELS = 3 };
void ww_levels(const struct ww_launch_result *launch, struct ww_level level[WW_LEVELS]);

/* a / b, or -1 if b is 0. */
double ww_ratio(double a, double b);
/* Warp instructions per SM cycle, over the whole GPU. */
double ww_ipc(const struct ww_launch_result *launch);
/* Average watts, < 0 if energy or time is not known. */
double ww_watts(double joules, bool known, uint64_t time_ps);
double ww_launch_watts(const struct ww_launch_result *launch);
/* True if a launch, or a point of a sweep, draws more than its board is built for; watts < 0, NAN: not known.
 */
bool ww_above_board(double watts, double board_w);
/* Resident warps over warp places, part of 1; < 0 if the GPU's shape is not known. */
double ww_occupancy_reached(const struct ww_launch_result *launch, const struct ww_gpu_facts *facts);
uint64_t ww_sum_u64(const uint64_t *v, size_t count);
/* The state with most warp-cycles but for issued and done, or -1 if there are none. */
int ww_top_stall(const uint64_t warp_cycles[WW_STATE_COUNT]);
/* Warp-cycles in all states but issued and done. */
uint64_t ww_stall_cycles(const uint64_t warp_cycles[WW_STATE_COUNT]);

/* True if an instruction or a line, of whose warp instructions so many asked for sectors, makes up a large part
 * of the run's sectors with bytes that no lane requested; out: "32.0 sectors a request where 4.0 would do ...".
 */
enum { WW_SECTORS_TEXT = 160 };
bool ww_wastes_sectors(const uint64_t counter[WW_INST_COUNTER_COUNT], uint64_t requests, uint64_t all,
                       char out[WW_SECTORS_TEXT]);

/* A kernel's name as reports show it: short, or as it is. */
const char *ww_kernel_name(const struct ww_result *r, const char *kernel, char out[WW_NAME_SHORT]);

/* What the code that a run replayed was made from: "PTX", "machine code", "PTX and machine code", "an imported
 * trace"; NULL: no launch tells. */
const char *ww_code_kind(const struct ww_result *r);
/* The mode of a sweep: "full", or, where variants are replayed by a part of their CTAs, "slice, 6.2 to 25 % of
 * the CTAs". */
struct ww_explored;
void ww_say_sweep_mode(const struct ww_explored *e, char out[80]);
/* Says how many points of a sweep draw more than their board is built for, in one trace at least; their number.
 * With 0 nothing is written. `out`: a sentence without its full stop. */
size_t ww_say_above(const struct ww_explored *e, char out[240]);
/* The same of points within the constraints that lack a finite value of an objective. */
size_t ww_say_no_value(const struct ww_explored *e, char out[240]);
struct ww_explored_effect;
/* An effect without what is left of rounding: 0 where it is a billionth of the objective's greatest, or less.
 */
double ww_effect_shown(const struct ww_explored *e, const struct ww_explored_effect *effect);
/* The unit of an objective that has one of the names that sweeps know (docs/guide/sweep.md); "": it has none.
 */
const char *ww_objective_unit(const char *objective);
/* "full replay of PTX". */
void ww_say_mode(const struct ww_result *r, char out[80]);
/* " with sm.count=40 (80), sched=lrr (gto)": what makes the run differ from one on its GPU without options,
 * with what that has; "" if nothing does. What does not fit into `size` bytes is counted. */
void ww_say_overrides(const struct ww_result *r, char *out, size_t size);

/* What two runs differ in: code, mode, mechanisms and their settings, control of caches and clocks, and, on
 * GPUs of the same name, the GPUs' parameters, from the configurations that are stored with them. */
struct ww_difference {
    char what[80], a[80], b[80];
};
enum { WW_DIFFERENCES = 40 };
/* Fills at most WW_DIFFERENCES; returns how many there are. */
size_t ww_differences(const struct ww_result *a, const struct ww_result *b, struct ww_difference *out);

/* Time with a launch, among a program's copies. */
uint64_t ww_launches_ps(const struct ww_result *result);

#endif
