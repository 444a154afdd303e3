/* light.h: how near a launch comes to what its GPU can do, from its counters; roofs of a roofline. Nothing here
 * fails or prints. */
#ifndef WW_REPORTS_LIGHT_H
#define WW_REPORTS_LIGHT_H

#include "figures.h"

/* Limits, in the order of reports: issue slots, lanes by pipeline, bandwidths. */
enum ww_limit {
    WW_LIMIT_ISSUE,
    WW_LIMIT_LANES, /* and WW_LANES_COUNT - 1 more */
    WW_LIMIT_L1 = WW_LIMIT_LANES + WW_LANES_COUNT,
    WW_LIMIT_L2,
    WW_LIMIT_DRAM,
    WW_LIMIT_COUNT
};
/* "fp32 lanes", "L2 bandwidth". */
const char *ww_limit_name(enum ww_limit limit);
/* In a cell: "fp32", "L2". */
const char *ww_limit_brief(enum ww_limit limit);
/* A launch waits for latencies if no limit is used to more than this part. */
#define WW_LIGHT_NEAR 0.6

/* What the whole GPU can do in a second; < 0: not known. */
struct ww_peaks {
    double issue;                 /* warp instructions */
    double lanes[WW_LANES_COUNT]; /* lane operations */
    double bytes[WW_LEVELS];
};
void ww_peaks(const struct ww_gpu_facts *facts, struct ww_peaks *peaks);

/* Parts of the limits that a launch uses, < 0: not known. Lanes that are off do not count. Returns the one that
 * it comes nearest to. */
enum ww_limit ww_light(const struct ww_launch_result *l, const struct ww_gpu_facts *facts,
                       double part[WW_LIMIT_COUNT]);

/* Floating-point operations of a launch, a fused multiply-add being two, and those of tensor cores of any type.
 */
enum ww_op_type { WW_OPS_FP32, WW_OPS_FP16, WW_OPS_FP64, WW_OPS_TENSOR, WW_OPS_TYPES };
const char *ww_op_type_name(enum ww_op_type type);
void ww_operations(const struct ww_launch_result *l, double of[WW_OPS_TYPES]);
/* Most of a type in a second; that of tensor cores at the rate of fp16. */
double ww_operations_peak(const struct ww_peaks *peaks, enum ww_op_type type);

/* Sectors that crossed the upper side of each level; of the L1 textures' too. */
struct ww_flow {
    uint64_t read, written;
};
void ww_flows(const struct ww_launch_result *l, struct ww_flow flow[WW_LEVELS]);

#endif
